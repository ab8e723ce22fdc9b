//! The store between runs: a second run knows the first, and a file that is no store, or another's, is refused and kept.

use super::{MEMORY, corpus, envelope, lines, refusal, seamripper, three_pages, unlike};
use assert_cmd::Command;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

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
