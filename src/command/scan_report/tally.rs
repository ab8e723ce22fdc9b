//! How many documents are what, each counted once however often it was judged.
//!
//! To count a document once, its last state has to be known: a few bits under the hash of its id. That is bounded by
//! [`KNOWN_MAX`]; beyond it first verdicts are counted as they come, and later ones are only counted as not folded in.
//! The places of documents that may become heads of mirror groups are kept beside it, [`PLACES_BYTES_MAX`] at most.
//!
//! # Invariants
//! - The last event of an id holds. (`the_last_event_of_an_id_holds`)
//! - Past the bound no document is counted twice. (`past_the_bound_nothing_counts_twice`)

use crate::document::Kind;
use crate::verdict::event::{Class, Outcome, QuiltKind, Verdict};
use std::collections::HashMap;

/// Documents whose last state is known: 70 MB, when there are as many.
pub(super) const KNOWN_MAX: usize = (1 << 21) / 8 * 7;
/// Bytes of places that are kept.
const PLACES_BYTES_MAX: usize = 64 << 20;
/// A longer place is not kept.
const PLACE_BYTES_MAX: usize = 4096;

/// What one document is: kind, outcome, classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct State(u16);

const MIRROR: u16 = 1 << 0;
const QUILT: u16 = 1 << 1;
const TEMPLATE: u16 = 1 << 2;
const AGGREGATOR: u16 = 1 << 3;
const INSUFFICIENT: u16 = 1 << 4;
const REJECTED: u16 = 1 << 5;
const PAGE: u16 = 1 << 6;
const MAIL: u16 = 1 << 7;
const LABELLED: u16 = 1 << 8;
const RELATED: u16 = 1 << 9;
const N_STATES: usize = 1 << 10;

impl State {
    fn of(verdict: &Verdict) -> Self {
        let mut state = match verdict.outcome {
            Outcome::Judged => 0,
            Outcome::Insufficient => INSUFFICIENT,
            Outcome::Rejected => REJECTED,
        };
        state |= match verdict.kind {
            Some(Kind::Page) => PAGE,
            Some(Kind::Email) => MAIL,
            None => 0,
        };
        for class in &verdict.classes {
            state |= match class {
                Class::Mirror => MIRROR,
                Class::Quilt => QUILT,
                Class::Template => TEMPLATE,
            };
        }
        if verdict.quilt.as_ref().is_some_and(|quilt| quilt.kind == QuiltKind::Aggregator) {
            state |= AGGREGATOR;
        }
        if !verdict.labels.is_empty() {
            state |= LABELLED;
        }
        if !verdict.related.is_empty() {
            state |= RELATED;
        }
        Self(state)
    }

    fn has(self, flags: u16) -> bool {
        self.0 & flags != 0
    }
}

/// A line of the table of counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// Judged, no class.
    Original,
    /// The class, alone or with others.
    Mirror,
    /// The class, alone or with others, aggregators included.
    Quilt,
    /// Quilts that link to their sources.
    Aggregator,
    /// The class, alone or with others.
    Template,
    /// Two classes and more.
    Several,
    /// Too little text.
    Insufficient,
    /// Could not be read.
    Rejected,
    /// Carries a label.
    Labelled,
    /// Shares rare sentences with others.
    Related,
    /// One or the other.
    Noted,
    /// Every document.
    All,
}

impl Line {
    fn holds(self, state: State) -> bool {
        let classes = state.0 & (MIRROR | QUILT | TEMPLATE);
        match self {
            Self::Original => classes == 0 && !state.has(INSUFFICIENT | REJECTED),
            Self::Mirror => state.has(MIRROR),
            Self::Quilt => state.has(QUILT),
            Self::Aggregator => state.has(AGGREGATOR),
            Self::Template => state.has(TEMPLATE),
            Self::Several => classes.count_ones() > 1,
            Self::Insufficient => state.has(INSUFFICIENT),
            Self::Rejected => state.has(REJECTED),
            Self::Labelled => state.has(LABELLED),
            Self::Related => state.has(RELATED),
            Self::Noted => state.has(LABELLED | RELATED),
            Self::All => true,
        }
    }
}

struct Known {
    state: State,
    place: Option<Box<str>>,
}

/// The counts.
pub(super) struct Tally {
    known: HashMap<u64, Known>,
    known_max: usize,
    n_by_state: [u64; N_STATES],
    n_place_bytes: usize,
    /// Events, revisions included.
    pub(super) n_events: u64,
    /// Later events of documents that were no longer known.
    pub(super) n_unfolded: u64,
}

impl Tally {
    /// Nothing yet, and never more than `known_max` documents known.
    pub(super) fn new(known_max: usize) -> Self {
        let known = HashMap::new();
        Self { known, known_max, n_by_state: [0; N_STATES], n_place_bytes: 0, n_events: 0, n_unfolded: 0 }
    }

    /// Counts what is said of the document `key`, in place of what was said of it before.
    pub(super) fn count(&mut self, key: u64, verdict: &Verdict, place: &str) {
        self.n_events += 1;
        let state = State::of(verdict);
        let place = may_be_head(verdict).then_some(place).filter(|place| place.len() <= PLACE_BYTES_MAX);
        if let Some(known) = self.known.get_mut(&key) {
            self.n_by_state[usize::from(known.state.0)] -= 1;
            known.state = state;
            // A recrawl lies elsewhere, and its text is what the verdict is about.
            if let Some(place) = place.filter(|place| known.place.as_deref() != Some(place)) {
                let n_bytes = self.n_place_bytes - known.place.as_ref().map_or(0, |old| old.len()) + place.len();
                if n_bytes <= PLACES_BYTES_MAX {
                    self.n_place_bytes = n_bytes;
                    known.place = Some(place.into());
                }
            }
        } else if self.known.len() < self.known_max {
            let place = place.filter(|place| self.n_place_bytes + place.len() <= PLACES_BYTES_MAX);
            self.n_place_bytes += place.map_or(0, str::len);
            self.known.insert(key, Known { state, place: place.map(Into::into) });
        } else if verdict.revision > 0 || verdict.recrawl.is_some() {
            self.n_unfolded += 1;
            return;
        }
        self.n_by_state[usize::from(state.0)] += 1;
    }

    /// Where a document lies, if that was kept.
    pub(super) fn place(&self, key: u64) -> Option<&str> {
        self.known.get(&key)?.place.as_deref()
    }

    /// Documents on a line of the table, of one kind or of all.
    pub(super) fn n(&self, line: Line, kind: Option<Kind>) -> u64 {
        let flag = match kind {
            None => u16::MAX,
            Some(Kind::Page) => PAGE,
            Some(Kind::Email) => MAIL,
        };
        self.sum(|state| line.holds(state) && (flag == u16::MAX || state.has(flag)))
    }

    /// Documents on a line that have no second class: these do not overlap.
    pub(super) fn n_alone(&self, line: Line) -> u64 {
        self.sum(|state| line.holds(state) && (line == Line::Several || !Line::Several.holds(state)))
    }

    fn sum(&self, counts: impl Fn(State) -> bool) -> u64 {
        let of = |(state, n): (usize, &u64)| counts(State(state as u16)).then_some(*n);
        self.n_by_state.iter().enumerate().filter_map(of).sum()
    }
}

/// Whether later documents may be copies of this one: copies are none, what is contained in another is its own head.
fn may_be_head(verdict: &Verdict) -> bool {
    verdict.outcome == Outcome::Judged && verdict.group() == verdict.id
}

#[cfg(test)]
mod tests {
    use super::super::sample::{mirror_of, original, quilt_of};
    use super::*;
    use crate::verdict::event::{Mirror, Recrawl, Signal};
    use crate::verdict::relation::Direction;

    #[test]
    fn the_last_event_of_an_id_holds() {
        let mut tally = Tally::new(10);
        tally.count(1, &original("a"), "a.html");
        tally.count(2, &original("b"), "b.html");
        let revised = Verdict { revision: 1, ..quilt_of("a", &[]) };
        tally.count(1, &revised, "a.html");
        tally.count(3, &mirror_of("c", "b", 0.9), "c.html");
        let lines = [Line::All, Line::Original, Line::Quilt, Line::Mirror, Line::Several];
        assert_eq!(lines.map(|line| tally.n(line, None)), [3, 1, 1, 1, 0]);
        assert_eq!((tally.n(Line::All, Some(Kind::Page)), tally.n(Line::All, Some(Kind::Email))), (3, 0));
        assert_eq!((tally.place(2), tally.place(3)), (Some("b.html"), None), "copies are nobody's head");
        assert_eq!(tally.n_events, 4);
        // Whichever of the two is the longer.
        let with = |change: fn(&mut Mirror)| {
            let mut verdict = mirror_of("d", "b", 0.9);
            verdict.mirror.as_mut().map(change).unwrap();
            verdict
        };
        tally.count(4, &with(|mirror| mirror.direction = Direction::ThisInThat), "copy.html");
        tally.count(5, &with(|mirror| mirror.signals = vec![Signal::Sentences]), "part.html");
        assert_eq!((tally.place(4), tally.place(5)), (None, Some("part.html")));
    }

    #[test]
    fn past_the_bound_nothing_counts_twice() {
        let mut tally = Tally::new(1);
        tally.count(1, &original("a"), "a");
        tally.count(2, &original("b"), "b");
        tally.count(2, &Verdict { revision: 1, ..original("b") }, "b");
        tally.count(2, &Verdict { recrawl: Some(Recrawl::Unchanged), ..original("b") }, "b");
        tally.count(1, &Verdict { outcome: Outcome::Insufficient, ..original("a") }, "a");
        assert_eq!((tally.n(Line::All, None), tally.n(Line::Insufficient, None)), (2, 1));
        assert_eq!((tally.n_unfolded, tally.place(2)), (2, None));
    }

    #[test]
    fn places_are_bounded() {
        let mut tally = Tally::new(10);
        tally.count(1, &original("a"), &"x".repeat(PLACE_BYTES_MAX + 1));
        assert_eq!(tally.place(1), None);
        tally.n_place_bytes = PLACES_BYTES_MAX - 3;
        tally.count(2, &original("b"), "long");
        tally.count(3, &original("c"), "abc");
        assert_eq!((tally.place(2), tally.place(3)), (None, Some("abc")));
    }
}
