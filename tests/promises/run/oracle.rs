//! What comes out is what a naive fold of the journal gives: one document after the other, on one thread, from nothing.

use super::{drain, inputs, n_judged, records, scaled, verdicts};
use crate::bus::Ground;
use seamripper::bus::{Outgoing, Record};
use seamripper::config::Settings;
use seamripper::pipeline::filter::{Event, Filter};
use seamripper::pipeline::run::inlet::Fate;
use seamripper::pipeline::run::journal::{Entry, Range, What};
use seamripper::pipeline::run::label::{LabelRecord, Order};
use seamripper::pipeline::run::outputs::verdict_id;
use seamripper::pipeline::run::scheme::Scheme;
use seamripper::verdict::event::Verdict;
use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;
use std::sync::Arc;

/// The entries of the journal, those that took a seat left out.
pub(super) fn entries(ground: &Ground) -> Vec<Entry> {
    let bus = ground.open();
    let read = |record: &Record| Entry::from_json(record.value.as_deref().unwrap(), record.offset).unwrap();
    let mut entries: Vec<Entry> = records(&*bus, &ground.settings.topics.journal).iter().map(read).collect();
    entries.retain(|entry| !matches!(entry.what, What::Seat { .. }));
    entries
}

/// The verdicts of the journal's order, by their ids: no batches, no threads, no snapshots.
pub(super) fn naive(ground: &Ground) -> BTreeMap<String, Verdict> {
    let settings = &ground.settings;
    let bus = ground.open();
    let mut all: HashMap<(String, i32), BTreeMap<i64, Record>> = HashMap::new();
    for topic in [&settings.topics.pages, &settings.topics.emails, &settings.topics.signed] {
        for record in records(&*bus, topic) {
            let partition = (topic.clone(), record.partition.number);
            all.entry(partition).or_default().insert(record.offset, record);
        }
    }
    let scheme = Scheme::new(Arc::new(settings.clone())).unwrap();
    let mut filter = scheme.filter();
    let mut inlet = scheme.inlet();
    let mut verdicts = BTreeMap::new();
    for entry in entries(ground) {
        let mut keep = |event: Event| {
            if let Event::Verdict(verdict) = event {
                verdicts.insert(verdict_id(&verdict), *verdict);
            }
        };
        match entry.what {
            What::Epoch(_) | What::Seat { .. } => {}
            What::Idle(batch) => {
                batch.labels.iter().for_each(|label| put(&mut filter, label));
                filter.settle_revisions(&mut keep);
            }
            What::Batch(batch) => {
                batch.labels.iter().for_each(|label| put(&mut filter, label));
                for Range { partition, from, to } in batch.ranges {
                    let records = &all[&(partition.topic.to_string(), partition.number)];
                    for record in records.range(from..=to).map(|(_, record)| record.clone()) {
                        match inlet.take(record).fate {
                            Fate::Document(arrival) => filter.fold(&[*arrival], 1, &mut keep),
                            Fate::SetAside(aside) => {
                                aside.verdict.into_iter().for_each(|verdict| keep(Event::Verdict(Box::new(verdict))));
                            }
                            Fate::Empty => {}
                        }
                    }
                }
            }
        }
    }
    verdicts
}

fn put(filter: &mut Filter, label: &LabelRecord) {
    match label.order() {
        Ok(Order::Label(label)) => filter.label(*label).unwrap(),
        Ok(Order::Forget(id)) => drop(filter.forget(&id)),
        Err(_) => {}
    }
}

/// Documents with labels among them, judged in several partitions.
pub(super) fn verdicts_are_those_of_the_naive_fold(ground: &Ground) {
    let n = scaled(1500, 20_000);
    let bus = ground.prepared();
    let mut feeder = bus.feeder().unwrap();
    let all = inputs(ground, 11, n);
    let labels = ["spam", "ham"].map(|label| {
        let json = format!(
            r#"{{"target":{{"domain":"site3.example"}},"label":"{label}","by":"me","why":"","at":"2026-01-31T12:00:00Z"}}"#
        );
        let key = Some(label.as_bytes().to_vec());
        Outgoing { key, value: Some(json.into_bytes()), ..Outgoing::to(ground.settings.topics.labels.as_str()) }
    });
    let (first, second) = all.split_at(n / 2);
    feeder.append(first.to_vec()).unwrap();
    let running = super::Process::start(ground, &["run"], None);
    running.says("seat taken");
    feeder.append(labels.to_vec()).unwrap();
    for some in second.chunks(97) {
        feeder.append(some.to_vec()).unwrap();
    }
    running.signal("TERM");
    let mut running = running;
    assert!(running.ended().success(), "{}", running.log());
    drain(ground);
    let (published, expected) = (verdicts(&*bus, ground), naive(ground));
    assert_eq!(n_judged(&published), n);
    assert_eq!(published.len(), expected.len());
    let schema = crate::schemas::Schema::named("verdict");
    for (id, verdict) in &published {
        assert_eq!(verdict, &expected[id], "{id}");
        schema.check(id, &serde_json::to_value(verdict).unwrap());
    }
    let schema = crate::schemas::Schema::named("journal");
    for entry in entries(ground) {
        schema.check("a journal entry", &serde_json::to_value(&entry).unwrap());
    }
    let labelled = published.values().filter(|verdict| !verdict.labels.is_empty()).count();
    assert!(labelled > 0, "labels were taken in");
    super::audited(ground, n);
}

/// Real mails and pages, where they are there.
pub(super) fn real_documents_are_judged_as_the_naive_fold_judges_them(ground: &Ground) {
    let n_each = scaled(250, 9_000);
    let mut all = Vec::new();
    for set in ["mail_spamassassin/mails.tar.zst", "html_generators/pages.jsonl.zst"] {
        let (folder, file) = set.split_once('/').unwrap();
        let Some(folder) = crate::data::real(folder) else { continue };
        let mut some = Vec::new();
        let options = seamripper::corpus::Options::default();
        let limits = &ground.settings.limits;
        seamripper::corpus::read(&[folder.join(file)], &options, limits, &mut |entry| {
            some.extend(entry.ok().map(|entry| super::input(ground, entry.record)));
            if some.len() < n_each { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        all.extend(some);
    }
    if all.is_empty() {
        return;
    }
    let bus = ground.prepared();
    let mut feeder = bus.feeder().unwrap();
    for some in all.chunks(100) {
        feeder.append(some.to_vec()).unwrap();
    }
    drain(ground);
    let (published, expected) = (verdicts(&*bus, ground), naive(ground));
    assert_eq!((n_judged(&published), published.len()), (all.len(), expected.len()));
    let schema = crate::schemas::Schema::named("verdict");
    for (id, verdict) in &published {
        assert_eq!(verdict, &expected[id], "{id}");
        schema.check(id, &serde_json::to_value(verdict).unwrap());
    }
    super::audited(ground, all.len());
}

/// A label is carried by what comes after it, and a forgotten document is nobody's original.
pub(super) fn labels_and_forgetting_hold_from_the_next_batch_on(ground: &Ground) {
    let bus = ground.prepared();
    let mut feeder = bus.feeder().unwrap();
    let Settings { topics, .. } = &ground.settings;
    let page = |id: &str, words: &str| {
        let html = format!("<html><body><p>{}</p></body></html>", format!("{words} ").repeat(30));
        let key = Some(format!("http://{id}.example/").into_bytes());
        Outgoing { key, value: Some(html.into_bytes()), ..Outgoing::to(topics.pages.as_str()) }
    };
    // A compacted topic wants keys.
    let label = |json: &str| {
        let bytes = Some(json.as_bytes().to_vec());
        Outgoing { key: bytes.clone(), value: bytes, ..Outgoing::to(topics.labels.as_str()) }
    };
    let (one, two) = ("the first of two long texts about rivers and boats", "quite another one on stones and hills");
    feeder.append(vec![page("a", one), page("b", two)]).unwrap();
    drain(ground);
    let at = r#""by":"me","why":"","at":"2026-01-31T12:00:00Z""#;
    let spam = format!(r#"{{"target":{{"document":"http://a.example/"}},"label":"spam",{at}}}"#);
    let forget = format!(r#"{{"forget":"http://b.example/",{at}}}"#);
    feeder.append(vec![label(&spam), label(&forget), label("no label")]).unwrap();
    drain(ground);
    feeder.append(vec![page("c", one), page("d", two)]).unwrap();
    drain(ground);
    let verdicts = verdicts(&*bus, ground);
    let of = |id: &str| verdicts.values().find(|verdict| verdict.id == format!("http://{id}.example/")).unwrap();
    assert_eq!(of("c").mirror.as_ref().unwrap().of, "http://a.example/");
    assert_eq!(of("c").labels[0].label, "spam");
    assert!(of("d").mirror.is_none(), "{:?}", of("d"));
    let letters = records(&*bus, &topics.dead_letters);
    assert_eq!(letters.len(), 1);
    assert_eq!(letters[0].header("reason"), Some(&b"label"[..]));
    super::audited(ground, 4);
}
