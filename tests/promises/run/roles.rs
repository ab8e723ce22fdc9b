//! Signers on several machines and one store: the verdicts are those of an instance that does everything.

use super::oracle::{entries, naive};
use super::{Process, audited, drain, inputs, judged, records, scaled, verdicts};
use crate::bus::Ground;
use seamripper::bus::Outgoing;
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
