//! The routes: one file for each resource, and this one that names them. All pass the same gate.

use super::problem::Problem;
use super::{App, check, clusters, documents, events, exposition, health, snapshot, verdicts};
use axum::Router;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use metrics::counter;
use std::sync::Arc;

/// The paths that are counted under their own names; what else may be asked for is for others to choose.
const PATHS: [&str; 8] =
    ["/healthz", "/readyz", "/metrics", "/v1/pages", "/v1/emails", "/v1/check", "/v1/verdicts", "/v1/snapshot"];

pub(super) fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/healthz", get(health::alive))
        .route("/readyz", get(health::ready))
        .route("/metrics", get(exposition::text))
        .route("/v1/pages", post(documents::pages))
        .route("/v1/emails", post(documents::emails))
        .route("/v1/check", post(check::check))
        .route("/v1/verdicts", get(verdicts::verdicts))
        .route("/v1/events", get(events::events))
        .route("/v1/clusters", get(clusters::list))
        .route("/v1/clusters/{*id}", get(clusters::one))
        .route("/v1/snapshot", get(snapshot::newest))
        .fallback(unknown)
        .method_not_allowed_fallback(other_method)
        .layer(from_fn_with_state(app.clone(), gate))
        .with_state(app)
}

/// Lets in who may come in, and counts what came of it.
async fn gate(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let path = PATHS.into_iter().find(|path| *path == request.uri().path()).unwrap_or("other");
    let response = match app.access.check(request.method(), request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    };
    let status = response.status().as_u16().to_string();
    counter!(crate::metrics::HTTP_REQUESTS, "path" => path, "status" => status).increment(1);
    let mut response = response;
    // Whatever is in a document, no browser takes it for a page of ours.
    let nosniff = header::HeaderValue::from_static("nosniff");
    response.headers_mut().insert(header::X_CONTENT_TYPE_OPTIONS, nosniff);
    response
}

async fn unknown() -> Problem {
    let detail = format!("there is nothing here; there are {}", PATHS.join(", "));
    Problem::new(StatusCode::NOT_FOUND, "unknown_path", detail)
}

async fn other_method() -> Problem {
    let detail = "documents are sent with POST, and everything else is asked for with GET";
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method", detail)
}
