//! A document on its way into the store: who it is, its signatures, and where its grams stand.
//!
//! It is all that match and judge ever see of a document. A signing thread makes it, and it can travel.

use crate::document::Document;
use crate::signature::Signatures;
use crate::text::Text;
use crate::text::grams::{self, Place};
use crate::verdict::event::Source;
use std::net::IpAddr;

/// A document on its way into the store.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrival {
    /// Who it is.
    pub id: String,
    /// Where its record came from.
    pub source: Source,
    /// Milliseconds since 1970 by the bus, if it says.
    pub time_ms: Option<i64>,
    /// A page's URL, normalised.
    pub url: Option<String>,
    /// The registered domain of the URL, or of the sender.
    pub domain: Option<String>,
    /// The page's own word on where its original is.
    pub canonical: Option<String>,
    /// The server's or client's address.
    pub ip: Option<IpAddr>,
    /// The sender domain that was authenticated.
    pub authenticated_domain: Option<String>,
    /// Whether a limit cut something off.
    pub truncated: bool,
    /// Its signatures.
    pub signatures: Signatures,
    /// Where each of the signatures' grams stands.
    pub places: Vec<Place>,
    /// Bytes of the visible text.
    pub n_text_bytes: u32,
    /// Its beginning, as much as is kept for people.
    pub excerpt: String,
    /// Whether most of the text is in a script without spaces.
    pub unspaced: bool,
    /// The distinct terms spelled out, of a share of the documents: what a lexicon is later made from.
    pub spelled: Option<Spelled>,
}

/// Terms spelled out, end to end, with their hashes as signatures have them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spelled {
    /// The letters of all terms.
    pub letters: String,
    /// Where each term ends in `letters`, and its hash.
    pub terms: Vec<(u32, u64)>,
}

impl Arrival {
    /// What the steps have made of a record.
    pub fn new(source: Source, document: &Document, text: &Text, signatures: Signatures) -> Self {
        let identity = &document.identity;
        let mail = document.mail.as_ref();
        let authenticated_domain = mail.and_then(|mail| mail.authenticated_domain.clone());
        Self {
            id: identity.id.clone(),
            source,
            time_ms: None,
            url: identity.url.clone(),
            domain: authenticated_domain.clone().or_else(|| identity.domain.clone()),
            canonical: identity.canonical.clone(),
            ip: identity.ip,
            authenticated_domain,
            truncated: text.truncated || !document.reading.truncated.is_empty(),
            places: grams::places(&text.words, &text.sentences, &signatures.grams),
            n_text_bytes: document.text.len() as u32,
            excerpt: String::new(),
            unspaced: text.is_unspaced(),
            spelled: None,
            signatures,
        }
    }
}
