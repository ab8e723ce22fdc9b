//! `/metrics`: what was counted, as Prometheus reads it.

use super::App;
use super::problem::Problem;
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use metrics_exporter_prometheus::PrometheusHandle;
use std::sync::Arc;
use std::time::Duration;

/// So often what histograms have gathered is put into their buckets, so that it does not grow while nobody asks.
const UPKEEP_EVERY: Duration = Duration::from_secs(5);

/// What was counted, as Prometheus reads it.
#[utoipa::path(
    get, path = "/metrics", tag = "run", operation_id = "metrics", security((), ("token" = [])),
    responses((status = 200, description = "The samples.", body = String, content_type = "text/plain"), Problem)
)]
pub(super) async fn metrics(State(app): State<Arc<App>>) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], app.metrics.render())
}

/// Keeps what is counted small, for ever.
pub(super) async fn upkeep(handle: PrometheusHandle) {
    loop {
        tokio::time::sleep(UPKEEP_EVERY).await;
        handle.run_upkeep();
    }
}
