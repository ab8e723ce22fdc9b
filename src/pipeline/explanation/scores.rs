//! Every score that decides something, beside its threshold.

use crate::config::{MirrorSettings, Settings};
use crate::document::Kind;
use crate::signature::Signatures;
use crate::text::Text;
use crate::verdict::event::{Features, Outcome, TextView, Verdict};
use crate::verdict::relation::{CONTAINMENT_ABOVE, OVERLAP_ABOVE};
use serde::Serialize;

/// A score and its threshold.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Score {
    /// Which class it speaks for, or `text`.
    pub class: &'static str,
    /// What it measures.
    pub score: &'static str,
    /// How much that is.
    pub value: f64,
    /// How much is needed.
    pub threshold: f64,
    /// The setting that the threshold is, or whose it is.
    pub setting: &'static str,
    /// Met by the threshold itself, or only beyond it.
    pub inclusive: bool,
    /// Whether it is met.
    pub crossed: bool,
}

/// What the texts of two documents are compared by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Distinct terms: mails, and pages without a run of words.
    Terms,
    /// Shingles: pages.
    Shingles,
    /// Shingles of a text in a script without spaces.
    UnspacedShingles,
}

impl Measure {
    /// That of a document.
    pub fn of(text: &Text, signatures: &Signatures) -> Self {
        let has_shingles = signatures.shown_shingles.is_some() || signatures.shingles.is_some();
        match signatures.kind {
            Kind::Page if has_shingles && text.is_unspaced() => Self::UnspacedShingles,
            Kind::Page if has_shingles => Self::Shingles,
            Kind::Page | Kind::Email => Self::Terms,
        }
    }

    /// A likeness beside what a copy has.
    pub fn score(self, likeness: f64, mirror: &MirrorSettings) -> Score {
        let (score, threshold, setting) = match self {
            Self::Terms => ("cosine of distinct terms", mirror.cosine_min, "mirror.cosine_min"),
            Self::Shingles => ("resemblance of shingles", mirror.resemblance_min, "mirror.resemblance_min"),
            Self::UnspacedShingles => {
                ("resemblance of shingles", mirror.resemblance_min_unspaced, "mirror.resemblance_min_unspaced")
            }
        };
        least("mirror", score, likeness, threshold, setting)
    }

    /// A likeness of cores beside what copies have.
    pub(super) fn core_score(self, core: f64, core_min: f64, mirror: &MirrorSettings) -> Score {
        let (score, setting) = match self {
            Self::Terms if core_min > mirror.core_cosine_min => ("cosine of the cores", "mirror.cosine_min"),
            Self::Terms => ("cosine of the cores", "mirror.core_cosine_min"),
            Self::Shingles => ("resemblance of the content", "half of mirror.resemblance_min"),
            Self::UnspacedShingles => ("resemblance of the content", "half of mirror.resemblance_min_unspaced"),
        };
        least("mirror", score, core, core_min, setting)
    }
}

/// The scores of a verdict; none of what could not be read. Where the text is gone, so that its own `measure` is not known, it is
/// taken for that of its kind.
pub fn of(verdict: &Verdict, measure: Option<Measure>, settings: &Settings) -> Vec<Score> {
    let (Some(features), Some(kind)) = (&verdict.features, verdict.kind) else { return Vec::new() };
    let Settings { text, mirror, quilt, template, .. } = settings;
    let Features { resemblance, frame, style_bins, cluster_size, .. } = *features;
    // Enough words, and still too little text: pairs of characters, or some of them.
    let is_of_pairs = verdict.outcome == Outcome::Insufficient && features.n_terms >= text.terms_min as f64;
    let (score, terms_min, setting) = match is_of_pairs {
        true => ("distinct terms, most of them pairs", text.terms_min_unspaced, "text.terms_min_unspaced"),
        false => ("distinct terms", text.terms_min, "text.terms_min"),
    };
    let mut scores = vec![least("text", score, features.n_terms, terms_min as f64, setting)];
    let usual = if kind == Kind::Page { Measure::Shingles } else { Measure::Terms };
    let score = measure.unwrap_or(usual).score(resemblance, mirror);
    let is_by_body = verdict.mirror.as_ref().is_some_and(|mirror| mirror.view == TextView::Body);
    scores.push(if is_by_body { Score { score: "words below the subject", ..score } } else { score });
    if let Some(found) = &verdict.mirror {
        scores.push(least("mirror", "likeness to the head", found.resemblance, mirror.head_min, "mirror.head_min"));
    }
    scores.extend([
        above("mirror", "overlap of long sentences", features.overlap, OVERLAP_ABOVE, "Kang 2009, R"),
        above("mirror", "containment of long sentences", features.containment, CONTAINMENT_ABOVE, "Kang 2009, Simpson"),
        least(
            "mirror",
            "domains of the group",
            features.group_domains,
            mirror.boilerplate_domains_min.into(),
            "mirror.boilerplate_domains_min",
        ),
        least("quilt", "share of patches", features.patch_fraction, quilt.fraction_min, "quilt.fraction_min"),
        least("quilt", "sources", features.n_sources, quilt.sources_min as f64, "quilt.sources_min"),
        least("quilt", "sources it links to", features.sources_linked, quilt.linked_min, "quilt.linked_min"),
        least("template", "page frame", frame, template.frame_min, "template.frame_min"),
    ]);
    if frame > 0.0 {
        // A frame is not enough without stylesheets, nor is style without any frame.
        let (bins_min, frame_min) = (template.bins_beside_min, template.frame_beside_min);
        let bins = "style bins, where neither names a stylesheet";
        scores.extend([
            least("template", bins, style_bins, bins_min.into(), "template.bins_beside_min"),
            least("template", "page frame, where style decides", frame, frame_min, "template.frame_beside_min"),
        ]);
    }
    let (bins_min, setting) = match frame > 0.0 {
        true => (template.bins_alone_min, "template.bins_alone_min"),
        false => (template.bins_min, "template.bins_min"),
    };
    scores.extend([
        least("template", "style bins, of 128", style_bins, bins_min.into(), setting),
        least("template", "documents of the cluster", cluster_size, template.size_min.into(), "template.size_min"),
        least(
            "template",
            "domains that others link to",
            features.cluster_linked,
            template.linked_min,
            "template.linked_min",
        ),
    ]);
    scores
}

pub(super) fn least(
    class: &'static str,
    score: &'static str,
    value: f64,
    threshold: f64,
    setting: &'static str,
) -> Score {
    Score { class, score, value, threshold, setting, inclusive: true, crossed: value >= threshold }
}

fn above(class: &'static str, score: &'static str, value: f64, threshold: f64, setting: &'static str) -> Score {
    Score { class, score, value, threshold, setting, inclusive: false, crossed: value > threshold }
}
