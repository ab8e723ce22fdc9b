//! The stored documents: heads of groups and their further prototypes, in fixed memory.
//!
//! A slot has a fixed part; what varies in length (proof, names, places) lies in cells. Heads are in one order by their
//! last member: when slots or cells run out, the group that has gone longest without one gives way, whole. Beside it
//! every owner (a registered domain or address) has its own order, and whoever holds more than a share of the slots or
//! of the cells loses the oldest of its own.
//!
//! Settle runs ahead of judge by up to a batch: who died in it stays readable ([`Prototypes::card`]), and it is known at which
//! position it died ([`Prototypes::lives_at`]), until [`Prototypes::end_batch`].
//!
//! # Invariants
//! - A group dies whole, with its head. (`a_group_dies_with_its_head`)
//! - Nobody holds more than a share, and nobody else pays for it. (`a_flood_pushes_out_its_own`,
//!   `long_documents_and_variants_are_of_the_share`)
//! - The order of giving way is that of the last member. (`the_longest_without_a_member_gives_way`)
//! - What goes takes the beginning of its text with it, and leaves no byte of its names. (`what_goes_leaves_no_byte`)

mod doomed;
mod owners;
mod prototype;
mod reading;
mod saving;

pub(super) use doomed::Doomed;
pub(super) use owners::OWNER_BYTES;
pub use prototype::Server;
pub(super) use prototype::{Blob, FURTHER_MAX, Newcomer, Prototype, SLOT_BYTES};

use super::cells::{Cells, Handle};
use super::excerpts::{ExcerptRule, Excerpts};
use super::living::Living;
use super::order::{Ends, push, remove};
use super::prefetch::prefetch;
use super::reference::{NONE, Ref, next};
use super::rows::Rows;
use super::spread::Spread;
use owners::{Owners, Room};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Who died in this batch.
struct Buried {
    position: u64,
    prototype: Prototype,
    blob: Vec<u8>,
}

/// Why records went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Departures {
    /// To make room.
    pub n_evicted: u64,
    /// To keep an owner to its share.
    pub n_over_share: u64,
    /// By age.
    pub n_expired: u64,
    /// Because their page has changed.
    pub n_replaced: u64,
}

/// The stored documents.
pub(super) struct Prototypes {
    slots: Rows<Prototype>,
    living: Living,
    free: Vec<u32>,
    n_slots_max: usize,
    cells: Cells,
    excerpts: Excerpts,
    excerpt_rule: ExcerptRule,
    order: Ends,
    owners: Owners,
    buried: HashMap<Ref, Buried>,
    departures: Departures,
}

impl Prototypes {
    pub(super) fn new(n_slots: usize, n_cells: usize, share_max: f64) -> Self {
        Self {
            slots: Rows::default(),
            living: Living::default(),
            free: Vec::new(),
            n_slots_max: n_slots,
            cells: Cells::new(n_cells),
            excerpts: Excerpts::new(n_slots, ExcerptRule::NONE),
            excerpt_rule: ExcerptRule::NONE,
            order: Ends::default(),
            owners: Owners::new(n_slots, n_cells, share_max),
            buried: HashMap::new(),
            departures: Departures::default(),
        }
    }

    /// The same, which keeps what `rule` says of texts.
    pub(super) fn keeping(mut self, rule: ExcerptRule) -> Self {
        (self.excerpts, self.excerpt_rule) = (self.excerpts.under(rule), rule);
        self
    }

    /// The record of `of`, if it lives.
    #[inline]
    pub(super) fn get(&self, of: Ref) -> Option<&Prototype> {
        self.slots.get(of.slot as usize).filter(|_| self.lives(of))
    }

    #[inline]
    pub(super) fn lives(&self, of: Ref) -> bool {
        self.living.has(of)
    }

    /// Asks for whether `of` lives.
    #[inline]
    pub(super) fn prefetch_life(&self, of: Ref) {
        self.living.prefetch(of);
    }

    /// Whether `of` lived when the document at `position` had been settled. Only for positions of this batch.
    #[inline]
    pub(super) fn lives_at(&self, of: Ref, position: u64) -> bool {
        let lives = self.lives(of);
        // Who lives is as good as a coin where the dead are many, and who died just now is rare: only of that it is asked twice.
        match self.living.is_mourned(of.slot) & !lives {
            true => self.buried.get(&of).is_some_and(|buried| position < buried.position),
            false => lives,
        }
    }

    /// The head of the group that `of` is in, if it lives.
    pub(super) fn head_of(&self, of: Ref) -> Option<Ref> {
        self.get(of).map(|prototype| self.reference(prototype.head))
    }

    /// Whose it is, dead in this batch or alive.
    pub(super) fn server(&self, of: Ref) -> Option<Server> {
        self.known(of).map(|prototype| prototype.server)
    }

    /// The length of its long sentences, dead in this batch or alive.
    pub(super) fn sentence_chars(&self, of: Ref) -> Option<u32> {
        self.known(of).map(|prototype| prototype.sentence_chars)
    }

    /// The position of the document that it is, dead in this batch or alive.
    pub(super) fn born(&self, of: Ref) -> Option<u64> {
        self.known(of).map(|prototype| prototype.born)
    }

    fn known(&self, of: Ref) -> Option<&Prototype> {
        self.get(of).or_else(|| self.buried.get(&of).map(|buried| &buried.prototype))
    }

    pub(super) fn reference(&self, slot: u32) -> Ref {
        Ref { slot, generation: self.slots[slot as usize].generation }
    }

    /// The further prototypes of the group of `head`, the oldest first.
    pub(super) fn further(&self, head: Ref) -> Vec<Ref> {
        let slots = self.get(head).map(|prototype| prototype.further).into_iter().flatten();
        slots.filter(|&slot| slot != NONE).map(|slot| self.reference(slot)).collect()
    }

    /// A new head.
    pub(super) fn insert(&mut self, newcomer: &Newcomer<'_>) -> Ref {
        self.keep_to_share(newcomer.owner, newcomer.needed(), NONE, newcomer.position);
        let slot = self.put(newcomer);
        let prototype = &mut self.slots[slot as usize];
        prototype.head = slot;
        prototype.owner = newcomer.owner;
        self.link(slot);
        self.reference(slot)
    }

    /// A further prototype of the group of `head`, if there is room for one. Making room may cost older groups, never
    /// this one: it has just been touched.
    pub(super) fn insert_further(&mut self, head: Ref, newcomer: &Newcomer<'_>) -> Option<Ref> {
        let place = self.get(head)?.further.iter().position(|&slot| slot == NONE)?;
        let owner = self.slots[head.slot as usize].owner;
        self.keep_to_share(owner, newcomer.needed(), head.slot, newcomer.position);
        if self.order.n < 2 && !self.has_room(newcomer) {
            return None;
        }
        let slot = self.put(newcomer);
        if !self.lives(head) {
            // Room was made at the cost of the group itself: a store of one group.
            self.free_slot(slot);
            return None;
        }
        self.slots[slot as usize].head = head.slot;
        self.slots[head.slot as usize].further[place] = slot;
        self.owners.charge(owner, self.held_by(slot));
        Some(self.reference(slot))
    }

    /// Counts a member of the group of `head`.
    pub(super) fn join(&mut self, head: Ref, domain: u64, now_ms: i64, is_new: bool) {
        let prototype = &mut self.slots[head.slot as usize];
        prototype.seen_ms = now_ms;
        if is_new {
            (prototype.size, prototype.domains) = prototype.with_member(domain);
        }
        remove(&mut self.slots, &mut self.order, head.slot, |prototype| &mut prototype.order);
        push(&mut self.slots, &mut self.order, head.slot, |prototype| &mut prototype.order);
        self.owners.touch(&mut self.slots, head.slot);
    }

    /// Notes a member that is longer than all before it, if there is room for its id.
    pub(super) fn note_longest(&mut self, head: Ref, n_words: u32, id: &str) {
        let prototype = &mut self.slots[head.slot as usize];
        if !prototype.is_outgrown(n_words) || Cells::cells_for(id.len()) > self.cells.n_free() {
            return;
        }
        let owner = prototype.owner;
        prototype.longest_words = n_words;
        if let Some(old) = prototype.longest.take() {
            self.owners.credit(owner, self.cells_of(old));
            self.cells.free(old);
        }
        let longest = self.cells.write(id.as_bytes());
        self.slots[head.slot as usize].longest = Some(longest);
        self.owners.charge(owner, self.cells_of(longest));
    }

    /// Whose page has changed gives way: a head with its group, a further prototype alone.
    pub(super) fn replace(&mut self, of: Ref, position: u64) {
        let Some(head) = self.get(of).map(|prototype| prototype.head) else { return };
        self.departures.n_replaced += 1;
        if head == of.slot {
            return self.kill_group(of.slot, position);
        }
        let head = head as usize;
        if let Some(place) = self.slots[head].further.iter().position(|&slot| slot == of.slot) {
            self.slots[head].further[place..].rotate_left(1);
            self.slots[head].further[FURTHER_MAX - 1] = NONE;
        }
        self.owners.credit(self.slots[head].owner, self.held_by(of.slot));
        self.bury(of.slot, position);
    }

    /// Groups without a member since `before_ms` give way.
    pub(super) fn expire(&mut self, before_ms: i64, position: u64) {
        while self.order.oldest != NONE && self.slots[self.order.oldest as usize].seen_ms < before_ms {
            self.departures.n_expired += 1;
            self.kill_group(self.order.oldest, position);
        }
    }

    /// Who died in the batch is forgotten. The references of all of them, for those who keep something by them.
    pub(super) fn end_batch(&mut self) {
        for (of, _) in self.buried.drain() {
            self.living.end_mourning(of.slot);
        }
    }

    /// Who died in this batch, with the position of the document that it gave way to, in order.
    pub(super) fn deaths(&self) -> Vec<(u64, Ref)> {
        let mut deaths: Vec<_> = self.buried.iter().map(|(of, buried)| (buried.position, *of)).collect();
        deaths.sort_unstable();
        deaths
    }

    /// All live records of the id with this key.
    pub(super) fn live_of(&self, id_key: u64) -> impl Iterator<Item = Ref> {
        self.live().filter(move |of| self.get(*of).is_some_and(|prototype| prototype.id_key == id_key))
    }

    /// All that live.
    pub(super) fn live(&self) -> impl Iterator<Item = Ref> {
        let live = self.slots.iter().zip(0_u32..).filter(|(prototype, _)| prototype.is_live);
        live.map(|(prototype, slot)| Ref { slot, generation: prototype.generation })
    }

    /// How many live, prototypes and heads.
    pub(super) fn n(&self) -> (usize, usize) {
        (self.slots.len() - self.free.len(), self.order.n as usize)
    }

    /// Slots that were ever used.
    pub(super) fn n_slots(&self) -> usize {
        self.slots.len()
    }

    /// Bytes of what all of them are compared by.
    pub(super) fn proof_bytes(&self) -> usize {
        self.slots.iter().filter(|prototype| prototype.is_live).map(|prototype| prototype.n_proof as usize).sum()
    }

    /// The position of the oldest head by its last member.
    pub(super) fn oldest(&self) -> Option<u64> {
        self.slots.get(self.order.oldest as usize).map(|prototype| prototype.born)
    }

    pub(super) fn departures(&self) -> Departures {
        self.departures
    }

    /// The oldest groups of `owner` give way, but for that of the slot `spared`, until it has its share with `more`.
    fn keep_to_share(&mut self, owner: u64, more: Room, spared: u32, position: u64) {
        while let Some((held, oldest)) = self.owners.holding(owner)
            && oldest != spared
            && self.owners.is_beyond_share(held + more)
        {
            self.departures.n_over_share += 1;
            self.kill_group(oldest, position);
        }
    }

    /// What a group holds.
    fn held_by_group(&self, head: u32) -> Room {
        let further = self.slots[head as usize].further.into_iter().filter(|&slot| slot != NONE);
        further.chain([head]).map(|slot| self.held_by(slot)).sum()
    }

    /// What one record holds.
    fn held_by(&self, slot: u32) -> Room {
        let prototype = &self.slots[slot as usize];
        let cells = [prototype.blob, prototype.longest].into_iter().flatten().map(|handle| self.cells_of(handle));
        Room { n_slots: 1, n_cells: 0 } + cells.sum()
    }

    fn cells_of(&self, handle: Handle) -> Room {
        Room { n_slots: 0, n_cells: Cells::cells_for(self.cells.len(handle)) as i64 }
    }

    fn has_room(&self, newcomer: &Newcomer<'_>) -> bool {
        (!self.free.is_empty() || self.slots.len() < self.n_slots_max) && self.cells.n_free() >= newcomer.blob.n_cells()
    }

    /// Fills a slot, after making room; in no list yet.
    fn put(&mut self, newcomer: &Newcomer<'_>) -> u32 {
        let Blob { bytes, n_proof } = newcomer.blob;
        let n_cells = newcomer.blob.n_cells();
        assert!(n_cells <= self.cells.n_cells(), "a record of {} bytes in {} cells", bytes.len(), self.cells.n_cells());
        while self.cells.n_free() < n_cells || self.free.is_empty() && self.slots.len() >= self.n_slots_max {
            assert!(self.order.oldest != NONE, "no group is left to give way");
            self.departures.n_evicted += 1;
            self.kill_group(self.order.oldest, newcomer.position);
            self.prefetch_next_to_go();
        }
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Prototype::empty());
            (self.slots.len() - 1) as u32
        });
        let mut domains = Spread::default();
        if newcomer.server.domain != 0 {
            domains.add(newcomer.server.domain);
        }
        let generation = next(self.slots[slot as usize].generation);
        self.slots[slot as usize] = Prototype {
            generation,
            is_live: true,
            born: newcomer.position,
            id_key: newcomer.id_key,
            server: newcomer.server,
            size: 1,
            domains,
            sentence_chars: newcomer.sentence_chars,
            seen_ms: newcomer.now_ms,
            blob: Some(self.cells.write(bytes)),
            n_proof: *n_proof,
            longest_words: newcomer.n_words,
            ..Prototype::empty()
        };
        self.living.begin(Ref { slot, generation });
        let (beginning, n_text_bytes) = newcomer.excerpt;
        self.excerpts.put(slot, newcomer.kind, beginning, n_text_bytes);
        slot
    }

    /// Asks for what is read when the group that has now gone longest without a member gives way: its first cell, the beginning of its
    /// text, and the record of the one behind it. Its own record was touched when the one before it left the order.
    fn prefetch_next_to_go(&self) {
        let Some(next) = self.slots.get(self.order.oldest as usize) else { return };
        if let Some(blob) = next.blob {
            self.cells.prefetch(blob);
        }
        self.excerpts.prefetch(self.order.oldest);
        if let Some(later) = self.slots.get(next.order.newer as usize) {
            prefetch(later);
            prefetch(&later.order);
        }
    }

    fn kill_group(&mut self, head: u32, position: u64) {
        self.unlink(head);
        for slot in self.slots[head as usize].further.into_iter().filter(|&slot| slot != NONE) {
            self.bury(slot, position);
        }
        self.bury(head, position);
    }

    fn bury(&mut self, slot: u32, position: u64) {
        let of = self.reference(slot);
        let prototype = self.slots[slot as usize].clone();
        let mut blob = Vec::new();
        if let Some(handle) = prototype.blob {
            self.cells.read(handle, &mut blob);
        }
        self.buried.insert(of, Buried { position, prototype, blob });
        self.living.mourn(slot);
        self.free_slot(slot);
    }

    fn free_slot(&mut self, slot: u32) {
        let prototype = &mut self.slots[slot as usize];
        prototype.is_live = false;
        self.living.end(slot);
        for handle in [prototype.blob.take(), prototype.longest.take()].into_iter().flatten() {
            self.cells.free(handle);
        }
        self.excerpts.clear(slot);
        self.free.push(slot);
    }

    fn link(&mut self, head: u32) {
        push(&mut self.slots, &mut self.order, head, |prototype| &mut prototype.order);
        let held = self.held_by_group(head);
        self.owners.link(&mut self.slots, head, held);
    }

    fn unlink(&mut self, head: u32) {
        let held = self.held_by_group(head);
        remove(&mut self.slots, &mut self.order, head, |prototype| &mut prototype.order);
        self.owners.unlink(&mut self.slots, head, held);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Kind;
    use crate::store::card::Card;
    use crate::store::excerpts::Excerpt;
    use crate::store::proof::Proof;
    use crate::store::snapshot::tests::copied;
    use crate::store::tests::arrival;

    pub(super) struct Made {
        blob: Blob,
        owner: u64,
    }

    pub(super) fn made(number: u64, owner: u64, n_terms: u64) -> Made {
        let arrival = arrival(&format!("document {number}"), Kind::Email, 100 * number..100 * number + n_terms);
        let proof = Proof::of(&arrival.signatures, false, 512).unwrap();
        Made { blob: Blob::of(&proof, &Card::of(&arrival, 512, 0)), owner }
    }

    pub(super) fn newcomer(made: &Made, position: u64) -> Newcomer<'_> {
        Newcomer {
            position,
            now_ms: position as i64,
            id_key: position,
            server: Server { domain: made.owner, ip: 0 },
            owner: made.owner,
            sentence_chars: 0,
            n_words: 40,
            kind: Kind::Email,
            blob: &made.blob,
            excerpt: ("a text of its own", 17),
        }
    }

    fn insert(prototypes: &mut Prototypes, position: u64, owner: u64) -> Ref {
        prototypes.insert(&newcomer(&made(position, owner, 40), position))
    }

    /// What all owners hold, counted anew.
    pub(super) fn owners_hold_what_their_groups_hold(prototypes: &Prototypes) -> bool {
        let mut held: HashMap<u64, Room> = HashMap::new();
        for of in prototypes.live() {
            let head = prototypes.slots[of.slot as usize].head;
            *held.entry(prototypes.slots[head as usize].owner).or_default() += prototypes.held_by(of.slot);
        }
        held.remove(&0);
        let is_held = |(owner, room): (&u64, &Room)| prototypes.owners.holding(*owner).map(|one| one.0) == Some(*room);
        held.len() == prototypes.owners.n() && held.iter().all(is_held)
    }

    #[test]
    fn a_group_dies_with_its_head() {
        let mut prototypes = Prototypes::new(4, 100, 1.0);
        let head = insert(&mut prototypes, 1, 1);
        prototypes.join(head, 2, 2, true);
        let further = prototypes.insert_further(head, &newcomer(&made(2, 2, 40), 2)).unwrap();
        assert_eq!((prototypes.head_of(further), prototypes.get(head).unwrap().size), (Some(head), 2));
        prototypes.replace(head, 3);
        assert!(!prototypes.lives(head) && !prototypes.lives(further));
        assert!(prototypes.lives_at(further, 2) && !prototypes.lives_at(further, 3));
        assert_eq!(prototypes.card(further).unwrap().id, "document 2", "until the batch ends");
        prototypes.end_batch();
        assert!(prototypes.card(further).is_none() && prototypes.n() == (0, 0));
    }

    #[test]
    fn a_replaced_prototype_leaves_its_group() {
        let mut prototypes = Prototypes::new(9, 100, 1.0);
        let head = insert(&mut prototypes, 1, 1);
        let further: Vec<Ref> =
            (2..5).map(|n| prototypes.insert_further(head, &newcomer(&made(n, n, 40), n)).unwrap()).collect();
        assert_eq!(prototypes.insert_further(head, &newcomer(&made(5, 5, 40), 5)), None, "four are enough");
        prototypes.replace(further[0], 6);
        assert_eq!(prototypes.get(head).unwrap().n_further(), 2);
        assert!(
            prototypes.lives(further[1]) && prototypes.insert_further(head, &newcomer(&made(7, 7, 40), 7)).is_some()
        );
    }

    #[test]
    fn a_flood_pushes_out_its_own() {
        let mut prototypes = Prototypes::new(10, 1000, 0.3);
        let others: Vec<Ref> = (1..=5).map(|n| insert(&mut prototypes, n, 100 + n)).collect();
        let flood: Vec<Ref> = (10..60).map(|n| insert(&mut prototypes, n, 7)).collect();
        assert!(others.iter().all(|of| prototypes.lives(*of)));
        assert_eq!(flood.iter().filter(|of| prototypes.lives(**of)).count(), 3);
        let departures = prototypes.departures();
        assert_eq!((departures.n_over_share, departures.n_evicted), (47, 0));
    }

    #[test]
    fn long_documents_and_variants_are_of_the_share() {
        let mut prototypes = Prototypes::new(100, 400, 0.2);
        let others: Vec<Ref> = (1..=20).map(|n| insert(&mut prototypes, n, 100 + n)).collect();
        let long: Vec<Ref> = (30..60).map(|n| prototypes.insert(&newcomer(&made(n, 7, 400), n))).collect();
        assert!(others.iter().all(|of| prototypes.lives(*of)));
        let (held, _) = prototypes.owners.holding(7).unwrap();
        assert!(held.n_slots < 20 && (60..=80).contains(&held.n_cells), "{held:?}");
        assert!(prototypes.lives(long[29]) && prototypes.departures().n_evicted == 0);

        let mut prototypes = Prototypes::new(10, 1000, 0.3);
        let heads = [1, 2].map(|n| insert(&mut prototypes, n, 7));
        let variant = |prototypes: &mut Prototypes, n| {
            prototypes.join(heads[1], 7, n as i64, true);
            prototypes.insert_further(heads[1], &newcomer(&made(n, 7, 40), n)).is_some()
        };
        assert!(variant(&mut prototypes, 3) && prototypes.lives(heads[0]));
        assert!(variant(&mut prototypes, 4) && !prototypes.lives(heads[0]));
        // A group is not put out by its own.
        assert!(variant(&mut prototypes, 5) && prototypes.lives(heads[1]));
        insert(&mut prototypes, 6, 7);
        assert!(!prototypes.lives(heads[1]) && prototypes.departures().n_over_share == 2);
    }

    #[test]
    fn the_longest_without_a_member_gives_way() {
        let mut prototypes = Prototypes::new(3, 100, 1.0);
        let heads: Vec<Ref> = (1..=3).map(|n| insert(&mut prototypes, n, n)).collect();
        prototypes.join(heads[0], 0, 4, true);
        insert(&mut prototypes, 5, 5);
        assert_eq!(heads.iter().map(|of| prototypes.lives(*of)).collect::<Vec<_>>(), [true, false, true]);
        prototypes.expire(4, 6);
        assert_eq!(heads.iter().map(|of| prototypes.lives(*of)).collect::<Vec<_>>(), [true, false, false]);
        assert_eq!((prototypes.departures().n_evicted, prototypes.departures().n_expired), (1, 1));
    }

    #[test]
    fn room_is_made_for_the_bytes_too() {
        // A record of 40 terms needs two cells.
        let mut prototypes = Prototypes::new(100, 7, 1.0);
        for number in 1..50 {
            let of = insert(&mut prototypes, number, number);
            assert_eq!(prototypes.card(of).unwrap().id, format!("document {number}"));
        }
        assert_eq!(prototypes.n().0, 3);
    }

    #[test]
    fn what_goes_leaves_no_byte() {
        let mut settings = crate::config::Settings::default();
        settings.texts.excerpt_bytes = 10;
        let mut prototypes = Prototypes::new(4, 100, 1.0).keeping(ExcerptRule::of(&settings));
        let first = insert(&mut prototypes, 1, 1);
        let further = prototypes.insert_further(first, &newcomer(&made(2, 2, 40), 2)).unwrap();
        let other = insert(&mut prototypes, 3, 3);
        for of in [first, further, other] {
            let kept = Excerpt { kind: Kind::Email, text: "a text of ".into(), n_bytes: 17 };
            assert_eq!(prototypes.excerpt(of), Some(kept));
        }
        let times = |prototypes: &mut Prototypes, what: &str| {
            let blocks = prototypes.tables().into_iter().flat_map(crate::store::snapshot::tests::written);
            let bytes: Vec<u8> = blocks.flat_map(|(_, bytes)| bytes).collect();
            bytes.windows(what.len()).filter(|window| *window == what.as_bytes()).count()
        };
        assert_eq!(
            (times(&mut prototypes, "a text"), times(&mut prototypes, "document 1")),
            (3, 2),
            "in its id and its domain"
        );
        prototypes.replace(first, 4);
        assert_eq!((prototypes.excerpt(first), prototypes.excerpt(further)), (None, None));
        assert_eq!((times(&mut prototypes, "a text"), times(&mut prototypes, "document 1")), (1, 0));
        assert_eq!((times(&mut prototypes, "document 2"), times(&mut prototypes, "document 3")), (0, 2));
    }

    #[test]
    fn saved_and_loaded_they_are_the_same() {
        let mut settings = crate::config::Settings::default();
        settings.texts.excerpt_bytes = 10;
        let mut prototypes = Prototypes::new(5, 40, 0.5).keeping(ExcerptRule::of(&settings));
        for number in 1..20 {
            let head = insert(&mut prototypes, number, number % 3 + 1);
            prototypes.insert_further(head, &newcomer(&made(100 + number, 9, 40), number));
        }
        let bytes = prototypes.save().unwrap();
        let mut again = Prototypes::new(5, 40, 0.5).keeping(ExcerptRule::of(&settings));
        let cells = again.load(&bytes).unwrap();
        assert!(again.resume(cells).is_err(), "rows are missing");
        for (from, to) in prototypes.tables().into_iter().zip(again.tables()) {
            copied(from, to).unwrap();
        }
        again.resume(cells).unwrap();
        assert!(owners_hold_what_their_groups_hold(&again));
        assert_eq!(again.save().unwrap(), bytes);
        assert!(*again.slots == *prototypes.slots && again.cells == prototypes.cells);
        let excerpts = |prototypes: &Prototypes| (0..5).map(|slot| prototypes.excerpts.get(slot)).collect::<Vec<_>>();
        assert_eq!(excerpts(&again), excerpts(&prototypes));
        assert!(Prototypes::new(2, 40, 0.5).load(&bytes).is_err(), "there is no room for them");
    }
}
