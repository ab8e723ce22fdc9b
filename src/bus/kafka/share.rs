//! A member of a consumer group, and what of the group's partitions is its own.
//!
//! The group is told nothing that we do not do ourselves: partitions are taken and given back here, inside `poll`, on the
//! thread that uses them.

use super::cluster::Cluster;
use super::reader::listed;
use super::said::Said;
use crate::bus::{BusError, Partition};
use rdkafka::client::ClientContext;
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::consumer::{BaseConsumer, Consumer, ConsumerContext, RebalanceProtocol};
use rdkafka::error::{KafkaError, KafkaResult};
use rdkafka::types::RDKafkaRespErr;
use rdkafka::{Offset, TopicPartitionList};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a member does with the records of its partitions.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// It reads them, from where the group is.
    Read,
    /// Nothing: to have a partition is all.
    Hold,
}

/// A member's partitions.
pub(super) struct Share {
    said: Arc<Said>,
    purpose: Use,
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    ours: BTreeSet<Partition>,
    /// Given back, or taken from us, since it was last asked.
    lost: Vec<Partition>,
}

impl Share {
    /// Joins the group.
    pub(super) fn join(
        cluster: &Cluster,
        group: &str,
        topics: &[&str],
        purpose: Use,
    ) -> Result<BaseConsumer<Self>, BusError> {
        let share = Self { said: cluster.said.clone(), purpose, held: Mutex::default() };
        let consumer = cluster.properties.member(group).create_with_context::<_, BaseConsumer<_>>(share);
        let consumer = consumer.map_err(|error| cluster.error(&error))?;
        consumer.subscribe(topics).map_err(|error| cluster.error(&error))?;
        Ok(consumer)
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the partition is ours.
    pub(super) fn has(&self, partition: &Partition) -> bool {
        self.held().ours.contains(partition)
    }

    /// All that is ours.
    pub(super) fn all(&self) -> Vec<Partition> {
        self.held().ours.iter().cloned().collect()
    }

    /// What is not ours any more since this was last asked. It may be again.
    pub(super) fn take_lost(&self) -> Vec<Partition> {
        std::mem::take(&mut self.held().lost)
    }

    fn assign(&self, consumer: &BaseConsumer<Self>, partitions: &TopicPartitionList) -> KafkaResult<()> {
        let mut list = partitions.clone();
        if self.purpose == Use::Hold {
            list.set_all_offsets(Offset::End)?;
        }
        match consumer.rebalance_protocol() {
            RebalanceProtocol::Cooperative => consumer.incremental_assign(&list)?,
            _ => consumer.assign(&list)?,
        }
        if self.purpose == Use::Hold && list.count() > 0 {
            consumer.pause(&listed(&copied(&list)))?;
        }
        Ok(())
    }
}

impl ClientContext for Share {
    fn log(&self, level: RDKafkaLogLevel, facility: &str, line: &str) {
        self.said.log(level, facility, line);
    }

    fn error(&self, error: KafkaError, reason: &str) {
        self.said.error(&error, reason);
    }
}

impl ConsumerContext for Share {
    fn rebalance(&self, consumer: &BaseConsumer<Self>, change: RDKafkaRespErr, list: &mut TopicPartitionList) {
        let partitions = copied(list);
        let changed = match change {
            RDKafkaRespErr::RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS => {
                self.held().ours.extend(partitions);
                self.assign(consumer, list)
            }
            _ => {
                {
                    let mut held = self.held();
                    held.ours.retain(|partition| !partitions.contains(partition));
                    if self.purpose == Use::Read {
                        held.lost.extend(partitions);
                    }
                }
                match consumer.rebalance_protocol() {
                    RebalanceProtocol::Cooperative => consumer.incremental_unassign(list),
                    _ => consumer.unassign(),
                }
            }
        };
        if let Err(error) = changed {
            tracing::error!(%error, "partitions could not be taken or given back");
        }
    }
}

/// The partitions of a list, so that it need not live on.
fn copied(list: &TopicPartitionList) -> Vec<Partition> {
    list.elements().iter().map(|element| Partition::new(element.topic(), element.partition())).collect()
}
