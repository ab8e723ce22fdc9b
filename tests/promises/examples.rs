//! The examples keep their own promises: their tests in Python, against the filter that is under test here.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A Python with what an example needs.
fn python(requirements: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = Command::new(root.join("scripts/python"))
        .arg(root.join(requirements))
        .env("CARGO_TARGET_DIR", binaries().parent().unwrap())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    PathBuf::from(String::from_utf8(output.stdout).unwrap().trim())
}

/// Where the filter is.
fn binaries() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_seamripper")).parent().unwrap()
}

/// Runs the tests of an example.
fn tested(example: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::iter::once(binaries().to_owned()).chain(std::env::split_paths(&path));
    let output = Command::new(python(&format!("examples/{example}/requirements.txt")))
        .args(["-m", "unittest", "discover", "-s", &format!("examples/{example}"), "-t", "examples"])
        .current_dir(root)
        .env("PATH", std::env::join_paths(path).unwrap())
        .env("PYTHONPATH", "examples")
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("OK") && !said.contains("Ran 0 tests"), "{said}");
}

#[test]
fn a_crawl_loses_no_page_and_stores_none_twice() {
    tested("crawl");
}

#[test]
fn a_classifier_learns_nothing_of_its_test_mails() {
    tested("classifier");
}
