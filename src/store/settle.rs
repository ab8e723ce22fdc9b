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
//! - A document counts once in a group. (`a_document_counts_once_in_a_group`, `a_further_prototype_counts_once_in_another_group`)
//! - Copies leave no keys behind. (`copies_hold_no_keys`)

mod forget;
pub(super) mod near;
mod probe;
mod saving;
mod style;
mod text;

use super::cells::CellEnds;
use super::clusters::Clusters;
use super::exhaustive::Exhaustive;
use super::index::Index;
use super::keys::{SettleKeys, id_key};
use super::papers::{Clerk, Identity, Papers};
use super::plan::Plan;
use super::prototypes::{Departures, Prototypes, Server};
use super::reference::Ref;
use super::seen::{self, Left, Seen, Sighting};
use super::settled::{Known, Settled};
use super::{Arrival, MirrorBytes, exhaustive};
use crate::config::{MirrorSettings, Settings, StoreSettings};
use crate::document::{Kind, links};
use crate::signature::keyed::{Keys, mix};
use crate::verdict::event::{ClusterEvent, Recrawl};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use style::member;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

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
/// Beside a digest: all that is shown is a text of the other, with or without what stands around that.
pub(super) const SHOWN: u8 = 8;

/// Settles documents.
pub(super) struct Settler {
    mirror: MirrorSettings,
    store: StoreSettings,
    template_candidates_max: usize,
    leader_below: f64,
    clerk: Clerk,
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
            leader_below: settings.template.leader_below,
            clerk: Clerk::new(settings),
            link_key: Keys::derive(settings.secret.reveal()).link,
            prototypes: Prototypes::new(plan.n_prototypes, plan.n_cells, settings.store.share_max)
                .keeping(plan.excerpt_rule),
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
            cell_ends: None,
        }
    }

    /// One that compares every document with all before it. `plan` has room for all of them.
    pub(super) fn exhaustive(settings: &Settings, plan: &Plan) -> Self {
        let mut settler = Self::new(settings, plan);
        settler.all = Some(Exhaustive::new(settings.store.cross_kinds));
        settler.clerk = Clerk::exhaustive(settings);
        settler.clusters.note_all();
        settler
    }

    pub(super) fn prototypes(&self) -> &Prototypes {
        &self.prototypes
    }

    pub(super) fn clusters(&self) -> &Clusters {
        &self.clusters
    }

    /// The papers of `arrival`; the lines of its keys are asked for.
    pub(super) fn papers<'a>(&self, arrival: &'a Arrival) -> Cow<'a, Papers> {
        let papers = self.clerk.papers(arrival);
        let keys = &papers.keys;
        self.seen.prefetch(keys.id);
        let families = [(&self.digests, &keys.digests), (&self.imatch, &keys.imatch), (&self.minhash, &keys.minhash)];
        // Where there is a frame, few are asked for their noise.
        let look = if keys.frames.is_empty() { (&self.styles, &keys.styles) } else { (&self.frames, &keys.frames) };
        for (index, keys) in families.into_iter().chain([look]) {
            keys.iter().for_each(|&key| index.prefetch(key));
        }
        papers
    }

    /// Settles the next document.
    pub(super) fn settle(&mut self, arrival: &Arrival, papers: &Papers) -> Settled {
        let Papers { keys, identity, .. } = papers;
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
            settled.heir_of = self.prototypes.head_of(own).filter(|head| *head == own);
            self.prototypes.replace(own, position);
        }
        let mut sighted = None;
        if let Some(identity) = identity {
            match recognised.unchanged() {
                Some(own) if self.prototypes.head_of(own) == Some(own) => {
                    settled.head = Some(own);
                    self.prototypes.join(own, 0, now_ms, false);
                    sighted = Some(own);
                }
                own => {
                    let counted = recognised.counted;
                    let newcomer = Arriving { arrival, keys, identity, position, now_ms, server, own, counted };
                    sighted = self.settle_text(&newcomer, &mut settled);
                }
            }
        }
        if let Some(look) = &keys.look {
            let member = member(arrival, keys, &settled, now_ms, recognised.sighting.is_some());
            settled.styled = self.settle_look(look, keys, member);
        }
        if let Some(head) = settled.head.and_then(|head| self.prototypes.get(head)) {
            settled.group = head.group();
        }
        let Counted { group, left } = recognised.counted;
        let left = match settled.head {
            // Its id is remembered by its own record, which stands for another group.
            Some(head) if sighted.and_then(|of| self.prototypes.head_of(of)) != Some(head) => Left::Group(head),
            // One that it headed itself may have gone with its last version: then it is the one before that which it has left.
            _ => {
                let is_another = |group: &Ref| settled.head != Some(*group) && self.prototypes.lives(*group);
                group.filter(is_another).map_or(left, Left::Group)
            }
        };
        let sighting = Sighting { content, of: sighted, left };
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
        let counted = sighting.map_or_else(Counted::default, |sighting| Counted {
            group: sighting.of.and_then(|of| self.prototypes.head_of(of)),
            left: sighting.left,
        });
        Recognised { content, sighting, recrawl, own, counted }
    }

    fn server(&self, arrival: &Arrival) -> Server {
        let domain = arrival.domain.as_ref().map_or(0, |domain| xxh3_64_with_seed(domain.as_bytes(), self.link_key));
        let ip = arrival.ip.map_or(0, |ip| xxh3_64(ip.to_string().as_bytes()));
        Server { domain, ip }
    }

    /// Whose share of the store a record counts for. The From domain of a mail is the sender's word alone: the address
    /// that it came from says more. A host that nobody registered (an address, a name of an intranet) is somebody all the same.
    fn owner(&self, arrival: &Arrival, server: Server) -> u64 {
        let is_known = arrival.signatures.kind == Kind::Page || arrival.authenticated_domain.is_some();
        match (server.domain, server.ip) {
            (0, 0) => {
                let host = arrival.url.as_deref().and_then(links::host);
                host.map_or(0, |host| xxh3_64_with_seed(host.as_bytes(), self.link_key))
            }
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
        let group = head.and_then(|head| self.prototypes.get(head)).map(|head| head.group());
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
}

/// What is known of the id of a document.
struct Recognised {
    content: u64,
    sighting: Option<Sighting>,
    recrawl: Option<Recrawl>,
    /// Its own record, if it had one.
    own: Option<Ref>,
    counted: Counted,
}

/// Where a document was counted when it came before, whatever it said then.
#[derive(Clone, Copy, Default)]
struct Counted {
    /// The head of its group.
    group: Option<Ref>,
    /// Another group.
    left: Left,
}

impl Counted {
    fn is_in(self, head: Ref) -> bool {
        self.group == Some(head) || self.left.is(head)
    }
}

impl Recognised {
    /// Its own record, if that says the same.
    fn unchanged(&self) -> Option<Ref> {
        self.own.filter(|_| self.recrawl == Some(Recrawl::Unchanged))
    }
}

/// A document that is being settled.
struct Arriving<'a> {
    arrival: &'a Arrival,
    keys: &'a SettleKeys,
    identity: &'a Identity,
    position: u64,
    now_ms: i64,
    server: Server,
    /// Its own record from before, unchanged.
    own: Option<Ref>,
    counted: Counted,
}

impl<'a> Arriving<'a> {
    /// What is compared with all others.
    fn document(&self) -> exhaustive::Document<'a> {
        let keys = self.keys;
        exhaustive::Document {
            kind: self.arrival.signatures.kind,
            id_key: keys.id,
            proof: &self.identity.proof,
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

fn hours_ms(hours: u64) -> i64 {
    i64::try_from(hours.saturating_mul(3_600_000)).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::super::seen::Mark;
    use super::super::tests::{arrival, settings};
    use super::super::{Arrival, Settled, Store};
    use crate::config::Settings;
    use crate::document::Kind;
    use crate::signature::Outcome;
    use crate::verdict::event::{Recrawl, Signal};

    fn settled(store: &mut Store, arrivals: &[Arrival]) -> Vec<Settled> {
        let settled = store.hits(arrivals, 1).0;
        store.end_batch();
        settled
    }

    /// The same by an exhaustive scan: groups as they are in the end.
    fn ended(settings: &Settings, arrivals: &[Arrival]) -> Vec<Settled> {
        Store::exhaustive(settings, arrivals).settle_all(arrivals, |_| std::ops::ControlFlow::Continue(()))
    }

    fn sizes(settled: &[Settled]) -> Vec<u32> {
        settled.iter().map(|settled| settled.group.0).collect()
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

    /// A copy that says a little more each time stays one document of its group, and so does one that was another text for a while.
    #[test]
    fn a_document_counts_once_in_a_group() {
        let growing = (0..20).map(|n| mail("b", 0..60 + n % 3));
        let turning = (0..20).flat_map(|_| [mail("c", 0..60), mail("c", 1000..1060)]);
        let both = (0..20).flat_map(|n| [mail("d", 0..60), mail("d", 0..60 + n), mail("d", 2000..2060)]);
        // Between two visits it heads groups of its own, one after the other.
        let wandering =
            (0..20).flat_map(|n| [0, 1000 + 200 * n, 1100 + 200 * n].map(|from| mail("e", from..from + 60)));
        for again in [growing.collect::<Vec<_>>(), turning.collect(), both.collect(), wandering.collect()] {
            let batch = [vec![mail("a", 0..60)], again, vec![mail("z", 0..60)]].concat();
            let mut store = Store::new(&settings(4 << 20));
            assert_eq!(settled(&mut store, &batch).last().unwrap().group.0, 3);
            assert_eq!(sizes(&ended(&settings(4 << 20), &batch)).last(), Some(&3));
        }
    }

    /// A further prototype of one group may come to another that began after it. There it counts once, and its id still leads to its
    /// own record.
    #[test]
    fn a_further_prototype_counts_once_in_another_group() {
        let mut settings = settings(4 << 20);
        settings.mirror.head_min = 0.79;
        // The second is 0.85 from the first, and the third 0.86 from it and 0.71 from the first.
        let began = [mail("a", 0..100), mail("b", 15..115), mail("c", 29..129)];
        let again = vec![mail("b", 15..115); 10];
        let batch = [began.to_vec(), again, vec![mail("d", 29..129)]].concat();
        let mut store = Store::new(&settings);
        let all = settled(&mut store, &batch);
        assert!(all[1].head == all[0].head && all[2].learns && all[3].head == all[2].head);
        assert_eq!(sizes(&all[3..]), [vec![2; 10], vec![3]].concat());
        assert_eq!(sizes(&ended(&settings, &batch)).last(), Some(&3));
    }

    /// A page that comes from one group through another to a third, whose mark is that of the first.
    #[test]
    fn an_exhaustive_scan_takes_no_group_for_another() {
        let text = |number: usize| 1000 * number as u64..1000 * number as u64 + 20;
        let others: Vec<Arrival> = (0..2500).map(|number| mail(&format!("other {number}"), text(number))).collect();
        let heads = ended(&settings(4 << 20), &others).into_iter().map(|settled| settled.head.unwrap());
        let mut marks = Vec::new();
        let (first, third) = heads
            .enumerate()
            .find_map(|(third, head)| {
                let first = marks.iter().position(|mark| *mark == Mark::of(head));
                marks.push(Mark::of(head));
                Some((first?, third))
            })
            .expect("there are 4,095 marks, and not that many are passed before one comes again");
        let second = (0..3).find(|second| ![first, third].contains(second)).unwrap();
        let batch = [others, [first, second, third].map(|number| mail("page", text(number))).to_vec()].concat();
        assert_eq!(sizes(&ended(&settings(4 << 20), &batch)[2500..]), [2, 2, 2]);
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
            mail.signatures.outcome = Outcome::Insufficient;
            mail.signatures.shown.minhash = None;
            mail.signatures.shown.digest = None;
        }
        assert!(settled(&mut store, &short).iter().all(|settled| settled.head.is_none() && !settled.learns));
    }
}
