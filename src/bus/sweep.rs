//! A topic read to the end that it has just now, and later on from there; and the last record under a key.
//!
//! # Invariants
//! - What was there when it was asked for is handed over, each record once. (`tests/promises/bus/records.rs`)

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
        let mut heard = Instant::now();
        while !left.0.is_empty() {
            let records = reader.poll(POLL_RECORDS_MAX, POLL_BYTES_MAX, SILENCE)?;
            if records.is_empty() && reader.is_at_end() {
                break;
            }
            if !records.is_empty() {
                heard = Instant::now();
            } else if heard.elapsed() > PATIENCE {
                let why = format!("`{}` says nothing", self.topic);
                return Err(BusError::Unreachable { bus: "the bus".into(), why });
            }
            for record in records {
                self.next.pass(&record.partition, record.offset);
                if left.0.get(&record.partition).is_some_and(|end| record.offset + 1 >= *end) {
                    left.0.remove(&record.partition);
                }
                with(record);
            }
        }
        Ok(())
    }
}

/// The last record under each of the keys, as far as there is one. A bus that cannot look for keys is read from beginning to end.
pub fn last_under(bus: &dyn Bus, topic: &str, keys: &HashSet<Vec<u8>>) -> Result<HashMap<Vec<u8>, Record>, BusError> {
    if keys.is_empty() {
        return Ok(HashMap::new());
    }
    if let Some(found) = bus.find_last(topic, keys)? {
        return Ok(found);
    }
    let mut found = HashMap::new();
    Sweep::new(topic).catch_up(bus, &mut |record| {
        if let Some(key) = record.key.as_ref().filter(|key| keys.contains(*key)) {
            found.insert(key.clone(), record);
        }
    })?;
    Ok(found)
}
