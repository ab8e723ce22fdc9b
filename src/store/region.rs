//! A table of fixed size as cache lines, which a snapshot can be written of while it changes.
//!
//! Every change goes through [`Region::line_mut`] or [`Region::bytes_mut`]; while no snapshot is written these cost a look at one
//! pointer.
//!
//! # Invariants
//! - A snapshot holds the lines as they were when it began. (`what_changes_meanwhile_does_not_show`)
//! - Lines of zeros cost nothing. (`untouched_lines_cost_nothing`)

use super::Damaged;
use super::memory::{LINE_BYTES, Line, Memory, WORDS};
use super::snapshot::{Block, Log};
use super::watch::{Table, Watch};
use std::ops::Range;
use std::sync::Arc;

/// Lines that are written in one block: 256 KiB.
const RUN_LINES: usize = 4096;
/// Bytes of an old line on the log: its number before it.
const EARLY_BYTES: usize = 4 + LINE_BYTES;
const ZEROS: Line = [0; WORDS];

/// Cache lines.
pub(super) struct Region {
    memory: Memory,
    watch: Option<Box<Watch>>,
}

impl Region {
    /// So many lines of zeros, at least one.
    pub(super) fn new(n_lines: usize) -> Self {
        Self::several(n_lines, 1).swap_remove(0)
    }

    /// `n` tables of so many lines each, side by side.
    pub(super) fn several(n_lines: usize, n: usize) -> Vec<Self> {
        assert!(u32::try_from(n_lines).is_ok(), "{n_lines} lines are more than can be numbered");
        Memory::several(n_lines, n).into_iter().map(|memory| Self { memory, watch: None }).collect()
    }

    #[inline]
    pub(super) fn lines(&self) -> &[Line] {
        self.memory.lines()
    }

    #[inline]
    pub(super) fn line_mut(&mut self, number: usize) -> &mut Line {
        if self.watch.is_some() {
            self.keep(number..number + 1);
        }
        &mut self.memory.lines_mut()[number]
    }

    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        self.memory.bytes()
    }

    #[inline]
    pub(super) fn bytes_mut(&mut self, range: Range<usize>) -> &mut [u8] {
        if self.watch.is_some() {
            self.keep(range.start / LINE_BYTES..range.end.div_ceil(LINE_BYTES));
        }
        &mut self.memory.bytes_mut()[range]
    }

    /// Keeps the lines for the snapshot that is being written, where it does not have them.
    #[cold]
    fn keep(&mut self, numbers: Range<usize>) {
        let Some(watch) = &mut self.watch else { return };
        for number in numbers {
            // A line that is missing is one of zeros.
            if watch.takes(number) && self.memory.lines()[number] != ZEROS {
                watch.keep(|out| {
                    out.extend_from_slice(&(number as u32).to_le_bytes());
                    out.extend_from_slice(&self.memory.bytes()[number * LINE_BYTES..][..LINE_BYTES]);
                });
            }
        }
    }
}

impl Table for Region {
    fn watch(&mut self, log: &Arc<Log>, number: u16) {
        self.watch = Some(Watch::new(log, number, self.memory.lines().len()));
    }

    /// A block: the number of the first line, a bit for each of the next [`RUN_LINES`], and the lines whose bit is set.
    fn write(&mut self) -> Option<usize> {
        let watch = self.watch.as_mut()?;
        let (run, is_open) = watch.turn(RUN_LINES);
        let lines = &self.memory.lines()[run.clone()];
        let mut bytes = vec![0; 4 + RUN_LINES / 8];
        bytes[..4].copy_from_slice(&(run.start as u32).to_le_bytes());
        for (place, line) in lines.iter().enumerate() {
            if *line != ZEROS && is_open(run.start + place) {
                if bytes.capacity() < 4 + RUN_LINES / 8 + RUN_LINES * LINE_BYTES {
                    bytes.reserve_exact(RUN_LINES * LINE_BYTES);
                }
                bytes[4 + place / 8] |= 1 << (place % 8);
                bytes.extend_from_slice(line.map(u64::to_le_bytes).as_flattened());
            }
        }
        drop(is_open);
        if bytes.len() == 4 + RUN_LINES / 8 {
            bytes.clear();
        }
        if watch.written(run.end, &bytes) {
            self.watch = None;
        }
        Some(LINE_BYTES * run.len())
    }

    fn unwatch(&mut self) {
        self.watch = None;
    }

    fn load(&mut self, block: Block, bytes: &[u8]) -> Result<(), Damaged> {
        const NOWHERE: Damaged = Damaged::of("a line is beyond the end of its table");
        const CUT_OFF: Damaged = Damaged::of("a block of lines is cut off");
        if block == Block::Early {
            let (lines, rest) = bytes.as_chunks::<EARLY_BYTES>();
            for line in lines {
                let (number, line) = line.split_first_chunk().ok_or(CUT_OFF)?;
                let start = u32::from_le_bytes(*number) as usize * LINE_BYTES;
                let place = self.memory.bytes_mut().get_mut(start..start + LINE_BYTES).ok_or(NOWHERE)?;
                place.copy_from_slice(line);
            }
            return if rest.is_empty() { Ok(()) } else { Err(CUT_OFF) };
        }
        let (first, rest) = bytes.split_first_chunk().ok_or(CUT_OFF)?;
        let (bits, rest) = rest.split_first_chunk::<{ RUN_LINES / 8 }>().ok_or(CUT_OFF)?;
        let first = u32::from_le_bytes(*first) as usize;
        let (lines, rest) = rest.as_chunks::<LINE_BYTES>();
        let mut lines = lines.iter();
        for place in (0..RUN_LINES).filter(|place| bits[place / 8] >> (place % 8) & 1 == 1) {
            let start = (first + place) * LINE_BYTES;
            let place = self.memory.bytes_mut().get_mut(start..start + LINE_BYTES).ok_or(NOWHERE)?;
            place.copy_from_slice(lines.next().ok_or(CUT_OFF)?);
        }
        if rest.is_empty() && lines.len() == 0 { Ok(()) } else { Err(CUT_OFF) }
    }

    fn prefer_huge_pages(&self) {
        self.memory.prefer_huge_pages();
    }

    fn move_to_huge_pages(&mut self) {
        self.memory.move_to_huge_pages();
    }
}

impl Clone for Region {
    /// The same lines; a snapshot is written of the first alone.
    fn clone(&self) -> Self {
        let mut memory = Memory::new(self.lines().len());
        for (to, from) in memory.lines_mut().iter_mut().zip(self.lines()) {
            // Writing zeros would make untouched pages resident.
            if *from != ZEROS {
                *to = *from;
            }
        }
        Self { memory, watch: None }
    }
}

impl PartialEq for Region {
    fn eq(&self, other: &Self) -> bool {
        self.lines() == other.lines()
    }
}

impl Eq for Region {}

impl std::fmt::Debug for Region {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Region({} lines)", self.lines().len())
    }
}

#[cfg(test)]
mod tests {
    use super::super::snapshot::tests::{Written, written};
    use super::*;
    use proptest::prelude::*;

    fn loaded(blocks: &[(Block, Vec<u8>)], n_lines: usize) -> Region {
        let mut region = Region::new(n_lines);
        blocks.iter().for_each(|(block, bytes)| region.load(*block, bytes).unwrap());
        region
    }

    #[test]
    fn untouched_lines_cost_nothing() {
        let mut region = Region::new(1 << 20);
        region.line_mut(5000)[0] = 1;
        let blocks = written(&mut region);
        assert_eq!(blocks.len(), 1);
        assert!(blocks[0].1.len() < 1000, "{}", blocks[0].1.len());
        assert_eq!(loaded(&blocks, 1 << 20), region);
    }

    #[test]
    fn blocks_that_do_not_fit_are_refused() {
        let mut region = Region::new(3);
        let blocks = written(&mut Region::new(3));
        assert!(blocks.is_empty());
        region.bytes_mut(0..192).fill(7);
        let [(Block::Run, run)] = &written(&mut region)[..] else { panic!("one block") };
        assert!(Region::new(3).load(Block::Run, run).is_ok());
        assert!(Region::new(2).load(Block::Run, run).is_err());
        assert!(Region::new(3).load(Block::Run, &run[..run.len() - 1]).is_err());
        assert!(Region::new(3).load(Block::Run, &run[..100]).is_err());
        assert!(Region::new(3).load(Block::Run, &[&run[..], &[0; 64]].concat()).is_err());
        let early = [&2_u32.to_le_bytes()[..], &[9; 64]].concat();
        assert!(Region::new(3).load(Block::Early, &early).is_ok());
        assert!(Region::new(2).load(Block::Early, &early).is_err());
        assert!(Region::new(3).load(Block::Early, &early[..67]).is_err());
    }

    #[test]
    fn old_values_do_not_pile_up() {
        let n_lines = 100_000;
        let mut region = Region::new(n_lines);
        region.bytes_mut(0..n_lines * LINE_BYTES).fill(1);
        let before = region.clone();
        let writing = Written::begin(&mut region);
        for number in (0..n_lines).rev() {
            region.line_mut(number)[1] = number as u64;
            let waiting = region.watch.as_ref().map_or(0, |watch| watch.n_waiting_bytes());
            assert!(waiting < (64 << 10) + LINE_BYTES + 4, "{waiting}");
        }
        assert!(writing.log().n_early_bytes() > 6_000_000);
        assert_eq!(loaded(&writing.end(&mut region), n_lines), before);
    }

    proptest! {
        #[test]
        fn what_changes_meanwhile_does_not_show(
            first in prop::collection::vec((0_usize..20_000, any::<u64>()), 0..300),
            steps in prop::collection::vec((0_usize..20_000, any::<u64>(), 0_u8..10), 0..300),
        ) {
            let mut region = Region::new(20_000);
            for (number, value) in first {
                region.line_mut(number)[(value % 8) as usize] = value;
            }
            let before = region.clone();
            let writing = Written::begin(&mut region);
            for (number, value, what) in steps {
                match what {
                    0 => drop(region.write()),
                    1 => region.bytes_mut(number * 60..number * 60 + (value % 200) as usize).fill(value as u8),
                    _ => region.line_mut(number)[(value % 8) as usize] = value >> 60,
                }
            }
            let loaded = loaded(&writing.end(&mut region), 20_000);
            prop_assert!(loaded == before);
            prop_assert!(region.watch.is_none());
        }
    }
}
