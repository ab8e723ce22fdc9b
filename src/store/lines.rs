//! A table of cache lines that keys belong to.

use super::memory::{LINE_BYTES as BYTES, Line as Words};
use super::prefetch::prefetch;
use super::region::Region;

pub(super) use super::memory::WORDS;

/// Bytes in a line.
pub(super) const LINE_BYTES: usize = BYTES;

/// A line.
pub(super) type Line = Words;

/// Lines, found by number or by key.
#[derive(Clone)]
pub(super) struct Lines {
    region: Region,
    /// Entries that were pushed out of full lines.
    pub(super) n_pushed_out: u64,
}

impl Lines {
    /// As many lines as fit into `n_bytes`, at least one.
    pub(super) fn new(n_bytes: usize) -> Self {
        Self::several(n_bytes, 1).swap_remove(0)
    }

    /// `n` such tables side by side.
    pub(super) fn several(n_bytes: usize, n: usize) -> Vec<Self> {
        Region::several(n_bytes / LINE_BYTES, n).into_iter().map(|region| Self { region, n_pushed_out: 0 }).collect()
    }

    /// The number of the line that `key` belongs to: its upper bits, scaled.
    #[inline]
    pub(super) fn of_key(&self, key: u64) -> usize {
        ((u128::from(key) * self.len() as u128) >> 64) as usize
    }

    #[inline]
    pub(super) fn line(&self, number: usize) -> &Line {
        &self.region.lines()[number]
    }

    #[inline]
    pub(super) fn line_mut(&mut self, number: usize) -> &mut Line {
        self.region.line_mut(number)
    }

    /// Asks for the line of `key`.
    #[inline]
    pub(super) fn prefetch(&self, key: u64) {
        prefetch(self.line(self.of_key(key)));
    }

    /// How many there are.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.region.lines().len()
    }

    /// The lines as a snapshot sees them; the counter beside them is the caller's to keep.
    pub(super) fn table(&mut self) -> &mut Region {
        &mut self.region
    }
}
