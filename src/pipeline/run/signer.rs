//! The role `sign`: records of the inputs in, signed ones out, on as many machines as one likes.
//!
//! A signer keeps nothing. It shares the partitions of the inputs with the others, and what it makes of some records becomes
//! durable together with how far it is. One thread talks to the bus, since that is how a member shows that it is alive; while
//! it publishes one batch, the next is being signed.
//!
//! # Invariants
//! - Every record is signed once, in the order of its partition, whoever comes and goes. (`tests/promises/run/roles.rs`)
//! - Records that were deleted before they were signed end it, unless that is accepted. (`signers_say_what_is_lost`)

use super::counted;
use super::inlet::{Fate, Inlet, Taken, Ways};
use super::publisher::shorten;
use super::scheme::Scheme;
use super::signed::{outgoing, signed_under};
use super::{Options, Trouble, passes};
use crate::bus::{Bus, BusError, Member, Outgoing, Positions, Published, Record};
use crate::config::Settings;
use crate::fault;
use crate::http::{Phase, State};
use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
use std::borrow::Cow;
use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use tracing::{error, info, warn};

/// How long a member waits for records before it looks whether to stop.
const POLL_WAIT: Duration = Duration::from_millis(50);
/// Batches that are being signed or published: one of each.
const BATCHES_AHEAD: usize = 2;

/// Signs for a store elsewhere.
pub struct Signer {
    bus: Arc<dyn Bus>,
    scheme: Arc<Scheme>,
    ways: Arc<Ways>,
    under: String,
    state: Arc<State>,
    stopping: Arc<AtomicBool>,
    ends_when_idle: Option<Duration>,
    accept_loss: bool,
}

/// The signatures of a smaller record are smaller than any bus refuses.
const LARGE_BYTES: usize = 64 << 10;

/// A record on its way to a thread: its number in its batch, and where the result goes.
type Work = (usize, Record, Sender<(usize, Made)>);

/// What has become of a record.
struct Made {
    signed: Outgoing,
    letter: Option<(Cow<'static, str>, Outgoing)>,
    n_bytes: usize,
}

/// Records that are being signed.
struct Batch {
    n_records: usize,
    consumed: Positions,
    results: Receiver<(usize, Made)>,
}

impl Signer {
    /// A signer by `settings` on `bus`, which ends soon after `stopping` is set.
    pub fn new(
        settings: Arc<Settings>,
        bus: Arc<dyn Bus>,
        options: Options,
        state: Arc<State>,
        stopping: Arc<AtomicBool>,
    ) -> anyhow::Result<Self> {
        let ways = Arc::new(Ways::new(&settings));
        let scheme = Arc::new(Scheme::new(settings)?);
        let Options { accept_loss, ends_when_idle, .. } = options;
        Ok(Self { bus, ways, under: signed_under(&scheme), scheme, state, stopping, ends_when_idle, accept_loss })
    }

    /// Signs until asked to stop.
    pub fn run(&self) -> anyhow::Result<()> {
        let n_threads = NonZeroUsize::new(self.scheme.settings.batch.threads)
            .unwrap_or_else(|| thread::available_parallelism().unwrap_or(NonZeroUsize::MIN));
        let (work_in, work) = bounded::<Work>(self.scheme.settings.batch.documents_max.get() * BATCHES_AHEAD);
        // The threads end when `work_in` goes, with the end of what follows.
        thread::scope(move |scope| {
            for number in 0..n_threads.get() {
                let work = work.clone();
                let thread = thread::Builder::new().name(format!("sign-{number}")).stack_size(8 << 20);
                thread.spawn_scoped(scope, move || {
                    let mut inlet = self.scheme.inlet();
                    for (number, record, results) in work {
                        // Nobody wants the results of a batch that others will sign.
                        let _unwanted = results.send((number, self.made(&mut inlet, record)));
                    }
                })?;
            }
            let mut trouble = Trouble::default();
            while !self.is_stopping() {
                match self.bus.prepare().map_err(anyhow::Error::from).and_then(|()| self.sign(&work_in)) {
                    Ok(()) => break,
                    Err(error) if passes(&error) => {
                        let pause = trouble.pause();
                        error!(seconds = pause.as_secs(), "the bus fails, joining the signers again: {error:#}");
                        self.state.set_phase(Phase::Restoring);
                        let until = Instant::now() + pause;
                        while Instant::now() < until && !self.is_stopping() {
                            thread::sleep(POLL_WAIT);
                        }
                    }
                    Err(error) => return Err(error),
                }
            }
            self.state.set_phase(Phase::Stopping);
            Ok(())
        })
    }

    /// Signs as one member, until asked to stop or until the bus fails.
    fn sign(&self, work: &Sender<Work>) -> anyhow::Result<()> {
        let topics: Vec<Arc<str>> = self.ways.inputs().cloned().collect();
        let mut member = self.bus.member(&topics)?;
        info!("signing");
        self.state.set_phase(Phase::Judging);
        let mut batches: VecDeque<Batch> = VecDeque::new();
        let mut active = Instant::now();
        loop {
            let is_stopping = self.is_stopping();
            if !is_stopping && batches.len() < BATCHES_AHEAD {
                let wait = if batches.is_empty() { POLL_WAIT } else { Duration::ZERO };
                let records = self.poll(&mut *member, wait)?;
                if !records.is_empty() {
                    batches.push_back(begun(records, work));
                    continue;
                }
            }
            let Some(next) = batches.pop_front() else {
                if is_stopping || self.ends_when_idle.is_some_and(|idle| active.elapsed() >= idle) {
                    break;
                }
                continue;
            };
            match self.publish(&mut *member, next)? {
                Published::Done => {}
                Published::DoneAfresh => batches.clear(),
                Published::Undone => {
                    warn!("partitions have changed hands, what was being signed will be by others");
                    batches.clear();
                }
            }
            active = Instant::now();
        }
        member.leave();
        Ok(())
    }

    /// The next records. What is gone is passed over where that is accepted.
    fn poll(&self, member: &mut dyn Member, wait: Duration) -> anyhow::Result<Vec<Record>> {
        let batch = &self.scheme.settings.batch;
        match member.poll(batch.documents_max.get(), batch.bytes_max.get(), wait) {
            Err(gone @ BusError::Gone { .. }) if !self.accept_loss => Err(anyhow::Error::new(gone).context(
                "records are not there. Nothing more is signed until this is looked at; --accept-loss goes on from what there is",
            )),
            Err(BusError::Gone { partition, wanted, begin, end }) => {
                counted::lost(&partition.topic, begin - wanted);
                member.pass_over(&partition)?;
                error!("LOSS ACCEPTED: {}", BusError::Gone { partition, wanted, begin, end });
                Ok(Vec::new())
            }
            records => Ok(records?),
        }
    }

    /// Publishes what has become of a batch.
    fn publish(&self, member: &mut dyn Member, batch: Batch) -> Result<Published, BusError> {
        let Batch { n_records, consumed, results } = batch;
        let mut made: Vec<Option<Made>> = (0..n_records).map(|_| None).collect();
        for (number, one) in results {
            made[number] = Some(one);
        }
        let (mut outputs, mut letters, mut reasons) = (Vec::with_capacity(n_records), Vec::new(), Vec::new());
        let mut n_bytes = 0;
        for one in made {
            let one = one.ok_or_else(|| BusError::Broken("a signing thread has ended".into()))?;
            n_bytes += one.n_bytes;
            outputs.push(one.signed);
            if let Some((reason, letter)) = one.letter {
                reasons.push(reason);
                letters.push(letter);
            }
        }
        outputs.append(&mut letters);
        let begun = Instant::now();
        fault::point("before_signed");
        let published = loop {
            match member.publish(&outputs, &consumed) {
                // A broker may take less than the settings say. Of a dead letter the beginning must do.
                Err(BusError::TooLarge { .. }) if shorten(&mut outputs) => {}
                outcome => break outcome?,
            }
        };
        fault::point("after_signed");
        if published != Published::Undone {
            counted::commit(begun.elapsed());
            counted::signed(n_records, n_bytes);
            reasons.iter().for_each(|reason| counted::dead_letter(reason));
        }
        Ok(published)
    }

    /// Signs a record and packs it up.
    fn made(&self, inlet: &mut Inlet, record: Record) -> Made {
        let original = (record.n_bytes() > LARGE_BYTES).then(|| record.clone());
        let taken = inlet.take(record);
        let (n_bytes, digest, place) =
            (taken.n_bytes, taken.digest, (taken.partition.clone(), taken.offset, taken.time_ms));
        let mut reason = reason(&taken);
        let (mut signed, mut letter) = outgoing(taken, &self.under, &self.ways);
        if let Some(original) = original
            && signed.n_bytes() > self.scheme.settings.bus.record_bytes_max
        {
            let fate = inlet.outgrown(&original, signed.n_bytes());
            let (partition, offset, time_ms) = place;
            let taken = Taken { partition, offset, time_ms, n_bytes, digest, fate, via: None, beside: None };
            reason = self::reason(&taken);
            (signed, letter) = outgoing(taken, &self.under, &self.ways);
        }
        Made { signed, letter: reason.zip(letter), n_bytes }
    }

    fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }
}

fn reason(taken: &Taken) -> Option<Cow<'static, str>> {
    match &taken.fate {
        Fate::SetAside(set_aside) => Some(set_aside.reason.clone()),
        Fate::Document(_) | Fate::Empty => None,
    }
}

/// Hands the records to the signing threads.
fn begun(records: Vec<Record>, work: &Sender<Work>) -> Batch {
    let (results_in, results) = unbounded();
    let n_records = records.len();
    let mut consumed = Positions::default();
    for (number, record) in records.into_iter().enumerate() {
        consumed.pass(&record.partition, record.offset);
        // The threads live as long as we do; if all have died, the missing results say so.
        let _sent = work.send((number, record, results_in.clone()));
    }
    Batch { n_records, consumed, results }
}
