//! The JSON objects that `sign` prints, as `schemas/signatures.json` describes them.

use crate::command::report::json;
use crate::document::asides::Aside;
use crate::document::charset::Origin;
use crate::document::mime::MailFacts;
use crate::document::{Document, Format, Kind, Record, Rejection, Span, Truncation};
use crate::pipeline::Signed;
use crate::signature::{Outcome, SCHEME, Signatures};
use serde::Serialize;
use std::net::IpAddr;

/// The number of `schemas/signatures.json`.
pub const SCHEMA: u32 = 1;

/// Links that are printed unless all are asked for.
const LINKS_SHOWN: usize = 10;

#[derive(Serialize)]
struct Printed<'a> {
    schema: u32,
    scheme: u32,
    id: &'a str,
    place: &'a str,
    kind: Kind,
    url: Option<&'a str>,
    domain: Option<&'a str>,
    canonical: Option<&'a str>,
    ip: Option<IpAddr>,
    outcome: Outcome,
    truncated: Vec<Truncation>,
    read: Read<'a>,
    links: Links,
    signatures: &'a Signatures,
}

/// What was read.
#[derive(Serialize)]
struct Read<'a> {
    n_bytes: usize,
    charset: &'a str,
    charset_from: Origin,
    charset_errors: bool,
    title: &'a str,
    n_text_bytes: usize,
    n_words: usize,
    n_sentences: usize,
    n_blocks: usize,
    n_content_blocks: usize,
    n_content_bytes: usize,
    n_hidden_chars: usize,
    n_script_bytes: usize,
    n_comments: usize,
    n_options: usize,
    n_tags: usize,
    n_parts: usize,
    n_attachments: usize,
    asides: &'a [Aside],
    mail: Option<&'a MailFacts>,
}

#[derive(Serialize)]
struct Links {
    n_links: usize,
    shown: Vec<Link>,
}

#[derive(Serialize)]
struct Link {
    url: String,
    text: Span,
    nofollow: bool,
}

#[derive(Serialize)]
struct Rejected<'a> {
    schema: u32,
    scheme: u32,
    id: &'a str,
    place: &'a str,
    kind: Option<Kind>,
    url: Option<&'a str>,
    outcome: &'a str,
    reason: &'a str,
    message: String,
}

#[derive(Serialize)]
struct Text<'a> {
    id: &'a str,
    text: &'a str,
}

/// The object of a signed (or insufficient) document, with its line end.
pub(super) fn signed(place: &str, signed: &Signed<'_>, all_links: bool) -> Vec<u8> {
    let Signed { document, text, signatures } = signed;
    let mut truncated = document.reading.truncated.clone();
    if text.truncated {
        truncated.push(Truncation::Words);
    }
    line(&Printed {
        schema: SCHEMA,
        scheme: SCHEME,
        id: &document.identity.id,
        place,
        kind: document.kind,
        url: document.identity.url.as_deref(),
        domain: document.identity.domain.as_deref(),
        canonical: document.identity.canonical.as_deref(),
        ip: document.identity.ip,
        outcome: signatures.outcome,
        truncated,
        read: read(signed),
        links: links(document, if all_links { usize::MAX } else { LINKS_SHOWN }),
        signatures,
    })
}

fn read<'a>(signed: &Signed<'a>) -> Read<'a> {
    let (document, text, reading) = (signed.document, signed.text, &signed.document.reading);
    let content = || text.blocks.iter().filter(|block| block.content);
    Read {
        n_bytes: reading.n_bytes,
        charset: reading.charset,
        charset_from: reading.charset_from,
        charset_errors: reading.charset_errors,
        title: &document.title,
        n_text_bytes: document.text.len(),
        n_words: text.words.len(),
        n_sentences: text.sentences.len(),
        n_blocks: text.blocks.len(),
        n_content_blocks: content().count(),
        n_content_bytes: content().map(|block| block.span.len()).sum(),
        n_hidden_chars: reading.n_hidden_chars,
        n_script_bytes: reading.n_script_bytes,
        n_comments: reading.n_comments,
        n_options: reading.n_options,
        n_tags: reading.n_tags,
        n_parts: reading.n_parts,
        n_attachments: reading.n_attachments,
        asides: &document.asides,
        mail: document.mail.as_ref(),
    }
}

fn links(document: &Document, n_shown_max: usize) -> Links {
    let mut links = Links { n_links: 0, shown: Vec::new() };
    document.links.resolve(document.identity.url.as_deref(), |anchor, url| {
        links.n_links += 1;
        if links.shown.len() < n_shown_max {
            links.shown.push(Link { url: url.to_owned(), text: anchor.text, nofollow: anchor.nofollow });
        }
    });
    links
}

/// The object of a document that was set aside, with its line end.
pub(super) fn rejected(place: &str, record: Option<&Record>, rejection: &Rejection) -> Vec<u8> {
    let carrier = record.map(|record| &record.carrier);
    let url = carrier.and_then(|carrier| carrier.url.as_deref());
    line(&Rejected {
        schema: SCHEMA,
        scheme: SCHEME,
        id: carrier.and_then(|carrier| carrier.id.as_deref()).or(url).unwrap_or(place),
        place,
        kind: record.map(|record| match record.format {
            Format::Page | Format::PageEnvelope => Kind::Page,
            Format::Mail | Format::MailEnvelope => Kind::Email,
        }),
        url,
        outcome: "rejected",
        reason: rejection.reason(),
        message: rejection.to_string(),
    })
}

/// The object of one text among several, with its line end.
pub(super) fn text(id: &str, text: &[u8]) -> Vec<u8> {
    let text = std::str::from_utf8(text).expect("the visible text of a document is a string");
    line(&Text { id, text })
}

fn line(object: &impl Serialize) -> Vec<u8> {
    let mut line = json(object).expect("no map with odd keys, and memory does not fail");
    line.push(b'\n');
    line
}
