//! The filter: batches of signed documents in, verdicts and cluster events out, in the order of the documents.
//!
//! It is a fold: what comes out depends on the documents and their order alone. It can be written down at any border of a
//! batch, while it goes on ([`saving`]), read back, equal ([`loading`]), and go on under other settings ([`carry`]). Where it
//! cannot, one under those settings can see the same documents for a while and then take its place ([`succession`]).
//!
//! # Invariants
//! - Threads, the cut into batches, and saving and loading in between never show. (`tests/promises/fold.rs`)
//! - A probe says what the fold would say, and leaves no trace. (`tests/promises/probe.rs`)

mod carry;
mod loading;
mod saving;
mod succession;

pub use carry::NotCarried;
pub use loading::{Refused, extras};
pub use succession::Twin;

use crate::config::{Problems, Settings};
use crate::signature::SCHEME;
use crate::store::snapshot::Head;
use crate::store::{Arrival, Census, Plan, Settled, Store, Table};
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
    /// Sees the same documents under another scheme, and is to take its place.
    successor: Option<Box<Filter>>,
}

/// The part of a saved filter that judge writes; the others are the store's.
const STANDINGS: &str = "standings";
/// What the names of a successor's parts begin with.
const SUCCESSOR: &str = "successor ";
/// Another one, which is written where clusters have become one.
const MERGES: &str = "merges";

impl Filter {
    /// A filter that has seen nothing. `key_id` is that of the signatures ([`crate::signature::Signatures::key_id`]).
    pub fn new(settings: &Settings, labels: Labels, key_id: u64) -> Self {
        let store = Store::new(settings);
        let judge = Judge::new(settings, store.plan().n_cells_standing(), labels);
        let head = Head { scheme: SCHEME, key_id, settings: digest(settings) };
        Self { store, judge, head, deciding: carry::Deciding::of(settings), saving: None, successor: None }
    }

    /// Whether the system has the address space that [`Filter::new`] takes.
    pub fn room(settings: &Settings) -> Result<(), Problems> {
        let Some((table, n_bytes)) = Plan::of(settings).refused() else { return Ok(()) };
        Err(Problems(vec![format!(
            "store.memory ({}) is more than there is room for: the system has no address space for {n_bytes} bytes of {table}; \
             set less, or allow the process more (ulimit -v)",
            settings.store.memory
        )]))
    }

    /// Folds a batch; calls `with` for every event, in order.
    pub fn fold(&mut self, batch: &[Arrival], n_threads: usize, with: impl FnMut(Event)) {
        self.settle(batch, n_threads, with);
    }

    /// The same. Returns where the documents have settled.
    fn settle(&mut self, batch: &[Arrival], n_threads: usize, mut with: impl FnMut(Event)) -> Vec<Settled> {
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
        settled
    }

    /// The verdict that [`Filter::fold`] would give to `arrival` if it came next. Nothing is changed, and nothing is
    /// remembered of it.
    pub fn probe(&self, arrival: &Arrival) -> Verdict {
        let probed = self.store.probe(arrival);
        self.judge.probe(arrival, &probed, &self.store)
    }

    /// Decides all that waits to be decided anew: at the end of a scan, or when there is nothing else to do.
    pub fn settle_revisions(&mut self, mut with: impl FnMut(Event)) {
        self.judge.settle_revisions(&self.store, |_, verdict| with(Event::Verdict(Box::new(verdict))));
        if let Some(Self { judge, store, .. }) = self.successor.as_deref_mut() {
            judge.settle_revisions(store, |_, _| {});
        }
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

    /// What there is to say of the cluster of this name, or of the one that it has become part of.
    pub fn cluster(&self, name: &str) -> Option<ClusterEvent> {
        self.store.cluster(&self.judge.heir_of(name))
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
        self.judge.label(label.clone())?;
        match &mut self.successor {
            Some(successor) => successor.label(label),
            None => Ok(()),
        }
    }

    /// Forgets the document `id`, and with it the group that it heads; whether there was something to forget. Only between
    /// batches.
    pub fn forget(&mut self, id: &str) -> bool {
        let forgotten = self.store.forget(id);
        for (_, of) in self.store.deaths() {
            self.judge.forget(of);
        }
        self.store.end_batch();
        let by_successor = self.successor.as_mut().is_some_and(|successor| successor.forget(id));
        forgotten || by_successor
    }

    /// All tables, in an order that stays.
    fn tables(&mut self) -> impl Iterator<Item = &mut dyn Table> {
        let Self { judge, store, successor, .. } = self;
        let beside = successor.iter_mut().flat_map(|beside| beside.judge.tables().chain(beside.store.tables()));
        judge.tables().chain(store.tables()).chain(beside)
    }
}

/// A digest of the settings that decide verdicts, beside those that decide signatures.
fn digest(settings: &Settings) -> u64 {
    let Settings { text, store, mirror, quilt, template, revisions, .. } = settings;
    // It decides no bit of a signature, and by what a mail of few words is compared.
    let terms_min_unspaced = text.terms_min_unspaced;
    let decisive = serde_json::to_vec(&(terms_min_unspaced, store, mirror, quilt, template, revisions));
    xxh3_64(&decisive.expect("settings have no map with odd keys, and memory does not fail"))
}
