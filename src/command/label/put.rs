//! `seamripper label ID WORD`: puts a label on something.

use super::author::author;
use super::desk::{Desk, checked};
use super::{Form, Sort, shown};
use crate::command::report::{plain, print_json, print_report};
use crate::command::{Common, Ending};
use crate::pipeline::register::posting::{Posted, Posting, now};
use crate::verdict::label::{Record, Target};
use std::collections::HashMap;

#[derive(Debug, clap::Args)]
pub(super) struct PutArguments {
    /// The id of a document or cluster, as verdicts have it, or with --domain a domain
    #[arg(value_name = "ID", required = true)]
    pub(super) id: Option<String>,
    /// The label: any word
    #[arg(value_name = "WORD", required = true)]
    label: Option<String>,
    /// Why, for whoever asks later
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    why: String,
    /// Who says so [default: the name of the user]
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
    /// Put it on the document itself, without looking whose copy it is
    #[arg(long)]
    as_is: bool,
    #[command(flatten)]
    sort: Sort,
    #[command(flatten)]
    form: Form,
}

pub(super) fn run(arguments: PutArguments, common: &Common) -> anyhow::Result<Ending> {
    let PutArguments { id, label, why, by, as_is, sort, form } = arguments;
    let (id, label) = id.zip(label).expect("both are required");
    let (target, by) = (sort.target(&id), by.unwrap_or_else(author));
    let label = checked(Record { target, label, by, why, at: now(), undo: false, named: None, undone_by: None })?;
    let desk = Desk::open(common)?;
    let posting = match (&label.record().target, as_is) {
        (Target::Document(id), false) => {
            let posting = Posting::new(&label, &desk.heads([id.as_str()])?);
            desk.warn_of_unknown(&posting);
            posting
        }
        (Target::Document(_), true) => Posting { known: None, ..Posting::new(&label, &HashMap::new()) },
        (Target::Cluster(id), _) => {
            desk.warn_of_unknown_cluster(id)?;
            Posting::new(&label, &HashMap::new())
        }
        (Target::Domain(_), _) => Posting::new(&label, &HashMap::new()),
    };
    for posted in desk.post(vec![posting])? {
        if form.is_report() { print_report(&line(&posted))? } else { print_json(&posted)? }
    }
    Ok(Ending::Good)
}

/// What was done, for people.
pub(super) fn line(posted: &Posted) -> String {
    let Record { target, label, by, undo, named, undone_by, .. } = &posted.record;
    let group = match named {
        Some(named) => format!(" and its copies, {} among them", plain(named)),
        None => String::new(),
    };
    let (label, on, by) = (plain(label), shown(target), plain(by));
    match (undo, undone_by) {
        (false, _) => format!("{label} by {by}: on {on}{group}\n"),
        (true, None) => format!("{label} by {by}: taken back from {on}{group}\n"),
        (true, Some(who)) => format!("{label} by {by}: taken back from {on}{group}, by {}\n", plain(who)),
    }
}
