//! One secret, many independent keys; and the one mixer behind all hashes.
//!
//! Spammers read source code: every hash that decides a signature is keyed, so that collisions and lexicon choice
//! can't be computed outside. Each family has its own key, derived by BLAKE3 from the secret and the family's name.
//!
//! # Invariants
//! - Keys depend on the secret and the family's name alone. (`golden_keys`)
//! - Two families never share a key. (`keys_differ`)
//! - The mixer spreads every bit over all others. (`the_mixer_spreads_every_bit`, `the_mixer_fills_bins_evenly`)

/// The derived keys. Pages and mails have the same ones: the kind enters where keys of the store are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keys {
    /// Units of text.
    pub word: u64,
    /// 5-grams.
    pub gram: u64,
    /// Long sentences.
    pub sentence: u64,
    /// Digests of texts.
    pub digest: u64,
    /// Minhash over terms.
    pub terms: u64,
    /// Minhash over shingles.
    pub shingles: u64,
    /// I-Match coordinates; those of the copies are derived from it.
    pub imatch: u64,
    /// Style of the raw noise.
    pub noise: u64,
    /// Style of the noise inside tags.
    pub tag_noise: u64,
    /// Items of the page frame.
    pub frame: u64,
    /// Ids of documents that came without one.
    pub id: u64,
    /// Links and the domains they lead to.
    pub link: u64,
}

impl Keys {
    /// The keys of `secret`.
    pub fn derive(secret: &str) -> Self {
        let key = |family: &str| {
            let mut hasher = blake3::Hasher::new_derive_key("seamripper 1 family key");
            hasher.update(secret.as_bytes());
            hasher.update(&[0]);
            hasher.update(family.as_bytes());
            let mut bytes = [0; 8];
            hasher.finalize_xof().fill(&mut bytes);
            u64::from_le_bytes(bytes)
        };
        Self {
            word: key("word"),
            gram: key("gram"),
            sentence: key("sentence"),
            digest: key("digest"),
            terms: key("terms"),
            shingles: key("shingles"),
            imatch: key("imatch"),
            noise: key("noise"),
            tag_noise: key("tag_noise"),
            frame: key("frame"),
            id: key("id"),
            link: key("link"),
        }
    }

    /// All of them, in the order of their declaration.
    pub(super) fn all(&self) -> [u64; 12] {
        let Self { word, gram, sentence, digest, terms, shingles, imatch, noise, tag_noise, frame, id, link } = *self;
        [word, gram, sentence, digest, terms, shingles, imatch, noise, tag_noise, frame, id, link]
    }
}

/// Mixes two words into one: the full product, folded. Good to one another by any key; not a hash of long input.
#[inline]
pub fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a ^ 0x9E37_79B9_7F4A_7C15) * u128::from(b ^ 0xD1B5_4A32_D192_ED03);
    (product as u64) ^ ((product >> 64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn keys_differ() {
        let mut seen = BTreeSet::new();
        for secret in ["", "a", "b", "seamripper public default"] {
            for key in Keys::derive(secret).all() {
                assert!(seen.insert(key), "two keys are {key:016x}");
            }
        }
    }

    #[test]
    fn golden_keys() {
        let keys = Keys::derive("seamripper public default").all();
        let keys: Vec<String> = keys.iter().map(|key| format!("{key:016x}")).collect();
        assert_eq!(
            keys,
            [
                "84b26e6dab606c96",
                "bfd142cdbaa7340a",
                "e18e1772e816184c",
                "e2d83408c171f425",
                "7ebbf0323f644dd3",
                "175b4dda908721fa",
                "fe9b6c3c82bfc9d9",
                "df9bf17c2c02cb9c",
                "f52b3547c94f520e",
                "701c9458d9d9493e",
                "9af2302af96f7997",
                "a23d603325ecdb2a"
            ],
            "changed keys change every signature: raise SCHEME"
        );
    }

    /// How far from one half the chance is that a flipped bit of the input flips a bit of the output: on average, and at
    /// worst over all pairs of bits.
    fn avalanche(hash: impl Fn(u64, u64) -> u64) -> (f64, f64) {
        const TRIALS: u64 = 4096;
        let (mut sum, mut worst) = (0.0, 0.0_f64);
        for bit in 0..64 {
            let mut flips = [0_u32; 64];
            for trial in 0..TRIALS {
                let (value, key) = (mix(trial, 11), mix(trial, 12));
                let changed = hash(value, key) ^ hash(value ^ 1 << bit, key);
                flips.iter_mut().enumerate().for_each(|(i, n)| *n += (changed >> i & 1) as u32);
            }
            for n in flips {
                let off = (f64::from(n) / TRIALS as f64 - 0.5).abs();
                sum += off;
                worst = worst.max(off);
            }
        }
        (sum / 4096.0, worst)
    }

    /// One product is enough for values that are hashes already; it takes two to make a hash of a counter. 4,096
    /// coins are 0.006 off one half on average, and the worst of 4,096 such trials 0.03.
    #[test]
    fn the_mixer_spreads_every_bit() {
        let (mean, worst) = avalanche(mix);
        assert!(mean < 0.008 && worst < 0.16, "once: {mean} on average, {worst} at worst");
        let (mean, worst) = avalanche(|value, key| mix(key, value));
        assert!(mean < 0.008 && worst < 0.16, "once, the other way: {mean} on average, {worst} at worst");
        let (mean, worst) = avalanche(|value, key| mix(mix(value, key), key));
        assert!(mean < 0.008 && worst < 0.04, "twice: {mean} on average, {worst} at worst");
    }

    /// Counters, the worst ordinary input, fall evenly into the bins that the top and the bottom bits choose.
    #[test]
    fn the_mixer_fills_bins_evenly() {
        for key in [1, 2, 0x0123_4567_89AB_CDEF, u64::MAX] {
            let (mut top, mut bottom) = ([0_u32; 128], [0_u32; 128]);
            for i in 0..128_000_u64 {
                let hash = mix(mix(i, 5), key);
                top[(hash >> 57) as usize] += 1;
                bottom[(hash & 127) as usize] += 1;
            }
            for bins in [top, bottom] {
                let chi2: f64 = bins.iter().map(|&n| (f64::from(n) - 1000.0).powi(2) / 1000.0).sum();
                // 127 degrees of freedom: mean 127, standard deviation 16.
                assert!((60.0..210.0).contains(&chi2), "chi-square {chi2} under key {key:x}");
            }
        }
    }
}
