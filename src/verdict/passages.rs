//! The passages that two texts share: runs of equal units, the longest first, none overlapping another on either side.
//!
//! A run of five words (or ten characters of a script without spaces) and more begins with a gram that both texts
//! have. Such grams are the seeds; each is extended both ways, once per diagonal. Then the longest run is taken, the
//! others lose what it covers, and so on (greedy string tiling).
//!
//! Texts that repeat themselves have quadratically many common runs. So a gram is looked up at no more than
//! [`PLACES_MAX`] places, and the work is bounded by [`WORK_PER_UNIT`]; where a bound was met the answer says that it
//! is not complete. [`Shared::this_covered`] and [`Shared::that_covered`] are exact in any case.
//!
//! # Invariants
//! - The passages are those of the obvious cubic algorithm. (`passages_equal_the_naive_tiling`)
//! - They never overlap, and hold equal units. (`passages_are_common_and_apart`)
//! - Linear work on texts of one repeated word. (`one_repeated_word_is_one_passage`)

use crate::document::Span;
use crate::text::grams::{self, Gram};
use crate::text::words::{Traits, Words};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A run has to weigh as much as a gram of `text::grams`: a word weighs 2, a character of a script without spaces 1.
pub const WEIGHT_MIN: usize = 10;
/// A gram that stands at more places of a text is looked up at the first of them only.
pub const PLACES_MAX: usize = 32;
/// Steps per unit of both texts, after which no further runs are looked for.
pub const WORK_PER_UNIT: usize = 64;

/// A run of units that stands in both texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Passage {
    /// How many units it has.
    pub n_units: u32,
    /// The position of its first unit in the first text.
    pub this: u32,
    /// The position of its first unit in the second text.
    pub that: u32,
}

impl Passage {
    /// Where it lies in the first text, given its words.
    pub fn this_span(self, words: &Words) -> Span {
        span(words, self.this, self.n_units)
    }

    /// Where it lies in the second text, given its words.
    pub fn that_span(self, words: &Words) -> Span {
        span(words, self.that, self.n_units)
    }
}

fn span(words: &Words, first: u32, n_units: u32) -> Span {
    let (first, last) = (first as usize, (first + n_units) as usize - 1);
    Span { start: words.spans[first].start, end: words.spans[last].end }
}

/// What two texts share.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shared {
    /// The passages, the longest first.
    pub passages: Vec<Passage>,
    /// Units of the first text that lie in a gram of the second, however often it is used.
    pub this_covered: usize,
    /// Units of the second text that lie in a gram of the first.
    pub that_covered: usize,
    /// Whether no bound was met.
    pub complete: bool,
}

impl Shared {
    /// The passages of two texts.
    pub fn of(this: &Words, that: &Words) -> Self {
        let (this_grams, that_grams) = (grams(this), grams(that));
        let places = Places::of(&this_grams);
        let (runs, work_left, complete) = runs(this, that, &places, &that_grams);
        let (passages, tiled) = tiling(runs, this, that, work_left);
        Self {
            passages,
            this_covered: covered(this, &this_grams, &Places::of(&that_grams)),
            that_covered: covered(that, &that_grams, &places),
            complete: complete && tiled,
        }
    }
}

/// Any key will do: the hashes of units are keyed themselves, and grams do not leave this file.
const KEY: u64 = 1;

fn grams(words: &Words) -> Vec<Gram> {
    let mut grams = Vec::with_capacity(words.len());
    grams::cut(words, Traits::ANY, KEY, 1, &mut Vec::new(), &mut grams);
    grams
}

fn weight(words: &Words, unit: usize) -> usize {
    if words.traits[unit].has(Traits::CHARACTER) { 1 } else { 2 }
}

/// The first units of `first..end` that weigh enough for a run end here.
fn heavy_end(words: &Words, first: usize, end: usize) -> Option<usize> {
    let mut weighs = 0;
    (first..end).find_map(|unit| {
        weighs += weight(words, unit);
        (weighs >= WEIGHT_MIN).then_some(unit + 1)
    })
}

/// Where each gram of a text stands.
struct Places(Vec<(u64, u32)>);

impl Places {
    fn of(grams: &[Gram]) -> Self {
        let mut places: Vec<_> = grams.iter().map(|gram| (gram.hash, gram.position)).collect();
        places.sort_unstable();
        Self(places)
    }

    fn at(&self, hash: u64) -> &[(u64, u32)] {
        let first = self.0.partition_point(|place| place.0 < hash);
        let n = self.0[first..].iter().take(PLACES_MAX + 1).take_while(|place| place.0 == hash).count();
        &self.0[first..first + n]
    }
}

fn covered(words: &Words, grams: &[Gram], others: &Places) -> usize {
    let (mut end, mut n) = (0, 0);
    for gram in grams.iter().filter(|gram| !others.at(gram.hash).is_empty()) {
        let first = gram.position as usize;
        let gram_end = heavy_end(words, first, words.len()).expect("a gram weighs enough");
        n += gram_end - first.max(end);
        end = gram_end;
    }
    n
}

/// All maximal common runs (within the bounds), the work left, and whether no bound was met.
fn runs(this: &Words, that: &Words, places: &Places, that_grams: &[Gram]) -> (BinaryHeap<Run>, usize, bool) {
    let (a, b) = (&this.hashes, &that.hashes);
    let mut work = WORK_PER_UNIT * (a.len() + b.len());
    let (mut runs, mut complete) = (Vec::new(), true);
    // How far each diagonal has been looked at, as a position in `that`.
    let mut seen = vec![0_u32; a.len() + b.len()];
    'grams: for gram in that_grams {
        let at = places.at(gram.hash);
        complete &= at.len() <= PLACES_MAX;
        for &(_, place) in at.iter().take(PLACES_MAX) {
            let (mut i, mut j) = (place as usize, gram.position as usize);
            let diagonal = &mut seen[a.len() + j - i - 1];
            if (j as u32) < *diagonal {
                continue;
            }
            let (mut i_end, mut j_end) = (i, j);
            while i > 0 && j > *diagonal as usize && a[i - 1] == b[j - 1] {
                (i, j) = (i - 1, j - 1);
            }
            while i_end < a.len() && j_end < b.len() && a[i_end] == b[j_end] {
                (i_end, j_end) = (i_end + 1, j_end + 1);
            }
            *diagonal = j_end as u32 + 1;
            let n_units = j_end - j;
            match work.checked_sub(n_units + 1) {
                Some(rest) => work = rest,
                None => {
                    complete = false;
                    break 'grams;
                }
            }
            if heavy_end(that, j, j_end).is_some() {
                runs.push(run(i, j, n_units));
            }
        }
    }
    (BinaryHeap::from(runs), work, complete)
}

/// A run in the order in which the tiling takes them: the longest, then the first in this text, then in that.
type Run = (u32, Reverse<u32>, Reverse<u32>);

fn run(this: usize, that: usize, n_units: usize) -> Run {
    (n_units as u32, Reverse(this as u32), Reverse(that as u32))
}

/// Takes the longest run, cuts what it covers out of the others, and goes on.
fn tiling(mut runs: BinaryHeap<Run>, this: &Words, that: &Words, work_left: usize) -> (Vec<Passage>, bool) {
    let (mut this_taken, mut that_taken) = (vec![false; this.len()], vec![false; that.len()]);
    let mut passages = Vec::new();
    // Every run is looked at once, whatever was spent on finding them.
    let mut work = work_left + runs.iter().map(|run| run.0 as usize).sum::<usize>();
    while let Some((n_units, Reverse(i), Reverse(j))) = runs.pop() {
        let (i, j, n_units) = (i as usize, j as usize, n_units as usize);
        match work.checked_sub(n_units) {
            Some(rest) => work = rest,
            None => return (passages, false),
        }
        let is_free = |k: usize| !this_taken[i + k] && !that_taken[j + k];
        if (0..n_units).all(is_free) {
            this_taken[i..i + n_units].fill(true);
            that_taken[j..j + n_units].fill(true);
            passages.push(Passage { n_units: n_units as u32, this: i as u32, that: j as u32 });
            continue;
        }
        let mut k = 0;
        while k < n_units {
            let n_free = (k..n_units).take_while(|&k| is_free(k)).count();
            if heavy_end(that, j + k, j + k + n_free).is_some() {
                runs.push(run(i + k, j + k, n_free));
            }
            k += n_free + 1;
        }
    }
    (passages, true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(units: &[u64]) -> Words {
        let spans = (0..units.len()).map(|at| Span::new(2 * at, 2 * at + 1)).collect();
        Words { hashes: units.to_vec(), spans, traits: vec![Traits::TERM; units.len()] }
    }

    fn characters(units: &[u64]) -> Words {
        Words { traits: vec![Traits::CHARACTER; units.len()], ..words(units) }
    }

    fn shared(this: &[u64], that: &[u64]) -> Shared {
        Shared::of(&words(this), &words(that))
    }

    /// Greedy string tiling as it is defined: look at all pairs of positions again after every tile.
    fn naive(this: &[u64], that: &[u64]) -> Vec<Passage> {
        let (mut this_taken, mut that_taken) = (vec![false; this.len()], vec![false; that.len()]);
        let mut passages = Vec::new();
        loop {
            let mut best: Option<Passage> = None;
            for i in 0..this.len() {
                for j in 0..that.len() {
                    let n = (0..(this.len() - i).min(that.len() - j))
                        .take_while(|&k| this[i + k] == that[j + k] && !this_taken[i + k] && !that_taken[j + k])
                        .count() as u32;
                    if n >= 5 && best.is_none_or(|best| n > best.n_units) {
                        best = Some(Passage { n_units: n, this: i as u32, that: j as u32 });
                    }
                }
            }
            let Some(best) = best else { return passages };
            let n_units = best.n_units as usize;
            this_taken[best.this as usize..][..n_units].fill(true);
            that_taken[best.that as usize..][..n_units].fill(true);
            passages.push(best);
        }
    }

    #[test]
    fn a_moved_paragraph_is_found_where_it_stands() {
        let this = [1, 2, 3, 4, 5, 6, 7, 90, 91, 92, 93, 94];
        let that = [90, 91, 92, 93, 94, 50, 1, 2, 3, 4, 5, 6, 7];
        let shared = shared(&this, &that);
        assert_eq!(
            shared.passages,
            [Passage { n_units: 7, this: 0, that: 6 }, Passage { n_units: 5, this: 7, that: 0 }]
        );
        assert_eq!((shared.this_covered, shared.that_covered, shared.complete), (12, 12, true));
        assert_eq!(shared.passages[1].this_span(&words(&this)), Span::new(14, 23));
    }

    #[test]
    fn four_words_are_no_passage() {
        assert_eq!(shared(&[1, 2, 3, 4], &[1, 2, 3, 4]).passages, []);
        assert_eq!(shared(&[], &[1, 2, 3, 4, 5]), Shared { complete: true, ..Shared::default() });
    }

    #[test]
    fn nine_characters_are_no_passage_and_ten_are() {
        let units: Vec<u64> = (0..10).collect();
        assert_eq!(Shared::of(&characters(&units[..9]), &characters(&units[..9])).passages, []);
        assert_eq!(Shared::of(&characters(&units), &characters(&units)).passages.len(), 1);
    }

    #[test]
    fn what_is_used_twice_is_covered_twice_and_one_passage() {
        let once: Vec<u64> = (0..6).collect();
        let twice = [&once[..], &once[..]].concat();
        let shared = shared(&once, &twice);
        assert_eq!((shared.passages.len(), shared.this_covered, shared.that_covered), (1, 6, 12));
    }

    #[test]
    fn one_repeated_word_is_one_passage() {
        let n = 200_000;
        let shared = shared(&vec![7; n], &vec![7; n]);
        assert_eq!(shared.passages[0], Passage { n_units: n as u32, this: 0, that: 0 });
        assert!(!shared.complete, "a gram at every place was not looked up everywhere");
        assert_eq!((shared.this_covered, shared.that_covered), (n, n));
    }

    proptest! {
        #[test]
        fn passages_equal_the_naive_tiling(this in prop::collection::vec(0..3_u64, 0..40), that in prop::collection::vec(0..3_u64, 0..30)) {
            let shared = shared(&this, &that);
            if shared.complete {
                prop_assert_eq!(shared.passages, naive(&this, &that));
            }
        }

        #[test]
        fn passages_are_common_and_apart(
            parts in prop::collection::vec(prop::collection::vec(0..6_u64, 1..9), 1..6),
            this in prop::collection::vec(0..6_usize, 0..30),
            that in prop::collection::vec(0..6_usize, 0..30),
        ) {
            let text = |order: &[usize]| order.iter().flat_map(|&part| parts[part % parts.len()].clone()).collect::<Vec<u64>>();
            let (this, that) = (text(&this), text(&that));
            let shared = shared(&this, &that);
            let (mut this_taken, mut that_taken) = (vec![0; this.len()], vec![0; that.len()]);
            for passage in &shared.passages {
                let (i, j, n) = (passage.this as usize, passage.that as usize, passage.n_units as usize);
                prop_assert!(n >= 5);
                prop_assert_eq!(&this[i..i + n], &that[j..j + n]);
                this_taken[i..i + n].iter_mut().for_each(|taken| *taken += 1);
                that_taken[j..j + n].iter_mut().for_each(|taken| *taken += 1);
            }
            prop_assert!(this_taken.iter().chain(&that_taken).all(|&taken| taken <= 1));
            prop_assert!(shared.passages.is_sorted_by_key(|passage| Reverse(passage.n_units)));
            let in_this = (0..this.len()).filter(|&at| (0..5).any(|back| at >= back && at - back + 5 <= this.len()
                && that.windows(5).any(|gram| gram == &this[at - back..at - back + 5]))).count();
            prop_assert_eq!(shared.this_covered, in_this);
        }
    }
}
