//! What a user can ask for on the command line, one file per command.
//!
//! JSON for machines goes to stdout and everything else to stderr. A command returns how it ended: all good, something
//! in the input failed (and was reported by name), or the command line or the configuration was wrong.

pub mod audit;
pub mod compare;
pub mod complaints;
pub mod completions;
pub mod config;
pub mod explain;
pub mod heap;
pub mod ingest;
pub mod interruption;
pub mod label;
pub mod lexicon;
pub mod milter;
pub mod output;
pub mod replay;
pub mod report;
pub mod run;
pub mod scan;
pub mod scan_report;
pub mod sign;
pub mod tail;
pub mod tune;
mod words;

use crate::config::{Problems, Settings, THREADS_MAX};
use clap::{Parser, Subcommand};
use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

/// Tells mirrors, quilts and template pages among web pages and e-mails.
#[derive(Debug, Parser)]
#[command(name = "seamripper", version, max_term_width = 100, propagate_version = true, after_help = EXAMPLES)]
pub struct Arguments {
    /// What can be set for every command.
    #[command(flatten)]
    pub common: Common,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What can be set for every command.
#[derive(Debug, clap::Args)]
pub struct Common {
    /// A TOML file that changes single settings (`seamripper config show` lists them all)
    #[arg(short, long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Say nothing but errors
    #[arg(short, long, global = true)]
    pub quiet: bool,
}

impl Common {
    /// The settings in force.
    pub fn settings(&self) -> Result<Settings, Problems> {
        let garbled: Vec<String> = std::env::vars_os()
            .filter(|(name, value)| {
                name.to_string_lossy().starts_with("SEAMRIPPER_")
                    && (name.to_str().is_none() || value.to_str().is_none())
            })
            .map(|(name, _)| format!("environment {} is not valid UTF-8", name.to_string_lossy().escape_debug()))
            .collect();
        if !garbled.is_empty() {
            return Err(Problems(garbled));
        }
        Settings::load(self.config.as_deref(), &environment())
    }
}

/// A number of threads, as an argument.
pub fn threads(text: &str) -> Result<NonZeroUsize, String> {
    let n = text.parse::<NonZeroUsize>().map_err(|error| error.to_string())?;
    if n.get() > THREADS_MAX { Err(format!("at most {THREADS_MAX}")) } else { Ok(n) }
}

/// A time in seconds, as an argument.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().map_err(|error| error.to_string())?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

/// The environment, as far as it is text.
pub fn environment() -> Vec<(String, String)> {
    let text = |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
    std::env::vars_os().filter_map(text).collect()
}

const EXAMPLES: &str = "\
Examples:
  seamripper run                               the filter on a bus, for as long as you like ...
  seamripper ingest crawl.warc.gz mails/       ... documents for it
  seamripper tail --class quilt                ... and its verdicts
  seamripper label ID spam --why 'complaints'  ... what people say of one of them
  seamripper milter                            asks it about the mails of Postfix or Sendmail
  seamripper replay --config new.toml          ... what it would have said under other settings
  seamripper scan crawl.warc.gz mails/ > verdicts.jsonl
  seamripper explain ID --from crawl.warc.gz   why a document got its verdict, with the passages
  seamripper sign page.html mails.mbox.gz      what was read, and signatures, as lines of JSON
  seamripper sign --text page.html             the visible text that all spans refer to
  seamripper compare a.html b.html             how alike two documents are, and why
  seamripper tune --resemblance 0.8 --miss 0.001
  seamripper config show                       every setting with its reason";

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the filter on a bus: the embedded one, or Kafka
    Run(run::RunArguments),
    /// Send documents from files to the bus
    Ingest(ingest::IngestArguments),
    /// Print verdicts as they come
    Tail(tail::TailArguments),
    /// Say what documents, clusters and domains are, and what verdicts carry from then on
    Label(label::LabelArguments),
    /// Ask a run about the mails of Postfix or Sendmail
    Milter(milter::MilterArguments),
    /// Judge again what was judged, and compare with what was published
    Audit(audit::AuditArguments),
    /// Say which verdicts a changed setting would have changed
    Replay(replay::ReplayArguments),
    /// Say of every document whether it is a mirror, a quilt, a template page or original
    Scan(scan::ScanArguments),
    /// Say why a document got its verdict
    Explain(explain::ExplainArguments),
    /// Read documents and print what was read and their signatures
    Sign(sign::SignArguments),
    /// Say how alike two documents are, and why
    Compare(compare::CompareArguments),
    /// Solve bands, bins and lexicon copies for the errors you can live with
    Tune(tune::TuneArguments),
    /// Build and inspect lexicons
    Lexicon(lexicon::LexiconArguments),
    /// Show or check the settings
    Config(config::ConfigArguments),
    /// Print a completion script for your shell
    Completions(completions::CompletionsArguments),
}

/// How a command ended, when nothing stopped it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// All good: exit code 0.
    Good,
    /// Something in the input failed, was reported by name, and the rest was done: exit code 1.
    SomeFailed,
}

/// Runs what was asked for.
pub fn run(arguments: Arguments) -> anyhow::Result<Ending> {
    let common = &arguments.common;
    match arguments.command {
        Command::Run(arguments) => run::run(arguments, common),
        Command::Ingest(arguments) => ingest::run(arguments, common),
        Command::Tail(arguments) => tail::run(arguments, common),
        Command::Label(arguments) => label::run(arguments, common),
        Command::Milter(arguments) => milter::run(arguments, common),
        Command::Audit(arguments) => audit::run(arguments, common),
        Command::Replay(arguments) => replay::run(arguments, common),
        Command::Scan(arguments) => scan::run(arguments, common),
        Command::Explain(arguments) => explain::run(arguments, common),
        Command::Sign(arguments) => sign::run(arguments, common),
        Command::Compare(arguments) => compare::run(arguments, common),
        Command::Tune(arguments) => tune::run(arguments, common),
        Command::Lexicon(arguments) => lexicon::run(arguments, common),
        Command::Config(arguments) => config::run(arguments, common),
        Command::Completions(arguments) => completions::run(arguments),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    /// The terminal wraps a paragraph to its width. One that is written in lines would be wrapped twice, and an example wrapped once
    /// is no command any more.
    #[test]
    fn help_is_wrapped_once() {
        fn check(command: &clap::Command, n_checked: &mut usize) {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let lines: Vec<&str> = help.lines().collect();
            for (line, next) in lines.iter().zip(lines.iter().skip(1)) {
                let (is_prose, goes_on) = (!line.starts_with(' '), !next.starts_with(' ') && !next.is_empty());
                assert!(!(is_prose && !line.is_empty() && goes_on), "{}: {line}\n{next}", command.get_name());
            }
            for example in lines.iter().filter(|line| line.starts_with(' ')) {
                assert!(example.chars().count() <= 100, "{}: {example}", command.get_name());
            }
            *n_checked += usize::from(!help.is_empty());
            command.get_subcommands().for_each(|command| check(command, n_checked));
        }
        let mut n_checked = 0;
        check(&Arguments::command(), &mut n_checked);
        assert!(n_checked >= 20, "{n_checked}");
    }
}
