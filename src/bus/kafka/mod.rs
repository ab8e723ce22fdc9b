//! Kafka, by librdkafka. This is the only code that names it.
//!
//! A [`reader`] has partitions and positions of its own; a [`seat`] is a member of the store's group that holds the journal's
//! one partition and publishes with the store's one transactional id ([`transaction`]); a [`member`] signs in a group of signers.
//! Clients block, and each is used by one thread; librdkafka has threads of its own.
//!
//! # Invariants
//! - It passes the suite of all buses, on a real broker. (`tests/promises/bus/kafka.rs`)
//! - Secrets are in no log and in no message. (`values_are_not_shown`, `credentials_decide_and_are_not_shown`)

mod cluster;
mod errors;
mod feeder;
mod member;
mod outbox;
mod properties;
mod reader;
mod said;
mod seat;
mod share;
mod topics;
mod transaction;

use super::{Bus, BusError, Extent, Feeder, Member, Partition, Positions, Reader, Seat};
use crate::config::Settings;
use cluster::Cluster;
use std::sync::Arc;

/// Topics on Kafka.
pub struct Kafka {
    cluster: Arc<Cluster>,
}

impl Kafka {
    /// By the settings; nothing is asked of a broker yet.
    pub fn open(settings: &Settings) -> Result<Self, BusError> {
        Ok(Self { cluster: Arc::new(Cluster::new(settings)?) })
    }
}

impl Bus for Kafka {
    fn prepare(&self) -> Result<(), BusError> {
        topics::prepare(&self.cluster)
    }

    fn n_partitions(&self, topic: &str) -> Result<i32, BusError> {
        self.cluster.n_partitions(topic)
    }

    fn extent(&self, partition: &Partition) -> Result<Extent, BusError> {
        self.cluster.extent(partition)
    }

    fn reader(&self, from: &Positions) -> Result<Box<dyn Reader>, BusError> {
        Ok(Box::new(reader::TopicReader::open(self.cluster.clone(), from)?))
    }

    fn feeder(&self) -> Result<Box<dyn Feeder>, BusError> {
        Ok(Box::new(feeder::TopicFeeder::open(self.cluster.clone())?))
    }

    fn seat(&self) -> Result<Box<dyn Seat>, BusError> {
        Ok(Box::new(seat::TopicSeat::open(self.cluster.clone())?))
    }

    fn member(&self, topics: &[Arc<str>]) -> Result<Box<dyn Member>, BusError> {
        Ok(Box::new(member::TopicMember::open(self.cluster.clone(), topics)?))
    }

    fn trim(&self, partition: &Partition, offset: i64) -> Result<(), BusError> {
        topics::trim(&self.cluster, partition, offset)
    }
}
