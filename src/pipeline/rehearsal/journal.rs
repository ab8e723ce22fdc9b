//! A rehearsal over the journal of a run: its records, labels and pauses, in its order.
//!
//! One side is what was published, judged again under the settings that the journal has of its time; the other is folded beside it under
//! the new settings. Both begin where the journal does, or with the oldest snapshot that it can be followed from. Where the new settings
//! cannot use what that holds, both begin there with nothing: what one knows and the other does not would pass for a difference.

use super::differences::{Differences, Wanted};
use super::files::{keep, last_words};
use crate::bus::BusError;
use crate::config::{Problems, Settings};
use crate::pipeline::filter::Event;
use crate::pipeline::run::fold::{Fold, Folded};
use crate::pipeline::run::follow::{Followed, Met, Until, follow_with};
use crate::pipeline::run::journal::What;
use crate::pipeline::run::scheme::{Scheme, SchemeError};
use crate::pipeline::run::succession::Succession;
use crate::pipeline::run::{Beginning, Instance, snapshots};
use crate::verdict::event::Verdict;
use anyhow::bail;
use serde::Serialize;
use std::sync::Arc;

/// With what both sides began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Knowledge {
    /// With nothing, and with the journal.
    All,
    /// With what a snapshot holds.
    Snapshot,
    /// With nothing, in the middle of the journal.
    Nothing,
}

/// Where both sides began.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Began {
    /// With what.
    pub with: Knowledge,
    /// The number of the first journal entry that was replayed.
    pub entry: u64,
    /// Records of inputs before it, which were not.
    pub n_records_before: u64,
    /// Why with nothing, where there was something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// How it went.
pub struct Rehearsed {
    /// Where both sides began.
    pub began: Began,
    /// Entries that were replayed.
    pub n_entries: u64,
    /// Entries that came out otherwise than they were published. There should be none.
    pub n_entries_different: u64,
    /// Beginnings that were tried before, and why they could not be used.
    pub left_out: Vec<String>,
    /// What the settings were in the end.
    pub was: Arc<Scheme>,
}

/// How far it is.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Entries of the journal.
    pub n_entries: u64,
    /// All that there are, about.
    pub n_all: u64,
    /// Documents.
    pub n_documents: u64,
}

/// The settings of `new` that decide verdicts, on the bus of `ours`.
pub fn decided_by(new: &Settings, ours: &Settings) -> Settings {
    let Settings { mode, mut bus, mut topics, mut batch, snapshot, http, kafka, .. } = ours.clone();
    bus.record_bytes_max = new.bus.record_bytes_max;
    (topics.pages_form, topics.emails_form) = (new.topics.pages_form, new.topics.emails_form);
    batch.labels_held_max = new.batch.labels_held_max;
    Settings { mode, bus, topics, batch, snapshot, http, kafka, ..new.clone() }
}

/// Replays the journal that `instance` names, with `is` beside it.
pub fn rehearse(
    instance: &Instance,
    is: &Arc<Scheme>,
    wanted: Wanted,
    mut tell: impl FnMut(Step),
) -> anyhow::Result<(Differences, Rehearsed)> {
    let extent = instance.journal_extent()?;
    if extent.end == 0 {
        bail!("the journal is empty: nothing was judged yet");
    }
    let mut left_out = Vec::new();
    let mut last = None;
    for beginning in instance.beginnings(extent.begin)? {
        let mut differences = Differences::new(wanted);
        match replayed(instance, is, &beginning, extent.end, &mut differences, &mut tell) {
            Ok(mut rehearsed) => {
                rehearsed.left_out = left_out;
                return Ok((differences, rehearsed));
            }
            Err(error) if is_final(&error) => return Err(error),
            Err(error) => {
                let from = match &beginning.snapshot {
                    Some(path) => path.display().to_string(),
                    None => "the beginning of the journal".to_owned(),
                };
                left_out.push(format!("from {from}: {error:#}"));
                last = Some(error);
            }
        }
    }
    Err(match last {
        Some(error) => readable(error).context("nothing of the journal can be replayed"),
        None => anyhow::anyhow!(
            "the journal begins at {}, and no snapshot reaches it: nothing can be replayed",
            extent.begin
        ),
    })
}

/// Whether no other beginning helps.
fn is_final(error: &anyhow::Error) -> bool {
    let bus = error.chain().find_map(|cause| cause.downcast_ref::<BusError>());
    matches!(bus, Some(BusError::Unreachable { .. } | BusError::Refused { .. } | BusError::Settings(_)))
}

/// What was judged under a secret that is not known is told as what it is: a matter of configuration.
fn readable(error: anyhow::Error) -> anyhow::Error {
    let is_secret = error.chain().any(|cause| matches!(cause.downcast_ref(), Some(SchemeError::Key { .. })));
    match is_secret {
        true => {
            Problems(vec![format!("{error:#}; --against FILE names the settings of the run, with its secret")]).into()
        }
        false => error,
    }
}

fn replayed(
    instance: &Instance,
    is: &Arc<Scheme>,
    beginning: &Beginning,
    journal_end: i64,
    differences: &mut Differences,
    tell: &mut dyn FnMut(Step),
) -> anyhow::Result<Rehearsed> {
    let (old, mut new, mut began) = begun(instance, is, beginning)?;
    began.n_records_before = instance.n_records_before(&old.positions);
    let n_threads = instance.n_fold_threads();
    let n_all = u64::try_from(journal_end - beginning.journal).unwrap_or(0);
    let (mut n_entries, mut n_entries_different) = (0, 0);
    let followed = follow_with(instance, old, beginning.journal, Until::End, Some(is), |met| {
        let Met { entry, again, beside, .. } = met;
        let folded = match &entry.what {
            What::Batch(batch) => Some(new.fold(batch.labels.clone(), beside, n_threads)),
            What::Idle(batch) => Some(new.idle(batch.labels.clone())),
            What::Epoch(_) | What::Seat { .. } => None,
        };
        n_entries += 1;
        n_entries_different += u64::from(!entry.is_met_by(&again.entry) && began.with != Knowledge::Nothing);
        let is = folded.map(|folded| {
            let Folded { mut rejected, events, .. } = folded;
            rejected.extend(verdicts(events));
            rejected
        });
        differences.take(&verdicts(again.events), &is.unwrap_or_default());
        tell(Step { n_entries, n_all: n_all.max(n_entries), n_documents: differences.n_documents() });
        Ok(())
    })?;
    match followed {
        Followed::Stopped(mut old) => {
            // What a run does when it rests: nothing that waits is left undecided on one side alone.
            differences.take(&last_words(&mut old.filter), &last_words(&mut new.filter));
            let was = old.scheme.clone();
            Ok(Rehearsed { began, n_entries, n_entries_different, left_out: Vec::new(), was })
        }
        Followed::NeedsSnapshot { .. } => bail!("the journal goes on from a state that only a later snapshot has"),
        Followed::Seated { .. } => unreachable!("nobody stands for the seat"),
    }
}

/// Both sides, with the same knowledge.
fn begun(instance: &Instance, is: &Arc<Scheme>, beginning: &Beginning) -> anyhow::Result<(Fold, Fold, Began)> {
    let ours = &instance.scheme.settings;
    let Some(path) = &beginning.snapshot else {
        let began = Began { with: Knowledge::All, entry: 1, n_records_before: 0, why: None };
        return Ok((Fold::new(instance.scheme.clone()), Fold::new(is.clone()), began));
    };
    let old = snapshots::load(path, ours)?;
    let began = |with, why| Began { with, entry: old.number + 1, n_records_before: 0, why };
    if let Err(why) = old.filter.can_carry(&is.filter()) {
        let began = began(Knowledge::Nothing, Some(why.to_string()));
        let mut emptied_old = emptied(&old, old.scheme.clone())?;
        if let Some(Succession { scheme, hours, .. }) = &old.succession {
            emptied_old.begin_beside(scheme.clone(), *hours, ours.succession.heirs_max)?;
        }
        return Ok((emptied_old, emptied(&old, is.clone())?, began));
    }
    let began = began(Knowledge::Snapshot, None);
    let mut new = snapshots::load(path, ours)?;
    new.withdraw();
    new.carry(is.clone())?;
    Ok((old, new, began))
}

/// The place of `fold` in the journal, and its labels, with nothing else.
fn emptied(fold: &Fold, scheme: Arc<Scheme>) -> anyhow::Result<Fold> {
    let Fold { positions, marks, number, epoch, .. } = fold;
    let (positions, marks) = (positions.clone(), marks.clone());
    let mut empty = Fold { positions, marks, number: *number, epoch: *epoch, ..Fold::new(scheme) };
    for label in fold.filter.labels().all() {
        empty.filter.label((*label).clone())?;
    }
    Ok(empty)
}

fn verdicts(events: Vec<Event>) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    events.into_iter().for_each(|event| keep(event, &mut verdicts));
    verdicts
}
