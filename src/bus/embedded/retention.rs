//! What is deleted: what was trimmed, and what is too old or too much; always from the front of a partition, a little at a time.
//!
//! Inputs go only as far as nobody needs them any more ([`Bus::protect`](crate::bus::Bus::protect)); outputs are anybody's to read in time.
//! The journal is trimmed and nothing else, and labels stay: they hold until they are taken back.
//!
//! # Invariants
//! - What is needed stays, however old it is and however large the file. (`what_is_needed_stays`)
//! - The file becomes as small as was asked, the oldest records going first. (`the_oldest_go_until_the_file_is_small_enough`)

use super::file::{File, PATIENCE_NONE};
use super::schema::{Counter, NEEDED, Topic};
use crate::bus::{BusError, Partition};
use crate::config::TopicSettings;
use rusqlite::{Connection, Transaction, params};
use std::sync::Arc;

/// Records that are deleted in one transaction: others want to commit too.
const CHUNK: i64 = 128;
/// Transactions of one round.
const CHUNKS_MAX: usize = 4;

/// Deletes some of what is before `offset`. Whether that is all.
pub(super) fn trim(
    file: &File,
    connection: &mut Connection,
    partition: &Partition,
    offset: i64,
) -> Result<bool, BusError> {
    let topic = file.topic(connection, &partition.topic)?;
    let counter = file.counter(connection, &topic, partition.number)?;
    if offset <= counter.begin {
        return Ok(true);
    }
    file.write(connection, PATIENCE_NONE, |transaction| delete(file, transaction, &topic, partition.number, offset))
}

/// Deletes some records before `offset`. Whether none is left.
fn delete(
    file: &File,
    transaction: &Transaction<'_>,
    topic: &Topic,
    number: i32,
    offset: i64,
) -> Result<bool, BusError> {
    let Counter { begin, next } = file.counter(transaction, topic, number)?;
    let end = offset.min(next);
    let to = end.min(begin + CHUNK);
    if to <= begin {
        return Ok(true);
    }
    transaction
        .prepare_cached(&topic.delete)
        .and_then(|mut statement| statement.execute(params![number, to]))
        .map_err(|error| file.error(error))?;
    file.set_counter(transaction, topic, number, Counter { begin: to, next })?;
    Ok(to == end)
}

/// The first records of a partition that may go.
struct Front {
    topic: Arc<Topic>,
    number: i32,
    /// How far it may be deleted at all.
    bound: i64,
    begin: i64,
    oldest_ms: i64,
}

/// Deletes some of what is too old, or the oldest if the file is too large. Whether that is all.
pub(super) fn retain(file: &File, connection: &mut Connection, now_ms: i64) -> Result<bool, BusError> {
    let hours_ms = i64::try_from(file.bus.retention_hours.saturating_mul(3_600_000)).unwrap_or(i64::MAX);
    let too_old_ms = if hours_ms == 0 { i64::MIN } else { now_ms.saturating_sub(hours_ms) };
    for _ in 0..CHUNKS_MAX {
        let mut fronts = fronts(file, connection)?;
        fronts.sort_by_key(|front| front.oldest_ms);
        let Some(front) = fronts.first() else { return Ok(true) };
        let too_large = file.bus.retention_bytes > 0 && used_bytes(file, connection)? > file.bus.retention_bytes as i64;
        if !too_large && front.oldest_ms >= too_old_ms {
            return Ok(true);
        }
        let limit_ms = if too_large { i64::MAX } else { too_old_ms };
        let to = older(file, connection, front, limit_ms)?;
        file.write(connection, PATIENCE_NONE, |transaction| delete(file, transaction, &front.topic, front.number, to))?;
    }
    Ok(false)
}

/// The end of the first records that are older, at most a chunk of them.
fn older(file: &File, connection: &Connection, front: &Front, limit_ms: i64) -> Result<i64, BusError> {
    let scan = || -> rusqlite::Result<i64> {
        let mut statement = connection.prepare_cached(&front.topic.ages)?;
        let mut rows = statement.query(params![front.number, front.begin, CHUNK])?;
        let mut to = front.begin;
        while let Some(row) = rows.next()? {
            let (offset, time_ms): (i64, i64) = (row.get(0)?, row.get(1)?);
            if time_ms >= limit_ms || offset >= front.bound {
                break;
            }
            to = offset + 1;
        }
        Ok(to)
    };
    scan().map_err(|error| file.error(error))
}

/// The partitions that have records which may go.
fn fronts(file: &File, connection: &Connection) -> Result<Vec<Front>, BusError> {
    let TopicSettings { pages, emails, verdicts, clusters, dead_letters, signed, .. } = &file.names;
    let inputs = [pages, emails, signed].map(|name| (name, true));
    let outputs = [verdicts, clusters, dead_letters].map(|name| (name, false));
    let mut fronts = Vec::new();
    for (name, is_input) in inputs.into_iter().chain(outputs).filter(|(name, _)| !name.is_empty()) {
        let topic = file.topic(connection, name)?;
        for number in 0..topic.n_partitions {
            let Counter { begin, next } = file.counter(connection, &topic, number)?;
            let bound = if is_input { needed(file, connection, &topic, number)?.min(next) } else { next };
            if begin >= bound {
                continue;
            }
            let oldest = connection
                .prepare_cached(&topic.ages)
                .and_then(|mut statement| statement.query_row(params![number, begin, 1], |row| row.get(1)));
            let oldest_ms = oldest.map_err(|error| file.error(error))?;
            fronts.push(Front { topic: topic.clone(), number, bound, begin, oldest_ms });
        }
    }
    Ok(fronts)
}

/// The first offset that some store still needs: all of them, until one has said so.
fn needed(file: &File, connection: &Connection, topic: &Topic, number: i32) -> Result<i64, BusError> {
    let sql = "SELECT coalesce(min(next), 0) FROM positions WHERE purpose = ?1 AND topic = ?2 AND number = ?3";
    connection
        .prepare_cached(sql)
        .and_then(|mut statement| statement.query_row(params![NEEDED, topic.id, number], |row| row.get(0)))
        .map_err(|error| file.error(error))
}

/// Bytes of the file that hold something.
fn used_bytes(file: &File, connection: &Connection) -> Result<i64, BusError> {
    let pragma = |name: &str| {
        connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).map_err(|error| file.error(error))
    };
    Ok((pragma("page_count")? - pragma("freelist_count")?) * pragma("page_size")?)
}

#[cfg(test)]
mod tests {
    use super::super::file::tests::{bus, outgoing};
    use super::super::lease;
    use super::*;
    use crate::bus::embedded::Embedded;
    use crate::bus::{Bus, Positions};

    const DAY_MS: i64 = 24 * 3_600_000;

    fn retain_all(bus: &Embedded, now_ms: i64) {
        let mut connection = bus.file.connect_to_write().unwrap();
        while !retain(&bus.file, &mut connection, now_ms).unwrap() {}
    }

    fn begins(bus: &Embedded, topics: &[&str]) -> Vec<i64> {
        topics.iter().map(|topic| bus.extent(&Partition::new(*topic, 0)).unwrap().begin).collect()
    }

    #[test]
    fn what_is_needed_stays() {
        let (bus, _folder) = bus(|settings| settings.bus.retention_hours = 24);
        let topics = ["pages", "signed", "labels", "journal", "verdicts", "clusters", "dead-letters"];
        for topic in topics {
            bus.feeder().unwrap().append((0..300).map(|n| outgoing(topic, 0, &[n as u8; 10])).collect()).unwrap();
        }
        let now_ms = lease::now_ms();
        retain_all(&bus, now_ms + DAY_MS / 2);
        assert_eq!(begins(&bus, &topics), [0; 7], "nothing is old");
        retain_all(&bus, now_ms + 2 * DAY_MS);
        assert_eq!(begins(&bus, &topics), [0, 0, 0, 0, 300, 300, 300], "nobody said what of the inputs is needed");
        let needed = |n: i64| Positions([(Partition::new("pages", 0), n), (Partition::new("signed", 0), 7)].into());
        bus.protect(&needed(200)).unwrap();
        retain_all(&bus, now_ms + 2 * DAY_MS);
        assert_eq!(begins(&bus, &topics), [200, 7, 0, 0, 300, 300, 300]);
        bus.protect(&needed(999)).unwrap();
        retain_all(&bus, now_ms + 2 * DAY_MS);
        assert_eq!(begins(&bus, &topics), [300, 7, 0, 0, 300, 300, 300]);
    }

    #[test]
    fn the_oldest_go_until_the_file_is_small_enough() {
        let (bus, folder) = bus(|settings| {
            (settings.bus.retention_hours, settings.bus.retention_bytes) = (0, 4 << 20);
        });
        let mut feeder = bus.feeder().unwrap();
        for topic in ["verdicts", "clusters", "verdicts"] {
            feeder.append((0..300).map(|_| outgoing(topic, 0, &[9; 20_000])).collect()).unwrap();
            std::thread::sleep(std::time::Duration::from_millis(3));
        }
        retain_all(&bus, lease::now_ms());
        let begins = begins(&bus, &["verdicts", "clusters"]);
        assert!(begins[0] > 300 && begins[0] < 600 && begins[1] == 300, "{begins:?}");
        // What is unused is given back.
        let mut connection = bus.file.connect_to_write().unwrap();
        while !super::super::housekeeper::give_back(&bus.file, &connection).unwrap() {}
        connection.query_row("PRAGMA wal_checkpoint(truncate)", [], |_| Ok(())).unwrap();
        let n_bytes = std::fs::metadata(folder.path().join("bus.sqlite")).unwrap().len();
        assert!(n_bytes < 8 << 20, "{n_bytes} bytes");
        assert!(retain(&bus.file, &mut connection, 0).unwrap());
    }
}
