//! Where the reading is: which file, how many entries of it, and which of them were sent before.

use super::ledger::{Ledger, Met, Progress};
use super::loader::Mark;
use crate::command::output::tell;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub(super) struct Reading {
    ledger: Ledger,
    /// Nothing is passed over.
    again: bool,
    n_bytes_read: Arc<AtomicU64>,
    /// The file that is being read, if it can be met again, and its entries so far.
    file: Option<Arc<Met>>,
    n_entries: u64,
    /// So many of them were sent before.
    n_before: u64,
    /// Files that have been read to their ends.
    done: Vec<Mark>,
    /// What was passed over.
    pub(super) n_files_before: u64,
    pub(super) n_entries_before: u64,
}

/// What is to be done with an entry.
pub(super) enum Next {
    /// It was sent before.
    Passed,
    /// It is new; when it is dealt with, its file is so far.
    New(Option<Mark>),
}

impl Reading {
    pub(super) fn new(ledger: Ledger, again: bool, n_bytes_read: Arc<AtomicU64>) -> Self {
        Self {
            ledger,
            again,
            n_bytes_read,
            file: None,
            n_entries: 0,
            n_before: 0,
            done: Vec::new(),
            n_files_before: 0,
            n_entries_before: 0,
        }
    }

    /// A file is about to be read; false if it was sent before.
    pub(super) fn begin(&mut self, path: &Path) -> bool {
        self.end();
        let met = (path.as_os_str() != "-").then(|| Met::at(path)).flatten();
        let Some(met) = met else { return true };
        let progress = match self.again {
            true => Progress::default(),
            false => self.ledger.progress(&met).unwrap_or_else(|error| {
                tell(format_args!("{}: read from its beginning: {error}", path.display()));
                Progress::default()
            }),
        };
        if progress.is_done {
            self.n_files_before += 1;
            self.n_bytes_read.fetch_add(met.n_bytes(), Ordering::Relaxed);
            return false;
        }
        self.n_before = progress.n_entries;
        self.file = Some(Arc::new(met));
        true
    }

    /// The file has been read to its end.
    pub(super) fn end(&mut self) {
        let progress = Progress { n_entries: self.n_entries, is_done: true };
        self.done.extend(self.file.take().map(|file| (file, progress)));
        (self.n_entries, self.n_before) = (0, 0);
    }

    /// The files that were read to their ends since this was asked.
    pub(super) fn done(&mut self) -> Vec<Mark> {
        std::mem::take(&mut self.done)
    }

    /// The next entry of the file.
    pub(super) fn next(&mut self) -> Next {
        self.n_entries += 1;
        if self.n_entries <= self.n_before {
            self.n_entries_before += 1;
            return Next::Passed;
        }
        let progress = Progress { n_entries: self.n_entries, is_done: false };
        Next::New(self.file.clone().map(|file| (file, progress)))
    }
}
