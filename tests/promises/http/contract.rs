//! `/openapi.json` says what is served, and a fuzzer that knows nothing else finds no difference.

use super::served;
use std::path::Path;
use std::process::Command;

#[test]
fn the_document_is_served_and_names_what_there_is() {
    let served = served(|_| ());
    let answer = served.get("/openapi.json");
    assert_eq!((answer.status, &answer.headers["content-type"]), (200, &"application/json".parse().unwrap()));
    let document = answer.json();
    let run = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/RUN.md")).unwrap();
    for path in document["paths"].as_object().unwrap().keys() {
        assert!(run.contains(path.split('{').next().unwrap()), "{path} is not in docs/RUN.md");
    }
    served.get("/v2").problem(404, "unknown_path");
    let other =
        super::answer(super::agent().delete(served.url("/v1/stats")).header("authorization", served.bearer()).call());
    other.problem(405, "method");
    assert_eq!(other.headers["allow"], "GET,HEAD");
}

/// Schemathesis makes requests from the document, good ones and bad ones, and compares the answers with it.
#[test]
fn what_is_served_is_what_the_document_says() {
    let served = served(|settings| settings.http.timeout_ms = 5000).with_corpus();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let python =
        Command::new(root.join("scripts/python")).arg(root.join("tests/python/contract.txt")).output().unwrap();
    assert!(python.status.success(), "{}", String::from_utf8_lossy(&python.stderr));
    let python = String::from_utf8(python.stdout).unwrap();
    let output = Command::new(python.trim())
        .args(["-m", "schemathesis.cli", "--config-file"])
        .arg(root.join("tests/python/contract.toml"))
        .arg("run")
        .arg(served.url("/openapi.json"))
        .args(["-H", &format!("Authorization: {}", served.bearer())])
        .current_dir(served.ground.folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    println!("{said}");
    assert!(output.status.success(), "{said}");
    assert!(!served.process.log().contains("panicked"), "{}", served.process.log());
    let metrics = served.get("/metrics").body;
    let turned_away = metrics.lines().filter(|line| line.starts_with("seamripper_checks_turned_away_total"));
    let others: Vec<&str> = turned_away.filter(|line| !line.contains("reason=\"timeout\"")).collect();
    assert!(others.is_empty(), "{others:?}");
    assert_eq!(served.get("/healthz").status, 200);
}
