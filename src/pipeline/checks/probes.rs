//! Documents that somebody asks about without having them learnt, on their way to the fold and back.
//!
//! # Invariants
//! - So many are on their way and no more; who finds all places taken is told so. (`places_are_bounded_and_given_back`)
//! - Nobody is answered by a state that is not that of the stream: not while it is restored, nor under another scheme.
//!   (`whoever_cannot_be_answered_is_let_go`, `tests/promises/http/check.rs`)

use crate::bus::{Partition, Record as BusRecord};
use crate::document::{Carrier, Format, Kind, Record, identity};
use crate::pipeline::dispatch::{Dispatch, Undeliverable};
use crate::pipeline::filter::Filter;
use crate::pipeline::run::inlet::{Fate, Inlet, source};
use crate::pipeline::run::scheme::Scheme;
use crate::signature::keyed::Keys;
use crate::store::Arrival;
use crate::verdict::event::Verdict;
use crate::verdict::judge::rejected;
use crossbeam_channel::{Receiver, Sender, bounded};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

/// So many are answered between two batches at most: the stream waits meanwhile.
const AT_ONCE_MAX: usize = 256;
/// So long a signing thread waits before it looks whether it is still wanted.
const WAIT: Duration = Duration::from_millis(50);
/// A document that is not on the bus has no place there.
const NOWHERE: i64 = -1;

/// What is said of a document.
#[derive(Debug)]
pub enum Told {
    /// This.
    Verdict(Box<Verdict>),
    /// It could not even be sent.
    Refused(Undeliverable),
    /// The stream is signed in another way at the moment.
    OtherScheme,
}

/// A document that somebody asks about.
#[derive(Debug)]
struct Asked {
    record: Record,
    answer: oneshot::Sender<Told>,
    _place: OwnedSemaphorePermit,
    _room: OwnedSemaphorePermit,
}

/// The same, signed.
#[derive(Debug)]
struct Signed {
    arrival: Box<Arrival>,
    key_id: u64,
    answer: oneshot::Sender<Told>,
    _place: OwnedSemaphorePermit,
    _room: OwnedSemaphorePermit,
}

/// Documents that somebody asks about.
pub struct Probes {
    asked: (Sender<Asked>, Receiver<Asked>),
    signed: (Sender<Signed>, Receiver<Signed>),
    bell: (Sender<()>, Receiver<()>),
    /// Under what the stream is signed at the moment.
    scheme: Mutex<Option<Arc<Scheme>>>,
    places: Arc<Semaphore>,
    n_places: usize,
}

impl std::fmt::Debug for Probes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Probes").field("n_waiting", &self.n_waiting()).finish_non_exhaustive()
    }
}

impl Probes {
    /// None yet, and never more than `n_max`.
    pub fn new(n_max: usize) -> Self {
        // Whoever has a place finds room in both queues.
        let places = Arc::new(Semaphore::new(n_max));
        let (bell, scheme) = (bounded(1), Mutex::default());
        Self { asked: bounded(n_max), signed: bounded(n_max), bell, scheme, places, n_places: n_max }
    }

    /// Asks about a document; `None` where all places are taken. An answer that never comes is dropped: then this instance does not
    /// know any more. `room` is held until then.
    pub fn ask(&self, record: Record, room: OwnedSemaphorePermit) -> Option<oneshot::Receiver<Told>> {
        let place = self.places.clone().try_acquire_owned().ok()?;
        let (answer, answered) = oneshot::channel();
        let asked = Asked { record, answer, _place: place, _room: room };
        self.asked.0.try_send(asked).ok().map(|()| answered)
    }

    /// How many are on their way.
    pub fn n_waiting(&self) -> usize {
        self.n_places - self.places.available_permits()
    }

    /// Rings when there is something to answer.
    pub fn bell(&self) -> &Receiver<()> {
        &self.bell.1
    }

    /// Signs what is asked about until `is_over`, as `dispatch` would send it.
    pub(crate) fn sign(&self, dispatch: &Dispatch, is_over: impl Fn() -> bool) {
        let mut made: Option<ProbeSigner> = None;
        while !is_over() {
            let Ok(asked) = self.asked.1.recv_timeout(WAIT) else { continue };
            // Whoever has gone away needs no answer.
            if asked.answer.is_closed() {
                continue;
            }
            let Some(scheme) = self.scheme() else { continue };
            let signer = match &mut made {
                Some(signer) if Arc::ptr_eq(&signer.scheme, &scheme) => signer,
                other => other.insert(ProbeSigner::new(scheme)),
            };
            let Asked { record, answer, _place, _room } = asked;
            match signer.signed(record, dispatch) {
                Ok(arrival) => {
                    let signed = Signed { arrival, key_id: signer.scheme.key_id, answer, _place, _room };
                    // There is room for all that have a place.
                    if self.signed.0.try_send(signed).is_ok() {
                        self.ring();
                    }
                }
                Err(told) => tell(answer, told),
            }
        }
    }

    /// Answers those that wait by the state of this moment, which is under `scheme`; so many at most. The bell rings again for
    /// the others.
    pub(crate) fn answer(&self, filter: &Filter, scheme: &Arc<Scheme>) {
        self.set_scheme(scheme);
        for Signed { arrival, key_id: signed_by, answer, .. } in self.signed.1.try_iter().take(AT_ONCE_MAX) {
            if answer.is_closed() {
                continue;
            }
            tell(
                answer,
                match signed_by == scheme.key_id {
                    true => Told::Verdict(Box::new(filter.probe(&arrival))),
                    false => Told::OtherScheme,
                },
            );
        }
        if !self.signed.1.is_empty() {
            self.ring();
        }
    }

    /// Lets go of all that wait.
    pub(crate) fn turn_away(&self) {
        self.asked.1.try_iter().for_each(drop);
        self.signed.1.try_iter().for_each(drop);
    }

    /// What is asked about from now on is signed under `scheme`.
    pub(crate) fn set_scheme(&self, scheme: &Arc<Scheme>) {
        let mut held = self.scheme.lock().unwrap_or_else(PoisonError::into_inner);
        if !held.as_ref().is_some_and(|held| Arc::ptr_eq(held, scheme)) {
            *held = Some(scheme.clone());
        }
    }

    fn scheme(&self) -> Option<Arc<Scheme>> {
        self.scheme.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn ring(&self) {
        // It rings already.
        let _full = self.bell.0.try_send(());
    }
}

fn tell(answer: oneshot::Sender<Told>, told: Told) {
    // Whoever has gone away meanwhile needs no answer.
    let _gone = answer.send(told);
}

/// Signs documents as the stream would, had they come by the bus.
struct ProbeSigner {
    scheme: Arc<Scheme>,
    inlet: Inlet,
    id_key: u64,
}

impl ProbeSigner {
    fn new(scheme: Arc<Scheme>) -> Self {
        let id_key = Keys::derive(scheme.settings.secret.reveal()).id;
        Self { inlet: scheme.inlet().for_store(), id_key, scheme }
    }

    fn signed(&mut self, record: Record, dispatch: &Dispatch) -> Result<Box<Arrival>, Told> {
        let kind = kind(record.format);
        let outgoing = dispatch.dispatched(record).map_err(Told::Refused)?.outgoing;
        let time_ms = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_millis() as i64);
        let partition = Partition::new(outgoing.topic, NOWHERE as i32);
        let nameless = unnamed(kind, outgoing.value.as_deref().unwrap_or_default(), self.id_key);
        let record = BusRecord {
            partition: partition.clone(),
            offset: NOWHERE,
            time_ms,
            key: outgoing.key,
            headers: outgoing.headers,
            value: outgoing.value,
        };
        match self.inlet.take(record).fate {
            Fate::Document(arrival) => Ok(arrival),
            Fate::SetAside(set_aside) => Err(Told::Verdict(Box::new(set_aside.verdict.unwrap_or_else(|| {
                rejected(nameless, Some(kind), None, source(&partition, NOWHERE, time_ms), &set_aside.reason)
            })))),
            Fate::Empty => unreachable!("what is dispatched has a value"),
        }
    }
}

/// What a document that nobody has named is known by.
pub fn unnamed(kind: Kind, body: &[u8], id_key: u64) -> String {
    identity::of(kind, &Carrier::default(), body, id_key).id
}

/// Page or mail.
pub fn kind(format: Format) -> Kind {
    match format {
        Format::Page | Format::PageEnvelope => Kind::Page,
        Format::Mail | Format::MailEnvelope => Kind::Email,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room() -> OwnedSemaphorePermit {
        Arc::new(Semaphore::new(1)).try_acquire_owned().unwrap()
    }

    #[test]
    fn places_are_bounded_and_given_back() {
        let probes = Probes::new(2);
        let waiting: Vec<_> = (0..2).map(|_| probes.ask(Record::default(), room()).unwrap()).collect();
        assert!(probes.ask(Record::default(), room()).is_none());
        assert_eq!(probes.n_waiting(), 2);
        // Who goes away leaves the place when its turn comes.
        drop(waiting);
        let is_over = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let dispatch = Dispatch::new(&crate::config::Settings::default());
                probes.sign(&dispatch, || is_over.load(std::sync::atomic::Ordering::Relaxed));
            });
            let begun = std::time::Instant::now();
            while probes.n_waiting() > 0 {
                assert!(begun.elapsed() < Duration::from_secs(60));
                std::thread::yield_now();
            }
            is_over.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        assert!(probes.ask(Record::default(), room()).is_some());
    }

    #[test]
    fn whoever_cannot_be_answered_is_let_go() {
        let probes = Probes::new(2);
        let mut answered = probes.ask(Record::default(), room()).unwrap();
        probes.turn_away();
        assert!(matches!(answered.try_recv(), Err(oneshot::error::TryRecvError::Closed)));
        assert_eq!(probes.n_waiting(), 0);
    }
}
