//! A line as sixteen words of 32 bits, compared all at once.
//!
//! Which of the entries of a line is the one that is looked for is as good as a coin, and most often it is none. So all of them are looked
//! at, and the answer is bits: on x86-64 with the vectors that every such processor has.
//!
//! # Invariants
//! - The bits are those that one word after the other gives. (`all_at_once_is_one_after_the_other`)
//! - A blend has of each what it should. (`a_blend_is_of_both`)

#![allow(unsafe_code, reason = "every x86-64 processor has these instructions, which the compiler has to be told")]

use super::memory::{Line, WORDS};

/// Words of 32 bits in a line.
#[cfg(any(test, not(target_arch = "x86_64")))]
const LANES: usize = 2 * WORDS;

/// A word of 32 bits; the lower half of each of the line's words comes first.
#[inline]
pub(super) fn lane(line: &Line, number: usize) -> u32 {
    (line[number / 2] >> (32 * (number % 2))) as u32
}

/// The numbers of those that are `value` where `mask` has ones, as bits.
#[inline]
#[cfg(target_arch = "x86_64")]
pub(super) fn equal(line: &Line, mask: u32, value: u32) -> u32 {
    use std::arch::x86_64::{
        _mm_and_si128, _mm_cmpeq_epi32, _mm_movemask_epi8, _mm_packs_epi16, _mm_packs_epi32, _mm_set_epi64x,
        _mm_set1_epi32,
    };
    // SAFETY: SSE2 is part of x86-64.
    unsafe {
        let (mask, value) = (_mm_set1_epi32(mask as i32), _mm_set1_epi32(value as i32));
        let four = |first: usize| {
            let words = _mm_set_epi64x(line[first + 1] as i64, line[first] as i64);
            _mm_cmpeq_epi32(_mm_and_si128(words, mask), value)
        };
        let (lower, upper) = (_mm_packs_epi32(four(0), four(2)), _mm_packs_epi32(four(4), four(6)));
        _mm_movemask_epi8(_mm_packs_epi16(lower, upper)) as u32
    }
}

/// The numbers of those that are `value` where `mask` has ones, as bits.
#[inline]
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn equal(line: &Line, mask: u32, value: u32) -> u32 {
    one_after_the_other(line, mask, value)
}

#[cfg(any(test, not(target_arch = "x86_64")))]
fn one_after_the_other(line: &Line, mask: u32, value: u32) -> u32 {
    (0..LANES).fold(0, |bits, number| bits | u32::from(lane(line, number) & mask == value) << number)
}

/// A line with ones in the first `n`.
pub(super) const fn ones(n: usize) -> Line {
    let mut line = [0; WORDS];
    let mut number = 0;
    while number < n {
        line[number / 2] |= 0xFFFF_FFFF << (32 * (number % 2));
        number += 1;
    }
    line
}

/// What `ones` has where `mask` has ones, and `zeros` elsewhere.
#[inline]
pub(super) fn blend(mask: &Line, ones: &Line, zeros: &Line) -> Line {
    std::array::from_fn(|word| zeros[word] ^ (zeros[word] ^ ones[word]) & mask[word])
}

/// The numbers of the bits that are set, ascending.
#[inline]
pub(super) fn each(mut bits: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let number = (bits != 0).then(|| bits.trailing_zeros() as usize)?;
        bits &= bits - 1;
        Some(number)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn all_at_once_is_one_after_the_other(words: [u8; LANES], mask in prop::sample::select(vec![0, 0xFF, 3, u32::MAX]), value: u8) {
            // Few values, so that many are equal.
            let of = |byte: u8| u32::from(byte % 4) | u32::from(byte / 64) << 30;
            let value = of(value) & mask;
            let line: Line = std::array::from_fn(|word| u64::from(of(words[2 * word])) | u64::from(of(words[2 * word + 1])) << 32);
            prop_assert!((0..LANES).all(|number| lane(&line, number) == of(words[number])));
            let bits = equal(&line, mask, value);
            prop_assert_eq!(bits, one_after_the_other(&line, mask, value));
            prop_assert!(each(bits).all(|number| of(words[number]) & mask == value));
            prop_assert_eq!(each(bits).count(), bits.count_ones() as usize);
        }

        #[test]
        fn a_blend_is_of_both(ones_line: Line, zeros_line: Line, n in 0..=LANES) {
            let blend = blend(&ones(n), &ones_line, &zeros_line);
            for number in 0..LANES {
                prop_assert_eq!(lane(&blend, number), lane(if number < n { &ones_line } else { &zeros_line }, number));
            }
        }
    }
}
