//! `seamripper label` says what people think of documents, and verdicts carry it: for a whole group, from the next batch on, until it is
//! taken back.

use crate::bus::Ground;
use crate::http::{PATIENCE, Served, served};
use crate::run::{audited, command, drain, records, verdicts};
use crate::schemas::Schema;
use seamripper::bus::sweep::Sweep;
use seamripper::bus::{Outgoing, Record};
use seamripper::verdict::event::{Carried, Verdict, Via};
use serde_json::Value;
use std::process::Output;
use std::time::{Duration, Instant};

/// A mail of a campaign: the same words, but for a few.
pub(crate) fn campaign(number: usize) -> Vec<u8> {
    let codes = ["amber", "birch", "cedar", "dune", "ember", "fjord", "grove", "heath"];
    format!(
        "From: desk{number}@sender{number}.example\r\nSubject: your parcel is waiting\r\n\r\n\
         Dear customer, your parcel could not be delivered today since nobody was at home. Please choose another day and\r\n\
         pay the small fee for storage within two days, or it will be returned to its sender. Your code is {}.\r\n",
        codes[number % codes.len()]
    )
    .into_bytes()
}

/// `seamripper label ARGUMENTS` by the user `ada`.
pub(crate) fn label(ground: &Ground, arguments: &[&str]) -> Output {
    let arguments = [&["label"], arguments].concat();
    command(ground, &arguments, None).env_remove("SUDO_USER").env("USER", "ada").output().unwrap()
}

/// The lines of JSON that it prints; it must end well.
pub(crate) fn told(ground: &Ground, arguments: &[&str]) -> Vec<Value> {
    let output = label(ground, arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// What is carried, in short: label, path, bearer, and `!` where it is overridden.
fn carried(labels: &[Carried]) -> Vec<String> {
    let via = |via: Via| serde_json::to_value(via).unwrap().as_str().unwrap().to_owned();
    let short =
        |one: &Carried| format!("{} {} {}{}", one.label, via(one.via), one.of, if one.overridden { " !" } else { "" });
    labels.iter().map(short).collect()
}

/// Appends a mail and returns its verdict.
pub(crate) fn mailed(ground: &Ground, id: &str, body: Vec<u8>, headers: &[(&str, &str)]) -> Verdict {
    let bus = ground.open();
    let headers = headers.iter().map(|(name, value)| ((*name).into(), value.as_bytes().to_vec())).collect();
    let mail = Outgoing {
        key: Some(id.into()),
        headers,
        value: Some(body),
        ..Outgoing::to(ground.settings.topics.emails.as_str())
    };
    bus.feeder().unwrap().append(vec![mail]).unwrap();
    let (mut sweep, mut found, begun) = (Sweep::new(ground.settings.topics.verdicts.as_str()), None, Instant::now());
    loop {
        let mut take = |record: Record| {
            let verdict: Verdict = serde_json::from_slice(record.value.as_deref().unwrap()).unwrap();
            found = Some(verdict).filter(|verdict| verdict.id == id).or(found.take());
        };
        sweep.catch_up(&*bus, &mut take).unwrap();
        if let Some(found) = found {
            return found;
        }
        assert!(begun.elapsed() < PATIENCE, "no verdict on {id}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Somebody labels one copy of a campaign, takes it back, and trusts a sender; on any bus, beside a run.
pub(crate) fn a_campaign_is_labelled_by_one_of_its_copies(ground: &Ground) {
    let mail =
        |number: usize, headers: &[(&str, &str)]| mailed(ground, &format!("m{number}"), campaign(number), headers);
    assert!(mail(0, &[]).labels.is_empty());
    let copy = mail(1, &[]);
    assert_eq!((copy.group(), copy.labels.len()), ("m0", 0), "{copy:?}");
    let [posted] = &told(ground, &["m1", "spam", "--why", "forty complaints"])[..] else { panic!("one label") };
    assert_eq!(
        (&posted["target"]["document"], &posted["named"], &posted["by"]),
        (&"m0".into(), &"m1".into(), &"ada".into())
    );
    Schema::named("labelled").check("a label", posted);
    let taken_in = |number: usize, labels: &[&str]| {
        // A bus with brokers may bring a document before the label that was there before it.
        for again in 0..20 {
            let verdict = mailed(ground, &format!("m{number}-{again}"), campaign(number), &[]);
            if carried(&verdict.labels) == labels {
                return;
            }
            assert!(ground.settings.bus.kind == seamripper::config::BusKind::Kafka && again < 19, "{verdict:?}");
        }
    };
    taken_in(2, &["spam mirror m0"]);
    let trusted = told(ground, &["--domain", "sender4.example", "allow", "--why", "our own parcels"]);
    assert_eq!(trusted[0]["target"]["domain"], "sender4.example");
    taken_in(3, &["spam mirror m0"]);
    let authenticated = [("authenticated-domain", "sender4.example")];
    let allowed = mailed(ground, "allowed", campaign(4), &authenticated);
    assert_eq!(carried(&allowed.labels), ["allow domain sender4.example", "spam mirror m0 !"]);
    let forged = mailed(ground, "forged", campaign(4), &[]);
    assert_eq!(carried(&forged.labels), ["spam mirror m0"]);
    // Another copy stands for the group as well.
    let [undone] = &told(ground, &["undo", "forged", "spam", "--why", "it was ours"])[..] else { panic!("one label") };
    assert_eq!((&undone["undo"], &undone["target"]["document"]), (&true.into(), &"m0".into()));
    taken_in(5, &[]);
    let [history] = &told(ground, &["history", "m1"])[..] else { panic!("one answer") };
    Schema::named("labels").check("a history", history);
    let said: Vec<_> = history["history"].as_array().unwrap().iter().map(|one| one["why"].as_str().unwrap()).collect();
    assert!(history["labels"].as_array().unwrap().is_empty(), "{history}");
    assert_eq!(said.last(), Some(&"it was ours"), "{history}");
    if ground.settings.bus.kind == seamripper::config::BusKind::Embedded {
        assert_eq!(said, ["forty complaints", "it was ours"], "{history}");
    }
}

#[test]
fn a_label_holds_for_a_group_until_it_is_taken_back() {
    let served = served(|_| ());
    a_campaign_is_labelled_by_one_of_its_copies(&served.ground);
    let Served { mut process, ground, .. } = served;
    process.signal("TERM");
    assert!(process.ended().success(), "{}", process.log());
    let n = verdicts(&*ground.open(), &ground).len();
    audited(&ground, n);
}

/// The same on Kafka, where the last verdict of a document is looked for from the end.
#[test]
fn labels_hold_on_kafka_too() {
    let ground = crate::run::hasty(crate::kafka::ground());
    drop(ground.prepared());
    let mut process = crate::run::Process::start(&ground, &["run"], None);
    process.says("seat taken");
    a_campaign_is_labelled_by_one_of_its_copies(&ground);
    process.signal("TERM");
    assert!(process.ended().success(), "{}", process.log());
    let n = verdicts(&*ground.open(), &ground).len();
    audited(&ground, n);
}

/// A ground on which nothing runs.
fn quiet() -> Ground {
    crate::http::ground(|settings| settings.http.enabled = false)
}

/// Nothing runs: what is said waits on the bus for the next run.
#[test]
fn labels_need_no_run() {
    let ground = quiet();
    let nothing = label(&ground, &["list"]);
    assert_eq!(nothing.status.code(), Some(1), "there is no bus yet");
    // Nobody knows these yet.
    let output = label(&ground, &["m0", "spam", "--by", "bob"]);
    assert!(
        output.status.success() && stderr(&output).contains("no verdict on a document `m0`"),
        "{}",
        stderr(&output)
    );
    let unknown = label(&ground, &["t-00000000000000ff", "spam", "--by", "bob"]);
    assert!(unknown.status.success(), "{}", stderr(&unknown));
    assert!(stderr(&unknown).contains("no cluster `t-00000000000000ff` is known"), "{}", stderr(&unknown));
    let hint = label(&ground, &["sender4.example", "allow"]);
    assert!(stderr(&hint).contains("--domain"), "{}", stderr(&hint));
    for _ in 0..2 {
        told(&ground, &["add", "m0", "spam", "--why", "twice is once", "--as-is"]);
    }
    let feeder = || ground.open().feeder().unwrap();
    let mail = |number: usize| Outgoing {
        key: Some(format!("m{number}").into()),
        value: Some(campaign(number)),
        ..Outgoing::to(ground.settings.topics.emails.as_str())
    };
    feeder().append(vec![mail(0)]).unwrap();
    drain(&ground);
    feeder().append(vec![mail(1)]).unwrap();
    drain(&ground);
    let all = verdicts(&*ground.open(), &ground);
    let of = |id: &str| carried(&all.values().find(|verdict| verdict.id == id).unwrap().labels);
    assert_eq!((of("m0"), of("m1")), (vec!["spam document m0".to_owned()], vec!["spam mirror m0".to_owned()]));
    // What others have said is theirs.
    let refused = label(&ground, &["undo", "m1", "spam", "--by", "eve"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(stderr(&refused).contains("ada, bob") && stderr(&refused).contains("--everyone"), "{}", stderr(&refused));
    let undone = label(&ground, &["undo", "m1", "spam"]);
    assert!(undone.status.success() && stderr(&undone).contains("others say so too: bob"), "{}", stderr(&undone));
    let undone = told(&ground, &["undo", "m1", "spam", "--everyone"]);
    assert_eq!((&undone[0]["by"], &undone[0]["undone_by"]), (&"bob".into(), &"ada".into()));
    let none = label(&ground, &["undo", "m1", "spam"]);
    assert!(none.status.success() && stderr(&none).contains("nothing is taken back"), "{}", stderr(&none));
    assert_eq!(told(&ground, &["list"]).len(), 2, "what is on the cluster, and allow on what looks like a domain");
    audited(&ground, 2);
}

#[test]
fn labels_travel_in_files() {
    let ground = quiet();
    told(&ground, &["a", "spam", "--why", "one\u{202e}"]);
    told(&ground, &["t-0123456789abcdef", "farm"]);
    told(&ground, &["--domain", "a.example", "allow", "--by", "bob"]);
    told(&ground, &["b", "spam"]);
    told(&ground, &["undo", "b", "spam"]);
    let schema = Schema::named("label");
    let listed = told(&ground, &["list", "--json"]);
    listed.iter().for_each(|line| schema.check("a label", line));
    assert_eq!(listed.len(), 3);
    assert_eq!(told(&ground, &["list", "--by", "bob"]), [listed[2].clone()]);
    assert_eq!(told(&ground, &["list", "--label", "farm"])[0]["target"]["cluster"], "t-0123456789abcdef");
    assert_eq!(told(&ground, &["list", "a"]), [listed[0].clone()]);
    let file = ground.folder.path().join("labels.jsonl");
    told(&ground, &["export", "-o", "labels.jsonl"]);
    assert_eq!(std::fs::read_to_string(&file).unwrap().lines().count(), 3);
    let other = quiet();
    let path = file.to_str().unwrap();
    for (n_labels, n_unchanged) in [(3, 0), (0, 3)] {
        let summary = &told(&other, &["import", path, "--json"])[0];
        assert_eq!(
            (&summary["n_labels"], &summary["n_unchanged"]),
            (&n_labels.into(), &n_unchanged.into()),
            "{summary}"
        );
    }
    assert_eq!(told(&other, &["list"]), listed);
    // One wrong line, and nothing is taken.
    let wrong = std::fs::read_to_string(&file).unwrap().replace("spam", "ham") + "{\"target\": 3}\n";
    std::fs::write(&file, wrong).unwrap();
    let refused = label(&other, &["import", path]);
    assert!(refused.status.code() == Some(1) && stderr(&refused).contains("line 4"), "{}", stderr(&refused));
    assert_eq!(told(&other, &["list"]), listed);
    assert_eq!(records(&*other.open(), "labels").len(), 3);
    for usage in [
        &["a"][..],
        &["a", "spam "],
        &["a", ""],
        &["--domain", "www.a.example", "spam"],
        &["--domain", "--cluster", "a", "spam"],
    ] {
        let refused = label(&other, usage);
        assert_eq!(refused.status.code(), Some(2), "{usage:?}: {}", stderr(&refused));
    }
}
