//! On the embedded bus.

use super::{hasty, promises};
use crate::bus::{Ground, embedded};
use std::time::Duration;

fn ground() -> Ground {
    let mut ground = embedded::ground();
    // Processes on a busy machine are silent for longer than threads are.
    ground.settings.bus.lease_ms = 2000;
    ground.silence = Duration::from_secs(2);
    hasty(ground)
}

promises!(ground);
