//! The settings of `run`: on which bus, in what batches, where its state is kept, and who may talk to it.
//!
//! None of them decides a verdict.

use super::Secret;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// How one scheme follows another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "default.toml explains every key, once")]
pub struct SuccessionSettings {
    pub hours: u64,
    pub heirs_max: usize,
}

/// Whether verdicts are to be acted on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// They are.
    Filter,
    /// They are to be looked at, and everything is let through.
    Shadow,
}

/// Which bus, and what is kept beside it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "default.toml explains every key, once")]
pub struct BusSettings {
    pub kind: BusKind,
    pub folder: PathBuf,
    pub store: String,
    pub record_bytes_max: usize,
    pub lease_ms: u64,
    pub retention_hours: u64,
    pub retention_bytes: u64,
    pub stop_timeout_ms: u64,
}

/// Which bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BusKind {
    /// One SQLite file.
    Embedded,
    /// Kafka.
    Kafka,
}

/// The names of the topics, and how missing ones are made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "default.toml explains every key, once")]
pub struct TopicSettings {
    pub create: bool,
    pub partitions: i32,
    pub replication: i32,
    pub retention_hours: u64,
    pub pages: String,
    pub emails: String,
    pub labels: String,
    pub verdicts: String,
    pub clusters: String,
    pub dead_letters: String,
    pub journal: String,
    pub signed: String,
    pub pages_form: InputForm,
    pub emails_form: InputForm,
}

/// How the records of an input topic are to be understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InputForm {
    /// An envelope where the value begins with `{`, else raw.
    Auto,
    /// JSON envelopes.
    Envelope,
    /// The page or mail itself, with headers beside it.
    Raw,
}

/// What is folded, and committed, together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "default.toml explains every key, once")]
pub struct BatchSettings {
    pub documents_max: NonZeroUsize,
    pub bytes_max: NonZeroUsize,
    pub wait_ms: u64,
    pub kafka_wait_ms: u64,
    pub labels_max: NonZeroUsize,
    pub labels_held_max: usize,
    pub idle_ms: u64,
    pub threads: usize,
}

/// When the state is written down, and how much of it is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "default.toml explains every key, once")]
pub struct SnapshotSettings {
    pub folder: PathBuf,
    pub every_s: u64,
    pub kept: NonZeroUsize,
    pub holder: String,
}

/// The HTTP side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "default.toml explains every key, once")]
pub struct HttpSettings {
    pub enabled: bool,
    pub listen: SocketAddr,
    pub token_file: PathBuf,
    pub body_bytes_max: usize,
    pub connections_max: usize,
    pub timeout_ms: u64,
    pub waiting_bytes_max: usize,
    pub streams_max: usize,
    pub repeats_held_max: usize,
    pub labels_bytes_max: usize,
    pub rate_per_s: u32,
    pub rate_burst: u32,
    pub rate_clients_max: usize,
    pub verdicts_held_max: usize,
    pub verdicts_held_bytes_max: usize,
    pub clusters_held_max: usize,
}

/// Texts that people are shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "default.toml explains every key, once")]
pub struct TextsSettings {
    pub excerpt_bytes: usize,
    pub excerpt_emails: bool,
    pub reread: bool,
    pub answer_bytes: NonZeroUsize,
}

/// Who asks about single documents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "default.toml explains every key, once")]
pub struct CheckSettings {
    pub threads: usize,
    pub queue_max: NonZeroUsize,
    pub queue_bytes_max: usize,
    pub waiters_max: NonZeroUsize,
    pub timeout_ms: u64,
    pub timeout_max_ms: u64,
}

/// How Kafka is talked to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "default.toml explains every key, once")]
pub struct KafkaSettings {
    pub brokers: String,
    pub session_timeout_ms: u64,
    pub transaction_timeout_ms: u64,
    pub fetch_bytes_max: usize,
    pub send_bytes_max: usize,
    /// Any property of librdkafka. A value can name where it stands: `env:NAME` or `file:PATH`.
    #[serde(default)]
    pub properties: BTreeMap<String, Secret>,
}
