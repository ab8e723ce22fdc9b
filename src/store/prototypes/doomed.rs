//! Who gives way to a document that has not come yet, found without touching anybody.
//!
//! The fold forgets before it looks: groups that are too old, the earlier version of the document itself, and whoever makes room
//! for it. A probe is to say what the fold would say, so it has to know whom the document would not meet any more.
//!
//! # Invariants
//! - They are those that die when the document comes. (`the_doomed_die_and_nobody_else`, `tests/promises/probe.rs`)
//!
//! Of those that are too old only so many are looked at as make room: after a long silence all of them would be.

use super::owners::Room;
use super::{Cells, NONE, Newcomer, Prototypes, Ref};

/// Who gives way to a document.
#[derive(Debug, Default)]
pub(in crate::store) struct Doomed {
    /// Groups without a member since then are too old.
    before_ms: Option<i64>,
    /// The earlier version of the document.
    pub(in crate::store) replaced: Option<Ref>,
    /// Heads of the groups that make room for it.
    evicted: Vec<u32>,
    /// Cells that its id takes as that of the longest member, less those that it gives back.
    n_cells_taken: i64,
}

impl Doomed {
    /// Those without a member since `before_ms`.
    pub(in crate::store) fn by_age(before_ms: Option<i64>) -> Self {
        Self { before_ms, ..Self::default() }
    }
}

impl Prototypes {
    /// Whether `of` lives, and will when the document comes.
    pub(in crate::store) fn outlives(&self, of: Ref, doomed: &Doomed) -> bool {
        self.get(of).is_some_and(|prototype| doomed.replaced != Some(of) && !self.is_doomed(prototype.head, doomed))
    }

    /// The size and the domains of the group of `head` when the document has joined it.
    pub(in crate::store) fn joined_by(&self, head: Ref, domain: u64, is_new: bool) -> (u32, u32) {
        let Some(prototype) = self.get(head) else { return (0, 0) };
        if !is_new {
            return prototype.group();
        }
        let (size, domains) = prototype.with_member(domain);
        (size, domains.count(size))
    }

    /// The prototypes of the group of `head` when the earlier version of the document has left it.
    pub(in crate::store) fn n_left(&self, head: Ref, doomed: &Doomed) -> usize {
        let leaves = doomed.replaced.is_some_and(|of| self.head_of(of) == Some(head));
        self.get(head).map_or(0, |head| 1 + head.n_further() - usize::from(leaves))
    }

    /// The id of the longest member of the group of `head` when one of `n_words` has joined it as `id`.
    pub(in crate::store) fn longest_with(
        &self,
        head: Ref,
        n_words: u32,
        id: &str,
        doomed: &mut Doomed,
    ) -> Option<String> {
        let prototype = self.get(head)?;
        let n_cells = Cells::cells_for(id.len()) as i64;
        if !prototype.is_outgrown(n_words) || !self.makes_room(Room { n_slots: 0, n_cells }, doomed, false, NONE) {
            return self.longest(head);
        }
        doomed.n_cells_taken = n_cells - prototype.longest.map_or(0, |old| self.cells_of(old).n_cells);
        Some(id.to_owned())
    }

    /// Dooms those who would give way to `newcomer` as a new head.
    pub(in crate::store) fn doom_for_head(&self, newcomer: &Newcomer<'_>, doomed: &mut Doomed) {
        self.doom_over_share(newcomer.owner, newcomer.needed(), NONE, doomed);
        self.makes_room(newcomer.needed(), doomed, true, NONE);
    }

    /// Dooms those who would give way to `newcomer` as a further prototype of the group of `head`, which has just been
    /// touched: that may be the group itself, if all others were not enough.
    pub(in crate::store) fn doom_for_further(&self, head: Ref, newcomer: &Newcomer<'_>, doomed: &mut Doomed) {
        self.doom_over_share(self.slots[head.slot as usize].owner, newcomer.needed(), head.slot, doomed);
        let n_over_share = doomed.evicted.len();
        let has_room = self.makes_room(newcomer.needed(), doomed, true, head.slot);
        // In a store of one group nobody is asked to go.
        if !has_room && doomed.evicted.len() > n_over_share {
            doomed.evicted.push(head.slot);
        }
    }

    /// Whoever would have more than its share with `more` loses the oldest of its own, but for the group of the slot `spared`.
    fn doom_over_share(&self, owner: u64, more: Room, spared: u32, doomed: &mut Doomed) {
        let Some((mut held, mut next)) = self.owners.holding(owner) else { return };
        held += more;
        held.n_cells += doomed.n_cells_taken;
        if let Some(Ref { slot, .. }) = doomed.replaced
            && self.slots[self.slots[slot as usize].head as usize].owner == owner
        {
            held -= self.held_with(slot);
        }
        while self.owners.is_beyond_share(held) && next != NONE {
            let head = next;
            next = self.slots[head as usize].owner_order.newer;
            if head == spared || doomed.replaced.is_some_and(|of| of.slot == head) {
                continue;
            }
            held -= self.held_without(head, doomed);
            if !self.is_expired(head, doomed) {
                doomed.evicted.push(head);
            }
        }
    }

    /// Whether there is room for `needed` when the oldest groups have gone: those that are too old, and if `evicts`, others, but
    /// for the group of the slot `spared`.
    fn makes_room(&self, needed: Room, doomed: &mut Doomed, evicts: bool, spared: u32) -> bool {
        let n_slots = (self.free.len() + self.n_slots_max - self.slots.len()) as i64;
        let mut room = Room { n_slots, n_cells: self.cells.n_free() as i64 - doomed.n_cells_taken };
        if let Some(Ref { slot, .. }) = doomed.replaced {
            room += self.held_with(slot);
        }
        doomed.evicted.iter().for_each(|&head| room += self.held_without(head, doomed));
        let n_evicted_before = doomed.evicted.len();
        let mut next = self.order.oldest;
        while !room.holds(needed) && next != NONE {
            let head = next;
            next = self.slots[head as usize].order.newer;
            let is_counted = doomed.replaced.is_some_and(|replaced| replaced.slot == head)
                || doomed.evicted[..n_evicted_before].contains(&head);
            if head == spared || is_counted {
                continue;
            }
            if !self.is_expired(head, doomed) {
                if !evicts {
                    break;
                }
                doomed.evicted.push(head);
            }
            room += self.held_without(head, doomed);
        }
        room.holds(needed)
    }

    /// What goes with a record: a head takes its group with it.
    fn held_with(&self, slot: u32) -> Room {
        if self.slots[slot as usize].head == slot { self.held_by_group(slot) } else { self.held_by(slot) }
    }

    /// What a group holds when the earlier version of the document has left it.
    fn held_without(&self, head: u32, doomed: &Doomed) -> Room {
        let mut held = self.held_by_group(head);
        if let Some(Ref { slot, .. }) = doomed.replaced
            && self.slots[head as usize].further.contains(&slot)
        {
            held -= self.held_by(slot);
        }
        held
    }

    fn is_doomed(&self, head: u32, doomed: &Doomed) -> bool {
        self.is_expired(head, doomed)
            || doomed.replaced.is_some_and(|of| of.slot == head)
            || doomed.evicted.contains(&head)
    }

    /// Heads are in the order of their last member, and the clock does not go back: those that are too old are the oldest.
    fn is_expired(&self, head: u32, doomed: &Doomed) -> bool {
        doomed.before_ms.is_some_and(|before_ms| self.slots[head as usize].seen_ms < before_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{made, newcomer, owners_hold_what_their_groups_hold};
    use super::super::{Departures, FURTHER_MAX};
    use super::*;
    use crate::signature::keyed::mix;

    /// Heads and further prototypes of a few owners and of many sizes come into a small store, at times that jump, some of them in
    /// the place of an earlier version; what each will cost is foretold.
    #[test]
    fn the_doomed_die_and_nobody_else() {
        let (mut gone, mut n_longest, mut n_cost_their_own) = (Departures::default(), 0, 0);
        for seed in 0..60 {
            let (n_slots, n_cells) = (2 + seed as usize % 13, [12, 60][seed as usize / 2 % 2]);
            let mut prototypes = Prototypes::new(n_slots, n_cells, 0.3 + 0.1 * (seed % 8) as f64);
            let mut now_ms = 0;
            for position in 1..200_u64 {
                let how = format!("seed {seed}, document {position}");
                let dice = |n: u64, of: u64| mix(mix(seed, position), n) % of;
                let live: Vec<Ref> = prototypes.live().collect();
                let any = |n: u64| live.get(dice(n, live.len().max(1) as u64) as usize).copied();
                now_ms += if dice(1, 9) == 0 { 20 } else { 1 };
                let mut doomed = Doomed::by_age((seed % 3 == 0).then_some(now_ms - 30));
                let replaced = any(2).filter(|of| dice(3, 5) == 0 && prototypes.outlives(*of, &doomed));
                doomed.replaced = replaced;
                let made = made(position, 1 + dice(4, 3), [10, 40, 250][dice(5, 3) as usize]);
                let newcomer = Newcomer { now_ms, ..newcomer(&made, position) };
                let head = any(6).and_then(|of| prototypes.head_of(of)).filter(|head| {
                    dice(7, 2) == 0
                        && prototypes.outlives(*head, &doomed)
                        && prototypes.n_left(*head, &doomed) <= FURTHER_MAX
                });
                let (n_words, id) = (dice(8, 100) as u32, "x".repeat(dice(9, 400) as usize + 1));
                let longest = head.and_then(|head| prototypes.longest_with(head, n_words, &id, &mut doomed));
                match head {
                    Some(head) => prototypes.doom_for_further(head, &newcomer, &mut doomed),
                    None => prototypes.doom_for_head(&newcomer, &mut doomed),
                }
                let (stay, die): (Vec<Ref>, Vec<Ref>) =
                    live.iter().copied().partition(|of| prototypes.outlives(*of, &doomed));
                if let Some(before_ms) = doomed.before_ms {
                    prototypes.expire(before_ms, position);
                }
                if let Some(replaced) = replaced {
                    prototypes.replace(replaced, position);
                }
                match head {
                    Some(head) => {
                        prototypes.join(head, 5, now_ms, true);
                        prototypes.note_longest(head, n_words, &id);
                        assert_eq!(prototypes.longest(head), longest, "{how}");
                        n_longest += usize::from(longest == Some(id));
                        prototypes.insert_further(head, &newcomer);
                        n_cost_their_own += usize::from(!prototypes.lives(head));
                    }
                    None => drop(prototypes.insert(&newcomer)),
                }
                assert!(stay.iter().all(|of| prototypes.lives(*of)), "{how}: {doomed:?}");
                assert!(!die.iter().any(|of| prototypes.lives(*of)), "{how}: {doomed:?}");
                assert!(owners_hold_what_their_groups_hold(&prototypes), "{how}");
                prototypes.end_batch();
            }
            let Departures { n_evicted, n_over_share, n_expired, n_replaced } = prototypes.departures();
            gone.n_evicted += n_evicted;
            gone.n_over_share += n_over_share;
            gone.n_expired += n_expired;
            gone.n_replaced += n_replaced;
        }
        println!("{gone:?}, {n_longest} longest, {n_cost_their_own} cost their own group");
        assert!(gone.n_evicted > 1000 && gone.n_over_share > 300 && gone.n_expired > 100 && gone.n_replaced > 300);
        assert!(n_longest > 100 && n_cost_their_own > 10);
    }
}
