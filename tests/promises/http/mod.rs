//! The HTTP side of a run: who may ask, what is answered, and that nobody can take it away from others.
//!
//! The tests talk to real processes on ports that the system has chosen.

mod access;
mod documents;
mod health;
mod labels;
mod limits;
mod snapshot;
mod verdicts;

use crate::bus::{Ground, embedded};
use crate::run::{Process, hasty};
use seamripper::config::Settings;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

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
    let mut ground = hasty(embedded::ground());
    ground.settings.bus.lease_ms = 1000;
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
    let names = ["accepted", "labelled", "labels", "problem", "readiness", "line", "replay"];
    for name in names {
        let schema = crate::schemas::Schema::named(name);
        for other in names {
            let examples = crate::schemas::examples(other);
            assert!(!examples.is_empty(), "{other} has no example");
            for (example, value) in examples {
                assert_eq!(schema.accepts(&value), other == name, "{example} by {name}");
            }
        }
    }
}
