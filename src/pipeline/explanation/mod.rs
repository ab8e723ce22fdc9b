//! Why a document got its verdict: every score beside its threshold ([`scores`]), the passages that it shares with those that the
//! verdict names, quoted from both texts where these can still be read ([`shared`]), and whom it is near to and yet no mirror of
//! ([`near`]).
//!
//! `seamripper explain` reads files again, and `GET /v1/explain` records of a bus ([`records`]), as `GET /v1/texts` does. `seamripper
//! compare` has two documents and no stream: what the filter would say of them alone is a [`pair`].
//!
//! # Invariants
//! - What can no longer be read is said to be gone, and nothing is made up for it. (`tests/promises/explain_command.rs`,
//!   `tests/promises/http/explain.rs`)

pub mod near;
pub mod pair;
pub mod records;
pub mod scores;
pub mod shared;

use crate::document::Kind;
use crate::verdict::event::{ClusterEvent, Source, Verdict};
use near::NoMirror;
use scores::Score;
use serde::Serialize;
use shared::Shared;

/// The number of the rules of the JSON object (`schemas/explanation.json`).
pub const SCHEMA: u32 = 1;

/// Why a document got its verdict.
#[derive(Serialize)]
pub struct Explanation {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The document.
    pub id: String,
    /// Whether the verdict was computed anew, or is what was said.
    pub recomputed: bool,
    /// What is known of the record where there is no verdict any more.
    pub record: Option<Record>,
    /// What was said last.
    pub verdict: Option<Verdict>,
    /// Events of the id, the verdict included.
    pub n_events: usize,
    /// Every score beside its threshold.
    pub scores: Vec<Score>,
    /// The cluster as it is at the end.
    pub cluster: Option<ClusterEvent>,
    /// Whose copy it is, and the sources of a quilt, with the passages.
    pub shared: Vec<Shared>,
    /// Whom it is nearest to, where it is nobody's mirror and was compared with somebody.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub near: Option<NoMirror>,
    /// Whether its own text could not be read.
    pub text_is_gone: bool,
}

/// What a store knows of a document beside its verdict.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Record {
    /// Page or mail.
    pub kind: Kind,
    /// Where its record is; `None` for copies, whose records are not kept.
    pub source: Option<Source>,
    /// The first of its group, where that is another document.
    pub copy_of: Option<String>,
    /// Documents of the group so far.
    pub group_size: u32,
    /// Their registered domains.
    pub group_domains: u32,
}
