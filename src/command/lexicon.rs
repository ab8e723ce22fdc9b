//! `seamripper lexicon`.

use super::{Common, Ending};

/// The arguments of `seamripper lexicon`.
#[derive(Debug, clap::Args)]
pub struct LexiconArguments {}

/// Runs it.
pub fn run(arguments: LexiconArguments, common: &Common) -> anyhow::Result<Ending> {
    let _ = (arguments, common);
    todo!()
}
