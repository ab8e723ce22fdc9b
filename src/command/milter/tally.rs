//! What was done with mails, counted: for the log, and for Prometheus.

use super::unchecked::Unchecked;
use crate::config::Action;
use crate::metrics as names;
use metrics::{counter, gauge};
use std::sync::atomic::{AtomicU64, Ordering};
use tracing::info;

/// Counts since the start.
#[derive(Debug, Default)]
pub(super) struct Tally {
    checked: AtomicU64,
    unchecked: [AtomicU64; Unchecked::ALL.len()],
    quarantined: AtomicU64,
    rejected: AtomicU64,
    forged: AtomicU64,
    connections: AtomicU64,
    /// Connections that were turned away, or ended for what they sent or did not.
    refused: AtomicU64,
    /// What was said last.
    said: AtomicU64,
}

fn add(count: &AtomicU64, n: u64) {
    count.fetch_add(n, Ordering::Relaxed);
}

impl Tally {
    /// A mail that goes on, with a verdict or without.
    pub(super) fn mail(&self, why: Option<Unchecked>) {
        let outcome = match why {
            None => {
                add(&self.checked, 1);
                "checked"
            }
            Some(why) => {
                add(&self.unchecked[why as usize], 1);
                why.name()
            }
        };
        counter!(names::MILTER_MAILS, "outcome" => outcome).increment(1);
    }

    /// What was done with one beyond its header fields.
    pub(super) fn action(&self, action: Action) {
        let (count, name) = match action {
            Action::Header => return,
            Action::Quarantine => (&self.quarantined, "quarantine"),
            Action::Reject => (&self.rejected, "reject"),
        };
        add(count, 1);
        counter!(names::MILTER_ACTIONS, "action" => name).increment(1);
    }

    /// Header fields of ours that others had written.
    pub(super) fn forged(&self, n: u64) {
        add(&self.forged, n);
        counter!(names::MILTER_FORGED).increment(n);
    }

    pub(super) fn connected(&self) {
        add(&self.connections, 1);
        gauge!(names::MILTER_CONNECTIONS).increment(1);
    }

    pub(super) fn disconnected(&self) {
        gauge!(names::MILTER_CONNECTIONS).decrement(1);
    }

    /// A connection that was closed, and why.
    pub(super) fn refused(&self, reason: &'static str) {
        add(&self.refused, 1);
        counter!(names::MILTER_REFUSED, "reason" => reason).increment(1);
    }

    /// Says the counts; `anew` only if they are others than last time.
    pub(super) fn say(&self, anew: bool) {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let unchecked: Vec<(Unchecked, u64)> = Unchecked::ALL
            .into_iter()
            .map(|why| (why, of(&self.unchecked[why as usize])))
            .filter(|(_, n)| *n > 0)
            .collect();
        let n_unchecked: u64 = unchecked.iter().map(|(_, n)| n).sum();
        let why: Vec<String> = unchecked.iter().map(|(why, n)| format!("{why}:{n}")).collect();
        let (checked, quarantined, rejected) = (of(&self.checked), of(&self.quarantined), of(&self.rejected));
        let (forged, connections, refused) = (of(&self.forged), of(&self.connections), of(&self.refused));
        let sum = 1 + checked + n_unchecked + connections + refused;
        if self.said.swap(sum, Ordering::Relaxed) == sum && anew {
            return;
        }
        info!(
            checked,
            unchecked = n_unchecked,
            why = why.join(","),
            quarantined,
            rejected,
            forged_fields = forged,
            connections,
            refused_connections = refused,
            "mails so far"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_has_its_place() {
        for (place, why) in Unchecked::ALL.into_iter().enumerate() {
            assert_eq!(why as usize, place);
            let tally = Tally::default();
            tally.mail(Some(why));
            assert_eq!(tally.unchecked[place].load(Ordering::Relaxed), 1);
        }
    }
}
