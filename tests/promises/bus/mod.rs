//! What every bus promises. There is one suite, and each bus runs all of it on a ground of its own.
//!
//! The suite knows of no bus in particular: offsets may have gaps, what was trimmed may go later, and an assignment may take a
//! while to settle. So it waits for what must come, for [`PATIENCE`] at most, and looks a little longer for what must not.

pub(crate) mod embedded;
mod kafka;
mod members;
mod records;
mod seats;

use seamripper::bus::{self, Bus, BusError, Outgoing, Partition, Positions, Reader, Record, Seat};
use seamripper::config::Settings;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// What has not come by then does not come.
const PATIENCE: Duration = Duration::from_secs(60);
/// What has not come by then, and must not, has not come.
const LOOK: Duration = Duration::from_millis(300);
/// One look at a bus that may have nothing yet.
const GLANCE: Duration = Duration::from_millis(50);

/// Where one test takes place: settings whose topics, store and folder nobody else has.
pub(crate) struct Ground {
    /// A test changes them before it opens the bus.
    pub(crate) settings: Settings,
    /// A seat or member that was not used for so long has lost what it held.
    pub(crate) silence: Duration,
    /// Removed with the test.
    pub(crate) folder: TempDir,
}

impl Ground {
    /// One more instance on the same bus.
    pub(crate) fn open(&self) -> Arc<dyn Bus> {
        bus::open(&self.settings).unwrap()
    }

    /// The first instance, with all topics there.
    pub(crate) fn prepared(&self) -> Arc<dyn Bus> {
        let bus = self.open();
        patient(|| bus.prepare());
        bus
    }
}

/// The whole suite as tests, on grounds that the function makes.
macro_rules! suite {
    ($ground:path) => {
        $crate::bus::suite! { $ground:
            records::records_come_back_as_they_went
            records::a_feeder_says_where_its_records_are
            records::records_of_one_key_stay_in_order
            records::extents_and_positions_agree
            records::a_reader_keeps_to_its_bounds
            records::a_reader_waits_for_what_comes
            records::pausing_loses_nothing
            records::large_records_pass
            records::feeders_at_once_lose_nothing
            records::what_was_trimmed_is_gone
            records::a_position_beyond_the_end_is_gone
            records::missing_topics_are_named
            seats::a_publication_is_there_once
            seats::a_refused_publication_leaves_nothing
            seats::one_candidate_has_the_seat
            seats::a_seat_left_is_free_at_once
            seats::a_silent_holder_is_shut_out
            seats::a_successor_goes_on_where_the_journal_ends
            members::members_share_the_partitions
            members::a_member_that_leaves_loses_nothing
            members::a_silent_member_is_shut_out
            members::signers_go_on_where_they_were
            members::what_signers_have_lost_is_told
        }
    };
    ($ground:path: $($module:ident::$promise:ident)*) => {
        $(
            #[test]
            fn $promise() {
                $crate::bus::$module::$promise($ground());
            }
        )*
    };
}
pub(crate) use suite;

/// A record with a key for a partition.
fn outgoing(topic: &str, partition: i32, key: &str, value: &str) -> Outgoing {
    let (key, value) = (Some(key.as_bytes().to_vec()), Some(value.as_bytes().to_vec()));
    Outgoing { partition: Some(partition), key, value, ..Outgoing::to(topic) }
}

/// The value, which this suite writes as text.
fn text(record: &Record) -> String {
    String::from_utf8(record.value.clone().unwrap()).unwrap()
}

/// Where the topic begins.
fn beginning(bus: &dyn Bus, topic: &str) -> Positions {
    let begin = |partition: &Partition| patient(|| bus.extent(partition)).begin;
    let partitions = (0..patient(|| bus.n_partitions(topic))).map(|number| Partition::new(topic, number));
    Positions(partitions.map(|partition| (partition.clone(), begin(&partition))).collect())
}

/// A reader of all that a topic holds.
pub(crate) fn reader(bus: &dyn Bus, topic: &str) -> Box<dyn Reader> {
    let from = beginning(bus, topic);
    patient(|| bus.reader(&from))
}

/// The answer of a bus, however busy the machine is: what a run takes for trouble that passes is none of a test that only looks.
pub(crate) fn patient<T>(mut ask: impl FnMut() -> Result<T, BusError>) -> T {
    let begun = Instant::now();
    loop {
        match ask() {
            Err(BusError::Unreachable { .. }) if begun.elapsed() < PATIENCE => {}
            answer => return answer.unwrap(),
        }
    }
}

/// The next `n` records.
fn next(reader: &mut dyn Reader, n: usize) -> Vec<Record> {
    let (mut records, begun) = (Vec::new(), Instant::now());
    while records.len() < n {
        assert!(begun.elapsed() < PATIENCE, "{} of {n} records came", records.len());
        records.extend(reader.poll(n - records.len(), usize::MAX, GLANCE).unwrap());
    }
    records
}

/// All that the topic holds, in the order of its partitions. There must be `n`.
fn all(bus: &dyn Bus, topic: &str, n: usize) -> Vec<Record> {
    let mut reader = reader(bus, topic);
    let mut records = next(&mut *reader, n);
    let begun = Instant::now();
    while begun.elapsed() < LOOK {
        let more = reader.poll(usize::MAX, usize::MAX, GLANCE).unwrap();
        assert_eq!(more, [], "there are more than {n} records in {topic}");
    }
    records.sort_by_key(|record| record.partition.number);
    for pair in records.windows(2).filter(|pair| pair[0].partition == pair[1].partition) {
        assert!(pair[0].offset < pair[1].offset, "{} before {}", pair[0].offset, pair[1].offset);
    }
    records
}

/// The error that reading from there ends in.
fn refusal(bus: &dyn Bus, from: &Positions) -> BusError {
    let mut reader = match bus.reader(from) {
        Ok(reader) => reader,
        Err(error) => return error,
    };
    let begun = Instant::now();
    loop {
        assert!(begun.elapsed() < PATIENCE, "{from:?} is read as if it were there");
        match reader.poll(usize::MAX, usize::MAX, GLANCE) {
            Ok(records) => assert_eq!(records, [], "{from:?} is not there"),
            Err(error) => return error,
        }
    }
}

/// Waits until the first of `seats` has the seat, while the others stand for it too, and takes it. The others must not get it.
fn take(seats: &mut [&mut Box<dyn Seat>]) {
    let begun = Instant::now();
    loop {
        assert!(begun.elapsed() < PATIENCE, "the seat is not given");
        let given: Vec<bool> = seats.iter_mut().map(|seat| seat.poll(GLANCE).unwrap()).collect();
        assert!(!given[1..].contains(&true), "another one was given the seat");
        if given[0] {
            return seats[0].take().unwrap();
        }
    }
}
