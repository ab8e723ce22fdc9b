//! Defaults, then a file, then the environment; what does not fit is refused by name, all of it at once.

use super::{Action, DEFAULT, Problems, Secret, Settings, check};
use crate::spelling::distance;
use config::{Config, ConfigError, FileFormat};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use toml::{Table, Value};

/// Variables with our prefix that are no settings ...
const NOT_SETTINGS: [&str; 5] =
    ["SEAMRIPPER_DATA", "SEAMRIPPER_GOLDEN", "SEAMRIPPER_QUALITY", "SEAMRIPPER_SOAK", "SEAMRIPPER_FAULT"];
/// ... and how those of benchmarks begin.
const BENCHMARKS: &str = "SEAMRIPPER_BENCH_";
const FILE_BYTES_MAX: u64 = 1 << 20;
const PREFIX: &str = "SEAMRIPPER_";
/// What is below it is passed on, and has names of its own.
pub(super) const PROPERTIES: &str = "kafka.properties.";
/// What is below it are labels, which are any words.
pub(super) const ACTIONS: &str = "milter.actions.";

/// One key that somebody wants changed.
pub(super) struct Change {
    /// `section.key`.
    pub(super) key: String,
    pub(super) value: Value,
    /// Who wants it, for messages.
    pub(super) by: String,
}

pub(super) fn load(file: Option<&Path>, environment: &[(String, String)]) -> Result<Settings, Problems> {
    let mut problems = Vec::new();
    let changes = changes(file, environment, &mut problems);
    let mut settings = checked(&changes, problems)?;
    if !settings.previous.is_empty() {
        settings.former = Some(Arc::new(former(Path::new(&settings.previous))?));
    }
    Ok(settings)
}

/// The settings that were in force before: what is in the environment is of the present ones.
fn former(path: &Path) -> Result<Settings, Problems> {
    let mut problems = Vec::new();
    let mut changes = changes(Some(path), &[], &mut problems);
    // Those before them are of no interest, and might not be there any more.
    changes.retain(|change| change.key != "previous");
    let told = |Problems(problems)| Problems(problems.iter().map(|problem| format!("previous: {problem}")).collect());
    checked(&changes, problems).map_err(told)
}

/// The defaults with `changes`, if nothing is wrong with them and there were no `problems` before.
fn checked(changes: &[Change], mut problems: Vec<String>) -> Result<Settings, Problems> {
    let known = leaves(&defaults());
    // A change that fails alone is refused by name; the others are then judged together.
    let accepted: Vec<&Change> = changes
        .iter()
        .filter(|change| {
            let default = known.iter().find(|(key, _)| *key == change.key).map(|(_, value)| value);
            let mistake = default.and_then(|default| mistyped(&change.value, default).map(str::to_owned));
            let refusal = mistake.or_else(|| with(&[change]).err().map(|error| error.to_string()));
            if let Some(why) = &refusal {
                problems.push(format!("{} = {} ({}): {why}", change.key, shown(change), change.by));
            }
            refusal.is_none()
        })
        .collect();
    match with(&accepted) {
        Ok(settings) => {
            problems.extend(check::problems(&settings));
            if problems.is_empty() { Ok(settings) } else { Err(Problems(problems)) }
        }
        Err(error) => {
            problems.push(error.to_string());
            Err(Problems(problems))
        }
    }
}

/// The changes that `file` and `environment` ask for, in that order, those of keys that exist.
pub(super) fn changes(
    file: Option<&Path>,
    environment: &[(String, String)],
    problems: &mut Vec<String>,
) -> Vec<Change> {
    let known = leaves(&defaults());
    let mut changes = Vec::new();
    if let Some(path) = file {
        let by = path.display().to_string();
        match read_bounded(path) {
            Err(error) => problems.push(format!("cannot read the configuration {by}: {error}")),
            Ok(text) => match text.parse::<Table>() {
                Err(error) => problems.push(format!("{by} is not valid TOML: {}", error.to_string().trim_end())),
                Ok(table) => {
                    let empty = empty_tables(&table).into_iter().filter(|(key, _)| !is_section(key, &known));
                    changes.extend(leaves(&table).into_iter().chain(empty).map(|(key, value)| Change {
                        key,
                        value,
                        by: by.clone(),
                    }));
                }
            },
        }
    }
    for (name, text) in environment {
        let Some(name_within) = name.strip_prefix(PREFIX) else { continue };
        if NOT_SETTINGS.contains(&name.as_str()) || name.starts_with(BENCHMARKS) {
            continue;
        }
        let mut key = name_within.to_lowercase().replace("__", ".");
        if key.starts_with(PROPERTIES) {
            // librdkafka has dots where the environment has none.
            key = key.replace('_', ".");
        }
        let default = known.iter().find(|(known, _)| *known == key).map(|(_, value)| value);
        changes.push(Change { value: from_variable(text, default), key, by: format!("environment {name}") });
    }
    changes.retain(|change| {
        let is_open = [PROPERTIES, ACTIONS].iter().any(|open| change.key.starts_with(open));
        let exists = is_open || known.iter().any(|(key, _)| *key == change.key);
        if !exists {
            problems.push(unknown(change, &known));
        }
        exists
    });
    changes
}

/// What a value has to be to take the place of `default`, if it is something else. The `config` crate would make a number of `true`, and
/// a whole one of 7.9.
fn mistyped(value: &Value, default: &Value) -> Option<&'static str> {
    let (is_one, wanted) = match (default, value) {
        // What TOML has no number for comes from the environment as text.
        (Value::Integer(_), Value::String(text)) if is_too_large(text) => (false, "it is at most 9223372036854775807"),
        (Value::Integer(_), value) => (matches!(value, Value::Integer(0..)), "it is a whole number, 0 and more"),
        (Value::Float(_), Value::Float(value)) => (value.is_finite(), "it is a number"),
        (Value::Float(_), value) => (value.is_integer(), "it is a number"),
        (Value::Boolean(_), value) => (value.is_bool(), "it is true or false"),
        (Value::String(_), value) => (value.is_str(), "it is text in quotation marks"),
        (Value::Array(defaults), Value::Array(values)) => {
            let default = defaults.first().unwrap_or(&Value::Boolean(false));
            return values.iter().find_map(|value| mistyped(value, default));
        }
        (Value::Array(_), _) => (false, "it is a list in brackets"),
        _ => return None,
    };
    (!is_one).then_some(wanted)
}

/// Whether a text is a whole number that is too large for any setting.
fn is_too_large(text: &str) -> bool {
    let number = text.replace('_', "").parse::<i64>();
    number.is_err_and(|error| *error.kind() == std::num::IntErrorKind::PosOverflow)
}

/// A file's text. Whoever names a device or a large file meant another one.
fn read_bounded(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    std::fs::File::open(path)?.take(FILE_BYTES_MAX + 1).read_to_string(&mut text)?;
    if text.len() as u64 > FILE_BYTES_MAX {
        return Err(std::io::Error::other(format!("it has more than {FILE_BYTES_MAX} bytes")));
    }
    Ok(text)
}

/// A variable's text as the type of the key's default: strings as they are, the rest as TOML writes it.
fn from_variable(text: &str, default: Option<&Value>) -> Value {
    if !matches!(default, Some(Value::String(_)))
        && let Ok(mut table) = format!("value = {text}").parse::<Table>()
        && let Some(value) = table.remove("value")
    {
        return value;
    }
    Value::String(text.to_owned())
}

fn unknown(change: &Change, known: &[(String, Value)]) -> String {
    let letters = |key: &str| key.chars().collect::<Vec<_>>();
    let wanted = letters(&change.key);
    let nearest = known.iter().map(|(key, _)| (distance(&letters(key), &wanted), key)).min();
    let hint = match nearest {
        Some((distance, key)) if distance <= change.key.len().div_ceil(3) => format!(", did you mean {key}?"),
        _ => " (`seamripper config show` lists them)".to_owned(),
    };
    format!("{} = {} ({}): there is no such key{hint}", change.key, shown(change), change.by)
}

/// A value for a message; never a secret.
fn shown(change: &Change) -> String {
    if change.key == "secret" || change.key.starts_with(PROPERTIES) {
        "(hidden)".to_owned()
    } else {
        change.value.to_string()
    }
}

/// The defaults with `changes`.
fn with(changes: &[&Change]) -> Result<Settings, ConfigError> {
    let mut builder = Config::builder().add_source(config::File::from_str(DEFAULT, FileFormat::Toml));
    let (mut properties, mut actions) = (BTreeMap::new(), BTreeMap::new());
    for change in changes {
        if let Some(label) = change.key.strip_prefix(ACTIONS) {
            actions.insert(label.to_owned(), action(&change.value)?);
            continue;
        }
        match (change.key.strip_prefix(PROPERTIES), &change.value) {
            (None, value) => builder = builder.set_override(&change.key, plain(value))?,
            (Some(name), Value::String(value)) => drop(properties.insert(name.to_owned(), Secret::new(value))),
            (Some(name), value) => drop(properties.insert(name.to_owned(), Secret::new(value.to_string()))),
        }
    }
    let mut settings: Settings = builder.build()?.try_deserialize()?;
    settings.kafka.properties = properties;
    settings.milter.actions = actions;
    Ok(settings)
}

fn action(value: &Value) -> Result<Action, ConfigError> {
    let action = value.as_str().and_then(Action::named);
    action.ok_or_else(|| ConfigError::Message("it is \"header\", \"quarantine\" or \"reject\"".into()))
}

/// The same value in the words of the `config` crate.
fn plain(value: &Value) -> config::Value {
    let kind = match value {
        Value::Integer(value) => (*value).into(),
        Value::Float(value) => (*value).into(),
        Value::Boolean(value) => (*value).into(),
        Value::Array(values) => config::ValueKind::Array(values.iter().map(plain).collect()),
        Value::String(value) => value.clone().into(),
        other => other.to_string().into(),
    };
    config::Value::new(None, kind)
}

/// Every key of `table` with its value, tables within it taken apart.
pub(super) fn leaves(table: &Table) -> Vec<(String, Value)> {
    let mut leaves = Vec::new();
    for (key, value) in table {
        match value {
            Value::Table(inner) => {
                leaves.extend(self::leaves(inner).into_iter().map(|(rest, value)| (format!("{key}.{rest}"), value)));
            }
            value => leaves.push((key.clone(), value.clone())),
        }
    }
    leaves
}

/// Every table without a key in it, by its own key.
fn empty_tables(table: &Table) -> Vec<(String, Value)> {
    let mut empty = Vec::new();
    for (key, value) in table {
        match value {
            Value::Table(inner) if inner.is_empty() => empty.push((key.clone(), value.clone())),
            Value::Table(inner) => {
                let inner = empty_tables(inner).into_iter();
                empty.extend(inner.map(|(rest, value)| (format!("{key}.{rest}"), value)));
            }
            _ => {}
        }
    }
    empty
}

/// Whether there are keys below `key`, which need not be set.
fn is_section(key: &str, known: &[(String, Value)]) -> bool {
    let below = format!("{key}.");
    [PROPERTIES, ACTIONS].contains(&&*below) || known.iter().any(|(known, _)| known.starts_with(&below))
}

pub(super) fn defaults() -> Table {
    DEFAULT.parse().expect("default.toml is well formed: a test reads it")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loaded(toml: &str, environment: &[(&str, &str)]) -> Result<Settings, Problems> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), toml).unwrap();
        let environment: Vec<_> = environment.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect();
        load(Some(file.path()), &environment)
    }

    #[test]
    fn defaults_are_good() {
        let settings = load(None, &[]).unwrap();
        assert_eq!(settings.imatch.copies, 10);
    }

    #[test]
    fn the_environment_wins_over_the_file_and_the_file_over_the_default() {
        let file = "[imatch]\ncopies = 5\n[text]\nterms_min = 6\n";
        let settings = loaded(file, &[("SEAMRIPPER_IMATCH__COPIES", "7"), ("PATH", "x")]).unwrap();
        assert_eq!((settings.imatch.copies, settings.text.terms_min), (7, 6));
    }

    #[test]
    fn a_number_in_a_string_setting_stays_a_string() {
        let settings = loaded("", &[("SEAMRIPPER_SECRET", "12345")]).unwrap();
        assert_eq!(settings.secret.reveal(), "12345");
    }

    #[test]
    fn a_mistyped_key_is_refused_by_name() {
        let problems = loaded("[limits]\nbody_byte_max = 5\n", &[]).unwrap_err().0;
        assert_eq!(problems.len(), 1);
        assert!(problems[0].starts_with("limits.body_byte_max = 5 ("), "{problems:?}");
        assert!(problems[0].ends_with("did you mean limits.body_bytes_max?"), "{problems:?}");
    }

    #[test]
    fn all_problems_are_shown_at_once() {
        let file = "nothing = 1\n[imatch]\ncopies = \"ten\"\nterms_min = 0\n[content]\nsentence_chars_max = 30\n";
        let problems = loaded(file, &[("SEAMRIPPER_LIMITS__UNPACKED_BYTES_MAX", "7")]).unwrap_err().0;
        let named = [
            "nothing = 1",
            "imatch.copies = \"ten\"",
            "imatch.terms_min = 0",
            "limits.unpacked_bytes_max (7) must not be below limits.body_bytes_max (10485760)",
            "content.sentence_chars_max (30) must be below text.sentence_chars_min (20)",
        ];
        for name in named {
            assert!(problems.iter().any(|problem| problem.contains(name)), "{name}: {problems:?}");
        }
        assert_eq!(problems.len(), named.len(), "{problems:?}");
    }

    /// The `config` crate would take each of these for something that it is not.
    #[test]
    fn a_value_of_another_type_is_refused() {
        for (section, key, value) in [
            ("limits", "body_bytes_max", "true"),
            ("content", "sentence_chars_max", "nan"),
            ("store", "ttl_hours", "-inf"),
            ("quilt", "foreign", "-1"),
            ("text", "terms_min", "7.9"),
            ("text", "terms_min", "-1"),
            ("grams", "window", "1000.5"),
            ("grams", "window", "{}"),
            ("mirror", "cosine_min", "nan"),
            ("mirror", "cosine_min", "\"0.8\""),
            ("bus", "folder", "7"),
            ("bus", "folder", "1979-05-27"),
            ("bus", "folder", "[]"),
        ] {
            let problems = loaded(&format!("[{section}]\n{key} = {value}\n"), &[]).unwrap_err().0;
            assert_eq!(problems.len(), 1, "{problems:?}");
            let [problem] = &problems[..] else { panic!("{problems:?}") };
            assert!(problem.starts_with(&format!("{section}.{key} = {value} (")), "{problem}");
        }
        for value in ["x", "", "7.9", "\"7\"", "true"] {
            let problems = loaded("", &[("SEAMRIPPER_GRAMS__WINDOW", value)]).unwrap_err().0;
            assert!(problems.len() == 1 && problems[0].starts_with("grams.window = "), "{problems:?}");
        }
        for (value, wanted) in [
            ("99999999999999999999999", "it is at most 9223372036854775807"),
            ("9_223_372_036_854_775_808", "it is at most 9223372036854775807"),
            ("-99999999999999999999999", "it is a whole number, 0 and more"),
        ] {
            let problems = loaded("", &[("SEAMRIPPER_STORE__MEMORY", value)]).unwrap_err().0;
            assert!(problems.len() == 1 && problems[0].ends_with(wanted), "{problems:?}");
        }
        let settings = loaded("[grams]\n[milter.actions]\n[mirror]\ncosine_min = 1\n", &[]).unwrap();
        assert_eq!(settings.mirror.cosine_min, 1.0, "a whole number is a number");
    }

    #[test]
    fn numbers_beyond_all_measure_are_refused() {
        for (key, value) in [
            ("grams.window", "1001"),
            ("grams.window", "9223372036854775807"),
            ("minhash.page_shingle_words", "1000000"),
            ("revisions.per_document", "9223372036854775807"),
            ("store.ttl_hours", "9223372036854775"),
            ("bus.lease_ms", "9223372036854775807"),
            ("bus.retention_bytes", "9223372036854775807"),
        ] {
            let (section, name) = key.split_once('.').unwrap();
            let problems = loaded(&format!("[{section}]\n{name} = {value}\n"), &[]).unwrap_err().0;
            assert!(problems.iter().any(|problem| problem.starts_with(&format!("{key} ({value}) "))), "{problems:?}");
        }
    }

    #[test]
    fn a_secret_is_not_shown_in_a_message() {
        let problems = loaded("secret = [\"hunter2\"]\n", &[("SEAMRIPPER_SECRETS", "hunter2")]).unwrap_err();
        let text = problems.to_string();
        assert!(!text.contains("[\"hunter2\"]"), "{text}");
    }

    #[test]
    fn properties_of_kafka_are_passed_on_and_never_shown() {
        let file = "[kafka.properties]\n\"sasl.username\" = \"mallory\"\nssl.ca.location = \"/ca.pem\"\n";
        let settings = loaded(file, &[("SEAMRIPPER_KAFKA__PROPERTIES__SASL_PASSWORD", "hunter2")]).unwrap();
        let revealed: Vec<(&str, &str)> =
            settings.kafka.properties.iter().map(|(name, value)| (&**name, value.reveal())).collect();
        assert_eq!(
            revealed,
            [("sasl.password", "hunter2"), ("sasl.username", "mallory"), ("ssl.ca.location", "/ca.pem")]
        );
        let shown = serde_json::to_string(&settings).unwrap();
        assert!(!shown.contains("hunter2") && !shown.contains("mallory"), "{shown}");
    }

    #[test]
    fn labels_have_actions_by_any_name() {
        let file = "[milter.actions]\nspam = \"reject\"\n\"bulk.mail\" = \"quarantine\"\n";
        let settings = loaded(file, &[("SEAMRIPPER_MILTER__ACTIONS__HAM", "header")]).unwrap();
        let actions: Vec<(&str, Action)> = settings.milter.actions.iter().map(|(l, a)| (&**l, *a)).collect();
        assert_eq!(actions, [("bulk.mail", Action::Quarantine), ("ham", Action::Header), ("spam", Action::Reject)]);
        let file = "[milter.actions]\nspam = \"delete\"\nallow = \"reject\"\n[milter]\nserver = \"https://a\"\n";
        let problems = loaded(file, &[("SEAMRIPPER_MILTER__LISTEN", "8472")]).unwrap_err().0;
        for named in ["milter.actions.spam = \"delete\"", "milter.actions.allow", "milter.server", "milter.listen"] {
            assert!(problems.iter().any(|problem| problem.contains(named)), "{named}: {problems:?}");
        }
        assert_eq!(problems.len(), 4, "{problems:?}");
    }

    #[test]
    fn a_section_in_place_of_a_key_is_refused() {
        assert!(loaded("[secret]\nx = 1\n", &[]).is_err());
        assert!(loaded("limits = 1\n", &[]).is_err());
    }

    #[test]
    fn the_former_settings_are_those_of_their_file_alone() {
        let previous = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(previous.path(), "secret = \"old\"\nprevious = \"older\"\n[imatch]\ncopies = 5\n").unwrap();
        let file = format!("previous = {:?}\n[text]\nterms_min = 6\n", previous.path());
        let settings = loaded(&file, &[("SEAMRIPPER_SECRET", "new"), ("SEAMRIPPER_IMATCH__COPIES", "7")]).unwrap();
        let former = settings.former.as_ref().unwrap();
        assert_eq!((settings.secret.reveal(), settings.imatch.copies, settings.text.terms_min), ("new", 7, 6));
        assert_eq!((former.secret.reveal(), former.imatch.copies, former.text.terms_min), ("old", 5, 5));
        assert!(former.former.is_none() && !format!("{settings:?}").contains("old\""));
        std::fs::write(previous.path(), "secret = \"\"\n").unwrap();
        let problems = loaded(&file, &[]).unwrap_err().0;
        assert_eq!(problems, ["previous: secret must not be empty"]);
        let problems = loaded("previous = \"/no/such/file.toml\"", &[]).unwrap_err().0;
        assert!(problems[0].starts_with("previous: cannot read the configuration /no/such/file.toml"), "{problems:?}");
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = load(Some(Path::new("/no/such/file.toml")), &[]).unwrap_err().to_string();
        assert!(error.contains("/no/such/file.toml"), "{error}");
    }
}
