//! Mailboxes: raw mails one after the other, each after a `From ` line.
//!
//! A line of the text that happens to begin with `From ` must not cut a mail in two, so a separator is only taken at the
//! beginning of the file or after an empty line, and only with a date in it. Programs that write mailboxes quote such
//! lines with `>`, which is undone (one `>`, as in mboxrd).
//!
//! # Invariants
//! - Text that begins with `From ` does not end a mail. (`a_sentence_that_begins_with_from_is_text`)
//! - A mail over the limit is rejected alone. (`a_huge_mail_is_rejected_alone`)

use super::tape::{Line, Tape};
use super::{Cause, Session};
use crate::document::{Carrier, Format, Record, Rejection};
use std::ops::ControlFlow;

const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// Whether `line` begins a mail: `From `, and somewhere behind it a month, a time and a year.
pub(super) fn is_separator(line: &[u8]) -> bool {
    let Some(rest) = line.strip_prefix(b"From ") else { return false };
    // The longest that a mailer writes is far below; a longer line is text.
    if rest.len() > 500 {
        return false;
    }
    let (mut month, mut time, mut year) = (false, false, false);
    for token in rest.split(|byte| b" \t\r\n,".contains(byte)).filter(|token| !token.is_empty()) {
        month |= MONTHS.iter().any(|name| token.eq_ignore_ascii_case(name.as_bytes()));
        year |= token.len() == 4 && token.iter().all(u8::is_ascii_digit) && (token[0] == b'1' || token[0] == b'2');
        time |= is_time(token);
    }
    month && time && year
}

/// `1:05`, `01:05` or `01:05:34`.
fn is_time(token: &[u8]) -> bool {
    let parts = token.split(|byte| *byte == b':');
    let n_parts = parts.clone().count();
    (2..=3).contains(&n_parts)
        && parts.clone().all(|part| matches!(part.len(), 1 | 2) && part.iter().all(u8::is_ascii_digit))
}

/// Hands over the mails in `tape`.
pub(super) fn read(tape: &mut Tape<'_>, file: &str, session: &mut Session<'_>) -> ControlFlow<()> {
    let mut mail = Mail { number: 0, bytes: Vec::new(), len: 0, after_empty: true };
    let mut line = Vec::new();
    let outcome = loop {
        let len = match tape.raw_line(session.limits.body_bytes_max, &mut line) {
            Ok(Line::None) => break Ok(()),
            Ok(Line::Whole) => line.len() as u64,
            Ok(Line::TooLong(len)) => len,
            Err(error) => break Err(error),
        };
        let is_first = mail.number == 0;
        if is_first && len <= 2 && line.trim_ascii().is_empty() {
            continue;
        }
        if is_first && !line.starts_with(b"From ") {
            let problem = "no mailbox: it does not begin with a `From ` line (`--format mail` reads it as one mail)";
            return session.trouble(file, Cause::Damaged(problem.into()));
        }
        if is_first || mail.after_empty && is_separator(&line) {
            mail.finish(file, session)?;
            tape.begin_record();
        } else {
            mail.add(&line, len, session.limits.body_bytes_max);
        }
    };
    match outcome {
        Ok(()) => mail.finish(file, session),
        // The mail that the damage is in is lost, and so is the rest: there is no way to find the next one.
        Err(error) => session.trouble(&format!("{file}#{}", mail.number.max(1)), error),
    }
}

/// The mail that is being read.
struct Mail {
    number: u64,
    bytes: Vec<u8>,
    len: u64,
    after_empty: bool,
}

impl Mail {
    fn add(&mut self, line: &[u8], len: u64, bytes_max: usize) {
        let quotes = line.iter().take_while(|byte| **byte == b'>').count();
        let unquoted = if quotes > 0 && line[quotes..].starts_with(b"From ") { &line[1..] } else { line };
        self.len += len;
        // The empty line before a separator belongs to the mailbox, and does not count.
        if self.len <= bytes_max as u64 + 2 {
            self.bytes.extend_from_slice(unquoted);
        }
        self.after_empty = matches!(line, b"\n" | b"\r\n");
    }

    /// Hands over the mail before the separator that was just met, and begins the next.
    fn finish(&mut self, file: &str, session: &mut Session<'_>) -> ControlFlow<()> {
        let number = self.number;
        self.number += 1;
        let len = std::mem::take(&mut self.len);
        let after_empty = std::mem::replace(&mut self.after_empty, false);
        let mut body = std::mem::take(&mut self.bytes);
        if number == 0 {
            return ControlFlow::Continue(());
        }
        let n_trailing = if !after_empty {
            0
        } else if body.ends_with(b"\r\n") {
            2
        } else {
            1
        };
        let place = format!("{file}#{number}");
        let limit = session.limits.body_bytes_max;
        if len > (limit + n_trailing) as u64 {
            return session.trouble(&place, Rejection::TooLarge { len: len as usize, limit });
        }
        body.truncate(body.len() - n_trailing);
        let carrier = Carrier { id: Some(place.clone()), ..Carrier::default() };
        session.give(place, Record { format: Format::Mail, body, carrier })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_have_a_date() {
        for line in [
            "From a@b.example Sat Jan  3 01:05:34 1996",
            "From a@b.example Sat Jan  3 01:05:34 1996\n",
            "From MAILER-DAEMON Fri Jul  8 12:08 2011",
            "From - Tue Mar 30 02:21:02 2010",
            "From 1590@xxx Mon Jan 01 00:00:00 +0000 2018\r",
            "From a b c Sat, 3 Jan 1996 01:05:34 +0100 (MET)",
            "From 9c1185a5c5e9fc54612808977ee8f548b2258d31 Mon Sep 17 00:00:00 2001",
        ] {
            assert!(is_separator(line.as_bytes()), "{line}");
        }
        for line in [
            "From here we walked home.",
            "From 1996 on, everybody did.",
            "From Jan with love",
            ">From a@b.example Sat Jan  3 01:05:34 1996",
            "from a@b.example Sat Jan  3 01:05:34 1996",
            "From: a@b.example",
            "From ",
        ] {
            assert!(!is_separator(line.as_bytes()), "{line}");
        }
    }
}
