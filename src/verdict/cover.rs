//! Whose words a document is made of: the smallest set of sources that covers its patches, and where they stand.
//!
//! The greedy cover of Najork 2012: again and again the source that covers most of what is not covered yet, as long as it
//! covers enough by itself and most of what it has is not covered yet. A gram is a bit, so that a document's sources can be remembered and asked again when the
//! state has changed. Words between two patches of one source count with them up to a gap: what was reworded is taken all the
//! same.
//!
//! # Invariants
//! - The cover is that of the definition, set by set. (`the_cover_is_that_of_the_definition`)
//! - Spans are in order, apart, and inside the text. (`spans_are_in_order_and_apart`)
//! - Each begins and ends with a word and holds a whole gram of its source. (`spans_hold_whole_grams`)
//! - What is said twice counts once, and is whoever's it was. (`echoes_count_once_and_are_covered_with_the_first`)

use crate::config::QuiltSettings;
use crate::document::Span;
use crate::text::grams::Place;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::num::NonZeroUsize;
use std::ops::Range;

/// Bits of a document's grams at most: of more grams, neighbours share a bit.
pub const BITS_MAX: usize = 512;

/// A set of a document's grams.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bits(Vec<u64>);

impl Bits {
    /// No gram.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a bit.
    pub fn set(&mut self, bit: usize) {
        if self.0.len() <= bit / 64 {
            self.0.resize(bit / 64 + 1, 0);
        }
        self.0[bit / 64] |= 1 << (bit % 64);
    }

    /// How many there are.
    pub fn count(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    fn has(&self, bit: usize) -> bool {
        self.0.get(bit / 64).is_some_and(|word| word >> (bit % 64) & 1 == 1)
    }

    /// How many are in `other` too.
    pub fn count_within(&self, other: &Self) -> u32 {
        self.count() - self.count_without(other)
    }

    /// How many are not in `other`.
    pub fn count_without(&self, other: &Self) -> u32 {
        let words = self.0.iter().zip(other.0.iter().chain(std::iter::repeat(&0)));
        words.map(|(mine, theirs)| (mine & !theirs).count_ones()).sum()
    }

    /// The words that hold some: whoever has none there has nothing in common with it.
    pub(super) fn reach(&self) -> Range<usize> {
        let holds = |word: &u64| *word != 0;
        self.0.iter().position(holds).unwrap_or(0)..self.0.iter().rposition(holds).map_or(0, |last| last + 1)
    }

    /// Adds all of `other`.
    pub fn add(&mut self, other: &Self) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        self.0.iter_mut().zip(&other.0).for_each(|(mine, theirs)| *mine |= theirs);
    }
}

/// A document as cloth: where each bit of it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Cloth<'a> {
    bits: Cow<'a, [Place]>,
    n_grams: usize,
    n_words: u32,
    bits_max: usize,
    bridge: u32,
    grams_min: u32,
    own_min: f64,
    window: u32,
}

impl<'a> Cloth<'a> {
    /// The cloth of a document with grams at `places`, one of every `window`, and `n_core_words` units in its core. `bits_max` is
    /// [`BITS_MAX`], or more where nothing has to be remembered.
    pub fn new(
        places: impl Into<Cow<'a, [Place]>>,
        n_core_words: u32,
        unspaced: bool,
        bits_max: usize,
        window: NonZeroUsize,
        settings: &QuiltSettings,
    ) -> Self {
        let places = places.into();
        let n_grams = places.len();
        // Beyond the grams that are kept nothing is known.
        let n_words = if n_grams < super::judge::GRAMS_MAX {
            n_core_words
        } else {
            places.last().map_or(n_core_words, |last| last.end)
        };
        let (bridge, grams_min) = match unspaced {
            true => (settings.bridge_characters, settings.source_grams_min_unspaced),
            false => (settings.bridge_words, settings.source_grams_min),
        };
        let bits = if n_grams <= bits_max { places } else { shared(&places, bits_max).into() };
        // As many words as no document has, and room to reckon with them.
        let window = u32::try_from(window.get()).unwrap_or(u32::MAX).min(u32::MAX / 4);
        Self {
            bits,
            n_grams,
            n_words: n_words.max(1),
            bits_max,
            bridge,
            grams_min,
            own_min: settings.source_own_min,
            window,
        }
    }

    /// The bit of the gram `number`.
    pub fn bit(&self, number: usize) -> usize {
        bit_of(number, self.n_grams, self.bits_max)
    }

    /// How many grams a source covers by itself at least.
    pub fn grams_min(&self) -> u32 {
        self.grams_min
    }

    /// The greedy cover by `sources`.
    pub fn cover<'b>(&self, sources: impl Iterator<Item = &'b Bits>) -> Cover {
        let sources: Vec<&Bits> = sources.collect();
        if sources.is_empty() {
            return Cover { n_words: f64::from(self.n_words), ..Cover::default() };
        }
        let mut owners: Vec<u16> = vec![u16::MAX; self.bits.len()];
        let (mut covered, mut named) = (Bits::new(), Vec::new());
        // Whoever has too little will not have more of what is left then.
        let mut is_out: Vec<bool> = sources.iter().map(|source| !self.is_enough(source, &covered)).collect();
        loop {
            let open = sources.iter().enumerate().filter(|(number, _)| !is_out[*number]);
            let gains = open.map(|(number, source)| (number, source.count_without(&covered)));
            // The first of equals.
            let best = gains.rev().max_by_key(|(_, gain)| *gain);
            let Some((best, _)) = best.filter(|(_, gain)| *gain >= self.grams_min.max(1)) else { break };
            if !self.is_enough(sources[best], &covered) {
                is_out[best] = true;
                continue;
            }
            for (bit, owner) in owners.iter_mut().enumerate() {
                if sources[best].has(bit) && !covered.has(bit) {
                    *owner = named.len() as u16;
                }
            }
            covered.add(sources[best]);
            named.push(best);
        }
        // What is said again is from where it is from the other time.
        for bit in 0..owners.len() {
            let first = bit - (self.bits[bit].echo as usize).min(bit);
            match (owners[first], owners[bit]) {
                (owner, u16::MAX) => owners[bit] = owner,
                (u16::MAX, owner) => owners[first] = owner,
                _ => {}
            }
        }
        self.spread(&owners, named)
    }

    /// Whether what `source` has beside what is `covered` is most of what it has: those who took from one text overlap. And whether
    /// it stands for as much text as its least number of grams does. Winnowing keeps two
    /// of every `window + 1` grams (Schleimer 2003), so that each stands for half as many, but no two for more than
    /// there are between them: those of one short phrase are not enough. Of kept grams that are neighbours all between them is held.
    fn is_enough(&self, source: &Bits, covered: &Bits) -> bool {
        if f64::from(source.count_without(covered)) < self.own_min * f64::from(source.count()) {
            return false;
        }
        let share = self.window + 1;
        let (mut twice, mut last): (u64, Option<usize>) = (0, None);
        for bit in (0..self.bits.len()).filter(|bit| source.has(*bit) && !covered.has(*bit)) {
            twice += u64::from(match last {
                Some(before) => {
                    let gap = self.bits[bit].first.saturating_sub(self.bits[before].first);
                    let gap_max = if before + 1 == bit { 2 * self.window } else { share };
                    gap.saturating_mul(2).min(gap_max)
                }
                None => share,
            });
            last = Some(bit);
        }
        twice >= u64::from(self.grams_min) * u64::from(share)
    }

    /// From bits to stretches of text.
    fn spread(&self, owners: &[u16], named: Vec<usize>) -> Cover {
        let mut patches: Vec<Stretch> = Vec::new();
        for (place, &owner) in self.bits.iter().zip(owners).filter(|(_, owner)| **owner != u16::MAX) {
            match patches.last_mut() {
                Some(patch) if patch.owner == owner && place.first.saturating_sub(patch.end) <= self.bridge => {
                    patch.end = patch.end.max(place.end);
                    patch.span.end = patch.span.end.max(place.span.end);
                    patch.trail = place.trail;
                }
                // What begins inside the passage of another is not told apart from it: where its words begin is not known.
                Some(patch) if patch.owner != owner && place.first < patch.end => {}
                _ => patches.push(Stretch {
                    owner,
                    first: place.first,
                    end: place.end,
                    span: place.span,
                    lead: place.lead,
                    trail: place.trail,
                }),
            }
        }
        if self.bridge > 0 {
            stretch(&mut patches);
        }
        let mut sources: Vec<Named> =
            named.iter().map(|&number| Named { number, n_words: 0, spans: Vec::new() }).collect();
        let (mut n_covered, mut at) = (0, 0);
        for patch in &patches {
            let n_words = patch.end.saturating_sub(patch.first.max(at));
            at = at.max(patch.end);
            n_covered += n_words;
            let source = &mut sources[usize::from(patch.owner)];
            source.n_words += n_words;
            if !patch.span.is_empty() {
                source.spans.push(patch.span);
            }
        }
        let firsts = || self.bits.iter().zip(owners).filter(|(place, _)| !place.is_echo());
        let n_bits = firsts().filter(|(_, owner)| **owner != u16::MAX).count();
        let fraction = match self.bridge {
            0 => n_bits as f64 / firsts().count().max(1) as f64,
            _ => f64::from(n_covered.min(self.n_words)) / f64::from(self.n_words),
        };
        let n_words = f64::from(self.n_words);
        // Where all that it has stands inside the passages of others, there is nothing to show.
        sources.retain(|source| self.bridge == 0 || source.n_words > 0);
        sources.sort_by_key(|source| std::cmp::Reverse(source.n_words));
        Cover { fraction, n_words, sources }
    }
}

fn bit_of(number: usize, n_grams: usize, bits_max: usize) -> usize {
    if n_grams <= bits_max { number } else { number * bits_max / n_grams }
}

/// The places of `bits_max` bits: neighbours among more grams than that share one.
fn shared(places: &[Place], bits_max: usize) -> Vec<Place> {
    let mut bits: Vec<Place> = Vec::with_capacity(bits_max);
    for (number, place) in places.iter().enumerate() {
        match bits.get_mut(bit_of(number, places.len(), bits_max)) {
            Some(bit) => {
                bit.end = place.end;
                bit.span.end = place.span.end;
                bit.trail = place.trail;
            }
            // Bits come in order, each with its first gram.
            None => {
                let first = bit_of(number - (place.echo as usize).min(number), places.len(), bits_max);
                bits.push(Place { echo: (bits.len() - first) as u32, ..*place });
            }
        }
    }
    bits
}

/// A patch on its way to a span.
struct Stretch {
    owner: u16,
    first: u32,
    end: u32,
    span: Span,
    lead: (u16, u16),
    trail: (u16, u16),
}

/// Patches reach to the borders of their sentences, but not into each other.
fn stretch(patches: &mut [Stretch]) {
    for number in 0..patches.len() {
        let before_end = number.checked_sub(1).map_or(0, |before| patches[before].end);
        let patch = &mut patches[number];
        let first = patch.first.saturating_sub(patch.lead.0.into());
        if first >= before_end {
            patch.first = first;
            patch.span.start = patch.span.start.saturating_sub(patch.lead.1.into());
        }
        let next = patches.get(number + 1).map_or(u32::MAX, |next| next.first);
        let patch = &mut patches[number];
        let end = patch.end + u32::from(patch.trail.0);
        if end <= next {
            patch.end = end;
            patch.span.end += u32::from(patch.trail.1);
        }
    }
}

/// A cover of a document.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cover {
    /// The share of its words that stand in the named sources.
    pub fraction: f64,
    /// Its words.
    pub n_words: f64,
    /// The named sources, the largest first.
    pub sources: Vec<Named>,
}

/// One named source.
#[derive(Clone, Debug, PartialEq)]
pub struct Named {
    /// Its number among those offered.
    pub number: usize,
    /// Words that stand in it and in no source named before.
    pub n_words: u32,
    /// Where.
    pub spans: Vec<Span>,
}

impl Cover {
    /// Whether so much stands in others as in a quilt, in however many.
    pub fn is_patchwork(&self, settings: &QuiltSettings) -> bool {
        self.fraction >= settings.fraction_min
    }

    /// Whether this makes a quilt.
    pub fn is_quilt(&self, settings: &QuiltSettings) -> bool {
        self.is_patchwork(settings) && self.sources.len() >= settings.sources_min
    }

    /// The share of the document's words that stand in a source.
    pub fn share(&self, source: &Named) -> f64 {
        (f64::from(source.n_words) / self.n_words.max(1.0)).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Settings;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Grams of five words every `step` words, words of six bytes.
    fn places(n: usize, step: u32) -> Vec<Place> {
        let place = |number: u32| Place {
            first: number * step,
            end: number * step + 5,
            span: Span { start: 6 * number * step, end: 6 * (number * step + 5) - 1 },
            lead: (number as u16 % 3, 6 * (number as u16 % 3)),
            trail: (number as u16 % 4, 6 * (number as u16 % 4)),
            echo: 0,
        };
        (0..n as u32).map(place).collect()
    }

    fn cloth(n: usize, step: u32, settings: &QuiltSettings) -> Cloth<'static> {
        Cloth::new(places(n, step), n as u32 * step + 5, false, BITS_MAX, NonZeroUsize::new(11).unwrap(), settings)
    }

    fn bits(set: &BTreeSet<usize>) -> Bits {
        let mut bits = Bits::new();
        set.iter().for_each(|&bit| bits.set(bit));
        bits
    }

    /// The cover by sets.
    fn defined(sources: &[BTreeSet<usize>], grams_min: usize, own_min: f64) -> Vec<usize> {
        let (mut covered, mut named) = (BTreeSet::new(), Vec::new());
        loop {
            let gain = |number: usize| {
                let n_own = sources[number].difference(&covered).count();
                if n_own as f64 >= own_min * sources[number].len() as f64 { n_own } else { 0 }
            };
            let Some(most) = (0..sources.len()).map(gain).max().filter(|most| *most >= grams_min) else { break };
            let best = (0..sources.len()).find(|&number| gain(number) == most).unwrap();
            covered.extend(sources[best].iter().copied());
            named.push(best);
        }
        named
    }

    proptest! {
        #[test]
        fn the_cover_is_that_of_the_definition(
            sources in prop::collection::vec(prop::collection::btree_set(0..200_usize, 0..60), 0..12),
            grams_min in 1..6_u32, own_min in 0.0..1.0_f64,
        ) {
            let quilt = Settings::default().quilt;
            let settings = QuiltSettings { source_grams_min: grams_min, source_own_min: own_min, ..quilt };
            let all: Vec<Bits> = sources.iter().map(bits).collect();
            let cover = cloth(200, 6, &settings).cover(all.iter());
            let mut named: Vec<usize> = cover.sources.iter().map(|source| source.number).collect();
            let mut expected = defined(&sources, grams_min as usize, own_min);
            named.sort_unstable();
            expected.sort_unstable();
            prop_assert_eq!(named, expected);
        }

        #[test]
        fn spans_are_in_order_and_apart(
            sources in prop::collection::vec(prop::collection::btree_set(0..700_usize, 0..60), 0..8),
            step in 1..9_u32, bridge in 0..40_u32,
        ) {
            let settings = QuiltSettings { source_grams_min: 1, bridge_words: bridge, ..Settings::default().quilt };
            let cloth = cloth(700, step, &settings);
            let all: Vec<Bits> =
                sources.iter().map(|set| bits(&set.iter().map(|&number| cloth.bit(number)).collect())).collect();
            let cover = cloth.cover(all.iter());
            let mut spans: Vec<Span> = cover.sources.iter().flat_map(|source| source.spans.clone()).collect();
            spans.sort_unstable();
            for pair in spans.windows(2) {
                prop_assert!(bridge == 0 || pair[0].end <= pair[1].start, "{:?}", pair);
            }
            prop_assert!(spans.iter().all(|span| span.start <= span.end));
            prop_assert!((0.0..=1.0).contains(&cover.fraction));
        }

        /// Words have five letters and a space after them.
        #[test]
        fn spans_hold_whole_grams(
            sources in prop::collection::vec(prop::collection::btree_set(0..90_usize, 0..60), 0..8),
            step in 1..9_u32, bridge in 0..40_u32,
        ) {
            let settings = QuiltSettings { source_grams_min: 1, bridge_words: bridge, ..Settings::default().quilt };
            let cloth = cloth(90, step, &settings);
            let all: Vec<Bits> = sources.iter().map(bits).collect();
            for source in &cloth.cover(all.iter()).sources {
                prop_assert!(bridge == 0 || !source.spans.is_empty(), "what is named can be looked at");
                for span in &source.spans {
                    prop_assert!(span.start % 6 == 0 && span.end % 6 == 5, "{:?} cuts a word", span);
                    let is_inside = |place: &Place| span.start <= place.span.start && place.span.end <= span.end;
                    let mut theirs = sources[source.number].iter().map(|&number| cloth.bits[number]);
                    prop_assert!(theirs.any(|place| is_inside(&place)), "{:?} has no gram", span);
                }
            }
        }
    }

    /// The second half says again what the first has said.
    #[test]
    fn echoes_count_once_and_are_covered_with_the_first() {
        let settings = QuiltSettings { bridge_words: 0, ..Settings::default().quilt };
        let mut places = places(40, 6);
        places[20..].iter_mut().for_each(|place| place.echo = 20);
        let window = NonZeroUsize::new(11).unwrap();
        let take = |bits_of: std::ops::Range<usize>| bits(&bits_of.collect());
        for (bits_max, bridge) in [(BITS_MAX, 0), (BITS_MAX, 30), (20, 0)] {
            let settings = QuiltSettings { bridge_words: bridge, ..settings.clone() };
            let cloth = Cloth::new(places.clone(), 245, false, bits_max, window, &settings);
            let all: Vec<Bits> = [0..10, 10..20]
                .map(|numbers| numbers.map(|number| cloth.bit(number)).collect())
                .iter()
                .map(bits)
                .collect();
            let cover = cloth.cover(all.iter());
            assert!(cover.fraction > 0.95, "{}: all of it is from the two, {bits_max} {bridge}", cover.fraction);
            assert_eq!(cover.sources.len(), 2);
        }
        let cloth = Cloth::new(places, 245, false, BITS_MAX, window, &settings);
        for numbers in [0..10, 20..30] {
            assert_eq!(
                cloth.cover([&take(numbers)].into_iter()).fraction,
                0.5,
                "of the distinct ones, at either place"
            );
        }
    }

    #[test]
    fn gaps_are_bridged_and_sources_need_enough() {
        let settings = Settings::default().quilt;
        let cloth = cloth(40, 6, &settings);
        let take = |bits_of: &[usize]| bits(&bits_of.iter().copied().collect());
        let (near, far, thin) = (take(&[0, 5]), take(&[20, 30]), take(&[35]));
        let cover = cloth.cover([&near, &far, &thin].into_iter());
        assert_eq!(cover.sources.iter().map(|source| source.spans.len()).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(cover.sources.len(), 2, "one gram is no source");
    }
}
