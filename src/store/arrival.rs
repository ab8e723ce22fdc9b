//! A document on its way into the store: who it is, its signatures, and where its grams stand.
//!
//! It is all that match and judge ever see of a document. A signing thread makes it, and it can travel.
//!
//! # Invariants
//! - A sentence of the core counts once, however often it stands there. (`core_sentences_are_counted_once`)

use super::papers::Papers;
use crate::document::Document;
use crate::signature::sentences::distinct;
use crate::signature::{LongSentence, Signatures};
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
    /// Which of the signatures' sentences are weighed.
    pub core_sentences: CoreSentences,
    /// Bytes of the visible text.
    pub n_text_bytes: u32,
    /// Its beginning, as much as is kept for people.
    pub excerpt: String,
    /// Whether most of the text is in a script without spaces.
    pub unspaced: bool,
    /// The distinct terms spelled out, of a share of the documents: what a lexicon is later made from.
    pub spelled: Option<Spelled>,
    /// What settle asks of it, if that was made ahead ([`Clerk::issue`](super::Clerk::issue)).
    pub papers: Option<Box<Papers>>,
}

/// Terms spelled out, end to end, with their hashes as signatures have them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spelled {
    /// The letters of all terms.
    pub letters: String,
    /// Where each term ends in `letters`, and its hash.
    pub terms: Vec<(u32, u64)>,
}

/// The distinct long sentences of a document's core: what it shares with others is weighed by them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CoreSentences {
    /// The number of the first of each, ascending; of those beyond [`CoreSentences::MAX`] sentences none.
    pub numbers: Vec<u16>,
    /// The length of all of them in characters.
    pub n_chars: u64,
}

impl CoreSentences {
    /// Sentences of a document that are weighed.
    pub const MAX: usize = 4096;

    /// Those among `sentences`.
    pub fn of(sentences: &[LongSentence]) -> Self {
        let mut core = Self { numbers: Vec::with_capacity(sentences.len().min(Self::MAX)), n_chars: 0 };
        for (number, sentence) in distinct(sentences).filter(|(_, sentence)| sentence.core) {
            core.n_chars += u64::from(sentence.n_chars);
            core.numbers.extend(u16::try_from(number).ok().filter(|number| usize::from(*number) < Self::MAX));
        }
        core.numbers.sort_unstable();
        core
    }
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
            core_sentences: CoreSentences::of(&signatures.sentences),
            n_text_bytes: document.text.len() as u32,
            excerpt: String::new(),
            unspaced: text.is_unspaced(),
            spelled: None,
            papers: None,
            signatures,
        }
    }

    /// How many distinct grams it has.
    pub fn n_grams(&self) -> usize {
        self.places.iter().filter(|place| !place.is_echo()).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        /// Against a map, sentence by sentence.
        #[test]
        fn core_sentences_are_counted_once(all in prop::collection::vec((0_u64..40, 20_u32..25, any::<bool>()), 0..80)) {
            let sentence = |&(hash, n_chars, core): &(u64, u32, bool)| LongSentence { hash, n_chars, core, position: 0 };
            let sentences: Vec<LongSentence> = all.iter().map(sentence).collect();
            let mut first = BTreeMap::<u64, (u16, u32)>::new();
            for (sentence, number) in sentences.iter().zip(0_u16..).filter(|(sentence, _)| sentence.core) {
                first.entry(sentence.hash).or_insert((number, sentence.n_chars));
            }
            let mut numbers: Vec<u16> = first.values().map(|(number, _)| *number).collect();
            numbers.sort_unstable();
            let n_chars = first.values().map(|(_, n_chars)| u64::from(*n_chars)).sum();
            prop_assert_eq!(CoreSentences::of(&sentences), CoreSentences { numbers, n_chars });
        }
    }

    #[test]
    fn sentences_beyond_the_last_are_only_measured() {
        let sentence = |number: u64| LongSentence { hash: number, n_chars: 30, core: true, position: 0 };
        let sentences: Vec<LongSentence> = (0..70_000).map(sentence).collect();
        let core = CoreSentences::of(&sentences);
        assert_eq!((core.numbers.len(), core.n_chars), (CoreSentences::MAX, 30 * 70_000));
    }
}
