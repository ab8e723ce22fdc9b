//! The exhaustive answer on made texts, where it is known.

use super::articles::sentences;
use super::corpora::text_page;
use super::{Input, arranged, by_id, folded, is, judged, judged_exactly, records};
use seamripper::config::{QuiltSettings, Settings};
use seamripper::pipeline::exact::judge_exact_on;
use seamripper::signature::keyed::mix;
use seamripper::verdict::event::{Class, Outcome, Recrawl, Verdict};
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::num::NonZeroUsize;

/// Sentences of an article.
type Piece = (u64, std::ops::Range<u64>);

fn text(id: &str, pieces: &[Piece]) -> Input {
    let lines: Vec<String> = pieces.iter().map(|(of, range)| sentences(*of, range.clone()).join(" ")).collect();
    text_page(id, None, &lines.join("\n"))
}

fn article(number: u64) -> Input {
    text(&format!("article/{number}"), &[(number, 0..12)])
}

/// Forty articles, copies of five that lack a sentence, and six texts of three sentences of each of five others.
fn corpus() -> Vec<Input> {
    let mut all: Vec<Input> = (0..40).map(article).collect();
    all.extend((0..5).map(|number| text(&format!("copy/{number}"), &[(number, 0..7), (number, 8..12)])));
    for number in 0..6 {
        let piece = |of: u64| (10 + 5 * number + of, of..of + 3);
        all.push(text(&format!("quilt/{number}"), &(0..5).map(piece).collect::<Vec<_>>()));
    }
    all
}

fn named(verdict: &Verdict) -> Vec<&str> {
    let mut named: Vec<&str> =
        verdict.quilt.iter().flat_map(|quilt| quilt.sources.iter().map(|source| source.of.as_str())).collect();
    named.sort_unstable();
    named
}

#[test]
fn a_stream_that_forgets_nothing_says_the_same() {
    let settings = Settings::default();
    for order in 0..4 {
        let inputs = arranged(&corpus(), order);
        let exact = judged_exactly(inputs.clone(), &settings);
        let stream = folded(&judged(inputs, &settings));
        assert_eq!(exact.len(), stream.len());
        for (exact, stream) in exact.iter().zip(&stream) {
            assert_eq!((&exact.id, exact.revision), (&stream.id, 0));
            assert_eq!(exact.classes, stream.classes, "{} in order {order}", exact.id);
            let of = |verdict: &Verdict| verdict.mirror.as_ref().map(|mirror| mirror.of.clone());
            assert_eq!(of(exact), of(stream), "{} in order {order}", exact.id);
            assert_eq!(named(exact), named(stream), "{} in order {order}", exact.id);
        }
        let n = |class: Class| exact.iter().filter(|verdict| is(verdict, class)).count();
        assert_eq!((n(Class::Mirror), n(Class::Quilt)), (5, 6), "order {order}");
    }
}

#[test]
fn threads_never_show_in_the_exact_answer() {
    let on = |n_threads| {
        let n_threads = NonZeroUsize::new(n_threads).unwrap();
        judge_exact_on(records(corpus()), &Settings::default(), n_threads).unwrap()
    };
    let alone = on(1);
    assert_eq!(alone.len(), corpus().len());
    assert_eq!(alone, on(3));
}

/// An original that four quilts took all of, with four more sources each.
fn plundered() -> (Vec<Input>, Vec<Input>) {
    let quilt = |number: u64| {
        let mut pieces: Vec<Piece> = (0..4).map(|other| (1 + 4 * number + other, 0..3)).collect();
        pieces.push((0, 3 * number..3 * number + 3));
        text(&format!("quilt/{number}"), &pieces)
    };
    ((0..17).map(article).collect(), (0..4).map(quilt).collect())
}

#[test]
fn a_plundered_original_is_no_quilt() {
    let (articles, quilts) = plundered();
    for inputs in [[&articles[..], &quilts].concat(), [&quilts[..], &articles].concat()] {
        let verdicts = judged_exactly(inputs, &Settings::default());
        for verdict in &verdicts {
            assert_eq!(is(verdict, Class::Quilt), verdict.id.starts_with("quilt/"), "{}", verdict.id);
        }
        assert!(named(by_id(&verdicts)["quilt/2"]).contains(&"article/0"));
    }
    // Without the rule the relation is symmetric.
    let mut settings = Settings::default();
    settings.quilt.quilts_are_sources = true;
    let verdicts = judged_exactly([&articles[..], &quilts].concat(), &settings);
    assert!(is(by_id(&verdicts)["article/0"], Class::Quilt));
}

#[test]
fn what_many_others_hold_is_no_patch() {
    let quilt = text("quilt", &(0..5).map(|of| (of, 0..3)).collect::<Vec<_>>());
    // Three texts hold each passage, and are not alike otherwise.
    let holder = |number: u64| text(&format!("holder/{number}"), &[(number % 5, 0..3), (100 + number, 0..9)]);
    let inputs: Vec<Input> = (0..15).map(holder).chain([quilt]).collect();
    let is_quilt = |gram_df_max: u8| {
        let mut settings = Settings::default();
        settings.quilt.gram_df_max = gram_df_max;
        is(by_id(&judged_exactly(inputs.clone(), &settings))["quilt"], Class::Quilt)
    };
    assert!(is_quilt(3), "three others hold a gram");
    assert!(!is_quilt(2));
}

/// Najork's rule and nothing else: what docs/CLASSES.md names.
pub(super) fn paper() -> Settings {
    let mut settings = Settings::default();
    settings.grams.window = NonZeroUsize::MIN;
    settings.quilt = QuiltSettings {
        bridge_words: 0,
        bridge_characters: 0,
        source_grams_min: 1,
        source_grams_min_unspaced: 1,
        source_own_min: 0.0,
        quilts_are_sources: true,
        quoters_are_sources: true,
        parts_are_sources: true,
        ..settings.quilt
    };
    settings
}

/// Najork 2012, as it is written there: the share of patch grams, and the number of sources of the greedy cover.
fn defined(texts: &[BTreeSet<Vec<&str>>], this: usize, m: usize) -> (f64, usize) {
    let n_docs = |gram: &Vec<&str>| texts.iter().filter(|text| text.contains(gram)).count();
    let mut open: BTreeSet<&Vec<&str>> =
        texts[this].iter().filter(|gram| (2..=m + 1).contains(&n_docs(gram))).collect();
    let fraction = open.len() as f64 / texts[this].len() as f64;
    let held = |text: &BTreeSet<Vec<&str>>, open: &BTreeSet<&Vec<&str>>| {
        open.iter().filter(|gram| text.contains(**gram)).count()
    };
    // The paper says nothing of equals: here as there, who has more in all, then the older.
    let mut others: Vec<_> = texts.iter().enumerate().filter(|(other, _)| *other != this).collect();
    others.sort_by_key(|(_, text)| Reverse(held(text, &open)));
    let mut n_sources = 0;
    while !open.is_empty() {
        let (_, best) = others.iter().rev().max_by_key(|(_, text)| held(text, &open)).unwrap();
        open.retain(|gram| !best.contains(*gram));
        n_sources += 1;
    }
    (fraction, n_sources)
}

#[test]
fn the_papers_rule_is_a_matter_of_settings() {
    // Stitched from one to six articles, and something of its own; some take from the same ones.
    let mut pieces: Vec<Vec<Piece>> = (0..12).map(|number| vec![(number, 0..12)]).collect();
    for number in 0..24_u64 {
        let piece = |of: u64| {
            let (article, first) = ((mix(number, 0) % 12 + 5 * of) % 12, mix(number, 100 + of) % 9);
            (article, first..first + 2 + (number + of) % 2)
        };
        pieces.push((0..1 + number % 6).map(piece).chain([(100 + number, 0..number / 6)]).collect());
    }
    let inputs: Vec<Input> = pieces.iter().zip(0..).map(|(pieces, n)| text(&format!("text/{n}"), pieces)).collect();
    let bodies: Vec<String> = inputs
        .iter()
        .map(|input| String::from_utf8(input.record.body.clone()).unwrap().to_lowercase().replace('.', ""))
        .collect();
    let words: Vec<Vec<&str>> = bodies.iter().map(|body| body.split_whitespace().collect()).collect();
    let texts: Vec<BTreeSet<Vec<&str>>> =
        words.iter().map(|words| words.windows(5).map(<[&str]>::to_vec).collect()).collect();
    for gram_df_max in [50, 2] {
        let mut settings = paper();
        settings.quilt.gram_df_max = gram_df_max;
        // Copies are of one group here, and the paper knows no groups.
        settings.mirror.resemblance_min = 1.0;
        let exact = judged_exactly(inputs.clone(), &settings);
        let mut n_quilts = 0;
        for (this, verdict) in exact.iter().enumerate() {
            let (fraction, n_sources) = defined(&texts, this, gram_df_max.into());
            let features = verdict.features.unwrap();
            assert!((features.patch_fraction - fraction).abs() < 1e-9, "{}: {features:?}, {fraction}", verdict.id);
            assert_eq!(features.n_sources, n_sources as f64, "{}", verdict.id);
            assert_eq!(is(verdict, Class::Quilt), fraction >= 0.5 && n_sources >= 4, "{}", verdict.id);
            n_quilts += usize::from(is(verdict, Class::Quilt));
        }
        assert!((gram_df_max == 2 || n_quilts >= 4) && n_quilts < 30, "{n_quilts} quilts of {}", exact.len());
        // The stream does not take back what becomes too common later.
        if gram_df_max == 2 {
            continue;
        }
        let stream = folded(&judged(inputs.clone(), &settings));
        let n_alike = exact.iter().zip(&stream).filter(|(exact, stream)| exact.classes == stream.classes).count();
        println!("{n_quilts} quilts by the paper's rule, {n_alike} of {} alike in the stream", exact.len());
        assert!(n_alike * 10 >= exact.len() * 9, "{n_alike} of {}", exact.len());
    }
}

#[test]
fn every_record_has_one_verdict_in_its_place() {
    let mut unread = article(1);
    unread.record.carrier.content_type = Some("image/png".to_owned());
    unread.record.carrier.id = Some("picture".to_owned());
    let mut inputs = vec![article(0), unread, article(2), article(0)];
    inputs.push(text("article/2", &[(7, 0..12)]));
    let verdicts = judged_exactly(inputs, &Settings::default());
    let said: Vec<(&str, Outcome, Option<Recrawl>)> =
        verdicts.iter().map(|verdict| (verdict.id.as_str(), verdict.outcome, verdict.recrawl)).collect();
    assert_eq!(
        said,
        [
            ("article/0", Outcome::Judged, None),
            ("picture", Outcome::Rejected, None),
            ("article/2", Outcome::Judged, None),
            ("article/0", Outcome::Judged, Some(Recrawl::Unchanged)),
            ("article/2", Outcome::Judged, Some(Recrawl::Changed)),
        ]
    );
    assert!(verdicts.iter().all(|verdict| verdict.classes.is_empty()), "nobody is a copy of itself");
}
