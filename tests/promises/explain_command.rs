//! `seamripper explain` says why: the verdict of the scan, every score beside its threshold, and the passages.

use super::schemas::Schema;
use assert_cmd::Command;
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

const QUILT: &str = "https://creditfixers.example/cred8/a-mirror-plate-for-hazel-bay.html";
const COPY: &str = "https://bestreads-daily.example/r/7230";
const HEAD: &str = "https://towpathtimes.example/towpath/a-harvest-with-fabian-thorngren-in-upper-polwick.html";

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("demo/corpus")
}

fn seamripper(arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("seamripper").unwrap();
    command.current_dir(corpus()).env("SEAMRIPPER_STORE__MEMORY", "67108864").args(arguments);
    command
}

fn stdout(arguments: &[&str]) -> String {
    String::from_utf8(seamripper(arguments).assert().code(0).get_output().stdout.clone()).unwrap()
}

fn explained(id: &str, from: &str) -> Value {
    let explained = serde_json::from_str(&stdout(&["explain", id, "--from", from, "--quiet"])).unwrap();
    Schema::named("explanation").check(id, &explained);
    explained
}

#[test]
fn the_verdict_is_that_of_the_scan_and_the_passages_are_quoted_from_both_texts() {
    let scanned = stdout(&["scan", "pages.jsonl", "--quiet"]);
    let last = |id: &str| {
        let mut verdicts = scanned.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        verdicts.rfind(|verdict| verdict["id"] == id).unwrap()
    };
    let texts: HashMap<String, String> = stdout(&["sign", "--text", "--quiet", "pages.jsonl"])
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|text| (text["id"].as_str().unwrap().to_owned(), text["text"].as_str().unwrap().to_owned()))
        .collect();
    let at = |id: &Value, span: &Value| {
        let [start, end] = [0, 1].map(|end| span[end].as_u64().unwrap() as usize);
        texts[id.as_str().unwrap()][start..end].to_owned()
    };
    for (id, n_shared) in [(QUILT, 7), (COPY, 1)] {
        let explained = explained(id, "pages.jsonl");
        assert_eq!(explained["verdict"], last(id));
        let shared = explained["shared"].as_array().unwrap();
        assert_eq!(shared.len(), n_shared, "{id}");
        for with in shared {
            let passages = with["texts"]["passages"].as_array().unwrap();
            assert!(!passages.is_empty(), "{id} and {}", with["of"]);
            for passage in passages {
                let [here, there] = ["text_here", "text_there"].map(|text| passage[text].as_str().unwrap());
                assert_eq!(here, at(&id.into(), &passage["here"]));
                assert_eq!(there, at(&with["of"], &passage["there"]));
                let words = |text: &str| text.split_whitespace().map(str::to_lowercase).collect::<Vec<_>>().join(" ");
                assert_eq!(words(here).len(), words(there).len(), "{here} and {there}");
            }
        }
    }
}

/// What crossed and what did not follows from the two numbers beside it.
#[test]
fn every_score_stands_beside_its_threshold() {
    let explained = explained(QUILT, "pages.jsonl");
    let scores = explained["scores"].as_array().unwrap();
    for score in scores {
        let (value, threshold) = (score["value"].as_f64().unwrap(), score["threshold"].as_f64().unwrap());
        let is_inclusive = score["inclusive"] == true;
        assert_eq!(score["crossed"], value > threshold || is_inclusive && value == threshold, "{score}");
    }
    let crossed = |setting: &str| scores.iter().find(|score| score["setting"] == setting).unwrap()["crossed"] == true;
    assert!(crossed("quilt.fraction_min") && crossed("quilt.sources_min") && !crossed("mirror.resemblance_min"));
}

/// A page in a script without spaces is held against the threshold of those.
#[test]
fn the_threshold_is_that_of_the_script() {
    let setting = |id: &str| {
        let explained = explained(id, "../pages");
        let scores = explained["scores"].as_array().unwrap().clone();
        let likeness = scores.iter().find(|score| score["score"] == "resemblance of shingles").unwrap().clone();
        (likeness["setting"].as_str().unwrap().to_owned(), likeness["threshold"].as_f64().unwrap())
    };
    assert_eq!(setting("../pages/ja-copy.html"), ("mirror.resemblance_min_unspaced".to_owned(), 0.65));
    assert_eq!(setting("../pages/copycat-tide-mills.html"), ("mirror.resemblance_min".to_owned(), 0.6));
}

#[test]
fn people_read_it_in_words() {
    let report = stdout(&["explain", COPY, "--from", "pages.jsonl", "--report", "--quiet"]);
    for words in [
        &*format!("the text of {HEAD} (copy)"),
        "found by minhash",
        "record pages.jsonl#74",
        "mirror.resemblance_min",
        "of this document's words stand there",
        "there",
    ] {
        assert!(report.contains(words), "{words}: {report}");
    }
    assert!(!report.contains('\u{1b}'), "no colours into a pipe");
}

/// Words that no other range has.
fn words(range: std::ops::Range<u32>) -> String {
    let letter = |n: u32, place: u32| char::from(b'a' + (n / 21_u32.pow(place) % 21) as u8);
    let word =
        |n: u32| ["so", "lo", "ma", "re"][n as usize % 4].chars().chain((0..4).map(move |place| letter(n, place)));
    range.map(|n| word(n).chain(" ".chars()).collect::<String>()).collect()
}

/// A mail of its own words, above a hundred that all of them have.
fn mail(number: u32, own: &str, footer: std::ops::Range<u32>) -> String {
    format!(
        "From a@a.example Tue Jan 13 09:13:00 2026\nFrom: a{number}@a{number}.example\nMessage-ID: <{number}@a.example>\n\n{own}\n-- \n{}\n\n",
        words(footer)
    )
}

/// Who is near and yet no mirror is named, with the rule that keeps the two apart, in words and in numbers.
#[test]
fn who_is_near_and_no_mirror_is_told_why() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mails.mbox");
    let mails = [
        mail(1, &words(0..15), 1000..1100),
        mail(2, &words(100..115), 1000..1100),
        mail(3, "Thanks a lot!", 1000..1100),
        mail(4, "Okay then.", 1000..1100),
        mail(5, &words(200..260), 1000..1080),
        mail(6, &words(400..440), 2000..2020),
        mail(7, &words(400..440), 2000..2020),
    ];
    std::fs::write(&path, mails.concat()).unwrap();
    let (path, store) = (path.to_str().unwrap(), folder.path().join("seen.store"));
    let store = store.to_str().unwrap();
    stdout(&["scan", path, "--store", store, "--quiet"]);
    let place = |number: u32| format!("{path}#{number}");
    for (number, of, why, says) in [
        (2, 1, "core", "without menus, quotes and footers they are not the same"),
        (4, 3, "little_core", "the few words outside of quotes and footers are not the same"),
        (5, 3, "likeness", "not alike enough"),
    ] {
        for from in [path, store] {
            let explained = explained(&place(number), from);
            let near = &explained["near"];
            assert_eq!(explained["verdict"]["classes"], serde_json::json!([]), "{number}");
            assert_eq!((&near["place"], &near["why"]), (&place(of).into(), &why.into()), "{number}: {near}");
            let crossed: Vec<bool> =
                near["scores"].as_array().unwrap().iter().map(|score| score["crossed"] == true).collect();
            let expected: &[bool] = match why {
                "core" => &[true, false],
                "little_core" => &[true],
                _ => &[false],
            };
            assert_eq!(crossed, expected, "{number}: {near}");
            let report = stdout(&["explain", &place(number), "--from", from, "--report", "--quiet"]);
            assert!(report.contains("Near, and no mirror of it: ") && report.contains(says), "{report}");
        }
        let pair = stdout(&["compare", &place(of), &place(number), "--json"]);
        assert_eq!(serde_json::from_str::<Value>(&pair).unwrap()["filter"]["why"], why, "as `compare` has it");
    }
    // Nobody came before the first, nobody is like the sixth, and the last is a mirror.
    for number in [1, 6, 7] {
        assert!(explained(&place(number), path)["near"].is_null(), "{number}");
    }
}

#[test]
fn a_place_is_as_good_as_an_id() {
    assert_eq!(explained("pages.jsonl#100", "pages.jsonl")["id"], COPY);
}

/// One of the sources of a quilt has become another page, and two others have come that hold more of it: what was said stays, but for who
/// is gone.
#[test]
fn a_store_tells_what_was_said_and_not_what_would_be() {
    let folder = tempfile::tempdir().unwrap();
    let (pages, store) = (folder.path().join("pages.jsonl"), folder.path().join("seen.store"));
    let [pages_path, store_path] = [&pages, &store].map(|path| path.to_str().unwrap());
    let page = |id: &str, text: &str| {
        let url = format!("http://{id}.example/");
        serde_json::json!({"id": id, "url": url, "text": text}).to_string() + "\n"
    };
    let source = |number: u32, range: std::ops::Range<u32>| page(&format!("source{number}"), &words(range));
    let taken = |number: u32| words(1000 * number..1000 * number + 60);
    let quilt: String = (1..=4).map(taken).collect();
    let mut stream: String = (1..=4).map(|number| source(number, 1000 * number..1000 * number + 300)).collect();
    stream += &page("quilt", &quilt);
    stream += &source(1, 70_000..70_300);
    stream += &page("late1", &(taken(1) + &taken(2) + &words(80_000..80_400)));
    stream += &page("late2", &(taken(3) + &taken(4) + &words(90_000..90_400)));
    std::fs::write(&pages, stream).unwrap();
    let scanned = stdout(&["scan", pages_path, "--store", store_path, "--quiet"]);
    let last =
        scanned.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()).rfind(|one| one["id"] == "quilt");
    let named = |verdict: &Value| -> BTreeSet<String> {
        let sources = verdict["quilt"]["sources"].as_array().expect("it is a quilt").iter();
        sources.map(|source| source["of"].as_str().unwrap().to_owned()).collect()
    };
    let last = last.unwrap();
    assert_eq!(named(&last), (1..=4).map(|number| format!("source{number}")).collect());
    let kept = &explained("quilt", store_path)["verdict"];
    assert_eq!(named(kept), (2..=4).map(|number| format!("source{number}")).collect(), "{kept}");
    assert_eq!(kept["quilt"]["patch_fraction"], last["quilt"]["patch_fraction"]);
    assert_eq!(kept["features"]["n_sources"], 4.0);
}

#[test]
fn a_store_tells_what_it_still_knows() {
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("pages.jsonl");
    std::fs::copy(corpus().join("pages.jsonl"), &pages).unwrap();
    let store = folder.path().join("seen.store");
    let [pages_path, store_path] = [&pages, &store].map(|path| path.to_str().unwrap());
    stdout(&["scan", pages_path, "--store", store_path, "--quiet"]);
    let with_text = explained(QUILT, store_path);
    assert_eq!((&with_text["recomputed"], &with_text["text_is_gone"]), (&false.into(), &false.into()));
    assert_eq!(with_text["verdict"]["classes"], serde_json::json!(["quilt"]));
    assert_eq!(with_text["shared"].as_array().unwrap().len(), 7);
    let copy = explained(COPY, store_path);
    assert_eq!((&copy["record"]["copy_of"], &copy["record"]["group_size"]), (&HEAD.into(), &2.into()));

    std::fs::remove_file(&pages).unwrap();
    let gone = explained(QUILT, store_path);
    assert_eq!((&gone["text_is_gone"], &gone["verdict"]), (&true.into(), &with_text["verdict"]));
    assert!(gone["shared"].as_array().unwrap().iter().all(|shared| shared["texts"].is_null()));
    let report = stdout(&["explain", QUILT, "--from", store_path, "--report"]);
    assert!(report.contains("its text is gone"), "{report}");
}

#[test]
fn an_unknown_id_ends_with_one_and_what_was_meant() {
    for from in ["pages.jsonl", "mails.mbox"] {
        let assert = seamripper(&["explain", &format!("{QUILT}x"), "--from", from]).assert().code(1);
        let stderr = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
        assert!(stderr.contains("there is no document"), "{stderr}");
        assert_eq!(stderr.contains(&format!("did you mean {QUILT}\n")), from == "pages.jsonl", "{stderr}");
        assert!(assert.get_output().stdout.is_empty());
    }
}
