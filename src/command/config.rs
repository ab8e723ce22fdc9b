//! `seamripper config`: the settings in force, and whether they are good.

use super::report::{Form, print_json, print_report};
use super::{Common, Ending, output};
use crate::config::{Settings, manual, reference};
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
  seamripper config reference > CONFIGURATION.md
  SEAMRIPPER_IMATCH__COPIES=20 seamripper config show")]
pub struct ConfigArguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Print every setting in force, with its reason and who changed it
    #[command(after_help = "Examples:
  seamripper config show
  seamripper config show --json | jq .store.memory
  SEAMRIPPER_IMATCH__COPIES=20 seamripper config show")]
    Show {
        /// Print JSON rather than commented TOML
        #[arg(long)]
        json: bool,
    },
    /// Check the settings, and print how `store.memory` is divided if they are good
    #[command(after_help = "Examples:
  seamripper config check -c my.toml
  SEAMRIPPER_STORE__MEMORY=8000000000 seamripper config check    how many documents 8 GB hold")]
    Check {
        #[command(flatten)]
        form: Form,
    },
    /// Print every setting with default, range and reason, as Markdown: docs/CONFIGURATION.md
    #[command(after_help = "Example:
  seamripper config reference > CONFIGURATION.md")]
    Reference,
}

/// Shows or checks.
pub fn run(arguments: ConfigArguments, common: &Common) -> anyhow::Result<Ending> {
    match arguments.action {
        // It is of the defaults, whatever is set here.
        Action::Reference => output::print(reference::markdown().as_bytes())?,
        Action::Show { json: true } => {
            output::print(format!("{}\n", serde_json::to_string_pretty(&common.settings()?)?).as_bytes())?
        }
        Action::Show { json: false } => {
            common.settings()?;
            output::print(manual::in_force(common.config.as_deref(), &super::environment()).as_bytes())?;
        }
        Action::Check { form } => {
            let settings = common.settings()?;
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
    /// What is kept of texts, beside the figure.
    excerpts: Table,
    /// The figure and what comes beside it.
    memory_in_all: usize,
    /// The same for each stored document of average length.
    bytes_per_document: usize,
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
    /// For each stored document.
    bytes_per_document: usize,
}

impl Planned {
    fn of(settings: &Settings) -> Self {
        let plan = Plan::of(settings);
        let table = |(name, bytes)| Table { name, bytes, bytes_per_document: bytes / plan.n_prototypes };
        let beside =
            |former: &Settings| Plan::of(&Settings { texts: settings.texts.clone(), ..former.clone() }).total();
        Self {
            memory: plan.memory,
            tables: plan.tables().map(table).into(),
            excerpts: table(plan.beside()),
            memory_in_all: plan.total(),
            bytes_per_document: plan.total() / plan.n_prototypes,
            prototypes_max: plan.n_prototypes,
            leaders_max: plan.n_leaders,
            names_bytes_max: plan.cells,
            id_bytes_max: ID_BYTES_MAX,
            url_bytes_max: settings.store.url_bytes_max,
            memory_with_previous: settings.former.as_deref().map(|former| plan.total() + beside(former)),
        }
    }

    fn lines(&self) -> String {
        let Self { memory, tables, excerpts, memory_in_all, bytes_per_document, prototypes_max, leaders_max, .. } =
            self;
        let Self { names_bytes_max, id_bytes_max, url_bytes_max, memory_with_previous, .. } = self;
        let mut lines = format!("store.memory = {memory} bytes, divided at start:\n");
        let line = |Table { name, bytes, bytes_per_document }: &Table| {
            let share = 100.0 * *bytes as f64 / *memory as f64;
            format!("  {name:<28}{bytes:>14}{share:>7.1} %{bytes_per_document:>7} a document\n")
        };
        lines.extend(tables.iter().map(&line));
        lines += "beside it, and decided by nothing else than texts.excerpt_bytes:\n";
        lines += &line(excerpts);
        lines += &format!("{memory_in_all} bytes in all, {bytes_per_document} for each document of average length\n");
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
