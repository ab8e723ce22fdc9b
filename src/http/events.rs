//! `GET /v1/events`: verdicts as they come, as server-sent events: what a page in a browser listens to.
//!
//! The id of each event is its cursor, so that a browser that was cut off goes on where it was (`Last-Event-ID`), and misses nothing
//! for as long as the topic keeps it.

use super::App;
use super::problem::Problem;
use super::query::{Choice, Query, WANTED};
use super::stream::{self, Form, Wish};
use crate::pipeline::watch::Start;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use std::convert::Infallible;
use std::sync::Arc;

/// What a browser that was cut off says.
const LAST: &str = "last-event-id";

/// Verdicts as they come, as server-sent events.
#[utoipa::path(
    get, path = "/v1/events", tag = "out", operation_id = "events", security((), ("token" = [])),
    params(
        Choice,
        ("from" = Option<String>, Query, description = "`beginning`, `end` (where nothing is said) or a cursor."),
        ("last-event-id" = Option<String>, Header, description = "The id of the last event that was seen: goes on after it."),
    ),
    responses(
        (
            status = 200,
            description = "Events `verdict`, whose data are a verdict and whose id is a cursor; `problem` is the last.",
            body = String,
            content_type = "text/event-stream",
        ),
        (status = 410, description = "That place is not there any more.", body = ref("problem.json"), content_type = "application/problem+json"),
        Problem,
    )
)]
pub(super) async fn events(
    State(app): State<Arc<App>>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let mut query = Query::read(query.as_deref());
    let wanted = query.wanted()?;
    let from = query.text("from");
    query.end(&format!("from, {WANTED}"))?;
    let last = headers.get(LAST).filter(|last| !last.is_empty()).map(|last| {
        let garbled = |_| Problem::new(StatusCode::BAD_REQUEST, "cursor", format!("`{LAST}` is no cursor"));
        last.to_str().map(|last| Start::Cursor(last.to_owned())).map_err(garbled)
    });
    // It was at `from` when it began; where it is now it knows better.
    let start = match (last.transpose()?, from) {
        (Some(last), _) => last,
        (None, Some(from)) => from.parse().unwrap_or_else(|never: Infallible| match never {}),
        (None, None) => Start::End,
    };
    let wish = Wish { start, wanted, n_verdicts_max: u64::MAX, wait: None, form: Form::Events };
    stream::begun(app, wish).await
}
