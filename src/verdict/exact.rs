//! The exhaustive answer: every document is judged after the last one has come, by all that the others hold.
//!
//! Whether a document is a quilt depends on which of its sources are quilts. So all are decided in their order, each
//! decision in force at once, again and again until nothing changes.
//!
//! # Invariants
//! - Nothing is sampled or cut off, whatever the settings bound in a stream. (`tests/promises/quality/exact.rs`)
//! - A judged quilt is no source, unless the settings say so. (`a_plundered_original_is_no_quilt`)
//! - Whoever links to a document that does not link back is no source of it, unless the settings say so.
//!   (`an_article_is_no_quilt_of_those_who_quote_it`)
//! - An article is no quilt of those who show parts of it, and neither are they. (`excerpts_of_one_article_are_no_quilts`)
//! - A copy is a quilt only if the first of its group is. (`a_copy_is_a_quilt_if_its_head_is`)

use super::cover::{Bits, Cloth, Cover};
use super::event::Verdict;
use super::judge::{Found, Judge};
use super::kinship::{self, Kin};
use super::standings::{Extent, Fabric, KnownSource};
use crate::config::Settings;
use crate::store::{Arrival, Held, Holders, Ref, Settled, Store};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::thread;

/// Two quilts can each be one only if the other is none. Whoever has not come to rest by now never will.
const SWEEPS_MAX: usize = 10;

/// A document before the first sweep.
struct Case {
    cloth: Cloth<'static>,
    known: Vec<KnownSource>,
    kin: Vec<Kin>,
    /// Grams in common with each head, ascending.
    n_common: Vec<(Ref, u32)>,
    n_known: u32,
    /// Which of `known` link here without a link back.
    are_quoters: Vec<bool>,
    /// What was decided last: the cover, and the numbers in `known` of the sources it names.
    cover: Cover,
    named: Vec<usize>,
    is_quilt: bool,
}

impl Case {
    /// Covers it by the `eligible` ones of those that are known.
    fn decide(&mut self, judge: &Judge, eligible: &[usize]) {
        let mut eligible = eligible.to_vec();
        judge.leave_parts_out(&mut eligible, |number| &self.known[*number]);
        self.cover = self.cloth.cover(eligible.iter().map(|&number| &self.known[number].bits));
        self.named = self.cover.sources.iter().map(|source| eligible[source.number]).collect();
    }
}

impl Judge {
    /// Judges all documents of a corpus, settled in an exhaustive `store`, and calls `with` for the verdict on each, in
    /// their order.
    pub fn judge_all(
        &self,
        batch: &[Arrival],
        settled: &[Settled],
        store: &Store,
        settings: &Settings,
        n_threads: usize,
        mut with: impl FnMut(Verdict),
    ) {
        let holders = Holders::new(batch, settled, store, settings);
        let mut cases = self.cases(batch, settled, &holders, store, n_threads);
        drop(holders);
        let by_head: HashMap<Ref, &Arrival> = batch
            .iter()
            .zip(settled)
            .filter_map(|(arrival, settled)| settled.head.filter(|_| settled.learns).map(|head| (head, arrival)))
            .collect();
        let links_here = |arrival: &Arrival, of: Ref| {
            let link = arrival.url.as_deref().map(|url| self.link(url));
            let links = by_head.get(&of).map(|head| &head.signatures.links);
            link.zip(links).is_some_and(|(link, links)| links.binary_search(&link).is_ok())
        };
        if !self.quilt.quoters_are_sources {
            for (arrival, case) in batch.iter().zip(&mut cases) {
                let is_quoter = |source: &KnownSource| !source.linked && links_here(arrival, source.of);
                case.are_quoters = case.known.iter().map(is_quoter).collect();
            }
        }
        self.sweep(&mut cases, settled);
        for ((arrival, settled), case) in batch.iter().zip(settled).zip(&cases) {
            let links_here = |of: Ref| links_here(arrival, of);
            let named: Vec<&KnownSource> = case.named.iter().map(|&number| &case.known[number]).collect();
            let found = Found {
                kin: &case.kin,
                n_common: &case.n_common,
                n_known: case.n_known,
                cover: &case.cover,
                named: &named,
            };
            let said = self.said(arrival, settled, &found, store, &links_here);
            let quilt = case.is_quilt.then(|| self.quilt_of(&case.cover, &named, store));
            with(self.verdict(arrival, settled, said, quilt));
        }
    }

    fn cases(
        &self,
        batch: &[Arrival],
        settled: &[Settled],
        holders: &Holders,
        store: &Store,
        n_threads: usize,
    ) -> Vec<Case> {
        let case = |(arrival, settled): (&Arrival, &Settled)| {
            self.case(arrival, settled, holders.held(arrival, settled), store)
        };
        let per_thread = batch.len().div_ceil(n_threads.max(1)).max(1);
        let parts = batch.chunks(per_thread).zip(settled.chunks(per_thread));
        thread::scope(|scope| {
            let case = &case;
            let threads: Vec<_> = parts
                .map(|(batch, settled)| scope.spawn(move || batch.iter().zip(settled).map(case).collect::<Vec<_>>()))
                .collect();
            let join = |thread: thread::ScopedJoinHandle<'_, Vec<Case>>| {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            threads.into_iter().flat_map(join).collect()
        })
    }

    fn case(&self, arrival: &Arrival, settled: &Settled, held: Held, store: &Store) -> Case {
        let signatures = &arrival.signatures;
        let (places, n_words) = (arrival.places.clone(), signatures.n_core_words);
        let cloth = Cloth::new(places, n_words, arrival.unspaced, usize::MAX, self.window, &self.quilt);
        let (mut known, mut scratch): (Vec<KnownSource>, Vec<u8>) = (Vec::new(), Vec::new());
        let mut n_common: Vec<(Ref, u32)> = held.grams.iter().map(|(of, grams)| (*of, grams.len() as u32)).collect();
        n_common.sort_unstable();
        for (of, grams) in held.grams {
            let is_own = |of| store.server(of).is_none_or(|server| server.is(settled.server));
            if grams.len() < cloth.grams_min() as usize || self.quilt.foreign && is_own(of) {
                continue;
            }
            let n_grams = store.glance(of, &mut scratch).map_or(0, |glance| glance.n_grams());
            let is_after = store.born(of).is_some_and(|born| born > settled.position);
            let extent = Extent::of(grams.len(), n_grams, is_after);
            let mut bits = Bits::new();
            grams.into_iter().for_each(|gram| bits.set(cloth.bit(gram)));
            known.push(KnownSource { of, linked: self.links_to(arrival, of, store), extent, bits });
        }
        // The largest first, the older of equals.
        known.sort_by_key(|source| Reverse(source.bits.count()));
        let kin = kinship::kin(&held.sentences, arrival);
        let (n_known, cover, named) = (held.n_known, Cover::default(), Vec::new());
        Case { cloth, known, kin, n_common, n_known, are_quoters: Vec::new(), cover, named, is_quilt: false }
    }

    fn sweep(&self, cases: &mut [Case], settled: &[Settled]) {
        let mut fabrics: HashMap<Ref, Fabric> = HashMap::new();
        for _ in 0..SWEEPS_MAX {
            let mut is_at_rest = true;
            for (case, settled) in cases.iter_mut().zip(settled) {
                let fabric = |of: Ref| fabrics.get(&of).copied().unwrap_or_default();
                let is_source = |of: Ref| self.quilt.quilts_are_sources || !fabric(of).is_quilt;
                let mut eligible: Vec<usize> =
                    (0..case.known.len()).filter(|&number| is_source(case.known[number].of)).collect();
                case.decide(self, &eligible);
                if self.lacks_sources(&case.cover) {
                    // As in [`Judge::decided`].
                    let is_whole = |number: &usize| !fabric(case.known[*number].of).is_patchwork;
                    let whole: Vec<usize> = eligible.iter().copied().filter(is_whole).collect();
                    if whole.len() < eligible.len() {
                        case.decide(self, &whole);
                        match case.cover.is_quilt(&self.quilt) {
                            true => eligible = whole,
                            false => case.decide(self, &eligible),
                        }
                    }
                }
                let is_quoter = |number: &usize| case.are_quoters.get(*number).copied().unwrap_or(false);
                if case.cover.is_quilt(&self.quilt) && eligible.iter().any(is_quoter) {
                    eligible.retain(|number| !is_quoter(number));
                    case.decide(self, &eligible);
                }
                // Heads come before their copies.
                let head = settled.joined.as_ref().and(settled.head);
                let head_is_quilt = head.is_none_or(|head| fabric(head).is_quilt);
                case.is_quilt = case.cover.is_quilt(&self.quilt) && head_is_quilt;
                if let Some(own) = settled.head.filter(|_| settled.learns) {
                    let is_patchwork = case.cover.is_patchwork(&self.quilt);
                    let now = Fabric { is_quilt: case.is_quilt, is_patchwork };
                    is_at_rest &= fabrics.insert(own, now).unwrap_or_default() == now;
                }
            }
            if is_at_rest {
                break;
            }
        }
    }
}
