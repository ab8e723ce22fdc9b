//! A table of records that grows to its bound, which a snapshot can be written of while it changes.
//!
//! Reading is that of a slice. Every change goes through an index, and keeps the old record for the snapshot that is being
//! written, if there is one. Rows that are added meanwhile are none of it.
//!
//! # Invariants
//! - A snapshot holds the rows as they were when it began. (`what_changes_meanwhile_does_not_show`)

use super::Damaged;
use super::snapshot::{Block, Log};
use super::watch::{Table, Watch};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::ops::{Deref, Index, IndexMut};
use std::sync::Arc;

/// A block is closed when it has so many bytes.
const RUN_BYTES: usize = 128 << 10;

/// Records.
pub(crate) struct Rows<T> {
    rows: Vec<T>,
    watch: Option<Box<Watch>>,
    /// Rows that a saved table is still to bring.
    n_missing: usize,
}

impl<T> Default for Rows<T> {
    fn default() -> Self {
        Self { rows: Vec::new(), watch: None, n_missing: 0 }
    }
}

impl<T: Serialize + DeserializeOwned + Default> Rows<T> {
    pub(crate) fn push(&mut self, row: T) {
        self.rows.push(row);
    }

    /// Adds empty rows until there are `n`.
    pub(crate) fn grow(&mut self, n: usize) {
        if self.rows.len() < n {
            self.rows.resize_with(n, T::default);
        }
    }

    /// Empties the table for `n` rows that are to be read.
    pub(crate) fn expect(&mut self, n: usize) {
        self.rows.clear();
        self.grow(n);
        self.n_missing = n;
    }

    /// Whether all rows that were expected have come.
    pub(crate) fn are_complete(&self) -> bool {
        self.n_missing == 0
    }
}

fn put<T: Serialize>(out: &mut Vec<u8>, number: usize, row: &T) {
    let row = (number as u32, row);
    *out = postcard::to_extend(&row, std::mem::take(out)).expect("a row has no map, and memory does not fail");
}

impl<T> Deref for Rows<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        &self.rows
    }
}

impl<T> Index<usize> for Rows<T> {
    type Output = T;

    #[inline]
    fn index(&self, number: usize) -> &T {
        &self.rows[number]
    }
}

impl<T: Serialize> IndexMut<usize> for Rows<T> {
    #[inline]
    fn index_mut(&mut self, number: usize) -> &mut T {
        if let Some(watch) = &mut self.watch
            && watch.takes(number)
        {
            watch.keep(|out| put(out, number, &self.rows[number]));
        }
        &mut self.rows[number]
    }
}

impl<T: Serialize + DeserializeOwned + Default + Send> Table for Rows<T> {
    fn watch(&mut self, log: &Arc<Log>, number: u16) {
        self.watch = Some(Watch::new(log, number, self.rows.len()));
    }

    /// A block: rows end to end, each with its number before it.
    fn write(&mut self) -> Option<usize> {
        let watch = self.watch.as_mut()?;
        let (run, is_open) = watch.turn(usize::MAX);
        let mut bytes = Vec::with_capacity(RUN_BYTES + RUN_BYTES / 8);
        let mut next = run.start;
        while next < run.end && bytes.len() < RUN_BYTES {
            if is_open(next) {
                put(&mut bytes, next, &self.rows[next]);
            }
            next += 1;
        }
        drop(is_open);
        if watch.written(next, &bytes) {
            self.watch = None;
        }
        Some((next - run.start) * size_of::<T>())
    }

    fn unwatch(&mut self) {
        self.watch = None;
    }

    fn load(&mut self, _: Block, mut bytes: &[u8]) -> Result<(), Damaged> {
        while !bytes.is_empty() {
            let ((number, row), rest) =
                postcard::take_from_bytes::<(u32, T)>(bytes).map_err(|_| Damaged::of("a row cannot be read"))?;
            let place = self.rows.get_mut(number as usize);
            *place.ok_or(Damaged::of("a row is beyond the end of its table"))? = row;
            self.n_missing =
                self.n_missing.checked_sub(1).ok_or(Damaged::of("there are more rows than there should be"))?;
            bytes = rest;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::snapshot::tests::Written;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_changes_meanwhile_does_not_show(
            n in 0_usize..3000,
            steps in prop::collection::vec((0_usize..3000, any::<u8>(), 0_u8..10), 0..300),
        ) {
            let mut rows = Rows::<String>::default();
            (0..n).for_each(|number| rows.push("x".repeat(number % 300)));
            let before = rows.to_vec();
            let writing = Written::begin(&mut rows);
            for (number, value, what) in steps {
                match what {
                    0 => drop(rows.write()),
                    1 => rows.push("new".into()),
                    _ if number < rows.len() => rows[number].push(value.into()),
                    _ => {}
                }
            }
            let mut loaded = Rows::<String>::default();
            loaded.expect(n);
            for (block, bytes) in writing.end(&mut rows) {
                loaded.load(block, &bytes).unwrap();
            }
            prop_assert!(loaded.are_complete());
            prop_assert_eq!(loaded.to_vec(), before);
        }
    }

    #[test]
    fn rows_that_do_not_fit_are_refused() {
        let mut bytes = Vec::new();
        put(&mut bytes, 1, &"a row".to_owned());
        let refusal = |n: usize, bytes: &[u8]| {
            let mut rows = Rows::<String>::default();
            rows.expect(n);
            rows.load(Block::Run, bytes).map(|()| rows.are_complete()).map_err(|damaged| damaged.reason)
        };
        assert_eq!(refusal(2, &bytes), Ok(false));
        assert_eq!(refusal(1, &bytes), Err("a row is beyond the end of its table"));
        assert_eq!(refusal(2, &bytes[..3]), Err("a row cannot be read"));
        assert_eq!(
            refusal(2, &[&bytes[..], &bytes[..], &bytes[..]].concat()),
            Err("there are more rows than there should be")
        );
    }
}
