//! A page that others are compared with by their looks.

use super::super::cluster::Cluster;
use super::super::living::GENERATION_BYTES;
use super::super::look::Look;
use super::super::ties::{TIES_BYTES, Ties};
use super::NONE;
use serde::{Deserialize, Serialize};

/// A page that others are compared with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::store) struct Leader {
    pub(super) generation: u16,
    pub(super) is_live: bool,
    pub(super) born: u64,
    pub(super) touched: u64,
    pub(super) touched_ms: i64,
    pub(in crate::store) id_key: u64,
    pub(in crate::store) id: Box<str>,
    pub(super) look: Option<Look>,
    pub(super) cluster: u32,
    /// Of which domain it is, and as long as it is alone what it links to: a cluster begins with both.
    pub(super) domain: u64,
    pub(super) ties: Ties,
}

impl Default for Leader {
    fn default() -> Self {
        Self::empty()
    }
}

impl Leader {
    pub(super) fn empty() -> Self {
        Self {
            generation: 0,
            is_live: false,
            born: 0,
            touched: 0,
            touched_ms: 0,
            id_key: 0,
            id: "".into(),
            look: None,
            cluster: NONE,
            domain: 0,
            ties: Ties::default(),
        }
    }
}

/// Bytes of a leader with its look, its id, its entries in the order, whether it lives, its part of a cluster and the ties of either, for
/// the plan.
pub(in crate::store) const LEADER_BYTES: usize =
    size_of::<Leader>() + Look::HEAP_BYTES + 64 + 4 * 16 + GENERATION_BYTES + size_of::<Cluster>() / 2 + TIES_BYTES;
