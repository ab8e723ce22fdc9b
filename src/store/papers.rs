//! The papers of a document: its keys, what it is compared by, and its record as it would be kept.
//!
//! All of it follows from the arrival and a few settings. Settle is one thread and signing many, so whoever signs can make them
//! too; a store makes those that are missing, or were made by another rule.
//!
//! # Invariants
//! - Whoever made the papers, the verdicts are the same. (`papers_change_no_verdict` in `tests/promises/fold.rs`)
//! - Papers of another rule are not used. (`papers_of_another_rule_are_made_anew`)

use super::Arrival;
use super::card::Card;
use super::keys::SettleKeys;
use super::plan::Plan;
use super::proof::{Proof, TERMS_MAX};
use super::prototypes::Blob;
use crate::config::{MirrorSettings, Settings};
use std::borrow::Cow;

/// What settle asks of a document, made ahead.
#[derive(Clone, Debug, PartialEq)]
pub struct Papers {
    rule: Rule,
    pub(super) keys: SettleKeys,
    /// What it is compared by; `None` where there is too little text.
    pub(super) identity: Option<Identity>,
}

/// What a text is compared by, and what would be kept of it as the head of a group.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Identity {
    pub(super) proof: Proof,
    pub(super) blob: Blob,
}

/// What decides papers beside the arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rule {
    /// Bands and rows of mails, then of pages.
    bands: [usize; 4],
    cross_kinds: bool,
    /// Terms of a proof.
    terms_max: usize,
    url_bytes_max: usize,
    /// Places of a card.
    places_max: usize,
}

/// Makes papers; a thread has one.
#[derive(Clone)]
pub struct Clerk {
    rule: Rule,
    mirror: MirrorSettings,
}

impl Clerk {
    /// By `settings`.
    pub fn new(settings: &Settings) -> Self {
        Self::with(settings, TERMS_MAX, Plan::of(settings).n_places())
    }

    /// One whose proofs have all terms: for comparing all pairs, where nobody asks for places.
    pub(super) fn exhaustive(settings: &Settings) -> Self {
        Self::with(settings, usize::MAX, 0)
    }

    fn with(settings: &Settings, terms_max: usize, places_max: usize) -> Self {
        let Settings { mirror, store, .. } = settings;
        let rule = Rule {
            bands: [mirror.bands, mirror.rows, mirror.page_bands, mirror.page_rows].map(|n| n.get()),
            cross_kinds: store.cross_kinds,
            terms_max,
            url_bytes_max: store.url_bytes_max,
            places_max,
        };
        Self { rule, mirror: mirror.clone() }
    }

    /// Gives `arrival` its papers. They are as it is now: whatever changes it makes them untrue.
    pub fn issue(&self, arrival: &mut Arrival) {
        arrival.papers = Some(Box::new(self.made(arrival)));
    }

    /// Those that `arrival` has, if they are by our rule, or new ones.
    pub(super) fn papers<'a>(&self, arrival: &'a Arrival) -> Cow<'a, Papers> {
        match arrival.papers.as_deref().filter(|papers| papers.rule == self.rule) {
            Some(papers) => {
                debug_assert_eq!(papers.keys.id, super::keys::id_key(&arrival.id, arrival.signatures.kind));
                Cow::Borrowed(papers)
            }
            None => Cow::Owned(self.made(arrival)),
        }
    }

    fn made(&self, arrival: &Arrival) -> Papers {
        let Rule { cross_kinds, terms_max, places_max, .. } = self.rule;
        let proof = Proof::of(&arrival.signatures, cross_kinds, terms_max);
        let identity = proof.map(|proof| Identity { blob: self.blob(arrival, &proof, places_max), proof });
        Papers { rule: self.rule, keys: SettleKeys::of(arrival, &self.mirror, cross_kinds), identity }
    }

    /// What is kept of a further prototype: nobody asks where its grams stand.
    pub(super) fn further(&self, arrival: &Arrival, proof: &Proof) -> Blob {
        self.blob(arrival, proof, 0)
    }

    fn blob(&self, arrival: &Arrival, proof: &Proof, places_max: usize) -> Blob {
        Blob::of(proof, &Card::of(arrival, self.rule.url_bytes_max, places_max))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Store;
    use super::super::tests::{arrival, settings};
    use super::*;
    use crate::document::Kind;

    #[test]
    fn papers_of_another_rule_are_made_anew() {
        let (ours, mut other) = (settings(4 << 20), settings(4 << 20));
        other.mirror.bands = std::num::NonZeroUsize::new(5).unwrap();
        let mut batch = [arrival("a", Kind::Email, 0..60), arrival("b", Kind::Email, 3..60)];
        let plain = Store::new(&ours).hits(&batch, 1).0;
        assert!(plain[1].joined.is_some());
        for (settings, is_used) in [(&ours, true), (&other, false)] {
            batch.iter_mut().for_each(|arrival| Clerk::new(settings).issue(arrival));
            assert_eq!(matches!(Clerk::new(&ours).papers(&batch[0]), Cow::Borrowed(_)), is_used);
            assert_eq!(Store::new(&ours).hits(&batch, 1).0, plain);
        }
    }
}
