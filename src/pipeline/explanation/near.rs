//! Whom a document is near to without being its mirror, and why it is none: the filter's own objection, with the scores that it is about.
//!
//! # Invariants
//! - The score that the objection is about has not crossed its threshold. (`tests/promises/explain_command.rs`)

use super::scores::{Measure, Score, least};
use super::shared::Archive;
use crate::config::MirrorSettings;
use crate::pipeline::Made;
use crate::store::{Arrival, Near, Objection, Store};
use crate::verdict::event::{Outcome, Source, Verdict};
use serde::Serialize;

/// A document that another is near to, and no mirror of.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NoMirror {
    /// Its id.
    pub of: String,
    /// Where its record is, if that is still known.
    pub place: Option<String>,
    /// Why it is none.
    pub why: Objection,
    /// The likeness, and what else that is about, beside the thresholds.
    pub scores: Vec<Score>,
}

impl NoMirror {
    /// Whom the document of a `verdict` is nearest to in `store`, if it is nobody's mirror; `own` is what was made of it.
    pub fn of(
        verdict: &Verdict,
        own: &Made,
        store: &Store,
        archive: &mut dyn Archive,
        mirror: &MirrorSettings,
    ) -> Option<Self> {
        let near = store.near(&Self::asked(verdict, own)?)?;
        Some(Self::told(near, own, archive, mirror))
    }

    /// What a store is to be asked about; nothing, where the document is somebody's mirror.
    pub fn asked(verdict: &Verdict, own: &Made) -> Option<Arrival> {
        let may_be_near = verdict.mirror.is_none() && verdict.outcome == Outcome::Judged;
        may_be_near.then(|| Arrival::new(Source::default(), &own.document, &own.text, own.signatures.clone()))
    }

    /// What a store has answered, with the scores that it is about.
    pub fn told(near: Near, own: &Made, archive: &mut dyn Archive, mirror: &MirrorSettings) -> Self {
        let Near { of, likeness, objection } = near;
        let measure = Measure::of(&own.text, &own.signatures);
        let mut scores = vec![measure.score(likeness, mirror)];
        scores.extend(match objection {
            Objection::Likeness | Objection::LittleCore => None,
            Objection::Site => Some(least(
                "mirror",
                "likeness on one site, of a text",
                likeness,
                mirror.site_resemblance_min,
                "mirror.site_resemblance_min",
            )),
            Objection::Core(core, core_min) => Some(measure.core_score(core, core_min, mirror)),
            Objection::Head(to_head) => {
                Some(least("mirror", "likeness to the head", to_head, mirror.head_min, "mirror.head_min"))
            }
        });
        let place = archive.source(&of).map(|source| archive.place(&source));
        Self { of, place, why: objection, scores }
    }
}
