//! Sentences of Latin, CJK and mixed text, with the repairs of Kang 2009.
//!
//! A line of the visible text is a paragraph; inside it a sentence ends at a full stop, question mark, exclamation
//! mark, closing corner bracket or ellipsis, with the closing quotes and brackets after it. Full-width stops
//! always end one, save for Kang's repair: where ！ or a closing bracket is followed by と, っ or です, the sentence goes on.
//! Latin stops need a space after them, and a full stop is not that of an abbreviation ([`latin`]). A sentence
//! holds at least one unit: a row of dashes is none.
//!
//! # Invariants
//! - Sentences are in order, apart, trimmed, and every unit is in one of them. (`every_unit_is_in_one_sentence`)
//! - The scanner stops where a search character by character does. (`the_table_knows_every_stop`)

mod latin;
mod stops;

use super::words::Words;
use crate::document::Span;
use stops::Stop;

/// One sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sentence {
    /// Where it stands in the visible text, white space at its ends left out.
    pub span: Span,
    /// Its length in characters.
    pub n_chars: u32,
    /// The units in it, as a range of positions.
    pub first_word: u32,
    /// One past the last of them.
    pub end_word: u32,
    /// Whether it lies in a content block (a page) or outside all asides (a mail).
    pub core: bool,
}

/// Adds the sentences of `text`, whose units are `words`, to `sentences`. None is core yet.
pub fn cut(text: &str, words: &Words, sentences: &mut Vec<Sentence>) {
    let mut first_word = 0;
    each_end(text, |start, end| {
        let in_it = words.spans[first_word..].iter().take_while(|span| (span.start as usize) < end).count();
        let end_word = first_word + in_it;
        if in_it > 0 {
            let trimmed = text[start..end].trim_end();
            sentences.push(Sentence {
                span: Span::new(start, start + trimmed.len()),
                n_chars: n_chars(trimmed.as_bytes()) as u32,
                first_word: first_word as u32,
                end_word: end_word as u32,
                core: false,
            });
        }
        first_word = end_word;
        // Where the units were cut off, the sentences end too.
        first_word < words.len()
    });
}

/// The characters in a slice of UTF-8.
pub(super) fn n_chars(bytes: &[u8]) -> usize {
    // Continuation bytes are the 64 smallest signed ones. Eight bits per lane hold 255 of them: the inner sum is
    // done 16 and more bytes at a time.
    bytes.chunks(192).map(|chunk| chunk.iter().map(|b| u8::from(*b as i8 >= -0x40)).sum::<u8>() as usize).sum()
}

/// Calls `with(start, end)` for every sentence, until it says stop. None begins with white space.
fn each_end(text: &str, mut with: impl FnMut(usize, usize) -> bool) {
    let spaced = |from: usize| text.len() - text[from..].trim_start().len();
    let mut start = spaced(0);
    let mut at = start;
    while let Some((stop_at, stop, stop_len)) = stops::next(text.as_bytes(), at) {
        let (end, ends) = match stop {
            Stop::Line => (stop_at, true),
            _ => {
                let run = stops::run(text, stop_at);
                (run.end, ends_sentence(text, start, stop, stop_at, &run))
            }
        };
        at = end.max(stop_at + stop_len);
        if ends {
            if !with(start, end) {
                return;
            }
            start = spaced(at);
            at = start;
        }
    }
    if start < text.len() {
        with(start, text.len());
    }
}

/// Whether the run of stops and closing signs ends the sentence that begins at `start`.
fn ends_sentence(text: &str, start: usize, stop: Stop, stop_at: usize, run: &stops::Run) -> bool {
    let rest = &text[run.end..];
    let ahead = rest.trim_start_matches(stops::is_space);
    let Some(next) = ahead.chars().next().filter(|c| *c != '\n') else { return true };
    if run.is_repaired && ["と", "っ", "です"].iter().any(|particle| ahead.starts_with(particle)) {
        return false;
    }
    let is_spaced = ahead.len() < rest.len();
    let is_unspaced = super::words::normal::is_character(next);
    match stop {
        Stop::Line | Stop::Full => true,
        Stop::FullDot => is_spaced || is_unspaced || !next.is_alphanumeric(),
        Stop::Mark => is_spaced && !(run.is_closed && next.is_lowercase()) || !is_spaced && is_unspaced,
        Stop::Ellipsis if !is_spaced => is_unspaced,
        Stop::Dot if !is_spaced => {
            is_unspaced && text[..stop_at].chars().next_back().is_some_and(super::words::normal::is_character)
        }
        Stop::Ellipsis => !latin::first(ahead).is_lowercase(),
        Stop::Dot => {
            run.n_stops > 1 && !latin::first(ahead).is_lowercase() || latin::ends(&text[start..stop_at], ahead)
        }
    }
}
