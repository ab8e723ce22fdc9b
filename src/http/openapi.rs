//! `GET /openapi.json`: what can be asked for, as a document that programs read (OpenAPI 3.1).
//!
//! The paths are those of the routes, described where they are served; the shapes are those of `schemas/`, which are named there as
//! files and stand in the document under `components`.
//!
//! # Invariants
//! - Every route is in the document, and every shape that it names. (`the_document_is_whole`)
//! - What is served is what the document says. (`tests/promises/http/contract.rs`)

use super::App;
use super::problem::Problem;
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{Components, ContentBuilder, HeaderBuilder, Object, Ref, RefOr, Response, ResponseBuilder, Type};
use utoipa::{IntoResponses, Modify, OpenApi};

/// All that can be asked for; the routes bring their paths.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Seamripper",
        description = "Pages and mails in; verdicts, clusters and explanations out. Reading needs no token on the machine itself; \
                       everything else does. Problems are RFC 9457. Docs: docs/RUN.md."
    ),
    tags(
        (name = "in", description = "Documents for the filter."),
        (name = "out", description = "What it said of them."),
        (name = "labels", description = "What people say of them."),
        (name = "run", description = "How it is doing."),
    ),
    modifiers(&Token),
)]
pub(super) struct Api;

/// The token, as the document has it.
struct Token;

impl Modify for Token {
    fn modify(&self, api: &mut utoipa::openapi::OpenApi) {
        let token = HttpBuilder::new()
            .scheme(HttpAuthScheme::Bearer)
            .description(Some("It stands in `http.token_file`, which the first start makes."));
        let components = api.components.get_or_insert_with(Components::new);
        components.add_security_scheme("token", SecurityScheme::Http(token.build()));
    }
}

/// What any request may be answered with.
impl IntoResponses for Problem {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        let later = HeaderBuilder::new()
            .schema(Some(Object::with_type(Type::Integer)))
            .description(Some("Seconds after which to come again."))
            .build();
        BTreeMap::from([
            ("400".into(), problem("The query, or the id in the path, cannot be read.").build().into()),
            ("401".into(), problem("This needs the token.").build().into()),
            (
                "403".into(),
                problem("A page of another site asks, without the token; or it is not shown here.").build().into(),
            ),
            ("421".into(), problem("Asked for by a name that is not this machine's own.").build().into()),
            ("429".into(), problem("This address asks too often.").header("retry-after", later.clone()).build().into()),
            ("500".into(), problem("A bug, or damage.").build().into()),
            ("503".into(), problem("Not now.").header("retry-after", later).build().into()),
        ])
    }
}

/// What can be wrong with any request that has a body.
pub(super) struct BodyProblem;

impl IntoResponses for BodyProblem {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        BTreeMap::from([
            ("408".into(), problem("The request was not complete in time.").build().into()),
            ("413".into(), problem("It is too large.").build().into()),
        ])
    }
}

/// What can be wrong with a request that brings documents.
pub(super) struct DocumentProblem;

impl IntoResponses for DocumentProblem {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        let mut responses = BodyProblem::responses();
        responses.extend([
            ("404".into(), problem("This input is left out (topics).").build().into()),
            ("415".into(), problem("The content type says nothing that is known here.").build().into()),
        ]);
        responses
    }
}

fn problem(description: &str) -> ResponseBuilder {
    let content = ContentBuilder::new().schema(Some(Ref::new("problem.json"))).build();
    ResponseBuilder::new().description(description).content("application/problem+json", content)
}

/// The shapes that are named, by their names.
const SCHEMAS: &[(&str, &str)] = &[
    ("accepted", include_str!("../../schemas/accepted.json")),
    ("check", include_str!("../../schemas/check.json")),
    ("cluster", include_str!("../../schemas/cluster.json")),
    ("clusters", include_str!("../../schemas/clusters.json")),
    ("comparison", include_str!("../../schemas/comparison.json")),
    ("document", include_str!("../../schemas/document.json")),
    ("email", include_str!("../../schemas/email.json")),
    ("explanation", include_str!("../../schemas/explanation.json")),
    ("labelled", include_str!("../../schemas/labelled.json")),
    ("labels", include_str!("../../schemas/labels.json")),
    ("line", include_str!("../../schemas/line.json")),
    ("liveness", include_str!("../../schemas/liveness.json")),
    ("members", include_str!("../../schemas/members.json")),
    ("page", include_str!("../../schemas/page.json")),
    ("problem", include_str!("../../schemas/problem.json")),
    ("prototype", include_str!("../../schemas/prototype.json")),
    ("readiness", include_str!("../../schemas/readiness.json")),
    ("stats", include_str!("../../schemas/stats.json")),
    ("text", include_str!("../../schemas/text.json")),
    ("verdict", include_str!("../../schemas/verdict.json")),
    ("verdicts", include_str!("../../schemas/verdicts.json")),
];

/// What can be asked for.
#[utoipa::path(
    get, path = "/openapi.json", tag = "run", operation_id = "openapi", security((), ("token" = [])),
    responses((status = 200, description = "This document.", body = Object, content_type = "application/json"), Problem)
)]
pub(super) async fn openapi(State(app): State<Arc<App>>) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], app.openapi.clone())
}

/// The document of these routes, with the shapes that they name.
pub(super) fn written(api: &utoipa::openapi::OpenApi) -> String {
    let mut document = serde_json::to_value(api).expect("the document has no map with odd keys");
    // In a route the id is all that follows, with its slashes.
    let paths = std::mem::take(&mut document["paths"]);
    let plain = |(path, item): (String, Value)| (path.replace("{*", "{"), item);
    document["paths"] = match paths {
        Value::Object(paths) => paths.into_iter().map(plain).collect::<Map<_, _>>().into(),
        _ => json!({}),
    };
    // Nothing is nothing to be judged.
    let items = document["paths"].as_object_mut().into_iter().flat_map(Map::values_mut);
    for operation in items.filter_map(Value::as_object_mut).flat_map(Map::values_mut) {
        if let Some(body) = operation.get_mut("requestBody") {
            body["required"] = true.into();
        }
    }
    let mut shapes = Map::new();
    let mut named = Vec::new();
    point_inside(&mut document, "", &mut named);
    while let Some(name) = named.pop() {
        if shapes.contains_key(&name) {
            continue;
        }
        let text = SCHEMAS.iter().find(|(other, _)| *other == name).map(|(_, text)| *text);
        let text = text.unwrap_or_else(|| panic!("schemas/{name}.json is named, and not among the shapes"));
        let mut shape: Value = serde_json::from_str(text).expect("schemas are JSON, the tests have read them");
        if let Some(shape) = shape.as_object_mut() {
            shape.remove("$schema");
        }
        point_inside(&mut shape, &name, &mut named);
        shapes.insert(name, shape);
    }
    document["components"]["schemas"] = shapes.into();
    document.to_string()
}

/// Lets references to files, and those inside the file `own`, point to where the shapes stand in the document; notes their names.
fn point_inside(value: &mut Value, own: &str, named: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            if let Some(Value::String(target)) = object.get_mut("$ref") {
                if let Some(inside) = target.strip_prefix("#/$defs/") {
                    *target = format!("#/components/schemas/{own}/$defs/{inside}");
                } else if let Some((name, inside)) = target.split_once(".json") {
                    let inside = inside.strip_prefix('#').unwrap_or(inside);
                    named.push(name.to_owned());
                    *target = format!("#/components/schemas/{name}{inside}");
                }
            }
            object.values_mut().for_each(|value| point_inside(value, own, named));
        }
        Value::Array(values) => values.iter_mut().for_each(|value| point_inside(value, own, named)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::super::router::routes;
    use super::*;
    use std::collections::BTreeSet;

    fn references(value: &Value, found: &mut BTreeSet<String>) {
        match value {
            Value::Object(object) => {
                found.extend(object.get("$ref").and_then(Value::as_str).map(str::to_owned));
                object.values().for_each(|value| references(value, found));
            }
            Value::Array(values) => values.iter().for_each(|value| references(value, found)),
            _ => {}
        }
    }

    #[test]
    fn the_document_is_whole() {
        let (_, api) = routes().split_for_parts();
        let document: Value = serde_json::from_str(&written(&api)).unwrap();
        assert_eq!(document["openapi"], "3.1.0");
        let mut found = BTreeSet::new();
        references(&document, &mut found);
        for target in &found {
            let pointer = target.strip_prefix('#').unwrap_or_else(|| panic!("{target} points out of the document"));
            assert!(document.pointer(pointer).is_some(), "{target} points to nothing");
        }
        let shapes = document["components"]["schemas"].as_object().unwrap();
        assert_eq!(shapes.len(), SCHEMAS.len(), "a shape that nothing names: {:?}", shapes.keys());
        let mut ids = BTreeSet::new();
        for (path, item) in document["paths"].as_object().unwrap() {
            for (method, operation) in item.as_object().unwrap() {
                let name = format!("{method} {path}");
                assert!(ids.insert(operation["operationId"].as_str().unwrap()), "{name} shares its id");
                assert!(operation["summary"].as_str().is_some_and(|summary| summary.ends_with('.')), "{name}");
                let codes: Vec<&String> = operation["responses"].as_object().unwrap().keys().collect();
                let is_open = super::super::access::OPEN.contains(&&**path);
                assert_eq!(codes.iter().any(|code| **code == "429"), !is_open, "{name}: {codes:?}");
                for (code, response) in operation["responses"].as_object().unwrap() {
                    let is_problem = response["content"].get("application/problem+json").is_some();
                    let is_good = code.starts_with('2') || is_open;
                    assert!(is_problem || is_good, "{name} {code}");
                }
                for parameter in operation["parameters"].as_array().into_iter().flatten() {
                    let texts = [&parameter["description"], &parameter["schema"]["description"]];
                    let described = texts.iter().any(|text| text.as_str().is_some_and(|text| text.ends_with('.')));
                    assert!(described, "{name}: {parameter}");
                }
            }
        }
    }
}
