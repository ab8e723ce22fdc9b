//! Which keys more than one document has: all of these, and a few others.
//!
//! Most grams stand in one document. Nobody else asks who has them, so whoever lists holders can leave them out, if it is known
//! beforehand which they are: by two Bloom filters, one of the keys that were seen and one of those that were seen again. These are
//! a library's: here all keys are asked about once, and nobody waits for one as a stream waits for its
//! [doorkeeper](super::doorkeeper).
//!
//! # Invariants
//! - What two documents have is known, whatever either repeats. (`what_two_have_is_known`)
//! - Of what one document has at most two in a hundred are known, however often it is repeated there. (`little_else_is_known`)

use bloomfilter::Bloom;

/// How often a filter takes a new key for a known one, when all that it is planned for are in it. At one in a hundred it takes 10
/// bits for a key; a list of holders takes 30 to 60 bytes.
const ERRORS: f64 = 0.01;
/// Keys are keyed by the secret already. A fixed seed gives the same errors to every run.
const SEED: [u8; 32] = *b"seamripper: keys that come again";

/// The keys that more than one document has.
pub(super) struct Repeats {
    again: Bloom<u64>,
}

impl Repeats {
    /// Among the keys of each of `documents`, `n_keys` in all.
    pub(super) fn among<K: IntoIterator<Item = u64>>(documents: impl Iterator<Item = K>, n_keys: usize) -> Self {
        let mut once = filter(n_keys);
        // A key that comes again has come twice.
        let mut again = filter(n_keys / 2);
        let mut distinct: Vec<u64> = Vec::new();
        for keys in documents {
            distinct.clear();
            distinct.extend(keys);
            distinct.sort_unstable();
            distinct.dedup();
            distinct.iter().filter(|key| once.check_and_set(key)).for_each(|key| again.set(key));
        }
        Self { again }
    }

    /// Whether more than one document has the key, or it looks like one of those.
    pub(super) fn knows(&self, key: u64) -> bool {
        self.again.check(&key)
    }
}

fn filter(n_planned: usize) -> Bloom<u64> {
    Bloom::new_for_fp_rate_with_seed(n_planned.max(1), ERRORS, &SEED).expect("a filter for one key has bits")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signature::keyed::mix;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    proptest! {
        #[test]
        fn what_two_have_is_known(documents in prop::collection::vec(prop::collection::vec(0_u64..60, 0..30), 0..12)) {
            let n_keys = documents.iter().map(Vec::len).sum();
            let repeats = Repeats::among(documents.iter().cloned(), n_keys);
            let mut n_documents = BTreeMap::<u64, usize>::new();
            for key in documents.iter().flat_map(|keys| BTreeSet::from_iter(keys.iter().copied())) {
                *n_documents.entry(key).or_default() += 1;
            }
            for (key, n) in n_documents {
                prop_assert!(n < 2 || repeats.knows(key), "{} in {} documents", key, n);
            }
        }
    }

    #[test]
    fn little_else_is_known() {
        const DOCUMENTS: u64 = 400;
        const KEYS: u64 = 250;
        let keys = |document: u64| (0..KEYS).map(move |n| mix(document * KEYS + n, 1));
        let twice = (0..DOCUMENTS).map(|document| keys(document).chain(keys(document)));
        let repeats = Repeats::among(twice, (2 * DOCUMENTS * KEYS) as usize);
        let n_known = (0..DOCUMENTS).flat_map(keys).filter(|key| repeats.knows(*key)).count();
        assert!(n_known < (DOCUMENTS * KEYS / 50) as usize, "{n_known} of {}", DOCUMENTS * KEYS);
    }

    #[test]
    fn of_nothing_nothing_is_known() {
        let repeats = Repeats::among(std::iter::empty::<Vec<u64>>(), 0);
        assert!(!repeats.knows(1));
    }
}
