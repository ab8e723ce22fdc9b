//! The heads of files name the tests that hold their invariants: those tests are there.

use super::repository::Repository;
use std::collections::HashSet;

/// Tests and files that the invariants of `source` name.
fn named(source: &str) -> Vec<String> {
    let head: String = source
        .lines()
        .map_while(|line| line.strip_prefix("//!"))
        .skip_while(|line| !line.starts_with(" # Invariants"))
        .map(|line| format!("{line}\n"))
        .collect();
    // They stand in parentheses, alone or after others.
    let spans = head.split('`').skip(1).step_by(2).zip(head.split('`').step_by(2));
    let is_held = |before: &str| before.ends_with('(') || before == ", " || before == ",\n   " || before == " and ";
    spans.filter(|(_, before)| is_held(before)).map(|(name, _)| name.to_owned()).collect()
}

fn functions(source: &str) -> impl Iterator<Item = &str> {
    source.split("fn ").skip(1).filter_map(|rest| rest.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next())
}

#[test]
fn tests_that_heads_name_are_there() {
    let repository = Repository::here();
    let is_source = |path: &&String| path.ends_with(".rs");
    let read = |path: &String| std::fs::read_to_string(repository.root.join(path)).unwrap();
    let sources: Vec<(&String, String)> =
        repository.paths.iter().filter(is_source).map(|path| (path, read(path))).collect();
    let known: HashSet<&str> = sources.iter().flat_map(|(_, source)| functions(source)).collect();
    let mut missing = Vec::new();
    let mut n_named = 0;
    for (path, source) in &sources {
        for name in named(source) {
            n_named += 1;
            let last = name.rsplit("::").next().unwrap_or_default();
            let is_there = known.contains(last) || repository.paths.contains(name.trim_end_matches('/'));
            if !is_there && name.contains(['_', '/']) {
                missing.push(format!("{path}: `{name}`"));
            }
        }
    }
    assert!(n_named > 100, "{n_named}");
    assert!(missing.is_empty(), "no such tests:\n{}", missing.join("\n"));
}

#[test]
fn names_are_found_in_heads() {
    let source = "//! A file.\n//!\n//! # Invariants\n//! - It holds. (`one_test`, `tests/promises/two.rs`)\n//! - It is `not_this`. (`three`)\nfn x() {}";
    assert_eq!(named(source), ["one_test", "tests/promises/two.rs", "three"]);
    assert_eq!(functions("fn one() {}\npub(super) fn two<T>() {}").collect::<Vec<_>>(), ["one", "two"]);
}
