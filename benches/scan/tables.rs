//! The flat tables beside the standard map, at a size beyond all caches.

use crate::median;
use cpu_time::ThreadTime;
use seamripper::signature::keyed::mix;
use seamripper::store::{Index, Owners, Postings, Ref};
use std::collections::HashMap;
use std::hint::black_box;

/// Keys in a table: 8 million entries are 100 MB and more.
const N: u64 = 1 << 23;
/// Look-ups and inserts that are timed.
const N_TIMED: u64 = 1 << 20;
/// Keys that are asked for together.
const BATCH: usize = 64;

fn key(number: u64) -> u64 {
    mix(mix(number, 11), 13)
}

fn of(number: u64) -> Ref {
    Ref { slot: number as u32 & 0xFF_FFFF, generation: 1 }
}

/// A key of those that are in the table, in a random order.
fn known(number: u64) -> u64 {
    key(mix(number, 17) % N)
}

/// What a table does.
trait Table {
    fn prefetch(&self, key: u64);
    fn find(&self, key: u64) -> bool;
    fn insert(&mut self, key: u64, of: Ref);
}

impl Table for Index {
    fn prefetch(&self, key: u64) {
        self.prefetch(key);
    }

    fn find(&self, key: u64) -> bool {
        let mut is_found = false;
        self.find(key, |_| is_found = true);
        is_found
    }

    fn insert(&mut self, key: u64, of: Ref) {
        self.insert(key, of, 4, |_| true);
    }
}

impl Table for Postings {
    fn prefetch(&self, key: u64) {
        self.prefetch(key);
    }

    fn find(&self, key: u64) -> bool {
        self.find(key, |_, _| {}) > 0
    }

    fn insert(&mut self, key: u64, of: Ref) {
        self.post(key, of.into(), 0, Owners::halves(4), |_| true);
    }
}

/// One value a key: what it would need for several is left out, in its favour.
impl Table for HashMap<u64, Ref> {
    fn prefetch(&self, _: u64) {}

    fn find(&self, key: u64) -> bool {
        self.get(&key).is_some()
    }

    fn insert(&mut self, key: u64, of: Ref) {
        self.insert(key, of);
    }
}

pub(crate) fn report(rounds: usize) {
    println!(
        "tables of {N} keys, ns for each key: look-up, insert, and both with the lines of {BATCH} keys asked for first"
    );
    // As full as the plan has them.
    let bytes = |entry: f64| (N as f64 * entry / 0.6) as usize;
    measure("index", Index::new(bytes(8.0)), bytes(8.0), rounds);
    measure("postings", Postings::new(bytes(12.8)), bytes(12.8), rounds);
    let map_bytes = (N as usize).next_power_of_two() * 2 * (size_of::<(u64, Ref)>() + 1);
    measure("std::collections::HashMap", HashMap::<u64, Ref>::with_capacity(N as usize + 1), map_bytes, rounds);
    println!();
}

fn measure(name: &str, mut table: impl Table, bytes: usize, rounds: usize) {
    (0..N).for_each(|number| table.insert(key(number), of(number)));
    let mut measured = [const { Vec::new() }; 4];
    let mut n_found = 0;
    for round in 0..rounds as u64 {
        let first = round * N_TIMED;
        for (is_batched, which) in [(false, 0), (true, 2)] {
            let keys: Vec<u64> = (first..first + N_TIMED).map(known).collect();
            measured[which]
                .push(timed(&keys, is_batched, &mut table, |table, key| n_found += u64::from(table.find(key))));
            // The same keys again, of other documents: the table stays as full as it is.
            measured[which + 1].push(timed(&keys, is_batched, &mut table, |table, key| table.insert(key, of(key))));
        }
    }
    assert!(n_found > rounds as u64 * N_TIMED, "{name}: {n_found} found");
    let [find, insert, find_batched, insert_batched] = measured.map(median);
    println!("  {name:<28}{:>6} MB{find:>8.1}{insert:>8.1}{find_batched:>8.1}{insert_batched:>8.1}", bytes / 1_000_000);
    black_box(&table);
}

/// Nanoseconds for each key.
fn timed<T: Table>(keys: &[u64], is_batched: bool, table: &mut T, mut with: impl FnMut(&mut T, u64)) -> f64 {
    let start = ThreadTime::now();
    for batch in keys.chunks(BATCH) {
        if is_batched {
            batch.iter().for_each(|&key| table.prefetch(key));
        }
        batch.iter().for_each(|&key| with(table, key));
    }
    start.elapsed().as_secs_f64() * 1e9 / keys.len() as f64
}
