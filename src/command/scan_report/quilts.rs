//! The quilt viewer: each text with its patches coloured by source, and the sources named beside it.
//!
//! A colour is never the only sign: each patch begins with the number of its source, and from the thirteenth source
//! on, when the colours come again, the line under it is another.
//!
//! # Invariants
//! - However long a text is, a bounded part of it is shown, and every patch has its beginning there until the bound
//!   is met. (`long_texts_are_shortened`)

use super::page::Page;
use super::patches::{self, Piece};
use super::ranking::Ranked;
use super::{PAGE_BYTES_MAX, brief, left_out, section};
use crate::document::Span;
use crate::verdict::event::{Quilt, QuiltKind, Verdict};
use std::cmp::Ordering;

/// Quilts that are shown.
pub(super) const QUILTS_MAX: usize = 200;
/// Quilts that are shown unfolded.
const OPEN_MAX: usize = 3;
/// Sources of one that are named; a cover has rarely more than ten.
const SOURCES_MAX: usize = 36;
/// Spans of one that are kept.
const SPANS_MAX: usize = 2000;
/// Colours in the style.
const N_COLOURS: usize = 12;
/// Bytes of a text that are shown.
const TEXT_BYTES_MAX: usize = 12_000;
/// Bytes of a piece of a text that is too long to be shown whole: of a patch, and of what lies between.
const PIECE_BYTES_MAX: (usize, usize) = (900, 240);

/// What is kept of a quilt.
#[derive(Debug)]
pub(super) struct Kept {
    id: String,
    domain: Option<String>,
    /// Where it lies.
    pub(super) place: String,
    patch_fraction: f64,
    kind: QuiltKind,
    sources: Vec<Source>,
    n_further: usize,
}

#[derive(Debug)]
struct Source {
    id: String,
    url: Option<String>,
    share: f64,
    linked: bool,
    spans: Vec<Span>,
}

impl Kept {
    pub(super) fn of(verdict: &Verdict, quilt: &Quilt, place: &str) -> Self {
        let mut n_spans_left = SPANS_MAX;
        let sources = quilt.sources.iter().take(SOURCES_MAX).map(|source| {
            let spans: Vec<_> = source.spans.iter().copied().take(n_spans_left).collect();
            n_spans_left -= spans.len();
            Source {
                id: brief(&source.of),
                url: source.url.as_deref().filter(|url| *url != source.of).map(brief),
                share: source.share,
                linked: source.linked,
                spans,
            }
        });
        Self {
            id: brief(&verdict.id),
            domain: verdict.domain.as_deref().map(brief),
            place: place.to_owned(),
            patch_fraction: quilt.patch_fraction,
            kind: quilt.kind,
            sources: sources.collect(),
            n_further: quilt.sources.len().saturating_sub(SOURCES_MAX),
        }
    }
}

impl Ranked for Kept {
    /// Those that name their sources come after those that do not; then the most patched first.
    fn order(&self, other: &Self) -> Ordering {
        let is_aggregator = |quilt: &Self| quilt.kind == QuiltKind::Aggregator;
        (is_aggregator(self).cmp(&is_aggregator(other)))
            .then(other.patch_fraction.total_cmp(&self.patch_fraction))
            .then(other.sources.len().cmp(&self.sources.len()))
    }
}

/// Writes the viewer.
pub(super) fn write(page: &mut Page, quilts: &[&Kept], n_all: u64, texts: &mut impl FnMut(&str) -> Option<String>) {
    let about = "Documents stitched together from several others. Each patch has the colour and the number of its \
                 source; point at one, or go from patch to patch with the arrow keys, to see all of that source. \
                 An aggregator links to its sources.";
    section(page, "quilts", "Quilts", n_all, about);
    if quilts.is_empty() {
        page.markup("<p class=\"empty\">No document is a quilt.</p>\n");
    }
    for (index, quilt) in quilts.iter().enumerate() {
        page.markup(if index < OPEN_MAX {
            "<details class=\"item quilt\" open>"
        } else {
            "<details class=\"item quilt\">"
        });
        write_summary(page, quilt);
        page.markup("<div class=\"viewer\">");
        write_legend(page, quilt);
        if page.n_bytes() > PAGE_BYTES_MAX {
            page.markup("<p class=\"gone\">The text is left out to keep this page small.</p>");
        } else {
            match texts(&quilt.place) {
                Some(text) => write_text(page, quilt, &text),
                None => {
                    page.markup("<p class=\"gone\">The text is gone: it could not be read again.</p>");
                }
            }
        }
        page.markup("</div></details>\n");
    }
    left_out(page, n_all.saturating_sub(quilts.len() as u64), "further quilt is", "further quilts are");
    page.markup("</section>\n");
}

fn write_summary(page: &mut Page, quilt: &Kept) {
    page.markup("<summary><span class=\"title\">").name(&quilt.id).markup("</span><span class=\"tags\">");
    if let Some(domain) = quilt.domain.as_ref().filter(|domain| !quilt.id.contains(domain.as_str())) {
        page.markup("<span class=\"soft\">").name(domain).markup("</span>");
    }
    if quilt.kind == QuiltKind::Aggregator {
        page.markup("<span class=\"tag\">aggregator</span>");
    }
    page.markup("<span class=\"measure\">")
        .meter(quilt.patch_fraction)
        .percent(quilt.patch_fraction)
        .markup(" patched</span>");
    page.markup("<span>").counted((quilt.sources.len() + quilt.n_further) as u64, "source", "sources");
    page.markup("</span></span></summary>");
}

/// The class of a source: its colour and the line under it.
fn write_class(page: &mut Page, source: usize) {
    page.markup("c").shown(source % N_COLOURS + 1).markup(" u").shown(source / N_COLOURS % 3);
}

fn write_legend(page: &mut Page, quilt: &Kept) {
    page.markup("<ol class=\"legend\">");
    for (index, source) in quilt.sources.iter().enumerate() {
        page.markup("<li><button type=\"button\" class=\"");
        write_class(page, index);
        page.markup("\" data-source=\"").shown(index + 1).markup("\"><span class=\"chip\">").shown(index + 1);
        page.markup("</span><span class=\"who\">").name(&source.id);
        if let Some(url) = &source.url {
            page.markup("<span class=\"soft\">").name(url).markup("</span>");
        }
        page.markup("<span class=\"soft\"><b>").percent(source.share).markup("</b> of its words, ");
        page.counted(source.spans.len() as u64, "patch", "patches");
        page.markup(if source.linked {
            ", linked</span></span></button></li>"
        } else {
            "</span></span></button></li>"
        });
    }
    if quilt.n_further > 0 {
        page.markup("<li class=\"soft\">and ")
            .counted(quilt.n_further as u64, "further source", "further sources")
            .markup("</li>");
    }
    page.markup("</ol>");
}

fn write_text(page: &mut Page, quilt: &Kept, text: &str) {
    let pieces = patches::cut(text, quilt.sources.iter().map(|source| source.spans.as_slice()));
    let is_whole = text.len() <= TEXT_BYTES_MAX;
    let mut n_bytes_left = TEXT_BYTES_MAX;
    page.markup("<div class=\"text\" dir=\"auto\">");
    for (index, piece) in pieces.iter().enumerate() {
        let bytes_max = match piece.source {
            _ if is_whole => piece.text.len(),
            Some(_) => PIECE_BYTES_MAX.0,
            None => PIECE_BYTES_MAX.1,
        };
        if n_bytes_left < bytes_max.min(piece.text.len()) {
            let n_chars: usize = pieces[index..].iter().map(|piece| piece.text.chars().count()).sum();
            page.markup("<span class=\"gap\">")
                .counted(n_chars as u64, "further character", "further characters")
                .markup("</span>");
            break;
        }
        n_bytes_left -= bytes_max.min(piece.text.len());
        write_piece(page, *piece, bytes_max);
    }
    page.markup("</div>");
}

fn write_piece(page: &mut Page, piece: Piece<'_>, bytes_max: usize) {
    if let Some(source) = piece.source {
        page.markup("<mark class=\"");
        write_class(page, source);
        page.markup("\" data-source=\"").shown(source + 1).markup("\">");
    }
    write_shortened(page, piece.text, bytes_max);
    if piece.source.is_some() {
        page.markup("</mark>");
    }
}

/// Writes a text of which the middle is left out where it is too long.
pub(super) fn write_shortened(page: &mut Page, text: &str, bytes_max: usize) {
    if text.len() <= bytes_max {
        page.text(text);
        return;
    }
    let head = text.floor_char_boundary(bytes_max / 2);
    let tail = text.ceil_char_boundary(text.len() - bytes_max / 2).max(head);
    page.text(&text[..head]).markup("<span class=\"gap\">");
    page.counted(text[head..tail].chars().count() as u64, "character", "characters")
        .markup("</span>")
        .text(&text[tail..]);
}

#[cfg(test)]
mod tests {
    use super::super::sample::quilt_of;
    use super::*;

    fn shown(text: &str, sources: &[(&str, &[(u32, u32)])]) -> String {
        let verdict = quilt_of("q", sources);
        let kept = Kept::of(&verdict, verdict.quilt.as_ref().unwrap(), "place");
        let mut page = Page::default();
        write(&mut page, &[&kept], 1, &mut |place| (place == "place").then(|| text.to_owned()));
        String::from_utf8(page.into_bytes()).unwrap()
    }

    #[test]
    fn patches_are_marked_by_source() {
        let page = shown("own patch one own patch two", &[("a", &[(4, 13)]), ("b", &[(18, 27), (2, 6)])]);
        let text = "own patch two";
        assert!(page.contains("<mark class=\"c1 u0\" data-source=\"1\">patch one</mark>"), "{page}");
        assert!(page.contains("<mark class=\"c2 u0\" data-source=\"2\">patch two</mark>"), "{page}");
        assert!(page.contains(">ow<mark class=\"c2 u0\" data-source=\"2\">n </mark>"), "{page}: {text}");
    }

    #[test]
    fn long_texts_are_shortened() {
        let long = "wörter ".repeat(100_000);
        let page = shown(&long, &[("a", &[(0, 70_000), (300_000, 300_060)])]);
        assert!(page.len() < TEXT_BYTES_MAX + 4000, "{}", page.len());
        assert_eq!(page.matches("<mark").count(), 2);
        assert_eq!(page.matches("class=\"gap\"").count(), 3);
        let spans: Vec<(u32, u32)> = (0..5000).map(|n| (n * 100, n * 100 + 50)).collect();
        let page = shown(&long, &[("a", &spans)]);
        assert!(page.len() < 4 * TEXT_BYTES_MAX && page.contains("further characters"), "{}", page.len());
    }

    #[test]
    fn many_sources_share_colours_under_other_lines() {
        let sources: Vec<(String, Vec<(u32, u32)>)> = (0..50).map(|n| (format!("s{n}"), vec![(n, n + 1)])).collect();
        let sources: Vec<_> = sources.iter().map(|(id, spans)| (id.as_str(), spans.as_slice())).collect();
        let page = shown(&"x".repeat(60), &sources);
        assert!(page.contains("<mark class=\"c1 u1\" data-source=\"13\">"), "{page}");
        assert!(page.contains("and 14 further sources"), "{page}");
    }
}
