//! Settle: whose copy is it, and whose style has it? One document after the other.
//!
//! About sixty keys suggest candidates; the best of them are compared directly, and the document joins the group of its
//! nearest prototype and the cluster of its nearest leader, or begins its own. Heads and leaders hold keys, copies hold
//! none: ten thousand copies of a mail are one group.
//!
//! What is found is found without changing anything, so that [`probe`] can ask what would be said of a document.
//!
//! # Invariants
//! - Only what was verified joins. (`candidates_are_verified`)
//! - A document is never compared with its own earlier version, and fetching it again counts nothing.
//!   (`a_recrawl_is_no_copy_of_itself`)
//! - Copies leave no keys behind. (`copies_hold_no_keys`)

mod forget;
mod probe;

use super::card::Card;
use super::cells::CellEnds;
use super::cluster::Member;
use super::clusters::{Clusters, Styled};
use super::exhaustive::Exhaustive;
use super::index::Index;
use super::keys::{SettleKeys, id_key};
use super::look::{Look, Resemblance};
use super::plan::Plan;
use super::proof::{Likeness, Proof};
use super::prototypes::{Departures, Newcomer, Prototypes, Server};
use super::reference::Ref;
use super::seen::{self, Seen, Sighting};
use super::settled::{Joined, Known, Settled};
use super::watch::Table;
use super::{Arrival, Damaged, MirrorBytes, exhaustive};
use crate::config::{Canonical, MirrorSettings, Settings, StoreSettings};
use crate::document::Kind;
use crate::signature::keyed::{Keys, mix};
use crate::verdict::event::{ClusterEvent, Recrawl, Signal};
use crate::verdict::url_similarity::{Denominator, UrlSimilarity};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// Entries of one key: variants of one campaign share some of their keys.
const PER_TEXT_KEY_MAX: usize = 4;
const PER_FRAME_KEY_MAX: usize = 6;
const PER_STYLE_KEY_MAX: usize = 6;
/// Grams of a document that are kept and weighed. Winnowed, these are about 50,000 words.
pub(super) const GRAMS_MAX: usize = 8192;

/// A candidate with its common keys.
#[derive(Clone, Copy)]
struct Candidate {
    of: Ref,
    n_keys: u32,
    signals: u8,
}

pub(super) const DIGEST: u8 = 1;
pub(super) const IMATCH: u8 = 2;
pub(super) const MINHASH: u8 = 4;

/// Settles documents.
pub(super) struct Settler {
    mirror: MirrorSettings,
    store: StoreSettings,
    template_candidates_max: usize,
    core_terms_min: usize,
    link_key: u64,
    prototypes: Prototypes,
    clusters: Clusters,
    digests: Index,
    imatch: Index,
    minhash: Index,
    frames: Index,
    styles: Index,
    seen: Seen,
    clock: Clock,
    candidates: Vec<Candidate>,
    looks: Vec<Candidate>,
    scratch: Vec<u8>,
    /// All pairs instead of keys.
    all: Option<Exhaustive>,
    card_grams_max: usize,
    /// Of cells that are being read.
    cell_ends: Option<CellEnds>,
}

/// Where the fold is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Clock {
    position: u64,
    now_ms: Option<i64>,
}

impl Clock {
    /// The clock after a record of `time_ms`.
    fn after(self, time_ms: Option<i64>, jump_ms: i64) -> Self {
        let now_ms = match (self.now_ms, time_ms) {
            (Some(now), Some(time)) => Some(time.min(now.saturating_add(jump_ms)).max(now)),
            (now, time) => now.or(time),
        };
        Self { position: self.position + 1, now_ms }
    }

    fn now_ms(self) -> i64 {
        self.now_ms.unwrap_or(0)
    }
}

impl Settler {
    pub(super) fn new(settings: &Settings, plan: &Plan) -> Self {
        Self {
            mirror: settings.mirror.clone(),
            store: settings.store.clone(),
            template_candidates_max: settings.template.candidates_max,
            core_terms_min: settings.text.terms_min,
            link_key: Keys::derive(settings.secret.reveal()).link,
            prototypes: Prototypes::new(plan.n_prototypes, plan.n_cells, settings.store.share_max),
            clusters: Clusters::new(plan.n_leaders, settings.template.clone()),
            digests: Index::new(plan.digests),
            imatch: Index::new(plan.imatch),
            minhash: Index::new(plan.minhash),
            frames: Index::new(plan.frames),
            styles: Index::new(plan.styles),
            seen: Seen::new(plan.seen),
            clock: Clock::default(),
            candidates: Vec::new(),
            looks: Vec::new(),
            scratch: Vec::new(),
            all: None,
            card_grams_max: plan.n_places(),
            cell_ends: None,
        }
    }

    /// One that compares every document with all before it. `plan` has room for all of them.
    pub(super) fn exhaustive(settings: &Settings, plan: &Plan) -> Self {
        let mut settler = Self::new(settings, plan);
        settler.all = Some(Exhaustive::new(settings.store.cross_kinds));
        settler.card_grams_max = 0;
        settler.clusters.note_merges();
        settler
    }

    pub(super) fn prototypes(&self) -> &Prototypes {
        &self.prototypes
    }

    pub(super) fn clusters(&self) -> &Clusters {
        &self.clusters
    }

    /// The keys of `arrival`; their lines are asked for.
    pub(super) fn keys(&self, arrival: &Arrival) -> SettleKeys {
        let keys = SettleKeys::of(arrival, &self.mirror, self.store.cross_kinds);
        self.seen.prefetch(keys.id);
        for (index, keys) in self.indexes(&keys) {
            keys.iter().for_each(|&key| index.prefetch(key));
        }
        keys
    }

    fn indexes<'a>(&'a self, keys: &'a SettleKeys) -> [(&'a Index, &'a [u64]); 5] {
        [
            (&self.digests, &keys.digests),
            (&self.imatch, &keys.imatch),
            (&self.minhash, &keys.minhash),
            (&self.frames, &keys.frames),
            (&self.styles, &keys.styles),
        ]
    }

    /// Settles the next document.
    pub(super) fn settle(&mut self, arrival: &Arrival, keys: &SettleKeys) -> Settled {
        self.clock = self.clock_after(arrival);
        let (position, now_ms) = (self.clock.position, self.clock.now_ms());
        if let Some(before_ms) = self.expires_before(now_ms) {
            self.prototypes.expire(before_ms, position);
            self.clusters.expire(before_ms, position);
        }
        let recognised = self.recognised(arrival, keys, |_| true);
        let Recognised { content, recrawl, own, .. } = recognised;
        let server = self.server(arrival);
        let mut settled = Settled::new(position, recrawl, server);
        if let (Some(own), Some(Recrawl::Changed)) = (own, recrawl) {
            self.prototypes.replace(own, position);
        }
        let mut sighted = None;
        if let Some(proof) = self.proof(arrival) {
            match recognised.unchanged() {
                Some(own) if self.prototypes.head_of(own) == Some(own) => {
                    settled.head = Some(own);
                    self.prototypes.join(own, 0, now_ms, false);
                    sighted = Some(own);
                }
                own => {
                    let known = recognised.known();
                    let newcomer = Arriving { arrival, keys, proof: &proof, position, now_ms, server, own, known };
                    sighted = self.settle_text(&newcomer, &mut settled);
                }
            }
        }
        if let Some(look) = &keys.look {
            let member = member(arrival, keys, &settled, now_ms, recognised.sighting.is_some());
            settled.styled = self.settle_look(look, keys, member);
        }
        if let Some(head) = settled.head.and_then(|head| self.prototypes.get(head)) {
            settled.group = (head.size, head.domains.count());
        }
        let sighting = Sighting { content, of: sighted };
        match &mut self.all {
            Some(all) => all.sight(keys.id, sighting),
            None => self.seen.put(keys.id, sighting),
        }
        settled
    }

    /// The clock when `arrival` is settled next.
    fn clock_after(&self, arrival: &Arrival) -> Clock {
        self.clock.after(arrival.time_ms, hours_ms(self.store.time_jump_max_hours))
    }

    /// What had no member since then is too old.
    fn expires_before(&self, now_ms: i64) -> Option<i64> {
        (self.store.ttl_hours > 0).then(|| now_ms.saturating_sub(hours_ms(self.store.ttl_hours)))
    }

    /// What is known of the id of `arrival`; `stays` says who of those that live is still to be there.
    fn recognised(&self, arrival: &Arrival, keys: &SettleKeys, stays: impl Fn(Ref) -> bool) -> Recognised {
        let signatures = &arrival.signatures;
        let content = seen::content(match signatures.shown.digest {
            Some(digest) => digest as u64,
            None => mix(u64::from(signatures.n_words), u64::from(arrival.n_text_bytes)),
        });
        let sighting = self.all.as_ref().map_or_else(|| self.seen.get(keys.id), |all| all.sighting(keys.id));
        let recrawl = sighting.map(|sighting| match sighting.content == content {
            true => Recrawl::Unchanged,
            false => Recrawl::Changed,
        });
        let own = sighting
            .and_then(|sighting| sighting.of)
            .filter(|of| self.prototypes.get(*of).is_some_and(|prototype| prototype.id_key == keys.id) && stays(*of));
        Recognised { content, sighting, recrawl, own }
    }

    /// What `arrival` is compared by.
    fn proof(&self, arrival: &Arrival) -> Option<Proof> {
        match &self.all {
            Some(_) => Proof::whole(&arrival.signatures, self.core_terms_min),
            None => Proof::of(&arrival.signatures, self.core_terms_min),
        }
    }

    /// Finds the group of a text, or begins one. Returns the reference that its id is remembered by.
    fn settle_text(&mut self, arriving: &Arriving<'_>, settled: &mut Settled) -> Option<Ref> {
        let &Arriving { arrival, now_ms, server, own, .. } = arriving;
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
        self.prototypes.join(head, server.domain, now_ms, self.is_new(arriving, head));
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

    /// Whether a document that joins the group of `head` is not counted there yet.
    fn is_new(&self, arriving: &Arriving<'_>, head: Ref) -> bool {
        arriving.known.and_then(|of| self.prototypes.head_of(of)) != Some(head)
    }

    /// Whose copy `arrival` is; `longest` is the longest member of the group, where that matters.
    fn joined(&self, arrival: &Arrival, nearest: &Nearest, longest: Option<String>) -> Option<Joined> {
        let card = self.prototypes.card(nearest.head)?;
        let url = match (arrival.url.as_deref(), card.url()) {
            (Some(this), Some(that)) => Some(UrlSimilarity::of(this, that, Denominator::Simpson)),
            _ => None,
        };
        let canonical = match self.mirror.canonical {
            Canonical::FirstSeen => None,
            Canonical::RelCanonical => card.canonical.clone(),
            Canonical::Longest => longest,
        };
        let canonical = canonical.unwrap_or_else(|| card.id.clone());
        let Likeness { score: likeness, view, .. } = nearest.to_head;
        Some(Joined { card, likeness, view, signals: names(nearest.signals), canonical, url })
    }

    /// Whether it becomes a further prototype of a group of `n_prototypes`: what is not near to any stands for others like it.
    fn stands(&self, arriving: &Arriving<'_>, nearest: &Nearest, n_prototypes: usize) -> bool {
        arriving.own.is_none()
            && nearest.score < self.mirror.prototype_below
            && n_prototypes < self.mirror.prototypes_max
    }

    /// All prototypes that live and share a key, with the number of keys.
    fn gather(
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
    fn nearest(
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
        let mut compared: Vec<(Ref, Likeness, u8)> = Vec::new();
        let n_compared_max = if all.is_some() { usize::MAX } else { self.mirror.candidates_max };
        for candidate in candidates.iter().take(n_compared_max) {
            // Its own earlier self is no one to be compared with.
            if prototypes.get(candidate.of).is_none_or(|prototype| prototype.id_key == arriving.keys.id) {
                continue;
            }
            let likeness = proof_of(candidate.of, scratch).and_then(|proof| arriving.proof.likeness(&proof));
            if let Some(likeness) = likeness {
                settled.likeness = settled.likeness.max(likeness.score);
                if self.mirror.is_copy(arriving.proof, likeness, arriving.arrival.unspaced) {
                    compared.push((candidate.of, likeness, candidate.signals));
                }
            }
        }
        compared.sort_by(|(a, x, _), (b, y, _)| y.score.total_cmp(&x.score).then(born(*a).cmp(&born(*b))));
        for (of, likeness, signals) in compared {
            let Some(head) = prototypes.head_of(of) else { continue };
            let is_own = prototypes.get(head).is_none_or(|prototype| prototype.id_key == arriving.keys.id);
            let to_head = match of == head {
                true => Some(likeness),
                false => proof_of(head, scratch).and_then(|proof| arriving.proof.likeness(&proof)),
            };
            match to_head {
                Some(to_head) if !is_own && to_head.score >= self.mirror.head_min => {
                    return Some(Nearest { score: likeness.score, head, signals, to_head });
                }
                _ => {}
            }
        }
        None
    }

    /// A new group.
    fn begin(&mut self, arriving: &Arriving<'_>) -> Ref {
        let card = Card::of(arriving.arrival, self.store.url_bytes_max, self.card_grams_max);
        let head = self.prototypes.insert(&self.newcomer(arriving, &card));
        self.learn(head, arriving);
        head
    }

    /// A further prototype.
    fn stand(&mut self, head: Ref, arriving: &Arriving<'_>) -> Option<Ref> {
        let card = Card::of(arriving.arrival, self.store.url_bytes_max, 0);
        let of = self.prototypes.insert_further(head, &self.newcomer(arriving, &card))?;
        self.learn(of, arriving);
        Some(of)
    }

    fn newcomer<'a>(&self, arriving: &'a Arriving<'_>, card: &'a Card) -> Newcomer<'a> {
        let arrival = arriving.arrival;
        let long = arrival.signatures.sentences.iter().filter(|sentence| sentence.core);
        let mut long: Vec<(u64, u32)> = long.map(|sentence| (sentence.hash, sentence.n_chars)).collect();
        long.sort_unstable();
        long.dedup_by_key(|sentence| sentence.0);
        Newcomer {
            position: arriving.position,
            now_ms: arriving.now_ms,
            id_key: arriving.keys.id,
            server: arriving.server,
            owner: self.owner(arrival, arriving.server),
            sentence_chars: long.iter().map(|sentence| sentence.1).sum(),
            n_words: arrival.signatures.n_words,
            proof: arriving.proof,
            card,
        }
    }

    fn learn(&mut self, of: Ref, arriving: &Arriving<'_>) {
        if let Some(all) = &mut self.all {
            return all.learn(of, &arriving.document());
        }
        let keys = arriving.keys;
        let families =
            [(&mut self.digests, &keys.digests), (&mut self.imatch, &keys.imatch), (&mut self.minhash, &keys.minhash)];
        for (index, keys) in families {
            for &key in keys {
                index.insert(key, of, PER_TEXT_KEY_MAX, |of| self.prototypes.lives(of));
            }
        }
    }

    fn settle_look(&mut self, look: &Look, keys: &SettleKeys, member: Member<'_>) -> Styled {
        if let Some(all) = &mut self.all {
            let compared = all.leaders(member.kind, |of| self.clusters.resemblance(of, look));
            let (styled, own) = self.clusters.settle(look, member, &compared);
            all.learn_leader(own, member.kind);
            return styled;
        }
        let mut looks = std::mem::take(&mut self.looks);
        let compared = self.compared(look, keys, &mut looks, |of| self.clusters.get(of).is_some());
        self.looks = looks;
        let (styled, own) = self.clusters.settle(look, member, &compared);
        if let Some(own) = own {
            let families = [
                (&mut self.frames, &keys.frames, PER_FRAME_KEY_MAX),
                (&mut self.styles, &keys.styles, PER_STYLE_KEY_MAX),
            ];
            for (index, keys, per_key_max) in families {
                for &key in keys {
                    index.insert(key, own, per_key_max, |of| self.clusters.get(of).is_some());
                }
            }
        }
        styled
    }

    /// The leaders that live and share keys, those with the most compared. `looks` is reused.
    fn compared(
        &self,
        look: &Look,
        keys: &SettleKeys,
        looks: &mut Vec<Candidate>,
        lives: impl Fn(Ref) -> bool,
    ) -> Vec<(Ref, Resemblance)> {
        looks.clear();
        for (index, keys) in [(&self.frames, &keys.frames), (&self.styles, &keys.styles)] {
            for &key in keys {
                index.find(key, |of| add(looks, of, 0));
            }
        }
        looks.retain(|candidate| lives(candidate.of));
        looks.sort_unstable_by_key(|found| (std::cmp::Reverse(found.n_keys), found.of));
        looks
            .iter()
            .take(self.template_candidates_max)
            .filter_map(|found| Some((found.of, self.clusters.resemblance(found.of, look)?)))
            .collect()
    }

    fn server(&self, arrival: &Arrival) -> Server {
        let domain = arrival.domain.as_ref().map_or(0, |domain| xxh3_64_with_seed(domain.as_bytes(), self.link_key));
        let ip = arrival.ip.map_or(0, |ip| xxh3_64(ip.to_string().as_bytes()));
        Server { domain, ip }
    }

    /// Whose share of the store a record counts for. The From domain of a mail is the sender's word alone: the address
    /// that it came from says more.
    fn owner(&self, arrival: &Arrival, server: Server) -> u64 {
        let is_known = arrival.signatures.kind == Kind::Page || arrival.authenticated_domain.is_some();
        match (server.domain, server.ip) {
            (0, ip) => ip,
            (domain, 0) => domain,
            (domain, ip) => {
                if is_known {
                    domain
                } else {
                    ip
                }
            }
        }
    }

    pub(super) fn now_ms(&self) -> Option<i64> {
        self.clock.now_ms
    }

    pub(super) fn begin_at(&mut self, other: &Self) {
        self.clock = other.clock;
    }

    /// What is known of an id, as that of a page or of a mail.
    pub(super) fn known(&self, id: &str, kind: Kind) -> Option<Known> {
        let sighting = self.seen.get(id_key(id, kind))?;
        let of = sighting.of.filter(|of| self.prototypes.lives(*of));
        let own = of.filter(|of| self.prototypes.card(*of).is_some_and(|card| card.id == id && card.kind == kind));
        let head = of.and_then(|of| self.prototypes.head_of(of));
        let group = head.and_then(|head| self.prototypes.get(head)).map(|head| (head.size, head.domains.count()));
        Some(Known { kind, own, head, group: group.unwrap_or_default() })
    }

    pub(super) fn take_events(&mut self) -> Vec<(u64, ClusterEvent)> {
        self.clusters.take_events()
    }

    pub(super) fn end_batch(&mut self) {
        self.prototypes.end_batch();
        self.clusters.end_batch();
    }

    pub(super) fn position(&self) -> u64 {
        self.clock.position
    }

    pub(super) fn departures(&self) -> Departures {
        self.prototypes.departures()
    }

    /// Live keys that were pushed out: of texts, of styles.
    pub(super) fn n_pushed_out(&self) -> (u64, u64) {
        let text = [&self.digests, &self.imatch, &self.minhash].map(Index::n_pushed_out).iter().sum();
        (text, self.frames.n_pushed_out() + self.styles.n_pushed_out())
    }

    /// Bytes of proofs and of the entries that lead to them.
    pub(super) fn mirror_bytes(&self) -> MirrorBytes {
        MirrorBytes {
            proofs: self.prototypes.proof_bytes(),
            digests: self.digests.entry_bytes(),
            imatch: self.imatch.entry_bytes(),
            minhash: self.minhash.entry_bytes(),
        }
    }

    fn indexes_mut(&mut self) -> [&mut Index; 5] {
        [&mut self.digests, &mut self.imatch, &mut self.minhash, &mut self.frames, &mut self.styles]
    }

    /// The parts of a saved store that are small: `with` is given their names and bytes.
    pub(super) fn save(&self, mut with: impl FnMut(&'static str, Vec<u8>)) -> Result<(), postcard::Error> {
        let indexes = [&self.digests, &self.imatch, &self.minhash, &self.frames, &self.styles];
        with("settle", postcard::to_stdvec(&(self.clock, indexes.map(Index::n_pushed_out)))?);
        with("prototypes", self.prototypes.save()?);
        with("clusters", self.clusters.save()?);
        Ok(())
    }

    /// The tables, in an order that stays.
    pub(super) fn tables(&mut self) -> impl Iterator<Item = &mut dyn Table> {
        let Self { prototypes, clusters, digests, imatch, minhash, frames, styles, seen, .. } = self;
        let indexes = [digests, imatch, minhash, frames, styles].map(Index::table);
        prototypes.tables().into_iter().chain(clusters.tables()).chain(indexes).chain([seen.table()])
    }

    /// Reads the part `name`, if it is one of these.
    pub(super) fn load(&mut self, name: &str, bytes: &[u8]) -> Option<Result<(), Damaged>> {
        Some(match name {
            "settle" => match postcard::from_bytes::<(Clock, [u64; 5])>(bytes) {
                Ok((clock, n_pushed_out)) => {
                    self.clock = clock;
                    self.indexes_mut().into_iter().zip(n_pushed_out).for_each(|(index, n)| index.set_pushed_out(n));
                    Ok(())
                }
                Err(_) => Err(Damaged::of("the clock cannot be read")),
            },
            "prototypes" => self.prototypes.load(bytes).map(|cells| self.cell_ends = Some(cells)),
            "clusters" => self.clusters.load(bytes),
            _ => return None,
        })
    }

    /// Looks whether the tables that were read agree with the rest.
    pub(super) fn resume(&mut self) -> Result<(), Damaged> {
        let cells = self.cell_ends.take().ok_or(Damaged::of("there are no prototypes"))?;
        self.prototypes.resume(cells)?;
        self.clusters.resume()
    }

    /// Goes on with all of `from`, whose tables have the sizes of ours; the settings stay ours.
    pub(super) fn carry(&mut self, from: Self) {
        self.prototypes.carry(from.prototypes);
        self.clusters.carry(from.clusters);
        (self.digests, self.imatch, self.minhash) = (from.digests, from.imatch, from.minhash);
        (self.frames, self.styles, self.seen, self.clock) = (from.frames, from.styles, from.seen, from.clock);
    }

    /// The names of all parts.
    pub(super) const PARTS: [&'static str; 3] = ["settle", "prototypes", "clusters"];
}

/// What is known of the id of a document.
struct Recognised {
    content: u64,
    sighting: Option<Sighting>,
    recrawl: Option<Recrawl>,
    /// Its own record, if it had one.
    own: Option<Ref>,
}

impl Recognised {
    /// Its own record, if that says the same.
    fn unchanged(&self) -> Option<Ref> {
        self.own.filter(|_| self.recrawl == Some(Recrawl::Unchanged))
    }

    /// What its id is remembered by, if it is unchanged.
    fn known(&self) -> Option<Ref> {
        self.sighting.filter(|_| self.recrawl == Some(Recrawl::Unchanged)).and_then(|sighting| sighting.of)
    }
}

/// The prototype that a document is nearest to.
struct Nearest {
    /// How near.
    score: f64,
    /// The head of its group.
    head: Ref,
    /// The keys that led there.
    signals: u8,
    to_head: Likeness,
}

/// What a document brings for its cluster beside its look.
fn member<'a>(arrival: &'a Arrival, keys: &SettleKeys, settled: &Settled, now_ms: i64, is_known: bool) -> Member<'a> {
    let url = settled.joined.as_ref().and_then(|joined| joined.url);
    Member {
        position: settled.position,
        now_ms,
        kind: arrival.signatures.kind,
        id_key: keys.id,
        id: &arrival.id,
        domain: settled.server.domain,
        link_domains: &arrival.signatures.link_domains,
        is_copy: settled.joined.is_some(),
        is_mirror: url.is_some_and(UrlSimilarity::is_similar),
        is_known,
    }
}

/// A document that is being settled.
struct Arriving<'a> {
    arrival: &'a Arrival,
    keys: &'a SettleKeys,
    proof: &'a Proof,
    position: u64,
    now_ms: i64,
    server: Server,
    /// Its own record from before, unchanged.
    own: Option<Ref>,
    /// What its id is remembered by, unchanged.
    known: Option<Ref>,
}

impl<'a> Arriving<'a> {
    /// What is compared with all others.
    fn document(&self) -> exhaustive::Document<'a> {
        let keys = self.keys;
        exhaustive::Document {
            kind: self.arrival.signatures.kind,
            id_key: keys.id,
            proof: self.proof,
            unspaced: self.arrival.unspaced,
            keys: [(DIGEST, &keys.digests), (IMATCH, &keys.imatch), (MINHASH, &keys.minhash)],
        }
    }
}

fn add(candidates: &mut Vec<Candidate>, of: Ref, signal: u8) {
    match candidates.iter_mut().find(|candidate| candidate.of == of) {
        Some(candidate) => {
            candidate.n_keys += 1;
            candidate.signals |= signal;
        }
        None => candidates.push(Candidate { of, n_keys: 1, signals: signal }),
    }
}

fn names(signals: u8) -> Vec<Signal> {
    let all = [(DIGEST, Signal::Digest), (IMATCH, Signal::Imatch), (MINHASH, Signal::Minhash)];
    all.into_iter().filter(|(bit, _)| signals & bit != 0).map(|(_, signal)| signal).collect()
}

fn hours_ms(hours: u64) -> i64 {
    i64::try_from(hours.saturating_mul(3_600_000)).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{arrival, settings};
    use super::super::{Arrival, Settled, Store};
    use crate::document::Kind;
    use crate::verdict::event::{Recrawl, Signal};

    fn settled(store: &mut Store, arrivals: &[Arrival]) -> Vec<Settled> {
        let settled = store.hits(arrivals, 1).0;
        store.end_batch();
        settled
    }

    fn mail(id: &str, terms: std::ops::Range<u64>) -> Arrival {
        arrival(id, Kind::Email, terms)
    }

    #[test]
    fn candidates_are_verified() {
        let mut store = Store::new(&settings(4 << 20));
        // The last two share a digest with the first, and nothing else.
        let mut forged = [mail("forged", 1000..1060), mail("copy", 0..60)];
        forged[0].signatures.shown.digest = mail("a", 0..60).signatures.shown.digest;
        let [first, second] = forged;
        let all = settled(&mut store, &[mail("a", 0..60), first, second]);
        assert!(all[1].joined.is_none() && all[1].learns);
        let joined = all[2].joined.as_ref().unwrap();
        assert_eq!((joined.card.id.as_str(), joined.likeness), ("a", 1.0));
        assert_eq!(joined.signals, [Signal::Digest, Signal::Minhash]);
        assert_eq!((all[2].head, all[2].group), (all[0].head, (2, 2)));
    }

    #[test]
    fn a_recrawl_is_no_copy_of_itself() {
        let mut store = Store::new(&settings(4 << 20));
        let again = [mail("a", 0..60), mail("a", 0..60), mail("b", 0..60), mail("b", 0..60), mail("a", 0..61)];
        let all = settled(&mut store, &again);
        let recrawls: Vec<_> = all.iter().map(|settled| settled.recrawl).collect();
        let (unchanged, changed) = (Some(Recrawl::Unchanged), Some(Recrawl::Changed));
        assert_eq!(recrawls, [None, unchanged, None, unchanged, changed]);
        assert!(all[1].joined.is_none() && !all[1].learns && all[1].head == all[0].head);
        assert_eq!(all.iter().map(|settled| settled.group.0).collect::<Vec<_>>(), [1, 1, 2, 2, 1]);
        assert!(all[4].joined.is_none() && all[4].learns, "the group went with the old version of its head");
    }

    #[test]
    fn copies_hold_no_keys() {
        let mut store = Store::new(&settings(4 << 20));
        settled(&mut store, &[mail("a", 0..60)]);
        let before = store.census();
        let copies: Vec<Arrival> = (0..100).map(|n| mail(&format!("copy {n}"), 0..60)).collect();
        let all = settled(&mut store, &copies);
        assert!(all.iter().all(|settled| settled.joined.is_some() && !settled.learns));
        assert_eq!((store.census().n_prototypes, store.census().n_groups), (before.n_prototypes, 1));
        assert_eq!(all[99].group, (101, 101).min((101, all[99].group.1)));
    }

    #[test]
    fn a_group_has_up_to_four_prototypes_and_names_its_head() {
        let mut store = Store::new(&settings(4 << 20));
        // Each is 0.83 from the head and 0.7 and less from the others.
        let variant = |n: u64| {
            let mut variant = mail(&format!("variant {n}"), 0..100);
            let keeps = |term: &u64| term % 6 != n;
            variant.signatures.shown.terms.retain(keeps);
            variant.signatures.shown.terms.extend(mail("", 1000 * n..1000 * n + 17).signatures.shown.terms);
            variant.signatures.shown.terms.sort_unstable();
            variant.signatures.shown.digest = None;
            let minhash = crate::signature::minhash::MinHash::of(variant.signatures.shown.terms.iter().copied(), 3);
            variant.signatures.shown.minhash = minhash;
            variant
        };
        let mut batch = vec![mail("head", 0..100)];
        batch.extend((1..=6).map(variant));
        let all = settled(&mut store, &batch);
        let n_joined = all.iter().filter(|settled| settled.joined.is_some()).count();
        assert!(n_joined >= 5, "{n_joined}");
        assert!(all.iter().filter_map(|settled| settled.joined.as_ref()).all(|joined| joined.card.id == "head"));
        assert_eq!(store.census().n_prototypes, 4 + 6 - n_joined);
    }

    #[test]
    fn too_little_text_joins_nothing() {
        let mut store = Store::new(&settings(4 << 20));
        let mut short = [mail("a", 0..3), mail("b", 0..3)];
        for mail in &mut short {
            mail.signatures.shown.minhash = None;
            mail.signatures.shown.digest = None;
        }
        assert!(settled(&mut store, &short).iter().all(|settled| settled.head.is_none() && !settled.learns));
    }
}
