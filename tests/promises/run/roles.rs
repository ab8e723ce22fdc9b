//! Signers on several machines and one store: the verdicts are those of an instance that does everything.

use super::oracle::{entries, naive};
use super::{Process, audited, drain, inputs, judged, records, scaled, verdicts};
use crate::bus::Ground;
use seamripper::bus::{Outgoing, Partition};
use seamripper::pipeline::run::journal::What;
use std::time::Duration;

const SIGNER: [&str; 3] = ["run", "--role", "sign"];
const STORE: [&str; 3] = ["run", "--role", "store"];

/// Three signers, one of them killed and one hung for a while; a store that is killed too.
pub(super) fn signers_and_a_store_judge_as_one_instance_does(ground: &Ground) {
    let n = scaled(400, 4000);
    let bus = ground.prepared();
    let mut feeder = bus.feeder().unwrap();
    let all = inputs(ground, 31, n);
    let mut signers: Vec<Process> = (0..3).map(|_| Process::start(ground, &SIGNER, None)).collect();
    signers.iter().for_each(|signer| signer.says("signing"));
    let mut store = Process::start(ground, &STORE, None);
    let thirds: Vec<&[Outgoing]> = all.chunks(n.div_ceil(3)).collect();
    for some in thirds[0].chunks(20) {
        feeder.append(some.to_vec()).unwrap();
    }
    signers[0].kill();
    for some in thirds[1].chunks(20) {
        feeder.append(some.to_vec()).unwrap();
        std::thread::sleep(Duration::from_millis(5));
    }
    store.says("seat taken");
    store.kill();
    let store = Process::start(ground, &STORE, None);
    feeder.append(thirds[2].to_vec()).unwrap();
    let poison = Outgoing { value: Some(b"{".to_vec()), ..Outgoing::to(ground.settings.topics.pages.as_str()) };
    feeder.append(vec![poison]).unwrap();
    println!("all were judged after {:?}", judged(&*bus, ground, n));
    store.signal("TERM");
    let mut store = store;
    assert!(store.ended().success(), "{}", store.log());
    let letters = records(&*bus, &ground.settings.topics.dead_letters);
    assert_eq!(letters.len(), 1, "the signer's letter, once");
    assert_eq!(letters[0].header("reason"), Some(&b"envelope"[..]));
    // The journal speaks of signed records, whose order is that of the inputs.
    let of_signed = |entry: &What| match entry {
        What::Batch(batch) => batch.ranges.iter().all(|range| *range.partition.topic == *ground.settings.topics.signed),
        _ => true,
    };
    assert!(entries(ground).iter().all(|entry| of_signed(&entry.what)));
    drop(signers);
    let (published, expected) = (verdicts(&*bus, ground), naive(ground));
    assert_eq!(published.len(), expected.len());
    for (id, verdict) in &published {
        assert_eq!(verdict, &expected[id], "{id}");
    }
    audited(ground, n);
}

/// One instance does everything, then signers and a store go on, then one instance again: nothing is folded twice.
pub(super) fn roles_can_change_over(ground: &Ground) {
    let n = scaled(150, 1000);
    let bus = ground.prepared();
    let mut feeder = bus.feeder().unwrap();
    let all = inputs(ground, 33, 3 * n);
    feeder.append(all[..n].to_vec()).unwrap();
    drain(ground);
    // The signer begins at the beginning: what was folded already is signed again, and passed over.
    let signer = Process::start(ground, &SIGNER, None);
    let store = Process::start(ground, &STORE, None);
    feeder.append(all[n..2 * n].to_vec()).unwrap();
    judged(&*bus, ground, 2 * n);
    for mut process in [signer, store] {
        process.signal("TERM");
        assert!(process.ended().success(), "{}", process.log());
    }
    feeder.append(all[2 * n..].to_vec()).unwrap();
    drain(ground);
    assert_eq!(super::n_judged(&verdicts(&*bus, ground)), 3 * n);
    audited(ground, 3 * n);
}

/// A signer's commit is said to have failed when it has not: what was being signed meanwhile is not published twice, nor are
/// its dead letters.
pub(super) fn a_doubted_commit_of_a_signer_repeats_nothing(ground: &Ground) {
    let bus = ground.prepared();
    let mut feeder = bus.feeder().unwrap();
    let n = 300;
    let poison = |n: usize| Outgoing {
        key: Some(n.to_string().into_bytes()),
        value: Some(b"{".to_vec()),
        ..Outgoing::to(ground.settings.topics.pages.as_str())
    };
    for (number, some) in inputs(ground, 37, n).chunks(10).enumerate() {
        feeder.append(some.iter().cloned().chain([poison(number)]).collect()).unwrap();
    }
    for doubted in ["commit_doubted:2", "commit_doubted:3"] {
        let mut signer = Process::start(ground, &[&SIGNER[..], &["--until-idle", "3"]].concat(), Some(doubted));
        assert!(signer.ended().success(), "{}", signer.log());
    }
    let mut signed: Vec<(Vec<u8>, Vec<u8>)> = records(&*bus, &ground.settings.topics.signed)
        .iter()
        .map(|record| (record.key.clone().unwrap(), record.header("offset").unwrap().to_vec()))
        .collect();
    signed.sort();
    signed.dedup();
    assert_eq!(records(&*bus, &ground.settings.topics.signed).len(), n + 30);
    assert_eq!(signed.len(), n + 30);
    let letters = records(&*bus, &ground.settings.topics.dead_letters);
    assert_eq!(letters.len(), 30, "each once");
}

/// What was deleted before a signer had it is said, and passed over only when that is accepted.
pub(super) fn signers_say_what_is_lost(ground: &Ground) {
    let bus = ground.prepared();
    let mut feeder = bus.feeder().unwrap();
    let sign = |more: &[&str]| Process::start(ground, &[&SIGNER[..], &["--until-idle", "3"], more].concat(), None);
    feeder.append(inputs(ground, 38, 100)).unwrap();
    assert!(sign(&[]).ended().success());
    feeder.append(inputs(ground, 39, 100)).unwrap();
    let topic = ground.settings.topics.emails.as_str();
    for number in 0..bus.n_partitions(topic).unwrap() {
        let partition = Partition::new(topic, number);
        bus.trim(&partition, bus.extent(&partition).unwrap().end).unwrap();
    }
    let mut refused = sign(&[]);
    assert_eq!(refused.ended().code(), Some(1), "{}", refused.log());
    let log = refused.log();
    assert!(log.contains("records were deleted before they were read") && log.contains("--accept-loss"), "{log}");
    feeder.append(inputs(ground, 40, 100)).unwrap();
    let mut accepted = sign(&["--accept-loss"]);
    assert!(accepted.ended().success(), "{}", accepted.log());
    assert!(accepted.log().contains("LOSS ACCEPTED"), "{}", accepted.log());
    let n = records(&*bus, &ground.settings.topics.signed).len();
    assert!(n > 200 && n < 300, "the mails of the second lot are gone: {n}");
}
