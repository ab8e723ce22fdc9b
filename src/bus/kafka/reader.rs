//! Reads partitions from positions of its own, with nothing asked of a group.
//!
//! librdkafka does not say which position was out of range, nor does it know when a topic was deleted and made again: the reader
//! knows where it is, and asks what there is.
//!
//! # Invariants
//! - A position that is gone, or not there yet, ends the reading. (`what_was_trimmed_is_gone`,
//!   `a_position_beyond_the_end_is_gone`, `a_topic_made_again_is_noticed`)

use super::cluster::Cluster;
use super::errors::{Meaning, code, meaning};
use super::said::Ear;
use crate::bus::{BusError, Header, Partition, Positions, Reader, Record};
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::KafkaError;
use rdkafka::message::{BorrowedMessage, Headers, Message};
use rdkafka::{Offset, TopicPartitionList};
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Brokers that were away for so long are asked for.
const AWAY_MAX: Duration = Duration::from_secs(10);

/// Reads some partitions.
pub(super) struct TopicReader {
    cluster: Arc<Cluster>,
    consumer: BaseConsumer<Ear>,
    names: Names,
    next: BTreeMap<Partition, i64>,
    paused: BTreeSet<Partition>,
    /// Where partitions ended when reading began, and how often an end was reached since, by number: librdkafka does not say of
    /// which topic.
    ends: BTreeMap<Partition, i64>,
    n_ends: BTreeMap<i32, usize>,
    away_since: Option<Instant>,
}

impl TopicReader {
    pub(super) fn open(cluster: Arc<Cluster>, from: &Positions) -> Result<Self, BusError> {
        let mut ends = BTreeMap::new();
        for (partition, &wanted) in &from.0 {
            ends.insert(partition.clone(), present(&cluster, partition, wanted)?);
        }
        let ear = Ear(cluster.said.clone());
        let consumer = cluster.properties.reader().create_with_context::<_, BaseConsumer<_>>(ear);
        let consumer = consumer.map_err(|error| cluster.error(&error))?;
        let reader = Self {
            names: Names::of(from.0.keys().map(|partition| &partition.topic)),
            cluster,
            consumer,
            next: from.0.clone(),
            paused: BTreeSet::new(),
            ends,
            n_ends: BTreeMap::new(),
            away_since: None,
        };
        reader.assign()?;
        Ok(reader)
    }

    /// Begins to fetch from where we are.
    fn assign(&self) -> Result<(), BusError> {
        let error = |error: KafkaError| self.cluster.error(&error);
        let mut list = TopicPartitionList::with_capacity(self.next.len());
        for (Partition { topic, number }, next) in &self.next {
            list.add_partition_offset(topic, *number, Offset::Offset(*next)).map_err(error)?;
        }
        self.consumer.assign(&list).map_err(error)?;
        let paused = listed(&self.paused);
        if paused.count() > 0 { self.consumer.pause(&paused).map_err(error) } else { Ok(()) }
    }

    /// Takes a record in, if it is the next.
    fn take(&mut self, record: Record, records: &mut Vec<Record>) -> Result<(), BusError> {
        let Some(next) = self.next.get_mut(&record.partition) else { return Ok(()) };
        if record.offset < *next {
            // The topic was made again, and is being read from its beginning.
            let Record { partition, .. } = record;
            let extent = self.cluster.extent(&partition)?;
            return Err(BusError::Gone {
                wanted: *next,
                partition,
                begin: extent.begin,
                end: extent.end.min(*next - 1),
            });
        }
        *next = record.offset + 1;
        self.away_since = None;
        records.push(record);
        Ok(())
    }

    /// Whether a trouble ends the reading. Most pass: librdkafka goes on by itself.
    fn trouble(&mut self, error: &KafkaError) -> Result<(), BusError> {
        if let KafkaError::PartitionEOF(number) = error {
            *self.n_ends.entry(*number).or_default() += 1;
            self.away_since = None;
            return Ok(());
        }
        match (error, code(error).map(meaning)) {
            (KafkaError::MessageConsumptionFatal(_), _) => Err(self.cluster.error(error)),
            (_, Some(Meaning::Gone | Meaning::NoTopic)) => {
                for (partition, &wanted) in &self.next {
                    present(&self.cluster, partition, wanted)?;
                }
                // It was so for a moment. The partition is not fetched any more: begin again.
                self.assign()
            }
            (_, Some(Meaning::Unreachable)) => {
                self.away_since.get_or_insert_with(Instant::now);
                Ok(())
            }
            (_, Some(Meaning::Refused)) => Err(self.cluster.error(error)),
            _ => {
                tracing::warn!(%error, "reading goes on after a trouble");
                Ok(())
            }
        }
    }

    /// Asks for brokers that have been away for long.
    fn look_for_brokers(&mut self) -> Result<(), BusError> {
        if self.away_since.is_some_and(|since| since.elapsed() >= AWAY_MAX) {
            self.away_since = None;
            if let Some(partition) = self.next.keys().next() {
                self.cluster.extent(partition)?;
            }
        }
        Ok(())
    }
}

impl Reader for TopicReader {
    fn poll(&mut self, n_max: usize, bytes_max: usize, wait: Duration) -> Result<Vec<Record>, BusError> {
        let (mut records, mut n_bytes) = (Vec::new(), 0);
        let begun = Instant::now();
        self.look_for_brokers()?;
        while records.len() < n_max && n_bytes < bytes_max {
            let left = if records.is_empty() { wait.saturating_sub(begun.elapsed()) } else { Duration::ZERO };
            match self.consumer.poll(left) {
                Some(Ok(message)) => {
                    let record = self.names.record(&message);
                    drop(message);
                    n_bytes += record.n_bytes();
                    self.take(record, &mut records)?;
                }
                Some(Err(error)) => self.trouble(&error)?,
                None if !records.is_empty() || begun.elapsed() >= wait => break,
                None => {}
            }
        }
        Ok(records)
    }

    fn pause(&mut self, partition: &Partition) -> Result<(), BusError> {
        if self.paused.insert(partition.clone()) {
            let list = listed([partition]);
            self.consumer.pause(&list).map_err(|error| self.cluster.error(&error))?;
        }
        Ok(())
    }

    fn resume(&mut self, partition: &Partition) -> Result<(), BusError> {
        if self.paused.remove(partition) {
            let list = listed([partition]);
            self.consumer.resume(&list).map_err(|error| self.cluster.error(&error))?;
        }
        Ok(())
    }

    fn is_at_end(&self) -> bool {
        self.next.iter().all(|(partition, next)| {
            // One end may be that of another topic; as many as there are topics are not.
            let n_topics = self.next.keys().filter(|other| other.number == partition.number).count();
            self.paused.contains(partition)
                || self.ends.get(partition).is_some_and(|end| next >= end)
                || self.n_ends.get(&partition.number).is_some_and(|n_ends| *n_ends >= n_topics)
        })
    }
}

/// Where the partition ends, if the position is one that it has, or will have next.
fn present(cluster: &Cluster, partition: &Partition, wanted: i64) -> Result<i64, BusError> {
    let extent = cluster.extent(partition)?;
    if (extent.begin..=extent.end).contains(&wanted) {
        return Ok(extent.end);
    }
    Err(BusError::Gone { partition: partition.clone(), wanted, begin: extent.begin, end: extent.end })
}

/// Partitions as librdkafka wants them. It must not outlive the call that it is for: a consumer is not dropped before it.
pub(super) fn listed<'a>(partitions: impl IntoIterator<Item = &'a Partition>) -> TopicPartitionList {
    let mut list = TopicPartitionList::new();
    for Partition { topic, number } in partitions {
        list.add_partition(topic, *number);
    }
    list
}

/// The names of topics, each once.
pub(super) struct Names(Vec<Arc<str>>);

impl Names {
    pub(super) fn of<'a>(topics: impl IntoIterator<Item = &'a Arc<str>>) -> Self {
        let topics: BTreeSet<&Arc<str>> = topics.into_iter().collect();
        Self(topics.into_iter().cloned().collect())
    }

    /// A message as our record.
    pub(super) fn record(&self, message: &BorrowedMessage<'_>) -> Record {
        let topic = self.0.iter().find(|topic| ***topic == *message.topic());
        let topic = topic.cloned().unwrap_or_else(|| message.topic().into());
        Record {
            partition: Partition::new(topic, message.partition()),
            offset: message.offset(),
            time_ms: message.timestamp().to_millis().unwrap_or(0),
            key: message.key().map(<[u8]>::to_vec),
            headers: message.headers().map(headers).unwrap_or_default(),
            value: message.payload().map(<[u8]>::to_vec),
        }
    }
}

fn headers(headers: &impl Headers) -> Vec<Header> {
    let header = |index| {
        // A name that is not UTF-8 is a panic in rdkafka; such a header says nothing to us.
        let header = catch_unwind(AssertUnwindSafe(|| headers.try_get(index))).ok().flatten()?;
        Some((header.key.into(), header.value.unwrap_or_default().to_vec()))
    };
    (0..headers.count()).filter_map(header).collect()
}
