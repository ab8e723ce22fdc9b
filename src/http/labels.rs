//! `/v1/labels`: labels are put on documents, clusters and domains, taken back, and asked for.
//!
//! `POST` takes one label (`application/json`, `schemas/label.json`, where `why` and `at` may be left out), or one on each line
//! (`application/x-ndjson`). A label on a copy is put on the head of its group, which the answer names. `DELETE` takes one back, by a
//! query or a body: what `by` has said, or with `everyone` what anybody has. `GET` tells what is in force, and of a target who said what
//! before, and why. Writers are answered when it is durable; it is in force with the next batch, which on the embedded bus is no later than
//! that of whatever is sent after the answer.
//!
//! # Invariants
//! - What was answered is on the topic, and what was written is seen by who asks next. (`labels_come_and_go_over_http`)
//! - On the embedded bus it holds for what is sent after the answer. (`a_label_holds_for_what_is_sent_after_it`)
//! - A line that is wrong is named, and the others are taken. (`a_wrong_label_spoils_no_other`)

use super::App;
use super::body::Held;
use super::label_book::Book;
use super::openapi::BodyProblem;
use super::problem::Problem;
use super::query::{Query, wrong};
use crate::config::BusKind;
use crate::pipeline::dispatch::Dispatched;
use crate::pipeline::register::groups::heads;
use crate::pipeline::register::posting::{Posted, Posting, now};
use crate::pipeline::register::{Entry, Told};
use crate::verdict::label::{Label, Record, Target};
use axum::Json;
use axum::body::Body;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::OwnedSemaphorePermit;

/// Labels of one request.
const LABELS_MAX: usize = 1000;
/// Labels of a list, where nothing else is asked for, and at most.
const LISTED: u64 = 100;
const LISTED_MAX: u64 = 10_000;

/// What became of a label (`schemas/labelled.json`).
#[derive(Serialize)]
struct Line {
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(flatten)]
    outcome: Outcome,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Outcome {
    Posted(Box<Posted>),
    Refused { reason: &'static str, detail: String },
}

/// What became of several.
#[derive(Serialize)]
struct Several {
    n_accepted: usize,
    n_refused: usize,
    labels: Vec<Line>,
}

/// What is in force, and what was said before (`schemas/labels.json`).
#[derive(Serialize)]
struct History {
    labels: Vec<Told>,
    history: Vec<Told>,
    n_older: u64,
}

/// What is to be taken back.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Delisting {
    target: Target,
    label: String,
    by: String,
    #[serde(default)]
    why: String,
    #[serde(default)]
    everyone: bool,
}

/// Puts labels on documents, clusters and domains: one, or one on each line. Answered when durable.
#[utoipa::path(
    post, path = "/v1/labels", tag = "labels", operation_id = "put_labels", security(("token" = [])),
    request_body(
        content(("application/json"), ("application/x-ndjson")),
        description = "Labels as in schemas/label.json, where `why` and `at` may be left out.",
    ),
    responses(
        (status = 200, description = "All of it is durable.", body = ref("labelled.json")),
        (status = 207, description = "Some lines were refused.", body = ref("labelled.json")),
        BodyProblem,
        (status = 415, description = "The content type says nothing that is known here.", body = ref("problem.json"), content_type = "application/problem+json"),
        (
            status = 422,
            description = "It is no label; of lines, none of them.",
            content((ref("problem.json") = "application/problem+json"), (ref("labelled.json") = "application/json")),
        ),
        Problem,
    )
)]
pub(super) async fn put(State(app): State<Arc<App>>, headers: HeaderMap, body: Body) -> Result<Response, Problem> {
    let is_lines = is_lines(&headers)?;
    let Held { bytes, room } = app.room.collected(&headers, body).await?;
    if !is_lines {
        let label = label(&bytes).map_err(unprocessable)?;
        let posting = postings(&app, &[label]).await?.pop().expect("one was asked for");
        let posted = posted(&app, vec![posting], Some(room)).await?.pop().expect("one was appended");
        return Ok(Json(posted).into_response());
    }
    let (mut lines, mut labels) = (Vec::new(), Vec::new());
    for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        if line.trim_ascii().is_empty() {
            continue;
        }
        if lines.len() == LABELS_MAX {
            let detail = format!("at most {LABELS_MAX} labels in one request");
            return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too_many_lines", detail));
        }
        lines.push((index + 1, label(line).map(|label| labels.push(label))));
    }
    drop(bytes);
    let (n_accepted, n_refused) = (labels.len(), lines.len() - labels.len());
    let postings = postings(&app, &labels).await?;
    let mut taken = posted(&app, postings, Some(room)).await?.into_iter();
    let line = |(line, outcome): (usize, Result<(), String>)| {
        let outcome = match outcome {
            Ok(()) => Outcome::Posted(Box::new(taken.next().expect("each that was taken was appended"))),
            Err(detail) => Outcome::Refused { reason: "label", detail },
        };
        Line { line: Some(line), outcome }
    };
    let several = Several { n_accepted, n_refused, labels: lines.into_iter().map(line).collect() };
    let status = match (n_accepted, n_refused) {
        (_, 0) => StatusCode::OK,
        (0, _) => StatusCode::UNPROCESSABLE_ENTITY,
        _ => StatusCode::MULTI_STATUS,
    };
    Ok((status, Json(several)).into_response())
}

/// Takes a label back: what `by` has said, or with `everyone` what anybody has.
#[utoipa::path(
    delete, path = "/v1/labels", tag = "labels", operation_id = "delete_labels", security(("token" = [])),
    params(
        ("target" = Option<String>, Query, description = "`document:ID`, `cluster:ID` or `domain:NAME`; it may all stand in a body."),
        ("label" = Option<String>, Query, description = "The label."),
        ("by" = Option<String>, Query, description = "Who takes it back."),
        ("why" = Option<String>, Query, description = "Why."),
        ("everyone" = Option<bool>, Query, description = "Whoever has said so."),
    ),
    responses(
        (status = 200, description = "It is durable, or there was nothing to take back.", body = ref("labelled.json")),
        (status = 409, description = "It was said by others.", body = ref("problem.json"), content_type = "application/problem+json"),
        BodyProblem,
        (status = 422, description = "This can be no label.", body = ref("problem.json"), content_type = "application/problem+json"),
        Problem,
    )
)]
pub(super) async fn delist(
    State(app): State<Arc<App>>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let delisting = match query.as_deref().filter(|query| !query.is_empty()) {
        Some(query) => asked(Query::read(Some(query)))?,
        None => {
            let Held { bytes, .. } = app.room.collected(&headers, body).await?;
            serde_json::from_slice(&bytes).map_err(|error| unprocessable(error.to_string()))?
        }
    };
    let Delisting { target, label, by, why, everyone } = delisting;
    let undo = Record { target, label, by, why, at: now(), undo: true, named: None, undone_by: None };
    let undo = Label::try_from(undo).map_err(|problems| unprocessable(problems.to_string()))?.record().clone();
    let head = match &undo.target {
        Target::Document(id) => groups(&app, &[id.as_str()]).await?.remove(id),
        Target::Cluster(_) | Target::Domain(_) => None,
    };
    let undoing = Book::ask(&app, {
        let undo = undo.clone();
        move |register| {
            let undoing = register.undoing(&undo, everyone, |_| Ok::<_, std::convert::Infallible>(head));
            (undoing.unwrap_or_else(|never| match never {}), register.n_older())
        }
    });
    let (mut undoing, n_older) = undoing.await?;
    if undoing.is_of_others() {
        let detail = format!(
            "that was not said by `{}`, but by {}: `everyone` takes it back all the same",
            undo.by,
            undoing.others.join(", ")
        );
        return Err(Problem::new(StatusCode::CONFLICT, "others", detail));
    }
    if undoing.postings.is_empty() && n_older > 0 {
        // It may have been said before all that is held here; taking back what is not there does no harm.
        undoing.postings.push(Posting { record: undo, known: None });
    }
    let labels = posted(&app, undoing.postings, None).await?.into_iter();
    let labels: Vec<Line> =
        labels.map(|posted| Line { line: None, outcome: Outcome::Posted(Box::new(posted)) }).collect();
    Ok(Json(Several { n_accepted: labels.len(), n_refused: 0, labels }).into_response())
}

/// The labels in force; of a target also what was said of it before.
#[utoipa::path(
    get, path = "/v1/labels", tag = "labels", operation_id = "labels", security((), ("token" = [])),
    params(
        ("target" = Option<String>, Query, description = "`document:ID`, `cluster:ID` or `domain:NAME`."),
        ("label" = Option<String>, Query, description = "Only this label."),
        ("limit" = Option<u64>, Query, minimum = 1, maximum = 10000, description = "At most so many: 100 where nothing is said."),
    ),
    responses((status = 200, description = "The labels.", body = ref("labels.json")), Problem)
)]
pub(super) async fn labels(State(app): State<Arc<App>>, RawQuery(query): RawQuery) -> Result<Response, Problem> {
    let mut query = Query::read(query.as_deref());
    let named = query.text("target").map(|text| target(&text)).transpose()?;
    let label = query.text("label");
    let n_max = query.number("limit", 1..=LISTED_MAX)?.unwrap_or(LISTED) as usize;
    query.end("target, label, limit")?;
    let mut targets: Vec<Target> = named.iter().cloned().collect();
    if let Some(Target::Document(id)) = &named {
        targets.extend(groups(&app, &[id.as_str()]).await?.remove(id).map(Target::Document));
    }
    let told = Book::ask(&app, move |register| {
        if let Some(Target::Document(id)) = &named {
            targets.extend(register.labelled_by_way_of(id));
        }
        targets.sort();
        targets.dedup();
        let wanted = |entry: &Arc<Entry>| label.as_ref().is_none_or(|label| *label == entry.record.label);
        let (in_force, history): (Vec<_>, Vec<_>) = match &named {
            None => (register.all_in_force(), Vec::new()),
            Some(_) => (
                targets.iter().flat_map(|target| register.in_force(target)).collect(),
                targets.iter().flat_map(|target| register.history(target)).collect(),
            ),
        };
        let told = |entries: Vec<Arc<Entry>>| {
            entries.iter().filter(|entry| wanted(entry)).map(|entry| entry.told()).collect::<Vec<_>>()
        };
        // Of a long history the end says what came of it.
        let mut history = told(history);
        history.drain(..history.len().saturating_sub(n_max));
        let mut labels = told(in_force);
        labels.truncate(n_max);
        History { labels, history, n_older: register.n_older() }
    });
    Ok(Json(told.await?).into_response())
}

/// The labels as they will be posted: on the heads of groups.
async fn postings(app: &Arc<App>, labels: &[Label]) -> Result<Vec<Posting>, Problem> {
    let ids: Vec<&str> = labels
        .iter()
        .filter_map(|label| match &label.record().target {
            Target::Document(id) => Some(id.as_str()),
            Target::Cluster(_) | Target::Domain(_) => None,
        })
        .collect();
    let heads = groups(app, &ids).await?;
    Ok(labels.iter().map(|label| Posting::new(label, &heads)).collect())
}

/// Of each document the head of its group, as its last verdict says: of those that were judged of late at once, of others where the bus
/// can be asked for one without being read from its beginning.
async fn groups(app: &Arc<App>, ids: &[&str]) -> Result<HashMap<String, String>, Problem> {
    let mut found: HashMap<String, String> = HashMap::new();
    for id in ids {
        if let Some(verdict) = app.state.directory().verdict(id) {
            found.insert((*id).to_owned(), verdict.group().to_owned());
        }
    }
    let missing: Vec<String> = ids.iter().filter(|id| !found.contains_key(**id)).map(|id| (*id).to_owned()).collect();
    if missing.is_empty() || app.settings.bus.kind == BusKind::Kafka {
        return Ok(found);
    }
    let asking = app.clone();
    let looked = Book::alone(app, move || {
        heads(&*asking.bus, &asking.settings.topics.verdicts, missing.iter().map(String::as_str))
    });
    found.extend(looked.await?.map_err(|error| Problem::of_bus(&error))?);
    Ok(found)
}

/// Appends the labels; what is told of them when they are durable.
async fn posted(app: &App, postings: Vec<Posting>, room: Option<OwnedSemaphorePermit>) -> Result<Vec<Posted>, Problem> {
    if postings.is_empty() {
        return Ok(Vec::new());
    }
    let topic = &app.settings.topics.labels;
    let dispatched = |posting: &Posting| Dispatched { id: None, known_as: None, outgoing: posting.outgoing(topic) };
    let fed = app.feed.append(postings.iter().map(dispatched).collect(), room).await?;
    Ok(postings.into_iter().zip(fed).map(|(posting, fed)| posting.posted(fed.place)).collect())
}

/// A label as it was sent: `why` and `at` may be left out.
fn label(json: &[u8]) -> Result<Label, String> {
    let mut fields: Map<String, Value> = serde_json::from_slice(json).map_err(|error| error.to_string())?;
    fields.entry("why").or_insert_with(|| "".into());
    fields.entry("at").or_insert_with(|| now().into());
    let record: Record = serde_json::from_value(fields.into()).map_err(|error| error.to_string())?;
    Label::try_from(record).map_err(|problems| problems.to_string())
}

/// What a query wants to be taken back.
fn asked(mut query: Query<'_>) -> Result<Delisting, Problem> {
    let mut needed = |name: &str| query.text(name).ok_or_else(|| wrong(name, "is missing"));
    let (target, label, by) = (target(&needed("target")?)?, needed("label")?, needed("by")?);
    let why = query.text("why").unwrap_or_default();
    let everyone = query.word("everyone", &[("true", true), ("false", false)])?.unwrap_or(false);
    query.end("target, label, by, why, everyone")?;
    Ok(Delisting { target, label, by, why, everyone })
}

/// A target in a query: its sort, a colon, and all that follows.
fn target(text: &str) -> Result<Target, Problem> {
    match text.split_once(':') {
        Some(("document", id)) => Ok(Target::Document(id.to_owned())),
        Some(("cluster", id)) => Ok(Target::Cluster(id.to_owned())),
        Some(("domain", domain)) => Ok(Target::Domain(domain.to_owned())),
        _ => Err(wrong("target", "is document:ID, cluster:ID or domain:NAME")),
    }
}

fn unprocessable(detail: String) -> Problem {
    Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "label", detail)
}

/// Whether there is one label on each line.
fn is_lines(headers: &HeaderMap) -> Result<bool, Problem> {
    let written = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    match &*written.split(';').next().unwrap_or_default().trim().to_ascii_lowercase() {
        "application/json" => Ok(false),
        "application/x-ndjson" | "application/ndjson" | "application/jsonl" | "application/x-jsonlines" => Ok(true),
        _ => {
            let detail = "a label is `application/json`, several are `application/x-ndjson`";
            Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "content_type", detail))
        }
    }
}
