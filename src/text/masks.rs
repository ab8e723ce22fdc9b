//! Personal tokens (addresses, URLs, long digit strings, the recipient's name) count as one word each, whatever
//! they say, so that a campaign that greets everybody by name stays one campaign.
//!
//! [`Finder`] looks for `@`, `://`, `www.` and host names, and takes the token around: ASCII letters, digits and the
//! signs that may stand in one, so that a URL ends where Japanese text goes on, without the punctuation at its end. A
//! bare host name is one with a generic top-level domain (`example.com`), or with any other in lower case before a
//! path (`example.de/shop`): a full stop without a space after it is too common to ask for less. Numbers and
//! names are masked where units are written down.
//!
//! # Invariants
//! - Masks are in order and do not overlap, and the search is linear: a token is looked at again only if it is
//!   masked, and then only once. (`masks_are_ordered`, `hostile_masks_take_linear_time`)

use super::words::WordKey;
use crate::document::Span;

/// What a masked token was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mask {
    /// An e-mail address.
    Address,
    /// A URL or host name.
    Url,
    /// A string of many digits.
    Number,
    /// A name of the recipient.
    Name,
}

impl Mask {
    /// The hash of a unit masked as this. No word holds a NUL, so none has it by its letters.
    pub fn hash(self, key: WordKey) -> u64 {
        key.hash(match self {
            Self::Address => b"\0address",
            Self::Url => b"\0url",
            Self::Number => b"\0number",
            Self::Name => b"\0name",
        })
    }
}

/// Top-level domains that make a host name of a word with dots.
const GENERIC: [&str; 14] =
    ["com", "net", "org", "info", "biz", "edu", "gov", "mil", "io", "xyz", "online", "site", "shop", "top"];

/// No part of a host name is longer (RFC 1035).
const LABEL_BYTES_MAX: usize = 63;

/// Finds the addresses and URLs of a text, in order.
pub struct Finder<'a> {
    bytes: &'a [u8],
    signs: memchr::Memchr3<'a>,
    /// The end of the last one: nothing before it is looked at again.
    floor: usize,
}

impl<'a> Finder<'a> {
    /// All of them in `text`.
    pub fn new(text: &'a str) -> Self {
        let bytes = text.as_bytes();
        Self { bytes, signs: memchr::memchr3_iter(b'@', b':', b'.', bytes), floor: 0 }
    }

    /// The token around an `@`.
    fn address(&self, at: usize) -> Option<(usize, usize)> {
        let domain = &self.bytes[at + 1..];
        let mut end = domain.iter().position(|b| !is_host(*b)).unwrap_or(domain.len());
        while end > 0 && !domain[end - 1].is_ascii_alphanumeric() {
            end -= 1;
        }
        let domain = &domain[..end];
        let dot = memchr::memrchr(b'.', domain)?;
        let is_domain = domain[0].is_ascii_alphanumeric() && domain[dot + 1..].len() >= 2;
        let start = self.back(at, |b| b.is_ascii_alphanumeric() || b"._%+-=".contains(&b));
        (is_domain && start < at).then_some((start, at + 1 + end))
    }

    /// The token around a `://`.
    fn url(&self, at: usize) -> Option<(usize, usize)> {
        let start = self.back(at, |b| b.is_ascii_alphabetic());
        if start == at {
            return None;
        }
        let end = self.url_end(at + 3);
        (end > at + 3).then_some((start, end))
    }

    /// The token around the dot of a host name.
    fn host(&self, at: usize) -> Option<(usize, usize)> {
        let &[before, _, after] = self.bytes.get(at.checked_sub(1)?..)?.first_chunk()?;
        if !before.is_ascii_alphanumeric() || !after.is_ascii_alphanumeric() || at == self.floor {
            return None;
        }
        if let Some(start) = at.checked_sub(3)
            && start >= self.floor
            && self.bytes[start..at].eq_ignore_ascii_case(b"www")
            && (start == self.floor || !self.bytes[start - 1].is_ascii_alphanumeric())
        {
            return Some((start, self.url_end(at + 1)));
        }
        let rest = &self.bytes[at + 1..];
        let n_letters = rest.iter().take(LABEL_BYTES_MAX + 1).take_while(|b| b.is_ascii_alphabetic()).count();
        if n_letters > LABEL_BYTES_MAX {
            return None;
        }
        let (label, rest) = rest.split_at(n_letters);
        let (next, after_next) = (rest.first().copied().unwrap_or(b' '), rest.get(1).copied().unwrap_or(b' '));
        let has_path = matches!(next, b'/' | b'?' | b'#') || next == b':' && after_next.is_ascii_digit();
        let ends = match next {
            b'.' => !after_next.is_ascii_alphanumeric(),
            b'@' | b'_' | b'-' | b'\'' => false,
            _ => !next.is_ascii_alphanumeric(),
        };
        let is_generic = || GENERIC.iter().any(|name| label.eq_ignore_ascii_case(name.as_bytes()));
        let is_local =
            || next == b'/' && label.len() >= 2 && label.iter().all(u8::is_ascii_lowercase) && after_next > b' ';
        if !ends || !(is_generic() || is_local()) {
            return None;
        }
        let mut start = self.back(at, is_host);
        while !self.bytes[start].is_ascii_alphanumeric() {
            start += 1;
        }
        let end = at + 1 + label.len();
        Some((start, if has_path { self.url_end(end).max(end) } else { end }))
    }

    /// The first of the bytes before `at` that are all `wanted` and not yet masked.
    fn back(&self, at: usize, wanted: impl Fn(u8) -> bool) -> usize {
        let before = &self.bytes[self.floor..at];
        self.floor + before.iter().rposition(|b| !wanted(*b)).map_or(0, |unwanted| unwanted + 1)
    }

    /// Where the URL that goes on at `from` ends.
    fn url_end(&self, from: usize) -> usize {
        let rest = &self.bytes[from..];
        let end = rest.iter().position(|b| !b.is_ascii_graphic() || b"<>\"{}|\\^`".contains(b)).unwrap_or(rest.len());
        from + rest[..end].iter().rposition(|b| !b".,;:!?'()[]*_~".contains(b)).map_or(0, |last| last + 1)
    }
}

impl Iterator for Finder<'_> {
    type Item = (Mask, Span);

    fn next(&mut self) -> Option<(Mask, Span)> {
        loop {
            let at = self.signs.next()?;
            if at < self.floor {
                continue;
            }
            let (mask, found) = match self.bytes[at] {
                b'@' => (Mask::Address, self.address(at)),
                b':' if self.bytes[at..].starts_with(b"://") => (Mask::Url, self.url(at)),
                b'.' => (Mask::Url, self.host(at)),
                _ => continue,
            };
            if let Some((start, end)) = found {
                self.floor = end;
                return Some((mask, Span::new(start, end)));
            }
        }
    }
}

fn is_host(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'.' || byte == b'-'
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::tests::assert_linear;
    use proptest::prelude::*;

    fn found(text: &str) -> Vec<(Mask, &str)> {
        Finder::new(text).map(|(mask, span)| (mask, &text[span.range()])).collect()
    }

    fn urls(text: &str) -> Vec<&str> {
        found(text).into_iter().filter(|(mask, _)| *mask == Mask::Url).map(|(_, token)| token).collect()
    }

    #[test]
    fn addresses_are_found_with_all_that_belongs_to_them() {
        for (text, expected) in [
            ("write to jane.doe+list@mail.example.org.", Some("jane.doe+list@mail.example.org")),
            ("mailto:a_b@x-y.de?subject=hi", Some("a_b@x-y.de")),
            ("<a@b.co>", Some("a@b.co")),
            ("連絡先info@example.jpまで", Some("info@example.jp")),
            ("a@b", None),
            ("@handle.example.com", None),
            ("a @ b.com", None),
            ("a@.com", None),
        ] {
            let address = found(text).into_iter().find(|(mask, _)| *mask == Mask::Address).map(|(_, token)| token);
            assert_eq!(address, expected, "{text}");
        }
    }

    #[test]
    fn urls_are_found_with_all_that_belongs_to_them() {
        assert_eq!(urls("see https://a.example/x?y=1&z=(2)#f, and"), ["https://a.example/x?y=1&z=(2)#f"]);
        assert_eq!(urls("(http://a.example/)."), ["http://a.example/"]);
        assert_eq!(urls("WWW.Example.de is"), ["WWW.Example.de"]);
        assert_eq!(urls("visit my-shop.com today"), ["my-shop.com"]);
        assert_eq!(urls("visit shop.de/sale?x=1. Now"), ["shop.de/sale?x=1"]);
        assert_eq!(urls("http://例え.jp"), Vec::<&str>::new());
        assert_eq!(urls("http://example.jp/をご覧"), ["http://example.jp/"]);
        assert_eq!(urls("example.com:8080/x"), ["example.com:8080/x"]);
        assert_eq!(urls("sub.example.co.uk/x and example.com."), ["sub.example.co.uk/x", "example.com"]);
    }

    #[test]
    fn words_with_dots_and_colons_are_no_urls() {
        for text in [
            "e.g. this",
            "the end.It was",
            "U.S.",
            "3.14",
            "and/or",
            "a:b",
            "note: x",
            "Mr.Smith/Jones",
            "a.b",
            "www.",
            "x.company",
        ] {
            assert_eq!(found(text), [], "{text}");
        }
    }

    proptest! {
        #[test]
        fn masks_are_ordered(text in "([a-c]|[.:/@-]|www\\.|com|http://|é| ){0,40}") {
            let spans: Vec<Span> = Finder::new(&text).map(|(_, span)| span).collect();
            prop_assert!(spans.iter().all(|span| !span.is_empty() && text.get(span.range()).is_some()));
            prop_assert!(spans.windows(2).all(|pair| pair[0].end <= pair[1].start));
        }
    }

    #[test]
    fn hostile_masks_take_linear_time() {
        for piece in ["@", ".", ":", "a@", "a.", "a.com", "a.com.", "http://", "://", "www.", "a@b.", "-", "x-y.com-"] {
            assert_linear(piece, |text| assert!(Finder::new(text).count() <= text.len()));
        }
    }
}
