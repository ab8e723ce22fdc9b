//! Small scenes whose right verdicts anybody can tell, made of articles that have nothing else in common.

mod later;
mod mails;
mod pages;
mod quilts;

use super::articles::{page, sentences};
use super::corpora::{html_page, raw_mail};
use super::{Input, folded, judged, judged_exactly};
use seamripper::config::Settings;
use seamripper::verdict::event::Verdict;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Folded verdicts by id.
fn told(inputs: Vec<Input>, settings: &Settings) -> HashMap<String, Verdict> {
    let verdicts = folded(&judged(inputs, settings));
    assert!(!verdicts.is_empty(), "nothing was judged");
    verdicts.into_iter().map(|verdict| (verdict.id.clone(), verdict)).collect()
}

/// Some sentences as a page under `url`, which is its id too.
fn at(url: &str, paragraphs: &[String]) -> Input {
    html_page(url, Some(url), &page("page", paragraphs))
}

/// A plain mail.
fn mail(id: &str, from: &str, subject: &str, lines: &[String]) -> Input {
    let body = lines.join("\r\n");
    let head = "To: someone@there.example\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8";
    raw_mail(id, format!("From: {from}\r\nSubject: {subject}\r\n{head}\r\n\r\n{body}\r\n").as_bytes())
}

/// The sources that a verdict names.
fn sources(verdict: &Verdict) -> BTreeSet<&str> {
    verdict.quilt.iter().flat_map(|quilt| &quilt.sources).map(|source| source.of.as_str()).collect()
}

/// Five sentences of each of four articles.
fn patches(articles: [u64; 4]) -> Vec<String> {
    articles.into_iter().flat_map(|article| sentences(article, 6..11)).collect()
}

/// Whose copy each of `inputs` is, in a stream and with all pairs compared, which must agree.
fn heads(inputs: Vec<Input>) -> BTreeMap<String, Option<String>> {
    let settings = Settings::default();
    let of = |verdicts: &[Verdict]| -> BTreeMap<String, Option<String>> {
        let head = |verdict: &Verdict| verdict.mirror.as_ref().map(|mirror| mirror.of.clone());
        verdicts.iter().map(|verdict| (verdict.id.clone(), head(verdict))).collect()
    };
    let streamed = of(&folded(&judged(inputs.clone(), &settings)));
    assert_eq!(streamed, of(&judged_exactly(inputs, &settings)));
    streamed
}
