//! On the embedded bus.

use super::{Process, hasty, promises};
use crate::bus::{Ground, embedded};
use std::time::Duration;

fn ground() -> Ground {
    let mut ground = embedded::ground();
    // Processes on a busy machine are silent for longer than threads are.
    ground.settings.bus.lease_ms = 2000;
    ground.silence = Duration::from_secs(2);
    hasty(ground)
}

promises!(ground);

/// The disk is full for longer than the bus is patient: when there is room again the run goes on by itself.
#[test]
fn a_run_goes_on_after_a_publication_that_failed() {
    let ground = ground();
    let bus = ground.prepared();
    let mut feeder = bus.feeder().unwrap();
    // The point fails once, as a bus does whose patience is over.
    let process = Process::start(&ground, &["run"], Some("publish_fails:2"));
    process.says("seat taken");
    feeder.append(super::inputs(&ground, 17, 120)).unwrap();
    process.says("the bus fails, beginning again from the snapshot");
    super::judged(&*bus, &ground, 120);
    drop(process);
    super::audited(&ground, 120);
}

/// There is nothing more to read, and what was read cannot be published at first: the run does not end before it is. There is less than
/// fills a batch, so that the publication that fails is the one that the end makes.
#[test]
fn an_idle_run_ends_with_everything_committed() {
    let mut ground = ground();
    ground.settings.batch.wait_ms = 1000;
    let bus = ground.prepared();
    bus.feeder().unwrap().append(super::inputs(&ground, 17, 40)).unwrap();
    let mut process = Process::start(&ground, &["run", "--until-idle", "0.1"], Some("publish_fails:2"));
    assert!(process.ended().success(), "{}", process.log());
    assert!(process.log().contains("the bus fails, beginning again from the snapshot"), "{}", process.log());
    super::audited(&ground, 40);
}

/// A run that is to end by itself hangs before it has published what it read, and another has its seat from then on: it ends all the
/// same, and not before that is judged.
#[test]
fn an_idle_run_that_lost_its_seat_ends_when_all_is_judged() {
    let mut ground = ground();
    ground.settings.batch.wait_ms = 12_000;
    let bus = ground.prepared();
    let mut feeder = bus.feeder().unwrap();
    let mut process = Process::start(&ground, &["run", "--until-idle", "5"], None);
    process.says("seat taken");
    feeder.append(super::inputs(&ground, 20, 40)).unwrap();
    std::thread::sleep(Duration::from_millis(500));
    super::seats::hang(&process, &mut *feeder, &ground);
    let other = Process::start(&ground, &["run"], None);
    other.says("seat taken");
    process.signal("CONT");
    process.says("another instance has taken the seat");
    assert!(process.ended().success(), "{}", process.log());
    assert_eq!(super::n_judged(&super::verdicts(&*bus, &ground)), 41, "{}", process.log());
    drop(other);
    super::audited(&ground, 41);
}

/// The folder is replaced under a run: it ends, rather than judge what nobody reads.
#[test]
fn a_file_that_is_replaced_ends_the_run() {
    let ground = ground();
    drop(ground.prepared());
    let mut process = Process::start(&ground, &["run"], None);
    process.says("seat taken");
    std::fs::rename(&ground.settings.bus.folder, ground.folder.path().join("elsewhere")).unwrap();
    drop(ground.prepared());
    assert_eq!(process.ended().code(), Some(1), "{}", process.log());
    assert!(process.log().contains("moved, deleted or replaced"), "{}", process.log());
}

/// SQLite's index of the log is deleted under a run, and another process makes a new one: they would write over each other. The
/// next commit notices, and nothing is lost.
#[test]
fn a_deleted_index_ends_the_run() {
    let ground = ground();
    let bus = ground.prepared();
    bus.feeder().unwrap().append(super::inputs(&ground, 18, 60)).unwrap();
    drop(bus);
    let mut process = Process::start(&ground, &["run"], None);
    process.says("seat taken");
    std::fs::remove_file(ground.settings.bus.folder.join("bus.sqlite-shm")).unwrap();
    std::fs::write(ground.folder.path().join("one.html"), "<p>a page that comes from elsewhere").unwrap();
    let ingested = super::command(&ground, &["ingest", "one.html"], None).output().unwrap();
    let said = String::from_utf8_lossy(&ingested.stderr).into_owned();
    assert_eq!(process.ended().code(), Some(1), "{}\n{said}", process.log());
    assert!(process.log().contains("deleted or replaced while it was in use"), "{}\n{said}", process.log());
    super::drain(&ground);
    let n_ingested = usize::from(ingested.status.success());
    super::audited(&ground, 60 + n_ingested);
}

/// The log is deleted under a run, with commits in it that are nowhere else: they are brought into the file before the run ends.
#[test]
fn a_deleted_log_is_brought_into_the_file() {
    let ground = ground();
    let bus = ground.prepared();
    let mut process = Process::start(&ground, &["run"], None);
    process.says("seat taken");
    let mut feeder = bus.feeder().unwrap();
    for some in super::inputs(&ground, 19, 120).chunks(20) {
        feeder.append(some.to_vec()).unwrap();
    }
    super::judged(&*bus, &ground, 120);
    drop((feeder, bus));
    std::fs::remove_file(ground.settings.bus.folder.join("bus.sqlite-wal")).unwrap();
    assert_eq!(process.ended().code(), Some(1), "{}", process.log());
    assert!(process.log().contains("all commits are in the file"), "{}", process.log());
    super::drain(&ground);
    super::audited(&ground, 120);
}

/// Whoever only reads makes no bus where there is none.
#[test]
fn reading_makes_no_bus() {
    let ground = ground();
    for arguments in [["tail", "--until-idle", "0.1"], ["audit", "--quiet", "--json"]] {
        let output = super::command(&ground, &arguments, None).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("there is no bus in"), "{said}");
    }
    assert!(!ground.settings.bus.folder.exists());
}

/// A store that the system has no room for ends the run at once: nobody is left who says that it is alive.
#[cfg(target_os = "linux")]
#[test]
fn a_store_without_address_space_ends_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let settings = "[http]\nlisten = \"127.0.0.1:0\"\n[store]\nmemory = 8589934592\n";
    std::fs::write(folder.path().join("large.toml"), settings).unwrap();
    let ended = assert_cmd::Command::new("sh")
        .args(["-c", "ulimit -v 4000000; exec \"$0\" run -c large.toml", env!("CARGO_BIN_EXE_seamripper")])
        .current_dir(folder.path())
        .timeout(std::time::Duration::from_secs(120))
        .assert()
        .failure();
    let output = ended.get_output();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("store.memory (8589934592) is more than there is room for"), "{said}");
    assert!(!said.contains("panicked"), "{said}");
}
