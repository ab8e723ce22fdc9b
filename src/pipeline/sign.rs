//! Signing on several threads: one reads, the others sign, and what they made comes back in the order of the input.
//!
//! Entries travel in batches. A batch needs a permit that comes back when its results have been taken, so that a slow
//! document holds up the reading, and not the memory. A batch leaves early when the signing threads have nothing to do:
//! a slow source is answered at once.
//!
//! # Invariants
//! - Results come in the order of the entries, whatever the number of threads. (`results_come_in_order`)
//! - A document that meets a bug of ours has its result too, and the others are signed. (`a_panic_costs_one_document`)
//! - However many entries there are, only so many batches are on their way. (`reading_waits_for_the_taker`)

use crate::corpus::{Entry, Tally, Trouble, With};
use crossbeam_channel::{Receiver, Sender, bounded};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

/// A batch leaves with so many entries or bytes.
const BATCH_ENTRIES_MAX: usize = 32;
const BATCH_BYTES_MAX: usize = 512 * 1024;
/// Batches on their way, per signing thread: one being signed, one waiting, and room for slow ones.
const BATCHES_PER_THREAD: usize = 4;

/// Entries or results that travel together.
struct Batch<T> {
    number: u64,
    values: Vec<T>,
}

/// Lets `read` produce entries, `n_threads` workers (each made by `worker` in its own thread) turn each into a value, and
/// `take` have the values in order, some at a time, until it fails.
///
/// A worker that panics is a bug: the panic's message has been printed, `bug` makes the value from the entry's place, and
/// a new worker goes on with the next entry.
pub fn in_order<T, E, W>(
    read: impl FnOnce(With<'_>) -> Tally + Send,
    n_threads: NonZeroUsize,
    worker: impl Fn() -> W + Sync,
    bug: impl Fn(&str) -> T + Sync,
    mut take: impl FnMut(Vec<T>) -> Result<(), E>,
) -> Result<Tally, E>
where
    T: Send,
    W: FnMut(Result<Entry, Trouble>) -> T,
{
    let n_batches = BATCHES_PER_THREAD * n_threads.get();
    let (permits_back, permits) = bounded(n_batches);
    for _ in 0..n_batches {
        permits_back.send(()).expect("its other end is here");
    }
    let (jobs_in, jobs) = bounded(n_batches);
    let (made_in, made) = bounded(n_batches);
    thread::scope(|scope| {
        let reader = scope.spawn(move || {
            let mut batcher = Batcher { number: 0, entries: Vec::new(), n_bytes: 0, permits, jobs: jobs_in };
            let tally = read(&mut |entry| batcher.add(entry));
            // The taker may be gone: then nobody waits for the last batch.
            let _unwanted = batcher.send();
            tally
        });
        for _ in 0..n_threads.get() {
            let (jobs, made_in, worker, bug) = (jobs.clone(), made_in.clone(), &worker, &bug);
            scope.spawn(move || work(&jobs, &made_in, worker, bug));
        }
        // Only the threads hold the ends from here on: when they have gone, the channels close.
        drop((jobs, made_in));
        let mut waiting = BTreeMap::new();
        let mut number = 0;
        for batch in made {
            waiting.insert(batch.number, batch.values);
            while let Some(values) = waiting.remove(&number) {
                number += 1;
                take(values)?;
                // The reader may have finished: then the permit is for nobody.
                let _unwanted = permits_back.try_send(());
            }
        }
        drop(permits_back);
        Ok(reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}

/// Collects entries into batches.
struct Batcher {
    number: u64,
    entries: Vec<Result<Entry, Trouble>>,
    n_bytes: usize,
    permits: Receiver<()>,
    jobs: Sender<Batch<Result<Entry, Trouble>>>,
}

impl Batcher {
    fn add(&mut self, entry: Result<Entry, Trouble>) -> ControlFlow<()> {
        self.n_bytes += entry.as_ref().map_or(0, |entry| entry.record.body.len());
        self.entries.push(entry);
        let is_full = self.entries.len() >= BATCH_ENTRIES_MAX || self.n_bytes >= BATCH_BYTES_MAX;
        if is_full || self.jobs.is_empty() { self.send() } else { ControlFlow::Continue(()) }
    }

    fn send(&mut self) -> ControlFlow<()> {
        let batch = Batch { number: self.number, values: std::mem::take(&mut self.entries) };
        if batch.values.is_empty() {
            return ControlFlow::Continue(());
        }
        self.number += 1;
        self.n_bytes = 0;
        let sent = self.permits.recv().is_ok() && self.jobs.send(batch).is_ok();
        if sent { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}

/// Works off batches until there are none, or nobody wants the results.
fn work<T, W: FnMut(Result<Entry, Trouble>) -> T>(
    jobs: &Receiver<Batch<Result<Entry, Trouble>>>,
    made: &Sender<Batch<T>>,
    new_worker: &impl Fn() -> W,
    bug: &impl Fn(&str) -> T,
) {
    let mut worker = new_worker();
    for batch in jobs {
        let mut values = Vec::with_capacity(batch.values.len());
        for entry in batch.values {
            let place = match &entry {
                Ok(entry) => entry.place.clone(),
                Err(trouble) => trouble.place.clone(),
            };
            // What a worker holds may be broken after a panic, and is not used again.
            values.push(catch_unwind(AssertUnwindSafe(|| worker(entry))).unwrap_or_else(|_| {
                worker = new_worker();
                bug(&place)
            }));
        }
        if made.send(Batch { number: batch.number, values }).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Record;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    fn entry(number: usize) -> Result<Entry, Trouble> {
        let record = Record { body: vec![b'x'; number % 7 * 30_000], ..Record::default() };
        Ok(Entry { place: number.to_string(), record })
    }

    fn many(n: usize) -> impl FnOnce(With<'_>) -> Tally + Send {
        move |with| {
            let mut tally = Tally::default();
            for number in 0..n {
                tally.n_entries += 1;
                if with(entry(number)).is_break() {
                    break;
                }
            }
            tally
        }
    }

    fn no_bug<T>(place: &str) -> T {
        panic!("{place} met a bug")
    }

    fn threads(n: usize) -> NonZeroUsize {
        NonZeroUsize::new(n).unwrap()
    }

    #[test]
    fn results_come_in_order() {
        for n_threads in [1, 2, 5] {
            let mut taken = Vec::new();
            let worker = || {
                |entry: Result<Entry, Trouble>| {
                    let number: usize = entry.unwrap().place.parse().unwrap();
                    if number.is_multiple_of(97) {
                        thread::sleep(Duration::from_millis(2));
                    }
                    number
                }
            };
            let tally = in_order(many(3000), threads(n_threads), worker, no_bug, |values| {
                taken.extend(values);
                Ok::<_, ()>(())
            });
            assert_eq!(tally.unwrap().n_entries, 3000);
            assert!(taken.iter().copied().eq(0..3000), "{n_threads} threads");
        }
    }

    #[test]
    fn a_panic_costs_one_document() {
        for n_threads in [1, 3] {
            let worker = || {
                |entry: Result<Entry, Trouble>| {
                    let place = entry.unwrap().place;
                    assert!(!place.ends_with("34"), "meant to fail");
                    place
                }
            };
            let mut taken = Vec::new();
            in_order(
                many(200),
                threads(n_threads),
                worker,
                |place| format!("bug {place}"),
                |values| {
                    taken.extend(values);
                    Ok::<_, ()>(())
                },
            )
            .unwrap();
            let name = |number: usize| if number % 100 == 34 { format!("bug {number}") } else { number.to_string() };
            assert!(taken.iter().cloned().eq((0..200).map(name)), "{taken:?}");
        }
    }

    #[test]
    fn a_taker_that_had_enough_ends_the_work() {
        let ended = in_order(many(usize::MAX), threads(2), || |_| (), no_bug, |_| Err("enough"));
        assert_eq!(ended, Err("enough"));
    }

    #[test]
    #[should_panic(expected = "the reader fails")]
    fn a_panic_of_the_reader_is_passed_on() {
        let read = |_: With<'_>| -> Tally { panic!("the reader fails") };
        let _never = in_order(read, threads(2), || |_| (), no_bug, |_| Ok::<_, ()>(()));
    }

    #[test]
    fn reading_waits_for_the_taker() {
        let n_read = AtomicUsize::new(0);
        let read = |with: With<'_>| {
            for number in 0..5000 {
                n_read.fetch_add(1, Ordering::Relaxed);
                if with(entry(number)).is_break() {
                    break;
                }
            }
            Tally::default()
        };
        let mut n_taken = 0;
        let mut n_ahead_max = 0;
        in_order(
            read,
            threads(2),
            || |_| (),
            no_bug,
            |values: Vec<()>| {
                thread::sleep(Duration::from_micros(100));
                n_ahead_max = n_ahead_max.max(n_read.load(Ordering::Relaxed) - n_taken);
                n_taken += values.len();
                Ok::<_, ()>(())
            },
        )
        .unwrap();
        assert_eq!(n_taken, 5000);
        // The batches on their way, and the one that is being filled.
        assert!(n_ahead_max <= (2 * BATCHES_PER_THREAD + 1) * BATCH_ENTRIES_MAX, "{n_ahead_max} ahead");
    }
}
