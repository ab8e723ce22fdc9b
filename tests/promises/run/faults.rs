//! The plug is pulled, at random and at the worst moments.

use super::{Process, audited, drain, inputs, scaled};
use crate::bus::Ground;
use crate::made::Dice;
use std::time::Duration;

/// kill -9 at random moments while documents come in, of one partition each.
pub(super) fn killed_with_one_partition_nothing_is_lost_or_repeated(ground: &Ground) {
    let mut one =
        Ground { settings: ground.settings.clone(), silence: ground.silence, folder: tempfile::tempdir().unwrap() };
    one.settings.topics.partitions = 1;
    killed_at_any_moment_nothing_is_lost_or_repeated(&one);
}

/// The same, of several.
pub(super) fn killed_at_any_moment_nothing_is_lost_or_repeated(ground: &Ground) {
    let (n_kills, n) = (scaled(5, 20), scaled(1500, 8000));
    let bus = ground.prepared();
    let mut feeder = bus.feeder().unwrap();
    let all = inputs(ground, 5, n);
    let mut dice = Dice::new(0x0009_1A66);
    let per_life = n / n_kills;
    for life in all.chunks(per_life) {
        let mut process = Process::start(ground, &["run"], None);
        for some in life.chunks(20) {
            feeder.append(some.to_vec()).unwrap();
            std::thread::sleep(Duration::from_millis(dice.below(40) as u64));
        }
        std::thread::sleep(Duration::from_millis(dice.below(1500) as u64));
        process.kill();
    }
    drain(ground);
    audited(ground, n);
}

/// The process ends right before and after a commit, in the middle of a snapshot, and as it takes the seat.
pub(super) fn killed_at_the_worst_moments_nothing_is_lost_or_repeated(ground: &Ground) {
    let bus = ground.prepared();
    let mut feeder = bus.feeder().unwrap();
    let points = [
        "seat_taken:1",
        "before_commit:1",
        "after_commit:1",
        "before_commit:3",
        "after_commit:4",
        "in_snapshot:1",
        "before_snapshot:1",
        "after_snapshot:1",
    ];
    let n_each = scaled(120, 1000);
    let all = inputs(ground, 6, n_each * points.len());
    for (point, some) in points.into_iter().zip(all.chunks(n_each)) {
        let mut process = Process::start(ground, &["run", "--until-idle", "3"], Some(point));
        for few in some.chunks(30) {
            feeder.append(few.to_vec()).unwrap();
        }
        let status = process.ended();
        assert!(!status.success(), "{point} was not passed: {status}\n{}", process.log());
    }
    drain(ground);
    audited(ground, all.len());
}

/// A commit is said to have failed when it has not: it is looked up, and nothing is sent again.
pub(super) fn doubted_commits_are_looked_up(ground: &Ground) {
    let bus = ground.prepared();
    let mut feeder = bus.feeder().unwrap();
    let all = inputs(ground, 7, 400);
    for (life, point) in
        all.chunks(100).zip(["commit_doubted:1", "commit_doubted:2", "commit_doubted:3", "commit_doubted:5"])
    {
        let mut process = Process::start(ground, &["run", "--until-idle", "2"], Some(point));
        for some in life.chunks(20) {
            feeder.append(some.to_vec()).unwrap();
            std::thread::sleep(Duration::from_millis(20));
        }
        assert!(process.ended().success(), "{point}\n{}", process.log());
    }
    drain(ground);
    audited(ground, all.len());
}
