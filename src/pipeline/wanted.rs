//! Which verdicts somebody wants to see.
//!
//! # Invariants
//! - The same verdicts are chosen from the topic and from the directory. (`records_and_verdicts_are_chosen_alike`)

use crate::bus::Record;
use crate::document::Kind;
use crate::pipeline::run::outputs::classes;
use crate::verdict::event::Verdict;

/// What a verdict can say in one word, as its header `class` has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
#[expect(missing_docs, reason = "schemas/verdict.json explains them")]
pub enum Sort {
    Mirror,
    Quilt,
    Template,
    Original,
    Insufficient,
    Rejected,
}

impl Sort {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Mirror, Self::Quilt, Self::Template, Self::Original, Self::Insufficient, Self::Rejected];

    /// The word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mirror => "mirror",
            Self::Quilt => "quilt",
            Self::Template => "template",
            Self::Original => "original",
            Self::Insufficient => "insufficient",
            Self::Rejected => "rejected",
        }
    }

    /// The one of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|sort| sort.name() == name)
    }
}

/// Which verdicts somebody wants to see: those that meet all that is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// One of these; any, if none is named.
    pub sorts: Vec<Sort>,
    /// Pages, or mails.
    pub kind: Option<Kind>,
    /// Of this registered domain.
    pub domain: Option<String>,
    /// Copies of the document of this id, and itself.
    pub group: Option<String>,
    /// In this style cluster.
    pub cluster: Option<String>,
    /// With this label.
    pub label: Option<String>,
    /// With this in the id, the URL or the domain, whatever the case of ASCII letters.
    pub text: Option<String>,
}

impl Wanted {
    /// Of these sorts; of all if none is named.
    pub fn of_sorts(sorts: Vec<Sort>) -> Self {
        Self { sorts, ..Self::default() }
    }

    /// Whether this one is wanted.
    pub fn accepts(&self, verdict: &Verdict) -> bool {
        self.is_sort(&classes(verdict)) && self.accepts_beside_sort(verdict)
    }

    /// Whether the verdict in this record is. Whatever else somebody may have written there, it is an object.
    pub fn accepts_record(&self, record: &Record) -> bool {
        let Some(value) = record.value.as_deref() else { return false };
        let said = record.header("class").unwrap_or_default();
        if !(value.starts_with(b"{") && value.ends_with(b"}") && self.is_sort(&String::from_utf8_lossy(said))) {
            return false;
        }
        self.is_by_sort_alone() || serde_json::from_slice(value).is_ok_and(|verdict| self.accepts_beside_sort(&verdict))
    }

    /// Whether a verdict need not be opened.
    fn is_by_sort_alone(&self) -> bool {
        let Self { sorts: _, kind, domain, group, cluster, label, text } = self;
        kind.is_none() && [domain, group, cluster, label, text].into_iter().all(Option::is_none)
    }

    fn is_sort(&self, said: &str) -> bool {
        self.sorts.is_empty() || said.split(',').any(|word| self.sorts.iter().any(|sort| sort.name() == word))
    }

    fn accepts_beside_sort(&self, verdict: &Verdict) -> bool {
        let Self { sorts: _, kind, domain, group, cluster, label, text } = self;
        kind.is_none_or(|kind| verdict.kind == Some(kind))
            && domain.as_ref().is_none_or(|domain| verdict.domain.as_ref() == Some(domain))
            && group.as_ref().is_none_or(|head| {
                verdict.id == *head || verdict.mirror.as_ref().is_some_and(|mirror| mirror.of == *head)
            })
            && cluster.as_ref().is_none_or(|cluster| verdict.cluster.as_ref() == Some(cluster))
            && label.as_ref().is_none_or(|label| verdict.labels.iter().any(|carried| carried.label == *label))
            && text.as_ref().is_none_or(|text| {
                let Verdict { id, url, domain, .. } = verdict;
                [Some(id), url.as_ref(), domain.as_ref()].into_iter().flatten().any(|whole| holds(whole, text))
            })
    }
}

/// Whether `part` stands in `whole`, whatever the case of ASCII letters.
fn holds(whole: &str, part: &str) -> bool {
    part.is_empty() || whole.as_bytes().windows(part.len()).any(|window| window.eq_ignore_ascii_case(part.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bus::Partition;
    use crate::verdict::event::{Carried, Class, Outcome, Source, Via};

    fn verdicts() -> Vec<Verdict> {
        let bare = |id: &str, kind| Verdict::bare(id.to_owned(), kind, Source::default(), Outcome::Judged);
        let example = include_str!("../../schemas/examples/verdict-mirror.json");
        let mirror: Verdict = serde_json::from_str(example).unwrap();
        assert_eq!(mirror.classes, [Class::Mirror]);
        let labelled = Verdict {
            labels: vec![Carried { label: "spam".into(), via: Via::Document, of: "m".into(), overridden: false }],
            domain: Some("b.example".into()),
            cluster: Some("t-1".into()),
            ..bare("m-Ü", Some(Kind::Email))
        };
        let rejected = Verdict { outcome: Outcome::Rejected, reason: Some("x".into()), ..bare("r", None) };
        let head = bare(&mirror.mirror.as_ref().unwrap().of, Some(Kind::Page));
        vec![mirror, labelled, rejected, head]
    }

    #[test]
    fn records_and_verdicts_are_chosen_alike() {
        let all = verdicts();
        let head = all[3].id.clone();
        let all_of = Wanted::default();
        for (wanted, expected) in [
            (all_of.clone(), vec![0, 1, 2, 3]),
            (Wanted::of_sorts(vec![Sort::Mirror, Sort::Rejected]), vec![0, 2]),
            (Wanted::of_sorts(vec![Sort::Quilt]), vec![]),
            (Wanted { kind: Some(Kind::Email), ..all_of.clone() }, vec![1]),
            (Wanted { domain: Some("b.example".into()), sorts: vec![Sort::Original], ..all_of.clone() }, vec![1]),
            (Wanted { group: Some(head), ..all_of.clone() }, vec![0, 3]),
            (Wanted { cluster: Some("t-1".into()), ..all_of.clone() }, vec![1]),
            (Wanted { label: Some("spam".into()), ..all_of.clone() }, vec![1]),
            (Wanted { label: Some("spa".into()), ..all_of.clone() }, vec![]),
            (Wanted { text: Some("M-ü".into()), ..all_of.clone() }, vec![]),
            (Wanted { text: Some("M-Ü".into()), ..all_of.clone() }, vec![1]),
            (Wanted { text: Some("B.exam".into()), kind: Some(Kind::Email), ..all_of.clone() }, vec![1]),
            (Wanted { text: Some("b.example.org".into()), ..all_of.clone() }, vec![]),
            (Wanted { text: Some(all[0].url.clone().unwrap().to_uppercase()), ..all_of }, vec![0]),
        ] {
            let record = |verdict: &Verdict| Record {
                partition: Partition::new("verdicts", 0),
                offset: 0,
                time_ms: 0,
                key: None,
                headers: vec![("class".into(), classes(verdict).into_bytes())],
                value: Some(serde_json::to_vec(verdict).unwrap()),
            };
            let chosen = |accepts: &dyn Fn(&Verdict) -> bool| -> Vec<usize> {
                all.iter().enumerate().filter(|(_, verdict)| accepts(verdict)).map(|(index, _)| index).collect()
            };
            assert_eq!(chosen(&|verdict| wanted.accepts(verdict)), expected, "{wanted:?}");
            assert_eq!(chosen(&|verdict| wanted.accepts_record(&record(verdict))), expected, "{wanted:?}");
            let foreign = Record { value: Some(b"[1]".into()), ..record(&all[0]) };
            assert!(!wanted.accepts_record(&foreign));
        }
    }
}
