//! What a candidate is verified by: enough of a document to say how alike another one is.
//!
//! Keys only suggest; a copy is one by direct comparison. Mails are compared by their distinct terms, 24 bits of each, in
//! three views: a campaign may share the shown or the hidden words, and a list's footer must not make a copy (so the
//! core has to agree too). Below whatever subject, the same body is the same mail. A mail whose core is too little to be a text
//! of its own is compared by all that it shows, and only with others of the very same core: whoever writes "Hi" above his signature says
//! what the signature says, and "thanks!" and "ok" under one footer are two mails. Pages are compared by the 128 slots of their shingles, 16 bits of each, since pages of one
//! manual share their vocabulary and not their sentences; one with little content by all that it shows, where
//! half as much of its content has to agree: a shop's menu makes no copies of its goods. Where pages and mails are to match each other, a page has both, and is
//! compared with a mail by terms. Of a long mail the terms with the smallest hashes stand for all:
//! a fair sample, the same in both documents.
//!
//! # Invariants
//! - Up to [`TERMS_MAX`] terms the cosine is that of the whole bags. (`the_cosine_is_exact_for_ordinary_mails`)
//! - Mails whose cores are too little for a text are alike only where these are the same, and unlike any other.
//!   (`a_little_core_has_to_be_the_same`)
//! - Mails of the same words below their subjects are alike, whatever these are. (`the_same_body_is_the_same_mail`)
//! - Pages that are compared by all that they show are no copies where their content differs, unless nearly nothing else does.
//!   (`a_menu_makes_no_copy`)
//! - A page is compared with a page by shingles and with a mail by terms. (`kinds_have_a_measure_in_common`)

use crate::config::MirrorSettings;
use crate::document::Kind;
use crate::signature::minhash::{MinHash, SLOTS};
use crate::signature::{Outcome, Signatures, View};
use crate::verdict::event::TextView;

/// Terms that are kept of a document. An ordinary mail has 150.
pub(super) const TERMS_MAX: usize = 512;

/// Slots of its content that are kept of a page that is compared by all that it shows, 8 bits of each.
const CONTENT_SLOTS: usize = 64;

/// Two pages of a thousand words that differ in one line have so much in common, whatever is thought to be their content.
const NEARLY_ALL: f64 = 0.95;

const TERMS: u8 = 1;
const SHINGLES: u8 = 2;
const WHOLE: u8 = 4;
const CONTENT: u8 = 8;

/// What is noted of terms.
const SAMPLE: u8 = 1;
const LITTLE: u8 = 2;
const BODY: u8 = 4;

/// Which views hold a term.
const SHOWN: u8 = 1;
const CORE: u8 = 2;
const FULL: u8 = 4;

/// What two documents were compared by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Measure {
    #[default]
    Terms,
    Shingles,
}

/// How alike two documents are.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Likeness {
    /// By what.
    pub(super) by: Measure,
    /// The similarity of the view that agrees best.
    pub(super) score: f64,
    /// That view.
    pub(super) view: TextView,
    /// The similarity of the cores; 1 where there is nothing to be said of them beside the score.
    pub(super) core: f64,
    /// Whether the words below their subjects are the same.
    pub(super) same_body: bool,
    /// Whether most of what one of them shows is quoted, a footer or the like: then the subject, which a thread has in common, may be half
    /// of the core.
    pub(super) is_mostly_aside: bool,
}

impl Likeness {
    /// Whether the cores agree, or are next to nothing of pages that are the same in nearly all that they show.
    fn agrees_in_core(&self, core_min: f64) -> bool {
        self.core >= core_min || self.by == Measure::Shingles && self.score >= NEARLY_ALL
    }
}

/// What a document is compared by: one of the two at least.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Proof {
    /// The slots of a page.
    shingles: Option<Box<[u16; SLOTS]>>,
    /// Whether the slots are those of all that it shows.
    is_whole: bool,
    /// Then slots of its content, if that has any.
    content: Option<[u8; CONTENT_SLOTS]>,
    /// The terms of a mail, of a page without shingles, or of one that is compared with mails.
    terms: Option<Terms>,
}

/// The terms of a text: the upper 24 bits of each, ascending, above the views that hold it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Terms {
    /// How many terms each view has: shown, core, full.
    n: [u32; 3],
    /// Value in the upper 24 bits, views in the lower 8.
    kept: Vec<u32>,
    /// Whether `kept` is not all.
    is_sample: bool,
    /// The words of a core that is too little for a text of its own.
    little: Option<u32>,
    /// The words of a mail below its subject, if they are enough.
    body: Option<u32>,
}

impl Proof {
    /// What `signatures` are compared by, a page with mails too if it is `cross_kinds`; `None` where there is too little text.
    /// A core that is too little is no text of its own: it has to be the same. More than [`TERMS_MAX`] terms are too many for cells.
    pub(super) fn of(signatures: &Signatures, cross_kinds: bool, terms_max: usize) -> Option<Self> {
        if signatures.outcome == Outcome::Insufficient {
            return None;
        }
        let (shown, full) = (&signatures.shown, signatures.full.as_ref());
        let core = signatures.core.as_ref().unwrap_or(shown);
        let is_page = signatures.kind == Kind::Page;
        let shingles = signatures.shown_shingles.as_ref().or(signatures.shingles.as_ref()).filter(|_| is_page);
        let shingles = shingles.map(|shingles| Box::new(slots(shingles)));
        let is_whole = shingles.is_some() && signatures.shown_shingles.is_some();
        let content = signatures.shingles.as_ref().filter(|_| is_whole);
        let content = content.map(|content| std::array::from_fn(|slot| content.slots()[slot] as u8));
        let terms = match (signatures.kind, &shingles) {
            (Kind::Page, Some(_)) if !cross_kinds => None,
            (Kind::Page, None) if !cross_kinds => Some(Terms::of(shown, shown, None, terms_max)),
            _ => {
                let little = signatures.little_core.map(|words| words as u32);
                let body = signatures.body.filter(|_| little.is_none()).map(|body| body as u32);
                Some(Terms { little, body, ..Terms::of(shown, core, full, terms_max) })
            }
        };
        (shingles.is_some() || terms.is_some()).then_some(Self { shingles, is_whole, content, terms })
    }

    /// The terms, if it has them.
    pub(super) fn terms(&self) -> Option<&Terms> {
        self.terms.as_ref()
    }

    /// Whether its core is too little to be a text of its own.
    pub(super) fn has_little_core(&self) -> bool {
        self.terms.as_ref().is_some_and(|terms| terms.little.is_some())
    }

    /// What two documents are compared by, if they can be.
    pub(super) fn measure(&self, other: &Self) -> Option<Measure> {
        let have_shingles = self.shingles.is_some() && other.shingles.is_some();
        let have_terms = self.terms.is_some() && other.terms.is_some();
        have_shingles.then_some(Measure::Shingles).or(have_terms.then_some(Measure::Terms))
    }

    /// How alike two documents are; `None` where they cannot be compared.
    pub(super) fn likeness(&self, other: &Self) -> Option<Likeness> {
        if let (Some(a), Some(b)) = (&self.shingles, &other.shingles) {
            let agreeing = a.iter().zip(b.iter()).filter(|(a, b)| a == b).count();
            let score = agreeing as f64 / SLOTS as f64;
            let view = if self.is_whole || other.is_whole { TextView::Shown } else { TextView::Core };
            let core = match (self.content(), other.content()) {
                _ if view == TextView::Core => 1.0,
                (Some(a), Some(b)) => a.iter().zip(&b).filter(|(a, b)| a == b).count() as f64 / CONTENT_SLOTS as f64,
                // Of a page that is not compared by all that it shows, its content may well be a list.
                (Some(_), None) | (None, Some(_)) if self.is_whole && other.is_whole => 0.0,
                _ => 1.0,
            };
            return Some(Likeness { by: Measure::Shingles, score, view, core, ..Likeness::default() });
        }
        Some(self.terms.as_ref()?.likeness(other.terms.as_ref()?))
    }

    /// Slots of its content, whatever it is compared by.
    fn content(&self) -> Option<[u8; CONTENT_SLOTS]> {
        match &self.shingles {
            Some(slots) if !self.is_whole => Some(std::array::from_fn(|slot| slots[slot] as u8)),
            _ => self.content,
        }
    }

    /// Bytes that it takes, or a few more.
    pub(super) fn n_bytes(&self) -> usize {
        let terms = self.terms.as_ref().map_or(0, |terms| 32 + 4 * terms.kept.len());
        1 + self.shingles.as_ref().map_or(0, |slots| 2 * slots.len())
            + self.content.map_or(0, |slots| slots.len())
            + terms
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let form = if self.shingles.is_some() { SHINGLES } else { 0 }
            | if self.is_whole { WHOLE } else { 0 }
            | if self.content.is_some() { CONTENT } else { 0 }
            | if self.terms.is_some() { TERMS } else { 0 };
        out.push(form);
        if let Some(slots) = &self.shingles {
            out.extend(slots.iter().flat_map(|slot| slot.to_le_bytes()));
        }
        out.extend(self.content.iter().flatten());
        if let Some(terms) = &self.terms {
            terms.write(out);
        }
    }

    /// Reads what [`Proof::write`] has written.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let (form, mut bytes) = bytes.split_first()?;
        let mut proof = Self::default();
        if form & SHINGLES != 0 {
            let (slots, rest) = bytes.split_first_chunk::<{ 2 * SLOTS }>()?;
            let slots: &[[u8; 2]; SLOTS] = slots.as_chunks().0.first_chunk()?;
            proof.shingles = Some(Box::new(slots.map(u16::from_le_bytes)));
            bytes = rest;
        }
        proof.is_whole = form & WHOLE != 0;
        if form & CONTENT != 0 {
            let (slots, rest) = bytes.split_first_chunk()?;
            (proof.content, bytes) = (Some(*slots), rest);
        }
        if form & TERMS != 0 {
            proof.terms = Some(Terms::read(bytes)?);
        }
        (proof.shingles.is_some() || proof.terms.is_some()).then_some(proof)
    }
}

impl MirrorSettings {
    /// How alike two documents are. The same body is all that counts where the subjects are what no view makes copies with.
    pub(in crate::store) fn compared(&self, this: &Proof, that: &Proof, unspaced: bool) -> Option<Likeness> {
        let likeness = this.likeness(that)?;
        let is_by_body = likeness.same_body && !self.is_copy(likeness, unspaced);
        Some(if is_by_body { Likeness { score: 1.0, view: TextView::Body, core: 1.0, ..likeness } } else { likeness })
    }

    /// Whether the likeness is that of a copy.
    pub(in crate::store) fn is_copy(&self, likeness: Likeness, unspaced: bool) -> bool {
        let (score_min, core_min) = self.least(likeness, unspaced);
        likeness.score >= score_min && likeness.agrees_in_core(core_min)
    }

    /// Whether the likeness to its head is that of a member of its group, which it has joined by another: by the words of its own too.
    pub(in crate::store) fn is_of_group(&self, to_head: Likeness, unspaced: bool) -> bool {
        let (_, core_min) = self.least(to_head, unspaced);
        to_head.score >= self.head_min && to_head.agrees_in_core(core_min)
    }

    /// How alike copies are, and their cores.
    pub(in crate::store) fn least(&self, likeness: Likeness, unspaced: bool) -> (f64, f64) {
        match likeness.by {
            Measure::Terms if likeness.is_mostly_aside => (self.cosine_min, self.cosine_min.max(self.core_cosine_min)),
            Measure::Terms => (self.cosine_min, self.core_cosine_min),
            Measure::Shingles if unspaced => (self.resemblance_min_unspaced, self.resemblance_min_unspaced / 2.0),
            Measure::Shingles => (self.resemblance_min, self.resemblance_min / 2.0),
        }
    }
}

/// A minimum is only small in its upper bits: the lower ones are as good as any hash.
fn slots(shingles: &MinHash) -> [u16; SLOTS] {
    shingles.slots().map(|slot| slot as u16)
}

impl Terms {
    fn of(shown: &View, core: &View, full: Option<&View>, terms_max: usize) -> Self {
        let all = full.unwrap_or(shown);
        let mut kept: Vec<u32> = Vec::with_capacity(all.terms.len().min(terms_max));
        let (mut shown_at, mut core_at) = (0, 0);
        let mut is_sample = false;
        for &term in &all.terms {
            let views = FULL
                | if advance(&shown.terms, &mut shown_at, term) { SHOWN } else { 0 }
                | if advance(&core.terms, &mut core_at, term) { CORE } else { 0 };
            let entry = (term >> 40) as u32;
            let is_full = kept.len() == terms_max;
            match kept.last_mut() {
                Some(last) if *last >> 8 == entry => *last |= u32::from(views),
                _ if is_full => {
                    is_sample = true;
                    break;
                }
                _ => kept.push(entry << 8 | u32::from(views)),
            }
        }
        let n = [shown, core, all].map(|view| view.terms.len() as u32);
        Self { n, kept, is_sample, little: None, body: None }
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.push(
            if self.is_sample { SAMPLE } else { 0 }
                | if self.little.is_some() { LITTLE } else { 0 }
                | if self.body.is_some() { BODY } else { 0 },
        );
        out.extend(self.n.iter().flat_map(|n| n.to_le_bytes()));
        out.extend((self.kept.len() as u16).to_le_bytes());
        // Most mails are all core and hide nothing: one byte says so for all their terms.
        let first = self.kept.first().map_or(0, |term| *term as u8);
        let is_uniform = self.kept.iter().all(|term| *term as u8 == first);
        out.push(if is_uniform { first } else { 0 });
        for term in &self.kept {
            out.extend(&term.to_le_bytes()[usize::from(is_uniform)..]);
        }
        out.extend([self.little, self.body].into_iter().flatten().flat_map(u32::to_le_bytes));
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let (head, bytes) = bytes.split_first_chunk::<16>()?;
        let n = std::array::from_fn(|view| u32::from_le_bytes(std::array::from_fn(|byte| head[1 + 4 * view + byte])));
        let (len, uniform) = (usize::from(u16::from_le_bytes([head[13], head[14]])), head[15]);
        let (terms, mut rest) = bytes.split_at_checked(len * if uniform == 0 { 4 } else { 3 })?;
        let kept = match uniform {
            0 => terms.as_chunks().0.iter().map(|term| u32::from_le_bytes(*term)).collect(),
            views => terms.as_chunks().0.iter().map(|&[a, b, c]| u32::from_le_bytes([views, a, b, c])).collect(),
        };
        let mut noted = [None; 2];
        for (noted, _) in noted.iter_mut().zip([LITTLE, BODY]).filter(|(_, flag)| head[0] & flag != 0) {
            let (digest, behind) = rest.split_first_chunk()?;
            (*noted, rest) = (Some(u32::from_le_bytes(*digest)), behind);
        }
        let [little, body] = noted;
        Some(Self { n, kept, is_sample: head[0] & SAMPLE != 0, little, body })
    }

    /// The kept values, without the views that hold them.
    pub(super) fn values(&self) -> impl Iterator<Item = u32> {
        self.kept.iter().map(|term| term >> 8)
    }

    /// Whether both have a body, and the same.
    pub(super) fn has_body_of(&self, other: &Self) -> bool {
        self.body.is_some() && self.body == other.body
    }

    /// How many of them each view holds.
    pub(super) fn n_values(&self) -> [u32; 3] {
        [SHOWN, CORE, FULL].map(|view| self.kept.iter().filter(|term| **term as u8 & view != 0).count() as u32)
    }

    fn likeness(&self, other: &Self) -> Likeness {
        // Beyond the last term of a sample nothing is known.
        let end = |terms: &Self| if terms.is_sample { terms.kept.last().map_or(0, |last| last >> 8) } else { u32::MAX };
        let limit = end(self).min(end(other));
        let (mut common, mut mine, mut theirs) = ([0_u32; 3], [0_u32; 3], [0_u32; 3]);
        let count = |counts: &mut [u32; 3], views: u8| {
            for (view, count) in counts.iter_mut().enumerate() {
                *count += u32::from(views >> view & 1);
            }
        };
        let (a, b) = (&self.kept, &other.kept);
        let (mut i, mut j) = (0, 0);
        while let (Some(&x), Some(&y)) = (a.get(i), b.get(j)) {
            let value = (x >> 8).min(y >> 8);
            if value > limit {
                break;
            }
            let (in_mine, in_theirs) = (x >> 8 == value, y >> 8 == value);
            let (x_views, y_views) = (if in_mine { x as u8 } else { 0 }, if in_theirs { y as u8 } else { 0 });
            count(&mut mine, x_views);
            count(&mut theirs, y_views);
            count(&mut common, x_views & y_views);
            i += usize::from(in_mine);
            j += usize::from(in_theirs);
        }
        a[i..].iter().take_while(|&&x| x >> 8 <= limit).for_each(|&x| count(&mut mine, x as u8));
        b[j..].iter().take_while(|&&y| y >> 8 <= limit).for_each(|&y| count(&mut theirs, y as u8));
        let is_sample = self.is_sample || other.is_sample;
        let cosine = |view: usize| {
            let totals = if is_sample { [self.n[view], other.n[view]] } else { [mine[view], theirs[view]] };
            cosine(common[view], [mine[view], theirs[view]], totals)
        };
        if self.little.is_some() || other.little.is_some() {
            // The few words of such a core are many mails'; with all else shown they are this one's.
            let core = if self.little == other.little { 1.0 } else { 0.0 };
            return Likeness { score: cosine(0), view: TextView::Shown, core, ..Likeness::default() };
        }
        let views = [(0, TextView::Shown), (1, TextView::Core), (2, TextView::Full)];
        let mut best = Likeness {
            core: cosine(1),
            same_body: self.has_body_of(other),
            is_mostly_aside: [self, other].iter().any(|terms| 2 * terms.n[1] < terms.n[0]),
            ..Likeness::default()
        };
        for (view, name) in views {
            if cosine(view) > best.score {
                best = Likeness { score: cosine(view), view: name, ..best };
            }
        }
        best
    }
}

/// Whether `terms` has `term`, which is at or after those asked for before.
fn advance(terms: &[u64], at: &mut usize, term: u64) -> bool {
    while terms.get(*at).is_some_and(|&other| other < term) {
        *at += 1;
    }
    terms.get(*at) == Some(&term)
}

/// The cosine of two bags of `totals` terms, of which a fair sample has `counts` terms, `common` of them common.
fn cosine(common: u32, counts: [u32; 2], totals: [u32; 2]) -> f64 {
    if common == 0 {
        return 0.0;
    }
    let [a, b] = totals.map(f64::from);
    let union = f64::from(counts[0] + counts[1] - common);
    // |A ∩ B| = J / (1 + J) · (|A| + |B|); for whole bags this is `common` again.
    let jaccard = f64::from(common) / union;
    (jaccard / (1.0 + jaccard) * (a + b) / (a * b).sqrt()).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signature::cosine as exact;
    use crate::signature::keyed::mix;
    use proptest::prelude::*;

    fn view(terms: impl Iterator<Item = u64>) -> View {
        let mut terms: Vec<u64> = terms.map(|term| mix(mix(term, 5), 7)).collect();
        terms.sort_unstable();
        View { terms, ..View::default() }
    }

    fn of(terms: std::ops::Range<u64>) -> Terms {
        let shown = view(terms);
        Terms::of(&shown, &shown, None, TERMS_MAX)
    }

    proptest! {
        #[test]
        fn the_cosine_is_exact_for_ordinary_mails(start in 0..300_u64, n in 1..500_u64, m in 1..500_u64) {
            let (a, b) = (view(0..n), view(start..start + m));
            let expected = exact(&a.terms, &b.terms);
            let likeness = Terms::of(&a, &a, None, TERMS_MAX).likeness(&Terms::of(&b, &b, None, TERMS_MAX));
            prop_assert!((likeness.score - expected).abs() < 0.005, "{} {}", likeness.score, expected);
        }

        #[test]
        fn a_sample_is_fair(start in 0..1500_u64, n in 2000..4000_u64) {
            let expected = exact(&view(0..n).terms, &view(start..start + n).terms);
            let likeness = of(0..n).likeness(&of(start..start + n));
            prop_assert!((likeness.score - expected).abs() < 0.09, "{} {}", likeness.score, expected);
        }

        #[test]
        fn what_is_written_is_read(n in 0..700_u64, n_core in 0..700_u64, n_hidden in 0..50_u64) {
            let (shown, core, full) = (view(0..n), view(0..n.min(n_core)), view(0..n + n_hidden));
            let terms = Some(Terms::of(&shown, &core, (n_hidden > 0).then_some(&full), TERMS_MAX));
            let shingles = Some(Box::new(std::array::from_fn(|slot| mix(slot as u64, n) as u16)));
            let content = Some(std::array::from_fn(|slot| mix(slot as u64, n_core) as u8));
            let little = terms.clone().map(|terms| Terms { little: Some(n as u32), ..terms });
            let body = terms.clone().map(|terms| Terms { body: Some(n as u32), ..terms });
            let proofs = [
                (None, None, terms.clone()),
                (None, None, little),
                (None, None, body),
                (shingles.clone(), None, None),
                (shingles.clone(), content, None),
                (shingles, content, terms),
            ];
            for proof in proofs.map(|(shingles, content, terms)| Proof { is_whole: n % 2 == 0, shingles, content, terms }) {
                let mut bytes = Vec::new();
                proof.write(&mut bytes);
                prop_assert!(bytes.len() <= 32 + CONTENT_SLOTS + 2 * SLOTS + 4 * TERMS_MAX);
                for end in 0..bytes.len() {
                    prop_assert_eq!(Proof::read(&bytes[..end]), None);
                }
                prop_assert_eq!(Proof::read(&bytes), Some(proof));
            }
        }
    }

    #[test]
    fn views_are_compared_apart() {
        let mail = |own: u64, hidden: u64| {
            let core = view(own..own + 20);
            let shown = view((own..own + 20).chain(9000..9100));
            let full = view((own..own + 20).chain(9000..9100).chain(hidden..hidden + 300));
            Terms::of(&shown, &core, Some(&full), TERMS_MAX)
        };
        let same_footer = mail(0, 20_000).likeness(&mail(100, 30_000));
        assert_eq!((same_footer.view, same_footer.core), (TextView::Shown, 0.0));
        assert!((same_footer.score - 100.0 / 120.0).abs() < 1e-9);
        let same_hidden = mail(0, 20_000).likeness(&mail(100, 20_000));
        assert_eq!(same_hidden.view, TextView::Full);
    }

    #[test]
    fn a_little_core_has_to_be_the_same() {
        let settings = crate::config::Settings::default().mirror;
        // All with the same footer, which is all but the core.
        let mail = |core: std::ops::Range<u64>, words: Option<u64>, own: u64| {
            let mut signatures = crate::store::tests::signatures(Kind::Email, 0..60);
            signatures.shown = view((0..60).chain(core.clone()).chain(own..own + 5));
            (signatures.core, signatures.little_core) = (Some(view(core)), words);
            Proof::of(&signatures, false, TERMS_MAX)
        };
        let is_copy = |one: &Option<Proof>, other: &Option<Proof>| {
            let likeness = one.as_ref().unwrap().likeness(other.as_ref().unwrap()).unwrap();
            assert!(likeness.score > 0.8, "{likeness:?}");
            settings.is_copy(likeness, false)
        };
        let (hi, ok, text) = (mail(500..502, Some(7), 90), mail(500..502, Some(8), 90), mail(500..540, None, 90));
        assert!(
            is_copy(&hi, &hi) && is_copy(&hi, &mail(500..502, Some(7), 200)),
            "also where some of the rest differs"
        );
        assert!(!is_copy(&hi, &ok) && !is_copy(&hi, &mail(500..520, None, 90)) && is_copy(&text, &text));
        // The core alone says nothing.
        let elsewhere = {
            let mut signatures = crate::store::tests::signatures(Kind::Email, 3000..3060);
            (signatures.core, signatures.little_core) = (Some(view(500..502)), Some(7));
            Proof::of(&signatures, false, TERMS_MAX).unwrap()
        };
        let likeness = hi.unwrap().likeness(&elsewhere).unwrap();
        assert!(likeness.score < 0.1 && likeness.view == TextView::Shown, "{likeness:?}");
    }

    #[test]
    fn the_same_body_is_the_same_mail() {
        let settings = crate::config::Settings::default().mirror;
        let mail = |subject: u64, body: Option<u64>| {
            let mut signatures = crate::store::tests::signatures(Kind::Email, 0..20);
            signatures.shown = view((0..20).chain(subject..subject + 30));
            signatures.body = body;
            Proof::of(&signatures, false, TERMS_MAX).unwrap()
        };
        let compared = |one: Proof, other: Proof| {
            let likeness = settings.compared(&one, &other, false).unwrap();
            (settings.is_copy(likeness, false), likeness.view)
        };
        assert_eq!(compared(mail(100, Some(7)), mail(200, Some(7))), (true, TextView::Body));
        assert_eq!(
            compared(mail(100, Some(7)), mail(102, Some(7))),
            (true, TextView::Shown),
            "these are copies anyhow"
        );
        for (one, other) in [(Some(7), Some(8)), (Some(7), None), (None, None)] {
            assert!(!compared(mail(100, one), mail(200, other)).0);
        }
    }

    #[test]
    fn a_menu_makes_no_copy() {
        let settings = crate::config::Settings::default().mirror;
        let shown_as = |shown: std::ops::Range<u64>, content: std::ops::Range<u64>, is_whole: bool| {
            let mut signatures = crate::store::tests::signatures(Kind::Page, shown);
            signatures.shown_shingles = signatures.shown.minhash.clone().filter(|_| is_whole);
            signatures.shingles = MinHash::of(content.map(|shingle| mix(shingle, 3)), 1);
            Proof::of(&signatures, false, TERMS_MAX).unwrap()
        };
        let page = |content, is_whole| shown_as(0..400, content, is_whole);
        let compared = |one: &Proof, other: &Proof| {
            let likeness = one.likeness(other).unwrap();
            assert_eq!(one.likeness(other), other.likeness(one));
            (settings.is_copy(likeness, false), likeness.view)
        };
        // Where all the rest is the same a few words make no other page.
        let almost = shown_as(0..402, 1030..1070, true);
        assert_eq!(compared(&almost, &shown_as(1..403, 1000..1040, true)), (true, TextView::Shown));
        let goods = shown_as(30..430, 1000..1040, true);
        assert_eq!(compared(&goods, &page(1000..1040, true)), (true, TextView::Shown));
        assert_eq!(compared(&goods, &page(1010..1050, true)), (true, TextView::Shown), "most of it is the same");
        assert_eq!(compared(&goods, &page(1030..1070, true)), (false, TextView::Shown));
        assert_eq!(compared(&goods, &page(0..0, true)), (false, TextView::Shown), "one of them has none");
        assert_eq!(compared(&page(0..0, true), &page(0..0, true)), (true, TextView::Shown));
        // What has no content but its menu is not compared by all that it shows: it is all content.
        let menu = Proof { is_whole: false, ..page(1000..1040, true) };
        assert_eq!(compared(&goods, &menu), (false, TextView::Shown));
        assert_eq!(compared(&page(0..0, true), &menu), (true, TextView::Shown));
        assert_eq!(compared(&menu, &menu), (true, TextView::Core));
    }

    #[test]
    fn kinds_have_a_measure_in_common() {
        let [mut page, mail] = [Kind::Page, Kind::Email].map(|kind| crate::store::tests::signatures(kind, 0..40));
        page.shingles = page.shown.minhash.clone();
        let measure = |one: &Signatures, other: &Signatures, cross_kinds: bool| {
            let [one, other] = [one, other].map(|signatures| Proof::of(signatures, cross_kinds, TERMS_MAX).unwrap());
            assert_eq!(one.measure(&other), one.likeness(&other).map(|likeness| likeness.by));
            one.measure(&other)
        };
        for (cross_kinds, across) in [(false, None), (true, Some(Measure::Terms))] {
            assert_eq!(measure(&page, &page, cross_kinds), Some(Measure::Shingles));
            assert_eq!(measure(&mail, &mail, cross_kinds), Some(Measure::Terms));
            assert_eq!((measure(&page, &mail, cross_kinds), measure(&mail, &page, cross_kinds)), (across, across));
        }
    }
}
