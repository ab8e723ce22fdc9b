//! Answers that are JSON for programs and a report for people.
//!
//! What people get may show text of documents, which is hostile: it is shown with every character spelled out that
//! could move the cursor, change colours or turn the reading direction. JSON spells the same characters out as `\u…`,
//! which means the same to every parser, for it may be printed on a terminal too.
//!
//! # Invariants
//! - No control character and no direction mark of a document is printed as itself. (`hostile_characters_are_spelled_out`)
//! - The JSON means the same as without that care. (`escaped_json_means_the_same`)

use super::output::Output;
use serde::Serialize;
use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};

/// Which form an answer takes: a report on a terminal, JSON elsewhere, unless one is asked for.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
#[group(multiple = false)]
pub struct Form {
    /// Print JSON, also on a terminal
    #[arg(long)]
    json: bool,
    /// Print the readable report, also into a pipe
    #[arg(long)]
    report: bool,
}

impl Form {
    /// Whether people read the answer.
    pub fn is_report(self) -> bool {
        self.report || (!self.json && io::stdout().is_terminal())
    }
}

/// Prints `value` as one line of JSON.
pub fn print_json(value: &impl Serialize) -> anyhow::Result<()> {
    let mut line = json(value)?;
    line.push(b'\n');
    Ok(super::output::print(&line)?)
}

/// `value` as one line of JSON, without its end.
pub fn json(value: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    let mut line = Vec::new();
    write_json(&mut line, value)?;
    Ok(line)
}

/// Writes `value` as one line of JSON, without its end.
pub fn write_json(writer: impl Write, value: &impl Serialize) -> serde_json::Result<()> {
    value.serialize(&mut serde_json::Serializer::with_formatter(writer, Careful))
}

/// A line of JSON that may be printed on a terminal: it means the same.
pub fn spelled_out(json: &str) -> String {
    let mut line = String::with_capacity(json.len());
    for character in json.chars() {
        match is_hostile(character) && character != '\n' {
            // Hostile characters stand in strings only, where this is another way to write them.
            true => character.encode_utf16(&mut [0; 2]).iter().for_each(|unit| {
                write!(line, "\\u{unit:04x}").expect("a string takes all that is written");
            }),
            false => line.push(character),
        }
    }
    line
}

/// Prints a report, with its colours where they are wanted.
pub fn print_report(report: &str) -> io::Result<()> {
    let choice = anstream::AutoStream::choice(&io::stdout());
    let mut bytes = Vec::new();
    anstream::AutoStream::new(&mut bytes, choice).write_all(report.as_bytes())?;
    let mut output = Output::new();
    output.write_all(&bytes)?;
    output.flush()
}

/// The columns of the terminal; without one, what `COLUMNS` says, or 80.
pub fn n_columns() -> usize {
    let terminal = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    let n = terminal.or_else(|| std::env::var("COLUMNS").ok()?.parse().ok()).unwrap_or(80);
    n.clamp(40, 200)
}

/// Whether a character of a document must not be printed as itself.
fn is_hostile(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Text of a document, safe to print: line breaks as `⏎`, what is hostile as `\u{…}`.
pub fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' => plain.push('⏎'),
            '\t' => plain.push(' '),
            _ if is_hostile(character) => {
                write!(plain, "{}", character.escape_unicode()).expect("a string takes all that is written")
            }
            _ => plain.push(character),
        }
    }
    plain
}

/// `text` with its middle left out where it has more than `chars_max` characters.
pub fn shortened(text: &str, chars_max: usize) -> String {
    let n_chars = text.chars().count();
    if n_chars <= chars_max {
        return text.to_owned();
    }
    let n_kept = chars_max.saturating_sub(1);
    let (n_head, n_tail) = (n_kept.div_ceil(2), n_kept / 2);
    let head = text.char_indices().nth(n_head).map_or(text.len(), |(at, _)| at);
    let tail = text.char_indices().nth(n_chars - n_tail).map_or(text.len(), |(at, _)| at);
    format!("{}…{}", &text[..head], &text[tail..])
}

/// JSON in which hostile characters are escaped as well as those that JSON demands.
struct Careful;

impl serde_json::ser::Formatter for Careful {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let mut rest = fragment;
        while let Some(at) = rest.find(is_hostile) {
            writer.write_all(&rest.as_bytes()[..at])?;
            let character = rest[at..].chars().next().expect("find gives the start of a character");
            for unit in character.encode_utf16(&mut [0; 2]) {
                write!(writer, "\\u{unit:04x}")?;
            }
            rest = &rest[at + character.len_utf8()..];
        }
        writer.write_all(rest.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn hostile_characters_are_spelled_out() {
        let hostile = "a\u{1b}[31mb\u{202e}c\u{7f}\u{9b}d\u{e0041}e\r\u{feff}";
        let shown = plain(hostile);
        assert_eq!(shown, "a\\u{1b}[31mb\\u{202e}c\\u{7f}\\u{9b}d\\u{e0041}e\\u{d}\\u{feff}");
        let line = String::from_utf8(json(&hostile).unwrap()).unwrap();
        assert!(!line.contains(is_hostile), "{line:?}");
        assert_eq!(plain("one\ntwo\tthree ü 漢"), "one⏎two three ü 漢", "what is harmless stays");
    }

    #[test]
    fn long_text_loses_its_middle() {
        assert_eq!(shortened("abcdefghij", 10), "abcdefghij");
        assert_eq!(shortened("abcdefghijk", 6), "abc…jk");
        assert_eq!(shortened("äöüßéè", 3), "ä…è");
        assert_eq!(shortened("abc", 0), "…");
    }

    proptest! {
        #[test]
        fn escaped_json_means_the_same(text in any::<String>()) {
            let line = json(&text).unwrap();
            prop_assert_eq!(serde_json::from_slice::<String>(&line).unwrap(), text.clone());
            let careless = serde_json::to_string(&text).unwrap();
            prop_assert_eq!(spelled_out(&careless).into_bytes(), line);
        }
    }
}
