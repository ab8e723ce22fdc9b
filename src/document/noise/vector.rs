//! Noise 16 or 64 bytes at a time: classify, then close the gaps that letters and digits leave.
//!
//! A step whose bytes are not all ASCII is left to [`scalar`](super::scalar). The values [`Ssse3`] and [`Vbmi2`] are
//! the proof that the processor has the instructions: only detection makes them, and that is what the `unsafe` here
//! rests on.
#![expect(unsafe_code, reason = "calls into code for detected processor features, loads and stores of whole vectors")]

use super::Span;
use super::scalar::Cursor;
use std::arch::x86_64::*;

/// The processor has SSSE3 and POPCNT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ssse3(());

/// The processor has AVX-512 F, BW and VBMI2, BMI and POPCNT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Vbmi2(());

impl Ssse3 {
    #[inline]
    pub(super) fn detected() -> Option<Self> {
        (is_x86_feature_detected!("ssse3") && is_x86_feature_detected!("popcnt")).then_some(Self(()))
    }

    #[inline]
    pub(super) fn strip(self, source: &str, out: &mut [u8]) -> usize {
        // SAFETY: `self` exists only where the features were detected.
        unsafe { strip_by_16(source, out) }
    }

    #[inline]
    pub(super) fn strip_tags(self, source: &str, tags: &[Span], out: &mut [u8]) -> usize {
        // SAFETY: `self` exists only where the features were detected.
        unsafe { strip_tags_by_16(source, tags, out) }
    }
}

impl Vbmi2 {
    #[inline]
    pub(super) fn detected() -> Option<Self> {
        (is_x86_feature_detected!("avx512vbmi2")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("popcnt")
            && is_x86_feature_detected!("bmi2"))
        .then_some(Self(()))
    }

    #[inline]
    pub(super) fn strip(self, source: &str, out: &mut [u8]) -> usize {
        // SAFETY: `self` exists only where the features were detected.
        unsafe { strip_by_64(source, out) }
    }

    #[inline]
    pub(super) fn strip_tags(self, source: &str, tags: &[Span], out: &mut [u8]) -> usize {
        // SAFETY: `self` exists only where the features were detected.
        unsafe { strip_tags_by_64(source, tags, out) }
    }
}

/// For each set of eight bytes to keep: where in a step of eight each kept byte comes from.
static GAPS_CLOSED: [[u8; 8]; 256] = {
    let mut table = [[0x80; 8]; 256];
    let mut keep = 0;
    while keep < 256 {
        let (mut from, mut to) = (0, 0);
        while from < 8 {
            if keep >> from & 1 == 1 {
                table[keep][to] = from as u8;
                to += 1;
            }
            from += 1;
        }
        keep += 1;
    }
    table
};

#[target_feature(enable = "ssse3,popcnt")]
fn strip_by_16(source: &str, out: &mut [u8]) -> usize {
    let mut cursor = Cursor { at: 0, kept: 0 };
    while let Some(chunk) = source.as_bytes()[cursor.at..].first_chunk() {
        let step = load_16(chunk);
        let beyond = _mm_movemask_epi8(step) as u32;
        let noise = !(_mm_movemask_epi8(alphanumeric_16(step)) as u32) & 0xFFFF;
        if beyond == 0 {
            cursor.kept += kept_of_16(step, noise, &mut out[cursor.kept..]);
            cursor.at += 16;
        } else {
            // The ASCII before the first other character, and then those: they come in clusters.
            let n_ascii = beyond.trailing_zeros();
            let inside = (1 << n_ascii) - 1;
            cursor.kept += kept_of_16(step, noise & inside, &mut out[cursor.kept..]);
            cursor.at += n_ascii as usize;
            cursor.strip_beyond_ascii(source, out);
        }
    }
    cursor.strip_to(source, source.len(), out);
    cursor.kept
}

#[target_feature(enable = "ssse3,popcnt")]
fn strip_tags_by_16(source: &str, tags: &[Span], out: &mut [u8]) -> usize {
    let mut cursor = Cursor { at: 0, kept: 0 };
    for tag in tags {
        cursor.at = tag.start as usize;
        let end = tag.end as usize;
        let mut in_space = false;
        while cursor.at < end {
            let Some(chunk) = source.as_bytes()[cursor.at..].first_chunk() else {
                cursor.strip_tag_to(source, end, in_space, out);
                break;
            };
            let step = load_16(chunk);
            let beyond = _mm_movemask_epi8(step) as u32;
            let n_bytes = (end - cursor.at).min(16).min(beyond.trailing_zeros() as usize);
            let inside = (1 << n_bytes) - 1;
            let space = white_16(step);
            let spaces = _mm_movemask_epi8(space) as u32;
            let drop = _mm_movemask_epi8(alphanumeric_16(step)) as u32 | spaces & (spaces << 1 | u32::from(in_space));
            let step = _mm_or_si128(_mm_andnot_si128(space, step), _mm_and_si128(space, _mm_set1_epi8(b' ' as i8)));
            cursor.kept += kept_of_16(step, !drop & inside, &mut out[cursor.kept..]);
            cursor.at += n_bytes;
            in_space = spaces >> 15 & 1 == 1;
            if beyond != 0 && cursor.at < end {
                cursor.strip_beyond_ascii(&source[..end], out);
                in_space = false;
            }
        }
    }
    cursor.kept
}

/// Writes the bytes of `step` that `keep` has a bit for; how many they are.
#[inline]
#[target_feature(enable = "ssse3,popcnt")]
fn kept_of_16(step: __m128i, keep: u32, out: &mut [u8]) -> usize {
    let (low, high) = (keep as usize & 0xFF, keep as usize >> 8);
    let n_low = low.count_ones() as usize;
    let low = _mm_shuffle_epi8(step, _mm_cvtsi64_si128(i64::from_le_bytes(GAPS_CLOSED[low])));
    let n_high = high.count_ones() as usize;
    let shifted = _mm_srli_si128::<8>(step);
    let high = _mm_shuffle_epi8(shifted, _mm_cvtsi64_si128(i64::from_le_bytes(GAPS_CLOSED[high])));
    // 8 bytes from at most 8 on: one check for both.
    let out: &mut [u8; 16] = out.first_chunk_mut().expect("the noise has room for a whole step");
    out[..8].copy_from_slice(&_mm_cvtsi128_si64(low).to_le_bytes());
    out[n_low..n_low + 8].copy_from_slice(&_mm_cvtsi128_si64(high).to_le_bytes());
    n_low + n_high
}

/// All ones where the byte is an ASCII letter or digit. The bytes are ASCII.
#[inline]
#[target_feature(enable = "ssse3")]
fn alphanumeric_16(step: __m128i) -> __m128i {
    let of = |byte: u8| _mm_set1_epi8(byte as i8);
    let folded = _mm_or_si128(step, of(0x20));
    let letter = _mm_and_si128(_mm_cmpgt_epi8(folded, of(b'a' - 1)), _mm_cmplt_epi8(folded, of(b'z' + 1)));
    let digit = _mm_and_si128(_mm_cmpgt_epi8(step, of(b'0' - 1)), _mm_cmplt_epi8(step, of(b'9' + 1)));
    _mm_or_si128(letter, digit)
}

/// All ones where the byte is tab, line feed, form feed, carriage return or space.
#[inline]
#[target_feature(enable = "ssse3")]
fn white_16(step: __m128i) -> __m128i {
    let of = |byte: u8| _mm_set1_epi8(byte as i8);
    let control = _mm_and_si128(_mm_cmpgt_epi8(step, of(8)), _mm_cmplt_epi8(step, of(14)));
    let control = _mm_andnot_si128(_mm_cmpeq_epi8(step, of(11)), control);
    _mm_or_si128(control, _mm_cmpeq_epi8(step, of(b' ')))
}

#[inline]
fn load_16(bytes: &[u8; 16]) -> __m128i {
    // SAFETY: 16 bytes are there, the load needs no alignment, and SSE2 is part of x86-64.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,popcnt,bmi2")]
fn strip_by_64(source: &str, out: &mut [u8]) -> usize {
    let mut cursor = Cursor { at: 0, kept: 0 };
    while let Some(chunk) = source.as_bytes()[cursor.at..].first_chunk() {
        let step = load_64(chunk);
        let beyond = _mm512_movepi8_mask(step);
        if beyond == 0 {
            cursor.kept += kept_of_64(step, !alphanumeric_64(step), &mut out[cursor.kept..]);
            cursor.at += 64;
        } else {
            // The ASCII before the first other character, and then those: they come in clusters.
            let n_ascii = beyond.trailing_zeros() as usize;
            cursor.kept += kept_of_64(step, !alphanumeric_64(step) & first(n_ascii), &mut out[cursor.kept..]);
            cursor.at += n_ascii;
            cursor.strip_beyond_ascii(source, out);
        }
    }
    cursor.strip_to(source, source.len(), out);
    cursor.kept
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,popcnt,bmi2")]
fn strip_tags_by_64(source: &str, tags: &[Span], out: &mut [u8]) -> usize {
    let mut cursor = Cursor { at: 0, kept: 0 };
    for tag in tags {
        cursor.at = tag.start as usize;
        let end = tag.end as usize;
        let mut in_space = false;
        while cursor.at < end {
            let n_bytes = (end - cursor.at).min(64);
            let step = load_inside(source.as_bytes(), cursor.at, n_bytes);
            let beyond = _mm512_movepi8_mask(step);
            let n_bytes = n_bytes.min(beyond.trailing_zeros() as usize);
            let spaces = white_64(step);
            let drop = alphanumeric_64(step) | spaces & (spaces << 1 | u64::from(in_space));
            let step = _mm512_mask_mov_epi8(step, spaces, _mm512_set1_epi8(b' ' as i8));
            cursor.kept += kept_of_64(step, !drop & first(n_bytes), &mut out[cursor.kept..]);
            cursor.at += n_bytes;
            in_space = spaces >> 63 == 1;
            if beyond != 0 {
                cursor.strip_beyond_ascii(&source[..end], out);
                in_space = false;
            }
        }
    }
    cursor.kept
}

/// Writes the bytes of `step` that `keep` has a bit for; how many they are.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,popcnt")]
fn kept_of_64(step: __m512i, keep: u64, out: &mut [u8]) -> usize {
    let out: &mut [u8; 64] = out.first_chunk_mut().expect("the noise has room for a whole step");
    // In the register and stored whole: compressing into memory is many times slower on Zen 4.
    let closed = _mm512_maskz_compress_epi8(keep, step);
    // SAFETY: 64 bytes are there, and the store needs no alignment.
    unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), closed) };
    keep.count_ones() as usize
}

/// A bit for each ASCII letter or digit. The bytes are ASCII, or their bits are not used.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn alphanumeric_64(step: __m512i) -> u64 {
    let of = |byte: u8| _mm512_set1_epi8(byte as i8);
    let letter = _mm512_sub_epi8(_mm512_or_si512(step, of(0x20)), of(b'a'));
    let digit = _mm512_sub_epi8(step, of(b'0'));
    _mm512_cmplt_epu8_mask(letter, of(26)) | _mm512_cmplt_epu8_mask(digit, of(10))
}

/// A bit for each tab, line feed, form feed, carriage return or space.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn white_64(step: __m512i) -> u64 {
    let of = |byte: u8| _mm512_set1_epi8(byte as i8);
    let control = _mm512_cmplt_epu8_mask(_mm512_sub_epi8(step, of(9)), of(5)) & !_mm512_cmpeq_epi8_mask(step, of(11));
    control | _mm512_cmpeq_epi8_mask(step, of(b' '))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn load_64(bytes: &[u8; 64]) -> __m512i {
    // SAFETY: 64 bytes are there, and the load needs no alignment.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

/// The first `n_bytes` (1 to 64) bytes from `at` on, and zeros.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi2")]
fn load_inside(bytes: &[u8], at: usize, n_bytes: usize) -> __m512i {
    let bytes = &bytes[at..at + n_bytes];
    // SAFETY: the bytes with a bit are there; the others are not touched.
    unsafe { _mm512_maskz_loadu_epi8(first(n_bytes), bytes.as_ptr().cast()) }
}

/// A bit for each of the first `n_bytes` of 64.
#[inline]
#[target_feature(enable = "bmi2")]
fn first(n_bytes: usize) -> u64 {
    if n_bytes >= 64 { u64::MAX } else { (1 << n_bytes) - 1 }
}
