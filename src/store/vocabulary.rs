//! In how many documents each word stood, and how it is spelled: what a lexicon is later made from.
//!
//! Words are counted by hash in a flat table with open addressing; the letters of those that were offered spelled out
//! lie end to end in a second array. When the table is full, the rarest quarter is forgotten, in the manner of lossy
//! counting (Manku and Motwani 2002): frequent words stay with exact or nearly exact counts, and the error is bounded.
//!
//! # Invariants
//! - A count is never too high, and too low by [`Vocabulary::df_error_max`] at most. (`counts_stay_within_the_error`)
//! - Without forgetting, counts are exact. (`counts_stay_within_the_error`)
//! - Spellings are those first offered, in this order; a forgotten word's goes with it. (`spellings_go_with_their_words`)
//! - What was saved is read back equal and goes on alike; damage is refused or read, never a
//!   panic. (`counts_stay_within_the_error`, `damage_never_panics`)

use super::Damaged;
use super::bytes::Reader;
use super::memory::{LINE_BYTES, WORDS};
use super::prefetch::prefetch;
use super::region::Region;
use super::watch::Table;
use serde::{Deserialize, Serialize};

/// Longer words are of no use to a lexicon, and could fill the letters.
const LETTERS_MAX: usize = 64;
/// Before its letters a spelling has their number (one byte) and the slot of its word (four).
const N_BEFORE: usize = 5;

/// Slots in a line.
const SLOTS: usize = WORDS / 2;

/// Document frequencies of words, in fixed memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Vocabulary {
    /// Hash, and [`Entry`] in 64 bits; four to a line.
    slots: Region,
    n_slots: usize,
    letters: Region,
    n_letters_max: usize,
    tally: Tally,
}

/// The state beside slots and letters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Tally {
    n_letters: usize,
    n_words: usize,
    n_documents: u64,
    n_forgotten: u64,
    n_unspelled: u64,
    df_error_max: u32,
}

/// What is known of a word.
#[derive(Clone, Copy)]
struct Entry {
    /// 0 in a free slot.
    count: u32,
    /// Where the spelling begins, and one; 0 without one.
    spelling: u32,
}

impl Vocabulary {
    /// A vocabulary in about `n_bytes`: three fifths for counts, the rest for letters.
    #[cfg(test)]
    pub(super) fn new(n_bytes: usize) -> Self {
        Self::several(n_bytes, 1).swap_remove(0)
    }

    /// `n` such vocabularies side by side.
    pub(super) fn several(n_bytes: usize, n: usize) -> Vec<Self> {
        let n_slots = (n_bytes / 5 * 3 / 16).clamp(16, u32::MAX as usize) / SLOTS * SLOTS;
        let n_letters_max = (n_bytes / 5 * 2).min(u32::MAX as usize - 1);
        let (slots, letters) =
            (Region::several(n_slots.div_ceil(SLOTS), n), Region::several(n_letters_max.div_ceil(LINE_BYTES), n));
        let one = |(slots, letters)| Self { slots, n_slots, letters, n_letters_max, tally: Tally::default() };
        slots.into_iter().zip(letters).map(one).collect()
    }

    /// Counts a document. Its distinct words are added one by one.
    pub(super) fn document(&mut self) {
        self.tally.n_documents = self.tally.n_documents.saturating_add(1);
    }

    /// Asks for the slot of the word.
    #[inline]
    pub(super) fn prefetch(&self, hash: u64) {
        prefetch(&self.slots.lines()[self.home(hash) / SLOTS]);
    }

    /// Counts one more document with the word.
    #[inline]
    pub(super) fn add(&mut self, hash: u64) {
        let slot = self.slot(hash);
        match self.entry(slot) {
            Entry { count: 0, .. } => self.begin(slot, hash),
            Entry { count, spelling } => self.set(slot, hash, Entry { count: count.saturating_add(1), spelling }),
        }
    }

    /// Counts the first document with the word, whose free slot is `slot`.
    fn begin(&mut self, mut slot: usize, hash: u64) {
        if self.tally.n_words >= self.n_words_max() {
            self.forget_rarest();
            slot = self.slot(hash);
        }
        self.tally.n_words += 1;
        self.set(slot, hash, Entry { count: 1, spelling: 0 });
    }

    /// Keeps how the word is spelled, if it is counted, not spelled yet, and there is room.
    pub(super) fn spell(&mut self, hash: u64, word: &str) {
        let slot = self.slot(hash);
        let Entry { count, spelling } = self.entry(slot);
        if count == 0 || spelling != 0 {
            return;
        }
        let (start, n) = (self.tally.n_letters, word.len());
        if n > LETTERS_MAX || self.n_letters_max - start < N_BEFORE + n {
            self.tally.n_unspelled = self.tally.n_unspelled.saturating_add(1);
            return;
        }
        let letters = self.letters.bytes_mut(start..start + N_BEFORE + n);
        letters[0] = n as u8;
        letters[1..N_BEFORE].copy_from_slice(&(slot as u32).to_le_bytes());
        letters[N_BEFORE..].copy_from_slice(word.as_bytes());
        self.tally.n_letters += N_BEFORE + n;
        self.set(slot, hash, Entry { count, spelling: start as u32 + 1 });
    }

    /// In how many documents the word stood, or up to [`Self::df_error_max`] less.
    #[cfg(test)]
    pub(super) fn count(&self, hash: u64) -> u32 {
        self.entry(self.slot(hash)).count
    }

    /// The words that are spelled, with their counts, in the order of their first spelling.
    pub(super) fn spelled(&self) -> impl Iterator<Item = (&str, u32)> {
        let mut rest = &self.letters.bytes()[..self.tally.n_letters];
        std::iter::from_fn(move || {
            let (&n, after) = rest.split_first()?;
            let (slot, after) = after.split_first_chunk()?;
            let (word, after) = after.split_at(usize::from(n));
            rest = after;
            let word = std::str::from_utf8(word).expect("words are kept whole, and checked when loaded");
            Some((word, self.entry(u32::from_le_bytes(*slot) as usize).count))
        })
    }

    /// Documents counted.
    pub(super) fn n_documents(&self) -> u64 {
        self.tally.n_documents
    }

    /// Words counted at present.
    pub(super) fn n_words(&self) -> usize {
        self.tally.n_words
    }

    /// Words forgotten, those that came back and were forgotten again included.
    pub(super) fn n_forgotten(&self) -> u64 {
        self.tally.n_forgotten
    }

    /// Spellings that were too long or found no room.
    pub(super) fn n_unspelled(&self) -> u64 {
        self.tally.n_unspelled
    }

    /// By how much a count can be too low: a word may have been forgotten so often before it came back.
    pub(super) fn df_error_max(&self) -> u32 {
        self.tally.df_error_max
    }

    /// The state beside slots and letters.
    pub(super) fn tally(&self) -> Tally {
        self.tally
    }

    /// Slots and letters as a snapshot sees them.
    pub(super) fn tables(&mut self) -> [&mut dyn Table; 2] {
        [&mut self.slots, &mut self.letters]
    }

    /// Takes over the state that belongs to slots and letters that were read, and looks whether they agree.
    pub(super) fn resume(&mut self, tally: Tally) -> Result<(), Damaged> {
        let damaged = |reason: &'static str| Damaged { part: "vocabulary", reason };
        if tally.n_words > self.n_words_max() || tally.n_letters > self.n_letters_max {
            return Err(damaged("it has more words than room"));
        }
        let (mut n_words, mut n_spelled) = (0, 0);
        for Entry { count, spelling } in (0..self.n_slots).map(|slot| self.entry(slot)) {
            n_words += usize::from(count > 0);
            n_spelled += usize::from(spelling > 0);
        }
        if n_words != tally.n_words {
            return Err(damaged("a word is there twice or never"));
        }
        let letters = &self.letters.bytes()[..tally.n_letters];
        let mut spellings = Reader::new("vocabulary", letters);
        let mut start = 0;
        while !spellings.is_empty() {
            let (n, slot) = (usize::from(spellings.u8()?), spellings.u32()? as usize);
            let word = spellings.slice(n)?;
            let is_of = |entry: Entry| entry.count > 0 && entry.spelling as usize == start + 1;
            if slot >= self.n_slots || !is_of(self.entry(slot)) || std::str::from_utf8(word).is_err() {
                return Err(damaged("a spelling is of no word"));
            }
            start += N_BEFORE + n;
            n_spelled -= 1;
        }
        if n_spelled > 0 {
            return Err(damaged("a word has no spelling"));
        }
        self.tally = tally;
        Ok(())
    }

    /// Forgets all words up to the count that a quarter of them, or more, do not exceed.
    fn forget_rarest(&mut self) {
        let n_at_most = |threshold: u32| {
            let is_rare = |slot: &usize| (1..=threshold).contains(&self.entry(*slot).count);
            (0..self.n_slots).filter(is_rare).count()
        };
        let n_least = self.tally.n_words.div_ceil(4);
        let (mut below, mut threshold) = (0, 1_u32);
        while n_at_most(threshold) < n_least {
            (below, threshold) = (threshold, threshold.saturating_mul(2));
        }
        while threshold - below > 1 {
            let middle = below + (threshold - below) / 2;
            if n_at_most(middle) < n_least { below = middle } else { threshold = middle }
        }
        // From a free slot on, closing a gap moves only words that are still to come.
        for slot in self.slots_from_a_free_one() {
            while (1..=threshold).contains(&self.entry(slot).count) {
                self.remove(slot);
                self.tally.n_forgotten = self.tally.n_forgotten.saturating_add(1);
            }
        }
        self.tally.df_error_max = self.tally.df_error_max.saturating_add(threshold);
        self.close_ranks();
    }

    /// Empties the slot, and moves the words behind it up, so that probing still finds them.
    fn remove(&mut self, slot: usize) {
        let n_slots = self.n_slots;
        let (mut gap, mut next) = (slot, (slot + 1) % n_slots);
        while self.entry(next).count > 0 {
            let n_from_home = (next + n_slots - self.home(self.pair(next)[0])) % n_slots;
            if n_from_home >= (next + n_slots - gap) % n_slots {
                self.set_pair(gap, self.pair(next));
                gap = next;
            }
            next = (next + 1) % n_slots;
        }
        self.set_pair(gap, [0, 0]);
        self.tally.n_words -= 1;
    }

    /// Moves the spellings of words that are left to the front, in their order.
    fn close_ranks(&mut self) {
        for slot in 0..self.n_slots {
            let start = self.entry(slot).spelling as usize;
            if start > 0 {
                self.letters.bytes_mut(start..start + 4).copy_from_slice(&(slot as u32).to_le_bytes());
            }
        }
        let (mut from, mut to) = (0, 0);
        while from < self.tally.n_letters {
            let letters = self.letters.bytes();
            let n = N_BEFORE + usize::from(letters[from]);
            let slot = &letters[from + 1..from + N_BEFORE];
            let slot = u32::from_le_bytes([slot[0], slot[1], slot[2], slot[3]]) as usize;
            // The spelling of a forgotten word names a slot that is free, or whose word is spelled elsewhere.
            let ([hash, _], Entry { count, spelling }) = (self.pair(slot), self.entry(slot));
            if spelling as usize == from + 1 {
                self.letters.bytes_mut(to..from + n).copy_within(from - to.., 0);
                self.set(slot, hash, Entry { count, spelling: to as u32 + 1 });
                to += n;
            }
            from += n;
        }
        self.tally.n_letters = to;
    }

    /// All slots, from one behind a free one on.
    fn slots_from_a_free_one(&self) -> impl Iterator<Item = usize> + use<> {
        let n_slots = self.n_slots;
        let free = (0..n_slots).find(|&slot| self.entry(slot).count == 0).expect("a slot of four is free");
        (1..=n_slots).map(move |step| (free + step) % n_slots)
    }

    /// One slot of four stays free: probing ends there, most often in the line where it begins.
    fn n_words_max(&self) -> usize {
        self.n_slots / 4 * 3
    }

    /// Where the word is, or the free slot where it would be.
    #[inline]
    fn slot(&self, hash: u64) -> usize {
        let mut line = self.home(hash) / SLOTS;
        loop {
            // All slots of a line at once: in which of them a word is, is as good as a coin.
            let pairs = self.slots.lines()[line].as_chunks::<2>().0.iter().enumerate();
            let is_here = |[held, entry]: [u64; 2]| (held == hash) | (entry >> 32 == 0);
            let here = pairs.fold(0, |here, (slot, pair)| here | u32::from(is_here(*pair)) << slot);
            if here != 0 {
                return line * SLOTS + here.trailing_zeros() as usize;
            }
            line = if (line + 1) * SLOTS < self.n_slots { line + 1 } else { 0 };
        }
    }

    /// The first slot where the word may be, by the upper bits of its hash: a line is looked at from its beginning.
    #[inline]
    fn home(&self, hash: u64) -> usize {
        (((hash >> 32) * (self.n_slots / SLOTS) as u64) >> 32) as usize * SLOTS
    }

    fn entry(&self, slot: usize) -> Entry {
        let packed = self.pair(slot)[1];
        Entry { count: (packed >> 32) as u32, spelling: packed as u32 }
    }

    fn set(&mut self, slot: usize, hash: u64, Entry { count, spelling }: Entry) {
        self.set_pair(slot, [hash, u64::from(count) << 32 | u64::from(spelling)]);
    }

    fn pair(&self, slot: usize) -> [u64; 2] {
        self.slots.lines()[slot / SLOTS].as_chunks().0[slot % SLOTS]
    }

    fn set_pair(&mut self, slot: usize, pair: [u64; 2]) {
        self.slots.line_mut(slot / SLOTS).as_chunks_mut().0[slot % SLOTS] = pair;
    }
}

#[cfg(test)]
mod tests {
    use super::super::snapshot::tests::{copied, written};
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// Saved, and read into one of `n_bytes`.
    fn loaded(vocabulary: &mut Vocabulary, n_bytes: usize) -> Result<Vocabulary, Damaged> {
        let mut again = Vocabulary::new(n_bytes);
        let tally = vocabulary.tally();
        for (from, to) in vocabulary.tables().into_iter().zip(again.tables()) {
            copied(from, to)?;
        }
        again.resume(tally)?;
        Ok(again)
    }

    /// 40 slots, 35 words.
    const N_BYTES: usize = 1070;

    #[test]
    fn words_are_counted_and_spelled() {
        let mut vocabulary = Vocabulary::new(N_BYTES);
        vocabulary.document();
        for (hash, word) in [(0, "zero"), (1, "één"), (0, "other")] {
            vocabulary.spell(hash, word);
            vocabulary.add(hash);
            vocabulary.spell(hash, word);
        }
        vocabulary.add(2);
        vocabulary.spell(2, &"w".repeat(65));
        assert_eq!([0, 1, 2, 3].map(|hash| vocabulary.count(hash)), [2, 1, 1, 0]);
        assert_eq!(vocabulary.spelled().collect::<Vec<_>>(), [("zero", 2), ("één", 1)]);
        assert_eq!((vocabulary.n_documents(), vocabulary.n_words(), vocabulary.n_unspelled()), (1, 3, 1));
    }

    #[test]
    fn spellings_go_with_their_words() {
        let mut vocabulary = Vocabulary::new(N_BYTES);
        let often: Vec<u64> = (0..8).map(|i| i * 5).collect();
        for hash in 0..36 {
            let n = if often.contains(&hash) { 9 } else { 1 + hash % 2 };
            (0..n).for_each(|_| vocabulary.add(hash));
            vocabulary.spell(hash, &format!("w{hash}"));
        }
        assert_eq!((vocabulary.df_error_max(), vocabulary.n_words()), (1, 36 - vocabulary.n_forgotten() as usize));
        let spelled: Vec<(&str, u32)> = vocabulary.spelled().collect();
        let expected: Vec<(String, u32)> = (0..36)
            .filter_map(|hash| Some((format!("w{hash}"), vocabulary.count(hash))).filter(|&(_, count)| count > 0))
            .collect();
        assert_eq!(spelled, expected.iter().map(|(word, count)| (word.as_str(), *count)).collect::<Vec<_>>());
        assert!(often.iter().all(|&hash| vocabulary.count(hash) == 9));
    }

    /// Where the letters end, spellings are turned away and counts go on.
    #[test]
    fn letters_are_bounded() {
        let mut vocabulary = Vocabulary::new(N_BYTES);
        for hash in 0..20 {
            vocabulary.add(hash);
            vocabulary.spell(hash, &"w".repeat(60));
        }
        assert_eq!((vocabulary.spelled().count(), vocabulary.n_unspelled(), vocabulary.n_words()), (6, 14, 20));
    }

    proptest! {
        /// Against a plain map, with the vocabulary saved and loaded on the way.
        #[test]
        fn counts_stay_within_the_error(words in prop::collection::vec((0_u64..400, 0_u64..400), 1..1500), save_at: u8) {
            let mut vocabulary = Vocabulary::new(N_BYTES);
            let mut exact = BTreeMap::<u64, u32>::new();
            for (index, (a, b)) in words.iter().enumerate() {
                // The product of two is often small: few words are frequent.
                let hash = a * b / 400;
                vocabulary.add(hash);
                vocabulary.spell(hash, &hash.to_string());
                *exact.entry(hash).or_default() += 1;
                if index % 256 == usize::from(save_at) {
                    let loaded = loaded(&mut vocabulary, N_BYTES).unwrap();
                    prop_assert!(loaded == vocabulary);
                    let spelled: Vec<(&str, u32)> = vocabulary.spelled().collect();
                    prop_assert_eq!(loaded.spelled().collect::<Vec<_>>(), spelled);
                    vocabulary = loaded;
                }
            }
            for (&hash, &truth) in &exact {
                let (count, error_max) = (vocabulary.count(hash), vocabulary.df_error_max());
                prop_assert!(count <= truth && truth <= count + error_max, "{} of {}: {}", count, truth, error_max);
            }
            let n_words = exact.keys().filter(|&&hash| vocabulary.count(hash) > 0).count();
            prop_assert_eq!(vocabulary.n_words(), n_words);
            prop_assert!(n_words <= 35, "{} words", n_words);
            for (word, count) in vocabulary.spelled() {
                prop_assert!(count > 0 && vocabulary.count(word.parse().unwrap()) == count, "{} {}", word, count);
            }
            prop_assert_eq!(vocabulary.n_forgotten() == 0, vocabulary.df_error_max() == 0);
        }

        #[test]
        fn damage_never_panics(at in 0_usize..10_000, to: u8, cut in 0_usize..2_000) {
            let mut vocabulary = Vocabulary::new(N_BYTES);
            for hash in (0..60).chain(10..30) {
                vocabulary.add(hash);
                vocabulary.spell(hash, &hash.to_string());
            }
            prop_assert!(loaded(&mut vocabulary, N_BYTES / 4).is_err());
            let mut damaged = Vocabulary::new(N_BYTES);
            let tally = vocabulary.tally();
            let mut is_read = true;
            for (from, to_table) in vocabulary.tables().into_iter().zip(damaged.tables()) {
                for (block, mut bytes) in written(from) {
                    let n = bytes.len();
                    bytes[n - 1 - at % (n - 516)] = to;
                    bytes.truncate(n.min(516 + cut));
                    is_read &= to_table.load(block, &bytes).is_ok();
                }
            }
            if is_read && damaged.resume(tally).is_ok() {
                (0..200).for_each(|hash| damaged.add(hash));
                prop_assert!(damaged.spelled().all(|(_, count)| count > 0));
            }
        }
    }
}
