//! `/healthz` and `/readyz`: whether this instance is there, and whether work can be given to it.

use super::App;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use serde_json::json;
use std::sync::Arc;

pub(super) async fn alive() -> impl IntoResponse {
    Json(json!({"alive": true, "version": env!("CARGO_PKG_VERSION")}))
}

/// A standby is ready: what it is given goes to the bus, and it can take over. One that restores is not.
pub(super) async fn ready(State(app): State<Arc<App>>) -> impl IntoResponse {
    let (role, phase) = (app.state.role(), app.state.phase());
    let status = if phase.is_ready() { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(json!({"ready": phase.is_ready(), "role": role, "state": phase.name(role)})))
}
