//! Whose place a group or cluster takes that was begun beside an elder store: so that labels outlive the elder.
//!
//! While one scheme follows another, the successor begins a group for a document that the elder knows as a copy of an earlier
//! one. That earlier document may be labelled, and is never seen by the successor. So it is remembered whose place the new head
//! takes, and a verdict carries the labels of both. The same goes for style clusters, whose names are other ones.
//!
//! # Invariants
//! - At most `n_max` are remembered, and what was turned away is counted. (`there_are_bounds`)
//! - Whose heir an heir is counts too, after several successions; a circle is walked once. (`lines_go_back_and_end`)

use super::event::Carried;
use super::judge::Judge;
use super::labels::Bearings;
use crate::store::cluster_name;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Successions that a label outlives.
const GENERATIONS_MAX: usize = 8;

/// Whose place is taken.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heirs {
    documents: BTreeMap<String, String>,
    clusters: BTreeMap<u64, u64>,
    n_max: usize,
    n_turned_away: u64,
}

impl Heirs {
    /// None yet, and never more than `n_max`.
    pub fn new(n_max: usize) -> Self {
        Self { n_max, ..Self::default() }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.documents.len() + self.clusters.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many there was no room for.
    pub fn n_turned_away(&self) -> u64 {
        self.n_turned_away
    }

    /// The document `id` has begun a group in the place of that of `of`, or of none. `elders` know whose place that took.
    pub fn begin_group(&mut self, id: &str, of: Option<&str>, elders: &Self) {
        self.documents.remove(id);
        let Some(of) = of else { return };
        let line = std::iter::once(of).chain(elders.of_document(of)).map(str::to_owned);
        note(
            &mut self.documents,
            self.n_max.saturating_sub(self.clusters.len()),
            &mut self.n_turned_away,
            id.to_owned(),
            line,
        );
    }

    /// The cluster `id` holds what the cluster `of` of the elder holds. The first that is said of a cluster counts.
    pub fn join_cluster(&mut self, id: u64, of: u64, elders: &Self) {
        if id == of || self.clusters.contains_key(&id) {
            return;
        }
        let line = std::iter::once(of).chain(elders.of_cluster(of));
        note(&mut self.clusters, self.n_max.saturating_sub(self.documents.len()), &mut self.n_turned_away, id, line);
    }

    /// Whose place the group of `id` takes, the nearest first.
    pub fn of_document<'a>(&'a self, id: &'a str) -> impl Iterator<Item = &'a str> {
        line(id, |of: &&str| self.documents.get(*of).map(String::as_str))
    }

    /// Whose place the cluster `id` takes, the nearest first.
    pub fn of_cluster(&self, id: u64) -> impl Iterator<Item = u64> {
        line(id, |of: &u64| self.clusters.get(of).copied())
    }
}

/// From the one before `id` to the first of all; a circle ends where it began.
fn line<K: Copy + PartialEq>(id: K, before: impl Fn(&K) -> Option<K>) -> impl Iterator<Item = K> {
    let mut line = std::iter::successors(before(&id), before).take(GENERATIONS_MAX);
    std::iter::from_fn(move || line.next().filter(|of| *of != id)).fuse()
}

/// Notes that `id` takes the place of the first of `line`, that one of the next, and so on.
fn note<K: Ord + Clone>(
    heirs: &mut BTreeMap<K, K>,
    n_max: usize,
    n_turned_away: &mut u64,
    mut id: K,
    line: impl Iterator<Item = K>,
) {
    for of in line {
        if heirs.contains_key(&id) {
            return;
        }
        if heirs.len() >= n_max {
            *n_turned_away += 1;
            return;
        }
        heirs.insert(id, of.clone());
        id = of;
    }
}

impl Judge {
    /// Whose places are taken.
    pub fn heirs(&self) -> &Heirs {
        &self.heirs
    }

    /// The same, to be changed between batches.
    pub fn heirs_mut(&mut self) -> &mut Heirs {
        &mut self.heirs
    }

    /// Notes which clusters had become part of which by the `elder`, whose place is taken.
    pub(crate) fn inherit_merges(&mut self, elder: Self) {
        let Self { lineage, labels, .. } = self;
        lineage.follow(elder.lineage, |cluster| !labels.of_cluster(&cluster_name(cluster)).is_empty());
    }

    /// The labels that the verdict on a document carries, with those of whom its group is the heir.
    pub(super) fn carried(&self, bearings: &Bearings<'_>) -> Vec<Carried> {
        let carried = self.labels.carried(bearings);
        if self.heirs.is_empty() || self.labels.is_empty() {
            return carried;
        }
        self.labels.inherited(carried, self.heirs.of_document(bearings.group_head.unwrap_or(bearings.id)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn documents(heirs: &Heirs, id: &str) -> Vec<String> {
        heirs.of_document(id).map(str::to_owned).collect()
    }

    #[test]
    fn lines_go_back_and_end() {
        let none = Heirs::default();
        let mut first = Heirs::new(10);
        first.begin_group("b", Some("a"), &none);
        first.join_cluster(2, 1, &none);
        first.join_cluster(2, 0, &none);
        let mut second = Heirs::new(10);
        second.begin_group("c", Some("b"), &first);
        second.join_cluster(3, 2, &first);
        assert_eq!(documents(&second, "c"), ["b", "a"]);
        assert_eq!(second.of_cluster(3).collect::<Vec<_>>(), [2, 1]);
        assert_eq!((second.len(), documents(&second, "x").len()), (4, 0));
        // The page comes again with another text, which is nobody's copy.
        second.begin_group("c", None, &first);
        assert_eq!(documents(&second, "c").len(), 0);
        // What was first comes again, and begins the group of which it was the first.
        let mut third = Heirs::new(10);
        third.begin_group("a", Some("b"), &first);
        assert_eq!(documents(&third, "a"), ["b"]);
        assert_eq!(documents(&third, "b"), ["a"]);
    }

    #[test]
    fn there_are_bounds() {
        let mut heirs = Heirs::new(2);
        for id in ["b", "c", "d", "d"] {
            heirs.begin_group(id, Some("a"), &Heirs::default());
        }
        heirs.join_cluster(2, 1, &Heirs::default());
        assert_eq!((heirs.len(), heirs.n_turned_away()), (2, 3));
        heirs.begin_group("b", None, &Heirs::default());
        heirs.join_cluster(2, 1, &Heirs::default());
        assert_eq!((heirs.len(), heirs.n_turned_away()), (2, 3));
    }
}
