//! Who took from whom.

use super::super::articles::{page, sentence, sentences, word};
use super::super::corpora::html_page;
use super::super::{Input, by_id, folded, is, is_full, judged, judged_exactly};
use super::{at, mail, patches, sources, told};
use seamripper::config::Settings;
use seamripper::verdict::event::{Class, QuiltKind, Recrawl, Verdict};
use std::collections::{BTreeSet, HashMap};

/// What makes a document of an id (for pages the URL too) and its paragraphs.
type Maker = fn(&str, &[String]) -> Input;

fn as_mail(id: &str, paragraphs: &[String]) -> Input {
    let host = id.trim_start_matches("http://").trim_end_matches('/');
    mail(id, &format!("news@{host}"), "News", paragraphs)
}

#[test]
fn a_quilt_of_four_campaigns_is_a_quilt() {
    let n_copies = if is_full() { 10_000 } else { 200 };
    for (kind, made) in [("pages", at as Maker), ("mails", as_mail as Maker)] {
        let id = |campaign: u64, copy: usize| format!("http://host{copy}-of{campaign}.example/");
        let mut inputs = Vec::new();
        for copy in 0..n_copies {
            for campaign in 0..4 {
                let mut text = sentences(campaign, 0..16);
                // Each copy has a word of its own.
                text[0] = format!("Dear {}, {}", word(copy as u64 * 7 + campaign), text[0]);
                inputs.push(made(&id(campaign, copy), &text));
            }
        }
        inputs.push(made("http://quilt.example/", &patches([0, 1, 2, 3])));
        let verdicts = told(inputs, &Settings::default());
        let quilt = &verdicts["http://quilt.example/"];
        assert!(is(quilt, Class::Quilt), "{kind}: {quilt:?}");
        let heads: Vec<String> = (0..4).map(|campaign| id(campaign, 0)).collect();
        assert_eq!(sources(quilt), heads.iter().map(String::as_str).collect(), "{kind}");
        let n_mirrors = verdicts.values().filter(|verdict| is(verdict, Class::Mirror)).count();
        assert_eq!(n_mirrors, 4 * (n_copies - 1), "{kind}: all but the first of each are copies");
        let last = verdicts[&id(3, n_copies - 1)].mirror.as_ref().unwrap();
        assert_eq!((last.of.as_str(), last.size as usize), (heads[3].as_str(), n_copies), "{kind}");
    }
}

/// Each passage stands in it twice: as a summary, say, and below it in full.
#[test]
fn a_quilt_that_says_everything_twice_is_a_quilt() {
    let sources: Vec<Input> =
        (0..4).map(|number| at(&format!("http://source{number}.example/"), &sentences(number, 0..16))).collect();
    let twice = [patches([0, 1, 2, 3]), patches([3, 2, 1, 0]), sentences(900, 0..4)].concat();
    let quilt = at("http://quilt.example/", &twice);
    for inputs in [[sources.clone(), vec![quilt.clone()]].concat(), [vec![quilt], sources].concat()] {
        let told = told(inputs, &Settings::default());
        let quilt = told["http://quilt.example/"].quilt.as_ref().expect("it is a quilt");
        assert_eq!(quilt.sources.len(), 4);
        assert!(quilt.patch_fraction > 0.85, "{}", quilt.patch_fraction);
    }
}

/// A notice longer than each passage stands in as many pages as still count, and all of them come before the sources.
#[test]
fn what_many_pages_carry_leaves_room_for_sources() {
    let notice = || sentences(950, 0..7);
    let url = |number: u64| format!("http://source{number}.example/");
    let sources = (0..4).map(|number| at(&url(number), &sentences(number, 0..16)));
    let carriers = (100..147)
        .map(|number| at(&format!("http://carrier{number}.example/"), &[sentences(number, 0..12), notice()].concat()));
    let quilt = at("http://quilt.example/", &[patches([0, 1, 2, 3]), notice()].concat());
    let told = told([vec![quilt], carriers.chain(sources).collect()].concat(), &Settings::default());
    let quilt = told["http://quilt.example/"].quilt.as_ref().expect("it is a quilt");
    for number in 0..4 {
        assert!(quilt.sources.iter().any(|source| source.of == url(number)), "{number}: {quilt:?}");
    }
}

/// A phrase of ten words is too little to be a source, and does not become more by being said again.
#[test]
fn a_phrase_said_twice_is_no_source() {
    let phrase = |number: u64| {
        let words: Vec<String> = sentence(number, 3).split(' ').map(str::to_owned).collect();
        words[..words.len().min(10)].join(" ")
    };
    let mut inputs: Vec<Input> = Vec::new();
    for number in 0..4 {
        let own = [sentences(number, 10..20), vec![format!("{}.", phrase(number))]].concat();
        inputs.push(at(&format!("http://source{number}.example/"), &own));
    }
    for n_times in [1, 3] {
        let own: Vec<String> =
            (0..4).flat_map(|number| std::iter::repeat_n(format!("{}.", phrase(number)), n_times)).collect();
        inputs.push(at(&format!("http://own{n_times}.example/"), &own));
    }
    let told = told(inputs, &Settings::default());
    for n_times in [1, 3] {
        assert_eq!(told[&format!("http://own{n_times}.example/")].quilt, None, "{n_times} times");
    }
}

/// More often than a gram may have owners, and than its counter can count.
#[test]
fn a_page_crawled_again_and_again_keeps_its_patches() {
    const N_CRAWLS: u64 = 300;
    let url = |number: u64| format!("http://source{number}.example/");
    for is_changed in [false, true] {
        let mut inputs: Vec<Input> = (0..4).map(|number| at(&url(number), &sentences(number, 0..16))).collect();
        for crawl in 0..N_CRAWLS {
            let mut text = sentences(0, 0..16);
            if is_changed {
                text.push(sentence(1000, crawl));
            }
            inputs.push(at(&url(0), &text));
        }
        // The quilt too: its sources are told by what they share with its last version.
        inputs.extend((0..N_CRAWLS).map(|crawl| {
            let own = if is_changed { vec![sentence(2000, crawl)] } else { Vec::new() };
            at("http://quilt.example/", &[patches([0, 1, 2, 3]), own].concat())
        }));
        let events = judged(inputs, &Settings::default());
        let verdicts: HashMap<String, Verdict> =
            folded(&events).into_iter().map(|verdict| (verdict.id.clone(), verdict)).collect();
        let quilt = verdicts.get("http://quilt.example/").expect("it was judged");
        assert!(is(quilt, Class::Quilt), "changed {is_changed}: {quilt:?}");
        let all: Vec<String> = (0..4).map(url).collect();
        assert_eq!(sources(quilt), all.iter().map(String::as_str).collect(), "changed {is_changed}");
        assert_eq!(quilt.recrawl, Some(if is_changed { Recrawl::Changed } else { Recrawl::Unchanged }));
        for number in 0..4 {
            let source = &verdicts[&url(number)];
            assert_eq!(source.classes, [], "an original stays one, crawled again or not: {source:?}");
        }
        let crawls = events.iter().filter(|event| event.id == url(0) && event.revision == 0).skip(1);
        let expected = if is_changed { Recrawl::Changed } else { Recrawl::Unchanged };
        let n_right = crawls.filter(|event| event.recrawl == Some(expected)).count();
        assert_eq!(n_right as u64, N_CRAWLS, "changed {is_changed}");
    }
}

/// An article that four quilts took from looks like a quilt of them: the relation is symmetric.
#[test]
fn a_plundered_original_is_no_quilt() {
    let settings = Settings::default();
    let original = at("http://plundered.example/", &sentences(900, 0..12));
    let mut others: Vec<Input> = Vec::new();
    let mut quilts: Vec<Input> = Vec::new();
    for taker in 0..4_u64 {
        let mut text = sentences(900, 3 * taker..3 * taker + 3);
        for other in 0..4 {
            let article = 1000 + 10 * taker + other;
            others.push(at(&format!("http://source{article}.example/"), &sentences(article, 0..10)));
            text.extend(sentences(article, 2..5));
        }
        quilts.push(at(&format!("http://taker{taker}.example/"), &text));
    }
    let orders = [
        [vec![original.clone()], others.clone(), quilts.clone()].concat(),
        [quilts.clone(), others.clone(), vec![original.clone()]].concat(),
        [others, quilts, vec![original]].concat(),
    ];
    for inputs in orders {
        let told = told(inputs, &settings);
        assert!(!is(&told["http://plundered.example/"], Class::Quilt));
        for taker in 0..4 {
            let quilt = &told[&format!("http://taker{taker}.example/")];
            assert!(is(quilt, Class::Quilt) && sources(quilt).contains("http://plundered.example/"));
        }
    }
}

/// A page with a link.
fn linking(url: &str, paragraphs: &[String], to: &str) -> Input {
    let quoted = format!("Quoted from <a href=\"{to}\">there</a>.");
    html_page(url, Some(url), &page("page", &[paragraphs, &[quoted]].concat()))
}

/// Twelve sites each show half of an article, or a third: it is taken from once, and they have one source, whoever came first.
#[test]
fn excerpts_of_one_article_are_no_quilts() {
    const ARTICLE: &str = "http://article.example/";
    let n_sentences = 30;
    let article = at(ARTICLE, &sentences(900, 0..n_sentences));
    for of_twelve in [4, 6] {
        let excerpt = |number: u64| {
            // Numbers without a pattern, the same on each machine.
            let is_shown = |sentence: &u64| (number * 31 + sentence + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
            let shown = (0..n_sentences).filter(|sentence| is_shown(sentence) % 12 < of_twelve);
            at(&format!("http://site{number}.example/"), &shown.map(|number| sentence(900, number)).collect::<Vec<_>>())
        };
        let excerpts: Vec<Input> = (0..12).map(excerpt).collect();
        for n_before in [0, 5, 12] {
            let inputs = [&excerpts[..n_before], std::slice::from_ref(&article), &excerpts[n_before..]].concat();
            let exact = judged_exactly(inputs.clone(), &Settings::default());
            let streamed: Vec<Verdict> = told(inputs, &Settings::default()).into_values().collect();
            for (way, verdicts) in [("exact", &exact), ("stream", &streamed)] {
                let quilts: Vec<&str> = verdicts
                    .iter()
                    .filter(|verdict| is(verdict, Class::Quilt))
                    .map(|verdict| verdict.id.as_str())
                    .collect();
                assert!(quilts.is_empty(), "{of_twelve} of 12, {n_before} before it, {way}: {quilts:?}");
            }
        }
    }
}

/// One stock of passages, and pages that are each made of some of them: two such pages have more in common than either has with an
/// article, and are no sources of each other.
#[test]
fn quilts_of_one_stock_are_quilts() {
    let article = |number: u64| at(&format!("http://article{number}.example/"), &sentences(1200 + number, 0..20));
    let quilt = |number: u64| {
        let taken = (0..6).map(|place| (2 * number + place) % 12);
        let patches: Vec<String> = taken.flat_map(|article| sentences(1200 + article, 6..11)).collect();
        at(&format!("http://quilt{number}.example/"), &patches)
    };
    let (articles, quilts): (Vec<Input>, Vec<Input>) = ((0..12).map(article).collect(), (0..6).map(quilt).collect());
    for inputs in [[articles.clone(), quilts.clone()].concat(), [quilts, articles].concat()] {
        let exact = judged_exactly(inputs.clone(), &Settings::default());
        let streamed: Vec<Verdict> = told(inputs, &Settings::default()).into_values().collect();
        for (way, verdicts) in [("exact", &exact), ("stream", &streamed)] {
            let wrong = verdicts.iter().filter(|verdict| is(verdict, Class::Quilt) != verdict.id.contains("quilt"));
            let wrong: BTreeSet<&str> = wrong.map(|verdict| verdict.id.as_str()).collect();
            assert!(wrong.is_empty(), "{way}: {wrong:?}");
        }
    }
}

/// Six passages, each on several sites that have a few words of their own beside it: a short post and those who copied it. A seventh site
/// that comes last has half of one of them.
#[test]
fn passages_that_stand_on_two_sites_make_a_quilt() {
    let passage = |number: u64| sentences(950 + number, 0..6);
    let quilt = at("http://quilt.example/", &(0..6).flat_map(passage).collect::<Vec<_>>());
    let host = |number: u64, copy: u64| {
        let own = sentences(1000 + 10 * number + copy, 0..3);
        at(&format!("http://host{number}-{copy}.example/"), &[passage(number), own].concat())
    };
    for n_copies in [1, 2, 3] {
        let hosts: Vec<Input> = (0..6).flat_map(|number| (0..n_copies).map(move |copy| host(number, copy))).collect();
        let late = at("http://late.example/", &passage(0)[..3]);
        for is_first in [true, false] {
            let (before, after) =
                if is_first { (&[quilt.clone()][..], &hosts[..]) } else { (&hosts[..], &[quilt.clone()][..]) };
            let inputs = [before, after, std::slice::from_ref(&late)].concat();
            let exact = judged_exactly(inputs.clone(), &Settings::default());
            let streamed: Vec<Verdict> = told(inputs, &Settings::default()).into_values().collect();
            for (way, verdicts) in [("exact", &exact), ("stream", &streamed)] {
                for verdict in verdicts {
                    let is_right = is(verdict, Class::Quilt) == (verdict.id == "http://quilt.example/");
                    assert!(is_right, "{n_copies} copies, first: {is_first}, {way}: {verdict:?}");
                }
            }
        }
    }
}

/// Five others quote all of an article between them. Who links to it took from it, whoever came first; without a link, or where the
/// article links to them as well, nothing tells who took from whom.
#[test]
fn an_article_is_no_quilt_of_those_who_quote_it() {
    const ARTICLE: &str = "http://article.example/";
    let quoters = |links: bool| -> Vec<Input> {
        let quoter = |number: u64| {
            let url = format!("http://quoter{number}.example/");
            let text = [sentences(910 + number, 0..9), sentences(900, 3 * number..3 * number + 3)].concat();
            if links { linking(&url, &text, ARTICLE) } else { at(&url, &text) }
        };
        (0..5).map(quoter).collect()
    };
    let text = sentences(900, 0..15);
    let article = at(ARTICLE, &text);
    let to_all: Vec<String> = (0..5)
        .map(|number| format!("<a href=\"http://quoter{number}.example/\">{}</a>", sentence(990, number)))
        .collect();
    let answering = html_page(ARTICLE, Some(ARTICLE), &page("page", &[text, to_all].concat()));
    let mut paper = Settings::default();
    paper.quilt.quoters_are_sources = true;
    let default = Settings::default();
    for (case, article, links, settings, is_quilt) in [
        ("quoters link to it", &article, true, &default, false),
        ("nobody links", &article, false, &default, true),
        ("both link", &answering, true, &default, true),
        ("the settings say so", &article, true, &paper, true),
    ] {
        let before = [vec![article.clone()], quoters(links)].concat();
        let after = [quoters(links), vec![article.clone()]].concat();
        let among = [quoters(links)[..2].to_vec(), vec![article.clone()], quoters(links)[2..].to_vec()].concat();
        for (order, inputs) in [("before", before), ("after", after), ("among", among)] {
            let exact = judged_exactly(inputs.clone(), settings);
            let streamed: Vec<Verdict> = told(inputs, settings).into_values().collect();
            for (way, verdicts) in [("exact", &exact), ("stream", &streamed)] {
                let verdict = by_id(verdicts)[ARTICLE];
                assert_eq!(is(verdict, Class::Quilt), is_quilt, "{case}, {order} them, {way}: {verdict:?}");
                let others = verdicts.iter().filter(|verdict| verdict.id != ARTICLE);
                assert_eq!(
                    others.filter(|verdict| is(verdict, Class::Quilt)).count(),
                    0,
                    "{case}, {order} them, {way}"
                );
            }
        }
    }
}

/// The ways in which a page under `http://HOST/story/1.html` is linked to: as it was crawled, and as others write it.
const WAYS: [&str; 6] = [
    "http://HOST/story/1.html",
    "https://HOST/story/1.html",
    "http://www.HOST/story/1.html#top",
    "http://HOST/story/1/",
    "http://HOST/story/1.html?utm_source=rss&utm_medium=feed",
    "https://www.HOST/story/1.html?ref=feed&fbclid=7",
];

/// Five others quote all of an article between them, and each links to it. However they write its address, they took from it.
#[test]
fn a_link_is_one_however_it_is_written() {
    let article = at("http://article.example/story/1.html", &sentences(900, 0..15));
    for way in WAYS {
        let to = way.replace("HOST", "article.example");
        let quoter = |number: u64| {
            let text = [sentences(910 + number, 0..9), sentences(900, 3 * number..3 * number + 3)].concat();
            linking(&format!("http://quoter{number}.example/"), &text, &to)
        };
        let quoters: Vec<Input> = (0..5).map(quoter).collect();
        for inputs in [[vec![article.clone()], quoters.clone()].concat(), [quoters, vec![article.clone()]].concat()] {
            let exact = judged_exactly(inputs.clone(), &Settings::default());
            let streamed: Vec<Verdict> = told(inputs, &Settings::default()).into_values().collect();
            for verdicts in [&exact, &streamed] {
                assert!(verdicts.iter().all(|verdict| !is(verdict, Class::Quilt)), "{to}");
                let relations: BTreeSet<&str> = verdicts
                    .iter()
                    .flat_map(|verdict| &verdict.related)
                    .map(|related| related.relation.name())
                    .collect();
                assert_eq!(relations, BTreeSet::from(["citation"]), "{to}");
            }
        }
    }
}

/// Four passages with a link to each of their sources are an aggregator, however the links are written and whoever else has the passages.
/// What is said of links is said of the sources that are named.
#[test]
fn an_aggregator_links_to_the_sources_that_it_names() {
    let sources: Vec<Input> = (1..=4)
        .map(|article| at(&format!("http://source{article}.example/story/1.html"), &sentences(article, 0..12)))
        .collect();
    // Each has less of a passage, and none is named.
    let others: Vec<Input> = (1..=4)
        .map(|article| {
            let text = [sentences(920 + article, 0..9), sentences(article, 6..9)].concat();
            at(&format!("http://other{article}.example/"), &text)
        })
        .collect();
    for way in WAYS {
        let link = |article: u64| {
            let to = way.replace("HOST", &format!("source{article}.example"));
            format!("<a href=\"{to}\">more</a>")
        };
        let passages = (1..=4).flat_map(|article| [sentences(article, 6..11), vec![link(article)]].concat());
        let url = "http://today.example/";
        let today = html_page(url, Some(url), &page("page", &passages.collect::<Vec<_>>()));
        let last = [sources.clone(), others.clone(), vec![today.clone()]].concat();
        let first = [vec![today], others.clone(), sources.clone()].concat();
        for inputs in [last, first] {
            let exact = judged_exactly(inputs.clone(), &Settings::default());
            let streamed: Vec<Verdict> = told(inputs, &Settings::default()).into_values().collect();
            for verdicts in [&exact, &streamed] {
                let verdict = by_id(verdicts)[url];
                let quilt = verdict.quilt.as_ref().unwrap();
                let n_linked = quilt.sources.iter().filter(|source| source.linked).count();
                assert_eq!((quilt.kind, n_linked), (QuiltKind::Aggregator, quilt.sources.len()), "{way}: {quilt:?}");
                let features = verdict.features.unwrap();
                assert_eq!((features.n_sources, features.sources_linked), (n_linked as f64, 1.0), "{way}");
            }
        }
    }
}

/// An article that has half of its words from one other is no quilt. A copy of it that has taken two sentences from each of three more
/// is no quilt either: the article is what it is made of. A copy of a quilt is one.
#[test]
fn a_copy_is_a_quilt_if_its_head_is() {
    let half = [sentences(900, 0..11), sentences(901, 0..20)].concat();
    let mut inputs = vec![at("http://half.example/", &half)];
    inputs.extend((1..=4).map(|article| at(&format!("http://source{article}.example/"), &sentences(article, 0..10))));
    let article = sentences(900, 0..20);
    let copy = [article.clone(), (1..=3).flat_map(|other| sentences(other, 3..5)).collect()].concat();
    let quilt = [sentences(1, 0..5), sentences(2, 0..5), sentences(3, 5..10), sentences(4, 5..10)].concat();
    let copied = [quilt.clone(), sentences(950, 0..1)].concat();
    for (id, text) in [("article", &article), ("copy", &copy), ("quilt", &quilt), ("copied", &copied)] {
        inputs.push(at(&format!("http://{id}.example/"), text));
    }
    let streamed = told(inputs.clone(), &Settings::default());
    let exact = judged_exactly(inputs, &Settings::default());
    for told in [by_id(&streamed.into_values().collect::<Vec<_>>()), by_id(&exact)] {
        let of = |id: &str| told[&*format!("http://{id}.example/")];
        let head = |id: &str| of(id).mirror.as_ref().map(|mirror| mirror.of.as_str());
        assert_eq!((head("copy"), head("copied")), (Some("http://article.example/"), Some("http://quilt.example/")));
        let features = of("copy").features.unwrap();
        assert!(features.patch_fraction >= 0.5 && features.n_sources >= 4.0, "by itself it would be one: {features:?}");
        assert_eq!(
            ["article", "copy", "quilt", "copied"].map(|id| is(of(id), Class::Quilt)),
            [false, false, true, true]
        );
    }
}

#[test]
fn revisions_repeat_what_was_said() {
    let settings = Settings::default();
    let mut inputs = vec![at("http://early.example/", &patches([1, 2, 3, 4]))];
    inputs.extend((1..=4).map(|article| at(&format!("http://source{article}.example/"), &sentences(article, 0..10))));
    let events = judged(inputs, &settings);
    let mut of_early = events.iter().filter(|verdict| verdict.id == "http://early.example/");
    let (first, last) = (of_early.next().unwrap(), of_early.next_back().unwrap());
    assert!(first.classes.is_empty() && first.revision == 0);
    assert!(is(last, Class::Quilt) && last.revision > 0 && sources(last).len() == 4, "{last:?}");
    let bare = |verdict: &Verdict| Verdict {
        revision: 0,
        classes: Vec::new(),
        quilt: None,
        features: None,
        ..verdict.clone()
    };
    assert_eq!(bare(first), bare(last));
    let words = |verdict: &Verdict| verdict.features.unwrap().n_words;
    assert_eq!(words(first), words(last));
}
