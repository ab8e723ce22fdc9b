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

/// Where reading and writing are.
pub(super) struct Cursor {
    /// The next byte of the source, never inside a character.
    pub(super) at: usize,
    /// Bytes of noise written.
    pub(super) kept: usize,
}

impl Cursor {
    /// Strips whole characters until `end` is reached or just passed.
    #[inline]
    pub(super) fn strip_to(&mut self, source: &str, end: usize, out: &mut [u8]) {
        let bytes = source.as_bytes();
        while self.at < end {
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

    /// One character beyond ASCII. `bytes` is the whole of a `str`, so that a lead byte has its followers.
    #[inline]
    fn strip_char(&mut self, bytes: &[u8], out: &mut [u8]) {
        let rest = &bytes[self.at..];
        let follower = |index: usize| u32::from(rest[index] & 0x3F);
        let lead = u32::from(rest[0]);
        let (len, code) = match lead {
            ..0xE0 => (2, (lead & 0x1F) << 6 | follower(1)),
            0xE0..0xF0 => (3, (lead & 0x0F) << 12 | follower(1) << 6 | follower(2)),
            _ => (4, (lead & 0x07) << 18 | follower(1) << 12 | follower(2) << 6 | follower(3)),
        };
        out[self.kept..self.kept + len].copy_from_slice(&rest[..len]);
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
