//! Pages of one generator and theme cluster together and others stay apart, whatever the order and without host names.
//!
//! Precision is the share of pairs in one cluster that have the same generator and theme, recall the share of pairs of
//! one site that are in one cluster. A page without a declared generator is taken to be made by one of its site's own. The
//! cluster of a page is what its verdict says, and a cluster that has become part of an older one counts as that one.

use super::corpora::{self, Page, html_page};
use super::versions::Shingles;
use super::{Groups, Input, arranged, folded, is, judged, judged_clusters, orders, print_list, sampled, share};
use seamripper::config::Settings;
use seamripper::signature::keyed::mix;
use seamripper::verdict::event::{Class, ClusterEvent, Verdict};
use std::collections::{BTreeMap, HashMap, HashSet};

/// The cluster of every page that is in one.
struct Clusters {
    of: HashMap<String, String>,
}

impl Clusters {
    /// By folded verdicts and the clusters as they are in the end. The first page of a cluster is judged before there is
    /// one: it is found among the leaders.
    fn new(verdicts: &[Verdict], clusters: &[ClusterEvent]) -> Self {
        let merged: HashMap<&str, &str> =
            clusters.iter().filter_map(|event| Some((event.id.as_str(), event.merged_into.as_deref()?))).collect();
        let last = |id: &str| {
            let mut id = id.to_owned();
            // As many steps as there are merges: a circle is a bug, and ends.
            for _ in 0..merged.len() {
                let Some(older) = merged.get(id.as_str()) else { break };
                id = (*older).to_owned();
            }
            id
        };
        let mut of: HashMap<String, String> = HashMap::new();
        for event in clusters {
            of.extend(event.leaders.iter().map(|leader| (leader.clone(), last(&event.id))));
        }
        let said = verdicts.iter().filter_map(|verdict| Some((verdict.id.clone(), last(verdict.cluster.as_deref()?))));
        of.extend(said);
        Self { of }
    }

    /// The members of every cluster of two and more, the largest first.
    fn all(&self) -> Vec<(&str, Vec<&str>)> {
        let mut members: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (page, cluster) in &self.of {
            members.entry(cluster).or_default().push(page);
        }
        let mut clusters: Vec<_> = members.into_iter().filter(|(_, members)| members.len() > 1).collect();
        clusters.iter_mut().for_each(|(_, members)| members.sort_unstable());
        clusters.sort_by_key(|(_, members)| std::cmp::Reverse(members.len()));
        clusters
    }
}

/// What is known of a page.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
struct Label {
    site: String,
    /// Generator and theme.
    made_by: (String, String),
}

impl Label {
    fn of(page: &Page) -> Self {
        let made_by = match page.generator.as_str() {
            "" => (format!("unknown of {}", page.site), String::new()),
            generator => (generator.to_owned(), page.theme.clone()),
        };
        Self { site: page.site.clone(), made_by }
    }
}

/// How well templates are told.
#[derive(Debug, Default, PartialEq)]
struct Figures {
    n_clusters: usize,
    n_pairs: usize,
    n_right: usize,
    n_site_pairs: usize,
    n_site_joined: usize,
    /// The mean over sites of the share of their pairs that are in one cluster.
    site_recall: f64,
    mixed: Vec<String>,
}

impl Figures {
    fn precision(&self) -> f64 {
        share(self.n_right, self.n_pairs)
    }

    fn recall(&self) -> f64 {
        share(self.n_site_joined, self.n_site_pairs)
    }

    fn print(&self, title: &str) {
        println!(
            "{title}: precision {:.4} of {} pairs, recall {:.4} of {} pairs of a site ({:.4} by site), {} clusters",
            self.precision(),
            self.n_pairs,
            self.recall(),
            self.n_site_pairs,
            self.site_recall,
            self.n_clusters
        );
        print_list("clusters of several generators or themes", &self.mixed);
    }
}

fn n_pairs(n: usize) -> usize {
    n * n.saturating_sub(1) / 2
}

/// The figures of `clusters` on labelled pages.
fn measured(labels: &HashMap<String, Label>, clusters: &Clusters) -> Figures {
    let mut figures = Figures::default();
    let mut joined: HashMap<&str, usize> = HashMap::new();
    for (id, members) in clusters.all() {
        let (mut by_maker, mut by_site): (BTreeMap<_, usize>, BTreeMap<&str, usize>) = Default::default();
        for member in &members {
            let label = &labels[*member];
            *by_maker.entry(&label.made_by).or_default() += 1;
            *by_site.entry(&label.site).or_default() += 1;
        }
        figures.n_clusters += 1;
        figures.n_pairs += n_pairs(members.len());
        figures.n_right += by_maker.values().map(|&n| n_pairs(n)).sum::<usize>();
        by_site.into_iter().for_each(|(site, n)| *joined.entry(site).or_default() += n_pairs(n));
        if by_maker.len() > 1 {
            figures.mixed.push(format!("{id}: {by_maker:?}"));
        }
    }
    let mut sizes: BTreeMap<&str, usize> = BTreeMap::new();
    labels.values().for_each(|label| *sizes.entry(&label.site).or_default() += 1);
    let shares: Vec<f64> = sizes
        .iter()
        .filter(|(_, n)| **n > 1)
        .map(|(site, &n)| {
            let n_joined = joined.get(site).copied().unwrap_or(0);
            figures.n_site_pairs += n_pairs(n);
            figures.n_site_joined += n_joined;
            share(n_joined, n_pairs(n))
        })
        .collect();
    figures.site_recall = shares.iter().sum::<f64>() / shares.len().max(1) as f64;
    figures
}

/// Pages as inputs without their addresses, and what is known of them.
fn without_hosts(pages: &[Page], html: impl Fn(&Page) -> String) -> (Vec<Input>, HashMap<String, Label>) {
    let inputs = pages.iter().map(|page| html_page(&page.id, None, &html(page))).collect();
    (inputs, pages.iter().map(|page| (page.id.clone(), Label::of(page))).collect())
}

#[test]
fn pages_of_one_generator_and_theme_cluster() {
    let pages = sampled(corpora::pages("html_generators"), 4);
    if pages.is_empty() {
        return;
    }
    let settings = Settings::default();
    let (inputs, labels) = without_hosts(&pages, |page| page.html.clone());
    for order in if super::is_full() { 0..=3 } else { 0..=1 } {
        let (events, clusters) = judged_clusters(arranged(&inputs, order), &settings);
        let verdicts = folded(&events);
        super::assert_complete(labels.keys().cloned(), &verdicts);
        let figures = measured(&labels, &Clusters::new(&verdicts, &clusters));
        figures.print(&format!("html_generators, order {order}"));
        assert!(figures.precision() >= 0.998, "order {order}: precision {:.4}", figures.precision());
        assert!(figures.recall() >= 0.85, "order {order}: recall {:.4}", figures.recall());
    }
}

/// The same page with the file names of its stylesheets, scripts and pictures made random: the stem becomes letters that are
/// this page's alone, the folder and the ending stay.
fn with_random_assets(html: &str, seed: u64) -> String {
    let mut made = String::with_capacity(html.len() + 1024);
    let mut rest = html;
    while let Some(start) = rest.find('<') {
        made.push_str(&rest[..start]);
        rest = &rest[start..];
        let end = rest.find('>').map_or(rest.len(), |end| end + 1);
        let tag = &rest[..end];
        let name: String = tag[1..].chars().take_while(char::is_ascii_alphabetic).collect::<String>().to_lowercase();
        if ["link", "script", "img"].contains(&name.as_str()) {
            push_with_random_names(tag, seed, &mut made);
        } else {
            made.push_str(tag);
        }
        rest = &rest[end..];
    }
    made.push_str(rest);
    made
}

/// Adds `tag` with the file names in its `href` and `src` made random.
fn push_with_random_names(tag: &str, seed: u64, made: &mut String) {
    let mut rest = tag;
    loop {
        let lower = rest.to_ascii_lowercase();
        let starts = ["href=", "src="].into_iter().filter_map(|name| Some(lower.find(name)? + name.len()));
        let Some(start) = starts.min() else { break };
        made.push_str(&rest[..start]);
        rest = &rest[start..];
        let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''));
        if let Some(quote) = quote {
            made.push(quote);
            rest = &rest[1..];
        }
        let is_end = |c: char| quote.map_or(c.is_whitespace() || c == '>', |quote| c == quote);
        let address = &rest[..rest.find(is_end).unwrap_or(rest.len())];
        let file = address.rfind('/').map_or(0, |slash| slash + 1);
        let stem = address[file..].find(['.', '?', '#']).map_or(address.len(), |end| file + end);
        made.push_str(&address[..file]);
        if stem > file {
            let hash = address[file..stem].bytes().fold(seed, |hash, byte| mix(hash, u64::from(byte)));
            made.extend((0..10).map(|place| (b'a' + (mix(hash, place) % 26) as u8) as char));
        }
        made.push_str(&address[stem..]);
        rest = &rest[address.len()..];
    }
    made.push_str(rest);
}

#[test]
fn style_finds_templates_whose_asset_names_are_random() {
    let pages = sampled(corpora::pages("html_generators"), 4);
    if pages.is_empty() {
        return;
    }
    let settings = Settings::default();
    let seed = |page: &Page| page.id.bytes().fold(17, |hash, byte| mix(hash, u64::from(byte)));
    let (inputs, labels) = without_hosts(&pages, |page| with_random_assets(&page.html, seed(page)));
    for order in orders(1) {
        let (events, clusters) = judged_clusters(arranged(&inputs, order), &settings);
        let verdicts = folded(&events);
        super::assert_complete(labels.keys().cloned(), &verdicts);
        let figures = measured(&labels, &Clusters::new(&verdicts, &clusters));
        figures.print(&format!("html_generators with random asset names, order {order}"));
        assert!(figures.recall() >= 0.55, "order {order}: recall {:.4}", figures.recall());
    }
}

/// Clusters whose pages stand on several domains, with what they are.
fn across_domains(clusters: &Clusters, sites: &HashMap<&str, &str>) -> (Vec<String>, usize) {
    let mut listed = Vec::new();
    let mut n_pages = 0;
    for (id, members) in clusters.all() {
        let domains: BTreeMap<&str, usize> = members.iter().fold(BTreeMap::new(), |mut domains, member| {
            *domains.entry(sites[*member]).or_default() += 1;
            domains
        });
        if domains.len() > 1 {
            n_pages += members.len();
            listed.push(format!("{id}: {domains:?}, such as {:?}", &members[..2]));
        }
    }
    (listed, n_pages)
}

#[test]
fn unrelated_pages_of_the_web_stay_apart() {
    let pages = sampled(corpora::pages("html_web"), 2);
    if pages.is_empty() {
        return;
    }
    let settings = Settings::default();
    let inputs: Vec<Input> = pages.iter().map(|page| html_page(&page.id, Some(&page.url), &page.html)).collect();
    // A page without a known domain is a stranger to all.
    let site = |page: &Page| if page.site.is_empty() { page.id.clone() } else { page.site.clone() };
    let sites: Vec<(String, String)> = pages.iter().map(|page| (page.id.clone(), site(page))).collect();
    let sites: HashMap<&str, &str> = sites.iter().map(|(id, site)| (id.as_str(), site.as_str())).collect();
    let (events, clusters) = judged_clusters(inputs, &settings);
    let verdicts = folded(&events);
    super::assert_complete(pages.iter().map(|page| page.id.clone()), &verdicts);
    let clusters = Clusters::new(&verdicts, &clusters);
    let (listed, n_across) = across_domains(&clusters, &sites);
    println!("html_web: {n_across} of {} pages in {} clusters across domains", pages.len(), listed.len());
    print_list("clusters across domains", &listed);
    // Newspaper groups, forum software and log-in pages do share their frames: 7 % of pages when a frame was tried first.
    assert!(n_across * 10 <= pages.len(), "{n_across} of {} pages", pages.len());
}

#[test]
fn pages_of_one_shop_are_a_template_and_no_mirrors() {
    let pages = corpora::pages("html_swde_book");
    if pages.is_empty() {
        return;
    }
    let settings = Settings::default();
    let inputs: Vec<Input> = pages.iter().map(|page| html_page(&page.id, Some(&page.url), &page.html)).collect();
    let shingles = Shingles::of(&inputs, &settings);
    for order in orders(2) {
        let verdicts = folded(&judged(arranged(&inputs, order), &settings));
        super::assert_complete(pages.iter().map(|page| page.id.clone()), &verdicts);
        let n_templates = verdicts.iter().filter(|verdict| is(verdict, Class::Template)).count();
        let clusters: HashSet<&str> = verdicts.iter().filter_map(|verdict| verdict.cluster.as_deref()).collect();
        let groups = Groups::of(&verdicts);
        let copies =
            groups.all().into_iter().flat_map(|(head, copies)| copies.into_iter().map(move |copy| (copy, head)));
        let is_false = |&(copy, head): &(&str, &str)| shingles.core_resemblance(copy, head) < 0.5;
        let mirrors: Vec<String> = copies
            .filter(is_false)
            .map(|(copy, head)| format!("{:.2} {copy} of {head}", shingles.core_resemblance(copy, head)))
            .collect();
        println!(
            "html_swde_book, order {order}: {n_templates} of {} are a template, in {} clusters; false mirrors {}",
            pages.len(),
            clusters.len(),
            mirrors.len()
        );
        print_list("false mirrors", &mirrors);
        // The first four come before there is a template.
        assert!(n_templates * 20 >= 19 * (pages.len() - 4), "{n_templates} of {}", pages.len());
        assert!(mirrors.is_empty(), "{mirrors:?}");
    }
}

#[test]
fn made_clusters_have_the_figures_known_by_hand() {
    let label = |site: &str, generator: &str| Label { site: site.into(), made_by: (generator.into(), String::new()) };
    let labels: HashMap<String, Label> = [
        ("a1", label("a", "sphinx")),
        ("a2", label("a", "sphinx")),
        ("a3", label("a", "sphinx")),
        ("b1", label("b", "sphinx")),
        ("b2", label("b", "sphinx")),
        ("c1", label("c", "doxygen")),
    ]
    .map(|(id, label)| (id.to_owned(), label))
    .into();
    let verdict =
        |id: &str, cluster: Option<&str>| Verdict { cluster: cluster.map(str::to_owned), ..super::made::original(id) };
    // a1 leads t-1 and b1 leads t-2, which has become part of t-1; c1 is alone.
    let verdicts = [
        verdict("a1", None),
        verdict("b1", None),
        verdict("a2", Some("t-1")),
        verdict("b2", Some("t-2")),
        verdict("a3", None),
        verdict("c1", None),
    ];
    let event = |id: &str, leader: &str, merged_into: Option<&str>| ClusterEvent {
        schema: 1,
        id: id.into(),
        kind_of_documents: seamripper::document::Kind::Page,
        size: 2,
        domains: 1,
        similarity: 0.9,
        rank: 0.9,
        kind: Default::default(),
        linked: 0.0,
        copies: 0.0,
        leaders: vec![leader.into()],
        merged_into: merged_into.map(str::to_owned),
        expired: false,
    };
    let apart = [event("t-1", "a1", None), event("t-2", "b1", None)];
    let figures = measured(&labels, &Clusters::new(&verdicts, &apart));
    assert_eq!((figures.n_clusters, figures.precision(), figures.n_pairs), (2, 1.0, 2));
    assert_eq!((figures.recall(), figures.site_recall), (0.5, (1.0 / 3.0 + 1.0) / 2.0), "a3 is alone");
    let merged = [event("t-1", "a1", None), event("t-2", "b1", Some("t-1"))];
    let figures = measured(&labels, &Clusters::new(&verdicts, &merged));
    assert_eq!((figures.n_clusters, figures.precision(), figures.n_pairs, figures.recall()), (1, 1.0, 6, 0.5));

    let mut mixed = verdicts.to_vec();
    mixed[5].cluster = Some("t-1".into());
    let clusters = Clusters::new(&mixed, &apart);
    let figures = measured(&labels, &clusters);
    assert_eq!((figures.n_pairs, figures.n_right, figures.mixed.len()), (4, 2, 1));
    let sites: HashMap<&str, &str> = labels.iter().map(|(id, label)| (id.as_str(), label.site.as_str())).collect();
    assert_eq!((across_domains(&clusters, &sites).0.len(), across_domains(&clusters, &sites).1), (1, 3));
}

#[test]
fn random_assets_change_names_and_nothing_else() {
    let html = r#"<LINK rel=stylesheet href="../css/Main-2.css?v=1"><script SRC='a.js'></script><img alt=x src=/b/c.png><a href="d.html">s</a>"#;
    let [one, other] = [with_random_assets(html, 1), with_random_assets(html, 2)];
    assert_ne!(one, other);
    let names = with_stars(&one);
    let expected = r#"<LINK rel=stylesheet href="../css/*.css?v=1"><script SRC='*.js'></script><img alt=x src=/b/*.png><a href="d.html">s</a>"#;
    assert_eq!(names, expected);
    assert_eq!(with_random_assets("no tags, a < b", 1), "no tags, a < b");
}

/// With every made name (ten lower-case letters in a row) as a star.
fn with_stars(html: &str) -> String {
    let is_made = |part: &str| part.len() == 10 && part.bytes().all(|byte| byte.is_ascii_lowercase());
    let parts = html.split_inclusive(|c: char| !c.is_ascii_alphanumeric());
    parts
        .map(|part| {
            let name = part.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
            if is_made(name) && name != "stylesheet" { part.replace(name, "*") } else { part.to_owned() }
        })
        .collect()
}
