//! Ctrl-C in a command that takes a while: the first asks it to end in order.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the user has had enough. A second Ctrl-C ends at once.
pub fn interrupted() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let seen = flag.clone();
    let handler = move || {
        if seen.swap(true, Ordering::Relaxed) {
            std::process::exit(1);
        }
    };
    // Where no handler can be set, Ctrl-C ends the program as it always did.
    let _ends_at_once = ctrlc::set_handler(handler);
    flag
}
