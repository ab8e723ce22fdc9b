//! What a bus adds: `seamripper run` from topic to topic, beside `scan` over the same documents and a loop that consumes and
//! publishes with the same transactions and does nothing else, all in one run.
//!
//! Each of the three is a process of its own, and what counts is its CPU time per document: the bar is run at no more than 1.15
//! times scan and the loop together. Then documents are fed at half of that rate, and the time from feeding one to reading
//! its verdict is measured. The embedded bus is always measured, Kafka where `KAFKA_BOOTSTRAP` names one
//! (`make bench-bus` starts one). `SEAMRIPPER_BENCH_DOCUMENTS=2000` is a quicker look.

#[path = "../scan/corpora.rs"]
mod corpora;
mod latency;
mod nothing;
mod process;

use corpora::Corpus;
use process::{Ran, ran};
use seamripper::bus::{self, Outgoing};
use seamripper::config::{BusKind, Settings};
use seamripper::document::{Format, Record};
use std::path::Path;

/// As in the binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    if let Some(path) = std::env::var_os(nothing::ASKED) {
        return nothing::run(Path::new(&path));
    }
    let n_max = setting("SEAMRIPPER_BENCH_DOCUMENTS", 20_000);
    let corpora: Vec<Corpus> = corpora::corpora().into_iter().filter(|corpus| corpus.name != "web pages").collect();
    let mut kinds = vec![BusKind::Embedded];
    if std::env::var_os("KAFKA_BOOTSTRAP").is_some() {
        kinds.push(BusKind::Kafka);
    }
    println!("one process each; CPU time per document, and documents/s by the clock\n");
    for kind in kinds {
        for corpus in &corpora {
            report(kind, corpus, n_max);
        }
    }
}

fn setting(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

/// Settings for one measurement, with topics that nobody else has, and the file that says so.
fn settings(kind: BusKind, folder: &Path, name: &str) -> Settings {
    let mut settings = Settings::default();
    settings.bus.kind = kind;
    settings.bus.folder = folder.join("data");
    settings.bus.store = format!("bench-{name}-{}", std::process::id());
    settings.http.enabled = false;
    if let Ok(brokers) = std::env::var("KAFKA_BOOTSTRAP") {
        settings.kafka.brokers = brokers;
    }
    let suffix = format!("-{}-{name}", std::process::id());
    let topics = &mut settings.topics;
    for topic in [
        &mut topics.pages,
        &mut topics.emails,
        &mut topics.labels,
        &mut topics.verdicts,
        &mut topics.clusters,
        &mut topics.dead_letters,
        &mut topics.journal,
        &mut topics.signed,
    ] {
        topic.push_str(&suffix);
    }
    let topics = &settings.topics;
    let toml = format!(
        "[bus]\nkind = {:?}\nfolder = {:?}\nstore = {:?}\n[http]\nenabled = false\n[kafka]\nbrokers = {:?}\n[topics]\n\
         pages = {:?}\nemails = {:?}\nlabels = {:?}\nverdicts = {:?}\nclusters = {:?}\ndead_letters = {:?}\njournal = {:?}\nsigned = {:?}\n",
        if kind == BusKind::Kafka { "kafka" } else { "embedded" },
        settings.bus.folder,
        settings.bus.store,
        settings.kafka.brokers,
        topics.pages,
        topics.emails,
        topics.labels,
        topics.verdicts,
        topics.clusters,
        topics.dead_letters,
        topics.journal,
        topics.signed,
    );
    std::fs::create_dir_all(folder).expect("the folder can be made");
    std::fs::write(folder.join("seamripper.toml"), toml).expect("the settings can be written");
    settings
}

/// A document as a record of an input; `number` makes every id another.
fn input(settings: &Settings, record: &Record, number: usize) -> Outgoing {
    let topic = if record.format == Format::Mail { &settings.topics.emails } else { &settings.topics.pages };
    let id = record.carrier.id.clone().or_else(|| record.carrier.url.clone()).unwrap_or_default();
    let mut outgoing = Outgoing::to(topic.as_str());
    outgoing.key = Some(format!("{id}#{number}").into_bytes());
    if let Some(url) = &record.carrier.url {
        outgoing.headers.push(("url".into(), url.clone().into_bytes()));
    }
    outgoing.value = Some(record.body.clone());
    outgoing
}

fn report(kind: BusKind, corpus: &Corpus, n_max: usize) {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let records: Vec<&Record> = corpus.records.iter().cycle().take(n_max.min(4 * corpus.records.len())).collect();
    let (n, n_bytes) = (records.len(), records.iter().map(|record| record.body.len()).sum::<usize>());
    let scanned = scan(folder.path(), &records);
    let settings = self::settings(kind, &folder.path().join("run"), corpus.name.split(' ').next().unwrap_or("x"));
    let bus = bus::open(&settings).unwrap_or_else(|error| panic!("{error}"));
    bus.prepare().unwrap_or_else(|error| panic!("{error}"));
    let mut feeder = bus.feeder().unwrap_or_else(|error| panic!("{error}"));
    for (number, some) in records.chunks(500).enumerate() {
        let some = some.iter().enumerate().map(|(within, record)| input(&settings, record, number * 500 + within));
        feeder.append(some.collect()).unwrap_or_else(|error| panic!("{error}"));
    }
    let nothing = ran(&mut nothing::command(&folder.path().join("run")));
    let judged = ran(process::seamripper().current_dir(folder.path().join("run")).args([
        "run",
        "--quiet",
        "--until-idle",
        "1",
        "-c",
        "seamripper.toml",
    ]));
    let us = |ran: &Ran| ran.cpu.as_secs_f64() * 1e6 / n as f64;
    let bus_name = if kind == BusKind::Kafka { "Kafka" } else { "embedded" };
    println!("{bus_name}, {n} {} of {} bytes", corpus.name, n_bytes / n);
    for (name, ran) in [("scan", &scanned), ("nothing", &nothing), ("run", &judged)] {
        let seconds = ran.busy.as_secs_f64();
        println!(
            "  {name:<8} {:>8.1} us of CPU  {:>8.0} documents/s  {:>7.1} MB/s  {:.2} cores busy",
            us(ran),
            n as f64 / seconds,
            n_bytes as f64 / 1e6 / seconds,
            ran.cpu.as_secs_f64() / seconds,
        );
    }
    let ratio = us(&judged) / (us(&scanned) + us(&nothing));
    println!("  run takes {ratio:.2} of scan and nothing together (bar 1.15)");
    let per_s = n as f64 / judged.busy.as_secs_f64() / 2.0;
    latency::report(kind, corpus, &folder.path().join("latency"), per_s);
}

/// `scan` over the same documents as one file of JSON lines.
fn scan(folder: &Path, records: &[&Record]) -> Ran {
    use base64::Engine;
    use std::io::Write;
    let path = folder.join("documents.jsonl");
    let mut file = std::io::BufWriter::new(std::fs::File::create(&path).expect("there is room for the documents"));
    for (number, record) in records.iter().enumerate() {
        let body = base64::engine::general_purpose::STANDARD.encode(&record.body);
        let line = match record.format {
            Format::Mail => serde_json::json!({"id": number.to_string(), "raw": body}),
            _ => serde_json::json!({"id": number.to_string(), "url": record.carrier.url, "body": body}),
        };
        writeln!(file, "{line}").expect("there is room for the documents");
    }
    file.into_inner().expect("there is room for the documents");
    ran(process::seamripper().arg("scan").arg("--quiet").arg(&path).arg("-o").arg(folder.join("verdicts.jsonl")))
}
