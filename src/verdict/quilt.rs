//! Quilts: whose words a document holds, decided when it comes and again when another comes that has some of them.
//!
//! # Invariants
//! - A judged quilt is no source, unless the settings say so, and whoever came first is decided first.
//!   (`a_plundered_original_is_no_quilt`)
//! - Whoever links to a document that does not link back has quoted it and is no source of it, unless the settings say so.
//!   (`an_article_is_no_quilt_of_those_who_quote_it`)
//! - An article is no quilt of those who show parts of it, and neither are they. (`excerpts_of_one_article_are_no_quilts`)
//! - A revision says all that was said before, and what has changed. (`revisions_repeat_what_was_said`)

use super::cover::{BITS_MAX, Bits, Cloth, Cover};
use super::event::{Features, Outcome, Quilt, QuiltKind, QuiltSource, SCHEMA, Verdict};
use super::judge::{Judge, classes};
use super::labels::Bearings;
use super::parts::{Excerpts, is_part};
use super::said::Said;
use super::standings::{Extent, Fabric, KnownSource, remember};
use crate::store::{Arrival, Card, Ref, Server, Settled, Store, cluster_name};

/// What a document shares in grams with one head.
pub(super) struct Shared {
    pub(super) of: Ref,
    /// As bits of this document.
    pub(super) bits: Bits,
    /// The numbers of the grams there.
    pub(super) theirs: Vec<u16>,
    pub(super) server: Server,
    /// How much of it stands in this document.
    pub(super) extent: Extent,
}

/// What is known of other documents at a moment.
#[derive(Clone, Copy)]
pub(super) struct Others<'a> {
    /// Which may be a source.
    pub(super) is_source: &'a dyn Fn(Ref) -> bool,
    /// Which are themselves made of others, as a quilt is.
    pub(super) is_patchwork: &'a dyn Fn(Ref) -> bool,
    /// Which link there.
    pub(super) links_to: &'a dyn Fn(Ref, u32) -> bool,
    /// Which have given way.
    pub(super) is_gone: &'a dyn Fn(Ref) -> bool,
}

impl Shared {
    /// The grams as bits of the other document.
    fn bits_there(&self, cloth: &Cloth<'_>) -> Bits {
        let mut bits = Bits::new();
        self.theirs.iter().for_each(|number| bits.set(cloth.bit(usize::from(*number))));
        bits
    }
}

impl Judge {
    /// Whether `of` may be a source, as far as it is remembered.
    pub(super) fn is_source(&self, of: Ref) -> bool {
        self.quilt.quilts_are_sources || !self.standings.is_quilt(of)
    }

    pub(super) fn quilt_of(&self, cover: &Cover, named: &[&KnownSource], store: &Store) -> Quilt {
        let sources: Vec<QuiltSource> = cover
            .sources
            .iter()
            .zip(named)
            .filter_map(|(source, known)| {
                let card = store.names(known.of)?;
                Some(QuiltSource {
                    url: card.url().map(str::to_owned),
                    of: card.id,
                    share: cover.share(source),
                    linked: known.linked,
                    spans: source.spans.clone(),
                })
            })
            .collect();
        let n_linked = named.iter().filter(|source| source.linked).count();
        let is_attributed = n_linked as f64 >= self.quilt.linked_min * named.len() as f64;
        let kind = if is_attributed { QuiltKind::Aggregator } else { QuiltKind::Quilt };
        Quilt { patch_fraction: cover.fraction, kind, sources }
    }

    /// The cover of a document under `link` by those of `known` that may be one. Quilts of the same passages hold more of each other
    /// than any source does, and two or three of them are all of a fourth: where sources are all that is missing, those that are made of
    /// others are left out. Where the cover makes a quilt, and only there, sources are asked whether they link here: then they took from
    /// here, unless this document links to them too.
    pub(super) fn decided<'a>(
        &self,
        cloth: &Cloth,
        known: &'a [KnownSource],
        link: Option<u32>,
        others: Others<'_>,
    ) -> (Cover, Vec<&'a KnownSource>) {
        let Others { is_source, is_patchwork, links_to, .. } = others;
        let is_whole = |of: Ref| is_source(of) && !is_patchwork(of);
        let (mut is_source, (mut cover, mut named)) = (is_source, self.cover(cloth, known, is_source));
        if self.lacks_sources(&cover) && known.iter().any(|source| is_patchwork(source.of)) {
            let by_others = self.cover(cloth, known, is_whole);
            if by_others.0.is_quilt(&self.quilt) {
                (is_source, (cover, named)) = (&is_whole, by_others);
            }
        }
        let Some(link) = link.filter(|_| !self.quilt.quoters_are_sources && cover.is_quilt(&self.quilt)) else {
            return (cover, named);
        };
        let is_quoter = |source: &&KnownSource| !source.linked && is_source(source.of) && links_to(source.of, link);
        let quoters: Vec<Ref> = known.iter().filter(is_quoter).map(|source| source.of).collect();
        match quoters.is_empty() {
            true => (cover, named),
            false => self.cover(cloth, known, |of| is_source(of) && !quoters.contains(&of)),
        }
    }

    /// Whether a document is a patchwork of too few sources to be a quilt, and others may be looked for.
    pub(super) fn lacks_sources(&self, cover: &Cover) -> bool {
        cover.is_patchwork(&self.quilt) && !cover.is_quilt(&self.quilt) && !self.quilt.quilts_are_sources
    }

    /// The cover by those sources that may be one, and these sources by the numbers in the cover.
    fn cover<'a>(
        &self,
        cloth: &Cloth<'_>,
        known: &'a [KnownSource],
        is_source: impl Fn(Ref) -> bool,
    ) -> (Cover, Vec<&'a KnownSource>) {
        let mut eligible: Vec<&KnownSource> = known.iter().filter(|source| is_source(source.of)).collect();
        self.leave_parts_out(&mut eligible, |source| *source);
        let cover = cloth.cover(eligible.iter().map(|source| &source.bits));
        let named = cover.sources.iter().map(|source| eligible[source.number]).collect();
        (cover, named)
    }

    /// Leaves out those `eligible` sources that have their words from the document: those that show [`Excerpts`] of it. Of those before it
    /// not all may be known to lie in it: whoever has half of what it has in common with them goes with them.
    pub(super) fn leave_parts_out<'k, T>(&self, eligible: &mut Vec<T>, known: impl Fn(&T) -> &'k KnownSource) {
        if self.quilt.parts_are_sources {
            return;
        }
        let (all, before) =
            (Excerpts::of(eligible.iter().map(&known), true), Excerpts::of(eligible.iter().map(&known), false));
        eligible.retain(|source| {
            let KnownSource { extent, bits, .. } = known(source);
            !(is_part(*extent, true) && all.has(bits) || before.has_half(bits))
        });
    }

    /// The same as [`Judge::decided`] by what is remembered now.
    fn decided_now<'a>(
        &self,
        cloth: &Cloth<'_>,
        known: &'a [KnownSource],
        card: &Card,
    ) -> (Cover, Vec<&'a KnownSource>) {
        let links_to = |of: Ref, link: u32| self.standings.links_to(of, link);
        let is_patchwork = |of: Ref| self.standings.fabric(of).is_patchwork;
        let is_source = |of: Ref| self.is_source(of);
        let others =
            Others { is_source: &is_source, is_patchwork: &is_patchwork, links_to: &links_to, is_gone: &|_| false };
        self.decided(cloth, known, self.card_link(card), others)
    }

    /// Of the `named` sources of the new head `own` those that are themselves quilts as soon as they know of it: then it is
    /// an original that they took from, and not made of them. Whoever came first is decided first.
    pub(super) fn takers(
        &self,
        own: Ref,
        arrival: &Arrival,
        sources: &[Shared],
        named: &[&KnownSource],
        store: &Store,
        others: Others<'_>,
    ) -> Vec<Ref> {
        let own_link = self.own_link(arrival);
        let is_taker = |of: &Ref| {
            let source = sources.iter().find(|source| source.of == *of)?;
            let (mut standing, card) = (self.standings.get(*of)?, store.card(*of)?);
            let linked = own_link.is_some_and(|link| standing.links.contains(&link));
            if !linked && !self.quilt.quoters_are_sources && self.is_linked(arrival, card.url()) {
                return None;
            }
            let cloth = self.cloth(&card);
            let extent = Extent::of(source.theirs.len(), arrival.n_grams(), true);
            standing.sources.retain(|source| !(others.is_gone)(source.of));
            standing.sources.push(KnownSource { of: own, linked, extent, bits: source.bits_there(&cloth) });
            let (cover, _) = self.decided(&cloth, &standing.sources, self.card_link(&card), others);
            Some(cover.is_quilt(&self.quilt))
        };
        named.iter().map(|source| source.of).filter(|of| is_taker(of) == Some(true)).collect()
    }

    /// The new head `own` is a possible source of those whose grams it holds: they are told, and decided anew.
    pub(super) fn witness(
        &mut self,
        own: Ref,
        settled: &Settled,
        sources: &[Shared],
        arrival: &Arrival,
        store: &Store,
    ) {
        let own_link = self.own_link(arrival);
        for source in sources {
            if !store.lives_at(source.of, settled.position) || self.quilt.foreign && source.server.is(settled.server) {
                continue;
            }
            let Some(mut standing) = self.standings.get(source.of) else { continue };
            let Some(card) = store.card(source.of) else { continue };
            let linked = own_link.is_some_and(|link| standing.links.contains(&link));
            // It took its words from there, and says so. All its links are at hand now, and only a sample of them later.
            if !linked && !self.quilt.quoters_are_sources && self.is_linked(arrival, card.url()) {
                continue;
            }
            let cloth = self.cloth(&card);
            let bits = source.bits_there(&cloth);
            if bits.count() < cloth.grams_min() {
                continue;
            }
            let extent = Extent::of(source.theirs.len(), arrival.n_grams(), true);
            standing.sources.push(KnownSource { of: own, linked, extent, bits });
            // Those that may be sources are remembered first, then the largest, the older of equals.
            standing.sources.sort_by_key(|source| std::cmp::Reverse(source.bits.count()));
            remember(&mut standing.sources, self.quilt.remembered_max, |of| !self.is_source(of));
            if standing.sources.iter().any(|source| source.of == own) {
                self.standings.update(source.of, &standing);
                self.standings.enqueue(source.of);
            }
        }
    }

    /// The lower half of what links to the document of `card` are hashed to.
    fn card_link(&self, card: &Card) -> Option<u32> {
        card.url().map(|url| self.link(url) as u32)
    }

    pub(super) fn cloth(&self, card: &Card) -> Cloth<'static> {
        Cloth::new(card.places(), card.n_core_words, card.unspaced, BITS_MAX, self.window, &self.quilt)
    }

    /// Decides the quilt verdict of `of` anew; a verdict where it has changed.
    pub(super) fn revise(&mut self, of: Ref, position: u64, store: &Store) -> Option<Verdict> {
        let mut standing = self.standings.get(of)?;
        // Who named a source that has gone keeps what was said.
        if standing.named.iter().any(|source| !store.lives_at(*source, position)) {
            return None;
        }
        standing.sources.retain(|source| store.lives_at(source.of, position));
        let card = store.card(of)?;
        let cloth = self.cloth(&card);
        let (cover, named) = self.decided_now(&cloth, &standing.sources, &card);
        let (was_quilt, is_quilt) = (self.standings.is_quilt(of), cover.is_quilt(&self.quilt));
        if self.standings.turn(of, Fabric { is_quilt, is_patchwork: cover.is_patchwork(&self.quilt) }) {
            // Whoever takes it for a source, or is one of its own, may see things differently now.
            standing.sources.iter().for_each(|source| self.standings.enqueue(source.of));
        }
        let mut names: Vec<Ref> = if is_quilt { named.iter().map(|source| source.of).collect() } else { Vec::new() };
        names.sort_unstable();
        if was_quilt == is_quilt && names == standing.named {
            return None;
        }
        let quilt = is_quilt.then(|| self.quilt_of(&cover, &named, store));
        let mut said = standing.said()?;
        quilt_features(&mut said.features, &cover, &named);
        (standing.named, standing.said) = (names, said.packed());
        self.standings.update(of, &standing);
        let revision = self.standings.next_revision(of);
        Some(self.repeated(card, said, quilt, revision))
    }

    /// What was last said of the head `of`, as far as it is remembered: who has come or gone since has changed nothing of it.
    pub fn last_said(&self, of: Ref, store: &Store) -> Option<Verdict> {
        let standing = self.standings.get(of)?;
        let card = store.card(of)?;
        let cloth = self.cloth(&card);
        let said_of = |source: &&KnownSource| standing.named.contains(&source.of);
        let all_named: Vec<&KnownSource> = standing.sources.iter().filter(said_of).collect();
        let cover = cloth.cover(all_named.iter().map(|source| &source.bits));
        let named: Vec<&KnownSource> = cover.sources.iter().map(|source| all_named[source.number]).collect();
        let quilt = self.standings.is_quilt(of).then(|| self.quilt_of(&cover, &named, store));
        // Where all of them are gone nothing is left to be said of it.
        let quilt = quilt.filter(|quilt| !quilt.sources.is_empty());
        Some(self.repeated(card, standing.said()?, quilt, self.standings.revision(of)))
    }

    /// A verdict with what was said before.
    fn repeated(&self, card: Card, said: Said, quilt: Option<Quilt>, revision: u32) -> Verdict {
        let source = card.source();
        let labels = self.carried(&Bearings {
            id: &card.id,
            group_head: None,
            clusters: &self.clusters_of(said.cluster),
            domain: card.domain.as_deref(),
            authenticated_domain: said.authenticated_domain.as_deref(),
            kind: card.kind,
        });
        Verdict {
            schema: SCHEMA,
            kind: Some(card.kind),
            url: card.url().map(str::to_owned),
            revision,
            outcome: Outcome::Judged,
            reason: None,
            truncated: card.truncated,
            recrawl: said.recrawl,
            classes: classes(&said, quilt.is_some()),
            cluster: said.cluster.map(cluster_name),
            mirror: said.mirror,
            quilt,
            template: said.template,
            related: said.related,
            labels,
            features: Some(said.features),
            id: card.id,
            domain: card.domain,
            source,
        }
    }
}

/// Notes the cover by the sources `named` in it, enough or not.
pub(super) fn quilt_features(features: &mut Features, cover: &Cover, named: &[&KnownSource]) {
    features.patch_fraction = cover.fraction;
    features.n_sources = cover.sources.len() as f64;
    features.source_share_max = cover.sources.iter().map(|source| cover.share(source)).fold(0.0, f64::max);
    features.sources_linked = match named.len() {
        0 => 0.0,
        n => named.iter().filter(|source| source.linked).count() as f64 / n as f64,
    };
}
