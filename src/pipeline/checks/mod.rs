//! Checks: somebody asks what is said of one document, and waits for the answer.
//!
//! A check that is not to be learnt is a [`probes`] entry: it is signed on threads of its own, and the thread that owns the fold answers
//! it between two batches. One that is to be learnt goes to the bus as every document does, and who has sent it waits for its
//! position ([`waiters`]). Whoever judges, or follows and stands by, works off both.
//!
//! # Invariants
//! - Nobody waits without a bound: in number, in bytes and in time. (`tests/promises/http/check.rs`)

pub mod probes;
pub mod waiters;

use crate::config::CheckSettings;
use probes::Probes;
use std::sync::Arc;
use waiters::Waiters;

/// Those who have asked and wait.
#[derive(Debug)]
pub struct Checks {
    /// For what would be said.
    pub probes: Probes,
    /// For what is said of a document that they have sent.
    pub waiters: Arc<Waiters>,
}

impl Default for Checks {
    /// For an instance that nobody asks.
    fn default() -> Self {
        Self { probes: Probes::new(1), waiters: Arc::new(Waiters::new(1)) }
    }
}

impl Checks {
    /// Nobody yet, and never more than the settings say.
    pub fn new(settings: &CheckSettings) -> Self {
        Self {
            probes: Probes::new(settings.queue_max.get()),
            waiters: Arc::new(Waiters::new(settings.waiters_max.get())),
        }
    }

    /// This instance cannot answer any more, or not for a while: those who wait for a probe are let go.
    pub fn turn_away(&self) {
        self.probes.turn_away();
        self.waiters.lose_seat();
    }
}
