//! Parts: sources that lie mostly in a document, in groups that hold the same of it.
//!
//! A quilt has short texts whole; whoever shows excerpts of an article lies in it too. What tells them apart is how they overlap. Sites
//! that excerpt one text each have another piece of it, and together hold much of it twice: they took from the document, or from what it
//! took from. Sites with one and the same passage are one source, however many they are.
//!
//! # Invariants
//! - An article is no quilt of those who show parts of it, and neither are they. (`excerpts_of_one_article_are_no_quilts`)
//! - A quilt is one however many sites have each of its passages. (`passages_that_stand_on_two_sites_make_a_quilt`)

use super::cover::Bits;
use super::standings::{Extent, KnownSource};
use std::ops::Range;

/// The parts of a document that show pieces of one text.
pub(super) struct Excerpts {
    groups: Vec<Bits>,
}

impl Excerpts {
    /// Of those `known`: all, or only those that came before the document.
    pub(super) fn of<'k>(known: impl Iterator<Item = &'k KnownSource>, with_later: bool) -> Self {
        let mut groups: Vec<Group> = Vec::new();
        for KnownSource { bits, .. } in known.filter(|source| is_part(source.extent, with_later)) {
            let n = bits.count();
            let mut group = Group { bits: bits.clone(), reach: bits.reach(), n_held: n, n_most: n };
            // Whoever holds some of two groups makes them one; those that it has passed over by then are not asked again.
            groups.retain(|other| !group.takes_in(other));
            groups.push(group);
        }
        let groups = groups.into_iter().filter(Group::is_one_text).map(|group| group.bits).collect();
        Self { groups }
    }

    /// Whether this part is one of them: what it has of the document lies in what a group has.
    pub(super) fn has(&self, bits: &Bits) -> bool {
        self.groups.iter().any(|group| bits.count_without(group) == 0)
    }

    /// Whether half of this and more lies in what a group has.
    pub(super) fn has_half(&self, bits: &Bits) -> bool {
        self.groups.iter().any(|group| 2 * bits.count_within(group) >= bits.count())
    }
}

pub(super) fn is_part(extent: Extent, with_later: bool) -> bool {
    extent == Extent::MostBefore || with_later && extent == Extent::MostAfter
}

/// Parts that hold some of the same.
struct Group {
    /// What they have of the document together ...
    bits: Bits,
    /// ... and where: an exhaustive scan of a list that holds thousands of texts has as many groups, which nobody can compare bit by bit.
    reach: Range<usize>,
    /// What each has of it, summed up.
    n_held: u32,
    /// What the largest has.
    n_most: u32,
}

impl Group {
    /// Takes in `other`, if they hold some of the same: a quarter of the smaller, since a sentence may stand in all of a quilt's sources.
    fn takes_in(&mut self, other: &Self) -> bool {
        if self.reach.end <= other.reach.start || other.reach.end <= self.reach.start {
            return false;
        }
        let n_smaller = self.bits.count().min(other.bits.count());
        let is_one = 4 * self.bits.count_within(&other.bits) >= n_smaller;
        if is_one {
            self.bits.add(&other.bits);
            self.reach = self.reach.start.min(other.reach.start)..self.reach.end.max(other.reach.end);
            self.n_held += other.n_held;
            self.n_most = self.n_most.max(other.n_most);
        }
        is_one
    }

    /// Whether they show pieces of one text: they hold half as much again as there is, and nobody has nearly all of it.
    fn is_one_text(&self) -> bool {
        let n = self.bits.count();
        2 * self.n_held >= 3 * n && 5 * self.n_most < 4 * n
    }
}
