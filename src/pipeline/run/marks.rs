//! By what the last record of every partition is known again: its place, and a digest of it.
//!
//! A position says how far a partition was folded, and not of which records. A topic that was deleted and made again, and has grown
//! past the position since, looks as if nothing had happened, and its first records would be missed: so whoever goes on first
//! looks whether the last record that was folded is still that record.
//!
//! # Invariants
//! - Another record in the same place is noticed; one that is there no more says nothing. (`another_record_is_noticed`)
//! - Marks survive being written down. (`marks_survive_json`)

use crate::bus::{Bus, BusError, Partition, Positions, Record};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use xxhash_rust::xxh3::Xxh3Default;

/// So much of a value is in its digest: beside time, key and length that is enough to tell two records apart.
const VALUE_BYTES_MAX: usize = 1024;
/// A record that does not come by then has been deleted.
const PATIENCE: Duration = Duration::from_secs(10);
const POLL_WAIT: Duration = Duration::from_millis(100);
const POLL_BYTES_MAX: usize = 1 << 20;

/// What a record is known again by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Digest(u64);

impl Digest {
    /// Of the record, as it came.
    pub fn of(record: &Record) -> Self {
        let mut hash = Xxh3Default::new();
        hash.update(&record.time_ms.to_le_bytes());
        for part in [&record.key, &record.value] {
            let bytes = part.as_deref().unwrap_or_default();
            hash.update(&(bytes.len() as u64).to_le_bytes());
            hash.update(&bytes[..bytes.len().min(VALUE_BYTES_MAX)]);
        }
        Self(hash.digest())
    }
}

/// A record that was folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mark {
    offset: i64,
    digest: Digest,
}

/// Of each partition the last record that was folded, where that is known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Written", into = "Written")]
pub struct Marks(BTreeMap<Partition, Mark>);

/// As JSON has it: by topic and partition, the digest in hexadecimal digits.
type Written = BTreeMap<String, BTreeMap<i32, (i64, String)>>;

impl Marks {
    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Notes that the record at `offset` was folded.
    pub fn set(&mut self, partition: &Partition, offset: i64, digest: Digest) {
        let mark = Mark { offset, digest };
        match self.0.get_mut(partition) {
            Some(known) => *known = mark,
            None => drop(self.0.insert(partition.clone(), mark)),
        }
    }

    /// Nothing is known of the partition any more.
    pub fn forget(&mut self, partition: &Partition) {
        self.0.remove(partition);
    }

    /// The first of `partitions` whose record at its mark is another one, with that place.
    pub fn changed(&self, bus: &dyn Bus, partitions: &Positions) -> Result<Option<(Partition, i64)>, BusError> {
        let mut from = Positions::default();
        for partition in partitions.0.keys() {
            let Some(mark) = self.0.get(partition) else { continue };
            let extent = bus.extent(partition)?;
            if (extent.begin..extent.end).contains(&mark.offset) {
                from.0.insert(partition.clone(), mark.offset);
            }
        }
        if from.0.is_empty() {
            return Ok(None);
        }
        let (mut reader, begun) = (bus.reader(&from)?, Instant::now());
        while !from.0.is_empty() && begun.elapsed() < PATIENCE {
            let records = reader.poll(from.0.len(), POLL_BYTES_MAX, POLL_WAIT)?;
            if records.is_empty() && reader.is_at_end() {
                break;
            }
            for record in records {
                // The first of each partition is what was asked for, or what comes after it.
                let Some(offset) = from.0.remove(&record.partition) else { continue };
                if record.offset == offset && Digest::of(&record) != self.0[&record.partition].digest {
                    return Ok(Some((record.partition, offset)));
                }
                reader.pause(&record.partition)?;
            }
        }
        Ok(None)
    }
}

impl From<Marks> for Written {
    fn from(marks: Marks) -> Self {
        let mut written = Self::new();
        for (partition, Mark { offset, digest: Digest(digest) }) in marks.0 {
            let topic = written.entry(partition.topic.to_string()).or_default();
            topic.insert(partition.number, (offset, format!("{digest:016x}")));
        }
        written
    }
}

impl From<Written> for Marks {
    /// What cannot be read is as good as nothing: a mark only ever says that something has changed.
    fn from(written: Written) -> Self {
        let mut marks = Self::default();
        for (topic, partitions) in written {
            for (number, (offset, digest)) in partitions {
                if let Ok(digest) = u64::from_str_radix(&digest, 16) {
                    marks.set(&Partition::new(topic.as_str(), number), offset, Digest(digest));
                }
            }
        }
        marks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bus::Outgoing;
    use crate::config::Settings;

    fn fed(values: &[&str]) -> (std::sync::Arc<dyn Bus>, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let mut settings = Settings::default();
        settings.bus.folder = folder.path().into();
        let bus = crate::bus::open(&settings).unwrap();
        bus.prepare().unwrap();
        let record = |value: &&str| Outgoing {
            partition: Some(1),
            value: Some(value.as_bytes().to_vec()),
            ..Outgoing::to("pages")
        };
        bus.feeder().unwrap().append(values.iter().map(record).collect()).unwrap();
        (bus, folder)
    }

    #[test]
    fn another_record_is_noticed() {
        let (bus, _folder) = fed(&["one", "two", "three"]);
        let partition = Partition::new("pages", 1);
        let all = Positions([(partition.clone(), 3), (Partition::new("pages", 0), 0)].into());
        let mut reader = bus.reader(&Positions([(partition.clone(), 0)].into())).unwrap();
        let records = reader.poll(3, usize::MAX, PATIENCE).unwrap();
        let marked = |index: usize| {
            let mut marks = Marks::default();
            marks.set(&partition, records[index].offset, Digest::of(&records[index]));
            marks
        };
        assert_eq!(marked(1).changed(&*bus, &all).unwrap(), None);
        let (again, _folder) = fed(&["one", "another", "three", "four"]);
        assert_eq!(marked(1).changed(&*again, &all).unwrap(), Some((partition.clone(), 1)));
        let other = Positions([(Partition::new("pages", 0), 0)].into());
        assert_eq!(marked(1).changed(&*again, &other).unwrap(), None, "nobody asked");
        again.trim(&partition, 2).unwrap();
        assert_eq!(marked(1).changed(&*again, &all).unwrap(), None, "it was deleted, as old records are");
    }

    #[test]
    fn marks_survive_json() {
        let mut marks = Marks::default();
        marks.set(&Partition::new("pages", 11), 41, Digest(0xab));
        let json = serde_json::to_string(&marks).unwrap();
        assert_eq!(json, r#"{"pages":{"11":[41,"00000000000000ab"]}}"#);
        assert_eq!(serde_json::from_str::<Marks>(&json).unwrap(), marks);
    }
}
