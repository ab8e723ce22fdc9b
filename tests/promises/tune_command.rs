//! `seamripper tune` solves what can be solved, and says so plainly where it can't.

use assert_cmd::Command;
use serde_json::Value;

fn tune(arguments: &[&str]) -> assert_cmd::assert::Assert {
    Command::cargo_bin("seamripper").unwrap().arg("tune").args(arguments).assert()
}

fn json(assert: &assert_cmd::assert::Assert) -> Value {
    serde_json::from_slice(&assert.get_output().stdout).unwrap()
}

#[test]
fn into_a_pipe_goes_json_with_the_curve_and_the_settings() {
    let answer = json(&tune(&["--resemblance", "0.8", "--miss", "0.001"]).code(0));
    let chosen = &answer["bands"]["solved"]["chosen"];
    assert_eq!((&chosen["bands"], &chosen["rows_per_band"]), (&18.into(), &5.into()));
    assert!(chosen["miss"].as_f64().unwrap() <= 0.001);
    let curve = answer["bands"]["solved"]["curve"].as_array().unwrap();
    assert_eq!(
        (curve.len(), &curve[0], &curve[100]),
        (101, &serde_json::json!([0.0, 0.0]), &serde_json::json!([1.0, 1.0]))
    );
    assert_eq!(answer["style"]["chosen"]["probes"], 20, "the published setting for 35 bins");

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tuned.toml");
    std::fs::write(&file, answer["settings"].as_str().unwrap()).unwrap();
    let shown = Command::cargo_bin("seamripper").unwrap().args(["config", "show", "--json", "-c"]).arg(&file).assert();
    let settings = json(&shown.code(0));
    for (bands, rows) in [("bands", "rows"), ("page_bands", "page_rows")] {
        assert_eq!((&settings["mirror"][bands], &settings["mirror"][rows]), (&18.into(), &5.into()), "{settings}");
    }
    assert_eq!(settings["imatch"]["copies"], answer["imatch"]["solved"]["chosen"]["copies"]);
}

#[test]
fn the_report_draws_the_curve_in_the_characters_asked_for() {
    let report = |arguments: &[&str]| String::from_utf8(tune(arguments).code(0).get_output().stdout.clone()).unwrap();
    let dots = report(&["--report"]);
    assert!(dots.contains("bands = 18, rows = 5") && dots.contains('⣀'), "{dots}");
    assert!(!dots.contains('\u{1b}'), "no colours into a pipe: {dots:?}");
    let stars = report(&["--report", "--ascii"]);
    assert!(stars.is_ascii() && stars.contains("****"), "{stars}");
}

#[test]
fn what_cannot_be_had_is_exit_code_1_with_the_best_there_is() {
    let assert = tune(&["--false-hit", "0.01"]).code(1);
    let complaint = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
    assert!(complaint.contains("at best"), "{complaint}");
    assert_eq!(json(&assert)["bands"]["impossible"]["best"]["bands"], 18);
}

#[test]
fn wrong_arguments_are_exit_code_2() {
    for arguments in [
        &["--miss", "0"][..],
        &["--miss", "nan"],
        &["--resemblance", "1.5"],
        &["--slots", "0"],
        &["--bins", "129"],
        &["--unlike", "0.9"],
        &["--changed-words", "10"],
        &["--json", "--report"],
    ] {
        let assert = tune(arguments).code(2);
        assert!(assert.get_output().stdout.is_empty(), "{arguments:?}");
    }
}

#[test]
fn help_has_examples() {
    let help = String::from_utf8(tune(&["--help"]).code(0).get_output().stdout.clone()).unwrap();
    assert!(help.contains("Examples:") && help.contains("seamripper tune --resemblance"), "{help}");
}
