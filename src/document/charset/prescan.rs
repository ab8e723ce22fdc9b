//! What the first bytes of a page declare, read as the HTML standard has browsers read them before they know a charset.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};
use memchr::{memchr, memmem};

/// The label in `charset=label`, wherever that stands: quoted, unquoted, or with rubbish around it.
pub(super) fn charset_label(value: &[u8]) -> Option<&[u8]> {
    let mut rest = value;
    loop {
        let at = rest.windows(7).position(|window| window.eq_ignore_ascii_case(b"charset"))?;
        rest = &rest[at + 7..];
        let Some(label) = rest.trim_ascii_start().strip_prefix(b"=") else { continue };
        let label = label.trim_ascii_start();
        let (label, ends): (_, &[u8]) = match label.first()? {
            b'"' => (&label[1..], b"\""),
            b'\'' => (&label[1..], b"'"),
            _ => (label, b" \t\r\n\x0c;,\"'"),
        };
        let end = label.iter().position(|byte| ends.contains(byte)).unwrap_or(label.len());
        return Some(label[..end].trim_ascii()).filter(|label| !label.is_empty());
    }
}

/// The charset of the first `<meta>` that declares a known one.
pub(super) fn meta(head: &[u8]) -> Option<&'static Encoding> {
    let mut scanner = Scanner { bytes: head, at: 0 };
    while let Some(skipped) = memchr(b'<', scanner.rest()) {
        scanner.at += skipped;
        match scanner.rest() {
            [b'<', b'!', b'-', b'-', ..] => {
                // `<!-->` is a whole comment: its dashes count twice.
                let inside = &scanner.rest()[2..];
                scanner.at += memmem::find(inside, b"-->").map_or(scanner.rest().len(), |end| 2 + end + 3);
            }
            [b'<', name @ ..] if is_meta(name) => {
                scanner.at += 5;
                if let Some(encoding) = scanner.meta_charset() {
                    return Some(encoding);
                }
            }
            [b'<', b'/', letter, ..] | [b'<', letter, ..] if letter.is_ascii_alphabetic() => {
                let end = scanner.rest().iter().position(|byte| byte.is_ascii_whitespace() || *byte == b'>');
                scanner.at += end.unwrap_or(scanner.rest().len());
                while scanner.attribute().is_some() {}
            }
            [b'<', b'!' | b'/' | b'?', ..] => {
                scanner.at += memchr(b'>', scanner.rest()).map_or(scanner.rest().len(), |end| end + 1);
            }
            _ => scanner.at += 1,
        }
    }
    None
}

/// Whether a tag's inside starts with the name `meta` and ends the name there.
fn is_meta(name: &[u8]) -> bool {
    name.len() > 4 && name[..4].eq_ignore_ascii_case(b"meta") && (name[4].is_ascii_whitespace() || name[4] == b'/')
}

/// The charset of an XML declaration at the very start.
pub(super) fn xml(head: &[u8]) -> Option<&'static Encoding> {
    let declaration = head.strip_prefix(b"<?xml")?;
    let declaration = &declaration[..memchr(b'>', declaration)?];
    let value = &declaration[memmem::find(declaration, b"encoding")? + 8..];
    let value = value.trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let (quote, value) = value.split_first().filter(|(quote, _)| matches!(quote, b'"' | b'\''))?;
    let label = &value[..memchr(*quote, value)?];
    Some(readable(Encoding::for_label_no_replacement(label)?))
}

/// UTF-16, if an XML declaration is written in it without a byte order mark.
pub(super) fn xml_utf16(head: &[u8]) -> Option<&'static Encoding> {
    match head {
        [b'<', 0, b'?', 0, b'x', 0, ..] => Some(UTF_16LE),
        [0, b'<', 0, b'?', 0, b'x', ..] => Some(UTF_16BE),
        _ => None,
    }
}

/// What a declaration that could be read byte by byte can mean: not UTF-16, for one.
fn readable(encoding: &'static Encoding) -> &'static Encoding {
    match encoding {
        wide if wide == UTF_16LE || wide == UTF_16BE => UTF_8,
        user_defined if user_defined == X_USER_DEFINED => WINDOWS_1252,
        other => other,
    }
}

/// Where the prescan is.
struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Scanner<'a> {
    fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn skip(&mut self, skipped: impl Fn(u8) -> bool) {
        self.at += self.rest().iter().position(|&byte| !skipped(byte)).unwrap_or(self.rest().len());
    }

    /// The charset that the attributes of one `<meta>` declare.
    fn meta_charset(&mut self) -> Option<&'static Encoding> {
        let (mut charset, mut content, mut is_content_type) = (None, None, None);
        // Of attributes with one name the first counts.
        while let Some((name, value)) = self.attribute() {
            if name.eq_ignore_ascii_case(b"charset") {
                charset.get_or_insert(value);
            } else if name.eq_ignore_ascii_case(b"content") {
                content.get_or_insert(value);
            } else if name.eq_ignore_ascii_case(b"http-equiv") {
                is_content_type.get_or_insert(value.eq_ignore_ascii_case(b"content-type"));
            }
        }
        let label = match charset {
            Some(label) => label,
            None if is_content_type == Some(true) => charset_label(content?)?,
            None => return None,
        };
        Encoding::for_label_no_replacement(label).map(readable)
    }

    /// The next attribute of the tag that the scanner is in; `None`, behind its `>`, when there are no more.
    fn attribute(&mut self) -> Option<(&'a [u8], &'a [u8])> {
        self.skip(|byte| byte.is_ascii_whitespace() || byte == b'/');
        if self.peek()? == b'>' {
            self.at += 1;
            return None;
        }
        let name = self.at;
        // A name may begin with `=`, and that one starts no value.
        self.at += 1;
        self.skip(|byte| !(byte.is_ascii_whitespace() || matches!(byte, b'=' | b'/' | b'>')));
        let name = &self.bytes[name..self.at];
        self.skip(|byte| byte.is_ascii_whitespace());
        if self.peek() != Some(b'=') {
            return Some((name, &[]));
        }
        self.at += 1;
        self.skip(|byte| byte.is_ascii_whitespace());
        match self.peek()? {
            quote @ (b'"' | b'\'') => {
                self.at += 1;
                let Some(len) = memchr(quote, self.rest()) else {
                    // What is cut off declares nothing.
                    self.at = self.bytes.len();
                    return None;
                };
                let value = &self.rest()[..len];
                self.at += len + 1;
                Some((name, value))
            }
            _ => {
                let value = self.at;
                self.skip(|byte| !(byte.is_ascii_whitespace() || byte == b'>'));
                Some((name, &self.bytes[value..self.at]))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn name(encoding: Option<&'static Encoding>) -> &'static str {
        encoding.map_or("none", Encoding::name)
    }

    #[test]
    fn a_meta_is_read_as_in_a_browser() {
        for (head, charset) in [
            ("<meta charset=koi8-r>", "KOI8-R"),
            ("<META CHARSET = \" koi8-r \" />", "KOI8-R"),
            ("<meta/charset='koi8-r'>", "KOI8-R"),
            ("<meta name=x content=y charset=koi8-r>", "KOI8-R"),
            ("<meta http-equiv=Content-Type content='text/html; charset=koi8-r'>", "KOI8-R"),
            ("<meta content=\"text/html; charset='koi8-r'\" http-equiv=\"content-type\">", "KOI8-R"),
            ("<meta content='charset charset = koi8-r;x' http-equiv=content-type>", "KOI8-R"),
            ("<meta content='text/html; charset=koi8-r'>", "none"),
            ("<meta http-equiv=refresh content='text/html; charset=koi8-r'>", "none"),
            ("<meta http-equiv=content-type content='text/html'>", "none"),
            // Of two attributes the first counts, and `charset` wins over `content`.
            ("<meta charset=koi8-r charset=euc-jp>", "KOI8-R"),
            ("<meta http-equiv=content-type content='charset=euc-jp' charset=koi8-r>", "KOI8-R"),
            // What cannot be what is written.
            ("<meta charset=utf-16>", "UTF-8"),
            ("<meta charset=utf-16be>", "UTF-8"),
            ("<meta charset=x-user-defined>", "windows-1252"),
            ("<meta charset=unheard-of><meta charset=koi8-r>", "KOI8-R"),
            ("<meta charset=replacement><meta charset=koi8-r>", "KOI8-R"),
            // What is no meta.
            ("<!-- <meta charset=euc-jp> --><meta charset=koi8-r>", "KOI8-R"),
            ("<!--><meta charset=koi8-r>-->", "KOI8-R"),
            ("<!-- <meta charset=koi8-r>", "none"),
            ("<a title='<meta charset=euc-jp>'><meta charset=koi8-r>", "KOI8-R"),
            ("</a title='<meta charset=euc-jp>'><meta charset=koi8-r>", "KOI8-R"),
            ("<!doctype html '><meta charset=koi8-r>", "KOI8-R"),
            ("<?php '<meta charset=euc-jp' ?><meta charset=koi8-r>", "KOI8-R"),
            ("<metadata charset=euc-jp>", "none"),
            ("<meta>charset=koi8-r", "none"),
            ("a < b <meta charset=koi8-r>", "KOI8-R"),
            ("<p =charset=koi8-r><meta =x charset=koi8-r>", "KOI8-R"),
            // Cut off.
            ("<meta charset='koi8-r", "none"),
            ("<meta charset=", "none"),
            ("<meta", "none"),
            ("<", "none"),
            ("", "none"),
        ] {
            assert_eq!(name(meta(head.as_bytes())), charset, "{head}");
        }
    }

    #[test]
    fn an_xml_declaration_stands_first() {
        for (head, charset) in [
            ("<?xml version=\"1.0\" encoding=\"EUC-JP\"?>", "EUC-JP"),
            ("<?xml encoding = 'utf-16'?>", "UTF-8"),
            ("<?xml version='1.0'?><p encoding='euc-jp'>", "none"),
            ("<?xml encoding=euc-jp?>", "none"),
            ("<?xml encoding='euc-jp?>", "none"),
            ("<?xml encoding='euc-jp'", "none"),
            ("x<?xml encoding='euc-jp'?>", "none"),
        ] {
            assert_eq!(name(xml(head.as_bytes())), charset, "{head}");
        }
        assert_eq!(name(xml_utf16(b"<\0?\0x\0m\0")), "UTF-16LE");
        assert_eq!(name(xml_utf16(b"\0<\0?\0x\0m")), "UTF-16BE");
    }

    #[test]
    fn a_label_is_found_among_rubbish() {
        for (value, label) in [
            ("text/html; charset=utf-8", Some("utf-8")),
            ("charset=\"utf-8\"s", Some("utf-8")),
            ("text/html;charset = utf-8;x=y", Some("utf-8")),
            ("text/html; charset='utf-8", Some("utf-8")),
            ("charset utf-8; charset=koi8-r", Some("koi8-r")),
            ("text/html; charset=", None),
            ("text/html; charset=\"\"", None),
            ("text/html", None),
            ("[charse<!doctype html>", None),
        ] {
            assert_eq!(charset_label(value.as_bytes()), label.map(str::as_bytes), "{value}");
        }
    }

    proptest! {
        /// What surrounds a declaration, without `<` in it, can't hide it.
        #[test]
        fn a_declaration_is_found(before in "[^<]{0,50}", other in "[a-bd-z]{1,8}=[a-z0-9]{1,8}", after in ".{0,50}") {
            let head = format!("{before}<meta {other} charset=koi8-r>{after}");
            prop_assert_eq!(name(meta(head.as_bytes())), "KOI8-R");
        }
    }
}
