//! Joins hrefs to a base: the plain shapes in one buffer, the others by the `url` crate.

use super::{URL_BYTES_MAX, is_web};
use memchr::memchr;
use url::Url;

/// Joins hrefs to one base.
pub(super) struct Resolver {
    /// The base, for hrefs of unusual shape.
    url: Option<Url>,
    /// The base, where it is a web page's.
    base: Option<Base>,
    /// The last link.
    link: String,
}

/// A normalised URL of a web page, and where its parts end.
struct Base {
    text: String,
    scheme_end: usize,
    authority_end: usize,
    /// Behind the last `/` of the path.
    folder_end: usize,
    path_end: usize,
}

/// How a shape was dealt with.
#[derive(Debug, PartialEq, Eq)]
enum Joined {
    /// The link is in the buffer.
    Link,
    /// The href leads to no web page.
    Nowhere,
    /// The shape is not known here.
    Unusual,
}

/// What bytes of a path or query need: bits.
type Needs = u8;
/// To be percent-encoded.
const ENCODING: Needs = 1;
/// The `url` crate.
const THOUGHT: Needs = 2;
/// A look at what a `%` encodes: that can be a dot.
const DECODING: Needs = 4;

static PATH_NEEDS: [Needs; 256] = needs(b" \"<>`{}");
static QUERY_NEEDS: [Needs; 256] = needs(b" \"<>'");

/// Bytes beyond ASCII and those in `encoded` are encoded; the others of ASCII stand for themselves, but for those that
/// the URL standard drops, turns, or has changed its mind about.
const fn needs(encoded: &[u8]) -> [Needs; 256] {
    let mut needs = [ENCODING; 256];
    let mut byte = 0;
    while byte < 128 {
        needs[byte] = match byte as u8 {
            ..0x20 | b'\\' | b'^' | b'|' | b'#' | 0x7F => THOUGHT,
            b'%' => DECODING,
            _ => 0,
        };
        byte += 1;
    }
    let mut index = 0;
    while index < encoded.len() {
        needs[encoded[index] as usize] = ENCODING;
        index += 1;
    }
    needs
}

impl Resolver {
    pub(super) fn new(url: Option<Url>) -> Self {
        let base = url.as_ref().filter(|url| is_web(url)).and_then(Base::of);
        Self { url, base, link: String::new() }
    }

    /// The web page that `href` leads to.
    pub(super) fn resolve(&mut self, href: &str) -> Option<&str> {
        if href.len() > URL_BYTES_MAX {
            return None;
        }
        match self.join(href) {
            Joined::Link => Some(&self.link),
            Joined::Nowhere => None,
            Joined::Unusual => {
                let mut url = Url::options().base_url(self.url.as_ref()).parse(href).ok().filter(is_web)?;
                url.set_fragment(None);
                self.link = url.into();
                Some(&self.link)
            }
        }
    }

    /// Puts the link into the buffer, if the shape of `href` is a known one.
    fn join(&mut self, href: &str) -> Joined {
        let href = trimmed(href);
        let href = memchr(b'#', href.as_bytes()).map_or(href, |fragment| &href[..fragment]);
        self.link.clear();
        if let Some(colon) = scheme(href) {
            let (scheme, rest) = (&href[..colon], &href[colon + 1..]);
            let is_https = scheme.eq_ignore_ascii_case("https");
            if !is_https && !scheme.eq_ignore_ascii_case("http") {
                return Joined::Nowhere;
            }
            let Some(rest) = rest.strip_prefix("//") else { return Joined::Unusual };
            self.link.push_str(if is_https { "https:" } else { "http:" });
            return self.join_authority(rest);
        }
        let Some(base) = &self.base else {
            // Tabs and line ends could hide a scheme.
            return if self.url.is_none() && href.bytes().all(|byte| byte > b' ') {
                Joined::Nowhere
            } else {
                Joined::Unusual
            };
        };
        match href.as_bytes() {
            [] => {
                self.link.push_str(&base.text);
                Joined::Link
            }
            [b'/', b'/', ..] => {
                self.link.push_str(&base.text[..base.scheme_end]);
                self.join_authority(&href[2..])
            }
            [b'/', ..] => {
                self.link.push_str(&base.text[..base.authority_end]);
                self.join_path(base.authority_end, href)
            }
            [b'?', ..] => {
                self.link.push_str(&base.text[..base.path_end]);
                self.join_query(href)
            }
            _ => {
                let authority_end = base.authority_end;
                self.link.push_str(&base.text[..base.folder_end]);
                self.join_path(authority_end, href)
            }
        }
    }

    /// Adds `//`, a plain host name, and what follows it.
    fn join_authority(&mut self, rest: &str) -> Joined {
        let host_end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (host, rest) = rest.split_at(host_end);
        if !is_plain_host(host.as_bytes()) {
            return Joined::Unusual;
        }
        self.link.push_str("//");
        let start = self.link.len();
        self.link.push_str(host);
        self.link[start..].make_ascii_lowercase();
        let authority_end = self.link.len();
        if !rest.starts_with('/') {
            self.link.push('/');
        }
        self.join_path(authority_end, rest)
    }

    /// Adds a path, absolute or relative to the folder in the buffer, and a query. The path starts at `path_start`.
    fn join_path(&mut self, path_start: usize, rest: &str) -> Joined {
        let (path, query) = rest.split_at(memchr(b'?', rest.as_bytes()).unwrap_or(rest.len()));
        let (mut needs, mut before, mut has_dots) = (0, b'/', false);
        for byte in path.bytes() {
            needs |= PATH_NEEDS[usize::from(byte)];
            has_dots |= before == b'/' && byte == b'.';
            before = byte;
        }
        if needs & THOUGHT != 0 || needs & DECODING != 0 && encodes_dot(path) {
            return Joined::Unusual;
        }
        if !has_dots {
            self.push(path, needs, &PATH_NEEDS);
            return self.join_query(query);
        }
        // What `..` removes is another matter where segments are empty, or look like drives (`/c:/../`).
        let is_odd = |path: &str| path.contains("//") || path.contains([':', '|']);
        if is_odd(path) || is_odd(&self.link[path_start..]) {
            return Joined::Unusual;
        }
        let mut segments = path;
        if let Some(rest) = path.strip_prefix('/') {
            self.link.push('/');
            segments = rest;
        }
        self.join_segments(path_start, segments, needs);
        self.join_query(query)
    }

    /// Adds segments, with `.` and `..` resolved, to a path that ends with `/`.
    fn join_segments(&mut self, path_start: usize, mut segments: &str, needs: Needs) {
        loop {
            let slash = memchr(b'/', segments.as_bytes());
            match &segments[..slash.unwrap_or(segments.len())] {
                "." => {}
                ".." => {
                    let folder = &self.link[path_start..self.link.len() - 1];
                    self.link.truncate(path_start + folder.rfind('/').unwrap_or(0) + 1);
                }
                segment => {
                    self.push(segment, needs, &PATH_NEEDS);
                    if slash.is_some() {
                        self.link.push('/');
                    }
                }
            }
            let Some(slash) = slash else { break };
            segments = &segments[slash + 1..];
        }
    }

    /// Adds a query with its `?`, if there is one.
    fn join_query(&mut self, query: &str) -> Joined {
        let needs = query.bytes().fold(0, |needs, byte| needs | QUERY_NEEDS[usize::from(byte)]);
        if needs & THOUGHT != 0 {
            return Joined::Unusual;
        }
        self.push(query, needs, &QUERY_NEEDS);
        Joined::Link
    }

    fn push(&mut self, text: &str, needs: Needs, table: &[Needs; 256]) {
        const HEX: [char; 16] = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F'];
        if needs & ENCODING == 0 {
            return self.link.push_str(text);
        }
        for byte in text.bytes() {
            if table[usize::from(byte)] & ENCODING == 0 {
                self.link.push(char::from(byte));
            } else {
                self.link.extend(['%', HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
            }
        }
    }
}

impl Base {
    fn of(url: &Url) -> Option<Self> {
        let scheme_end = url.scheme().len() + 1;
        let path_len = url.path().len();
        let text = url[..url::Position::AfterQuery].to_owned();
        let authority_end = scheme_end + 2 + text[scheme_end + 2..].find('/')?;
        let path_end = authority_end + path_len;
        let folder_end = authority_end + text[authority_end..path_end].rfind('/')? + 1;
        Some(Self { text, scheme_end, authority_end, folder_end, path_end })
    }
}

/// Without the spaces and controls around it.
fn trimmed(href: &str) -> &str {
    match href.as_bytes() {
        [..=b' ', ..] | [.., ..=b' '] => href.trim_matches(|c| c <= ' '),
        _ => href,
    }
}

/// Where the scheme of `href` ends, if it has one: at its colon.
fn scheme(href: &str) -> Option<usize> {
    let bytes = href.as_bytes();
    let end = bytes.iter().position(|byte| !(byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.')))?;
    (bytes[end] == b':' && bytes[0].is_ascii_alphabetic()).then_some(end)
}

/// Whether a dot is percent-encoded.
fn encodes_dot(path: &str) -> bool {
    path.as_bytes().windows(3).any(|window| window.eq_ignore_ascii_case(b"%2e"))
}

/// Whether a host is a name that stands for itself in lower case: neither an address, nor a port or a password beside
/// it, nor anything that IDNA changes or checks (`xn--`).
fn is_plain_host(host: &[u8]) -> bool {
    let (mut label_start, mut before) = (0, 0);
    for (index, &byte) in host.iter().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => {}
            b'-' if before != b'-' => {}
            b'.' if index != label_start => label_start = index + 1,
            _ => return false,
        }
        before = byte;
    }
    // An address ends with a number.
    host.get(label_start).is_some_and(u8::is_ascii_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Read;
    use std::path::Path;

    /// The link, by the `url` crate alone.
    fn by_url(base: Option<&Url>, href: &str) -> Option<String> {
        let mut url = Url::options().base_url(base).parse(href).ok().filter(is_web)?;
        url.set_fragment(None);
        Some(url.into())
    }

    const BASES: [&str; 9] = [
        "http://example.com/",
        "https://example.com/a/b/c.html?q=1#f",
        "https://user:pw@example.com:8080/a//b/../c/",
        "http://[::1]/x/y",
        "http://127.0.0.1:81/x/y?",
        "http://example.com?x/y",
        "ftp://example.com/a/b",
        "file:///C:/a/b.html",
        "mailto:a@b.example",
    ];

    fn href() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            6 => "[a-z0-9._-]{1,8}",
            4 => Just("/".to_owned()),
            2 => prop::sample::select(vec!["..", ".", "../", "./", "/..", "/.", "//", "/../", "/c:/../", "/c|/..", "%2e", "%2E%2e", ".%2e", "%20"])
                .prop_map(str::to_owned),
            1 => prop::sample::select(vec!["?", "#", "?a=b", "#x", ":", "@", ":80", ":443", ":8080", "\\", "\t", "\n", " "])
                .prop_map(str::to_owned),
            1 => prop::sample::select(vec!["http:", "https:", "HTTP://", "https://", "http:/", "//", "javascript:", "mailto:"])
                .prop_map(str::to_owned),
            1 => prop::sample::select(vec!["www.Example.com", "xn--", "xn--p1ai", "1.2.3.4", "0x7f", "a.1", "a.b.", "é", "я"])
                .prop_map(str::to_owned),
            1 => "[ -~]{1,4}",
            1 => "\\PC{1,3}",
            1 => any::<char>().prop_map(String::from),
        ];
        (
            prop::sample::select(vec!["", "", "", "/", "//", "http://", "https://", "?", "../"]),
            prop::collection::vec(piece, 0..8),
        )
            .prop_map(|(start, pieces)| format!("{start}{}", pieces.concat()))
    }

    #[test]
    fn a_plain_shape_needs_no_help() {
        let mut resolver = Resolver::new(Some(Url::parse("https://example.com/a/b/c.html?q=1").unwrap()));
        for (href, link) in [
            ("", "https://example.com/a/b/c.html?q=1"),
            ("#top", "https://example.com/a/b/c.html?q=1"),
            ("?x=y&z", "https://example.com/a/b/c.html?x=y&z"),
            ("d.html#top", "https://example.com/a/b/d.html"),
            (" ./d/e.html ", "https://example.com/a/b/d/e.html"),
            ("../d.html?x=/../y", "https://example.com/a/d.html?x=/../y"),
            ("../../../../d/.", "https://example.com/d/"),
            ("..", "https://example.com/a/"),
            ("/d/./e/../f", "https://example.com/d/f"),
            ("/.well-known/x", "https://example.com/.well-known/x"),
            ("/", "https://example.com/"),
            ("//Other.Example", "https://other.example/"),
            ("HTTP://Other.Example?x", "http://other.example/?x"),
            ("http://other.example/a b/é\"?c d='é'", "http://other.example/a%20b/%C3%A9%22?c%20d=%27%C3%A9%27"),
        ] {
            assert_eq!(resolver.join(href), Joined::Link, "{href}");
            assert_eq!(resolver.link, link, "{href}");
        }
        for href in ["mailto:x@y.example", "javascript:void(0)", "tel:1", "data:,x", "about:blank", "ftp://x.example/"]
        {
            assert_eq!(resolver.join(href), Joined::Nowhere, "{href}");
        }
        for href in
            ["http:x", "http:///x", "//a_b.example", "http://h:80/", "http://1.2.3.4/", "\\x", "a\tb", "/%2E%2e/"]
        {
            assert_eq!(resolver.join(href), Joined::Unusual, "{href}");
        }
    }

    #[test]
    fn real_hrefs_resolve_as_the_url_crate_does() {
        let root = std::env::var_os("SEAMRIPPER_DATA").unwrap_or_else(|| "../shared/data".into());
        for set in ["html_web", "html_generators"] {
            let Ok(packed) = std::fs::File::open(Path::new(&root).join(set).join("pages.jsonl.zst")) else {
                println!("{set}: not there, only made-up hrefs are checked");
                continue;
            };
            let mut unpacked = zstd::Decoder::new(packed).unwrap();
            unpacked.window_log_max(27).unwrap();
            let mut lines = Vec::new();
            unpacked.take(8_000_000).read_to_end(&mut lines).unwrap();
            let (mut n_links, mut n_unusual) = (0, 0);
            for line in lines.split(|&byte| byte == b'\n') {
                let Ok(page) = serde_json::from_slice::<serde_json::Value>(line) else { continue };
                let base = page["url"].as_str().and_then(|url| Url::parse(url).ok());
                let mut resolver = Resolver::new(base.clone());
                for tail in page["html"].as_str().unwrap().split("href=").skip(1) {
                    let Some(href) = tail.strip_prefix(['"', '\'']).and_then(|href| href.split(['"', '\'']).next())
                    else {
                        continue;
                    };
                    n_unusual += usize::from(resolver.join(href) == Joined::Unusual);
                    n_links += 1;
                    assert_eq!(
                        resolver.resolve(href).map(str::to_owned),
                        by_url(base.as_ref(), href).filter(|_| href.len() <= URL_BYTES_MAX),
                        "{href:?} on {base:?}"
                    );
                }
            }
            println!("{set}: {n_links} links, {n_unusual} of unusual shape");
            assert!(n_links > 10_000, "{set} has links");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]
        #[test]
        fn links_resolve_as_the_url_crate_does(href in href(), base in prop::option::of(prop::sample::select(&BASES[..]))) {
            let base = base.map(|base| Url::parse(base).unwrap());
            let mut resolver = Resolver::new(base.clone());
            prop_assert_eq!(resolver.resolve(&href).map(str::to_owned), by_url(base.as_ref(), &href), "{:?}", base);
        }

        #[test]
        fn resolved_links_are_normal(href in href()) {
            let mut resolver = Resolver::new(Some(Url::parse(BASES[1]).unwrap()));
            if let Some(link) = resolver.resolve(&href).map(str::to_owned) {
                prop_assert!(link.starts_with("http://") || link.starts_with("https://"));
                prop_assert!(!link.contains('#'));
                prop_assert_eq!(by_url(None, &link), Some(link));
            }
        }
    }
}
