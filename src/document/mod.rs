//! Bytes become a [`Document`]: the text that a person would see, and what was met on the way.
//!
//! A [`Record`] is bytes with what its carrier says of them. [`Reader`] opens the envelope, finds the
//! charset, walks the HTML or MIME once and fills one [`Document`], whose buffers are used again for
//! the next record. Everything later speaks of [`Span`]s in [`Document::text`].
//!
//! # Invariants
//! - No input makes a reader panic or take more than linear time. (`tests/promises/hostile.rs`)
//! - Every limit has its own outcome: a [`Truncation`] where the rest is still worth reading, a
//!   [`Rejection`] where it is not. (`tests/promises/limits.rs`)
//! - The same record gives the same document, whatever was read before. (`a_used_reader_reads_as_a_new_one`)

pub mod asides;
pub mod charset;
pub mod envelope;
pub mod excerpt;
pub mod html;
pub mod identity;
pub mod links;
pub mod mime;
pub mod noise;
mod reader;

pub use reader::Reader;

use serde::{Deserialize, Serialize};

/// What a document is. Pages and mails do not match each other: the kind enters every derived key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A web page.
    #[default]
    Page,
    /// An e-mail.
    Email,
}

/// A half-open range of bytes in a document's visible text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "(u32, u32)", into = "(u32, u32)")]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// The byte after the last.
    pub end: u32,
}

impl Span {
    /// The range `start..end`. Panics when it runs backwards: that is a bug in the caller.
    pub fn new(start: usize, end: usize) -> Self {
        assert!(start <= end && end <= u32::MAX as usize, "no such span: {start}..{end}");
        Self { start: start as u32, end: end as u32 }
    }

    /// The bytes covered.
    pub fn len(self) -> usize {
        (self.end - self.start) as usize
    }

    /// Whether nothing is covered.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// As an index into the text.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

impl From<Span> for (u32, u32) {
    fn from(span: Span) -> Self {
        (span.start, span.end)
    }
}

impl From<(u32, u32)> for Span {
    fn from((start, end): (u32, u32)) -> Self {
        Self { start, end }
    }
}

/// How the bytes of a [`Record`] are to be understood.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Format {
    /// HTML (or plain text, if the carrier's content type says so).
    #[default]
    Page,
    /// One JSON object by `schemas/page.json`.
    PageEnvelope,
    /// RFC 5322 with MIME.
    Mail,
    /// One JSON object by `schemas/email.json`.
    MailEnvelope,
}

/// Bytes as they arrive, with what the carrier says of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// How to understand [`Record::body`].
    pub format: Format,
    /// The bytes.
    pub body: Vec<u8>,
    /// What came beside the bytes. An envelope's own fields win over it.
    pub carrier: Carrier,
}

/// What a carrier (file name, WARC header, record headers, JSON envelope) says of a body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Carrier {
    /// The caller's id.
    pub id: Option<String>,
    /// Where a page was fetched from.
    pub url: Option<String>,
    /// The HTTP content type, charset included.
    pub content_type: Option<String>,
    /// The server's address for a page, the client's for a mail.
    pub ip: Option<std::net::IpAddr>,
    /// When it was fetched or received, RFC 3339.
    pub time: Option<String>,
    /// The envelope sender of a mail.
    pub mail_from: Option<String>,
    /// The envelope recipients of a mail; their names are masked in its text.
    pub rcpt: Vec<String>,
    /// The sender domain that the receiving server authenticated (SPF, DKIM or DMARC), if any.
    pub authenticated_domain: Option<String>,
}

/// What was read out of one record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document {
    /// Page or mail.
    pub kind: Kind,
    /// Who it is.
    pub identity: identity::Identity,
    /// The visible text: white space collapsed, one line per block or `<br>`, for a mail with the
    /// subject as its first line. `sign --text` prints exactly this.
    pub text: String,
    /// Text that is in the document and not shown, one line per run.
    pub hidden: String,
    /// A page's `<title>`, a mail's subject.
    pub title: String,
    /// The block-level elements that hold text, in document order (parents before children).
    pub outline: Vec<Element>,
    /// The outgoing links.
    pub links: links::Links,
    /// The parts of a mail's text that are not its sender's own new words, in text order, not overlapping.
    pub asides: Vec<asides::Aside>,
    /// What the style signature is made from; empty for plain text.
    pub markup: Markup,
    /// What the headers of a mail say.
    pub mail: Option<mime::MailFacts>,
    /// What was met, counted.
    pub reading: Reading,
}

impl Document {
    /// Forgets the document, keeps the memory of its large buffers.
    pub fn clear(&mut self) {
        let Self { kind, identity, text, hidden, title, outline, links, asides, markup, mail, reading } = self;
        *kind = Kind::default();
        *identity = identity::Identity::default();
        text.clear();
        hidden.clear();
        title.clear();
        outline.clear();
        links.clear();
        asides.clear();
        markup.noise.clear();
        markup.tag_noise.clear();
        markup.frame.clear();
        *mail = None;
        *reading = Reading::default();
    }
}

/// A block-level element with its place in the visible text: one node of the tree that the content
/// regions are cut from. The list in document order with depths *is* the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element {
    /// Its name.
    pub tag: html::Tag,
    /// Whether a mail program has put what was answered or forwarded into it.
    pub quote: Quote,
    /// Its distance from the body, counted in recorded elements; children of the body have 0.
    pub depth: u16,
    /// The text inside it.
    pub span: Span,
}

/// What the markup of a mail program says an element is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Quote {
    /// Nothing, as of every element of a page.
    #[default]
    None,
    /// All that is inside is quoted, or introduces it, and looks so: it is indented, or has a bar at its left.
    Shown,
    /// The same, but by its name alone: nothing makes it look so.
    Named,
    /// The same, of one that may hold no more than an introduction and the quotation.
    Around,
    /// The headers of the mail that follows.
    Below,
}

/// What a page looks like, apart from its words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Markup {
    /// The source without its letters and digits (Urvoy 2006).
    pub noise: Vec<u8>,
    /// The same, only what stands inside tags, white space collapsed.
    pub tag_noise: Vec<u8>,
    /// The items of the page frame, each once.
    pub frame: Vec<FrameItem>,
}

/// One item of the page frame, hashed with the frame's key where it was met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FrameItem {
    /// What it is.
    pub part: FramePart,
    /// Its keyed hash.
    pub hash: u64,
}

/// The parts of a page frame. Head items weigh four times as much as the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FramePart {
    /// A stylesheet: rel and file name. These also form the stylesheet set.
    Stylesheet,
    /// An icon, a script's file name, a meta name or another link's rel.
    Head,
    /// `tag@attribute-name`.
    Attribute,
    /// The id of a structural element.
    Id,
}

/// What was met while reading, counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Reading {
    /// Bytes of the body.
    pub n_bytes: usize,
    /// The charset's name.
    pub charset: &'static str,
    /// How the charset was found.
    pub charset_from: charset::Origin,
    /// Whether bytes were not valid in that charset.
    pub charset_errors: bool,
    /// Bytes inside scripts and styles.
    pub n_script_bytes: usize,
    /// Comments.
    pub n_comments: usize,
    /// Characters of hidden text, invisible characters (zero-width, bidi controls) included.
    pub n_hidden_chars: usize,
    /// Options of select lists.
    pub n_options: usize,
    /// Start tags.
    pub n_tags: usize,
    /// MIME parts.
    pub n_parts: usize,
    /// Attachments, which are not read.
    pub n_attachments: usize,
    /// The limits that cut something off.
    pub truncated: Vec<Truncation>,
}

impl Reading {
    /// Notes that a limit cut something off; once is enough.
    pub fn truncate(&mut self, what: Truncation) {
        if !self.truncated.contains(&what) {
            self.truncated.push(what);
        }
    }
}

/// A limit that cut something off; the rest was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Truncation {
    /// `limits.text_bytes_max`
    Text,
    /// `limits.nesting_max`: deeper elements are read as if they were at that depth.
    Nesting,
    /// `limits.attributes_max`: further attributes of a tag were not looked at.
    Attributes,
    /// `limits.links_max`
    Links,
    /// `limits.parts_max`: further MIME parts were not read.
    Parts,
    /// `limits.words_max`
    Words,
    /// `limits.frame_items_max`
    Frame,
}

/// Why a record was set aside. [`Rejection::reason`] is also the metric label.
#[derive(Debug, thiserror::Error)]
pub enum Rejection {
    /// The body is over `limits.body_bytes_max`.
    #[error("body has {len} bytes, limit is {limit} (limits.body_bytes_max)")]
    TooLarge {
        /// Its size.
        len: usize,
        /// The limit.
        limit: usize,
    },
    /// The compressed body unpacks to more than `limits.unpacked_bytes_max`.
    #[error("body unpacks to more than {limit} bytes (limits.unpacked_bytes_max)")]
    UnpacksTooLarge {
        /// The limit.
        limit: usize,
    },
    /// The envelope is no JSON object of the expected form.
    #[error("envelope: {0}")]
    Envelope(String),
    /// The body inside the envelope is not valid base64.
    #[error("`{field}` is not valid base64")]
    Base64 {
        /// The envelope's field.
        field: &'static str,
    },
    /// The bytes are no mail: there is not one header.
    #[error("not a mail: no header line found")]
    NotAMail,
    /// The body is a type that holds no text (an image, say).
    #[error("content type `{0}` is not read")]
    ContentType(String),
}

impl Rejection {
    /// A short fixed word for headers and metrics.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } => "too_large",
            Self::UnpacksTooLarge { .. } => "unpacks_too_large",
            Self::Envelope(_) => "envelope",
            Self::Base64 { .. } => "base64",
            Self::NotAMail => "not_a_mail",
            Self::ContentType(_) => "content_type",
        }
    }
}
