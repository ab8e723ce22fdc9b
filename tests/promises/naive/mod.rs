//! The filter against the same fold written the slow and obvious way: all pairs compared, plain maps, exact counts.
//!
//! The store is large enough that nothing gives way. What can differ is what the tables promise only with a probability:
//! which prototypes and leaders the keys suggest.

mod fold;

use crate::fold::filter;
use crate::made::{quoted, stream};
use fold::Naive;
use seamripper::config::Settings;
use seamripper::pipeline::filter::Event;
use seamripper::store::Arrival;
use seamripper::verdict::event::{Class, Verdict};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What the filter says at once and in the end, by the number of the arrival.
fn told(settings: &Settings, arrivals: &[Arrival]) -> (Vec<Verdict>, Vec<Verdict>) {
    let mut filter = filter(settings);
    let mut verdicts = Vec::new();
    let mut take = |event: Event| {
        if let Event::Verdict(verdict) = event {
            verdicts.push(*verdict);
        }
    };
    arrivals.chunks(100).for_each(|batch| filter.fold(batch, 2, &mut take));
    filter.settle_revisions(&mut take);
    assert_eq!((filter.census().departures.n_evicted, filter.census().departures.n_over_share), (0, 0));
    let at_once: Vec<Verdict> = verdicts.iter().filter(|verdict| verdict.revision == 0).cloned().collect();
    let mut last = at_once.clone();
    for verdict in verdicts {
        let number = verdict.source.offset as usize - 1;
        last[number] = verdict;
    }
    (at_once, last)
}

/// How often the two said something, and how often not the same.
#[derive(Default)]
struct Agreement {
    n: BTreeMap<&'static str, u32>,
    n_differ: BTreeMap<&'static str, u32>,
}

impl Agreement {
    /// Of the filter by `settings` and the fold by `naive`, at once and in the end, on a few streams.
    fn of(settings: &Settings, naive: &Settings) -> Self {
        let seeds = [21, 22, 23].into_iter();
        Self::on(seeds.map(|seed| stream(seed, 400, settings)).collect(), settings, naive)
    }

    /// The same on these streams.
    fn on(streams: Vec<Vec<Arrival>>, settings: &Settings, naive: &Settings) -> Self {
        let mut agreement = Self::default();
        for (number, arrivals) in streams.into_iter().enumerate() {
            println!("stream {number}");
            let (at_once, last) = told(settings, &arrivals);
            let (naive_at_once, naive_last) = Naive::new(naive, &arrivals).folded();
            let (mut names, mut founders) = (HashMap::new(), HashMap::new());
            for (verdict, said) in at_once.iter().zip(&naive_at_once).chain(last.iter().zip(&naive_last)) {
                let sources = verdict.quilt.iter().flat_map(|quilt| &quilt.sources).map(|source| source.of.clone());
                let sources: BTreeSet<String> = sources.collect();
                let mirror = verdict.mirror.as_ref().map(|mirror| mirror.of.clone());
                // Whose group it is is another question.
                let size = verdict.mirror.as_ref().map(|mirror| mirror.size);
                let size = size.filter(|_| mirror == said.mirror && said.size.is_some());
                let is_template = verdict.classes.contains(&Class::Template);
                let is_same_cluster = match (&verdict.cluster, said.cluster) {
                    (Some(name), Some(founder)) => {
                        let (other, other_name) = (names.entry(name), founders.entry(founder));
                        *other.or_insert(founder) == founder && *other_name.or_insert(name) == name
                    }
                    (one, other) => one.is_none() && other.is_none(),
                };
                for (what, is_one, is_alike) in [
                    ("mirror", mirror.is_some(), mirror == said.mirror),
                    ("size", size.is_some(), size.is_none() || size == said.size),
                    ("quilt", !sources.is_empty(), sources.is_empty() == said.sources.is_empty()),
                    ("sources", !sources.is_empty(), sources == said.sources),
                    ("cluster", verdict.cluster.is_some(), is_same_cluster),
                    ("template", is_template, is_template == said.is_template),
                ] {
                    *agreement.n.entry(what).or_default() += u32::from(is_one);
                    *agreement.n_differ.entry(what).or_default() += u32::from(!is_alike);
                    if !is_alike {
                        println!(
                            "{what} of {}: {mirror:?} {size:?} {sources:?} {is_template}, naively {said:?}",
                            verdict.id
                        );
                    }
                }
            }
        }
        println!("{:?}, of which differ {:?}", agreement.n, agreement.n_differ);
        agreement
    }

    /// The share on which the two agree.
    fn share(&self, what: &str) -> f64 {
        1.0 - f64::from(self.n_differ[what]) / f64::from(self.n[what].max(1))
    }
}

fn roomy() -> Settings {
    let mut settings = Settings::default();
    settings.store.memory = 64 << 20;
    settings.store.share_max = 1.0;
    settings
}

/// Every template is a little like the next: clusters become one.
fn merging() -> Settings {
    let mut settings = roomy();
    settings.template.frame_min = 0.3;
    settings.template.merge_min = 0.4;
    settings
}

#[test]
fn the_filter_is_the_obvious_fold() {
    for settings in [roomy(), merging()] {
        let agreement = Agreement::of(&settings, &settings);
        for (what, n_min) in [("mirror", 300), ("size", 200), ("quilt", 60), ("cluster", 200), ("template", 100)] {
            assert!(agreement.n[what] >= n_min, "{} times {what}", agreement.n[what]);
        }
        // Which prototypes and leaders the keys suggest has a probability; the postings are exact.
        assert!(agreement.share("mirror") >= 0.99 && agreement.share("cluster") >= 0.99);
        assert_eq!((agreement.n_differ["quilt"], agreement.n_differ["size"]), (0, 0));
        assert_eq!(agreement.n_differ["sources"], 0, "of {}", agreement.n["sources"]);
    }
}

/// Who quotes an article and links to it is no source of it, in any order.
#[test]
fn quoters_are_the_same_in_the_obvious_fold() {
    let settings = roomy();
    let streams = || (31..35).map(|seed| quoted(seed, &settings)).collect::<Vec<_>>();
    let agreement = Agreement::on(streams(), &settings, &settings);
    assert_eq!((agreement.n_differ["quilt"], agreement.n_differ["sources"]), (0, 0));
    assert!(agreement.n["quilt"] >= 4, "{} times", agreement.n["quilt"]);
    let mut other = roomy();
    other.quilt.quoters_are_sources = true;
    assert!(Agreement::on(streams(), &settings, &other).n_differ["quilt"] > 10);
}

/// A fold by slightly other rules is told from the right one.
#[test]
fn the_obvious_fold_notices() {
    for (what, change) in [
        ("mirror", (|settings| settings.mirror.prototypes_max = 1) as fn(&mut Settings)),
        ("quilt", |settings| settings.revisions.per_document = 0),
        ("quilt", |settings| settings.quilt.owners_max = 3),
        ("cluster", |settings| settings.template.leaders_max = 2),
    ] {
        let mut other = roomy();
        change(&mut other);
        assert!(Agreement::of(&roomy(), &other).n_differ[what] > 0, "{what}");
    }
}
