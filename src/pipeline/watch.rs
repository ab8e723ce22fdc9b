//! Verdicts as they are published, from any place on, with a cursor beside each.
//!
//! # Invariants
//! - Who goes on from the cursor of a line sees all that came after it, once. (`tests/promises/http/verdicts.rs`)

use crate::bus::{Bus, BusError, Partition, Positions, Reader, Record, cursor};
use std::convert::Infallible;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

/// Where to begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Start {
    /// With the oldest verdict that is there.
    Beginning,
    /// With what comes from now on.
    End,
    /// After the line that had this cursor.
    Cursor(String),
}

impl FromStr for Start {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match text {
            "beginning" => Self::Beginning,
            "end" => Self::End,
            cursor => Self::Cursor(cursor.to_owned()),
        })
    }
}

/// What a verdict can say in one word, as its header `class` has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
#[expect(missing_docs, reason = "schemas/verdict.json explains them")]
pub enum Sort {
    Mirror,
    Quilt,
    Template,
    Original,
    Insufficient,
    Rejected,
}

impl Sort {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Mirror, Self::Quilt, Self::Template, Self::Original, Self::Insufficient, Self::Rejected];

    /// The word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mirror => "mirror",
            Self::Quilt => "quilt",
            Self::Template => "template",
            Self::Original => "original",
            Self::Insufficient => "insufficient",
            Self::Rejected => "rejected",
        }
    }

    /// The one of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|sort| sort.name() == name)
    }
}

/// Why there is nothing to watch.
#[derive(Debug, thiserror::Error)]
pub enum NoWatch {
    /// The place to begin at is none.
    #[error(transparent)]
    Cursor(#[from] cursor::NoCursor),
    /// The bus says no.
    #[error(transparent)]
    Bus(#[from] BusError),
}

/// A verdict that was seen.
pub struct Seen {
    /// The verdict, as it was published.
    pub record: Record,
    /// Where to go on after it.
    pub cursor: String,
}

impl Seen {
    /// One line of JSON: the verdict with its cursor as the last field.
    pub fn line(&self) -> Vec<u8> {
        let value = self.record.value.as_deref().unwrap_or_default();
        let fields = value.strip_suffix(b"}").unwrap_or(value);
        [fields, b",\"cursor\":\"", self.cursor.as_bytes(), b"\"}\n"].concat()
    }
}

/// Reads the verdicts of all partitions.
pub struct Watch {
    reader: Box<dyn Reader>,
    topic: Arc<str>,
    positions: Positions,
    sorts: Vec<Sort>,
}

impl Watch {
    /// The verdicts in `topic` from `start` on, of these sorts; of all if none is named.
    pub fn open(bus: &dyn Bus, topic: &str, start: &Start, sorts: Vec<Sort>) -> Result<Self, NoWatch> {
        let topic: Arc<str> = topic.into();
        let known = match start {
            Start::Cursor(cursor) => cursor::read(&topic, cursor)?,
            Start::Beginning | Start::End => Positions::default(),
        };
        let mut positions = Positions::default();
        for number in 0..bus.n_partitions(&topic)? {
            let partition = Partition::new(topic.clone(), number);
            let extent = bus.extent(&partition)?;
            let next = match (start, known.0.get(&partition)) {
                (Start::End, _) => extent.end,
                (_, Some(&wanted)) if !(extent.begin..=extent.end).contains(&wanted) => {
                    let (begin, end) = (extent.begin, extent.end);
                    return Err(BusError::Gone { partition, wanted, begin, end }.into());
                }
                (_, Some(&wanted)) => wanted,
                // A partition that was added since.
                (_, None) => extent.begin,
            };
            positions.0.insert(partition, next);
        }
        Ok(Self { reader: bus.reader(&positions)?, topic, positions, sorts })
    }

    /// The next verdicts, at least one if a wanted one is among what comes within `wait`.
    pub fn next(&mut self, n_max: usize, bytes_max: usize, wait: Duration) -> Result<Vec<Seen>, BusError> {
        let mut seen = Vec::new();
        for record in self.reader.poll(n_max, bytes_max, wait)? {
            self.positions.pass(&record.partition, record.offset);
            if self.is_wanted(&record) {
                seen.push(Seen { record, cursor: self.cursor() });
            }
        }
        Ok(seen)
    }

    /// Where to go on after all that was seen, wanted or not.
    pub fn cursor(&self) -> String {
        cursor::written(&self.topic, &self.positions)
    }

    fn is_wanted(&self, record: &Record) -> bool {
        // Whatever else somebody may have written there, a line is an object.
        let is_object = |value: &[u8]| value.starts_with(b"{") && value.ends_with(b"}");
        if !record.value.as_deref().is_some_and(is_object) {
            return false;
        }
        let said = record.header("class").unwrap_or_default();
        let is_said = |sort: &Sort| said.split(|byte| *byte == b',').any(|word| word == sort.name().as_bytes());
        self.sorts.is_empty() || self.sorts.iter().any(is_said)
    }
}
