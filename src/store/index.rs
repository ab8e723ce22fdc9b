//! Keys of settle: which prototypes have a key. One cache line per look-up.
//!
//! A key belongs to one line of eight entries, newest first, each a tag of the key, a slot and a generation. When a
//! line is full the oldest dead entry gives way, else the oldest; a key that many share keeps its newest few. What a
//! line does depends on its own keys alone, so that the order of documents decides everything.
//!
//! # Invariants
//! - What was inserted is found until something pushed it out. (`entries_are_found_until_pushed_out`)
//! - Dead entries go first, and one key cannot fill a line. (`the_dead_go_first`, `a_common_key_keeps_its_newest`)

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
        let mut same = same(line, key);
        while same != 0 {
            with(Ref::unpacked(line[same.trailing_zeros() as usize]));
            same &= same - 1;
        }
    }

    /// Adds `of` under `key`, which keeps at most `per_key_max`.
    pub fn insert(&mut self, key: u64, of: Ref, per_key_max: usize, is_live: impl Fn(Ref) -> bool) {
        let number = self.lines.of_key(key);
        let line = self.lines.line_mut(number);
        let (len, same) = (filled(line).trailing_ones() as usize, same(line, key));
        let n_same = same.count_ones() as usize;
        let leaves = if n_same >= per_key_max {
            same.checked_ilog2().map(|oldest| oldest as usize)
        } else if len == WORDS {
            bits(line, |entry| !is_live(Ref::unpacked(entry))).checked_ilog2().map(|place| place as usize)
        } else {
            None
        };
        let end = leaves.unwrap_or(len.min(WORDS - 1));
        let is_loss = end < len && (leaves.is_none() || n_same >= per_key_max);
        // As `copy_within(..end, 1)`, without asking how many words that is: it is another number each time.
        for place in (1..WORDS).rev() {
            line[place] = if place <= end { line[place - 1] } else { line[place] };
        }
        line[0] = tag(key) << TAG_SHIFT | of.packed();
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

/// The places of a line that are filled, as bits. All at once, and so are those below: how full a line is, is as good as a coin, and
/// a processor that bets on it loses more than it takes to look at all of them.
#[inline]
fn filled(line: &Line) -> u32 {
    bits(line, |entry| entry != 0)
}

/// The places that hold `key`, as bits.
#[inline]
fn same(line: &Line, key: u64) -> u32 {
    let tag = tag(key);
    bits(line, |entry| (entry >> TAG_SHIFT == tag) & (entry != 0))
}

#[inline]
fn bits(line: &Line, is_one: impl Fn(u64) -> bool) -> u32 {
    line.iter().zip(0..).fold(0, |bits, (&entry, place)| bits | u32::from(is_one(entry)) << place)
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
