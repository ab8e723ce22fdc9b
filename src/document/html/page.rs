//! The pass over a page: tokens in, text and everything else out.
//!
//! # Invariants
//! - Outline elements nest, hold text, and stand parents first. (`outlines_are_well_nested`)
//! - Every span lies in the text, on character borders. (`spans_lie_in_the_text`)
//! - Hidden text ends where its element ends. (`hidden_text_is_kept_apart`)

use super::Scratch;
use super::entities::push_value;
use super::frame::Frame;
use super::hiding;
use super::open::{Content, Entry, NO_OUTLINE, Open, Reach, Show};
use super::tag::{self, Tag, key};
use super::tokens::{Mode, Step, TagToken, Tokens};
use super::write::{Manner, Writer, written};
use crate::config::Limits;
use crate::document::links::{Anchor, Links};
use crate::document::{Element, Reading, Span, Truncation, noise};

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
    /// How many open elements are in the outline.
    depth: u16,
    anchor: Option<OpenAnchor>,
}

/// A text with its writer.
struct Output<'a> {
    writer: Writer,
    text: &'a mut String,
}

/// A link that has not ended.
struct OpenAnchor {
    index: usize,
    text_start: usize,
    /// How many elements were open around it.
    level: usize,
}

/// The attributes of a start tag that mean something here, each where it was first met: places among the attributes.
#[derive(Clone, Copy)]
struct Known {
    href: u32,
    rel: u32,
    src: u32,
    name: u32,
    style: u32,
    id: u32,
    hidden: u32,
}

const MISSING: u32 = u32::MAX;

impl Known {
    const NONE: Self =
        Self { href: MISSING, rel: MISSING, src: MISSING, name: MISSING, style: MISSING, id: MISSING, hidden: MISSING };
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
        self.note(tag);
        let known = self.attributes(tag);
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
            Tag::Link | Tag::Meta | Tag::Base => self.head(tag.tag, &known),
            Tag::Script => {
                if let Some(src) = self.value(known.src) {
                    self.frame.script(src);
                }
                self.raw = Some(Tag::Script);
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

    /// Looks at every attribute: the frame wants their names, the rest a few of their values.
    #[inline(always)]
    fn attributes(&mut self, tag: &TagToken) -> Known {
        const HREF: u64 = key(b"href");
        const REL: u64 = key(b"rel");
        const SRC: u64 = key(b"src");
        const ID: u64 = key(b"id");
        const STYLE: u64 = key(b"style");
        const HIDDEN: u64 = key(b"hidden");
        const NAME: u64 = key(b"name");
        const PROPERTY: u64 = key(b"property");
        const HTTP_EQUIV: u64 = key(b"http-equiv");
        let mut known = Known::NONE;
        for (index, attribute) in self.tokens.attributes().iter().enumerate() {
            self.frame.attribute(tag, attribute, || (self.tokens.tag_name(tag), self.tokens.attribute_name(attribute)));
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
    fn value(&self, place: u32) -> Option<&'s str> {
        self.tokens.attributes().get(place as usize).map(|attribute| self.tokens.value(attribute))
    }

    /// What becomes of the text in an element with these attributes.
    #[inline]
    fn shown(&self, flags: u32, known: &Known) -> Show {
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

    /// Ends the elements that the start tag of `tag` ends.
    #[inline]
    fn imply_ends(&mut self, tag: Tag, flags: u32) {
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

    fn close_item(&mut self, tags: &[Tag]) {
        if let Some(place) = self.open.find_item(tags) {
            self.close_to(place);
        }
    }

    /// Ends all that is inside the innermost of `tags`.
    fn clear_to(&mut self, tags: &[Tag]) {
        if let Some(place) = self.open.find_any(tags, Reach::Table) {
            self.close_to(place + 1);
        }
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

    /// Opens an element.
    fn push(&mut self, tag: &TagToken, flags: u32, show: Show, content: Content) {
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
            self.outline.push(Element { tag: tag.tag, depth: self.depth, span });
            self.depth += 1;
        }
        if show != self.show {
            self.hidden.writer.line();
        }
        self.settle(show, entry.pre, entry.keeps_all, content);
    }

    /// Text is now shown, and markup read, in this way.
    #[inline]
    fn settle(&mut self, show: Show, pre: bool, keeps_all: bool, content: Content) {
        self.show = show;
        self.pre = pre;
        self.keeps_all = keeps_all;
        if content != self.content {
            self.content = content;
            self.tokens.set_cdata(content == Content::Foreign);
        }
    }

    fn close_top(&mut self) {
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
    fn close_to(&mut self, place: usize) {
        while self.open.len() > place {
            self.close_top();
        }
    }

    #[inline]
    fn end(&mut self) {
        let tag = self.tokens.tag;
        let tag = &tag;
        self.note(tag);
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

    fn start_anchor(&mut self, known: &Known) {
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
    fn close_anchor(&mut self) {
        if let Some(open) = self.anchor.take()
            && let Some(span) = written(self.text.text, open.text_start)
        {
            self.links.anchors[open.index].text = span;
        }
    }

    /// What stands in a head: `<link>`, `<meta>`, `<base>`.
    fn head(&mut self, tag: Tag, known: &Known) {
        let value = |value: &str| {
            let mut decoded = String::new();
            push_value(value.trim_ascii(), &mut decoded);
            decoded
        };
        let (rel, href, name) = (self.value(known.rel), self.value(known.href), self.value(known.name));
        match tag {
            Tag::Link => {
                let Some(rel) = rel else { return };
                self.frame.link(rel, href.unwrap_or(""));
                let is_canonical = rel.split_ascii_whitespace().any(|word| word.eq_ignore_ascii_case("canonical"));
                if is_canonical && self.links.canonical.is_none() {
                    self.links.canonical = href.map(value);
                }
            }
            Tag::Meta => {
                if let Some(name) = name {
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
