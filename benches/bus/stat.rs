//! What `/proc` tells of processes and threads.

use std::fs;
use std::time::Duration;

/// The clock of `/proc`: hundredths of a second.
pub(crate) const TICK: Duration = Duration::from_millis(10);

/// Name, whether it could run, and CPU time, out of a file `stat`.
pub(crate) fn read(path: &str) -> Option<(String, bool, Duration)> {
    let stat = fs::read_to_string(path).ok()?;
    let (head, tail) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = tail.split_whitespace().collect();
    let ticks: u32 = fields.get(11)?.parse::<u32>().ok()? + fields.get(12)?.parse::<u32>().ok()?;
    Some((head.split_once('(')?.1.to_owned(), fields[0] == "R", TICK * ticks))
}

/// Name and CPU time of each thread of a process, and whether it could run.
pub(crate) fn threads(id: u32) -> Vec<(String, bool, Duration)> {
    let Ok(entries) = fs::read_dir(format!("/proc/{id}/task")) else { return Vec::new() };
    entries.filter_map(|entry| read(&entry.ok()?.path().join("stat").to_string_lossy())).collect()
}
