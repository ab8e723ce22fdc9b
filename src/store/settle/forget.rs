//! A document is forgotten because somebody asked for it, not because there was no room.

use super::super::keys::id_key;
use super::Settler;
use crate::document::Kind;

impl Settler {
    /// Forgets the record of the document `id`, and with it the group that it heads; whether there was one.
    pub(in crate::store) fn forget(&mut self, id: &str) -> bool {
        let mut any = false;
        for kind in [Kind::Page, Kind::Email] {
            let key = id_key(id, kind);
            let Some(sighting) = self.seen.get(key) else { continue };
            any = true;
            let own = sighting.of.filter(|of| self.prototypes.get(*of).is_some_and(|found| found.id_key == key));
            if let Some(own) = own {
                self.prototypes.replace(own, self.clock.position);
            }
            self.seen.forget(key);
            self.clusters.forget(key, self.clock.position);
        }
        any
    }
}
