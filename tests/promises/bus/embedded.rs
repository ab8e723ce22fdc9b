//! The suite on the embedded bus, and what it alone promises: a file that says so when it was damaged.

use super::{Ground, all, beginning, next, outgoing, take, text};
use seamripper::bus::{self, BusError, Extent, Outgoing, Partition, Positions, Record};
use seamripper::config::{BusKind, Settings};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A file in a folder of its own.
pub(crate) fn ground() -> Ground {
    let folder = tempfile::tempdir().unwrap();
    let mut settings = Settings::default();
    settings.bus.kind = BusKind::Embedded;
    settings.bus.folder = folder.path().join("data");
    settings.bus.lease_ms = 400;
    Ground { settings, silence: Duration::from_millis(400), folder }
}

super::suite!(ground);

/// Tells a process of this test binary in which folder to feed, and what its records begin with.
const FEED: &str = "SEAMRIPPER_TEST_FEED";

/// Not a test by itself: the process that other tests start.
#[test]
fn a_feeding_process() {
    let Ok(told) = std::env::var(FEED) else { return };
    let (name, folder) = told.split_once(' ').unwrap();
    let mut settings = Settings::default();
    settings.bus.folder = folder.into();
    let bus = bus::open(&settings).unwrap();
    let mut feeder = bus.feeder().unwrap();
    for batch in 0.. {
        if name != "endless" && batch == 20 {
            return;
        }
        feeder.append((0..10).map(|n| outgoing("pages", n % 4, "", &format!("{name} {batch} {n}"))).collect()).unwrap();
        println!("fed {batch}");
    }
}

/// Another process that feeds.
fn feeding(name: &str, ground: &Ground) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "bus::embedded::a_feeding_process", "--nocapture"])
        .env(FEED, format!("{name} {}", ground.settings.bus.folder.display()))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
fn several_processes_share_the_file() {
    let ground = ground();
    let bus = ground.prepared();
    let mut processes = ["one", "two"].map(|name| feeding(name, &ground));
    let mut reader = bus.reader(&beginning(&*bus, "pages")).unwrap();
    let mut values: Vec<String> = next(&mut *reader, 400).iter().map(text).collect();
    for process in &mut processes {
        assert!(process.wait().unwrap().success());
    }
    values.sort();
    let names = ["one", "two"].into_iter();
    let mut wanted: Vec<String> =
        names.flat_map(|name| (0..200).map(move |n| format!("{name} {} {}", n / 10, n % 10))).collect();
    wanted.sort();
    assert_eq!(values, wanted);
}

#[test]
fn a_killed_process_leaves_whole_commits() {
    let ground = ground();
    let bus = ground.prepared();
    for _ in 0..3 {
        let mut process = feeding("endless", &ground);
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        lines.by_ref().map(Result::unwrap).find(|line| line.starts_with("fed 7")).unwrap();
        process.kill().unwrap();
        process.wait().unwrap();
    }
    // The file is as it was after some commit: what is read is whole, and another process goes on.
    let ends: i64 = (0..4).map(|n| bus.extent(&Partition::new("pages", n)).unwrap().end).sum();
    assert!(ends >= 240 && ends % 10 == 0, "{ends} records");
    assert_eq!(all(&*ground.open(), "pages", ends as usize).len(), ends as usize);
}

#[test]
fn the_file_is_for_its_owner() {
    let ground = ground();
    let bus = ground.prepared();
    // The log is there for as long as somebody has the file open.
    let mut feeder = bus.feeder().unwrap();
    feeder.append(vec![outgoing("pages", 0, "", "mine")]).unwrap();
    for name in ["bus.sqlite", "bus.sqlite-wal", "bus.tail"] {
        let mode = std::fs::metadata(ground.settings.bus.folder.join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

#[test]
fn names_are_only_data() {
    let mut ground = ground();
    let topics = &mut ground.settings.topics;
    topics.pages = "Pages".into();
    topics.emails = "pages".into();
    topics.labels = "x\"; DROP TABLE topics; --'".into();
    topics.verdicts = "verdict".into();
    topics.signed = "sqlite_master".into();
    let bus = ground.prepared();
    let topics = &ground.settings.topics;
    let names = [&topics.pages, &topics.emails, &topics.labels, &topics.verdicts, &topics.signed];
    for name in names {
        bus.feeder().unwrap().append(vec![outgoing(name, 1, "", name)]).unwrap();
    }
    let again = ground.prepared();
    for name in names {
        assert_eq!(text(&all(&*again, name, 1)[0]), **name);
    }
}

#[test]
fn verdicts_can_be_queried() {
    let ground = ground();
    let bus = ground.prepared();
    let example = include_str!("../../../schemas/examples/verdict-mail.json");
    let verdicts = [
        r#"{"id":"a","kind":"page","url":"http://a.example/","outcome":"judged","revision":0,"classes":[]}"#,
        r#"{"id":"b","kind":"page","outcome":"judged","revision":0,"classes":["mirror"],"mirror":{"of":"a","size":2}}"#,
        r#"{"id":"c","kind":"email","outcome":"judged","revision":1,"classes":["mirror"],"mirror":{"of":"a","size":3}}"#,
        r#"{"id":"d","kind":"page","outcome":"judged","revision":0,"classes":["mirror","template"],"cluster":"t-1"}"#,
        r#"{"id":"e","kind":null,"outcome":"rejected","revision":0,"classes":[]}"#,
        "no json at all",
        example,
    ];
    let mut records: Vec<Outgoing> = verdicts.iter().map(|verdict| outgoing("verdicts", 0, "", verdict)).collect();
    records.push(Outgoing { value: None, ..outgoing("verdicts", 0, "a", "") });
    bus.feeder().unwrap().append(records).unwrap();
    // As any tool would.
    let file = rusqlite::Connection::open(ground.settings.bus.folder.join("bus.sqlite")).unwrap();
    let rows = |sql: &str| -> Vec<(String, i64)> {
        let mut statement = file.prepare(sql).unwrap();
        statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect()
    };
    let counts = rows("SELECT class, count(*) FROM verdict WHERE length(id) = 1 GROUP BY class ORDER BY class");
    let wanted = [("", 1), ("mirror", 2), ("mirror+template", 1), ("original", 1)];
    assert_eq!(counts, wanted.map(|(class, n)| (class.to_string(), n)));
    assert_eq!(rows(r#"SELECT "group", max(size) FROM verdict WHERE "group" = 'a'"#), [("a".to_string(), 3)]);
    assert_eq!(
        rows("SELECT url, revision FROM verdict WHERE kind = 'page' LIMIT 1"),
        [("http://a.example/".into(), 0)]
    );
    let ages =
        rows("SELECT time, strftime('%s', 'now') - strftime('%s', time) FROM verdict WHERE outcome = 'rejected'");
    assert!((0..600).contains(&ages[0].1), "{ages:?}");
    let example: serde_json::Value = serde_json::from_str(example).unwrap();
    let id = example["id"].as_str().unwrap();
    let of_example = file.query_row("SELECT outcome FROM verdict WHERE id = ?1", [id], |row| row.get::<_, String>(0));
    assert_eq!(of_example.unwrap(), example["outcome"].as_str().unwrap());
}

/// All that can be read, topic by topic.
fn contents(settings: &Settings) -> Result<Vec<(Extent, Vec<Record>)>, BusError> {
    let bus = bus::open(settings)?;
    bus.prepare()?;
    let mut contents = Vec::new();
    for topic in ["pages", "emails", "verdicts", "journal"] {
        for number in 0..bus.n_partitions(topic)? {
            let partition = Partition::new(topic, number);
            let extent = bus.extent(&partition)?;
            let from = if topic == "pages" { 2 } else { 0 };
            let mut reader = bus.reader(&Positions([(partition, from)].into()))?;
            contents.push((extent, reader.poll(usize::MAX, usize::MAX, Duration::ZERO)?));
        }
    }
    Ok(contents)
}

/// A bus with something of everything. The folder `closed` has it at rest, `live` as a power cut would leave it.
fn two_copies(ground: &Ground) -> [PathBuf; 2] {
    let bus = ground.prepared();
    let folders = ["closed", "live"].map(|name| ground.folder.path().join(name));
    let copy = |to: &Path, names: &[&str]| {
        std::fs::create_dir_all(to).unwrap();
        for name in names {
            std::fs::copy(ground.settings.bus.folder.join(name), to.join(name)).unwrap();
        }
    };
    let feed = |round: usize| {
        let value = |n: usize| format!("{round} {n} ").repeat(1 + n * n * 3);
        let record = |n: usize| {
            let headers = vec![("url".into(), vec![7; n % 40])];
            Outgoing {
                headers,
                ..outgoing(if n.is_multiple_of(3) { "emails" } else { "pages" }, n as i32 % 4, "key", &value(n))
            }
        };
        bus.feeder().unwrap().append((0..48).map(record).collect()).unwrap();
        let mut seat = bus.seat().unwrap();
        take(&mut [&mut seat]);
        let outputs: Vec<Outgoing> = (0..60).map(|n| outgoing("verdicts", n % 4, "", &value(n as usize % 9))).collect();
        let positions = Positions([(Partition::new("pages", 0), 1)].into());
        seat.publish(&outputs, &outgoing("journal", 0, "", "ranges"), &positions).unwrap();
        seat.leave();
    };
    feed(0);
    (0..4).for_each(|number| bus.trim(&Partition::new("pages", number), 2).unwrap());
    let file = rusqlite::Connection::open(ground.settings.bus.folder.join("bus.sqlite")).unwrap();
    file.query_row("PRAGMA wal_checkpoint(truncate)", [], |_| Ok(())).unwrap();
    copy(&folders[0], &["bus.sqlite", "bus.tail"]);
    feed(1);
    copy(&folders[1], &["bus.sqlite", "bus.sqlite-wal", "bus.tail"]);
    folders
}

#[test]
fn flipped_bytes_do_not_pass() {
    let ground = ground();
    let folders = two_copies(&ground);
    let scratch = ground.folder.path().join("scratch");
    let read = |from: &Path, flip: Option<(&str, u64)>| {
        std::fs::create_dir_all(&scratch).unwrap();
        for file in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
            std::fs::copy(file.path(), scratch.join(file.file_name())).unwrap();
        }
        if let Some((name, random)) = flip {
            let mut bytes = std::fs::read(scratch.join(name)).unwrap();
            let place = (random >> 8) as usize % bytes.len();
            bytes[place] ^= (random as u8).max(1);
            std::fs::write(scratch.join(name), bytes).unwrap();
        }
        let mut settings = ground.settings.clone();
        settings.bus.folder = scratch.clone();
        let outcome = contents(&settings);
        std::fs::remove_dir_all(&scratch).unwrap();
        outcome
    };
    let whole = folders.each_ref().map(|folder| read(folder, None).unwrap());
    assert!(whole[0].len() == 13 && whole[1] != whole[0]);
    let (mut state, mut n_noticed, mut n_same) = (20_260u64, 0, 0);
    for round in 0..300 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (copy, name) = [(0, "bus.sqlite"), (1, "bus.sqlite"), (1, "bus.sqlite-wal")][round % 3];
        match read(&folders[copy], Some((name, state >> 16))) {
            Ok(contents) => {
                assert!(contents == whole[copy], "round {round}: a flipped byte of {name} has changed what is read");
                n_same += 1;
            }
            Err(_) => n_noticed += 1,
        }
    }
    println!("{n_noticed} flips were noticed, {n_same} changed nothing");
    assert!(n_noticed > 30, "{n_noticed} of 300 flips were noticed: do these hit anything?");
}

#[test]
fn a_lost_end_is_noticed() {
    let ground = ground();
    let [_, live] = two_copies(&ground);
    let mut settings = ground.settings.clone();
    settings.bus.folder = live.clone();
    std::fs::remove_file(live.join("bus.sqlite-wal")).unwrap();
    match bus::open(&settings).map(|_| ()) {
        Err(BusError::Damaged { what, .. }) => assert!(what.contains("commits are missing"), "{what}"),
        other => panic!("{other:?}"),
    }
    std::fs::remove_file(live.join("bus.tail")).unwrap();
    assert_eq!(contents(&settings).unwrap().len(), 13);
}
