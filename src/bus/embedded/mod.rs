//! The embedded bus: topics in one SQLite file, `bus.sqlite`, which several processes can have open.
//!
//! A topic is a table of its own ([`schema`]), a partition a row that counts its offsets, and a commit is one of SQLite's with
//! `synchronous=full`: what was said to be durable survives a power cut. Whoever waits for records looks whether anybody
//! has committed, a few hundred times a second, which costs next to nothing and needs no server.
//!
//! SQLite checks no checksums of its own in the file, so records and counters carry theirs ([`checksum`]), and the number of the last
//! commit is also kept beside the file ([`tail`]): a damaged record, a missing one and a lost end are all reported as
//! [`BusError::Damaged`], and none is passed over.
//!
//! # Invariants
//! - It passes the suite of all buses. (`tests/promises/bus/embedded.rs`)
//! - A flipped byte is refused, noticed, or changes nothing that is read. (`flipped_bytes_do_not_pass`)
//! - Records that are still needed are never deleted by age or size. (`what_is_needed_stays`)
//! - Only the owner can read the file. (`the_file_is_for_its_owner`)

mod checksum;
mod feeder;
mod file;
mod housekeeper;
mod keys;
mod lease;
mod member;
mod reader;
mod retention;
mod schema;
mod seat;
mod tail;

use super::{Bus, BusError, Extent, Feeder, Member, Partition, Positions, Reader, Record, Seat};
use crate::config::Settings;
use file::{File, PATIENCE_NONE};
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

/// Whether the folder has a bus.
pub fn is_there(folder: &Path) -> bool {
    folder.join(file::NAME).exists()
}

/// Topics in one SQLite file.
pub struct Embedded {
    file: Arc<File>,
}

impl Embedded {
    /// Opens the file in the folder that the settings name; makes it where it is missing.
    pub fn open(settings: &Settings) -> Result<Self, BusError> {
        Ok(Self { file: Arc::new(File::open(settings)?) })
    }
}

impl Bus for Embedded {
    fn prepare(&self) -> Result<(), BusError> {
        schema::prepare(&self.file)
    }

    fn n_partitions(&self, topic: &str) -> Result<i32, BusError> {
        let connection = self.file.connect_to_read()?;
        Ok(self.file.topic(&connection, topic)?.n_partitions)
    }

    fn extent(&self, partition: &Partition) -> Result<Extent, BusError> {
        let connection = self.file.connect_to_read()?;
        let topic = self.file.topic(&connection, &partition.topic)?;
        let counter = self.file.counter(&connection, &topic, partition.number)?;
        Ok(Extent { begin: counter.begin, end: counter.next })
    }

    fn reader(&self, from: &Positions) -> Result<Box<dyn Reader>, BusError> {
        Ok(Box::new(reader::FileReader::open(self.file.clone(), from)?))
    }

    fn feeder(&self) -> Result<Box<dyn Feeder>, BusError> {
        Ok(Box::new(feeder::FileFeeder::open(self.file.clone())?))
    }

    fn seat(&self) -> Result<Box<dyn Seat>, BusError> {
        Ok(Box::new(seat::FileSeat::open(self.file.clone())?))
    }

    fn member(&self, topics: &[Arc<str>]) -> Result<Box<dyn Member>, BusError> {
        Ok(Box::new(member::FileMember::open(self.file.clone(), topics)?))
    }

    fn trim(&self, partition: &Partition, offset: i64) -> Result<(), BusError> {
        let mut connection = self.file.connect_to_write()?;
        while !retention::trim(&self.file, &mut connection, partition, offset)? {}
        Ok(())
    }

    fn protect(&self, positions: &Positions) -> Result<(), BusError> {
        let mut connection = self.file.connect_to_write()?;
        self.file.write(&mut connection, PATIENCE_NONE, |transaction| {
            self.file.set_positions(transaction, schema::NEEDED, positions)
        })
    }

    fn find_last(&self, topic: &str, keys: &HashSet<Vec<u8>>) -> Result<Option<HashMap<Vec<u8>, Record>>, BusError> {
        keys::last(&self.file, topic, keys).map(Some)
    }
}
