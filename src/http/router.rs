//! The routes: one file for each resource, and this one that names them. All pass the same gate.

use super::openapi::{self, Api};
use super::problem::Problem;
use super::rate::Peer;
use super::{
    App, access, check, clusters, dashboard, document, documents, events, explain, exposition, forget, health, labels,
    prototype,
};
use super::{snapshot, stats, texts, verdicts};
use axum::Router;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use metrics::counter;
use std::sync::Arc;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Every resource, with what `/openapi.json` says of it.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::with_openapi(Api::openapi())
        .routes(routes!(health::alive))
        .routes(routes!(health::ready))
        .routes(routes!(exposition::metrics))
        .routes(routes!(openapi::openapi))
        .routes(routes!(documents::pages))
        .routes(routes!(documents::emails))
        .routes(routes!(verdicts::verdicts))
        .routes(routes!(events::events))
        .routes(routes!(document::document))
        .routes(routes!(prototype::prototype))
        .routes(routes!(explain::explain))
        .routes(routes!(texts::text))
        .routes(routes!(clusters::clusters))
        .routes(routes!(clusters::cluster))
        .routes(routes!(check::check))
        .routes(routes!(labels::labels, labels::put, labels::delist))
        .routes(routes!(forget::forget))
        .routes(routes!(stats::stats))
        .routes(routes!(snapshot::newest))
}

pub(super) fn router(app: Arc<App>) -> Router {
    let (router, _) = routes().split_for_parts();
    router
        // For people, not for programs.
        .route("/", get(dashboard::index))
        .route("/dashboard/{*name}", get(dashboard::file))
        .fallback(unknown)
        .method_not_allowed_fallback(other_method)
        .layer(from_fn_with_state(app.clone(), gate))
        .with_state(app)
}

/// Lets in who may come in, and counts what came of it.
async fn gate(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    // What else may be asked for is for others to choose.
    let path =
        request.extensions().get::<MatchedPath>().map_or("other".into(), |path| path.as_str().replace("{*", "{"));
    let mut response = match admitted(&app, &request) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    };
    let status = response.status().as_u16().to_string();
    counter!(crate::metrics::HTTP_REQUESTS, "path" => path, "status" => status).increment(1);
    // Whatever is in a document, no browser takes it for a page of ours.
    response.headers_mut().insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// Who asks whether we are there is always told; all others may ask so often, and for what they may see.
fn admitted(app: &App, request: &Request) -> Result<(), Problem> {
    let path = request.uri().path();
    if let Some(peer) = request.extensions().get::<Peer>().filter(|_| !access::OPEN.contains(&path)) {
        app.rate.admit(*peer)?;
    }
    app.access.check(request.method(), request.uri(), request.headers())
}

async fn unknown() -> Problem {
    Problem::new(StatusCode::NOT_FOUND, "unknown_path", "there is nothing here; /openapi.json says what there is")
}

async fn other_method() -> Problem {
    let detail = "what is there takes another method; /openapi.json says which";
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method", detail)
}
