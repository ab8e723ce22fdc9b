//! Whose text is like whose, and whose group a document joins: all pairs, by the definition.

use super::{BY_BODY, Naive, Of, core_sentences};
use seamripper::document::Kind;
use seamripper::signature::{Outcome, Signatures, cosine};
use seamripper::verdict::vicinity::Vicinity;

impl<'a> Naive<'a> {
    pub(super) fn has_proof(&self, this: Of) -> bool {
        self.arrivals[this].signatures.outcome == Outcome::Signed
    }

    /// How alike two are, whether their cores agree, and whether that makes a copy.
    pub(super) fn likeness(&self, this: Of, that: Of) -> Option<(f64, bool, bool)> {
        let (a, b) = (&self.arrivals[this].signatures, &self.arrivals[that].signatures);
        let slots = |of: &'a Signatures| match of.kind {
            // Of a page with little content all that is shown counts.
            Kind::Page => of.shown_shingles.as_ref().or(of.shingles.as_ref()),
            Kind::Email => None,
        };
        let slots = |of: &'a Signatures| slots(of).map(|shingles| shingles.slots().map(|slot| slot as u16));
        let mirror = &self.settings.mirror;
        let resemblance_min = match self.arrivals[this].unspaced {
            true => mirror.resemblance_min_unspaced,
            false => mirror.resemblance_min,
        };
        match (slots(a), slots(b)) {
            (Some(a), Some(b)) => {
                let score = a.iter().zip(&b).filter(|(a, b)| a == b).count() as f64 / a.len() as f64;
                let agrees = score >= 0.95 || self.content_likeness(this, that) >= resemblance_min / 2.0;
                Some((score, agrees, score >= resemblance_min && agrees))
            }
            (None, None) => {
                let is_mail = |of: &Signatures| of.kind == Kind::Email;
                if a.little_core.or(b.little_core).is_some() && is_mail(a) {
                    // Whose own words are too few for a text is like nobody with other ones.
                    let score = cosine(&a.shown.terms, &b.shown.terms);
                    let agrees = a.little_core == b.little_core;
                    return Some((score, agrees, score >= mirror.cosine_min && agrees));
                }
                let core = |of: &'a Signatures| of.core.as_ref().filter(|_| is_mail(of)).unwrap_or(&of.shown);
                let full = |of: &'a Signatures| of.full.as_ref().filter(|_| is_mail(of)).unwrap_or(&of.shown);
                let is_mostly_aside = [a, b].iter().any(|of| 2 * core(of).terms.len() < of.shown.terms.len());
                let core_min = if is_mostly_aside { mirror.cosine_min } else { mirror.core_cosine_min };
                let core = cosine(&core(a).terms, &core(b).terms);
                let score = [cosine(&a.shown.terms, &b.shown.terms), core, cosine(&full(a).terms, &full(b).terms)];
                let score = score.into_iter().fold(0.0, f64::max);
                let agrees = core >= core_min;
                let is_copy = score >= mirror.cosine_min && agrees;
                // The same body under another subject.
                let is_same = a.body.is_some() && a.body == b.body;
                Some(if is_same && !is_copy { (BY_BODY, true, true) } else { (score, agrees, is_copy) })
            }
            _ => None,
        }
    }

    /// How much of their content agrees, of two pages one of which is compared by all that it shows.
    pub(super) fn content_likeness(&self, this: Of, that: Of) -> f64 {
        let (a, b) = (&self.arrivals[this].signatures, &self.arrivals[that].signatures);
        let n_whole = [a, b].into_iter().filter(|of| of.shown_shingles.is_some()).count();
        match (&a.shingles, &b.shingles) {
            (Some(a), Some(b)) if n_whole > 0 => {
                let slots = a.slots().iter().zip(b.slots()).take(64);
                slots.filter(|(a, b)| **a as u8 == **b as u8).count() as f64 / 64.0
            }
            (Some(_), None) | (None, Some(_)) if n_whole == 2 => 0.0,
            _ => 1.0,
        }
    }

    /// Whether all that one shows is a text of the other.
    pub(super) fn shows_a_text_of(&self, this: Of, that: Of) -> bool {
        let (a, b) = (&self.arrivals[this].signatures, &self.arrivals[that].signatures);
        let views = [Some(&b.shown), b.core.as_ref(), b.full.as_ref()];
        a.shown.digest.is_some() && views.into_iter().flatten().any(|view| view.digest == a.shown.digest)
    }

    /// Whether two are of different sites, of one page, or have enough of a text in common.
    pub(super) fn is_more_than_its_site(&self, this: Of, that: Of, score: f64) -> bool {
        let core = core_sentences(&self.arrivals[this].signatures);
        !self.are_of_one_site(this, that)
            || score.min(self.content_likeness(this, that)) >= self.settings.mirror.site_resemblance_min
                && self.is_text(this, core.into_iter().map(|(number, _)| number))
    }

    /// Whether two pages are of one site, under two addresses.
    pub(super) fn are_of_one_site(&self, this: Of, that: Of) -> bool {
        let (a, b) = (&self.arrivals[this], &self.arrivals[that]);
        a.url.as_deref().zip(b.url.as_deref()).is_some_and(|(a, b)| Vicinity::of(a, b) == Vicinity::SameSite)
    }

    /// Whether sentences of a page are enough of a text.
    pub(super) fn is_text(&self, this: Of, sentences: impl Iterator<Item = u16>) -> bool {
        let part = if self.arrivals[this].unspaced { 2 } else { 1 };
        let (mut n_chars, mut n_prose_chars) = (0, 0);
        for number in sentences {
            let n = self.arrivals[this].signatures.sentences[usize::from(number)].n_chars;
            (n_chars, n_prose_chars) = (n_chars + n, n_prose_chars + if n >= 60 / part { n } else { 0 });
        }
        n_prose_chars >= self.settings.mirror.site_chars_min / part && 4 * n_prose_chars >= 3 * n_chars
    }

    /// The score of the nearest prototype and the head of its group.
    pub(super) fn nearest(&self, this: Of) -> Option<(f64, Of)> {
        let others = self.prototypes.keys().filter(|of| self.kind(**of) == self.kind(this));
        let others = others.filter(|of| self.id(**of) != self.id(this));
        let mut copies: Vec<(f64, Of)> = others
            .filter_map(|&of| self.likeness(this, of).filter(|(.., is_copy)| *is_copy).map(|(score, ..)| (score, of)))
            .filter(|&(score, of)| self.shows_a_text_of(this, of) || self.is_more_than_its_site(this, of, score))
            .collect();
        let is_by_body = |score: f64| score == BY_BODY;
        copies.sort_by(|a, b| is_by_body(a.0).cmp(&is_by_body(b.0)).then(b.0.total_cmp(&a.0)).then(a.1.cmp(&b.1)));
        copies.into_iter().find_map(|(score, of)| {
            let head = self.prototypes[&of].head;
            let (to_head, agrees, _) = self.likeness(this, head).unwrap_or_default();
            let joins = self.id(head) != self.id(this)
                && agrees
                && to_head >= self.settings.mirror.head_min
                && (of == head || self.is_more_than_its_site(this, head, to_head));
            joins.then_some((score, head))
        })
    }
}
