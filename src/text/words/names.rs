//! The recipient's names, masked where they stand in the text.
//!
//! A name of words is masked word by word, so that `Dear Ann`, `Dear Ms Smith` and `Ann Smith` all lose what is
//! personal; a name of characters (山田太郎) only as a whole, for its single characters are everywhere. A short word is
//! often a common one (Will, May, Mark): it is masked only where it does not begin in lower case.

use super::{Rules, Traits, Units, WordKey, Words, scan};
use crate::document::Span;
use crate::text::masks::Mask;

/// Shorter words are not masked: `to`, `an` and `de` are names too.
const CHARS_MIN: usize = 3;
/// Longer words are masked in lower case too.
const COMMON_CHARS_MAX: usize = 4;
/// Further names are not masked: a mail to thousands is personal to nobody.
const NAMES_MAX: usize = 64;

/// Characters of a name beyond these do not count.
const UNITS_MAX: usize = 16;

/// A name as the text would hold it.
struct Name {
    /// Its units.
    hashes: Vec<u64>,
    /// Whether it may be a common word.
    may_be_common: bool,
}

/// Masks the names of `rules` among the units from `first` on.
pub(super) fn mask(text: &str, rules: &Rules, first: usize, words: &mut Words) {
    let names = names(rules);
    // One bit per first unit tells nearly all other units apart.
    let filter = names.iter().fold(0u64, |filter, name| filter | 1 << (name.hashes[0] >> 58));
    let hash = Mask::Name.hash(WordKey::new(rules.key));
    let (mut from, mut to) = (first, first);
    while from < words.len() {
        let unit = words.hashes[from];
        let name = (filter >> (unit >> 58) & 1 == 1).then(|| names.iter().find(|name| is_at(text, words, from, name)));
        let (hash, span, traits, n_units) = match name.flatten() {
            Some(name) => {
                let n_units = name.hashes.len();
                let span = Span { start: words.spans[from].start, end: words.spans[from + n_units - 1].end };
                // The character before it has lost its neighbour.
                if to > first && words.traits[to - 1].has(Traits::CHARACTER) {
                    words.traits[to - 1] = Traits::CHARACTER;
                }
                (hash, span, Traits::MASKED, n_units)
            }
            None => (unit, words.spans[from], words.traits[from], 1),
        };
        (words.hashes[to], words.spans[to], words.traits[to]) = (hash, span, traits);
        (from, to) = (from + n_units, to + 1);
    }
    words.truncate(to);
}

fn is_at(text: &str, words: &Words, index: usize, name: &Name) -> bool {
    words.hashes[index..].starts_with(&name.hashes)
        && !(name.may_be_common && text[words.spans[index].range()].starts_with(char::is_lowercase))
}

fn names(rules: &Rules) -> Vec<Name> {
    let mut names = Vec::new();
    let mut words = Words::default();
    for name in rules.names.iter().take(NAMES_MAX) {
        words.clear();
        scan::scan(name, 0, name.len(), &mut Units::new(name, &Rules::plain(rules.key), &mut words));
        let mut index = 0;
        while index < words.len() {
            let is_character = |at: &usize| words.traits[*at].has(Traits::CHARACTER);
            let n_characters = (index..words.len()).take_while(is_character).count();
            let n_units = n_characters.max(1);
            let n_chars = name[words.spans[index].range()].chars().count();
            if n_characters > 1 || n_characters == 0 && n_chars >= CHARS_MIN {
                let may_be_common = n_characters == 0 && n_chars <= COMMON_CHARS_MAX;
                names
                    .push(Name { hashes: words.hashes[index..index + n_units.min(UNITS_MAX)].to_vec(), may_be_common });
            }
            index += n_units;
        }
    }
    // The longest first, so that a whole name goes before its part.
    names.sort_by_key(|name| std::cmp::Reverse(name.hashes.len()));
    names
}

#[cfg(test)]
mod tests {
    use super::super::cut;
    use super::*;

    /// The units of `text` with the names masked as `*`.
    fn masked(text: &str, names: &[&str]) -> String {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut words = Words::default();
        cut(text, &Rules { names: &names, ..Rules::plain(3) }, &mut words);
        let hash = Mask::Name.hash(WordKey::new(3));
        let spelled =
            words.hashes.iter().zip(&words.spans).map(|(h, s)| if *h == hash { "*" } else { &text[s.range()] });
        spelled.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn names_are_masked_word_by_word() {
        assert_eq!(masked("Dear Ann Smith, ANN!", &["ann smith"]), "Dear * * *");
        assert_eq!(masked("Hello jane.doe99, JANE", &["jane.doe99", "Jane"]), "Hello * *");
    }

    #[test]
    fn common_words_are_masked_only_where_they_look_like_names() {
        assert_eq!(masked("Will, you will win", &["will"]), "* you will win");
        assert_eq!(masked("to Al: go to De", &["to", "al", "de"]), "to Al go to De");
    }

    #[test]
    fn names_of_characters_are_masked_as_a_whole() {
        assert_eq!(masked("山田太郎様、山の田", &["山田太郎"]), "* 様 山 の 田");
        assert_eq!(masked("山 の 山", &["山"]), "山 の 山");
    }

    /// A term must not reach into a mask.
    #[test]
    fn a_character_before_a_name_is_no_term() {
        let mut words = Words::default();
        let names = ["山田".to_owned()];
        cut("様山田様方", &Rules { names: &names, ..Rules::plain(3) }, &mut words);
        let is_term: Vec<bool> = words.traits.iter().map(|traits| traits.has(Traits::TERM)).collect();
        assert_eq!(is_term, [false, false, true, false]);
    }
}
