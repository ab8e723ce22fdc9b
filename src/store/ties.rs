//! Which domains of a cluster are linked to by others of it: exactly while few are spoken of, else by a sample of them.
//!
//! A link can come before the page that it leads to, and most links lead out of the cluster. So every domain is noted that has
//! a member or that a member of another domain links to, and the 64 with the smallest hashes are kept. Whoever is among these in
//! the end was so from its first mention on: all that was ever said of it is known, in whatever order it was said.
//!
//! # Invariants
//! - The order of pages does not count, nor in how many parts they were noted before they were merged. (`parts_merge_to_the_whole`)
//! - Of more domains than are kept the share is that of a fair sample. (`a_sample_tells_a_farm`)
//! - A domain that links to itself is not linked to. (`own_links_are_no_ties`)

use crate::signature::keyed::mix;
use serde::{Deserialize, Serialize};

/// Domains that are kept, where memory is fixed.
pub(super) const TIES_MAX: usize = 64;
/// Bytes of them.
pub(super) const TIES_BYTES: usize = size_of::<u32>() * TIES_MAX;
/// A share of a sample says nothing with fewer members in it.
const SAMPLED_MIN: u32 = 4;

/// A member's domain.
const MEMBER: u32 = 1;
/// A domain that a member of another one links to.
const LINKED: u32 = 2;
/// What a domain is noted by; the rest of its 32 bits say what it is.
const VALUE: u32 = !(MEMBER | LINKED);

/// The domains that a cluster's pages are of or link to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Ties {
    /// Ascending and distinct by value.
    domains: Vec<u32>,
    /// Whether there were more.
    is_sample: bool,
}

impl Ties {
    /// Notes a page of `domain` (0 where unknown) that links to pages of `link_domains`; at most `n_max` domains are kept.
    pub(super) fn add(&mut self, domain: u64, link_domains: &[u64], n_max: usize) {
        if domain != 0 {
            self.note(value(domain) | MEMBER, n_max);
        }
        for &linked in link_domains.iter().filter(|&&linked| linked != domain) {
            self.note(value(linked) | LINKED, n_max);
        }
    }

    /// Notes all that `other` has noted.
    pub(super) fn merge(&mut self, other: &Self, n_max: usize) {
        self.is_sample |= other.is_sample;
        other.domains.iter().for_each(|&noted| self.note(noted, n_max));
    }

    /// How many domains have members, where all are kept.
    pub(super) fn n_members(&self) -> Option<u32> {
        (!self.is_sample).then(|| self.counts().0)
    }

    /// The share of the members' domains that another member's page links to, as far as a sample tells.
    pub(super) fn share(&self) -> Option<f64> {
        let (n_members, n_linked) = self.counts();
        let is_enough = n_members >= if self.is_sample { SAMPLED_MIN } else { 1 };
        is_enough.then(|| f64::from(n_linked) / f64::from(n_members))
    }

    /// Whether it can have been noted so.
    pub(super) fn is_sound(&self) -> bool {
        self.domains.len() <= TIES_MAX && self.domains.is_sorted_by(|a, b| a & VALUE < b & VALUE)
    }

    /// Domains with members, and those of them that are linked to.
    fn counts(&self) -> (u32, u32) {
        let n = |traits: u32| self.domains.iter().filter(|&&noted| noted & traits == traits).count() as u32;
        (n(MEMBER), n(MEMBER | LINKED))
    }

    fn note(&mut self, noted: u32, n_max: usize) {
        match self.domains.binary_search_by_key(&(noted & VALUE), |known| known & VALUE) {
            Ok(index) => self.domains[index] |= noted,
            Err(index) if index >= n_max => self.is_sample = true,
            Err(index) => {
                if self.domains.len() >= n_max {
                    self.domains.pop();
                    self.is_sample = true;
                }
                self.domains.insert(index, noted);
            }
        }
    }
}

/// What is kept of a hash. Mixed, because hashes of several families come here.
fn value(hash: u64) -> u32 {
    (mix(mix(hash, 0x71E5), 0x71E5) >> 32) as u32 & VALUE
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn noted(pages: &[(u64, Vec<u64>)], n_max: usize) -> Ties {
        let mut ties = Ties::default();
        pages.iter().for_each(|(domain, links)| ties.add(*domain, links, n_max));
        ties
    }

    /// Each domain links to the five after it, and to `n_outside` that nobody else speaks of.
    fn farm(n_domains: u64, n_outside: u64) -> Vec<(u64, Vec<u64>)> {
        let outside = |domain: u64| (0..n_outside).map(move |number| 1_000_000 + domain * 100 + number);
        let inside = |domain: u64| (1..=5).map(move |step| (domain + step - 1) % n_domains + 1);
        (1..=n_domains).map(|domain| (domain, inside(domain).chain(outside(domain)).collect())).collect()
    }

    #[test]
    fn a_sample_tells_a_farm() {
        for (n_domains, n_outside) in [(30, 0), (600, 0), (20_000, 0), (600, 5)] {
            let ties = noted(&farm(n_domains, n_outside), TIES_MAX);
            assert_eq!(ties.share(), Some(1.0), "{n_domains} domains");
            assert_eq!(ties.n_members(), (n_domains <= 64).then_some(n_domains as u32));
            // Pages of one template that link to other places, and a few of them to each other.
            let mut pages = farm(n_domains, 5);
            pages.iter_mut().for_each(|(domain, links)| drop(links.drain(..if *domain % 20 == 0 { 4 } else { 5 })));
            let share = noted(&pages, TIES_MAX).share().unwrap_or(0.0);
            assert!(share < 0.3, "{share} of {n_domains}");
        }
        let hidden = noted(&farm(600, 50), TIES_MAX);
        assert_eq!(hidden.share(), None, "too few of them are members");
    }

    #[test]
    fn own_links_are_no_ties() {
        let ties = noted(&[(1, vec![1, 9]), (1, vec![1]), (2, vec![2]), (0, vec![])], TIES_MAX);
        assert_eq!((ties.share(), ties.n_members()), (Some(0.0), Some(2)));
        assert_eq!(noted(&[(1, vec![2]), (2, vec![])], TIES_MAX).share(), Some(0.5));
        assert_eq!(Ties::default().share(), None);
    }

    proptest! {
        #[test]
        fn parts_merge_to_the_whole(
            pages in prop::collection::vec((0_u64..60, prop::collection::vec(1_u64..60, 0..6)), 0..60),
            cut in 0_usize..60, n_max in 1_usize..40,
        ) {
            let (left, right) = pages.split_at(cut.min(pages.len()));
            let mut merged = noted(right, n_max);
            merged.merge(&noted(left, n_max), n_max);
            prop_assert_eq!(&merged, &noted(&pages, n_max));
            prop_assert!(merged.is_sound());
        }
    }
}
