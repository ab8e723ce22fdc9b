//! `seamripper lexicon`: count a corpus, and look into what was counted.

mod from_store;

use super::complaints::Complaints;
use super::report::{self, plain, print_json, print_report};
use super::words::{counted, verb};
use super::{Common, Ending};
use crate::config::{Band, Settings};
use crate::corpus::{self, Form};
use crate::pipeline;
use crate::pipeline::progress::Progress;
use crate::signature::lexicon::count::{CountLimits, Tally};
use crate::signature::lexicon::{About, Lexicon, LexiconId, built_in};
use crate::text::words;
use anyhow::{Context, bail, ensure};
use serde::Serialize;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::thread;

/// The arguments of `seamripper lexicon`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  seamripper lexicon build pages.warc.gz -o my.lexicon --name my-web --language en
  seamripper lexicon build ham/ -o ham.lexicon --about 'our own mail of 2025, without spam'
  seamripper lexicon build --store seen.store --kind mail -o mail.lexicon
  seamripper lexicon inspect                       the built-in lexicons
  seamripper lexicon inspect my.lexicon            what it was built from, how many terms it keeps
  seamripper lexicon inspect english-mail account  in how many documents a word stands

Use it with a setting: SEAMRIPPER_IMATCH__PAGE_LEXICON=my.lexicon seamripper sign page.html")]
pub struct LexiconArguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Count in how many documents each term stands, copies counted once
    Build(BuildArguments),
    /// Print what a lexicon says of itself, or of words
    #[command(after_help = "Examples:
  seamripper lexicon inspect                       the built-in lexicons
  seamripper lexicon inspect my.lexicon            what it was built from, how many terms it keeps
  seamripper lexicon inspect english-mail account  in how many documents a word stands")]
    Inspect {
        /// A file, or the name of a built-in lexicon; all built-in ones if it is left out
        #[arg(value_name = "FILE|NAME")]
        lexicon: Option<String>,
        /// Words to look up
        #[arg(value_name = "WORD")]
        words: Vec<String>,
        #[command(flatten)]
        form: report::Form,
    },
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "The documents are read as `seamripper sign` reads them. Signatures depend on the lexicon: freeze it, \
and change it as seldom as you would change a key.

Examples:
  seamripper lexicon build pages.warc.gz -o my.lexicon --name my-web --language en
  zstdcat texts.jsonl.zst | seamripper lexicon build - --format jsonl -o texts.lexicon
  seamripper lexicon build --store seen.store -o pages.lexicon   of what `scan --store` has seen"
)]
struct BuildArguments {
    /// Files and folders; `-` is standard input
    #[arg(required_unless_present = "store", value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Count what the store has seen that `scan --store` keeps here, rather than files
    #[arg(long, value_name = "FILE", conflicts_with_all = ["paths", "format", "threads", "terms_max"])]
    store: Option<PathBuf>,
    /// Of a store, the words of pages or of mails [default: page]
    #[arg(long, requires = "store")]
    kind: Option<from_store::Of>,
    /// Where to write the lexicon
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Its name; that of the file if left out
    #[arg(long)]
    name: Option<String>,
    /// The language or script of the documents, for people who look into the lexicon
    #[arg(long, default_value = "")]
    language: String,
    /// From which text it was built, for people who look into the lexicon
    #[arg(long, value_name = "TEXT", default_value = "")]
    about: String,
    /// Leave out terms that stand in fewer documents
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
    df_min: u32,
    /// Forget the rarest terms when there are more than this many
    #[arg(long, value_name = "N", default_value_t = CountLimits::default().terms_max)]
    terms_max: usize,
    /// What the files hold, whatever their names say
    #[arg(short, long, value_name = "FORMAT")]
    format: Option<Form>,
    /// Read on so many threads [default: one per core]
    #[arg(short, long, value_name = "N", value_parser = crate::command::threads)]
    threads: Option<NonZeroUsize>,
    #[command(flatten)]
    form: report::Form,
}

impl BuildArguments {
    fn name(&self) -> String {
        let stem = || self.output.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        self.name.clone().unwrap_or_else(stem)
    }
}

/// Builds or inspects.
pub fn run(arguments: LexiconArguments, common: &Common) -> anyhow::Result<Ending> {
    let settings = common.settings()?;
    match arguments.action {
        Action::Build(arguments) => build(arguments, &settings, common.quiet),
        Action::Inspect { lexicon: None, form, .. } => {
            for name in built_in::names() {
                let lexicon = built_in::lexicon(name).expect("the name is one of theirs");
                print(&Portrait::of(&lexicon, &settings), form)?;
            }
            Ok(Ending::Good)
        }
        Action::Inspect { lexicon: Some(lexicon), words, form } => inspect(&opened(&lexicon)?, &words, &settings, form),
    }
}

fn opened(file_or_name: &str) -> anyhow::Result<Lexicon> {
    if let Some(lexicon) = built_in::lexicon(file_or_name) {
        return Ok(lexicon);
    }
    let bytes = pipeline::lexicon::read_file(file_or_name.as_ref()).with_context(|| {
        let names: Vec<_> = built_in::names().collect();
        format!("`{file_or_name}` is no built-in lexicon ({}) and no file that can be read", names.join(", "))
    })?;
    Lexicon::from_bytes(&bytes).with_context(|| file_or_name.to_owned())
}

fn build(arguments: BuildArguments, settings: &Settings, quiet: bool) -> anyhow::Result<Ending> {
    let output = &arguments.output;
    ensure!(!output.is_dir(), "`{}` is a folder: name a file to write", output.display());
    if let Some(store) = &arguments.store {
        return from_store::build(store, &arguments, settings);
    }
    let name = arguments.name();
    let BuildArguments { paths, output, language, about, df_min, terms_max, format, threads, form, .. } = arguments;
    let options = corpus::Options { form: format, ..corpus::Options::default() };
    let limits = CountLimits { document_terms_min: settings.text.terms_min, terms_max, ..CountLimits::default() };
    let n_threads = threads.or_else(|| thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN);
    let progress = Progress::new(&paths, &options, !quiet);
    let (mut n_troubles, complaints) = (0, Complaints::default());
    let counter = pipeline::lexicon::count(&paths, &options, settings, limits, n_threads, |n_documents, troubles| {
        n_troubles += troubles.len();
        troubles.iter().for_each(|trouble| complaints.say(&progress, &trouble.to_string()));
        progress.show(n_documents);
    });
    progress.finish();
    let tally = *counter.tally();
    if tally.n_documents < 2 {
        let (documents, count) = (counted(tally.n_documents, "document"), verb(tally.n_documents, "counts", "count"));
        bail!("{documents} {count}, at least 2 are needed: {}", serde_json::to_string(&tally)?);
    }
    let lexicon = counter.lexicon(&name, &language, &about, df_min)?;
    write(&lexicon, tally, &output, settings, form)?;
    Ok(if n_troubles == 0 { Ending::Good } else { Ending::SomeFailed })
}

/// Writes a lexicon, and says what is in it and what it was `counted` from.
fn write(
    lexicon: &Lexicon,
    counted: impl Answer,
    output: &Path,
    settings: &Settings,
    form: report::Form,
) -> anyhow::Result<()> {
    let bytes = lexicon.to_bytes();
    write_whole(output, &bytes).with_context(|| format!("writing `{}`", output.display()))?;
    let file = output.display().to_string();
    print(&Built { file, n_bytes: bytes.len(), portrait: Portrait::of(lexicon, settings), counted }, form)
}

/// Nobody finds half a lexicon at `path`, whenever this is stopped.
fn write_whole(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    // What stands at the end of a link is meant, and what is no file (a device, a pipe) is written into, not replaced.
    let path = &std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if std::fs::metadata(path).is_ok_and(|there| !there.is_file()) {
        return std::fs::write(path, bytes);
    }
    let mut beside = path.as_os_str().to_owned();
    beside.push(".part");
    std::fs::write(&beside, bytes)?;
    std::fs::rename(&beside, path)
}

fn inspect(lexicon: &Lexicon, words: &[String], settings: &Settings, form: report::Form) -> anyhow::Result<Ending> {
    if words.is_empty() {
        print(&Portrait::of(lexicon, settings), form)?;
    }
    for word in words {
        let mut terms = Vec::new();
        words::spelled_terms(word, |term| terms.push(term.to_owned()));
        if terms.is_empty() {
            print(&Entry { word, term: None, found: None }, form)?;
        }
        for term in terms {
            let found = lexicon.document_frequency(&term).map(|df| Found::of(df, lexicon, settings));
            print(&Entry { word, term: Some(term), found }, form)?;
        }
    }
    Ok(Ending::Good)
}

/// What `build` prints.
#[derive(Serialize)]
struct Built<C> {
    file: String,
    n_bytes: usize,
    #[serde(flatten)]
    portrait: Portrait,
    counted: C,
}

/// What `inspect` prints of a lexicon.
#[derive(Serialize)]
struct Portrait {
    lexicon: LexiconId,
    #[serde(flatten)]
    about: About,
    n_terms: usize,
    bands: ByBand<Shares>,
}

/// One value for each band of the settings.
#[derive(Serialize)]
struct ByBand<T> {
    page: T,
    mail: T,
    unspaced: T,
}

impl<T> ByBand<T> {
    fn of(settings: &Settings, value: impl Fn(Band) -> T) -> Self {
        let imatch = &settings.imatch;
        Self { page: value(imatch.page_band), mail: value(imatch.mail_band), unspaced: value(imatch.unspaced_band) }
    }
}

/// How a band parts the terms.
#[derive(Serialize)]
struct Shares {
    nidf: Band,
    n_common: usize,
    n_in_band: usize,
    n_rare: usize,
}

impl Portrait {
    fn of(lexicon: &Lexicon, settings: &Settings) -> Self {
        let bands = ByBand::of(settings, |band| {
            let mut shares = Shares { nidf: band, n_common: 0, n_in_band: 0, n_rare: 0 };
            for (_, df) in lexicon.terms() {
                match Place::of(lexicon.nidf(df), band) {
                    Place::Common => shares.n_common += 1,
                    Place::InBand => shares.n_in_band += 1,
                    Place::Rare => shares.n_rare += 1,
                }
            }
            shares
        });
        Self { lexicon: lexicon.id(), about: lexicon.about().clone(), n_terms: lexicon.n_terms(), bands }
    }
}

/// What `inspect` prints of a word. No `term` is a word that is too short, or has too many digits, to count.
#[derive(Serialize)]
struct Entry<'w> {
    word: &'w str,
    term: Option<String>,
    #[serde(flatten)]
    found: Option<Found>,
}

#[derive(Serialize)]
struct Found {
    df: u32,
    nidf: f64,
    places: ByBand<Place>,
}

impl Found {
    fn of(df: u32, lexicon: &Lexicon, settings: &Settings) -> Self {
        let nidf = lexicon.nidf(df);
        Self { df, nidf, places: ByBand::of(settings, |band| Place::of(nidf, band)) }
    }
}

/// Where a term stands to a band.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Place {
    /// Never counts.
    Common,
    /// Counts.
    InBand,
    /// Counts where there are too few in the band.
    Rare,
}

impl Place {
    fn of(nidf: f64, band: Band) -> Self {
        match nidf {
            nidf if nidf < band.min => Self::Common,
            nidf if nidf > band.max => Self::Rare,
            _ => Self::InBand,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Common => "too common",
            Self::InBand => "counts",
            Self::Rare => "rare",
        }
    }
}

/// What is printed: JSON, and lines for people.
trait Answer: Serialize {
    fn lines(&self) -> String;
}

fn print(answer: &impl Answer, form: report::Form) -> anyhow::Result<()> {
    if form.is_report() { Ok(print_report(&answer.lines())?) } else { print_json(answer) }
}

impl<C: Answer> Answer for Built<C> {
    fn lines(&self) -> String {
        let Self { file, n_bytes, portrait, counted } = self;
        format!("{}: {n_bytes} bytes\n{}{}", plain(file), portrait.lines(), counted.lines())
    }
}

impl Answer for Tally {
    fn lines(&self) -> String {
        let Self { n_copies, n_near_copies, n_short, df_error_max, .. } = self;
        let (copies, near_copies) = (counted(*n_copies, "copy"), counted(*n_near_copies, "near copy"));
        format!("left out    {copies}, {near_copies}, {n_short} too short\n") + &forgotten("terms", *df_error_max)
    }
}

/// What is said where the rarest were forgotten.
fn forgotten(what: &str, df_error_max: u32) -> String {
    match df_error_max {
        0 => String::new(),
        max => format!("            rare {what} were forgotten: frequencies may be {max} too low\n"),
    }
}

impl Answer for Portrait {
    fn lines(&self) -> String {
        let Self { lexicon, about, n_terms, bands } = self;
        let About { name, language, source, n_documents, df_min } = about;
        let mut lines = format!("{}  {lexicon}\n", plain(name));
        for (what, value) in [("language", language), ("built from", source)] {
            if !value.is_empty() {
                lines += &format!("{what:<10}  {}\n", plain(value));
            }
        }
        lines += &format!(
            "documents   {n_documents}\nterms       {n_terms}, each in {} and more\n",
            counted(*df_min, "document")
        );
        for (what, shares) in [("pages", &bands.page), ("mails", &bands.mail), ("unspaced", &bands.unspaced)] {
            let Shares { nidf: Band { min, max }, n_common, n_in_band, n_rare } = shares;
            lines += &format!(
                "{what:<10}  {} of nidf {min} to {max} {}; {n_common} too common, {n_rare} rarer\n",
                counted(*n_in_band, "term"),
                verb(*n_in_band, "counts", "count")
            );
        }
        lines
    }
}

impl Answer for Entry<'_> {
    fn lines(&self) -> String {
        let Self { word, term, found } = self;
        let word = plain(word);
        match (term, found) {
            (None, _) => format!("{word}: no term (too short, or too many digits)\n"),
            (Some(term), None) => format!("{word}: `{}` is not in the lexicon\n", plain(term)),
            (Some(term), Some(Found { df, nidf, places })) => {
                let [page, mail, unspaced] = [places.page, places.mail, places.unspaced].map(Place::word);
                format!(
                    "{word}: `{}` stands in {}, nidf {nidf:.3}: {page} for pages, {mail} for mails, {unspaced} \
                     for scripts without spaces\n",
                    plain(term),
                    counted(*df, "document")
                )
            }
        }
    }
}
