//! What a batch publishes: verdicts, cluster events and dead letters as records, and the finished journal entry.
//!
//! # Invariants
//! - The digest in the journal is that of the verdicts and cluster events, in order, byte for byte.
//!   (`the_digest_sees_every_byte_and_the_order`)

use super::fold::Folded;
use super::journal::{Entry, What};
use crate::bus::{Header, Outgoing};
use crate::config::{Settings, TopicSettings};
use crate::pipeline::filter::Event;
use crate::verdict::event::{Class, ClusterEvent, Outcome, SCHEMA, Verdict};
use std::sync::Arc;
use xxhash_rust::xxh3::Xxh3Default;

/// Writes out what batches publish.
#[derive(Clone)]
pub struct Outlet {
    verdicts: Arc<str>,
    clusters: Arc<str>,
    journal: Arc<str>,
    dead_letters: Arc<str>,
    key: Vec<u8>,
    schema: Header,
}

/// What is published together.
pub struct Publication {
    /// Verdicts, cluster events and dead letters.
    pub records: Vec<Outgoing>,
    /// The journal record.
    pub journal: Outgoing,
    /// What it says.
    pub entry: Entry,
    /// What the records say, for those who ask once they are durable.
    pub events: Vec<Event>,
}

impl Outlet {
    /// By the settings.
    pub fn new(settings: &Settings) -> Self {
        let TopicSettings { verdicts, clusters, journal, dead_letters, .. } = &settings.topics;
        Self {
            verdicts: verdicts.as_str().into(),
            clusters: clusters.as_str().into(),
            journal: journal.as_str().into(),
            dead_letters: dead_letters.as_str().into(),
            key: settings.bus.store.clone().into_bytes(),
            schema: ("schema".into(), SCHEMA.to_string().into_bytes()),
        }
    }

    /// Writes out what came of a batch.
    pub fn publication(&self, folded: Folded) -> Publication {
        let Folded { mut entry, rejected, events: of_others, letters, .. } = folded;
        let mut events: Vec<Event> = rejected.into_iter().map(|verdict| Event::Verdict(Box::new(verdict))).collect();
        events.extend(of_others);
        let mut records: Vec<Outgoing> = events.iter().map(|event| self.record(event)).collect();
        if let What::Batch(batch) | What::Idle(batch) = &mut entry.what {
            batch.n_clusters = events.iter().filter(|event| matches!(event, Event::Cluster(_))).count() as u64;
            batch.n_verdicts = records.len() as u64 - batch.n_clusters;
            batch.n_dead_letters = letters.len() as u64;
            batch.digest = digest(&records);
        }
        records.extend(letters.into_iter().map(|(_, letter)| letter));
        let journal = self.journal(&entry);
        Publication { records, journal, entry, events }
    }

    /// The topic of the journal.
    pub fn journal_topic(&self) -> Arc<str> {
        self.journal.clone()
    }

    /// The topic of dead letters.
    pub fn dead_letters_topic(&self) -> Arc<str> {
        self.dead_letters.clone()
    }

    /// An entry as a record of the journal.
    pub fn journal(&self, entry: &Entry) -> Outgoing {
        let key = Some(self.key.clone());
        Outgoing { key, partition: Some(0), value: Some(entry.to_json()), ..Outgoing::to(self.journal.clone()) }
    }

    fn record(&self, event: &Event) -> Outgoing {
        match event {
            Event::Verdict(verdict) => self.verdict(verdict),
            Event::Cluster(cluster) => self.cluster(cluster),
        }
    }

    fn verdict(&self, verdict: &Verdict) -> Outgoing {
        let value = serde_json::to_vec(verdict).expect("verdicts have no map with odd keys");
        let headers = vec![
            self.schema.clone(),
            ("class".into(), classes(verdict).into_bytes()),
            ("verdict".into(), verdict_id(verdict).into_bytes()),
        ];
        let key = Some(verdict.id.clone().into_bytes());
        Outgoing { key, headers, value: Some(value), ..Outgoing::to(self.verdicts.clone()) }
    }

    /// A cluster that has gone leaves an empty value, so that a compacted topic forgets it too.
    fn cluster(&self, cluster: &ClusterEvent) -> Outgoing {
        let value = serde_json::to_vec(cluster).expect("cluster events have no map with odd keys");
        let value = (!cluster.expired).then_some(value);
        let key = Some(cluster.id.clone().into_bytes());
        Outgoing { key, headers: vec![self.schema.clone()], value, ..Outgoing::to(self.clusters.clone()) }
    }
}

/// The id of a verdict: its source record, and the number of the revision.
pub fn verdict_id(verdict: &Verdict) -> String {
    let source = &verdict.source;
    format!("{}/{}/{}/{}", source.topic, source.partition, source.offset, verdict.revision)
}

/// The classes in a word: what a consumer filters by without opening the value.
pub fn classes(verdict: &Verdict) -> String {
    match verdict.outcome {
        Outcome::Rejected => return "rejected".into(),
        Outcome::Insufficient if verdict.classes.is_empty() => return "insufficient".into(),
        _ if verdict.classes.is_empty() => return "original".into(),
        _ => {}
    }
    let name = |class: &Class| match class {
        Class::Mirror => "mirror",
        Class::Quilt => "quilt",
        Class::Template => "template",
    };
    verdict.classes.iter().map(name).collect::<Vec<_>>().join(",")
}

/// A digest of keys and values, in order.
fn digest(records: &[Outgoing]) -> String {
    let mut hash = Xxh3Default::new();
    for record in records {
        for part in [&record.key, &record.value] {
            let bytes = part.as_deref().unwrap_or_default();
            hash.update(&(bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        }
    }
    format!("{:016x}", hash.digest())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_sees_every_byte_and_the_order() {
        let record = |key: &str, value: &str| Outgoing {
            key: Some(key.into()),
            value: Some(value.into()),
            ..Outgoing::to("verdicts")
        };
        let all = [
            vec![record("a", "bc"), record("d", "")],
            vec![record("d", ""), record("a", "bc")],
            vec![record("ab", "c"), record("d", "")],
            vec![record("a", "bd"), record("d", "")],
            vec![record("a", "bc")],
        ];
        let mut digests: Vec<String> = all.iter().map(|records| digest(records)).collect();
        digests.sort();
        digests.dedup();
        assert_eq!(digests.len(), all.len());
    }
}
