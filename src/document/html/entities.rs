//! Character references: `&eacute;`, `&#233;`, and the old ones that need no semicolon.
//!
//! The names are those of the HTML standard, one to a line in `entities.txt`, sorted: the name, `;` or (where the
//! semicolon may be missing) `,`, and the characters. All names are letters and digits, so the longest match of the
//! standard is either the whole run of letters and digits before a `;`, or one of the old names at its start.
//!
//! # Invariants
//! - Every name of the standard is found, with and without semicolon as it allows. (`every_name_is_found`)

use super::tag::key;

static NAMES: &str = include_str!("entities.txt");

const N_NAMES: usize = {
    let (mut n, mut at) = (0, 0);
    while at < NAMES.len() {
        n += (NAMES.as_bytes()[at] == b'\n') as usize;
        at += 1;
    }
    n
};

/// Where a line that starts `at` has its separator.
const fn name_end(mut at: usize) -> usize {
    while NAMES.as_bytes()[at].is_ascii_alphanumeric() {
        at += 1;
    }
    at
}

/// Where the line that holds `at` ends.
const fn line_end(mut at: usize) -> usize {
    while NAMES.as_bytes()[at] != b'\n' {
        at += 1;
    }
    at
}

#[inline]
const fn slot(key: u64, n_slots: usize) -> usize {
    (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - n_slots.trailing_zeros())) as usize
}

const NO_LINE: u16 = u16::MAX;
const SLOTS: usize = 4096;

/// Where the lines start, by a hash of their names. A lookup must be quick even where nothing is found, or a page of
/// `&notso` would be read at a crawl.
static LINES: [u16; SLOTS] = {
    assert!(NAMES.len() < NO_LINE as usize && N_NAMES < SLOTS * 3 / 4);
    let mut lines = [NO_LINE; SLOTS];
    let mut at = 0;
    while at < NAMES.len() {
        let end = name_end(at);
        let (_, from_name) = NAMES.as_bytes().split_at(at);
        let mut slot = slot(key(from_name.split_at(end - at).0), SLOTS);
        while lines[slot] != NO_LINE {
            slot = (slot + 1) % SLOTS;
        }
        lines[slot] = at as u16;
        at = line_end(end) + 1;
    }
    lines
};

const OLD_SLOTS: usize = 512;

/// The same for the old names alone, with their keys, which are the names themselves.
static OLD_LINES: [(u64, u16); OLD_SLOTS] = {
    let mut lines = [(0, NO_LINE); OLD_SLOTS];
    let mut at = 0;
    while at < NAMES.len() {
        let end = name_end(at);
        if NAMES.as_bytes()[end] == b',' {
            let (_, from_name) = NAMES.as_bytes().split_at(at);
            let key = key(from_name.split_at(end - at).0);
            let mut slot = slot(key, OLD_SLOTS);
            while lines[slot].1 != NO_LINE {
                slot = (slot + 1) % OLD_SLOTS;
            }
            lines[slot] = (key, at as u16);
        }
        at = line_end(end) + 1;
    }
    lines
};

/// `CounterClockwiseContourIntegral`
const NAME_LEN_MAX: usize = 31;
/// The old names have two (`lt`) to six (`Aacute`) letters.
const OLD_LEN: std::ops::RangeInclusive<usize> = 2..=6;

/// What a character reference stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decoded {
    /// One or two characters of a named reference.
    Name(&'static str),
    /// A number.
    Char(char),
}

/// Where references stand: in attributes, old names before a letter, digit or `=` are none (`?a=1&copy=2`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Text,
    Attribute,
}

/// What the reference at the start of `bytes`, which is a `&`, stands for, and its length. `None` where it is just `&`.
pub(super) fn decoded(bytes: &[u8], place: Place) -> Option<(Decoded, usize)> {
    match bytes.get(1)? {
        b'#' => number(bytes),
        b'a'..=b'z' | b'A'..=b'Z' => name(bytes, place),
        _ => None,
    }
}

/// Adds an attribute's value to `out`, decoded.
pub fn push_value(value: &str, out: &mut String) {
    push(value, Place::Attribute, out);
}

/// Adds text to `out`, decoded and otherwise as it is.
pub fn push_text(text: &str, out: &mut String) {
    push(text, Place::Text, out);
}

fn push(source: &str, place: Place, out: &mut String) {
    let mut rest = source;
    while let Some(at) = memchr::memchr(b'&', rest.as_bytes()) {
        out.push_str(&rest[..at]);
        let len = match decoded(&rest.as_bytes()[at..], place) {
            Some((Decoded::Name(characters), len)) => {
                out.push_str(characters);
                len
            }
            Some((Decoded::Char(character), len)) => {
                out.push(character);
                len
            }
            None => {
                out.push('&');
                1
            }
        };
        rest = &rest[at + len..];
    }
    out.push_str(rest);
}

fn name(bytes: &[u8], place: Place) -> Option<(Decoded, usize)> {
    let run = &bytes[1..bytes.len().min(NAME_LEN_MAX + 2)];
    let len = run.iter().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(run.len());
    let (letters, next) = (&run[..len], run.get(len));
    if next == Some(&b';') {
        let characters = match letters {
            b"nbsp" => Some("\u{A0}"),
            b"amp" => Some("&"),
            b"NewLine" => Some("\n"),
            b"Tab" => Some("\t"),
            _ => found(letters),
        };
        if let Some(characters) = characters {
            return Some((Decoded::Name(characters), len + 2));
        }
    }
    let first = key(&letters[..len.min(*OLD_LEN.end())]);
    let (characters, len) = OLD_LEN.rev().filter(|&old_len| old_len <= len).find_map(|len| {
        let characters = old(first & !(u64::MAX << (8 * len)))?;
        Some((characters, len))
    })?;
    if place == Place::Attribute && bytes.get(len + 1).is_some_and(|&next| next == b'=' || next.is_ascii_alphanumeric())
    {
        return None;
    }
    Some((Decoded::Name(characters), len + 1))
}

/// The characters of a name.
fn found(name: &[u8]) -> Option<&'static str> {
    let mut at = slot(key(name), SLOTS);
    while LINES[at] != NO_LINE {
        let line = LINES[at] as usize;
        let end = line + name.len();
        if NAMES.as_bytes()[line..].starts_with(name) && !NAMES.as_bytes()[end].is_ascii_alphanumeric() {
            return Some(&NAMES[end + 1..line_end(end)]);
        }
        at = (at + 1) % SLOTS;
    }
    None
}

/// The characters of the old name with this key.
#[inline]
fn old(key: u64) -> Option<&'static str> {
    let mut at = slot(key, OLD_SLOTS);
    while OLD_LINES[at].1 != NO_LINE {
        if OLD_LINES[at].0 == key {
            let end = name_end(OLD_LINES[at].1 as usize);
            return Some(&NAMES[end + 1..line_end(end)]);
        }
        at = (at + 1) % OLD_SLOTS;
    }
    None
}

fn number(bytes: &[u8]) -> Option<(Decoded, usize)> {
    let (radix, start) = if matches!(bytes.get(2), Some(b'x' | b'X')) { (16, 3) } else { (10, 2) };
    let (mut value, mut at) = (0u32, start);
    while let Some(digit) = bytes.get(at).and_then(|&byte| char::from(byte).to_digit(radix)) {
        value = value.saturating_mul(radix).saturating_add(digit);
        at += 1;
    }
    if at == start {
        return None;
    }
    let len = at + usize::from(bytes.get(at) == Some(&b';'));
    let character = match value {
        0 => char::REPLACEMENT_CHARACTER,
        0x80..=0x9F => WINDOWS_1252[value as usize - 0x80],
        _ => char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER),
    };
    Some((Decoded::Char(character), len))
}

/// Numbers 128 to 159 are read as windows-1252, as the standard says. Five have no character there.
#[rustfmt::skip]
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8D}', 'Ž', '\u{8F}',
    '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9D}', 'ž', 'Ÿ',
];

#[cfg(test)]
mod tests {
    use super::*;

    fn attribute(value: &str) -> String {
        let mut out = String::new();
        push_value(value, &mut out);
        out
    }

    #[test]
    fn every_name_is_found() {
        assert_eq!(N_NAMES + 2, 2125, "names of the standard, NewLine and Tab among them");
        let mut n_old = 0;
        for line in NAMES.lines() {
            let separator = line.find([';', ',']).unwrap();
            let (name, characters) = (&line[..separator], &line[separator + 1..]);
            assert!(name.len() <= NAME_LEN_MAX);
            assert_eq!(attribute(&format!("x&{name};y")), format!("x{characters}y"), "{name}");
            if line.as_bytes()[separator] == b',' {
                n_old += 1;
                assert!(OLD_LEN.contains(&name.len()), "{name}");
                assert_eq!(attribute(&format!("x&{name} y")), format!("x{characters} y"), "{name}");
            } else {
                let old = decoded(format!("&{name} y").as_bytes(), Place::Text);
                assert!(old.is_none_or(|(_, len)| len <= name.len()), "{name} needs its semicolon");
            }
        }
        assert_eq!(n_old, 106);
    }

    #[test]
    fn references_in_attributes() {
        for (value, text) in [
            ("?a=1&copy=2&amp;b", "?a=1&copy=2&b"),
            ("&copy2", "&copy2"),
            ("&copy", "©"),
            ("&copy-", "©-"),
            ("&notin;&notit;&not;", "∉&notit;¬"),
            ("&#65;&#x41&#X41;&#65B", "AAAAB"),
            ("&#0;&#x80;&#xD800;&#x110000;&#99999999999;", "\u{FFFD}€\u{FFFD}\u{FFFD}\u{FFFD}"),
            ("&;&#;&#x;& &", "&;&#;&#x;& &"),
            ("&NewLine;&Tab;&nGt;", "\n\t≫⃒"),
        ] {
            assert_eq!(attribute(value), text, "{value}");
        }
    }

    #[test]
    fn references_in_text_need_no_end() {
        assert_eq!(decoded(b"&notit;", Place::Text), Some((Decoded::Name("¬"), 4)));
        assert_eq!(decoded(b"&ampamp;", Place::Text), Some((Decoded::Name("&"), 4)));
        assert_eq!(decoded(b"&amx;", Place::Text), None);
    }
}
