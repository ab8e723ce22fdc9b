//! `GET /v1/verdicts`: verdicts as lines of JSON, from any place on, each with a cursor to go on from.
//!
//! `from=beginning`, `from=end` (the default) or `from=CURSOR`; `class=quilt,mirror` leaves out the others; `limit=N` ends after so many lines;
//! `wait=S` ends when nothing came for so many seconds, and `wait=0` gives what is there. A line that is nothing but a cursor says that
//! there is nothing new; one with a `problem` is the last.
//!
//! # Invariants
//! - A client that goes on from its last cursor misses nothing and sees nothing twice. (`a_stream_goes_on_where_it_stopped`)
//! - A slow reader makes us hold a few pieces, whatever waits for it. (`a_reader_who_does_not_read_is_left`)

use super::App;
use super::channel::{PIECE_BYTES, Pieces, answer};
use super::problem::Problem;
use crate::metrics as names;
use crate::pipeline::watch::{NoWatch, Sort, Start, Watch};
use axum::extract::{RawQuery, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use metrics::gauge;
use serde_json::json;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};
use tokio::sync::OwnedSemaphorePermit;

/// One look at the bus: then the client may have gone.
const LOOK: Duration = Duration::from_millis(200);
/// With nothing to say for so long, we say so: proxies cut silent connections.
const HEARTBEAT: Duration = Duration::from_secs(5);
/// Verdicts that are read at a time.
const VERDICTS_MAX: usize = 500;

/// What was asked for.
#[derive(Debug, PartialEq)]
struct Wish {
    start: Start,
    sorts: Vec<Sort>,
    n_lines_max: u64,
    wait: Option<Duration>,
}

impl Wish {
    fn read(query: &str) -> Result<Self, Problem> {
        let mut wish = Self { start: Start::End, sorts: Vec::new(), n_lines_max: u64::MAX, wait: None };
        for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
            let wrong = |what: String| Problem::new(StatusCode::BAD_REQUEST, "query", format!("`{name}` {what}"));
            match &*name {
                "from" => wish.start = value.parse().unwrap_or_else(|never: std::convert::Infallible| match never {}),
                "class" => {
                    for word in value.split(',').filter(|word| !word.is_empty()) {
                        let all = Sort::ALL.map(Sort::name).join(", ");
                        wish.sorts.push(Sort::named(word).ok_or_else(|| wrong(format!("is one of {all}")))?);
                    }
                }
                "limit" => wish.n_lines_max = value.parse().map_err(|_| wrong("is a number of lines".into()))?,
                "wait" => {
                    let seconds = value.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
                    wish.wait = Some(seconds.ok_or_else(|| wrong("is a number of seconds".into()))?);
                }
                _ => return Err(wrong("is not known here: there are from, class, limit and wait".into())),
            }
        }
        Ok(wish)
    }
}

pub(super) async fn stream(State(app): State<Arc<App>>, RawQuery(query): RawQuery) -> Result<Response, Problem> {
    let wish = Wish::read(query.as_deref().unwrap_or_default())?;
    let full = |_| Problem::busy("streams", "as many streams of verdicts are open as may be (http.streams_max)");
    let permit = app.streams.clone().try_acquire_owned().map_err(full)?;
    let (opener, topic) = (app.clone(), app.settings.topics.verdicts.clone());
    let (start, sorts) = (wish.start.clone(), wish.sorts.clone());
    let opened = tokio::task::spawn_blocking(move || Watch::open(&*opener.bus, &topic, &start, sorts)).await;
    let opened = opened.map_err(|error| Problem::busy("bus", error.to_string()))?;
    let watch = opened.map_err(|error| match error {
        NoWatch::Cursor(error) => Problem::new(StatusCode::BAD_REQUEST, "cursor", error.to_string()),
        NoWatch::Bus(error) => Problem::of_bus(&error),
    })?;
    let (pieces, body) = answer();
    let stream = Stream { app, watch, wish, pieces, _permit: permit };
    thread::Builder::new()
        .name("http-verdicts".into())
        .spawn(move || stream.run())
        .map_err(|error| Problem::busy("streams", format!("no thread for another stream: {error}")))?;
    Ok(([(header::CONTENT_TYPE, "application/x-ndjson"), (header::CACHE_CONTROL, "no-store")], body).into_response())
}

/// A stream that is open. The bus blocks, so it has a thread.
struct Stream {
    app: Arc<App>,
    watch: Watch,
    wish: Wish,
    pieces: Pieces,
    _permit: OwnedSemaphorePermit,
}

impl Stream {
    fn run(mut self) {
        gauge!(names::HTTP_STREAMS).increment(1.0);
        self.write();
        gauge!(names::HTTP_STREAMS).decrement(1.0);
    }

    /// Writes until the client has gone, has enough, or nothing comes.
    fn write(&mut self) {
        let mut n_left = self.wish.n_lines_max;
        let (mut spoke_at, mut came_at) = (Instant::now(), Instant::now());
        // The client learns at once where it is.
        let mut is_new = true;
        while n_left > 0 && !self.pieces.is_closed() {
            let is_stopping = self.app.is_stopping();
            let left = self.wish.wait.map_or(LOOK, |wait| wait.saturating_sub(came_at.elapsed()).min(LOOK));
            let seen = match self.watch.next(VERDICTS_MAX, PIECE_BYTES, left) {
                Ok(seen) => seen,
                Err(error) => {
                    let problem = Problem::of_bus(&error).json();
                    self.say(json!({"cursor": self.watch.cursor(), "problem": problem}).to_string());
                    return;
                }
            };
            if seen.is_empty() {
                let is_over = is_stopping || self.wish.wait.is_some_and(|wait| came_at.elapsed() >= wait);
                if is_over || is_new || spoke_at.elapsed() >= HEARTBEAT {
                    if !self.say(json!({"cursor": self.watch.cursor()}).to_string()) || is_over {
                        return;
                    }
                    (spoke_at, is_new) = (Instant::now(), false);
                }
                continue;
            }
            let n = seen.len().min(usize::try_from(n_left).unwrap_or(usize::MAX));
            n_left -= n as u64;
            let piece = seen[..n].iter().flat_map(|seen| seen.line()).collect();
            if self.pieces.blocking_send(Ok(piece)).is_err() {
                return;
            }
            (spoke_at, came_at, is_new) = (Instant::now(), Instant::now(), false);
        }
    }

    /// Whether it was said.
    fn say(&self, line: String) -> bool {
        self.pieces.blocking_send(Ok((line + "\n").into_bytes())).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wishes_are_read_and_mistakes_are_named() {
        let wish = Wish::read("from=beginning&class=quilt,mirror&class=rejected&limit=3&wait=1.5").unwrap();
        assert_eq!(wish.start, Start::Beginning);
        assert_eq!(wish.sorts, [Sort::Quilt, Sort::Mirror, Sort::Rejected]);
        assert_eq!((wish.n_lines_max, wish.wait), (3, Some(Duration::from_millis(1500))));
        assert_eq!(Wish::read("").unwrap().start, Start::End);
        assert_eq!(Wish::read("from=AbC_-").unwrap().start, Start::Cursor("AbC_-".into()));
        for wrong in ["class=quilts", "limit=-1", "wait=-1", "wait=nan", "wait=1e400", "frm=end"] {
            assert_eq!(Wish::read(wrong).unwrap_err().status(), StatusCode::BAD_REQUEST, "{wrong}");
        }
    }
}
