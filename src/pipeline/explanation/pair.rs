//! Two documents by themselves: what the filter says of the second when the first has come before it, and nothing else has.
//!
//! # Invariants
//! - It is the filter that says it, under the same settings: what is a copy here is one in a scan.
//!   (`a_pair_is_judged_as_a_scan_judges_it`)

use super::scores::{Measure, Score};
use crate::config::Settings;
use crate::pipeline::Made;
use crate::pipeline::filter::Filter;
use crate::store::{Arrival, Objection};
use crate::verdict::event::{Features, Signal, Source};
use crate::verdict::labels::Labels;
use serde::Serialize;

/// Two documents need no more of a store, however long they are.
const MEMORY: usize = 16 << 20;
/// And no more may wait to be decided anew.
const QUEUED_MAX: usize = 16;

/// What the filter says of the second of two documents.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Pair {
    /// Whether it is a copy of the first, of its group.
    pub copy: bool,
    /// Whether it is a mirror since one of the two pages is part of the other.
    pub part: bool,
    /// Whether the two are of one template.
    #[serde(skip)]
    pub same_template: bool,
    /// Whether they have a key in common: others are never compared.
    pub compared: bool,
    /// Why it is neither, where they were compared.
    pub why: Option<Objection>,
    /// What a copy was found by, or a part.
    pub signals: Vec<Signal>,
    /// What the second is compared by.
    #[serde(skip)]
    pub measure: Measure,
    /// How alike they are by that, beside how alike copies are; 0 where they were not compared.
    pub likeness: Score,
}

impl Pair {
    /// Of two documents that were signed under `settings`.
    pub fn of(first: &Made, second: &Made, settings: &Settings) -> Self {
        let mut small = settings.clone();
        (small.store.memory, small.revisions.queue_max) = (MEMORY, QUEUED_MAX);
        let mut filter = Filter::new(&small, Labels::new(0), second.signatures.key_id);
        // By names of their own: two versions of one page are compared too.
        filter.fold(&[arrival("first", first)], 1, |_| {});
        let second_arrival = arrival("second", second);
        let verdict = filter.probe(&second_arrival);
        let Features { resemblance, imatch_hits, minhash_hits, .. } = verdict.features.unwrap_or_default();
        let signals = verdict.mirror.map(|mirror| mirror.signals).unwrap_or_default();
        let part = signals.contains(&Signal::Sentences);
        let copy = !part && !signals.is_empty();
        let measure = Measure::of(&second.text, &second.signatures);
        Self {
            copy,
            part,
            same_template: verdict.cluster.is_some(),
            compared: copy || imatch_hits + minhash_hits > 0.0,
            why: filter.store().near(&second_arrival).map(|near| near.objection).filter(|_| !copy && !part),
            signals,
            measure,
            likeness: measure.score(resemblance, &settings.mirror),
        }
    }
}

fn arrival(id: &str, made: &Made) -> Arrival {
    let source = Source { topic: id.into(), ..Source::default() };
    let arrival = Arrival::new(source, &made.document, &made.text, made.signatures.clone());
    Arrival { id: id.to_owned(), ..arrival }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Carrier, Format, Record};
    use crate::pipeline::{Steps, lexicon, scan};

    /// Twenty words to a sentence, of which every `nth` is another one.
    fn page(n_sentences: usize, nth: usize) -> String {
        let word = |n: usize| {
            let other = if nth > 0 && n.is_multiple_of(nth) { "other" } else { "" };
            format!("{other}word{}{}", ["alpha", "bravo", "delta", "gamma", "omega"][n % 5], "x".repeat(n / 5 % 60))
        };
        let sentence = |s: usize| (20 * s..20 * s + 20).map(word).collect::<Vec<_>>().join(" ");
        (0..n_sentences).map(|s| format!("<p>{}.</p>", sentence(s))).collect()
    }

    fn record(body: String, id: &str) -> Record {
        let carrier = Carrier { id: Some(id.into()), ..Carrier::default() };
        Record { format: Format::Page, body: body.into_bytes(), carrier }
    }

    #[test]
    fn a_pair_is_judged_as_a_scan_judges_it() {
        let mut settings = Settings::default();
        settings.store.memory = 64 << 20;
        let mut steps = Steps::new(&settings, lexicon::load(&settings).unwrap());
        let other = "<p>Nothing here is like anything there, be it a word or two.</p>";
        for (first, second, copy, part) in [
            (page(9, 0), page(9, 0), true, false),
            (page(9, 0), page(9, 60), true, false),
            // Most of its words are there, and hardly any run of them.
            (page(9, 0), page(9, 4), false, false),
            (page(12, 0), page(3, 0), false, true),
            (page(9, 0), other.to_owned(), false, false),
        ] {
            let records = [record(first, "a"), record(second, "b")];
            let [first, second] = records.each_ref().map(|record| steps.sign(record).unwrap().kept());
            let pair = Pair::of(&first, &second, &settings);
            assert_eq!((pair.copy, pair.part, pair.likeness.crossed), (copy, part, copy), "{pair:?}");
            let is_objected_to = pair.compared && !copy && !part;
            assert_eq!(pair.why, is_objected_to.then_some(Objection::Likeness), "{pair:?}");
            let (verdicts, _) = scan::judge(records.to_vec(), &settings, 1).unwrap();
            let scanned = verdicts.iter().find(|verdict| verdict.id == "b").unwrap();
            assert_eq!(pair.signals, scanned.mirror.as_ref().map(|mirror| mirror.signals.clone()).unwrap_or_default());
            assert_eq!(pair.likeness.value, scanned.features.as_ref().unwrap().resemblance);
        }
    }

    #[test]
    fn a_version_of_a_page_is_compared_with_it() {
        let settings = Settings::default();
        let mut steps = Steps::new(&settings, lexicon::load(&settings).unwrap());
        let [first, second] = [0, 60].map(|nth| steps.sign(&record(page(9, nth), "a")).unwrap().kept());
        assert!(Pair::of(&first, &second, &settings).copy);
    }
}
