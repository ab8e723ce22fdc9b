//! The fold as anybody would write it down: all pairs compared, plain maps, exact counts.

mod likeness;
mod look;
mod quilt;

use seamripper::config::Settings;
use seamripper::document::Kind;
use seamripper::document::links::Location;
use seamripper::signature::Signatures;
use seamripper::signature::keyed::Keys;
use seamripper::store::Arrival;
use seamripper::verdict::cover::Bits;
use seamripper::verdict::relation;
use seamripper::verdict::relation::SentenceScores;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

/// A stored document by the number of its arrival, which is its age too.
type Of = usize;

/// Grams that others have: the number here, whose, the number there.
type GramHits = Vec<(u16, Of, u16)>;
/// Sentences that others have: the number here, whose.
type SentenceHits = Vec<(u16, Of)>;

/// The score of mails that have their bodies alone in common: that of the bodies, and none that a cosine has.
const BY_BODY: f64 = 2.0;

struct Prototype {
    head: Of,
    n_further: usize,
}

/// Who holds a key: the living first few, the newest first, and how many there have been.
#[derive(Default)]
struct Owners {
    of: Vec<(Of, u16)>,
    n_counted: usize,
}

/// A source of a document: the grams of the document that it has, and whether most of its own are among them.
type Known = (Of, Bits, bool);

#[derive(Clone)]
struct Standing {
    sources: Vec<Known>,
    named: BTreeSet<Of>,
    is_quilt: bool,
    is_patchwork: bool,
    is_queued: bool,
}

#[derive(Clone)]
struct Cluster {
    leaders: Vec<Of>,
    is_merged: bool,
    size: u32,
    founder: Of,
}

/// What is said of a document.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Said {
    pub(super) mirror: Option<String>,
    /// Of its group, where it joined one.
    pub(super) size: Option<u32>,
    pub(super) sources: BTreeSet<String>,
    pub(super) is_template: bool,
    /// The arrival that its cluster began with.
    pub(super) cluster: Option<Of>,
}

pub(super) struct Naive<'a> {
    settings: &'a Settings,
    arrivals: &'a [Arrival],
    prototypes: BTreeMap<Of, Prototype>,
    /// Who has ever joined the group of a head, each once.
    members: HashMap<Of, BTreeSet<(u8, &'a str)>>,
    seen: HashMap<(u8, &'a str), (u128, Option<Of>)>,
    grams: HashMap<(u8, u64), Owners>,
    sentences: HashMap<(u8, u64), Owners>,
    sentence_counts: HashMap<(u8, u64), u32>,
    standings: HashMap<Of, Standing>,
    queue: VecDeque<Of>,
    /// Leaders with the number of their cluster.
    leaders: BTreeMap<Of, Option<usize>>,
    clusters: Vec<Option<Cluster>>,
    said: Vec<Said>,
}

impl<'a> Naive<'a> {
    pub(super) fn new(settings: &'a Settings, arrivals: &'a [Arrival]) -> Self {
        Self {
            settings,
            arrivals,
            prototypes: BTreeMap::new(),
            members: HashMap::new(),
            seen: HashMap::new(),
            grams: HashMap::new(),
            sentences: HashMap::new(),
            sentence_counts: HashMap::new(),
            standings: HashMap::new(),
            queue: VecDeque::new(),
            leaders: BTreeMap::new(),
            clusters: Vec::new(),
            said: Vec::new(),
        }
    }

    /// What is said of each arrival when it comes, and what in the end.
    pub(super) fn folded(mut self) -> (Vec<Said>, Vec<Said>) {
        let mut at_once = Vec::new();
        for this in 0..self.arrivals.len() {
            self.arrive(this);
            at_once.push(self.said[this].clone());
            for _ in 0..self.settings.revisions.per_document {
                self.revise_next();
            }
        }
        while self.revise_next() {}
        (at_once, self.said)
    }

    fn key(&self, this: Of) -> (u8, &'a str) {
        (self.kind(this), &self.arrivals[this].id)
    }

    fn kind(&self, this: Of) -> u8 {
        self.arrivals[this].signatures.kind as u8
    }

    fn id(&self, this: Of) -> &'a str {
        &self.arrivals[this].id
    }

    fn arrive(&mut self, this: Of) {
        let signatures = &self.arrivals[this].signatures;
        let content = signatures.shown.digest.unwrap_or(u128::from(signatures.n_words));
        let sighting = self.seen.get(&self.key(this)).copied();
        let is_unchanged = sighting.is_some_and(|(other, _)| other == content);
        let own = sighting.and_then(|(_, of)| of);
        let own = own.filter(|of| self.prototypes.contains_key(of) && self.id(*of) == self.id(this));
        let mut heir_of = None;
        if let (Some(own), false) = (own, is_unchanged) {
            heir_of = Some(own).filter(|own| self.prototypes[own].head == *own);
            self.replace(own);
        }
        let own = own.filter(|_| is_unchanged);
        let (mut head, mut learns, mut joined, mut sighted) = (None, false, None, None);
        if self.has_proof(this) {
            match (own, self.nearest(this)) {
                (Some(own), _) if self.prototypes[&own].head == own => (head, sighted) = (Some(own), Some(own)),
                (Some(own), None) => (head, sighted) = (Some(self.prototypes[&own].head), Some(own)),
                (None, None) => {
                    self.prototypes.insert(this, Prototype { head: this, n_further: 0 });
                    (head, sighted, learns) = (Some(this), Some(this), true);
                }
                (own, Some((score, of))) => {
                    let mirror = &self.settings.mirror;
                    (head, joined, sighted) = (Some(of), Some(of), Some(own.unwrap_or(of)));
                    let n_further = self.prototypes[&of].n_further;
                    if own.is_none() && score < mirror.prototype_below && 1 + n_further < mirror.prototypes_max {
                        self.prototypes.insert(this, Prototype { head: of, n_further: 0 });
                        self.prototypes.get_mut(&of).unwrap().n_further += 1;
                        sighted = Some(this);
                    }
                }
            }
        }
        let n_members = head.map(|head| {
            let members = self.members.entry(head).or_default();
            members.insert((self.arrivals[this].signatures.kind as u8, &self.arrivals[this].id));
            members.len() as u32
        });
        let (cluster, size) = self.settle_look(this, sighting.is_some());
        self.seen.insert(self.key(this), (content, sighted));
        let (gram_hits, sentence_hits) = self.hits(this);
        if learns {
            self.learn(this, heir_of);
        }
        self.standings.retain(|of, _| self.prototypes.contains_key(of));
        let mut sources = self.judge_quilt(this, head, learns, &gram_hits);
        // A copy follows its head.
        if joined.is_some_and(|of| !self.standings.get(&of).is_some_and(|standing| standing.is_quilt)) {
            sources.clear();
        }
        let contained = self.contained(this, head, &sentence_hits, &gram_hits);
        self.said.push(Said {
            mirror: joined.or(contained).map(|of| self.id(of).to_owned()),
            size: joined.and(n_members),
            sources: sources.iter().map(|of| self.id(*of).to_owned()).collect(),
            is_template: cluster.is_some() && size >= self.settings.template.size_min,
            cluster,
        });
    }

    fn replace(&mut self, own: Of) {
        let head = self.prototypes[&own].head;
        if head == own {
            self.prototypes.retain(|_, prototype| prototype.head != own);
        } else {
            self.prototypes.remove(&own);
            self.prototypes.get_mut(&head).unwrap().n_further -= 1;
        }
    }

    /// Hits of grams (mine, whose, theirs) and of sentences (mine, whose).
    fn hits(&self, this: Of) -> (GramHits, SentenceHits) {
        let (signatures, kind) = (&self.arrivals[this].signatures, self.kind(this));
        let lives = |of: Of| self.prototypes.contains_key(&of);
        let (mut grams, mut sentences) = (Vec::new(), Vec::new());
        for (mine, gram) in (0_u16..).zip(&signatures.grams) {
            let Some(owners) = self.grams.get(&(kind, gram.hash)) else { continue };
            if owners.n_counted.min(255) <= self.settings.quilt.gram_df_max.into() {
                let of = owners.of.iter().filter(|(of, _)| lives(*of));
                grams.extend(of.map(|&(of, theirs)| (mine, of, theirs)));
            }
        }
        for (mine, hash) in core_sentences(signatures) {
            let is_rare = self
                .sentence_counts
                .get(&(kind, hash))
                .is_none_or(|n| *n <= self.settings.mirror.sentence_df_max.into());
            if let (Some(owners), true) = (self.sentences.get(&(kind, hash)), is_rare) {
                sentences.extend(owners.of.iter().filter(|(of, _)| lives(*of)).map(|&(of, _)| (mine, of)));
            }
        }
        (self.each_once(this, &grams), sentences)
    }

    /// The hits without those of grams that are said again. Of each gram that stands several times one is left for each source: the
    /// nearest to a gram of that source which stands once, or the first.
    fn each_once(&self, this: Of, hits: &[(u16, Of, u16)]) -> GramHits {
        let hash = |hit: &(u16, Of, u16)| self.arrivals[this].signatures.grams[usize::from(hit.0)].hash;
        let of_gram = |hit: &(u16, Of, u16)| {
            hits.iter().filter(|other| other.1 == hit.1 && hash(other) == hash(hit)).copied().collect::<Vec<_>>()
        };
        let distance = |hit: &(u16, Of, u16)| {
            let singles = hits.iter().filter(|other| other.1 == hit.1 && of_gram(other).len() == 1);
            singles.map(|other| other.0.abs_diff(hit.0)).min().unwrap_or(u16::MAX)
        };
        let is_taken = |hit: &&(u16, Of, u16)| {
            let same = of_gram(hit);
            same.len() == 1 || same.iter().min_by_key(|other| distance(other)) == Some(hit)
        };
        hits.iter().filter(is_taken).copied().collect()
    }

    fn learn(&mut self, this: Of, heir_of: Option<Of>) {
        let (signatures, kind) = (&self.arrivals[this].signatures, self.kind(this));
        let prototypes = &self.prototypes;
        let post = |owners: &mut Owners, number: u16, n_first: usize, n_max: usize| {
            if owners.of.iter().any(|(of, _)| *of == this) {
                return false;
            }
            // The next version of a page takes the place of the last, and is counted with it.
            let is_heir = owners.of.iter().any(|(of, _)| Some(*of) == heir_of);
            owners.of.retain(|(of, _)| prototypes.contains_key(of));
            // The last version may have been counted and not be kept.
            let is_kept = owners.of.len() < n_max || n_first < n_max;
            let is_one_more = !is_heir && (owners.of.is_empty() || is_kept || heir_of.is_none());
            owners.n_counted = if owners.of.is_empty() { 1 } else { owners.n_counted + usize::from(is_one_more) };
            if owners.of.len() >= n_max && n_first < n_max {
                owners.of.remove(n_max - n_first - 1);
            }
            if owners.of.len() < n_max {
                owners.of.insert(0, (this, number));
            }
            is_one_more
        };
        for (number, gram) in (0_u16..).zip(&signatures.grams) {
            let n_max = self.settings.quilt.owners_max;
            post(self.grams.entry((kind, gram.hash)).or_default(), number, n_max.div_ceil(2), n_max);
        }
        for (number, hash) in core_sentences(signatures) {
            if post(self.sentences.entry((kind, hash)).or_default(), number, 4, 4) {
                *self.sentence_counts.entry((kind, hash)).or_default() += 1;
            }
        }
    }

    fn are_one_server(&self, a: Of, b: Of) -> bool {
        let (a, b) = (&self.arrivals[a], &self.arrivals[b]);
        a.domain.is_some() && a.domain == b.domain || a.ip.is_some() && a.ip == b.ip
    }

    /// Whether `of` links to the URL of `this`.
    fn links_to(&self, of: Of, this: Of) -> bool {
        let key = Keys::derive(self.settings.secret.reveal()).link;
        let link = self.arrivals[this].url.as_deref().map(|url| Location::of(url).key(key));
        link.is_some_and(|link| self.arrivals[of].signatures.links.contains(&link))
    }

    /// Who a page is part of, or is part of it: by its sentences, and by three fifths of the grams of the smaller.
    fn contained(&self, this: Of, head: Option<Of>, hits: &[(u16, Of)], grams: &[(u16, Of, u16)]) -> Option<Of> {
        let signatures = &self.arrivals[this].signatures;
        let mut kin = BTreeMap::<Of, (u32, u64)>::new();
        for (mine, of) in hits.iter().filter(|(_, of)| Some(*of) != head) {
            let (n, n_chars) = kin.entry(*of).or_default();
            (*n, *n_chars) = (*n + 1, *n_chars + u64::from(signatures.sentences[usize::from(*mine)].n_chars));
        }
        let chars = |of: Of| {
            let signatures = &self.arrivals[of].signatures;
            let core = core_sentences(signatures).into_iter();
            core.map(|(number, _)| u64::from(signatures.sentences[usize::from(number)].n_chars)).sum::<u64>()
        };
        let n_grams = |of: Of| self.arrivals[of].n_grams();
        let has_grams = |of: Of| {
            let (n, n_common) = (n_grams(this).min(n_grams(of)), grams.iter().filter(|gram| gram.1 == of).count());
            n > 0 && 5 * n_common >= 3 * n
        };
        let mut kin: Vec<(Of, (u32, u64))> = kin.into_iter().collect();
        kin.sort_by_key(|(_, (_, n_chars))| Reverse(*n_chars));
        let is_contained = |&(of, (n, n_chars)): &(Of, (u32, u64))| {
            let scores = SentenceScores::of_lengths(n, n_chars, chars(this), chars(of));
            let is_part = matches!(scores.class(), Some(relation::Class::Identical | relation::Class::Contained));
            let n_chars_min = self.settings.mirror.contained_chars_min.into();
            let is_part = is_part && n >= 2 && chars(this).min(chars(of)) >= n_chars_min && has_grams(of);
            let shared = hits.iter().filter(|hit| hit.1 == of).map(|hit| hit.0);
            is_part
                && (!self.are_of_one_site(this, of)
                    || scores.containment.get() >= self.settings.mirror.site_containment_min
                        && self.is_text(this, shared))
        };
        let found = kin.into_iter().take(4 * self.settings.mirror.related_max).find(is_contained);
        found.map(|(of, _)| of).filter(|_| signatures.kind == Kind::Page)
    }
}

/// The distinct long sentences of the core, with the number of the first of each.
fn core_sentences(signatures: &Signatures) -> Vec<(u16, u64)> {
    let mut seen = BTreeSet::new();
    let core = (0_u16..).zip(&signatures.sentences).filter(|(_, sentence)| sentence.core);
    core.filter(|(_, sentence)| seen.insert(sentence.hash)).map(|(number, sentence)| (number, sentence.hash)).collect()
}
