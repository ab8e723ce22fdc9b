//! Records that are read again from a bus, by their positions, for people who ask.
//!
//! # Invariants
//! - It takes so long and no longer, and one record at a time is held. (by `until`; callers bound how many ask at once)

use crate::bus::{Bus, BusError, Partition, Positions, Record};
use crate::document;
use crate::pipeline::run::inlet::Ways;
use crate::verdict::event::Source;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// One look at the bus.
const LOOK: Duration = Duration::from_millis(100);

/// Reads records again.
pub struct Records {
    bus: Arc<dyn Bus>,
    ways: Ways,
    until: Instant,
}

/// What came of looking for a record.
pub enum Found {
    /// The document in it, as it came.
    Document(Box<document::Record>),
    /// It is not there any more.
    Gone,
    /// There was no time.
    Late,
    /// The bus cannot tell now.
    Failed(BusError),
}

impl Records {
    /// Of `bus`, until then at most.
    pub fn new(bus: Arc<dyn Bus>, ways: Ways, until: Instant) -> Self {
        Self { bus, ways, until }
    }

    /// What is in the record at `source`, if that is still there. Where its topic was made again it may be another document.
    pub fn find(&self, source: &Source) -> Found {
        match self.record(source) {
            Ok(Some(record)) => {
                self.ways.document(record).map_or(Found::Gone, |record| Found::Document(Box::new(record)))
            }
            Ok(None) if Instant::now() >= self.until => Found::Late,
            Ok(None) | Err(BusError::Gone { .. } | BusError::NoTopic { .. }) => Found::Gone,
            Err(error) => {
                tracing::warn!(%error, "a record could not be read again");
                Found::Failed(error)
            }
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
