//! `GET /v1/stats`: how a run is doing, in one look: what it says, how fast, how far behind it is, and what it holds.
//!
//! It is `/metrics` for those who keep no time series: rates are counted here, over the last seconds and minutes.

use super::App;
use super::problem::Problem;
use super::query::Query;
use crate::bus::{BusError, Partition};
use crate::pipeline::directory::{Counts, Standing};
use crate::pipeline::run::snapshots::Snapshots;
use crate::store::{Census, Plan};
use axum::Json;
use axum::extract::{RawQuery, State};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

/// The windows, in seconds.
const WINDOWS_S: [u64; 3] = [10, 60, 300];
/// How far behind we are is asked of the bus, which may take a while: one answer is good for so long ...
const LAG_FRESH: Duration = Duration::from_secs(2);
/// ... and is waited for so long.
const LAG_PATIENCE: Duration = Duration::from_secs(2);

/// How a run is doing (`schemas/stats.json`).
#[derive(Serialize)]
pub(super) struct Stats {
    version: &'static str,
    role: super::Role,
    state: &'static str,
    mode: crate::config::Mode,
    store: String,
    uptime_s: f64,
    /// Since this instance began.
    total: Counts,
    windows: Vec<Window>,
    journal: Journal,
    lag: Option<Lag>,
    snapshot: Option<Snapshot>,
    memory: Memory,
    tables: Option<Census>,
    held: Held,
    streams: Streams,
}

#[derive(Serialize)]
struct Window {
    seconds: u64,
    documents_per_s: f64,
    #[serde(flatten)]
    counts: Counts,
}

#[derive(Serialize)]
struct Journal {
    number: u64,
    epoch: u64,
}

/// How far the fold is behind its inputs.
#[derive(Clone, Serialize)]
pub(super) struct Lag {
    records: i64,
    partitions: Vec<Behind>,
}

#[derive(Clone, Serialize)]
struct Behind {
    topic: Arc<str>,
    partition: i32,
    next: i64,
    end: i64,
}

#[derive(Serialize)]
struct Snapshot {
    age_s: f64,
    bytes: u64,
    journal: i64,
}

#[derive(Serialize)]
struct Memory {
    resident_bytes: Option<u64>,
    store_bytes: usize,
    tables: BTreeMap<&'static str, usize>,
}

#[derive(Serialize)]
struct Held {
    verdicts: usize,
    verdict_bytes: usize,
    clusters: usize,
}

#[derive(Serialize)]
struct Streams {
    open: usize,
    max: usize,
}

/// The last answer on how far behind we are, and when it was given.
pub(super) type LastLag = Arc<tokio::sync::Mutex<Option<(Instant, Option<Lag>)>>>;

/// How a run is doing: what it says, how fast, how far behind it is, and what it holds.
#[utoipa::path(
    get, path = "/v1/stats", tag = "run", operation_id = "stats", security((), ("token" = [])),
    responses((status = 200, description = "How it is doing.", body = ref("stats.json")), Problem)
)]
pub(super) async fn stats(State(app): State<Arc<App>>, RawQuery(query): RawQuery) -> Result<Json<Stats>, Problem> {
    Query::read(query.as_deref()).end("no names")?;
    let lag = lag(&app).await;
    let stats = tokio::task::spawn_blocking(move || stats_of(&app, lag)).await;
    stats.map(Json).map_err(|error| Problem::bug(&error))
}

fn stats_of(app: &App, lag: Option<Lag>) -> Stats {
    let (settings, directory) = (&app.settings, app.state.directory());
    let (role, phase) = (app.state.role(), app.state.phase());
    let Standing { number, epoch, store, .. } = directory.standing();
    let (tables, sizes) = store.unzip();
    let (verdicts, verdict_bytes) = directory.verdicts.size();
    let max = settings.http.streams_max;
    Stats {
        version: env!("CARGO_PKG_VERSION"),
        role,
        state: phase.name(role),
        mode: settings.mode,
        store: settings.bus.store.clone(),
        uptime_s: directory.tally.age().as_secs_f64(),
        total: directory.tally.total(),
        windows: WINDOWS_S.map(|seconds| window(app, seconds)).into(),
        journal: Journal { number, epoch },
        lag,
        snapshot: snapshot(app),
        memory: Memory {
            resident_bytes: resident_bytes(),
            store_bytes: Plan::of(settings).total(),
            tables: sizes.unwrap_or_default().into_iter().collect(),
        },
        tables,
        held: Held { verdicts, verdict_bytes, clusters: directory.clusters.len() },
        streams: Streams { open: max - app.streams.available_permits().min(max), max },
    }
}

fn window(app: &App, seconds: u64) -> Window {
    let tally = &app.state.directory().tally;
    let counts = tally.window(seconds);
    // One that is older than the run is as long as the run.
    let n_seconds = tally.age().as_secs().clamp(1, seconds);
    Window { seconds, documents_per_s: counts.documents as f64 / n_seconds as f64, counts }
}

/// The newest snapshot, whoever wrote it.
fn snapshot(app: &App) -> Option<Snapshot> {
    let kept = Snapshots::open(&app.settings).ok()?.kept().ok()?.into_iter().next()?;
    let metadata = std::fs::metadata(&kept.path).ok()?;
    let age = SystemTime::now().duration_since(metadata.modified().ok()?).unwrap_or_default();
    Some(Snapshot { age_s: age.as_secs_f64(), bytes: metadata.len(), journal: kept.journal })
}

/// What this process has in memory, as the system counts it.
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let kilobytes = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(kilobytes.trim().trim_end_matches(" kB").parse::<u64>().ok()? * 1024)
}

/// How far behind the fold is; `None` where the bus does not say in time. One request asks for all.
async fn lag(app: &Arc<App>) -> Option<Lag> {
    if app.state.role() == super::Role::Sign {
        return None;
    }
    let ask = async {
        let mut last = app.last_lag.clone().lock_owned().await;
        if let Some((at, lag)) = &*last
            && at.elapsed() < LAG_FRESH
        {
            return lag.clone();
        }
        // A bus that hangs is asked once, whoever has gone meanwhile.
        let asking = app.clone();
        let asked = tokio::task::spawn_blocking(move || {
            let lag = behind(&asking).inspect_err(|error| tracing::debug!(%error, "lag")).ok();
            *last = Some((Instant::now(), lag.clone()));
            lag
        });
        asked.await.ok().flatten()
    };
    tokio::time::timeout(LAG_PATIENCE, ask).await.ok().flatten()
}

fn behind(app: &App) -> Result<Lag, BusError> {
    let topics = &app.settings.topics;
    let inputs: &[&String] = match app.state.role() {
        super::Role::Store => &[&topics.signed],
        super::Role::All | super::Role::Sign => &[&topics.pages, &topics.emails],
    };
    let positions = app.state.directory().standing().positions;
    let mut partitions = Vec::new();
    for topic in inputs.iter().filter(|topic| !topic.is_empty()) {
        let topic: Arc<str> = topic.as_str().into();
        for number in 0..app.bus.n_partitions(&topic)? {
            let partition = Partition::new(topic.clone(), number);
            let extent = app.bus.extent(&partition)?;
            let next = positions.next(&partition).max(extent.begin);
            partitions.push(Behind { topic: topic.clone(), partition: number, next, end: extent.end });
        }
    }
    let records = partitions.iter().map(|behind| (behind.end - behind.next).max(0)).sum();
    Ok(Lag { records, partitions })
}
