//! Every score that decides something, beside its threshold.

use crate::config::Settings;
use crate::document::Kind;
use crate::verdict::event::{Features, Verdict};
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

/// The scores of a verdict; none of what could not be read.
pub fn of(verdict: &Verdict, settings: &Settings) -> Vec<Score> {
    let (Some(features), Some(kind)) = (&verdict.features, verdict.kind) else { return Vec::new() };
    let Settings { text, mirror, quilt, template, .. } = settings;
    let Features { resemblance, frame, style_bins, cluster_size, .. } = *features;
    let mut scores = vec![least("text", "distinct terms", features.n_terms, text.terms_min as f64, "text.terms_min")];
    scores.push(match kind {
        Kind::Page => {
            least("mirror", "resemblance of shingles", resemblance, mirror.resemblance_min, "mirror.resemblance_min")
        }
        Kind::Email => least("mirror", "cosine of distinct terms", resemblance, mirror.cosine_min, "mirror.cosine_min"),
    });
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
    let (bins_min, setting) = match frame > 0.0 {
        true => (template.bins_alone_min, "template.bins_alone_min"),
        false => (template.bins_min, "template.bins_min"),
    };
    scores.extend([
        least("template", "style bins, of 128", style_bins, bins_min.into(), setting),
        least("template", "pages of the cluster", cluster_size, template.size_min.into(), "template.size_min"),
        least(
            "template",
            "pages that link to others",
            features.cluster_linked,
            template.linked_min,
            "template.linked_min",
        ),
    ]);
    scores
}

fn least(class: &'static str, score: &'static str, value: f64, threshold: f64, setting: &'static str) -> Score {
    Score { class, score, value, threshold, setting, inclusive: true, crossed: value >= threshold }
}

fn above(class: &'static str, score: &'static str, value: f64, threshold: f64, setting: &'static str) -> Score {
    Score { class, score, value, threshold, setting, inclusive: false, crossed: value > threshold }
}
