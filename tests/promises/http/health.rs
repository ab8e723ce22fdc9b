//! How an instance is, for those who watch it.

use super::{Answer, envelope, ground, listening, served};
use crate::run::Process;
use crate::schemas::Schema;
use seamripper::bus;
use seamripper::http::{Http, Phase, Role, State};
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

fn readiness(address: SocketAddr) -> Answer {
    super::answer(super::agent().get(format!("http://{address}/readyz")).call())
}

#[test]
fn a_standby_is_ready_and_a_restoring_instance_is_not() {
    let ground = ground(|_| ());
    let bus = bus::open(&ground.settings).unwrap();
    let state = Arc::new(State::new(Role::All));
    let http = Http::start(Arc::new(ground.settings.clone()), bus, state.clone()).unwrap();
    let schema = Schema::named("readiness");
    for (phase, status, name) in [
        (Phase::Starting, 503, "starting"),
        (Phase::Restoring, 503, "restoring"),
        (Phase::Standby, 200, "standby"),
        (Phase::Judging, 200, "judging"),
        (Phase::Stopping, 503, "stopping"),
        (Phase::Failed, 503, "failed"),
    ] {
        state.set_phase(phase);
        let answer = readiness(http.address());
        let json = answer.json();
        schema.check(name, &json);
        assert_eq!((answer.status, &json["state"], &json["role"]), (status, &name.into(), &"all".into()));
        assert_eq!(json["ready"], status == 200);
    }
    let begun = Instant::now();
    http.stop(Duration::from_secs(5));
    assert!(begun.elapsed() < Duration::from_secs(4), "there was nothing to wait for");
}

#[test]
fn two_instances_tell_who_judges() {
    let served = served(|_| ());
    let mut second = Process::start(&served.ground, &["run"], None);
    let address = listening(&second);
    let begun = Instant::now();
    while readiness(address).status != 200 {
        assert!(begun.elapsed() < super::PATIENCE, "{}", second.log());
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(readiness(address).json()["state"], "standby");
    // It has the seat, and begins its first epoch before it judges.
    served.until("/readyz", |readiness| readiness["state"] == "judging");
    // What a standby is given is judged by the holder.
    let sent = super::agent().post(format!("http://{address}/v1/pages")).header("authorization", served.bearer());
    assert_eq!(super::answer(sent.content_type("application/json").send(envelope(1).as_bytes())).status, 200);
    served.first(1);
    second.signal("TERM");
    assert!(second.ended().success(), "{}", second.log());
}

#[test]
fn metrics_are_what_was_promised() {
    let served = served(|_| ());
    let post = |number| served.post("/v1/pages", "application/json", &[], envelope(number).as_bytes());
    (0..5).for_each(|number| assert_eq!(post(number).status, 200));
    served.post("/v1/emails", "message/rfc822", &[("id", "broken")], b"\xff\xff");
    served.first(6);
    // The tables are counted from time to time, at a commit.
    std::thread::sleep(Duration::from_millis(5200));
    post(5);
    served.first(7);
    // The lag is looked at from time to time as well.
    let begun = Instant::now();
    let answer = loop {
        let answer = served.get("/metrics");
        if answer.body.contains("\nseamripper_lag_records{") || begun.elapsed() > super::PATIENCE {
            break answer;
        }
        std::thread::sleep(Duration::from_millis(200));
    };
    assert_eq!(answer.headers["content-type"], "text/plain; version=0.0.4; charset=utf-8");
    let samples = samples(&answer.body);
    let families: BTreeSet<&str> = samples.keys().map(|name| name.split('{').next().unwrap()).collect();
    for promised in [
        "seamripper_verdicts_total",
        "seamripper_dead_letters_total",
        "seamripper_commit_seconds_bucket",
        "seamripper_fold_seconds_bucket",
        "seamripper_produce_to_verdict_seconds_bucket",
        "seamripper_produce_to_verdict_seconds_count",
        "seamripper_batch_documents_sum",
        "seamripper_store_table_bytes",
        "seamripper_store_evictions_total",
        "seamripper_lag_records",
        "seamripper_snapshot_age_seconds",
        "seamripper_seat_held",
        "seamripper_http_requests_total",
    ] {
        assert!(families.contains(promised), "{promised} is not in\n{}", answer.body);
    }
    let value = |name: &str| samples.get(name).copied().unwrap_or_else(|| panic!("{name} is not in\n{}", answer.body));
    assert_eq!(value(r#"seamripper_verdicts_total{class="original",outcome="judged"}"#), 6.0);
    assert_eq!(value(r#"seamripper_verdicts_total{class="rejected",outcome="rejected"}"#), 1.0);
    assert_eq!(value(r#"seamripper_dead_letters_total{reason="not_a_mail"}"#), 1.0);
    assert_eq!(value(r#"seamripper_http_requests_total{path="/v1/pages",status="200"}"#), 6.0);
    let tables = samples.iter().filter(|(name, _)| name.starts_with("seamripper_store_table_bytes{table="));
    let n_bytes: f64 = tables.map(|(_, n_bytes)| n_bytes).sum();
    assert!(n_bytes > 1e6, "{n_bytes} bytes of tables");
    served.get("/wp-login.php?x=y");
    served.counts(r#"seamripper_http_requests_total{path="other",status="404"} 1"#);
}

/// The samples of a text in Prometheus' format, each line of which must be one, a comment, or empty.
fn samples(text: &str) -> BTreeMap<String, f64> {
    let is_name = |name: &str| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b':')
    };
    let mut samples = BTreeMap::new();
    let (mut typed, mut helped) = (BTreeSet::new(), BTreeSet::new());
    for line in text.lines().filter(|line| !line.is_empty()) {
        if let Some(comment) = line.strip_prefix("# ") {
            let mut words = comment.splitn(3, ' ');
            let (what, name, rest) = (words.next().unwrap(), words.next().unwrap(), words.next().unwrap_or(""));
            match what {
                "TYPE" => {
                    assert!(["counter", "gauge", "histogram"].contains(&rest), "{line}");
                    assert!(typed.insert(name.to_owned()), "{name} is typed twice");
                }
                "HELP" => assert!(!rest.is_empty() && helped.insert(name.to_owned()), "{line}"),
                _ => panic!("{line}"),
            }
            continue;
        }
        let (name, value) = line.rsplit_once(' ').unwrap();
        let (family, labels) = name.split_once('{').unwrap_or((name, "}"));
        assert!(is_name(family) && labels.ends_with('}'), "{line}");
        let base = ["_bucket", "_sum", "_count"].iter().find_map(|end| family.strip_suffix(end)).unwrap_or(family);
        assert!(typed.contains(family) || typed.contains(base), "{family} has no type");
        assert!(helped.contains(family) || helped.contains(base), "{family} has no help");
        let number: f64 = value.parse().unwrap_or_else(|_| panic!("{line}"));
        assert!(samples.insert(name.to_owned(), number).is_none(), "{name} is there twice");
    }
    samples
}
