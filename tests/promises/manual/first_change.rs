//! The first change that CONTRIBUTING.md walks through is still to be made, and its places are where it says.
//!
//! To make it takes a build of everything: what is held here is that each step finds what it names.

use super::repository::Repository;
use assert_cmd::Command;

fn read(path: &str) -> String {
    std::fs::read_to_string(Repository::here().root.join(path)).unwrap()
}

/// What stands in `text` between two marks.
fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    let start = text.find(before).unwrap_or_else(|| panic!("no `{before}`")) + before.len();
    let end = text[start..].find(after).unwrap_or_else(|| panic!("no `{after}` after `{before}`"));
    &text[start..start + end]
}

/// The asides of the mail that `script` writes, as the document looks for them.
fn asides(script: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let binary = assert_cmd::cargo::cargo_bin("seamripper");
    let script = script.replace("cargo run --quiet --", binary.to_str().unwrap());
    let output = Command::new("sh").args(["-ec", &script]).current_dir(folder.path()).assert().success();
    String::from_utf8(output.get_output().stdout.clone()).unwrap()
}

#[test]
fn the_first_change_finds_what_it_names() {
    let manual = read("CONTRIBUTING.md");
    let (source, phrases) = (read("src/document/asides.rs"), read("src/document/asides/phrases.rs"));
    let walk = between(&manual, "## A first change, word for word", "\n## ");

    let console = between(walk, "```console\n", "```");
    let script: Vec<&str> = console.lines().filter_map(|line| line.strip_prefix("$ ")).collect();
    let printed: Vec<&str> = console.lines().filter(|line| !line.starts_with("$ ")).collect();
    let script = script.join("\n");
    assert_eq!(asides(&script).lines().collect::<Vec<_>>(), printed, "what is to be mended");
    let known = script.replace("Skickat från min iPhone", "Sent from my iPhone");
    let mended = asides(&known);
    assert!(
        known != script && mended.matches("\"sort\":\"signature\"").count() == 1,
        "and what it is like then: {mended}"
    );

    let row = between(walk, "```rust\n", "\n").trim();
    let table = between(&source, "fn lines_are_told_by_their_form() {", "\n    }");
    assert!(table.contains("(\"Text\\nSent from my telephone\", \" S\"),"), "the row for telephones");
    let entry = between(walk, "Add `\"", "\",`");
    assert!(row.contains(entry) && !table.contains(row) && !phrases.contains(entry), "it is still to be made");

    let n_devices: usize = between(&phrases, "const DEVICES: [&str; ", "]").parse().unwrap();
    assert_eq!(between(&phrases, "const DEVICES: [&str; ", "];").matches("\",\n").count(), n_devices);
    assert!(walk.contains(&format!("from {n_devices} to {}", n_devices + 1)), "{n_devices} devices");
}
