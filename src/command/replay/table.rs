//! What a replay came to, for people.

use super::{Answer, Source};
use crate::command::report::{plain, shortened};
use crate::command::words::{counted, verb};
use crate::pipeline::rehearsal::differences::{Counts, Example, Transition};
use crate::pipeline::rehearsal::journal::{Began, Knowledge};
use std::fmt::Write;
use std::path::Path;

/// The longest id that is shown whole.
const ID_CHARS_MAX: usize = 80;

/// The lines.
pub(super) fn lines(answer: &Answer, config: &Path) -> String {
    let mut lines = String::new();
    let mut say =
        |line: std::fmt::Arguments<'_>| writeln!(lines, "{line}").expect("a string takes all that is written");
    for changed in &answer.settings {
        say(format_args!("{}: {} -> {}", changed.key, changed.was, changed.is));
    }
    if answer.settings.is_empty() {
        say(format_args!("{} changes no setting that decides verdicts", plain(&config.display().to_string())));
    }
    let Counts { n_documents, n_same, n_changed, n_other_original, n_other_labels, n_late, transitions } =
        &answer.counts;
    say(format_args!("{}: of {n_changed} another verdict, of {n_same} the same", counted(*n_documents, "document")));
    if transitions.iter().any(|one| one.was != one.is) {
        say(format_args!("{:>10}  {:<22}  is", "documents", "was"));
    }
    for Transition { was, is, n, examples } in transitions.iter().filter(|one| one.was != one.is) {
        say(format_args!("{n:>10}  {was:<22}  {is}"));
        for example in examples {
            say(format_args!("{:>12}{}", "", told(example)));
        }
    }
    if *n_other_original > 0 {
        say(format_args!("of the same, {n_other_original} would be copies of another document"));
    }
    if *n_other_labels > 0 {
        say(format_args!("of the same, {n_other_labels} would carry other labels"));
    }
    if n_late.was + n_late.is > 0 {
        say(format_args!(
            "beside them {} then and {} now, of documents from before, or from longer ago than is held (--held)",
            counted(n_late.was, "revision"),
            n_late.is
        ));
    }
    match &answer.source {
        Source::Journal { began, n_entries, n_entries_different, left_out } => {
            say(format_args!("{}", beginning(began, *n_entries)));
            for why in left_out {
                say(format_args!("not replayed, {}", plain(why)));
            }
            if *n_entries_different > 0 {
                say(format_args!(
                    "warning: {} {} out otherwise than published (`seamripper audit`)",
                    counted(*n_entries_different, "journal entry"),
                    verb(*n_entries_different, "comes", "come"),
                ));
            }
        }
        Source::Files { n_troubles: 0, .. } => {}
        Source::Files { n_troubles, .. } => say(format_args!("{n_troubles} could not be read")),
    }
    if answer.interrupted {
        say(format_args!("interrupted: this is what there was so far"));
    }
    lines
}

/// A document with the figures that decide, and what they are now where they differ.
fn told(example: &Example) -> String {
    let Example { id, was, is, .. } = example;
    let mut told = shortened(&plain(id), ID_CHARS_MAX);
    for ((name, was), (_, is)) in was.figures.named().into_iter().zip(is.figures.named()) {
        let figures = match (was, is) {
            _ if was == is && is == 0.0 => continue,
            _ if was == is => format!("{was:.4}"),
            _ => format!("{was:.4} -> {is:.4}"),
        };
        write!(told, "  {name} {}", figures.replace(".0000", "")).expect("a string takes all that is written");
    }
    told
}

/// From where on the journal was replayed, and what that leaves out.
fn beginning(began: &Began, n_entries: u64) -> String {
    let Began { with, entry, n_records_before, why } = began;
    let replayed = format!("replayed: {}", counted(n_entries, "journal entry"));
    let missing = format!("not replayed: {} before it", counted(*n_records_before, "record"));
    match with {
        Knowledge::All => format!("{replayed}, from the first on"),
        Knowledge::Snapshot => format!("{replayed}, from entry {entry} on, with the snapshot before it; {missing}"),
        Knowledge::Nothing => format!(
            "{replayed}, from entry {entry} on; {missing}, of which both sides know nothing: {}",
            why.as_deref().unwrap_or("there is no snapshot")
        ),
    }
}
