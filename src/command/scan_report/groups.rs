//! The largest mirror groups, each with its first members.
//!
//! # Invariants
//! - A document is in the group that its last event names, and in no other. (`a_document_is_in_one_group`)
//! - Groups and members are bounded; what is left out is counted. (`members_left_out_are_counted`)

use super::ranking::{Ranked, Ranking};
use super::{Key, brief};
use crate::verdict::event::{Mirror, Signal, TextView, Verdict};
use crate::verdict::relation::{Direction, Relation};
use std::cmp::Ordering;
use std::collections::HashMap;

/// Groups that are shown.
const GROUPS_MAX: usize = 200;
/// Members of one that are shown.
const MEMBERS_MAX: usize = 20;

/// Documents that are copies of one.
#[derive(Debug)]
pub(super) struct Group {
    /// The key of the head.
    pub(super) head_key: Key,
    /// The id of the head.
    pub(super) head: String,
    /// Its URL.
    pub(super) url: Option<String>,
    /// The preferred copy, where that is another.
    pub(super) canonical: Option<String>,
    /// Documents, the head included.
    pub(super) size: u64,
    /// Their registered domains.
    pub(super) domains: u32,
    /// The first members.
    pub(super) members: Vec<Member>,
    n_unshown: u64,
}

/// One document of a group.
#[derive(Debug)]
pub(super) struct Member {
    key: Key,
    /// Its id.
    pub(super) id: String,
    /// Its domain.
    pub(super) domain: Option<String>,
    /// Where it lies.
    pub(super) place: String,
    /// How alike it and the head are.
    pub(super) resemblance: f64,
    /// R.
    pub(super) overlap: f64,
    /// Simpson's coefficient.
    pub(super) containment: f64,
    /// Which lies in which.
    pub(super) direction: Direction,
    /// The leaf of the tree.
    pub(super) relation: Relation,
    /// What found it.
    pub(super) signals: Vec<Signal>,
    /// The view that matched.
    pub(super) view: TextView,
}

impl Ranked for Group {
    fn order(&self, other: &Self) -> Ordering {
        (other.size, other.domains).cmp(&(self.size, self.domains))
    }
}

impl Group {
    /// The member that tells most: the least alike.
    pub(super) fn example(&self) -> Option<&Member> {
        self.members.iter().min_by(|a, b| a.resemblance.total_cmp(&b.resemblance))
    }

    /// Members that are counted and not shown. What is only contained in the head is not in the size.
    pub(super) fn n_further(&self) -> u64 {
        self.n_unshown.max(self.size.saturating_sub(1 + self.members.len() as u64))
    }
}

/// The groups so far.
pub(super) struct Groups {
    ranking: Ranking<Group>,
    /// The head of each kept member.
    head_of: HashMap<Key, Key>,
}

impl Groups {
    pub(super) fn new() -> Self {
        Self { ranking: Ranking::new(GROUPS_MAX), head_of: HashMap::new() }
    }

    /// Takes in what a verdict says of the document `key`, whose head has the key `head_key`.
    pub(super) fn add(&mut self, key: Key, head_key: Key, mirror: &Mirror, verdict: &Verdict, place: &str) {
        let member = Member {
            key,
            id: brief(&verdict.id),
            domain: verdict.domain.as_deref().map(brief),
            place: place.to_owned(),
            resemblance: mirror.resemblance,
            overlap: mirror.overlap,
            containment: mirror.containment,
            direction: mirror.direction,
            relation: mirror.relation,
            signals: mirror.signals.iter().copied().take(8).collect(),
            view: mirror.view,
        };
        let canonical = Some(brief(&mirror.canonical)).filter(|_| mirror.canonical != mirror.of);
        if let Some(group) = self.ranking.get_mut(head_key) {
            // Events of one batch may come in any order of sizes; a group only grows.
            group.size = group.size.max(mirror.size.into());
            group.domains = group.domains.max(mirror.domains);
            group.canonical = canonical;
            if group.members.len() < MEMBERS_MAX {
                group.members.push(member);
                self.head_of.insert(key, head_key);
            } else if verdict.revision == 0 && verdict.recrawl.is_none() {
                group.n_unshown += 1;
            }
            return;
        }
        let group = Group {
            head_key,
            head: brief(&mirror.of),
            url: mirror.url.as_deref().filter(|url| *url != mirror.of).map(brief),
            canonical,
            size: mirror.size.into(),
            domains: mirror.domains,
            members: vec![member],
            n_unshown: 0,
        };
        self.head_of.insert(key, head_key);
        let gone = self.ranking.put(head_key, group);
        if !gone.is_empty() {
            let gone: std::collections::HashSet<_> = gone.into_iter().collect();
            self.head_of.retain(|_, head| !gone.contains(head));
        }
    }

    /// Takes a document out of its group.
    pub(super) fn remove(&mut self, key: Key) {
        let Some(head_key) = self.head_of.remove(&key) else { return };
        let Some(group) = self.ranking.get_mut(head_key) else { return };
        group.members.retain(|member| member.key != key);
        if group.members.is_empty() {
            self.ranking.remove(head_key);
        }
    }

    /// The largest.
    pub(super) fn best(&self) -> Vec<&Group> {
        self.ranking.best()
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample::mirror_of;
    use super::*;

    fn groups(events: &[(Key, Key, u32)]) -> Groups {
        let mut groups = Groups::new();
        for &(key, head, size) in events {
            let mut verdict = mirror_of(&key.to_string(), &head.to_string(), 0.9);
            verdict.mirror.as_mut().unwrap().size = size;
            groups.remove(key);
            groups.add(key, head, verdict.mirror.as_ref().unwrap(), &verdict, "place");
        }
        groups
    }

    #[test]
    fn a_document_is_in_one_group() {
        let groups = groups(&[(1, 100, 2), (2, 100, 3), (1, 200, 2), (3, 300, 2), (3, 200, 3)]);
        let shown: Vec<_> = groups.best().iter().map(|g| (g.head.as_str(), g.members.len())).collect();
        assert_eq!(shown, [("100", 1), ("200", 2)]);
    }

    #[test]
    fn members_left_out_are_counted() {
        let events: Vec<_> = (0..50).map(|key| (key, 100, key as u32 + 2)).collect();
        let groups = groups(&events);
        let group = groups.best()[0];
        assert_eq!((group.size, group.members.len(), group.n_further()), (51, MEMBERS_MAX, 30));
    }

    #[test]
    fn many_groups_stay_bounded() {
        let events: Vec<_> = (0..5000).map(|key| (key, 10_000 + key, 2 + (key as u32 * 37 % 1000))).collect();
        let groups = groups(&events);
        assert_eq!((groups.best().len(), groups.best()[0].size), (GROUPS_MAX, 1001));
        assert!(groups.head_of.len() <= 2 * GROUPS_MAX);
    }
}
