//! The run that is asked.

use crate::stat;
use std::collections::BTreeMap;
use std::fs::File;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// It must listen by then.
const PATIENCE: Duration = Duration::from_secs(60);

/// A run with a folder of its own, gone with this.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: SocketAddr,
    pub(crate) token: String,
    _folder: TempDir,
}

/// What a measurement cost, in CPU time.
pub(crate) struct Cost {
    pub(crate) run: Duration,
    pub(crate) asking: Duration,
    /// Of the run's threads, those of one kind together.
    pub(crate) threads: Vec<(String, Duration)>,
}

impl Server {
    /// One that has the seat.
    pub(crate) fn start() -> Self {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        // All comes from one address, which may ask as often as it likes.
        let settings = "[http]\nlisten = \"127.0.0.1:0\"\nrate_per_s = 0\nconnections_max = 2048\n";
        std::fs::write(folder.path().join("seamripper.toml"), settings).expect("the settings can be written");
        let log = folder.path().join("log");
        let child = Command::new(env!("CARGO_BIN_EXE_seamripper"))
            .args(["run", "-c", "seamripper.toml"])
            .current_dir(folder.path())
            .stderr(File::create(&log).expect("the log can be written"))
            .spawn()
            .expect("it can be started");
        let address = listening(&log);
        let token = std::fs::read_to_string(folder.path().join("seamripper-data/http-token"));
        let token = token.expect("it was made").trim().to_owned();
        Self { child, address, token, _folder: folder }
    }

    /// What `work` gives, and what it cost.
    pub(crate) fn measured<T>(&self, work: impl FnOnce() -> T) -> (T, Cost) {
        let look = || {
            let cpu = |id: &str| stat::read(&format!("/proc/{id}/stat")).map_or(Duration::ZERO, |(_, _, cpu)| cpu);
            let mut threads: BTreeMap<String, Duration> = BTreeMap::new();
            for (name, _, cpu) in stat::threads(self.child.id()) {
                let kind = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '-');
                *threads.entry(kind.to_owned()).or_default() += cpu;
            }
            (cpu(&self.child.id().to_string()), cpu("self"), threads)
        };
        let (run, asking, threads) = look();
        let given = work();
        let (run_after, asking_after, threads_after) = look();
        let spent = |(name, cpu): (String, Duration)| {
            let before = threads.get(&name).copied().unwrap_or_default();
            (name, cpu.saturating_sub(before))
        };
        let threads = threads_after.into_iter().map(spent).collect();
        (given, Cost { run: run_after - run, asking: asking_after - asking, threads })
    }

    /// Ends it in order.
    pub(crate) fn stop(mut self) {
        let asked = Command::new("kill").arg(self.child.id().to_string()).status().expect("it can be asked");
        assert!(asked.success() && self.child.wait().expect("it can be waited for").success());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended.
        let _ended = self.child.kill();
        let _reaped = self.child.wait();
    }
}

/// Where a run listens, once it has the seat.
fn listening(log: &Path) -> SocketAddr {
    let begun = Instant::now();
    loop {
        let text = std::fs::read_to_string(log).unwrap_or_default();
        let address = text.split("http listening address=").nth(1).and_then(|rest| rest.split_whitespace().next());
        match address {
            Some(address) if text.contains("seat taken") => return address.parse().expect("it says where"),
            _ => assert!(begun.elapsed() < PATIENCE, "it does not listen:\n{text}"),
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}
