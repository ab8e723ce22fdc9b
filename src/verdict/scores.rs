//! What can be said of a document without the decisions on others: whose grams and rare sentences it has.
//!
//! Each document is scored by itself, so that a batch can be cut among threads. Decisions come after it, one after the other
//! ([`judge`](super::judge)).
//!
//! # Invariants
//! - Scores are the same for any number of threads. (`tests/promises/fold.rs`)

use super::cover::{BITS_MAX, Bits, Cloth};
use super::judge::Judge;
use super::kinship::{self, Kin};
use super::quilt::Shared;
use super::standings::Extent;
use crate::store::{Arrival, GramHit, Hits, Ref, Settled, Store};
use crate::text::grams::once_each;
use std::thread;

/// Sources that are looked at, those with the most grams first.
const SOURCES_MAX: usize = 64;
/// A thread is worth its while for a few dozen documents.
const PER_THREAD_MIN: usize = 32;

/// What can be said of a document without the decisions on others.
pub(super) struct Scores<'a> {
    pub(super) cloth: Cloth<'a>,
    pub(super) sources: Vec<Shared>,
    pub(super) kin: Vec<Kin>,
    /// Grams in common with each head, ascending.
    pub(super) n_common: Vec<(Ref, u32)>,
}

impl Judge {
    /// The scores of a batch, in its order.
    pub(super) fn scores<'a>(
        &self,
        batch: &'a [Arrival],
        settled: &[Settled],
        hits: &[Hits],
        store: &Store,
        n_threads: usize,
    ) -> Vec<Scores<'a>> {
        let n_threads = n_threads.clamp(1, batch.len().div_ceil(PER_THREAD_MIN).max(1));
        let score = |number: usize| self.score(&batch[number], &settled[number], &hits[number], store);
        if n_threads == 1 {
            return (0..batch.len()).map(score).collect();
        }
        let per_thread = batch.len().div_ceil(n_threads);
        thread::scope(|scope| {
            let threads: Vec<_> = (0..batch.len())
                .step_by(per_thread)
                .map(|first| {
                    let score = &score;
                    scope.spawn(move || (first..batch.len().min(first + per_thread)).map(score).collect::<Vec<_>>())
                })
                .collect();
            let join = |thread: thread::ScopedJoinHandle<'_, Vec<Scores<'a>>>| {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            threads.into_iter().flat_map(join).collect()
        })
    }

    /// The scores of one document.
    pub(super) fn score<'a>(&self, arrival: &'a Arrival, settled: &Settled, hits: &Hits, store: &Store) -> Scores<'a> {
        let signatures = &arrival.signatures;
        let places = &arrival.places[..arrival.places.len().min(store.plan().n_places())];
        let cloth = Cloth::new(places, signatures.n_core_words, arrival.unspaced, BITS_MAX, self.window, &self.quilt);
        let mut by_source: Vec<GramHit> =
            hits.grams.iter().filter(|hit| Some(hit.of) != settled.head).copied().collect();
        by_source.sort_unstable_by_key(|hit| (hit.of, hit.mine));
        let grams_min = self.quilt.source_grams_min.min(self.quilt.source_grams_min_unspaced) as usize;
        let (mut sources, mut n_common): (Vec<Shared>, Vec<(Ref, u32)>) = (Vec::new(), Vec::new());
        for shared in by_source.chunk_by(|a, b| a.of == b.of) {
            let of = shared[0].of;
            // A gram in common is nothing yet, and most have no more: nobody asks who they are.
            if shared.len() == 1 && grams_min > 1 {
                n_common.push((of, 1));
                continue;
            }
            let once = once_each(shared.iter().map(|hit| usize::from(hit.mine)).collect(), places);
            n_common.push((of, once.len() as u32));
            if once.len() < grams_min {
                continue;
            }
            let Some(server) = store.server(of) else { continue };
            if self.quilt.foreign && server.is(settled.server) {
                continue;
            }
            let mut bits = Bits::new();
            once.iter().for_each(|&mine| bits.set(cloth.bit(mine)));
            let is_taken = |hit: &&GramHit| once.binary_search(&hit.mine.into()).is_ok();
            let theirs = shared.iter().filter(is_taken).map(|hit| hit.theirs).collect();
            sources.push(Shared { of, bits, theirs, server, extent: Extent::Some });
        }
        // The older of equals: a slot is used again, so that its number says nothing.
        sources.sort_by_cached_key(|source| (std::cmp::Reverse(source.theirs.len()), store.born(source.of)));
        sources.truncate(SOURCES_MAX);
        let mut scratch = Vec::new();
        for source in sources.iter_mut().filter(|source| source.bits.count() >= cloth.grams_min()) {
            let n_grams = store.glance(source.of, &mut scratch).map_or(0, |glance| glance.n_grams());
            source.extent = Extent::of(source.theirs.len(), n_grams, false);
        }
        Scores { cloth, sources, kin: kinship::kin(&hits.sentences, arrival), n_common }
    }
}
