//! What those who ask are shown of a run ([`Directory`]): nothing that is not committed.

use super::Instance;
use super::fold::Fold;
use super::journal::Entry;
use crate::http::Phase;
use crate::pipeline::directory::{Counts, Directory};
use crate::pipeline::filter::Event;

/// Shows what was committed, and that it was said now.
pub(super) fn said(directory: &Directory, events: Vec<Event>) {
    directory.tally.add(Counts::of(&events));
    directory.learn(events);
}

impl Instance {
    /// Shows another state than before: its clusters, and where it is.
    pub(super) fn show(&self, fold: &Fold) {
        let directory = self.state.directory();
        directory.clusters.replace(|| fold.filter.ranking());
        directory.stand(|standing| {
            (standing.number, standing.epoch) = (fold.number, fold.epoch);
            standing.positions = fold.positions.clone();
        });
        self.show_store(fold);
    }

    /// Shows that this is where the fold is.
    pub(super) fn show_entry(&self, entry: &Entry) {
        self.state.directory().stand(|standing| {
            (standing.number, standing.epoch) = (entry.number, entry.epoch);
            standing.positions = entry.positions.clone();
        });
    }

    /// Shows what the store holds.
    pub(super) fn show_store(&self, fold: &Fold) {
        let store = (fold.filter.census(), fold.filter.store().plan().all().collect());
        self.state.directory().stand(|standing| standing.store = Some(store));
    }

    /// Shows what another instance has said. A standby hears it when it is said; whoever restores hears it again.
    pub(super) fn show_followed(&self, entry: &Entry, events: Vec<Event>, fold: &Fold) {
        self.show_entry(entry);
        match self.state.phase() {
            Phase::Standby => said(self.state.directory(), events),
            _ => self.state.directory().learn(events),
        }
        if self.is_time_to_count() {
            self.show_store(fold);
        }
    }
}
