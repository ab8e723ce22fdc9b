//! Signatures become hits: which earlier documents share keys with this one, in fixed memory.
//!
//! A document is asked about twice. [`settle`] finds the group and the style cluster that it belongs to: about sixty keys
//! suggest, direct comparison decides, one document after the other. [`weigh`] finds whose words it holds: tens to
//! hundreds of keys, on several threads. Heads of groups and leaders of clusters hold keys; copies hold none.
//!
//! [`prototypes`] holds the stored documents, [`clusters`] the style leaders; [`index`], [`postings`] and [`seen`] are tables of
//! cache lines; [`plan`] sizes them all from one figure. Whatever is large lies in a [`region`] or in [`rows`], which a
//! [`snapshot`] can be written of while the stream goes on ([`watch`]).
//!
//! # Invariants
//! - What a document meets depends on the documents before it and their order alone: not on threads, nor on the cut into
//!   batches. (`tests/promises/fold.rs`)
//! - Memory is what the plan says, however long the stream. (`tests/promises/memory.rs`)
//! - Saved and loaded, it is the same. (`tests/promises/fold.rs`)

mod arrival;
mod bytes;
mod card;
mod cells;
mod cluster;
mod clusters;
mod doorkeeper;
mod exact;
mod excerpts;
mod exhaustive;
mod frequency;
mod holders;
mod index;
mod kept;
mod keys;
mod lanes;
mod lines;
mod living;
mod look;
mod memory;
mod order;
mod pages;
mod papers;
mod plan;
mod postings;
mod proof;
mod prototypes;
mod reference;
mod region;
mod repeats;
mod rows;
mod seen;
mod settle;
mod settled;
pub mod snapshot;
mod spread;
mod ties;
mod vocabulary;
mod watch;
mod weigh;

pub use arrival::{Arrival, CoreSentences, Spelled};
pub use bytes::Damaged;
pub use card::{Card, Glance};
pub use cells::{CELL_BYTES, CellEnds, Cells, Handle};
pub use cluster::{ClusterState, Merge, name as cluster_name, number as cluster_number};
pub use clusters::Styled;
pub use excerpts::{Excerpt, ExcerptRule};
pub use holders::{Held, Holders};
pub use index::Index;
pub use kept::{Group, Kept};
pub use look::Resemblance as LookResemblance;
pub use papers::{Clerk, Papers};
pub use plan::Plan;
pub use postings::{Owner, Owners, Postings};
pub use prototypes::{Departures, Server};
pub use reference::Ref;
pub(crate) use rows::Rows;
pub use settle::near::{Near, Objection};
pub use settled::{Joined, Known, Settled};
pub(crate) use watch::Table;
pub use weigh::{GramHit, Hits, SeenWords, SentenceHit};

use crate::config::Settings;
use crate::document::Kind;
use crate::signature::keyed::mix;
use crate::signature::prefetch;
use crate::verdict::event::ClusterEvent;
use pages::Pages;
use prototypes::Doomed;
use serde::Serialize;
use settle::Settler;
use weigh::Weigher;

/// The prototype store.
pub struct Store {
    plan: Plan,
    settler: Settler,
    weigher: Weigher,
    pages: Pages,
}

/// What match would say of a document that has not come yet.
pub struct Probed {
    /// Whose copy it is, and whose style it has. A new head has a reference that nobody else has.
    pub settled: Settled,
    /// Whose words it holds.
    pub hits: Hits,
    /// The clusters that would become part of its own.
    pub merged: Vec<u64>,
    /// Who would have given way to it.
    doomed: Doomed,
}

/// What there is in the store, and what has left it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Census {
    /// Documents folded.
    pub n_documents: u64,
    /// Stored documents.
    pub n_prototypes: usize,
    /// Groups.
    pub n_groups: usize,
    /// Style leaders.
    pub n_leaders: usize,
    /// Style clusters of two pages and more.
    pub n_clusters: usize,
    /// Why stored documents went.
    #[serde(flatten)]
    pub departures: Departures,
    /// Style leaders that went to make room.
    pub n_leaders_evicted: u64,
    /// Live keys that were pushed out: of texts, styles, grams, sentences.
    pub n_keys_pushed_out: [u64; 4],
    /// Counters of sentences that gave way to others.
    pub n_counters_displaced: u64,
    /// How many documents ago the oldest group had its first member.
    pub oldest_age: u64,
}

/// Bytes of what settles mirrors, names and places apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MirrorBytes {
    /// What stored documents are compared by.
    pub proofs: usize,
    /// Entries of exact digests.
    pub digests: usize,
    /// Entries of I-Match coordinates.
    pub imatch: usize,
    /// Entries of minhash bands.
    pub minhash: usize,
}

impl Store {
    /// An empty store.
    pub fn new(settings: &Settings) -> Self {
        let plan = Plan::of(settings);
        let pages = Pages::default();
        Self { settler: Settler::new(settings, &plan), weigher: Weigher::new(settings, &plan), plan, pages }
    }

    /// How its memory is divided.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Settles and weighs a batch. What died in it can be asked about until [`Store::end_batch`].
    pub fn hits(&mut self, batch: &[Arrival], n_threads: usize) -> (Vec<Settled>, Vec<Hits>) {
        let settled = self.settle(batch);
        let hits = self.weigh(batch, &settled, n_threads);
        (settled, hits)
    }

    /// The first half of [`Store::hits`]: whose copies the documents are, and whose style they have.
    pub fn settle(&mut self, batch: &[Arrival]) -> Vec<Settled> {
        // The lines of the next few documents are on their way while one is settled.
        const AHEAD: usize = 2;
        let mut settled = Vec::with_capacity(batch.len());
        let mut papers: std::collections::VecDeque<_> =
            batch.iter().take(AHEAD).map(|arrival| self.settler.papers(arrival)).collect();
        for (number, arrival) in batch.iter().enumerate() {
            if let Some(next) = batch.get(number + AHEAD) {
                papers.push_back(self.settler.papers(next));
            }
            let own = papers.pop_front().expect("every document's papers were looked at");
            settled.push(self.settler.settle(arrival, &own));
        }
        settled
    }

    /// The second half: whose words they hold.
    pub fn weigh(&mut self, batch: &[Arrival], settled: &[Settled], n_threads: usize) -> Vec<Hits> {
        self.weigher.weigh(batch, settled, self.settler.prototypes(), n_threads)
    }

    /// What [`Store::hits`] would say of `arrival` if it came next. Nothing is changed.
    pub fn probe(&self, arrival: &Arrival) -> Probed {
        let (settled, doomed, merged) = self.settler.probe(arrival);
        let outlives = |of: Ref| self.settler.prototypes().outlives(of, &doomed);
        let hits = self.weigher.find(arrival, &settled, outlives);
        Probed { settled, hits, merged, doomed }
    }

    /// Whom `arrival` is nearest to without being a copy, of those before it that share a key with it.
    pub fn near(&self, arrival: &Arrival) -> Option<Near> {
        self.settler.near(arrival)
    }

    /// Whether `of` will be there when the document of a probe comes.
    pub fn outlives(&self, of: Ref, probed: &Probed) -> bool {
        self.settler.prototypes().outlives(of, &probed.doomed)
    }

    /// Forgets who died in the batch.
    pub fn end_batch(&mut self) {
        self.settler.end_batch();
        if !self.pages.are_over() && self.is_worth_huge_pages() {
            self.pages.step(self.settler.tables().chain(self.weigher.movable()));
        }
    }

    /// Whether so much is stored that its tables are used all over.
    pub(crate) fn is_worth_huge_pages(&self) -> bool {
        Pages::are_due(self.settler.prototypes().n_slots(), self.plan.memory)
    }

    /// Whether `of` lived when the document at `position` of this batch had been settled.
    pub fn lives_at(&self, of: Ref, position: u64) -> bool {
        self.settler.prototypes().lives_at(of, position)
    }

    /// Who died in this batch: the position of the document that it gave way to, and which it was; in order.
    pub fn deaths(&self) -> Vec<(u64, Ref)> {
        self.settler.prototypes().deaths()
    }

    /// Which clusters became one in this batch, in order.
    pub fn merges(&self) -> &[Merge] {
        self.settler.clusters().merged()
    }

    /// Which did so ever: only where every page is followed to the end.
    pub fn all_merges(&self) -> Vec<Merge> {
        let all = self.settler.clusters().merges().into_iter().flatten();
        let mut all: Vec<Merge> = all.map(|(&younger, &older)| Merge { position: 0, younger, older }).collect();
        all.sort_unstable_by_key(|merge| merge.younger);
        all
    }

    /// Whose `of` is; known to the end of the batch in which it dies.
    pub fn server(&self, of: Ref) -> Option<Server> {
        self.settler.prototypes().server(of)
    }

    /// The position of the document that `of` is.
    pub fn born(&self, of: Ref) -> Option<u64> {
        self.settler.prototypes().born(of)
    }

    /// The length of the long content sentences of `of`.
    pub fn sentence_chars(&self, of: Ref) -> Option<u32> {
        self.settler.prototypes().sentence_chars(of)
    }

    /// What `of` says of itself.
    pub fn card(&self, of: Ref) -> Option<Card> {
        self.settler.prototypes().card(of)
    }

    /// The same without where its grams stand: most ask for its names alone.
    pub fn names(&self, of: Ref) -> Option<Card> {
        self.settler.prototypes().names(of)
    }

    /// The beginning of the text of `of`, if it lives and that is kept.
    pub fn excerpt(&self, of: Ref) -> Option<Excerpt> {
        self.settler.prototypes().excerpt(of)
    }

    /// The little of [`Store::card`] that is asked of many. `scratch` is reused.
    pub fn glance<'a>(&self, of: Ref, scratch: &'a mut Vec<u8>) -> Option<Glance<'a>> {
        self.settler.prototypes().glance(of, scratch)
    }

    /// What is known of the document `id`; a hash stands for the id, which in one of many millions of cases is another's.
    pub fn known(&self, id: &str) -> Option<Known> {
        [Kind::Page, Kind::Email].into_iter().find_map(|kind| self.settler.known(id, kind))
    }

    /// Forgets the document `id`, and with it the group that it heads; whether it was known. Only between batches;
    /// [`Store::deaths`] says who died.
    pub fn forget(&mut self, id: &str) -> bool {
        self.settler.forget(id)
    }

    /// The ids of all stored documents.
    pub fn ids(&self) -> impl Iterator<Item = String> {
        self.settler.prototypes().live().filter_map(|of| Some(self.card(of)?.id))
    }

    /// What there is to say of the cluster `id`.
    pub fn cluster(&self, id: &str) -> Option<ClusterEvent> {
        self.settler.clusters().named(id)
    }

    /// What there is to say of clusters since the last time, with the position of the document that made it so.
    pub fn take_cluster_events(&mut self) -> Vec<(u64, ClusterEvent)> {
        self.settler.take_events()
    }

    /// All clusters large enough to be templates, by mean similarity times domains (Urvoy 2006, table 1).
    pub fn ranking(&self) -> Vec<ClusterEvent> {
        self.settler.clusters().ranking()
    }

    /// The position of the last document.
    pub fn position(&self) -> u64 {
        self.settler.position()
    }

    /// The time of the store in milliseconds since 1970: that of its documents, which never goes back.
    pub fn now_ms(&self) -> Option<i64> {
        self.settler.now_ms()
    }

    /// Begins where `other` is: at its position and time. Panics when it has seen something: that is a bug in the caller.
    pub fn begin_at(&mut self, other: &Self) {
        assert_eq!(self.position(), 0, "only an empty store begins somewhere");
        self.settler.begin_at(&other.settler);
    }

    /// What there is, and what has left.
    pub fn census(&self) -> Census {
        let (n_prototypes, n_groups) = self.settler.prototypes().n();
        let (n_leaders, n_clusters) = self.settler.clusters().n();
        let ((texts, styles), (grams, sentences)) = (self.settler.n_pushed_out(), self.weigher.n_pushed_out());
        Census {
            n_documents: self.position(),
            n_prototypes,
            n_groups,
            n_leaders,
            n_clusters,
            departures: self.settler.departures(),
            n_leaders_evicted: self.settler.clusters().n_evicted(),
            n_keys_pushed_out: [texts, styles, grams, sentences],
            n_counters_displaced: self.weigher.n_counters_displaced(),
            oldest_age: self.settler.prototypes().oldest().map_or(0, |born| self.position() - born),
        }
    }

    /// The words that the stream has brought in documents of a kind, copies counted once.
    pub fn seen_words(&self, kind: Kind) -> SeenWords {
        self.weigher.seen_words(kind)
    }

    /// Bytes of what settles mirrors at present: what stored documents are compared by, and the entries of their keys.
    pub fn mirror_bytes(&self) -> MirrorBytes {
        self.settler.mirror_bytes()
    }

    /// The parts of a saved store that are small: `with` is given their names and bytes.
    pub fn save(&self, mut with: impl FnMut(&'static str, Vec<u8>)) -> Result<(), postcard::Error> {
        self.settler.save(&mut with)?;
        self.weigher.save(&mut with)
    }

    /// The tables, in an order that stays.
    pub(crate) fn tables(&mut self) -> impl Iterator<Item = &mut dyn Table> {
        self.settler.tables().chain(self.weigher.tables())
    }

    /// Reads the part `name` of a saved store; the tables are read after all parts.
    pub fn load(&mut self, name: &str, bytes: &[u8]) -> Result<(), Damaged> {
        let loaded = self.settler.load(name, bytes).or_else(|| self.weigher.load(name, bytes));
        loaded.unwrap_or(Err(Damaged::of("there is no such part")))
    }

    /// Looks whether the tables that were read agree with the rest.
    pub fn resume(&mut self) -> Result<(), Damaged> {
        self.settler.resume()?;
        self.weigher.resume()
    }

    /// Goes on with all that `from` holds, whose plan and keys are ours; the settings stay ours.
    pub fn carry(&mut self, from: Self) {
        assert!(self.plan.divides_like(&from.plan), "tables of two sizes: {:?}, {:?}", self.plan, from.plan);
        self.settler.carry(from.settler);
        self.weigher.carry(from.weigher);
        self.pages = from.pages;
    }

    /// The names of all parts.
    pub fn parts() -> impl Iterator<Item = &'static str> {
        Settler::PARTS.into_iter().chain(Weigher::PARTS)
    }
}

/// Keeps the keys of pages and mails apart, unless they are to match each other.
fn salt(kind: Kind, cross_kinds: bool) -> u64 {
    if cross_kinds { 0 } else { mix(1 + kind as u64, 0x5851_F42D_4C95_7F2D) }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::signature::minhash::MinHash;
    use crate::signature::{Outcome, SCHEME, Signatures, View};

    /// Signatures of a document of the given terms.
    pub(crate) fn signatures(kind: Kind, terms: std::ops::Range<u64>) -> Signatures {
        let mut terms: Vec<u64> = terms.map(|term| mix(mix(term, 5), 7)).collect();
        terms.sort_unstable();
        let minhash = MinHash::of(terms.iter().copied(), 3);
        Signatures {
            scheme: SCHEME,
            key_id: 1,
            kind,
            outcome: Outcome::Signed,
            n_words: terms.len() as u32,
            n_core_words: terms.len() as u32,
            shown: View { digest: Some(terms.iter().fold(0, |sum, term| sum ^ u128::from(*term))), terms, minhash },
            core: None,
            full: None,
            shingles: None,
            shown_shingles: None,
            little_core: None,
            body: None,
            imatch: None,
            grams: Vec::new(),
            sentences: Vec::new(),
            style: None,
            frame: None,
            links: Vec::new(),
            link_domains: Vec::new(),
        }
    }

    /// A document of the given terms on a domain of its own.
    pub(crate) fn arrival(id: &str, kind: Kind, terms: std::ops::Range<u64>) -> Arrival {
        Arrival {
            id: id.to_owned(),
            source: crate::verdict::event::Source::default(),
            time_ms: None,
            url: None,
            domain: Some(format!("{id}.example")),
            canonical: None,
            ip: None,
            authenticated_domain: None,
            truncated: false,
            signatures: signatures(kind, terms),
            places: Vec::new(),
            core_sentences: CoreSentences::default(),
            n_text_bytes: 100,
            excerpt: format!("text of {id}"),
            unspaced: false,
            spelled: None,
            papers: None,
        }
    }

    /// Settings with a store of `memory` bytes.
    pub(crate) fn settings(memory: usize) -> Settings {
        let mut settings = Settings::default();
        settings.store.memory = memory;
        settings
    }

    #[test]
    fn references_are_packed() {
        for of in [Ref { slot: 0, generation: 1 }, Ref { slot: (1 << 24) - 1, generation: u16::MAX }] {
            assert_eq!(Ref::unpacked(of.packed()), of);
        }
        assert_eq!(reference::next(u16::MAX), 1);
    }

    #[test]
    fn kinds_do_not_match_each_other_unless_asked_to() {
        for (cross_kinds, expected) in [(false, false), (true, true)] {
            let mut settings = settings(4 << 20);
            settings.store.cross_kinds = cross_kinds;
            let mut store = Store::new(&settings);
            let mut batch = [arrival("a", Kind::Page, 0..60), arrival("b", Kind::Email, 0..60)];
            batch[0].signatures.shingles = batch[0].signatures.shown.minhash.clone();
            let (settled, _) = store.hits(&batch, 1);
            assert_eq!(settled[1].joined.is_some(), expected);
        }
    }
}
