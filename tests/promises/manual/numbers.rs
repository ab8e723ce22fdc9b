//! Numbers that stand in two places are the same: those of formats and sizes in the manual and in the code, figures in the README and
//! in MEASURED.md.

use super::repository::Repository;
use seamripper::config::Settings;
use seamripper::pipeline::run::journal;
use seamripper::signature::SCHEME;
use seamripper::store::{Plan, snapshot};
use seamripper::verdict::event;
use std::collections::BTreeSet;

/// A number that only its own file names.
fn constant(file: &str, name: &str) -> u32 {
    let source = std::fs::read_to_string(Repository::here().root.join(file)).unwrap();
    let line = source.lines().find(|line| line.starts_with(&format!("const {name}: ")));
    let value = line.and_then(|line| line.trim_end_matches(';').rsplit_once(" = ")).unwrap_or_else(|| panic!("{file}"));
    value.1.parse().unwrap()
}

#[test]
fn the_numbers_of_upgrades_are_those_of_the_code() {
    let manual = std::fs::read_to_string(Repository::here().root.join("docs/OPERATIONS.md")).unwrap();
    assert_eq!(event::SCHEMA, journal::SCHEMA, "the manual has one row for both");
    for (what, number) in [
        ("scheme of signatures", SCHEME),
        ("format of snapshots", snapshot::FORMAT),
        ("layout of the embedded bus", constant("src/bus/embedded/schema.rs", "FORMAT")),
        ("schema of events", event::SCHEMA),
        ("format of `signed`", constant("src/pipeline/run/signed/mod.rs", "FORMAT")),
    ] {
        assert!(manual.contains(&format!("\n| {what} ({number}) |")), "{what} is {number}");
    }
    let architecture = std::fs::read_to_string(Repository::here().root.join("docs/ARCHITECTURE.md")).unwrap();
    assert!(architecture.contains(&format!("format {})", snapshot::FORMAT)), "{}", snapshot::FORMAT);
}

/// A number with its thousands apart.
fn grouped(n: usize) -> String {
    let digits = n.to_string();
    let comma = |at: usize| if at > 0 && (digits.len() - at).is_multiple_of(3) { "," } else { "" };
    digits.char_indices().map(|(at, digit)| format!("{}{digit}", comma(at))).collect()
}

/// The table by which a store is sized is the plan of the tables.
#[test]
fn the_sizes_are_those_of_the_plan() {
    let manual = std::fs::read_to_string(Repository::here().root.join("docs/OPERATIONS.md")).unwrap();
    for (size, memory) in
        [("256 MiB", 1 << 28), ("1 GiB (the default)", 1 << 30), ("4 GiB", 4 << 30), ("64 GiB", 64 << 30)]
    {
        let mut settings = Settings::default();
        assert!(size != "1 GiB (the default)" || settings.store.memory == memory);
        settings.store.memory = memory;
        let Plan { n_prototypes, n_leaders, .. } = Plan::of(&settings);
        let row = format!("\n| {size} | {} | {} |", grouped(n_prototypes), grouped(n_leaders));
        assert!(manual.contains(&row), "it is{row}");
    }
}

/// The numbers in a text, as they are written.
fn numbers(text: &str) -> BTreeSet<&str> {
    let words = text.split(|letter: char| !(letter.is_ascii_digit() || ".,".contains(letter)));
    words.map(|word| word.trim_matches(['.', ','])).filter(|word| !word.is_empty()).collect()
}

/// Whoever wonders about a figure finds its command there.
#[test]
fn every_figure_of_the_readme_is_among_the_measured() {
    let read = |path: &str| std::fs::read_to_string(Repository::here().root.join(path)).unwrap();
    let (readme, measured) = (read("README.md"), read("docs/MEASURED.md"));
    let (_, figures) = readme.split_once("## How good, how fast").unwrap();
    let (figures, _) = figures.split_once("### Beside others").unwrap();
    let rows: Vec<&str> = figures.lines().filter(|line| line.starts_with("| ")).collect();
    assert!(rows.len() > 8 && numbers(figures).len() > 30, "{rows:?}");
    let known = numbers(&measured);
    for row in rows {
        let unknown: Vec<&str> = numbers(row).difference(&known).copied().collect();
        assert!(unknown.is_empty(), "{unknown:?} in {row}");
    }
}
