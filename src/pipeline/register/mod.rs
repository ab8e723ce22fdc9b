//! The register of labels: who has put which on what, why and when, as the labels topic tells it.
//!
//! The fold knows what is in force and nothing else; here is also what was in force before, and who took it back. It is read from
//! the topic, so that it is there with and without a run, for commands ([`crate::command::label`]) and for HTTP. [`groups`] says on
//! whom a label is put that somebody has put on a copy, [`posting`] is a label on its way, [`undoing`] what takes one back.
//!
//! On a compacted topic the last record of each target, label and author stays; what the same author said before of the same may be gone.
//!
//! # Invariants
//! - In force is what the fold has in force. (`what_is_in_force_is_what_the_fold_has`)
//! - No more than so many bytes are held; the oldest records give way, and are counted. (`the_oldest_give_way_and_are_counted`)

pub mod groups;
pub mod posting;
pub mod undoing;

use crate::bus::sweep::Sweep;
use crate::bus::{self, Bus, BusError, Partition};
use crate::pipeline::run::label::{LabelRecord, Order};
use crate::verdict::label::{Record, Target};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

/// What a record takes beside its text, about: it stands in a list and under its target.
const ENTRY_BYTES: usize = 256;

/// A label that was put on something, or taken back.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// What was said.
    pub record: Record,
    /// When the bus got it.
    pub time_ms: i64,
    /// Where it is.
    pub place: (Partition, i64),
}

/// What was said, as it is told.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Told {
    #[serde(flatten)]
    record: Record,
    /// When the bus got it, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<String>,
}

impl Entry {
    /// As it is told.
    pub fn told(&self) -> Told {
        let time = jiff::Timestamp::from_millisecond(self.time_ms).ok();
        Told { record: self.record.clone(), time: time.map(|time| time.to_string()) }
    }

    fn n_bytes(&self) -> usize {
        let Record { target, label, by, why, at, named, undone_by, .. } = &self.record;
        let (Target::Document(name) | Target::Cluster(name) | Target::Domain(name)) = target;
        let options = [named, undone_by].map(|text| text.as_ref().map_or(0, String::len));
        ENTRY_BYTES + [name, label, by, why, at].map(String::len).iter().chain(&options).sum::<usize>()
    }
}

/// What was said in labels, by target.
pub struct Register {
    by_target: HashMap<Target, Vec<Arc<Entry>>>,
    order: VecDeque<Arc<Entry>>,
    n_bytes: usize,
    bytes_max: usize,
    n_older: u64,
}

impl Register {
    /// An empty one that holds `bytes_max` bytes, about.
    pub fn new(bytes_max: usize) -> Self {
        Self { by_target: HashMap::new(), order: VecDeque::new(), n_bytes: 0, bytes_max, n_older: 0 }
    }

    /// All that the topic holds.
    pub fn read(bus: &dyn Bus, topic: &str) -> Result<Self, BusError> {
        let mut register = Self::new(usize::MAX);
        Sweep::new(topic).catch_up(bus, &mut |record| register.take(&record))?;
        Ok(register)
    }

    /// Takes in a record of the labels topic. What is no label is passed over: it has its dead letter.
    pub fn take(&mut self, record: &bus::Record) {
        let Ok(Order::Label(label)) = LabelRecord::of(record).order() else { return };
        let place = (record.partition.clone(), record.offset);
        let mut entry = Entry { record: label.record().clone(), time_ms: record.time_ms, place };
        if record.value.is_none() {
            // An empty value says neither when nor why.
            entry.record.at = entry.told().time.unwrap_or(entry.record.at);
        }
        let entry = Arc::new(entry);
        self.n_bytes += entry.n_bytes();
        self.by_target.entry(entry.record.target.clone()).or_default().push(entry.clone());
        self.order.push_back(entry);
        while self.n_bytes > self.bytes_max {
            let Some(oldest) = self.order.pop_front() else { break };
            self.n_bytes -= oldest.n_bytes();
            self.n_older += 1;
            let target = &oldest.record.target;
            if let Some(held) = self.by_target.get_mut(target) {
                held.retain(|entry| !Arc::ptr_eq(entry, &oldest));
                if held.is_empty() {
                    self.by_target.remove(target);
                }
            }
        }
    }

    /// Records that have given way to newer ones.
    pub fn n_older(&self) -> u64 {
        self.n_older
    }

    /// All that was said of a target, in order.
    pub fn history(&self, target: &Target) -> Vec<Arc<Entry>> {
        let mut history = self.by_target.get(target).cloned().unwrap_or_default();
        // Partitions come as they come.
        history.sort_by_key(|entry| entry.time_ms);
        history
    }

    /// The labels of a target that are in force, ascending by label and author.
    pub fn in_force(&self, target: &Target) -> Vec<Arc<Entry>> {
        self.by_target.get(target).map(|held| in_force(held)).unwrap_or_default()
    }

    /// All labels in force, ascending by target, label and author.
    pub fn all_in_force(&self) -> Vec<Arc<Entry>> {
        let mut targets: Vec<_> = self.by_target.iter().collect();
        targets.sort_by_key(|(target, _)| *target);
        targets.into_iter().flat_map(|(_, held)| in_force(held)).collect()
    }

    /// The documents that were labelled when somebody pointed at `id`, which may be a copy of them.
    pub fn labelled_by_way_of(&self, id: &str) -> Vec<Target> {
        let mut targets: Vec<Target> = self
            .order
            .iter()
            .filter(|entry| entry.record.named.as_deref() == Some(id))
            .map(|entry| entry.record.target.clone())
            .collect();
        targets.sort();
        targets.dedup();
        targets
    }
}

/// Of each label and author the last word, if that puts it in force.
fn in_force(held: &[Arc<Entry>]) -> Vec<Arc<Entry>> {
    let mut last = BTreeMap::new();
    for entry in held {
        let Record { label, by, .. } = &entry.record;
        last.insert((label, by), entry);
    }
    last.into_values().filter(|entry| !entry.record.undo).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::run::label::key;
    use crate::verdict::label::Label;
    use crate::verdict::labels::Labels;
    use proptest::prelude::*;

    fn record(target: &str, label: &str, by: &str, undo: bool) -> Record {
        let [label, by] = [label, by].map(str::to_owned);
        let at = "2026-01-31T12:00:00Z".to_owned();
        let target = Target::Document(target.to_owned());
        Record { target, label, by, why: String::new(), at, undo, named: None, undone_by: None }
    }

    /// The record on its topic; `is_bare`: an empty value takes it back.
    fn written(record: &Record, offset: i64, is_bare: bool) -> bus::Record {
        let value = (!is_bare).then(|| serde_json::to_vec(record).unwrap());
        let partition = Partition::new("labels", 0);
        bus::Record { partition, offset, time_ms: offset, key: Some(key(record)), headers: Vec::new(), value }
    }

    proptest! {
        #[test]
        fn what_is_in_force_is_what_the_fold_has(
            records in prop::collection::vec((0..3_usize, 0..2_usize, 0..2_usize, 0..3_u8), 0..40),
        ) {
            let (mut register, labels) = (Register::new(usize::MAX), Labels::new(100));
            for (offset, (target, label, by, undo)) in (0..).zip(records) {
                let record = record(["a", "b", "c"][target], ["spam", "ham"][label], ["ada", "bob"][by], undo > 0);
                register.take(&written(&record, offset, undo > 1));
                labels.apply(Label::try_from(record).unwrap()).unwrap();
            }
            let held: Vec<Record> = labels.all().iter().map(|label| label.record().clone()).collect();
            let told: Vec<Record> = register.all_in_force().iter().map(|entry| entry.record.clone()).collect();
            prop_assert_eq!(told, held);
        }
    }

    #[test]
    fn history_tells_who_and_why_and_what_is_no_label_is_passed_over() {
        let mut register = Register::new(usize::MAX);
        let spam = record("a", "spam", "ada", false);
        let back = Record { undone_by: Some("bob".into()), why: "ours".into(), ..record("a", "spam", "ada", true) };
        register.take(&written(&spam, 1, false));
        register.take(&written(&back, 2, false));
        register.take(&bus::Record { value: Some(b"no label".to_vec()), ..written(&spam, 3, false) });
        let forget = br#"{"forget":"a","by":"me","at":"2026-01-31T12:00:00Z"}"#;
        register.take(&bus::Record { value: Some(forget.to_vec()), ..written(&spam, 4, false) });
        let history = register.history(&spam.target);
        assert_eq!(history.iter().map(|entry| entry.record.clone()).collect::<Vec<_>>(), [spam.clone(), back]);
        assert!(register.in_force(&spam.target).is_empty());
        let again = Record { named: Some("copy".into()), ..spam.clone() };
        register.take(&written(&again, 5, false));
        assert_eq!(register.in_force(&spam.target).len(), 1);
        assert_eq!(register.labelled_by_way_of("copy"), [spam.target]);
        assert!(register.labelled_by_way_of("a").is_empty());
    }

    #[test]
    fn the_oldest_give_way_and_are_counted() {
        let mut register = Register::new(3 * (ENTRY_BYTES + 40));
        for n in 0..10 {
            register.take(&written(&record(&format!("d{n}"), "spam", "ada", false), n, false));
        }
        assert_eq!((register.n_older(), register.all_in_force().len(), register.by_target.len()), (7, 3, 3));
        assert_eq!(register.history(&Target::Document("d6".into())), []);
        assert_eq!(register.history(&Target::Document("d9".into())).len(), 1);
    }
}
