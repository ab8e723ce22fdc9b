//! Settings that change, and states that are written down.

use super::oracle::entries;
use super::{Process, audited, drain, inputs, n_judged, verdicts};
use crate::bus::Ground;
use seamripper::pipeline::run::journal::{Origin, What};

/// A changed threshold begins an epoch that goes on with all that was seen; a change that the tables cannot take is refused
/// with what to do.
pub(super) fn changed_settings_are_an_epoch(ground: &Ground) {
    let bus = ground.prepared();
    let mut feeder = bus.feeder().unwrap();
    feeder.append(inputs(ground, 21, 200)).unwrap();
    drain(ground);
    let mut changed =
        Ground { settings: ground.settings.clone(), silence: ground.silence, folder: tempfile::tempdir().unwrap() };
    changed.settings.quilt.fraction_min = 0.75;
    changed.settings.batch.documents_max = 20.try_into().unwrap();
    feeder.append(inputs(ground, 22, 200)).unwrap();
    drain(&changed);
    let epochs: Vec<Origin> = entries(ground)
        .into_iter()
        .filter_map(|entry| match entry.what {
            What::Epoch(epoch) => Some(epoch.state),
            _ => None,
        })
        .collect();
    assert_eq!(epochs, [Origin::Empty, Origin::Carried]);
    audited(&changed, 400);
    changed.settings.store.memory = 8 << 20;
    let mut refused = Process::start(&changed, &["run", "--until-idle", "1"], None);
    assert_eq!(refused.ended().code(), Some(1));
    assert!(refused.log().contains("--accept-loss"), "{}", refused.log());
    let mut accepted = Process::start(&changed, &["run", "--until-idle", "1", "--accept-loss"], None);
    assert!(accepted.ended().success(), "{}", accepted.log());
    drain(&changed);
}

/// A folder of snapshots that cannot be written: it is said and counted, the stream goes on, and the next snapshot after it can be
/// written again is good.
pub(super) fn an_unwritable_folder_costs_snapshots_alone(ground: &Ground) {
    let bus = ground.prepared();
    let mut feeder = bus.feeder().unwrap();
    let mut process = Process::start(ground, &["run"], None);
    let folder = ground.settings.bus.folder.join(&ground.settings.snapshot.folder);
    let all = inputs(ground, 23, 300);
    feeder.append(all[..100].to_vec()).unwrap();
    process.says("snapshot written");
    std::fs::remove_dir_all(&folder).unwrap();
    feeder.append(all[100..200].to_vec()).unwrap();
    process.says("snapshot failed, the stream goes on without it");
    feeder.append(all[200..].to_vec()).unwrap();
    let begun = std::time::Instant::now();
    while n_judged(&verdicts(&*ground.open(), ground)) < 300 {
        assert!(begun.elapsed() < super::PATIENCE, "{}", process.log());
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    std::fs::create_dir(&folder).unwrap();
    process.signal("TERM");
    assert!(process.ended().success(), "{}", process.log());
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "the last one: {}", process.log());
    audited(ground, 300);
    let mut again = Process::start(ground, &["run", "--until-idle", "0.5"], None);
    assert!(again.ended().success());
    assert!(again.log().contains("snapshot loaded"), "{}", again.log());
}
