//! Which clusters have become part of which, so that a label on one that is no more still counts for the one that took it in.
//!
//! A cluster's id stays with whoever has read it: people label it an hour after it was merged, or the cluster that they have
//! labelled is merged a week later. Merges are noted in the order of the documents that brought them about, as judge comes to them;
//! beside them stands which labelled ids count for a cluster, so that a verdict costs one look.
//!
//! # Invariants
//! - Whether the label or the merge came first does not show, and saved and loaded it is the same. (`the_order_does_not_show`)
//! - So many merges are remembered and no more; the oldest give way. (`the_oldest_merges_give_way`)

use crate::store::Damaged;
use std::collections::{BTreeSet, HashMap, VecDeque};

/// Merges that are remembered: about 2 MiB. They are rare; a label on a cluster that was merged earlier than so many ago counts for nobody.
const MERGES_MAX: usize = 1 << 16;

/// Which clusters have become part of which.
#[derive(Debug, PartialEq)]
pub(super) struct Lineage {
    /// The cluster that took each in.
    into: HashMap<u64, u64>,
    /// Those that were taken in, the oldest first.
    order: VecDeque<u64>,
    /// The labelled ids that count for a cluster beside its own.
    heirlooms: HashMap<u64, BTreeSet<u64>>,
    merges_max: usize,
}

impl Default for Lineage {
    fn default() -> Self {
        Self::of_size(MERGES_MAX)
    }
}

impl Lineage {
    fn of_size(merges_max: usize) -> Self {
        Self { into: HashMap::new(), order: VecDeque::new(), heirlooms: HashMap::new(), merges_max }
    }

    /// What has become of the cluster `id`: itself, where it was not taken in.
    pub(super) fn heir(&self, mut id: u64) -> u64 {
        while let Some(&into) = self.into.get(&id) {
            id = into;
        }
        id
    }

    /// The labelled clusters that have become part of `id`.
    pub(super) fn heirlooms(&self, id: u64) -> impl Iterator<Item = u64> {
        self.heirlooms.get(&id).into_iter().flatten().copied()
    }

    /// Notes that `younger` has become part of `older`; `is_labelled` says whether `younger` has labels.
    pub(super) fn merge(&mut self, younger: u64, older: u64, is_labelled: bool) {
        if self.heir(older) == younger || self.into.contains_key(&younger) {
            // Ids are used once. Whoever forges a snapshot may make them a ring, and gets no further.
            return;
        }
        if self.order.len() >= self.merges_max {
            self.forget_oldest();
        }
        self.into.insert(younger, older);
        self.order.push_back(younger);
        let mut moved = self.heirlooms.remove(&younger).unwrap_or_default();
        if is_labelled {
            moved.insert(younger);
        }
        if !moved.is_empty() {
            self.heirlooms.entry(self.heir(older)).or_default().append(&mut moved);
        }
    }

    /// Notes whether the cluster `id` has labels now.
    pub(super) fn label(&mut self, id: u64, is_labelled: bool) {
        let heir = self.heir(id);
        if heir == id {
            return;
        }
        if is_labelled {
            self.heirlooms.entry(heir).or_default().insert(id);
        } else if let Some(held) = self.heirlooms.get_mut(&heir) {
            held.remove(&id);
            if held.is_empty() {
                self.heirlooms.remove(&heir);
            }
        }
    }

    /// Begins with what `elder` knows; `is_labelled` says which clusters have labels.
    pub(super) fn follow(&mut self, elder: Self, is_labelled: impl Fn(u64) -> bool) {
        let own = std::mem::replace(self, elder);
        for younger in own.order {
            self.merge(younger, own.into[&younger], is_labelled(younger));
        }
    }

    fn forget_oldest(&mut self) {
        let Some(oldest) = self.order.pop_front() else { return };
        let heir = self.heir(oldest);
        self.into.remove(&oldest);
        // What came by way of it belongs to it again.
        let held = self.heirlooms.remove(&heir).unwrap_or_default();
        for id in held {
            self.label(id, true);
        }
    }

    /// The merges, as bytes; empty where there are none.
    pub(super) fn save(&self) -> Result<Vec<u8>, postcard::Error> {
        if self.order.is_empty() {
            return Ok(Vec::new());
        }
        let merges: Vec<(u64, u64)> = self.order.iter().map(|younger| (*younger, self.into[younger])).collect();
        postcard::to_stdvec(&merges)
    }

    /// Reads what [`Lineage::save`] has written; `is_labelled` says which clusters have labels.
    pub(super) fn load(&mut self, bytes: &[u8], is_labelled: impl Fn(u64) -> bool) -> Result<(), Damaged> {
        let merges: Vec<(u64, u64)> =
            postcard::from_bytes(bytes).map_err(|_| Damaged::of("the merges of clusters cannot be read"))?;
        if merges.len() > self.merges_max {
            return Err(Damaged::of("there are more merges of clusters than are remembered"));
        }
        *self = Self::of_size(self.merges_max);
        merges.into_iter().for_each(|(younger, older)| self.merge(younger, older, is_labelled(younger)));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Of each labelled id whom it counts for, found by following the merges.
    fn slowly(lineage: &Lineage, labelled: &BTreeSet<u64>) -> BTreeSet<(u64, u64)> {
        labelled.iter().map(|id| (lineage.heir(*id), *id)).filter(|(heir, id)| heir != id).collect()
    }

    fn told(lineage: &Lineage) -> BTreeSet<(u64, u64)> {
        lineage.heirlooms.iter().flat_map(|(heir, held)| held.iter().map(|id| (*heir, *id))).collect()
    }

    proptest! {
        /// Clusters are numbered by age, and one of 20 is merged into an older one, labelled or not labelled any more.
        #[test]
        fn the_order_does_not_show(steps in prop::collection::vec((0..20_u64, 0..20_u64, 0..3_u8), 0..60), n in 1..12_usize) {
            let (mut lineage, mut labelled) = (Lineage::of_size(n), BTreeSet::new());
            let mut gone = BTreeSet::new();
            for (a, b, step) in steps {
                match step {
                    // A cluster is merged once, into one that is there.
                    0 if a != b && !gone.contains(&a.max(b)) && !gone.contains(&a.min(b)) => {
                        gone.insert(a.max(b));
                        lineage.merge(a.max(b), a.min(b), labelled.contains(&a.max(b)));
                    }
                    1 => {
                        labelled.insert(a);
                        lineage.label(a, true);
                    }
                    2 => {
                        labelled.remove(&a);
                        lineage.label(a, false);
                    }
                    _ => {}
                }
                prop_assert_eq!(told(&lineage), slowly(&lineage, &labelled));
            }
            let mut again = Lineage::of_size(n);
            let saved = lineage.save().unwrap();
            if !saved.is_empty() {
                again.load(&saved, |id| labelled.contains(&id)).unwrap();
            }
            prop_assert_eq!(again, lineage);
        }
    }

    #[test]
    fn the_oldest_merges_give_way() {
        let mut lineage = Lineage::of_size(2);
        lineage.merge(3, 2, true);
        lineage.merge(2, 1, true);
        assert_eq!(lineage.heirlooms(1).collect::<Vec<_>>(), [2, 3]);
        lineage.merge(9, 1, false);
        assert_eq!(lineage.heirlooms(1).collect::<Vec<_>>(), [2], "that 3 became 2 is forgotten");
        assert_eq!((lineage.heir(3), lineage.heir(2), lineage.into.len()), (3, 1, 2));
    }

    #[test]
    fn a_forged_ring_of_merges_ends() {
        let forged = postcard::to_stdvec(&vec![(1_u64, 2_u64), (2, 3), (3, 1), (1, 1)]).unwrap();
        let mut lineage = Lineage::default();
        lineage.load(&forged, |_| true).unwrap();
        assert_eq!(lineage.heir(1), 3);
        assert!(lineage.load(b"\xff\xff\xff", |_| true).is_err());
        let many: Vec<(u64, u64)> = (1..4).map(|n| (n + 1, n)).collect();
        assert!(Lineage::of_size(2).load(&postcard::to_stdvec(&many).unwrap(), |_| false).is_err());
    }
}
