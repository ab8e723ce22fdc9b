//! Runs of text become lines: white space collapsed, entities decoded, invisible characters dropped.
//!
//! White space and line ends are not written where they are met but before the next visible character. So a text never
//! starts or ends with them, no line is empty, and an element without text leaves no trace.
//!
//! # Invariants
//! - No line starts or ends with white space or is empty; no two spaces follow each other. (`lines_are_clean`)
//! - The words are those of the source, split at white space, without invisible characters. (`words_are_kept`)
//! - The text never grows beyond its limit. (`text_is_cut_at_its_limit`)

use super::entities::{self, Decoded, Place};
use super::swar::{below, equal};
use crate::document::Span;

/// What stands between the last character written and the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    Nothing,
    Space,
    Line,
    /// A line has just been started, or the text: nothing is needed.
    Start,
}

/// How a run of text is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Manner {
    /// Whether `&` starts an entity.
    pub(super) entities: bool,
    /// Whether line feeds end lines, as in `<pre>`.
    pub(super) lines: bool,
}

/// Writes to the end of a text.
#[derive(Debug)]
pub(super) struct Writer {
    gap: Gap,
    bytes_max: usize,
    /// Whether the limit has been met: then nothing is added any more.
    pub(super) full: bool,
    /// Invisible characters dropped.
    pub(super) n_invisible: usize,
}

impl Writer {
    /// Continues `text` with a new line, up to `bytes_max` bytes in all.
    pub(super) fn new(text: &str, bytes_max: usize) -> Self {
        let gap = if text.is_empty() || text.ends_with('\n') { Gap::Start } else { Gap::Line };
        Self { gap, bytes_max, full: false, n_invisible: 0 }
    }

    /// What follows is another word.
    #[inline]
    pub(super) fn space(&mut self) {
        self.gap = self.gap.max(Gap::Space);
    }

    /// What follows is another line.
    #[inline]
    pub(super) fn line(&mut self) {
        self.gap = self.gap.max(Gap::Line);
    }

    /// Writes the run of text at `start..end` of `source`. What stands after it is read along, but not written.
    #[inline]
    pub(super) fn write(&mut self, source: &str, start: usize, end: usize, manner: Manner, out: &mut String) {
        let bytes = source.as_bytes();
        let mut at = start;
        while at < end && !self.full {
            let byte = bytes[at];
            if byte <= b' ' {
                at = self.pass_space(&bytes[..end], at, manner);
                continue;
            }
            let plain = plain_end(bytes, at, end);
            if plain > at {
                self.push(&source[at..plain], out);
                at = plain;
            } else {
                at += self.write_special(&source[at..end], manner, out);
            }
        }
    }

    /// Passes over white space and control characters; the place after them.
    #[inline]
    fn pass_space(&mut self, bytes: &[u8], mut at: usize, manner: Manner) -> usize {
        let start = at;
        let mut n_controls = 0;
        while let Some(&byte) = bytes.get(at)
            && byte <= b' '
        {
            n_controls += usize::from(!matches!(byte, b' ' | b'\t'..=b'\r'));
            at += 1;
        }
        if n_controls < at - start {
            let is_line = manner.lines && bytes[start..at].iter().any(|byte| matches!(byte, b'\n' | b'\r'));
            if is_line { self.line() } else { self.space() }
        }
        self.n_invisible += n_controls;
        at
    }

    /// Writes the character or entity at the start of `rest`; its length.
    fn write_special(&mut self, rest: &str, manner: Manner, out: &mut String) -> usize {
        if rest.as_bytes()[0] == b'&' {
            match entities::decoded(rest.as_bytes(), Place::Text).filter(|_| manner.entities) {
                Some((Decoded::Name(characters), len)) => {
                    characters.chars().for_each(|character| self.push_char(character, manner, out));
                    len
                }
                Some((Decoded::Char(character), len)) => {
                    self.push_char(character, manner, out);
                    len
                }
                None => {
                    self.push("&", out);
                    1
                }
            }
        } else {
            let character = rest.chars().next().expect("the run has not ended");
            self.push_char(character, manner, out);
            character.len_utf8()
        }
    }

    fn push_char(&mut self, character: char, manner: Manner, out: &mut String) {
        if character == '\n' && manner.lines {
            self.line();
        } else if character.is_whitespace() {
            self.space();
        } else {
            match sight(character) {
                Sight::Visible => self.push(character.encode_utf8(&mut [0; 4]), out),
                Sight::Invisible => self.n_invisible += 1,
                Sight::Selector => {}
            }
        }
    }

    /// Writes `piece`, in which nothing is left to do, after what the gap asks for.
    #[inline]
    fn push(&mut self, piece: &str, out: &mut String) {
        if out.len() + piece.len() >= self.bytes_max {
            return self.push_last(piece, out);
        }
        match self.gap {
            Gap::Nothing | Gap::Start => {}
            Gap::Space => out.push(' '),
            Gap::Line => out.push('\n'),
        }
        self.gap = Gap::Nothing;
        out.push_str(piece);
    }

    /// The same near the limit.
    #[cold]
    fn push_last(&mut self, piece: &str, out: &mut String) {
        let gap = usize::from(matches!(self.gap, Gap::Space | Gap::Line));
        let room = self.bytes_max.saturating_sub(out.len() + gap);
        let fitting = piece.floor_char_boundary(room.min(piece.len()));
        let kept = piece[..fitting].trim_end_matches(' ');
        self.full = fitting < piece.len();
        if !kept.is_empty() {
            if gap > 0 {
                out.push(if self.gap == Gap::Space { ' ' } else { '\n' });
            }
            self.gap = Gap::Nothing;
            out.push_str(kept);
        }
    }
}

/// The text that was written since `start`, without the space or line feed before it. `None` where there is none.
#[inline]
pub(super) fn written(text: &str, start: usize) -> Option<Span> {
    let first = text.as_bytes().get(start)?;
    Some(Span::new(start + usize::from(matches!(first, b' ' | b'\n')), text.len()))
}

/// Where the stretch from `start` that can be written as it is ends: at `end`, or before white space that is not one
/// single space, `&`, control characters, and characters that are white space or invisible.
#[inline]
fn plain_end(bytes: &[u8], start: usize, end: usize) -> usize {
    // `spaced`: the byte before is a space.
    let (mut at, mut spaced) = (start, false);
    while at < end {
        // Eight bytes of ASCII at a time, even if the run ends among them.
        if let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk()) {
            let word = u64::from_le_bytes(*chunk);
            let spaces = equal(word, b' ');
            let before = spaces << 8 | u64::from(spaced) << 7;
            let marks = below(word, b' ') | equal(word, b'&') | equal(word, 0x7F) | word & HIGHS | spaces & before;
            let n = (marks.trailing_zeros() / 8) as usize;
            if n > 0 {
                at += n;
                if at >= end {
                    break;
                }
                spaced = bytes[at - 1] == b' ';
                if n == 8 {
                    continue;
                }
            }
        }
        // What the words do not tell apart, and the end of the source.
        let byte = bytes[at];
        match CLASSES[byte as usize] {
            PLAIN => spaced = false,
            SPACE if !spaced => spaced = true,
            LEAD if !is_special(bytes, at) => spaced = false,
            _ => return at - usize::from(spaced),
        }
        at += 1;
        while byte >= 0x80 && at < end && bytes[at] >= 0x80 {
            if CLASSES[bytes[at] as usize] == LEAD && is_special(bytes, at) {
                return at;
            }
            at += 1;
        }
    }
    end - usize::from(bytes[end - 1] == b' ')
}

const HIGHS: u64 = 0x8080_8080_8080_8080;

const PLAIN: u8 = 0;
const SPACE: u8 = 1;
/// May start a character that is not plain.
const LEAD: u8 = 2;
const OTHER: u8 = 3;

static CLASSES: [u8; 256] = {
    let mut classes = [PLAIN; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b' ' => SPACE,
            0..b' ' | b'&' | 0x7F => OTHER,
            // U+0080-00BF; 0340-037F; 0600-063F; 1000-3FFF; F000-FFFF; 10000-3FFFF; C0000-FFFFF.
            0xC2 | 0xCD | 0xD8 | 0xE1..=0xE3 | 0xEF | 0xF0 | 0xF3 => LEAD,
            _ => PLAIN,
        };
        byte += 1;
    }
    classes
};

/// Whether the character that starts `at`, with one of the lead bytes, is white space or not to be seen: what
/// [`char::is_whitespace`] and [`sight`] say, on bytes.
#[inline]
fn is_special(bytes: &[u8], at: usize) -> bool {
    let byte = |i: usize| bytes.get(at + i).copied().unwrap_or(0);
    match (bytes[at], byte(1)) {
        (0xC2, second) => second <= 0xA0 || second == 0xAD,
        (0xCD, second) => second == 0x8F,
        (0xD8, second) => second == 0x9C,
        (0xE1, 0x85) => matches!(byte(2), 0x9F | 0xA0),
        (0xE1, 0x9A) => byte(2) == 0x80,
        (0xE1, 0x9E) => matches!(byte(2), 0xB4 | 0xB5),
        (0xE1, 0xA0) => matches!(byte(2), 0x8B..=0x8F),
        (0xE2, 0x80) => matches!(byte(2), 0x80..=0x8F | 0xA8..=0xAF),
        (0xE2, 0x81) => matches!(byte(2), 0x9F..=0xAF),
        (0xE3, 0x80) => byte(2) == 0x80,
        (0xE3, 0x85) => byte(2) == 0xA4,
        (0xEF, 0xB8) => byte(2) <= 0x8F,
        (0xEF, 0xBB) => byte(2) == 0xBF,
        (0xEF, 0xBE) => byte(2) == 0xA0,
        (0xEF, 0xBF) => matches!(byte(2), 0xB9..=0xBB),
        (0xF0, 0x9D) => byte(2) == 0x85 && matches!(byte(3), 0xB3..=0xBA),
        (0xF3, 0xA0) => byte(2) <= 0x86 || (byte(2) == 0x87 && byte(3) <= 0xAF),
        _ => false,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sight {
    Visible,
    /// Dropped, and counted: it hides something, or the way words are cut.
    Invisible,
    /// Dropped: it chooses between two forms of the character before it.
    Selector,
}

/// Whether a character that is no white space can be seen.
fn sight(character: char) -> Sight {
    match character {
        // Variation selectors, common in emoji.
        '\u{FE00}'..='\u{FE0F}' | '\u{E0100}'..='\u{E01EF}' => Sight::Selector,
        // Control characters; soft hyphen; grapheme joiner; Arabic letter mark; Hangul fillers; Khmer inherent vowels;
        // Mongolian selectors; zero-width characters and bidi controls; word joiner, invisible operators, bidi isolates;
        // filler; byte order mark; filler; interlinear annotation; musical formats; tags.
        '\0'..='\x1F'
        | '\x7F'..='\u{9F}'
        | '\u{AD}'
        | '\u{34F}'
        | '\u{61C}'
        | '\u{115F}'..='\u{1160}'
        | '\u{17B4}'..='\u{17B5}'
        | '\u{180B}'..='\u{180F}'
        | '\u{200B}'..='\u{200F}'
        | '\u{202A}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}'
        | '\u{3164}'
        | '\u{FEFF}'
        | '\u{FFA0}'
        | '\u{FFF9}'..='\u{FFFB}'
        | '\u{1D173}'..='\u{1D17A}'
        | '\u{E0000}'..='\u{E00FF}' => Sight::Invisible,
        _ => Sight::Visible,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TEXT: Manner = Manner { entities: true, lines: false };
    const PLAIN_LINES: Manner = Manner { entities: false, lines: true };

    fn text(runs: &[&str], manner: Manner) -> String {
        let (mut writer, mut out) = (Writer::new("", usize::MAX), String::new());
        runs.iter().for_each(|run| writer.write(run, 0, run.len(), manner, &mut out));
        out
    }

    #[test]
    fn white_space_is_collapsed() {
        for (runs, expected) in [
            (&["  a \t\n b  "][..], "a b"),
            (&["a", "b ", " c", " ", "d"], "ab c d"),
            (&["a&nbsp;&nbsp; b\u{3000}c\u{2003}d\u{A0}"], "a b c d"),
            (
                &["twelve  bytes and   more than that, eight by eight"],
                "twelve bytes and more than that, eight by eight",
            ),
            (&["a&lt;b&amp;&copy c &bogus; &"], "a<b&© c &bogus; &"),
            (&["Größe der Straße, naïve"], "Größe der Straße, naïve"),
        ] {
            assert_eq!(text(runs, TEXT), expected, "{runs:?}");
        }
        assert_eq!(text(&["a &amp; b\r\n\r\n  c  d \n"], PLAIN_LINES), "a &amp; b\nc d");
    }

    #[test]
    fn every_character_is_plain_or_special() {
        for character in (0x80..=char::MAX as u32).filter_map(char::from_u32) {
            let special = character.is_whitespace() || sight(character) != Sight::Visible;
            let text = character.to_string();
            let found = CLASSES[text.as_bytes()[0] as usize] == LEAD && is_special(text.as_bytes(), 0);
            assert_eq!(found, special, "{character:?} {:X}", character as u32);
        }
    }

    #[test]
    fn invisible_characters_are_dropped_and_counted() {
        let (mut writer, mut out) = (Writer::new("", usize::MAX), String::new());
        let source = "v\u{200B}i\u{AD}a\u{202E}&#8203;&shy;\u{FEFF}\0x \u{2066} y ☺\u{FE0F}\u{2019}";
        writer.write(source, 0, source.len(), TEXT, &mut out);
        assert_eq!(out, "viax y ☺\u{2019}");
        assert_eq!(writer.n_invisible, 8);
    }

    #[test]
    fn text_is_cut_at_its_limit() {
        for bytes_max in 0..12 {
            let (mut writer, mut out) = (Writer::new("", bytes_max), String::new());
            writer.write("aé b  日cd", 0, "aé b  日cd".len(), TEXT, &mut out);
            assert!(out.len() <= bytes_max, "{out}");
            assert!("aé b 日cd".starts_with(&out) && !out.ends_with(' '), "{out}");
            assert_eq!(writer.full, out.len() < "aé b 日cd".len());
        }
    }

    /// The slow and obvious way.
    fn words(source: &str) -> Vec<String> {
        let visible = |word: &str| -> String { word.chars().filter(|&c| sight(c) == Sight::Visible).collect() };
        let is_border = |c: char| c.is_whitespace();
        source.split(is_border).map(visible).filter(|word| !word.is_empty()).collect()
    }

    fn runs() -> impl Strategy<Value = Vec<String>> {
        let piece = prop_oneof![
            6 => "[a-zA-Z ]{1,20}",
            2 => prop::sample::select(vec![" ", "  ", "\n", "\t ", "&", "é", "日本語の", "\u{3000}", "\u{200B}", "\u{AD}"])
                .prop_map(String::from),
            1 => any::<String>(),
        ];
        prop::collection::vec(prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat()), 0..5)
    }

    #[test]
    fn a_run_ends_inside_its_source() {
        let source = "one two&amp;  three\u{200B}é four";
        for start in (0..source.len()).filter(|&at| source.is_char_boundary(at)) {
            for end in (start..=source.len()).filter(|&at| source.is_char_boundary(at)) {
                let (mut writer, mut out) = (Writer::new("", usize::MAX), String::new());
                writer.write(source, start, end, TEXT, &mut out);
                assert_eq!(out, text(&[&source[start..end]], TEXT));
            }
        }
    }

    proptest! {
        #[test]
        fn words_are_kept(runs in runs()) {
            let runs: Vec<&str> = runs.iter().map(String::as_str).collect();
            let manner = Manner { entities: false, lines: false };
            prop_assert_eq!(text(&runs, manner), words(&runs.concat()).join(" "));
        }

        #[test]
        fn lines_are_clean(runs in runs()) {
            let runs: Vec<&str> = runs.iter().map(String::as_str).collect();
            let text = text(&runs, PLAIN_LINES);
            prop_assert!(text.is_empty() || text.lines().all(|line| !line.is_empty() && line == line.trim()));
            prop_assert!(!text.contains("  ") && !text.ends_with('\n'));
        }
    }
}
