//! Judging: inputs in, verdicts out, batch by batch, for as long as the seat is ours.
//!
//! Four kinds of threads, with bounded queues between them: one reads, some sign, this one folds, one publishes. Batches
//! are cut here; where they are cut shows in the journal and in no verdict. A batch is folded while it grows, and grows for as
//! long as the publisher has others: what waits for it are finished verdicts, and nobody waits for the disk.

use super::counted;
use super::fold::{Fold, Folded};
use super::inlet::{Inlet, Taken};
use super::label::LabelRecord;
use super::publisher::{Committed, publish};
use super::snapshots::Writing;
use super::{Instance, Lost, Phase};
use crate::bus::{BusError, Partition, Positions, Reader, Record, Seat};
use crate::config::BusKind;
use crate::pipeline::line::{BATCH_JOBS_MAX, BATCHES_PER_THREAD, Belt, Pace, line};
use anyhow::Context;
use crossbeam_channel::{Receiver, Sender, TryRecvError, bounded, select};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use tracing::{error, info, warn};

const POLL_RECORDS_MAX: usize = 1000;
const POLL_BYTES_MAX: usize = 8 << 20;
/// Label records stand in the journal, where a byte can take six: this is a tenth of what the least of brokers takes.
const LABEL_BYTES_MAX: usize = 64 << 10;
/// How long reading waits for a record before it looks whether to stop.
const POLL_WAIT: Duration = Duration::from_millis(20);
/// So often it is looked whether topics have more partitions, and how far behind we are.
const LOOK_EVERY: Duration = Duration::from_secs(15);
/// Batches that wait for the publisher, beside the one that it has and the one that grows.
const BATCHES_AHEAD: usize = 1;
/// Batches of the belt on their way, per thread, at most: 512 KiB each.
const AHEAD_MAX: usize = 64;
/// So much of a snapshot is written between two batches.
const SLICE_BYTES: usize = 16 << 20;
/// After a snapshot that failed, the next is tried so much later.
const SNAPSHOT_RETRY: Duration = Duration::from_secs(30);

/// How judging ended.
pub enum Ended {
    /// We were asked to stop, or there was nothing more to do, and all is committed.
    Stopped,
    /// Another instance has the seat.
    Fenced,
}

/// Judges until asked to stop, or until the seat is lost.
pub fn judge(instance: &Instance, fold: Fold, seat: Box<dyn Seat>, lost: Option<Lost>) -> anyhow::Result<Ended> {
    let (batches_in, batches) = bounded(BATCHES_AHEAD);
    let (committed_in, committed) = bounded(1 << 16);
    thread::scope(|scope| {
        let publisher = thread::Builder::new().name("publish".into());
        let publisher = publisher
            .spawn_scoped(scope, move || publish(seat, &instance.outlet, &instance.state, &batches, &committed_in))
            .context("no thread for publishing")?;
        let mut holder = Holder::new(instance, fold, batches_in, committed)?;
        let judged = holder.begin(lost).and_then(|()| holder.succeed()).and_then(|()| holder.judge());
        let is_fenced = judged.as_ref().err().is_some_and(|error| error.is::<PublisherGone>());
        let last = match &judged {
            Ok(()) => holder.last_batch(),
            Err(_) => Ok(()),
        };
        // The publisher ends when there is nothing more to come.
        let Closed { fold, committed, writing } = holder.closed();
        let published = publisher.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let seat = match published {
            Err(BusError::Fenced) => return Ok(Ended::Fenced),
            Err(error) => return Err(anyhow::Error::new(error).context("publishing failed, nothing was lost")),
            Ok(seat) => seat,
        };
        if !is_fenced {
            judged?;
            last?;
        }
        farewell(instance, fold, &committed, writing);
        seat.leave();
        Ok(Ended::Stopped)
    })
}

/// The last snapshot: the next start need not follow.
fn farewell(instance: &Instance, mut fold: Fold, committed: &Receiver<Committed>, writing: Option<Writing>) {
    instance.enter(Phase::Stopping);
    if let Some(writing) = writing {
        writing.abandon(&mut fold);
    }
    for committed in committed.try_iter() {
        instance.committed(&committed, &fold);
    }
    let Some(journal) = instance.journal_of(fold.number) else { return };
    let written = instance.snapshots.begin(&mut fold).and_then(|writing| {
        let writing = writing.complete(&mut fold)?;
        instance.snapshots.finish(writing, journal)
    });
    match written {
        Ok(kept) => instance.trim(&kept),
        Err(error) => error!("the last snapshot could not be written, the next start follows the journal: {error:#}"),
    }
}

/// The publishing thread has ended; it knows why.
#[derive(Debug, thiserror::Error)]
#[error("publishing has ended")]
struct PublisherGone;

struct Holder<'a> {
    instance: &'a Instance,
    fold: Fold,
    batches: Sender<Folded>,
    committed: Receiver<Committed>,
    labels: Box<dyn Reader>,
    /// The batch that grows.
    open: Option<Open>,
    /// When something last came in.
    active: Instant,
    labels_looked: Instant,
    is_settled: bool,
    writing: Option<Writing>,
    is_written: bool,
    snapshot_due: Instant,
    /// Whether one scheme has followed another since it began.
    is_handed_over: Arc<AtomicBool>,
}

/// A batch that grows.
struct Open {
    folded: Folded,
    n_records: usize,
    n_bytes: usize,
    /// When its first record came.
    since: Instant,
    /// What folding it has taken so far.
    took: Duration,
}

/// What is left of a holder that has ended.
struct Closed {
    fold: Fold,
    committed: Receiver<Committed>,
    writing: Option<Writing>,
}

impl<'a> Holder<'a> {
    fn new(
        instance: &'a Instance,
        fold: Fold,
        batches: Sender<Folded>,
        committed: Receiver<Committed>,
    ) -> anyhow::Result<Self> {
        let labels = instance.bus.reader(&labels_from(instance, &fold.positions)?)?;
        let now = Instant::now();
        let snapshot_due = now + Duration::from_secs(instance.scheme.settings.snapshot.every_s);
        Ok(Self {
            instance,
            fold,
            batches,
            committed,
            labels,
            open: None,
            active: now,
            labels_looked: now,
            is_settled: false,
            writing: None,
            is_written: false,
            snapshot_due,
            is_handed_over: Arc::default(),
        })
    }

    fn closed(self) -> Closed {
        Closed { fold: self.fold, committed: self.committed, writing: self.writing }
    }

    /// Begins an epoch, where one is to begin.
    fn begin(&mut self, lost: Option<Lost>) -> anyhow::Result<()> {
        let Some(origin) = self.instance.turn(&mut self.fold, lost)? else { return Ok(()) };
        self.instance.show(&self.fold);
        let needs_snapshot = matches!(origin, super::journal::Origin::Snapshot { .. });
        let folded = self.fold.turn(origin);
        // Nobody can follow to a state that came from elsewhere: it is written down before it is spoken of.
        let mut writing = None;
        if needs_snapshot {
            let begun = self.instance.snapshots.begin(&mut self.fold)?;
            writing = Some(begun.complete(&mut self.fold)?);
        }
        self.send(folded)?;
        if let Some(writing) = writing {
            let number = writing.number;
            let committed = loop {
                let committed = self.committed.recv().map_err(|_| PublisherGone)?;
                if committed.entry.number == number {
                    break committed;
                }
            };
            let kept = self.instance.snapshots.finish(writing, committed.journal)?;
            self.instance.committed(&committed, &self.fold);
            self.instance.trim(&kept);
        }
        Ok(())
    }

    fn judge(&mut self) -> anyhow::Result<()> {
        let Instance { scheme, .. } = self.instance;
        self.instance.enter(Phase::Judging);
        let wait = self.instance.batch_wait();
        let tick = (wait / 2).clamp(Duration::from_millis(1), Duration::from_millis(20));
        let positions = self.fold.positions.clone();
        let instance = self.instance;
        let under = self.fold.under(self.is_handed_over.clone());
        // Whoever reads may have nothing to put down, and would not notice.
        let is_over = AtomicBool::new(false);
        let find = |belt: &mut Belt<Record>| read(instance, positions, &is_over, belt);
        let worker = || {
            let mut inlet: Inlet = under.inlet();
            move |record: Record| inlet.take(record)
        };
        // While a batch is made durable, as many documents as it has are signed.
        let n_ahead = scheme.settings.batch.documents_max.get().div_ceil(BATCH_JOBS_MAX * instance.n_threads().get());
        let pace = Pace {
            tick: Some(tick),
            bell: Some(instance.state.checks().probes.bell()),
            batches_per_thread: n_ahead.clamp(BATCHES_PER_THREAD, AHEAD_MAX),
        };
        line(find, instance.n_threads(), worker, pace, |taken| {
            self.take(taken).inspect_err(|_| is_over.store(true, Ordering::Relaxed))
        })?
    }

    /// What was signed comes in and is folded; batches are cut.
    fn take(&mut self, taken: Vec<Taken>) -> anyhow::Result<()> {
        self.instance.state.questions().answer(&self.fold);
        if !taken.is_empty() {
            self.active = Instant::now();
            self.is_settled = false;
            self.add(taken)?;
        }
        match &self.open {
            Some(open) if open.since.elapsed() >= self.instance.batch_wait() && !self.batches.is_full() => {
                self.close()?
            }
            Some(_) => {}
            None => self.rest()?,
        }
        self.answer_checks();
        self.look_at_commits()?;
        self.write_snapshot()
    }

    /// Between two batches, whoever asks what would be said is told.
    fn answer_checks(&self) {
        self.instance.state.checks().probes.answer(&self.fold.filter, &self.fold.scheme);
    }

    /// Folds what was taken into the batch that grows, and into others where it is full.
    fn add(&mut self, mut taken: Vec<Taken>) -> anyhow::Result<()> {
        self.look_for_labels()?;
        let batch = &self.instance.scheme.settings.batch;
        while !taken.is_empty() {
            let mut open = match self.open.take() {
                Some(open) => open,
                None => {
                    let labels = self.labels()?;
                    self.begun(labels)?
                }
            };
            let begun = Instant::now();
            let (mut n, mut is_full) = (0, false);
            while n < taken.len() && !is_full {
                open.n_bytes += taken[n].n_bytes;
                (n, open.n_records) = (n + 1, open.n_records + 1);
                is_full = open.n_records >= batch.documents_max.get() || open.n_bytes >= batch.bytes_max.get();
            }
            let rest = taken.split_off(n);
            self.fold.add(&mut open.folded, taken, self.instance.n_fold_threads());
            open.took += begun.elapsed();
            self.instance.state.checks().waiters.judge(self.fold.number, open.folded.news());
            self.open = Some(open);
            if is_full {
                self.close()?;
                // Under load, this is the only moment without an open batch.
                self.write_snapshot()?;
            }
            taken = rest;
        }
        Ok(())
    }

    /// A label that was answered holds for what was sent after it (`tests/promises/http/labels.rs`), also where the batch that this
    /// comes into was begun before: that ends here. On Kafka labels come on a way of their own, and nothing would be gained.
    fn look_for_labels(&mut self) -> anyhow::Result<()> {
        if self.open.is_none() || self.instance.scheme.settings.bus.kind == BusKind::Kafka {
            return Ok(());
        }
        let labels = self.labels()?;
        if !labels.is_empty() {
            self.close()?;
            self.open = Some(self.begun(labels)?);
        }
        Ok(())
    }

    /// Begins a batch under these labels, and whatever more there are than one batch takes in.
    fn begun(&mut self, mut labels: Vec<LabelRecord>) -> anyhow::Result<Open> {
        while !labels.is_empty() {
            let more = self.labels()?;
            if more.is_empty() {
                break;
            }
            let folded = self.fold.fold(std::mem::replace(&mut labels, more), Vec::new(), 1);
            self.send(folded)?;
        }
        let (since, folded) = (Instant::now(), self.fold.begin(labels));
        Ok(Open { folded, n_records: 0, n_bytes: 0, since, took: since.elapsed() })
    }

    /// Sends the batch that has grown, if there is one.
    fn close(&mut self) -> anyhow::Result<()> {
        let Some(Open { folded, n_records, took, .. }) = self.open.take() else { return Ok(()) };
        counted::batch(n_records, folded.n_bytes, took);
        self.send(folded)?;
        self.succeed()
    }

    /// What began beside the store takes its place, once it has seen all that counts.
    fn succeed(&mut self) -> anyhow::Result<()> {
        if !self.fold.is_succession_due() {
            return Ok(());
        }
        if let Some(writing) = self.writing.take() {
            writing.abandon(&mut self.fold);
        }
        let folded = self.fold.succeed();
        self.is_handed_over.store(true, Ordering::Relaxed);
        info!("the present settings decide from here on, what was stored under the former ones is dropped");
        self.send(folded)
    }

    /// With nothing to do, labels are taken in, and what waits to be looked at again is.
    fn rest(&mut self) -> anyhow::Result<()> {
        let idle = Duration::from_millis(self.instance.scheme.settings.batch.idle_ms);
        self.instance.count(&self.fold);
        if self.labels_looked.elapsed() >= Duration::from_millis(50) {
            let labels = self.labels()?;
            if !labels.is_empty() {
                let folded = self.fold.fold(labels, Vec::new(), 1);
                self.send(folded)?;
            }
        }
        if !self.is_settled && self.active.elapsed() >= idle {
            self.is_settled = true;
            if self.fold.filter.judge().n_queued() > 0 {
                let folded = self.fold.idle(Vec::new());
                self.send(folded)?;
            }
        }
        Ok(())
    }

    fn labels(&mut self) -> anyhow::Result<Vec<LabelRecord>> {
        let n_max = self.instance.scheme.settings.batch.labels_max.get();
        self.labels_looked = Instant::now();
        let records = self.labels.poll(n_max, LABEL_BYTES_MAX, Duration::ZERO)?;
        counted::labels(records.len());
        Ok(records.iter().map(LabelRecord::of).collect())
    }

    /// Passes a batch on to be published. While that has to wait, whoever asks is answered.
    fn send(&mut self, folded: Folded) -> anyhow::Result<()> {
        let mut folded = Some(folded);
        let bell = self.instance.state.checks().probes.bell();
        loop {
            select! {
                send(self.batches, folded.take().expect("it is sent once")) -> sent => {
                    return sent.map_err(|_| PublisherGone.into());
                }
                recv(bell) -> _ => self.answer_checks(),
            }
        }
    }

    /// What was begun is finished; a run that ends by itself also decides what waits to be looked at again.
    fn last_batch(&mut self) -> anyhow::Result<()> {
        self.close()?;
        if self.instance.ends_when_idle.is_some() && self.fold.filter.judge().n_queued() > 0 {
            let folded = self.fold.idle(Vec::new());
            self.send(folded)?;
        }
        Ok(())
    }

    fn look_at_commits(&mut self) -> anyhow::Result<()> {
        loop {
            match self.committed.try_recv() {
                Ok(committed) => self.instance.committed(&committed, &self.fold),
                Err(TryRecvError::Empty) => return Ok(()),
                // It knows why; nothing would ever be published again.
                Err(TryRecvError::Disconnected) => return Err(PublisherGone.into()),
            }
        }
    }

    /// Begins, goes on with, or puts in place a snapshot. What fails here is said, and the stream goes on.
    fn write_snapshot(&mut self) -> anyhow::Result<()> {
        let now = Instant::now();
        let Some(mut writing) = self.writing.take() else {
            // The state of the middle of a batch is nobody's: no entry of the journal leads to it.
            let is_border = self.open.is_none();
            if !is_border || now < self.snapshot_due || self.fold.number == self.instance.snapshot_number() {
                return Ok(());
            }
            self.snapshot_due = now + Duration::from_secs(self.instance.scheme.settings.snapshot.every_s);
            match self.instance.snapshots.begin(&mut self.fold) {
                Ok(writing) => self.writing = Some(writing),
                Err(error) => self.snapshot_failed(&error),
            }
            self.is_written = false;
            counted::snapshot_stop(now.elapsed());
            return Ok(());
        };
        if !self.is_written {
            match writing.go_on(&mut self.fold, SLICE_BYTES) {
                Ok(done) => self.is_written = done,
                Err(error) => {
                    let error = writing.failed(&mut self.fold, error);
                    self.snapshot_failed(&error);
                    return Ok(());
                }
            }
            counted::snapshot_stop(now.elapsed());
        }
        writing.journal = writing.journal.or_else(|| self.instance.journal_of(writing.number));
        match writing.journal.filter(|_| self.is_written && writing.is_on_disk()) {
            Some(journal) => self.put_in_place(writing, journal),
            None => self.writing = Some(writing),
        }
        Ok(())
    }

    fn put_in_place(&mut self, writing: Writing, journal: i64) {
        let (number, n_bytes, n_early_bytes) = (writing.number, writing.n_bytes(), writing.n_early_bytes());
        let took = writing.elapsed();
        match self.instance.snapshots.finish(writing, journal) {
            Ok(kept) => {
                info!(number, n_bytes, n_early_bytes, seconds = took.as_secs_f64(), "snapshot written");
                counted::snapshot_took(took, n_early_bytes);
                self.instance.snapshot_written(number, n_bytes);
                self.instance.trim(&kept);
            }
            Err(error) => self.snapshot_failed(&error),
        }
    }

    fn snapshot_failed(&mut self, error: &anyhow::Error) {
        counted::snapshot_failed();
        error!("snapshot failed, the stream goes on without it: {error:#}");
        self.snapshot_due = Instant::now() + SNAPSHOT_RETRY;
    }
}

/// Puts records on the belt until asked to stop, until there is nothing more to do, or until nobody takes them any more.
fn read(
    instance: &Instance,
    mut positions: Positions,
    is_over: &AtomicBool,
    belt: &mut Belt<Record>,
) -> anyhow::Result<()> {
    let mut from = instance.inputs_from(&positions)?;
    let mut reader = instance.bus.reader(&from)?;
    let (mut looked, mut active) = (Instant::now(), Instant::now());
    while !instance.is_stopping() && !is_over.load(Ordering::Relaxed) {
        let records = match reader.poll(POLL_RECORDS_MAX, POLL_BYTES_MAX, POLL_WAIT) {
            Ok(records) => records,
            Err(error @ BusError::Gone { .. }) => {
                return Err(anyhow::Error::new(error).context(
                    "records are not there. Nothing more is judged until this is looked at; --accept-loss goes on from what there is",
                ));
            }
            Err(error @ BusError::Unreachable { .. }) => {
                warn!(%error, "waiting for the bus");
                thread::sleep(Duration::from_millis(500));
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        let is_idle = records.is_empty() && reader.is_at_end();
        for record in records {
            positions.pass(&record.partition, record.offset);
            if belt.put(record).is_break() {
                return Ok(());
            }
        }
        if belt.flush().is_break() {
            return Ok(());
        }
        // Putting records on the belt may have taken a while.
        if !is_idle {
            active = Instant::now();
        }
        // What was read is still to be judged and committed. Should that fail, it is begun again: nobody asked us to stop.
        if instance.ends_when_idle.is_some_and(|idle| active.elapsed() >= idle) {
            return Ok(());
        }
        if looked.elapsed() >= LOOK_EVERY {
            looked = Instant::now();
            match instance.inputs_from(&positions) {
                Ok(now) => {
                    if now.0.len() != from.0.len() {
                        info!(n_partitions = now.0.len(), "topics have more partitions, reading those too");
                        reader = instance.bus.reader(&now)?;
                        from = now;
                    }
                    instance.measure_lag(&positions);
                }
                Err(error) => warn!("topics could not be looked at: {error:#}"),
            }
        }
    }
    Ok(())
}

fn labels_from(instance: &Instance, positions: &Positions) -> anyhow::Result<Positions> {
    let mut from = Positions::default();
    for number in 0..instance.bus.n_partitions(&instance.labels_topic)? {
        let partition = Partition::new(instance.labels_topic.clone(), number);
        let begin = instance.bus.extent(&partition)?.begin;
        // A compacted topic may have lost its beginning, which says nothing that is not said again later.
        from.0.insert(partition.clone(), positions.next(&partition).max(begin));
    }
    Ok(from)
}
