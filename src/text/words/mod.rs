//! The units of a text: words by UAX#29, single characters of scripts without spaces.
//!
//! A *unit* is what positions count: a word, or one character of Han, Kana, Thai and the like. A *term* is what
//! bags of words hold: a word of four characters and more with at most one digit (Kolcz 2004), or two neighbouring
//! characters of such a script, hashed together. A Hangul syllable holds two or three letters and counts as two
//! characters, or else the rule would leave hardly a Korean word.
//!
//! A word is what UAX#29 says, without the underscores at its ends: `don't`, `e.g`, `3.14` and `snake_case` are one
//! unit each, `so-called` is two. Its hash is that of its normalised form ([`normal`]) whatever its length. ASCII and
//! the commonest other letters are scanned by table ([`scan`]); everything else takes the general way
//! ([`general`]), and both agree.
//!
//! # Invariants
//! - The scanner gives exactly what the general way gives. (`the_scanner_agrees_with_the_general_way`)
//! - A unit's hash depends on its normalised form and the key alone. (`golden_word_hashes`)
//! - `term_hash` of a spelled-out term is the hash that [`terms`] gives. (`spelled_terms_hash_as_terms`)
//! - [`append_terms`] appends what [`terms`] gives. (`appended_terms_are_those_called_for`)

mod ascii;
pub mod general;
mod hash;
mod names;
pub mod normal;
mod scan;
mod tables;
mod units;

pub use hash::WordKey;

use super::masks;
use crate::document::Span;
use crate::signature::keyed::mix;
use units::Units;

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
        self.truncate(0);
    }

    fn push(&mut self, hash: u64, span: Span, traits: Traits) {
        self.hashes.push(hash);
        self.spans.push(span);
        self.traits.push(traits);
    }

    fn truncate(&mut self, len: usize) {
        self.hashes.truncate(len);
        self.spans.truncate(len);
        self.traits.truncate(len);
    }
}

/// What a unit is: a small set of flags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traits(pub u8);

impl Traits {
    /// No flag: what every unit has.
    pub const ANY: Self = Self(0);
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

/// How a text is cut into units.
#[derive(Clone, Copy, Debug)]
pub struct Rules<'a> {
    /// Keys the hashes.
    pub key: u64,
    /// The recipient's names; they are masked.
    pub names: &'a [String],
    /// A word of this many digits and more is masked, and so are groups of digits joined by `-` or `/`.
    pub digits_masked_min: usize,
    /// Further units are not read.
    pub words_max: usize,
}

impl Rules<'_> {
    /// Rules that mask no number and no name, and read everything.
    pub fn plain(key: u64) -> Self {
        Self { key, names: &[], digits_masked_min: usize::MAX, words_max: usize::MAX }
    }
}

/// Cuts `text` into units and adds them to `words`, which must be empty or of the same text's earlier part; stops at
/// `rules.words_max` units and says whether it had to.
pub fn cut(text: &str, rules: &Rules, words: &mut Words) -> bool {
    let first = words.len();
    let mut units = Units::new(text, rules, words);
    let mut from = 0;
    let mut masked = masks::Finder::new(text);
    loop {
        let mask = masked.next();
        let to = mask.map_or(text.len(), |(_, span)| span.start as usize);
        if !scan::scan(text, from, to, &mut units) {
            break;
        }
        let Some((mask, span)) = mask else { break };
        if !units.mask(mask, span) {
            break;
        }
        from = span.end as usize;
    }
    let truncated = units.is_truncated();
    if !rules.names.is_empty() {
        names::mask(text, rules, first, words);
    }
    truncated
}

/// The hash that [`cut`] gives a word by itself: what a lexicon's entries are looked up by. `word` is normalised
/// here; for a term of two characters it is the hash of [`pair`].
pub fn term_hash(word: &str, key: u64) -> u64 {
    let key = WordKey::new(key);
    let hash = |piece: &str| general::form(piece, key).hash;
    match two_characters(word) {
        Some((first, second)) => pair(hash(first), hash(second)),
        None => hash(word),
    }
}

/// [`term_hash`] of a form that is normalised already, as [`spelled_terms`] gives it. A lexicon has so many that
/// normalising them again would take most of the time of loading it.
pub fn form_hash(form: &str, key: WordKey) -> u64 {
    let hash = |piece: &str| key.hash(piece.as_bytes());
    match two_characters(form) {
        Some((first, second)) => pair(hash(first), hash(second)),
        None => hash(form),
    }
}

/// The two characters of a script without spaces, with their marks, that `term` is made of.
fn two_characters(term: &str) -> Option<(&str, &str)> {
    if term.is_ascii() {
        return None;
    }
    let mut characters = term.char_indices().filter(|(_, c)| normal::is_character(*c)).map(|(at, _)| at);
    match (characters.next(), characters.next(), characters.next()) {
        (Some(0), Some(second), None) => Some(term.split_at(second)),
        _ => None,
    }
}

/// The term of two neighbouring characters, from their hashes.
#[inline]
pub fn pair(first: u64, second: u64) -> u64 {
    // Both were mixed with the key, which nobody outside knows; the rotation tells the two places apart.
    mix(first.rotate_left(31), second)
}

/// Calls `with` for the hash of every term among the units that have all flags of `wanted`, in order,
/// repetitions included.
pub fn terms(words: &Words, wanted: Traits, mut with: impl FnMut(u64)) {
    let wanted_term = wanted.with(Traits::TERM);
    for (index, traits) in words.traits.iter().enumerate() {
        if !traits.has(wanted_term) {
            continue;
        }
        let hash = words.hashes[index];
        if !traits.has(Traits::CHARACTER) {
            with(hash);
        } else if let Some(next) = words.traits.get(index + 1)
            && next.has(wanted)
        {
            with(pair(hash, words.hashes[index + 1]));
        }
    }
}

/// Adds what [`terms`] calls its function with to `into`. Whether a word is a term is as good as a coin: each is written
/// down, and what is none is written over.
pub fn append_terms(words: &Words, wanted: Traits, into: &mut Vec<u64>) {
    let wanted_term = wanted.with(Traits::TERM);
    let mut n = into.len();
    // A place more, for what is written down last and is no term.
    into.resize(n + words.len() + 1, 0);
    for (index, (&hash, &traits)) in words.hashes.iter().zip(&words.traits).enumerate() {
        let mut is_term = traits.has(wanted_term);
        into[n] = hash;
        if traits.has(Traits::CHARACTER) {
            is_term &= words.traits.get(index + 1).is_some_and(|next| next.has(wanted));
            into[n] = pair(hash, words.hashes.get(index + 1).copied().unwrap_or_default());
        }
        n += usize::from(is_term);
    }
    into.truncate(n);
}

/// Calls `with` for the spelled-out, normalised form of every term of `text`, in order: what a lexicon is built from.
/// `term_hash(form)` is the hash that [`terms`] gives for it.
pub fn spelled_terms(text: &str, mut with: impl FnMut(&str)) {
    let mut words = Words::default();
    cut(text, &Rules::plain(0), &mut words);
    let mut form = String::new();
    for (index, traits) in words.traits.iter().enumerate() {
        if traits.has(Traits::TERM) {
            let last = index + usize::from(traits.has(Traits::CHARACTER));
            form.clear();
            for span in &words.spans[index..=last] {
                normal::each_char(&text[span.range()], |c| form.push(c));
            }
            with(&form);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Words and characters, terms or not, core or not, after what was there before.
        #[test]
        fn appended_terms_are_those_called_for(units in prop::collection::vec((any::<u64>(), 0..16u8), 0..60), before: u8) {
            let words = Words {
                hashes: units.iter().map(|unit| unit.0).collect(),
                spans: vec![Span::default(); units.len()],
                traits: units.iter().map(|unit| Traits(unit.1)).collect(),
            };
            for wanted in [Traits::ANY, Traits::CORE] {
                let mut expected = vec![7; before.into()];
                let mut appended = expected.clone();
                terms(&words, wanted, |term| expected.push(term));
                append_terms(&words, wanted, &mut appended);
                prop_assert_eq!(appended, expected);
            }
        }
    }
}
