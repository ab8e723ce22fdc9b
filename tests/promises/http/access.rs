//! Who may do what.

use super::{Served, ground, served};
use crate::run::Process;
use std::os::unix::fs::PermissionsExt;

#[test]
fn the_token_is_made_once_for_its_owner() {
    let served = served(|_| ());
    let path = served.ground.settings.bus.folder.join("http-token");
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let token = served.token.clone();
    assert!(token.len() >= 40, "{token}");
    assert!(!served.process.log().contains(&token), "it is not logged");
    assert_eq!(served.restarted().token, token);
}

#[test]
fn writing_needs_the_token_and_reading_on_this_machine_does_not() {
    let served = served(|_| ());
    for path in ["/healthz", "/readyz", "/metrics", "/v1/verdicts?from=end&wait=0"] {
        assert_eq!(served.get(path).status, 200, "{path}");
    }
    served.get("/v1/snapshot").problem(401, "token");
    let body = super::envelope(1);
    let wrong = format!("Bearer {}x", served.token);
    for authorization in [None, Some(&*wrong), Some("Bearer"), Some("Basic abc")] {
        let mut request =
            ureq::Agent::config_builder().http_status_as_error(false).build().new_agent().post(served.url("/v1/pages"));
        if let Some(authorization) = authorization {
            request = request.header("authorization", authorization);
        }
        let answer = super::answer(request.content_type("application/json").send(body.as_bytes()));
        answer.problem(401, "token");
        assert_eq!(answer.headers["www-authenticate"], "Bearer");
    }
    assert_eq!(served.post("/v1/pages", "application/json", &[], body.as_bytes()).status, 200);
    served.get_with("/v1/verdicts?from=end&wait=0", &[("host", "rebound.example")]).problem(421, "host");
    assert_eq!(served.get_with("/metrics", &[("host", "localhost:1")]).status, 200);
    assert_eq!(served.get_with("/healthz", &[("host", "rebound.example")]).status, 200);
}

#[test]
fn on_an_address_of_the_network_reading_needs_the_token_too() {
    let mut served = Served::start(ground(|settings| settings.http.listen = "0.0.0.0:0".parse().unwrap()));
    served.address.set_ip("127.0.0.1".parse().unwrap());
    for path in ["/healthz", "/readyz", "/", "/dashboard/app.js"] {
        assert_ne!(served.get(path).status, 401, "{path}");
    }
    for path in ["/metrics", "/v1/verdicts?from=end&wait=0", "/v1/snapshot", "/v1/nothing"] {
        served.get(path).problem(401, "token");
    }
    assert_eq!(served.get_with("/metrics", &[("authorization", &served.bearer())]).status, 200);
    // Whatever there is to be read, now or later.
    let document = served.get_with("/openapi.json", &[("authorization", &served.bearer())]).json();
    let paths: Vec<&String> = document["paths"].as_object().unwrap().keys().collect();
    assert!(paths.len() >= 15, "{paths:?}");
    for path in paths.into_iter().filter(|path| !["/healthz", "/readyz"].contains(&path.as_str())) {
        served.get(&path.replace("{id}", "x")).problem(401, "token");
    }
    assert!(served.process.log().contains("other machines can reach this"), "{}", served.process.log());
}

#[test]
fn a_port_in_use_is_told_and_no_side_is_none() {
    let served = served(|_| ());
    let taken = served.address;
    let elsewhere = ground(|settings| settings.http.listen = taken);
    let mut second = Process::start(&elsewhere, &["run"], None);
    assert_eq!(second.ended().code(), Some(1));
    let log = second.log();
    assert!(log.contains(&taken.to_string()) && log.contains("in use") && log.contains("http.listen"), "{log}");
    let without = ground(|settings| settings.http.enabled = false);
    let mut third = Process::start(&without, &["run", "--until-idle", "0.5"], None);
    assert!(third.ended().success());
    assert!(!third.log().contains("http"), "{}", third.log());
    assert!(!without.settings.bus.folder.join("http-token").exists());
}
