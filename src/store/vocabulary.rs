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

use super::bytes::{Damaged, Reader};
use super::prefetch::prefetch;
use crate::signature::keyed::mix;

/// Longer words are of no use to a lexicon, and could fill the letters.
const LETTERS_MAX: usize = 64;
/// Before its letters a spelling has their number (one byte) and the slot of its word (four).
const N_BEFORE: usize = 5;

/// Document frequencies of words, in fixed memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Vocabulary {
    /// Hash, and [`Entry`] in 64 bits. Arrays of zeros are allocated lazily, arrays of structs are written at once.
    slots: Vec<[u64; 2]>,
    letters: Vec<u8>,
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
    pub(super) fn new(n_bytes: usize) -> Self {
        let n_slots = (n_bytes / 5 * 3 / 16).clamp(16, u32::MAX as usize);
        let n_letters_max = (n_bytes / 5 * 2).min(u32::MAX as usize - 1);
        Self {
            slots: vec![[0, 0]; n_slots],
            letters: vec![0; n_letters_max],
            n_letters: 0,
            n_words: 0,
            n_documents: 0,
            n_forgotten: 0,
            n_unspelled: 0,
            df_error_max: 0,
        }
    }

    /// Counts a document. Its distinct words are added one by one.
    pub(super) fn document(&mut self) {
        self.n_documents = self.n_documents.saturating_add(1);
    }

    /// Asks for the slot of the word.
    #[inline]
    pub(super) fn prefetch(&self, hash: u64) {
        prefetch(&self.slots[self.home(hash)]);
    }

    /// Counts one more document with the word.
    pub(super) fn add(&mut self, hash: u64) {
        let mut slot = self.slot(hash);
        // One slot of eight stays free: probing ends there, and stays short.
        if self.entry(slot).count == 0 && self.n_words >= self.slots.len() / 8 * 7 {
            self.forget_rarest();
            slot = self.slot(hash);
        }
        let Entry { count, spelling } = self.entry(slot);
        self.n_words += usize::from(count == 0);
        self.set(slot, hash, Entry { count: count.saturating_add(1), spelling });
    }

    /// Keeps how the word is spelled, if it is counted, not spelled yet, and there is room.
    pub(super) fn spell(&mut self, hash: u64, word: &str) {
        let slot = self.slot(hash);
        let Entry { count, spelling } = self.entry(slot);
        if count == 0 || spelling != 0 {
            return;
        }
        let (start, n) = (self.n_letters, word.len());
        if n > LETTERS_MAX || self.letters.len() - start < N_BEFORE + n {
            self.n_unspelled = self.n_unspelled.saturating_add(1);
            return;
        }
        self.letters[start] = n as u8;
        self.letters[start + 1..start + N_BEFORE].copy_from_slice(&(slot as u32).to_le_bytes());
        self.letters[start + N_BEFORE..start + N_BEFORE + n].copy_from_slice(word.as_bytes());
        self.n_letters += N_BEFORE + n;
        self.set(slot, hash, Entry { count, spelling: start as u32 + 1 });
    }

    /// In how many documents the word stood, or up to [`Self::df_error_max`] less.
    #[cfg(test)]
    pub(super) fn count(&self, hash: u64) -> u32 {
        self.entry(self.slot(hash)).count
    }

    /// The words that are spelled, with their counts, in the order of their first spelling.
    pub(super) fn spelled(&self) -> impl Iterator<Item = (&str, u32)> {
        let mut rest = &self.letters[..self.n_letters];
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
        self.n_documents
    }

    /// Words counted at present.
    pub(super) fn n_words(&self) -> usize {
        self.n_words
    }

    /// Words forgotten, those that came back and were forgotten again included.
    pub(super) fn n_forgotten(&self) -> u64 {
        self.n_forgotten
    }

    /// Spellings that were too long or found no room.
    pub(super) fn n_unspelled(&self) -> u64 {
        self.n_unspelled
    }

    /// By how much a count can be too low: a word may have been forgotten so often before it came back.
    pub(super) fn df_error_max(&self) -> u32 {
        self.df_error_max
    }

    /// Appends the state to `into`.
    pub(super) fn save(&self, into: &mut Vec<u8>) {
        let numbers = [self.slots.len(), self.letters.len(), self.n_words, self.n_letters].map(|n| n as u64);
        let counters = [self.n_documents, self.n_forgotten, self.n_unspelled, u64::from(self.df_error_max)];
        for n in numbers.into_iter().chain(counters) {
            into.extend_from_slice(&n.to_le_bytes());
        }
        // Added in this order, from a free slot on, all words fall into the slots that they have.
        for slot in self.slots_from_a_free_one() {
            let Entry { count, .. } = self.entry(slot);
            if count > 0 {
                into.extend_from_slice(&self.slots[slot][0].to_le_bytes());
                into.extend_from_slice(&count.to_le_bytes());
            }
        }
        into.extend_from_slice(&self.letters[..self.n_letters]);
    }

    /// The state that [`Self::save`] appended, of the size that the plan says.
    pub(super) fn load(bytes: &[u8], n_bytes: usize) -> Result<Self, Damaged> {
        let mut reader = Reader::new("vocabulary", bytes);
        let mut loaded = Self::new(n_bytes);
        let sizes = (reader.u64()?, reader.u64()?);
        if sizes != (loaded.slots.len() as u64, loaded.letters.len() as u64) {
            return Err(reader.damaged("it has another size"));
        }
        let (n_words, n_letters) = (reader.u64()?, reader.u64()?);
        if n_words > (loaded.slots.len() / 8 * 7) as u64 || n_letters > sizes.1 {
            return Err(reader.damaged("it has more words than room"));
        }
        (loaded.n_documents, loaded.n_forgotten, loaded.n_unspelled) = (reader.u64()?, reader.u64()?, reader.u64()?);
        loaded.df_error_max = u32::try_from(reader.u64()?).map_err(|_| reader.damaged("the error is too large"))?;
        for _ in 0..n_words {
            let (hash, count) = (reader.u64()?, reader.u32()?);
            let slot = loaded.slot(hash);
            if count == 0 || loaded.entry(slot).count > 0 {
                return Err(reader.damaged("a word is there twice or never"));
            }
            loaded.set(slot, hash, Entry { count, spelling: 0 });
        }
        let letters = reader.slice(n_letters as usize)?;
        loaded.letters[..letters.len()].copy_from_slice(letters);
        (loaded.n_words, loaded.n_letters) = (n_words as usize, letters.len());
        let mut spellings = Reader::new("vocabulary", letters);
        let mut start = 0;
        while !spellings.is_empty() {
            let (n, slot) = (usize::from(spellings.u8()?), spellings.u32()? as usize);
            let word = spellings.slice(n)?;
            let spelled =
                slot >= loaded.slots.len() || loaded.entry(slot).count == 0 || loaded.entry(slot).spelling > 0;
            if spelled || std::str::from_utf8(word).is_err() {
                return Err(reader.damaged("a spelling is of no word"));
            }
            let ([hash, _], Entry { count, .. }) = (loaded.slots[slot], loaded.entry(slot));
            loaded.set(slot, hash, Entry { count, spelling: start as u32 + 1 });
            start += N_BEFORE + n;
        }
        reader.end()?;
        Ok(loaded)
    }

    /// Forgets all words up to the count that a quarter of them, or more, do not exceed.
    fn forget_rarest(&mut self) {
        let n_at_most = |threshold: u32| {
            let is_rare = |slot: &usize| (1..=threshold).contains(&self.entry(*slot).count);
            (0..self.slots.len()).filter(is_rare).count()
        };
        let n_least = self.n_words.div_ceil(4);
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
                self.n_forgotten = self.n_forgotten.saturating_add(1);
            }
        }
        self.df_error_max = self.df_error_max.saturating_add(threshold);
        self.close_ranks();
    }

    /// Empties the slot, and moves the words behind it up, so that probing still finds them.
    fn remove(&mut self, slot: usize) {
        let n_slots = self.slots.len();
        let (mut gap, mut next) = (slot, (slot + 1) % n_slots);
        while self.entry(next).count > 0 {
            let n_from_home = (next + n_slots - self.home(self.slots[next][0])) % n_slots;
            if n_from_home >= (next + n_slots - gap) % n_slots {
                self.slots[gap] = self.slots[next];
                gap = next;
            }
            next = (next + 1) % n_slots;
        }
        self.slots[gap] = [0, 0];
        self.n_words -= 1;
    }

    /// Moves the spellings of words that are left to the front, in their order.
    fn close_ranks(&mut self) {
        for slot in 0..self.slots.len() {
            let start = self.entry(slot).spelling as usize;
            if start > 0 {
                self.letters[start..start + 4].copy_from_slice(&(slot as u32).to_le_bytes());
            }
        }
        let (mut from, mut to) = (0, 0);
        while from < self.n_letters {
            let n = N_BEFORE + usize::from(self.letters[from]);
            let slot = &self.letters[from + 1..from + N_BEFORE];
            let slot = u32::from_le_bytes([slot[0], slot[1], slot[2], slot[3]]) as usize;
            // The spelling of a forgotten word names a slot that is free, or whose word is spelled elsewhere.
            let ([hash, _], Entry { count, spelling }) = (self.slots[slot], self.entry(slot));
            if spelling as usize == from + 1 {
                self.letters.copy_within(from..from + n, to);
                self.set(slot, hash, Entry { count, spelling: to as u32 + 1 });
                to += n;
            }
            from += n;
        }
        self.n_letters = to;
    }

    /// All slots, from one behind a free one on.
    fn slots_from_a_free_one(&self) -> impl Iterator<Item = usize> + use<> {
        let n_slots = self.slots.len();
        let free = (0..n_slots).find(|&slot| self.entry(slot).count == 0).expect("a slot of eight is free");
        (1..=n_slots).map(move |step| (free + step) % n_slots)
    }

    /// Where the word is, or the free slot where it would be.
    fn slot(&self, hash: u64) -> usize {
        let mut slot = self.home(hash);
        while self.entry(slot).count > 0 && self.slots[slot][0] != hash {
            slot = if slot + 1 < self.slots.len() { slot + 1 } else { 0 };
        }
        slot
    }

    fn home(&self, hash: u64) -> usize {
        (((mix(hash, 0x70CA) >> 32) * self.slots.len() as u64) >> 32) as usize
    }

    fn entry(&self, slot: usize) -> Entry {
        let packed = self.slots[slot][1];
        Entry { count: (packed >> 32) as u32, spelling: packed as u32 }
    }

    fn set(&mut self, slot: usize, hash: u64, Entry { count, spelling }: Entry) {
        self.slots[slot] = [hash, u64::from(count) << 32 | u64::from(spelling)];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn saved(vocabulary: &Vocabulary) -> Vec<u8> {
        let mut bytes = Vec::new();
        vocabulary.save(&mut bytes);
        bytes
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
                    let loaded = Vocabulary::load(&saved(&vocabulary), N_BYTES).unwrap();
                    prop_assert!(saved(&loaded) == saved(&vocabulary));
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
            let mut bytes = saved(&vocabulary);
            let n = bytes.len();
            prop_assert!(Vocabulary::load(&bytes[..n - 1], N_BYTES).is_err());
            prop_assert!(Vocabulary::load(&bytes, 2 * N_BYTES).is_err());
            bytes[at % n] = to;
            bytes.truncate(n.min(cut));
            if let Ok(mut loaded) = Vocabulary::load(&bytes, N_BYTES) {
                (0..200).for_each(|hash| loaded.add(hash));
                prop_assert!(loaded.spelled().all(|(_, count)| count > 0));
            }
        }
    }
}
