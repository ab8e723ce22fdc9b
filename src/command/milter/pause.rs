//! A server that fails is left alone for a while, so that not every mail waits for it.
//!
//! # Invariants
//! - After [`FAILURES_MAX`] failures in a row nobody asks for the length of a pause; then one does, and the others when it was
//!   answered. (`one_tries_after_the_pause`)

use std::sync::Mutex;
use std::time::{Duration, Instant};

/// So many failures in a row are no accident.
const FAILURES_MAX: u32 = 3;

/// Whether the server is to be asked.
#[derive(Debug)]
pub(super) struct Pause {
    length: Duration,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    n_failures: u32,
    until: Option<Instant>,
}

/// What a failure or an answer has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// Nothing.
    None,
    /// A pause has begun.
    Begun,
    /// The pauses are over.
    Over,
}

impl Pause {
    pub(super) fn new(length: Duration) -> Self {
        Self { length, state: Mutex::default() }
    }

    /// Whether somebody may ask now. After a pause this is true for one, who is to say what came of it.
    pub(super) fn admits(&self, now: Instant) -> bool {
        let mut state = self.state();
        match state.until {
            None => true,
            Some(until) if now < until => false,
            Some(_) => {
                state.until = Some(now + self.length);
                true
            }
        }
    }

    pub(super) fn failed(&self, now: Instant) -> Change {
        let mut state = self.state();
        state.n_failures = state.n_failures.saturating_add(1);
        if state.n_failures < FAILURES_MAX {
            return Change::None;
        }
        let before = state.until.replace(now + self.length);
        if before.is_none() { Change::Begun } else { Change::None }
    }

    pub(super) fn answered(&self) -> Change {
        let before = std::mem::take(&mut *self.state());
        if before.until.is_some() { Change::Over } else { Change::None }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().expect("nobody panics while holding it")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_tries_after_the_pause() {
        let length = Duration::from_secs(5);
        let (pause, begun) = (Pause::new(length), Instant::now());
        assert_eq!((pause.failed(begun), pause.failed(begun)), (Change::None, Change::None));
        assert_eq!(pause.answered(), Change::None);
        assert_eq!((pause.failed(begun), pause.failed(begun), pause.admits(begun)), (Change::None, Change::None, true));
        assert_eq!(pause.failed(begun), Change::Begun);
        let later = begun + length;
        assert!(!pause.admits(later - Duration::from_millis(1)));
        assert!(pause.admits(later));
        assert!(!pause.admits(later), "one is enough");
        assert_eq!(pause.failed(later), Change::None, "that was said");
        assert!(!pause.admits(later) && pause.admits(later + length));
        assert_eq!(pause.answered(), Change::Over);
        assert!(pause.admits(later) && pause.admits(later));
    }
}
