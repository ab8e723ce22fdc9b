//! Memory over a long run is that of the plan, and what is around it.

use super::{Process, Watch, scaled};
use crate::bus::Ground;
use crate::made;
use seamripper::bus::{BusError, Outgoing};
use std::time::Instant;

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
    let (mut watch, mut n_fed) = (Watch::new(&*bus, &ground), 0);
    while n_fed < n {
        let end = (n_fed + 200).min(n);
        let some: Vec<Outgoing> = (n_fed as u64..end as u64).map(page).collect();
        // As everybody who feeds does: a bus that is busy is asked again.
        let begun = Instant::now();
        while let Err(error) = feeder.append(some.clone()) {
            let passes = matches!(error, BusError::Unreachable { .. }) && begun.elapsed() < super::patience();
            assert!(passes, "{error}");
        }
        n_fed = end;
        // What was fed and not judged yet lies on the bus, and costs the process nothing; but the disk is bounded too.
        watch.until(n_fed.saturating_sub(20_000), Some(&running));
    }
    watch.until(n, Some(&running));
    let most = peak(&running).expect("it runs");
    let allowed = ground.settings.store.memory * 11 / 10 + AROUND;
    println!("{n} documents: {} MiB resident at most, {} allowed", most / MIB, allowed / MIB);
    assert!(most <= allowed, "{most} bytes resident, {allowed} allowed");
}
