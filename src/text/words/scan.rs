//! The scanner: one pass over the bytes, a word of ASCII hashed as it stands, eight bytes at a time.
//!
//! ASCII words are found, lower-cased and hashed in 64-bit blocks. A word with other letters that the tables know
//! goes character by character, and anything else (marks, emoji, Hebrew quotes, Indic scripts) is given, from the
//! beginning of its UAX#29 segment, to the general way. That may start at any border between segments: a segment
//! does not depend on those before it.
//!
//! # Invariants
//! - The units are those of the general way. (`the_scanner_agrees_with_the_general_way`)
//! - No byte is read more than a few times. (`hostile_texts_take_linear_time`)

use super::ascii;
use super::general::{self, Form};
use super::hash::Hasher;
use super::normal::width;
use super::tables::{self, CLASS, DIGIT, LETTER, MID_BOTH, MID_LETTER, MID_NUMBER, NOT_ASCII, Sort, UNDERSCORE};
use super::units::Units;

/// Adds the units of `text[from..to]`, read as if it stood alone, and says whether there is room for more.
pub(super) fn scan(text: &str, from: usize, to: usize, units: &mut Units) -> bool {
    let text = &text[..to];
    let bytes = text.as_bytes();
    let key = units.key();
    let mut at = from;
    while let Some(&byte) = bytes.get(at) {
        let end = match CLASS[byte as usize] {
            LETTER | DIGIT => match ascii::word(bytes, at, key) {
                Some((end, form)) => units.word(at, end, form).then_some(end),
                None => mixed(text, at, units),
            },
            NOT_ASCII => match tables::sort_at(bytes, at) {
                Sort::Plain(_) | Sort::Sharp => mixed(text, at, units),
                Sort::Character => characters(text, at, units),
                Sort::Break | Sort::Joiner | Sort::Apostrophe => Some(at + len_at(bytes, at)),
                Sort::Odd => segment(text, at, units),
            },
            _ => Some(at + 1),
        };
        let Some(end) = end else { return false };
        at = end;
    }
    true
}

/// Adds the units of the UAX#29 segment at `at` in the general way; its end, or `None` where there is no more room.
#[cold]
fn segment(text: &str, at: usize, units: &mut Units) -> Option<usize> {
    let end = at + general::segment_end(&text[at..]);
    let key = units.key();
    let goes_on = general::units_of(&text[at..end], |start, end, is_character| {
        let (start, end) = (at + start, at + end);
        let form = general::form(&text[start..end], key);
        if is_character { units.character(start, end, form.hash) } else { units.word(start, end, form) }
    });
    goes_on.then_some(end)
}

/// Adds the characters from `at` on, up to the last of them.
fn characters(text: &str, mut at: usize, units: &mut Units) -> Option<usize> {
    let bytes = text.as_bytes();
    let key = units.key();
    let mut is_first = true;
    loop {
        // Those that the tables know have three bytes.
        let end = at + 3;
        let next = match bytes.get(end) {
            Some(0x80..) => tables::sort_at(bytes, end),
            _ => Sort::Break,
        };
        if next == Sort::Odd {
            return segment(text, at, units);
        }
        let block = u64::from(bytes[at]) | u64::from(bytes[at + 1]) << 8 | u64::from(bytes[at + 2]) << 16;
        let hash = key.finish(key.after(key.start(), block), 3);
        if !(if is_first { units.character(at, end, hash) } else { units.next_character(at, end, hash) }) {
            return None;
        }
        if next != Sort::Character {
            return Some(end);
        }
        (at, is_first) = (end, false);
    }
}

/// Adds the word at `at`, character by character, or gives it to the general way.
fn mixed(text: &str, at: usize, units: &mut Units) -> Option<usize> {
    match mixed_word(text, at, units.key().hasher()) {
        Some((end, form)) => units.word(at, end, form).then_some(end),
        None => segment(text, at, units),
    }
}

/// The end and form of the word at `at`, or `None` if the tables do not know all its characters.
fn mixed_word(text: &str, start: usize, mut hasher: Hasher) -> Option<(usize, Form)> {
    let bytes = text.as_bytes();
    let (mut at, mut end) = (start, start);
    let (mut n_chars, mut n_digits) = (0, 0);
    // The class of what came last, and the underscores that count if the word goes on after them.
    let (mut last, mut n_underscores) = (UNDERSCORE, 0);
    while let Some(&byte) = bytes.get(at) {
        let class = CLASS[byte as usize];
        let sort = if class == NOT_ASCII { tables::sort_at(bytes, at) } else { Sort::Break };
        let (c, class) = match (class, sort) {
            (LETTER | DIGIT, _) => (byte.to_ascii_lowercase() as char, class),
            (NOT_ASCII, Sort::Plain(form)) => (form, LETTER),
            (NOT_ASCII, Sort::Sharp) => ('s', LETTER),
            (UNDERSCORE, _) => {
                (at, last, n_underscores) = (at + 1, UNDERSCORE, n_underscores + 1);
                continue;
            }
            (MID_LETTER | MID_NUMBER | MID_BOTH, _) | (NOT_ASCII, Sort::Apostrophe) => {
                let (form, len, class) =
                    if class == NOT_ASCII { ('\'', 3, MID_BOTH) } else { (byte as char, 1, class) };
                match class_at(text, at + len) {
                    NOT_ASCII => return None,
                    next if next == last && ascii::joins(class, last) => {
                        hasher.push_char(form);
                        n_chars += 1;
                        at += len;
                        continue;
                    }
                    _ => break,
                }
            }
            (NOT_ASCII, Sort::Odd | Sort::Joiner) => return None,
            _ => break,
        };
        for _ in 0..n_underscores {
            hasher.push(u64::from(b'_'), 1);
        }
        n_chars += n_underscores;
        hasher.push_char(c);
        if sort == Sort::Sharp {
            hasher.push_char(c);
            n_chars += 1;
        }
        n_chars += width(c);
        n_digits += u32::from(class == DIGIT);
        at += len_at(bytes, at);
        (last, n_underscores, end) = (class, 0, at);
    }
    Some((end, Form { hash: hasher.finish(), width: n_chars, n_digits }))
}

/// The class of the character at `at`: a letter or digit, something else, or [`NOT_ASCII`] for what the tables do not know.
fn class_at(text: &str, at: usize) -> u8 {
    let bytes = text.as_bytes();
    match bytes.get(at).map(|byte| CLASS[*byte as usize]) {
        Some(NOT_ASCII) => match tables::sort_at(bytes, at) {
            Sort::Plain(_) | Sort::Sharp => LETTER,
            Sort::Odd => NOT_ASCII,
            _ => tables::OTHER,
        },
        Some(class) => class,
        None => tables::OTHER,
    }
}

/// The length of the character at `at`.
#[inline]
fn len_at(bytes: &[u8], at: usize) -> usize {
    match bytes[at] {
        0..0x80 => 1,
        0x80..0xE0 => 2,
        0xE0..0xF0 => 3,
        _ => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Rules, Words};
    use super::*;
    use proptest::prelude::*;
    use unicode_segmentation::UnicodeSegmentation;

    fn scanned(text: &str) -> Words {
        let mut words = Words::default();
        assert!(scan(text, 0, text.len(), &mut Units::new(text, &Rules::plain(5), &mut words)));
        words
    }

    /// The oracle: every segment of the whole text in the general way.
    fn generally(text: &str) -> Words {
        let mut words = Words::default();
        let mut units = Units::new(text, &Rules::plain(5), &mut words);
        let key = units.key();
        for (at, segment) in text.split_word_bound_indices() {
            general::units_of(segment, |start, end, is_character| {
                let (start, end) = (at + start, at + end);
                let form = general::form(&text[start..end], key);
                if is_character { units.character(start, end, form.hash) } else { units.word(start, end, form) }
            });
        }
        words
    }

    fn same(text: &str) {
        let (fast, slow) = (scanned(text), generally(text));
        let spelled = |words: &Words| words.spans.iter().map(|s| text[s.range()].to_owned()).collect::<Vec<_>>();
        assert_eq!(spelled(&fast), spelled(&slow), "{text:?}");
        assert_eq!(fast, slow, "{text:?}");
    }

    /// What words are made of, and what scanners stumble over.
    const PIECES: &[&str] = &[
        "a",
        "B",
        "word",
        "Internationalisation",
        "0",
        "12",
        "3",
        "_",
        "__",
        ".",
        "'",
        ":",
        ",",
        ";",
        "-",
        "\"",
        " ",
        "\n",
        "\0",
        "é",
        "ß",
        "ẞ",
        "İ",
        "ſ",
        "ﬁ",
        "Ж",
        "ё",
        "σ",
        "ς",
        "ة",
        "א",
        "\u{301}",
        "\u{308}",
        "\u{345}",
        "\u{AD}",
        "’",
        "‘",
        "·",
        "：",
        "．",
        "，",
        "Ａ",
        "ｚ",
        "５",
        "＿",
        "‿",
        "日",
        "本",
        "ア",
        "ｱ",
        "ﾞ",
        "が",
        "か\u{3099}",
        "ー",
        "々",
        "ヿ",
        "ก",
        "ำ",
        "็",
        "한",
        "국",
        "ᄒ",
        "ᅡ",
        "ﾡ",
        "ￂ",
        "\u{200B}",
        "\u{200D}",
        "\u{FE0F}",
        "👩",
        "🇩",
        "🇪",
        "ℹ",
        "𝐖",
        "𝟗",
        "—",
        "“",
        "。",
        "！",
        "…",
        "\u{A0}",
        "\u{3000}",
        "½",
        "①",
        "Ⅷ",
        "क",
        "ि",
        "्",
        "゛",
        "\u{2028}",
        "\r",
        "\u{E33}",
        "ᾳ",
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn the_scanner_agrees_with_the_general_way(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..24)) {
            same(&pieces.concat());
        }

        #[test]
        fn it_agrees_on_any_text(text in "\\PC{0,40}") {
            same(&text);
        }

        #[test]
        fn it_agrees_on_ascii(text in "[ -~]{0,60}|[a-c0-2._':;, é]{0,40}") {
            same(&text);
        }
    }

    #[test]
    fn it_agrees_on_every_character() {
        // Inside Han and Hangul one character is like the other.
        let few = (0x3400..0xD7A4).step_by(97).chain((0x20000..0x3FFFF).step_by(997));
        for c in (0..0x3400).chain(0xD7A4..0x20000).chain(0xE0000..0xE0200).chain(few).filter_map(char::from_u32) {
            for text in [format!("{c}"), format!("a{c}b {c} 1{c}2"), format!("日{c}本é{c}.{c}a.{c}")] {
                same(&text);
            }
        }
    }
}
