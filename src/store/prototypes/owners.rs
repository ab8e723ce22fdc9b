//! Whose the records are: what every owner holds of the store, and its share of it.
//!
//! An owner is a registered domain, or where there is none a host or address; 0 is nobody, who has no limit. It holds slots and
//! cells, those of further prototypes and of the names of longest members included: long documents are few, and no less room.
//!
//! # Invariants
//! - What an owner holds is what its groups hold. (`owners_hold_what_their_groups_hold`)

use super::Prototype;
use crate::store::order::{Ends, push, remove};
use crate::store::reference::NONE;
use crate::store::rows::Rows;
use std::collections::HashMap;
use std::iter::Sum;
use std::ops::{Add, AddAssign, SubAssign};

/// Slots and cells: free, held, or asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Room {
    pub(super) n_slots: i64,
    pub(super) n_cells: i64,
}

impl Room {
    /// Whether `needed` finds a place in it.
    pub(super) fn holds(self, needed: Self) -> bool {
        self.n_slots >= needed.n_slots && self.n_cells >= needed.n_cells
    }
}

impl Add for Room {
    type Output = Self;

    fn add(mut self, more: Self) -> Self {
        self += more;
        self
    }
}

impl AddAssign for Room {
    fn add_assign(&mut self, more: Self) {
        self.n_slots += more.n_slots;
        self.n_cells += more.n_cells;
    }
}

impl SubAssign for Room {
    fn sub_assign(&mut self, less: Self) {
        self.n_slots -= less.n_slots;
        self.n_cells -= less.n_cells;
    }
}

impl Sum for Room {
    fn sum<I: Iterator<Item = Self>>(rooms: I) -> Self {
        rooms.fold(Self::default(), Self::add)
    }
}

/// What an owner holds.
#[derive(Clone, Copy, Debug, Default)]
struct Holding {
    /// Heads of its groups, in the order of their last member.
    heads: Ends,
    n_slots: u32,
    n_cells: u32,
}

impl Holding {
    fn room(&self) -> Room {
        Room { n_slots: self.n_slots.into(), n_cells: self.n_cells.into() }
    }

    fn set(&mut self, room: Room) {
        let number = |n: i64| u32::try_from(n).expect("an owner gives back what it holds");
        (self.n_slots, self.n_cells) = (number(room.n_slots), number(room.n_cells));
    }
}

/// All owners.
pub(super) struct Owners {
    share: Room,
    holdings: HashMap<u64, Holding>,
}

impl Owners {
    /// Each may hold `share_max` of the slots and of the cells.
    pub(super) fn new(n_slots: usize, n_cells: usize, share_max: f64) -> Self {
        let share = |n: usize| (n as f64 * share_max) as i64;
        let share = Room { n_slots: share(n_slots).max(1), n_cells: share(n_cells) };
        Self { share, holdings: HashMap::new() }
    }

    /// Those of `from`, each with our share.
    pub(super) fn carried(&self, from: Self) -> Self {
        Self { share: self.share, holdings: from.holdings }
    }

    /// Whether who holds `room` holds more than its share.
    pub(super) fn is_beyond_share(&self, room: Room) -> bool {
        !self.share.holds(room)
    }

    /// What `owner` holds, and its oldest group.
    pub(super) fn holding(&self, owner: u64) -> Option<(Room, u32)> {
        self.holdings.get(&owner).map(|holding| (holding.room(), holding.heads.oldest))
    }

    /// `owner` holds more than before.
    pub(super) fn charge(&mut self, owner: u64, more: Room) {
        if let Some(holding) = self.holdings.get_mut(&owner) {
            holding.set(holding.room() + more);
        }
    }

    /// `owner` holds less than before.
    pub(super) fn credit(&mut self, owner: u64, less: Room) {
        if let Some(holding) = self.holdings.get_mut(&owner) {
            let mut room = holding.room();
            room -= less;
            holding.set(room);
        }
    }

    /// A new group of `owner`, which holds `room`.
    pub(super) fn link(&mut self, slots: &mut Rows<Prototype>, head: u32, room: Room) {
        let owner = slots[head as usize].owner;
        if owner != 0 {
            let holding = self.holdings.entry(owner).or_default();
            push(slots, &mut holding.heads, head, |prototype| &mut prototype.owner_order);
            holding.set(holding.room() + room);
        }
    }

    /// The group becomes the newest of its owner.
    pub(super) fn touch(&mut self, slots: &mut Rows<Prototype>, head: u32) {
        let owner = slots[head as usize].owner;
        if let Some(holding) = self.holdings.get_mut(&owner) {
            remove(slots, &mut holding.heads, head, |prototype| &mut prototype.owner_order);
            push(slots, &mut holding.heads, head, |prototype| &mut prototype.owner_order);
        }
    }

    /// A group that held `room` goes.
    pub(super) fn unlink(&mut self, slots: &mut Rows<Prototype>, head: u32, room: Room) {
        let owner = slots[head as usize].owner;
        let Some(holding) = self.holdings.get_mut(&owner) else { return };
        remove(slots, &mut holding.heads, head, |prototype| &mut prototype.owner_order);
        let mut left = holding.room();
        left -= room;
        holding.set(left);
        if holding.heads.oldest == NONE {
            self.holdings.remove(&owner);
        }
    }

    /// The groups of each, in the order of owners.
    pub(super) fn heads(&self) -> Vec<(u64, Ends)> {
        let mut heads: Vec<_> = self.holdings.iter().map(|(owner, holding)| (*owner, holding.heads)).collect();
        heads.sort_unstable_by_key(|(owner, _)| *owner);
        heads
    }

    /// Reads what [`Owners::heads`] has said. What they hold is charged next.
    pub(super) fn load(&mut self, heads: Vec<(u64, Ends)>) {
        let holding = |(owner, heads)| (owner, Holding { heads, ..Holding::default() });
        self.holdings = heads.into_iter().map(holding).collect();
    }

    /// How many own something.
    #[cfg(test)]
    pub(super) fn n(&self) -> usize {
        self.holdings.len()
    }
}

/// Bytes of an owner in the map, for the plan: what it holds, control byte, and room to grow.
pub(in crate::store) const OWNER_BYTES: usize = 2 * (size_of::<(u64, Holding)>() + 1);
