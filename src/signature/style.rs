//! Hidden style similarity: 128 bins over the 32-grams of HTML noise (Urvoy 2006).

use serde::Serialize;

/// The style of a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Style {}
