//! Who lives: the generation that each slot has, two bytes a slot; and in which slots somebody has died in this batch, a bit a slot.
//!
//! A full line of postings asks about five owners, and their records lie all over the memory: to look at them took a fifth of
//! weighing in a store that is full. This is small enough to stay near to the processor. Of the dead it is asked whether they lived a
//! moment ago, and of most slots the answer is that nobody has died there lately.
//!
//! # Invariants
//! - Who lives does so in one generation, until it ends. (`a_generation_lives_until_it_ends`)
//! - Who died in this batch is in a slot that is mourned. (`slots_are_mourned_until_the_batch_ends`)

use super::prefetch::prefetch;
use super::reference::Ref;

/// The generation that lives in each slot; 0, which no reference has, where none does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Living {
    generations: Vec<u16>,
    /// A bit for each slot.
    mourned: Vec<u64>,
}

impl Living {
    /// Whether `of` lives.
    #[inline]
    pub(super) fn has(&self, of: Ref) -> bool {
        let generation = self.generations.get(of.slot as usize).copied().unwrap_or(0);
        (generation == of.generation) & (generation != 0)
    }

    /// Asks for whether `of` lives.
    #[inline]
    pub(super) fn prefetch(&self, of: Ref) {
        if let Some(generation) = self.generations.get(of.slot as usize) {
            prefetch(generation);
        }
    }

    /// `of` lives from now on, in place of whoever had its slot.
    pub(super) fn begin(&mut self, of: Ref) {
        let slot = of.slot as usize;
        if self.generations.len() <= slot {
            self.generations.resize(slot + 1, 0);
        }
        self.generations[slot] = of.generation;
    }

    /// Whether somebody who lived in `slot` has died in this batch.
    #[inline]
    pub(super) fn is_mourned(&self, slot: u32) -> bool {
        let bits = self.mourned.get(slot as usize / 64).copied().unwrap_or(0);
        bits >> (slot % 64) & 1 == 1
    }

    /// Somebody who lived in `slot` has died.
    pub(super) fn mourn(&mut self, slot: u32) {
        let word = slot as usize / 64;
        if self.mourned.len() <= word {
            self.mourned.resize(word + 1, 0);
        }
        self.mourned[word] |= 1 << (slot % 64);
    }

    /// The batch has ended for who died in `slot`.
    pub(super) fn end_mourning(&mut self, slot: u32) {
        if let Some(bits) = self.mourned.get_mut(slot as usize / 64) {
            *bits &= !(1 << (slot % 64));
        }
    }

    /// Nobody lives in `slot` any more.
    pub(super) fn end(&mut self, slot: u32) {
        if let Some(generation) = self.generations.get_mut(slot as usize) {
            *generation = 0;
        }
    }
}

impl FromIterator<Ref> for Living {
    fn from_iter<I: IntoIterator<Item = Ref>>(all: I) -> Self {
        let mut living = Self::default();
        all.into_iter().for_each(|of| living.begin(of));
        living
    }
}

/// Bytes of a slot in which nobody is mourned, for the plan.
pub(super) const GENERATION_BYTES: usize = size_of::<u16>();
/// Bytes of any other: of its bit a whole one.
pub(super) const LIVING_BYTES: usize = GENERATION_BYTES + 1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generation_lives_until_it_ends() {
        let (first, second) = (Ref { slot: 7, generation: 1 }, Ref { slot: 7, generation: 2 });
        let mut living = Living::default();
        assert!(!living.has(first));
        living.begin(first);
        assert!(living.has(first) && !living.has(second) && !living.has(Ref { slot: 6, generation: 0 }));
        living.end(7);
        assert!(!living.has(first) && !living.has(Ref { slot: 7, generation: 0 }));
        living.begin(second);
        assert!(!living.has(first) && living.has(second));
        assert_eq!(living, [second].into_iter().collect());
    }

    #[test]
    fn slots_are_mourned_until_the_batch_ends() {
        let mut living = Living::default();
        let mourned = |living: &Living| (0..300).filter(|slot| living.is_mourned(*slot)).collect::<Vec<u32>>();
        [3, 64, 299].into_iter().for_each(|slot| living.mourn(slot));
        assert_eq!(mourned(&living), [3, 64, 299]);
        [64, 3, 5].into_iter().for_each(|slot| living.end_mourning(slot));
        assert_eq!(mourned(&living), [299]);
    }
}
