//! `seamripper scan` says of every document what it is: verdicts, clusters, labels, the store between runs, the report.

mod clusters;
mod labels;
mod lexicon;
mod paths;
mod store;

use super::schemas::Schema;
use assert_cmd::Command;
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

const MEMORY: (&str, &str) = ("SEAMRIPPER_STORE__MEMORY", "16777216");

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("demo/corpus")
}

/// The command, in a folder.
fn seamripper(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("seamripper").unwrap();
    command.current_dir(folder).env(MEMORY.0, MEMORY.1).args(arguments);
    command
}

/// What it prints, line by line, when it ends with `code`.
fn lines(command: &mut Command, code: i32) -> Vec<Value> {
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(code), "{}", String::from_utf8_lossy(&output.stderr));
    parsed(&String::from_utf8(output.stdout).unwrap())
}

fn parsed(lines: &str) -> Vec<Value> {
    lines.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

fn read(path: &Path) -> Vec<Value> {
    parsed(&std::fs::read_to_string(path).unwrap())
}

/// A number between 0 and 1 for each seed, always the same.
fn chance(seed: u64) -> f64 {
    let mut bits = seed.wrapping_add(0x9E37_79B9_7F4A_7C15).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ bits >> 29).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((bits ^ bits >> 32) >> 11) as f64 / (1_u64 << 53) as f64
}

fn word(number: u64) -> String {
    let letters = |n: u64| (0..5).map(move |place| char::from(b'a' + (n / 21_u64.pow(place) % 21) as u8));
    letters(number * 37 + 5).chain("ly".chars()).collect()
}

/// The words of a text that has no other like it: few words are common, most are rare.
fn words(seed: u64, n: u64, n_different: f64) -> Vec<String> {
    (0..n).map(|place| word((chance(seed * 1000 + place).powi(3) * n_different) as u64)).collect()
}

fn envelope(id: &str, text: &str) -> String {
    json!({"id": id, "url": format!("https://{id}.example/"), "text": text}).to_string() + "\n"
}

fn unlike(seed: u64) -> String {
    words(seed, 80, 5000.0).join(" ")
}

fn three_pages(folder: &Path) {
    let pages: String = (0..3).map(|n| envelope(&format!("p{n}"), &unlike(n))).collect();
    std::fs::write(folder.join("pages.jsonl"), pages).unwrap();
}

fn refusal(folder: &Path, arguments: &[&str], code: i32) -> String {
    let output = seamripper(folder, arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(code), "{arguments:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn every_event_is_valid_by_its_schema() {
    let folder = tempfile::tempdir().unwrap();
    let (verdicts, clusters) = (folder.path().join("verdicts.jsonl"), folder.path().join("clusters.jsonl"));
    let mut command = seamripper(&corpus(), &["scan", "pages.jsonl", "mails.mbox", "mails.jsonl", "-o"]);
    let output = command.arg(&verdicts).arg("--clusters").arg(&clusters).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && output.stdout.is_empty(), "{stderr}");
    // Four of the quilts come before their sources, and are counted as what they turned out to be.
    let counts = "356 documents: 69 mirrors, 24 quilts, 105 templates, 165 original, 6 insufficient, 0 rejected";
    assert!(stderr.contains(counts) && stderr.contains("documents/s"), "{stderr}");

    let (schema, events) = (Schema::named("verdict"), read(&verdicts));
    let mut revisions: HashMap<String, u64> = HashMap::new();
    for event in &events {
        schema.check("verdict", event);
        let place = format!("{}#{}", event["source"]["topic"], event["source"]["offset"]);
        let revision = event["revision"].as_u64().unwrap();
        // The events of a record are counted from 0 without a gap.
        let expected = revisions.get(&place).map_or(0, |last| last + 1);
        assert_eq!(revision, expected, "{event}");
        revisions.insert(place, revision);
    }
    assert_eq!(revisions.len(), 356);
    assert!(events.len() > 356, "some quilts come before their sources");

    let (schema, ranking) = (Schema::named("cluster"), read(&clusters));
    ranking.iter().for_each(|cluster| schema.check("cluster", cluster));
    let ranks: Vec<f64> = ranking.iter().map(|cluster| cluster["rank"].as_f64().unwrap()).collect();
    assert!(ranks.len() > 5 && ranks.is_sorted_by(|a, b| a >= b), "{ranks:?}");
    assert_eq!(ranking[0]["kind"], "link_farm");
    let named: BTreeSet<&str> = ranking.iter().map(|cluster| cluster["id"].as_str().unwrap()).collect();
    assert!(events.iter().filter_map(|event| event["template"]["cluster"].as_str()).all(|id| named.contains(id)));
}

#[test]
fn threads_do_not_change_a_verdict() {
    let run = |threads: &str| {
        let command = &mut seamripper(&corpus(), &["scan", "pages.jsonl", "--quiet", "--threads", threads]);
        lines(command, 0)
    };
    assert!(run("1") == run("3"));
}

/// A terminal would obey them.
#[test]
fn hostile_characters_are_printed_as_escapes() {
    let folder = tempfile::tempdir().unwrap();
    let id = "a\u{9b}31m\u{202e}b";
    std::fs::write(folder.path().join("pages.jsonl"), envelope(id, &unlike(1))).unwrap();
    for arguments in
        [&["scan", "pages.jsonl"][..], &["sign", "pages.jsonl"], &["scan", "pages.jsonl", "-o", "/dev/stdout"]]
    {
        let output = seamripper(folder.path(), arguments).output().unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        assert!(printed.contains(r"a\u009b31m\u202eb") && !printed.contains(['\u{9b}', '\u{202e}']), "{printed}");
        assert_eq!(parsed(&printed)[0]["id"], id);
    }
}

#[test]
fn what_cannot_be_read_is_rejected_by_name_and_the_rest_is_judged() {
    let folder = tempfile::tempdir().unwrap();
    let file = envelope("one", &unlike(1)) + "{\"id\": \n" + &envelope("two", &unlike(2));
    std::fs::write(folder.path().join("pages.jsonl"), file).unwrap();
    let command = &mut seamripper(folder.path(), &["scan", "pages.jsonl", "gone.html"]);
    let verdicts = lines(command, 1);
    let outcomes: Vec<&str> = verdicts.iter().map(|verdict| verdict["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["judged", "rejected", "judged"]);
    verdicts.iter().for_each(|verdict| Schema::named("verdict").check("verdict", verdict));
    let stderr = String::from_utf8(command.output().unwrap().stderr).unwrap();
    assert!(stderr.contains("pages.jsonl#2: ") && stderr.contains("gone.html: no such file"), "{stderr}");
}

#[test]
fn wrong_usage_and_files_that_cannot_be_written_are_told() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, code) in [
        (&["scan"][..], 2),
        (&["scan", "x", "--threads", "0"], 2),
        (&["scan", "x", "-o", "no/such/folder/file"], 1),
        (&["scan", "x", "--report", "no/such/folder/file"], 1),
        (&["scan", "x", "--labels", "no-such-file"], 1),
    ] {
        assert_eq!(seamripper(folder.path(), arguments).output().unwrap().status.code(), Some(code), "{arguments:?}");
    }
}

/// Ctrl-C before a pipe that says nothing, and before one that says nothing but a line without end: the first is enough.
#[test]
fn a_silent_or_endless_pipe_can_be_left() {
    for is_silent in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin("seamripper"))
            .args(["scan", "-", "--format", "jsonl", "--report", "report.html"])
            .current_dir(folder.path())
            .env(MEMORY.0, MEMORY.1)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let pid = child.id();
        let mut stdin = child.stdin.take().unwrap();
        // The file is made at once: by then it listens to signals as well.
        let begun = Instant::now();
        while !folder.path().join("report.html").exists() {
            assert!(begun.elapsed() < Duration::from_secs(60));
            std::thread::sleep(Duration::from_millis(10));
        }
        // Somebody holds it open all the time.
        let (over, is_over) = std::sync::mpsc::channel::<()>();
        let writer = std::thread::spawn(move || match is_silent {
            true => drop(is_over.recv()),
            false => while stdin.write_all(&[b'x'; 4096]).is_ok() {},
        });
        assert!(std::process::Command::new("kill").args(["-INT", &pid.to_string()]).status().unwrap().success());
        let mut stderr = String::new();
        child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(1), "{stderr}");
        assert!(stderr.contains("interrupted: these are the verdicts so far"), "{stderr}");
        drop(over);
        writer.join().unwrap();
    }
}

/// What cannot be read is told by name, but not without end.
#[test]
fn complaints_have_an_end() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("bad.jsonl"), "{\n".repeat(3000)).unwrap();
    let ended = seamripper(folder.path(), &["scan", "bad.jsonl"]).assert().code(1);
    let stderr = String::from_utf8_lossy(&ended.get_output().stderr).into_owned();
    assert!(stderr.contains("bad.jsonl#1:") && !stderr.contains("bad.jsonl#2000:"), "{}", stderr.len());
    assert!(stderr.contains("the others are counted"), "{}", stderr.len());
}

/// Ctrl-C: what was judged so far is there, whole, and the exit code says that it is not all.
#[test]
fn an_interrupted_scan_ends_cleanly() {
    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin("seamripper"))
        .args(["scan", "-", "--format", "jsonl"])
        .env(MEMORY.0, MEMORY.1)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let pid = child.id();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let reader = std::thread::spawn(move || {
        let mut first = String::new();
        stdout.read_line(&mut first).unwrap();
        // It prints: by now it listens to signals as well.
        let status = std::process::Command::new("kill").args(["-INT", &pid.to_string()]).status().unwrap();
        assert!(status.success());
        let mut rest = String::new();
        stdout.read_to_string(&mut rest).unwrap();
        first + &rest
    });
    // More than it can want, until it wants no more.
    let n_written =
        (0..200_000_u64).take_while(|n| stdin.write_all(envelope(&format!("p{n}"), &unlike(*n)).as_bytes()).is_ok());
    let n_written = n_written.count();
    let verdicts = parsed(&reader.join().unwrap());
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1), "{stderr}");
    assert!(stderr.contains("interrupted: these are the verdicts so far"), "{stderr}");
    assert!(n_written < 200_000 && !verdicts.is_empty() && verdicts.len() <= n_written, "{n_written}");
    // Documents are judged in order, and none is left out.
    let firsts = verdicts.iter().filter(|verdict| verdict["revision"] == 0);
    for (n, verdict) in firsts.enumerate() {
        assert_eq!(verdict["id"], format!("p{n}"));
    }
}

#[test]
fn the_report_shows_the_texts_that_sign_prints() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report.html");
    lines(seamripper(&corpus(), &["scan", "pages.jsonl", "-q", "--report"]).arg(&report), 0);
    let page = std::fs::read_to_string(&report).unwrap();
    assert!(page.starts_with("<!doctype html>") && page.contains("default-src 'none'"));
    assert!(
        page.contains("creditfixers.example") && page.contains("<mark") && page.contains("quilt.fraction_min = 0.5")
    );
    // The words of a quilt are in no verdict: its text was read again.
    let texts = lines(&mut seamripper(&corpus(), &["sign", "--text", "-q", "pages.jsonl"]), 0);
    let words: Vec<&str> = texts[1]["text"].as_str().unwrap().split_ascii_whitespace().collect();
    let n_shown = words.chunks(5).filter(|words| page.contains(&words.join(" "))).count();
    assert!(5 * n_shown > words.len() / 2, "{n_shown} of {} words in fives", words.len());

    // What came through a pipe cannot be read again.
    let input = std::fs::read(corpus().join("pages.jsonl")).unwrap();
    let mut command = seamripper(folder.path(), &["scan", "-", "-f", "jsonl", "-q", "--report", "piped.html"]);
    command.write_stdin(input).assert().code(0);
    let piped = std::fs::read_to_string(folder.path().join("piped.html")).unwrap();
    assert!(piped.len() < page.len() && piped.contains("creditfixers.example"));
}

/// Whatever else is wrong with an envelope: its sender waits for a verdict under its id.
#[test]
fn a_refused_envelope_keeps_its_id() {
    let folder = tempfile::tempdir().unwrap();
    let wrong = [
        r#"{"id":"picture","content_type":"image/png","body":"AAAA"}"#,
        r#"{"id":"address","ip":"999.1.1.1","text":"some words"}"#,
        r#"{"id":"packed","body":"%%%"}"#,
        r#"{"id":"date","fetched_at":"yesterday","text":"some words"}"#,
        r#"{"url":"https://both.example/","text":"a","html":"b"}"#,
        r#"{"id":5,"text":"some words"}"#,
    ];
    std::fs::write(folder.path().join("wrong.jsonl"), wrong.join("\n")).unwrap();
    let verdicts = lines(&mut seamripper(folder.path(), &["scan", "wrong.jsonl", "--quiet"]), 1);
    let ids: Vec<&str> = verdicts.iter().map(|verdict| verdict["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["picture", "address", "packed", "date", "https://both.example/", "wrong.jsonl#6"]);
    assert!(verdicts.iter().all(|verdict| verdict["outcome"] == "rejected"));
}

/// Where they may match each other, a mail with the words of a page is a copy of it, and the other way round.
#[test]
fn pages_and_mails_match_each_other_where_they_may() {
    let folder = tempfile::tempdir().unwrap();
    let text = words(7, 300, 4000.0).join(" ");
    std::fs::write(folder.path().join("page.html"), format!("<html><body><p>{text}</p></body></html>")).unwrap();
    std::fs::write(folder.path().join("mail.eml"), format!("From: a@a.example\nSubject: Hello\n\n{text}\n")).unwrap();
    for order in [["page.html", "mail.eml"], ["mail.eml", "page.html"]] {
        for (cross_kinds, of) in [("false", None), ("true", Some(order[0]))] {
            for exact in [&[][..], &["--exact"]] {
                let arguments = [&["scan", "--quiet"], exact, &order].concat();
                let mut command = seamripper(folder.path(), &arguments);
                let verdicts = lines(command.env("SEAMRIPPER_STORE__CROSS_KINDS", cross_kinds), 0);
                let last = verdicts.iter().rfind(|verdict| verdict["id"] == order[1]).unwrap();
                assert_eq!(last["mirror"]["of"].as_str(), of, "{cross_kinds} {exact:?}: {last}");
            }
        }
    }
}
