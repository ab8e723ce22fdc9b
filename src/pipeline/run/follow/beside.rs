//! What a second scheme makes of the records that are followed, for whoever compares the two.

use crate::bus::{BusError, Record};
use crate::pipeline::run::inlet::Ways;
use crate::pipeline::run::journal::Range;
use crate::pipeline::run::replay::Replay;
use crate::pipeline::run::scheme::{Scheme, Under};
use crate::pipeline::run::signed;
use std::ops::ControlFlow;
use std::sync::Arc;

/// What else is made of a record.
pub(super) enum Beside {
    /// Nothing.
    Nothing,
    /// Another scheme makes the same of it.
    Alike,
    /// Another scheme makes something else of it, or of the record that a signer has made it of.
    Signed(Arc<Under>, Option<Box<Record>>),
}

/// What else is made of the records, and of what.
pub(super) struct Other<'a> {
    wanted: &'a Scheme,
    /// The same for the inputs of the entries that are found now; `None` where it makes the same of them.
    under: Option<Arc<Under>>,
    /// Where those come from.
    ways: Ways,
    /// The records that signers have made theirs of.
    originals: Replay,
}

impl<'a> Other<'a> {
    pub(super) fn new(wanted: &'a Scheme, scheme: &Scheme, originals: Replay) -> Self {
        let mut other = Self { wanted, under: None, ways: Ways::new(&scheme.settings), originals };
        other.turn(scheme);
        other
    }

    /// What is to be made of a record.
    pub(super) fn of(&mut self, record: &Record) -> Result<Beside, BusError> {
        let Some(other) = &self.under else { return Ok(Beside::Alike) };
        let is_signed = record.partition.topic == self.ways.signed();
        let Some((partition, offset)) = is_signed.then(|| signed::origin(record, &self.ways)).flatten() else {
            return Ok(Beside::Signed(other.clone(), None));
        };
        let mut original = None;
        let range = Range { partition, from: offset, to: offset };
        let mut keep = |record| {
            original = Some(Box::new(record));
            ControlFlow::Continue(())
        };
        let _never_stopped = self.originals.range(&range, &mut || ControlFlow::Continue(()), &mut keep)?;
        Ok(Beside::Signed(other.clone(), original))
    }

    /// From here on the records are signed by `scheme`.
    pub(super) fn turn(&mut self, scheme: &Scheme) {
        let other = self.wanted.for_inputs_of(scheme);
        let under = |scheme| Under { scheme: Arc::new(scheme), successor: None, is_handed_over: Arc::default() };
        self.under = (!other.signs_like(scheme)).then(|| Arc::new(under(other)));
        self.ways = Ways::new(&scheme.settings);
    }
}
