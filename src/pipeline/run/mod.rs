//! The filter on a bus: restored, following, seated, judging; and back when the seat is lost.
//!
//! State is a fold over the [`journal`]. An [`Instance`] begins at its newest snapshot ([`snapshots`]), folds what the
//! journal says was folded since ([`mod@follow`], [`replay`]), and when the seat is given to it goes on with what is new
//! ([`mod@judge`]). [`fold`] is what both do with a batch; [`inlet`] takes records in, [`outputs`] writes them out,
//! [`publisher`] makes them durable; [`signer`] is the role that only signs. [`succession`] is how one scheme follows another.

pub mod audit;
mod counted;
pub mod fold;
pub mod follow;
mod funnel;
pub mod inlet;
pub mod journal;
pub mod judge;
pub mod label;
pub mod marks;
pub mod outputs;
mod progress;
mod publisher;
pub mod question;
pub mod replay;
mod restore;
pub mod scheme;
mod shelf;
mod shown;
pub mod signed;
pub mod signer;
pub mod snapshots;
pub mod succession;

pub use restore::{Beginning, Lost};

use crate::bus::{Bus, BusError, Partition, Positions};
use crate::config::{BusKind, Settings};
use crate::http::{Phase, Role, State};
use crate::pipeline::dispatch::Dispatch;
use crate::pipeline::filter::Filter;
use crate::pipeline::line::STACK_BYTES;
use anyhow::{Context, bail};
use follow::{Followed, Until, follow};
use inlet::Ways;
use judge::{Ended, judge};
use outputs::Outlet;
use progress::Progress;
use restore::Restored;
use scheme::Scheme;
use shelf::Shelf;
use snapshots::Snapshots;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};
use tracing::{error, info, warn};

/// How often a state that only a snapshot has is looked for, and with what pauses.
const SNAPSHOT_LOOKS: u32 = 30;
const SNAPSHOT_PAUSE: Duration = Duration::from_secs(1);

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

/// How a turn of duty ended.
enum Duty {
    Done,
    Again,
    /// Another instance judges now.
    Lost,
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

/// Tells others that it is over when it goes.
struct Told<'a>(&'a AtomicBool);

impl Drop for Told<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
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
        Filter::room(&settings)?;
        let snapshots = Snapshots::open(&settings)?;
        let scheme = Scheme::new(settings.clone())?;
        Shelf::new(&settings).keep(&scheme.lexicons)?;
        Ok(Self {
            bus,
            name: format!("{}:{}", hostname(), std::process::id()),
            ways: Ways::new(&settings),
            outlet: Outlet::new(&settings),
            snapshots,
            labels_topic: settings.topics.labels.as_str().into(),
            scheme: Arc::new(scheme),
            accept_loss,
            first_store,
            ends_when_idle,
            state,
            stopping,
            progress: Mutex::new(Progress::new()),
        })
    }

    /// Runs until asked to stop.
    pub fn run(&self) -> anyhow::Result<()> {
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            // Also when this ends by an error or a panic: the scope waits for its threads.
            let _told = Told(&is_over);
            if self.scheme.settings.http.enabled {
                self.sign_checks(scope, &is_over)?;
            }
            self.serve()
        })
    }

    /// Threads that sign what somebody asks about: that is work, and neither the stream nor the HTTP side waits for it.
    fn sign_checks<'a>(&'a self, scope: &'a thread::Scope<'a, '_>, is_over: &'a AtomicBool) -> anyhow::Result<()> {
        let settings = &self.scheme.settings;
        let dispatch = Arc::new(Dispatch::new(settings));
        let probes = &self.state.checks().probes;
        probes.set_scheme(&self.scheme);
        for number in 0..NonZeroUsize::new(settings.check.threads).unwrap_or(cores()).get() {
            let dispatch = dispatch.clone();
            let sign = move || probes.sign(&dispatch, || is_over.load(Ordering::Relaxed));
            let thread = thread::Builder::new().name(format!("check-{number}")).stack_size(STACK_BYTES);
            thread.spawn_scoped(scope, sign).context("no thread for checks")?;
        }
        Ok(())
    }

    fn serve(&self) -> anyhow::Result<()> {
        self.snapshots.sweep()?;
        let (mut trouble, mut until) = (Trouble::default(), Until::Seated);
        while !self.is_stopping() {
            let prepared = self.prepare().map_err(anyhow::Error::from);
            match prepared.and_then(|()| self.turn_of_duty(until, &mut trouble)) {
                Ok(Duty::Done) => break,
                Ok(Duty::Again) => {}
                // Whoever has the seat may keep it for ever. What we have read is judged there, and then there is nothing more to do.
                Ok(Duty::Lost) => until = self.ends_when_idle.map_or(Until::Seated, Until::Judged),
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
    fn turn_of_duty(&self, until: Until, trouble: &mut Trouble) -> anyhow::Result<Duty> {
        self.enter(Phase::Restoring);
        let Restored { fold, journal, lost: lost_before } = self.restored()?;
        self.show(&fold);
        match follow(self, fold, journal, until)? {
            Followed::Stopped(_) => Ok(Duty::Done),
            Followed::NeedsSnapshot { .. } if trouble.n_looks < SNAPSHOT_LOOKS => {
                trouble.n_looks += 1;
                info!("the journal goes on from a state that only a snapshot has, waiting for one");
                // Whoever has that state wrote it down before it spoke of it: one look at its newest is enough, or too early.
                if trouble.n_looks.is_power_of_two() {
                    self.fetch_snapshot();
                }
                self.sleep(SNAPSHOT_PAUSE);
                Ok(Duty::Again)
            }
            Followed::NeedsSnapshot { .. } => bail!(
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
                        Ok(Duty::Lost)
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

    fn n_threads(&self) -> NonZeroUsize {
        NonZeroUsize::new(self.scheme.settings.batch.threads).unwrap_or(cores())
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

    fn enter(&self, phase: Phase) {
        self.state.set_phase(phase);
        if !phase.is_ready() {
            self.state.checks().turn_away();
        }
    }

    fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }
}

fn cores() -> NonZeroUsize {
    thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

fn hostname() -> String {
    std::fs::read_to_string("/proc/sys/kernel/hostname").map_or_else(|_| "host".into(), |name| name.trim().to_owned())
}
