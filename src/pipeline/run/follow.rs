//! Following the journal: folding again what others have folded, without publishing, until the seat is one's own.
//!
//! A restart and a standby are the same thing: both begin at a snapshot and follow. What comes of each entry must be what
//! the entry says.
//!
//! # Invariants
//! - Whoever judges has followed all that was committed before it. (`tests/promises/run`)
//! - A run that ends by itself does so too where it has lost its seat. (`an_idle_run_that_lost_its_seat_ends_when_all_is_judged`)
//! - A verdict that comes out otherwise than it was published stops the instance. (`a_forged_journal_is_noticed`)

use super::fold::{Fold, Folded};
use super::inlet::{Inlet, Taken, Ways};
use super::journal::{Batch, Entry, Epoch, Origin, Range, SCHEMA, What};
use super::marks::Marks;
use super::outputs::Publication;
use super::replay::Replay;
use super::scheme::{Scheme, Under};
use super::{Instance, Lost, Phase, signed};
use crate::bus::{BusError, Partition, Positions, Record, Seat};
use crate::fault;
use crate::pipeline::filter::Event;
use crate::pipeline::line::{Belt, Job, Pace, line};
use crate::verdict::event::Verdict;
use anyhow::{Context, bail};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tracing::{info, warn};

const POLL_ENTRIES_MAX: usize = 64;
const POLL_BYTES_MAX: usize = 16 << 20;
/// How long a standby sleeps between two looks at the journal.
const WAIT: Duration = Duration::from_millis(50);
/// How long the inputs are asked at most whether there is more in them.
const LOOK_MAX: Duration = Duration::from_secs(5);
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

/// What else is made of a record.
enum Beside {
    /// Nothing.
    Nothing,
    /// Another scheme makes the same of it.
    Alike,
    /// Another scheme makes something else of it, or of the record that a signer has made it of.
    Signed(Arc<Under>, Option<Box<Record>>),
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

/// What the finding thread has found out.
struct Found {
    seat: Option<Box<dyn Seat>>,
    lost: Option<(Lost, Entry)>,
    /// Where the journal goes on from a state that only a snapshot has.
    needs_snapshot: Option<i64>,
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

/// Finds entries and their records, and stands for the seat.
struct Finder<'a> {
    instance: &'a Instance,
    under: Arc<Under>,
    replay: Replay,
    journal: i64,
    /// The number of the last entry that was found, and up to where inputs are judged with it.
    number: u64,
    positions: Positions,
    seat: Option<Box<dyn Seat>>,
    /// The offset of the record by which we took the seat.
    own: Option<i64>,
    lost: Option<(Lost, Entry)>,
    last: Option<Entry>,
    beside: Option<Other<'a>>,
}

/// What else is made of the records, and of what.
struct Other<'a> {
    wanted: &'a Scheme,
    /// The same for the inputs of the entries that are found now; `None` where it makes the same of them.
    under: Option<Arc<Under>>,
    /// Where those come from.
    ways: Ways,
    /// The records that signers have made theirs of.
    originals: Replay,
}

impl<'a> Other<'a> {
    fn new(wanted: &'a Scheme, scheme: &Scheme, originals: Replay) -> Self {
        let mut other = Self { wanted, under: None, ways: Ways::new(&scheme.settings), originals };
        other.turn(scheme);
        other
    }

    /// What is to be made of a record.
    fn of(&mut self, record: &Record) -> Result<Beside, BusError> {
        let Some(other) = &self.under else { return Ok(Beside::Alike) };
        let is_signed = record.partition.topic == self.ways.signed();
        let Some((partition, offset)) = is_signed.then(|| signed::origin(record, &self.ways)).flatten() else {
            return Ok(Beside::Signed(other.clone(), None));
        };
        let mut original = None;
        let range = Range { partition, from: offset, to: offset };
        let mut keep = |record| {
            original = Some(Box::new(record));
            ControlFlow::Continue(())
        };
        let _never_stopped = self.originals.range(&range, &mut || ControlFlow::Continue(()), &mut keep)?;
        Ok(Beside::Signed(other.clone(), original))
    }

    fn turn(&mut self, scheme: &Scheme) {
        let other = self.wanted.for_inputs_of(scheme);
        let under = |scheme| Under { scheme: Arc::new(scheme), successor: None, is_handed_over: Arc::default() };
        self.under = (!other.signs_like(scheme)).then(|| Arc::new(under(other)));
        self.ways = Ways::new(&scheme.settings);
    }
}

impl<'a> Finder<'a> {
    fn new(instance: &'a Instance, fold: &Fold, journal: i64, beside: Option<&'a Scheme>) -> Self {
        let replay = || Replay::new(instance.bus.clone(), &fold.positions);
        let (under, number) = (Arc::new(fold.under(Arc::default())), fold.number);
        let beside = beside.map(|wanted| Other::new(wanted, &under.scheme, replay()));
        let (replay, positions) = (replay(), fold.positions.clone());
        let (seat, own, lost, last) = (None, None, None, None);
        Self { instance, under, replay, journal, number, positions, seat, own, lost, last, beside }
    }

    fn find(mut self, belt: &mut Belt<Step>, until: Until) -> anyhow::Result<Found> {
        let Instance { bus, .. } = self.instance;
        let partition = Partition::new(self.instance.outlet.journal_topic(), 0);
        let end = bus.extent(&partition)?.end;
        let from = Positions([(partition.clone(), self.journal)].into());
        let mut reader = bus.reader(&from).context("the journal cannot be read from where the snapshot ends")?;
        let (mut silent, mut heard) = (0, Instant::now());
        loop {
            if self.instance.is_stopping() {
                return self.stopped();
            }
            let records = reader.poll(POLL_ENTRIES_MAX, POLL_BYTES_MAX, WAIT)?;
            if records.is_empty() {
                silent += 1;
            } else {
                (silent, heard) = (0, Instant::now());
            }
            for record in records {
                self.journal = record.offset + 1;
                if self.entry(&record, belt)?.is_break() {
                    return self.stopped();
                }
                let needs_snapshot = self.last.as_ref().is_some_and(needs_snapshot) && self.lost.is_none();
                if needs_snapshot {
                    if let Some(seat) = self.seat.take() {
                        seat.leave();
                    }
                    return Ok(Found { seat: None, lost: None, needs_snapshot: Some(self.journal) });
                }
                if self.own.is_some_and(|own| record.offset >= own) {
                    return Ok(Found { seat: self.seat, lost: self.lost, needs_snapshot: None });
                }
            }
            let _taker_is_there = belt.flush();
            // Behind the last record there may be marks that are no records.
            let has_caught_up = self.journal >= end || silent > 0 && reader.is_at_end();
            match until {
                Until::End if has_caught_up => return self.stopped(),
                Until::End => {}
                Until::Judged(idle) if self.own.is_none() && silent > 0 && heard.elapsed() >= idle => {
                    if self.is_all_judged()? {
                        return self.stopped();
                    }
                    heard = Instant::now();
                }
                Until::Seated | Until::Judged(_) => self.stand(has_caught_up)?,
            }
        }
    }

    /// Whether there is nothing in the inputs behind what was judged by the last entry. That a topic of Kafka ends with marks that are no
    /// records takes some questions to learn.
    fn is_all_judged(&self) -> anyhow::Result<bool> {
        let from = self.instance.inputs_from(&self.positions)?;
        let (mut reader, begun) = (self.instance.bus.reader(&from)?, Instant::now());
        while begun.elapsed() < LOOK_MAX {
            if !reader.poll(1, POLL_BYTES_MAX, WAIT)?.is_empty() {
                return Ok(false);
            }
            if reader.is_at_end() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Stands for the seat, once there is nothing more to catch up with, and takes it when it is given.
    fn stand(&mut self, has_caught_up: bool) -> anyhow::Result<()> {
        if self.own.is_some() {
            return Ok(());
        }
        let Instance { bus, .. } = self.instance;
        let seat = match &mut self.seat {
            Some(seat) => seat,
            none if has_caught_up => {
                self.instance.enter(Phase::Standby);
                none.insert(bus.seat()?)
            }
            _ => return Ok(()),
        };
        if !seat.poll(Duration::ZERO)? {
            return Ok(());
        }
        seat.take()?;
        fault::point("seat_taken");
        let by = self.instance.name.clone();
        let positions = Positions::default();
        let what = What::Seat { by };
        let entry = Entry { schema: SCHEMA, number: 0, epoch: 0, what, positions, marks: Marks::default() };
        match seat.publish(&[], &self.instance.outlet.journal(&entry), &Positions::default()) {
            Ok(offset) => self.own = Some(offset),
            Err(BusError::Fenced) => info!("another instance was quicker to take the seat"),
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Puts an entry on the belt, behind its records.
    fn entry(&mut self, record: &Record, belt: &mut Belt<Step>) -> anyhow::Result<ControlFlow<()>> {
        let (store, ours) = (record.key.as_deref().unwrap_or_default(), &self.instance.scheme.settings.bus.store);
        if store != ours.as_bytes() {
            bail!(
                "the journal is that of the store `{}`, and bus.store is `{ours}`: a store of its own needs a journal \
                 (topics.journal), outputs and a snapshot.folder of its own",
                String::from_utf8_lossy(store).escape_debug()
            );
        }
        let entry = Entry::from_json(record.value.as_deref().unwrap_or_default(), record.offset)?;
        if matches!(entry.what, What::Seat { .. }) {
            return Ok(ControlFlow::Continue(()));
        }
        self.positions.clone_from(&entry.positions);
        if let Some((_, last)) = &mut self.lost {
            *last = entry;
            return Ok(ControlFlow::Continue(()));
        }
        if entry.number != self.number + 1 && !needs_snapshot(&entry) {
            let why =
                format!("journal entry {} follows entry {}: what lies between is missing", entry.number, self.number);
            if !self.instance.accept_loss {
                bail!("{why}. --accept-loss goes on without it");
            }
            self.lost = Some((Lost { why }, entry));
            return Ok(ControlFlow::Continue(()));
        }
        self.number = entry.number;
        let mut scheme = None;
        match &entry.what {
            What::Epoch(epoch) => match self.turn(epoch) {
                Err(error) if self.instance.accept_loss => {
                    let why = format!("from journal entry {} on none can be followed: {error:#}", entry.number);
                    self.lost = Some((Lost { why }, entry));
                    return Ok(ControlFlow::Continue(()));
                }
                // No snapshot of what comes after it can be used either: nothing is waited for.
                Err(error) => {
                    return Err(error.context(format!(
                        "journal entry {} begins an epoch that cannot be followed (--accept-loss goes on where the \
                         journal ends, from the newest snapshot that can be used or from nothing)",
                        entry.number
                    )));
                }
                Ok(_) if needs_snapshot(&entry) => {
                    if self.instance.accept_loss {
                        let why = "the journal goes on from a state that is not there".to_owned();
                        self.lost = Some((Lost { why }, entry));
                    } else {
                        self.last = Some(entry);
                    }
                    return Ok(ControlFlow::Continue(()));
                }
                Ok(made) => scheme = made,
            },
            What::Batch(batch) => {
                for range in &batch.ranges {
                    let under = &self.under;
                    let instance = self.instance;
                    let seat = &mut self.seat;
                    let mut go_on = || {
                        // Whoever waits for records still has to show that it is alive.
                        if let Some(seat) = seat
                            && let Err(error) = seat.poll(Duration::ZERO)
                        {
                            warn!(%error, "the seat could not be asked for");
                        }
                        if instance.is_stopping() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                    };
                    let (beside, mut gone) = (&mut self.beside, None);
                    let mut put = |record: Record| {
                        let beside = match beside.as_mut().map(|other| other.of(&record)) {
                            None => Beside::Nothing,
                            Some(Ok(beside)) => beside,
                            Some(Err(error)) => {
                                gone = Some(error);
                                return ControlFlow::Break(());
                            }
                        };
                        belt.put(Step::Record(Box::new(record), under.clone(), beside))
                    };
                    let put = self.replay.range(range, &mut go_on, &mut put);
                    match gone.map_or(put, Err) {
                        Ok(ControlFlow::Continue(())) => {}
                        Ok(ControlFlow::Break(())) => return Ok(ControlFlow::Break(())),
                        Err(error @ BusError::Gone { .. }) if self.instance.accept_loss => {
                            let why = format!("journal entry {}: {error}", entry.number);
                            self.lost = Some((Lost { why }, entry));
                            return Ok(ControlFlow::Continue(()));
                        }
                        Err(error @ BusError::Gone { .. }) => {
                            return Err(anyhow::Error::new(error).context(format!(
                                "journal entry {} cannot be followed: its records are not there any more. \
                                 --accept-loss goes on from the newest snapshot without them",
                                entry.number
                            )));
                        }
                        Err(error) => return Err(error.into()),
                    }
                }
            }
            What::Idle(_) | What::Seat { .. } => {}
        }
        Ok(belt.put(Step::Entry(Box::new(entry), scheme)))
    }

    /// What is signed from an epoch on is signed under its scheme. Returns that, where it is a new one.
    fn turn(&mut self, epoch: &Epoch) -> anyhow::Result<Option<Arc<Scheme>>> {
        let recorded = || {
            let ours = &self.instance.scheme.settings;
            Scheme::recorded(&epoch.settings, &epoch.key_id, epoch.scheme, ours).map(Arc::new)
        };
        let Under { scheme, successor, .. } = &*self.under;
        let (scheme, successor, made) = match epoch.state {
            Origin::Empty | Origin::Carried | Origin::Snapshot { .. } => {
                let made = recorded()?;
                (made.clone(), None, Some(made))
            }
            Origin::Beside { .. } => {
                let made = recorded()?;
                (scheme.clone(), Some(made.clone()), Some(made))
            }
            Origin::Succeeded => (successor.clone().context("nothing was to take its place")?, None, None),
            Origin::Withdrawn => (scheme.clone(), None, None),
        };
        if let Some(other) = &mut self.beside {
            other.turn(&scheme);
        }
        self.under = Arc::new(Under { scheme, successor, is_handed_over: Arc::default() });
        Ok(made)
    }

    fn stopped(self) -> anyhow::Result<Found> {
        if let Some(seat) = self.seat {
            seat.leave();
        }
        Ok(Found { seat: None, lost: self.lost, needs_snapshot: None })
    }
}

fn needs_snapshot(entry: &Entry) -> bool {
    matches!(&entry.what, What::Epoch(epoch) if matches!(epoch.state, Origin::Snapshot { .. }))
}
