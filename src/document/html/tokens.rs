//! The bare tokenizer: text, tags and comments of an HTML source, in one pass and without a copy.
//!
//! It follows the tokenizer of the HTML standard where words and attributes are concerned and leaves out what only a
//! browser needs: parse errors, the parts of a doctype, duplicate attributes (the first counts; the caller stops
//! there). Text comes as it is written; [`entities`](super::entities) decodes it where it is wanted. After the start
//! tag of a script, style, title and the like, the text up to its end tag comes as one token.
//!
//! # Invariants
//! - The html5lib tokenizer tests pass, but for what is listed there. (`tests/promises/html/`)
//! - Every byte is looked at a bounded number of times. (`hostile_input_takes_linear_time`)
//! - Tokens are slices of the source in source order. (`tokens_lie_in_the_source_in_order`)

use super::swar::{self, NAME, NAME_OR_EQUALS};
use super::tag::{self, Tag};
use crate::document::Span;
use memchr::{memchr, memchr2};

/// One token of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token<'s> {
    /// Text with entities as they are written.
    Text(&'s str),
    /// Text in which nothing is an entity: that of scripts, styles and the like, and CDATA sections.
    Raw(&'s str),
    /// A start tag; its attributes are [`Tokens::attributes`] until the next token.
    Start(TagToken),
    /// An end tag.
    End(TagToken),
    /// A comment, and what the standard reads as one (`<?…>`, `<!…>`, `</ …>`): the text inside.
    Comment(&'s str),
    /// A doctype: the text after that word.
    Doctype(&'s str),
}

/// A start or end tag, as places in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TagToken {
    /// The name in lower case, packed: equal for equal names.
    pub key: u64,
    /// From `<` to after `>`.
    pub span: Span,
    name_len: u32,
    /// The element.
    pub tag: Tag,
    /// Whether it ends in `/>`.
    pub self_closing: bool,
}

/// An attribute of a start tag, as places in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// The name in lower case, packed: equal for equal names.
    pub key: u64,
    name: (u32, u32),
    value: (u32, u32),
}

/// How the text that follows is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Markup.
    Data,
    /// Text with entities, up to the end tag of that element (title, textarea).
    Rcdata(Tag),
    /// Text, up to the end tag of that element (style, xmp, iframe, noembed, noframes).
    Rawtext(Tag),
    /// The text of a script.
    Script,
    /// Text, up to the end of the source.
    Plaintext,
}

/// What [`Tokens::step`] has come to; the particulars stand in the tokenizer, since an enum that holds them is written
/// to memory and read back for every tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// `self.text`
    Text,
    /// `self.text`
    Raw,
    /// `self.tag`
    Start,
    /// `self.tag`
    End,
    /// `self.text`
    Comment,
    /// `self.text`
    Doctype,
    /// The source has ended.
    Done,
}

/// The tokens of a source. Not an [`Iterator`], since the attributes belong to the newest token alone.
pub struct Tokens<'s> {
    source: &'s str,
    at: usize,
    /// The text of the newest token.
    pub(super) text: (usize, usize),
    /// The newest tag.
    pub(super) tag: TagToken,
    mode: Mode,
    cdata: bool,
    attributes: Vec<Attribute>,
    attributes_max: usize,
    attributes_cut: bool,
}

impl<'s> Tokens<'s> {
    /// The tokens of `source`, of which attribute positions are kept in 32 bits. Panics on sources of 4 GiB.
    pub fn new(source: &'s str) -> Self {
        Self::with_buffer(source, Vec::new(), usize::MAX)
    }

    /// The same with a used buffer, and at most `attributes_max` attributes of a tag kept.
    pub fn with_buffer(source: &'s str, mut buffer: Vec<Attribute>, attributes_max: usize) -> Self {
        assert!(u32::try_from(source.len()).is_ok(), "a source of {} bytes", source.len());
        buffer.clear();
        Self {
            source,
            at: 0,
            text: (0, 0),
            tag: TagToken { key: 0, span: Span::default(), name_len: 0, tag: Tag::Other, self_closing: false },
            mode: Mode::Data,
            cdata: false,
            attributes: buffer,
            attributes_max,
            attributes_cut: false,
        }
    }

    /// The buffer, for the next source.
    pub fn into_buffer(self) -> Vec<Attribute> {
        self.attributes
    }

    /// Whether a tag had more attributes than are kept.
    pub fn attributes_cut(&self) -> bool {
        self.attributes_cut
    }

    /// Says how the text that follows is read. A start tag sets it by its name; inside SVG that is wrong.
    pub fn set_mode(&mut self, mode: Mode) {
        self.mode = mode;
    }

    /// Says whether `<![CDATA[` starts text, as in SVG and MathML, or a comment, as elsewhere.
    pub fn set_cdata(&mut self, cdata: bool) {
        self.cdata = cdata;
    }

    /// The attributes of the start tag that came last, in order, repeated ones included.
    #[inline]
    pub fn attributes(&self) -> &[Attribute] {
        &self.attributes
    }

    /// A tag as written, from `<` to `>`.
    pub fn tag_source(&self, tag: &TagToken) -> &'s str {
        &self.source[tag.span.range()]
    }

    /// A tag's name as written.
    pub fn tag_name(&self, tag: &TagToken) -> &'s str {
        let source = self.tag_source(tag);
        let start = if source.as_bytes()[1] == b'/' { 2 } else { 1 };
        &source[start..start + tag.name_len as usize]
    }

    /// An attribute's name as written.
    pub fn attribute_name(&self, attribute: &Attribute) -> &'s str {
        &self.source[attribute.name.0 as usize..attribute.name.1 as usize]
    }

    /// An attribute's value as written, without its quotes. Empty where there is none.
    #[inline]
    pub fn value(&self, attribute: &Attribute) -> &'s str {
        &self.source[attribute.value.0 as usize..attribute.value.1 as usize]
    }

    /// The next token.
    #[expect(clippy::should_implement_trait, reason = "an iterator could not lend the attributes")]
    #[inline]
    pub fn next(&mut self) -> Option<Token<'s>> {
        let step = self.step();
        let text = &self.source[self.text.0..self.text.1];
        Some(match step {
            Step::Text => Token::Text(text),
            Step::Raw => Token::Raw(text),
            Step::Start => Token::Start(self.tag),
            Step::End => Token::End(self.tag),
            Step::Comment => Token::Comment(text),
            Step::Doctype => Token::Doctype(text),
            Step::Done => return None,
        })
    }

    /// Goes to the next token.
    #[inline(always)]
    pub(super) fn step(&mut self) -> Step {
        if self.at >= self.source.len() {
            return Step::Done;
        }
        if self.mode != Mode::Data {
            let step = self.raw();
            if step != Step::Done {
                return step;
            }
        }
        self.data()
    }

    #[inline]
    fn byte(&self, at: usize) -> u8 {
        self.source.as_bytes().get(at).copied().unwrap_or(0)
    }

    #[inline(always)]
    fn data(&mut self) -> Step {
        let bytes = self.source.as_bytes();
        let mut start = self.at;
        let mut from = start;
        loop {
            let open = match bytes.get(from) {
                Some(b'<') => from,
                Some(_) => match swar::find(b'<', bytes, from) {
                    Some(found) => found,
                    None => break,
                },
                None => break,
            };
            let next = self.byte(open + 1);
            let markup = match next {
                b'a'..=b'z' | b'A'..=b'Z' | b'!' | b'?' => true,
                b'/' => open + 2 < bytes.len(),
                _ => false,
            };
            if !markup {
                from = open + 1;
                continue;
            }
            if open > start {
                self.at = open;
                self.text = (start, open);
                return Step::Text;
            }
            let is_end = match next {
                b'!' => return self.declaration(open),
                b'?' => return self.bogus_comment(open + 1),
                b'/' => match bytes[open + 2] {
                    b'a'..=b'z' | b'A'..=b'Z' => true,
                    // `</>` is nothing at all.
                    b'>' => {
                        start = open + 3;
                        from = start;
                        continue;
                    }
                    _ => return self.bogus_comment(open + 2),
                },
                _ => false,
            };
            return self.read_tag(open, is_end);
        }
        self.at = bytes.len();
        self.text = (start, bytes.len());
        if start < bytes.len() { Step::Text } else { Step::Done }
    }

    /// Reads a tag from its name on. A tag that the source ends in is none: the rest is dropped, as browsers do.
    #[inline(always)]
    fn read_tag(&mut self, open: usize, is_end: bool) -> Step {
        let bytes = self.source.as_bytes();
        let name_at = open + 1 + usize::from(is_end);
        self.attributes.clear();
        let (name_end, key) = swar::name::<NAME>(bytes, name_at);
        let (mut end, mut self_closing) = (name_end + 1, false);
        if self.byte(name_end) != b'>' {
            match self.read_attributes(name_end) {
                Some(found) => (end, self_closing) = found,
                None => return Step::Done,
            }
        }
        self.at = end;
        let tag = Tag::of(key);
        let span = Span { start: open as u32, end: end as u32 };
        self.tag = TagToken { key, span, name_len: (name_end - name_at) as u32, tag, self_closing };
        self.mode = Mode::Data;
        if is_end {
            return Step::End;
        }
        if tag.is(tag::RAW) {
            self.mode = match tag {
                Tag::Title | Tag::Textarea => Mode::Rcdata(tag),
                Tag::Script => Mode::Script,
                Tag::Plaintext => Mode::Plaintext,
                _ => Mode::Rawtext(tag),
            };
        }
        Step::Start
    }

    /// Reads the attributes of a tag; the place after its `>`, and whether a `/` stands before that.
    #[inline(never)]
    fn read_attributes(&mut self, mut at: usize) -> Option<(usize, bool)> {
        let bytes = self.source.as_bytes();
        loop {
            match bytes.get(at) {
                Some(b' ' | b'\t' | b'\n' | b'\r' | b'\x0C') => at += 1,
                Some(b'>') => return Some((at + 1, false)),
                Some(b'/') => {
                    at += 1;
                    if bytes.get(at) == Some(&b'>') {
                        return Some((at + 1, true));
                    }
                }
                Some(_) => at = self.read_attribute(at),
                None => {
                    self.at = bytes.len();
                    return None;
                }
            }
        }
    }

    /// Reads one attribute, whose name starts `at` (with any byte, even `=`); the place after it.
    #[inline]
    fn read_attribute(&mut self, name_at: usize) -> usize {
        let bytes = self.source.as_bytes();
        let (name_end, key) = swar::name::<NAME_OR_EQUALS>(bytes, name_at);
        let mut at = name_end;
        if self.byte(at) != b'=' {
            at = swar::after_space(bytes, at);
        }
        let mut value = (at, at);
        if self.byte(at) == b'=' {
            at += 1;
            let mut quote = self.byte(at);
            if quote != b'"' {
                at = swar::after_space(bytes, at);
                quote = self.byte(at);
            }
            match quote {
                b'"' | b'\'' => {
                    let end = swar::find(quote, bytes, at + 1).unwrap_or(bytes.len());
                    value = (at + 1, end);
                    at = end + 1;
                }
                _ => {
                    let end = swar::unquoted_end(bytes, at);
                    value = (at, end);
                    at = end;
                }
            }
        }
        if self.attributes.len() < self.attributes_max {
            let place = |(start, end): (usize, usize)| (start as u32, end as u32);
            self.attributes.push(Attribute { key, name: place((name_at, name_end)), value: place(value) });
        } else {
            self.attributes_cut = true;
        }
        at
    }

    /// What starts with `<!`.
    fn declaration(&mut self, open: usize) -> Step {
        let bytes = self.source.as_bytes();
        let rest = &bytes[open + 2..];
        if rest.starts_with(b"--") {
            return self.comment(open + 4);
        }
        let start = open + 9;
        if rest.len() >= 7 && rest[..7].eq_ignore_ascii_case(b"doctype") {
            let end = memchr(b'>', &bytes[start..]).map_or(bytes.len(), |found| start + found);
            self.at = end + 1;
            self.text = (start, end);
            return Step::Doctype;
        }
        if self.cdata && rest.starts_with(b"[CDATA[") {
            let found = memchr::memmem::find(&bytes[start..], b"]]>");
            let end = found.map_or(bytes.len(), |found| start + found);
            self.at = end + 3;
            self.text = (start, end);
            return Step::Raw;
        }
        self.bogus_comment(open + 2)
    }

    /// A comment whose text starts at `start`. It ends at `-->`, whose dashes may be those of `<!--`, or at `--!>`.
    fn comment(&mut self, start: usize) -> Step {
        let bytes = self.source.as_bytes();
        let mut from = start;
        while let Some(found) = memchr(b'>', &bytes[from..]) {
            let close = from + found;
            let end = if bytes[close - 2..close] == *b"--" {
                close - 2
            } else if close >= start + 3 && bytes[close - 3..close] == *b"--!" {
                close - 3
            } else {
                from = close + 1;
                continue;
            };
            self.at = close + 1;
            self.text = (start, end.max(start));
            return Step::Comment;
        }
        self.at = bytes.len();
        // What might have become the end is not part of it.
        let cut =
            [&b"--!"[..], b"--", b"-"].iter().find(|end| bytes[start..].ends_with(end)).map_or(0, |end| end.len());
        self.text = (start, bytes.len() - cut);
        Step::Comment
    }

    /// What is read as a comment up to the next `>`.
    fn bogus_comment(&mut self, start: usize) -> Step {
        let bytes = self.source.as_bytes();
        let end = memchr(b'>', &bytes[start..]).map_or(bytes.len(), |found| start + found);
        self.at = end + 1;
        self.text = (start, end);
        Step::Comment
    }

    /// The text up to the end tag of a raw element, or `Done` where that end tag is next.
    fn raw(&mut self) -> Step {
        let start = self.at;
        let end = match self.mode {
            Mode::Data => start,
            Mode::Plaintext => self.source.len(),
            Mode::Script => self.script_end(start),
            Mode::Rcdata(tag) | Mode::Rawtext(tag) => self.raw_end(start, tag.name()),
        };
        if end == start {
            return Step::Done;
        }
        self.at = end;
        self.text = (start, end);
        if matches!(self.mode, Mode::Rcdata(_)) { Step::Text } else { Step::Raw }
    }

    /// Where the end tag of `name` starts, or the end of the source.
    fn raw_end(&self, start: usize, name: &str) -> usize {
        let bytes = self.source.as_bytes();
        let mut from = start;
        while let Some(found) = memchr(b'<', &bytes[from..]) {
            let open = from + found;
            if self.byte(open + 1) == b'/' && swar::is_named(bytes, open + 2, name) {
                return open;
            }
            from = open + 1;
        }
        bytes.len()
    }

    /// The same for a script, where `<!--` and then `<script` hide one `</script`.
    fn script_end(&self, start: usize) -> usize {
        let bytes = self.source.as_bytes();
        let mut from = start;
        let (mut escaped, mut doubly) = (false, false);
        loop {
            let found = if escaped { memchr2(b'<', b'>', &bytes[from..]) } else { memchr(b'<', &bytes[from..]) };
            let Some(found) = found else { return bytes.len() };
            let at = from + found;
            from = at + 1;
            if bytes[at] == b'>' {
                if bytes[at - 2..at] == *b"--" {
                    (escaped, doubly) = (false, false);
                }
                continue;
            }
            match self.byte(at + 1) {
                b'/' if swar::is_named(bytes, at + 2, "script") => {
                    if !doubly {
                        return at;
                    }
                    doubly = false;
                }
                b'!' if !escaped && bytes[at..].starts_with(b"<!--") => {
                    escaped = true;
                    from = at + 4;
                }
                b's' | b'S' if escaped && !doubly && swar::is_named(bytes, at + 1, "script") => doubly = true,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The tokens in a short form: text as it is, tags as `<name a=b>` and `</name>`, comments as `<!text>`.
    fn short(source: &str) -> String {
        let mut tokens = Tokens::new(source);
        let mut short = String::new();
        while let Some(token) = tokens.next() {
            match token {
                Token::Text(text) => short.push_str(text),
                Token::Raw(text) => short.push_str(&format!("{{{text}}}")),
                Token::Start(tag) => {
                    short.push_str(&format!("<{}", tokens.tag_name(&tag)));
                    for attribute in tokens.attributes() {
                        short.push_str(&format!(" {}", tokens.attribute_name(attribute)));
                        if !tokens.value(attribute).is_empty() {
                            short.push_str(&format!("={}", tokens.value(attribute)));
                        }
                    }
                    short.push_str(if tag.self_closing { "/>" } else { ">" });
                }
                Token::End(tag) => short.push_str(&format!("</{}>", tokens.tag_name(&tag))),
                Token::Comment(text) => short.push_str(&format!("<!{text}>")),
                Token::Doctype(text) => short.push_str(&format!("<!doctype{text}>")),
            }
        }
        short
    }

    #[test]
    fn tags_and_attributes() {
        for (source, tokens) in [
            ("a<b>c</b>", "a<b>c</b>"),
            ("<a href=x title='y z' hidden data-q=\"1>2\">", "<a href=x title=y z hidden data-q=1>2>"),
            ("<a b = c d= e f =g h =\n'i'>", "<a b=c d=e f=g h=i>"),
            ("<a b=c/d>", "<a b=c/d>"),
            ("<a b=c/>", "<a b=c/>"),
            ("<br/><br /><br / x>", "<br/><br/><br x>"),
            ("<a b=>c", "<a b>c"),
            ("<a =b=c>", "<a =b=c>"),
            ("<a b'c\"d>", "<a b'c\"d>"),
            ("<a b=\"c\"d>", "<a b=c d>"),
            ("1 < 2 <3 <<b>", "1 < 2 <3 <<b>"),
            ("a</>b</ c>d", "ab<! c>d"),
            ("</p x=\">\">y", "</p>y"),
            ("x<", "x<"),
            ("x</", "x</"),
            ("x<a", "x"),
            ("x<a b=\"c", "x"),
            ("x</a ", "x"),
        ] {
            assert_eq!(short(source), tokens, "{source}");
        }
    }

    #[test]
    fn comments_end_as_in_browsers() {
        for (source, tokens) in [
            ("<!--a-->b", "<!a>b"),
            ("<!-->a", "<!>a"),
            ("<!--->a", "<!>a"),
            ("<!---->a", "<!>a"),
            ("<!--a--!>b", "<!a>b"),
            ("<!--!>a-->b", "<!!>a>b"),
            ("<!---!>a-->b", "<!-!>a>b"),
            ("<!----!>a", "<!>a"),
            ("<!--a>b--->c", "<!a>b->c"),
            ("<!--a", "<!a>"),
            ("<?php a > b", "<!?php a > b"),
            ("<!x>a", "<!x>a"),
            ("<!DocType html>a", "<!doctype html>a"),
            ("<![CDATA[x]]>a", "<![CDATA[x]]>a"),
        ] {
            assert_eq!(short(source), tokens, "{source}");
        }
    }

    #[test]
    fn raw_text_ends_at_its_own_end_tag() {
        for (source, tokens) in [
            ("<title>a<b>&amp;</b></TITLE >c", "<title>a<b>&amp;</b></TITLE>c"),
            ("<style>a<b></styles></style>c", "<style>{a<b></styles>}</style>c"),
            ("<script>a</scrip></script/>b", "<script>{a</scrip>}</script>b"),
            ("<script><!--<script></script>--></script>b", "<script>{<!--<script></script>-->}</script>b"),
            ("<script><!--<script></script></script>b", "<script>{<!--<script></script>}</script>b"),
            ("<script><!--</script>b", "<script>{<!--}</script>b"),
            ("<script><!--><script></script>b", "<script>{<!--><script>}</script>b"),
            ("<script><!--<script>--></script>b", "<script>{<!--<script>-->}</script>b"),
            ("<script>a</script", "<script>{a</script}"),
            ("<plaintext></plaintext>", "<plaintext>{</plaintext>}"),
            ("<textarea></textarea>", "<textarea></textarea>"),
        ] {
            assert_eq!(short(source), tokens, "{source}");
        }
    }

    #[test]
    fn further_attributes_are_passed_over() {
        let mut tokens = Tokens::with_buffer("<a b c d>e", Vec::new(), 2);
        assert!(matches!(tokens.next(), Some(Token::Start(_))));
        assert_eq!(tokens.attributes().len(), 2);
        assert!(tokens.attributes_cut());
        assert_eq!(tokens.next(), Some(Token::Text("e")));
    }

    proptest! {
        #[test]
        fn tokens_lie_in_the_source_in_order(source in super::super::tests::hostile()) {
            let mut tokens = Tokens::new(&source);
            let mut end = source.as_ptr() as usize;
            while let Some(token) = tokens.next() {
                let text = match token {
                    Token::Text(text) | Token::Raw(text) | Token::Comment(text) | Token::Doctype(text) => text,
                    Token::Start(tag) | Token::End(tag) => tokens.tag_source(&tag),
                };
                prop_assert!(text.as_ptr() as usize >= end);
                end = text.as_ptr() as usize + text.len();
            }
            prop_assert!(end <= source.as_ptr() as usize + source.len());
        }
    }
}
