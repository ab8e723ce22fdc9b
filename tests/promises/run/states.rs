//! Settings that change, and states that are written down.

use super::oracle::entries;
use super::{Process, audited, drain, inputs};
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
