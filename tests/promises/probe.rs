//! A probe says what the fold would say of a document if it came next, and leaves no trace.
//!
//! The streams and the tiny stores are those of `fold.rs`, where everything gives way all the time: what a document would push out
//! is where a difference would hide. Whatever is probed is also folded, into a copy of the filter, and the two must agree in every
//! field. Documents are probed out of their turn too, those that are known already and those whose time is far ahead.

use crate::fold::{filter, line, small, variants};
use crate::made::{Dice, stream};
use crate::snapshots::Disk;
use seamripper::config::{Canonical, Settings};
use seamripper::pipeline::filter::{Event, Filter};
use seamripper::store::Arrival;
use seamripper::verdict::event::Verdict;
use seamripper::verdict::label::Label;
use seamripper::verdict::labels::Labels;

/// The same filter once more.
fn copy(filter: &Filter, saved: &[u8], settings: &Settings) -> Filter {
    let mut copy = Filter::new(settings, Labels::new(10_000), 7);
    copy.load(saved).unwrap();
    for label in filter.labels().all() {
        copy.label((*label).clone()).unwrap();
    }
    copy
}

/// What the fold says of a document: its verdict is the first of all, whatever is revised after it.
fn folded(filter: &mut Filter, arrival: &Arrival) -> Verdict {
    let mut first = None;
    filter.fold(std::slice::from_ref(arrival), 1, |event| {
        if let Event::Verdict(verdict) = event {
            first.get_or_insert(verdict);
        }
    });
    *first.unwrap()
}

fn label(kind: &str, name: &str) -> Label {
    let json = serde_json::json!({
        "target": {kind: name}, "label": "spam", "by": "a test", "why": "", "at": "2026-01-31T12:00:00Z"
    });
    Label::from_json(json.to_string().as_bytes()).unwrap()
}

/// The variants of `fold.rs`, and two in which a single record can cost everything.
fn all_variants() -> Vec<(&'static str, Settings)> {
    let mut all = variants();
    let mut hardly = small(40_000);
    hardly.mirror.canonical = Canonical::Longest;
    hardly.store.share_max = 0.2;
    hardly.mirror.prototype_below = 1.0;
    hardly.mirror.prototypes_max = 2;
    all.push(("hardly anything, the longest is preferred", hardly.clone()));
    hardly.mirror.canonical = Canonical::RelCanonical;
    hardly.store.ttl_hours = 1;
    hardly.store.time_jump_max_hours = 3;
    all.push(("hardly anything, for an hour", hardly));
    all
}

/// Every document before it is folded, and after every few batches three others.
#[test]
fn a_probe_is_what_the_fold_would_say() {
    let mut n_probed = 0;
    let mut said = String::new();
    for seed in [21, 22] {
        let arrivals = stream(seed, 300, &Settings::default());
        for (name, settings) in all_variants() {
            let mut dice = Dice::new(seed);
            let mut filter = Filter::new(&settings, Labels::new(10_000), 7);
            for (kind, name) in [("domain", "site3.example"), ("domain", "list.example"), ("document", "mail-20")] {
                filter.label(label(kind, name)).unwrap();
            }
            for (number, arrival) in arrivals.iter().enumerate() {
                let how = format!("seed {seed}, {name}, document {number}");
                let probed = filter.probe(arrival);
                assert_eq!(probed, folded(&mut filter, arrival), "{how}");
                // Clusters that are labelled become part of others.
                if let Some(cluster) = &probed.cluster {
                    filter.label(label("cluster", cluster)).unwrap();
                }
                said.push_str(&line(&Event::Verdict(Box::new(probed))));
                n_probed += 1;
                if dice.below(24) > 0 {
                    continue;
                }
                let saved = filter.save().unwrap();
                for _ in 0..3 {
                    let other = dice.below(arrivals.len());
                    let probed = filter.probe(&arrivals[other]);
                    let folded = folded(&mut copy(&filter, &saved, &settings), &arrivals[other]);
                    assert_eq!(probed, folded, "{how}, then document {other} out of its turn");
                    n_probed += 1;
                }
                assert!(filter.save().unwrap() == saved, "{how}: a probe has left something");
            }
        }
    }
    println!("{n_probed} probes");
    for (part, n_min) in [
        ("\"mirror\":{", 500),
        ("\"quilt\":{", 100),
        ("\"template\":{", 100),
        ("\"recrawl\":\"changed\"", 100),
        ("\"recrawl\":\"unchanged\"", 100),
        ("\"outcome\":\"insufficient\"", 100),
        ("\"related\":[{", 100),
        ("\"labels\":[{", 100),
        ("\"via\":\"template\"", 100),
    ] {
        let n = said.matches(part).count();
        println!("{n} times {part}");
        assert!(n >= n_min, "{n} times {part}");
    }
}

/// With batches instead of single documents, on threads, and with a snapshot that is being written: it holds what it would hold,
/// and what is said afterwards is what is said without probes.
#[test]
fn probes_leave_no_trace() {
    for seed in [24, 25] {
        let arrivals = stream(seed, 400, &Settings::default());
        for (name, settings) in [("1 MiB", small(1 << 20)), ("almost nothing", small(60_000))] {
            let mut dice = Dice::new(seed);
            let (mut plain, mut probed) = (filter(&settings), filter(&settings));
            let (mut expected, mut lines, mut rest) = (Vec::new(), Vec::new(), &arrivals[..]);
            while !rest.is_empty() {
                let (batch, after) = rest.split_at((1 + dice.below(60)).min(rest.len()));
                plain.fold(batch, 1, |event| expected.push(line(&event)));
                let saved = probed.save().unwrap();
                let disk = Disk::new(usize::MAX);
                probed.begin_snapshot(&Vec::new(), disk.boxed()).unwrap();
                while {
                    probed.probe(&arrivals[dice.below(arrivals.len())]);
                    !probed.write_snapshot(1 + dice.below(200_000)).unwrap()
                } {}
                assert!(disk.taken() == saved, "seed {seed}, {name}: a probe shows in a snapshot");
                probed.fold(batch, 2, |event| lines.push(line(&event)));
                rest = after;
            }
            assert_eq!(lines, expected, "seed {seed}, {name}");
            assert!(plain.save().unwrap() == probed.save().unwrap(), "seed {seed}, {name}");
        }
    }
}
