//! Appends records: each gets the next offset of its partition, inside the transaction of whoever appends.

use super::checksum::Row;
use super::file::{File, Identity, PATIENCE_NONE};
use super::lease::now_ms;
use super::schema::{Counter, Topic};
use crate::bus::{BusError, Feeder, Outgoing, Partition};
use rusqlite::{Connection, Transaction, params};
use std::collections::HashMap;
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

/// Appends records in transactions of its own.
pub(super) struct FileFeeder {
    file: Arc<File>,
    connection: Connection,
    log: Option<Identity>,
}

impl FileFeeder {
    pub(super) fn open(file: Arc<File>) -> Result<Self, BusError> {
        let connection = file.connect_to_write()?;
        Ok(Self { log: file.log(), connection, file })
    }
}

impl Feeder for FileFeeder {
    fn append(&mut self, records: Vec<Outgoing>) -> Result<Vec<(Partition, i64)>, BusError> {
        let Self { file, connection, log } = self;
        if records.is_empty() {
            return Ok(Vec::new());
        }
        file.check_places(connection, *log)?;
        file.write(connection, PATIENCE_NONE, |transaction| append(file, transaction, &records))
    }
}

/// Appends the records; returns where they are.
pub(super) fn append<'a>(
    file: &File,
    transaction: &Transaction<'_>,
    records: impl IntoIterator<Item = &'a Outgoing>,
) -> Result<Vec<(Partition, i64)>, BusError> {
    let mut counters: HashMap<(i64, i32), (Arc<Topic>, Counter)> = HashMap::new();
    let mut places = Vec::new();
    let time_ms = now_ms();
    for outgoing in records {
        let n_bytes = outgoing.n_bytes();
        if n_bytes > file.record_bytes_max() {
            return Err(BusError::TooLarge { topic: outgoing.topic.to_string(), n_bytes });
        }
        let topic = file.topic(transaction, &outgoing.topic)?;
        let partition = partition(file, &topic, outgoing);
        let counter = match counters.get_mut(&(topic.id, partition)) {
            Some((_, counter)) => counter,
            None => {
                let counter = file.counter(transaction, &topic, partition)?;
                &mut counters.entry((topic.id, partition)).or_insert((topic.clone(), counter)).1
            }
        };
        insert(file, transaction, &topic, partition, counter.next, time_ms, outgoing)?;
        places.push((Partition::new(topic.name.clone(), partition), counter.next));
        counter.next += 1;
    }
    for ((_, number), (topic, counter)) in counters {
        file.set_counter(transaction, &topic, number, counter)?;
    }
    Ok(places)
}

/// Where a record goes that does not say so itself.
fn partition(file: &File, topic: &Topic, outgoing: &Outgoing) -> i32 {
    match (&outgoing.partition, &outgoing.key) {
        (Some(partition), _) => *partition,
        (None, Some(key)) => partition_of(topic, key),
        (None, None) => among(topic, file.turn().into()),
    }
}

/// Where records with this key go.
pub(super) fn partition_of(topic: &Topic, key: &[u8]) -> i32 {
    among(topic, xxh3_64(key))
}

fn among(topic: &Topic, number: u64) -> i32 {
    (number % topic.n_partitions as u64) as i32
}

fn insert(
    file: &File,
    transaction: &Transaction<'_>,
    topic: &Topic,
    partition: i32,
    offset: i64,
    time_ms: i64,
    outgoing: &Outgoing,
) -> Result<(), BusError> {
    let headers = match &outgoing.headers[..] {
        [] => None,
        headers => Some(postcard::to_stdvec(headers).map_err(|error| BusError::Broken(error.to_string()))?),
    };
    let (key, headers, value) = (outgoing.key.as_deref(), headers.as_deref(), outgoing.value.as_deref());
    let sum = Row { topic: &topic.name, partition, offset, time_ms, key, headers, value }.checksum();
    transaction
        .prepare_cached(&topic.insert)
        .and_then(|mut statement| statement.execute(params![partition, offset, time_ms, key, headers, value, sum]))
        .map_err(|error| file.error(error))?;
    Ok(())
}
