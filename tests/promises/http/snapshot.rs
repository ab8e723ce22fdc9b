//! A snapshot for a standby that has none.

use super::{envelope, served};
use crate::bus::Ground;
use crate::run::Process;
use seamripper::bus::Partition;
use seamripper::pipeline::run::snapshots::{Snapshots, load};
use std::time::{Duration, Instant};

#[test]
fn a_snapshot_travels_whole() {
    let served = served(|_| ());
    served.get_with("/v1/snapshot", &[("authorization", &served.bearer())]).problem(404, "no_snapshot");
    for number in 0..40 {
        served.post("/v1/pages", "application/json", &[], envelope(number).as_bytes());
    }
    let here = Snapshots::open(&served.ground.settings).unwrap();
    let begun = Instant::now();
    while here.kept().unwrap().is_empty() {
        assert!(begun.elapsed() < super::PATIENCE, "{}", served.process.log());
        served.post("/v1/pages", "application/json", &[], envelope(99).as_bytes());
        std::thread::sleep(Duration::from_millis(50));
    }
    // As a standby on another machine does it.
    let mut settings = served.ground.settings.clone();
    settings.bus.folder = served.ground.folder.path().join("elsewhere");
    let elsewhere = Snapshots::open(&settings).unwrap();
    elsewhere.fetch(&served.url(""), &served.token).unwrap();
    let fetched = elsewhere.kept().unwrap();
    assert_eq!(fetched.len(), 1);
    let original = here.kept().unwrap().into_iter().find(|kept| kept.journal == fetched[0].journal).unwrap();
    let (original, copy) = (std::fs::read(original.path).unwrap(), std::fs::read(&fetched[0].path).unwrap());
    assert!(original == copy && copy.len() > 1000, "{} bytes of {}", copy.len(), original.len());
    let fold = load(&fetched[0].path, &settings).unwrap();
    assert!(fold.number > 0 && fold.filter.census().n_prototypes > 0);
    assert!(elsewhere.fetch(&served.url(""), "no token").is_err());
    assert_eq!(std::fs::read_dir(elsewhere.folder()).unwrap().count(), 1, "nothing half fetched is left");
}

/// A standby with a folder of its own was away for so long that the journal is gone that goes with its snapshot: it asks for a new
/// one, and takes over with it.
#[test]
fn a_standby_that_was_away_asks_again() {
    let served = served(|settings| settings.snapshot.kept = 1.try_into().unwrap());
    let mut standby = Ground {
        settings: served.ground.settings.clone(),
        silence: served.ground.silence,
        folder: tempfile::tempdir().unwrap(),
    };
    standby.settings.snapshot.folder = standby.folder.path().join("snapshots");
    standby.settings.snapshot.holder = served.url("");
    let bus = served.ground.open();
    let journal = Partition::new(served.ground.settings.topics.journal.as_str(), 0);
    let begin = || bus.extent(&journal).unwrap().begin;
    let mut n = 0;
    for _ in 0..2 {
        let (was, begun) = (begin(), Instant::now());
        while begin() <= was {
            assert!(begun.elapsed() < super::PATIENCE, "{}", served.process.log());
            served.post("/v1/pages", "application/json", &[], envelope(n).as_bytes());
            n += 1;
            std::thread::sleep(Duration::from_millis(50));
        }
        let mut away = Process::start(&standby, &["run"], None);
        away.says("snapshot fetched");
        away.says("snapshot loaded");
        away.signal("TERM");
        assert!(away.ended().success(), "{}", away.log());
        assert_eq!(Snapshots::open(&standby.settings).unwrap().kept().unwrap().len(), 1);
    }
    let standby = Process::start(&standby, &["run"], None);
    standby.says("snapshot loaded");
    drop(served.process);
    standby.says("seat taken");
    crate::run::judged(&*bus, &served.ground, n);
}
