//! The pass over a page: tokens in, text and everything else out.
//!
//! # Invariants
//! - Outline elements nest, hold text, and stand parents first. (`outlines_are_well_nested`)
//! - Every span lies in the text, on character borders. (`spans_lie_in_the_text`)
//! - Hidden text ends where its element ends. (`hidden_text_is_kept_apart`)
//! - What is commonplace in a head leaves no trace in the look of a page. (`what_any_page_has_leaves_no_trace`)

mod attributes;
mod links;
mod nesting;

use super::Scratch;
use super::frame::Frame;
use super::open::{Content, Open, Reach, Show};
use super::tag::{self, Tag};
use super::tokens::{Mode, Step, TagToken, Tokens};
use super::write::{Manner, Writer};
use crate::config::Limits;
use crate::document::links::Links;
use crate::document::{Element, Reading, Span, Truncation, noise};
use attributes::Known;
use links::OpenAnchor;

const HEADINGS: [Tag; 6] = [Tag::H1, Tag::H2, Tag::H3, Tag::H4, Tag::H5, Tag::H6];

/// So many tags are remembered at a time.
const TAGS_MAX: usize = 4096;

/// The pass over one source.
pub(super) struct Page<'s, 'a> {
    tokens: Tokens<'s>,
    open: &'a mut Open,
    frame: Frame<'a>,
    text: Output<'a>,
    hidden: Output<'a>,
    title: Output<'a>,
    outline: &'a mut Vec<Element>,
    links: &'a mut Links,
    source: &'s str,
    /// Tags whose noise has not been taken yet.
    tags: &'a mut Vec<Span>,
    tag_noise: &'a mut Vec<u8>,
    reading: &'a mut Reading,
    limits: &'a Limits,
    /// What becomes of text here.
    show: Show,
    /// Whether line feeds end lines here.
    pre: bool,
    /// Which rules hold here.
    content: Content,
    /// Whether all elements are kept here.
    keeps_all: bool,
    /// The element whose raw text comes next.
    raw: Option<Tag>,
    /// Whether that is a script that any page may have, and whose end tag is to leave no noise either.
    is_commonplace: bool,
    /// Whether mail programs have a say in what an element is.
    is_mail: bool,
    /// How many open elements are in the outline.
    depth: u16,
    anchor: Option<OpenAnchor>,
}

/// A text with its writer.
struct Output<'a> {
    writer: Writer,
    text: &'a mut String,
}

impl<'s, 'a> Page<'s, 'a> {
    /// Ready to read `source` into the parts of a document.
    pub(super) fn new(
        source: &'s str,
        limits: &'a Limits,
        frame_key: u64,
        scratch: &'a mut Scratch,
        document: &'a mut crate::document::Document,
    ) -> Self {
        scratch.open.reset(limits.nesting_max);
        let markup = &mut document.markup;
        let bytes_max = limits.text_bytes_max;
        let output = |text: &'a mut String| Output { writer: Writer::new(text, bytes_max), text };
        let mut title = output(&mut document.title);
        // A mail's subject, or the title of its first part, stays.
        title.writer.full = !title.text.is_empty();
        Self {
            tokens: Tokens::with_buffer(source, std::mem::take(&mut scratch.attributes), limits.attributes_max),
            open: &mut scratch.open,
            frame: Frame::new(frame_key, limits.frame_items_max, &mut scratch.seen, &mut markup.frame),
            text: output(&mut document.text),
            hidden: output(&mut document.hidden),
            title,
            outline: &mut document.outline,
            links: &mut document.links,
            source,
            tags: &mut scratch.tags,
            tag_noise: &mut markup.tag_noise,
            reading: &mut document.reading,
            limits,
            show: Show::Shown,
            pre: false,
            content: Content::Html,
            keeps_all: false,
            raw: None,
            is_commonplace: false,
            is_mail: document.mail.is_some(),
            depth: 0,
            anchor: None,
        }
    }

    /// Reads it all; the attribute buffer, for the next page.
    pub(super) fn read(mut self) -> Vec<super::tokens::Attribute> {
        let hidden_start = self.hidden.text.len();
        loop {
            match self.tokens.step() {
                Step::Start => self.start(),
                Step::Text => self.write(true),
                Step::End => self.end(),
                Step::Raw => self.write(false),
                Step::Comment => self.reading.n_comments += 1,
                Step::Doctype => {}
                Step::Done => break,
            }
        }
        self.close_to(0);
        self.close_anchor();
        self.strip_tags();
        let hidden = &self.hidden.text.as_bytes()[hidden_start..];
        let n_hidden = hidden.iter().filter(|&&byte| byte != b'\n' && byte & 0xC0 != 0x80).count();
        self.reading.n_hidden_chars += n_hidden + self.text.writer.n_invisible + self.hidden.writer.n_invisible;
        for (cut, what) in [
            (self.text.writer.full || self.hidden.writer.full, Truncation::Text),
            (self.tokens.attributes_cut(), Truncation::Attributes),
            (self.frame.cut, Truncation::Frame),
        ] {
            if cut {
                self.reading.truncate(what);
            }
        }
        self.tokens.into_buffer()
    }

    /// Remembers a tag for its noise, which costs less for many at once.
    #[inline]
    fn note(&mut self, tag: &TagToken) {
        self.tags.push(tag.span);
        if self.tags.len() >= TAGS_MAX {
            self.strip_tags();
        }
    }

    #[cold]
    fn strip_tags(&mut self) {
        noise::strip_tags(self.source, self.tags, self.tag_noise);
        self.tags.clear();
    }

    /// Writes the newest text where it belongs.
    #[inline]
    fn write(&mut self, entities: bool) {
        let (start, end) = self.tokens.text;
        let mut lines = self.pre;
        if let Some(raw) = self.raw {
            match raw {
                Tag::Title => {
                    let manner = Manner { entities, lines: false };
                    return self.title.writer.write(self.source, start, end, manner, self.title.text);
                }
                Tag::Script | Tag::Style => return self.reading.n_script_bytes += end - start,
                Tag::Iframe | Tag::Noembed | Tag::Noframes => return,
                _ => lines = true,
            }
        }
        let output = match self.show {
            Show::Shown => &mut self.text,
            Show::Hidden | Show::TooSmall => &mut self.hidden,
            Show::Dropped => return,
        };
        output.writer.write(self.source, start, end, Manner { entities, lines }, output.text);
    }

    /// What follows stands on another line, or is another word, if `flags` say so.
    #[inline]
    fn border(&mut self, flags: u32) {
        if flags & (tag::BLOCK | tag::LINE) != 0 {
            self.text.writer.line();
            self.hidden.writer.line();
        } else if flags & tag::ATOM != 0 {
            self.text.writer.space();
            self.hidden.writer.space();
        }
    }

    #[inline]
    fn start(&mut self) {
        let tag = self.tokens.tag;
        let tag = &tag;
        self.reading.n_tags += 1;
        let is_commonplace = self.is_commonplace(tag);
        if !is_commonplace {
            self.note(tag);
        }
        let known = self.attributes(tag, is_commonplace);
        let mut flags = tag.tag.flags();
        self.raw = None;
        if self.content == Content::Foreign {
            if flags & tag::BREAKOUT == 0 {
                return self.start_foreign(tag, &known);
            }
            while self.open.top().is_some_and(|top| top.content == Content::Foreign) {
                self.close_top();
            }
        }
        if flags & tag::PART != 0 && !self.open.has(Tag::Table) {
            return;
        }
        if flags & tag::KEPT != 0 || flags & tag::ENDS_P != 0 {
            self.imply_ends(tag.tag, flags);
        }
        match tag.tag {
            Tag::A => self.start_anchor(&known),
            Tag::Link | Tag::Meta | Tag::Base => self.head(tag.tag, &known, is_commonplace),
            Tag::Script => {
                if let Some(src) = self.value(known.src).filter(|_| !is_commonplace) {
                    self.frame.script(src);
                }
                self.raw = Some(Tag::Script);
                self.is_commonplace = is_commonplace;
                return;
            }
            Tag::Style | Tag::Iframe | Tag::Noembed | Tag::Noframes | Tag::Title => {
                self.border(flags);
                self.raw = Some(tag.tag);
                return;
            }
            Tag::Textarea | Tag::Xmp | Tag::Plaintext => self.raw = Some(tag.tag),
            Tag::Option => self.reading.n_options += 1,
            Tag::Input => {
                if let Some(place) = self.open.find_tag(Tag::Select, Reach::Scope) {
                    self.close_to(place);
                }
            }
            Tag::Select => {
                if let Some(place) = self.open.find_tag(Tag::Select, Reach::Scope) {
                    return self.close_to(place);
                }
            }
            _ => {}
        }
        self.border(flags);
        if flags & tag::VOID != 0 {
            return;
        }
        let content = match tag.tag {
            Tag::Svg | Tag::Math if tag.self_closing => return,
            Tag::Svg | Tag::Math => Content::Foreign,
            _ => Content::Html,
        };
        // A page that hides all of itself shows itself by script.
        let show = match tag.tag {
            Tag::Html | Tag::Body | Tag::Head => self.show,
            _ => self.shown(flags, &known),
        };
        if flags & tag::KEPT == 0 {
            if show == Show::Shown && !self.keeps_all {
                return;
            }
            flags &= !tag::SPECIAL;
        }
        self.push(tag, flags, show, content);
    }

    /// A start tag inside SVG or MathML, where names mean other things and `/>` ends an element.
    fn start_foreign(&mut self, tag: &TagToken, known: &Known) {
        self.tokens.set_mode(Mode::Data);
        self.border(tag::ATOM);
        if tag.tag == Tag::A {
            self.start_anchor(known);
        }
        if tag.self_closing {
            return;
        }
        let (flags, content) = match tag.tag {
            Tag::ForeignObject | Tag::AnnotationXml | Tag::Desc | Tag::Title => {
                (tag::SCOPE | tag::SPECIAL, Content::Html)
            }
            Tag::Mi | Tag::Mn | Tag::Mo | Tag::Ms | Tag::Mtext => (tag::SCOPE | tag::SPECIAL, Content::Html),
            _ => (0, Content::Foreign),
        };
        let unseen = match tag.tag {
            Tag::Desc | Tag::Title | Tag::Metadata | Tag::Script | Tag::Style => tag::UNSEEN,
            Tag::Annotation | Tag::AnnotationXml => tag::UNSEEN,
            _ => 0,
        };
        let show = self.shown(unseen, known);
        self.push(tag, flags | tag::ATOM, show, content);
    }

    #[inline]
    fn end(&mut self) {
        let tag = self.tokens.tag;
        let tag = &tag;
        if !std::mem::take(&mut self.is_commonplace) {
            self.note(tag);
        }
        let flags = tag.tag.flags();
        if self.raw.take().is_some() {
            self.border(flags);
        }
        if tag.tag == Tag::A {
            self.close_anchor();
        }
        if self.open.close_deeper(tag.tag, tag.key) {
            return self.border(flags);
        }
        let place = match tag.tag {
            Tag::Br => return self.border(tag::LINE),
            Tag::Form => {
                self.border(tag::LINE);
                self.open.find(tag.tag, tag.key, Reach::Scope)
            }
            Tag::P => {
                let place = self.open.find_tag(Tag::P, Reach::Button);
                if place.is_none() {
                    self.border(tag::LINE);
                }
                place
            }
            Tag::Li => self.open.find_tag(Tag::Li, Reach::List),
            Tag::Table => self.open.find_tag(Tag::Table, Reach::Table),
            Tag::Template => self.open.find_anywhere(Tag::Template),
            heading if heading.is_heading() => self.open.find_any(&HEADINGS, Reach::Scope),
            _ if flags & tag::PART != 0 => self.open.find(tag.tag, tag.key, Reach::Table),
            _ if flags & (tag::ENDS_P | tag::SCOPE | tag::BUTTON) != 0 => {
                self.open.find(tag.tag, tag.key, Reach::Scope)
            }
            _ => {
                if flags & tag::KEPT == 0 {
                    // Not on the stack, unless it is hidden.
                    self.border(flags);
                }
                if !self.keeps_all && flags & tag::KEPT == 0 {
                    return;
                }
                self.open.find(tag.tag, tag.key, Reach::Special)
            }
        };
        if let Some(place) = place {
            self.close_to(place);
        }
    }
}
