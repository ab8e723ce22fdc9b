//! Versions of one page are one group, whatever else shares their menu is not, in Japanese as in English.

use super::super::data;
use super::corpora::{self, Page, html_page, text_page};
use super::{Groups, Input, arranged, each_signed, folded, is, judged, orders, print_list, sampled, share};
use seamripper::config::Settings;
use seamripper::signature::{common, jaccard};
use seamripper::text::grams;
use seamripper::text::words::Traits;
use seamripper::verdict::event::{Class, Verdict};
use std::collections::HashMap;

/// The distinct 5-word shingles (8 characters of Japanese) of documents, to compare any two exactly.
pub(super) struct Shingles {
    of: HashMap<String, Views>,
}

#[derive(Default)]
struct Views {
    whole: Vec<u64>,
    core: Vec<u64>,
    is_unspaced: bool,
}

impl Shingles {
    pub(super) fn of(inputs: &[Input], settings: &Settings) -> Self {
        let views = each_signed(inputs, settings, |signed| {
            let cut = |wanted: Traits| {
                let mut shingles = Vec::new();
                grams::shingles(&signed.text.words, wanted, 5, 8, 1, |hash| shingles.push(hash));
                shingles.sort_unstable();
                shingles.dedup();
                shingles
            };
            let is_unspaced = signed.text.is_unspaced();
            Views { whole: cut(Traits::default()), core: cut(Traits::CORE), is_unspaced }
        });
        let ids = inputs.iter().map(|input| input.id().to_owned());
        Self { of: ids.zip(views.into_iter().map(Option::unwrap_or_default)).collect() }
    }

    /// Of the whole texts.
    pub(super) fn resemblance(&self, a: &str, b: &str) -> f64 {
        jaccard(&self.of[a].whole, &self.of[b].whole)
    }

    /// Of the content blocks.
    pub(super) fn core_resemblance(&self, a: &str, b: &str) -> f64 {
        jaccard(&self.of[a].core, &self.of[b].core)
    }

    /// The share of the smaller content that stands in the larger.
    fn core_containment(&self, a: &str, b: &str) -> f64 {
        let (a, b) = (&self.of[a].core, &self.of[b].core);
        match a.len().min(b.len()) {
            0 => 0.0,
            smaller => common(a, b) as f64 / smaller as f64,
        }
    }

    fn is_japanese(&self, id: &str) -> bool {
        self.of[id].is_unspaced
    }
}

/// How well versions are told.
#[derive(Debug, Default)]
struct Figures {
    n_near: usize,
    n_joined: usize,
    /// Near pairs in two groups.
    missed: Vec<String>,
    /// Pairs in one group that have little in common.
    strangers: Vec<String>,
}

impl Figures {
    fn recall(&self) -> f64 {
        share(self.n_joined, self.n_near)
    }

    fn print(&self, title: &str) {
        println!(
            "{title}: {} of {} pairs of resemblance 0.8 and more joined ({:.4}); joined under 0.3: {}",
            self.n_joined,
            self.n_near,
            self.recall(),
            self.strangers.len()
        );
        print_list("missed", &self.missed);
        print_list("joined under 0.3", &self.strangers);
    }
}

/// The figures of `groups` on pairs with a known resemblance. Members of one group that are not in the list are compared as
/// `resemblance` says.
fn measured(pairs: &[(String, String, f64)], groups: &Groups, resemblance: impl Fn(&str, &str) -> f64) -> Figures {
    let mut figures = Figures::default();
    let mut known: HashMap<(&str, &str), f64> = HashMap::new();
    for (a, b, resemblance) in pairs {
        known.insert((a, b), *resemblance);
        known.insert((b, a), *resemblance);
        if *resemblance < 0.8 {
            continue;
        }
        figures.n_near += 1;
        if groups.joined(a, b) {
            figures.n_joined += 1;
        } else {
            figures.missed.push(format!("{resemblance:.2} {a} and {b}"));
        }
    }
    for (head, members) in groups.all() {
        let all: Vec<&str> = [head].into_iter().chain(members).collect();
        for (place, b) in all.iter().enumerate() {
            for a in &all[..place] {
                let found = known.get(&(*a, *b)).copied().unwrap_or_else(|| resemblance(a, b));
                if found < 0.3 {
                    figures.strangers.push(format!("{found:.2} {a} and {b}"));
                }
            }
        }
    }
    figures
}

fn assert_good(figures: &Figures, title: &str) {
    figures.print(title);
    assert!(figures.n_near > 0, "{title}: nothing to find");
    assert!(figures.recall() >= 0.99, "{title}: recall {:.4}", figures.recall());
    assert!(figures.strangers.is_empty(), "{title}: {:?}", figures.strangers);
}

/// The groups among folded verdicts that are about Japanese documents, or about the others.
fn groups_of(verdicts: &[Verdict], is_wanted: impl Fn(&str) -> bool) -> Groups {
    let wanted: Vec<Verdict> = verdicts.iter().filter(|verdict| is_wanted(&verdict.id)).cloned().collect();
    Groups::of(&wanted)
}

#[test]
fn versions_of_one_page_are_one_group() {
    let pages: Vec<Page> = corpora::pages("html_versions");
    let Some(folder) = data::real("html_versions") else { return };
    let pairs = corpora::pairs(&std::fs::read_to_string(folder.join("pairs.tsv")).unwrap());
    let settings = Settings::default();
    let inputs: Vec<Input> = pages.iter().map(|page| html_page(&page.id, Some(&page.url), &page.html)).collect();
    let shingles = Shingles::of(&inputs, &settings);
    for order in orders(3) {
        let verdicts = folded(&judged(arranged(&inputs, order), &settings));
        super::assert_complete(pages.iter().map(|page| page.id.clone()), &verdicts);
        for is_japanese in [false, true] {
            let is_wanted = |id: &str| shingles.is_japanese(id) == is_japanese;
            let pairs: Vec<_> = pairs.iter().filter(|(a, b, _)| is_wanted(a) && is_wanted(b)).cloned().collect();
            let figures = measured(&pairs, &groups_of(&verdicts, is_wanted), |a, b| shingles.resemblance(a, b));
            let language = if is_japanese { "Japanese" } else { "others" };
            assert_good(&figures, &format!("html_versions, {language}, order {order}"));
        }
    }
}

#[test]
fn repeated_japanese_news_are_one_group() {
    let Some(folder) = data::real("text_livedoor_ja") else { return };
    let pairs = corpora::pairs(&std::fs::read_to_string(folder.join("pairs.tsv")).unwrap());
    let settings = Settings::default();
    let texts = corpora::texts("text_livedoor_ja");
    let inputs: Vec<Input> = texts.iter().map(|text| text_page(&text.id, Some(&text.url()), &text.text)).collect();
    let shingles = Shingles::of(&inputs, &settings);
    for order in orders(2) {
        let verdicts = folded(&judged(arranged(&inputs, order), &settings));
        super::assert_complete(texts.iter().map(|text| text.id.clone()), &verdicts);
        let figures = measured(&pairs, &Groups::of(&verdicts), |a, b| shingles.resemblance(a, b));
        let title = format!("text_livedoor_ja, order {order}");
        figures.print(&title);
        // Of only 12 such pairs, one lies between two groups of reviews that were written from one form.
        assert!(figures.n_near > 0 && figures.recall() >= 0.9, "{title}: recall {:.4}", figures.recall());
        assert!(figures.strangers.is_empty(), "{title}: {:?}", figures.strangers);
    }
}

/// Mirrors among folded verdicts that neither are near copies nor have one in the other.
fn false_mirrors(verdicts: &[Verdict], shingles: &Shingles) -> Vec<String> {
    let mut listed = Vec::new();
    for verdict in verdicts {
        let Some(mirror) = verdict.mirror.as_ref().filter(|_| is(verdict, Class::Mirror)) else { continue };
        let (this, that) = (verdict.id.as_str(), mirror.of.as_str());
        let whole = shingles.resemblance(this, that);
        let (core, part) = (shingles.core_resemblance(this, that), shingles.core_containment(this, that));
        // One article on two sites is a mirror in spite of all that stands around it.
        let is_true = whole.max(core) >= 0.5 || super::copied(verdict).is_none() && part >= 0.5;
        if !is_true {
            let relation = mirror.relation.name();
            listed.push(format!("{this} {relation} of {that}: {whole:.2}, content {core:.2}, contained {part:.2}"));
        }
    }
    listed
}

#[test]
fn the_open_web_has_hardly_a_false_mirror() {
    let pages = sampled(corpora::pages("html_web"), 2);
    if pages.is_empty() {
        return;
    }
    let settings = Settings::default();
    let inputs: Vec<Input> = pages.iter().map(|page| html_page(&page.id, Some(&page.url), &page.html)).collect();
    let shingles = Shingles::of(&inputs, &settings);
    for order in orders(1) {
        let verdicts = folded(&judged(arranged(&inputs, order), &settings));
        super::assert_complete(pages.iter().map(|page| page.id.clone()), &verdicts);
        let n_mirrors = verdicts.iter().filter(|verdict| is(verdict, Class::Mirror)).count();
        let quilts: Vec<String> =
            verdicts.iter().filter(|verdict| is(verdict, Class::Quilt)).map(|verdict| verdict.id.clone()).collect();
        let listed = false_mirrors(&verdicts, &shingles);
        println!(
            "html_web, order {order}: {n_mirrors} mirrors of {} pages, {} of them false",
            pages.len(),
            listed.len()
        );
        print_list("false mirrors", &listed);
        print_list("quilts", &quilts);
        assert!(listed.len() <= 2, "{listed:?}");
    }
}

#[test]
fn shingles_agree_with_the_resemblance_of_the_corpus() {
    let Some(folder) = data::real("html_versions") else { return };
    let pages: Vec<Page> = corpora::pages("html_versions");
    let pairs = corpora::pairs(&std::fs::read_to_string(folder.join("pairs.tsv")).unwrap());
    let inputs: Vec<Input> = pages.iter().map(|page| html_page(&page.id, None, &page.html)).collect();
    let shingles = Shingles::of(&inputs, &Settings::default());
    let off = |(a, b, given): &(String, String, f64)| (shingles.resemblance(a, b) - given).abs();
    let n_off = pairs.iter().filter(|pair| off(pair) > 0.1).count();
    let mean = pairs.iter().map(off).sum::<f64>() / pairs.len() as f64;
    println!("our shingles and theirs differ by {mean:.3} on average, by more than 0.1 in {n_off} of {}", pairs.len());
    // Words are cut and entities read in another way, no more.
    assert!(mean < 0.02 && n_off * 20 < pairs.len(), "{mean:.3}, {n_off}");
}

#[test]
fn made_versions_have_the_figures_known_by_hand() {
    use super::made::{copy, original};
    let pair = |a: &str, b: &str, resemblance| (a.to_owned(), b.to_owned(), resemblance);
    let pairs = [pair("a", "b", 0.95), pair("a", "c", 0.8), pair("a", "d", 0.5), pair("a", "e", 0.1)];
    let asked = |a: &str, b: &str| panic!("{a} and {b} are known");
    let perfect = measured(&pairs, &Groups::of(&[copy("b", "a"), copy("d", "a")]), |_, _| 0.9);
    assert_eq!((perfect.n_near, perfect.recall(), perfect.missed.len()), (2, 0.5, 1));
    assert!(perfect.strangers.is_empty());
    let wrong = measured(&pairs, &Groups::of(&[original("a"), copy("e", "a")]), asked);
    assert_eq!((wrong.recall(), wrong.strangers.len()), (0.0, 1));
    let by_chain = measured(&pairs, &Groups::of(&[copy("b", "a"), copy("c", "a")]), |_, _| 0.2);
    assert_eq!((by_chain.recall(), by_chain.strangers.len()), (1.0, 1), "b and c are compared directly");
}

#[test]
fn a_false_mirror_is_one_without_common_text() {
    use super::articles::{page, sentences};
    use super::made::copy;
    let inputs = [
        html_page("a", None, &page("a", &sentences(1, 0..10))),
        html_page("b", None, &page("b", &sentences(1, 0..9))),
        html_page("c", None, &page("c", &sentences(2, 0..10))),
        html_page("part", None, &page("part", &sentences(1, 0..3))),
    ];
    let shingles = Shingles::of(&inputs, &Settings::default());
    assert!(false_mirrors(&[copy("b", "a")], &shingles).is_empty());
    assert_eq!(false_mirrors(&[copy("c", "a"), copy("part", "a")], &shingles).len(), 2);
    let mut part = copy("part", "a");
    let mirror = part.mirror.as_mut().unwrap();
    (mirror.relation, mirror.resemblance) = (seamripper::verdict::relation::Relation::ExcerptList, 0.3);
    assert!(false_mirrors(&[part], &shingles).is_empty());
}
