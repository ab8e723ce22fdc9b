//! Which stored document: its slot, and which of those that have lived in the slot.

use serde::{Deserialize, Serialize};

/// Slots that a [`Ref`] can tell apart.
pub(super) const SLOTS_MAX: usize = 1 << 24;

/// No slot.
pub(super) const NONE: u32 = u32::MAX;

/// A stored document. It is dead as soon as its slot has another generation: whoever holds a reference finds out by
/// asking, so that a document goes whole, without lists of the keys that lead to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Ref {
    /// Where it is, below [`SLOTS_MAX`].
    pub slot: u32,
    /// Which one it is; never 0. After 65,535 documents in one slot the count begins again, when postings of the first
    /// have long been pushed out.
    pub generation: u16,
}

impl Ref {
    /// Whoever has not been stored yet. Nobody ever is: there is no such slot.
    pub(super) const UNBORN: Self = Self { slot: NONE, generation: 0 };

    /// In the lower 40 bits; never 0.
    pub fn packed(self) -> u64 {
        u64::from(self.slot) << 16 | u64::from(self.generation)
    }

    /// The reference in the lower 40 bits of `bits`.
    pub fn unpacked(bits: u64) -> Self {
        Self { slot: (bits >> 16) as u32 & (SLOTS_MAX as u32 - 1), generation: bits as u16 }
    }
}

/// The generation after this one.
pub(super) fn next(generation: u16) -> u16 {
    match generation.wrapping_add(1) {
        0 => 1,
        next => next,
    }
}
