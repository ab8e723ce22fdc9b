//! How far an instance is: what is committed, what is written down, and what of it is counted.

use super::fold::Fold;
use super::publisher::Committed;
use super::snapshots::{self, Kept};
use super::{Instance, counted};
use crate::bus::Partition;
use std::sync::{MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tracing::warn;

/// Committed entries whose place in the journal is remembered: a snapshot takes less long to write.
const RECENT_MAX: usize = 1 << 14;

/// So often the tables are looked at, for those who watch them.
const COUNT_EVERY: Duration = Duration::from_secs(5);

/// What is committed, and what is written down.
pub(super) struct Progress {
    /// The number of the last entry that is committed, and where the journal goes on after it.
    number: u64,
    journal: i64,
    /// The same of the entry whose state is being written, remembered until it is in place.
    recent: Vec<(u64, i64)>,
    snapshot_number: u64,
    snapshot_at: Instant,
    counted_at: Instant,
}

impl Progress {
    /// Nothing yet.
    pub(super) fn new() -> Self {
        let now = Instant::now();
        Self { number: 0, journal: 0, recent: Vec::new(), snapshot_number: 0, snapshot_at: now, counted_at: now }
    }
}

impl Instance {
    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn restored_from(&self, fold: &Fold, journal: i64) {
        let mut progress = self.progress();
        (progress.number, progress.journal, progress.snapshot_number) = (fold.number, journal, fold.number);
        progress.recent = vec![(fold.number, journal)];
    }

    /// Notes that an entry is committed.
    pub(super) fn committed(&self, committed: &Committed, fold: &Fold) {
        let mut progress = self.progress();
        (progress.number, progress.journal) = (committed.entry.number, committed.journal);
        progress.recent.push((committed.entry.number, committed.journal));
        if progress.recent.len() > RECENT_MAX {
            progress.recent.drain(..RECENT_MAX / 2);
        }
        counted::journal(committed.journal);
        drop(progress);
        self.show_entry(&committed.entry);
        self.count(fold);
    }

    /// Looks at the tables, if it is time to: also when nothing comes, or the last figures would be of the middle of what came.
    pub(super) fn count(&self, fold: &Fold) {
        if self.is_time_to_count() {
            let snapshot_at = self.progress().snapshot_at;
            counted::snapshot_age(snapshot_at.elapsed());
            counted::census(fold);
            self.show_store(fold);
        }
    }

    /// Whether it is time to look at the tables again.
    pub(super) fn is_time_to_count(&self) -> bool {
        let mut progress = self.progress();
        let is_due = progress.counted_at.elapsed() > COUNT_EVERY;
        if is_due {
            progress.counted_at = Instant::now();
        }
        is_due
    }

    /// Where the journal goes on after the entry `number`, if that is committed and was not long ago.
    pub(super) fn journal_of(&self, number: u64) -> Option<i64> {
        let progress = self.progress();
        progress.recent.iter().rev().find(|(other, _)| *other == number).map(|(_, journal)| *journal)
    }

    pub(super) fn snapshot_number(&self) -> u64 {
        self.progress().snapshot_number
    }

    pub(super) fn snapshot_written(&self, number: u64, n_bytes: u64) {
        let mut progress = self.progress();
        (progress.snapshot_number, progress.snapshot_at) = (number, Instant::now());
        counted::snapshot(n_bytes);
    }

    /// Trims the journal behind the oldest snapshot that is kept, and lets go of the inputs before it. The empty state that
    /// all began with is one of the kept until others have taken its place.
    pub(super) fn trim(&self, kept: &[Kept]) {
        let Some(oldest) = kept.last() else { return };
        if kept.len() < self.scheme.settings.snapshot.kept.get() {
            return;
        }
        let partition = Partition::new(self.outlet.journal_topic(), 0);
        let trimmed = self.bus.trim(&partition, oldest.journal).map_err(anyhow::Error::from);
        let let_go = || Ok(self.bus.protect(&snapshots::positions(&oldest.path)?)?);
        if let Err(error) = trimmed.and_then(|()| let_go()) {
            warn!("the journal could not be trimmed, it will be after the next snapshot: {error:#}");
        }
    }
}
