//! Appends records, outside of any transaction.

use super::cluster::Cluster;
use super::errors::{Meaning, meaning};
use super::outbox::{Outbox, Undelivered, Unsent, refused_size, too_large};
use crate::bus::{BusError, Feeder, Outgoing, Partition};
use rdkafka::error::RDKafkaErrorCode as Code;
use std::sync::Arc;

/// Appends records.
pub(super) struct TopicFeeder {
    cluster: Arc<Cluster>,
    /// Made anew after what it cannot recover from.
    outbox: Option<Outbox>,
}

impl TopicFeeder {
    pub(super) fn open(cluster: Arc<Cluster>) -> Result<Self, BusError> {
        let outbox = Some(Outbox::open(&cluster, &cluster.properties.feeder())?);
        Ok(Self { cluster, outbox })
    }
}

impl Feeder for TopicFeeder {
    fn append(&mut self, records: Vec<Outgoing>) -> Result<Vec<(Partition, i64)>, BusError> {
        let Self { cluster, outbox } = self;
        let records: Vec<&Outgoing> = records.iter().collect();
        if let Some(error) = too_large(&records, cluster.settings.bus.record_bytes_max) {
            return Err(error);
        }
        let sender = match outbox.take() {
            Some(sender) => sender,
            None => Outbox::open(cluster, &cluster.properties.feeder())?,
        };
        // Each record has its own time in which it lands or not.
        match sender.send(&records, &mut || true) {
            Ok(places) => {
                cluster.said.answered();
                *outbox = Some(sender);
                Ok(places)
            }
            // What is still on its way has no place to land: the outbox is dropped.
            Err(Unsent::Undelivered(Undelivered { index, code })) => Err(match meaning(code) {
                Meaning::TooLarge => refused_size(records[index]),
                Meaning::NoTopic => BusError::NoTopic { topic: records[index].topic.to_string() },
                Meaning::Refused => BusError::Refused { bus: cluster.name(), why: code.to_string() },
                Meaning::Unreachable => cluster.unreachable(&code.to_string()),
                _ if code == Code::InvalidRecord && records[index].key.is_none() => BusError::Broken(format!(
                    "{}: a record without a key was not taken: a compacted topic such as `{}` wants keys",
                    cluster.name(),
                    records[index].topic
                )),
                _ => BusError::Broken(format!("{}: a record was not taken: {code}", cluster.name())),
            }),
            Err(Unsent::Unwanted) => Err(BusError::Broken("the feeder was not waited for".into())),
        }
    }
}
