//! What an instance begins with: the newest state that the journal can be followed from, and what to do where something is gone.

use super::fold::Fold;
use super::journal::Origin;
use super::scheme::SchemeError;
use super::snapshots::{self, Kept};
use super::{Instance, counted};
use crate::bus::{BusError, Extent, Partition, Positions};
use crate::config::Settings;
use anyhow::{Context, bail};
use std::path::PathBuf;
use tracing::{error, info, warn};

/// What was lost, where that was accepted.
#[derive(Clone, Debug)]
pub struct Lost {
    /// In words.
    pub why: String,
}

/// A state that the journal can be followed from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beginning {
    /// Where the journal goes on.
    pub journal: i64,
    /// The snapshot that has it; `None` for the empty state that all began with.
    pub snapshot: Option<PathBuf>,
}

/// What an instance begins with.
pub(super) struct Restored {
    pub(super) fold: Fold,
    /// Where the journal goes on.
    pub(super) journal: i64,
    /// What is missing between the two, or before, where that was accepted. What the journal does not speak of any more is
    /// judged again.
    pub(super) lost: Option<Lost>,
}

impl Instance {
    /// The state to begin with, and where the journal goes on after it.
    pub(super) fn restored(&self) -> anyhow::Result<Restored> {
        let mut extent = self.journal_extent()?;
        let mut newest = self.newest(extent)?;
        // Also where the journal has lost the beginning that goes with ours: somebody who was away for long has an old one.
        let reaches = newest.as_ref().is_some_and(|(_, journal)| *journal >= extent.begin);
        if extent.end > 0 && !reaches && self.fetch_snapshot() {
            // It may be newer than what was known of the journal, and two states do not fit into the memory of one.
            drop(newest);
            extent = self.journal_extent()?;
            newest = self.newest(extent)?;
        }
        if let Some((fold, journal)) = newest {
            self.restored_from(&fold, journal);
            if journal >= extent.begin {
                return Ok(Restored { fold, journal, lost: None });
            }
            let why = format!(
                "the journal begins at {}, and the newest snapshot ends at {journal}: what lies between was deleted",
                extent.begin
            );
            if !self.accept_loss {
                bail!("{why}. --accept-loss goes on from that snapshot");
            }
            return Ok(Restored { fold, journal: extent.begin, lost: Some(Lost { why }) });
        }
        let mut lost = None;
        if let Some(beyond) = self.snapshots.kept()?.iter().find(|kept| kept.journal > extent.end) {
            let why = format!(
                "the journal `{}` ends at {}, and {} speaks of {}: it was made again, or is another",
                self.outlet.journal_topic(),
                extent.end,
                beyond.path.display(),
                beyond.journal
            );
            if !self.accept_loss {
                bail!("{why}. --accept-loss begins with an empty store, and judges again what is there");
            }
            lost = Some(Lost { why });
        }
        if extent.begin > 0 {
            let why = format!("there is no snapshot, and the journal begins at {}, not at 0", extent.begin);
            if !self.accept_loss {
                bail!("{why}: its beginning was deleted. --accept-loss begins with an empty store");
            }
            lost = Some(Lost { why });
        }
        Ok(Restored { fold: Fold::new(self.scheme.clone()), journal: extent.begin, lost })
    }

    fn newest(&self, extent: Extent) -> anyhow::Result<Option<(Fold, i64)>> {
        match self.snapshots.newest(extent.end, &self.scheme.settings) {
            Err(error) if self.accept_loss && error.is::<SchemeError>() => {
                warn!("{error:#}");
                Ok(None)
            }
            newest => newest,
        }
    }

    /// Asks the instance that `snapshot.holder` names for its newest snapshot; whether there is one more now.
    pub(super) fn fetch_snapshot(&self) -> bool {
        let Settings { bus, http, snapshot, .. } = &*self.scheme.settings;
        let holder = snapshot.holder.as_str();
        if holder.is_empty() {
            return false;
        }
        let token = std::fs::read_to_string(bus.folder.join(&http.token_file)).map_err(anyhow::Error::from);
        match token.and_then(|token| self.snapshots.fetch(holder, token.trim())) {
            Ok(()) => info!(holder, "snapshot fetched"),
            Err(error) => {
                warn!(holder, "no snapshot from the holder: {error:#}");
                return false;
            }
        }
        true
    }

    /// The state to audit from: none at all where the journal is whole, else the oldest snapshot that reaches it.
    pub(super) fn audited_from(&self, journal_begin: i64) -> anyhow::Result<(Fold, i64)> {
        // The oldest that can be used: others may have been made under another secret.
        let mut refused = None;
        for Beginning { journal, snapshot } in self.beginnings(journal_begin)? {
            let Some(path) = snapshot else { return Ok((Fold::new(self.scheme.clone()), 0)) };
            match snapshots::load(&path, &self.scheme.settings) {
                Ok(fold) => return Ok((fold, journal)),
                Err(error) => refused = Some(error.context(format!("snapshot {}", path.display()))),
            }
        }
        let nothing = format!("the journal begins at {journal_begin}, and no snapshot that reaches it can be used");
        Err(match refused {
            Some(error) => error.context(nothing),
            None => anyhow::anyhow!("{nothing}: there is nothing to audit from"),
        })
    }

    /// The states that a journal with this beginning can be followed from, the oldest first.
    pub(in crate::pipeline) fn beginnings(&self, journal_begin: i64) -> anyhow::Result<Vec<Beginning>> {
        let mut kept = self.snapshots.kept()?;
        kept.retain(|kept| kept.journal >= journal_begin);
        let first = (journal_begin == 0).then_some(Beginning { journal: 0, snapshot: None });
        let kept = kept.into_iter().rev().map(|Kept { journal, path }| Beginning { journal, snapshot: Some(path) });
        Ok(first.into_iter().chain(kept).collect())
    }

    /// Which records of the journal there are.
    pub(in crate::pipeline) fn journal_extent(&self) -> Result<Extent, BusError> {
        self.bus.extent(&Partition::new(self.outlet.journal_topic(), 0))
    }

    /// How many records of inputs lie before these positions.
    pub(in crate::pipeline) fn n_records_before(&self, positions: &Positions) -> u64 {
        let is_input = |partition: &Partition| self.ways.inputs().any(|topic| *topic == partition.topic);
        let before = positions.0.iter().filter(|(partition, _)| is_input(partition));
        before.map(|(_, next)| u64::try_from(*next).unwrap_or(0)).sum()
    }

    /// Whether an epoch is to begin before judging goes on, and from what. Changes the state accordingly.
    pub(super) fn turn(&self, fold: &mut Fold, lost: Option<Lost>) -> anyhow::Result<Option<Origin>> {
        let lost = match lost {
            Some(lost) => Some(lost),
            None => self.missing_inputs(fold)?,
        };
        if let Some(Lost { why }) = lost {
            error!("LOSS ACCEPTED: {why}");
            if !fold.is_under(&self.scheme) {
                fold.begin_anew(self.scheme.clone());
            }
            return Ok(Some(Origin::Snapshot { why }));
        }
        if fold.epoch == 0 {
            let Some(path) = &self.first_store else { return Ok(Some(Origin::Empty)) };
            let first = snapshots::load(path, &self.scheme.settings)
                .with_context(|| format!("store {} cannot be begun with", path.display()))?;
            fold.filter = first.filter;
            return Ok(Some(Origin::Snapshot { why: "began with a store that `scan --store` made".into() }));
        }
        if self.first_store.is_some() {
            warn!("the journal is not empty, the store to begin with is passed over");
        }
        let turned = match &fold.succession {
            Some(_) => self.turn_beside(fold),
            None if fold.scheme.is_like(&self.scheme) => {
                if self.scheme.settings.former.is_some() {
                    info!("`previous` is needed no more, but to audit what was judged under it");
                }
                return Ok(None);
            }
            None => match fold.carry(self.scheme.clone()) {
                Ok(()) => return Ok(Some(Origin::Carried)),
                Err(error) => self.begin_beside(fold, error).map(Some),
            },
        };
        match turned {
            Err(error) if self.accept_loss => {
                error!("LOSS ACCEPTED: the store begins anew: {error:#}");
                fold.begin_anew(self.scheme.clone());
                Ok(Some(Origin::Snapshot { why: format!("settings changed: {error:#}") }))
            }
            turned => turned,
        }
    }

    /// Inputs that were deleted before they were read, or topics that were made again.
    pub(super) fn missing_inputs(&self, fold: &mut Fold) -> anyhow::Result<Option<Lost>> {
        let mut found: Option<String> = None;
        let inputs = self.inputs_from(&fold.positions)?;
        let changed = fold.marks.changed(&*self.bus, &inputs)?;
        for (partition, wanted) in inputs.0 {
            let extent = self.bus.extent(&partition)?;
            let changed = changed.iter().find(|(other, _)| other.topic == partition.topic);
            let gone = match changed {
                Some((partition, offset)) => BusError::MadeAgain { partition: partition.clone(), offset: *offset },
                None if (extent.begin..=extent.end).contains(&wanted) => continue,
                None => {
                    let (begin, end) = (extent.begin, extent.end);
                    BusError::Gone { partition: partition.clone(), wanted, begin, end }
                }
            };
            if wanted == 0 && fold.epoch == 0 {
                info!(%partition, begin = extent.begin, "the topic's beginning is gone, judging begins with what is there");
            } else if !self.accept_loss {
                return Err(anyhow::Error::new(gone).context(
                    "records are not there. Nothing is judged until this is looked at; --accept-loss goes on from what there is",
                ));
            } else {
                counted::lost(&partition.topic, extent.begin - wanted);
                found = Some(found.map_or_else(|| gone.to_string(), |others| format!("{others}; {gone}")));
            }
            fold.marks.forget(&partition);
            fold.positions.0.insert(partition, extent.begin);
        }
        Ok(found.map(|why| Lost { why }))
    }
}
