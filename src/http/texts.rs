//! `GET /v1/texts/{id}`: the visible text of a document, from its first byte on.
//!
//! Nobody keeps whole texts: the record is read again from the bus, by its position, and its text is what the filter saw of it; the spans of
//! verdicts are byte ranges in it. Where the record is gone, or is not to be read again, there may still be the beginning that the store
//! keeps of a prototype ([`crate::store::Excerpt`]).
//!
//! # Invariants
//! - So many are read at once, for so long, and no answer is larger than `texts.answer_bytes`; who finds no room is told to come
//!   again. (`texts_are_bounded`)
//! - Where it is turned off nothing is read, and nothing is shown. (`texts_can_be_turned_off`)
//! - What was forgotten is not shown from what the store kept. (`what_is_forgotten_is_shown_no_more`)

use super::App;
use super::document::{self, looked_up};
use super::id::Id;
use super::problem::Problem;
use super::query::Query;
use crate::config::TextsSettings;
use crate::document::{Kind, Reader, excerpt};
use crate::pipeline::explanation::records::{Found, Records};
use crate::pipeline::run::inlet::Ways;
use crate::signature::keyed::Keys;
use crate::store::{Excerpt, ExcerptRule};
use crate::verdict::event::Source;
use axum::Json;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use serde::Serialize;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Texts that are read at once: each holds a record.
pub(super) const AT_ONCE_MAX: usize = 4;
/// So long somebody waits for the turn: who looks at a quilt asks for all of its sources.
const TURN: Duration = Duration::from_secs(5);
/// What was not read by then is not read.
const PATIENCE: Duration = Duration::from_secs(10);

/// The visible text of a document (`schemas/text.json`).
#[derive(Serialize)]
pub(super) struct Text {
    id: String,
    kind: Kind,
    from: From,
    text: String,
    /// Of the whole text, where that is known.
    n_bytes: Option<usize>,
    complete: bool,
}

/// Where a text was found.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum From {
    /// In its record, which was read again.
    Record,
    /// In the store, which keeps its beginning.
    Excerpt,
}

/// The visible text of a document, from its first byte on: what the spans of verdicts are ranges in.
#[utoipa::path(
    get, path = "/v1/texts/{*id}", tag = "out", operation_id = "text", security((), ("token" = [])),
    params(
        ("id" = String, Path, description = "The document's id, with its slashes; percent-encode what a path cannot hold."),
        (
            "max_bytes" = Option<u64>, Query, minimum = 1, maximum = 1073741824,
            description = "At most so many bytes; `texts.answer_bytes` where nothing is said, and never more.",
        ),
    ),
    responses(
        (status = 200, description = "The text, or its beginning.", body = ref("text.json")),
        (
            status = 403,
            description = "Texts are not shown (`texts.reread`, `texts.excerpt_bytes`).",
            body = ref("problem.json"),
            content_type = "application/problem+json",
        ),
        (status = 404, description = "No such document.", body = ref("problem.json"), content_type = "application/problem+json"),
        (
            status = 410,
            description = "The document is known, and its text is not there any more.",
            body = ref("problem.json"),
            content_type = "application/problem+json",
        ),
        Problem,
    )
)]
pub(super) async fn text(
    State(app): State<Arc<App>>,
    Id(id): Id,
    RawQuery(query): RawQuery,
) -> Result<Json<Text>, Problem> {
    let mut query = Query::read(query.as_deref());
    let TextsSettings { reread, answer_bytes, .. } = app.settings.texts;
    let asked_bytes = query.number("max_bytes", 1..=1 << 30)?.map_or(usize::MAX, |asked| asked as usize);
    let bytes_max = asked_bytes.min(answer_bytes.get());
    query.end("max_bytes")?;
    let rule = ExcerptRule::of(&app.settings);
    if !(reread || rule.keeps(Kind::Page) || rule.keeps(Kind::Email)) {
        return Err(off());
    }
    let (verdict, known) = looked_up(&app, &id).await?;
    let kind = verdict.as_ref().and_then(|verdict| verdict.kind).or(known.as_ref().map(|known| known.kind));
    let source = document::source(verdict.as_deref(), known.as_deref()).filter(|_| reread);
    let excerpt = known.and_then(|known| known.excerpt);
    drop(verdict);
    let missed = match source {
        Some(source) => match again(app, id.clone(), source, bytes_max).await? {
            Ok(read) => return Ok(Json(read.told(id, From::Record))),
            Err(missed) => missed,
        },
        None if kind.is_some_and(|kind| !(reread || rule.keeps(kind))) => off(),
        None => gone(),
    };
    excerpt.map(|excerpt| Json(Beginning::of(excerpt, bytes_max).told(id, From::Excerpt))).ok_or(missed)
}

fn off() -> Problem {
    let detail = "texts are not shown here: records are not read again for people (texts.reread), and no beginnings are kept \
                  (texts.excerpt_bytes, texts.excerpt_emails)";
    Problem::new(StatusCode::FORBIDDEN, "texts_off", detail)
}

fn gone() -> Problem {
    let detail = "the text of this document is not there any more: its record is gone from the bus, or is not to be read again \
                  (texts.reread), and the store keeps no beginning of it";
    Problem::new(StatusCode::GONE, "text_is_gone", detail)
}

/// The beginning of a text.
struct Beginning {
    kind: Kind,
    text: String,
    /// Of the whole text.
    n_bytes: usize,
}

impl Beginning {
    fn of(excerpt: Excerpt, bytes_max: usize) -> Self {
        let Excerpt { kind, text, n_bytes } = excerpt;
        Self { kind, text: excerpt::of(&text, bytes_max).to_owned(), n_bytes }
    }

    fn told(self, id: String, from: From) -> Text {
        let Self { kind, text, n_bytes } = self;
        let complete = text.len() == n_bytes;
        Text { id, kind, from, text, n_bytes: Some(n_bytes), complete }
    }
}

/// The text of the document `id` in the record at `source`, or why it cannot be had from there.
async fn again(
    app: Arc<App>,
    id: String,
    source: Source,
    bytes_max: usize,
) -> Result<Result<Beginning, Problem>, Problem> {
    let turn = tokio::time::timeout(TURN, app.texts.clone().acquire_owned()).await;
    let full = |_| Problem::busy("texts", "as many texts are being read as may be");
    let permit = turn.map_err(full)?.expect("nobody closes it");
    let read = tokio::task::spawn_blocking(move || {
        let _permit = permit;
        let settings = &*app.settings;
        let record = match Records::new(app.bus.clone(), Ways::new(settings), Instant::now() + PATIENCE).find(&source) {
            Found::Document(record) => record,
            Found::Gone => return Err(gone()),
            Found::Late => return Err(Problem::busy("timeout", "the record could not be read again in time")),
            Found::Failed(error) => return Err(Problem::of_bus(&error)),
        };
        let mut reader = Reader::new(settings.limits.clone(), Keys::derive(settings.secret.reveal()));
        // Another may have its place.
        let document = reader.read(&record).ok().filter(|document| document.identity.id == id).ok_or_else(gone)?;
        let text = excerpt::of(&document.text, bytes_max).to_owned();
        Ok(Beginning { kind: document.kind, text, n_bytes: document.text.len() })
    });
    read.await.map_err(|error| Problem::bug(&error))
}
