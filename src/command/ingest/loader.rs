//! The thread that appends what was read, batch by batch, and notes what is durable.
//!
//! # Invariants
//! - What the ledger says is durable. (`an_ingest_that_was_killed_goes_on`)
//! - What waits is bounded: a batch, and a few documents behind it.

use super::ledger::{Ledger, Met, Progress};
use crate::bus::{Bus, BusError, Feeder, Outgoing, Partition};
use crate::command::complaints::Complaints;
use crate::pipeline::progress;
use anyhow::Context;
use crossbeam_channel::{Receiver, RecvTimeoutError};
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Documents that wait behind a batch.
pub(super) const QUEUE_MAX: usize = 16;
/// A batch is full with so many documents or bytes ...
const DOCUMENTS_MAX: usize = 1000;
const BYTES_MAX: usize = 4 << 20;
/// ... or after so long.
const WAIT: Duration = Duration::from_millis(100);
/// A bus that cannot be reached is tried again for so long, with such pauses.
const PATIENCE: Duration = Duration::from_secs(60);
const PAUSES: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(5)];

/// What the reading hands over, in its order.
pub(super) enum Step {
    /// A document, and what is known of its file when it is durable.
    Document { place: String, outgoing: Outgoing, mark: Option<Mark> },
    /// So far nothing more is to be sent.
    Mark(Mark),
}

/// How far a file is.
pub(super) type Mark = (Arc<Met>, Progress);

/// What was done.
#[derive(Debug, Default)]
pub(super) struct Loaded {
    pub(super) n_by_topic: BTreeMap<Arc<str>, u64>,
    pub(super) n_bytes: u64,
    pub(super) n_refused: u64,
}

pub(super) struct Loader {
    pub(super) bus: Arc<dyn Bus>,
    pub(super) ledger: Ledger,
    pub(super) progress: progress::Progress,
    pub(super) is_interrupted: Arc<AtomicBool>,
    pub(super) complaints: Arc<Complaints>,
}

/// What is appended together.
#[derive(Default)]
struct Batch {
    documents: Vec<(String, Outgoing)>,
    n_bytes: usize,
    marks: HashMap<PathBuf, Mark>,
}

impl Batch {
    fn add(&mut self, step: Step) {
        let mark = match step {
            Step::Document { place, outgoing, mark } => {
                self.n_bytes += outgoing.n_bytes();
                self.documents.push((place, outgoing));
                mark
            }
            Step::Mark(mark) => Some(mark),
        };
        if let Some(mark) = mark {
            self.marks.insert(mark.0.path.clone(), mark);
        }
    }

    fn is_full(&self) -> bool {
        self.documents.len() >= DOCUMENTS_MAX || self.n_bytes >= BYTES_MAX || self.marks.len() >= DOCUMENTS_MAX
    }
}

impl Loader {
    /// Appends what comes until nothing more does.
    pub(super) fn run(mut self, steps: &Receiver<Step>) -> anyhow::Result<Loaded> {
        let mut feeder = self.bus.feeder()?;
        let mut loaded = Loaded::default();
        while let Ok(first) = steps.recv() {
            let until = Instant::now() + WAIT;
            let mut batch = Batch::default();
            batch.add(first);
            let mut is_over = false;
            while !batch.is_full() && !is_over {
                match steps.recv_deadline(until) {
                    Ok(step) => batch.add(step),
                    Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => is_over = true,
                }
            }
            self.load(&mut feeder, batch, &mut loaded)?;
            self.progress.show(loaded.n_by_topic.values().sum());
        }
        Ok(loaded)
    }

    fn load(&mut self, feeder: &mut Box<dyn Feeder>, batch: Batch, loaded: &mut Loaded) -> anyhow::Result<()> {
        let Batch { documents, marks, .. } = batch;
        let mut written: BTreeMap<Partition, i64> = BTreeMap::new();
        let mut note = |outgoing: &Outgoing, place: (Partition, i64)| {
            *loaded.n_by_topic.entry(outgoing.topic.clone()).or_default() += 1;
            loaded.n_bytes += outgoing.n_bytes() as u64;
            let next = written.entry(place.0).or_default();
            *next = (*next).max(place.1 + 1);
        };
        let all: Vec<Outgoing> = documents.iter().map(|(_, outgoing)| outgoing.clone()).collect();
        match self.append(feeder, all) {
            Ok(places) => documents.iter().zip(places).for_each(|((_, outgoing), place)| note(outgoing, place)),
            // The bus takes less than the settings say. One after the other it can be told which.
            Err(BusError::TooLarge { .. }) => {
                for (place, outgoing) in &documents {
                    match self.append(feeder, vec![outgoing.clone()]) {
                        Ok(places) => places.into_iter().for_each(|place| note(outgoing, place)),
                        Err(error @ BusError::TooLarge { .. }) => {
                            loaded.n_refused += 1;
                            self.complaints.say(&self.progress, &format!("{place}: {error}"));
                        }
                        Err(error) => return Err(error.into()),
                    }
                }
            }
            Err(error) => return Err(error.into()),
        }
        let marks = marks.into_values().map(|(met, progress)| (Met::clone(&met), progress));
        self.ledger.note(marks, &written).context("what was done cannot be written down (--resume FILE says where)")
    }

    /// Appends the records. A trouble that passes is waited out; what was perhaps appended is then appended again, as a recrawl.
    fn append(&self, feeder: &mut Box<dyn Feeder>, records: Vec<Outgoing>) -> Result<Vec<(Partition, i64)>, BusError> {
        let (begun, mut pause) = (Instant::now(), PAUSES[0]);
        loop {
            let outcome = feeder.append(records.clone());
            let passes = matches!(outcome, Err(BusError::Unreachable { .. } | BusError::Broken(_)));
            let is_over = begun.elapsed() + pause > PATIENCE || self.is_interrupted.load(Ordering::Relaxed);
            match outcome {
                Err(error) if passes && !is_over => {
                    self.progress.say(format_args!("{error}; trying again"));
                    thread::sleep(pause);
                    pause = (pause * 2).min(PAUSES[1]);
                    // What was broken is of no further use.
                    if let Ok(another) = self.bus.feeder() {
                        *feeder = another;
                    }
                }
                outcome => return outcome,
            }
        }
    }
}
