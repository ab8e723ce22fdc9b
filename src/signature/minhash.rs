//! One-permutation minhash with 128 slots: an unbiased estimate of how much of two sets is common.
//!
//! Each value is mixed once with the family's key: seven bits of the result choose a bin, the bin keeps the smallest of
//! the other bits. A set of a few hundred leaves bins empty, and bins that are empty in both sets say nothing, so every
//! empty bin copies another one: it walks its own fixed path over all bins until it meets a full one (the idea of
//! optimal densification). Both documents walk the same path, so the copies agree as often as the sets do.
//!
//! # Invariants
//! - Order and repetition of values do not count. (`order_and_repetition_do_not_count`)
//! - Bias and spread are those of 128 independent minima. (`tests/promises/estimates.rs`)
//! - An empty set has no minhash, so that two of them are never alike. (`an_empty_set_has_no_minhash`)
//! - Every path visits every bin. (`paths_visit_every_bin`)

use super::{hex, keyed::mix};
use serde::{Serialize, Serializer};

/// Slots of a [`MinHash`].
pub const SLOTS: usize = 128;

/// The smallest hash in each of 128 bins of a set; empty bins filled from others, so that every slot counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MinHash(Box<[u32; SLOTS]>);

impl MinHash {
    /// The minhash of a set of hashed values under `key`; `None` for an empty set.
    pub fn of(values: impl IntoIterator<Item = u64>, key: u64) -> Option<Self> {
        let mut slots = Box::new([u32::MAX; SLOTS]);
        // A set bit is a full bin: no value of a slot has to stand for "empty".
        let mut full = 0_u128;
        for value in values {
            let hash = mix(value, key);
            let bin = (hash >> 57) as usize;
            slots[bin] = slots[bin].min(hash as u32);
            full |= 1 << bin;
        }
        if full == 0 {
            return None;
        }
        if full != u128::MAX {
            densify(&mut slots, full);
        }
        Some(Self(slots))
    }

    /// The slots.
    pub fn slots(&self) -> &[u32; SLOTS] {
        &self.0
    }

    /// The slots on which two sets agree.
    pub fn agreeing(&self, other: &Self) -> usize {
        self.0.iter().zip(other.0.iter()).filter(|(a, b)| a == b).count()
    }

    /// The estimate of the Jaccard coefficient of two sets under the same key.
    pub fn resemblance(&self, other: &Self) -> f64 {
        self.agreeing(other) as f64 / SLOTS as f64
    }

    /// The keys under which a store finds sets alike: one for each of `bands` bands of `rows` slots. Two sets of
    /// resemblance s share at least one with probability 1 - (1 - s^rows)^bands.
    ///
    /// Panics when the bands need more slots than there are: the settings were not checked.
    pub fn bands(&self, bands: usize, rows: usize) -> impl Iterator<Item = u64> + '_ {
        assert!(rows > 0 && bands * rows <= SLOTS, "{bands} bands of {rows} rows need more than {SLOTS} slots");
        self.0
            .chunks_exact(rows)
            .take(bands)
            .zip(0_u64..)
            .map(|(slots, band)| slots.iter().fold(mix(band, BAND), |hash, &slot| mix(hash ^ u64::from(slot), BAND)))
    }
}

impl Serialize for MinHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        hex::slots(self.0.iter().map(|slot| slot.to_be_bytes()), serializer)
    }
}

/// Keeps bands apart from every other use of the mixer; any odd number would do.
const BAND: u64 = 0xB5AD_4ECE_DA1C_E2A9;

/// Fills the bins that are empty. A path is an arithmetic progression with an odd step, so that it visits all bins
/// within 128 steps; start and step are fixed for each bin.
fn densify(slots: &mut [u32; SLOTS], full: u128) {
    for empty in (0..SLOTS).filter(|bin| full >> bin & 1 == 0) {
        let met = path(empty).find(|bin| full >> bin & 1 == 1);
        slots[empty] = slots[met.expect("a path visits every bin, and one is full")];
    }
}

/// The bins that an empty bin asks, in order.
fn path(bin: usize) -> impl Iterator<Item = usize> {
    // Any fixed numbers do: bins are already spread by the secret key.
    let random = mix(bin as u64, 0x8CB9_2BA7_2F3D_8DD7);
    let (start, step) = (random as usize, (random >> 32) as usize | 1);
    (0..SLOTS).map(move |i| start.wrapping_add(i.wrapping_mul(step)) % SLOTS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    /// The same by the definition, over a map from bins to their values.
    fn naive(set: &BTreeSet<u64>, key: u64) -> Option<Vec<u32>> {
        let mut bins: BTreeMap<usize, BTreeSet<u32>> = BTreeMap::new();
        for &value in set {
            let hash = mix(value, key);
            bins.entry((hash / (1 << 57)) as usize).or_default().insert((hash % (1 << 32)) as u32);
        }
        let smallest = |bin: usize| bins.get(&bin).and_then(|values| values.first().copied());
        (0..SLOTS).map(|bin| smallest(bin).or_else(|| path(bin).find_map(smallest))).collect()
    }

    proptest! {
        #[test]
        fn order_and_repetition_do_not_count(values in prop::collection::vec(any::<u64>(), 0..400), key in any::<u64>()) {
            let set: BTreeSet<u64> = values.iter().copied().collect();
            let twice = values.iter().rev().chain(&values).copied();
            let expected = naive(&set, key);
            let slots = MinHash::of(twice, key).map(|minhash| minhash.slots().to_vec());
            prop_assert_eq!(slots, expected);
        }
    }

    #[test]
    fn an_empty_set_has_no_minhash() {
        assert_eq!(MinHash::of([], 1), None);
        assert!(MinHash::of([u64::MAX], 1).is_some());
    }

    #[test]
    fn paths_visit_every_bin() {
        let mut starts = BTreeSet::new();
        for bin in 0..SLOTS {
            assert_eq!(path(bin).collect::<BTreeSet<_>>().len(), SLOTS);
            starts.insert(path(bin).take(2).collect::<Vec<_>>());
        }
        assert!(starts.len() > SLOTS - 4, "paths must differ: {} of {SLOTS} do", starts.len());
    }

    #[test]
    fn equal_sets_share_every_band_and_unlike_sets_none() {
        let sign = |from: u64| MinHash::of((from..from + 300).map(|i| mix(i, 3)), 7).unwrap();
        let (a, b, c) = (sign(0), sign(0), sign(1000));
        assert_eq!(a.bands(32, 4).collect::<Vec<_>>(), b.bands(32, 4).collect::<Vec<_>>());
        assert_eq!(a.resemblance(&b), 1.0);
        assert!(a.bands(32, 4).zip(c.bands(32, 4)).all(|(a, c)| a != c));
        assert_eq!(a.bands(32, 4).collect::<BTreeSet<_>>().len(), 32, "the band's number is part of its key");
        assert_eq!(a.bands(16, 4).count(), 16);
    }
}
