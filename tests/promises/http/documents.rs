//! Documents that are sent over HTTP.

use super::{envelope, page, served};
use crate::run::records;
use crate::schemas::Schema;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::time::Duration;

const JSON: &str = "application/json";
const NDJSON: &str = "application/x-ndjson";
const MAIL: &[u8] = b"From: Anne <anne@sender.example>\r\nSubject: an invitation\r\n\r\n\
    Dear Bob, all of us would be glad to see you on the terrace this evening, when the lamps are lit and supper is ready.\r\n";

fn position(told: &Value) -> (String, i64, i64) {
    let number = |name: &str| told[name].as_i64().unwrap_or_else(|| panic!("{told}"));
    (told["topic"].as_str().unwrap().to_owned(), number("partition"), number("offset"))
}

#[test]
fn what_was_answered_is_durable() {
    let mut served = served(|_| ());
    let accepted = Schema::named("accepted");
    let answers = [
        served.post("/v1/pages", JSON, &[], envelope(1).as_bytes()),
        served.post(
            "/v1/pages",
            "text/html",
            &[("url", "https://b.example/raw"), ("ip", "192.0.2.9")],
            page(2).as_bytes(),
        ),
        served.post("/v1/pages", NDJSON, &[], format!("{}\n\n{}\n", envelope(3), envelope(4)).as_bytes()),
        served.post("/v1/emails", "message/rfc822", &[("id", "queue/1"), ("rcpt", "bob@c.example")], MAIL),
    ];
    served.process.kill();
    let bus = served.ground.open();
    let all: Vec<_> = ["pages", "emails"].iter().flat_map(|topic| records(&*bus, topic)).collect();
    let mut n_told = 0;
    for answer in &answers {
        let json = answer.json();
        assert_eq!(answer.status, 200, "{json}");
        accepted.check("an answer", &json);
        let documents = json["documents"].as_array().cloned().unwrap_or_else(|| vec![json.clone()]);
        for told in &documents {
            n_told += 1;
            let (topic, partition, offset) = position(told);
            let record = all.iter().find(|record| {
                (&*record.partition.topic, i64::from(record.partition.number), record.offset)
                    == (&*topic, partition, offset)
            });
            assert_eq!(record.unwrap().key.as_deref(), told["id"].as_str().map(str::as_bytes), "{told}");
        }
    }
    assert_eq!((n_told, all.len()), (5, 5));
}

#[test]
fn every_form_is_judged() {
    let served = served(|_| ());
    served.post("/v1/pages", JSON, &[], envelope(1).as_bytes());
    served.post("/v1/pages", "text/html; charset=utf-8", &[("url", "https://B.example:443/copy")], page(1).as_bytes());
    served.post("/v1/pages", "text/plain", &[("id", "a text")], format!("{{ {}", page(3)).as_bytes());
    let mail = json!({"id": "envelope", "raw": base64(MAIL), "mail_from": "anne@sender.example"}).to_string();
    served.post("/v1/emails", JSON, &[], mail.as_bytes());
    served.post("/v1/emails", "message/rfc822", &[("id", "raw")], MAIL);
    served.post(
        "/v1/emails",
        "message/rfc822",
        &[],
        b"Subject: nobody named me\r\n\r\nso I am known by a digest of my bytes, which are these few\r\n",
    );
    let verdicts = served.first(6);
    let of =
        |id: &str| verdicts.iter().find(|verdict| verdict["id"] == id).unwrap_or_else(|| panic!("{id}: {verdicts:?}"));
    let (first, copy) = (of("https://site1.example/1"), of("https://b.example/copy"));
    // They may lie in two partitions, whose order is not given.
    let pair = [&first["mirror"]["of"], &copy["mirror"]["of"]];
    assert!(pair == [&Value::Null, &first["id"]] || pair == [&copy["id"], &Value::Null], "{pair:?}");
    assert_eq!(of("a text")["outcome"], "judged");
    assert_eq!(of("envelope")["kind"], "email");
    assert!(!of("envelope")["mirror"].is_null() || !of("raw")["mirror"].is_null());
    assert!(verdicts.iter().any(|verdict| verdict["id"].as_str().unwrap().starts_with("m-")));
    served.counts("seamripper_http_accepted_total{topic=\"pages\"} 3");
}

#[test]
fn a_malformed_line_spoils_no_other() {
    let served = served(|_| ());
    let lines = [
        &*envelope(1),
        "{\"html\": 7}",
        "",
        "not JSON",
        &envelope(2),
        r#"{"url": "http://c.example/", "body": "***"}"#,
    ];
    let answer = served.post("/v1/pages", NDJSON, &[], lines.join("\n").as_bytes());
    let json = answer.json();
    assert_eq!(
        (answer.status, json["n_accepted"].as_u64(), json["n_refused"].as_u64()),
        (207, Some(2), Some(3)),
        "{json}"
    );
    Schema::named("accepted").check("an answer", &json);
    let told: Vec<(u64, &str)> = json["documents"]
        .as_array()
        .unwrap()
        .iter()
        .map(|told| (told["line"].as_u64().unwrap(), told["reason"].as_str().unwrap_or("taken")))
        .collect();
    assert_eq!(told, [(1, "taken"), (2, "envelope"), (4, "envelope"), (5, "taken"), (6, "base64")]);
    assert!(json["documents"][1]["detail"].as_str().unwrap().contains("`html` must be a string"), "{json}");
    let all_bad = served.post("/v1/pages", NDJSON, &[], b"1\n2\n");
    assert_eq!((all_bad.status, all_bad.json()["n_refused"].as_u64()), (422, Some(2)));
    assert_eq!(served.post("/v1/pages", NDJSON, &[], b"").json()["n_accepted"], 0);
    served.first(2);
    assert_eq!(served.verdicts("from=beginning&wait=1").len(), 2, "nothing else went to the bus");
}

#[test]
fn a_retry_with_the_same_id_does_no_harm() {
    let served = served(|_| ());
    let body = json!({"id": "mine", "html": page(1)}).to_string();
    let send = |served: &super::Served, body: &str| served.post("/v1/pages", JSON, &[], body.as_bytes()).json();
    let first = send(&served, &body);
    assert!(first["repeated"].is_null(), "{first}");
    for _ in 0..3 {
        let again = send(&served, &body);
        assert_eq!((position(&again), &again["repeated"]), (position(&first), &json!(true)), "{again}");
    }
    // Another body under the same id is a new version, and the first again is one more.
    let changed = send(&served, &json!({"id": "mine", "html": page(2)}).to_string());
    assert_ne!(position(&changed), position(&first));
    let back = send(&served, &body);
    assert!(back["repeated"].is_null() && position(&back) != position(&first), "{back}");
    served.counts("seamripper_http_repeated_total{topic=\"pages\"} 3");
    let verdicts = served.first(3);
    assert_eq!(
        verdicts.iter().map(|verdict| verdict["recrawl"].as_str()).collect::<Vec<_>>(),
        [None, Some("changed"), Some("changed")]
    );
    // What one process has forgotten, the fold has not: the same version under its id is an unchanged recrawl.
    let served = served.restarted();
    let after = send(&served, &body);
    assert_ne!(position(&after), position(&back));
    let last = served.first(4).pop().unwrap();
    assert_eq!((&last["recrawl"], &last["mirror"]), (&json!("unchanged"), &Value::Null), "{last}");
}

#[test]
fn what_is_wrong_is_told() {
    let served = served(|_| ());
    served.post("/v1/pages", JSON, &[], b"{").problem(422, "envelope");
    served.post("/v1/pages", JSON, &[], b"").problem(422, "envelope");
    served.post("/v1/emails", JSON, &[], br#"{"raw": "?"}"#).problem(422, "base64");
    served.post("/v1/pages", "application/x-www-form-urlencoded", &[], b"<p>").problem(415, "content_type");
    served.post("/v1/pages", "image/png", &[], b"<p>").problem(415, "content_type");
    served.post("/v1/pages", "text/html", &[("content-encoding", "gzip")], b"<p>").problem(415, "content_type");
    served.post("/v1/pages", "text/html", &[("ip", "here")], b"<p>").problem(422, "headers");
    served.post("/v1/pages", "text/html", &[("fetched-at", "today")], b"<p>").problem(422, "headers");
    served.post("/v1/nothing", JSON, &[], b"{}").problem(404, "unknown_path");
    served.post("/v1/verdicts", JSON, &[], b"{}").problem(405, "method");
    served.get("/v1/pages").problem(405, "method");
    served.get("/nowhere").problem(404, "unknown_path");
}

/// Asked to stop while a body is on its way, the run takes it, answers, and ends.
#[test]
fn a_request_that_has_begun_is_answered() {
    let mut served = served(|_| ());
    let body = envelope(1);
    let mut stream = served.connected();
    let head = format!(
        "POST /v1/pages HTTP/1.1\r\nhost: localhost\r\nauthorization: {}\r\ncontent-type: {JSON}\r\ncontent-length: {}\r\n\r\n",
        served.bearer(),
        body.len()
    );
    let (begin, end) = body.as_bytes().split_at(50);
    stream.write_all(&[head.as_bytes(), begin].concat()).unwrap();
    std::thread::sleep(Duration::from_millis(100));
    served.process.signal("TERM");
    served.process.says("stopping");
    std::thread::sleep(Duration::from_millis(300));
    stream.write_all(end).unwrap();
    let mut said = String::new();
    stream.read_to_string(&mut said).unwrap();
    assert!(said.starts_with("HTTP/1.1 200") && said.contains("\"offset\":0"), "{said}");
    assert!(served.process.ended().success(), "{}", served.process.log());
    assert_eq!(records(&*served.ground.open(), "pages").len(), 1);
}

pub(super) fn base64(bytes: &[u8]) -> String {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}
