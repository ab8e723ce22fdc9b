//! All pairs: which stored documents one is a copy of, without keys that suggest any.
//!
//! Slots of pages are compared outright: a pair costs less than looking it up would. Mails are compared by counting common
//! terms in lists of their holders; no cosine is above the common terms over the geometric mean of the sizes, and only
//! where that could be enough, or more than the best so far, the cosine itself is computed.
//!
//! # Invariants
//! - What is found is what comparing with each of them finds. (`all_pairs_are_found`)
//! - Every id is remembered. (`tests/promises/quality/exact.rs`)

use super::look::Resemblance;
use super::proof::{Measure, Proof, Terms};
use super::reference::Ref;
use super::seen::Sighting;
use super::settle::{DIGEST, IMATCH, MINHASH, SHOWN};
use crate::config::MirrorSettings;
use crate::document::Kind;
use std::collections::HashMap;

/// A document that is compared with all others, or becomes one of them.
pub(super) struct Document<'a> {
    pub(super) kind: Kind,
    pub(super) id_key: u64,
    pub(super) proof: &'a Proof,
    pub(super) unspaced: bool,
    /// Its keys by signal: they find nothing here, and say by what a copy could have been found.
    pub(super) keys: [(u8, &'a [u64]); 3],
}

/// What comparing with all others has found.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Found {
    /// Whose copy it is, with the signals of the keys in common, oldest first.
    pub(super) copies: Vec<(Ref, u8)>,
    /// Documents with keys in common, by I-Match and by minhash.
    pub(super) n_common: (u32, u32),
    /// The best likeness, enough or not.
    pub(super) likeness: f64,
}

/// Everything that documents are compared with.
pub(super) struct Exhaustive {
    cross_kinds: bool,
    entries: Vec<Entry>,
    numbers: HashMap<Ref, u32>,
    /// The entries that hold a term.
    holders: HashMap<u32, Vec<u32>>,
    /// The entries that hold a key.
    keys: HashMap<(u8, u64), Vec<u32>>,
    leaders: Vec<(Ref, Kind)>,
    seen: HashMap<u64, Sighting>,
    /// Of each entry, for the document at hand: common terms, and signals of common keys.
    n_common: Vec<u32>,
    signals: Vec<u8>,
}

struct Entry {
    of: Ref,
    kind: Kind,
    id_key: u64,
    proof: Proof,
    /// Of terms: how many each view holds.
    n_values: [u32; 3],
}

impl Exhaustive {
    pub(super) fn new(cross_kinds: bool) -> Self {
        Self {
            cross_kinds,
            entries: Vec::new(),
            numbers: HashMap::new(),
            holders: HashMap::new(),
            keys: HashMap::new(),
            leaders: Vec::new(),
            seen: HashMap::new(),
            n_common: Vec::new(),
            signals: Vec::new(),
        }
    }

    /// What is known of an id.
    pub(super) fn sighting(&self, id_key: u64) -> Option<Sighting> {
        self.seen.get(&id_key).copied()
    }

    pub(super) fn sight(&mut self, id_key: u64, sighting: Sighting) {
        self.seen.insert(id_key, sighting);
    }

    /// What `of` is compared by.
    pub(super) fn proof(&self, of: Ref) -> Option<&Proof> {
        self.numbers.get(&of).map(|&number| &self.entries[number as usize].proof)
    }

    /// `document` is one of those that others are compared with, from now on.
    pub(super) fn learn(&mut self, of: Ref, document: &Document<'_>) {
        let number = self.entries.len() as u32;
        let mut n_values = [0; 3];
        if let Some(terms) = document.proof.terms() {
            n_values = terms.n_values();
            terms.values().for_each(|value| self.holders.entry(value).or_default().push(number));
        }
        for (signal, keys) in document.keys {
            for &key in keys {
                let holders = self.keys.entry((signal, key)).or_default();
                if holders.last() != Some(&number) {
                    holders.push(number);
                }
            }
        }
        let &Document { kind, id_key, proof, .. } = document;
        self.entries.push(Entry { of, kind, id_key, proof: proof.clone(), n_values });
        self.numbers.insert(of, number);
    }

    /// Compares `document` with all that live; its own earlier self is no one to be compared with.
    pub(super) fn find(
        &mut self,
        document: &Document<'_>,
        settings: &MirrorSettings,
        lives: impl Fn(Ref) -> bool,
    ) -> Found {
        self.count(document);
        let n_values = document.proof.terms().map_or([0; 3], Terms::n_values);
        let mut found = Found::default();
        for (number, entry) in self.entries.iter().enumerate() {
            if !lives(entry.of) || !self.cross_kinds && entry.kind != document.kind {
                continue;
            }
            let signals = self.signals[number];
            found.n_common.0 += u32::from(signals & IMATCH != 0);
            found.n_common.1 += u32::from(signals & MINHASH != 0);
            if entry.id_key == document.id_key {
                continue;
            }
            if document.proof.measure(&entry.proof) == Some(Measure::Terms) {
                let ceiling = ceiling(self.n_common[number], n_values, entry.n_values);
                let bodies = document.proof.terms().zip(entry.proof.terms());
                let is_same_body = bodies.is_some_and(|(this, that)| this.has_body_of(that));
                if ceiling < settings.cosine_min && ceiling <= found.likeness && !is_same_body {
                    continue;
                }
            }
            let Some(likeness) = settings.compared(document.proof, &entry.proof, document.unspaced) else { continue };
            found.likeness = found.likeness.max(likeness.score);
            if settings.is_copy(likeness, document.unspaced) {
                found.copies.push((entry.of, signals));
            }
        }
        found
    }

    /// Counts what each entry has in common with `document`.
    fn count(&mut self, document: &Document<'_>) {
        self.n_common.clear();
        self.n_common.resize(self.entries.len(), 0);
        self.signals.clear();
        self.signals.resize(self.entries.len(), 0);
        if let Some(terms) = document.proof.terms() {
            for holders in terms.values().filter_map(|value| self.holders.get(&value)) {
                holders.iter().for_each(|&number| self.n_common[number as usize] += 1);
            }
        }
        for (signal, keys) in document.keys {
            for (place, &key) in keys.iter().enumerate() {
                // The first of the digests is that of all that is shown.
                let marks = if signal == DIGEST && place == 0 { signal | SHOWN } else { signal };
                let holders = self.keys.get(&(signal, key)).into_iter().flatten();
                holders.for_each(|&number| self.signals[number as usize] |= marks);
            }
        }
    }

    /// All leaders of style, compared by `compare`.
    pub(super) fn leaders(&self, kind: Kind, compare: impl Fn(Ref) -> Option<Resemblance>) -> Vec<(Ref, Resemblance)> {
        let comparable = self.leaders.iter().filter(|(_, other)| self.cross_kinds || *other == kind);
        comparable.filter_map(|&(of, _)| Some((of, compare(of)?))).collect()
    }

    pub(super) fn learn_leader(&mut self, of: Option<Ref>, kind: Kind) {
        self.leaders.extend(of.map(|of| (of, kind)));
    }
}

/// No cosine of two bags with so many common values, of so many in each view, is above this.
fn ceiling(n_common: u32, mine: [u32; 3], theirs: [u32; 3]) -> f64 {
    // Room for what rounding does in the cosine itself.
    const ROUNDING: f64 = 1e-9;
    let of_view = |(mine, theirs): (u32, u32)| match f64::from(mine) * f64::from(theirs) {
        0.0 => 0.0,
        sizes => f64::from(n_common.min(mine).min(theirs)) / sizes.sqrt() + ROUNDING,
    };
    mine.into_iter().zip(theirs).map(of_view).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Settings;
    use crate::signature::keyed::mix;
    use crate::store::tests::signatures;

    /// Mails in families that share most of their terms, and whose sizes differ.
    fn proofs(kind: Kind) -> Vec<Proof> {
        let proof = |number: u64| {
            let start = number % 7 * 1000 + mix(number, 1) % 30;
            let mut signatures = signatures(kind, start..start + 20 + mix(number, 2) % 200);
            // A page is compared by its shingles.
            signatures.shingles = signatures.shown.minhash.clone().filter(|_| kind == Kind::Page);
            Proof::of(&signatures, false, usize::MAX).unwrap()
        };
        (0..120).map(proof).collect()
    }

    #[test]
    fn all_pairs_are_found() {
        let settings = Settings::default().mirror;
        let mut n_copies = 0;
        for kind in [Kind::Email, Kind::Page] {
            let proofs = proofs(kind);
            let refer = |number: usize| Ref { slot: number as u32, generation: 1 };
            let is_dead = |of: Ref| of.slot % 10 == 3;
            let mut all = Exhaustive::new(false);
            for (number, proof) in proofs.iter().enumerate() {
                let document = Document {
                    kind,
                    id_key: number as u64,
                    proof,
                    unspaced: false,
                    keys: [(1, &[]), (2, &[7]), (4, &[])],
                };
                let mut expected = Found::default();
                for (other, that) in proofs[..number].iter().enumerate().filter(|(other, _)| !is_dead(refer(*other))) {
                    let likeness = proof.likeness(that).unwrap();
                    expected.n_common.0 += 1;
                    expected.likeness = expected.likeness.max(likeness.score);
                    if settings.is_copy(likeness, false) {
                        expected.copies.push((refer(other), IMATCH));
                    }
                }
                assert_eq!(all.find(&document, &settings, |of| !is_dead(of)), expected, "{kind:?} {number}");
                n_copies += expected.copies.len();
                all.learn(refer(number), &document);
            }
        }
        assert!(n_copies > 100, "{n_copies} of them were to be found");
    }
}
