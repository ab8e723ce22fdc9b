//! The best of many, in bounded memory, each replaced when its document is judged again.
//!
//! # Invariants
//! - Never more than twice the wanted number are held. (`the_best_are_kept_in_bounded_memory`)
//! - The last event of a key holds. (`a_later_event_replaces`)

use std::cmp::Ordering;
use std::collections::HashMap;

/// Which of two shall be shown first.
pub(super) trait Ranked {
    /// `Less` is shown first. Equal ones are shown in the order in which they came.
    fn order(&self, other: &Self) -> Ordering;
}

/// The best `n_max` of all that was put in.
#[derive(Debug)]
pub(super) struct Ranking<T> {
    held: HashMap<u64, (u64, T)>,
    n_max: usize,
    n_put: u64,
}

impl<T: Ranked> Ranking<T> {
    /// Shows `n_max` at most.
    pub(super) fn new(n_max: usize) -> Self {
        Self { held: HashMap::new(), n_max, n_put: 0 }
    }

    /// Puts one in, in place of what has the same key. Returns the keys that had to go.
    pub(super) fn put(&mut self, key: u64, value: T) -> Vec<u64> {
        self.n_put += 1;
        // A replaced one keeps its place among equals.
        let came = self.held.get(&key).map_or(self.n_put, |(came, _)| *came);
        self.held.insert(key, (came, value));
        if self.held.len() > 2 * self.n_max { self.prune() } else { Vec::new() }
    }

    /// What is held under a key.
    pub(super) fn get_mut(&mut self, key: u64) -> Option<&mut T> {
        self.held.get_mut(&key).map(|(_, value)| value)
    }

    /// Forgets what is held under a key.
    pub(super) fn remove(&mut self, key: u64) {
        self.held.remove(&key);
    }

    /// The best, in order.
    pub(super) fn best(&self) -> Vec<&T> {
        let mut best: Vec<_> = self.held.values().collect();
        best.sort_unstable_by(|a, b| a.1.order(&b.1).then(a.0.cmp(&b.0)));
        best.into_iter().take(self.n_max).map(|(_, value)| value).collect()
    }

    fn prune(&mut self) -> Vec<u64> {
        let mut keys: Vec<_> = self.held.iter().map(|(key, (came, value))| (value, *came, *key)).collect();
        keys.sort_unstable_by(|a, b| a.0.order(b.0).then(a.1.cmp(&b.1)));
        let gone: Vec<u64> = keys.iter().skip(self.n_max).map(|key| key.2).collect();
        gone.iter().for_each(|key| self.remove(*key));
        gone
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Ranked for u32 {
        fn order(&self, other: &Self) -> Ordering {
            other.cmp(self)
        }
    }

    #[test]
    fn the_best_are_kept_in_bounded_memory() {
        let mut ranking = Ranking::new(10);
        for key in 0..10_000_u64 {
            ranking.put(key, (key * 7919 % 10_007) as u32);
            assert!(ranking.held.len() <= 20);
        }
        let mut all: Vec<_> = (0..10_000_u64).map(|key| (key * 7919 % 10_007) as u32).collect();
        all.sort_unstable_by(|a, b| b.cmp(a));
        assert_eq!(ranking.best().into_iter().copied().collect::<Vec<_>>(), all[..10]);
    }

    #[test]
    fn a_later_event_replaces() {
        let mut ranking = Ranking::new(10);
        for (key, value) in [(1, 5), (2, 9), (1, 12), (3, 1)] {
            ranking.put(key, value);
        }
        ranking.remove(3);
        assert_eq!(ranking.best(), [&12, &9]);
    }
}
