//! A text cut into pieces, each of one source or of none.
//!
//! # Invariants
//! - The pieces follow each other without gap or overlap, at character boundaries, whatever the spans say.
//!   (`any_spans_cut_any_text`)
//! - Where spans overlap the first source wins. (`the_first_source_wins`)

use crate::document::Span;

/// A piece of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece<'a> {
    /// The index of its source.
    pub(super) source: Option<usize>,
    /// Its text, never empty.
    pub(super) text: &'a str,
}

/// Cuts `text` by the spans of its sources, the most important source first.
pub(super) fn cut<'a, 's>(text: &'a str, sources: impl IntoIterator<Item = &'s [Span]>) -> Vec<Piece<'a>> {
    // (start, end, source), apart and in order.
    let mut taken: Vec<(usize, usize, usize)> = Vec::new();
    for (source, spans) in sources.into_iter().enumerate() {
        let mut spans: Vec<_> = spans.iter().filter_map(|span| inside(text, *span)).collect();
        spans.sort_unstable();
        let mut free = Vec::new();
        let (mut at, mut next) = (0, 0);
        for (start, end) in spans {
            // Spans of one source may overlap too.
            let mut start = start.max(at);
            while next < taken.len() && taken[next].1 <= start {
                next += 1;
            }
            let mut other = next;
            while start < end {
                let gap_end = taken.get(other).map_or(end, |other| other.0.min(end));
                if start < gap_end {
                    free.push((start, gap_end, source));
                }
                start = taken.get(other).map_or(end, |other| other.1.max(start));
                other += 1;
            }
            at = at.max(end);
        }
        taken.extend(free);
        taken.sort_unstable();
    }
    let mut pieces = Vec::with_capacity(2 * taken.len() + 1);
    let mut push = |source, start, end| {
        if start < end {
            pieces.push(Piece { source, text: &text[start..end] });
        }
    };
    let mut at = 0;
    for (start, end, source) in taken {
        push(None, at, start);
        push(Some(source), start, end);
        at = end;
    }
    push(None, at, text.len());
    pieces
}

/// The part of a span that lies in the text, at character boundaries; spans that run backwards have none.
fn inside(text: &str, span: Span) -> Option<(usize, usize)> {
    let start = text.floor_char_boundary(span.start as usize);
    let end = text.ceil_char_boundary((span.end as usize).min(text.len()));
    (span.start < span.end && start < end).then_some((start, end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn spans(spans: &[(u32, u32)]) -> Vec<Span> {
        spans.iter().map(|&span| span.into()).collect()
    }

    fn shown(text: &str, sources: &[Vec<Span>]) -> Vec<(Option<usize>, String)> {
        cut(text, sources.iter().map(Vec::as_slice)).iter().map(|p| (p.source, p.text.to_owned())).collect()
    }

    fn piece(source: impl Into<Option<usize>>, text: &str) -> (Option<usize>, String) {
        (source.into(), text.to_owned())
    }

    #[test]
    fn the_first_source_wins() {
        let sources = [spans(&[(2, 5)]), spans(&[(8, 9), (0, 7), (1, 3)])];
        let pieces =
            [piece(1, "ab"), piece(0, "cde"), piece(1, "fg"), piece(None, "h"), piece(1, "i"), piece(None, "j")];
        assert_eq!(shown("abcdefghij", &sources), pieces);
    }

    #[test]
    fn spans_outside_the_text_and_inside_characters_are_taken_for_what_they_are() {
        let sources = [spans(&[(1, 3), (7, 3), (50, 60), (4, u32::MAX), (2, 2)])];
        assert_eq!(shown("äöü", &sources), [piece(0, "äö"), piece(0, "ü")]);
        assert_eq!(shown("", &sources), []);
        assert_eq!(shown("abc", &[]), [piece(None, "abc")]);
    }

    proptest! {
        #[test]
        fn any_spans_cut_any_text(
            text in "\\PC{0,40}",
            sources in prop::collection::vec(prop::collection::vec((0_u32..60, 0_u32..60), 0..6), 0..4),
        ) {
            let sources: Vec<_> = sources.iter().map(|source| spans(source)).collect();
            let pieces = cut(&text, sources.iter().map(Vec::as_slice));
            prop_assert_eq!(pieces.iter().map(|piece| piece.text).collect::<String>(), text.clone());
            // The definition, byte by byte.
            let owner = |at: usize| sources.iter().position(|spans| {
                spans.iter().filter_map(|span| inside(&text, *span)).any(|(start, end)| (start..end).contains(&at))
            });
            let mut at = 0;
            for piece in pieces {
                for byte in at..at + piece.text.len() {
                    prop_assert_eq!(piece.source, owner(byte), "byte {}", byte);
                }
                at += piece.text.len();
            }
        }
    }
}
