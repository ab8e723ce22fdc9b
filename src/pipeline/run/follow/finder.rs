//! Finding what is to be followed: entries and their records, in order, and the seat at the end of them.

use super::beside::{Beside, Other};
use super::{Step, Until};
use crate::bus::{BusError, Partition, Positions, Record, Seat};
use crate::fault;
use crate::pipeline::line::Belt;
use crate::pipeline::run::fold::Fold;
use crate::pipeline::run::journal::{Batch, Entry, Epoch, Origin, SCHEMA, What};
use crate::pipeline::run::marks::Marks;
use crate::pipeline::run::replay::Replay;
use crate::pipeline::run::scheme::{Scheme, Under};
use crate::pipeline::run::{Instance, Lost, Phase};
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

/// What the finding thread has found out.
pub(super) struct Found {
    pub(super) seat: Option<Box<dyn Seat>>,
    pub(super) lost: Option<(Lost, Entry)>,
    /// Where the journal goes on from a state that only a snapshot has.
    pub(super) needs_snapshot: Option<i64>,
}

/// Finds entries and their records, and stands for the seat.
pub(super) struct Finder<'a> {
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

impl<'a> Finder<'a> {
    pub(super) fn new(instance: &'a Instance, fold: &Fold, journal: i64, beside: Option<&'a Scheme>) -> Self {
        let replay = || Replay::new(instance.bus.clone(), &fold.positions);
        let (under, number) = (Arc::new(fold.under(Arc::default())), fold.number);
        let beside = beside.map(|wanted| Other::new(wanted, &under.scheme, replay()));
        let (replay, positions) = (replay(), fold.positions.clone());
        let (seat, own, lost, last) = (None, None, None, None);
        Self { instance, under, replay, journal, number, positions, seat, own, lost, last, beside }
    }

    /// Finds until `until`, and puts what is found on the belt.
    pub(super) fn find(mut self, belt: &mut Belt<Step>, until: Until) -> anyhow::Result<Found> {
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
            return Ok(self.lose(why, entry));
        }
        self.number = entry.number;
        let mut scheme = None;
        match &entry.what {
            What::Epoch(epoch) => match self.turn(epoch) {
                Err(error) if self.instance.accept_loss => {
                    let why = format!("from journal entry {} on none can be followed: {error:#}", entry.number);
                    return Ok(self.lose(why, entry));
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
                        return Ok(self.lose("the journal goes on from a state that is not there".to_owned(), entry));
                    }
                    self.last = Some(entry);
                    return Ok(ControlFlow::Continue(()));
                }
                Ok(made) => scheme = made,
            },
            What::Batch(batch) => match self.records(batch, belt) {
                Ok(ControlFlow::Continue(())) => {}
                Ok(ControlFlow::Break(())) => return Ok(ControlFlow::Break(())),
                Err(error @ BusError::Gone { .. }) if self.instance.accept_loss => {
                    let why = format!("journal entry {}: {error}", entry.number);
                    return Ok(self.lose(why, entry));
                }
                Err(error @ BusError::Gone { .. }) => {
                    return Err(anyhow::Error::new(error).context(format!(
                        "journal entry {} cannot be followed: its records are not there any more. \
                         --accept-loss goes on from the newest snapshot without them",
                        entry.number
                    )));
                }
                Err(error) => return Err(error.into()),
            },
            What::Idle(_) | What::Seat { .. } => {}
        }
        Ok(belt.put(Step::Entry(Box::new(entry), scheme)))
    }

    /// Puts the records of a batch on the belt.
    fn records(&mut self, batch: &Batch, belt: &mut Belt<Step>) -> Result<ControlFlow<()>, BusError> {
        let Self { instance, under, replay, seat, beside, .. } = self;
        for range in &batch.ranges {
            let mut go_on = || {
                // Whoever waits for records still has to show that it is alive.
                if let Some(seat) = seat
                    && let Err(error) = seat.poll(Duration::ZERO)
                {
                    warn!(%error, "the seat could not be asked for");
                }
                if instance.is_stopping() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            let mut gone = None;
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
            let put = replay.range(range, &mut go_on, &mut put);
            if gone.map_or(put, Err)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// From `entry` on none is followed.
    fn lose(&mut self, why: String, entry: Entry) -> ControlFlow<()> {
        self.lost = Some((Lost { why }, entry));
        ControlFlow::Continue(())
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
