//! `seamripper config`: the settings in force, and whether they are good.

use super::report::{Form, print_json, print_report};
use super::{Common, Ending, output};
use crate::config::{Settings, manual};
use crate::document::identity::ID_BYTES_MAX;
use crate::pipeline;
use crate::store::Plan;
use serde::Serialize;

/// The arguments of `seamripper config`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  seamripper config show                       every setting with its reason
  seamripper config show --json                the same for a machine
  seamripper config check -c my.toml           all that is wrong with it at once, or the memory plan
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
    /// Check the settings, and print how `store.memory` is divided if they are good
    Check {
        #[command(flatten)]
        form: Form,
    },
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
        Action::Check { form } => {
            pipeline::lexicon::load(&settings)?;
            if let Some(former) = &settings.former {
                pipeline::lexicon::load(former).map_err(|problems| anyhow::Error::new(problems).context("previous"))?;
            }
            if !common.quiet {
                output::tell(format_args!("the settings are good"));
                let planned = Planned::of(&settings);
                if form.is_report() { print_report(&planned.lines())? } else { print_json(&planned)? }
            }
        }
    }
    Ok(Ending::Good)
}

/// How `store.memory` is divided, as it is printed.
#[derive(Serialize)]
struct Planned {
    memory: usize,
    tables: Vec<Table>,
    /// Stored documents, at most; with long texts fewer.
    prototypes_max: usize,
    /// Style leaders, at most.
    leaders_max: usize,
    /// Ids and URLs lie in the table of names: they never take more than all of it, and each no more than these.
    names_bytes_max: usize,
    id_bytes_max: usize,
    url_bytes_max: usize,
    /// Both stores, while the one of the former settings runs beside.
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_with_previous: Option<usize>,
}

#[derive(Serialize)]
struct Table {
    name: &'static str,
    bytes: usize,
}

impl Planned {
    fn of(settings: &Settings) -> Self {
        let plan = Plan::of(settings.store.memory, settings.revisions.queue_max);
        Self {
            memory: plan.memory,
            tables: plan.tables().map(|(name, bytes)| Table { name, bytes }).into(),
            prototypes_max: plan.n_prototypes,
            leaders_max: plan.n_leaders,
            names_bytes_max: plan.cells,
            id_bytes_max: ID_BYTES_MAX,
            url_bytes_max: settings.store.url_bytes_max,
            memory_with_previous: settings.former.as_ref().map(|former| plan.memory + former.store.memory),
        }
    }

    fn lines(&self) -> String {
        let Self { memory, tables, prototypes_max, leaders_max, names_bytes_max, .. } = self;
        let Self { id_bytes_max, url_bytes_max, memory_with_previous, .. } = self;
        let mut lines = format!("store.memory = {memory} bytes, divided at start:\n");
        for Table { name, bytes } in tables {
            lines += &format!("  {name:<28}{bytes:>14}{:>7.1} %\n", 100.0 * *bytes as f64 / *memory as f64);
        }
        lines += &format!(
            "it holds {prototypes_max} groups and further prototypes of average pages, and {leaders_max} style leaders\n"
        );
        lines += &format!(
            "stored ids ({id_bytes_max} bytes each at most) and urls ({url_bytes_max}) never take more than \
             {names_bytes_max} bytes together\n"
        );
        if let Some(both) = memory_with_previous {
            lines += &format!("while the store of `previous` runs beside, both take {both} bytes\n");
        }
        lines
    }
}
