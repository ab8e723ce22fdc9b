//! `seamripper milter`: every mail gets its verdict, and goes on whatever happens.

mod failures;
mod fake;
mod hostile;
mod postfix;
mod questions;
mod rspamd;
mod shadow;
mod stop;
mod wire;

use crate::bus::Ground;
use crate::http::Served;
use crate::run::Process;
use fake::{Fake, Reaction, checked};
use seamripper::config::{Listen, Settings};
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use wire::{Client, Letter, Said};

/// What has not happened by then does not happen.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Settings that a process accepts, in a folder of their own.
fn ground() -> Ground {
    let mut ground = crate::bus::embedded::ground();
    ground.settings.bus.lease_ms = 1000;
    // The system chooses.
    ground.settings.milter.listen = Listen::Inet { host: "127.0.0.1".into(), port: 0 };
    ground
}

/// A milter that listens.
pub(crate) struct Milter {
    pub(crate) process: Process,
    pub(crate) address: SocketAddr,
    pub(crate) ground: Ground,
}

impl Milter {
    /// Asks the server at this address.
    pub(crate) fn of(server: SocketAddr, change: impl FnOnce(&mut Settings)) -> Self {
        Self::with_token(server, "a-token-of-the-test", change)
    }

    /// Asks a run.
    pub(crate) fn of_run(run: &Served, change: impl FnOnce(&mut Settings)) -> Self {
        Self::with_token(run.address, &run.token, change)
    }

    fn with_token(server: SocketAddr, token: &str, change: impl FnOnce(&mut Settings)) -> Self {
        let mut ground = ground();
        std::fs::create_dir(&ground.settings.bus.folder).unwrap();
        std::fs::write(ground.settings.bus.folder.join("http-token"), token).unwrap();
        ground.settings.milter.server = format!("http://{server}").try_into().unwrap();
        // A machine that is busy with other tests is no server that fails.
        ground.settings.milter.timeout_ms = 30_000;
        change(&mut ground.settings);
        Self::start(ground)
    }

    pub(crate) fn start(ground: Ground) -> Self {
        let process = Process::start(&ground, &["milter"], None);
        let address = listening(&process);
        Self { process, address, ground }
    }

    /// Sends a mail over a connection of its own.
    pub(crate) fn send(&self, letter: &Letter) -> Said {
        Client::agreed(self.address).send(letter)
    }

    /// What was counted, when it is asked to stop.
    pub(crate) fn counts(mut self) -> String {
        self.process.signal("TERM");
        assert!(self.process.ended().success(), "{}", self.process.log());
        self.process.log().lines().rfind(|line| line.contains("mails so far")).unwrap_or_default().to_owned()
    }
}

/// Where a milter says that it listens.
fn listening(process: &Process) -> SocketAddr {
    process.says("milter listening");
    let log = process.log();
    let address = log.split("milter listening address=inet:").nth(1).and_then(|rest| rest.split_whitespace().next());
    address.unwrap().parse().unwrap()
}

/// Waits until this is so.
pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "never: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
