//! What was said of late, for those who ask while the filter goes on: the last verdict of each recent document, and the clusters.
//!
//! The pipeline writes after each commit, and a standby after each entry that it has followed, so that nothing is here that is not
//! in the topics. Readers take no lock that a writer waits for long. All of it is bounded, and the oldest gives way; nothing is
//! decided by it. A new process follows the journal from its newest snapshot, and fetches what was said before from the end of
//! `verdicts` ([`mod@refill`]); the clusters it has from the snapshot, exactly, and how they have grown from what is left in `clusters`.
//!
//! # Invariants
//! - Of each id the last verdict is here, or none. (`the_last_verdict_of_an_id_holds`)
//! - It holds so many verdicts, bytes and clusters, and no more; the oldest give way. (`the_oldest_give_way`,
//!   `clusters_come_change_and_go`)
//! - After a restart, and on a standby, it is what it was. (`tests/promises/http/directory.rs`)

mod clusters;
mod growth;
mod recent;
mod refill;
mod tally;

pub use clusters::{Clusters, Told};
pub use growth::{Growth, POINTS_MAX, Point};
pub use recent::{Place, Recent};
pub use refill::{refill, refill_growth};
pub use tally::{Counts, Tally};

use crate::bus::Positions;
use crate::config::HttpSettings;
use crate::pipeline::filter::Event;
use crate::store::Census;
use crate::verdict::event::{ClusterEvent, Verdict};
use std::sync::{Arc, Mutex, PoisonError};

/// What was said of late.
#[derive(Debug, Default)]
pub struct Directory {
    /// Verdicts.
    pub verdicts: Recent,
    /// Clusters.
    pub clusters: Clusters,
    /// How much was said.
    pub tally: Tally,
    standing: Mutex<Standing>,
}

/// Where the fold is, and what it holds.
#[derive(Clone, Debug, Default)]
pub struct Standing {
    /// The last entry of the journal.
    pub number: u64,
    /// The epoch it is in.
    pub epoch: u64,
    /// Where it is in every partition.
    pub positions: Positions,
    /// What the store holds, and the bytes of its tables, as of a few seconds ago.
    pub store: Option<(Census, Vec<(&'static str, usize)>)>,
}

impl Directory {
    /// An empty one, as large as the settings say; without an HTTP side nobody asks, and nothing is held.
    pub fn new(settings: &HttpSettings) -> Self {
        let HttpSettings { enabled, verdicts_held_max, verdicts_held_bytes_max, clusters_held_max, .. } = *settings;
        if !enabled {
            return Self::default();
        }
        Self {
            verdicts: Recent::new(verdicts_held_max, verdicts_held_bytes_max),
            clusters: Clusters::new(clusters_held_max),
            ..Self::default()
        }
    }

    /// The last verdict on the document `id`, if it was given of late.
    pub fn verdict(&self, id: &str) -> Option<Arc<Verdict>> {
        self.verdicts.of(id)
    }

    /// The cluster `id`, as it was last told of.
    pub fn cluster(&self, id: &str) -> Option<Arc<ClusterEvent>> {
        self.clusters.named(id)
    }

    /// Takes in what is committed, in the order of the topics.
    pub fn learn(&self, events: Vec<Event>) {
        // A cluster is told of behind the document that made it so.
        let mut last: Option<Arc<Verdict>> = None;
        for event in events {
            match event {
                Event::Verdict(verdict) => {
                    let verdict: Arc<Verdict> = verdict.into();
                    if verdict.revision == 0 {
                        last = Some(verdict.clone());
                    }
                    self.verdicts.learn(verdict);
                }
                Event::Cluster(cluster) => {
                    let time = last.as_ref().and_then(|verdict| verdict.source.time.as_deref()?.parse().ok());
                    self.clusters.learn(*cluster, time.map(jiff::Timestamp::as_millisecond));
                }
            }
        }
        self.verdicts.count();
    }

    /// Where the fold is, and what it holds.
    pub fn standing(&self) -> Standing {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Says where the fold is.
    pub fn stand(&self, change: impl FnOnce(&mut Standing)) {
        change(&mut self.standing.lock().unwrap_or_else(PoisonError::into_inner));
    }
}
