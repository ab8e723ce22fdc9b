//! One tolerant, non-recursive pass over HTML.

mod swar;
mod tag;
pub mod tokens;

pub use tag::Tag;

use super::Document;
use crate::config::Limits;

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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    /// Sources made of the pieces that parsers stumble over.
    pub(super) fn hostile() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            4 => prop::sample::select(vec![
                "<", ">", "</", "/>", "<!--", "-->", "--!>", "<!", "<?", "=", "\"", "'", "&", "&amp;", "&#x41", "&not",
                " ", "\n", "\r\n", "\0", "\u{200B}", "\u{AD}", "\u{3000}", "é", "日本", "word", "x",
            ]).prop_map(String::from),
            4 => prop::sample::select(vec![
                "<p>", "</p>", "<div>", "</div>", "<b>", "</b>", "<br>", "<a href=x>", "</a>", "<table>", "<tr>", "<td>",
                "</table>", "<ul>", "<li>", "</ul>", "<span hidden>", "</span>", "<div style='display:none'>", "<svg>",
                "</svg>", "<title>", "</title>", "<script>", "</script>", "<select>", "<option>", "</select>", "<pre>",
                "<template>", "</template>", "<h1>", "</h2>", "<button>", "<style>", "</style>", "<![CDATA[", "]]>",
                "<textarea>", "</textarea>", "<foreignObject>", "<x-y>", "</x-y>", "<link rel=stylesheet href=a.css>",
            ]).prop_map(String::from),
            1 => any::<String>(),
        ];
        prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
    }
}
