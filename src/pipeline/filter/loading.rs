//! A filter that was written down is read back, block by block, straight into its tables.
//!
//! # Invariants
//! - A saved filter of other settings or a damaged one is refused by name. (`tests/promises/fold.rs`,
//!   `tests/promises/scan_command/store.rs`)
//! - Damage does not choose how much memory is taken: parts are bounded by the plan, and tables have their sizes before anything is
//!   read. (`damaged_and_foreign_filters_are_refused_by_name` in `tests/promises/fold.rs`)

use super::{Filter, MERGES, STANDINGS, SUCCESSOR};
use crate::store::snapshot::{Block, Extras, Opened, SnapshotError, piece};
use crate::store::{Damaged, Store};
use std::io::Read;
use std::thread;

/// What no part of any store needs beside the figure of its plan.
const PART_BYTES_MIN: usize = 64 << 20;

/// Why a saved filter is not taken.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// It is damaged, or no saved filter.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// It was made under others.
    #[error(
        "it was made with other {what} (digest {found:016x}, in force {ours:016x}): use those, or begin a new store"
    )]
    Other {
        /// Of what.
        what: &'static str,
        /// Its digest.
        found: u64,
        /// The digest of those in force.
        ours: u64,
    },
}

/// What the writer of a saved filter has put beside it.
pub fn extras(from: &mut dyn Read) -> Result<Extras, Refused> {
    Ok(Opened::open(from)?.into_extras())
}

impl Filter {
    /// Reads what [`Filter::save`] has written, under the same settings. After an error the filter is of no use.
    pub fn load(&mut self, mut bytes: &[u8]) -> Result<(), Refused> {
        self.load_from(&mut bytes)
    }

    /// Reads what [`Filter::begin_snapshot`] and [`Filter::write_snapshot`] have written, under the same settings, into a filter
    /// that has seen nothing. After an error it is of no use.
    ///
    /// Panics when it has seen something: that is a bug in the caller.
    pub fn load_from(&mut self, from: &mut dyn Read) -> Result<(), Refused> {
        assert_eq!(self.store.position(), 0, "what was saved is read into a filter that has seen nothing");
        let mut opened = Opened::open(from)?;
        let found = opened.head();
        for (what, found, ours) in [
            ("signature scheme", u64::from(found.scheme), u64::from(self.head.scheme)),
            ("secret, lexicons and signature settings", found.key_id, self.head.key_id),
            (
                "[store], [mirror], [quilt], [template] and [revisions] settings (or text.terms_min_unspaced)",
                found.settings,
                self.head.settings,
            ),
        ] {
            if found != ours {
                return Err(Refused::Other { what, found, ours });
            }
        }
        self.read(&mut opened)?;
        Ok(())
    }

    fn read(&mut self, opened: &mut Opened<'_>) -> Result<(), SnapshotError> {
        let own = || Store::parts().chain([STANDINGS]);
        let beside = own().filter(|_| self.successor.is_some()).map(|name| format!("{SUCCESSOR}{name}"));
        let mut missing: Vec<String> = own().map(str::to_owned).chain(beside).collect();
        let (mut bytes, mut merges) = (Vec::new(), Vec::new());
        // Parts come first: they say how many rows the tables have.
        let mut block = None;
        while let Some(name) = missing.first() {
            block = opened.block(&mut bytes)?;
            let Some((Block::Part, _)) = block else {
                return Err(SnapshotError::Missing { name: name.clone() });
            };
            let name = self.read_part(opened, &mut bytes)?;
            let n_before = missing.len();
            missing.retain(|other| *other != name);
            let is_merges = name.strip_prefix(SUCCESSOR).unwrap_or(&name) == MERGES && !merges.contains(&name);
            if is_merges {
                merges.push(name);
            } else if missing.len() == n_before {
                return Err(Damaged::of("a part is there twice").into());
            }
        }
        if block.is_some() {
            let is_full = self.store.is_worth_huge_pages()
                || self.successor.as_ref().is_some_and(|successor| successor.store.is_worth_huge_pages());
            if is_full {
                self.tables().for_each(|table| table.prefer_huge_pages());
            }
            let mut tables: Vec<_> = self.tables().collect();
            while let Some((block, table)) = opened.block(&mut bytes)? {
                let table = tables.get_mut(usize::from(table)).filter(|_| block != Block::Part);
                table.ok_or(Damaged::of("a block is of no table"))?.load(block, &bytes)?;
            }
        }
        self.resume()?;
        Ok(())
    }

    /// Looks whether the tables that were read agree with the rest.
    fn resume(&mut self) -> Result<(), Damaged> {
        let Self { judge, store, successor, .. } = self;
        // Both walk through all their cells.
        let (judge, store) = thread::scope(|scope| {
            let judge = scope.spawn(|| judge.resume());
            let store = store.resume();
            (judge.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), store)
        });
        judge.and(store)?;
        successor.as_mut().map_or(Ok(()), |successor| successor.resume())
    }

    /// Reads all pieces of a part, the first of which is in `bytes`. Returns its name.
    fn read_part(&mut self, opened: &mut Opened<'_>, bytes: &mut Vec<u8>) -> Result<String, SnapshotError> {
        const UNREADABLE: Damaged = Damaged::of("a part is unreadable");
        let (name, mut is_last, begin) = piece(bytes).ok_or(UNREADABLE)?;
        let (name, mut part) = (name.to_owned(), begin.to_vec());
        let both = [Some(&*self), self.successor()].into_iter().flatten();
        let n_bytes_max = both.map(|filter| filter.store.plan().memory).max().unwrap_or(0);
        while !is_last {
            let Some((Block::Part, _)) = opened.block(bytes)? else { return Err(UNREADABLE.into()) };
            let (again, last, more) = piece(bytes).ok_or(UNREADABLE)?;
            if again != name || part.len() > PART_BYTES_MIN.max(n_bytes_max) {
                return Err(UNREADABLE.into());
            }
            part.extend_from_slice(more);
            is_last = last;
        }
        let (of, own_name) = match (name.strip_prefix(SUCCESSOR), &mut self.successor) {
            (Some(own_name), Some(successor)) => (&mut **successor, own_name),
            _ => (self, name.as_str()),
        };
        match own_name {
            STANDINGS => of.judge.load(&part, of.store.plan().n_prototypes)?,
            MERGES => of.judge.load_merges(&part)?,
            _ => of.store.load(own_name, &part)?,
        }
        Ok(name)
    }
}
