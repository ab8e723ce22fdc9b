//! What there is to be named: files, settings, metrics, routes, targets of make, commands, and every name in the code.

use seamripper::command::Arguments;
use seamripper::config::DEFAULT;
use serde_json::Value;
use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

/// Folders that no document speaks of: made by builds and tests.
const PASSED_OVER: [&str; 6] = ["target", ".git", "node_modules", "__pycache__", "artifacts", "seamripper-data"];

/// What there is.
pub(crate) struct Repository {
    pub(crate) root: PathBuf,
    /// Files and folders, by their paths from the root.
    pub(crate) paths: BTreeSet<String>,
    /// Settings, and tables of settings.
    pub(crate) keys: BTreeSet<String>,
    pub(crate) tables: BTreeSet<String>,
    pub(crate) metrics: BTreeSet<&'static str>,
    /// Methods and paths.
    pub(crate) routes: Vec<(String, String)>,
    pub(crate) targets: BTreeSet<String>,
    /// Names in files that are no documents.
    pub(crate) words: HashSet<String>,
    pub(crate) commands: clap::Command,
    /// Fields of a verdict, as `mirror.of`.
    pub(crate) fields: BTreeSet<String>,
}

impl Repository {
    pub(crate) fn here() -> Self {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        let mut paths = BTreeSet::new();
        walk(&root, "", &mut paths);
        let mut words = HashSet::new();
        for path in paths.iter().filter(|path| !path.ends_with(".md")) {
            // Folders, and what is no text, have no names.
            let Ok(text) = std::fs::read_to_string(root.join(path)) else { continue };
            let named = text.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'));
            words.extend(named.filter(|word| word.len() > 2).map(str::to_owned));
        }
        let (mut keys, mut tables) = (BTreeSet::new(), BTreeSet::new());
        settings(&DEFAULT.parse().unwrap(), "", &mut keys, &mut tables);
        let api: Value = serde_json::from_str(&seamripper::http::openapi_document()).unwrap();
        let methods = |(path, item): (&String, &Value)| -> Vec<(String, String)> {
            item.as_object().unwrap().keys().map(|method| (method.to_uppercase(), path.clone())).collect()
        };
        let routes = api["paths"].as_object().unwrap().iter().flat_map(methods).collect();
        let makefile = std::fs::read_to_string(root.join("Makefile")).unwrap();
        let target = |line: &str| line.split_once(':').map(|(name, _)| name.to_owned());
        let targets =
            makefile.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_lowercase())).filter_map(target);
        let schema = std::fs::read_to_string(root.join("schemas/verdict.json")).unwrap();
        let mut fields = BTreeSet::new();
        let schema: Value = serde_json::from_str(&schema).unwrap();
        properties(&schema, &schema, "", &mut fields);
        Self {
            targets: targets.collect(),
            metrics: seamripper::metrics::names().collect(),
            commands: <Arguments as clap::CommandFactory>::command(),
            root,
            paths,
            keys,
            tables,
            routes,
            words,
            fields,
        }
    }

    /// The documents, by their paths.
    pub(crate) fn documents(&self) -> impl Iterator<Item = &String> {
        self.paths.iter().filter(|path| path.ends_with(".md"))
    }
}

fn walk(folder: &Path, before: &str, paths: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap_or_default();
        if PASSED_OVER.contains(&&*name) {
            continue;
        }
        let path = format!("{before}{name}");
        if entry.file_type().unwrap().is_dir() {
            walk(&entry.path(), &format!("{path}/"), paths);
        }
        paths.insert(path);
    }
}

fn settings(table: &toml::Table, before: &str, keys: &mut BTreeSet<String>, tables: &mut BTreeSet<String>) {
    for (name, value) in table {
        let path = format!("{before}{name}");
        if let toml::Value::Table(inner) = value {
            settings(inner, &format!("{path}."), keys, tables);
            tables.insert(path);
        } else {
            keys.insert(path);
        }
    }
}

/// The properties of a part of a schema, and those of theirs.
fn properties(whole: &Value, part: &Value, before: &str, fields: &mut BTreeSet<String>) {
    let part = part["$ref"].as_str().and_then(|at| whole.pointer(at.strip_prefix('#')?)).unwrap_or(part);
    for (name, inner) in part["properties"].as_object().into_iter().flatten() {
        let path = format!("{before}{name}");
        for inner in [inner, &inner["items"]] {
            properties(whole, inner, &format!("{path}."), fields);
        }
        fields.insert(path);
    }
}
