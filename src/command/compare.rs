//! `seamripper compare`.

use super::{Common, Ending};

/// The arguments of `seamripper compare`.
#[derive(Debug, clap::Args)]
pub struct CompareArguments {}

/// Runs it.
pub fn run(arguments: CompareArguments, common: &Common) -> anyhow::Result<Ending> {
    let _ = (arguments, common);
    todo!()
}
