//! A record of the labels topic: a label, the undoing of one, or that a document is to be forgotten.
//!
//! It stands in the journal as it came, so that following the journal needs no labels topic; what is wrong with it is
//! found again in the same way.
//!
//! # Invariants
//! - The key of a label names target, label and author; an empty value under it takes the label back.
//!   (`a_tombstone_undoes_its_label`)

use crate::bus::Record;
use crate::document::identity::ID_BYTES_MAX;
use crate::verdict::label::{self, Label, Target};
use serde::{Deserialize, Serialize};

/// A larger record is no label: the longest ids, labels, names and reasons are well below it.
const BYTES_MAX: usize = 16 << 10;
/// What is kept of such a record.
const BEGINNING_BYTES: usize = 256;

/// A record of the labels topic.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabelRecord {
    /// Its partition.
    pub partition: i32,
    /// Its offset.
    pub offset: i64,
    /// Its size, where that is more than a label can have: then key and value are only their beginnings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n_bytes: Option<usize>,
    /// Its key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Its value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

/// What a label record asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// Puts a label in force, or takes it back.
    Label(Box<Label>),
    /// Forgets a document, with all that is kept of it.
    Forget(String),
}

/// The key of a label: what a later record must have to replace it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Key {
    target: Target,
    label: String,
    by: String,
}

/// That a document is to be forgotten.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Forget {
    /// The document's id.
    pub forget: String,
    /// Who wants it.
    pub by: String,
    /// Why.
    #[serde(default)]
    pub why: String,
    /// When it was said, RFC 3339.
    pub at: String,
}

/// The key that the record of a label has.
pub fn key(record: &label::Record) -> Vec<u8> {
    let label::Record { target, label, by, .. } = record.clone();
    serde_json::to_vec(&Key { target, label, by }).expect("plain data in memory can be written")
}

impl LabelRecord {
    /// A record as it came.
    pub fn of(record: &Record) -> Self {
        let is_large = record.n_bytes() > BYTES_MAX;
        let text = |bytes: &Option<Vec<u8>>| {
            let kept = |bytes: &Vec<u8>| if is_large { bytes.len().min(BEGINNING_BYTES) } else { bytes.len() };
            bytes.as_ref().map(|bytes| String::from_utf8_lossy(&bytes[..kept(bytes)]).into_owned())
        };
        Self {
            n_bytes: is_large.then(|| record.n_bytes()),
            partition: record.partition.number,
            offset: record.offset,
            key: text(&record.key),
            value: text(&record.value),
        }
    }

    /// What it asks for, or what is wrong with it.
    pub fn order(&self) -> Result<Order, String> {
        if let Some(n_bytes) = self.n_bytes {
            return Err(format!("it has {n_bytes} bytes, and a label at most {BYTES_MAX}"));
        }
        let Some(value) = &self.value else { return self.undone() };
        if value.contains("\"forget\"")
            && let Ok(Forget { forget, .. }) = serde_json::from_str(value)
        {
            return match forget.len() {
                1..=ID_BYTES_MAX => Ok(Order::Forget(forget)),
                n => Err(format!("`forget` has {n} bytes, 1 to {ID_BYTES_MAX} can be an id")),
            };
        }
        let label = Label::from_json(value.as_bytes()).map_err(|problems| problems.to_string())?;
        Ok(Order::Label(Box::new(label)))
    }

    fn undone(&self) -> Result<Order, String> {
        let key = self.key.as_deref().ok_or("it has neither key nor value")?;
        let Key { target, label, by } =
            serde_json::from_str(key).map_err(|error| format!("its value is empty, and its key is none: {error}"))?;
        let at = "1970-01-01T00:00:00Z".to_owned();
        let why = String::new();
        let record = label::Record { target, label, by, why, at, undo: true, named: None, undone_by: None };
        Label::try_from(record).map(|label| Order::Label(Box::new(label))).map_err(|problems| problems.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(key: Option<&str>, value: Option<&str>) -> LabelRecord {
        LabelRecord {
            partition: 0,
            offset: 0,
            n_bytes: None,
            key: key.map(str::to_owned),
            value: value.map(str::to_owned),
        }
    }

    #[test]
    fn a_tombstone_undoes_its_label() {
        let json = r#"{"target":{"document":"d"},"label":"spam","by":"me","why":"","at":"2026-01-31T12:00:00Z"}"#;
        let Ok(Order::Label(label)) = record(None, Some(json)).order() else { panic!("no label") };
        let key = String::from_utf8(key(label.record())).unwrap();
        let Ok(Order::Label(undone)) = record(Some(&key), None).order() else { panic!("no label") };
        assert!(undone.record().undo);
        assert_eq!((&undone.record().target, &undone.record().label), (&label.record().target, &label.record().label));
    }

    #[test]
    fn a_record_that_is_too_large_for_a_label_leaves_its_beginning() {
        let partition = crate::bus::Partition::new("labels", 0);
        let (key, value) = (Some(vec![0; 9_000]), Some(vec![0; 3_000_000]));
        let large = LabelRecord::of(&Record { partition, offset: 3, time_ms: 0, key, headers: Vec::new(), value });
        assert!(large.order().unwrap_err().contains("3009000 bytes"));
        assert!(serde_json::to_vec(&large).unwrap().len() < 4096);
    }

    #[test]
    fn what_is_no_order_is_refused_with_a_reason() {
        let forget = r#"{"forget":"d","by":"me","why":"asked","at":"2026-01-31T12:00:00Z"}"#;
        assert_eq!(record(None, Some(forget)).order(), Ok(Order::Forget("d".into())));
        for (key, value, problem) in [
            (None, None, "neither key nor value"),
            (Some("x"), None, "its key is none"),
            (None, Some("[]"), "no JSON object"),
            (None, Some(r#"{"forget":"","by":"me","at":"2026-01-31T12:00:00Z"}"#), "0 bytes"),
        ] {
            let refused = record(key, value).order().unwrap_err();
            assert!(refused.contains(problem), "{refused}");
        }
    }
}
