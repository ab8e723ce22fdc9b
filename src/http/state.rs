//! What a run tells the world of itself: its role, and how far it is.

use crate::pipeline::checks::Checks;
use crate::pipeline::directory::Directory;
use crate::pipeline::run::question::Questions;
use serde::Serialize;
use std::sync::atomic::{AtomicU8, Ordering};

/// What an instance does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Everything.
    All,
    /// Signs for a store elsewhere.
    Sign,
    /// Judges what signers signed.
    Store,
}

/// How far an instance is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Phase {
    /// Nothing is known yet.
    Starting,
    /// It reads a snapshot and what the journal says after it.
    Restoring,
    /// It follows the journal, and can take the seat.
    Standby,
    /// It has the seat; a signer: it signs.
    Judging,
    /// It finishes what it has begun.
    Stopping,
    /// It cannot go on.
    Failed,
}

impl Phase {
    const ALL: [Self; 6] =
        [Self::Starting, Self::Restoring, Self::Standby, Self::Judging, Self::Stopping, Self::Failed];

    /// Whether work can be given to it. A standby is ready: what it is given goes to the bus.
    pub fn is_ready(self) -> bool {
        matches!(self, Self::Standby | Self::Judging)
    }

    /// What it is called in an instance of this role.
    pub fn name(self, role: Role) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Restoring => "restoring",
            Self::Standby => "standby",
            Self::Judging if role == Role::Sign => "signing",
            Self::Judging => "judging",
            Self::Stopping => "stopping",
            Self::Failed => "failed",
        }
    }
}

/// What a run tells of itself; it is set by the run and read by the HTTP side.
#[derive(Debug)]
pub struct State {
    role: Role,
    phase: AtomicU8,
    directory: Directory,
    checks: Checks,
    questions: Questions,
}

impl State {
    /// An instance that starts, and holds nothing for those who ask.
    pub fn new(role: Role) -> Self {
        Self::with(role, Directory::default(), Checks::default())
    }

    /// An instance that starts, with what it will hold for those who ask.
    pub fn with(role: Role, directory: Directory, checks: Checks) -> Self {
        let (phase, questions) = (AtomicU8::new(Phase::Starting as u8), Questions::default());
        Self { role, phase, directory, checks, questions }
    }

    /// Questions to its store.
    pub fn questions(&self) -> &Questions {
        &self.questions
    }

    /// What it said of late.
    pub fn directory(&self) -> &Directory {
        &self.directory
    }

    /// Those who have asked it, and wait.
    pub fn checks(&self) -> &Checks {
        &self.checks
    }

    /// What it does.
    pub fn role(&self) -> Role {
        self.role
    }

    /// How far it is.
    pub fn phase(&self) -> Phase {
        Phase::ALL[usize::from(self.phase.load(Ordering::Acquire))]
    }

    /// Says how far it is.
    pub fn set_phase(&self, phase: Phase) {
        self.phase.store(phase as u8, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_phase_is_told_as_it_was_set() {
        let state = State::new(Role::Store);
        assert_eq!((state.role(), state.phase()), (Role::Store, Phase::Starting));
        for phase in Phase::ALL {
            state.set_phase(phase);
            assert_eq!(state.phase(), phase);
        }
        assert_eq!(Phase::Judging.name(Role::Sign), "signing");
    }
}
