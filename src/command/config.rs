//! `seamripper config`.

use super::{Common, Ending};

/// The arguments of `seamripper config`.
#[derive(Debug, clap::Args)]
pub struct ConfigArguments {}

/// Runs it.
pub fn run(arguments: ConfigArguments, common: &Common) -> anyhow::Result<Ending> {
    let _ = (arguments, common);
    todo!()
}
