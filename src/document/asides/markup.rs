//! What the markup of mail programs says of the lines of a mail: in how many quotations they stand.
//!
//! Gmail, Thunderbird, Apple, Yahoo and Proton name the element that holds what was answered, whatever the language of the line that
//! introduces it. Gmail and Proton put a `div` of that name around the introduction and a `blockquote` of that name: that is one
//! quotation, the `blockquote`.
//!
//! A `blockquote` is shown as one, unless its style says otherwise. Of such a one and of a `div` a reader sees nothing but the
//! introduction: a campaign could put its text there, below two words that differ from mail to mail. So these count only where the
//! reader sees it.
//!
//! # Invariants
//! - Elements that mail programs quote in are quotations, whatever the language around them. (`certain_markup_quotes_in_any_language`)
//! - Who answers between the quoted parts is not quoted. (`lines_know_their_quotations`)
//! - Nothing is quoted by a name that no reader sees. (`a_name_alone_quotes_nothing`)
//! - Time is linear in lines and elements. (`a_flood_of_elements_is_noted_in_linear_time`)

use super::introduction::before_colon;
use super::{Lines, NOTICE_BYTES_MAX};
use crate::document::html::Tag;
use crate::document::{Element, Quote, Span};

/// Lines of an introduction above the `blockquote` that stands in one element with it.
const INTRODUCTION_LINES_MAX: usize = 2;

impl Lines<'_> {
    /// Notes what the elements of the outline say of the lines. Both are in text order.
    pub(super) fn note_markup(&mut self) {
        let mut marked = self.outline.iter().filter(|element| element.quote != Quote::None);
        let mut open: Vec<Span> = Vec::new();
        let mut next = marked.next();
        // Who answers between the parts of a quotation leaves its introduction above the first.
        let mut is_introduced = false;
        for index in 0..self.list.len() {
            let start = self.list[index].span.start;
            let begins_element = next.is_some_and(|element| element.span.start <= start);
            is_introduced = is_introduced || begins_element && self.is_introduced(index);
            while let Some(element) = next.filter(|element| element.span.start <= start) {
                next = marked.next();
                close(&mut open, element.span.start);
                match element.quote {
                    Quote::Below => self.list[index].begins_original = self.is_header(index),
                    Quote::Around if next.is_some_and(|inner| self.introduces(index, element, inner)) => {}
                    Quote::Shown => open.push(element.span),
                    _ if is_introduced => open.push(element.span),
                    _ => {}
                }
            }
            close(&mut open, start);
            self.list[index].n_quotes = open.len().try_into().unwrap_or(u8::MAX);
        }
    }

    /// Whether a reader sees that what begins in this line is quoted.
    fn is_introduced(&self, index: usize) -> bool {
        self.is_introduction(index) || index > 0 && self.is_introduction(index - 1)
    }

    /// Whether an element that begins in the line `index` has nothing above the quotation `inner` but its introduction.
    fn introduces(&self, index: usize, outer: &Element, inner: &Element) -> bool {
        let is_above = |&above: &usize| self.list.get(above).is_some_and(|line| line.span.start < inner.span.start);
        let n_above = (index..).take_while(is_above).take(INTRODUCTION_LINES_MAX + 1).count();
        let ends_in_colon = |line: &str| line.len() <= NOTICE_BYTES_MAX && before_colon(line).is_some();
        let is_introduction = |above: usize| ends_in_colon(self.at(above)) || self.is_introduction(above);
        inner.tag == Tag::Blockquote
            && inner.span.end <= outer.span.end
            && n_above <= INTRODUCTION_LINES_MAX
            && (n_above == 0 || is_introduction(index + n_above - 1))
    }
}

/// Takes off what has ended at `at`.
fn close(open: &mut Vec<Span>, at: u32) {
    while open.last().is_some_and(|span| span.end <= at) {
        open.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::html_marked;
    use super::*;
    use std::time::Duration;

    #[test]
    fn lines_know_their_quotations() {
        let element = |tag, quote, start: usize, end: usize| Element {
            tag,
            quote,
            depth: 0,
            span: Span::new(9 * start, 9 * end - 1),
        };
        let around = |start, end| element(Tag::Div, Quote::Around, start, end);
        let named = |start, end| element(Tag::Div, Quote::Named, start, end);
        let blockquote = |start, end| element(Tag::Blockquote, Quote::Shown, start, end);
        let styled = |start, end| element(Tag::Blockquote, Quote::Named, start, end);
        // Lines of eight letters: `i` introduces something, `t` is text, `h` is a header.
        for (lines, outline, expected) in [
            ("ttttt", &[][..], [0, 0, 0, 0, 0]),
            ("ttttt", &[blockquote(1, 3)], [0, 1, 1, 0, 0]),
            ("ttttt", &[blockquote(1, 2), blockquote(2, 3)], [0, 1, 1, 0, 0]),
            ("ttttt", &[blockquote(1, 5), blockquote(2, 4)], [0, 1, 2, 2, 1]),
            ("titit", &[named(1, 5)], [0, 1, 1, 1, 1]),
            ("ititt", &[named(1, 5)], [0, 1, 1, 1, 1]),
            ("ttitt", &[named(1, 5)], [0, 0, 0, 0, 0]),
            ("titit", &[styled(2, 3), styled(4, 5)], [0, 0, 1, 0, 1]),
            ("tittt", &[styled(2, 3), styled(4, 5)], [0, 0, 1, 0, 1]),
            ("ttttt", &[styled(2, 3), styled(4, 5)], [0, 0, 0, 0, 0]),
            // The introduction of each stands above it.
            ("tittt", &[around(1, 5), blockquote(2, 5)], [0, 0, 1, 1, 1]),
            ("titit", &[around(1, 5), styled(2, 5)], [0, 0, 1, 1, 1]),
            ("itttt", &[around(1, 5), blockquote(1, 5)], [0, 1, 1, 1, 1]),
            ("ititt", &[around(0, 5), blockquote(1, 5), around(2, 5), blockquote(3, 5)], [0, 1, 1, 2, 2]),
            ("tittt", &[around(1, 5), blockquote(2, 3), blockquote(4, 5)], [0, 0, 1, 0, 1]),
            // More than an introduction, or none.
            ("titti", &[around(1, 5), blockquote(3, 4)], [0, 1, 1, 2, 1]),
            ("titii", &[around(1, 5), blockquote(4, 5)], [0, 1, 1, 1, 2]),
            ("tittt", &[named(1, 5), blockquote(2, 3)], [0, 1, 2, 1, 1]),
            ("ttttt", &[around(1, 5), blockquote(2, 3)], [0, 0, 1, 0, 0]),
            ("ttttt", &[element(Tag::Blockquote, Quote::None, 1, 5)], [0, 0, 0, 0, 0]),
            ("thhtt", &[element(Tag::Div, Quote::Below, 1, 2), blockquote(3, 4)], [0, 0, 0, 1, 0]),
            ("ttttt", &[element(Tag::Div, Quote::Below, 1, 2), blockquote(3, 4)], [0, 0, 0, 1, 0]),
        ] {
            let of = |line: char| match line {
                'i' => "a@b.org:",
                'h' => "Name: An",
                _ => "textline",
            };
            let text: Vec<&str> = lines.chars().map(of).collect();
            let text = text.join("\n");
            let noted = Lines::of(&text, 0, outline);
            let n_quotes: Vec<u8> = noted.list.iter().map(|line| line.n_quotes).collect();
            assert_eq!(n_quotes, expected, "{lines} {outline:?}");
            let begins: Vec<bool> = noted.list.iter().map(|line| line.begins_original).collect();
            assert_eq!(begins, [false, lines.contains('h'), false, false, false]);
        }
    }

    #[test]
    fn certain_markup_quotes_in_any_language() {
        let gmail = |introduction: &str, quoted: &str| {
            format!(
                "<div class=\"gmail_quote gmail_quote_container\"><div class=gmail_attr>{introduction}<br></div>\
                 <blockquote class=\"gmail_quote\" style=\"margin:0\">{quoted}</blockquote></div>"
            )
        };
        let twice = gmail("a@b.example kirjutas:", &format!("asked<p>more</p>{}", gmail("c@b.example:", "first")));
        for (body, margins) in [
            (format!("<p>Jah{}", gmail("Anna kirjutas (1. jaan 2024):", "asked<p>more")), " QQQ"),
            (format!("<p>Jah{twice}"), " QQQQQ"),
            (format!("{twice}<p>Jah"), "QQQQQ "),
            ("<p>Yes<blockquote type=cite>asked</blockquote><p>No".to_owned(), " Q "),
            ("<p>Yes<blockquote type=cite>a</blockquote><p>No<blockquote type=CITE>b</blockquote>".to_owned(), " Q Q"),
            ("<p>Jah<div class=moz-cite-prefix>Anna kirjutas:</div><blockquote type=cite>asked".to_owned(), " QQ"),
            ("<p>Jah<div class=yahoo_quoted><div>Anna kirjutas 1. jaan 2024:</div><div>asked</div></div>".to_owned(), " QQ"),
            // What it quotes quotes something itself.
            (
                "<p>Jah<div class=yahoo_quoted><div>Anna kirjutas 1. jaan 2024:</div><div>Short answer.\
                 <blockquote type=cite>asked</blockquote>Long rest</div></div>"
                    .to_owned(),
                " QQQQ",
            ),
            (
                "<p>Jah<div class=gmail_quote>---------- Edastatud kiri ---------<br>Saatja: Anna<br>Teema: x<br>Short\
                 <blockquote type=cite>asked</blockquote>Long rest</div>"
                    .to_owned(),
                " QQQQQQ",
            ),
            ("<p>Jah<div class=gmail_quote>2010/1/1 Anna &lt;a@b.example&gt;<br><blockquote class=gmail_quote style=x>asked".to_owned(), " QQ"),
            ("<p>Yes<div class=protonmail_quote>Anna:<br><blockquote type=cite>asked".to_owned(), " QQ"),
            ("<p>Jah<div id=divRplyFwdMsg>Saatja: Anna<br>Teema: x</div><p>asked".to_owned(), " QQQ"),
            ("<p>Jah<div id=x_divRplyFwdMsg>Saatja: Anna<br>Teema: x</div><p>asked".to_owned(), " QQQ"),
            // Answers between the parts.
            (
                format!(
                    "<p>Jah{}<p>And<blockquote class=gmail_quote style=\"margin:0\">more</blockquote>",
                    gmail("Anna kirjutas (1. jaan 2024):", "asked")
                ),
                " QQ Q",
            ),
            // Who leaves out the introduction leaves a bar.
            (
                "<p>Yes<div class=gmail_quote><blockquote class=gmail_quote style=\"margin:0 0 0 .8ex;border-left:1px #ccc solid\">\
                 asked</blockquote></div>No"
                    .to_owned(),
                " Q ",
            ),
            // Anybody may write in an element that is none of theirs.
            ("<p>Yes<blockquote>a verse<br>or two</blockquote>".to_owned(), "   "),
            ("<p>Yes<div class=quote>asked</div>".to_owned(), "  "),
            // Without words of its own it is the message.
            (gmail("Anna kirjutas (1. jaan 2024):", "asked<p>more"), "Q  "),
            (twice.clone(), "Q  QQ"),
            ("<blockquote type=cite>asked<br>more</blockquote>".to_owned(), "  "),
            ("<blockquote type=cite><blockquote type=cite>asked</blockquote></blockquote>".to_owned(), " "),
            ("<blockquote type=cite>&gt; asked<br>&gt; more</blockquote>".to_owned(), "  "),
            ("<div id=divRplyFwdMsg>Saatja: Anna<br>Teema: x</div><p>asked".to_owned(), "   "),
            ("<div class=gmail_quote>---------- Forwarded message ---------<br>From: Ann<br>asked".to_owned(), "   "),
            ("<blockquote type=cite>asked<br>--<br>Ann</blockquote>".to_owned(), " SS"),
        ] {
            assert_eq!(html_marked(&body), margins, "{body}");
        }
    }

    #[test]
    fn a_name_alone_quotes_nothing() {
        for body in [
            "<p>two words<div class=gmail_quote>Buy this<p>and that</div>",
            "<p>two words<div class=gmail_quote>Dear client:<p>buy this</div>",
            "<p>two words<div class=yahoo_quoted><div>Buy this</div><div>and that</div></div>",
            "<p>two words<div class=protonmail_quote>Buy this<br>and that</div>",
            "<p>two words<blockquote class=gmail_quote style=\"margin:0\">Buy this<br>and that</blockquote>",
            "<p>two words<div class=gmail_quote><blockquote type=cite style=\"margin:0;border-left:0px solid\">Buy this<br>and that",
            "<p>two words<div id=divRplyFwdMsg>Buy this</div><p>and that",
        ] {
            assert_eq!(html_marked(body), "   ", "{body}");
        }
        let seen = "<p>two words<div class=gmail_quote>On 1 Jan 2024 at 10:00 Ann wrote:<p>buy this</div>";
        assert_eq!(html_marked(seen), " QQ");
    }

    #[test]
    fn a_flood_of_elements_is_noted_in_linear_time() {
        let n_lines = 1 << 17;
        let text = "a@b.org:\n".repeat(n_lines);
        let end = text.len() as u32;
        let element =
            |tag, quote, start| Element { tag, quote, depth: 0, span: Span::new(start as usize, end as usize) };
        for is_nested in [true, false] {
            let outline: Vec<Element> = (0..n_lines as u32)
                .flat_map(|line| {
                    let start = if is_nested { 9 * line } else { 0 };
                    [element(Tag::Div, Quote::Around, start), element(Tag::Blockquote, Quote::Shown, start)]
                })
                .collect();
            let mut asides = Vec::new();
            let begun = cpu_time::ThreadTime::now();
            crate::document::asides::mark(&text, 0, &outline, &mut asides);
            // Quadratic work would be 10^10 steps and more.
            assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
        }
    }
}
