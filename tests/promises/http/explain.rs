//! Why a document got its verdict, from the records of the bus.

use super::directory::{COPY, HEAD, QUILT};
use super::{Served, ground, ground_on_kafka, served};
use crate::bus::Ground;
use seamripper::bus::Partition;
use serde_json::Value;
use std::time::{Duration, Instant};

/// Two that have keys in common, and are not alike enough.
const NEAR: [&str; 2] = [
    "https://hobby-portal.example/topic/spun-1",
    "https://nightskyalmanac.example/almanac/more-than-thirty-echo-chambers-in-a-drought.html",
];

fn why_is_told_from_the_records(ground: Ground) {
    let served = Served::start(ground);
    served.process.says("seat taken");
    let served = served.with_corpus();
    for (id, n_shared) in [(QUILT, 7), (COPY, 1)] {
        let begun = Instant::now();
        let explained = served.good(&format!("/v1/explain/{id}"), "explanation");
        println!("explained in {:?}", begun.elapsed());
        assert_eq!(explained["verdict"], served.get(&format!("/v1/documents/{id}")).json()["verdict"]);
        let shared = explained["shared"].as_array().unwrap();
        assert_eq!((shared.len(), &explained["text_is_gone"]), (n_shared, &false.into()), "{id}");
        for with in shared {
            let passages = with["texts"]["passages"].as_array().unwrap_or_else(|| panic!("{with}"));
            assert!(!passages.is_empty() && passages.len() <= 10, "{id} and {}", with["of"]);
            assert!(passages[0]["text_here"].as_str().unwrap().split_whitespace().count() >= 5, "{}", passages[0]);
            assert!(with["texts"]["figures"]["shingles"]["exact"].is_number());
        }
        assert!(explained["scores"].as_array().unwrap().iter().any(|score| score["crossed"] == true));
    }
    // Whichever of the two came last is near to the other.
    let near = NEAR.map(|id| served.good(&format!("/v1/explain/{id}"), "explanation")["near"].clone());
    let is_told = |near: &Value, of: &str| near["of"] == of && near["place"].is_string() && near["why"] == "likeness";
    assert!(is_told(&near[0], NEAR[1]) || is_told(&near[1], NEAR[0]), "{near:?}");
    let copy = served.get(&format!("/v1/explain/{COPY}?passages=1")).json();
    assert!(copy.get("near").is_none(), "it is a mirror");
    let texts = &copy["shared"][0]["texts"];
    assert_eq!((&copy["record"]["copy_of"], texts["passages"].as_array().unwrap().len()), (&HEAD.into(), 1));
    assert!(texts["n_passages"].as_u64().unwrap() >= 1 && texts["this_in_that"].as_f64().unwrap() > 0.5, "{texts}");

    // What the bus has deleted is said to be gone.
    let bus = served.ground.open();
    let topic = served.ground.settings.topics.pages.clone();
    for number in 0..bus.n_partitions(&topic).unwrap() {
        let partition = Partition::new(topic.as_str(), number);
        let end = bus.extent(&partition).unwrap().end;
        bus.trim(&partition, end).unwrap();
    }
    let is_gone = |explained: &Value| {
        explained["text_is_gone"] == true
            && explained["shared"].as_array().unwrap().iter().all(|with| with["texts"].is_null())
    };
    served.until(&format!("/v1/explain/{QUILT}"), is_gone);
    let gone = served.good(&format!("/v1/explain/{QUILT}"), "explanation");
    assert_eq!((&gone["verdict"]["id"], gone["shared"].as_array().unwrap().len()), (&QUILT.into(), 7));
    served.get("/v1/explain/nobody").problem(404, "unknown_document");
    served.get(&format!("/v1/explain/{COPY}?passages=101")).problem(400, "query");
}

#[test]
fn why_is_told_from_the_records_on_one_machine() {
    why_is_told_from_the_records(ground(|_| ()));
}

#[test]
fn why_is_told_from_the_records_on_kafka() {
    why_is_told_from_the_records(ground_on_kafka());
}

/// Many who ask at once are served or told to come again, and the run goes on.
#[test]
fn explanations_are_bounded() {
    let served = served(|_| ()).with_corpus();
    let url = served.url(&format!("/v1/explain/{QUILT}"));
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let asked: Vec<_> = (0..12)
            .map(|_| {
                scope.spawn(|| {
                    let answer = super::answer(super::agent().get(&url).call());
                    if answer.status != 200 {
                        answer.problem(503, "explanations");
                        assert!(answer.headers.contains_key("retry-after"));
                    }
                    answer.status
                })
            })
            .collect();
        asked.into_iter().map(|asked| asked.join().unwrap()).collect()
    });
    println!("{statuses:?}");
    assert!(statuses.contains(&200), "{statuses:?}");
    let begun = Instant::now();
    while served.get(&format!("/v1/explain/{QUILT}")).status != 200 {
        assert!(begun.elapsed() < super::PATIENCE, "the room is given back");
        std::thread::sleep(Duration::from_millis(20));
    }
}
