//! Noise by tables: the way for processors without vectors, for tails, and for characters beyond ASCII.
//!
//! Every character is written, and the place of the next one moves on only if it is kept: no branch depends on the
//! page's letters.

use super::Span;
use std::sync::LazyLock;

/// The noise of `source`, written to the start of `out`, which has room for `source` and [`super::SLACK`]; its length.
pub(super) fn strip(source: &str, out: &mut [u8]) -> usize {
    let mut cursor = Cursor { at: 0, kept: 0 };
    cursor.strip_to(source, source.len(), out);
    cursor.kept
}

/// The noise of `tags`, written in the same way.
pub(super) fn strip_tags(source: &str, tags: &[Span], out: &mut [u8]) -> usize {
    let mut cursor = Cursor { at: 0, kept: 0 };
    for tag in tags {
        cursor.at = tag.start as usize;
        cursor.strip_tag_to(source, tag.end as usize, false, out);
    }
    cursor.kept
}

/// Bytes that are looked at together, to find out once that they are ASCII.
const STEP: usize = 16;

/// One for the bytes of ASCII that are noise.
static KEPT: [u8; 256] = {
    let mut kept = [0; 256];
    let mut byte = 0;
    while byte < 128 {
        kept[byte] = !(byte as u8).is_ascii_alphanumeric() as u8;
        byte += 1;
    }
    kept
};

/// Where reading and writing are.
pub(super) struct Cursor {
    /// The next byte of the source, never inside a character.
    pub(super) at: usize,
    /// Bytes of noise written.
    pub(super) kept: usize,
}

impl Cursor {
    /// Strips whole characters until `end` (at most the source's end) is reached or just passed.
    #[inline]
    pub(super) fn strip_to(&mut self, source: &str, end: usize, out: &mut [u8]) {
        let bytes = source.as_bytes();
        while self.at < end {
            if let Some(step) = bytes[self.at..end].first_chunk::<STEP>()
                && step.is_ascii()
            {
                let out: &mut [u8; STEP] = out[self.kept..].first_chunk_mut().expect("the noise has room for a step");
                let mut kept = 0;
                for &byte in step {
                    // The 16th byte finds at most 15 kept; the mask spares the check.
                    out[kept % STEP] = byte;
                    kept += usize::from(KEPT[usize::from(byte)]);
                }
                self.kept += kept;
                self.at += STEP;
                continue;
            }
            let byte = bytes[self.at];
            if byte < 0x80 {
                out[self.kept] = byte;
                self.kept += usize::from(!byte.is_ascii_alphanumeric());
                self.at += 1;
            } else {
                self.strip_char(bytes, out);
            }
        }
    }

    /// The same with each run of white space as one space; `in_space` says that the byte before was white space.
    /// The answer says it of the last one here.
    #[inline]
    pub(super) fn strip_tag_to(&mut self, source: &str, end: usize, mut in_space: bool, out: &mut [u8]) -> bool {
        let bytes = source.as_bytes();
        while self.at < end {
            let byte = bytes[self.at];
            if byte < 0x80 {
                let space = byte.is_ascii_whitespace();
                out[self.kept] = if space { b' ' } else { byte };
                self.kept += usize::from(!byte.is_ascii_alphanumeric() & !(space & in_space));
                in_space = space;
                self.at += 1;
            } else {
                self.strip_char(bytes, out);
                in_space = false;
            }
        }
        in_space
    }

    /// The characters from here to the next byte of ASCII.
    #[inline]
    pub(super) fn strip_beyond_ascii(&mut self, source: &str, out: &mut [u8]) {
        let bytes = source.as_bytes();
        while bytes.get(self.at).is_some_and(|byte| !byte.is_ascii()) {
            self.strip_char(bytes, out);
        }
    }

    /// One character beyond ASCII. `bytes` is the whole of a `str`, so that a lead byte has its followers.
    #[inline]
    fn strip_char(&mut self, bytes: &[u8], out: &mut [u8]) {
        let bits = |byte: u8| u32::from(byte & 0x3F);
        let (char, len, code) = match bytes[self.at..] {
            [a @ ..0xE0, b, ..] => ([a, b, 0, 0], 2, u32::from(a & 0x1F) << 6 | bits(b)),
            [a @ ..0xF0, b, c, ..] => ([a, b, c, 0], 3, u32::from(a & 0x0F) << 12 | bits(b) << 6 | bits(c)),
            [a, b, c, d, ..] => ([a, b, c, d], 4, u32::from(a & 0x07) << 18 | bits(b) << 12 | bits(c) << 6 | bits(d)),
            ref cut => unreachable!("a str ends with {cut:?}"),
        };
        // Four bytes at once, whatever its length: the room is there, and the next character covers the rest.
        out[self.kept..self.kept + 4].copy_from_slice(&char);
        self.kept += if is_alphanumeric(code) { 0 } else { len };
        self.at += len;
    }
}

/// [`char::is_alphanumeric`], by one bit for each character of the first plane: the standard library searches for it,
/// and pages in Chinese or Russian ask at every character.
#[inline]
fn is_alphanumeric(code: u32) -> bool {
    static BITS: LazyLock<Box<[u64; 1024]>> = LazyLock::new(|| {
        let mut bits = Box::new([0; 1024]);
        for c in '\0'..='\u{FFFF}' {
            bits[c as usize / 64] |= u64::from(c.is_alphanumeric()) << (c as usize % 64);
        }
        bits
    });
    match BITS.get(code as usize / 64) {
        Some(word) => word >> (code % 64) & 1 == 1,
        None => char::from_u32(code).is_some_and(char::is_alphanumeric),
    }
}
