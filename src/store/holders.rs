//! Which heads hold a gram or a sentence: all of them, earlier and later, counted exactly.
//!
//! Only what a second document has too is listed: of a key that nobody else asks about the answer is nobody, as it is where there is no
//! list. Which keys these are is found in a first pass over all documents, copies included, since a copy may hold what its head
//! does not ([`Repeats`], which now and then has one more listed).
//!
//! # Invariants
//! - The answer is that of a list of every key. (`what_is_not_listed_nobody_holds`)
//! - A head counts once for a key and never for its own group, and what more than the given number of others hold has no
//!   holders. (`what_many_others_hold_is_no_patch` in `tests/promises/quality/exact.rs`)

use super::repeats::Repeats;
use super::weigh::SentenceHit;
use super::{Arrival, Ref, Settled, Store, salt};
use crate::config::Settings;
use crate::signature::sentences::distinct;
use crate::text::grams::once_each;
use std::collections::HashMap;

/// All heads by what they hold.
pub struct Holders {
    heads: Vec<Head>,
    grams: Lists,
    sentences: Lists,
    gram_df_max: usize,
    sentence_df_max: usize,
    cross_kinds: bool,
}

struct Head {
    of: Ref,
    position: u64,
}

/// What a document holds of others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Grams of each head, the numbers ascending; the heads by age.
    pub grams: Vec<(Ref, Vec<usize>)>,
    /// Grams that another head has, common ones included.
    pub n_known: u32,
    /// Rare sentences of heads before it.
    pub sentences: Vec<SentenceHit>,
}

impl Holders {
    /// The heads that live in `store` after all of `batch` have been settled.
    pub fn new(batch: &[Arrival], settled: &[Settled], store: &Store, settings: &Settings) -> Self {
        let cross_kinds = settings.store.cross_kinds;
        let n_grams = batch.iter().map(|arrival| arrival.signatures.grams.len()).sum();
        let grams = Repeats::among(batch.iter().map(|arrival| gram_keys(arrival, cross_kinds)), n_grams);
        let n_sentences = batch.iter().map(|arrival| arrival.signatures.sentences.len()).sum();
        let sentences = batch.iter().map(|arrival| sentence_keys(arrival, cross_kinds).map(|(key, _)| key));
        let sentences = Repeats::among(sentences, n_sentences);
        let mut holders = Self::none(settings);
        // A page that has changed since is no source of what it said then.
        let lives = |of: Ref, position| store.lives_at(of, position);
        holders.list(batch, settled, lives, |key| grams.knows(key), |key| sentences.knows(key));
        holders
    }

    fn none(settings: &Settings) -> Self {
        Self {
            heads: Vec::new(),
            grams: Lists::default(),
            sentences: Lists::default(),
            gram_df_max: settings.quilt.gram_df_max.into(),
            sentence_df_max: settings.mirror.sentence_df_max.into(),
            cross_kinds: settings.store.cross_kinds,
        }
    }

    /// Lists the heads of `batch` that live, by those of their grams and sentences that are wanted.
    fn list(
        &mut self,
        batch: &[Arrival],
        settled: &[Settled],
        lives: impl Fn(Ref, u64) -> bool,
        wants_gram: impl Fn(u64) -> bool,
        wants_sentence: impl Fn(u64) -> bool,
    ) {
        for (arrival, settled) in batch.iter().zip(settled).filter(|(_, settled)| settled.learns) {
            let Some(of) = settled.head.filter(|of| lives(*of, settled.position)) else { continue };
            let number = self.heads.len() as u32;
            self.heads.push(Head { of, position: settled.position });
            let grams = gram_keys(arrival, self.cross_kinds).filter(|key| wants_gram(*key));
            grams.for_each(|key| self.grams.add(key, number));
            let sentences = sentence_keys(arrival, self.cross_kinds).map(|(key, _)| key);
            sentences.filter(|key| wants_sentence(*key)).for_each(|key| self.sentences.add(key, number));
        }
    }

    /// What a document holds of others.
    pub fn held(&self, arrival: &Arrival, settled: &Settled) -> Held {
        let mut held = Held::default();
        let mut shared: Vec<(u32, usize)> = Vec::new();
        for (mine, key) in gram_keys(arrival, self.cross_kinds).enumerate() {
            let others = || self.grams.of(key).iter().filter(|number| Some(self.head(**number).of) != settled.head);
            let n_others = others().count();
            held.n_known += u32::from(n_others > 0);
            if n_others <= self.gram_df_max {
                shared.extend(others().map(|&number| (number, mine)));
            }
        }
        shared.sort_unstable();
        held.grams = shared
            .chunk_by(|a, b| a.0 == b.0)
            .map(|of_one| {
                let mine = of_one.iter().map(|(_, mine)| *mine).collect();
                (self.head(of_one[0].0).of, once_each(mine, &arrival.places))
            })
            .collect();
        for (key, mine) in sentence_keys(arrival, self.cross_kinds) {
            let holders = self.sentences.of(key).iter().map(|number| self.head(*number));
            let n_others = holders.clone().filter(|head| Some(head.of) != settled.head).count();
            if n_others <= self.sentence_df_max {
                let before = holders.filter(|head| head.position < settled.position);
                held.sentences.extend(before.map(|head| SentenceHit { mine, of: head.of }));
            }
        }
        held
    }

    fn head(&self, number: u32) -> &Head {
        &self.heads[number as usize]
    }
}

/// The holders of each key, ascending and distinct.
#[derive(Default)]
struct Lists(HashMap<u64, Vec<u32>>);

impl Lists {
    /// Holders come in order.
    fn add(&mut self, key: u64, number: u32) {
        let list = self.0.entry(key).or_default();
        if list.last() != Some(&number) {
            list.push(number);
        }
    }

    fn of(&self, key: u64) -> &[u32] {
        self.0.get(&key).map_or(&[], Vec::as_slice)
    }
}

fn gram_keys(arrival: &Arrival, cross_kinds: bool) -> impl Iterator<Item = u64> {
    let salt = salt(arrival.signatures.kind, cross_kinds);
    arrival.signatures.grams.iter().map(move |gram| gram.hash ^ salt)
}

/// The distinct sentences of the core, with their numbers. Further ones than can be numbered are left out.
fn sentence_keys(arrival: &Arrival, cross_kinds: bool) -> impl Iterator<Item = (u64, u16)> {
    let salt = salt(arrival.signatures.kind, cross_kinds);
    let core = distinct(&arrival.signatures.sentences).filter(|(_, sentence)| sentence.core);
    let numbered = core.filter_map(|(number, sentence)| Some((sentence.hash ^ salt, u16::try_from(number).ok()?)));
    let mut keys: Vec<(u64, u16)> = numbered.collect();
    keys.sort_unstable_by_key(|(_, number)| *number);
    keys.into_iter()
}

#[cfg(test)]
mod tests {
    use super::super::tests::arrival;
    use super::*;
    use crate::document::Kind;
    use crate::signature::LongSentence;
    use crate::text::grams::Gram;
    use proptest::prelude::*;

    /// A document of some grams and sentences; those of one text are copies.
    #[derive(Clone, Debug)]
    struct Made {
        id: u8,
        text: u64,
        kind: Kind,
        grams: Vec<u64>,
        sentences: Vec<(u64, bool)>,
    }

    fn made() -> impl Strategy<Value = Made> {
        let grams = prop::collection::vec(0_u64..50, 0..20);
        let sentences = prop::collection::vec((0_u64..20, any::<bool>()), 0..8);
        (0_u8..12, 0_u64..6, any::<bool>(), grams, sentences).prop_map(|(id, text, is_page, grams, sentences)| {
            let kind = if is_page { Kind::Page } else { Kind::Email };
            Made { id, text, kind, grams, sentences }
        })
    }

    impl Made {
        fn arrival(&self) -> Arrival {
            let mut arrival = arrival(&self.id.to_string(), self.kind, self.text * 1000..self.text * 1000 + 60);
            arrival.signatures.grams = self.grams.iter().map(|&hash| Gram { hash, position: 0 }).collect();
            let sentence = |&(hash, core): &(u64, bool)| LongSentence { hash, n_chars: 30, core, position: 0 };
            arrival.signatures.sentences = self.sentences.iter().map(sentence).collect();
            arrival
        }
    }

    proptest! {
        /// Against lists of every key, for batches with copies, and with pages that come again changed.
        #[test]
        fn what_is_not_listed_nobody_holds(documents in prop::collection::vec(made(), 1..24), cross_kinds: bool) {
            let mut settings = Settings::default();
            settings.store.cross_kinds = cross_kinds;
            let batch: Vec<Arrival> = documents.iter().map(Made::arrival).collect();
            let mut store = Store::exhaustive(&settings, &batch);
            let settled = store.settle_all(&batch, |_| std::ops::ControlFlow::Continue(()));
            let holders = Holders::new(&batch, &settled, &store, &settings);
            let mut plain = Holders::none(&settings);
            plain.list(&batch, &settled, |of, position| store.lives_at(of, position), |_| true, |_| true);
            for (arrival, settled) in batch.iter().zip(&settled) {
                prop_assert_eq!(holders.held(arrival, settled), plain.held(arrival, settled));
            }
            prop_assert!(holders.grams.0.len() <= plain.grams.0.len());
        }
    }
}
