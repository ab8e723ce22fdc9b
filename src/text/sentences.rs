//! Sentences of Latin, CJK and mixed text, with the repairs of Kang 2009.

use super::words::Words;
use crate::document::Span;

/// One sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sentence {
    /// Where it stands in the visible text, white space at its ends left out.
    pub span: Span,
    /// Its length in characters.
    pub n_chars: u32,
    /// The units in it, as a range of positions.
    pub first_word: u32,
    /// One past the last of them.
    pub end_word: u32,
    /// Whether it lies in a content block (a page) or outside all asides (a mail).
    pub core: bool,
}

/// Cuts `text` into sentences.
pub fn cut(text: &str, words: &Words, sentences: &mut Vec<Sentence>) {
    let _ = (text, words, sentences);
}
