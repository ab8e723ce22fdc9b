//! A table while a snapshot of it is written: how far it is written, and what was changed before its turn.
//!
//! The snapshot holds the state of one moment, and the stream goes on meanwhile. A table is written from front to back, a
//! slice between two batches. Whoever changes a unit (a line or a row) that is not written yet first puts its old value on the
//! log; one bit each tells that it is there. So no second copy is held: what waits is at most a buffer for each table.
//!
//! # Invariants
//! - Every unit is written once, as it was when the watch began, whatever changes in between.
//!   (`what_changes_meanwhile_does_not_show` in `region.rs` and `rows.rs`, `tests/promises/snapshots.rs`)
//! - No more than [`EARLY_BYTES`] and a unit wait in memory. (`old_values_do_not_pile_up`)

use super::snapshot::{Block, Log};
use std::sync::Arc;

/// Old values that wait in memory, for each table.
const EARLY_BYTES: usize = 64 << 10;

/// How far a table is written.
pub(crate) struct Watch {
    log: Arc<Log>,
    table: u16,
    /// Units when it began.
    n: usize,
    /// Units before this one are written.
    next: usize,
    /// Of the others, which are on the log.
    kept: Vec<u64>,
    early: Vec<u8>,
}

impl Watch {
    /// Of a table of `n` units, the number `table` of its store.
    pub(super) fn new(log: &Arc<Log>, table: u16, n: usize) -> Box<Self> {
        Box::new(Self { log: log.clone(), table, n, next: 0, kept: vec![0; n.div_ceil(64)], early: Vec::new() })
    }

    /// Whether the unit is still to be written as it is now. It is taken as kept from here on.
    #[inline]
    pub(super) fn takes(&mut self, unit: usize) -> bool {
        if unit < self.next || unit >= self.n {
            return false;
        }
        let (word, bit) = (&mut self.kept[unit / 64], 1 << (unit % 64));
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    /// Keeps an old value: `put` appends it in the form of the table.
    pub(super) fn keep(&mut self, put: impl FnOnce(&mut Vec<u8>)) {
        put(&mut self.early);
        if self.early.len() >= EARLY_BYTES {
            self.flush();
        }
    }

    /// The units from `next` on, at most `n_max`, and which of them are not on the log yet.
    pub(super) fn turn(&self, n_max: usize) -> (std::ops::Range<usize>, impl Fn(usize) -> bool) {
        let end = self.n.min(self.next.saturating_add(n_max));
        (self.next..end, |unit| self.kept[unit / 64] >> (unit % 64) & 1 == 0)
    }

    /// All before `next` are written, these in `bytes` (in the form of the table, if there are any). Whether it was the last of
    /// the table.
    pub(super) fn written(&mut self, next: usize, bytes: &[u8]) -> bool {
        if !bytes.is_empty() {
            self.log.block(Block::Run, self.table, bytes);
        }
        self.next = next;
        if self.next == self.n {
            self.flush();
        }
        self.next == self.n
    }

    fn flush(&mut self) {
        if !self.early.is_empty() {
            self.log.block(Block::Early, self.table, &self.early);
            self.log.count_early(self.early.len());
            self.early.clear();
        }
    }
}

/// A table as a snapshot sees it.
pub(crate) trait Table: Send {
    /// Begins a snapshot of its state at this moment.
    fn watch(&mut self, log: &Arc<Log>, number: u16);
    /// Writes the next few units. Returns the bytes looked at, or nothing when all are written.
    fn write(&mut self) -> Option<usize>;
    /// Ends a snapshot that is not finished.
    fn unwatch(&mut self);
    /// Reads a block of an empty table.
    fn load(&mut self, block: Block, bytes: &[u8]) -> Result<(), super::Damaged>;
    /// Asks for huge pages for what is touched first from now on.
    fn prefer_huge_pages(&self) {}
    /// Moves what is there to huge pages.
    fn move_to_huge_pages(&mut self) {}
}

#[cfg(test)]
impl Watch {
    /// Bytes that wait in memory.
    pub(super) fn n_waiting_bytes(&self) -> usize {
        self.early.len()
    }
}
