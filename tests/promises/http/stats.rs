//! How a run is doing, in one look.

use super::{envelope, served};
use seamripper::bus::Outgoing;

#[test]
fn a_run_tells_how_it_is_doing() {
    let served = served(|_| ());
    served.until("/v1/stats", |stats| stats["state"] == "judging" && stats["lag"]["records"] == 0);
    assert_eq!(served.good("/v1/stats", "stats")["total"]["documents"], 0);
    let lines: String = (0..40).map(|number| envelope(number % 30) + "\n").collect();
    served.post("/v1/pages", "application/x-ndjson", &[], lines.as_bytes());
    served.post("/v1/emails", "message/rfc822", &[("id", "broken")], b"\xff\xff");
    served.until("/v1/stats", |stats| stats["total"]["rejected"] == 1 && stats["total"]["pages"] == 40);
    let stats = served.good("/v1/stats", "stats");
    // Ten came again: each is a document of its own, of an id that is known.
    assert_eq!((&stats["total"]["documents"], &stats["total"]["original"]), (&41.into(), &40.into()), "{stats}");
    // A second is counted when it is over.
    let stats =
        served.until("/v1/stats", |stats| stats["windows"][1]["documents"] == 41 && stats["lag"]["records"] == 0);
    assert!(stats["windows"][1]["documents_per_s"].as_f64().unwrap() > 0.5, "{stats}");
    assert_eq!(stats["lag"]["partitions"].as_array().unwrap().len(), 8, "{stats}");
    let tables: f64 =
        stats["memory"]["tables"].as_object().unwrap().values().map(|bytes| bytes.as_f64().unwrap()).sum();
    assert!(
        tables > 1e6
            && tables <= stats["memory"]["store_bytes"].as_f64().unwrap()
            && stats["memory"]["resident_bytes"].as_f64().unwrap() > 1e6
    );
    served.until("/v1/stats", |stats| stats["snapshot"]["bytes"].as_u64().is_some_and(|bytes| bytes > 1000));
    assert!(stats["journal"]["number"].as_u64().unwrap() >= 2 && stats["held"]["verdicts"] == 31, "{stats}");
    served.get("/v1/stats?x=1").problem(400, "query");
}

/// What comes in while nothing is judged is behind.
#[test]
fn a_standby_tells_how_far_the_store_is_behind() {
    let served = served(|_| ());
    served.post("/v1/pages", "application/json", &[], envelope(1).as_bytes());
    served.first(1);
    // The holder hangs, and its lease is long enough.
    served.process.signal("STOP");
    let bus = served.ground.open();
    let pages = (0..5).map(|n| Outgoing {
        key: Some(format!("k{n}").into()),
        value: Some(b"x".to_vec()),
        ..Outgoing::to("pages")
    });
    bus.feeder().unwrap().append(pages.collect()).unwrap();
    served.process.signal("CONT");
    served.until("/v1/stats", |stats| stats["lag"]["records"] == 0 && stats["total"]["documents"] == 6);
}
