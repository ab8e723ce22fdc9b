//! Whose style has it? The nearest leaders, of those that share keys with its look.

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
