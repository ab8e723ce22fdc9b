//! `GET /v1/documents/{id}`: what is known of a document: what was last said of it, where its record is, and what the store keeps.

use super::App;
use super::id::Id;
use super::problem::Problem;
use super::query::Query;
use crate::pipeline::run::question::{Answer, Known, Question};
use crate::verdict::event::{Source, Verdict};
use axum::Json;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use serde::Serialize;
use std::sync::Arc;

/// What is known of a document (`schemas/document.json`).
#[derive(Serialize)]
pub(super) struct Document {
    id: String,
    verdict: Option<Arc<Verdict>>,
    source: Option<Source>,
    known: Option<Box<Known>>,
}

/// What is known of a document: its last verdict, where its record is, and what the store keeps of it.
#[utoipa::path(
    get, path = "/v1/documents/{*id}", tag = "out", operation_id = "document", security((), ("token" = [])),
    params(("id" = String, Path, description = "The document's id, with its slashes; percent-encode what a path cannot hold.")),
    responses(
        (status = 200, description = "What is known of it.", body = ref("document.json")),
        (status = 404, description = "Nothing is.", body = ref("problem.json"), content_type = "application/problem+json"),
        Problem,
    )
)]
pub(super) async fn document(
    State(app): State<Arc<App>>,
    Id(id): Id,
    RawQuery(query): RawQuery,
) -> Result<Json<Document>, Problem> {
    Query::read(query.as_deref()).end("no names")?;
    let (verdict, known) = looked_up(&app, &id).await?;
    let source = source(verdict.as_deref(), known.as_deref());
    Ok(Json(Document { id, verdict, source, known }))
}

/// Where a document's record is: as was last said, or as the store knows.
pub(super) fn source(verdict: Option<&Verdict>, known: Option<&Known>) -> Option<Source> {
    let stored = known.and_then(|known| known.prototype.as_ref()).map(|prototype| &prototype.source);
    verdict.map(|verdict| &verdict.source).or(stored).cloned()
}

/// What was last said of a document, of late or as the store remembers it, and what the store knows. One of them is known.
pub(super) async fn looked_up(app: &App, id: &str) -> Result<(Option<Arc<Verdict>>, Option<Box<Known>>), Problem> {
    app.holds_verdicts()?;
    let Answer::Document(mut known) = app.ask(Question::Document(id.to_owned())).await? else {
        unreachable!("a document was asked for")
    };
    let remembered = known.as_mut().and_then(|known| known.verdict.take()).map(Arc::new);
    let verdict = app.state.directory().verdict(id).or(remembered);
    if verdict.is_none() && known.is_none() {
        let detail = "no such document is known here: it was never judged, or it was so long ago that it has given way to \
                      others (http.verdicts_held_max, store.memory)";
        return Err(Problem::new(StatusCode::NOT_FOUND, "unknown_document", detail));
    }
    Ok((verdict, known))
}
