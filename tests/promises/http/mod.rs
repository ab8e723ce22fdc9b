//! The HTTP side of a run: who may ask, what is answered, and that nobody can take it away from others.
//!
//! The tests talk to real processes on ports that the system has chosen.

mod access;
mod check;
mod contract;
mod directory;
mod documents;
mod events;
mod explain;
mod health;
mod labels;
mod limits;
mod snapshot;
mod stats;
mod texts;
mod verdicts;

use crate::bus::{Ground, embedded};
use crate::run::{Process, hasty};
use seamripper::config::Settings;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};

/// The schemas of what is answered.
pub(crate) const ANSWERS: [&str; 16] = [
    "accepted",
    "check",
    "clusters",
    "document",
    "explanation",
    "labelled",
    "labels",
    "line",
    "liveness",
    "members",
    "problem",
    "prototype",
    "readiness",
    "stats",
    "text",
    "verdicts",
];

/// What has not happened by then does not happen.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A run with its HTTP side.
pub(crate) struct Served {
    pub(crate) process: Process,
    pub(crate) address: SocketAddr,
    pub(crate) token: String,
    pub(crate) ground: Ground,
}

/// What was answered.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: ureq::http::HeaderMap,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    /// A problem with what to do about it, in its own media type.
    pub(crate) fn problem(&self, status: u16, reason: &str) {
        let json = self.json();
        assert_eq!((self.status, json["reason"].as_str()), (status, Some(reason)), "{json}");
        assert_eq!(self.headers["content-type"], "application/problem+json");
        crate::schemas::Schema::named("problem").check("a problem", &json);
    }
}

/// A ground on the embedded bus for a run with an HTTP side.
pub(crate) fn ground(change: impl FnOnce(&mut Settings)) -> Ground {
    let mut ground = embedded::ground();
    ground.settings.bus.lease_ms = 1000;
    with_http(ground, change)
}

/// The same on Kafka.
pub(crate) fn ground_on_kafka() -> Ground {
    with_http(crate::kafka::ground(), |_| ())
}

fn with_http(ground: Ground, change: impl FnOnce(&mut Settings)) -> Ground {
    let mut ground = hasty(ground);
    ground.settings.http.enabled = true;
    ground.settings.http.listen = "127.0.0.1:0".parse().unwrap();
    change(&mut ground.settings);
    ground
}

/// A run that has taken the seat.
pub(crate) fn served(change: impl FnOnce(&mut Settings)) -> Served {
    let served = Served::start(ground(change));
    served.process.says("seat taken");
    served
}

impl Served {
    /// Starts a run, and waits until it listens.
    pub(crate) fn start(ground: Ground) -> Self {
        let process = Process::start(&ground, &["run"], None);
        let address = listening(&process);
        let token = std::fs::read_to_string(ground.settings.bus.folder.join("http-token")).unwrap();
        Self { process, address, token: token.trim().to_owned(), ground }
    }

    /// Another one, after this one has gone.
    pub(crate) fn restarted(self) -> Self {
        let Self { process, ground, .. } = self;
        drop(process);
        let served = Self::start(ground);
        served.process.says("seat taken");
        served
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Asks without a token.
    pub(crate) fn get(&self, path: &str) -> Answer {
        answer(agent().get(self.url(path)).call())
    }

    pub(crate) fn get_with(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        let request =
            headers.iter().fold(agent().get(self.url(path)), |request, (name, value)| request.header(*name, *value));
        answer(request.call())
    }

    /// Sends with the token.
    pub(crate) fn post(&self, path: &str, media: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let request = agent().post(self.url(path)).header("authorization", self.bearer()).content_type(media);
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        answer(request.send(body))
    }

    /// Takes something back, with the token.
    pub(crate) fn delete(&self, path: &str, body: &str) -> Answer {
        let request = agent().delete(self.url(path)).header("authorization", self.bearer());
        answer(request.force_send_body().content_type("application/json").send(body.as_bytes()))
    }

    pub(crate) fn bearer(&self) -> String {
        format!("Bearer {}", self.token)
    }

    /// The lines of a stream that ends.
    pub(crate) fn lines(&self, query: &str) -> Vec<Value> {
        let answer = self.get(&format!("/v1/verdicts?{query}"));
        assert_eq!((answer.status, &answer.headers["content-type"]), (200, &"application/x-ndjson".parse().unwrap()));
        answer.body.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The verdicts of a stream that ends, without the lines that are only cursors.
    pub(crate) fn verdicts(&self, query: &str) -> Vec<Value> {
        self.lines(query).into_iter().filter(|line| !line["id"].is_null()).collect()
    }

    /// The first `n` verdicts that there are, when they are there.
    pub(crate) fn first(&self, n: usize) -> Vec<Value> {
        let verdicts = self.verdicts(&format!("from=beginning&limit={n}&wait=30"));
        assert_eq!(verdicts.len(), n, "{}", self.process.log());
        verdicts
    }

    /// What is answered, which must be good and have this shape.
    pub(crate) fn good(&self, path: &str, schema: &str) -> Value {
        let answer = self.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        let json = answer.json();
        crate::schemas::Schema::named(schema).check(path, &json);
        json
    }

    /// Asks until it is so.
    pub(crate) fn until(&self, path: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        let begun = Instant::now();
        loop {
            let answer = self.get(path);
            if answer.status == 200 && is_so(&answer.json()) {
                return answer.json();
            }
            assert!(begun.elapsed() < PATIENCE, "{path}: {}\n{}", answer.body, self.process.log());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Sends the pages of the bundled corpus, and waits until all is said that is to be said of them.
    pub(crate) fn with_corpus(self) -> Self {
        let pages = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("demo/corpus/pages.jsonl")).unwrap();
        assert_eq!(self.post("/v1/pages", "application/x-ndjson", &[], &pages).status, 200);
        let n_pages = pages.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count();
        self.until("/v1/stats", |stats| stats["total"]["documents"] == n_pages);
        // What waits to be looked at again is, when there is nothing else to do.
        let said = || self.get("/v1/stats").json()["total"]["revisions"].clone();
        let mut last = said();
        loop {
            std::thread::sleep(Duration::from_millis(700));
            if last == said() {
                return self;
            }
            last = said();
        }
    }

    /// Sends bytes as they are; all that comes back before the connection ends.
    pub(crate) fn raw(&self, bytes: &[u8]) -> String {
        let mut stream = self.connected();
        // It may be closed before all is sent.
        let _closed = stream.write_all(bytes);
        received(&mut stream)
    }

    pub(crate) fn connected(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Waits until `/metrics` has this line.
    pub(crate) fn counts(&self, line: &str) {
        let begun = Instant::now();
        loop {
            let text = self.get("/metrics").body;
            if text.lines().any(|found| found == line) {
                return;
            }
            assert!(begun.elapsed() < PATIENCE, "no {line:?} in\n{text}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

/// All that comes before the connection ends.
pub(crate) fn received(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    // What came before it was reset is what came.
    let _reset = stream.read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Where a run says that it listens.
pub(crate) fn listening(process: &Process) -> SocketAddr {
    let begun = Instant::now();
    loop {
        let log = process.log();
        assert!(!log.starts_with("error"), "{log}");
        let address = log.split("http listening address=").nth(1).and_then(|rest| rest.split_once('\n'));
        if let Some((address, _)) = address {
            return address.trim().parse().unwrap();
        }
        assert!(begun.elapsed() < PATIENCE, "{log}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn agent() -> ureq::Agent {
    let config = ureq::Agent::config_builder().http_status_as_error(false).timeout_global(Some(PATIENCE));
    config.build().into()
}

fn answer(outcome: Result<ureq::http::Response<ureq::Body>, ureq::Error>) -> Answer {
    let mut response = outcome.unwrap();
    let body = response.body_mut().read_to_string().unwrap();
    Answer { status: response.status().as_u16(), headers: response.headers().clone(), body }
}

/// An id as a part of a path: every byte that could mean something else is encoded.
pub(crate) fn encoded(id: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric();
    id.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

/// A page of its own words.
pub(crate) fn page(number: usize) -> String {
    const SYLLABLES: [&str; 16] =
        ["ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "ri", "so", "tu", "va"];
    let word = |n: usize| (0..5).map(|place| SYLLABLES[n >> (4 * place) & 15]).collect::<String>();
    let words: Vec<String> = (0..60).map(|n| word((number * 60 + n) * 7919)).collect();
    format!("<html><head><title>Page</title></head><body><p>{}.</p></body></html>", words.join(" "))
}

/// Its envelope.
pub(crate) fn envelope(number: usize) -> String {
    let url = format!("https://site{number}.example/{number}");
    serde_json::json!({"url": url, "html": page(number)}).to_string()
}

/// The schemas of what is answered accept their examples, and not each other's.
#[test]
fn the_examples_of_answers_are_valid() {
    for name in ANSWERS {
        let schema = crate::schemas::Schema::named(name);
        for other in ANSWERS {
            let examples = crate::schemas::examples(other);
            assert!(!examples.is_empty(), "{other} has no example");
            for (example, value) in examples {
                assert_eq!(schema.accepts(&value), other == name, "{example} by {name}");
            }
        }
    }
}
