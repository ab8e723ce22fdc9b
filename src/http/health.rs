//! `/healthz` and `/readyz`: whether this instance is there, and whether work can be given to it.

use super::App;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use serde_json::json;
use std::sync::Arc;

/// Whether this instance is there.
#[utoipa::path(
    get, path = "/healthz", tag = "run", operation_id = "healthz", security(()),
    responses((status = 200, description = "It is.", body = ref("liveness.json")))
)]
pub(super) async fn alive() -> impl IntoResponse {
    Json(json!({"alive": true, "version": env!("CARGO_PKG_VERSION")}))
}

/// Whether work can be given to this instance.
///
/// A standby is ready: what it is given goes to the bus, and it can take over. One that restores is not.
#[utoipa::path(
    get, path = "/readyz", tag = "run", operation_id = "readyz", security(()),
    responses(
        (status = 200, description = "It can.", body = ref("readiness.json")),
        (status = 503, description = "Not now.", body = ref("readiness.json")),
    )
)]
pub(super) async fn ready(State(app): State<Arc<App>>) -> impl IntoResponse {
    let (role, phase) = (app.state.role(), app.state.phase());
    let status = if phase.is_ready() { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(json!({"ready": phase.is_ready(), "role": role, "state": phase.name(role)})))
}
