//! The quick starts do what they say, word for word.

use crate::manual::page::Page;
use crate::quickstart::{Quickstart, Ran};
use serde_json::Value;
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;

/// The lines of a file that a document has left.
fn lines(ran: &Ran, name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(ran.folder.path().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

#[test]
fn docs_crawl() {
    let ran = Quickstart::of("docs/CRAWL.md").listening("WEB").run();
    let (first, again) = (lines(&ran, "decisions.jsonl"), lines(&ran, "again.jsonl"));
    let kept = |lines: &[Value]| -> BTreeSet<String> {
        lines.iter().filter(|line| line["kept"] == true).map(|line| line["url"].as_str().unwrap().to_owned()).collect()
    };
    assert!(first.len() == again.len() && kept(&again).len() * 10 < kept(&first).len(), "{}", ran.stderr);
    let mirrors: Vec<&Value> = first.iter().filter(|line| line["reason"] == "mirror").collect();
    assert!(mirrors.len() > 30, "{}", mirrors.len());
    for line in mirrors {
        assert!(kept(&first).contains(line["canonical"].as_str().unwrap()), "{line}");
        assert!(line["kept"] == false && line["detail"].as_str().unwrap().contains("resemblance"), "{line}");
    }
    // What the files brought is not stored again; two of the pages had a later version there.
    let stored = lines(&ran, "stored.jsonl");
    let reasons: BTreeSet<&str> =
        stored.iter().filter_map(|item| item["seamripper"].as_str()?.split(':').next()).collect();
    assert!(reasons.contains("changed") && stored.len() < 30, "{reasons:?}\n{}", ran.stdout);
    assert!(ran.stdout.contains("'seamripper/dropped/unchanged': 2"), "{}", ran.stdout);
    assert!(ran.stdout.contains("'seamripper/dropped/mirror': "), "{}", ran.stdout);
}

/// With a Postfix and an rspamd of its own, which go when the document ends.
#[test]
fn docs_mail() {
    // Their users must be able to enter.
    let folder =
        tempfile::Builder::new().prefix("mail").permissions(PermissionsExt::from_mode(0o755)).tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let document = Quickstart::of("docs/MAIL.md").listening("MILTER");
    let (http, milter) = (document.given("SEAMRIPPER_HTTP__LISTEN"), document.given("MILTER"));
    let document = document
        .with("SEAMRIPPER_MILTER__SERVER", &format!("http://{http}"))
        .with("SEAMRIPPER_MILTER__LISTEN", &format!("inet:{milter}"))
        .with("POSTFIX_DIR", &place("postfix"))
        .with("RSPAMD_DIR", &place("rspamd"));
    let Ran { stdout, stderr, .. } = document.run();
    for expected in
        ["X-Seamripper-Class: mirror", "X-Seamripper-Size: 2", "SEAMRIPPER_LABEL_SPAM (8.00)", "SEAMRIPPER_MIRROR"]
    {
        assert!(stdout.contains(expected), "{expected}: {stdout}\n{stderr}");
    }
    let said = stdout + &stderr;
    assert!(said.contains("550 5.7.1 this is a message that is labelled spam"), "{said}");
}

#[test]
fn docs_classifier() {
    let ran = Quickstart::of("docs/CLASSIFIER.md").run();
    let gain = &lines(&ran, "gain.json")[0];
    assert_eq!((&gain["mails"], &gain["spam"]), (&72.into(), &33.into()), "{gain}");
    for model in ["text", "text + features", "features alone"] {
        let auc = gain["at random"]["models"][model]["auc"]["mean"].as_f64().unwrap();
        assert!((0.9..=1.0).contains(&auc), "{model}: {auc}");
    }
    let scored: Vec<Value> = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let [parcel, list] = &scored[..] else { panic!("{}", ran.stdout) };
    for (line, by) in [(parcel, "text + features"), (list, "text + features")] {
        assert_eq!(line["by"], by, "{line}");
    }
    assert!(parcel["spam"].as_f64().unwrap() > 0.5 && list["spam"].as_f64().unwrap() < 0.5, "{}", ran.stdout);
    // The stream has seen mails about parcels, but none that this is a copy of (resemblance 0.54).
    assert!(scored.iter().all(|line| line["classes"] == serde_json::json!([])), "{}", ran.stdout);
}

/// A backup that was put back goes on as if nothing had happened.
#[test]
fn docs_operations() {
    let ran = Quickstart::of("docs/OPERATIONS.md").run();
    let good = "nothing is lost, nothing is there twice, nothing differs";
    assert_eq!(ran.stdout.matches(good).count(), 2, "{}\n{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("journal entries give 49 verdicts, 49 are published"), "{}", ran.stdout);
}

/// The worked examples: what the commands print is what the document shows, line by line, and the arithmetic is right.
#[test]
fn docs_classes() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/CLASSES.md")).unwrap();
    let ran = Quickstart::of("docs/CLASSES.md").run();
    let page = Page::read(&text);
    let shown: Vec<&str> =
        page.blocks.iter().filter(|block| block.kind == "console").flat_map(|block| block.text.lines()).collect();
    let mut rest = &*ran.stdout;
    for line in &shown {
        let at = rest.find(line).unwrap_or_else(|| panic!("not printed, or not in this order: {line}\n{rest}"));
        rest = &rest[at + line.len()..];
    }
    let sums: Vec<&str> = page.spans.iter().map(|span| &*span.text).filter(|span| span.contains(" = ")).collect();
    assert!(shown.len() > 20 && sums.len() > 12, "{} lines, {} sums", shown.len(), sums.len());
    for sum in sums {
        let (terms, result) = sum.rsplit_once(" = ").unwrap();
        let program = format!("from math import sqrt\nprint({terms})");
        let output = std::process::Command::new("python3").args(["-c", &program]).output().unwrap();
        let value: f64 = String::from_utf8(output.stdout).unwrap().trim().parse().unwrap_or_else(|_| panic!("{sum}"));
        let n_digits = result.split_once('.').map_or(0, |(_, digits)| digits.len()) as i32;
        let told: f64 = result.parse().unwrap();
        assert!((value - told).abs() <= 0.5001 * 10_f64.powi(-n_digits), "{sum}, and it is {value}");
    }
}
