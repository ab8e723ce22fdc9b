//! The journal: what the store has folded, in order. It is the only truth about positions, and all that a replay needs.
//!
//! One record is written with every batch, in the same transaction as the verdicts. `schemas/journal.json` documents its
//! fields.
//!
//! # Invariants
//! - What is written can be read back, equal; other versions are refused by name. (`entries_survive_json`)
//! - Ranges name each record once, in the order of the fold. (`ranges_are_runs_of_one_partition`)

use super::label::LabelRecord;
use super::marks::Marks;
use crate::bus::{Partition, Positions};
use serde::{Deserialize, Serialize};

/// The number of `schemas/journal.json`.
pub const SCHEMA: u32 = 1;

/// One record of the journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// [`SCHEMA`].
    pub schema: u32,
    /// Counts the entries of a store, from 1.
    pub number: u64,
    /// Counts the times that the settings changed or something was lost, from 1.
    pub epoch: u64,
    /// What was done.
    #[serde(flatten)]
    pub what: What,
    /// Where every partition was left.
    pub positions: Positions,
    /// By what the last records that were folded are known again.
    #[serde(default, skip_serializing_if = "Marks::is_empty")]
    pub marks: Marks,
}

/// What an entry says was done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum What {
    /// From here on other settings hold, or the state begins anew.
    Epoch(Box<Epoch>),
    /// Labels were taken in and documents folded.
    Batch(Batch),
    /// There was time to decide all that waited to be looked at again.
    Idle(Batch),
    /// An instance took the seat. It changes nothing and is not counted: whoever wrote it knows by it that it has read
    /// all that its predecessors wrote.
    Seat {
        /// Who.
        by: String,
    },
}

/// Under what the entries that follow were made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Epoch {
    /// The settings that decide signatures and verdicts, in full but for the secret.
    pub settings: serde_json::Value,
    /// A digest of them.
    pub settings_digest: String,
    /// Names secret, lexicons and signature settings without telling the secret.
    pub key_id: String,
    /// Number of the rules that make signatures.
    pub scheme: u32,
    /// How the state came here.
    pub state: Origin,
}

/// How an epoch came to its state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Nothing was seen before.
    Empty,
    /// The state went on under other settings.
    Carried,
    /// The state goes on as it was. Beside it begins an empty one under these settings, which sees the same documents from here on.
    Beside {
        /// By the store's clock, until it takes the other's place.
        hours: u64,
        /// Groups and clusters of which it remembers whose places they take, at most.
        heirs_max: usize,
    },
    /// The state that began beside it has taken its place.
    Succeeded,
    /// The state that began beside it was dropped.
    Withdrawn,
    /// It was made elsewhere (`scan --store`), or something was lost: it cannot be had by following the journal.
    Snapshot {
        /// What was accepted.
        why: String,
    },
}

/// What a batch took in and gave out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Batch {
    /// The records, in the order in which they were folded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ranges: Vec<Range>,
    /// Labels that were in force before its documents.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<LabelRecord>,
    /// Verdicts published, revisions included.
    pub n_verdicts: u64,
    /// Cluster events published.
    pub n_clusters: u64,
    /// Records set aside.
    pub n_dead_letters: u64,
    /// A digest of the verdicts and cluster events, in order.
    pub digest: String,
}

/// Neighbouring records of one partition: all that there are from `from` to `to`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(String, i32, i64, i64)", into = "(String, i32, i64, i64)")]
pub struct Range {
    /// Where.
    pub partition: Partition,
    /// The first.
    pub from: i64,
    /// The last.
    pub to: i64,
}

impl From<(String, i32, i64, i64)> for Range {
    fn from((topic, number, from, to): (String, i32, i64, i64)) -> Self {
        Self { partition: Partition::new(topic, number), from, to }
    }
}

impl From<Range> for (String, i32, i64, i64) {
    fn from(Range { partition, from, to }: Range) -> Self {
        (partition.topic.to_string(), partition.number, from, to)
    }
}

/// Adds a record to the ranges of a batch.
pub fn add(ranges: &mut Vec<Range>, partition: &Partition, offset: i64) {
    match ranges.last_mut() {
        Some(last) if last.partition == *partition => last.to = offset,
        _ => ranges.push(Range { partition: partition.clone(), from: offset, to: offset }),
    }
}

/// Why a record of the journal cannot be followed.
#[derive(Debug, thiserror::Error)]
pub enum EntryError {
    /// It is none.
    #[error("journal record {offset} cannot be read: {why}")]
    Unreadable {
        /// Which.
        offset: i64,
        /// What is wrong with it.
        why: String,
    },
    /// Another version wrote it.
    #[error("journal record {offset} has schema {found}, this version reads {SCHEMA}")]
    Schema {
        /// Which.
        offset: i64,
        /// The number that it has.
        found: u64,
    },
}

impl Entry {
    /// Whether `again` is what came of folding this entry again. One that was written before there were marks has none.
    pub fn is_met_by(&self, again: &Self) -> bool {
        let Self { schema, number, epoch, what, positions, marks } = self;
        let is_same = (schema, number, epoch) == (&again.schema, &again.number, &again.epoch);
        is_same && *what == again.what && *positions == again.positions && (marks.is_empty() || *marks == again.marks)
    }

    /// Reads the record at `offset`.
    pub fn from_json(json: &[u8], offset: i64) -> Result<Self, EntryError> {
        let value: serde_json::Value =
            serde_json::from_slice(json).map_err(|error| EntryError::Unreadable { offset, why: error.to_string() })?;
        match value.get("schema").and_then(serde_json::Value::as_u64) {
            Some(found) if found != u64::from(SCHEMA) => Err(EntryError::Schema { offset, found }),
            _ => {
                serde_json::from_value(value).map_err(|error| EntryError::Unreadable { offset, why: error.to_string() })
            }
        }
    }

    /// As it is written.
    pub fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("entries have no map with odd keys, and memory does not fail")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_runs_of_one_partition() {
        let (a, b) = (Partition::new("pages", 0), Partition::new("pages", 1));
        let mut ranges = Vec::new();
        for (partition, offset) in [(&a, 3), (&a, 4), (&a, 7), (&b, 0), (&a, 8)] {
            add(&mut ranges, partition, offset);
        }
        let range = |partition: &Partition, from, to| Range { partition: partition.clone(), from, to };
        assert_eq!(ranges, [range(&a, 3, 7), range(&b, 0, 0), range(&a, 8, 8)]);
    }

    #[test]
    fn entries_survive_json() {
        let mut positions = Positions::default();
        positions.pass(&Partition::new("pages", 0), 7);
        let batch = Batch {
            ranges: vec![Range { partition: Partition::new("pages", 0), from: 3, to: 7 }],
            n_verdicts: 5,
            digest: "0123456789abcdef".into(),
            ..Batch::default()
        };
        let epoch = Epoch {
            settings: serde_json::json!({"store": {"memory": 1}}),
            settings_digest: "1".into(),
            key_id: "2".into(),
            scheme: 1,
            state: Origin::Snapshot { why: "records were deleted".into() },
        };
        let beside = Epoch { state: Origin::Beside { hours: 24, heirs_max: 100 }, ..epoch.clone() };
        let epochs = [epoch, beside].map(|epoch| What::Epoch(Box::new(epoch)));
        for what in [What::Batch(batch.clone()), What::Idle(batch)].into_iter().chain(epochs) {
            let (positions, marks) = (positions.clone(), Marks::default());
            let entry = Entry { schema: SCHEMA, number: 12, epoch: 2, what, positions, marks };
            assert_eq!(Entry::from_json(&entry.to_json(), 0).unwrap(), entry);
        }
        assert_eq!(
            Entry::from_json(br#"{"schema":2}"#, 5).unwrap_err().to_string(),
            "journal record 5 has schema 2, this version reads 1"
        );
        assert!(Entry::from_json(b"{}", 5).unwrap_err().to_string().starts_with("journal record 5 cannot be read"));
    }
}
