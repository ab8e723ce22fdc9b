//! Header fields of ours that came with a mail: somebody else wrote them, and they go.
//!
//! # Invariants
//! - Every field that begins as ours do is found, in any case, and each is named once by its place among those of its name, the
//!   last ones first, so that no deletion moves another. (`all_are_named_from_the_last_on`)
//! - A mail with more of them than [`FIELDS_MAX`] is told apart, and takes no more memory. (`too_many_are_told_apart`)

use std::collections::BTreeMap;

/// How all our fields begin.
pub(super) const PREFIX: &str = "X-Seamripper-";
/// More of them in one mail are an attack: Postfix 3.7 looks through the whole mail for each one that is to be deleted, and took 1 s for
/// 3,000 and 9 s for 10,000 of one name.
pub(super) const FIELDS_MAX: usize = 1000;
/// Bytes of their names that are kept.
const NAMES_BYTES_MAX: usize = 64 << 10;

/// Fields that came under our names.
#[derive(Debug, Default)]
pub(super) struct Forged {
    /// How often each name came, in lower case.
    names: BTreeMap<Vec<u8>, u32>,
    n_fields: usize,
    n_name_bytes: usize,
}

impl Forged {
    /// Takes in the next header field of a mail. Returns whether it is one of those.
    pub(super) fn is(&mut self, name: &[u8]) -> bool {
        let name = name.trim_ascii();
        if !name.get(..PREFIX.len()).is_some_and(|start| start.eq_ignore_ascii_case(PREFIX.as_bytes())) {
            return false;
        }
        self.n_fields += 1;
        self.n_name_bytes += name.len();
        if !self.are_too_many() {
            *self.names.entry(name.to_ascii_lowercase()).or_default() += 1;
        }
        true
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.n_fields
    }

    /// Whether they cannot all be deleted.
    pub(super) fn are_too_many(&self) -> bool {
        self.n_fields > FIELDS_MAX || self.n_name_bytes > NAMES_BYTES_MAX
    }

    /// Name and number of each, in the order in which they are to be deleted.
    pub(super) fn fields(&self) -> impl Iterator<Item = (&[u8], u32)> {
        self.names.iter().flat_map(|(name, n)| (1..=*n).rev().map(|number| (name.as_slice(), number)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_named_from_the_last_on() {
        let mut forged = Forged::default();
        for (name, is) in [
            ("X-Seamripper-Class", true),
            ("Subject", false),
            ("x-SEAMRIPPER-class", true),
            ("X-Seamripper-Class\t", true),
            ("X-Seamripper-", true),
            ("X-Seamripper", false),
            ("X-Seamrippers-Class", false),
            ("X-Spam", false),
        ] {
            assert_eq!(forged.is(name.as_bytes()), is, "{name}");
        }
        let fields: Vec<_> = forged.fields().collect();
        let class = b"x-seamripper-class".as_slice();
        assert_eq!(fields, [(b"x-seamripper-".as_slice(), 1), (class, 3), (class, 2), (class, 1)]);
        assert_eq!(forged.count(), 4);
    }

    #[test]
    fn too_many_are_told_apart() {
        let mut forged = Forged::default();
        for number in 0..FIELDS_MAX {
            assert!(forged.is(format!("{PREFIX}{}", number % 7).as_bytes()) && !forged.are_too_many());
        }
        assert_eq!(forged.fields().count(), FIELDS_MAX);
        assert!(forged.is(b"x-seamripper-7") && forged.are_too_many());
        let mut forged = Forged::default();
        assert!(forged.is(&[PREFIX.as_bytes(), &[b'x'; NAMES_BYTES_MAX]].concat()) && forged.are_too_many());
        assert_eq!(forged.fields().count(), 0);
    }
}
