//! `seamripper ingest`: documents from files to the bus.

mod ledger;
mod loader;
mod reading;

use crate::bus;
use crate::command::complaints::Complaints;
use crate::command::interruption::interrupted;
use crate::command::output::tell;
use crate::command::report::print_json;
use crate::command::words::{counted, verb};
use crate::command::{Common, Ending};
use crate::corpus::{self, Begin, Entry, Form, Trouble};
use crate::pipeline::dispatch::Dispatch;
use crate::pipeline::progress::Progress;
use crossbeam_channel::{Sender, bounded};
use indicatif::DecimalBytes;
use ledger::Ledger;
use loader::{Loaded, Loader, QUEUE_MAX, Step};
use reading::{Next, Reading};
use serde::Serialize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

/// The name of the state file in `bus.folder`.
const LEDGER: &str = "ingest.sqlite";

/// The arguments of `seamripper ingest`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  seamripper ingest crawl.warc.gz mails/       to the embedded bus, beside a run or without one
  seamripper ingest -c kafka.toml mails.mbox   to Kafka
  producer | seamripper ingest -f jsonl -      envelopes from a pipe, as they come

What was ingested is remembered, so that an ingest that was cut off, or is run again, goes on where it was: a file that is done \
and has not changed since is passed over. At most one batch is then sent twice, which does no harm: a document that comes again \
under its id is an unchanged recrawl. Where a document brings no id (nor a page a URL), its file and number in it are its id, and what stands there later is a new version of it: give files that come again new names. What comes by a pipe is known by a digest of its bytes. The exit code is 1 if something could not be read; everything else is sent.")]
pub struct IngestArguments {
    /// Files, folders, or `-` for standard input, as `seamripper scan` reads them
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// What all files hold, whatever their names and first bytes say
    #[arg(short, long, value_name = "FORMAT")]
    format: Option<Form>,
    /// Send everything, also what was sent before
    #[arg(long)]
    again: bool,
    /// Where it is remembered what was sent [default: ingest.sqlite in bus.folder]
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
    /// Print what was done as JSON
    #[arg(long)]
    json: bool,
}

/// What was done.
#[derive(Debug, Serialize)]
struct Summary {
    n_documents: u64,
    n_pages: u64,
    n_emails: u64,
    n_bytes: u64,
    /// Documents and files that could not be read or sent.
    n_troubles: u64,
    /// What was sent by an earlier ingest: files, and documents in files that are not done.
    n_files_before: u64,
    n_entries_before: u64,
    seconds: f64,
    interrupted: bool,
}

/// Ingests.
pub fn run(arguments: IngestArguments, common: &Common) -> anyhow::Result<Ending> {
    let settings = common.settings()?;
    let IngestArguments { paths, format, again, resume, json } = arguments;
    let bus = bus::open(&settings)?;
    bus.prepare()?;
    let path = resume.unwrap_or_else(|| settings.bus.folder.join(LEDGER));
    let ledger = || Ledger::open(&path, &settings, &*bus);
    let is_interrupted = interrupted();
    let n_bytes_read = Arc::default();
    let reading = Arc::new(Mutex::new(Reading::new(ledger()?, again, Arc::clone(&n_bytes_read))));
    let begin = {
        let reading = reading.clone();
        Begin(Arc::new(move |path: &Path| locked(&reading).begin(path)))
    };
    let options = corpus::Options {
        form: format,
        begin: Some(begin),
        n_bytes_read,
        is_over: is_interrupted.clone(),
        stdin_is_nameless: true,
    };
    let progress = Progress::new(&paths, &options, !common.quiet);
    let loader = Loader {
        bus: bus.clone(),
        ledger: ledger()?,
        progress: progress.clone(),
        is_interrupted: is_interrupted.clone(),
        complaints: Arc::default(),
    };
    let dispatch = Dispatch::new(&settings);
    let complaints = loader.complaints.clone();
    let (steps, taken) = bounded(QUEUE_MAX);
    let loading = thread::Builder::new().name("ingest".into()).spawn(move || loader.run(&taken))?;
    let mut sending = Sending {
        dispatch: &dispatch,
        reading: &reading,
        steps,
        progress: &progress,
        complaints: &complaints,
        n_troubles: 0,
    };
    let mut is_cut_off = false;
    corpus::read(&paths, &options, &settings.limits, &mut |entry| {
        is_cut_off = is_interrupted.load(Ordering::Relaxed) || sending.take(entry).is_break();
        if is_cut_off { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    if !is_cut_off {
        sending.end();
    }
    let n_troubles = sending.n_troubles;
    drop(sending);
    let loaded = loading.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    progress.finish();
    let loaded = loaded.map_err(|error| error.context("not everything was sent; run it again to go on"))?;
    let summary = {
        let Loaded { n_by_topic, n_bytes, n_refused } = loaded;
        let n_of = |topic: &str| n_by_topic.get(topic).copied().unwrap_or(0);
        let reading = locked(&reading);
        Summary {
            n_documents: n_by_topic.values().sum(),
            n_pages: n_of(&settings.topics.pages),
            n_emails: n_of(&settings.topics.emails),
            n_bytes,
            n_troubles: n_troubles + n_refused,
            n_files_before: reading.n_files_before,
            n_entries_before: reading.n_entries_before,
            seconds: progress.seconds(),
            interrupted: is_interrupted.load(Ordering::Relaxed),
        }
    };
    if json {
        print_json(&summary)?;
    }
    if !common.quiet {
        summarise(&summary);
    }
    let all_good = summary.n_troubles == 0 && !summary.interrupted;
    Ok(if all_good { Ending::Good } else { Ending::SomeFailed })
}

fn summarise(summary: &Summary) {
    let Summary { n_documents, n_pages, n_emails, n_bytes, n_files_before, n_entries_before, .. } = summary;
    let (size, rate) = (DecimalBytes(*n_bytes), *n_documents as f64 / summary.seconds.max(1e-6));
    tell(format_args!(
        "{} {} durable: {}, {}; {size}, {rate:.0} documents/s",
        counted(*n_documents, "document"),
        verb(*n_documents, "is", "are"),
        counted(*n_pages, "page"),
        counted(*n_emails, "mail")
    ));
    if *n_files_before + *n_entries_before > 0 {
        tell(format_args!(
            "passed over, since sent before: {}, and {} of others (--again sends them too)",
            counted(*n_files_before, "file"),
            counted(*n_entries_before, "document")
        ));
    }
    if summary.n_troubles > 0 {
        tell(format_args!("{} could not be read or sent", summary.n_troubles));
    }
    if summary.interrupted {
        tell(format_args!("interrupted: run it again to go on"));
    }
}

fn locked(reading: &Mutex<Reading>) -> MutexGuard<'_, Reading> {
    reading.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Hands what is read over to the loader.
struct Sending<'a> {
    dispatch: &'a Dispatch,
    reading: &'a Mutex<Reading>,
    steps: Sender<Step>,
    progress: &'a Progress,
    complaints: &'a Complaints,
    n_troubles: u64,
}

impl Sending<'_> {
    /// Takes an entry; breaks when the loader has given up.
    fn take(&mut self, entry: Result<Entry, Trouble>) -> ControlFlow<()> {
        let (done, next) = {
            let mut reading = locked(self.reading);
            (reading.done(), reading.next())
        };
        self.send(done.into_iter().map(Step::Mark))?;
        let Next::New(mark) = next else { return ControlFlow::Continue(()) };
        let entry = entry.map_err(|trouble| trouble.to_string()).and_then(|Entry { place, record }| {
            let dispatched = self.dispatch.dispatched(record).map_err(|refused| format!("{place}: {refused}"))?;
            Ok((place, dispatched.outgoing))
        });
        match entry {
            Ok((place, outgoing)) => self.send([Step::Document { place, outgoing, mark }]),
            Err(report) => {
                self.n_troubles += 1;
                self.complaints.say(self.progress, &report);
                self.send(mark.map(Step::Mark))
            }
        }
    }

    /// Everything was read.
    fn end(&mut self) {
        let done = {
            let mut reading = locked(self.reading);
            reading.end();
            reading.done()
        };
        // If the loader has given up, it says so itself.
        let _given_up = self.send(done.into_iter().map(Step::Mark));
    }

    fn send(&self, steps: impl IntoIterator<Item = Step>) -> ControlFlow<()> {
        for step in steps {
            if self.steps.send(step).is_err() {
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }
}
