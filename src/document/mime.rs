//! RFC 5322 and MIME: a mail's headers, and its text.

use super::{Carrier, Document, Rejection, html};
use crate::config::Limits;
use serde::Serialize;

/// What the headers of a mail say.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MailFacts {
    /// The From address.
    pub from: Option<String>,
    /// The registered domain of the From address.
    pub from_domain: Option<String>,
    /// The registered domain that the receiving server authenticated.
    pub authenticated_domain: Option<String>,
    /// Message-ID, without brackets. It belongs to the sender and identifies nothing.
    pub message_id: Option<String>,
    /// Date, RFC 3339.
    pub date: Option<String>,
    /// List-Id.
    pub list_id: Option<String>,
    /// The recipients' names and local parts, lower case; masked in the text.
    pub recipients: Vec<String>,
}

/// Reads the mail in `body` into `document`: subject and text, asides, markup of the HTML part, facts, counts.
pub fn read(
    body: &[u8],
    carrier: &Carrier,
    limits: &Limits,
    frame_key: u64,
    scratch: &mut html::Scratch,
    document: &mut Document,
) -> Result<(), Rejection> {
    let _ = (body, carrier, limits, frame_key, scratch, document);
    todo!()
}
