//! In shadow mode everything is said as ever and nothing is done: a run, a milter and a Postfix, all of them real.

use super::postfix::{Postfix, ours};
use super::{Milter, until};
use crate::http::{Served, served};
use crate::label_command::{campaign, told};
use seamripper::config::{Action, Mode, Settings};
use serde_json::Value;

/// Sends a mail of the campaign through the mail server; what that says.
fn send(postfix: &Postfix, number: usize) -> String {
    let mail = String::from_utf8(campaign(number)).unwrap().replace("\r\n", "\n");
    postfix.send(&mail.replacen("your parcel is waiting", &subject(number), 1))
}

fn subject(number: usize) -> String {
    format!("your parcel is waiting {number}")
}

fn field(mail: &str, name: &str) -> Option<String> {
    ours(mail).into_iter().find(|(found, _)| found == name).map(|(_, value)| value)
}

/// The verdicts of the `n` mails that the run was given, when they are there: what classes, and what labels, in the order of their text.
fn published(run: &Served, n: usize) -> Vec<(Vec<String>, Vec<String>)> {
    let words = |value: &Value, key: Option<&str>| {
        let word = |one: &Value| key.map_or(one, |key| &one[key]).as_str().unwrap().to_owned();
        value.as_array().into_iter().flatten().map(word).collect::<Vec<_>>()
    };
    let mut firsts = Vec::new();
    until(&format!("{n} are published"), || {
        firsts = run.verdicts("from=beginning&limit=1000&wait=0");
        firsts.retain(|verdict| verdict["revision"] == 0);
        firsts.len() == n
    });
    let said = |verdict: &Value| (words(&verdict["classes"], None), words(&verdict["labels"], Some("label")));
    let mut said: Vec<_> = firsts.iter().map(said).collect();
    said.iter_mut().for_each(|(_, labels)| labels.sort());
    said.sort();
    said
}

fn actions(settings: &mut Settings) {
    let actions = [("spam", Action::Reject), ("bulk", Action::Quarantine)];
    settings.milter.actions = actions.map(|(label, action)| (label.to_owned(), action)).into();
}

#[test]
fn a_shadow_says_everything_and_does_nothing() {
    let mut run = served(|settings| settings.mode = Mode::Shadow);
    let first = (vec![], vec![]);
    let labelled = (vec!["mirror".to_owned()], vec!["bulk".to_owned(), "spam".to_owned()]);
    for mode in ["shadow", "filter"] {
        let milter = Milter::of_run(&run, actions);
        let postfix = Postfix::up(&format!("inet:{}", milter.address), &[]);
        if mode == "shadow" {
            assert!(send(&postfix, 0).starts_with("250"));
            let head = field(&postfix.mail(&subject(0)), "id").unwrap();
            for label in ["spam", "bulk"] {
                assert_eq!(told(&run.ground, &[&head, label, "--why", "a test"]).len(), 1);
            }
            // What would be rejected or held is delivered, and says what it is.
            assert!(send(&postfix, 1).starts_with("250"), "{}", postfix.log());
            let mail = postfix.mail(&subject(1));
            assert_eq!(field(&mail, "mode").as_deref(), Some("shadow"), "{mail}");
            assert_eq!(field(&mail, "class").as_deref(), Some("mirror"), "{mail}");
            assert_eq!(field(&mail, "labels").as_deref(), Some("bulk, spam"), "{mail}");
            assert_eq!((postfix.n_held(), postfix.delivered().len()), (0, 2));
            assert_eq!(published(&run, 2), [first.clone(), labelled.clone()]);
        } else {
            // The same mail to the same run as a filter: it would have been done.
            assert_eq!(send(&postfix, 2), "550 5.7.1 this is a message that is labelled spam", "{}", postfix.log());
            assert_eq!(postfix.delivered().len(), 0);
            assert_eq!(
                published(&run, 3),
                [first.clone(), labelled.clone(), labelled.clone()],
                "what is published is the same"
            );
        }
        drop((milter, postfix));
        run.ground.settings.mode = Mode::Filter;
        run = run.restarted();
    }
}
