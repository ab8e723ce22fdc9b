//! Who asks: one thread, connections that are kept, requests that were made before.

use crate::corpora::Corpus;
use crate::server::Server;
use std::cell::{Cell, RefCell};
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::LocalSet;
use tokio::time::{Instant, sleep_until};

/// Connections of a steady load: more than are ever busy where p99 is as it should be.
const N_CONNECTIONS: usize = 256;
/// The longest answer that is understood.
const ANSWER_BYTES_MAX: usize = 1 << 20;

/// Documents to ask about, over and over, each time under another id.
pub(crate) struct Checks {
    address: SocketAddr,
    token: String,
    is_mail: bool,
    documents: Rc<[Vec<u8>]>,
    /// Those that were asked about.
    n: usize,
}

/// What came of some checks.
pub(crate) struct Answers {
    pub(crate) n: usize,
    /// Answered with a verdict.
    pub(crate) n_good: usize,
    /// How long each took.
    pub(crate) took: Vec<Duration>,
    pub(crate) elapsed: Duration,
}

/// What all connections share.
struct Shared {
    checks: Checks,
    learn: bool,
    next: Cell<usize>,
    n_all: usize,
    n_good: Cell<usize>,
    took: RefCell<Vec<Duration>>,
}

impl Checks {
    pub(crate) fn new(corpus: &Corpus, server: &Server) -> Self {
        let documents = corpus.records.iter().map(|record| record.body.clone()).collect();
        Self { address: server.address, token: server.token.clone(), is_mail: corpus.is_mail(), documents, n: 0 }
    }

    /// `rate` checks a second for as long as `lasts`, at their times whether or not earlier ones are answered.
    pub(crate) fn steadily(&mut self, learn: bool, rate: usize, lasts: Duration) -> Answers {
        let n_all = (rate as f64 * lasts.as_secs_f64()) as usize;
        self.run(learn, n_all, N_CONNECTIONS, move |number| Some(Duration::from_secs_f64(number as f64 / rate as f64)))
    }

    /// `n` checks at once on as many connections, `n_rounds` times: each as soon as the one before is answered.
    pub(crate) fn at_once(&mut self, learn: bool, n: usize, n_rounds: usize) -> Answers {
        self.run(learn, n * n_rounds, n, |_| None)
    }

    fn run(
        &mut self,
        learn: bool,
        n_all: usize,
        n_connections: usize,
        due: impl Fn(usize) -> Option<Duration> + Copy + 'static,
    ) -> Answers {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a thread is there");
        let checks =
            Self { address: self.address, token: self.token.clone(), documents: self.documents.clone(), ..*self };
        self.n += n_all;
        let took = RefCell::new(Vec::with_capacity(n_all));
        let shared = Rc::new(Shared { checks, learn, next: Cell::new(0), n_all, n_good: Cell::new(0), took });
        let elapsed = LocalSet::new().block_on(&runtime, async {
            let mut streams = Vec::with_capacity(n_connections);
            for _ in 0..n_connections {
                let stream = TcpStream::connect(shared.checks.address).await.expect("it listens");
                stream.set_nodelay(true).expect("it is a socket");
                streams.push(stream);
            }
            let begun = Instant::now();
            let askers = streams.into_iter().map(|stream| {
                let shared = shared.clone();
                tokio::task::spawn_local(async move { shared.ask(stream, begun, due).await })
            });
            for asker in askers.collect::<Vec<_>>() {
                asker.await.expect("it does not panic");
            }
            begun.elapsed()
        });
        Answers { n: n_all, n_good: shared.n_good.get(), took: shared.took.take(), elapsed }
    }
}

impl Shared {
    /// Asks, over one connection, until all were asked.
    async fn ask(&self, mut stream: TcpStream, begun: Instant, due: impl Fn(usize) -> Option<Duration>) {
        let mut buffer = vec![0; 64 << 10];
        while self.next.get() < self.n_all {
            let number = self.next.replace(self.next.get() + 1);
            let due = due(number).map(|after| begun + after);
            if let Some(due) = due {
                sleep_until(due).await;
            }
            let asked = due.unwrap_or_else(Instant::now);
            match self.answered(&mut stream, number, &mut buffer).await {
                Ok(is_good) => self.n_good.set(self.n_good.get() + usize::from(is_good)),
                Err(_) => stream = TcpStream::connect(self.checks.address).await.expect("it listens"),
            }
            self.took.borrow_mut().push(asked.elapsed());
        }
    }

    /// Whether a check was answered with a verdict.
    async fn answered(&self, stream: &mut TcpStream, number: usize, buffer: &mut Vec<u8>) -> io::Result<bool> {
        let Checks { token, is_mail, documents, n, .. } = &self.checks;
        let (number, learn) = (n + number, self.learn);
        let document = &documents[number % documents.len()];
        let (kind, media) = if *is_mail { ("email", "message/rfc822") } else { ("page", "text/html") };
        let head = format!(
            "POST /v1/check?kind={kind}&learn={learn} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n\
             content-type: {media}\r\nid: check-{number}\r\ncontent-length: {}\r\n\r\n",
            document.len()
        );
        let mut request = Vec::with_capacity(head.len() + document.len());
        request.extend_from_slice(head.as_bytes());
        request.extend_from_slice(document);
        stream.write_all(&request).await?;
        let mut n_read = 0;
        loop {
            if n_read == buffer.len() {
                assert!(buffer.len() < ANSWER_BYTES_MAX, "an answer of more than {ANSWER_BYTES_MAX} bytes");
                buffer.resize(2 * buffer.len(), 0);
            }
            match stream.read(&mut buffer[n_read..]).await? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                n => n_read += n,
            }
            if let Some(n_head) = whole(&buffer[..n_read]) {
                let is_verdict = buffer[n_head..n_read].windows(11).take(64).any(|bytes| bytes == b"\"verdict\":{");
                return Ok(buffer.starts_with(b"HTTP/1.1 200") && is_verdict);
            }
        }
    }
}

/// Where the body of an answer begins, once all of it is there.
fn whole(bytes: &[u8]) -> Option<usize> {
    let n_head = bytes.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let head = std::str::from_utf8(&bytes[..n_head]).expect("heads are text");
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).expect("answers have a length");
    (bytes.len() >= n_head + length.trim().parse::<usize>().expect("a length is a number")).then_some(n_head)
}
