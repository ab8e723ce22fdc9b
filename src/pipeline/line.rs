//! Work on several threads whose results come back in the order of the jobs: one thread finds jobs, others do them.
//!
//! Jobs travel in batches. A batch needs a permit that comes back when its results have been taken, so that a slow job
//! holds up the finding, and not the memory. A batch leaves early when the workers have nothing to do: a slow source is
//! answered at once.
//!
//! # Invariants
//! - Results come in the order of the jobs, whatever the number of threads. (`results_come_in_order`)
//! - However many jobs there are, only so many batches are on their way. (`finding_waits_for_the_taker`)
//! - A taker that asked for it is called regularly, also when nothing comes, and at once when a bell rings.
//!   (`a_taker_can_watch_the_clock`, `a_bell_is_heard_at_once`)

use crossbeam_channel::{Receiver, Sender, bounded, never, select};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::thread;
use std::time::Duration;

/// A batch leaves with so many jobs or bytes.
pub(super) const BATCH_JOBS_MAX: usize = 32;
const BATCH_BYTES_MAX: usize = 512 * 1024;
/// Batches on their way, per thread: one being worked on, one waiting, and room for slow ones.
pub(super) const BATCHES_PER_THREAD: usize = 4;
/// Signing recurses by the nesting of hostile input, which is bounded, but not by two megabytes in every build.
pub(super) const STACK_BYTES: usize = 8 << 20;

/// Something to be done.
pub trait Job: Send {
    /// How much of a batch it takes up.
    fn n_bytes(&self) -> usize;
}

/// Jobs or results that travel together.
struct Batch<T> {
    number: u64,
    values: Vec<T>,
}

/// Where jobs are put.
pub struct Belt<J> {
    number: u64,
    jobs: Vec<J>,
    n_bytes: usize,
    permits: Receiver<()>,
    workers: Sender<Batch<J>>,
}

impl<J: Job> Belt<J> {
    /// Puts a job down; it may wait here for others. [`ControlFlow::Break`]: nobody wants any more.
    pub fn put(&mut self, job: J) -> ControlFlow<()> {
        self.n_bytes += job.n_bytes();
        self.jobs.push(job);
        let is_full = self.jobs.len() >= BATCH_JOBS_MAX || self.n_bytes >= BATCH_BYTES_MAX;
        if is_full || self.workers.is_empty() { self.flush() } else { ControlFlow::Continue(()) }
    }

    /// Sends what waits on its way.
    pub fn flush(&mut self) -> ControlFlow<()> {
        if self.jobs.is_empty() {
            return ControlFlow::Continue(());
        }
        let batch = Batch { number: self.number, values: std::mem::take(&mut self.jobs) };
        self.number += 1;
        self.n_bytes = 0;
        let sent = self.permits.recv().is_ok() && self.workers.send(batch).is_ok();
        if sent { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}

/// A taker that did not ask to be called is called so seldom.
const SELDOM: Duration = Duration::from_secs(3600);

/// How a line goes.
#[derive(Clone, Copy, Debug)]
pub struct Pace<'a> {
    /// The taker is called at least that often, if only with nothing.
    pub tick: Option<Duration>,
    /// It is called when this rings, if only with nothing.
    pub bell: Option<&'a Receiver<()>>,
    /// Batches on their way.
    pub batches_per_thread: usize,
}

impl Default for Pace<'_> {
    /// For a taker that is always quicker than the workers.
    fn default() -> Self {
        Self { tick: None, bell: None, batches_per_thread: BATCHES_PER_THREAD }
    }
}

/// Lets `find` put jobs on a belt, `n_threads` workers (each made by `worker` in its own thread) do them, and `take` have
/// the results in order, some at a time, until it fails.
pub fn line<J, T, R, E, W>(
    find: impl FnOnce(&mut Belt<J>) -> R + Send,
    n_threads: NonZeroUsize,
    worker: impl Fn() -> W + Sync,
    pace: Pace<'_>,
    mut take: impl FnMut(Vec<T>) -> Result<(), E>,
) -> Result<R, E>
where
    J: Job,
    T: Send,
    R: Send,
    W: FnMut(J) -> T,
{
    let Pace { tick, bell, batches_per_thread } = pace;
    let silence = never();
    let (tick, bell) = (tick.unwrap_or(SELDOM), bell.unwrap_or(&silence));
    let n_batches = batches_per_thread.max(1) * n_threads.get();
    let (permits_back, permits) = bounded(n_batches);
    for _ in 0..n_batches {
        permits_back.send(()).expect("its other end is here");
    }
    let (jobs_in, jobs) = bounded::<Batch<J>>(n_batches);
    let (made_in, made) = bounded::<Batch<T>>(n_batches);
    thread::scope(|scope| {
        let finder = scope.spawn(move || {
            let mut belt = Belt { number: 0, jobs: Vec::new(), n_bytes: 0, permits, workers: jobs_in };
            let found = find(&mut belt);
            // The taker may be gone: then nobody waits for the last batch.
            let _unwanted = belt.flush();
            found
        });
        for number in 0..n_threads.get() {
            let (jobs, made_in, worker) = (jobs.clone(), made_in.clone(), &worker);
            let thread = thread::Builder::new().name(format!("sign-{number}")).stack_size(STACK_BYTES);
            thread.spawn_scoped(scope, move || work(&jobs, &made_in, worker)).expect("the system has threads");
        }
        // Only the threads hold the ends from here on: when they have gone, the channels close.
        drop((jobs, made_in));
        let mut waiting = BTreeMap::new();
        let mut number = 0;
        loop {
            select! {
                recv(made) -> batch => match batch {
                    Err(_) => break,
                    Ok(batch) => drop(waiting.insert(batch.number, batch.values)),
                },
                recv(bell) -> _ => take(Vec::new())?,
                default(tick) => take(Vec::new())?,
            }
            while let Some(values) = waiting.remove(&number) {
                number += 1;
                take(values)?;
                // The finder may have finished: then the permit is for nobody.
                let _unwanted = permits_back.try_send(());
            }
        }
        drop(permits_back);
        Ok(finder.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}

/// Works off batches until there are none, or nobody wants the results.
fn work<J, T, W: FnMut(J) -> T>(jobs: &Receiver<Batch<J>>, made: &Sender<Batch<T>>, worker: &impl Fn() -> W) {
    let mut worker = worker();
    for batch in jobs {
        let values = batch.values.into_iter().map(&mut worker).collect();
        if made.send(Batch { number: batch.number, values }).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Job for u32 {
        fn n_bytes(&self) -> usize {
            1
        }
    }

    #[test]
    fn a_bell_is_heard_at_once() {
        let (ring, bell) = bounded(1);
        let (end, ended) = bounded::<()>(0);
        let find = move |_: &mut Belt<u32>| {
            ring.send(()).unwrap();
            // Nothing ever comes: only the bell gets us out of here.
            ended.recv().unwrap_err();
        };
        let mut end = Some(end);
        let pace = Pace { bell: Some(&bell), ..Pace::default() };
        let found = line(
            find,
            NonZeroUsize::MIN,
            || |job: u32| job,
            pace,
            |values| {
                assert!(values.is_empty());
                end = None;
                Ok::<_, ()>(())
            },
        );
        assert_eq!((found, end.is_none()), (Ok(()), true));
    }

    #[test]
    fn a_taker_can_watch_the_clock() {
        let find = |belt: &mut Belt<u32>| {
            for job in 0..40 {
                assert!(belt.put(job).is_continue());
            }
            assert!(belt.flush().is_continue());
            thread::sleep(Duration::from_millis(30));
            "found"
        };
        let (mut n_ticks, mut taken) = (0, Vec::new());
        let found = line(
            find,
            NonZeroUsize::MIN,
            || |job: u32| job * 2,
            Pace { tick: Some(Duration::from_millis(5)), ..Pace::default() },
            |values| {
                n_ticks += u32::from(values.is_empty());
                taken.extend(values);
                Ok::<_, ()>(())
            },
        );
        assert_eq!(found, Ok("found"));
        assert!(taken.iter().copied().eq((0..40).map(|job| job * 2)), "{taken:?}");
        assert!(n_ticks >= 2, "{n_ticks}");
    }
}
