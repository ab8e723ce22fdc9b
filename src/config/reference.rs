//! The reference of all settings as Markdown: `docs/CONFIGURATION.md`, which `seamripper config reference` prints.
//!
//! Keys, defaults and reasons are those of `default.toml`. Ranges are found out rather than written down a second time: values are
//! tried against the types and the rules until the last good one is known, everything else at its default.
//!
//! # Invariants
//! - Every key stands there once, with its reason. (`every_key_has_a_row`)
//! - A bound is good, and what lies beyond it is refused. (`ranges_are_those_of_the_rules`)
//! - What is committed is what the command prints. (`the_configuration_reference_is_what_the_command_prints`)

use super::{DEFAULT, Settings, check, load};
use std::collections::BTreeSet;
use toml::{Table, Value};

const HEAD: &str = "\
# Configuration

<!-- Made by `seamripper config reference`; the text is that of src/config/default.toml. -->

Every setting has a default. A file (`-c FILE`) changes single keys, and then the environment: `SEAMRIPPER_IMATCH__COPIES=20` sets
`copies` in `[imatch]`. `seamripper config show` prints what is in force and who changed it, `seamripper config check` whether it is
good. What is unknown or contradictory is refused by name, all of it at once, with exit code 2.

The range of a key is what it can be while all others have their defaults; rules between keys stand below each table. Settings up to
`[revisions]` decide verdicts, but for `mode`: they stand in the journal, and a change of them is an epoch
([RUN.md](RUN.md#changing-secret-or-lexicon)). Those behind it decide none.
";

/// The whole reference.
pub fn markdown() -> String {
    let sections = sections();
    let mut page = HEAD.to_owned();
    page.push('\n');
    for section in &sections {
        let title = section.title();
        let anchor: String =
            title.chars().filter(|letter| letter.is_alphanumeric() || "-_ ".contains(*letter)).collect();
        page += &format!("- [{title}](#{})\n", anchor.to_lowercase().replace(' ', "-"));
    }
    let probe = Probe::new();
    for section in &sections {
        page.push_str(&section.markdown(&probe));
    }
    page
}

/// A table of `default.toml`.
#[derive(Default)]
struct Section {
    /// Empty for the keys above all tables.
    name: String,
    /// What is said of the table and not of a key.
    notes: Vec<String>,
    entries: Vec<Entry>,
}

struct Entry {
    key: String,
    default: String,
    /// Empty where the key above has it.
    reason: String,
}

/// `default.toml` taken apart.
fn sections() -> Vec<Section> {
    let mut sections = vec![Section::default()];
    let mut comment: Vec<&str> = Vec::new();
    let mut notes = Vec::new();
    // The head of the file is ours.
    let body = DEFAULT.split_once("\n\n").map_or("", |(_, body)| body);
    for line in body.lines() {
        if let Some(text) = line.strip_prefix('#') {
            comment.push(text.trim());
        } else if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            notes.extend(said(&mut comment));
            sections.push(Section { name: name.to_owned(), notes: std::mem::take(&mut notes), entries: Vec::new() });
        } else if let Some((key, default)) = line.split_once(" = ") {
            let entry = Entry {
                key: key.to_owned(),
                default: default.to_owned(),
                reason: said(&mut comment).unwrap_or_default(),
            };
            sections.last_mut().expect("there is one from the beginning").entries.push(entry);
        } else {
            notes.extend(said(&mut comment));
        }
    }
    sections
}

/// The lines of a comment as one text, if there are any; they are used up.
fn said(comment: &mut Vec<&str>) -> Option<String> {
    (!comment.is_empty()).then(|| std::mem::take(comment).join(" "))
}

impl Section {
    fn title(&self) -> String {
        if self.name.is_empty() { "Above all tables".to_owned() } else { format!("`[{}]`", self.name) }
    }

    fn path(&self, key: &str) -> String {
        if self.name.is_empty() { key.to_owned() } else { format!("{}.{key}", self.name) }
    }

    fn markdown(&self, probe: &Probe) -> String {
        let mut text = format!("\n## {}\n", self.title());
        for note in &self.notes {
            text += &format!("\n{note}\n");
        }
        if self.entries.is_empty() {
            return text;
        }
        text += "\n| key | default | range | what it is, and why |\n| --- | --- | --- | --- |\n";
        let mut rules = BTreeSet::new();
        let mut above = "";
        for entry in &self.entries {
            let Entry { key, default, reason } = entry;
            let range = probe.range(&self.path(key), reason, &mut rules);
            let unit = unit(key);
            let range =
                [unit.to_owned(), range].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ");
            let reason = if reason.is_empty() { format!("With `{above}`.") } else { cell(reason) };
            let default = if unit == "bytes" { measured(default) } else { format!("`{default}`") };
            text += &format!("| `{key}` | {default} | {range} | {reason} |\n");
            above = key;
        }
        for (n, rule) in rules.iter().enumerate() {
            let before = if n == 0 { "\n" } else { "" };
            text += &format!("{before}- {rule}\n");
        }
        text
    }
}

/// What a key is counted in, by its name.
fn unit(key: &str) -> &'static str {
    match key {
        "memory" => "bytes",
        key if key.ends_with("bytes") || key.ends_with("bytes_max") => "bytes",
        key if key.ends_with("_per_s") => "a second",
        key if key.ends_with("_ms") => "ms",
        key if key.ends_with("_s") => "s",
        key if key.ends_with("hours") => "hours",
        _ => "",
    }
}

/// Bytes, with what they are in larger ones.
fn measured(bytes: &str) -> String {
    let n: u64 = bytes.parse().unwrap_or(0);
    let larger = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match larger.iter().find(|(size, _)| n >= *size && n.is_multiple_of(*size)) {
        Some((size, name)) => format!("`{bytes}` ({} {name})", n / size),
        None => format!("`{bytes}`"),
    }
}

/// A text inside a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;")
}

/// Tries values.
struct Probe {
    defaults: Table,
}

/// Why a value is not taken: its type does not hold it, or rules speak against it.
enum Refusal {
    Type,
    Rules(Vec<String>),
}

impl Probe {
    fn new() -> Self {
        Self { defaults: load::defaults() }
    }

    /// Why `value` is refused, if it is.
    fn refusal(&self, path: &str, value: &Value) -> Option<Refusal> {
        let mut table = self.defaults.clone();
        let (section, key) = path.rsplit_once('.').map_or((None, path), |(section, key)| (Some(section), key));
        let place = section.into_iter().flat_map(|section| section.split('.')).fold(&mut table, |table, name| {
            table.get_mut(name).and_then(Value::as_table_mut).expect("the path is one of the defaults")
        });
        place.insert(key.to_owned(), value.clone());
        match Value::Table(table).try_into::<Settings>() {
            Err(_) => Some(Refusal::Type),
            Ok(settings) => Some(check::rules(&settings)).filter(|found| !found.is_empty()).map(Refusal::Rules),
        }
    }

    fn default(&self, path: &str) -> &Value {
        let mut parts = path.split('.');
        let first = parts.next().and_then(|name| self.defaults.get(name));
        parts.fold(first, |value, name| value?.get(name)).expect("the path is one of the defaults")
    }

    /// What `path` can be, in words. Rules that name other keys are added to `rules`.
    fn range(&self, path: &str, reason: &str, rules: &mut BTreeSet<String>) -> String {
        let mut tell = |refusal: Option<Refusal>| {
            let Some(Refusal::Rules(problems)) = refusal else { return };
            rules.extend(problems.iter().filter(|problem| names_two_keys(problem)).map(|problem| rule(problem)));
        };
        match self.default(path) {
            Value::Integer(default) => {
                let (low, high) = self.whole(path, *default);
                tell(self.refusal(path, &Value::Integer(low - 1)));
                let above = high.and_then(|high| self.refusal(path, &Value::Integer(high + 1)));
                let is_type = matches!(above, Some(Refusal::Type));
                tell(above);
                match high {
                    Some(high) if !is_type => format!("{low} to {high}"),
                    _ if low == 0 => String::new(),
                    _ => format!("from {low}"),
                }
            }
            Value::Float(default) => {
                let (low, high) = (self.edge(path, *default, 0.0), self.edge(path, *default, 1.0));
                for (edge, step) in [(low, -1e-5), (high, 1e-5)] {
                    tell(self.refusal(path, &Value::Float(edge + step)));
                }
                let is_good = |value: f64| self.refusal(path, &Value::Float(value)).is_none();
                let word = |edge: f64, side: &str| {
                    if is_good(edge) { format!("{edge}") } else { format!("{side} {edge}") }
                };
                format!("{} to {}", word(low, "above"), word(high, "below"))
            }
            Value::Boolean(_) => "`true`, `false`".to_owned(),
            Value::String(_) => self.choices(path, reason),
            Value::Array(_) => "two numbers, 0 to 1, ascending".to_owned(),
            _ => String::new(),
        }
    }

    /// The smallest and the largest good number, if there is one; `default` is good.
    fn whole(&self, path: &str, default: i64) -> (i64, Option<i64>) {
        let is_good = |value: i64| self.refusal(path, &Value::Integer(value)).is_none();
        let low = if is_good(0) { 0 } else { last(default, 0, is_good) };
        let high = (!is_good(i64::MAX)).then(|| last(default, i64::MAX, is_good));
        (low, high)
    }

    /// How far `path` can go from `default` towards `end`, which it cannot pass.
    fn edge(&self, path: &str, default: f64, end: f64) -> f64 {
        const PARTS: f64 = 1e6;
        let value = |part: i64| default + (end - default) * part as f64 / PARTS;
        let is_good = |part: i64| self.refusal(path, &Value::Float(value(part))).is_none();
        // An end that is itself refused, and all before it are good, is still the end.
        if is_good(PARTS as i64 - 1) {
            return end;
        }
        let edge = value(last(0, PARTS as i64, is_good));
        (edge * 1e4).round() / 1e4
    }

    /// The words that a setting can be, if it is one of several: those that its reason quotes.
    fn choices(&self, path: &str, reason: &str) -> String {
        let is_good = |word: &str| self.refusal(path, &Value::String(word.to_owned())).is_none();
        if is_good("no such thing") {
            return String::new();
        }
        let quoted = reason.split('"').skip(1).step_by(2).filter(|word| is_good(word));
        quoted.map(|word| format!("`\"{word}\"`")).collect::<Vec<_>>().join(", ")
    }
}

/// The last good number on the way from `good` to `bad`.
fn last(mut good: i64, mut bad: i64, is_good: impl Fn(i64) -> bool) -> i64 {
    while good.abs_diff(bad) > 1 {
        let middle = good.midpoint(bad);
        if is_good(middle) { good = middle } else { bad = middle }
    }
    good
}

fn is_key(word: &str) -> bool {
    let word = word.trim_end_matches([',', ':']);
    word.contains('.') && word.chars().all(|letter| letter.is_ascii_lowercase() || "._".contains(letter))
}

fn names_two_keys(problem: &str) -> bool {
    problem.split(' ').filter(|word| is_key(word)).count() > 1
}

/// A problem without the values that it was seen with.
fn rule(problem: &str) -> String {
    let mut rule = String::new();
    for word in problem.split(' ') {
        let bare = word.trim_end_matches([',', ':']);
        let is_value = word.starts_with('(') && word.contains(|letter: char| letter.is_ascii_digit());
        match () {
            () if is_value => rule += &word[bare.len()..],
            () if is_key(word) => rule += &format!(" `{bare}`{}", &word[bare.len()..]),
            () => rule += &format!(" {word}"),
        }
    }
    rule.trim_start().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_has_a_row() {
        let rows: Vec<String> = sections()
            .iter()
            .flat_map(|section| section.entries.iter().map(|entry| section.path(&entry.key)).collect::<Vec<_>>())
            .collect();
        let mut keys: Vec<String> = load::leaves(&load::defaults()).into_iter().map(|(key, _)| key).collect();
        let mut sorted = rows.clone();
        sorted.sort();
        keys.sort();
        assert_eq!(sorted, keys);
        let first =
            sections().iter().all(|section| section.entries.first().is_none_or(|entry| !entry.reason.is_empty()));
        assert!(first, "a table begins with a key without a reason");
    }

    #[test]
    fn ranges_are_those_of_the_rules() {
        let probe = Probe::new();
        let mut rules = BTreeSet::new();
        let mut range = |path: &str| probe.range(path, "\"filter\", or \"shadow\", but no \"sunshine\"", &mut rules);
        assert_eq!(range("limits.body_bytes_max"), "1 to 16777216");
        assert_eq!(range("imatch.copies"), "0 to 63");
        assert_eq!(range("imatch.drop_share"), "above 0 to below 1");
        assert_eq!(range("mirror.cosine_min"), "0.5 to 1");
        assert_eq!(range("content.sentence_chars_max"), "0 to 19");
        assert_eq!(range("mode"), "`\"filter\"`, `\"shadow\"`");
        assert_eq!(range("secret"), "");
        assert_eq!(range("bus.retention_bytes"), "");
        assert_eq!(range("bus.lease_ms"), "from 500");
        for rule in [
            "`bus.record_bytes_max` must not be below `limits.body_bytes_max`",
            "`content.sentence_chars_max` must be below `text.sentence_chars_min`",
        ] {
            assert!(rules.contains(rule), "{rules:?}");
        }
        assert!(rules.iter().all(|rule| !rule.contains('(')), "{rules:?}");
        let seen = "a.b_ms (5) must not be above c.d_ms (30), or every mail would be refused";
        assert_eq!(rule(seen), "`a.b_ms` must not be above `c.d_ms`, or every mail would be refused");
    }

    #[test]
    fn a_reason_cannot_break_a_table() {
        assert_eq!(cell("a | b < c"), "a \\| b &lt; c");
        let page = markdown();
        let columns = |line: &str| line.replace("\\|", "").matches('|').count();
        for line in page.lines().filter(|line| line.starts_with('|')) {
            assert_eq!(columns(line), 5, "{line}");
        }
    }
}
