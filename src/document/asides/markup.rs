//! What the markup of mail programs says of the lines of a mail: in how many quotations they stand.
//!
//! Gmail, Thunderbird, Apple, Yahoo and Proton name the element that holds what was answered, whatever the language of the line that
//! introduces it. Some put a `div` of that name around the introduction and a `blockquote` of that name: that is one quotation,
//! the `blockquote`.
//!
//! # Invariants
//! - Who answers between the quoted parts is not quoted. (`lines_know_their_quotations`)

use super::super::html::Tag;
use super::super::{Element, Quote, Span};
use super::{Line, NOTICE_BYTES_MAX};

/// Notes in `lines` what the elements of `outline` say of them. Both are in text order.
pub(super) fn note(outline: &[Element], lines: &mut [Line]) {
    let mut marked = outline.iter().filter(|element| element.quote != Quote::None);
    let mut open: Vec<Span> = Vec::new();
    let mut next = marked.next();
    for line in lines {
        let start = line.span.start;
        while let Some(element) = next.filter(|element| element.span.start <= start) {
            next = marked.next();
            close(&mut open, element.span.start);
            match element.quote {
                Quote::Below => line.begins_original = true,
                _ if next.is_some_and(|inner| introduces(element, inner)) => {}
                _ => open.push(element.span),
            }
        }
        close(&mut open, start);
        line.n_quotes = open.len().try_into().unwrap_or(u8::MAX);
    }
}

/// Takes off what has ended at `at`.
fn close(open: &mut Vec<Span>, at: u32) {
    while open.last().is_some_and(|span| span.end <= at) {
        open.pop();
    }
}

/// Whether an element holds no more of its own than the introduction of the quotation `inner`.
fn introduces(outer: &Element, inner: &Element) -> bool {
    outer.tag == Tag::Div
        && (inner.tag, inner.quote) == (Tag::Blockquote, Quote::Inside)
        && inner.span.end <= outer.span.end
        && inner.span.start as usize - outer.span.start as usize <= NOTICE_BYTES_MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_know_their_quotations() {
        let element = |tag, quote, start, end| Element { tag, quote, depth: 0, span: Span::new(start, end) };
        let div = |start, end| element(Tag::Div, Quote::Inside, start, end);
        let blockquote = |start, end| element(Tag::Blockquote, Quote::Inside, start, end);
        // Lines of one letter begin at 0, 2, 4 ...
        for (outline, expected) in [
            (&[][..], [0, 0, 0, 0, 0]),
            (&[blockquote(2, 5)], [0, 1, 1, 0, 0]),
            (&[blockquote(2, 3), blockquote(4, 5)], [0, 1, 1, 0, 0]),
            (&[blockquote(2, 9), blockquote(4, 7)], [0, 1, 2, 2, 1]),
            (&[div(2, 9)], [0, 1, 1, 1, 1]),
            // The introduction of each stands above it.
            (&[div(2, 9), blockquote(4, 9)], [0, 0, 1, 1, 1]),
            (&[div(0, 9), blockquote(2, 9), div(4, 9), blockquote(6, 9)], [0, 1, 1, 2, 2]),
            (&[div(2, 9), blockquote(4, 5), blockquote(8, 9)], [0, 0, 1, 0, 1]),
            (&[element(Tag::Blockquote, Quote::None, 2, 9)], [0, 0, 0, 0, 0]),
            (&[element(Tag::Div, Quote::Below, 2, 3), blockquote(6, 7)], [0, 0, 0, 1, 0]),
        ] {
            let line =
                |start| Line { span: Span::new(start, start + 1), sort: None, n_quotes: 9, begins_original: false };
            let mut lines = [0, 2, 4, 6, 8].map(line);
            note(outline, &mut lines);
            assert_eq!(lines.map(|line| line.n_quotes), expected, "{outline:?}");
            let below = outline.iter().any(|element| element.quote == Quote::Below);
            assert_eq!(lines.map(|line| line.begins_original), [false, below, false, false, false]);
        }
    }
}
