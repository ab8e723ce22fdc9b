//! Hidden style similarity: 128 bins over the 32-grams of HTML noise (Urvoy 2006).
//!
//! The noise is a page's source without its letters and digits. Its overlapping 32-grams fall into 128 bins, each bin
//! keeps its smallest hash, and two pages are as alike in style as they have bins in common. Two sketches are made: of
//! all noise, as in the paper, and of the noise inside tags, which scripts and text do not disturb.
//!
//! A gram is hashed by a rolling buzhash whose table is keyed, then multiplied and folded, so that order within a bin
//! and choice of bin are independent; the paper's permutation per bin would add nothing to that.
//! A bin is stored in 8 bits, 0 for an empty one, so that two unlike grams agree once in 255.
//!
//! # Invariants
//! - The rolling hash is the hash of each window by the definition. (`rolling_is_windowed`)
//! - Empty bins never match. (`empty_bins_never_match`)
//! - A page of few distinct grams has an exact digest instead, one of less than 32 bytes nothing.
//!   (`little_noise_has_a_digest_and_less_has_nothing`)

use super::{agreement::n_agreeing, hex, jaccard, keyed::mix};
use serde::{Serialize, Serializer};
use xxhash_rust::xxh3::xxh3_128_with_seed;

/// Bytes of a gram (Urvoy 2006, 4.2).
pub const GRAM: usize = 32;
/// Bins of a sketch (Urvoy 2006, 4.2).
pub const BINS: usize = 128;
/// Grams of which so many are the smallest of their bin that it is not worth a branch.
const EARLY_GRAMS: usize = 1024;
/// Values of a filled bin; the chance that two unlike ones agree is one over it.
const VALUES: u64 = 255;

/// The style of a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Style {
    /// Of all noise.
    pub noise: Option<Sketch>,
    /// Of the noise inside tags.
    pub tag_noise: Option<Sketch>,
}

/// The style of one kind of noise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Sketch {
    /// Distinct grams: counted for a [`Form::Digest`], else estimated with a standard error of 9 %.
    pub n_parts: u32,
    /// What is compared.
    #[serde(flatten)]
    pub form: Form,
}

/// What is compared of a style.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// The bins of a page with enough distinct grams.
    Bins(Bins),
    /// The noise itself, of a page with few.
    #[serde(serialize_with = "hex::digest")]
    Digest(u128),
}

/// The 8-bit bins of a sketch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bins(Box<[u8; BINS]>);

impl Bins {
    /// Those of a sketch that was made elsewhere, by the same rules and key.
    pub fn from_values(values: Box<[u8; BINS]>) -> Self {
        Self(values)
    }

    /// The values of the bins, 0 where a bin is empty.
    pub fn values(&self) -> &[u8; BINS] {
        &self.0
    }

    /// The bins that are filled and equal. Of 128 bins without a common gram, half a bin agrees by chance.
    pub fn matching(&self, other: &Self) -> usize {
        n_agreeing(self.0.as_slice(), other.0.as_slice(), |bin| bin != 0) as usize
    }

    /// The bins that are filled here and in `other`, and those filled in at least one.
    fn filled(&self, other: &Self) -> (usize, usize) {
        self.0.iter().zip(other.0.iter()).fold((0, 0), |(both, any), (&a, &b)| {
            (both + usize::from(a != 0 && b != 0), any + usize::from(a != 0 || b != 0))
        })
    }
}

impl Serialize for Bins {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        hex::slots(self.0.iter().map(|&value| [value]), serializer)
    }
}

impl Sketch {
    /// The bins that agree, of 128; `None` where one of the two is too small to have bins.
    pub fn bins_matching(&self, other: &Self) -> Option<usize> {
        match (&self.form, &other.form) {
            (Form::Bins(a), Form::Bins(b)) => Some(a.matching(b)),
            _ => None,
        }
    }

    /// The paper's similarity: the share of all 128 bins that agree, so that small pages score low on purpose. Two small
    /// ones score 1 if they are the same and 0 if not.
    pub fn similarity(&self, other: &Self) -> f64 {
        match (&self.form, &other.form) {
            (Form::Bins(a), Form::Bins(b)) => a.matching(b) as f64 / BINS as f64,
            (Form::Digest(a), Form::Digest(b)) => f64::from(u8::from(a == b)),
            _ => 0.0,
        }
    }

    /// The estimate of the Jaccard coefficient of the two sets of grams: the share of the filled bins that agree, less
    /// those that agree by chance.
    pub fn resemblance(&self, other: &Self) -> f64 {
        let (Form::Bins(a), Form::Bins(b)) = (&self.form, &other.form) else {
            return self.similarity(other);
        };
        let (both, any) = a.filled(b);
        if any == 0 {
            return 0.0;
        }
        // Of the `both` bins, those that do not share a gram still agree once in 255.
        let matching = (a.matching(b) as f64 * VALUES as f64 - both as f64) / (VALUES - 1) as f64;
        matching.max(0.0) / any as f64
    }
}

/// Sketches noise under one key; keeps its buffers.
pub struct Sketcher {
    /// What a byte adds when it enters the window, and what it takes away when it leaves.
    entering: [u64; 256],
    leaving: [u64; 256],
    key: u64,
    parts_min: usize,
    table: Vec<u64>,
}

impl Sketcher {
    /// A sketcher. Noise with fewer than `parts_min` distinct grams gets a digest instead of bins.
    pub fn new(key: u64, parts_min: usize) -> Self {
        let entering = std::array::from_fn(|byte| mix(mix(byte as u64, key), key.rotate_left(32)));
        let leaving = entering.map(|random| random.rotate_left(GRAM as u32));
        Self { entering, leaving, key, parts_min, table: Vec::new() }
    }

    /// The sketch of `noise`; `None` where it has no gram.
    pub fn sketch(&mut self, noise: &[u8]) -> Option<Sketch> {
        if noise.len() < GRAM {
            return None;
        }
        let minima = self.minima(noise);
        let n_filled = minima.iter().filter(|&&minimum| minimum != u64::MAX).count();
        // Every filled bin holds a gram of its own, so that most pages need no exact count.
        if n_filled < self.parts_min {
            let n_parts = self.distinct_below(noise, self.parts_min);
            if n_parts < self.parts_min {
                let form = Form::Digest(xxh3_128_with_seed(noise, self.key));
                return Some(Sketch { n_parts: n_parts as u32, form });
            }
        }
        let n_parts = estimated_parts(&minima, n_filled);
        let value = |minimum| match minimum {
            u64::MAX => 0,
            // A minimum is small in its upper bits: mixed again, all 255 values are alike.
            minimum => (1 + mix(minimum, self.key) % VALUES) as u8,
        };
        Some(Sketch { n_parts, form: Form::Bins(Bins(Box::new(minima.map(value)))) })
    }

    /// The smallest hash of each bin.
    fn minima(&self, noise: &[u8]) -> [u64; BINS] {
        let mut minima = [u64::MAX; BINS];
        // Of the first grams many are the smallest so far, which ones is a coin, and there is no branch. Later next to none
        // is, and not writing it back saves the next one that looks into the same bin from waiting (0.6 of the time).
        let n_early = noise.len().min(EARLY_GRAMS + GRAM - 1);
        self.each(&noise[..n_early], |hash| {
            let minimum = &mut minima[(hash % BINS as u64) as usize];
            *minimum = hash.min(*minimum);
        });
        self.each(&noise[n_early + 1 - GRAM..], |hash| {
            let minimum = &mut minima[(hash % BINS as u64) as usize];
            if hash < *minimum {
                std::hint::cold_path();
                *minimum = hash;
            }
        });
        minima
    }

    /// The distinct grams, hashed, ascending: what a sketch stands for.
    pub fn grams(&self, noise: &[u8]) -> Vec<u64> {
        let mut hashes = Vec::with_capacity(noise.len().saturating_sub(GRAM - 1));
        self.each(noise, |hash| hashes.push(hash));
        hashes.sort_unstable();
        hashes.dedup();
        hashes
    }

    /// The Jaccard coefficient of the grams of two noises, exactly.
    pub fn exact(&self, a: &[u8], b: &[u8]) -> f64 {
        jaccard(&self.grams(a), &self.grams(b))
    }

    /// How many distinct grams there are, counted up to `enough`.
    fn distinct_below(&mut self, noise: &[u8], enough: usize) -> usize {
        let enough = enough.min(noise.len());
        let mut table = std::mem::take(&mut self.table);
        table.clear();
        // A quarter full at most, so that the next free place is near. 0 is a free place.
        table.resize((4 * enough).next_power_of_two(), 0);
        let mut n_distinct = 0;
        self.each(noise, |hash| {
            let hash = hash.max(1);
            let mut place = hash as usize % table.len();
            while n_distinct < enough && table[place] != hash {
                if table[place] == 0 {
                    table[place] = hash;
                    n_distinct += 1;
                    return;
                }
                place = (place + 1) % table.len();
            }
        });
        self.table = table;
        n_distinct
    }

    /// Calls `with` for the hash of every window, in an order of its own: two halves are rolled side by side, for each
    /// step of one waits for the step before it (0.8 of the time of one after the other).
    #[inline]
    fn each(&self, noise: &[u8], mut with: impl FnMut(u64)) {
        let mut noise = noise;
        let n_grams = (noise.len() + 1).saturating_sub(GRAM);
        if n_grams % 2 == 1 {
            with(mix(self.first(noise), self.key));
            noise = &noise[1..];
        }
        if n_grams < 2 {
            return;
        }
        let (front, back) = (&noise[..n_grams / 2 + GRAM - 1], &noise[n_grams / 2..]);
        let (mut a, mut b) = (self.first(front), self.first(back));
        with(mix(a, self.key));
        with(mix(b, self.key));
        let (front, back) = (front.iter().zip(&front[GRAM..]), back.iter().zip(&back[GRAM..]));
        for ((&old_a, &new_a), (&old_b, &new_b)) in front.zip(back) {
            a = self.rolled(a, old_a, new_a);
            b = self.rolled(b, old_b, new_b);
            with(mix(a, self.key));
            with(mix(b, self.key));
        }
    }

    /// The state of the first window of `noise`.
    fn first(&self, noise: &[u8]) -> u64 {
        noise[..GRAM].iter().fold(0, |state, &byte| state.rotate_left(1) ^ self.entering[usize::from(byte)])
    }

    /// The state of the next window.
    #[inline]
    fn rolled(&self, state: u64, old: u8, new: u8) -> u64 {
        state.rotate_left(1) ^ (self.leaving[usize::from(old)] ^ self.entering[usize::from(new)])
    }
}

/// The distinct grams behind the minima of 128 bins. The smallest of n/128 uniform values is nearly exponential of that
/// rate, and an empty bin is one that was watched to the end without seeing any: the rate is what was seen over what
/// was watched.
fn estimated_parts(minima: &[u64; BINS], n_filled: usize) -> u32 {
    let watched: u128 = minima.iter().map(|&minimum| u128::from(minimum)).sum();
    let seen = ((BINS * n_filled) as u128) << 64;
    u32::try_from(seen / watched.max(1)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Noise as pages have it: a few characters, often repeated.
    fn noise() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            Just(b"<></>".to_vec()),
            Just(b"<=\"/-.\">\n  ".to_vec()),
            Just(vec![b' '; 40]),
            prop::collection::vec(any::<u8>(), 0..40),
        ];
        prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
    }

    /// The hash of one window, by the definition.
    fn windowed(sketcher: &Sketcher, window: &[u8]) -> u64 {
        let turned = |(i, &byte): (usize, &u8)| sketcher.entering[usize::from(byte)].rotate_left((GRAM - 1 - i) as u32);
        mix(window.iter().enumerate().map(turned).fold(0, |a, b| a ^ b), sketcher.key)
    }

    /// Urvoy's procedure 1 over the set of windows.
    fn naive(sketcher: &Sketcher, noise: &[u8]) -> Vec<u8> {
        let windows: BTreeSet<&[u8]> = noise.windows(GRAM).collect();
        let hashes: Vec<u64> = windows.into_iter().map(|window| windowed(sketcher, window)).collect();
        let bin = |bin: u64| hashes.iter().filter(|&&hash| hash % 128 == bin).min();
        (0..128).map(|i| bin(i).map_or(0, |&hash| (1 + mix(hash, sketcher.key) % 255) as u8)).collect()
    }

    proptest! {
        #[test]
        fn rolling_is_windowed(noise in noise(), key in any::<u64>()) {
            let mut sketcher = Sketcher::new(key, 0);
            let mut hashes = Vec::new();
            sketcher.each(&noise, |hash| hashes.push(hash));
            hashes.sort_unstable();
            let mut expected: Vec<u64> = noise.windows(GRAM).map(|window| windowed(&sketcher, window)).collect();
            expected.sort_unstable();
            prop_assert_eq!(hashes, expected);
            match sketcher.sketch(&noise) {
                Some(Sketch { form: Form::Bins(bins), .. }) => {
                    prop_assert_eq!(bins.values().to_vec(), naive(&sketcher, &noise));
                }
                other => prop_assert!(other.is_none() && noise.len() < GRAM, "{:?}", other),
            }
        }

        #[test]
        fn parts_are_counted_or_estimated(noise in noise()) {
            let truth = noise.windows(GRAM).collect::<BTreeSet<_>>().len();
            match Sketcher::new(5, 100).sketch(&noise) {
                Some(Sketch { n_parts, form: Form::Digest(_) }) => prop_assert_eq!(n_parts as usize, truth),
                Some(Sketch { n_parts, form: Form::Bins(_) }) => {
                    prop_assert!(truth >= 100);
                    let ratio = f64::from(n_parts) / truth as f64;
                    prop_assert!((0.6..1.6).contains(&ratio), "{n_parts} for {truth}");
                }
                None => prop_assert_eq!(truth, 0),
            }
        }
    }

    #[test]
    fn little_noise_has_a_digest_and_less_has_nothing() {
        let noise: Vec<u8> = (0..400_u64).map(|i| b"<>/=\"' \n.-_"[(mix(i, 1) % 11) as usize]).collect();
        let mut sketcher = Sketcher::new(1, 100);
        assert_eq!(sketcher.sketch(&noise[..31]), None);
        assert!(matches!(sketcher.sketch(&noise[..32]).unwrap(), Sketch { n_parts: 1, form: Form::Digest(_) }));
        assert!(matches!(sketcher.sketch(&noise[..130]).unwrap(), Sketch { n_parts: 99, form: Form::Digest(_) }));
        assert!(matches!(sketcher.sketch(&noise[..131]).unwrap().form, Form::Bins(_)));
        let run = sketcher.sketch(&[b' '; 100_000]).unwrap();
        assert!(matches!(run, Sketch { n_parts: 1, form: Form::Digest(_) }), "length is not variety");

        let (a, b) = (sketcher.sketch(&noise[..100]).unwrap(), sketcher.sketch(&noise[1..101]).unwrap());
        assert_eq!((a.similarity(&a), a.similarity(&b), a.similarity(&run)), (1.0, 0.0, 0.0));
        assert_eq!((a.resemblance(&a), a.bins_matching(&a)), (1.0, None));
    }

    #[test]
    fn empty_bins_never_match() {
        let noise: Vec<u8> = (0..60_u64).map(|i| mix(i, 1) as u8).collect();
        let sketch = Sketcher::new(1, 0).sketch(&noise).unwrap();
        let Form::Bins(bins) = &sketch.form else { panic!("{sketch:?}") };
        let n_filled = bins.values().iter().filter(|&&value| value != 0).count();
        assert!((10..=29).contains(&n_filled), "{n_filled} bins for 29 grams");
        assert_eq!(sketch.bins_matching(&sketch), Some(n_filled));
        assert_eq!(sketch.similarity(&sketch), n_filled as f64 / 128.0);
        assert_eq!(sketch.resemblance(&sketch), 1.0);
    }

    #[test]
    fn unlike_noises_agree_by_chance_once_in_255() {
        let sketch = |key| {
            let noise: Vec<u8> = (0..3000_u64).map(|i| mix(i, key) as u8).collect();
            Sketcher::new(1, 0).sketch(&noise).unwrap()
        };
        let sketches: Vec<Sketch> = (100..140).map(sketch).collect();
        let pairs = || (0..40).flat_map(|i| (0..i).map(move |j| (i, j)));
        let matching: usize = pairs().map(|(i, j)| sketches[i].bins_matching(&sketches[j]).unwrap()).sum();
        // 780 pairs of 128 bins: 391 expected, standard error 20.
        assert!((300..480).contains(&matching), "{matching}");
    }
}
