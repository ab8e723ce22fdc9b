//! The page frame: the weighted set of a page's stylesheets, scripts, meta names, attribute names and structural ids.

use serde::Serialize;

/// The sketch of a page frame.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Frame {}
