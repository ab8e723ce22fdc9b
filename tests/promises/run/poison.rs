//! Records that nobody can read, among good ones.

use super::{audited, drain, inputs, n_judged, records, verdicts};
use crate::bus::Ground;
use seamripper::bus::Outgoing;
use seamripper::verdict::event::Outcome;

/// Every malformed record is a dead letter with its reason and its bytes; the good ones around it are judged.
pub(super) fn every_malformed_record_is_set_aside_and_the_others_are_judged(ground: &Ground) {
    let bus = ground.prepared();
    let topics = &ground.settings.topics;
    let deep = "[".repeat(100_000).into_bytes();
    let huge = [b"{\"html\": \"".to_vec(), vec![b'x'; 11 << 20], b"\"}".to_vec()].concat();
    let poison: [(&str, &[u8], &str); 12] = [
        (&topics.pages, b"{", "envelope"),
        (&topics.pages, b"{\"html\": 7}", "envelope"),
        (&topics.pages, b"{\"id\": \"x\"}", "envelope"),
        (&topics.pages, b"{\"url\": \"http://a.example/\", \"body\": \"***\"}", "base64"),
        (&topics.pages, &[b"{\"html\": ".to_vec(), deep].concat(), "envelope"),
        (&topics.pages, &huge, "too_large"),
        (&topics.emails, b"{\"raw\": \"=\"}", "base64"),
        (&topics.emails, b"{\"raw\": null}", "envelope"),
        (&topics.emails, b"\xff\xfe\x00", "not_a_mail"),
        (&topics.emails, b"", "not_a_mail"),
        (&topics.emails, b"{\"raw\": \"aGVsbG8=\", \"client_ip\": \"here\"}", "envelope"),
        (&topics.pages, b"{\"html\": \"x\", \"fetched_at\": \"yesterday\"}", "envelope"),
    ];
    let mut feeder = bus.feeder().unwrap();
    let good = inputs(ground, 9, 240);
    for (some, (topic, value, _)) in good.chunks(20).zip(&poison) {
        feeder.append(some.to_vec()).unwrap();
        let headers = vec![("mine".into(), b"kept".to_vec())];
        feeder.append(vec![Outgoing { headers, value: Some(value.to_vec()), ..Outgoing::to(*topic) }]).unwrap();
    }
    // An id that is too long to be one, of a record that cannot be read.
    let long =
        Outgoing { key: Some(vec![b'k'; 3000]), value: Some(b"{".to_vec()), ..Outgoing::to(topics.pages.as_str()) };
    feeder.append(vec![long]).unwrap();
    // A value that is not there is no document, and no mistake.
    feeder.append(vec![Outgoing { key: Some(b"gone".to_vec()), ..Outgoing::to(topics.pages.as_str()) }]).unwrap();
    drain(ground);
    let letters = records(&*bus, &topics.dead_letters);
    assert_eq!(letters.len(), poison.len() + 1);
    for (topic, value, reason) in &poison {
        let found = letters.iter().filter(|letter| letter.key.is_none()).filter(|letter| {
            letter.header("topic") == Some(topic.as_bytes()) && letter.value.as_deref().unwrap() == *value
        });
        let found: Vec<_> = found.collect();
        assert_eq!(found.len(), 1, "{reason}: {}", String::from_utf8_lossy(&value[..value.len().min(60)]));
        assert_eq!(found[0].header("reason"), Some(reason.as_bytes()));
        assert_eq!(found[0].header("mine"), Some(&b"kept"[..]));
        assert!(found[0].header("partition").is_some() && found[0].header("offset").is_some());
    }
    let verdicts = verdicts(&*bus, ground);
    let n_rejected = verdicts.values().filter(|verdict| verdict.outcome == Outcome::Rejected).count();
    assert_eq!(n_judged(&verdicts) - n_rejected, good.len());
    let is_digest = |id: &str| id.starts_with("p-") && id.len() == 2 + 32;
    let n_digests = verdicts.values().filter(|verdict| verdict.outcome == Outcome::Rejected && is_digest(&verdict.id));
    assert_eq!(n_digests.count(), 1, "its id is a digest");
    audited(ground, good.len() + n_rejected);
}

/// A label that is none, and far too large for the journal: set aside, and the next one holds.
pub(super) fn a_label_that_is_too_large_is_set_aside(ground: &Ground) {
    let bus = ground.prepared();
    let topics = &ground.settings.topics;
    let mut feeder = bus.feeder().unwrap();
    let label = |key: &str, value: Vec<u8>| Outgoing {
        key: Some(key.into()),
        value: Some(value),
        ..Outgoing::to(topics.labels.as_str())
    };
    let mut labels = vec![label("large", vec![0; 900_000])];
    labels.extend((0..200).map(|n| label(&format!("odd {n}"), vec![1; 4000])));
    let good = br#"{"target":{"document":"x"},"label":"spam","by":"me","why":"","at":"2026-01-31T12:00:00Z"}"#;
    labels.push(label("good", good.to_vec()));
    let n_labels = labels.len();
    feeder.append(labels).unwrap();
    feeder.append(inputs(ground, 12, 50)).unwrap();
    drain(ground);
    let letters = records(&*bus, &topics.dead_letters);
    assert_eq!(letters.len(), n_labels - 1);
    let large = letters.iter().find(|letter| letter.key.as_deref() == Some(b"large")).unwrap();
    assert!(String::from_utf8_lossy(large.header("detail").unwrap()).contains("900005 bytes"));
    audited(ground, 50);
}
