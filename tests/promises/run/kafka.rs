//! On Kafka, whose brokers stop, die and come back.

use super::{Process, Watch, audited, command, drain, hasty, inputs, judged, promises, scaled};
use crate::bus::Ground;
use crate::kafka::{Cluster, administered, ground_at};
use rdkafka::admin::AdminOptions;
use seamripper::bus::Bus;
use seamripper::config::Secret;
use std::time::{Duration, Instant};

fn ground() -> Ground {
    hasty(crate::kafka::ground())
}

promises!(ground);

/// A cluster of one's own is gone with its test.
struct Own(Cluster);

impl Drop for Own {
    fn drop(&mut self) {
        self.0.script(&["down"]);
    }
}

/// What the process holds, in bytes.
fn resident_bytes(process: &Process) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() << 10
}

/// Feeds `n` documents.
fn feed(bus: &dyn Bus, ground: &Ground, seed: u64, n: usize) {
    let mut feeder = bus.feeder().unwrap();
    for some in inputs(ground, seed, n).chunks(50) {
        feeder.append(some.to_vec()).unwrap();
    }
}

/// The broker is away for longer than a session, with work under way: it is waited for, and nothing is lost or repeated.
#[test]
fn a_broker_that_stops_is_waited_for() {
    let own = Own(Cluster::up("kafka-stopped", 1));
    let ground = hasty(own.0.ground());
    let (bus, n) = (ground.prepared(), scaled(300, 3000));
    let process = Process::start(&ground, &["run"], None);
    process.says("seat taken");
    feed(&*bus, &ground, 31, n);
    own.0.script(&["stop"]);
    let before = resident_bytes(&process);
    std::thread::sleep(Duration::from_secs(scaled(9, 30) as u64));
    own.0.script(&["start"]);
    let begun = Instant::now();
    feed(&*bus, &ground, 32, n);
    judged(&*bus, &ground, 2 * n);
    let after = resident_bytes(&process);
    println!(
        "a broker was away: all judged {:?} after it was back; resident {before} then {after} bytes",
        begun.elapsed()
    );
    assert!(after < before + (256 << 20), "{after} bytes, and {before} before");
    process.signal("TERM");
    let mut process = process;
    assert!(process.ended().success(), "{}", process.log());
    audited(&ground, 2 * n);
}

/// One of three brokers dies while documents come in, and comes back.
#[test]
fn one_of_three_brokers_may_die() {
    let own = Own(Cluster::up("kafka-three", 3));
    let mut ground = hasty(own.0.ground());
    ground.settings.topics.replication = 3;
    let (bus, n) = (ground.prepared(), scaled(300, 3000));
    let process = Process::start(&ground, &["run"], None);
    process.says("seat taken");
    feed(&*bus, &ground, 33, n);
    let begun = Instant::now();
    own.0.script(&["kill", "2"]);
    feed(&*bus, &ground, 34, n);
    Watch::new(&*bus, &ground).until(2 * n, Some(&process));
    println!("one of three brokers died: all judged {:?} later", begun.elapsed());
    own.0.script(&["start", "2"]);
    feed(&*bus, &ground, 35, n);
    Watch::new(&*bus, &ground).until(3 * n, Some(&process));
    process.signal("TERM");
    let mut process = process;
    assert!(process.ended().success(), "{}", process.log());
    audited(&ground, 3 * n);
}

/// A topic is deleted and made again between two runs, and has grown past where the first one was: that it is another is noticed by
/// its records.
#[test]
fn a_topic_made_again_is_noticed_by_its_records() {
    let ground = ground();
    let (bus, topics) = (ground.prepared(), &ground.settings.topics);
    feed(&*bus, &ground, 36, 60);
    drain(&ground);
    let begun = Instant::now();
    administered(&ground, async |admin| admin.delete_topics(&[&*topics.pages], &AdminOptions::new()).await.unwrap());
    while bus.n_partitions(&topics.pages).is_ok() {
        assert!(begun.elapsed() < super::patience(), "the topic is still there");
    }
    let bus = ground.prepared();
    feed(&*bus, &ground, 37, 300);
    let mut refused = Process::start(&ground, &["run", "--until-idle", "1"], None);
    assert_eq!(refused.ended().code(), Some(1), "{}", refused.log());
    let log = refused.log();
    assert!(log.contains("is another than the one that was read: the topic was deleted and made again"), "{log}");
    let mut accepted = Process::start(&ground, &["run", "--until-idle", "1.5", "--accept-loss"], None);
    assert!(accepted.ended().success(), "{}", accepted.log());
    assert!(accepted.log().contains("LOSS ACCEPTED"), "{}", accepted.log());
    // Verdicts on the first records of both topics have the same ids: those of their places.
    let published = super::records(&*bus, &topics.verdicts);
    let n = published.iter().filter(|record| record.header("verdict").unwrap().ends_with(b"/0")).count();
    assert_eq!(n, 360, "all of the new topic is judged, from its beginning");
}

#[test]
fn a_broker_that_is_not_there_yet_is_waited_for() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let ground = hasty(ground_at(&format!("127.0.0.1:{port}")));
    let mut process = Process::start(&ground, &["run"], None);
    process.says("waiting for the bus");
    let log = process.log();
    assert!(log.contains(&format!("kafka at 127.0.0.1:{port} cannot be reached")), "{log}");
    process.kill();
}

#[test]
fn a_missing_topic_is_named_and_ends_it() {
    let mut ground = ground();
    ground.prepared();
    ground.settings.topics.create = false;
    ground.settings.topics.labels += "-missing";
    let mut process = Process::start(&ground, &["run"], None);
    assert_eq!(process.ended().code(), Some(1));
    let (log, topic) = (process.log(), &ground.settings.topics.labels);
    assert!(log.contains(&format!("there is no topic `{topic}` (topics.create")), "{log}");
}

#[test]
fn wrong_settings_are_configuration() {
    let address = Cluster::shared().address("bootstrap.sasl_plaintext");
    let cases: [(&[(&str, &str)], &str); 3] = [
        (&[("no.such.property", "hunter2")], "kafka.properties.no.such.property"),
        (&[("sasl.password", "file:/no/such/file")], "/no/such/file"),
        (
            &[
                ("security.protocol", "SASL_PLAINTEXT"),
                ("sasl.mechanism", "PLAIN"),
                ("sasl.username", "alice"),
                ("sasl.password", "hunter2"),
            ],
            "refuses the credentials",
        ),
    ];
    for (properties, said) in cases {
        let mut ground = hasty(ground_at(&address));
        for (name, value) in properties {
            ground.settings.kafka.properties.insert((*name).to_owned(), Secret::new(*value));
        }
        let mut process = Process::start(&ground, &["run"], None);
        assert_eq!(process.ended().code(), Some(2), "{}", process.log());
        let log = process.log();
        assert!(log.contains(said) && !log.contains("hunter2"), "{log}");
    }
}

/// `ingest`, HTTP and `tail` know no bus in particular: here they talk to one with brokers.
#[test]
fn what_talks_to_a_run_works_here_too() {
    let mut ground = ground();
    ground.settings.http.enabled = true;
    ground.settings.http.listen = "127.0.0.1:0".parse().unwrap();
    let served = crate::http::Served::start(ground);
    served.process.says("seat taken");
    let (page, url) = (crate::http::page(1), "https://site1.example/1");
    let posted = served.post("/v1/pages", "text/html", &[("url", url)], page.as_bytes());
    assert_eq!(posted.status, 200, "{}", posted.body);
    let lines: String = (2..40).map(|number| crate::http::envelope(number) + "\n").collect();
    let posted = served.post("/v1/pages", "application/x-ndjson", &[], lines.as_bytes());
    assert_eq!(posted.status, 200, "{}", posted.body);
    let file = served.ground.folder.path().join("copies.jsonl");
    let copies = (1..11).map(|n| format!("{{\"url\": \"https://copy{n}.example/\", \"html\": {page:?}}}\n"));
    std::fs::write(&file, copies.collect::<String>()).unwrap();
    let ingested = command(&served.ground, &["ingest", "copies.jsonl"], None).output().unwrap();
    assert!(ingested.status.success(), "{}", String::from_utf8_lossy(&ingested.stderr));
    let bus = served.ground.open();
    judged(&*bus, &served.ground, 49);
    let streamed = served.verdicts("from=beginning&class=mirror&wait=3");
    assert_eq!(streamed.len(), 10, "{streamed:?}");
    assert!(streamed.iter().all(|verdict| verdict["mirror"]["of"] == url || verdict["mirror"]["size"].is_u64()));
    let tail = ["tail", "--json", "--class", "mirror", "--from", "beginning", "--until-idle", "3"];
    let tailed = command(&served.ground, &tail, None).output().unwrap();
    assert!(tailed.status.success(), "{}", String::from_utf8_lossy(&tailed.stderr));
    assert_eq!(tailed.stdout.iter().filter(|byte| **byte == b'\n').count(), 10);
    assert_eq!(served.get("/readyz").json()["state"], "judging");
    served.process.signal("TERM");
    let crate::http::Served { mut process, ground, .. } = served;
    assert!(process.ended().success(), "{}", process.log());
    audited(&ground, 49);
}
