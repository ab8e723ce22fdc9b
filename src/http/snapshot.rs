//! `GET /v1/snapshot`: the newest snapshot that is whole, for a standby that has none.
//!
//! # Invariants
//! - What arrives is the file, byte for byte, with the name that it has here. (`a_snapshot_travels_whole`)

use super::App;
use super::channel::{PIECE_BYTES, Pieces, answer};
use super::problem::Problem;
use crate::pipeline::run::snapshots::{Kept, Snapshots};
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use std::fs::File;
use std::io::Read;
use std::sync::Arc;
use std::thread;
use tokio::sync::OwnedSemaphorePermit;

/// Snapshots that are sent at once: each reads gigabytes from the disk that the run needs too.
pub(super) const AT_ONCE_MAX: usize = 2;

/// The header with the name of a snapshot, which says where in the journal to go on.
const NAME: &str = "seamripper-snapshot";

/// The newest snapshot, for a standby on another machine.
#[utoipa::path(
    get, path = "/v1/snapshot", tag = "run", operation_id = "snapshot", security(("token" = [])),
    responses(
        (status = 200, description = "The file; `seamripper-snapshot` is its name.", content_type = "application/octet-stream"),
        (status = 404, description = "There is none yet.", body = ref("problem.json"), content_type = "application/problem+json"),
        Problem,
    )
)]
pub(super) async fn newest(State(app): State<Arc<App>>) -> Result<Response, Problem> {
    let full = |_| Problem::busy("snapshots", "as many snapshots are being sent as may be");
    let permit = app.downloads.clone().try_acquire_owned().map_err(full)?;
    let settings = app.settings.clone();
    let opened = tokio::task::spawn_blocking(move || opened(&settings)).await;
    let opened = opened.map_err(anyhow::Error::from).and_then(|opened| opened);
    let opened =
        opened.map_err(|error| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "snapshot", format!("{error:#}")))?;
    let Some((name, file, n_bytes)) = opened else {
        return Err(Problem::new(StatusCode::NOT_FOUND, "no_snapshot", "there is no snapshot yet (snapshot.every_s)"));
    };
    let (pieces, body) = answer();
    thread::Builder::new()
        .name("http-snapshot".into())
        .spawn(move || send(file, n_bytes, &pieces, permit))
        .map_err(|error| Problem::busy("snapshots", format!("no thread to send it: {error}")))?;
    let headers = [
        (header::CONTENT_TYPE, "application/octet-stream".to_owned()),
        (header::CONTENT_LENGTH, n_bytes.to_string()),
        (header::HeaderName::from_static(NAME), name),
    ];
    Ok((headers, body).into_response())
}

/// The newest snapshot, open: it can be removed while it is being sent.
fn opened(settings: &crate::config::Settings) -> anyhow::Result<Option<(String, File, u64)>> {
    for Kept { path, .. } in Snapshots::open(settings)?.kept()? {
        match File::open(&path) {
            Ok(file) => {
                let n_bytes = file.metadata()?.len();
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                return Ok(Some((name, file, n_bytes)));
            }
            // A newer one has taken its place this moment.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(None)
}

fn send(file: File, n_bytes: u64, pieces: &Pieces, _permit: OwnedSemaphorePermit) {
    let mut file = file.take(n_bytes);
    loop {
        let mut piece = Vec::with_capacity(PIECE_BYTES);
        let read = file.by_ref().take(PIECE_BYTES as u64).read_to_end(&mut piece);
        let (is_last, piece) = match read {
            Ok(0) => return,
            Ok(_) => (false, Ok(piece)),
            Err(error) => (true, Err(error)),
        };
        // Nobody wants it any more.
        if pieces.blocking_send(piece).is_err() || is_last {
            return;
        }
    }
}
