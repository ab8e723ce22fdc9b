//! Ctrl-C in a command that takes a while: the first asks it to end in order.
//!
//! # Invariants
//! - What comes within a second of the first is the same wish. (`a_second_at_once_is_the_first`)

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

/// Whether an interruption `now` is another one than the `first`, which it may be itself.
fn is_further(first: &OnceLock<Instant>, now: Instant) -> bool {
    now.duration_since(*first.get_or_init(|| now)) > ECHO
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_at_once_is_the_first() {
        let (first, now) = (OnceLock::new(), Instant::now());
        let after_ms = [0, 0, 1, 900, 1100, 5000];
        let are_further = after_ms.map(|ms| is_further(&first, now + Duration::from_millis(ms)));
        assert_eq!(are_further, [false, false, false, false, true, true]);
    }
}
