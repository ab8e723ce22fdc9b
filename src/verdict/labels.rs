//! The labels in force, and which of them a verdict carries.
//!
//! They are a fold over label records in their order: a later record of the same target, label and author replaces the
//! one before it, and an undo takes it away. There is one writer, and it writes only between batches; readers elsewhere
//! look on at any time, so the maps are shared ones and no guard leaves this file.
//!
//! # Invariants
//! - Applying a record twice is applying it once, and at most `labels_max` are held.
//!   (`labels_are_a_fold_of_their_records`)
//! - What a verdict carries depends on the labels in force, not on the order in which they came; `allow` is first, and the
//!   others are marked as overridden by it. (`what_is_carried_is_sorted`)
//! - `allow` on a domain counts for a mail only if that domain was authenticated. (`allow_needs_authentication`)
//! - A file is taken whole or not at all. (`a_wrong_line_refuses_the_file`)

use super::event::{Carried, Via};
use super::label::{ALLOW, Label, Record, Target};
use crate::document::Kind;
use crate::store::cluster_name;
use dashmap::DashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Problems of a file that are told; the rest are counted.
const PROBLEMS_MAX: usize = 20;

/// The labels in force.
#[derive(Debug)]
pub struct Labels {
    documents: Targets,
    clusters: Targets,
    domains: Targets,
    n_labels: AtomicUsize,
    labels_max: usize,
}

/// The labels of each target, ascending by label and author.
type Targets = DashMap<Box<str>, Vec<Arc<Label>>>;

/// There is no room for another label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no more than {labels_max} labels are held, undo some first")]
pub struct Full {
    /// How many may be held.
    pub labels_max: usize,
}

/// Where a document stands, as far as labels go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bearings<'a> {
    /// Its id.
    pub id: &'a str,
    /// The head of the group of copies that it is in; its own id, or none, for a head.
    pub group_head: Option<&'a str>,
    /// Its style cluster, and those that have become part of that.
    pub clusters: &'a [u64],
    /// The registered domain of a page's URL or of a mail's From address.
    pub domain: Option<&'a str>,
    /// The registered domain that the receiving server of a mail authenticated.
    pub authenticated_domain: Option<&'a str>,
    /// Page or mail.
    pub kind: Kind,
}

impl Labels {
    /// None yet, and never more than `labels_max`.
    pub fn new(labels_max: usize) -> Self {
        let [documents, clusters, domains] = std::array::from_fn(|_| Targets::default());
        Self { documents, clusters, domains, n_labels: AtomicUsize::new(0), labels_max }
    }

    /// The labels that a file leaves in force: one record a line, empty lines are passed over.
    pub fn from_lines(lines: &[u8], labels_max: usize) -> Result<Self, LinesRefused> {
        let labels = Self::new(labels_max);
        each_line(lines, |label| labels.apply(label).map_err(|full| full.to_string()))?;
        Ok(labels)
    }

    /// Puts a record in force. It can be refused only if it is a new label.
    ///
    /// Only the owner of the fold calls this, between batches: two writers at once could pass the limit.
    pub fn apply(&self, label: Label) -> Result<(), Full> {
        let Record { target, label: word, by, undo, .. } = label.record();
        let (targets, name) = match target {
            Target::Document(id) => (&self.documents, id.as_str()),
            Target::Cluster(id) => (&self.clusters, id.as_str()),
            Target::Domain(domain) => (&self.domains, domain.as_str()),
        };
        let found =
            |held: &[Arc<Label>]| held.binary_search_by(|one| (&one.record().label, &one.record().by).cmp(&(word, by)));
        if *undo {
            let taken = targets.get_mut(name).is_some_and(|mut held| found(&held).map(|at| held.remove(at)).is_ok());
            if taken {
                targets.remove_if(name, |_, held| held.is_empty());
                self.n_labels.fetch_sub(1, Ordering::Relaxed);
            }
            return Ok(());
        }
        let place = targets.get(name).map_or(Err(0), |held| found(&held));
        if place.is_err() && self.len() >= self.labels_max {
            return Err(Full { labels_max: self.labels_max });
        }
        let name = Box::from(name);
        let label = Arc::new(label);
        let mut held = targets.entry(name).or_default();
        match place {
            Ok(at) => held[at] = label,
            Err(at) => {
                held.insert(at, label);
                self.n_labels.fetch_add(1, Ordering::Relaxed);
            }
        }
        Ok(())
    }

    /// How many are in force.
    pub fn len(&self) -> usize {
        self.n_labels.load(Ordering::Relaxed)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The labels of a cluster.
    pub fn of_cluster(&self, id: &str) -> Vec<Arc<Label>> {
        listed(&self.clusters, id)
    }

    /// All labels in force, ascending by target, label and author. Applied to none they give the same labels.
    pub fn all(&self) -> Vec<Arc<Label>> {
        let targets = [&self.documents, &self.clusters, &self.domains];
        let mut all: Vec<Arc<Label>> = targets.into_iter().flatten().flat_map(|entry| entry.value().clone()).collect();
        all.sort_by(|a, b| key(a).cmp(&key(b)));
        all
    }

    /// The labels that the verdict on a document carries: `allow` first, then by path, label and what bears it.
    pub fn carried(&self, bearings: &Bearings<'_>) -> Vec<Carried> {
        let mut carried = Vec::new();
        // Most streams have no labels, and this is asked for every document.
        if self.is_empty() {
            return carried;
        }
        let mut carry = |targets: &Targets, via: Via, of: Option<&str>, counts: fn(&str) -> bool| {
            let Some((of, held)) = of.and_then(|of| Some((of, targets.get(of)?))) else { return };
            // Several people may have said the same.
            for said in held.chunk_by(|a, b| a.record().label == b.record().label) {
                let label = &said[0].record().label;
                if counts(label) {
                    carried.push(Carried { label: label.clone(), via, of: of.to_owned(), overridden: false });
                }
            }
        };
        let Bearings { id, group_head, clusters, domain, authenticated_domain, kind } = *bearings;
        carry(&self.documents, Via::Document, Some(id), |_| true);
        carry(&self.documents, Via::Mirror, group_head.filter(|head| *head != id), |_| true);
        for cluster in clusters {
            carry(&self.clusters, Via::Template, Some(&cluster_name(*cluster)), |_| true);
        }
        match kind {
            Kind::Page => carry(&self.domains, Via::Domain, domain, |_| true),
            Kind::Email => {
                carry(&self.domains, Via::Domain, authenticated_domain, |_| true);
                // Anybody can write any From address: enough for a warning, not for trust.
                let claimed = domain.filter(|_| domain != authenticated_domain);
                carry(&self.domains, Via::Domain, claimed, |label| label != ALLOW);
            }
        }
        sort(&mut carried);
        carried
    }

    /// `carried`, with the labels of documents whose places are taken by the one that bears it.
    pub(super) fn inherited<'a>(
        &self,
        mut carried: Vec<Carried>,
        documents: impl Iterator<Item = &'a str>,
    ) -> Vec<Carried> {
        for of in documents {
            let labels = listed(&self.documents, of).into_iter().map(|label| label.record().label.clone());
            let carry = |label: String| Carried { label, via: Via::Mirror, of: of.to_owned(), overridden: false };
            carried.extend(labels.map(carry));
        }
        sort(&mut carried);
        // Several people may have said the same, and a copy may itself be whose place is taken.
        carried.dedup();
        carried
    }
}

/// `allow` first, which overrides the others.
fn sort(carried: &mut [Carried]) {
    carried.sort_by(|a, b| order(a).cmp(&order(b)));
    if carried.first().is_some_and(|first| first.label == ALLOW) {
        carried.iter_mut().filter(|one| one.label != ALLOW).for_each(|one| one.overridden = true);
    }
}

/// The labels of a file in their order: one record a line, empty lines are passed over.
pub fn read_lines(lines: &[u8]) -> Result<Vec<Label>, LinesRefused> {
    let mut labels = Vec::new();
    each_line(lines, |label| {
        labels.push(label);
        Ok(())
    })?;
    Ok(labels)
}

fn each_line(lines: &[u8], mut with: impl FnMut(Label) -> Result<(), String>) -> Result<(), LinesRefused> {
    let mut refused = LinesRefused { problems: Vec::new(), n_problems: 0 };
    // Some editors begin a file with a byte order mark.
    let lines = lines.strip_prefix(b"\xef\xbb\xbf").unwrap_or(lines);
    for (index, line) in lines.split(|&byte| byte == b'\n').enumerate() {
        let line = line.trim_ascii();
        if line.is_empty() {
            continue;
        }
        let taken = Label::from_json(line).map_err(|problems| problems.to_string()).and_then(&mut with);
        if let Err(what) = taken {
            refused.n_problems += 1;
            if refused.problems.len() < PROBLEMS_MAX {
                refused.problems.push(LineProblem { line: index + 1, what });
            }
        }
    }
    if refused.n_problems == 0 { Ok(()) } else { Err(refused) }
}

fn listed(targets: &Targets, name: &str) -> Vec<Arc<Label>> {
    targets.get(name).map(|held| held.clone()).unwrap_or_default()
}

fn key(label: &Label) -> (&Target, &str, &str) {
    let Record { target, label, by, .. } = label.record();
    (target, label, by)
}

fn order(carried: &Carried) -> (bool, Via, &str, &str) {
    (carried.label != ALLOW, carried.via, &carried.label, &carried.of)
}

/// Why a file of labels was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinesRefused {
    /// The first 20 problems, in order.
    pub problems: Vec<LineProblem>,
    /// How many lines are wrong.
    pub n_problems: usize,
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineProblem {
    /// Which, from 1.
    pub line: usize,
    /// What.
    pub what: String,
}

impl std::error::Error for LinesRefused {}

impl fmt::Display for LinesRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, LineProblem { line, what }) in self.problems.iter().enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            write!(f, "{separator}line {line}: {what}")?;
        }
        match self.n_problems - self.problems.len() {
            0 => Ok(()),
            1 => f.write_str("\nand one more line"),
            n_more => write!(f, "\nand {n_more} more lines"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn said(target: Target, label: &str, by: &str) -> Record {
        let at = "2026-01-31T12:00:00Z".to_owned();
        let (label, by, why) = (label.to_owned(), by.to_owned(), String::new());
        Record { target, label, by, why, at, undo: false, named: None, undone_by: None }
    }

    fn document(id: &str) -> Target {
        Target::Document(id.to_owned())
    }

    fn domain(name: &str) -> Target {
        Target::Domain(name.to_owned())
    }

    fn labels(records: &[Record]) -> Labels {
        let labels = Labels::new(100);
        for record in records {
            labels.apply(Label::try_from(record.clone()).unwrap()).unwrap();
        }
        labels
    }

    const T_1: &str = "t-0000000000000001";

    const PAGE: Bearings<'static> = Bearings {
        id: "copy",
        group_head: Some("head"),
        clusters: &[1, 7],
        domain: Some("a.example"),
        authenticated_domain: None,
        kind: Kind::Page,
    };

    /// Label, path and bearer of all that is carried.
    fn shown(labels: &Labels, bearings: &Bearings<'_>) -> Vec<String> {
        let carried = labels.carried(bearings);
        carried.iter().map(|one| format!("{} {:?} {}", one.label, one.via, one.of).to_lowercase()).collect()
    }

    #[test]
    fn every_path_is_named() {
        let labels = labels(&[
            said(document("copy"), "seen", "ada"),
            said(document("head"), "spam", "ada"),
            said(Target::Cluster(T_1.to_owned()), "farm", "ada"),
            said(domain("a.example"), "watched", "ada"),
            said(document("another"), "ham", "ada"),
            said(document("a.example"), "ham", "ada"),
            said(document(T_1), "ham", "ada"),
        ]);
        let farm = format!("farm template {T_1}");
        assert_eq!(
            shown(&labels, &PAGE),
            ["seen document copy", "spam mirror head", &farm, "watched domain a.example"]
        );
        let head = Bearings { id: "head", ..PAGE };
        assert_eq!(shown(&labels, &head)[0], "spam document head", "a head is no copy of itself");
        assert_eq!(labels.carried(&head).len(), 3);
        assert_eq!(
            shown(&labels, &Bearings { id: "x", group_head: None, clusters: &[], domain: None, ..PAGE }),
            [""; 0]
        );
        assert_eq!(listed(&labels.documents, "another")[0].record().label, "ham");
        assert_eq!((labels.of_cluster(T_1).len(), listed(&labels.domains, "a.example").len()), (1, 1));
        assert!(labels.of_cluster("another").is_empty());
    }

    #[test]
    fn what_is_carried_is_sorted() {
        let mut records = vec![
            said(document("copy"), "spam", "ada"),
            said(document("copy"), "spam", "bob"),
            said(document("copy"), "bulk", "ada"),
            said(document("head"), "aaa", "ada"),
            said(domain("a.example"), ALLOW, "ada"),
        ];
        let expected = ["allow domain a.example", "bulk document copy", "spam document copy", "aaa mirror head"]
            .map(str::to_owned);
        assert_eq!(shown(&labels(&records), &PAGE), expected);
        records.reverse();
        assert_eq!(shown(&labels(&records), &PAGE), expected);
        let overridden: Vec<bool> = labels(&records).carried(&PAGE).iter().map(|one| one.overridden).collect();
        assert_eq!(overridden, [false, true, true, true]);
        records.remove(0);
        assert!(labels(&records).carried(&PAGE).iter().all(|one| !one.overridden), "nothing is allowed");
    }

    #[test]
    fn allow_needs_authentication() {
        let labels = labels(&[
            said(domain("bank.example"), ALLOW, "ada"),
            said(domain("bank.example"), "bulk", "ada"),
            said(domain("sender.example"), "spam", "ada"),
        ]);
        let mail = |from: Option<&'static str>, authenticated: Option<&'static str>| {
            let mail = Bearings { domain: from, authenticated_domain: authenticated, kind: Kind::Email, ..PAGE };
            shown(&labels, &mail)
        };
        let (bank, sender) = (Some("bank.example"), Some("sender.example"));
        assert_eq!(mail(bank, None), ["bulk domain bank.example"]);
        assert_eq!(mail(bank, bank), ["allow domain bank.example", "bulk domain bank.example"]);
        assert_eq!(mail(None, bank), ["allow domain bank.example", "bulk domain bank.example"]);
        assert_eq!(mail(bank, sender), ["bulk domain bank.example", "spam domain sender.example"]);
        assert_eq!(mail(None, None), [""; 0]);
        let page = Bearings { domain: bank, authenticated_domain: sender, ..PAGE };
        assert_eq!(shown(&labels, &page), ["allow domain bank.example", "bulk domain bank.example"]);
    }

    #[test]
    fn no_labels_carry_nothing() {
        let labels = labels(&[said(document("copy"), "spam", "ada")]);
        let undo = Record { undo: true, ..said(document("copy"), "spam", "ada") };
        labels.apply(Label::try_from(undo).unwrap()).unwrap();
        assert!(labels.is_empty() && labels.carried(&PAGE).is_empty() && labels.documents.is_empty());
    }

    #[test]
    fn a_full_house_takes_changes_and_no_more() {
        let labels = Labels::new(1);
        let apply = |record: Record| labels.apply(Label::try_from(record).unwrap());
        let first = said(document("a"), "spam", "ada");
        apply(first.clone()).unwrap();
        assert_eq!(apply(said(document("b"), "spam", "ada")), Err(Full { labels_max: 1 }));
        assert_eq!(apply(said(document("a"), "spam", "bob")), Err(Full { labels_max: 1 }));
        apply(Record { why: "many complaints".to_owned(), ..first.clone() }).unwrap();
        assert_eq!(listed(&labels.documents, "a")[0].record().why, "many complaints");
        apply(Record { undo: true, ..said(document("b"), "spam", "ada") }).unwrap();
        apply(Record { undo: true, ..first }).unwrap();
        apply(said(document("b"), "spam", "ada")).unwrap();
        assert_eq!((labels.len(), listed(&labels.documents, "b").len()), (1, 1));
    }

    const LINE: &str = r#"{"target":{"document":"a"},"label":"spam","by":"ada","why":"","at":"2026-01-31T12:00:00Z"}"#;

    #[test]
    fn a_file_is_folded_in_order() {
        let undo = LINE.replace("\"why\"", "\"undo\":true,\"why\"");
        let other = LINE.replace("ada", "bob");
        let file = format!("\u{feff}{LINE}\r\n\n  {other}\n{undo}");
        let labels = Labels::from_lines(file.as_bytes(), 10).unwrap();
        assert_eq!(labels.all().iter().map(|label| label.record().by.as_str()).collect::<Vec<_>>(), ["bob"]);
        assert!(Labels::from_lines(b"", 10).unwrap().is_empty());
    }

    #[test]
    fn a_wrong_line_refuses_the_file() {
        let file = [
            LINE,
            "",
            "[1]",
            &LINE.replace("why", "because"),
            &LINE.replace("spam", ""),
            "{\"target\":",
            &LINE.replace("\"ada\"", "\"bob\""),
        ];
        let refused = Labels::from_lines(file.join("\n").as_bytes(), 1).unwrap_err();
        let told = refused.to_string();
        let expected = [
            "line 3: it is no JSON object",
            "line 4: unknown field `because`, expected one of `target`, `label`, `by`, `why`, `at`, `undo`, `named`, \
             `undone_by` (column ",
            "line 5: `label` is empty",
            "line 6: EOF while parsing a value (column ",
            "line 7: no more than 1 labels are held, undo some first",
        ];
        assert_eq!(told.lines().count(), expected.len(), "{told}");
        for (line, expected) in told.lines().zip(expected) {
            assert!(line.starts_with(expected), "{line}");
        }
        let refused = Labels::from_lines(&b"x\n".repeat(25), 1).unwrap_err();
        assert_eq!((refused.problems.len(), refused.n_problems), (20, 25));
        assert!(refused.to_string().ends_with("line 20: it is no JSON object\nand 5 more lines"));
    }

    fn records() -> impl Strategy<Value = Vec<Record>> {
        let target = prop_oneof![
            prop::sample::select(vec!["copy", "head", "x"]).prop_map(document),
            prop::sample::select(vec!["a.example", "b.example"]).prop_map(domain),
            Just(Target::Cluster("t-1".to_owned())),
        ];
        let word = prop::sample::select(vec!["spam", "ham", ALLOW]);
        let by = prop::sample::select(vec!["ada", "bob"]);
        let one = (target, word, by, "[a-c]", any::<bool>()).prop_map(|(target, label, by, why, undo)| Record {
            why,
            undo,
            ..said(target, label, by)
        });
        prop::collection::vec(one, 0..40)
    }

    proptest! {
        /// Beside a plain map of what holds.
        #[test]
        fn labels_are_a_fold_of_their_records(records in records(), labels_max in 0..20_usize) {
            let labels = Labels::new(labels_max);
            let mut held = BTreeMap::new();
            for record in records {
                let key = (record.target.clone(), record.label.clone(), record.by.clone());
                let fits = record.undo || held.contains_key(&key) || held.len() < labels_max;
                if record.undo {
                    held.remove(&key);
                } else if fits {
                    held.insert(key, record.clone());
                }
                let label = Label::try_from(record).unwrap();
                for _ in 0..2 {
                    prop_assert_eq!(labels.apply(label.clone()).is_ok(), fits);
                    prop_assert_eq!(labels.len(), held.len());
                }
            }
            let all: Vec<Record> = labels.all().iter().map(|label| label.record().clone()).collect();
            prop_assert_eq!(&all, &held.into_values().collect::<Vec<_>>());
            let again = Labels::new(labels_max);
            for label in labels.all() {
                again.apply(Label::clone(&label)).unwrap();
            }
            prop_assert_eq!(again.all(), labels.all());
            prop_assert_eq!(again.carried(&PAGE), labels.carried(&PAGE));
        }
    }
}
