//! Records come back as they went, each once, in the order of their partition; and what is not there is said not to be.

use super::{GLANCE, Ground, LOOK, PATIENCE, all, beginning, next, outgoing, refusal, text};
use seamripper::bus::{BusError, Extent, Outgoing, Partition, Positions, Record};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Keys, headers and values of every odd form.
fn odd_records(topic: &str) -> Vec<Outgoing> {
    let forms = [
        (
            Some("key"),
            vec![("url", "http://a.example/"), ("url", "again"), ("empty", ""), ("", "no name")],
            Some("value"),
        ),
        (Some("undone"), vec![], None),
        (None, vec![("reason", "no key")], Some("value")),
        (Some(""), vec![], Some("")),
        (None, vec![], None),
        (Some("clé\0"), vec![("ключ", "\u{0}\u{1}")], Some("\u{0}binary\u{0}")),
    ];
    let bytes = |text: &str| text.as_bytes().to_vec();
    let record = |(key, headers, value): (Option<&str>, Vec<(&str, &str)>, Option<&str>)| Outgoing {
        topic: topic.into(),
        partition: Some(1),
        key: key.map(bytes),
        headers: headers.into_iter().map(|(name, value)| (name.into(), bytes(value))).collect(),
        value: value.map(bytes),
    };
    let mut records: Vec<Outgoing> = forms.into_iter().map(record).collect();
    records.push(Outgoing { value: Some((0..=255).collect()), partition: Some(1), ..Outgoing::to(topic) });
    records
}

/// Now, as records are dated.
fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as i64
}

pub(super) fn records_come_back_as_they_went(ground: Ground) {
    let bus = ground.prepared();
    let topic = &ground.settings.topics.pages;
    let (sent, before) = (odd_records(topic), now_ms());
    bus.feeder().unwrap().append(sent.clone()).unwrap();
    let come = all(&*ground.open(), topic, sent.len());
    for (record, sent) in come.iter().zip(&sent) {
        let Record { partition, key, headers, value, .. } = record;
        assert_eq!((key, headers, value), (&sent.key, &sent.headers, &sent.value));
        assert_eq!(*partition, Partition::new(&**topic, 1));
        // A minute for clocks that disagree.
        assert!((before - 60_000..=now_ms() + 60_000).contains(&record.time_ms), "{} after {before}", record.time_ms);
    }
}

pub(super) fn a_feeder_says_where_its_records_are(ground: Ground) {
    let bus = ground.prepared();
    let (pages, emails) = (&ground.settings.topics.pages, &ground.settings.topics.emails);
    let n_partitions = bus.n_partitions(pages).unwrap();
    assert_eq!(n_partitions, ground.settings.topics.partitions);
    let mut feeder = bus.feeder().unwrap();
    let mut told = BTreeMap::new();
    for round in 0..3 {
        let value = |n: i32| format!("{round}-{n}");
        let mut records: Vec<Outgoing> = (0..20).map(|n| outgoing(pages, n % n_partitions, "k", &value(n))).collect();
        records.extend((20..40).map(|n| Outgoing { partition: None, ..outgoing(emails, 0, &value(n), &value(n)) }));
        records.extend((40..60).map(|n| Outgoing { key: None, partition: None, ..outgoing(emails, 0, "", &value(n)) }));
        let places = feeder.append(records.clone()).unwrap();
        assert_eq!(places.len(), records.len());
        for (place, record) in places.into_iter().zip(records) {
            assert_eq!(place.0.topic, record.topic);
            assert!(record.partition.is_none_or(|partition| partition == place.0.number));
            told.insert(place, record.value);
        }
    }
    let mut come = all(&*bus, pages, 60);
    come.extend(all(&*bus, emails, 120));
    let come: BTreeMap<_, _> =
        come.into_iter().map(|record| ((record.partition, record.offset), record.value)).collect();
    assert_eq!(come, told);
    assert_eq!(feeder.append(Vec::new()).unwrap(), []);
}

pub(super) fn records_of_one_key_stay_in_order(ground: Ground) {
    let bus = ground.prepared();
    let topic = &ground.settings.topics.pages;
    let record =
        |n: usize| Outgoing { partition: None, ..outgoing(topic, 0, &format!("key {}", n % 16), &n.to_string()) };
    for from in [0, 100, 200] {
        // Each time another feeder, as after a restart: the key decides, not the feeder.
        bus.feeder().unwrap().append((from..from + 100).map(record).collect()).unwrap();
    }
    let come = all(&*bus, topic, 300);
    let mut by_key: BTreeMap<_, (BTreeSet<i32>, Vec<usize>)> = BTreeMap::new();
    for record in &come {
        let (partitions, numbers) = by_key.entry(record.key.clone()).or_default();
        partitions.insert(record.partition.number);
        numbers.push(text(record).parse().unwrap());
    }
    for (key, (partitions, numbers)) in by_key {
        assert_eq!(partitions.len(), 1, "{key:?}");
        assert!(numbers.is_sorted(), "{key:?}: {numbers:?}");
    }
    let used: BTreeSet<i32> = come.iter().map(|record| record.partition.number).collect();
    assert!(used.len() > 1, "16 keys are all in {used:?}");
}

pub(super) fn extents_and_positions_agree(ground: Ground) {
    let bus = ground.prepared();
    let topic = &ground.settings.topics.labels;
    let partition = Partition::new(&**topic, 2);
    assert_eq!(bus.extent(&partition).unwrap(), Extent { begin: 0, end: 0 });
    let places =
        bus.feeder().unwrap().append((0..10).map(|n| outgoing(topic, 2, "", &n.to_string())).collect()).unwrap();
    let extent = bus.extent(&partition).unwrap();
    assert_eq!(extent.begin, 0);
    assert!(extent.end > places[9].1, "{extent:?}");
    let mut reader = bus.reader(&Positions([(partition.clone(), places[4].1)].into())).unwrap();
    let come: Vec<String> = next(&mut *reader, 6).iter().map(text).collect();
    assert_eq!(come, ["4", "5", "6", "7", "8", "9"]);
    // From the end there is nothing, until something comes.
    let mut reader = bus.reader(&Positions([(partition.clone(), extent.end)].into())).unwrap();
    assert_eq!(reader.poll(10, usize::MAX, LOOK).unwrap(), []);
    bus.feeder().unwrap().append(vec![outgoing(topic, 2, "", "late")]).unwrap();
    assert_eq!(text(&next(&mut *reader, 1)[0]), "late");
    // Partitions that a reader does not name are not read, and those without a position are read from their beginning.
    bus.feeder().unwrap().append(vec![outgoing(topic, 0, "", "elsewhere")]).unwrap();
    assert_eq!(reader.poll(10, usize::MAX, LOOK).unwrap(), []);
}

pub(super) fn a_reader_keeps_to_its_bounds(ground: Ground) {
    let bus = ground.prepared();
    let topic = &ground.settings.topics.pages;
    let value = "x".repeat(1000);
    bus.feeder().unwrap().append((0..400).map(|n| outgoing(topic, n % 4, "", &value)).collect()).unwrap();
    let mut reader = bus.reader(&beginning(&*bus, topic)).unwrap();
    let (mut n_records, begun, mut seen) = (0, Instant::now(), BTreeSet::new());
    while n_records < 200 {
        assert!(begun.elapsed() < PATIENCE);
        let come = reader.poll(7, usize::MAX, GLANCE).unwrap();
        assert!(come.len() <= 7, "{} records", come.len());
        n_records += come.len();
        seen.extend(come.iter().map(|record| record.partition.number));
    }
    while n_records < 400 {
        assert!(begun.elapsed() < PATIENCE);
        let come = reader.poll(100, 5000, GLANCE).unwrap();
        assert!(come.len() <= 5, "{} records", come.len());
        n_records += come.len();
        seen.extend(come.iter().map(|record| record.partition.number));
    }
    assert_eq!(seen.len(), 4, "partitions that were read: {seen:?}");
    // A record over the bound is given by itself: it must not block what follows.
    assert_eq!(bus.reader(&beginning(&*bus, topic)).unwrap().poll(9, 1, PATIENCE).unwrap().len(), 1);
}

pub(super) fn a_reader_waits_for_what_comes(ground: Ground) {
    let bus = ground.prepared();
    let topic = ground.settings.topics.pages.clone();
    let mut reader = bus.reader(&beginning(&*bus, &topic)).unwrap();
    let begun = Instant::now();
    assert_eq!(reader.poll(1, usize::MAX, LOOK).unwrap(), []);
    assert!(begun.elapsed() >= LOOK - Duration::from_millis(20), "{:?}", begun.elapsed());
    let other = ground.open();
    let feeding = std::thread::spawn(move || {
        std::thread::sleep(LOOK);
        other.feeder().unwrap().append(vec![outgoing(&topic, 3, "", "late")]).unwrap();
    });
    let come = reader.poll(1, usize::MAX, PATIENCE).unwrap();
    assert_eq!(text(&come[0]), "late");
    feeding.join().unwrap();
}

pub(super) fn pausing_loses_nothing(ground: Ground) {
    let bus = ground.prepared();
    let topic = &ground.settings.topics.pages;
    let mut feeder = bus.feeder().unwrap();
    let mut reader = bus.reader(&beginning(&*bus, topic)).unwrap();
    let paused = Partition::new(&**topic, 1);
    let (mut come, begun, mut n_fed) = (Vec::new(), Instant::now(), 0);
    for round in 0..6 {
        feeder.append((0..40).map(|n| outgoing(topic, n % 4, "", &(n_fed + n).to_string())).collect()).unwrap();
        n_fed += 40;
        let pausing = round % 2 == 0;
        if pausing {
            reader.pause(&paused).unwrap();
        } else {
            reader.resume(&paused).unwrap();
        }
        for _ in 0..4 {
            // Some of what was fetched is still to come when the partition is paused again.
            let records = reader.poll(9, usize::MAX, GLANCE).unwrap();
            assert!(!pausing || records.iter().all(|record| record.partition != paused), "{paused} is paused");
            come.extend(records);
        }
    }
    while come.len() < 240 {
        assert!(begun.elapsed() < PATIENCE, "{} of 240 records came", come.len());
        come.extend(reader.poll(9, usize::MAX, GLANCE).unwrap());
    }
    for number in 0..4 {
        let numbers: Vec<i32> =
            come.iter().filter(|r| r.partition.number == number).map(|r| text(r).parse().unwrap()).collect();
        assert_eq!(numbers, (0..240).filter(|n| n % 4 == number).collect::<Vec<i32>>());
    }
}

pub(super) fn large_records_pass(ground: Ground) {
    let bus = ground.prepared();
    let topic = &ground.settings.topics.pages;
    // No two bytes alike for long: a codec must not make it small.
    let mut state = 7u64;
    let mut noise = |n_bytes: usize| -> Vec<u8> {
        (0..n_bytes)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 56) as u8
            })
            .collect()
    };
    let sent: Vec<Outgoing> = [10, 5 << 20, 0, 3 << 20]
        .map(|n_bytes| Outgoing { value: Some(noise(n_bytes)), ..outgoing(topic, 0, "large", "") })
        .into();
    bus.feeder().unwrap().append(sent.clone()).unwrap();
    let come = all(&*bus, topic, 4);
    for (come, sent) in come.iter().zip(&sent) {
        assert!(come.value == sent.value, "a record of {} bytes came back otherwise", sent.n_bytes());
    }
}

pub(super) fn feeders_at_once_lose_nothing(ground: Ground) {
    let bus = ground.prepared();
    let topic = &ground.settings.topics.pages;
    let told: BTreeMap<(Partition, i64), String> = std::thread::scope(|scope| {
        let feeding = [0, 1, 2, 3].map(|feeder| {
            let (bus, topic) = (if feeder % 2 == 0 { bus.clone() } else { ground.open() }, &topic);
            scope.spawn(move || {
                let mut told = Vec::new();
                let mut feed = bus.feeder().unwrap();
                for batch in 0..10 {
                    let values: Vec<String> = (0..10).map(|n| format!("{feeder}-{batch}-{n}")).collect();
                    let records = values.iter().map(|value| outgoing(topic, (batch + feeder) % 4, "", value)).collect();
                    told.extend(feed.append(records).unwrap().into_iter().zip(values));
                }
                told
            })
        });
        feeding.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(told.len(), 400, "two records are said to be in one place");
    let come: BTreeMap<_, _> =
        all(&*bus, topic, 400).iter().map(|record| ((record.partition.clone(), record.offset), text(record))).collect();
    assert_eq!(come, told);
}

pub(super) fn what_was_trimmed_is_gone(ground: Ground) {
    let bus = ground.prepared();
    let topic = &ground.settings.topics.journal;
    assert_eq!(bus.n_partitions(topic).unwrap(), 1, "the journal has one partition");
    let partition = Partition::new(&**topic, 0);
    let feed = |from: usize| {
        let records = (from..from + 20).map(|n| outgoing(topic, 0, "", &n.to_string())).collect();
        bus.feeder().unwrap().append(records).unwrap()
    };
    let trim = |offset: i64| {
        bus.trim(&partition, offset).unwrap();
        let begun = Instant::now();
        while bus.extent(&partition).unwrap().begin < offset {
            assert!(begun.elapsed() < PATIENCE, "{:?}", bus.extent(&partition));
            std::thread::sleep(GLANCE);
        }
        assert_eq!(bus.extent(&partition).unwrap().begin, offset);
    };
    let places = feed(0);
    trim(places[12].1);
    assert_eq!(all(&*bus, topic, 8).iter().map(text).next().unwrap(), "12");
    let from = |offset| Positions([(partition.clone(), offset)].into());
    match refusal(&*bus, &from(places[3].1)) {
        BusError::Gone { partition: at, wanted, begin, .. } => {
            assert_eq!((at, wanted, begin), (partition.clone(), places[3].1, places[12].1));
        }
        other => panic!("{other}"),
    }
    // Less than what is gone already is no matter; all of it leaves the count of offsets as it was.
    bus.trim(&partition, 1).unwrap();
    let end = bus.extent(&partition).unwrap().end;
    trim(end);
    assert_eq!(bus.extent(&partition).unwrap(), Extent { begin: end, end });
    assert!(feed(20)[0].1 >= end);
    assert_eq!(text(&all(&*bus, topic, 20)[0]), "20");
}

pub(super) fn a_position_beyond_the_end_is_gone(ground: Ground) {
    let bus = ground.prepared();
    let partition = Partition::new(&*ground.settings.topics.pages, 0);
    bus.feeder().unwrap().append(vec![outgoing(&partition.topic, 0, "", "one")]).unwrap();
    let end = bus.extent(&partition).unwrap().end;
    match refusal(&*bus, &Positions([(partition.clone(), end + 1000)].into())) {
        BusError::Gone { wanted, .. } => assert_eq!(wanted, end + 1000),
        other => panic!("{other}"),
    }
}

pub(super) fn missing_topics_are_named(mut ground: Ground) {
    let made = ground.prepared();
    ground.settings.topics.create = false;
    ground.open().prepare().unwrap();
    let missing = format!("{}-missing", ground.settings.topics.pages);
    assert!(matches!(made.n_partitions(&missing), Err(BusError::NoTopic { topic }) if topic == missing));
    ground.settings.topics.emails = missing.clone();
    assert!(matches!(ground.open().prepare(), Err(BusError::NoTopic { topic }) if topic == missing));
    // An input without a name is left out, and a second start finds what the first has made, with its partitions.
    ground.settings.topics.create = true;
    ground.settings.topics.emails = String::new();
    ground.settings.topics.partitions += 3;
    let again = ground.prepared();
    assert_eq!(again.n_partitions(&ground.settings.topics.pages).unwrap(), ground.settings.topics.partitions - 3);
}
