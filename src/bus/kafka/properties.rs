//! Settings as properties of librdkafka: ours, then those that the user passes through, then those that exactly-once rests on.
//!
//! # Invariants
//! - What exactly-once rests on cannot be passed through. (`what_promises_rest_on_is_not_for_sale`)
//! - A value is in no message: it may be a secret. (`values_are_not_shown`)
//! - What is fetched ahead takes no more than `kafka.fetch_bytes_max`, with the room that unpacking takes.
//!   (`what_is_fetched_ahead_fits`, `a_long_run_stays_within_its_memory` in a soak)

use crate::bus::BusError;
use crate::config::{Secret, Settings};
use rdkafka::ClientConfig;
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::error::KafkaError;

/// What is ours to say, and where a user can say it instead.
const OURS: &[(&str, &str)] = &[
    ("bootstrap.servers", "set kafka.brokers"),
    ("metadata.broker.list", "set kafka.brokers"),
    ("group.id", "bus.store names the group"),
    ("transactional.id", "bus.store names it"),
    ("transaction.timeout.ms", "set kafka.transaction_timeout_ms"),
    ("session.timeout.ms", "set kafka.session_timeout_ms"),
    ("max.poll.interval.ms", "set kafka.session_timeout_ms"),
    ("partition.assignment.strategy", "the seat needs its own"),
    ("group.protocol", "the seat needs its own"),
    ("group.instance.id", "the seat needs members that come and go"),
    ("isolation.level", "verdicts are there once only because of it"),
    ("enable.idempotence", "verdicts are there once only because of it"),
    ("acks", "verdicts are durable only because of it"),
    ("request.required.acks", "verdicts are durable only because of it"),
    ("enable.auto.commit", "positions are in the journal"),
    ("enable.auto.offset.store", "positions are in the journal"),
    ("auto.offset.reset", "positions are in the journal"),
    ("enable.partition.eof", "it is needed"),
    ("queued.max.messages.kbytes", "set kafka.fetch_bytes_max"),
    ("queue.buffering.max.kbytes", "set kafka.send_bytes_max"),
];

/// The codecs with which somebody's records may be written.
const CODECS: [&str; 4] = ["gzip", "snappy", "lz4", "zstd"];

/// What is sent together at most, where it is more than one record.
const BATCH_BYTES: usize = 1_000_000;
/// What a batch unpacks to, with some room: a consumer begins with so much, and finds out if it is more.
const UNPACKED_BYTES: usize = 1 << 20;

/// Who feeds waits so long for a broker that is away.
const FEED_TIMEOUT_MS: &str = "60000";

/// What every client is made with.
#[derive(Clone)]
pub(super) struct Properties {
    common: ClientConfig,
    store: String,
    session_timeout_ms: u64,
    transaction_timeout_ms: u64,
    /// The largest record with what surrounds it.
    wire_bytes_max: usize,
    fetch_bytes_max: usize,
    send_bytes_max: usize,
}

impl Properties {
    /// By the settings; refuses what librdkafka would.
    pub(super) fn new(settings: &Settings) -> Result<Self, BusError> {
        let (bus, kafka) = (&settings.bus, &settings.kafka);
        let mut common = ClientConfig::new();
        common.set_log_level(RDKafkaLogLevel::Warning);
        common
            .set("bootstrap.servers", &kafka.brokers)
            .set("client.id", format!("seamripper-{}", bus.store))
            .set("log.connection.close", "false")
            // A broker that was away is found again soon.
            .set("reconnect.backoff.max.ms", "2000")
            .set("socket.keepalive.enable", "true")
            .set("topic.metadata.propagation.max.ms", "10000");
        let mut problems = Vec::new();
        for (name, value) in &kafka.properties {
            if let Some((_, instead)) = OURS.iter().find(|(ours, _)| ours == name) {
                problems.push(format!("kafka.properties.{name} cannot be changed: {instead}"));
                continue;
            }
            match revealed(value) {
                Ok(value) => drop(common.set(name, value)),
                Err(why) => problems.push(format!("kafka.properties.{name}: {why}")),
            }
        }
        let properties = Self {
            common,
            store: bus.store.clone(),
            session_timeout_ms: kafka.session_timeout_ms,
            transaction_timeout_ms: kafka.transaction_timeout_ms,
            wire_bytes_max: wire_bytes_max(bus.record_bytes_max),
            fetch_bytes_max: kafka.fetch_bytes_max,
            send_bytes_max: kafka.send_bytes_max,
        };
        for config in [properties.reader(), properties.feeder(), properties.transactional("")] {
            if let Err(error) = config.create_native_config() {
                let problem = refusal(&error);
                if !problems.contains(&problem) {
                    problems.push(problem);
                }
            }
        }
        if problems.is_empty() {
            problems.extend(missing_features(&properties.common));
        }
        if problems.is_empty() { Ok(properties) } else { Err(BusError::Settings(problems.join("\n"))) }
    }

    /// The largest record with what surrounds it.
    pub(super) fn wire_bytes_max(&self) -> usize {
        self.wire_bytes_max
    }

    /// For clients that only ask.
    pub(super) fn asking(&self) -> ClientConfig {
        let mut config = self.common.clone();
        config.set("isolation.level", "read_committed");
        config
    }

    /// For a client that reads partitions that it names itself.
    pub(super) fn reader(&self) -> ClientConfig {
        let mut config = self.consumer(&self.store);
        // A position that is not there is reported, and the reader finds out which.
        config.set("auto.offset.reset", "error").set("enable.partition.eof", "true");
        config
    }

    /// For a member of the group `group`.
    pub(super) fn member(&self, group: &str) -> ClientConfig {
        let mut config = self.consumer(group);
        config
            // Where the group is nowhere yet, and where its position was deleted, the member finds out which.
            .set("auto.offset.reset", "error")
            // With any other a newcomer may be given what a healthy member holds.
            .set("partition.assignment.strategy", "cooperative-sticky")
            .set("session.timeout.ms", self.session_timeout_ms.to_string())
            .set("heartbeat.interval.ms", (self.session_timeout_ms / 5).clamp(100, 3000).to_string())
            // Who does not use its seat or its partitions for so long has lost them, whatever its heart does.
            .set("max.poll.interval.ms", self.session_timeout_ms.to_string());
        config
    }

    fn consumer(&self, group: &str) -> ClientConfig {
        let mut config = self.common.clone();
        // What waits is counted without the room that unpacking it took, and an answer that was asked for comes on top. A record
        // that is larger than an answer may be comes alone: brokers see to that.
        let (queued, answered) = (self.fetch_bytes_max / 4, (self.fetch_bytes_max / 16).max(UNPACKED_BYTES));
        set_missing(&mut config, "fetch.wait.max.ms", "100");
        // By default a loop that pauses to commit is five times slower.
        set_missing(&mut config, "fetch.queue.backoff.ms", "5");
        set_missing(&mut config, "max.partition.fetch.bytes", &answered.to_string());
        set_missing(&mut config, "fetch.max.bytes", &answered.to_string());
        let received = self.wire_bytes_max + answered + (1 << 20);
        set_missing(&mut config, "receive.message.max.bytes", &received.min(2_000_000_000).to_string());
        config
            .set("group.id", group)
            .set("isolation.level", "read_committed")
            .set("enable.auto.commit", "false")
            .set("enable.auto.offset.store", "false")
            .set("message.max.bytes", UNPACKED_BYTES.to_string())
            .set("queued.max.messages.kbytes", (queued >> 10).max(1).to_string());
        config
    }

    /// For a client that appends.
    pub(super) fn feeder(&self) -> ClientConfig {
        let mut config = self.producer();
        set_missing(&mut config, "message.timeout.ms", FEED_TIMEOUT_MS);
        config
    }

    /// For a client that appends in transactions of this id.
    pub(super) fn transactional(&self, id: &str) -> ClientConfig {
        let mut config = self.producer();
        config
            .set("transactional.id", if id.is_empty() { &self.store } else { id })
            .set("transaction.timeout.ms", self.transaction_timeout_ms.to_string())
            .set("message.timeout.ms", self.transaction_timeout_ms.to_string());
        config
    }

    fn producer(&self) -> ClientConfig {
        let mut config = self.common.clone();
        set_missing(&mut config, "compression.type", "lz4");
        set_missing(&mut config, "linger.ms", "5");
        set_missing(&mut config, "batch.size", &BATCH_BYTES.to_string());
        // As other clients do it: who feeds with them finds a key in the same partition.
        set_missing(&mut config, "partitioner", "murmur2_random");
        config
            .set("enable.idempotence", "true")
            .set("message.max.bytes", self.wire_bytes_max.to_string())
            .set("queue.buffering.max.kbytes", (self.send_bytes_max >> 10).max(1).to_string());
        config
    }
}

fn set_missing(config: &mut ClientConfig, name: &str, value: &str) {
    if config.get(name).is_none() {
        config.set(name, value);
    }
}

/// A record with its lengths, and the head of the batch that it travels in.
fn wire_bytes_max(record_bytes_max: usize) -> usize {
    (record_bytes_max + record_bytes_max / 64 + (64 << 10)).min(1_000_000_000)
}

/// A value, from where it says that it stands.
fn revealed(value: &Secret) -> Result<String, String> {
    let value = value.reveal();
    if let Some(name) = value.strip_prefix("env:") {
        return std::env::var(name).map_err(|_| format!("there is no environment variable {name}"));
    }
    if let Some(path) = value.strip_prefix("file:") {
        let read = std::fs::read_to_string(path).map_err(|error| format!("{path} cannot be read: {error}"))?;
        return Ok(read.trim_end_matches(['\r', '\n']).to_owned());
    }
    Ok(value.to_owned())
}

/// What librdkafka refuses, without the value.
fn refusal(error: &KafkaError) -> String {
    match error {
        KafkaError::ClientConfig(_, _, name, _) if name.is_empty() => "kafka.properties: refused".into(),
        KafkaError::ClientConfig(_, what, name, value) => {
            let what = if value.is_empty() { what.clone() } else { what.replace(&**value, "…") };
            format!("kafka.properties.{name}: {what}")
        }
        other => format!("kafka.properties: {other}"),
    }
}

/// What this build of librdkafka lacks: a missing codec would show only when somebody's record needs it.
fn missing_features(config: &ClientConfig) -> Option<String> {
    let native = config.create_native_config().ok()?;
    let features = native.get("builtin.features").ok()?;
    let features: Vec<&str> = features.split(',').map(str::trim).collect();
    let protocol = config.get("security.protocol").unwrap_or_default().to_lowercase();
    let mechanism = config.get("sasl.mechanism").or(config.get("sasl.mechanisms")).unwrap_or_default().to_lowercase();
    let mut needed = CODECS.to_vec();
    needed.extend(protocol.contains("ssl").then_some("ssl"));
    needed.extend(protocol.contains("sasl").then_some(match &*mechanism {
        "plain" => "sasl_plain",
        mechanism if mechanism.starts_with("scram") => "sasl_scram",
        "oauthbearer" => "sasl_oauthbearer",
        _ => "sasl_gssapi",
    }));
    needed.retain(|feature| !features.contains(feature));
    (!needed.is_empty()).then(|| format!("this build of librdkafka is without {}", needed.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(properties: &[(&str, &str)]) -> Result<Properties, BusError> {
        let mut settings = Settings::default();
        for (name, value) in properties {
            settings.kafka.properties.insert((*name).to_owned(), Secret::new(*value));
        }
        Properties::new(&settings)
    }

    #[test]
    fn what_promises_rest_on_is_not_for_sale() {
        for (name, _) in OURS {
            let error = made(&[(name, "x")]).err().unwrap().to_string();
            assert!(error.contains(name), "{error}");
        }
    }

    #[test]
    fn values_are_not_shown() {
        let problems = [("no.such.property", "hunter2"), ("socket.timeout.ms", "hunter2"), ("ssl.ca.location", "env:")];
        for (name, value) in problems {
            let error = made(&[(name, value)]).err().unwrap().to_string();
            assert!(error.contains(name) && !error.contains("hunter2"), "{error}");
        }
    }

    #[test]
    fn properties_pass_and_come_from_where_they_stand() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "hunter2\n").unwrap();
        let path = format!("file:{}", file.path().display());
        let user = [("sasl.password", &*path), ("fetch.wait.max.ms", "7"), ("client.id", "env:CARGO_PKG_NAME")];
        let reader = made(&user).unwrap().reader();
        assert_eq!(reader.get("sasl.password"), Some("hunter2"));
        assert_eq!(reader.get("fetch.wait.max.ms"), Some("7"));
        assert_eq!(reader.get("client.id"), Some("seamripper"));
        assert_eq!(reader.get("isolation.level"), Some("read_committed"));
        assert!(made(&[("sasl.password", "env:SEAMRIPPER_NO_SUCH")]).is_err());
        assert!(made(&[("sasl.password", "file:/no/such/file")]).is_err());
    }

    #[test]
    fn what_is_fetched_ahead_fits() {
        let settings = Settings::default();
        let reader = made(&[]).unwrap().reader();
        let bytes = |name: &str| reader.get(name).unwrap().parse::<usize>().unwrap();
        let (queued, answered) = (bytes("queued.max.messages.kbytes") << 10, bytes("fetch.max.bytes"));
        // Room for what is unpacked grows by three quarters; an answer is there packed too, and text unpacks to two or three times that.
        let most = queued / 4 * 7 + 4 * answered;
        assert!(most <= settings.kafka.fetch_bytes_max, "{queued} and {answered}");
        assert!(bytes("max.partition.fetch.bytes") <= answered);
        assert!(bytes("receive.message.max.bytes") > wire_bytes_max(settings.bus.record_bytes_max) + 512);
    }

    #[test]
    fn what_a_build_lacks_is_said_at_once() {
        made(&[("security.protocol", "SASL_SSL"), ("sasl.mechanism", "SCRAM-SHA-256")]).unwrap();
        let error = made(&[("security.protocol", "SASL_SSL"), ("sasl.mechanism", "GSSAPI")]).err().unwrap();
        assert!(error.to_string().contains("sasl_gssapi"), "{error}");
    }
}
