//! The seat: whoever is given the journal's one partition may take the store's one transactional id.
//!
//! The group says who is next, and the transactional id shuts out whoever was before: its next call fails. A commit of unknown
//! outcome is looked up in the journal, after a new producer has settled it; whatever else has got into the journal since means
//! that the seat was another's meanwhile.
//!
//! # Invariants
//! - A newcomer leaves the seat where it is. (`one_candidate_has_the_seat`)
//! - A silent holder is shut out, and publishes nothing. (`a_silent_holder_is_shut_out`)
//! - Nothing is published twice, whatever is aborted or unknown. (`injected_aborts_are_sent_again`,
//!   `a_commit_of_unknown_outcome_is_looked_up`)

use super::cluster::Cluster;
use super::outbox::{refused_size, too_large};
use super::reader::TopicReader;
use super::share::{Share, Use};
use super::transaction::{Failed, Transactions, next_offsets};
use crate::bus::{BusError, Outgoing, Partition, Positions, Reader, Seat};
use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer};
use rdkafka::error::KafkaError;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The group is told how far we are at most so often: it is for those who watch the lag, and costs a request.
const TELL_EVERY: Duration = Duration::from_secs(1);
/// Between two tries of a publication that was undone: so long, then twice as long, and so on up to the other.
const PAUSES: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(1)];
/// The journal's end has been read when nothing came for so long and the reader says so; and is not read for longer than this.
const LOOK: Duration = Duration::from_millis(100);
const LOOK_MAX: Duration = Duration::from_secs(20);
/// What is waiting for us is taken in, so many events at a time.
const N_EVENTS: usize = 16;

/// A candidate for the seat, or its holder.
pub(super) struct TopicSeat {
    cluster: Arc<Cluster>,
    consumer: BaseConsumer<Share>,
    journal: Partition,
    taken: Option<Taken>,
    told: Instant,
    untold: Option<Positions>,
}

/// The seat, taken.
struct Taken {
    transactions: Transactions,
    /// Where the journal goes on after the last record of ours.
    next: i64,
}

impl TopicSeat {
    pub(super) fn open(cluster: Arc<Cluster>) -> Result<Self, BusError> {
        let journal = Partition::new(&*cluster.settings.topics.journal, 0);
        let store = &cluster.settings.bus.store;
        let consumer = Share::join(&cluster, store, &[&journal.topic], Use::Hold)?;
        Ok(Self { cluster, consumer, journal, taken: None, told: Instant::now(), untold: None })
    }

    /// Takes the transactional id.
    fn transactions(&self) -> Result<Transactions, BusError> {
        let id = format!("{}-seat", self.cluster.settings.bus.store);
        Transactions::open(&self.cluster, &id, &mut || self.is_given())
    }

    /// Serves the group; whether the journal's partition is ours.
    fn is_given(&self) -> bool {
        is_given(&self.consumer, &self.journal)
    }

    /// Takes the id again and says what has become of a publication: its offset, if it is the one thing that was added to the
    /// journal since.
    fn settled(&mut self, journal: &Outgoing) -> Result<Option<i64>, BusError> {
        let Some(Taken { next, .. }) = self.taken.take() else { return Err(BusError::Fenced) };
        if !self.is_given() {
            return Err(BusError::Fenced);
        }
        let transactions = self.transactions()?;
        let found = looked_up(&self.cluster, &self.journal, next, journal)?;
        let next = match found {
            Found::Nothing => next,
            Found::Ours(offset) => offset + 1,
            Found::Others => return Err(BusError::Fenced),
        };
        self.taken = Some(Taken { transactions, next });
        Ok(if let Found::Ours(offset) = found { Some(offset) } else { None })
    }

    /// Tells the group how far we are.
    fn tell(&mut self, mode: CommitMode) {
        let Some(positions) = self.untold.take() else { return };
        self.told = Instant::now();
        let offsets = next_offsets(&positions);
        if offsets.count() > 0
            && let Err(error) = self.consumer.commit(&offsets, mode)
        {
            // The journal knows; this is for those who watch.
            tracing::debug!(%error, "the group was not told how far the store is");
        }
    }
}

/// Serves the group; whether the partition is ours.
fn is_given(consumer: &BaseConsumer<Share>, journal: &Partition) -> bool {
    for _ in 0..N_EVENTS {
        serve(consumer, Duration::ZERO);
    }
    consumer.context().has(journal) && !consumer.assignment_lost()
}

fn serve(consumer: &BaseConsumer<Share>, wait: Duration) {
    match consumer.poll(wait) {
        // Records of the journal are not read here; one may come before it is paused.
        None | Some(Ok(_)) => {}
        Some(Err(error)) => tracing::debug!(%error, "standing for the seat"),
    }
}

/// What was added to the journal.
enum Found {
    Nothing,
    Ours(i64),
    Others,
}

/// What the journal holds from `next` on.
fn looked_up(cluster: &Arc<Cluster>, partition: &Partition, next: i64, wanted: &Outgoing) -> Result<Found, BusError> {
    let mut reader = TopicReader::open(cluster.clone(), &Positions([(partition.clone(), next)].into()))?;
    let (mut found, begun) = (Found::Nothing, Instant::now());
    loop {
        let records = reader.poll(usize::MAX, usize::MAX, LOOK)?;
        if records.is_empty() && reader.is_at_end() {
            return Ok(found);
        }
        for record in records {
            found = match found {
                Found::Nothing if record.value == wanted.value && record.key == wanted.key => {
                    Found::Ours(record.offset)
                }
                _ => Found::Others,
            };
        }
        if begun.elapsed() > LOOK_MAX {
            return Err(cluster.unreachable("the end of the journal could not be read"));
        }
    }
}

impl Seat for TopicSeat {
    fn poll(&mut self, wait: Duration) -> Result<bool, BusError> {
        let begun = Instant::now();
        if let Some((code, why)) = self.consumer.client().fatal_error() {
            let error = KafkaError::MessageConsumptionFatal(code);
            return Err(BusError::Broken(format!("{}: {error}: {why}", self.cluster.name())));
        }
        let mut given = self.is_given();
        while !given && begun.elapsed() < wait {
            serve(&self.consumer, wait.saturating_sub(begun.elapsed()));
            given = self.is_given();
        }
        if !given {
            self.taken = None;
        } else if self.told.elapsed() >= TELL_EVERY {
            self.tell(CommitMode::Async);
        }
        Ok(given)
    }

    fn take(&mut self) -> Result<(), BusError> {
        // The producer of an earlier time, if there was one, is of no use any more.
        self.taken = None;
        if !self.is_given() {
            return Err(BusError::Fenced);
        }
        let transactions = self.transactions()?;
        let next = self.cluster.extent(&self.journal)?.end;
        self.taken = Some(Taken { transactions, next });
        Ok(())
    }

    fn publish(&mut self, outputs: &[Outgoing], journal: &Outgoing, positions: &Positions) -> Result<i64, BusError> {
        let records: Vec<&Outgoing> = outputs.iter().chain([journal]).collect();
        if let Some(error) = too_large(&records, self.cluster.settings.bus.record_bytes_max) {
            return Err(error);
        }
        let mut pause = PAUSES[0];
        let offset = loop {
            if !self.is_given() {
                self.taken = None;
            }
            let Some(taken) = &mut self.taken else { return Err(BusError::Fenced) };
            let go_on = &mut || is_given(&self.consumer, &self.journal);
            let (why, asked) = match taken.transactions.publish(&records, None, go_on) {
                Ok(places) => {
                    let (_, offset) = places.last().expect("the journal record was among them");
                    taken.next = offset + 1;
                    break *offset;
                }
                Err(Failed::TooLarge(index)) => return Err(refused_size(records[index])),
                Err(Failed::Aborted(why)) => {
                    tracing::warn!(why, "a transaction was undone, sending it again");
                    sleep(pause);
                    pause = (pause * 2).min(PAUSES[1]);
                    continue;
                }
                Err(Failed::Fenced(None) | Failed::Unwanted(None)) => {
                    self.taken = None;
                    return Err(BusError::Fenced);
                }
                Err(Failed::Fenced(Some(_)) | Failed::Unwanted(Some(_))) => {
                    // Whoever comes after us settles it, and has if the journal shows it.
                    let next = taken.next;
                    self.taken = None;
                    match looked_up(&self.cluster, &self.journal, next, journal)? {
                        Found::Ours(offset) => return Ok(offset),
                        Found::Nothing | Found::Others => return Err(BusError::Fenced),
                    }
                }
                Err(Failed::Moved) => ("the group has changed".to_owned(), None),
                Err(Failed::Broken(why, asked)) => (why, asked),
            };
            tracing::warn!(why, is_unknown = asked.is_some(), "a transaction failed, beginning with a new producer");
            if let Some(offset) = self.settled(journal)? {
                break offset;
            }
        };
        self.untold = Some(positions.clone());
        if self.told.elapsed() >= TELL_EVERY {
            self.tell(CommitMode::Async);
        }
        Ok(offset)
    }

    fn leave(mut self: Box<Self>) {
        if self.taken.is_some() {
            self.tell(CommitMode::Sync);
        }
        // The producer goes first, then the group is left by dropping its consumer.
        self.taken = None;
    }
}
