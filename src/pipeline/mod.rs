//! The steps put together.
//!
//! [`Steps`] takes one record from bytes to signatures, [`sign`] does so with many on several threads. [`filter`] is match and judge over
//! one stream; [`scan`] runs it over files, [`exact`] gives the exhaustive answer, and [`run`] makes a service of it on a bus.
//!
//! Around a run: [`dispatch`] makes records of documents, [`checks`] are questions about single ones, [`directory`] holds what was said of
//! late, [`register`] what people say, and [`watch`] shows verdicts as they come. [`explanation`] says why, [`rehearsal`] what other settings
//! would have said.

pub mod checks;
pub mod directory;
pub mod dispatch;
pub mod exact;
pub mod explanation;
pub mod filter;
pub mod lexicon;
pub mod line;
pub mod progress;
pub mod register;
pub mod rehearsal;
pub mod run;
pub mod scan;
pub mod sign;
pub mod wanted;
pub mod watch;

use crate::config::Settings;
use crate::document::{Document, Reader, Record, Rejection};
use crate::signature::imatch::Lexicons;
use crate::signature::keyed::Keys;
use crate::signature::{Signatures, Signer};
use crate::text::{Cutter, Text};
use crate::verdict::comparison::Side;
use std::sync::Arc;

/// All steps from a record to its signatures; a thread makes one and uses it for ever.
pub struct Steps {
    reader: Reader,
    cutter: Cutter,
    signer: Signer,
}

/// What the steps have made of a record, until the next one.
pub struct Signed<'a> {
    /// What was read.
    pub document: &'a Document,
    /// Its words, sentences and blocks.
    pub text: &'a Text,
    /// Its signatures.
    pub signatures: Signatures,
}

impl Signed<'_> {
    /// The same, kept beyond the next one.
    pub fn kept(self) -> Made {
        Made { document: self.document.clone(), text: self.text.clone(), signatures: self.signatures }
    }
}

/// A document with all that the steps have made of it.
pub struct Made {
    /// What was read.
    pub document: Document,
    /// Its words, sentences and blocks.
    pub text: Text,
    /// Its signatures.
    pub signatures: Signatures,
}

impl Made {
    /// As one of two that are compared.
    pub fn side(&self) -> Side<'_> {
        Side { document: &self.document, text: &self.text, signatures: &self.signatures }
    }
}

impl Steps {
    /// The steps by `settings`, with the lexicons that they name ([`lexicon::load`]).
    pub fn new(settings: &Settings, lexicons: Arc<Lexicons>) -> Self {
        let keys = Keys::derive(settings.secret.reveal());
        Self {
            reader: Reader::new(settings.limits.clone(), keys),
            cutter: Cutter::new(settings, keys),
            signer: Signer::new(settings, lexicons),
        }
    }

    /// Steps that make only what verdicts are made of: the rest is for people who compare.
    #[must_use]
    pub fn for_verdicts(self) -> Self {
        let Self { reader, cutter, signer } = self;
        Self { reader: reader.for_verdicts(), cutter, signer: signer.for_verdicts() }
    }

    /// Takes `record` through all steps.
    pub fn sign(&mut self, record: &Record) -> Result<Signed<'_>, Rejection> {
        let document = self.reader.read(record)?;
        let text = self.cutter.cut(document);
        let signatures = self.signer.sign(document, text);
        Ok(Signed { document, text, signatures })
    }
}
