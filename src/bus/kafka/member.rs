//! Signers: an ordinary group divides the inputs, and each publishes in transactions of its own.
//!
//! What is published and that it is done are one transaction, and the broker refuses it from whoever is no member any more. It
//! does not ask whose the partition is, and from somebody who claims to be no member at all it takes anything: so a share that
//! has changed is noticed here, and a member that was silent for long does not try.
//!
//! librdkafka would pass over what was deleted before it was signed without a word. So it is told to report a position that is not
//! there, and the member finds out whether the group was nowhere yet or has lost something.
//!
//! # Invariants
//! - Every record's outcome is published once, whoever comes and goes. (`tests/promises/bus/members.rs`)

use super::cluster::Cluster;
use super::errors::{Meaning, code, meaning};
use super::outbox::{refused_size, too_large};
use super::reader::{Names, listed};
use super::share::{Share, Use};
use super::transaction::{Failed, Progress, Transactions};
use crate::bus::{BusError, Extent, Member, Outgoing, Partition, Positions, Published, Record};
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::KafkaError;
use rdkafka::{Offset, TopicPartitionList};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

const SEEK_MAX: Duration = Duration::from_secs(5);
const ASK_MAX: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(50);

/// One of the signers of a store.
pub(super) struct TopicMember {
    cluster: Arc<Cluster>,
    topics: Vec<Arc<str>>,
    names: Names,
    consumer: BaseConsumer<Share>,
    /// The transactional id, and the producer that has it.
    id: String,
    transactions: Option<Transactions>,
    /// How far we are in each partition of which we have delivered something.
    reached: BTreeMap<Partition, Reached>,
    /// Whether records that were delivered and not published are another's now.
    is_upset: bool,
    /// Whether a position was reported not to be there.
    is_lost: bool,
    /// Where it was accepted that something is gone.
    passed_over: BTreeSet<Partition>,
    polled: Instant,
}

/// How far we are in a partition.
#[derive(Clone, Copy, Debug)]
struct Reached {
    /// What is signed and published, or where delivering began.
    signed: i64,
    /// What is delivered.
    next: i64,
}

impl TopicMember {
    pub(super) fn open(cluster: Arc<Cluster>, topics: &[Arc<str>]) -> Result<Self, BusError> {
        let random = getrandom::u64().map_err(|error| BusError::Broken(format!("no random number: {error}")))?;
        let id = format!("{}-signer-{random:016x}", cluster.settings.bus.store);
        let consumer = joined(&cluster, topics)?;
        Ok(Self {
            cluster,
            topics: topics.to_vec(),
            names: Names::of(topics),
            consumer,
            id,
            transactions: None,
            reached: BTreeMap::new(),
            is_upset: false,
            is_lost: false,
            passed_over: BTreeSet::new(),
            polled: Instant::now(),
        })
    }

    /// Notes what has been taken from us.
    fn note_lost(&mut self) {
        for partition in self.consumer.context().take_lost() {
            self.passed_over.remove(&partition);
            let reached = self.reached.remove(&partition);
            self.is_upset |= reached.is_some_and(|reached| reached.next > reached.signed);
        }
    }

    /// Whether the group may have taken us for dead without our knowing yet.
    fn is_doubtful(&self) -> bool {
        let session = Duration::from_millis(self.cluster.settings.kafka.session_timeout_ms);
        self.polled.elapsed() >= session / 3 * 2 || self.consumer.assignment_lost()
    }

    /// All that is ours comes again from where it was published.
    fn rewind(&mut self) -> Result<(), BusError> {
        self.is_upset = false;
        let mut list = TopicPartitionList::new();
        for (Partition { topic, number }, reached) in std::mem::take(&mut self.reached) {
            let added = list.add_partition_offset(&topic, number, Offset::Offset(reached.signed));
            added.map_err(|error| self.cluster.error(&error))?;
        }
        if list.count() == 0 || self.consumer.assignment_lost() {
            return Ok(());
        }
        let sought = self.consumer.seek_partitions(list, SEEK_MAX);
        let is_whole = sought.as_ref().is_ok_and(|list| list.elements().iter().all(|one| one.error().is_ok()));
        drop(sought);
        if is_whole { Ok(()) } else { self.rejoin() }
    }

    /// Begins again where the group is.
    fn rejoin(&mut self) -> Result<(), BusError> {
        (self.is_upset, self.polled) = (false, Instant::now());
        self.reached.clear();
        self.consumer = joined(&self.cluster, &self.topics)?;
        Ok(())
    }

    /// Finds out what a position is that was reported not to be there.
    fn settle(&mut self) -> Result<(), BusError> {
        let ours = self.consumer.context().all();
        let unknown: Vec<&Partition> = ours.iter().filter(|partition| !self.reached.contains_key(partition)).collect();
        let mut committed = Positions::default();
        if !unknown.is_empty() {
            let list = self.consumer.committed_offsets(listed(unknown), ASK_MAX);
            for element in list.map_err(|error| self.cluster.error(&error))?.elements() {
                if let Offset::Offset(next) = element.offset() {
                    committed.0.insert(Partition::new(element.topic(), element.partition()), next);
                }
            }
        }
        let mut list = TopicPartitionList::with_capacity(ours.len());
        for partition in ours {
            let next = self.reached.get(&partition).map(|reached| reached.next);
            let to = match next.or(committed.0.get(&partition).copied()) {
                _ if self.passed_over.contains(&partition) && next.is_none() => Offset::Beginning,
                None => Offset::Beginning,
                Some(wanted) => {
                    let Extent { begin, end } = self.cluster.extent(&partition)?;
                    if !(begin..=end).contains(&wanted) {
                        return Err(BusError::Gone { partition, wanted, begin, end });
                    }
                    Offset::Offset(wanted)
                }
            };
            let added = list.add_partition_offset(&partition.topic, partition.number, to);
            added.map_err(|error| self.cluster.error(&error))?;
        }
        // A partition whose position was not there is fetched no more, and cannot be sought in: it is taken anew.
        let taken = self.consumer.incremental_unassign(&list).and_then(|()| self.consumer.incremental_assign(&list));
        taken.map_err(|error| self.cluster.error(&error))
    }

    /// Whether the group has been told that all of it is done, now that nothing is open.
    fn is_done(&mut self, consumed: &Positions) -> Result<bool, BusError> {
        self.transactions = None;
        self.transactions = Some(Transactions::open(&self.cluster, &self.id, &mut || true)?);
        let list = listed(consumed.0.keys());
        let committed = self.consumer.committed_offsets(list, ASK_MAX).map_err(|error| self.cluster.error(&error))?;
        let done = committed.elements().iter().all(|element| {
            let partition = Partition::new(element.topic(), element.partition());
            matches!(element.offset(), Offset::Offset(next) if next >= consumed.next(&partition))
        });
        Ok(done)
    }
}

fn joined(cluster: &Cluster, topics: &[Arc<str>]) -> Result<BaseConsumer<Share>, BusError> {
    let names: Vec<&str> = topics.iter().map(|topic| &**topic).collect();
    let group = format!("{}-signers", cluster.settings.bus.store);
    Share::join(cluster, &group, &names, Use::Read)
}

impl Member for TopicMember {
    fn poll(&mut self, n_max: usize, bytes_max: usize, wait: Duration) -> Result<Vec<Record>, BusError> {
        let (mut records, mut n_bytes) = (Vec::new(), 0);
        let begun = Instant::now();
        if self.is_lost {
            self.settle()?;
            self.is_lost = false;
        }
        while records.len() < n_max && n_bytes < bytes_max {
            let left = if records.is_empty() { wait.saturating_sub(begun.elapsed()) } else { Duration::ZERO };
            let polled = self.consumer.poll(left).map(|polled| polled.map(|message| self.names.record(&message)));
            self.polled = Instant::now();
            self.note_lost();
            match polled {
                Some(Ok(record)) => {
                    let Record { partition, offset, .. } = &record;
                    let begin = Reached { signed: *offset, next: *offset };
                    self.reached.entry(partition.clone()).or_insert(begin).next = offset + 1;
                    n_bytes += record.n_bytes();
                    records.push(record);
                }
                Some(Err(error @ KafkaError::MessageConsumptionFatal(_))) => return Err(self.cluster.error(&error)),
                Some(Err(error)) if code(&error).map(meaning) == Some(Meaning::Gone) => {
                    // What was delivered goes first: it can still be signed.
                    self.is_lost = true;
                    break;
                }
                // librdkafka goes on by itself.
                Some(Err(error)) => tracing::debug!(%error, "signing goes on after a trouble"),
                None if !records.is_empty() || begun.elapsed() >= wait => break,
                None => {}
            }
        }
        Ok(records)
    }

    fn pass_over(&mut self, partition: &Partition) -> Result<(), BusError> {
        self.reached.remove(partition);
        self.passed_over.insert(partition.clone());
        Ok(())
    }

    fn publish(&mut self, outputs: &[Outgoing], consumed: &Positions) -> Result<Published, BusError> {
        let records: Vec<&Outgoing> = outputs.iter().collect();
        if let Some(error) = too_large(&records, self.cluster.settings.bus.record_bytes_max) {
            return Err(error);
        }
        loop {
            let is_ours =
                |partition: &Partition| self.reached.contains_key(partition) && self.consumer.context().has(partition);
            if self.is_upset || self.is_doubtful() || !consumed.0.keys().all(is_ours) {
                self.rewind()?;
                return Ok(Published::Undone);
            }
            if self.transactions.is_none() {
                let consumer = &self.consumer;
                match Transactions::open(&self.cluster, &self.id, &mut || !consumer.assignment_lost()) {
                    Ok(opened) => self.transactions = Some(opened),
                    Err(BusError::Fenced) => continue,
                    Err(error) => return Err(error),
                }
            }
            // As it is right now; and if we were shut out before it was taken, that is known by now.
            let Some(group) = self.consumer.group_metadata() else {
                return Err(BusError::Broken("a member without a group".into()));
            };
            if self.is_doubtful() {
                continue;
            }
            let progress = Progress { consumed, group: &group };
            let consumer = &self.consumer;
            let Some(transactions) = &self.transactions else { continue };
            match transactions.publish(&records, Some(&progress), &mut || !consumer.assignment_lost()) {
                Ok(_) => {
                    for (partition, next) in &consumed.0 {
                        if let Some(reached) = self.reached.get_mut(partition) {
                            reached.signed = *next;
                        }
                    }
                    return Ok(Published::Done);
                }
                Err(Failed::TooLarge(index)) => return Err(refused_size(records[index])),
                Err(Failed::Aborted(why)) => {
                    tracing::warn!(why, "a transaction was undone, sending it again");
                    sleep(PAUSE);
                }
                Err(Failed::Moved) => {
                    self.rewind()?;
                    return Ok(Published::Undone);
                }
                Err(Failed::Fenced(asked) | Failed::Unwanted(asked) | Failed::Broken(_, asked)) => {
                    // The id is ours alone: whatever is open is undone by taking it again.
                    self.transactions = None;
                    if asked.is_some() {
                        let is_done = self.is_done(consumed)?;
                        self.rejoin()?;
                        return Ok(if is_done { Published::DoneAfresh } else { Published::Undone });
                    }
                }
            }
        }
    }

    fn leave(mut self: Box<Self>) {
        // The producer goes first, then the group is left by dropping its consumer.
        self.transactions = None;
    }
}
