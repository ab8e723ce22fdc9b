//! One secret, many independent keys; and the one mixer behind all hashes.
//!
//! Spammers read source code: every hash that decides a signature is keyed, so that collisions and lexicon choice
//! can't be computed outside. Each family has its own key, derived by BLAKE3 from the secret and the family's name.
//!
//! # Invariants
//! - Keys depend on the secret and the family's name alone. (`golden_keys`)
//! - Two families never share a key. (`keys_differ`)

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
        }
    }
}

/// Mixes two words into one: the full product, folded. Good to one another by any key; not a hash of long input.
#[inline]
pub fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a ^ 0x9E37_79B9_7F4A_7C15) * u128::from(b ^ 0xD1B5_4A32_D192_ED03);
    (product as u64) ^ ((product >> 64) as u64)
}
