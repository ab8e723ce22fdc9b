//! How a lexicon is made: in how many documents each term stands, copies counted once.
//!
//! Copies inflate document frequencies: the words of a message that was sent a thousand times would look common. So
//! a document counts only if none before it was the same (the same terms in the same order) or nearly the same: the cosine of
//! the distinct terms is at least [`COSINE_MIN`], the measure by which I-Match is judged (Kolcz 2004). Candidates come from 16 bands
//! of 4 minima over the distinct terms, which miss a pair at that cosine once in 14,000: `(1 - 0.82^4)^16`.
//!
//! Memory is bounded on both sides. Of the documents, the latest are remembered; an older one's copy counts again.
//! Of the terms, the rarest are forgotten when there are too many, as in lossy counting: a frequency may then be
//! too low by [`Tally::df_error_max`], never too high.
//!
//! # Invariants
//! - Frequencies equal those of a count over all distinct documents. (`frequencies_equal_a_plain_count`)
//! - A copy and a near copy count nothing; a document that shares most of its words by chance counts.
//!   (`copies_count_once`)
//! - Over the bound, no frequency is too high, nor too low by more than is said. (`forgetting_is_bounded_and_said`)
//! - The same documents in the same order give the same lexicon. (`counting_is_repeatable`)

use super::{About, Lexicon, LexiconError, file};
use crate::signature::cosine;
use crate::signature::keyed::mix;
use crate::text::words;
use serde::Serialize;
use std::collections::{HashMap, HashSet, VecDeque};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// From this cosine of distinct terms on, two documents count as one.
pub const COSINE_MIN: f64 = 0.9;

const BANDS: usize = 16;
const ROWS: usize = 4;

/// The distinct terms of one document, and what is needed to recognise its copies. Made by many threads.
#[derive(Clone, Debug, Default)]
pub struct Bag {
    letters: String,
    ends: Vec<usize>,
    /// The hashes of the terms, ascending. Not keyed: nothing of them is written down.
    hashes: Vec<u64>,
    digest: u64,
    bands: [u64; BANDS],
    n_overlong: usize,
}

impl Bag {
    /// The terms of a document, whose text may come in pieces.
    pub fn of<'t>(pieces: impl IntoIterator<Item = &'t str>) -> Self {
        Self::filled(|with| pieces.into_iter().for_each(|piece| words::spelled_terms(piece, &mut *with)))
    }

    fn filled(fill: impl FnOnce(&mut dyn FnMut(&str))) -> Self {
        let (mut bag, mut seen, mut order) = (Self::default(), HashSet::new(), Xxh3::new());
        fill(&mut |term| {
            if term.len() > file::TERM_BYTES_MAX {
                bag.n_overlong += 1;
                return;
            }
            let hash = xxh3_64(term.as_bytes());
            order.update(&hash.to_le_bytes());
            if seen.insert(hash) {
                bag.letters.push_str(term);
                bag.ends.push(bag.letters.len());
            }
        });
        bag.digest = order.digest();
        bag.hashes = seen.into_iter().collect();
        bag.hashes.sort_unstable();
        bag.bands = bands(&bag.hashes);
        bag
    }

    /// How many distinct terms there are.
    pub fn n_terms(&self) -> usize {
        self.ends.len()
    }

    fn terms(&self) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.letters[start..end])
    }
}

/// One hash for each band: of the smallest values that the terms have under four permutations.
fn bands(hashes: &[u64]) -> [u64; BANDS] {
    std::array::from_fn(|band| {
        (0..ROWS).fold(band as u64, |key, row| {
            let permutation = xxh3_64(&[band as u8, row as u8]);
            let smallest = hashes.iter().map(|&hash| mix(hash, permutation)).min();
            mix(key, smallest.unwrap_or(0))
        })
    })
}

/// What is too much for a [`Counter`], and too little.
#[derive(Clone, Copy, Debug)]
pub struct CountLimits {
    /// Documents of fewer distinct terms don't count.
    pub document_terms_min: usize,
    /// More distinct terms than this aren't remembered.
    pub terms_max: usize,
    /// The terms of the remembered documents, all together, aren't more than this.
    pub remembered_terms_max: usize,
}

impl Default for CountLimits {
    /// About half a gigabyte for the terms and as much for the documents.
    fn default() -> Self {
        Self { document_terms_min: 5, terms_max: 5_000_000, remembered_terms_max: 50_000_000 }
    }
}

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Documents that count.
    pub n_documents: u64,
    /// Documents left out because they are the same as an earlier one.
    pub n_copies: u64,
    /// Documents left out because they are nearly the same as an earlier one.
    pub n_near_copies: u64,
    /// Documents left out because they have too few terms.
    pub n_short: u64,
    /// Terms left out because they are too long to be words.
    pub n_overlong_terms: u64,
    /// Documents that are no longer remembered: their later copies count again.
    pub n_forgotten_documents: u64,
    /// Terms that were forgotten because there were too many.
    pub n_forgotten_terms: u64,
    /// A frequency may be too low by this much, because of terms that were forgotten and came again.
    pub df_error_max: u32,
}

/// Counts documents.
pub struct Counter {
    limits: CountLimits,
    tally: Tally,
    frequencies: HashMap<Box<str>, u32>,
    remembered: Remembered,
}

impl Counter {
    /// A counter that has seen nothing.
    pub fn new(limits: CountLimits) -> Self {
        Self { limits, tally: Tally::default(), frequencies: HashMap::new(), remembered: Remembered::default() }
    }

    /// Counts a document, unless it is a copy or too short. The order of calls decides which of two copies counts.
    pub fn add(&mut self, bag: &Bag) {
        self.tally.n_overlong_terms += bag.n_overlong as u64;
        if bag.n_terms() < self.limits.document_terms_min {
            self.tally.n_short += 1;
        } else if self.remembered.digests.contains(&bag.digest) {
            self.tally.n_copies += 1;
        } else if self.remembered.has_near_copy(bag) {
            self.tally.n_near_copies += 1;
        } else {
            self.tally.n_documents += 1;
            self.tally.n_forgotten_documents += self.remembered.learn(bag, self.limits.remembered_terms_max);
            for term in bag.terms() {
                match self.frequencies.get_mut(term) {
                    Some(df) => *df += 1,
                    None => {
                        self.frequencies.insert(term.into(), 1);
                    }
                }
            }
            self.forget_rarest();
        }
    }

    /// What was counted so far.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// The lexicon of all terms that stand in at least `df_min` documents.
    pub fn lexicon(&self, name: &str, language: &str, source: &str, df_min: u32) -> Result<Lexicon, LexiconError> {
        let about = About {
            name: name.to_owned(),
            language: language.to_owned(),
            source: source.to_owned(),
            n_documents: self.tally.n_documents,
            df_min,
        };
        let mut terms: Vec<(&str, u32)> =
            self.frequencies.iter().filter_map(|(term, &df)| (df >= df_min).then_some((term.as_ref(), df))).collect();
        terms.sort_unstable();
        Lexicon::new(about, terms)
    }

    /// Over the bound, forgets the terms of one document, then those of two, until half are left: one pass then
    /// pays for as many further terms as it has forgotten.
    fn forget_rarest(&mut self) {
        if self.frequencies.len() <= self.limits.terms_max {
            return;
        }
        let n_before = self.frequencies.len();
        let mut floor = 0;
        while self.frequencies.len() > self.limits.terms_max / 2 {
            floor += 1;
            self.frequencies.retain(|_, df| *df > floor);
        }
        self.tally.n_forgotten_terms += (n_before - self.frequencies.len()) as u64;
        self.tally.df_error_max += floor;
    }
}

/// The latest documents that count.
#[derive(Default)]
struct Remembered {
    documents: VecDeque<Seen>,
    /// How many have been forgotten: the number of the first in `documents`.
    first: u64,
    n_terms: usize,
    digests: HashSet<u64>,
    /// The latest document with this band.
    bands: HashMap<u64, u64>,
}

struct Seen {
    hashes: Box<[u64]>,
    digest: u64,
    bands: [u64; BANDS],
}

impl Remembered {
    fn has_near_copy(&self, bag: &Bag) -> bool {
        let mut candidates: Vec<u64> = bag.bands.iter().filter_map(|band| self.bands.get(band).copied()).collect();
        candidates.sort_unstable();
        candidates.dedup();
        candidates.iter().any(|&number| {
            let seen = &self.documents[(number - self.first) as usize];
            cosine(&bag.hashes, &seen.hashes) >= COSINE_MIN
        })
    }

    /// Remembers a document, and forgets the oldest where there are too many terms; says how many.
    fn learn(&mut self, bag: &Bag, terms_max: usize) -> u64 {
        let number = self.first + self.documents.len() as u64;
        self.n_terms += bag.hashes.len();
        self.digests.insert(bag.digest);
        self.bands.extend(bag.bands.iter().map(|&band| (band, number)));
        let hashes = bag.hashes.as_slice().into();
        self.documents.push_back(Seen { hashes, digest: bag.digest, bands: bag.bands });
        let first_before = self.first;
        while self.n_terms > terms_max && self.documents.len() > 1 {
            self.forget_oldest();
        }
        self.first - first_before
    }

    fn forget_oldest(&mut self) {
        let Some(seen) = self.documents.pop_front() else { return };
        self.n_terms -= seen.hashes.len();
        self.digests.remove(&seen.digest);
        for band in &seen.bands {
            if self.bands.get(band) == Some(&self.first) {
                self.bands.remove(band);
            }
        }
        self.first += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    fn bag(terms: &[&str]) -> Bag {
        Bag::filled(|with| terms.iter().for_each(|term| with(term)))
    }

    /// `n` words that no other `family` has.
    fn words_of(family: &str, n: usize) -> Vec<String> {
        (0..n).map(|index| format!("{family}{index}")).collect()
    }

    fn strs(words: &[String]) -> Vec<&str> {
        words.iter().map(String::as_str).collect()
    }

    fn counted(documents: &[Vec<&str>], limits: CountLimits) -> Counter {
        let mut counter = Counter::new(limits);
        documents.iter().for_each(|document| counter.add(&bag(document)));
        counter
    }

    #[test]
    fn copies_count_once() {
        let (letter, other) = (words_of("letter", 40), words_of("other", 40));
        let mut edited = strs(&letter);
        edited[7] = "new";
        let mut half = strs(&letter);
        half[..20].copy_from_slice(&strs(&other)[..20]);
        let documents = [strs(&letter), strs(&letter), edited, half, strs(&other), vec!["too", "short"]];
        let counter = counted(&documents, CountLimits::default());
        let tally = Tally { n_documents: 3, n_copies: 1, n_near_copies: 1, n_short: 1, ..Tally::default() };
        assert_eq!(*counter.tally(), tally);
        let lexicon = counter.lexicon("test", "en", "made up", 1).unwrap();
        assert_eq!(lexicon.document_frequency("letter30"), Some(2), "in the letter and in half of it");
        assert_eq!(lexicon.document_frequency("letter3"), Some(1));
        assert_eq!(lexicon.document_frequency("new"), None, "a near copy adds nothing");
        assert_eq!(lexicon.about().n_documents, 3);
    }

    #[test]
    fn the_same_terms_in_another_order_are_a_near_copy() {
        let letter = words_of("letter", 40);
        let mut backwards = strs(&letter);
        backwards.reverse();
        let counter = counted(&[strs(&letter), backwards], CountLimits::default());
        assert_eq!((counter.tally().n_documents, counter.tally().n_near_copies), (1, 1));
    }

    #[test]
    fn documents_are_forgotten_oldest_first() {
        let families: Vec<_> = ["a", "b", "c", "a", "c"].iter().map(|family| words_of(family, 10)).collect();
        let documents: Vec<_> = families.iter().map(|words| strs(words)).collect();
        let counter = counted(&documents, CountLimits { remembered_terms_max: 20, ..CountLimits::default() });
        let tally = Tally { n_documents: 4, n_copies: 1, n_forgotten_documents: 2, ..Tally::default() };
        assert_eq!(*counter.tally(), tally, "`a` comes again after it was forgotten, `c` before");
        assert_eq!(counter.remembered.bands.len(), 2 * BANDS, "nothing is left of the forgotten ones");
    }

    fn documents() -> impl Strategy<Value = Vec<Vec<String>>> {
        let document = proptest::collection::vec("[a-d]{1,3}", 1..30);
        proptest::collection::vec(document, 1..40)
    }

    proptest! {
        /// Against the slow and obvious: compare each document with all that count, then count.
        #[test]
        fn frequencies_equal_a_plain_count(documents in documents()) {
            let mut kept: Vec<BTreeSet<&str>> = Vec::new();
            for document in &documents {
                let set: BTreeSet<&str> = document.iter().map(String::as_str).collect();
                let is_copy = |other: &BTreeSet<&str>| {
                    let common = set.intersection(other).count() as f64;
                    common / (set.len() as f64 * other.len() as f64).sqrt() >= COSINE_MIN
                };
                if set.len() >= 5 && !kept.iter().any(is_copy) {
                    kept.push(set);
                }
            }
            let mut plain: BTreeMap<&str, u32> = BTreeMap::new();
            kept.iter().flatten().for_each(|term| *plain.entry(term).or_default() += 1);

            let bags: Vec<_> = documents.iter().map(|document| strs(document)).collect();
            let counter = counted(&bags, CountLimits::default());
            prop_assert_eq!(counter.tally().n_documents, kept.len() as u64);
            if kept.len() > 1 {
                let lexicon = counter.lexicon("", "", "", 1).unwrap();
                prop_assert!(lexicon.terms().eq(plain));
            }
        }

        #[test]
        fn counting_is_repeatable(documents in documents()) {
            let mut bags: Vec<_> = documents.iter().map(|document| strs(document)).collect();
            let (two, more) = (words_of("two", 9), words_of("more", 9));
            bags.extend([strs(&two), strs(&more)]);
            let lexicon = || counted(&bags, CountLimits::default()).lexicon("", "", "", 1).unwrap().to_bytes();
            prop_assert_eq!(lexicon(), lexicon());
        }

        #[test]
        fn forgetting_is_bounded_and_said(documents in documents(), terms_max in 4usize..40) {
            let bags: Vec<_> = documents.iter().map(|document| strs(document)).collect();
            let all = counted(&bags, CountLimits::default());
            let some = counted(&bags, CountLimits { terms_max, ..CountLimits::default() });
            prop_assert!(some.frequencies.len() <= terms_max);
            prop_assert_eq!(some.tally().n_documents, all.tally().n_documents);
            let error_max = some.tally().df_error_max;
            prop_assert_eq!(error_max > 0, some.tally().n_forgotten_terms > 0);
            for (term, df) in &all.frequencies {
                let low = some.frequencies.get(term).copied().unwrap_or(0);
                prop_assert!(low <= *df && df - low <= error_max, "{}: {} of {}, {}", term, low, df, error_max);
            }
        }
    }
}
