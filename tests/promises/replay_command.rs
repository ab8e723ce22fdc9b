//! `seamripper replay` says which verdicts other settings would have changed, and changes nothing.
//!
//! What it says is compared with what a run under those settings publishes of the same documents.

use crate::bus::Ground;
use crate::run::{Process, command, drain, inputs, records, verdicts};
use crate::schemas::Schema;
use seamripper::config::{Secret, Settings};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Output;

/// A ground whose only order is that of its pages.
fn ground(change: impl FnOnce(&mut Settings)) -> Ground {
    crate::http::ground(|settings| {
        settings.http.enabled = false;
        settings.topics.partitions = 1;
        change(settings);
    })
}

/// The pages of a seed, fed and judged, in a few batches.
fn judged(ground: &Ground, seed: u64, n: usize) {
    let bus = ground.prepared();
    let mut feeder = bus.feeder().unwrap();
    let mut pages = inputs(ground, seed, n);
    pages.retain(|page| *page.topic == *ground.settings.topics.pages);
    for some in pages.chunks(100) {
        feeder.append(some.to_vec()).unwrap();
    }
    drain(ground);
}

/// The settings of a ground, changed, as a file.
fn changed(ground: &Ground, change: &str) -> PathBuf {
    let path = ground.folder.path().join("new.toml");
    let folder = &ground.settings.bus.folder;
    let Settings { store, bus, batch, revisions, .. } = &ground.settings;
    let own = format!(
        "bus.folder = {folder:?}\nbus.lease_ms = {}\nstore.memory = {}\nbatch.documents_max = {}\nrevisions.queue_max = {}\n{change}\n",
        bus.lease_ms, store.memory, batch.documents_max, revisions.queue_max
    );
    let dotted = own.lines().filter(|line| !line.trim().is_empty()).map(|line| format!("{line}\n"));
    std::fs::write(&path, dotted.collect::<String>()).unwrap();
    path
}

fn replay(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_seamripper"));
    command.arg("replay").args(arguments).current_dir(folder).output().unwrap()
}

/// What it says; it must end well.
fn told(folder: &Path, arguments: &[&str]) -> (Value, String) {
    let output = replay(folder, arguments);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{stderr}");
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    Schema::named("replay").check("a replay", &told);
    (told, stderr)
}

/// The classes of every document in the end, by its place.
fn classes(ground: &Ground) -> BTreeMap<i64, String> {
    let mut all: Vec<_> = verdicts(&*ground.open(), ground).into_values().collect();
    all.sort_by_key(|verdict| verdict.revision);
    all.iter()
        .map(|verdict| (verdict.source.offset, seamripper::pipeline::run::outputs::classes(verdict).replace(',', "+")))
        .collect()
}

/// What became of what.
fn transitions(was: &BTreeMap<i64, String>, is: &BTreeMap<i64, String>) -> BTreeMap<(String, String), u64> {
    let mut transitions = BTreeMap::new();
    for (place, was) in was {
        *transitions.entry((was.clone(), is[place].clone())).or_default() += 1;
    }
    transitions
}

fn said(told: &Value) -> BTreeMap<(String, String), u64> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let all = told["transitions"].as_array().unwrap();
    all.iter().map(|one| ((text(&one["was"]), text(&one["is"])), one["n"].as_u64().unwrap())).collect()
}

/// Everything that lies on the bus, and in the folder of snapshots.
fn state(ground: &Ground) -> (Vec<usize>, Vec<PathBuf>) {
    let bus = ground.open();
    let topics = ["pages", "labels", "verdicts", "clusters", "dead-letters", "journal", "signed"];
    let n = topics.iter().map(|topic| records(&*bus, topic).len()).collect();
    let folder = std::fs::read_dir(ground.settings.bus.folder.join("snapshots")).unwrap();
    let mut files: Vec<PathBuf> = folder.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    (n, files)
}

#[test]
fn a_replay_says_what_a_run_under_the_new_settings_would() {
    let ground = ground(|_| ());
    judged(&ground, 41, 500);
    let label = crate::label_command::told(&ground, &["--domain", "site3.example", "watched", "--why", "a test"]);
    assert_eq!(label.len(), 1);
    judged(&ground, 42, 200);
    let before = state(&ground);
    let folder = ground.folder.path();
    let was = classes(&ground);
    let cases: [(&str, fn(&mut Settings), &[&str]); 3] = [
        // A threshold; what signs; and what cannot be told from the journal.
        (
            "mirror.resemblance_min = 0.85\nquilt.fraction_min = 0.7",
            |settings| {
                settings.mirror.resemblance_min = 0.85;
                settings.quilt.fraction_min = 0.7;
            },
            &[],
        ),
        (
            "grams.window = 3\nstore.memory = 33554432",
            |settings| {
                settings.grams.window = 3.try_into().unwrap();
                settings.store.memory = 32 << 20;
            },
            &[],
        ),
        (
            "secret = \"another\"\ntemplate.size_min = 3",
            |settings| {
                settings.secret = Secret::new("another");
                settings.template.size_min = 3;
            },
            &["--against", "old.toml"],
        ),
    ];
    let old = changed(&ground, "");
    std::fs::rename(old, folder.join("old.toml")).unwrap();
    for (change, apply, more) in cases {
        let other = self::ground(apply);
        judged_with_secret(&other, &[(41, 500), (42, 200)], change);
        let path = changed(&ground, change);
        let path = path.to_str().unwrap();
        let (told, table) = told(folder, &[&["--config", path, "--examples", "2"], more].concat());
        let expected = transitions(&was, &classes(&other));
        assert_eq!(said(&told), expected, "{change}\n{table}");
        let n_changed: u64 = expected.iter().filter(|((was, is), _)| was != is).map(|(_, n)| n).sum();
        assert!(n_changed > 0, "{change} changes something: {expected:?}");
        assert_eq!(
            (told["n_changed"].as_u64(), told["n_documents"].as_u64()),
            (Some(n_changed), Some(was.len() as u64))
        );
        assert!(table.contains(&format!("of {n_changed} another verdict")), "{table}");
        assert_eq!(told["settings"].as_array().unwrap().len(), 2, "{told}");
        assert_eq!(
            (&told["journal"]["began"]["with"], &told["journal"]["n_entries_different"]),
            (&"all".into(), &0.into())
        );
        let some = told["transitions"].as_array().unwrap().iter().find(|one| one["was"] != one["is"]).unwrap();
        let example = &some["examples"][0];
        let place = example["source"]["offset"].as_i64().unwrap();
        assert_eq!(
            (&was[&place], some["examples"].as_array().unwrap().len() <= 2),
            (&some["was"].as_str().unwrap().to_owned(), true)
        );
        assert!(
            example["is"]["figures"]["resemblance"].is_number() && example["was"]["figures"]["resemblance"].is_number()
        );
        assert!(!told.to_string().contains("another\"") || change.contains("secret"), "{told}");
    }
    let same = changed(&ground, "batch.wait_ms = 3");
    let (told, table) = told(
        folder,
        &["--config", same.to_str().unwrap(), "-o", "out.json"]
            .map(|argument| if argument == "out.json" { "/dev/stdout" } else { argument }),
    );
    assert_eq!((told["n_changed"].as_u64(), told["n_other_original"].as_u64()), (Some(0), Some(0)), "{told}");
    assert!(table.contains("changes no setting that decides verdicts"), "{table}");
    assert_eq!(state(&ground), before, "nothing was published, and no state is another");
}

/// Judges under settings whose secret a file must tell: secrets are not shown.
fn judged_with_secret(ground: &Ground, seeds: &[(u64, usize)], change: &str) {
    let bus = ground.prepared();
    let mut feeder = bus.feeder().unwrap();
    for (number, (seed, n)) in seeds.iter().enumerate() {
        if number == 1 {
            crate::label_command::told(ground, &["--domain", "site3.example", "watched", "--why", "a test"]);
        }
        let mut pages = inputs(ground, *seed, *n);
        pages.retain(|page| *page.topic == *ground.settings.topics.pages);
        feeder.append(pages).unwrap();
        let mut command = command(ground, &["run", "--until-idle", "1.5"], None);
        if change.contains("secret") {
            command.env("SEAMRIPPER_SECRET", "another");
        }
        let mut process = Process::begin(command, ground);
        assert!(process.ended().success(), "{}", process.log());
    }
}

#[test]
fn a_snapshot_that_cannot_be_used_makes_both_begin_empty() {
    let ground = ground(|settings| settings.snapshot.kept = 1.try_into().unwrap());
    judged(&ground, 43, 300);
    judged(&ground, 44, 200);
    let folder = ground.folder.path();
    let n = |told: &Value| told["n_documents"].as_u64().unwrap();
    // The last snapshot is all there is: of the journal nothing is left to replay but what came after.
    judged_beside(&ground, 45, 150);
    for (change, with) in [("mirror.resemblance_min = 0.9", "snapshot"), ("store.memory = 33554432", "nothing")] {
        let path = changed(&ground, change);
        let (told, table) = told(folder, &["--config", path.to_str().unwrap()]);
        assert_eq!(told["journal"]["began"]["with"], with, "{told}");
        assert!(told["journal"]["began"]["n_records_before"].as_u64().unwrap() > 300 && n(&told) > 50, "{told}");
        assert!(table.contains("were not replayed"), "{table}");
        if with == "nothing" {
            assert!(table.contains("store.memory (it was "), "{table}");
            assert_eq!(told["n_changed"].as_u64(), Some(0), "a larger store alone says the same: {told}");
        }
    }
}

/// Judged, and then killed: the journal has what no snapshot has yet.
fn judged_beside(ground: &Ground, seed: u64, n: usize) {
    let bus = ground.prepared();
    let mut pages = inputs(ground, seed, n);
    pages.retain(|page| *page.topic == *ground.settings.topics.pages);
    let n_before = verdicts(&*bus, ground).len();
    bus.feeder().unwrap().append(pages.clone()).unwrap();
    let mut own =
        Ground { settings: ground.settings.clone(), silence: ground.silence, folder: tempfile::tempdir().unwrap() };
    own.settings.snapshot.every_s = 3600;
    let mut process = Process::start(&own, &["run"], None);
    crate::run::judged(&*bus, ground, crate::run::n_judged(&verdicts(&*bus, ground)).max(pages.len()));
    while verdicts(&*bus, ground).len() < n_before + pages.len() {
        assert!(process.log().contains("seat taken") || !process.log().contains("error"), "{}", process.log());
    }
    process.kill();
}

/// A store that judges what signers have signed is replayed from what they signed, or from the inputs.
#[test]
fn what_signers_signed_is_replayed_too() {
    let ground = ground(|_| ());
    let bus = ground.prepared();
    let mut pages = inputs(&ground, 46, 200);
    pages.retain(|page| *page.topic == *ground.settings.topics.pages);
    let n = pages.len();
    bus.feeder().unwrap().append(pages).unwrap();
    let mut signer = Process::start(&ground, &["run", "--role", "sign", "--until-idle", "1"], None);
    assert!(signer.ended().success(), "{}", signer.log());
    let mut store = Process::start(&ground, &["run", "--role", "store", "--until-idle", "1"], None);
    assert!(store.ended().success(), "{}", store.log());
    let was = classes(&ground);
    assert_eq!(was.len(), n);
    let (change, apply): (&str, fn(&mut Settings)) = ("grams.window = 3\nquilt.fraction_min = 0.7", |settings| {
        settings.grams.window = 3.try_into().unwrap();
        settings.quilt.fraction_min = 0.7;
    });
    for (change, apply) in
        [(change, apply), ("quilt.fraction_min = 0.7", |settings: &mut Settings| settings.quilt.fraction_min = 0.7)]
    {
        let other = self::ground(apply);
        judged(&other, 46, 200);
        let path = changed(&ground, change);
        let (told, _) = told(ground.folder.path(), &["--config", path.to_str().unwrap()]);
        assert_eq!(said(&told), transitions(&was, &classes(&other)), "{change}");
    }
}

#[test]
fn files_are_judged_by_both_settings() {
    let folder = tempfile::tempdir().unwrap();
    let mut made = crate::made::Made::new(47);
    let lines: String = (0..400)
        .map(|_| made.record())
        .filter(|record| record.carrier.url.is_some())
        .map(|record| {
            let html = String::from_utf8_lossy(&record.body).into_owned();
            serde_json::json!({"url": record.carrier.url, "html": html}).to_string() + "\n"
        })
        .collect();
    std::fs::write(folder.path().join("pages.jsonl"), lines).unwrap();
    std::fs::write(folder.path().join("old.toml"), "store.memory = 16777216\n").unwrap();
    for change in ["mirror.resemblance_min = 0.85\n", "grams.window = 3\nquilt.fraction_min = 0.7\n"] {
        std::fs::write(folder.path().join("new.toml"), format!("store.memory = 16777216\n{change}")).unwrap();
        let scan = |config: &str| {
            let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_seamripper"));
            let output =
                command.args(["scan", "pages.jsonl", "-c", config]).current_dir(folder.path()).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            let mut classes = BTreeMap::new();
            for line in String::from_utf8(output.stdout).unwrap().lines() {
                let verdict = serde_json::from_str(line).unwrap();
                let name = seamripper::pipeline::run::outputs::classes(&verdict).replace(',', "+");
                classes.insert(verdict.source.offset, name);
            }
            classes
        };
        let expected = transitions(&scan("old.toml"), &scan("new.toml"));
        let (told, _) = told(folder.path(), &["pages.jsonl", "--config", "new.toml", "--against", "old.toml"]);
        assert_eq!(said(&told), expected, "{change}");
        assert!(told["n_changed"].as_u64().unwrap() > 0, "{told}");
        assert_eq!(told["files"]["paths"][0], "pages.jsonl");
    }
    let failed = replay(folder.path(), &["missing.jsonl", "--config", "new.toml"]);
    assert_eq!(failed.status.code(), Some(1));
}

#[test]
fn what_cannot_be_replayed_is_said() {
    let ground = ground(|_| ());
    let folder = ground.folder.path();
    let refused = |arguments: &[&str], code: i32, words: &str| {
        let output = replay(folder, arguments);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(code) && stderr.contains(words), "{:?}: {stderr}", output.status);
    };
    refused(&[], 2, "--config");
    let path = changed(&ground, "mirror.resemblance_min = 7");
    refused(&["--config", path.to_str().unwrap()], 2, "mirror.resemblance_min");
    let path = changed(&ground, "secret = \"another\"");
    let path = path.to_str().unwrap();
    refused(&["--config", path], 1, "there is no bus");
    ground.prepared();
    refused(&["--config", path], 1, "the journal is empty");
    judged(&ground, 48, 40);
    refused(&["--config", path], 2, "--against");
}
