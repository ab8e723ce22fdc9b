//! A filter that is written down while it goes on: the state of one moment, in slices between batches.
//!
//! What is small is written when it begins; the tables follow from front to back, and whatever is changed before its turn is
//! kept as it was. The sink is called from the threads that fold, too, when much is changed: it should not wait for long.
//!
//! # Invariants
//! - What is written is the state of the moment in which it began, whatever is folded meanwhile.
//!   (`tests/promises/snapshots.rs`)

use super::{Filter, MERGES, STANDINGS, SUCCESSOR};
use crate::store::snapshot::{Extras, Log};
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// A snapshot that is being written.
pub(super) struct Saving {
    log: Arc<Log>,
    /// Tables before this one are written.
    table: usize,
}

/// Looking at what need not be written costs about so much less than writing it.
const LOOKING: usize = 8;

impl Filter {
    /// Begins to write the state of this moment to `sink`, with `extras` beside it. Only between batches. What was begun before
    /// and not finished is given up.
    pub fn begin_snapshot(&mut self, extras: &Extras, sink: Box<dyn Write + Send>) -> io::Result<()> {
        self.abandon_snapshot();
        let log = Log::begin(self.head, extras, sink)?;
        self.save_parts(|name, bytes| log.part(name, &bytes)).map_err(io::Error::other)?;
        if let Some(successor) = &self.successor {
            let put = |name: &str, bytes: Vec<u8>| log.part(&format!("{SUCCESSOR}{name}"), &bytes);
            successor.save_parts(put).map_err(io::Error::other)?;
        }
        log.problem()?;
        for (table, number) in self.tables().zip(0..) {
            table.watch(&log, number);
        }
        self.saving = Some(Saving { log, table: 0 });
        Ok(())
    }

    fn save_parts(&self, mut with: impl FnMut(&'static str, Vec<u8>)) -> Result<(), postcard::Error> {
        let merges = self.judge.save_merges()?;
        if !merges.is_empty() {
            with(MERGES, merges);
        }
        with(STANDINGS, self.judge.save()?);
        self.store.save(with)
    }

    /// Writes about `bytes_max` of the snapshot that was begun; whether that was the last of it. Only between batches. After an
    /// error it is to be abandoned. Panics when none was begun.
    pub fn write_snapshot(&mut self, bytes_max: usize) -> io::Result<bool> {
        let Saving { log, table } = self.saving.as_ref().expect("a snapshot was begun");
        let (log, mut number, begun) = (log.clone(), *table, log.n_bytes());
        let mut n_looked_at = 0;
        let mut tables = self.tables().skip(number);
        let mut table = tables.next();
        while let Some(open) = &mut table {
            if (log.n_bytes() - begun) as usize + n_looked_at / LOOKING >= bytes_max {
                break;
            }
            match open.write() {
                Some(n) => n_looked_at += n,
                None => (table, number) = (tables.next(), number + 1),
            }
        }
        let is_done = table.is_none();
        drop(tables);
        log.problem()?;
        if is_done {
            log.end()?;
            self.saving = None;
        } else {
            self.saving = Some(Saving { log, table: number });
        }
        Ok(is_done)
    }

    /// Bytes of the snapshot that is being written: all so far, and of what was changed before its turn.
    pub fn snapshot_bytes(&self) -> Option<(u64, u64)> {
        self.saving.as_ref().map(|saving| (saving.log.n_bytes(), saving.log.n_early_bytes()))
    }

    /// Gives up the snapshot that was begun, if there is one.
    pub fn abandon_snapshot(&mut self) {
        if self.saving.take().is_some() {
            self.tables().for_each(|table| table.unwatch());
        }
    }

    /// Writes the state to `sink` in one go, with `extras` beside it.
    pub fn save_to(&mut self, extras: &Extras, sink: Box<dyn Write + Send>) -> io::Result<()> {
        self.begin_snapshot(extras, sink)?;
        let written = loop {
            match self.write_snapshot(usize::MAX) {
                Ok(false) => {}
                Ok(true) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        self.abandon_snapshot();
        written
    }

    /// The state as bytes, for tests and other small stores.
    pub fn save(&mut self) -> io::Result<Vec<u8>> {
        let shared = Shared::default();
        self.save_to(&Vec::new(), Box::new(shared.clone()))?;
        Ok(std::mem::take(&mut shared.0.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

/// Bytes that the writer and its caller both have.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
