//! One tolerant, non-recursive pass over HTML.

use super::Document;
use crate::config::Limits;

/// The elements that the reader knows by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Tag {
    /// A run of text that stands beside elements, not inside one of them.
    Text,
    /// Any element that has no meaning of its own here.
    Other,
    /// `div`
    Div,
    /// `p`
    P,
    /// `h1` to `h6`
    Heading,
}

/// Buffers that outlive one page.
#[derive(Default)]
pub struct Scratch {}

/// Reads `source` (decoded, but otherwise raw) and adds what it holds to `document`: visible and hidden text,
/// title, outline, links, markup, counts. `frame_key` keys the hashes of the frame items.
///
/// Adds to the end of `document.text`, so that a mail can put its subject before the body.
pub fn read(source: &str, limits: &Limits, frame_key: u64, scratch: &mut Scratch, document: &mut Document) {
    let _ = (source, limits, frame_key, scratch, document);
    todo!()
}

/// Reads plain text in the same way: white space collapsed, an outline of its paragraphs, no markup.
pub fn read_plain(source: &str, limits: &Limits, document: &mut Document) {
    let _ = (source, limits, document);
    todo!()
}
