//! What a start tag says of its element: the few attributes that mean something here.

use super::super::commonplace;
use super::super::hiding;
use super::super::open::Show;
use super::super::tag::{self, Tag, key};
use super::super::tokens::TagToken;
use super::Page;
use crate::document::Quote;

/// The attributes of a start tag that mean something here, each where it was first met: places among the attributes.
#[derive(Clone, Copy)]
pub(super) struct Known {
    pub(super) href: u32,
    pub(super) rel: u32,
    pub(super) src: u32,
    pub(super) name: u32,
    pub(super) style: u32,
    pub(super) id: u32,
    pub(super) hidden: u32,
}

const MISSING: u32 = u32::MAX;

const HREF: u64 = key(b"href");
const SRC: u64 = key(b"src");
const CHARSET: u64 = key(b"charset");
const NAME: u64 = key(b"name");
const PROPERTY: u64 = key(b"property");
const HTTP_EQUIV: u64 = key(b"http-equiv");
const STYLE: u64 = key(b"style");

/// What Gmail and Proton call the element around an introduction and what it introduces, and the quotation in it.
const AROUND_CLASSES: [&str; 3] = ["gmail_quote", "gmail_quote_container", "protonmail_quote"];
/// What Yahoo calls the element that holds what was answered or forwarded.
const QUOTED_CLASS: &str = "yahoo_quoted";

impl Known {
    const NONE: Self =
        Self { href: MISSING, rel: MISSING, src: MISSING, name: MISSING, style: MISSING, id: MISSING, hidden: MISSING };
}

impl<'s> Page<'s, '_> {
    /// Whether a tag is one that [any page](commonplace) may have.
    #[inline]
    pub(super) fn is_commonplace(&self, tag: &TagToken) -> bool {
        matches!(tag.tag, Tag::Link | Tag::Script | Tag::Meta) && self.head_is_commonplace(tag.tag)
    }

    fn head_is_commonplace(&self, tag: Tag) -> bool {
        let value = |wanted: &[u64]| {
            let attribute = self.tokens.attributes().iter().find(|attribute| wanted.contains(&attribute.key));
            attribute.map(|attribute| self.tokens.value(attribute))
        };
        match tag {
            Tag::Link => value(&[HREF]).is_some_and(commonplace::is_public),
            Tag::Script => value(&[SRC]).is_some_and(commonplace::is_public),
            _ => value(&[CHARSET]).is_some() || value(&[NAME, PROPERTY, HTTP_EQUIV]).is_some_and(commonplace::is_meta),
        }
    }

    /// Looks at every attribute: the frame wants their names, unless the tag `is_commonplace`, the rest a few of their values.
    #[inline(always)]
    pub(super) fn attributes(&mut self, tag: &TagToken, is_commonplace: bool) -> Known {
        const REL: u64 = key(b"rel");
        const ID: u64 = key(b"id");
        const HIDDEN: u64 = key(b"hidden");
        let mut known = Known::NONE;
        for (index, attribute) in self.tokens.attributes().iter().enumerate() {
            if !is_commonplace {
                let names = || (self.tokens.tag_name(tag), self.tokens.attribute_name(attribute));
                self.frame.attribute(tag, attribute, names);
            }
            let place = match attribute.key {
                HREF => &mut known.href,
                REL => &mut known.rel,
                SRC => &mut known.src,
                ID => &mut known.id,
                STYLE => &mut known.style,
                NAME | PROPERTY | HTTP_EQUIV => &mut known.name,
                HIDDEN => &mut known.hidden,
                _ => continue,
            };
            *place = (*place).min(index as u32);
        }
        if known.id != MISSING
            && tag.tag.is(tag::STRUCTURE)
            && let Some(id) = self.value(known.id)
        {
            self.frame.id(id);
        }
        known
    }

    /// The value of the attribute at a place.
    #[inline]
    pub(super) fn value(&self, place: u32) -> Option<&'s str> {
        self.tokens.attributes().get(place as usize).map(|attribute| self.tokens.value(attribute))
    }

    /// What a mail program says that the newest element of a mail is.
    pub(super) fn quote(&self, tag: Tag) -> Quote {
        const CLASS: u64 = key(b"class");
        const TYPE: u64 = key(b"type");
        const ID: u64 = key(b"id");
        if !matches!(tag, Tag::Div | Tag::Blockquote) {
            return Quote::None;
        }
        let style = || self.tokens.attributes().iter().find(|attribute| attribute.key == STYLE);
        let looks_so = || style().is_none_or(|style| has_bar(self.tokens.value(style)));
        let blockquote = || if looks_so() { Quote::Shown } else { Quote::Named };
        for attribute in self.tokens.attributes() {
            let value = || self.tokens.value(attribute);
            let has_class = |wanted: &[&str]| value().split_ascii_whitespace().any(|class| wanted.contains(&class));
            match attribute.key {
                CLASS if has_class(&AROUND_CLASSES) => {
                    return if tag == Tag::Div { Quote::Around } else { blockquote() };
                }
                CLASS if has_class(&[QUOTED_CLASS]) => {
                    return if tag == Tag::Div { Quote::Named } else { blockquote() };
                }
                TYPE if tag == Tag::Blockquote && value().eq_ignore_ascii_case("cite") => return blockquote(),
                // Outlook's words for it, as they come back through other programs too.
                ID if value().ends_with("divRplyFwdMsg") => return Quote::Below,
                _ => {}
            }
        }
        Quote::None
    }

    /// What becomes of the text in an element with these attributes.
    #[inline]
    pub(super) fn shown(&self, flags: u32, known: &Known) -> Show {
        if flags & tag::UNSEEN != 0 || self.show == Show::Dropped {
            return Show::Dropped;
        }
        if known.hidden != MISSING {
            return Show::Hidden;
        }
        if known.style == MISSING {
            return self.show;
        }
        let Some(style) = self.value(known.style) else { return self.show };
        let sight = hiding::sight(style);
        match self.show {
            Show::Hidden => Show::Hidden,
            _ if sight.hides => Show::Hidden,
            Show::TooSmall if sight.no_size == Some(false) => Show::Shown,
            Show::Shown if sight.no_size == Some(true) && flags & (tag::BLOCK | tag::LINE) == 0 => Show::TooSmall,
            show => show,
        }
    }
}

/// Whether a style draws the bar that programs put at the left of what they quote.
fn has_bar(style: &str) -> bool {
    let is_width = |word: &str| word.starts_with(|c: char| matches!(c, '1'..='9'));
    style.split(';').filter_map(|rule| rule.split_once(':')).any(|(name, value)| {
        name.trim_ascii().eq_ignore_ascii_case("border-left")
            && value.split_ascii_whitespace().any(is_width)
            && value.split_ascii_whitespace().any(|word| word.eq_ignore_ascii_case("solid"))
    })
}
