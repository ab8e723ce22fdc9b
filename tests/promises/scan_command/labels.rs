//! Labels are carried by the verdicts that match them, with the path by which they came.

use super::{corpus, lines, seamripper};
use crate::schemas::Schema;
use assert_cmd::Command;
use serde_json::{Value, json};

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
