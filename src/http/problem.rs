//! What is told when a request cannot be served: `application/problem+json` (RFC 9457) with a text that says what to do.

use crate::bus::BusError;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;
use std::time::Duration;

/// A request that is not served, and why.
#[derive(Debug)]
pub(super) struct Problem {
    status: StatusCode,
    /// A short fixed word for programs.
    reason: &'static str,
    detail: String,
    /// When to come again, in seconds.
    retry_after_s: Option<u64>,
}

/// When somebody who was turned away for want of room may come again, in seconds.
const RETRY_AFTER_S: u64 = 2;

impl Problem {
    pub(super) fn new(status: StatusCode, reason: &'static str, detail: impl Into<String>) -> Self {
        let retry_after_s = (status == StatusCode::SERVICE_UNAVAILABLE).then_some(RETRY_AFTER_S);
        Self { status, reason, detail: detail.into(), retry_after_s }
    }

    /// The same, for somebody who may come again after `wait`.
    pub(super) fn retry_after(self, wait: Duration) -> Self {
        Self { retry_after_s: Some(wait.as_secs() + 1), ..self }
    }

    pub(super) fn too_large(what: &str, limit: usize, setting: &str) -> Self {
        let detail = format!("{what} is larger than {limit} bytes ({setting})");
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", detail)
    }

    /// There is no room now; counted, since that is what an operator wants to know.
    pub(super) fn busy(reason: &'static str, detail: impl Into<String>) -> Self {
        metrics::counter!(crate::metrics::FEED_REJECTED, "reason" => reason).increment(1);
        Self::new(StatusCode::SERVICE_UNAVAILABLE, reason, detail)
    }

    /// A handler has met a bug; what happened is in the log.
    pub(super) fn bug(error: &tokio::task::JoinError) -> Self {
        tracing::error!(%error, "a request has met a bug in seamripper");
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "bug",
            "this request has met a bug in seamripper, please report it",
        )
    }

    /// What the bus said, to somebody who asked for something of it.
    pub(super) fn of_bus(error: &BusError) -> Self {
        match error {
            BusError::TooLarge { .. } => Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", error.to_string()),
            BusError::Gone { .. } => Self::new(StatusCode::GONE, "gone", error.to_string()),
            BusError::Damaged { .. } => Self::new(StatusCode::INTERNAL_SERVER_ERROR, "damaged", error.to_string()),
            BusError::NoTopic { .. } => Self::busy("no_topic", error.to_string()),
            _ => Self::busy("bus", error.to_string()),
        }
    }

    #[cfg(test)]
    pub(super) fn status(&self) -> StatusCode {
        self.status
    }

    /// As one line, for a stream that has begun.
    pub(super) fn json(&self) -> serde_json::Value {
        let Self { status, reason, detail, .. } = self;
        let title = status.canonical_reason().unwrap_or("error");
        json!({"type": "about:blank", "title": title, "status": status.as_u16(), "reason": reason, "detail": detail})
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = (self.status, self.json().to_string() + "\n").into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(seconds) = self.retry_after_s {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        response
    }
}
