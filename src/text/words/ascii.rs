//! Words of ASCII, eight bytes at a time.

use super::general::Form;
use super::hash::WordKey;
use super::tables::{CLASS, DIGIT, LETTER, MID_BOTH, MID_LETTER, MID_NUMBER, NOT_ASCII, OTHER, UNDERSCORE};

const LOW: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// Eight bytes of text, lower-cased, and a mark in the high bit of every byte that is a letter or digit, or a digit.
struct Block {
    lower: u64,
    alnum: u64,
    digits: u64,
}

impl Block {
    #[inline]
    fn new(bytes: u64) -> Self {
        let low7 = bytes & !HIGH;
        // The high bit of every byte that is at least `min`; bytes that are not ASCII are sorted out at the end.
        let at_least = |bytes: u64, min: u8| bytes + LOW * u64::from(0x80 - min);
        let upper = at_least(low7, b'A') & !at_least(low7, b'Z' + 1) & HIGH;
        let lower7 = low7 | upper >> 2;
        let letters = at_least(lower7, b'a') & !at_least(lower7, b'z' + 1);
        let digits = at_least(lower7, b'0') & !at_least(lower7, b'9' + 1) & !bytes & HIGH;
        Self { lower: lower7 | bytes & HIGH, alnum: (letters & !bytes & HIGH) | digits, digits }
    }

    /// The letters and digits that it begins with.
    #[inline]
    fn n_alnum(&self) -> usize {
        (!self.alnum & HIGH).trailing_zeros() as usize / 8
    }
}

/// The end and form of the word of which `bytes[start]`, a letter or digit, is the first; `None` if a character that is not
/// ASCII may belong to it.
#[inline]
pub(super) fn word(bytes: &[u8], start: usize, key: WordKey) -> Option<(usize, Form)> {
    let block = Block::new(load(bytes, start));
    let n = block.n_alnum();
    // Nearly all words: at most seven letters, and nothing after them that could join.
    if n < 8 && bytes.get(start + n).is_none_or(|byte| CLASS[*byte as usize] == OTHER) {
        let mask = !(!0 << (8 * n));
        let hash = key.finish(key.after(key.start(), block.lower & mask), n as u64);
        return Some((start + n, Form { hash, width: n as u32, n_digits: count(block.digits & mask) }));
    }
    let end = end(bytes, start + n)?;
    Some((end, form(&bytes[start..end], key)))
}

/// The end of the word whose letters and digits go on up to `at` at least.
fn end(bytes: &[u8], mut at: usize) -> Option<usize> {
    let mut end = at;
    loop {
        let Some(&byte) = bytes.get(at) else { return Some(end) };
        match CLASS[byte as usize] {
            LETTER | DIGIT => {
                at += Block::new(load(bytes, at)).n_alnum();
                end = at;
            }
            UNDERSCORE => at += 1,
            class @ (MID_LETTER | MID_NUMBER | MID_BOTH) => {
                let next = bytes.get(at + 1).map_or(OTHER, |byte| CLASS[*byte as usize]);
                if next == NOT_ASCII {
                    return None;
                }
                if next != CLASS[bytes[at - 1] as usize] || !joins(class, next) {
                    return Some(end);
                }
                at += 1;
            }
            NOT_ASCII => return None,
            _ => return Some(end),
        }
    }
}

/// Whether a sign of `class` joins two characters that are both `sides`.
#[inline]
pub(super) fn joins(class: u8, sides: u8) -> bool {
    match sides {
        LETTER => class != MID_NUMBER,
        DIGIT => class != MID_LETTER,
        _ => false,
    }
}

/// The form of a whole word.
fn form(word: &[u8], key: WordKey) -> Form {
    let mut state = key.start();
    let mut n_digits = 0;
    let (blocks, rest) = word.as_chunks::<8>();
    for bytes in blocks {
        let block = Block::new(u64::from_le_bytes(*bytes));
        state = key.after(state, block.lower);
        n_digits += count(block.digits);
    }
    if !rest.is_empty() {
        let block = Block::new(load(rest, 0));
        state = key.after(state, block.lower);
        n_digits += count(block.digits);
    }
    Form { hash: key.finish(state, word.len() as u64), width: word.len() as u32, n_digits }
}

/// The eight bytes from `at` on, the first in the lowest bits, zeros after the end.
#[inline]
fn load(bytes: &[u8], at: usize) -> u64 {
    match bytes[at..].first_chunk::<8>() {
        Some(chunk) => u64::from_le_bytes(*chunk),
        None => bytes[at..].iter().rev().fold(0, |block, byte| block << 8 | u64::from(*byte)),
    }
}

/// The marks in a block.
#[inline]
fn count(marks: u64) -> u32 {
    ((marks >> 7).wrapping_mul(LOW) >> 56) as u32
}
