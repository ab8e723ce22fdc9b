//! What a scan found as one HTML file that a person would rather look at than read JSON.
//!
//! [`Report`] listens to every event while the scan runs and keeps what will be shown: counts of everything, and the
//! best examples of each class. At the end it is written together with the texts of these examples, which are read
//! again: a scan does not keep texts.
//!
//! The file needs no network and allows none: its policy lets one script and one style run, told by their hashes
//! ([`policy`]). Nothing in it can be clicked that leads elsewhere, for the addresses are those of hostile pages.
//!
//! # Invariants
//! - No string of a document becomes markup, whatever it holds. (`hostile_documents_stay_text`)
//! - The last event of an id holds. (`a_revision_replaces_what_was_shown`)
//! - What is kept is bounded, and what was left out is counted and said. (`a_large_scan_makes_a_small_report`)
//! - The same events give the same bytes. (`the_same_events_give_the_same_report`)

mod clusters;
mod difference;
mod groups;
mod mirrors;
mod notes;
mod overview;
mod page;
mod patches;
mod policy;
mod quilts;
mod ranking;
#[cfg(test)]
mod sample;
mod tally;

use super::report::shortened;
use crate::verdict::event::{ClusterEvent, Outcome, Verdict};
use page::Page;
use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};

/// The hash of an id. It never leaves the process, and nobody outside can make two alike.
type Key = u64;

/// Characters of an id, a URL or a label that are kept.
const NAME_CHARS_MAX: usize = 300;
/// Reasons of rejections that are counted apart.
const REASONS_MAX: usize = 20;
/// Bytes of the page after which no further texts are shown.
const PAGE_BYTES_MAX: usize = 6 << 20;

/// What the report says of the scan as a whole.
#[derive(Clone, Debug, Default)]
pub struct Meta {
    /// What was scanned.
    pub paths: Vec<String>,
    /// Documents read.
    pub n_documents: u64,
    /// Bytes read.
    pub n_bytes: u64,
    /// How long it took.
    pub seconds: f64,
    /// The settings that matter, one fact each.
    pub settings: Vec<String>,
    /// The version of the program.
    pub version: String,
}

/// A report under construction.
pub struct Report {
    hasher: RandomState,
    tally: tally::Tally,
    quilts: ranking::Ranking<quilts::Kept>,
    groups: groups::Groups,
    clusters: clusters::Clusters,
    notes: ranking::Ranking<notes::Kept>,
    reasons: BTreeMap<String, u64>,
}

impl Default for Report {
    fn default() -> Self {
        Self::new()
    }
}

impl Report {
    /// Nothing yet.
    pub fn new() -> Self {
        Self {
            hasher: RandomState::new(),
            tally: tally::Tally::new(tally::KNOWN_MAX),
            quilts: ranking::Ranking::new(quilts::QUILTS_MAX),
            groups: groups::Groups::new(),
            clusters: clusters::Clusters::new(),
            notes: ranking::Ranking::new(notes::NOTES_MAX),
            reasons: BTreeMap::new(),
        }
    }

    /// Takes in the next event, of the document at `place`.
    pub fn add(&mut self, verdict: &Verdict, place: &str) {
        let key = self.key(&verdict.id);
        self.tally.count(key, verdict, place);
        match &verdict.quilt {
            Some(quilt) => drop(self.quilts.put(key, quilts::Kept::of(verdict, quilt, place))),
            None => self.quilts.remove(key),
        }
        self.groups.remove(key);
        if let Some(mirror) = &verdict.mirror {
            self.groups.add(key, self.key(&mirror.of), mirror, verdict, place);
        }
        if let Some(template) = &verdict.template {
            self.clusters.example(self.key(&template.cluster), template.size, verdict);
        }
        match notes::Kept::of(verdict) {
            Some(kept) => drop(self.notes.put(key, kept)),
            None => self.notes.remove(key),
        }
        if verdict.outcome == Outcome::Rejected {
            self.reject(verdict.reason.as_deref().unwrap_or("no reason given"));
        }
    }

    /// Takes in what is said of a cluster, in place of what was said of it before.
    pub fn cluster(&mut self, event: &ClusterEvent) {
        let into = event.merged_into.as_deref().map(|id| self.key(id));
        self.clusters.add(self.key(&event.id), into, event);
    }

    /// The places of all documents whose texts [`Report::write`] will ask for, at most once each.
    pub fn places(&self) -> Vec<String> {
        let quilts = self.quilts.best().into_iter().map(|quilt| quilt.place.clone());
        let mirrors =
            self.groups.best().into_iter().filter_map(|group| {
                Some([self.tally.place(group.head_key)?.to_owned(), group.example()?.place.clone()])
            });
        let mut places: Vec<_> = quilts.chain(mirrors.flatten()).collect();
        places.sort_unstable();
        places.dedup();
        places
    }

    /// The finished file. `texts` gives the visible text of the document at a place, or `None` where it is gone.
    pub fn write(mut self, mut texts: impl FnMut(&str) -> Option<String>, meta: Meta) -> Vec<u8> {
        let mut page = Page::default();
        page.markup("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
        policy::write(&mut page);
        page.markup("<title>Seamripper report</title>\n</head>\n<body>\n");
        let contents = overview::Contents {
            n_quilts: self.tally.n(tally::Line::Quilt, None),
            n_mirrors: self.tally.n(tally::Line::Mirror, None),
            n_clusters: self.clusters.n_all(),
            n_notes: self.tally.n(tally::Line::Noted, None),
        };
        overview::write(&mut page, &self.tally, &self.reasons, &meta, &contents);
        page.markup("<main>\n");
        clusters::write(&mut page, &mut self.clusters);
        quilts::write(&mut page, &self.quilts.best(), contents.n_quilts, &mut texts);
        let place_of = |group: &groups::Group| self.tally.place(group.head_key);
        mirrors::write(&mut page, &self.groups.best(), contents.n_mirrors, place_of, &mut texts);
        notes::write(&mut page, &self.notes.best(), &self.tally);
        page.markup("</main>\n");
        overview::write_foot(&mut page, &meta);
        policy::write_script(&mut page);
        page.markup("</body>\n</html>\n");
        page.into_bytes()
    }

    fn key(&self, id: &str) -> Key {
        self.hasher.hash_one(id)
    }

    fn reject(&mut self, reason: &str) {
        let reason = brief(reason);
        let is_new = !self.reasons.contains_key(&reason);
        let reason = if is_new && self.reasons.len() >= REASONS_MAX { "other reasons".to_owned() } else { reason };
        *self.reasons.entry(reason).or_default() += 1;
    }
}

/// As much of a name as is worth keeping.
fn brief(name: &str) -> String {
    shortened(name, NAME_CHARS_MAX)
}

/// The start of a section: its heading, what it shows, and of how many.
fn section(page: &mut Page, id: &'static str, title: &'static str, n: u64, about: &'static str) {
    page.markup("<section id=\"").markup(id).markup("\">\n<h2>").markup(title).markup(" <span class=\"badge\">");
    page.count(n).markup("</span></h2>\n<p class=\"about\">").markup(about).markup("</p>\n");
}

/// Says how many of what a section is about are not in it.
fn left_out(page: &mut Page, n: u64, one: &'static str, many: &'static str) {
    if n > 0 {
        page.markup("<p class=\"left-out\">").counted(n, one, many).markup(" not shown here.</p>\n");
    }
}

#[cfg(test)]
mod tests {
    use super::sample::{cluster, mirror_of, original, quilt_of};
    use super::*;
    use crate::verdict::event::{Carried, Related, Template, TemplateKind, Via};
    use crate::verdict::relation::{Direction, Relation};
    use html5ever::tendril::TendrilSink;
    use markup5ever_rcdom::{Handle, NodeData, RcDom};

    const HOSTILE: &str =
        "</script><img src=x onerror=alert(1)>\"'`&amp;<!-- \0 \u{202e}evil\u{2028} ]]> <svg/onload=alert(1)>";

    /// A report whose every string is `s`.
    fn everywhere(s: &str) -> Vec<u8> {
        let mut report = Report::new();
        let labels =
            [Via::Document, Via::Mirror].map(|via| Carried { label: s.into(), via, of: s.into(), overridden: false });
        let related = Related {
            of: s.into(),
            url: Some(format!("{s}/")),
            relation: Relation::Citation,
            overlap: 0.3,
            containment: 0.4,
            direction: Direction::ThatInThis,
        };
        let template = Template {
            cluster: s.into(),
            frame: 0.9,
            style: 0.9,
            bins: 100,
            size: 9,
            domains: 3,
            kind: TemplateKind::LinkFarm,
        };
        let named = |verdict: Verdict| Verdict { domain: Some(format!("{s}.")), url: Some(s.into()), ..verdict };
        let ids = ["head", "copy", "quilt", "note", "no"].map(|id| format!("{id} {s}"));
        report.add(&named(original(&ids[0])), &ids[0]);
        let mut mirror = named(mirror_of(&ids[1], &ids[0], 0.9));
        mirror.mirror.as_mut().unwrap().url = Some(s.into());
        mirror.mirror.as_mut().unwrap().canonical = s.into();
        report.add(&mirror, &ids[1]);
        let mut quilt = named(quilt_of(&ids[2], &[(s, &[(3, 20), (25, 40)]), (s, &[(10, 30)])]));
        quilt.quilt.as_mut().unwrap().sources[0].url = Some(format!("https://{s}"));
        report.add(&quilt, &ids[2]);
        let noted =
            Verdict { labels: labels.into(), related: vec![related], template: Some(template), ..original(&ids[3]) };
        report.add(&named(noted), &ids[3]);
        let rejected = Verdict { outcome: Outcome::Rejected, reason: Some(s.into()), kind: None, ..original(&ids[4]) };
        report.add(&rejected, &ids[4]);
        report.cluster(&ClusterEvent { leaders: vec![s.into(), format!("x{s}")], ..cluster(s, 9, 3) });
        let texts = |place: &str| Some(format!("{s}{place}{s}\n{s}"));
        let meta = Meta {
            paths: vec![s.into()],
            settings: vec![s.into()],
            version: s.into(),
            n_documents: 5,
            n_bytes: 5,
            seconds: 0.1,
        };
        report.write(texts, meta)
    }

    /// Every element with its attributes, and the text outside of script and style.
    fn walk(node: &Handle, elements: &mut Vec<String>, text: &mut String) {
        let mut is_ours = false;
        match &node.data {
            NodeData::Element { name, attrs, .. } => {
                let attributes = attrs.borrow();
                // What numbers stand in attributes is no structure.
                let shown = attributes.iter().map(|attribute| attribute.name.local.to_string());
                elements.push(format!("{} {}", name.local, shown.collect::<Vec<_>>().join(" ")));
                is_ours = matches!(&*name.local, "script" | "style");
            }
            NodeData::Text { contents } => text.push_str(&contents.borrow()),
            NodeData::Comment { .. } | NodeData::ProcessingInstruction { .. } => elements.push("comment".to_owned()),
            _ => {}
        }
        if !is_ours {
            node.children.borrow().iter().for_each(|child| walk(child, elements, text));
        }
    }

    fn parsed(page: &[u8]) -> (Vec<String>, String) {
        let dom = html5ever::parse_document(RcDom::default(), Default::default()).from_utf8().one(page);
        assert!(dom.errors.borrow().is_empty(), "{:?}", dom.errors.borrow());
        let (mut elements, mut text) = (Vec::new(), String::new());
        walk(&dom.document, &mut elements, &mut text);
        (elements, text)
    }

    /// A browser sees the same elements with the same attributes, whether the strings are harmless or hostile.
    #[test]
    fn hostile_documents_stay_text() {
        let (harmless, _) = parsed(&everywhere(&"x ".repeat(HOSTILE.len() / 2)));
        let (hostile, text) = parsed(&everywhere(HOSTILE));
        assert_eq!(hostile, harmless);
        let n = |element: &str| hostile.iter().filter(|e| e.split(' ').next() == Some(element)).count();
        assert_eq!([n("script"), n("style"), n("img"), n("iframe"), n("comment")], [1, 1, 0, 0, 0]);
        assert!(hostile.iter().all(|element| !element.contains(" on") && !element.contains(" style")), "{hostile:?}");
        assert!(text.contains("</script><img src=x onerror=alert(1)>\"'`&amp;<!-- \\u{0} \\u{202e}evil\\u{2028} ]]>"));
        assert!(!text.contains(['\0', '\u{202e}', '\u{2028}']));
    }

    /// Nothing leads out of the file: the only links are to its own sections.
    #[test]
    fn nothing_leads_out_of_the_file() {
        let page = String::from_utf8(everywhere("https://hostile.example/")).unwrap();
        let links = page.split("href=").skip(1);
        assert!(links.clone().count() == 4 && links.clone().all(|link| link.starts_with("\"#")));
        assert!(!page.contains("src=") && page.contains("default-src 'none'"));
        let policy = page.find("Content-Security-Policy").unwrap();
        assert!(policy < page.find("<style").unwrap() && policy < page.find("<script").unwrap());
    }

    fn written(report: Report) -> String {
        String::from_utf8(report.write(|place| Some(format!("text of {place}")), Meta::default())).unwrap()
    }

    #[test]
    fn a_revision_replaces_what_was_shown() {
        let mut report = Report::new();
        report.add(&original("head"), "head");
        report.add(&quilt_of("first-quilt", &[("s", &[(0, 4)])]), "q");
        report.add(&mirror_of("one-copy", "head", 0.9), "m");
        report.add(&Verdict { revision: 1, ..original("first-quilt") }, "q");
        report.add(&Verdict { revision: 1, ..original("one-copy") }, "m");
        report.add(&Verdict { revision: 1, ..quilt_of("head", &[("t", &[(0, 4)])]) }, "head");
        assert_eq!(report.places(), ["head"]);
        let page = written(report);
        assert!(
            !page.contains("first-quilt") && !page.contains("one-copy") && page.contains("No document is a mirror")
        );
        assert!(page.contains("<mark class=\"c1 u0\" data-source=\"1\">text</mark> of head"), "{page}");
    }

    #[test]
    fn a_text_is_asked_for_by_the_places_that_were_named() {
        let mut report = Report::new();
        report.add(&original("head"), "a#1");
        report.add(&mirror_of("copy", "head", 0.95), "a#2");
        report.add(&mirror_of("other", "head", 0.85), "a#3");
        report.add(&quilt_of("quilt", &[]), "a#4");
        let places = report.places();
        let mut asked = Vec::new();
        report.write(
            |place| {
                asked.push(place.to_owned());
                None
            },
            Meta::default(),
        );
        asked.sort();
        assert_eq!(
            (asked, places),
            (vec!["a#1".into(), "a#3".into(), "a#4".into()], ["a#1", "a#3", "a#4"].map(String::from).to_vec())
        );
    }

    #[test]
    fn a_large_scan_makes_a_small_report() {
        let mut report = Report::new();
        let long = "many words in a row ".repeat(2000);
        for n in 0..3000_u32 {
            report.add(&quilt_of(&format!("quilt-{n}"), &[("s", &[(0, 4000)]), ("t", &[(5000, 9000)])]), "q");
            report.add(&mirror_of(&format!("copy-{n}"), &format!("head-{}", n / 2), 0.9), "m");
            report.cluster(&cluster(&format!("t-{n}"), 5, n));
        }
        let page = report.write(|_| Some(long.clone()), Meta::default());
        assert!(page.len() < PAGE_BYTES_MAX, "{} bytes", page.len());
        let page = String::from_utf8(page).unwrap();
        for said in ["2,800 further quilts are", "2,500 further clusters are", "2,600 further mirrors are"] {
            assert!(page.contains(said), "{said}");
        }
    }

    #[test]
    fn the_same_events_give_the_same_report() {
        assert!(everywhere("a b c") == everywhere("a b c"));
    }
}
