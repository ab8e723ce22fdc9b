//! The manual with the values in force: `default.toml`, its comments kept, changed values put in.

use super::{DEFAULT, load};
use std::collections::BTreeMap;
use std::path::Path;

/// `default.toml` with the values that `file` and `environment` give, each changed line saying by whom.
///
/// Settings that were refused are not in it: [`super::Settings::load`] comes first.
pub fn in_force(file: Option<&Path>, environment: &[(String, String)]) -> String {
    let changes = load::changes(file, environment, &mut Vec::new());
    let mut section = String::new();
    let mut manual = String::new();
    for line in DEFAULT.lines() {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = format!("{name}.");
        }
        if section == load::ACTIONS && line.is_empty() {
            manual.push_str(&actions(&changes));
        }
        let key = line.split_once(" = ").filter(|_| !line.starts_with('#')).map(|(key, _)| format!("{section}{key}"));
        let change = key.as_ref().and_then(|key| changes.iter().rev().find(|change| change.key == *key));
        match (key.as_deref(), change) {
            // Left out rather than masked: whoever saves this as a file must not sign with the mask.
            (Some("secret"), Some(change)) => {
                manual.push_str(&format!("# secret is set by {}, and not shown", change.by))
            }
            (Some(_), Some(change)) => {
                let (name, default) = line.split_once(" = ").unwrap_or((line, ""));
                manual.push_str(&format!("{name} = {} # {}; default: {default}", change.value, change.by));
            }
            _ => manual.push_str(line),
        }
        manual.push('\n');
    }
    // They come last in the manual, and may hold passwords.
    for change in changes.iter().filter(|change| change.key.starts_with(load::PROPERTIES)) {
        let name = &change.key[load::PROPERTIES.len()..];
        manual.push_str(&format!("# {name} is set by {}, and not shown\n", change.by));
    }
    manual
}

/// The labels that have actions, which no default names.
fn actions(changes: &[load::Change]) -> String {
    let mut last = BTreeMap::new();
    for change in changes {
        change.key.strip_prefix(load::ACTIONS).and_then(|label| last.insert(label, change));
    }
    let line = |(label, change): (&str, &load::Change)| {
        format!("{} = {} # {}\n", toml::Value::from(label), change.value, change.by)
    };
    last.into_iter().map(|(label, change)| line((label, change))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Action, Settings};

    #[test]
    fn every_setting_stands_on_a_line_of_its_own_with_a_reason_above() {
        let mut explained = false;
        for line in DEFAULT.lines() {
            if line.contains(" = ") && !line.starts_with('#') {
                assert!(explained, "no reason above `{line}`");
            } else {
                explained = line.starts_with('#') || (explained && !line.is_empty());
            }
        }
        let n_lines = DEFAULT.lines().filter(|line| line.contains(" = ") && !line.starts_with('#')).count();
        assert_eq!(n_lines, load::leaves(&load::defaults()).len());
    }

    #[test]
    fn the_manual_shows_what_was_changed_and_by_whom() {
        let environment = [("SEAMRIPPER_IMATCH__COPIES", "20"), ("SEAMRIPPER_SECRET", "hunter2")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()));
        let manual = in_force(None, &environment);
        assert!(manual.contains("copies = 20 # environment SEAMRIPPER_IMATCH__COPIES; default: 10"), "{manual}");
        assert!(!manual.contains("hunter2"), "{manual}");
    }

    #[test]
    fn the_manual_in_force_is_itself_a_configuration() {
        let environment = [("SEAMRIPPER_IMATCH__COPIES", "20"), ("SEAMRIPPER_MILTER__ACTIONS__SPAM", "reject")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()));
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), in_force(None, &environment)).unwrap();
        let settings = Settings::load(Some(file.path()), &[]).unwrap();
        assert_eq!(settings, Settings::load(None, &environment).unwrap());
        assert_eq!((settings.imatch.copies, settings.milter.actions["spam"]), (20, Action::Reject));
    }
}
