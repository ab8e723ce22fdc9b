//! Following the journal: folding again what others have folded, without publishing, until the seat is one's own.
//!
//! A restart and a standby are the same thing: both begin at a snapshot and follow. What comes of each entry must be what
//! the entry says.
//!
//! # Invariants
//! - Whoever judges has followed all that was committed before it. (`tests/promises/run`)
//! - A run that ends by itself does so too where it has lost its seat. (`an_idle_run_that_lost_its_seat_ends_when_all_is_judged`)
//! - A verdict that comes out otherwise than it was published stops the instance. (`a_forged_journal_is_noticed`)

mod beside;
mod finder;

use super::fold::{Fold, Folded};
use super::inlet::{Inlet, Taken};
use super::journal::{Batch, Entry, Origin, What};
use super::outputs::Publication;
use super::scheme::{Scheme, Under};
use super::{Instance, Lost};
use crate::bus::{Record, Seat};
use crate::pipeline::filter::Event;
use crate::pipeline::line::{Belt, Job, Pace, line};
use crate::verdict::event::Verdict;
use anyhow::{Context, bail};
use beside::Beside;
use finder::Finder;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tracing::info;

/// So often somebody who asks is answered, also when there is nothing to follow.
const TICK: Duration = Duration::from_millis(20);

/// How following ended.
pub enum Followed {
    /// The seat is our own, and the state is that of the journal's end.
    Seated {
        /// The state.
        fold: Box<Fold>,
        /// The seat.
        seat: Box<dyn Seat>,
        /// What was lost on the way, where that was accepted.
        lost: Option<Lost>,
    },
    /// We were asked to stop, or had read all that there was to read.
    Stopped(Box<Fold>),
    /// The journal goes on from a state that only a snapshot has.
    NeedsSnapshot {
        /// Where it goes on.
        journal: i64,
    },
}

/// A step of following.
enum Step {
    Record(Box<Record>, Arc<Under>, Beside),
    Entry(Box<Entry>, Option<Arc<Scheme>>),
}

/// The same, done.
enum Done {
    Taken(Box<Taken>, Option<Box<Taken>>),
    Entry(Box<Entry>, Option<Arc<Scheme>>),
}

impl Job for Step {
    fn n_bytes(&self) -> usize {
        match self {
            Self::Record(record, ..) => record.n_bytes(),
            Self::Entry(..) => 0,
        }
    }
}

/// Until when to follow.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// Until the seat is our own.
    Seated,
    /// The same, or until the journal has said nothing for so long and all inputs are judged.
    Judged(Duration),
    /// Until the end that the journal had at the start.
    End,
}

/// An entry that was folded again.
pub struct Met<'a> {
    /// The state that it left.
    pub fold: &'a Fold,
    /// What stands in the journal.
    pub entry: &'a Entry,
    /// What came of it now.
    pub again: Publication,
    /// What is said of records that nobody has named.
    pub unspoken: Vec<Verdict>,
    /// What another scheme makes of its records, where one was asked for.
    pub beside: Vec<Taken>,
}

/// Follows the journal from `journal` on; what comes of each entry must be what it says.
pub fn follow(instance: &Instance, fold: Fold, journal: i64, until: Until) -> anyhow::Result<Followed> {
    follow_with(instance, fold, journal, until, None, |met| {
        let Met { fold, entry, again, unspoken, .. } = met;
        same(entry, &again.entry)?;
        let waiters = &instance.state.checks().waiters;
        waiters.commit(entry.number);
        let spoken = again.events.iter().filter_map(|event| match event {
            Event::Verdict(verdict) => Some(&**verdict),
            Event::Cluster(_) => None,
        });
        waiters.judge(entry.number, spoken.chain(&unspoken));
        if matches!(entry.what, What::Epoch(_)) {
            instance.show(fold);
        }
        instance.show_followed(entry, again.events, fold);
        Ok(())
    })
}

/// The same, with what comes of each entry judged by `met`, which is also given what the scheme `beside` makes of its records.
pub fn follow_with(
    instance: &Instance,
    mut fold: Fold,
    journal: i64,
    until: Until,
    beside: Option<&Scheme>,
    mut met: impl FnMut(Met<'_>) -> anyhow::Result<()>,
) -> anyhow::Result<Followed> {
    let n_threads = instance.n_threads();
    let worker = || {
        let (mut inlet, mut other) = (None, None);
        move |step: Step| match step {
            Step::Entry(entry, scheme) => Done::Entry(entry, scheme),
            Step::Record(record, under, beside) => {
                let again = match &beside {
                    Beside::Signed(_, None) => Some(record.clone()),
                    Beside::Nothing | Beside::Alike | Beside::Signed(_, Some(_)) => None,
                };
                let taken = signed(&mut inlet, *record, under);
                let beside = match beside {
                    Beside::Nothing => None,
                    Beside::Alike => Some(Taken { beside: None, ..taken.clone() }),
                    Beside::Signed(under, original) => {
                        let record = original.or(again).expect("one of the two is there");
                        Some(Taken { via: taken.via.clone(), ..signed(&mut other, *record, under) })
                    }
                };
                Done::Taken(Box::new(taken), beside.map(Box::new))
            }
        }
    };
    let (mut taken, mut taken_beside) = (Vec::new(), Vec::new());
    let begun = Instant::now();
    let (first, mut n_documents) = (fold.number, 0);
    // From the first entry that does not come out as it was published none is followed, where that is accepted.
    let mut strayed: Option<(Lost, Entry)> = None;
    let finder = Finder::new(instance, &fold, journal, beside);
    let find = |belt: &mut Belt<Step>| finder.find(belt, until);
    let checks = instance.state.checks();
    let pace = Pace { tick: Some(TICK), bell: Some(checks.probes.bell()), ..Pace::default() };
    let found = line(find, n_threads, worker, pace, |done: Vec<Done>| {
        instance.state.questions().answer(&fold);
        for one in done {
            match one {
                Done::Taken(one, beside) => {
                    taken.push(*one);
                    taken_beside.extend(beside.map(|beside| *beside));
                }
                Done::Entry(entry, scheme) => {
                    let (taken, beside) = (std::mem::take(&mut taken), std::mem::take(&mut taken_beside));
                    if let Some((_, last)) = &mut strayed {
                        *last = *entry;
                        continue;
                    }
                    n_documents += taken.len();
                    let folded = again(&mut fold, &entry, scheme, taken, instance)?;
                    let unspoken = folded.unspoken.clone();
                    let again = instance.outlet.publication(folded);
                    match met(Met { fold: &fold, entry: &entry, again, unspoken, beside }) {
                        Err(_) if instance.accept_loss => {
                            let why =
                                format!("journal entry {} came out otherwise than it was published", entry.number);
                            strayed = Some((Lost { why }, *entry));
                        }
                        met => met?,
                    }
                }
            }
        }
        // A standby answers; who is being restored does not know yet.
        match instance.state.phase().is_ready() {
            true => checks.probes.answer(&fold.filter, &fold.scheme),
            false => checks.probes.turn_away(),
        }
        anyhow::Ok(())
    })??;
    let seconds = begun.elapsed().as_secs_f64();
    info!(n_entries = fold.number - first, n_documents, seconds, "journal followed");
    if let Some(journal) = found.needs_snapshot {
        return Ok(Followed::NeedsSnapshot { journal });
    }
    let lost = found.lost.or(strayed).map(|(lost, last)| {
        // Labels are read again from where the state knows them; inputs go on where the journal left them.
        let labels = fold.positions.0.iter().filter(|(partition, _)| partition.topic == instance.labels_topic);
        let labels: Vec<_> = labels.map(|(partition, next)| (partition.clone(), *next)).collect();
        (fold.positions, fold.marks) = (last.positions, last.marks);
        fold.positions.0.retain(|partition, _| partition.topic != instance.labels_topic);
        fold.positions.0.extend(labels);
        (fold.number, fold.epoch) = (last.number, last.epoch);
        lost
    });
    Ok(match found.seat {
        Some(seat) => Followed::Seated { fold: Box::new(fold), seat, lost },
        None => Followed::Stopped(Box::new(fold)),
    })
}

fn signed(inlet: &mut Option<(Arc<Under>, Inlet)>, record: Record, under: Arc<Under>) -> Taken {
    if !inlet.as_ref().is_some_and(|(its, _)| Arc::ptr_eq(its, &under)) {
        *inlet = Some((under.clone(), under.inlet()));
    }
    let (_, inlet) = inlet.as_mut().expect("it was made");
    inlet.take(record)
}

/// Folds what `entry` says was folded.
fn again(
    fold: &mut Fold,
    entry: &Entry,
    scheme: Option<Arc<Scheme>>,
    taken: Vec<Taken>,
    instance: &Instance,
) -> anyhow::Result<Folded> {
    assert_eq!(entry.number, fold.number + 1, "entries are put on the belt in their order");
    Ok(match &entry.what {
        What::Seat { .. } => unreachable!("it is not put on the belt"),
        What::Batch(Batch { labels, .. }) => fold.fold(labels.clone(), taken, instance.n_fold_threads()),
        What::Idle(Batch { labels, .. }) => fold.idle(labels.clone()),
        What::Epoch(epoch) => {
            let scheme = scheme.context("an epoch has a scheme");
            match epoch.state {
                Origin::Empty => *fold = Fold { epoch: fold.epoch, number: fold.number, ..Fold::new(scheme?) },
                Origin::Carried => fold.carry(scheme?)?,
                Origin::Beside { hours, heirs_max } => fold.begin_beside(scheme?, hours, heirs_max)?,
                Origin::Succeeded => return Ok(fold.succeed()),
                Origin::Withdrawn => fold.withdraw(),
                Origin::Snapshot { .. } => bail!("journal entry {} cannot be followed", entry.number),
            }
            fold.turn(epoch.state.clone())
        }
    })
}

/// Whether an entry came out as it was published.
fn same(entry: &Entry, again: &Entry) -> anyhow::Result<()> {
    if !entry.is_met_by(again) {
        bail!(
            "journal entry {} comes out otherwise than it was published (digest {}, published {}): its records are others, \
             or this version judges otherwise. `seamripper audit` tells what differs; a newer snapshot, or --accept-loss, \
             goes on without following it",
            entry.number,
            digest(again),
            digest(entry)
        );
    }
    Ok(())
}

fn digest(entry: &Entry) -> &str {
    match &entry.what {
        What::Batch(batch) | What::Idle(batch) => &batch.digest,
        What::Epoch(epoch) => &epoch.settings_digest,
        What::Seat { .. } => "none",
    }
}
