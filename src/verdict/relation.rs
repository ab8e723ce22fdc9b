//! The sentence method and its decision tree (Kang 2009, 6.1.1 and 6.2): how two documents that share long sentences
//! are related.
//!
//! S(p) is the set of sentences of 20 characters and more in the content of a document, |S| their length in characters,
//! not their number. A sentence counts as shared only where it lies in the content of both: menus and footers say
//! nothing. The numerator can be held to rare sentences; with only two documents at hand all count.
//!
//! The tree says more than one thing at some of its leaves. Of those, two documents alone can give:
//!
//! | leaf | URLs | links | [`Relation`] |
//! |---|---|---|---|
//! | R > 0.6 | similar | | `mirror` |
//! | | not | | `copy`; `boilerplate` where the text stands on many unrelated hosts |
//! | Simpson > 0.5 | of one site | | `archive`: a month's page and a day's |
//! | | not | | `excerpt_list`: a collection and one of its parts |
//! | otherwise | of one site | | `same_site` |
//! | | not | one links to the other | `citation`; `link_list` or `scraping` where one takes from many |
//! | | not | none | `shared_passages` |
//!
//! The names after the semicolons need the spread over other documents. Documents without a URL (mails) count as not
//! similar.
//!
//! # Invariants
//! - Scores lie in `0..=1` and do not depend on which document comes first; the direction turns round.
//!   (`scores_are_symmetric_and_bounded`)
//! - They equal the definition, spelled out. (`scores_equal_the_definition`)
//! - Nothing shared is no relation. (`nothing_shared_is_no_relation`)
//! - `R > 0.6` and `Simpson > 0.5` are strict. (`the_borders_belong_to_the_weaker_class`)

use super::url_similarity::Origin;
use crate::signature::LongSentence;
use crate::signature::sentences::distinct;
use serde::{Deserialize, Serialize};

/// Above this overlap two documents are the same. The prose of the thesis says "0.6 or more" once; its rule says more.
pub const OVERLAP_ABOVE: f64 = 0.6;
/// Above this containment one document is part of the other.
pub const CONTAINMENT_ABOVE: f64 = 0.5;

/// R, in `0.0..=1.0`: twice the shared length over the sum of the lengths.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize)]
#[serde(transparent)]
pub struct Overlap(f64);

impl Overlap {
    /// The value.
    pub fn get(self) -> f64 {
        self.0
    }
}

/// Simpson's coefficient, in `0.0..=1.0`: the shared length over the smaller of the lengths.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize)]
#[serde(transparent)]
pub struct Containment(f64);

impl Containment {
    /// The value.
    pub fn get(self) -> f64 {
        self.0
    }
}

/// Which document lies in the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// They are the same (R > 0.6), share no long sentence, or are equally long.
    #[default]
    Equal,
    /// The first is the shorter one.
    ThisInThat,
    /// The second is.
    ThatInThis,
}

/// What two documents share in long sentences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct SentenceScores {
    /// R.
    pub overlap: Overlap,
    /// Simpson's coefficient.
    pub containment: Containment,
    /// Which lies in which.
    pub direction: Direction,
    /// Distinct sentences in the content of both.
    pub n_shared: u32,
    /// Their length in characters.
    pub n_shared_chars: u64,
    /// Distinct sentences that both have, at least one of them outside its content: a weak relation.
    pub n_weak: u32,
    /// The length of all long content sentences of the first.
    pub n_this_chars: u64,
    /// The length of all long content sentences of the second.
    pub n_that_chars: u64,
}

impl SentenceScores {
    /// Compares the long sentences of two documents. A shared one counts if `is_rare` says so of its hash
    /// (`|_| true` where nothing is known of other documents).
    pub fn of(this: &[LongSentence], that: &[LongSentence], is_rare: impl Fn(u64) -> bool) -> Self {
        let distinct = |sentences| distinct(sentences).map(|(_, sentence)| *sentence).collect::<Vec<LongSentence>>();
        let (this, that) = (distinct(this), distinct(that));
        let mut scores =
            Self { n_this_chars: n_core_chars(&this), n_that_chars: n_core_chars(&that), ..Self::default() };
        let (mut i, mut j) = (0, 0);
        while i < this.len() && j < that.len() {
            let (a, b) = (&this[i], &that[j]);
            i += usize::from(a.hash <= b.hash);
            j += usize::from(b.hash <= a.hash);
            if a.hash != b.hash || !is_rare(a.hash) {
                continue;
            }
            if a.core && b.core {
                scores.n_shared += 1;
                // Equal words may be punctuated differently: the shorter form is what both have.
                scores.n_shared_chars += u64::from(a.n_chars.min(b.n_chars));
            } else {
                scores.n_weak += 1;
            }
        }
        scores.complete();
        scores
    }

    /// The scores of two documents whose long content sentences have these lengths, `n_shared` of them shared.
    pub fn of_lengths(n_shared: u32, n_shared_chars: u64, n_this_chars: u64, n_that_chars: u64) -> Self {
        let mut scores = Self { n_shared, n_shared_chars, n_this_chars, n_that_chars, ..Self::default() };
        scores.complete();
        scores
    }

    /// The coefficients and the direction, by the lengths.
    fn complete(&mut self) {
        let shared = self.n_shared_chars as f64;
        let (this, that) = (self.n_this_chars, self.n_that_chars);
        if self.n_shared_chars > 0 {
            self.overlap = Overlap((2.0 * shared / (this + that) as f64).min(1.0));
            self.containment = Containment((shared / this.min(that).max(1) as f64).min(1.0));
        }
        self.direction = match () {
            () if self.overlap.0 > OVERLAP_ABOVE || self.n_shared == 0 => Direction::Equal,
            () => self.shorter(),
        };
    }

    /// Which lies in which, of two that are known not to be the same: half of an article and all of it have an overlap above 0.6.
    pub fn shorter(&self) -> Direction {
        match self.n_this_chars.cmp(&self.n_that_chars) {
            std::cmp::Ordering::Less => Direction::ThisInThat,
            std::cmp::Ordering::Equal => Direction::Equal,
            std::cmp::Ordering::Greater => Direction::ThatInThis,
        }
    }

    /// The branch of the tree, or `None` where nothing is shared.
    pub fn class(&self) -> Option<Class> {
        match () {
            () if self.n_shared == 0 => None,
            () if self.overlap.0 > OVERLAP_ABOVE => Some(Class::Identical),
            () if self.containment.0 > CONTAINMENT_ABOVE => Some(Class::Contained),
            () => Some(Class::Partial),
        }
    }

    /// The leaf of the tree, or `None` where nothing is shared.
    pub fn relation(&self, origin: Origin, linked: bool) -> Option<Relation> {
        let is_one_site = origin == Origin::OneSite;
        Some(match self.class()? {
            Class::Identical if origin.is_similar() => Relation::Mirror,
            Class::Identical => Relation::Copy,
            Class::Contained if is_one_site => Relation::Archive,
            Class::Contained => Relation::ExcerptList,
            Class::Partial if is_one_site => Relation::SameSite,
            Class::Partial if linked => Relation::Citation,
            Class::Partial => Relation::SharedPassages,
        })
    }
}

/// The three branches of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// R > 0.6.
    Identical,
    /// Not that, and Simpson > 0.5.
    Contained,
    /// Something is shared.
    Partial,
}

/// The leaves of the tree, by the names that verdicts use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    /// The same text under a similar URL.
    Mirror,
    /// The same text on many unrelated hosts (a server's default page, say). Needs the store.
    Boilerplate,
    /// The same text under a URL that has nothing in common.
    Copy,
    /// One holds the other, on one site: a month's page and a day's.
    Archive,
    /// One holds the other, on different sites: a collection and one of its parts.
    ExcerptList,
    /// Pages of one site that share passages.
    SameSite,
    /// One shares passages with the other and links to it.
    Citation,
    /// A page that links to many and shows a little of each. Needs the store.
    LinkList,
    /// A page put together from many. Needs the store.
    Scraping,
    /// Passages in common, and no link: a law that both quote, or plagiarism.
    SharedPassages,
}

impl Relation {
    /// The name in verdicts.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mirror => "mirror",
            Self::Boilerplate => "boilerplate",
            Self::Copy => "copy",
            Self::Archive => "archive",
            Self::ExcerptList => "excerpt_list",
            Self::SameSite => "same_site",
            Self::Citation => "citation",
            Self::LinkList => "link_list",
            Self::Scraping => "scraping",
            Self::SharedPassages => "shared_passages",
        }
    }
}

/// The denominators count the content alone, as the numerator does: two pages that differ in their menus are the same
/// (figure 18 of the thesis).
fn n_core_chars(sentences: &[LongSentence]) -> u64 {
    sentences.iter().filter(|sentence| sentence.core).map(|sentence| u64::from(sentence.n_chars)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::vicinity::Address;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn sentence(hash: u64, n_chars: u32, core: bool) -> LongSentence {
        LongSentence { hash, n_chars, core, position: 0 }
    }

    fn content(lengths: &[(u64, u32)]) -> Vec<LongSentence> {
        lengths.iter().map(|&(hash, n_chars)| sentence(hash, n_chars, true)).collect()
    }

    fn scores(this: &[(u64, u32)], that: &[(u64, u32)]) -> SentenceScores {
        SentenceScores::of(&content(this), &content(that), |_| true)
    }

    fn origin(this: &str, that: &str) -> Origin {
        Origin::of(Some(&Address::of(this)), Some(&Address::of(that)))
    }

    #[test]
    fn every_leaf_that_two_documents_can_give() {
        let similar = origin("http://alpha.com/x", "http://www2.alpha.com/x");
        let foreign = origin("http://alpha.com/x", "http://beta.com/y");
        let same = scores(&[(1, 70), (2, 30)], &[(1, 70), (3, 20)]);
        let part = scores(&[(1, 30), (2, 20)], &[(1, 30), (3, 200)]);
        let some = scores(&[(1, 30), (2, 100)], &[(1, 30), (3, 200)]);
        for (scores, origin, linked, relation) in [
            (same, similar, false, Relation::Mirror),
            (same, foreign, true, Relation::Copy),
            (part, similar, false, Relation::Archive),
            (part, foreign, true, Relation::ExcerptList),
            (some, similar, true, Relation::SameSite),
            (some, foreign, true, Relation::Citation),
            (some, foreign, false, Relation::SharedPassages),
            (some, Origin::Apart, false, Relation::SharedPassages),
            (same, Origin::Apart, false, Relation::Copy),
        ] {
            assert_eq!(scores.relation(origin, linked), Some(relation));
        }
        assert_eq!(part.direction, Direction::ThisInThat);
        assert_eq!(same.direction, Direction::Equal, "{:?}: the same text has no direction", same.overlap);
    }

    #[test]
    fn the_borders_belong_to_the_weaker_class() {
        let at_overlap = scores(&[(1, 60), (2, 40)], &[(1, 60), (3, 40)]);
        assert_eq!(at_overlap.overlap.get(), 0.6);
        assert_eq!(at_overlap.class(), Some(Class::Contained));
        let at_containment = scores(&[(1, 50), (2, 50)], &[(1, 50), (3, 150)]);
        assert_eq!(at_containment.containment.get(), 0.5);
        assert_eq!(at_containment.class(), Some(Class::Partial));
    }

    #[test]
    fn a_sentence_in_a_menu_is_a_weak_relation() {
        let scores = SentenceScores::of(&[sentence(1, 30, true)], &[sentence(1, 30, false)], |_| true);
        assert_eq!((scores.n_shared, scores.n_weak, scores.class()), (0, 1, None));
        let twice =
            SentenceScores::of(&[sentence(1, 30, false), sentence(1, 30, true)], &[sentence(1, 30, true)], |_| true);
        assert_eq!((twice.n_shared, twice.overlap.get()), (1, 1.0), "once in the content is enough");
    }

    #[test]
    fn frequent_sentences_leave_the_numerator_alone() {
        let (this, that) = (content(&[(1, 50), (2, 50)]), content(&[(1, 50), (2, 50)]));
        let scores = SentenceScores::of(&this, &that, |hash| hash != 2);
        assert_eq!(scores.overlap.get(), 0.5, "identical pages, half of whose text is common");
    }

    #[test]
    fn relation_names_are_those_of_the_verdict_schema() {
        for relation in [
            Relation::Mirror,
            Relation::Boilerplate,
            Relation::Copy,
            Relation::Archive,
            Relation::ExcerptList,
            Relation::SameSite,
            Relation::Citation,
            Relation::LinkList,
            Relation::Scraping,
            Relation::SharedPassages,
        ] {
            assert_eq!(serde_json::to_value(relation).unwrap(), relation.name());
        }
    }

    fn sentences() -> impl Strategy<Value = Vec<LongSentence>> {
        prop::collection::vec((0..12_u64, 20..60_u32, any::<bool>()).prop_map(|(h, n, c)| sentence(h, n, c)), 0..12)
    }

    /// The first content form of each sentence, in a map: the definition, spelled out.
    fn core_lengths(sentences: &[LongSentence]) -> BTreeMap<u64, u64> {
        let mut lengths = BTreeMap::new();
        for sentence in sentences.iter().filter(|sentence| sentence.core) {
            lengths.entry(sentence.hash).or_insert(u64::from(sentence.n_chars));
        }
        lengths
    }

    proptest! {
        #[test]
        fn scores_equal_the_definition(this in sentences(), that in sentences()) {
            let scores = SentenceScores::of(&this, &that, |hash| hash % 3 != 0);
            let (a, b) = (core_lengths(&this), core_lengths(&that));
            let shared: u64 = a.iter().filter(|(hash, _)| *hash % 3 != 0)
                .filter_map(|(hash, n)| b.get(hash).map(|m| n.min(m))).sum();
            let (n_a, n_b): (u64, u64) = (a.values().sum(), b.values().sum());
            prop_assert_eq!((scores.n_shared_chars, scores.n_this_chars, scores.n_that_chars), (shared, n_a, n_b));
            if shared > 0 {
                prop_assert_eq!(scores.overlap.get(), 2.0 * shared as f64 / (n_a + n_b) as f64);
                prop_assert_eq!(scores.containment.get(), shared as f64 / n_a.min(n_b) as f64);
            }
        }

        #[test]
        fn scores_are_symmetric_and_bounded(this in sentences(), that in sentences()) {
            let there = SentenceScores::of(&this, &that, |_| true);
            let back = SentenceScores::of(&that, &this, |_| true);
            prop_assert!((0.0..=1.0).contains(&there.overlap.get()));
            prop_assert!((there.overlap.get()..=1.0).contains(&there.containment.get()), "R is never above Simpson");
            prop_assert_eq!((there.overlap, there.containment, there.n_shared, there.n_weak),
                (back.overlap, back.containment, back.n_shared, back.n_weak));
            let turned = match there.direction {
                Direction::Equal => Direction::Equal,
                Direction::ThisInThat => Direction::ThatInThis,
                Direction::ThatInThis => Direction::ThisInThat,
            };
            prop_assert_eq!(turned, back.direction);
            prop_assert_eq!(there.relation(Origin::Apart, true), back.relation(Origin::Apart, true));
        }

        #[test]
        fn nothing_shared_is_no_relation(this in sentences(), linked: bool) {
            let origin = origin("http://a.com/x", "http://a.com/x");
            prop_assert_eq!(SentenceScores::of(&this, &[], |_| true).relation(origin, linked), None);
            prop_assert_eq!(SentenceScores::of(&[], &[], |_| true).relation(origin, linked), None);
            prop_assert_eq!(SentenceScores::of(&this, &this, |_| false).relation(origin, linked), None);
        }
    }
}
