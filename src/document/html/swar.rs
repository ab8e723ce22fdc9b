//! Names and white space, eight bytes at a time within one machine word.
//!
//! Tags and attributes have short names: a call of `memchr` costs more than the name has bytes. A word of eight bytes
//! finds the end of most names at once, and, in lower case, is the name's key.
//!
//! # Invariants
//! - The words find what a loop over bytes finds. (`names_end_where_the_loop_ends`)

use super::tag::folded;

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// A name that ends at white space, `/` or `>`, as that of a tag.
pub(super) const NAME: u8 = 0;
/// A name that also ends at `=`, unless it starts with it, as that of an attribute.
pub(super) const NAME_OR_EQUALS: u8 = 1;

/// Marks (in their high bits) the bytes of `word` that are zero. The lowest mark is exact.
#[inline]
pub(super) const fn zeros(word: u64) -> u64 {
    word.wrapping_sub(ONES) & !word & HIGHS
}

/// Marks the bytes below `bound`, which is at most 128. The lowest mark is exact.
#[inline]
pub(super) const fn below(word: u64, bound: u8) -> u64 {
    word.wrapping_sub(ONES * bound as u64) & !word & HIGHS
}

/// Marks the bytes that equal `byte`. The lowest mark is exact.
#[inline]
pub(super) const fn equal(word: u64, byte: u8) -> u64 {
    zeros(word ^ (ONES * byte as u64))
}

/// `word` with its ASCII letters in lower case.
#[inline]
const fn lower(word: u64) -> u64 {
    let seven = word & !HIGHS;
    let from_a = seven + ONES * (0x80 - b'A' as u64);
    let after_z = seven + ONES * (0x7F - b'Z' as u64);
    word | ((from_a & !after_z & !word & HIGHS) >> 2)
}

/// The eight bytes from `at` on; beyond the end they read `>`, which ends everything.
#[inline]
fn word(bytes: &[u8], at: usize) -> u64 {
    match bytes.get(at..).and_then(|rest| rest.first_chunk()) {
        Some(chunk) => u64::from_le_bytes(*chunk),
        None => {
            let mut chunk = [b'>'; 8];
            if let Some(rest) = bytes.get(at..) {
                chunk[..rest.len()].copy_from_slice(rest);
            }
            u64::from_le_bytes(chunk)
        }
    }
}

/// Where `byte` stands next, from `at` on. What is near is found without a call, what is far by `memchr`.
#[inline]
pub(super) fn find(byte: u8, bytes: &[u8], mut at: usize) -> Option<usize> {
    for _ in 0..NEAR_WORDS {
        let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk()) else { break };
        let marks = equal(u64::from_le_bytes(*chunk), byte);
        if marks != 0 {
            return Some(at + (marks.trailing_zeros() / 8) as usize);
        }
        at += 8;
    }
    memchr::memchr(byte, bytes.get(at..)?).map(|found| at + found)
}

const NEAR_WORDS: usize = 3;

#[inline]
pub(super) const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'\x0C')
}

/// Where the name that starts `at` ends, and its key.
#[inline]
pub(super) fn name<const ENDS: u8>(bytes: &[u8], at: usize) -> (usize, u64) {
    let (mut from, mut key) = (at, 0);
    loop {
        let word = word(bytes, from);
        let mut marks = below(word, b' ' + 1) | equal(word, b'/') | equal(word, b'>');
        if ENDS == NAME_OR_EQUALS {
            marks |= equal(word, b'=');
            if from == at && word as u8 == b'=' {
                // An attribute's name may start with `=`. Marks above a true one may be false: count the bytes.
                return slow_name::<ENDS>(bytes, at);
            }
        }
        if marks == 0 {
            key = folded(key, lower(word));
            from += 8;
            continue;
        }
        let n = marks.trailing_zeros() / 8;
        let end = from + n as usize;
        if bytes.get(end).is_some_and(|&byte| byte < b' ' && !is_space(byte)) {
            return slow_name::<ENDS>(bytes, at);
        }
        if n > 0 || from == at {
            key = folded(key, lower(word & !(u64::MAX << (8 * n))));
        }
        return (end, key);
    }
}

/// The same, byte by byte: for names with control characters.
#[cold]
fn slow_name<const ENDS: u8>(bytes: &[u8], at: usize) -> (usize, u64) {
    let ends = |i: usize, byte: u8| {
        is_space(byte) || matches!(byte, b'/' | b'>') || (ENDS == NAME_OR_EQUALS && byte == b'=' && i > 0)
    };
    let rest = &bytes[at..];
    let len = rest.iter().enumerate().position(|(i, &byte)| ends(i, byte)).unwrap_or(rest.len());
    let mut key = 0;
    for chunk in rest[..len].chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        key = folded(key, lower(u64::from_le_bytes(word)));
    }
    (at + len, key)
}

/// The first place from `at` on that is no white space.
#[inline]
pub(super) fn after_space(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(|&byte| is_space(byte)) {
        at += 1;
    }
    at
}

/// Where an attribute value without quotes ends: at white space, `>` or the end.
#[inline]
pub(super) fn unquoted_end(bytes: &[u8], at: usize) -> usize {
    let rest = &bytes[at.min(bytes.len())..];
    rest.iter().position(|&byte| is_space(byte) || byte == b'>').map_or(bytes.len(), |found| at + found)
}

/// Whether `name` (lower case) stands at `at` in any case, and ends there as the name of a tag does.
#[inline]
pub(super) fn is_named(bytes: &[u8], at: usize, name: &str) -> bool {
    let end = at + name.len();
    bytes.get(end).is_some_and(|&byte| is_space(byte) || matches!(byte, b'/' | b'>'))
        && bytes[at..end].eq_ignore_ascii_case(name.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::super::tag::key;
    use super::*;
    use proptest::prelude::*;

    /// The standard's words, byte by byte.
    fn oracle(bytes: &[u8], at: usize, equals: bool) -> (usize, Vec<u8>) {
        let mut end = at;
        while end < bytes.len()
            && !(is_space(bytes[end]) || b"/>".contains(&bytes[end]) || (equals && bytes[end] == b'=' && end > at))
        {
            end += 1;
        }
        (end, bytes[at..end].to_ascii_lowercase())
    }

    proptest! {
        #[test]
        fn names_end_where_the_loop_ends(
            bytes in prop::collection::vec(prop_oneof![
                8 => b'A'..=b'z', 1 => prop::sample::select(b" \t\n/>=\x01\x0B\xC3\x7F\0@[`{".to_vec())
            ], 0..40),
            at in 0usize..8,
        ) {
            let at = at.min(bytes.len());
            let (end, letters) = oracle(&bytes, at, false);
            prop_assert_eq!(name::<NAME>(&bytes, at), (end, key(&letters)));
            let (end, letters) = oracle(&bytes, at, true);
            prop_assert_eq!(name::<NAME_OR_EQUALS>(&bytes, at), (end, key(&letters)));
        }
    }

    #[test]
    fn a_name_may_be_cut_off_by_the_end() {
        assert_eq!(name::<NAME>(b"<DiV", 1), (4, key(b"div")));
        assert_eq!(name::<NAME>(b"<blockquote", 1), (11, key(b"blockquote")));
        assert!(is_named(b"</SCRIPT>", 2, "script"));
        assert!(!is_named(b"</SCRIPTS>", 2, "script"));
        assert!(!is_named(b"</script", 2, "script"));
    }
}
