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

#[cfg(test)]
pub(crate) mod tests {
    use super::words::{Rules, Words};
    use super::*;
    use std::sync::LazyLock;
    use std::time::{Duration, Instant};

    /// The time this thread has had a processor, where the system tells; else the time of day.
    fn now() -> Duration {
        static START: LazyLock<Instant> = LazyLock::new(Instant::now);
        let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
        match stat.split(' ').next().map(str::parse) {
            Some(Ok(nanos)) => Duration::from_nanos(nanos),
            _ => START.elapsed(),
        }
    }

    /// Runs `run` on 512 KB of `piece`. A microsecond per byte is ten times and more what the slowest of them takes, and a
    /// tenth and less of what any search does that begins again at every byte.
    pub(crate) fn assert_linear(piece: &str, run: impl Fn(&str)) {
        let text = piece.repeat((512 << 10) / piece.len());
        let start = now();
        run(&text);
        let time = now().saturating_sub(start);
        assert!(time < Duration::from_micros(text.len() as u64), "{piece:?}: {time:?} for {} bytes", text.len());
    }

    #[test]
    fn hostile_texts_take_linear_time() {
        for piece in [
            "a",
            "A",
            "1",
            "_",
            "@",
            ".",
            "'",
            "a@",
            "a@a.",
            "http://",
            "www.",
            "a.",
            "1-",
            "1,",
            "a\u{301}",
            "\u{301}",
            "é",
            "日",
            "日\u{301}",
            "ｶﾞ",
            "ก็",
            "。",
            "！と",
            "」",
            ". ",
            "A. ",
            "1. ",
            "... ",
            "!",
            "\u{200D}",
            "👩\u{200D}",
            "🇩",
            "\u{FDFA}",
            "\n",
            " ",
            "a:",
            "a_",
            "a.\u{301}",
            "א\"",
            "ß",
            "Mr. A",
            "\u{E000}",
            "a-",
        ] {
            assert_linear(piece, |text| {
                let names = ["aaa".to_owned(), "日日日日日日日日日日日日日日日日日日日日".to_owned()];
                let rules = Rules { key: 1, names: &names, digits_masked_min: 5, words_max: usize::MAX };
                let mut words = Words::default();
                words::cut(text, &rules, &mut words);
                let mut found = Vec::new();
                sentences::cut(text, &words, &mut found);
                assert!(found.len() <= words.len());
            });
        }
    }
}
