//! The command line answers wrong usage and a wrong configuration with exit code 2 and what to do, all of it at once.

use assert_cmd::Command;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::process::Stdio;

fn seamripper() -> Command {
    Command::cargo_bin("seamripper").unwrap()
}

fn stderr_of(command: &mut Command, code: i32) -> String {
    let output = command.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{stderr}");
    stderr
}

#[test]
fn a_secret_that_is_no_text_is_refused_by_name() {
    let stderr =
        stderr_of(seamripper().env("SEAMRIPPER_SECRET", OsStr::from_bytes(b"\xff")).args(["config", "check"]), 2);
    assert!(stderr.contains("SEAMRIPPER_SECRET is not valid UTF-8"), "{stderr}");
}

#[test]
fn a_lexicon_that_is_not_there_is_found_by_the_check() {
    let command = &mut seamripper();
    let stderr = stderr_of(command.env("SEAMRIPPER_IMATCH__PAGE_LEXICON", "nosuch").args(["config", "check"]), 2);
    assert!(stderr.contains("imatch.page_lexicon") && stderr.contains("nosuch"), "{stderr}");
}

#[test]
fn all_that_is_wrong_is_shown_at_once() {
    let command = &mut seamripper();
    command.env("SEAMRIPPER_IMATCH__COPIES", "many").env("SEAMRIPPER_NONSENSE", "1").args(["config", "show"]);
    let stderr = stderr_of(command, 2);
    assert!(stderr.contains("imatch.copies = \"many\"") && stderr.contains("nonsense = 1"), "{stderr}");
}

#[test]
fn wrong_usage_ends_with_two() {
    for arguments in [&["sign"][..], &["nonsense"], &["sign", "--threads", "0", "x"], &["sign", "-t", "99999999", "x"]]
    {
        stderr_of(seamripper().args(arguments), 2);
    }
}

#[test]
fn an_error_that_nobody_can_read_is_still_an_error() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let status = std::process::Command::new(assert_cmd::cargo::cargo_bin("seamripper"))
        .args(["sign", "no-such-file"])
        .stdout(Stdio::null())
        .stderr(full)
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(1));
}

#[test]
fn every_command_has_help_with_examples_and_completions_are_there() {
    for command in ["scan", "milter", "explain", "sign", "compare", "tune", "lexicon", "config", "completions"] {
        let output = seamripper().args([command, "--help"]).output().unwrap();
        let help = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && help.contains("Examples:"), "{command}: {help}");
    }
    for shell in ["bash", "zsh", "fish"] {
        let output = seamripper().args(["completions", shell]).output().unwrap();
        assert!(output.status.success() && output.stdout.len() > 1000, "{shell}");
    }
}

/// The figure is divided to the last table, and the bound on names is said.
#[test]
fn the_check_prints_the_memory_plan() {
    let command = || {
        let mut command = seamripper();
        command.env("SEAMRIPPER_STORE__MEMORY", "100000000").args(["config", "check"]);
        command
    };
    let output = command().output().unwrap();
    let plan: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let tables = plan["tables"].as_array().unwrap();
    let total: u64 = tables.iter().map(|table| table["bytes"].as_u64().unwrap()).sum();
    assert!((99_000_000..=100_000_000).contains(&total) && tables.len() == 14, "{plan}");
    assert!(plan["prototypes_max"].as_u64().unwrap() > 10_000, "{plan}");
    let names = tables.iter().find(|table| table["name"] == "names, proofs, places").unwrap();
    assert_eq!((&plan["names_bytes_max"], &plan["url_bytes_max"]), (&names["bytes"], &512.into()));
    let report = String::from_utf8(command().arg("--report").output().unwrap().stdout).unwrap();
    assert!(report.contains("gram postings") && report.contains("it holds"), "{report}");
    // What is kept of texts comes beside the figure, and divides it no other way.
    let excerpts = &plan["excerpts"];
    assert_eq!((&excerpts["name"], &excerpts["bytes_per_document"]), (&"excerpts".into(), &256.into()), "{plan}");
    assert_eq!(plan["memory_in_all"], 100_000_000 + excerpts["bytes"].as_u64().unwrap());
    assert!(report.contains("256 a document") && report.contains(" bytes in all, "), "{report}");
    let output = command().env("SEAMRIPPER_TEXTS__EXCERPT_BYTES", "0").output().unwrap();
    let without: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&without["tables"], &without["excerpts"]["bytes"]), (&plan["tables"], &0.into()));
    assert_eq!(without["prototypes_max"], plan["prototypes_max"]);
    assert!(command().arg("--quiet").output().unwrap().stdout.is_empty());
}

#[test]
fn contradictions_of_the_store_are_refused_with_both_keys() {
    let mut command = seamripper();
    command.env("SEAMRIPPER_MIRROR__BANDS", "40").env("SEAMRIPPER_STORE__MEMORY", "5").args(["config", "check"]);
    let stderr = stderr_of(&mut command, 2);
    assert!(
        stderr.contains("mirror.bands (40) times mirror.rows (4)") && stderr.contains("store.memory (5)"),
        "{stderr}"
    );
}

#[test]
fn a_lexicon_is_written_to_the_end_of_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let (target, link) = (folder.path().join("target"), folder.path().join("link"));
    std::fs::write(&target, "old").unwrap();
    std::os::unix::fs::symlink(&target, &link).unwrap();
    let output = seamripper().args(["lexicon", "build", "demo/pages", "-o"]).arg(&link).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(link.is_symlink());
    assert_ne!(std::fs::read(&target).unwrap(), b"old");
}
