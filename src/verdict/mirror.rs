//! Mirrors and relatives: whose copy a document is, in whom it is contained, and who else has some of its rare sentences.
//!
//! Copies were found and verified by settle. Sentences add overlap and containment, make a mirror of a page that is part of
//! another, and name the relatives; of those none has an effect on classes.
//!
//! # Invariants
//! - Who is part of another stays its own head and is in no one's size. (`a_part_stays_its_own_head`)
//! - Pages of one site are no parts of each other by what their site puts around everything.
//!   (`what_a_site_puts_around_its_pages_makes_no_mirrors`)

use super::event::{Mirror, Related, Signal, TextView};
use super::judge::{Found, Judge};
use super::kinship::{self, Circumstances, Kin, Name};
use super::relation::{Relation, SentenceScores};
use super::url_similarity::Origin;
use super::vicinity::{Address, Prose, Vicinity};
use crate::document::Kind;
use crate::store::{Arrival, Glance, Ref, Settled, Store};
use std::ops::Range;

/// The ids and URLs of relatives, end to end: most of them are asked about once and never named.
#[derive(Default)]
struct Names(String);

/// Where a name stands among [`Names`].
struct Place {
    id: Range<usize>,
    url: Option<Range<usize>>,
}

impl Names {
    fn add(&mut self, glance: &Glance<'_>) -> Place {
        let mut add = |name: &str| {
            self.0.push_str(name);
            self.0.len() - name.len()..self.0.len()
        };
        let id = add(glance.id());
        let url = glance.url().map(|url| if url == glance.id() { id.clone() } else { add(url) });
        Place { id, url }
    }

    fn get(&self, place: &Place) -> Name<'_> {
        Name { id: &self.0[place.id.clone()], url: place.url.clone().map(|url| &self.0[url]) }
    }
}

/// A head that shares rare sentences with a document, and is not that of its group.
struct Relative {
    of: Ref,
    name: Place,
    /// All its grams.
    n_grams: usize,
    scores: SentenceScores,
    /// The sentences in common.
    prose: Prose,
    /// Grams in common.
    n_common: u32,
    /// Whether the document links to it.
    is_linked: bool,
}

/// All that sentences say of a document.
#[derive(Default)]
pub(super) struct Kindred {
    pub(super) mirror: Option<Mirror>,
    pub(super) related: Vec<Related>,
    /// The scores to the head of its group, or to whom it shares most with.
    pub(super) closest: Option<SentenceScores>,
}

impl Judge {
    /// Whose copy or part a document is, and who is related. `links_here` knows which heads link to it.
    pub(super) fn kindred(
        &self,
        arrival: &Arrival,
        settled: &Settled,
        found: &Found<'_>,
        store: &Store,
        links_here: &dyn Fn(Ref) -> bool,
    ) -> Kindred {
        let scores = |kin: &Kin| {
            let that = store.sentence_chars(kin.of).unwrap_or(0);
            SentenceScores::of_lengths(kin.n_shared, kin.prose.n_chars, arrival.core_sentences.n_chars, that.into())
        };
        let to_head = found.kin.iter().find(|kin| Some(kin.of) == settled.head).map(scores).unwrap_or_default();
        let copy = self.copy_of(settled, &to_head);
        let (mut scratch, mut names) = (Vec::new(), Names::default());
        let relative = |kin: &Kin| {
            let glance = store.glance(kin.of, &mut scratch)?;
            let place = found.n_common.binary_search_by_key(&kin.of, |(of, _)| *of);
            let is_linked = self.is_linked(arrival, glance.url());
            let n_common = place.map_or(0, |place| found.n_common[place].1);
            Some(Relative {
                of: kin.of,
                name: names.add(&glance),
                n_grams: glance.n_grams(),
                scores: scores(kin),
                prose: kin.prose,
                n_common,
                is_linked,
            })
        };
        // Some more than are listed: whether a page takes from many decides what it is to each.
        let others = found.kin.iter().filter(|kin| Some(kin.of) != settled.head);
        let relatives: Vec<Relative> = others.take(4 * self.mirror.related_max).filter_map(relative).collect();
        let n_linked = relatives.iter().filter(|relative| relative.is_linked).count();
        let mut kindred = Kindred {
            closest: copy.as_ref().map(|_| to_head).or_else(|| relatives.first().map(|relative| relative.scores)),
            mirror: copy,
            related: Vec::new(),
        };
        let this = arrival.url.as_deref().map(Address::of);
        for relative in &relatives {
            let has_room = kindred.related.len() < self.mirror.related_max;
            let may_be_part = kindred.mirror.is_none() && self.is_part(arrival, relative);
            if !may_be_part && !has_room {
                continue;
            }
            let about = Circumstances {
                this_to_that: relative.is_linked,
                that_to_this: links_here(relative.of),
                n_kin: relatives.len(),
                n_linked,
                is_quilt: found.cover.is_quilt(&self.quilt),
            };
            let name = names.get(&relative.name);
            let that = name.url.map(Address::of);
            let origin = Origin::of(this.as_ref(), that.as_ref());
            let Some(relation) = kinship::leaf(&relative.scores, origin, &about) else { continue };
            let vicinity = || this.as_ref().zip(that.as_ref()).map(|(this, that)| this.vicinity(that));
            if may_be_part && self.is_text_of_both(arrival, relative, vicinity()) {
                kindred.mirror = Some(part(arrival, settled, relative, name, relation));
            } else if has_room {
                kindred.related.push(kinship::related(name, &relative.scores, relation));
            }
        }
        kindred
    }

    /// The mirror of a document that has joined a group. It is the same, whatever its sentences say: long ones may be few.
    fn copy_of(&self, settled: &Settled, to_head: &SentenceScores) -> Option<Mirror> {
        let joined = settled.joined.as_ref()?;
        let (size, domains) = settled.group;
        let relation = match joined.origin.is_similar() {
            true => Relation::Mirror,
            // A mail on many domains is a campaign, a page on many hosts what their servers bring with them.
            false if joined.card.kind == Kind::Page && domains >= self.mirror.boilerplate_domains_min => {
                Relation::Boilerplate
            }
            false => Relation::Copy,
        };
        Some(Mirror {
            of: joined.card.id.clone(),
            canonical: joined.canonical.clone(),
            url: joined.card.url().map(str::to_owned),
            resemblance: joined.likeness,
            overlap: to_head.overlap.get(),
            containment: to_head.containment.get(),
            direction: to_head.direction,
            relation,
            signals: joined.signals.clone(),
            view: joined.view,
            size,
            domains,
        })
    }

    /// Whether a page is part of another, or the other of it. A few long sentences between short ones make no excerpt: three
    /// fifths of the grams must say so too.
    fn is_part(&self, arrival: &Arrival, relative: &Relative) -> bool {
        let is_most = || {
            let n_grams = arrival.n_grams().min(relative.n_grams);
            n_grams > 0 && 5 * relative.n_common as usize >= 3 * n_grams
        };
        arrival.signatures.kind == Kind::Page
            && kinship::is_contained(&relative.scores, self.mirror.contained_chars_min)
            && is_most()
    }

    /// Whether what they have in common is more than what a site puts around its pages: of one site, it has to be nearly all of the
    /// smaller, and a text.
    fn is_text_of_both(&self, arrival: &Arrival, relative: &Relative, vicinity: Option<Vicinity>) -> bool {
        vicinity != Some(Vicinity::SameSite)
            || relative.scores.containment.get() >= self.mirror.site_containment_min
                && self.mirror.is_text(relative.prose, arrival.unspaced)
    }
}

fn part(arrival: &Arrival, settled: &Settled, relative: &Relative, name: Name<'_>, relation: Relation) -> Mirror {
    let Relative { n_grams, scores, n_common, .. } = relative;
    let n_union = arrival.n_grams() + n_grams - *n_common as usize;
    Mirror {
        of: name.id.to_owned(),
        canonical: name.id.to_owned(),
        url: name.url.map(str::to_owned),
        resemblance: f64::from(*n_common) / n_union as f64,
        overlap: scores.overlap.get(),
        containment: scores.containment.get(),
        direction: scores.shorter(),
        relation,
        signals: vec![Signal::Sentences],
        view: TextView::Core,
        size: settled.group.0,
        domains: settled.group.1,
    }
}
