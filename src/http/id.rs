//! An id in a path: all that follows, with its slashes, percent-encoded where it has to be.
//!
//! # Invariants
//! - Every id that a document can have can be asked for. (`tests/promises/http/directory.rs`)

use super::problem::Problem;
use axum::extract::rejection::PathRejection;
use axum::extract::{FromRequestParts, Path};
use axum::http::StatusCode;
use axum::http::request::Parts;

/// The id at the end of the path.
pub(super) struct Id(pub(super) String);

impl<S: Send + Sync> FromRequestParts<S> for Id {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let path: Result<Path<String>, PathRejection> = Path::from_request_parts(parts, state).await;
        let Path(id) = path.map_err(|_| {
            let detail = "the id in the path is not UTF-8: percent-encode its bytes";
            Problem::new(StatusCode::BAD_REQUEST, "id", detail)
        })?;
        Ok(Self(id))
    }
}
