//! The filter is a serial fold: threads, the cut into batches and saving in between never show, bit for bit.
//!
//! The stores are so small that groups, leaders, keys and standings give way all the time: whoever died within a batch is
//! where a difference would hide. The whole state is compared too: what differs there would show later.

use crate::made::{Dice, Made, arrivals, stream};
use seamripper::config::{Canonical, Settings};
use seamripper::document::Kind;
use seamripper::pipeline::filter::{Event, Filter};
use seamripper::pipeline::{Steps, lexicon};
use seamripper::store::{Arrival, Clerk};
use seamripper::verdict::event::Via;
use seamripper::verdict::label::Label;
use seamripper::verdict::labels::Labels;

pub(crate) fn filter(settings: &Settings) -> Filter {
    Filter::new(settings, Labels::new(0), 7)
}

pub(crate) fn line(event: &Event) -> String {
    match event {
        Event::Verdict(verdict) => serde_json::to_string(verdict),
        Event::Cluster(cluster) => serde_json::to_string(cluster),
    }
    .unwrap()
}

/// What was said, and the state after it.
struct Told {
    lines: Vec<String>,
    saved: Vec<u8>,
}

/// Folds `arrivals` in batches and on threads as `next` says; `true` saves and loads before the batch.
fn folded(arrivals: &[Arrival], settings: &Settings, mut next: impl FnMut() -> (usize, usize, bool)) -> Told {
    let (mut filter, mut lines, mut rest) = (self::filter(settings), Vec::new(), arrivals);
    while !rest.is_empty() {
        let (n, n_threads, saves) = next();
        if saves {
            let saved = filter.save().unwrap();
            filter = self::filter(settings);
            filter.load(&saved).unwrap();
            assert!(filter.save().unwrap() == saved, "what was loaded saves as it was");
        }
        let (batch, after) = rest.split_at(n.min(rest.len()));
        filter.fold(batch, n_threads, |event| lines.push(line(&event)));
        rest = after;
    }
    filter.settle_revisions(|event| lines.push(line(&event)));
    Told { lines, saved: filter.save().unwrap() }
}

fn assert_alike(one: &Told, other: &Told, how: &str) {
    for (number, (a, b)) in one.lines.iter().zip(&other.lines).enumerate() {
        assert_eq!(a, b, "{how}: event {number}");
    }
    assert_eq!(one.lines.len(), other.lines.len(), "{how}");
    assert!(one.saved == other.saved, "{how}: the states differ");
}

/// Settings with a store of so many bytes, its queue included.
pub(crate) fn small(memory: usize) -> Settings {
    let mut settings = Settings::default();
    settings.store.memory = memory;
    settings.revisions.queue_max = 40;
    settings
}

/// One setting after the other that makes the fold do something else.
pub(crate) fn variants() -> Vec<(&'static str, Settings)> {
    let with = |memory: usize, change: fn(&mut Settings)| {
        let mut settings = small(memory);
        change(&mut settings);
        settings
    };
    vec![
        ("1 MiB", small(1 << 20)),
        ("a third", small(350_000)),
        ("almost nothing", small(40_000)),
        ("hours to live", with(500_000, |settings| settings.store.ttl_hours = 2)),
        ("the longest is preferred", with(350_000, |settings| settings.mirror.canonical = Canonical::Longest)),
        (
            "all kinds together, quilts are sources",
            with(500_000, |settings| {
                settings.store.cross_kinds = true;
                settings.quilt.quilts_are_sources = true;
                settings.quilt.foreign = false;
                settings.revisions.per_document = 1;
                settings.revisions.queue_max = 3;
            }),
        ),
        (
            "templates by little",
            with(700_000, |settings| {
                settings.template.frame_min = 0.3;
                settings.template.merge_min = 0.4;
                settings.template.bins_min = 4;
                settings.template.bins_alone_min = 8;
            }),
        ),
    ]
}

#[test]
fn threads_batches_and_snapshots_never_show() {
    for seed in [11, 12] {
        let arrivals = stream(seed, 700, &Settings::default());
        for (name, settings) in variants() {
            let serial = folded(&arrivals, &settings, || (1, 1, false));
            let mut dice = Dice::new(seed);
            for n_threads in [1, 2, 5, 16] {
                let longest = [4, 40, 200][dice.below(3)];
                let how = format!("seed {seed}, {name}, {n_threads} threads, batches of 1 to {longest}");
                let told = folded(&arrivals, &settings, || {
                    (1 + dice.below(longest), n_threads, dice.below(40) < longest.min(10))
                });
                assert_alike(&serial, &told, &how);
            }
            let one_batch = folded(&arrivals, &settings, || (arrivals.len(), 3, false));
            assert_alike(&serial, &one_batch, &format!("seed {seed}, {name}, one batch"));
        }
    }
}

/// Papers that whoever signs has made say the same as those that the store makes: under every setting, and where only some have them.
#[test]
fn papers_change_no_verdict() {
    let arrivals = stream(14, 500, &Settings::default());
    for (name, settings) in variants() {
        let (clerk, other) = (Clerk::new(&settings), Clerk::new(&Settings::default()));
        let plain = folded(&arrivals, &settings, || (37, 2, false));
        let mut with_papers = arrivals.clone();
        with_papers.iter_mut().for_each(|arrival| clerk.issue(arrival));
        assert_alike(&plain, &folded(&with_papers, &settings, || (37, 2, false)), name);
        let mut mixed = arrivals.clone();
        mixed.iter_mut().step_by(3).for_each(|arrival| clerk.issue(arrival));
        mixed.iter_mut().skip(1).step_by(3).for_each(|arrival| other.issue(arrival));
        assert_alike(&plain, &folded(&mixed, &settings, || (37, 2, false)), &format!("{name}, by several"));
    }
}

/// What is delivered again is counted nowhere again: words, groups and clusters are those of a stream that brings everything once.
#[test]
fn a_redelivered_record_counts_nothing() {
    let settings = small(64 << 20);
    let [once, twice] = [1, 2].map(|n_times| {
        let mut filter = filter(&settings);
        for arrival in &stream(13, 600, &settings) {
            (0..n_times).for_each(|_| filter.fold(std::slice::from_ref(arrival), 1, |_| {}));
        }
        let words = [Kind::Page, Kind::Email].map(|kind| filter.store().seen_words(kind));
        let census = filter.store().census();
        (words, census.n_prototypes, census.n_groups, census.n_leaders, census.n_clusters)
    });
    let n_counted = once.0.each_ref().map(|words| (words.n_documents, words.n_words));
    assert!(n_counted.iter().all(|(n_documents, n_words)| *n_documents > 50 && *n_words > 500), "{n_counted:?}");
    assert!(once == twice, "{:?} and {:?} heads", once.0[0].n_documents, twice.0[0].n_documents);
}

/// What is left out for speed decides nothing: with every signature the same is said, and the state is the same.
#[test]
fn fewer_signatures_give_the_same_verdicts() {
    for (name, settings) in variants() {
        let mut steps = Steps::new(&settings, lexicon::load(&settings).unwrap());
        let mut made = Made::new(11);
        let records: Vec<_> = (0..400).map(|_| made.record()).collect();
        let whole: Vec<_> = records.iter().map(|record| steps.sign(record).unwrap().signatures).collect();
        let fewer = arrivals(records, &settings);
        let with_all = |(arrival, signatures): (&Arrival, _)| Arrival { signatures, ..arrival.clone() };
        let more: Vec<Arrival> = fewer.iter().zip(whole).map(with_all).collect();
        let n_left_out = fewer.iter().zip(&more).filter(|(fewer, more)| fewer.signatures != more.signatures).count();
        assert!(n_left_out > 300, "{n_left_out} of {} were signed otherwise", more.len());
        let [fewer, more] = [&fewer, &more].map(|arrivals| folded(arrivals, &settings, || (30, 2, false)));
        assert_alike(&more, &fewer, name);
    }
}

/// The streams above are worth folding: everything that the filter can say is said, and everything gives way.
#[test]
fn the_made_streams_hold_everything() {
    let arrivals = stream(11, 700, &Settings::default());
    let mut lines = Vec::new();
    let mut n_gone = [0; 8];
    for (name, settings) in variants() {
        let mut filter = filter(&settings);
        arrivals.chunks(50).for_each(|batch| filter.fold(batch, 2, |event| lines.push(line(&event))));
        let (census, turned_away) = (filter.census(), filter.judge().turned_away());
        println!("{name}: {census:?} {turned_away:?}");
        let gone = census.departures;
        assert!(gone.n_evicted + gone.n_expired > 100 && gone.n_over_share > 10 && gone.n_replaced > 2, "{gone:?}");
        assert!(census.oldest_age > 0, "{census:?}");
        let counts = [gone.n_expired, census.n_leaders_evicted, turned_away.n_standings, turned_away.n_queued];
        let counts = counts.into_iter().chain(census.n_keys_pushed_out);
        n_gone.iter_mut().zip(counts).for_each(|(sum, n)| *sum += n);
    }
    assert!(n_gone.iter().all(|n| *n > 0), "{n_gone:?}");
    for (part, n_min) in [
        ("\"mirror\":{", 300),
        ("\"quilt\":{", 100),
        ("\"template\":{", 100),
        ("\"revision\":1", 50),
        ("\"recrawl\":\"changed\"", 50),
        ("\"recrawl\":\"unchanged\"", 50),
        ("\"outcome\":\"insufficient\"", 50),
        ("\"expired\":true", 5),
        ("\"related\":[{", 50),
    ] {
        let n = lines.iter().filter(|line| line.contains(part)).count();
        println!("{n} times {part}");
        assert!(n >= n_min, "{n} times {part}");
    }
}

/// Every table damaged at every few bytes, cut anywhere, and made under other settings.
#[test]
fn damaged_and_foreign_filters_are_refused_by_name() {
    let settings = small(100_000);
    let mut one = filter(&settings);
    one.fold(&stream(13, 150, &settings), 2, |_| {});
    let saved = one.save().unwrap();
    let mut dice = Dice::new(13);
    for _ in 0..400 {
        let (at, bit) = (dice.below(saved.len()), dice.below(8));
        let mut damaged = saved.clone();
        damaged[at] ^= 1 << bit;
        let refusal = filter(&settings).load(&damaged).expect_err("a changed bit is noticed").to_string();
        assert!(refusal.contains("saved store") || refusal.contains("section"), "byte {at}: {refusal}");
    }
    for cut in (0..200).map(|_| dice.below(saved.len())).chain([0, 1, 8, 15, 16, 17, saved.len() - 1]) {
        let refusal = filter(&settings).load(&saved[..cut]).expect_err("a missing end is noticed").to_string();
        assert!(refusal.contains("saved store"), "cut at {cut}: {refusal}");
    }
    let refusal = |mut other: Filter| other.load(&saved).unwrap_err().to_string();
    let other_secret = refusal(Filter::new(&settings, Labels::new(0), 8));
    assert!(other_secret.contains("secret, lexicons and signature settings"), "{other_secret}");
    for change in [
        |settings: &mut Settings| settings.store.memory += 1,
        |settings: &mut Settings| settings.mirror.cosine_min = 0.81,
        |settings: &mut Settings| settings.quilt.sources_min = 5,
        |settings: &mut Settings| settings.template.size_min = 6,
        |settings: &mut Settings| settings.revisions.per_document = 3,
    ] {
        let mut other = settings.clone();
        change(&mut other);
        let other = refusal(filter(&other));
        assert!(other.contains("[store], [mirror], [quilt], [template] and [revisions] settings"), "{other}");
    }
    filter(&settings).load(&saved).unwrap();
}

/// Folds with labels: each is put in force before the arrival of its number. Batches end there.
fn labelled(
    arrivals: &[Arrival],
    settings: &Settings,
    labels: &[(usize, &str)],
    mut next: impl FnMut() -> (usize, usize, bool),
) -> Vec<Event> {
    let label = |cluster: &str| {
        let json = format!(
            r#"{{"target":{{"cluster":"{cluster}"}},"label":"farm","by":"me","why":"","at":"2026-01-31T12:00:00Z"}}"#
        );
        Label::from_json(json.as_bytes()).unwrap()
    };
    let filter = || Filter::new(settings, Labels::new(100), 7);
    let (mut folding, mut events, mut begin) = (filter(), Vec::new(), 0);
    while begin < arrivals.len() {
        for (_, cluster) in labels.iter().filter(|(before, _)| *before == begin) {
            folding.label(label(cluster)).unwrap();
        }
        let (n, n_threads, saves) = next();
        if saves {
            let mut loaded = filter();
            loaded.load(&folding.save().unwrap()).unwrap();
            // As `run` does: labels are kept beside.
            for held in folding.labels().all() {
                loaded.label((*held).clone()).unwrap();
            }
            folding = loaded;
        }
        let borders = labels.iter().map(|(before, _)| *before).filter(|before| *before > begin);
        let end = borders.chain([begin + n, arrivals.len()]).min().unwrap();
        folding.fold(&arrivals[begin..end], n_threads, |event| events.push(event));
        begin = end;
    }
    events
}

/// Clusters become one while labels are put on them, before it and after it: what counts for the younger counts for the older.
#[test]
fn labels_follow_clusters_that_become_one() {
    let mut settings = small(4 << 20);
    settings.store.share_max = 1.0;
    (settings.template.frame_min, settings.template.merge_min) = (0.3, 0.4);
    let arrivals = stream(12, 300, &Settings::default());
    let plain = labelled(&arrivals, &settings, &[], || (1, 1, false));
    let merged = |event: &Event| match event {
        Event::Cluster(cluster) => cluster.merged_into.clone().map(|older| (cluster.id.clone(), older)),
        Event::Verdict(_) => None,
    };
    let n_before = |number: usize| {
        let is_first = |event: &&Event| matches!(event, Event::Verdict(verdict) if verdict.revision == 0);
        plain[..number].iter().filter(is_first).count()
    };
    let merges: Vec<(usize, (String, String))> =
        plain.iter().enumerate().filter_map(|(number, event)| Some((n_before(number), merged(event)?))).collect();
    assert!(merges.len() >= 2, "{merges:?}");
    let mut n_heard = 0;
    for (at, (younger, older)) in merges.iter().take(2) {
        let arrivals = &arrivals[..(at + 90).min(arrivals.len())];
        for labelled_at in [0, at + 20] {
            let labels = [(labelled_at, younger.as_str())];
            let serial = labelled(arrivals, &settings, &labels, || (1, 1, false));
            let mut dice = Dice::new(labelled_at as u64);
            let cut = labelled(arrivals, &settings, &labels, || (1 + dice.below(90), 4, dice.below(4) == 0));
            assert!(serial == cut, "{younger} at {labelled_at}");
            let verdicts = serial.iter().filter_map(|event| match event {
                Event::Verdict(verdict) if verdict.revision == 0 => Some(verdict),
                _ => None,
            });
            // The document that makes them one is the first for whom it counts.
            for (number, verdict) in verdicts.enumerate() {
                let is_in = |cluster: &str| verdict.cluster.as_deref() == Some(cluster);
                let counts = is_in(younger) || is_in(older) && number + 1 >= *at;
                let heirs = merges.iter().filter(|(_, (gone, _))| gone == older);
                let is_sure = heirs.count() == 0 && (number + 1 < *at || number > *at);
                let heard = verdict.labels.iter().any(|label| label.of == *younger && label.via == Via::Template);
                if is_sure && (is_in(younger) || is_in(older)) {
                    assert_eq!(
                        heard,
                        counts && number >= labelled_at,
                        "{number} of {younger} into {older} at {at}: {verdict:?}"
                    );
                    n_heard += usize::from(heard && is_in(older));
                }
            }
        }
    }
    assert!(n_heard > 0, "nobody was in a cluster that has taken a labelled one in");
}
