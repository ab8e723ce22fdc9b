//! The one way from a document to its [`Text`].

use super::Text;
use crate::config::{Limits, TextSettings};
use crate::document::Document;
use crate::signature::keyed::Keys;

/// Cuts documents; keeps its buffers.
pub struct Cutter {
    limits: Limits,
    settings: TextSettings,
    keys: Keys,
    text: Text,
}

impl Cutter {
    /// A cutter.
    pub fn new(limits: Limits, settings: TextSettings, keys: Keys) -> Self {
        Self { limits, settings, keys, text: Text::default() }
    }

    /// The text of `document`, until the next one is cut.
    pub fn cut(&mut self, document: &Document) -> &Text {
        let _ = (&self.limits, &self.settings, &self.keys, document);
        todo!("{:?}", self.text)
    }
}
