//! A stored document: its fixed part, whose it is, and what it is made from.

use super::super::card::Card;
use super::super::cells::{Cells, Handle};
use super::super::living::LIVING_BYTES;
use super::super::order::Link;
use super::super::proof::Proof;
use super::super::reference::NONE;
use super::super::spread::Spread;
use super::owners::Room;
use crate::document::Kind;
use serde::{Deserialize, Serialize};

/// Further prototypes of a group.
pub(in crate::store) const FURTHER_MAX: usize = 3;

/// Who a document belongs to: hashes of its registered domain and address, 0 where unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Server {
    /// Of the registered domain.
    pub domain: u64,
    /// Of the address.
    pub ip: u64,
}

impl Server {
    /// Whether the two are one: by domain or by address. A document without either is its own server.
    pub fn is(self, other: Self) -> bool {
        self.domain != 0 && self.domain == other.domain || self.ip != 0 && self.ip == other.ip
    }
}

/// The fixed part of a stored document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::store) struct Prototype {
    pub(super) generation: u16,
    pub(super) is_live: bool,
    /// The position of the document that it is.
    pub(in crate::store) born: u64,
    /// The key of its id.
    pub(in crate::store) id_key: u64,
    pub(in crate::store) server: Server,
    /// The slot of its group's head, which may be its own.
    pub(in crate::store) head: u32,
    pub(super) further: [u32; FURTHER_MAX],
    /// Documents of the group so far.
    pub(in crate::store) size: u32,
    /// Registered domains of the group so far.
    pub(in crate::store) domains: Spread<32>,
    /// The length of its long content sentences.
    pub(in crate::store) sentence_chars: u32,
    /// The clock at the last member.
    pub(super) seen_ms: i64,
    pub(super) owner: u64,
    pub(super) order: Link,
    pub(super) owner_order: Link,
    pub(super) blob: Option<Handle>,
    pub(super) n_proof: u32,
    /// The longest member, where the preferred copy is that one.
    pub(in crate::store) longest_words: u32,
    pub(super) longest: Option<Handle>,
}

impl Default for Prototype {
    fn default() -> Self {
        Self::empty()
    }
}

impl Prototype {
    pub(super) fn empty() -> Self {
        Self {
            generation: 0,
            is_live: false,
            born: 0,
            id_key: 0,
            server: Server::default(),
            head: NONE,
            further: [NONE; FURTHER_MAX],
            size: 0,
            domains: Spread::default(),
            sentence_chars: 0,
            seen_ms: 0,
            owner: 0,
            order: Link::default(),
            owner_order: Link::default(),
            blob: None,
            n_proof: 0,
            longest_words: 0,
            longest: None,
        }
    }

    /// Documents and registered domains of its group: no more domains than documents, exact up to ten.
    pub(in crate::store) fn group(&self) -> (u32, u32) {
        (self.size, self.domains.count(self.size))
    }

    /// The size and the domains of its group with one more member.
    pub(super) fn with_member(&self, domain: u64) -> (u32, Spread<32>) {
        let mut domains = self.domains;
        if domain != 0 {
            domains.add(domain);
        }
        (self.size.saturating_add(1), domains)
    }

    /// Whether a member of so many words is longer than all before it.
    pub(super) fn is_outgrown(&self, n_words: u32) -> bool {
        n_words > self.longest_words
    }

    /// Whether the group can take a further prototype.
    pub(in crate::store) fn n_further(&self) -> usize {
        self.further.iter().filter(|&&slot| slot != NONE).count()
    }
}

/// What a new record is made from.
pub(in crate::store) struct Newcomer<'a> {
    pub(in crate::store) position: u64,
    pub(in crate::store) now_ms: i64,
    pub(in crate::store) id_key: u64,
    pub(in crate::store) server: Server,
    pub(in crate::store) owner: u64,
    pub(in crate::store) sentence_chars: u32,
    pub(in crate::store) n_words: u32,
    pub(in crate::store) kind: Kind,
    pub(in crate::store) blob: &'a Blob,
    /// The beginning of its text, and the bytes of all of it.
    pub(in crate::store) excerpt: (&'a str, u32),
}

impl Newcomer<'_> {
    /// The room that it takes.
    pub(super) fn needed(&self) -> Room {
        Room { n_slots: 1, n_cells: self.blob.n_cells() as i64 }
    }
}

/// What is kept of a document in cells: what it is compared by, and behind it what it says of itself.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::store) struct Blob {
    pub(super) bytes: Vec<u8>,
    pub(super) n_proof: u32,
}

impl Blob {
    pub(in crate::store) fn of(proof: &Proof, card: &Card) -> Self {
        let mut bytes = Vec::with_capacity(proof.n_bytes() + card.n_bytes());
        proof.write(&mut bytes);
        let n_proof = bytes.len() as u32;
        card.write(&mut bytes);
        Self { bytes, n_proof }
    }

    /// Cells that it takes.
    pub(super) fn n_cells(&self) -> usize {
        Cells::cells_for(self.bytes.len())
    }
}

/// Bytes of the fixed part, of its place among the free ones, and of whether it lives, for the plan.
pub(in crate::store) const SLOT_BYTES: usize = size_of::<Prototype>() + 4 + LIVING_BYTES;
