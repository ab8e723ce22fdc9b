//! A filter that cannot go on under other settings has a successor that can: both see every document, one of them speaks.
//!
//! The elder knows all that was seen, and decides; the successor begins empty, at the elder's position and time, and is silent.
//! When it has seen all that counts it takes the elder's place, whose memory is freed. Names of groups and clusters are then other
//! ones; whose places they take is remembered ([`crate::verdict::heirs`]).
//!
//! # Invariants
//! - The elder says what it would say alone, and the successor what one would say that began where it did.
//!   (`both_say_what_they_would_say_alone`, `tests/promises/run/succession.rs`)
//! - Both are written down together, as of one moment. (`both_are_read_back`)

use super::{Event, Filter};
use crate::store::{Arrival, Settled};
use crate::verdict::event::ClusterEvent;
use crate::verdict::heirs::Heirs;
use crate::verdict::labels::Full;
use std::collections::HashSet;

/// A document as the successor sees it.
pub struct Twin {
    /// It, signed under the successor's scheme.
    pub arrival: Arrival,
    /// Its number in the elder's batch, unless the elder could not read it.
    pub elder: Option<usize>,
}

impl Filter {
    /// Lets `successor`, which has seen nothing, see from now on what this one sees, and carry its labels. What was being written
    /// down is given up. Fails where it cannot hold as many labels; then nothing has changed.
    ///
    /// Panics when there is one already: that is a bug in the caller.
    pub fn begin_successor(&mut self, mut successor: Self, heirs_max: usize) -> Result<(), Full> {
        for label in self.labels().all() {
            successor.label((*label).clone())?;
        }
        successor.store.begin_at(&self.store);
        *successor.judge.heirs_mut() = Heirs::new(heirs_max);
        self.attach(successor);
        Ok(())
    }

    /// The same before both are read back.
    pub fn attach(&mut self, successor: Self) {
        assert!(self.successor.is_none(), "one follows after the other");
        self.abandon_snapshot();
        self.successor = Some(Box::new(successor));
    }

    /// The one that is to take its place.
    pub fn successor(&self) -> Option<&Self> {
        self.successor.as_deref()
    }

    /// The same, to be changed between batches.
    pub fn successor_mut(&mut self) -> Option<&mut Self> {
        self.successor.as_deref_mut()
    }

    /// Whose places its groups and clusters take.
    pub fn heirs(&self) -> &Heirs {
        self.judge.heirs()
    }

    /// Puts what was read back.
    pub fn set_heirs(&mut self, heirs: Heirs) {
        *self.judge.heirs_mut() = heirs;
    }

    /// [`Filter::fold`], with what the successor makes of the same documents; it says nothing.
    pub fn fold_both(&mut self, batch: &[Arrival], twins: Vec<Twin>, n_threads: usize, with: impl FnMut(Event)) {
        let settled = self.settle(batch, n_threads, with);
        let Some(successor) = &mut self.successor else { return };
        let (theirs, elders): (Vec<Arrival>, Vec<Option<usize>>) =
            twins.into_iter().map(|twin| (twin.arrival, twin.elder)).unzip();
        let by_successor = successor.settle(&theirs, n_threads, |_| {});
        for ((arrival, settled_there), elder) in theirs.iter().zip(&by_successor).zip(elders) {
            if let Some(elder) = elder {
                inherit(successor.judge.heirs_mut(), arrival, settled_there, &settled[elder], self.judge.heirs());
            }
        }
    }

    /// The successor takes its place. `with` is told which clusters have gone and how those are that stay.
    ///
    /// Panics when there is none: that is a bug in the caller.
    pub fn succeed(&mut self, mut with: impl FnMut(Event)) {
        self.abandon_snapshot();
        let successor = self.successor.take().expect("there is a successor");
        let elder = std::mem::replace(self, *successor);
        let stay = self.ranking();
        let names: HashSet<&str> = stay.iter().map(|cluster| cluster.id.as_str()).collect();
        for gone in elder.ranking().into_iter().filter(|cluster| !names.contains(cluster.id.as_str())) {
            with(Event::Cluster(Box::new(ClusterEvent { expired: true, ..gone })));
        }
        drop(names);
        self.judge.inherit_merges(elder.judge);
        stay.into_iter().for_each(|cluster| with(Event::Cluster(Box::new(cluster))));
    }

    /// There is to be no successor.
    pub fn withdraw_successor(&mut self) {
        self.abandon_snapshot();
        self.successor = None;
    }
}

/// Notes whose place a document's group and cluster take.
fn inherit(heirs: &mut Heirs, arrival: &Arrival, settled: &Settled, by_elder: &Settled, elders: &Heirs) {
    if settled.learns {
        let of = by_elder.joined.as_ref().map(|joined| joined.card.id.as_str());
        heirs.begin_group(&arrival.id, of, elders);
    }
    if let (Some(here), Some(there)) = (settled.styled.cluster, by_elder.styled.cluster) {
        heirs.join_cluster(here.id, there.id, elders);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Settings;
    use crate::document::Kind;
    use crate::store::tests::{arrival, settings};
    use crate::verdict::event::Verdict;
    use crate::verdict::label::Label;
    use crate::verdict::labels::Labels;

    fn filter(settings: &Settings, key_id: u64) -> Filter {
        Filter::new(settings, Labels::new(10), key_id)
    }

    /// Mails of 30 campaigns, as a scheme signs them.
    fn mails(scheme: u64, numbers: std::ops::Range<u64>) -> Vec<Arrival> {
        let mail = |number: u64| {
            let first = 1_000_000 * scheme + 100 * (number % 30);
            let mut mail = arrival(&format!("d{number}"), Kind::Email, first..first + 60);
            mail.time_ms = Some(number as i64);
            mail
        };
        numbers.map(mail).collect()
    }

    fn twins(arrivals: Vec<Arrival>) -> Vec<Twin> {
        (0..).zip(arrivals).map(|(number, arrival)| Twin { arrival, elder: Some(number) }).collect()
    }

    fn verdicts(filter: &mut Filter, numbers: std::ops::Range<u64>, schemes: (u64, Option<u64>)) -> Vec<Verdict> {
        let mut verdicts = Vec::new();
        let keep = |event: Event| {
            if let Event::Verdict(verdict) = event {
                verdicts.push(*verdict);
            }
        };
        let beside = schemes.1.map(|scheme| twins(mails(scheme, numbers.clone()))).unwrap_or_default();
        filter.fold_both(&mails(schemes.0, numbers), beside, 1, keep);
        verdicts
    }

    fn labelled(id: &str) -> Label {
        let json = format!(
            r#"{{"target":{{"document":"{id}"}},"label":"spam","by":"me","why":"","at":"2026-01-31T12:00:00Z"}}"#
        );
        Label::from_json(json.as_bytes()).unwrap()
    }

    #[test]
    fn both_say_what_they_would_say_alone() {
        let settings = settings(6 << 20);
        let (mut both, mut elder) = (filter(&settings, 7), filter(&settings, 7));
        assert_eq!(verdicts(&mut both, 0..40, (1, None)), verdicts(&mut elder, 0..40, (1, None)));
        let mut later = filter(&settings, 8);
        later.store.begin_at(&elder.store);
        both.begin_successor(filter(&settings, 8), 100).unwrap();
        assert_eq!(verdicts(&mut both, 40..90, (1, Some(2))), verdicts(&mut elder, 40..90, (1, None)));
        verdicts(&mut later, 40..90, (2, None));
        both.succeed(|_| {});
        assert!(both.successor().is_none());
        assert_eq!(verdicts(&mut both, 90..150, (2, None)), verdicts(&mut later, 90..150, (2, None)));
    }

    #[test]
    fn labels_outlive_the_elder() {
        let settings = settings(6 << 20);
        let mut both = filter(&settings, 7);
        verdicts(&mut both, 0..30, (1, None));
        both.label(labelled("d3")).unwrap();
        both.begin_successor(filter(&settings, 8), 100).unwrap();
        verdicts(&mut both, 30..60, (1, Some(2)));
        both.label(labelled("d5")).unwrap();
        both.succeed(|_| {});
        let after = verdicts(&mut both, 60..90, (2, None));
        for (number, verdict) in after.iter().enumerate() {
            assert_eq!(verdict.mirror.as_ref().unwrap().of, format!("d{}", 30 + number));
            let of: Vec<&str> = verdict.labels.iter().map(|carried| carried.of.as_str()).collect();
            let expected = if [3, 5].contains(&number) { vec![format!("d{number}")] } else { Vec::new() };
            assert_eq!(of, expected, "{number}");
        }
        // Once more, and the line goes back to the first.
        both.begin_successor(filter(&settings, 9), 100).unwrap();
        verdicts(&mut both, 90..120, (2, Some(3)));
        both.succeed(|_| {});
        let after = verdicts(&mut both, 120..150, (3, None));
        assert_eq!(after.iter().filter(|verdict| !verdict.labels.is_empty()).count(), 2);
        assert_eq!(after[3].labels[0].of, "d3");
    }

    #[test]
    fn both_are_read_back() {
        let settings = settings(6 << 20);
        let mut both = filter(&settings, 7);
        verdicts(&mut both, 0..40, (1, None));
        both.begin_successor(filter(&settings, 8), 100).unwrap();
        verdicts(&mut both, 40..80, (1, Some(2)));
        let saved = both.save().unwrap();
        let heirs = both.successor().unwrap().heirs().clone();
        assert!(filter(&settings, 7).load(&saved).is_err(), "half of it is not taken for the whole");
        let mut again = filter(&settings, 7);
        again.attach(filter(&settings, 8));
        again.load(&saved).unwrap();
        again.successor_mut().unwrap().set_heirs(heirs);
        assert_eq!(again.save().unwrap(), saved);
        for filter in [&mut both, &mut again] {
            verdicts(filter, 80..100, (1, Some(2)));
            filter.succeed(|_| {});
        }
        assert_eq!(both.heirs(), again.heirs());
        assert_eq!(verdicts(&mut both, 100..150, (2, None)), verdicts(&mut again, 100..150, (2, None)));
    }
}
