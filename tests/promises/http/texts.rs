//! The text of a document, from its record on the bus, or its beginning from the store.

use super::directory::{COPY, HEAD, QUILT};
use super::{Served, encoded, ground, ground_on_kafka, listening, served};
use crate::bus::Ground;
use crate::run::Process;
use seamripper::bus::Partition;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Deletes all records of the inputs.
fn delete_records(served: &Served) {
    let bus = served.ground.open();
    let topics = &served.ground.settings.topics;
    for topic in [&topics.pages, &topics.emails] {
        for number in 0..bus.n_partitions(topic).unwrap() {
            let partition = Partition::new(topic.as_str(), number);
            let end = bus.extent(&partition).unwrap().end;
            bus.trim(&partition, end).unwrap();
        }
    }
}

/// The text of `id`, which must be there whole.
fn whole(served: &Served, id: &str) -> String {
    let told = served.good(&format!("/v1/texts/{id}"), "text");
    let text = told["text"].as_str().unwrap();
    assert_eq!((&told["id"], &told["from"], &told["kind"]), (&id.into(), &"record".into(), &"page".into()));
    assert_eq!((&told["n_bytes"], &told["complete"]), (&text.len().into(), &true.into()), "{told}");
    text.to_owned()
}

/// The spans of verdicts and explanations are ranges of its bytes; a standby tells the same.
fn a_text_is_read_from_its_record(ground: Ground) {
    let served = Served::start(ground);
    served.process.says("seat taken");
    let served = served.with_corpus();
    let quilt = whole(&served, QUILT);
    let explained = served.good(&format!("/v1/explain/{QUILT}"), "explanation");
    let shared = explained["shared"].as_array().unwrap();
    assert_eq!(shared.len(), 7);
    let span = |span: &Value| span[0].as_u64().unwrap() as usize..span[1].as_u64().unwrap() as usize;
    for with in shared {
        let there = whole(&served, with["of"].as_str().unwrap());
        for passage in with["texts"]["passages"].as_array().unwrap() {
            assert_eq!(passage["text_here"], quilt[span(&passage["here"])]);
            assert_eq!(passage["text_there"], there[span(&passage["there"])]);
        }
    }
    let sources = explained["verdict"]["quilt"]["sources"].as_array().unwrap();
    let spans = sources.iter().flat_map(|source| source["spans"].as_array().unwrap());
    assert!(spans.map(|of| quilt.get(span(of)).unwrap().len()).sum::<usize>() > quilt.len() / 4);

    let process = Process::start(&served.ground, &["run"], None);
    let (address, token) = (listening(&process), served.token.clone());
    let settings = served.ground.settings.clone();
    let elsewhere = Ground { settings, silence: served.ground.silence, folder: tempfile::tempdir().unwrap() };
    let standby = Served { process, address, token, ground: elsewhere };
    standby.until("/v1/stats", |stats| stats["state"] == "standby");
    standby.until(&format!("/v1/texts/{QUILT}"), |told| told["text"] == quilt);
    drop(standby);

    // A copy that is as its head leaves nothing in the store.
    for id in ["first", "second"] {
        let envelope = json!({"id": id, "html": super::page(1)}).to_string();
        served.post("/v1/pages", "application/json", &[], envelope.as_bytes());
        served.until(&format!("/v1/documents/{id}"), |document| document["verdict"]["id"] == id);
    }
    assert_eq!(whole(&served, "second"), whole(&served, "first"));
    delete_records(&served);
    let begun = Instant::now();
    while served.get("/v1/texts/second").status == 200 {
        assert!(begun.elapsed() < super::PATIENCE, "records that were deleted are shown");
        std::thread::sleep(Duration::from_millis(50));
    }
    served.get("/v1/texts/second").problem(410, "text_is_gone");
    served.get("/v1/texts/nobody").problem(404, "unknown_document");
    beginning(&served, QUILT, &quilt);
}

/// The beginning of `whole` that the store keeps of `id`.
fn beginning(served: &Served, id: &str, whole: &str) {
    let told = served.good(&format!("/v1/texts/{id}"), "text");
    let text = told["text"].as_str().unwrap();
    assert_eq!((&told["from"], &told["n_bytes"]), (&"excerpt".into(), &whole.len().into()));
    assert_eq!(encoded(told["id"].as_str().unwrap()), encoded(&id.replace("%20", " ")));
    assert_eq!(told["complete"], whole == text, "{told}");
    assert!(whole.starts_with(text) && (237..=240).contains(&text.len().max(whole.len().min(237))), "{told}");
}

#[test]
fn a_text_is_read_from_its_record_on_one_machine() {
    a_text_is_read_from_its_record(ground(|_| ()));
}

#[test]
fn a_text_is_read_from_its_record_on_kafka() {
    a_text_is_read_from_its_record(ground_on_kafka());
}

/// However long a text is and however many ask, an answer has so many bytes, and characters are whole.
#[test]
fn texts_are_bounded() {
    let served = served(|settings| settings.texts.answer_bytes = 1000.try_into().unwrap());
    let words: String = (0..4000).map(|number| format!("wörd{number}漢 ")).collect();
    let envelope = json!({"id": "long", "html": format!("<p>{words}</p>")}).to_string();
    assert_eq!(served.post("/v1/pages", "application/json", &[], envelope.as_bytes()).status, 200);
    served.first(1);
    let whole = words.trim_end();
    for (query, n_max) in [("", 1000), ("?max_bytes=1000000", 1000), ("?max_bytes=100", 100), ("?max_bytes=1", 1)] {
        let told = served.good(&format!("/v1/texts/long{query}"), "text");
        let text = told["text"].as_str().unwrap();
        assert!(
            whole.starts_with(text) && (n_max - n_max.min(2)..=n_max).contains(&text.len()),
            "{query}: {}",
            text.len()
        );
        assert_eq!((&told["n_bytes"], &told["complete"]), (&whole.len().into(), &false.into()), "{query}");
    }
    for query in ["max_bytes=0", "max_bytes=-1", "max_bytes=", "max_bytes=1e3", "max_bytes=99999999999", "bytes=1"] {
        served.get(&format!("/v1/texts/long?{query}")).problem(400, "query");
    }
    let url = served.url("/v1/texts/long");
    std::thread::scope(|scope| {
        let asked: Vec<_> = (0..40).map(|_| scope.spawn(|| super::answer(super::agent().get(&url).call()))).collect();
        for answer in asked.into_iter().map(|asked| asked.join().unwrap()) {
            if answer.status != 200 {
                answer.problem(503, "texts");
                assert!(answer.headers.contains_key("retry-after"));
            }
        }
    });
    served.good("/v1/texts/long", "text");
}

/// The words of a page of [`super::page`].
fn words(number: usize) -> String {
    super::page(number).split("<p>").nth(1).unwrap().split("</p>").next().unwrap().to_owned()
}

/// Sends a page and a mail, which are judged then.
fn send_both(served: &Served) {
    let envelope = json!({"id": "a page", "html": super::page(3)}).to_string();
    assert_eq!(served.post("/v1/pages", "application/json", &[], envelope.as_bytes()).status, 200);
    let mail = format!("From: a@b.example\r\nSubject: Greetings\r\n\r\n{}\r\n", words(4));
    let sent = served.post("/v1/emails", "message/rfc822", &[("id", "a mail")], mail.as_bytes());
    assert_eq!(sent.status, 200, "{}", sent.body);
    served.first(2);
}

/// What the newest snapshot holds, once it is one of now.
fn snapshot_holds(served: &Served, part: &str) -> bool {
    let newest = || {
        let folder = served.ground.settings.bus.folder.join("snapshots");
        let files = std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
        let whole = files.filter(|path| std::fs::read(path).is_ok_and(|bytes| bytes.starts_with(b"SEAMRIP\n")));
        whole.max_by_key(|path| std::fs::metadata(path).and_then(|about| about.modified()).ok())
    };
    // The second that is new was begun after this moment.
    let (begun, mut last, mut n_new) = (Instant::now(), newest(), 0);
    while n_new < 3 {
        assert!(begun.elapsed() < super::PATIENCE, "no new snapshot:\n{}", served.process.log());
        // There is one where something was said since.
        let page = json!({"id": "another", "html": super::page(50 + n_new)}).to_string();
        served.post("/v1/pages", "application/json", &[], page.as_bytes());
        std::thread::sleep(Duration::from_millis(300));
        if newest() != last {
            (last, n_new) = (newest(), n_new + 1);
        }
    }
    let bytes = std::fs::read(last.unwrap()).unwrap();
    bytes.windows(part.len()).any(|window| window == part.as_bytes())
}

/// Where records are not to be read again there is what the store keeps, until it is told to forget it; and from the next start on
/// another rule holds, without a new store.
#[test]
fn what_is_forgotten_is_shown_no_more() {
    let served = served(|settings| settings.texts.reread = false);
    send_both(&served);
    beginning(&served, "a%20page", &words(3));
    let of_mail = served.good("/v1/texts/a%20mail?max_bytes=100", "text");
    assert_eq!((&of_mail["from"], &of_mail["kind"]), (&"excerpt".into(), &"email".into()));
    assert!(of_mail["text"].as_str().unwrap().starts_with("Greetings"), "{of_mail}");
    let kept = served.good("/v1/prototypes/a%20mail", "prototype");
    assert!((237..=240).contains(&kept["kept"]["excerpt_bytes"].as_u64().unwrap()), "{kept}");
    // What lies in the first line of a row stands together, also where it was written out of turn.
    let [of_page, of_mail] = [3, 4].map(|number| words(number)[..40].to_owned());
    assert!(snapshot_holds(&served, &of_page) && snapshot_holds(&served, &of_mail));

    let forgotten = served.post("/v1/forget", "application/json", &[], br#"{"forget":"a page","by":"ada"}"#);
    assert_eq!(forgotten.status, 200, "{}", forgotten.body);
    let begun = Instant::now();
    while served.get("/v1/texts/a%20page").status == 200 {
        assert!(begun.elapsed() < super::PATIENCE, "it is still shown");
        std::thread::sleep(Duration::from_millis(50));
    }
    served.get("/v1/texts/a%20page").problem(410, "text_is_gone");
    assert!(!snapshot_holds(&served, &of_page), "its beginning is written down");

    // Mails are left out from now on, those of before too; of pages more is kept, and the store goes on.
    let Served { process, mut ground, .. } = served;
    drop(process);
    (ground.settings.texts.excerpt_emails, ground.settings.texts.excerpt_bytes) = (false, 300);
    let served = Served::start(ground);
    served.process.says("seat taken");
    assert!(!served.process.log().contains("succession"), "{}", served.process.log());
    let off = served.get("/v1/texts/a%20mail");
    off.problem(403, "texts_off");
    assert!(!snapshot_holds(&served, &of_mail), "what is kept of mails is written down");
    let known = served.good("/v1/documents/a%20mail", "document");
    assert_eq!(known["known"]["prototype"]["kept"]["excerpt_bytes"], 0, "{known}");
    let longer = json!({"id": "longer", "html": super::page(9)}).to_string();
    served.post("/v1/pages", "application/json", &[], longer.as_bytes());
    served.until("/v1/texts/longer", |told| (297..=300).contains(&told["text"].as_str().unwrap().len()));
}

/// Where records are not read again for people and nothing is kept, no text is shown, and no passage is quoted.
#[test]
fn texts_can_be_turned_off() {
    let served = served(|settings| (settings.texts.reread, settings.texts.excerpt_bytes) = (false, 0)).with_corpus();
    for id in [HEAD, COPY, "nobody"] {
        let off = served.get(&format!("/v1/texts/{}", encoded(id)));
        off.problem(403, "texts_off");
        assert!(off.body.contains("texts.reread") && off.body.contains("texts.excerpt_bytes"), "{}", off.body);
    }
    let explained = served.good(&format!("/v1/explain/{QUILT}"), "explanation");
    assert_eq!((&explained["verdict"]["id"], &explained["text_is_gone"]), (&QUILT.into(), &true.into()));
    assert!(!explained["scores"].as_array().unwrap().is_empty());
    let shared = explained["shared"].as_array().unwrap();
    assert!(shared.len() == 7 && shared.iter().all(|with| with["texts"].is_null()), "{shared:?}");
}
