//! Which ids were seen, with which text, and whose copies they were. One cache line per look-up.
//!
//! A line has four entries of 16 bytes, newest first. Every document has one, copies too, so that a page that is fetched
//! again is not counted again, nor is one that goes back and forth between two texts.

use super::lines::{LINE_BYTES, Line, Lines};
use super::reference::Ref;
use super::watch::Table;
use crate::signature::keyed::mix;

/// Entries in a line.
const ENTRIES: usize = 4;
/// Bytes of an entry.
pub(super) const ENTRY_BYTES: usize = LINE_BYTES / ENTRIES;

/// What is known of an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sighting {
    /// A digest of its text, in 40 bits.
    pub(super) content: u64,
    /// Its own record, if it is a prototype, else that of its group's head; `None` for what has no group.
    pub(super) of: Option<Ref>,
    /// Another group that it was counted in, most often the one before that.
    pub(super) left: Left,
}

/// A group that a document was counted in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Left {
    #[default]
    None,
    /// By its head.
    Group(Ref),
    /// What a table keeps of that.
    Marked(Mark),
}

impl Left {
    /// Whether it is the group of `head`.
    pub(super) fn is(self, head: Ref) -> bool {
        match self {
            Self::None => false,
            Self::Group(of) => of == head,
            Self::Marked(mark) => mark == Mark::of(head),
        }
    }

    fn mark(self) -> Mark {
        match self {
            Self::None => Mark::default(),
            Self::Group(of) => Mark::of(of),
            Self::Marked(mark) => mark,
        }
    }
}

impl From<Mark> for Left {
    fn from(mark: Mark) -> Self {
        if mark == Mark::default() { Self::None } else { Self::Marked(mark) }
    }
}

/// Twelve bits of a group's head: of 4,095 groups that a page comes to one is taken for the one that it has left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Mark(u16);

impl Mark {
    /// That of the group of `head`; no group has the default.
    pub(super) fn of(head: Ref) -> Self {
        Self((mix(head.packed(), 0) >> (64 - MARK_BITS)).max(1) as u16)
    }
}

const MARK_BITS: u32 = 12;

/// Bits of [`Sighting::content`].
const CONTENT_BITS: u32 = 40;
const CONTENT: u64 = (1 << CONTENT_BITS) - 1;

/// Which ids were seen.
pub(super) struct Seen {
    lines: Lines,
}

impl Seen {
    pub(super) fn new(n_bytes: usize) -> Self {
        Self { lines: Lines::new(n_bytes) }
    }

    pub(super) fn prefetch(&self, key: u64) {
        self.lines.prefetch(key);
    }

    pub(super) fn get(&self, key: u64) -> Option<Sighting> {
        let line = self.lines.line(self.lines.of_key(key));
        let place = place(line, key)?;
        let (high, low) = (line[2 * place], line[2 * place + 1]);
        let left = Left::from(Mark((low >> OF_BITS) as u16 & ((1 << MARK_BITS) - 1)));
        Some(Sighting { content: high & CONTENT, of: (low & OF != 0).then(|| Ref::unpacked(low & OF)), left })
    }

    /// Notes what is known of `key`; the oldest of its line is forgotten.
    pub(super) fn put(&mut self, key: u64, sighting: Sighting) {
        let number = self.lines.of_key(key);
        let line = self.lines.line_mut(number);
        let end = place(line, key).unwrap_or(ENTRIES - 1);
        line.copy_within(..2 * end, 2);
        // The tag's 36 bits: 24 beside the content, 12 beside mark and reference. The lowest is set, so that no entry is 0.
        line[0] = (tag(key) >> LOW_TAG_BITS) << CONTENT_BITS | sighting.content & CONTENT;
        line[1] = tag(key) << (64 - LOW_TAG_BITS)
            | u64::from(sighting.left.mark().0) << OF_BITS
            | sighting.of.map_or(0, Ref::packed);
    }

    /// Forgets that `key` was seen.
    pub(super) fn forget(&mut self, key: u64) {
        let number = self.lines.of_key(key);
        let line = self.lines.line_mut(number);
        if let Some(place) = place(line, key) {
            line.copy_within(2 * (place + 1).., 2 * place);
            line[2 * (ENTRIES - 1)..].fill(0);
        }
    }

    pub(super) fn table(&mut self) -> &mut dyn Table {
        self.lines.table()
    }
}

const OF_BITS: u32 = 40;
const OF: u64 = (1 << OF_BITS) - 1;
/// Bits of the tag beside the reference.
const LOW_TAG_BITS: u32 = 64 - OF_BITS - MARK_BITS;
const TAG: u64 = (1 << (64 - CONTENT_BITS + LOW_TAG_BITS)) - 1;

fn tag(key: u64) -> u64 {
    key & TAG | 1
}

fn place(line: &Line, key: u64) -> Option<usize> {
    let low = |place: usize| line[2 * place + 1] >> (64 - LOW_TAG_BITS);
    let tag_at = |place: usize| line[2 * place] >> CONTENT_BITS << LOW_TAG_BITS | low(place);
    (0..ENTRIES).find(|&place| tag_at(place) == tag(key))
}

/// The part of a text's digest that a [`Sighting`] keeps.
pub(super) fn content(digest: u64) -> u64 {
    digest & CONTENT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_known_until_four_newer_ones_of_its_line() {
        let mut seen = Seen::new(64);
        let of = |content| Ref { slot: content as u32, generation: 3 };
        let left = |content| Left::Marked(Mark::of(of(content + 1)));
        let sighting = |content| Sighting { content, of: Some(of(content)), left: left(content) };
        for key in 1..=4_u64 {
            seen.put(10 * key, Sighting { left: Left::Group(of(key + 1)), ..sighting(key) });
        }
        assert_eq!(seen.get(10), Some(sighting(1)));
        let bare = Sighting { content: CONTENT, of: None, left: Left::None };
        seen.put(10, bare);
        assert_eq!(seen.get(10), Some(bare));
        seen.put(50, sighting(5));
        assert_eq!((seen.get(20), seen.get(30), seen.get(10).is_some()), (None, Some(sighting(3)), true));
    }
}
