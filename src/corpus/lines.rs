//! JSON envelopes, one per line.
//!
//! Only the sort of envelope is looked for here; opening it is work for the signing threads. A line that is no envelope
//! is rejected by its number, there or here, and the others are read.

use super::Session;
use super::tape::{Line, Tape};
use crate::document::{Carrier, Format, Record, Rejection};
use std::ops::ControlFlow;

/// Hands over the envelopes in `tape`; the number in a place is the line's.
pub(super) fn read(tape: &mut Tape<'_>, file: &str, session: &mut Session<'_>) -> ControlFlow<()> {
    // Base64 and escapes make an envelope larger than what is in it; the reader gives it the same room.
    let limit = session.limits.body_bytes_max;
    let mut line = Vec::new();
    tape.begin_record();
    for number in 1u64.. {
        let place = || format!("{file}#{number}");
        line.clear();
        match tape.line(2 * limit, &mut line) {
            Ok(Line::None) => break,
            // What is empty is no record: a bomb may be made of it.
            Ok(Line::Whole) if line.trim_ascii_start().is_empty() => continue,
            Ok(Line::Whole) => envelope(place(), number, std::mem::take(&mut line), session)?,
            Ok(Line::TooLong(len)) => {
                session.trouble(&place(), Rejection::TooLarge { len: len as usize, limit })?;
            }
            Err(error) => return session.trouble(&place(), error),
        }
        tape.begin_record();
    }
    ControlFlow::Continue(())
}

fn envelope(place: String, number: u64, mut line: Vec<u8>, session: &mut Session<'_>) -> ControlFlow<()> {
    if number == 1 && line.starts_with(b"\xef\xbb\xbf") {
        line.drain(..3);
    }
    match line.trim_ascii_start().first() {
        // A mark of the byte order, and nothing else.
        None => return ControlFlow::Continue(()),
        Some(b'{') => {}
        Some(_) => {
            let problem = "the line is not a JSON object (`--format` says what else the file is)";
            return session.trouble(&place, Rejection::Envelope(problem.into()));
        }
    }
    let format = if has_raw(&line) { Format::MailEnvelope } else { Format::PageEnvelope };
    // A page with a URL is known by it; an id in the envelope wins over this one anyway.
    let has_url = format == Format::PageEnvelope && memchr::memmem::find(&line, b"\"url\"").is_some();
    let carrier = Carrier { id: (!has_url).then(|| place.clone()), ..Carrier::default() };
    session.give(place, Record { format, body: line, carrier })
}

/// Whether the object has a field `raw`: the mark of a mail. Nearly all pages are told by the first, much faster look.
fn has_raw(line: &[u8]) -> bool {
    memchr::memmem::find(line, b"\"raw\"").is_some() && has_key(line, b"\"raw\"")
}

/// Whether the object in `line` has `key` (in quotes) among its own keys. Depth is counted, not descended into: a megabyte
/// of `[` would end a parser that calls itself.
fn has_key(line: &[u8], key: &[u8]) -> bool {
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(&byte) = line.get(at) {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                let start = at;
                at += 1;
                while line.get(at).is_some_and(|&byte| byte != b'"') {
                    at += if line[at] == b'\\' { 2 } else { 1 };
                }
                let is_key = || line[(at + 1).min(line.len())..].trim_ascii_start().starts_with(b":");
                if depth == 1 && line.get(start..=at) == Some(key) && is_key() {
                    return true;
                }
            }
            _ => {}
        }
        at += 1;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_those_of_the_object_itself() {
        for (line, has) in [
            (r#"{"raw": "x"}"#, true),
            (r#"{"a": {"raw": 1}, "b\"": ["raw"], "raw" : 2}"#, true),
            (r#"{"a": {"raw": 1}}"#, false),
            (r#"{"a": "raw"}"#, false),
            (r#"{"a": "\"raw\":"}"#, false),
            (r#"{"raw"#, false),
            (r#"{"\"#, false),
            ("", false),
        ] {
            assert_eq!(has_key(line.as_bytes(), b"\"raw\""), has, "{line}");
        }
        let deep = [&b"{\"a\":"[..], &vec![b'['; 5_000_000]].concat();
        assert!(!has_key(&deep, b"\"raw\""));
    }

    #[test]
    fn only_a_field_of_the_envelope_makes_a_mail() {
        assert!(has_raw(br#"{"id": 1, "raw" : "Subject: x"}"#));
        assert!(!has_raw(br#"{"html": "\"raw\": 1"}"#));
        assert!(!has_raw(br#"{"meta": {"raw": 1}, "text": "x"}"#));
        assert!(!has_raw(br#"{"html": "x"}"#));
    }
}
