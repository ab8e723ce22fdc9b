//! The schemas say what is published and what is taken: every event is valid by its schema, every example can be read,
//! and what breaks the contract is refused.

use seamripper::document::{Kind, Span};
use seamripper::verdict::event::{
    Carried, Class, ClusterEvent, Features, Mirror, Outcome, Quilt, QuiltKind, QuiltSource, Recrawl, Related, SCHEMA,
    Signal, Source, Template, TemplateKind, TextView, Verdict, Via,
};
use seamripper::verdict::label::Label;
use seamripper::verdict::relation::{Direction, Relation};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::path::{Path, PathBuf};

fn schemas() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas")
}

fn parsed(path: &Path) -> Value {
    let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_slice(&bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn schema(name: &str) -> Value {
    parsed(&schemas().join(format!("{name}.json")))
}

fn example(name: &str) -> Value {
    parsed(&schemas().join("examples").join(format!("{name}.json")))
}

/// Finds the schemas that another names by their files.
struct Beside;

impl jsonschema::Retrieve for Beside {
    fn retrieve(&self, uri: &jsonschema::Uri<String>) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        let name = uri.path().as_str().trim_start_matches('/').to_owned();
        Ok(parsed(&schemas().join(name)))
    }
}

/// A schema of this repository, ready to be used.
pub(crate) struct Schema(jsonschema::Validator);

impl Schema {
    pub(crate) fn named(name: &str) -> Self {
        let schema = schema(name);
        jsonschema::meta::validate(&schema).unwrap_or_else(|error| panic!("{name}: {error}"));
        let options = jsonschema::options().should_validate_formats(true).with_retriever(Beside);
        Self(options.build(&schema).unwrap())
    }

    pub(crate) fn accepts(&self, value: &Value) -> bool {
        self.0.is_valid(value)
    }

    /// Panics with all that is wrong.
    pub(crate) fn check(&self, what: &str, value: &Value) {
        let errors: Vec<String> =
            self.0.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(errors.is_empty(), "{what}: {errors:#?}\n{value:#}");
    }
}

/// The examples of a schema: `name.json` and `name-*.json`.
pub(crate) fn examples(name: &str) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(schemas().join("examples")).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap().to_owned();
        if stem.split_once('-').map_or(&*stem, |(schema, _)| schema) == name {
            found.push((stem, parsed(&path)));
        }
    }
    found.sort_by(|(a, _), (b, _)| a.cmp(b));
    found
}

/// Reads an example and writes it again: nothing may be lost or added.
fn survives<T: Serialize + DeserializeOwned>(name: &str, example: &Value) {
    let read: T = serde_json::from_value(example.clone()).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(&serde_json::to_value(read).unwrap(), example, "{name}");
}

#[test]
fn the_examples_are_valid_and_are_read() {
    type Survives = fn(&str, &Value);
    let table = [
        ("verdict", survives::<Verdict> as Survives, 6),
        ("cluster", survives::<ClusterEvent>, 3),
        ("label", survives::<Label>, 4),
        ("comparison", |_, _| (), 1),
    ];
    for (name, survives, n_min) in table {
        let (schema, examples) = (Schema::named(name), examples(name));
        assert!(examples.len() >= n_min, "{name} has {} examples", examples.len());
        for (name, example) in &examples {
            schema.check(name, example);
            survives(name, example);
        }
    }
}

/// An example that no schema claims is one that nobody validates.
#[test]
fn every_example_belongs_to_a_schema() {
    for entry in std::fs::read_dir(schemas().join("examples")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let schema = name.strip_suffix(".json").unwrap().split('-').next().unwrap();
        assert!(schemas().join(format!("{schema}.json")).exists(), "{name}");
    }
}

#[test]
fn every_field_is_described() {
    fn walk(value: &Value, path: &str, undescribed: &mut Vec<String>) {
        let Some(object) = value.as_object() else { return };
        for (name, field) in object.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let described = field.get("description").and_then(Value::as_str).is_some_and(|text| text.ends_with('.'));
            if !described {
                undescribed.push(format!("{path}.{name}"));
            }
        }
        for (name, inner) in object {
            // Conditions speak of fields that are described above them.
            if !["allOf", "if", "then", "else"].contains(&name.as_str()) {
                walk(inner, &format!("{path}.{name}"), undescribed);
            }
        }
    }
    let answers = crate::http::ANSWERS;
    for name in ["verdict", "cluster", "label", "comparison"].into_iter().chain(answers) {
        let mut undescribed = Vec::new();
        walk(&schema(name), name, &mut undescribed);
        assert!(undescribed.is_empty(), "{undescribed:#?}");
    }
}

/// The words that a type can write and the words in its schema are the same, and so are the names of the features.
#[test]
fn schema_and_types_have_the_same_words() {
    fn words<T: Serialize>(values: &[T]) -> BTreeSet<String> {
        values.iter().map(|value| serde_json::to_value(value).unwrap().as_str().unwrap().to_owned()).collect()
    }
    fn listed(schema: &Value, pointer: &str) -> BTreeSet<String> {
        let words = schema.pointer(pointer).and_then(Value::as_array).unwrap_or_else(|| panic!("{pointer}"));
        words.iter().filter_map(Value::as_str).map(str::to_owned).collect()
    }
    let verdict = schema("verdict");
    let kinds = words(&TEMPLATE_KINDS);
    for (pointer, expected) in [
        ("/properties/kind/enum", words(&[Kind::Page, Kind::Email])),
        ("/properties/outcome/enum", words(&[Outcome::Judged, Outcome::Insufficient, Outcome::Rejected])),
        ("/properties/recrawl/enum", words(&RECRAWLS)),
        ("/properties/classes/items/enum", words(&[Class::Mirror, Class::Quilt, Class::Template])),
        ("/$defs/direction/enum", words(&DIRECTIONS)),
        ("/$defs/relation/enum", words(&RELATIONS)),
        ("/$defs/mirror/properties/signals/items/enum", words(&SIGNALS)),
        ("/$defs/mirror/properties/view/enum", words(&VIEWS)),
        ("/$defs/quilt/properties/kind/enum", words(&[QuiltKind::Quilt, QuiltKind::Aggregator])),
        ("/$defs/template/properties/kind/enum", kinds.clone()),
        ("/$defs/carried/properties/via/enum", words(&VIAS)),
    ] {
        assert_eq!(listed(&verdict, pointer), expected, "{pointer}");
    }
    assert_eq!(listed(&schema("cluster"), "/properties/kind/enum"), kinds);
    let comparison = schema("comparison");
    assert_eq!(listed(&comparison, "/properties/relation/enum"), words(&RELATIONS));
    assert_eq!(listed(&comparison, "/$defs/filter/properties/signals/items/enum"), words(&SIGNALS));

    let features = serde_json::to_value(Features::default()).unwrap();
    let features: BTreeSet<String> = features.as_object().unwrap().keys().cloned().collect();
    let described = verdict.pointer("/$defs/features/properties").and_then(Value::as_object).unwrap();
    assert_eq!(described.keys().cloned().collect::<BTreeSet<_>>(), features);
    assert_eq!(listed(&verdict, "/$defs/features/required"), features);
}

const RELATIONS: [Relation; 10] = [
    Relation::Mirror,
    Relation::Boilerplate,
    Relation::Copy,
    Relation::Archive,
    Relation::ExcerptList,
    Relation::SameSite,
    Relation::Citation,
    Relation::LinkList,
    Relation::Scraping,
    Relation::SharedPassages,
];
const DIRECTIONS: [Direction; 3] = [Direction::Equal, Direction::ThisInThat, Direction::ThatInThis];
const SIGNALS: [Signal; 4] = [Signal::Digest, Signal::Imatch, Signal::Minhash, Signal::Sentences];
const VIEWS: [TextView; 4] = [TextView::Shown, TextView::Core, TextView::Full, TextView::Body];
const TEMPLATE_KINDS: [TemplateKind; 4] =
    [TemplateKind::Template, TemplateKind::LinkFarm, TemplateKind::Mirror, TemplateKind::CopyPaste];
const RECRAWLS: [Recrawl; 2] = [Recrawl::Unchanged, Recrawl::Changed];
const VIAS: [Via; 4] = [Via::Document, Via::Mirror, Via::Template, Via::Domain];

/// An original, with nothing that can be left out.
fn least(kind: Kind) -> Verdict {
    let source = Source { topic: "crawl.warc".into(), partition: 0, offset: 0, time: None };
    Verdict::bare("a".to_owned(), Some(kind), source, Outcome::Judged)
}

/// A page of all classes, with everything there is; `n` chooses among the words and the borders of the numbers.
fn fullest(n: usize) -> Verdict {
    let share = [0.0, 1.0, 0.1 + 0.2, f64::MIN_POSITIVE][n % 4];
    let url = Some("https://b.example/ü?q=\"\u{7f}\"".to_owned());
    let (relation, direction) = (RELATIONS[n % RELATIONS.len()], DIRECTIONS[n % DIRECTIONS.len()]);
    Verdict {
        url: url.clone(),
        domain: Some("b.example".to_owned()),
        source: Source {
            topic: "pages".into(),
            partition: i32::MAX,
            offset: i64::MAX,
            time: Some("2026-01-31T12:00:00.123456789Z".to_owned()),
        },
        revision: u32::MAX,
        truncated: true,
        recrawl: Some(RECRAWLS[n % RECRAWLS.len()]),
        classes: vec![Class::Mirror, Class::Quilt, Class::Template],
        cluster: Some("t-1".to_owned()),
        mirror: Some(Mirror {
            of: "b".to_owned(),
            canonical: "c".to_owned(),
            url: url.clone(),
            resemblance: share,
            overlap: share,
            containment: share,
            direction,
            relation,
            signals: SIGNALS[..n % 5].to_vec(),
            view: VIEWS[n % VIEWS.len()],
            size: u32::MAX,
            domains: 0,
        }),
        quilt: Some(Quilt {
            patch_fraction: share,
            kind: [QuiltKind::Quilt, QuiltKind::Aggregator][n % 2],
            sources: vec![
                QuiltSource { of: "b".to_owned(), url: url.clone(), share, linked: true, spans: vec![Span::new(0, 9)] },
                QuiltSource { of: "c".to_owned(), url: None, share, linked: false, spans: Vec::new() },
            ],
        }),
        template: Some(Template {
            cluster: "t-1".to_owned(),
            frame: share,
            style: share,
            bins: 128,
            size: 5,
            domains: 1,
            kind: TEMPLATE_KINDS[n % TEMPLATE_KINDS.len()],
        }),
        related: vec![Related {
            of: "d".to_owned(),
            url: None,
            relation,
            overlap: share,
            containment: share,
            direction,
        }],
        labels: VIAS
            .map(|via| Carried { label: "spam".to_owned(), via, of: "b".to_owned(), overridden: n % 2 == 1 })
            .to_vec(),
        features: Some(Features { n_words: 1e9, resemblance: share, recrawl: 2.0, ..Features::default() }),
        ..least(Kind::Page)
    }
}

fn rejected() -> Verdict {
    Verdict { kind: None, outcome: Outcome::Rejected, reason: Some("too_large".to_owned()), ..least(Kind::Page) }
}

fn cluster(n: usize) -> ClusterEvent {
    ClusterEvent {
        schema: SCHEMA,
        id: "t-1".to_owned(),
        kind_of_documents: [Kind::Page, Kind::Email][n % 2],
        size: 5,
        domains: 3,
        similarity: 0.1 + 0.2,
        rank: 3.0 * (0.1 + 0.2),
        kind: TEMPLATE_KINDS[n % TEMPLATE_KINDS.len()],
        linked: 1.0,
        copies: 0.0,
        leaders: (0..8).map(|leader| format!("leader {leader}")).collect(),
        merged_into: [None, Some("t-0".to_owned())][n % 2].clone(),
        expired: n % 3 == 2,
    }
}

#[test]
fn events_survive_json() {
    fn check<T: Serialize + DeserializeOwned + PartialEq + Debug>(schema: &Schema, event: &T) {
        let json = serde_json::to_string(event).unwrap();
        schema.check("an event", &serde_json::from_str(&json).unwrap());
        assert_eq!(&serde_json::from_str::<T>(&json).unwrap(), event, "{json}");
    }
    let verdict = Schema::named("verdict");
    check(&verdict, &least(Kind::Page));
    check(&verdict, &least(Kind::Email));
    check(&verdict, &Verdict { outcome: Outcome::Insufficient, ..least(Kind::Email) });
    check(&verdict, &rejected());
    (0..60).for_each(|n| check(&verdict, &fullest(n)));
    let clusters = Schema::named("cluster");
    (0..12).for_each(|n| check(&clusters, &cluster(n)));
    check(&clusters, &ClusterEvent { leaders: Vec::new(), expired: true, ..cluster(0) });
}

/// Each of these would be a bug in whoever makes verdicts, and the schema sees it.
#[test]
fn events_that_contradict_themselves_are_refused() {
    let schema = Schema::named("verdict");
    let refused = |what: &str, verdict: &Verdict| {
        assert!(!schema.accepts(&serde_json::to_value(verdict).unwrap()), "{what}");
    };
    for class in [Class::Mirror, Class::Quilt, Class::Template] {
        let without = |verdict: &mut Verdict| match class {
            Class::Mirror => verdict.mirror = None,
            Class::Quilt => verdict.quilt = None,
            Class::Template => verdict.template = None,
        };
        let mut wrong = fullest(0);
        without(&mut wrong);
        refused(&format!("{class:?} without its object"), &wrong);
        wrong.classes.retain(|kept| *kept != class);
        schema.check("neither class nor object", &serde_json::to_value(&wrong).unwrap());
        let mut wrong = fullest(0);
        wrong.classes.retain(|kept| *kept != class);
        refused(&format!("the object of {class:?} without the class"), &wrong);
    }
    refused("a class twice", &Verdict { classes: vec![Class::Quilt; 2], ..fullest(0) });
    refused("a template without its cluster", &Verdict { cluster: None, ..fullest(0) });
    refused("rejected without a reason", &Verdict { reason: None, ..rejected() });
    refused("judged with a reason", &Verdict { reason: rejected().reason, ..least(Kind::Page) });
    refused("judged and of no kind", &Verdict { kind: None, ..least(Kind::Page) });
    refused("rejected and a copy", &Verdict { outcome: Outcome::Rejected, reason: rejected().reason, ..fullest(0) });
    refused("rejected with features", &Verdict { features: Some(Features::default()), ..rejected() });
    refused("a copy with too little text", &Verdict { outcome: Outcome::Insufficient, ..fullest(0) });
    refused("a mail with a URL", &Verdict { url: Some("https://a.example/".to_owned()), ..least(Kind::Email) });
    refused("another schema", &Verdict { schema: SCHEMA + 1, ..least(Kind::Page) });
    let features = |features| Verdict { features: Some(features), ..least(Kind::Page) };
    refused("a share above 1", &features(Features { overlap: 1.5, ..Features::default() }));
    refused("a count below 0", &features(Features { n_words: -1.0, ..Features::default() }));
    refused("not a number", &features(Features { style: f64::NAN, ..Features::default() }));

    let mut wrong = serde_json::to_value(least(Kind::Page)).unwrap();
    wrong["surprise"] = 1.into();
    assert!(!schema.accepts(&wrong), "an unknown field");

    let schema = Schema::named("cluster");
    let wrong = [
        ("no leader", ClusterEvent { leaders: Vec::new(), ..cluster(0) }),
        ("nine leaders", ClusterEvent { leaders: (0..9).map(|n| n.to_string()).collect(), ..cluster(0) }),
        ("no member", ClusterEvent { size: 0, ..cluster(0) }),
        ("a share above 1", ClusterEvent { copies: 1.01, ..cluster(0) }),
    ];
    for (what, wrong) in wrong {
        assert!(!schema.accepts(&serde_json::to_value(wrong).unwrap()), "{what}");
    }
}

#[test]
fn label_schema_and_reader_agree() {
    let schema = Schema::named("label");
    let good = example("label-document");
    let with = |field: &str, value: Value| {
        let mut label = good.clone();
        label[field] = value;
        label
    };
    let without = |field: &str| {
        let mut label = good.clone();
        label.as_object_mut().unwrap().remove(field);
        label
    };
    let accepted = [
        good.clone(),
        with("label", json!("x")),
        with("label", json!("あ".repeat(64))),
        with("label", json!("needs a look")),
        with("why", json!("")),
        with("undo", json!(true)),
        with("undo", json!(false)),
        with("target", json!({"document": " any id\n"})),
        with("target", json!({"document": "x".repeat(2048)})),
        with("target", json!({"cluster": "t-1"})),
        with("target", json!({"domain": "a.example"})),
        with("target", json!({"domain": "xn--bcher-kva.example"})),
        with("at", json!("2026-01-31T12:00:00.123+05:30")),
        with("at", json!("2026-01-31t12:00:00z")),
        with("named", json!("m-2")),
        example("label-taken-back"),
    ];
    let refused = [
        json!([]),
        json!(null),
        json!(["document", "spam", "ada", "", "2026-01-31T12:00:00Z"]),
        without("target"),
        without("label"),
        without("by"),
        without("why"),
        without("at"),
        with("label", json!("")),
        with("label", json!("あ".repeat(65))),
        with("label", json!("allow ")),
        with("label", json!("\u{3000}allow")),
        with("label", json!("al\u{0}low")),
        with("label", json!("allow\n")),
        with("label", json!("al\u{85}low")),
        with("label", json!(7)),
        with("label", json!(null)),
        with("by", json!("")),
        with("by", json!("a\u{1b}[31m")),
        with("by", json!("x".repeat(257))),
        with("why", json!("two\nlines")),
        with("why", json!("x".repeat(1025))),
        with("why", json!(null)),
        with("at", json!("yesterday")),
        with("at", json!("2026-01-31")),
        with("at", json!("2026-01-31T12:00:00")),
        with("at", json!("2026-01-31T12:00Z")),
        with("at", json!("2026-01-31 12:00:00Z")),
        with("at", json!("2026-01-31T12:00:00+0100")),
        with("at", json!("2026-01-31T12:00:00+01:00[Europe/Berlin]")),
        with("at", json!("2026-02-30T12:00:00Z")),
        with("at", json!("2026-01-31T12:00:00,5Z")),
        with("at", json!(1769860800)),
        with("named", json!("")),
        with("named", json!(null)),
        with("undone_by", json!("ada")),
        json!({"target": {"cluster": "t-1"}, "label": "x", "by": "y", "why": "", "at": "2026-01-31T12:00:00Z", "named": "d"}),
        with("undo", json!("true")),
        with("undo", json!(null)),
        with("target", json!("m-1")),
        with("target", json!(["m-1"])),
        with("target", json!({})),
        with("target", json!({"document": ""})),
        with("target", json!({"document": null})),
        with("target", json!({"document": "x".repeat(2049)})),
        with("target", json!({"document": "a", "cluster": "b"})),
        with("target", json!({"document": "a", "cluster": null})),
        with("target", json!({"cluster": ""})),
        with("target", json!({"host": "a.example"})),
        with("target", json!({"domain": ""})),
        with("target", json!({"domain": "localhost"})),
        with("target", json!({"domain": "A.example"})),
        with("target", json!({"domain": "bücher.example"})),
        with("target", json!({"domain": "a.example."})),
        with("target", json!({"domain": "https://a.example/"})),
        with("target", json!({"domain": format!("{}.example", "x".repeat(250))})),
        with("surprise", json!(1)),
    ];
    for (labels, good) in [(&accepted[..], true), (&refused[..], false)] {
        for label in labels {
            let shown: String = label.to_string().chars().take(200).collect();
            assert_eq!(schema.accepts(label), good, "schemas/label.json on {shown}");
            let read = Label::from_json(label.to_string().as_bytes());
            assert_eq!(read.is_ok(), good, "the reader on {shown}: {read:?}");
        }
    }
    // What only a list of public suffixes can know.
    let host = with("target", json!({"domain": "www.a.example"}));
    assert!(schema.accepts(&host) && Label::from_json(host.to_string().as_bytes()).is_err());
}
