//! Transactions of one transactional id: all of a batch or nothing of it.
//!
//! librdkafka knows three kinds of errors, and each wants something else: call again, abort and send again, or begin with a new
//! producer. Here they become what the holder of a seat or a signer has to do next ([`Failed`]).
//!
//! # Invariants
//! - What is aborted is never seen by readers, and is sent again by whoever has it. (`injected_aborts_are_sent_again`)
//! - A commit of unknown outcome is said to be one. (`a_commit_of_unknown_outcome_is_looked_up`)

use super::cluster::Cluster;
use super::errors::{Meaning, meaning};
use super::outbox::{Outbox, Undelivered, Unsent};
use crate::bus::{BusError, Outgoing, Partition, Positions};
use crate::fault;
use crate::metrics;
use rdkafka::consumer::ConsumerGroupMetadata;
use rdkafka::error::{KafkaError, KafkaResult};
use rdkafka::producer::Producer;
use rdkafka::{Offset, TopicPartitionList};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A call of librdkafka that takes longer is interrupted and made again, so that whoever waits can show that it is alive.
const CALL: Duration = Duration::from_millis(1000);
/// An abort has callbacks to wait for that come only between its calls.
const ABORT_CALL: Duration = Duration::from_millis(50);

/// Why nothing was published, or may not have been.
#[derive(Debug)]
pub(super) enum Failed {
    /// It was undone, and can be sent again.
    Aborted(String),
    /// It was undone because this record is too large.
    TooLarge(usize),
    /// It was undone: the group has given the partitions to others.
    Moved,
    /// Another has the transactional id. With the place of the last record, if a commit was asked for.
    Fenced(Option<i64>),
    /// The producer is of no further use. With the place of the last record, if a commit was asked for.
    Broken(String, Option<i64>),
    /// Whoever waited does not want to any more; the producer is of no further use.
    Unwanted(Option<i64>),
}

/// A producer with a transactional id.
pub(super) struct Transactions {
    cluster: Arc<Cluster>,
    outbox: Outbox,
    timeout: Duration,
}

/// What is published beside the records: how far a group has come.
pub(super) struct Progress<'a> {
    pub(super) consumed: &'a Positions,
    pub(super) group: &'a ConsumerGroupMetadata,
}

impl Transactions {
    /// Takes the id: whoever had it can publish no more, and what was open is undone.
    pub(super) fn open(cluster: &Arc<Cluster>, id: &str, go_on: &mut dyn FnMut() -> bool) -> Result<Self, BusError> {
        let outbox = Outbox::open(cluster, &cluster.properties.transactional(id))?;
        let timeout = Duration::from_millis(cluster.settings.kafka.transaction_timeout_ms);
        let begun = Instant::now();
        loop {
            let error = match outbox.producer.init_transactions(CALL) {
                Ok(()) => {
                    cluster.said.answered();
                    return Ok(Self { cluster: cluster.clone(), outbox, timeout });
                }
                Err(error) => error,
            };
            outbox.step();
            let KafkaError::Transaction(call) = &error else { return Err(cluster.error(&error)) };
            if !call.is_retriable() || cluster.said.refused().is_some() {
                return Err(cluster.error(&error));
            }
            if !go_on() {
                return Err(BusError::Fenced);
            }
            if begun.elapsed() >= timeout {
                return Err(cluster.unreachable(&call.to_string()));
            }
        }
    }

    /// Publishes the records, and with them how far a group has come; returns where they are. `go_on` is asked now and then.
    pub(super) fn publish(
        &self,
        records: &[&Outgoing],
        progress: Option<&Progress<'_>>,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Vec<(Partition, i64)>, Failed> {
        if let Err(error) = self.outbox.producer.begin_transaction() {
            return Err(self.failed(&error, None, go_on));
        }
        let places = match self.outbox.send(records, go_on) {
            Ok(places) => places,
            Err(Unsent::Unwanted) => return Err(Failed::Unwanted(None)),
            Err(Unsent::Undelivered(Undelivered { index, code })) => {
                self.abort(go_on)?;
                return Err(match meaning(code) {
                    Meaning::TooLarge => Failed::TooLarge(index),
                    _ => Failed::Aborted(code.to_string()),
                });
            }
        };
        if let Some(Progress { consumed, group }) = progress {
            let offsets = next_offsets(consumed);
            let call = || self.outbox.producer.send_offsets_to_transaction(&offsets, group, CALL);
            self.called(None, go_on, &call)?;
        }
        let last = Some(places.last().map_or(-1, |(_, offset)| *offset));
        self.called(last, go_on, &|| self.outbox.producer.commit_transaction(CALL))?;
        if fault::is_due("commit_doubted") {
            return Err(Failed::Broken("a test doubts it".into(), last));
        }
        self.cluster.said.answered();
        Ok(places)
    }

    /// Calls until it is done or has failed.
    fn called(
        &self,
        asked: Option<i64>,
        go_on: &mut dyn FnMut() -> bool,
        call: &dyn Fn() -> KafkaResult<()>,
    ) -> Result<(), Failed> {
        loop {
            let error = match call() {
                Ok(()) => return Ok(()),
                Err(error) => error,
            };
            self.outbox.step();
            match &error {
                KafkaError::Transaction(call) if call.is_retriable() && !call.txn_requires_abort() => {}
                KafkaError::Flush(_) => {}
                error => return Err(self.failed(error, asked, go_on)),
            }
            if !go_on() {
                return Err(Failed::Unwanted(asked));
            }
        }
    }

    /// What a failed call asks for; an abort is done at once.
    fn failed(&self, error: &KafkaError, asked: Option<i64>, go_on: &mut dyn FnMut() -> bool) -> Failed {
        if let Some((cause, why)) = self.outbox.fatal() {
            return if cause == Meaning::Fenced { Failed::Fenced(asked) } else { Failed::Broken(why, asked) };
        }
        let KafkaError::Transaction(call) = error else { return Failed::Broken(error.to_string(), asked) };
        if !call.txn_requires_abort() {
            return match meaning(call.code()) {
                Meaning::Fenced => Failed::Fenced(asked),
                _ => Failed::Broken(call.to_string(), asked),
            };
        }
        match self.abort(go_on) {
            Err(failed) => failed,
            Ok(()) if meaning(call.code()) == Meaning::Moved => Failed::Moved,
            Ok(()) => Failed::Aborted(call.to_string()),
        }
    }

    /// Undoes what is open.
    fn abort(&self, go_on: &mut dyn FnMut() -> bool) -> Result<(), Failed> {
        ::metrics::counter!(metrics::ABORTS).increment(1);
        let begun = Instant::now();
        loop {
            let error = match self.outbox.producer.abort_transaction(ABORT_CALL) {
                Ok(()) => return Ok(()),
                Err(error) => error,
            };
            // Reports on what was dropped are waited for, and come only here.
            self.outbox.step();
            if let Some((cause, why)) = self.outbox.fatal() {
                return Err(if cause == Meaning::Fenced { Failed::Fenced(None) } else { Failed::Broken(why, None) });
            }
            let KafkaError::Transaction(call) = &error else { return Err(Failed::Broken(error.to_string(), None)) };
            if !call.is_retriable() || begun.elapsed() >= self.timeout {
                return Err(Failed::Broken(call.to_string(), None));
            }
            if !go_on() {
                return Err(Failed::Unwanted(None));
            }
        }
    }
}

/// Kafka wants the offset of the next record, as our positions have it.
pub(super) fn next_offsets(positions: &Positions) -> TopicPartitionList {
    let mut list = TopicPartitionList::with_capacity(positions.0.len());
    for (Partition { topic, number }, next) in &positions.0 {
        let added = list.add_partition_offset(topic, *number, Offset::Offset(*next));
        added.expect("every offset can be written");
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_told_the_next_offset() {
        let mut positions = Positions::default();
        positions.pass(&Partition::new("pages", 3), 41);
        let list = next_offsets(&positions);
        let found = list.find_partition("pages", 3).unwrap();
        assert_eq!((list.count(), found.offset()), (1, Offset::Offset(42)));
    }
}
