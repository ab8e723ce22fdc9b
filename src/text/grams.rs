//! Word 5-grams with their positions, all or winnowed, the patches of quilts; and shingles for minhash.
//!
//! Both are *runs*: as many units as weigh enough. A gram weighs 10, where a word weighs 2 and a character of a script
//! without spaces 1: five words, ten characters, or a mixture. A run starts at every unit and is the shortest one
//! from there that weighs enough; the last few units, which cannot reach the weight, start none, and no run crosses
//! a unit that is not wanted.
//!
//! The hash of a run is a polynomial of its units' hashes in a keyed base, rolled along, and mixed at the end: it
//! tells the order, and the text is never joined (2 ns a gram instead of 30).
//!
//! # Invariants
//! - Grams and shingles are those of the definition. (`runs_are_those_of_the_definition`)
//! - Two texts that share `window` consecutive grams share a winnowed one. (`shared_runs_share_a_winnowed_gram`)
//! - An echo leads to the first of its kind. (`echoes_lead_to_the_first`)
//! - Of what stands several times one is taken, by its neighbours. (`a_gram_is_taken_where_the_others_stand`)

use super::sentences::Sentence;
use super::words::{Traits, Words};
use crate::document::Span;
use crate::signature::keyed::mix;
use serde::Serialize;

/// Words in a gram.
const GRAM_WORDS: usize = 5;
/// Characters in a gram.
const GRAM_CHARACTERS: usize = 10;

/// A gram and where it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Gram {
    /// Its keyed hash.
    pub hash: u64,
    /// The position of its first unit.
    pub position: u32,
}

/// Where a gram stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Its first unit, counted in the core: passages on both sides of a menu are neighbours.
    pub first: u32,
    /// One past its last unit.
    pub end: u32,
    /// Its bytes in the visible text.
    pub span: Span,
    /// Units and bytes before it that belong to a passage which begins with it.
    pub lead: (u16, u16),
    /// Units and bytes after it that belong to a passage which ends with it.
    pub trail: (u16, u16),
    /// How many grams before it the same one stood first; 0 for most, which had not stood before. Who says a thing twice has said
    /// it once: it counts once for a source, and where it is one's, the other times are too.
    pub echo: u32,
}

impl Place {
    /// Whether the gram had stood before.
    pub fn is_echo(&self) -> bool {
        self.echo > 0
    }
}

/// Adds the grams of the units of `words` that have all flags of `wanted` to `grams`: all of them for a `window` of 1, else
/// the winnowed ones. `scratch` is reused.
///
/// Of every `window` neighbours the smallest is kept; of equals the one that an earlier window has kept already,
/// or else the rightmost (*robust winnowing*, Schleimer 2003), so that a text which repeats one phrase keeps one
/// gram per window and not all. Fewer than `window` grams are one window.
pub fn cut(words: &Words, wanted: Traits, key: u64, window: usize, scratch: &mut Vec<Gram>, grams: &mut Vec<Gram>) {
    if window <= 1 {
        return all(words, wanted, key, grams);
    }
    scratch.clear();
    all(words, wanted, key, scratch);
    winnow(scratch, window, |gram| grams.push(gram));
}

/// Where each of `grams`, in order of position, stands; units are counted in the core.
pub fn places(words: &Words, sentences: &[Sentence], grams: &[Gram]) -> Vec<Place> {
    let mut places = Vec::with_capacity(grams.len());
    // Units of the core before `at`, and the sentence that holds it.
    let (mut at, mut n_core, mut sentence) = (0, 0, 0);
    for gram in grams {
        let first = gram.position as usize;
        n_core += words.traits[at..first].iter().filter(|traits| traits.has(Traits::CORE)).count() as u32;
        at = first;
        let (mut end, mut weight) = (first, 0);
        while weight < GRAM_WORDS * GRAM_CHARACTERS {
            weight += if words.traits[end].has(Traits::CHARACTER) { GRAM_WORDS } else { GRAM_CHARACTERS };
            end += 1;
        }
        while sentences.get(sentence).is_some_and(|sentence| sentence.end_word as usize <= first) {
            sentence += 1;
        }
        let start_of_sentence = sentences.get(sentence).map_or(first, |sentence| sentence.first_word as usize);
        let last = sentences[sentence.min(sentences.len())..].iter().find(|sentence| sentence.end_word as usize >= end);
        let end_of_sentence = last.map_or(end, |sentence| sentence.end_word as usize);
        let lead = reach(first - start_of_sentence.min(first), |n| words.traits[first - n].has(Traits::CORE));
        let trail = reach(end_of_sentence.max(end) - end, |n| words.traits[end + n - 1].has(Traits::CORE));
        let span = Span { start: words.spans[first].start, end: words.spans[end - 1].end };
        places.push(Place {
            first: n_core,
            end: n_core + (end - first) as u32,
            span,
            lead: stretch(lead, span.start - words.spans[first - lead].start),
            trail: stretch(trail, words.spans[end + trail - 1].end - span.end),
            echo: 0,
        });
    }
    mark_echoes(grams, &mut places);
    places
}

/// Words beside a gram, and their bytes; none where one of them is so long that these cannot be said.
fn stretch(n_words: usize, n_bytes: u32) -> (u16, u16) {
    u16::try_from(n_bytes).map_or((0, 0), |n_bytes| (n_words as u16, n_bytes))
}

/// Of `numbers`, ascending, of grams that a document has from another, each gram once: of one that stands at several of the `places` that
/// which is nearest to what stands at one alone. A turn of phrase stands in many passages, and belongs to each of them where that is.
pub fn once_each(mut numbers: Vec<usize>, places: &[Place]) -> Vec<usize> {
    let first = |number: usize| number - places.get(number).map_or(0, |place| (place.echo as usize).min(number));
    if numbers.iter().all(|&number| first(number) == number) {
        return numbers;
    }
    numbers.sort_by_key(|&number| (first(number), number));
    let (mut singles, mut repeated) = (Vec::new(), Vec::new());
    for same in numbers.chunk_by(|&a, &b| first(a) == first(b)) {
        if same.len() == 1 { singles.push(same[0]) } else { repeated.push(same) }
    }
    singles.sort_unstable();
    let distance = |number: usize| {
        let (before, after) = singles.split_at(singles.partition_point(|&single| single < number));
        let before = before.last().map_or(usize::MAX, |single| number - single);
        before.min(after.first().map_or(usize::MAX, |single| single - number))
    };
    let nearest = |same: &&[usize]| same.iter().copied().min_by_key(|&number| distance(number));
    let mut once: Vec<usize> = repeated.iter().filter_map(nearest).chain(singles.iter().copied()).collect();
    once.sort_unstable();
    once
}

/// Notes in the `places` of `grams` which of them have stood before.
pub fn mark_echoes(grams: &[Gram], places: &mut [Place]) {
    // Hashes are as good as random: their lower bits find the first of each, or a free slot, within a few steps.
    let mut firsts: Vec<u32> = vec![u32::MAX; (2 * grams.len()).next_power_of_two()];
    let mask = firsts.len() - 1;
    for (number, (gram, place)) in grams.iter().zip(places).enumerate() {
        let mut slot = gram.hash as usize & mask;
        while firsts[slot] != u32::MAX && grams[firsts[slot] as usize].hash != gram.hash {
            slot = (slot + 1) & mask;
        }
        if firsts[slot] == u32::MAX {
            firsts[slot] = number as u32;
        }
        place.echo = number as u32 - firsts[slot];
    }
}

/// A passage begins and ends with a sentence more often than not: how far to go for that, `n_units` away, if it is not
/// too far and all of it is core.
fn reach(n_units: usize, is_core: impl Fn(usize) -> bool) -> usize {
    let n_units = if n_units <= REACH_MAX { n_units } else { REACH_MIN };
    if (1..=n_units).all(is_core) { n_units } else { 0 }
}

/// Units that a passage is stretched by at most, to the border of a sentence; and without one in reach. Of a window of 11
/// grams the kept one is 5 from its end on average.
const REACH_MAX: usize = 12;
const REACH_MIN: usize = 4;

/// Calls `with` for the hash of every shingle of the units of `words` that have all flags of `wanted`, in order:
/// `n_words` words, `n_characters` characters of a script without spaces, or a mixture of the same weight.
pub fn shingles(
    words: &Words,
    wanted: Traits,
    n_words: usize,
    n_characters: usize,
    key: u64,
    mut with: impl FnMut(u64),
) {
    runs(words, wanted, n_words, n_characters, key, |gram| with(gram.hash));
}

fn all(words: &Words, wanted: Traits, key: u64, grams: &mut Vec<Gram>) {
    runs(words, wanted, GRAM_WORDS, GRAM_CHARACTERS, key, |gram| grams.push(gram));
}

/// Calls `with` for every run, by two ends that move along: a unit enters on the right, and one leaves on the
/// left as soon as the run weighs enough.
fn runs(words: &Words, wanted: Traits, n_words: usize, n_characters: usize, key: u64, mut with: impl FnMut(Gram)) {
    // `n_words` words weigh as much as `n_characters` characters.
    let (word_weight, character_weight) = (n_characters, n_words);
    let enough = n_words * n_characters;
    let base = mix(key, 1) | 1;
    let (hashes, traits) = (&words.hashes[..], &words.traits[..]);
    let weight_of = |index: usize| if traits[index].has(Traits::CHARACTER) { character_weight } else { word_weight };
    let unbase = inverse(base);
    let (mut start, mut weight) = (0, 0);
    // The polynomial of the units in `start..end`, and the power of the base that its first one has.
    let (mut sum, mut power) = (0u64, unbase);
    for end in 0..hashes.len() {
        if !traits[end].has(wanted) {
            (start, weight, sum, power) = (end + 1, 0, 0, unbase);
            continue;
        }
        sum = sum.wrapping_mul(base).wrapping_add(hashes[end]);
        power = power.wrapping_mul(base);
        weight += weight_of(end);
        while weight >= enough {
            with(Gram { hash: mix(sum, key), position: start as u32 });
            sum = sum.wrapping_sub(hashes[start].wrapping_mul(power));
            power = power.wrapping_mul(unbase);
            weight -= weight_of(start);
            start += 1;
        }
    }
}

/// What `odd` must be multiplied with to give 1. Newton's step doubles the bits that are right.
fn inverse(odd: u64) -> u64 {
    (0..5).fold(odd.wrapping_mul(3) ^ 2, |x, _| x.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(x))))
}

/// Calls `with` for the grams that every `window` neighbours keep.
fn winnow(grams: &[Gram], window: usize, mut with: impl FnMut(Gram)) {
    let mut kept: Option<usize> = None;
    for end in window.min(grams.len())..=grams.len() {
        let start = end.saturating_sub(window);
        let Some(last) = end.checked_sub(1) else { return };
        match kept {
            Some(index) if index >= start && grams[index].hash <= grams[last].hash => {}
            // The kept one has left the window, or there is none yet. That a hash is the smallest of its window is
            // as likely for each, so that this happens for about one window of `window`.
            Some(index) if index < start => kept = None,
            Some(_) => kept = Some(last),
            None => {}
        }
        if kept.is_none() {
            kept = (start..end).rev().reduce(
                |best, index| {
                    if grams[index].hash < grams[best].hash { index } else { best }
                },
            );
        } else if kept != Some(last) {
            continue;
        }
        if let Some(index) = kept {
            with(grams[index]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const KEY: u64 = 9;

    /// Units by their hashes and traits.
    fn words(units: &[(u64, u8)]) -> Words {
        Words {
            hashes: units.iter().map(|unit| unit.0).collect(),
            spans: vec![Span::default(); units.len()],
            traits: units.iter().map(|unit| Traits(unit.1)).collect(),
        }
    }

    /// Words, characters, core or not; few different ones, so that grams repeat.
    fn units() -> impl Strategy<Value = Vec<(u64, u8)>> {
        let traits = prop_oneof![6 => Just(8u8), 3 => Just(8 | 2), 1 => Just(0u8)];
        prop::collection::vec((0..6u64, traits), 0..80)
    }

    /// The definition: for every start the shortest run of wanted units that weighs enough, hashed from scratch.
    fn defined(words: &Words, wanted: Traits, n_words: usize, n_characters: usize) -> Vec<Gram> {
        let base = mix(KEY, 1) | 1;
        let mut found = Vec::new();
        for start in 0..words.len() {
            let (mut weight, mut sum) = (0, 0u64);
            for end in start..words.len() {
                if !words.traits[end].has(wanted) {
                    break;
                }
                weight += if words.traits[end].has(Traits::CHARACTER) { n_words } else { n_characters };
                sum = sum.wrapping_mul(base).wrapping_add(words.hashes[end]);
                if weight >= n_words * n_characters {
                    found.push(Gram { hash: mix(sum, KEY), position: start as u32 });
                    break;
                }
            }
        }
        found
    }

    fn winnowed(words: &Words, window: usize) -> Vec<Gram> {
        let (mut scratch, mut found) = (Vec::new(), Vec::new());
        cut(words, Traits::CORE, KEY, window, &mut scratch, &mut found);
        found
    }

    /// Robust winnowing by its definition, window by window.
    fn winnowed_slowly(grams: &[Gram], window: usize) -> Vec<Gram> {
        let mut found: Vec<Gram> = Vec::new();
        let windows: Vec<&[Gram]> = if grams.len() < window { vec![grams] } else { grams.windows(window).collect() };
        for window in windows {
            let Some(least) = window.iter().map(|gram| gram.hash).min() else { continue };
            let kept_before = found.last().is_some_and(|gram| gram.hash == least && window.contains(gram));
            if !kept_before {
                found.push(*window.iter().rev().find(|gram| gram.hash == least).unwrap());
            }
        }
        found
    }

    proptest! {
        #[test]
        fn runs_are_those_of_the_definition(units in units(), n_words in 1..6usize, n_characters in 1..11usize) {
            let words = words(&units);
            for wanted in [Traits::ANY, Traits::CORE] {
                let mut found = Vec::new();
                shingles(&words, wanted, n_words, n_characters, KEY, |hash| found.push(hash));
                let expected = defined(&words, wanted, n_words, n_characters);
                prop_assert_eq!(found, expected.iter().map(|gram| gram.hash).collect::<Vec<_>>());
            }
            prop_assert_eq!(winnowed(&words, 1), defined(&words, Traits::CORE, 5, 10));
        }

        #[test]
        fn winnowing_is_that_of_the_definition(units in units(), window in 2..15usize) {
            let words = words(&units);
            let all = defined(&words, Traits::CORE, 5, 10);
            prop_assert_eq!(winnowed(&words, window), winnowed_slowly(&all, window));
        }

        #[test]
        fn shared_runs_share_a_winnowed_gram(
            before in units(), shared in prop::collection::vec(0..6u64, 40), after in units(), window in 1..20usize,
        ) {
            let shared: Vec<(u64, u8)> = shared.into_iter().map(|hash| (hash, 8)).collect();
            let whole = words(&[&before[..], &shared, &after].concat());
            // `window` grams of five words reach over `window + 4` words.
            let passage = words(&shared[..window + 4]);
            let kept = winnowed(&whole, window);
            let common = winnowed(&passage, window).iter().any(|gram| kept.iter().any(|k| k.hash == gram.hash));
            prop_assert!(common);
        }
    }

    proptest! {
        #[test]
        fn echoes_lead_to_the_first(hashes in prop::collection::vec(0..40_u64, 0..90), spread: bool) {
            let spread = |hash: u64| if spread { hash << 50 } else { mix(hash, 3) };
            let grams: Vec<Gram> = hashes.iter().map(|hash| Gram { hash: spread(*hash), position: 0 }).collect();
            let mut places = vec![Place::default(); grams.len()];
            mark_echoes(&grams, &mut places);
            for (number, place) in places.iter().enumerate() {
                let first = hashes.iter().position(|hash| *hash == hashes[number]);
                prop_assert_eq!(Some(number - place.echo as usize), first);
            }
        }
    }

    #[test]
    fn a_gram_is_taken_where_the_others_stand() {
        // a b c d e b c x
        let grams: Vec<Gram> = [1, 2, 3, 4, 5, 2, 3, 9].map(|hash| Gram { hash, position: 0 }).into();
        let mut places = vec![Place::default(); grams.len()];
        mark_echoes(&grams, &mut places);
        for (numbers, once) in [
            (vec![0, 3, 4], vec![0, 3, 4]),
            (vec![0, 1, 2, 3, 5, 6], vec![0, 1, 2, 3]),
            (vec![1, 2, 5, 6, 7], vec![5, 6, 7]),
            (vec![1, 4, 5], vec![4, 5]),
            (vec![1, 5], vec![1]),
            (vec![], vec![]),
        ] {
            assert_eq!(once_each(numbers, &places), once);
        }
    }

    #[test]
    fn a_gram_is_five_words_or_ten_characters() {
        let words_of = |n: usize, traits: u8| words(&(0..n).map(|i| (i as u64, traits)).collect::<Vec<_>>());
        assert_eq!(winnowed(&words_of(4, 8), 1).len(), 0);
        assert_eq!(winnowed(&words_of(5, 8), 1).len(), 1);
        assert_eq!(winnowed(&words_of(9, 8 | 2), 1).len(), 0);
        assert_eq!(winnowed(&words_of(12, 8 | 2), 1).len(), 3);
        // Three words and four characters.
        assert_eq!(winnowed(&words(&[(1, 8), (2, 8), (3, 8), (4, 10), (5, 10), (6, 10), (7, 10)]), 1).len(), 1);
    }

    #[test]
    fn a_word_of_any_length_may_stand_beside_a_gram() {
        assert_eq!((stretch(3, 0xFFFF), stretch(3, 0x1_0000)), ((3, 0xFFFF), (0, 0)));
    }

    #[test]
    fn order_counts() {
        let forward = winnowed(&words(&[(1, 8), (2, 8), (3, 8), (4, 8), (5, 8)]), 1);
        let swapped = winnowed(&words(&[(2, 8), (1, 8), (3, 8), (4, 8), (5, 8)]), 1);
        assert_ne!(forward[0].hash, swapped[0].hash);
    }

    /// A page that says one thing ten thousand times must not fill a store.
    #[test]
    fn a_repeated_phrase_keeps_one_gram_per_window() {
        let phrase = words(&vec![(1, 8); 1_104]);
        assert_eq!(winnowed(&phrase, 11).len(), 100);
    }

    /// A different result is a different scheme.
    #[test]
    fn golden_grams() {
        let words = words(&[(1, 8), (2, 8), (3, 8), (4, 8), (5, 8), (6, 10)]);
        let hashes: Vec<u64> = winnowed(&words, 1).iter().map(|gram| gram.hash).collect();
        assert_eq!(hashes, [0x0BBD_331D_0FB5_44BE]);
    }
}
