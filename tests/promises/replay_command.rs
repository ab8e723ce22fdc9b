//! `seamripper replay` says which verdicts other settings would have changed, and changes nothing.
//!
//! What it says is compared with what a run under those settings publishes of the same documents.

use crate::bus::Ground;
use crate::run::{Process, command, drain, hasty, inputs, records, toml, verdicts};
use crate::schemas::Schema;
use seamripper::config::{Secret, Settings};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::{Duration, Instant};

/// What is not published by then is not published.
const PATIENCE: Duration = Duration::from_secs(120);

/// A ground whose only order is that of its pages.
fn ordered(mut ground: Ground, change: impl FnOnce(&mut Settings)) -> Ground {
    ground.settings.topics.partitions = 1;
    change(&mut ground.settings);
    ground
}

fn ground(change: impl FnOnce(&mut Settings)) -> Ground {
    let mut ground = hasty(crate::bus::embedded::ground());
    ground.settings.bus.lease_ms = 1000;
    ordered(ground, change)
}

/// Appends the pages of a seed; how many there are.
fn feed(ground: &Ground, seed: u64, n: usize) -> usize {
    let bus = ground.prepared();
    let mut feeder = bus.feeder().unwrap();
    let mut pages = inputs(ground, seed, n);
    pages.retain(|page| *page.topic == *ground.settings.topics.pages);
    for some in pages.chunks(100) {
        feeder.append(some.to_vec()).unwrap();
    }
    pages.len()
}

/// The pages of a seed, fed and judged.
fn judged(ground: &Ground, seed: u64, n: usize) {
    feed(ground, seed, n);
    drain(ground);
}

/// The settings of a ground, changed, as a file. Secrets are not shown, so one must be told.
fn file(ground: &Ground, name: &str, secret: Option<&str>, change: impl FnOnce(&mut Settings)) -> PathBuf {
    let path = ground.folder.path().join(name);
    let mut settings = ground.settings.clone();
    change(&mut settings);
    let secret = secret.map(|secret| format!("secret = {secret:?}\n")).unwrap_or_default();
    std::fs::write(&path, secret + &toml(&settings)).unwrap();
    path
}

fn replay(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_seamripper"));
    command.arg("replay").args(arguments).current_dir(folder).output().unwrap()
}

/// What it says, to programs and to people; it must end well.
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

type Transitions = BTreeMap<(String, String), u64>;

/// What became of what.
fn transitions(was: &BTreeMap<i64, String>, is: &BTreeMap<i64, String>) -> Transitions {
    let mut transitions = BTreeMap::new();
    for (place, was) in was {
        *transitions.entry((was.clone(), is[place].clone())).or_default() += 1;
    }
    transitions
}

fn said(told: &Value) -> Transitions {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let all = told["transitions"].as_array().unwrap();
    all.iter().map(|one| ((text(&one["was"]), text(&one["is"])), one["n"].as_u64().unwrap())).collect()
}

fn n_changed(transitions: &Transitions) -> u64 {
    transitions.iter().filter(|((was, is), _)| was != is).map(|(_, n)| n).sum()
}

/// Everything that lies on the bus, and in the folders of its data.
fn state(ground: &Ground) -> (Vec<usize>, Vec<PathBuf>) {
    let bus = ground.open();
    let topics = ["pages", "labels", "verdicts", "clusters", "dead-letters", "journal", "signed"];
    let n = topics.iter().map(|topic| records(&*bus, topic).len()).collect();
    let mut files = Vec::new();
    let mut folders = vec![ground.settings.bus.folder.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files.retain(|path| !path.to_str().unwrap().contains(".sqlite-"));
    files.sort();
    (n, files)
}

/// A change: its secret, what it does, and what must be told with it.
type Case = (Option<&'static str>, Change, &'static [&'static str]);

/// What a change does to settings.
type Change = fn(&mut Settings);

#[test]
fn a_replay_says_what_a_run_under_the_new_settings_would() {
    let ground = ground(|_| ());
    judged(&ground, 41, 400);
    let label = ["--domain", "site3.example", "watched", "--why", "a test"];
    assert_eq!(crate::label_command::told(&ground, &label).len(), 1);
    judged(&ground, 42, 150);
    let before = state(&ground);
    let folder = ground.folder.path();
    let was = classes(&ground);
    file(&ground, "old.toml", None, |_| ());
    // A threshold; what signs; and what the journal cannot tell.
    let cases: [Case; 3] = [
        (None, |settings| (settings.template.size_min, settings.quilt.fraction_min) = (1000, 0.9), &[]),
        (None, |settings| (settings.grams.window, settings.template.size_min) = (3.try_into().unwrap(), 1000), &[]),
        (
            Some("another"),
            |settings| (settings.secret, settings.template.size_min) = (Secret::new("another"), 1000),
            &["--against", "old.toml"],
        ),
    ];
    for (number, (secret, change, more)) in cases.into_iter().enumerate() {
        let other = self::ground(change);
        for (seed, n) in [(41, 400), (42, 150)] {
            feed(&other, seed, n);
            let mut command = command(&other, &["run", "--until-idle", "1"], None);
            command.envs(secret.map(|secret| ("SEAMRIPPER_SECRET", secret)));
            let mut process = Process::begin(command, &other);
            assert!(process.ended().success(), "{}", process.log());
            if seed == 41 {
                crate::label_command::told(&other, &label);
            }
        }
        let path = file(&ground, "new.toml", secret, change);
        let (told, table) = told(folder, &[&["--config", path.to_str().unwrap(), "--examples", "2"], more].concat());
        let expected = transitions(&was, &classes(&other));
        assert_eq!(said(&told), expected, "case {number}\n{table}");
        let n_changed = n_changed(&expected);
        assert!(n_changed > 0, "case {number} changes something: {expected:?}");
        assert_eq!(
            (told["n_changed"].as_u64(), told["n_documents"].as_u64()),
            (Some(n_changed), Some(was.len() as u64))
        );
        assert!(table.contains(&format!("of {n_changed} another verdict")), "{table}");
        assert_eq!(told["settings"].as_array().unwrap().len(), 2, "{told}");
        let journal = &told["journal"];
        assert_eq!((&journal["began"]["with"], &journal["n_entries_different"]), (&"all".into(), &0.into()));
        let some = told["transitions"].as_array().unwrap().iter().find(|one| one["was"] != one["is"]).unwrap();
        let examples = some["examples"].as_array().unwrap();
        assert!((1..=2).contains(&examples.len()), "{some}");
        for example in examples {
            let place = example["source"]["offset"].as_i64().unwrap();
            assert_eq!(was[&place], some["was"].as_str().unwrap());
            assert!(table.contains(example["id"].as_str().unwrap()), "{table}");
            let is_figure = |side: &str| example[side]["figures"]["resemblance"].is_number();
            assert!(is_figure("is") && is_figure("was"), "{example}");
        }
        assert!(!told["settings"].to_string().contains("another\""), "{told}");
    }
    let same = file(&ground, "new.toml", None, |settings| settings.batch.wait_ms = 3);
    let (told, table) = told(folder, &["--config", same.to_str().unwrap()]);
    assert_eq!((told["n_changed"].as_u64(), told["n_other_original"].as_u64()), (Some(0), Some(0)), "{told}");
    assert!(table.contains("changes no setting that decides verdicts"), "{table}");
    assert_eq!(state(&ground), before, "nothing was published, and no state is another");
}

/// The story on any bus, beside a run that goes on.
fn a_replay_disturbs_no_run(ground: &Ground, other: &Ground, change: fn(&mut Settings)) {
    let run = Process::start(ground, &["run"], None);
    let n = feed(ground, 49, 250);
    judged(other, 49, 250);
    let is = classes(other);
    crate::run::judged(&*ground.open(), ground, n);
    let path = file(ground, "new.toml", None, change);
    let (told, table) = told(ground.folder.path(), &["--config", path.to_str().unwrap()]);
    // What waits to be looked at again is decided by the run when it rests.
    let begun = Instant::now();
    while said(&told) != transitions(&classes(ground), &is) {
        assert!(begun.elapsed() < PATIENCE, "{table}\n{:?}", transitions(&classes(ground), &is));
    }
    assert!(n_changed(&said(&told)) > 0, "{told}");
    // The run holds its seat, judges on, and nothing is published twice.
    let more = feed(ground, 50, 60);
    crate::run::judged(&*ground.open(), ground, n + more);
    assert!(!run.log().contains("another instance"), "{}", run.log());
    drop(run);
    crate::run::audited(ground, n + more);
}

fn stricter(settings: &mut Settings) {
    (settings.template.size_min, settings.quilt.fraction_min) = (1000, 0.9);
}

#[test]
fn a_replay_beside_a_run_disturbs_it_not() {
    a_replay_disturbs_no_run(&ground(|_| ()), &ground(stricter), stricter);
}

#[test]
fn a_journal_on_kafka_is_replayed_too() {
    let ground = ordered(hasty(crate::kafka::ground()), |_| ());
    a_replay_disturbs_no_run(&ground, &self::ground(stricter), stricter);
}

#[test]
fn a_snapshot_that_cannot_be_used_makes_both_begin_empty() {
    let ground = ground(|settings| settings.snapshot.kept = 1.try_into().unwrap());
    judged(&ground, 43, 300);
    judged(&ground, 44, 200);
    let folder = ground.folder.path();
    // Judged, and then killed: the journal has what no snapshot has yet.
    let n_before = crate::run::n_judged(&verdicts(&*ground.open(), &ground));
    let later = file(&ground, "later.toml", None, |settings| settings.snapshot.every_s = 3600);
    let mut run = std::process::Command::new(env!("CARGO_BIN_EXE_seamripper"));
    run.arg("run").arg("-c").arg(later).current_dir(folder);
    let mut process = Process::begin(run, &ground);
    let n = feed(&ground, 45, 150);
    crate::run::judged(&*ground.open(), &ground, n_before + n);
    process.kill();
    let cases: [(Change, &str); 2] = [
        (|settings| settings.mirror.resemblance_min = 0.9, "snapshot"),
        (|settings| settings.store.memory = 32 << 20, "nothing"),
    ];
    for (change, with) in cases {
        let path = file(&ground, "new.toml", None, change);
        let (told, table) = told(folder, &["--config", path.to_str().unwrap()]);
        let began = &told["journal"]["began"];
        assert_eq!(began["with"], with, "{told}");
        assert_eq!(began["n_records_before"].as_u64(), Some(n_before as u64), "{told}");
        assert_eq!(told["n_documents"].as_u64(), Some(n as u64), "{told}");
        assert!(table.contains(&format!("not replayed: {n_before} records before it")), "{table}");
        if with == "nothing" {
            assert!(table.contains("store.memory (it was "), "{table}");
            assert_eq!(told["n_changed"].as_u64(), Some(0), "a larger store alone says the same: {told}");
        }
    }
}

/// A store that judges what signers have signed is replayed from what they signed, or from the inputs.
#[test]
fn what_signers_signed_is_replayed_too() {
    let ground = ground(|_| ());
    let n = feed(&ground, 46, 200);
    for role in ["sign", "store"] {
        let mut process = Process::start(&ground, &["run", "--role", role, "--until-idle", "1"], None);
        assert!(process.ended().success(), "{}", process.log());
    }
    let was = classes(&ground);
    assert_eq!(was.len(), n);
    let cases: [fn(&mut Settings); 2] =
        [|settings| settings.quilt.fraction_min = 0.7, |settings| settings.grams.window = 3.try_into().unwrap()];
    for change in cases {
        let other = self::ground(change);
        judged(&other, 46, 200);
        let path = file(&ground, "new.toml", None, change);
        let (told, table) = told(ground.folder.path(), &["--config", path.to_str().unwrap()]);
        assert_eq!(said(&told), transitions(&was, &classes(&other)), "{table}");
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
    let arguments = ["pages.jsonl", "--config", "new.toml", "--against", "old.toml"];
    for change in
        ["quilt.fraction_min = 0.9\ntemplate.size_min = 1000\n", "grams.window = 3\ntemplate.size_min = 1000\n"]
    {
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
        let (told, _) = told(folder.path(), &arguments);
        assert_eq!(said(&told), expected, "{change}");
        assert!(told["n_changed"].as_u64().unwrap() > 0, "{told}");
        assert_eq!(told["files"]["paths"][0], "pages.jsonl");
    }
    // Held short, every document is still counted once.
    let (whole, short) =
        (told(folder.path(), &arguments).0, told(folder.path(), &[&arguments[..], &["--held", "5"]].concat()).0);
    assert_eq!(whole["n_documents"], short["n_documents"]);
    assert_eq!((whole["n_late"]["was"].as_u64(), whole["n_late"]["is"].as_u64()), (Some(0), Some(0)));
    let report = replay(folder.path(), &[&arguments[..], &["--report", "--quiet"]].concat());
    let text = String::from_utf8(report.stdout).unwrap();
    assert!(text.contains("another verdict") && report.stderr.is_empty(), "{text}");
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
    let path = file(&ground, "new.toml", None, |settings| settings.mirror.resemblance_min = 7.0);
    refused(&["--config", path.to_str().unwrap()], 2, "mirror.resemblance_min");
    let path = file(&ground, "new.toml", Some("another"), |_| ());
    let path = path.to_str().unwrap();
    refused(&["--config", path, "--held", "0"], 2, "--held");
    refused(&["--config", path], 1, "there is no bus");
    ground.prepared();
    refused(&["--config", path], 1, "the journal is empty");
    judged(&ground, 48, 40);
    refused(&["--config", path], 2, "--against");
}

#[test]
fn the_example_of_a_replay_is_valid() {
    let examples = crate::schemas::examples("replay");
    assert!(!examples.is_empty());
    for (name, example) in examples {
        Schema::named("replay").check(&name, &example);
    }
}
