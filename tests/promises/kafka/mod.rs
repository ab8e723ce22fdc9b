//! The Apache Kafka that the tests run on: one broker for all of them, started when the first needs it and gone with this process.
//!
//! `KAFKA_BOOTSTRAP` names another cluster; then what needs a broker of one's own (TLS, credentials, brokers that fail) is still done
//! on one from `scripts/kafka`.

use crate::bus::Ground;
use rdkafka::ClientConfig;
use rdkafka::admin::AdminClient;
use rdkafka::client::DefaultClientContext;
use seamripper::config::{BusKind, Settings};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

/// A cluster that `scripts/kafka` runs.
pub(crate) struct Cluster {
    folder: PathBuf,
}

impl Cluster {
    /// The one that most tests share.
    pub(crate) fn shared() -> &'static Self {
        static SHARED: OnceLock<Cluster> = OnceLock::new();
        SHARED.get_or_init(|| Self::up("kafka", 1))
    }

    /// One of one's own, in a folder of this name; `up` again is the same one.
    pub(crate) fn up(name: &str, n_brokers: usize) -> Self {
        let cluster = Self { folder: target().join(name) };
        cluster.script(&["up", "--brokers", &n_brokers.to_string(), "--watch", &std::process::id().to_string()]);
        cluster
    }

    /// `scripts/kafka ARGUMENTS`.
    pub(crate) fn script(&self, arguments: &[&str]) {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/kafka");
        let output = Command::new(script).args(arguments).arg("--dir").arg(&self.folder).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// The addresses of a listener: `bootstrap`, `bootstrap.ssl` ...
    pub(crate) fn address(&self, listener: &str) -> String {
        std::fs::read_to_string(self.folder.join(listener)).unwrap().trim().to_owned()
    }

    /// The certificate that signs for its listeners.
    pub(crate) fn certificate(&self) -> PathBuf {
        self.folder.join("ca.pem")
    }

    /// A ground on it.
    pub(crate) fn ground(&self) -> Ground {
        ground_at(&self.address("bootstrap"))
    }
}

/// Where cargo builds: two test runs that share it share the broker too.
fn target() -> PathBuf {
    let binary = Path::new(env!("CARGO_BIN_EXE_seamripper"));
    binary.ancestors().nth(2).unwrap().to_owned()
}

/// A ground on the cluster that most tests share.
pub(crate) fn ground() -> Ground {
    match std::env::var("KAFKA_BOOTSTRAP") {
        Ok(brokers) if !brokers.is_empty() => ground_at(&brokers),
        _ => Cluster::shared().ground(),
    }
}

/// A ground with topics and a group that nobody else has.
pub(crate) fn ground_at(brokers: &str) -> Ground {
    let folder = tempfile::tempdir().unwrap();
    let mut settings = Settings::default();
    settings.bus.kind = BusKind::Kafka;
    settings.bus.folder = folder.path().join("data");
    settings.kafka.brokers = brokers.to_owned();
    // The least that brokers allow by default.
    settings.kafka.session_timeout_ms = 6000;
    settings.kafka.transaction_timeout_ms = 20_000;
    let unique = format!("{:016x}", getrandom::u64().unwrap());
    settings.bus.store = format!("store-{unique}");
    let topics = &mut settings.topics;
    for name in [
        &mut topics.pages,
        &mut topics.emails,
        &mut topics.labels,
        &mut topics.verdicts,
        &mut topics.clusters,
        &mut topics.dead_letters,
        &mut topics.journal,
        &mut topics.signed,
    ] {
        *name = format!("{name}-{unique}");
    }
    Ground { settings, silence: Duration::from_secs(8), folder }
}

/// What an administrator does on a ground's cluster.
pub(crate) fn administered<T>(ground: &Ground, what: impl AsyncFnOnce(&AdminClient<DefaultClientContext>) -> T) -> T {
    let admin = ClientConfig::new().set("bootstrap.servers", &ground.settings.kafka.brokers).create().unwrap();
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(what(&admin))
}
