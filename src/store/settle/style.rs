//! Whose style has it? The nearest leaders, of those that share keys with its look.
//!
//! # Invariants
//! - Noise is asked where the frame leads to nobody near, and only there. (`noise_is_asked_where_no_frame_is_near`)

use super::super::cluster::Member;
use super::super::clusters::Styled;
use super::super::index::Index;
use super::super::keys::SettleKeys;
use super::super::look::{Look, Resemblance};
use super::super::settled::Settled;
use super::super::{Arrival, Ref};
use super::{Candidate, Settler, add};

/// Leaders of one key: pages of one generator share some of their keys.
const PER_FRAME_KEY_MAX: usize = 6;
const PER_STYLE_KEY_MAX: usize = 6;

impl Settler {
    /// Finds the cluster of a look, or begins one.
    pub(super) fn settle_look(&mut self, look: &Look, keys: &SettleKeys, member: Member<'_>) -> Styled {
        if let Some(all) = &mut self.all {
            let compared = all.leaders(member.kind, |of| self.clusters.resemblance(of, look));
            let (styled, own) = self.clusters.settle(look, member, &compared);
            all.learn_leader(own, member.kind);
            return styled;
        }
        let mut looks = std::mem::take(&mut self.looks);
        let compared = self.compared(look, keys, &mut looks, |of| self.clusters.lives(of));
        self.looks = looks;
        let (styled, own) = self.clusters.settle(look, member, &compared);
        if let Some(own) = own {
            let families = [
                (&mut self.frames, &keys.frames, PER_FRAME_KEY_MAX),
                (&mut self.styles, &keys.styles, PER_STYLE_KEY_MAX),
            ];
            for (index, keys, per_key_max) in families {
                for &key in keys {
                    index.insert(key, own, per_key_max, |of| self.clusters.lives(of));
                }
            }
        }
        styled
    }

    /// The leaders that live and share keys, those with the most compared: keys of the frame, and those of the noise where the
    /// frame leads to nobody near. `looks` is reused.
    pub(super) fn compared(
        &self,
        look: &Look,
        keys: &SettleKeys,
        looks: &mut Vec<Candidate>,
        lives: impl Fn(Ref) -> bool,
    ) -> Vec<(Ref, Resemblance)> {
        looks.clear();
        let gather = |index: &Index, keys: &[u64], looks: &mut Vec<Candidate>| {
            for &key in keys {
                index.find(key, |of| add(looks, of, 0));
            }
            looks.iter().for_each(|candidate| self.clusters.prefetch(candidate.of));
            looks.retain(|candidate| lives(candidate.of));
        };
        let compare = |looks: &mut Vec<Candidate>| -> Vec<(Ref, Resemblance)> {
            looks.sort_unstable_by_key(|found| (std::cmp::Reverse(found.n_keys), found.of));
            let nearest = &looks[..looks.len().min(self.template_candidates_max)];
            nearest.iter().for_each(|candidate| self.clusters.prefetch_look(candidate.of));
            nearest.iter().filter_map(|found| Some((found.of, self.clusters.resemblance(found.of, look)?))).collect()
        };
        gather(&self.frames, &keys.frames, looks);
        let compared = compare(looks);
        // The noise is for pages whose frame says too little. Most have a leader that is all but their own.
        if compared.iter().any(|(_, resemblance)| resemblance.score >= self.leader_below) {
            return compared;
        }
        if !keys.frames.is_empty() {
            keys.styles.iter().for_each(|&key| self.styles.prefetch(key));
        }
        gather(&self.styles, &keys.styles, looks);
        compare(looks)
    }
}

/// What a document brings for its cluster beside its look.
pub(super) fn member<'a>(
    arrival: &'a Arrival,
    keys: &SettleKeys,
    settled: &Settled,
    now_ms: i64,
    is_known: bool,
) -> Member<'a> {
    Member {
        position: settled.position,
        now_ms,
        kind: arrival.signatures.kind,
        id_key: keys.id,
        id: &arrival.id,
        domain: settled.server.domain,
        link_domains: &arrival.signatures.link_domains,
        is_copy: settled.joined.is_some(),
        is_mirror: settled.joined.as_ref().is_some_and(|joined| joined.origin.is_similar()),
        is_known,
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::Store;
    use super::super::super::look::tests::look;
    use super::super::super::settled::Settled;
    use super::super::super::tests::{arrival, settings};
    use super::*;
    use crate::document::Kind;

    /// One leader has a frame alone, the other a frame and noise.
    #[test]
    fn noise_is_asked_where_no_frame_is_near() {
        let mut settler = Store::new(&settings(4 << 20)).settler;
        let page = |id: &str, look: &Look| {
            let arrival = arrival(id, Kind::Page, 0..60);
            let mut keys = SettleKeys::of(&arrival, &settings(4 << 20).mirror, false);
            look.frame_keys(0, |key| keys.frames.push(key));
            look.style_keys(0, |key| keys.styles.push(key));
            (arrival, keys)
        };
        let leaders = [look(Some(1), &[1], 0), look(Some(2), &[2], 7)];
        for (position, (id, look)) in (1..).zip(["framed", "noisy"].iter().zip(&leaders)) {
            let (arrival, keys) = page(id, look);
            let settled = Settled::new(position, None, settler.server(&arrival));
            let styled = settler.settle_look(look, &keys, member(&arrival, &keys, &settled, 0, false));
            assert_eq!(styled.resemblance.score, 0.0, "{id} leads");
        }
        for (look, expected) in [
            (look(Some(1), &[1], 0), "framed"),
            // Noise alone would be enough to be like the other, too.
            (look(Some(1), &[1], 7), "framed"),
            (look(Some(2), &[2], 9), "noisy"),
            (look(Some(3), &[3], 7), "noisy"),
            (look(None, &[], 7), "noisy"),
        ] {
            let (_, keys) = page("asks", &look);
            let compared = settler.compared(&look, &keys, &mut Vec::new(), |_| true);
            let ids = compared.iter().map(|(of, _)| &*settler.clusters.get(*of).unwrap().id).collect::<Vec<&str>>();
            assert_eq!(ids, [expected], "{look:?}");
        }
    }
}
