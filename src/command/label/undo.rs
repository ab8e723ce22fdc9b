//! `seamripper label undo`: takes a label back, one's own or everyone's.
//!
//! A label stands for each author by itself, so that one who errs takes nothing away from another. What is taken back for somebody else
//! says who did it.

use super::author::author;
use super::desk::{Desk, checked};
use super::put::line;
use super::{Form, Sort, shown};
use crate::command::report::{plain, print_json, print_report};
use crate::command::{Common, Ending};
use crate::pipeline::register::Entry;
use crate::pipeline::register::posting::{Posting, now};
use crate::verdict::label::{Record, Target};
use anyhow::bail;
use std::sync::Arc;

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
    let found = found(&desk, &undo)?;
    let (own, others): (Vec<_>, Vec<_>) = found.into_iter().partition(|entry| entry.record.by == undo.by);
    if own.is_empty() && others.is_empty() {
        desk.say(format_args!("nothing is taken back: `{}` is not on {}", plain(&undo.label), shown(&undo.target)));
        return Ok(Ending::Good);
    }
    let authors = || others.iter().map(|entry| plain(&entry.record.by)).collect::<Vec<_>>().join(", ");
    if own.is_empty() && !everyone {
        let (label, by) = (plain(&undo.label), plain(&undo.by));
        bail!("`{label}` was not said by {by}, but by {}: --everyone takes it back all the same", authors());
    }
    let taken_back = own.iter().chain(others.iter().filter(|_| everyone));
    let postings: Vec<Posting> = taken_back.map(|entry| taking_back(entry, &undo)).collect();
    for posted in desk.post(postings)? {
        if form.is_report() { print_report(&line(&posted))? } else { print_json(&posted)? }
    }
    if !others.is_empty() && !everyone {
        desk.say(format_args!("it stays in force, since others say so too: {} (--everyone)", authors()));
    }
    Ok(Ending::Good)
}

/// The labels in force that are meant: on the id itself, on whom somebody had labelled by pointing at it, or on the head of its group.
fn found(desk: &Desk, undo: &Record) -> anyhow::Result<Vec<Arc<Entry>>> {
    let register = desk.register()?;
    let on = |target: &Target| {
        let held = register.in_force(target).into_iter();
        held.filter(|entry| entry.record.label == undo.label).collect::<Vec<_>>()
    };
    let mut found = on(&undo.target);
    let Target::Document(id) = &undo.target else { return Ok(found) };
    let by_way = register.labelled_by_way_of(id).into_iter().filter(|target| *target != undo.target);
    found.extend(by_way.flat_map(|target| on(&target)));
    if found.is_empty()
        && let Some(head) = desk.heads([id.as_str()])?.remove(id)
    {
        found = on(&Target::Document(head));
    }
    Ok(found)
}

fn taking_back(entry: &Entry, undo: &Record) -> Posting {
    let Record { target, label, by, named, .. } = entry.record.clone();
    let undone_by = (by != undo.by).then(|| undo.by.clone());
    let Record { why, at, .. } = undo.clone();
    Posting { record: Record { target, label, by, why, at, undo: true, named, undone_by }, known: None }
}
