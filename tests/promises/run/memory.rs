//! Memory over a long run is that of the plan, and what is around it.

use super::{Process, n_judged, scaled, verdicts};
use crate::bus::Ground;
use crate::made;
use seamripper::bus::Outgoing;
use std::time::{Duration, Instant};

const MIB: usize = 1 << 20;
/// Beside `store.memory`: the binary with its lexicons, batches on their way, and what the clients of the buses hold.
const AROUND: usize = 160 * MIB;

/// The most that the process had resident so far, in bytes.
fn peak(process: &Process) -> Option<usize> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.id())).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches(" kB").parse::<usize>().ok().map(|kb| kb * 1024)
}

/// Unique documents without end, in a store that holds a fraction of them.
pub(super) fn a_long_run_stays_within_its_memory(ground: &Ground) {
    let mut ground =
        Ground { settings: ground.settings.clone(), silence: ground.silence, folder: tempfile::tempdir().unwrap() };
    let settings = &mut ground.settings;
    settings.store.memory = scaled(16, 256) * MIB;
    settings.batch = seamripper::config::Settings::default().batch;
    settings.snapshot.every_s = 5;
    settings.snapshot.kept = 2.try_into().unwrap();
    let n = scaled(8_000, 500_000);
    let bus = ground.prepared();
    let mut feeder = bus.feeder().unwrap();
    let running = Process::start(&ground, &["run"], None);
    running.says("seat taken");
    let page = |number: u64| {
        let key = Some(format!("http://site{}.example/{number}.html", number % 5000).into_bytes());
        let value = Some(made::page_of_its_own(number).into_bytes());
        Outgoing { key, value, ..Outgoing::to(ground.settings.topics.pages.as_str()) }
    };
    let mut most = 0;
    for begin in (0..n as u64).step_by(200) {
        feeder.append((begin..begin + 200).map(page).collect()).unwrap();
        most = most.max(peak(&running).expect("it runs"));
    }
    let begun = Instant::now();
    while n_judged(&verdicts(&*bus, &ground)) < n {
        most = most.max(peak(&running).unwrap_or_else(|| panic!("it ended: {}", running.log())));
        assert!(begun.elapsed() < super::PATIENCE * scaled(1, 60) as u32, "{}", running.log());
        std::thread::sleep(Duration::from_millis(100));
    }
    most = most.max(peak(&running).expect("it runs"));
    let allowed = ground.settings.store.memory * 11 / 10 + AROUND;
    println!("{n} documents: {} MiB resident at most, {} allowed", most / MIB, allowed / MIB);
    assert!(most <= allowed, "{most} bytes resident, {allowed} allowed");
}
