//! Memory is what the settings say, however long the stream and whoever fills it.
//!
//! Resident memory is measured in a process of its own: this test binary again, with one test and a word in the environment.

use crate::fold::filter;
use crate::made::{self, FLOOD};
use seamripper::config::Settings;
use seamripper::document::{Carrier, Format, Record};
use seamripper::pipeline::filter::{Event, Filter};
use seamripper::store::Arrival;
use seamripper::verdict::event::Verdict;
use std::process::Command;

/// Tells the child that it is the child.
const STREAM: &str = "SEAMRIPPER_TEST_ENDLESS_STREAM";
const MIB: usize = 1 << 20;
const MEMORY: usize = 16 * MIB;
/// What a batch and its hits take on their way, and what the allocator keeps: 1 MiB at most was seen. Where the system has huge pages for
/// everybody it may be a few of these.
const AROUND: usize = 8 * MIB;
/// As in the product (`command::heap`): what is freed in large pieces is given back. By itself the C library keeps more of it the larger the
/// pieces were, in another order each time: 0 to 8 MiB were seen.
const GIVE_BACK: (&str, &str) = ("MALLOC_MMAP_THRESHOLD_", "131072");
/// Documents that are folded together, as in a scan.
const BATCH: u64 = 32;

/// A unique page of its own look: it takes a slot, a leader, and keys in all tables.
fn unique(domain: &str, number: u64) -> Record {
    let url = format!("http://{domain}/{number}.html");
    let carrier = Carrier { id: Some(url.clone()), url: Some(url), ..Carrier::default() };
    Record { format: Format::Page, body: made::page_of_its_own(number).into_bytes(), carrier }
}

fn uniques(numbers: std::ops::Range<u64>, domain: impl Fn(u64) -> String, settings: &Settings) -> Vec<Arrival> {
    made::arrivals(numbers.map(|number| unique(&domain(number), number)), settings)
}

fn verdicts(filter: &mut Filter, batch: &[Arrival]) -> Vec<Verdict> {
    let mut all = Vec::new();
    filter.fold(batch, 2, |event| {
        if let Event::Verdict(verdict) = event {
            all.push(*verdict);
        }
    });
    all
}

/// Resident bytes that no file holds: the code of this binary becomes resident piece by piece, and is nobody's memory.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() * 1024
}

/// Not a test by itself: what [`an_endless_stream_stays_within_its_memory`] runs and measures.
#[test]
fn an_endless_stream() {
    if std::env::var_os(STREAM).is_none() {
        return;
    }
    let mut settings = Settings::default();
    settings.store.memory = MEMORY;
    settings.revisions.queue_max = 1000;
    drop(uniques(0..200, |number| format!("warm{number}.example"), &settings));
    let before = resident();
    let mut filter = filter(&settings);
    let (mut number, mut most) = (1000, 0);
    let capacity = filter.store().plan().n_prototypes as u64;
    while number < 1000 + 3 * capacity {
        let batch = uniques(number..number + BATCH, |number| format!("site{}.example", number % 5000), &settings);
        filter.fold(&batch, 2, |_| {});
        number += BATCH;
        drop(batch);
        most = most.max(resident().saturating_sub(before));
    }
    let census = filter.census();
    println!("capacity {capacity} before {before} most {most} {census:?} {:?}", filter.judge().turned_away());
    for (name, bytes) in filter.store().plan().tables() {
        println!("  {name} {bytes}");
    }
    assert!(census.departures.n_evicted > capacity && census.n_leaders_evicted > capacity / 2, "{census:?}");
    assert!(census.oldest_age > 0 && census.oldest_age < 2 * capacity, "{census:?}");
    assert!(census.n_groups <= filter.store().plan().n_prototypes, "{census:?}");
    let most_max = MEMORY + MEMORY / 10 + AROUND;
    assert!(most <= most_max, "{most} bytes are resident for a store of {MEMORY}");
    assert!(most > MEMORY / 2, "{most} bytes: this must measure a full store");
}

#[test]
fn an_endless_stream_stays_within_its_memory() {
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["memory::an_endless_stream", "--exact", "--nocapture", "--test-threads=1"])
        .env(STREAM, "1")
        .env(GIVE_BACK.0, GIVE_BACK.1)
        .output()
        .unwrap();
    let said = [child.stdout, child.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    println!("{said}");
    assert!(child.status.success() && said.contains("capacity"), "{said}");
}

#[test]
fn a_flood_from_one_domain_costs_its_own() {
    let mut settings = Settings::default();
    settings.store.memory = MIB;
    settings.revisions.queue_max = 100;
    let mut filter = filter(&settings);
    let capacity = filter.store().plan().n_prototypes as u64;
    let n_others = capacity / 4;
    let others = uniques(0..n_others, |number| format!("other{number}.example"), &settings);
    verdicts(&mut filter, &others);
    let flood = uniques(10_000..10_000 + 3 * capacity, |_| FLOOD.to_owned(), &settings);
    flood.chunks(64).for_each(|batch| drop(verdicts(&mut filter, batch)));
    let census = filter.census();
    let share = (capacity as f64 * settings.store.share_max) as u64;
    assert_eq!(census.departures.n_over_share, 3 * capacity - share, "{census:?}");
    assert_eq!((census.departures.n_evicted, census.n_groups as u64), (0, n_others + share), "{census:?}");
    let again: Vec<Arrival> =
        others.iter().map(|other| Arrival { id: format!("{}?again", other.id), ..other.clone() }).collect();
    let found = verdicts(&mut filter, &again);
    for (other, verdict) in others.iter().zip(found.iter().filter(|verdict| verdict.revision == 0)) {
        assert_eq!(verdict.mirror.as_ref().map(|mirror| &mirror.of), Some(&other.id));
    }
}

#[test]
fn too_little_memory_is_refused_by_name() {
    let with = |memory: &str| Settings::load(None, &[("SEAMRIPPER_STORE__MEMORY".to_owned(), memory.to_owned())]);
    let refusal = |memory: &str| with(memory).unwrap_err().to_string();
    let too_small = refusal("1000000");
    assert!(too_small.contains("store.memory (1000000) must be at least 1048576"), "{too_small}");
    // The queue of the defaults may take half.
    let too_small = refusal("4799999");
    let needs = "revisions.queue_max (100000) times 24 bytes must be at most half of store.memory (4799999)";
    assert!(too_small.contains(needs), "{too_small}");
    with("4800000").unwrap();
}

/// Whatever the figure, a store can be made and folds; one document is all that the smallest holds.
#[test]
fn the_smallest_store_folds() {
    let mut settings = Settings::default();
    (settings.store.memory, settings.revisions.queue_max) = (0, 1);
    let mut filter = filter(&settings);
    let batch = uniques(0..20, |number| format!("site{number}.example"), &settings);
    assert_eq!(verdicts(&mut filter, &batch).len(), 20);
    assert_eq!((filter.census().n_groups, filter.census().departures.n_evicted), (1, 19));
}
