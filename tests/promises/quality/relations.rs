//! Pairs made for every leaf of the sentence method's tree get that leaf in a stream of all of them (Kang 2009).
//!
//! What two pages alone can tell (URLs, links, how much is shared) decides seven leaves. `boilerplate` needs the spread of a
//! text over hosts that have nothing to do with each other; `link_list` and `scraping` need a page that takes from many
//! and links to them, a little of each or most of its text.

use super::articles::{page, sentences};
use super::corpora::html_page;
use super::{Input, folded, judged, share};
use seamripper::config::Settings;
use seamripper::verdict::event::Verdict;
use seamripper::verdict::relation::{Direction, Relation};
use std::collections::{BTreeMap, HashMap};

/// Pairs per leaf.
const N_PAIRS: u64 = 20;
/// Hosts that show the same boilerplate.
const N_HOSTS: u64 = 30;
/// Pages that a link list or a scraper takes from.
const N_TAKEN: u64 = 8;

/// A page to be judged, and what it is to each of some earlier pages.
struct Case {
    leaf: Relation,
    /// `None` where the relation has no direction.
    direction: Option<Direction>,
    this: String,
    those: Vec<String>,
}

/// Pages in order of arrival, and what is to be said of some of them.
#[derive(Default)]
struct Scene {
    inputs: Vec<Input>,
    cases: Vec<Case>,
}

impl Scene {
    fn send(&mut self, url: &str, paragraphs: &[String], links: &[String]) {
        let links = links.iter().map(|link| format!("<a href=\"{link}\">there</a>"));
        let paragraphs: Vec<String> = paragraphs.iter().cloned().chain(links).collect();
        self.inputs.push(html_page(url, Some(url), &page("page", &paragraphs)));
    }

    fn expect(&mut self, leaf: Relation, direction: Option<Direction>, this: &str, those: &[String]) {
        self.cases.push(Case { leaf, direction, this: this.to_owned(), those: those.to_vec() });
    }

    /// Two pages, of which the second is judged.
    fn pair(&mut self, leaf: Relation, this: (&str, &[String], &[String]), that: (&str, &[String])) {
        self.send(that.0, that.1, &[]);
        self.send(this.0, this.1, this.2);
        self.expect(leaf, None, this.0, &[that.0.to_owned()]);
    }

    /// A whole and its part, by turns the one or the other first.
    fn part(&mut self, leaf: Relation, number: u64, whole: (&str, &[String]), part: (&str, &[String])) {
        let (first, second, direction) = match number % 2 {
            0 => (whole, part, Direction::ThisInThat),
            _ => (part, whole, Direction::ThatInThis),
        };
        self.send(first.0, first.1, &[]);
        self.send(second.0, second.1, &[]);
        self.expect(leaf, Some(direction), second.0, &[first.0.to_owned()]);
    }
}

/// All pairs of all leaves.
fn scene() -> Scene {
    let mut scene = Scene::default();
    for number in 0..N_PAIRS {
        let article = |leaf: u64| 100 * number + 10 * leaf;
        // Names of hosts and folders have no part in common, or else URLs are similar.
        let host = |leaf: u64, side: &str| format!("http://{side}{leaf}q{number}.example");

        let text = sentences(article(0), 0..12);
        let url = |name: &str| format!("http://{name}site0q{number}.example/manual{number}/page.html");
        scene.pair(Relation::Mirror, (&url("mirror."), &text[1..], &[]), (&url(""), &text));

        let text = sentences(article(1), 0..12);
        let (this, that) = (format!("{}/x{number}.html", host(1, "left")), format!("{}/y.html", host(1, "right")));
        scene.pair(Relation::Copy, (&this, &text[1..], &[]), (&that, &text));

        let text = sentences(article(2), 0..24);
        let url = |name: &str| format!("{}/2024/{name}.html", host(2, "blog"));
        scene.part(Relation::Archive, number, (&url("may"), &text), (&url("may-03"), &text[4..9]));

        let text = sentences(article(3), 0..24);
        let (whole, part) = (format!("{}/all.html", host(3, "left")), format!("{}/one.html", host(3, "right")));
        scene.part(Relation::ExcerptList, number, (&whole, &text), (&part, &text[4..9]));

        // Two sentences of twelve in common.
        let shared = |leaf: u64| {
            let (this, that) = (sentences(article(leaf), 0..12), sentences(article(leaf) + 1, 0..10));
            let that = [&that[..], &this[5..7]].concat();
            (this, that)
        };
        let (text, other) = shared(4);
        let url = |name: &str| format!("{}/{name}.html", host(4, "site"));
        scene.pair(Relation::SameSite, (&url("a"), &text, &[]), (&url("b"), &other));

        let (text, other) = shared(5);
        let (this, that) = (format!("{}/x.html", host(5, "left")), format!("{}/y.html", host(5, "right")));
        scene.pair(Relation::Citation, (&this, &text, std::slice::from_ref(&that)), (&that, &other));

        let (text, other) = shared(6);
        let (this, that) = (format!("{}/x.html", host(6, "left")), format!("{}/y.html", host(6, "right")));
        scene.pair(Relation::SharedPassages, (&this, &text, &[]), (&that, &other));

        let text = sentences(article(7), 0..4);
        let url = |host: u64| format!("http://h{host}n{number}.example/");
        (0..N_HOSTS).for_each(|host| scene.send(&url(host), &text, &[]));
        scene.expect(Relation::Boilerplate, None, &url(N_HOSTS - 1), &[url(0)]);

        for (leaf, relation, n_own, n_taken) in [(8, Relation::LinkList, 12, 1), (9, Relation::Scraping, 1, 4)] {
            let url = |side: &str, page: u64| format!("http://{side}{leaf}p{page}n{number}.example/");
            let those: Vec<String> = (0..N_TAKEN).map(|page| url("from", page)).collect();
            let mut text = sentences(article(leaf), 0..n_own);
            for (page, that) in those.iter().enumerate() {
                let other = sentences(1_000_000 + 1000 * article(leaf) + page as u64, 0..12);
                scene.send(that, &other, &[]);
                text.extend_from_slice(&other[3..3 + n_taken]);
            }
            let this = url("taker", 0);
            scene.send(&this, &text, &those);
            scene.expect(relation, None, &this, &those);
        }
    }
    scene
}

/// What a verdict says of its page and `that`.
fn said(verdict: &Verdict, that: &str) -> Option<(Relation, Direction)> {
    let mirror = verdict.mirror.iter().filter(|mirror| mirror.of == that);
    let related = verdict.related.iter().filter(|related| related.of == that);
    let of_mirror = mirror.map(|mirror| (mirror.relation, mirror.direction));
    of_mirror.chain(related.map(|related| (related.relation, related.direction))).next()
}

/// How many cases of a leaf there are, how many are told, and what is said of the others.
#[derive(Debug, Default)]
struct Tally {
    n: usize,
    n_right: usize,
    others: BTreeMap<String, usize>,
}

/// The tally of every leaf. Of a page that takes from many, not all need be listed, but all that are must be right.
fn measured(cases: &[Case], verdicts: &[Verdict]) -> BTreeMap<&'static str, Tally> {
    let verdicts: HashMap<&str, &Verdict> = verdicts.iter().map(|verdict| (verdict.id.as_str(), verdict)).collect();
    let mut tallies: BTreeMap<&'static str, Tally> = BTreeMap::new();
    for case in cases {
        let verdict = verdicts.get(case.this.as_str());
        let said: Vec<(Relation, Direction)> =
            case.those.iter().filter_map(|that| said(verdict.copied()?, that)).collect();
        let is_right = |&(relation, direction): &(Relation, Direction)| {
            relation == case.leaf && case.direction.is_none_or(|expected| expected == direction)
        };
        let tally = tallies.entry(case.leaf.name()).or_default();
        tally.n += 1;
        if !said.is_empty() && said.iter().all(is_right) {
            tally.n_right += 1;
            continue;
        }
        let wrong = said.iter().find(|said| !is_right(said));
        let wrong = wrong.map_or("nothing".to_owned(), |(relation, direction)| {
            if *relation == case.leaf {
                format!("{} {direction:?}", relation.name())
            } else {
                relation.name().to_owned()
            }
        });
        *tally.others.entry(wrong).or_default() += 1;
    }
    tallies
}

#[test]
fn every_pair_gets_its_leaf_in_a_stream() {
    let scene = scene();
    let ids: Vec<String> = scene.inputs.iter().map(|input| input.id().to_owned()).collect();
    let verdicts = folded(&judged(scene.inputs, &Settings::default()));
    super::assert_complete(ids, &verdicts);
    let tallies = measured(&scene.cases, &verdicts);
    for (leaf, tally) in &tallies {
        println!("{leaf}: {} of {}, others {:?}", tally.n_right, tally.n, tally.others);
    }
    assert_eq!(tallies.len(), 10, "leaves");
    for (leaf, tally) in &tallies {
        assert!(share(tally.n_right, tally.n) >= 0.9, "{leaf}: {tally:?}");
    }
}

#[test]
fn made_relations_have_the_figures_known_by_hand() {
    use super::made::{copy, original};
    use seamripper::verdict::event::Related;
    let case = |leaf, direction, this: &str, those: &[&str]| Case {
        leaf,
        direction,
        this: this.to_owned(),
        those: those.iter().map(|that| (*that).to_owned()).collect(),
    };
    let cases = [
        case(Relation::Copy, None, "b", &["a"]),
        case(Relation::Copy, None, "c", &["a"]),
        case(Relation::Citation, None, "d", &["a"]),
        case(Relation::LinkList, None, "e", &["a", "b"]),
        case(Relation::Copy, Some(Direction::ThisInThat), "f", &["a"]),
    ];
    let related = |of: &str, relation| Related {
        of: of.into(),
        url: None,
        relation,
        overlap: 0.1,
        containment: 0.1,
        direction: Direction::Equal,
    };
    let verdict = |id: &str, related| Verdict { related, ..original(id) };
    let verdicts = [
        copy("b", "a"),
        copy("c", "b"),
        verdict("d", vec![related("x", Relation::Copy), related("a", Relation::Citation)]),
        verdict("e", vec![related("a", Relation::LinkList), related("b", Relation::Citation)]),
        copy("f", "a"),
    ];
    let tallies = measured(&cases, &verdicts);
    let figures = |leaf: &str| (tallies[leaf].n_right, tallies[leaf].n);
    assert_eq!((figures("copy"), figures("citation"), figures("link_list")), ((1, 3), (1, 1), (0, 1)));
    assert_eq!(tallies["copy"].others.keys().collect::<Vec<_>>(), ["copy Equal", "nothing"]);
}

#[test]
fn the_urls_of_the_scene_are_as_similar_as_they_should_be() {
    use seamripper::verdict::url_similarity::{Denominator, UrlSimilarity};
    for case in scene().cases {
        let expected = matches!(case.leaf, Relation::Mirror | Relation::Archive | Relation::SameSite);
        for that in &case.those {
            let similarity = UrlSimilarity::of(&case.this, that, Denominator::Simpson);
            assert_eq!(similarity.origin().is_similar(), expected, "{} and {that}", case.this);
        }
    }
}

#[test]
fn the_pairs_of_the_scene_are_what_they_are_meant_to_be() {
    use seamripper::verdict::relation::SentenceScores;
    use seamripper::verdict::url_similarity::{Denominator, UrlSimilarity};
    let scene = scene();
    let sentences =
        super::each_signed(&scene.inputs, &Settings::default(), |signed| signed.signatures.sentences.clone());
    let ids = scene.inputs.iter().map(Input::id);
    let sentences: HashMap<&str, _> = ids.zip(sentences).map(|(id, sentences)| (id, sentences.unwrap())).collect();
    for case in &scene.cases {
        // The leaf that two documents alone can give, where the right one needs others.
        let (expected, is_linked) = match case.leaf {
            Relation::Boilerplate => (Relation::Copy, false),
            Relation::LinkList | Relation::Scraping | Relation::Citation => (Relation::Citation, true),
            leaf => (leaf, false),
        };
        for that in &case.those {
            let scores = SentenceScores::of(&sentences[&case.this[..]], &sentences[&that[..]], |_| true);
            let url = UrlSimilarity::of(&case.this, that, Denominator::Simpson);
            assert_eq!(
                scores.relation(url.origin(), is_linked),
                Some(expected),
                "{} and {that}: {scores:?}",
                case.this
            );
            let direction = case.direction.unwrap_or(scores.direction);
            assert_eq!(scores.direction, direction, "{} and {that}", case.this);
        }
    }
}
