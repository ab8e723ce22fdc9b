//! Kafka.

use super::*;

/// Topics on Kafka.
pub struct Kafka {}

impl Kafka {
    /// By the settings; nothing is asked of a broker yet.
    pub fn open(_settings: &Settings) -> Result<Self, BusError> {
        Err(BusError::Settings("kafka is not there yet".into()))
    }
}

impl Bus for Kafka {
    fn prepare(&self) -> Result<(), BusError> {
        todo!()
    }

    fn n_partitions(&self, _topic: &str) -> Result<i32, BusError> {
        todo!()
    }

    fn extent(&self, _partition: &Partition) -> Result<Extent, BusError> {
        todo!()
    }

    fn reader(&self, _from: &Positions) -> Result<Box<dyn Reader>, BusError> {
        todo!()
    }

    fn feeder(&self) -> Result<Box<dyn Feeder>, BusError> {
        todo!()
    }

    fn seat(&self) -> Result<Box<dyn Seat>, BusError> {
        todo!()
    }

    fn member(&self, _topics: &[Arc<str>]) -> Result<Box<dyn Member>, BusError> {
        todo!()
    }

    fn trim(&self, _partition: &Partition, _offset: i64) -> Result<(), BusError> {
        todo!()
    }
}
