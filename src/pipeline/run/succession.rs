//! One scheme follows another on a live system, without a gap.
//!
//! Where what is stored cannot be used under the present settings, and the former ones are named (`previous`), the store goes on
//! under those and decides: it has seen everything. An empty one under the present settings sees every document as well, and says
//! nothing. After one ttl of the store's clock whatever the elder could still match has been seen by the other too, which then takes
//! its place ([`crate::pipeline::filter`]). Both turns are epochs of the journal, so that whoever follows does the same.
//!
//! # Invariants
//! - Copies of what came before are mirrors before, in and after the overlap. (`tests/promises/run/succession.rs`)
//! - No verdict has the id of another, whoever of the two gave it. (`revisions_after_a_handover_have_numbers_of_their_own`)

use super::Instance;
use super::fold::{Fold, Folded};
use super::journal::Origin;
use super::scheme::{Scheme, Under};
use crate::bus::{Partition, Positions};
use crate::http::Role;
use crate::pipeline::filter::Event;
use crate::store::Plan;
use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tracing::{info, warn};

const HOUR_MS: u64 = 3_600_000;

/// What is to take the place of the store in force.
pub struct Succession {
    /// Under what it folds.
    pub scheme: Arc<Scheme>,
    /// The store's clock when it began; `None` where nothing had been seen.
    pub since_ms: Option<i64>,
    /// When it is to take the place, after that.
    pub hours: u64,
}

/// Where one store took the place of another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Handover {
    /// What lies before was judged by the elder.
    pub positions: Positions,
    /// The elder has revised no verdict so often.
    pub n_revisions: u32,
}

/// `event` as it is published: what the elder judged and another revises has a number that the elder never used.
pub(super) fn numbered(mut event: Event, handover: Option<&Handover>) -> Event {
    if let (Event::Verdict(verdict), Some(handover)) = (&mut event, handover)
        && verdict.revision > 0
    {
        let partition = Partition::new(verdict.source.topic.clone(), verdict.source.partition);
        if verdict.source.offset < handover.positions.next(&partition) {
            verdict.revision = verdict.revision.saturating_add(handover.n_revisions);
        }
    }
    event
}

impl Fold {
    /// Begins an empty store under `scheme` beside this one.
    pub fn begin_beside(&mut self, scheme: Arc<Scheme>, hours: u64, heirs_max: usize) -> anyhow::Result<()> {
        let (ours, theirs) = (&self.scheme.settings, &scheme.settings);
        if (&ours.topics.pages, &ours.topics.emails) != (&theirs.topics.pages, &theirs.topics.emails) {
            bail!("topics.pages and topics.emails cannot be changed in the same step");
        }
        if theirs.batch.labels_held_max < ours.batch.labels_held_max {
            bail!("batch.labels_held_max cannot be lowered in the same step");
        }
        self.filter.begin_successor(scheme.filter(), heirs_max)?;
        self.succession = Some(Succession { scheme, since_ms: self.filter.store().now_ms(), hours });
        Ok(())
    }

    /// The store that began beside takes the place of this one. The epoch that says so, with what there is to say of clusters.
    ///
    /// Panics when there is none: that is a bug in the caller.
    pub fn succeed(&mut self) -> Folded {
        let Succession { scheme, .. } = self.succession.take().expect("something is to take its place");
        let n_revisions = self.scheme.settings.revisions.per_record_max.saturating_add(1);
        self.handover = Some(Handover { positions: self.positions.clone(), n_revisions });
        self.scheme = scheme;
        let mut events = Vec::new();
        self.filter.succeed(|event| events.push(event));
        Folded { events, ..self.turn(Origin::Succeeded) }
    }

    /// Drops the store that began beside.
    pub fn withdraw(&mut self) {
        self.succession = None;
        self.filter.withdraw_successor();
    }

    /// Whether all that counts was seen by both.
    pub fn is_succession_due(&self) -> bool {
        self.succession.is_some() && self.overlap_left().is_none()
    }

    /// How long both still run, by the store's clock.
    pub fn overlap_left(&self) -> Option<Duration> {
        let Succession { since_ms, hours, .. } = self.succession.as_ref()?;
        let (since, now) = (since_ms.as_ref()?, self.filter.store().now_ms()?);
        // What was last seen at the very moment of the beginning is forgotten when more than a ttl has passed.
        let until = since.saturating_add_unsigned(hours.saturating_mul(HOUR_MS));
        let left = until.saturating_add(1).saturating_sub(now);
        u64::try_from(left).ok().filter(|left| *left > 0).map(Duration::from_millis)
    }

    /// Under what records are to be signed for it, until it `is_handed_over`.
    pub fn under(&self, is_handed_over: Arc<AtomicBool>) -> Under {
        let successor = self.succession.as_ref().map(|succession| succession.scheme.clone());
        Under { scheme: self.scheme.clone(), successor, is_handed_over }
    }

    /// Whether `scheme` is the one in force, or on its way to be.
    pub(super) fn is_under(&self, scheme: &Scheme) -> bool {
        self.succession.as_ref().map_or(&self.scheme, |succession| &succession.scheme).is_like(scheme)
    }
}

impl Instance {
    /// What the present settings mean for a state in which a succession is under way: nothing, or that it is taken back.
    pub(super) fn turn_beside(&self, fold: &mut Fold) -> anyhow::Result<Option<Origin>> {
        if self.state.role() != Role::All {
            bail!("{ROLES}: one is under way");
        }
        if fold.is_under(&self.scheme) {
            tell(fold);
            return Ok(None);
        }
        if fold.scheme.is_like(&self.scheme) {
            warn!("the settings are the former ones again: the store that was begun under others is dropped");
            fold.withdraw();
            return Ok(Some(Origin::Withdrawn));
        }
        let left = fold.overlap_left().unwrap_or_default().as_secs_f64() / 3600.0;
        bail!(
            "settings are changed already, for {left:.1} hours more by the store's clock, and these are neither those nor the \
             former ones: go on with those until then, or go back to the former ones with those as `previous`. \
             --accept-loss begins an empty store where the journal ends"
        )
    }

    /// Begins a store under the present settings beside the one of `fold`, which cannot go on under them for the reason `why`.
    pub(super) fn begin_beside(&self, fold: &mut Fold, why: anyhow::Error) -> anyhow::Result<Origin> {
        let settings = &self.scheme.settings;
        let Some(former) = &settings.former else {
            return Err(why.context(
                "the settings have changed in a way that the store cannot go on under. Name the file with those that were in \
                 force as `previous`: then both run side by side until nothing is missed. --accept-loss begins an empty store \
                 where the journal ends",
            ));
        };
        if former.secret != fold.scheme.settings.secret {
            bail!("the store was made with another secret than that of `previous` ({})", settings.previous);
        }
        if self.state.role() != Role::All {
            bail!("{ROLES}: {why:#}");
        }
        let hours = match fold.scheme.settings.store.ttl_hours {
            0 => settings.succession.hours,
            ttl_hours => ttl_hours,
        };
        let heirs_max = settings.succession.heirs_max;
        fold.begin_beside(self.scheme.clone(), hours, heirs_max).context("the present settings cannot follow")?;
        tell(fold);
        Ok(Origin::Beside { hours, heirs_max })
    }
}

const ROLES: &str = "settings that the store cannot go on under need --role all until the present ones have taken over, since \
                     signers sign under one scheme";

/// Says that two stores are there.
fn tell(fold: &Fold) {
    let Some(succession) = &fold.succession else { return };
    let [elder, successor] = [&fold.scheme, &succession.scheme].map(|scheme| Plan::of(&scheme.settings).total());
    let hours_left = fold.overlap_left().unwrap_or_default().as_secs_f64() / 3600.0;
    info!(
        memory_bytes = elder + successor,
        hours_left, "the former settings decide, and every document is folded under the present ones too"
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::event::{Outcome, Source, Verdict};

    #[test]
    fn revisions_after_a_handover_have_numbers_of_their_own() {
        let mut positions = Positions::default();
        positions.pass(&Partition::new("pages", 1), 9);
        let handover = Handover { positions, n_revisions: 17 };
        let number = |topic: &str, offset: i64, revision: u32, handover: Option<&Handover>| {
            let source = Source { topic: topic.into(), partition: 1, offset, time: None };
            let verdict = Verdict { revision, ..Verdict::bare("d".into(), None, source, Outcome::Judged) };
            match numbered(Event::Verdict(Box::new(verdict)), handover) {
                Event::Verdict(verdict) => verdict.revision,
                Event::Cluster(_) => unreachable!("it was a verdict"),
            }
        };
        assert_eq!(number("pages", 9, 2, Some(&handover)), 19);
        assert_eq!(number("pages", 10, 2, Some(&handover)), 2);
        assert_eq!(number("pages", 9, 0, Some(&handover)), 0);
        assert_eq!(number("emails", 9, 2, Some(&handover)), 2);
        assert_eq!(number("pages", 9, 2, None), 2);
    }
}
