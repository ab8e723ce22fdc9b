//! `seamripper config`: the settings in force, and whether they are good.

use super::{Common, Ending, output};
use crate::config::manual;
use crate::pipeline;

/// The arguments of `seamripper config`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  seamripper config show                       every setting with its reason
  seamripper config show --json                the same for a machine
  seamripper config check -c my.toml           all that is wrong with it, at once
  SEAMRIPPER_IMATCH__COPIES=20 seamripper config show")]
pub struct ConfigArguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Print every setting in force, with its reason and who changed it
    Show {
        /// Print JSON rather than commented TOML
        #[arg(long)]
        json: bool,
    },
    /// Check the settings and print nothing if they are good
    Check,
}

/// Shows or checks.
pub fn run(arguments: ConfigArguments, common: &Common) -> anyhow::Result<Ending> {
    let settings = common.settings()?;
    match arguments.action {
        Action::Show { json: true } => {
            output::print(format!("{}\n", serde_json::to_string_pretty(&settings)?).as_bytes())?
        }
        Action::Show { json: false } => {
            output::print(manual::in_force(common.config.as_deref(), &super::environment()).as_bytes())?;
        }
        Action::Check => {
            pipeline::lexicon::load(&settings)?;
            if !common.quiet {
                output::tell(format_args!("the settings are good"));
            }
        }
    }
    Ok(Ending::Good)
}
