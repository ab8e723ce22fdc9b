//! The thread that publishes: it alone owns the seat. While it waits for the bus, the next batch is being folded.
//!
//! # Invariants
//! - Batches are published in their order, each once; after the first that fails there is none.
//!   (`tests/promises/run`)

use super::counted;
use super::fold::Folded;
use super::inlet::shortened;
use super::journal::Entry;
use super::outputs::{Outlet, Publication};
use super::shown::said;
use crate::bus::{BusError, Outgoing, Seat};
use crate::fault;
use crate::http::State;
use crate::pipeline::filter::Event;
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// So often the seat is asked whether it is still ours when there is nothing to publish.
const SEAT_WAIT: Duration = Duration::from_millis(50);

/// A batch that is published.
pub(super) struct Committed {
    /// What the journal says of it.
    pub(super) entry: Entry,
    /// Where the journal goes on.
    pub(super) journal: i64,
}

/// Publishes what comes until nothing more does; the seat comes back, if it is still ours.
pub(super) fn publish(
    mut seat: Box<dyn Seat>,
    outlet: &Outlet,
    state: &State,
    batches: &Receiver<Folded>,
    committed: &Sender<Committed>,
) -> Result<Box<dyn Seat>, BusError> {
    let dead_letters = outlet.dead_letters_topic();
    loop {
        let folded = match batches.recv_timeout(SEAT_WAIT) {
            Ok(folded) => folded,
            Err(RecvTimeoutError::Timeout) => {
                if !seat.poll(Duration::ZERO)? {
                    return Err(BusError::Fenced);
                }
                continue;
            }
            Err(RecvTimeoutError::Disconnected) => return Ok(seat),
        };
        let times_ms = folded.times_ms.clone();
        for (reason, _) in &folded.letters {
            counted::dead_letter(reason);
        }
        folded.rejected.iter().for_each(counted::verdict);
        for event in &folded.events {
            if let Event::Verdict(verdict) = event {
                counted::verdict(verdict);
            }
        }
        let publication = outlet.publication(folded);
        let begun = Instant::now();
        fault::point("before_commit");
        if fault::is_due("publish_fails") {
            return Err(BusError::Unreachable { bus: "the bus".into(), why: "a test says so".into() });
        }
        let (offset, events) = published(&mut *seat, publication, &dead_letters)?;
        fault::point("after_commit");
        counted::commit(begun.elapsed());
        let now_ms = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_millis() as i64);
        for time_ms in times_ms {
            counted::latency(Duration::from_millis(now_ms.saturating_sub(time_ms).max(0) as u64));
        }
        state.checks().waiters.commit(offset.entry.number);
        said(state.directory(), events);
        // Nobody listens any more when the fold has stopped; what is committed stays so.
        let _unwanted = committed.send(offset);
    }
}

fn published(
    seat: &mut dyn Seat,
    mut publication: Publication,
    dead_letters: &Arc<str>,
) -> Result<(Committed, Vec<Event>), BusError> {
    loop {
        let Publication { records, journal, entry, .. } = &publication;
        match seat.publish(records, journal, &entry.positions) {
            Ok(offset) => {
                let Publication { entry, events, .. } = publication;
                return Ok((Committed { entry, journal: offset + 1 }, events));
            }
            // A broker may take less than the settings say. Of a dead letter the beginning must do.
            Err(BusError::TooLarge { topic, .. }) if *topic == **dead_letters && shorten(&mut publication.records) => {}
            Err(error) => return Err(error),
        }
    }
}

/// Shortens the letters that can be; whether there was one.
pub(super) fn shorten(records: &mut [Outgoing]) -> bool {
    let mut any = false;
    for record in records {
        let is_letter = record.headers.iter().any(|(name, _)| &**name == "reason");
        let is_short = record.headers.iter().any(|(name, _)| &**name == "original-bytes");
        if is_letter && !is_short && record.n_bytes() > super::inlet::BEGINNING_BYTES {
            *record = shortened(record.clone());
            any = true;
        }
    }
    any
}
