//! `seamripper compare` says how alike two documents are, and why, to people and to programs.

use super::schemas::Schema;
use assert_cmd::Command;
use assert_cmd::assert::Assert;
use serde_json::Value;
use std::path::PathBuf;

fn compare(arguments: &[&str]) -> Assert {
    Command::cargo_bin("seamripper").unwrap().arg("compare").args(arguments).assert()
}

fn answer(arguments: &[&str]) -> Value {
    serde_json::from_slice(&compare(arguments).code(0).get_output().stdout).unwrap()
}

fn report(arguments: &[&str]) -> String {
    let assert = compare(&[arguments, &["--report"]].concat()).code(0);
    String::from_utf8(assert.get_output().stdout.clone()).unwrap()
}

fn demo(file: &str) -> String {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("demo").join(file).into_os_string().into_string().unwrap()
}

/// A folder with files of the given names and contents.
fn folder(files: &[(&str, &str)]) -> (tempfile::TempDir, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let paths = files.iter().map(|(name, content)| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        path.into_os_string().into_string().unwrap()
    });
    let paths = paths.collect();
    (folder, paths)
}

#[test]
fn every_answer_is_valid_by_its_schema() {
    let schema = Schema::named("comparison");
    let (_folder, paths) = folder(&[
        ("empty.html", ""),
        ("short.html", "<p>Thank you</p>"),
        ("one.txt", "Plain words have neither a style nor a page frame, and nothing here is an address either."),
    ]);
    let demos = [
        "pages/gazette-hub-gears.html",
        "pages/gazette-tide-mills.html",
        "pages/copycat-tide-mills.html",
        "pages/bait-essay.html",
        "mails/parcel-1.eml",
        "mails/list-1.eml",
    ];
    let files: Vec<String> = demos.iter().map(|file| demo(file)).chain(paths).collect();
    let (mut n_copies, mut n_insufficient, mut with_urls) = (0, 0, None);
    for (index, a) in files.iter().enumerate() {
        let b = &files[(index + 1) % files.len()];
        let alone = answer(&[a, b]);
        schema.check(&format!("{a} {b}"), &alone);
        n_copies += u32::from(alone["near_copy"] == true);
        n_insufficient += u32::from(alone["insufficient"]["this"] == true);
        let named = answer(&[a, b, "--a-url", "https://a.example/x", "--b-url", "https://b.example/x"]);
        schema.check(&format!("{a} {b}, with URLs"), &named);
        with_urls = with_urls.or(named["frame"].is_object().then_some(named));
    }
    assert!(n_copies > 0 && n_insufficient > 0, "{n_copies} copies and {n_insufficient} too short");
    let good = with_urls.expect("two of the pages have a frame");
    assert!(good["url_similarity"].is_number(), "{good}");

    // It is the schema that lets them pass: it refuses what is missing, unknown or of another form.
    let refused = |pointer: &str, value: Value| {
        let mut wrong = good.clone();
        *wrong.pointer_mut(pointer).unwrap() = value;
        assert!(!schema.accepts(&wrong), "{pointer}");
    };
    refused("/views/core/cosine", 1.5.into());
    refused("/frame/similarity", Value::Null);
    refused("/a/kind", "mail".into());
    refused("/style/noise/bins", 64.into());
    refused("/class", if good["class"].is_null() { "partial".into() } else { Value::Null });
    for (name, _) in good.as_object().unwrap() {
        let mut wrong = good.clone();
        wrong.as_object_mut().unwrap().remove(name);
        assert!(!schema.accepts(&wrong), "without {name}");
    }
    let mut wrong = good.clone();
    wrong["surprise"] = 1.into();
    assert!(!schema.accepts(&wrong));
}

#[test]
fn a_reworded_copy_is_a_near_copy_in_another_template() {
    let answer = answer(&[&demo("pages/gazette-tide-mills.html"), &demo("pages/copycat-tide-mills.html")]);
    assert_eq!((&answer["near_copy"], &answer["same_template"]), (&true.into(), &false.into()), "{answer}");
    assert!(answer["verdict"].as_str().unwrap().starts_with("near copies: "), "{answer}");
    assert!(answer["views"]["core"]["cosine"].as_f64().unwrap() >= 0.8, "{answer}");
    assert_eq!(answer["views"]["shown"]["same_digest"], false);
    let exact = answer["terms"]["exact"].as_f64().unwrap();
    let estimated = answer["terms"]["estimated"].as_f64().unwrap();
    assert!((exact - estimated).abs() < 0.2, "{exact} and {estimated}");
    assert!(answer["sentences"]["n_shared"].as_u64().unwrap() >= 6, "{answer}");
    let passage = answer["passages"][0]["text"].as_str().unwrap();
    assert!(passage.contains("kept a table of high water pinned above his bed"), "{passage}");
}

/// Whatever a scan says of the second of two documents, `compare` says of the two.
#[test]
fn what_the_filter_says_is_said() {
    let pages = std::fs::read_to_string(demo("corpus/pages.jsonl")).unwrap();
    // A copy with small edits, a day of a diary and its month, a source and a quilt, two that have nothing in common.
    for ((a, b), (copy, part)) in
        [((74, 100), (true, false)), ((48, 229), (false, true)), ((3, 2), (false, false)), ((1, 4), (false, false))]
    {
        let line = |n: usize| pages.lines().nth(n - 1).unwrap();
        let (_folder, paths) = folder(&[("two.jsonl", &format!("{}\n{}\n", line(a), line(b)))]);
        let [first, second] = [1, 2].map(|n| format!("{}#{n}", paths[0]));
        let answer = answer(&[&first, &second]);
        let filter = &answer["filter"];
        assert_eq!((&filter["copy"], &filter["part"]), (&copy.into(), &part.into()), "{a} and {b}: {filter}");
        assert_eq!(answer["near_copy"], filter["copy"]);
        let scan = Command::cargo_bin("seamripper").unwrap().args(["scan", "--quiet", &paths[0]]).assert().code(0);
        let verdicts = String::from_utf8(scan.get_output().stdout.clone()).unwrap();
        let scanned: Value = serde_json::from_str(verdicts.lines().nth(1).unwrap()).unwrap();
        assert_eq!(scanned["mirror"].is_object(), copy || part, "{a} and {b}: {scanned}");
        assert_eq!(filter["likeness"]["value"], scanned["features"]["resemblance"], "{a} and {b}");
    }
}

/// Pages are compared by their shingles, and the report says so: words in common make no copy.
#[test]
fn pages_of_the_same_words_are_no_copies() {
    let words: Vec<String> = (0..120)
        .map(|n| format!("harbour{}", "abcdefghij".chars().nth(n % 10).unwrap().to_string().repeat(n / 10 + 1)))
        .collect();
    let page = |step: usize| (0..120).map(|n| words[n * step % 120].as_str()).collect::<Vec<_>>().join(" ");
    let (_folder, paths) = folder(&[("a.txt", &page(1)), ("b.txt", &page(7))]);
    let answer = answer(&[&paths[0], &paths[1]]);
    assert_eq!((&answer["near_copy"], &answer["views"]["core"]["cosine"]), (&false.into(), &1.0.into()), "{answer}");
    assert_eq!(answer["filter"]["likeness"]["setting"], "mirror.resemblance_min", "{answer}");
    let report = report(&[&paths[0], &paths[1]]);
    assert!(report.starts_with("A  ") && report.contains("\ndifferent texts\n"), "{report}");
    assert!(report.contains("resemblance of shingles (copy: 0.6") && !report.contains("near copy:"), "{report}");
}

/// What is a near copy is what the filter would call so under the same settings.
#[test]
fn thresholds_are_those_of_the_settings() {
    let (_folder, strict) = folder(&[("strict.toml", "[mirror]\ncosine_min = 0.99\ncore_cosine_min = 0.98\n")]);
    let [a, b] = [demo("corpus/mails.mbox#49"), demo("corpus/mails.mbox#1")];
    assert_eq!(answer(&[&a, &b])["near_copy"], true);
    assert_eq!(answer(&[&a, &b, "-c", &strict[0]])["near_copy"], false);
    let report = report(&[&a, &b, "-c", &strict[0]]);
    assert!(report.contains("0.99 and more") && !report.contains("0.8 and more"), "{report}");
}

#[test]
fn pages_of_one_site_are_different_texts_in_one_template() {
    let answer = answer(&[&demo("pages/gazette-tide-mills.html"), &demo("pages/gazette-hub-gears.html")]);
    assert_eq!((&answer["near_copy"], &answer["same_template"]), (&false.into(), &true.into()), "{answer}");
    assert!(answer["frame"]["similarity"].as_f64().unwrap() >= 0.65, "{answer}");
}

#[test]
fn a_quilt_holds_a_part_of_its_source() {
    let answer = answer(&[&demo("pages/bait-essay.html"), &demo("pages/gazette-rye-bread.html")]);
    assert_eq!(answer["near_copy"], false, "{answer}");
    let share = answer["this_in_that"].as_f64().unwrap();
    assert!((0.05..0.6).contains(&share), "{share}");
    assert!(answer["passages"].as_array().unwrap().len() >= 2, "{answer}");
}

#[test]
fn a_campaign_that_greets_by_name_is_one_text() {
    let answer = answer(&[&demo("mails/parcel-1.eml"), &demo("mails/parcel-2.eml")]);
    assert_eq!((&answer["a"]["kind"], &answer["near_copy"]), (&"email".into(), &true.into()), "{answer}");
    assert!(answer["matching_views"].as_array().unwrap().contains(&"core".into()), "{answer}");
}

#[test]
fn japanese_copies_share_passages_of_characters() {
    let answer = answer(&[&demo("pages/ja-tide-mills.html"), &demo("pages/ja-copy.html")]);
    assert!(!answer["passages"].as_array().unwrap().is_empty(), "{answer}");
    assert!(answer["that_in_this"].as_f64().unwrap() > 0.3, "{answer}");
}

#[test]
fn spans_are_bytes_of_both_texts() {
    let (_folder, paths) = folder(&[
        ("a.txt", "Ünlü harbour: one two three four five six seven eight."),
        ("b.txt", "Before it, one two three four five six seven eight, and after."),
    ]);
    let answer = answer(&[&paths[0], &paths[1]]);
    let passage = &answer["passages"][0];
    let (a, b) = (std::fs::read_to_string(&paths[0]).unwrap(), std::fs::read_to_string(&paths[1]).unwrap());
    let cut = |text: &str, span: &Value| {
        text[span[0].as_u64().unwrap() as usize..span[1].as_u64().unwrap() as usize].to_owned()
    };
    assert_eq!(cut(&a, &passage["a"]), "one two three four five six seven eight");
    assert_eq!(cut(&b, &passage["b"]), "one two three four five six seven eight");
}

#[test]
fn too_little_text_is_said_to_be_too_little() {
    let (_folder, paths) = folder(&[("a.html", "<p>Thank you</p>"), ("b.html", "<p>Thank you</p>")]);
    let answer = answer(&[&paths[0], &paths[1]]);
    assert!(answer["verdict"].as_str().unwrap().starts_with("insufficient"), "{answer}");
    assert_eq!((&answer["near_copy"], &answer["relation"]), (&false.into(), &Value::Null));
    assert!(report(&[&paths[0], &paths[1]]).contains("insufficient: both texts are too short to judge"));
}

#[test]
fn hostile_text_does_not_reach_the_terminal() {
    let page = "<title>&#27;]0;owned&#7;</title><p>Nobody reads &#27;[31mred text\u{202e} or \u{9b}2J bells\u{7f} or \
        whatever else the sender has hidden in these seven harmless words.</p>";
    let (_folder, paths) = folder(&[("a.html", page), ("b.html", page)]);
    let is_hostile = |c: char| (c.is_control() && c != '\n') || ('\u{202a}'..='\u{202e}').contains(&c);
    let shown = report(&[&paths[0], &paths[1]]);
    assert!(shown.contains("Shared passages") && !shown.contains(is_hostile), "{shown:?}");
    let json = compare(&[&paths[0], &paths[1]]).code(0);
    let json = std::str::from_utf8(&json.get_output().stdout).unwrap();
    assert!(!json.contains(is_hostile), "{json:?}");
}

#[test]
fn colours_are_for_those_who_want_them() {
    let paths = [demo("pages/gazette-tide-mills.html"), demo("pages/copycat-tide-mills.html")];
    let run = |set: &[(&str, &str)]| {
        let mut command = Command::cargo_bin("seamripper").unwrap();
        command.args(["compare", "--report"]).args(&paths).env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
        command.envs(set.iter().copied());
        String::from_utf8(command.assert().code(0).get_output().stdout.clone()).unwrap()
    };
    let (piped, coloured) = (run(&[]), run(&[("CLICOLOR_FORCE", "1")]));
    assert!(!piped.contains('\u{1b}'), "{piped:?}");
    assert!(coloured.contains("\u{1b}[43m"), "passages are highlighted: {coloured:?}");
    for row in ["cosine, core", "overlap R", "containment", "URL similarity", "link A to B", "style in tags", "I-Match"]
    {
        assert!(piped.contains(row), "{row} in {piped}");
    }
}

#[test]
fn one_of_the_two_may_come_from_standard_input_or_a_container() {
    let mail = |n: usize| {
        format!(
            "From a@b.example Tue Jan 13 09:13:00 2026\nFrom: a@b.example\nSubject: News {n}\n\nThe harbour gazette reports \
            that the miller opened the heavy gate again this morning.\n\n"
        )
    };
    let (_folder, paths) = folder(&[("mails.mbox", &(mail(1) + &mail(2)))]);
    let pair = answer(&[&format!("{}#1", paths[0]), &format!("{}#2", paths[0])]);
    assert_eq!(pair["near_copy"], true, "{pair}");

    let page = std::fs::read(demo("pages/gazette-tide-mills.html")).unwrap();
    let assert = Command::cargo_bin("seamripper")
        .unwrap()
        .args(["compare", "-", &demo("pages/gazette-tide-mills.html")])
        .write_stdin(page)
        .assert()
        .code(0);
    let itself: Value = serde_json::from_slice(&assert.get_output().stdout).unwrap();
    assert_eq!(itself["verdict"], "the same text, word for word; the same template", "{itself}");
}

#[test]
fn masked_numbers_are_not_called_the_same() {
    let text =
        |n: u32| format!("Traders expect {n},000 head of cattle today against {n},500 a week ago, said the exchange.");
    let (_folder, paths) = folder(&[("a.txt", &text(290)), ("b.txt", &text(510)), ("c.txt", &text(290))]);
    let pair = answer(&[&paths[0], &paths[1]]);
    assert_eq!(pair["verdict"], "the same words, but for numbers, addresses or names", "{pair}");
    assert_eq!(answer(&[&paths[0], &paths[2]])["verdict"], "the same text, word for word");
}

#[test]
fn what_cannot_be_read_is_exit_code_1_and_named() {
    let page = demo("pages/gazette-tide-mills.html");
    let assert = compare(&[&page, "no-such-file.html"]).code(1);
    let complaint = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
    assert!(complaint.contains("no-such-file.html"), "{complaint}");
    assert!(assert.get_output().stdout.is_empty());
}

#[test]
fn wrong_usage_is_exit_code_2() {
    for arguments in
        [&["one.html"][..], &["-", "-"], &["a", "b", "--json", "--report"], &["a", "b", "--passages", "many"]]
    {
        compare(arguments).code(2);
    }
}

#[test]
fn help_has_examples() {
    let help = String::from_utf8(compare(&["--help"]).code(0).get_output().stdout.clone()).unwrap();
    assert!(help.contains("Examples:") && help.contains("seamripper compare page.html copy.html"), "{help}");
}
