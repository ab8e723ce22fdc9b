//! What a document shares in rare long sentences with each of the heads before it, and which leaf of the tree that is.

use super::event::Related;
use super::relation::{Class, Relation, SentenceScores};
use super::url_similarity::Origin;
use super::vicinity::Prose;
use crate::store::{Arrival, Ref, SentenceHit};

/// Who a head is.
#[derive(Clone, Copy)]
pub(super) struct Name<'a> {
    pub(super) id: &'a str,
    pub(super) url: Option<&'a str>,
}

/// What is shared with one head.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Kin {
    pub(super) of: Ref,
    pub(super) n_shared: u32,
    pub(super) prose: Prose,
}

/// The heads that share rare sentences, the most first.
pub(super) fn kin(hits: &[SentenceHit], arrival: &Arrival) -> Vec<Kin> {
    let sentence = |(_, number): &(Ref, u16)| &arrival.signatures.sentences[usize::from(*number)];
    let mut sorted: Vec<(Ref, u16)> = hits.iter().map(|hit| (hit.of, hit.mine)).collect();
    sorted.sort_unstable();
    sorted.dedup();
    let mut all: Vec<Kin> = sorted
        .chunk_by(|a, b| a.0 == b.0)
        .map(|shared| Kin {
            of: shared[0].0,
            n_shared: shared.len() as u32,
            prose: Prose::of(shared.iter().map(sentence), arrival.unspaced),
        })
        .collect();
    all.sort_by_key(|kin| (std::cmp::Reverse(kin.prose.n_chars), kin.of));
    all
}

/// What decides the leaf beside the sentences.
pub(super) struct Circumstances {
    /// Whether one of the two links to the other.
    pub(super) this_to_that: bool,
    pub(super) that_to_this: bool,
    /// How many others this one shares sentences with, and how many of these it links to.
    pub(super) n_kin: usize,
    pub(super) n_linked: usize,
    /// Whether this one is put together from many.
    pub(super) is_quilt: bool,
}

/// From so many on, documents that one shares with are "many".
const MANY: usize = 4;

/// The leaf of the tree, its ambiguous ones split where links and spread allow it. It is that of a page which is not near enough to
/// be a copy: what the sentences of both call the same has still been put into something else.
pub(super) fn leaf(scores: &SentenceScores, origin: Origin, about: &Circumstances) -> Option<Relation> {
    let linked = about.this_to_that || about.that_to_this;
    let leaf = scores.relation(origin, linked)?;
    let is_one_site = origin == Origin::OneSite;
    Some(match leaf {
        Relation::Mirror | Relation::Copy if is_one_site => Relation::Archive,
        Relation::Mirror | Relation::Copy => Relation::ExcerptList,
        // Most of it is put together from many.
        Relation::Citation | Relation::SharedPassages if about.is_quilt => Relation::Scraping,
        // It links to most of the many that it shows a little of.
        Relation::Citation if about.this_to_that && about.n_kin >= MANY && 2 * about.n_linked >= about.n_kin => {
            Relation::LinkList
        }
        leaf => leaf,
    })
}

/// The entry of a related document.
pub(super) fn related(name: Name<'_>, scores: &SentenceScores, relation: Relation) -> Related {
    Related {
        of: name.id.to_owned(),
        url: name.url.map(str::to_owned),
        relation,
        overlap: scores.overlap.get(),
        containment: scores.containment.get(),
        direction: scores.shorter(),
    }
}

/// Whether the sentences make one document part of the other, or the same.
pub(super) fn is_contained(scores: &SentenceScores, chars_min: u32) -> bool {
    matches!(scores.class(), Some(Class::Identical | Class::Contained))
        && scores.n_this_chars.min(scores.n_that_chars) >= u64::from(chars_min)
        && scores.n_shared >= 2
}
