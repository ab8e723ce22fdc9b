//! What the scanner knows of characters, by table.
//!
//! The tables for other scripts are not written down but asked for once from the general way: a character is *plain* if
//! UAX#29 treats it like an `a` and its form is one character, a *break* if it keeps everything apart. So the scanner
//! cannot disagree with the libraries, whatever their Unicode version says.

use super::normal;
use std::sync::LazyLock;
use unicode_segmentation::UnicodeSegmentation;

/// What an ASCII byte, or the first byte of another character, is for the scanner.
pub(super) const OTHER: u8 = 0;
pub(super) const LETTER: u8 = 1;
pub(super) const DIGIT: u8 = 2;
/// `_`
pub(super) const UNDERSCORE: u8 = 3;
/// `:` joins letters.
pub(super) const MID_LETTER: u8 = 4;
/// `,` `;` join digits.
pub(super) const MID_NUMBER: u8 = 5;
/// `.` `'` join both.
pub(super) const MID_BOTH: u8 = 6;
pub(super) const NOT_ASCII: u8 = 7;

/// The classes of bytes.
pub(super) static CLASS: [u8; 256] = {
    let mut table = [OTHER; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' => LETTER,
            b'0'..=b'9' => DIGIT,
            b'_' => UNDERSCORE,
            b':' => MID_LETTER,
            b',' | b';' => MID_NUMBER,
            b'.' | b'\'' => MID_BOTH,
            0x80.. => NOT_ASCII,
            _ => OTHER,
        };
        byte += 1;
    }
    table
};

/// What a character that is not ASCII is for the scanner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    /// A letter; its form is this one.
    Plain(char),
    /// ß: its form is `ss`.
    Sharp,
    /// ’: joins letters and digits, its form is `'`.
    Apostrophe,
    /// A character of a script without spaces that is its own form.
    Character,
    /// No part of any unit, and never joins.
    Break,
    /// No part of any unit, but may join inside a word.
    Joiner,
    /// Something for the general way.
    Odd,
}

/// Two-byte characters: Latin, Greek, Cyrillic, Armenian, Hebrew, Arabic.
const SHORT: std::ops::Range<u32> = 0x80..0x800;
/// Punctuation, symbols, and the beginning of CJK.
const SIGNS: std::ops::Range<u32> = 0x2000..0x3100;
/// Full-width forms.
const WIDE: std::ops::Range<u32> = 0xFF00..0xFFF0;

struct Tables {
    short: Vec<Sort>,
    signs: Vec<Sort>,
    wide: Vec<Sort>,
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| {
    let sorts = |range: std::ops::Range<u32>| range.map(|code| char::from_u32(code).map_or(Sort::Odd, asked)).collect();
    Tables { short: sorts(SHORT), signs: sorts(SIGNS), wide: sorts(WIDE) }
});

/// What the character that begins at `bytes[at]`, which is not ASCII, is for the scanner.
#[inline(always)]
pub(super) fn sort_at(bytes: &[u8], at: usize) -> Sort {
    let low6 = |index: usize| bytes.get(at + index).map_or(0, |byte| u32::from(byte & 0x3F));
    match bytes[at] {
        // Most of Han, 5000 to 9FFF, and all of Kana but the ends of its two rows.
        0xE5..=0xE9 => Sort::Character,
        0xE3 if matches!((low6(1), low6(2)), (1, 1..) | (2, ..=0x16 | 0x21..) | (3, ..=0x3A)) => Sort::Character,
        lead @ ..0xE0 => TABLES.short[((u32::from(lead & 0x1F) << 6 | low6(1)) - SHORT.start) as usize],
        lead @ ..0xF0 => long(u32::from(lead & 0x0F) << 12 | low6(1) << 6 | low6(2)),
        _ => Sort::Odd,
    }
}

/// What a character of three bytes is for the scanner.
#[inline(never)]
fn long(code: u32) -> Sort {
    match code {
        // Hiragana, Katakana, the rest of Han.
        0x3041..=0x3096 | 0x30A1..=0x30FA | 0x30FC | 0x3400..=0x4DBF | 0x4E00..=0x9FFF => Sort::Character,
        // Hangul syllables.
        0xAC00..=0xD7A3 => char::from_u32(code).map_or(Sort::Odd, Sort::Plain),
        0x2000..0x3100 => TABLES.signs[(code - SIGNS.start) as usize],
        0xFF00..0xFFF0 => TABLES.wide[(code - WIDE.start) as usize],
        _ => Sort::Odd,
    }
}

/// Asks the general way.
fn asked(c: char) -> Sort {
    match c {
        'ß' => return Sort::Sharp,
        '\u{2019}' => return Sort::Apostrophe,
        _ if normal::is_ignorable(c) || normal::is_mark(c) => return Sort::Odd,
        _ => {}
    }
    let n_segments = |before: &str, after: &str| format!("{before}{c}{after}").split_word_bounds().count();
    let mut form = String::new();
    normal::each_char(c.encode_utf8(&mut [0; 4]), |c| form.push(c));
    let mut form = form.chars();
    if normal::is_character(c) {
        return if form.eq([c]) { Sort::Character } else { Sort::Odd };
    }
    if normal::is_base(c) {
        let like_a = [("a", ""), ("", "a"), ("1", "1"), ("a.", ""), ("", ".a"), ("", ":a"), ("_", "_")];
        // A Hebrew letter also joins with a quote after it.
        let is_letter = like_a.iter().all(|(before, after)| n_segments(before, after) == 1)
            && n_segments("1.", "") == 3
            && n_segments("", "'") == 2
            && c.is_alphabetic();
        return match (is_letter, form.next(), form.next()) {
            (true, Some(form), None) if !form.is_numeric() && !normal::joins(form) => Sort::Plain(form),
            _ => Sort::Odd,
        };
    }
    let is_apart = |before, after| n_segments(before, after) == 3;
    // What attaches to anything or joins with underscores is for the general way.
    if !is_apart("=", "=") || !is_apart("ア", "ア") || !is_apart("_", "_") {
        return Sort::Odd;
    }
    let is_break = is_apart("a", "a") && is_apart("1", "1") && is_apart("א", "א");
    if is_break { Sort::Break } else { Sort::Joiner }
}
