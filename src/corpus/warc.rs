//! Web archives: records one after the other, plain or each packed by itself.
//!
//! A record that is damaged is given up, and the next one is looked for: in a packed archive by the bytes that begin a
//! gzip member (or zstd frame), in a plain one by a line that begins with `WARC/1.`. Where a decoder may have run into the
//! next member, or a wrong length over the next record, the tape is wound back first, so that no good record is lost.
//!
//! # Invariants
//! - Damage in one record loses that record. (`a_damaged_member_loses_one_record`, `a_wrong_length_loses_one_record`)
//! - A packed record is handed over only when its checksum is right. (`a_damaged_member_loses_one_record`)

use super::http::{self, NoPage, Page};
use super::packing::{GARBAGE, Next, Packing};
use super::tape::{Line, Tape};
use super::{Cause, Entry, Session};
use crate::document::{Carrier, Format, Record, Rejection};
use std::io;
use std::ops::ControlFlow;

/// One line of a record's head, and all of them.
const HEAD_LINE_MAX: usize = 64 * 1024;
const HEAD_LINES_MAX: usize = 1000;
/// What the HTTP head of a response may add to the body's limit.
const HTTP_HEAD_MAX: usize = 64 * 1024;

/// Reads an archive that is not packed (any more).
pub(super) fn read(tape: &mut Tape<'_>, file: &str, session: &mut Session<'_>) -> ControlFlow<()> {
    let mut archive = Archive { file, number: 0, is_lost: false };
    match archive.read_records(tape, session)? {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => archive.damage(error, session),
    }
}

/// Reads an archive in which each record (or all of it) is packed.
pub(super) fn read_packed(
    tape: &mut Tape<'_>,
    packing: Packing,
    file: &str,
    session: &mut Session<'_>,
) -> ControlFlow<()> {
    let mut archive = Archive { file, number: 0, is_lost: false };
    let mut buffer = Vec::new();
    loop {
        let next = match packing.next(tape) {
            Ok(Next::End) => return ControlFlow::Continue(()),
            Ok(next) => next,
            Err(error) => return archive.damage(error, session),
        };
        tape.mark();
        let outcome = match packing.member(tape) {
            _ if next == Next::Garbage => {
                // It may have been a member.
                archive.number += u64::from(!archive.is_lost);
                Err(io::Error::new(io::ErrorKind::InvalidData, GARBAGE))
            }
            Ok(source) => {
                let mut records = Tape::with_buffer(source, std::mem::take(&mut buffer))
                    .guarded(&session.options.n_bytes_read, session.limits.unpacked_bytes_max);
                let outcome = archive.read_records(&mut records, session)?;
                buffer = records.into_buffer();
                outcome
            }
            Err(error) => Err(error),
        };
        let Err(error) = outcome else { continue };
        archive.damage(error, session)?;
        tape.rewind();
        if let Err(error) = tape.skip(1).and_then(|_| tape.seek_to(packing.magic())) {
            return archive.damage(error, session);
        }
    }
}

/// An archive that is being read.
struct Archive<'f> {
    file: &'f str,
    /// The record that is being read, from 1.
    number: u64,
    /// Whether the last thing met was damage, which is reported once.
    is_lost: bool,
}

/// What a record is.
enum Found {
    /// A document, or what is wrong with it.
    Document(Box<Result<Entry, Cause>>),
    /// Another record, which was counted.
    Other,
    /// No record, or none that can be right.
    Damage(&'static str),
    /// The end.
    End,
}

impl Archive<'_> {
    fn place(&self) -> String {
        format!("{}#{}", self.file, self.number)
    }

    fn damage(&mut self, cause: impl Into<Cause>, session: &mut Session<'_>) -> ControlFlow<()> {
        if std::mem::replace(&mut self.is_lost, true) {
            return ControlFlow::Continue(());
        }
        session.trouble(&self.place(), cause)
    }

    /// Reads records up to the end of `tape`. The last one is handed over when the end is reached: with it, the
    /// checksum of a packed one has been compared.
    fn read_records(&mut self, tape: &mut Tape<'_>, session: &mut Session<'_>) -> ControlFlow<(), io::Result<()>> {
        let number_before = self.number;
        let mut last: Option<(String, Box<Result<Entry, Cause>>)> = None;
        loop {
            let found = match self.next(tape, session) {
                Ok(found) => found,
                Err(error) => {
                    // A member that does not even begin is still a record that is lost.
                    self.number += u64::from(self.number == number_before && !self.is_lost);
                    return ControlFlow::Continue(Err(error));
                }
            };
            if let Some((place, document)) = last.take() {
                hand_over(place, *document, session)?;
            }
            match found {
                Found::End => return ControlFlow::Continue(Ok(())),
                Found::Other => self.is_lost = false,
                Found::Document(document) => {
                    self.is_lost = false;
                    last = Some((self.place(), document));
                }
                Found::Damage(what) => {
                    self.damage(Cause::Damaged(what.into()), session)?;
                    if let Err(error) = find_record(tape) {
                        return ControlFlow::Continue(Err(error));
                    }
                }
            }
        }
    }

    fn next(&mut self, tape: &mut Tape<'_>, session: &mut Session<'_>) -> io::Result<Found> {
        while matches!(tape.peek(1)?, b"\r" | b"\n") {
            tape.skip(1)?;
        }
        if tape.is_at_end()? {
            return Ok(Found::End);
        }
        self.number += 1;
        tape.begin_record();
        tape.mark();
        let head = match Head::read(tape)? {
            Ok(head) => head,
            Err(what) => return Ok(Found::Damage(what)),
        };
        let limit = session.limits.body_bytes_max;
        let sort = head.sort();
        let is_kept = matches!(sort, Sort::Response | Sort::Page) && head.len <= (limit + HTTP_HEAD_MAX) as u64;
        let mut block = Vec::new();
        let is_whole =
            if is_kept { tape.take_exactly(head.len as usize, &mut block)? } else { tape.skip(head.len)? == head.len };
        if !is_whole || !ends_well(tape.peek(16)?) {
            return Ok(Found::Damage("the record is cut off, or its Content-Length is wrong"));
        }
        let page = match sort {
            Sort::NoDocument => {
                session.tally.n_other_records += 1;
                return Ok(Found::Other);
            }
            Sort::OtherType => Err(NoPage::Type),
            _ if !is_kept => Err(Rejection::TooLarge { len: head.len as usize, limit }.into()),
            Sort::Page => Ok(Page { content_type: head.content_type.clone(), body: block }),
            Sort::Response => http::page(block, session.limits),
        };
        match page {
            Ok(page) => Ok(Found::Document(Box::new(Ok(self.entry(head, page))))),
            Err(NoPage::Trouble(cause)) => Ok(Found::Document(Box::new(Err(cause)))),
            Err(NoPage::Status) => {
                session.tally.n_other_status += 1;
                Ok(Found::Other)
            }
            Err(NoPage::Type) => {
                session.tally.n_other_types += 1;
                Ok(Found::Other)
            }
        }
    }

    fn entry(&self, head: Head, page: Page) -> Entry {
        let place = self.place();
        let carrier = Carrier {
            // A page's URL is its name; only one without any is named after its place.
            id: head.url.is_none().then(|| place.clone()),
            url: head.url,
            content_type: page.content_type,
            ip: head.ip.and_then(|ip| ip.parse().ok()),
            time: head.date,
            ..Carrier::default()
        };
        Entry { place, record: Record { format: Format::Page, body: page.body, carrier } }
    }
}

fn hand_over(place: String, document: Result<Entry, Cause>, session: &mut Session<'_>) -> ControlFlow<()> {
    match document {
        Ok(entry) => session.give(entry.place, entry.record),
        Err(cause) => session.trouble(&place, cause),
    }
}

/// Winds back to the beginning of the damaged record and moves to the next line that begins one.
fn find_record(tape: &mut Tape<'_>) -> io::Result<()> {
    if tape.rewind() {
        tape.skip(1)?;
    }
    if tape.seek_to(b"\nWARC/1.")? {
        tape.skip(1)?;
    }
    Ok(())
}

/// Whether these bytes can follow a record: two line ends by the standard, fewer by some programs.
fn ends_well(next: &[u8]) -> bool {
    let n_ends = next.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
    let rest = &next[n_ends..];
    rest.is_empty() || rest.starts_with(b"WARC/") || next.starts_with(b"\r\n\r\n") || next.starts_with(b"\n\n")
}

/// What a record may hold.
enum Sort {
    /// An HTTP response, in which there may be a page.
    Response,
    /// A page as it is.
    Page,
    /// A resource of another type.
    OtherType,
    /// A request, metadata, or the like.
    NoDocument,
}

/// The head of a record, as far as it matters.
#[derive(Default)]
struct Head {
    sort: String,
    len: u64,
    url: Option<String>,
    content_type: Option<String>,
    ip: Option<String>,
    date: Option<String>,
}

impl Head {
    /// Reads up to and with the empty line. The inner error says what is wrong with it.
    fn read(tape: &mut Tape<'_>) -> io::Result<Result<Self, &'static str>> {
        let mut line = Vec::new();
        if tape.line(HEAD_LINE_MAX, &mut line)? != Line::Whole || !line.starts_with(b"WARC/") {
            return Ok(Err("no WARC record begins here"));
        }
        let mut head = Self::default();
        let mut len = None;
        for _ in 0..HEAD_LINES_MAX {
            match tape.line(HEAD_LINE_MAX, &mut line)? {
                Line::Whole if line.is_empty() => {
                    let Some(len) = len else { return Ok(Err("the record has no Content-Length")) };
                    return Ok(Ok(Self { len, ..head }));
                }
                Line::Whole => {}
                Line::TooLong(_) => continue,
                Line::None => return Ok(Err("the record's head is cut off")),
            }
            // Folded lines continue fields of no interest here; those that matter are never folded.
            let Some(colon) = memchr::memchr(b':', &line).filter(|_| !matches!(line[0], b' ' | b'\t')) else {
                continue;
            };
            let value = || String::from_utf8_lossy(line[colon + 1..].trim_ascii()).into_owned();
            match line[..colon].trim_ascii().to_ascii_lowercase().as_slice() {
                b"warc-type" => head.sort = value().to_ascii_lowercase(),
                b"content-length" => len = value().parse().ok(),
                b"warc-target-uri" => {
                    let url = value();
                    // WARC/0.18 and some later writers put it in brackets.
                    head.url = Some(url.trim_start_matches('<').trim_end_matches('>').to_owned());
                }
                b"content-type" => head.content_type = Some(value()),
                b"warc-ip-address" => head.ip = Some(value()),
                b"warc-date" => head.date = Some(value()),
                _ => {}
            }
        }
        Ok(Err("the record's head does not end"))
    }

    fn sort(&self) -> Sort {
        let content_type = self.content_type.as_deref();
        match self.sort.as_str() {
            "response" if content_type.is_none_or(|name| name.to_ascii_lowercase().starts_with("application/http")) => {
                Sort::Response
            }
            "resource" | "conversion" if content_type.is_some_and(http::is_read) => Sort::Page,
            "response" | "resource" | "conversion" => Sort::OtherType,
            _ => Sort::NoDocument,
        }
    }
}
