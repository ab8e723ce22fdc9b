//! What the schemas accept is read, and what they refuse is refused: the schema is the manual, so it must be right.

use seamripper::config::{Limits, Settings};
use seamripper::document::{Carrier, Rejection, envelope};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

type Open = fn(&[u8], &Carrier, &Limits) -> Result<envelope::Opened, Rejection>;

const PAGE: (&str, Open) = ("page", envelope::open_page);
const EMAIL: (&str, Open) = ("email", envelope::open_mail);

fn schemas() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas")
}

fn parsed(path: &Path) -> Value {
    let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_slice(&bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn validator(name: &str) -> jsonschema::Validator {
    let schema = parsed(&schemas().join(format!("{name}.json")));
    jsonschema::options().should_validate_formats(true).build(&schema).expect("the schema is one")
}

fn opened(open: Open, envelope: &Value) -> Result<envelope::Opened, Rejection> {
    open(envelope.to_string().as_bytes(), &Carrier::default(), &Settings::default().limits)
}

#[test]
fn the_examples_are_valid_and_are_read() {
    for (name, open) in [PAGE, EMAIL] {
        let validator = validator(name);
        let mut n_examples = 0;
        for entry in std::fs::read_dir(schemas().join("examples")).expect("the examples are in the repository") {
            let path = entry.expect("a listed file can be looked at").path();
            let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            if stem != name && !stem.starts_with(&format!("{name}-")) {
                continue;
            }
            let example = parsed(&path);
            validator.validate(&example).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let opened = opened(open, &example).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            assert!(!opened.body.is_empty(), "{}", path.display());
            n_examples += 1;
        }
        assert!(n_examples >= 2, "{name} has {n_examples} examples");
    }
}

/// The promise of a manual: every field says what it is.
#[test]
fn every_field_is_described() {
    fn undescribed(path: String, schema: &Value, found: &mut Vec<String>) {
        let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
        let definitions = schema.get("$defs").and_then(Value::as_object).into_iter().flatten();
        for (name, inner) in properties.chain(definitions) {
            let path = format!("{path}.{name}");
            if inner.get("description").and_then(Value::as_str).is_none_or(str::is_empty) {
                found.push(path.clone());
            }
            undescribed(path, inner, found);
        }
    }
    for (name, _) in [PAGE, EMAIL] {
        let mut found = Vec::new();
        undescribed(name.to_owned(), &parsed(&schemas().join(format!("{name}.json"))), &mut found);
        assert!(found.is_empty(), "not described: {found:?}");
    }
}

#[test]
fn schema_and_reader_agree() {
    let check = json!({"result": "pass", "domain": "a.example"});
    let long = "x".repeat(8193);
    let table = [
        (
            PAGE,
            true,
            vec![
                json!({"html": ""}),
                json!({"text": "x", "url": "", "content_type": "", "ip": "", "fetched_at": ""}),
                json!({"html": "<p>x", "url": "http://a.example/"}),
                json!({"body": "PHA+"}),
                json!({"body": "PHA-".replace('-', "+"), "content_type": "text/html"}),
                json!({"body": "PH\r\nA+", "id": "x"}),
                json!({"body": "eA"}),
                json!({"body": "eA=="}),
                json!({"text": "x", "html": null}),
                json!({"text": "x", "id": null, "url": null, "ip": null, "fetched_at": null, "content_type": null}),
                json!({"text": "x", "ip": "192.0.2.1"}),
                json!({"text": "x", "ip": "::1"}),
                json!({"text": "x", "fetched_at": "2026-01-31T12:00:00Z"}),
                json!({"text": "x", "fetched_at": "2026-01-31T12:00:00.25-05:30"}),
                json!({"text": "x", "more": [1, {"html": 5}]}),
            ],
        ),
        (
            PAGE,
            false,
            vec![
                json!({}),
                json!([]),
                json!("html"),
                json!(null),
                json!({"html": null}),
                json!({"html": "x", "body": "eA=="}),
                json!({"html": "x", "text": "x"}),
                json!({"html": "x", "text": "x", "body": "eA=="}),
                json!({"html": 1}),
                json!({"html": ["x"]}),
                json!({"body": "*"}),
                json!({"text": "x", "id": ""}),
                json!({"text": "x", "id": 7}),
                json!({"text": "x", "id": long}),
                json!({"text": "x", "url": {}}),
                json!({"text": "x", "content_type": true}),
                json!({"text": "x", "ip": "localhost"}),
                json!({"text": "x", "ip": "192.0.2.256"}),
                json!({"text": "x", "fetched_at": "yesterday"}),
                json!({"text": "x", "fetched_at": "2026-13-01T00:00:00Z"}),
                json!({"text": "x", "fetched_at": "2026-01-31T12:00:00"}),
                json!({"text": "x", "fetched_at": 1769860800}),
            ],
        ),
        (
            EMAIL,
            true,
            vec![
                json!({"raw": ""}),
                json!({"raw": "", "client_ip": "", "received_at": ""}),
                json!({"raw": "U3ViamVjdDogeAoK", "id": "1"}),
                json!({"raw": "", "mail_from": "", "rcpt": []}),
                json!({"raw": "", "rcpt": ["a@b", "c@d"], "auth": {}}),
                json!({"raw": "", "rcpt": null, "auth": null, "client_ip": null, "received_at": null}),
                json!({"raw": "", "auth": {"spf": check, "dkim": check, "dmarc": null, "arc": 5}}),
                json!({"raw": "", "auth": {"dkim": [check, check]}}),
                json!({"raw": "", "auth": {"spf": {"result": "none"}}}),
                json!({"raw": "", "client_ip": "2001:db8::1", "received_at": "2026-01-31T12:00:00+00:00"}),
            ],
        ),
        (
            EMAIL,
            false,
            vec![
                json!({}),
                json!({"raw": null}),
                json!({"raw": "Subject: x"}),
                json!({"raw": 5}),
                json!({"raw": "", "rcpt": "a@b"}),
                json!({"raw": "", "rcpt": [null]}),
                json!({"raw": "", "rcpt": {"0": "a@b"}}),
                json!({"raw": "", "mail_from": 5}),
                json!({"raw": "", "auth": "pass"}),
                json!({"raw": "", "auth": [check]}),
                json!({"raw": "", "auth": {"spf": "pass"}}),
                json!({"raw": "", "auth": {"spf": {"result": true}}}),
                json!({"raw": "", "auth": {"dkim": [[check]]}}),
                json!({"raw": "", "auth": {"dkim": [5]}}),
                json!({"raw": "", "client_ip": "mail.example"}),
                json!({"raw": "", "received_at": "2026-01-31"}),
            ],
        ),
    ];
    for ((name, open), good, envelopes) in table {
        let validator = validator(name);
        for envelope in envelopes {
            let shown: String = envelope.to_string().chars().take(100).collect();
            assert_eq!(validator.is_valid(&envelope), good, "schemas/{name}.json on {shown}");
            let read = opened(open, &envelope);
            assert_eq!(read.is_ok(), good, "the reader on {shown}: {:?}", read.err().map(|error| error.to_string()));
        }
    }
}
