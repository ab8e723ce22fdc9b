//! Keys of settle: which prototypes have a key. One cache line per look-up.
//!
//! A key belongs to one line of eight entries, newest first, each a tag of the key, a slot and a generation. When a
//! line is full the oldest dead entry gives way, else the oldest; a key that many share keeps its newest few. What a
//! line does depends on its own keys alone, so that the order of documents decides everything.
//!
//! # Invariants
//! - What was inserted is found until something pushed it out. (`entries_are_found_until_pushed_out`)
//! - Dead entries go first, and one key cannot fill a line. (`the_dead_go_first`, `a_common_key_keeps_its_newest`)

use super::lanes::{blend, each, equal, ones};
use super::lines::{Line, Lines, WORDS};
use super::reference::Ref;
use super::watch::Table;

const TAG_SHIFT: u32 = 40;

/// Which prototypes have a key.
pub struct Index {
    lines: Lines,
}

impl Index {
    /// An empty index in `n_bytes`.
    pub fn new(n_bytes: usize) -> Self {
        Self { lines: Lines::new(n_bytes) }
    }

    /// Asks for the line of `key`.
    #[inline]
    pub fn prefetch(&self, key: u64) {
        self.lines.prefetch(key);
    }

    /// Calls `with` for everything under `key`, dead or alive, the newest first.
    #[inline]
    pub fn find(&self, key: u64, mut with: impl FnMut(Ref)) {
        let line = self.line(key);
        each(same(line, key)).for_each(|lane| with(Ref::unpacked(line[lane / 2])));
    }

    /// Whom a full line of `key` has held longest: whether it lives is asked when something is added.
    #[inline]
    pub(super) fn oldest(&self, key: u64) -> Option<Ref> {
        let oldest = self.line(key)[WORDS - 1];
        (oldest != 0).then(|| Ref::unpacked(oldest))
    }

    /// Adds `of` under `key`, which keeps at most `per_key_max`.
    pub fn insert(&mut self, key: u64, of: Ref, per_key_max: usize, is_live: impl Fn(Ref) -> bool) {
        let number = self.lines.of_key(key);
        let line = self.lines.line_mut(number);
        let (free, same) = (free(line), same(line, key));
        let len = (free | 1 << (2 * WORDS)).trailing_zeros() as usize / 2;
        let n_same = same.count_ones() as usize;
        let leaves = if n_same >= per_key_max {
            same.checked_ilog2().map(|oldest| oldest as usize / 2)
        } else if len == WORDS {
            // The oldest are dead before the others, with few exceptions: the first look is most often the last.
            line.iter().rposition(|&entry| !is_live(Ref::unpacked(entry)))
        } else {
            None
        };
        let end = leaves.unwrap_or(len.min(WORDS - 1));
        let is_loss = end < len && (leaves.is_none() || n_same >= per_key_max);
        let [a, b, c, d, e, f, g, _] = *line;
        let moved_up = [tag(key) << TAG_SHIFT | of.packed(), a, b, c, d, e, f, g];
        *line = blend(&MADE_ROOM[end], &moved_up, line);
        self.lines.n_pushed_out += u64::from(is_loss);
    }

    /// Bytes of all entries, dead or alive.
    pub(super) fn entry_bytes(&self) -> usize {
        let n_entries = |number: usize| self.lines.line(number).iter().filter(|&&entry| entry != 0).count();
        size_of::<u64>() * (0..self.lines.len()).map(n_entries).sum::<usize>()
    }

    /// Entries that were pushed out, alive or over the number of their key.
    pub(super) fn n_pushed_out(&self) -> u64 {
        self.lines.n_pushed_out
    }

    pub(super) fn set_pushed_out(&mut self, n: u64) {
        self.lines.n_pushed_out = n;
    }

    pub(super) fn table(&mut self) -> &mut dyn Table {
        self.lines.table()
    }

    fn line(&self, key: u64) -> &Line {
        self.lines.line(self.lines.of_key(key))
    }
}

/// For each place the ones of all words up to it: what is new when an entry gives way there, and those before it make room at the
/// beginning. It is another place each time, and asking which costs more than to look at all.
const MADE_ROOM: [Line; WORDS] = [ones(2), ones(4), ones(6), ones(8), ones(10), ones(12), ones(14), ones(16)];

/// The lanes that entries begin with, as bits.
const FIRSTS: u32 = 0x5555;

/// Where places are free, as bits.
#[inline]
fn free(line: &Line) -> u32 {
    let zeros = equal(line, u32::MAX, 0);
    zeros & zeros >> 1 & FIRSTS
}

/// Where `key` is held, as bits.
#[inline]
fn same(line: &Line, key: u64) -> u32 {
    const TAG: u64 = u64::MAX << TAG_SHIFT;
    equal(line, (TAG >> 32) as u32, (tag(key) << TAG_SHIFT >> 32) as u32) >> 1 & FIRSTS & !free(line)
}

/// The lower bits of the key: the upper ones chose the line.
fn tag(key: u64) -> u64 {
    key & 0xFF_FFFF
}

#[cfg(test)]
mod tests {
    use super::super::snapshot::tests::copied;
    use super::*;

    fn refer(slot: u32) -> Ref {
        Ref { slot, generation: 1 }
    }

    fn found(index: &Index, key: u64) -> Vec<u32> {
        let mut slots = Vec::new();
        index.find(key, |found| slots.push(found.slot));
        slots
    }

    #[test]
    fn entries_are_found_until_pushed_out() {
        let mut index = Index::new(64);
        for key in 1..=8 {
            index.insert(key, refer(key as u32), 4, |_| true);
        }
        assert_eq!((1..=8).flat_map(|key| found(&index, key)).collect::<Vec<_>>(), (1..=8).collect::<Vec<_>>());
        assert_eq!(index.n_pushed_out(), 0);
        index.insert(9, refer(9), 4, |_| true);
        assert_eq!((found(&index, 1), found(&index, 9), index.n_pushed_out()), (vec![], vec![9], 1));
    }

    #[test]
    fn the_dead_go_first() {
        let mut index = Index::new(64);
        for key in 1..=8 {
            index.insert(key, refer(key as u32), 4, |_| true);
        }
        index.insert(9, refer(9), 4, |of| of.slot != 5);
        assert_eq!((found(&index, 1), found(&index, 5), found(&index, 9)), (vec![1], vec![], vec![9]));
        assert_eq!(index.n_pushed_out(), 0, "it was dead");
    }

    #[test]
    fn a_common_key_keeps_its_newest() {
        let mut index = Index::new(64);
        index.insert(1, refer(100), 3, |_| true);
        for slot in 0..9 {
            index.insert(7, refer(slot), 3, |_| true);
        }
        assert_eq!((found(&index, 7), found(&index, 1)), (vec![8, 7, 6], vec![100]));
    }

    #[test]
    fn saved_and_loaded_it_is_the_same() {
        let mut index = Index::new(1000);
        for key in 0..200_u64 {
            index.insert(key << 57 | key, refer(key as u32), 4, |_| true);
        }
        let mut again = Index::new(1000);
        copied(index.table(), again.table()).unwrap();
        for key in 0..200_u64 {
            assert_eq!(found(&index, key << 57 | key), found(&again, key << 57 | key));
        }
        assert!(copied(index.table(), Index::new(500).table()).is_err());
    }
}
