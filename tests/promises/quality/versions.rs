//! Versions of one page are one group, whatever else shares their menu is not, in Japanese as in English.

use super::super::data;
use super::corpora::{self, Page, html_page, text_page};
use super::{Groups, Input, arranged, each_signed, folded, is, judged, judged_exactly, orders, print_list, share};
use seamripper::config::Settings;
use seamripper::signature::{common, jaccard};
use seamripper::text::grams;
use seamripper::text::words::Traits;
use seamripper::verdict::event::{Class, Verdict};
use std::collections::{HashMap, HashSet};

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

    /// Whether half of what the smaller one shows stands in the other, without all that a `third` page of their site has too.
    fn have_a_text_in_common<'a>(&self, a: &str, b: &str, third: impl Iterator<Item = &'a str>) -> bool {
        let site: HashSet<u64> = third.flat_map(|id| &self.of[id].whole).copied().collect();
        let own = |id: &str| self.of[id].whole.iter().filter(|shingle| !site.contains(shingle)).copied().collect();
        let (mine, theirs): (Vec<u64>, Vec<u64>) = (own(a), own(b));
        let n_smaller = mine.len().min(theirs.len());
        self.resemblance(a, b) >= 0.95 || n_smaller >= 20 && 2 * common(&mine, &theirs) >= n_smaller
    }

    fn knows(&self, id: &str) -> bool {
        self.of.contains_key(id)
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
    // Reports of two updates of one telephone, written from one form: by eye two texts, and in some orders each is a head.
    const UPDATES: [[&str; 2]; 2] =
        [["livedoor/smax-6511908", "livedoor/smax-6702477"], ["livedoor/smax-6593399", "livedoor/smax-6917135"]];
    let mut pairs = corpora::pairs(&std::fs::read_to_string(folder.join("pairs.tsv")).unwrap());
    pairs.retain(|(a, b, _)| !UPDATES.iter().any(|two| two.contains(&a.as_str()) && two.contains(&b.as_str())));
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
        assert!(figures.n_near >= 10 && figures.recall() >= 0.9, "{title}: recall {:.4}", figures.recall());
        assert!(figures.strangers.is_empty(), "{title}: {:?}", figures.strangers);
    }
}

/// What people who looked at two pages say: whether one is a copy of the other, or part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    True,
    False,
    Unclear,
}

/// What was said of pairs of pages, in either order.
struct Looks<'a> {
    of: HashMap<(&'a str, &'a str), Look>,
}

impl<'a> Looks<'a> {
    fn of(table: &'a str) -> Self {
        let said = |line: &'a str| {
            let mut fields = line.split('\t');
            let look = match fields.next().unwrap() {
                "true" => Look::True,
                "false" => Look::False,
                "unclear" => Look::Unclear,
                other => panic!("{other} is no judgement"),
            };
            (ordered(fields.next().unwrap(), fields.next().unwrap()), look)
        };
        Self { of: table.lines().filter(|line| !line.starts_with('#')).map(said).collect() }
    }

    fn at(&self, a: &str, b: &str) -> Option<Look> {
        self.of.get(&ordered(a, b)).copied()
    }

    fn all(&self, wanted: Look) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.of.iter().filter(move |(_, look)| **look == wanted).map(|(pair, _)| *pair)
    }
}

fn ordered<'a>(a: &'a str, b: &'a str) -> (&'a str, &'a str) {
    (a.min(b), a.max(b))
}

/// Mirrors among folded verdicts that are none by eye; those that nobody has looked at, by what no third page of their site has.
fn false_mirrors(verdicts: &[Verdict], looks: &Looks<'_>, shingles: &Shingles) -> Vec<String> {
    let domains: HashMap<&str, Option<&str>> =
        verdicts.iter().map(|verdict| (verdict.id.as_str(), verdict.domain.as_deref())).collect();
    let mut listed = Vec::new();
    for verdict in verdicts {
        let Some(mirror) = verdict.mirror.as_ref().filter(|_| is(verdict, Class::Mirror)) else { continue };
        let (this, that) = (verdict.id.as_str(), mirror.of.as_str());
        let third = domains.iter().filter(|(id, domain)| {
            ![this, that].contains(*id) && domain.is_some() && **domain == verdict.domain.as_deref()
        });
        let look = looks.at(this, that);
        let is_true = match look {
            Some(look) => look != Look::False,
            None => shingles.have_a_text_in_common(this, that, third.map(|(id, _)| *id)),
        };
        if !is_true {
            let (relation, likeness) = (mirror.relation.name(), mirror.resemblance);
            listed.push(format!("{this} {relation} of {that}: {likeness:.2}, by eye {look:?}"));
        }
    }
    listed
}

#[test]
fn the_open_web_has_hardly_a_false_mirror() {
    let pages = corpora::pages("html_web");
    if pages.is_empty() {
        return;
    }
    let settings = Settings::default();
    let inputs: Vec<Input> = pages.iter().map(|page| html_page(&page.id, Some(&page.url), &page.html)).collect();
    let shingles = Shingles::of(&inputs, &settings);
    let looks = Looks::of(include_str!("../../data/web_mirrors.tsv"));
    for order in orders(1) {
        let inputs = arranged(&inputs, order);
        let exactly = Some(folded(&judged_exactly(inputs.clone(), &settings))).filter(|_| order == 0);
        let stream = folded(&judged(inputs, &settings));
        for (verdicts, by) in [(Some(stream), "stream"), (exactly, "--exact")] {
            let Some(verdicts) = verdicts else { continue };
            super::assert_complete(pages.iter().map(|page| page.id.clone()), &verdicts);
            let n_mirrors = verdicts.iter().filter(|verdict| is(verdict, Class::Mirror)).count();
            let quilts: Vec<String> =
                verdicts.iter().filter(|verdict| is(verdict, Class::Quilt)).map(|verdict| verdict.id.clone()).collect();
            let listed = false_mirrors(&verdicts, &looks, &shingles);
            let groups = Groups::of(&verdicts);
            let is_part = |a: &str, b: &str| {
                let of = |id: &str| verdicts.iter().find(|verdict| verdict.id == id)?.mirror.as_ref();
                of(a).is_some_and(|mirror| mirror.of == b) || of(b).is_some_and(|mirror| mirror.of == a)
            };
            let there: Vec<(&str, &str)> =
                looks.all(Look::True).filter(|(a, b)| shingles.knows(a) && shingles.knows(b)).collect();
            let missed: Vec<String> = there
                .iter()
                .filter(|(a, b)| !groups.joined(a, b) && !is_part(a, b))
                .map(|(a, b)| format!("{a} and {b}"))
                .collect();
            println!(
                "html_web, {by}, order {order}: {n_mirrors} mirrors of {} pages, {} of them false; {} of {} true ones missed",
                pages.len(),
                listed.len(),
                missed.len(),
                there.len()
            );
            print_list("false mirrors", &listed);
            print_list("missed", &missed);
            print_list("quilts", &quilts);
            assert!(listed.len() <= 2, "{listed:?}");
            assert!(missed.len() <= 2, "{missed:?}");
        }
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
fn a_false_mirror_is_one_without_a_text_in_common() {
    use super::articles::{page, sentences};
    use super::made::{copy, original};
    let menu = sentences(9, 0..20);
    let site = |own: &[String]| page("page", &[menu.as_slice(), own].concat());
    let inputs = [
        html_page("a", None, &site(&sentences(1, 0..10))),
        html_page("b", None, &site(&sentences(1, 0..9))),
        html_page("c", None, &site(&sentences(2, 0..10))),
        html_page("d", None, &site(&sentences(3, 0..10))),
    ];
    let shingles = Shingles::of(&inputs, &Settings::default());
    let at_home = |verdict: Verdict| Verdict { domain: Some("a.example".into()), ..verdict };
    let verdicts = [original("a"), copy("b", "a"), copy("c", "a"), copy("d", "c")].map(at_home);
    let by_shingles = false_mirrors(&verdicts, &Looks::of(""), &shingles);
    assert_eq!(by_shingles.len(), 2, "c and d have the menu alone: {by_shingles:?}");
    let looks = Looks::of("# all of them\ntrue\ta\tc\nfalse\tb\ta\nunclear\td\tc");
    let listed = false_mirrors(&verdicts, &looks, &shingles);
    assert!(listed.len() == 1 && listed[0].starts_with("b copy of a"), "{listed:?}");
    assert_eq!(looks.all(Look::True).collect::<Vec<_>>(), [("a", "c")]);
}
