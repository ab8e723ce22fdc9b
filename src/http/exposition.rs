//! `/metrics`: what was counted, as Prometheus reads it.

use super::App;
use super::problem::Problem;
use super::server::Server;
use axum::Router;
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use axum::routing::get;
use metrics_exporter_prometheus::PrometheusHandle;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;

/// So often what histograms have gathered is put into their buckets, so that it does not grow while nobody asks.
const UPKEEP_EVERY: Duration = Duration::from_secs(5);

fn rendered(metrics: &PrometheusHandle) -> impl IntoResponse + use<> {
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], metrics.render())
}

/// What was counted, as Prometheus reads it.
#[utoipa::path(
    get, path = "/metrics", tag = "run", operation_id = "metrics", security((), ("token" = [])),
    responses((status = 200, description = "The samples.", body = String, content_type = "text/plain"), Problem)
)]
pub(super) async fn metrics(State(app): State<Arc<App>>) -> impl IntoResponse {
    rendered(&app.metrics)
}

/// Keeps what is counted small, for ever.
pub(crate) async fn upkeep(handle: PrometheusHandle) {
    loop {
        tokio::time::sleep(UPKEEP_EVERY).await;
        handle.run_upkeep();
    }
}

/// `/metrics` and `/healthz` alone, for what is no run.
pub(crate) struct Exposition {
    pub(crate) listener: TcpListener,
    pub(crate) metrics: PrometheusHandle,
    /// Becomes true.
    pub(crate) stopping: watch::Receiver<bool>,
}

impl Exposition {
    /// A few ask at once, and none for long.
    const CONNECTIONS_MAX: usize = 16;
    const TIMEOUT: Duration = Duration::from_secs(5);

    /// Serves until asked to stop.
    pub(crate) async fn run(self) {
        let Self { listener, metrics, stopping } = self;
        tokio::spawn(upkeep(metrics.clone()));
        let router = Router::new()
            .route("/metrics", get(async move || rendered(&metrics)))
            .route("/healthz", get(async || "ok\n"));
        let (connections_max, timeout) = (Self::CONNECTIONS_MAX, Self::TIMEOUT);
        Server { listener, router, connections_max, timeout, stopping }.run().await;
    }
}
