//! `seamripper explain`: why a document got its verdict.
//!
//! Of files the verdict is computed anew, by the same fold under the same settings ([`again`]); of a store there is what the
//! store still knows ([`kept`]). Either way it is an [explanation](crate::pipeline::explanation), with the passages quoted from the files ([`files`]).
//!
//! # Invariants
//! - The verdict is that of `scan` over the same files. (`tests/promises/explain_command.rs`)
//! - What can no longer be read is said to be gone, and nothing is made up for it. (`tests/promises/explain_command.rs`)

mod again;
mod files;
mod kept;
mod nearest;
mod words;

use super::output::{ERROR, tell};
use super::report::{Form, n_columns, plain, print_json, print_report};
use super::{Common, Ending};
use crate::corpus;
use crate::store::snapshot;
use nearest::Nearest;
use std::fs::File;
use std::io::Read;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// The arguments of `seamripper explain`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct ExplainArguments {
    /// The id of the document, as verdicts have it, or its place, as `sign` has it
    id: String,
    /// The files and folders that it was judged among, in the same order; or a store that `scan --store` keeps
    #[arg(long, required = true, num_args = 1.., value_name = "PATH")]
    from: Vec<PathBuf>,
    /// What all files hold, whatever their names and first bytes say
    #[arg(short, long, value_name = "FORMAT")]
    format: Option<corpus::Form>,
    /// The labels that the scan had
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,
    /// Show so many of the passages shared with each document (JSON has them all)
    #[arg(long, value_name = "N", default_value_t = 3)]
    passages: usize,
    /// Sign on so many threads [default: one per core]
    #[arg(short, long, value_name = "N", value_parser = crate::command::threads)]
    threads: Option<NonZeroUsize>,
    #[command(flatten)]
    form: Form,
}

const EXAMPLES: &str = "\
Examples:
  seamripper explain https://example.org/page.html --from crawl.warc.gz
  seamripper explain mails.mbox#17 --from mails.mbox --json | jq .scores
  seamripper explain https://example.org/page.html --from seen.store     what the store still knows

Files are scanned again with the settings in force: use those of the scan. On a terminal the answer is a report with the \
shared passages; into a pipe it is one JSON object (schemas/explanation.json; --json and --report choose). \
Exit codes: 0 explained, 1 there is no such document, 2 wrong usage.";

/// Why there is no explanation.
struct Unknown {
    nearest: Nearest,
}

/// Runs it.
pub fn run(arguments: ExplainArguments, common: &Common) -> anyhow::Result<Ending> {
    let settings = common.settings()?;
    let explained = match &arguments.from[..] {
        [path] if is_store(path) => kept::explained(path, &arguments, &settings)?,
        _ => again::explained(&arguments, &settings, common.quiet)?,
    };
    match explained {
        Ok(explanation) if arguments.form.is_report() => {
            print_report(&words::report(&explanation, arguments.passages, n_columns()))?;
            Ok(Ending::Good)
        }
        Ok(explanation) => {
            print_json(&explanation)?;
            Ok(Ending::Good)
        }
        Err(Unknown { nearest }) => {
            tell(format_args!("{ERROR}: there is no document `{}`", plain(&arguments.id)));
            for id in nearest.ids() {
                tell(format_args!("  did you mean {}", plain(id)));
            }
            Ok(Ending::SomeFailed)
        }
    }
}

/// Whether the file is a saved store. What cannot be opened is none; reading it as a document says why.
fn is_store(path: &Path) -> bool {
    let mut magic = [0; snapshot::MAGIC.len()];
    path.is_file()
        && File::open(path).and_then(|mut file| file.read_exact(&mut magic)).is_ok()
        && magic == snapshot::MAGIC
}
