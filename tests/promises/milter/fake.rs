//! A server that answers `POST /v1/check` as the test wants it: slowly, wrongly, or not at all.
//!
//! What a real run answers is told in the stories beside; this one is for what a run does not do.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    /// The method, path and query.
    pub(crate) line: String,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| &**value)
    }
}

/// What is done with a request.
#[derive(Clone, Debug)]
pub(crate) enum Reaction {
    /// A status and a body.
    Answer(u16, String),
    /// The same, after a while.
    Later(Duration, u16, String),
    /// Bytes as they are, and the end.
    Bytes(Vec<u8>),
    /// Nothing, for as long as the other side waits.
    Silence,
}

type React = dyn Fn(&Asked) -> Reaction + Send + Sync;

/// A server that does not do much.
pub(crate) struct Fake {
    pub(crate) address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
    react: Arc<Mutex<Arc<React>>>,
}

impl Fake {
    pub(crate) fn start(react: impl Fn(&Asked) -> Reaction + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (asked, react) = (Arc::default(), Arc::new(Mutex::new(Arc::new(react) as Arc<React>)));
        let fake = Self { address, asked, react };
        let (asked, react) = (fake.asked.clone(), fake.react.clone());
        // It goes with the process.
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (asked, react) = (asked.clone(), react.clone());
                std::thread::spawn(move || serve(stream.unwrap(), &asked, &react));
            }
        });
        fake
    }

    /// Another way from now on.
    pub(crate) fn change(&self, react: impl Fn(&Asked) -> Reaction + Send + Sync + 'static) {
        *self.react.lock().unwrap() = Arc::new(react);
    }

    /// All that was asked.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

fn serve(mut stream: TcpStream, all: &Mutex<Vec<Asked>>, react: &Mutex<Arc<React>>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    while let Some(asked) = request(&mut reader) {
        all.lock().unwrap().push(asked.clone());
        let react = react.lock().unwrap().clone();
        let written = match react(&asked) {
            Reaction::Answer(status, body) => answer(&mut stream, status, &body),
            Reaction::Later(after, status, body) => {
                std::thread::sleep(after);
                answer(&mut stream, status, &body)
            }
            Reaction::Bytes(bytes) => {
                // The other side may have gone.
                let _gone = stream.write_all(&bytes);
                return;
            }
            Reaction::Silence => {
                let _gone = reader.fill_buf();
                return;
            }
        };
        if written.is_err() {
            return;
        }
    }
}

fn answer(stream: &mut TcpStream, status: u16, body: &str) -> std::io::Result<()> {
    write!(
        stream,
        "HTTP/1.1 {status} x\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// The next request; `None` when there is none.
fn request(reader: &mut BufReader<TcpStream>) -> Option<Asked> {
    let mut asked = Asked::default();
    reader.read_line(&mut asked.line).ok().filter(|n| *n > 0)?;
    asked.line = asked.line.trim_end().to_owned();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|n| *n > 0)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        asked.headers.push((name.to_lowercase(), value.trim().to_owned()));
    }
    let length = asked.header("content-length").map_or(0, |length| length.parse().unwrap());
    asked.body = vec![0; length];
    reader.read_exact(&mut asked.body).ok()?;
    Some(asked)
}

/// The answer of a run in this mode on a mail, with these labels: a copy of an earlier one.
pub(crate) fn checked(mode: &str, labels: &[&str]) -> String {
    let labels: Vec<_> =
        labels.iter().map(|label| serde_json::json!({"label": label, "via": "mirror", "of": "head-1"})).collect();
    serde_json::json!({
        "verdict": {
            "schema": 1, "id": "mail-1", "kind": "email", "domain": "a.example",
            "source": {"topic": "emails", "partition": 0, "offset": 7}, "revision": 0, "outcome": "judged",
            "truncated": false, "classes": ["mirror"], "labels": labels,
            "mirror": {
                "of": "head-1", "canonical": "head-1", "resemblance": 0.97, "overlap": 0.9, "containment": 0.9,
                "direction": "equal", "relation": "copy", "signals": ["minhash"], "view": "shown", "size": 17, "domains": 5
            }
        },
        "learned": true, "provisional": true, "mode": mode,
        "position": {"topic": "emails", "partition": 0, "offset": 7}
    })
    .to_string()
}
