//! What breaks beside the process: folders that cannot be written, states that were damaged or lost.

use super::oracle::entries;
use super::{Process, audited, drain, inputs, judged, n_judged, records, verdicts};
use crate::bus::Ground;
use crate::made::Dice;
use seamripper::bus::Partition;
use seamripper::pipeline::run::journal::{Batch, Range, What};
use seamripper::pipeline::run::outputs::Outlet;
use std::path::{Path, PathBuf};

fn snapshots(ground: &Ground) -> PathBuf {
    ground.settings.bus.folder.join(&ground.settings.snapshot.folder)
}

/// The newest snapshot, all the others removed.
fn only_the_newest(folder: &Path) -> PathBuf {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "snapshot"));
    files.sort();
    let newest = files.pop().unwrap();
    files.iter().for_each(|path| std::fs::remove_file(path).unwrap());
    newest
}

/// The folder of snapshots goes while documents come: the stream goes on, and says so.
pub(super) fn a_folder_that_cannot_be_written_stops_nothing(ground: &Ground) {
    let bus = ground.prepared();
    let mut feeder = bus.feeder().unwrap();
    feeder.append(inputs(ground, 41, 100)).unwrap();
    let running = Process::start(ground, &["run"], None);
    judged(&*bus, ground, 100);
    std::fs::remove_dir_all(snapshots(ground)).unwrap();
    // Root may write anywhere, but not into a file.
    std::fs::write(snapshots(ground), "in the way").unwrap();
    feeder.append(inputs(ground, 42, 100)).unwrap();
    running.says("snapshot failed, the stream goes on without it");
    judged(&*bus, ground, 200);
    running.signal("TERM");
    let mut running = running;
    assert!(running.ended().success(), "{}", running.log());
    let mut refused = Process::start(ground, &["run", "--until-idle", "1"], None);
    assert_eq!(refused.ended().code(), Some(1));
    assert!(refused.log().contains("cannot make the folder"), "{}", refused.log());
    std::fs::remove_file(snapshots(ground)).unwrap();
    feeder.append(inputs(ground, 43, 100)).unwrap();
    drain(ground);
    audited(ground, 300);
}

/// Bytes of a snapshot are flipped, one after the other: it is refused by name and the journal followed instead, or
/// nothing differs.
pub(super) fn a_damaged_snapshot_is_refused_and_nothing_is_lost(ground: &Ground) {
    let bus = ground.prepared();
    let mut feeder = bus.feeder().unwrap();
    let (mut n, n_rounds) = (60, super::scaled(4, 100));
    feeder.append(inputs(ground, 51, n)).unwrap();
    drain(ground);
    let mut dice = Dice::new(0x00F1_1B5E);
    for round in 0..n_rounds {
        let newest = only_the_newest(&snapshots(ground));
        let mut bytes = std::fs::read(&newest).unwrap();
        let place = dice.below(bytes.len());
        bytes[place] ^= 1 << dice.below(8);
        std::fs::write(&newest, bytes).unwrap();
        feeder.append(inputs(ground, 52 + round as u64, 10)).unwrap();
        n += 10;
        let mut running = Process::start(ground, &["run", "--until-idle", "0.5"], None);
        assert!(running.ended().success(), "{}", running.log());
        assert!(running.log().contains("snapshot refused"), "byte {place}:\n{}", running.log());
    }
    audited(ground, n);
}

/// A journal whose beginning was deleted, and no snapshot: said loudly, and gone on from only when that is accepted.
pub(super) fn a_lost_state_is_said_and_accepted_by_name(ground: &Ground) {
    let bus = ground.prepared();
    let mut feeder = bus.feeder().unwrap();
    feeder.append(inputs(ground, 61, 80)).unwrap();
    drain(ground);
    feeder.append(inputs(ground, 62, 80)).unwrap();
    drain(ground);
    std::fs::remove_dir_all(snapshots(ground)).unwrap();
    let journal = Partition::new(ground.settings.topics.journal.as_str(), 0);
    let last = records(&*bus, &ground.settings.topics.journal).last().unwrap().offset;
    bus.trim(&journal, last).unwrap();
    let mut refused = Process::start(ground, &["run", "--until-idle", "1"], None);
    assert_eq!(refused.ended().code(), Some(1));
    let log = refused.log();
    assert!(log.contains("its beginning was deleted") && log.contains("--accept-loss"), "{log}");
    feeder.append(inputs(ground, 63, 80)).unwrap();
    let mut accepted = Process::start(ground, &["run", "--until-idle", "1.5", "--accept-loss"], None);
    assert!(accepted.ended().success(), "{}", accepted.log());
    assert!(accepted.log().contains("LOSS ACCEPTED"), "{}", accepted.log());
    assert_eq!(n_judged(&verdicts(&*bus, ground)), 240, "nothing is judged twice, and what is new is judged");
    // From here on there is a state again.
    feeder.append(inputs(ground, 64, 80)).unwrap();
    drain(ground);
    assert_eq!(n_judged(&verdicts(&*bus, ground)), 320);
    // Nothing at all is left: nobody knows any more what was judged, and nobody begins anew without being told to.
    std::fs::remove_dir_all(snapshots(ground)).unwrap();
    bus.trim(&journal, bus.extent(&journal).unwrap().end).unwrap();
    let mut refused = Process::start(ground, &["run", "--until-idle", "1"], None);
    assert_eq!(refused.ended().code(), Some(1));
    assert!(refused.log().contains("its beginning was deleted"), "{}", refused.log());
}

/// Inputs that were deleted before they were read.
pub(super) fn lost_inputs_are_said_and_accepted_by_name(ground: &Ground) {
    let bus = ground.prepared();
    let mut feeder = bus.feeder().unwrap();
    feeder.append(inputs(ground, 71, 80)).unwrap();
    drain(ground);
    feeder.append(inputs(ground, 72, 80)).unwrap();
    let topic = ground.settings.topics.pages.as_str();
    let mut n_lost = 0;
    for number in 0..bus.n_partitions(topic).unwrap() {
        let partition = Partition::new(topic, number);
        let extent = bus.extent(&partition).unwrap();
        bus.trim(&partition, extent.end).unwrap();
        n_lost += 1;
    }
    assert!(n_lost > 0);
    let mut refused = Process::start(ground, &["run", "--until-idle", "1"], None);
    assert_eq!(refused.ended().code(), Some(1));
    assert!(refused.log().contains("records were deleted before they were read"), "{}", refused.log());
    let mut accepted = Process::start(ground, &["run", "--until-idle", "1.5", "--accept-loss"], None);
    assert!(accepted.ended().success(), "{}", accepted.log());
    assert!(accepted.log().contains("LOSS ACCEPTED"), "{}", accepted.log());
    let n = n_judged(&verdicts(&*bus, ground));
    assert!(n > 80 && n < 160, "the mails of the second lot were judged, its pages are gone: {n}");
}

/// Somebody writes into the journal: what does not come out as it says is noticed, and followed no further.
pub(super) fn a_forged_journal_is_noticed(ground: &Ground) {
    let bus = ground.prepared();
    let mut feeder = bus.feeder().unwrap();
    feeder.append(inputs(ground, 75, 80)).unwrap();
    drain(ground);
    let mut forged = entries(ground).pop().unwrap();
    let places = feeder.append(inputs(ground, 76, 40)).unwrap();
    let mut batch = Batch { n_verdicts: 40, digest: "0123456789abcdef".into(), ..Batch::default() };
    for (partition, offset) in places {
        forged.positions.pass(&partition, offset);
        batch.ranges.push(Range { partition, from: offset, to: offset });
    }
    (forged.number, forged.what) = (forged.number + 1, What::Batch(batch));
    feeder.append(vec![Outlet::new(&ground.settings).journal(&forged)]).unwrap();
    let mut refused = Process::start(ground, &["run", "--until-idle", "1"], None);
    assert_eq!(refused.ended().code(), Some(1), "{}", refused.log());
    assert!(refused.log().contains("comes out otherwise than it was published"), "{}", refused.log());
    feeder.append(inputs(ground, 77, 40)).unwrap();
    let mut accepted = Process::start(ground, &["run", "--until-idle", "1", "--accept-loss"], None);
    assert!(accepted.ended().success(), "{}", accepted.log());
    assert!(accepted.log().contains("LOSS ACCEPTED"), "{}", accepted.log());
    assert_eq!(n_judged(&verdicts(&*bus, ground)), 120, "what is new is judged, and what the forger folded is not");
}
