//! What a document shares with those that its verdict names, quoted from both texts.
//!
//! # Invariants
//! - No more is quoted than was asked for, and it is said how much there is. (`quotations_keep_to_their_bounds`)

use crate::config::Settings;
use crate::document::{Span, excerpt};
use crate::pipeline::Made;
use crate::verdict::comparison::Comparison;
use crate::verdict::event::{Source, Verdict};
use serde::Serialize;

/// What a document shares with another.
#[derive(Serialize)]
pub struct Shared {
    /// The other's id.
    pub of: String,
    /// Why it is named: `mirror` or `quilt`.
    pub class: &'static str,
    /// Where its record is, if that is still known.
    pub place: Option<String>,
    /// The share of the quilt's words that stand in it.
    pub share: Option<f64>,
    /// The two texts side by side; `None` where one of them is gone.
    pub texts: Option<Texts>,
    /// Whether the time was up before it was read.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub late: bool,
}

/// Two texts side by side.
#[derive(Serialize)]
pub struct Texts {
    /// The share of this text's words that stand in that one.
    pub this_in_that: f64,
    /// And of that one's in this.
    pub that_in_this: f64,
    /// Passages in common.
    pub n_passages: usize,
    /// The longest first.
    pub passages: Vec<Quoted>,
    /// Whether all common runs were looked at.
    pub passages_complete: bool,
    /// Every signature of the two, compared.
    pub figures: Comparison,
    /// Both whole, to quote from.
    #[serde(skip)]
    pub whole: (String, String),
}

/// A passage, in both texts.
#[derive(Debug, PartialEq, Serialize)]
pub struct Quoted {
    /// Words, or characters of scripts without spaces.
    pub n_units: u32,
    /// Where it stands in this text.
    pub here: Span,
    /// And in that one.
    pub there: Span,
    /// How it reads here.
    pub text_here: String,
    /// And there.
    pub text_there: String,
}

/// How much is quoted.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Passages of a pair.
    pub passages_max: usize,
    /// Bytes of a quotation; the rest of it is left out.
    pub quoted_bytes_max: usize,
}

impl Bounds {
    /// All of it.
    pub const NONE: Self = Self { passages_max: usize::MAX, quoted_bytes_max: usize::MAX };
}

/// A document that is named beside another.
#[derive(Clone, Debug, PartialEq)]
pub struct Named {
    /// Its id.
    pub of: String,
    /// Why: `mirror` or `quilt`.
    pub class: &'static str,
    /// The share of the quilt's words that stand in it.
    pub share: Option<f64>,
}

/// The documents that a verdict names: whose copy it is, and the sources of a quilt.
pub fn named(verdict: &Verdict) -> Vec<Named> {
    let mirrored = verdict.mirror.iter().map(|mirror| Named { of: mirror.of.clone(), class: "mirror", share: None });
    let sources = verdict.quilt.iter().flat_map(|quilt| &quilt.sources);
    let sources = sources.map(|source| Named { of: source.of.clone(), class: "quilt", share: Some(source.share) });
    mirrored.chain(sources).collect()
}

/// Where documents are read again.
pub trait Archive {
    /// Where the record of the document `id` is, if that is still known.
    fn source(&mut self, id: &str) -> Option<Source>;

    /// The document `id` in the record at `source`, if it can still be read there.
    fn read(&mut self, source: &Source, id: &str) -> Reading;

    /// A place in words.
    fn place(&self, source: &Source) -> String;
}

/// What came of reading a document again.
pub enum Reading {
    /// Here it is.
    Read(Box<Made>),
    /// It is not there any more.
    Gone,
    /// There was no time.
    Late,
}

/// What the document `id`, whose record is `source`, shares with `named`; and what was made of it, where its own text is not gone.
pub fn of(
    (id, source): (&str, &Source),
    named: Vec<Named>,
    archive: &mut dyn Archive,
    bounds: Bounds,
    settings: &Settings,
) -> (Vec<Shared>, Option<Box<Made>>) {
    let own = match archive.read(source, id) {
        Reading::Read(own) => Some(own),
        Reading::Gone | Reading::Late => None,
    };
    let mut shared = Vec::new();
    for Named { of, class, share } in named {
        let source = archive.source(&of);
        let place = source.as_ref().map(|source| archive.place(source));
        let that = source.filter(|_| own.is_some()).map_or(Reading::Gone, |source| archive.read(&source, &of));
        let (texts, late) = match (&own, that) {
            (Some(this), Reading::Read(that)) => (Some(Texts::of(this, &that, bounds, settings)), false),
            (_, Reading::Late) => (None, true),
            _ => (None, false),
        };
        shared.push(Shared { of, class, place, share, texts, late });
    }
    (shared, own)
}

impl Texts {
    /// Two texts side by side.
    pub fn of(this: &Made, that: &Made, bounds: Bounds, settings: &Settings) -> Self {
        let figures = Comparison::of(this.side(), that.side(), settings);
        let Comparison { this_in_that, that_in_this, shared, .. } = &figures;
        let quoted = |passage: &str| excerpt::of(passage, bounds.quoted_bytes_max).to_owned();
        let passages = shared.passages.iter().take(bounds.passages_max).map(|passage| {
            let (here, there) = (passage.this_span(&this.text.words), passage.that_span(&that.text.words));
            Quoted {
                n_units: passage.n_units,
                here,
                there,
                text_here: quoted(&this.document.text[here.range()]),
                text_there: quoted(&that.document.text[there.range()]),
            }
        });
        let whole = (this.document.text.clone(), that.document.text.clone());
        Self {
            this_in_that: *this_in_that,
            that_in_this: *that_in_this,
            n_passages: shared.passages.len(),
            passages: passages.collect(),
            passages_complete: shared.complete,
            whole,
            figures,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Carrier, Format, Record};
    use crate::pipeline::{Steps, lexicon};

    #[test]
    fn quotations_keep_to_their_bounds() {
        let settings = Settings::default();
        let mut steps = Steps::new(&settings, lexicon::load(&settings).unwrap());
        let mut made = |paragraphs: [&str; 3]| {
            let body = paragraphs.map(|words| format!("<p>{words}</p>")).concat().into_bytes();
            let carrier = Carrier { id: Some("a".into()), ..Carrier::default() };
            steps.sign(&Record { format: Format::Page, body, carrier }).unwrap().kept()
        };
        let [first, second] = ["ä", "b"].map(|letter| (0..30).map(|n| format!("{letter}{n} ")).collect::<String>());
        let this = made([&first, "one two three", &second]);
        let that = made([&second, "four five six seven", &first]);
        let all = Texts::of(&this, &that, Bounds::NONE, &settings);
        assert_eq!((all.n_passages, all.passages.len()), (2, 2));
        let few = Texts::of(&this, &that, Bounds { passages_max: 1, quoted_bytes_max: 10 }, &settings);
        assert_eq!((few.n_passages, few.passages.len()), (2, 1));
        let [whole, cut] = [&all, &few].map(|texts| texts.passages[0].text_here.as_str());
        assert!(whole.starts_with(cut) && (8..=10).contains(&cut.len()), "{cut}");
    }
}
