//! The clusters as they were last told of, and how they have grown.
//!
//! # Invariants
//! - One that has gone from the store has gone from here; one that became part of another says so until it gives way.
//!   (`clusters_come_change_and_go`)
//! - How one has grown is known for as long as the cluster is. (`growth_comes_and_goes_with_its_cluster`)

use super::growth::{Growth, Point};
use crate::metrics as names;
use crate::verdict::event::ClusterEvent;
use dashmap::DashMap;
use metrics::{counter, gauge};
use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

/// Clusters.
#[derive(Debug, Default)]
pub struct Clusters {
    n_max: usize,
    by_id: DashMap<Box<str>, Told>,
    growth: DashMap<Box<str>, Growth>,
    /// Whoever writes holds it: ids by when they were told of, and the next number.
    writing: Mutex<(BTreeMap<u64, Box<str>>, u64)>,
}

/// A cluster, and when it was told of: the later, the larger.
#[derive(Clone, Debug)]
pub struct Told {
    /// What was told.
    pub cluster: Arc<ClusterEvent>,
    /// When.
    pub turn: u64,
}

impl Clusters {
    /// None yet, and never more than `n_max`.
    pub fn new(n_max: usize) -> Self {
        Self { n_max, ..Self::default() }
    }

    /// How many may be held.
    pub fn n_max(&self) -> usize {
        self.n_max
    }

    /// The one of this name.
    pub fn named(&self, id: &str) -> Option<Arc<ClusterEvent>> {
        self.by_id.get(id).map(|told| told.cluster.clone())
    }

    /// All of them, in no order.
    pub fn all(&self) -> Vec<Told> {
        self.by_id.iter().map(|told| told.value().clone()).collect()
    }

    /// How the one of this name has grown, as far as that is known.
    pub fn growth(&self, id: &str) -> Growth {
        self.growth.get(id).map(|growth| growth.clone()).unwrap_or_default()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes in what is told of one, and when that was so.
    pub fn learn(&self, cluster: ClusterEvent, time_ms: Option<i64>) {
        if self.n_max == 0 {
            return;
        }
        let mut writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let (order, next) = &mut *writing;
        if cluster.expired {
            if let Some((_, told)) = self.by_id.remove(&*cluster.id) {
                order.remove(&told.turn);
            }
            self.growth.remove(&*cluster.id);
        } else {
            let (id, turn): (Box<str>, u64) = (cluster.id.as_str().into(), *next);
            *next += 1;
            order.insert(turn, id.clone());
            let ClusterEvent { size, domains, .. } = cluster;
            if let Some(time_ms) = time_ms.filter(|_| cluster.merged_into.is_none()) {
                self.growth.entry(id.clone()).or_default().add(Point { time_ms, size, domains });
            }
            if let Some(before) = self.by_id.insert(id, Told { cluster: Arc::new(cluster), turn }) {
                order.remove(&before.turn);
            }
        }
        while order.len() > self.n_max {
            let (_, id) = order.pop_first().expect("there are some");
            self.by_id.remove(&id);
            self.growth.remove(&id);
            counter!(names::HELD_GIVEN_WAY, "what" => "clusters").increment(1);
        }
        gauge!(names::HELD, "what" => "clusters").set(self.by_id.len() as f64);
    }

    /// Takes in how one grew before, if there is room: it may be heard of before the cluster itself.
    pub fn learn_growth(&self, id: &str, older: Growth) {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        if self.growth.contains_key(id) || self.growth.len() < self.n_max {
            self.growth.entry(id.into()).or_default().add_before(older);
        }
    }

    /// Forgets all but how these have grown, and takes them in, the one to be held longest first.
    pub fn replace(&self, clusters: impl FnOnce() -> Vec<ClusterEvent>) {
        if self.n_max == 0 {
            return;
        }
        let clusters = clusters();
        {
            let mut writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
            writing.0.clear();
            self.by_id.clear();
            let ids: HashSet<&str> = clusters.iter().take(self.n_max).map(|cluster| &*cluster.id).collect();
            self.growth.retain(|id, _| ids.contains(&**id));
        }
        clusters.into_iter().take(self.n_max).rev().for_each(|cluster| self.learn(cluster, None));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Kind;
    use crate::verdict::event::{SCHEMA, TemplateKind};

    fn cluster(id: u32, size: u32) -> ClusterEvent {
        ClusterEvent {
            schema: SCHEMA,
            id: format!("t-{id}"),
            kind_of_documents: Kind::Page,
            size,
            domains: 1,
            similarity: 1.0,
            rank: 1.0,
            kind: TemplateKind::Template,
            linked: 0.0,
            copies: 0.0,
            leaders: vec!["a".into()],
            merged_into: None,
            expired: false,
        }
    }

    fn sizes(clusters: &Clusters) -> Vec<(String, u32)> {
        let mut all = clusters.all();
        all.sort_by_key(|told| told.turn);
        all.iter().map(|told| (told.cluster.id.clone(), told.cluster.size)).collect()
    }

    #[test]
    fn clusters_come_change_and_go() {
        let clusters = Clusters::new(3);
        for (id, size) in [(1, 5), (2, 5), (1, 6), (3, 5)] {
            clusters.learn(cluster(id, size), None);
        }
        assert_eq!(sizes(&clusters), [("t-2".into(), 5), ("t-1".into(), 6), ("t-3".into(), 5)]);
        clusters.learn(cluster(4, 9), None);
        assert_eq!(sizes(&clusters), [("t-1".into(), 6), ("t-3".into(), 5), ("t-4".into(), 9)], "the oldest gave way");
        clusters.learn(ClusterEvent { merged_into: Some("t-4".into()), ..cluster(3, 5) }, None);
        assert_eq!(clusters.named("t-3").unwrap().merged_into.as_deref(), Some("t-4"));
        clusters.learn(ClusterEvent { expired: true, ..cluster(1, 6) }, None);
        clusters.learn(ClusterEvent { expired: true, ..cluster(77, 6) }, None);
        assert!(clusters.named("t-1").is_none() && clusters.len() == 2);
        clusters.replace(|| (1..9).map(|id| cluster(id, 10 - id)).collect());
        assert_eq!(sizes(&clusters), [("t-3".into(), 7), ("t-2".into(), 8), ("t-1".into(), 9)]);
        let orders = clusters.writing.lock().unwrap().0.len();
        assert_eq!(orders, clusters.len());
    }

    #[test]
    fn growth_comes_and_goes_with_its_cluster() {
        let clusters = Clusters::new(2);
        let sizes = |id: &str| clusters.growth(id).points().iter().map(|point| point.size).collect::<Vec<_>>();
        for (id, size) in [(1, 5), (1, 6), (2, 5), (1, 9)] {
            clusters.learn(cluster(id, size), Some(i64::from(size)));
        }
        assert_eq!((sizes("t-1"), sizes("t-2"), sizes("t-3")), (vec![5, 6, 9], vec![5], vec![]));
        // What is heard of later may be heard of again, and there is room for so many.
        let mut older = Growth::default();
        [3, 4, 5].into_iter().for_each(|size| older.add(Point { time_ms: 1, size, domains: 1 }));
        clusters.learn_growth("t-1", older.clone());
        clusters.learn_growth("t-7", older);
        assert_eq!((sizes("t-1"), sizes("t-7")), (vec![3, 4, 5, 6, 9], vec![]));
        // Another state that has the cluster goes on with what is known of it.
        clusters.replace(|| vec![cluster(1, 9)]);
        assert_eq!((sizes("t-1"), sizes("t-2")), (vec![3, 4, 5, 6, 9], vec![]));
        clusters.learn(ClusterEvent { expired: true, ..cluster(1, 9) }, Some(9));
        assert!(sizes("t-1").is_empty() && clusters.growth.is_empty());
        for id in 1..9 {
            clusters.learn(cluster(id, 5), Some(9));
        }
        assert_eq!((clusters.growth.len(), sizes("t-8"), sizes("t-6")), (2, vec![5], vec![]), "the oldest gave way");
    }
}
