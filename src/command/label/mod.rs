//! `seamripper label`: what people say of documents, clusters and domains, and what verdicts carry from then on.
//!
//! A label on a document is meant for all copies of it, so it is put on the head of its group: [`desk`] finds that in the document's
//! last verdict. The commands work beside a run and without one, on both buses; what they write is in force with the next batch.
//!
//! # Invariants
//! - The next copy of a labelled copy carries the label, and after an undo it does not. (`tests/promises/label_command.rs`)

mod author;
mod desk;
mod history;
mod put;
mod transfer;
mod undo;

pub(super) use transfer::contents;

use super::report::{self, Form};
use super::{Common, Ending};
use crate::config::Problems;
use crate::store::cluster_number;
use crate::verdict::label::Target;

/// The arguments of `seamripper label`.
#[derive(Debug, clap::Args)]
#[command(subcommand_negates_reqs = true, after_help = EXAMPLES)]
pub struct LabelArguments {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    put: put::PutArguments,
}

const EXAMPLES: &str = "\
Examples:
  seamripper label m-5b1e0c9d7a66 spam --why 'forty complaints'   on a mail and all its copies
  seamripper label t-9a0f3e715b2c8d04 spam --why 'casino farm'     on a cluster of pages
  seamripper label --domain parcel-desk.example allow --why 'our own parcel service'
  seamripper label undo m-5b1e0c9d7a66 spam --why 'it was our newsletter'
  seamripper label list                                           what is in force, and who says so
  seamripper label history m-5b1e0c9d7a66                         who said what of it, and why
  seamripper label export -o labels.jsonl                         for `label import` or `scan`

Any word is a label. Verdicts carry it from the next batch on, with the way it came (`labels` in schemas/verdict.json); \
`allow` overrides all others, and on the domain of a mail's sender counts only if that was authenticated. Where an id or a label \
has the name of one of these commands: `seamripper label add list spam`.";

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Put a label on a document, a cluster or a domain: the same as without `add`
    #[command(after_help = "Examples:
  seamripper label add list spam --why 'forty complaints'    on a document whose id is `list`
  seamripper label add --domain parcel-desk.example allow")]
    Add(put::PutArguments),
    /// Take a label back
    Undo(undo::UndoArguments),
    /// Print the labels that are in force
    List(history::ListArguments),
    /// Print all that was said of a document, a cluster or a domain, by whom and why
    History(history::HistoryArguments),
    /// Write the labels that are in force as lines of JSON (schemas/label.json)
    Export(transfer::ExportArguments),
    /// Take labels from lines of JSON (schemas/label.json): all of a file, or nothing
    Import(transfer::ImportArguments),
}

/// What an id names.
#[derive(Debug, clap::Args)]
#[group(multiple = false)]
struct Sort {
    /// The id is a cluster's (ids such as t-9a0f3e715b2c8d04 are taken for one anyway)
    #[arg(long)]
    cluster: bool,
    /// The id is a registered domain: that of pages, or of the senders of mails
    #[arg(long)]
    domain: bool,
    /// The id is a document's, whatever it looks like
    #[arg(long)]
    document: bool,
}

impl Sort {
    fn target(&self, id: &str) -> Target {
        match self {
            Self { cluster: true, .. } => Target::Cluster(id.to_owned()),
            Self { domain: true, .. } => Target::Domain(id.to_owned()),
            Self { document: false, .. } if cluster_number(id).is_some() => Target::Cluster(id.to_owned()),
            _ => Target::Document(id.to_owned()),
        }
    }
}

/// Labels.
pub fn run(arguments: LabelArguments, common: &Common) -> anyhow::Result<Ending> {
    let LabelArguments { action, put } = arguments;
    if let (Some(_), Some(id)) = (&action, &put.id) {
        let problem =
            format!("`{}` and a command do not go together: `label add ID WORD` takes any word", report::plain(id));
        return Err(Problems(vec![problem]).into());
    }
    match action {
        Some(Action::Add(arguments)) => put::run(arguments, common),
        Some(Action::Undo(arguments)) => undo::run(arguments, common),
        Some(Action::List(arguments)) => history::list(arguments, common),
        Some(Action::History(arguments)) => history::run(arguments, common),
        Some(Action::Export(arguments)) => transfer::export(arguments, common),
        Some(Action::Import(arguments)) => transfer::import(arguments, common),
        None => put::run(put, common),
    }
}

/// A target for people.
fn shown(target: &Target) -> String {
    match target {
        Target::Document(id) => report::plain(id),
        Target::Cluster(id) => format!("cluster {}", report::plain(id)),
        Target::Domain(domain) => format!("domain {}", report::plain(domain)),
    }
}
