//! How many distinct values were seen, in a few dozen bytes: exactly while they are few, estimated after that.
//!
//! A campaign's sender domains and a cluster's hosts are mostly a handful, and there the number must be right; of the
//! large ones only the size matters. While at most `N / 3` values are known they are listed, 24 bits each, which is all that
//! registers need of a value; then the same bytes become a HyperLogLog of `2 N` registers of 4 bits. The estimate is Ertl's
//! corrected one (arXiv 1702.01284, section 2): it needs no switch to linear counting for small numbers and none for full
//! registers, and it has no logarithm, which machines round differently.
//!
//! # Invariants
//! - Up to `N / 3` values are counted exactly: ten in 32 bytes, 42 in 128. (`few_values_are_counted_exactly`)
//! - There are never more values than were added. (`there_are_no_more_values_than_were_added`)
//! - The standard error is that of HyperLogLog, 0.13 for 64 registers and 0.065 for 256. (`the_error_is_as_stated`)
//! - The order and repetition of values don't count, nor does it matter in how many parts they were counted before
//!   they were merged. (`parts_merge_to_the_whole`)
//! - What was saved is read back, damage is refused. (`saved_spreads_come_back`)

use crate::signature::keyed::mix;
use serde::{Deserialize, Serialize};

/// Marks that the values are no longer listed.
const ESTIMATED: u8 = u8::MAX;
/// The highest value of a register.
const RANK_MAX: u32 = 15;
/// Bytes of a listed value, and its bits: at most ten choose the register of 1,024, and fourteen give its rank.
const VALUE_BYTES: usize = 3;
const VALUE_BITS: u32 = 8 * VALUE_BYTES as u32;

/// Number of distinct values, in `N + 1` bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Vec<u8>", try_from = "Vec<u8>")]
pub(super) struct Spread<const N: usize> {
    /// Values in `bytes`, ascending and distinct, or `ESTIMATED`.
    n_listed: u8,
    bytes: [u8; N],
}

impl<const N: usize> Spread<N> {
    /// Values that are counted exactly.
    pub(super) const EXACT_MAX: usize = {
        assert!(N.is_power_of_two() && N >= 16 && N <= 512, "N is a power of two from 16 to 512");
        N / VALUE_BYTES
    };

    /// None seen so far.
    pub(super) fn new() -> Self {
        Self { n_listed: 0, bytes: [0; N] }
    }

    /// Counts the value with this hash, unless it was counted before.
    pub(super) fn add(&mut self, hash: u64) {
        self.add_value(value(hash));
    }

    /// How many distinct values there were among `n_added`; saturates.
    pub(super) fn count(&self, n_added: u32) -> u32 {
        let count = match self.is_exact() {
            true => u32::from(self.n_listed),
            // More were listed than have room: whatever the registers say, it were more than that.
            false => (self.estimate().round() as u32).max(Self::EXACT_MAX as u32 + 1),
        };
        count.min(n_added)
    }

    /// Whether [`Self::count`] is the exact number.
    pub(super) fn is_exact(&self) -> bool {
        self.n_listed != ESTIMATED
    }

    /// Adds all values of `other`.
    pub(super) fn merge(&mut self, other: &Self) {
        if other.is_exact() {
            other.listed().for_each(|value| self.add_value(value));
            return;
        }
        self.estimate_from_now_on();
        for (byte, &more) in self.bytes.iter_mut().zip(&other.bytes) {
            *byte = (*byte & 15).max(more & 15) | (*byte >> 4).max(more >> 4) << 4;
        }
    }

    fn listed(&self) -> impl Iterator<Item = u32> {
        let n = if self.is_exact() { usize::from(self.n_listed) } else { 0 };
        (0..n).map(|index| self.at(index))
    }

    fn at(&self, index: usize) -> u32 {
        let bytes = &self.bytes[index * VALUE_BYTES..][..VALUE_BYTES];
        u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0])
    }

    /// Where the value is listed, or where it would be.
    fn place(&self, value: u32) -> Result<usize, usize> {
        let index = self.listed().take_while(|&listed| listed < value).count();
        if self.listed().nth(index) == Some(value) { Ok(index) } else { Err(index) }
    }

    fn add_value(&mut self, value: u32) {
        if !self.is_exact() {
            return self.raise(value);
        }
        let Err(index) = self.place(value) else { return };
        if usize::from(self.n_listed) == Self::EXACT_MAX {
            self.estimate_from_now_on();
            return self.raise(value);
        }
        let (start, end) = (index * VALUE_BYTES, usize::from(self.n_listed) * VALUE_BYTES);
        self.bytes.copy_within(start..end, start + VALUE_BYTES);
        self.bytes[start..start + VALUE_BYTES].copy_from_slice(&value.to_le_bytes()[..VALUE_BYTES]);
        self.n_listed += 1;
    }

    fn estimate_from_now_on(&mut self) {
        if self.is_exact() {
            let listed = *self;
            *self = Self { n_listed: ESTIMATED, bytes: [0; N] };
            listed.listed().for_each(|value| self.raise(value));
        }
    }

    /// Raises the register that the value's first bits choose to the number of zeros after them, and one.
    fn raise(&mut self, value: u32) {
        let n_index_bits = (2 * N).trailing_zeros();
        let register = (value >> (VALUE_BITS - n_index_bits)) as usize;
        let rank = ((value << (32 - VALUE_BITS + n_index_bits)).leading_zeros() + 1).min(RANK_MAX) as u8;
        let (byte, shift) = (&mut self.bytes[register / 2], register % 2 * 4);
        if *byte >> shift & 15 < rank {
            *byte = *byte & !(15 << shift) | rank << shift;
        }
    }

    fn estimate(&self) -> f64 {
        let mut n_of_rank = [0_u32; RANK_MAX as usize + 1];
        for &byte in &self.bytes {
            n_of_rank[usize::from(byte & 15)] += 1;
            n_of_rank[usize::from(byte >> 4)] += 1;
        }
        let n_registers = (2 * N) as f64;
        let share = |rank: usize| f64::from(n_of_rank[rank]) / n_registers;
        let mut z = n_registers * of_full(1.0 - share(RANK_MAX as usize));
        for rank in (1..RANK_MAX as usize).rev() {
            z = 0.5 * (z + f64::from(n_of_rank[rank]));
        }
        z += n_registers * of_empty(share(0));
        // 1 / (2 ln 2)
        0.721_347_520_444_481_7 * n_registers * n_registers / z
    }
}

impl<const N: usize> Default for Spread<N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const N: usize> From<Spread<N>> for Vec<u8> {
    fn from(spread: Spread<N>) -> Self {
        let n_bytes = if spread.is_exact() { usize::from(spread.n_listed) * VALUE_BYTES } else { N };
        [&[spread.n_listed], &spread.bytes[..n_bytes]].concat()
    }
}

impl<const N: usize> TryFrom<Vec<u8>> for Spread<N> {
    type Error = &'static str;

    fn try_from(saved: Vec<u8>) -> Result<Self, Self::Error> {
        let (&n_listed, saved) = saved.split_first().ok_or("a spread is empty")?;
        let mut spread = Self { n_listed, bytes: [0; N] };
        let n_bytes = if spread.is_exact() { usize::from(n_listed) * VALUE_BYTES } else { N };
        if saved.len() != n_bytes || n_bytes > N {
            return Err("a spread has another size");
        }
        spread.bytes[..n_bytes].copy_from_slice(saved);
        if !spread.listed().is_sorted_by(|a, b| a < b) {
            return Err("the values of a spread are out of order");
        }
        Ok(spread)
    }
}

/// What is kept of a hash. Mixed, because hashes of several families come here, some of them with few good bits.
fn value(hash: u64) -> u32 {
    (mix(mix(hash, 0x5EA3), 0x5EA3) >> (64 - VALUE_BITS)) as u32
}

/// Ertl's sigma: the correction for the share of registers that are empty.
fn of_empty(share: f64) -> f64 {
    if share == 1.0 {
        return f64::INFINITY;
    }
    let (mut x, mut y, mut z) = (share, 1.0, share);
    loop {
        let before = z;
        x *= x;
        z += x * y;
        y += y;
        if z == before {
            return z;
        }
    }
}

/// Ertl's tau: the correction for registers at their limit, of which `1 - share` are.
fn of_full(share: f64) -> f64 {
    if share == 0.0 || share == 1.0 {
        return 0.0;
    }
    let (mut x, mut y, mut z) = (share, 1.0, 1.0 - share);
    loop {
        let before = z;
        x = x.sqrt();
        y *= 0.5;
        z -= (1.0 - x) * (1.0 - x) * y;
        if z == before {
            return z / 3.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn spread<const N: usize>(hashes: impl IntoIterator<Item = u64>) -> Spread<N> {
        let mut spread = Spread::new();
        hashes.into_iter().for_each(|hash| spread.add(hash));
        spread
    }

    #[test]
    fn few_values_are_counted_exactly() {
        let mut seen = Spread::<32>::new();
        for n in 1..=10 {
            for _ in 0..3 {
                seen.add(n);
            }
            assert_eq!((seen.count(u32::MAX), seen.is_exact()), (n as u32, true));
        }
        seen.add(11);
        assert!(!seen.is_exact());
        assert!((11..14).contains(&seen.count(u32::MAX)), "{}", seen.count(u32::MAX));
        assert_eq!((size_of::<Spread<32>>(), Spread::<128>::EXACT_MAX), (33, 42));
    }

    #[test]
    fn there_are_no_more_values_than_were_added() {
        for trial in 0..200 {
            for n in [5, 11, 12, 20, 60] {
                let counted = spread::<32>((0..n).map(|i| mix(i, trial + 1))).count(n as u32);
                assert!(counted <= n as u32, "{counted} values of {n}");
            }
        }
    }

    /// Root of the mean square of the relative errors, and their mean, over `n_trials` sets of `n` values.
    fn errors<const N: usize>(n: u64, n_trials: u64) -> (f64, f64) {
        let (mut squares, mut sum) = (0.0, 0.0);
        for trial in 0..n_trials {
            let estimate = spread::<N>((0..n).map(|i| mix(i, trial + 1))).count(u32::MAX);
            let error = f64::from(estimate) / n as f64 - 1.0;
            squares += error * error;
            sum += error;
        }
        ((squares / n_trials as f64).sqrt(), sum / n_trials as f64)
    }

    /// Theory: 1.04 / sqrt(registers) for large numbers, less for small ones.
    #[test]
    fn the_error_is_as_stated() {
        for (n, n_trials) in [(10, 400), (100, 400), (1000, 200), (100_000, 40)] {
            let (small, bias_small) = errors::<32>(n, n_trials);
            let (large, bias_large) = errors::<128>(n, n_trials);
            println!("{n}: {small:.4} (bias {bias_small:.4}) in 32 bytes, {large:.4} ({bias_large:.4}) in 128");
            assert!(small < 0.16 && large < 0.08, "{n}: standard error {small} in 32 bytes, {large} in 128");
            assert!(bias_small.abs() < 0.05 && bias_large.abs() < 0.025, "{n}: bias {bias_small}, {bias_large}");
            if n == 10 {
                assert_eq!((small, large), (0.0, 0.0), "ten values are listed");
            }
        }
    }

    #[test]
    fn full_registers_end_in_a_large_number() {
        let full = Spread::<32> { n_listed: ESTIMATED, bytes: [0xFF; 32] };
        assert!(full.count(u32::MAX) > 1_000_000);
        let empty = Spread::<32> { n_listed: ESTIMATED, bytes: [0; 32] };
        assert_eq!(empty.count(u32::MAX), 11);
    }

    proptest! {
        #[test]
        fn parts_merge_to_the_whole(
            hashes in prop::collection::vec(0_u64..60, 0..80), cut in 0_usize..80, shift in 0_usize..80,
        ) {
            let (left, right) = hashes.split_at(cut.min(hashes.len()));
            let mut merged = spread::<32>(left.iter().copied());
            merged.merge(&spread(right.iter().copied()));
            let mut turned = hashes.clone();
            turned.rotate_left(shift.min(hashes.len()));
            let whole = spread::<32>(turned);
            prop_assert_eq!(merged, whole);
            let n_distinct = hashes.iter().collect::<std::collections::BTreeSet<_>>().len();
            prop_assert_eq!(whole.is_exact(), n_distinct <= 10);
        }

        #[test]
        fn saved_spreads_come_back(n in 0_u64..40, at in 0_usize..40, to: u8) {
            let kept = spread::<32>(0..n);
            let bytes = postcard::to_stdvec(&kept).unwrap();
            prop_assert!(bytes.len() <= 34);
            prop_assert_eq!(postcard::from_bytes::<Spread<32>>(&bytes).unwrap(), kept);
            prop_assert!(postcard::from_bytes::<Spread<32>>(&bytes[..bytes.len() - 1]).is_err());
            let mut damaged = bytes;
            let at = at % damaged.len();
            damaged[at] = to;
            if let Ok(mut spread) = postcard::from_bytes::<Spread<32>>(&damaged) {
                spread.add(1);
                prop_assert!(spread.count(u32::MAX) > 0);
            }
        }
    }
}
