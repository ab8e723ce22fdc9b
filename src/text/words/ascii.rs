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
        // Lower-cases letters and changes no digit and no sign that joins, underscores apart.
        let lower = bytes | LOW << 5;
        // The high bit of every byte that is at least `min`; bytes that are not ASCII are sorted out at the end.
        let at_least = |bytes: u64, min: u8| (bytes & !HIGH) + LOW * u64::from(0x80 - min);
        let letters = at_least(lower, b'a') & !at_least(lower, b'z' + 1);
        let digits = at_least(bytes, b'0') & !at_least(bytes, b'9' + 1) & !bytes & HIGH;
        Self { lower, alnum: (letters & !bytes & HIGH) | digits, digits }
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
    let mut at = start;
    let mut state = key.start();
    let mut n_digits = 0;
    loop {
        let block = Block::new(load(bytes, at));
        let n = block.n_alnum();
        at += n;
        let mask = if n == 8 { !0 } else { !(!0 << (8 * n)) };
        if n > 0 {
            state = key.after(state, block.lower & mask);
        }
        if block.digits != 0 {
            n_digits += count(block.digits & mask);
        }
        if n < 8 {
            break;
        }
    }
    if ends(bytes, at) {
        let n_bytes = at - start;
        return Some((at, Form { hash: key.finish(state, n_bytes as u64), width: n_bytes as u32, n_digits }));
    }
    let end = end(bytes, at)?;
    Some((end, form(&bytes[start..end], key)))
}

/// Whether nothing at `at` could join: a space, mostly, or a full stop or comma and then a space.
#[inline]
fn ends(bytes: &[u8], at: usize) -> bool {
    let class = |at: usize| bytes.get(at).map_or(OTHER, |byte| CLASS[*byte as usize]);
    match class(at) {
        OTHER => true,
        MID_LETTER | MID_NUMBER | MID_BOTH => class(at + 1) == OTHER,
        _ => false,
    }
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
    for at in (0..word.len()).step_by(8) {
        let bytes = load(word, at);
        let block = Block::new(bytes);
        // Only letters are lower-cased here: there may be underscores, and zeros after the end.
        let letters = block.alnum & !block.digits;
        state = key.after(state, bytes | letters >> 2);
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
