//! Judge: hits become verdicts.
//!
//! [Scores](super::scores) are computed for each document by itself, on several threads; decisions are made one after the other, since which
//! earlier documents are quilts counts. A later document may change what was said of an earlier one: such records wait
//! in a queue, a few are decided anew after each document, and what has changed is published as a revision.
//!
//! # Invariants
//! - Verdicts are the same for any number of threads and any cut into batches. (`tests/promises/fold.rs`)
//! - A judged quilt is no source, unless the settings say so. (`a_plundered_original_is_no_quilt`)
//! - A copy is a quilt only if the first of its group is. (`a_copy_is_a_quilt_if_its_head_is`)
//! - The last event of a document holds, and says all. (`revisions_repeat_what_was_said`)

use super::cover::Cover;
use super::event::{Class, Features, Outcome, Quilt, SCHEMA, Template, Verdict};
use super::heirs::Heirs;
use super::kinship::Kin;
use super::label::{Label, Record, Target};
use super::labels::{Bearings, Full, Labels};
use super::lineage::Lineage;
use super::mirror::Kindred;
use super::quilt::{Others, quilt_features};
use super::said::Said;
use super::scores::Scores;
use super::standings::{Fabric, KnownSource, LINKS_MAX, Standing, Standings, TurnedAway, remember};
use crate::config::{MirrorSettings, QuiltSettings, RevisionSettings, Settings};
use crate::document::Kind;
use crate::document::links::Location;
use crate::signature::Outcome as Signed;
use crate::signature::keyed::Keys;
use crate::store::{Arrival, Damaged, Hits, Merge, Probed, Ref, Settled, Store, Table, cluster_name, cluster_number};
use std::num::NonZeroUsize;

/// Grams of a document that are weighed.
pub const GRAMS_MAX: usize = 8192;

/// Judges documents.
pub struct Judge {
    pub(super) mirror: MirrorSettings,
    pub(super) quilt: QuiltSettings,
    /// One of so many grams is kept.
    pub(super) window: NonZeroUsize,
    revisions: RevisionSettings,
    template_size_min: u32,
    pub(super) link_key: u64,
    pub(super) standings: Standings,
    pub(super) labels: Labels,
    pub(super) heirs: Heirs,
    pub(super) lineage: Lineage,
}

/// What is to be said of a document, and remembered of it if it is a head.
struct Decision {
    said: Said,
    quilt: Option<Quilt>,
    known: Vec<KnownSource>,
    /// The sources that the quilt names, ascending.
    named: Vec<Ref>,
    fabric: Fabric,
}

/// What was found of a document, for [`Judge::said`].
pub(super) struct Found<'a> {
    pub(super) kin: &'a [Kin],
    /// Grams in common with each head, ascending.
    pub(super) n_common: &'a [(Ref, u32)],
    pub(super) n_known: u32,
    pub(super) cover: &'a Cover,
    /// The sources in the cover.
    pub(super) named: &'a [&'a KnownSource],
}

impl Judge {
    /// A judge who has seen nothing.
    pub fn new(settings: &Settings, n_cells: usize, labels: Labels) -> Self {
        Self {
            mirror: settings.mirror.clone(),
            quilt: settings.quilt.clone(),
            window: settings.grams.window,
            revisions: settings.revisions.clone(),
            template_size_min: settings.template.size_min,
            link_key: Keys::derive(settings.secret.reveal()).link,
            standings: Standings::new(n_cells, settings.revisions.queue_max, settings.revisions.per_record_max),
            labels,
            heirs: Heirs::default(),
            lineage: Lineage::default(),
        }
    }

    /// Judges a batch; calls `with` for every verdict, with the position of the document that it was decided after.
    pub fn judge(
        &mut self,
        batch: &[Arrival],
        settled: &[Settled],
        hits: &[Hits],
        store: &Store,
        n_threads: usize,
        mut with: impl FnMut(u64, Verdict),
    ) {
        let scores = self.scores(batch, settled, hits, store, n_threads);
        let deaths = store.deaths();
        self.standings.prefetch(deaths.iter().map(|(_, of)| *of));
        let mut deaths = deaths.into_iter().peekable();
        let mut merges = store.merges().iter().peekable();
        for (((arrival, settled), hits), scores) in batch.iter().zip(settled).zip(hits).zip(scores) {
            while let Some((_, of)) = deaths.next_if(|(position, _)| *position <= settled.position) {
                self.standings.end(of);
            }
            while let Some(merge) = merges.next_if(|merge| merge.position <= settled.position) {
                self.merge(merge);
            }
            let verdict = self.decide(arrival, settled, hits, &scores, store);
            with(settled.position, verdict);
            for _ in 0..self.revisions.per_document {
                let Some(of) = self.standings.dequeue() else { break };
                if let Some(revision) = self.revise(of, settled.position, store) {
                    with(settled.position, revision);
                }
            }
        }
        for (_, of) in deaths {
            self.standings.end(of);
        }
    }

    /// The labels in force.
    pub fn labels(&self) -> &Labels {
        &self.labels
    }

    /// Puts a label in force, or takes it back. Only between batches.
    pub fn label(&mut self, label: Label) -> Result<(), Full> {
        let Record { target, .. } = label.record();
        let cluster = match target {
            Target::Cluster(name) => cluster_number(name),
            Target::Document(_) | Target::Domain(_) => None,
        };
        self.labels.apply(label)?;
        if let Some(cluster) = cluster {
            self.lineage.label(cluster, self.is_labelled(cluster));
        }
        Ok(())
    }

    /// Notes that a cluster has become part of another.
    pub(crate) fn merge(&mut self, merge: &Merge) {
        let is_labelled = self.is_labelled(merge.younger);
        self.lineage.merge(merge.younger, merge.older, is_labelled);
    }

    fn is_labelled(&self, cluster: u64) -> bool {
        !self.labels.of_cluster(&cluster_name(cluster)).is_empty()
    }

    /// The ids under which the cluster of a document may be labelled: what it has become part of, and what that has taken in.
    pub(super) fn clusters_of(&self, cluster: Option<u64>) -> Vec<u64> {
        if self.labels.is_empty() {
            return Vec::new();
        }
        let named = cluster.into_iter().flat_map(|own| std::iter::once(own).chain(self.heirs.of_cluster(own)));
        let heirs = named.map(|cluster| self.lineage.heir(cluster));
        let mut all: Vec<u64> =
            heirs.flat_map(|heir| std::iter::once(heir).chain(self.lineage.heirlooms(heir))).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The name of what has become of the cluster of this name: itself, where it is not known to be part of another.
    pub fn heir_of(&self, cluster: &str) -> String {
        cluster_number(cluster).map_or_else(|| cluster.to_owned(), |number| cluster_name(self.lineage.heir(number)))
    }

    /// Forgets what it remembers of a document that the store has forgotten.
    pub fn forget(&mut self, of: Ref) {
        self.standings.end(of);
    }

    /// Decides what waits in the queue, all of it. Only between batches.
    pub fn settle_revisions(&mut self, store: &Store, mut with: impl FnMut(u64, Verdict)) {
        // Every flip queues others; the bound is the number of records, several times over.
        let mut n_left = 20 * self.standings.n_queued() + 1000;
        while let Some(of) = self.standings.dequeue() {
            if let Some(revision) = self.revise(of, store.position(), store) {
                with(store.position(), revision);
            }
            n_left -= 1;
            if n_left == 0 {
                break;
            }
        }
    }

    /// What [`Judge::judge`] would say of a document if it came next. Nothing is remembered of it.
    pub fn probe(&self, arrival: &Arrival, probed: &Probed, store: &Store) -> Verdict {
        let Probed { settled, hits, merged, .. } = probed;
        let scores = self.score(arrival, settled, hits, store);
        let gone = |of: Ref| !store.outlives(of, probed);
        let Decision { said, quilt, .. } = self.decision(arrival, settled, hits, &scores, store, gone);
        let mut clusters = self.clusters_of(said.cluster);
        merged.iter().for_each(|id| clusters.extend(self.clusters_of(Some(*id))));
        self.verdict_in(&clusters, arrival, settled, said, quilt)
    }

    fn decide(
        &mut self,
        arrival: &Arrival,
        settled: &Settled,
        hits: &Hits,
        scores: &Scores<'_>,
        store: &Store,
    ) -> Verdict {
        let Decision { said, quilt, known, named, fabric } =
            self.decision(arrival, settled, hits, scores, store, |of| !store.lives_at(of, settled.position));
        if let Some(own) = settled.head.filter(|_| settled.learns) {
            let links = arrival.signatures.links.iter().take(LINKS_MAX).map(|link| *link as u32).collect();
            let standing = Standing { sources: known, named, said: said.packed(), links };
            self.standings.begin(own, settled.position, &standing, fabric);
            self.witness(own, settled, &scores.sources, arrival, store);
        }
        self.verdict(arrival, settled, said, quilt)
    }

    /// What is to be said of a document. Whoever is `gone` is remembered no more.
    fn decision(
        &self,
        arrival: &Arrival,
        settled: &Settled,
        hits: &Hits,
        scores: &Scores<'_>,
        store: &Store,
        gone: impl Fn(Ref) -> bool,
    ) -> Decision {
        let Scores { cloth, sources, kin, n_common } = scores;
        let is_source = |of: Ref| self.is_source(of) || gone(of);
        // Those that may be sources first: of a text that many quilts have taken, the quilts would leave no place for it.
        let mut known: Vec<KnownSource> = sources
            .iter()
            .filter(|source| source.bits.count() >= cloth.grams_min())
            .map(|source| KnownSource {
                of: source.of,
                linked: self.links_to(arrival, source.of, store),
                extent: source.extent,
                bits: source.bits.clone(),
            })
            .collect();
        remember(&mut known, self.quilt.remembered_max, |of| !is_source(of));
        let own = settled.head.filter(|_| settled.learns);
        let link = self.own_link(arrival);
        let links_to = |of: Ref, link: u32| !gone(of) && self.standings.links_to(of, link);
        let is_patchwork = |of: Ref| self.standings.fabric(of).is_patchwork && !gone(of);
        let others = Others { is_source: &is_source, is_patchwork: &is_patchwork, links_to: &links_to, is_gone: &gone };
        let (mut cover, mut named) = self.decided(cloth, &known, link, others);
        if let Some(own) = own.filter(|_| cover.is_quilt(&self.quilt) && !self.quilt.quilts_are_sources) {
            let takers = self.takers(own, arrival, sources, &named, store, others);
            if !takers.is_empty() {
                let is_source = |of: Ref| is_source(of) && !takers.contains(&of);
                (cover, named) = self.decided(cloth, &known, link, Others { is_source: &is_source, ..others });
            }
        }
        // A copy has of others what the first of its group has of them, and a little more by chance.
        let head = settled.joined.as_ref().and(settled.head);
        let is_quilt = cover.is_quilt(&self.quilt) && head.is_none_or(|head| self.standings.is_quilt(head));
        let quilt = is_quilt.then(|| self.quilt_of(&cover, &named, store));
        let links_here = |of: Ref| link.is_some_and(|link| self.standings.links_to(of, link));
        let found = Found { kin, n_common, n_known: hits.n_known, cover: &cover, named: &named };
        let said = self.said(arrival, settled, &found, store, &links_here);
        let mut named: Vec<Ref> = if is_quilt { named.iter().map(|source| source.of).collect() } else { Vec::new() };
        named.sort_unstable();
        let fabric = Fabric { is_quilt, is_patchwork: cover.is_patchwork(&self.quilt) };
        Decision { said, quilt, named, known, fabric }
    }

    /// What is said of a document beside whose words it holds. `links_here` knows which heads link to it.
    pub(super) fn said(
        &self,
        arrival: &Arrival,
        settled: &Settled,
        found: &Found<'_>,
        store: &Store,
        links_here: &dyn Fn(Ref) -> bool,
    ) -> Said {
        let signatures = &arrival.signatures;
        let &Found { n_known, cover, named, .. } = found;
        let Kindred { mirror, related, closest } = self.kindred(arrival, settled, found, store, links_here);
        let template = self.template_of(settled);
        let mut features = Features {
            n_words: signatures.n_words.into(),
            n_core_words: signatures.n_core_words.into(),
            n_terms: signatures.shown.terms.len() as f64,
            n_long_sentences: signatures.sentences.len() as f64,
            n_links: signatures.links.len() as f64,
            n_link_domains: signatures.link_domains.len() as f64,
            resemblance: settled.likeness,
            group_size: settled.group.0.into(),
            group_domains: settled.group.1.into(),
            imatch_hits: settled.n_common.0.into(),
            minhash_hits: settled.n_common.1.into(),
            grams_known: f64::from(n_known) / (signatures.grams.len().max(1)) as f64,
            frame: settled.styled.resemblance.frame,
            style: settled.styled.resemblance.style,
            style_bins: settled.styled.resemblance.bins.into(),
            recrawl: settled.recrawl.map_or(0.0, |recrawl| 1.0 + f64::from(recrawl as u8)),
            n_related: related.len() as f64,
            ..Features::default()
        };
        if let Some(closest) = closest {
            features.overlap = closest.overlap.get();
            features.containment = closest.containment.get();
        }
        if let Some(cluster) = &settled.styled.cluster {
            features.cluster_size = cluster.size.into();
            features.cluster_domains = cluster.domains.into();
            features.cluster_linked = cluster.linked;
        }
        quilt_features(&mut features, cover, named);
        Said {
            recrawl: settled.recrawl,
            cluster: settled.styled.cluster.map(|cluster| cluster.id),
            mirror,
            template,
            related,
            features,
            authenticated_domain: arrival.authenticated_domain.clone(),
        }
    }

    /// The first verdict on a document.
    pub(super) fn verdict(&self, arrival: &Arrival, settled: &Settled, said: Said, quilt: Option<Quilt>) -> Verdict {
        self.verdict_in(&self.clusters_of(said.cluster), arrival, settled, said, quilt)
    }

    /// The same, with the labels of these clusters.
    fn verdict_in(
        &self,
        clusters: &[u64],
        arrival: &Arrival,
        settled: &Settled,
        said: Said,
        quilt: Option<Quilt>,
    ) -> Verdict {
        let signatures = &arrival.signatures;
        let outcome = match signatures.outcome {
            Signed::Insufficient if said.cluster.is_none() => Outcome::Insufficient,
            _ => Outcome::Judged,
        };
        let group_head = settled.joined.as_ref().map(|joined| joined.card.id.as_str());
        let labels = self.carried(&Bearings {
            id: &arrival.id,
            group_head,
            clusters,
            domain: arrival.domain.as_deref(),
            authenticated_domain: arrival.authenticated_domain.as_deref(),
            kind: signatures.kind,
        });
        Verdict {
            schema: SCHEMA,
            id: arrival.id.clone(),
            kind: Some(signatures.kind),
            url: arrival.url.clone(),
            domain: arrival.domain.clone(),
            source: arrival.source.clone(),
            revision: 0,
            outcome,
            reason: None,
            truncated: arrival.truncated,
            recrawl: said.recrawl,
            classes: classes(&said, quilt.is_some()),
            cluster: said.cluster.map(cluster_name),
            mirror: said.mirror,
            quilt,
            template: said.template,
            related: said.related,
            labels,
            features: Some(said.features),
        }
    }

    fn template_of(&self, settled: &Settled) -> Option<Template> {
        let cluster = settled.styled.cluster.as_ref().filter(|cluster| cluster.size >= self.template_size_min)?;
        let resemblance = settled.styled.resemblance;
        Some(Template {
            cluster: cluster_name(cluster.id),
            frame: resemblance.frame,
            style: resemblance.style,
            bins: resemblance.bins,
            size: cluster.size,
            domains: cluster.domains,
            kind: cluster.kind,
        })
    }

    /// The lower half of what links to `arrival` are hashed to.
    pub(super) fn own_link(&self, arrival: &Arrival) -> Option<u32> {
        arrival.url.as_deref().map(|url| self.link(url) as u32)
    }

    pub(super) fn link(&self, url: &str) -> u64 {
        Location::of(url).key(self.link_key)
    }

    pub(super) fn links_to(&self, arrival: &Arrival, of: Ref, store: &Store) -> bool {
        let is_linked =
            || store.glance(of, &mut Vec::new()).is_some_and(|glance| self.is_linked(arrival, glance.url()));
        !arrival.signatures.links.is_empty() && is_linked()
    }

    pub(super) fn is_linked(&self, arrival: &Arrival, url: Option<&str>) -> bool {
        let link = url.map(|url| self.link(url));
        link.is_some_and(|link| arrival.signatures.links.binary_search(&link).is_ok())
    }

    /// What was turned away.
    pub fn turned_away(&self) -> TurnedAway {
        self.standings.turned_away()
    }

    /// Records that wait to be looked at again.
    pub fn n_queued(&self) -> usize {
        self.standings.n_queued()
    }

    /// What is small of what is remembered, as bytes.
    pub fn save(&self) -> Result<Vec<u8>, postcard::Error> {
        self.standings.save()
    }

    /// What is large of it.
    pub(crate) fn tables(&mut self) -> impl Iterator<Item = &mut dyn Table> {
        self.standings.tables().into_iter()
    }

    /// Reads what [`Judge::save`] has written, for a store of at most `n_heads_max` documents; the tables are read next.
    pub fn load(&mut self, bytes: &[u8], n_heads_max: usize) -> Result<(), Damaged> {
        self.standings.load(bytes, n_heads_max)
    }

    /// Which clusters have become part of which, as bytes; empty where none has.
    pub(crate) fn save_merges(&self) -> Result<Vec<u8>, postcard::Error> {
        self.lineage.save()
    }

    /// Reads what [`Judge::save_merges`] has written.
    pub(crate) fn load_merges(&mut self, bytes: &[u8]) -> Result<(), Damaged> {
        let Self { lineage, labels, .. } = self;
        lineage.load(bytes, |cluster| !labels.of_cluster(&cluster_name(cluster)).is_empty())
    }

    /// Looks whether the tables that were read agree with the rest.
    pub fn resume(&mut self) -> Result<(), Damaged> {
        self.standings.resume()
    }

    /// Goes on with what `from` remembers; settings and labels stay ours.
    pub fn carry(&mut self, from: Self) {
        self.standings.carry(from.standings);
        self.heirs = from.heirs;
        self.lineage = from.lineage;
    }
}

pub(super) fn classes(said: &Said, is_quilt: bool) -> Vec<Class> {
    let all =
        [(said.mirror.is_some(), Class::Mirror), (is_quilt, Class::Quilt), (said.template.is_some(), Class::Template)];
    all.into_iter().filter(|(is_one, _)| *is_one).map(|(_, class)| class).collect()
}

/// A verdict on what could not be read.
pub fn rejected(
    id: String,
    kind: Option<Kind>,
    url: Option<String>,
    source: super::event::Source,
    reason: &str,
) -> Verdict {
    Verdict { url, reason: Some(reason.to_owned()), ..Verdict::bare(id, kind, source, Outcome::Rejected) }
}
