//! The HTTP side of a run: documents in, verdicts out, what is known of them, and how it is.
//!
//! It knows the bus only as [`Bus`], and has a small runtime of its own, so that the pipeline does not notice it. What blocks has a
//! thread: one for all that is appended ([`feed`]), one for each stream of verdicts. [`router`] names the resources, each of which is a file;
//! [`access`] says who may ask for what, [`server`] keeps slow clients from holding up others; [`dashboard`] is what a browser shows of it.
//!
//! # Invariants
//! - Everything that clients can make us hold is bounded: connections, heads, bodies, what waits for the bus or the store, streams.
//!   (`tests/promises/http/limits.rs`)

mod access;
mod body;
mod channel;
mod check;
mod clusters;
mod dashboard;
mod document;
mod documents;
mod events;
mod explain;
mod exposition;
mod feed;
mod forget;
mod health;
mod id;
mod label_book;
mod labels;
mod openapi;
mod patience;
mod problem;
mod prototype;
mod query;
mod rate;
mod recent;
mod router;
mod server;
mod snapshot;
mod state;
mod stats;
mod stream;
mod texts;
mod token;
mod verdicts;

pub(crate) use exposition::{Exposition, upkeep};
pub(crate) use server::asked;
pub use state::{Phase, Role, State};

use crate::bus::{Bus, BusError};
use crate::config::Settings;
use crate::pipeline::directory;
use crate::pipeline::dispatch::Dispatch;
use crate::pipeline::run::fold::Fold;
use crate::pipeline::run::question::{Answer, Question};
use anyhow::Context;
use axum::http::StatusCode;
use metrics_exporter_prometheus::PrometheusHandle;
use problem::Problem;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use tokio::sync::{Semaphore, oneshot, watch};
use tracing::{info, warn};

/// Threads of the runtime. They parse envelopes and copy bytes; the rest waits.
const N_WORKERS: usize = 2;
/// Threads for short work that blocks, such as opening a reader.
const N_BLOCKING: usize = 8;

/// For so long threads are waited for that should have ended.
const FAREWELL: Duration = Duration::from_secs(1);

/// After a bus that failed, what was said before is asked for so much later.
const REFILL_PAUSE: Duration = Duration::from_secs(5);

/// A store that is busy is waited for so long.
const ANSWER_PATIENCE: Duration = Duration::from_secs(5);

/// What every resource needs.
struct App {
    settings: Arc<Settings>,
    bus: Arc<dyn Bus>,
    state: Arc<State>,
    access: access::Access,
    rate: rate::Rate,
    dispatch: Dispatch,
    feed: feed::Feed,
    room: body::Room,
    /// For checks that are not learnt.
    check_room: body::Room,
    streams: Arc<Semaphore>,
    downloads: Arc<Semaphore>,
    labels: label_book::Book,
    explanations: Arc<Semaphore>,
    texts: Arc<Semaphore>,
    metrics: PrometheusHandle,
    openapi: String,
    last_lag: stats::LastLag,
    /// Tells the lists of this process from those of others.
    token_of_lists: u32,
    stopping: AtomicBool,
}

impl App {
    /// Asks the store, which answers between two batches.
    async fn ask(&self, question: Question) -> Result<Answer, Problem> {
        let (role, phase) = (self.state.role(), self.state.phase());
        if !phase.is_ready() {
            let detail = format!("the store cannot be asked while this instance is {}", phase.name(role));
            return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "state", detail));
        }
        let (answer, answered) = oneshot::channel();
        let ask = move |fold: &Fold| {
            if !answer.is_closed() {
                // Who has gone meanwhile wants no answer.
                let _gone = answer.send(question.answer(fold));
            }
        };
        self.state.questions().put(ask).map_err(|full| Problem::busy("questions", full.to_string()))?;
        let late = |_| Problem::busy("timeout", "the store did not answer in time");
        tokio::time::timeout(ANSWER_PATIENCE, answered)
            .await
            .map_err(late)?
            .map_err(|_| Problem::busy("timeout", "the store was put aside before it could answer"))
    }

    /// Whether what was said of late is known here.
    fn holds_verdicts(&self) -> Result<(), Problem> {
        if self.state.role() == Role::Sign {
            let detail =
                "this instance signs for a store elsewhere, and knows no verdicts: ask one that judges, or stands by";
            return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "role", detail));
        }
        Ok(())
    }

    fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }
}

/// The HTTP side, running.
pub struct Http {
    address: SocketAddr,
    runtime: Runtime,
    app: Arc<App>,
    stop: watch::Sender<bool>,
    serving: tokio::task::JoinHandle<()>,
    feeding: JoinHandle<()>,
}

impl Http {
    /// Listens, and serves from now on.
    pub fn start(settings: Arc<Settings>, bus: Arc<dyn Bus>, state: Arc<State>) -> anyhow::Result<Self> {
        let http = &settings.http;
        let listener = listener(http.listen)?;
        let address = listener.local_addr()?;
        let timeout = Duration::from_millis(http.timeout_ms);
        let token = token::Token::open(&settings.bus.folder.join(&http.token_file))?;
        let is_loopback = address.ip().is_loopback();
        let (feed, feeding) = feed::Feed::start(bus.clone(), http.repeats_held_max)?;
        let metrics = crate::metrics::install();
        let app = Arc::new(App {
            access: access::Access { token, is_loopback },
            rate: rate::Rate::new(http.rate_per_s, http.rate_burst, http.rate_clients_max),
            dispatch: Dispatch::new(&settings),
            feed,
            room: body::Room::new(
                http.body_bytes_max,
                http.waiting_bytes_max,
                timeout,
                "too many documents wait to become durable (http.waiting_bytes_max)",
            ),
            check_room: body::Room::new(
                http.body_bytes_max,
                settings.check.queue_bytes_max,
                timeout,
                "too many documents wait to be checked (check.queue_bytes_max)",
            ),
            streams: Arc::new(Semaphore::new(http.streams_max)),
            downloads: Arc::new(Semaphore::new(snapshot::AT_ONCE_MAX)),
            labels: label_book::Book::new(&settings.topics.labels, http.labels_bytes_max, timeout),
            explanations: Arc::new(Semaphore::new(explain::AT_ONCE_MAX)),
            texts: Arc::new(Semaphore::new(texts::AT_ONCE_MAX)),
            metrics: metrics.clone(),
            openapi: openapi_document(),
            last_lag: stats::LastLag::default(),
            token_of_lists: getrandom::u32().context("the system has no random numbers")?,
            stopping: AtomicBool::new(false),
            settings: settings.clone(),
            bus,
            state,
        });
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(N_WORKERS)
            .max_blocking_threads(N_BLOCKING)
            .thread_name("http")
            .enable_all()
            .build()
            .context("the runtime of the HTTP side cannot be made")?;
        let (stop, stopping) = watch::channel(false);
        let server = {
            let _within = runtime.enter();
            server::Server {
                listener: tokio::net::TcpListener::from_std(listener)?,
                router: router::router(app.clone()),
                connections_max: http.connections_max,
                timeout,
                stopping,
            }
        };
        if app.state.role() != Role::Sign {
            let app = app.clone();
            std::thread::Builder::new().name("http-refill".into()).spawn(move || refill(&app))?;
        }
        runtime.spawn(exposition::upkeep(metrics));
        let serving = runtime.spawn(server.run());
        info!(%address, "http listening");
        info!("dashboard: http://{}/", shown(address));
        if !is_loopback {
            warn!(%address, "other machines can reach this: reading needs the token too, and nothing is encrypted here");
        }
        Ok(Self { address, runtime, app, stop, serving, feeding })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Takes no more connections, finishes what has begun for at most `within`, and ends.
    pub fn stop(self, within: Duration) {
        let Self { runtime, app, stop, serving, feeding, .. } = self;
        app.stopping.store(true, Ordering::Relaxed);
        // There is somebody to tell, unless the server has ended.
        let _ended = stop.send(true);
        if runtime.block_on(async { tokio::time::timeout(within, serving).await }).is_err() {
            warn!("not all http requests were finished in time");
        }
        // What is left is dropped with its connections.
        runtime.shutdown_timeout(Duration::from_millis(100));
        drop(app);
        // Streams let go of the application when they see that we stop; what was appended is durable in any case.
        let begun = Instant::now();
        while !feeding.is_finished() && begun.elapsed() < FAREWELL {
            std::thread::sleep(Duration::from_millis(5));
        }
        if feeding.is_finished() && feeding.join().is_err() {
            warn!("the thread that feeds the bus has met a bug");
        }
    }
}

/// Where a browser on this machine finds us.
fn shown(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

/// What can be asked for, as `/openapi.json` has it.
pub fn openapi_document() -> String {
    openapi::written(router::routes().get_openapi())
}

/// Fetches what was said before this process began. A bus that cannot be reached yet is asked again.
fn refill(app: &App) {
    let go_on = || if app.is_stopping() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let (directory, topics) = (app.state.directory(), &app.settings.topics);
    while !app.is_stopping() {
        let refilled = directory::refill(directory, &*app.bus, &topics.verdicts, go_on).and_then(|n_read| {
            directory::refill_growth(directory, &*app.bus, &topics.clusters, go_on).map(|()| n_read)
        });
        match refilled {
            Ok(n_read) => return info!(n_read, "what was said before can be asked for"),
            // Nothing was ever said.
            Err(BusError::NoTopic { .. }) => return,
            Err(error) => warn!(%error, "what was said before cannot be asked for yet"),
        }
        let asked = Instant::now();
        while asked.elapsed() < REFILL_PAUSE && !app.is_stopping() {
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

fn listener(address: SocketAddr) -> anyhow::Result<TcpListener> {
    let listen = || {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(listener)
    };
    listen().map_err(|error: std::io::Error| {
        anyhow::anyhow!(
            "cannot listen on {address}: {error} (http.listen is where, port 0 takes a free one; http.enabled = false does without)"
        )
    })
}
