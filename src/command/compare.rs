//! `seamripper compare`: how alike two documents are, and why.
//!
//! # Invariants
//! - What is called a near copy, a part or one template is what the filter would call so. (`tests/promises/compare_command.rs`)

mod figures;
pub(super) mod passages;

use super::report::{Form, n_columns, plain, print_json, print_report};
use super::{Arguments, Common, Ending};
use crate::corpus::{self, Entry};
use crate::document::{Kind, Span, Truncation};
use crate::pipeline::explanation::pair::Pair;
use crate::pipeline::{Made, Steps, lexicon};
use crate::signature::Outcome;
use crate::verdict::comparison::Comparison;
use anyhow::Context;
use clap::CommandFactory;
use clap::error::ErrorKind;
use figures::Figures;
use serde::Serialize;

/// The arguments of `seamripper compare`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct CompareArguments {
    /// A file with one document, `FILE#PLACE` for one of several, or `-` for standard input
    a: String,
    /// What to compare it with
    b: String,
    /// Where A was fetched from, if the file doesn't say
    #[arg(long, value_name = "URL")]
    a_url: Option<String>,
    /// Where B was fetched from
    #[arg(long, value_name = "URL")]
    b_url: Option<String>,
    /// The form of both files, whatever their names say
    #[arg(long = "as", value_name = "FORM")]
    form_of_files: Option<corpus::Form>,
    /// Show so many of the shared passages (JSON has them all)
    #[arg(long, value_name = "N", default_value_t = 8)]
    passages: usize,
    #[command(flatten)]
    form: Form,
}

const EXAMPLES: &str = "\
Examples:
  seamripper compare page.html copy.html
  seamripper compare page.html copy.html --a-url https://a.example/x --b-url https://b.example/x
  seamripper compare campaign.mbox#1 campaign.mbox#2
  seamripper compare crawl.warc.gz#3 pages.jsonl.zst#17 --json | jq .relation
  curl -s https://example.org/ | seamripper compare - saved.html

The first line says what the filter would say if B came after A. On a terminal the answer is a table with a line of explanation for \
each figure and the shared passages; into a pipe it is one JSON object (schemas/comparison.json; --json and --report choose). Spans are bytes of the text that `sign --text` prints. \
Exit codes: 0 compared, 1 a document could not be read, 2 wrong usage.";

/// The number of the rules of the JSON object.
const SCHEMA: u32 = 1;

/// Runs it.
pub fn run(arguments: CompareArguments, common: &Common) -> anyhow::Result<Ending> {
    let is_stdin = |spec: &str| spec == "-" || spec.starts_with("-#");
    if is_stdin(&arguments.a) && is_stdin(&arguments.b) {
        let twice = "standard input can be only one of the two documents";
        Arguments::command().error(ErrorKind::ValueValidation, twice).exit();
    }
    let settings = common.settings()?;
    let mut steps = Steps::new(&settings, lexicon::load(&settings)?);
    let options = corpus::Options { form: arguments.form_of_files, ..corpus::Options::default() };
    let mut signed = |spec: &str, url: &Option<String>| {
        let mut entry = corpus::one(spec, &options, &settings.limits)?;
        let known = &mut entry.record.carrier.url;
        *known = known.take().or_else(|| url.clone());
        let Entry { place, record } = entry;
        let made = steps.sign(&record).with_context(|| place.clone())?.kept();
        anyhow::Ok(Signed { place, made })
    };
    let (a, b) = (signed(&arguments.a, &arguments.a_url)?, signed(&arguments.b, &arguments.b_url)?);
    let comparison = Comparison::of(a.made.side(), b.made.side(), &settings);
    let figures =
        Figures { comparison: &comparison, pair: &Pair::of(&a.made, &b.made, &settings), settings: &settings };
    if arguments.form.is_report() {
        print_report(&report(&a, &b, &figures, arguments.passages, n_columns()))?;
    } else {
        print_json(&Answer::of(&a, &b, &figures))?;
    }
    Ok(Ending::Good)
}

/// A document with all that was made of it, and where it was.
struct Signed {
    place: String,
    made: Made,
}

impl Signed {
    fn kind_name(&self) -> &'static str {
        match self.made.document.kind {
            Kind::Page => "page",
            Kind::Email => "mail",
        }
    }
}

/// What people read.
fn report(a: &Signed, b: &Signed, figures: &Figures<'_>, n_passages: usize, n_columns: usize) -> String {
    let mut report = String::new();
    for (letter, side) in [('A', a), ('B', b)] {
        let Made { document, text, .. } = &side.made;
        let name = plain(document.identity.url.as_deref().unwrap_or(&side.place));
        let title = plain(document.title.trim());
        let units = if text.is_unspaced() { "characters" } else { "words" };
        let n_units = text.words.len();
        report.push_str(&format!("{letter}  {name}  ({}, {n_units} {units})  {title}\n", side.kind_name()));
    }
    let (bold, reset) = (anstyle::Style::new().bold().render(), anstyle::Reset.render());
    report.push_str(&format!("\n{bold}{}{reset}\n", figures.verdict()));
    figures.write(n_columns, &mut report);
    passages::write(&a.made, &b.made, figures.comparison, n_passages, n_columns, &mut report);
    report
}

/// What programs read.
#[derive(Serialize)]
struct Answer<'a> {
    schema: u32,
    a: About<'a>,
    b: About<'a>,
    verdict: String,
    near_copy: bool,
    same_template: bool,
    filter: &'a Pair,
    matching_views: Vec<&'static str>,
    #[serde(flatten)]
    comparison: &'a Comparison,
    passages: Vec<Shown<'a>>,
    passages_complete: bool,
}

/// Who one of the two is.
#[derive(Serialize)]
struct About<'a> {
    place: &'a str,
    id: &'a str,
    kind: Kind,
    url: Option<&'a str>,
    domain: Option<&'a str>,
    title: &'a str,
    outcome: Outcome,
    n_words: u32,
    n_core_words: u32,
    truncated: &'a [Truncation],
}

/// A passage with its text in the first document.
#[derive(Serialize)]
struct Shown<'a> {
    n_units: u32,
    a: Span,
    b: Span,
    text: &'a str,
}

impl<'a> Answer<'a> {
    fn of(a: &'a Signed, b: &'a Signed, figures: &Figures<'a>) -> Self {
        let &Figures { comparison, pair, settings } = figures;
        let shown = comparison.shared.passages.iter().map(|passage| {
            let span = passage.this_span(&a.made.text.words);
            let text = &a.made.document.text[span.range()];
            Shown { n_units: passage.n_units, a: span, b: passage.that_span(&b.made.text.words), text }
        });
        Self {
            schema: SCHEMA,
            a: About::of(a),
            b: About::of(b),
            verdict: figures.verdict(),
            near_copy: pair.copy,
            same_template: pair.same_template,
            filter: pair,
            matching_views: comparison.views.matching(settings.mirror.cosine_min),
            comparison,
            passages: shown.collect(),
            passages_complete: comparison.shared.complete,
        }
    }
}

impl<'a> About<'a> {
    fn of(side: &'a Signed) -> Self {
        let Made { document, signatures, .. } = &side.made;
        let identity = &document.identity;
        Self {
            place: &side.place,
            id: &identity.id,
            kind: document.kind,
            url: identity.url.as_deref(),
            domain: identity.domain.as_deref(),
            title: &document.title,
            outcome: signatures.outcome,
            n_words: signatures.n_words,
            n_core_words: signatures.n_core_words,
            truncated: &document.reading.truncated,
        }
    }
}
