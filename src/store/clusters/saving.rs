//! Clusters written down and read back.

use super::super::Damaged;
use super::super::look::Look;
use super::super::reference::Ref;
use super::super::watch::Table;
use super::{Clusters, NONE};
use std::collections::VecDeque;

impl Clusters {
    /// What is small, as bytes: all but [`Clusters::tables`].
    pub(in crate::store) fn save(&self) -> Result<Vec<u8>, postcard::Error> {
        postcard::to_stdvec(&(
            (self.leaders.len() as u32, self.clusters.len() as u32),
            &self.free_leaders,
            &self.order,
            &self.free_clusters,
            self.n_evicted,
        ))
    }

    /// What is large.
    pub(in crate::store) fn tables(&mut self) -> [&mut dyn Table; 2] {
        [&mut self.leaders, &mut self.clusters]
    }

    /// Reads what [`Clusters::save`] has written; the tables are read next.
    pub(in crate::store) fn load(&mut self, bytes: &[u8]) -> Result<(), Damaged> {
        type Saved = ((u32, u32), Vec<u32>, VecDeque<(u64, u32)>, Vec<u32>, u64);
        let ((n_leaders, n_clusters), free_leaders, order, free_clusters, n_evicted): Saved =
            postcard::from_bytes(bytes).map_err(|_| Damaged::of("the clusters cannot be read"))?;
        // A cluster that lives has a leader of its own, and a dead one is used again before another is made.
        let is_sound = n_leaders as usize <= self.n_leaders_max
            && n_clusters as usize <= self.n_leaders_max
            && free_leaders.iter().chain(order.iter().map(|(_, slot)| slot)).all(|&slot| slot < n_leaders)
            && free_clusters.iter().all(|&number| number < n_clusters);
        if !is_sound {
            return Err(Damaged::of("the clusters contradict themselves"));
        }
        self.leaders.expect(n_leaders as usize);
        self.clusters.expect(n_clusters as usize);
        (self.free_leaders, self.order) = (free_leaders, order);
        (self.free_clusters, self.n_evicted) = (free_clusters, n_evicted);
        Ok(())
    }

    /// Looks whether the tables that were read agree with the rest.
    pub(in crate::store) fn resume(&mut self) -> Result<(), Damaged> {
        let live = (0_u32..).zip(&*self.leaders).filter(|(_, leader)| leader.is_live);
        self.living = live.map(|(slot, leader)| Ref { slot, generation: leader.generation }).collect();
        let (n_leaders, n_clusters) = (self.leaders.len() as u32, self.clusters.len() as u32);
        let is_sound = self.leaders.are_complete()
            && self.clusters.are_complete()
            && self.leaders.iter().all(|leader| leader.cluster == NONE || leader.cluster < n_clusters)
            && self.leaders.iter().all(|leader| leader.look.as_ref().is_none_or(Look::is_sound))
            && self.leaders.iter().all(|leader| leader.ties.is_sound())
            && self.clusters.iter().all(|cluster| cluster.ties.is_sound())
            && self.clusters.iter().flat_map(|cluster| &cluster.leaders).all(|&slot| slot < n_leaders);
        if is_sound { Ok(()) } else { Err(Damaged::of("the clusters contradict themselves")) }
    }

    /// Goes on with all of `from`, which has as many leaders; the settings stay ours.
    pub(in crate::store) fn carry(&mut self, from: Self) {
        *self = Self { settings: self.settings.clone(), ..from };
    }
}
