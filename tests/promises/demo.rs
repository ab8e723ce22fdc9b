//! The bundled corpus is what its generator makes, what `truth.tsv` says of it can be relied on, and the filter agrees.
//!
//! `demo/corpus` is committed, so that the demo and the tests need no Python; `demo/make` wrote it.

use assert_cmd::Command;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

const FILES: [&str; 3] = ["pages.jsonl", "mails.mbox", "mails.jsonl"];

fn demo() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("demo")
}

fn read(folder: &Path, file: &str) -> String {
    let path = folder.join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A row of `truth.tsv`.
struct Truth {
    place: String,
    id: String,
    kind: String,
    of: Vec<String>,
    frame: String,
    note: String,
}

fn truth() -> Vec<Truth> {
    let text = read(&demo().join("corpus"), "truth.tsv");
    let mut rows = text.lines().map(|line| line.split('\t').map(str::to_owned).collect::<Vec<_>>());
    assert_eq!(rows.next().unwrap(), ["place", "id", "kind", "of", "frame", "note"]);
    rows.map(|row| {
        let [place, id, kind, of, frame, note] = row.try_into().expect("six fields");
        let of = of.split(',').filter(|id| *id != "-").map(str::to_owned).collect();
        Truth { place, id, kind, of, frame, note }
    })
    .collect()
}

/// What `sign` prints for the corpus, with the truth of each document.
fn signed() -> Vec<(Truth, Value)> {
    let mut command = Command::cargo_bin("seamripper").unwrap();
    let assert = command.args(["sign", "--quiet"]).args(FILES).current_dir(demo().join("corpus")).assert().code(0);
    let stdout = String::from_utf8(assert.get_output().stdout.clone()).unwrap();
    let objects: Vec<Value> = stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let truth = truth();
    assert_eq!(objects.len(), truth.len(), "a row of truth.tsv for each document");
    truth.into_iter().zip(objects).collect()
}

/// Chance has a fixed seed and there is no clock, so that anyone can make the corpus again or change it knowingly.
#[test]
fn the_generator_makes_the_committed_files() {
    let folder = tempfile::tempdir().unwrap();
    let output = std::process::Command::new("python3").arg(demo().join("make")).arg(folder.path()).output();
    let output = output.expect("python3 is there (`scripts/need python3` installs it)");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for file in FILES.iter().chain(&["truth.tsv"]) {
        let (made, committed) = (read(folder.path(), file), read(&demo().join("corpus"), file));
        let differs = made.lines().zip(committed.lines()).position(|(made, committed)| made != committed);
        assert!(made == committed, "{file} differs, first in line {:?} from 0", differs);
    }
}

#[test]
fn every_document_is_read_and_known_by_its_id() {
    let signed = signed();
    for (truth, object) in &signed {
        assert_eq!((object["place"].as_str(), object["id"].as_str()), (Some(&*truth.place), Some(&*truth.id)));
        let outcome = if truth.kind == "insufficient" { "insufficient" } else { "signed" };
        assert_eq!(object["outcome"], outcome, "{} {}", truth.place, truth.note);
        assert_eq!(object["truncated"], serde_json::json!([]), "{}", truth.place);
    }
    let mut kinds = BTreeMap::new();
    signed.iter().for_each(|(truth, _)| *kinds.entry(&*truth.kind).or_insert(0) += 1);
    for (kind, n) in [("original", 140), ("quilt", 21), ("link_farm", 25), ("template", 40), ("campaign", 33)] {
        assert_eq!(kinds[kind], n, "{kinds:?}");
    }
}

#[test]
fn every_envelope_is_valid_by_its_schema() {
    for (file, schema) in [("pages.jsonl", "page.json"), ("mails.jsonl", "email.json")] {
        let schema: Value = serde_json::from_str(&read(&demo().join("../schemas"), schema)).unwrap();
        let schema = jsonschema::options().should_validate_formats(true).build(&schema).unwrap();
        for (n, line) in read(&demo().join("corpus"), file).lines().enumerate() {
            let errors: Vec<_> =
                schema.iter_errors(&serde_json::from_str(line).unwrap()).map(|e| e.to_string()).collect();
            assert!(errors.is_empty(), "{file}#{}: {errors:?}", n + 1);
        }
    }
}

/// A document stands behind what it was made from, but for the quilts that are there to be revised.
#[test]
fn sources_are_in_the_corpus_and_come_first_unless_the_note_says_so() {
    let truth = truth();
    let mut first = HashMap::new();
    truth.iter().enumerate().for_each(|(n, row)| {
        first.entry(&*row.id).or_insert(n);
    });
    let mut n_early = 0;
    for (n, row) in truth.iter().enumerate().filter(|(_, row)| row.kind != "campaign") {
        let early = row.note == "arrives before its sources";
        n_early += usize::from(early);
        for source in &row.of {
            assert_eq!(n < first[&**source], early, "{} and {source}", row.place);
        }
    }
    assert_eq!(n_early, 4);
}

/// What is called original is so by the measure of the filter: no gram and no long sentence on two servers.
#[test]
fn originals_share_no_passage() {
    let alone = ["original", "day", "link_farm", "template", "newsletter", "personal", "list"];
    let signed = signed();
    let mut owners: HashMap<(&str, &str), HashSet<&str>> = HashMap::new();
    for (truth, object) in signed.iter().filter(|(truth, _)| alone.contains(&&*truth.kind)) {
        let signatures = &object["signatures"];
        let grams = signatures["grams"].as_array().unwrap().iter().map(|gram| ("gram", &gram[0]));
        let sentences =
            signatures["sentences"].as_array().unwrap().iter().map(|sentence| ("sentence", &sentence["hash"]));
        // A site's own footer stands on all its pages.
        let server = object["domain"].as_str().unwrap_or(&truth.frame);
        for (sort, hash) in grams.chain(sentences) {
            owners.entry((sort, hash.as_str().unwrap())).or_default().insert(server);
        }
    }
    assert!(owners.len() > 5_000, "{}", owners.len());
    let shared: Vec<_> = owners.iter().filter(|(_, servers)| servers.len() > 1).collect();
    assert!(shared.is_empty(), "{shared:?}");
}

/// The last verdict on every document, with its truth.
fn judged() -> Vec<(Truth, Value)> {
    static EVENTS: OnceLock<String> = OnceLock::new();
    let events = EVENTS.get_or_init(|| {
        let mut command = Command::cargo_bin("seamripper").unwrap();
        command.env("SEAMRIPPER_STORE__MEMORY", "67108864").current_dir(demo().join("corpus"));
        let assert = command.args(["scan", "--quiet"]).args(FILES).assert().code(0);
        String::from_utf8(assert.get_output().stdout.clone()).unwrap()
    });
    let mut last: HashMap<String, Value> = HashMap::new();
    for verdict in events.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        let (path, number) = (verdict["source"]["topic"].as_str().unwrap(), &verdict["source"]["offset"]);
        last.insert(format!("{path}#{number}"), verdict);
    }
    let truth = truth();
    assert_eq!(last.len(), truth.len());
    truth.into_iter().map(|row| (last.remove(&row.place).unwrap(), row)).map(|(verdict, row)| (row, verdict)).collect()
}

/// The rows of a kind.
fn of_kind<'a>(judged: &'a [(Truth, Value)], kind: &'a str) -> impl Iterator<Item = (&'a Truth, &'a Value)> {
    judged.iter().filter(move |(truth, _)| truth.kind == kind).map(|(truth, verdict)| (truth, verdict))
}

fn is(verdict: &Value, class: &str) -> bool {
    verdict["classes"].as_array().unwrap().iter().any(|name| name == class)
}

#[test]
fn copies_and_mirrors_name_their_original() {
    let judged = judged();
    for (kind, relation) in [("copy", "copy"), ("mirror", "mirror")] {
        for (truth, verdict) in of_kind(&judged, kind).filter(|(truth, _)| truth.note != "every tenth word changed") {
            let mirror = &verdict["mirror"];
            assert_eq!((&mirror["of"], &mirror["relation"]), (&(&*truth.of[0]).into(), &relation.into()), "{verdict}");
        }
    }
    for (truth, verdict) in of_kind(&judged, "boilerplate") {
        assert_eq!(verdict["mirror"]["of"].as_str(), truth.of.first().map(String::as_str), "{verdict}");
    }
    for (truth, verdict) in of_kind(&judged, "month") {
        assert!(is(verdict, "mirror") && verdict["mirror"]["relation"] == "archive", "{}: {verdict}", truth.place);
        assert!(truth.of.iter().any(|day| verdict["mirror"]["of"] == **day), "{verdict}");
    }
    // Nothing else is a copy, not even a page that was fetched again.
    let copies = ["copy", "mirror", "boilerplate", "month", "campaign"];
    for (truth, verdict) in judged.iter().filter(|(truth, _)| !copies.contains(&&*truth.kind)) {
        assert!(!is(verdict, "mirror"), "{} {verdict}", truth.kind);
    }
}

/// With every tenth word changed a third of the shingles is left: such a page is no mirror at the default threshold,
/// but most of its words are known to stand in one other.
#[test]
fn spun_copies_show_in_their_patches() {
    let judged = judged();
    let spun: Vec<_> = of_kind(&judged, "copy").filter(|(truth, _)| truth.note == "every tenth word changed").collect();
    assert_eq!(spun.len(), 2);
    for (_, verdict) in spun {
        let features = &verdict["features"];
        assert!(features["patch_fraction"].as_f64().unwrap() > 0.5 && features["n_sources"] == 1.0, "{verdict}");
    }
}

#[test]
fn quilts_and_aggregators_name_all_their_sources_and_no_others() {
    let judged = judged();
    for kind in ["quilt", "aggregator"] {
        for (truth, verdict) in of_kind(&judged, kind) {
            assert_eq!(verdict["quilt"]["kind"], kind, "{verdict}");
            let sources = verdict["quilt"]["sources"].as_array().unwrap();
            let named: BTreeSet<&str> = sources.iter().map(|source| source["of"].as_str().unwrap()).collect();
            assert_eq!(named, truth.of.iter().map(String::as_str).collect(), "{}", truth.place);
        }
    }
    // Excerpts, a home page that quotes its own articles and a second domain of one server are none.
    for (truth, verdict) in judged.iter().filter(|(truth, _)| !["quilt", "aggregator"].contains(&&*truth.kind)) {
        assert!(!is(verdict, "quilt"), "{} {verdict}", truth.kind);
    }
}

/// From the fifth page on a cluster is a template; whoever came before stays what it was called.
#[test]
fn pages_and_newsletters_of_one_template_are_one_from_the_fifth_on() {
    let judged = judged();
    let mut of_frame: HashMap<&str, Vec<&str>> = HashMap::new();
    let mut clusters: HashMap<&str, HashSet<&str>> = HashMap::new();
    for (truth, verdict) in judged.iter().filter(|(truth, _)| truth.kind != "campaign") {
        let members = of_frame.entry(&truth.frame).or_default();
        if !members.contains(&&*truth.id) {
            members.push(&truth.id);
        }
        let number = members.iter().position(|id| *id == truth.id).unwrap();
        let expected = truth.frame != "-" && number >= 4;
        assert_eq!(is(verdict, "template"), expected, "{} {verdict}", truth.frame);
        if expected {
            let kind = match &*truth.kind {
                "link_farm" => "link_farm",
                "boilerplate" => "copy_paste",
                _ => "template",
            };
            assert_eq!(verdict["template"]["kind"], kind, "{verdict}");
            clusters.entry(&truth.frame).or_default().insert(verdict["cluster"].as_str().unwrap());
        }
    }
    assert!(clusters.len() > 5 && clusters.values().all(|clusters| clusters.len() == 1), "{clusters:?}");
}

#[test]
fn a_campaign_is_one_group_with_its_spread() {
    let judged = judged();
    for (campaign, head, n, domains_min) in
        [("parcels", "mails.mbox#1", 25, 10), ("inheritance", "inheritance-6", 8, 5)]
    {
        let mails: Vec<_> = of_kind(&judged, "campaign").filter(|(truth, _)| truth.of == [campaign]).collect();
        assert_eq!((mails.len(), &*mails[0].0.id), (n, head));
        for (_, verdict) in &mails[1..] {
            assert_eq!(verdict["mirror"]["of"], head, "{verdict}");
        }
        let last = &mails[n - 1].1["mirror"];
        assert_eq!(last["size"], n, "{last}");
        assert!(last["domains"].as_u64().unwrap() >= domains_min, "{last}");
    }
    for kind in ["newsletter", "list", "footer_only", "personal"] {
        for (_, verdict) in of_kind(&judged, kind) {
            assert!(!is(verdict, "mirror") && verdict["outcome"] == "judged", "{verdict}");
        }
    }
}

#[test]
fn recrawls_are_known_and_too_little_is_insufficient() {
    let judged = judged();
    for (truth, verdict) in of_kind(&judged, "recrawl") {
        let recrawl = if truth.note == "unchanged" { "unchanged" } else { "changed" };
        assert_eq!((&verdict["recrawl"], is(verdict, "mirror")), (&recrawl.into(), false), "{verdict}");
    }
    for (truth, verdict) in &judged {
        let expected = if truth.kind == "insufficient" { "insufficient" } else { "judged" };
        assert_eq!(verdict["outcome"], expected, "{verdict}");
        assert_eq!(verdict["recrawl"].is_null(), truth.kind != "recrawl", "{verdict}");
    }
}

/// What `make demo` runs once the binary is built: in, out, audited, reported, and over.
#[test]
fn the_demo_runs_to_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let output = std::process::Command::new(demo().join("run"))
        .env("SEAMRIPPER", env!("CARGO_BIN_EXE_seamripper"))
        .env("CARGO_TARGET_DIR", folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("356 documents are durable") && said.contains("nothing is lost"), "{said}");
    let verdicts = read(&folder.path().join("demo"), "verdicts.jsonl");
    let ids: BTreeSet<String> = verdicts
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].as_str().unwrap().to_owned())
        .collect();
    let wanted: BTreeSet<String> = truth().into_iter().map(|row| row.id).collect();
    assert_eq!(ids, wanted);
    assert!(folder.path().join("demo/report.html").exists());
}
