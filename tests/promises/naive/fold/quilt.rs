//! Whose words a document holds, when it comes and whenever that is asked again.

use super::{Known, Naive, Of, Standing};
use seamripper::verdict::cover::{BITS_MAX, Bits, Cloth};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

impl<'a> Naive<'a> {
    pub(super) fn cloth(&self, of: Of) -> Cloth<'static> {
        let arrival = &self.arrivals[of];
        let n_words = arrival.signatures.n_core_words;
        let (window, quilt) = (self.settings.grams.window, &self.settings.quilt);
        Cloth::new(arrival.places.clone(), n_words, arrival.unspaced, BITS_MAX, window, quilt)
    }

    /// The sources of `this` among the `known`, if they make a quilt, and whether so much stands in them as in one.
    pub(super) fn cover(&self, this: Of, cloth: &Cloth<'_>, known: &[Known]) -> (BTreeSet<Of>, bool) {
        let is_quilt = |of: &Of| self.standings.get(of).is_some_and(|standing| standing.is_quilt);
        let mut sources: Vec<&Known> = known.iter().filter(|(of, _, _)| !is_quilt(of)).collect();
        let covered = |sources: &[&Known]| {
            let sources = self.without_parts(this, sources);
            let cover = cloth.cover(sources.iter().map(|(_, bits, _)| bits));
            let is_one = cover.is_quilt(&self.settings.quilt);
            let named = cover.sources.iter().filter(|_| is_one).map(|source| sources[source.number].0);
            (named.collect::<BTreeSet<Of>>(), cover.fraction >= self.settings.quilt.fraction_min)
        };
        let mut found = covered(&sources);
        if found.0.is_empty() && found.1 && !self.settings.quilt.quilts_are_sources {
            // Without those that are made of others themselves.
            let is_patchwork = |of: &Of| self.standings.get(of).is_some_and(|standing| standing.is_patchwork);
            let whole: Vec<&Known> = sources.iter().copied().filter(|(of, _, _)| !is_patchwork(of)).collect();
            let by_whole = covered(&whole);
            if !by_whole.0.is_empty() {
                (sources, found) = (whole, by_whole);
            }
        }
        if found.0.is_empty() || self.settings.quilt.quoters_are_sources {
            return found;
        }
        // Who links here, and is not linked to from here, took from here.
        sources.retain(|(of, _, _)| !self.links_to(*of, this) || self.links_to(this, *of));
        covered(&sources)
    }

    /// Those that do not have their words from `this`: who lies in it and shows another piece of it than others that overlap, or has half
    /// of what it has in common with such ones before it.
    pub(super) fn without_parts<'b>(&self, this: Of, sources: &[&'b Known]) -> Vec<&'b Known> {
        if self.settings.quilt.parts_are_sources {
            return sources.to_vec();
        }
        let union = |group: &[&Bits]| {
            let mut union = Bits::new();
            group.iter().for_each(|bits| union.add(bits));
            union
        };
        let excerpts = |with_later: bool| -> Vec<Bits> {
            let mut groups: Vec<Vec<&Bits>> = Vec::new();
            for (_, bits, _) in sources.iter().filter(|(of, _, is_part)| *is_part && (with_later || *of < this)) {
                let mut own = vec![bits];
                for group in std::mem::take(&mut groups) {
                    let (a, b) = (union(&own), union(&group));
                    let n_common = f64::from(a.count_within(&b));
                    if n_common >= 0.25 * f64::from(a.count().min(b.count())) {
                        own.extend(group);
                    } else {
                        groups.push(group);
                    }
                }
                groups.push(own);
            }
            let n_all = |group: &[&Bits]| f64::from(union(group).count());
            let n_held = |group: &[&Bits]| f64::from(group.iter().map(|bits| bits.count()).sum::<u32>());
            let n_most = |group: &[&Bits]| f64::from(group.iter().map(|bits| bits.count()).max().unwrap());
            groups.retain(|group| n_held(group) >= 1.5 * n_all(group) && n_most(group) < 0.8 * n_all(group));
            groups.iter().map(|group| union(group)).collect()
        };
        let (all, before) = (excerpts(true), excerpts(false));
        let is_excerpt = |bits: &Bits| all.iter().any(|group| bits.count_without(group) == 0);
        let is_lent = |bits: &Bits| before.iter().any(|group| 2 * bits.count_within(group) >= bits.count());
        let is_kept = |(_, bits, is_part): &&&Known| !(is_lent(bits) || *is_part && is_excerpt(bits));
        sources.iter().filter(is_kept).copied().collect()
    }

    /// The sources of a quilt; none for what is none.
    pub(super) fn judge_quilt(
        &mut self,
        this: Of,
        head: Option<Of>,
        learns: bool,
        hits: &[(u16, Of, u16)],
    ) -> BTreeSet<Of> {
        let mut shared = BTreeMap::<Of, Vec<(u16, u16)>>::new();
        for &(mine, of, theirs) in hits.iter().filter(|(_, of, _)| Some(*of) != head) {
            if !self.are_one_server(this, of) {
                shared.entry(of).or_default().push((mine, theirs));
            }
        }
        let mut shared: Vec<(Of, Vec<(u16, u16)>)> = shared.into_iter().collect();
        shared.sort_by_key(|(_, grams)| Reverse(grams.len()));
        shared.truncate(64);
        let cloth = self.cloth(this);
        let bits = |cloth: &Cloth<'_>, numbers: &mut dyn Iterator<Item = u16>| {
            let mut bits = Bits::new();
            numbers.for_each(|number| bits.set(cloth.bit(number.into())));
            bits
        };
        let n_grams = |of: Of| self.arrivals[of].n_grams();
        let is_part = |of: Of, n_shared: usize| n_grams(of) > 0 && 5 * n_shared >= 3 * n_grams(of);
        let known = shared
            .iter()
            .map(|(of, grams)| (*of, bits(&cloth, &mut grams.iter().map(|gram| gram.0)), is_part(*of, grams.len())));
        let known = known.filter(|(_, bits, _)| bits.count() >= cloth.grams_min());
        let quilts = |naive: &Self| -> BTreeSet<Of> {
            naive.standings.iter().filter(|(_, standing)| standing.is_quilt).map(|(of, _)| *of).collect()
        };
        let before = quilts(self);
        let mut known: Vec<Known> = known.collect();
        known = remembered(&known, self.settings.quilt.remembered_max, &before);
        let (mut named, _) = self.cover(this, &cloth, &known);
        if learns {
            // Sources that are quilts as soon as they know of this one took from it.
            let is_taker = |of: &Of| {
                let grams = shared.iter().find(|(source, _)| source == of).map(|(_, grams)| grams);
                let (theirs, Some(grams), Some(standing)) = (self.cloth(*of), grams, self.standings.get(of)) else {
                    return false;
                };
                if !self.settings.quilt.quoters_are_sources && self.links_to(this, *of) && !self.links_to(*of, this) {
                    return false;
                }
                let mut sources = standing.sources.clone();
                sources.retain(|(source, _, _)| self.prototypes.contains_key(source));
                let bits = bits(&theirs, &mut grams.iter().map(|gram| gram.1));
                sources.push((this, bits, is_part(this, grams.len())));
                !self.cover(*of, &theirs, &sources).0.is_empty()
            };
            let takers: BTreeSet<Of> = named.iter().copied().filter(is_taker).collect();
            let others: Vec<Known> = known.iter().filter(|(of, _, _)| !takers.contains(of)).cloned().collect();
            let is_patchwork;
            (named, is_patchwork) = self.cover(this, &cloth, &others);
            let is_quilt = !named.is_empty();
            let standing = Standing { sources: known, named: named.clone(), is_quilt, is_patchwork, is_queued: false };
            self.standings.insert(this, standing);
            let now = quilts(self);
            let parts: Vec<bool> = shared.iter().map(|(_, grams)| is_part(this, grams.len())).collect();
            for ((of, grams), is_part) in shared.iter().zip(parts) {
                let theirs = self.cloth(*of);
                let bits = bits(&theirs, &mut grams.iter().map(|gram| gram.1));
                if !self.settings.quilt.quoters_are_sources && self.links_to(this, *of) && !self.links_to(*of, this) {
                    continue;
                }
                let Some(standing) = self.standings.get_mut(of).filter(|_| bits.count() >= theirs.grams_min()) else {
                    continue;
                };
                standing.sources.push((this, bits, is_part));
                standing.sources.sort_by_key(|(_, bits, _)| Reverse(bits.count()));
                standing.sources = remembered(&standing.sources, self.settings.quilt.remembered_max, &now);
                if standing.sources.iter().any(|(source, _, _)| *source == this) {
                    self.enqueue(*of);
                }
            }
        }
        named
    }

    pub(super) fn enqueue(&mut self, of: Of) {
        if let Some(standing) = self.standings.get_mut(&of).filter(|standing| !standing.is_queued) {
            standing.is_queued = true;
            self.queue.push_back(of);
        }
    }

    /// Looks at the next in the queue again; whether there was one.
    pub(super) fn revise_next(&mut self) -> bool {
        let Some(of) = std::iter::from_fn(|| self.queue.pop_front()).find(|of| self.standings.contains_key(of)) else {
            return false;
        };
        let mut standing = self.standings[&of].clone();
        standing.is_queued = false;
        let lives = |of: &Of| self.prototypes.contains_key(of);
        if standing.named.iter().all(lives) {
            standing.sources.retain(|(source, _, _)| lives(source));
            let sources: Vec<Of> = standing.sources.iter().map(|source| source.0).collect();
            let (named, is_patchwork) = self.cover(of, &self.cloth(of), &standing.sources);
            let turns = (named.is_empty(), is_patchwork) != (!standing.is_quilt, standing.is_patchwork);
            (standing.is_quilt, standing.is_patchwork) = (!named.is_empty(), is_patchwork);
            if named == standing.named {
                // Those that have given way stay in its memory.
                standing.sources = self.standings[&of].sources.clone();
            } else {
                standing.named = named.clone();
                self.said[of].sources = named.iter().map(|of| self.id(*of).to_owned()).collect();
            }
            self.standings.insert(of, standing);
            if turns {
                sources.into_iter().for_each(|source| self.enqueue(source));
            }
            return true;
        }
        self.standings.get_mut(&of).unwrap().is_queued = false;
        true
    }
}

/// The sources that are remembered: as they stand, but `quilts` behind the others; and where these are too many, before the quilts those
/// whose words four that are kept have all.
fn remembered(sources: &[Known], n_max: usize, quilts: &BTreeSet<Of>) -> Vec<Known> {
    let (shut, open): (Vec<Known>, Vec<Known>) = sources.iter().cloned().partition(|(of, _, _)| quilts.contains(of));
    let (mut kept, mut repeated): (Vec<Known>, Vec<Known>) = (Vec::new(), Vec::new());
    for source in open {
        let n_alike = kept.iter().filter(|(_, bits, _)| source.1.count_within(bits) == source.1.count()).count();
        if sources.len() > n_max && n_alike >= 4 { &mut repeated } else { &mut kept }.push(source);
    }
    [kept, repeated, shut].concat().into_iter().take(n_max).collect()
}
