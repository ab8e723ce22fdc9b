//! Where records come from and go: topics of records, read from a position, written all or nothing.
//!
//! There are two buses behind one interface, and they pass one and the same suite (`tests/promises/bus`): [`embedded`], one SQLite
//! file that several processes can open, and [`kafka`]. Nothing outside of this module knows which it has.
//!
//! Everything here blocks. A [`Seat`] and a [`Member`] are used by one thread each, regularly, since that is also how they
//! show that they are alive; readers and feeders are anybody's.
//!
//! # Invariants
//! - A reader sees what was committed and nothing else, each record once, in the order of its partition.
//! - What [`Seat::publish`] is given becomes visible together or not at all, once, whatever fails.
//! - Whoever takes the seat shuts out whoever had it: a publication of the old holder fails with [`BusError::Fenced`].

pub mod cursor;
pub mod embedded;
pub mod kafka;
mod record;
pub mod sweep;

pub use record::{Header, Outgoing, Partition, Positions, Record};

use crate::config::Settings;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

/// The bus that the settings name. Nothing is asked of a server yet.
pub fn open(settings: &Settings) -> Result<Arc<dyn Bus>, BusError> {
    Ok(match settings.bus.kind {
        crate::config::BusKind::Embedded => Arc::new(embedded::Embedded::open(settings)?),
        crate::config::BusKind::Kafka => Arc::new(kafka::Kafka::open(settings)?),
    })
}

/// The bus that the settings name, for those who only read: it must be there already.
pub fn open_to_read(settings: &Settings) -> Result<Arc<dyn Bus>, BusError> {
    let folder = &settings.bus.folder;
    if settings.bus.kind == crate::config::BusKind::Embedded && !embedded::is_there(folder) {
        let why = format!("there is no bus in `{}` (bus.folder); `seamripper run` makes one", folder.display());
        return Err(BusError::Broken(why));
    }
    open(settings)
}

/// Topics of records.
pub trait Bus: Send + Sync {
    /// Makes the topics that are missing, if `topics.create` says so, and checks the others.
    fn prepare(&self) -> Result<(), BusError>;

    /// How many partitions the topic has.
    fn n_partitions(&self, topic: &str) -> Result<i32, BusError>;

    /// Which records of a partition are there.
    fn extent(&self, partition: &Partition) -> Result<Extent, BusError>;

    /// Reads on from `from`, the partitions that it names.
    fn reader(&self, from: &Positions) -> Result<Box<dyn Reader>, BusError>;

    /// Appends records; needs no seat.
    fn feeder(&self) -> Result<Box<dyn Feeder>, BusError>;

    /// Stands for the seat of the store.
    fn seat(&self) -> Result<Box<dyn Seat>, BusError>;

    /// Joins the signers: the partitions of `topics` are divided among them.
    fn member(&self, topics: &[Arc<str>]) -> Result<Box<dyn Member>, BusError>;

    /// Deletes the records of the partition before `offset`, sooner or later.
    fn trim(&self, partition: &Partition, offset: i64) -> Result<(), BusError>;

    /// Says which records are still needed, those from `positions` on: the bus itself deletes none of them by age or size, where that
    /// is in its hands. (Kafka's retention is a setting of its topics.)
    fn protect(&self, _positions: &Positions) -> Result<(), BusError> {
        Ok(())
    }

    /// The last record under each of the keys, as far as there is one, found without reading the whole topic; `None` where the bus
    /// knows no way. [`sweep::last_under`] asks either.
    fn find_last(&self, _topic: &str, _keys: &HashSet<Vec<u8>>) -> Result<Option<HashMap<Vec<u8>, Record>>, BusError> {
        Ok(None)
    }
}

/// The records that a partition holds: `begin..end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The offset of the first, or of the next if there is none.
    pub begin: i64,
    /// The offset that the next record will have at least. Readers see what is before it, or will.
    pub end: i64,
}

/// Reads some partitions.
pub trait Reader: Send {
    /// The next records, at least one if there is one within `wait`; at most `n_max`, and no more once there are `bytes_max`.
    ///
    /// Fails with [`BusError::Gone`] where the position is not there any more, or not yet.
    fn poll(&mut self, n_max: usize, bytes_max: usize, wait: Duration) -> Result<Vec<Record>, BusError>;

    /// From now on nothing of this partition is returned.
    fn pause(&mut self, partition: &Partition) -> Result<(), BusError>;

    /// From now on it is again, with nothing left out.
    fn resume(&mut self, partition: &Partition) -> Result<(), BusError>;

    /// Whether a poll that returns nothing means that there is nothing: a reader may need a while until its first record, and
    /// the end of a partition may lie behind marks that are no records.
    fn is_at_end(&self) -> bool {
        true
    }
}

/// Appends records.
pub trait Feeder: Send {
    /// Appends the records; returns when they are durable, with where they are.
    fn append(&mut self, records: Vec<Outgoing>) -> Result<Vec<(Partition, i64)>, BusError>;
}

/// The one place from which a store is judged. Instances stand for it, one has it.
pub trait Seat: Send {
    /// Shows that this instance is alive, and says whether the seat is its own.
    fn poll(&mut self, wait: Duration) -> Result<bool, BusError>;

    /// Takes the seat that [`Seat::poll`] has given: whoever had it can publish no more, and what it left open is undone.
    fn take(&mut self) -> Result<(), BusError>;

    /// Publishes `outputs` and `journal` together; returns the offset of the journal record. `positions` are what this
    /// leaves behind of the inputs, for those who watch the lag.
    ///
    /// A trouble that passes is waited out within. [`BusError::Fenced`]: somebody else has the seat, and nothing was published.
    fn publish(&mut self, outputs: &[Outgoing], journal: &Outgoing, positions: &Positions) -> Result<i64, BusError>;

    /// Gives the seat up, so that another need not wait for it.
    fn leave(self: Box<Self>);
}

/// One of several signers that share the partitions of the inputs.
pub trait Member: Send {
    /// The next records of the partitions that are this member's, as [`Reader::poll`]. What was deleted before it was delivered
    /// is not passed over in silence: it fails with [`BusError::Gone`] until [`Member::pass_over`] is called.
    fn poll(&mut self, n_max: usize, bytes_max: usize, wait: Duration) -> Result<Vec<Record>, BusError>;

    /// Goes on in the partition with the first record that is there.
    fn pass_over(&mut self, partition: &Partition) -> Result<(), BusError>;

    /// Publishes what was made of the records up to `consumed`, and with it that they are done.
    fn publish(&mut self, outputs: &[Outgoing], consumed: &Positions) -> Result<Published, BusError>;

    /// Leaves the others to it.
    fn leave(self: Box<Self>);
}

/// What has become of a publication of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Published {
    /// It is there.
    Done,
    /// It is there; what was delivered since will be delivered again, here or elsewhere, and must not be published.
    DoneAfresh,
    /// Partitions have changed hands: nothing of it is there, and all of it will be delivered again, here or elsewhere.
    Undone,
}

/// What can be wrong with a bus.
#[derive(Debug, thiserror::Error)]
pub enum BusError {
    /// Another instance has taken the seat.
    #[error("another instance has taken the seat")]
    Fenced,
    /// The bus cannot be reached now; to be tried again.
    #[error("{bus} cannot be reached: {why}")]
    Unreachable {
        /// Its address or file.
        bus: String,
        /// What was said.
        why: String,
    },
    /// It refuses us.
    #[error("{bus} refuses the credentials: {why}")]
    Refused {
        /// Its address.
        bus: String,
        /// What was said.
        why: String,
    },
    /// A topic is not there.
    #[error("there is no topic `{topic}` (topics.create = true makes it)")]
    NoTopic {
        /// Its name.
        topic: String,
    },
    /// A position is not there any more, or not yet.
    #[error("{partition} has offsets {begin} to {end}, and {wanted} is asked for: {}", if wanted < begin {
        "records were deleted before they were read"
    } else {
        "the topic was deleted and made again"
    })]
    Gone {
        /// Where.
        partition: Partition,
        /// The position.
        wanted: i64,
        /// The first offset that is there.
        begin: i64,
        /// The next.
        end: i64,
    },
    /// What was read at a position is not there, and something else is.
    #[error(
        "record {offset} of {partition} is another than the one that was read: the topic was deleted and made again"
    )]
    MadeAgain {
        /// Where.
        partition: Partition,
        /// Its place.
        offset: i64,
    },
    /// A record is larger than the bus takes.
    #[error("a record of {n_bytes} bytes for `{topic}` is larger than the bus takes")]
    TooLarge {
        /// Where to.
        topic: String,
        /// Its size.
        n_bytes: usize,
    },
    /// Records were damaged or lost where they are kept.
    #[error("{bus}: {what}")]
    Damaged {
        /// Its file.
        bus: String,
        /// What was found.
        what: String,
    },
    /// The settings cannot be used.
    #[error("{0}")]
    Settings(String),
    /// Anything else; what was done last may or may not have happened, and this end is of no further use.
    #[error("{0}")]
    Broken(String),
}
