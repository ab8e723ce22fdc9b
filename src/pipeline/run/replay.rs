//! Records of inputs in the order in which the journal says they were folded.
//!
//! A reader brings the records of all partitions as they come; each waits here for its turn. A partition that is far ahead
//! of the journal is paused, so that no more than so many records wait.
//!
//! # Invariants
//! - Records come in the order of the ranges, each once, whatever the order in which the bus brings them.
//!   (`tests/promises/run`)

use super::journal::Range;
use crate::bus::{Bus, BusError, Partition, Positions, Reader, Record};
use std::collections::{HashMap, VecDeque};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A partition with so many bytes waiting is paused ...
const WAITING_BYTES_MAX: usize = 32 << 20;
/// ... until it has no more than so many.
const WAITING_BYTES_LOW: usize = 8 << 20;
const POLL_RECORDS_MAX: usize = 1000;
const POLL_BYTES_MAX: usize = 16 << 20;
/// Without a record for so long, it is asked whether it is still there.
const PATIENCE: Duration = Duration::from_secs(5);

/// Records of inputs, in the journal's order.
pub struct Replay {
    bus: Arc<dyn Bus>,
    reader: Option<Box<dyn Reader>>,
    /// Where each partition is read on from, as far as it has been.
    next: Positions,
    waiting: HashMap<Partition, Waiting>,
}

#[derive(Default)]
struct Waiting {
    records: VecDeque<Record>,
    n_bytes: usize,
    is_paused: bool,
}

impl Replay {
    /// From where `positions` are.
    pub fn new(bus: Arc<dyn Bus>, positions: &Positions) -> Self {
        Self { bus, reader: None, next: positions.clone(), waiting: HashMap::new() }
    }

    /// Hands over the records of a range. `go_on` is asked now and then.
    pub fn range(
        &mut self,
        range: &Range,
        go_on: &mut dyn FnMut() -> ControlFlow<()>,
        with: &mut dyn FnMut(Record) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, BusError> {
        let Range { partition, from, to } = range;
        if !self.waiting.contains_key(partition) {
            // A partition that was not known: the reader is made anew, with it.
            self.next.0.entry(partition.clone()).or_insert(*from);
            self.waiting.insert(partition.clone(), Waiting::default());
            self.reader = None;
        }
        let mut silent_since = Instant::now();
        loop {
            let waiting = self.waiting.get_mut(partition).expect("it was put there");
            while let Some(record) = waiting.records.pop_front_if(|record| record.offset <= *to) {
                waiting.n_bytes -= record.n_bytes();
                // What lies before it came by way of signers.
                if record.offset < *from {
                    continue;
                }
                let is_last = record.offset == *to;
                if with(record).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
                if is_last {
                    return self.resume(partition).map(ControlFlow::Continue);
                }
            }
            if !waiting.records.is_empty() {
                // What comes next lies beyond the range: its last record has been deleted by compaction.
                return Ok(ControlFlow::Continue(()));
            }
            self.resume(partition)?;
            if go_on().is_break() {
                return Ok(ControlFlow::Break(()));
            }
            if self.poll()? {
                silent_since = Instant::now();
            } else if silent_since.elapsed() > PATIENCE {
                silent_since = Instant::now();
                let extent = self.bus.extent(partition)?;
                let wanted = self.next.next(partition);
                if wanted < extent.begin || wanted > extent.end {
                    let (begin, end) = (extent.begin, extent.end);
                    return Err(BusError::Gone { partition: partition.clone(), wanted, begin, end });
                }
            }
        }
    }

    fn resume(&mut self, partition: &Partition) -> Result<(), BusError> {
        let waiting = self.waiting.get_mut(partition).expect("it was put there");
        if waiting.is_paused && waiting.n_bytes <= WAITING_BYTES_LOW {
            waiting.is_paused = false;
            if let Some(reader) = &mut self.reader {
                reader.resume(partition)?;
            }
        }
        Ok(())
    }

    /// Takes in what there is; whether there was something.
    fn poll(&mut self) -> Result<bool, BusError> {
        let reader = match &mut self.reader {
            Some(reader) => reader,
            none => {
                let wanted = self.next.0.iter().filter(|(partition, _)| self.waiting.contains_key(partition));
                let from = Positions(wanted.map(|(partition, next)| (partition.clone(), *next)).collect());
                for waiting in self.waiting.values_mut() {
                    waiting.is_paused = false;
                }
                none.insert(self.bus.reader(&from)?)
            }
        };
        let records = reader.poll(POLL_RECORDS_MAX, POLL_BYTES_MAX, Duration::from_millis(50))?;
        let is_something = !records.is_empty();
        for record in records {
            self.next.pass(&record.partition, record.offset);
            let Some(waiting) = self.waiting.get_mut(&record.partition) else { continue };
            waiting.n_bytes += record.n_bytes();
            if waiting.n_bytes > WAITING_BYTES_MAX && !waiting.is_paused {
                waiting.is_paused = true;
                reader.pause(&record.partition)?;
            }
            waiting.records.push_back(record);
        }
        Ok(is_something)
    }
}
