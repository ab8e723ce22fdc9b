//! Which charset the bytes are in, and their text: BOM, content type, `<meta>`, valid UTF-8, then detection.

use serde::Serialize;
use std::borrow::Cow;

/// What told the charset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// A byte order mark.
    Bom,
    /// The carrier's content type.
    ContentType,
    /// A `<meta>` in the first bytes.
    Meta,
    /// Nothing declared one, and the bytes are valid UTF-8.
    #[default]
    Valid,
    /// Nothing declared one, and it was guessed from the bytes.
    Detected,
}

/// Bytes as text.
pub struct Decoded<'a> {
    /// The text; borrowed when the bytes are already UTF-8.
    pub text: Cow<'a, str>,
    /// The charset's name.
    pub charset: &'static str,
    /// What told it.
    pub origin: Origin,
    /// Whether there were bytes that are not valid in it.
    pub errors: bool,
}

/// The text of an HTML (or plain text) body.
pub fn decode<'a>(body: &'a [u8], content_type: Option<&str>) -> Decoded<'a> {
    let _ = (body, content_type);
    todo!()
}
