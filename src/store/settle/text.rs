//! Whose copy is it? The nearest prototype by direct comparison, of those that share keys with it.

use super::super::keys::SettleKeys;
use super::super::proof::{Likeness, Proof};
use super::super::prototypes::{Blob, Newcomer};
use super::super::settled::{Joined, Settled};
use super::super::{Arrival, Ref};
use super::{Arriving, Candidate, DIGEST, IMATCH, MINHASH, SHOWN, Settler, add};
use crate::config::Canonical;
use crate::document::Kind;
use crate::verdict::event::{Signal, TextView};
use crate::verdict::url_similarity::Origin;
use crate::verdict::vicinity::{Address, Prose, Vicinity};

/// Entries of one key: variants of one campaign share some of their keys.
const PER_TEXT_KEY_MAX: usize = 4;

/// The prototype that a document is nearest to.
pub(super) struct Nearest {
    /// How near.
    score: f64,
    /// The head of its group.
    pub(super) head: Ref,
    /// The keys that led there.
    signals: u8,
    to_head: Likeness,
}

impl Settler {
    /// Finds the group of a text, or begins one. Returns the reference that its id is remembered by.
    pub(super) fn settle_text(&mut self, arriving: &Arriving<'_>, settled: &mut Settled) -> Option<Ref> {
        let &Arriving { arrival, now_ms, server, own, counted, .. } = arriving;
        let mut candidates = std::mem::take(&mut self.candidates);
        let mut scratch = std::mem::take(&mut self.scratch);
        if self.all.is_some() {
            self.gather_all(arriving, settled, &mut candidates);
        } else {
            self.gather(arriving.keys, settled, &mut candidates, |of| self.prototypes.lives(of));
        }
        let nearest = self.nearest(arriving, settled, &mut candidates, &mut scratch);
        (self.candidates, self.scratch) = (candidates, scratch);
        let Some(nearest) = nearest else {
            if let Some(own) = own {
                // A further prototype whose group it was: it stays what it is.
                settled.head = self.prototypes.head_of(own);
                return Some(own);
            }
            let head = self.begin(arriving);
            settled.head = Some(head);
            settled.learns = true;
            return Some(head);
        };
        let head = nearest.head;
        self.prototypes.join(head, server.domain, now_ms, !counted.is_in(head));
        let mut longest = None;
        if self.mirror.canonical == Canonical::Longest {
            self.prototypes.note_longest(head, arrival.signatures.n_words, &arrival.id);
            longest = self.prototypes.longest(head);
        }
        settled.head = Some(head);
        settled.joined = self.joined(arrival, &nearest, longest);
        let n_prototypes = self.prototypes.get(head).map_or(0, |head| 1 + head.n_further());
        let stands = self.stands(arriving, &nearest, n_prototypes);
        let further = stands.then(|| self.stand(head, arriving)).flatten();
        // Standing may have cost the group, in a store of one group.
        settled.head = settled.head.filter(|head| self.prototypes.lives(*head));
        Some(own.or(further).unwrap_or(head))
    }

    /// Whose copy `arrival` is; `longest` is the longest member of the group, where that matters.
    pub(super) fn joined(&self, arrival: &Arrival, nearest: &Nearest, longest: Option<String>) -> Option<Joined> {
        let card = self.prototypes.names(nearest.head)?;
        let [this, that] = [arrival.url.as_deref(), card.url()].map(|url| url.map(Address::of));
        let origin = Origin::of(this.as_ref(), that.as_ref());
        let canonical = match self.mirror.canonical {
            Canonical::FirstSeen => None,
            Canonical::RelCanonical => card.canonical.clone(),
            Canonical::Longest => longest,
        };
        let canonical = canonical.unwrap_or_else(|| card.id.clone());
        let Likeness { score: likeness, view, .. } = nearest.to_head;
        Some(Joined { card, likeness, view, signals: names(nearest.signals), canonical, origin })
    }

    /// Whether it becomes a further prototype of a group of `n_prototypes`: what is not near to any stands for others like it.
    pub(super) fn stands(&self, arriving: &Arriving<'_>, nearest: &Nearest, n_prototypes: usize) -> bool {
        arriving.own.is_none()
            && nearest.score < self.mirror.prototype_below
            && n_prototypes < self.mirror.prototypes_max
    }

    /// All prototypes that live and share a key, with the number of keys.
    pub(super) fn gather(
        &self,
        keys: &SettleKeys,
        settled: &mut Settled,
        candidates: &mut Vec<Candidate>,
        lives: impl Fn(Ref) -> bool,
    ) {
        candidates.clear();
        let families = [(DIGEST, &self.digests, &keys.digests), (IMATCH, &self.imatch, &keys.imatch)];
        for (signal, index, keys) in families.into_iter().chain([(MINHASH, &self.minhash, &keys.minhash)]) {
            for &key in keys {
                index.find(key, |of| add(candidates, of, signal));
            }
        }
        if let Some(&shown) = keys.digests.first() {
            self.digests.find(shown, |of| {
                candidates.iter_mut().filter(|found| found.of == of).for_each(|found| found.signals |= SHOWN);
            });
        }
        for candidate in &*candidates {
            self.prototypes.prefetch_slot(candidate.of);
        }
        candidates.retain(|candidate| lives(candidate.of));
        for candidate in &*candidates {
            self.prototypes.prefetch(candidate.of);
        }
        let count = |signal: u8| candidates.iter().filter(|found| found.signals & signal != 0).count() as u32;
        settled.n_common = (count(IMATCH), count(MINHASH));
    }

    /// All live prototypes that it is a copy of, without keys.
    fn gather_all(&mut self, arriving: &Arriving<'_>, settled: &mut Settled, candidates: &mut Vec<Candidate>) {
        let Some(all) = &mut self.all else { return };
        let prototypes = &self.prototypes;
        let found = all.find(&arriving.document(), &self.mirror, |of| prototypes.lives(of));
        settled.n_common = found.n_common;
        settled.likeness = found.likeness;
        candidates.clear();
        candidates.extend(found.copies.iter().map(|&(of, signals)| Candidate { of, n_keys: 1, signals }));
    }

    /// The nearest of the candidates by direct comparison.
    pub(super) fn nearest(
        &self,
        arriving: &Arriving<'_>,
        settled: &mut Settled,
        candidates: &mut [Candidate],
        scratch: &mut Vec<u8>,
    ) -> Option<Nearest> {
        let prototypes = &self.prototypes;
        let born = |of: Ref| prototypes.get(of).map_or(0, |prototype| prototype.born);
        candidates.sort_unstable_by_key(|found| {
            (std::cmp::Reverse((found.signals & DIGEST, found.n_keys)), born(found.of), found.of)
        });
        let all = &self.all;
        let proof_of = |of: Ref, scratch: &mut Vec<u8>| match all {
            Some(all) => all.proof(of).cloned(),
            None => prototypes.proof(of, scratch),
        };
        let likeness_to =
            |proof: &Proof| self.mirror.compared(&arriving.identity.proof, proof, arriving.arrival.unspaced);
        let mut compared: Vec<(Ref, Likeness, u8)> = Vec::new();
        let n_compared_max = if all.is_some() { usize::MAX } else { self.mirror.candidates_max };
        for candidate in candidates.iter().take(n_compared_max) {
            // Its own earlier self is no one to be compared with.
            if prototypes.get(candidate.of).is_none_or(|prototype| prototype.id_key == arriving.keys.id) {
                continue;
            }
            let likeness = proof_of(candidate.of, scratch).and_then(|proof| likeness_to(&proof));
            if let Some(likeness) = likeness {
                settled.likeness = settled.likeness.max(likeness.score);
                let is_same = candidate.signals & SHOWN != 0;
                if self.mirror.is_copy(likeness, arriving.arrival.unspaced)
                    && (is_same || self.is_more_than_its_site(arriving.arrival, candidate.of, likeness, scratch))
                {
                    compared.push((candidate.of, likeness, candidate.signals));
                }
            }
        }
        // Who is near with its subject is nearer than who is the same without it.
        let by_body = |likeness: &Likeness| likeness.view == TextView::Body;
        compared.sort_by(|(a, x, _), (b, y, _)| {
            by_body(x).cmp(&by_body(y)).then(y.score.total_cmp(&x.score)).then(born(*a).cmp(&born(*b)))
        });
        for (of, likeness, signals) in compared {
            let Some(head) = prototypes.head_of(of) else { continue };
            let is_own = prototypes.get(head).is_none_or(|prototype| prototype.id_key == arriving.keys.id);
            let to_head = match of == head {
                true => Some(likeness),
                false => proof_of(head, scratch).and_then(|proof| likeness_to(&proof)),
            };
            match to_head {
                Some(to_head)
                    if !is_own
                        && self.mirror.is_of_group(to_head, arriving.arrival.unspaced)
                        && (of == head || self.is_more_than_its_site(arriving.arrival, head, to_head, scratch)) =>
                {
                    return Some(Nearest { score: likeness.score, head, signals, to_head });
                }
                _ => {}
            }
        }
        None
    }

    /// Whether `arrival` has more in common with `of` than what a site puts around its pages. Their likeness is known; on one site, under
    /// two addresses, it has to be that of most they have, and of a text.
    pub(super) fn is_more_than_its_site(
        &self,
        arrival: &Arrival,
        of: Ref,
        likeness: Likeness,
        scratch: &mut Vec<u8>,
    ) -> bool {
        let url = arrival.url.as_deref().filter(|_| arrival.signatures.kind == Kind::Page);
        let glance = url.and_then(|_| self.prototypes.glance(of, scratch));
        let urls = url.zip(glance.and_then(|glance| glance.url()));
        if urls.is_none_or(|(this, that)| Vicinity::of(this, that) != Vicinity::SameSite) {
            return true;
        }
        let core = arrival.core_sentences.numbers.iter();
        let core = core.map(|&number| &arrival.signatures.sentences[usize::from(number)]);
        likeness.score.min(likeness.core) >= self.mirror.site_resemblance_min
            && self.mirror.is_text(Prose::of(core, arrival.unspaced), arrival.unspaced)
    }

    /// A new group.
    fn begin(&mut self, arriving: &Arriving<'_>) -> Ref {
        let head = self.prototypes.insert(&self.newcomer(arriving, &arriving.identity.blob));
        self.learn(head, arriving);
        head
    }

    /// A further prototype.
    fn stand(&mut self, head: Ref, arriving: &Arriving<'_>) -> Option<Ref> {
        let blob = self.clerk.further(arriving.arrival, &arriving.identity.proof);
        let of = self.prototypes.insert_further(head, &self.newcomer(arriving, &blob))?;
        self.learn(of, arriving);
        Some(of)
    }

    pub(super) fn newcomer<'a>(&self, arriving: &'a Arriving<'_>, blob: &'a Blob) -> Newcomer<'a> {
        let arrival = arriving.arrival;
        Newcomer {
            position: arriving.position,
            now_ms: arriving.now_ms,
            id_key: arriving.keys.id,
            server: arriving.server,
            owner: self.owner(arrival, arriving.server),
            sentence_chars: u32::try_from(arrival.core_sentences.n_chars).unwrap_or(u32::MAX),
            n_words: arrival.signatures.n_words,
            kind: arrival.signatures.kind,
            blob,
            excerpt: (&arrival.excerpt, arrival.n_text_bytes),
        }
    }

    fn learn(&mut self, of: Ref, arriving: &Arriving<'_>) {
        if let Some(all) = &mut self.all {
            return all.learn(of, &arriving.document());
        }
        let keys = arriving.keys;
        let families =
            [(&mut self.digests, &keys.digests), (&mut self.imatch, &keys.imatch), (&mut self.minhash, &keys.minhash)];
        // A full line asks whether its oldest entry lives.
        for (index, keys) in &families {
            keys.iter().filter_map(|&key| index.oldest(key)).for_each(|of| self.prototypes.prefetch_life(of));
        }
        for (index, keys) in families {
            for &key in keys {
                index.insert(key, of, PER_TEXT_KEY_MAX, |of| self.prototypes.lives(of));
            }
        }
    }
}

fn names(signals: u8) -> Vec<Signal> {
    let all = [(DIGEST, Signal::Digest), (IMATCH, Signal::Imatch), (MINHASH, Signal::Minhash)];
    all.into_iter().filter(|(bit, _)| signals & bit != 0).map(|(_, signal)| signal).collect()
}
