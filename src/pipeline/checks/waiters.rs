//! Those who have sent a document and wait for what is said of it, by its position.
//!
//! Whoever sends a document knows its position when it is durable, and by then it may have been judged: so what is judged while
//! somebody is sending is kept for a moment. Who wants it committed waits on; if the seat is lost before, the verdict is that of
//! whoever follows.
//!
//! # Invariants
//! - A verdict that comes before its waiter is found. (`a_verdict_that_comes_first_is_found`)
//! - What is said to be committed is. (`committed_is_said_after_the_commit`, `a_lost_seat_takes_back_what_was_not_committed`)
//! - So many wait and no more, and whoever goes away is forgotten. (`who_goes_away_is_forgotten`)

use crate::bus::Partition;
use crate::verdict::event::Verdict;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// Verdicts that are kept for somebody who is still sending, at most. Of more the oldest go, and their waiters get none.
const EARLY_MAX: usize = 1 << 14;

/// A place on the bus.
pub type Place = (Partition, i64);

/// What to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// The verdict.
    Judged,
    /// That it is durable.
    Committed,
}

/// What is said of a document.
#[derive(Clone, Debug)]
pub struct Said {
    /// This.
    pub verdict: Arc<Verdict>,
    /// Whether it is not durable yet.
    pub provisional: bool,
}

/// Those who wait.
#[derive(Debug)]
pub struct Waiters {
    inner: Mutex<Inner>,
    /// Those who send or wait: where there are none, nothing is done.
    n: AtomicUsize,
    n_max: usize,
}

#[derive(Debug, Default)]
struct Inner {
    /// By the position of the document, whoever waits for its verdict.
    waiting: HashMap<Place, Waiter>,
    /// Those who wait for the commit of a journal entry.
    judged: VecDeque<(u64, Place, Waiter, Arc<Verdict>)>,
    /// What was judged while somebody was sending: a number, the place, the journal entry, what was said.
    early: VecDeque<(u64, Place, u64, Arc<Verdict>)>,
    n_early: u64,
    /// Who is sending, by the number that the next of `early` had when they began.
    sending: BTreeMap<u64, usize>,
    /// The last journal entry that is committed.
    committed: u64,
    n_waiters: u64,
}

#[derive(Debug)]
struct Waiter {
    number: u64,
    until: Until,
    answer: oneshot::Sender<Said>,
}

impl Waiters {
    /// Nobody yet, and never more than `n_max`.
    pub fn new(n_max: usize) -> Self {
        Self { inner: Mutex::default(), n: AtomicUsize::new(0), n_max }
    }

    /// Somebody is about to send a document; `None` where too many wait.
    pub fn sending(self: &Arc<Self>) -> Option<Sending> {
        let has_room = |n: usize| (n < self.n_max).then_some(n + 1);
        self.n.fetch_update(Ordering::AcqRel, Ordering::Acquire, has_room).ok()?;
        let mut inner = self.inner();
        let since = inner.n_early;
        *inner.sending.entry(since).or_default() += 1;
        drop(inner);
        Some(Sending { waiters: self.clone(), since: Some(since) })
    }

    /// How many send or wait.
    pub fn n_waiting(&self) -> usize {
        self.n.load(Ordering::Acquire)
    }

    /// What the journal entry `number` says, which is not committed yet.
    pub(crate) fn judge<'a>(&self, number: u64, verdicts: impl Iterator<Item = &'a Verdict>) {
        if self.n_waiting() == 0 {
            return;
        }
        let mut inner = self.inner();
        for verdict in verdicts.filter(|verdict| verdict.revision == 0) {
            inner.judge(number, verdict);
        }
    }

    /// All entries up to `number` are committed.
    pub(crate) fn commit(&self, number: u64) {
        let mut inner = self.inner();
        inner.committed = number;
        while let Some((_, _, waiter, verdict)) = inner.judged.pop_front_if(|(judged, ..)| *judged <= number) {
            waiter.tell(verdict, false);
        }
    }

    /// What was judged and is not committed may be judged otherwise.
    pub(crate) fn lose_seat(&self) {
        let mut inner = self.inner();
        let Inner { waiting, judged, early, committed, .. } = &mut *inner;
        waiting.extend(judged.drain(..).map(|(_, place, waiter, _)| (place, waiter)));
        early.retain(|(_, _, number, _)| number <= committed);
    }

    /// Lets go of all that wait: nothing more is judged here.
    pub fn close(&self) {
        let mut inner = self.inner();
        inner.waiting.clear();
        inner.judged.clear();
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn judge(&mut self, number: u64, verdict: &Verdict) {
        let source = &verdict.source;
        let place = (Partition { topic: source.topic.clone(), number: source.partition }, source.offset);
        match self.waiting.remove(&place) {
            Some(waiter) => self.hand(place, waiter, number, Arc::new(verdict.clone())),
            None if !self.sending.is_empty() => {
                self.early.push_back((self.n_early, place, number, Arc::new(verdict.clone())));
                self.n_early += 1;
                if self.early.len() > EARLY_MAX {
                    self.early.pop_front();
                }
            }
            None => {}
        }
    }

    /// Gives a verdict to who waits for it, now or when it is committed.
    fn hand(&mut self, place: Place, waiter: Waiter, number: u64, verdict: Arc<Verdict>) {
        let provisional = number > self.committed;
        if provisional && waiter.until == Until::Committed {
            self.judged.push_back((number, place, waiter, verdict));
        } else {
            waiter.tell(verdict, provisional);
        }
    }

    /// Somebody has sent, or has given up.
    fn sent(&mut self, since: u64) {
        if let Some(n) = self.sending.get_mut(&since) {
            *n -= 1;
            if *n == 0 {
                self.sending.remove(&since);
            }
        }
        let oldest = self.sending.first_key_value().map_or(u64::MAX, |(since, _)| *since);
        while self.early.pop_front_if(|(early, ..)| *early < oldest).is_some() {}
    }
}

impl Waiter {
    fn tell(self, verdict: Arc<Verdict>, provisional: bool) {
        // Whoever has gone away meanwhile needs no answer.
        let _gone = self.answer.send(Said { verdict, provisional });
    }
}

/// Somebody who sends a document.
#[derive(Debug)]
pub struct Sending {
    waiters: Arc<Waiters>,
    /// Since when, until it has sent.
    since: Option<u64>,
}

impl Sending {
    /// The document is at `place`: waits for what is said of it.
    pub fn sent(mut self, place: Place, until: Until) -> Awaited {
        let (answer, answered) = oneshot::channel();
        let mut inner = self.waiters.inner();
        inner.n_waiters += 1;
        let number = inner.n_waiters;
        let waiter = Waiter { number, until, answer };
        match inner.early.iter().position(|(_, early, ..)| *early == place) {
            Some(at) => {
                let (_, place, entry, verdict) = inner.early.remove(at).expect("it was found there");
                inner.hand(place, waiter, entry, verdict);
            }
            None => drop(inner.waiting.insert(place.clone(), waiter)),
        }
        if let Some(since) = self.since.take() {
            inner.sent(since);
        }
        drop(inner);
        Awaited { place, number, answered, sending: self }
    }
}

impl Drop for Sending {
    fn drop(&mut self) {
        if let Some(since) = self.since {
            self.waiters.inner().sent(since);
        }
        self.waiters.n.fetch_sub(1, Ordering::AcqRel);
    }
}

/// What somebody waits for.
#[derive(Debug)]
pub struct Awaited {
    place: Place,
    number: u64,
    answered: oneshot::Receiver<Said>,
    sending: Sending,
}

impl Awaited {
    /// What is said; `None` where that will not be known here.
    pub async fn said(&mut self) -> Option<Said> {
        (&mut self.answered).await.ok()
    }
}

impl Drop for Awaited {
    fn drop(&mut self) {
        let mut inner = self.sending.waiters.inner();
        // Its place may be somebody else's by now.
        if inner.waiting.get(&self.place).is_some_and(|waiter| waiter.number == self.number) {
            inner.waiting.remove(&self.place);
        } else {
            inner.judged.retain(|(_, _, waiter, _)| waiter.number != self.number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::event::{Outcome, Source};

    fn place(offset: i64) -> Place {
        (Partition::new("emails", 0), offset)
    }

    fn verdict(offset: i64) -> Verdict {
        let source = Source { topic: "emails".into(), offset, ..Source::default() };
        Verdict::bare(format!("m{offset}"), None, source, Outcome::Judged)
    }

    /// What has been said by now: the id, and whether it is provisional.
    fn said(awaited: &mut Awaited) -> Option<(String, bool)> {
        awaited.answered.try_recv().ok().map(|said| (said.verdict.id.clone(), said.provisional))
    }

    #[test]
    fn a_verdict_that_comes_first_is_found() {
        let waiters = Arc::new(Waiters::new(10));
        waiters.judge(1, [verdict(1)].iter());
        let (one, two) = (waiters.sending().unwrap(), waiters.sending().unwrap());
        waiters.judge(2, [verdict(2), verdict(3)].iter());
        let mut two = two.sent(place(3), Until::Judged);
        assert_eq!(said(&mut two), Some(("m3".into(), true)));
        waiters.commit(2);
        let mut one = one.sent(place(2), Until::Committed);
        assert_eq!(said(&mut one), Some(("m2".into(), false)));
        drop((one, two));
        let inner = waiters.inner();
        assert!(inner.early.is_empty() && inner.sending.is_empty() && inner.waiting.is_empty());
    }

    #[test]
    fn committed_is_said_after_the_commit() {
        let waiters = Arc::new(Waiters::new(10));
        let mut judged = waiters.sending().unwrap().sent(place(7), Until::Judged);
        let mut committed = waiters.sending().unwrap().sent(place(8), Until::Committed);
        waiters.judge(5, [verdict(7), verdict(8)].iter());
        assert_eq!(said(&mut judged), Some(("m7".into(), true)));
        assert_eq!(said(&mut committed), None);
        waiters.commit(4);
        assert_eq!(said(&mut committed), None);
        waiters.commit(5);
        assert_eq!(said(&mut committed), Some(("m8".into(), false)));
    }

    #[test]
    fn a_lost_seat_takes_back_what_was_not_committed() {
        let waiters = Arc::new(Waiters::new(10));
        let late = waiters.sending().unwrap();
        let mut committed = waiters.sending().unwrap().sent(place(8), Until::Committed);
        waiters.judge(5, [verdict(8), verdict(9)].iter());
        waiters.lose_seat();
        waiters.commit(5);
        let mut late = late.sent(place(9), Until::Judged);
        assert_eq!((said(&mut committed), said(&mut late)), (None, None));
        waiters.judge(5, [verdict(8), verdict(9)].iter());
        assert_eq!(said(&mut committed), Some(("m8".into(), false)));
        assert_eq!(said(&mut late), Some(("m9".into(), false)));
    }

    #[test]
    fn who_goes_away_is_forgotten() {
        let waiters = Arc::new(Waiters::new(2));
        let (one, two) = (waiters.sending().unwrap(), waiters.sending().unwrap());
        assert!(waiters.sending().is_none());
        drop(one);
        let three = waiters.sending().unwrap().sent(place(1), Until::Committed);
        waiters.judge(1, [verdict(1)].iter());
        drop(three);
        let four = two.sent(place(2), Until::Judged);
        drop(four);
        assert_eq!(waiters.n_waiting(), 0);
        let inner = waiters.inner();
        assert!(inner.waiting.is_empty() && inner.judged.is_empty() && inner.early.is_empty());
    }

    #[test]
    fn a_run_that_ends_lets_everybody_go() {
        let waiters = Arc::new(Waiters::new(2));
        let mut one = waiters.sending().unwrap().sent(place(1), Until::Judged);
        waiters.close();
        assert!(matches!(one.answered.try_recv(), Err(oneshot::error::TryRecvError::Closed)));
    }
}
