//! In how many documents a long sentence stood, about: never seen, once, a few times, too often.
//!
//! Most sentences are seen once. A Bloom filter, the [doorkeeper], remembers the first sighting; only from the
//! second on does a sentence take a counter, of one byte beside 24 bits of its hash. Two generations are kept: when the current
//! one has met as many distinct sentences as it was planned for, the older is dropped, so that the filters never fill
//! up and what is no longer said is forgotten. This only counts: no filter ever keeps a first posting out.
//!
//! When the bucket of a new counter is full, its lowest counter is lowered, or gives way once it stands at two: what is
//! frequent stays, what is rare may be read as too rare.
//!
//! # Invariants
//! - A full generation takes 0.25 % of new sentences for seen (14 bits and 8 probes each). With two full ones, less than
//!   0.5 % of unique sentences are read as more than one, and next to none of ten and fewer as more than
//!   ten. (`errors_at_both_ends`)
//! - What was added since the generation before the current began is counted, whatever happens in
//!   between. (`the_last_two_generations_count`)
//! - The same sentences in the same order under the same key give the same state, saved and loaded in between or
//!   not. (`saved_counts_go_on_alike`)
//! - Damaged bytes are refused or read, never a panic. (`damage_never_panics`)

use super::bytes::{Damaged, Reader};
use super::doorkeeper::{self, Doorkeeper};
use super::lines::Line;
use super::prefetch::prefetch;
use super::watch::Table;
use crate::signature::keyed::mix;

/// Counters of a bucket: one cache line.
const BUCKET: usize = 16;
/// Bytes for each sentence that a generation is planned for: those of the doorkeeper, and a counter of 4 for every
/// fourth sentence.
const BYTES_PER_KEY: f64 = doorkeeper::BYTES_PER_KEY + 1.0;

/// Makes of a key what may be written down, to be told by it; any odd number would do.
const KEY_CHECK: u64 = 0x5851_F42D_4C95_7F2D;

/// Approximate document frequencies of long sentences.
#[derive(Clone)]
pub(super) struct SentenceCounts {
    key: u64,
    n_planned: u64,
    current: Generation,
    older: Generation,
    n_generations: u64,
    n_displaced: u64,
}

impl SentenceCounts {
    /// Counts in about `n_bytes` for each of `keys`, side by side; a few hundred bytes are the least. Keys make collisions
    /// incalculable.
    pub(super) fn several(n_bytes: usize, keys: &[u64]) -> Vec<Self> {
        // Fewer would leave a generation without a single bucket.
        let n_planned = ((n_bytes / 2) as f64 / BYTES_PER_KEY).max(2.0 * BUCKET as f64) as u64;
        let mut generations = Generation::several(n_planned, 2 * keys.len()).into_iter();
        let mut one = || generations.next().expect("there are two for each");
        let of = |&key: &u64| Self { key, n_planned, current: one(), older: one(), n_generations: 1, n_displaced: 0 };
        keys.iter().map(of).collect()
    }

    /// How often the sentence was added, in this generation and the one before; 0 when never, 255 from there on.
    pub(super) fn count(&self, hash: u64) -> u8 {
        let mixed = mix(hash, self.key);
        self.current.count(mixed).saturating_add(self.older.count(mixed))
    }

    /// Asks for what [`Self::add`] looks at.
    #[inline]
    pub(super) fn prefetch(&self, hash: u64) {
        // Most sentences are new, and the doorkeeper says so: whoever has a counter is known to it.
        self.current.doorkeeper.prefetch(mix(hash, self.key));
    }

    /// Asks for what [`Self::count`] looks at beside that.
    #[inline]
    pub(super) fn prefetch_counter(&self, hash: u64) {
        let mixed = mix(hash, self.key);
        for generation in [&self.current, &self.older] {
            if generation.n_keys > 0 {
                generation.doorkeeper.prefetch(mixed);
                prefetch(&generation.counters[generation.place(mixed).0]);
            }
        }
    }

    /// Counts one more document with the sentence.
    pub(super) fn add(&mut self, hash: u64) {
        let mixed = mix(hash, self.key);
        if self.current.add(mixed, &mut self.n_displaced) && self.current.n_keys == self.n_planned {
            std::mem::swap(&mut self.current, &mut self.older);
            self.current.clear();
            self.n_generations = self.n_generations.saturating_add(1);
        }
    }

    /// Distinct sentences that a generation is planned for.
    #[cfg(test)]
    pub(super) fn n_planned(&self) -> u64 {
        self.n_planned
    }

    /// Generations begun so far.
    #[cfg(test)]
    pub(super) fn n_generations(&self) -> u64 {
        self.n_generations
    }

    /// Counters that gave way to others.
    pub(super) fn n_displaced(&self) -> u64 {
        self.n_displaced
    }

    /// Appends the state to `into`.
    pub(super) fn save(&self, into: &mut Vec<u8>) {
        for n in [self.n_planned, mix(self.key, KEY_CHECK), self.n_generations, self.n_displaced] {
            into.extend_from_slice(&n.to_le_bytes());
        }
        self.current.save(into);
        self.older.save(into);
    }

    /// Reads the state that [`Self::save`] appended, of the same size and key. What was damaged is of no use afterwards.
    pub(super) fn load(&mut self, bytes: &[u8]) -> Result<(), Damaged> {
        let mut reader = Reader::new("sentence counts", bytes);
        if reader.u64()? != self.n_planned {
            return Err(reader.damaged("they have another size"));
        }
        if reader.u64()? != mix(self.key, KEY_CHECK) {
            return Err(reader.damaged("they have another key"));
        }
        (self.n_generations, self.n_displaced) = (reader.u64()?, reader.u64()?);
        self.current.load(&mut reader)?;
        self.older.load(&mut reader)?;
        if self.n_generations == 0 || self.current.n_keys >= self.n_planned {
            return Err(reader.damaged("a generation is overdue"));
        }
        reader.end()
    }

    /// What every sentence is asked of.
    pub(super) fn filters(&mut self) -> [&mut dyn Table; 2] {
        [self.current.doorkeeper.table(), self.older.doorkeeper.table()]
    }
}

/// The counts of one generation.
#[derive(Clone)]
struct Generation {
    doorkeeper: Doorkeeper,
    /// Buckets of counters: 24 bits of the sentence's hash and its count from 2 on; 0 is a free place.
    counters: Vec<u32>,
    n_keys: u64,
}

impl Generation {
    fn several(n_planned: u64, n: usize) -> Vec<Self> {
        let n_planned = n_planned as usize;
        let n_counters = (n_planned / 4).div_ceil(BUCKET) * BUCKET;
        let one = |doorkeeper| Self { doorkeeper, counters: vec![0; n_counters], n_keys: 0 };
        Doorkeeper::several(n_planned, n).into_iter().map(one).collect()
    }

    fn count(&self, mixed: u64) -> u8 {
        // Until the first generation is over, half of all questions end here.
        if self.n_keys == 0 || !self.doorkeeper.knows(mixed) {
            return 0;
        }
        let (start, print) = self.place(mixed);
        let counter = self.counters[start..start + BUCKET].iter().find(|&&counter| holds(counter, print));
        counter.map_or(1, |&counter| counter as u8)
    }

    /// Counts one more; whether it is the first.
    fn add(&mut self, mixed: u64, n_displaced: &mut u64) -> bool {
        if !self.doorkeeper.let_in(mixed) {
            self.n_keys += 1;
            return true;
        }
        let (start, print) = self.place(mixed);
        let bucket = &mut self.counters[start..start + BUCKET];
        if let Some(counter) = bucket.iter_mut().find(|counter| holds(**counter, print)) {
            // The count is the lowest byte: it must not run over into the hash.
            *counter += u32::from(*counter & 255 < 255);
            return false;
        }
        let lowest = bucket.iter_mut().min_by_key(|counter| **counter & 255).expect("a bucket has counters");
        match *lowest & 255 {
            0 => *lowest = print << 8 | 2,
            2 => (*lowest, *n_displaced) = (print << 8 | 2, n_displaced.saturating_add(1)),
            _ => *lowest -= 1,
        }
        false
    }

    /// Where the bucket of a sentence starts, and what stands for it there.
    fn place(&self, mixed: u64) -> (usize, u32) {
        let n_buckets = (self.counters.len() / BUCKET) as u64;
        let bucket = ((mixed >> 32) * n_buckets) >> 32;
        (bucket as usize * BUCKET, mixed as u32 & 0xFF_FFFF)
    }

    fn clear(&mut self) {
        self.doorkeeper.clear();
        self.counters.fill(0);
        self.n_keys = 0;
    }

    fn save(&self, into: &mut Vec<u8>) {
        into.extend_from_slice(&self.n_keys.to_le_bytes());
        self.doorkeeper.lines().flatten().for_each(|word| into.extend_from_slice(&word.to_le_bytes()));
        self.counters.iter().for_each(|counter| into.extend_from_slice(&counter.to_le_bytes()));
    }

    /// Reads over an empty generation of the same plan.
    fn load(&mut self, reader: &mut Reader<'_>) -> Result<(), Damaged> {
        self.n_keys = reader.u64()?;
        for number in 0..self.doorkeeper.n_lines() {
            let mut line = Line::default();
            for word in &mut line {
                *word = reader.u64()?;
            }
            self.doorkeeper.remember(number, line);
        }
        for counter in &mut self.counters {
            *counter = reader.u32()?;
            if *counter != 0 && *counter & 255 < 2 {
                return Err(reader.damaged("a counter stands below two"));
            }
        }
        Ok(())
    }
}

fn holds(counter: u32, print: u32) -> bool {
    counter >> 8 == print && counter != 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn made(n_bytes: usize, key: u64) -> SentenceCounts {
        SentenceCounts::several(n_bytes, &[key]).swap_remove(0)
    }

    fn loaded(bytes: &[u8], n_bytes: usize, key: u64) -> Result<SentenceCounts, Damaged> {
        let mut counts = made(n_bytes, key);
        counts.load(bytes).map(|()| counts)
    }

    fn saved(counts: &SentenceCounts) -> Vec<u8> {
        let mut bytes = Vec::new();
        counts.save(&mut bytes);
        bytes
    }

    /// Sentences in a mixed order: of 100, 80 stand in one document, 17 in 2 to 10, the others in up to 300.
    fn stream(n_keys: u64) -> Vec<u64> {
        let mut sentences: Vec<u64> = (0..n_keys)
            .flat_map(|key| {
                let n = match key % 100 {
                    0..80 => 1,
                    80..97 => 2 + mix(key, 3) % 9,
                    _ => 11 + mix(key, 4) % 290,
                };
                std::iter::repeat_n(mix(key, 5), n as usize)
            })
            .collect();
        for index in (1..sentences.len()).rev() {
            sentences.swap(index, (mix(mix(index as u64, 6), 7) % (index as u64 + 1)) as usize);
        }
        sentences
    }

    /// A generation filled to its end after another one that was, read against exact counts: the worst moment.
    #[test]
    fn errors_at_both_ends() {
        let mut counts = made(550_000, 77);
        assert_eq!(counts.n_planned(), 100_000);
        let mut other = 0..;
        while counts.n_generations() == 1 {
            counts.add(mix(mix(other.next().unwrap(), 8), 8));
        }
        let mut exact = BTreeMap::<u64, u32>::new();
        for sentence in stream(99_900) {
            counts.add(sentence);
            *exact.entry(sentence).or_default() += 1;
        }
        assert_eq!(counts.n_generations(), 2);
        let share = |of: &dyn Fn(u32) -> bool, read: &dyn Fn(u32, u32) -> bool| {
            let all = exact.iter().filter(|&(_, &n)| of(n));
            let n_read = all.clone().filter(|&(&hash, &n)| read(u32::from(counts.count(hash)), n)).count();
            n_read as f64 / all.count() as f64
        };
        let unique_as_more = share(&|n| n == 1, &|read, _| read > 1);
        let few_as_many = share(&|n| n <= 10, &|read, _| read > 10);
        let few_as_less = share(&|n| (2..=10).contains(&n), &|read, n| read < n);
        let many_as_few = share(&|n| n > 10, &|read, _| read <= 10);
        let n_new_seen = (0..100_000).filter(|&key| counts.count(mix(mix(key, 9), 9)) > 0).count();
        println!(
            "unique read as more {unique_as_more:.5}, at most ten as more {few_as_many:.5}, \
             2 to 10 as less {few_as_less:.5}, over ten as ten or less {many_as_few:.5}, \
             new as seen {:.5}, displaced {}",
            n_new_seen as f64 / 1e5,
            counts.n_displaced()
        );
        assert!(exact.keys().all(|&hash| counts.count(hash) > 0), "what was added is never read as new");
        assert!(unique_as_more < 0.005, "{unique_as_more} of the unique are read as more");
        assert!(few_as_many < 0.0001, "{few_as_many} of ten and fewer are read as more than ten");
        assert!(few_as_less < 0.05, "{few_as_less} of 2 to 10 are read as less");
        assert!(many_as_few < 0.01, "{many_as_few} of more than ten are read as ten or less");
        assert!((100..1000).contains(&n_new_seen), "{n_new_seen} of 100,000 new ones are read as seen");
    }

    #[test]
    fn the_last_two_generations_count() {
        let mut counts = made(5_000, 1);
        let n_planned = counts.n_planned();
        for round in 1..=300_u32 {
            counts.add(42);
            assert_eq!(u32::from(counts.count(42)), round.min(255));
        }
        let mut new = 1000..;
        while counts.n_generations() == 1 {
            counts.add(new.next().unwrap());
        }
        let n_met = 1 + new.start - 1000;
        assert!((n_planned..n_planned + 100).contains(&n_met), "{n_met} of {n_planned}");
        counts.add(43);
        assert_eq!((counts.count(42), counts.count(43)), (255, 1), "the generation before still counts");
        counts.add(43);
        while counts.n_generations() == 2 {
            counts.add(new.next().unwrap());
        }
        counts.add(43);
        assert_eq!((counts.count(42), counts.count(43)), (0, 3), "the oldest is gone");
    }

    /// Repeated sentences far beyond the counters' places: they lose, and the frequent one stays.
    #[test]
    fn a_full_bucket_keeps_the_frequent() {
        let mut counts = made(5_000, 1);
        (0..50).for_each(|_| counts.add(7));
        for key in 100..900 {
            counts.add(key);
            counts.add(key);
        }
        assert_eq!((counts.n_generations(), counts.count(7)), (1, 50));
        assert!(counts.n_displaced() > 100, "{}", counts.n_displaced());
    }

    #[test]
    fn saved_counts_go_on_alike() {
        let mut counts = made(20_000, 9);
        let mut other = counts.clone();
        for (index, sentence) in stream(9_000).into_iter().enumerate() {
            counts.add(sentence);
            other.add(sentence);
            if index % 20_011 == 0 {
                other = loaded(&saved(&other), 20_000, 9).unwrap();
            }
        }
        assert!(counts.n_generations() > 2 && saved(&counts) == saved(&other));
        let bytes = saved(&counts);
        assert!(bytes.len() < 20_000 + 200, "{}", bytes.len());
        let refused = |n_bytes, key| loaded(&bytes, n_bytes, key).err().map(|damaged| damaged.reason);
        assert_eq!(refused(20_000, 8), Some("they have another key"));
        assert_eq!(refused(30_000, 9), Some("they have another size"));
    }

    #[test]
    fn damage_never_panics() {
        let mut counts = made(300, 9);
        stream(100).into_iter().for_each(|sentence| counts.add(sentence));
        let bytes = saved(&counts);
        assert!((0..bytes.len()).all(|n| loaded(&bytes[..n], 300, 9).is_err()));
        for at in 0..bytes.len() {
            for to in [0, 1, 0x7F, 0xFF] {
                let mut damaged = bytes.clone();
                damaged[at] = to;
                if let Ok(mut counts) = loaded(&damaged, 300, 9) {
                    counts.add(1);
                    assert!(counts.count(1) > 0);
                }
            }
        }
    }
}
