//! Transfer encodings, and soft line breaks: from the bytes of a part to its text as it was written.
//!
//! Damage is passed through: what is no valid escape stays as it is, what is not in the base64 alphabet is skipped.
//!
//! # Invariants
//! - What a sound encoder made comes back. (`base64_and_quoted_printable_come_back`)
//! - No input is an error. (`damaged_encodings_are_read_as_far_as_they_go`)

use memchr::{memchr, memchr2, memmem};
use std::borrow::Cow;

/// How the bytes of a part were made fit for transport.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Encoding {
    /// Not at all: `7bit`, `8bit`, `binary`, and whatever nobody knows.
    #[default]
    Identity,
    QuotedPrintable,
    Base64,
    /// Text never comes in it; a part that does is an attachment.
    Uuencode,
}

impl Encoding {
    pub(super) fn by(value: Option<&[u8]>) -> Self {
        let value = value.unwrap_or_default().trim_ascii();
        let end = value.iter().position(|byte| matches!(byte, b';' | b' ' | b'\t' | b'(')).unwrap_or(value.len());
        let is = |name: &str| value[..end].eq_ignore_ascii_case(name.as_bytes());
        if is("quoted-printable") {
            Self::QuotedPrintable
        } else if is("base64") {
            Self::Base64
        } else if is("x-uuencode") || is("uuencode") || is("x-uue") {
            Self::Uuencode
        } else {
            Self::Identity
        }
    }

    /// The bytes as they were before transport.
    pub(super) fn decoded<'a>(self, body: &'a [u8]) -> Cow<'a, [u8]> {
        match self {
            Self::Identity | Self::Uuencode => Cow::Borrowed(body),
            Self::QuotedPrintable if memchr(b'=', body).is_none() => Cow::Borrowed(body),
            Self::QuotedPrintable => {
                let mut out = Vec::with_capacity(body.len());
                quoted_printable(body, &mut out);
                Cow::Owned(out)
            }
            Self::Base64 => {
                let mut out = Vec::with_capacity(body.len() / 4 * 3 + 3);
                base64(body, &mut out);
                Cow::Owned(out)
            }
        }
    }
}

/// The value of a hexadecimal digit; the caller has checked that it is one.
pub(super) fn hex(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        _ => (digit | 0x20) - b'a' + 10,
    }
}

fn quoted_printable(source: &[u8], out: &mut Vec<u8>) {
    let mut rest = source;
    while let Some(n) = memchr(b'=', rest) {
        out.extend_from_slice(&rest[..n]);
        rest = &rest[n + 1..];
        match rest {
            [high, low, after @ ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                out.push(hex(*high) << 4 | hex(*low));
                rest = after;
            }
            [b'\n', after @ ..] | [b'\r', b'\n', after @ ..] => rest = after,
            // A soft break, with white space that was added on the way.
            [b' ' | b'\t' | b'\r', ..] => match rest.iter().position(|byte| !matches!(byte, b' ' | b'\t' | b'\r')) {
                Some(n) if rest[n] == b'\n' => rest = &rest[n + 1..],
                Some(n) => {
                    out.push(b'=');
                    out.extend_from_slice(&rest[..n]);
                    rest = &rest[n..];
                }
                None => rest = b"",
            },
            [] => {}
            _ => out.push(b'='),
        }
    }
    out.extend_from_slice(rest);
}

/// The Q encoding of an encoded word: as above, with `_` for a space.
pub(super) fn q_word(source: &[u8], out: &mut Vec<u8>) {
    let mut rest = source;
    while let Some(n) = memchr2(b'=', b'_', rest) {
        out.extend_from_slice(&rest[..n]);
        match &rest[n..] {
            [b'=', high, low, after @ ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                out.push(hex(*high) << 4 | hex(*low));
                rest = after;
            }
            [byte, after @ ..] => {
                out.push(if *byte == b'_' { b' ' } else { *byte });
                rest = after;
            }
            [] => rest = b"",
        }
    }
    out.extend_from_slice(rest);
}

const NO_DIGIT: u8 = 0xff;

const DIGITS: [u8; 256] = {
    let mut digits = [NO_DIGIT; 256];
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut at = 0;
    while at < alphabet.len() {
        digits[alphabet[at] as usize] = at as u8;
        at += 1;
    }
    digits
};

/// Base64 up to its padding: what follows is a footer that somebody hung below.
pub(super) fn base64(source: &[u8], out: &mut Vec<u8>) {
    let mut rest = source;
    let (mut group, mut n_digits) = (0u32, 0);
    loop {
        while n_digits == 0
            && let [a, b, c, d, after @ ..] = rest
        {
            let [a, b, c, d] = [a, b, c, d].map(|&byte| DIGITS[byte as usize]);
            if a | b | c | d == NO_DIGIT {
                break;
            }
            let bits = u32::from(a) << 18 | u32::from(b) << 12 | u32::from(c) << 6 | u32::from(d);
            out.extend_from_slice(&bits.to_be_bytes()[1..]);
            rest = after;
        }
        let Some((&byte, after)) = rest.split_first() else { break };
        rest = after;
        let digit = DIGITS[byte as usize];
        if digit != NO_DIGIT {
            group = group << 6 | u32::from(digit);
            n_digits += 1;
            if n_digits == 4 {
                out.extend_from_slice(&group.to_be_bytes()[1..]);
                (group, n_digits) = (0, 0);
            }
        } else if byte == b'=' && n_digits >= 2 {
            break;
        }
    }
    match n_digits {
        2 => out.push((group >> 4) as u8),
        3 => out.extend_from_slice(&[(group >> 10) as u8, (group >> 2) as u8]),
        _ => {}
    }
}

/// Joins the soft-broken lines of `format=flowed` text (RFC 3676), so that sentences are whole again.
///
/// A line that ends with a space goes on in the next one of the same quote depth; the signature's `-- ` does not.
pub(super) fn unflowed(text: &str, delsp: bool) -> String {
    let mut out = String::with_capacity(text.len());
    // The quote depth of an unfinished line.
    let mut open: Option<usize> = None;
    let mut rest = text;
    while !rest.is_empty() {
        let end = memmem::find(rest.as_bytes(), b"\n").map_or(rest.len(), |n| n + 1);
        let (line, after) = rest.split_at(end);
        rest = after;
        let line = line.strip_suffix('\n').unwrap_or(line);
        let line = line.strip_suffix('\r').unwrap_or(line);
        let content = line.trim_start_matches('>');
        let depth = line.len() - content.len();
        let content = content.strip_prefix(' ').unwrap_or(content);
        let is_signature = content == "-- ";
        match open {
            Some(open_depth) if open_depth == depth && !is_signature => {}
            before => {
                if before.is_some() {
                    out.push('\n');
                }
                out.extend(std::iter::repeat_n('>', depth));
                if depth > 0 {
                    out.push(' ');
                }
            }
        }
        if content.ends_with(' ') && !is_signature {
            out.push_str(if delsp { &content[..content.len() - 1] } else { content });
            open = Some(depth);
        } else {
            out.push_str(content);
            out.push('\n');
            open = None;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::base64::Engine;
    use proptest::prelude::*;

    fn quoted_printable_of(source: &str) -> String {
        let decoded = Encoding::QuotedPrintable.decoded(source.as_bytes()).into_owned();
        String::from_utf8(decoded).unwrap()
    }

    #[test]
    fn soft_breaks_join_lines() {
        assert_eq!(quoted_printable_of("one =\r\ntwo=20=\nthree= \t\r\n four"), "one two three four");
    }

    #[test]
    fn damaged_encodings_are_read_as_far_as_they_go() {
        assert_eq!(quoted_printable_of("a=ZZb=4"), "a=ZZb=4");
        assert_eq!(quoted_printable_of("50% = half="), "50% = half");
        let base64_of = |source: &str| Encoding::Base64.decoded(source.as_bytes()).into_owned();
        assert_eq!(base64_of("aGVs\r\nbG8="), b"hello");
        assert_eq!(base64_of("aG*Vs bG8"), b"hello");
        assert_eq!(base64_of("aGVsbG8=\r\n____\r\nlist footer"), b"hello");
        assert_eq!(base64_of("aGVsbG8gd"), b"hello ");
        assert_eq!(base64_of("===="), b"");
    }

    #[test]
    fn encodings_are_known_by_any_spelling() {
        for (value, encoding) in [
            (" Quoted-Printable", Encoding::QuotedPrintable),
            ("BASE64 (really)", Encoding::Base64),
            ("8bit", Encoding::Identity),
            ("hexa", Encoding::Identity),
            ("x-uuencode", Encoding::Uuencode),
        ] {
            assert_eq!(Encoding::by(Some(value.as_bytes())), encoding, "{value}");
        }
    }

    #[test]
    fn flowed_lines_are_joined_within_their_quote() {
        let flowed = "one \r\ntwo\r\n> three \r\n> four\r\n>> five \r\n> six\r\n-- \r\nme \r\n  stuffed\r\n";
        let joined = "one two\n> three four\n>> five \n> six\n-- \nme  stuffed\n";
        assert_eq!(unflowed(flowed, false), joined);
        assert_eq!(unflowed("wo \nrd", true), "word\n");
    }

    proptest! {
        /// Encoded by another, wrapped as mails are.
        #[test]
        fn base64_and_quoted_printable_come_back(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let encoded = ::base64::engine::general_purpose::STANDARD.encode(&bytes);
            let wrapped = encoded.as_bytes().chunks(76).collect::<Vec<_>>().join(&b"\r\n"[..]);
            prop_assert_eq!(&*Encoding::Base64.decoded(&wrapped), &bytes[..]);
            let escaped: String = bytes.iter().map(|byte| format!("={byte:02X}=\r\n")).collect();
            prop_assert_eq!(&*Encoding::QuotedPrintable.decoded(escaped.as_bytes()), &bytes[..]);
        }

        #[test]
        fn any_bytes_can_be_encoded(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            for encoding in [Encoding::QuotedPrintable, Encoding::Base64] {
                prop_assert!(encoding.decoded(&bytes).len() <= bytes.len());
            }
            unflowed(&String::from_utf8_lossy(&bytes), true);
        }
    }
}
