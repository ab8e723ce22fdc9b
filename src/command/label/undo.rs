//! `seamripper label undo`: takes a label back, one's own or everyone's.

use super::author::author;
use super::desk::{Desk, checked};
use super::put::line;
use super::{Form, Sort, shown};
use crate::command::report::{plain, print_json, print_report};
use crate::command::{Common, Ending};
use crate::pipeline::register::posting::now;
use crate::verdict::label::Record;
use anyhow::bail;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  seamripper label undo m-5b1e0c9d7a66 spam --why 'it was our newsletter'
  seamripper label undo m-5b1e0c9d7a66 spam --everyone    also what others have said
  seamripper label undo --domain parcel-desk.example allow")]
pub(super) struct UndoArguments {
    /// The id that was labelled, or that of a copy
    #[arg(value_name = "ID")]
    id: String,
    /// The label
    #[arg(value_name = "WORD")]
    label: String,
    /// Why, for whoever asks later
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    why: String,
    /// Who takes it back [default: the name of the user]
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
    /// Take it back whoever has said so
    #[arg(long)]
    everyone: bool,
    #[command(flatten)]
    sort: Sort,
    #[command(flatten)]
    form: Form,
}

pub(super) fn run(arguments: UndoArguments, common: &Common) -> anyhow::Result<Ending> {
    let UndoArguments { id, label, why, by, everyone, sort, form } = arguments;
    let (target, by) = (sort.target(&id), by.unwrap_or_else(author));
    let undo = Record { target, label, by, why, at: now(), undo: true, named: None, undone_by: None };
    let undo = checked(undo)?.record().clone();
    let desk = Desk::open_to_read(common)?;
    let head = |id: &str| Ok::<_, anyhow::Error>(desk.heads([id])?.remove(id));
    let undoing = desk.register()?.undoing(&undo, everyone, head)?;
    let others = || undoing.others.iter().map(|by| plain(by)).collect::<Vec<_>>().join(", ");
    if undoing.is_of_others() {
        let (label, by) = (plain(&undo.label), plain(&undo.by));
        bail!("`{label}` was not said by {by}, but by {}: --everyone takes it back all the same", others());
    }
    if undoing.postings.is_empty() {
        desk.say(format_args!("nothing is taken back: `{}` is not on {}", plain(&undo.label), shown(&undo.target)));
    } else if !undoing.others.is_empty() {
        desk.say(format_args!("it stays in force, since others say so too: {} (--everyone)", others()));
    }
    for posted in desk.post(undoing.postings)? {
        if form.is_report() { print_report(&line(&posted))? } else { print_json(&posted)? }
    }
    Ok(Ending::Good)
}
