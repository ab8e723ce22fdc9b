//! Where a page is: what names it, in whichever of its ways its URL is written.
//!
//! Whoever links to a page writes its address as he found it: with the other scheme, with or without `www`, with the mark of the
//! letter or the feed that he came from. An article that six others quote and link to was a quilt of them where they wrote
//! `https` and it was crawled as `http`. So links and URLs are compared by their locations, and so are the addresses of two pages of one
//! site.
//!
//! # Invariants
//! - Scheme, `www`, the ending of a file, an index, slashes, sessions and campaigns name no page, nor does the order of parameters.
//!   (`one_location_has_many_urls`)
//! - What may tell two pages apart does. (`two_pages_have_two_locations`)
//! - Two locations have one key if they are the same. (`locations_are_the_same_by_their_keys`)

use super::host_of;
use memchr::{memchr, memchr3};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Parameters that say where a reader came from.
const TRAILS: [&str; 8] = ["fbclid", "gclid", "dclid", "yclid", "msclkid", "mc_cid", "mc_eid", "ref_src"];

/// What names the page of an absolute URL, normalised. It is read as far as somebody asks.
#[derive(Clone, Copy, Debug)]
pub struct Location<'a> {
    /// Without `www.`; empty where there is none.
    host: &'a str,
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
        let host = host_of(authority);
        let rest = memchr(b'#', rest.as_bytes()).map_or(rest, |fragment| &rest[..fragment]);
        let (path, query) = memchr(b'?', rest.as_bytes()).map_or((rest, ""), |at| (&rest[..at], &rest[at + 1..]));
        Self { host: host.strip_prefix("www.").unwrap_or(host), path, query }
    }

    /// The host without `www.`, if there is one.
    pub fn host(&self) -> Option<&'a str> {
        Some(self.host).filter(|host| !host.is_empty())
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
        let page = match self.plain_path() {
            Some(path) => xxh3_64_with_seed(path.as_bytes(), host),
            None => xxh3_64_with_seed(self.path().collect::<Vec<_>>().join("/").as_bytes(), host),
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
        self.host == other.host && self.path().eq(other.path()) && sorted(self) == sorted(other)
    }
}

impl Eq for Location<'_> {}

/// A file's name without its ending: pages move from `.php` to `.html` and to none.
fn stem(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((stem, ending)) if !stem.is_empty() && ending.bytes().all(|byte| byte.is_ascii_alphabetic()) => stem,
        _ => name,
    }
}

/// Whether a parameter says nothing of the page: empty, of a session, of a campaign.
fn is_aside(parameter: &str) -> bool {
    let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
    let name = name.as_bytes();
    let is = |word: &str| name.eq_ignore_ascii_case(word.as_bytes());
    let has = |word: &str| name.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word.as_bytes()));
    let begins = |word: &str| name.get(..word.len()).is_some_and(|part| part.eq_ignore_ascii_case(word.as_bytes()));
    let ends = |word: &str| {
        name.len().checked_sub(word.len()).is_some_and(|at| name[at..].eq_ignore_ascii_case(word.as_bytes()))
    };
    let is_number = || value.bytes().all(|byte| byte.is_ascii_digit());
    // `newsid=7`, `assessment=7` and `ref=7` are things that have a number.
    parameter.is_empty()
        || begins("utm_")
        || is("sid")
        || has("sessid")
        || has("sessionid")
        || (has("sess") || ends("sid")) && !is_number()
        || is("ref") && !value.bytes().any(|byte| byte.is_ascii_digit())
        || TRAILS.iter().any(|trail| is(trail))
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
            ("http://a.example:8080/x", "http://user@a.example/x"),
            ("http://a.example/x?b=2&a=1", "http://a.example/x?a=1&&b=2&utm_source=mail&UTM_medium=rss"),
            ("http://a.example/x;jsessionid=9", "http://a.example/x?PHPSESSID=7&sid=8&osCsid=f00d&session=f00d"),
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
            ("http://a.example/?ref=A-1", "http://a.example/?ref=A-2"),
        ] {
            assert_ne!(Location::of(this), Location::of(that));
            assert_ne!(Location::of(this).key(7), Location::of(that).key(7), "{this} and {that}");
        }
    }

    proptest! {
        #[test]
        fn locations_are_the_same_by_their_keys(this in "(https?://)?(www\\.)?a(/[ab.;]{0,3}|/index){0,3}([?&][ab]=[12]){0,3}\\PC{0,2}", that in "http://a(/[ab.]{0,2}){0,3}([?&][ab]=[12]){0,3}|\\PC{0,9}") {
            let (this, that) = (Location::of(&this), Location::of(&that));
            prop_assert_eq!(this == that, this.key(7) == that.key(7));
            if let Some(plain) = this.plain_path() {
                prop_assert_eq!(plain, this.path().collect::<Vec<_>>().join("/"));
            }
        }
    }
}
