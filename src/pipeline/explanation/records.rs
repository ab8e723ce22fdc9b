//! Documents read again from the records of a bus, by their positions.

use super::shared::Reading;
use crate::bus::{Bus, BusError, Partition, Positions, Record};
use crate::pipeline::Steps;
use crate::pipeline::run::inlet::Ways;
use crate::verdict::event::Source;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// One look at the bus.
const LOOK: Duration = Duration::from_millis(100);

/// Reads documents again.
pub struct Records {
    bus: Arc<dyn Bus>,
    ways: Ways,
    steps: Steps,
    until: Instant,
}

impl Records {
    /// On `bus`, by the steps of the filter, until then at most.
    pub fn new(bus: Arc<dyn Bus>, ways: Ways, steps: Steps, until: Instant) -> Self {
        Self { bus, ways, steps, until }
    }

    /// The document `id` in the record at `source`, if that is still there.
    pub fn read(&mut self, source: &Source, id: &str) -> Reading {
        let record = match self.record(source) {
            Ok(Some(record)) => record,
            Ok(None) if Instant::now() >= self.until => return Reading::Late,
            Ok(None) | Err(BusError::Gone { .. } | BusError::NoTopic { .. }) => return Reading::Gone,
            Err(error) => {
                tracing::warn!(%error, "a record could not be read again");
                return Reading::Gone;
            }
        };
        let Some(document) = self.ways.document(record) else { return Reading::Gone };
        match self.steps.sign(&document) {
            Ok(signed) if signed.document.identity.id == id => Reading::Read(Box::new(signed.kept())),
            // The topic was made again, say, and another record has its place.
            Ok(_) | Err(_) => Reading::Gone,
        }
    }

    fn record(&self, source: &Source) -> Result<Option<Record>, BusError> {
        let partition = Partition::new(source.topic.clone(), source.partition);
        // A place that is none of this bus, such as that of a file.
        let extent = self.bus.extent(&partition)?;
        if !(extent.begin..extent.end).contains(&source.offset) {
            return Ok(None);
        }
        let mut reader = self.bus.reader(&Positions([(partition, source.offset)].into()))?;
        while Instant::now() < self.until {
            let records = reader.poll(1, 1, LOOK)?;
            // Compaction may have left a later one in its place.
            match records.into_iter().next() {
                Some(record) => return Ok(Some(record).filter(|record| record.offset == source.offset)),
                None if reader.is_at_end() => return Ok(None),
                None => {}
            }
        }
        Ok(None)
    }
}
