//! The words of the one-pass reader against those of a tree that html5ever builds by the standard.
//!
//! The walk over the tree applies the same rules of what is seen, written anew and in the obvious way, so that what is
//! compared is parsing.

use crate::data;
use html5ever::tendril::TendrilSink;
use html5ever::tree_builder::TreeBuilderOpts;
use html5ever::{ParseOpts, ns, parse_document};
use markup5ever_rcdom::{Handle, NodeData, RcDom};
use seamripper::config::Settings;
use seamripper::document::Document;
use seamripper::document::html::{Scratch, read};
use std::collections::HashMap;
use std::path::Path;

/// Text on lines of its own.
const LINES: &str = " address article aside blockquote body br caption center dd details dialog dir div dl dt fieldset \
    figcaption figure footer form h1 h2 h3 h4 h5 h6 head header hgroup hr html legend li listing main marquee menu nav ol p \
    plaintext pre search section summary table tbody td tfoot th thead tr ul xmp ";
/// Words of their own.
const ATOMS: &str = " audio button canvas iframe input keygen math meter object progress select svg textarea video ";
const UNSEEN: &str = " datalist iframe noembed noframes optgroup option script select style template title ";
const UNSEEN_FOREIGN: &str = " annotation annotation-xml desc metadata script style title ";

fn holds(list: &str, name: &str) -> bool {
    list.split(' ').any(|word| word == name)
}

#[derive(Clone, Copy, PartialEq)]
enum Show {
    Shown,
    Hidden,
    TooSmall,
    Dropped,
}

/// The visible text of a tree, with a space or line feed where words end.
fn tree_text(source: &str) -> String {
    let opts = ParseOpts {
        tree_builder: TreeBuilderOpts { scripting_enabled: false, ..Default::default() },
        ..Default::default()
    };
    let dom = parse_document(RcDom::default(), opts).one(source);
    let mut text = String::new();
    // A step is a node to enter, or (with a border to write) one to leave.
    let mut steps: Vec<(Option<Handle>, Show, &str)> = vec![(Some(dom.document.clone()), Show::Shown, "")];
    while let Some((node, show, border)) = steps.pop() {
        text.push_str(border);
        let Some(node) = node else { continue };
        let mut inner = show;
        match &node.data {
            NodeData::Text { contents } if show == Show::Shown => {
                text.extend(contents.borrow().chars().filter(|&c| !is_invisible(c)));
            }
            NodeData::Element { name, attrs, .. } => {
                let local = &*name.local;
                let (unseen, border) = if name.ns == ns!(html) {
                    let border = if holds(LINES, local) {
                        "\n"
                    } else if holds(ATOMS, local) {
                        " "
                    } else {
                        ""
                    };
                    (holds(UNSEEN, local), border)
                } else {
                    (holds(UNSEEN_FOREIGN, local), " ")
                };
                text.push_str(border);
                let attrs = attrs.borrow();
                let value = |name: &str| attrs.iter().find(|a| &*a.name.local == name).map(|a| a.value.to_string());
                if !["html", "body", "head"].contains(&local) {
                    inner = shown(show, unseen, border == "\n", value("hidden").is_some(), value("style"));
                }
                steps.push((None, show, border));
            }
            _ => {}
        }
        steps.extend(node.children.borrow().iter().rev().map(|child| (Some(child.clone()), inner, "")));
    }
    text
}

fn shown(show: Show, unseen: bool, is_block: bool, hidden: bool, style: Option<String>) -> Show {
    if unseen || show == Show::Dropped {
        return Show::Dropped;
    }
    let style = style.unwrap_or_default().to_ascii_lowercase();
    let declarations: HashMap<&str, &str> = style
        .split(';')
        .filter_map(|declaration| declaration.split_once(':'))
        .map(|(name, value)| (name.trim(), value.trim().split(['!', ' ']).next().unwrap()))
        .collect();
    let is = |name: &str, values: &[&str]| declarations.get(name).is_some_and(|value| values.contains(value));
    let number = |value: &str| value.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '%').parse::<f64>();
    let zero = |name: &str| declarations.get(name).is_some_and(|value| number(value) == Ok(0.0));
    let hides = is("display", &["none"])
        || is("visibility", &["hidden", "collapse"])
        || zero("opacity")
        || zero("max-height")
        || ((zero("width") || zero("height")) && is("overflow", &["hidden", "clip"]));
    match show {
        Show::Hidden => Show::Hidden,
        _ if hidden || hides => Show::Hidden,
        Show::TooSmall if declarations.contains_key("font-size") && !zero("font-size") => Show::Shown,
        Show::Shown if zero("font-size") && !is_block => Show::TooSmall,
        other => other,
    }
}

fn is_invisible(c: char) -> bool {
    (c.is_control() && !c.is_whitespace())
        || matches!(
            c,
            '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{3164}'
        )
        || matches!(c, '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}')
        || matches!(c, '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF9}'..='\u{FFFB}')
        || matches!(c, '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E01EF}')
}

/// Words lost, invented, and there, over a number of pages.
#[derive(Default)]
struct Tally {
    n_pages: usize,
    n_differing: usize,
    n_lost: usize,
    n_invented: usize,
    n_words: usize,
}

impl Tally {
    fn add(&mut self, source: &str) {
        let mut document = Document::default();
        read(source, &Settings::default().limits, 1, &mut Scratch::default(), &mut document);
        let tree = tree_text(source);
        let mut counts: HashMap<&str, i64> = HashMap::new();
        tree.split_whitespace().for_each(|word| *counts.entry(word).or_default() += 1);
        self.n_words += tree.split_whitespace().count();
        document.text.split_whitespace().for_each(|word| *counts.entry(word).or_default() -= 1);
        let n_lost = counts.values().map(|&n| n.max(0) as usize).sum::<usize>();
        let n_invented = counts.values().map(|&n| (-n).max(0) as usize).sum::<usize>();
        self.n_pages += 1;
        self.n_differing += usize::from(n_lost + n_invented > 0);
        self.n_lost += n_lost;
        self.n_invented += n_invented;
        if std::env::var_os("SEAMRIPPER_SHOW_WORDS").is_some() && n_lost + n_invented > 0 {
            let words: Vec<_> = counts.iter().filter(|(_, n)| **n != 0).take(12).collect();
            println!(
                "{n_lost} lost, {n_invented} invented: {words:?} in {}",
                &source[..source.floor_char_boundary(300)]
            );
        }
    }

    /// At most `share_max` of the words are lost, and at most as many invented.
    fn check(&self, name: &str, share_max: f64) {
        let Self { n_pages, n_differing, n_lost, n_invented, n_words } = self;
        let share = |n: &usize| *n as f64 / (*n_words).max(1) as f64;
        println!(
            "{name}: {n_pages} pages, {n_words} words, {:.4} % lost, {:.4} % invented, {n_differing} pages differ",
            100.0 * share(n_lost),
            100.0 * share(n_invented),
        );
        assert!(*n_words > 0, "{name}: this must compare something");
        assert!(share(n_lost) <= share_max && share(n_invented) <= share_max, "{name}: more than {share_max}");
    }
}

/// The bundled pages: those of the demo and those written for this test.
fn bundled() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files: Vec<_> = ["demo/pages", "tests/data/html"]
        .iter()
        .flat_map(|folder| std::fs::read_dir(root.join(folder)).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "html"))
        .collect();
    files.sort();
    files.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect()
}

#[test]
fn bundled_pages_have_the_words_of_the_tree() {
    let mut tally = Tally::default();
    bundled().iter().for_each(|page| tally.add(page));
    tally.check("bundled pages", 0.0);
}

/// One byte in 500 becomes a character of markup, and the end is cut off.
#[test]
fn damaged_pages_have_the_words_of_the_tree() {
    let mut tally = Tally::default();
    let mut state = 1u64;
    let mut random = |n: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % n
    };
    for page in bundled() {
        for _ in 0..40 {
            let mut damaged = String::new();
            let end = page.len() - random(page.len() / 4);
            for (_, character) in page.char_indices().take_while(|(at, _)| *at < end) {
                damaged.push(if random(500) == 0 { char::from(b"<>/=\"'&!- "[random(10)]) } else { character });
            }
            tally.add(&damaged);
        }
    }
    tally.check("damaged pages", 0.005);
}

#[test]
fn real_pages_have_the_words_of_the_tree() {
    for (set, nth) in [("html_web", 9), ("html_generators", 40)] {
        let Some(folder) = data::real(set) else { continue };
        let lines = data::unpacked(&folder.join("pages.jsonl.zst"));
        let mut tally = Tally::default();
        for line in lines.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).step_by(nth) {
            let page: serde_json::Value = serde_json::from_slice(line).unwrap();
            tally.add(page["html"].as_str().unwrap());
        }
        tally.check(set, 0.001);
    }
}
