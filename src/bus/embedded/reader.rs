//! Reads on in some partitions, and waits for what comes.
//!
//! # Invariants
//! - A record whose checksum fails, or that is missing between others, ends the reading; it is not passed over. (`a_damaged_record_is_named`)
//! - No partition waits for another to be empty. (`partitions_take_turns`)

use super::checksum::Row;
use super::file::File;
use super::schema::{Counter, Topic};
use crate::bus::{BusError, Header, Partition, Positions, Reader, Record};
use rusqlite::Connection;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Between two looks whether anybody has committed: short at first, then so long that an idle process costs nothing.
const PAUSES: [Duration; 2] = [Duration::from_millis(1), Duration::from_millis(5)];
/// So often we look in any case, since leases end without a commit.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Reads some partitions.
pub(super) struct FileReader {
    file: Arc<File>,
    connection: Connection,
    next: BTreeMap<Partition, i64>,
    paused: BTreeSet<Partition>,
    turn: usize,
}

impl FileReader {
    pub(super) fn open(file: Arc<File>, from: &Positions) -> Result<Self, BusError> {
        let connection = file.connect_to_read()?;
        let reader = Self { file, connection, next: from.0.clone(), paused: BTreeSet::new(), turn: 0 };
        for (partition, &next) in &reader.next {
            let topic = reader.file.topic(&reader.connection, &partition.topic)?;
            present(partition, next, reader.file.counter(&reader.connection, &topic, partition.number)?)?;
        }
        Ok(reader)
    }
}

impl Reader for FileReader {
    fn poll(&mut self, n_max: usize, bytes_max: usize, wait: Duration) -> Result<Vec<Record>, BusError> {
        let Self { file, connection, next, paused, turn } = self;
        let come = awaited(file, connection, wait, |connection| {
            let mut wanted: Vec<(Partition, i64)> =
                next.iter().filter(|(p, _)| !paused.contains(p)).map(|(p, n)| (p.clone(), *n)).collect();
            let n_wanted = wanted.len().max(1);
            wanted.rotate_left(*turn % n_wanted);
            *turn = (*turn + 1) % n_wanted;
            let records = records(file, connection, &wanted, n_max, bytes_max)?;
            Ok((!records.is_empty()).then_some(records))
        })?;
        let come = come.unwrap_or_default();
        for record in &come {
            next.insert(record.partition.clone(), record.offset + 1);
        }
        Ok(come)
    }

    fn pause(&mut self, partition: &Partition) -> Result<(), BusError> {
        self.paused.insert(partition.clone());
        Ok(())
    }

    fn resume(&mut self, partition: &Partition) -> Result<(), BusError> {
        self.paused.remove(partition);
        Ok(())
    }
}

/// Looks until there is something, for at most `wait`: again when somebody has committed, and from time to time.
pub(super) fn awaited<T>(
    file: &File,
    connection: &Connection,
    wait: Duration,
    mut look: impl FnMut(&Connection) -> Result<Option<T>, BusError>,
) -> Result<Option<T>, BusError> {
    let begun = Instant::now();
    let mut pause = PAUSES[0];
    loop {
        // Before the look: a commit in between is seen by the next.
        let version = version(file, connection)?;
        if let Some(found) = look(connection)? {
            return Ok(Some(found));
        }
        let looked = Instant::now();
        loop {
            let left = wait.saturating_sub(begun.elapsed());
            if left.is_zero() {
                return Ok(None);
            }
            sleep(pause.min(left));
            pause = (pause + PAUSES[0] / 4).min(PAUSES[1]);
            if looked.elapsed() >= LOOK_EVERY || self::version(file, connection)? != version {
                break;
            }
        }
    }
}

/// Changes when another connection has committed.
fn version(file: &File, connection: &Connection) -> Result<i64, BusError> {
    connection
        .prepare_cached("PRAGMA data_version")
        .and_then(|mut statement| statement.query_row([], |row| row.get(0)))
        .map_err(|error| file.error(error))
}

/// That a position is one that the partition has, or will have next.
fn present(partition: &Partition, wanted: i64, counter: Counter) -> Result<(), BusError> {
    let Counter { begin, next: end } = counter;
    if (begin..=end).contains(&wanted) {
        return Ok(());
    }
    Err(BusError::Gone { partition: partition.clone(), wanted, begin, end })
}

/// The next records of these partitions, from these offsets, as of one moment.
pub(super) fn records(
    file: &File,
    connection: &Connection,
    wanted: &[(Partition, i64)],
    n_max: usize,
    bytes_max: usize,
) -> Result<Vec<Record>, BusError> {
    let _moment = file.moment(connection)?;
    let (mut records, mut n_bytes) = (Vec::new(), 0);
    for (partition, from) in wanted {
        let topic = file.topic(connection, &partition.topic)?;
        let counter = file.counter(connection, &topic, partition.number)?;
        present(partition, *from, counter)?;
        let n_left = i64::try_from(n_max - records.len()).unwrap_or(i64::MAX);
        let to = counter.next.min(from.saturating_add(n_left));
        if *from == to {
            continue;
        }
        let error = |error| file.error(error);
        let mut statement = connection.prepare_cached(&topic.select).map_err(error)?;
        let mut rows = statement.query(rusqlite::params![partition.number, from, to]).map_err(error)?;
        for offset in *from..to {
            let Some(row) = rows.next().map_err(error)? else {
                return Err(file.damage(format!("record {offset} of {partition} is missing")));
            };
            let record = record(file, &topic, partition, offset, row)?;
            n_bytes += record.n_bytes();
            records.push(record);
            if n_bytes >= bytes_max {
                return Ok(records);
            }
        }
    }
    Ok(records)
}

/// The record of a row, which must be the one at `offset`.
fn record(
    file: &File,
    topic: &Topic,
    partition: &Partition,
    offset: i64,
    row: &rusqlite::Row<'_>,
) -> Result<Record, BusError> {
    let fields = || -> rusqlite::Result<_> {
        let time_ms: i64 = row.get(1)?;
        let bytes = |column: usize| -> rusqlite::Result<Option<&[u8]>> { Ok(row.get_ref(column)?.as_blob_or_null()?) };
        let (key, headers, value) = (bytes(2)?, bytes(3)?, bytes(4)?);
        let of = Row { topic: &topic.name, partition: partition.number, offset, time_ms, key, headers, value };
        Ok((row.get::<_, i64>(0)?, of, row.get::<_, i64>(5)?))
    };
    // Reading the row has succeeded: what can be wrong now is the type of a field.
    let fields = fields().map_err(|error| file.damage(format!("record {offset} of {partition} is damaged: {error}")));
    let (found, of, sum) = fields?;
    if found != offset {
        return Err(file.damage(format!("record {offset} of {partition} is missing")));
    }
    let headers: Option<Vec<Header>> = match of.headers {
        Some(bytes) if sum == of.checksum() => postcard::from_bytes(bytes).ok(),
        None if sum == of.checksum() => Some(Vec::new()),
        _ => None,
    };
    let Some(headers) = headers else {
        return Err(file.damage(format!("record {offset} of {partition} fails its checksum")));
    };
    let owned = |bytes: Option<&[u8]>| bytes.map(<[u8]>::to_vec);
    let Row { time_ms, key, value, .. } = of;
    Ok(Record { partition: partition.clone(), offset, time_ms, key: owned(key), headers, value: owned(value) })
}

#[cfg(test)]
mod tests {
    use super::super::file::tests::{bus, outgoing};
    use super::*;
    use crate::bus::Bus;

    #[test]
    fn partitions_take_turns() {
        let (bus, _folder) = bus(|_| ());
        let mut feeder = bus.feeder().unwrap();
        feeder.append((0..400).map(|n| outgoing("pages", n % 4, b"x")).collect()).unwrap();
        let from = Positions((0..4).map(|number| (Partition::new("pages", number), 0)).collect());
        let mut reader = bus.reader(&from).unwrap();
        let mut seen = Vec::new();
        for _ in 0..8 {
            // Whatever was read is fed again, so that no partition is ever empty.
            let come = reader.poll(50, usize::MAX, Duration::ZERO).unwrap();
            feeder.append(come.iter().map(|r| outgoing("pages", r.partition.number, b"x")).collect()).unwrap();
            seen.push(come[0].partition.number);
        }
        assert_eq!(seen, [0, 1, 2, 3, 0, 1, 2, 3]);
    }

    #[test]
    fn a_damaged_record_is_named() {
        let damages = [
            ("UPDATE records_1 SET value = x'00' WHERE offset = 3", "record 3 of pages/0 fails its checksum"),
            ("UPDATE records_1 SET value = 'text' WHERE offset = 3", "record 3 of pages/0 is damaged"),
            ("UPDATE records_1 SET time_ms = 5 WHERE offset = 3", "record 3 of pages/0 fails its checksum"),
            ("UPDATE records_1 SET offset = 33 WHERE offset = 3", "record 3 of pages/0 is missing"),
            ("DELETE FROM records_1 WHERE offset = 3", "record 3 of pages/0 is missing"),
            ("DELETE FROM records_1 WHERE offset >= 3", "record 3 of pages/0 is missing"),
            ("UPDATE partitions SET next = 3 WHERE topic = 1", "the counter of pages/0 fails its checksum"),
            ("DELETE FROM partitions", "the counter of pages/0 fails its checksum"),
        ];
        for (damage, told) in damages {
            let (bus, _folder) = bus(|_| ());
            bus.feeder().unwrap().append((0..6).map(|n| outgoing("pages", 0, &[n; 8])).collect()).unwrap();
            let mut reader = bus.reader(&Positions([(Partition::new("pages", 0), 0)].into())).unwrap();
            assert_eq!(reader.poll(3, usize::MAX, Duration::ZERO).unwrap().len(), 3);
            bus.file.connect_to_write().unwrap().execute_batch(damage).unwrap();
            match reader.poll(9, usize::MAX, Duration::ZERO) {
                Err(BusError::Damaged { what, .. }) => assert!(what.contains(told), "{damage}: {what}"),
                other => panic!("{damage}: {other:?}"),
            }
        }
    }
}
