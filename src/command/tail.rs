//! `seamripper tail`: verdicts as they come.
//!
//! # Invariants
//! - What a document holds moves no cursor and changes no colours. (`hostile_ids_are_shown_and_not_obeyed`)
//! - From a cursor it goes on where it was. (`tests/promises/tail_command.rs`)

use super::output::{Output, tell};
use super::report::{plain, print_report, shortened, spelled_out};
use super::words::{counted, percent, template_kind};
use super::{Common, Ending};
use crate::bus::{self, Bus, BusError};
use crate::config::Problems;
use crate::pipeline::wanted::{Sort, Wanted};
use crate::pipeline::watch::{NoWatch, Seen, Start, Watch};
use crate::verdict::event::{Class, Outcome, QuiltKind, Recrawl, Verdict};
use crate::verdict::relation::Direction;
use anstyle::{AnsiColor, Style};
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Verdicts and bytes that are read at a time.
const VERDICTS_MAX: usize = 500;
const BYTES_MAX: usize = 1 << 20;
/// One look at the bus: then the user may have had enough.
const LOOK: Duration = Duration::from_millis(200);
/// A bus that fails is tried again after so long.
const PAUSE: Duration = Duration::from_secs(1);
/// The ids in the evidence are cut to so many characters: the line's own id is whole.
const NAME_CHARS_MAX: usize = 60;

/// The arguments of `seamripper tail`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  seamripper tail                              what is judged from now on
  seamripper tail --class quilt,mirror --from beginning
  seamripper tail --json --from beginning --until-idle 1 > verdicts.jsonl

JSON lines are those of schemas/verdict.json with a `cursor` as their last field: --from CURSOR goes on after that line.")]
pub struct TailArguments {
    /// Only verdicts of these classes (several, or separated by commas)
    #[arg(long = "class", value_name = "CLASS", value_enum, value_delimiter = ',')]
    classes: Vec<Sort>,
    /// Where to begin: `beginning`, `end`, or the cursor of a line
    #[arg(long, value_name = "PLACE", default_value = "end")]
    from: Start,
    /// Print JSON lines
    #[arg(long)]
    json: bool,
    /// End after so many verdicts
    #[arg(long, value_name = "N")]
    count: Option<u64>,
    /// End when nothing came for so many seconds
    #[arg(long, value_name = "SECONDS", value_parser = super::seconds)]
    until_idle: Option<Duration>,
}

/// Prints verdicts.
pub fn run(arguments: TailArguments, common: &Common) -> anyhow::Result<Ending> {
    let settings = common.settings()?;
    if let Start::Cursor(cursor) = &arguments.from {
        let place = bus::cursor::read(&settings.topics.verdicts.as_str().into(), cursor);
        place.map_err(|error| {
            Problems(vec![format!("--from `{}`: {error}", shortened(&plain(cursor), NAME_CHARS_MAX))])
        })?;
    }
    let bus = bus::open_to_read(&settings)?;
    bus.prepare()?;
    let is_over = Arc::new(AtomicBool::new(false));
    let over = is_over.clone();
    ctrlc::set_handler(move || over.store(true, Ordering::Relaxed))?;
    let TailArguments { classes, from, json, count, until_idle } = arguments;
    let topic = &settings.topics.verdicts;
    let wanted = Wanted::of_sorts(classes);
    let mut watch = Watch::open(&*bus, topic, &from, wanted.clone())?;
    let mut n_left = count.unwrap_or(u64::MAX);
    let mut came_at = Instant::now();
    while n_left > 0 && !is_over.load(Ordering::Relaxed) {
        let wait = until_idle.map_or(LOOK, |idle| idle.saturating_sub(came_at.elapsed()).min(LOOK));
        let mut seen = match watch.next(VERDICTS_MAX, BYTES_MAX, wait) {
            Ok(seen) => seen,
            Err(error @ (BusError::Unreachable { .. } | BusError::Broken(_))) => {
                tell(format_args!("{error}; trying again"));
                watch = reopened(&*bus, topic, &watch, &wanted, &is_over)?;
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        if seen.is_empty() {
            if until_idle.is_some_and(|idle| came_at.elapsed() >= idle) {
                break;
            }
            continue;
        }
        seen.truncate(usize::try_from(n_left).unwrap_or(usize::MAX));
        n_left -= seen.len() as u64;
        print(&seen, json)?;
        came_at = Instant::now();
    }
    Ok(Ending::Good)
}

/// The same from the same place on, when the bus can be reached again.
fn reopened(
    bus: &dyn Bus,
    topic: &str,
    watch: &Watch,
    wanted: &Wanted,
    is_over: &AtomicBool,
) -> Result<Watch, NoWatch> {
    loop {
        thread::sleep(PAUSE);
        match Watch::open(bus, topic, &Start::Cursor(watch.cursor()), wanted.clone()) {
            Err(NoWatch::Bus(BusError::Unreachable { .. } | BusError::Broken(_)))
                if !is_over.load(Ordering::Relaxed) => {}
            outcome => return outcome,
        }
    }
}

fn print(seen: &[Seen], json: bool) -> anyhow::Result<()> {
    if !json {
        return Ok(print_report(&seen.iter().map(line).collect::<String>())?);
    }
    let lines: String = seen.iter().map(|seen| spelled_out(&String::from_utf8_lossy(&seen.line()))).collect();
    let mut output = Output::new();
    output.write_all(lines.as_bytes())?;
    Ok(output.flush()?)
}

/// A verdict for people: when, what, who, and by what evidence.
fn line(seen: &Seen) -> String {
    let time =
        jiff::Timestamp::from_millisecond(seen.record.time_ms).map_or_else(|_| "-".into(), |time| format!("{time:.3}"));
    let value = seen.record.value.as_deref().unwrap_or_default();
    match serde_json::from_slice::<Verdict>(value) {
        Ok(verdict) => {
            let (word, style) = word(&verdict);
            let evidence = evidence(&verdict);
            let dash = if evidence.is_empty() { "" } else { "  " };
            format!("{time}  {style}{word:<8}{style:#}  {}{dash}{}\n", plain(&verdict.id), evidence.join("; "))
        }
        // A later release may say it otherwise.
        Err(error) => format!("{time}  a verdict that this release cannot read: {error}\n"),
    }
}

fn word(verdict: &Verdict) -> (String, Style) {
    let classes: Vec<&str> = verdict.classes.iter().map(|class| class.name()).collect();
    let colour = |colour: AnsiColor| colour.on_default();
    match (verdict.outcome, verdict.classes.first()) {
        (Outcome::Rejected, _) => ("rejected".into(), colour(AnsiColor::Red)),
        (_, Some(first)) => {
            let style = match first {
                Class::Mirror => AnsiColor::Cyan,
                Class::Quilt => AnsiColor::Magenta,
                Class::Template => AnsiColor::Yellow,
            };
            (classes.join("+"), colour(style))
        }
        (Outcome::Insufficient, None) => ("too little".into(), Style::new().dimmed()),
        (Outcome::Judged, None) => ("original".into(), colour(AnsiColor::Green)),
    }
}

/// Whose copy, whose words, whose style, in a few words each.
fn evidence(verdict: &Verdict) -> Vec<String> {
    let name = |id: &str| shortened(&plain(id), NAME_CHARS_MAX);
    let mut evidence = Vec::new();
    if let Some(mirror) = &verdict.mirror {
        // A copy may be a little longer or shorter; only what stays its own head is part of another.
        let is_copy = verdict.group() != verdict.id;
        let how = match mirror.direction {
            _ if is_copy => "copy of",
            Direction::Equal => "shares most with",
            Direction::ThisInThat => "contained in",
            Direction::ThatInThis => "contains",
        };
        let (of, alike) = (name(&mirror.of), percent(mirror.resemblance));
        let group = format!("{} on {}", counted(mirror.size, "document"), counted(mirror.domains, "domain"));
        evidence.push(format!("{how} {of} ({alike} alike, {group})"));
    }
    if let Some(quilt) = &verdict.quilt {
        let sources: Vec<String> = quilt.sources.iter().take(2).map(|source| name(&source.of)).collect();
        let more = if quilt.sources.len() > 2 { ", …" } else { "" };
        let kind = if quilt.kind == QuiltKind::Aggregator { ", which it links to" } else { "" };
        let (from, share) = (counted(quilt.sources.len(), "source"), percent(quilt.patch_fraction));
        evidence.push(format!("{share} from {from}{kind}: {}{more}", sources.join(", ")));
    }
    if let Some(template) = &verdict.template {
        let (kind, cluster) = (template_kind(template.kind), name(&template.cluster));
        let size = format!("{} on {}", counted(template.size, "document"), counted(template.domains, "domain"));
        evidence.push(format!("{kind} of {size} ({cluster})"));
    }
    evidence.extend(verdict.reason.as_deref().map(plain));
    match verdict.recrawl {
        Some(Recrawl::Unchanged) => evidence.push("seen before, unchanged".into()),
        Some(Recrawl::Changed) => evidence.push("seen before, changed".into()),
        None => {}
    }
    evidence.extend(verdict.labels.iter().take(3).map(|label| {
        let overridden = if label.overridden { " (overridden)" } else { "" };
        format!("labelled {}{overridden}", name(&label.label))
    }));
    if verdict.revision > 0 {
        evidence.push(format!("revised ({})", verdict.revision));
    }
    evidence
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bus::{Partition, Record};
    use crate::verdict::event::Signal;

    fn shown(json: &str) -> String {
        let partition = Partition::new("verdicts", 0);
        let value = Some(json.as_bytes().to_vec());
        let record = Record { partition, offset: 0, time_ms: 1000, key: None, headers: Vec::new(), value };
        let line = line(&Seen { record, cursor: "c".into() });
        anstream::adapter::strip_str(&line).to_string()
    }

    #[test]
    fn the_examples_are_told_in_a_few_words() {
        let example = |name: &str| {
            let path = format!("{}/schemas/examples/verdict-{name}.json", env!("CARGO_MANIFEST_DIR"));
            std::fs::read_to_string(path).unwrap()
        };
        for (name, words) in [
            ("mirror", &["mirror", "copy of", "% alike", " documents on 9 domains"][..]),
            ("quilt", &["quilt", "sources", "% from"]),
            ("template", &["template", "documents on"]),
            ("original", &["original"]),
            ("rejected", &["rejected", "envelope"]),
        ] {
            let line = shown(&example(name));
            assert!(line.starts_with("1970-01-01T00:00:01.000Z  "), "{line}");
            assert!(line.ends_with('\n') && line.matches('\n').count() == 1, "{line:?}");
            words.iter().for_each(|word| assert!(line.contains(word), "{word} in {line}"));
        }
    }

    #[test]
    fn a_copy_is_one_whichever_is_longer() {
        let path = format!("{}/schemas/examples/verdict-mirror.json", env!("CARGO_MANIFEST_DIR"));
        let mut verdict: Verdict = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        for (signals, direction, how) in [
            (vec![Signal::Minhash], Direction::ThisInThat, "copy of"),
            (vec![Signal::Sentences], Direction::ThisInThat, "contained in"),
            (vec![Signal::Sentences], Direction::ThatInThis, "contains"),
        ] {
            let mirror = verdict.mirror.as_mut().unwrap();
            (mirror.signals, mirror.direction) = (signals, direction);
            let line = shown(&serde_json::to_string(&verdict).unwrap());
            assert!(line.contains(&format!("  {how} {}", verdict.mirror.as_ref().unwrap().of)), "{how}: {line}");
        }
    }

    #[test]
    fn hostile_ids_are_shown_and_not_obeyed() {
        let json = r#"{"schema":1,"id":"a\u001b[31m\u202eb\nc","kind":"page","source":{"topic":"t","partition":0,"offset":0},
            "revision":0,"outcome":"judged","truncated":false,"classes":[]}"#;
        let line = shown(json);
        assert!(line.contains("a\\u{1b}[31m\\u{202e}b⏎c"), "{line:?}");
        assert!(!line.trim_end().contains(char::is_control), "{line:?}");
        assert!(shown("{}").contains("cannot read"));
    }
}
