//! Small changes leave a near copy recognisable, as often as Kolcz's formula says; what is too thin is left alone.

use super::data;
use seamripper::config::Settings;
use seamripper::corpus;
use seamripper::document::Kind;
use seamripper::pipeline::{self, Steps};
use seamripper::signature::cosine;
use seamripper::signature::imatch::{IMatch, Lexicons, Matcher};
use seamripper::signature::keyed::{Keys, mix};
use seamripper::signature::lexicon::{About, Lexicon};
use seamripper::text::words::{self, Words};
use std::collections::{BTreeSet, HashMap};
use std::ops::ControlFlow;
use std::path::Path;

/// 20,000 words, all in the band of pages: each in 100 of 10,000 documents.
fn even_lexicon() -> Vec<u8> {
    let mut words: Vec<String> = (0..20_000).map(word).collect();
    words.sort();
    let about = About { name: "even".into(), n_documents: 10_000, df_min: 2, ..About::default() };
    Lexicon::new(about, words.iter().map(|word| (word.as_str(), 100))).unwrap().to_bytes()
}

fn word(index: u64) -> String {
    let letters = (0..4).map(|place| (b'a' + (index / 26u64.pow(place) % 26) as u8) as char);
    std::iter::once('w').chain(letters).collect()
}

fn matcher(copies: usize) -> Matcher {
    let mut settings = Settings::default();
    settings.imatch.copies = copies;
    settings.imatch.page_lexicon = "even.lexicon".into();
    let read = |path: &Path| {
        assert_eq!(path, Path::new("even.lexicon"));
        Ok(even_lexicon())
    };
    Matcher::new(Lexicons::new(&settings, read).unwrap())
}

fn key() -> u64 {
    Keys::derive(Settings::default().secret.reveal()).word
}

/// The terms of a text, as signing takes them: each once.
fn terms(text: &str) -> Vec<u64> {
    let mut cut = Words::default();
    words::cut(text, &words::Rules::plain(key()), &mut cut);
    let mut terms = Vec::new();
    words::terms(&cut, words::Traits::default(), |term| terms.push(term));
    terms.sort_unstable();
    terms.dedup();
    terms
}

/// Whether the two agree on one of the first `copies` copies. The whole lexicon's coordinate isn't looked at: the formula is
/// about what the copies add.
fn copies_agree(a: &IMatch, b: &IMatch, copies: usize) -> bool {
    let coordinates = a.coordinates.iter().zip(&b.coordinates);
    coordinates.skip(1).take(copies).any(|(a, b)| a.is_some() && a == b)
}

#[test]
fn documents_changed_by_lexicon_words_keep_a_coordinate_as_often_as_the_formula_says() {
    const TRIALS: u64 = 20_000;
    let mut matcher = matcher(10);
    let hashes: Vec<u64> = (0..20_000).map(|index| words::term_hash(&word(index), key())).collect();
    let p = Settings::default().imatch.drop_share;
    for n in 1..=3u32 {
        let mut survived = [0u64; 11];
        for trial in 0..TRIALS {
            let draw = |index: u64| hashes[(mix(mix(trial, u64::from(n)), index) % 20_000) as usize];
            let mut before: Vec<u64> = (0..60).map(draw).collect();
            before.sort_unstable();
            before.dedup();
            // Additions and deletions by turns.
            let mut after = before.clone();
            for change in 0..n {
                if change % 2 == 0 {
                    let added = (60..).map(|index| draw(index + 100 * u64::from(change)));
                    after.extend(added.into_iter().find(|term| !after.contains(term)));
                } else {
                    let kept = after.iter().position(|term| before.contains(term)).unwrap();
                    after.swap_remove(kept);
                }
            }
            let signed_before = matcher.sign(&before, Kind::Page, false).unwrap();
            let signed_after = matcher.sign(&after, Kind::Page, false).unwrap();
            assert_ne!(signed_before.coordinates[0], signed_after.coordinates[0], "a change breaks the original");
            for copies in [1, 2, 5, 10] {
                survived[copies] += u64::from(copies_agree(&signed_before, &signed_after, copies));
            }
        }
        for copies in [1, 2, 5, 10] {
            let share = survived[copies] as f64 / TRIALS as f64;
            let formula = 1.0 - (1.0 - p.powi(n as i32)).powi(copies as i32);
            println!("n = {n}, K = {copies}: {share:.3}, formula {formula:.3}");
            assert!((share - formula).abs() < 0.02, "n = {n}, K = {copies}: {share:.4}, formula {formula:.4}");
        }
    }
}

#[test]
fn the_number_of_copies_is_a_setting() {
    let terms: Vec<u64> = (0..40).map(|index| words::term_hash(&word(index), key())).collect();
    for copies in [0, 1, 10, 63] {
        let signed = matcher(copies).sign(&terms, Kind::Page, false).unwrap();
        assert_eq!(signed.coordinates.len(), copies + 1);
    }
}

#[test]
fn order_and_repetition_do_not_count() {
    let mut matcher = matcher(10);
    let words: Vec<String> = (0..40).map(|index| word(index * 17)).collect();
    let text = words.join(" ");
    let backwards = words.iter().rev().chain(&words[..9]).cloned().collect::<Vec<_>>().join(", ").to_uppercase();
    let signed = matcher.sign(&terms(&text), Kind::Page, false).unwrap();
    assert_eq!(Some(&signed), matcher.sign(&terms(&backwards), Kind::Page, false).as_ref());
    let other = format!("{text} {}", word(5));
    let other = matcher.sign(&terms(&other), Kind::Page, false).unwrap();
    assert_ne!(signed.coordinates[0], other.coordinates[0], "a further word does");
    assert!(signed.agreeing(&other) > 0 && signed.agreeing(&other) < 11);
}

#[test]
fn thin_documents_are_unsigned() {
    let mut matcher = matcher(10);
    assert_eq!(matcher.sign(&[], Kind::Page, false), None);
    let nine: Vec<String> = (0..9).map(word).collect();
    let unknown = "unknown words however many there are count nothing either since no lexicon lists them";
    assert_eq!(matcher.sign(&terms(&format!("{} {unknown}", nine.join(" "))), Kind::Page, false), None);
    let ten: Vec<String> = (0..10).map(word).collect();
    let signed = matcher.sign(&terms(&ten.join(" ")), Kind::Page, false).unwrap();
    assert_eq!(signed.n_terms, 10);
    assert!(signed.coordinates[0].is_some());
    assert!(signed.coordinates.contains(&None), "a copy that has dropped one of the ten has nothing to say");
}

/// A mail of a real corpus, signed.
struct Mail {
    spam: bool,
    terms: Vec<u64>,
    imatch: Option<IMatch>,
}

/// The mails of a corpus; of those with the same terms the first, since a copy is always found.
fn signed_mails(folder: &Path) -> Vec<Mail> {
    let settings = Settings::default();
    let mut steps = Steps::new(&settings, pipeline::lexicon::load(&settings).unwrap());
    let labels = std::fs::read_to_string(folder.join("labels.jsonl")).unwrap();
    let spam: BTreeSet<String> = labels
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .filter(|label| label["label"] == "spam")
        .map(|label| label["file"].as_str().unwrap().to_owned())
        .collect();
    let (mut mails, mut seen) = (Vec::new(), BTreeSet::new());
    let paths = [folder.join("mails.tar.zst")];
    corpus::read(&paths, &corpus::Options::default(), &settings.limits, &mut |entry| {
        let entry = entry.unwrap();
        let signatures = steps.sign(&entry.record).unwrap().signatures;
        let terms = signatures.core.unwrap_or(signatures.shown).terms;
        if terms.len() >= 5 && seen.insert(terms.clone()) {
            let (_, file) = entry.place.rsplit_once('#').unwrap();
            mails.push(Mail { spam: spam.contains(file), terms, imatch: signatures.imatch });
        }
        ControlFlow::Continue(())
    });
    mails
}

#[test]
fn real_spam_finds_its_near_copies_and_never_meets_ham() {
    for (set, recall_min) in [("mail_csdmc2010", 0.8), ("mail_spamassassin", 0.75)] {
        let Some(folder) = data::real(set) else { continue };
        let mails = signed_mails(&folder);
        let mut with_coordinate: HashMap<(usize, u64), Vec<usize>> = HashMap::new();
        for (number, mail) in mails.iter().enumerate() {
            let coordinates = mail.imatch.iter().flat_map(|signed| signed.coordinates.iter().enumerate());
            for (index, bits) in coordinates.filter_map(|(index, bits)| Some((index, (*bits)?))) {
                with_coordinate.entry((index, bits)).or_default().push(number);
            }
        }
        for numbers in with_coordinate.values() {
            let n_spam = numbers.iter().filter(|&&number| mails[number].spam).count();
            assert!(n_spam == 0 || n_spam == numbers.len(), "{set}: ham and spam agree: {numbers:?}");
        }

        let spam: Vec<&Mail> = mails.iter().filter(|mail| mail.spam).collect();
        let (mut n_near, mut n_found) = (0, 0);
        for (number, mail) in spam.iter().enumerate() {
            for other in &spam[..number] {
                if cosine(&mail.terms, &other.terms) >= 0.9 {
                    n_near += 1;
                    let agreeing = mail.imatch.as_ref().zip(other.imatch.as_ref()).map(|(a, b)| a.agreeing(b));
                    n_found += usize::from(agreeing.unwrap_or(0) > 0);
                }
            }
        }
        println!("{set}: {n_found} of {n_near} near copies agree on a coordinate");
        assert!(n_near > 20, "{set}: {n_near} near copies");
        assert!(n_found as f64 >= recall_min * n_near as f64, "{set}: {n_found} of {n_near}");
    }
}
