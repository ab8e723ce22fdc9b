//! `seamripper sign`: what was read in each document, and its signatures, one JSON object per line.
//!
//! Objects come in the order of the input, whatever the number of threads. A document that is set aside has its object
//! too, so that every document that was found is accounted for; what is no document (a missing or damaged file) is
//! reported on stderr alone.
//!
//! # Invariants
//! - The same input gives the same bytes on any number of threads. (`threads_do_not_change_the_output`)
//! - Every object is valid by `schemas/signatures.json`. (`every_object_is_valid_by_its_schema`)
//! - A broken file is reported by name, the rest goes on, and the exit code is 1. (`a_broken_file_is_named_and_the_rest_goes_on`)

mod printed;

use super::complaints::Complaints;
use super::output::{Output, tell};
use super::{Common, Ending};
use crate::corpus::{self, Entry, Form, Tally, Trouble};
use crate::pipeline::progress::Progress;
use crate::pipeline::sign::in_order;
use crate::pipeline::{Steps, lexicon};
use crate::signature::Outcome;
use indicatif::DecimalBytes;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::thread;

pub use printed::SCHEMA;

/// The arguments of `seamripper sign`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct SignArguments {
    /// Files, folders, or `-` for standard input
    ///
    /// Read by name: .html .htm .xhtml .txt .eml .mbox .jsonl .ndjson .warc .tar, each also with .gz or .zst. Files with
    /// other names are told by their first bytes. Folders are walked in name order; the files of a Maildir are mails.
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// What all files hold, whatever their names and first bytes say
    #[arg(short, long, value_name = "FORMAT")]
    pub format: Option<Form>,
    /// Print the visible text that all spans refer to: bare for one document, else as JSON objects with id and text
    #[arg(long)]
    pub text: bool,
    /// Keep all word 5-grams instead of the winnowed ones
    #[arg(long)]
    pub exact: bool,
    /// Print all links of a document, not only the first ten
    #[arg(long)]
    pub links: bool,
    /// Sign on so many threads [default: one per core]
    #[arg(short, long, value_name = "N", value_parser = crate::command::threads)]
    pub threads: Option<NonZeroUsize>,
}

const EXAMPLES: &str = "\
Examples:
  seamripper sign page.html                        what was read in a page, and its signatures
  seamripper sign --text page.html                 the text that a reader of the page sees
  seamripper sign mails.mbox.gz ~/Maildir          every mail of a mailbox and of a Maildir
  seamripper sign crawl.warc.gz > signatures.jsonl
  zcat pages.jsonl.gz | seamripper sign -          JSON envelopes from standard input
  seamripper sign site/ | jq -r 'select(.outcome == \"signed\") | [.id, .read.n_words] | @tsv'

The objects are described by schemas/signatures.json. The exit code is 1 if a file or a document could not be read; \
everything else is still signed.";

/// Runs it.
pub fn run(arguments: SignArguments, common: &Common) -> anyhow::Result<Ending> {
    let SignArguments { paths, format, text, exact, links, threads } = arguments;
    let mut settings = common.settings()?;
    if exact {
        settings.grams.window = NonZeroUsize::MIN;
    }
    let lexicons = lexicon::load(&settings)?;
    let n_threads = threads.or_else(|| thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN);
    let worker = || {
        let mut steps = Steps::new(&settings, lexicons.clone());
        move |entry| Made::of(entry, &mut steps, text, links)
    };
    let options = corpus::Options { form: format, ..corpus::Options::default() };
    let mut printer = Printer {
        // Two things that write to one terminal at once are hard to read.
        progress: Progress::new(&paths, &options, !common.quiet && !io::stdout().is_terminal()),
        output: BufWriter::with_capacity(64 * 1024, Output::new()),
        held: None,
        counts: Counts::default(),
        complaints: Complaints::default(),
    };
    let read = |with: corpus::With<'_>| corpus::read(&paths, &options, &settings.limits, with);
    let tally = in_order(read, n_threads, worker, Made::of_bug, |made| printer.print(made))?;
    let (counts, seconds) = printer.finish()?;
    if !common.quiet {
        counts.summarise(&tally, seconds);
    }
    let all_good = counts.n_rejected == 0 && counts.n_unread == 0;
    Ok(if all_good { Ending::Good } else { Ending::SomeFailed })
}

/// What has become of an entry.
enum Fate {
    Signed,
    Insufficient,
    Rejected,
    /// No document was found there.
    Unread,
}

/// What a thread has made of an entry.
struct Made {
    fate: Fate,
    n_bytes: usize,
    /// For stdout: the object with its line end, or (`--text`) the document's text.
    bytes: Vec<u8>,
    /// The id that goes with a text.
    id: Option<String>,
    /// For stderr.
    report: Option<String>,
}

impl Made {
    fn of(entry: Result<Entry, Trouble>, steps: &mut Steps, text: bool, all_links: bool) -> Self {
        let (place, record) = match entry {
            Ok(Entry { place, record }) => (place, record),
            Err(trouble) => return Self::of_trouble(&trouble, text),
        };
        let n_bytes = record.body.len();
        match steps.sign(&record) {
            Ok(signed) => Self {
                fate: match signed.signatures.outcome {
                    Outcome::Signed => Fate::Signed,
                    Outcome::Insufficient => Fate::Insufficient,
                },
                n_bytes,
                bytes: match text {
                    true => signed.document.text.clone().into_bytes(),
                    false => printed::signed(&place, &signed, all_links),
                },
                id: text.then(|| signed.document.identity.id.clone()),
                report: None,
            },
            Err(rejection) => {
                let bytes = if text { Vec::new() } else { printed::rejected(&place, Some(&record), &rejection) };
                let report = Some(format!("{place}: {rejection}"));
                Self { fate: Fate::Rejected, n_bytes, bytes, id: None, report }
            }
        }
    }

    /// Whoever reads this cannot mend it: say whom to tell, and that the rest is fine.
    fn of_bug(place: &str) -> Self {
        let report =
            format!("{place}: met a bug in seamripper (the message is above), please report it with the document");
        Self { fate: Fate::Unread, n_bytes: 0, bytes: Vec::new(), id: None, report: Some(report) }
    }

    fn of_trouble(trouble: &Trouble, text: bool) -> Self {
        let report = Some(trouble.to_string());
        match trouble.cause.rejection() {
            Some(rejection) => {
                let bytes = if text { Vec::new() } else { printed::rejected(&trouble.place, None, rejection) };
                Self { fate: Fate::Rejected, n_bytes: 0, bytes, id: None, report }
            }
            None => Self { fate: Fate::Unread, n_bytes: 0, bytes: Vec::new(), id: None, report },
        }
    }
}

/// Prints what the threads have made, in order.
struct Printer {
    progress: Progress,
    output: BufWriter<Output>,
    /// The first text: printed bare if it stays the only one.
    held: Option<(String, Vec<u8>)>,
    counts: Counts,
    complaints: Complaints,
}

impl Printer {
    fn print(&mut self, made: Vec<Made>) -> io::Result<()> {
        for Made { fate, n_bytes, bytes, id, report } in made {
            if let Some(report) = report {
                self.complaints.say(&self.progress, &report);
            }
            match id {
                Some(id) if self.counts.n_texts() == 0 => self.held = Some((id, bytes)),
                Some(id) => {
                    if let Some((id, text)) = self.held.take() {
                        self.output.write_all(&printed::text(&id, &text))?;
                    }
                    self.output.write_all(&printed::text(&id, &bytes))?;
                }
                None => self.output.write_all(&bytes)?,
            }
            self.counts.add(&fate, n_bytes);
        }
        self.progress.show(self.counts.n_documents());
        // Batches leave early when the input is slow: so should their lines.
        self.output.flush()
    }

    fn finish(mut self) -> io::Result<(Counts, f64)> {
        if let Some((_, text)) = self.held.take() {
            self.output.write_all(&text)?;
        }
        self.output.flush()?;
        self.progress.finish();
        Ok((self.counts, self.progress.seconds()))
    }
}

/// What has become of all entries.
#[derive(Default)]
struct Counts {
    n_signed: u64,
    n_insufficient: u64,
    n_rejected: u64,
    n_unread: u64,
    n_bytes: u64,
}

impl Counts {
    fn add(&mut self, fate: &Fate, n_bytes: usize) {
        self.n_bytes += n_bytes as u64;
        *match fate {
            Fate::Signed => &mut self.n_signed,
            Fate::Insufficient => &mut self.n_insufficient,
            Fate::Rejected => &mut self.n_rejected,
            Fate::Unread => &mut self.n_unread,
        } += 1;
    }

    fn n_texts(&self) -> u64 {
        self.n_signed + self.n_insufficient
    }

    fn n_documents(&self) -> u64 {
        self.n_texts() + self.n_rejected
    }

    fn summarise(&self, tally: &Tally, seconds: f64) {
        let Self { n_signed, n_insufficient, n_rejected, n_unread, .. } = self;
        let (n, seconds) = (self.n_documents(), seconds.max(1e-6));
        let (size, rate) = (DecimalBytes(self.n_bytes), DecimalBytes((self.n_bytes as f64 / seconds) as u64));
        let documents = if n == 1 { "document" } else { "documents" };
        tell(format_args!(
            "{n} {documents} ({n_signed} signed, {n_insufficient} insufficient, {n_rejected} rejected), {size} in \
             {seconds:.2} s: {:.0} documents/s, {rate}/s",
            n as f64 / seconds,
        ));
        if *n_unread > 0 {
            tell(format_args!("could not be read, see above: {n_unread}"));
        }
        let left_out: Vec<String> = [
            (tally.n_other_files, "files without text"),
            (tally.n_other_records, "WARC records that are no responses"),
            (tally.n_other_status, "responses with a status other than 200"),
            (tally.n_other_types, "responses that are neither HTML nor plain text"),
        ]
        .into_iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, what)| format!("{n} {what}"))
        .collect();
        if !left_out.is_empty() {
            tell(format_args!("left out: {}", left_out.join(", ")));
        }
    }
}
