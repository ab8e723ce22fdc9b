//! `POST /v1/forget`: the store forgets a document, with all that is kept of it (`schemas/forget.json`).
//!
//! It goes the way of labels, and is answered when it is durable: with the next batch, later documents are judged as if it had never come.
//! What was published of it stays in the topics for as long as they keep it.

use super::App;
use super::body::Held;
use super::openapi::BodyProblem;
use super::problem::Problem;
use crate::pipeline::dispatch::Dispatched;
use crate::pipeline::register::posting::{forgetting, now};
use crate::pipeline::run::label::Forget;
use crate::verdict::label::{Label, Record, Target};
use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use serde::Serialize;
use serde_json::{Map, Value};
use std::sync::Arc;

/// Where the request stands (`schemas/accepted.json`).
#[derive(Serialize)]
pub(super) struct Told {
    id: String,
    topic: Arc<str>,
    partition: i32,
    offset: i64,
}

/// Lets the store forget a document, with all that is kept of it. Answered when durable.
#[utoipa::path(
    post, path = "/v1/forget", tag = "labels", operation_id = "forget", security(("token" = [])),
    request_body(content(("application/json")), description = "As in schemas/forget.json, where `why` and `at` may be left out."),
    responses(
        (status = 200, description = "The request is durable.", body = ref("accepted.json")),
        BodyProblem,
        (status = 422, description = "It is no such request.", body = ref("problem.json"), content_type = "application/problem+json"),
        Problem,
    )
)]
pub(super) async fn forget(State(app): State<Arc<App>>, headers: HeaderMap, body: Body) -> Result<Json<Told>, Problem> {
    let Held { bytes, room } = app.room.collected(&headers, body).await?;
    let forget = read(&bytes).map_err(|detail| Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "forget", detail))?;
    let outgoing = forgetting(&forget, &app.settings.topics.labels);
    let fed = app.feed.append(vec![Dispatched { id: None, known_as: None, outgoing }], Some(room)).await?;
    let (partition, offset) = fed.into_iter().next().expect("one was appended").place;
    Ok(Json(Told { id: forget.forget, topic: partition.topic, partition: partition.number, offset }))
}

/// What was sent: `why` and `at` may be left out.
fn read(json: &[u8]) -> Result<Forget, String> {
    let mut fields: Map<String, Value> = serde_json::from_slice(json).map_err(|error| error.to_string())?;
    fields.entry("at").or_insert_with(|| now().into());
    let forget: Forget = serde_json::from_value(fields.into()).map_err(|error| error.to_string())?;
    let Forget { forget: id, by, why, at } = forget.clone();
    // The same rules as for labels hold for who, why and when.
    let (target, label) = (Target::Document(id), "forget".to_owned());
    let record = Record { target, label, by, why, at, undo: false, named: None, undone_by: None };
    let problems =
        Label::try_from(record).err().map(|problems| problems.to_string().replace("target.document", "forget"));
    problems.map_or(Ok(forget), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_and_what_are_needed() {
        let read = |json: &str| read(json.as_bytes());
        let least = read(r#"{"forget":"d","by":"ada"}"#).unwrap();
        assert_eq!((&*least.forget, &*least.by, &*least.why), ("d", "ada", ""));
        assert!(least.at.ends_with('Z'), "{}", least.at);
        for (wrong, said) in [
            (r#"{"forget":"d"}"#, "missing field `by`"),
            (r#"{"forget":"","by":"ada"}"#, "`forget` is empty"),
            (r#"{"forget":"d","by":"ada","at":"now"}"#, "`at` is no RFC 3339 time"),
            (r#"{"forget":"d","by":"ada","label":"spam"}"#, "unknown field `label`"),
            ("[]", "expected a map"),
        ] {
            let refused = read(wrong).unwrap_err();
            assert!(refused.contains(said), "{wrong}: {refused}");
        }
    }
}
