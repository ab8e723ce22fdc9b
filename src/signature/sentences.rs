//! Long sentences, and which of them are distinct.
//!
//! A menu, a refrain or a footer stands in a document more than once, and the same words may be punctuated in two ways. Such a sentence counts once, as
//! it first stands in the content; one that never does, as it first stands outside. The first, since that is the one with a number:
//! what is shared with others is measured by numbers, and the whole by the same ones.
//!
//! # Invariants
//! - Each hash is there once: inside the content if it ever is, and then the first. (`the_first_in_the_content_stands_for_all`)

use super::hex;
use serde::Serialize;

/// A sentence of `text.sentence_chars_min` characters and more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LongSentence {
    /// The keyed hash of its units in order.
    #[serde(serialize_with = "hex::word")]
    pub hash: u64,
    /// Its length in characters.
    pub n_chars: u32,
    /// Whether it lies in a content block (page) or outside all asides (mail).
    pub core: bool,
    /// The position of its first unit.
    pub position: u32,
}

/// The distinct ones of `sentences`, with their numbers there, ascending by hash.
pub fn distinct(sentences: &[LongSentence]) -> impl Iterator<Item = (u32, &LongSentence)> {
    let mut sorted: Vec<(u64, bool, u32)> =
        sentences.iter().zip(0..).map(|(sentence, number)| (sentence.hash, !sentence.core, number)).collect();
    sorted.sort_unstable();
    sorted.dedup_by_key(|(hash, ..)| *hash);
    sorted.into_iter().map(|(.., number)| (number, &sentences[number as usize]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        /// Against a map, sentence by sentence.
        #[test]
        fn the_first_in_the_content_stands_for_all(all in prop::collection::vec((0_u64..40, 20_u32..25, any::<bool>()), 0..80)) {
            let sentence = |&(hash, n_chars, core): &(u64, u32, bool)| LongSentence { hash, n_chars, core, position: 0 };
            let sentences: Vec<LongSentence> = all.iter().map(sentence).collect();
            let mut first = BTreeMap::<u64, (u32, &LongSentence)>::new();
            for (number, sentence) in (0..).zip(&sentences) {
                let known = first.entry(sentence.hash).or_insert((number, sentence));
                if sentence.core && !known.1.core {
                    *known = (number, sentence);
                }
            }
            prop_assert_eq!(distinct(&sentences).collect::<Vec<_>>(), first.into_values().collect::<Vec<_>>());
        }
    }
}
