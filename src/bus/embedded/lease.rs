//! For how long somebody is believed to be alive, by the clock of the wall: processes share no other.
//!
//! # Invariants
//! - A lease ends when its time is over, and also when the clock was set back so far that it would never end. (`leases_end`)
//! - It is renewed well before it ends. (`a_third_of_it_is_left_unused`)

use std::time::{SystemTime, UNIX_EPOCH};

/// Now, in milliseconds since 1970.
pub(super) fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}

/// Until when, and for how long each time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lease {
    pub(super) end_ms: i64,
    pub(super) length_ms: i64,
}

impl Lease {
    /// One that begins now.
    pub(super) fn from(now_ms: i64, length_ms: i64) -> Self {
        Self { end_ms: now_ms.saturating_add(length_ms), length_ms }
    }

    /// Whether it is over.
    pub(super) fn over(&self, now_ms: i64) -> bool {
        // Nobody can have renewed it that late: the clock was set back since.
        let never = self.end_ms.saturating_sub(now_ms) > self.length_ms.saturating_mul(2);
        self.end_ms <= now_ms || never
    }

    /// Whether it is time to renew it: not at every poll, since that is a commit.
    pub(super) fn due(&self, now_ms: i64) -> bool {
        self.over(now_ms) || self.end_ms - now_ms < self.length_ms / 3 * 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leases_end() {
        let lease = Lease::from(1_000, 500);
        assert!(!lease.over(1_000) && !lease.over(1_499));
        assert!(lease.over(1_500) && lease.over(9_999));
        assert!(!lease.over(600), "a clock may be set back a little");
        assert!(lease.over(400), "or so far that the end would be a long way off");
    }

    #[test]
    fn a_third_of_it_is_left_unused() {
        let lease = Lease::from(0, 900);
        assert!(!lease.due(0) && !lease.due(300));
        assert!(lease.due(301) && lease.due(2_000));
    }
}
