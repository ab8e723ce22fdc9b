//! The stored documents: heads of groups and their further prototypes, in fixed memory.
//!
//! A slot has a fixed part; what varies in length (proof, names, places) lies in cells. Heads are in one order by their
//! last member: when slots or cells run out, the group that has gone longest without one gives way, whole. Beside it
//! every owner (a registered domain or address) has its own order, and whoever holds more than a share of the slots
//! loses the oldest of its own.
//!
//! Settle runs ahead of judge by up to a batch: who died in it stays readable ([`Prototypes::card`]), and it is known at which
//! position it died ([`Prototypes::lives_at`]), until [`Prototypes::end_batch`].
//!
//! # Invariants
//! - A group dies whole, with its head. (`a_group_dies_with_its_head`)
//! - Nobody holds more than a share, and nobody else pays for it. (`a_flood_pushes_out_its_own`)
//! - The order of giving way is that of the last member. (`the_longest_without_a_member_gives_way`)
//! - What goes takes the beginning of its text with it, and leaves no byte of its names. (`what_goes_leaves_no_byte`)

mod doomed;
mod prototype;
mod saving;

pub(super) use doomed::Doomed;
pub use prototype::Server;
pub(super) use prototype::{Blob, FURTHER_MAX, Newcomer, Prototype, SLOT_BYTES};

use super::card::{Card, Glance};
use super::cells::{Cells, Handle};
use super::excerpts::{Excerpt, ExcerptRule, Excerpts};
use super::living::Living;
use super::order::{Ends, push, remove};
use super::prefetch::prefetch;
use super::proof::Proof;
use super::reference::{NONE, Ref, next};
use super::rows::Rows;
use super::spread::Spread;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// The names of most cards end before this. Those of others are read a second time, with all that is behind them.
const NAMES_BYTES: usize = 192;

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
    per_owner_max: u32,
    cells: Cells,
    excerpts: Excerpts,
    excerpt_rule: ExcerptRule,
    order: Ends,
    owners: HashMap<u64, Ends>,
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
            per_owner_max: per_owner_max(n_slots, share_max),
            cells: Cells::new(n_cells),
            excerpts: Excerpts::new(n_slots, ExcerptRule::NONE),
            excerpt_rule: ExcerptRule::NONE,
            order: Ends::default(),
            owners: HashMap::new(),
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

    /// What it is compared by.
    pub(super) fn proof(&self, of: Ref, scratch: &mut Vec<u8>) -> Option<Proof> {
        let prototype = self.get(of)?;
        self.cells.read_part(prototype.blob?, 0, prototype.n_proof as usize, scratch);
        Proof::read(scratch)
    }

    /// Asks for the first cell of `of`.
    pub(super) fn prefetch(&self, of: Ref) {
        if let Some(blob) = self.get(of).and_then(|prototype| prototype.blob) {
            self.cells.prefetch(blob);
        }
    }

    /// Asks for the fixed part of `of`.
    pub(super) fn prefetch_slot(&self, of: Ref) {
        if let Some(slot) = self.slots.get(of.slot as usize) {
            prefetch(slot);
        }
    }

    /// What it says of itself, dead in this batch or alive.
    pub(super) fn card(&self, of: Ref) -> Option<Card> {
        let mut bytes = Vec::new();
        self.read_card(of, usize::MAX, &mut bytes)?;
        Card::read(&bytes)
    }

    /// The same without the places of its grams, which are most of it and lie in further cells.
    pub(super) fn names(&self, of: Ref) -> Option<Card> {
        let mut bytes = Vec::new();
        self.read_card(of, NAMES_BYTES, &mut bytes)?;
        if let Some(names) = Card::read_names(&bytes) {
            return Some(names);
        }
        self.read_card(of, usize::MAX, &mut bytes)?;
        Card::read_names(&bytes)
    }

    /// The little of [`Prototypes::card`] that is asked of many. `scratch` is reused.
    pub(super) fn glance<'a>(&self, of: Ref, scratch: &'a mut Vec<u8>) -> Option<Glance<'a>> {
        self.read_card(of, NAMES_BYTES, scratch)?;
        if Glance::read(scratch).is_none() {
            self.read_card(of, usize::MAX, scratch)?;
        }
        Glance::read(scratch)
    }

    /// Reads the first `n` bytes of a card.
    fn read_card(&self, of: Ref, n: usize, bytes: &mut Vec<u8>) -> Option<()> {
        match self.get(of) {
            Some(prototype) => {
                self.cells.read_part(prototype.blob?, prototype.n_proof as usize, n, bytes);
            }
            None => {
                let buried = self.buried.get(&of)?;
                bytes.clear();
                let card = buried.blob.get(buried.prototype.n_proof as usize..)?;
                bytes.extend(&card[..card.len().min(n)]);
            }
        }
        Some(())
    }

    /// The beginning of its text, if it lives and that is kept.
    pub(super) fn excerpt(&self, of: Ref) -> Option<Excerpt> {
        self.get(of).and_then(|_| self.excerpts.get(of.slot))
    }

    /// The further prototypes of the group of `head`, the oldest first.
    pub(super) fn further(&self, head: Ref) -> Vec<Ref> {
        let slots = self.get(head).map(|prototype| prototype.further).into_iter().flatten();
        slots.filter(|&slot| slot != NONE).map(|slot| self.reference(slot)).collect()
    }

    /// Bytes of what it is compared by, and of what it says of itself.
    pub(super) fn n_bytes(&self, of: Ref) -> Option<(usize, usize)> {
        let (prototype, mut card) = (self.get(of)?, Vec::new());
        self.read_card(of, usize::MAX, &mut card)?;
        Some((prototype.n_proof as usize, card.len()))
    }

    /// The id of the longest member, where that is not the head.
    pub(super) fn longest(&self, head: Ref) -> Option<String> {
        let mut bytes = Vec::new();
        self.cells.read(self.get(head)?.longest?, &mut bytes);
        String::from_utf8(bytes).ok()
    }

    /// A new head.
    pub(super) fn insert(&mut self, newcomer: &Newcomer<'_>) -> Ref {
        while self.owners.get(&newcomer.owner).is_some_and(|own| newcomer.owner != 0 && own.n >= self.per_owner_max) {
            let oldest = self.owners[&newcomer.owner].oldest;
            self.departures.n_over_share += 1;
            self.kill_group(oldest, newcomer.position);
        }
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
        Some(self.reference(slot))
    }

    /// Counts a member of the group of `head`.
    pub(super) fn join(&mut self, head: Ref, domain: u64, now_ms: i64, is_new: bool) {
        let prototype = &mut self.slots[head.slot as usize];
        prototype.seen_ms = now_ms;
        if is_new {
            (prototype.size, prototype.domains) = prototype.with_member(domain);
        }
        self.unlink(head.slot);
        self.link(head.slot);
    }

    /// Notes a member that is longer than all before it, if there is room for its id.
    pub(super) fn note_longest(&mut self, head: Ref, n_words: u32, id: &str) {
        let prototype = &mut self.slots[head.slot as usize];
        if !prototype.is_outgrown(n_words) || Cells::cells_for(id.len()) > self.cells.n_free() {
            return;
        }
        prototype.longest_words = n_words;
        if let Some(old) = prototype.longest.take() {
            self.cells.free(old);
        }
        prototype.longest = Some(self.cells.write(id.as_bytes()));
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

    fn link(&mut self, slot: u32) {
        push(&mut self.slots, &mut self.order, slot, |prototype| &mut prototype.order);
        let owner = self.slots[slot as usize].owner;
        if owner != 0 {
            let ends = self.owners.entry(owner).or_default();
            push(&mut self.slots, ends, slot, |prototype| &mut prototype.owner_order);
        }
    }

    fn unlink(&mut self, slot: u32) {
        remove(&mut self.slots, &mut self.order, slot, |prototype| &mut prototype.order);
        let owner = self.slots[slot as usize].owner;
        if owner == 0 {
            return;
        }
        if let Some(ends) = self.owners.get_mut(&owner) {
            remove(&mut self.slots, ends, slot, |prototype| &mut prototype.owner_order);
            if ends.n == 0 {
                self.owners.remove(&owner);
            }
        }
    }
}

/// How many slots an owner may have.
fn per_owner_max(n_slots: usize, share_max: f64) -> u32 {
    ((n_slots as f64 * share_max) as u32).max(1)
}

/// Bytes of an owner in the map, for the plan: key, ends, control byte, and room to grow.
pub(super) const OWNER_BYTES: usize = 2 * (8 + std::mem::size_of::<Ends>() + 1);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Kind;
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
        assert_eq!(again.save().unwrap(), bytes);
        assert!(*again.slots == *prototypes.slots && again.cells == prototypes.cells);
        let excerpts = |prototypes: &Prototypes| (0..5).map(|slot| prototypes.excerpts.get(slot)).collect::<Vec<_>>();
        assert_eq!(excerpts(&again), excerpts(&prototypes));
        assert!(Prototypes::new(2, 40, 0.5).load(&bytes).is_err(), "there is no room for them");
    }
}
