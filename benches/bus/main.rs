//! What a bus adds: `seamripper run` from topic to topic, beside `scan` over the same raw documents and a loop that consumes and
//! publishes as much with the same transactions and does nothing else, all in one run.
//!
//! Each of the three is a process of its own, and what counts is its CPU time per document: the bar is run at no more than 1.15
//! times scan and the loop together. How many cores are busy is looked at while there is input: the first and the last twentieth of
//! the signing are left out. Then documents are fed at half of that rate, and the time from feeding one to reading
//! its verdict is measured. The embedded bus is always measured, Kafka where `KAFKA_BOOTSTRAP` names one
//! (`make bench-bus` starts one). `SEAMRIPPER_BENCH_DOCUMENTS=2000` is a quicker look, `SEAMRIPPER_BENCH_BUS=kafka` and
//! `SEAMRIPPER_BENCH_CORPUS=mails` are parts of it.

mod archive;
#[path = "../scan/corpora.rs"]
mod corpora;
mod latency;
mod nothing;
mod process;
mod stat;

use corpora::Corpus;
use process::{Ran, ran};
use seamripper::bus::{self, Bus, Outgoing, Partition, Positions};
use seamripper::config::{BusKind, Settings};
use seamripper::document::{Format, Record};
use std::ffi::OsStr;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::time::Duration;

/// As in the binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    if let Some(path) = std::env::var_os(nothing::ASKED) {
        return nothing::run(Path::new(&path));
    }
    let n_max = setting("SEAMRIPPER_BENCH_DOCUMENTS", 20_000);
    let is_asked = |name: &str, value: &str| std::env::var(name).map_or(true, |wanted| value.contains(&wanted));
    let corpora = corpora::every([1, 1, 0]).into_iter();
    let corpora: Vec<Corpus> = corpora.filter(|corpus| is_asked("SEAMRIPPER_BENCH_CORPUS", corpus.name)).collect();
    let mut kinds = vec![(BusKind::Embedded, "embedded")];
    if std::env::var_os("KAFKA_BOOTSTRAP").is_some() {
        kinds.push((BusKind::Kafka, "kafka"));
    }
    kinds.retain(|(_, name)| is_asked("SEAMRIPPER_BENCH_BUS", name));
    println!("one process each, {} cores; CPU time per document, documents/s by the clock\n", process::n_cores());
    for (kind, _) in kinds {
        for corpus in &corpora {
            report(kind, corpus, n_max);
        }
    }
}

/// Room for twice the documents: a store's first documents pay for its memory, and a tenth of a large store would be nothing else.
const STORE_BYTES: usize = 256 << 20;

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
    settings.store.memory = STORE_BYTES;
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
        "[store]\nmemory = {STORE_BYTES}\n[bus]\nkind = {:?}\nfolder = {:?}\nstore = {:?}\n[http]\nenabled = false\n[kafka]\nbrokers = {:?}\n[topics]\n\
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

/// A word for the names of topics: no two measurements share any.
fn short_name(corpus: &Corpus) -> &str {
    corpus.name.split(' ').next().unwrap_or(corpus.name)
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
    let records: Vec<&Record> = corpus.records.iter().cycle().take(n_max).collect();
    let (n, n_bytes) = (records.len(), records.iter().map(|record| record.body.len()).sum::<usize>());
    let settings = self::settings(kind, &folder.path().join("run"), short_name(corpus));
    let bus = bus::open(&settings).unwrap_or_else(|error| panic!("{error}"));
    bus.prepare().unwrap_or_else(|error| panic!("{error}"));
    let mut feeder = bus.feeder().unwrap_or_else(|error| panic!("{error}"));
    for (number, some) in records.chunks(500).enumerate() {
        let some = some.iter().enumerate().map(|(within, record)| input(&settings, record, number * 500 + within));
        feeder.append(some.collect()).unwrap_or_else(|error| panic!("{error}"));
    }
    // Whoever comes first pays for memory that the machine has not given out before: that one does not count.
    scan(folder.path(), &records);
    let beside = if kind == BusKind::Kafka { process::broker(&settings.kafka.brokers) } else { None };
    let judged = ran(
        process::seamripper().current_dir(folder.path().join("run")).args([
            "run",
            "--quiet",
            "--until-idle",
            "1",
            "-c",
            "seamripper.toml",
        ]),
        beside,
    );
    let published = published(&*bus, &settings);
    assert!(published.n_documents == n, "{} of {n} documents were judged", published.n_documents);
    let nothing = ran(&mut nothing::command(&folder.path().join("run"), published.n_bytes / n), beside);
    let scanned = scan(folder.path(), &records);
    let us = |ran: &Ran| ran.cpu.as_secs_f64() * 1e6 / n as f64;
    let bus_name = if kind == BusKind::Kafka { "Kafka" } else { "embedded" };
    println!("{bus_name}, {n} {} of {} bytes, verdicts of {}", corpus.name, n_bytes / n, published.n_bytes / n);
    for (name, ran) in [("scan", &scanned), ("nothing", &nothing), ("run", &judged)] {
        let seconds = ran.window.as_secs_f64() / ran.share;
        println!(
            "  {name:<8} {:>7.1} us of CPU {:>8.0} documents/s {:>6.1} MB/s; with input {:.2} cores had, {:.2} wanted, others {:.2}",
            us(ran),
            n as f64 / seconds,
            n_bytes as f64 / 1e6 / seconds,
            ran.cores,
            ran.wanted,
            ran.others,
        );
    }
    let ratio = us(&judged) / (us(&scanned) + us(&nothing));
    println!("  run takes {ratio:.2} of scan and nothing together (bar 1.15)");
    let per_s = n as f64 / (judged.window.as_secs_f64() / judged.share) / 2.0;
    latency::report(kind, corpus, &folder.path().join("latency"), per_s);
}

/// What a run has published.
struct Judged {
    n_documents: usize,
    n_bytes: usize,
}

fn published(bus: &dyn Bus, settings: &Settings) -> Judged {
    let mut from = Positions::default();
    for number in 0..bus.n_partitions(&settings.topics.verdicts).unwrap_or_else(|error| panic!("{error}")) {
        from.0.insert(Partition::new(settings.topics.verdicts.as_str(), number), 0);
    }
    let mut reader = bus.reader(&from).unwrap_or_else(|error| panic!("{error}"));
    let mut judged = Judged { n_documents: 0, n_bytes: 0 };
    loop {
        let records = reader.poll(10_000, 64 << 20, Duration::from_secs(1)).unwrap_or_else(|error| panic!("{error}"));
        if records.is_empty() && reader.is_at_end() {
            return judged;
        }
        for record in records {
            judged.n_bytes += record.value.as_deref().map_or(0, <[u8]>::len);
            judged.n_documents += usize::from(record.header("verdict").is_some_and(|id| id.ends_with(b"/0")));
        }
    }
}

/// `scan` over the same documents, raw: mails in a tar archive, pages in a web archive.
fn scan(folder: &Path, records: &[&Record]) -> Ran {
    let is_mail = records[0].format == Format::Mail;
    let path = folder.join(if is_mail { "mails.tar" } else { "pages.warc" });
    let mut file = BufWriter::new(File::create(&path).expect("there is room for the documents"));
    for (number, record) in records.iter().enumerate() {
        let written =
            if is_mail { archive::tar(&mut file, number, record) } else { archive::warc(&mut file, number, record) };
        written.expect("there is room for the documents");
    }
    file.into_inner().expect("there is room for the documents");
    let verdicts = folder.join("verdicts.jsonl");
    let settings = folder.join("run").join("seamripper.toml");
    let arguments = [OsStr::new("scan"), "--quiet".as_ref(), "-c".as_ref(), settings.as_ref()];
    let scanned = ran(process::seamripper().args(arguments).arg(&path).arg("-o").arg(&verdicts), None);
    let lines = std::fs::read_to_string(&verdicts).expect("it was written");
    let n_documents = lines.lines().filter(|line| line.contains("\"revision\":0,")).count();
    assert!(n_documents == records.len(), "{n_documents} of {} documents were scanned", records.len());
    scanned
}
