//! The thread that appends documents to the bus: what waits becomes durable together, and everybody is told where.
//!
//! The bus blocks, so one thread owns the feeder, and requests wait for it without holding a thread. The queue is bounded in
//! requests here, and in bytes by the room that their bodies hold.
//!
//! # Invariants
//! - A request is answered when its documents are durable, and not before. (`tests/promises/http/documents.rs`)
//! - A document that comes again under its id is appended once. (`repeats_are_told_the_first_place`)
//! - Nothing waits behind a full queue: who finds it full is told so. (`a_full_queue_turns_away_and_what_waits_is_appended_together`)

use super::problem::Problem;
use super::recent::{Digest, Name, Place, Recent};
use crate::bus::{Bus, BusError, Feeder, Outgoing};
use crate::metrics as names;
use crate::pipeline::dispatch::Dispatched;
use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};
use metrics::{counter, gauge};
use std::collections::HashMap;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use tokio::sync::{OwnedSemaphorePermit, oneshot};
use tracing::warn;

/// Requests that wait.
const QUEUE_MAX: usize = 1024;
/// What is appended together, about; the first request of a group is taken whatever its size.
const GROUP_BYTES_MAX: usize = 8 << 20;
/// After a record that the bus does not take, so many requests are appended alone: one of them spoils no others.
const N_ALONE: usize = 256;

/// Appends documents to the bus.
#[derive(Clone)]
pub(super) struct Feed {
    queue: Sender<Job>,
}

/// Where a document is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fed {
    pub(super) place: Place,
    /// It was there already.
    pub(super) is_repeat: bool,
}

/// Documents of one request.
struct Job {
    documents: Vec<Dispatched>,
    n_bytes: usize,
    answer: oneshot::Sender<Result<Vec<Fed>, Problem>>,
    /// Held until they are durable.
    _room: Option<OwnedSemaphorePermit>,
}

impl Feed {
    /// Starts the thread. It ends when the last [`Feed`] is gone.
    pub(super) fn start(bus: Arc<dyn Bus>, repeats_held_max: usize) -> std::io::Result<(Self, JoinHandle<()>)> {
        let (queue, jobs) = bounded(QUEUE_MAX);
        let work = move || Appender { bus, feeder: None, recent: Recent::new(repeats_held_max), n_alone: 0 }.run(&jobs);
        Ok((Self { queue }, thread::Builder::new().name("http-feed".into()).spawn(work)?))
    }

    /// Appends the documents, all or none; returns when they are durable.
    pub(super) async fn append(
        &self,
        documents: Vec<Dispatched>,
        room: Option<OwnedSemaphorePermit>,
    ) -> Result<Vec<Fed>, Problem> {
        let (answer, answered) = oneshot::channel();
        let n_bytes = documents.iter().map(|document| document.outgoing.n_bytes()).sum();
        gauge!(names::QUEUE_DEPTH, "queue" => "http feed").set(self.queue.len() as f64);
        match self.queue.try_send(Job { documents, n_bytes, answer, _room: room }) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => return Err(Problem::busy("queue", "too many requests wait for the bus")),
            Err(TrySendError::Disconnected(_)) => return Err(ended()),
        }
        answered.await.map_err(|_| ended())?
    }
}

fn ended() -> Problem {
    Problem::busy("stopping", "this instance stops; it is not known whether the documents are durable: send them again")
}

/// What the thread owns.
struct Appender {
    bus: Arc<dyn Bus>,
    feeder: Option<Box<dyn Feeder>>,
    recent: Recent,
    n_alone: usize,
}

/// Where the answer for a document comes from.
enum Answer {
    Known(Place),
    /// The record of this number in the group, and whether it is there for this document.
    Appended(usize, bool),
}

impl Appender {
    fn run(mut self, jobs: &Receiver<Job>) {
        while let Ok(first) = jobs.recv() {
            let mut n_bytes = first.n_bytes;
            let mut group = vec![first];
            while n_bytes < GROUP_BYTES_MAX && self.n_alone == 0 {
                let Ok(job) = jobs.try_recv() else { break };
                n_bytes += job.n_bytes;
                group.push(job);
            }
            self.n_alone = self.n_alone.saturating_sub(1);
            self.append(group);
        }
    }

    fn append(&mut self, group: Vec<Job>) {
        let n_jobs = group.len();
        let (mut records, mut names) = (Vec::new(), Vec::new());
        let mut waiting = Vec::new();
        let mut in_group = HashMap::new();
        for Job { documents, answer, _room, .. } in group {
            let plan = |document| self.planned(document, &mut in_group, &mut records, &mut names);
            let answers: Vec<Answer> = documents.into_iter().map(plan).collect();
            waiting.push((answers, answer, _room));
        }
        let outcome = self.fed(records);
        if let Ok(places) = &outcome {
            for (name, place) in names.into_iter().zip(places) {
                if let Some(name) = name {
                    self.recent.learn(name, place.clone());
                }
            }
        }
        for (answers, answer, _room) in waiting {
            let told = match &outcome {
                Ok(places) => Ok(answers.into_iter().map(|answer| fed(answer, places)).collect()),
                Err(BusError::TooLarge { .. }) if n_jobs > 1 => {
                    self.n_alone = N_ALONE;
                    Err(Problem::busy("neighbour", "the bus refused what was to be appended together, try again"))
                }
                Err(error) => Err(Problem::of_bus(error)),
            };
            // Who has gone away meanwhile may come again with the same id.
            let _gone = answer.send(told);
        }
    }

    fn planned(
        &self,
        document: Dispatched,
        in_group: &mut HashMap<Digest, (Digest, usize)>,
        records: &mut Vec<Outgoing>,
        names: &mut Vec<Option<Name>>,
    ) -> Answer {
        let Dispatched { id, outgoing, .. } = document;
        let name = id.map(|id| Name::new(&id, &outgoing));
        if let Some(name) = &name {
            match (in_group.get(&name.id), self.recent.place(name)) {
                (Some((whole, number)), _) if *whole == name.whole => return Answer::Appended(*number, false),
                (None, Some(place)) => return Answer::Known(place.clone()),
                // New, or what came in between under its id was another.
                _ => drop(in_group.insert(name.id, (name.whole, records.len()))),
            }
        }
        records.push(outgoing);
        names.push(name);
        Answer::Appended(records.len() - 1, true)
    }

    fn fed(&mut self, records: Vec<Outgoing>) -> Result<Vec<Place>, BusError> {
        if records.is_empty() {
            return Ok(Vec::new());
        }
        let feeder = match &mut self.feeder {
            Some(feeder) => feeder,
            none => none.insert(self.bus.feeder()?),
        };
        let outcome = feeder.append(records);
        if let Err(error) = &outcome {
            warn!(%error, "documents from HTTP could not be appended");
            if !matches!(error, BusError::TooLarge { .. } | BusError::Unreachable { .. }) {
                self.feeder = None;
            }
        }
        outcome
    }
}

fn fed(answer: Answer, places: &[Place]) -> Fed {
    let fed = match answer {
        Answer::Known(place) => Fed { place, is_repeat: true },
        Answer::Appended(number, is_own) => Fed { place: places[number].clone(), is_repeat: !is_own },
    };
    let name = if fed.is_repeat { names::HTTP_REPEATED } else { names::HTTP_ACCEPTED };
    counter!(name, "topic" => fed.place.0.topic.to_string()).increment(1);
    fed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bus::{Extent, Member, Partition, Positions, Reader, Seat};
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    /// A bus that counts what is appended, and can be held up or fail.
    #[derive(Default)]
    struct Counting {
        appended: Arc<Mutex<Vec<usize>>>,
        is_held: Arc<AtomicBool>,
        bytes_max: usize,
    }

    impl Bus for Counting {
        fn prepare(&self) -> Result<(), BusError> {
            Ok(())
        }
        fn n_partitions(&self, _topic: &str) -> Result<i32, BusError> {
            Ok(1)
        }
        fn extent(&self, _partition: &Partition) -> Result<Extent, BusError> {
            Ok(Extent { begin: 0, end: 0 })
        }
        fn reader(&self, _from: &Positions) -> Result<Box<dyn Reader>, BusError> {
            Err(BusError::Fenced)
        }
        fn feeder(&self) -> Result<Box<dyn Feeder>, BusError> {
            let Self { appended, is_held, bytes_max } = self;
            Ok(Box::new(Self { appended: appended.clone(), is_held: is_held.clone(), bytes_max: *bytes_max }))
        }
        fn seat(&self) -> Result<Box<dyn Seat>, BusError> {
            Err(BusError::Fenced)
        }
        fn member(&self, _topics: &[Arc<str>]) -> Result<Box<dyn Member>, BusError> {
            Err(BusError::Fenced)
        }
        fn trim(&self, _partition: &Partition, _offset: i64) -> Result<(), BusError> {
            Ok(())
        }
    }

    impl Feeder for Counting {
        fn append(&mut self, records: Vec<Outgoing>) -> Result<Vec<Place>, BusError> {
            while self.is_held.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(1));
            }
            if let Some(large) = records.iter().find(|record| record.n_bytes() > self.bytes_max) {
                return Err(BusError::TooLarge { topic: large.topic.to_string(), n_bytes: large.n_bytes() });
            }
            let mut appended = self.appended.lock().unwrap();
            let begin: usize = appended.iter().sum();
            appended.push(records.len());
            Ok((begin..begin + records.len()).map(|n| (Partition::new("pages", 0), n as i64)).collect())
        }
    }

    fn counting() -> Counting {
        Counting { bytes_max: 1000, ..Counting::default() }
    }

    fn document(id: Option<&str>, body: &str) -> Dispatched {
        let id = id.map(str::to_owned);
        let outgoing = Outgoing { value: Some(body.into()), ..Outgoing::to("pages") };
        Dispatched { known_as: id.clone(), id, outgoing }
    }

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap()
    }

    #[test]
    fn repeats_are_told_the_first_place() {
        let bus = counting();
        let appended = bus.appended.clone();
        let (feed, thread) = Feed::start(Arc::new(bus), 100).unwrap();
        let offsets = |documents| {
            let fed = runtime().block_on(feed.append(documents, None)).unwrap();
            fed.into_iter().map(|fed| (fed.place.1, fed.is_repeat)).collect::<Vec<_>>()
        };
        let (a, b) = (|| document(Some("a"), "one"), || document(Some("b"), "one"));
        assert_eq!(offsets(vec![a(), b(), a()]), [(0, false), (1, false), (0, true)]);
        assert_eq!(
            offsets(vec![a(), document(None, "one"), document(None, "one")]),
            [(0, true), (2, false), (3, false)]
        );
        assert_eq!(offsets(vec![document(Some("a"), "two"), a()]), [(4, false), (5, false)]);
        drop(feed);
        thread.join().unwrap();
        assert_eq!(*appended.lock().unwrap(), [2, 2, 2]);
    }

    #[test]
    fn a_full_queue_turns_away_and_what_waits_is_appended_together() {
        let bus = counting();
        let (appended, is_held) = (bus.appended.clone(), bus.is_held.clone());
        is_held.store(true, Ordering::Relaxed);
        let (feed, thread) = Feed::start(Arc::new(bus), 0).unwrap();
        runtime().block_on(async {
            let append = |n: usize| {
                let feed = feed.clone();
                async move { feed.append(vec![document(None, &n.to_string())], None).await }
            };
            // The first is being appended while the others come.
            let mut first = std::pin::pin!(append(0));
            assert!(tokio::time::timeout(Duration::from_millis(50), &mut first).await.is_err());
            let mut others: Vec<_> = (0..QUEUE_MAX).map(|n| Box::pin(append(n))).collect();
            for other in &mut others {
                assert!(tokio::time::timeout(Duration::ZERO, other).await.is_err());
            }
            let turned_away = append(1).await.unwrap_err();
            assert_eq!(turned_away.status(), axum::http::StatusCode::SERVICE_UNAVAILABLE);
            is_held.store(false, Ordering::Relaxed);
            assert_eq!(first.await.unwrap()[0].place.1, 0);
            for other in others {
                assert!(!other.await.unwrap()[0].is_repeat);
            }
        });
        drop(feed);
        thread.join().unwrap();
        assert_eq!(*appended.lock().unwrap(), [1, QUEUE_MAX]);
    }

    #[test]
    fn a_record_that_the_bus_refuses_spoils_no_other_for_long() {
        let bus = counting();
        let is_held = bus.is_held.clone();
        is_held.store(true, Ordering::Relaxed);
        let (feed, _thread) = Feed::start(Arc::new(bus), 0).unwrap();
        runtime().block_on(async {
            let append = |body: String| {
                let feed = feed.clone();
                Box::pin(async move { feed.append(vec![document(None, &body)], None).await })
            };
            let (mut first, mut good, mut bad) = (append("x".into()), append("y".into()), append("z".repeat(2000)));
            for waiting in [&mut first, &mut good, &mut bad] {
                assert!(tokio::time::timeout(Duration::from_millis(20), waiting).await.is_err());
            }
            is_held.store(false, Ordering::Relaxed);
            first.await.unwrap();
            assert_eq!(good.await.unwrap_err().status(), axum::http::StatusCode::SERVICE_UNAVAILABLE);
            assert_eq!(bad.await.unwrap_err().status(), axum::http::StatusCode::SERVICE_UNAVAILABLE);
            let (good, bad) = (append("y".into()), append("z".repeat(2000)));
            assert!(good.await.is_ok());
            assert_eq!(bad.await.unwrap_err().status(), axum::http::StatusCode::PAYLOAD_TOO_LARGE);
        });
    }
}
