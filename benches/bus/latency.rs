//! From feeding a document to reading its verdict, at a steady rate.

use crate::corpora::Corpus;
use crate::{input, process, settings, short_name};
use seamripper::bus::{self, Partition, Positions};
use seamripper::config::BusKind;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// For so long documents are fed.
const FED: Duration = Duration::from_secs(15);
/// So often some are.
const EVERY: Duration = Duration::from_millis(5);
/// What was fed before is not counted: the process starts, and its caches are cold.
const WARM: Duration = Duration::from_secs(4);

fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_millis() as i64)
}

/// Feeds so many documents a second, and prints how long their verdicts take.
pub(crate) fn report(kind: BusKind, corpus: &Corpus, folder: &Path, per_s: f64) {
    let settings = settings(kind, folder, &format!("latency-{}", short_name(corpus)));
    let bus = bus::open(&settings).unwrap_or_else(|error| panic!("{error}"));
    bus.prepare().unwrap_or_else(|error| panic!("{error}"));
    let arguments = ["run", "--quiet", "--until-idle", "3", "-c", "seamripper.toml"];
    let mut running = process::seamripper().current_dir(folder).args(arguments).spawn().expect("it can be started");
    let begun_ms = now_ms();
    let mut latencies_ms: Vec<i64> = Vec::new();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut feeder = bus.feeder().unwrap_or_else(|error| panic!("{error}"));
            let (begun, mut n) = (Instant::now(), 0);
            while begun.elapsed() < FED {
                let wanted = (begun.elapsed().as_secs_f64() * per_s) as usize;
                let some = (n..wanted).map(|n| input(&settings, &corpus.records[n % corpus.records.len()], n));
                feeder.append(some.collect()).unwrap_or_else(|error| panic!("{error}"));
                n = wanted;
                std::thread::sleep(EVERY);
            }
        });
        let mut from = Positions::default();
        for number in 0..bus.n_partitions(&settings.topics.verdicts).unwrap_or_else(|error| panic!("{error}")) {
            from.0.insert(Partition::new(settings.topics.verdicts.as_str(), number), 0);
        }
        let mut reader = bus.reader(&from).unwrap_or_else(|error| panic!("{error}"));
        let mut active = Instant::now();
        while active.elapsed() < Duration::from_secs(6) {
            let records = reader.poll(1000, 16 << 20, Duration::from_millis(50));
            let now_ms = now_ms();
            for record in records.unwrap_or_else(|error| panic!("{error}")) {
                active = Instant::now();
                let verdict: serde_json::Value =
                    serde_json::from_slice(record.value.as_deref().unwrap_or_default()).expect("verdicts are JSON");
                if verdict["revision"] != 0 {
                    continue;
                }
                let time = verdict["source"]["time"].as_str().and_then(|time| time.parse::<jiff::Timestamp>().ok());
                let fed_ms = time.expect("a bus says when").as_millisecond();
                if fed_ms > begun_ms + WARM.as_millis() as i64 {
                    latencies_ms.push(now_ms - fed_ms);
                }
            }
        }
    });
    assert!(running.wait().expect("it can be waited for").success());
    latencies_ms.sort_unstable();
    let at = |share: f64| latencies_ms[(latencies_ms.len() as f64 * share) as usize];
    println!(
        "  at {per_s:.0} documents/s, produce to verdict: p50 {} ms, p99 {} ms, longest {} ms ({} documents)\n",
        at(0.5),
        at(0.99),
        latencies_ms[latencies_ms.len() - 1],
        latencies_ms.len()
    );
}
