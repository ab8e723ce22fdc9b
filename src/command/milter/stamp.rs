//! The header fields that a mail gets, and what else is done with it.
//!
//! Ids and labels in a verdict may be anybody's words: what could end a line, or be read as something else, is spelled out.
//!
//! # Invariants
//! - No value has a line break, a control character or more than [`VALUE_BYTES_MAX`] bytes. (`hostile_ids_stay_in_their_field`)
//! - In shadow mode, and where a label is `allow`, nothing is done. (`the_strongest_label_decides_unless_allowed`)

use super::server::Answer;
use super::unchecked::Unchecked;
use crate::config::Action;
use crate::verdict::event::{Outcome, Verdict};
use crate::verdict::label::ALLOW;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Lines of a mail have 998 bytes at most (RFC 5322).
const VALUE_BYTES_MAX: usize = 900;
/// Labels that are listed.
const LABELS_MAX: usize = 16;

/// The end of a field's name, and its value.
pub(super) type Field = (&'static str, String);

/// The fields of a mail that was checked, or was not.
pub(super) fn fields(outcome: &Result<Answer, Unchecked>) -> Vec<Field> {
    match outcome {
        Ok(answer) => of_answer(answer),
        Err(why) => vec![("Status", "unchecked".into()), ("Reason", why.name().into())],
    }
}

fn of_answer(Answer { verdict, is_shadow }: &Answer) -> Vec<Field> {
    let mode = if *is_shadow { "shadow" } else { "filter" };
    let mut fields = vec![
        ("Status", "checked".to_owned()),
        ("Mode", mode.to_owned()),
        ("Id", plain(&verdict.id)),
        ("Class", classes(verdict)),
    ];
    if let Some(mirror) = &verdict.mirror {
        fields.push(("Group", plain(&mirror.of)));
        fields.push(("Size", mirror.size.to_string()));
        fields.push(("Spread", mirror.domains.to_string()));
    }
    if let Some(cluster) = &verdict.cluster {
        fields.push(("Cluster", plain(cluster)));
    }
    if !verdict.labels.is_empty() {
        fields.push(("Labels", labels(verdict)));
    }
    if let Some(reason) = &verdict.reason {
        fields.push(("Reason", plain(reason)));
    }
    fields
}

fn classes(verdict: &Verdict) -> String {
    match (verdict.outcome, &*verdict.classes) {
        (Outcome::Rejected, _) => "rejected".into(),
        (Outcome::Insufficient, []) => "insufficient".into(),
        (Outcome::Judged, []) => "original".into(),
        (_, classes) => classes.iter().map(|class| class.name()).collect::<Vec<_>>().join(", "),
    }
}

fn labels(verdict: &Verdict) -> String {
    let mut labels: Vec<&str> = verdict.labels.iter().map(|carried| &*carried.label).collect();
    labels.sort_unstable();
    labels.dedup();
    let labels: Vec<String> =
        labels.into_iter().take(LABELS_MAX).map(|label| plain(label).replace(',', "%2C")).collect();
    cut(labels.join(", "))
}

/// The strongest action for the labels of a mail, and the label that asks for it.
pub(super) fn action<'a>(answer: &'a Answer, actions: &BTreeMap<String, Action>) -> Option<(Action, &'a str)> {
    let labels = || answer.verdict.labels.iter().map(|carried| &*carried.label);
    if answer.is_shadow || labels().any(|label| label == ALLOW) {
        return None;
    }
    let asked = labels().filter_map(|label| Some((*actions.get(label)?, label)));
    asked.filter(|(action, _)| *action > Action::Header).max_by_key(|(action, _)| *action)
}

/// Visible ASCII as it is; the rest as `%` and two digits for each byte.
pub(super) fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for byte in text.bytes().take(VALUE_BYTES_MAX) {
        match byte {
            0x21..=0x7e => plain.push(char::from(byte)),
            byte => write!(plain, "%{byte:02X}").expect("a string takes all that is written"),
        }
    }
    cut(plain)
}

fn cut(mut text: String) -> String {
    text.truncate(VALUE_BYTES_MAX);
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Kind;
    use crate::verdict::event::{Carried, Source, Via};

    fn answer(id: &str, labels: &[&str]) -> Answer {
        let mut verdict = Verdict::bare(id.into(), Some(Kind::Email), Source::default(), Outcome::Judged);
        verdict.labels = labels
            .iter()
            .map(|label| Carried { label: (*label).into(), via: Via::Mirror, of: "x".into(), overridden: false })
            .collect();
        Answer { verdict, is_shadow: false }
    }

    fn example(name: &str) -> Answer {
        let path = format!("{}/schemas/examples/verdict-{name}.json", env!("CARGO_MANIFEST_DIR"));
        Answer { verdict: serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap(), is_shadow: false }
    }

    #[test]
    fn hostile_ids_stay_in_their_field() {
        let long = "x".repeat(5000);
        let hostile = ["a\r\nX-Spam: no", "b\0c", "\u{202e}d e", "%41,", &long];
        for id in hostile {
            let mut answer = answer(id, &hostile);
            answer.verdict.reason = Some(id.into());
            for (name, value) in fields(&Ok(answer)) {
                assert!(value.bytes().all(|byte| (0x20..0x7f).contains(&byte)), "{name}: {value:?}");
                assert!(!value.is_empty() && value.len() <= VALUE_BYTES_MAX, "{name}: {value:?}");
            }
        }
        assert_eq!(plain("a\r\nb \u{e4}"), "a%0D%0Ab%20%C3%A4");
        assert_eq!(labels(&answer("x", &["b,c", "a", "a"]).verdict), "a, b%2Cc");
    }

    #[test]
    fn verdicts_are_told_in_fields() {
        let told = |answer| fields(&Ok(answer)).into_iter().collect::<BTreeMap<_, _>>();
        let mirror = told(example("mirror"));
        assert_eq!((&*mirror["Class"], &*mirror["Status"], &*mirror["Mode"]), ("mirror", "checked", "filter"));
        for name in ["Id", "Group", "Size", "Spread"] {
            assert!(mirror.contains_key(name), "{mirror:?}");
        }
        assert_eq!(told(example("original"))["Class"], "original");
        let rejected = told(example("rejected"));
        assert_eq!(rejected["Class"], "rejected");
        assert!(rejected.contains_key("Reason"));
        let unchecked = fields(&Err(Unchecked::Timeout));
        assert_eq!(unchecked, [("Status", "unchecked".to_owned()), ("Reason", "timeout".to_owned())]);
    }

    #[test]
    fn the_strongest_label_decides_unless_allowed() {
        let actions = [("spam", Action::Reject), ("bulk", Action::Quarantine), ("ham", Action::Header)];
        let actions: BTreeMap<String, Action> = actions.map(|(label, action)| (label.to_owned(), action)).into();
        for (labels, expected) in [
            (&["spam", "bulk"][..], Some((Action::Reject, "spam"))),
            (&["bulk", "ham", "other"], Some((Action::Quarantine, "bulk"))),
            (&["ham"], None),
            (&["Spam"], None),
            (&[], None),
            (&["spam", "allow"], None),
        ] {
            let mut answer = answer("x", labels);
            assert_eq!(action(&answer, &actions), expected, "{labels:?}");
            answer.is_shadow = true;
            assert_eq!(action(&answer, &actions), None);
        }
    }
}
