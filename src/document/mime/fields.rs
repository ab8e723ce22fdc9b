//! The header block of a mail or MIME part: which fields it has, and the text, parameters and addresses in them.
//!
//! Values stay slices of the raw mail until somebody asks. A line that is no field ends the block and begins the
//! body, as mail servers do it: nothing that a sender wrote is lost with a forgotten blank line.
//!
//! # Invariants
//! - Each function here looks at a byte a fixed number of times. (`open_encoded_words_are_read_in_linear_time`)
//! - A character cut in two by neighbouring encoded words is whole again. (`encoded_words_join_before_they_are_decoded`)

use super::transfer;
use crate::document::charset;
use encoding_rs::Encoding;
use memchr::{memchr, memmem};
use std::borrow::Cow;

/// The raw values of the fields that are asked for, the first of each name.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fields<'a> {
    /// Fields of any name.
    pub(super) n_fields: usize,
    pub(super) content_type: Option<&'a [u8]>,
    pub(super) transfer_encoding: Option<&'a [u8]>,
    pub(super) disposition: Option<&'a [u8]>,
    pub(super) subject: Option<&'a [u8]>,
    pub(super) from: Option<&'a [u8]>,
    pub(super) to: Option<&'a [u8]>,
    pub(super) cc: Option<&'a [u8]>,
    pub(super) date: Option<&'a [u8]>,
    pub(super) message_id: Option<&'a [u8]>,
    pub(super) list_id: Option<&'a [u8]>,
}

impl<'a> Fields<'a> {
    fn slot(&mut self, name: &[u8]) -> Option<&mut Option<&'a [u8]>> {
        // The length decides almost always, so that a name is compared once or not at all.
        let (known, slot): (&[u8], _) = match name.len() {
            2 if name[0] | 0x20 == b't' => (b"to", &mut self.to),
            2 => (b"cc", &mut self.cc),
            4 if name[0] | 0x20 == b'f' => (b"from", &mut self.from),
            4 => (b"date", &mut self.date),
            7 if name[0] | 0x20 == b's' => (b"subject", &mut self.subject),
            7 => (b"list-id", &mut self.list_id),
            10 => (b"message-id", &mut self.message_id),
            12 => (b"content-type", &mut self.content_type),
            19 => (b"content-disposition", &mut self.disposition),
            25 => (b"content-transfer-encoding", &mut self.transfer_encoding),
            _ => return None,
        };
        name.eq_ignore_ascii_case(known).then_some(slot)
    }

    fn keep(&mut self, name: &[u8], value: &'a [u8]) {
        self.n_fields += 1;
        if let Some(slot) = self.slot(name)
            && slot.is_none()
        {
            *slot = Some(value);
        }
    }
}

/// Bytes beyond ASCII from which on a charset can be guessed.
const DETECTABLE_MIN: usize = 4;

/// The fields that begin at `start`, and where the body begins. A line for which `stop` holds belongs to neither.
pub(super) fn scan<'a>(source: &'a [u8], start: usize, stop: impl Fn(&[u8]) -> bool) -> (Fields<'a>, usize) {
    let mut fields = Fields::default();
    // The field whose continuation lines are being collected: name, and where its value begins and ends.
    let mut open: Option<(&[u8], usize, usize)> = None;
    let mut at = start;
    let body = loop {
        if at >= source.len() {
            break source.len();
        }
        let next = memchr(b'\n', &source[at..]).map_or(source.len(), |n| at + n + 1);
        let line = trim_line_end(&source[at..next]);
        if line.is_empty() {
            break next;
        }
        if line[0] == b' ' || line[0] == b'\t' {
            if let Some((_, _, end)) = &mut open {
                *end = at + line.len();
            }
        } else {
            if let Some((name, from, end)) = open.take() {
                fields.keep(name, &source[from..end]);
            }
            if line.starts_with(b"--") && stop(line) {
                break at;
            }
            match field_name(line) {
                Some((name, colon)) => open = Some((name, at + colon + 1, at + line.len())),
                // An mbox separator above the first field, quoted by some.
                None if fields.n_fields == 0 && (line.starts_with(b"From ") || line.starts_with(b">From ")) => {}
                None => break at,
            }
        }
        at = next;
    };
    if let Some((name, from, end)) = open {
        fields.keep(name, &source[from..end]);
    }
    (fields, body)
}

/// The name of the field that `line` begins, and where its colon is.
fn field_name(line: &[u8]) -> Option<(&[u8], usize)> {
    let colon = memchr(b':', line)?;
    let name = line[..colon].trim_ascii_end();
    (!name.is_empty() && name.iter().all(|&byte| byte.is_ascii_graphic())).then_some((name, colon))
}

fn trim_line_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// The text of an unstructured field: unfolded, encoded words (RFC 2047) and raw 8-bit bytes decoded. Nothing declares
/// the charset of the latter; `beside` is what the mail declares of its body.
pub(super) fn text(value: &[u8], beside: Option<&[u8]>) -> String {
    let value = value.trim_ascii();
    let beside = beside.and_then(Encoding::for_label).filter(|encoding| encoding.is_ascii_compatible());
    if !value.is_ascii() && beside.is_none() && memmem::find(value, b"=?").is_none() {
        let n_high = value.iter().filter(|byte| !byte.is_ascii()).count();
        if n_high >= DETECTABLE_MIN {
            return charset::decode(value, None).text.replace(['\r', '\n'], "");
        }
    }
    let mut out = String::with_capacity(value.len());
    // Bytes of encoded words in one charset, which may hold a character cut in two.
    let mut pending: Option<(&[u8], Vec<u8>)> = None;
    let (mut at, mut plain) = (0, 0);
    // Beyond the last `?=` no word is closed: without this, each of many open words would look for its end.
    let last_close = memmem::rfind(value, b"?=").unwrap_or(0);
    while at < last_close
        && let Some(n) = memmem::find(&value[at..last_close], b"=?")
    {
        let begin = at + n;
        let Some(word) = EncodedWord::at(&value[begin..]) else {
            at = begin + 2;
            continue;
        };
        let between = &value[plain..begin];
        // White space between two encoded words is only there to part them.
        if pending.is_none() || between.iter().any(|byte| !byte.is_ascii_whitespace()) {
            flush(&mut pending, &mut out);
            push_raw(between, beside, &mut out);
        }
        match &mut pending {
            Some((charset, bytes)) if charset.eq_ignore_ascii_case(word.charset) => word.decode(bytes),
            _ => {
                flush(&mut pending, &mut out);
                let mut bytes = Vec::new();
                word.decode(&mut bytes);
                pending = Some((word.charset, bytes));
            }
        }
        at = begin + word.len;
        plain = at;
    }
    flush(&mut pending, &mut out);
    push_raw(&value[plain..], beside, &mut out);
    out
}

fn flush(pending: &mut Option<(&[u8], Vec<u8>)>, out: &mut String) {
    if let Some((label, bytes)) = pending.take() {
        match Encoding::for_label(label) {
            // The decoder looks at its own bytes only: a byte order mark inside a header is text.
            Some(encoding) => out.push_str(&encoding.decode_without_bom_handling(&bytes).0),
            None => match mail_parser::decoders::charsets::map::charset_decoder(label) {
                Some(decode) => out.push_str(&decode(&bytes)),
                None => push_unlabelled(&bytes, None, out),
            },
        }
    }
}

fn push_raw(bytes: &[u8], beside: Option<&'static Encoding>, out: &mut String) {
    let is_fold = |c: char| c == '\r' || c == '\n';
    if bytes.is_ascii() {
        out.extend(bytes.iter().map(|&byte| char::from(byte)).filter(|&c| !is_fold(c)));
    } else {
        let mut text = String::new();
        push_unlabelled(bytes, beside, &mut text);
        out.extend(text.chars().filter(|&c| !is_fold(c)));
    }
}

/// A few bytes tell no charset (a lone pound sign looks Polish), and many such pieces would each start a detector.
fn push_unlabelled(bytes: &[u8], beside: Option<&'static Encoding>, out: &mut String) {
    match std::str::from_utf8(bytes) {
        Ok(text) => out.push_str(text),
        Err(_) => {
            let encoding =
                beside.filter(|&encoding| encoding != encoding_rs::UTF_8).unwrap_or(encoding_rs::WINDOWS_1252);
            out.push_str(&encoding.decode_without_bom_handling(bytes).0);
        }
    }
}

/// `=?charset?B?data?=`, with white space inside tolerated: long subjects are folded in the middle of a word.
struct EncodedWord<'a> {
    charset: &'a [u8],
    base64: bool,
    data: &'a [u8],
    len: usize,
}

impl<'a> EncodedWord<'a> {
    /// RFC 2047 allows 75 characters in all; charset names longer than this do not exist.
    const CHARSET_LEN_MAX: usize = 64;

    fn at(source: &'a [u8]) -> Option<Self> {
        let inner = &source[2..];
        let charset_end = memchr(b'?', &inner[..inner.len().min(Self::CHARSET_LEN_MAX)])?;
        let charset = &inner[..charset_end];
        // RFC 2231 lets a language follow.
        let charset = &charset[..memchr(b'*', charset).unwrap_or(charset.len())];
        let [encoding, b'?', rest @ ..] = &inner[charset_end + 1..] else { return None };
        let base64 = match encoding {
            b'B' | b'b' => true,
            b'Q' | b'q' => false,
            _ => return None,
        };
        if charset.is_empty() || charset.iter().any(|byte| !byte.is_ascii_graphic()) {
            return None;
        }
        let data_end = memmem::find(rest, b"?=")?;
        Some(Self { charset, base64, data: &rest[..data_end], len: 2 + charset_end + 3 + data_end + 2 })
    }

    fn decode(&self, out: &mut Vec<u8>) {
        if self.base64 { transfer::base64(self.data, out) } else { transfer::q_word(self.data, out) }
    }
}

/// What a Content-Type or Content-Disposition field says, as far as it is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Described<'a> {
    /// `text/html`, or `attachment`; as written.
    pub(super) media: &'a [u8],
    pub(super) boundary: Option<Cow<'a, [u8]>>,
    pub(super) charset: Option<Cow<'a, [u8]>>,
    /// `format=flowed` (RFC 3676).
    pub(super) flowed: bool,
    /// `delsp=yes`: the space before a soft line break is not part of the text.
    pub(super) delsp: bool,
}

impl<'a> Described<'a> {
    pub(super) fn by(value: &'a [u8]) -> Self {
        let mut rest = value.trim_ascii_start();
        let media_end = rest.iter().position(|byte| matches!(byte, b';' | b' ' | b'\t' | b'\r' | b'\n' | b'(' | b','));
        let mut described = Self { media: &rest[..media_end.unwrap_or(rest.len())], ..Self::default() };
        rest = &rest[described.media.len()..];
        while let Some(parameter) = Parameter::first(rest) {
            rest = parameter.rest;
            described.keep(parameter.name, parameter.value);
        }
        // A boundary ends with no white space, whatever its quotes hold (RFC 2046, 5.1.1): lines are compared so.
        if let Some(boundary) = &mut described.boundary {
            match boundary {
                Cow::Borrowed(bytes) => *bytes = bytes.trim_ascii_end(),
                Cow::Owned(bytes) => bytes.truncate(bytes.trim_ascii_end().len()),
            }
        }
        described
    }

    /// Long parameters come in numbered pieces, and may be percent-encoded (RFC 2231): `boundary*0*=''ab%20`.
    fn keep(&mut self, name: &[u8], value: Cow<'a, [u8]>) {
        let star = memchr(b'*', name);
        let (base, suffix) = name.split_at(star.unwrap_or(name.len()));
        let slot = match base.len() {
            8 if base.eq_ignore_ascii_case(b"boundary") => &mut self.boundary,
            7 if base.eq_ignore_ascii_case(b"charset") => &mut self.charset,
            6 if base.eq_ignore_ascii_case(b"format") => {
                self.flowed = value.eq_ignore_ascii_case(b"flowed");
                return;
            }
            5 if base.eq_ignore_ascii_case(b"delsp") => {
                self.delsp = value.eq_ignore_ascii_case(b"yes");
                return;
            }
            _ => return,
        };
        let first = !suffix.iter().any(|byte| matches!(byte, b'1'..=b'9'));
        let value = if suffix.len() > 1 && suffix.ends_with(b"*") || suffix == b"*" {
            Cow::Owned(percent_decoded(if first { after_language(&value) } else { &value }))
        } else {
            value
        };
        match slot {
            None => *slot = Some(value),
            Some(before) if !suffix.is_empty() && !first => before.to_mut().extend_from_slice(&value),
            Some(_) => {}
        }
    }
}

/// `charset'language'value`: the value.
fn after_language(value: &[u8]) -> &[u8] {
    let mut pieces = value.splitn(3, |&byte| byte == b'\'');
    match (pieces.next(), pieces.next(), pieces.next()) {
        (Some(_), Some(_), Some(value)) => value,
        _ => value,
    }
}

fn percent_decoded(value: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(value.len());
    let mut rest = value;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match (byte, after) {
            (b'%', [high, low, after @ ..]) if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                out.push(transfer::hex(*high) << 4 | transfer::hex(*low));
                rest = after;
            }
            _ => out.push(byte),
        }
    }
    out
}

/// `name=value` in a structured field, and what follows it.
struct Parameter<'a> {
    name: &'a [u8],
    value: Cow<'a, [u8]>,
    rest: &'a [u8],
}

impl<'a> Parameter<'a> {
    /// The first one in `source`. What is no parameter is passed over.
    fn first(source: &'a [u8]) -> Option<Self> {
        let is_gap = |byte: &u8| byte.is_ascii_whitespace() || *byte == b';';
        let mut rest = source;
        loop {
            rest = &rest[rest.iter().position(|byte| !is_gap(byte))?..];
            // A comment ends at the first closing parenthesis: nested ones do not occur where it matters.
            if rest[0] == b'(' {
                rest = &rest[memchr(b')', rest)? + 1..];
                continue;
            }
            let name_end = rest.iter().position(|&byte| byte == b'=' || is_gap(&byte))?;
            let (name, after) = rest.split_at(name_end);
            let Some(after) = after.trim_ascii_start().strip_prefix(b"=") else {
                rest = after;
                continue;
            };
            let after = after.trim_ascii_start();
            let (value, rest) = match after.strip_prefix(b"\"") {
                Some(quoted) => quoted_value(quoted),
                None => {
                    let end = after.iter().position(is_gap).unwrap_or(after.len());
                    (Cow::Borrowed(&after[..end]), &after[end..])
                }
            };
            return Some(Self { name, value, rest });
        }
    }
}

/// The string up to the closing quote (or the end), escapes undone, line ends left out.
fn quoted_value(source: &[u8]) -> (Cow<'_, [u8]>, &[u8]) {
    let plain = source.iter().position(|byte| matches!(byte, b'"' | b'\\' | b'\r' | b'\n'));
    match plain {
        Some(end) if source[end] == b'"' => return (Cow::Borrowed(&source[..end]), &source[end + 1..]),
        None => return (Cow::Borrowed(source), b""),
        Some(_) => {}
    }
    let mut value = Vec::new();
    let mut bytes = source.iter().enumerate();
    while let Some((at, &byte)) = bytes.next() {
        match byte {
            b'"' => return (Cow::Owned(value), &source[at + 1..]),
            b'\\' => value.extend(bytes.next().map(|(_, &escaped)| escaped)),
            b'\r' | b'\n' => {}
            _ => value.push(byte),
        }
    }
    (Cow::Owned(value), b"")
}

/// One mailbox of an address field: its display name (raw) and its address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Mailbox<'a> {
    /// What stands beside the address: a name in quotes, words, a comment.
    pub(super) name: Cow<'a, [u8]>,
    /// `local@domain`, or what stands in its place; may be empty.
    pub(super) address: &'a [u8],
}

/// Calls `with` for every mailbox of an address field, until it says `false`. Group names are left out.
pub(super) fn mailboxes<'a>(value: &'a [u8], mut with: impl FnMut(Mailbox<'a>) -> bool) {
    let mut mailbox = Mailbox::default();
    let mut at = 0;
    let end_of = |open: usize, closing: u8| {
        let mut end = open + 1;
        while end < value.len() && value[end] != closing {
            end += if value[end] == b'\\' { 2 } else { 1 };
        }
        end.min(value.len())
    };
    while at < value.len() {
        match value[at] {
            b'"' | b'(' => {
                let end = end_of(at, if value[at] == b'"' { b'"' } else { b')' });
                add_name(&mut mailbox.name, &value[at + 1..end]);
                at = end + 1;
            }
            b'<' => {
                let end = memchr(b'>', &value[at..]).map_or(value.len(), |n| at + n);
                mailbox.address = value[at + 1..end].trim_ascii();
                at = end + 1;
            }
            b',' | b';' => {
                if !with(std::mem::take(&mut mailbox)) {
                    return;
                }
                at += 1;
            }
            // `undisclosed-recipients:;` names a group, which is nobody.
            b':' => {
                mailbox = Mailbox::default();
                at += 1;
            }
            byte if byte.is_ascii_whitespace() => at += 1,
            _ => {
                let is_end = |byte: &u8| byte.is_ascii_whitespace() || b"\"(<,;:".contains(byte);
                let end = value[at..].iter().position(is_end).map_or(value.len(), |n| at + n);
                let word = &value[at..end];
                if mailbox.address.is_empty() && memchr(b'@', word).is_some() && !word.starts_with(b"=?") {
                    mailbox.address = word;
                } else {
                    add_name(&mut mailbox.name, word);
                }
                at = end;
            }
        }
    }
    if mailbox != Mailbox::default() {
        with(mailbox);
    }
}

fn add_name<'a>(name: &mut Cow<'a, [u8]>, word: &'a [u8]) {
    if name.is_empty() {
        *name = Cow::Borrowed(word);
    } else {
        let name = name.to_mut();
        name.push(b' ');
        name.extend_from_slice(word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fields(source: &str) -> (Fields<'_>, &str) {
        let (fields, body) = scan(source.as_bytes(), 0, |_| false);
        (fields, &source[body..])
    }

    #[test]
    fn fields_are_found_by_any_spelling_folded_or_not() {
        for source in [
            "subject: a b\n\nbody",
            "SUBJECT:a b\r\n\r\nbody",
            "Subject : a\r\n b\r\n\nbody",
            "From x@y Mon Jan 1\nSubject: a\n\tb\n\nbody",
            "X: y\nSubject: a b\nSubject: second\n\r\nbody",
        ] {
            let (fields, body) = fields(source);
            let subject = text(fields.subject.unwrap(), None);
            assert_eq!(subject.split_whitespace().collect::<Vec<_>>(), ["a", "b"], "{source:?}");
            assert_eq!(body, "body", "{source:?}");
        }
    }

    #[test]
    fn a_line_that_is_no_field_begins_the_body() {
        let (fields, body) = fields("Subject: s\nDear friend, hello\nmore: of it\n");
        assert_eq!((fields.n_fields, body), (1, "Dear friend, hello\nmore: of it\n"));
    }

    #[test]
    fn a_header_block_may_end_with_the_mail() {
        for source in ["Subject: s", "Subject: s\n", "Subject: s\r"] {
            let (fields, body) = fields(source);
            assert_eq!((text(fields.subject.unwrap(), None).as_str(), body), ("s", ""), "{source:?}");
        }
    }

    #[test]
    fn encoded_words_are_decoded() {
        for (raw, decoded) in [
            ("=?utf-8?Q?caf=C3=A9_au_lait?=", "café au lait"),
            ("=?UTF-8?b?5pel5pys?= =?utf-8?B?6Kqe?=", "日本語"),
            ("a =?iso-8859-1?q?=E9?= b", "a é b"),
            ("=?iso-8859-1*fr?q?=E9t=E9?=", "été"),
            ("=?us-ascii?q?one?=\r\n =?us-ascii?q?two?=", "onetwo"),
            ("=?us-ascii?q?one?= and =?us-ascii?q?two?=", "one and two"),
            ("=?iso-2022-jp?B?GyRCRnxLXBsoQg==?=", "日本"),
            ("=?utf-7?Q?+ZeVnLIqe-?=", "日本語"),
            ("not =? a word ?= here", "not =? a word ?= here"),
            ("=?utf-8?x?abc?=", "=?utf-8?x?abc?="),
            ("=?utf-8?Q?open", "=?utf-8?Q?open"),
            ("glued=?utf-8?Q?=21?=on", "glued!on"),
        ] {
            assert_eq!(text(raw.as_bytes(), None), decoded, "{raw}");
        }
    }

    #[test]
    fn raw_bytes_are_read_by_what_the_body_declares() {
        assert_eq!(text(b"\xa37,000", None), "£7,000");
        assert_eq!(text(b"\xcf\xf0\xe8", Some(b"windows-1251")), "При");
        assert_eq!(text("naïve".as_bytes(), Some(b"windows-1251")), "naïve");
        assert_eq!(text(b"\xcf\xf0 =?utf-8?q?x?=", Some(b"koi8-r")), "оП x");
        let korean = b"(\xb1\xa4\xb0\xed) \xbd\xc5\xbb\xe7\xbe\xf7 \xbf\xf8\xb0\xc5\xb8\xae \xb0\xa8\xbd\xc3";
        assert_eq!(text(korean, None), "(광고) 신사업 원거리 감시");
    }

    #[test]
    fn encoded_words_join_before_they_are_decoded() {
        assert_eq!(text(b"=?utf-8?B?5pc=?= =?utf-8?B?pQ==?=", None), "日");
    }

    #[test]
    fn open_encoded_words_are_read_in_linear_time() {
        for piece in ["=?ab?q?_", "=?ab?Q?", "=?", "=?a?b?", "=?utf-8?Q?=?="] {
            let value = piece.repeat(1 << 20);
            // Quadratic work would be 10^12 steps.
            assert!(text(value.as_bytes(), None).len() <= value.len() * 3);
        }
    }

    #[test]
    fn parameters_are_read_in_every_form_that_mailers_write() {
        for value in [
            "multipart/mixed; boundary=\"a b\"",
            "multipart/mixed;\r\n\tBOUNDARY = \"a b\" ; x",
            "multipart/mixed; (comment) boundary=\"a\\ b\"",
            "multipart/mixed; boundary*0=\"a\"; boundary*1=\" b\"",
            "multipart/mixed; boundary*0*=us-ascii'en'a%20; boundary*1*=b",
            "multipart/mixed boundary=\"a b  \"; boundary=second",
        ] {
            let described = Described::by(value.as_bytes());
            assert_eq!(described.media, b"multipart/mixed", "{value}");
            assert_eq!(described.boundary.as_deref(), Some(&b"a b"[..]), "{value}");
        }
        let described = Described::by(b"text/plain; Format=Flowed; delsp=YES; charset=\"ISO-8859-1");
        assert!(described.flowed && described.delsp);
        assert_eq!(described.charset.as_deref(), Some(&b"ISO-8859-1"[..]));
    }

    #[test]
    fn mailboxes_are_parted_at_commas_outside_names() {
        let mut found = Vec::new();
        mailboxes(b"\"Doe, J\" <j@a>, k@b (Kay), Team: l@c, M N <m@d>;, <broken", |mailbox| {
            found.push((String::from_utf8_lossy(&mailbox.name).into_owned(), mailbox.address));
            true
        });
        let found: Vec<_> = found.iter().map(|(name, address)| (name.as_str(), *address)).collect();
        let expected: &[(&str, &[u8])] =
            &[("Doe, J", b"j@a"), ("Kay", b"k@b"), ("", b"l@c"), ("M N", b"m@d"), ("", b""), ("", b"broken")];
        assert_eq!(found, expected);
    }

    proptest! {
        /// No value makes any of the readers panic.
        #[test]
        fn any_bytes_can_be_a_value(value in prop::collection::vec(prop_oneof![
            Just(b'='), Just(b'?'), Just(b'"'), Just(b'\\'), Just(b';'), Just(b'*'), Just(b'%'), Just(b'\''), Just(b'<'),
            Just(b'@'), Just(b'\n'), Just(b' '), Just(b'('), Just(b':'), any::<u8>()], 0..80)) {
            text(&value, Some(b"utf-8"));
            Described::by(&value);
            mailboxes(&value, |_| true);
            scan(&value, 0, |_| false);
        }
    }
}
