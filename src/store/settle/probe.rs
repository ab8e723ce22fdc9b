//! What settle would say of a document if it came next, without a trace of it.
//!
//! Whose copy it is and whose style it has is found by the same code as in the fold; what the fold would then write down is only
//! reckoned with: who would have gone, and how large its group would be.

use super::super::papers::Papers;
use super::super::prototypes::Doomed;
use super::super::settled::Settled;
use super::super::{Arrival, Ref};
use super::style::member;
use super::{Arriving, Recognised, Recrawl, Settler};
use crate::config::Canonical;

impl Settler {
    /// What [`Settler::settle`] would say of `arrival`, who would have given way to it, and which clusters would have become part
    /// of its own.
    pub(in crate::store) fn probe(&self, arrival: &Arrival) -> (Settled, Doomed, Vec<u64>) {
        let papers = self.papers(arrival);
        let Papers { keys, identity, .. } = &*papers;
        let clock = self.clock_after(arrival);
        let (position, now_ms) = (clock.position, clock.now_ms());
        let before_ms = self.expires_before(now_ms);
        let mut doomed = Doomed::by_age(before_ms);
        let recognised = self.recognised(arrival, keys, |of| self.prototypes.outlives(of, &doomed));
        let Recognised { recrawl, own, .. } = recognised;
        let server = self.server(arrival);
        let mut settled = Settled::new(position, recrawl, server);
        doomed.replaced = own.filter(|_| recrawl == Some(Recrawl::Changed));
        if let Some(identity) = identity {
            match recognised.unchanged() {
                Some(own) if self.prototypes.head_of(own) == Some(own) => {
                    settled.head = Some(own);
                    settled.group = self.prototypes.joined_by(own, 0, false);
                }
                own => {
                    let counted = recognised.counted;
                    let newcomer = Arriving { arrival, keys, identity, position, now_ms, server, own, counted };
                    self.probe_text(&newcomer, &mut settled, &mut doomed);
                }
            }
        }
        let mut merged = Vec::new();
        if let Some(look) = &keys.look {
            let member = member(arrival, keys, &settled, now_ms, recognised.sighting.is_some());
            let outlives = |of: Ref| self.clusters.outlives(of, before_ms);
            let compared = self.compared(look, keys, &mut Vec::new(), outlives);
            (settled.styled, merged) = self.clusters.probe(member, &compared);
        }
        (settled, doomed, merged)
    }

    /// What [`Settler::settle_text`] would say.
    fn probe_text(&self, arriving: &Arriving<'_>, settled: &mut Settled, doomed: &mut Doomed) {
        let &Arriving { arrival, server, own, counted, .. } = arriving;
        let mut candidates = Vec::new();
        self.gather(arriving.keys, settled, &mut candidates, |of| self.prototypes.outlives(of, doomed));
        let Some(nearest) = self.nearest(arriving, settled, &mut candidates, &mut Vec::new()) else {
            if let Some(own) = own {
                settled.head = self.prototypes.head_of(own);
                settled.group = settled.head.map_or((0, 0), |head| self.prototypes.joined_by(head, 0, false));
                return;
            }
            self.prototypes.doom_for_head(&self.newcomer(arriving, &arriving.identity.blob), doomed);
            settled.head = Some(Ref::UNBORN);
            settled.group = (1, u32::from(server.domain != 0));
            settled.learns = true;
            return;
        };
        let head = nearest.head;
        let mut longest = None;
        if self.mirror.canonical == Canonical::Longest {
            longest = self.prototypes.longest_with(head, arrival.signatures.n_words, &arrival.id, doomed);
        }
        settled.joined = self.joined(arrival, &nearest, longest);
        if self.stands(arriving, &nearest, self.prototypes.n_left(head, doomed)) {
            let blob = self.clerk.further(arrival, &arriving.identity.proof);
            self.prototypes.doom_for_further(head, &self.newcomer(arriving, &blob), doomed);
        }
        if self.prototypes.outlives(head, doomed) {
            settled.head = Some(head);
            settled.group = self.prototypes.joined_by(head, server.domain, !counted.is_in(head));
        }
    }
}
