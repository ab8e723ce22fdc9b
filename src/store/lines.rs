//! A table of cache lines: 64 bytes each, aligned, zero at first and resident only where touched.

use super::Damaged;
use super::prefetch::prefetch;

/// Words in a line.
pub(super) const WORDS: usize = 8;
/// Bytes in a line.
pub(super) const LINE_BYTES: usize = 8 * WORDS;

/// A line.
pub(super) type Line = [u64; WORDS];

/// Lines, found by number or by key.
pub(super) struct Lines {
    words: Vec<u64>,
    /// Words before the first aligned one.
    start: usize,
    n: usize,
    /// Entries that were pushed out of full lines.
    pub(super) n_pushed_out: u64,
}

impl Lines {
    /// As many lines as fit into `n_bytes`, at least one.
    pub(super) fn new(n_bytes: usize) -> Self {
        let n = (n_bytes / LINE_BYTES).max(1);
        // Zeroed by the system on demand: an empty table costs address space alone.
        let words = vec![0_u64; n * WORDS + WORDS - 1];
        let start = words.as_ptr().align_offset(LINE_BYTES).min(WORDS - 1);
        Self { words, start, n, n_pushed_out: 0 }
    }

    /// The number of the line that `key` belongs to: its upper bits, scaled.
    #[inline]
    pub(super) fn of_key(&self, key: u64) -> usize {
        ((u128::from(key) * self.n as u128) >> 64) as usize
    }

    #[inline]
    pub(super) fn line(&self, number: usize) -> &Line {
        &self.words[self.start..].as_chunks().0[number]
    }

    #[inline]
    pub(super) fn line_mut(&mut self, number: usize) -> &mut Line {
        &mut self.words[self.start..].as_chunks_mut().0[number]
    }

    /// Asks for the line of `key`.
    #[inline]
    pub(super) fn prefetch(&self, key: u64) {
        prefetch(self.line(self.of_key(key)));
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.n
    }

    pub(super) fn save(&self, out: &mut Vec<u8>) {
        out.extend(self.n_pushed_out.to_le_bytes());
        let words = &self.words[self.start..self.start + self.n * WORDS];
        out.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    }

    /// The lines that [`Lines::save`] has written, if they are as many as in `self`.
    pub(super) fn load(&mut self, bytes: &[u8]) -> Result<(), Damaged> {
        let (count, bytes) = bytes.split_first_chunk().ok_or(Damaged::of("a table is cut off"))?;
        self.n_pushed_out = u64::from_le_bytes(*count);
        let (words, rest) = bytes.as_chunks();
        if words.len() != self.n * WORDS || !rest.is_empty() {
            return Err(Damaged::of("a table has another size"));
        }
        for (word, bytes) in self.words[self.start..].iter_mut().zip(words) {
            let value = u64::from_le_bytes(*bytes);
            // Writing zeros would make untouched pages resident.
            if value != *word {
                *word = value;
            }
        }
        Ok(())
    }
}
