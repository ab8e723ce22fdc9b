//! Plain text, read as HTML is: the same lines, the same invisible characters, its paragraphs as the outline.

use super::Tag;
use super::write::{Manner, Writer, written};
use crate::config::Limits;
use crate::document::{Document, Element, Quote, Truncation};
use memchr::memchr2;

/// Reads plain text: white space collapsed, lines kept, paragraphs (between blank lines) in the outline, no markup.
/// Adds to the end of `document.text`.
pub fn read_plain(source: &str, limits: &Limits, document: &mut Document) {
    let Document { text, outline, reading, .. } = document;
    let mut writer = Writer::new(text, limits.text_bytes_max);
    let manner = Manner { entities: false, lines: true };
    let mut paragraph = None;
    let end = |start: &mut Option<usize>, text: &str, outline: &mut Vec<Element>| {
        if let Some(span) = start.take().and_then(|start| written(text, start)) {
            outline.push(Element { tag: Tag::P, quote: Quote::None, depth: 0, span });
        }
    };
    let mut rest = source;
    while !rest.is_empty() && !writer.full {
        let len = memchr2(b'\n', b'\r', rest.as_bytes()).unwrap_or(rest.len());
        let line = &rest[..len];
        let feed = if rest[len..].starts_with("\r\n") { 2 } else { 1 };
        rest = rest.get(len + feed..).unwrap_or("");
        if line.trim_ascii().is_empty() {
            end(&mut paragraph, text, outline);
            continue;
        }
        paragraph.get_or_insert(text.len());
        writer.write(line, 0, len, manner, text);
        writer.line();
    }
    end(&mut paragraph, text, outline);
    reading.n_hidden_chars += writer.n_invisible;
    if writer.full {
        reading.truncate(Truncation::Text);
    }
}
