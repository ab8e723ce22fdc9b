//! Verdicts as they come, from any place on, for as long as somebody reads them.
//!
//! The bus blocks, so every stream has a thread, and there are so many of them (`http.streams_max`). They are written as lines of
//! JSON or as server-sent events; a cursor goes with each verdict, and alone where there is nothing new.
//!
//! # Invariants
//! - A client that goes on from its last cursor misses nothing and sees nothing twice. (`a_stream_goes_on_where_it_stopped`)
//! - A slow reader makes us hold a few pieces, whatever waits for it. (`a_reader_who_does_not_read_is_left`)

use super::App;
use super::channel::{PIECE_BYTES, Pieces, answer};
use super::problem::Problem;
use crate::metrics as names;
use crate::pipeline::wanted::Wanted;
use crate::pipeline::watch::{NoWatch, Seen, Start, Watch};
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
pub(super) struct Wish {
    pub(super) start: Start,
    pub(super) wanted: Wanted,
    pub(super) n_verdicts_max: u64,
    pub(super) wait: Option<Duration>,
    pub(super) form: Form,
}

/// How it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Lines of JSON, each with its cursor (`schemas/line.json`).
    Lines,
    /// Server-sent events, whose ids are the cursors.
    Events,
}

impl Form {
    fn media(self) -> &'static str {
        match self {
            Self::Lines => "application/x-ndjson",
            Self::Events => "text/event-stream",
        }
    }

    fn verdict(self, seen: &Seen) -> Vec<u8> {
        match self {
            Self::Lines => seen.line(),
            Self::Events => {
                [b"id: ", seen.cursor.as_bytes(), b"\nevent: verdict\ndata: ", &seen.json(), b"\n\n"].concat()
            }
        }
    }

    /// Without data an event is not told to the page, but moves the place from which its browser goes on.
    fn nothing_new(self, cursor: &str) -> Vec<u8> {
        match self {
            Self::Lines => json!({"cursor": cursor}).to_string().into_bytes(),
            Self::Events => format!(": nothing new\nid: {cursor}\n").into_bytes(),
        }
    }

    fn problem(self, cursor: &str, problem: &Problem) -> Vec<u8> {
        match self {
            Self::Lines => json!({"cursor": cursor, "problem": problem.json()}).to_string().into_bytes(),
            Self::Events => format!("event: problem\ndata: {}\n", problem.json()).into_bytes(),
        }
    }
}

/// Begins a stream.
pub(super) async fn begun(app: Arc<App>, wish: Wish) -> Result<Response, Problem> {
    let full = |_| Problem::busy("streams", "as many streams of verdicts are open as may be (http.streams_max)");
    let permit = app.streams.clone().try_acquire_owned().map_err(full)?;
    let (opener, topic) = (app.clone(), app.settings.topics.verdicts.clone());
    let (start, wanted, form) = (wish.start.clone(), wish.wanted.clone(), wish.form);
    let opened = tokio::task::spawn_blocking(move || Watch::open(&*opener.bus, &topic, &start, wanted)).await;
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
    Ok(([(header::CONTENT_TYPE, form.media()), (header::CACHE_CONTROL, "no-store")], body).into_response())
}

/// A stream that is open.
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
        let Wish { form, wait, .. } = self.wish;
        let mut n_left = self.wish.n_verdicts_max;
        let (mut spoke_at, mut came_at) = (Instant::now(), Instant::now());
        // The client learns at once where it is.
        let mut is_new = true;
        while n_left > 0 && !self.pieces.is_closed() {
            let is_stopping = self.app.is_stopping();
            let left = wait.map_or(LOOK, |wait| wait.saturating_sub(came_at.elapsed()).min(LOOK));
            let seen = match self.watch.next(VERDICTS_MAX, PIECE_BYTES, left) {
                Ok(seen) => seen,
                Err(error) => {
                    self.say(form.problem(&self.watch.cursor(), &Problem::of_bus(&error)));
                    return;
                }
            };
            if seen.is_empty() {
                let is_over = is_stopping || wait.is_some_and(|wait| came_at.elapsed() >= wait);
                if is_over || is_new || spoke_at.elapsed() >= HEARTBEAT {
                    if !self.say(form.nothing_new(&self.watch.cursor())) || is_over {
                        return;
                    }
                    (spoke_at, is_new) = (Instant::now(), false);
                }
                continue;
            }
            let n = seen.len().min(usize::try_from(n_left).unwrap_or(usize::MAX));
            n_left -= n as u64;
            let piece = seen[..n].iter().flat_map(|seen| form.verdict(seen)).collect();
            if self.pieces.blocking_send(Ok(piece)).is_err() {
                return;
            }
            (spoke_at, came_at, is_new) = (Instant::now(), Instant::now(), false);
        }
    }

    /// Whether it was said.
    fn say(&self, mut line: Vec<u8>) -> bool {
        line.push(b'\n');
        self.pieces.blocking_send(Ok(line)).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bus::{Partition, Record};

    #[test]
    fn events_have_their_cursor_as_id() {
        let record = Record {
            partition: Partition::new("verdicts", 0),
            offset: 0,
            time_ms: 0,
            key: None,
            headers: Vec::new(),
            value: Some(b"{\"id\":\r\n\"a\\nb\"}".to_vec()),
        };
        let seen = Seen { record, cursor: "abc".into() };
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        assert_eq!(text(Form::Events.verdict(&seen)), "id: abc\nevent: verdict\ndata: {\"id\":  \"a\\nb\"}\n\n");
        assert_eq!(text(Form::Lines.verdict(&seen)), "{\"id\":  \"a\\nb\",\"cursor\":\"abc\"}\n");
        assert_eq!(text(Form::Events.nothing_new("abc")), ": nothing new\nid: abc\n");
    }
}
