//! A label: a word that somebody puts on a document, a cluster or a domain, with who, why and when.
//!
//! A [`Record`] is what is written (`schemas/label.json`), a [`Label`] one that has been checked. The checks are
//! strict, because a label that is accepted and never matches is worse than one that is refused: `allow ` is not
//! `allow`, and `www.a.example` is nobody's registered domain.
//!
//! # Invariants
//! - What the schema accepts is read and what it refuses is refused; only registered domains are known here alone.
//!   (`tests/promises/schemas.rs`)
//! - What is written can be read back, equal. (`labels_survive_json`)
//! - All that is wrong with a record is said at once. (`every_problem_of_a_record_is_named`)

use crate::document::identity::{ID_BYTES_MAX, registered_domain_of};
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;

/// The label that outweighs all others. On a domain it counts for a mail only if that domain was authenticated.
pub const ALLOW: &str = "allow";

const LABEL_CHARS_MAX: usize = 64;
const BY_CHARS_MAX: usize = 256;
const WHY_CHARS_MAX: usize = 1024;
/// What a name in the DNS can have.
const DOMAIN_CHARS_MAX: usize = 253;

/// A label as it is written; nothing in it has been checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// What is labelled.
    pub target: Target,
    /// The word.
    pub label: String,
    /// Who says so.
    pub by: String,
    /// Why; it may be empty.
    pub why: String,
    /// When it was said, RFC 3339. The order of the records decides which holds, not this.
    pub at: String,
    /// Whether the label is taken back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undo: bool,
    /// The document that was pointed at, where the target is the head of the group that it is a copy in.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub named: Option<String>,
    /// Who takes it back, where that is not who had said so.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub undone_by: Option<String>,
}

/// What is there is text: `null` is a mistake, and not the same as nothing.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    String::deserialize(deserializer).map(Some)
}

/// What a label is put on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// A document by its id; if it heads a group of copies, all of them.
    Document(String),
    /// A style cluster by its id.
    Cluster(String),
    /// A registered domain: its pages, and the mails of its senders.
    Domain(String),
}

/// A record that can be applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Record")]
pub struct Label(Record);

impl Label {
    /// Reads a record: one JSON object.
    pub fn from_json(json: &[u8]) -> Result<Self, Problems> {
        let form = |problem: String| Problems(vec![Problem::Form(problem)]);
        // serde would also take a record's values in an array.
        if json.trim_ascii_start().first() != Some(&b'{') {
            return Err(form("it is no JSON object".to_owned()));
        }
        let record: Record = serde_json::from_slice(json).map_err(|error| {
            let message = error.to_string();
            // Whoever reads lines knows the line; the record alone has only columns.
            let what = message.rsplit_once(" at line ").map_or(&*message, |(what, _)| what);
            form(format!("{what} (column {})", error.column()))
        })?;
        Self::try_from(record)
    }

    /// What it says.
    pub fn record(&self) -> &Record {
        &self.0
    }
}

impl TryFrom<Record> for Label {
    type Error = Problems;

    fn try_from(record: Record) -> Result<Self, Problems> {
        let Record { target, label, by, why, at, undo, named, undone_by } = &record;
        let mut problems = Vec::new();
        match target {
            Target::Document(id) => check_length("target.document", id, 1..=ID_BYTES_MAX, &mut problems),
            Target::Cluster(id) => check_length("target.cluster", id, 1..=ID_BYTES_MAX, &mut problems),
            Target::Domain(domain) => check_domain(domain, &mut problems),
        }
        check_line("label", label, 1..=LABEL_CHARS_MAX, &mut problems);
        check_line("by", by, 1..=BY_CHARS_MAX, &mut problems);
        check_line("why", why, 0..=WHY_CHARS_MAX, &mut problems);
        if !is_moment(at) {
            problems.push(Problem::Time);
        }
        if let Some(named) = named {
            check_length("named", named, 1..=ID_BYTES_MAX, &mut problems);
            if !matches!(target, Target::Document(_)) {
                problems.push(Problem::Beside("named", "target.document"));
            }
        }
        if let Some(undone_by) = undone_by {
            check_line("undone_by", undone_by, 1..=BY_CHARS_MAX, &mut problems);
            if !undo {
                problems.push(Problem::Beside("undone_by", "undo"));
            }
        }
        if problems.is_empty() { Ok(Self(record)) } else { Err(Problems(problems)) }
    }
}

/// What is wrong with a record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// It is no JSON, or has other fields.
    #[error("{0}")]
    Form(String),
    /// Nothing is said.
    #[error("`{0}` is empty")]
    Empty(&'static str),
    /// Too much is.
    #[error("`{field}` has {n_chars} characters, limit is {chars_max}")]
    TooLong {
        /// Where.
        field: &'static str,
        /// How much.
        n_chars: usize,
        /// How much it may be.
        chars_max: usize,
    },
    /// It would break out of a line or a terminal.
    #[error("`{0}` holds a control character")]
    Control(&'static str),
    /// It would be another word that looks the same.
    #[error("`{0}` begins or ends with white space")]
    Space(&'static str),
    /// No document would ever have this domain.
    #[error("`target.domain` is no registered domain: {0:?}")]
    NoDomain(String),
    /// Nor this one, but perhaps it is clear what was meant.
    #[error("`target.domain` is not written as a registered domain: {written:?}, write {registered:?} for all of it")]
    OtherDomain {
        /// What was written.
        written: String,
        /// The registered domain of that.
        registered: String,
    },
    /// It says something about what is not there.
    #[error("`{0}` goes with `{1}` only")]
    Beside(&'static str, &'static str),
    /// It is not known when.
    #[error("`at` is no RFC 3339 time with offset")]
    Time,
}

/// All that is wrong with a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problems(pub Vec<Problem>);

impl std::error::Error for Problems {}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let problems: Vec<String> = self.0.iter().map(Problem::to_string).collect();
        f.write_str(&problems.join("; "))
    }
}

fn check_length(field: &'static str, value: &str, chars: std::ops::RangeInclusive<usize>, problems: &mut Vec<Problem>) {
    let n_chars = value.chars().count();
    if n_chars < *chars.start() {
        problems.push(Problem::Empty(field));
    } else if n_chars > *chars.end() {
        problems.push(Problem::TooLong { field, n_chars, chars_max: *chars.end() });
    }
}

/// Text that is shown on one line.
fn check_line(field: &'static str, value: &str, chars: std::ops::RangeInclusive<usize>, problems: &mut Vec<Problem>) {
    check_length(field, value, chars, problems);
    if value.contains(char::is_control) {
        problems.push(Problem::Control(field));
    } else if value.trim().len() != value.len() {
        problems.push(Problem::Space(field));
    }
}

/// A domain is not put right here: whoever writes `shop.a.example` has to say that all of `a.example` is meant.
fn check_domain(domain: &str, problems: &mut Vec<Problem>) {
    let n_problems = problems.len();
    check_length("target.domain", domain, 1..=DOMAIN_CHARS_MAX, problems);
    if problems.len() > n_problems {
        return;
    }
    match registered_domain_of(domain) {
        Some(registered) if registered == domain => {}
        Some(registered) => problems.push(Problem::OtherDomain { written: domain.to_owned(), registered }),
        None => problems.push(Problem::NoDomain(domain.to_owned())),
    }
}

/// Whether other readers of RFC 3339 would take it too: jiff also reads times without seconds, with a blank in the
/// middle, with an offset without colon and with a zone in brackets.
fn is_moment(at: &str) -> bool {
    let bytes = at.as_bytes();
    let has_offset = matches!(bytes, [.., b'Z' | b'z'] | [.., b'+' | b'-', _, _, b':', _, _]);
    let has_seconds =
        matches!(bytes.get(10..20), Some([b'T' | b't', _, _, b':', _, _, b':', _, _, next]) if !next.is_ascii_digit());
    has_offset && has_seconds && !at.contains(',') && at.parse::<jiff::Timestamp>().is_ok()
}

impl<'de> Deserialize<'de> for Target {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(OneTarget)
    }
}

/// Reads an object of one field. What serde derives would say of two fields only that a bracket is missing.
struct OneTarget;

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Sort {
    Document,
    Cluster,
    Domain,
}

impl<'de> Visitor<'de> for OneTarget {
    type Value = Target;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with exactly one of `document`, `cluster` and `domain`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Target, A::Error> {
        let Some(sort) = map.next_key::<Sort>()? else {
            return Err(A::Error::invalid_length(0, &self));
        };
        let name = map.next_value()?;
        if map.next_key::<Sort>()?.is_some() {
            return Err(A::Error::invalid_length(2, &self));
        }
        Ok(match sort {
            Sort::Document => Target::Document(name),
            Sort::Cluster => Target::Cluster(name),
            Sort::Domain => Target::Domain(name),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn record(target: Target) -> Record {
        let text = str::to_owned;
        Record {
            target,
            label: text("spam"),
            by: text("ada"),
            why: text(""),
            at: text("2026-01-31T12:00:00Z"),
            undo: false,
            named: None,
            undone_by: None,
        }
    }

    #[test]
    fn labels_survive_json() {
        let targets = [
            Target::Document("m-1".to_owned()),
            Target::Cluster("t-1".to_owned()),
            Target::Domain("a.example".to_owned()),
        ];
        for target in targets {
            for undo in [false, true] {
                let named = matches!(target, Target::Document(_)).then(|| "m-2".to_owned());
                let undone_by = undo.then(|| "bob".to_owned());
                let label = Label::try_from(Record { undo, named, undone_by, ..record(target.clone()) }).unwrap();
                let json = serde_json::to_string(&label).unwrap();
                assert_eq!(json.contains("undo"), undo, "{json}");
                assert_eq!(serde_json::from_str::<Label>(&json).unwrap(), label);
            }
        }
    }

    #[test]
    fn every_problem_of_a_record_is_named() {
        let wrong = Record {
            label: "allow ".to_owned(),
            by: String::new(),
            why: "a\u{1b}[31m".to_owned(),
            at: "yesterday".to_owned(),
            named: Some("m-1".to_owned()),
            undone_by: Some("bob ".to_owned()),
            ..record(Target::Domain("www.a.example".to_owned()))
        };
        let problems = Label::try_from(wrong).unwrap_err();
        assert_eq!(
            problems.to_string(),
            "`target.domain` is not written as a registered domain: \"www.a.example\", write \"a.example\" for all of \
             it; `label` begins or ends with white space; `by` is empty; `why` holds a control character; `at` is no \
             RFC 3339 time with offset; `named` goes with `target.document` only; `undone_by` begins or ends with white \
             space; `undone_by` goes with `undo` only"
        );
    }

    #[test]
    fn a_domain_is_registered_and_normal() {
        for (domain, good) in [
            ("a.example", true),
            ("a.github.io", true),
            ("xn--bcher-kva.example", true),
            ("bücher.example", false),
            ("A.example", false),
            ("a.example.", false),
            (" a.example", false),
            ("b.a.example", false),
            ("github.io", false),
            ("co.uk", false),
            ("192.0.2.1", false),
            ("localhost", false),
            ("", false),
        ] {
            let label = Label::try_from(record(Target::Domain(domain.to_owned())));
            assert_eq!(label.is_ok(), good, "{domain:?}: {label:?}");
        }
    }

    #[test]
    fn lengths_are_counted_in_characters() {
        let labelled =
            |n: usize| Label::try_from(Record { label: "あ".repeat(n), ..record(Target::Cluster("t".into())) });
        assert!(labelled(64).is_ok());
        let problems = labelled(65).unwrap_err().0;
        assert_eq!(problems, [Problem::TooLong { field: "label", n_chars: 65, chars_max: 64 }]);
    }

    #[test]
    fn a_target_is_exactly_one_thing() {
        for (target, complaint) in [
            (json!({}), "exactly one of"),
            (json!({"document": "a", "domain": "a.example"}), "exactly one of"),
            (json!({"document": null}), "null"),
            (json!({"documents": "a"}), "unknown variant `documents`"),
            (json!("a"), "exactly one of"),
            (json!(["a"]), "exactly one of"),
        ] {
            let error = serde_json::from_value::<Target>(target).unwrap_err().to_string();
            assert!(error.contains(complaint), "{error}");
        }
    }
}
