//! Slots in order: a doubly linked list through the records themselves, so that any of them leaves in one step.
//!
//! # Invariants
//! - What was pushed comes out oldest first, whoever left in between. (`slots_come_out_in_order`)

use super::reference::NONE;
use serde::{Deserialize, Serialize};
use std::ops::IndexMut;

/// A place in a doubly linked list of slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Link {
    pub(super) older: u32,
    pub(super) newer: u32,
}

impl Default for Link {
    fn default() -> Self {
        Self { older: NONE, newer: NONE }
    }
}

/// The ends of such a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Ends {
    pub(super) oldest: u32,
    pub(super) newest: u32,
    pub(super) n: u32,
}

impl Default for Ends {
    fn default() -> Self {
        Self { oldest: NONE, newest: NONE, n: 0 }
    }
}

/// Adds `slot` as the newest; `link` says where a record keeps its place.
pub(super) fn push<T>(
    slots: &mut impl IndexMut<usize, Output = T>,
    ends: &mut Ends,
    slot: u32,
    link: fn(&mut T) -> &mut Link,
) {
    *link(&mut slots[slot as usize]) = Link { older: ends.newest, newer: NONE };
    match ends.newest {
        NONE => ends.oldest = slot,
        newest => link(&mut slots[newest as usize]).newer = slot,
    }
    ends.newest = slot;
    ends.n += 1;
}

/// Takes `slot` out.
pub(super) fn remove<T>(
    slots: &mut impl IndexMut<usize, Output = T>,
    ends: &mut Ends,
    slot: u32,
    link: fn(&mut T) -> &mut Link,
) {
    let Link { older, newer } = std::mem::take(link(&mut slots[slot as usize]));
    match older {
        NONE => ends.oldest = newer,
        older => link(&mut slots[older as usize]).newer = newer,
    }
    match newer {
        NONE => ends.newest = older,
        newer => link(&mut slots[newer as usize]).older = older,
    }
    ends.n -= 1;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_come_out_in_order() {
        let (mut slots, mut ends) = (vec![Link::default(); 5], Ends::default());
        for slot in [3, 0, 4, 1] {
            push(&mut slots, &mut ends, slot, |link| link);
        }
        remove(&mut slots, &mut ends, 0, |link| link);
        push(&mut slots, &mut ends, 0, |link| link);
        let mut out = Vec::new();
        while ends.oldest != NONE {
            out.push(ends.oldest);
            remove(&mut slots, &mut ends, out[out.len() - 1], |link| link);
        }
        assert_eq!((out, ends), (vec![3, 4, 1, 0], Ends::default()));
    }
}
