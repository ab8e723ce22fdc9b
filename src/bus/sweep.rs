//! A topic read to the end that it has just now, and later on from there; and the last record under a key.
//!
//! # Invariants
//! - What was there when it was asked for is handed over, each record once. (`tests/promises/bus/records.rs`)
//! - Who looks for keys reads back from the end, no further than needed and than [`BACK_MAX`].
//!   (`keys_are_looked_for_from_the_end`)

use super::{Bus, BusError, Partition, Positions, Reader, Record};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

const POLL_RECORDS_MAX: usize = 1000;
const POLL_BYTES_MAX: usize = 8 << 20;
/// A reader that says nothing for so long, at its end, has said all: behind the last record there may be marks that are none.
const SILENCE: Duration = Duration::from_millis(500);
/// One that says nothing for so long, and is not at its end, has lost the bus.
const PATIENCE: Duration = Duration::from_secs(30);

/// So many offsets of a partition are looked at first by who looks for keys, then twice as many ...
const BACK_FIRST: i64 = 1 << 12;
/// ... and at most so many: of verdicts a few gigabytes.
pub const BACK_MAX: i64 = 1 << 21;

/// Reads a topic to its end, again and again.
pub struct Sweep {
    topic: Arc<str>,
    reader: Option<Box<dyn Reader>>,
    next: Positions,
}

impl Sweep {
    /// From the beginning of the topic.
    pub fn new(topic: impl Into<Arc<str>>) -> Self {
        Self { topic: topic.into(), reader: None, next: Positions::default() }
    }

    /// Hands over what has come since the last time, as far as it is there now.
    pub fn catch_up(&mut self, bus: &dyn Bus, with: &mut dyn FnMut(Record)) -> Result<(), BusError> {
        let swept = self.swept(bus, with);
        if swept.is_err() {
            self.reader = None;
        }
        swept
    }

    fn swept(&mut self, bus: &dyn Bus, with: &mut dyn FnMut(Record)) -> Result<(), BusError> {
        let mut left = Positions::default();
        for number in 0..bus.n_partitions(&self.topic)? {
            let partition = Partition::new(self.topic.clone(), number);
            let extent = bus.extent(&partition)?;
            match self.next.0.get(&partition) {
                Some(next) if *next >= extent.begin => {}
                // New, or its beginning has gone meanwhile.
                _ => {
                    self.next.0.insert(partition.clone(), extent.begin);
                    self.reader = None;
                }
            }
            if self.next.next(&partition) < extent.end {
                left.0.insert(partition, extent.end);
            }
        }
        if left.0.is_empty() {
            return Ok(());
        }
        let reader = match &mut self.reader {
            Some(reader) => reader,
            none => none.insert(bus.reader(&self.next)?),
        };
        read_to(&mut **reader, left, &mut |record| {
            self.next.pass(&record.partition, record.offset);
            with(record);
        })
    }
}

/// Hands over what comes until every partition of `left` is where that says. What lies beyond comes along.
fn read_to(reader: &mut dyn Reader, mut left: Positions, with: &mut dyn FnMut(Record)) -> Result<(), BusError> {
    let mut heard = Instant::now();
    while !left.0.is_empty() {
        let records = reader.poll(POLL_RECORDS_MAX, POLL_BYTES_MAX, SILENCE)?;
        if records.is_empty() && reader.is_at_end() {
            break;
        }
        if !records.is_empty() {
            heard = Instant::now();
        } else if heard.elapsed() > PATIENCE {
            let topic = left.0.keys().next().map(|partition| partition.topic.clone()).unwrap_or_default();
            let why = format!("`{topic}` says nothing");
            return Err(BusError::Unreachable { bus: "the bus".into(), why });
        }
        for record in records {
            if left.0.get(&record.partition).is_some_and(|end| record.offset + 1 >= *end) {
                left.0.remove(&record.partition);
            }
            with(record);
        }
    }
    Ok(())
}

/// The last record under each of the keys, as far as there is one. A bus that cannot look for keys is read back from its end until all
/// are found, or [`BACK_MAX`] offsets of each partition were looked at.
pub fn last_under(bus: &dyn Bus, topic: &str, keys: &HashSet<Vec<u8>>) -> Result<HashMap<Vec<u8>, Record>, BusError> {
    if keys.is_empty() {
        return Ok(HashMap::new());
    }
    if let Some(found) = bus.find_last(topic, keys)? {
        return Ok(found);
    }
    back_from_the_end(bus, topic, keys, BACK_FIRST)
}

fn back_from_the_end(
    bus: &dyn Bus,
    topic: &str,
    keys: &HashSet<Vec<u8>>,
    first: i64,
) -> Result<HashMap<Vec<u8>, Record>, BusError> {
    let (mut extents, mut to) = (Vec::new(), Positions::default());
    for number in 0..bus.n_partitions(topic)? {
        let partition = Partition::new(topic, number);
        let extent = bus.extent(&partition)?;
        to.0.insert(partition.clone(), extent.end);
        extents.push((partition, extent));
    }
    let (mut found, mut back) = (HashMap::new(), first);
    loop {
        let from = extents.iter().map(|(partition, extent)| (partition.clone(), (extent.end - back).max(extent.begin)));
        let from = Positions(from.filter(|(partition, from)| *from < to.next(partition)).collect());
        if from.0.is_empty() {
            return Ok(found);
        }
        let left = Positions(from.0.keys().map(|partition| (partition.clone(), to.next(partition))).collect());
        let mut in_window: HashMap<Vec<u8>, Record> = HashMap::new();
        read_to(&mut *bus.reader(&from)?, left, &mut |record| {
            let is_there = record.offset < to.next(&record.partition);
            if let Some(key) = record.key.as_ref().filter(|key| is_there && keys.contains(*key)) {
                in_window.insert(key.clone(), record);
            }
        })?;
        for (key, record) in in_window {
            found.entry(key).or_insert(record);
        }
        if found.len() == keys.len() || back >= BACK_MAX {
            return Ok(found);
        }
        to.0.extend(from.0);
        back = (2 * back).min(BACK_MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bus::{self, Outgoing};
    use crate::config::Settings;

    #[test]
    fn keys_are_looked_for_from_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let mut settings = Settings::default();
        settings.bus.folder = folder.path().into();
        settings.topics.partitions = 3;
        let bus = bus::open(&settings).unwrap();
        bus.prepare().unwrap();
        let record = |key: usize, value: usize| Outgoing {
            key: Some(format!("k{key}").into_bytes()),
            value: Some(value.to_string().into_bytes()),
            ..Outgoing::to("verdicts")
        };
        bus.feeder().unwrap().append((0..500).map(|number| record(number % 100, number)).collect()).unwrap();
        let looked_for = |numbers: &[usize], first: i64| {
            let keys = numbers.iter().map(|number| format!("k{number}").into_bytes()).collect();
            let found = back_from_the_end(&*bus, "verdicts", &keys, first).unwrap();
            let mut values: Vec<String> =
                found.values().map(|record| String::from_utf8(record.value.clone().unwrap()).unwrap()).collect();
            values.sort();
            values
        };
        for first in [1, 7, 64, 4096] {
            assert_eq!(looked_for(&[0, 57, 99], first), ["400", "457", "499"], "{first}");
            assert_eq!(looked_for(&[3, 1000], first), ["403"], "one of them is nowhere");
        }
        assert_eq!(looked_for(&[], 1), [""; 0]);
    }
}
