//! Content blocks keep the article of a page, and leave out a good part of what stands around it.

use super::data;
use seamripper::config::Settings;
use seamripper::document::{Carrier, Format, Reader, Record};
use seamripper::signature::keyed::Keys;
use seamripper::text::words::{Rules, Traits, Words};
use seamripper::text::{Cutter, words};
use serde::Deserialize;
use std::collections::HashMap;

struct Measured {
    n_gold: usize,
    n_found: usize,
    n_kept: usize,
}

impl Measured {
    /// Counts the words of the gold text that `kept` holds, each as often as both have it.
    fn of(gold: &[u64], kept: &[u64]) -> Self {
        let mut counts: HashMap<u64, usize> = HashMap::new();
        for word in gold {
            *counts.entry(*word).or_default() += 1;
        }
        let mut n_found = 0;
        for word in kept {
            if let Some(count) = counts.get_mut(word).filter(|count| **count > 0) {
                *count -= 1;
                n_found += 1;
            }
        }
        Self { n_gold: gold.len(), n_found, n_kept: kept.len() }
    }

    fn recall(&self) -> f64 {
        self.n_found as f64 / self.n_gold as f64
    }

    fn precision(&self) -> f64 {
        self.n_found as f64 / self.n_kept.max(1) as f64
    }
}

fn mean(values: impl Iterator<Item = f64> + Clone) -> f64 {
    values.clone().sum::<f64>() / values.count() as f64
}

/// Reads pages and holds what they keep against gold texts.
struct Extraction {
    key: u64,
    reader: Reader,
    cutter: Cutter,
    gold: Words,
}

impl Extraction {
    fn new() -> Self {
        let settings = Settings::default();
        let keys = Keys::derive("content");
        let reader = Reader::new(settings.limits.clone(), keys);
        Self { key: keys.word, reader, cutter: Cutter::new(&settings, keys), gold: Words::default() }
    }

    /// The content blocks and all visible text of `html`, measured against `gold`.
    fn measure(&mut self, html: &str, gold: &str) -> (Measured, Measured) {
        let carrier = Carrier { content_type: Some("text/html; charset=utf-8".to_owned()), ..Carrier::default() };
        let record = Record { format: Format::Page, body: html.as_bytes().to_vec(), carrier };
        let text = self.cutter.cut(self.reader.read(&record).unwrap());
        self.gold.clear();
        let rules = Rules { digits_masked_min: 5, ..Rules::plain(self.key) };
        words::cut(gold, &rules, &mut self.gold);
        let units = text.words.hashes.iter().zip(&text.words.traits);
        let core: Vec<u64> = units.filter(|(_, traits)| traits.has(Traits::CORE)).map(|(hash, _)| *hash).collect();
        (Measured::of(&self.gold.hashes, &core), Measured::of(&self.gold.hashes, &text.words.hashes))
    }
}

const PAGE: &str = r#"<!doctype html><title>A page</title><body>
<div id=menu><ul><li><a href=/>Home</a><li><a href=/news>All the news of today</a><li><a href=/about>About us</a></ul></div>
<div id=main><h1>On seams</h1>
<p>A seam is the line where two pieces of cloth have been sewn together, and it holds as long as its thread does.</p>
<p>Whoever opens a seam finds two pieces again, and can tell from the edges which of them was there first.</p>
<p>Quilts are made of many such pieces, taken from clothes that nobody wears any more; each has a history of its own.</p></div>
<div id=foot><ul><li><a href=/terms>Terms of use and further terms</a><li>2026</ul></div>"#;

const GOLD: &str = "On seams
A seam is the line where two pieces of cloth have been sewn together, and it holds as long as its thread does.
Whoever opens a seam finds two pieces again, and can tell from the edges which of them was there first.
Quilts are made of many such pieces, taken from clothes that nobody wears any more; each has a history of its own.";

#[test]
fn the_article_is_kept_and_the_menu_is_not() {
    let (core, shown) = Extraction::new().measure(PAGE, GOLD);
    assert_eq!((core.recall(), core.precision()), (1.0, 1.0));
    assert!(shown.recall() == 1.0 && shown.precision() < 0.9, "{}", shown.precision());
}

#[derive(Deserialize)]
struct Page {
    html: String,
    article_body: Option<String>,
}

/// Measured on 244 pages: content blocks hold 0.988 of the words of the article, and 0.707 of what they hold is the
/// article; of all visible text 0.995 and 0.541. The bars leave room for another part of the same corpus.
#[test]
fn content_blocks_hold_the_gold_articles() {
    let Some(folder) = data::real("html_web") else { return };
    let unpacked = data::unpacked(&folder.join("pages.jsonl.zst"));
    let mut extraction = Extraction::new();
    let mut measured = Vec::new();
    for line in unpacked.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        // Most pages have no gold text and need not be parsed.
        if memchr::memmem::find(line, b"\"article_body\": null").is_some() {
            continue;
        }
        let page: Page = serde_json::from_slice(line).unwrap();
        let Some(gold) = page.article_body.filter(|gold| gold.len() > 100) else { continue };
        measured.push(extraction.measure(&page.html, &gold));
    }
    let report = |name: &str, of: fn(&(Measured, Measured)) -> &Measured| {
        let recall = mean(measured.iter().map(|pair| of(pair).recall()));
        let precision = mean(measured.iter().map(|pair| of(pair).precision()));
        let n_low = measured.iter().filter(|pair| of(pair).recall() < 0.5).count();
        println!(
            "{name}: recall {recall:.3}, precision {precision:.3}, {n_low} of {} pages under half",
            measured.len()
        );
        (recall, precision)
    };
    let core = report("content blocks", |pair| &pair.0);
    let shown = report("all visible text", |pair| &pair.1);
    assert!(measured.len() >= 100, "only {} gold texts", measured.len());
    assert!(core.0 >= 0.97, "recall {}", core.0);
    assert!(core.1 >= 0.65 && core.1 >= shown.1 + 0.1, "precision {} of {}", core.1, shown.1);
    assert!(shown.0 >= 0.985, "recall {} of all visible text", shown.0);
}
