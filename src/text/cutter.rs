//! The one way from a document to its [`Text`].

use super::words::{Rules, Traits};
use super::{Text, sentences, words};
use crate::config::{Limits, Settings, TextSettings};
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
    pub fn new(settings: &Settings, keys: Keys) -> Self {
        Self { limits: settings.limits.clone(), settings: settings.text.clone(), keys, text: Text::default() }
    }

    /// The text of `document`, until the next one is cut.
    pub fn cut(&mut self, document: &Document) -> &Text {
        let names = document.mail.as_ref().map_or(&[][..], |mail| &mail.recipients);
        let rules = Rules {
            key: self.keys.word,
            names,
            digits_masked_min: self.settings.digits_masked_min,
            words_max: self.limits.words_max,
        };
        let text = &mut self.text;
        text.clear();
        text.truncated = words::cut(&document.text, &rules, &mut text.words);
        text.truncated |= words::cut(&document.hidden, &rules, &mut text.hidden);
        text.n_characters = text.words.traits.iter().filter(|traits| traits.has(Traits::CHARACTER)).count();
        sentences::cut(&document.text, &text.words, &mut text.sentences);
        for traits in &mut text.words.traits {
            *traits = traits.with(Traits::CORE);
        }
        text
    }
}
