//! Weigh: whose words does it hold? Parallel over partitions, in document order in each.
//!
//! The tables of grams and sentences are cut into a fixed number of partitions by key. A batch gives each partition to one
//! thread, which walks the documents in order; there is no lock, and how many threads there are never shows. Only new heads
//! learn keys here, so that copies never become witnesses.
//!
//! # Invariants
//! - Hits are the same for any number of threads and any cut into batches. (`tests/promises/fold.rs`)
//! - Only live heads are hit. (`the_dead_are_not_hit`)

use super::frequency::SentenceCounts;
use super::plan::Plan;
use super::postings::{Owner, Owners, Postings};
use super::prototypes::Prototypes;
use super::reference::Ref;
use super::settled::Settled;
use super::vocabulary::{Tally, Vocabulary};
use super::watch::Table;
use super::{Arrival, Damaged, salt};
use crate::config::Settings;
use crate::document::Kind;
use crate::signature::keyed::{Keys, mix};
use serde::{Deserialize, Serialize};
use std::thread;

/// Partitions of the tables. More threads than these have nothing to do.
pub(super) const PARTITIONS: usize = 16;
/// Pages and mails.
const KINDS: usize = 2;
/// Words whose counts are asked for before their turn: an ordinary mail has no more, and a long page more than the nearest
/// cache has lines.
const WORDS_AHEAD: usize = 128;
/// Owners that are kept for a sentence: one that more have is about to be too common.
const SENTENCE_OWNERS: Owners = Owners { first: 4, last: 0 };

/// What a document shares with heads before it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hits {
    /// Grams that are patches, with their owners, by the number of the gram.
    pub grams: Vec<GramHit>,
    /// Grams that were seen before, common ones included.
    pub n_known: u32,
    /// Rare sentences, with their owners, by the number of the sentence.
    pub sentences: Vec<SentenceHit>,
}

/// A gram that another document has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GramHit {
    /// Its number in this document.
    pub mine: u16,
    /// Whose it is too.
    pub of: Ref,
    /// Its number there.
    pub theirs: u16,
}

/// A sentence that another document has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentenceHit {
    /// Its number among the signatures' sentences.
    pub mine: u16,
    /// Whose it is too.
    pub of: Ref,
}

/// The part of the tables that one thread owns for a batch.
struct Partition {
    grams: Postings,
    sentences: Postings,
    counts: SentenceCounts,
    /// Of pages and of mails, by the number of the kind: what is common in one is rare in the other.
    words: [Vocabulary; KINDS],
}

/// What is asked for one document.
struct Probe<'a> {
    position: u64,
    /// Itself, if it learns.
    own: Option<Owner>,
    grams: Vec<u64>,
    /// Keys of the distinct sentences of the core, with their numbers.
    sentences: Vec<(u64, u16)>,
    arrival: &'a Arrival,
}

/// Weighs documents.
pub(super) struct Weigher {
    partitions: Vec<Partition>,
    /// Of partitions that are being read.
    smalls: Vec<Small>,
    n_places: usize,
    gram_df_max: u8,
    sentence_df_max: u8,
    owners: Owners,
    cross_kinds: bool,
}

impl Weigher {
    pub(super) fn new(settings: &Settings, plan: &Plan) -> Self {
        let key = Keys::derive(settings.secret.reveal()).sentence;
        // Of each table all partitions lie side by side: one of them is too small for a huge page.
        let postings = Postings::several(plan.grams / PARTITIONS, PARTITIONS)
            .into_iter()
            .zip(Postings::several(plan.sentences / PARTITIONS, PARTITIONS));
        let [pages, mails] = [(); KINDS].map(|()| Vocabulary::several(plan.words / PARTITIONS / KINDS, PARTITIONS));
        let words = pages.into_iter().zip(mails);
        let keys: [u64; PARTITIONS] = std::array::from_fn(|number| mix(key, number as u64));
        let counts = SentenceCounts::several(plan.sentence_counts / PARTITIONS, &keys);
        let partition = |(((grams, sentences), counts), (pages, mails))| Partition {
            grams,
            sentences,
            counts,
            words: [pages, mails],
        };
        Self {
            partitions: postings.zip(counts).zip(words).map(partition).collect(),
            smalls: Vec::new(),
            n_places: plan.n_places(),
            gram_df_max: settings.quilt.gram_df_max,
            sentence_df_max: settings.mirror.sentence_df_max,
            owners: Owners::halves(settings.quilt.owners_max),
            cross_kinds: settings.store.cross_kinds,
        }
    }

    /// Weighs a batch that has been settled.
    pub(super) fn weigh(
        &mut self,
        batch: &[Arrival],
        settled: &[Settled],
        prototypes: &Prototypes,
        n_threads: usize,
    ) -> Vec<Hits> {
        let probes: Vec<Probe<'_>> =
            batch.iter().zip(settled).map(|(arrival, settled)| self.probe(arrival, settled)).collect();
        let rules = Rules { commonness: self.commonness(), owners: self.owners, prototypes };
        let n_threads = n_threads.clamp(1, PARTITIONS);
        if n_threads == 1 {
            return walk(Shard { partitions: &mut self.partitions, first: 0 }, &probes, rules);
        }
        let per_thread = PARTITIONS.div_ceil(n_threads);
        let shards = self.partitions.chunks_mut(per_thread).zip((0..).step_by(per_thread));
        let mut parts: Vec<Vec<Hits>> = thread::scope(|scope| {
            let threads: Vec<_> = shards
                .map(|(partitions, first)| {
                    let probes = &probes;
                    scope.spawn(move || walk(Shard { partitions, first }, probes, rules))
                })
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .collect()
        });
        let mut all = parts.remove(0);
        for (number, hits) in all.iter_mut().enumerate() {
            for part in &mut parts {
                let part = std::mem::take(&mut part[number]);
                hits.grams.extend(part.grams);
                hits.n_known += part.n_known;
                hits.sentences.extend(part.sentences);
            }
            // One key lies in one partition, and a stable sort keeps the order of its owners.
            hits.grams.sort_by_key(|hit| hit.mine);
            hits.sentences.sort_by_key(|hit| hit.mine);
        }
        all
    }

    /// What weighing a document that is settled as `settled` would find, where `lives` says who is still there.
    pub(super) fn find(&self, arrival: &Arrival, settled: &Settled, lives: impl Fn(Ref) -> bool) -> Hits {
        let probe = self.probe(arrival, settled);
        let all = View { partitions: &self.partitions, first: 0 };
        all.prefetch(&probe);
        all.find(&probe, self.commonness(), lives)
    }

    /// What is too common to say something.
    fn commonness(&self) -> Commonness {
        Commonness { gram_df_max: self.gram_df_max, sentence_df_max: self.sentence_df_max }
    }

    fn probe<'a>(&self, arrival: &'a Arrival, settled: &Settled) -> Probe<'a> {
        let signatures = &arrival.signatures;
        let salt = salt(signatures.kind, self.cross_kinds);
        let grams = signatures.grams.iter().take(self.n_places).map(|gram| mix(gram.hash ^ salt, GRAM)).collect();
        let sentence = |number: u16| mix(signatures.sentences[usize::from(number)].hash ^ salt, SENTENCE);
        let sentences = arrival.core_sentences.numbers.iter().map(|&number| (sentence(number), number)).collect();
        let own = settled.head.filter(|_| settled.learns);
        let own = own.map(|of| Owner { of, heir_of: settled.heir_of });
        Probe { position: settled.position, own, grams, sentences, arrival }
    }

    /// Counters of sentences that gave way to others.
    pub(super) fn n_counters_displaced(&self) -> u64 {
        self.partitions.iter().map(|partition| partition.counts.n_displaced()).sum()
    }

    /// Live postings of grams and of sentences that were pushed out.
    pub(super) fn n_pushed_out(&self) -> (u64, u64) {
        let sum = |of: fn(&Partition) -> u64| self.partitions.iter().map(of).sum();
        (sum(|partition| partition.grams.n_pushed_out()), sum(|partition| partition.sentences.n_pushed_out()))
    }

    /// The words of all heads of a kind, with the number of heads that have them.
    pub(super) fn seen_words(&self, kind: Kind) -> SeenWords {
        let vocabularies = || self.partitions.iter().map(|partition| &partition.words[kind as usize]);
        let sum = |of: fn(&Vocabulary) -> u64| vocabularies().map(of).sum();
        let mut terms: Vec<(String, u32)> =
            vocabularies().flat_map(Vocabulary::spelled).map(|(term, df)| (term.to_owned(), df)).collect();
        terms.sort_unstable();
        SeenWords {
            // Every partition counts every head.
            n_documents: vocabularies().map(Vocabulary::n_documents).max().unwrap_or(0),
            n_words: sum(|vocabulary| vocabulary.n_words() as u64),
            n_forgotten: sum(Vocabulary::n_forgotten),
            n_unspelled: sum(Vocabulary::n_unspelled),
            df_error_max: vocabularies().map(Vocabulary::df_error_max).max().unwrap_or(0),
            terms,
        }
    }

    /// The parts of a saved store that are small: `with` is given their names and bytes.
    pub(super) fn save(&self, mut with: impl FnMut(&'static str, Vec<u8>)) -> Result<(), postcard::Error> {
        let smalls: Vec<Small> = self.partitions.iter().map(Partition::small).collect();
        with("weigh", postcard::to_stdvec(&smalls)?);
        // The counts are small enough to be written at once.
        let mut counts = Vec::new();
        for partition in &self.partitions {
            let start = counts.len();
            counts.extend([0; 8]);
            partition.counts.save(&mut counts);
            let n_bytes = (counts.len() - start - 8) as u64;
            counts[start..start + 8].copy_from_slice(&n_bytes.to_le_bytes());
        }
        with("sentence_counts", counts);
        Ok(())
    }

    /// The tables, in an order that stays.
    pub(super) fn tables(&mut self) -> impl Iterator<Item = &mut dyn Table> {
        self.partitions.iter_mut().flat_map(|partition| partition.tables().0)
    }

    /// All that a document is looked up in, also what a snapshot has as a whole: worth huge pages.
    pub(super) fn movable(&mut self) -> impl Iterator<Item = &mut dyn Table> {
        self.partitions.iter_mut().map(Partition::tables).flat_map(|(tables, filters)| tables.chain(filters))
    }

    /// Reads the part `name`, if it is one of these.
    pub(super) fn load(&mut self, name: &str, bytes: &[u8]) -> Option<Result<(), Damaged>> {
        match name {
            "weigh" => Some(match postcard::from_bytes::<Vec<Small>>(bytes) {
                Ok(smalls) if smalls.len() == PARTITIONS => {
                    self.smalls = smalls;
                    Ok(())
                }
                _ => Err(Damaged::of("the partitions cannot be read")),
            }),
            "sentence_counts" => Some(self.load_counts(bytes)),
            _ => None,
        }
    }

    fn load_counts(&mut self, mut bytes: &[u8]) -> Result<(), Damaged> {
        const CUT_OFF: Damaged = Damaged::of("a partition is cut off");
        for partition in &mut self.partitions {
            let (len, rest) = bytes.split_first_chunk().ok_or(CUT_OFF)?;
            let len = usize::try_from(u64::from_le_bytes(*len)).map_err(|_| CUT_OFF)?;
            let (part, rest) = rest.split_at_checked(len).ok_or(CUT_OFF)?;
            partition.counts.load(part)?;
            bytes = rest;
        }
        if bytes.is_empty() { Ok(()) } else { Err(Damaged::of("there are more partitions than there should be")) }
    }

    /// Looks whether the tables that were read agree with the rest.
    pub(super) fn resume(&mut self) -> Result<(), Damaged> {
        for (partition, small) in self.partitions.iter_mut().zip(std::mem::take(&mut self.smalls)) {
            partition.resume(small)?;
        }
        Ok(())
    }

    /// Goes on with all of `from`, whose tables have the sizes and keys of ours; the settings stay ours.
    pub(super) fn carry(&mut self, from: Self) {
        self.partitions = from.partitions;
    }

    /// The names of all parts.
    pub(super) const PARTS: [&'static str; 2] = ["weigh", "sentence_counts"];
}

/// What is small of a partition.
#[derive(Serialize, Deserialize)]
struct Small {
    n_pushed_out: [u64; 2],
    words: [Tally; KINDS],
}

impl Partition {
    /// The tables, and the filters of the counts.
    fn tables(&mut self) -> (impl Iterator<Item = &mut dyn Table>, impl Iterator<Item = &mut dyn Table>) {
        let Self { grams, sentences, counts, words: [pages, mails] } = self;
        let tables = [grams.table(), sentences.table()].into_iter().chain(pages.tables()).chain(mails.tables());
        (tables, counts.filters().into_iter())
    }

    fn small(&self) -> Small {
        Small {
            n_pushed_out: [self.grams.n_pushed_out(), self.sentences.n_pushed_out()],
            words: [self.words[0].tally(), self.words[1].tally()],
        }
    }

    fn resume(&mut self, Small { n_pushed_out: [grams, sentences], words }: Small) -> Result<(), Damaged> {
        self.grams.set_pushed_out(grams);
        self.sentences.set_pushed_out(sentences);
        self.words.iter_mut().zip(words).try_for_each(|(words, tally)| words.resume(tally))
    }
}

/// The words that the heads of one kind have: what a lexicon can be made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenWords {
    /// Heads counted.
    pub n_documents: u64,
    /// Words counted at present, spelled out or not.
    pub n_words: u64,
    /// Words that were forgotten for lack of room, those that came back and were forgotten again included.
    pub n_forgotten: u64,
    /// Spellings that were too long or found no room.
    pub n_unspelled: u64,
    /// A frequency may be too low by this much, and is never too high.
    pub df_error_max: u32,
    /// The words that are spelled out with the number of heads that have them, ascending.
    pub terms: Vec<(String, u32)>,
}

#[derive(Clone, Copy)]
struct Commonness {
    gram_df_max: u8,
    sentence_df_max: u8,
}

#[derive(Clone, Copy)]
struct Rules<'a> {
    commonness: Commonness,
    owners: Owners,
    prototypes: &'a Prototypes,
}

/// The partition of a key: its upper bits ...
fn partition(key: u64) -> usize {
    (key >> (64 - PARTITIONS.ilog2())) as usize
}

/// ... and what is left of it inside.
fn inside(key: u64) -> u64 {
    key << PARTITIONS.ilog2()
}

/// Some partitions side by side: what one thread owns.
struct Shard<'a> {
    partitions: &'a mut [Partition],
    /// The number of the first of them.
    first: usize,
}

/// The same, to look at.
#[derive(Clone, Copy)]
struct View<'a> {
    partitions: &'a [Partition],
    first: usize,
}

impl<'a> View<'a> {
    fn get(self, key: u64) -> Option<&'a Partition> {
        self.partitions.get(partition(key).wrapping_sub(self.first))
    }

    fn prefetch(self, probe: &Probe<'_>) {
        for &key in &probe.grams {
            if let Some(partition) = self.get(key) {
                partition.grams.prefetch(inside(key));
            }
        }
        for &(key, _) in &probe.sentences {
            if let Some(partition) = self.get(key) {
                partition.sentences.prefetch(inside(key));
                if probe.own.is_some() {
                    partition.counts.prefetch(key);
                }
            }
        }
        if probe.own.is_some() {
            // The first of them: the others have their turn later.
            self.own(counted_terms(probe.arrival)).iter().take(WORDS_AHEAD).for_each(|&term| {
                self.prefetch_word(probe.arrival.signatures.kind, term);
            });
        }
    }

    /// Asks for the count of a word.
    #[inline]
    fn prefetch_word(self, kind: Kind, term: u64) {
        if let Some(partition) = self.get(term) {
            partition.words[kind as usize].prefetch(inside(term));
        }
    }

    /// Those of `terms` that belong here: they are ascending, so that they lie side by side.
    fn own(self, terms: &[u64]) -> &[u64] {
        let of = |number: usize| terms.partition_point(|&term| partition(term) < number);
        &terms[of(self.first)..of(self.first + self.partitions.len())]
    }

    fn find(self, probe: &Probe<'_>, rules: Commonness, lives: impl Fn(Ref) -> bool) -> Hits {
        let mut hits = Hits::default();
        for (&key, mine) in probe.grams.iter().zip(0_u16..) {
            let Some(partition) = self.get(key) else { continue };
            let n_before = hits.grams.len();
            let count = partition.grams.find(inside(key), |of, theirs| {
                if lives(of) {
                    hits.grams.push(GramHit { mine, of, theirs });
                }
            });
            hits.n_known += u32::from(hits.grams.len() > n_before);
            if count > rules.gram_df_max {
                hits.grams.truncate(n_before);
            }
        }
        // Most sentences are new: the counters are asked only about the others, and not before all are known.
        let mut known: Vec<(u64, u16)> = Vec::new();
        for &(key, mine) in &probe.sentences {
            let Some(partition) = self.get(key) else { continue };
            let n_before = hits.sentences.len();
            partition.sentences.find(inside(key), |of, _| {
                if lives(of) {
                    hits.sentences.push(SentenceHit { mine, of });
                }
            });
            if hits.sentences.len() > n_before {
                partition.counts.prefetch_counter(key);
                known.push((key, mine));
            }
        }
        let count = |key: u64| self.get(key).map_or(0, |partition| partition.counts.count(key));
        let mut known = known.into_iter().peekable();
        let mut is_rare = false;
        hits.sentences.retain(|hit| {
            if let Some((key, _)) = known.next_if(|(_, mine)| *mine == hit.mine) {
                is_rare = count(key) <= rules.sentence_df_max;
            }
            is_rare
        });
        hits
    }
}

impl Shard<'_> {
    fn view(&self) -> View<'_> {
        View { partitions: self.partitions, first: self.first }
    }

    fn get_mut(&mut self, key: u64) -> Option<&mut Partition> {
        self.partitions.get_mut(partition(key).wrapping_sub(self.first))
    }

    fn learn(&mut self, probe: &Probe<'_>, own: Owner, rules: Rules<'_>) {
        let lives = |of: Ref| rules.prototypes.lives_at(of, probe.position);
        // A full line asks whether its oldest owner lives.
        let oldest = |&key: &u64| self.view().get(key).and_then(|partition| partition.grams.oldest(inside(key)));
        probe.grams.iter().filter_map(oldest).for_each(|of| rules.prototypes.prefetch_life(of));
        for (&key, mine) in probe.grams.iter().zip(0_u16..) {
            if let Some(partition) = self.get_mut(key) {
                partition.grams.post(inside(key), own, mine, rules.owners, lives);
            }
        }
        for &(key, mine) in &probe.sentences {
            if let Some(partition) = self.get_mut(key)
                && partition.sentences.post(inside(key), own, mine, SENTENCE_OWNERS, lives)
            {
                partition.counts.add(key);
            }
        }
        // The words of its earlier version were counted, and most of them are its own.
        if own.heir_of.is_none() {
            self.learn_words(probe.arrival);
        }
    }

    fn learn_words(&mut self, arrival: &Arrival) {
        let kind = arrival.signatures.kind as usize;
        for partition in &mut *self.partitions {
            partition.words[kind].document();
        }
        let terms = self.view().own(counted_terms(arrival));
        for (number, &term) in terms.iter().enumerate() {
            // Of a long page each is asked for a little before its turn.
            if let Some(&later) = terms.get(number + WORDS_AHEAD) {
                self.view().prefetch_word(arrival.signatures.kind, later);
            }
            if let Some(partition) = self.get_mut(term) {
                partition.words[kind].add(inside(term));
            }
        }
        let Some(spelled) = &arrival.spelled else { return };
        let mut start = 0;
        for &(end, term) in &spelled.terms {
            let letters = spelled.letters.get(start..end as usize);
            if let (Some(partition), Some(letters)) = (self.get_mut(term), letters) {
                partition.words[kind].spell(inside(term), letters);
            }
            start = end as usize;
        }
    }
}

/// The words of a head that are counted, ascending.
fn counted_terms(arrival: &Arrival) -> &[u64] {
    let signatures = &arrival.signatures;
    &signatures.core.as_ref().unwrap_or(&signatures.shown).terms
}

/// Walks all documents through a shard.
fn walk(mut shard: Shard<'_>, probes: &[Probe<'_>], rules: Rules<'_>) -> Vec<Hits> {
    // The lines of the next document are asked for while this one is walked.
    if let Some(probe) = probes.first() {
        shard.view().prefetch(probe);
    }
    let mut all = Vec::with_capacity(probes.len());
    for (number, probe) in probes.iter().enumerate() {
        if let Some(next) = probes.get(number + 1) {
            shard.view().prefetch(next);
        }
        let lives = |of: Ref| rules.prototypes.lives_at(of, probe.position);
        all.push(shard.view().find(probe, rules.commonness, lives));
        if let Some(own) = probe.own {
            shard.learn(probe, own, rules);
        }
    }
    all
}

/// Keep keys of grams and sentences apart from every other use of the mixer; any odd numbers would do. Terms are hashes that nothing
/// else here is made from, and are keys as they are.
const GRAM: u64 = 0xC2B2_AE3D_27D4_EB4F;
const SENTENCE: u64 = 0x1656_67B1_9E37_79F9;

#[cfg(test)]
mod tests {
    use super::super::tests::{arrival, settings};
    use super::super::{Arrival, Store};
    use crate::document::Kind;
    use crate::text::grams::{Gram, Place};

    fn mail(id: &str, terms: std::ops::Range<u64>, gram: u64) -> Arrival {
        let mut mail = arrival(id, Kind::Email, terms);
        mail.signatures.grams = vec![Gram { hash: gram, position: 0 }];
        mail.places = vec![Place { end: 5, ..Place::default() }];
        mail
    }

    /// The third document is the first one's next version, in the same batch: who came before it still meets the first.
    #[test]
    fn the_dead_are_not_hit() {
        let batch = [mail("a", 0..60, 7), mail("b", 1000..1060, 7), mail("a", 0..61, 8), mail("c", 2000..2060, 7)];
        for n_threads in [1, 2] {
            let mut store = Store::new(&settings(4 << 20));
            let (settled, hits) = store.hits(&batch, n_threads);
            let owners = |number: usize| hits[number].grams.iter().map(|hit| Some(hit.of)).collect::<Vec<_>>();
            assert_eq!((owners(0), owners(1), owners(2)), (vec![], vec![settled[0].head], vec![]));
            assert_eq!(owners(3), [settled[1].head], "the first has died");
        }
    }
}
