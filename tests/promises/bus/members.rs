//! Signers share the partitions of the inputs, and every record's outcome is published once, whoever comes and goes.

use super::{GLANCE, Ground, PATIENCE, all, outgoing, text};
use seamripper::bus::{Bus, BusError, Member, Outgoing, Partition, Positions, Published, Record};
use seamripper::config::TopicSettings;
use std::sync::Arc;
use std::time::Instant;

/// A signer that says of each record where it was.
struct Signer {
    member: Box<dyn Member>,
    n_published: usize,
}

impl Signer {
    fn join(bus: &dyn Bus, topics: &TopicSettings) -> Self {
        let inputs: [Arc<str>; 2] = [topics.pages.as_str().into(), topics.emails.as_str().into()];
        Self { member: bus.member(&inputs).unwrap(), n_published: 0 }
    }

    /// Some records, made to outcomes; nothing published yet.
    fn sign(&mut self, topics: &TopicSettings) -> (Vec<Outgoing>, Positions) {
        Self::made(&self.member.poll(16, usize::MAX, GLANCE).unwrap(), topics)
    }

    fn made(records: &[Record], topics: &TopicSettings) -> (Vec<Outgoing>, Positions) {
        let mut consumed = Positions::default();
        let outcome = |record: &Record| outgoing(&topics.signed, record.partition.number, "", &text(record));
        let outputs = records.iter().map(outcome).collect();
        for record in records {
            consumed.pass(&record.partition, record.offset);
        }
        (outputs, consumed)
    }

    /// Some records, signed and published. Whether they were.
    fn step(&mut self, topics: &TopicSettings) -> bool {
        let (outputs, consumed) = self.sign(topics);
        if outputs.is_empty() {
            return true;
        }
        let is_published = self.member.publish(&outputs, &consumed).unwrap() != Published::Undone;
        self.n_published += if is_published { outputs.len() } else { 0 };
        is_published
    }
}

/// Feeds numbered records to all partitions of both inputs.
fn feed(bus: &dyn Bus, topics: &TopicSettings, numbers: std::ops::Range<usize>) {
    let input = |n: usize| if n.is_multiple_of(2) { &topics.pages } else { &topics.emails };
    let records = numbers.map(|n| outgoing(input(n), (n / 2 % 4) as i32, "", &n.to_string())).collect();
    bus.feeder().unwrap().append(records).unwrap();
}

/// The numbers `0..n` were signed, each once.
fn assert_signed(bus: &dyn Bus, topics: &TopicSettings, n: usize) {
    let mut numbers: Vec<usize> = all(bus, &topics.signed, n).iter().map(|r| text(r).parse().unwrap()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..n).collect::<Vec<_>>());
}

/// Signs until `n` records are signed in all; the first of `signers` takes its turns for all partitions in the end.
fn sign_until(signers: &mut [&mut Signer], topics: &TopicSettings, n_more: usize) {
    let before: usize = signers.iter().map(|signer| signer.n_published).sum();
    let begun = Instant::now();
    while signers.iter().map(|signer| signer.n_published).sum::<usize>() < before + n_more {
        assert!(begun.elapsed() < PATIENCE, "not all records are delivered");
        for signer in signers.iter_mut() {
            signer.step(topics);
        }
    }
}

/// Two signers that both have partitions, and how many records were fed and signed until they had.
fn two_sharing(ground: &Ground, bus: &Arc<dyn Bus>, other: &Arc<dyn Bus>) -> (Signer, Signer, usize) {
    let topics = &ground.settings.topics;
    let (mut first, mut second) = (Signer::join(&**bus, topics), Signer::join(&**other, topics));
    let (begun, mut n_fed) = (Instant::now(), 0);
    while first.n_published == 0 || second.n_published == 0 {
        assert!(begun.elapsed() < PATIENCE, "{} and {} were signed", first.n_published, second.n_published);
        feed(&**bus, topics, n_fed..n_fed + 32);
        n_fed += 32;
        first.step(topics);
        second.step(topics);
    }
    let n_left = n_fed - first.n_published - second.n_published;
    sign_until(&mut [&mut first, &mut second], topics, n_left);
    (first, second, n_fed)
}

pub(super) fn members_share_the_partitions(ground: Ground) {
    let (bus, other, topics) = (ground.prepared(), ground.open(), &ground.settings.topics);
    let (mut first, mut second, n_fed) = two_sharing(&ground, &bus, &other);
    let before = (first.n_published, second.n_published);
    feed(&*bus, topics, n_fed..n_fed + 160);
    sign_until(&mut [&mut first, &mut second], topics, 160);
    assert!(first.n_published > before.0 && second.n_published > before.1, "both have work: {before:?}");
    assert_signed(&*bus, topics, n_fed + 160);
}

pub(super) fn a_member_that_leaves_loses_nothing(ground: Ground) {
    let (bus, other, topics) = (ground.prepared(), ground.open(), &ground.settings.topics);
    let (mut first, mut second, n_fed) = two_sharing(&ground, &bus, &other);
    feed(&*bus, topics, n_fed..n_fed + 160);
    // The first has records in its hands when it leaves.
    let begun = Instant::now();
    while first.sign(topics).0.is_empty() {
        assert!(begun.elapsed() < PATIENCE);
        second.step(topics);
    }
    let n_signed = first.n_published + second.n_published;
    first.member.leave();
    sign_until(&mut [&mut second], topics, n_fed + 160 - n_signed);
    assert_signed(&*bus, topics, n_fed + 160);
}

pub(super) fn a_silent_member_is_shut_out(ground: Ground) {
    let (bus, other, topics) = (ground.prepared(), ground.open(), &ground.settings.topics);
    let (mut first, mut second, n_fed) = two_sharing(&ground, &bus, &other);
    feed(&*bus, topics, n_fed..n_fed + 160);
    let (begun, mut in_hand) = (Instant::now(), first.sign(topics));
    while in_hand.0.is_empty() {
        assert!(begun.elapsed() < PATIENCE);
        second.step(topics);
        in_hand = first.sign(topics);
    }
    // It hangs, and the other gets all partitions; then it wakes up with what it has made.
    let n_signed = first.n_published + second.n_published;
    sign_until(&mut [&mut second], topics, n_fed + 160 - n_signed);
    let published = first.member.publish(&in_hand.0, &in_hand.1).unwrap();
    assert_eq!(published, Published::Undone, "the records were signed by another");
    assert_signed(&*bus, topics, n_fed + 160);
    // It goes on as a member.
    feed(&*bus, topics, n_fed + 160..n_fed + 320);
    sign_until(&mut [&mut first, &mut second], topics, 160);
    assert_signed(&*bus, topics, n_fed + 320);
}

pub(super) fn signers_go_on_where_they_were(ground: Ground) {
    let (bus, topics) = (ground.prepared(), &ground.settings.topics);
    for round in 0..3 {
        feed(&*bus, topics, round * 64..round * 64 + 64);
        let instance = ground.open();
        let mut signer = Signer::join(&*instance, topics);
        sign_until(&mut [&mut signer], topics, 64);
        signer.member.leave();
    }
    assert_signed(&*bus, topics, 192);
}

/// Records are deleted before a signer has had them: it is told, once for each partition, and goes on when it has been.
pub(super) fn what_signers_have_lost_is_told(ground: Ground) {
    let (bus, topics) = (ground.prepared(), &ground.settings.topics);
    feed(&*bus, topics, 0..64);
    let mut signer = Signer::join(&*bus, topics);
    sign_until(&mut [&mut signer], topics, 64);
    signer.member.leave();
    feed(&*bus, topics, 64..128);
    let lost = [Partition::new(topics.pages.as_str(), 1), Partition::new(topics.emails.as_str(), 2)];
    for partition in &lost {
        bus.trim(partition, bus.extent(partition).unwrap().end).unwrap();
    }
    feed(&*bus, topics, 128..192);
    let mut signer = Signer::join(&*bus, topics);
    let (mut told, begun) = (Vec::new(), Instant::now());
    while signer.n_published < 112 {
        assert!(begun.elapsed() < PATIENCE, "{} were signed, {told:?} were told", signer.n_published);
        match signer.member.poll(16, usize::MAX, GLANCE) {
            Err(BusError::Gone { partition, wanted, begin, .. }) => {
                assert!(wanted < begin, "{partition} {wanted} {begin}");
                signer.member.pass_over(&partition).unwrap();
                told.push(partition);
            }
            records => {
                let (outputs, consumed) = Signer::made(&records.unwrap(), topics);
                if !outputs.is_empty() && signer.member.publish(&outputs, &consumed).unwrap() != Published::Undone {
                    signer.n_published += outputs.len();
                }
            }
        }
    }
    told.sort();
    let mut lost = lost;
    lost.sort();
    assert_eq!(told, lost);
}
