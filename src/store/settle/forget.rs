//! A document is forgotten because somebody asked for it, not because there was no room.

use super::super::keys::id_key;
use super::super::reference::Ref;
use super::Settler;
use crate::document::Kind;

impl Settler {
    /// Forgets the record of the document `id`, and with it the group that it heads; whether there was one.
    pub(in crate::store) fn forget(&mut self, id: &str) -> bool {
        let mut any = false;
        for kind in [Kind::Page, Kind::Email] {
            let key = id_key(id, kind);
            // Its record may have outlived the memory of its id: all are looked at.
            let own: Vec<Ref> = self.prototypes.live_of(key).collect();
            any |= !own.is_empty() || self.seen.get(key).is_some();
            for own in own {
                self.prototypes.replace(own, self.clock.position);
            }
            self.seen.forget(key);
            self.clusters.forget(key, self.clock.position);
        }
        any
    }
}
