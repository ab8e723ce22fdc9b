//! Processes and what they cost.

use std::process::Command;
use std::time::{Duration, Instant};

/// What a process took.
pub(crate) struct Ran {
    /// CPU time of all its threads.
    pub(crate) cpu: Duration,
    /// By the clock, from its first work to its last: not the waiting at its end.
    pub(crate) busy: Duration,
}

/// The binary that was built with this benchmark.
pub(crate) fn seamripper() -> Command {
    Command::new(env!("CARGO_BIN_EXE_seamripper"))
}

/// Runs it to its end, which must be good.
pub(crate) fn ran(command: &mut Command) -> Ran {
    let mut child = command.spawn().expect("it can be started");
    let mut looks: Vec<(Instant, Duration)> = vec![(Instant::now(), Duration::ZERO)];
    let status = loop {
        if let Some(cpu) = cpu(child.id()) {
            looks.push((Instant::now(), cpu));
        }
        if let Some(status) = child.try_wait().expect("it can be waited for") {
            break status;
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    assert!(status.success(), "{status}");
    let total = looks.last().map_or(Duration::ZERO, |(_, cpu)| *cpu);
    // Waiting costs a little too: it is over when nearly all has been spent.
    let nearly = total.mul_f64(0.99);
    let end = looks.iter().find(|(_, cpu)| *cpu >= nearly).map_or(looks[0].0, |(at, _)| *at);
    Ran { cpu: total, busy: end - looks[0].0 }
}

/// User and system time of a process so far; the system counts hundredths of a second.
fn cpu(id: u32) -> Option<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let ticks: u64 = fields.nth(11)?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?;
    (ticks > 0).then(|| Duration::from_millis(ticks * 10))
}
