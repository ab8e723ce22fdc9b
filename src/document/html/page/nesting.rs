//! Which elements are open: what a start tag ends, and what begins and ends with each.

use super::super::open::{Content, Entry, NO_OUTLINE, Reach, Show};
use super::super::tag::{self, Tag};
use super::super::tokens::TagToken;
use super::super::write::written;
use super::Page;
use crate::document::{Element, Quote, Span, Truncation};

impl Page<'_, '_> {
    /// Ends the elements that the start tag of `tag` ends.
    #[inline]
    pub(super) fn imply_ends(&mut self, tag: Tag, flags: u32) {
        match tag {
            Tag::Li => self.close_item(&[Tag::Li]),
            Tag::Dd | Tag::Dt => self.close_item(&[Tag::Dd, Tag::Dt]),
            Tag::Td | Tag::Th => {
                self.clear_to(&[Tag::Table, Tag::Template, Tag::Tbody, Tag::Thead, Tag::Tfoot, Tag::Tr]);
            }
            Tag::Tr => self.clear_to(&[Tag::Table, Tag::Template, Tag::Tbody, Tag::Thead, Tag::Tfoot]),
            _ if flags & tag::PART != 0 => self.clear_to(&[Tag::Table, Tag::Template]),
            Tag::Table => {
                let in_table = self.open.find_tag(Tag::Table, Reach::Table);
                if let Some(place) = in_table
                    && self.open.find_any(&[Tag::Td, Tag::Th, Tag::Caption], Reach::Table).is_none()
                {
                    self.close_to(place);
                }
            }
            Tag::Button => {
                if let Some(place) = self.open.find_tag(Tag::Button, Reach::Scope) {
                    self.close_to(place);
                }
            }
            Tag::Option | Tag::Optgroup => {
                while self.open.top().is_some_and(|top| {
                    top.tag == Tag::Option as u8 || (tag == Tag::Optgroup && top.tag == Tag::Optgroup as u8)
                }) {
                    self.close_top();
                }
            }
            _ => {}
        }
        if flags & tag::ENDS_P != 0
            && let Some(place) = self.open.find_tag(Tag::P, Reach::Button)
        {
            self.close_to(place);
        }
        if tag.is_heading() && self.open.top().is_some_and(|top| (Tag::H1 as u8..=Tag::H6 as u8).contains(&top.tag)) {
            self.close_top();
        }
    }

    pub(super) fn close_item(&mut self, tags: &[Tag]) {
        if let Some(place) = self.open.find_item(tags) {
            self.close_to(place);
        }
    }

    /// Ends all that is inside the innermost of `tags`.
    pub(super) fn clear_to(&mut self, tags: &[Tag]) {
        if let Some(place) = self.open.find_any(tags, Reach::Table) {
            self.close_to(place + 1);
        }
    }

    /// Opens an element.
    pub(super) fn push(&mut self, tag: &TagToken, flags: u32, show: Show, content: Content) {
        let recorded = flags & tag::BLOCK != 0 && show == Show::Shown;
        let text_start = self.text.text.len() as u32;
        let entry = Entry {
            tag: tag.tag as u8,
            key: tag.key,
            flags,
            show,
            content,
            keeps_all: self.keeps_all || show != Show::Shown || content == Content::Foreign,
            pre: self.pre || flags & tag::PRE != 0,
            outline: if recorded { self.outline.len() as u32 } else { NO_OUTLINE },
            text_start,
            ..Entry::default()
        };
        if !self.open.push(entry) {
            self.reading.truncate(Truncation::Nesting);
            return;
        }
        if recorded {
            // The end is not known yet; an element that turns out to be empty is taken out again.
            let span = Span { start: text_start, end: text_start };
            let quote = if self.is_mail { self.quote(tag.tag) } else { Quote::None };
            self.outline.push(Element { tag: tag.tag, quote, depth: self.depth, span });
            self.depth += 1;
        }
        if show != self.show {
            self.hidden.writer.line();
        }
        self.settle(show, entry.pre, entry.keeps_all, content);
    }

    /// Text is now shown, and markup read, in this way.
    #[inline]
    pub(super) fn settle(&mut self, show: Show, pre: bool, keeps_all: bool, content: Content) {
        self.show = show;
        self.pre = pre;
        self.keeps_all = keeps_all;
        if content != self.content {
            self.content = content;
            self.tokens.set_cdata(content == Content::Foreign);
        }
    }

    pub(super) fn close_top(&mut self) {
        let Some(entry) = self.open.pop() else { return };
        if entry.outline != NO_OUTLINE {
            self.depth -= 1;
            match written(self.text.text, entry.text_start as usize) {
                Some(span) => self.outline[entry.outline as usize].span = span,
                // All inside it are empty too and have been taken out, so it is the last one.
                None => self.outline.truncate(entry.outline as usize),
            }
        }
        // Links end with the cell, but go on beyond the end of a block.
        if entry.flags & tag::SCOPE != 0 && self.anchor.as_ref().is_some_and(|open| open.level > self.open.len()) {
            self.close_anchor();
        }
        self.border(entry.flags);
        match self.open.top() {
            Some(&Entry { show, pre, keeps_all, content, .. }) => self.settle(show, pre, keeps_all, content),
            None => self.settle(Show::Shown, false, false, Content::Html),
        }
    }

    /// Ends the element at `place` and all inside it.
    pub(super) fn close_to(&mut self, place: usize) {
        while self.open.len() > place {
            self.close_top();
        }
    }
}
