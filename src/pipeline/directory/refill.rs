//! What was said before this process began, from the ends of the topics of verdicts and clusters.

use super::growth::{Growth, Point};
use super::{Directory, recent::weight};
use crate::bus::{Bus, BusError, Partition, Positions, Record};
use crate::verdict::event::{ClusterEvent, Verdict};
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

const POLL_RECORDS_MAX: usize = 1000;
const POLL_BYTES_MAX: usize = 4 << 20;
const POLL_WAIT: Duration = Duration::from_millis(200);
/// Polls without a record after which a reader that is not sure has come to the end.
const SILENT_POLLS: u32 = 50;
/// Events of clusters that are looked at again.
const GROWTH_RECORDS_MAX: usize = 200_000;

/// A verdict, and when the bus got it.
struct Said {
    time_ms: i64,
    n_bytes: usize,
    verdict: Arc<Verdict>,
}

/// Puts the last verdicts in `topic` before those that are in the directory; returns how many were read. `go_on` is asked now and
/// then.
pub fn refill(
    directory: &Directory,
    bus: &dyn Bus,
    topic: &str,
    go_on: impl FnMut() -> ControlFlow<()>,
) -> Result<usize, BusError> {
    let (mut said, mut n_bytes) = (Vec::new(), 0);
    read_end(bus, topic, directory.verdicts.n_max(), go_on, |record| {
        if let Some(one) = read(&record) {
            n_bytes += one.n_bytes;
            said.push(one);
        }
        // Twice as much as can be held is looked at again: the older half is of no use.
        if n_bytes > 2 * directory.verdicts.bytes_max() {
            n_bytes = shortened(&mut said, directory.verdicts.bytes_max());
        }
    })?;
    let n_read = said.len();
    said.sort_by_key(|one| one.time_ms);
    // A later verdict on a document stands in the same partition, behind the earlier: the order in which they were read.
    while let Some(Said { verdict, .. }) = said.pop() {
        if !directory.verdicts.learn_older(verdict) {
            break;
        }
    }
    directory.verdicts.count();
    Ok(n_read)
}

/// Puts what the last records of `topic` say of how clusters have grown before what the directory knows of it. A topic that was
/// compacted says less.
pub fn refill_growth(
    directory: &Directory,
    bus: &dyn Bus,
    topic: &str,
    go_on: impl FnMut() -> ControlFlow<()>,
) -> Result<(), BusError> {
    let mut grown: HashMap<String, Growth> = HashMap::new();
    let n_max = directory.clusters.n_max();
    read_end(bus, topic, GROWTH_RECORDS_MAX, go_on, |record| {
        let Some(value) = &record.value else {
            // It has gone.
            grown.remove(&*String::from_utf8_lossy(record.key.as_deref().unwrap_or_default()));
            return;
        };
        let Ok(ClusterEvent { id, size, domains, merged_into: None, .. }) = serde_json::from_slice(value) else {
            return;
        };
        if grown.len() < n_max || grown.contains_key(&id) {
            grown.entry(id).or_default().add(Point { time_ms: record.time_ms, size, domains });
        }
    })?;
    grown.into_iter().for_each(|(id, growth)| directory.clusters.learn_growth(&id, growth));
    Ok(())
}

/// Gives the last `n_max` records of `topic`, those of each partition in their order, to `with`.
fn read_end(
    bus: &dyn Bus,
    topic: &str,
    n_max: usize,
    mut go_on: impl FnMut() -> ControlFlow<()>,
    mut with: impl FnMut(Record),
) -> Result<(), BusError> {
    let topic: Arc<str> = topic.into();
    let n_partitions = bus.n_partitions(&topic)?;
    // Ids are spread over the partitions evenly.
    let n_each = n_max.div_ceil(n_partitions.max(1) as usize) as i64;
    let (mut from, mut ends) = (Positions::default(), Positions::default());
    for number in 0..n_partitions {
        let partition = Partition::new(topic.clone(), number);
        let extent = bus.extent(&partition)?;
        if extent.begin < extent.end {
            from.0.insert(partition.clone(), (extent.end - n_each).max(extent.begin));
            ends.0.insert(partition, extent.end);
        }
    }
    if from.0.is_empty() {
        return Ok(());
    }
    let (mut reader, mut n_silent) = (bus.reader(&from)?, 0);
    let is_done = |at: &Positions| ends.0.iter().all(|(partition, end)| at.next(partition) >= *end);
    while !is_done(&from) && n_silent < SILENT_POLLS && go_on().is_continue() {
        let records = reader.poll(POLL_RECORDS_MAX, POLL_BYTES_MAX, POLL_WAIT)?;
        n_silent = if records.is_empty() { n_silent + 1 } else { 0 };
        if records.is_empty() && reader.is_at_end() {
            break;
        }
        for record in records {
            from.pass(&record.partition, record.offset);
            with(record);
        }
    }
    Ok(())
}

/// The verdict in a record. Whatever else somebody may have written there is passed over.
fn read(record: &Record) -> Option<Said> {
    let verdict: Verdict = serde_json::from_slice(record.value.as_deref()?).ok()?;
    Some(Said { time_ms: record.time_ms, n_bytes: weight(&verdict), verdict: Arc::new(verdict) })
}

/// Leaves the latest, as many as fit; returns what they take.
fn shortened(said: &mut Vec<Said>, bytes_max: usize) -> usize {
    said.sort_by_key(|one| one.time_ms);
    let mut n_bytes = 0;
    let n_left = said.iter().rev().take_while(|one| {
        n_bytes += one.n_bytes;
        n_bytes <= bytes_max
    });
    let n_left = n_left.count();
    said.drain(..said.len() - n_left);
    said.iter().map(|one| one.n_bytes).sum()
}
