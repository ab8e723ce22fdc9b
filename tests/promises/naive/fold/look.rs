//! Which pages look alike: leaders, clusters, merges.

use super::{Cluster, Naive, Of};
use seamripper::document::Kind;
use seamripper::signature::style::{BINS, Form};
use seamripper::signature::{Outcome, Signatures, frame};

impl<'a> Naive<'a> {
    pub(super) fn has_look(&self, this: Of) -> bool {
        let signatures = &self.arrivals[this].signatures;
        let noise = signatures.style.as_ref().and_then(|style| style.tag_noise.as_ref());
        let is_nothing = signatures.kind == Kind::Email && signatures.outcome == Outcome::Insufficient;
        !is_nothing && (signatures.frame.is_some() || noise.is_some())
    }

    /// How alike two look, 0 for what is not of one template.
    pub(super) fn look(&self, this: Of, that: Of) -> f64 {
        let settings = &self.settings.template;
        let (a, b) = (&self.arrivals[this].signatures, &self.arrivals[that].signatures);
        let form =
            |of: &'a Signatures| of.style.as_ref().and_then(|style| style.tag_noise.as_ref()).map(|noise| &noise.form);
        let n_bins = match (form(a), form(b)) {
            (Some(Form::Bins(a)), Some(Form::Bins(b))) => a.matching(b) as u32,
            (Some(Form::Digest(a)), Some(Form::Digest(b))) if a == b => BINS as u32,
            _ => 0,
        };
        let both_have_bins = [a, b].iter().all(|of| matches!(form(of), Some(Form::Bins(_))));
        let style = f64::from(n_bins) / BINS as f64;
        match (&a.frame, &b.frame) {
            (Some(a), Some(b)) => {
                let similarity = frame::similarity(a.slots(), b.slots());
                let are_bare = a.stylesheets.is_empty() && b.stylesheets.is_empty();
                let agree = a.stylesheets_agree(b)
                    && similarity >= settings.frame_min
                    && !(are_bare && both_have_bins && n_bins < settings.bins_beside_min);
                let share_a_sheet = a.stylesheets.iter().any(|sheet| b.stylesheets.contains(sheet));
                if agree {
                    similarity
                } else if !share_a_sheet && n_bins >= settings.bins_alone_min && similarity >= settings.frame_beside_min
                {
                    style
                } else {
                    0.0
                }
            }
            _ if n_bins >= settings.bins_min => style,
            _ => 0.0,
        }
    }

    /// The founder of its cluster, from the second page on, and the cluster's size.
    pub(super) fn settle_look(&mut self, this: Of, is_known: bool) -> (Option<Of>, u32) {
        if !self.has_look(this) {
            return (None, 0);
        }
        let told = |naive: &Self, number: usize| {
            let cluster = naive.clusters[number].as_ref().unwrap();
            (Some(cluster.founder), cluster.size)
        };
        let alike = self.leaders.keys().filter(|of| self.kind(**of) == self.kind(this));
        let alike = alike.map(|&of| (self.look(this, of), of)).filter(|(score, _)| *score > 0.0);
        let mut alike: Vec<(f64, Of)> = alike.collect();
        alike.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        if let Some((_, of)) = alike.iter().find(|(_, of)| self.id(*of) == self.id(this)) {
            return self.leaders[of].map_or((None, 0), |number| told(self, number));
        }
        let Some(&(score, best)) = alike.first() else {
            self.leaders.insert(this, None);
            return (None, 0);
        };
        let settings = &self.settings.template;
        let mut number = self.cluster_of(best);
        for &(other_score, of) in &alike[1..] {
            let is_other = self.leaders.get(&of).is_some_and(|other| *other != Some(number));
            if is_other && score >= settings.merge_min && other_score >= settings.merge_min {
                let other = self.cluster_of(of);
                number = self.merge(number, other);
            }
        }
        let cluster = self.clusters[number].as_mut().unwrap();
        cluster.size += u32::from(!is_known);
        if score < settings.leader_below && !cluster.is_merged && cluster.leaders.len() < settings.leaders_max {
            cluster.leaders.push(this);
            self.leaders.insert(this, Some(number));
        }
        told(self, number)
    }

    pub(super) fn cluster_of(&mut self, leader: Of) -> usize {
        if let Some(number) = self.leaders[&leader] {
            return number;
        }
        self.clusters.push(Some(Cluster { leaders: vec![leader], is_merged: false, size: 1, founder: leader }));
        self.leaders.insert(leader, Some(self.clusters.len() - 1));
        self.clusters.len() - 1
    }

    pub(super) fn merge(&mut self, a: usize, b: usize) -> usize {
        let founder = |number: usize| self.clusters[number].as_ref().unwrap().founder;
        let (older, younger) = if founder(a) <= founder(b) { (a, b) } else { (b, a) };
        let gone = self.clusters[younger].take().unwrap();
        let stays = self.clusters[older].as_mut().unwrap();
        (stays.size, stays.is_merged) = (stays.size + gone.size, true);
        stays.leaders.extend(gone.leaders);
        stays.leaders.sort_unstable();
        for leader in stays.leaders.split_off(stays.leaders.len().min(8)) {
            self.leaders.remove(&leader);
        }
        for leader in &stays.leaders {
            self.leaders.insert(*leader, Some(older));
        }
        older
    }
}
