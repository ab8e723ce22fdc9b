//! The stream of verdicts.

use super::{PATIENCE, envelope, ground, served};
use crate::schemas::Schema;
use seamripper::bus::Outgoing;
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::time::{Duration, Instant};

/// Documents as lines of envelopes.
fn lines(numbers: impl Iterator<Item = usize>) -> Vec<u8> {
    numbers.map(|number| envelope(number) + "\n").collect::<String>().into_bytes()
}

fn key(verdict: &Value) -> String {
    format!("{} {}", verdict["source"], verdict["revision"])
}

#[test]
fn a_stream_goes_on_where_it_stopped() {
    let served = served(|_| ());
    let n = 120;
    assert_eq!(served.post("/v1/pages", "application/x-ndjson", &[], &lines(0..n)).status, 200);
    let all = served.first(n);
    let (schema, line) = (Schema::named("verdict"), Schema::named("line"));
    for verdict in &all {
        line.check("a line", verdict);
        let mut verdict = verdict.clone();
        verdict.as_object_mut().unwrap().remove("cursor");
        schema.check("a verdict", &verdict);
    }
    let partitions: BTreeSet<_> = all.iter().map(|verdict| verdict["source"]["partition"].as_i64()).collect();
    assert!(partitions.len() > 1, "several partitions take part");
    // From any cursor the rest follows, with nothing missing and nothing twice.
    for cut in [1, 7, 60, n - 1, n] {
        let cursor = all[cut - 1]["cursor"].as_str().unwrap();
        let rest = served.verdicts(&format!("from={cursor}&wait=0.3"));
        let seen: BTreeSet<String> = all[..cut].iter().chain(&rest).map(key).collect();
        assert_eq!((rest.len(), seen.len()), (n - cut, n), "cut at {cut}");
    }
    // In small bites, each from the last cursor of the one before, while more comes in.
    let (mut cursor, mut seen) = ("beginning".to_owned(), Vec::new());
    served.post("/v1/pages", "application/x-ndjson", &[], &lines(n..n + 50));
    while seen.len() < n + 50 {
        let bite = served.verdicts(&format!("from={cursor}&limit=13&wait=10"));
        cursor = bite.last().unwrap()["cursor"].as_str().unwrap().to_owned();
        seen.extend(bite.iter().map(key));
    }
    assert_eq!((seen.len(), seen.iter().collect::<BTreeSet<_>>().len()), (n + 50, n + 50));
    // A line that is only a cursor ends a stream that was asked to wait, and one can go on from it too.
    let last = served.lines(&format!("from={cursor}&wait=0")).pop().unwrap();
    assert!(last["id"].is_null() && last["cursor"].is_string(), "{last}");
    // After a restart the cursors still hold.
    let served = served.restarted();
    let rest = served.verdicts(&format!("from={}&wait=0.3", all[n - 1]["cursor"].as_str().unwrap()));
    assert_eq!(rest.len(), 50);
}

#[test]
fn verdicts_come_as_they_are_judged_and_classes_are_chosen() {
    let served = served(|_| ());
    let mut stream = served.connected();
    stream.write_all(b"GET /v1/verdicts?from=end&class=mirror,rejected HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
    let mut reader = BufReader::new(stream);
    let begun = Instant::now();
    let mut next = move |what: &str| loop {
        let mut line = String::new();
        assert!(begun.elapsed() < PATIENCE, "{what} does not come");
        assert!(reader.read_line(&mut line).unwrap() > 0, "the stream has ended");
        if line.contains(what) {
            return line;
        }
    };
    // The client is told at once where it is.
    assert!(next("cursor").contains("{\"cursor\":"));
    served.post("/v1/pages", "text/html", &[("url", "https://a.example/")], super::page(1).as_bytes());
    served.first(1);
    served.post("/v1/pages", "text/html", &[("url", "https://b.example/")], super::page(1).as_bytes());
    served.post("/v1/emails", "message/rfc822", &[("id", "broken")], b"\xff\xff");
    // They are of two topics, and either may be judged first.
    let lines = [next("\"id\":"), next("\"id\":")];
    let of = |id: &str| lines.iter().find(|line| line.contains(id)).unwrap_or_else(|| panic!("no {id}: {lines:?}"));
    let (mirror, rejected) = (of("https://b.example/"), of("broken"));
    assert!(mirror.contains("\"of\":\"https://a.example/\"") && rejected.contains("not_a_mail"), "{mirror}{rejected}");
    assert_eq!(served.verdicts("from=beginning&class=original&wait=0.2").len(), 1);
    assert_eq!(served.verdicts("from=beginning&class=mirror&class=original&wait=0.2").len(), 2);
    assert_eq!(served.verdicts("from=end&wait=0.2").len(), 0);
}

#[test]
fn what_is_no_cursor_is_told() {
    let served = served(|settings| settings.http.streams_max = 2);
    served.get("/v1/verdicts?from=nonsense").problem(400, "cursor");
    served.get("/v1/verdicts?class=quilts").problem(400, "query");
    served.get("/v1/verdicts?since=yesterday").problem(400, "query");
    // One that is beyond the end is of another bus.
    let mut positions = seamripper::bus::Positions::default();
    positions.0.insert(seamripper::bus::Partition::new("verdicts", 1), 1000);
    let beyond = seamripper::bus::cursor::written("verdicts", &positions);
    served.get(&format!("/v1/verdicts?from={beyond}")).problem(410, "gone");
    let open: Vec<_> = (0..2)
        .map(|_| {
            let mut stream = served.connected();
            stream.write_all(b"GET /v1/verdicts?from=end HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
            stream
        })
        .collect();
    served.counts("seamripper_http_verdict_streams 2");
    let turned_away = served.get("/v1/verdicts?from=end");
    turned_away.problem(503, "streams");
    assert!(turned_away.headers.contains_key("retry-after"));
    drop(open);
    served.counts("seamripper_http_verdict_streams 0");
    assert_eq!(served.get("/v1/verdicts?from=end&wait=0").status, 200);
}

/// Who asks for much and reads nothing is left after a while, and holds nothing until then but a few pieces.
#[test]
fn a_reader_who_does_not_read_is_left() {
    let ground = ground(|settings| settings.http.timeout_ms = 1500);
    let bus = ground.prepared();
    // 48 MB: more than the kernel takes for us.
    let mut feeder = bus.feeder().unwrap();
    for _ in 0..12 {
        let verdict = |_| Outgoing {
            value: Some(format!("{{\"x\":\"{}\"}}", "y".repeat(100_000)).into()),
            ..Outgoing::to("verdicts")
        };
        feeder.append((0..40).map(verdict).collect()).unwrap();
    }
    let served = super::Served::start(ground);
    let memory = || resident(served.process.id());
    let before = memory();
    let mut streams: Vec<_> = (0..8).map(|_| served.connected()).collect();
    for (stream, resource) in streams.iter_mut().zip(["verdicts", "events"].into_iter().cycle()) {
        let request = format!("GET /v1/{resource}?from=beginning HTTP/1.1\r\nhost: localhost\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
    }
    served.counts("seamripper_http_verdict_streams 8");
    std::thread::sleep(Duration::from_millis(700));
    let grown = memory().saturating_sub(before);
    served.counts("seamripper_http_verdict_streams 0");
    println!("eight readers who do not read: {grown} kB");
    assert!(grown < 150_000, "{grown} kB for eight readers who do not read");
    assert_eq!(served.get("/healthz").status, 200);
}

/// Kilobytes in memory.
fn resident(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}
