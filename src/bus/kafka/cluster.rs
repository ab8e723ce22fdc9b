//! The cluster as one asks it: which topics there are, what partitions hold, and what its errors mean.

use super::errors::{Meaning, code, meaning};
use super::properties::Properties;
use super::said::{Ear, Said};
use crate::bus::{BusError, Extent, Partition};
use crate::config::Settings;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::{KafkaError, KafkaResult, RDKafkaErrorCode as Code};
use rdkafka::types::RDKafkaRespErr;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A question may take so long at first, and twice as long with each try: what a busy broker was slow to answer it is slow to answer
/// again ...
const ASK_FIRST: Duration = Duration::from_secs(2);
/// ... and all tries so long.
const ASK_ALL: Duration = Duration::from_secs(10);
/// A broker that has just started may not know all topics yet.
const TOPICS_SETTLE: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(100);

/// What all clients of one bus share.
pub(super) struct Cluster {
    pub(super) settings: Settings,
    pub(super) properties: Properties,
    pub(super) said: Arc<Said>,
    /// The client that only asks, made when it is first needed.
    asking: Mutex<Option<Arc<BaseConsumer<Ear>>>>,
}

impl Cluster {
    pub(super) fn new(settings: &Settings) -> Result<Self, BusError> {
        let properties = Properties::new(settings)?;
        Ok(Self { settings: settings.clone(), properties, said: Arc::default(), asking: Mutex::new(None) })
    }

    /// Where it is, for messages.
    pub(super) fn name(&self) -> String {
        format!("kafka at {}", self.settings.kafka.brokers)
    }

    /// An error in our words.
    pub(super) fn error(&self, error: &KafkaError) -> BusError {
        if let KafkaError::ClientCreation(why) = error {
            return BusError::Settings(format!("kafka.properties: {why}"));
        }
        match code(error).map(meaning) {
            Some(Meaning::Unreachable) => self.unreachable(&error.to_string()),
            Some(Meaning::Refused) => BusError::Refused { bus: self.name(), why: error.to_string() },
            Some(Meaning::Fenced) => BusError::Fenced,
            _ => BusError::Broken(format!("{}: {error}", self.name())),
        }
    }

    /// That nobody answers, with what is known about why.
    pub(super) fn unreachable(&self, why: &str) -> BusError {
        match self.said.refused() {
            Some(why) => BusError::Refused { bus: self.name(), why },
            None => BusError::Unreachable { bus: self.name(), why: self.said.last().unwrap_or_else(|| why.to_owned()) },
        }
    }

    fn asking(&self) -> Result<Arc<BaseConsumer<Ear>>, BusError> {
        let mut asking = self.asking.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(asking) = &*asking {
            return Ok(asking.clone());
        }
        let ear = Ear(self.said.clone());
        let made = self.properties.asking().create_with_context::<_, BaseConsumer<_>>(ear);
        Ok(asking.insert(Arc::new(made.map_err(|error| self.error(&error))?)).clone())
    }

    /// Asks until there is an answer, for a while. `question` is told how long it may wait.
    fn ask<T>(&self, question: impl Fn(&BaseConsumer<Ear>, Duration) -> KafkaResult<T>) -> Result<T, BusError> {
        let asking = self.asking()?;
        let (begun, mut wait) = (Instant::now(), ASK_FIRST);
        loop {
            let answer = question(&asking, wait);
            // What was said meanwhile waits in a queue that nobody else empties.
            for _ in 0..64 {
                drop(asking.poll(Duration::ZERO));
            }
            match answer {
                Ok(answer) => {
                    self.said.answered();
                    return Ok(answer);
                }
                Err(error) => {
                    let passes = code(&error).map(meaning) == Some(Meaning::Unreachable);
                    let is_refused = self.said.refused().is_some();
                    if !passes || is_refused || begun.elapsed() >= ASK_ALL {
                        return Err(self.error(&error));
                    }
                    sleep(PAUSE);
                    let left = ASK_ALL.saturating_sub(begun.elapsed());
                    wait = (2 * wait).min(left.max(ASK_FIRST));
                }
            }
        }
    }

    /// How many partitions the topic has, if it is there.
    pub(super) fn n_partitions_now(&self, topic: &str) -> Result<Option<i32>, BusError> {
        self.ask(|asking, wait| {
            let metadata = asking.fetch_metadata(Some(topic), wait)?;
            let found = metadata.topics().iter().find(|found| found.name() == topic);
            let n_partitions = found.map_or(0, |found| found.partitions().len() as i32);
            match found.and_then(|found| found.error()) {
                None => Ok((n_partitions > 0).then_some(n_partitions)),
                Some(RDKafkaRespErr::RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART) => Ok(None),
                // Its partitions are known, only not who leads them.
                Some(RDKafkaRespErr::RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE) if n_partitions > 0 => {
                    Ok(Some(n_partitions))
                }
                Some(error) => Err(KafkaError::MetadataFetch(error.into())),
            }
        })
    }

    /// How many partitions the topic has.
    pub(super) fn n_partitions(&self, topic: &str) -> Result<i32, BusError> {
        let begun = Instant::now();
        loop {
            if let Some(n_partitions) = self.n_partitions_now(topic)? {
                return Ok(n_partitions);
            }
            if begun.elapsed() >= TOPICS_SETTLE {
                return Err(BusError::NoTopic { topic: topic.to_owned() });
            }
            sleep(PAUSE);
        }
    }

    /// What readers can see of a partition, now.
    pub(super) fn extent(&self, partition: &Partition) -> Result<Extent, BusError> {
        let begun = Instant::now();
        let Partition { topic, number } = partition;
        loop {
            let asked = self.ask(|asking, wait| match asking.fetch_watermarks(topic, *number, wait) {
                Ok(found) => Ok(Some(found)),
                Err(KafkaError::MetadataFetch(
                    Code::UnknownTopic | Code::UnknownTopicOrPartition | Code::UnknownPartition,
                )) => Ok(None),
                Err(error) => Err(error),
            })?;
            if let Some((begin, end)) = asked {
                return Ok(Extent { begin, end });
            }
            if begun.elapsed() >= TOPICS_SETTLE {
                return Err(BusError::NoTopic { topic: topic.to_string() });
            }
            sleep(PAUSE);
        }
    }
}
