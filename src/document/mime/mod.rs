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
    let described = fields.content_type.map(fields::Described::by);
    reader.subject(fields.subject, described.as_ref().and_then(|described| described.charset.as_deref()));
    let title = reader.document.text.clone();
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
    fn subject(&mut self, subject: Option<&[u8]>, charset: Option<&[u8]>) {
        let Some(subject) = subject else { return };
        let subject = fields::text(&subject[..subject.len().min(SUBJECT_BYTES_MAX)], charset);
        if !subject.trim().is_empty() {
            html::read_plain(&subject, self.limits, self.document);
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
            self.subject(part.subject, part.content.charset.as_deref());
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
            self.subject(part.subject, part.content.charset.as_deref());
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
    let within = move |child: usize| (child < end).then_some(child);
    std::iter::successors(within(parent + 1), move |&child| within(list[child].end))
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

/// No honest subject is longer; the rest is not looked at.
const SUBJECT_BYTES_MAX: usize = 16 * 1024;

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Settings;
    use crate::document::asides::AsideSort;
    use proptest::prelude::*;

    fn limits() -> &'static Limits {
        static LIMITS: std::sync::LazyLock<Limits> = std::sync::LazyLock::new(|| Settings::default().limits);
        &LIMITS
    }

    fn mail_within(source: &[u8], limits: &Limits) -> Document {
        let mut document = Document::default();
        read(source, &Carrier::default(), limits, 1, &mut html::Scratch::default(), &mut document).unwrap();
        document
    }

    fn mail(source: &str) -> Document {
        mail_within(source.as_bytes(), limits())
    }

    /// A multipart of parts that begin with their headers.
    fn multipart(kind: &str, parts: &[&str]) -> String {
        let parts: String = parts.iter().map(|part| format!("--b\n{part}\n")).collect();
        format!("Subject: s\nContent-Type: multipart/{kind}; boundary=b\n\n{parts}--b--\n")
    }

    const PLAIN: &str = "Content-Type: text/plain\n\nThe plain form says a good deal in its words.";
    const HTML: &str = "Content-Type: text/html\n\n<p>The HTML form says a good deal in its <b>words</b>.";

    #[test]
    fn of_alternatives_the_html_is_read() {
        for parts in [[PLAIN, HTML], [HTML, PLAIN]] {
            let document = mail(&multipart("alternative", &parts));
            assert_eq!(document.text, "s\nThe HTML form says a good deal in its words.");
            assert!(!document.markup.noise.is_empty());
        }
    }

    #[test]
    fn html_without_words_gives_way_to_the_plain_text_and_keeps_its_style() {
        let picture = "Content-Type: text/html\n\n<a href='http://a.example/'><img src=x>Sale</a>";
        let document = mail(&multipart("alternative", &[PLAIN, picture]));
        assert_eq!(document.text, "s\nThe plain form says a good deal in its words.");
        assert!(!document.markup.noise.is_empty());
        assert_eq!(document.links.anchors.len(), 1);
        assert!(document.links.anchors[0].text.range().end <= document.text.len());
        let nothing = "Content-Type: text/plain\n\n.";
        assert_eq!(mail(&multipart("alternative", &[nothing, picture])).text, "s\nSale");
    }

    #[test]
    fn inline_parts_are_joined_and_attachments_counted() {
        let attached = "Content-Type: text/plain\nContent-Disposition: attachment\n\nnot read";
        let document = mail(&multipart("mixed", &[PLAIN, HTML, attached, "Content-Type: image/gif\n\nGIF"]));
        assert_eq!(
            document.text,
            "s\nThe plain form says a good deal in its words.\nThe HTML form says a good deal in its words."
        );
        assert_eq!((document.reading.n_parts, document.reading.n_attachments), (5, 2));
    }

    #[test]
    fn of_several_html_parts_the_largest_gives_the_style() {
        let small = "Content-Type: text/html\n\n<i>x</i>";
        let alone = mail(&format!("Subject: s\n{HTML}"));
        for parts in [[small, HTML], [HTML, small]] {
            assert_eq!(mail(&multipart("mixed", &parts)).markup.noise, alone.markup.noise);
        }
    }

    #[test]
    fn a_forwarded_mail_is_read_below_its_subject() {
        let forwarded = format!("Content-Type: message/rfc822\n\nSubject: inner\n{HTML}");
        let document = mail(&multipart("mixed", &["\nsee below", &forwarded]));
        assert_eq!(document.text, "s\nsee below\ninner\nThe HTML form says a good deal in its words.");
        let inner = multipart("alternative", &[PLAIN, HTML]).replace("--b", "--i").replace("=b", "=i");
        let forwarded = format!("Content-Type: message/rfc822\n\n{inner}");
        let document = mail(&multipart("mixed", &[&forwarded]));
        assert_eq!(document.text, "s\ns\nThe HTML form says a good deal in its words.");
    }

    #[test]
    fn the_title_is_the_subject_and_not_the_pages() {
        let document =
            mail("Subject: =?utf-8?q?S=C3=BC=C3=9F?= \t x\nContent-Type: text/html\n\n<title>T</title><p>body");
        assert_eq!((document.title.as_str(), document.text.as_str()), ("Süß x", "Süß x\nbody"));
        let document = mail("From: a@b.example\n\n> quoted\nYes");
        assert_eq!((document.title.as_str(), document.asides[0].sort), ("", AsideSort::Quoted));
    }

    #[test]
    fn charsets_are_decoded_whoever_declares_them() {
        let body = |head: &str, body: &[u8]| {
            let mut source = format!("Subject: s\n{head}\n\n").into_bytes();
            source.extend_from_slice(body);
            mail_within(&source, limits()).text.split_off(2)
        };
        assert_eq!(body("Content-Type: text/plain; charset=windows-1251", b"\xcf\xf0\xe8\xe2\xe5\xf2"), "Привет");
        assert_eq!(body("Content-Type: text/plain; charset=utf-7", b"+ZeVnLIqe-"), "日本語");
        assert_eq!(body("Content-Type: text/plain; charset=ibm850", b"caf\x82"), "café");
        assert_eq!(body("Content-Type: text/plain; charset=us-ascii", "naïve".as_bytes()), "naïve");
        assert_eq!(body("Content-Type: text/plain; charset=never-heard", "naïve".as_bytes()), "naïve");
        assert_eq!(body("X: y", "naïve".as_bytes()), "naïve");
    }

    #[test]
    fn parts_over_the_limit_are_not_read_and_that_is_said() {
        let mut limits = limits().clone();
        limits.parts_max = 2;
        let document = mail_within(multipart("mixed", &[PLAIN, PLAIN]).as_bytes(), &limits);
        assert_eq!(document.text, "s\nThe plain form says a good deal in its words.");
        assert_eq!(document.reading.truncated, [Truncation::Parts]);
    }

    /// 100,000 nested multiparts, and other mails of up to 10 MB made to be slow.
    #[test]
    fn hostile_mails_are_read_in_linear_time() {
        let size = 10 << 20;
        let nested: String =
            (0..100_000).map(|n| format!("Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n")).collect();
        let boundaries = "Content-Type: multipart/mixed; boundary=b\n\n".to_owned() + &"--b\n".repeat(size / 4);
        let fields = "X: y\n".repeat(size / 5);
        let words = "Subject: ".to_owned() + &"=?ab?q?_".repeat(size / 8);
        let recipients = "To: ".to_owned() + &"a<".repeat(size / 2);
        let parameters = "Content-Type: text/plain;".to_owned() + &"a*0=b;".repeat(size / 6);
        for source in [nested, boundaries, fields, words, recipients, parameters] {
            let begun = std::time::Instant::now();
            let document = mail(&source);
            assert!(document.reading.n_parts > 0);
            let seconds = begun.elapsed().as_secs_f64();
            assert!(seconds < 60.0, "{seconds} s for {:?}", &source[..100]);
        }
    }

    proptest! {
        /// Lines of every sort in any order, with any bytes between.
        #[test]
        fn any_bytes_are_a_mail_or_not(lines in prop::collection::vec(prop_oneof![
            prop::sample::select(vec![
                "Subject: =?utf-8?q?x", "Content-Type: multipart/alternative; boundary=a", "Content-Type: text/html",
                "Content-Type: message/rfc822", "Content-Transfer-Encoding: base64", "Content-Transfer-Encoding: quoted-printable",
                "To: \"a <b@c>, (d", "Date: Mon", "--a", "--a--", "", "=3D=", "<p>x<br>y", "> q", "--", "PGh0bWw+",
                "Content-Type: text/plain; format=flowed; charset=utf-7",
            ]).prop_map(|line| line.as_bytes().to_vec()),
            prop::collection::vec(any::<u8>(), 0..20),
        ], 0..40)) {
            let source = lines.join(&b'\n');
            let mut document = Document::default();
            let outcome = read(&source, &Carrier::default(), limits(), 1, &mut html::Scratch::default(), &mut document);
            if outcome.is_ok() {
                prop_assert!(document.text.starts_with(&document.title));
                prop_assert!(document.asides.iter().all(|aside| aside.span.range().end <= document.text.len()));
            }
        }
    }
}
