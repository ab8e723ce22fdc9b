//! The clusters as they were last told of.
//!
//! # Invariants
//! - One that has gone from the store has gone from here; one that became part of another says so until it gives way.
//!   (`clusters_come_change_and_go`)

use crate::metrics as names;
use crate::verdict::event::ClusterEvent;
use dashmap::DashMap;
use metrics::{counter, gauge};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Clusters.
#[derive(Debug, Default)]
pub struct Clusters {
    n_max: usize,
    by_id: DashMap<Box<str>, Told>,
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

    /// The one of this name.
    pub fn named(&self, id: &str) -> Option<Arc<ClusterEvent>> {
        self.by_id.get(id).map(|told| told.cluster.clone())
    }

    /// All of them, in no order.
    pub fn all(&self) -> Vec<Told> {
        self.by_id.iter().map(|told| told.value().clone()).collect()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes in what is told of one.
    pub fn learn(&self, cluster: ClusterEvent) {
        if self.n_max == 0 {
            return;
        }
        let mut writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let (order, next) = &mut *writing;
        if cluster.expired {
            if let Some((_, told)) = self.by_id.remove(&*cluster.id) {
                order.remove(&told.turn);
            }
        } else {
            let (id, turn): (Box<str>, u64) = (cluster.id.as_str().into(), *next);
            *next += 1;
            order.insert(turn, id.clone());
            if let Some(before) = self.by_id.insert(id, Told { cluster: Arc::new(cluster), turn }) {
                order.remove(&before.turn);
            }
        }
        while order.len() > self.n_max {
            let (_, id) = order.pop_first().expect("there are some");
            self.by_id.remove(&id);
            counter!(names::HELD_GIVEN_WAY, "what" => "clusters").increment(1);
        }
        gauge!(names::HELD, "what" => "clusters").set(self.by_id.len() as f64);
    }

    /// Forgets all, and takes in these, the one to be held longest first.
    pub fn replace(&self, clusters: impl FnOnce() -> Vec<ClusterEvent>) {
        if self.n_max == 0 {
            return;
        }
        let clusters = clusters();
        {
            let mut writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
            writing.0.clear();
            self.by_id.clear();
        }
        clusters.into_iter().take(self.n_max).rev().for_each(|cluster| self.learn(cluster));
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
            clusters.learn(cluster(id, size));
        }
        assert_eq!(sizes(&clusters), [("t-2".into(), 5), ("t-1".into(), 6), ("t-3".into(), 5)]);
        clusters.learn(cluster(4, 9));
        assert_eq!(sizes(&clusters), [("t-1".into(), 6), ("t-3".into(), 5), ("t-4".into(), 9)], "the oldest gave way");
        clusters.learn(ClusterEvent { merged_into: Some("t-4".into()), ..cluster(3, 5) });
        assert_eq!(clusters.named("t-3").unwrap().merged_into.as_deref(), Some("t-4"));
        clusters.learn(ClusterEvent { expired: true, ..cluster(1, 6) });
        clusters.learn(ClusterEvent { expired: true, ..cluster(77, 6) });
        assert!(clusters.named("t-1").is_none() && clusters.len() == 2);
        clusters.replace(|| (1..9).map(|id| cluster(id, 10 - id)).collect());
        assert_eq!(sizes(&clusters), [("t-3".into(), 7), ("t-2".into(), 8), ("t-1".into(), 9)]);
        let orders = clusters.writing.lock().unwrap().0.len();
        assert_eq!(orders, clusters.len());
    }
}
