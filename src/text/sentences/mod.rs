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
//! - No stop is overlooked. (`the_table_knows_every_stop`)

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

#[cfg(test)]
mod tests {
    use super::super::words::{self, Rules};
    use super::*;
    use proptest::prelude::*;

    fn sentences(text: &str) -> (Words, Vec<Sentence>) {
        let mut units = Words::default();
        words::cut(text, &Rules::plain(1), &mut units);
        let mut found = Vec::new();
        cut(text, &units, &mut found);
        (units, found)
    }

    fn spelled(text: &str) -> Vec<&str> {
        sentences(text).1.iter().map(|sentence| &text[sentence.span.range()]).collect()
    }

    #[test]
    fn latin_text_is_cut_at_its_sentences() {
        for expected in [
            &["It rained.", "We stayed in!", "Why not?", "\"Fine.\"", "He left (at last).", "The end"][..],
            &["Mr. Smith met Dr. J. R. Brown at 3.5 km, e.g. at St. Mary's.", "They spoke."],
            &["The U.S. economy grew.", "It is in the U.S.", "The rest is not."],
            &["See www.example.com/a.b?c=d&e!f for more.", "Yes."],
            &["\"Really?\" he asked.", "Well... maybe.", "Well...", "No."],
            &["1. Introduction to No. 5 and fig. 3.", "Next"],
            &["Acme Inc. said so.", "He works at Acme Inc.", "The price fell."],
            &["Das kostet z.B. 3,50 Euro.", "Hr. Müller zahlt."],
            &["«Vraiment ?»", "Oui.", "¿Qué?", "Nada."],
            &["Привет, мир.", "Как дела?", "Хорошо."],
            &["यह एक है।", "वह दो है।"],
            &["كيف الحال؟", "بخير۔"],
            &["안녕하세요.", "반갑습니다!"],
        ] {
            assert_eq!(spelled(&expected.join(" ")), expected);
        }
    }

    #[test]
    fn cjk_text_is_cut_at_its_sentences_with_kangs_repairs() {
        for expected in [
            &["今日は雨です。", "家にいました！", "なぜ？", "さあ…", "終わり"][..],
            &["「はい！」と彼は言った。", "「うん」っていう。", "「駄目」です。", "次。"],
            &["やった！と叫んだ。", "終わった！", "本当に。"],
            &["彼の「本」", "の話。"],
            &["価格は３．５です．", "次です．"],
            &["他说：“好。”", "她走了。"],
            &["Rustは3.5倍速い。", "See e.g. this!", "そうです!", "次"],
            &["これは半角です｡", "次です."],
        ] {
            assert_eq!(spelled(&expected.concat()), expected);
        }
    }

    #[test]
    fn a_line_is_a_paragraph_and_scraps_without_words_are_none() {
        assert_eq!(spelled("one\ntwo. three\n\n-----\n  four  \n...\n"), ["one", "two. three", "four"]);
        assert_eq!(spelled("Hello.\u{A0}World"), ["Hello.", "World"]);
        assert_eq!(spelled(""), Vec::<&str>::new());
    }

    #[test]
    fn length_is_counted_in_characters() {
        assert_eq!(sentences("日本語の文。 Über uns.").1.iter().map(|s| s.n_chars).collect::<Vec<_>>(), [6, 9]);
        let long = "é".repeat(1_000);
        assert_eq!(sentences(&long).1[0].n_chars, 1_000);
    }

    proptest! {
        #[test]
        fn every_unit_is_in_one_sentence(text in "([A-Za-z]|[ .!?…\n]|Mr\\. |e\\.g\\. |[0-9]|[。！」と日です．]|é|\"|\\)| ){0,60}") {
            let (units, found) = sentences(&text);
            let mut next = 0;
            let mut end = 0;
            for sentence in &found {
                prop_assert_eq!(sentence.first_word, next);
                prop_assert!(sentence.end_word > sentence.first_word && sentence.span.start >= end);
                (next, end) = (sentence.end_word, sentence.span.end);
                let spelled = &text[sentence.span.range()];
                prop_assert_eq!(spelled.trim(), spelled);
                prop_assert_eq!(spelled.chars().count(), sentence.n_chars as usize);
                for unit in &units.spans[sentence.first_word as usize..sentence.end_word as usize] {
                    prop_assert!(unit.start >= sentence.span.start && unit.end <= sentence.span.end);
                }
            }
            prop_assert_eq!(next as usize, units.len());
        }
    }
}
