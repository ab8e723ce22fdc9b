//! `seamripper completions`.

use super::{Arguments, Ending};
use clap::CommandFactory;

/// The arguments of `seamripper completions`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  seamripper completions bash > /etc/bash_completion.d/seamripper
  seamripper completions fish > ~/.config/fish/completions/seamripper.fish")]
pub struct CompletionsArguments {
    /// The shell
    pub shell: clap_complete::Shell,
}

/// Prints the script.
pub fn run(arguments: CompletionsArguments) -> anyhow::Result<Ending> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "seamripper", &mut script);
    super::output::print(&script)?;
    Ok(Ending::Good)
}
