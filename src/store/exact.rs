//! Settle without forgetting: every document is compared with all before it, and groups and clusters are told as they are
//! in the end.

use super::cluster::{self, ClusterState};
use super::pages::Pages;
use super::{Arrival, Cells, Plan, Ref, Settled, Settler, Store, Weigher};
use crate::config::Settings;
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

impl Store {
    /// A store that has room for all of `batch` and compares all pairs.
    pub fn exhaustive(settings: &Settings, batch: &[Arrival]) -> Self {
        let mut settings = settings.clone();
        // Nobody's share is too large and nothing too old where nothing gives way.
        settings.store.share_max = 1.0;
        settings.store.ttl_hours = 0;
        let plan = Plan::of_all(batch.len(), batch.iter().map(n_cells).sum());
        let settler = Settler::exhaustive(&settings, &plan);
        Self { settler, weigher: Weigher::new(&settings, &plan), plan, pages: Pages::default() }
    }

    /// Settles all documents; `tell` is told how many after each, and may say that these are enough. What was said of groups and
    /// clusters on the way is then replaced by what they are in the end.
    pub fn settle_all(&mut self, batch: &[Arrival], mut tell: impl FnMut(usize) -> ControlFlow<()>) -> Vec<Settled> {
        let mut all = Vec::with_capacity(batch.len());
        let mut id_keys = Vec::with_capacity(batch.len());
        for (number, arrival) in batch.iter().enumerate() {
            let papers = self.settler.papers(arrival);
            id_keys.push(papers.keys.id);
            all.push(self.settler.settle(arrival, &papers));
            if tell(number + 1).is_break() {
                break;
            }
        }
        end_groups(&mut all);
        self.end_clusters(&mut all, &id_keys);
        self.end_batch();
        all
    }

    fn end_clusters(&self, all: &mut [Settled], id_keys: &[u64]) {
        let clusters = self.settler.clusters();
        let endings = Endings { merges: clusters.merges(), states: clusters.states() };
        let mut domains: HashMap<u64, HashSet<u64>> = HashMap::new();
        for (settled, &id_key) in all.iter_mut().zip(id_keys) {
            // Whoever came first and alone was no cluster yet: if it became one, this is its id.
            let id = settled.styled.cluster.map_or_else(|| cluster::id(id_key, settled.position), |cluster| cluster.id);
            settled.styled.cluster = endings.of(id);
            if let Some(cluster) = settled.styled.cluster.filter(|_| settled.server.domain != 0) {
                domains.entry(cluster.id).or_default().insert(settled.server.domain);
            }
        }
        for cluster in all.iter_mut().filter_map(|settled| settled.styled.cluster.as_mut()) {
            cluster.domains = domains.get(&cluster.id).map_or(0, |domains| domains.len() as u32);
        }
    }
}

/// Where every cluster has ended: its state by each id that pages of it have borne.
struct Endings<'a> {
    merges: Option<&'a HashMap<u64, u64>>,
    states: HashMap<u64, ClusterState>,
}

impl Endings<'_> {
    /// What has become of the cluster `id`.
    fn of(&self, mut id: u64) -> Option<ClusterState> {
        while let Some(&into) = self.merges.and_then(|merges| merges.get(&id)) {
            id = into;
        }
        self.states.get(&id).copied()
    }
}

/// Every member is told the size of its group in the end, or when it was given up, and its domains without an estimate.
fn end_groups(all: &mut [Settled]) {
    let mut groups: HashMap<Ref, (u32, HashSet<u64>)> = HashMap::new();
    for settled in &*all {
        let Some(head) = settled.head else { continue };
        let (size, domains) = groups.entry(head).or_default();
        *size = settled.group.0.max(*size);
        domains.extend(Some(settled.server.domain).filter(|domain| *domain != 0));
    }
    for settled in all {
        if let Some((size, domains)) = settled.head.and_then(|head| groups.get(&head)) {
            settled.group = (*size, domains.len() as u32);
        }
    }
}

/// Cells that the record of a document takes, at most: proof, names, and once more its id as that of the longest copy.
fn n_cells(arrival: &Arrival) -> usize {
    const REST: usize = 320;
    let signatures = &arrival.signatures;
    let n_terms = signatures.full.as_ref().unwrap_or(&signatures.shown).terms.len();
    let names = [&arrival.url, &arrival.domain, &arrival.canonical, &arrival.source.time];
    let names: usize = names.into_iter().flatten().map(String::len).sum();
    let n_bytes = 4 * n_terms + 2 * arrival.id.len() + arrival.source.topic.len() + names;
    let n_slots = 2 * crate::signature::minhash::SLOTS;
    1 + Cells::cells_for(n_bytes + n_slots + REST)
}
