//! `seamripper sign`.

use super::{Common, Ending};

/// The arguments of `seamripper sign`.
#[derive(Debug, clap::Args)]
pub struct SignArguments {}

/// Runs it.
pub fn run(arguments: SignArguments, common: &Common) -> anyhow::Result<Ending> {
    let _ = (arguments, common);
    todo!()
}
