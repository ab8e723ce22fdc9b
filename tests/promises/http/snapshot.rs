//! A snapshot for a standby that has none.

use super::{envelope, served};
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
