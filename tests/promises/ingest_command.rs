//! `seamripper ingest` sends what `scan` reads, once, whatever cuts it off.

use crate::bus::{Ground, embedded};
use crate::http::{PATIENCE, page, served};
use crate::run::{Process, command, drain, hasty, records};
use seamripper::bus::{Bus, Partition};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

fn ground() -> Ground {
    let mut ground = hasty(embedded::ground());
    ground.settings.bus.lease_ms = 1000;
    ground
}

/// What `ingest --json ARGUMENTS` says, and its exit code.
fn ingest(ground: &Ground, arguments: &[&str]) -> (Value, i32, String) {
    let output = command(ground, &[&["ingest", "--json"], arguments].concat(), None).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let summary = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {stderr}"));
    (summary, output.status.code().unwrap(), stderr)
}

/// How many records the topic has had.
fn n_records(bus: &dyn Bus, topic: &str) -> i64 {
    let n = bus.n_partitions(topic).unwrap();
    (0..n).map(|number| bus.extent(&Partition::new(topic, number)).unwrap().end).sum()
}

fn demo(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("demo/corpus").join(file)
}

/// The last verdict of each document, without where its record was.
fn last(verdicts: impl Iterator<Item = Value>) -> BTreeMap<String, Value> {
    let mut last = BTreeMap::new();
    for mut verdict in verdicts {
        let object = verdict.as_object_mut().unwrap();
        object.remove("source");
        last.insert(verdict["id"].as_str().unwrap().to_owned(), verdict);
    }
    // Clusters are named after the records of their first pages: here they are numbered.
    let mut clusters = BTreeMap::new();
    for verdict in last.values_mut() {
        let Some(name) = verdict["cluster"].as_str().map(str::to_owned) else { continue };
        let n_clusters = clusters.len();
        let number = json!(*clusters.entry(name).or_insert(n_clusters));
        verdict["cluster"] = number.clone();
        if verdict["template"].is_object() {
            verdict["template"]["cluster"] = number;
        }
    }
    last
}

/// The same files give the same verdicts, whether they are scanned or go over the bus. Pages and mails go one after the other, since
/// two topics have no common order, and it is part of when revisions are made.
#[test]
fn what_is_ingested_is_judged_as_a_scan_judges_it() {
    let mut classes = BTreeSet::new();
    for (files, n) in [(&["pages.jsonl"][..], 284), (&["mails.mbox", "mails.jsonl"], 72)] {
        let mut ground = ground();
        // One order, as a scan has it.
        ground.settings.topics.partitions = 1;
        ground.settings.store.memory = 64 << 20;
        let files: Vec<PathBuf> = files.iter().map(|file| demo(file)).collect();
        let paths: Vec<&str> = files.iter().map(|file| file.to_str().unwrap()).collect();
        let output = command(&ground, &[&["scan", "--quiet"], &paths[..]].concat(), None).output().unwrap();
        let lines = String::from_utf8(output.stdout).unwrap();
        let scanned = last(lines.lines().map(|line| serde_json::from_str(line).unwrap()));
        let (summary, code, stderr) = ingest(&ground, &paths);
        assert_eq!((code, &summary["n_documents"]), (0, &json!(n)), "{stderr}");
        assert_eq!(summary["n_pages"].as_u64().unwrap() + summary["n_emails"].as_u64().unwrap(), n);
        drain(&ground);
        // A slow machine may have ended before it had time for the last revisions.
        drain(&ground);
        let judged = records(&*ground.open(), "verdicts").into_iter();
        let judged = last(judged.map(|record| serde_json::from_slice(record.value.as_deref().unwrap()).unwrap()));
        assert_eq!(judged.len(), scanned.len());
        for (id, verdict) in &scanned {
            assert_eq!(judged.get(id), Some(verdict), "{id}");
            classes.extend(verdict["classes"].as_array().unwrap().iter().map(Value::to_string));
        }
    }
    assert_eq!(classes.len(), 3, "all classes are among them");
}

/// Kill -9 in the middle, twice; then it goes on, and repeats at most the batch that was in flight each time.
#[test]
fn an_ingest_that_was_killed_goes_on() {
    let ground = ground();
    let bus = ground.prepared();
    let n = 30_000;
    let lines: String = (0..n).map(|n| format!("{}\n", json!({"id": format!("id{n}"), "html": page(n)}))).collect();
    let file = ground.folder.path().join("many.jsonl");
    std::fs::write(&file, lines).unwrap();
    let path = file.to_str().unwrap();
    let mut n_before = 0;
    for _ in 0..2 {
        let mut killed = Process::start(&ground, &["ingest", path], None);
        let begun = Instant::now();
        while n_records(&*bus, "pages") < n_before + 2000 {
            assert!(begun.elapsed() < PATIENCE, "{}", killed.log());
        }
        killed.kill();
        n_before = n_records(&*bus, "pages");
        assert!(n_before < n as i64, "it was killed in the middle: {n_before}");
    }
    let (summary, code, stderr) = ingest(&ground, &[path]);
    assert_eq!(code, 0, "{stderr}");
    let n_entries_before = summary["n_entries_before"].as_i64().unwrap();
    assert!(n_entries_before >= 2000, "{summary}");
    assert_eq!(n_entries_before + summary["n_documents"].as_i64().unwrap(), n as i64);
    let all = records(&*bus, "pages");
    let ids: BTreeSet<_> = all.iter().map(|record| record.key.clone()).collect();
    assert_eq!(ids.len(), n, "none is missing");
    let n_repeated = all.len() - n;
    println!("{n_repeated} of {n} were sent twice after two kills");
    assert!(n_repeated <= 2 * 1000, "{n_repeated}");
    // Once done, it is not sent again, unless one wants that or the file has changed.
    let (summary, code, _) = ingest(&ground, &[path]);
    assert_eq!((code, &summary["n_documents"], &summary["n_files_before"]), (0, &json!(0), &json!(1)));
    std::fs::write(&file, format!("{}\n", json!({"id": "new", "html": page(1)}))).unwrap();
    assert_eq!(ingest(&ground, &[path]).0["n_documents"], 1);
    assert_eq!(ingest(&ground, &[path, "--again"]).0["n_documents"], 1);
    let elsewhere = ground.folder.path().join("state");
    assert_eq!(ingest(&ground, &[path, "--resume", elsewhere.to_str().unwrap()]).0["n_documents"], 1);
    assert!(elsewhere.exists());
}

/// Ctrl-C ends it in order: what was read is durable, and it can go on.
#[test]
fn an_interrupted_ingest_says_so_and_goes_on() {
    let ground = ground();
    let bus = ground.prepared();
    let mut ingesting = command(&ground, &["ingest", "--format", "jsonl", "-"], None);
    ingesting.stdin(Stdio::piped());
    let log = ground.folder.path().join("interrupted");
    ingesting.stderr(std::fs::File::create(&log).unwrap());
    let mut child = ingesting.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // What comes through a pipe is sent as it comes.
    for number in 1..=3 {
        writeln!(stdin, "{}", json!({"id": number.to_string(), "html": page(number)})).unwrap();
        let begun = Instant::now();
        while n_records(&*bus, "pages") < number as i64 {
            assert!(begun.elapsed() < PATIENCE, "{}", std::fs::read_to_string(&log).unwrap());
            std::thread::sleep(Duration::from_millis(10));
        }
    }
    let sent = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    // Nothing more comes, and nobody closes the pipe.
    assert_eq!(child.wait().unwrap().code(), Some(1));
    drop(stdin);
    let said = std::fs::read_to_string(&log).unwrap();
    assert!(said.contains("3 documents are durable") && said.contains("interrupted"), "{said}");
}

#[test]
fn what_cannot_be_read_is_named_and_the_rest_is_sent() {
    let ground = ground();
    let folder = ground.folder.path().join("corpus");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("a.html"), page(1)).unwrap();
    std::fs::write(
        folder.join("b.jsonl"),
        format!("{}\n{{\"html\": 7}}\nnothing\n{}\n", json!({"html": page(2)}), json!({"html": page(3)})),
    )
    .unwrap();
    std::fs::write(folder.join("c.html.gz"), b"\x1f\x8b\x08\x00and that was all of it").unwrap();
    std::fs::write(folder.join("d.eml"), "Subject: x\r\n\r\nhello there\r\n").unwrap();
    let (summary, code, stderr) = ingest(&ground, &[folder.to_str().unwrap(), "missing.html"]);
    assert_eq!(
        (code, &summary["n_pages"], &summary["n_emails"], &summary["n_troubles"]),
        (1, &json!(3), &json!(1), &json!(4)),
        "{stderr}"
    );
    for named in ["b.jsonl#2: envelope: `html` must be a string", "b.jsonl#3", "c.html.gz", "missing.html"] {
        assert!(stderr.contains(named), "{named}: {stderr}");
    }
    let keys: BTreeSet<String> = records(&*ground.open(), "pages")
        .into_iter()
        .map(|record| String::from_utf8(record.key.unwrap()).unwrap())
        .collect();
    let place = |name: &str| format!("{}/{name}", folder.display());
    assert_eq!(keys, [place("a.html"), place("b.jsonl#1"), place("b.jsonl#4")].into());
}

#[test]
fn files_are_ingested_beside_a_run() {
    let served = served(|_| ());
    let (summary, code, stderr) = ingest(&served.ground, &[demo("mails.mbox").to_str().unwrap()]);
    assert_eq!(code, 0, "{stderr}");
    let n = summary["n_emails"].as_u64().unwrap() as usize;
    assert!(n > 20, "{summary}");
    let verdicts = served.first(n);
    assert!(verdicts.iter().all(|verdict| verdict["id"].as_str().unwrap().contains("mails.mbox#")));
}
