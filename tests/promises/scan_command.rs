//! `seamripper scan` says of every document what it is: verdicts, clusters, labels, the store between runs, the report.

use super::schemas::Schema;
use assert_cmd::Command;
use seamripper::signature::lexicon::Lexicon;
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

fn label(target: Value, label: &str) -> String {
    json!({"target": target, "label": label, "by": "ada", "why": "seen", "at": "2026-04-01T00:00:00Z"}).to_string()
        + "\n"
}

/// By document, group, cluster and domain; whom `allow` names must have signed.
#[test]
fn labels_are_carried_with_their_path() {
    let folder = tempfile::tempdir().unwrap();
    let [clusters, labels] = ["clusters.jsonl", "labels.jsonl"].map(|name| folder.path().join(name));
    let files = ["scan", "mails.mbox", "mails.jsonl", "--quiet"];
    let plain = lines(seamripper(&corpus(), &files).arg("--clusters").arg(&clusters), 0);
    let newsletters = plain.iter().find(|verdict| verdict["id"] == "newsletter-45").unwrap();
    let cluster = newsletters["template"]["cluster"].as_str().expect("the last newsletter is of a template");
    let lines_of_labels = [
        label(json!({"document": "mails.mbox#1"}), "scam"),
        label(json!({"cluster": cluster}), "newsletter"),
        label(json!({"domain": "workshopweekly.example"}), "allow"),
        label(json!({"domain": "legal-isle5.example"}), "allow"),
        label(json!({"domain": "legal-isle5.example"}), "suspect"),
    ];
    std::fs::write(&labels, lines_of_labels.concat()).unwrap();
    let verdicts = lines(seamripper(&corpus(), &files).arg("--labels").arg(&labels), 0);
    let carried = |id: &str| {
        let verdict = verdicts.iter().rfind(|verdict| verdict["id"] == id).unwrap();
        Schema::named("verdict").check("verdict", verdict);
        verdict["labels"].as_array().cloned().unwrap_or_default()
    };
    let of = |label: &str, via: &str, of: &str| json!({"label": label, "via": via, "of": of});
    assert_eq!(carried("mails.mbox#1"), [of("scam", "document", "mails.mbox#1")]);
    assert_eq!(carried("mails.mbox#49"), [of("scam", "mirror", "mails.mbox#1")]);
    let newsletter = carried("newsletter-45");
    // What `allow` wins against is said all the same.
    let mut overridden = of("newsletter", "template", cluster);
    overridden["overridden"] = true.into();
    assert!(newsletter.contains(&overridden), "{newsletter:?}");
    assert!(newsletter.contains(&of("allow", "domain", "workshopweekly.example")), "{newsletter:?}");
    // This sender failed every check: nobody can be allowed by writing a name.
    assert_eq!(carried("inheritance-6"), [of("suspect", "domain", "legal-isle5.example")]);
    // Labels change nothing else.
    for (verdict, plain) in verdicts.iter().zip(&plain) {
        let mut verdict = verdict.clone();
        verdict.as_object_mut().unwrap().remove("labels");
        assert_eq!(&verdict, plain);
    }
}

#[test]
fn labels_that_are_wrong_are_refused_by_line() {
    let folder = tempfile::tempdir().unwrap();
    let lines = label(json!({"document": "x"}), "spam") + "{\"label\": \"spam\"}\n";
    std::fs::write(folder.path().join("labels.jsonl"), lines).unwrap();
    let output = seamripper(folder.path(), &["scan", "x", "--labels", "labels.jsonl"]).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(
        output.status.code() == Some(1) && stderr.contains("labels.jsonl") && stderr.contains("line 2"),
        "{stderr}"
    );
}

#[test]
fn a_second_run_knows_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let page = unlike(1);
    std::fs::write(folder.path().join("monday.jsonl"), envelope("head", &page) + &envelope("other", &unlike(2)))
        .unwrap();
    let copied = envelope("copy", &page) + &envelope("other", &unlike(2)) + &envelope("new", &unlike(3));
    std::fs::write(folder.path().join("tuesday.jsonl"), copied).unwrap();
    let scan = |file: &str| lines(&mut seamripper(folder.path(), &["scan", file, "--store", "seen.store", "-q"]), 0);
    assert!(scan("monday.jsonl").iter().all(|verdict| verdict["classes"] == json!([])));
    let tuesday = scan("tuesday.jsonl");
    assert_eq!((&tuesday[0]["mirror"]["of"], &tuesday[0]["mirror"]["size"]), (&"head".into(), &2.into()));
    assert_eq!((&tuesday[1]["recrawl"], &tuesday[2]["recrawl"]), (&"unchanged".into(), &Value::Null));
    assert_eq!(lines(&mut seamripper(folder.path(), &["scan", "tuesday.jsonl", "-q"]), 0)[0]["classes"], json!([]));
    assert!(!folder.path().join(".seen.store.new").exists());
}

/// In two runs or in one: the same verdicts.
#[test]
fn a_store_between_runs_does_not_show() {
    let folder = tempfile::tempdir().unwrap();
    let pages = std::fs::read_to_string(corpus().join("pages.jsonl")).unwrap();
    let pages: Vec<&str> = pages.split_inclusive('\n').collect();
    let write = |name: &str, part: &[&str]| std::fs::write(folder.path().join(name), part.concat()).unwrap();
    let scan = |name: &str, store: &[&str]| {
        let mut verdicts = lines(&mut seamripper(folder.path(), &[&["scan", name, "-q"], store].concat()), 0);
        verdicts.iter_mut().for_each(|verdict| verdict["source"] = Value::Null);
        verdicts
    };
    let last = |events: Vec<Value>| -> HashMap<String, Value> {
        // How often a verdict was revised depends on when there was time to.
        let told = events.into_iter().map(|mut event| {
            event["revision"] = Value::Null;
            (event["id"].as_str().unwrap().to_owned(), event)
        });
        told.collect()
    };
    write("all.jsonl", &pages);
    write("first.jsonl", &pages[..150]);
    write("second.jsonl", &pages[150..]);
    let whole = last(scan("all.jsonl", &[]));
    let parts = [scan("first.jsonl", &["--store", "s"]), scan("second.jsonl", &["--store", "s"])].concat();
    let parts = last(parts);
    assert_eq!(whole.len(), parts.len());
    for (id, verdict) in &whole {
        assert_eq!(&parts[id]["classes"], &verdict["classes"], "{id}");
    }
}

#[test]
fn a_store_that_is_damaged_or_of_other_settings_is_refused_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("pages.jsonl"), envelope("one", &unlike(1))).unwrap();
    let arguments = ["scan", "pages.jsonl", "--store", "seen.store", "-q"];
    lines(&mut seamripper(folder.path(), &arguments), 0);
    let store = folder.path().join("seen.store");
    let refused = |command: &mut Command, because: &str| {
        let before = std::fs::read(&store).unwrap();
        let output = command.output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(
            output.status.code() == Some(1) && stderr.contains("seen.store") && stderr.contains(because),
            "{stderr}"
        );
        assert!(std::fs::read(&store).unwrap() == before);
    };
    refused(seamripper(folder.path(), &arguments).env("SEAMRIPPER_QUILT__SOURCES_MIN", "3"), "other [store]");
    refused(seamripper(folder.path(), &arguments).env("SEAMRIPPER_SECRET", "another"), "other secret");
    let mut bytes = std::fs::read(&store).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&store, &bytes).unwrap();
    refused(&mut seamripper(folder.path(), &arguments), "fails its checksum");
    std::fs::write(&store, "something else").unwrap();
    refused(&mut seamripper(folder.path(), &arguments), "not a saved store");
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

/// Pages with known words, ten of them copied; and in how many pages each word stands.
fn counted_pages(n: u64, n_different: f64) -> (String, HashMap<String, u32>) {
    let (mut lines, mut exact) = (String::new(), HashMap::new());
    for page in 0..n {
        let words = words(page, 120, n_different);
        lines += &envelope(&format!("p{page}"), &words.join(" "));
        if page % (n / 10) == 0 {
            lines += &envelope(&format!("copy{page}"), &words.join(" "));
        }
        for word in words.into_iter().collect::<BTreeSet<_>>() {
            *exact.entry(word).or_insert(0) += 1;
        }
    }
    (lines, exact)
}

/// The lexicon of a store that has seen `pages`, and what the command says of it.
fn lexicon(pages: &str, environment: &[(&str, &str)]) -> (Lexicon, Value) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("pages.jsonl"), pages).unwrap();
    let with = |arguments: &[&str]| {
        let mut command = seamripper(folder.path(), arguments);
        command.envs(environment.iter().copied());
        command
    };
    with(&["scan", "pages.jsonl", "-q", "-o", "verdicts.jsonl", "--store", "seen.store"]).assert().code(0);
    let built = lines(&mut with(&["lexicon", "build", "--store", "seen.store", "-o", "my.lexicon"]), 0).remove(0);
    let lexicon = Lexicon::from_bytes(&std::fs::read(folder.path().join("my.lexicon")).unwrap()).unwrap();
    let refused = with(&["lexicon", "build", "--store", "seen.store", "--kind", "mail", "-o", "x"]).output().unwrap();
    let stderr = String::from_utf8(refused.stderr).unwrap();
    assert!(refused.status.code() == Some(1) && stderr.contains("has 0 mails"), "{stderr}");
    (lexicon, built)
}

#[test]
fn a_lexicon_of_a_store_has_the_exact_counts_while_there_is_room() {
    let (pages, exact) = counted_pages(300, 3000.0);
    let (lexicon, built) = lexicon(&pages, &[("SEAMRIPPER_STORE__SPELLED_ONE_IN", "1")]);
    assert_eq!((lexicon.about().n_documents, &built["counted"]["df_error_max"]), (300, &0.into()));
    let found: HashMap<String, u32> = lexicon.terms().map(|(term, df)| (term.to_owned(), df)).collect();
    let expected: HashMap<String, u32> =
        exact.iter().filter(|(_, df)| **df >= 2).map(|(w, df)| (w.clone(), *df)).collect();
    assert!(expected.len() > 1000);
    assert!(found == expected, "{} found, {} expected", found.len(), expected.len());

    // With the words of one page in eight spelled out, counts stay exact and only rare words are missing.
    let (lexicon, _) = self::lexicon(&pages, &[]);
    assert!(lexicon.terms().all(|(term, df)| expected[term] == df));
    let often = expected.iter().filter(|(_, df)| **df >= 40);
    assert!(
        often.clone().count() > 20 && often.into_iter().all(|(word, _)| lexicon.document_frequency(word).is_some())
    );
}

/// A store that is far too small for the words: what is left is too low by the stated error at most, and never too high.
#[test]
fn a_lexicon_of_a_full_store_states_its_error() {
    let (pages, exact) = counted_pages(600, 20000.0);
    let environment = [("SEAMRIPPER_STORE__SPELLED_ONE_IN", "1"), ("SEAMRIPPER_STORE__MEMORY", "6000000")];
    let (lexicon, built) = lexicon(&pages, &environment);
    let error_max = u32::try_from(built["counted"]["df_error_max"].as_u64().unwrap()).unwrap();
    assert!(error_max > 0, "{built}");
    let (mut n_exact, mut n_all, mut common) = (0, 0, (0, 0));
    for (term, df) in lexicon.terms() {
        let truth = exact[term];
        assert!(df <= truth && truth <= df + error_max, "{term}: {df} of {truth}, error {error_max}");
        n_all += 1;
        n_exact += u32::from(df == truth);
        if truth >= 20 {
            common = (common.0 + truth - df, common.1 + truth);
        }
    }
    assert!(n_all > 500 && 3 * n_exact > n_all, "{n_exact} of {n_all} exact, error {error_max}");
    // The words that a lexicon is for are hardly touched: 139 of 14,906 were not counted.
    assert!(50 * common.0 < common.1, "{} of {} are missing", common.0, common.1);
    let often = exact.iter().filter(|(_, df)| **df > error_max);
    assert!(
        often.clone().count() > 100 && often.into_iter().all(|(word, _)| lexicon.document_frequency(word).is_some())
    );
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
fn nothing_that_is_read_is_written_over() {
    let folder = tempfile::tempdir().unwrap();
    three_pages(folder.path());
    let before = std::fs::read(folder.path().join("pages.jsonl")).unwrap();
    for arguments in [
        &["scan", "pages.jsonl", "-o", "./pages.jsonl"][..],
        &["scan", "pages.jsonl", "--clusters", "pages.jsonl"],
        &["scan", "pages.jsonl", "--report", "x", "-o", "x"],
        &["scan", "pages.jsonl", "--store", "x", "-o", "x"],
        &["scan", "pages.jsonl", "-o", "linked.jsonl"],
        &["scan", "pages.jsonl", "-c", "my.toml", "-o", "my.toml"],
        &["scan", "pages.jsonl", "--store", "x", "-o", ".x.lock"],
        &["scan", "pages.jsonl", "--store", "x", "--report", ".x.new"],
    ] {
        std::fs::write(folder.path().join("my.toml"), "").unwrap();
        let linked = folder.path().join("linked.jsonl");
        if !linked.exists() {
            std::fs::hard_link(folder.path().join("pages.jsonl"), linked).unwrap();
        }
        let said = refusal(folder.path(), arguments, 2);
        assert!(said.contains("are one file"), "{said}");
    }
    let open = || std::fs::OpenOptions::new().read(true).append(true).open(folder.path().join("pages.jsonl")).unwrap();
    for arguments in [&["scan", "-"][..], &["scan", "-", "-o", "pages.jsonl"]] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_seamripper"));
        let output = command.args(arguments).current_dir(folder.path()).stdin(open()).stdout(open()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains("are one file"), "{said}");
    }
    assert_eq!(std::fs::read(folder.path().join("pages.jsonl")).unwrap(), before);
    assert!(refusal(folder.path(), &["scan", "-", "-"], 2).contains("standard input (-) is an input twice"));
}

/// As `inetd` and `socat` start a command.
#[cfg(unix)]
#[test]
fn one_socket_can_be_read_and_written() {
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;
    let folder = tempfile::tempdir().unwrap();
    three_pages(folder.path());
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_seamripper"));
    command.args(["scan", "-"]).env(MEMORY.0, MEMORY.1).stdin(OwnedFd::from(theirs.try_clone().unwrap()));
    let child = command.stdout(OwnedFd::from(theirs)).stderr(Stdio::piped()).spawn().unwrap();
    // It holds the other end.
    drop(command);
    ours.write_all(&std::fs::read(folder.path().join("pages.jsonl")).unwrap()).unwrap();
    ours.shutdown(std::net::Shutdown::Write).unwrap();
    let mut verdicts = String::new();
    ours.read_to_string(&mut verdicts).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(parsed(&verdicts).len(), 3);
}

/// It would judge its own verdicts, and these again, until the disk is full.
#[test]
fn what_is_written_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("pages");
    std::fs::create_dir(&pages).unwrap();
    three_pages(&pages);
    for arguments in [&["-o", "pages/verdicts.jsonl"][..], &["--report", "pages/deep.html", "-o", "elsewhere.jsonl"]] {
        let said = refusal(folder.path(), &[&["scan", "pages"], arguments].concat(), 2);
        assert!(said.contains("lies in a folder that is read") && said.contains("write it elsewhere"), "{said}");
    }
    let redirected = std::fs::File::create(pages.join("verdicts.jsonl")).unwrap();
    let status = std::process::Command::new(env!("CARGO_BIN_EXE_seamripper"))
        .args(["scan", "pages"])
        .current_dir(folder.path())
        .stdout(redirected)
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(2));
    assert_eq!(std::fs::read_dir(&pages).unwrap().count(), 2, "nothing else was made");
}

/// Neither the store nor what lies beside it while a scan has it.
#[test]
fn a_store_among_the_pages_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("pages");
    std::fs::create_dir(&pages).unwrap();
    three_pages(&pages);
    for _ in 0..2 {
        let scan = ["scan", "pages", "--store", "pages/x.store"];
        let verdicts = lines(&mut seamripper(folder.path(), &scan), 0);
        assert!(verdicts.iter().all(|verdict| verdict["id"].as_str().unwrap().starts_with('p')), "{verdicts:?}");
        assert_eq!(verdicts.len(), 3);
    }
    assert_eq!(std::fs::read_dir(&pages).unwrap().count(), 2, "the pages and the store");
}

/// The last source of a quilt comes in a run after that in which the quilt was counted.
#[test]
fn a_revision_of_what_an_earlier_run_counted_is_no_document() {
    let folder = tempfile::tempdir().unwrap();
    let page = |name: &str, text: &str| {
        let url = format!("http://{name}.example/");
        serde_json::json!({"id": url, "url": url, "text": text}).to_string() + "\n"
    };
    let sentence = |article: u64, number: u64| unlike(1000 * (article + 1) + number);
    let text = |article: u64, numbers: std::ops::Range<u64>| -> String {
        numbers.map(|number| sentence(article, number)).collect::<Vec<_>>().join(" ")
    };
    let quilt: String = (0..4).map(|article| text(article, 0..2) + " ").collect();
    let sources: String = (0..3).map(|article| page(&format!("source{article}"), &text(article, 0..4))).collect();
    // A file that is written anew each day.
    for (contents, summary) in [
        (page("quilt", &quilt) + &sources, "4 documents: 0 mirrors, 0 quilts, 0 templates, 4 original"),
        (
            page("empty", "word") + &page("source3", &text(3, 0..4)),
            "2 documents: 0 mirrors, 0 quilts, 0 templates, 1 original, 1 insufficient, 0 rejected; 1 revision",
        ),
    ] {
        std::fs::write(folder.path().join("today.jsonl"), contents).unwrap();
        let scan = ["scan", "today.jsonl", "--store", "seen.store", "-o", "verdicts.jsonl"];
        let output = seamripper(folder.path(), &scan).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && said.contains(summary), "{said}");
    }
    let verdicts = std::fs::read_to_string(folder.path().join("verdicts.jsonl")).unwrap();
    assert!(verdicts.contains(r#""classes":["quilt"]"#), "{verdicts}");
}

#[test]
fn two_scans_do_not_share_a_store() {
    let folder = tempfile::tempdir().unwrap();
    three_pages(folder.path());
    let lock = std::fs::File::create(folder.path().join(".seen.store.lock")).unwrap();
    lock.lock().unwrap();
    let said = refusal(folder.path(), &["scan", "pages.jsonl", "--store", "seen.store"], 1);
    assert!(said.contains("in use by another scan"), "{said}");
    lock.unlock().unwrap();
    lines(&mut seamripper(folder.path(), &["scan", "pages.jsonl", "--store", "seen.store"]), 0);
    assert!(folder.path().join("seen.store").exists() && !folder.path().join(".seen.store.lock").exists());
}

#[test]
fn a_store_that_is_none_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    three_pages(folder.path());
    for (store, expected) in [("/dev/zero", "no regular file"), (".", ""), ("pages2", "not a saved store")] {
        std::fs::write(folder.path().join("pages2"), "some other file").unwrap();
        let said = refusal(folder.path(), &["scan", "pages.jsonl", "--store", store], 1);
        assert!(said.contains(expected), "{said}");
    }
    assert_eq!(std::fs::read(folder.path().join("pages2")).unwrap(), b"some other file");
}

/// Nobody writes into it: who opened it would wait for ever.
#[cfg(unix)]
#[test]
fn a_store_that_is_a_named_pipe_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    three_pages(folder.path());
    let made = std::process::Command::new("mkfifo").arg(folder.path().join("pipe")).status().unwrap();
    assert!(made.success());
    let said = refusal(folder.path(), &["scan", "pages.jsonl", "--store", "pipe"], 1);
    assert!(said.contains("no regular file"), "{said}");
}

#[cfg(unix)]
#[test]
fn a_store_is_made_where_a_link_leads() {
    let folder = tempfile::tempdir().unwrap();
    three_pages(folder.path());
    std::fs::create_dir(folder.path().join("kept")).unwrap();
    std::os::unix::fs::symlink("kept/seen.store", folder.path().join("link")).unwrap();
    for _ in 0..2 {
        lines(&mut seamripper(folder.path(), &["scan", "pages.jsonl", "--store", "link"]), 0);
        assert!(folder.path().join("link").is_symlink(), "a link stays a link");
        let names: Vec<_> =
            std::fs::read_dir(folder.path().join("kept")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["seen.store"]);
    }
}

#[cfg(unix)]
#[test]
fn a_store_keeps_its_permissions() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    three_pages(folder.path());
    let store = folder.path().join("seen.store");
    let mode = || std::fs::metadata(&store).unwrap().permissions().mode() & 0o777;
    let scan = || lines(&mut seamripper(folder.path(), &["scan", "pages.jsonl", "--store", "seen.store"]), 0);
    scan();
    assert_eq!(mode(), 0o600);
    std::fs::set_permissions(&store, std::fs::Permissions::from_mode(0o640)).unwrap();
    scan();
    assert_eq!(mode(), 0o640);
}

/// A limit on the size of files stands for a full disk.
#[cfg(unix)]
#[test]
fn what_was_half_written_goes() {
    let folder = tempfile::tempdir().unwrap();
    three_pages(folder.path());
    let limited = "trap '' XFSZ; ulimit -f 8; exec \"$0\" scan pages.jsonl --store seen.store --quiet";
    let output = std::process::Command::new("sh")
        .current_dir(folder.path())
        .args(["-c", limited])
        .arg(assert_cmd::cargo::cargo_bin("seamripper"))
        .env(MEMORY.0, MEMORY.1)
        .output()
        .unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(1) && stderr.contains("seen.store cannot be written"), "{stderr}");
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["pages.jsonl"], "{stderr}");
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

/// `| head -1` is no failure, and what was seen until then is kept.
#[test]
fn a_closed_pipe_ends_the_scan_and_keeps_the_store() {
    let folder = tempfile::tempdir().unwrap();
    let pages: String = (0..3000).map(|n| envelope(&format!("p{n}"), &unlike(n))).collect();
    std::fs::write(folder.path().join("pages.jsonl"), pages).unwrap();
    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin("seamripper"))
        .current_dir(folder.path())
        .args(["scan", "pages.jsonl", "--store", "seen.store"])
        .env(MEMORY.0, MEMORY.1)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    let ended = child.wait_with_output().unwrap();
    assert!(ended.status.success() && ended.stderr.is_empty(), "{}", String::from_utf8_lossy(&ended.stderr));
    assert!(folder.path().join("seen.store").exists());
}

#[test]
fn labels_without_end_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("labels.jsonl");
    std::fs::File::create(&path).unwrap().set_len(300 << 20).unwrap();
    let demo = concat!(env!("CARGO_MANIFEST_DIR"), "/demo/pages");
    let assert =
        Command::cargo_bin("seamripper").unwrap().args(["scan", "--labels"]).arg(&path).arg(demo).assert().code(1);
    let stderr = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
    assert!(stderr.contains("more than 268435456 bytes"), "{stderr}");
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
