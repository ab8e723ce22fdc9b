//! `POST /v1/check`: one document, and what is said of it now.
//!
//! With `learn=false` it is a probe: what the fold would say if the document came next, which leaves no trace. With `learn=true` it is
//! appended to the input topic as by `POST /v1/pages`, and answered when it has been judged there. Body and headers are those of the
//! two; `kind` says which of them, and without it the content type does.
//!
//! # Invariants
//! - A probe leaves no trace, and says what is said when the document is learnt. (`a_probe_leaves_no_trace`)
//! - What is learnt is said as it is published. (`what_is_learnt_is_said_as_it_is_published`)
//! - Nobody waits for longer than asked for, and whoever goes away is forgotten. (`who_goes_away_is_forgotten`)

use super::App;
use super::body::Held;
use super::documents::{self, Sent};
use super::feed::Fed;
use super::openapi::DocumentProblem;
use super::problem::Problem;
use super::query::Query;
use crate::config::Mode;
use crate::document::{Format, Kind, Record};
use crate::http::Phase;
use crate::metrics as names;
use crate::pipeline::checks::probes::{Told, unnamed};
use crate::pipeline::checks::waiters::{Place, Said, Until};
use crate::signature::keyed::Keys;
use crate::verdict::event::{Outcome, Verdict};
use axum::body::Body;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use metrics::{counter, gauge, histogram};
use serde::Serialize;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Wish {
    kind: Option<Kind>,
    learn: bool,
    until: Until,
    timeout: Duration,
}

/// What is answered (`schemas/check.json`).
#[derive(Serialize)]
struct Answer<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<&'a Verdict>,
    learned: bool,
    provisional: bool,
    mode: Mode,
    position: Option<Position<'a>>,
}

#[derive(Serialize)]
struct Position<'a> {
    topic: &'a str,
    partition: i32,
    offset: i64,
}

impl<'a> From<&'a Place> for Position<'a> {
    fn from((partition, offset): &'a Place) -> Self {
        Self { topic: &partition.topic, partition: partition.number, offset: *offset }
    }
}

/// Whether what stands behind the `?` asks for something to be written. What is not understood does.
pub(super) fn learns(query: Option<&str>) -> bool {
    Query::read(query).all("learn").iter().any(|value| value != "false")
}

impl Wish {
    fn read(app: &App, query: Option<&str>) -> Result<Self, Problem> {
        let check = &app.settings.check;
        let mut query = Query::read(query);
        let learn = query.word("learn", &[("false", false), ("true", true)])?;
        let until = query.word("wait", &[("judged", Until::Judged), ("committed", Until::Committed)])?;
        let timeout_ms = query.number("timeout_ms", 1..=check.timeout_max_ms)?.unwrap_or(check.timeout_ms);
        let kind = query.word("kind", &[("page", Kind::Page), ("email", Kind::Email)])?;
        query.end("kind, learn, wait, timeout_ms")?;
        Ok(Self {
            kind,
            learn: learn.unwrap_or(false),
            until: until.unwrap_or(Until::Judged),
            timeout: Duration::from_millis(timeout_ms),
        })
    }
}

/// What is said of a document now, whether it is learnt or not.
#[utoipa::path(
    post, path = "/v1/check", tag = "out", operation_id = "check", security((), ("token" = [])),
    params(
        ("kind" = Option<String>, Query, pattern = "^(page|email)$", description = "`page` or `email`; the content type says it otherwise."),
        ("learn" = Option<bool>, Query, description = "Whether it is learnt, which needs the token; if not, it leaves no trace."),
        ("wait" = Option<String>, Query, pattern = "^(judged|committed)$", description = "`judged` or `committed`: what is learnt is answered then."),
        ("timeout_ms" = Option<u64>, Query, minimum = 1, maximum = 30000, description = "At most so long (`check.timeout_max_ms`)."),
    ),
    request_body(
        content(("application/json"), ("text/html"), ("message/rfc822")),
        description = "An envelope, or the document as it is, with the headers of a record.",
    ),
    responses(
        (status = 200, description = "The verdict.", body = ref("check.json")),
        (status = 202, description = "It is durable, and was not judged in time.", body = ref("check.json")),
        DocumentProblem,
        (status = 422, description = "A header says nothing that is known here.", body = ref("problem.json"), content_type = "application/problem+json"),
        Problem,
    )
)]
pub(super) async fn check(
    State(app): State<Arc<App>>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let begun = Instant::now();
    let wish = Wish::read(&app, query.as_deref())?;
    let answered = answered(&app, wish, &headers, body).await;
    let learn = if wish.learn { "true" } else { "false" };
    let outcome = match &answered {
        Ok((_, outcome)) => outcome,
        Err(_) => "none",
    };
    counter!(names::CHECKS, "learn" => learn, "outcome" => outcome).increment(1);
    histogram!(names::CHECK_SECONDS, "learn" => learn).record(begun.elapsed());
    Ok(answered?.0)
}

/// The answer, and what came of it in a word.
async fn answered(
    app: &Arc<App>,
    wish: Wish,
    headers: &HeaderMap,
    body: Body,
) -> Result<(Response, &'static str), Problem> {
    app.holds_verdicts()?;
    is_ready(app)?;
    let sent = documents::sent(wish.kind.unwrap_or_else(|| kind_of(headers)), headers)?;
    if sent == Sent::Lines {
        let detail = "one document at a time: POST /v1/pages and /v1/emails take many";
        return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "content_type", detail));
    }
    let room = if wish.learn { &app.room } else { &app.check_room };
    let Held { bytes, room } = room.collected(headers, body).await?;
    let until = Instant::now() + wish.timeout;
    let (kind, bytes) = match (wish.kind, sent) {
        (Some(kind), _) => (kind, bytes),
        (None, Sent::Envelope) => blocking(move || (kind_of_envelope(&bytes), bytes)).await?,
        (None, _) => (kind_of(headers), bytes),
    };
    let format = match (sent, kind) {
        (Sent::Envelope, kind) => documents::envelope_format(kind),
        (_, Kind::Page) => Format::Page,
        (_, Kind::Email) => Format::Mail,
    };
    let record = Record { format, body: bytes, carrier: documents::carrier(kind, headers)? };
    match wish.learn {
        false => probed(app, record, room, until).await,
        true => learnt(app, kind, record, room, wish.until, until).await,
    }
}

/// Asks the fold what it would say.
async fn probed(
    app: &App,
    record: Record,
    room: tokio::sync::OwnedSemaphorePermit,
    until: Instant,
) -> Result<(Response, &'static str), Problem> {
    let probes = &app.state.checks().probes;
    let answer = probes
        .ask(record, room)
        .ok_or_else(|| turned_away("queue", "as many checks are being answered as may be (check.queue_max)"))?;
    gauge!(names::CHECKS_WAITING, "learn" => "false").set(probes.n_waiting() as f64);
    match tokio::time::timeout_at(until.into(), answer).await {
        Err(_) => Err(turned_away("timeout", "the check could not be answered in time (timeout_ms)")),
        Ok(Err(_)) => {
            is_ready(app)?;
            Err(turned_away("restoring", RESTORING))
        }
        Ok(Ok(Told::Refused(refused))) => Err(documents::refusal(&refused)),
        Ok(Ok(Told::OtherScheme)) => Err(turned_away(
            "settings",
            "this instance follows one whose settings sign in another way, and cannot say what that would say",
        )),
        Ok(Ok(Told::Verdict(verdict))) => {
            let outcome = outcome(&verdict);
            let answer = answer_of(app, Some(&verdict), false, false, None);
            Ok((json(StatusCode::OK, &answer), outcome))
        }
    }
}

/// Appends the document, and waits until it has been judged.
async fn learnt(
    app: &Arc<App>,
    kind: Kind,
    record: Record,
    room: tokio::sync::OwnedSemaphorePermit,
    until: Until,
    deadline: Instant,
) -> Result<(Response, &'static str), Problem> {
    let waiters = &app.state.checks().waiters;
    let sending = waiters
        .sending()
        .ok_or_else(|| turned_away("waiters", "as many checks wait for their verdicts as may (check.waiters_max)"))?;
    gauge!(names::CHECKS_WAITING, "learn" => "true").set(waiters.n_waiting() as f64);
    let opener = app.clone();
    let dispatched = blocking(move || opener.dispatch.dispatched(record)).await?;
    let mut dispatched = dispatched.map_err(|refused| documents::refusal(&refused))?;
    // Sent again it is appended again: the verdict of the first time may be known to nobody here any more.
    dispatched.id = None;
    let fallback = dispatched.outgoing.key.is_none().then(|| dispatched.outgoing.value.clone()).flatten();
    let fed = app.feed.append(vec![dispatched], Some(room)).await?;
    let Fed { place, .. } = fed.into_iter().next().expect("one was appended");
    let mut awaited = sending.sent(place.clone(), until);
    let Ok(Some(Said { verdict, provisional })) = tokio::time::timeout_at(deadline.into(), awaited.said()).await else {
        return Ok((json(StatusCode::ACCEPTED, &answer_of(app, None, true, true, Some(&place))), "accepted"));
    };
    let mut verdict = verdict;
    if verdict.id.is_empty() {
        // It was set aside, and nobody has named it: nothing is published of it.
        let key = Keys::derive(app.settings.secret.reveal()).id;
        let named = Arc::make_mut(&mut verdict);
        (named.id, named.kind) = (unnamed(kind, fallback.as_deref().unwrap_or_default(), key), Some(kind));
    }
    let answer = answer_of(app, Some(&verdict), true, provisional, Some(&place));
    Ok((json(StatusCode::OK, &answer), outcome(&verdict)))
}

fn answer_of<'a>(
    app: &App,
    verdict: Option<&'a Verdict>,
    learned: bool,
    provisional: bool,
    place: Option<&'a Place>,
) -> Answer<'a> {
    Answer { verdict, learned, provisional, mode: app.settings.mode, position: place.map(Position::from) }
}

fn json(status: StatusCode, answer: &Answer<'_>) -> Response {
    let body = serde_json::to_string(answer).expect("an answer has no map with odd keys") + "\n";
    let headers = [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-store")];
    (status, headers, body).into_response()
}

fn outcome(verdict: &Verdict) -> &'static str {
    match verdict.outcome {
        Outcome::Judged => "judged",
        Outcome::Insufficient => "insufficient",
        Outcome::Rejected => "rejected",
    }
}

const RESTORING: &str = "this instance reads its state and does not know yet what to say; /readyz tells when it does";

/// Whether this instance knows what to say.
fn is_ready(app: &App) -> Result<(), Problem> {
    match app.state.phase() {
        Phase::Standby | Phase::Judging => Ok(()),
        Phase::Starting | Phase::Restoring => Err(turned_away("restoring", RESTORING)),
        Phase::Stopping => Err(turned_away("stopping", "this instance stops")),
        Phase::Failed => Err(turned_away("failed", "this instance cannot go on; its log says why")),
    }
}

/// There is no answer now; counted, since that is what an operator wants to know.
fn turned_away(reason: &'static str, detail: &str) -> Problem {
    counter!(names::CHECKS_TURNED_AWAY, "reason" => reason).increment(1);
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, reason, detail)
}

/// Does what takes a while on a thread that may.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Problem> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "bug", error.to_string()))
}

/// What the content type says the document is, where the query does not: a page, unless it can only be a mail.
fn kind_of(headers: &HeaderMap) -> Kind {
    let media = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let is_mail = media.trim_start().get(..8).is_some_and(|start| start.eq_ignore_ascii_case("message/"));
    if is_mail { Kind::Email } else { Kind::Page }
}

/// An envelope with `raw` is a mail's. Whatever cannot be opened is refused later.
fn kind_of_envelope(bytes: &[u8]) -> Kind {
    match sonic_rs::get(bytes, &["raw"]) {
        Ok(_) => Kind::Email,
        Err(_) => Kind::Page,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_plainly_a_question_needs_the_token() {
        for (query, expected) in [
            (None, false),
            (Some("learn=false&kind=email"), false),
            (Some("learn=true"), true),
            (Some("learn=false&learn=true"), true),
            (Some("learn=true&learn=false"), true),
            (Some("%6cearn=true"), true),
            (Some("learn="), true),
            (Some("learn=FALSE"), true),
        ] {
            assert_eq!(learns(query), expected, "{query:?}");
        }
    }

    #[test]
    fn what_is_sent_says_what_it_is() {
        let of = |media: &str| kind_of(&[(header::CONTENT_TYPE, media.parse().unwrap())].into_iter().collect());
        assert_eq!((of("message/rfc822"), of("Message/Global; x=y")), (Kind::Email, Kind::Email));
        assert_eq!((of("text/html"), of(""), of("application/json")), (Kind::Page, Kind::Page, Kind::Page));
        assert_eq!(kind_of_envelope(br#"{"id": "x", "raw": "eA=="}"#), Kind::Email);
        for page in [&br#"{"html": "raw", "x": {"raw": 1}}"#[..], b"[\"raw\"]", b"raw", b""] {
            assert_eq!(kind_of_envelope(page), Kind::Page, "{page:?}");
        }
    }
}
