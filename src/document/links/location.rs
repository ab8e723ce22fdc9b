//! Where a page is: what names it, in whichever of its ways its URL is written.
//!
//! Whoever links to a page writes its address as he found it: with the other scheme, with or without `www`, with the mark of the
//! letter or the feed that he came from. An article that six others quote and link to was a quilt of them where they wrote
//! `https` and it was crawled as `http`. So links and URLs are compared by their locations, and so are the addresses of two pages of one
//! site.
//!
//! # Invariants
//! - Scheme, `www`, a usual port, the ending of a page's file, an index, slashes, sessions and campaigns name no page, nor does the order
//!   of parameters. (`one_location_has_many_urls`)
//! - What may tell two pages apart does: any other ending, port or parameter. (`two_pages_have_two_locations`)
//! - Two locations have one key if they are the same. (`locations_are_the_same_by_their_keys`)

use super::host_and_port;
use memchr::{memchr, memchr3};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// What files of pages end in. Others are parts of a name (`/info/google.com`, `/people/ann.smith`, `/wiki/Node.js`), and so may `pl` and
/// `do` be, which are countries too.
const ENDINGS: [&str; 16] = [
    "html", "htm", "php", "asp", "aspx", "shtml", "xhtml", "jsp", "jspx", "cfm", "cgi", "phtml", "php3", "php4",
    "php5", "php7",
];

/// Parameters that are of a session or say where a reader came from, whatever they hold.
const ASIDES: [&str; 11] = [
    "fbclid",
    "gclid",
    "dclid",
    "yclid",
    "msclkid",
    "mc_cid",
    "mc_eid",
    "ref_src",
    "phpsessid",
    "jsessionid",
    "oscsid",
];

/// Values of `ref` that say where a reader came from. It may as well be a thing, or a branch: `ref=main`.
const REFERRERS: [&str; 10] =
    ["rss", "feed", "atom", "mail", "email", "newsletter", "facebook", "fb", "twitter", "linkedin"];

/// Characters of a session: PHP makes 22 and more, forums 32. Things have shorter names, or numbers.
const SESSION_CHARS_MIN: usize = 16;

/// What names the page of an absolute URL, normalised. It is read as far as somebody asks.
#[derive(Clone, Copy, Debug)]
pub struct Location<'a> {
    /// Without `www.`; empty where there is none.
    host: &'a str,
    /// Empty for those that the web usually has.
    port: &'a str,
    path: &'a str,
    query: &'a str,
}

impl<'a> Location<'a> {
    /// That of `url`.
    pub fn of(url: &'a str) -> Self {
        let rest = ["https://", "http://"].into_iter().find_map(|scheme| url.strip_prefix(scheme));
        let (authority, rest) = match rest.or_else(|| url.split_once("://").map(|(_, rest)| rest)) {
            Some(rest) => rest.split_at(memchr3(b'/', b'?', b'#', rest.as_bytes()).unwrap_or(rest.len())),
            None => ("", url),
        };
        let (host, port) = host_and_port(authority);
        // Of either scheme, since that may be the other in the next link.
        let port = if matches!(port, "80" | "443") { "" } else { port };
        let rest = memchr(b'#', rest.as_bytes()).map_or(rest, |fragment| &rest[..fragment]);
        let (path, query) = memchr(b'?', rest.as_bytes()).map_or((rest, ""), |at| (&rest[..at], &rest[at + 1..]));
        Self { host: host.strip_prefix("www.").unwrap_or(host), port, path, query }
    }

    /// The host without `www.`, if there is one.
    pub fn host(&self) -> Option<&'a str> {
        Some(self.host).filter(|host| !host.is_empty())
    }

    /// Whether both are on one host, at one port.
    pub fn is_on_server_of(&self, other: &Self) -> bool {
        (self.host, self.port) == (other.host, other.port)
    }

    /// Folders and the page's own name, without its ending; a page that is the index of its folder has none.
    pub fn path(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        // Some sites write the session behind a semicolon.
        let bare = |part: &'a str| part.split_once(';').map_or(part, |(part, _)| part);
        let mut parts = self.path.split('/').map(bare).filter(|part| !part.is_empty()).peekable();
        std::iter::from_fn(move || {
            let part = parts.next()?;
            match parts.peek() {
                Some(_) => Some(part),
                None => Some(stem(part)).filter(|name| !matches!(*name, "index" | "default")),
            }
        })
    }

    /// Parameters, but for those of sessions and campaigns, as they stand there: their order says nothing.
    pub fn parameters(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        // Most URLs have none.
        let query = Some(self.query).filter(|query| !query.is_empty());
        query.into_iter().flat_map(|query| query.split('&')).filter(|parameter| !is_aside(parameter))
    }

    /// A keyed hash of it: what links to the page are known by. Links are many: of most the path is hashed where it stands.
    pub fn key(&self, key: u64) -> u64 {
        let host = xxh3_64_with_seed(self.host.as_bytes(), key);
        let server = if self.port.is_empty() { host } else { xxh3_64_with_seed(self.port.as_bytes(), host) };
        let page = match self.plain_path() {
            Some(path) => xxh3_64_with_seed(path.as_bytes(), server),
            None => xxh3_64_with_seed(self.path().collect::<Vec<_>>().join("/").as_bytes(), server),
        };
        // A sum, in which the order of parameters is lost.
        self.parameters().fold(page, |sum, parameter| sum.wrapping_add(xxh3_64_with_seed(parameter.as_bytes(), page)))
    }

    /// The parts of the path with a slash between them, if they stand so in the URL: without sessions and empty parts.
    fn plain_path(&self) -> Option<&'a str> {
        let path = self.path.strip_prefix('/').unwrap_or(self.path);
        let path = path.strip_suffix('/').unwrap_or(path);
        let (mut before, mut is_odd, mut name_start) = (b'/', false, 0);
        for (at, byte) in path.bytes().enumerate() {
            is_odd |= byte == b';' || byte == b'/' && before == b'/';
            name_start = if byte == b'/' { at + 1 } else { name_start };
            before = byte;
        }
        if is_odd || before == b'/' && !path.is_empty() {
            return None;
        }
        match stem(&path[name_start..]) {
            "index" | "default" => Some(&path[..name_start.saturating_sub(1)]),
            name => Some(&path[..name_start + name.len()]),
        }
    }
}

impl PartialEq for Location<'_> {
    fn eq(&self, other: &Self) -> bool {
        let sorted = |location: &Self| {
            let mut parameters: Vec<&str> = location.parameters().collect();
            parameters.sort_unstable();
            parameters
        };
        self.is_on_server_of(other) && self.path().eq(other.path()) && sorted(self) == sorted(other)
    }
}

impl Eq for Location<'_> {}

/// The name of a page's file without its ending: pages move from `.php` to `.html` and to none.
fn stem(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((stem, ending)) if !stem.is_empty() && ENDINGS.iter().any(|page| ending.eq_ignore_ascii_case(page)) => {
            stem
        }
        _ => name,
    }
}

/// Whether a parameter says nothing of the page: empty, of a session, of a campaign.
fn is_aside(parameter: &str) -> bool {
    let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
    let name = name.as_bytes();
    let is = |word: &str| name.eq_ignore_ascii_case(word.as_bytes());
    let begins = |word: &str| name.get(..word.len()).is_some_and(|part| part.eq_ignore_ascii_case(word.as_bytes()));
    parameter.is_empty()
        || begins("utm_")
        || begins("aspsessionid")
        || ASIDES.iter().any(|aside| is(aside))
        || may_name_session(name) && is_session(value)
        || is("ref") && REFERRERS.iter().any(|referrer| value.eq_ignore_ascii_case(referrer))
}

/// Whether parameters of this name are sessions on some sites: `sid`, `osCsid`, `session`, `sess_id`. Nobody's `assessment` is.
fn may_name_session(name: &[u8]) -> bool {
    let sess = name.windows(4).position(|part| part.eq_ignore_ascii_case(b"sess"));
    sess.is_some_and(|at| at == 0 || !name[at - 1].eq_ignore_ascii_case(&b's'))
        || name.len().checked_sub(3).is_some_and(|at| name[at..].eq_ignore_ascii_case(b"sid"))
}

/// Whether a value looks drawn by lot, and not like a number, or like words with hyphens: letters and digits, or groups of hexadecimal ones.
fn is_session(value: &str) -> bool {
    let mut bytes = value.bytes();
    value.len() >= SESSION_CHARS_MIN
        && bytes.clone().any(|byte| byte.is_ascii_digit())
        && bytes.clone().any(|byte| byte.is_ascii_alphabetic())
        && (bytes.clone().all(|byte| byte.is_ascii_alphanumeric())
            || bytes.all(|byte| byte.is_ascii_hexdigit() || byte == b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn one_location_has_many_urls() {
        for (this, that) in [
            ("http://a.example/x", "https://www.a.example/x/"),
            ("http://a.example/", "https://a.example/index.html"),
            ("http://a.example/x/", "http://a.example//x/default.asp"),
            ("http://a.example/x.php", "http://a.example/x.html#top"),
            ("http://a.example/x.PHP", "http://a.example/x.xhtml"),
            ("http://a.example:80/x", "https://user@a.example:443/x"),
            ("http://a.example:8080/x", "https://a.example:8080/x/"),
            ("http://a.example/x?b=2&a=1", "http://a.example/x?a=1&&b=2&utm_source=mail&UTM_medium=rss"),
            ("http://a.example/x;jsessionid=9", "http://a.example/x?PHPSESSID=7&osCsid=f00d&ASPSESSIONIDQQ=A"),
            ("http://a.example/x", "http://a.example/x?sid=0123456789abcdef0123456789abcdef&s_sess=9f8g7h6j5k4l3m2n"),
            ("http://a.example/x?a=1", "http://a.example/x?session_id=550e8400-e29b-41d4-a716-446655440000&a=1"),
            ("http://a.example/x", "http://a.example/x?ref=rss&fbclid=7&ref_src=twsrc%5Etfw"),
        ] {
            assert_eq!(Location::of(this), Location::of(that));
            assert_eq!(Location::of(this).key(7), Location::of(that).key(7), "{this} and {that}");
        }
    }

    #[test]
    fn two_pages_have_two_locations() {
        for (this, that) in [
            ("http://a.example/x", "http://b.example/x"),
            ("http://a.example/x", "http://m.a.example/x"),
            ("http://a.example/x", "http://a.example/X"),
            ("http://a.example/x", "http://a.example/"),
            ("http://a.example/x/y", "http://a.example/y/x"),
            ("http://a.example/x/y", "http://a.example/xy"),
            ("http://a.example/x/y", "http://a.example/x?y"),
            ("http://a.example/x?y=1", "http://a.example/x?y=2"),
            ("http://a.example/x?y", "http://a.example/x?y&y"),
            ("http://a.example/?newsid=1", "http://a.example/?newsid=2"),
            ("http://a.example/?assessment=1", "http://a.example/?assessment=2"),
            ("http://a.example/?assessmentid=9f8g7h6j5k4l3m2n", "http://a.example/?assessmentid=0f8g7h6j5k4l3m2n"),
            ("http://a.example/?assessor=jones", "http://a.example/?assessor=smith"),
            ("http://a.example/?session=the-opening-of-2026", "http://a.example/?session=the-closing-of-2026"),
            ("http://a.example/?sessionid=41", "http://a.example/?sessionid=42"),
            ("http://a.example/?file=article&sid=17", "http://a.example/?file=article&sid=18"),
            ("http://a.example/?sid=1234567890123456789", "http://a.example/?sid=1234567890123456788"),
            ("http://a.example/?ref=A-1", "http://a.example/?ref=A-2"),
            ("http://a.example/?ref=main", "http://a.example/?ref=develop"),
            ("http://a.example/info/google.com", "http://a.example/info/google.de"),
            ("http://a.example/info/google.pl", "http://a.example/info/google"),
            ("http://a.example/people/ann.smith", "http://a.example/people/ann.jones"),
            ("http://a.example/wiki/Node.js", "http://a.example/wiki/Node"),
            ("http://a.example:8001/x", "http://a.example:8080/x"),
            ("http://a.example:8001/x", "http://a.example/x"),
            ("http://[::1]:8001/x", "http://[::1]/x"),
        ] {
            assert_ne!(Location::of(this), Location::of(that));
            assert_ne!(Location::of(this).key(7), Location::of(that).key(7), "{this} and {that}");
        }
    }

    proptest! {
        #[test]
        fn locations_are_the_same_by_their_keys(this in "(https?://)?(www\\.)?a(:80|:81)?(/[ab.;]{0,3}|/index){0,3}([?&][ab]=[12]){0,3}\\PC{0,2}", that in "http://a(:81)?(/[ab.]{0,2}){0,3}([?&][ab]=[12]){0,3}|\\PC{0,9}") {
            let (this, that) = (Location::of(&this), Location::of(&that));
            prop_assert_eq!(this == that, this.key(7) == that.key(7));
            if let Some(plain) = this.plain_path() {
                prop_assert_eq!(plain, this.path().collect::<Vec<_>>().join("/"));
            }
        }
    }
}
