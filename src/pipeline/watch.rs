//! Verdicts as they are published, from any place on, with a cursor beside each.
//!
//! # Invariants
//! - Who goes on from the cursor of a line sees all that came after it, once. (`tests/promises/http/verdicts.rs`)

use super::wanted::Wanted;
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
    /// The verdict on one line, whoever has written it: a line break can only stand between the words of JSON.
    pub fn json(&self) -> Vec<u8> {
        let mut json = self.record.value.clone().unwrap_or_default();
        json.iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
        json
    }

    /// One line of JSON: the verdict with its cursor as the last field.
    pub fn line(&self) -> Vec<u8> {
        let value = self.json();
        let fields = value.strip_suffix(b"}").unwrap_or(&value);
        [fields, b",\"cursor\":\"", self.cursor.as_bytes(), b"\"}\n"].concat()
    }
}

/// Reads the verdicts of all partitions.
pub struct Watch {
    reader: Box<dyn Reader>,
    topic: Arc<str>,
    positions: Positions,
    wanted: Wanted,
}

impl Watch {
    /// The verdicts in `topic` from `start` on that are wanted.
    pub fn open(bus: &dyn Bus, topic: &str, start: &Start, wanted: Wanted) -> Result<Self, NoWatch> {
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
        Ok(Self { reader: bus.reader(&positions)?, topic, positions, wanted })
    }

    /// The next verdicts, at least one if a wanted one is among what comes within `wait`.
    pub fn next(&mut self, n_max: usize, bytes_max: usize, wait: Duration) -> Result<Vec<Seen>, BusError> {
        let mut seen = Vec::new();
        for record in self.reader.poll(n_max, bytes_max, wait)? {
            self.positions.pass(&record.partition, record.offset);
            if self.wanted.accepts_record(&record) {
                seen.push(Seen { record, cursor: self.cursor() });
            }
        }
        Ok(seen)
    }

    /// Where to go on after all that was seen, wanted or not.
    pub fn cursor(&self) -> String {
        cursor::written(&self.topic, &self.positions)
    }
}
