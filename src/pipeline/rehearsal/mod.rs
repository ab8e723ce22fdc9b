//! A rehearsal: what other settings would have said of documents that were judged already.
//!
//! Both settings are given the same documents in the same order, from the [`journal`] of a run or from [`files`], each with a store of
//! its own, and their verdicts are compared ([`differences`]). Nothing is published and no state is changed.
//!
//! # Invariants
//! - Settings that decide the same say the same of every document. (`tests/promises/replay_command.rs`)
//! - Both sides begin with the same knowledge. (`a_snapshot_that_cannot_be_used_makes_both_begin_empty`)

pub mod differences;
pub mod files;
pub mod journal;

use super::run::scheme::Scheme;
use serde::Serialize;
use serde_json::Value;

/// A setting that decides verdicts, and differs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Changed {
    /// `section.key`.
    pub key: String,
    /// What it was.
    pub was: Value,
    /// What it is now.
    pub is: Value,
}

/// The settings that decide verdicts and differ. Of secrets only that they do.
pub fn changed(was: &Scheme, is: &Scheme) -> Vec<Changed> {
    let mut changed = Vec::new();
    compare("", &was.decisive(), &is.decisive(), &mut changed);
    if was.settings.secret != is.settings.secret {
        changed.insert(0, Changed { key: "secret".into(), was: "(one)".into(), is: "(another)".into() });
    } else if changed.is_empty() && was.key_id != is.key_id {
        changed.push(Changed { key: "contents of lexicons".into(), was: was.key_id().into(), is: is.key_id().into() });
    }
    changed
}

fn compare(path: &str, was: &Value, is: &Value, changed: &mut Vec<Changed>) {
    if let (Value::Object(a), Value::Object(b)) = (was, is) {
        let mut keys: Vec<&String> = a.keys().chain(b.keys()).collect();
        keys.sort();
        keys.dedup();
        for key in keys {
            let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            compare(&path, &was[key], &is[key], changed);
        }
    } else if was != is {
        changed.push(Changed { key: path.to_owned(), was: was.clone(), is: is.clone() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Secret, Settings};
    use std::sync::Arc;

    #[test]
    fn what_differs_is_named_and_secrets_are_not_told() {
        let scheme = |change: fn(&mut Settings)| {
            let mut settings = Settings::default();
            change(&mut settings);
            Scheme::new(Arc::new(settings)).unwrap()
        };
        let is = scheme(|settings| {
            settings.mirror.resemblance_min = 0.75;
            settings.batch.wait_ms = 3;
            settings.secret = Secret::new("hunter2");
        });
        let told = changed(&scheme(|_| ()), &is);
        assert_eq!(told.iter().map(|one| &*one.key).collect::<Vec<_>>(), ["secret", "mirror.resemblance_min"]);
        assert_eq!((&told[1].was, &told[1].is), (&0.6.into(), &0.75.into()));
        assert!(!serde_json::to_string(&told).unwrap().contains("hunter2"));
        assert_eq!(changed(&scheme(|_| ()), &scheme(|settings| settings.batch.wait_ms = 3)), []);
    }
}
