//! The one way from a [`Record`] to a [`Document`].

use super::{Document, Format, Record, Rejection, html};
use crate::config::Limits;
use crate::signature::keyed::Keys;

/// Reads records into documents; keeps its buffers, so that a thread makes one and uses it for ever.
pub struct Reader {
    limits: Limits,
    keys: Keys,
    document: Document,
    html: html::Scratch,
}

impl Reader {
    /// A reader with the given limits and keys.
    pub fn new(limits: Limits, keys: Keys) -> Self {
        Self { limits, keys, document: Document::default(), html: html::Scratch::default() }
    }

    /// The document in `record`, until the next one is read.
    pub fn read(&mut self, record: &Record) -> Result<&Document, Rejection> {
        let _ = (record, &self.limits, &self.keys, &self.html, Format::Page);
        todo!("me")
    }
}
