//! `GET /v1/prototypes/{id}`: a document that others are compared with: its group, and what is kept of it.

use super::App;
use super::id::Id;
use super::problem::Problem;
use super::query::Query;
use crate::document::Kind;
use crate::pipeline::run::question::{Answer, Group, Known, Prototype as Record, Question};
use axum::Json;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use serde::Serialize;
use std::sync::Arc;

/// A stored document (`schemas/prototype.json`).
#[derive(Serialize)]
pub(super) struct Prototype {
    id: String,
    kind: Kind,
    group: Option<Group>,
    #[serde(flatten)]
    record: Record,
}

/// A document that others are compared with: its group, and what the store keeps of it.
#[utoipa::path(
    get, path = "/v1/prototypes/{*id}", tag = "out", operation_id = "prototype", security((), ("token" = [])),
    params(("id" = String, Path, description = "The document's id, with its slashes; percent-encode what a path cannot hold.")),
    responses(
        (status = 200, description = "The prototype.", body = ref("prototype.json")),
        (
            status = 404,
            description = "The store has no record of its own of this document.",
            body = ref("problem.json"),
            content_type = "application/problem+json",
        ),
        Problem,
    )
)]
pub(super) async fn prototype(
    State(app): State<Arc<App>>,
    Id(id): Id,
    RawQuery(query): RawQuery,
) -> Result<Json<Prototype>, Problem> {
    Query::read(query.as_deref()).end("no names")?;
    app.holds_verdicts()?;
    let Answer::Document(known) = app.ask(Question::Document(id.clone())).await? else {
        unreachable!("a document was asked for")
    };
    let unknown = |detail: &str| Problem::new(StatusCode::NOT_FOUND, "no_prototype", detail);
    match known.map(|known| *known) {
        Some(Known { kind, group, prototype: Some(record), .. }) => Ok(Json(Prototype { id, kind, group, record })),
        Some(Known { group: Some(Group { head, .. }), .. }) => {
            Err(unknown(&format!("this is a copy, of which nothing is kept; the first of its group is {head}")))
        }
        Some(_) => Err(unknown("this document was seen, but nothing is kept of it any more")),
        None => Err(unknown("the store knows no such document: it was never judged, or has given way to others")),
    }
}
