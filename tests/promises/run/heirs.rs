//! What was said of a cluster holds for the one that takes its place when the settings change, and readers of `clusters` are told.

use super::records;
use super::succession::{BESIDE, Force, ONE, SUCCEEDED, Stage};
use seamripper::bus::Outgoing;
use seamripper::verdict::event::{Verdict, Via};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

/// The bundled pages, some hosts of which are farms of one template, under addresses of their own for each `round`.
fn pages(stage: &Stage, round: usize) -> Vec<Outgoing> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("demo/corpus/pages.jsonl");
    let lines = std::fs::read_to_string(path).unwrap();
    let page = |line: &str| {
        let mut page: serde_json::Value = serde_json::from_str(line).unwrap();
        let url = format!("{}?round={round}", page["url"].as_str().unwrap());
        page["url"] = url.clone().into();
        let (key, value) = (Some(url.into_bytes()), Some(page.to_string().into_bytes()));
        Outgoing { key, value, ..Outgoing::to(stage.ground.settings.topics.pages.as_str()) }
    };
    lines.lines().filter(|line| !line.is_empty()).map(page).collect()
}

/// The last verdict on each page of a round, by its address without the round.
fn of_round(stage: &Stage, round: usize) -> BTreeMap<String, Verdict> {
    let mut all: Vec<Verdict> = stage.verdicts().into_values().collect();
    all.sort_by_key(|verdict| verdict.revision);
    let end = format!("?round={round}");
    let page = |verdict: Verdict| Some((verdict.id.strip_suffix(&end)?.to_owned(), verdict));
    all.into_iter().filter_map(page).collect()
}

/// Which pages are in which cluster.
fn members(verdicts: &BTreeMap<String, Verdict>) -> HashMap<String, BTreeSet<String>> {
    let mut members: HashMap<String, BTreeSet<String>> = HashMap::new();
    for (page, verdict) in verdicts {
        if let Some(template) = &verdict.template {
            members.entry(template.cluster.clone()).or_default().insert(page.clone());
        }
    }
    members
}

/// Pages that carry the label, each by way of this cluster.
fn carrying(verdicts: &BTreeMap<String, Verdict>, cluster: &str) -> BTreeSet<String> {
    let mut carrying = BTreeSet::new();
    for (page, verdict) in verdicts {
        for label in &verdict.labels {
            assert_eq!(
                (label.label.as_str(), label.via, label.of.as_str()),
                ("farm", Via::Template, cluster),
                "{page}"
            );
            carrying.insert(page.clone());
        }
    }
    carrying
}

#[test]
fn a_label_on_a_cluster_outlives_it() {
    let stage = Stage::new();
    let changed = stage.after(&Force { secret: "two", ..ONE }, &ONE);
    stage.feed(0.0, pages(&stage, 0));
    stage.drain(&ONE);
    let clusters = members(&of_round(&stage, 0));
    let (cluster, farm) = clusters.iter().max_by_key(|(id, pages)| (pages.len(), (*id).clone())).unwrap();
    assert!(farm.len() >= 5 && clusters.len() >= 2, "{clusters:?}");
    let label = stage.command(&ONE, &["label", cluster, "farm", "--why", "a test"]).output().unwrap();
    assert!(label.status.success(), "{}", String::from_utf8_lossy(&label.stderr));

    stage.feed(1.0, pages(&stage, 1));
    assert!(stage.drain(&changed).contains(BESIDE));
    let before = carrying(&of_round(&stage, 1), cluster);
    assert!(farm.is_subset(&before), "{farm:?} but {before:?}");
    stage.feed(2.6, pages(&stage, 2).split_off(60));
    assert!(stage.drain(&changed).contains(SUCCEEDED));
    stage.feed(2.7, pages(&stage, 3));
    stage.drain(&changed);
    let last = of_round(&stage, 3);
    let after = carrying(&last, cluster);
    assert!(farm.is_subset(&after), "{farm:?} but {after:?}");
    let others: BTreeSet<String> =
        clusters.iter().filter(|(id, _)| *id != cluster).flat_map(|(_, pages)| pages.clone()).collect();
    assert!(after.is_disjoint(&others.difference(farm).cloned().collect()), "no page of another template carries it");

    // Who reads the topic of clusters knows which has gone, and the one that has come.
    let mut known: HashMap<String, bool> = HashMap::new();
    for record in records(&*stage.ground.open(), &stage.ground.settings.topics.clusters) {
        known.insert(String::from_utf8(record.key.unwrap()).unwrap(), record.value.is_some());
    }
    assert_eq!(known.get(cluster), Some(&false), "{cluster} has gone");
    for id in members(&last).keys() {
        assert_eq!(known.get(id), Some(&true), "{id} is there");
    }
    let n = 3 * pages(&stage, 0).len() + pages(&stage, 2).split_off(60).len();
    stage.audited(&changed, n);
}
