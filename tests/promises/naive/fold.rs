//! The fold as anybody would write it down: all pairs compared, plain maps, exact counts.

use seamripper::config::Settings;
use seamripper::document::Kind;
use seamripper::document::links::Location;
use seamripper::signature::keyed::Keys;
use seamripper::signature::style::{BINS, Form};
use seamripper::signature::{Outcome, Signatures, cosine, frame};
use seamripper::store::Arrival;
use seamripper::verdict::cover::{BITS_MAX, Bits, Cloth};
use seamripper::verdict::relation::{self, SentenceScores};
use seamripper::verdict::vicinity::Vicinity;
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

    fn has_proof(&self, this: Of) -> bool {
        self.arrivals[this].signatures.outcome == Outcome::Signed
    }

    /// How alike two are, whether their cores agree, and whether that makes a copy.
    fn likeness(&self, this: Of, that: Of) -> Option<(f64, bool, bool)> {
        let (a, b) = (&self.arrivals[this].signatures, &self.arrivals[that].signatures);
        let slots = |of: &'a Signatures| match of.kind {
            // Of a page with little content all that is shown counts.
            Kind::Page => of.shown_shingles.as_ref().or(of.shingles.as_ref()),
            Kind::Email => None,
        };
        let slots = |of: &'a Signatures| slots(of).map(|shingles| shingles.slots().map(|slot| slot as u16));
        let mirror = &self.settings.mirror;
        let resemblance_min = match self.arrivals[this].unspaced {
            true => mirror.resemblance_min_unspaced,
            false => mirror.resemblance_min,
        };
        match (slots(a), slots(b)) {
            (Some(a), Some(b)) => {
                let score = a.iter().zip(&b).filter(|(a, b)| a == b).count() as f64 / a.len() as f64;
                let agrees = score >= 0.95 || self.content_likeness(this, that) >= resemblance_min / 2.0;
                Some((score, agrees, score >= resemblance_min && agrees))
            }
            (None, None) => {
                let is_mail = |of: &Signatures| of.kind == Kind::Email;
                if a.little_core.or(b.little_core).is_some() && is_mail(a) {
                    // Whose own words are too few for a text is like nobody with other ones.
                    let score = cosine(&a.shown.terms, &b.shown.terms);
                    let agrees = a.little_core == b.little_core;
                    return Some((score, agrees, score >= mirror.cosine_min && agrees));
                }
                let core = |of: &'a Signatures| of.core.as_ref().filter(|_| is_mail(of)).unwrap_or(&of.shown);
                let full = |of: &'a Signatures| of.full.as_ref().filter(|_| is_mail(of)).unwrap_or(&of.shown);
                let is_mostly_aside = [a, b].iter().any(|of| 2 * core(of).terms.len() < of.shown.terms.len());
                let core_min = if is_mostly_aside { mirror.cosine_min } else { mirror.core_cosine_min };
                let core = cosine(&core(a).terms, &core(b).terms);
                let score = [cosine(&a.shown.terms, &b.shown.terms), core, cosine(&full(a).terms, &full(b).terms)];
                let score = score.into_iter().fold(0.0, f64::max);
                let agrees = core >= core_min;
                let is_copy = score >= mirror.cosine_min && agrees;
                // The same body under another subject.
                let is_same = a.body.is_some() && a.body == b.body;
                Some(if is_same && !is_copy { (BY_BODY, true, true) } else { (score, agrees, is_copy) })
            }
            _ => None,
        }
    }

    /// How much of their content agrees, of two pages one of which is compared by all that it shows.
    fn content_likeness(&self, this: Of, that: Of) -> f64 {
        let (a, b) = (&self.arrivals[this].signatures, &self.arrivals[that].signatures);
        let n_whole = [a, b].into_iter().filter(|of| of.shown_shingles.is_some()).count();
        match (&a.shingles, &b.shingles) {
            (Some(a), Some(b)) if n_whole > 0 => {
                let slots = a.slots().iter().zip(b.slots()).take(64);
                slots.filter(|(a, b)| **a as u8 == **b as u8).count() as f64 / 64.0
            }
            (Some(_), None) | (None, Some(_)) if n_whole == 2 => 0.0,
            _ => 1.0,
        }
    }

    /// Whether all that one shows is a text of the other.
    fn shows_a_text_of(&self, this: Of, that: Of) -> bool {
        let (a, b) = (&self.arrivals[this].signatures, &self.arrivals[that].signatures);
        let views = [Some(&b.shown), b.core.as_ref(), b.full.as_ref()];
        a.shown.digest.is_some() && views.into_iter().flatten().any(|view| view.digest == a.shown.digest)
    }

    /// Whether two are of different sites, of one page, or have enough of a text in common.
    fn is_more_than_its_site(&self, this: Of, that: Of, score: f64) -> bool {
        let core = core_sentences(&self.arrivals[this].signatures);
        !self.are_of_one_site(this, that)
            || score.min(self.content_likeness(this, that)) >= self.settings.mirror.site_resemblance_min
                && self.is_text(this, core.into_iter().map(|(number, _)| number))
    }

    /// Whether two pages are of one site, under two addresses.
    fn are_of_one_site(&self, this: Of, that: Of) -> bool {
        let (a, b) = (&self.arrivals[this], &self.arrivals[that]);
        a.url.as_deref().zip(b.url.as_deref()).is_some_and(|(a, b)| Vicinity::of(a, b) == Vicinity::SameSite)
    }

    /// Whether sentences of a page are enough of a text.
    fn is_text(&self, this: Of, sentences: impl Iterator<Item = u16>) -> bool {
        let part = if self.arrivals[this].unspaced { 2 } else { 1 };
        let (mut n_chars, mut n_prose_chars) = (0, 0);
        for number in sentences {
            let n = self.arrivals[this].signatures.sentences[usize::from(number)].n_chars;
            (n_chars, n_prose_chars) = (n_chars + n, n_prose_chars + if n >= 60 / part { n } else { 0 });
        }
        n_prose_chars >= self.settings.mirror.site_chars_min / part && 4 * n_prose_chars >= 3 * n_chars
    }

    /// The score of the nearest prototype and the head of its group.
    fn nearest(&self, this: Of) -> Option<(f64, Of)> {
        let others = self.prototypes.keys().filter(|of| self.kind(**of) == self.kind(this));
        let others = others.filter(|of| self.id(**of) != self.id(this));
        let mut copies: Vec<(f64, Of)> = others
            .filter_map(|&of| self.likeness(this, of).filter(|(.., is_copy)| *is_copy).map(|(score, ..)| (score, of)))
            .filter(|&(score, of)| self.shows_a_text_of(this, of) || self.is_more_than_its_site(this, of, score))
            .collect();
        let is_by_body = |score: f64| score == BY_BODY;
        copies.sort_by(|a, b| is_by_body(a.0).cmp(&is_by_body(b.0)).then(b.0.total_cmp(&a.0)).then(a.1.cmp(&b.1)));
        copies.into_iter().find_map(|(score, of)| {
            let head = self.prototypes[&of].head;
            let (to_head, agrees, _) = self.likeness(this, head).unwrap_or_default();
            let joins = self.id(head) != self.id(this)
                && agrees
                && to_head >= self.settings.mirror.head_min
                && (of == head || self.is_more_than_its_site(this, head, to_head));
            joins.then_some((score, head))
        })
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

    fn cloth(&self, of: Of) -> Cloth<'static> {
        let arrival = &self.arrivals[of];
        let n_words = arrival.signatures.n_core_words;
        let (window, quilt) = (self.settings.grams.window, &self.settings.quilt);
        Cloth::new(arrival.places.clone(), n_words, arrival.unspaced, BITS_MAX, window, quilt)
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

    /// The sources of `this` among the `known`, if they make a quilt, and whether so much stands in them as in one.
    fn cover(&self, this: Of, cloth: &Cloth<'_>, known: &[Known]) -> (BTreeSet<Of>, bool) {
        let is_quilt = |of: &Of| self.standings.get(of).is_some_and(|standing| standing.is_quilt);
        let mut sources: Vec<&Known> = known.iter().filter(|(of, _, _)| !is_quilt(of)).collect();
        let covered = |sources: &[&Known]| {
            let sources = self.without_parts(this, sources);
            let cover = cloth.cover(sources.iter().map(|(_, bits, _)| bits));
            let is_one = cover.is_quilt(&self.settings.quilt);
            let named = cover.sources.iter().filter(|_| is_one).map(|source| sources[source.number].0);
            (named.collect::<BTreeSet<Of>>(), cover.fraction >= self.settings.quilt.fraction_min)
        };
        let mut found = covered(&sources);
        if found.0.is_empty() && found.1 && !self.settings.quilt.quilts_are_sources {
            // Without those that are made of others themselves.
            let is_patchwork = |of: &Of| self.standings.get(of).is_some_and(|standing| standing.is_patchwork);
            let whole: Vec<&Known> = sources.iter().copied().filter(|(of, _, _)| !is_patchwork(of)).collect();
            let by_whole = covered(&whole);
            if !by_whole.0.is_empty() {
                (sources, found) = (whole, by_whole);
            }
        }
        if found.0.is_empty() || self.settings.quilt.quoters_are_sources {
            return found;
        }
        // Who links here, and is not linked to from here, took from here.
        sources.retain(|(of, _, _)| !self.links_to(*of, this) || self.links_to(this, *of));
        covered(&sources)
    }

    /// Those that do not have their words from `this`: who lies in it and shows another piece of it than others that overlap, or has half
    /// of what it has in common with such ones before it.
    fn without_parts<'b>(&self, this: Of, sources: &[&'b Known]) -> Vec<&'b Known> {
        if self.settings.quilt.parts_are_sources {
            return sources.to_vec();
        }
        let union = |group: &[&Bits]| {
            let mut union = Bits::new();
            group.iter().for_each(|bits| union.add(bits));
            union
        };
        let excerpts = |with_later: bool| -> Vec<Bits> {
            let mut groups: Vec<Vec<&Bits>> = Vec::new();
            for (_, bits, _) in sources.iter().filter(|(of, _, is_part)| *is_part && (with_later || *of < this)) {
                let mut own = vec![bits];
                for group in std::mem::take(&mut groups) {
                    let (a, b) = (union(&own), union(&group));
                    let n_common = f64::from(a.count_within(&b));
                    if n_common >= 0.25 * f64::from(a.count().min(b.count())) {
                        own.extend(group);
                    } else {
                        groups.push(group);
                    }
                }
                groups.push(own);
            }
            let n_all = |group: &[&Bits]| f64::from(union(group).count());
            let n_held = |group: &[&Bits]| f64::from(group.iter().map(|bits| bits.count()).sum::<u32>());
            let n_most = |group: &[&Bits]| f64::from(group.iter().map(|bits| bits.count()).max().unwrap());
            groups.retain(|group| n_held(group) >= 1.5 * n_all(group) && n_most(group) < 0.8 * n_all(group));
            groups.iter().map(|group| union(group)).collect()
        };
        let (all, before) = (excerpts(true), excerpts(false));
        let is_excerpt = |bits: &Bits| all.iter().any(|group| bits.count_without(group) == 0);
        let is_lent = |bits: &Bits| before.iter().any(|group| 2 * bits.count_within(group) >= bits.count());
        let is_kept = |(_, bits, is_part): &&&Known| !(is_lent(bits) || *is_part && is_excerpt(bits));
        sources.iter().filter(is_kept).copied().collect()
    }

    /// The sources of a quilt; none for what is none.
    fn judge_quilt(&mut self, this: Of, head: Option<Of>, learns: bool, hits: &[(u16, Of, u16)]) -> BTreeSet<Of> {
        let mut shared = BTreeMap::<Of, Vec<(u16, u16)>>::new();
        for &(mine, of, theirs) in hits.iter().filter(|(_, of, _)| Some(*of) != head) {
            if !self.are_one_server(this, of) {
                shared.entry(of).or_default().push((mine, theirs));
            }
        }
        let mut shared: Vec<(Of, Vec<(u16, u16)>)> = shared.into_iter().collect();
        shared.sort_by_key(|(_, grams)| Reverse(grams.len()));
        shared.truncate(64);
        let cloth = self.cloth(this);
        let bits = |cloth: &Cloth<'_>, numbers: &mut dyn Iterator<Item = u16>| {
            let mut bits = Bits::new();
            numbers.for_each(|number| bits.set(cloth.bit(number.into())));
            bits
        };
        let n_grams = |of: Of| self.arrivals[of].n_grams();
        let is_part = |of: Of, n_shared: usize| n_grams(of) > 0 && 5 * n_shared >= 3 * n_grams(of);
        let known = shared
            .iter()
            .map(|(of, grams)| (*of, bits(&cloth, &mut grams.iter().map(|gram| gram.0)), is_part(*of, grams.len())));
        let known = known.filter(|(_, bits, _)| bits.count() >= cloth.grams_min());
        let quilts = |naive: &Self| -> BTreeSet<Of> {
            naive.standings.iter().filter(|(_, standing)| standing.is_quilt).map(|(of, _)| *of).collect()
        };
        let before = quilts(self);
        let mut known: Vec<Known> = known.collect();
        known = remembered(&known, self.settings.quilt.remembered_max, &before);
        let (mut named, _) = self.cover(this, &cloth, &known);
        if learns {
            // Sources that are quilts as soon as they know of this one took from it.
            let is_taker = |of: &Of| {
                let grams = shared.iter().find(|(source, _)| source == of).map(|(_, grams)| grams);
                let (theirs, Some(grams), Some(standing)) = (self.cloth(*of), grams, self.standings.get(of)) else {
                    return false;
                };
                if !self.settings.quilt.quoters_are_sources && self.links_to(this, *of) && !self.links_to(*of, this) {
                    return false;
                }
                let mut sources = standing.sources.clone();
                sources.retain(|(source, _, _)| self.prototypes.contains_key(source));
                let bits = bits(&theirs, &mut grams.iter().map(|gram| gram.1));
                sources.push((this, bits, is_part(this, grams.len())));
                !self.cover(*of, &theirs, &sources).0.is_empty()
            };
            let takers: BTreeSet<Of> = named.iter().copied().filter(is_taker).collect();
            let others: Vec<Known> = known.iter().filter(|(of, _, _)| !takers.contains(of)).cloned().collect();
            let is_patchwork;
            (named, is_patchwork) = self.cover(this, &cloth, &others);
            let is_quilt = !named.is_empty();
            let standing = Standing { sources: known, named: named.clone(), is_quilt, is_patchwork, is_queued: false };
            self.standings.insert(this, standing);
            let now = quilts(self);
            let parts: Vec<bool> = shared.iter().map(|(_, grams)| is_part(this, grams.len())).collect();
            for ((of, grams), is_part) in shared.iter().zip(parts) {
                let theirs = self.cloth(*of);
                let bits = bits(&theirs, &mut grams.iter().map(|gram| gram.1));
                if !self.settings.quilt.quoters_are_sources && self.links_to(this, *of) && !self.links_to(*of, this) {
                    continue;
                }
                let Some(standing) = self.standings.get_mut(of).filter(|_| bits.count() >= theirs.grams_min()) else {
                    continue;
                };
                standing.sources.push((this, bits, is_part));
                standing.sources.sort_by_key(|(_, bits, _)| Reverse(bits.count()));
                standing.sources = remembered(&standing.sources, self.settings.quilt.remembered_max, &now);
                if standing.sources.iter().any(|(source, _, _)| *source == this) {
                    self.enqueue(*of);
                }
            }
        }
        named
    }

    fn enqueue(&mut self, of: Of) {
        if let Some(standing) = self.standings.get_mut(&of).filter(|standing| !standing.is_queued) {
            standing.is_queued = true;
            self.queue.push_back(of);
        }
    }

    /// Looks at the next in the queue again; whether there was one.
    fn revise_next(&mut self) -> bool {
        let Some(of) = std::iter::from_fn(|| self.queue.pop_front()).find(|of| self.standings.contains_key(of)) else {
            return false;
        };
        let mut standing = self.standings[&of].clone();
        standing.is_queued = false;
        let lives = |of: &Of| self.prototypes.contains_key(of);
        if standing.named.iter().all(lives) {
            standing.sources.retain(|(source, _, _)| lives(source));
            let sources: Vec<Of> = standing.sources.iter().map(|source| source.0).collect();
            let (named, is_patchwork) = self.cover(of, &self.cloth(of), &standing.sources);
            let turns = (named.is_empty(), is_patchwork) != (!standing.is_quilt, standing.is_patchwork);
            (standing.is_quilt, standing.is_patchwork) = (!named.is_empty(), is_patchwork);
            if named == standing.named {
                // Those that have given way stay in its memory.
                standing.sources = self.standings[&of].sources.clone();
            } else {
                standing.named = named.clone();
                self.said[of].sources = named.iter().map(|of| self.id(*of).to_owned()).collect();
            }
            self.standings.insert(of, standing);
            if turns {
                sources.into_iter().for_each(|source| self.enqueue(source));
            }
            return true;
        }
        self.standings.get_mut(&of).unwrap().is_queued = false;
        true
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

    fn has_look(&self, this: Of) -> bool {
        let signatures = &self.arrivals[this].signatures;
        let noise = signatures.style.as_ref().and_then(|style| style.tag_noise.as_ref());
        let is_nothing = signatures.kind == Kind::Email && signatures.outcome == Outcome::Insufficient;
        !is_nothing && (signatures.frame.is_some() || noise.is_some())
    }

    /// How alike two look, 0 for what is not of one template.
    fn look(&self, this: Of, that: Of) -> f64 {
        let settings = &self.settings.template;
        let (a, b) = (&self.arrivals[this].signatures, &self.arrivals[that].signatures);
        let form =
            |of: &'a Signatures| of.style.as_ref().and_then(|style| style.tag_noise.as_ref()).map(|noise| &noise.form);
        let n_bins = match (form(a), form(b)) {
            (Some(Form::Bins(a)), Some(Form::Bins(b))) => a.matching(b) as u32,
            (Some(Form::Digest(a)), Some(Form::Digest(b))) if a == b => BINS as u32,
            _ => 0,
        };
        let both_have_bins = [a, b].iter().all(|of| matches!(form(of), Some(Form::Bins(_))));
        let style = f64::from(n_bins) / BINS as f64;
        match (&a.frame, &b.frame) {
            (Some(a), Some(b)) => {
                let similarity = frame::similarity(a.slots(), b.slots());
                let are_bare = a.stylesheets.is_empty() && b.stylesheets.is_empty();
                let agree = a.stylesheets_agree(b)
                    && similarity >= settings.frame_min
                    && !(are_bare && both_have_bins && n_bins < settings.bins_beside_min);
                let share_a_sheet = a.stylesheets.iter().any(|sheet| b.stylesheets.contains(sheet));
                if agree {
                    similarity
                } else if !share_a_sheet && n_bins >= settings.bins_alone_min && similarity >= settings.frame_beside_min
                {
                    style
                } else {
                    0.0
                }
            }
            _ if n_bins >= settings.bins_min => style,
            _ => 0.0,
        }
    }

    /// The founder of its cluster, from the second page on, and the cluster's size.
    fn settle_look(&mut self, this: Of, is_known: bool) -> (Option<Of>, u32) {
        if !self.has_look(this) {
            return (None, 0);
        }
        let told = |naive: &Self, number: usize| {
            let cluster = naive.clusters[number].as_ref().unwrap();
            (Some(cluster.founder), cluster.size)
        };
        let alike = self.leaders.keys().filter(|of| self.kind(**of) == self.kind(this));
        let alike = alike.map(|&of| (self.look(this, of), of)).filter(|(score, _)| *score > 0.0);
        let mut alike: Vec<(f64, Of)> = alike.collect();
        alike.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        if let Some((_, of)) = alike.iter().find(|(_, of)| self.id(*of) == self.id(this)) {
            return self.leaders[of].map_or((None, 0), |number| told(self, number));
        }
        let Some(&(score, best)) = alike.first() else {
            self.leaders.insert(this, None);
            return (None, 0);
        };
        let settings = &self.settings.template;
        let mut number = self.cluster_of(best);
        for &(other_score, of) in &alike[1..] {
            let is_other = self.leaders.get(&of).is_some_and(|other| *other != Some(number));
            if is_other && score >= settings.merge_min && other_score >= settings.merge_min {
                let other = self.cluster_of(of);
                number = self.merge(number, other);
            }
        }
        let cluster = self.clusters[number].as_mut().unwrap();
        cluster.size += u32::from(!is_known);
        if score < settings.leader_below && !cluster.is_merged && cluster.leaders.len() < settings.leaders_max {
            cluster.leaders.push(this);
            self.leaders.insert(this, Some(number));
        }
        told(self, number)
    }

    fn cluster_of(&mut self, leader: Of) -> usize {
        if let Some(number) = self.leaders[&leader] {
            return number;
        }
        self.clusters.push(Some(Cluster { leaders: vec![leader], is_merged: false, size: 1, founder: leader }));
        self.leaders.insert(leader, Some(self.clusters.len() - 1));
        self.clusters.len() - 1
    }

    fn merge(&mut self, a: usize, b: usize) -> usize {
        let founder = |number: usize| self.clusters[number].as_ref().unwrap().founder;
        let (older, younger) = if founder(a) <= founder(b) { (a, b) } else { (b, a) };
        let gone = self.clusters[younger].take().unwrap();
        let stays = self.clusters[older].as_mut().unwrap();
        (stays.size, stays.is_merged) = (stays.size + gone.size, true);
        stays.leaders.extend(gone.leaders);
        stays.leaders.sort_unstable();
        for leader in stays.leaders.split_off(stays.leaders.len().min(8)) {
            self.leaders.remove(&leader);
        }
        for leader in &stays.leaders {
            self.leaders.insert(*leader, Some(older));
        }
        older
    }
}

/// The sources that are remembered: as they stand, but `quilts` behind the others; and where these are too many, before the quilts those
/// whose words four that are kept have all.
fn remembered(sources: &[Known], n_max: usize, quilts: &BTreeSet<Of>) -> Vec<Known> {
    let (shut, open): (Vec<Known>, Vec<Known>) = sources.iter().cloned().partition(|(of, _, _)| quilts.contains(of));
    let (mut kept, mut repeated): (Vec<Known>, Vec<Known>) = (Vec::new(), Vec::new());
    for source in open {
        let n_alike = kept.iter().filter(|(_, bits, _)| source.1.count_within(bits) == source.1.count()).count();
        if sources.len() > n_max && n_alike >= 4 { &mut repeated } else { &mut kept }.push(source);
    }
    [kept, repeated, shut].concat().into_iter().take(n_max).collect()
}

/// The distinct long sentences of the core, with the number of the first of each.
fn core_sentences(signatures: &Signatures) -> Vec<(u16, u64)> {
    let mut seen = BTreeSet::new();
    let core = (0_u16..).zip(&signatures.sentences).filter(|(_, sentence)| sentence.core);
    core.filter(|(_, sentence)| seen.insert(sentence.hash)).map(|(number, sentence)| (number, sentence.hash)).collect()
}
