//! `POST /v1/check`: what is said of one document, now.

use super::{Answer, PATIENCE, Served, agent, answer, ground, listening, page, received, served};
use crate::bus::Ground;
use crate::run::{Process, audited, hasty, verdicts};
use crate::schemas::Schema;
use seamripper::bus;
use seamripper::config::Mode;
use seamripper::http::{Http, Phase, Role, State};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

const HTML: &str = "text/html";
const MAIL: &str = "message/rfc822";

/// Asks with the token, where there is one.
fn ask(
    address: SocketAddr,
    token: Option<&str>,
    query: &str,
    media: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Answer {
    let mut request = agent().post(format!("http://{address}/v1/check?{query}")).content_type(media);
    if let Some(token) = token {
        request = request.header("authorization", token);
    }
    answer(headers.iter().fold(request, |request, (name, value)| request.header(*name, *value)).send(body))
}

/// The answer of a check that was served.
fn checked(answer: &Answer, status: u16) -> Value {
    let json = answer.json();
    assert_eq!(answer.status, status, "{json}");
    Schema::named("check").check("an answer", &json);
    if status == 200 {
        Schema::named("verdict").check("its verdict", &json["verdict"]);
    }
    json
}

fn probe(served: &Served, url: &str, number: usize) -> Value {
    checked(&ask(served.address, None, "", HTML, &[("url", url)], page(number).as_bytes()), 200)
}

fn learn(served: &Served, query: &str, url: &str, number: usize) -> Value {
    let query = format!("learn=true&timeout_ms=30000&{query}");
    let bearer = served.bearer();
    checked(&ask(served.address, Some(&bearer), &query, HTML, &[("url", url)], page(number).as_bytes()), 200)
}

/// A verdict without its record.
fn placeless(checked: &Value) -> Value {
    let mut verdict = checked["verdict"].clone();
    verdict.as_object_mut().unwrap().remove("source");
    verdict
}

/// The verdict that is published of a position.
fn published(ground: &Ground, position: &Value) -> Value {
    let id = format!("{}/{}/{}/0", position["topic"].as_str().unwrap(), position["partition"], position["offset"]);
    let all = verdicts(&*ground.open(), ground);
    serde_json::to_value(all.get(&id).unwrap_or_else(|| panic!("{id}: {:?}", all.keys()))).unwrap()
}

#[test]
fn a_probe_leaves_no_trace() {
    let mut served = served(|_| ());
    learn(&served, "wait=committed", "https://a.example/1", 1);
    learn(&served, "", "https://b.example/2", 2);
    let first = probe(&served, "https://c.example/copy", 1);
    assert_eq!(
        (&first["learned"], &first["provisional"], &first["mode"]),
        (&json!(false), &json!(false), &json!("filter"))
    );
    assert_eq!((&first["position"], &first["verdict"]["source"]["offset"]), (&Value::Null, &json!(-1)));
    let mirror = &first["verdict"]["mirror"];
    assert_eq!(
        (&mirror["of"], &mirror["size"], &mirror["domains"]),
        (&json!("https://a.example/1"), &json!(2), &json!(2))
    );
    for n in 0..5 {
        assert_eq!(placeless(&probe(&served, "https://c.example/copy", 1)), placeless(&first), "{n} times before");
        probe(&served, &format!("https://d{n}.example/"), 1);
        probe(&served, &format!("https://d{n}.example/"), 7);
    }
    // Had any of them been learnt, the copy would be the third, the document seven a mirror, and the same one a recrawl.
    let learnt = learn(&served, "", "https://c.example/copy", 1);
    assert_eq!(placeless(&learnt), placeless(&first));
    assert_eq!(learn(&served, "", "https://e.example/7", 7)["verdict"]["mirror"], Value::Null);
    let again = probe(&served, "https://c.example/copy", 1);
    assert_eq!((&again["verdict"]["recrawl"], &again["verdict"]["mirror"]["size"]), (&json!("unchanged"), &json!(2)));
    served.counts("seamripper_checks_total{learn=\"false\",outcome=\"judged\"} 17");
    served.process.signal("TERM");
    assert!(served.process.ended().success(), "{}", served.process.log());
    audited(&served.ground, 4);
}

#[test]
fn what_is_learnt_is_said_as_it_is_published() {
    learnt_as_published(served(|settings| settings.mode = Mode::Shadow));
}

/// The same story on Kafka.
#[test]
fn what_is_learnt_on_kafka_is_said_as_it_is_published() {
    let mut ground = hasty(crate::kafka::ground());
    ground.settings.http.enabled = true;
    ground.settings.http.listen = "127.0.0.1:0".parse().unwrap();
    ground.settings.mode = Mode::Shadow;
    let served = Served::start(ground);
    served.process.says("seat taken");
    learnt_as_published(served);
}

fn learnt_as_published(mut served: Served) {
    let mut said = Vec::new();
    for (number, wait) in ["wait=judged", "wait=committed", "wait=judged"].iter().enumerate() {
        let answer = learn(&served, wait, &format!("https://site{number}.example/"), 1);
        assert_eq!((&answer["learned"], &answer["mode"]), (&json!(true), &json!("shadow")));
        let (position, source) = (&answer["position"], &answer["verdict"]["source"]);
        for part in ["topic", "partition", "offset"] {
            assert_eq!(position[part], source[part], "{answer}");
        }
        if *wait == "wait=committed" {
            assert_eq!(answer["provisional"], false);
            assert_eq!(published(&served.ground, position), answer["verdict"], "it is durable when it is said to be");
        }
        said.push(answer);
    }
    assert_eq!(said[2]["verdict"]["mirror"]["size"], 3, "{}", said[2]);
    // A mail that cannot be read, and that nobody has named: nothing is published of it, and yet it is answered.
    let bearer = served.bearer();
    let broken = ask(served.address, Some(&bearer), "learn=true&timeout_ms=30000", MAIL, &[], b"\x00\x01");
    let broken = checked(&broken, 200);
    assert_eq!(
        (&broken["verdict"]["outcome"], &broken["verdict"]["reason"]),
        (&json!("rejected"), &json!("not_a_mail"))
    );
    let asked = checked(&ask(served.address, None, "", MAIL, &[], b"\x00\x01"), 200);
    assert_eq!(placeless(&asked), placeless(&broken));
    served.process.signal("TERM");
    assert!(served.process.ended().success(), "{}", served.process.log());
    for answer in &said {
        assert_eq!(published(&served.ground, &answer["position"]), answer["verdict"]);
    }
    audited(&served.ground, 3);
}

#[test]
fn a_standby_answers_too() {
    let served = served(|_| ());
    learn(&served, "wait=committed", "https://a.example/1", 1);
    let standby = Process::start(&served.ground, &["run"], None);
    let address = listening(&standby);
    let copy = |query: &str, token: Option<&str>| {
        ask(address, token, query, HTML, &[("url", "https://b.example/copy")], page(1).as_bytes())
    };
    // It is restored, follows, and then knows what the holder knows.
    let begun = Instant::now();
    let probed = loop {
        let answer = copy("", None);
        match answer.status {
            200 if !answer.json()["verdict"]["mirror"].is_null() => break checked(&answer, 200),
            200 => {}
            _ => answer.problem(503, "restoring"),
        }
        assert!(begun.elapsed() < PATIENCE, "{}", standby.log());
    };
    let bearer = served.bearer();
    let learnt = checked(&copy("learn=true&timeout_ms=30000", Some(&bearer)), 200);
    assert_eq!(
        (&learnt["learned"], &learnt["provisional"]),
        (&json!(true), &json!(false)),
        "what it follows is committed"
    );
    assert_eq!(placeless(&learnt), placeless(&probed));
    assert_eq!(published(&served.ground, &learnt["position"]), learnt["verdict"]);
    assert!(!standby.log().contains("seat taken"), "{}", standby.log());
}

#[test]
fn what_takes_too_long_is_said() {
    let served = served(|settings| settings.batch.wait_ms = 3000);
    let bearer = served.bearer();
    let learn = |query: &str| ask(served.address, Some(&bearer), query, HTML, &[("id", "x")], page(1).as_bytes());
    let late = checked(&learn("learn=true&wait=committed&timeout_ms=50"), 202);
    assert_eq!((&late["learned"], &late["verdict"]), (&json!(true), &Value::Null));
    // It is judged all the same; asked again, it is known.
    let again = checked(&learn("learn=true&wait=committed&timeout_ms=30000"), 200);
    assert_eq!(again["verdict"]["recrawl"], "unchanged");
    assert_ne!(again["position"], late["position"]);
    let large = format!("<p>{}", "many words that differ 12 34 ".repeat(100_000));
    let slow = ask(served.address, None, "timeout_ms=1", HTML, &[], large.as_bytes());
    slow.problem(503, "timeout");
    assert!(slow.headers.contains_key("retry-after"));
    served.counts("seamripper_checks_turned_away_total{reason=\"timeout\"} 1");
    served.counts("seamripper_checks_total{learn=\"true\",outcome=\"accepted\"} 1");
}

#[test]
fn who_does_not_know_yet_says_so() {
    let ground = ground(|_| ());
    let bus = bus::open(&ground.settings).unwrap();
    bus.prepare().unwrap();
    let settings = Arc::new(ground.settings.clone());
    let token = |ground: &Ground| {
        let token = std::fs::read_to_string(ground.settings.bus.folder.join("http-token")).unwrap();
        format!("Bearer {}", token.trim())
    };
    let state = Arc::new(State::new(Role::All));
    let http = Http::start(settings.clone(), bus.clone(), state.clone()).unwrap();
    for (phase, reason) in [
        (Phase::Starting, "restoring"),
        (Phase::Restoring, "restoring"),
        (Phase::Stopping, "stopping"),
        (Phase::Failed, "failed"),
    ] {
        state.set_phase(phase);
        for query in ["", "learn=true"] {
            let refused = ask(http.address(), Some(&token(&ground)), query, HTML, &[], page(1).as_bytes());
            refused.problem(503, reason);
            assert!(refused.headers.contains_key("retry-after"));
        }
    }
    // One that was asked in time, and is let go when the state is lost.
    state.set_phase(Phase::Standby);
    let (address, losing) = (http.address(), state.clone());
    let asked = std::thread::spawn(move || ask(address, None, "timeout_ms=30000", HTML, &[], page(1).as_bytes()));
    let begun = Instant::now();
    while losing.checks().probes.n_waiting() == 0 {
        assert!(begun.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(1));
    }
    losing.set_phase(Phase::Restoring);
    losing.checks().turn_away();
    asked.join().unwrap().problem(503, "restoring");
    http.stop(Duration::from_secs(5));
    let signer = Http::start(settings, bus, Arc::new(State::new(Role::Sign))).unwrap();
    ask(signer.address(), None, "", HTML, &[], page(1).as_bytes()).problem(503, "role");
    ask(signer.address(), Some(&token(&ground)), "learn=true", HTML, &[], page(1).as_bytes()).problem(503, "role");
    signer.stop(Duration::from_secs(5));
}

#[test]
fn what_is_wrong_is_told() {
    let served = served(|_| ());
    let ask = |query: &str, media: &str, headers: &[(&str, &str)], body: &[u8]| {
        ask(served.address, Some(&served.bearer()), query, media, headers, body)
    };
    let html = page(1);
    for learn in ["learn=false", "learn=true"] {
        ask(learn, "application/json", &[], b"{").problem(422, "envelope");
        ask(learn, "application/json", &[], br#"{"raw": "?"}"#).problem(422, "base64");
        ask(&format!("{learn}&kind=email"), "application/json", &[], br#"{"html": "x"}"#).problem(422, "envelope");
        ask(learn, "application/x-ndjson", &[], b"{}\n{}\n").problem(415, "content_type");
        ask(learn, "image/png", &[], b"x").problem(415, "content_type");
        ask(learn, HTML, &[("ip", "here")], html.as_bytes()).problem(422, "headers");
        for query in ["wait=ever", "timeout_ms=0", "timeout_ms=30001", "timeout_ms=soon", "kind=fax", "lern=true"] {
            ask(&format!("{learn}&{query}"), HTML, &[], html.as_bytes()).problem(400, "query");
        }
    }
    ask("learn=maybe", HTML, &[], html.as_bytes()).problem(400, "query");
    // Which of the two it is.
    let mail = b"From: a@b.example\r\nSubject: an invitation\r\n\r\nDear Bob, all of us would be glad to see you this evening.\r\n";
    let raw = json!({"id": "e", "raw": super::documents::base64(mail)}).to_string();
    for (query, media, body, kind) in [
        ("", HTML, html.as_bytes(), "page"),
        ("", "text/plain", html.as_bytes(), "page"),
        ("", MAIL, mail, "email"),
        ("kind=email", "text/plain", mail, "email"),
        ("", "application/json", raw.as_bytes(), "email"),
        ("", "application/json", br#"{"html": "<p>raw words"}"#, "page"),
    ] {
        assert_eq!(checked(&ask(query, media, &[], body), 200)["verdict"]["kind"], kind, "{query} {media}");
    }
    let without = |query: &str| self::ask(served.address, None, query, HTML, &[], html.as_bytes());
    without("learn=true").problem(401, "token");
    without("learn=false&learn=true").problem(401, "token");
    assert_eq!(without("learn=false").status, 200);
    assert_eq!(served.get("/v1/check").status, 405);
}

#[test]
fn too_many_are_turned_away() {
    let served = served(|settings| {
        settings.check.queue_max = 1.try_into().unwrap();
        settings.check.waiters_max = 1.try_into().unwrap();
        settings.batch.wait_ms = 1500;
    });
    let large = format!("<p>{}", "many words that differ 12 34 ".repeat(20_000));
    let bearer = served.bearer();
    let many = |query: &str, body: &str| -> Vec<Answer> {
        std::thread::scope(|scope| {
            let ask = || ask(served.address, Some(&bearer), query, HTML, &[], body.as_bytes());
            let threads: Vec<_> = (0..12).map(|_| scope.spawn(ask)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        })
    };
    for (query, body, reason) in
        [("timeout_ms=30000", &*large, "queue"), ("learn=true&wait=committed&timeout_ms=30000", &*page(1), "waiters")]
    {
        let answers = many(query, body);
        let (served, away): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.status == 200);
        assert!(!served.is_empty() && !away.is_empty(), "{} and {}", served.len(), away.len());
        away.iter().for_each(|answer| answer.problem(503, reason));
    }
    let metrics = served.get("/metrics").body;
    assert!(metrics.contains("seamripper_checks_turned_away_total{reason=\"queue\"}"), "{metrics}");
}

/// The place of one who waits for a verdict is somebody else's as soon as the connection is gone.
#[test]
fn who_goes_away_is_forgotten() {
    let served = served(|settings| {
        settings.check.waiters_max = 1.try_into().unwrap();
        settings.batch.wait_ms = 15_000;
    });
    let bearer = served.bearer();
    let body = page(1);
    let head = format!(
        "POST /v1/check?learn=true&wait=committed&timeout_ms=30000 HTTP/1.1\r\nhost: localhost\r\nauthorization: {bearer}\r\ncontent-type: text/html\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let sent = || {
        let mut connection = served.connected();
        connection.set_read_timeout(Some(Duration::from_millis(10))).unwrap();
        connection.write_all(head.as_bytes()).unwrap();
        connection
    };
    let mut waiting = sent();
    let other =
        || ask(served.address, Some(&bearer), "learn=true&wait=committed&timeout_ms=1", HTML, &[], body.as_bytes());
    let begun = Instant::now();
    // Whoever asks for an answer within a millisecond may also be told that it took longer.
    let is_full = |answer: &Answer| answer.status == 503 && answer.json()["reason"] == "waiters";
    while !is_full(&other()) {
        assert!(begun.elapsed() < PATIENCE, "the first never waits");
        // The place may have been the other's just then, and the first turned away.
        if waiting.read(&mut [0]).is_ok() {
            waiting = sent();
        }
    }
    drop(waiting);
    while other().status != 202 {
        assert!(begun.elapsed() < PATIENCE, "the place is not given back");
    }
}

/// A thousand at once, each about a copy of one of twenty pages: all are told the right one.
#[test]
fn a_thousand_at_once_get_their_answers() {
    let served = served(|_| ());
    for number in 0..20 {
        learn(&served, "", &format!("https://site{number}.example/"), number);
    }
    let mut asked: Vec<_> = (0..1000)
        .map(|number| {
            let body = page(number % 20);
            let mut stream = served.connected();
            let head = format!(
                "POST /v1/check?timeout_ms=30000 HTTP/1.1\r\nhost: localhost\r\nurl: https://copy{number}.example/\r\ncontent-type: text/html\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
                body.len()
            );
            // All are begun before the first is answered.
            stream.write_all(head.as_bytes()).unwrap();
            (number, stream, body)
        })
        .collect();
    asked.iter_mut().for_each(|(_, stream, body)| stream.write_all(body.as_bytes()).unwrap());
    for (number, stream, _) in &mut asked {
        let said = received(stream);
        let (head, body) = said.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{number}: {said:?}"));
        assert!(head.starts_with("HTTP/1.1 200"), "{number}: {said}");
        let json: Value = serde_json::from_str(body).unwrap();
        assert_eq!(json["verdict"]["id"], format!("https://copy{number}.example/"));
        assert_eq!(json["verdict"]["mirror"]["of"], format!("https://site{}.example/", *number % 20), "{json}");
        assert_eq!(json["verdict"]["mirror"]["size"], 2, "{json}");
    }
    assert_eq!(probe(&served, "https://last.example/", 3)["verdict"]["mirror"]["size"], 2);
}
