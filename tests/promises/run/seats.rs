//! Several instances: one judges, the others follow, and one of them takes over.

use super::{Process, audited, inputs, judged, scaled};
use crate::bus::Ground;
use seamripper::bus::{BusError, Feeder};
use std::time::Duration;

fn feed(feeder: &mut dyn Feeder, ground: &Ground, seed: u64, n: usize) {
    for some in inputs(ground, seed, n).chunks(25) {
        feeder.append(some.to_vec()).unwrap();
    }
}

/// The holder is killed; the standby goes on, from the state that the holder had.
pub(super) fn a_killed_holder_is_followed_by_a_standby(ground: &Ground) {
    let bus = ground.prepared();
    let mut feeder = bus.feeder().unwrap();
    let n = scaled(200, 2000);
    let mut holder = Process::start(ground, &["run"], None);
    holder.says("seat taken");
    let standby = Process::start(ground, &["run"], None);
    feed(&mut *feeder, ground, 1, n);
    judged(&*bus, ground, n);
    holder.kill();
    feed(&mut *feeder, ground, 2, n);
    let took = judged(&*bus, ground, 2 * n);
    println!("take-over after a kill: {took:?}");
    assert!(standby.log().contains("seat taken"));
    standby.signal("TERM");
    let mut standby = standby;
    assert!(standby.ended().success(), "{}", standby.log());
    audited(ground, 2 * n);
}

/// Stops the process, and feeds one more document. A process that was stopped inside a commit to the embedded bus has the file
/// locked, and nobody can do anything about that: then it is stopped a moment later.
pub(super) fn hang(holder: &Process, feeder: &mut dyn Feeder, ground: &Ground) {
    loop {
        holder.signal("STOP");
        match feeder.append(inputs(ground, 99, 1)) {
            Ok(_) => return,
            Err(BusError::Unreachable { .. }) => holder.signal("CONT"),
            Err(error) => panic!("{error}"),
        }
    }
}

/// The holder hangs for longer than it may; another goes on; the first comes back and publishes nothing.
pub(super) fn a_hung_holder_is_shut_out(ground: &Ground) {
    let bus = ground.prepared();
    let mut feeder = bus.feeder().unwrap();
    let n = scaled(200, 2000);
    let holder = Process::start(ground, &["run"], None);
    holder.says("seat taken");
    let standby = Process::start(ground, &["run"], None);
    feed(&mut *feeder, ground, 3, n);
    std::thread::sleep(Duration::from_millis(30));
    hang(&holder, &mut *feeder, ground);
    standby.says("seat taken");
    feed(&mut *feeder, ground, 4, n);
    judged(&*bus, ground, 2 * n + 1);
    holder.signal("CONT");
    holder.says("another instance has taken the seat");
    feed(&mut *feeder, ground, 7, n);
    judged(&*bus, ground, 3 * n + 1);
    drop((holder, standby));
    audited(ground, 3 * n + 1);
}

/// A third and a fourth instance come; whoever has the seat keeps it.
pub(super) fn a_newcomer_does_not_take_the_seat(ground: &Ground) {
    let bus = ground.prepared();
    let mut feeder = bus.feeder().unwrap();
    let n = scaled(150, 1000);
    let holder = Process::start(ground, &["run"], None);
    holder.says("seat taken");
    let others: Vec<Process> = (0..2).map(|_| Process::start(ground, &["run"], None)).collect();
    std::thread::sleep(ground.silence.min(Duration::from_secs(8)) + Duration::from_secs(1));
    feed(&mut *feeder, ground, 8, n);
    judged(&*bus, ground, n);
    for other in &others {
        assert!(!other.log().contains("seat taken"), "{}\nthe holder:\n{}", other.log(), holder.log());
    }
    assert!(!holder.log().contains("another instance"), "{}", holder.log());
    drop((holder, others));
    audited(ground, n);
}
