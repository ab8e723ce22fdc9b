//! A text becomes [`Signatures`]: small, keyed, comparable; and how alike two of them are.
//!
//! [`Signer`] makes them all: extended I-Match ([`imatch`]) over a frozen [`lexicon`], minhash over terms and
//! shingles ([`minhash`]), the HTML style ([`style`]) and page frame ([`frame`]), winnowed word 5-grams and long
//! [`sentences`]. Every hash is keyed by one secret through independent derived keys ([`keyed`]).
//!
//! # Invariants
//! - The same document, secret, lexicons and settings give the same bits on every machine and in every release of one
//!   [`SCHEME`]. (`tests/promises/golden.rs`)
//! - Too little to judge is [`Outcome::Insufficient`], never a signature that equals all others like it.
//!   (`empty_documents_have_no_signature`)

pub(crate) mod agreement;
pub mod frame;
mod hex;
pub mod imatch;
pub mod keyed;
pub mod lexicon;
pub mod minhash;
pub(crate) mod prefetch;
pub mod sentences;
mod signer;
pub mod style;
mod terms;
pub mod tuning;

pub use sentences::LongSentence;
pub use signer::Signer;

use crate::document::Kind;
use crate::text::grams::Gram;
use serde::Serialize;

/// The number of the rules that make signatures from bytes. Different bits need a new number and a new golden file.
pub const SCHEME: u32 = 3;

/// All signatures of one document.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Signatures {
    /// The rules that made them.
    pub scheme: u32,
    /// A digest of the settings, secret and lexicons that made them: equal ones may be compared.
    #[serde(serialize_with = "hex::word")]
    pub key_id: u64,
    /// Page or mail.
    pub kind: Kind,
    /// Whether there is enough text and enough markup to judge.
    pub outcome: Outcome,
    /// Units in the visible text.
    pub n_words: u32,
    /// Units in its core.
    pub n_core_words: u32,
    /// The visible text.
    pub shown: View,
    /// Its core: a page's content blocks, a mail without its asides. `None` where it is all of the text.
    pub core: Option<View>,
    /// The visible and the hidden text. `None` where nothing is hidden.
    pub full: Option<View>,
    /// Minhash over shingles of the core.
    pub shingles: Option<minhash::MinHash>,
    /// Minhash over shingles of all of the visible text, of a page that has little content: its lists are what it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shown_shingles: Option<minhash::MinHash>,
    /// Digest of the words of a core that is too little to be signed, numbers apart: what else is shown is compared only where
    /// these are the same.
    #[serde(skip)]
    pub little_core: Option<u64>,
    /// Digest of the words of a mail's core below its subject, what is masked apart; `None` where they are few. A campaign may
    /// have another subject for every mail.
    #[serde(skip)]
    pub body: Option<u64>,
    /// Extended I-Match of the core.
    pub imatch: Option<imatch::IMatch>,
    /// Word 5-grams of the core with their positions, winnowed unless all were asked for.
    #[serde(serialize_with = "hex::grams")]
    pub grams: Vec<Gram>,
    /// The long sentences.
    pub sentences: Vec<LongSentence>,
    /// HTML style, if there is HTML.
    pub style: Option<style::Style>,
    /// Page frame, if there is enough of one.
    pub frame: Option<frame::Frame>,
    /// The distinct links of a page, absolute and normalised, hashed, ascending. See [`Signer::link`].
    #[serde(serialize_with = "hex::words")]
    pub links: Vec<u64>,
    /// The distinct registered domains they lead to, hashed, ascending.
    #[serde(serialize_with = "hex::words")]
    pub link_domains: Vec<u64>,
}

/// Whether a document can be judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// There is enough text.
    Signed,
    /// There is too little text; style and frame may still be there.
    Insufficient,
}

/// One view of a text as a bag of terms.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct View {
    /// Digest of all its units in order. `None` for too little text.
    #[serde(serialize_with = "hex::digest_if_any")]
    pub digest: Option<u128>,
    /// The distinct terms, hashed, ascending.
    #[serde(serialize_with = "hex::words")]
    pub terms: Vec<u64>,
    /// Minhash over the distinct terms. `None` for too few.
    pub minhash: Option<minhash::MinHash>,
}

/// The cosine of two bags of distinct terms (Kolcz 2004): common terms over the geometric mean of the sizes. 0 if one is
/// empty.
pub fn cosine(a: &[u64], b: &[u64]) -> f64 {
    if a.is_empty() || b.is_empty() {
        return 0.0;
    }
    common(a, b) as f64 / (a.len() as f64 * b.len() as f64).sqrt()
}

/// The Jaccard coefficient of two ascending lists. 0 if both are empty.
pub fn jaccard(a: &[u64], b: &[u64]) -> f64 {
    let common = common(a, b);
    match a.len() + b.len() - common {
        0 => 0.0,
        union => common as f64 / union as f64,
    }
}

/// How many values two ascending lists of distinct values share.
pub fn common(a: &[u64], b: &[u64]) -> usize {
    let (mut i, mut j, mut n) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        n += usize::from(a[i] == b[j]);
        let (step_i, step_j) = (a[i] <= b[j], b[j] <= a[i]);
        i += usize::from(step_i);
        j += usize::from(step_j);
    }
    n
}
