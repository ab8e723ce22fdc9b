//! `seamripper sign` as a user meets it.

use super::data;
use assert_cmd::Command;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Stdio;

fn sign() -> Command {
    let mut command = Command::cargo_bin("seamripper").unwrap();
    command.arg("sign").env_remove("NO_COLOR");
    command
}

/// What a run printed, and how it ended.
struct Run {
    stdout: String,
    stderr: String,
    code: Option<i32>,
}

impl Run {
    fn of(command: &mut Command) -> Self {
        let output = command.output().unwrap();
        Self {
            stdout: String::from_utf8(output.stdout).expect("JSON and text are UTF-8"),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            code: output.status.code(),
        }
    }

    fn objects(&self) -> Vec<Value> {
        self.stdout.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
    }
}

fn bundled() -> [PathBuf; 2] {
    ["pages", "mails"].map(|folder| Path::new(env!("CARGO_MANIFEST_DIR")).join("demo").join(folder))
}

/// A folder with a few documents of all sorts, among them some that are set aside.
fn mixture() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
    write("empty.html", b"");
    write("lines.jsonl", b"{\"id\":\"good\",\"html\":\"<p>Hello to all of you, dear readers of this page.\"}\n{\"html\":\n[]\n{\"raw\":\"a\"}\n");
    write("no.eml", b"no header at all\n");
    write("page.html", PAGE.as_bytes());
    write("two.mbox", b"From a Sat Jan  3 01:05:34 1996\nFrom: a@b.example\nSubject: one\n\nHello.\n\nFrom a Sat Jan  3 01:05:34 1996\nSubject: two\n\n> quoted\nBye.\n");
    folder
}

const PAGE: &str = "<!doctype html><html><head><title>Tide mills</title><link rel=stylesheet href=/a.css></head><body>\
    <h1>Tide mills</h1><p>A tide mill is a water mill that is driven by the rise and fall of the tide. \
    See the <a href=http://other.example/mills#top>list of mills</a> and <a rel=nofollow href=/near>one nearby</a>.\
    <p hidden>Nobody reads this.</p><p>Water comes in through a gate, and the gate closes when the tide turns.</body></html>";

#[test]
fn every_object_is_valid_by_its_schema() {
    let schemas = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas");
    let json = |path: &str| serde_json::from_slice(&std::fs::read(schemas.join(path)).unwrap()).unwrap();
    let schema: Value = json("signatures.json");
    jsonschema::meta::validate(&schema).expect("the schema is one");
    let schema = jsonschema::validator_for(&schema).unwrap();
    let check = |object: &Value| {
        let errors: Vec<_> =
            schema.iter_errors(object).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(errors.is_empty(), "{}: {errors:#?}", object["id"]);
    };
    check(&json("examples/signatures.json"));

    let mixture = mixture();
    let run = Run::of(sign().arg("--links").args(bundled()).arg(mixture.path()));
    let objects = run.objects();
    assert!(objects.len() > 15, "{}", objects.len());
    for outcome in ["signed", "insufficient", "rejected"] {
        assert!(objects.iter().any(|object| object["outcome"] == outcome), "none is {outcome}");
    }
    objects.iter().for_each(check);

    // It is the schema that lets them pass: it refuses what is missing, unknown or of another form.
    let mut wrong = objects[0].clone();
    wrong.as_object_mut().unwrap().remove("read");
    assert!(!schema.is_valid(&wrong));
    let mut wrong = objects[0].clone();
    wrong["surprise"] = 1.into();
    assert!(!schema.is_valid(&wrong));
    let mut wrong = objects[0].clone();
    wrong["signatures"]["key_id"] = "xyz".into();
    assert!(!schema.is_valid(&wrong));
}

/// Every field of an object that has one is described, so that the schema is a manual.
#[test]
fn every_field_is_described() {
    fn walk(value: &Value, path: &str) {
        let Some(object) = value.as_object() else { return };
        for (name, field) in object.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let told = ["description", "$ref", "const", "enum", "oneOf"].iter().any(|key| field.get(key).is_some());
            assert!(told, "{path}.{name} is not described");
        }
        object.iter().for_each(|(name, value)| walk(value, &format!("{path}.{name}")));
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas/signatures.json");
    walk(&serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap(), "");
}

#[test]
fn an_object_says_what_was_read() {
    let mixture = mixture();
    let run = Run::of(sign().arg("page.html").current_dir(mixture.path()));
    let [page] = run.objects().try_into().unwrap();
    assert_eq!(
        (&page["id"], &page["place"], &page["kind"]),
        (&"page.html".into(), &"page.html".into(), &"page".into())
    );
    assert_eq!((&page["outcome"], &page["schema"]), (&"signed".into(), &1.into()));
    assert_eq!(page["read"]["title"], "Tide mills");
    assert_eq!(page["read"]["n_bytes"], PAGE.len());
    assert_eq!(page["links"]["shown"][0]["url"], "http://other.example/mills");
    let text = Run::of(sign().arg("--text").arg("page.html").current_dir(mixture.path())).stdout;
    let span = |index: usize| page["links"]["shown"][0]["text"][index].as_u64().unwrap() as usize;
    assert_eq!(&text[span(0)..span(1)], "list of mills");
    assert_eq!(page["read"]["n_text_bytes"], text.len());
    assert!(!text.contains("Nobody"));

    let run = Run::of(sign().arg("two.mbox").current_dir(mixture.path()));
    let [one, two] = run.objects().try_into().unwrap();
    assert_eq!((&one["place"], &two["place"]), (&"two.mbox#1".into(), &"two.mbox#2".into()));
    assert_eq!((&one["kind"], &one["read"]["mail"]["from"]), (&"email".into(), &"a@b.example".into()));
    assert_eq!(two["read"]["asides"][0]["sort"], "quoted");
}

#[test]
fn an_id_is_the_callers_or_the_url_or_the_place() {
    let lines = "{\"id\":\"own\",\"url\":\"http://a.example/\",\"text\":\"x\"}\n{\"url\":\"http://a.example/\",\"text\":\"x\"}\n{\"text\":\"x\"}\n";
    let run = Run::of(sign().arg("-").write_stdin(lines));
    let ids: Vec<_> = run.objects().iter().map(|object| object["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(ids, ["own", "http://a.example/", "-#3"]);
}

#[test]
fn threads_do_not_change_the_output() {
    let folder = tempfile::tempdir().unwrap();
    let lines: String = (0..400)
        .map(|number| {
            let words: String = (0..number * 7 % 300).map(|word| format!("word{} ", word * number % 1009)).collect();
            format!("{{\"id\":\"{number}\",\"html\":\"<p>Page number {number}. {words}\"}}\n")
        })
        .collect();
    std::fs::write(folder.path().join("many.jsonl"), lines).unwrap();
    let run = |threads: &str| Run::of(sign().args(["--threads", threads]).arg(folder.path()).args(bundled()));
    let one = run("1");
    assert_eq!(one.objects().len(), 400 + 13);
    assert!(
        one.objects()[..400]
            .iter()
            .enumerate()
            .all(|(number, object)| object["id"].as_str() == Some(number.to_string().as_str()))
    );
    for threads in ["2", "5"] {
        assert!(run(threads).stdout == one.stdout, "{threads} threads print something else than one");
    }
}

#[test]
fn a_broken_file_is_named_and_the_rest_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let good = folder.path().join("good.html");
    let broken = folder.path().join("broken.html.gz");
    std::fs::write(&good, PAGE).unwrap();
    std::fs::write(&broken, b"\x1f\x8b\x08\0\0\0\0\0\0\xffthis is not deflate").unwrap();
    let missing = folder.path().join("missing.html");
    let run = Run::of(sign().args([&broken, &missing, &good]));
    assert_eq!(run.code, Some(1));
    assert_eq!(run.objects().len(), 1, "{}", run.stdout);
    assert!(run.stderr.contains("broken.html.gz: "), "{}", run.stderr);
    assert!(run.stderr.contains("missing.html: no such file or folder"), "{}", run.stderr);
    assert!(run.stderr.contains("1 document (1 signed, 0 insufficient, 0 rejected)"), "{}", run.stderr);
}

#[test]
fn a_document_that_is_set_aside_has_its_object() {
    let mixture = mixture();
    let run = Run::of(sign().arg("lines.jsonl").arg("no.eml").current_dir(mixture.path()));
    assert_eq!(run.code, Some(1));
    let objects = run.objects();
    let told: Vec<_> =
        objects.iter().map(|object| (object["place"].as_str().unwrap(), object["outcome"].as_str().unwrap())).collect();
    assert_eq!(
        told,
        [
            ("lines.jsonl#1", "signed"),
            ("lines.jsonl#2", "rejected"),
            ("lines.jsonl#3", "rejected"),
            ("lines.jsonl#4", "rejected"),
            ("no.eml", "rejected"),
        ]
    );
    assert_eq!((&objects[0]["id"], &objects[4]["reason"]), (&"good".into(), &"not_a_mail".into()));
    for place in ["lines.jsonl#2: ", "lines.jsonl#3: ", "lines.jsonl#4: ", "no.eml: "] {
        assert!(run.stderr.contains(place), "{place} in {}", run.stderr);
    }
}

#[test]
fn text_is_bare_for_one_document_and_json_for_several() {
    let mixture = mixture();
    let one = Run::of(sign().args(["--text", "page.html"]).current_dir(mixture.path()));
    assert!(one.stdout.starts_with("Tide mills\nA tide mill is"), "{}", one.stdout);
    let several = Run::of(sign().args(["--text", "page.html", "two.mbox"]).current_dir(mixture.path()));
    let objects = several.objects();
    let ids: Vec<_> = objects.iter().map(|object| object["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["page.html", "two.mbox#1", "two.mbox#2"]);
    assert_eq!(objects[0]["text"], one.stdout);
}

#[test]
fn all_grams_are_more_than_the_winnowed_ones() {
    let mixture = mixture();
    let n_grams = |arguments: &[&str]| {
        let run = Run::of(sign().args(arguments).current_dir(mixture.path()));
        run.objects()[0]["signatures"]["grams"].as_array().unwrap().len()
    };
    let (winnowed, all) = (n_grams(&["page.html"]), n_grams(&["--exact", "page.html"]));
    assert!(winnowed * 3 < all && winnowed > 0, "{winnowed} of {all}");
}

#[test]
fn standard_input_is_read() {
    let run = Run::of(sign().arg("-").write_stdin(PAGE));
    assert_eq!((run.code, run.objects()[0]["place"].as_str()), (Some(0), Some("-")));
    assert_eq!(run.objects()[0]["kind"], "page");
    let run = Run::of(sign().args(["--format", "mail", "-"]).write_stdin("Subject: x\n\nHello.\n"));
    assert_eq!(run.objects()[0]["kind"], "email");
}

#[test]
fn stdout_is_json_alone_and_stderr_is_quiet_when_asked() {
    let mixture = mixture();
    let run = Run::of(sign().args(["-q", "page.html"]).current_dir(mixture.path()));
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    let run = Run::of(sign().args(["page.html", "missing.html"]).current_dir(mixture.path()));
    assert_eq!(run.objects().len(), 1);
    assert!(!run.stderr.contains('\u{1b}'), "colours or a progress bar where there is no terminal: {:?}", run.stderr);
    let run = Run::of(sign().args(["-q", "missing.html"]).current_dir(mixture.path()));
    assert_eq!((run.code, run.stdout.as_str()), (Some(1), ""));
    assert!(run.stderr.starts_with("error: missing.html: no such file"), "{:?}", run.stderr);
}

#[test]
fn wrong_arguments_are_explained() {
    let run = Run::of(&mut sign());
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("<PATH>"), "{}", run.stderr);
    let run = Run::of(sign().args(["--format", "pdf", "x"]));
    assert!(run.code == Some(2) && run.stderr.contains("mbox"), "{}", run.stderr);
    let run = Run::of(sign().arg("--help"));
    assert!(run.code == Some(0) && run.stdout.contains("Examples:"), "{}", run.stdout);
}

/// `seamripper sign … | head -1` ends without a word.
#[test]
fn a_closed_pipe_is_no_error() {
    use std::io::{BufRead, BufReader, Read};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("many.jsonl");
    std::fs::write(&path, "{\"html\":\"<p>Hello to all of you, dear readers of this page.\"}\n".repeat(20_000))
        .unwrap();
    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin("seamripper"))
        .args(["sign", path.to_str().unwrap()])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.ends_with("}\n"));
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!((child.wait().unwrap().code(), stderr.as_str()), (Some(0), ""));
}

/// A slow source is answered document by document.
#[test]
fn a_slow_source_is_answered_at_once() {
    use std::io::{BufRead, BufReader, Write};
    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin("seamripper"))
        .args(["sign", "-q", "--format", "jsonl", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    for number in 0..3 {
        writeln!(stdin, "{{\"id\":\"{number}\",\"html\":\"<p>x\"}}").unwrap();
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap()["id"], number.to_string());
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

/// Real mails and pages: each is accounted for, and none is a bug.
#[test]
fn every_real_document_has_its_object() {
    for (set, file, n_documents) in
        [("mail_csdmc2010", "mails.tar.zst", 1231), ("html_swde_book", "pages.jsonl.zst", 218)]
    {
        let Some(folder) = data::real(set) else { continue };
        let run = Run::of(sign().arg(folder.join(file)));
        assert_eq!(run.stdout.lines().count(), n_documents, "{set}: {}", run.stderr);
        assert!(run.stderr.contains(&format!("{n_documents} documents (")), "{set}: {}", run.stderr);
    }
}
