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

use super::words::{Traits, Words};
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
