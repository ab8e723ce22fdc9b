//! Records on their way to the brokers, and where each has landed.
//!
//! # Invariants
//! - No more bytes wait than `kafka.send_bytes_max`: whoever sends more waits. (`feeders_at_once_lose_nothing`)
//! - A record is not delivered before the broker says so; the first that it refuses is known by its number.

use super::cluster::Cluster;
use super::errors::{Meaning, meaning};
use super::said::Said;
use crate::bus::{BusError, Outgoing, Partition};
use rdkafka::ClientConfig;
use rdkafka::client::ClientContext;
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::error::{KafkaError, RDKafkaErrorCode as Code};
use rdkafka::message::{DeliveryResult, Header, Message, OwnedHeaders};
use rdkafka::producer::{BaseProducer, BaseRecord, Producer, ProducerContext};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Waiting goes in steps of this, asleep: rdkafka's own waits are either a hundred times as long or spin for their last
/// millisecond.
const STEP: Duration = Duration::from_micros(500);
/// Reports that are taken in between two steps; each may be on many records.
const N_REPORTS: usize = 8;
/// So often whoever waits is asked whether to go on.
const ASK_EVERY: Duration = Duration::from_millis(50);

/// A record that could not be sent or was not taken: its number and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Undelivered {
    pub(super) index: usize,
    pub(super) code: Code,
}

/// Why sending ended early.
#[derive(Debug)]
pub(super) enum Unsent {
    /// A record was refused.
    Undelivered(Undelivered),
    /// Whoever waits does not want to any more.
    Unwanted,
}

/// Hears what becomes of records.
pub(super) struct Landing {
    said: Arc<Said>,
    landed: Mutex<Landed>,
}

#[derive(Default)]
struct Landed {
    places: Vec<Option<(i32, i64)>>,
    undelivered: Option<Undelivered>,
}

impl Landing {
    fn landed(&self) -> MutexGuard<'_, Landed> {
        self.landed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ClientContext for Landing {
    fn log(&self, level: RDKafkaLogLevel, facility: &str, line: &str) {
        self.said.log(level, facility, line);
    }

    fn error(&self, error: KafkaError, reason: &str) {
        self.said.error(&error, reason);
    }
}

impl ProducerContext for Landing {
    type DeliveryOpaque = usize;

    fn delivery(&self, result: &DeliveryResult<'_>, index: usize) {
        let mut landed = self.landed();
        match result {
            Ok(message) => {
                if let Some(place) = landed.places.get_mut(index) {
                    *place = Some((message.partition(), message.offset()));
                }
            }
            Err((error, _)) => {
                let code = error.rdkafka_error_code().unwrap_or(Code::Fail);
                // What was dropped because another was refused says nothing.
                let is_cause = !matches!(code, Code::PurgeQueue | Code::PurgeInflight);
                if landed.undelivered.is_none_or(|known| is_cause && is_purged(known)) {
                    landed.undelivered = Some(Undelivered { index, code });
                }
            }
        }
    }
}

fn is_purged(undelivered: Undelivered) -> bool {
    matches!(undelivered.code, Code::PurgeQueue | Code::PurgeInflight)
}

/// A producer.
pub(super) struct Outbox {
    pub(super) producer: BaseProducer<Landing>,
}

impl Outbox {
    pub(super) fn open(cluster: &Cluster, config: &ClientConfig) -> Result<Self, BusError> {
        let landing = Landing { said: cluster.said.clone(), landed: Mutex::default() };
        let producer = config.create_with_context(landing).map_err(|error| cluster.error(&error))?;
        Ok(Self { producer })
    }

    /// Sends all, and waits until all have landed. `go_on` is asked now and then.
    pub(super) fn send(
        &self,
        records: &[&Outgoing],
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Vec<(Partition, i64)>, Unsent> {
        *self.producer.context().landed() = Landed { places: vec![None; records.len()], undelivered: None };
        let mut asked = Instant::now();
        let mut going_on = || {
            if let Some(undelivered) = self.producer.context().landed().undelivered {
                return Err(Unsent::Undelivered(undelivered));
            }
            if asked.elapsed() >= ASK_EVERY {
                asked = Instant::now();
                if !go_on() {
                    return Err(Unsent::Unwanted);
                }
            }
            Ok(())
        };
        for (index, record) in records.iter().enumerate() {
            while let Err((error, _)) = self.producer.send(based(record, index)) {
                match error.rdkafka_error_code().unwrap_or(Code::Fail) {
                    // Room comes with what lands.
                    Code::QueueFull => self.step(),
                    code => return Err(Unsent::Undelivered(Undelivered { index, code })),
                }
                going_on()?;
            }
        }
        while self.producer.flush(Duration::ZERO).is_err() {
            self.step();
            going_on()?;
        }
        let mut landed = self.producer.context().landed();
        if let Some(undelivered) = landed.undelivered {
            return Err(Unsent::Undelivered(undelivered));
        }
        let places = std::mem::take(&mut landed.places).into_iter().zip(records);
        let place = |(place, record): (Option<(i32, i64)>, &&Outgoing)| {
            let (number, offset) = place.expect("nothing is on its way any more, and nothing was refused");
            (Partition::new(record.topic.clone(), number), offset)
        };
        Ok(places.map(place).collect())
    }

    /// Takes in what has become of records, and waits a little for more.
    pub(super) fn step(&self) {
        (0..N_REPORTS).for_each(|_| self.producer.poll(Duration::ZERO));
        sleep(STEP);
    }

    /// What has made the producer useless, if anything has.
    pub(super) fn fatal(&self) -> Option<(Meaning, String)> {
        self.producer.client().fatal_error().map(|(code, why)| (meaning(code), why))
    }
}

fn based(outgoing: &Outgoing, index: usize) -> BaseRecord<'_, [u8], [u8], usize> {
    let mut record = BaseRecord::with_opaque_to(&outgoing.topic, index);
    record.partition = outgoing.partition;
    record.key = outgoing.key.as_deref();
    record.payload = outgoing.value.as_deref();
    if !outgoing.headers.is_empty() {
        let headers = OwnedHeaders::new_with_capacity(outgoing.headers.len());
        let add = |headers: OwnedHeaders, (name, value): &crate::bus::Header| {
            headers.insert(Header { key: name, value: Some(&value[..]) })
        };
        record.headers = Some(outgoing.headers.iter().fold(headers, add));
    }
    record
}

/// The first record that is larger than the settings allow.
pub(super) fn too_large(records: &[&Outgoing], record_bytes_max: usize) -> Option<BusError> {
    records.iter().find(|record| record.n_bytes() > record_bytes_max).map(|record| refused_size(record))
}

/// That this record is too large.
pub(super) fn refused_size(record: &Outgoing) -> BusError {
    BusError::TooLarge { topic: record.topic.to_string(), n_bytes: record.n_bytes() }
}
