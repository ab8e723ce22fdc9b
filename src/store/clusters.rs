//! Style leaders and their clusters.
//!
//! A page joins the cluster of the leader that it looks most like, by direct comparison, or leads one of its own. A
//! cluster has a few leaders, and two clusters become one when a page looks enough like both: the older id stays. Leaders
//! that go longest without a page give way, and a cluster goes with its last leader.
//!
//! # Invariants
//! - A page joins only what it resembles directly. (`a_chain_does_not_make_a_cluster`)
//! - A merged cluster keeps the older id and at most eight leaders. (`two_clusters_become_one_by_a_page_of_both`)
//! - A cluster goes with its last leader. (`a_cluster_goes_with_its_last_leader`)

mod leader;
mod saving;

pub(super) use leader::{LEADER_BYTES, Leader};

use super::cluster::{Cluster, ClusterState, Member, Merge, id, name, number};
use super::living::Living;
use super::look::{Look, Resemblance};
use super::prefetch::prefetch;
use super::reference::{Ref, next};
use super::rows::Rows;
use super::ties::{TIES_MAX, Ties};
use crate::config::TemplateSettings;
use crate::verdict::event::ClusterEvent;
use std::collections::{HashMap, VecDeque};

/// Leaders that a merged cluster keeps.
const LEADERS_MAX: usize = 8;
const NONE: u32 = u32::MAX;
/// A cluster is told of again when it has grown by this factor.
const GROWTH: f64 = 1.1;
/// Longer ids are cut in the list of a cluster's leaders.
const ID_BYTES_MAX: usize = 256;

/// Where a page has come to be.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Styled {
    /// Its cluster, from the second page on.
    pub cluster: Option<ClusterState>,
    /// How much it looks like the leader that it joined, or that came nearest.
    pub resemblance: Resemblance,
}

/// Where a page belongs.
enum Place {
    /// It is a leader itself, fetched again.
    Own(Ref, Resemblance),
    /// Nobody looks like it; this one came nearest.
    Alone(Resemblance),
    /// With a leader.
    With {
        best: Ref,
        resemblance: Resemblance,
        /// Other leaders that it looks so much like that all clusters become one, by likeness.
        alike: Vec<Ref>,
    },
}

/// Style leaders and their clusters.
pub(super) struct Clusters {
    settings: TemplateSettings,
    leaders: Rows<Leader>,
    living: Living,
    free_leaders: Vec<u32>,
    n_leaders_max: usize,
    /// Leaders by the last page that joined them; an entry whose `touched` is not its leader's any more is skipped.
    order: VecDeque<(u64, u32)>,
    clusters: Rows<Cluster>,
    free_clusters: Vec<u32>,
    n_evicted: u64,
    events: Vec<(u64, ClusterEvent)>,
    /// The merges of this batch, as far as anybody can know the ids of both.
    merged: Vec<Merge>,
    /// Which id became which by a merge: only where every page is followed to the end.
    merges: Option<HashMap<u64, u64>>,
    /// Domains that are kept of what a cluster's pages link to.
    n_ties_max: usize,
}

impl Clusters {
    pub(super) fn new(n_leaders: usize, settings: TemplateSettings) -> Self {
        Self {
            settings,
            leaders: Rows::default(),
            living: Living::default(),
            free_leaders: Vec::new(),
            n_leaders_max: n_leaders.max(1),
            order: VecDeque::new(),
            clusters: Rows::default(),
            free_clusters: Vec::new(),
            n_evicted: 0,
            events: Vec::new(),
            merged: Vec::new(),
            merges: None,
            n_ties_max: TIES_MAX,
        }
    }

    /// From now on nothing is sampled, and it is noted which clusters became one.
    pub(super) fn note_all(&mut self) {
        (self.merges, self.n_ties_max) = (Some(HashMap::new()), usize::MAX);
    }

    /// Which clusters became one in this batch, in order.
    pub(super) fn merged(&self) -> &[Merge] {
        &self.merged
    }

    /// The batch has been judged.
    pub(super) fn end_batch(&mut self) {
        self.merged.clear();
    }

    /// Which id became which, in the order of no one.
    pub(super) fn merges(&self) -> Option<&HashMap<u64, u64>> {
        self.merges.as_ref()
    }

    /// All clusters as they are now, by id.
    pub(super) fn states(&self) -> HashMap<u64, ClusterState> {
        let live = (0_u32..).zip(&*self.clusters).filter(|(_, cluster)| cluster.is_live);
        live.map(|(number, cluster)| (cluster.id, self.state(number))).collect()
    }

    pub(super) fn get(&self, of: Ref) -> Option<&Leader> {
        self.leaders.get(of.slot as usize).filter(|_| self.lives(of))
    }

    /// Whether `of` leads.
    #[inline]
    pub(super) fn lives(&self, of: Ref) -> bool {
        self.living.has(of)
    }

    /// Asks for the fixed part of `of`.
    pub(super) fn prefetch(&self, of: Ref) {
        if let Some(leader) = self.leaders.get(of.slot as usize) {
            prefetch(&leader.generation);
            prefetch(&leader.look);
        }
    }

    /// Asks for what `of` is compared by.
    pub(super) fn prefetch_look(&self, of: Ref) {
        if let Some(look) = self.get(of).and_then(|leader| leader.look.as_ref()) {
            look.prefetch();
        }
    }

    /// How much `look` resembles the leader `of`, if it lives.
    pub(super) fn resemblance(&self, of: Ref, look: &Look) -> Option<Resemblance> {
        Some(self.get(of)?.look.as_ref()?.resemblance(look, &self.settings))
    }

    /// Takes in a page that was compared with `candidates`. Returns where it is, and its own reference if it has become
    /// a leader: then its keys are to be inserted.
    pub(super) fn settle(
        &mut self,
        look: &Look,
        member: Member<'_>,
        candidates: &[(Ref, Resemblance)],
    ) -> (Styled, Option<Ref>) {
        let (best, resemblance, alike) = match self.place(member.id_key, candidates) {
            Place::Own(of, resemblance) => {
                // Fetched again: it leads where it led.
                self.touch(of.slot, member);
                return (Styled { cluster: self.state_of(of), resemblance }, None);
            }
            Place::Alone(resemblance) => {
                let of = self.lead(look, member, NONE);
                return (Styled { cluster: None, resemblance }, Some(of));
            }
            Place::With { best, resemblance, alike } => (best, resemblance, alike),
        };
        let mut cluster = self.cluster_of(best.slot, member);
        for of in alike {
            // A merge before may have dropped it.
            if self.get(of).is_some_and(|leader| leader.cluster != cluster) {
                let other = self.cluster_of(of.slot, member);
                cluster = self.merge(cluster, other, member.position);
            }
        }
        self.touch(best.slot, member);
        if !member.is_known {
            self.clusters[cluster as usize].join(member, resemblance, self.n_ties_max);
        }
        let found = &self.clusters[cluster as usize];
        let leads = resemblance.score < self.settings.leader_below
            && !found.is_merged
            && found.leaders.len() < self.settings.leaders_max;
        let own = leads.then(|| {
            let of = self.lead(look, member, cluster);
            // Room for it may have been made at the cost of the cluster itself.
            if self.clusters[cluster as usize].is_live {
                self.clusters[cluster as usize].leaders.push(of.slot);
            } else {
                let leader = &mut self.leaders[of.slot as usize];
                leader.cluster = NONE;
                leader.ties.add(member.domain, member.link_domains, self.n_ties_max);
            }
            of
        });
        let styled = Styled { cluster: Some(self.state(cluster)), resemblance };
        self.announce(cluster, member.position);
        (styled, own)
    }

    /// What [`Clusters::settle`] would say of a page that was compared with `candidates`, and the ids of the clusters that would
    /// become part of its own.
    pub(super) fn probe(&self, member: Member<'_>, candidates: &[(Ref, Resemblance)]) -> (Styled, Vec<u64>) {
        let (best, resemblance, alike) = match self.place(member.id_key, candidates) {
            Place::Own(of, resemblance) => return (Styled { cluster: self.state_of(of), resemblance }, Vec::new()),
            Place::Alone(resemblance) => return (Styled { cluster: None, resemblance }, Vec::new()),
            Place::With { best, resemblance, alike } => (best, resemblance, alike),
        };
        let mut younger_ids = Vec::new();
        let mut cluster = self.led_by(best.slot, member);
        let mut merged = vec![self.leaders[best.slot as usize].cluster];
        for of in alike {
            let number = self.leaders[of.slot as usize].cluster;
            if number == NONE || !merged.contains(&number) {
                merged.push(number);
                let other = self.led_by(of.slot, member);
                // The older takes in the younger, and no two began with one page.
                let (mut older, younger) = if cluster.born <= other.born { (cluster, other) } else { (other, cluster) };
                older.absorb(&younger, self.n_ties_max);
                cluster = older;
                younger_ids.extend(younger.is_spoken_of().then_some(younger.id));
            }
        }
        if !member.is_known {
            cluster.join(member, resemblance, self.n_ties_max);
        }
        (Styled { cluster: Some(cluster.state(&self.settings)), resemblance }, younger_ids)
    }

    /// Where a page that was compared with `candidates` belongs.
    fn place(&self, id_key: u64, candidates: &[(Ref, Resemblance)]) -> Place {
        let itself = candidates.iter().find(|(of, _)| self.get(*of).is_some_and(|leader| leader.id_key == id_key));
        if let Some(&(of, resemblance)) = itself {
            return Place::Own(of, resemblance);
        }
        let mut ranked: Vec<&(Ref, Resemblance)> =
            candidates.iter().filter(|(of, found)| found.score > 0.0 && self.get(*of).is_some()).collect();
        ranked.sort_by(|(a, x), (b, y)| {
            let born = |of: &Ref| self.leaders[of.slot as usize].born;
            y.score.total_cmp(&x.score).then(born(a).cmp(&born(b)))
        });
        let Some((&&(best, resemblance), others)) = ranked.split_first() else {
            let nearest = candidates.iter().map(|(_, found)| *found);
            let nearest = nearest.max_by(|a, b| (a.frame + a.style).total_cmp(&(b.frame + b.style)));
            return Place::Alone(nearest.unwrap_or_default());
        };
        let merge_min = self.settings.merge_min;
        let alike = others.iter().filter(|(_, found)| resemblance.score >= merge_min && found.score >= merge_min);
        Place::With { best, resemblance, alike: alike.map(|(of, _)| *of).collect() }
    }

    /// Whether the leader `of` lives, and will when those without a page since `before_ms` have gone.
    pub(super) fn outlives(&self, of: Ref, before_ms: Option<i64>) -> bool {
        self.get(of).is_some_and(|leader| before_ms.is_none_or(|before_ms| leader.touched_ms >= before_ms))
    }

    /// Leaders without a page since `before_ms` give way.
    pub(super) fn expire(&mut self, before_ms: i64, position: u64) {
        while let Some(slot) = self.oldest() {
            if self.leaders[slot as usize].touched_ms >= before_ms {
                break;
            }
            self.remove(slot, position);
        }
    }

    /// What there is to say of clusters since the last time, with the position of the document that made it so.
    pub(super) fn take_events(&mut self) -> Vec<(u64, ClusterEvent)> {
        std::mem::take(&mut self.events)
    }

    /// All clusters from `template.size_min` on, by mean similarity times domains.
    pub(super) fn ranking(&self) -> Vec<ClusterEvent> {
        let large = |cluster: &&Cluster| cluster.is_live && cluster.size >= self.settings.size_min;
        let mut ranking: Vec<ClusterEvent> =
            self.clusters.iter().filter(large).map(|cluster| self.event(cluster)).collect();
        ranking
            .sort_by(|a, b| b.rank.total_cmp(&a.rank).then_with(|| b.size.cmp(&a.size)).then_with(|| a.id.cmp(&b.id)));
        ranking
    }

    /// What there is to say of the cluster of this name.
    pub(super) fn named(&self, id: &str) -> Option<ClusterEvent> {
        let id = number(id)?;
        let found = self.clusters.iter().find(|cluster| cluster.is_live && cluster.id == id)?;
        Some(self.event(found))
    }

    /// How many leaders and clusters there are.
    pub(super) fn n(&self) -> (usize, usize) {
        (self.leaders.len() - self.free_leaders.len(), self.clusters.len() - self.free_clusters.len())
    }

    pub(super) fn n_evicted(&self) -> u64 {
        self.n_evicted
    }

    /// The cluster of a leader as it is, or as it would begin.
    fn led_by(&self, slot: u32, member: Member<'_>) -> Cluster {
        let leader = &self.leaders[slot as usize];
        match leader.cluster {
            NONE => {
                let (id, ties) = (id(leader.id_key, leader.born), leader.ties.clone());
                Cluster::new(id, leader.born, member.kind, slot, leader.domain, ties)
            }
            number => self.clusters[number as usize].clone(),
        }
    }

    /// The cluster of a leader, begun if it has none.
    fn cluster_of(&mut self, slot: u32, member: Member<'_>) -> u32 {
        let leader = &self.leaders[slot as usize];
        if leader.cluster != NONE {
            return leader.cluster;
        }
        let cluster = self.led_by(slot, member);
        let number = match self.free_clusters.pop() {
            Some(number) => {
                self.clusters[number as usize] = cluster;
                number
            }
            None => {
                self.clusters.push(cluster);
                (self.clusters.len() - 1) as u32
            }
        };
        let leader = &mut self.leaders[slot as usize];
        (leader.cluster, leader.ties) = (number, Ties::default());
        number
    }

    /// Makes two clusters one and returns it: the older.
    fn merge(&mut self, a: u32, b: u32, position: u64) -> u32 {
        let key = |number: u32| (self.clusters[number as usize].born, number);
        let (older, younger) = if key(a) <= key(b) { (a, b) } else { (b, a) };
        let gone = self.clusters[younger as usize].clone();
        let stays = &mut self.clusters[older as usize];
        stays.absorb(&gone, self.n_ties_max);
        let mut leaders = [&stays.leaders[..], &gone.leaders].concat();
        leaders.sort_by_key(|&slot| (self.leaders[slot as usize].born, slot));
        let dropped = leaders.split_off(leaders.len().min(LEADERS_MAX));
        let id = stays.id;
        for &slot in &leaders {
            self.leaders[slot as usize].cluster = older;
        }
        self.clusters[older as usize].leaders = leaders;
        if let Some(merges) = &mut self.merges {
            merges.insert(gone.id, id);
        }
        // Pages bear the cluster's id from the second one on: whoever follows it must learn of this, however small it was.
        if gone.is_spoken_of() {
            let event = ClusterEvent { merged_into: Some(name(id)), ..self.event(&gone) };
            self.events.push((position, event));
            self.merged.push(Merge { position, younger: gone.id, older: id });
        }
        for slot in dropped {
            self.leaders[slot as usize].cluster = NONE;
            self.free_leader(slot);
        }
        let gone = &mut self.clusters[younger as usize];
        (gone.is_live, gone.ties) = (false, Ties::default());
        gone.leaders.clear();
        self.free_clusters.push(younger);
        // The merge itself is told, at the older one.
        if let Some(announced) = &mut self.clusters[older as usize].announced {
            announced.0 = 0;
        }
        older
    }

    /// A new leader, after making room.
    fn lead(&mut self, look: &Look, member: Member<'_>, cluster: u32) -> Ref {
        while self.free_leaders.is_empty() && self.leaders.len() >= self.n_leaders_max {
            let oldest = self.oldest().expect("as many leaders as there can be are in the order");
            self.n_evicted += 1;
            self.remove(oldest, member.position);
        }
        let slot = self.free_leaders.pop().unwrap_or_else(|| {
            self.leaders.push(Leader::empty());
            (self.leaders.len() - 1) as u32
        });
        let generation = next(self.leaders[slot as usize].generation);
        let id = &member.id[..member.id.floor_char_boundary(ID_BYTES_MAX)];
        let mut ties = Ties::default();
        if cluster == NONE {
            ties.add(member.domain, member.link_domains, self.n_ties_max);
        }
        self.leaders[slot as usize] = Leader {
            generation,
            is_live: true,
            born: member.position,
            id_key: member.id_key,
            id: id.into(),
            look: Some(look.clone()),
            cluster,
            domain: member.domain,
            ties,
            ..Leader::empty()
        };
        let of = Ref { slot, generation };
        self.living.begin(of);
        self.touch(slot, member);
        of
    }

    fn touch(&mut self, slot: u32, member: Member<'_>) {
        let leader = &mut self.leaders[slot as usize];
        // A leader that leads at its own birth is touched once.
        if leader.touched != member.position || leader.born == member.position {
            leader.touched = member.position;
            leader.touched_ms = member.now_ms;
            self.order.push_back((member.position, slot));
        }
        // Entries that say nothing any more are swept out before they outnumber the others.
        if self.order.len() > 4 * self.leaders.len() + 64 {
            let leaders = &self.leaders;
            self.order
                .retain(|&(touched, slot)| leaders[slot as usize].is_live && leaders[slot as usize].touched == touched);
        }
    }

    /// The leader that has gone longest without a page.
    fn oldest(&mut self) -> Option<u32> {
        while let Some(&(touched, slot)) = self.order.front() {
            let leader = &self.leaders[slot as usize];
            if leader.is_live && leader.touched == touched {
                return Some(slot);
            }
            self.order.pop_front();
        }
        None
    }

    /// The leaders that the document with this key is lead no more: their names are its own.
    pub(super) fn forget(&mut self, id_key: u64, position: u64) {
        let own = (0_u32..).zip(&*self.leaders).filter(|(_, leader)| leader.is_live && leader.id_key == id_key);
        let own: Vec<u32> = own.map(|(slot, _)| slot).collect();
        own.into_iter().for_each(|slot| self.remove(slot, position));
    }

    fn remove(&mut self, slot: u32, position: u64) {
        let number = self.leaders[slot as usize].cluster;
        self.free_leader(slot);
        if number == NONE {
            return;
        }
        let cluster = &mut self.clusters[number as usize];
        cluster.leaders.retain(|&leader| leader != slot);
        if cluster.leaders.is_empty() {
            cluster.is_live = false;
            let gone = cluster.clone();
            self.free_clusters.push(number);
            if gone.announced.is_some() {
                self.events.push((position, ClusterEvent { expired: true, ..self.event(&gone) }));
            }
        }
    }

    fn free_leader(&mut self, slot: u32) {
        let leader = &mut self.leaders[slot as usize];
        self.living.end(slot);
        leader.is_live = false;
        leader.look = None;
        leader.id = "".into();
        self.free_leaders.push(slot);
    }

    fn state(&self, number: u32) -> ClusterState {
        self.clusters[number as usize].state(&self.settings)
    }

    /// The cluster that `of` leads.
    fn state_of(&self, of: Ref) -> Option<ClusterState> {
        let number = self.leaders[of.slot as usize].cluster;
        (number != NONE).then(|| self.state(number))
    }

    fn event(&self, cluster: &Cluster) -> ClusterEvent {
        let id = |&slot: &u32| self.leaders[slot as usize].id.to_string();
        cluster.event(&self.settings, cluster.leaders.iter().map(id).collect())
    }

    /// Tells of a cluster that has become large enough, has grown or is of another kind.
    fn announce(&mut self, number: u32, position: u64) {
        let cluster = &self.clusters[number as usize];
        if !cluster.is_live || cluster.size < self.settings.size_min {
            return;
        }
        let (size, domains, kind) = (cluster.size, cluster.n_domains(), cluster.sort(&self.settings));
        let grown = |now: u32, then: u32| f64::from(now) >= f64::from(then) * GROWTH && now > then;
        let is_news = cluster.announced.is_none_or(|(old_size, old_domains, old_kind)| {
            grown(size, old_size) || grown(domains, old_domains) || kind != old_kind
        });
        if is_news {
            let event = self.event(cluster);
            self.events.push((position, event));
            self.clusters[number as usize].announced = Some((size, domains, kind));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Settings;
    use crate::document::Kind;
    use crate::store::look::tests::frame;
    use crate::verdict::event::TemplateKind;

    fn clusters(n_leaders: usize) -> Clusters {
        Clusters::new(n_leaders, TemplateSettings { size_min: 3, ..Settings::default().template })
    }

    fn member(position: u64, domain: u64, link_domains: &[u64]) -> Member<'_> {
        Member {
            position,
            now_ms: position as i64,
            kind: Kind::Page,
            id_key: position,
            id: "id",
            domain,
            link_domains,
            is_copy: false,
            is_mirror: false,
            is_known: false,
        }
    }

    /// Settles a page of the given look with all leaders as candidates.
    fn settle(clusters: &mut Clusters, look: &Look, member: Member<'_>) -> Styled {
        let all = (0..clusters.leaders.len() as u32)
            .map(|slot| Ref { slot, generation: clusters.leaders[slot as usize].generation });
        let candidates: Vec<(Ref, Resemblance)> =
            all.filter_map(|of| Some((of, clusters.resemblance(of, look)?))).collect();
        clusters.settle(look, member, &candidates).0
    }

    fn sizes(clusters: &Clusters) -> Vec<u32> {
        clusters.clusters.iter().filter(|cluster| cluster.is_live).map(|cluster| cluster.size).collect()
    }

    #[test]
    fn a_chain_does_not_make_a_cluster() {
        // Each looks like the one before, by 90 of 128 slots, and less and less like the first.
        let mut clusters = clusters(100);
        for step in 0..8 {
            settle(&mut clusters, &frame(38 * step), member(step as u64 + 1, 1, &[]));
        }
        assert!(sizes(&clusters).iter().all(|size| *size <= 5), "{:?}", sizes(&clusters));
        assert!(sizes(&clusters).iter().any(|size| *size >= 2));
    }

    #[test]
    fn two_clusters_become_one_by_a_page_of_both() {
        let mut clusters = clusters(100);
        for position in 1..=3 {
            settle(&mut clusters, &frame(0), member(position, position, &[]));
            settle(&mut clusters, &frame(60), member(10 + position, position, &[]));
        }
        assert_eq!(sizes(&clusters), [3, 3]);
        let between = settle(&mut clusters, &frame(30), member(20, 9, &[])).cluster.unwrap();
        assert_eq!((between.size, between.domains), (7, 4));
        let events = clusters.take_events();
        let merged: Vec<_> = events.iter().filter(|(_, event)| event.merged_into.is_some()).collect();
        assert_eq!(merged.len(), 1);
        assert_eq!(merged[0].1.merged_into, Some(name(between.id)));
        assert_eq!(events[0].1.id, name(between.id), "the older one stays");
        assert_eq!(events.last().unwrap().1.size, 7, "and is told of");
    }

    #[test]
    fn a_cluster_goes_with_its_last_leader() {
        let mut clusters = clusters(2);
        for position in 1..=3 {
            settle(&mut clusters, &frame(0), member(position, 1, &[]));
        }
        assert_eq!(clusters.take_events().len(), 1);
        settle(&mut clusters, &frame(1000), member(4, 1, &[]));
        settle(&mut clusters, &frame(2000), member(5, 1, &[]));
        let events = clusters.take_events();
        assert!(events.len() == 1 && events[0].1.expired && events[0].0 == 5, "{events:?}");
        assert_eq!((clusters.n(), clusters.n_evicted()), ((2, 0), 1));
    }

    #[test]
    fn kinds_follow_links_and_copies() {
        let kind = |change: fn(&mut Member<'_>)| {
            let mut clusters = clusters(9);
            let domains = [1, 2, 3, 4, 5];
            let mut last = None;
            for position in 1..=5 {
                let mut page = member(position, position, &domains);
                change(&mut page);
                last = settle(&mut clusters, &frame(0), page).cluster;
            }
            last.unwrap().kind
        };
        assert_eq!(kind(|_| {}), TemplateKind::LinkFarm);
        assert_eq!(kind(|page| page.link_domains = &[]), TemplateKind::Template);
        assert_eq!(kind(|page| page.domain = 1), TemplateKind::Template, "one domain may link to itself");
        assert_eq!(kind(|page| page.domain = page.domain.min(4)), TemplateKind::Template, "four sister sites");
        assert_eq!(kind(|page| page.is_copy = true), TemplateKind::CopyPaste);
        assert_eq!(kind(|page| (page.is_copy, page.is_mirror) = (true, true)), TemplateKind::Mirror);
    }

    /// Each of `n` sites links to the next five: a crawler meets them before or after what they link to.
    #[test]
    fn a_farm_is_one_in_any_order() {
        for n in [5, 30, 600] {
            let links = |domain: u64| -> Vec<u64> { (1..=5).map(|step| (domain + step - 1) % n + 1).collect() };
            let orders: [Vec<u64>; 3] =
                [(1..=n).collect(), (1..=n).rev().collect(), (1..=n).map(|k| k * 7919 % n + 1).collect()];
            let ends = orders.map(|order| {
                let mut clusters = clusters(9);
                let settle = |(position, domain): (u64, u64)| {
                    settle(&mut clusters, &frame(0), member(position, domain, &links(domain))).cluster
                };
                (1..).zip(order).map(settle).last().flatten().unwrap()
            });
            for end in &ends {
                assert_eq!((end.kind, end.linked), (TemplateKind::LinkFarm, 1.0), "of {n}");
                assert!(end.domains <= end.size, "{} domains of {n} pages", end.domains);
            }
        }
    }

    #[test]
    fn a_page_fetched_again_is_no_further_member() {
        let mut clusters = clusters(9);
        settle(&mut clusters, &frame(0), member(1, 1, &[]));
        settle(&mut clusters, &frame(0), member(2, 1, &[]));
        let again = settle(&mut clusters, &frame(0), Member { position: 3, ..member(1, 1, &[]) });
        let copy = settle(&mut clusters, &frame(0), Member { is_known: true, ..member(4, 1, &[]) });
        assert_eq!((again.cluster.unwrap().size, copy.cluster.unwrap().size), (2, 2));
    }
}
