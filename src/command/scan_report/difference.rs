//! Two texts word by word: what stays, what goes, what comes.
//!
//! What both begin and end with is set aside; between the two the longest common subsequence is found by the obvious
//! table, over [`WORDS_MAX`] words of each at most. One common word between two changes is chance more often than not
//! and is counted as changed.
//!
//! # Invariants
//! - What stays and goes is the one text, what stays and comes the other, as far as they were compared.
//!   (`both_texts_can_be_read_back`)
//! - Work and memory are bounded, whatever the texts. (`long_texts_are_compared_in_part`)

use unicode_segmentation::UnicodeSegmentation;

/// Words (and what stands between them) that are compared beyond what the texts begin and end with.
const WORDS_MAX: usize = 1500;
/// Bytes of a text that are looked at.
const BYTES_MAX: usize = 1 << 18;
/// So many words between two changes are a stretch that stays.
const STAYS_MIN: usize = 2;

/// What became of a stretch of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// In both.
    Stays,
    /// In the first only.
    Goes,
    /// In the second only.
    Comes,
}

/// The difference of two texts.
#[derive(Debug, Default)]
pub(super) struct Difference<'a> {
    /// The stretches in order; of a change, what goes stands before what comes.
    pub(super) stretches: Vec<(Fate, Vec<&'a str>)>,
    /// Whether both texts were compared to their ends.
    pub(super) complete: bool,
}

impl<'a> Difference<'a> {
    /// Compares two texts.
    pub(super) fn of(this: &'a str, that: &'a str) -> Self {
        let (cut_this, cut_that) = (head(this), head(that));
        let (a, b) = (tokens(cut_this), tokens(cut_that));
        let mut complete = cut_this.len() == this.len() && cut_that.len() == that.len();
        let n_before = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
        let (mut a_rest, mut b_rest) = (&a[n_before..], &b[n_before..]);
        let n_after = a_rest.iter().rev().zip(b_rest.iter().rev()).take_while(|(a, b)| a == b).count();
        let mut after = &a_rest[a_rest.len() - n_after..];
        (a_rest, b_rest) = (&a_rest[..a_rest.len() - n_after], &b_rest[..b_rest.len() - n_after]);
        if a_rest.len().max(b_rest.len()) > WORDS_MAX {
            complete = false;
            (a_rest, b_rest) = (&a_rest[..a_rest.len().min(WORDS_MAX)], &b_rest[..b_rest.len().min(WORDS_MAX)]);
            // What follows would stand beside words that it is not next to.
            after = &[];
        }
        let mut steps = vec![(Fate::Stays, a[..n_before].to_vec())];
        steps.extend(between(a_rest, b_rest));
        steps.push((Fate::Stays, after.to_vec()));
        Self { stretches: joined(steps), complete }
    }

    /// Whether anything differs.
    pub(super) fn is_empty(&self) -> bool {
        self.stretches.iter().all(|stretch| stretch.0 == Fate::Stays)
    }
}

fn head(text: &str) -> &str {
    &text[..text.floor_char_boundary(BYTES_MAX)]
}

/// Words, and each space and punctuation mark; runs of white space are one token.
fn tokens(text: &str) -> Vec<&str> {
    text.split_word_bounds().collect()
}

fn is_word(token: &str) -> bool {
    token.chars().any(char::is_alphanumeric)
}

/// All white space is alike.
fn same(a: &str, b: &str) -> bool {
    a == b || (a.trim().is_empty() && b.trim().is_empty())
}

/// The steps from one list to the other along a longest common subsequence.
fn between<'a>(a: &[&'a str], b: &[&'a str]) -> Vec<(Fate, Vec<&'a str>)> {
    // The length of the longest common subsequence of `a[i..]` and `b[j..]`; WORDS_MAX fits.
    let width = b.len() + 1;
    let mut lengths = vec![0_u16; (a.len() + 1) * width];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            lengths[i * width + j] = if same(a[i], b[j]) {
                lengths[(i + 1) * width + j + 1] + 1
            } else {
                lengths[(i + 1) * width + j].max(lengths[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut steps = Vec::new();
    while i < a.len() || j < b.len() {
        if i < a.len() && j < b.len() && same(a[i], b[j]) {
            steps.push((Fate::Stays, vec![a[i]]));
            (i, j) = (i + 1, j + 1);
        } else if j == b.len() || (i < a.len() && lengths[(i + 1) * width + j] >= lengths[i * width + j + 1]) {
            steps.push((Fate::Goes, vec![a[i]]));
            i += 1;
        } else {
            steps.push((Fate::Comes, vec![b[j]]));
            j += 1;
        }
    }
    steps
}

/// Steps of one fate joined, short stretches between changes given to the changes, and each change in two parts.
fn joined<'a>(steps: Vec<(Fate, Vec<&'a str>)>) -> Vec<(Fate, Vec<&'a str>)> {
    let mut runs: Vec<(Fate, Vec<&'a str>)> = Vec::new();
    for (fate, tokens) in steps.into_iter().filter(|step| !step.1.is_empty()) {
        match runs.last_mut() {
            Some(last) if last.0 == fate => last.1.extend(tokens),
            _ => runs.push((fate, tokens)),
        }
    }
    let n_runs = runs.len();
    let mut joined = Vec::new();
    let (mut goes, mut comes) = (Vec::new(), Vec::new());
    for (index, (fate, tokens)) in runs.into_iter().enumerate() {
        let is_between = index > 0 && index + 1 < n_runs;
        match fate {
            Fate::Goes => goes.extend(tokens),
            Fate::Comes => comes.extend(tokens),
            Fate::Stays if is_between && tokens.iter().filter(|token| is_word(token)).count() < STAYS_MIN => {
                goes.extend(&tokens);
                comes.extend(tokens);
            }
            Fate::Stays => {
                change(&mut goes, &mut comes, &mut joined);
                joined.push((Fate::Stays, tokens));
            }
        }
    }
    change(&mut goes, &mut comes, &mut joined);
    joined
}

fn change<'a>(goes: &mut Vec<&'a str>, comes: &mut Vec<&'a str>, joined: &mut Vec<(Fate, Vec<&'a str>)>) {
    for (fate, tokens) in [(Fate::Goes, goes), (Fate::Comes, comes)] {
        if !tokens.is_empty() {
            joined.push((fate, std::mem::take(tokens)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(this: &str, that: &str) -> String {
        let side = |(fate, tokens): &(Fate, Vec<&str>)| match fate {
            Fate::Stays => tokens.concat(),
            Fate::Goes => format!("[-{}-]", tokens.concat()),
            Fate::Comes => format!("[+{}+]", tokens.concat()),
        };
        Difference::of(this, that).stretches.iter().map(side).collect()
    }

    #[test]
    fn changes_are_words() {
        let cases = [
            (
                "Dear Anna, your parcel waits.",
                "Dear Bert, your parcel waits.",
                "Dear [-Anna-][+Bert+], your parcel waits.",
            ),
            ("one two three", "one two three four", "one two three[+ four+]"),
            ("", "new", "[+new+]"),
            ("a red b", "a blue b", "a [-red-][+blue+] b"),
            ("old is gone now", "new is here now", "[-old is gone-][+new is here+] now"),
            ("東京は晴れ", "東京は雨", "東京は[-晴れ-][+雨+]"),
            ("one\ntwo  three", "one two three", "one\ntwo  three"),
        ];
        for (this, that, expected) in cases {
            assert_eq!(shown(this, that), expected);
        }
        assert!(Difference::of("the same", "the same").is_empty());
    }

    #[test]
    fn long_texts_are_compared_in_part() {
        let (this, that) = ("a b ".repeat(200_000), "c d ".repeat(200_000));
        let difference = Difference::of(&this, &that);
        assert!(!difference.complete);
        assert!(difference.stretches.iter().map(|stretch| stretch.1.len()).sum::<usize>() <= 2 * WORDS_MAX);
        let long = "word ".repeat(10_000);
        assert!(Difference::of(&format!("{long}x"), &format!("{long}y")).complete, "equal beginnings cost little");
    }

    proptest! {
        #[test]
        fn both_texts_can_be_read_back(this in "[ab .]{0,30}", that in "[ab .]{0,30}") {
            let difference = Difference::of(&this, &that);
            let side = |but: Fate| -> String {
                let tokens = difference.stretches.iter().filter(|stretch| stretch.0 != but).map(|stretch| stretch.1.concat());
                tokens.collect::<String>().split_whitespace().collect()
            };
            prop_assert!(difference.complete);
            prop_assert_eq!(side(Fate::Comes), this.split_whitespace().collect::<String>());
            prop_assert_eq!(side(Fate::Goes), that.split_whitespace().collect::<String>());
        }
    }
}
