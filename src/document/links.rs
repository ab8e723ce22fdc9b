//! Outgoing links: as written while the page is read, absolute and normalised when asked for.

use super::Span;

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

    /// What `rel=canonical` says, absolute and normalised.
    pub fn canonical_url(&self, url: Option<&str>) -> Option<String> {
        let _ = url;
        self.canonical.as_ref()?;
        todo!()
    }

    /// Calls `with` for every link that leads to a web page, absolute and normalised (fragment dropped), in order.
    /// `url` is the page's own.
    pub fn resolve(&self, url: Option<&str>, with: impl FnMut(&Anchor, &str)) {
        let _ = (url, with);
        todo!()
    }
}
