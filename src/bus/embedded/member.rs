//! Signers: rows with leases. Partition i belongs to the member i modulo their number, in the order in which they joined.
//!
//! Whose a partition is may be seen differently for a moment. What counts is the position up to which it was signed: a
//! publication moves it from where its own records began, in its own transaction, or is not made.
//!
//! # Invariants
//! - What was made of a record is published once, whoever comes and goes. (`tests/promises/bus/members.rs`)

use super::feeder::append;
use super::file::{File, PATIENCE, PATIENCE_NONE};
use super::lease::{Lease, now_ms};
use super::reader::{awaited, records};
use super::schema::SIGNED;
use crate::bus::{BusError, Member, Outgoing, Partition, Positions, Published, Record};
use rusqlite::{Connection, Transaction, params};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// One of the signers of a store.
pub(super) struct FileMember {
    file: Arc<File>,
    connection: Connection,
    /// All that is divided.
    partitions: Vec<Partition>,
    /// Our row, and until when it is believed.
    id: i64,
    lease: Lease,
    /// Who else is there, and what is ours because of it.
    present: Vec<i64>,
    ours: BTreeMap<Partition, Progress>,
    turn: usize,
}

/// How far we are in a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Progress {
    /// What is signed and published.
    signed: i64,
    /// What is to be read next.
    next: i64,
}

impl FileMember {
    pub(super) fn open(file: Arc<File>, topics: &[Arc<str>]) -> Result<Self, BusError> {
        let connection = file.connect_to_write()?;
        let mut partitions = Vec::new();
        for name in topics {
            let topic = file.topic(&connection, name)?;
            partitions.extend((0..topic.n_partitions).map(|number| Partition::new(name.clone(), number)));
        }
        // Every member divides the same list, in whatever order it was given the topics.
        partitions.sort();
        let lease = Lease { end_ms: 0, length_ms: i64::try_from(file.bus.lease_ms).unwrap_or(i64::MAX) };
        let (present, ours) = (Vec::new(), BTreeMap::new());
        let mut member = Self { file, connection, partitions, id: 0, lease, present, ours, turn: 0 };
        member.show()?;
        Ok(member)
    }

    /// Shows that we are alive, if that is due.
    fn show(&mut self) -> Result<(), BusError> {
        let Self { file, connection, id, lease, .. } = self;
        if !lease.due(now_ms()) {
            return Ok(());
        }
        let shown = file.write(connection, PATIENCE_NONE, |transaction| {
            // From when we may write, not from when we began to wait for it.
            let renewed = Lease::from(now_ms(), lease.length_ms);
            show(file, transaction, *id, renewed).map(|id| (id, renewed))
        });
        match shown {
            Ok(shown) => (*id, *lease) = shown,
            // A publication finds out what is still ours.
            Err(error @ BusError::Unreachable { .. }) => {
                tracing::warn!(%error, "a signer cannot show that it is alive")
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

/// Renews the row, or makes it anew if others took us for dead; and takes others for dead.
fn show(file: &File, transaction: &Transaction<'_>, id: i64, lease: Lease) -> Result<i64, BusError> {
    let write = || -> rusqlite::Result<i64> {
        let dead = "DELETE FROM members WHERE id <> ?1 AND (lease_end_ms <= ?2 OR lease_end_ms - ?2 > 2 * lease_ms)";
        transaction.prepare_cached(dead)?.execute(params![id, now_ms()])?;
        let renew = "UPDATE members SET lease_end_ms = ?2, lease_ms = ?3 WHERE id = ?1";
        if transaction.prepare_cached(renew)?.execute(params![id, lease.end_ms, lease.length_ms])? == 1 {
            return Ok(id);
        }
        let join = "INSERT INTO members (store, lease_end_ms, lease_ms) VALUES (?1, ?2, ?3)";
        transaction.prepare_cached(join)?.insert(params![file.bus.store, lease.end_ms, lease.length_ms])
    };
    write().map_err(|error| file.error(error))
}

/// The members that are alive, in the order in which they joined. We are, whatever our lease says: where a commit takes
/// longer than a lease, it is over before it can be seen.
fn present(file: &File, connection: &Connection, me: i64) -> Result<Vec<i64>, BusError> {
    let list = || -> rusqlite::Result<Vec<i64>> {
        let sql = "SELECT id, lease_end_ms, lease_ms FROM members WHERE store = ?1 ORDER BY id";
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query([&file.bus.store])?;
        let (mut present, now_ms) = (Vec::new(), now_ms());
        while let Some(row) = rows.next()? {
            let lease = Lease { end_ms: row.get(1)?, length_ms: row.get(2)? };
            let id = row.get(0)?;
            if id == me || !lease.over(now_ms) {
                present.push(id);
            }
        }
        Ok(present)
    };
    list().map_err(|error| file.error(error))
}

/// Whether the partition at `index` of the list is this member's.
fn is_ours(present: &[i64], id: i64, index: usize) -> bool {
    !present.is_empty() && present[index % present.len()] == id
}

/// Where the signers are in a partition: at its beginning, if they never were anywhere.
fn signed(file: &File, connection: &Connection, partition: &Partition) -> Result<i64, BusError> {
    let topic = file.topic(connection, &partition.topic)?;
    match file.position(connection, SIGNED, &topic, partition.number)? {
        Some(next) => Ok(next),
        None => Ok(file.counter(connection, &topic, partition.number)?.begin),
    }
}

/// Drops what is not ours any more, and begins what has become ours where it was left.
fn divide(
    file: &File,
    connection: &Connection,
    (partitions, present, id): (&[Partition], &[i64], i64),
    ours: &mut BTreeMap<Partition, Progress>,
) -> Result<(), BusError> {
    for (index, partition) in partitions.iter().enumerate() {
        if !is_ours(present, id, index) {
            ours.remove(partition);
        } else if !ours.contains_key(partition) {
            let signed = signed(file, connection, partition)?;
            ours.insert(partition.clone(), Progress { signed, next: signed });
        }
    }
    Ok(())
}

impl Member for FileMember {
    fn poll(&mut self, n_max: usize, bytes_max: usize, wait: Duration) -> Result<Vec<Record>, BusError> {
        self.show()?;
        let Self { file, connection, partitions, id, lease, present, ours, turn } = self;
        // Not longer than until the row is due again.
        let wait = wait.min(Duration::from_millis(lease.length_ms.max(3) as u64 / 3));
        let come = awaited(file, connection, wait, |connection| {
            let now_present = self::present(file, connection, *id)?;
            if now_present != *present {
                divide(file, connection, (partitions, &now_present, *id), ours)?;
                *present = now_present;
            }
            let mut wanted: Vec<(Partition, i64)> =
                ours.iter().map(|(p, progress)| (p.clone(), progress.next)).collect();
            let n_wanted = wanted.len().max(1);
            wanted.rotate_left(*turn % n_wanted);
            *turn = (*turn + 1) % n_wanted;
            let records = records(file, connection, &wanted, n_max, bytes_max)?;
            Ok((!records.is_empty()).then_some(records))
        })?;
        let come = come.unwrap_or_default();
        for record in &come {
            if let Some(progress) = ours.get_mut(&record.partition) {
                progress.next = record.offset + 1;
            }
        }
        Ok(come)
    }

    fn pass_over(&mut self, partition: &Partition) -> Result<(), BusError> {
        let topic = self.file.topic(&self.connection, &partition.topic)?;
        let begin = self.file.counter(&self.connection, &topic, partition.number)?.begin;
        if let Some(progress) = self.ours.get_mut(partition) {
            progress.next = begin;
        }
        Ok(())
    }

    fn publish(&mut self, outputs: &[Outgoing], consumed: &Positions) -> Result<Published, BusError> {
        let Self { file, connection, partitions, id, lease, ours, .. } = self;
        let (mut tried, mut now_id, mut renewed) = (false, *id, *lease);
        let published = file.write(connection, PATIENCE, |transaction| {
            renewed = Lease::from(now_ms(), lease.length_ms);
            now_id = show(file, transaction, *id, renewed)?;
            let present = present(file, transaction, now_id)?;
            let (mut unchanged, mut done) = (true, tried && !consumed.0.is_empty());
            for (partition, next) in &consumed.0 {
                let signed = signed(file, transaction, partition)?;
                let index = partitions.binary_search(partition).ok();
                let still_ours = index.is_some_and(|index| is_ours(&present, now_id, index));
                unchanged &= still_ours && ours.get(partition).is_some_and(|progress| progress.signed == signed);
                done &= signed == *next;
            }
            if done {
                // The commit was said to have failed, and has not: the position was moved, and by nobody else.
                return Ok(true);
            }
            if unchanged {
                append(file, transaction, outputs)?;
                file.set_positions(transaction, SIGNED, consumed)?;
                tried = true;
            }
            Ok(unchanged)
        })?;
        (*id, *lease) = (now_id, renewed);
        if published {
            for (partition, next) in &consumed.0 {
                if let Some(progress) = ours.get_mut(partition) {
                    progress.signed = *next;
                }
            }
        } else {
            // All from where it was left: the next poll divides anew.
            self.ours.clear();
            self.present.clear();
        }
        Ok(if published { Published::Done } else { Published::Undone })
    }

    fn leave(self: Box<Self>) {
        let Self { file, mut connection, id, .. } = *self;
        let left = file.write(&mut connection, PATIENCE_NONE, |transaction| {
            transaction.execute("DELETE FROM members WHERE id = ?1", [id]).map_err(|error| file.error(error))
        });
        if let Err(error) = left {
            tracing::warn!(%error, "a signer could not sign off; its share is free when its lease is over");
        }
    }
}
