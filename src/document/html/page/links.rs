//! Where a page leads to: its anchors, and what its head says of itself.

use super::super::entities::push_value;
use super::super::open::Show;
use super::super::tag::Tag;
use super::super::write::written;
use super::Page;
use super::attributes::Known;
use crate::document::links::Anchor;
use crate::document::{Span, Truncation};

/// A link that has not ended.
pub(super) struct OpenAnchor {
    index: usize,
    text_start: usize,
    /// How many elements were open around it.
    pub(super) level: usize,
}

impl Page<'_, '_> {
    pub(super) fn start_anchor(&mut self, known: &Known) {
        self.close_anchor();
        let Some(href) = self.value(known.href) else { return };
        if self.show == Show::Dropped {
            return;
        }
        if self.links.anchors.len() >= self.limits.links_max {
            return self.reading.truncate(Truncation::Links);
        }
        let is_unendorsed =
            |word: &str| ["nofollow", "ugc", "sponsored"].iter().any(|other| word.eq_ignore_ascii_case(other));
        let nofollow = self.value(known.rel).is_some_and(|rel| rel.split_ascii_whitespace().any(is_unendorsed));
        let start = self.links.hrefs.len();
        push_value(href.trim_ascii(), &mut self.links.hrefs);
        let href = Span::new(start, self.links.hrefs.len());
        let text_start = self.text.text.len();
        let text = Span::new(text_start, text_start);
        let index = self.links.anchors.len();
        self.links.anchors.push(Anchor { href, text, nofollow });
        self.anchor = Some(OpenAnchor { index, text_start, level: self.open.len() });
    }

    #[inline]
    pub(super) fn close_anchor(&mut self) {
        if let Some(open) = self.anchor.take()
            && let Some(span) = written(self.text.text, open.text_start)
        {
            self.links.anchors[open.index].text = span;
        }
    }

    /// What stands in a head: `<link>`, `<meta>`, `<base>`. What is commonplace is nothing to the frame.
    pub(super) fn head(&mut self, tag: Tag, known: &Known, is_commonplace: bool) {
        let value = |value: &str| {
            let mut decoded = String::new();
            push_value(value.trim_ascii(), &mut decoded);
            decoded
        };
        let (rel, href, name) = (self.value(known.rel), self.value(known.href), self.value(known.name));
        match tag {
            Tag::Link => {
                let Some(rel) = rel else { return };
                if !is_commonplace {
                    self.frame.link(rel, href.unwrap_or(""));
                }
                let is_canonical = rel.split_ascii_whitespace().any(|word| word.eq_ignore_ascii_case("canonical"));
                if is_canonical && self.links.canonical.is_none() {
                    self.links.canonical = href.map(value);
                }
            }
            Tag::Meta => {
                if let Some(name) = name.filter(|_| !is_commonplace) {
                    self.frame.meta(name);
                }
            }
            _ => {
                if self.links.base.is_none() {
                    self.links.base = href.map(value);
                }
            }
        }
    }
}
