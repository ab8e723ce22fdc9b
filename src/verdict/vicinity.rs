//! Where two pages stand to each other: on one site or two, and on one site under one address or two.
//!
//! The pages of a site have its menus, footers, forms and notes in common, often far more words than each has of its own. So
//! what is a copy elsewhere says little of two pages of one site under two addresses: of 176 mirrors among 1,954 pages of the open
//! web three quarters were such pairs, with nothing in common but what their site puts around everything. They are
//! copies where all their words are the same, or where far more agrees and it is prose: menus have short lines.
//!
//! One page can have several addresses (with and without `www`, a session in the query, a mirror or a version in another folder);
//! these are told by their form ([`Location`]).
//!
//! # Invariants
//! - The same from either side. (`the_vicinity_has_no_direction`)
//! - No host of another registered domain is of one site. (`a_site_is_a_registered_domain`)
//! - What tells sessions and versions apart tells no pages apart. (`one_page_has_many_addresses`)

use super::url_similarity::Tokens;
use crate::config::MirrorSettings;
use crate::document::identity::registered_domain;
use crate::document::links::Location;
use crate::signature::LongSentence;
use std::cell::OnceCell;

/// Where two pages stand to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vicinity {
    /// On different sites, or nobody knows.
    Elsewhere,
    /// On one site, under different addresses.
    SameSite,
    /// On one site, under addresses of one page.
    SamePage,
}

impl Vicinity {
    /// That of two absolute URLs, normalised.
    pub fn of(this: &str, that: &str) -> Self {
        Address::of(this).vicinity(&Address::of(that))
    }
}

/// An absolute URL, normalised, on its way to be compared: it is read as far as somebody asks, and once, since the URL of an
/// arrival is compared with those of many.
pub struct Address<'a> {
    pub(super) url: &'a str,
    location: Location<'a>,
    site: OnceCell<&'a str>,
    page: OnceCell<Page<'a>>,
    pub(super) tokens: OnceCell<Tokens<'a>>,
}

impl<'a> Address<'a> {
    /// The address of a page.
    pub fn of(url: &'a str) -> Self {
        let location = Location::of(url);
        Self { url, location, site: OnceCell::new(), page: OnceCell::new(), tokens: OnceCell::new() }
    }

    /// Where the two pages stand to each other.
    pub fn vicinity(&self, other: &Self) -> Vicinity {
        match self.is_of_site(other) {
            true if self.is_page_of(other) => Vicinity::SamePage,
            true => Vicinity::SameSite,
            false => Vicinity::Elsewhere,
        }
    }

    /// Whether both are of one registered domain, or of one host that has none.
    pub fn is_of_site(&self, other: &Self) -> bool {
        match (self.location.host(), other.location.host()) {
            // Most often: then nobody needs to know what was registered.
            (Some(this), Some(that)) if this == that => true,
            (Some(this), Some(that)) => self.site(this) == other.site(that),
            _ => false,
        }
    }

    fn site(&self, host: &'a str) -> &'a str {
        self.site.get_or_init(|| registered_domain(host).unwrap_or(host))
    }

    fn page(&self) -> &Page<'a> {
        self.page.get_or_init(|| Page::of(&self.location))
    }

    /// Whether both name one page of their site.
    fn is_page_of(&self, other: &Self) -> bool {
        let (this, that) = (self.page(), other.page());
        if this.query != that.query || this.path.len() != that.path.len() || this.path.last() != that.path.last() {
            return false;
        }
        let mut differing = this.path.iter().zip(&that.path).filter(|(this, that)| this != that);
        // Two ports are as two hosts.
        let is_one_server = self.location.is_on_server_of(&other.location);
        match (differing.next(), differing.next()) {
            // The homes of two hosts are two pages.
            (None, _) => is_one_server || !this.path.is_empty(),
            (Some((this, that)), None) => {
                let at = self.page().path.iter().zip(&other.page().path).position(|(this, that)| this != that);
                let above = at.and_then(|at| at.checked_sub(1)).map(|above| self.page().path[above]);
                !is_one_server || are_versions(above, this, that)
            }
            _ => false,
        }
    }
}

/// What names a page on its host: its [`Location`], to be compared part by part.
struct Page<'a> {
    path: Vec<&'a str>,
    /// Parameters, ascending.
    query: Vec<&'a str>,
}

impl<'a> Page<'a> {
    fn of(location: &Location<'a>) -> Self {
        let mut query: Vec<&str> = location.parameters().collect();
        query.sort_unstable();
        Self { path: location.path().collect(), query }
    }
}

/// What the newest version of a manual stands under, whichever that is.
const MOVING: [&str; 13] = [
    "current", "dev", "devel", "edge", "latest", "main", "master", "next", "nightly", "stable", "testing", "trunk",
    "unstable",
];
/// Folders of versions and nothing else.
const HOLDERS: [&str; 11] =
    ["api", "doc", "docs", "documentation", "guide", "javadoc", "manual", "ref", "reference", "release", "version"];

/// Whether two folders in `above` differ in nothing but the number of a version: `v2`, `clang-14`, `3.11`, `latest`. A bare number is that
/// of a thing, unless it stands among versions (`docs/17`), or beside a name of one.
fn are_versions(above: Option<&str>, this: &str, that: &str) -> bool {
    let is_bare = |folder: &str| (1..=3).contains(&folder.len()) && folder.bytes().all(|byte| byte.is_ascii_digit());
    let is_moving = |folder: &str| MOVING.contains(&folder);
    let is_held = above.is_some_and(|above| {
        HOLDERS.contains(&above) || above.strip_suffix('s').is_some_and(|one| HOLDERS.contains(&one))
    });
    match (is_moving(this), is_moving(that)) {
        (true, true) => return true,
        (true, false) => return is_bare(that) || version(that).is_some(),
        (false, true) => return is_bare(this) || version(this).is_some(),
        (false, false) if is_held && is_bare(this) && is_bare(that) => return true,
        (false, false) => {}
    }
    version(this).zip(version(that)).is_some_and(|(this, that)| this == that)
}

/// What stands before the number of a version in the name of a folder.
fn version(folder: &str) -> Option<&str> {
    let at = folder.find(|c: char| c.is_ascii_digit())?;
    let (name, number) = folder.split_at(at);
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    (is_number && (at > 0 || number.contains('.'))).then_some(name)
}

/// Characters of a sentence that is more than a line of a menu. Scripts without spaces need half as many.
const PROSE_CHARS_MIN: u32 = 60;

/// The length of some long sentences, and how much of it is prose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Prose {
    pub(crate) n_chars: u64,
    pub(crate) n_prose_chars: u64,
}

impl Prose {
    /// That of `sentences`, in a script without spaces or with them.
    pub(crate) fn of<'a>(sentences: impl Iterator<Item = &'a LongSentence>, unspaced: bool) -> Self {
        let chars_min = PROSE_CHARS_MIN >> u32::from(unspaced);
        sentences.fold(Self::default(), |prose, sentence| {
            let n_chars = u64::from(sentence.n_chars);
            Self {
                n_chars: prose.n_chars + n_chars,
                n_prose_chars: prose.n_prose_chars + if sentence.n_chars >= chars_min { n_chars } else { 0 },
            }
        })
    }
}

impl MirrorSettings {
    /// Whether two pages of one site that have `prose` in common have a text in common, and not what their site puts around
    /// everything: enough of it, and three quarters in sentences longer than a menu's lines.
    pub(crate) fn is_text(&self, prose: Prose, unspaced: bool) -> bool {
        let Prose { n_chars, n_prose_chars } = prose;
        n_prose_chars >= u64::from(self.site_chars_min >> u32::from(unspaced)) && 4 * n_prose_chars >= 3 * n_chars
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn one_page_has_many_addresses() {
        for (this, that) in [
            ("http://a.example/", "https://www.a.example/index.html"),
            ("http://a.example/x/", "http://a.example/x/index.php"),
            ("http://a.example/articles/318674", "http://a.example/articles/318674.php"),
            ("http://a.example/x?b=2&a=1", "http://a.example/x?a=1&b=2&utm_source=mail"),
            ("http://a.example/x;jsessionid=9?a=1", "http://a.example/x?a=1&PHPSESSID=7&sid=0123456789abcdef"),
            ("http://m.a.example/x/y", "http://a.example/x/y"),
            ("http://a.example:8001/x/y", "http://a.example/x/y"),
            ("http://clang-13.a.example/clang-13/html/x.html", "http://clang-14.a.example/clang-14/html/x.html"),
            ("http://amd64.a.example/amd64/x.html", "http://arm64.a.example/arm64/x.html"),
            ("http://docs.a.example/3.11/os.html", "http://docs.a.example/3.12/os.html"),
            ("http://docs.a.example/v1/os.html", "http://docs.a.example/v2/os.html"),
            ("http://a.example/docs/16/tutorial.html", "http://a.example/docs/17/tutorial.html"),
            ("http://a.example/stable/os.html", "http://a.example/latest/os.html"),
            ("http://a.example/en/latest/os.html", "http://a.example/en/1.4/os.html"),
            ("http://a.example/dev/x/os.html", "http://a.example/17/x/os.html"),
        ] {
            assert_eq!(Vicinity::of(this, that), Vicinity::SamePage, "{this} and {that}");
        }
    }

    #[test]
    fn a_site_has_many_pages() {
        for (this, that) in [
            ("http://a.example/", "http://a.example/login"),
            ("http://a.example/?p=register", "http://a.example/?p=club"),
            ("http://a.example/x", "http://a.example/x?page=2"),
            ("http://a.example/goods/5/", "http://a.example/goods/6/"),
            ("http://a.example/goods/5/rated", "http://a.example/goods/6/rated"),
            ("http://a.example/docs/2014/report", "http://a.example/docs/2015/report"),
            ("http://a.example/docs/5", "http://a.example/docs/6"),
            ("http://a.example/latest/x", "http://a.example/oldest/x"),
            ("http://a.example/joe/about", "http://a.example/ann/about"),
            ("http://a.example/2014/11/page/2/", "http://a.example/2015/05/page/2/"),
            ("http://north.a.example/", "http://south.a.example/"),
            ("http://a.example:8001/", "http://a.example:8080/"),
            ("http://a.example/?name=News&sid=17", "http://a.example/?name=News&sid=18"),
            ("http://a.example/info/google.com", "http://a.example/info/google.de"),
            ("http://192.0.2.1/x", "http://192.0.2.1/y"),
        ] {
            assert_eq!(Vicinity::of(this, that), Vicinity::SameSite, "{this} and {that}");
        }
    }

    #[test]
    fn a_site_is_a_registered_domain() {
        for (this, that) in [
            ("http://a.example/x", "http://b.example/x"),
            ("http://a.co.uk/x", "http://b.co.uk/x"),
            ("http://a.github.io/x", "http://b.github.io/x"),
            ("http://192.0.2.1/x", "http://192.0.2.2/x"),
            ("file:///x", "file:///x"),
            ("", ""),
        ] {
            assert_eq!(Vicinity::of(this, that), Vicinity::Elsewhere, "{this} and {that}");
        }
    }

    #[test]
    fn a_menu_is_no_text() {
        let settings = crate::config::Settings::default().mirror;
        let lines =
            |n_lines: usize, n_chars: u32| vec![LongSentence { hash: 0, n_chars, core: true, position: 0 }; n_lines];
        let is_text = |sentences: &[LongSentence], unspaced: bool| {
            settings.is_text(Prose::of(sentences.iter(), unspaced), unspaced)
        };
        assert!(is_text(&lines(10, 60), false) && !is_text(&lines(9, 60), false));
        assert!(!is_text(&lines(100, 59), false), "however many there are");
        assert!(is_text(&lines(10, 30), true) && !is_text(&lines(10, 29), true));
        assert!(is_text(&[lines(10, 60), lines(10, 20)].concat(), false), "an article and its menu");
        assert!(!is_text(&[lines(10, 60), lines(11, 20)].concat(), false), "a menu and a note");
    }

    proptest! {
        #[test]
        fn the_vicinity_has_no_direction(this in "(https?://)?(www\\.)?[ab]\\.(c\\.)?example(/[ab12.]{0,3}){0,3}([?;&][ab]=[12]){0,2}\\PC{0,2}", that in "http://[ab]\\.(c\\.)?example(/[ab12.]{0,3}){0,3}([?&][ab]=[12]){0,2}|\\PC{0,9}") {
            prop_assert_eq!(Vicinity::of(&this, &that), Vicinity::of(&that, &this));
        }
    }
}
