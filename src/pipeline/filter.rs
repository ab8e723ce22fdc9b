//! The filter: batches of signed documents in, verdicts and cluster events out, in the order of the documents.
//!
//! It is a fold: what comes out depends on the documents and their order alone. It can be written to bytes and read back,
//! equal, at any border of a batch.
//!
//! # Invariants
//! - Threads, the cut into batches, and saving and loading in between never show. (`tests/promises/fold.rs`)
//! - A saved filter of other settings or a damaged one is refused by name. (`tests/promises/scan_command.rs`)

use crate::config::Settings;
use crate::signature::SCHEME;
use crate::store::snapshot::{Head, Snapshot, SnapshotError};
use crate::store::{Arrival, Census, Store};
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
    temp: Option<(Vec<u8>, usize)>,
}

/// The section of a saved filter that judge writes; the others are the store's.
const STANDINGS: &str = "standings";

impl Filter {
    /// A filter that has seen nothing. `key_id` is that of the signatures ([`crate::signature::Signatures::key_id`]).
    pub fn new(settings: &Settings, labels: Labels, key_id: u64) -> Self {
        let store = Store::new(settings);
        let judge = Judge::new(settings, store.plan().n_cells_standing(), labels);
        Self { store, judge, head: Head { scheme: SCHEME, key_id, settings: digest(settings) }, temp: None }
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
        self.judge.labels().apply(label)
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

    /// The whole state as bytes.
    pub fn save(&self) -> Result<Vec<u8>, postcard::Error> {
        let mut snapshot = Snapshot::new(self.head).section(STANDINGS, &self.judge.save()?);
        for (name, bytes) in self.store.save()? {
            snapshot = snapshot.section(name, &bytes);
        }
        Ok(snapshot.to_bytes())
    }

    /// Reads what [`Filter::save`] has written, under the same settings. After an error the filter is of no use.
    pub fn load(&mut self, bytes: &[u8]) -> Result<(), Refused> {
        let snapshot = Snapshot::open(bytes)?;
        let found = snapshot.head();
        for (what, found, ours) in [
            ("signature scheme", u64::from(found.scheme), u64::from(self.head.scheme)),
            ("secret, lexicons and signature settings", found.key_id, self.head.key_id),
            ("[store], [mirror], [quilt], [template] and [revisions] settings", found.settings, self.head.settings),
        ] {
            if found != ours {
                return Err(Refused::Other { what, found, ours });
            }
        }
        self.judge.load(&snapshot.section(STANDINGS)?).map_err(SnapshotError::from)?;
        for name in Store::parts() {
            self.store.load(name, &snapshot.section(name)?).map_err(SnapshotError::from)?;
        }
        Ok(())
    }
}

pub fn extras(from: &mut dyn std::io::Read) -> Result<Vec<(String, Vec<u8>)>, Refused> {
    let mut n = [0; 8];
    from.read_exact(&mut n).unwrap();
    if &n == b"SEAMRIP\n" {
        return Ok(Vec::new());
    }
    let mut bytes = vec![0; u64::from_le_bytes(n) as usize];
    from.read_exact(&mut bytes).unwrap();
    Ok(vec![("run".into(), bytes)])
}

impl Filter {
    pub fn begin_snapshot(&mut self, extras: Vec<(String, Vec<u8>)>) -> anyhow::Result<()> {
        let mut bytes = Vec::new();
        bytes.extend((extras[0].1.len() as u64).to_le_bytes());
        bytes.extend(&extras[0].1);
        bytes.extend(self.save()?);
        self.temp = Some((bytes, 0));
        Ok(())
    }
    pub fn write_snapshot(&mut self, bytes_max: usize, sink: &mut dyn std::io::Write) -> anyhow::Result<bool> {
        let (bytes, at) = self.temp.as_mut().unwrap();
        let end = (*at + bytes_max).min(bytes.len());
        sink.write_all(&bytes[*at..end])?;
        *at = end;
        let done = end == bytes.len();
        if done {
            self.temp = None;
        }
        Ok(done)
    }
    pub fn abandon_snapshot(&mut self) {
        self.temp = None;
    }
    pub fn load_from(&mut self, from: &mut dyn std::io::Read) -> Result<(), Refused> {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes).unwrap();
        if !bytes.starts_with(b"SEAMRIP\n") {
            let n = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
            bytes.drain(..8 + n);
        }
        self.load(&bytes)
    }
    pub fn carry(&mut self, from: &Self) -> anyhow::Result<()> {
        let bytes = from.save()?;
        let _ = bytes;
        anyhow::bail!("not yet")
    }
}

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

/// A digest of the settings that decide verdicts, beside those that decide signatures.
fn digest(settings: &Settings) -> u64 {
    let Settings { store, mirror, quilt, template, revisions, .. } = settings;
    let decisive = serde_json::to_vec(&(store, mirror, quilt, template, revisions));
    xxh3_64(&decisive.expect("settings have no map with odd keys, and memory does not fail"))
}
