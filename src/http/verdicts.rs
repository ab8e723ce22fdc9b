//! `GET /v1/verdicts`: the last verdicts as a list, or, with `from`, verdicts as lines of JSON from any place on.
//!
//! The list is of the documents that were judged of late, the newest first, each with its last verdict; `before` goes on where a
//! list ended. The lines are the topic: `from=beginning`, `from=end` or `from=CURSOR`; `limit=N` ends after so many, `wait=S` when nothing
//! came for so many seconds, and `wait=0` gives what is there. A line that is nothing but a cursor says that there is nothing new; one
//! with a `problem` is the last.

use super::App;
use super::problem::Problem;
use super::query::{Choice, Query, WANTED, wrong};
use super::stream::{self, Form, Wish};
use crate::pipeline::directory::Place;
use crate::pipeline::wanted::Wanted;
use crate::verdict::event::Verdict;
use axum::Json;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use std::sync::Arc;

/// Verdicts of a list, where nothing else is asked for, and at most.
const LISTED: u64 = 100;
const LISTED_MAX: u64 = 1000;

/// A list of verdicts (`schemas/verdicts.json`).
#[derive(Serialize)]
struct List {
    verdicts: Vec<Arc<Verdict>>,
    /// What `before` is to be for those that follow.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

/// The last verdicts as a list, or, with `from`, verdicts as lines of JSON from any place on, as they come.
#[utoipa::path(
    get, path = "/v1/verdicts", tag = "out", operation_id = "verdicts", security((), ("token" = [])),
    params(
        Choice,
        ("limit" = Option<u64>, Query, minimum = 1, description = "At most so many: of a list 100 where nothing is said, and never more than 1000."),
        ("before" = Option<String>, Query, description = "The `next` of a list, for those that follow."),
        ("from" = Option<String>, Query, description = "`beginning`, `end` or a cursor: lines from there on, in the order of the topic."),
        ("wait" = Option<f64>, Query, minimum = 0, description = "With `from`: ends when nothing came for so many seconds."),
    ),
    responses(
        (
            status = 200,
            description = "A list; or lines, each with the cursor to go on from.",
            content((ref("verdicts.json") = "application/json"), (ref("line.json") = "application/x-ndjson")),
        ),
        (status = 410, description = "That place is not there any more.", body = ref("problem.json"), content_type = "application/problem+json"),
        Problem,
    )
)]
pub(super) async fn verdicts(State(app): State<Arc<App>>, RawQuery(query): RawQuery) -> Result<Response, Problem> {
    let mut query = Query::read(query.as_deref());
    let wanted = query.wanted()?;
    let Some(from) = query.text("from") else {
        let n_max = query.number("limit", 1..=LISTED_MAX)?.unwrap_or(LISTED) as usize;
        let before = query.text("before").map(|word| place(&app, &word)).transpose()?;
        query.end(&format!("{WANTED}, limit, before; and with `from`, wait"))?;
        app.holds_verdicts()?;
        // Those that are wanted may be few among many.
        let listed = tokio::task::spawn_blocking(move || listed(&app, &wanted, n_max, before)).await;
        return Ok(Json(listed.map_err(|error| Problem::bug(&error))?).into_response());
    };
    let wish = Wish {
        start: from.parse().unwrap_or_else(|never: std::convert::Infallible| match never {}),
        wanted,
        n_verdicts_max: query.number("limit", 0..=u64::MAX)?.unwrap_or(u64::MAX),
        wait: query.seconds("wait")?,
        form: Form::Lines,
    };
    query.end(&format!("from, {WANTED}, limit, wait"))?;
    stream::begun(app, wish).await
}

fn listed(app: &App, wanted: &Wanted, n_max: usize, before: Option<Place>) -> List {
    let all = app.state.directory().verdicts.newest(before);
    let mut found = all.filter(|(_, verdict)| wanted.accepts(verdict)).peekable();
    let (mut verdicts, mut last) = (Vec::new(), None);
    while let Some((place, verdict)) = found.next_if(|_| verdicts.len() < n_max) {
        verdicts.push(verdict);
        last = Some(place);
    }
    let next = last.filter(|_| found.peek().is_some()).map(|place| word(app, place));
    List { verdicts, next }
}

/// A place as a word that a client brings back. The places of one process say nothing to another.
fn word(app: &App, Place(number): Place) -> String {
    format!("{:08x}-{number:x}", app.token_of_lists)
}

fn place(app: &App, word: &str) -> Result<Place, Problem> {
    let numbers = word.split_once('-').and_then(|(process, number)| {
        Some((u32::from_str_radix(process, 16).ok()?, u64::from_str_radix(number, 16).ok()?))
    });
    match numbers {
        None => Err(wrong("before", "is the `next` of a list, as it stands")),
        Some((process, number)) if process == app.token_of_lists => Ok(Place(number)),
        Some(_) => {
            let detail = "this list was of another run, or another instance: begin again without `before`";
            Err(Problem::new(StatusCode::GONE, "gone", detail))
        }
    }
}
