//! What a document shares with those that its verdict names, quoted from both texts.

use crate::command::compare::{Maker, Signed};
use crate::config::Settings;
use crate::corpus;
use crate::document::Span;
use crate::pipeline::scan::place;
use crate::store::Store;
use crate::verdict::comparison::Comparison;
use crate::verdict::event::{Source, Verdict};
use serde::Serialize;

/// What a document shares with another.
#[derive(Serialize)]
pub(super) struct Shared {
    pub(super) of: String,
    /// Why it is named: `mirror` or `quilt`.
    pub(super) class: &'static str,
    /// Where its record is, if that is still known.
    pub(super) place: Option<String>,
    /// The share of the quilt's words that stand in it.
    pub(super) share: Option<f64>,
    /// The two texts side by side; `None` where one of them is gone.
    pub(super) texts: Option<Texts>,
}

/// Two texts side by side.
#[derive(Serialize)]
pub(super) struct Texts {
    pub(super) this_in_that: f64,
    pub(super) that_in_this: f64,
    /// The longest first.
    pub(super) passages: Vec<Quoted>,
    pub(super) passages_complete: bool,
    /// Both whole, to quote from.
    #[serde(skip)]
    pub(super) whole: (String, String),
}

/// A passage, in both texts.
#[derive(Serialize)]
pub(super) struct Quoted {
    pub(super) n_units: u32,
    pub(super) here: Span,
    pub(super) there: Span,
    pub(super) text_here: String,
    pub(super) text_there: String,
}

/// The documents that a verdict names: whose copy it is, and the sources of a quilt.
pub(super) fn named(verdict: &Verdict) -> Vec<Named> {
    let mirrored = verdict.mirror.iter().map(|mirror| Named { of: mirror.of.clone(), class: "mirror", share: None });
    let sources = verdict.quilt.iter().flat_map(|quilt| &quilt.sources);
    let sources = sources.map(|source| Named { of: source.of.clone(), class: "quilt", share: Some(source.share) });
    mirrored.chain(sources).collect()
}

/// A document that is named beside another.
pub(super) struct Named {
    pub(super) of: String,
    pub(super) class: &'static str,
    pub(super) share: Option<f64>,
}

/// What the document `id`, whose record is `source`, shares with `named`; and whether its own text is gone.
pub(super) fn of(
    (id, source): (&str, &Source),
    named: Vec<Named>,
    store: &Store,
    options: &corpus::Options,
    settings: &Settings,
) -> anyhow::Result<(Vec<Shared>, bool)> {
    let mut texts = Readings { maker: Maker::new(settings)?, options, settings };
    let own = texts.read(&place(source), id);
    let mut shared = Vec::new();
    for Named { of, class, share } in named {
        let card = store.known(&of).and_then(|known| known.own).and_then(|own| store.card(own));
        let place = card.map(|card| place(&card.source()));
        let that = place.as_ref().and_then(|place| texts.read(place, &of));
        let texts = own.as_ref().zip(that).map(|(this, that)| Texts::of(this, &that, settings));
        shared.push(Shared { of, class, place, share, texts });
    }
    Ok((shared, own.is_none()))
}

struct Readings<'a> {
    maker: Maker,
    options: &'a corpus::Options,
    settings: &'a Settings,
}

impl Readings<'_> {
    /// The document `id` at `place`, if it can still be read there.
    fn read(&mut self, place: &str, id: &str) -> Option<Signed> {
        if place == "-" || place.starts_with("-#") {
            return None;
        }
        let entry = corpus::one(place, self.options, &self.settings.limits).ok()?;
        self.maker.signed(entry).ok().filter(|signed| signed.document.identity.id == id)
    }
}

impl Texts {
    fn of(this: &Signed, that: &Signed, settings: &Settings) -> Self {
        let Comparison { this_in_that, that_in_this, shared, .. } = Comparison::of(this.side(), that.side(), settings);
        let passages = shared.passages.iter().map(|passage| {
            let (here, there) = (passage.this_span(&this.text.words), passage.that_span(&that.text.words));
            Quoted {
                n_units: passage.n_units,
                here,
                there,
                text_here: this.document.text[here.range()].to_owned(),
                text_there: that.document.text[there.range()].to_owned(),
            }
        });
        let passages = passages.collect();
        let whole = (this.document.text.clone(), that.document.text.clone());
        Self { this_in_that, that_in_this, passages, passages_complete: shared.complete, whole }
    }
}
