//! `seamripper replay`: which verdicts a changed setting would have changed.
//!
//! # Invariants
//! - Nothing is published, and no state is changed. (`tests/promises/replay_command.rs`)

mod table;

use super::complaints::Complaints;
use super::interruption::interrupted;
use super::output::tell;
use super::report::{self, print_json, print_report};
use super::run::log;
use super::{Common, Ending, environment};
use crate::bus;
use crate::config::{Problems, Settings};
use crate::corpus::{self, Form};
use crate::http::{Role, State};
use crate::pipeline::progress::Progress;
use crate::pipeline::rehearsal::differences::{Counts, Differences, Wanted};
use crate::pipeline::rehearsal::journal::{Began, Rehearsed, decided_by};
use crate::pipeline::rehearsal::{Changed, changed, files, journal};
use crate::pipeline::run::scheme::Scheme;
use crate::pipeline::run::{Instance, Options};
use serde::Serialize;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// The arguments of `seamripper replay`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct ReplayArguments {
    /// Files and folders to judge by both settings, rather than the journal of a run; `-` is standard input
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// The settings to compare with [default: those that the journal has; for files the built-in ones]
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
    /// Show so many documents of each change, with the figures of both sides
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(..=1000))]
    examples: usize,
    /// Hold so many documents, about 150 bytes each, to see what becomes of their verdicts later
    #[arg(long, value_name = "N", default_value_t = HELD_MAX, value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..))]
    held: usize,
    #[command(flatten)]
    form: report::Form,
    /// What all files hold, whatever their names and first bytes say
    #[arg(short, long, value_name = "FORMAT", requires = "paths")]
    format: Option<Form>,
    /// Sign on so many threads [default: one per core]
    #[arg(short, long, value_name = "N", value_parser = super::threads)]
    threads: Option<NonZeroUsize>,
}

/// A table of so many needs no second one to grow into.
const HELD_MAX: usize = 900_000;

const EXAMPLES: &str = "\
Examples:
  seamripper replay --config new.toml                     what a run would have said under new.toml
  seamripper replay --config new.toml --against old.toml  where new.toml has another secret or bus
  seamripper replay --config new.toml mails.mbox          both settings over the same files
  seamripper replay --config new.toml --examples 20 > changes.json

--config is the configuration to try, whole, as `run --config` would have it. The journal is read from its beginning, or from the \
oldest snapshot where it was trimmed (snapshot.kept and snapshot.every_s say how far back that is), whether or not a run is going; \
documents are read from their topics again, and signed anew where the settings ask for it. Nothing is published. It needs the memory \
of two stores, and about 150 bytes for each document that is held. A terminal shows a report; into a pipe goes the JSON of \
schemas/replay.json (--json and --report choose). The exit code is 0 whether or not verdicts differ, 1 if not everything could be \
read or it was interrupted, 2 if the settings cannot be used.";

impl ReplayArguments {
    fn wanted(&self) -> Wanted {
        Wanted { examples_max: self.examples, held_max: self.held }
    }
}

/// What came of it (`schemas/replay.json`).
#[derive(Serialize)]
struct Answer {
    settings: Vec<Changed>,
    #[serde(flatten)]
    source: Source,
    #[serde(flatten)]
    counts: Counts,
    seconds: f64,
    interrupted: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Source {
    Journal { began: Began, n_entries: u64, n_entries_different: u64, left_out: Vec<String> },
    Files { paths: Vec<String>, n_troubles: u64 },
}

/// Replays.
pub fn run(arguments: ReplayArguments, common: &Common) -> anyhow::Result<Ending> {
    let Some(path) = &common.config else {
        let problem = "--config NEW names the settings to try; without it nothing would change".to_owned();
        return Err(Problems(vec![problem]).into());
    };
    let new = common.settings()?;
    let against = arguments.against.as_deref().map(|path| Settings::load(Some(path), &environment())).transpose()?;
    log(common.quiet || std::env::var_os("RUST_LOG").is_none(), false);
    let is_interrupted = interrupted();
    let answer = match arguments.paths.is_empty() {
        true => of_journal(&arguments, new, against, common, &is_interrupted)?,
        false => of_files(&arguments, new, against, common, &is_interrupted)?,
    };
    let lines = table::lines(&answer, path);
    if arguments.form.is_report() {
        print_report(&lines)?;
    } else {
        print_json(&answer)?;
        if !common.quiet {
            tell(format_args!("{}", lines.trim_end()));
        }
    }
    let is_good = !answer.interrupted && !matches!(answer.source, Source::Files { n_troubles: 1.., .. });
    Ok(if is_good { Ending::Good } else { Ending::SomeFailed })
}

fn of_journal(
    arguments: &ReplayArguments,
    new: Settings,
    against: Option<Settings>,
    common: &Common,
    is_interrupted: &Arc<AtomicBool>,
) -> anyhow::Result<Answer> {
    // What decided is in the journal: of these only bus, topics and secret count, and no lexicon of a trial is kept with the run's.
    let mut ours = against.unwrap_or_else(|| new.clone());
    ours.imatch = Settings::default().imatch;
    if let Some(threads) = arguments.threads {
        ours.batch.threads = threads.get();
    }
    let is = Arc::new(Scheme::new(Arc::new(decided_by(&new, &ours)))?);
    let bus = bus::open_to_read(&ours)?;
    let options = Options { accept_loss: false, first_store: None, ends_when_idle: None };
    let state = Arc::new(State::new(Role::All));
    let instance = Instance::new(Arc::new(ours), bus, options, state, is_interrupted.clone())?;
    let progress = Progress::new(&[], &corpus::Options::default(), !common.quiet);
    let tell = |step: journal::Step| progress.show_entries(step.n_entries, step.n_all, step.n_documents);
    let replayed = journal::rehearse(&instance, &is, arguments.wanted(), tell);
    progress.finish();
    let (differences, Rehearsed { began, n_entries, n_entries_different, left_out, was }) = replayed?;
    Ok(Answer {
        settings: changed(&was, &is),
        source: Source::Journal { began, n_entries, n_entries_different, left_out },
        counts: differences.counts(),
        seconds: progress.seconds(),
        interrupted: is_interrupted.load(Ordering::Relaxed),
    })
}

fn of_files(
    arguments: &ReplayArguments,
    new: Settings,
    against: Option<Settings>,
    common: &Common,
    is_interrupted: &Arc<AtomicBool>,
) -> anyhow::Result<Answer> {
    let ours = match against {
        Some(against) => against,
        None => Settings::load(None, &environment())?,
    };
    let is = Scheme::new(Arc::new(decided_by(&new, &ours)))?;
    let was = Scheme::new(Arc::new(ours))?;
    let n_threads = arguments.threads.or_else(|| thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN);
    let is_over = is_interrupted.clone();
    let options = corpus::Options { form: arguments.format, is_over, ..corpus::Options::default() };
    let progress = Progress::new(&arguments.paths, &options, !common.quiet);
    let mut differences = Differences::new(arguments.wanted());
    // What one of them would read, the other rejects with its own reason.
    let limits = was.settings.limits.clone();
    let read = |with: corpus::With<'_>| {
        corpus::read(&arguments.paths, &options, &limits, &mut |entry| {
            if is_interrupted.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { with(entry) }
        })
    };
    let (mut n_troubles, complaints) = (0, Complaints::default());
    files::rehearse(read, &was, &is, n_threads, &mut differences, |n_documents, trouble| match trouble {
        Some(trouble) => {
            n_troubles += 1;
            complaints.say(&progress, &trouble);
        }
        None => progress.show(n_documents),
    });
    progress.finish();
    let paths = arguments.paths.iter().map(|path| path.display().to_string()).collect();
    Ok(Answer {
        settings: changed(&was, &is),
        source: Source::Files { paths, n_troubles },
        counts: differences.counts(),
        seconds: progress.seconds(),
        interrupted: is_interrupted.load(Ordering::Relaxed),
    })
}
