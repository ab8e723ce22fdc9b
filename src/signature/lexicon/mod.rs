//! Lexicons: in how many documents of a corpus each term stands. Frozen, versioned, checksummed.
//!
//! I-Match keeps the terms of a document that are neither too common nor too rare; a lexicon says which those are. An
//! update of the counts would change every signature, so a lexicon never changes: another count is another lexicon,
//! with another [`LexiconId`], and signatures of two lexicons are never compared.
//!
//! [`mod@file`] is how it is written down, [`table`] how it is looked up while signing, [`built_in`] what ships inside the
//! binary, [`count`] how one is made.
//!
//! # Invariants
//! - Equal contents have equal ids, however they are packed. (`packing_does_not_change_the_id`)
//! - The terms ascend, each stands once, and each frequency lies between the smallest kept and the number of documents.
//!   (`whatever_is_read_is_sound`)

pub mod built_in;
pub mod count;
pub mod file;
pub mod table;

pub use file::LexiconError;

use serde::{Serialize, Serializer};
use std::fmt;

/// Which lexicon it is: a digest of all that it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LexiconId(pub u64);

impl fmt::Display for LexiconId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl Serialize for LexiconId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// What a lexicon says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct About {
    /// Its name.
    pub name: String,
    /// Its language or script.
    pub language: String,
    /// The text it was built from.
    pub source: String,
    /// How many documents that text had, copies collapsed.
    pub n_documents: u64,
    /// Terms in fewer documents were left out.
    pub df_min: u32,
}

/// The document frequencies of a corpus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lexicon {
    about: About,
    id: LexiconId,
    /// All terms, one after the other.
    letters: String,
    /// Where each term ends in `letters`.
    ends: Vec<u32>,
    frequencies: Vec<u32>,
}

impl Lexicon {
    /// The lexicon of the given terms and frequencies. Refuses what [`Lexicon::from_bytes`] would refuse.
    pub fn new<'t>(about: About, terms: impl IntoIterator<Item = (&'t str, u32)>) -> Result<Self, LexiconError> {
        let mut lexicon =
            Self { about, id: LexiconId(0), letters: String::new(), ends: Vec::new(), frequencies: Vec::new() };
        lexicon.check_about()?;
        for (term, df) in terms {
            lexicon.push(term, df)?;
        }
        lexicon.id = file::id(&lexicon.content());
        Ok(lexicon)
    }

    /// Which lexicon it is.
    pub fn id(&self) -> LexiconId {
        self.id
    }

    /// What it says of itself.
    pub fn about(&self) -> &About {
        &self.about
    }

    /// How many terms it holds.
    pub fn n_terms(&self) -> usize {
        self.ends.len()
    }

    /// The terms with the number of documents that hold them, ascending.
    pub fn terms(&self) -> impl Iterator<Item = (&str, u32)> {
        (0..self.n_terms()).map(|index| (self.term(index), self.frequencies[index]))
    }

    /// In how many documents `term`, spelled as `text::words::spelled_terms` does, stands.
    pub fn document_frequency(&self, term: &str) -> Option<u32> {
        let (mut low, mut high) = (0, self.n_terms());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.term(middle).cmp(term) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return Some(self.frequencies[middle]),
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// How rare a term of `df` documents is: 0 in all documents, 1 in a single one.
    pub fn nidf(&self, df: u32) -> f64 {
        nidf(self.about.n_documents, df)
    }

    fn term(&self, index: usize) -> &str {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        &self.letters[start..self.ends[index] as usize]
    }

    fn check_about(&self) -> Result<(), LexiconError> {
        let About { name, language, source, n_documents, df_min } = &self.about;
        for (field, value) in [("name", name), ("language", language), ("source", source)] {
            if value.len() > file::FIELD_BYTES_MAX {
                return Err(LexiconError::TooLarge { what: field, limit: file::FIELD_BYTES_MAX });
            }
        }
        // With one document there is no telling rare from common: ln(N) is 0.
        if *n_documents < 2 || *n_documents > u64::from(u32::MAX) || *df_min == 0 {
            return Err(LexiconError::Counts { n_documents: *n_documents, df_min: *df_min });
        }
        Ok(())
    }

    fn push(&mut self, term: &str, df: u32) -> Result<(), LexiconError> {
        let index = self.n_terms();
        if term.is_empty() || term.len() > file::TERM_BYTES_MAX {
            return Err(LexiconError::TermLength { index, len: term.len() });
        }
        if index > 0 && self.term(index - 1) >= term {
            return Err(LexiconError::Unsorted { index });
        }
        let (df_min, n_documents) = (self.about.df_min, self.about.n_documents);
        if df < df_min || u64::from(df) > n_documents {
            return Err(LexiconError::Frequency { index, df, df_min, n_documents });
        }
        if self.letters.len() + term.len() > file::LETTERS_BYTES_MAX {
            return Err(LexiconError::TooLarge { what: "terms", limit: file::LETTERS_BYTES_MAX });
        }
        self.letters.push_str(term);
        self.ends.push(self.letters.len() as u32);
        self.frequencies.push(df);
        Ok(())
    }
}

/// The normalised inverse document frequency, `ln(N/df) / ln(N)`. The paper (Kolcz 2004) doesn't define it; this reading
/// fits its counts.
pub fn nidf(n_documents: u64, df: u32) -> f64 {
    let n = n_documents as f64;
    (n / f64::from(df)).ln() / n.ln()
}
