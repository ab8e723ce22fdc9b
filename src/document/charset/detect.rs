//! Guessing a charset from the bytes alone.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};
use memchr::memmem;

/// The guess is made from this many bytes around characters beyond ASCII: a whole page takes several times as long as
/// all other reading of it. Of 1,475 real pages written in legacy charsets the guess is right for 1,417 by the whole
/// page, 1,416 by this sample, and 1,366 by the 4 KB from the first character beyond ASCII on; of 1,179 Japanese texts
/// all are right.
const SAMPLE_BYTES: usize = 4096;

/// Bytes of ASCII kept on either side of others; longer stretches say nothing about the charset. The first byte after
/// one beyond ASCII can belong to it (Shift_JIS, GBK), those after that can't.
const CONTEXT_BYTES: usize = 16;

/// The likeliest charset of `body`, which is not UTF-8.
pub(super) fn charset(body: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    if let Some(escape) = iso_2022_jp_escape(body)
        && body.is_ascii()
    {
        detector.feed(&body[escape..body.len().min(escape + SAMPLE_BYTES)], false);
    } else {
        detector.feed(&sample(body), false);
    }
    detector.guess(None, Utf8Detection::Deny)
}

/// Whether ASCII bytes switch to Japanese characters.
pub(super) fn may_be_iso_2022_jp(body: &[u8]) -> bool {
    iso_2022_jp_escape(body).is_some() && body.is_ascii() && charset(body) == encoding_rs::ISO_2022_JP
}

/// The first switch to JIS X 0208.
fn iso_2022_jp_escape(body: &[u8]) -> Option<usize> {
    memmem::find_iter(body, b"\x1b$").find(|&at| matches!(body.get(at + 2), Some(b'B' | b'@')))
}

/// UTF-16 without a byte order mark: every other byte of Latin text and of all markup is zero.
pub(super) fn utf16(body: &[u8]) -> Option<&'static Encoding> {
    let head = &body[..body.len().min(1024)];
    memchr::memchr(0, &head[..head.len().min(64)])?;
    let (mut even, mut odd) = (0, 0);
    for pair in head.chunks_exact(2) {
        even += usize::from(pair[0] == 0);
        odd += usize::from(pair[1] == 0);
    }
    let n_pairs = head.len() / 2;
    if odd * 2 > n_pairs && even * 20 < n_pairs {
        Some(UTF_16LE)
    } else if even * 2 > n_pairs && odd * 20 < n_pairs {
        Some(UTF_16BE)
    } else {
        None
    }
}

/// Whether a text has at least `n` characters beyond ASCII.
pub(super) fn has_beyond_ascii(text: &str, n: usize) -> bool {
    text.bytes().filter(|&byte| byte >= 0xC0).take(n).count() == n
}

/// What speaks for UTF-8 in bytes that are not wholly valid.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Utf8Evidence {
    /// Characters of two and more bytes.
    valid: usize,
    /// Places where there is none.
    invalid: usize,
}

impl Utf8Evidence {
    pub(super) fn of(bytes: &[u8]) -> Self {
        let mut evidence = Self { valid: 0, invalid: 0 };
        for chunk in bytes.utf8_chunks() {
            evidence.valid += chunk.valid().bytes().filter(|&byte| byte >= 0xC0).count();
            evidence.invalid += usize::from(!chunk.invalid().is_empty());
        }
        evidence
    }

    /// Whether there are at least `factor` characters to each error.
    pub(super) fn outweighs(&self, factor: usize) -> bool {
        self.valid >= self.invalid.saturating_mul(factor)
    }
}

/// The bytes beyond ASCII with what is around them, joined, up to [`SAMPLE_BYTES`].
fn sample(body: &[u8]) -> Vec<u8> {
    let mut sample = Vec::with_capacity(SAMPLE_BYTES + CONTEXT_BYTES);
    let mut at = 0;
    while sample.len() < SAMPLE_BYTES
        && let Some(skipped) = beyond_ascii(&body[at..])
    {
        let start = at.max((at + skipped).saturating_sub(CONTEXT_BYTES));
        at += skipped;
        let mut n_ascii = 0;
        while n_ascii < CONTEXT_BYTES && at < body.len() && sample.len() + (at - start) < SAMPLE_BYTES {
            n_ascii = if body[at].is_ascii() { n_ascii + 1 } else { 0 };
            at += 1;
        }
        sample.extend_from_slice(&body[start..at]);
        if n_ascii == CONTEXT_BYTES {
            // Not where the sample is full: that can be inside a character.
            sample.push(b' ');
        }
    }
    sample
}

/// The first byte beyond ASCII.
fn beyond_ascii(bytes: &[u8]) -> Option<usize> {
    let n_ascii: usize = bytes.chunks(64).take_while(|chunk| chunk.is_ascii()).map(<[u8]>::len).sum();
    bytes[n_ascii..].iter().position(|byte| !byte.is_ascii()).map(|at| n_ascii + at)
}
