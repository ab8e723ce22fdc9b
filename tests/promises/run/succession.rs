//! Secret and lexicons change on a live system: one scheme runs beside the other for one ttl, and nothing is missed.
//!
//! On the embedded bus, whose records can be given a time: hours pass in no time. On Kafka a producer gives them one.

use super::oracle::entries;
use super::{Process, command, hasty, input, n_judged, records, verdicts};
use crate::bus::{Ground, embedded};
use crate::made::Made;
use rdkafka::ClientConfig;
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};
use rusqlite::{Connection, params};
use seamripper::bus::{BusError, Outgoing, Partition, Record};
use seamripper::config::{BusKind, Secret, Settings};
use seamripper::pipeline::filter::Event;
use seamripper::pipeline::run::inlet::Fate;
use seamripper::pipeline::run::journal::{Origin, Range, What};
use seamripper::pipeline::run::outputs::verdict_id;
use seamripper::pipeline::run::scheme::Scheme;
use seamripper::verdict::event::Verdict;
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;
use xxhash_rust::xxh3::Xxh3;

const HOUR_MS: i64 = 3_600_000;
/// What the log says when the elder is dropped.
pub(super) const SUCCEEDED: &str = "the present settings decide from here on";
pub(super) const BESIDE: &str = "folded under the present ones too";

/// A ground with a ttl of two hours, and a moment from which hours are counted.
pub(super) struct Stage {
    pub(super) ground: Ground,
    begun_ms: i64,
}

/// Settings in force: those of the stage with a change, and the file of those before.
#[derive(Clone)]
pub(super) struct Force {
    pub(super) secret: &'static str,
    pub(super) mail_lexicon: Option<&'static str>,
    pub(super) previous: Option<PathBuf>,
}

pub(super) const ONE: Force = Force { secret: "one", mail_lexicon: None, previous: None };

impl Stage {
    pub(super) fn new() -> Self {
        let mut ground = hasty(embedded::ground());
        ground.settings.bus.lease_ms = 2000;
        ground.silence = Duration::from_secs(2);
        Self::on(ground)
    }

    fn on(mut ground: Ground) -> Self {
        ground.settings.store.ttl_hours = 2;
        ground.settings.topics.partitions = 2;
        drop(ground.prepared());
        let now_ms = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis() as i64;
        // Kafka takes no record from the future.
        let ago_ms = if ground.settings.bus.kind == BusKind::Kafka { 12 * HOUR_MS } else { 0 };
        Self { ground, begun_ms: now_ms - ago_ms }
    }

    /// The file of settings that were in force.
    fn file(&self, force: &Force) -> PathBuf {
        let path = self.ground.folder.path().join(format!("was-{}-{:?}.toml", force.secret, force.mail_lexicon));
        let lexicon = force.mail_lexicon.map(|name| format!("[imatch]\nmail_lexicon = {name:?}\n")).unwrap_or_default();
        let sections = super::toml(&self.ground.settings).replace("[imatch]\n", "");
        std::fs::write(&path, format!("secret = {:?}\n{lexicon}{sections}", force.secret)).unwrap();
        path
    }

    pub(super) fn after(&self, now: &Force, before: &Force) -> Force {
        Force { previous: Some(self.file(before)), ..now.clone() }
    }

    pub(super) fn command(&self, force: &Force, arguments: &[&str]) -> Command {
        let mut command = command(&self.ground, arguments, None);
        command.env("SEAMRIPPER_SECRET", force.secret);
        command.envs(force.previous.iter().map(|path| ("SEAMRIPPER_PREVIOUS", path)));
        command.envs(force.mail_lexicon.iter().map(|name| ("SEAMRIPPER_IMATCH__MAIL_LEXICON", name)));
        command
    }

    fn start(&self, force: &Force, arguments: &[&str]) -> Process {
        Process::begin(self.command(force, arguments), &self.ground)
    }

    /// Judges what is there, and ends. What it said.
    pub(super) fn drain(&self, force: &Force) -> String {
        let idle = if self.ground.settings.bus.kind == BusKind::Kafka { "1.5" } else { "0.7" };
        let mut process = self.start(force, &["run", "--until-idle", idle]);
        assert!(process.ended().success(), "{}", process.log());
        process.log()
    }

    /// Does not run, and says why.
    fn refused(&self, force: &Force, arguments: &[&str]) -> String {
        let mut process = self.start(force, arguments);
        assert_eq!(process.ended().code(), Some(1), "{}", process.log());
        process.log()
    }

    /// An audit finds nothing, and `n` documents are judged.
    pub(super) fn audited(&self, force: &Force, n: usize) {
        let output = self.command(force, &["audit", "--json"]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(n_judged(&self.verdicts()), n, "{said}");
    }

    pub(super) fn verdicts(&self) -> BTreeMap<String, Verdict> {
        verdicts(&*self.ground.open(), &self.ground)
    }

    fn settings(&self, force: &Force) -> Settings {
        let mut settings = self.ground.settings.clone();
        settings.secret = Secret::new(force.secret);
        force.mail_lexicon.iter().for_each(|name| settings.imatch.mail_lexicon = (*name).into());
        settings
    }

    /// Appends records that came `hours` after the beginning. Nobody reads meanwhile.
    pub(super) fn feed(&self, hours: f64, records: Vec<Outgoing>) {
        if self.ground.settings.bus.kind == BusKind::Kafka {
            return self.produce(hours, records);
        }
        let places = self.ground.open().feeder().unwrap().append(records).unwrap();
        self.date(hours, &places);
    }

    fn produce(&self, hours: f64, records: Vec<Outgoing>) {
        let time_ms = self.begun_ms + (hours * HOUR_MS as f64) as i64;
        let brokers = &self.ground.settings.kafka.brokers;
        let producer: BaseProducer = ClientConfig::new().set("bootstrap.servers", brokers).create().unwrap();
        for Outgoing { topic, key, value, .. } in &records {
            let record = BaseRecord::to(topic).timestamp(time_ms).payload(value.as_deref().unwrap_or_default());
            producer.send(record.key(key.as_deref().unwrap_or_default())).map_err(|(error, _)| error).unwrap();
        }
        producer.flush(Duration::from_secs(30)).unwrap();
    }

    /// The same while `process` runs: it is stopped for a moment.
    fn feed_to(&self, process: &Process, hours: f64, records: Vec<Outgoing>) {
        let bus = self.ground.open();
        let mut feeder = bus.feeder().unwrap();
        loop {
            process.signal("STOP");
            match feeder.append(records.clone()) {
                Ok(places) => self.date(hours, &places),
                // It was stopped inside a commit, and has the file locked.
                Err(BusError::Unreachable { .. }) => {
                    process.signal("CONT");
                    continue;
                }
                Err(error) => panic!("{error}"),
            }
            return process.signal("CONT");
        }
    }

    fn date(&self, hours: f64, places: &[(Partition, i64)]) {
        type Bytes = Option<Vec<u8>>;
        let time_ms = self.begun_ms + (hours * HOUR_MS as f64) as i64;
        let mut connection = Connection::open(self.ground.settings.bus.folder.join("bus.sqlite")).unwrap();
        connection.busy_timeout(Duration::from_secs(10)).unwrap();
        let transaction = connection.transaction().unwrap();
        for (partition, offset) in places {
            let topic: &str = &partition.topic;
            let sql = "SELECT id FROM topics WHERE name = ?1";
            let id: i64 = transaction.query_row(sql, [topic], |row| row.get(0)).unwrap();
            let select = format!("SELECT key, headers, value FROM records_{id} WHERE partition = ?1 AND offset = ?2");
            let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
            let place = params![partition.number, offset];
            let (key, headers, value): (Bytes, Bytes, Bytes) = transaction.query_row(&select, place, read).unwrap();
            let mut hash = Xxh3::new();
            for number in [i64::from(partition.number), *offset, time_ms] {
                hash.update(&number.to_le_bytes());
            }
            for bytes in [Some(topic.as_bytes()), key.as_deref(), headers.as_deref(), value.as_deref()] {
                hash.update(&bytes.map_or(u64::MAX, |bytes| bytes.len() as u64).to_le_bytes());
                hash.update(bytes.unwrap_or_default());
            }
            let update =
                format!("UPDATE records_{id} SET time_ms = ?3, checksum = ?4 WHERE partition = ?1 AND offset = ?2");
            let changed = params![partition.number, offset, time_ms, hash.digest() as i64];
            assert_eq!(transaction.execute(&update, changed).unwrap(), 1);
        }
        transaction.commit().unwrap();
    }

    /// Copy `number` of a campaign.
    fn copy(&self, campaign: u64, number: u64) -> Outgoing {
        let sentence = |index: u64| {
            let words: Vec<String> = (0..12_u64).map(|place| word(campaign * 1000 + index * 20 + place)).collect();
            format!("{} .\r\n", words.join(" "))
        };
        let text: String = (0..12).map(sentence).collect();
        let mail = format!("From: sender{number}@list{number}.example\r\nSubject: news {campaign}\r\n\r\n{text}");
        let key = Some(id(campaign, number).into_bytes());
        Outgoing { key, value: Some(mail.into_bytes()), ..Outgoing::to(self.ground.settings.topics.emails.as_str()) }
    }

    fn copies(&self, campaigns: std::ops::Range<u64>, number: u64) -> Vec<Outgoing> {
        campaigns.map(|campaign| self.copy(campaign, number)).collect()
    }

    fn made(&self, made: &mut Made, n: usize) -> Vec<Outgoing> {
        (0..n).map(|_| input(&self.ground, made.record())).collect()
    }

    fn label(&self, id: &str) -> Outgoing {
        let json = format!(
            r#"{{"target":{{"document":"{id}"}},"label":"spam","by":"me","why":"","at":"2026-01-31T12:00:00Z"}}"#
        );
        let bytes = Some(json.into_bytes());
        Outgoing { key: bytes.clone(), value: bytes, ..Outgoing::to(self.ground.settings.topics.labels.as_str()) }
    }

    /// Of these campaigns, those copies are mirrors of the copy `of`.
    fn are_mirrors(&self, campaigns: std::ops::Range<u64>, numbers: std::ops::Range<u64>, of: u64) {
        let verdicts = self.verdicts();
        for (campaign, number) in campaigns.flat_map(|campaign| numbers.clone().map(move |number| (campaign, number))) {
            let found = verdicts.values().find(|verdict| verdict.id == id(campaign, number) && verdict.revision == 0);
            let mirror = found.unwrap().mirror.as_ref();
            assert_eq!(mirror.map(|mirror| mirror.of.as_str()), Some(id(campaign, of).as_str()), "{campaign} {number}");
        }
    }

    fn epochs(&self) -> Vec<Origin> {
        let epoch = |what| if let What::Epoch(epoch) = what { Some(epoch.state) } else { None };
        entries(&self.ground).into_iter().filter_map(|entry| epoch(entry.what)).collect()
    }
}

fn id(campaign: u64, number: u64) -> String {
    format!("mail-{campaign}-{number}")
}

/// One of many made words.
fn word(number: u64) -> String {
    let letters = (0..7)
        .map(|place| (b'a' + (number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (5 * place + 20)) as u8 % 26) as char);
    letters.collect()
}

/// Copies are mirrors before, in and after the change of the secret; a label goes on; what is said is what two stores say that
/// know nothing of each other.
#[test]
fn a_secret_changes_without_a_gap() {
    let stage = Stage::new();
    let two = Force { secret: "two", ..ONE };
    let changed = stage.after(&two, &ONE);
    let mut made = Made::new(31);
    stage.feed(0.0, [stage.copies(0..6, 0), stage.made(&mut made, 60)].concat());
    stage.drain(&ONE);
    stage.feed(0.0, vec![stage.label(&id(1, 0))]);
    stage.drain(&ONE);

    let refused = stage.refused(&two, &["run"]);
    assert!(refused.contains("another `secret` or other lexicons") && refused.contains("`previous`"), "{refused}");
    let refused = stage.refused(&stage.after(&two, &Force { secret: "three", ..ONE }), &["run"]);
    assert!(refused.contains("another `secret` or other lexicons"), "{refused}");
    let refused = stage.refused(&changed, &["run", "--role", "store"]);
    assert!(refused.contains("--role all"), "{refused}");
    let mut wrong = stage.start(&Force { previous: Some("nowhere.toml".into()), ..two.clone() }, &["run"]);
    assert_eq!(wrong.ended().code(), Some(2), "{}", wrong.log());
    let check = stage.command(&changed, &["config", "check", "--json"]).output().unwrap();
    let planned: serde_json::Value = serde_json::from_slice(&check.stdout).unwrap();
    let memory = 2 * seamripper::store::Plan::of(&stage.ground.settings).total();
    assert_eq!(planned["memory_with_previous"], memory);

    stage.feed(1.0, [stage.copies(0..5, 1), stage.copies(6..7, 0), stage.made(&mut made, 60)].concat());
    let said = stage.drain(&changed);
    assert!(said.contains(BESIDE) && said.contains(&format!("memory_bytes={memory}")), "{said}");
    stage.are_mirrors(0..5, 1..2, 0);
    stage.feed(1.5, stage.made(&mut made, 40));
    assert!(stage.drain(&changed).contains(BESIDE));
    let refused = stage.refused(&stage.after(&Force { secret: "three", ..ONE }, &two), &["run"]);
    assert!(refused.contains("another `secret` or other lexicons"), "{refused}");
    let mut third = stage.command(&changed, &["run"]);
    third.env("SEAMRIPPER_QUILT__FRACTION_MIN", "0.75");
    let mut third = Process::begin(third, &stage.ground);
    assert_eq!(third.ended().code(), Some(1), "{}", third.log());
    assert!(third.log().contains("settings are changed already"), "{}", third.log());
    let refused = stage.refused(&changed, &["run", "--role", "store"]);
    assert!(refused.contains("--role all"), "{refused}");

    // Two hours have passed since the last document before the change.
    stage.feed(2.6, stage.made(&mut made, 10));
    assert!(stage.drain(&changed).contains(SUCCEEDED));
    stage.feed(2.7, [stage.copies(0..7, 3), stage.made(&mut made, 60)].concat());
    let said = stage.drain(&changed);
    assert!(said.contains("`previous` is needed no more"), "{said}");
    stage.are_mirrors(0..5, 3..4, 1);
    stage.are_mirrors(6..7, 3..4, 0);
    let published = stage.verdicts();
    let of = |id: &str| published.values().find(|verdict| verdict.id == id && verdict.revision == 0).unwrap();
    assert!(of(&id(5, 3)).mirror.is_none(), "it would have been forgotten");
    for (campaign, number) in [(1, 1), (1, 3)] {
        let carried = &of(&id(campaign, number)).labels;
        assert_eq!(carried.iter().map(|one| one.of.clone()).collect::<Vec<_>>(), [id(1, 0)], "{carried:?}");
    }
    let hours = stage.ground.settings.store.ttl_hours;
    let heirs_max = stage.ground.settings.succession.heirs_max;
    assert_eq!(stage.epochs(), [Origin::Empty, Origin::Beside { hours, heirs_max }, Origin::Succeeded]);
    let n = 6 + 60 + 6 + 60 + 40 + 10 + 7 + 60;
    stage.audited(&changed, n);
    is_naive(&stage, [&stage.settings(&ONE), &stage.settings(&two)], &published);
    is_replayed(&stage, &changed, n);

    // What was judged under the former secret cannot be audited without it; judging goes on.
    let refused = stage.refused(&two, &["audit"]);
    assert!(refused.contains("`previous`"), "{refused}");
    stage.feed(2.8, stage.copies(0..1, 4));
    stage.drain(&two);
    stage.are_mirrors(0..1, 4..5, 1);
    let schema = crate::schemas::Schema::named("journal");
    entries(&stage.ground).iter().for_each(|entry| schema.check("an entry", &serde_json::to_value(entry).unwrap()));
}

/// A replay follows both turns: what was published comes out again, and beside it a third scheme judges everything.
fn is_replayed(stage: &Stage, force: &Force, n: usize) {
    let mut command = stage.command(force, &["replay"]);
    let output = command.env("SEAMRIPPER_MIRROR__COSINE_MIN", "0.99").output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{stderr}");
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(told["journal"]["n_entries_different"], 0, "{stderr}");
    assert_eq!((&told["journal"]["began"]["with"], &told["n_documents"]), (&"all".into(), &n.into()), "{stderr}");
    assert_eq!(told["settings"].as_array().unwrap().len(), 1, "the secret is that of the end: {stderr}");
}

/// The same on Kafka, in short: the elder decides, then the other, and nothing is missed, lost or repeated.
#[test]
fn a_secret_changes_without_a_gap_on_kafka() {
    let stage = Stage::on(hasty(crate::kafka::ground()));
    let changed = stage.after(&Force { secret: "two", ..ONE }, &ONE);
    let mut made = Made::new(33);
    stage.feed(0.0, [stage.copies(0..3, 0), stage.made(&mut made, 30)].concat());
    stage.drain(&ONE);
    stage.feed(1.0, [stage.copies(0..3, 1), stage.made(&mut made, 30)].concat());
    assert!(stage.drain(&changed).contains(BESIDE));
    stage.feed(2.6, stage.made(&mut made, 10));
    assert!(stage.drain(&changed).contains(SUCCEEDED));
    stage.feed(2.7, stage.copies(0..3, 2));
    stage.drain(&changed);
    stage.are_mirrors(0..3, 1..2, 0);
    stage.are_mirrors(0..3, 2..3, 1);
    let hours = stage.ground.settings.store.ttl_hours;
    let heirs_max = stage.ground.settings.succession.heirs_max;
    assert_eq!(stage.epochs(), [Origin::Empty, Origin::Beside { hours, heirs_max }, Origin::Succeeded]);
    stage.audited(&changed, 33 + 33 + 10 + 3);
}

/// What was published is what two stores give that know nothing of each other: one that saw everything until the succession, and one
/// that saw everything from the change on. One document after the other, on one thread.
fn is_naive(stage: &Stage, settings: [&Settings; 2], published: &BTreeMap<String, Verdict>) {
    let bus = stage.ground.open();
    let topics = &stage.ground.settings.topics;
    let mut all: HashMap<Partition, BTreeMap<i64, Record>> = HashMap::new();
    for record in [&topics.pages, &topics.emails].into_iter().flat_map(|topic| records(&*bus, topic)) {
        all.entry(record.partition.clone()).or_default().insert(record.offset, record);
    }
    let schemes = settings.map(|settings| Scheme::new(Arc::new(settings.clone())).unwrap());
    let mut filters = schemes.each_ref().map(Scheme::filter);
    let mut inlets = schemes.each_ref().map(Scheme::inlet);
    let (mut folds, mut decides) = ([true, false], 0);
    let (mut expected, mut in_overlap) = (BTreeMap::new(), Vec::new());
    for entry in entries(&stage.ground) {
        let mut keep = |by: usize, event: Event, in_overlap: &[String]| {
            if let Event::Verdict(mut verdict) = event
                && by == decides
            {
                // Its elder has revised none so often.
                if decides == 1 && verdict.revision > 0 && in_overlap.contains(&place(&verdict)) {
                    verdict.revision += settings[0].revisions.per_record_max + 1;
                }
                expected.insert(verdict_id(&verdict), (by, *verdict));
            }
        };
        match entry.what {
            What::Epoch(epoch) => match epoch.state {
                Origin::Beside { .. } => folds[1] = true,
                Origin::Succeeded => (folds[0], decides) = (false, 1),
                _ => {}
            },
            What::Seat { .. } => {}
            What::Idle(_) => {
                for (by, filter) in filters.iter_mut().enumerate().filter(|(by, _)| folds[*by]) {
                    filter.settle_revisions(|event| keep(by, event, &in_overlap));
                }
            }
            What::Batch(batch) => {
                for Range { partition, from, to } in batch.ranges {
                    for record in all[&partition].range(from..=to).map(|(_, record)| record) {
                        for by in [0, 1].into_iter().filter(|by| folds[*by]) {
                            let Fate::Document(arrival) = inlets[by].take(record.clone()).fate else {
                                panic!("made documents can be read")
                            };
                            filters[by].fold(&[*arrival], 1, |event| keep(by, event, &in_overlap));
                        }
                        if folds == [true, true] {
                            in_overlap.push(format!("{}/{}/{}", partition.topic, partition.number, record.offset));
                        }
                    }
                }
            }
        }
    }
    assert_eq!(published.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
    let n_by = |wanted: usize| expected.values().filter(|(by, _)| *by == wanted).count();
    assert!(n_by(0) > 100 && n_by(1) > 60);
    for (id, verdict) in published {
        let (by, expected) = &expected[id];
        let bare = |verdict: &Verdict| {
            let mut bare = Verdict { labels: Vec::new(), ..verdict.clone() };
            // Clusters are named after the position at which they began, which goes on from the elder's.
            if *by == 1 {
                bare.cluster = bare.cluster.map(|_| String::new());
                bare.template.iter_mut().for_each(|template| template.cluster.clear());
            }
            bare
        };
        assert_eq!(bare(verdict), bare(expected), "{id}");
    }
}

fn place(verdict: &Verdict) -> String {
    let source = &verdict.source;
    format!("{}/{}/{}", source.topic, source.partition, source.offset)
}

/// Another lexicon, with a standby: the holder is killed in the overlap, then the standby; nothing is lost or repeated.
#[test]
fn a_lexicon_changes_while_instances_are_killed() {
    let stage = Stage::new();
    let changed = stage.after(&Force { mail_lexicon: Some("english-web"), ..ONE }, &ONE);
    let mut made = Made::new(32);
    stage.feed(0.0, [stage.copies(0..3, 0), stage.made(&mut made, 40)].concat());
    stage.drain(&ONE);
    let bus = stage.ground.open();
    let mut holder = stage.start(&changed, &["run"]);
    holder.says(BESIDE);
    let mut standby = stage.start(&changed, &["run"]);
    stage.feed_to(&holder, 0.5, [stage.copies(0..3, 1), stage.made(&mut made, 60)].concat());
    super::judged(&*bus, &stage.ground, 106);
    holder.says("snapshot written");
    holder.kill();
    standby.says(BESIDE);
    let mut feeder = bus.feeder().unwrap();
    feeder.append(stage.made(&mut made, 60)).unwrap();
    super::judged(&*bus, &stage.ground, 166);
    standby.kill();
    stage.feed(1.0, [stage.copies(0..3, 2), stage.made(&mut made, 60)].concat());
    stage.drain(&changed);
    stage.are_mirrors(0..3, 1..3, 0);
    // The succession itself is cut off, on either side of its commit.
    stage.feed(2.6, stage.made(&mut made, 30));
    for fault in ["before_commit:2", "after_commit:1"] {
        let mut command = stage.command(&changed, &["run", "--until-idle", "0.7"]);
        command.env("SEAMRIPPER_FAULT", fault);
        let mut cut = Process::begin(command, &stage.ground);
        assert!(!cut.ended().success(), "{fault}: {}", cut.log());
    }
    stage.drain(&changed);
    stage.feed(2.7, stage.copies(0..3, 3));
    stage.drain(&changed);
    stage.are_mirrors(0..3, 3..4, 1);
    assert_eq!(stage.epochs().last(), Some(&Origin::Succeeded));
    stage.audited(&changed, 43 + 63 + 60 + 63 + 30 + 3);
}

/// Back to the former settings: what was begun beside is dropped, and the change can be made again.
#[test]
fn a_change_can_be_taken_back() {
    let stage = Stage::new();
    let two = Force { secret: "two", ..ONE };
    stage.feed(0.0, stage.copies(0..3, 0));
    stage.drain(&ONE);
    let (forward, back) = (stage.after(&two, &ONE), stage.after(&ONE, &two));
    stage.feed(0.5, stage.copies(0..3, 1));
    stage.drain(&forward);
    let refused = stage.refused(&ONE, &["run"]);
    assert!(refused.contains("`previous`"), "{refused}");
    stage.feed(1.0, stage.copies(0..3, 2));
    let said = stage.drain(&back);
    assert!(said.contains("is dropped"), "{said}");
    stage.drain(&ONE);
    stage.feed(2.0, stage.copies(0..3, 3));
    stage.drain(&forward);
    stage.are_mirrors(0..3, 1..4, 0);
    let named: Vec<String> = stage.epochs().iter().map(|origin| format!("{origin:?}")).collect();
    let named: Vec<&str> = named.iter().map(|origin| origin.split(' ').next().unwrap()).collect();
    assert_eq!(named, ["Empty", "Beside", "Withdrawn", "Beside"]);
    stage.audited(&forward, 12);
}

/// Two stores take the memory of two, and one of them is given back, by the process that ran both.
#[test]
fn the_memory_of_the_elder_is_given_back() {
    let mut stage = Stage::new();
    stage.ground.settings.store.memory = 256 << 20;
    stage.feed(0.0, stage.copies(0..3, 0));
    stage.drain(&ONE);
    let changed = stage.after(&Force { secret: "two", ..ONE }, &ONE);
    // What may be written to. The C library sets address space aside for the heap of a thread, 64 MiB each, which nobody may.
    let virtual_bytes = |process: &Process| -> usize {
        let maps = std::fs::read_to_string(format!("/proc/{}/maps", process.id())).unwrap();
        let place = |digits: &str| usize::from_str_radix(digits, 16).unwrap();
        let writable = maps.lines().filter(|line| line.contains(" rw-p "));
        let ends = writable.map(|line| line.split_once(' ').unwrap().0.split_once('-').unwrap());
        ends.map(|(start, end)| place(end) - place(start)).sum()
    };
    let running = stage.start(&changed, &["run"]);
    running.says(BESIDE);
    stage.feed_to(&running, 1.0, stage.copies(0..3, 1));
    super::judged(&*stage.ground.open(), &stage.ground, 6);
    let both = virtual_bytes(&running);
    stage.feed_to(&running, 2.5, stage.copies(0..1, 2));
    running.says(SUCCEEDED);
    stage.feed_to(&running, 2.6, stage.copies(0..3, 3));
    super::judged(&*stage.ground.open(), &stage.ground, 10);
    let one = virtual_bytes(&running);
    println!("{} MiB with both, {} with one", both >> 20, one >> 20);
    // Some of the tables are only taken as they fill.
    assert!(both - one >= (256 << 20) * 3 / 4, "{both} and then {one}");
    stage.are_mirrors(0..3, 3..4, 1);
    drop(running);
    stage.audited(&changed, 10);
}
