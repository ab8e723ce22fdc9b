//! A loop that consumes and publishes in the same transactions as `run`, and does nothing with what it reads.

use seamripper::bus::{self, Bus, Outgoing, Partition, Positions};
use seamripper::config::{BusKind, Settings};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Names the folder of the settings to a process of this benchmark that is to do nothing.
pub(crate) const ASKED: &str = "SEAMRIPPER_BENCH_NOTHING";
/// ... and how long the verdicts are.
const OUTPUT_BYTES: &str = "SEAMRIPPER_BENCH_OUTPUT_BYTES";

/// As verdicts have them.
const HEADERS: [(&str, &str); 3] = [("schema", "1"), ("class", "original"), ("verdict", "pages/0/123456/0")];

/// This benchmark again, doing nothing.
pub(crate) fn command(folder: &Path, output_bytes: usize) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this is a program"));
    command.env(ASKED, folder).env(OUTPUT_BYTES, output_bytes.to_string());
    command
}

pub(crate) fn run(folder: &Path) {
    let output_bytes = crate::setting(OUTPUT_BYTES, 2000);
    let environment = [];
    let mut settings = Settings::load(Some(&folder.join("seamripper.toml")), &environment).expect("they were written");
    settings.bus.store.push_str("-nothing");
    // Its outputs are nobody's.
    let (verdicts, journal) = (settings.topics.clusters.clone(), settings.topics.labels.clone());
    let bus = bus::open(&settings).unwrap_or_else(|error| panic!("{error}"));
    let mut seat = bus.seat().unwrap_or_else(|error| panic!("{error}"));
    while !seat.poll(Duration::from_millis(50)).unwrap_or_else(|error| panic!("{error}")) {}
    seat.take().unwrap_or_else(|error| panic!("{error}"));
    let mut reader = bus.reader(&inputs(&*bus, &settings)).unwrap_or_else(|error| panic!("{error}"));
    let wait = match settings.bus.kind {
        BusKind::Embedded => Duration::from_millis(settings.batch.wait_ms),
        BusKind::Kafka => Duration::from_millis(settings.batch.kafka_wait_ms),
    };
    let mut positions = Positions::default();
    let mut active = Instant::now();
    while active.elapsed() < Duration::from_secs(1) {
        let (begun, mut outputs) = (Instant::now(), Vec::new());
        while begun.elapsed() < wait && outputs.len() < settings.batch.documents_max.get() {
            let left = wait.saturating_sub(begun.elapsed());
            let records = reader.poll(settings.batch.documents_max.get() - outputs.len(), 16 << 20, left);
            for record in records.unwrap_or_else(|error| panic!("{error}")) {
                positions.pass(&record.partition, record.offset);
                let value = Some(vec![b'x'; output_bytes]);
                let headers = HEADERS.map(|(name, value)| (name.into(), value.as_bytes().to_vec())).to_vec();
                outputs.push(Outgoing { key: record.key, headers, value, ..Outgoing::to(verdicts.as_str()) });
                active = Instant::now();
            }
        }
        if !outputs.is_empty() {
            // A compacted topic wants a key.
            let (key, value) = (Some(b"nothing".to_vec()), Some(vec![b'x'; 300]));
            let entry = Outgoing { partition: Some(0), key, value, ..Outgoing::to(journal.as_str()) };
            seat.publish(&outputs, &entry, &positions).unwrap_or_else(|error| panic!("{error}"));
        }
    }
    seat.leave();
}

fn inputs(bus: &dyn Bus, settings: &Settings) -> Positions {
    let mut from = Positions::default();
    for topic in [&settings.topics.pages, &settings.topics.emails] {
        for number in 0..bus.n_partitions(topic).unwrap_or_else(|error| panic!("{error}")) {
            from.0.insert(Partition::new(topic.as_str(), number), 0);
        }
    }
    from
}
