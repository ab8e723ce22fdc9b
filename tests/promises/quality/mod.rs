//! How good the verdicts are: on real corpora against labels and exhaustive comparison, and on made scenes.
//!
//! Every measurement takes verdict events as they are published and labels as the corpora give them, prints its figures
//! (`cargo test --release quality:: -- --nocapture`) and holds them against a bar. A plain `cargo test` looks at a part of
//! each corpus in one order; `SEAMRIPPER_QUALITY=full` looks at all of it, in all orders.
//!
//! The figures are only worth what the measuring is: each file measures made verdicts whose figures are known by hand
//! beside the real ones.

mod articles;
mod corpora;
mod events;
mod exact;
mod mail;
mod quilts;
mod relations;
mod scenes;
mod stitched;
mod template;
mod versions;

use seamripper::config::Settings;
use seamripper::document::Record;
use seamripper::pipeline::{self, Signed, Steps};
use seamripper::signature::keyed::mix;
use seamripper::verdict::event::{Class, ClusterEvent, Verdict};
use seamripper::verdict::relation::Relation;
use std::collections::{HashMap, HashSet};

/// The one place where records become verdicts. What comes out is valid by its schema.
mod scan {
    use super::{ClusterEvent, Record, Settings, Verdict, events};

    /// All events in order, revisions included.
    pub(super) fn judge(records: Vec<Record>, settings: &Settings, n_threads: usize) -> Vec<Verdict> {
        judge_clusters(records, settings, n_threads).0
    }

    /// The same with every style cluster of two pages and more as it is in the end, those merged into others included.
    pub(super) fn judge_clusters(
        records: Vec<Record>,
        settings: &Settings,
        n_threads: usize,
    ) -> (Vec<Verdict>, Vec<ClusterEvent>) {
        let (verdicts, clusters) = seamripper::pipeline::scan::judge(records, settings, n_threads).unwrap();
        events::check_verdicts(&verdicts);
        events::check_clusters(&clusters);
        (verdicts, clusters)
    }

    /// The exhaustive answer, one verdict a document.
    pub(super) fn judge_exact(records: Vec<Record>, settings: &Settings) -> Vec<Verdict> {
        let verdicts = seamripper::pipeline::exact::judge_exact(records, settings).unwrap();
        events::check_verdicts(&verdicts);
        verdicts
    }
}

/// Measuring and judging share the machine with other tests.
const N_THREADS: usize = 2;

/// A document in its place in the order of arrival.
#[derive(Clone)]
pub(crate) struct Input {
    pub(crate) record: Record,
}

impl Input {
    /// The id that its verdicts bear.
    pub(crate) fn id(&self) -> &str {
        self.record.carrier.id.as_deref().expect("every input of a measurement has an id")
    }
}

/// The events of a stream of `inputs`.
pub(crate) fn judged(inputs: Vec<Input>, settings: &Settings) -> Vec<Verdict> {
    scan::judge(records(inputs), settings, N_THREADS)
}

/// The events of a stream of `inputs`, and its clusters as they are in the end.
pub(crate) fn judged_clusters(inputs: Vec<Input>, settings: &Settings) -> (Vec<Verdict>, Vec<ClusterEvent>) {
    scan::judge_clusters(records(inputs), settings, N_THREADS)
}

/// The exhaustive answer.
pub(crate) fn judged_exactly(inputs: Vec<Input>, settings: &Settings) -> Vec<Verdict> {
    scan::judge_exact(records(inputs), settings)
}

fn records(inputs: Vec<Input>) -> Vec<Record> {
    inputs.into_iter().map(|input| input.record).collect()
}

/// The last event of each id, in the order of their first.
pub(crate) fn folded(events: &[Verdict]) -> Vec<Verdict> {
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut last: Vec<&Verdict> = Vec::new();
    for event in events {
        match places.get(event.id.as_str()) {
            Some(&place) => last[place] = event,
            None => {
                places.insert(&event.id, last.len());
                last.push(event);
            }
        }
    }
    last.into_iter().cloned().collect()
}

/// Whether a folded verdict has a class.
pub(crate) fn is(verdict: &Verdict, class: Class) -> bool {
    verdict.classes.contains(&class)
}

/// Folded verdicts by id.
pub(crate) fn by_id(verdicts: &[Verdict]) -> HashMap<&str, &Verdict> {
    verdicts.iter().map(|verdict| (verdict.id.as_str(), verdict)).collect()
}

/// The groups of near copies that folded verdicts tell of.
#[derive(Default)]
pub(crate) struct Groups {
    /// The head of every copy.
    heads: HashMap<String, String>,
}

impl Groups {
    pub(crate) fn of(verdicts: &[Verdict]) -> Self {
        let copies = verdicts.iter().filter_map(|verdict| Some((verdict.id.clone(), copied(verdict)?.to_owned())));
        Self { heads: copies.collect() }
    }

    /// The head of the group of `id`: itself, where it is no copy.
    pub(crate) fn head<'a>(&'a self, id: &'a str) -> &'a str {
        self.heads.get(id).map_or(id, String::as_str)
    }

    /// Whether two are in one group.
    pub(crate) fn joined(&self, a: &str, b: &str) -> bool {
        self.head(a) == self.head(b)
    }

    /// Every group of two and more, ascending: its head, and its members without the head.
    pub(crate) fn all(&self) -> Vec<(&str, Vec<&str>)> {
        let mut members: HashMap<&str, Vec<&str>> = HashMap::new();
        for (copy, head) in &self.heads {
            members.entry(head).or_default().push(copy);
        }
        let mut groups: Vec<_> = members.into_iter().collect();
        groups.iter_mut().for_each(|(_, members)| members.sort_unstable());
        groups.sort_unstable();
        groups
    }
}

/// The head whose group a document is in, unless it is a head itself. A page that is a part of another (or has another
/// as its part) is called a mirror too and stays its own head: sentences that make one a part of the other and not the same
/// have a Jaccard coefficient of 0.43 at most.
pub(crate) fn copied(verdict: &Verdict) -> Option<&str> {
    let mirror = verdict.mirror.as_ref()?;
    let is_part = matches!(mirror.relation, Relation::Archive | Relation::ExcerptList);
    (!is_part).then_some(mirror.of.as_str())
}

/// Whether everything is to be measured, however long it takes.
pub(crate) fn is_full() -> bool {
    std::env::var_os("SEAMRIPPER_QUALITY").is_some_and(|value| value == "full")
}

/// One of every `n`, where not everything is to be measured.
pub(crate) fn sampled<T>(items: Vec<T>, n: usize) -> Vec<T> {
    let n = if is_full() { 1 } else { n };
    items.into_iter().step_by(n).collect()
}

/// The orders to measure in: 0 is file order, others are seeds of [`arranged`].
pub(crate) fn orders(n_shuffled: u64) -> std::ops::RangeInclusive<u64> {
    0..=if is_full() { n_shuffled } else { 0 }
}

/// `items` in order number `order`: 0 leaves them, others shuffle, each in its own way.
pub(crate) fn arranged<T: Clone>(items: &[T], order: u64) -> Vec<T> {
    let mut items = items.to_vec();
    if order > 0 {
        for place in (1..items.len()).rev() {
            items.swap(place, (mix(order, place as u64) % (place as u64 + 1)) as usize);
        }
    }
    items
}

/// The default settings with another size of the store, in bytes.
pub(crate) fn with_memory(n_bytes: usize) -> Settings {
    let environment = [("SEAMRIPPER_STORE__MEMORY".to_owned(), n_bytes.to_string())];
    Settings::load(None, &environment).unwrap_or_else(|problems| panic!("{problems}"))
}

/// What `look` sees in every document, signed by the settings; `None` for what is rejected.
pub(crate) fn each_signed<T: Send>(
    inputs: &[Input],
    settings: &Settings,
    look: impl Fn(&Signed<'_>) -> T + Sync,
) -> Vec<Option<T>> {
    let lexicons = pipeline::lexicon::load(settings).unwrap();
    let share = inputs.len().div_ceil(N_THREADS).max(1);
    std::thread::scope(|scope| {
        let (lexicons, look) = (&lexicons, &look);
        let sign = |part: &[Input]| -> Vec<Option<T>> {
            let mut steps = Steps::new(settings, lexicons.clone());
            part.iter().map(|input| steps.sign(&input.record).ok().map(|signed| look(&signed))).collect()
        };
        let threads: Vec<_> = inputs.chunks(share).map(|part| scope.spawn(move || sign(part))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    })
}

/// A share of a count, 1 where there is nothing to count.
pub(crate) fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

/// A list for people, cut where it gets long.
pub(crate) fn print_list(title: &str, lines: &[String]) {
    const LINES_MAX: usize = 40;
    if !lines.is_empty() {
        println!("  {title}: {}", lines.len());
    }
    for line in lines.iter().take(LINES_MAX) {
        println!("    {line}");
    }
    if lines.len() > LINES_MAX {
        println!("    and {} more", lines.len() - LINES_MAX);
    }
}

/// Every verdict is about a document that was sent, and every document has one.
pub(crate) fn assert_complete(ids: impl IntoIterator<Item = String>, verdicts: &[Verdict]) {
    let sent: HashSet<String> = ids.into_iter().collect();
    let judged: HashSet<&str> = verdicts.iter().map(|verdict| verdict.id.as_str()).collect();
    let missing: Vec<&String> = sent.iter().filter(|id| !judged.contains(id.as_str())).take(3).collect();
    assert!(missing.is_empty(), "{} of {} have a verdict; {missing:?} have not", judged.len(), sent.len());
    assert_eq!(judged.len(), sent.len(), "verdicts on documents that were not sent");
}

/// Verdicts made by hand, for checking the measuring itself.
pub(crate) mod made {
    use super::*;
    use seamripper::document::{Kind, Span};
    use seamripper::verdict::event::{Mirror, Outcome, Quilt, QuiltKind, QuiltSource, Source, TextView};
    use seamripper::verdict::relation::Direction;

    /// An original.
    pub(crate) fn original(id: &str) -> Verdict {
        Verdict::bare(id.into(), Some(Kind::Page), Source::default(), Outcome::Judged)
    }

    /// A copy.
    pub(crate) fn copy(id: &str, of: &str) -> Verdict {
        let mirror = Mirror {
            of: of.into(),
            canonical: of.into(),
            url: None,
            resemblance: 0.95,
            overlap: 0.9,
            containment: 0.9,
            direction: Direction::Equal,
            relation: Relation::Copy,
            signals: Vec::new(),
            view: TextView::Shown,
            size: 2,
            domains: 1,
        };
        Verdict { classes: vec![Class::Mirror], mirror: Some(mirror), ..original(id) }
    }

    /// A quilt of sources with their spans.
    pub(crate) fn quilt(id: &str, sources: &[(&str, Span)]) -> Verdict {
        let share = 1.0 / sources.len() as f64;
        let source = |&(of, span): &(&str, Span)| QuiltSource {
            of: of.into(),
            url: None,
            share,
            linked: false,
            spans: vec![span],
        };
        let sources = sources.iter().map(source).collect();
        let quilt = Quilt { patch_fraction: 1.0, kind: QuiltKind::Quilt, sources };
        Verdict { classes: vec![Class::Quilt], quilt: Some(quilt), ..original(id) }
    }
}

#[test]
fn the_last_event_of_an_id_holds() {
    let events = [made::original("a"), made::copy("b", "a"), made::copy("a", "c"), made::original("b")];
    let folded = folded(&events);
    assert_eq!(folded, [made::copy("a", "c"), made::original("b")]);
    let groups = Groups::of(&folded);
    assert_eq!(groups.all(), [("c", vec!["a"])]);
    assert!(groups.joined("a", "c") && !groups.joined("a", "b"));
}

#[test]
fn a_part_is_no_member() {
    let mut part = made::copy("b", "a");
    let mirror = part.mirror.as_mut().unwrap();
    (mirror.relation, mirror.resemblance) = (Relation::ExcerptList, 0.2);
    assert_eq!((copied(&part), copied(&made::copy("b", "a"))), (None, Some("a")));
}

#[test]
fn orders_hold_the_same_in_another_order() {
    let items: Vec<u32> = (0..100).collect();
    assert_eq!(arranged(&items, 0), items);
    let [one, other] = [arranged(&items, 1), arranged(&items, 2)];
    assert!(one != items && one != other);
    let mut sorted = one.clone();
    sorted.sort_unstable();
    assert_eq!((sorted, arranged(&items, 1)), (items, one));
}
