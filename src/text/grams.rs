//! Word 5-grams with their positions, all or winnowed: the patches of quilts.
//!
//! A gram is as many units as weigh 10, where a word weighs 2 and a character of a script without spaces 1: five
//! words, ten characters, or a mixture.

use super::words::Words;
use serde::Serialize;

/// A gram and where it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Gram {
    /// Its keyed hash.
    pub hash: u64,
    /// The position of its first unit.
    pub position: u32,
}

/// Adds the grams of `words` to `grams`: all of them for a `window` of 1, else the winnowed ones (the smallest hash of
/// every `window` neighbours, the rightmost of equals). `scratch` is reused.
pub fn cut(words: &Words, key: u64, window: usize, scratch: &mut Vec<Gram>, grams: &mut Vec<Gram>) {
    let _ = (words, key, window, scratch, grams);
    todo!()
}
