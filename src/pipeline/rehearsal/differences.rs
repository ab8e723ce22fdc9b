//! What two settings said of the same documents, counted by what became of what.
//!
//! The last word of each side holds, revisions included. Of each document both words are kept with the figures that decide, about 200
//! bytes; ids and evidence only of the few that are shown.
//!
//! # Invariants
//! - Every document is counted once, under the last words of both sides, in whatever order they come.
//!   (`documents_are_counted_by_the_last_words`)
//! - Examples are of the change that they stand under, and no more than were asked for. (`examples_follow_their_documents`)

use crate::pipeline::run::outputs::classes;
use crate::verdict::event::{Features, Source, Verdict};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

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

/// Where a document came from: the number of its topic or file, partition, offset.
type Place = (u32, i32, i64);

/// A document whose verdict would change.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Example {
    id: String,
    source: Source,
    was: Shown,
    is: Shown,
}

/// What one side says of an example.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
struct Shown {
    /// Whose copy it is. What was said long before the other side spoke is told without names.
    #[serde(skip_serializing_if = "Option::is_none")]
    of: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cluster: Option<String>,
    figures: Figures,
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
    documents: HashMap<Place, (Word, Word)>,
    topics: HashMap<Arc<str>, u32>,
    examples: BTreeMap<(u8, u8), Vec<(Place, Example)>>,
    examples_max: usize,
}

impl Differences {
    /// Nothing was said yet; so many examples are wanted of each change.
    pub fn new(examples_max: usize) -> Self {
        Self { documents: HashMap::new(), topics: HashMap::new(), examples: BTreeMap::new(), examples_max }
    }

    /// How many documents were met.
    pub fn n_documents(&self) -> u64 {
        self.documents.len() as u64
    }

    /// Takes in what both sides said of the documents of one batch.
    pub fn take(&mut self, was: &[Verdict], is: &[Verdict]) {
        let mut at_hand: HashMap<Place, [Option<&Verdict>; 2]> = HashMap::with_capacity(was.len());
        let said = was.iter().map(|verdict| (Side::Was, verdict)).chain(is.iter().map(|verdict| (Side::Is, verdict)));
        // Counted when both sides have spoken: of a batch, most have.
        let mut order = Vec::new();
        for (side, verdict) in said {
            let place = self.place(&verdict.source);
            let both = at_hand.entry(place).or_insert_with(|| {
                order.push(place);
                [None, None]
            });
            both[side as usize] = Some(verdict);
        }
        for place in order {
            self.learn(place, at_hand[&place]);
        }
    }

    fn learn(&mut self, place: Place, said: [Option<&Verdict>; 2]) {
        let words = self.documents.entry(place).or_default();
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
        if now.0 == now.1 || self.examples_max == 0 {
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
        if earlier.is_none() && examples.len() >= self.examples_max {
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

    fn place(&mut self, source: &Source) -> Place {
        let number = match self.topics.get(&source.topic) {
            Some(number) => *number,
            None => {
                let number = self.topics.len() as u32;
                self.topics.insert(source.topic.clone(), number);
                number
            }
        };
        (number, source.partition, source.offset)
    }

    /// What came of it.
    pub fn counts(mut self) -> Counts {
        let mut counts = Counts { n_documents: self.documents.len() as u64, ..Counts::default() };
        let mut by_name: BTreeMap<(u8, u8), u64> = BTreeMap::new();
        for (was, is) in self.documents.values() {
            *by_name.entry((was.name, is.name)).or_default() += 1;
            if was.name == is.name {
                counts.n_same += 1;
                counts.n_other_original += u64::from(was.of != is.of);
                counts.n_other_labels += u64::from(was.labels != is.labels);
            } else {
                counts.n_changed += 1;
            }
        }
        counts.transitions = by_name
            .into_iter()
            .map(|((was, is), n)| Transition {
                was: NAMES[usize::from(was)],
                is: NAMES[usize::from(is)],
                n,
                examples: self.examples.remove(&(was, is)).into_iter().flatten().map(|(_, example)| example).collect(),
            })
            .collect();
        counts.transitions.sort_by_key(|transition| (transition.was == transition.is, std::cmp::Reverse(transition.n)));
        counts
    }
}

fn word(verdict: &Verdict) -> Word {
    let name = classes(verdict).replace(',', "+");
    let name = NAMES.iter().position(|other| **other == *name).expect("every verdict has a name");
    let hash = |text: String| xxhash_rust::xxh3::xxh3_64(text.as_bytes()) as u32;
    let labels: Vec<_> = verdict.labels.iter().map(|label| (&label.label, label.overridden)).collect();
    Word {
        name: name as u8,
        of: verdict.mirror.as_ref().map_or(0, |mirror| hash(mirror.of.clone())),
        labels: if labels.is_empty() { 0 } else { hash(format!("{labels:?}")) },
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
        let mut differences = Differences::new(1);
        differences
            .take(&[judged(0, &[]), judged(1, &[]), judged(2, &[])], &[judged(2, &[]), judged(0, &[Class::Mirror])]);
        differences.take(&[], &[judged(1, &[])]);
        // Later one side changes its mind, then the other.
        differences.take(&[], &[judged(1, &[Class::Quilt])]);
        differences.take(&[judged(1, &[Class::Quilt])], &[]);
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
    fn examples_follow_their_documents() {
        let mut differences = Differences::new(2);
        for offset in 0..5 {
            differences.take(&[judged(offset, &[])], &[judged(offset, &[Class::Quilt])]);
        }
        differences.take(&[], &[judged(0, &[]), judged(1, &[Class::Quilt, Class::Template])]);
        let counts = differences.counts();
        let all = told(&counts);
        assert!(all.contains(&("original", "quilt", 3, vec![])), "{all:?}");
        assert!(all.contains(&("original", "quilt+template", 1, vec!["d1"])), "{all:?}");
        let example = &counts.transitions.iter().find(|one| one.is == "quilt+template").unwrap().examples[0];
        assert_eq!((example.was.figures.patch_fraction, example.is.figures.patch_fraction), (1.0, 1.0));
        let mut none = Differences::new(0);
        none.take(&[judged(0, &[])], &[judged(0, &[Class::Quilt])]);
        assert_eq!(told(&none.counts()), [("original", "quilt", 1, vec![])]);
    }

    #[test]
    fn the_same_class_with_other_evidence_is_counted_too() {
        let mut differences = Differences::new(1);
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
