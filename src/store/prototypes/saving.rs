//! Prototypes written down and read back.
//!
//! # Invariants
//! - What is read back goes on alike. (`saved_and_loaded_they_are_the_same`)

use super::super::Damaged;
use super::super::cells::CellEnds;
use super::super::excerpts::{ExcerptRule, Excerpts};
use super::super::order::{Ends, Link};
use super::super::reference::NONE;
use super::super::watch::Table;
use super::{Departures, Prototypes};

impl Prototypes {
    /// What is small, as bytes: all but [`Prototypes::tables`].
    pub(in crate::store) fn save(&self) -> Result<Vec<u8>, postcard::Error> {
        postcard::to_stdvec(&(
            self.slots.len() as u32,
            &self.free,
            &self.order,
            self.owners.heads(),
            &self.departures,
            self.cells.ends(),
            self.excerpts.rule(),
        ))
    }

    /// What is large.
    pub(in crate::store) fn tables(&mut self) -> [&mut dyn Table; 3] {
        [&mut self.slots, self.cells.table(), self.excerpts.table()]
    }

    /// Reads what [`Prototypes::save`] has written; the tables are read next.
    pub(in crate::store) fn load(&mut self, bytes: &[u8]) -> Result<CellEnds, Damaged> {
        type Saved = (u32, Vec<u32>, Ends, Vec<(u64, Ends)>, Departures, CellEnds, ExcerptRule);
        let (n, free, order, owners, departures, cells, excerpt_rule): Saved =
            postcard::from_bytes(bytes).map_err(|_| Damaged::of("the prototypes cannot be read"))?;
        let are_ends = |ends: &Ends| is_slot(ends.oldest, n) && is_slot(ends.newest, n);
        let is_sound = n as usize <= self.n_slots_max
            && free.iter().all(|&slot| slot < n)
            && are_ends(&order)
            && owners.iter().all(|(_, ends)| are_ends(ends));
        if !is_sound {
            return Err(Damaged::of("the prototypes contradict themselves"));
        }
        self.slots.expect(n as usize);
        self.excerpts.expect(excerpt_rule)?;
        (self.free, self.order, self.departures) = (free, order, departures);
        self.owners.load(owners);
        Ok(cells)
    }

    /// Looks whether the tables that were read agree with the rest.
    pub(in crate::store) fn resume(&mut self, cells: CellEnds) -> Result<(), Damaged> {
        let n = self.slots.len() as u32;
        let is_link = |link: &Link| is_slot(link.older, n) && is_slot(link.newer, n);
        let is_sound = self.slots.are_complete()
            && self.slots.iter().all(|slot| {
                (slot.generation != 0 || !slot.is_live)
                    && is_slot(slot.head, n)
                    && slot.further.iter().all(|&slot| is_slot(slot, n))
                    && is_link(&slot.order)
                    && is_link(&slot.owner_order)
            });
        if !is_sound {
            return Err(Damaged::of("the prototypes contradict themselves"));
        }
        self.living = self.live().collect();
        self.cells.resume(cells)?;
        self.excerpts.check()?;
        self.keep_by_rule();
        let mut handles = self.slots.iter().flat_map(|slot| [slot.blob, slot.longest]).flatten();
        if !handles.all(|handle| self.cells.holds(handle)) {
            return Err(Damaged::of("a prototype has no cells"));
        }
        self.charge_all()
    }

    /// Charges owners what their records hold.
    fn charge_all(&mut self) -> Result<(), Damaged> {
        for slot in 0..self.slots.len() as u32 {
            let prototype = &self.slots[slot as usize];
            if !prototype.is_live {
                continue;
            }
            let Some(head) = self.slots.get(prototype.head as usize) else {
                return Err(Damaged::of("a prototype has no head"));
            };
            self.owners.charge(head.owner, self.held_by(slot));
        }
        Ok(())
    }

    /// Goes on with all of `from`, which has as many slots and cells; an owner's share, and what is kept of texts, stay ours.
    pub(in crate::store) fn carry(&mut self, from: Self) {
        let owners = self.owners.carried(from.owners);
        *self = Self { owners, excerpt_rule: self.excerpt_rule, ..from };
        self.keep_by_rule();
    }

    /// Brings what was kept of texts under another rule under ours.
    fn keep_by_rule(&mut self) {
        let kept = std::mem::replace(&mut self.excerpts, Excerpts::new(0, ExcerptRule::NONE));
        self.excerpts = kept.under(self.excerpt_rule);
    }
}

/// Whether it is one of `n` slots, or none.
fn is_slot(slot: u32, n: u32) -> bool {
    slot == NONE || slot < n
}
