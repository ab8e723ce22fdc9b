//! The units of a text: words by UAX#29, single characters of scripts without spaces.
//!
//! A *unit* is what positions count: a word, or one character of Han, Kana, Thai and the like. A *term* is what
//! bags of words hold: a word of four letters and more with at most one digit (Kolcz 2004), or two neighbouring
//! characters of such a script, hashed together.

use crate::document::Span;

/// Units in three parallel arrays.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Words {
    /// The keyed hash of the unit's normalised form (NFKC, case folded); of a masked one, of its mask.
    pub hashes: Vec<u64>,
    /// Where it stands.
    pub spans: Vec<Span>,
    /// What it is.
    pub traits: Vec<Traits>,
}

impl Words {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.hashes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    /// Forgets all, keeps the memory.
    pub fn clear(&mut self) {
        self.hashes.clear();
        self.spans.clear();
        self.traits.clear();
    }
}

/// What a unit is: a small set of flags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traits(pub u8);

impl Traits {
    /// Long and plain enough to be a term (for a character: it forms a term with the next unit).
    pub const TERM: Self = Self(1);
    /// A single character of a script without spaces.
    pub const CHARACTER: Self = Self(2);
    /// A personal token, hashed as its mask.
    pub const MASKED: Self = Self(4);
    /// In a content block of a page; outside all asides of a mail.
    pub const CORE: Self = Self(8);

    /// Whether all flags of `other` are set.
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// With the flags of `other`.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Cuts `text` into units and adds them to `words`; stops at `words_max` of them and says whether it had to.
/// `names` are the recipient's names, folded; they are masked.
pub fn cut(text: &str, key: u64, names: &[String], words_max: usize, words: &mut Words) -> bool {
    let _ = (text, key, names, words_max, words);
    todo!()
}

/// The hash that [`cut`] gives a word by itself: what a lexicon's entries are looked up by. `word` is normalised
/// here; for a term of two characters it is the hash of [`pair`].
pub fn term_hash(word: &str, key: u64) -> u64 {
    let _ = (word, key);
    todo!()
}

/// The term of two neighbouring characters, from their hashes.
pub fn pair(first: u64, second: u64) -> u64 {
    let _ = (first, second);
    todo!()
}

/// Calls `with` for the hash of every term among the units that have all flags of `wanted`, in order,
/// repetitions included.
pub fn terms(words: &Words, wanted: Traits, with: impl FnMut(u64)) {
    let _ = (words, wanted, with);
    todo!()
}

/// Calls `with` for the spelled-out, normalised form of every term of `text`, in order: what a lexicon is built from.
/// `term_hash(form)` is the hash that [`terms`] gives for it.
pub fn spelled_terms(text: &str, with: impl FnMut(&str)) {
    let _ = (text, with);
    todo!()
}
