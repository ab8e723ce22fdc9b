//! A label on its way to the labels topic: on whom it is put, and what is told of it.
//!
//! # Invariants
//! - A label on a copy is put on the head of its group, and says on whom it was meant. (`a_copy_stands_for_its_group`)
//! - A later record of the same target, label and author has the same key. (`tests/promises/label_command.rs`)

use crate::bus::{Outgoing, Partition};
use crate::pipeline::run::label::{Forget, key};
use crate::verdict::label::{Label, Record, Target};
use serde::Serialize;
use serde_json::json;
use std::collections::HashMap;
use std::sync::Arc;

/// What is told of a label that is durable (`schemas/labelled.json`).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Posted {
    /// The label, as it stands in the topic.
    #[serde(flatten)]
    pub record: Record,
    /// Of a document: whether it has a verdict. Nobody knows that of clusters and domains.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub known: Option<bool>,
    /// Where it is.
    pub topic: Arc<str>,
    /// See `topic`.
    pub partition: i32,
    /// See `topic`.
    pub offset: i64,
}

/// A label that can be posted.
#[derive(Clone, Debug, PartialEq)]
pub struct Posting {
    /// The label.
    pub record: Record,
    /// See [`Posted::known`].
    pub known: Option<bool>,
}

impl Posting {
    /// `label`, put on the head of the group where `heads` knows it as a copy.
    pub fn new(label: &Label, heads: &HashMap<String, String>) -> Self {
        let mut record = label.record().clone();
        let Target::Document(id) = &record.target else { return Self { record, known: None } };
        let head = heads.get(id).cloned();
        let known = Some(head.is_some() || record.named.is_some());
        if let Some(head) = head.filter(|head| head != id) {
            record.named.get_or_insert_with(|| id.clone());
            record.target = Target::Document(head);
        }
        Self { record, known }
    }

    /// What goes to the topic.
    pub fn outgoing(&self, topic: &str) -> Outgoing {
        outgoing(&self.record, topic)
    }

    /// What is told when it is there.
    pub fn posted(self, (partition, offset): (Partition, i64)) -> Posted {
        let Self { record, known } = self;
        Posted { record, known, topic: partition.topic, partition: partition.number, offset }
    }
}

/// A record for the labels topic. What takes a label back says who and why: it is no empty value, which says nothing.
pub fn outgoing(record: &Record, topic: &str) -> Outgoing {
    let value = serde_json::to_vec(record).expect("plain data in memory can be written");
    Outgoing { key: Some(key(record)), value: Some(value), ..Outgoing::to(topic) }
}

/// A record that makes the store forget a document. Whoever wants that again has the same key.
pub fn forgetting(forget: &Forget, topic: &str) -> Outgoing {
    let value = serde_json::to_vec(forget).expect("plain data in memory can be written");
    let key = json!({"forget": forget.forget}).to_string().into_bytes();
    Outgoing { key: Some(key), value: Some(value), ..Outgoing::to(topic) }
}

/// This moment, as labels write it.
pub fn now() -> String {
    let now = jiff::Timestamp::now();
    now.round(jiff::Unit::Millisecond).unwrap_or(now).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(target: Target, named: Option<&str>) -> Label {
        let [label, by, at] = ["spam", "ada", "2026-01-31T12:00:00Z"].map(str::to_owned);
        let named = named.map(str::to_owned);
        Label::try_from(Record { target, label, by, why: String::new(), at, undo: false, named, undone_by: None })
            .unwrap()
    }

    #[test]
    fn a_copy_stands_for_its_group() {
        let document = |id: &str| Target::Document(id.to_owned());
        let heads = HashMap::from([("copy", "head"), ("head", "head")].map(|(a, b)| (a.to_owned(), b.to_owned())));
        let posting = |id: &str, named| Posting::new(&label(document(id), named), &heads);
        let copy = posting("copy", None);
        assert_eq!((&copy.record.target, copy.record.named.as_deref()), (&document("head"), Some("copy")));
        assert_eq!((posting("head", None).record.named, posting("head", None).known), (None, Some(true)));
        assert_eq!(
            (posting("nobody", None).record.target, posting("nobody", None).known),
            (document("nobody"), Some(false))
        );
        // What was exported elsewhere says already on whom it was meant.
        assert_eq!(posting("copy", Some("first")).record.named.as_deref(), Some("first"));
        let domain = Target::Domain("a.example".into());
        assert_eq!(
            Posting::new(&label(domain.clone(), None), &heads),
            Posting { record: label(domain, None).record().clone(), known: None }
        );
        let outgoing = copy.outgoing("labels");
        assert_eq!(outgoing.key, Some(key(&copy.record)));
        assert_eq!(Label::from_json(outgoing.value.as_deref().unwrap()).unwrap().record(), &copy.record);
    }

    #[test]
    fn this_moment_is_written_as_labels_want_it() {
        let record = Record { at: now(), ..label(Target::Cluster("t".into()), None).record().clone() };
        assert!(Label::try_from(record).is_ok(), "{}", now());
    }
}
