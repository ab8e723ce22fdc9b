//! Which heads hold a gram or a sentence: all of them, earlier and later, counted exactly.
//!
//! # Invariants
//! - A head counts once for a key and never for its own group, and what more than the given number of others hold has no
//!   holders. (`what_many_others_hold_is_no_patch` in `tests/promises/quality/exact.rs`)

use super::weigh::SentenceHit;
use super::{Arrival, Ref, Settled, Store, salt};
use crate::config::Settings;
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
        let learnt = batch.iter().zip(settled).filter(|(_, settled)| settled.learns);
        let mut holders = Self {
            heads: Vec::new(),
            grams: Lists::default(),
            sentences: Lists::default(),
            gram_df_max: settings.quilt.gram_df_max.into(),
            sentence_df_max: settings.mirror.sentence_df_max.into(),
            cross_kinds,
        };
        for (arrival, settled) in learnt {
            // A page that has changed since is no source of what it said then.
            let Some(of) = settled.head.filter(|of| store.lives_at(*of, settled.position)) else { continue };
            let number = holders.heads.len() as u32;
            holders.heads.push(Head { of, position: settled.position });
            gram_keys(arrival, cross_kinds).for_each(|key| holders.grams.add(key, number));
            sentence_keys(arrival, cross_kinds).for_each(|(key, _)| holders.sentences.add(key, number));
        }
        holders
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
            .map(|of_one| (self.head(of_one[0].0).of, of_one.iter().map(|(_, mine)| *mine).collect()))
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
    let core = arrival.signatures.sentences.iter().zip(0_u16..=u16::MAX).filter(|(sentence, _)| sentence.core);
    let mut keys: Vec<(u64, u16)> = core.map(|(sentence, number)| (sentence.hash ^ salt, number)).collect();
    keys.sort_unstable();
    keys.dedup_by_key(|(key, _)| *key);
    keys.sort_unstable_by_key(|(_, number)| *number);
    keys.into_iter()
}
