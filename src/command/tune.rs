//! `seamripper tune`.

use super::{Common, Ending};

/// The arguments of `seamripper tune`.
#[derive(Debug, clap::Args)]
pub struct TuneArguments {}

/// Runs it.
pub fn run(arguments: TuneArguments, common: &Common) -> anyhow::Result<Ending> {
    let _ = (arguments, common);
    todo!()
}
