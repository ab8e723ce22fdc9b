//! Who lives: the generation that each slot has, two bytes a slot.
//!
//! A full line of postings asks about five owners, and their records lie all over the memory: to look at them took a fifth of
//! weighing in a store that is full. This is small enough to stay near to the processor.
//!
//! # Invariants
//! - Who lives does so in one generation, until it ends. (`a_generation_lives_until_it_ends`)

use super::reference::Ref;

/// The generation that lives in each slot; 0, which no reference has, where none does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Living {
    generations: Vec<u16>,
}

impl Living {
    /// Whether `of` lives.
    #[inline]
    pub(super) fn has(&self, of: Ref) -> bool {
        of.generation != 0 && self.generations.get(of.slot as usize) == Some(&of.generation)
    }

    /// `of` lives from now on, in place of whoever had its slot.
    pub(super) fn begin(&mut self, of: Ref) {
        let slot = of.slot as usize;
        if self.generations.len() <= slot {
            self.generations.resize(slot + 1, 0);
        }
        self.generations[slot] = of.generation;
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

/// Bytes of a slot, for the plan.
pub(super) const LIVING_BYTES: usize = size_of::<u16>();

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
}
