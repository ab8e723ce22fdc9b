//! What was said of late can be asked for, on every instance and after every restart: verdicts, documents, prototypes, clusters.

use super::{Served, encoded, ground, ground_on_kafka, listening, served};
use crate::bus::Ground;
use crate::run::Process;
use crate::schemas::Schema;
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub(crate) const QUILT: &str = "https://creditfixers.example/cred8/a-mirror-plate-for-hazel-bay.html";
pub(crate) const COPY: &str = "https://bestreads-daily.example/r/7230";
pub(crate) const HEAD: &str =
    "https://towpathtimes.example/towpath/a-harvest-with-fabian-thorngren-in-upper-polwick.html";

/// Documents of the corpus; some of its pages were fetched again.
const N_IDS: usize = 280;

/// The whole list, page by page.
fn listed(served: &Served, query: &str) -> Vec<Value> {
    let mut all = Vec::new();
    let mut before = String::new();
    loop {
        let list = served.get(&format!("/v1/verdicts?limit=50{query}{before}")).json();
        all.extend(list["verdicts"].as_array().unwrap_or_else(|| panic!("{list}")).iter().cloned());
        match list["next"].as_str() {
            Some(next) => before = format!("&before={next}"),
            None => return all,
        }
    }
}

/// The last verdict of each id, by the topic.
fn published(served: &Served) -> BTreeMap<String, Value> {
    let mut last = BTreeMap::new();
    for mut verdict in served.verdicts("from=beginning&wait=1.5") {
        verdict.as_object_mut().unwrap().remove("cursor");
        last.insert(verdict["id"].as_str().unwrap().to_owned(), verdict);
    }
    last
}

fn by_id(verdicts: Vec<Value>) -> BTreeMap<String, Value> {
    verdicts.into_iter().map(|verdict| (verdict["id"].as_str().unwrap().to_owned(), verdict)).collect()
}

/// The sizes of all clusters.
fn clusters(served: &Served) -> BTreeMap<String, u64> {
    let list = served.get("/v1/clusters?limit=1000").json();
    let sizes = list["clusters"].as_array().unwrap().iter();
    sizes.map(|cluster| (cluster["id"].as_str().unwrap().to_owned(), cluster["size"].as_u64().unwrap())).collect()
}

/// The same clusters, as they were then or later: they are told of when they have grown by a tenth, and whoever comes from a
/// snapshot knows their sizes exactly.
fn are_no_older(sizes: &BTreeMap<String, u64>, earlier: &BTreeMap<String, u64>) -> bool {
    sizes.len() == earlier.len() && earlier.iter().all(|(id, size)| sizes.get(id).is_some_and(|now| now >= size))
}

/// The same answers from the instance that judges, from one that stands by, and from one that takes over.
fn what_was_said_can_be_asked_for_everywhere(ground: Ground) {
    let served = Served::start(ground);
    served.process.says("seat taken");
    let served = served.with_corpus();
    let expected = published(&served);
    assert!(expected.len() == N_IDS && expected.values().any(|verdict| verdict["revision"] != 0), "{}", expected.len());
    let all = listed(&served, "");
    assert_eq!((all.len(), by_id(all)), (N_IDS, expected.clone()));
    served.good("/v1/clusters?limit=1000", "clusters");
    let known = clusters(&served);
    assert!(known.len() > 3, "{known:?}");

    // A standby, and one that came after what is trimmed of its own beginning.
    let mut second = Process::start(&served.ground, &["run"], None);
    let standby = Served {
        address: listening(&second),
        process: second,
        token: served.token.clone(),
        ground: ground_like(&served.ground),
    };
    standby.until("/v1/stats", |stats| stats["state"] == "standby" && stats["held"]["verdicts"] == N_IDS);
    assert_eq!(by_id(listed(&standby, "")), expected);
    assert!(are_no_older(&clusters(&standby), &known));
    assert_eq!(standby.good(&format!("/v1/documents/{COPY}"), "document")["known"]["group"]["head"], HEAD);
    // What is said from now on is heard there too.
    let again = json!({"id": "new", "html": super::page(7)}).to_string();
    assert_eq!(served.post("/v1/pages", "application/json", &[], again.as_bytes()).status, 200);
    standby.until("/v1/documents/new", |document| document["verdict"]["id"] == "new");
    standby.until("/v1/stats", |stats| stats["total"]["documents"] == 1);
    second = standby.process;
    second.signal("TERM");
    assert!(second.ended().success(), "{}", second.log());

    let expected = published(&served);
    let known = clusters(&served);
    let served = served.restarted();
    served.until("/v1/stats", |stats| stats["held"]["verdicts"] == N_IDS + 1);
    // How clusters have grown is still told; where the topic was compacted, less of it.
    let (largest, size) = known.iter().max_by_key(|(_, size)| **size).unwrap();
    served.until(&format!("/v1/clusters/{largest}"), |shown| shown["growth"].as_array().unwrap().len() >= 2);
    let growth = served.good(&format!("/v1/clusters/{largest}"), "members")["growth"].clone();
    let last = growth.as_array().unwrap().last().unwrap()["size"].as_u64().unwrap();
    assert!(last >= *size && growth[0]["size"] == 5, "{growth}");
    let all = listed(&served, "");
    assert_eq!(by_id(all.clone()), expected);
    assert_eq!(all[0]["id"], "new", "the newest is the first");
    assert!(are_no_older(&clusters(&served), &known));
}

/// Another ground with the same settings: only to be asked.
fn ground_like(other: &Ground) -> Ground {
    let Ground { settings, silence, .. } = other;
    Ground { settings: settings.clone(), silence: *silence, folder: tempfile::tempdir().unwrap() }
}

#[test]
fn what_was_said_can_be_asked_for_everywhere_on_one_machine() {
    what_was_said_can_be_asked_for_everywhere(ground(|_| ()));
}

#[test]
fn what_was_said_can_be_asked_for_everywhere_on_kafka() {
    what_was_said_can_be_asked_for_everywhere(ground_on_kafka());
}

#[test]
fn lists_are_chosen_and_gone_on_with() {
    let served = served(|_| ()).with_corpus();
    let all = listed(&served, "");
    let schema = Schema::named("verdicts");
    schema.check("a list", &served.get("/v1/verdicts?limit=1000").json());
    let copy = by_id(all.clone())[COPY].clone();
    let domain = copy["domain"].as_str().unwrap();
    let cluster = all.iter().find_map(|verdict| verdict["cluster"].as_str()).unwrap();
    type Chosen<'a> = Box<dyn Fn(&Value) -> bool + 'a>;
    let is = |name: &'static str, value: &'static str| -> Chosen<'_> {
        Box::new(move |verdict: &Value| {
            verdict["classes"].as_array().unwrap().iter().any(|class| class == value) && !name.is_empty()
        })
    };
    let checks: Vec<(String, Chosen<'_>)> = vec![
        ("class=quilt".into(), is("class", "quilt")),
        (
            "class=original".into(),
            Box::new(|verdict| verdict["classes"] == json!([]) && verdict["outcome"] == "judged"),
        ),
        ("kind=page".into(), Box::new(|_| true)),
        ("kind=email".into(), Box::new(|_| false)),
        (format!("domain={domain}"), Box::new(|verdict| verdict["domain"] == domain)),
        (
            format!("group={}", encoded(HEAD)),
            Box::new(|verdict| verdict["id"] == HEAD || verdict["mirror"]["of"] == HEAD),
        ),
        (format!("cluster={cluster}"), Box::new(|verdict| verdict["cluster"] == cluster)),
        (
            format!("cluster={cluster}&class=mirror,quilt"),
            Box::new(|verdict| {
                verdict["cluster"] == cluster && (!verdict["mirror"].is_null() || !verdict["quilt"].is_null())
            }),
        ),
        ("label=spam".into(), Box::new(|_| false)),
        (
            "q=EDITFIXERS.exampl".into(),
            Box::new(|verdict| verdict["domain"].as_str().is_some_and(|domain| domain == "creditfixers.example")),
        ),
        (
            "q=CREDITFIXERS.example%2Fcred8".into(),
            Box::new(|verdict| verdict["id"].as_str().unwrap().contains("creditfixers.example/cred8")),
        ),
    ];
    for (query, chosen) in &checks {
        let expected: Vec<&Value> = all.iter().filter(|verdict| chosen(verdict)).collect();
        let found = listed(&served, &format!("&{query}"));
        assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{query}");
        // The streams choose alike.
        let streamed = by_id(served.verdicts(&format!("from=beginning&wait=0.3&{query}")));
        assert!(expected.iter().all(|verdict| streamed.contains_key(verdict["id"].as_str().unwrap())), "{query}");
    }
    assert!(checks.iter().filter(|(_, chosen)| all.iter().any(chosen)).count() >= 7, "most choose something");
    for (query, reason) in [
        ("limit=0", "query"),
        ("limit=1001", "query"),
        ("before=x", "query"),
        ("kind=web", "query"),
        ("since=0", "query"),
        ("wait=1", "query"),
    ] {
        served.get(&format!("/v1/verdicts?{query}")).problem(400, reason);
    }
    served.get("/v1/verdicts?before=00000000-1").problem(410, "gone");
}

#[test]
fn clusters_are_ranked_and_shown_with_members() {
    let served = served(|_| ()).with_corpus();
    let all = served.good("/v1/clusters?limit=1000", "clusters");
    let clusters = all["clusters"].as_array().unwrap();
    assert_eq!(all["n"], clusters.len());
    for (sort, key) in [("rank", "rank"), ("size", "size"), ("domains", "domains")] {
        let list = served.get(&format!("/v1/clusters?sort={sort}")).json();
        let values: Vec<f64> =
            list["clusters"].as_array().unwrap().iter().map(|cluster| cluster[key].as_f64().unwrap()).collect();
        assert!(values.is_sorted_by(|a, b| a >= b) && values.len() == clusters.len(), "{sort}: {values:?}");
    }
    assert_eq!(served.good("/v1/clusters?sort=recent&limit=2", "clusters")["clusters"].as_array().unwrap().len(), 2);
    let farms = served.get("/v1/clusters?kind=link_farm").json();
    let farms = farms["clusters"].as_array().unwrap();
    assert!(!farms.is_empty() && farms.iter().all(|cluster| cluster["kind"] == "link_farm"), "{farms:?}");
    for told in clusters {
        let id = told["id"].as_str().unwrap();
        let shown = served.good(&format!("/v1/clusters/{id}?members=1000"), "members");
        let members = shown["members"].as_array().unwrap();
        // All were judged of late; those of a cluster that became part of this one bear its id.
        let (size, n) = (shown["cluster"]["size"].as_u64().unwrap(), members.len() as u64);
        assert!(n <= size && 10 * n >= 8 * size, "{id}: {n} of {size}");
        let leader = &shown["cluster"]["leaders"][0];
        assert!(members.iter().any(|member| member["id"] == *leader), "{id}: no {leader}");
        assert!(shown["cluster"]["size"].as_u64() >= told["size"].as_u64(), "as it is now, not as it was told of");
        let growth = shown["growth"].as_array().unwrap();
        let sizes: Vec<u64> = growth.iter().map(|point| point["size"].as_u64().unwrap()).collect();
        assert!(
            sizes.is_sorted() && sizes.first() == Some(&5) && sizes.last() == told["size"].as_u64().as_ref(),
            "{shown}"
        );
        assert_eq!(served.get(&format!("/v1/clusters/{id}?members=1")).json()["members"].as_array().unwrap().len(), 1);
    }
    served.get("/v1/clusters/t-0000000000000000").problem(404, "unknown_cluster");
    served.get("/v1/clusters?sort=best").problem(400, "query");
    served.get("/v1/clusters/x?members=-1").problem(400, "query");
}

#[test]
fn documents_and_prototypes_tell_what_the_store_keeps() {
    let served = served(|_| ()).with_corpus();
    let copy = served.good(&format!("/v1/documents/{COPY}"), "document");
    assert_eq!(copy["verdict"]["mirror"]["of"], HEAD, "{copy}");
    // It is less like the head than others may be like it, so that these are compared with it too.
    assert_eq!(copy["known"]["group"]["prototypes"], json!([HEAD, COPY]));
    assert_eq!(copy["known"]["prototype"]["is_head"], false);
    assert_eq!((&copy["source"], &copy["source"]["topic"]), (&copy["verdict"]["source"], &"pages".into()));
    let head = served.good(&format!("/v1/documents/{HEAD}"), "document");
    assert_eq!(head["known"]["group"], copy["known"]["group"]);
    let prototype = served.good(&format!("/v1/prototypes/{HEAD}"), "prototype");
    assert_eq!((&prototype["group"]["head"], &prototype["group"]["size"]), (&HEAD.into(), &2.into()), "{prototype}");
    assert_eq!((&prototype["is_head"], &prototype["url"]), (&true.into(), &HEAD.into()));
    assert!(
        prototype["kept"]["proof_bytes"].as_u64().unwrap() > 100 && prototype["kept"]["n_grams"].as_u64().unwrap() > 10
    );
    assert_eq!(prototype["source"], head["source"]);
    for id in ["first", "second"] {
        let envelope = json!({"id": id, "html": super::page(1)}).to_string();
        served.post("/v1/pages", "application/json", &[], envelope.as_bytes());
        served.until(&format!("/v1/documents/{id}"), |document| document["verdict"]["id"] == id);
    }
    let second = served.good("/v1/documents/second", "document");
    assert_eq!((&second["known"]["group"]["head"], &second["known"]["prototype"]), (&"first".into(), &Value::Null));
    let none = served.get("/v1/prototypes/second");
    none.problem(404, "no_prototype");
    assert!(none.body.contains("first of its group is first"), "{}", none.body);
    served.get("/v1/prototypes/nobody").problem(404, "no_prototype");
    served.get("/v1/documents/nobody").problem(404, "unknown_document");
    served.get("/v1/documents/nobody?x=y").problem(400, "query");
}

/// What has given way in the directory is still remembered by the store, and the other way round.
#[test]
fn little_is_held_where_little_may_be() {
    let served = served(|settings| {
        settings.http.verdicts_held_max = 10;
        settings.http.clusters_held_max = 1;
    })
    .with_corpus();
    assert_eq!(listed(&served, "").len(), 10);
    let stats = served.get("/v1/stats").json();
    assert_eq!((&stats["held"]["verdicts"], &stats["held"]["clusters"]), (&10.into(), &1.into()));
    served.counts("seamripper_http_held{what=\"verdicts\"} 10");
    let metrics = served.get("/metrics").body;
    let given_way =
        metrics.lines().find(|line| line.starts_with("seamripper_http_held_given_way_total{what=\"verdicts\"}"));
    let n: f64 = given_way.unwrap().rsplit_once(' ').unwrap().1.parse().unwrap();
    assert!(n >= 274.0, "{n}");
    let head = served.good(&format!("/v1/documents/{HEAD}"), "document");
    assert_eq!(head["verdict"]["id"], HEAD, "the store remembers it");
    assert_eq!(head["verdict"], *published(&served).get(HEAD).unwrap());
}

#[test]
fn every_id_can_be_asked_for() {
    let served = served(|_| ());
    let long = "x/".repeat(1024);
    let ids = [
        "https://a.example/x/y?q=1&r=%2F#part",
        "a b",
        "..",
        "../../etc/passwd",
        "%",
        "%2F",
        "+",
        "a//b/",
        "日本語",
        "\"<script>'\\",
        "\u{202e}\u{7f}",
        "*",
        "{id}",
        "?",
        "#",
        ":",
        "t-1",
        &long,
    ];
    for (number, id) in ids.iter().enumerate() {
        let envelope = json!({"id": id, "html": super::page(number)}).to_string();
        let answer = served.post("/v1/pages", "application/json", &[], envelope.as_bytes());
        assert_eq!(answer.status, 200, "{id}: {}", answer.body);
    }
    served.first(ids.len());
    for id in ids {
        for resource in ["documents", "prototypes", "explain", "texts"] {
            let answer = served.get(&format!("/v1/{resource}/{}", encoded(id)));
            assert_eq!((answer.status, answer.json()["id"].as_str()), (200, Some(id)), "{resource} {}", answer.body);
        }
    }
    // Slashes may stand as they are.
    assert_eq!(
        served
            .raw(b"GET /v1/documents/a//b/ HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
            .split(' ')
            .nth(1),
        Some("200")
    );
    for (path, status) in [
        (format!("/v1/documents/{}", "x".repeat(60_000)), "404"),
        ("/v1/documents/%ff%fe".into(), "400"),
        ("/v1/documents/%".into(), "404"),
        ("/v1/documents/".into(), "404"),
        ("/v1/documents".into(), "404"),
        (format!("/v1/documents/{}", "%00".repeat(100)), "404"),
    ] {
        let said =
            served.raw(format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").as_bytes());
        let expected = if path.ends_with("/%") { "200" } else { status };
        assert_eq!(said.split(' ').nth(1), Some(expected), "{} {said}", &path[..path.len().min(60)]);
        assert!(said.contains("application/problem+json") || expected == "200", "{said}");
    }
}
