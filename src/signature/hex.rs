//! Hashes as JSON strings of fixed width, for a JSON number of 64 bits does not survive JavaScript.
//!
//! The digits are lower case and big-endian, so that strings sort as the numbers do.
//!
//! # Invariants
//! - Leading zeros are kept. (`widths_are_fixed`)

use crate::text::grams::Gram;
use serde::ser::{SerializeSeq, Serializer};

/// Digits by value.
const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// One `u64` as 16 digits.
pub(super) fn word<S: Serializer>(word: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{word:016x}"))
}

/// Many `u64` as strings of 16 digits.
pub(super) fn words<S: Serializer>(words: &[u64], serializer: S) -> Result<S::Ok, S::Error> {
    let mut list = serializer.serialize_seq(Some(words.len()))?;
    for word in words {
        list.serialize_element(&format_args!("{word:016x}"))?;
    }
    list.end()
}

/// One `u128` as 32 digits.
pub(super) fn digest<S: Serializer>(digest: &u128, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{digest:032x}"))
}

/// A `u128` as 32 digits, if it is there.
pub(super) fn digest_if_any<S: Serializer>(digest: &Option<u128>, serializer: S) -> Result<S::Ok, S::Error> {
    match digest {
        Some(digest) => serializer.collect_str(&format_args!("{digest:032x}")),
        None => serializer.serialize_none(),
    }
}

/// Grams as pairs of hash and position.
pub(super) fn grams<S: Serializer>(grams: &[Gram], serializer: S) -> Result<S::Ok, S::Error> {
    let mut list = serializer.serialize_seq(Some(grams.len()))?;
    for Gram { hash, position } in grams {
        list.serialize_element(&(format_args!("{hash:016x}"), position))?;
    }
    list.end()
}

/// The slots of a sketch, end to end in one string.
pub(super) fn slots<const N: usize, S: Serializer>(
    slots: impl Iterator<Item = [u8; N]>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut digits = String::new();
    for byte in slots.flatten() {
        digits.push(char::from(DIGITS[usize::from(byte >> 4)]));
        digits.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    serializer.serialize_str(&digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_fixed() {
        let mut json = Vec::new();
        word(&0xAB, &mut serde_json::Serializer::new(&mut json)).unwrap();
        words(&[1, u64::MAX], &mut serde_json::Serializer::new(&mut json)).unwrap();
        digest(&0xC0, &mut serde_json::Serializer::new(&mut json)).unwrap();
        digest_if_any(&None, &mut serde_json::Serializer::new(&mut json)).unwrap();
        grams(&[Gram { hash: 7, position: 9 }], &mut serde_json::Serializer::new(&mut json)).unwrap();
        slots([[0x0F, 0xA0]].into_iter(), &mut serde_json::Serializer::new(&mut json)).unwrap();
        assert_eq!(
            String::from_utf8(json).unwrap(),
            concat!(
                r#""00000000000000ab""#,
                r#"["0000000000000001","ffffffffffffffff"]"#,
                r#""000000000000000000000000000000c0""#,
                "null",
                r#"[["0000000000000007",9]]"#,
                r#""0fa0""#
            )
        );
    }
}
