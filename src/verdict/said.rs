//! What was said of a head beside whose words it holds: a revision repeats it.
//!
//! It is kept for every head, so it is kept short. Events leave out what is not there, which this form cannot; a URL that is the id is
//! kept once; and scores are written from their last bit on: counts and fractions of a power of two end in zeros, and most
//! scores are such, so that two or three bytes do for eight.
//!
//! # Invariants
//! - What was packed is read back, equal to the last bit. (`what_was_said_can_be_said_again`)

use super::event::{Features, Mirror, Recrawl, Related, Signal, Template, TextView};
use super::relation::{Direction, Relation};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The parts of a verdict that a revision repeats.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Said {
    pub(super) recrawl: Option<Recrawl>,
    pub(super) cluster: Option<u64>,
    pub(super) mirror: Option<Mirror>,
    pub(super) template: Option<Template>,
    pub(super) related: Vec<Related>,
    pub(super) features: Features,
    pub(super) authenticated_domain: Option<String>,
}

impl Said {
    /// As [`Standing`](super::standings::Standing) keeps it.
    pub(super) fn packed(&self) -> Vec<u8> {
        let packed = Packed {
            recrawl: self.recrawl,
            cluster: self.cluster,
            mirror: self.mirror.as_ref().map(PackedMirror::of),
            template: self.template.as_ref().map(Cow::Borrowed),
            related: self.related.iter().map(PackedRelated::of).collect(),
            features: turned(&self.features),
            authenticated_domain: self.authenticated_domain.as_deref(),
        };
        // Most have no relatives.
        postcard::to_extend(&packed, Vec::with_capacity(128)).expect("it has no map, and memory does not fail")
    }

    /// Reads what [`Said::packed`] has made.
    pub(super) fn unpacked(bytes: &[u8]) -> Option<Self> {
        let packed: Packed<'_> = postcard::from_bytes(bytes).ok()?;
        Some(Self {
            recrawl: packed.recrawl,
            cluster: packed.cluster,
            mirror: packed.mirror.map(PackedMirror::whole),
            template: packed.template.map(Cow::into_owned),
            related: packed.related.into_iter().map(PackedRelated::whole).collect(),
            features: turned_back(packed.features)?,
            authenticated_domain: packed.authenticated_domain.map(str::to_owned),
        })
    }
}

/// How it is kept.
#[derive(Serialize, Deserialize)]
struct Packed<'a> {
    recrawl: Option<Recrawl>,
    cluster: Option<u64>,
    #[serde(borrow)]
    mirror: Option<PackedMirror<'a>>,
    template: Option<Cow<'a, Template>>,
    related: Vec<PackedRelated<'a>>,
    features: [u64; N_FEATURES],
    authenticated_domain: Option<&'a str>,
}

const N_FEATURES: usize = size_of::<Features>() / size_of::<f64>();

/// The scores with their bytes turned round: a number is kept in as few bytes as it needs.
fn turned(features: &Features) -> [u64; N_FEATURES] {
    let mut bytes = [0; size_of::<Features>()];
    postcard::to_slice(features, &mut bytes).expect("scores are numbers of eight bytes");
    let (scores, _) = bytes.as_chunks();
    std::array::from_fn(|number| u64::from_be_bytes(scores[number]))
}

fn turned_back(scores: [u64; N_FEATURES]) -> Option<Features> {
    postcard::from_bytes(scores.map(u64::to_be_bytes).as_flattened()).ok()
}

/// A URL beside the id of its document.
#[derive(Serialize, Deserialize)]
enum Url<'a> {
    None,
    IsId,
    Other(&'a str),
}

impl<'a> Url<'a> {
    fn of(url: Option<&'a str>, id: &str) -> Self {
        match url {
            None => Self::None,
            Some(url) if url == id => Self::IsId,
            Some(url) => Self::Other(url),
        }
    }

    fn whole(self, id: &str) -> Option<String> {
        match self {
            Self::None => None,
            Self::IsId => Some(id.to_owned()),
            Self::Other(url) => Some(url.to_owned()),
        }
    }
}

#[derive(Serialize, Deserialize)]
struct PackedRelated<'a> {
    of: &'a str,
    #[serde(borrow)]
    url: Url<'a>,
    relation: Relation,
    overlap: f64,
    containment: f64,
    direction: Direction,
}

impl<'a> PackedRelated<'a> {
    fn of(related: &'a Related) -> Self {
        let &Related { ref of, ref url, relation, overlap, containment, direction } = related;
        Self { of, url: Url::of(url.as_deref(), of), relation, overlap, containment, direction }
    }

    fn whole(self) -> Related {
        let Self { of, url, relation, overlap, containment, direction } = self;
        Related { of: of.to_owned(), url: url.whole(of), relation, overlap, containment, direction }
    }
}

#[derive(Serialize, Deserialize)]
struct PackedMirror<'a> {
    of: &'a str,
    canonical: &'a str,
    #[serde(borrow)]
    url: Url<'a>,
    resemblance: f64,
    overlap: f64,
    containment: f64,
    direction: Direction,
    relation: Relation,
    signals: Cow<'a, [Signal]>,
    view: TextView,
    size: u32,
    domains: u32,
}

impl<'a> PackedMirror<'a> {
    fn of(mirror: &'a Mirror) -> Self {
        Self {
            of: &mirror.of,
            canonical: &mirror.canonical,
            url: Url::of(mirror.url.as_deref(), &mirror.of),
            resemblance: mirror.resemblance,
            overlap: mirror.overlap,
            containment: mirror.containment,
            direction: mirror.direction,
            relation: mirror.relation,
            signals: Cow::Borrowed(&mirror.signals),
            view: mirror.view,
            size: mirror.size,
            domains: mirror.domains,
        }
    }

    fn whole(self) -> Mirror {
        Mirror {
            of: self.of.to_owned(),
            canonical: self.canonical.to_owned(),
            url: self.url.whole(self.of),
            resemblance: self.resemblance,
            overlap: self.overlap,
            containment: self.containment,
            direction: self.direction,
            relation: self.relation,
            signals: self.signals.into_owned(),
            view: self.view,
            size: self.size,
            domains: self.domains,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::event::TemplateKind;
    use proptest::prelude::*;

    fn related(id: &str, url: Option<&str>) -> Related {
        Related {
            of: id.to_owned(),
            url: url.map(str::to_owned),
            relation: Relation::Citation,
            overlap: 1.0 / 3.0,
            containment: 0.5,
            direction: Direction::ThatInThis,
        }
    }

    fn all() -> Said {
        Said {
            recrawl: Some(Recrawl::Changed),
            cluster: Some(u64::MAX),
            mirror: Some(Mirror {
                of: "http://a.example/".to_owned(),
                canonical: "http://b.example/".to_owned(),
                url: Some("http://a.example/".to_owned()),
                resemblance: 0.1 + 0.2,
                overlap: 0.7,
                containment: 1.0,
                direction: Direction::Equal,
                relation: Relation::Mirror,
                signals: vec![Signal::Digest, Signal::Sentences],
                view: TextView::Body,
                size: 7,
                domains: u32::MAX,
            }),
            template: Some(Template {
                cluster: "t-1".to_owned(),
                frame: 0.83,
                style: 0.41,
                bins: 52,
                size: 930,
                domains: 313,
                kind: TemplateKind::LinkFarm,
            }),
            related: vec![related("x", None), related("y", Some("y")), related("z", Some("http://z.example/"))],
            features: Features { n_words: 120.0, resemblance: 0.3, n_related: 3.0, ..Features::default() },
            authenticated_domain: Some("a.example".to_owned()),
        }
    }

    #[test]
    fn what_was_said_can_be_said_again() {
        for said in [all(), Said::default(), Said { related: Vec::new(), ..all() }, Said { mirror: None, ..all() }] {
            assert_eq!(Said::unpacked(&said.packed()), Some(said));
        }
    }

    #[test]
    fn counts_and_halves_are_short() {
        let features =
            Features { n_words: 1234.0, n_terms: 77.0, style: 52.0 / 128.0, group_size: 1.0, ..Features::default() };
        let said = Said { features, ..Said::default() };
        assert!(said.packed().len() < 50, "{}", said.packed().len());
    }

    proptest! {
        #[test]
        fn scores_survive_to_the_last_bit(scores: [f64; 8]) {
            let [n_words, resemblance, overlap, containment, patch_fraction, frame, style, n_related] = scores;
            let features =
                Features { n_words, resemblance, overlap, containment, patch_fraction, frame, style, n_related, ..Features::default() };
            let again = turned_back(turned(&features)).unwrap();
            prop_assert_eq!(turned(&again), turned(&features));
        }

        #[test]
        fn damage_never_panics(bytes: Vec<u8>, at: usize, to: u8) {
            drop(Said::unpacked(&bytes));
            let mut packed = all().packed();
            let n = packed.len();
            packed[at % n] = to;
            drop(Said::unpacked(&packed));
        }
    }
}
