//! `seamripper label export` and `seamripper label import`: labels as lines of JSON, from one bus to another.

use super::desk::Desk;
use super::put::line;
use crate::command::report::print_json;
use crate::command::words::{counted, verb};
use crate::command::{Common, Ending};
use crate::pipeline::register::posting::Posting;
use crate::verdict::label::{Label, Record, Target};
use crate::verdict::labels::read_lines;
use anyhow::{Context, ensure};
use serde::Serialize;
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  seamripper label export -o labels.jsonl
  seamripper scan crawl.warc.gz --labels labels.jsonl")]
pub(super) struct ExportArguments {
    /// Write them here instead of to standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  seamripper label import labels.jsonl
  seamripper label export -c old.toml | seamripper label import - -c new.toml

What is in force already, word for word, is not written again. One wrong line, and nothing is.")]
pub(super) struct ImportArguments {
    /// A file of labels, or `-` for standard input
    #[arg(value_name = "FILE")]
    path: PathBuf,
    /// Put them on the documents as they stand, without looking whose copies they are
    #[arg(long)]
    as_is: bool,
    /// Print what was done as JSON
    #[arg(long)]
    json: bool,
}

/// What was done.
#[derive(Serialize)]
struct Summary {
    n_labels: usize,
    n_unchanged: usize,
    /// Labels on documents of which no verdict is kept.
    n_unknown: usize,
}

pub(super) fn export(arguments: ExportArguments, common: &Common) -> anyhow::Result<Ending> {
    let desk = Desk::open_to_read(common)?;
    let held = desk.register()?.all_in_force();
    let mut lines = String::new();
    for entry in &held {
        lines += &serde_json::to_string(&entry.record)?;
        lines.push('\n');
    }
    match &arguments.output {
        Some(path) => {
            let written = File::create(path).and_then(|file| {
                let mut file = BufWriter::new(file);
                file.write_all(lines.as_bytes())?;
                file.flush()
            });
            written.with_context(|| format!("{} cannot be written", path.display()))?;
            desk.say(format_args!("{} in {}", counted(held.len(), "label"), path.display()));
        }
        None => crate::command::output::print(crate::command::report::spelled_out(&lines).as_bytes())?,
    }
    Ok(Ending::Good)
}

pub(super) fn import(arguments: ImportArguments, common: &Common) -> anyhow::Result<Ending> {
    let ImportArguments { path, as_is, json } = arguments;
    let labels =
        read_lines(&contents(&path)?).with_context(|| format!("labels {}: nothing was taken", path.display()))?;
    let desk = Desk::open(common)?;
    let heads = match as_is {
        true => HashMap::new(),
        false => desk.heads(labels.iter().filter_map(document))?,
    };
    let register = desk.register()?;
    let in_force = register.all_in_force();
    let mut held: HashMap<_, &Record> = in_force.iter().map(|entry| (key(&entry.record), &entry.record)).collect();
    let postings: Vec<Posting> = labels.iter().map(|label| Posting::new(label, &heads)).collect();
    let mut changed = Vec::new();
    for posting in &postings {
        let record = &posting.record;
        let is_news = match held.get(&key(record)) {
            Some(held) => *held != record,
            None => !record.undo,
        };
        if is_news {
            changed.push(posting.clone());
        }
        match record.undo {
            true => drop(held.remove(&key(record))),
            false => drop(held.insert(key(record), record)),
        }
    }
    let summary = Summary {
        n_labels: changed.len(),
        n_unchanged: postings.len() - changed.len(),
        n_unknown: changed.iter().filter(|posting| posting.known == Some(false) && !as_is).count(),
    };
    let n_unknown = summary.n_unknown;
    let posted = desk.post(changed)?;
    if json {
        print_json(&summary)?;
    }
    if let [one] = &posted[..] {
        desk.say(format_args!("{}", line(one).trim_end()));
    }
    desk.say(format_args!(
        "{} {} durable, {} in force before",
        counted(posted.len(), "label"),
        verb(posted.len(), "is", "are"),
        summary.n_unchanged
    ));
    if n_unknown > 0 {
        desk.say(format_args!(
            "warning: {} on documents of which no verdict is kept: in force for those ids, and for copies of them",
            counted(n_unknown, "label")
        ));
    }
    Ok(Ending::Good)
}

/// Larger files of labels are refused.
const BYTES_MAX: u64 = 256 << 20;

/// What stands in a file of labels, or comes from standard input.
pub(in crate::command) fn contents(path: &Path) -> anyhow::Result<Vec<u8>> {
    let mut lines = Vec::new();
    let read = match path.as_os_str() == "-" {
        true => std::io::stdin().lock().take(BYTES_MAX + 1).read_to_end(&mut lines),
        false => File::open(path).and_then(|file| file.take(BYTES_MAX + 1).read_to_end(&mut lines)),
    };
    read.with_context(|| format!("labels {} cannot be read", path.display()))?;
    ensure!(
        lines.len() as u64 <= BYTES_MAX,
        "labels {}: more than {BYTES_MAX} bytes; take them in parts",
        path.display()
    );
    Ok(lines)
}

/// The document that is labelled, where it is not said already on whom that was meant.
fn document(label: &Label) -> Option<&str> {
    match &label.record().target {
        Target::Document(id) if label.record().named.is_none() => Some(id),
        _ => None,
    }
}

fn key(record: &Record) -> (&Target, &str, &str) {
    (&record.target, &record.label, &record.by)
}
