//! Content regions: which blocks of a page are its content (Kang 2009).
//!
//! From the children of the body on, a node that holds at least half of all characters is replaced by its children and
//! its own text, until all that are left hold less (or have no children). Nodes of the same depth and tag are one
//! block, and it is content unless half of its characters are links or its longest sentence is very short. What
//! stands in headings is left out of both tests: headings are short, often links, and still content.
//!
//! The outline is a tree written in document order, so one walk over it finds the nodes, without a tree: a node is
//! looked at if its parent was replaced, and those below one that was not are passed over.
//!
//! # Invariants
//! - The result is that of the tree. (`blocks_are_those_of_the_tree`)
//! - Blocks are in order and apart, and hold all text but white space. (`blocks_are_those_of_the_tree`)
//! - Any outline is walked in linear time, even one that is no tree. (`no_outline_is_too_odd`)

use super::sentences::{Sentence, n_chars};
use crate::config::ContentSettings;
use crate::document::html::Tag;
use crate::document::{Document, Element, Span};
use std::collections::HashMap;

/// A block of the visible text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Where it is. Merged blocks (same depth, same tag) keep their own spans and share `group`.
    pub span: Span,
    /// The merged block it belongs to.
    pub group: u32,
    /// Whether that is content.
    pub content: bool,
}

/// Buffers that outlive one page.
#[derive(Default)]
pub struct Scratch {
    counts: Vec<u32>,
    open: Vec<Element>,
    groups: HashMap<(u16, Tag), u32>,
    measures: Vec<Measure>,
    headings: Vec<Span>,
}

/// What decides on a merged block. Headings do not count in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Measure {
    n_chars: usize,
    n_link_chars: usize,
    sentence_chars_max: usize,
}

impl Measure {
    fn is_content(&self, settings: &ContentSettings) -> bool {
        // A block of headings alone has nothing that could fail.
        self.n_chars == 0
            || (self.n_link_chars as f64) < settings.link_share * self.n_chars as f64
                && self.sentence_chars_max > settings.sentence_chars_max
    }
}

/// Adds the blocks of `document`, whose sentences are `sentences`, to `blocks`.
pub fn cut(
    document: &Document,
    sentences: &[Sentence],
    settings: &ContentSettings,
    scratch: &mut Scratch,
    blocks: &mut Vec<Block>,
) {
    let chars = Chars::count(&document.text, &mut scratch.counts);
    scratch.groups.clear();
    scratch.open.clear();
    let mut walk = Walk { text: &document.text, cursor: 0, groups: &mut scratch.groups, blocks };
    walk.nodes(&document.outline, settings.node_share, &chars, &mut scratch.open);

    scratch.measures.clear();
    scratch.measures.resize(scratch.groups.len(), Measure::default());
    scratch.headings.clear();
    scratch.headings.extend(document.outline.iter().filter(|element| is_heading(element.tag)).map(|h| h.span));
    let mut links = Cover::new(document.links.anchors.iter().map(|anchor| anchor.text));
    let mut sentences = sentences.iter().peekable();
    each_tested(blocks, &scratch.headings, |span, group| {
        let measure = &mut scratch.measures[group as usize];
        measure.n_chars += chars.in_text(&document.text, span);
        links.each_in(span, |link| measure.n_link_chars += chars.in_text(&document.text, link));
        while let Some(sentence) = sentences.next_if(|sentence| sentence.span.start < span.end) {
            if sentence.span.start >= span.start {
                measure.sentence_chars_max = measure.sentence_chars_max.max(sentence.n_chars as usize);
            }
        }
    });
    for block in blocks {
        block.content = scratch.measures[block.group as usize].is_content(settings);
    }
}

fn is_heading(tag: Tag) -> bool {
    matches!(tag, Tag::H1 | Tag::H2 | Tag::H3 | Tag::H4 | Tag::H5 | Tag::H6)
}

/// The walk over the outline.
struct Walk<'a> {
    text: &'a str,
    /// Where the last block ends: no text is taken twice, whatever the outline says.
    cursor: usize,
    groups: &'a mut HashMap<(u16, Tag), u32>,
    blocks: &'a mut Vec<Block>,
}

impl Walk<'_> {
    fn nodes(&mut self, outline: &[Element], node_share: f64, chars: &Chars, open: &mut Vec<Element>) {
        let all = chars.in_text(self.text, Span::new(0, self.text.len())) as f64;
        // Nodes deeper than this stand inside one that is a block already.
        let mut depth_max = 0;
        for (index, node) in outline.iter().enumerate() {
            if node.depth > depth_max {
                continue;
            }
            self.close(node.depth, open);
            self.take(node.span.start as usize, node.depth, Tag::Text);
            let has_children = outline.get(index + 1).is_some_and(|next| next.depth > node.depth);
            if has_children && chars.in_text(self.text, node.span) as f64 >= node_share * all {
                open.push(*node);
                depth_max = node.depth.saturating_add(1);
            } else {
                self.take(node.span.end as usize, node.depth, node.tag);
                depth_max = node.depth;
            }
        }
        self.close(0, open);
        self.take(self.text.len(), 0, Tag::Text);
    }

    /// Ends the replaced nodes of `depth` and deeper: the rest of their own text is a node each.
    fn close(&mut self, depth: u16, open: &mut Vec<Element>) {
        while let Some(node) = open.pop_if(|node| node.depth >= depth) {
            self.take(node.span.end as usize, node.depth.saturating_add(1), Tag::Text);
        }
    }

    /// Makes a node of what lies between the last one and `end`.
    fn take(&mut self, end: usize, depth: u16, tag: Tag) {
        if end <= self.cursor {
            return;
        }
        let whole = &self.text[self.cursor..end];
        let start = end - whole.trim_start().len();
        let span = Span::new(start.min(end), start.min(end) + self.text[start..end].trim_end().len());
        self.cursor = end;
        if !span.is_empty() {
            let next_group = self.groups.len() as u32;
            let group = *self.groups.entry((depth, tag)).or_insert(next_group);
            self.blocks.push(Block { span, group, content: false });
        }
    }
}

/// Calls `with` for what the tests look at: the blocks without their headings, in order, with their group.
fn each_tested(blocks: &[Block], headings: &[Span], mut with: impl FnMut(Span, u32)) {
    let mut headings = Cover::new(headings.iter().copied());
    for block in blocks {
        let mut from = block.span.start;
        headings.each_in(block.span, |heading| {
            if from < heading.start {
                with(Span { start: from, end: heading.start }, block.group);
            }
            from = heading.end;
        });
        if from < block.span.end {
            with(Span { start: from, end: block.span.end }, block.group);
        }
    }
}

/// What a list of spans, ordered by their starts, covers.
struct Cover<I: Iterator> {
    spans: std::iter::Peekable<I>,
    /// Nothing before it is covered again.
    from: u32,
}

impl<I: Iterator<Item = Span>> Cover<I> {
    fn new(spans: I) -> Self {
        Self { spans: spans.peekable(), from: 0 }
    }

    /// Calls `with` for the parts of `place` that are covered. Places are asked for in order.
    fn each_in(&mut self, place: Span, mut with: impl FnMut(Span)) {
        self.from = self.from.max(place.start);
        while let Some(span) = self.spans.peek().copied().filter(|span| span.start < place.end) {
            let part = Span { start: span.start.max(self.from), end: span.end.min(place.end) };
            if part.start < part.end {
                with(part);
                self.from = part.end;
            }
            if span.end > place.end {
                return;
            }
            self.spans.next();
        }
    }
}

/// The characters before every 64th byte, so that those in a span are counted in its last few bytes.
struct Chars<'a> {
    counts: &'a [u32],
}

const STEP: usize = 64;

impl<'a> Chars<'a> {
    fn count(text: &str, counts: &'a mut Vec<u32>) -> Self {
        counts.clear();
        let mut before = 0;
        for chunk in text.as_bytes().chunks(STEP) {
            counts.push(before);
            before += n_chars(chunk) as u32;
        }
        counts.push(before);
        Self { counts }
    }

    fn in_text(&self, text: &str, span: Span) -> usize {
        self.before(text, span.end) - self.before(text, span.start)
    }

    fn before(&self, text: &str, at: u32) -> usize {
        let (at, step) = (at as usize, at as usize / STEP);
        let n_before = self.counts[step] as usize;
        // As many characters as bytes: all are ASCII, and need not be counted.
        if self.counts.get(step + 1).is_some_and(|n| *n as usize - n_before == STEP) {
            return n_before + at % STEP;
        }
        n_before + n_chars(&text.as_bytes()[step * STEP..at])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Settings;
    use crate::document::Quote;
    use crate::document::links::Anchor;
    use crate::text::words::{Rules, Words};
    use crate::text::{sentences, words};
    use proptest::prelude::*;

    /// A node with its children, as the thesis draws it.
    #[derive(Clone, Debug)]
    enum Node {
        Text(String),
        Link(String),
        Element(Tag, Vec<Node>),
    }

    /// Writes the tree down as the reader would.
    fn write(nodes: &[Node], depth: u16, document: &mut Document) {
        for node in nodes {
            match node {
                Node::Text(text) => {
                    document.text.push_str(text);
                    document.text.push(' ');
                }
                Node::Link(text) => {
                    let start = document.text.len();
                    document.text.push_str(text);
                    let text = Span::new(start, document.text.len());
                    document.links.anchors.push(Anchor { href: Span::default(), text, nofollow: false });
                    document.text.push(' ');
                }
                Node::Element(tag, children) => {
                    let index = document.outline.len();
                    document.outline.push(Element { tag: *tag, quote: Quote::None, depth, span: Span::default() });
                    document.text.push('\n');
                    let start = document.text.len();
                    write(children, depth + 1, document);
                    if document.text.len() == start {
                        // Only elements that hold text are recorded.
                        document.outline.truncate(index);
                    } else {
                        document.outline[index].span = Span::new(start, document.text.len());
                    }
                    document.text.push('\n');
                }
            }
        }
    }

    fn page(nodes: &[Node]) -> (Document, Vec<Sentence>) {
        let mut document = Document::default();
        write(nodes, 0, &mut document);
        let mut units = Words::default();
        words::cut(&document.text, &Rules::plain(1), &mut units);
        let mut found = Vec::new();
        sentences::cut(&document.text, &units, &mut found);
        (document, found)
    }

    /// One node of the tree that the oracle builds again from the outline.
    struct Branch {
        element: Element,
        children: Vec<Branch>,
    }

    /// The children of one node: the elements from the front of `rest` that lie at `depth`, with all below them.
    fn grown(rest: &mut &[Element], depth: u16) -> Vec<Branch> {
        let mut branches = Vec::new();
        while let Some((element, others)) = rest.split_first()
            && element.depth == depth
        {
            *rest = others;
            branches.push(Branch { element: *element, children: grown(rest, depth + 1) });
        }
        branches
    }

    /// The regions of `span`, whose children are `branches`: elements and the text between them, the large ones
    /// replaced by their own.
    fn regions(text: &str, span: Span, depth: u16, branches: &[Branch], large: f64, found: &mut Vec<(u16, Tag, Span)>) {
        let mut from = span.start;
        for branch in branches {
            let element = branch.element;
            found.push((depth, Tag::Text, Span { start: from, end: element.span.start }));
            if !branch.children.is_empty() && text[element.span.range()].chars().count() as f64 >= large {
                regions(text, element.span, depth + 1, &branch.children, large, found);
            } else {
                found.push((depth, element.tag, element.span));
            }
            from = element.span.end;
        }
        found.push((depth, Tag::Text, Span { start: from, end: span.end }));
    }

    /// Everything the slow way: a tree, recursion, every character asked where it belongs.
    fn cut_slowly(document: &Document, sentences: &[Sentence], settings: &ContentSettings) -> Vec<(Span, bool)> {
        let text = &document.text;
        let all = text.chars().count() as f64;
        let mut found = Vec::new();
        let tree = grown(&mut &document.outline[..], 0);
        regions(text, Span::new(0, text.len()), 0, &tree, settings.node_share * all, &mut found);
        let trimmed = found.into_iter().filter_map(|(depth, tag, span)| {
            let whole = &text[span.range()];
            let start = span.end as usize - whole.trim_start().len();
            let len = whole.trim().len();
            (len > 0).then(|| ((depth, tag), Span::new(start, start + len)))
        });
        let regions: Vec<((u16, Tag), Span)> = trimmed.collect();
        let holds = |span: Span, at: usize| span.range().contains(&at);
        let is_in_heading = |at: usize| document.outline.iter().any(|e| is_heading(e.tag) && holds(e.span, at));
        let is_content = |key: (u16, Tag)| {
            let is_tested =
                |at: usize| regions.iter().any(|(k, span)| *k == key && holds(*span, at)) && !is_in_heading(at);
            let tested: Vec<usize> = text.char_indices().map(|(at, _)| at).filter(|at| is_tested(*at)).collect();
            let is_link = |at: &&usize| document.links.anchors.iter().any(|anchor| holds(anchor.text, **at));
            let n_link = tested.iter().filter(is_link).count();
            let longest = sentences.iter().filter(|s| is_tested(s.span.start as usize)).map(|s| s.n_chars).max();
            tested.is_empty()
                || !(n_link as f64 >= settings.link_share * tested.len() as f64
                    || longest.unwrap_or(0) as usize <= settings.sentence_chars_max)
        };
        regions.iter().map(|(key, span)| (*span, is_content(*key))).collect()
    }

    fn cut_fast(document: &Document, sentences: &[Sentence], settings: &ContentSettings) -> Vec<(Span, bool)> {
        let mut blocks = Vec::new();
        cut(document, sentences, settings, &mut Scratch::default(), &mut blocks);
        blocks.iter().map(|block| (block.span, block.content)).collect()
    }

    fn nodes() -> impl Strategy<Value = Vec<Node>> {
        let words = || {
            prop::sample::select(vec![
                "short",
                "Some more words here.",
                "日本語の長い文章がここにあります。",
                "é",
                "One. Two.",
            ])
        };
        let leaf = prop_oneof![
            3 => words().prop_map(|text| Node::Text(text.to_owned())),
            1 => words().prop_map(|text| Node::Link(text.to_owned())),
        ];
        let tag = || prop::sample::select(vec![Tag::Div, Tag::P, Tag::Ul, Tag::H2]);
        let node = leaf.prop_recursive(6, 60, 4, move |inner| {
            (tag(), prop::collection::vec(inner, 0..5)).prop_map(|(tag, children)| Node::Element(tag, children))
        });
        prop::collection::vec(node, 0..6)
    }

    proptest! {
        #[test]
        fn blocks_are_those_of_the_tree(nodes in nodes(), node_share in 0.1..0.9f64) {
            let (document, sentences) = page(&nodes);
            let settings = ContentSettings { node_share, ..Settings::default().content };
            let blocks = cut_fast(&document, &sentences, &settings);
            prop_assert_eq!(&blocks, &cut_slowly(&document, &sentences, &settings));
            prop_assert!(blocks.windows(2).all(|pair| pair[0].0.end <= pair[1].0.start));
            let held: String = blocks.iter().map(|(span, _)| &document.text[span.range()]).collect();
            let solid = |text: &str| text.split_whitespace().collect::<String>();
            prop_assert_eq!(solid(&held), solid(&document.text));
        }

        #[test]
        fn no_outline_is_too_odd(elements in prop::collection::vec((0..5u16, 0..60usize, 0..60usize), 0..40)) {
            let text = "Some text, and 日本語, that an outline may say anything of.".to_owned();
            let border = |at: usize| (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap();
            let outline = elements.iter().map(|&(depth, a, b)| {
                let (a, b) = (border(a), border(b));
                Element { tag: Tag::Div, quote: Quote::None, depth, span: Span::new(a.min(b), a.max(b)) }
            });
            let document = Document { outline: outline.collect(), text: text.clone(), ..Document::default() };
            let blocks = cut_fast(&document, &[], &Settings::default().content);
            prop_assert!(blocks.windows(2).all(|pair| pair[0].0.end <= pair[1].0.start));
        }
    }

    fn text(text: &str) -> Node {
        Node::Text(text.to_owned())
    }

    fn contents(nodes: &[Node]) -> Vec<(String, bool)> {
        let (document, sentences) = page(nodes);
        let blocks = cut_fast(&document, &sentences, &Settings::default().content);
        blocks.into_iter().map(|(span, content)| (document.text[span.range()].to_owned(), content)).collect()
    }

    #[test]
    fn links_and_scraps_are_no_content_and_headings_are() {
        let menu = Node::Element(Tag::Ul, vec![Node::Link("All the news of today and yesterday".to_owned())]);
        let story = Node::Element(Tag::P, vec![text("It was a dark and stormy night, and the rain fell in torrents.")]);
        let heading = Node::Element(Tag::H2, vec![Node::Link("News".to_owned())]);
        let scraps = Node::Element(Tag::Div, vec![text("1 2 3")]);
        let found = contents(&[menu, heading, story, scraps]);
        assert_eq!(found.iter().map(|block| block.1).collect::<Vec<_>>(), [false, true, true, false], "{found:?}");
    }

    #[test]
    fn blocks_of_one_depth_and_tag_are_judged_together() {
        let paragraph = |words: &str| Node::Element(Tag::P, vec![text(words)]);
        let found = contents(&[paragraph("Short."), paragraph("A sentence of more than ten letters."), text("Scrap.")]);
        assert_eq!(found.iter().map(|block| block.1).collect::<Vec<_>>(), [true, true, false], "{found:?}");
    }

    #[test]
    fn a_node_with_half_of_all_is_replaced() {
        let inner = |tag, words: &str| Node::Element(tag, vec![text(words)]);
        let outer =
            Node::Element(Tag::Div, vec![inner(Tag::P, "one two three"), text("own"), inner(Tag::Ul, "four five")]);
        let found: Vec<String> = contents(&[outer, inner(Tag::P, "rest")]).into_iter().map(|block| block.0).collect();
        assert_eq!(found, ["one two three", "own", "four five", "rest"]);
    }

    #[test]
    fn an_empty_page_has_no_block() {
        assert_eq!(contents(&[]), []);
        assert_eq!(contents(&[text(" ")]), []);
    }
}
