//! What the documents name is there: links and their anchors, commands with their flags, targets of make, settings, metrics,
//! routes, files and names in the code.
//!
//! # Invariants
//! - Every document of the repository holds. (`what_the_documents_name_is_there`)
//! - Each kind of mistake is told, with its line. (`mistakes_are_told`)

mod first_change;
mod heads;
mod numbers;
pub(crate) mod page;
mod repository;
mod shell;

use page::Page;
use repository::Repository;
use seamripper::config::Settings;
use shell::Script;
use std::path::Path;

/// Folders that commands of documents make.
const MADE: [&str; 3] = ["seamripper-data", "target", "crawl"];
/// Names that are of others, and stand nowhere else here.
const OTHERS: [&str; 1] = ["non_smtpd_milters"];

/// A document against the repository.
struct Reader<'a> {
    repository: &'a Repository,
    /// The document, by its path from the root.
    path: &'a str,
    mistakes: Vec<String>,
}

/// What is wrong with a document at `path`.
fn mistakes(repository: &Repository, path: &str, markdown: &str) -> Vec<String> {
    let mut reader = Reader { repository, path, mistakes: Vec::new() };
    let page = Page::read(markdown);
    for link in &page.links {
        reader.link(&page, link.line, &link.text);
    }
    for span in &page.spans {
        reader.span(span.line, &span.text);
    }
    for block in &page.blocks {
        reader.names(block.line, &block.text);
        match &*block.kind {
            "sh" | "bash" | "console" | "" => reader.script(block.line, &block.text),
            "toml" => reader.settings(block.line, &block.text),
            "yaml" | "ini" | "text" | "json" | "python" | "rust" | "sql" | "diff" => {}
            kind => reader.tell(block.line, format!("a block of `{kind}`: nobody knows what to look for in it")),
        }
    }
    reader.mistakes
}

impl Reader<'_> {
    fn tell(&mut self, line: usize, what: String) {
        self.mistakes.push(format!("{}:{line}: {what}", self.path));
    }

    fn link(&mut self, page: &Page, line: usize, target: &str) {
        if target.starts_with("http://") || target.starts_with("https://") {
            return;
        }
        let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
        let path = if file.is_empty() { self.path.to_owned() } else { resolved(self.path, file) };
        if !file.is_empty() && !self.repository.paths.contains(path.trim_end_matches('/')) {
            return self.tell(line, format!("{target}: there is no such file"));
        }
        if anchor.is_empty() {
            return;
        }
        let is_there = if file.is_empty() {
            page.anchors.iter().any(|other| other == anchor)
        } else {
            let text = std::fs::read_to_string(self.repository.root.join(&path)).unwrap_or_default();
            Page::read(&text).anchors.iter().any(|other| other == anchor)
        };
        if !is_there {
            self.tell(line, format!("{target}: there is no such heading"));
        }
    }

    /// What stands in backticks.
    fn span(&mut self, line: usize, text: &str) {
        if text == "```" {
            return self.tell(line, "a block is not closed".to_owned());
        }
        self.names(line, text);
        // Of alternatives the first, and not where its output goes.
        let words: Vec<&str> = text.split_whitespace().take_while(|word| !["|", ">"].contains(word)).collect();
        let [first, rest @ ..] = &words[..] else { return };
        if *first == "make" && rest.len() == 1 {
            self.target(line, rest[0]);
        }
        let named = self.repository.commands.find_subcommand(first);
        let is_of =
            |word: &&str| word.starts_with('-') || named.is_some_and(|named| named.find_subcommand(word).is_some());
        if *first == "seamripper" && !rest.is_empty() {
            self.command(line, rest, true);
        } else if named.is_some() && rest.first().is_some_and(is_of) {
            self.command(line, &words, true);
        }
        // A name, or a setting with its value.
        if let [word] | [word, "=", ..] = words[..] {
            self.word(line, word);
        }
    }

    /// A single word in backticks.
    fn word(&mut self, line: usize, word: &str) {
        let Repository { keys, tables, fields, words, .. } = self.repository;
        if let Some(table) = word.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            if !tables.contains(table) {
                self.tell(line, format!("{word}: there is no such table of settings"));
            }
            return;
        }
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_.".contains(letter);
        let head = word.split('.').next().unwrap_or_default();
        let is_file =
            Path::new(word).extension().is_some_and(|end| FILE_ENDS.contains(&end.to_str().unwrap_or_default()));
        if word.contains('.') && word.chars().all(is_plain) && tables.contains(head) && !is_file {
            let known = keys.contains(word) || tables.contains(word) || fields.contains(word);
            if !known && !word.starts_with("milter.actions.") {
                self.tell(line, format!("{word}: there is no such setting, nor such a field of a verdict"));
            }
            return;
        }
        self.file(line, word);
        // A name of the code: with `::`, an underscore, or a capital inside.
        for name in word.trim_end_matches("()").split("::").filter(|name| is_name(name)) {
            if !words.contains(name)
                && !OTHERS.contains(&name)
                && !self.repository.metrics.contains(metric(name))
                && !name.contains("__")
            {
                self.tell(line, format!("{name}: nothing has this name"));
            }
        }
    }

    /// A path, if the word begins as one of the repository's.
    fn file(&mut self, line: usize, word: &str) {
        let path = word.split(['#', '?']).next().unwrap_or_default().trim_end_matches([',', '.', ':', '/']);
        let path = path.strip_prefix("./").unwrap_or(path);
        let Some((folder, _)) = path.split_once('/') else { return };
        let is_pattern = path.contains(['*', '…', '<', '{', '$', '(', '=']) || path.contains("..");
        let is_ours = self.repository.paths.contains(folder) && !MADE.contains(&folder);
        if is_ours && !is_pattern && !self.repository.paths.contains(path) {
            self.tell(line, format!("{path}: there is no such file"));
        }
    }

    /// Metrics, routes and variables, wherever they stand.
    fn names(&mut self, line: usize, text: &str) {
        for (text, line) in text.lines().zip(line..) {
            for name in text.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_')) {
                if name.starts_with("seamripper_") && name.len() > 12 && !self.repository.metrics.contains(metric(name))
                {
                    self.tell(line, format!("{name}: there is no such metric"));
                }
                if let Some(variable) = name.strip_prefix("SEAMRIPPER_") {
                    self.variable(line, variable);
                }
            }
            self.routes(line, text);
        }
    }

    fn variable(&mut self, line: usize, name: &str) {
        let Repository { keys, words, .. } = self.repository;
        let key = name.to_lowercase().replace("__", ".");
        let is_free = key.starts_with("kafka.properties.") || key.starts_with("milter.actions.");
        let known =
            keys.contains(&key) || is_free || (!name.contains("__") && words.contains(&format!("SEAMRIPPER_{name}")));
        if !known && !name.is_empty() {
            self.tell(line, format!("SEAMRIPPER_{name}: there is no such setting"));
        }
    }

    fn routes(&mut self, line: usize, text: &str) {
        let starts = ["/v1/", "/healthz", "/readyz", "/metrics", "/openapi.json"];
        let words: Vec<&str> = text.split([' ', '\'', '"', '`', ',']).collect();
        for (n, word) in words.iter().enumerate() {
            // Behind an address, or by itself.
            let path = match word.split_once("://") {
                Some((_, rest)) => rest.find('/').map_or("", |at| &rest[at..]),
                None => word,
            };
            let path = path.split(['?', '|', '#', ')']).next().unwrap_or_default().trim_end_matches(['.', ':', ';']);
            if !starts.iter().any(|start| path.starts_with(start)) {
                continue;
            }
            let method = n.checked_sub(1).map(|n| words[n]).filter(|word| METHODS.contains(word));
            let matches =
                |(other, route): &&(String, String)| method.is_none_or(|method| other == method) && is_of(path, route);
            if !self.repository.routes.iter().any(|route| matches(&route)) {
                self.tell(line, format!("{} {path}: there is no such route", method.unwrap_or("any")));
            }
        }
    }

    fn target(&mut self, line: usize, name: &str) {
        if !self.repository.targets.contains(name) {
            self.tell(line, format!("make {name}: there is no such target"));
        }
    }

    /// A block of commands.
    fn script(&mut self, line: usize, text: &str) {
        let script = Script::read(text, line);
        for run in &script.runs {
            let (_, words) = run.split();
            let [program, arguments @ ..] = words else { continue };
            let arguments: Vec<&str> = arguments.iter().map(|word| &**word).collect();
            match program.rsplit('/').next().unwrap_or_default() {
                "seamripper" => self.command(run.line, &arguments, false),
                "make" => {
                    for name in arguments.iter().filter(|name| !name.starts_with('-') && !name.contains('=')) {
                        self.target(run.line, name);
                    }
                }
                "cargo" => self.cargo(run.line, &arguments),
                _ => {}
            }
            for word in words {
                self.file(run.line, word);
            }
        }
        for written in script.written.iter().filter(|written| written.name.ends_with(".toml")) {
            self.settings(written.line, &written.text);
        }
    }

    fn cargo(&mut self, line: usize, arguments: &[&str]) {
        for pair in arguments.windows(2) {
            let places = match *pair {
                ["--bench", name] => vec![format!("benches/{name}.rs"), format!("benches/{name}/main.rs")],
                ["--test", name] => vec![format!("tests/{name}.rs"), format!("tests/{name}/main.rs")],
                ["promises", filter] if !filter.starts_with('-') => {
                    let module = filter.split("::").next().unwrap_or_default();
                    vec![format!("tests/promises/{module}.rs"), format!("tests/promises/{module}/mod.rs")]
                }
                _ => continue,
            };
            if !places.iter().any(|place| self.repository.paths.contains(place)) {
                self.tell(line, format!("cargo {}: there is none of {places:?}", arguments.join(" ")));
            }
        }
    }

    /// What is typed after `seamripper`. Where it is only spoken of, what is needed may be missing.
    fn command(&mut self, line: usize, arguments: &[&str], spoken_of: bool) {
        use clap::error::ErrorKind::{
            DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand, DisplayVersion, MissingRequiredArgument,
            MissingSubcommand,
        };
        let words = std::iter::once("seamripper").chain(arguments.iter().copied().filter(|word| *word != "…"));
        let Err(error) = self.repository.commands.clone().try_get_matches_from(words) else { return };
        let is_missing = matches!(
            error.kind(),
            MissingRequiredArgument | MissingSubcommand | DisplayHelpOnMissingArgumentOrSubcommand
        );
        let told = error.to_string();
        let is_bare = told.contains("none was supplied");
        if !(matches!(error.kind(), DisplayHelp | DisplayVersion) || spoken_of && (is_missing || is_bare)) {
            let first = told.lines().next().unwrap_or_default();
            self.tell(line, format!("seamripper {}: {first}", arguments.join(" ")));
        }
    }

    /// A block of settings: they are good.
    fn settings(&mut self, line: usize, text: &str) {
        let folder = tempfile::tempdir().unwrap();
        let mut table: toml::Table = match text.parse() {
            Ok(table) => table,
            Err(error) => return self.tell(line, format!("{error}")),
        };
        // The file that it speaks of is its reader's.
        if let Some(previous) = table.get_mut("previous") {
            let file = folder.path().join("previous.toml");
            std::fs::write(&file, "").unwrap();
            *previous = file.to_str().unwrap().into();
        }
        let file = folder.path().join("settings.toml");
        std::fs::write(&file, table.to_string()).unwrap();
        if let Err(problems) = Settings::load(Some(&file), &[]) {
            self.tell(line, problems.0.join("; ").replace(file.to_str().unwrap(), "the block"));
        }
    }
}

const METHODS: [&str; 4] = ["GET", "POST", "PUT", "DELETE"];
/// What may look like a setting and is a file.
const FILE_ENDS: [&str; 10] = ["rs", "toml", "md", "json", "jsonl", "py", "lua", "html", "sqlite", "svg"];

/// A name that only code has.
fn is_name(name: &str) -> bool {
    let is_word = name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    let is_shout = name.chars().all(|letter| !letter.is_ascii_lowercase());
    let has_capital = name.chars().skip(1).any(|letter| letter.is_ascii_uppercase());
    is_word
        && name.len() > 2
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && !is_shout
        && (name.contains('_') || has_capital)
}

/// The metric that a name in Prometheus is of.
fn metric(name: &str) -> &str {
    let ends = ["_bucket", "_sum", "_count"];
    ends.iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name)
}

/// Whether a path is of a route, whose `{id}` is all that follows; whoever speaks of all of them leaves it out.
fn is_of(path: &str, route: &str) -> bool {
    let (mut parts, mut wanted) = (path.split('/'), route.split('/'));
    loop {
        match (parts.next(), wanted.next()) {
            (None, None) => return true,
            (None, Some(want)) => return want.starts_with('{'),
            (Some(part), Some(want)) if want.starts_with('{') => return !part.is_empty(),
            (Some(part), Some(want)) if part == want => {}
            _ => return false,
        }
    }
}

/// A path as a link in the document `from` means it.
fn resolved(from: &str, target: &str) -> String {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[test]
fn what_the_documents_name_is_there() {
    let repository = Repository::here();
    let mut all = Vec::new();
    for path in repository.documents() {
        let text = std::fs::read_to_string(repository.root.join(path)).unwrap();
        all.extend(mistakes(&repository, path, &text));
    }
    assert!(repository.documents().count() > 10);
    assert!(all.is_empty(), "{} mistakes:\n{}", all.len(), all.join("\n"));
}

#[test]
fn mistakes_are_told() {
    let repository = Repository::here();
    let told = |text: &str| mistakes(&repository, "docs/MADE.md", text);
    for (wrong, told_as) in [
        ("see [this](NOTHING.md)", "docs/MADE.md:1: NOTHING.md: there is no such file"),
        ("\n[x](RUN.md#no-such-heading)", "docs/MADE.md:2: RUN.md#no-such-heading: there is no such heading"),
        ("# A\n[x](#b)", ":2: #b: there is no such heading"),
        (
            "```sh\nls\nseamripper scan --exakt x\n```",
            ":3: seamripper scan --exakt x: error: unexpected argument '--exakt'",
        ),
        ("```sh\nX=$(seamripper tial)\n```", ":2: seamripper tial: error: unrecognized subcommand"),
        ("`seamripper label --domane x`", "unexpected argument '--domane'"),
        ("`scan --stor x`", "unexpected argument '--stor'"),
        ("```sh\nseamripper explain\n```", "required arguments were not provided"),
        ("    make demo\n", ""),
        ("text\n\n    make demos\n", ":3: make demos: there is no such target"),
        ("`make tset`", "make tset: there is no such target"),
        ("`limits.body_byte_max`", "limits.body_byte_max: there is no such setting"),
        ("`mirror.cosine_mim = 0.9`", "mirror.cosine_mim: there is no such setting"),
        ("`mirror.off`", "mirror.off: there is no such setting"),
        ("`[limit]`", "[limit]: there is no such table"),
        ("```toml\n[limits]\nbody_byte_max = 5\n```", ":2: limits.body_byte_max = 5"),
        ("```sh\ncat > a.toml <<END\n[bus]\nkind = \"pigeon\"\nEND\n```", ":3: bus.kind"),
        ("`SEAMRIPPER_IMATCH__COPY=20`", "SEAMRIPPER_IMATCH__COPY: there is no such setting"),
        ("`seamripper_documents_totals`", "there is no such metric"),
        (
            "```yaml\nexpr: rate(seamripper_dokuments_total[5m])\n```",
            ":2: seamripper_dokuments_total: there is no such metric",
        ),
        ("`GET /v1/verdict`", "GET /v1/verdict: there is no such route"),
        ("`DELETE /v1/pages`", "DELETE /v1/pages: there is no such route"),
        ("```sh\ncurl 'http://127.0.0.1:8470/v1/chek?learn=true'\n```", "any /v1/chek: there is no such route"),
        ("`src/no_such_file.rs`", "src/no_such_file.rs: there is no such file"),
        ("```sh\nscripts/kafkaa up\n```", ":2: scripts/kafkaa: there is no such file"),
        ("`no_such_function_anywhere_at_all_x`", ""),
        ("```sh\ncargo bench --bench singing\n```", "cargo bench --bench singing"),
        ("```sh\ncargo test --test promises no_such_module::\n```", "no_such_module"),
        ("```klingon\n```", "a block of `klingon`"),
        ("```sh\nls", "a block is not closed"),
    ] {
        let told = told(wrong);
        assert_eq!(told.len(), usize::from(!told_as.is_empty()), "{wrong}: {told:?}");
        assert!(told.iter().all(|told| told.contains(told_as)), "{wrong}: {told:?}");
    }
    // A name that this file does not have.
    let name = ["no", "such", "name", "anywhere"].join("_");
    assert_eq!(told(&format!("`{name}`")), [format!("docs/MADE.md:1: {name}: nothing has this name")]);
    let good = "`GET /v1/documents/{id}` `/v1/explain` `/v1/verdicts?class=…` `mirror.of` `mirror.cosine_min` `[kafka.properties]` `make test`\n\
        `seamripper_commit_seconds_bucket` `SEAMRIPPER_SECRET` `SEAMRIPPER_SOAK` `lexicon build --store` [r](RUN.md#http) `src/store`\n\
        ```toml\nprevious = \"old.toml\"\nsecret = \"new\"\n```\n";
    assert_eq!(told(good), [""; 0]);
}

/// The two commands of the first page are those that a machine runs.
#[test]
fn the_two_commands_are_there() {
    let read = |path: &str| std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
    let page = Page::read(&read("README.md"));
    let runs: Vec<String> =
        page.blocks.iter().filter(|block| block.kind == "sh").map(|block| block.text.clone()).collect();
    let first: Vec<&str> = runs[0].lines().map(|line| line.split('#').next().unwrap().trim()).collect();
    assert_eq!(first, ["make demo", "make test"]);
    assert!(read(".ci/run").lines().any(|line| line == "exec make test"));
}

/// A metric that nothing counts would look like a quiet day.
#[test]
fn every_metric_is_counted_somewhere() {
    let repository = Repository::here();
    let read = |path: &String| std::fs::read_to_string(repository.root.join(path)).unwrap();
    let is_source = |path: &&String| path.starts_with("src/") && path.ends_with(".rs") && *path != "src/metrics.rs";
    let sources: String = repository.paths.iter().filter(is_source).map(read).collect();
    let metrics = read(&"src/metrics.rs".to_owned());
    let names = metrics.lines().filter_map(|line| line.strip_prefix("pub const ")?.split(':').next());
    let is_used = |name: &str| {
        let follows = |at: usize| !sources[at..].starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        let used = |path: String| sources.match_indices(&path).any(|(at, _)| follows(at + path.len()));
        used(format!("names::{name}")) || used(format!("metrics::{name}"))
    };
    let quiet: Vec<&str> = names.filter(|name| !is_used(name)).collect();
    assert!(quiet.is_empty(), "nothing counts {quiet:?}");
}

/// Every metric has a row that says what to do about it, and no row is of none.
#[test]
fn every_metric_has_a_row_in_the_manual_of_operations() {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/OPERATIONS.md")).unwrap();
    let first = |line: &str| Some(line.strip_prefix("| `seamripper_")?.split_once('`')?.0.to_owned());
    let mut rows: Vec<String> = text.lines().filter_map(first).map(|name| format!("seamripper_{name}")).collect();
    let mut names: Vec<String> = seamripper::metrics::names().map(str::to_owned).collect();
    rows.sort();
    names.sort();
    assert_eq!(rows, names);
    // A name and nothing to do would be no help.
    for line in text.lines().filter(|line| first(line).is_some()) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        assert!(cells.len() == 5 && cells[2].len() > 10 && cells[3].len() > 10, "{line}");
    }
}

#[test]
fn the_configuration_reference_is_what_the_command_prints() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/CONFIGURATION.md");
    let printed = assert_cmd::Command::cargo_bin("seamripper").unwrap().args(["config", "reference"]).assert().code(0);
    let printed = String::from_utf8(printed.get_output().stdout.clone()).unwrap();
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == printed,
        "docs/CONFIGURATION.md is stale: seamripper config reference > docs/CONFIGURATION.md"
    );
}

/// The rules for Prometheus speak of metrics that there are, and the manual of each alert.
#[test]
fn alerts_are_of_metrics_that_there_are_and_explained() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let rules = std::fs::read_to_string(root.join("examples/prometheus/seamripper.rules.yml")).unwrap();
    let manual = std::fs::read_to_string(root.join("docs/OPERATIONS.md")).unwrap();
    let alerts: Vec<&str> = rules.lines().filter_map(|line| line.trim().strip_prefix("- alert: ")).collect();
    assert!(alerts.len() > 5 && rules.matches("expr:").count() == alerts.len(), "{alerts:?}");
    for alert in alerts {
        assert!(manual.contains(&format!("| `{alert}`")), "{alert} has no row in docs/OPERATIONS.md");
    }
    let names: Vec<&str> = rules
        .split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'))
        .filter(|name| name.starts_with("seamripper_"))
        .collect();
    for name in &names {
        assert!(seamripper::metrics::names().any(|known| known == metric(name)), "{name}: there is no such metric");
    }
    assert!(names.len() >= 10);
}
