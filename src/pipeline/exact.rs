//! The exhaustive answer: what a stream is measured against.
//!
//! All documents are kept in memory with all their grams, all pairs are compared, and every document is judged after the
//! last has come, once. Definitions and the order of arrival are those of the stream; keys that suggest, samples, bounds,
//! estimates and forgetting are not.
//!
//! # Invariants
//! - One verdict per record, in order, whatever the number of threads. (`tests/promises/quality/exact.rs`)
//! - A source needs as much text as in the stream. (`a_source_needs_as_much_of_all_grams`)
//! - Who is interrupted has the answer on what was compared. (`what_was_compared_is_judged_as_if_no_other_had_come`)

use super::scan::{Arriver, Signed, Told, listed};
use super::sign::in_order;
use super::{filter::Event, lexicon};
use crate::config::{Problems, Settings};
use crate::corpus::{self, Tally};
use crate::document::Record;
use crate::signature::imatch::Lexicons;
use crate::store::{Arrival, Store};
use crate::verdict::event::{ClusterEvent, Verdict};
use crate::verdict::judge::Judge;
use crate::verdict::labels::Labels;
use std::io;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::Arc;

/// The settings of the exhaustive answer: all grams, and as many of them for a source as its winnowed ones stand for.
pub fn exhaustive(settings: &Settings) -> Settings {
    let mut exact = settings.clone();
    exact.grams.window = NonZeroUsize::MIN;
    exact.store.spelled_one_in = 0;
    // Winnowing keeps two of every `window + 1` grams (Schleimer 2003): 2 of a window of 11 stand for 12, and 5 for 30.
    let per_winnowed = (settings.grams.window.get() as u64 + 1) as f64 / 2.0;
    let all = |winnowed: u32| (f64::from(winnowed) * per_winnowed).round() as u32;
    exact.quilt.source_grams_min = all(settings.quilt.source_grams_min);
    exact.quilt.source_grams_min_unspaced = all(settings.quilt.source_grams_min_unspaced);
    exact
}

/// How far the second half of the work is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compared {
    /// Documents that were compared with all before them.
    pub n_done: usize,
    /// All documents.
    pub n_all: usize,
}

/// Judges all that `read` produces, by the `settings` of a stream. `tell` has troubles and sizes as they come, and the
/// verdicts in order at the end; in between `compared` hears how far it is, and may say that this is enough: then those up to there
/// are judged as if no other had come. Returns the ranked clusters too.
pub fn scan_exact(
    read: impl FnOnce(corpus::With<'_>) -> Tally + Send,
    settings: &Settings,
    lexicons: &Arc<Lexicons>,
    labels: Labels,
    n_threads: NonZeroUsize,
    mut tell: impl FnMut(Told) -> io::Result<()>,
    mut compared: impl FnMut(Compared) -> ControlFlow<()>,
) -> io::Result<(Tally, Vec<ClusterEvent>)> {
    let settings = &exhaustive(settings);
    let worker = || {
        let mut arriver = Arriver::new(settings, lexicons.clone());
        move |entry| arriver.sign(entry)
    };
    let mut arrivals: Vec<Arrival> = Vec::new();
    // The verdicts on what was set aside, each before the arrival with its number.
    let mut rejected: Vec<(usize, Box<Verdict>)> = Vec::new();
    let tally = in_order(read, n_threads, worker, Signed::of_bug, |signed| {
        for one in signed {
            match one {
                Signed::Arrival(arrival, n_bytes) => {
                    arrivals.push(*arrival);
                    tell(Told::Bytes(n_bytes))?;
                }
                Signed::Rejected(verdict, report) => {
                    rejected.push((arrivals.len(), verdict));
                    tell(Told::Trouble(report))?;
                }
                Signed::Unread(report) => tell(Told::Trouble(report))?,
            }
        }
        Ok::<_, io::Error>(())
    })?;

    let mut store = Store::exhaustive(settings, &arrivals);
    let n_all = arrivals.len();
    let settled = store.settle_all(&arrivals, |n_done| compared(Compared { n_done, n_all }));
    if settled.len() < n_all {
        arrivals.truncate(settled.len());
        rejected.retain(|(before, _)| *before <= settled.len());
    }
    let mut judge = Judge::new(settings, 0, labels);
    store.all_merges().iter().for_each(|merge| judge.merge(merge));
    let mut rejected = rejected.into_iter().peekable();
    let mut told = Ok(());
    let mut say = |verdict: Box<Verdict>| {
        if told.is_ok() {
            told = tell(Told::Event(Event::Verdict(verdict)));
        }
    };
    let mut number = 0;
    judge.judge_all(&arrivals, &settled, &store, settings, n_threads.get(), |verdict| {
        while let Some((_, earlier)) = rejected.next_if(|(before, _)| *before <= number) {
            say(earlier);
        }
        say(Box::new(verdict));
        number += 1;
    });
    rejected.for_each(|(_, verdict)| say(verdict));
    told?;
    Ok((tally, store.ranking()))
}

/// Judges records exhaustively and returns one verdict for each, in their order.
pub fn judge_exact(records: Vec<Record>, settings: &Settings) -> Result<Vec<Verdict>, Problems> {
    let n_threads = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    judge_exact_on(records, settings, n_threads)
}

/// The same on so many threads.
pub fn judge_exact_on(
    records: Vec<Record>,
    settings: &Settings,
    n_threads: NonZeroUsize,
) -> Result<Vec<Verdict>, Problems> {
    let lexicons = lexicon::load(settings)?;
    let mut verdicts = Vec::with_capacity(records.len());
    let tell = |told| {
        if let Told::Event(Event::Verdict(verdict)) = told {
            verdicts.push(*verdict);
        }
        Ok(())
    };
    scan_exact(listed(records), settings, &lexicons, Labels::new(0), n_threads, tell, |_| ControlFlow::Continue(()))
        .expect("nothing is written that could fail");
    Ok(verdicts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Carrier, Format};

    #[test]
    fn a_source_needs_as_much_of_all_grams() {
        let exact = exhaustive(&Settings::default()).quilt;
        assert_eq!((exact.source_grams_min, exact.source_grams_min_unspaced), (12, 30));
        let mut settings = Settings::default();
        settings.grams.window = NonZeroUsize::MIN;
        assert_eq!(exhaustive(&settings).quilt, settings.quilt, "all grams were kept before");
    }

    #[test]
    fn what_was_compared_is_judged_as_if_no_other_had_come() {
        let settings = Settings::default();
        let records = |n: u64| -> Vec<Record> {
            // Letters: what has digits is masked.
            let word = |number: u64| number.to_string().bytes().map(|digit| char::from(digit + 49)).collect::<String>();
            let text = |number: u64| (0..60).map(|nth| word((number / 2 + 1) * 1000 + nth) + " ").collect::<String>();
            let carrier = |number: u64| Carrier { id: Some(format!("d{number}")), ..Carrier::default() };
            let page = |number| Record { format: Format::Page, body: text(number).into(), carrier: carrier(number) };
            let broken =
                |number| Record { format: Format::PageEnvelope, body: b"{".to_vec(), carrier: carrier(number) };
            (0..n).map(|number| if number % 4 == 3 { broken(number) } else { page(number) }).collect()
        };
        let lexicons = lexicon::load(&settings).unwrap();
        let mut verdicts = Vec::new();
        let tell = |told| {
            if let Told::Event(Event::Verdict(verdict)) = told {
                verdicts.push(*verdict);
            }
            Ok(())
        };
        let compared = |Compared { n_done, .. }| match n_done {
            5 => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        };
        let all = listed(records(12));
        scan_exact(all, &settings, &lexicons, Labels::new(0), NonZeroUsize::MIN, tell, compared).unwrap();
        // Five that can be compared, and one that is set aside. Those set aside later are not told of either.
        assert_eq!(verdicts, judge_exact(records(6), &settings).unwrap());
        assert_eq!(verdicts.iter().filter(|verdict| verdict.mirror.is_some()).count(), 2);
        assert_eq!(verdicts.iter().filter(|verdict| verdict.reason.is_some()).count(), 1);
    }
}
