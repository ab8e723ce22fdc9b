//! The filter on a bus: restored, following, seated, judging; and back when the seat is lost.
//!
//! State is a fold over the [`journal`]. An [`Instance`] begins at its newest snapshot ([`snapshots`]), folds what the
//! journal says was folded since ([`mod@follow`], [`replay`]), and when the seat is given to it goes on with what is new
//! ([`mod@judge`]). [`fold`] is what both do with a batch; [`inlet`] takes records in, [`outputs`] writes them out,
//! [`publisher`] makes them durable; [`signer`] is the role that only signs.

pub mod audit;
mod counted;
mod fault;
pub mod fold;
pub mod follow;
mod funnel;
pub mod inlet;
pub mod journal;
pub mod judge;
pub mod label;
pub mod outputs;
mod publisher;
pub mod replay;
pub mod scheme;
pub mod signed;
pub mod signer;
pub mod snapshots;

use crate::bus::{Bus, BusError, Extent, Partition, Positions};
use crate::config::{BusKind, Settings};
use crate::http::{Phase, Role, State};
use anyhow::{Context, bail};
use fold::Fold;
use follow::{Followed, Until, follow};
use inlet::Ways;
use journal::Origin;
use judge::{Ended, judge};
use outputs::Outlet;
use publisher::Committed;
use scheme::Scheme;
use snapshots::{Kept, Snapshots};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use tracing::{error, info, warn};

/// How often a state that only a snapshot has is looked for, and with what pauses.
const SNAPSHOT_LOOKS: u32 = 30;
const SNAPSHOT_PAUSE: Duration = Duration::from_secs(1);

/// What was lost, where that was accepted.
#[derive(Clone, Debug)]
pub struct Lost {
    /// In words.
    pub why: String,
}

/// A state that the journal can be followed from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beginning {
    /// Where the journal goes on.
    pub journal: i64,
    /// The snapshot that has it; `None` for the empty state that all began with.
    pub snapshot: Option<PathBuf>,
}

/// What an instance begins with.
struct Restored {
    fold: Fold,
    /// Where the journal goes on.
    journal: i64,
    /// What is missing between the two, or before, where that was accepted. What the journal does not speak of any more is
    /// judged again.
    lost: Option<Lost>,
}

/// How to run.
pub struct Options {
    /// Go on from what there is, where something was lost.
    pub accept_loss: bool,
    /// A store that `scan --store` has made, to begin with.
    pub first_store: Option<PathBuf>,
    /// End when there was nothing to read for so long.
    pub ends_when_idle: Option<Duration>,
}

/// An instance of the filter on a bus.
pub struct Instance {
    /// The bus.
    pub bus: Arc<dyn Bus>,
    /// What the settings in force say.
    pub scheme: Arc<Scheme>,
    /// Who this is, for people.
    pub name: String,
    ways: Ways,
    outlet: Outlet,
    snapshots: Snapshots,
    labels_topic: Arc<str>,
    accept_loss: bool,
    first_store: Option<PathBuf>,
    ends_when_idle: Option<Duration>,
    state: Arc<State>,
    stopping: Arc<AtomicBool>,
    progress: Mutex<Progress>,
}

/// What is committed, and what is written down.
struct Progress {
    /// The number of the last entry that is committed, and where the journal goes on after it.
    number: u64,
    journal: i64,
    /// The same of the entry whose state is being written, remembered until it is in place.
    recent: Vec<(u64, i64)>,
    snapshot_number: u64,
    snapshot_at: Instant,
    counted_at: Instant,
}

/// Committed entries whose place in the journal is remembered: a snapshot takes less long to write.
const RECENT_MAX: usize = 1 << 14;

/// How a turn of duty ended.
enum Duty {
    Done,
    Again,
}

/// What has not worked of late.
#[derive(Default)]
struct Trouble {
    n_looks: u32,
    n_failures: u32,
}

impl Trouble {
    /// How long to wait before the next try: 1 s, 2 s, 4 s ... 30 s.
    fn pause(&mut self) -> Duration {
        self.n_failures += 1;
        Duration::from_secs(1 << (self.n_failures - 1).min(5)).min(Duration::from_secs(30))
    }
}

/// Whether a later try may go better.
fn passes(error: &anyhow::Error) -> bool {
    let found = error.chain().find_map(|cause| cause.downcast_ref::<BusError>());
    matches!(found, Some(BusError::Unreachable { .. } | BusError::Broken(_) | BusError::Fenced))
}

impl Instance {
    /// An instance by `settings` on `bus`, which ends soon after `stopping` is set.
    pub fn new(
        settings: Arc<Settings>,
        bus: Arc<dyn Bus>,
        options: Options,
        state: Arc<State>,
        stopping: Arc<AtomicBool>,
    ) -> anyhow::Result<Self> {
        let Options { accept_loss, first_store, ends_when_idle } = options;
        let now = Instant::now();
        Ok(Self {
            bus,
            name: format!("{}:{}", hostname(), std::process::id()),
            ways: Ways::new(&settings),
            outlet: Outlet::new(&settings),
            snapshots: Snapshots::open(&settings)?,
            labels_topic: settings.topics.labels.as_str().into(),
            scheme: Arc::new(Scheme::new(settings)?),
            accept_loss,
            first_store,
            ends_when_idle,
            state,
            stopping,
            progress: Mutex::new(Progress {
                number: 0,
                journal: 0,
                recent: Vec::new(),
                snapshot_number: 0,
                snapshot_at: now,
                counted_at: now,
            }),
        })
    }

    /// Runs until asked to stop.
    pub fn run(&self) -> anyhow::Result<()> {
        self.snapshots.sweep()?;
        let mut trouble = Trouble::default();
        while !self.is_stopping() {
            let prepared = self.prepare().map_err(anyhow::Error::from);
            match prepared.and_then(|()| self.turn_of_duty(&mut trouble)) {
                Ok(Duty::Done) => break,
                Ok(Duty::Again) => {}
                // The bus has forgotten nothing, and what we knew is in doubt: back to the snapshot, after a while.
                Err(error) if passes(&error) => {
                    let pause = trouble.pause();
                    error!(seconds = pause.as_secs(), "the bus fails, beginning again from the snapshot: {error:#}");
                    self.sleep(pause);
                }
                Err(error) => return Err(error),
            }
        }
        self.enter(Phase::Stopping);
        Ok(())
    }

    /// Makes the topics; a bus that cannot be reached yet is waited for.
    fn prepare(&self) -> Result<(), BusError> {
        let mut trouble = Trouble::default();
        loop {
            match self.bus.prepare() {
                Err(error @ BusError::Unreachable { .. }) if !self.is_stopping() => {
                    let pause = trouble.pause();
                    error!(seconds = pause.as_secs(), "waiting for the bus: {error}");
                    self.sleep(pause);
                }
                prepared => return prepared,
            }
        }
    }

    /// Restores, follows, and judges while the seat is ours.
    fn turn_of_duty(&self, trouble: &mut Trouble) -> anyhow::Result<Duty> {
        self.enter(Phase::Restoring);
        let Restored { fold, journal, lost: lost_before } = self.restored()?;
        self.show_clusters(&fold);
        match follow(self, fold, journal, Until::Seated)? {
            Followed::Stopped(_) => Ok(Duty::Done),
            Followed::NeedsSnapshot if trouble.n_looks < SNAPSHOT_LOOKS => {
                trouble.n_looks += 1;
                info!("the journal goes on from a state that only a snapshot has, waiting for one");
                self.sleep(SNAPSHOT_PAUSE);
                Ok(Duty::Again)
            }
            Followed::NeedsSnapshot => bail!(
                "the journal goes on from a state that is in no snapshot here (snapshot.folder, snapshot.holder); \
                 --accept-loss goes on without it"
            ),
            Followed::Seated { fold, seat, lost } => {
                *trouble = Trouble::default();
                counted::seat(true);
                info!(number = fold.number, "seat taken");
                let ended = judge(self, *fold, seat, lost.or(lost_before));
                counted::seat(false);
                match ended? {
                    Ended::Stopped => Ok(Duty::Done),
                    Ended::Fenced => {
                        warn!("another instance has taken the seat, following it");
                        Ok(Duty::Again)
                    }
                }
            }
        }
    }

    fn sleep(&self, pause: Duration) {
        let until = Instant::now() + pause;
        while Instant::now() < until && !self.is_stopping() {
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// The state to begin with, and where the journal goes on after it.
    fn restored(&self) -> anyhow::Result<Restored> {
        let partition = Partition::new(self.outlet.journal_topic(), 0);
        let extent = self.bus.extent(&partition)?;
        let settings = &self.scheme.settings;
        if extent.end > 0 && self.snapshots.kept()?.is_empty() && !settings.snapshot.holder.is_empty() {
            let token = std::fs::read_to_string(settings.bus.folder.join(&settings.http.token_file));
            let fetched = token.map_err(anyhow::Error::from);
            match fetched.and_then(|token| self.snapshots.fetch(&settings.snapshot.holder, token.trim())) {
                Ok(()) => info!(holder = settings.snapshot.holder, "snapshot fetched"),
                Err(error) => warn!(holder = settings.snapshot.holder, "no snapshot from the holder: {error:#}"),
            }
        }
        if let Some((fold, journal)) = self.snapshots.newest(extent.end, settings)? {
            self.restored_from(&fold, journal);
            if journal >= extent.begin {
                return Ok(Restored { fold, journal, lost: None });
            }
            let why = format!(
                "the journal begins at {}, and the newest snapshot ends at {journal}: what lies between was deleted",
                extent.begin
            );
            if !self.accept_loss {
                bail!("{why}. --accept-loss goes on from that snapshot");
            }
            return Ok(Restored { fold, journal: extent.begin, lost: Some(Lost { why }) });
        }
        let mut lost = None;
        if let Some(beyond) = self.snapshots.kept()?.iter().find(|kept| kept.journal > extent.end) {
            let why = format!(
                "the journal `{}` ends at {}, and {} speaks of {}: it was made again, or is another",
                partition.topic,
                extent.end,
                beyond.path.display(),
                beyond.journal
            );
            if !self.accept_loss {
                bail!("{why}. --accept-loss begins with an empty store, and judges again what is there");
            }
            lost = Some(Lost { why });
        }
        if extent.begin > 0 {
            let why = format!("there is no snapshot, and the journal begins at {}, not at 0", extent.begin);
            if !self.accept_loss {
                bail!("{why}: its beginning was deleted. --accept-loss begins with an empty store");
            }
            lost = Some(Lost { why });
        }
        Ok(Restored { fold: Fold::new(self.scheme.clone()), journal: extent.begin, lost })
    }

    /// The state to audit from: none at all where the journal is whole, else the oldest snapshot that reaches it.
    fn audited_from(&self, journal_begin: i64) -> anyhow::Result<(Fold, i64)> {
        // The oldest that can be used: others may have been made under another secret.
        let mut refused = None;
        for Beginning { journal, snapshot } in self.beginnings(journal_begin)? {
            let Some(path) = snapshot else { return Ok((Fold::new(self.scheme.clone()), 0)) };
            match snapshots::load(&path, &self.scheme.settings) {
                Ok(fold) => return Ok((fold, journal)),
                Err(error) => refused = Some(error.context(format!("snapshot {}", path.display()))),
            }
        }
        let nothing = format!("the journal begins at {journal_begin}, and no snapshot that reaches it can be used");
        Err(match refused {
            Some(error) => error.context(nothing),
            None => anyhow::anyhow!("{nothing}: there is nothing to audit from"),
        })
    }

    /// The states that a journal with this beginning can be followed from, the oldest first.
    pub(super) fn beginnings(&self, journal_begin: i64) -> anyhow::Result<Vec<Beginning>> {
        let mut kept = self.snapshots.kept()?;
        kept.retain(|kept| kept.journal >= journal_begin);
        let first = (journal_begin == 0).then_some(Beginning { journal: 0, snapshot: None });
        let kept = kept.into_iter().rev().map(|Kept { journal, path }| Beginning { journal, snapshot: Some(path) });
        Ok(first.into_iter().chain(kept).collect())
    }

    /// Which records of the journal there are.
    pub(super) fn journal_extent(&self) -> Result<Extent, BusError> {
        self.bus.extent(&Partition::new(self.outlet.journal_topic(), 0))
    }

    /// How many records of inputs lie before these positions.
    pub(super) fn n_records_before(&self, positions: &Positions) -> u64 {
        let is_input = |partition: &Partition| self.ways.inputs().any(|topic| *topic == partition.topic);
        let before = positions.0.iter().filter(|(partition, _)| is_input(partition));
        before.map(|(_, next)| u64::try_from(*next).unwrap_or(0)).sum()
    }

    fn restored_from(&self, fold: &Fold, journal: i64) {
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        (progress.number, progress.journal, progress.snapshot_number) = (fold.number, journal, fold.number);
        progress.recent = vec![(fold.number, journal)];
    }

    /// Whether an epoch is to begin before judging goes on, and from what. Changes the state accordingly.
    fn turn(&self, fold: &mut Fold, lost: Option<Lost>) -> anyhow::Result<Option<Origin>> {
        let lost = match lost {
            Some(lost) => Some(lost),
            None => self.missing_inputs(fold)?,
        };
        if let Some(Lost { why }) = lost {
            error!("LOSS ACCEPTED: {why}");
            if !fold.scheme.is_like(&self.scheme) {
                *fold = Fold {
                    positions: fold.positions.clone(),
                    number: fold.number,
                    epoch: fold.epoch,
                    ..Fold::new(self.scheme.clone())
                };
            }
            return Ok(Some(Origin::Snapshot { why }));
        }
        if fold.epoch == 0 {
            let Some(path) = &self.first_store else { return Ok(Some(Origin::Empty)) };
            let first = snapshots::load(path, &self.scheme.settings)
                .with_context(|| format!("store {} cannot be begun with", path.display()))?;
            fold.filter = first.filter;
            return Ok(Some(Origin::Snapshot { why: "began with a store that `scan --store` made".into() }));
        }
        if self.first_store.is_some() {
            warn!("the journal is not empty, the store to begin with is passed over");
        }
        if fold.scheme.is_like(&self.scheme) {
            return Ok(None);
        }
        match fold.carry(self.scheme.clone()) {
            Ok(()) => Ok(Some(Origin::Carried)),
            Err(error) if self.accept_loss => {
                error!("LOSS ACCEPTED: the store begins anew: {error:#}");
                let Fold { positions, number, epoch, .. } = std::mem::replace(fold, Fold::new(self.scheme.clone()));
                *fold = Fold { positions, number, epoch, ..Fold::new(self.scheme.clone()) };
                Ok(Some(Origin::Snapshot { why: format!("settings changed: {error:#}") }))
            }
            Err(error) => Err(error.context(
                "the settings have changed in a way that the store cannot go on under. --accept-loss begins an empty \
                 store where the journal ends",
            )),
        }
    }

    /// Inputs that were deleted before they were read, or topics that were made again.
    fn missing_inputs(&self, fold: &mut Fold) -> anyhow::Result<Option<Lost>> {
        let mut found: Option<String> = None;
        for (partition, wanted) in self.inputs_from(&fold.positions)?.0 {
            let extent = self.bus.extent(&partition)?;
            if (extent.begin..=extent.end).contains(&wanted) {
                continue;
            }
            let gone = BusError::Gone { partition: partition.clone(), wanted, begin: extent.begin, end: extent.end };
            if wanted == 0 && fold.epoch == 0 {
                info!(%partition, begin = extent.begin, "the topic's beginning is gone, judging begins with what is there");
            } else if !self.accept_loss {
                return Err(anyhow::Error::new(gone).context(
                    "records are not there. Nothing is judged until this is looked at; --accept-loss goes on from what there is",
                ));
            } else {
                counted::lost(&partition.topic, extent.begin - wanted);
                found = Some(found.map_or_else(|| gone.to_string(), |others| format!("{others}; {gone}")));
            }
            fold.positions.0.insert(partition, extent.begin);
        }
        Ok(found.map(|why| Lost { why }))
    }

    /// Where each partition of the inputs goes on.
    fn inputs_from(&self, positions: &Positions) -> Result<Positions, BusError> {
        let mut from = Positions::default();
        let topics = match self.state.role() {
            Role::Store => vec![self.ways.signed()],
            Role::All | Role::Sign => self.ways.inputs().cloned().collect(),
        };
        for topic in &topics {
            for number in 0..self.bus.n_partitions(topic)? {
                let partition = Partition::new(topic.clone(), number);
                from.0.insert(partition.clone(), positions.next(&partition));
            }
        }
        Ok(from)
    }

    fn measure_lag(&self, positions: &Positions) {
        for (partition, next) in &positions.0 {
            if let Ok(extent) = self.bus.extent(partition) {
                counted::lag(partition, (extent.end - next).max(0));
            }
        }
    }

    /// Notes that an entry is committed.
    fn committed(&self, committed: &Committed, fold: &Fold) {
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        (progress.number, progress.journal) = (committed.entry.number, committed.journal);
        progress.recent.push((committed.entry.number, committed.journal));
        if progress.recent.len() > RECENT_MAX {
            progress.recent.drain(..RECENT_MAX / 2);
        }
        counted::journal(committed.journal);
        if progress.counted_at.elapsed() > Duration::from_secs(5) {
            progress.counted_at = Instant::now();
            counted::snapshot_age(progress.snapshot_at.elapsed());
            counted::census(fold);
        }
    }

    /// Where the journal goes on after the entry `number`, if that is committed and was not long ago.
    fn journal_of(&self, number: u64) -> Option<i64> {
        let progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        progress.recent.iter().rev().find(|(other, _)| *other == number).map(|(_, journal)| *journal)
    }

    fn snapshot_number(&self) -> u64 {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner).snapshot_number
    }

    fn snapshot_written(&self, number: u64, n_bytes: u64) {
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        (progress.snapshot_number, progress.snapshot_at) = (number, Instant::now());
        counted::snapshot(n_bytes);
    }

    /// Trims the journal behind the oldest snapshot that is kept, and lets go of the inputs before it. The empty state that
    /// all began with is one of the kept until others have taken its place.
    fn trim(&self, kept: &[Kept]) {
        let Some(oldest) = kept.last() else { return };
        if kept.len() < self.scheme.settings.snapshot.kept.get() {
            return;
        }
        let partition = Partition::new(self.outlet.journal_topic(), 0);
        let trimmed = self.bus.trim(&partition, oldest.journal).map_err(anyhow::Error::from);
        let let_go = || Ok(self.bus.protect(&snapshots::positions(&oldest.path)?)?);
        if let Err(error) = trimmed.and_then(|()| let_go()) {
            warn!("the journal could not be trimmed, it will be after the next snapshot: {error:#}");
        }
    }

    fn n_threads(&self) -> NonZeroUsize {
        let all = thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        NonZeroUsize::new(self.scheme.settings.batch.threads).unwrap_or(all)
    }

    /// Signing is most of the work: the fold has threads of its own only where there are many.
    pub(super) fn n_fold_threads(&self) -> usize {
        (self.n_threads().get() / 4).max(1)
    }

    fn batch_wait(&self) -> Duration {
        let settings = &self.scheme.settings;
        Duration::from_millis(match settings.bus.kind {
            BusKind::Embedded => settings.batch.wait_ms,
            BusKind::Kafka => settings.batch.kafka_wait_ms,
        })
    }

    /// Those who ask see the clusters of this state, and none of another.
    fn show_clusters(&self, fold: &Fold) {
        self.state.directory().clusters.replace(|| fold.filter.ranking());
    }

    fn enter(&self, phase: Phase) {
        self.state.set_phase(phase);
    }

    fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }
}

fn hostname() -> String {
    std::fs::read_to_string("/proc/sys/kernel/hostname").map_or_else(|_| "host".into(), |name| name.trim().to_owned())
}
