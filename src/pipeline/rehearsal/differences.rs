//! What two settings said of the same documents, counted by what became of what.
//!
//! The last word of each side holds, revisions included. So that they can be, documents are held with both words and the figures that
//! decide, about 150 bytes each, and of the few that are shown also ids and evidence. No more than so many are held: then the
//! oldest is counted as it stands. What is said later of one that is not held, or that came before the beginning, is counted apart.
//!
//! # Invariants
//! - Every document is counted once, under the last words of both sides, in whatever order they come.
//!   (`documents_are_counted_by_the_last_words`)
//! - No more documents are held than was asked for, and what comes too late is told. (`the_oldest_are_counted_for_good`)
//! - Examples are of the change that they stand under, and no more than were asked for. (`examples_follow_their_documents`)

use crate::pipeline::run::outputs::classes;
use crate::verdict::event::{Features, Source, Verdict};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap, VecDeque};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

/// Which settings said something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Those that it was judged by.
    Was,
    /// The others.
    Is,
}

/// The figures that decide, of one side. The names are those of `features` in `schemas/verdict.json`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Figures {
    resemblance: f32,
    overlap: f32,
    containment: f32,
    group_size: f32,
    patch_fraction: f32,
    n_sources: f32,
    frame: f32,
    style: f32,
    style_bins: f32,
    cluster_size: f32,
}

impl Figures {
    /// Each with its name.
    pub fn named(&self) -> [(&'static str, f32); 10] {
        let Self { resemblance, overlap, containment, group_size, patch_fraction, n_sources, .. } = *self;
        let Self { frame, style, style_bins, cluster_size, .. } = *self;
        [
            ("resemblance", resemblance),
            ("overlap", overlap),
            ("containment", containment),
            ("group_size", group_size),
            ("patch_fraction", patch_fraction),
            ("n_sources", n_sources),
            ("frame", frame),
            ("style", style),
            ("style_bins", style_bins),
            ("cluster_size", cluster_size),
        ]
    }

    fn of(features: &Features) -> Self {
        let short = |figure: f64| figure as f32;
        Self {
            resemblance: short(features.resemblance),
            overlap: short(features.overlap),
            containment: short(features.containment),
            group_size: short(features.group_size),
            patch_fraction: short(features.patch_fraction),
            n_sources: short(features.n_sources),
            frame: short(features.frame),
            style: short(features.style),
            style_bins: short(features.style_bins),
            cluster_size: short(features.cluster_size),
        }
    }
}

/// What one side says of a document, in short.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Word {
    /// The number of its name; 0 where nothing was said.
    name: u8,
    /// Whose copy it is, and what labels it carries, hashed.
    of: u32,
    labels: u32,
    figures: Figures,
}

/// Where a document came from: a digest of topic or file, partition and offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Place(u128);

impl Place {
    fn of(source: &Source) -> Self {
        let Source { topic, partition, offset, .. } = source;
        let bytes = [&partition.to_le_bytes()[..], &offset.to_le_bytes(), topic.as_bytes()].concat();
        Self(xxh3_128(&bytes))
    }
}

/// How many words there were of documents that are not held, by side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Late {
    /// By those that it was judged by.
    pub was: u64,
    /// By the others.
    pub is: u64,
}

/// What is wanted of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// So many examples of each change.
    pub examples_max: usize,
    /// So many documents are held at a time.
    pub held_max: usize,
}

/// A document whose verdict would change.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Example {
    /// Its id.
    pub id: String,
    /// Where it was.
    pub source: Source,
    /// What was said of it.
    pub was: Shown,
    /// What would be.
    pub is: Shown,
}

/// What one side says of an example.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Shown {
    /// Whose copy it is. What was said long before the other side spoke is told without names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// Its cluster of one template.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// By what it was decided.
    pub figures: Figures,
}

/// How many documents of one class are of another now.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Transition {
    /// What was said: classes joined by `+`, `original`, `insufficient`, `rejected`, or `nothing`.
    pub was: &'static str,
    /// What would be said.
    pub is: &'static str,
    /// Of how many.
    pub n: u64,
    /// Some of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<Example>,
}

/// All that was counted.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Counts {
    /// Documents.
    pub n_documents: u64,
    /// Those of which the same is said.
    pub n_same: u64,
    /// Those of which it is not.
    pub n_changed: u64,
    /// Of the same, those that are copies of another.
    pub n_other_original: u64,
    /// Of the same, those that carry other labels.
    pub n_other_labels: u64,
    /// Revisions of documents that are not among them: from before the beginning, or too long ago to be held.
    pub n_late: Late,
    /// What became of what, the most frequent first; those of which the same is said at the end.
    pub transitions: Vec<Transition>,
}

/// The names that words can have, by their numbers.
const NAMES: [&str; 11] = [
    "nothing",
    "original",
    "mirror",
    "quilt",
    "template",
    "mirror+quilt",
    "mirror+template",
    "quilt+template",
    "mirror+quilt+template",
    "insufficient",
    "rejected",
];

/// What two settings said.
pub struct Differences {
    wanted: Wanted,
    held: HashMap<Place, (Word, Word)>,
    /// Those that are held, the oldest first.
    order: VecDeque<Place>,
    examples: BTreeMap<(u8, u8), Vec<(Place, Example)>>,
    /// Those that were counted for good.
    by_name: BTreeMap<(u8, u8), u64>,
    counts: Counts,
}

/// What a batch says of one document.
#[derive(Default)]
struct Said<'a> {
    words: [Option<&'a Verdict>; 2],
    is_first: bool,
}

impl Differences {
    /// Nothing was said yet.
    pub fn new(wanted: Wanted) -> Self {
        Self {
            wanted,
            held: HashMap::new(),
            order: VecDeque::new(),
            examples: BTreeMap::new(),
            by_name: BTreeMap::new(),
            counts: Counts::default(),
        }
    }

    /// How many documents were met.
    pub fn n_documents(&self) -> u64 {
        self.counts.n_documents + self.held.len() as u64
    }

    /// Takes in what both sides said of the documents of one batch.
    pub fn take(&mut self, was: &[Verdict], is: &[Verdict]) {
        let mut at_hand: HashMap<Place, Said<'_>> = HashMap::with_capacity(was.len());
        let verdicts =
            was.iter().map(|verdict| (Side::Was, verdict)).chain(is.iter().map(|verdict| (Side::Is, verdict)));
        let mut order = Vec::new();
        for (side, verdict) in verdicts {
            let place = Place::of(&verdict.source);
            let said = at_hand.entry(place).or_insert_with(|| {
                order.push(place);
                Said::default()
            });
            said.words[side as usize] = Some(verdict);
            said.is_first |= verdict.revision == 0;
        }
        for place in order {
            let Said { words, is_first } = at_hand[&place];
            match is_first || self.held.contains_key(&place) {
                true => self.learn(place, words),
                false => {
                    self.counts.n_late.was += u64::from(words[0].is_some());
                    self.counts.n_late.is += u64::from(words[1].is_some());
                }
            }
        }
        while self.held.len() > self.wanted.held_max {
            self.settle();
        }
    }

    /// Counts the oldest document as it stands.
    fn settle(&mut self) {
        let oldest = self.order.pop_front().expect("what is held has its place in the order");
        let (was, is) = self.held.remove(&oldest).expect("what has its place in the order is held");
        let counts = &mut self.counts;
        counts.n_documents += 1;
        *self.by_name.entry((was.name, is.name)).or_default() += 1;
        if was.name == is.name {
            counts.n_same += 1;
            counts.n_other_original += u64::from(was.of != is.of);
            counts.n_other_labels += u64::from(was.labels != is.labels);
        } else {
            counts.n_changed += 1;
        }
    }

    fn learn(&mut self, place: Place, said: [Option<&Verdict>; 2]) {
        let words = self.held.entry(place).or_insert_with(|| {
            self.order.push_back(place);
            Default::default()
        });
        let before = (words.0.name, words.1.name);
        if let Some(verdict) = said[0] {
            words.0 = word(verdict);
        }
        if let Some(verdict) = said[1] {
            words.1 = word(verdict);
        }
        let (now, figures) = ((words.0.name, words.1.name), (words.0.figures, words.1.figures));
        if before != now
            && let Some(examples) = self.examples.get_mut(&before)
        {
            examples.retain(|(other, _)| *other != place);
        }
        if now.0 == now.1 || self.wanted.examples_max == 0 {
            return;
        }
        let Some(verdict) = said[1].or(said[0]) else { return };
        let examples = self.examples.entry(now).or_default();
        let shown = |verdict: Option<&Verdict>, figures: Figures, earlier: Option<&Shown>| Shown {
            of: match verdict {
                Some(verdict) => verdict.mirror.as_ref().map(|mirror| mirror.of.clone()),
                None => earlier.and_then(|earlier| earlier.of.clone()),
            },
            cluster: match verdict {
                Some(verdict) => verdict.cluster.clone(),
                None => earlier.and_then(|earlier| earlier.cluster.clone()),
            },
            figures,
        };
        let earlier = examples.iter().position(|(other, _)| *other == place);
        if earlier.is_none() && examples.len() >= self.wanted.examples_max {
            return;
        }
        let kept = earlier.map(|at| examples[at].1.clone());
        let example = Example {
            id: verdict.id.clone(),
            source: verdict.source.clone(),
            was: shown(said[0], figures.0, kept.as_ref().map(|kept| &kept.was)),
            is: shown(said[1], figures.1, kept.as_ref().map(|kept| &kept.is)),
        };
        match earlier {
            Some(at) => examples[at].1 = example,
            None => examples.push((place, example)),
        }
    }

    /// What came of it.
    pub fn counts(mut self) -> Counts {
        while !self.held.is_empty() {
            self.settle();
        }
        let Self { mut counts, by_name, mut examples, .. } = self;
        counts.transitions = by_name
            .into_iter()
            .map(|((was, is), n)| Transition {
                was: NAMES[usize::from(was)],
                is: NAMES[usize::from(is)],
                n,
                examples: examples.remove(&(was, is)).into_iter().flatten().map(|(_, example)| example).collect(),
            })
            .collect();
        counts.transitions.sort_by_key(|transition| (transition.was == transition.is, std::cmp::Reverse(transition.n)));
        counts
    }
}

fn word(verdict: &Verdict) -> Word {
    let name = classes(verdict).replace(',', "+");
    let name = NAMES.iter().position(|other| **other == *name).expect("every verdict has a name");
    let hash = |text: &str| xxh3_64(text.as_bytes()) as u32;
    let labels: Vec<_> = verdict.labels.iter().map(|label| (&label.label, label.overridden)).collect();
    Word {
        name: name as u8,
        of: verdict.mirror.as_ref().map_or(0, |mirror| hash(&mirror.of)),
        labels: if labels.is_empty() { 0 } else { hash(&format!("{labels:?}")) },
        figures: verdict.features.as_ref().map(Figures::of).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Kind;
    use crate::verdict::event::{Class, Outcome};

    fn verdict(offset: i64, outcome: Outcome, classes: &[Class]) -> Verdict {
        let source = Source { topic: "pages".into(), offset, ..Source::default() };
        let features = Some(Features { patch_fraction: offset as f64, ..Features::default() });
        Verdict {
            classes: classes.to_vec(),
            features,
            ..Verdict::bare(format!("d{offset}"), Some(Kind::Page), source, outcome)
        }
    }

    fn judged(offset: i64, classes: &[Class]) -> Verdict {
        verdict(offset, Outcome::Judged, classes)
    }

    fn revised(offset: i64, classes: &[Class]) -> Verdict {
        Verdict { revision: 1, ..judged(offset, classes) }
    }

    fn differences(examples_max: usize) -> Differences {
        Differences::new(Wanted { examples_max, held_max: 100 })
    }

    fn told(counts: &Counts) -> Vec<(&str, &str, u64, Vec<&str>)> {
        counts
            .transitions
            .iter()
            .map(|one| (one.was, one.is, one.n, one.examples.iter().map(|example| &*example.id).collect()))
            .collect()
    }

    #[test]
    fn every_verdict_has_a_name() {
        use Class::{Mirror, Quilt, Template};
        for classes in [
            &[][..],
            &[Mirror],
            &[Quilt],
            &[Template],
            &[Mirror, Quilt],
            &[Mirror, Template],
            &[Quilt, Template],
            &[Mirror, Quilt, Template],
        ] {
            assert!(word(&judged(0, classes)).name > 0);
        }
        for outcome in [Outcome::Insufficient, Outcome::Rejected] {
            assert!(word(&verdict(0, outcome, &[])).name > 8);
        }
    }

    #[test]
    fn documents_are_counted_by_the_last_words() {
        let mut differences = differences(1);
        differences
            .take(&[judged(0, &[]), judged(1, &[]), judged(2, &[])], &[judged(2, &[]), judged(0, &[Class::Mirror])]);
        differences.take(&[], &[judged(1, &[])]);
        // Later one side changes its mind, then the other.
        differences.take(&[], &[revised(1, &[Class::Quilt])]);
        differences.take(&[revised(1, &[Class::Quilt])], &[]);
        differences.take(&[verdict(3, Outcome::Rejected, &[])], &[]);
        let counts = differences.counts();
        assert_eq!((counts.n_documents, counts.n_same, counts.n_changed), (4, 2, 2));
        assert_eq!(
            told(&counts),
            [
                ("original", "mirror", 1, vec!["d0"]),
                ("rejected", "nothing", 1, vec!["d3"]),
                ("original", "original", 1, vec![]),
                ("quilt", "quilt", 1, vec![]),
            ]
        );
    }

    #[test]
    fn the_oldest_are_counted_for_good() {
        let mut differences = Differences::new(Wanted { examples_max: 1, held_max: 3 });
        // A document from before, of which one side changes its mind.
        differences.take(&[], &[revised(100, &[Class::Quilt])]);
        for offset in 0..10 {
            differences.take(&[judged(offset, &[])], &[judged(offset, &[Class::Mirror]), revised(offset, &[])]);
            assert!(differences.held.len() <= 3 && differences.order.len() == differences.held.len());
        }
        differences.take(&[revised(0, &[Class::Quilt]), revised(9, &[Class::Quilt])], &[]);
        assert_eq!(differences.n_documents(), 10);
        let counts = differences.counts();
        assert_eq!((counts.n_documents, counts.n_same, counts.n_changed), (10, 9, 1));
        assert_eq!(counts.n_late, Late { was: 1, is: 1 });
        assert_eq!(told(&counts)[0], ("quilt", "original", 1, vec!["d9"]));
    }

    #[test]
    fn examples_follow_their_documents() {
        let mut differences = differences(2);
        for offset in 0..5 {
            differences.take(&[judged(offset, &[])], &[judged(offset, &[Class::Quilt])]);
        }
        differences.take(&[], &[revised(0, &[]), revised(1, &[Class::Quilt, Class::Template])]);
        let counts = differences.counts();
        let all = told(&counts);
        assert!(all.contains(&("original", "quilt", 3, vec![])), "{all:?}");
        assert!(all.contains(&("original", "quilt+template", 1, vec!["d1"])), "{all:?}");
        let example = &counts.transitions.iter().find(|one| one.is == "quilt+template").unwrap().examples[0];
        assert_eq!((example.was.figures.patch_fraction, example.is.figures.patch_fraction), (1.0, 1.0));
        let mut none = self::differences(0);
        none.take(&[judged(0, &[])], &[judged(0, &[Class::Quilt])]);
        assert_eq!(told(&none.counts()), [("original", "quilt", 1, vec![])]);
    }

    #[test]
    fn the_same_class_with_other_evidence_is_counted_too() {
        let mut differences = differences(1);
        let labelled = |label: &str| {
            let mut verdict = judged(0, &[]);
            let via = crate::verdict::event::Via::Document;
            verdict.labels.push(crate::verdict::event::Carried {
                label: label.into(),
                via,
                of: "d".into(),
                overridden: false,
            });
            verdict
        };
        differences.take(&[labelled("spam")], &[labelled("ham")]);
        let counts = differences.counts();
        assert_eq!((counts.n_same, counts.n_other_labels, counts.n_other_original), (1, 1, 0));
    }
}
