//! The state of a store, and how it folds batches: the same whether a batch is new or stands in the journal.
//!
//! # Invariants
//! - A record at or below its partition's position is passed over: what is delivered twice is folded once.
//!   (`a_repeated_record_is_folded_once`)
//! - A batch that is folded again gives the same events, in one go or piece by piece. (`tests/promises/run`,
//!   `pieces_make_the_same_batch`)

use super::inlet::{Fate, SetAside, Taken, source};
use super::journal::{self, Batch, Entry, Epoch, Origin, SCHEMA, What};
use super::label::{LabelRecord, Order};
use super::marks::Marks;
use super::scheme::Scheme;
use super::succession::{Handover, Succession, numbered};
use crate::bus::{Outgoing, Partition, Positions};
use crate::pipeline::filter::{Event, Filter, Twin};
use crate::signature;
use crate::verdict::event::Verdict;
use crate::verdict::judge::rejected;
use std::borrow::Cow;
use std::sync::Arc;

/// The state of a store.
pub struct Fold {
    /// Under what it folds.
    pub scheme: Arc<Scheme>,
    /// What it remembers.
    pub filter: Filter,
    /// Where it is in every partition.
    pub positions: Positions,
    /// By what the last records are known again.
    pub marks: Marks,
    /// The number of the last entry.
    pub number: u64,
    /// The epoch it is in; 0 before the first.
    pub epoch: u64,
    /// What is to take its place, while something is.
    pub succession: Option<Succession>,
    /// Where it took the place of another, if it did.
    pub handover: Option<Handover>,
}

/// What came of a batch, before it is written out.
pub struct Folded {
    /// Its journal entry; counts and digest are to be filled in.
    pub entry: Entry,
    /// What is said of records that were set aside. It comes before all else, so that the pieces of a batch do not show.
    pub rejected: Vec<Verdict>,
    /// What is said of the others, in order.
    pub events: Vec<Event>,
    /// How many rejections, unspoken ones and events somebody was told already.
    pub(super) n_told: [usize; 3],
    /// What is set aside, with the reasons.
    pub letters: Vec<(Cow<'static, str>, Outgoing)>,
    /// What is said of records that were set aside and that nobody has named: it is published nowhere, and told to who waits for it.
    pub unspoken: Vec<Verdict>,
    /// When the bus got the documents, one each: what latency is measured from.
    pub times_ms: Vec<i64>,
    /// Bytes of the records.
    pub n_bytes: usize,
}

impl Folded {
    /// The verdicts that were added since the last time, those that are not published too.
    pub fn news(&mut self) -> impl Iterator<Item = &Verdict> {
        let Self { rejected, unspoken, events, n_told, .. } = self;
        let [n_rejected, n_unspoken, n_events] =
            std::mem::replace(n_told, [rejected.len(), unspoken.len(), events.len()]);
        let judged = events[n_events..].iter().filter_map(|event| match event {
            Event::Verdict(verdict) => Some(&**verdict),
            Event::Cluster(_) => None,
        });
        rejected[n_rejected..].iter().chain(&unspoken[n_unspoken..]).chain(judged)
    }
}

impl Fold {
    /// A state that has seen nothing.
    pub fn new(scheme: Arc<Scheme>) -> Self {
        let (filter, positions, marks) = (scheme.filter(), Positions::default(), Marks::default());
        Self { filter, scheme, positions, marks, number: 0, epoch: 0, succession: None, handover: None }
    }

    /// Forgets all that was folded, and goes on from there with an empty store under `scheme`.
    pub fn begin_anew(&mut self, scheme: Arc<Scheme>) {
        let (positions, marks) = (std::mem::take(&mut self.positions), std::mem::take(&mut self.marks));
        *self = Self { positions, marks, number: self.number, epoch: self.epoch, ..Self::new(scheme) };
    }

    /// Takes labels in, then folds what was taken.
    pub fn fold(&mut self, labels: Vec<LabelRecord>, taken: Vec<Taken>, n_threads: usize) -> Folded {
        let mut folded = self.begin(labels);
        self.add(&mut folded, taken, n_threads);
        folded
    }

    /// Folds more into a batch that was begun, and is the last one.
    pub fn add(&mut self, folded: &mut Folded, taken: Vec<Taken>, n_threads: usize) {
        assert_eq!(folded.entry.number, self.number, "only the last batch can grow");
        let (mut arrivals, mut twins) = (Vec::with_capacity(taken.len()), Vec::new());
        let What::Batch(batch) = &mut folded.entry.what else { unreachable!("a batch was begun") };
        for Taken { partition, offset, time_ms, n_bytes, digest, fate, via, beside } in taken {
            match &via {
                None => journal::add(&mut batch.ranges, &partition, offset),
                Some((signed, offset)) => {
                    journal::add(&mut batch.ranges, signed, *offset);
                    self.positions.pass(signed, *offset);
                    self.marks.set(signed, *offset, digest);
                }
            }
            if offset < self.positions.next(&partition) {
                continue;
            }
            self.positions.pass(&partition, offset);
            match via {
                None => self.marks.set(&partition, offset, digest),
                // The record itself was seen by a signer alone.
                Some(_) => self.marks.forget(&partition),
            }
            folded.n_bytes += n_bytes;
            // What was on its way at a succession was signed under both schemes.
            let (fate, beside) = match beside {
                Some(beside) if self.succession.is_none() => (*beside, None),
                beside => (fate, beside),
            };
            assert_eq!(beside.is_some(), self.succession.is_some(), "{partition} {offset} under one scheme of two");
            if let Some(Fate::Document(arrival)) = beside.map(|beside| *beside) {
                let elder = matches!(fate, Fate::Document(_)).then_some(arrivals.len());
                twins.push(Twin { arrival: *arrival, elder });
            }
            match fate {
                Fate::Document(arrival) => {
                    folded.times_ms.push(time_ms);
                    arrivals.push(*arrival);
                }
                Fate::SetAside(set_aside) => {
                    let SetAside { reason, letter, verdict } = *set_aside;
                    if verdict.is_none() {
                        let source = source(&partition, offset, time_ms);
                        folded.unspoken.push(rejected(String::new(), None, None, source, &reason));
                    }
                    folded.letters.extend(letter.map(|letter| (reason, letter)));
                    folded.rejected.extend(verdict);
                }
                Fate::Empty => {}
            }
        }
        let Self { filter, handover, .. } = self;
        filter.fold_both(&arrivals, twins, n_threads, |event| folded.events.push(numbered(event, handover.as_ref())));
        folded.entry.positions.clone_from(&self.positions);
        folded.entry.marks.clone_from(&self.marks);
    }

    /// Takes labels in, then decides all that waits to be looked at again.
    pub fn idle(&mut self, labels: Vec<LabelRecord>) -> Folded {
        let mut folded = self.begin(labels);
        let Self { filter, handover, .. } = self;
        filter.settle_revisions(|event| folded.events.push(numbered(event, handover.as_ref())));
        let What::Batch(batch) = folded.entry.what else { unreachable!("a batch was begun") };
        folded.entry.what = What::Idle(batch);
        folded.entry.positions = self.positions.clone();
        folded
    }

    /// Begins an epoch.
    pub fn turn(&mut self, state: Origin) -> Folded {
        let scheme = match (&state, &self.succession) {
            (Origin::Beside { .. }, Some(succession)) => &succession.scheme,
            _ => &self.scheme,
        };
        let epoch = Epoch {
            settings: scheme.decisive(),
            settings_digest: scheme.digest(),
            key_id: scheme.key_id(),
            scheme: signature::SCHEME,
            state,
        };
        self.epoch += 1;
        self.next(What::Epoch(Box::new(epoch)))
    }

    /// Goes on under another scheme with all that it remembers, where the tables of both have one shape.
    pub fn carry(&mut self, scheme: Arc<Scheme>) -> anyhow::Result<()> {
        let mut filter = scheme.filter();
        self.filter.can_carry(&filter)?;
        for label in self.filter.labels().all() {
            filter.label((*label).clone())?;
        }
        std::mem::swap(&mut self.filter, &mut filter);
        self.filter.carry(filter)?;
        self.scheme = scheme;
        Ok(())
    }

    /// Begins a batch: takes labels in.
    pub fn begin(&mut self, labels: Vec<LabelRecord>) -> Folded {
        let mut letters = Vec::new();
        for record in &labels {
            let topic = self.scheme.settings.topics.labels.as_str();
            self.positions.pass(&Partition::new(topic, record.partition), record.offset);
            let applied = record.order().and_then(|order| self.apply(order));
            if let Err(problem) = applied {
                letters.push((Cow::Borrowed("label"), self.label_letter(record, &problem)));
            }
        }
        let mut folded = self.next(What::Batch(Batch { labels, ..Batch::default() }));
        folded.letters = letters;
        folded
    }

    fn next(&mut self, what: What) -> Folded {
        self.number += 1;
        let entry = Entry {
            schema: SCHEMA,
            number: self.number,
            epoch: self.epoch,
            what,
            positions: self.positions.clone(),
            marks: self.marks.clone(),
        };
        let (rejected, unspoken, events, letters, times_ms) = Default::default();
        Folded { entry, rejected, unspoken, events, n_told: [0; 3], letters, times_ms, n_bytes: 0 }
    }

    fn apply(&mut self, order: Order) -> Result<(), String> {
        match order {
            Order::Label(label) => self.filter.label(*label).map_err(|full| full.to_string()),
            Order::Forget(id) => {
                self.filter.forget(&id);
                Ok(())
            }
        }
    }

    fn label_letter(&self, record: &LabelRecord, problem: &str) -> Outgoing {
        let topics = &self.scheme.settings.topics;
        let header = |name: &'static str, value: String| (name.into(), value.into_bytes());
        Outgoing {
            topic: topics.dead_letters.as_str().into(),
            partition: None,
            key: record.key.clone().map(String::into_bytes),
            headers: vec![
                header("reason", "label".into()),
                header("detail", problem.to_owned()),
                header("topic", topics.labels.clone()),
                header("partition", record.partition.to_string()),
                header("offset", record.offset.to_string()),
            ],
            value: record.value.clone().map(String::into_bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::outputs::{Outlet, Publication};
    use super::*;
    use crate::document::Kind;
    use crate::store::tests::{arrival, settings};

    fn fold() -> Fold {
        Fold::new(Arc::new(Scheme::new(Arc::new(settings(6 << 20))).unwrap()))
    }

    /// Every fifth is set aside, every third a copy.
    fn taken(offset: i64) -> Taken {
        let (id, terms) = (format!("d{offset}"), 100 * (offset as u64 / 3)..100 * (offset as u64 / 3) + 60);
        let fate = if offset % 5 == 4 {
            let verdict = Some(rejected(id, Some(Kind::Page), None, Default::default(), "envelope"));
            let letter = Some(Outgoing::to("dead-letters"));
            Fate::SetAside(Box::new(SetAside { reason: "envelope".into(), letter, verdict }))
        } else {
            Fate::Document(Box::new(arrival(&id, Kind::Email, terms)))
        };
        Taken {
            partition: Partition::new("pages", (offset % 2) as i32),
            offset,
            time_ms: 7,
            n_bytes: 10,
            digest: Default::default(),
            fate,
            via: None,
            beside: None,
        }
    }

    fn written(fold: &Fold, folded: Folded) -> Publication {
        Outlet::new(&fold.scheme.settings).publication(folded)
    }

    #[test]
    fn pieces_make_the_same_batch() {
        let (mut whole, mut pieces) = (fold(), fold());
        let at_once = whole.fold(Vec::new(), (0..60).map(taken).collect(), 1);
        let at_once = written(&whole, at_once);
        let mut grown = pieces.begin(Vec::new());
        for from in (0..60).step_by(7) {
            pieces.add(&mut grown, (from..(from + 7).min(60)).map(taken).collect(), 1);
        }
        assert_eq!((grown.n_bytes, grown.times_ms.len()), (600, 48));
        let grown = written(&pieces, grown);
        assert_eq!((at_once.entry, at_once.records), (grown.entry, grown.records));
    }

    #[test]
    fn a_repeated_record_is_folded_once() {
        let mut fold = fold();
        let first = fold.fold(Vec::new(), (0..10).map(taken).collect(), 1);
        assert_eq!(written(&fold, first).records.len(), 10 + 2, "ten verdicts, two dead letters");
        let again = fold.fold(Vec::new(), (4..12).map(taken).collect(), 1);
        assert_eq!((again.times_ms.len(), again.letters.len(), fold.filter.census().n_documents), (2, 0, 10));
        assert_eq!(fold.positions.next(&Partition::new("pages", 1)), 12);
    }
}
