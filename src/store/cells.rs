//! Byte strings of any length in fixed memory: chains of small cells out of one array.
//!
//! Ids, urls and word lists differ in length by a factor of a thousand; cells of one size neither fragment nor need
//! compaction, and what a string gives back the next one takes. The array is zeroed lazily: pages that no cell has
//! touched are not resident, therefore free cells are chained only once they have been used.
//!
//! # Invariants
//! - What is written is read back, whatever was freed before. (`strings_come_back_as_written`)
//! - A string takes [`Cells::cells_for`] its length, and gives them all back. (`freed_cells_are_used_again`)
//! - What was freed has left no byte of the string. (`freed_cells_hold_nothing`)
//! - Saved and loaded cells are equal and go on alike. (`strings_come_back_as_written`)
//! - Damaged bytes are refused or give sound chains, never a panic or an endless walk. (`damage_never_panics`,
//!   `unsound_chains_are_refused`)

use super::Damaged;
use super::memory::LINE_BYTES;
use super::prefetch::prefetch;
use super::region::Region;
use super::watch::Table;
use serde::{Deserialize, Serialize};

/// Bytes of a cell: two cache lines.
pub const CELL_BYTES: usize = 128;
/// Bytes of a string in a cell; the link to the next follows them.
const DATA: usize = CELL_BYTES - 4;
/// Bytes of a string in its first cell; its length stands before them.
const DATA_FIRST: usize = DATA - 4;
/// The link of the last cell of a chain.
const NONE: u32 = u32::MAX >> 1;
/// The bit of a link that marks the first cell of a string.
const FIRST: u32 = 1 << 31;

/// Where a string begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Handle(pub u32);

/// The state of cells beside their memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellEnds {
    n_cells: u32,
    n_touched: u32,
    free: u32,
}

/// Byte strings in fixed memory.
#[derive(Clone, PartialEq, Eq)]
pub struct Cells {
    memory: Region,
    n_cells: usize,
    /// Head of the chain of cells given back, or `NONE`.
    free: u32,
    n_chained: u32,
    /// Cells from here on were never used.
    n_touched: u32,
}

impl Cells {
    /// Memory for `n_cells` cells of 128 bytes. Panics when they are too many to be numbered.
    pub fn new(n_cells: usize) -> Self {
        assert!(n_cells < NONE as usize, "{n_cells} cells, at most {NONE} can be numbered");
        let memory = Region::new(n_cells * (CELL_BYTES / LINE_BYTES));
        Self { memory, n_cells, free: NONE, n_chained: 0, n_touched: 0 }
    }

    /// How many cells a string of `n_bytes` takes.
    pub fn cells_for(n_bytes: usize) -> usize {
        1 + n_bytes.saturating_sub(DATA_FIRST).div_ceil(DATA)
    }

    /// All cells.
    pub fn n_cells(&self) -> usize {
        self.n_cells
    }

    /// The cells that no string holds.
    pub fn n_free(&self) -> usize {
        self.n_cells() - self.n_touched as usize + self.n_chained as usize
    }

    /// Keeps `bytes`. Panics when there are too few free cells: the caller makes room first.
    pub fn write(&mut self, bytes: &[u8]) -> Handle {
        let (n_needed, n_free) = (Self::cells_for(bytes.len()), self.n_free());
        assert!(n_needed <= n_free, "{n_needed} cells for {} bytes, {n_free} are free", bytes.len());
        let length = u32::try_from(bytes.len()).expect("a string is shorter than 4 GiB");
        let (head, mut rest) = bytes.split_at(bytes.len().min(DATA_FIRST));
        let first = self.taken();
        let data = self.data_mut(first);
        data[..4].copy_from_slice(&length.to_le_bytes());
        data[4..4 + head.len()].copy_from_slice(head);
        let mut cell = first;
        while !rest.is_empty() {
            let (part, after) = rest.split_at(rest.len().min(DATA));
            let next = self.taken();
            self.data_mut(next)[..part.len()].copy_from_slice(part);
            self.set_link(cell, next | if cell == first { FIRST } else { 0 });
            (cell, rest) = (next, after);
        }
        self.set_link(cell, NONE | if cell == first { FIRST } else { 0 });
        Handle(first)
    }

    /// Whether a string begins at `handle`: what a loaded handle must be asked before it is used.
    pub fn holds(&self, handle: Handle) -> bool {
        handle.0 < self.n_touched && self.link(handle.0) & FIRST != 0
    }

    /// Bytes of the string. Panics, as all below, when no string begins there.
    pub fn len(&self, handle: Handle) -> usize {
        assert!(self.holds(handle), "no string begins at cell {} of {}", handle.0, self.n_touched);
        self.length(handle.0)
    }

    /// Asks for the first cell of the string.
    pub fn prefetch(&self, handle: Handle) {
        if let Some([first, second]) = self.memory.lines().as_chunks().0.get(handle.0 as usize) {
            prefetch(first);
            prefetch(second);
        }
    }

    /// Reads the whole string into `into`, in place of what was there.
    pub fn read(&self, handle: Handle, into: &mut Vec<u8>) {
        self.read_part(handle, 0, usize::MAX, into);
    }

    /// Reads the `n` bytes after the first `skip`, or as many as there are, into `into`, in place of what was there.
    pub fn read_part(&self, handle: Handle, mut skip: usize, n: usize, into: &mut Vec<u8>) {
        into.clear();
        let mut left = self.len(handle);
        let mut wanted = n.min(left.saturating_sub(skip));
        into.reserve(wanted);
        let (mut cell, mut start) = (handle.0, 4);
        while wanted > 0 {
            let data = &self.data(cell)[start..];
            let data = &data[..data.len().min(left)];
            let skipped = skip.min(data.len());
            let part = &data[skipped..][..wanted.min(data.len() - skipped)];
            into.extend_from_slice(part);
            (left, skip, wanted) = (left - data.len(), skip - skipped, wanted - part.len());
            (cell, start) = (self.link(cell) & !FIRST, 0);
        }
    }

    /// Gives the cells of the string back.
    pub fn free(&mut self, handle: Handle) {
        let n_cells = Self::cells_for(self.len(handle)) as u32;
        let next = self.link(handle.0) & !FIRST;
        self.set_link(handle.0, next);
        let mut last = handle.0;
        self.data_mut(last).fill(0);
        for _ in 1..n_cells {
            last = self.link(last);
            self.data_mut(last).fill(0);
        }
        self.set_link(last, self.free);
        (self.free, self.n_chained) = (handle.0, self.n_chained + n_cells);
    }

    /// The state beside the memory.
    pub fn ends(&self) -> CellEnds {
        CellEnds { n_cells: self.n_cells as u32, n_touched: self.n_touched, free: self.free }
    }

    /// The memory as a snapshot sees it.
    pub(crate) fn table(&mut self) -> &mut dyn Table {
        &mut self.memory
    }

    /// Takes over the state that belongs to a memory that was read, and looks whether the two agree.
    pub fn resume(&mut self, ends: CellEnds) -> Result<(), Damaged> {
        let damaged = |reason: &'static str| Damaged { part: "cells", reason };
        if ends.n_cells as usize != self.n_cells || ends.n_touched as usize > self.n_cells {
            return Err(damaged("the number of cells is another"));
        }
        (self.n_touched, self.free) = (ends.n_touched, ends.free);
        self.n_chained = self.sound().map_err(damaged)?;
        Ok(())
    }

    /// Walks all chains: every touched cell must be in exactly one, and a string's be as long as its length says.
    /// How many cells are in the chain of free ones.
    fn sound(&self) -> Result<u32, &'static str> {
        let n_touched = self.n_touched as usize;
        let mut seen = vec![false; n_touched];
        let mut walk = |first: u32, n_max: usize| {
            let (mut cell, mut n) = (first, 0);
            while cell != NONE {
                let seen = seen.get_mut(cell as usize).ok_or("a link leads nowhere")?;
                if std::mem::replace(seen, true) || n == n_max {
                    return Err("a cell is linked twice");
                }
                let link = self.link(cell);
                if link & FIRST != 0 && cell != first {
                    return Err("a chain runs into a string");
                }
                (cell, n) = (link & !FIRST, n + 1);
            }
            Ok(n)
        };
        let n_chained = walk(self.free, n_touched)?;
        let mut n_cells = n_chained;
        for cell in (0..self.n_touched).filter(|&cell| self.link(cell) & FIRST != 0) {
            let n_stated = Self::cells_for(self.length(cell));
            if walk(cell, n_stated)? != n_stated {
                return Err("a string is shorter than its length");
            }
            n_cells += n_stated;
        }
        if n_cells == n_touched { Ok(n_chained as u32) } else { Err("a cell is in no chain") }
    }

    /// A free cell, no longer free.
    fn taken(&mut self) -> u32 {
        if self.free == NONE {
            self.n_touched += 1;
            return self.n_touched - 1;
        }
        let cell = self.free;
        (self.free, self.n_chained) = (self.link(cell), self.n_chained - 1);
        cell
    }

    fn length(&self, first: u32) -> usize {
        let data = self.data(first);
        u32::from_le_bytes([data[0], data[1], data[2], data[3]]) as usize
    }

    fn link(&self, cell: u32) -> u32 {
        let at = cell as usize * CELL_BYTES + DATA;
        let link = &self.memory.bytes()[at..at + 4];
        u32::from_le_bytes([link[0], link[1], link[2], link[3]])
    }

    fn set_link(&mut self, cell: u32, link: u32) {
        let at = cell as usize * CELL_BYTES + DATA;
        self.memory.bytes_mut(at..at + 4).copy_from_slice(&link.to_le_bytes());
    }

    fn data(&self, cell: u32) -> &[u8] {
        &self.memory.bytes()[cell as usize * CELL_BYTES..][..DATA]
    }

    fn data_mut(&mut self, cell: u32) -> &mut [u8] {
        let start = cell as usize * CELL_BYTES;
        self.memory.bytes_mut(start..start + DATA)
    }
}

impl std::fmt::Debug for Cells {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Cells({} of {} free)", self.n_free(), self.n_cells())
    }
}

#[cfg(test)]
mod tests {
    use super::super::snapshot::tests::{copied, written};
    use super::*;
    use proptest::prelude::*;

    /// Saved, and read into as many cells as given.
    fn loaded(cells: &mut Cells, n_cells: usize) -> Result<Cells, Damaged> {
        let mut again = Cells::new(n_cells);
        let ends = cells.ends();
        copied(cells.table(), again.table())?;
        again.resume(ends)?;
        Ok(again)
    }

    fn three_strings() -> Cells {
        let mut cells = Cells::new(12);
        cells.write(&[1; 300]);
        let gone = cells.write(&[2; 200]);
        cells.write(&[3; 120]);
        cells.write(b"");
        cells.free(gone);
        cells
    }

    #[test]
    fn lengths_at_the_edges_of_cells() {
        for (n_bytes, n_cells) in [(0, 1), (1, 1), (120, 1), (121, 2), (244, 2), (245, 3), (368, 3), (369, 4)] {
            assert_eq!(Cells::cells_for(n_bytes), n_cells, "{n_bytes} bytes");
            let string: Vec<u8> = (0..n_bytes).map(|i| (i % 251) as u8).collect();
            let mut cells = Cells::new(4);
            let handle = cells.write(&string);
            assert_eq!((cells.n_free(), cells.len(handle)), (4 - n_cells, n_bytes));
        }
    }

    #[test]
    fn freed_cells_are_used_again() {
        let mut cells = Cells::new(10);
        for round in 0..100 {
            let handles = [cells.write(&[round; 500]), cells.write(&[round; 600])];
            assert_eq!(cells.n_free(), 0);
            handles.into_iter().for_each(|handle| cells.free(handle));
            assert_eq!(cells.n_free(), 10);
        }
    }

    #[test]
    fn freed_cells_hold_nothing() {
        let mut cells = Cells::new(9);
        let [first, second] = [300, 500].map(|n_bytes| cells.write(&vec![0xAA; n_bytes]));
        cells.free(first);
        assert_eq!(cells.memory.bytes().iter().filter(|byte| **byte == 0xAA).count(), 500);
        cells.free(second);
        assert_eq!(cells.memory.bytes().iter().filter(|byte| **byte == 0xAA).count(), 0);
    }

    #[test]
    #[should_panic(expected = "2 cells for 121 bytes, 1 are free")]
    fn a_string_without_room_is_a_bug() {
        Cells::new(1).write(&[0; 121]);
    }

    #[test]
    #[should_panic(expected = "no string begins at cell 0")]
    fn a_string_freed_twice_is_a_bug() {
        let mut cells = Cells::new(1);
        let handle = cells.write(b"once");
        cells.free(handle);
        cells.free(handle);
    }

    #[test]
    fn only_first_cells_are_held() {
        let cells = three_strings();
        let held: Vec<u32> = (0..20).filter(|&cell| cells.holds(Handle(cell))).collect();
        assert_eq!(held, [0, 5, 6]);
    }

    #[test]
    fn unsound_chains_are_refused() {
        let mut sound = three_strings();
        assert_eq!(loaded(&mut sound, 12).unwrap(), sound);
        assert!(loaded(&mut sound, 13).is_err());
        let refused = |reason: &str, cell: u32, link: u32| {
            let mut cells = sound.clone();
            cells.set_link(cell, link);
            assert_eq!(loaded(&mut cells, 12).unwrap_err().reason, reason, "{cell} linked to {link}");
        };
        refused("a link leads nowhere", 1, 7);
        refused("a cell is linked twice", 2, 1);
        refused("a cell is linked twice", 4, 3);
        refused("a cell is linked twice", 4, 2);
        refused("a chain runs into a string", 4, 5);
        refused("a string is shorter than its length", 1, NONE);
        refused("a cell is in no chain", 5, NONE);
        refused("a cell is linked twice", 3, FIRST | 4);
        let mut cells = sound.clone();
        cells.data_mut(5)[..4].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(loaded(&mut cells, 12).is_err());
    }

    proptest! {
        /// Against a plain list of vectors, with the cells saved and loaded on the way.
        #[test]
        fn strings_come_back_as_written(steps in prop::collection::vec((0_usize..700, any::<u8>(), 0_usize..8), 1..80)) {
            let mut cells = Cells::new(24);
            let mut strings: Vec<(Handle, Vec<u8>)> = Vec::new();
            let mut read = vec![7];
            for (n_bytes, fill, pick) in steps {
                while cells.n_free() < Cells::cells_for(n_bytes) || strings.len() > 6 {
                    let (handle, _) = strings.remove(pick % strings.len());
                    cells.free(handle);
                }
                let string: Vec<u8> = (0..n_bytes).map(|i| (i as u8).wrapping_mul(3) ^ fill).collect();
                strings.push((cells.write(&string), string));
                if pick == 0 {
                    let loaded = loaded(&mut cells, 24).unwrap();
                    prop_assert_eq!(&loaded, &cells);
                    cells = loaded;
                }
                let n_held: usize = strings.iter().map(|(_, string)| Cells::cells_for(string.len())).sum();
                prop_assert_eq!(cells.n_free(), 24 - n_held);
                for (handle, string) in &strings {
                    cells.read(*handle, &mut read);
                    prop_assert_eq!(&read, string);
                    let skip = usize::from(fill) * 2;
                    cells.read_part(*handle, skip, pick * 40, &mut read);
                    let part: Vec<u8> = string.iter().skip(skip).take(pick * 40).copied().collect();
                    prop_assert_eq!(&read, &part);
                }
            }
        }

        #[test]
        fn damage_never_panics(at in 0_usize..10_000, to: u8, cut in 0_usize..2_000, ends: [Option<u32>; 2]) {
            let mut damaged = three_strings();
            let (mut blocks, mut found) = (written(damaged.table()), damaged.ends());
            let bytes = &mut blocks[0].1;
            let n = bytes.len();
            bytes[at % n] = to;
            bytes.truncate(n.min(400 + cut));
            (found.n_touched, found.free) =
                (ends[0].map_or(found.n_touched, |n| n % 14), ends[1].map_or(found.free, |n| n % 14));
            let mut cells = Cells::new(12);
            if cells.table().load(blocks[0].0, &blocks[0].1).is_ok() && cells.resume(found).is_ok() {
                let mut read = Vec::new();
                for handle in (0..12).map(Handle) {
                    if cells.holds(handle) {
                        cells.read(handle, &mut read);
                        cells.free(handle);
                    }
                }
                prop_assert_eq!(cells.n_free(), 12);
            }
        }
    }
}
