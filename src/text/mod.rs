//! A document is cut into [`Text`]: words, sentences, content blocks.
//!
//! [`Cutter`] keeps its buffers. The words of the visible text lie in three parallel arrays ([`Words`]), so that
//! the signatures walk plain slices of hashes; nothing is allocated per word.
//!
//! # Invariants
//! - Spans lie in the visible text, on character borders, in order. (`spans_are_ordered_and_on_borders`)
//! - A word's hash depends on its normalised letters and the key alone. (`golden_word_hashes`)

pub mod blocks;
mod cutter;
pub mod grams;
pub mod masks;
pub mod sentences;
pub mod words;

pub use cutter::Cutter;

use crate::document::Span;
use blocks::Block;
use sentences::Sentence;
use words::Words;

/// A document, cut.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Text {
    /// The units of the visible text: words, and single characters of scripts without spaces.
    pub words: Words,
    /// The units of the hidden text; their spans lie in `Document::hidden`.
    pub hidden: Words,
    /// The sentences of the visible text, in order.
    pub sentences: Vec<Sentence>,
    /// The blocks of the visible text, by Kang's 50 % rule, in order.
    pub blocks: Vec<Block>,
    /// Units that are single characters of Han, Kana, Thai and the like.
    pub n_characters: usize,
    /// Whether `limits.words_max` cut the words off.
    pub truncated: bool,
}

impl Text {
    /// Forgets all, keeps the memory.
    pub fn clear(&mut self) {
        self.words.clear();
        self.hidden.clear();
        self.sentences.clear();
        self.blocks.clear();
        self.n_characters = 0;
        self.truncated = false;
    }

    /// Whether most of the text is in a script without spaces.
    pub fn is_unspaced(&self) -> bool {
        2 * self.n_characters > self.words.len()
    }

    /// The byte span of the visible text that the units `first..=last` cover.
    pub fn span(&self, first: usize, last: usize) -> Span {
        Span { start: self.words.spans[first].start, end: self.words.spans[last].end }
    }
}
