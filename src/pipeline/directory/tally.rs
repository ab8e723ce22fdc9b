//! How much was said, of what sort, and how much of it lately.
//!
//! # Invariants
//! - A window of so many seconds counts what was said in that many whole seconds before now. (`windows_count_what_is_in_them`)

use crate::document::Kind;
use crate::pipeline::filter::Event;
use crate::pipeline::run::outputs::classes;
use serde::Serialize;
use std::ops::AddAssign;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The longest window.
pub(super) const WINDOW_S_MAX: u64 = 300;
/// A second that has begun is not over.
const SLOTS: usize = WINDOW_S_MAX as usize + 1;

/// What was said since this process began.
#[derive(Debug)]
pub struct Tally {
    since: Instant,
    counted: Mutex<Counted>,
}

#[derive(Debug)]
struct Counted {
    total: Counts,
    /// What was said in the second of this number; one slot is used again every so many seconds.
    seconds: Vec<(u64, Counts)>,
}

/// Verdicts by what they say. One that has two classes counts for both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Documents that were judged, or set aside with a verdict.
    pub documents: u64,
    /// Of these, web pages.
    pub pages: u64,
    /// And mails.
    pub emails: u64,
    /// Near copies.
    pub mirror: u64,
    /// Stitched together from others.
    pub quilt: u64,
    /// Made by a common generator.
    pub template: u64,
    /// None of these.
    pub original: u64,
    /// With too little text.
    pub insufficient: u64,
    /// That could not be read.
    pub rejected: u64,
    /// Verdicts that changed an earlier one; they count for nothing else.
    pub revisions: u64,
}

impl Counts {
    /// Of these events.
    pub fn of(events: &[Event]) -> Self {
        let mut counts = Self::default();
        for event in events {
            let Event::Verdict(verdict) = event else { continue };
            if verdict.revision > 0 {
                counts.revisions += 1;
                continue;
            }
            counts.documents += 1;
            counts.pages += u64::from(verdict.kind == Some(Kind::Page));
            counts.emails += u64::from(verdict.kind == Some(Kind::Email));
            for word in classes(verdict).split(',') {
                match word {
                    "mirror" => counts.mirror += 1,
                    "quilt" => counts.quilt += 1,
                    "template" => counts.template += 1,
                    "insufficient" => counts.insufficient += 1,
                    "rejected" => counts.rejected += 1,
                    _ => counts.original += 1,
                }
            }
        }
        counts
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        let Self { documents, pages, emails, mirror, quilt, template, original, insufficient, rejected, revisions } =
            other;
        self.documents += documents;
        self.pages += pages;
        self.emails += emails;
        self.mirror += mirror;
        self.quilt += quilt;
        self.template += template;
        self.original += original;
        self.insufficient += insufficient;
        self.rejected += rejected;
        self.revisions += revisions;
    }
}

impl Default for Tally {
    fn default() -> Self {
        let counted = Counted { total: Counts::default(), seconds: vec![(0, Counts::default()); SLOTS] };
        Self { since: Instant::now(), counted: Mutex::new(counted) }
    }
}

impl Tally {
    /// For how long it has been counted.
    pub fn age(&self) -> Duration {
        self.since.elapsed()
    }

    /// Counts what was said just now.
    pub fn add(&self, counts: Counts) {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner).add(self.age().as_secs(), counts);
    }

    /// All that was counted.
    pub fn total(&self) -> Counts {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner).total
    }

    /// What was counted in the last `n_seconds`, which are at most [`WINDOW_S_MAX`].
    pub fn window(&self, n_seconds: u64) -> Counts {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner).window(self.age().as_secs(), n_seconds)
    }
}

impl Counted {
    fn add(&mut self, second: u64, counts: Counts) {
        self.total += counts;
        let slot = &mut self.seconds[second as usize % SLOTS];
        if slot.0 != second {
            *slot = (second, Counts::default());
        }
        slot.1 += counts;
    }

    fn window(&self, now: u64, n_seconds: u64) -> Counts {
        let mut sum = Counts::default();
        let within = now.saturating_sub(n_seconds)..now;
        self.seconds.iter().filter(|(second, _)| within.contains(second)).for_each(|(_, counts)| sum += *counts);
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::event::{Class, Outcome, Source, Verdict};

    #[test]
    fn windows_count_what_is_in_them() {
        let mut counted = Counted { total: Counts::default(), seconds: vec![(0, Counts::default()); SLOTS] };
        let one = Counts { documents: 1, ..Counts::default() };
        // One in the first second, two in the next, and so on: what lies before the window has been written over.
        for second in 0..1000 {
            (0..=second).for_each(|_| counted.add(second, one));
            for n_seconds in [1, 10, WINDOW_S_MAX] {
                let naive = (second.saturating_sub(n_seconds)..second).map(|second| second + 1).sum::<u64>();
                assert_eq!(counted.window(second, n_seconds).documents, naive, "{second} {n_seconds}");
            }
        }
        assert_eq!(counted.total.documents, 500_500);
        assert_eq!(counted.window(5000, WINDOW_S_MAX), Counts::default(), "nothing was said for long");
    }

    #[test]
    fn verdicts_are_counted_by_what_they_say() {
        let verdict = |classes: &[Class], outcome, revision| {
            let bare = Verdict::bare("a".into(), Some(Kind::Page), Source::default(), outcome);
            Event::Verdict(Box::new(Verdict { classes: classes.to_vec(), revision, ..bare }))
        };
        let counts = Counts::of(&[
            verdict(&[Class::Mirror, Class::Template], Outcome::Judged, 0),
            verdict(&[], Outcome::Judged, 0),
            verdict(&[], Outcome::Insufficient, 0),
            verdict(&[Class::Quilt], Outcome::Judged, 1),
        ]);
        let expected = Counts {
            documents: 3,
            pages: 3,
            mirror: 1,
            template: 1,
            original: 1,
            insufficient: 1,
            revisions: 1,
            ..Counts::default()
        };
        assert_eq!(counts, expected);
    }
}
