//! What the store keeps of a document, for those who ask.

use super::{Ref, Store};
use serde::Serialize;

/// What is kept of a stored document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Kept {
    /// Bytes of what others are compared with.
    pub proof_bytes: usize,
    /// Bytes of its names, and of where its grams stand.
    pub card_bytes: usize,
    /// Bytes of the beginning of its text.
    pub excerpt_bytes: usize,
    /// Winnowed grams that it has.
    pub n_grams: usize,
    /// Of these, how many it is kept of where they stand.
    pub n_places: usize,
    /// Characters of its long content sentences.
    pub sentence_chars: u32,
    /// How many documents ago it came.
    pub age: u64,
}

/// A group of copies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The first.
    pub head: Ref,
    /// Others that documents are compared with, the oldest first.
    pub further: Vec<Ref>,
    /// Documents so far.
    pub size: u32,
    /// Their registered domains: exact when few, else estimated.
    pub domains: u32,
}

impl Store {
    /// What is kept of the stored document `of`.
    pub fn kept(&self, of: Ref) -> Option<Kept> {
        let prototypes = self.settler.prototypes();
        let card = prototypes.card(of)?;
        let (proof_bytes, card_bytes) = prototypes.n_bytes(of)?;
        Some(Kept {
            proof_bytes,
            card_bytes,
            excerpt_bytes: prototypes.excerpt(of).map_or(0, |excerpt| excerpt.text.len()),
            n_grams: card.n_grams(),
            n_places: card.places().len(),
            sentence_chars: prototypes.sentence_chars(of)?,
            age: self.position().saturating_sub(prototypes.born(of)?),
        })
    }

    /// The group that the stored document `of` is in.
    pub fn group(&self, of: Ref) -> Option<Group> {
        let prototypes = self.settler.prototypes();
        let head = prototypes.head_of(of)?;
        let (size, domains) = prototypes.get(head)?.group();
        Some(Group { head, further: prototypes.further(head), size, domains })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{arrival, settings};
    use super::*;
    use crate::document::Kind;

    #[test]
    fn groups_and_what_is_kept_can_be_asked_for() {
        let mut store = Store::new(&settings(4 << 20));
        // The second is like the first, and not so much that it could not stand for others.
        let batch =
            [arrival("a", Kind::Email, 0..60), arrival("b", Kind::Email, 9..69), arrival("x", Kind::Email, 900..960)];
        store.hits(&batch, 1);
        let known = store.known("a").unwrap();
        let head = known.own.unwrap();
        let group = store.group(head).unwrap();
        assert_eq!((group.head, group.size, group.domains), (head, 2, 2));
        let ids: Vec<String> = group.further.iter().map(|of| store.card(*of).unwrap().id).collect();
        assert_eq!(ids, ["b"]);
        assert_eq!(store.group(group.further[0]).unwrap(), group, "whoever of them is asked for");
        let kept = store.kept(head).unwrap();
        assert!(kept.proof_bytes > 0 && kept.card_bytes > 0 && kept.age == 2, "{kept:?}");
        assert_eq!((kept.excerpt_bytes, store.excerpt(head).unwrap().text), (9, "text of a".to_owned()));
        assert_eq!(store.group(store.known("x").unwrap().own.unwrap()).unwrap().size, 1);
        store.forget("a");
        assert!(store.group(head).is_none() && store.kept(group.further[0]).is_none() && store.excerpt(head).is_none());
    }
}
