//! Documents read again from the files that they came from.

use crate::config::Settings;
use crate::corpus;
use crate::pipeline::explanation::shared::{Archive, Reading};
use crate::pipeline::scan::place;
use crate::pipeline::{Steps, lexicon};
use crate::store::Store;
use crate::verdict::event::Source;

/// Files, and a store that knows which document is in which.
pub(super) struct Files<'a> {
    store: &'a Store,
    steps: Steps,
    options: &'a corpus::Options,
    settings: &'a Settings,
}

impl<'a> Files<'a> {
    pub(super) fn new(store: &'a Store, options: &'a corpus::Options, settings: &'a Settings) -> anyhow::Result<Self> {
        Ok(Self { store, steps: Steps::new(settings, lexicon::load(settings)?), options, settings })
    }
}

impl Archive for Files<'_> {
    fn source(&mut self, id: &str) -> Option<Source> {
        let known = self.store.known(id)?;
        Some(self.store.card(known.own?)?.source())
    }

    fn read(&mut self, source: &Source, id: &str) -> Reading {
        let place = place(source);
        if place == "-" || place.starts_with("-#") {
            return Reading::Gone;
        }
        let Ok(entry) = corpus::one(&place, self.options, &self.settings.limits) else { return Reading::Gone };
        match self.steps.sign(&entry.record) {
            Ok(signed) if signed.document.identity.id == id => Reading::Read(Box::new(signed.kept())),
            Ok(_) | Err(_) => Reading::Gone,
        }
    }

    fn place(&self, source: &Source) -> String {
        place(source)
    }
}
