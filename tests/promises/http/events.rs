//! Verdicts as server-sent events.

use super::{PATIENCE, Served, envelope, served};
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Instant;

/// An event as a browser reads it.
#[derive(Debug, Default, PartialEq)]
struct Heard {
    id: String,
    event: String,
    data: String,
}

/// Listens, as a browser does.
struct Ear {
    reader: BufReader<TcpStream>,
    last: String,
}

impl Ear {
    fn open(served: &Served, query: &str, last: Option<&str>) -> Self {
        let mut stream = served.connected();
        let last = last.map(|last| format!("last-event-id: {last}\r\n")).unwrap_or_default();
        stream
            .write_all(format!("GET /v1/events{query} HTTP/1.0\r\nhost: localhost\r\n{last}\r\n").as_bytes())
            .unwrap();
        let mut ear = Self { reader: BufReader::new(stream), last: String::new() };
        assert!(ear.line().starts_with("HTTP/1.0 200") || ear.line().starts_with("HTTP/1.1 200"));
        while !ear.line().is_empty() {}
        ear
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        assert!(self.reader.read_line(&mut line).unwrap() > 0, "the stream has ended");
        line.trim_end().to_owned()
    }

    /// The next event that has data; events without move the place and nothing else.
    fn next(&mut self) -> Heard {
        let begun = Instant::now();
        let mut heard = Heard::default();
        loop {
            assert!(begun.elapsed() < PATIENCE);
            let line = self.line();
            match line.split_once(": ") {
                Some(("id", id)) => id.clone_into(&mut self.last),
                Some(("event", event)) => event.clone_into(&mut heard.event),
                Some(("data", data)) => heard.data += data,
                _ if line.starts_with(':') => {}
                _ if line.is_empty() && heard.data.is_empty() => heard = Heard::default(),
                _ if line.is_empty() => return Heard { id: self.last.clone(), ..heard },
                _ => panic!("{line}"),
            }
        }
    }

    fn verdict(&mut self) -> Value {
        let Heard { event, data, .. } = self.next();
        assert_eq!(event, "verdict");
        let verdict = serde_json::from_str(&data).unwrap();
        crate::schemas::Schema::named("verdict").check("an event", &verdict);
        verdict
    }
}

fn posted(served: &Served, numbers: std::ops::Range<usize>) {
    let lines: String = numbers.map(|number| envelope(number) + "\n").collect();
    assert_eq!(served.post("/v1/pages", "application/x-ndjson", &[], lines.as_bytes()).status, 200);
}

#[test]
fn a_browser_that_was_cut_off_misses_nothing() {
    let served = served(|settings| settings.http.streams_max = 2);
    let mut ear = Ear::open(&served, "", None);
    posted(&served, 0..30);
    let mut seen: Vec<String> = (0..30).map(|_| ear.verdict()["id"].as_str().unwrap().to_owned()).collect();
    // Cut off in the middle of what follows.
    posted(&served, 30..60);
    (0..7).for_each(|_| seen.push(ear.verdict()["id"].as_str().unwrap().to_owned()));
    let last = ear.last.clone();
    drop(ear);
    posted(&served, 60..70);
    let mut ear = Ear::open(&served, "?from=beginning", Some(&last));
    while seen.len() < 70 {
        seen.push(ear.verdict()["id"].as_str().unwrap().to_owned());
    }
    let all: std::collections::BTreeSet<&String> = seen.iter().collect();
    assert_eq!(all.len(), 70, "each once");
    // With nothing wanted, the place moves on all the same.
    let mut none = Ear::open(&served, "?class=quilt&from=beginning", None);
    let begun = Instant::now();
    while none.last.is_empty() {
        let line = none.line();
        if let Some(id) = line.strip_prefix("id: ") {
            id.clone_into(&mut none.last);
        }
        assert!(begun.elapsed() < PATIENCE);
    }
    served.get("/v1/events").problem(503, "streams");
    drop((ear, none));
    served.counts("seamripper_http_verdict_streams 0");
    served.get_with("/v1/events", &[("last-event-id", "nonsense")]).problem(400, "cursor");
    served.get("/v1/events?limit=3").problem(400, "query");
}
