//! `seamripper tune`: solves bands, style probes and lexicon copies, and draws what they do.

mod curve;

use super::report::{Form, n_columns, print_json, print_report};
use super::{Arguments, Common, Ending};
use crate::config::{COPIES_MAX, Settings};
use crate::signature::minhash::SLOTS;
use crate::signature::style;
use crate::signature::tuning::{Banding, BandingDemand, Copies, CopiesDemand, Impossible, Probing, Solved};
use clap::CommandFactory;
use clap::error::ErrorKind;
use curve::Canvas;
use serde::Serialize;
use std::fmt::Write as _;

/// The arguments of `seamripper tune`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct TuneArguments {
    /// Pairs of texts from this resemblance on should be found
    #[arg(long, value_name = "SHARE", default_value = "0.8", value_parser = share)]
    resemblance: f64,
    /// At most this share of them may be missed (of style pairs, too)
    #[arg(long, value_name = "SHARE", default_value = "0.001", value_parser = share)]
    miss: f64,
    /// At most this share of the pairs at --unlike may become candidates
    #[arg(long, value_name = "SHARE", value_parser = share)]
    false_hit: Option<f64>,
    /// Pairs of this resemblance are different texts [default: half of --resemblance]
    #[arg(long, value_name = "SHARE", value_parser = share)]
    unlike: Option<f64>,
    /// Slots of the minhash that bands are cut from
    #[arg(long, value_name = "N", default_value_t = 128, value_parser = clap::value_parser!(u32).range(1..=4096))]
    slots: u32,
    /// Style bins of 128 that must agree for two pages to be of one style
    #[arg(long, value_name = "N", default_value_t = 35, value_parser = clap::value_parser!(u32).range(1..=128))]
    bins: u32,
    /// Mails or pages that differ in so many lexicon words should still share an I-Match signature ...
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    changed_words: u32,
    /// ... with at least this probability
    #[arg(long, value_name = "SHARE", default_value = "0.98", value_parser = share)]
    keep: f64,
    /// Documents that differ in so many lexicon words are others ...
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(2..=1000))]
    unlike_words: u32,
    /// ... and may share one with at most this probability
    #[arg(long, value_name = "SHARE", default_value = "0.001", value_parser = share)]
    false_match: f64,
    /// Draw with ASCII characters alone
    #[arg(long)]
    ascii: bool,
    #[command(flatten)]
    form: Form,
}

const EXAMPLES: &str = "\
Examples:
  seamripper tune --resemblance 0.8 --miss 0.001
  seamripper tune --resemblance 0.7 --miss 0.01 --false-hit 0.2 --unlike 0.3
  seamripper tune --changed-words 2 --keep 0.9          lexicon copies that survive a replaced word
  seamripper tune --json | jq -r .settings > tuned.toml
  seamripper -c tuned.toml sign page.html

P(hit) = 1 - (1 - resemblance^rows_per_band)^bands. More bands find more, more rows per band find less.

Exit code 1 says that a demand cannot be met; the report then names the best that can be had.";

/// Style bins of a fingerprint.
const BINS: u32 = style::BINS as u32;
/// How many alternatives are worth reading.
const ALTERNATIVES_MAX: usize = 4;

/// A number between 0 and 1, both excluded.
fn share(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if value > 0.0 && value < 1.0 { Ok(value) } else { Err("must lie between 0 and 1".to_owned()) }
}

/// All answers.
#[derive(Debug, Serialize)]
struct Answers {
    demand: Demand,
    bands: Answer<BandsAnswer>,
    style: StyleAnswer,
    imatch: Answer<CopiesAnswer>,
    /// The settings that the answers suggest, as TOML.
    settings: String,
}

#[derive(Debug, Serialize)]
struct Demand {
    bands: BandingDemand,
    imatch: CopiesDemand,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum Answer<T> {
    Solved {
        chosen: T,
        alternatives: Vec<T>,
        /// What it is drawn from: `[x, probability]`.
        curve: Vec<(f64, f64)>,
    },
    Impossible {
        message: String,
        best: T,
    },
}

impl<T> Answer<T> {
    fn of<S: Copy>(
        solved: Result<Solved<S>, Impossible<S>>,
        told: impl Fn(S) -> T,
        curve: impl Fn(S) -> Vec<(f64, f64)>,
    ) -> Self {
        match solved {
            Ok(Solved { chosen, alternatives }) => Self::Solved {
                chosen: told(chosen),
                alternatives: alternatives.into_iter().take(ALTERNATIVES_MAX).map(told).collect(),
                curve: curve(chosen),
            },
            Err(Impossible { message, best }) => Self::Impossible { message, best: told(best) },
        }
    }

    fn problem(&self) -> Option<&str> {
        match self {
            Self::Solved { .. } => None,
            Self::Impossible { message, .. } => Some(message),
        }
    }
}

/// A banding and what it does.
#[derive(Debug, Serialize)]
struct BandsAnswer {
    #[serde(flatten)]
    banding: Banding,
    n_slots: u32,
    midpoint: f64,
    miss: f64,
    false_hit: f64,
    mean_hit_below: f64,
}

/// Probes and what they do, for the bins asked for and for other customary numbers.
#[derive(Debug, Serialize)]
struct StyleAnswer {
    chosen: ProbingAnswer,
    alternatives: Vec<ProbingAnswer>,
}

#[derive(Debug, Serialize)]
struct ProbingAnswer {
    #[serde(flatten)]
    probing: Probing,
    miss: f64,
}

/// Lexicon copies and what they do.
#[derive(Debug, Serialize)]
struct CopiesAnswer {
    #[serde(flatten)]
    copies: Copies,
    keep: f64,
    false_match: f64,
    /// A document needs about so many lexicon words for every coordinate to have `imatch.terms_min`.
    lexicon_words_min: u32,
}

impl Answers {
    fn of(arguments: &TuneArguments, settings: &Settings) -> Self {
        let bands = BandingDemand {
            slots: arguments.slots,
            resemblance: arguments.resemblance,
            miss_max: arguments.miss,
            unlike: arguments.unlike.unwrap_or(arguments.resemblance / 2.0),
            false_hit_max: arguments.false_hit,
        };
        let imatch = CopiesDemand {
            changed_words: arguments.changed_words,
            keep_min: arguments.keep,
            unlike_words: arguments.unlike_words,
            false_match_max: arguments.false_match,
            copies_max: COPIES_MAX as u32,
        };
        let bands_answer = |banding: Banding| BandsAnswer {
            banding,
            n_slots: banding.n_slots(),
            midpoint: banding.midpoint(),
            miss: banding.miss(bands.resemblance),
            false_hit: banding.hit(bands.unlike),
            mean_hit_below: banding.mean_hit_below(bands.resemblance),
        };
        let copies_answer = |copies: Copies| CopiesAnswer {
            copies,
            keep: copies.keep(imatch.changed_words),
            false_match: copies.keep(imatch.unlike_words),
            lexicon_words_min: (settings.imatch.terms_min.get() as f64 / (1.0 - copies.drop_share)).ceil() as u32,
        };
        let style_answer = |matching: u32| {
            let probing = Probing::fewest(BINS, matching, arguments.miss);
            ProbingAnswer { probing, miss: probing.miss(matching) }
        };
        let (banding, copies) = (bands.solve(), imatch.solve());
        let chosen =
            (banding.as_ref().ok().map(|solved| solved.chosen), copies.as_ref().ok().map(|solved| solved.chosen));
        Self {
            demand: Demand { bands, imatch },
            settings: settings_toml(chosen.0, chosen.1),
            bands: Answer::of(banding, bands_answer, |banding| {
                (0..=100).map(|at| f64::from(at) / 100.0).map(|at| (at, banding.hit(at))).collect()
            }),
            style: StyleAnswer {
                chosen: style_answer(arguments.bins),
                alternatives: [16, 20, 32, 35, 64]
                    .into_iter()
                    .filter(|&t| t != arguments.bins)
                    .map(style_answer)
                    .collect(),
            },
            imatch: Answer::of(copies, copies_answer, |copies| {
                (1..=imatch.unlike_words).map(|n_words| (f64::from(n_words), copies.keep(n_words))).collect()
            }),
        }
    }
}

/// The settings to change. Bands that need more slots than a signature has are none.
fn settings_toml(banding: Option<Banding>, copies: Option<Copies>) -> String {
    let mut toml = String::new();
    if let Some(banding) = banding.filter(|banding| banding.n_slots() as usize <= SLOTS) {
        let Banding { bands, rows_per_band } = banding;
        toml += &format!("[mirror]\n# Pages, by their shingles.\npage_bands = {bands}\npage_rows = {rows_per_band}\n");
        toml += &format!("# Mails, by their distinct words.\nbands = {bands}\nrows = {rows_per_band}\n");
    }
    if let Some(Copies { copies, drop_share }) = copies {
        toml += &format!("[imatch]\ncopies = {copies}\ndrop_share = {drop_share}\n");
    }
    toml
}

/// Runs it.
pub fn run(arguments: TuneArguments, common: &Common) -> anyhow::Result<Ending> {
    contradictions(&arguments);
    let answers = Answers::of(&arguments, &common.settings()?);
    if arguments.form.is_report() {
        print_report(&report(&answers, n_columns(), arguments.ascii))?;
    } else {
        print_json(&answers)?;
    }
    let problems = [answers.bands.problem(), answers.imatch.problem()];
    for problem in problems.iter().flatten() {
        super::output::tell(format_args!("{}: {problem}", super::output::ERROR));
    }
    Ok(if problems.iter().any(Option::is_some) { Ending::SomeFailed } else { Ending::Good })
}

/// Arguments that are in range each and make no sense together end the program like those out of range.
fn contradictions(arguments: &TuneArguments) {
    let refuse = |message: String| -> ! {
        Arguments::command().error(ErrorKind::ValueValidation, message).exit();
    };
    if let Some(unlike) = arguments.unlike
        && unlike >= arguments.resemblance
    {
        refuse(format!("--unlike ({unlike}) must be below --resemblance ({})", arguments.resemblance));
    }
    let (changed, unlike) = (arguments.changed_words, arguments.unlike_words);
    if changed >= unlike {
        refuse(format!("--changed-words ({changed}) must be below --unlike-words ({unlike})"));
    }
}

/// What people read.
fn report(answers: &Answers, n_columns: usize, ascii: bool) -> String {
    let mut report = String::new();
    let mut say = |line: &str| writeln!(report, "{line}").expect("a string takes all that is written");
    let (bold, plain) = (anstyle::Style::new().bold().render(), anstyle::Reset.render());

    let BandingDemand { slots, resemblance, miss_max, unlike, .. } = answers.demand.bands;
    say(&format!("{bold}Bands of a minhash of {slots} slots{plain} (text resemblance)"));
    match &answers.bands {
        Answer::Impossible { best, .. } => {
            say(&format!("  cannot be had; nearest: {}", bands_line(best, resemblance, unlike)));
        }
        Answer::Solved { chosen, alternatives, .. } => {
            let BandsAnswer { banding, midpoint, .. } = chosen;
            say(&format!("  bands = {}, rows = {}", banding.bands, banding.rows_per_band));
            say(&format!("  {}", bands_line(chosen, resemblance, unlike)));
            say(&format!("  uses {} slots; the curve is steepest near {midpoint:.2}", chosen.n_slots));
            say("");
            say("  P(hit): the chance that a pair becomes a candidate, by its resemblance");
            let canvas = Canvas { n_columns: n_columns.min(100), n_rows: 10, ascii };
            for line in curve::drawn(|at| banding.hit(at), &[(unlike, 'u'), (resemblance, 's')], canvas) {
                say(&line);
            }
            say(&format!("       s = {resemblance} (to be found), u = {unlike:.3} (unlike)"));
            say("");
            for alternative in alternatives {
                say(&format!("  or {}", bands_line(alternative, resemblance, unlike)));
            }
        }
    }
    say("");

    say(&format!("{bold}Probes of {BINS} style bins{plain} (page style)"));
    let StyleAnswer { chosen, alternatives } = &answers.style;
    say(&format!("  {}", probes_line(chosen)));
    for alternative in alternatives {
        say(&format!("  or {}", probes_line(alternative)));
    }
    say(&format!("  each misses at most {miss_max} of the pairs that agree in just that many bins"));
    say("");

    let CopiesDemand { changed_words, unlike_words, .. } = answers.demand.imatch;
    say(&format!("{bold}Lexicon copies{plain} (I-Match)"));
    match &answers.imatch {
        Answer::Impossible { best, .. } => {
            say(&format!("  cannot be had; nearest: {}", copies_line(best, changed_words, unlike_words)));
        }
        Answer::Solved { chosen, alternatives, curve } => {
            say(&format!("  {}", copies_line(chosen, changed_words, unlike_words)));
            let kept: Vec<_> = curve.iter().take(6).map(|(n_words, keep)| format!("{n_words}: {keep:.3}")).collect();
            say(&format!("  chance to match by changed words: {}", kept.join(", ")));
            say(&format!("  a document needs about {} lexicon words", chosen.lexicon_words_min));
            for alternative in alternatives {
                say(&format!("  or {}", copies_line(alternative, changed_words, unlike_words)));
            }
        }
    }
    if !answers.settings.is_empty() {
        say("");
        say(&format!("{bold}Settings{plain} (a file for -c)"));
        answers.settings.lines().for_each(|line| say(&format!("  {line}")));
    }
    report
}

fn bands_line(answer: &BandsAnswer, resemblance: f64, unlike: f64) -> String {
    let BandsAnswer { banding, miss, false_hit, .. } = answer;
    format!(
        "{banding}: miss {} of the pairs at {resemblance}, let through {} of those at {unlike:.3}",
        rate(*miss),
        rate(*false_hit)
    )
}

fn probes_line(answer: &ProbingAnswer) -> String {
    let ProbingAnswer { probing, miss } = answer;
    format!("{} probes where {} bins must agree: miss {}", probing.probes, probing.matching_bins_min, rate(*miss))
}

fn copies_line(answer: &CopiesAnswer, changed: u32, unlike: u32) -> String {
    let CopiesAnswer { copies: Copies { copies, drop_share }, keep, false_match, .. } = answer;
    let words = |n: u32| if n == 1 { "1 changed word".to_owned() } else { format!("{n} changed words") };
    format!(
        "{copies} copies that each drop {drop_share:.4}: match {} with {}, {} with {}",
        rate(*keep),
        words(changed),
        rate(*false_match),
        words(unlike)
    )
}

/// A probability as a percentage with as many places as it takes to see it.
fn rate(probability: f64) -> String {
    let percent = 100.0 * probability;
    match percent {
        0.0 => "0 %".to_owned(),
        _ if percent < 0.001 => format!("{percent:.1e} %"),
        _ if percent < 0.1 => format!("{percent:.3} %"),
        _ => format!("{percent:.2} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    fn answers(arguments: &[&str]) -> Answers {
        #[derive(Parser)]
        struct Line {
            #[command(flatten)]
            arguments: TuneArguments,
        }
        let line = Line::parse_from(["tune"].iter().chain(arguments));
        Answers::of(&line.arguments, &Settings::default())
    }

    #[test]
    fn the_suggested_settings_are_settings() {
        let toml = answers(&["--changed-words", "2", "--keep", "0.6", "--resemblance", "0.7"]).settings;
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), &toml).unwrap();
        let settings = Settings::load(Some(file.path()), &[]).unwrap();
        let copies = Copies { copies: settings.imatch.copies as u32, drop_share: settings.imatch.drop_share };
        assert!(copies.keep(2) >= 0.6, "{toml}");
        let mirror = settings.mirror;
        for (bands, rows) in [(mirror.bands, mirror.rows), (mirror.page_bands, mirror.page_rows)] {
            let banding = Banding { bands: bands.get() as u32, rows_per_band: rows.get() as u32 };
            assert!(banding.miss(0.7) <= 0.001, "{toml}");
        }
        let wide = answers(&["--slots", "512", "--false-hit", "0.001"]).settings;
        assert!(wide.contains("[imatch]") && !wide.contains("[mirror]"), "signatures have no 512 slots: {wide}");
    }

    #[test]
    fn a_report_names_the_choice_and_keeps_to_the_width() {
        let report = report(&answers(&[]), 72, true);
        assert!(report.contains("bands = 18, rows = 5") && report.contains("  page_bands = 18\n"), "{report}");
        assert!(report.contains("20 probes where 35 bins must agree"), "{report}");
        assert!(report.contains("8 copies that each drop 0.38"), "{report}");
        assert!(report.contains("copies = 8\n"), "{report}");
    }

    #[test]
    fn an_impossible_demand_is_still_answered() {
        let answers = answers(&["--false-hit", "0.001"]);
        assert!(answers.bands.problem().unwrap().contains("at best"));
        assert!(report(&answers, 80, false).contains("cannot be had"));
        assert!(answers.imatch.problem().is_none());
    }
}
