//! Outgoing links: as written while the page is read, absolute and normalised when asked for.
//!
//! A link is compared with the URLs of other documents ("does A link to B"), so that both must be written alike: as the
//! WHATWG's URL standard writes them, without the fragment. Most hrefs have one of few plain shapes and are joined
//! in one buffer ([`resolver`]); the `url` crate does the others, and is the oracle for all. Which of them name one page is
//! told by their [`Location`].
//!
//! # Invariants
//! - A resolved link is what the `url` crate makes of it. (`links_resolve_as_the_url_crate_does`,
//!   `real_hrefs_resolve_as_the_url_crate_does`)
//! - What is resolved is http or https, has no fragment, and resolves to itself. (`resolved_links_are_normal`)
//! - [`Links::resolve_distinct`] leaves out no link. (`distinct_links_are_those_of_all_anchors`)
//! - Neither a base nor an href beyond [`URL_BYTES_MAX`] is followed. (`urls_are_bounded`)

mod location;
mod resolver;

pub use location::Location;

use super::Span;
use memchr::memchr2;
use resolver::Resolver;
use url::Url;
use xxhash_rust::xxh3::xxh3_64;

/// Longer URLs are taken for rubbish: the sitemap protocol allows 2,048, and a long base would be copied for each link.
pub const URL_BYTES_MAX: usize = 2048;

/// Hrefs that [`Links::resolve_distinct`] remembers at a time.
const DISTINCT: usize = 256;

/// The links of a document. The hrefs lie end to end in one buffer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Links {
    /// `<base href>`, as written.
    pub base: Option<String>,
    /// `<link rel=canonical href>`, as written.
    pub canonical: Option<String>,
    /// The hrefs, entities decoded, end to end.
    pub hrefs: String,
    /// The links, in document order.
    pub anchors: Vec<Anchor>,
}

/// One `<a href>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Anchor {
    /// Where its href lies in [`Links::hrefs`].
    pub href: Span,
    /// The visible text inside it.
    pub text: Span,
    /// Whether its rel says `nofollow`, `ugc` or `sponsored`.
    pub nofollow: bool,
}

impl Links {
    /// Forgets all, keeps the memory.
    pub fn clear(&mut self) {
        self.base = None;
        self.canonical = None;
        self.hrefs.clear();
        self.anchors.clear();
    }

    /// Calls `with` for every link that leads to a web page, absolute and normalised (fragment dropped), in order.
    /// `url` is the page's own. Without that and a `<base>`, relative links lead nowhere.
    pub fn resolve(&self, url: Option<&str>, mut with: impl FnMut(&Anchor, &str)) {
        if self.anchors.is_empty() {
            return;
        }
        let mut resolver = Resolver::new(self.base_url(url));
        for anchor in &self.anchors {
            if let Some(link) = resolver.resolve(&self.hrefs[anchor.href.range()]) {
                with(anchor, link);
            }
        }
    }

    /// The same for those who ask which links there are: most that lead where one before them leads are passed over,
    /// those that are written alike but for the fragment. Menus and tables of contents are full of them.
    pub fn resolve_distinct(&self, url: Option<&str>, mut with: impl FnMut(&str)) {
        if self.anchors.is_empty() {
            return;
        }
        let mut resolver = Resolver::new(self.base_url(url));
        let mut before: [Option<&str>; DISTINCT] = [None; DISTINCT];
        for anchor in &self.anchors {
            let href = &self.hrefs[anchor.href.range()];
            let bare = memchr::memchr(b'#', href.as_bytes()).map_or(href, |fragment| &href[..fragment]);
            let last = &mut before[xxh3_64(bare.as_bytes()) as usize % DISTINCT];
            // White space before a fragment belongs to the link, and at the end of an href it does not; and one that is
            // too long by its fragment leads nowhere.
            let is_plain = href.len() <= URL_BYTES_MAX && !bare.ends_with(|c| c <= ' ');
            if is_plain && *last == Some(bare) {
                continue;
            }
            if is_plain {
                *last = Some(bare);
            }
            resolver.resolve(href).into_iter().for_each(&mut with);
        }
    }

    /// The page's own word on where its original is, absolute and normalised.
    pub fn canonical_url(&self, url: Option<&str>) -> Option<String> {
        let canonical = self.canonical.as_deref()?;
        Resolver::new(self.base_url(url)).resolve(canonical).map(str::to_owned)
    }

    /// What relative links are relative to: `<base>`, itself relative to the page's own `url`, or else that.
    fn base_url(&self, url: Option<&str>) -> Option<Url> {
        let page = url.and_then(parsed);
        let base = self.base.as_deref().filter(|base| base.len() <= URL_BYTES_MAX).and_then(|base| {
            // A page can't take its base away from the web (`<base href="data:,">`).
            Url::options().base_url(page.as_ref()).parse(base).ok().filter(is_web)
        });
        base.or(page).filter(|base| base.as_str().len() <= URL_BYTES_MAX)
    }
}

/// The URL as the links of other pages write it, without the fragment; `None` for what is no absolute URL, or too long.
pub fn normalised(url: &str) -> Option<String> {
    parsed(url).map(String::from)
}

/// The host in a normalised URL.
pub fn host(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    let (host, _) = host_and_port(&rest[..rest.find(['/', '?', '#']).unwrap_or(rest.len())]);
    (!host.is_empty()).then_some(host)
}

/// The host in what stands between `//` and the path, and the port, if there is one.
fn host_and_port(authority: &str) -> (&str, &str) {
    if memchr2(b'@', b':', authority.as_bytes()).is_none() {
        return (authority, "");
    }
    let server = authority.rsplit_once('@').map_or(authority, |(_, server)| server);
    // The colons of an IPv6 address stand in brackets.
    let port = server.rsplit_once(':').filter(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
    port.unwrap_or((server, ""))
}

fn parsed(url: &str) -> Option<Url> {
    let mut url = Url::parse(Some(url).filter(|url| url.len() <= URL_BYTES_MAX)?).ok()?;
    url.set_fragment(None);
    (url.as_str().len() <= URL_BYTES_MAX).then_some(url)
}

fn is_web(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn links(base: Option<&str>, hrefs: &[&str]) -> Links {
        let mut links = Links { base: base.map(str::to_owned), ..Links::default() };
        for href in hrefs {
            let start = links.hrefs.len();
            links.hrefs.push_str(href);
            let href = Span::new(start, links.hrefs.len());
            links.anchors.push(Anchor { href, text: Span::default(), nofollow: false });
        }
        links
    }

    fn resolved(links: &Links, url: Option<&str>) -> Vec<String> {
        let mut resolved = Vec::new();
        links.resolve(url, |_, link| resolved.push(link.to_owned()));
        resolved
    }

    #[test]
    fn distinct_links_are_those_of_all_anchors() {
        let hrefs: Vec<String> = (0..2000)
            .map(|number| match number % 7 {
                0 => format!("#section-{number}"),
                1 => format!("page-{}.html#{number}", number % 50),
                2 => format!("/a/{number}"),
                3 => " ../up ".to_owned(),
                4 => format!("https://b.example/?q={}#x", number % 300),
                5 if number % 2 == 0 => "javascript:void(0)".to_owned(),
                5 => ["a b ", "a b #x", "a b", "c#", &"d#".repeat(1100), "d"][number % 6].to_owned(),
                _ => format!("/ä/{}", number % 3),
            })
            .collect();
        let links = links(None, &hrefs.iter().map(String::as_str).collect::<Vec<_>>());
        let page = Some("http://a.example/folder/x");
        let all: BTreeSet<String> = resolved(&links, page).into_iter().collect();
        let mut n_called = 0;
        let mut distinct = BTreeSet::new();
        links.resolve_distinct(page, |link| {
            n_called += 1;
            distinct.insert(link.to_owned());
        });
        assert_eq!(distinct, all);
        assert!((all.len()..1300).contains(&n_called), "{n_called} for {}", all.len());
    }

    #[test]
    fn links_are_relative_to_the_base() {
        let page = Some("http://Example.com:80/a/b.html#f");
        for (base, url, link) in [
            (None, page, Some("http://example.com/a/x")),
            (Some("/c/"), page, Some("http://example.com/c/x")),
            (Some("d/e"), page, Some("http://example.com/a/d/x")),
            (Some("//other.example/f/"), page, Some("http://other.example/f/x")),
            (Some("https://other.example"), None, Some("https://other.example/x")),
            (Some("data:,"), page, Some("http://example.com/a/x")),
            (Some("http://[broken"), page, Some("http://example.com/a/x")),
            (Some("/c/"), None, None),
            (None, None, None),
            (None, Some("no url"), None),
            (None, Some("file:///a/b.html"), None),
        ] {
            let links = links(base, &["x", "https://Absolute.example", "mailto:x@y.example"]);
            let expected: Vec<_> = link.into_iter().chain(["https://absolute.example/"]).collect();
            assert_eq!(resolved(&links, url), expected, "{base:?} {url:?}");
        }
    }

    #[test]
    fn links_come_in_order_with_their_anchors() {
        let links = links(None, &["http://b.example/", "tel:1", "#x", "http://a.example/"]);
        let mut met = Vec::new();
        links.resolve(Some("http://c.example/"), |anchor, link| met.push((anchor.href.start, link.to_owned())));
        let expected = [(0, "http://b.example/"), (22, "http://c.example/"), (24, "http://a.example/")];
        assert_eq!(met, expected.map(|(start, link)| (start, link.to_owned())));
    }

    #[test]
    fn the_canonical_url_is_absolute() {
        let mut links = links(Some("http://b.example/x/"), &[]);
        assert_eq!(links.canonical_url(Some("http://a.example/")), None);
        links.canonical = Some("y#z".to_owned());
        assert_eq!(links.canonical_url(Some("http://a.example/")).as_deref(), Some("http://b.example/x/y"));
        links.canonical = Some("urn:x".to_owned());
        assert_eq!(links.canonical_url(Some("http://a.example/")), None);
    }

    #[test]
    fn urls_are_bounded() {
        let long = format!("http://a.example/{}/", "x".repeat(URL_BYTES_MAX));
        assert_eq!(normalised(&long), None);
        assert!(resolved(&links(None, &["y"]), Some(&long)).is_empty());
        assert_eq!(resolved(&links(Some(&long), &["y", &long]), Some("http://b.example/")), ["http://b.example/y"]);
        // Short as written, long as normalised.
        let encoded = format!("http://a.example/{}", "é".repeat(URL_BYTES_MAX / 3));
        assert_eq!(normalised(&encoded), None);
    }

    #[test]
    fn a_url_is_normalised() {
        for (url, normal) in [
            ("HTTP://Example.COM:80", Some("http://example.com/")),
            ("https://example.com:443/a/../b?c#d", Some("https://example.com/b?c")),
            ("http://bücher.example/ä b", Some("http://xn--bcher-kva.example/%C3%A4%20b")),
            ("file:///a/b.html#c", Some("file:///a/b.html")),
            ("example.com/a", None),
            ("", None),
        ] {
            assert_eq!(normalised(url).as_deref(), normal, "{url}");
        }
    }

    #[test]
    fn the_host_of_a_normalised_url() {
        for (url, expected) in [
            ("http://example.com/", Some("example.com")),
            ("https://user:pw@example.com:8080/a:1@b", Some("example.com")),
            ("http://[::1]:81/x", Some("[::1]")),
            ("http://[::1]/x", Some("[::1]")),
            ("http://127.0.0.1/", Some("127.0.0.1")),
            ("http://example.com./?@x", Some("example.com.")),
            ("mailto:x@y.example", None),
            ("file:///a", None),
            ("", None),
        ] {
            assert_eq!(host(url), expected, "{url}");
            assert_eq!(Url::parse(url).ok().as_ref().and_then(Url::host_str), expected, "the url crate on {url}");
        }
    }
}
