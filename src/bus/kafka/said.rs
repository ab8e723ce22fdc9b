//! What librdkafka says beside what it returns: log lines and the troubles of single connections.
//!
//! Its calls only say that they took too long; why is told here, by whichever client met it. Of its lines nothing is passed on
//! above `warn` but that brokers are gone, and that at most every [`WARN_EVERY`].

use rdkafka::client::ClientContext;
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::consumer::ConsumerContext;
use rdkafka::error::{KafkaError, RDKafkaErrorCode as Code};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

const WARN_EVERY: Duration = Duration::from_secs(20);

/// What was said last.
#[derive(Default)]
pub(super) struct Said {
    trouble: Mutex<Trouble>,
    /// Whether a broker has ever answered us: from then on it is not our credentials that are wrong, or not for long.
    accepted: AtomicBool,
}

#[derive(Default)]
struct Trouble {
    refused: Option<String>,
    last: Option<String>,
    warned: Option<Instant>,
}

impl Said {
    fn trouble(&self) -> std::sync::MutexGuard<'_, Trouble> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets troubles: something was answered.
    pub(super) fn answered(&self) {
        self.accepted.store(true, Ordering::Relaxed);
        let mut trouble = self.trouble();
        (trouble.refused, trouble.last) = (None, None);
    }

    /// Why we were refused, if we were and have never been accepted.
    pub(super) fn refused(&self) -> Option<String> {
        if self.accepted.load(Ordering::Relaxed) { None } else { self.trouble().refused.clone() }
    }

    /// The last trouble.
    pub(super) fn last(&self) -> Option<String> {
        self.trouble().last.clone()
    }

    /// Takes in a trouble that some client has met.
    pub(super) fn error(&self, error: &KafkaError, reason: &str) {
        let KafkaError::Global(code) = error else { return };
        let mut trouble = self.trouble();
        match code {
            // The end of a partition, and what the reader finds out by itself.
            Code::PartitionEOF | Code::AutoOffsetReset | Code::PollExceeded => return,
            Code::Authentication | Code::SaslAuthenticationFailed => trouble.refused = Some(reason.to_owned()),
            // It says only that the others have been said.
            Code::AllBrokersDown => {}
            _ => trouble.last = Some(reason.to_owned()),
        }
        if trouble.warned.is_none_or(|at| at.elapsed() >= WARN_EVERY) {
            trouble.warned = Some(Instant::now());
            tracing::warn!("kafka: {reason}");
        } else {
            tracing::debug!("kafka: {reason}");
        }
    }

    /// Passes on a log line.
    pub(super) fn log(&self, level: RDKafkaLogLevel, facility: &str, line: &str) {
        match level {
            RDKafkaLogLevel::Emerg | RDKafkaLogLevel::Alert | RDKafkaLogLevel::Critical => {
                tracing::error!("kafka: {facility} {line}");
            }
            _ => tracing::debug!("kafka: {facility} {line}"),
        }
    }
}

/// Hears one client.
pub(super) struct Ear(pub(super) Arc<Said>);

impl ClientContext for Ear {
    fn log(&self, level: RDKafkaLogLevel, facility: &str, line: &str) {
        self.0.log(level, facility, line);
    }

    fn error(&self, error: KafkaError, reason: &str) {
        self.0.error(&error, reason);
    }
}

impl ConsumerContext for Ear {}
