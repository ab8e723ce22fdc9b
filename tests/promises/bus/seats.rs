//! One instance has the seat; what it publishes is there whole and once; whoever takes it shuts out whoever had it.

use super::{GLANCE, Ground, LOOK, PATIENCE, all, outgoing, take, text};
use seamripper::bus::{Bus, BusError, Outgoing, Partition, Positions, Seat};
use seamripper::config::TopicSettings;
use std::time::Instant;

/// Verdicts, a cluster and a dead letter of batch `n`, and its journal record.
fn batch(topics: &TopicSettings, n: usize) -> (Vec<Outgoing>, Outgoing) {
    let value = |what: usize| format!("{n}-{what}");
    let mut outputs: Vec<Outgoing> = (0..8).map(|w| outgoing(&topics.verdicts, w as i32 % 4, "", &value(w))).collect();
    outputs.push(outgoing(&topics.clusters, 0, "", &value(8)));
    outputs.push(outgoing(&topics.dead_letters, 0, "", &value(9)));
    (outputs, outgoing(&topics.journal, 0, "store", &n.to_string()))
}

/// Publishes batch `n`.
fn publish(seat: &mut Box<dyn Seat>, topics: &TopicSettings, n: usize) -> Result<i64, BusError> {
    let (outputs, journal) = batch(topics, n);
    let positions = Positions([(Partition::new(&*topics.pages, 0), n as i64)].into());
    seat.publish(&outputs, &journal, &positions)
}

/// The batches `0..n` are there, each once and whole, and nothing else.
fn assert_published(bus: &dyn Bus, topics: &TopicSettings, n: usize) {
    let values = |topic: &str, n: usize| {
        let mut values: Vec<String> = all(bus, topic, n).iter().map(text).collect();
        values.sort();
        values
    };
    let wanted = |whats: std::ops::Range<usize>| {
        let mut wanted: Vec<String> = (0..n).flat_map(|n| whats.clone().map(move |w| format!("{n}-{w}"))).collect();
        wanted.sort();
        wanted
    };
    assert_eq!(values(&topics.verdicts, 8 * n), wanted(0..8));
    assert_eq!(values(&topics.clusters, n), wanted(8..9));
    assert_eq!(values(&topics.dead_letters, n), wanted(9..10));
    let journal: Vec<String> = all(bus, &topics.journal, n).iter().map(text).collect();
    assert_eq!(journal, (0..n).map(|n| n.to_string()).collect::<Vec<_>>(), "the journal is in order");
}

pub(super) fn a_publication_is_there_once(ground: Ground) {
    let (bus, topics) = (ground.prepared(), &ground.settings.topics);
    let mut seat = bus.seat().unwrap();
    take(&mut [&mut seat]);
    let offsets: Vec<i64> = (0..5).map(|n| publish(&mut seat, topics, n).unwrap()).collect();
    let journal = all(&*ground.open(), &topics.journal, 5);
    assert_eq!(journal.iter().map(|record| record.offset).collect::<Vec<_>>(), offsets);
    assert_published(&*bus, topics, 5);
    assert!(seat.poll(GLANCE).unwrap(), "the holder holds on");
    seat.leave();
}

pub(super) fn a_refused_publication_leaves_nothing(mut ground: Ground) {
    ground.settings.bus.record_bytes_max = 1 << 20;
    let (bus, topics) = (ground.prepared(), &ground.settings.topics);
    let mut seat = bus.seat().unwrap();
    take(&mut [&mut seat]);
    publish(&mut seat, topics, 0).unwrap();
    let (mut outputs, journal) = batch(topics, 1);
    outputs.push(outgoing(&topics.verdicts, 0, "", &"x".repeat(4 << 20)));
    match seat.publish(&outputs, &journal, &Positions::default()) {
        Err(BusError::TooLarge { topic, n_bytes }) => assert_eq!((topic, n_bytes), (topics.verdicts.clone(), 4 << 20)),
        other => panic!("{other:?}"),
    }
    assert_published(&*bus, topics, 1);
    publish(&mut seat, topics, 1).unwrap();
    assert_published(&*bus, topics, 2);
}

pub(super) fn one_candidate_has_the_seat(ground: Ground) {
    let (bus, topics) = (ground.prepared(), &ground.settings.topics);
    let (other, third) = (ground.open(), ground.open());
    let mut holder = bus.seat().unwrap();
    take(&mut [&mut holder]);
    publish(&mut holder, topics, 0).unwrap();
    // Newcomers, however many, leave the seat where it is, for longer than a silent holder would have it.
    let (mut second, mut last) = (other.seat().unwrap(), third.seat().unwrap());
    let (begun, mut n) = (Instant::now(), 1);
    while begun.elapsed() < ground.silence * 2 {
        assert!(holder.poll(GLANCE).unwrap(), "the seat was lost to a newcomer");
        assert!(!second.poll(GLANCE).unwrap(), "a newcomer has stolen the seat");
        assert!(!last.poll(GLANCE).unwrap(), "a newcomer has stolen the seat");
        if n < 5 {
            publish(&mut holder, topics, n).unwrap();
            n += 1;
        }
    }
    assert_published(&*bus, topics, n);
    // It goes to one of those that stand by when the holder leaves.
    holder.leave();
    let begun = Instant::now();
    loop {
        assert!(begun.elapsed() < PATIENCE, "nobody got the seat");
        match (second.poll(GLANCE).unwrap(), last.poll(GLANCE).unwrap()) {
            (false, false) => {}
            (true, true) => panic!("two have the seat"),
            (true, false) => return,
            (false, true) => return,
        }
    }
}

pub(super) fn a_seat_left_is_free_at_once(mut ground: Ground) {
    // Nobody could wait for these to run out.
    ground.settings.bus.lease_ms = 600_000;
    ground.settings.kafka.session_timeout_ms = 120_000;
    let (bus, topics) = (ground.prepared(), &ground.settings.topics);
    let mut first = bus.seat().unwrap();
    take(&mut [&mut first]);
    publish(&mut first, topics, 0).unwrap();
    let other = ground.open();
    let mut second = other.seat().unwrap();
    let begun = Instant::now();
    while begun.elapsed() < LOOK {
        assert!(first.poll(GLANCE).unwrap());
        assert!(!second.poll(GLANCE).unwrap(), "a newcomer has stolen the seat");
    }
    first.leave();
    take(&mut [&mut second]);
    publish(&mut second, topics, 1).unwrap();
    assert_published(&*bus, topics, 2);
    second.leave();
}

pub(super) fn a_silent_holder_is_shut_out(ground: Ground) {
    let (bus, topics) = (ground.prepared(), &ground.settings.topics);
    let mut silent = bus.seat().unwrap();
    take(&mut [&mut silent]);
    publish(&mut silent, topics, 0).unwrap();
    let other = ground.open();
    let mut second = other.seat().unwrap();
    let begun = Instant::now();
    take(&mut [&mut second]);
    println!("taken over after {:?} (silence {:?})", begun.elapsed(), ground.silence);
    // The one that was silent wakes up, and believes that it has the seat.
    assert!(
        matches!(publish(&mut silent, topics, 1), Err(BusError::Fenced)),
        "nothing of a shut out holder is published"
    );
    assert!(matches!(publish(&mut silent, topics, 1), Err(BusError::Fenced)), "nor when it tries again");
    publish(&mut second, topics, 1).unwrap();
    assert_published(&*bus, topics, 2);
    // It can stand for the seat again, and gets it in its turn.
    drop(silent);
    let mut again = bus.seat().unwrap();
    assert!(second.poll(GLANCE).unwrap(), "nobody wanted it meanwhile");
    assert!(!again.poll(GLANCE).unwrap());
    second.leave();
    take(&mut [&mut again]);
    publish(&mut again, topics, 2).unwrap();
    assert_published(&*bus, topics, 3);
}

pub(super) fn a_successor_goes_on_where_the_journal_ends(ground: Ground) {
    let topics = &ground.settings.topics;
    let bus = ground.prepared();
    // One publishes as fast as it can until it is shut out; its successor looks at the journal after the take.
    let mut first = bus.seat().unwrap();
    take(&mut [&mut first]);
    let n_published = std::thread::scope(|scope| {
        let other = ground.open();
        let publishing = scope.spawn(move || {
            let mut n = 0;
            while n < 20 {
                publish(&mut first, topics, n).unwrap();
                n += 1;
            }
            // It hangs, and then tries to go on while the other takes the seat.
            std::thread::sleep(ground.silence);
            let begun = Instant::now();
            loop {
                assert!(begun.elapsed() < PATIENCE, "it was never shut out");
                match publish(&mut first, topics, n) {
                    Ok(_) => n += 1,
                    Err(BusError::Fenced) => return n,
                    Err(other) => panic!("{other}"),
                }
                std::thread::sleep(ground.silence * 2);
            }
        });
        let mut second = other.seat().unwrap();
        take(&mut [&mut second]);
        // What is committed at this moment is all that the first will ever have published.
        let journal = Partition::new(&*topics.journal, 0);
        let end = other.extent(&journal).unwrap().end;
        let mut reader = other.reader(&Positions([(journal, 0)].into())).unwrap();
        let (mut n, mut next, begun) = (0, 0, Instant::now());
        while next < end && begun.elapsed() < LOOK * 10 {
            for record in reader.poll(usize::MAX, usize::MAX, LOOK).unwrap() {
                (n, next) = (n + 1, record.offset + 1);
            }
        }
        for more in n..n + 5 {
            publish(&mut second, topics, more).unwrap();
            assert!(second.poll(GLANCE).unwrap());
        }
        let n_first = loop {
            // It must be kept alive while the first wakes up.
            assert!(second.poll(GLANCE).unwrap());
            if publishing.is_finished() {
                break publishing.join().unwrap();
            }
        };
        assert_eq!(n_first, n, "the successor saw all that the first has published");
        n + 5
    });
    assert_published(&*bus, topics, n_published);
}
