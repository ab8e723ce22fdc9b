//! `seamripper tail` prints verdicts as they come, for people and for programs.

use crate::http::{PATIENCE, envelope, page, served};
use crate::run::command;
use crate::schemas::Schema;
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What a command prints; it must end well.
fn printed(mut command: Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn verdicts_are_told_in_lines_and_classes_are_chosen() {
    let served = served(|_| ());
    let post = |url: &str, body: &str| served.post("/v1/pages", "text/html", &[("url", url)], body.as_bytes());
    post("https://a.example/first", &page(1));
    served.first(1);
    post("https://b.example/copy", &page(1));
    post("https://c.example/other", &page(2));
    served.post("/v1/emails", "message/rfc822", &[("id", "bro\u{202e}ken")], b"\xff\xff");
    served.first(4);
    let tail = |arguments: &[&str]| {
        let all = [&["tail", "--from", "beginning", "--until-idle", "0.5"], arguments].concat();
        printed(command(&served.ground, &all, None))
    };
    let text = tail(&[]);
    assert_eq!(text.lines().count(), 4, "{text}");
    assert!(!text.contains('\u{1b}'), "no colours in a pipe: {text}");
    let line = |id: &str| text.lines().find(|line| line.contains(id)).unwrap_or_else(|| panic!("{id}: {text}"));
    assert!(
        line("b.example/copy").contains("mirror")
            && line("b.example/copy")
                .contains("copy of https://a.example/first (100 % alike, 2 documents on 2 domains)"),
        "{text}"
    );
    assert!(line("c.example/other").contains("original"), "{text}");
    assert!(
        line("bro").contains("rejected")
            && line("bro").contains("bro\\u{202e}ken")
            && line("bro").contains("not_a_mail"),
        "{text}"
    );
    let chosen = tail(&["--class", "mirror,rejected"]);
    assert_eq!(chosen.lines().count(), 2, "{chosen}");
    assert_eq!(tail(&["--class", "quilt"]), "");
    assert_eq!(tail(&["--class", "original", "--class", "mirror"]).lines().count(), 3);
    assert_eq!(tail(&["--count", "2"]).lines().count(), 2);
    let refused = command(&served.ground, &["tail", "--class", "quilts"], None).output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    let refused = command(&served.ground, &["tail", "--from", "nowhere"], None).output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("this is no cursor"));
}

#[test]
fn json_lines_go_on_from_their_cursors() {
    let served = served(|_| ());
    let n = 30;
    let lines: String = (0..n).map(|number| envelope(number) + "\n").collect();
    served.post("/v1/pages", "application/x-ndjson", &[], lines.as_bytes());
    served.first(n);
    let tail = |arguments: &[&str]| -> Vec<Value> {
        let text = printed(command(&served.ground, &[&["tail", "--json"], arguments].concat(), None));
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let schema = Schema::named("line");
    let (mut from, mut seen) = ("beginning".to_owned(), Vec::new());
    while seen.len() < n {
        let some = tail(&["--from", &from, "--count", "11", "--until-idle", "1"]);
        assert!(!some.is_empty());
        some.iter().for_each(|line| schema.check("a line", line));
        from = some.last().unwrap()["cursor"].as_str().unwrap().to_owned();
        seen.extend(some.into_iter().map(|line| line["id"].as_str().unwrap().to_owned()));
    }
    assert_eq!((seen.len(), seen.iter().collect::<BTreeSet<_>>().len()), (n, n));
    assert_eq!(tail(&["--from", &from, "--until-idle", "0.2"]).len(), 0);
    // The cursors are those of the HTTP side.
    assert_eq!(served.verdicts(&format!("from={from}&wait=0")).len(), 0);
}

#[test]
fn it_follows_a_run_until_it_is_interrupted() {
    let served = served(|_| ());
    let mut tailing = command(&served.ground, &["tail", "--from", "beginning"], None);
    let mut child = tailing.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for number in 0..3 {
        served.post("/v1/pages", "application/json", &[], envelope(number).as_bytes());
        let begun = Instant::now();
        let line = lines.next().unwrap().unwrap();
        assert!(line.contains(&format!("https://site{number}.example/{number}")), "{line}");
        assert!(begun.elapsed() < PATIENCE);
    }
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        assert!(begun.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(10));
    };
    assert_eq!(status.code(), Some(0), "Ctrl-C is how it ends");
    assert!(lines.next().is_none());
}

/// A place that is none is wrong usage, said before anything else, and shown as what it is.
#[test]
fn a_place_that_is_none_is_refused() {
    let ground = crate::http::ground(|_| ());
    let foreign = seamripper::bus::cursor::written("pages", &Default::default());
    for (from, words) in [("garbage", "no cursor"), ("\u{1b}[31m\n", "no cursor"), (&*foreign, "another topic")] {
        let output = command(&ground, &["tail", "--from", from], None).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && stderr.contains(words), "{:?}: {stderr:?}", output.status);
        assert!(stderr.contains("--from") && !stderr.contains("[31m\n"), "{stderr:?}");
    }
}
