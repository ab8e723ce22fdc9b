//! Labels over HTTP: put on groups, taken back, asked for; and documents that are forgotten.

use super::{Served, envelope, page, served};
use crate::label_command::{campaign, mailed};
use crate::run::records;
use crate::schemas::Schema;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const JSON: &str = "application/json";
const NDJSON: &str = "application/x-ndjson";

/// The labels of the verdict on one more mail of the campaign.
fn labels_of(served: &Served, number: usize) -> Vec<String> {
    let verdict = mailed(&served.ground, &format!("m{number}"), campaign(number), &[]);
    verdict.labels.iter().map(|label| format!("{} {:?} {}", label.label, label.via, label.of).to_lowercase()).collect()
}

fn post(served: &Served, body: &Value) -> super::Answer {
    served.post("/v1/labels", JSON, &[], body.to_string().as_bytes())
}

/// A batch that was begun before the label does not take in what is sent after it.
#[test]
fn a_label_holds_for_what_is_sent_after_it() {
    let served = served(|settings| {
        settings.batch.wait_ms = 1000;
        // One is taken in at a time.
        settings.batch.labels_max = 1.try_into().unwrap();
    });
    assert!(labels_of(&served, 0).is_empty());
    assert_eq!(served.post("/v1/pages", JSON, &[], envelope(0).as_bytes()).status, 200, "it begins a batch");
    for label in ["spam", "scam", "junk"] {
        assert_eq!(post(&served, &json!({"target": {"document": "m0"}, "label": label, "by": "ada"})).status, 200);
    }
    assert_eq!(labels_of(&served, 1), ["junk mirror m0", "scam mirror m0", "spam mirror m0"]);
}

#[test]
fn labels_come_and_go_over_http() {
    let served = served(|_| ());
    let (labelled, labels) = (Schema::named("labelled"), Schema::named("labels"));
    assert!(labels_of(&served, 0).is_empty() && labels_of(&served, 1).is_empty());
    let answer =
        post(&served, &json!({"target": {"document": "m1"}, "label": "spam", "by": "ada", "why": "complaints"}));
    let told = answer.json();
    labelled.check("an answer", &told);
    assert_eq!(
        (answer.status, &told["target"]["document"], &told["named"], &told["known"]),
        (200, &json!("m0"), &json!("m1"), &json!(true))
    );
    assert_eq!(labels_of(&served, 2), ["spam mirror m0"]);
    post(&served, &json!({"target": {"document": "m2"}, "label": "spam", "by": "bob"}));
    let asked = served.get("/v1/labels?target=document%3Am2").json();
    labels.check("labels", &asked);
    let authors = |list: &Value| {
        list.as_array().unwrap().iter().map(|one| one["by"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(
        (authors(&asked["labels"]), authors(&asked["history"])),
        (vec!["ada".into(), "bob".into()], vec!["ada".into(), "bob".into()])
    );
    // One's own is taken back, then everybody's; by a query and by a body.
    let undone = served.delete("/v1/labels?target=document:m2&label=spam&by=ada&why=mistaken", "");
    labelled.check("an answer", &undone.json());
    assert_eq!((undone.status, undone.json()["n_accepted"].as_u64()), (200, Some(1)), "{}", undone.body);
    assert_eq!(labels_of(&served, 3), ["spam mirror m0"], "bob says so too");
    let body = json!({"target": {"document": "m3"}, "label": "spam", "by": "ada"});
    served.delete("/v1/labels", &body.to_string()).problem(409, "others");
    let mut all = body.clone();
    all["everyone"] = true.into();
    let undone = served.delete("/v1/labels", &all.to_string()).json();
    assert_eq!(
        (&undone["labels"][0]["by"], &undone["labels"][0]["undone_by"]),
        (&json!("bob"), &json!("ada")),
        "{undone}"
    );
    assert!(labels_of(&served, 4).is_empty());
    let again = served.delete("/v1/labels", &all.to_string());
    assert_eq!(
        (again.status, again.json()["n_accepted"].as_u64()),
        (200, Some(0)),
        "there is nothing left to take back"
    );
    let asked = served.get("/v1/labels?target=document:m1&label=spam").json();
    assert_eq!(
        (asked["labels"].as_array().unwrap().len(), asked["history"].as_array().unwrap().len()),
        (0, 4),
        "{asked}"
    );
    assert_eq!(asked["history"][2]["why"], "mistaken");
    // Nobody knows this one yet.
    let unknown = post(&served, &json!({"target": {"document": "to come"}, "label": "watch", "by": "ada"})).json();
    assert_eq!((&unknown["target"]["document"], &unknown["known"]), (&json!("to come"), &json!(false)));
    assert_eq!(served.get("/v1/labels").json()["labels"][0]["label"], "watch");
    served.counts("seamripper_http_accepted_total{topic=\"labels\"} 5");
}

#[test]
fn a_wrong_label_spoils_no_other() {
    let served = served(|settings| settings.http.labels_bytes_max = 2000);
    let lines = [
        r#"{"target": {"domain": "a.example"}, "label": "allow", "by": "ada"}"#,
        "",
        r#"{"target": {"domain": "www.a.example"}, "label": "allow ", "by": "ada"}"#,
        "{",
        r#"{"target": {"cluster": "t-0123456789abcdef"}, "label": "farm", "by": "ada", "why": "casinos", "at": "2026-01-31T12:00:00Z"}"#,
    ];
    let answer = served.post("/v1/labels", NDJSON, &[], lines.join("\n").as_bytes());
    let told = answer.json();
    Schema::named("labelled").check("an answer", &told);
    assert_eq!(
        (answer.status, told["n_accepted"].as_u64(), told["n_refused"].as_u64()),
        (207, Some(2), Some(2)),
        "{told}"
    );
    let outcomes: BTreeMap<u64, bool> = told["labels"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["line"].as_u64().unwrap(), one["offset"].is_u64()))
        .collect();
    assert_eq!(outcomes, BTreeMap::from([(1, true), (3, false), (4, false), (5, true)]));
    let detail = told["labels"][1]["detail"].as_str().unwrap();
    assert!(detail.contains("a.example") && detail.contains("white space"), "{detail}");
    assert_eq!(records(&*served.ground.open(), "labels").len(), 2);
    let by = |by: &str| json!({"target": {"domain": "a.example"}, "label": "x", "by": by});
    post(&served, &by("")).problem(422, "label");
    post(&served, &json!({"target": {"domain": "a.example"}, "label": "x"})).problem(422, "label");
    served.post("/v1/labels", "text/plain", &[], b"x").problem(415, "content_type");
    served.get("/v1/labels?target=a.example").problem(400, "query");
    served.get("/v1/labels?targets=document:a").problem(400, "query");
    served.delete("/v1/labels?target=domain:a.example", "").problem(400, "query");
    served.delete("/v1/labels", "{}").problem(422, "label");
    let many = "{}\n".repeat(1001);
    served.post("/v1/labels", NDJSON, &[], many.as_bytes()).problem(413, "too_many_lines");
    let unsigned = ureq::Agent::config_builder().http_status_as_error(false).build();
    let unsigned =
        ureq::Agent::from(unsigned).delete(served.url("/v1/labels?target=domain:a.example&label=allow&by=ada"));
    assert_eq!(unsigned.call().unwrap().status(), 401);
    // Only the newest are held; what was not is taken back all the same.
    let lines: String = (0..30).map(|n| format!("{}\n", by(&format!("author {n}")))).collect();
    assert_eq!(served.post("/v1/labels", NDJSON, &[], lines.as_bytes()).status, 200);
    let asked = served.get("/v1/labels?target=domain:a.example").json();
    Schema::named("labels").check("labels", &asked);
    let n_held = asked["labels"].as_array().unwrap().len();
    assert!((1..10).contains(&n_held) && asked["n_older"].as_u64() == Some(32 - n_held as u64), "{asked}");
    let undone = served.delete("/v1/labels?target=domain:a.example&label=allow&by=ada", "").json();
    assert_eq!((undone["n_accepted"].as_u64(), &undone["labels"][0]["undo"]), (Some(1), &json!(true)), "{undone}");
}

#[test]
fn a_document_is_forgotten() {
    let served = served(|_| ());
    let put = |url: &str| served.post("/v1/pages", "text/html", &[("url", url)], page(1).as_bytes());
    put("https://a.example/first");
    served.first(1);
    let body = json!({"forget": "https://a.example/first", "by": "ada", "why": "its author asked"}).to_string();
    let answer = served.post("/v1/forget", JSON, &[], body.as_bytes());
    assert_eq!((answer.status, &answer.json()["id"]), (200, &json!("https://a.example/first")));
    Schema::named("accepted").check("an answer", &answer.json());
    let record = records(&*served.ground.open(), "labels").pop().unwrap();
    Schema::named("forget").check("what stands on the topic", &serde_json::from_slice(&record.value.unwrap()).unwrap());
    put("https://b.example/copy");
    let copy = served.first(2).pop().unwrap();
    assert_eq!((&copy["id"], &copy["mirror"]), (&json!("https://b.example/copy"), &Value::Null), "{copy}");
    served.post("/v1/forget", JSON, &[], b"{}").problem(422, "forget");
    served.get("/v1/forget").problem(405, "method");
}
