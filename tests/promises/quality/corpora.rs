//! The real corpora as inputs.

use super::super::data;
use super::Input;
use seamripper::config::Settings;
use seamripper::corpus;
use seamripper::document::{Carrier, Format, Record};
use serde::de::DeserializeOwned;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::Path;

/// A plain text as a page. Without a URL it is its own server.
pub(crate) fn text_page(id: &str, url: Option<&str>, text: &str) -> Input {
    let content_type = Some("text/plain; charset=utf-8".to_owned());
    let url = url.map(str::to_owned);
    let carrier = Carrier { id: Some(id.to_owned()), url, content_type, ..Carrier::default() };
    Input { record: Record { format: Format::Page, body: text.as_bytes().to_vec(), carrier } }
}

/// A page. Without a URL it has no domain, and is its own server.
pub(crate) fn html_page(id: &str, url: Option<&str>, html: &str) -> Input {
    let content_type = Some("text/html; charset=utf-8".to_owned());
    let url = url.map(str::to_owned);
    let carrier = Carrier { id: Some(id.to_owned()), url, content_type, ..Carrier::default() };
    Input { record: Record { format: Format::Page, body: html.as_bytes().to_vec(), carrier } }
}

/// A raw mail.
pub(crate) fn raw_mail(id: &str, raw: &[u8]) -> Input {
    let carrier = Carrier { id: Some(id.to_owned()), ..Carrier::default() };
    Input { record: Record { format: Format::Mail, body: raw.to_vec(), carrier } }
}

/// The JSON lines of a packed file.
pub(crate) fn lines<T: DeserializeOwned>(file: &Path) -> Vec<T> {
    let bytes = data::unpacked(file);
    let lines = bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).unwrap()).collect()
}

/// One text of a set of texts.
#[derive(serde::Deserialize)]
pub(crate) struct Text {
    pub(crate) id: String,
    pub(crate) text: String,
}

impl Text {
    /// An address on the server that published it: a newspaper that quotes itself (livedoor sums up every week) quotes
    /// nobody else.
    pub(crate) fn url(&self) -> String {
        let Self { id, .. } = self;
        let (paper, _) = id.split_once('/').expect("ids begin with their set");
        format!("http://{paper}.example/{id}")
    }
}

/// The texts of a set, or none where it isn't there.
pub(crate) fn texts(set: &str) -> Vec<Text> {
    data::real(set).map(|folder| lines(&folder.join("docs.jsonl.zst"))).unwrap_or_default()
}

/// One page of a set of pages.
#[derive(Clone, serde::Deserialize)]
pub(crate) struct Page {
    pub(crate) id: String,
    pub(crate) url: String,
    pub(crate) site: String,
    #[serde(default)]
    pub(crate) generator: String,
    #[serde(default)]
    pub(crate) theme: String,
    pub(crate) html: String,
}

/// The pages of a set, or none where it isn't there.
pub(crate) fn pages(set: &str) -> Vec<Page> {
    data::real(set).map(|folder| lines(&folder.join("pages.jsonl.zst"))).unwrap_or_default()
}

/// A labelled mail.
#[derive(Clone)]
pub(crate) struct Mail {
    pub(crate) input: Input,
    pub(crate) is_spam: bool,
}

/// The mails of a set in file order, or none where it isn't there.
pub(crate) fn mails(set: &str) -> Vec<Mail> {
    #[derive(serde::Deserialize)]
    struct Label {
        id: String,
        file: String,
        label: String,
    }
    let Some(folder) = data::real(set) else { return Vec::new() };
    let labels = std::fs::read_to_string(folder.join("labels.jsonl")).unwrap();
    let labels = labels.lines().map(|line| serde_json::from_str::<Label>(line).unwrap());
    let labels: HashMap<String, Label> = labels.map(|label| (label.file.clone(), label)).collect();
    let mut mails = Vec::new();
    let paths = [folder.join("mails.tar.zst")];
    corpus::read(&paths, &corpus::Options::default(), &Settings::default().limits, &mut |entry| {
        let entry = entry.unwrap();
        let (_, file) = entry.place.rsplit_once('#').unwrap();
        let Label { id, label, .. } = &labels[file];
        mails.push(Mail { input: raw_mail(id, &entry.record.body), is_spam: label == "spam" });
        ControlFlow::Continue(())
    });
    assert_eq!(mails.len(), labels.len(), "{set}: mails and labels");
    mails
}

/// Pairs of ids with a similarity: the last three columns of a table with a head line.
pub(crate) fn pairs(table: &str) -> Vec<(String, String, f64)> {
    let rows = table.lines().skip(1).map(|line| {
        let columns: Vec<&str> = line.split('\t').collect();
        let [.., a, b, similarity] = columns[..] else { panic!("no pair: {line}") };
        (a.to_owned(), b.to_owned(), similarity.parse().unwrap())
    });
    rows.collect()
}
