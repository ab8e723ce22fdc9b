//! `lexicon build --store`: a lexicon of what a stream has seen.
//!
//! The store counts in how many groups each word stands, and keeps the spelling of the words of some documents
//! (`store.spelled_one_in`): a word that is common enough for a lexicon is met in one of them. Frequencies are never too
//! high, and too low by the stated error at most. (`tests/promises/scan_command/lexicon.rs`)

use super::{Answer, BuildArguments, forgotten, write};
use crate::command::words::counted;
use crate::command::{Ending, scan};
use crate::config::Settings;
use crate::document::Kind;
use crate::signature::lexicon::{About, Lexicon};
use crate::store::SeenWords;
use anyhow::ensure;
use serde::Serialize;
use std::path::Path;

/// Whose words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Of {
    /// Of web pages
    #[default]
    Page,
    /// Of e-mails
    Mail,
}

pub(super) fn build(store: &Path, arguments: &BuildArguments, settings: &Settings) -> anyhow::Result<Ending> {
    let BuildArguments { output, language, about, df_min, kind, form, .. } = arguments;
    let filter = scan::opened(store, settings)?;
    let (kind, other) = match kind.unwrap_or_default() {
        Of::Page => (Kind::Page, Kind::Email),
        Of::Mail => (Kind::Email, Kind::Page),
    };
    let seen = filter.store().seen_words(kind);
    let name = |kind: Kind| if kind == Kind::Page { "page" } else { "mail" };
    ensure!(
        seen.n_documents >= 2,
        "store {} has {}, at least 2 are needed (and {}: --kind {})",
        store.display(),
        counted(seen.n_documents, name(kind)),
        counted(filter.store().seen_words(other).n_documents, name(other)),
        name(other),
    );
    let about = About {
        name: arguments.name(),
        language: language.clone(),
        source: about.clone(),
        n_documents: seen.n_documents,
        df_min: *df_min,
    };
    let terms = seen.terms.iter().filter(|(_, df)| df >= df_min).map(|(term, df)| (term.as_str(), *df));
    let lexicon = Lexicon::new(about, terms)?;
    write(&lexicon, Counted::of(&seen), output, settings, *form)?;
    Ok(Ending::Good)
}

/// What the store had counted.
#[derive(Serialize)]
struct Counted {
    n_documents: u64,
    n_words: u64,
    n_spelled: usize,
    n_unspelled: u64,
    n_forgotten_terms: u64,
    df_error_max: u32,
}

impl Counted {
    fn of(seen: &SeenWords) -> Self {
        Self {
            n_documents: seen.n_documents,
            n_words: seen.n_words,
            n_spelled: seen.terms.len(),
            n_unspelled: seen.n_unspelled,
            n_forgotten_terms: seen.n_forgotten,
            df_error_max: seen.df_error_max,
        }
    }
}

impl Answer for Counted {
    fn lines(&self) -> String {
        let Self { n_words, n_spelled, df_error_max, .. } = self;
        let words = counted(*n_words, "word");
        format!("counted     {words}, {n_spelled} of them spelled out (store.spelled_one_in)\n")
            + &forgotten("words", *df_error_max)
    }
}
