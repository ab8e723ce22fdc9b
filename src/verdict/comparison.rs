//! Every similarity of two documents, estimated from their signatures and computed exactly beside it.
//!
//! The estimates are what a store would see; the exact figures say how far to trust them. What they come to is not decided
//! here: that is the filter's. The first document is *this* and the second *that*.
//!
//! # Invariants
//! - A document and itself agree in everything that it has. (`a_document_is_its_own_mirror`)
//! - Turning the two round turns the directions round and nothing else. (`turned_round_only_directions_change`)
//! - Two empty documents have no likeness. (`empty_documents_are_not_alike`)

use super::passages::Shared;
use super::relation::{Class, Relation, SentenceScores};
use super::url_similarity::{Denominator, Origin, UrlSimilarity};
use crate::config::Settings;
use crate::document::identity::registered_domain;
use crate::document::links::{self, Location};
use crate::document::{Document, Kind};
use crate::signature::keyed::Keys;
use crate::signature::lexicon::LexiconId;
use crate::signature::style::{BINS, Sketch, Sketcher};
use crate::signature::{Outcome, Signatures, View, cosine, jaccard};
use crate::text::words::Traits;
use crate::text::{Text, grams};
use serde::Serialize;

/// A document with what was made of it.
#[derive(Clone, Copy)]
pub struct Side<'a> {
    /// What was read.
    pub document: &'a Document,
    /// Cut.
    pub text: &'a Text,
    /// Signed.
    pub signatures: &'a Signatures,
}

/// A share of common parts, by the Jaccard coefficient, in `0.0..=1.0`.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize)]
#[serde(transparent)]
pub struct Resemblance(f64);

impl Resemblance {
    fn new(value: f64) -> Self {
        assert!((0.0..=1.0).contains(&value), "a resemblance of {value}");
        Self(value)
    }

    /// The value.
    pub fn get(self) -> f64 {
        self.0
    }
}

/// The cosine of two bags of distinct terms, in `0.0..=1.0`.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize)]
#[serde(transparent)]
pub struct Cosine(f64);

impl Cosine {
    /// The value.
    pub fn get(self) -> f64 {
        self.0
    }
}

/// Everything in which two documents can be alike.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// Which of the two have too little text to judge: then nothing below speaks of their texts.
    pub insufficient: Insufficient,
    /// Whether what is masked (numbers, addresses, names) is spelled alike too, where the shown texts are the same but for that.
    #[serde(skip)]
    pub same_spelling: bool,
    /// The three views of the texts.
    pub views: Views,
    /// Distinct terms of the cores.
    pub terms: Estimated,
    /// Shingles of the cores.
    pub shingles: Estimated,
    /// Extended I-Match.
    pub imatch: Option<ImatchAgreement>,
    /// Long sentences.
    pub sentences: SentenceScores,
    /// The branch of the sentence method's tree.
    pub class: Option<Class>,
    /// Its leaf.
    pub relation: Option<Relation>,
    /// How alike the URLs are, where both have one.
    pub url_similarity: Option<UrlSimilarity>,
    /// Links between them.
    pub links: Links,
    /// HTML style.
    pub style: StyleAgreement,
    /// Page frame, where both have one.
    pub frame: Option<FrameAgreement>,
    /// The share of this text's units that stand in that one, in runs of a gram and more.
    pub this_in_that: f64,
    /// The share of that text's units that stand in this one.
    pub that_in_this: f64,
    /// The passages themselves.
    #[serde(skip)]
    pub shared: Shared,
}

/// Which documents have too little text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Insufficient {
    /// The first.
    pub this: bool,
    /// The second.
    pub that: bool,
}

/// The views of two texts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Views {
    /// What is shown.
    pub shown: ViewAgreement,
    /// Content blocks; mails without quotes, signatures, footers.
    pub core: ViewAgreement,
    /// What is shown with what is hidden.
    pub full: ViewAgreement,
}

impl Views {
    /// The names of those whose cosine is `cosine_min` and more.
    pub fn matching(&self, cosine_min: f64) -> Vec<&'static str> {
        let views = [("shown", &self.shown), ("core", &self.core), ("full", &self.full)];
        views.into_iter().filter(|(_, view)| view.cosine.0 >= cosine_min).map(|(name, _)| name).collect()
    }
}

/// One view of two texts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ViewAgreement {
    /// The same units in the same order.
    pub same_digest: bool,
    /// Common distinct terms over the geometric mean of their numbers.
    pub cosine: Cosine,
}

/// A resemblance twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Estimated {
    /// From 128 slots, where both have them.
    pub estimated: Option<Resemblance>,
    /// Counted.
    pub exact: Resemblance,
}

/// I-Match signatures of both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ImatchAgreement {
    /// Coordinates that agree. One is enough to be a candidate.
    pub agreeing: usize,
    /// Coordinates there are: the lexicon and its copies.
    pub coordinates: usize,
    /// Whose terms they are, if both were signed with the same lexicon.
    pub lexicon: Option<LexiconId>,
}

/// Links between two documents. `None` where it is not known where the target lives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Links {
    /// From this to that.
    pub this_to_that: Linked,
    /// From that to this.
    pub that_to_this: Linked,
}

impl Links {
    /// Whether one links to the other's address.
    pub fn any(self) -> bool {
        [self.this_to_that, self.that_to_this].iter().any(|linked| linked.url == Some(true))
    }
}

/// Whether one document links to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Linked {
    /// To its very address.
    pub url: Option<bool>,
    /// To its registered domain.
    pub domain: Option<bool>,
}

/// HTML style of both noises.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct StyleAgreement {
    /// All noise.
    pub noise: Option<NoiseAgreement>,
    /// The noise inside tags.
    pub tag_noise: Option<NoiseAgreement>,
}

/// One kind of noise of two documents.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct NoiseAgreement {
    /// Bins that agree, where both have bins.
    pub bins_matching: Option<usize>,
    /// Bins there are.
    pub bins: usize,
    /// Of bins or, for small noise, of digests.
    pub estimated: Resemblance,
    /// The Jaccard coefficient of the 32-grams.
    pub exact: Resemblance,
}

/// Page frames of both.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FrameAgreement {
    /// The weighted Jaccard coefficient, estimated.
    pub similarity: Resemblance,
    /// The Jaccard coefficient of the stylesheets.
    pub stylesheets: Resemblance,
    /// Whether the stylesheets leave room for one template.
    pub stylesheets_agree: bool,
}

impl Comparison {
    /// Compares two documents that were read, cut and signed under `settings`.
    pub fn of(this: Side<'_>, that: Side<'_>, settings: &Settings) -> Self {
        let keys = Keys::derive(settings.secret.reveal());
        let (mine, theirs) = (this.signatures, that.signatures);
        let insufficient =
            Insufficient { this: mine.outcome == Outcome::Insufficient, that: theirs.outcome == Outcome::Insufficient };
        let identities = (&this.document.identity, &that.document.identity);
        let url_similarity = match (&identities.0.url, &identities.1.url) {
            (Some(this), Some(that)) => Some(UrlSimilarity::of(this, that, Denominator::Simpson)),
            _ => None,
        };
        let links = Links {
            this_to_that: linked(this.document, that.document),
            that_to_this: linked(that.document, this.document),
        };
        let sentences = SentenceScores::of(&mine.sentences, &theirs.sentences, |_| true);
        let shared = Shared::of(&this.text.words, &that.text.words);
        let share = |covered: usize, text: &Text| covered as f64 / text.words.len().max(1) as f64;
        Self {
            insufficient,
            same_spelling: is_spelled_alike(this, that),
            views: Views {
                shown: agreement(&mine.shown, &theirs.shown),
                core: agreement(core(mine), core(theirs)),
                full: agreement(full(mine), full(theirs)),
            },
            terms: terms(mine, theirs),
            shingles: shingles(this, that, settings, &keys),
            imatch: imatch(mine, theirs),
            sentences,
            class: sentences.class(),
            relation: sentences.relation(url_similarity.map_or(Origin::Apart, UrlSimilarity::origin), links.any()),
            url_similarity,
            links,
            style: style(this, that, settings, &keys),
            frame: frame(mine, theirs),
            this_in_that: share(shared.this_covered, this.text),
            that_in_this: share(shared.that_covered, that.text),
            shared,
        }
    }
}

/// Whether the masked units of two texts of the same units are the same.
fn is_spelled_alike(this: Side<'_>, that: Side<'_>) -> bool {
    let masked = |side: Side<'_>| {
        let Side { document, text, .. } = side;
        let units = text.words.spans.iter().zip(&text.words.traits);
        let masked = units.filter(|(_, traits)| traits.has(Traits::MASKED));
        masked.map(|(span, _)| document.text[span.range()].to_lowercase()).collect::<Vec<_>>()
    };
    masked(this) == masked(that)
}

fn core(signatures: &Signatures) -> &View {
    signatures.core.as_ref().unwrap_or(&signatures.shown)
}

fn full(signatures: &Signatures) -> &View {
    signatures.full.as_ref().unwrap_or(&signatures.shown)
}

fn agreement(this: &View, that: &View) -> ViewAgreement {
    ViewAgreement {
        same_digest: this.digest.is_some() && this.digest == that.digest,
        cosine: Cosine(cosine(&this.terms, &that.terms)),
    }
}

fn terms(this: &Signatures, that: &Signatures) -> Estimated {
    let (this, that) = (core(this), core(that));
    Estimated {
        estimated: this.minhash.as_ref().zip(that.minhash.as_ref()).map(|(a, b)| Resemblance::new(a.resemblance(b))),
        exact: Resemblance::new(jaccard(&this.terms, &that.terms)),
    }
}

fn shingles(this: Side<'_>, that: Side<'_>, settings: &Settings, keys: &Keys) -> Estimated {
    let minhashes = this.signatures.shingles.as_ref().zip(that.signatures.shingles.as_ref());
    let exact = jaccard(&distinct_shingles(this, settings, keys), &distinct_shingles(that, settings, keys));
    Estimated { estimated: minhashes.map(|(a, b)| Resemblance::new(a.resemblance(b))), exact: Resemblance::new(exact) }
}

/// The distinct shingles that a signer makes the minhash from, ascending.
fn distinct_shingles(side: Side<'_>, settings: &Settings, keys: &Keys) -> Vec<u64> {
    let minhash = &settings.minhash;
    let n_words = match side.document.kind {
        Kind::Page => minhash.page_shingle_words,
        Kind::Email => minhash.mail_shingle_words,
    };
    let mut found = Vec::new();
    let (words, n_characters) = (&side.text.words, minhash.shingle_characters);
    grams::shingles(words, Traits::CORE, n_words.get(), n_characters.get(), keys.shingles, |hash| found.push(hash));
    found.sort_unstable();
    found.dedup();
    found
}

fn imatch(this: &Signatures, that: &Signatures) -> Option<ImatchAgreement> {
    let (this, that) = (this.imatch.as_ref()?, that.imatch.as_ref()?);
    Some(ImatchAgreement {
        agreeing: this.agreeing(that),
        coordinates: this.coordinates.len(),
        lexicon: (this.lexicon == that.lexicon).then_some(this.lexicon),
    })
}

fn style(this: Side<'_>, that: Side<'_>, settings: &Settings, keys: &Keys) -> StyleAgreement {
    let (Some(mine), Some(theirs)) = (&this.signatures.style, &that.signatures.style) else {
        return StyleAgreement::default();
    };
    let noise = |sketches: (&Option<Sketch>, &Option<Sketch>), noises: (&[u8], &[u8]), key: u64| {
        let (a, b) = (sketches.0.as_ref()?, sketches.1.as_ref()?);
        Some(NoiseAgreement {
            bins_matching: a.bins_matching(b),
            bins: BINS,
            estimated: Resemblance::new(a.resemblance(b)),
            exact: Resemblance::new(Sketcher::new(key, settings.style.parts_min).exact(noises.0, noises.1)),
        })
    };
    let (my, their) = (&this.document.markup, &that.document.markup);
    StyleAgreement {
        noise: noise((&mine.noise, &theirs.noise), (&my.noise, &their.noise), keys.noise),
        tag_noise: noise((&mine.tag_noise, &theirs.tag_noise), (&my.tag_noise, &their.tag_noise), keys.tag_noise),
    }
}

fn frame(this: &Signatures, that: &Signatures) -> Option<FrameAgreement> {
    let (this, that) = (this.frame.as_ref()?, that.frame.as_ref()?);
    Some(FrameAgreement {
        similarity: Resemblance::new(this.similarity(that)),
        stylesheets: Resemblance::new(jaccard(&this.stylesheets, &that.stylesheets)),
        stylesheets_agree: this.stylesheets_agree(that),
    })
}

/// Whether `from` links to the address (or what it calls its canonical one) or the domain of `to`.
fn linked(from: &Document, to: &Document) -> Linked {
    let [url, canonical] = [&to.identity.url, &to.identity.canonical].map(|url| url.as_deref().map(Location::of));
    let domain = to.identity.domain.as_deref();
    let (mut to_url, mut to_domain) = (false, false);
    if !from.links.anchors.is_empty() {
        from.links.resolve(from.identity.url.as_deref(), |_, link| {
            to_url |= [url, canonical].into_iter().flatten().any(|page| page == Location::of(link));
            to_domain |= domain.is_some() && links::host(link).and_then(registered_domain) == domain;
        });
    }
    Linked { url: url.or(canonical).map(|_| to_url), domain: domain.map(|_| to_domain) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::lexicon;
    use crate::signature::Signer;
    use crate::text::Cutter;
    use proptest::prelude::*;
    use std::sync::{Arc, OnceLock};

    /// What is needed to sign, made once.
    fn settings() -> &'static (Settings, Arc<crate::signature::imatch::Lexicons>) {
        static SETTINGS: OnceLock<(Settings, Arc<crate::signature::imatch::Lexicons>)> = OnceLock::new();
        SETTINGS.get_or_init(|| {
            let settings = Settings::default();
            let lexicons = lexicon::load(&settings).unwrap();
            (settings, lexicons)
        })
    }

    fn document(text: &str) -> Document {
        Document { text: text.to_owned(), ..Document::default() }
    }

    fn compared(this: &Document, that: &Document) -> Comparison {
        let (settings, lexicons) = settings();
        let keys = Keys::derive(settings.secret.reveal());
        let mut cutter = Cutter::new(settings, keys);
        let mut signer = Signer::new(settings, Arc::clone(lexicons));
        let mut made = |document: &Document| {
            let text = cutter.cut(document).clone();
            let signatures = signer.sign(document, &text);
            (text, signatures)
        };
        let ((this_text, mine), (that_text, theirs)) = (made(this), made(that));
        Comparison::of(
            Side { document: this, text: &this_text, signatures: &mine },
            Side { document: that, text: &that_text, signatures: &theirs },
            settings,
        )
    }

    const MILL: &str = "The tide mill stands at the mouth of the river and has ground corn for six hundred years. \
        Twice a day the sea fills the pond behind the dam, and twice a day the miller opens the gate. \
        When the last miller died nobody in the village knew how to dress the heavy stones any more.";

    #[test]
    fn a_document_is_its_own_mirror() {
        let mut mill = document(MILL);
        mill.identity.url = Some("https://mill.example/tide.html".to_owned());
        let itself = compared(&mill, &mill);
        assert_eq!(itself.insufficient, Insufficient::default());
        assert!(itself.views.shown.same_digest && itself.views.core.same_digest && itself.views.full.same_digest);
        assert_eq!(itself.views.matching(0.8), ["shown", "core", "full"]);
        assert_eq!((itself.terms.exact.get(), itself.terms.estimated.unwrap().get()), (1.0, 1.0));
        assert_eq!((itself.shingles.exact.get(), itself.shingles.estimated.unwrap().get()), (1.0, 1.0));
        assert_eq!((itself.sentences.overlap.get(), itself.sentences.n_shared), (1.0, 3));
        assert_eq!(itself.relation, Some(Relation::Mirror));
        assert_eq!((itself.this_in_that, itself.that_in_this, itself.shared.passages.len()), (1.0, 1.0, 1));
    }

    #[test]
    fn empty_documents_are_not_alike() {
        for text in ["", "Thank you!", "\n"] {
            let nothing = compared(&document(text), &document(text));
            assert!(nothing.insufficient.this && nothing.insufficient.that, "{text:?}");
            assert!(!nothing.views.shown.same_digest && nothing.relation.is_none(), "{text:?}");
            assert_eq!((nothing.terms.estimated, nothing.imatch, nothing.frame), (None, None, None));
        }
    }

    #[test]
    fn a_document_inside_another_lies_there() {
        let short =
            document("Twice a day the sea fills the pond behind the dam, and twice a day the miller opens the gate.");
        let part = compared(&document(MILL), &short);
        assert_eq!((part.that_in_this, part.class), (1.0, Some(Class::Contained)));
        assert_eq!(part.sentences.direction, crate::verdict::relation::Direction::ThatInThis);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn turned_round_only_directions_change(this in prop::collection::vec(0..12_usize, 0..8), that in prop::collection::vec(0..12_usize, 0..8)) {
            let phrases: Vec<String> = (0..12).map(|n| MILL.split(' ').skip(4 * n).take(9).collect::<Vec<_>>().join(" ") + ". ").collect();
            let text = |order: &[usize]| document(&order.iter().map(|&n| phrases[n].as_str()).collect::<String>());
            let (this, that) = (text(&this), text(&that));
            let (there, back) = (compared(&this, &that), compared(&that, &this));
            prop_assert_eq!((&there.views, there.terms, there.shingles, there.imatch), (&back.views, back.terms, back.shingles, back.imatch));
            prop_assert_eq!((there.this_in_that, there.that_in_this), (back.that_in_this, back.this_in_that));
            prop_assert_eq!((there.sentences.overlap, there.relation, there.class), (back.sentences.overlap, back.relation, back.class));
            prop_assert_eq!((there.style, there.frame), (back.style, back.frame));
        }
    }
}
