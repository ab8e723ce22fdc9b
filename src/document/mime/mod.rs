//! RFC 5322 and MIME: a mail's headers, and its text.
//!
//! [`parts`] cuts the mail, [`fields`] reads its headers, [`transfer`] undoes what was done for transport. Here it is
//! decided what a person would see:
//!
//! - the subject is the first line;
//! - of alternatives one is read: the HTML, unless it has almost no words (a picture, say) and the plain text has some;
//! - all other text parts are read in turn, and so is the text of a forwarded mail (`message/rfc822`), below its
//!   subject: it is what the receiver reads, and a campaign must not hide by being forwarded. Attached texts, and
//!   text that no mail program shows (calendars, cards), are counted as attachments;
//! - plain text that begins as HTML does is HTML: mailers forget the content type.
//!
//! # Invariants
//! - Text in two forms is taken once. (`of_alternatives_the_html_is_read`)
//! - No mail makes it panic or take more than linear time. (`tests/promises/mail.rs`)

mod facts;
mod fields;
mod parts;
mod transfer;

pub use facts::MailFacts;

use super::charset::{self, Decoded};
use super::{Carrier, Document, Rejection, Span, Truncation, asides, html};
use crate::config::Limits;
use parts::{Part, Sort};
use std::borrow::Cow;

/// Reads the mail in `body` into `document`: subject and text, asides, markup of the HTML part, facts, counts.
pub fn read(
    body: &[u8],
    carrier: &Carrier,
    limits: &Limits,
    frame_key: u64,
    scratch: &mut html::Scratch,
    document: &mut Document,
) -> Result<(), Rejection> {
    let source = with_line_ends(body);
    let begin = source.len() - without_lead(&source).len();
    let (fields, body) = fields::scan(&source, begin, |_| false);
    if fields.n_fields == 0 {
        return Err(Rejection::NotAMail);
    }
    let facts = facts::of(&fields, carrier);
    document.identity.domain.clone_from(&facts.from_domain);
    document.mail = Some(facts);

    let mut reader = Parts { limits, frame_key, scratch, document, n_html_bytes: 0, n_charset_bytes: 0 };
    reader.subject(fields.subject);
    let title = reader.document.text.trim_end().to_owned();
    let parts = parts::walk(&source, fields, body, limits);
    if parts.truncated {
        reader.document.reading.truncate(Truncation::Parts);
    }
    reader.document.reading.n_parts = parts.list.len();
    reader.document.reading.n_attachments = parts.list.iter().filter(|part| part.sort == Sort::Attachment).count();
    reader.read_all(&parts.list);

    asides::mark(&document.text, title.len(), &document.outline, &mut document.asides);
    document.title = title;
    Ok(())
}

/// Lines that end with a lone carriage return (once the custom of one system) are made ordinary ones, if there is
/// not one ordinary line.
fn with_line_ends(body: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr(b'\n', body).is_some() || memchr::memchr(b'\r', body).is_none() {
        return Cow::Borrowed(body);
    }
    Cow::Owned(body.iter().map(|&byte| if byte == b'\r' { b'\n' } else { byte }).collect())
}

/// The mail from its first line on that is not empty.
fn without_lead(body: &[u8]) -> &[u8] {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    let lead = body.iter().position(|byte| !matches!(byte, b'\r' | b'\n')).unwrap_or(body.len());
    &body[lead..]
}

/// Reads parts into a document.
struct Parts<'r> {
    limits: &'r Limits,
    frame_key: u64,
    scratch: &'r mut html::Scratch,
    document: &'r mut Document,
    /// The size of the HTML part whose markup is kept: the largest so far.
    n_html_bytes: usize,
    /// The size of the part whose charset is reported: the largest so far.
    n_charset_bytes: usize,
}

impl Parts<'_> {
    fn subject(&mut self, subject: Option<&[u8]>) {
        let Some(subject) = subject else { return };
        let subject = fields::text(subject);
        if !subject.trim().is_empty() {
            self.begin_line();
            html::read_plain(&subject, self.limits, self.document);
        }
    }

    fn begin_line(&mut self) {
        let text = &mut self.document.text;
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
    }

    /// Reads what is shown of the parts: all of them, and one of each set of alternatives.
    fn read_all(&mut self, list: &[Part<'_>]) {
        let hidden = hidden(list);
        let mut at = 0;
        while at < list.len() {
            let part = &list[at];
            if part.sort != Sort::Alternative {
                self.read_some(list, &hidden, at..at + 1);
                at += 1;
                continue;
            }
            self.subject(part.subject);
            let (chosen, other) = choice(list, at);
            if let Some(chosen) = chosen {
                let before = Mark::of(self.document);
                self.read_some(list, &hidden, chosen..list[chosen].end);
                let n_chosen = substance(&self.document.text[before.text..]);
                if n_chosen < SUBSTANCE_MIN
                    && let Some(other) = other
                    && list[other..list[other].end].iter().any(|part| self.substance_of(part) > n_chosen)
                {
                    before.restore(self.document);
                    self.read_some(list, &hidden, other..list[other].end);
                }
            }
            at = part.end;
        }
    }

    /// Reads the parts of a range that no choice inside it leaves out.
    fn read_some(&mut self, list: &[Part<'_>], hidden: &[bool], range: std::ops::Range<usize>) {
        let mut at = range.start;
        while at < range.end {
            let part = &list[at];
            if hidden[at] && at > range.start {
                at = part.end;
                continue;
            }
            self.subject(part.subject);
            if matches!(part.sort, Sort::Html | Sort::Plain) {
                self.read_text(part);
            }
            at += 1;
        }
    }

    fn read_text(&mut self, part: &Part<'_>) {
        let Self { limits, document, .. } = self;
        if document.text.len() >= limits.text_bytes_max {
            document.reading.truncate(Truncation::Text);
            return;
        }
        let bytes = part.encoding.decoded(part.body);
        let decoded = decoded(&bytes, part);
        if bytes.len() >= self.n_charset_bytes {
            self.n_charset_bytes = bytes.len();
            document.reading.charset = decoded.charset;
            document.reading.charset_from = decoded.origin;
        }
        document.reading.charset_errors |= decoded.errors;
        self.begin_line();
        if part.sort == Sort::Html || begins_as_html(&decoded.text) {
            self.read_html(&decoded.text);
        } else if part.content.flowed {
            html::read_plain(&transfer::unflowed(&decoded.text, part.content.delsp), self.limits, self.document);
        } else {
            html::read_plain(&decoded.text, self.limits, self.document);
        }
    }

    /// Several HTML parts have one style: that of the largest.
    fn read_html(&mut self, source: &str) {
        let before = (self.n_html_bytes > 0).then(|| std::mem::take(&mut self.document.markup));
        html::read(source, self.limits, self.frame_key, self.scratch, self.document);
        match before {
            Some(larger) if source.len() < self.n_html_bytes => self.document.markup = larger,
            _ => self.n_html_bytes = source.len(),
        }
    }

    fn substance_of(&self, part: &Part<'_>) -> usize {
        if part.sort != Sort::Plain {
            return 0;
        }
        let bytes = part.encoding.decoded(part.body);
        substance(&decoded(&bytes, part).text)
    }
}

/// Where a document's text ended before a part was read.
struct Mark {
    text: usize,
    outline: usize,
    anchors: usize,
}

impl Mark {
    fn of(document: &Document) -> Self {
        Self { text: document.text.len(), outline: document.outline.len(), anchors: document.links.anchors.len() }
    }

    /// Takes the text back; links, hidden text and markup stay, since they are in the mail and make no text.
    fn restore(&self, document: &mut Document) {
        document.text.truncate(self.text);
        document.outline.truncate(self.outline);
        for anchor in &mut document.links.anchors[self.anchors..] {
            anchor.text = Span::new(self.text, self.text);
        }
    }
}

/// For each part, whether the choice among its siblings leaves it out.
fn hidden(list: &[Part<'_>]) -> Vec<bool> {
    let mut hidden = vec![false; list.len()];
    for at in (0..list.len()).filter(|&at| list[at].sort == Sort::Alternative) {
        let (chosen, _) = choice(list, at);
        for child in children(list, at) {
            hidden[child] = Some(child) != chosen;
        }
    }
    hidden
}

fn children<'l>(list: &'l [Part<'_>], parent: usize) -> impl Iterator<Item = usize> + 'l {
    let end = list[parent].end;
    std::iter::successors(Some(parent + 1), |&child| Some(list[child].end)).take_while(move |&child| child < end)
}

/// Which of an alternative's children is to be read, and which in its place if it has almost no words: the last one
/// with HTML inside, then the last one with text. (The sender puts the best last.)
fn choice(list: &[Part<'_>], alternative: usize) -> (Option<usize>, Option<usize>) {
    let holds = |child: usize, sort: Sort| list[child..list[child].end].iter().any(|part| part.sort == sort);
    let (mut html, mut plain) = (None, None);
    for child in children(list, alternative) {
        if holds(child, Sort::Html) {
            html = Some(child);
        } else if holds(child, Sort::Plain) {
            plain = Some(child);
        }
    }
    if html.is_some() { (html, plain) } else { (plain, None) }
}

/// Letters and digits below which an HTML part is taken for a picture with a caption.
const SUBSTANCE_MIN: usize = 25;

/// How much is said, up to a little over [`SUBSTANCE_MIN`]: letters and digits; an ideograph counts for three.
fn substance(text: &str) -> usize {
    let mut sum = 0;
    for c in text.chars().filter(|c| c.is_alphanumeric()) {
        sum += if c >= '\u{2e80}' { 3 } else { 1 };
        if sum > 4 * SUBSTANCE_MIN {
            break;
        }
    }
    sum
}

/// The text of a part's bytes. US-ASCII is what mailers declare when they do not know, and says nothing.
fn decoded<'b>(bytes: &'b [u8], part: &Part<'_>) -> Decoded<'b> {
    let label = part.content.charset.as_deref().map(<[u8]>::trim_ascii).unwrap_or_default();
    let tells_nothing = label.is_empty() || label.eq_ignore_ascii_case(b"us-ascii");
    if tells_nothing {
        return charset::decode(bytes, None);
    }
    if encoding_rs::Encoding::for_label(label).is_some() {
        let label = std::str::from_utf8(label).expect("the labels of encodings are ASCII");
        return charset::decode(bytes, Some(&format!("text/plain; charset={label}")));
    }
    // Charsets of mail that no browser knows: UTF-7, the code pages of DOS.
    match mail_parser::decoders::charsets::map::charset_decoder(label) {
        Some(decode) => Decoded {
            text: Cow::Owned(decode(bytes)),
            charset: if label.eq_ignore_ascii_case(b"utf-7") { "UTF-7" } else { "other" },
            origin: charset::Origin::ContentType,
            errors: false,
        },
        None => charset::decode(bytes, None),
    }
}

fn begins_as_html(text: &str) -> bool {
    let text = text.trim_ascii_start().as_bytes();
    ["<!doctype html", "<html", "<head>", "<body"]
        .iter()
        .any(|begin| text.get(..begin.len()).is_some_and(|lead| lead.eq_ignore_ascii_case(begin.as_bytes())))
}
