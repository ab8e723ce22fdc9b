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
                names.push(Name { hashes: words.hashes[index..index + n_units].to_vec(), may_be_common });
            }
            index += n_units;
        }
    }
    // The longest first, so that a whole name goes before its part.
    names.sort_by_key(|name| std::cmp::Reverse(name.hashes.len()));
    names
}
