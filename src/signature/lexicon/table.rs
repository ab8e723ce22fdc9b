//! A lexicon as signing looks it up: from the keyed hash of a term to the copies that hold it.
//!
//! An entry is 16 bytes and four of them are one cache line, so that a lookup costs one miss: the entry of a term in the
//! band says which copies keep it, that of a rarer term how rare it is. Terms more common than the band are left out: they
//! count for nothing, like unknown ones.
//!
//! # Invariants
//! - Every term of the lexicon in or above the band is found, and nothing else. (`the_table_finds_what_the_lexicon_holds`)
//! - A copy drops a term by a keyed hash of the term and the copy's number: nobody without the secret can tell which.
//!   (`each_copy_drops_its_share`)

use super::{Lexicon, LexiconId};
use crate::config::Band;
use crate::signature::keyed::{Keys, mix};
use crate::signature::prefetch::prefetch;
use crate::text::words::{self, WordKey};
use std::cmp::Reverse;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The randomised copies that one table can hold: a bit each, and one bit to tell the band from the rest.
pub const COPIES_MAX: usize = 63;

/// The copies that hold a term: bit i is copy i.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copies(u64);

impl Copies {
    /// 1 if copy `index` holds the term, else 0.
    #[inline]
    pub fn bit(self, index: usize) -> u64 {
        self.0 >> index & 1
    }
}

/// Where a term stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the band, in these copies.
    Band(Copies),
    /// Rarer than the band. A higher number is rarer.
    Above(Rarity),
}

/// How rare a term above the band is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rarity(pub u64);

/// A lexicon made ready to sign with.
pub struct Table {
    id: LexiconId,
    draw: Draw,
    buckets: Vec<Bucket>,
}

#[derive(Clone, Copy, Default)]
#[repr(align(64))]
struct Bucket([Entry; 4]);

/// `value` is 0 for an empty place, the copies with the highest bit set for a term in the band, and the rarity (1 and
/// more) for a term above it.
#[derive(Clone, Copy, Default)]
struct Entry {
    hash: u64,
    value: u64,
}

const IN_BAND: u64 = 1 << 63;

/// The value of an entry, or 0 for a term that is not held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value(u64);

impl Value {
    /// Whether the term is in the band; then it has [`Value::copies`].
    #[inline]
    pub fn is_in_band(self) -> bool {
        self.0 & IN_BAND != 0
    }

    /// Whether it is rarer; then it has a [`Value::rarity`].
    #[inline]
    pub fn is_above(self) -> bool {
        (self.0 != 0) & (self.0 & IN_BAND == 0)
    }

    /// The copies that hold a term in the band.
    #[inline]
    pub fn copies(self) -> Copies {
        Copies(self.0 & !IN_BAND)
    }

    /// How rare a term above the band is.
    #[inline]
    pub fn rarity(self) -> Rarity {
        Rarity(self.0)
    }
}

/// Of four places five in eight are taken: one bucket in ten runs over into the next.
const ENTRIES_PER_BUCKET: f64 = 2.5;

impl Table {
    /// The table of `lexicon` with `copies` randomised copies, each without a share of `drop_share` of the terms.
    pub fn new(lexicon: &Lexicon, band: Band, copies: usize, drop_share: f64, keys: &Keys) -> Self {
        let word_key = WordKey::new(keys.word);
        let draw = Draw::new(copies, drop_share, keys.imatch);
        Self::with_draw(lexicon, band, draw, |term| words::form_hash(term, word_key))
    }

    pub(in crate::signature) fn with_draw(
        lexicon: &Lexicon,
        band: Band,
        draw: Draw,
        hash: impl Fn(&str) -> u64,
    ) -> Self {
        let n_documents = lexicon.about().n_documents;
        let mut kept: Vec<(u32, Entry)> = lexicon
            .terms()
            .filter_map(|(term, df)| {
                let nidf = lexicon.nidf(df);
                (nidf >= band.min).then(|| {
                    let hash = hash(term);
                    let above = nidf > band.max;
                    let value = if above { n_documents - u64::from(df) + 1 } else { IN_BAND | draw.copies(hash).0 };
                    (df, Entry { hash, value })
                })
            })
            .collect();
        // The commonest terms come first: they are in the bucket where they are looked for.
        kept.sort_unstable_by_key(|(df, entry)| (Reverse(*df), entry.hash));
        let n_buckets = (kept.len() as f64 / ENTRIES_PER_BUCKET).ceil() as usize + 1;
        let mut table = Self { id: lexicon.id(), draw, buckets: vec![Bucket::default(); n_buckets] };
        for (_, entry) in kept {
            table.insert(entry);
        }
        table
    }

    /// The lexicon it was made from.
    pub fn id(&self) -> LexiconId {
        self.id
    }

    /// How many randomised copies there are.
    pub fn n_copies(&self) -> usize {
        self.draw.keys.len()
    }

    /// Where the term with this hash stands, if the lexicon holds it and it is not too common.
    pub fn place(&self, hash: u64) -> Option<Place> {
        let value = self.value(hash);
        match (value.is_in_band(), value.is_above()) {
            (true, _) => Some(Place::Band(value.copies())),
            (_, true) => Some(Place::Above(value.rarity())),
            _ => None,
        }
    }

    /// The same in a form that can be asked without a branch. Where in its bucket a term is, if at all, is a coin: all four
    /// places are looked at.
    #[inline]
    pub fn value(&self, hash: u64) -> Value {
        let mut index = self.bucket_of(hash);
        loop {
            let bucket = &self.buckets[index].0;
            let held = |entry: &Entry| entry.value & u64::from(entry.hash == hash).wrapping_neg();
            let found = bucket.iter().fold(0, |value, entry| value | held(entry));
            // Only a full bucket has run over into the next.
            if (found != 0) | (bucket[3].value == 0) {
                return Value(found);
            }
            // At most five places in eight are taken, so there is an empty one further on.
            index = (index + 1) % self.buckets.len();
        }
    }

    /// Asks for the bucket of the term with this hash.
    #[inline]
    pub fn prefetch(&self, hash: u64) {
        prefetch(&self.buckets[self.bucket_of(hash)]);
    }

    /// The copies that hold the term with this hash, if they are asked for a term above the band.
    pub fn copies(&self, hash: u64) -> Copies {
        self.draw.copies(hash)
    }

    fn bucket_of(&self, hash: u64) -> usize {
        let spread = hash.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        ((u128::from(spread) * self.buckets.len() as u128) >> 64) as usize
    }

    fn insert(&mut self, entry: Entry) {
        let mut index = self.bucket_of(entry.hash);
        loop {
            for place in &mut self.buckets[index].0 {
                if place.value == 0 {
                    *place = entry;
                    return;
                }
                if place.hash == entry.hash {
                    // Two spellings of one hash: the first stays, on every machine.
                    return;
                }
            }
            index = (index + 1) % self.buckets.len();
        }
    }
}

/// Which copies drop which terms.
pub(in crate::signature) struct Draw {
    /// One key for each copy. They are hashes themselves: under keys that follow one another, the copies would drop terms
    /// by a pattern, and all together too often (`each_copy_drops_its_share`).
    keys: Vec<u64>,
    /// A copy drops a term when its hash is below: the share, of 2^64.
    dropped_below: u64,
}

impl Draw {
    pub(in crate::signature) fn new(copies: usize, drop_share: f64, key: u64) -> Self {
        assert!(copies <= COPIES_MAX, "{copies} copies, at most {COPIES_MAX} fit");
        let keys = (1..=copies as u64).map(|copy| xxh3_64_with_seed(&copy.to_le_bytes(), key)).collect();
        // `as` saturates: a share of 1 drops (nearly) everything, which the settings refuse anyway.
        Self { keys, dropped_below: (drop_share * 2f64.powi(64)) as u64 }
    }

    fn copies(&self, hash: u64) -> Copies {
        let mut copies = 0;
        for (index, &key) in self.keys.iter().enumerate() {
            let draw = mix(mix(hash, key), key);
            copies |= u64::from(draw >= self.dropped_below) << index;
        }
        Copies(copies)
    }
}

#[cfg(test)]
mod tests {
    use super::super::About;
    use super::*;
    use std::collections::BTreeMap;
    use xxhash_rust::xxh3::xxh3_64;

    /// Words `word0`, `word1`, … of which the n-th stands in about 1 of n of 10,000 documents.
    fn lexicon() -> Lexicon {
        let about = About { n_documents: 10_000, df_min: 2, ..About::default() };
        let terms: BTreeMap<String, u32> = (1..3000).map(|n| (format!("word{n}"), (10_000 / n).max(2))).collect();
        Lexicon::new(about, terms.iter().map(|(term, df)| (term.as_str(), *df))).unwrap()
    }

    #[test]
    fn the_table_finds_what_the_lexicon_holds() {
        let lexicon = lexicon();
        let hash = |term: &str| xxh3_64(term.as_bytes());
        let table = Table::with_draw(&lexicon, Band { min: 0.2, max: 0.8 }, Draw::new(10, 0.5, 99), hash);
        let mut n_of_each = [0; 3];
        let mut rarest = None;
        for (term, df) in lexicon.terms() {
            let (place, nidf) = (table.place(hash(term)), lexicon.nidf(df));
            match place {
                None => {
                    assert!(nidf < 0.2, "{term} {nidf}");
                    n_of_each[0] += 1;
                }
                Some(Place::Band(_)) => {
                    assert!((0.2..=0.8).contains(&nidf), "{term} {nidf}");
                    n_of_each[1] += 1;
                }
                Some(Place::Above(rarity)) => {
                    assert!(nidf > 0.8, "{term} {nidf}");
                    n_of_each[2] += 1;
                    rarest = rarest.max(Some((rarity, 10_000 - df)));
                }
            }
        }
        assert_eq!(rarest.map(|(_, without)| without), Some(9_997), "the rarest has the smallest frequency, 3");
        assert!(n_of_each.iter().all(|n| *n > 5), "{n_of_each:?}");
        for other in 0..100_000u64 {
            assert_eq!(table.place(xxh3_64(&other.to_le_bytes())), None, "no word");
        }
    }

    #[test]
    fn each_copy_drops_its_share() {
        let (copies, drop_share) = (63, 1.0 / 3.0);
        let draw = Draw::new(copies, drop_share, 7);
        let n = 100_000;
        let mut kept = vec![0; copies];
        let mut dropped_by_none_of_ten = 0;
        for term in 0..n {
            let drawn = draw.copies(xxh3_64(&u64::to_le_bytes(term)));
            (0..copies).filter(|index| drawn.bit(*index) == 1).for_each(|index| kept[index] += 1);
            dropped_by_none_of_ten += u32::from((0..10).all(|index| drawn.bit(index) == 1));
        }
        for (index, kept) in kept.iter().enumerate() {
            let share = 1.0 - f64::from(*kept) / n as f64;
            // Six standard errors.
            assert!((share - drop_share).abs() < 6.0 * 0.0015, "copy {index} drops {share}");
        }
        let share = f64::from(dropped_by_none_of_ten) / n as f64;
        let independent = (1.0 - drop_share).powi(10);
        assert!((share - independent).abs() < 6.0 * 0.0004, "copies are independent: {share}, {independent}");
    }

    #[test]
    fn an_empty_lexicon_has_a_table() {
        let lexicon = Lexicon::new(About { n_documents: 2, df_min: 1, ..About::default() }, []).unwrap();
        let table = Table::with_draw(&lexicon, Band { min: 0.2, max: 0.8 }, Draw::new(10, 0.5, 1), |_| 0);
        assert_eq!(table.place(0), None);
    }
}
