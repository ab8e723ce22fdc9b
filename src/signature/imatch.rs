//! Extended I-Match (Kolcz 2004).

use serde::Serialize;

/// An extended I-Match signature.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct IMatch {}
