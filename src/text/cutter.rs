//! The one way from a document to its [`Text`].
//!
//! The core of a page is what lies in its content blocks; of one where no block is content, everything, for a page
//! that is all links or all scraps is still better compared by what it has. The core of a mail is what lies outside
//! its asides; blocks are not asked for there.
//!
//! # Invariants
//! - The same document gives the same text, whatever was cut before. (`a_used_cutter_cuts_as_a_new_one`)
//! - A page without content is core as a whole. (`a_page_without_content_is_all_core`)
//! - What stands in an aside of a mail is not core. (`asides_are_not_core`)

use super::words::{Rules, Traits};
use super::{Text, blocks, sentences, words};
use crate::config::{ContentSettings, Settings};
use crate::document::{Document, Kind, Span};
use crate::signature::keyed::Keys;

/// Cuts documents; keeps its buffers.
pub struct Cutter {
    words_max: usize,
    digits_masked_min: usize,
    content: ContentSettings,
    key: u64,
    blocks: blocks::Scratch,
    text: Text,
}

impl Cutter {
    /// A cutter.
    pub fn new(settings: &Settings, keys: Keys) -> Self {
        Self {
            words_max: settings.limits.words_max,
            digits_masked_min: settings.text.digits_masked_min,
            content: settings.content.clone(),
            key: keys.word,
            blocks: blocks::Scratch::default(),
            text: Text::default(),
        }
    }

    /// The text of `document`, until the next one is cut.
    pub fn cut(&mut self, document: &Document) -> &Text {
        let rules = Rules {
            key: self.key,
            names: document.mail.as_ref().map_or(&[], |mail| &mail.recipients),
            digits_masked_min: self.digits_masked_min,
            words_max: self.words_max,
        };
        let text = &mut self.text;
        text.clear();
        text.truncated = words::cut(&document.text, &rules, &mut text.words);
        text.truncated |= words::cut(&document.hidden, &rules, &mut text.hidden);
        text.n_characters = text.words.traits.iter().filter(|traits| traits.has(Traits::CHARACTER)).count();
        sentences::cut(&document.text, &text.words, &mut text.sentences);
        match document.kind {
            Kind::Page => {
                blocks::cut(document, &text.sentences, &self.content, &mut self.blocks, &mut text.blocks);
                let content = text.blocks.iter().filter(|block| block.content).map(|block| block.span);
                let has_content = content.clone().next().is_some();
                // Outside of nothing lies everything.
                mark(&mut text.words, &mut text.sentences, content, has_content);
            }
            Kind::Email => {
                let asides = document.asides.iter().map(|aside| aside.span);
                mark(&mut text.words, &mut text.sentences, asides, false);
            }
        }
        text
    }
}

/// Marks as core what begins inside `spans` if `is_core` says so, or else what begins outside.
fn mark(
    words: &mut words::Words,
    sentences: &mut [sentences::Sentence],
    spans: impl Iterator<Item = Span> + Clone,
    is_core: bool,
) {
    let mut inside = Inside { spans: spans.clone().peekable() };
    for (traits, span) in words.traits.iter_mut().zip(&words.spans) {
        if inside.is_at(span.start) == is_core {
            *traits = traits.with(Traits::CORE);
        }
    }
    let mut inside = Inside { spans: spans.peekable() };
    for sentence in sentences {
        sentence.core = inside.is_at(sentence.span.start) == is_core;
    }
}

/// Whether places, asked for in order, lie in one of the spans, which are in order and apart.
struct Inside<I: Iterator> {
    spans: std::iter::Peekable<I>,
}

impl<I: Iterator<Item = Span>> Inside<I> {
    fn is_at(&mut self, at: u32) -> bool {
        while self.spans.next_if(|span| span.end <= at).is_some() {}
        self.spans.peek().is_some_and(|span| span.start <= at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::asides::{Aside, AsideSort};
    use crate::document::html::Tag;
    use crate::document::{Element, Quote};

    const MENU: &str = "Home";
    const STORY: &str = "A long sentence that tells a story of some length.";

    fn cutter() -> Cutter {
        let settings = Settings::default();
        Cutter::new(&settings, Keys::derive("test"))
    }

    fn page(parts: &[&str]) -> Document {
        let mut document = Document::default();
        for (index, part) in parts.iter().enumerate() {
            let start = document.text.len();
            document.text.push_str(part);
            // Every part has a tag of its own, so that none are merged.
            let tag = [Tag::Div, Tag::P, Tag::Ul][index];
            document.outline.push(Element {
                tag,
                quote: Quote::None,
                depth: 0,
                span: Span::new(start, document.text.len()),
            });
            document.text.push('\n');
        }
        document
    }

    fn core(text: &Text, document: &Document) -> Vec<String> {
        let units = text.words.traits.iter().zip(&text.words.spans);
        units.filter(|(traits, _)| traits.has(Traits::CORE)).map(|(_, s)| document.text[s.range()].to_owned()).collect()
    }

    #[test]
    fn content_blocks_are_core() {
        let document = page(&[MENU, STORY]);
        let mut cutter = cutter();
        let text = cutter.cut(&document);
        assert_eq!(core(text, &document).len(), 10);
        assert_eq!(text.sentences.iter().map(|sentence| sentence.core).collect::<Vec<_>>(), [false, true]);
    }

    #[test]
    fn a_page_without_content_is_all_core() {
        let document = page(&[MENU, "About us"]);
        let mut cutter = cutter();
        let text = cutter.cut(&document);
        assert!(text.blocks.iter().all(|block| !block.content), "{:?}", text.blocks);
        assert_eq!(core(text, &document), ["Home", "About", "us"]);
        assert!(text.sentences.iter().all(|sentence| sentence.core));
    }

    #[test]
    fn asides_are_not_core() {
        let mut document = page(&["Hi", "> quoted words", "my own"]);
        document.kind = Kind::Email;
        document.asides.push(Aside { sort: AsideSort::Quoted, span: Span::new(3, 17) });
        let mut cutter = cutter();
        let text = cutter.cut(&document);
        assert_eq!(core(text, &document), ["Hi", "my", "own"]);
        assert_eq!(text.sentences.iter().map(|sentence| sentence.core).collect::<Vec<_>>(), [true, false, true]);
        assert!(text.blocks.is_empty());
    }

    #[test]
    fn a_used_cutter_cuts_as_a_new_one() {
        let mut used = cutter();
        let mut long = page(&[STORY, "日本語の文です。", MENU]);
        long.hidden.push_str("hidden words");
        used.cut(&long);
        let document = page(&[MENU, STORY]);
        assert_eq!(used.cut(&document), cutter().cut(&document));
    }

    #[test]
    fn too_many_words_are_cut_off() {
        let mut settings = Settings::default();
        settings.limits.words_max = 4;
        let document = page(&[STORY]);
        let mut cutter = Cutter::new(&settings, Keys::derive("test"));
        let text = cutter.cut(&document);
        assert!(text.truncated);
        assert_eq!((text.words.len(), text.sentences[0].end_word), (4, 4));
    }

    #[test]
    fn spans_are_ordered_and_on_borders() {
        let document = page(&["Ünïcode, ’round here", "ｶﾞ日本 a@b.example", "12-345-678 ก็ x_"]);
        let mut cutter = cutter();
        let text = cutter.cut(&document);
        assert_eq!(text.words.len(), 10, "{:?}", core(text, &document));
        for pair in text.words.spans.windows(2) {
            assert!(pair[0].start < pair[0].end && pair[0].end <= pair[1].start);
        }
        assert!(text.words.spans.iter().all(|span| document.text.get(span.range()).is_some()));
    }
}
