//! What the cells of a prototype say: what it is compared by, what it says of itself, and the beginning of its text.

use super::Prototypes;
use crate::store::card::{Card, Glance};
use crate::store::excerpts::Excerpt;
use crate::store::prefetch::prefetch;
use crate::store::proof::Proof;
use crate::store::reference::Ref;

/// The names of most cards end before this. Those of others are read a second time, with all that is behind them.
const NAMES_BYTES: usize = 192;

impl Prototypes {
    /// What it is compared by.
    pub(in crate::store) fn proof(&self, of: Ref, scratch: &mut Vec<u8>) -> Option<Proof> {
        let prototype = self.get(of)?;
        self.cells.read_part(prototype.blob?, 0, prototype.n_proof as usize, scratch);
        Proof::read(scratch)
    }

    /// Asks for the first cell of `of`.
    pub(in crate::store) fn prefetch(&self, of: Ref) {
        if let Some(blob) = self.get(of).and_then(|prototype| prototype.blob) {
            self.cells.prefetch(blob);
        }
    }

    /// Asks for the fixed part of `of`.
    pub(in crate::store) fn prefetch_slot(&self, of: Ref) {
        if let Some(slot) = self.slots.get(of.slot as usize) {
            prefetch(slot);
        }
    }

    /// What it says of itself, dead in this batch or alive.
    pub(in crate::store) fn card(&self, of: Ref) -> Option<Card> {
        let mut bytes = Vec::new();
        self.read_card(of, usize::MAX, &mut bytes)?;
        Card::read(&bytes)
    }

    /// The same without the places of its grams, which are most of it and lie in further cells.
    pub(in crate::store) fn names(&self, of: Ref) -> Option<Card> {
        let mut bytes = Vec::new();
        self.read_card(of, NAMES_BYTES, &mut bytes)?;
        if let Some(names) = Card::read_names(&bytes) {
            return Some(names);
        }
        self.read_card(of, usize::MAX, &mut bytes)?;
        Card::read_names(&bytes)
    }

    /// The little of [`Prototypes::card`] that is asked of many. `scratch` is reused.
    pub(in crate::store) fn glance<'a>(&self, of: Ref, scratch: &'a mut Vec<u8>) -> Option<Glance<'a>> {
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
    pub(in crate::store) fn excerpt(&self, of: Ref) -> Option<Excerpt> {
        self.get(of).and_then(|_| self.excerpts.get(of.slot))
    }

    /// Bytes of what it is compared by, and of what it says of itself.
    pub(in crate::store) fn n_bytes(&self, of: Ref) -> Option<(usize, usize)> {
        let (prototype, mut card) = (self.get(of)?, Vec::new());
        self.read_card(of, usize::MAX, &mut card)?;
        Some((prototype.n_proof as usize, card.len()))
    }

    /// The id of the longest member, where that is not the head.
    pub(in crate::store) fn longest(&self, head: Ref) -> Option<String> {
        let mut bytes = Vec::new();
        self.cells.read(self.get(head)?.longest?, &mut bytes);
        String::from_utf8(bytes).ok()
    }
}
