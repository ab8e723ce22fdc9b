//! The lexicon of a store: exact while there is room, and with a stated error beyond.

use super::{envelope, lines, seamripper, words};
use seamripper::signature::lexicon::Lexicon;
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};

/// Pages with known words, ten of them copied; and in how many pages each word stands.
fn counted_pages(n: u64, n_different: f64) -> (String, HashMap<String, u32>) {
    let (mut lines, mut exact) = (String::new(), HashMap::new());
    for page in 0..n {
        let words = words(page, 120, n_different);
        lines += &envelope(&format!("p{page}"), &words.join(" "));
        if page % (n / 10) == 0 {
            lines += &envelope(&format!("copy{page}"), &words.join(" "));
        }
        for word in words.into_iter().collect::<BTreeSet<_>>() {
            *exact.entry(word).or_insert(0) += 1;
        }
    }
    (lines, exact)
}

/// The lexicon of a store that has seen `pages`, and what the command says of it.
fn lexicon(pages: &str, environment: &[(&str, &str)]) -> (Lexicon, Value) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("pages.jsonl"), pages).unwrap();
    let with = |arguments: &[&str]| {
        let mut command = seamripper(folder.path(), arguments);
        command.envs(environment.iter().copied());
        command
    };
    with(&["scan", "pages.jsonl", "-q", "-o", "verdicts.jsonl", "--store", "seen.store"]).assert().code(0);
    let built = lines(&mut with(&["lexicon", "build", "--store", "seen.store", "-o", "my.lexicon"]), 0).remove(0);
    let lexicon = Lexicon::from_bytes(&std::fs::read(folder.path().join("my.lexicon")).unwrap()).unwrap();
    let refused = with(&["lexicon", "build", "--store", "seen.store", "--kind", "mail", "-o", "x"]).output().unwrap();
    let stderr = String::from_utf8(refused.stderr).unwrap();
    assert!(refused.status.code() == Some(1) && stderr.contains("has 0 mails"), "{stderr}");
    (lexicon, built)
}

#[test]
fn a_lexicon_of_a_store_has_the_exact_counts_while_there_is_room() {
    let (pages, exact) = counted_pages(300, 3000.0);
    let (lexicon, built) = lexicon(&pages, &[("SEAMRIPPER_STORE__SPELLED_ONE_IN", "1")]);
    assert_eq!((lexicon.about().n_documents, &built["counted"]["df_error_max"]), (300, &0.into()));
    let found: HashMap<String, u32> = lexicon.terms().map(|(term, df)| (term.to_owned(), df)).collect();
    let expected: HashMap<String, u32> =
        exact.iter().filter(|(_, df)| **df >= 2).map(|(w, df)| (w.clone(), *df)).collect();
    assert!(expected.len() > 1000);
    assert!(found == expected, "{} found, {} expected", found.len(), expected.len());

    // With the words of one page in eight spelled out, counts stay exact and only rare words are missing.
    let (lexicon, _) = self::lexicon(&pages, &[]);
    assert!(lexicon.terms().all(|(term, df)| expected[term] == df));
    let often = expected.iter().filter(|(_, df)| **df >= 40);
    assert!(
        often.clone().count() > 20 && often.into_iter().all(|(word, _)| lexicon.document_frequency(word).is_some())
    );
}

/// A store that is far too small for the words: what is left is too low by the stated error at most, and never too high.
#[test]
fn a_lexicon_of_a_full_store_states_its_error() {
    let (pages, exact) = counted_pages(600, 20000.0);
    let environment = [("SEAMRIPPER_STORE__SPELLED_ONE_IN", "1"), ("SEAMRIPPER_STORE__MEMORY", "6000000")];
    let (lexicon, built) = lexicon(&pages, &environment);
    let error_max = u32::try_from(built["counted"]["df_error_max"].as_u64().unwrap()).unwrap();
    assert!(error_max > 0, "{built}");
    let (mut n_exact, mut n_all, mut common) = (0, 0, (0, 0));
    for (term, df) in lexicon.terms() {
        let truth = exact[term];
        assert!(df <= truth && truth <= df + error_max, "{term}: {df} of {truth}, error {error_max}");
        n_all += 1;
        n_exact += u32::from(df == truth);
        if truth >= 20 {
            common = (common.0 + truth - df, common.1 + truth);
        }
    }
    assert!(n_all > 500 && 3 * n_exact > n_all, "{n_exact} of {n_all} exact, error {error_max}");
    // The words that a lexicon is for are hardly touched: 139 of 14,906 were not counted.
    assert!(50 * common.0 < common.1, "{} of {} are missing", common.0, common.1);
    let often = exact.iter().filter(|(_, df)| **df > error_max);
    assert!(
        often.clone().count() > 100 && often.into_iter().all(|(word, _)| lexicon.document_frequency(word).is_some())
    );
}
