//! Where units are written down: traits, masked numbers, the bound.

use super::general::Form;
use super::hash::WordKey;
use super::{Rules, Traits, Words};
use crate::document::Span;
use crate::text::masks::Mask;

/// Kolcz 2004: shorter words are no terms.
const TERM_WIDTH_MIN: u32 = 4;
/// Kolcz 2004: words with more digits are no terms.
const TERM_DIGITS_MAX: u32 = 1;

/// The units of one text, as they come.
pub(super) struct Units<'a> {
    text: &'a [u8],
    words: &'a mut Words,
    key: WordKey,
    digits_masked_min: u64,
    words_max: usize,
    truncated: bool,
    digits: Option<Digits>,
}

/// Groups of digits that may belong together: `555-123-4567`.
#[derive(Clone, Copy)]
struct Digits {
    /// The position of the first group.
    first: usize,
    start: usize,
    end: usize,
    n_digits: u64,
}

impl<'a> Units<'a> {
    pub(super) fn new(text: &'a str, rules: &Rules, words: &'a mut Words) -> Self {
        assert!(u32::try_from(text.len()).is_ok(), "{} bytes of text are more than spans can say", text.len());
        Self {
            text: text.as_bytes(),
            words,
            key: WordKey::new(rules.key),
            digits_masked_min: rules.digits_masked_min as u64,
            words_max: rules.words_max,
            truncated: false,
            digits: None,
        }
    }

    pub(super) fn key(&self) -> WordKey {
        self.key
    }

    pub(super) fn is_truncated(&self) -> bool {
        self.truncated
    }

    /// Adds a word, and says whether there is room for more.
    #[inline(always)]
    pub(super) fn word(&mut self, start: usize, end: usize, form: Form) -> bool {
        if self.is_full() {
            return false;
        }
        if form.n_digits > 0 && self.number(start, end, form) {
            return true;
        }
        let is_term = form.width >= TERM_WIDTH_MIN && form.n_digits <= TERM_DIGITS_MAX;
        let traits = if is_term { Traits::TERM } else { Traits::ANY };
        self.words.push(form.hash, Span { start: start as u32, end: end as u32 }, traits);
        true
    }

    /// Adds a character of a script without spaces, and says whether there is room for more.
    #[inline]
    pub(super) fn character(&mut self, start: usize, end: usize, hash: u64) -> bool {
        if self.is_full() {
            return false;
        }
        if let (Some(traits), Some(span)) = (self.words.traits.last_mut(), self.words.spans.last())
            && traits.has(Traits::CHARACTER)
        {
            // One space is a line break of the source (Kang 2009 deletes spaces between kanji).
            let gap = &self.text[span.end as usize..start];
            if gap.is_empty() || gap == b" " {
                *traits = traits.with(Traits::TERM);
            }
        }
        self.words.push(hash, Span { start: start as u32, end: end as u32 }, Traits::CHARACTER);
        true
    }

    /// Adds a character right after another one, and says whether there is room for more.
    #[inline]
    pub(super) fn next_character(&mut self, start: usize, end: usize, hash: u64) -> bool {
        if self.is_full() {
            return false;
        }
        if let Some(traits) = self.words.traits.last_mut() {
            *traits = Traits::CHARACTER.with(Traits::TERM);
        }
        self.words.push(hash, Span { start: start as u32, end: end as u32 }, Traits::CHARACTER);
        true
    }

    /// Adds a masked token, and says whether there is room for more.
    pub(super) fn mask(&mut self, mask: Mask, span: Span) -> bool {
        if self.is_full() {
            return false;
        }
        self.words.push(mask.hash(self.key), span, Traits::MASKED);
        true
    }

    #[inline]
    fn is_full(&mut self) -> bool {
        self.truncated = self.words.len() >= self.words_max;
        self.truncated
    }

    /// Takes a word with digits if it makes a number that is masked, alone or with the groups before it.
    #[inline(never)]
    fn number(&mut self, start: usize, end: usize, form: Form) -> bool {
        let group = Digits { first: self.words.len(), start, end, n_digits: u64::from(form.n_digits) };
        let bytes = &self.text[start..end];
        let digits = if bytes.iter().all(|byte| !byte.is_ascii_alphabetic() && byte.is_ascii()) {
            let joined = match self.digits {
                Some(before) if self.text[before.end..start] == *b"-" || self.text[before.end..start] == *b"/" => {
                    Digits { end, n_digits: before.n_digits + group.n_digits, ..before }
                }
                _ => group,
            };
            self.digits = Some(joined);
            joined
        } else {
            group
        };
        if digits.n_digits < self.digits_masked_min {
            return false;
        }
        self.words.truncate(digits.first);
        self.words.push(Mask::Number.hash(self.key), Span::new(digits.start, end), Traits::MASKED);
        true
    }
}
