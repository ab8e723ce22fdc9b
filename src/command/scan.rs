//! `seamripper scan`: says of every document in files what it is.

mod clusters;
mod counts;
mod kept;
mod places;
mod report;

use crate::command::complaints::Complaints;
use crate::command::interruption::{Step, interrupted};
use crate::command::output::tell;
use crate::command::report::write_json;
use crate::command::scan_report::Meta;
use crate::command::{Common, Ending};
use crate::config::Settings;
use crate::corpus::{self, Form};
use crate::pipeline::exact::{Compared, scan_exact};
use crate::pipeline::filter::{Event, Filter};
use crate::pipeline::lexicon;
use crate::pipeline::progress::Progress;
use crate::pipeline::scan::{Told, scan};
use crate::signature::Signer;
use crate::verdict::labels::Labels;
use anyhow::{Context, bail};
use clusters::Clusters;
use counts::Counts;
use kept::Kept;
use report::Reporting;
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Labels that a file may hold.
const LABELS_MAX: usize = 1_000_000;

/// The arguments of `seamripper scan`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct ScanArguments {
    /// Files, folders, or `-` for standard input
    ///
    /// Read by name: .html .htm .xhtml .txt .eml .mbox .jsonl .ndjson .warc .tar, each also with .gz or .zst. Files with
    /// other names are told by their first bytes. Folders are walked in name order; the files of a Maildir are mails.
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// What all files hold, whatever their names and first bytes say
    #[arg(short, long, value_name = "FORMAT")]
    pub format: Option<Form>,
    /// Write the verdicts here instead of to standard output, which is `-`
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write the clusters here at the end, ranked by mean similarity times domains, one JSON object per line
    ///
    /// Behind them stand those that became part of others on the way (`merged_into`): verdicts from before name them.
    #[arg(long, value_name = "FILE")]
    pub clusters: Option<PathBuf>,
    /// Write what was found as one HTML file for people, which needs no network
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    /// Labels to carry, one JSON object per line (schemas/label.json)
    #[arg(long, value_name = "FILE")]
    pub labels: Option<PathBuf>,
    /// Keep the store here between runs: a second run knows the first
    ///
    /// Where a document brings no id (nor a page a URL), its file and number in it are its id, and what stands there in a later run is
    /// a new version of it: give files that come again new names. What comes by a pipe is then known by a digest of its bytes.
    #[arg(long, value_name = "FILE")]
    pub store: Option<PathBuf>,
    /// Compare all with all and judge at the end, once: what a stream is measured against
    ///
    /// Without keys that suggest, samples, bounds and forgetting, but by the same definitions. Time grows with the square
    /// of the number of documents, and memory with the number: all are kept, with all their grams, about twenty times
    /// their text. No verdict comes before the last document has been read, and there are no revisions.
    #[arg(long, conflicts_with = "store")]
    pub exact: bool,
    /// Sign on so many threads [default: one per core]
    #[arg(short, long, value_name = "N", value_parser = crate::command::threads)]
    pub threads: Option<NonZeroUsize>,
}

const EXAMPLES: &str = "\
Examples:
  seamripper scan crawl.warc.gz mails/ > verdicts.jsonl
  seamripper scan crawl/ | jq -r 'select(.classes | index(\"quilt\")) | [.id, .quilt.kind] | @tsv'
  seamripper scan monday.mbox --store seen.store -o monday.jsonl
  seamripper scan tuesday.mbox --store seen.store -o tuesday.jsonl      knows Monday's mails
  seamripper scan crawl.warc.gz --clusters clusters.jsonl --labels labels.jsonl
  seamripper scan sample.warc.gz --exact -o exact.jsonl       what the stream is measured against
  seamripper scan crawl.warc.gz --report report.html -o verdicts.jsonl

The objects are described by schemas/verdict.json; the last one of an id holds, since later documents can change what was \
said of earlier ones. The exit code is 1 if a file or a document could not be read, or the scan was interrupted; \
everything else is still judged.";

/// Runs it.
pub fn run(mut arguments: ScanArguments, common: &Common) -> anyhow::Result<Ending> {
    arguments.output = arguments.output.filter(|path| path.as_os_str() != "-");
    places::check(&arguments, common.config.as_deref())?;
    let settings = common.settings()?;
    let lexicons = lexicon::load(&settings)?;
    let labels = labels(arguments.labels.as_deref())?;
    let n_threads = arguments.threads.or_else(|| thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN);
    let stdin_is_nameless = arguments.store.is_some();
    let options = corpus::Options { form: arguments.format, stdin_is_nameless, ..corpus::Options::default() };
    let key_id = Signer::new(&settings, lexicons.clone()).key_id();
    Filter::room(&settings)?;
    let mut filter = Filter::new(&settings, labels, key_id);
    // What can be refused is refused before anything is written.
    let kept = arguments.store.as_deref().map(|path| Kept::open(path, &mut filter)).transpose()?;
    let (is_interrupted, is_closed) = (interrupted(), Arc::new(AtomicBool::new(false)));
    let output: Box<dyn Write> = match &arguments.output {
        Some(path) => Box::new(File::create(path).with_context(|| format!("{} cannot be written", path.display()))?),
        None => Box::new(Pipe { stdout: io::stdout().lock(), is_closed: is_closed.clone() }),
    };
    let clusters = arguments.clusters.as_deref().map(Clusters::new).transpose()?;
    let reporting = arguments.report.as_deref().map(Reporting::new).transpose()?;
    let is_to_terminal = arguments.output.is_none() && io::stdout().is_terminal();
    let counts = match &kept {
        Some(_) => Counts::beside_others(filter.store().plan().n_prototypes),
        None => Counts::default(),
    };
    let mut printer = Printer {
        // Two things that write to one terminal at once are hard to read.
        progress: Progress::new(&arguments.paths, &options, !common.quiet && !is_to_terminal),
        output: BufWriter::with_capacity(64 * 1024, output),
        counts,
        complaints: Complaints::default(),
        reporting,
        clusters,
    };
    let read = |with: corpus::With<'_>| {
        let options = corpus::Options { is_over: is_interrupted.clone(), ..options.clone() };
        corpus::read(&arguments.paths, &options, &settings.limits, &mut |entry| {
            let is_over = is_interrupted.load(Ordering::Relaxed) || is_closed.load(Ordering::Relaxed);
            if is_over { ControlFlow::Break(()) } else { with(entry) }
        })
    };
    let unwritten = || match &arguments.output {
        Some(path) => format!("verdicts {} cannot be written", path.display()),
        None => "verdicts cannot be written to standard output".to_owned(),
    };
    let (tally, clusters, mut filter) = if arguments.exact {
        let progress = printer.progress.clone();
        // Who interrupts the reading wants what was read to be judged.
        let mut comparing = Step::default();
        let mut is_told = common.quiet;
        let compared = |Compared { n_done, n_all }| {
            progress.show_half("compared with all", n_done, n_all);
            let is_interrupted = is_interrupted.load(Ordering::Relaxed);
            if is_interrupted && !std::mem::replace(&mut is_told, true) {
                progress.say(format_args!("interrupted: what was read and compared is judged; Ctrl-C again drops it"));
            }
            let is_enough = comparing.ends(is_interrupted);
            if is_enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let tell = |told| printer.print(told);
        let labels = self::labels(arguments.labels.as_deref())?;
        let (tally, clusters) =
            scan_exact(read, &settings, &lexicons, labels, n_threads, tell, compared).with_context(unwritten)?;
        (tally, clusters, None)
    } else {
        let tally = scan(read, &settings, &lexicons, n_threads, &mut filter, |told| printer.print(told))
            .with_context(unwritten)?;
        let mut told = Ok(());
        filter.settle_revisions(|event| {
            if told.is_ok() {
                told = printer.print(Told::Event(event));
            }
        });
        told.with_context(unwritten)?;
        (tally, filter.ranking(), Some(filter))
    };
    let (reporting, clusters_file) = (printer.reporting.take(), printer.clusters.take());
    let (counts, seconds) = printer.finish().with_context(unwritten)?;

    // Whatever else fails, what was judged and written is kept.
    if let (Some(kept), Some(filter)) = (&kept, &mut filter) {
        kept.save(filter)?;
    }
    if let Some(file) = clusters_file {
        file.write(&clusters, common.quiet)?;
    }
    if let Some(reporting) = reporting {
        let meta = Meta {
            paths: arguments.paths.iter().map(|path| path.display().to_string()).collect(),
            n_documents: counts.n_documents(),
            n_bytes: counts.n_bytes,
            seconds,
            settings: report::facts(&settings),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        reporting.write(&clusters, &options, &settings, meta)?;
    }
    let is_interrupted = is_interrupted.load(Ordering::Relaxed);
    if !common.quiet && !is_closed.load(Ordering::Relaxed) {
        counts.summarise(&tally, seconds, filter.as_ref());
        if is_interrupted {
            tell(format_args!("interrupted: these are the verdicts so far"));
        }
    }
    let all_good = counts.n_rejected == 0 && counts.n_troubles == 0 && !is_interrupted;
    Ok(if all_good { Ending::Good } else { Ending::SomeFailed })
}

pub(super) fn labels(path: Option<&Path>) -> anyhow::Result<Labels> {
    let Some(path) = path else { return Ok(Labels::new(0)) };
    let lines = super::label::contents(path)?;
    Labels::from_lines(&lines, LABELS_MAX).with_context(|| format!("labels {}", path.display()))
}

/// The filter in the store that a scan has left at `path`.
pub(super) fn opened(path: &Path, settings: &Settings) -> anyhow::Result<Filter> {
    if std::fs::metadata(path).is_ok_and(|data| !data.is_file()) {
        bail!("store {} is no regular file", path.display());
    }
    let file = File::open(path).with_context(|| format!("store {} cannot be read", path.display()))?;
    let key_id = Signer::new(settings, lexicon::load(settings)?).key_id();
    Filter::room(settings)?;
    let mut filter = Filter::new(settings, Labels::new(0), key_id);
    let mut file = io::BufReader::with_capacity(1 << 20, file);
    filter.load_from(&mut file).with_context(|| format!("store {}", path.display()))?;
    Ok(filter)
}

/// Standard output. When nobody reads it any more the scan ends without a word, and keeps what it has to keep.
struct Pipe {
    stdout: io::StdoutLock<'static>,
    is_closed: Arc<AtomicBool>,
}

impl Pipe {
    fn told<T>(&self, result: io::Result<T>, otherwise: T) -> io::Result<T> {
        match result {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.is_closed.store(true, Ordering::Relaxed);
                Ok(otherwise)
            }
            result => result,
        }
    }
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.stdout.write(bytes);
        self.told(written, bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.stdout.flush();
        self.told(flushed, ())
    }
}

/// Writes verdicts as they come.
struct Printer {
    progress: Progress,
    output: BufWriter<Box<dyn Write>>,
    counts: Counts,
    complaints: Complaints,
    reporting: Option<Reporting>,
    clusters: Option<Clusters>,
}

impl Printer {
    fn print(&mut self, told: Told) -> io::Result<()> {
        let is_ours = match &told {
            Told::Event(Event::Verdict(verdict)) => self.counts.is_ours(verdict),
            _ => true,
        };
        if let (Told::Event(event), Some(reporting)) = (&told, self.reporting.as_mut().filter(|_| is_ours)) {
            reporting.add(event);
        }
        match told {
            Told::Event(Event::Verdict(verdict)) => {
                match is_ours {
                    true => self.counts.add(&verdict),
                    false => self.counts.n_revisions += 1,
                }
                write_json(&mut self.output, &verdict)?;
                self.output.write_all(b"\n")?;
                if self.counts.n_documents().is_multiple_of(64) {
                    self.progress.tell(self.counts.n_documents(), &self.counts.classes());
                }
            }
            Told::Event(Event::Cluster(event)) => {
                if let Some(clusters) = &mut self.clusters {
                    clusters.note(&event);
                }
            }
            Told::Bytes(n) => self.counts.n_bytes += n as u64,
            Told::Trouble(report) => {
                self.counts.n_troubles += 1;
                self.complaints.say(&self.progress, &report);
            }
        }
        Ok(())
    }

    fn finish(mut self) -> io::Result<(Counts, f64)> {
        self.output.flush()?;
        self.progress.finish();
        Ok((self.counts, self.progress.seconds()))
    }
}
