//! What comes, and what goes, after a document was judged.

use super::super::articles::sentences;
use super::super::{Input, is, judged_exactly};
use super::{at, patches, sources, told};
use seamripper::config::Settings;
use seamripper::verdict::event::{Class, Verdict};
use std::collections::BTreeSet;

fn article(number: u64) -> Input {
    at(&format!("http://article{number}.example/"), &sentences(number, 0..20))
}

/// Two quilts share half of what the first is made of. That the second is made of others too is known when the last article has come; it
/// is no quilt itself, having two sources.
#[test]
fn that_a_document_is_made_of_others_is_told_to_those_before_it() {
    const QUILT: &str = "http://quilt.example/";
    let quilt = at(QUILT, &patches([0, 1, 2, 3]));
    let other = at("http://other.example/", &[&patches([0, 1, 2, 3])[..10], &sentences(4, 0..15)].concat());
    let fifth = at("http://article4.example/", &sentences(4, 0..40));
    let articles: Vec<Input> = (0..4).map(article).collect();
    let before = vec![quilt, other];
    for inputs in [
        [before.clone(), articles.clone(), vec![fifth.clone()]].concat(),
        [before.clone(), vec![fifth.clone()], articles.clone()].concat(),
        [articles, vec![fifth], before].concat(),
    ] {
        let exact = judged_exactly(inputs.clone(), &Settings::default());
        let streamed: Vec<Verdict> = told(inputs, &Settings::default()).into_values().collect();
        for (way, verdicts) in [("exact", &exact), ("stream", &streamed)] {
            let quilts: Vec<&Verdict> = verdicts.iter().filter(|verdict| is(verdict, Class::Quilt)).collect();
            assert_eq!(quilts.iter().map(|verdict| &*verdict.id).collect::<Vec<_>>(), [QUILT], "{way}");
            let all: Vec<String> = (0..4).map(|number| format!("http://article{number}.example/")).collect();
            assert_eq!(sources(quilts[0]), all.iter().map(String::as_str).collect(), "{way}");
        }
    }
}

/// A page was made of three articles, one of which has since become another page. Whoever takes a fourth passage from it does not make
/// it a quilt, and has it as a source.
#[test]
fn who_has_given_way_is_no_source() {
    let taken = at("http://taken.example/", &patches([0, 1, 2, 3]));
    let changed = at("http://article0.example/", &sentences(70, 0..20));
    let quilt = at("http://quilt.example/", &[&patches([0, 1, 2, 3])[15..], &patches([4, 5, 6, 7])[..15]].concat());
    let mut inputs: Vec<Input> = (0..3).map(article).collect();
    inputs.extend([taken, changed, article(4), article(5), article(6), quilt]);
    let told = told(inputs, &Settings::default());
    let expected: BTreeSet<&str> =
        ["http://taken.example/", "http://article4.example/", "http://article5.example/", "http://article6.example/"]
            .into();
    assert_eq!(sources(&told["http://quilt.example/"]), expected);
    assert!(!is(&told["http://taken.example/"], Class::Quilt));
}
