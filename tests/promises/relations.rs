//! Two documents alone get the leaf of the sentence method's tree that they can get (Kang 2009).

use assert_cmd::Command;
use serde_json::{Value, json};

/// Long sentences of about the same length, no two alike.
fn sentence(n: usize) -> String {
    const THINGS: [&str; 12] = [
        "copper kettles",
        "wooden ladders",
        "garden walls",
        "paper lanterns",
        "harbour cranes",
        "winter coats",
        "village bells",
        "river barges",
        "kitchen clocks",
        "school desks",
        "mountain huts",
        "railway maps",
    ];
    const ENDS: [&str; 4] = [
        "were mended by hand before the first frost of the year",
        "kept their colour through every storm that anyone remembers",
        "cost more than a month of honest work in those days",
        "can still be found in the attic of the old town hall",
    ];
    format!("Most of the {} around here {}.", THINGS[n % 12], ENDS[n / 12 % 4])
}

/// A page and where it was fetched from.
struct Page {
    url: &'static str,
    html: String,
}

fn page(url: &'static str, sentences: impl IntoIterator<Item = usize>, further: &str) -> Page {
    let paragraphs: String = sentences.into_iter().map(|n| format!("<p>{}</p>", sentence(n))).collect();
    Page { url, html: format!("<html><body><div>{paragraphs}{further}</div></body></html>") }
}

fn compared(a: &Page, b: &Page) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let (a_file, b_file) = (folder.path().join("a.html"), folder.path().join("b.html"));
    std::fs::write(&a_file, &a.html).unwrap();
    std::fs::write(&b_file, &b.html).unwrap();
    let mut command = Command::cargo_bin("seamripper").unwrap();
    let assert =
        command.arg("compare").args([a_file, b_file]).args(["--a-url", a.url, "--b-url", b.url]).assert().code(0);
    serde_json::from_slice(&assert.get_output().stdout).unwrap()
}

#[test]
fn every_pair_gets_its_leaf() {
    let citing = r#"<p><a href="http://alpha.example/x.html">quoted from here</a></p>"#;
    let (home, alike, foreign) =
        ("http://alpha.example/x.html", "http://mirror.alpha.example/x.html", "http://beta.test/y.html");
    for (relation, a, b) in [
        ("mirror", page(home, 0..10, ""), page(alike, 0..10, "")),
        ("copy", page(home, 0..10, ""), page(foreign, 0..9, "")),
        ("archive", page(home, 0..20, ""), page(alike, 0..4, "")),
        ("excerpt_list", page(home, 0..20, ""), page(foreign, 0..4, citing)),
        ("same_site", page(home, 0..10, ""), page(alike, 8..20, "")),
        ("citation", page(home, 0..10, ""), page(foreign, 8..20, citing)),
        ("shared_passages", page(home, 0..10, ""), page(foreign, 8..20, "")),
    ] {
        let answer = compared(&a, &b);
        assert_eq!(answer["relation"], relation, "{answer:#}");
    }
}

#[test]
fn the_direction_names_the_part() {
    let (whole, part) = (page("http://alpha.example/x", 0..20, ""), page("http://beta.test/y", 3..6, ""));
    let answer = compared(&whole, &part);
    assert_eq!(answer["sentences"]["direction"], "that_in_this", "{answer:#}");
    assert_eq!(answer["sentences"]["containment"], 1.0);
    assert_eq!(compared(&part, &whole)["sentences"]["direction"], "this_in_that");
}

#[test]
fn links_are_told_by_address_and_by_domain() {
    let to_home = r#"<p><a href="http://alpha.example/">a fine site</a></p>"#;
    let answer = compared(&page("http://alpha.example/x", 0..10, ""), &page("http://beta.test/y", 8..20, to_home));
    assert_eq!(answer["links"]["that_to_this"], json!({"url": false, "domain": true}), "{answer:#}");
    assert_eq!(answer["links"]["this_to_that"], json!({"url": false, "domain": false}));
    assert_eq!(answer["relation"], "shared_passages", "a link to the site is no link to the page");
}

#[test]
fn strangers_have_no_relation() {
    let answer = compared(&page("http://alpha.example/x", 0..8, ""), &page("http://alpha.example/y", 20..28, ""));
    assert_eq!((&answer["relation"], &answer["class"]), (&Value::Null, &Value::Null), "{answer:#}");
    assert_eq!(answer["sentences"]["overlap"], 0.0);
}
