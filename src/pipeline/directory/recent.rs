//! The last verdict of each document that was judged of late, by its id and by its turn.
//!
//! Verdicts are numbered as they come, and those of the last so many numbers are held. One that replaces another of its id leaves
//! a gap: whoever walks them passes at most so many numbers, however often one document comes again.
//!
//! # Invariants
//! - A reader holds up a writer for the time of one look-up, however many verdicts it walks. (by the maps: no guard leaves this file)

use crate::metrics as names;
use crate::verdict::event::{Mirror, Quilt, Verdict};
use dashmap::DashMap;
use metrics::{counter, gauge};
use std::mem::size_of;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The number of the first verdict: what was said before it comes later, and goes before it.
const FIRST: u64 = 1 << 40;
/// What maps and counters take beside a verdict, about.
const OVERHEAD_BYTES: usize = 192;

/// Verdicts of late.
#[derive(Debug, Default)]
pub struct Recent {
    n_max: u64,
    bytes_max: usize,
    by_id: DashMap<Box<str>, Held>,
    by_number: DashMap<u64, Arc<Verdict>>,
    /// Whoever writes holds it; readers look at the two numbers beside it.
    writing: Mutex<Written>,
    oldest: AtomicU64,
    next: AtomicU64,
}

/// What has been written.
#[derive(Debug, Default)]
struct Written {
    n_bytes: usize,
    n_given_way: u64,
}

#[derive(Debug)]
struct Held {
    number: u64,
    n_bytes: usize,
    verdict: Arc<Verdict>,
}

/// The turn of a verdict: one that is said later has a larger one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place(pub u64);

impl Recent {
    /// None yet, and never more than `n_max`, or than fit into `bytes_max`.
    pub fn new(n_max: usize, bytes_max: usize) -> Self {
        let [oldest, next] = [FIRST; 2].map(AtomicU64::new);
        Self { n_max: (n_max as u64).min(FIRST / 2), bytes_max, oldest, next, ..Self::default() }
    }

    /// The last verdict on the document `id`.
    pub fn of(&self, id: &str) -> Option<Arc<Verdict>> {
        self.by_id.get(id).map(|held| held.verdict.clone())
    }

    /// All of them, the newest first; those before `before` alone, where that is given.
    pub fn newest(&self, before: Option<Place>) -> impl Iterator<Item = (Place, Arc<Verdict>)> + '_ {
        let Range { start, end } = self.numbers();
        let end = before.map_or(end, |Place(before)| before.clamp(start, end));
        (start..end)
            .rev()
            .filter_map(|number| Some((Place(number), self.by_number.get(&number).map(|verdict| verdict.clone())?)))
    }

    /// How many there are, and what they take in memory, about.
    pub fn size(&self) -> (usize, usize) {
        (self.by_number.len(), self.writing().n_bytes)
    }

    /// How many may be held.
    pub fn n_max(&self) -> usize {
        self.n_max as usize
    }

    /// How many bytes they may take.
    pub fn bytes_max(&self) -> usize {
        self.bytes_max
    }

    /// Takes in a verdict that is newer than all others.
    pub fn learn(&self, verdict: Arc<Verdict>) {
        if self.n_max == 0 {
            return;
        }
        let mut written = self.writing();
        let number = self.numbers().end;
        self.put(number, verdict, &mut written);
        self.next.store(number + 1, Ordering::Release);
        while self.numbers().end - self.numbers().start > self.n_max || written.n_bytes > self.bytes_max {
            self.drop_oldest(&mut written);
        }
    }

    /// Takes in a verdict that is older than all others, unless a newer one of its document is here. Whether there may be room for
    /// another.
    pub fn learn_older(&self, verdict: Arc<Verdict>) -> bool {
        let mut written = self.writing();
        let Range { start, end } = self.numbers();
        if self.by_id.contains_key(&*verdict.id) {
            return true;
        }
        if end - start >= self.n_max || written.n_bytes + weight(&verdict) > self.bytes_max {
            return false;
        }
        self.put(start - 1, verdict, &mut written);
        self.oldest.store(start - 1, Ordering::Release);
        true
    }

    fn numbers(&self) -> Range<u64> {
        self.oldest.load(Ordering::Acquire)..self.next.load(Ordering::Acquire)
    }

    fn writing(&self) -> MutexGuard<'_, Written> {
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, number: u64, verdict: Arc<Verdict>, written: &mut Written) {
        let n_bytes = weight(&verdict);
        written.n_bytes += n_bytes;
        self.by_number.insert(number, verdict.clone());
        if let Some(replaced) = self.by_id.insert(verdict.id.as_str().into(), Held { number, n_bytes, verdict }) {
            self.by_number.remove(&replaced.number);
            written.n_bytes -= replaced.n_bytes;
        }
    }

    fn drop_oldest(&self, written: &mut Written) {
        let oldest = self.numbers().start;
        let gone = self.by_number.remove(&oldest);
        self.oldest.store(oldest + 1, Ordering::Release);
        // Where there is none, another has taken its place.
        let Some((_, verdict)) = gone else { return };
        written.n_given_way += 1;
        if let Some((_, held)) = self.by_id.remove(&*verdict.id) {
            written.n_bytes -= held.n_bytes;
        }
    }

    /// Says how much there is.
    pub(super) fn count(&self) {
        let Written { n_bytes, n_given_way } = *self.writing();
        gauge!(names::HELD, "what" => "verdicts").set(self.by_number.len() as f64);
        gauge!(names::HELD_BYTES).set(n_bytes as f64);
        counter!(names::HELD_GIVEN_WAY, "what" => "verdicts").absolute(n_given_way);
    }
}

/// What a verdict takes in memory, about.
pub(super) fn weight(verdict: &Verdict) -> usize {
    let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    let Verdict { id, url, domain, source, reason, cluster, mirror, quilt, related, labels, .. } = verdict;
    let own = 2 * id.len() + text(url) + text(domain) + text(reason) + text(cluster) + text(&source.time);
    let mirror = mirror.as_ref().map_or(0, |Mirror { of, canonical, url, .. }| of.len() + canonical.len() + text(url));
    let quilt = quilt.as_ref().map_or(0, |Quilt { sources, .. }| {
        let source = |of: &str, n_spans: usize| 128 + of.len() + 16 * n_spans;
        sources.iter().map(|one| source(&one.of, one.spans.len()) + text(&one.url)).sum()
    });
    let related: usize = related.iter().map(|related| 128 + related.of.len() + text(&related.url)).sum();
    let labels: usize = labels.iter().map(|carried| 64 + carried.label.len() + carried.of.len()).sum();
    let cluster = verdict.template.as_ref().map_or(0, |template| template.cluster.len());
    size_of::<Verdict>() + OVERHEAD_BYTES + own + mirror + quilt + related + labels + cluster
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::event::{Outcome, Source};

    fn verdict(id: &str, offset: i64) -> Arc<Verdict> {
        let source = Source { offset, ..Source::default() };
        Arc::new(Verdict::bare(id.to_owned(), None, source, Outcome::Judged))
    }

    fn offsets(recent: &Recent) -> Vec<i64> {
        recent.newest(None).map(|(_, verdict)| verdict.source.offset).collect()
    }

    #[test]
    fn the_last_verdict_of_an_id_holds() {
        let recent = Recent::new(100, 1 << 20);
        for (offset, id) in [(0, "a"), (1, "b"), (2, "a"), (3, "c")] {
            recent.learn(verdict(id, offset));
        }
        assert_eq!(offsets(&recent), [3, 2, 1]);
        assert_eq!(recent.of("a").unwrap().source.offset, 2);
        assert!(recent.of("d").is_none());
        // What was said before is put before, and never over.
        assert!(recent.learn_older(verdict("a", -1)) && recent.learn_older(verdict("z", -2)));
        assert_eq!(offsets(&recent), [3, 2, 1, -2]);
        let (first, _) = recent.newest(None).nth(1).unwrap();
        assert_eq!(recent.newest(Some(first)).count(), 2, "it can be gone on from");
        assert_eq!(recent.newest(Some(Place(0))).count() + recent.newest(Some(Place(u64::MAX))).count(), 4);
    }

    #[test]
    fn the_oldest_give_way() {
        let recent = Recent::new(3, 1 << 20);
        (0..5).for_each(|n| recent.learn(verdict(&n.to_string(), n)));
        assert_eq!(offsets(&recent), [4, 3, 2]);
        assert!(recent.of("1").is_none() && !recent.learn_older(verdict("x", 9)));
        // One that comes again and again pushes the others out too: whoever walks never walks far.
        (5..9).for_each(|n| recent.learn(verdict("4", n)));
        assert_eq!(offsets(&recent), [8]);
        assert_eq!((recent.by_id.len(), recent.by_number.len()), (1, 1));

        let own = weight(&verdict("00", 0));
        let by_bytes = Recent::new(1000, 10 * own);
        (10..99).for_each(|n| by_bytes.learn(verdict(&n.to_string(), n)));
        assert_eq!(by_bytes.size(), (10, 10 * own));
        assert!(!by_bytes.learn_older(verdict("xx", 0)));
        let large = Arc::new(Verdict { reason: Some("x".repeat(20 * own)), ..(*verdict("l", 1)).clone() });
        by_bytes.learn(large);
        assert_eq!(by_bytes.size(), (0, 0), "what is larger than all of it is not held");
        by_bytes.learn(verdict("00", 1));
        assert_eq!(by_bytes.size(), (1, own));

        let none = Recent::default();
        none.learn(verdict("a", 0));
        assert_eq!((none.size(), none.learn_older(verdict("b", 0))), ((0, 0), false));
    }

    /// What is counted is what is there, whatever comes in whatever order.
    #[test]
    fn the_count_stays_right() {
        let recent = Recent::new(50, 40 * weight(&verdict("0000", 0)));
        let mut chance = 88172645463325252_u64;
        for n in 0..5000 {
            chance ^= chance << 13;
            chance ^= chance >> 7;
            chance ^= chance << 17;
            let id = format!("{:0>1$}", chance % 60, 1 + (chance >> 32) as usize % 300);
            match chance >> 20 & 7 {
                0 => drop(recent.learn_older(verdict(&id, n))),
                _ => recent.learn(verdict(&id, n)),
            }
            let held: Vec<_> = recent.newest(None).map(|(_, verdict)| verdict).collect();
            let n_bytes: usize = held.iter().map(|verdict| weight(verdict)).sum();
            assert_eq!(recent.size(), (held.len(), n_bytes));
            assert_eq!(recent.by_id.len(), held.len());
            assert!(held.len() <= 50 && n_bytes <= recent.bytes_max);
        }
    }
}
