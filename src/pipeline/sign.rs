//! Entries of files signed on several threads: what the threads made comes back in the order of the input.
//!
//! # Invariants
//! - Results come in the order of the entries, whatever the number of threads. (`results_come_in_order`)
//! - A document that meets a bug of ours has its result too, and the others are signed. (`a_panic_costs_one_document`)
//! - However many entries there are, only so many batches are on their way. (`finding_waits_for_the_taker`)

use super::line::{Job, Pace, line};
use crate::corpus::{Entry, Tally, Trouble, With};
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};

impl Job for Result<Entry, Trouble> {
    fn n_bytes(&self) -> usize {
        self.as_ref().map_or(0, |entry| entry.record.body.len())
    }
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
    take: impl FnMut(Vec<T>) -> Result<(), E>,
) -> Result<Tally, E>
where
    T: Send,
    W: FnMut(Result<Entry, Trouble>) -> T,
{
    let careful = || {
        let mut sign = worker();
        let (worker, bug) = (&worker, &bug);
        move |entry: Result<Entry, Trouble>| {
            let place = match &entry {
                Ok(entry) => entry.place.clone(),
                Err(trouble) => trouble.place.clone(),
            };
            // What a worker holds may be broken after a panic, and is not used again.
            catch_unwind(AssertUnwindSafe(|| sign(entry))).unwrap_or_else(|_| {
                sign = worker();
                bug(&place)
            })
        }
    };
    line(|belt| read(&mut |entry| belt.put(entry)), n_threads, careful, Pace::default(), take)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Record;
    use crate::pipeline::line::{BATCH_JOBS_MAX, BATCHES_PER_THREAD};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;
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
    fn finding_waits_for_the_taker() {
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
        assert!(n_ahead_max <= (2 * BATCHES_PER_THREAD + 1) * BATCH_JOBS_MAX, "{n_ahead_max} ahead");
    }
}
