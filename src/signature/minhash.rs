//! One-permutation minhash with 128 slots, densified.

use serde::Serialize;

/// Slots of a [`MinHash`].
pub const SLOTS: usize = 128;

/// The smallest hash in each of 128 bins of a set; empty bins filled from others, so that every slot counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MinHash(pub Box<[u32]>);
