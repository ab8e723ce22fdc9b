//! `seamripper label list` and `seamripper label history`: what is in force, and what was said before.

use super::desk::Desk;
use super::{Form, Sort, shown};
use crate::command::output::Output;
use crate::command::report::{plain, print_json, print_report, spelled_out};
use crate::command::{Common, Ending};
use crate::pipeline::register::{Entry, Register, Told};
use crate::verdict::label::{Record, Target};
use serde::Serialize;
use std::io::Write;
use std::sync::Arc;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  seamripper label list                        all labels in force
  seamripper label list m-5b1e0c9d7a66         those of a document, or of its group
  seamripper label list --label spam --by ada
  seamripper label list --json | jq -r .target.domain")]
pub(super) struct ListArguments {
    /// Only those of this document, cluster or domain
    #[arg(value_name = "ID")]
    id: Option<String>,
    /// Only this label
    #[arg(long, value_name = "WORD")]
    label: Option<String>,
    /// Only what this one says
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
    #[command(flatten)]
    sort: Sort,
    #[command(flatten)]
    form: Form,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  seamripper label history m-5b1e0c9d7a66      of a document, or of the group that it is a copy in
  seamripper label history --domain parcel-desk.example --label allow

JSON is that of schemas/labels.json. On Kafka the topic is compacted: what one author said of one target and label before their last \
word on it may be gone.")]
pub(super) struct HistoryArguments {
    /// The document, cluster or domain
    #[arg(value_name = "ID")]
    id: String,
    /// Only this label
    #[arg(long, value_name = "WORD")]
    label: Option<String>,
    #[command(flatten)]
    sort: Sort,
    #[command(flatten)]
    form: Form,
}

/// What was said of a target (`schemas/labels.json`).
#[derive(Serialize)]
struct History {
    labels: Vec<Told>,
    history: Vec<Told>,
    n_older: u64,
}

pub(super) fn list(arguments: ListArguments, common: &Common) -> anyhow::Result<Ending> {
    let ListArguments { id, label, by, sort, form } = arguments;
    let desk = Desk::open_to_read(common)?;
    let register = desk.register()?;
    let mut held = match &id {
        None => register.all_in_force(),
        Some(id) => {
            let targets = targets(&desk, &register, sort.target(id))?;
            targets.iter().flat_map(|target| register.in_force(target)).collect()
        }
    };
    held.retain(|entry| {
        let Record { label: word, by: author, .. } = &entry.record;
        label.as_ref().is_none_or(|label| label == word) && by.as_ref().is_none_or(|by| by == author)
    });
    if form.is_report() {
        print_report(&held.iter().map(|entry| line(entry)).collect::<String>())?;
        return Ok(Ending::Good);
    }
    let mut output = Output::new();
    for entry in held {
        writeln!(output, "{}", spelled_out(&serde_json::to_string(&entry.record)?))?;
    }
    output.flush()?;
    Ok(Ending::Good)
}

pub(super) fn run(arguments: HistoryArguments, common: &Common) -> anyhow::Result<Ending> {
    let HistoryArguments { id, label, sort, form } = arguments;
    let desk = Desk::open_to_read(common)?;
    let register = desk.register()?;
    let targets = targets(&desk, &register, sort.target(&id))?;
    let wanted = |entry: &Arc<Entry>| label.as_ref().is_none_or(|label| *label == entry.record.label);
    let history: Vec<_> = targets.iter().flat_map(|target| register.history(target)).filter(wanted).collect();
    if form.is_report() {
        print_report(&history.iter().map(|entry| line(entry)).collect::<String>())?;
        return Ok(Ending::Good);
    }
    let in_force = targets.iter().flat_map(|target| register.in_force(target)).filter(wanted);
    print_json(&History {
        labels: in_force.map(|entry| entry.told()).collect(),
        history: history.iter().map(|entry| entry.told()).collect(),
        n_older: register.n_older(),
    })?;
    Ok(Ending::Good)
}

/// The target, and of a document those that stand for it.
fn targets(desk: &Desk, register: &Register, target: Target) -> anyhow::Result<Vec<Target>> {
    let Target::Document(id) = &target else { return Ok(vec![target]) };
    let mut targets = register.labelled_by_way_of(id);
    targets.extend(desk.heads([id.as_str()])?.remove(id).map(Target::Document));
    targets.push(target);
    targets.sort();
    targets.dedup();
    Ok(targets)
}

/// One line for people: when, what, on what, by whom and why.
fn line(entry: &Entry) -> String {
    let Record { target, label, by, why, at, undo, named, undone_by } = &entry.record;
    let back = match (undo, undone_by) {
        (false, _) => String::new(),
        (true, None) => " taken back".to_owned(),
        (true, Some(who)) => format!(" taken back by {}", plain(who)),
    };
    let named = named.as_ref().map_or_else(String::new, |named| format!(" (by way of {})", plain(named)));
    let why = if why.is_empty() { String::new() } else { format!(": {}", plain(why)) };
    format!("{at}  {:<8}  {}{named}  {}{back}{why}\n", plain(label), shown(target), plain(by))
}
