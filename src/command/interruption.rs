//! Ctrl-C in a command that takes a while: the first asks it to end in order.
//!
//! # Invariants
//! - What comes within a second of the first is the same wish. (`a_second_at_once_is_the_first`)
//! - What ended the step before does not end this one. (`a_step_ends_by_what_comes_while_it_goes_on`)

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// A terminal and `timeout` send a signal to the process and to its group: both arrive, moments apart.
const ECHO: Duration = Duration::from_secs(1);

/// Whether the user has had enough. A second Ctrl-C, after a moment, ends at once.
pub fn interrupted() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let (seen, first) = (flag.clone(), OnceLock::new());
    let handler = move || {
        seen.store(true, Ordering::Relaxed);
        if is_further(&first, Instant::now()) {
            std::process::exit(1);
        }
    };
    // Where no handler can be set, Ctrl-C ends the program as it always did.
    let _ends_at_once = ctrlc::set_handler(handler);
    flag
}

/// A step that is looked at as it goes on, and ends when it is interrupted.
#[derive(Default)]
pub struct Step {
    /// Whether there was an interruption when it began: that one was meant for the step before.
    began_interrupted: Option<bool>,
}

impl Step {
    /// Whether it is to end, if by now `is_interrupted`. The first call is its beginning.
    pub fn ends(&mut self, is_interrupted: bool) -> bool {
        let began_interrupted = *self.began_interrupted.get_or_insert(is_interrupted);
        is_interrupted && !began_interrupted
    }
}

/// Whether an interruption `now` is another one than the `first`, which it may be itself.
fn is_further(first: &OnceLock<Instant>, now: Instant) -> bool {
    now.duration_since(*first.get_or_init(|| now)) > ECHO
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_ends_by_what_comes_while_it_goes_on() {
        for (interrupted, expected) in [
            ([false, false, true, true], [false, false, true, true]),
            ([true, true, true, true], [false; 4]),
            ([false; 4], [false; 4]),
        ] {
            let mut step = Step::default();
            assert_eq!(interrupted.map(|interrupted| step.ends(interrupted)), expected, "{interrupted:?}");
        }
    }

    #[test]
    fn a_second_at_once_is_the_first() {
        let (first, now) = (OnceLock::new(), Instant::now());
        let after_ms = [0, 0, 1, 900, 1100, 5000];
        let are_further = after_ms.map(|ms| is_further(&first, now + Duration::from_millis(ms)));
        assert_eq!(are_further, [false, false, false, false, true, true]);
    }
}
