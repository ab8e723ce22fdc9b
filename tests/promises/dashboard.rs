//! The dashboard in a real browser: Chromium without a screen, driven by the scripts of `tests/dashboard`, on a real run.
//!
//! `scripts/node` brings the packages that they need, and the browser where it is missing. Pictures of all pages are left in
//! `target/dashboard`, and of a test that has failed there what it has come to (`failed-…`).

use crate::http::{Served, ground, served};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Where the packages are.
fn modules() -> &'static Path {
    static MODULES: OnceLock<PathBuf> = OnceLock::new();
    MODULES.get_or_init(|| {
        let output = Command::new(root().join("scripts/node")).arg(root().join("tests/dashboard")).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().into()
    })
}

/// A run whose pages are judged in the order in which they are sent: what the corpus is made from comes first.
fn in_order() -> Served {
    served(|settings| settings.topics.partitions = 1)
}

/// Lets a script use the dashboard of this run; what it says.
fn browsed(served: &Served, script: &str) -> String {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    let output = Command::new("node")
        .arg(root().join("tests/dashboard").join(script))
        .env("BASE", served.url(""))
        .env("TOKEN", &served.token)
        .env("MODULES", modules())
        .env("OUT", target.join("dashboard"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{script}: {said}\n{}", served.process.log());
    assert!(!served.process.log().contains("panicked"), "{}", served.process.log());
    said
}

#[test]
fn a_verdict_arrives_is_opened_labelled_and_taken_back() {
    browsed(&in_order(), "story.mjs");
}

#[test]
fn each_document_is_in_the_feed_once_and_the_newest_is_first() {
    browsed(&in_order(), "feed.mjs");
}

#[test]
fn rows_show_what_tells_documents_apart() {
    browsed(&in_order(), "rows.mjs");
}

#[test]
fn hostile_documents_are_shown_as_text() {
    browsed(&in_order(), "hostile.mjs");
}

#[test]
fn fifty_thousand_verdicts_scroll() {
    println!("{}", browsed(&in_order(), "scroll.mjs"));
}

#[test]
fn every_page_is_for_everybody() {
    browsed(&in_order(), "everybody.mjs");
}

#[test]
fn places_patches_and_differences_are_right() {
    browsed(&in_order(), "units.mjs");
}

#[test]
fn on_an_address_of_the_network_the_token_is_asked_for() {
    let mut served = Served::start(ground(|settings| settings.http.listen = "0.0.0.0:0".parse().unwrap()));
    served.process.says("seat taken");
    served.address.set_ip("127.0.0.1".parse().unwrap());
    browsed(&served, "elsewhere.mjs");
}

/// The files need no token, and a browser is told what it may do with them.
#[test]
fn the_files_are_given_with_their_policy() {
    let served = served(|_| ());
    let page = served.get("/");
    assert_eq!((page.status, &page.headers["content-type"]), (200, &"text/html; charset=utf-8".parse().unwrap()));
    for (name, part) in [
        ("content-security-policy", "default-src 'none'; script-src 'self'"),
        ("content-security-policy", "require-trusted-types-for 'script'; trusted-types 'none'"),
        ("content-security-policy", "frame-ancestors 'none'"),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cache-control", "no-cache"),
    ] {
        assert!(page.headers[name].to_str().unwrap().contains(part), "{name}: {:?}", page.headers[name]);
    }
    let tag = page.headers["etag"].to_str().unwrap().to_owned();
    let again = served.get_with("/", &[("if-none-match", &tag)]);
    assert_eq!((again.status, &*again.body), (304, ""));
    let script = served.get("/dashboard/app.js");
    assert_eq!(
        (script.status, &script.headers["content-type"]),
        (200, &"text/javascript; charset=utf-8".parse().unwrap())
    );
    for path in ["/dashboard/", "/dashboard/../Cargo.toml", "/dashboard/%2e%2e/Cargo.toml", "/dashboard/app.js/x"] {
        served.get(path).problem(404, "unknown_path");
    }
    served.get_with("/", &[("host", "rebound.example")]).problem(421, "host");
    assert!(
        served.process.log().contains(&format!("dashboard: http://{}/", served.address)),
        "{}",
        served.process.log()
    );
}
