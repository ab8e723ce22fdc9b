//! The embedded bus: topics in one SQLite file.

use super::*;

/// Topics in one SQLite file.
pub struct Embedded {}

impl Embedded {
    /// Opens the file in the folder that the settings name; makes it where it is missing.
    pub fn open(_settings: &Settings) -> Result<Self, BusError> {
        Err(BusError::Settings("the embedded bus is not there yet".into()))
    }
}

impl Bus for Embedded {
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
