//! Taking labels back: which are meant, and whose they are.
//!
//! A label stands for each author by itself, so that one who errs takes nothing away from another. What is taken back for somebody
//! else says who did it.
//!
//! # Invariants
//! - Nothing of others is taken back unless that is asked for. (`what_others_said_is_theirs`)

use super::posting::Posting;
use super::{Entry, Register};
use crate::verdict::label::{Record, Target};
use std::sync::Arc;

/// Labels that are to be taken back.
#[derive(Debug, Default, PartialEq)]
pub struct Undoing {
    /// What does so.
    pub postings: Vec<Posting>,
    /// Who else says so, and is not taken back.
    pub others: Vec<String>,
}

impl Undoing {
    /// Whether others say so, and only others.
    pub fn is_of_others(&self) -> bool {
        self.postings.is_empty() && !self.others.is_empty()
    }
}

impl Register {
    /// What takes the label of `undo` back: what its author has said, or with `everyone` what anybody has. Of a document it may be on
    /// the id itself, on whom somebody labelled by pointing at it, or on the head of its group, which `head` finds.
    pub fn undoing<E>(
        &self,
        undo: &Record,
        everyone: bool,
        head: impl FnOnce(&str) -> Result<Option<String>, E>,
    ) -> Result<Undoing, E> {
        let on = |target: &Target| {
            let held = self.in_force(target).into_iter();
            held.filter(|entry| entry.record.label == undo.label).collect::<Vec<Arc<Entry>>>()
        };
        let mut found = on(&undo.target);
        if let Target::Document(id) = &undo.target {
            let by_way = self.labelled_by_way_of(id).into_iter().filter(|target| *target != undo.target);
            found.extend(by_way.flat_map(|target| on(&target)));
            if found.is_empty() {
                found = head(id)?.map(|head| on(&Target::Document(head))).unwrap_or_default();
            }
        }
        let (taken_back, others): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|entry| everyone || entry.record.by == undo.by);
        let mut others: Vec<String> = others.iter().map(|entry| entry.record.by.clone()).collect();
        others.sort();
        others.dedup();
        Ok(Undoing { postings: taken_back.iter().map(|entry| taking_back(entry, undo)).collect(), others })
    }
}

fn taking_back(entry: &Entry, undo: &Record) -> Posting {
    let Record { target, label, by, named, .. } = entry.record.clone();
    let undone_by = (by != undo.by).then(|| undo.by.clone());
    let Record { why, at, .. } = undo.clone();
    Posting { record: Record { target, label, by, why, at, undo: true, named, undone_by }, known: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bus::{self, Partition};
    use crate::pipeline::run::label::key;
    use std::convert::Infallible;

    fn record(id: &str, by: &str, named: Option<&str>) -> Record {
        let [label, by, why, at] = ["spam", by, "", "2026-01-31T12:00:00Z"].map(str::to_owned);
        let target = Target::Document(id.to_owned());
        Record { target, label, by, why, at, undo: false, named: named.map(str::to_owned), undone_by: None }
    }

    fn register(records: &[Record]) -> Register {
        let mut register = Register::new(usize::MAX);
        for (offset, record) in (0..).zip(records) {
            let (key, value) = (Some(key(record)), Some(serde_json::to_vec(record).unwrap()));
            let partition = Partition::new("labels", 0);
            register.take(&bus::Record { partition, offset, time_ms: 0, key, headers: Vec::new(), value });
        }
        register
    }

    /// Target, author and who takes it back.
    fn told(undoing: &Undoing) -> Vec<String> {
        let told = |Posting { record, .. }: &Posting| {
            assert!(record.undo && record.label == "spam");
            let Target::Document(id) = &record.target else { panic!("{record:?}") };
            format!("{id} {} {}", record.by, record.undone_by.as_deref().unwrap_or("-"))
        };
        undoing.postings.iter().map(told).collect()
    }

    #[test]
    fn what_others_said_is_theirs() {
        let register = register(&[record("head", "ada", Some("copy")), record("head", "bob", None)]);
        let undoing = |id: &str, by: &str, everyone: bool| {
            let head = |id: &str| Ok::<_, Infallible>((id == "another").then(|| "head".to_owned()));
            register.undoing(&record(id, by, None), everyone, head).unwrap()
        };
        // By its own id, by the copy that was pointed at, by any other copy.
        for id in ["head", "copy", "another"] {
            let own = undoing(id, "ada", false);
            assert_eq!(
                (told(&own), own.others.clone()),
                (vec!["head ada -".to_owned()], vec!["bob".to_owned()]),
                "{id}"
            );
            assert!(!own.is_of_others());
            assert_eq!(told(&undoing(id, "ada", true)), ["head ada -", "head bob ada"]);
            let others = undoing(id, "eve", false);
            assert_eq!((others.is_of_others(), others.others), (true, vec!["ada".to_owned(), "bob".to_owned()]));
        }
        assert_eq!(undoing("nobody", "ada", true), Undoing::default());
    }
}
