//! The state of a store, and how it folds batches: the same whether a batch is new or stands in the journal.
//!
//! # Invariants
//! - A record at or below its partition's position is passed over: what is delivered twice is folded once.
//!   (`a_repeated_record_is_folded_once`)
//! - A batch that is folded again gives the same events. (`tests/promises/run.rs`)

use super::inlet::{Fate, SetAside, Taken, source};
use super::journal::{self, Batch, Entry, Epoch, Origin, SCHEMA, What};
use super::label::{LabelRecord, Order};
use super::scheme::Scheme;
use crate::bus::{Outgoing, Partition, Positions};
use crate::pipeline::filter::{Event, Filter};
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
    /// The number of the last entry.
    pub number: u64,
    /// The epoch it is in; 0 before the first.
    pub epoch: u64,
}

/// What came of a batch, before it is written out.
pub struct Folded {
    /// Its journal entry; counts and digest are to be filled in.
    pub entry: Entry,
    /// What is said, in order.
    pub events: Vec<Event>,
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
    /// All verdicts, those that are not published too.
    pub fn verdicts(&self) -> impl Iterator<Item = &Verdict> {
        let spoken = self.events.iter().filter_map(|event| match event {
            Event::Verdict(verdict) => Some(&**verdict),
            Event::Cluster(_) => None,
        });
        spoken.chain(&self.unspoken)
    }
}

impl Fold {
    /// A state that has seen nothing.
    pub fn new(scheme: Arc<Scheme>) -> Self {
        Self { filter: scheme.filter(), scheme, positions: Positions::default(), number: 0, epoch: 0 }
    }

    /// Takes labels in, then folds what was taken.
    pub fn fold(&mut self, labels: Vec<LabelRecord>, taken: Vec<Taken>, n_threads: usize) -> Folded {
        let mut folded = self.begun(labels);
        let mut arrivals = Vec::with_capacity(taken.len());
        let What::Batch(batch) = &mut folded.entry.what else { unreachable!("a batch was begun") };
        for Taken { partition, offset, time_ms, n_bytes, fate, via } in taken {
            match &via {
                None => journal::add(&mut batch.ranges, &partition, offset),
                Some((signed, offset)) => {
                    journal::add(&mut batch.ranges, signed, *offset);
                    self.positions.pass(signed, *offset);
                }
            }
            if offset < self.positions.next(&partition) {
                continue;
            }
            self.positions.pass(&partition, offset);
            folded.n_bytes += n_bytes;
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
                    folded.events.extend(verdict.map(|verdict| Event::Verdict(Box::new(verdict))));
                }
                Fate::Empty => {}
            }
        }
        self.filter.fold(&arrivals, n_threads, |event| folded.events.push(event));
        folded.entry.positions = self.positions.clone();
        folded
    }

    /// Takes labels in, then decides all that waits to be looked at again.
    pub fn idle(&mut self, labels: Vec<LabelRecord>) -> Folded {
        let mut folded = self.begun(labels);
        self.filter.settle_revisions(|event| folded.events.push(event));
        let What::Batch(batch) = folded.entry.what else { unreachable!("a batch was begun") };
        folded.entry.what = What::Idle(batch);
        folded.entry.positions = self.positions.clone();
        folded
    }

    /// Begins an epoch.
    pub fn turn(&mut self, state: Origin) -> Folded {
        let scheme = &self.scheme;
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

    fn begun(&mut self, labels: Vec<LabelRecord>) -> Folded {
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
        let entry =
            Entry { schema: SCHEMA, number: self.number, epoch: self.epoch, what, positions: self.positions.clone() };
        Folded {
            entry,
            events: Vec::new(),
            letters: Vec::new(),
            unspoken: Vec::new(),
            times_ms: Vec::new(),
            n_bytes: 0,
        }
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
