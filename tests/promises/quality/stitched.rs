//! Texts stitched together from passages of real ones, with all that they were taken from.

use super::corpora::{self, text_page};
use super::{Input, sampled, share};
use seamripper::document::Span;
use seamripper::signature::keyed::mix;
use std::collections::{HashMap, HashSet};

const SETS: [&str; 3] = ["text_reuters21578", "text_bbc", "text_livedoor_ja"];

/// A text put together from passages, one line each.
#[derive(Clone)]
pub(super) struct Stitched {
    pub(super) id: String,
    pub(super) is_japanese: bool,
    pub(super) passages: Vec<Passage>,
}

#[derive(Clone)]
pub(super) struct Passage {
    /// The document it was taken from.
    pub(super) of: String,
    pub(super) text: String,
}

impl Stitched {
    pub(super) fn is_quilt(&self) -> bool {
        self.passages.len() >= 4
    }

    pub(super) fn input(&self) -> Input {
        let lines: Vec<&str> = self.passages.iter().map(|passage| passage.text.as_str()).collect();
        text_page(&self.id, None, &lines.join("\n"))
    }

    /// Every tenth word replaced by one that nobody uses; of Japanese, where a word has two or three characters, two
    /// of every 25 characters.
    pub(super) fn reworded(&self) -> Self {
        let mut n = 0;
        let mut reworded = self.clone();
        for passage in &mut reworded.passages {
            passage.text = if self.is_japanese {
                const CHARACTERS: [char; 8] = ['鋲', '鰹', '櫓', '梟', '籾', '瓢', '轡', '鉋'];
                let mut replaced = |c: char| {
                    n += usize::from(!c.is_whitespace());
                    if n % 25 < 23 || c.is_whitespace() { c } else { CHARACTERS[(mix(7, n as u64) % 8) as usize] }
                };
                passage.text.chars().map(&mut replaced).collect()
            } else {
                let replaced = |word: &str| {
                    n += 1;
                    if n % 10 == 0 { super::articles::word(mix(7, n as u64)) } else { word.to_owned() }
                };
                passage.text.split_whitespace().map(replaced).collect::<Vec<_>>().join(" ")
            };
        }
        reworded
    }

    /// For each word of the visible text (`spans`, in `text`) the passage that it stands in. Reading changes nothing but
    /// white space, so the rest is counted off.
    pub(super) fn passages_of_words(&self, text: &str, spans: &[Span]) -> Vec<usize> {
        let n_written = |text: &str| text.chars().filter(|c| !c.is_whitespace()).count();
        let mut ends = Vec::new();
        for passage in &self.passages {
            ends.push(ends.last().unwrap_or(&0) + n_written(&passage.text));
        }
        assert_eq!(n_written(text), *ends.last().unwrap(), "{}: reading changed more than white space", self.id);
        let (mut passage, mut n, mut read) = (0, 0, 0);
        let passage_of = |span: &Span| {
            n += n_written(&text[read..span.start as usize]);
            read = span.start as usize;
            while n >= ends[passage] {
                passage += 1;
            }
            passage
        };
        spans.iter().map(passage_of).collect()
    }
}

/// The stitched texts of the corpus.
fn stitched() -> Vec<Stitched> {
    #[derive(serde::Deserialize)]
    struct Line {
        id: String,
        lang: String,
        is_quilt: bool,
        sources: Vec<Source>,
        text: String,
    }
    #[derive(serde::Deserialize)]
    struct Source {
        doc: String,
        /// In characters of the stitched text, as the length is.
        offset: usize,
        length: usize,
    }
    let Some(folder) = super::super::data::real("quilts") else { return Vec::new() };
    let lines: Vec<Line> = corpora::lines(&folder.join("docs.jsonl.zst"));
    let stitch = |line: Line| {
        let characters: Vec<char> = line.text.chars().collect();
        let passage = |source: Source| {
            let text = characters[source.offset..source.offset + source.length].iter().collect();
            Passage { of: source.doc, text }
        };
        let passages: Vec<Passage> = line.sources.into_iter().map(passage).collect();
        let stitched = Stitched { id: line.id, is_japanese: line.lang == "ja", passages };
        assert_eq!(stitched.input().record.body, line.text.as_bytes(), "{}", stitched.id);
        assert_eq!(stitched.is_quilt(), line.is_quilt, "{}", stitched.id);
        stitched
    };
    lines.into_iter().map(stitch).collect()
}

/// Stitched texts, and plain ones among them all their sources.
pub(super) struct Collection {
    pub(super) stitched: Vec<Stitched>,
    pub(super) plain: Vec<Input>,
    /// The near duplicates of a plain text: whoever took from one took from the other.
    pub(super) twins: HashMap<String, Vec<String>>,
}

/// On whose servers the plain texts stand. Stitched texts are each on their own.
#[derive(Clone, Copy, Debug)]
pub(super) enum Servers {
    /// Those who published them.
    True,
    /// Each on its own: sums of the week, court reports and market tables count as put together from strangers.
    Own,
}

impl Servers {
    fn url(self, text: &corpora::Text) -> Option<String> {
        match self {
            Self::True => Some(text.url()),
            Self::Own => None,
        }
    }
}

/// A part of the corpus: one of `n` stitched texts with all their sources, and one of `n` of the other plain texts.
pub(super) fn collection(n: usize, servers: Servers) -> Collection {
    let stitched = sampled(stitched(), n);
    let sources: HashSet<&str> =
        stitched.iter().flat_map(|text| text.passages.iter().map(|passage| passage.of.as_str())).collect();
    let mut plain = Vec::new();
    let mut twins: HashMap<String, Vec<String>> = HashMap::new();
    for set in SETS {
        let (wanted, others): (Vec<_>, Vec<_>) =
            corpora::texts(set).into_iter().partition(|text| sources.contains(text.id.as_str()));
        plain.extend(
            wanted
                .into_iter()
                .chain(sampled(others, n))
                .map(|text| text_page(&text.id, servers.url(&text).as_deref(), &text.text)),
        );
        let Some(folder) = super::super::data::real(set) else { continue };
        for (a, b, _) in corpora::pairs(&std::fs::read_to_string(folder.join("pairs.tsv")).unwrap()) {
            twins.entry(a.clone()).or_default().push(b.clone());
            twins.entry(b).or_default().push(a);
        }
    }
    // The sources are not to stand together.
    plain.sort_by(|a, b| a.id().cmp(b.id()));
    Collection { stitched, plain, twins }
}

#[test]
fn passages_stand_in_their_sources() {
    let collection = collection(4, Servers::True);
    // Short sentences were left out between the others, so not every passage stands there in one piece.
    let pieces = |text: &str| -> HashSet<Vec<char>> {
        let written: Vec<char> = text.chars().filter(|c| !c.is_whitespace()).collect();
        written.windows(6).map(<[char]>::to_vec).collect()
    };
    let body = |input: &Input| String::from_utf8(input.record.body.clone()).unwrap();
    let plain: HashMap<&str, &Input> = collection.plain.iter().map(|input| (input.id(), input)).collect();
    for passage in collection.stitched.iter().flat_map(|text| &text.passages) {
        let (taken, whole) = (pieces(&passage.text), pieces(&body(plain[passage.of.as_str()])));
        let found = share(taken.intersection(&whole).count(), taken.len());
        assert!(found >= 0.8, "{found:.2} of a passage stands in {}", passage.of);
    }
}

#[test]
fn every_tenth_word_is_another() {
    let text = (0..100).map(|n| format!("w{n}")).collect::<Vec<_>>().join(" ");
    let passages = vec![Passage { of: "a".into(), text: text.clone() }];
    let spaced = Stitched { id: "x".into(), is_japanese: false, passages };
    let reworded = spaced.reworded();
    let n_kept = reworded.passages[0].text.split(' ').zip(text.split(' ')).filter(|(a, b)| a == b).count();
    assert_eq!(n_kept, 90);
    let passages = vec![Passage { of: "a".into(), text: "あ".repeat(100) }];
    let unspaced = Stitched { id: "x".into(), is_japanese: true, passages }.reworded();
    assert_eq!(unspaced.passages[0].text.matches('あ').count(), 92);
}
