//! The one way from a text to its [`Signatures`].

use super::Signatures;
use crate::config::Settings;
use crate::document::Document;
use crate::text::Text;

/// Signs texts; keeps its buffers.
pub struct Signer {}

impl Signer {
    /// A signer.
    pub fn new(settings: &Settings) -> Self {
        let _ = settings;
        todo!()
    }

    /// The signatures of a document and its text.
    pub fn sign(&mut self, document: &Document, text: &Text) -> Signatures {
        let _ = (document, text);
        todo!()
    }
}
