//! The suite on a real Kafka, and what it alone promises: credentials, limits and topics of the broker's, and errors that are
//! injected (by librdkafka's mock, which is good for nothing else: it enforces no transaction).

use super::{Ground, PATIENCE, all, beginning, next, outgoing, refusal, take, text};
use crate::kafka::{Cluster, administered, ground, ground_at};
use rdkafka::admin::{AdminOptions, NewTopic, TopicReplication};
use rdkafka::mocking::MockCluster;
use rdkafka::types::{RDKafkaApiKey, RDKafkaRespErr};
use seamripper::bus::{BusError, Outgoing, Partition, Positions};
use seamripper::config::{Secret, TopicSettings};
use std::time::Instant;

super::suite!(ground);

/// A ground on a listener that wants to know who comes.
fn secured(listener: &str, protocol: &str, properties: &[(&str, &str)]) -> Ground {
    let cluster = Cluster::shared();
    let mut ground = ground_at(&cluster.address(listener));
    let certificate = cluster.certificate();
    let mut set = |name: &str, value: &str| {
        ground.settings.kafka.properties.insert(name.to_owned(), Secret::new(value));
    };
    set("security.protocol", protocol);
    set("ssl.ca.location", certificate.to_str().unwrap());
    properties.iter().for_each(|(name, value)| set(name, value));
    ground
}

/// Who alice is, with a password that stands in a file.
fn alice(ground: &mut Ground, mechanism: &str, password: &str) {
    let path = ground.folder.path().join("password");
    std::fs::write(&path, format!("{password}\n")).unwrap();
    let properties = [
        ("sasl.mechanism", mechanism.to_owned()),
        ("sasl.username", "alice".to_owned()),
        ("sasl.password", format!("file:{}", path.display())),
    ];
    for (name, value) in properties {
        ground.settings.kafka.properties.insert(name.to_owned(), Secret::new(value));
    }
}

/// Feeds, reads, and publishes with the seat.
fn assert_works(ground: &Ground) {
    let (bus, topics) = (ground.prepared(), &ground.settings.topics);
    bus.feeder().unwrap().append(vec![outgoing(&topics.pages, 0, "k", "fed")]).unwrap();
    assert_eq!(text(&all(&*bus, &topics.pages, 1)[0]), "fed");
    let mut seat = bus.seat().unwrap();
    take(&mut [&mut seat]);
    let journal = outgoing(&topics.journal, 0, "store", "entry");
    seat.publish(&[outgoing(&topics.verdicts, 1, "k", "verdict")], &journal, &Positions::default()).unwrap();
    assert_eq!(text(&all(&*bus, &topics.verdicts, 1)[0]), "verdict");
    seat.leave();
}

#[test]
fn tls_works() {
    assert_works(&secured("bootstrap.ssl", "SSL", &[]));
}

#[test]
fn sasl_works() {
    for (listener, protocol, mechanism) in [
        ("bootstrap.sasl_plaintext", "SASL_PLAINTEXT", "PLAIN"),
        ("bootstrap.sasl_plaintext", "SASL_PLAINTEXT", "SCRAM-SHA-512"),
        ("bootstrap.sasl_ssl", "SASL_SSL", "PLAIN"),
        ("bootstrap.sasl_ssl", "SASL_SSL", "SCRAM-SHA-256"),
    ] {
        println!("{protocol} {mechanism}");
        let mut ground = secured(listener, protocol, &[]);
        alice(&mut ground, mechanism, "alice-secret");
        assert_works(&ground);
    }
}

#[test]
fn credentials_decide_and_are_not_shown() {
    for mechanism in ["PLAIN", "SCRAM-SHA-256"] {
        let mut ground = secured("bootstrap.sasl_ssl", "SASL_SSL", &[]);
        alice(&mut ground, mechanism, "not-her-secret");
        match ground.open().prepare() {
            Err(error @ BusError::Refused { .. }) => assert!(!error.to_string().contains("not-her-secret"), "{error}"),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_certificate_that_nobody_signed_for_is_not_believed() {
    let ground = secured("bootstrap.ssl", "SSL", &[("ssl.ca.location", "")]);
    match ground.open().prepare() {
        Err(BusError::Unreachable { why, .. }) => assert!(why.contains("certificate"), "{why}"),
        other => panic!("{other:?}"),
    }
}

/// The broker takes less than the settings say: the transaction is undone, and those around it are there once.
#[test]
fn a_record_over_the_limit_of_the_broker_is_named() {
    let ground = ground();
    let topics = &ground.settings.topics;
    let small = NewTopic::new(&topics.dead_letters, 1, TopicReplication::Fixed(1)).set("max.message.bytes", "100000");
    administered(&ground, async |admin| admin.create_topics([&small], &AdminOptions::new()).await.unwrap());
    let bus = ground.prepared();
    let large = Outgoing { partition: None, ..outgoing(&topics.dead_letters, 0, "", &noise(300_000)) };
    match bus.feeder().unwrap().append(vec![large.clone()]) {
        Err(BusError::TooLarge { topic, n_bytes }) => {
            assert_eq!((topic, n_bytes), (topics.dead_letters.clone(), 300_000))
        }
        other => panic!("{other:?}"),
    }
    let mut seat = bus.seat().unwrap();
    take(&mut [&mut seat]);
    let verdict = |n: usize| outgoing(&topics.verdicts, n as i32, "", &n.to_string());
    let journal = |n: usize| outgoing(&topics.journal, 0, "store", &n.to_string());
    seat.publish(&[verdict(0)], &journal(0), &Positions::default()).unwrap();
    match seat.publish(&[verdict(1), large], &journal(1), &Positions::default()) {
        Err(BusError::TooLarge { topic, .. }) => assert_eq!(topic, topics.dead_letters),
        other => panic!("{other:?}"),
    }
    seat.publish(&[verdict(1)], &journal(1), &Positions::default()).unwrap();
    assert_eq!(all(&*bus, &topics.verdicts, 2).iter().map(text).collect::<Vec<_>>(), ["0", "1"]);
    assert_eq!(all(&*bus, &topics.journal, 2).iter().map(text).collect::<Vec<_>>(), ["0", "1"]);
    assert_eq!(bus.extent(&Partition::new(&*topics.dead_letters, 0)).unwrap().begin, 0);
}

/// Text that no codec makes small.
fn noise(n_bytes: usize) -> String {
    let mut state = 7u64;
    let mut letter = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        char::from(b' ' + (state >> 58) as u8)
    };
    (0..n_bytes).map(|_| letter()).collect()
}

#[test]
fn a_topic_made_again_is_noticed() {
    let ground = ground();
    let topics = &ground.settings.topics;
    let bus = ground.prepared();
    let feed = |n: usize| {
        let records = (0..n).map(|n| outgoing(&topics.pages, 0, "", &n.to_string())).collect();
        bus.feeder().unwrap().append(records).unwrap();
    };
    feed(100);
    let mut reader = bus.reader(&beginning(&*bus, &topics.pages)).unwrap();
    next(&mut *reader, 100);
    administered(&ground, async |admin| admin.delete_topics(&[&*topics.pages], &AdminOptions::new()).await.unwrap());
    let begun = Instant::now();
    while bus.n_partitions(&topics.pages).is_ok() {
        assert!(begun.elapsed() < PATIENCE, "the topic is still there");
    }
    ground.prepared();
    feed(10);
    let begun = Instant::now();
    let noticed = loop {
        assert!(begun.elapsed() < PATIENCE, "the reader goes on as if nothing had happened");
        match reader.poll(10, usize::MAX, super::GLANCE) {
            Ok(records) => assert_eq!(records, []),
            Err(error) => break error,
        }
    };
    assert!(matches!(noticed, BusError::Gone { wanted: 100, .. } | BusError::NoTopic { .. }), "{noticed}");
    let partition = Partition::new(&*topics.pages, 0);
    match refusal(&*ground.open(), &Positions([(partition, 100)].into())) {
        BusError::Gone { wanted: 100, end: 10, .. } => {}
        other => panic!("{other}"),
    }
}

/// A mock with the topics of a ground.
fn mock() -> (MockCluster<'static, rdkafka::producer::DefaultProducerContext>, Ground) {
    let mock = MockCluster::new(1).unwrap();
    let mut ground = ground_at(&mock.bootstrap_servers());
    ground.settings.topics.create = false;
    let TopicSettings { pages, emails, labels, verdicts, clusters, dead_letters, journal, signed, .. } =
        &ground.settings.topics;
    for topic in [pages, emails, labels, verdicts, clusters, dead_letters, signed] {
        mock.create_topic(topic, 4, 1).unwrap();
    }
    mock.create_topic(journal, 1, 1).unwrap();
    (mock, ground)
}

/// Errors that pass are waited out inside: the same call again, nothing sent again.
#[test]
fn injected_troubles_are_waited_out() {
    let (mock, ground) = mock();
    let (bus, topics) = (ground.prepared(), &ground.settings.topics);
    let mut seat = bus.seat().unwrap();
    take(&mut [&mut seat]);
    use RDKafkaRespErr::*;
    for (n, (api, errors)) in [
        (RDKafkaApiKey::EndTxn, vec![RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS; 2]),
        (RDKafkaApiKey::EndTxn, vec![RD_KAFKA_RESP_ERR__TRANSPORT]),
        (RDKafkaApiKey::AddPartitionsToTxn, vec![RD_KAFKA_RESP_ERR_CONCURRENT_TRANSACTIONS; 3]),
        (RDKafkaApiKey::Produce, vec![RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION]),
    ]
    .into_iter()
    .enumerate()
    {
        mock.request_errors(api, &errors);
        let journal = outgoing(&topics.journal, 0, "store", &n.to_string());
        seat.publish(&[outgoing(&topics.verdicts, 0, "", &n.to_string())], &journal, &Positions::default()).unwrap();
    }
    assert_eq!(all(&*bus, &topics.journal, 4).iter().map(text).collect::<Vec<_>>(), ["0", "1", "2", "3"]);
    assert_eq!(all(&*bus, &topics.verdicts, 4).iter().map(text).collect::<Vec<_>>(), ["0", "1", "2", "3"]);
}

/// A transaction that must be undone is sent again. (The mock shows what was undone; that a real broker hides it is in
/// `a_record_over_the_limit_of_the_broker_is_named`.)
#[test]
fn injected_aborts_are_sent_again() {
    let (mock, ground) = mock();
    let (bus, topics) = (ground.prepared(), &ground.settings.topics);
    let mut seat = bus.seat().unwrap();
    take(&mut [&mut seat]);
    mock.request_errors(
        RDKafkaApiKey::AddPartitionsToTxn,
        &[RDKafkaRespErr::RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED],
    );
    let journal = outgoing(&topics.journal, 0, "store", "entry");
    let offset =
        seat.publish(&[outgoing(&topics.verdicts, 0, "", "verdict")], &journal, &Positions::default()).unwrap();
    let last = all(&*bus, &topics.journal, 1).pop().unwrap();
    assert_eq!((last.offset, text(&last)), (offset, "entry".into()));
}

/// The commit fails for good, and nobody says whether it was done: the journal knows, and nothing is sent twice.
#[test]
fn a_commit_of_unknown_outcome_is_looked_up() {
    use RDKafkaRespErr::*;
    for error in [RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED, RD_KAFKA_RESP_ERR_PRODUCER_FENCED] {
        let (mock, ground) = mock();
        let (bus, topics) = (ground.prepared(), &ground.settings.topics);
        let mut seat = bus.seat().unwrap();
        take(&mut [&mut seat]);
        mock.request_errors(RDKafkaApiKey::EndTxn, &[error]);
        let journal = |n: usize| outgoing(&topics.journal, 0, "store", &n.to_string());
        let verdict = outgoing(&topics.verdicts, 0, "", "verdict");
        // The mock has kept the record, as a broker that committed and could not say so would.
        assert_eq!(seat.publish(&[verdict], &journal(0), &Positions::default()).unwrap(), 0);
        assert_eq!(all(&*bus, &topics.journal, 1).len(), 1);
        assert_eq!(all(&*bus, &topics.verdicts, 1).len(), 1);
        match (error, seat.publish(&[], &journal(1), &Positions::default())) {
            (RD_KAFKA_RESP_ERR_PRODUCER_FENCED, Err(BusError::Fenced)) => {}
            (RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED, Ok(1)) => {}
            (error, other) => panic!("after {error:?}: {other:?}"),
        }
    }
}
