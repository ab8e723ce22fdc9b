//! The seat: one row with an epoch, a holder and the end of its lease.
//!
//! A candidate is given the seat when it is free or its lease is over; from then on the one before cannot publish, since every
//! publication looks at the row inside its own transaction. A lease that is over and that nobody wanted is still its holder's.
//!
//! # Invariants
//! - One has it, a newcomer does not get it from a holder that is alive, and a hung holder is shut out.
//!   (`one_candidate_has_the_seat`, `a_silent_holder_is_shut_out` in `tests/promises/bus`)
//! - A commit of unknown outcome is looked up, not repeated. (`a_commit_of_unknown_outcome_is_not_repeated`)

use super::feeder::append;
use super::file::{COMPLAINT_EVERY, File, Identity, PATIENCE, PATIENCE_NONE};
use super::housekeeper::Housekeeper;
use super::lease::{Lease, now_ms};
use super::reader::{awaited, records};
use super::schema::FOLDED;
use crate::bus::{BusError, Outgoing, Partition, Positions, Seat};
use rusqlite::{Connection, OptionalExtension, Transaction, params};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A candidate for the seat, or its holder.
pub(super) struct FileSeat {
    file: Arc<File>,
    connection: Connection,
    log: Option<Identity>,
    /// Tells this candidate from all others.
    me: i64,
    /// The epoch that it has begun.
    epoch: Option<i64>,
    housekeeper: Housekeeper,
    /// When it was last said that the seat cannot be written to.
    complained: Option<Instant>,
}

/// The row.
struct Held {
    epoch: i64,
    holder: Option<i64>,
    lease: Lease,
}

impl FileSeat {
    pub(super) fn open(file: Arc<File>) -> Result<Self, BusError> {
        let random = getrandom::u64().map_err(|error| BusError::Broken(format!("no random number: {error}")))?;
        let connection = file.connect_to_write()?;
        let log = file.log();
        let housekeeper = Housekeeper::start(file.clone())?;
        Ok(Self { file, connection, log, me: random as i64, epoch: None, housekeeper, complained: None })
    }

    /// Writes the row as ours, with a lease that begins now.
    fn hold(file: &File, transaction: &Transaction<'_>, epoch: i64, me: i64) -> Result<(), BusError> {
        let lease = Lease::from(now_ms(), length_ms(file));
        let sql =
            "INSERT OR REPLACE INTO seats (store, epoch, holder, lease_end_ms, lease_ms) VALUES (?1, ?2, ?3, ?4, ?5)";
        transaction
            .prepare_cached(sql)
            .and_then(|mut row| row.execute(params![file.bus.store, epoch, me, lease.end_ms, lease.length_ms]))
            .map_err(|error| file.error(error))?;
        Ok(())
    }
}

/// The row, if the seat was ever taken.
fn held(file: &File, connection: &Connection) -> Result<Option<Held>, BusError> {
    connection
        .prepare_cached("SELECT epoch, holder, lease_end_ms, lease_ms FROM seats WHERE store = ?1")
        .and_then(|mut statement| {
            statement
                .query_row([&file.bus.store], |row| {
                    let lease = Lease { end_ms: row.get(2)?, length_ms: row.get(3)? };
                    Ok(Held { epoch: row.get(0)?, holder: row.get(1)?, lease })
                })
                .optional()
        })
        .map_err(|error| file.error(error))
}

fn length_ms(file: &File) -> i64 {
    i64::try_from(file.bus.lease_ms).unwrap_or(i64::MAX)
}

impl Seat for FileSeat {
    fn poll(&mut self, wait: Duration) -> Result<bool, BusError> {
        let Self { file, connection, log, me, epoch, housekeeper, complained } = self;
        file.check_places(connection, *log)?;
        // Nothing is written while another has it, and little while we do.
        let ours = |held: &Option<Held>| held.as_ref().is_some_and(|held| held.holder == Some(*me));
        let free =
            |held: &Option<Held>| held.as_ref().is_none_or(|held| held.holder.is_none() || held.lease.over(now_ms()));
        let found = awaited(file, connection, wait, |connection| {
            let held = held(file, connection)?;
            Ok((ours(&held) || free(&held)).then_some(held))
        })?;
        let given = match found {
            None => false,
            Some(held) if ours(&held) && held.as_ref().is_some_and(|held| !held.lease.due(now_ms())) => true,
            Some(seen) => {
                let given = file.write(connection, PATIENCE_NONE, |transaction| {
                    // As it is now: others have looked too.
                    let held = held(file, transaction)?;
                    if !ours(&held) && !free(&held) {
                        return Ok(false);
                    }
                    Self::hold(file, transaction, held.map_or(0, |held| held.epoch), *me)?;
                    Ok(true)
                });
                match given {
                    Err(error @ BusError::Unreachable { .. }) => {
                        // Who cannot write now is no worse off than the others; a publication finds out whose the seat is.
                        if complained.is_none_or(|last| last.elapsed() >= COMPLAINT_EVERY) {
                            *complained = Some(Instant::now());
                            tracing::warn!(%error, "the seat cannot be written to now");
                        }
                        ours(&seen)
                    }
                    given => given?,
                }
            }
        };
        if !given {
            *epoch = None;
        }
        housekeeper.set_on_duty(given && epoch.is_some());
        Ok(given)
    }

    fn take(&mut self) -> Result<(), BusError> {
        let Self { file, connection, me, epoch, housekeeper, .. } = self;
        let taken = file.write(connection, PATIENCE, |transaction| match held(file, transaction)? {
            Some(held) if held.holder == Some(*me) => {
                Self::hold(file, transaction, held.epoch + 1, *me)?;
                Ok(held.epoch + 1)
            }
            _ => Err(BusError::Fenced),
        })?;
        *epoch = Some(taken);
        housekeeper.set_on_duty(true);
        Ok(())
    }

    fn publish(&mut self, outputs: &[Outgoing], journal: &Outgoing, positions: &Positions) -> Result<i64, BusError> {
        let Self { file, connection, log, me, epoch, .. } = self;
        let Some(epoch) = *epoch else { return Err(BusError::Fenced) };
        file.check_places(connection, *log)?;
        let mut tried = None;
        file.write(connection, PATIENCE, |transaction| {
            if !held(file, transaction)?.is_some_and(|held| held.holder == Some(*me) && held.epoch == epoch) {
                return Err(BusError::Fenced);
            }
            if let Some(place) = &tried
                && published(file, transaction, place, journal)?
            {
                // The commit was said to have failed, and has not.
                return Ok(place.1);
            }
            let places = append(file, transaction, outputs.iter().chain([journal]))?;
            file.set_positions(transaction, FOLDED, positions)?;
            Self::hold(file, transaction, epoch, *me)?;
            let place = places.last().expect("the journal record was appended").clone();
            let offset = place.1;
            tried = Some(place);
            Ok(offset)
        })
    }

    fn leave(self: Box<Self>) {
        let Self { file, mut connection, me, .. } = *self;
        let left = file.write(&mut connection, PATIENCE_NONE, |transaction| {
            transaction
                .execute("UPDATE seats SET holder = NULL WHERE store = ?1 AND holder = ?2", params![file.bus.store, me])
                .map_err(|error| file.error(error))
        });
        if let Err(error) = left {
            tracing::warn!(%error, "the seat could not be left; it is free when its lease is over");
        }
    }
}

/// Whether what is there is this journal record: another attempt may have got through.
fn published(
    file: &File,
    connection: &Connection,
    place: &(Partition, i64),
    journal: &Outgoing,
) -> Result<bool, BusError> {
    let topic = file.topic(connection, &place.0.topic)?;
    if file.counter(connection, &topic, place.0.number)?.next <= place.1 {
        return Ok(false);
    }
    let there = records(file, connection, std::slice::from_ref(place), 1, usize::MAX)?;
    Ok(there.first().is_some_and(|record| record.value == journal.value && record.key == journal.key))
}

#[cfg(test)]
mod tests {
    use super::super::file::tests::{bus, outgoing};
    use super::*;
    use crate::bus::{Bus, Published};
    use std::sync::atomic::Ordering;

    #[test]
    fn a_commit_of_unknown_outcome_is_not_repeated() {
        let (bus, _folder) = bus(|_| ());
        let mut seat = bus.seat().unwrap();
        assert!(seat.poll(Duration::ZERO).unwrap());
        seat.take().unwrap();
        let end = |topic: &str| bus.extent(&Partition::new(topic, 0)).unwrap().end;
        for round in 0..3 {
            // Also where the same is published again and again.
            bus.file.doubted.store(true, Ordering::Relaxed);
            let (outputs, journal) = ([outgoing("verdicts", 0, b"v")], outgoing("journal", 0, b"j"));
            assert_eq!(seat.publish(&outputs, &journal, &Positions::default()).unwrap(), round);
            assert_eq!((end("verdicts"), end("journal")), (round + 1, round + 1));
        }
        let mut member = bus.member(&["pages".into()]).unwrap();
        bus.feeder().unwrap().append(vec![outgoing("pages", 0, b"p")]).unwrap();
        assert_eq!(member.poll(9, usize::MAX, Duration::from_secs(9)).unwrap().len(), 1);
        bus.file.doubted.store(true, Ordering::Relaxed);
        let consumed = Positions([(Partition::new("pages", 0), 1)].into());
        assert_eq!(member.publish(&[outgoing("signed", 0, b"s")], &consumed).unwrap(), Published::Done);
        assert_eq!(end("signed"), 1);
    }

    #[test]
    fn a_full_disk_is_waited_out() {
        let (bus, _folder) = bus(|_| ());
        let filling = vec![outgoing("pages", 0, &[7; 400_000])];
        bus.feeder().unwrap().append(filling).unwrap();
        let mut seat = FileSeat::open(bus.file.clone()).unwrap();
        assert!(seat.poll(Duration::ZERO).unwrap());
        seat.take().unwrap();
        // As much as there is, and no more.
        let n_pages: i64 = seat.connection.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
        seat.connection.pragma_update(None, "max_page_count", n_pages).unwrap_or_default();
        let (outputs, journal) = ([outgoing("verdicts", 0, &[8; 200_000])], outgoing("journal", 0, b"j"));
        let begun = Instant::now();
        let offset = std::thread::scope(|scope| {
            let publishing = scope.spawn(|| seat.publish(&outputs, &journal, &Positions::default()).unwrap());
            std::thread::sleep(Duration::from_millis(300));
            assert!(!publishing.is_finished());
            assert_eq!(bus.extent(&Partition::new("verdicts", 0)).unwrap().end, 0, "nothing of it is there");
            bus.trim(&Partition::new("pages", 0), 1).unwrap();
            publishing.join().unwrap()
        });
        assert!(begun.elapsed() >= Duration::from_millis(300));
        assert_eq!(offset, 0);
        assert_eq!(bus.extent(&Partition::new("verdicts", 0)).unwrap().end, 1);
    }
}
