//! The filter: batches of signed documents in, verdicts and cluster events out, in the order of the documents.
//!
//! It is a fold: what comes out depends on the documents and their order alone. It can be written down at any border of a
//! batch, while it goes on ([`saving`]), read back, equal ([`loading`]), and go on under other settings ([`carry`]).
//!
//! # Invariants
//! - Threads, the cut into batches, and saving and loading in between never show. (`tests/promises/fold.rs`)

mod carry;
mod loading;
mod saving;

pub use carry::NotCarried;
pub use loading::{Refused, extras};

use crate::config::Settings;
use crate::signature::SCHEME;
use crate::store::snapshot::Head;
use crate::store::{Arrival, Census, Store, Table};
use crate::verdict::event::{ClusterEvent, Verdict};
use crate::verdict::judge::Judge;
use crate::verdict::label::Label;
use crate::verdict::labels::{Full, Labels};
use xxhash_rust::xxh3::xxh3_64;

/// What the filter says.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// Of a document.
    Verdict(Box<Verdict>),
    /// Of a cluster.
    Cluster(Box<ClusterEvent>),
}

/// Match and judge over one stream.
pub struct Filter {
    store: Store,
    judge: Judge,
    head: Head,
    deciding: carry::Deciding,
    saving: Option<saving::Saving>,
}

/// The part of a saved filter that judge writes; the others are the store's.
const STANDINGS: &str = "standings";
/// Another one, which is written where clusters have become one.
const MERGES: &str = "merges";

impl Filter {
    /// A filter that has seen nothing. `key_id` is that of the signatures ([`crate::signature::Signatures::key_id`]).
    pub fn new(settings: &Settings, labels: Labels, key_id: u64) -> Self {
        let store = Store::new(settings);
        let judge = Judge::new(settings, store.plan().n_cells_standing(), labels);
        let head = Head { scheme: SCHEME, key_id, settings: digest(settings) };
        Self { store, judge, head, deciding: carry::Deciding::of(settings), saving: None }
    }

    /// Folds a batch; calls `with` for every event, in order.
    pub fn fold(&mut self, batch: &[Arrival], n_threads: usize, mut with: impl FnMut(Event)) {
        let (settled, hits) = self.store.hits(batch, n_threads);
        let mut clusters = self.store.take_cluster_events().into_iter().peekable();
        self.judge.judge(batch, &settled, &hits, &self.store, n_threads, |position, verdict| {
            while let Some((_, event)) = clusters.next_if(|(other, _)| *other < position) {
                with(Event::Cluster(Box::new(event)));
            }
            with(Event::Verdict(Box::new(verdict)));
        });
        clusters.for_each(|(_, event)| with(Event::Cluster(Box::new(event))));
        self.store.end_batch();
    }

    /// Decides all that waits to be decided anew: at the end of a scan, or when there is nothing else to do.
    pub fn settle_revisions(&mut self, mut with: impl FnMut(Event)) {
        self.judge.settle_revisions(&self.store, |_, verdict| with(Event::Verdict(Box::new(verdict))));
    }

    /// All clusters that are templates, ranked.
    pub fn ranking(&self) -> Vec<ClusterEvent> {
        self.store.ranking()
    }

    /// The store, to look at.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// What there is, and what has left.
    pub fn census(&self) -> Census {
        self.store.census()
    }

    /// Records that wait to be decided anew, and what was turned away.
    pub fn judge(&self) -> &Judge {
        &self.judge
    }

    /// The labels in force.
    pub fn labels(&self) -> &Labels {
        self.judge.labels()
    }

    /// Puts a label in force, or takes it back. Only between batches.
    pub fn label(&mut self, label: Label) -> Result<(), Full> {
        self.judge.label(label)
    }

    /// Forgets the document `id`, and with it the group that it heads; whether there was something to forget. Only between
    /// batches.
    pub fn forget(&mut self, id: &str) -> bool {
        let forgotten = self.store.forget(id);
        for (_, of) in self.store.deaths() {
            self.judge.forget(of);
        }
        self.store.end_batch();
        forgotten
    }

    /// All tables, in an order that stays.
    fn tables(&mut self) -> impl Iterator<Item = &mut dyn Table> {
        self.judge.tables().chain(self.store.tables())
    }
}

/// A digest of the settings that decide verdicts, beside those that decide signatures.
fn digest(settings: &Settings) -> u64 {
    let Settings { store, mirror, quilt, template, revisions, .. } = settings;
    let decisive = serde_json::to_vec(&(store, mirror, quilt, template, revisions));
    xxh3_64(&decisive.expect("settings have no map with odd keys, and memory does not fail"))
}
