//! Pages of one site, of one maker and of one text.

use super::super::articles::{sentence, sentences, word};
use super::super::corpora::html_page;
use super::super::{Input, folded, is, is_full, judged, judged_exactly, share, with_memory};
use super::{at, heads, told};
use seamripper::config::Settings;
use seamripper::signature::keyed::mix;
use seamripper::verdict::event::{Class, TextView};
use seamripper::verdict::relation::Direction;
use std::collections::{BTreeMap, BTreeSet};

#[test]
fn a_home_page_of_its_own_articles_is_no_quilt() {
    let articles = (0..6).map(|number| at(&format!("http://blog.example/{number}"), &sentences(number, 0..16)));
    let excerpts: Vec<String> = (0..6).flat_map(|number| sentences(number, 0..4)).collect();
    let home = at("http://www.blog.example/", &excerpts);
    let foreign = at("http://thief.example/", &excerpts[..20]);
    let articles: Vec<Input> = articles.collect();
    let after = [articles.clone(), vec![home.clone(), foreign.clone()]].concat();
    let before = [vec![home, foreign], articles].concat();
    for (order, inputs) in [("after", after), ("before", before)] {
        let verdicts = told(inputs, &Settings::default());
        let home = &verdicts["http://www.blog.example/"];
        assert!(!is(home, Class::Quilt), "{order} its articles: {home:?}");
        let articles = (0..6).map(|number| &verdicts[&format!("http://blog.example/{number}")]);
        assert!(articles.into_iter().all(|article| !is(article, Class::Quilt)), "{order}");
    }
    let articles = (0..6).map(|number| at(&format!("http://blog.example/{number}"), &sentences(number, 0..16)));
    let verdicts = told(articles.chain([at("http://thief.example/", &excerpts[..20])]).collect(), &Settings::default());
    assert!(is(&verdicts["http://thief.example/"], Class::Quilt), "the same on a foreign server is one");
}

#[test]
fn five_mirrors_of_one_page_are_mirrors_and_no_quilts() {
    let url = |number: u32| format!("http://mirror{number}.example/manual.html");
    let inputs = (0..6).map(|number| at(&url(number), &sentences(1, 0..20))).collect();
    let verdicts = told(inputs, &Settings::default());
    assert_eq!(verdicts[&url(0)].classes, [], "the first is the original");
    for number in 1..6 {
        let verdict = &verdicts[&url(number)];
        assert_eq!(verdict.classes.first(), Some(&Class::Mirror), "{verdict:?}");
        assert!(!is(verdict, Class::Quilt), "{verdict:?}");
        assert_eq!(verdict.mirror.as_ref().unwrap().of, url(0));
    }
}

/// What half of the web loads, by whoever made the page.
const PUBLIC_HEAD: &str = "<meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
    <meta name=\"description\" content=\"x\"><meta name=\"robots\" content=\"index\">\
    <link rel=\"preconnect\" href=\"https://fonts.gstatic.com\" crossorigin>\
    <link rel=\"stylesheet\" href=\"https://cdn.jsdelivr.net/npm/bootstrap@5.1.3/dist/css/bootstrap.min.css\">\
    <link rel=\"stylesheet\" href=\"https://cdnjs.cloudflare.com/ajax/libs/font-awesome/6.0.0/css/all.min.css\">\
    <script src=\"https://code.jquery.com/jquery-3.6.0.min.js\"></script>\
    <script src=\"https://cdn.jsdelivr.net/npm/bootstrap@5.1.3/dist/js/bootstrap.bundle.min.js\"></script>\
    <script async src=\"https://www.googletagmanager.com/gtag/js?id=UA-1\"></script>";

/// The body of a page as one of four people would write it.
fn handmade(maker: usize, article: u64) -> String {
    let text = sentences(article, 0..6 + article % 5);
    let each = |form: fn(usize, &str) -> String| -> String {
        text.iter().enumerate().map(|(place, sentence)| form(place, sentence)).collect()
    };
    match maker {
        0 => format!(
            "<form id=\"find\" method=\"get\" action=\"/find\"><input type=\"text\" name=\"q\" size=\"9\"></form>\
             <div class=\"sidebar\"><ul><li class=\"l1\"><a class=\"ref\" href=\"a.html\">a</a></li></ul></div>\
             <div class=\"body\"><section id=\"top\"><h1>x<a class=\"headerlink\" href=\"#x\">#</a></h1>{}</section></div>",
            each(|_, text| format!("<div class=\"note\"><p>{text}</p></div>\n"))
        ),
        1 => format!(
            "<div id=\"doc\" lang=\"en\" dir=\"ltr\"><img src=\"x.png\" alt=\"\" width=\"9\" height=\"9\" border=\"0\"></div>\
             <h1>Module <tt>x</tt></h1><pre>val <span id=\"VAL\">x</span> : int</pre>{}<hr><a href=\"b.html\">b</a>",
            each(|_, text| format!("<dl class=\"fn\"><dt><code>x(y)</code></dt><dd>{text}</dd></dl>"))
        ),
        2 => format!(
            "<table width=\"100%\" cellpadding=\"4\" border=\"0\" bgcolor=\"#fff\"><tr align=\"left\"><td id=\"side\" valign=\"top\"><a href=\"/wiki/a\">a</a></td><td id=\"page\">{}\
             <hr><i>Edit this page</i> | <a href=\"?history\">History</a></td></tr></table>",
            each(|place, text| format!("<a name=\"s{place}\"></a><h2>x</h2><p>{text}</p>\n"))
        ),
        _ => format!(
            "<div class=\"crumbs\"><a href=\"/f/a\">a</a> &raquo; </div><table class=\"topic\" cellspacing=\"1\">{}</table>\
             <form action=\"/reply\"><textarea name=\"msg\"></textarea></form>",
            each(|place, text| format!(
                "<tr class=\"row\"><td class=\"author\"><b>x</b><br>7</td><td class=\"msg\" id=\"p{place}\">{text}</td></tr>\n"
            ))
        ),
    }
}

#[test]
fn what_everybody_loads_makes_no_template() {
    // A stylesheet of their own that all call the same is not what they are told by either.
    for own in ["", "<link rel=\"stylesheet\" href=\"/css/style.css\">"] {
        let page = |number: u64| {
            let (maker, site) = (number as usize % 4, number / 4 % 5);
            let url = format!("http://maker{maker}-site{site}.example/{number}");
            let body = handmade(maker, number);
            html_page(&url, Some(&url), &format!("<html><head>{PUBLIC_HEAD}{own}</head><body>{body}</body></html>"))
        };
        let verdicts = told((0..80).map(page).collect(), &Settings::default());
        let mut makers: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
        for verdict in verdicts.values() {
            let maker = verdict.id.strip_prefix("http://").and_then(|rest| rest.split('-').next()).unwrap();
            if let Some(cluster) = verdict.cluster.as_deref() {
                *makers.entry(cluster).or_default().entry(maker).or_default() += 1;
            }
        }
        assert!(makers.values().all(|makers| makers.len() == 1), "{own}: {makers:?}");
        let n_clustered: usize = makers.values().flat_map(BTreeMap::values).sum();
        assert!(n_clustered >= 70, "pages of one maker are still of one template: {makers:?}");
    }
}

/// What a service gives to embed one of its posts: much markup, the same for everybody, and a number of the post.
fn embedded(post: u64) -> String {
    const STYLES: [&str; 7] = [
        "padding:19% 0;",
        " width: 0; height: 0; ",
        "transform: translateX(9px) translateY(-18px);",
        " border-top: 8px solid #F4F4F4; ",
        "background:#FFF; ",
        "box-shadow:0 0 1px 0 rgba(0,0,0,0.5),0 1px 10px 0;",
        "width:calc(100% - 2px); ",
    ];
    let style = |n: u64| -> String { (0..4).map(|place| STYLES[(mix(n, place) % 7) as usize]).collect() };
    let boxes: String = (0..40).map(|n| format!("<div style=\"{}\"></div>", style(n))).collect();
    format!("<blockquote class=\"post\" data-post-permalink=\"https://post.example/p/{post}/\">{boxes}</blockquote>")
}

/// Four makers on five sites each show a post that is embedded. What they have in common is the post.
#[test]
fn an_embedded_post_makes_no_template() {
    let page = |number: u64| {
        let url = format!("http://maker{}-site{}.example/{number}", number % 4, number / 4);
        let (own, body) =
            (format!("<link rel=\"stylesheet\" href=\"/{number}.css\">"), handmade(number as usize % 4, number));
        let html = format!("<html><head>{own}</head><body>{body}{}</body></html>", embedded(number));
        html_page(&url, Some(&url), &html)
    };
    let maker = |id: &str| id.strip_prefix("http://").and_then(|rest| rest.split('-').next()).unwrap().to_owned();
    let inputs: Vec<Input> = (0..20).map(page).collect();
    for verdicts in [judged(inputs.clone(), &Settings::default()), judged_exactly(inputs, &Settings::default())] {
        let mut makers: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for verdict in folded(&verdicts) {
            let cluster = verdict.cluster.clone().unwrap_or_else(|| verdict.id.clone());
            makers.entry(cluster).or_default().insert(maker(&verdict.id));
        }
        assert!(makers.values().all(|makers| makers.len() == 1), "{makers:?}");
    }
}

/// Sixty links to all of a shop, and what it says of one of its goods.
fn goods(url: &str, text: &str) -> Input {
    let link = |n: u64| format!("<li><a href=\"/{n}\">{}</a></li>", sentence(77, n));
    let menu: String = (0..60).map(link).collect();
    let html = format!(
        "<html><head><title>shop</title></head><body><div id=\"menu\"><ul>{menu}</ul></div>\
         <div id=\"goods\"><p>{text}</p></div></body></html>"
    );
    html_page(url, Some(url), &html)
}

#[test]
fn a_menu_makes_no_mirrors_of_small_pages() {
    let url = |number: u64| format!("http://shop.example/{number}");
    let mut inputs: Vec<Input> =
        (0..6).map(|number| goods(&url(number), &sentences(100 + number, 0..3).join(" "))).collect();
    inputs.push(goods("http://mirror.example/2", &sentences(102, 0..3).join(" ")));
    // Too few words to be told by.
    inputs.extend([6, 7].map(|number| goods(&url(number), ["Soon here.", "Sold out."][number as usize - 6])));
    let heads = heads(inputs.clone());
    let copies: Vec<_> = heads.iter().filter_map(|(id, of)| of.as_deref().map(|of| (id.as_str(), of))).collect();
    assert_eq!(copies, [("http://mirror.example/2", url(2).as_str()), (url(7).as_str(), url(6).as_str())]);
    let told = told(inputs, &Settings::default());
    let view = |id: &str| told[id].mirror.as_ref().unwrap().view;
    assert_eq!(view("http://mirror.example/2"), TextView::Shown, "it was compared by all of it");
    assert_eq!(view(&url(7)), TextView::Core, "a menu without content is all of the page");
}

/// Of 200 pages of as many domains, the share that is still known after `n_junk` pages of `n_sentences` that nobody else has, from
/// `host` or each from a domain of its own.
fn known_after_flood(settings: &Settings, (n_junk, n_sentences): (usize, u64), host: Option<&str>) -> f64 {
    const N_PAGES: usize = 200;
    let url = |number: usize, copy: &str| format!("http://honest{number}-{copy}.example/");
    let pages = |copy: &'static str| {
        (0..N_PAGES).map(move |number| at(&url(number, copy), &sentences(number as u64, 0..12))).collect::<Vec<_>>()
    };
    let junk = (0..n_junk).map(|number| {
        let host = host.map_or_else(|| format!("junk{number}.example"), str::to_owned);
        at(&format!("http://{host}/{number}"), &sentences(1_000_000 + number as u64, 0..n_sentences))
    });
    let inputs = pages("first").into_iter().chain(junk).chain(pages("second")).collect();
    let verdicts = told(inputs, settings);
    let is_known = |number: &usize| {
        let mirror = verdicts[&url(*number, "second")].mirror.as_ref();
        mirror.is_some_and(|mirror| mirror.of == url(*number, "first"))
    };
    share((0..N_PAGES).filter(is_known).count(), N_PAGES)
}

#[test]
fn a_flood_from_one_domain_pushes_nobody_out() {
    let settings = with_memory(8 << 20);
    let n_junk = if is_full() { 40_000 } else { 12_000 };
    // Long pages are few, and take no less room.
    for junk in [(n_junk, 12), (n_junk / 40, 1_000)] {
        let many = known_after_flood(&settings, junk, None);
        assert!(many < 0.5, "the store is not small enough to tell: {many:.3}");
        for host in ["junk.example", "192.0.2.7", "[2001:db8::7]", "intranet"] {
            let one = known_after_flood(&settings, junk, Some(host));
            println!("known after {junk:?} pages, sentences of {host}: {one:.3}, of as many domains: {many:.3}");
            assert!(one >= 0.99, "{host}, {junk:?}: {one:.3}");
        }
    }
}

#[test]
fn a_part_stays_its_own_head() {
    let settings = Settings::default();
    let day = at("http://log.example/2026/05/03", &sentences(1, 0..8));
    let month: Vec<String> = (1..=5).flat_map(|article| sentences(article, 0..8)).collect();
    let month = at("http://log.example/2026/05", &month);
    let copy = at("http://other.example/copy", &sentences(1, 0..8));
    let told = told(vec![day, month, copy], &settings);
    let part = told["http://log.example/2026/05"].mirror.as_ref().unwrap();
    assert_eq!((part.of.as_str(), part.size, part.relation.name()), ("http://log.example/2026/05/03", 1, "archive"));
    assert_eq!(part.direction, Direction::ThatInThis);
    let copy = told["http://other.example/copy"].mirror.as_ref().unwrap();
    assert_eq!((copy.of.as_str(), copy.size), ("http://log.example/2026/05/03", 2));
    assert_eq!(copy.direction, Direction::Equal);
}

/// A shop whose pages have forty lines of a menu and a note about parcels in common, and little or nothing of their own.
#[test]
fn what_a_site_puts_around_its_pages_makes_no_mirrors() {
    let line = |number: u64| (0..4).map(|place| word(7 * number + place)).collect::<Vec<_>>().join(" ");
    let site = |url: &str, own: &[String]| {
        let menu: String = (0..40).map(|number| format!("<div>{}</div>", line(number))).collect();
        let own: String = own.iter().map(|paragraph| format!("<p>{paragraph}</p>")).collect();
        let note = sentences(900, 0..3).join(" ");
        html_page(url, Some(url), &format!("<body><div>{menu}<div>{own}</div><div>{note}</div></div></body>"))
    };
    let host = "http://shop.example";
    let url = |path: &str| format!("{host}{path}");
    let article = sentences(1, 0..9);
    let inputs = vec![
        site(&url("/"), &sentences(2, 0..1)),
        site(&url("/login"), &[]),
        site(&url("/contact"), &sentences(3, 0..2)),
        site(&url("/goods/1"), &sentences(4, 0..1)),
        site(&url("/goods/2"), &sentences(5, 0..1)),
        site(&url("/goods/3"), &sentences(6, 0..6)),
        site(&url("/news?id=1"), &article),
        // All of these are pages that were there before.
        site(&url("/goods/1?sid=0123456789abcdef"), &sentences(4, 0..1)),
        site(&url("/entry"), &[]),
        at(&url("/print?id=1"), &article),
        at("http://other.example/all", &[article.clone(), sentences(7, 0..20)].concat()),
        at(&url("/all"), &[sentences(8, 0..20), sentences(9, 0..9)].concat()),
        at(&url("/one"), &sentences(9, 0..9)),
    ];
    let expected = BTreeMap::from([
        (url("/goods/1?sid=0123456789abcdef"), (url("/goods/1"), "mirror")),
        (url("/entry"), (url("/login"), "mirror")),
        (url("/print?id=1"), (url("/news?id=1"), "archive")),
        (url("/one"), (url("/all"), "archive")),
        ("http://other.example/all".to_owned(), (url("/print?id=1"), "excerpt_list")),
    ]);
    let settings = Settings::default();
    for verdicts in [folded(&judged(inputs.clone(), &settings)), folded(&judged_exactly(inputs, &settings))] {
        let mirrors = verdicts.iter().filter(|verdict| is(verdict, Class::Mirror)).map(|verdict| {
            let mirror = verdict.mirror.as_ref().unwrap();
            (verdict.id.clone(), (mirror.of.clone(), mirror.relation.name()))
        });
        assert_eq!(mirrors.collect::<BTreeMap<_, _>>(), expected);
    }
}

/// Of an article and a half of it, the sentences of both are 0.67 the same.
#[test]
fn a_half_lies_in_the_whole() {
    let half = at("http://half.example/", &sentences(1, 0..10));
    let whole = at("http://whole.example/", &sentences(1, 0..20));
    for (inputs, last, direction) in [
        ([half.clone(), whole.clone()], "http://whole.example/", Direction::ThatInThis),
        ([whole, half], "http://half.example/", Direction::ThisInThat),
    ] {
        let told = told(inputs.to_vec(), &Settings::default());
        let part = told[last].mirror.as_ref().unwrap();
        assert!(part.overlap > 0.6 && part.containment == 1.0, "{part:?}");
        assert_eq!((part.relation.name(), part.direction), ("excerpt_list", direction));
    }
}
