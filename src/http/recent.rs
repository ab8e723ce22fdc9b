//! What was sent of late, so that who sends it again for want of an answer gets the answer of the first time.
//!
//! Of each id the last body counts: a page that goes back to what it was is a change, and no repeat. What has been forgotten here
//! is appended again, and folded as an unchanged recrawl.
//!
//! # Invariants
//! - It holds so many ids and no more; the oldest give way. (`the_oldest_give_way`)

use crate::bus::{Outgoing, Partition};
use std::collections::{HashMap, VecDeque};

/// A place on the bus.
pub(super) type Place = (Partition, i64);

/// Half of a digest of 256 bits: the sender chooses what is hashed.
pub(super) type Digest = [u8; 16];

/// Ids and bodies with their places.
pub(super) struct Recent {
    n_max: usize,
    places: HashMap<Digest, (Digest, Place)>,
    order: VecDeque<Digest>,
}

/// A document that may come again.
#[derive(Clone, Copy)]
pub(super) struct Name {
    pub(super) id: Digest,
    pub(super) whole: Digest,
}

impl Name {
    /// Of a record that its sender calls `id`.
    pub(super) fn new(id: &str, outgoing: &Outgoing) -> Self {
        let mut hash = blake3::Hasher::new();
        let mut part = |bytes: &[u8]| {
            hash.update(&(bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        };
        part(outgoing.topic.as_bytes());
        part(id.as_bytes());
        let named = half(&hash);
        let mut part = |bytes: &[u8]| {
            hash.update(&(bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        };
        for (name, value) in &outgoing.headers {
            part(name.as_bytes());
            part(value);
        }
        part(outgoing.value.as_deref().unwrap_or_default());
        Self { id: named, whole: half(&hash) }
    }
}

fn half(hash: &blake3::Hasher) -> Digest {
    let mut half = Digest::default();
    half.copy_from_slice(&hash.finalize().as_bytes()[..16]);
    half
}

impl Recent {
    pub(super) fn new(n_max: usize) -> Self {
        Self { n_max, places: HashMap::new(), order: VecDeque::new() }
    }

    /// Where it is, if it was the last that came under its id.
    pub(super) fn place(&self, name: &Name) -> Option<&Place> {
        self.places.get(&name.id).filter(|(whole, _)| *whole == name.whole).map(|(_, place)| place)
    }

    /// Remembers where it is.
    pub(super) fn learn(&mut self, name: Name, place: Place) {
        if self.n_max == 0 {
            return;
        }
        if self.places.insert(name.id, (name.whole, place)).is_none() {
            self.order.push_back(name.id);
            if self.order.len() > self.n_max
                && let Some(oldest) = self.order.pop_front()
            {
                self.places.remove(&oldest);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outgoing(body: &str) -> Outgoing {
        Outgoing { value: Some(body.into()), ..Outgoing::to("pages") }
    }

    #[test]
    fn the_oldest_give_way() {
        let mut recent = Recent::new(3);
        let place = |offset| (Partition::new("pages", 0), offset);
        let names: Vec<Name> = (0..5).map(|n| Name::new(&format!("id{n}"), &outgoing("x"))).collect();
        for (offset, name) in names.iter().enumerate() {
            assert_eq!(recent.place(name), None);
            recent.learn(*name, place(offset as i64));
            assert_eq!(recent.place(name), Some(&place(offset as i64)));
        }
        assert_eq!(recent.place(&names[1]), None);
        assert_eq!(recent.place(&names[2]), Some(&place(2)));
        assert_eq!((recent.places.len(), recent.order.len()), (3, 3));
        let mut none = Recent::new(0);
        none.learn(names[0], place(0));
        assert_eq!(none.place(&names[0]), None);
    }

    #[test]
    fn only_the_last_body_of_an_id_is_a_repeat() {
        let mut recent = Recent::new(10);
        let [first, second] = ["one", "two"].map(|body| Name::new("a", &outgoing(body)));
        recent.learn(first, (Partition::new("pages", 0), 1));
        assert_eq!(recent.place(&second), None);
        recent.learn(second, (Partition::new("pages", 0), 2));
        assert_eq!(recent.place(&first), None, "it has changed back");
        let elsewhere = Name::new("a", &Outgoing { topic: "emails".into(), ..outgoing("two") });
        assert_eq!(recent.place(&elsewhere), None);
        let mut with_header = outgoing("two");
        with_header.headers.push(("ip".into(), b"192.0.2.1".to_vec()));
        assert_eq!(recent.place(&Name::new("a", &with_header)), None);
    }
}
