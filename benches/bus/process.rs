//! Processes and what they cost.
//!
//! Others may be at work on the machine. So beside the CPU time that a process got, it is looked how many of its threads could have
//! run: where two and more can on two cores, both are busy for as long as they are left to us.

use crate::stat::{TICK, read, threads};
use std::collections::HashMap;
use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

/// So often it is looked.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// While there is input: from when so much of the signing is done until so much is. The start and the end are apart.
const WINDOW: [f64; 2] = [0.05, 0.95];

/// What a process took.
pub(crate) struct Ran {
    /// CPU time of all its threads, from its first moment to its last.
    pub(crate) cpu: Duration,
    /// By the clock, while there was input, and which share of all of it that was.
    pub(crate) window: Duration,
    pub(crate) share: f64,
    /// Cores that it had then ...
    pub(crate) cores: f64,
    /// ... and that it, with `beside`, could have used, of those that there are.
    pub(crate) wanted: f64,
    /// Cores that others had then.
    pub(crate) others: f64,
}

/// What is seen of processes at a moment.
struct Look {
    at: Instant,
    cpu: Duration,
    /// Of the signing threads, while there are any.
    signing: Option<Duration>,
    beside: Duration,
    machine: Duration,
    n_runnable: usize,
}

/// The binary that was built with this benchmark.
pub(crate) fn seamripper() -> Command {
    Command::new(env!("CARGO_BIN_EXE_seamripper"))
}

/// Cores of this machine.
pub(crate) fn n_cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Runs it to its end, which must be good. `beside` works for it: a broker.
pub(crate) fn ran(command: &mut Command, beside: Option<u32>) -> Ran {
    let mut child = command.spawn().expect("it can be started");
    let mut looks = Vec::new();
    let status = loop {
        looks.extend(look(child.id(), beside));
        if let Some(status) = child.try_wait().expect("it can be waited for") {
            break status;
        }
        std::thread::sleep(LOOK_EVERY);
    };
    assert!(status.success(), "{status}");
    let most = |of: fn(&Look) -> Duration| looks.iter().map(of).max().unwrap_or_default();
    let cpu = most(|look| look.cpu);
    // What signs ends before the process does; what does not sign at all is measured by all that it does.
    let signs = looks.iter().any(|look| look.signing.is_some());
    let done = |look: &Look| if signs { look.signing.unwrap_or_default() } else { look.cpu };
    let all = looks.iter().map(done).max().unwrap_or_default();
    let at = |share: f64| looks.iter().position(|look| done(look) >= all.mul_f64(share)).unwrap_or(0);
    let (first, last) = (at(WINDOW[0]), at(WINDOW[1]));
    let (begin, end, within) = (&looks[first], &looks[last], &looks[first..=last]);
    let seconds = (end.at - begin.at).as_secs_f64().max(1e-3);
    let per_s = |of: fn(&Look) -> Duration| (of(end).saturating_sub(of(begin))).as_secs_f64() / seconds;
    let cores = per_s(|look| look.cpu);
    Ran {
        cpu,
        window: end.at - begin.at,
        share: (done(end) - done(begin)).as_secs_f64() / all.as_secs_f64().max(1e-3),
        cores,
        wanted: within.iter().map(|look| look.n_runnable.min(n_cores()) as f64).sum::<f64>() / within.len() as f64,
        others: (per_s(|look| look.machine) - cores - per_s(|look| look.beside)).max(0.0),
    }
}

fn look(id: u32, beside: Option<u32>) -> Option<Look> {
    let (mut signing, mut n_runnable) = (None, 0);
    for (id, counts_signing) in [(Some(id), true), (beside, false)] {
        for (name, is_runnable, cpu) in id.map(threads).unwrap_or_default() {
            n_runnable += usize::from(is_runnable);
            if counts_signing && name.starts_with("sign-") {
                signing = Some(signing.unwrap_or_default() + cpu);
            }
        }
    }
    let (_, _, cpu) = read(&format!("/proc/{id}/stat"))?;
    let beside = beside.and_then(|id| read(&format!("/proc/{id}/stat"))).map_or(Duration::ZERO, |(_, _, cpu)| cpu);
    Some(Look { at: Instant::now(), cpu, signing, beside, machine: machine()?, n_runnable })
}

/// CPU time of everybody: all but idling and waiting for disks.
fn machine() -> Option<Duration> {
    let stat = fs::read_to_string("/proc/stat").ok()?;
    let fields: Vec<u32> = stat.lines().next()?.split_whitespace().skip(1).filter_map(|n| n.parse().ok()).collect();
    let idle = fields.get(3)? + fields.get(4)?;
    Some(TICK * (fields.iter().take(8).sum::<u32>() - idle))
}

/// The broker that listens on the first of `brokers`, if it runs here.
pub(crate) fn broker(brokers: &str) -> Option<u32> {
    let port: u16 = brokers.split(',').next()?.rsplit_once(':')?.1.trim().parse().ok()?;
    let sockets: HashMap<String, ()> = ["/proc/net/tcp", "/proc/net/tcp6"]
        .iter()
        .filter_map(|path| fs::read_to_string(path).ok())
        .flat_map(|table| table.lines().skip(1).map(str::to_owned).collect::<Vec<_>>())
        .filter_map(|line| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let listens = *fields.get(3)? == "0A" && fields.get(1)?.ends_with(&format!(":{port:04X}"));
            listens.then(|| (format!("socket:[{}]", fields[9]), ()))
        })
        .collect();
    let holds = |id: u32| {
        let files = fs::read_dir(format!("/proc/{id}/fd")).ok()?;
        let mut links = files.filter_map(|file| fs::read_link(file.ok()?.path()).ok());
        links.any(|link| sockets.contains_key(&*link.to_string_lossy())).then_some(id)
    };
    fs::read_dir("/proc").ok()?.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).find_map(holds)
}
