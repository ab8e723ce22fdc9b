//! The keyed hash of a word, eight bytes at a time.
//!
//! Words are short: four of five fit into one 64-bit block, and a general hash spends more on its beginning and end
//! than on the word. Blocks are little-endian, the last one is filled up with zeros; the length at the end tells
//! `a` from `a\0`.
//!
//! # Invariants
//! - The same bytes give the same hash, whether they come as a slice or piecemeal. (`pieces_hash_as_the_whole`)
//! - The bits are the same on every machine. (`golden_word_hashes`)

use crate::signature::keyed::mix;

/// What keys the hashes of words.
#[derive(Clone, Copy, Debug)]
pub struct WordKey {
    key: u64,
    step: u64,
}

impl WordKey {
    /// From the key of the family.
    pub fn new(key: u64) -> Self {
        Self { key, step: mix(key, 1) }
    }

    /// The hash of a normalised form.
    pub fn hash(self, form: &[u8]) -> u64 {
        let mut hasher = self.hasher();
        let (blocks, rest) = form.as_chunks::<8>();
        for block in blocks {
            hasher.state = self.after(hasher.state, u64::from_le_bytes(*block));
        }
        hasher.n_bytes = form.len() as u64 - rest.len() as u64;
        for &byte in rest {
            hasher.push(u64::from(byte), 1);
        }
        hasher.finish()
    }

    /// A hash that is fed piece by piece.
    #[inline]
    pub(super) fn hasher(self) -> Hasher {
        Hasher { key: self, state: self.key, block: 0, n_bytes: 0 }
    }

    /// The state before the first block.
    #[inline]
    pub(super) fn start(self) -> u64 {
        self.key
    }

    /// The state after one block more.
    #[inline]
    pub(super) fn after(self, state: u64, block: u64) -> u64 {
        mix(state ^ block, self.step)
    }

    /// The hash of `n_bytes` bytes that led to `state`.
    #[inline]
    pub(super) fn finish(self, state: u64, n_bytes: u64) -> u64 {
        mix(state, self.key.wrapping_add(n_bytes))
    }
}

/// A hash in the making.
#[derive(Clone, Copy)]
pub(super) struct Hasher {
    key: WordKey,
    state: u64,
    block: u64,
    n_bytes: u64,
}

impl Hasher {
    /// Adds `n` bytes (1 to 4), the first in the lowest bits of `bytes`, the bits above them zero.
    #[inline]
    pub(super) fn push(&mut self, bytes: u64, n: u64) {
        let filled = self.n_bytes % 8;
        self.block |= bytes << (8 * filled);
        self.n_bytes += n;
        if filled + n >= 8 {
            self.state = self.key.after(self.state, self.block);
            // What did not fit begins the next block; a shift by 64 would be none at all.
            self.block = if filled + n == 8 { 0 } else { bytes >> (8 * (8 - filled)) };
        }
    }

    /// Adds a character.
    #[inline]
    pub(super) fn push_char(&mut self, c: char) {
        let mut bytes = [0; 4];
        let n = c.encode_utf8(&mut bytes).len();
        self.push(u64::from(u32::from_le_bytes(bytes)), n as u64);
    }

    /// The hash.
    #[inline]
    pub(super) fn finish(self) -> u64 {
        let state = if self.n_bytes.is_multiple_of(8) { self.state } else { self.key.after(self.state, self.block) };
        self.key.finish(state, self.n_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition, written the slow way.
    fn defined(bytes: &[u8], key: u64) -> u64 {
        let mut state = key;
        for chunk in bytes.chunks(8) {
            let mut block = [0; 8];
            block[..chunk.len()].copy_from_slice(chunk);
            state = mix(state ^ u64::from_le_bytes(block), mix(key, 1));
        }
        mix(state, key.wrapping_add(bytes.len() as u64))
    }

    proptest! {
        #[test]
        fn pieces_hash_as_the_whole(text in "\\PC{0,40}", key: u64) {
            let mut hasher = WordKey::new(key).hasher();
            text.chars().for_each(|c| hasher.push_char(c));
            prop_assert_eq!(hasher.finish(), defined(text.as_bytes(), key));
            prop_assert_eq!(WordKey::new(key).hash(text.as_bytes()), defined(text.as_bytes(), key));
        }
    }

    /// A different result is a different scheme.
    #[test]
    fn golden_word_hashes() {
        let key = WordKey::new(7);
        let golden: Vec<u64> = ["", "a", "word", "straße", "internationalisation", "東"]
            .iter()
            .map(|form| key.hash(form.as_bytes()))
            .collect();
        assert_eq!(
            golden,
            [
                0x01F32C7394D4D632,
                0xA324A5E34225DA38,
                0x72C2BB88680622FB,
                0x551FD8DC9068495E,
                0xB6662D1E8A59B2D4,
                0xA392AC979155D83B
            ]
        );
    }
}
