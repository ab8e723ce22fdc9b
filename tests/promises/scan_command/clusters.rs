//! The file of the clusters: whoever reads it learns what has become of each that a verdict names.

use super::{lines, read, seamripper};
use crate::schemas::Schema;
use serde_json::{Value, json};

/// A page whose head has 42 items, from `first` on.
fn page(number: u32, first: u32) -> String {
    let letter = |n: u32| char::from(b'a' + n as u8);
    let item = |n: u32| format!("<meta name=\"part-{}{}\" content=\"w\">", letter(n / 26), letter(n % 26));
    let items: String = (first..first + 42).map(item).collect();
    let text: Vec<String> = (0..60).map(|place| format!("word{}{}", letter(number), letter(place % 26))).collect();
    let html = format!("<html><head>{items}</head><body><p>{}</p></body></html>", text.join(" "));
    json!({"id": format!("{first}-{number}"), "url": format!("http://site{number}.example/"), "html": html}).to_string()
        + "\n"
}

#[test]
fn a_cluster_that_became_part_of_another_is_listed() {
    let folder = tempfile::tempdir().unwrap();
    // The last have as much in common with the first as with the second, which have less with each other.
    let pages: String =
        [0, 10, 5].iter().zip([0, 3, 6]).flat_map(|(first, n)| (n..n + 3).map(|n| page(n, *first))).collect();
    std::fs::write(folder.path().join("pages.jsonl"), pages).unwrap();
    let mut scan =
        seamripper(folder.path(), &["scan", "pages.jsonl", "--clusters", "clusters.jsonl", "--store", "store"]);
    // Frames decide alone: the pages have no style.
    scan.envs([("SEAMRIPPER_TEMPLATE__BINS_BESIDE_MIN", "1"), ("SEAMRIPPER_TEMPLATE__FRAME_BESIDE_MIN", "0.65")]);
    let verdicts = lines(&mut scan, 0);
    let of = |id: &str| verdicts.iter().find(|verdict| verdict["id"] == id).unwrap()["cluster"].clone();
    let (older, younger) = (of("0-1"), of("10-4"));
    assert!(older != younger && of("5-6") == older, "{verdicts:?}");
    let clusters = read(&folder.path().join("clusters.jsonl"));
    clusters.iter().for_each(|cluster| Schema::named("cluster").check("cluster", cluster));
    let told: Vec<(&Value, &Value, &Value)> =
        clusters.iter().map(|cluster| (&cluster["id"], &cluster["size"], &cluster["merged_into"])).collect();
    assert_eq!(told, [(&older, &json!(9), &Value::Null), (&younger, &json!(3), &older)]);

    // Who asks about a page of the younger is told of what that is part of now.
    let mut explain = seamripper(folder.path(), &["explain", "10-4", "--from", "store", "--json"]);
    explain.envs([("SEAMRIPPER_TEMPLATE__BINS_BESIDE_MIN", "1"), ("SEAMRIPPER_TEMPLATE__FRAME_BESIDE_MIN", "0.65")]);
    assert_eq!(lines(&mut explain, 0)[0]["cluster"]["id"], older);
}
