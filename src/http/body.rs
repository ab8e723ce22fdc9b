//! The body of a request, within bounds of size, time and memory.

use super::problem::Problem;
use axum::body::{Body, HttpBody};
use axum::http::{HeaderMap, StatusCode, header};
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// What requests may hold.
pub(super) struct Room {
    body_bytes_max: usize,
    timeout: Duration,
    /// One permit for each [`UNIT_BYTES`] of bodies that are not dealt with yet.
    waiting: Arc<Semaphore>,
    /// What is told where there is none.
    full: &'static str,
}

/// So many times the largest body is read and dropped to tell somebody that theirs is too large.
const DRAINED_BODIES: usize = 2;

/// A semaphore counts to 2^32 at a time.
const UNIT_BYTES: usize = 4096;

/// A body, and the room it takes until it is dropped.
pub(super) struct Held {
    pub(super) bytes: Vec<u8>,
    pub(super) room: OwnedSemaphorePermit,
}

impl Room {
    pub(super) fn new(body_bytes_max: usize, waiting_bytes_max: usize, timeout: Duration, full: &'static str) -> Self {
        let n_units = waiting_bytes_max.div_ceil(UNIT_BYTES).min(Semaphore::MAX_PERMITS);
        Self { body_bytes_max, timeout, waiting: Arc::new(Semaphore::new(n_units)), full }
    }

    /// The whole body, when it is there. Room is taken as bytes come: who only says that there will be many takes none.
    pub(super) async fn collected(&self, headers: &HeaderMap, body: Body) -> Result<Held, Problem> {
        let too_large = || Problem::too_large("the request", self.body_bytes_max, "http.body_bytes_max");
        let announced = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
        let mut body = pin!(body);
        if announced.is_some_and(|announced| announced > self.body_bytes_max as u64) {
            self.drain(body).await;
            return Err(too_large());
        }
        let mut held = Held { bytes: Vec::new(), room: self.unit()? };
        let collect = async {
            while let Some(frame) = poll_fn(|cx| body.as_mut().poll_frame(cx)).await {
                let frame = frame.map_err(|error| {
                    let detail = format!("the request ended too early: {error}");
                    Problem::new(StatusCode::BAD_REQUEST, "cut_off", detail)
                })?;
                let Ok(piece) = frame.into_data() else { continue };
                if held.bytes.len() + piece.len() > self.body_bytes_max {
                    return Err(too_large());
                }
                while held.room.num_permits() * UNIT_BYTES < held.bytes.len() + piece.len() {
                    held.room.merge(self.unit()?);
                }
                held.bytes.extend_from_slice(&piece);
            }
            Ok(())
        };
        match tokio::time::timeout(self.timeout, collect).await {
            Ok(Ok(())) => Ok(held),
            Ok(Err(problem)) => {
                drop(held);
                self.drain(body).await;
                Err(problem)
            }
            Err(_) => {
                let detail =
                    format!("the request was not complete after {} ms (http.timeout_ms)", self.timeout.as_millis());
                Err(Problem::new(StatusCode::REQUEST_TIMEOUT, "timeout", detail))
            }
        }
    }

    /// Reads on and keeps nothing, within bounds: a client that is still sending when the connection closes sees no answer.
    async fn drain(&self, mut body: Pin<&mut Body>) {
        let drain = async {
            let mut n_left = DRAINED_BODIES * self.body_bytes_max;
            while let Some(Ok(frame)) = poll_fn(|cx| body.as_mut().poll_frame(cx)).await {
                let n_bytes = frame.data_ref().map_or(0, |piece| piece.len());
                n_left = n_left.saturating_sub(n_bytes);
                if n_left == 0 {
                    return;
                }
            }
        };
        // Who is slower sees no answer.
        let _slow = tokio::time::timeout(self.timeout, drain).await.is_err();
    }

    fn unit(&self) -> Result<OwnedSemaphorePermit, Problem> {
        let full = |_| Problem::busy("memory", self.full);
        self.waiting.clone().try_acquire_owned().map_err(full)
    }
}
