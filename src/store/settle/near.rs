//! Whom a document is nearest to without being a copy, and why it is none: for people who ask.
//!
//! Candidates and comparison are those of the fold. Only who came before the document counts; with others it was never compared.
//!
//! # Invariants
//! - There is an objection to whoever is no copy, and to nobody else. (`an_objection_is_what_a_copy_has_not`)
//! - Whoever begins a group has no copy before it, and is told what its nearest wants. (`who_is_near_is_told_why_it_is_no_copy`,
//!   `pages_of_one_site_are_told_so`)

use super::super::proof::{Likeness, Proof};
use super::super::settled::Settled;
use super::super::{Arrival, Ref};
use super::{Candidate, SHOWN, Settler};
use crate::config::MirrorSettings;
use serde::{Serialize, Serializer};

/// Whom a document is nearest to, of those before it that share a key with it.
#[derive(Clone, Debug, PartialEq)]
pub struct Near {
    /// Its id.
    pub of: String,
    /// How alike the two are, in the view that agrees best.
    pub likeness: f64,
    /// Why the document is no copy of it.
    pub objection: Objection,
}

/// Why a document is no copy of another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Objection {
    /// They are not alike enough.
    Likeness,
    /// They are, but their cores are only so much alike, where so much is needed: they share a footer, a quotation or a menu.
    Core(f64, f64),
    /// They are, but one of them has only a few words outside of quotations and footers, and they are not the other's.
    LittleCore,
    /// They are, but they are pages of one site, and what they share may be what the site puts around its pages.
    Site,
    /// They are, but it is only so much like the first of the other's group.
    Head(f64),
}

impl Objection {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Likeness => "likeness",
            Self::Core(..) => "core",
            Self::LittleCore => "little_core",
            Self::Site => "site",
            Self::Head(_) => "head",
        }
    }
}

impl Serialize for Objection {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl MirrorSettings {
    /// Why a document of this `likeness` is no copy; `None` of one that is.
    fn objection(&self, likeness: Likeness, has_little_core: bool, unspaced: bool) -> Option<Objection> {
        let (score_min, core_min) = self.least(likeness, unspaced);
        match () {
            () if self.is_copy(likeness, unspaced) => None,
            () if likeness.score < score_min => Some(Objection::Likeness),
            () if has_little_core => Some(Objection::LittleCore),
            () => Some(Objection::Core(likeness.core, core_min)),
        }
    }
}

impl Settler {
    /// Whom `arrival` is nearest to without being a copy. It may have been settled here or not.
    pub(in crate::store) fn near(&self, arrival: &Arrival) -> Option<Near> {
        let papers = self.papers(arrival);
        let (keys, proof) = (&papers.keys, &papers.identity.as_ref()?.proof);
        let own = self.known(&arrival.id, arrival.signatures.kind).and_then(|known| known.own);
        let born = own.and_then(|own| self.prototypes.born(own));
        let came_before = |of: Ref| {
            let prototype = self.prototypes.get(of).filter(|prototype| prototype.id_key != keys.id);
            prototype.is_some_and(|prototype| born.is_none_or(|born| prototype.born < born))
        };
        let mut candidates = Vec::new();
        let mut settled = Settled::new(self.position(), None, self.server(arrival));
        self.gather(keys, &mut settled, &mut candidates, came_before);
        let compared = candidates.iter().filter_map(|candidate| {
            let (likeness, objection) = self.objection(arrival, proof, candidate)?;
            Some((likeness.score, std::cmp::Reverse(self.prototypes.born(candidate.of)), candidate.of, objection))
        });
        // The older of equals.
        let (likeness, _, of, objection) =
            compared.max_by(|(a, born_a, ..), (b, born_b, ..)| a.total_cmp(b).then(born_a.cmp(born_b)))?;
        Some(Near { of: self.prototypes.card(of)?.id, likeness, objection })
    }

    /// How alike `arrival` is to `of`, and why it is no copy; `None` where nothing keeps it from being one.
    fn objection(&self, arrival: &Arrival, proof: &Proof, candidate: &Candidate) -> Option<(Likeness, Objection)> {
        let &Candidate { of, signals, .. } = candidate;
        let compared = |of: Ref| {
            let that = self.prototypes.proof(of, &mut Vec::new())?;
            let likeness = self.mirror.compared(proof, &that, arrival.unspaced)?;
            Some((likeness, proof.has_little_core() || that.has_little_core()))
        };
        let (likeness, has_little_core) = compared(of)?;
        let objection = self.mirror.objection(likeness, has_little_core, arrival.unspaced);
        let is_by_its_site = |of: Ref, likeness: Likeness| {
            let is_more = self.is_more_than_its_site(arrival, of, likeness, &mut Vec::new());
            (!is_more).then_some(Objection::Site)
        };
        let by_its_site = || if signals & SHOWN == 0 { is_by_its_site(of, likeness) } else { None };
        let to_head = || {
            let head = self.prototypes.head_of(of)?;
            let (to_head, _) = compared(head)?;
            let is_far = !self.mirror.is_of_group(to_head, arrival.unspaced);
            let is_far = is_far.then(|| match to_head.score < self.mirror.head_min {
                true => Objection::Head(to_head.score),
                false => Objection::Core(to_head.core, self.mirror.least(to_head, arrival.unspaced).1),
            });
            is_far.or_else(|| if of == head { None } else { is_by_its_site(head, to_head) })
        };
        Some((likeness, objection.or_else(by_its_site).or_else(to_head)?))
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::Store;
    use super::super::super::proof::Measure;
    use super::super::super::tests::{arrival, settings};
    use super::*;
    use crate::config::Settings;
    use crate::document::Kind;
    use crate::verdict::event::TextView;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_objection_is_what_a_copy_has_not(
            score in 0.0..=1.0_f64, core in 0.0..=1.0_f64, is_page: bool, has_little_core: bool, unspaced: bool,
        ) {
            let mirror = Settings::default().mirror;
            let by = if is_page { Measure::Shingles } else { Measure::Terms };
            let likeness = Likeness { by, score, view: TextView::Shown, core, same_body: false, is_mostly_aside: false };
            let objection = mirror.objection(likeness, has_little_core, unspaced);
            prop_assert_eq!(objection.is_none(), mirror.is_copy(likeness, unspaced));
        }
    }

    /// A mail of some words of its own above a footer of a hundred.
    fn mail(id: &str, own: std::ops::Range<u64>, little: Option<u64>) -> Arrival {
        let signed = |terms| arrival(id, Kind::Email, terms).signatures.shown;
        let mut mail = arrival(id, Kind::Email, 9000..9100);
        let core = signed(own);
        let shown = &mut mail.signatures.shown;
        shown.terms.extend(&core.terms);
        shown.terms.sort_unstable();
        (mail.signatures.core, mail.signatures.little_core) = (Some(core), little);
        mail
    }

    #[test]
    fn who_is_near_is_told_why_it_is_no_copy() {
        let batch = [
            mail("first", 0..20, None),
            mail("footer", 100..120, None),
            mail("hi", 300..302, Some(7)),
            mail("thanks", 310..312, Some(8)),
            arrival("half", Kind::Email, 9000..9200),
            arrival("alone", Kind::Email, 20_000..20_060),
        ];
        let mut store = Store::new(&settings(4 << 20));
        let (settled, _) = store.hits(&batch, 1);
        store.end_batch();
        assert!(settled.iter().all(|settled| settled.learns), "{settled:?}");
        let near = |number: usize| store.near(&batch[number]).map(|near| (near.of, near.objection));
        assert_eq!(near(0), None, "nobody came before it");
        assert_eq!(near(1), Some(("first".to_owned(), Objection::Core(0.0, 0.8))));
        assert_eq!(near(2).map(|(_, objection)| objection), Some(Objection::LittleCore));
        assert_eq!(near(3), Some(("hi".to_owned(), Objection::LittleCore)));
        assert_eq!(near(4).map(|(_, objection)| objection), Some(Objection::Likeness));
        assert_eq!(near(5), None);
        let likeness = store.near(&batch[1]).unwrap().likeness;
        assert!((likeness - 100.0 / 120.0).abs() < 1e-9, "{likeness}");
    }

    /// Most of two goods is their shop's. On another site it would be a copy.
    #[test]
    fn pages_of_one_site_are_told_so() {
        let page = |url: &str, terms| {
            let mut page = arrival(url, Kind::Page, terms);
            page.signatures.shingles = page.signatures.shown.minhash.clone();
            (page.url, page.domain) = (Some(url.to_owned()), None);
            page
        };
        for (url, objection) in [("https://shop.example/b", Some(Objection::Site)), ("https://other.example/b", None)] {
            let batch = [page("https://shop.example/a", 0..100), page(url, 10..110)];
            let mut store = Store::new(&settings(4 << 20));
            let (settled, _) = store.hits(&batch, 1);
            store.end_batch();
            assert_eq!(settled[1].joined.is_none(), objection.is_some(), "{url}");
            assert_eq!(store.near(&batch[1]).map(|near| near.objection), objection, "{url}");
        }
    }

    /// Each is near to the one before it; the first and the last are not.
    #[test]
    fn who_is_far_from_the_head_is_told_so() {
        let mut settings = settings(4 << 20);
        settings.mirror.head_min = 0.79;
        let chain: Vec<Arrival> =
            [0, 15, 30].map(|from| arrival(&from.to_string(), Kind::Email, from..from + 100)).into();
        let mut store = Store::new(&settings);
        let (settled, _) = store.hits(&chain, 1);
        store.end_batch();
        assert!(settled[1].joined.is_some() && settled[2].learns, "{settled:?}");
        let near = store.near(&chain[2]).unwrap();
        assert_eq!((&*near.of, near.objection.name()), ("15", "head"));
    }
}
