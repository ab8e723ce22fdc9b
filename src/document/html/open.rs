//! The open elements: which element an end tag ends, and which ones end without their own end tag.
//!
//! Blocks, tables and lists are kept, and inside hidden text, SVG and MathML everything is, so that it is known where
//! those end. The rules are the standard's as far as words, links and blocks are concerned; what it does to put
//! misplaced formatting and tables right moves text but neither makes nor loses any, and is left out.
//!
//! An end tag looks for its element with one `memrchr` over the names, and every entry knows how far end tags reach
//! below it, so that no page can make this slow.
//!
//! # Invariants
//! - No more than the given number of elements is kept; deeper ones are counted. (`deep_elements_are_counted`)
//! - An end tag ends its own element, with all inside it, or nothing. (`end_tags_find_their_element`)

use super::tag::{self, Tag};
use memchr::memrchr;

/// What becomes of text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Show {
    /// It is shown.
    #[default]
    Shown,
    /// It is not shown, but kept as hidden text.
    Hidden,
    /// It is hidden by its size; an element inside that has a size shows again.
    TooSmall,
    /// It is dropped: options, templates.
    Dropped,
}

/// Which rules hold for the children of an element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Content {
    /// HTML's.
    #[default]
    Html,
    /// SVG's or MathML's.
    Foreign,
}

/// An open element.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Entry {
    pub(super) tag: u8,
    pub(super) key: u64,
    pub(super) flags: u32,
    /// What becomes of the text inside.
    pub(super) show: Show,
    pub(super) content: Content,
    /// Whether all elements inside are kept: it is hidden, SVG or MathML, or inside that.
    pub(super) keeps_all: bool,
    /// Whether line feeds end lines inside.
    pub(super) pre: bool,
    /// Its place in the outline, or `NO_OUTLINE`.
    pub(super) outline: u32,
    /// The length of the visible text at its start.
    pub(super) text_start: u32,
    /// Below which place end tags of each sort do not reach: see [`Reach`].
    pub(super) floors: [u16; 5],
}

/// Not in the outline.
pub(super) const NO_OUTLINE: u32 = u32::MAX;

/// How far an end tag reaches: not beyond an element with the flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Reach {
    /// Blocks.
    Scope,
    /// `</li>`
    List,
    /// `</p>`
    Button,
    /// Parts of tables.
    Table,
    /// Inline elements.
    Special,
}

const BARRIERS: [u32; 5] =
    [tag::SCOPE, tag::SCOPE | tag::LIST, tag::SCOPE | tag::BUTTON, tag::TABLE, tag::SPECIAL | tag::SCOPE];

/// Of elements without a [`Tag`] of their own that share 7 bits of their key, so many are compared.
const LOOKALIKES_MAX: usize = 8;

/// The open elements.
#[derive(Default)]
pub(super) struct Open {
    /// One byte per entry: the tag, or 128 and some bits of the key.
    bytes: Vec<u8>,
    entries: Vec<Entry>,
    /// How many are open, by their byte.
    counts: Vec<u16>,
    max: usize,
    /// Deeper elements that are open, by their byte, and in all.
    deeper: Vec<u32>,
    n_deeper: u32,
}

impl Open {
    /// Forgets all, and keeps at most `max` from now on.
    pub(super) fn reset(&mut self, max: usize) {
        self.bytes.clear();
        self.entries.clear();
        self.counts.clear();
        self.counts.resize(256, 0);
        self.max = max.min(u16::MAX as usize - 1);
        self.deeper.clear();
        self.deeper.resize(256, 0);
        self.n_deeper = 0;
    }

    /// The innermost element.
    #[inline]
    pub(super) fn top(&self) -> Option<&Entry> {
        self.entries.last()
    }

    /// How many are open.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Opens an element, or (`false`) only counts it when it is too deep.
    #[inline]
    pub(super) fn push(&mut self, mut entry: Entry) -> bool {
        let byte = byte(entry.tag, entry.key);
        if self.entries.len() >= self.max {
            self.deeper[byte as usize] += 1;
            self.n_deeper += 1;
            return false;
        }
        let place = self.entries.len() as u16;
        entry.floors = self.top().map_or([0; 5], |top| top.floors);
        if entry.flags & (tag::SCOPE | tag::LIST | tag::BUTTON | tag::TABLE | tag::SPECIAL) != 0 {
            for (floor, barrier) in entry.floors.iter_mut().zip(BARRIERS) {
                if entry.flags & barrier != 0 {
                    *floor = place;
                }
            }
        }
        self.counts[byte as usize] += 1;
        self.bytes.push(byte);
        self.entries.push(entry);
        true
    }

    /// Takes the innermost element off.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<Entry> {
        if self.n_deeper > 0 {
            self.deeper.fill(0);
            self.n_deeper = 0;
        }
        if let Some(byte) = self.bytes.pop() {
            self.counts[byte as usize] -= 1;
        }
        self.entries.pop()
    }

    /// Whether an element too deep to be kept ends here.
    #[inline]
    pub(super) fn close_deeper(&mut self, tag: Tag, key: u64) -> bool {
        if self.n_deeper == 0 {
            return false;
        }
        let count = &mut self.deeper[byte(tag as u8, key) as usize];
        let found = *count > 0;
        *count -= u32::from(found);
        self.n_deeper -= u32::from(found);
        found
    }

    /// The place of the innermost open element of that name, if an end tag of this reach gets to it.
    #[inline]
    pub(super) fn find(&self, tag: Tag, key: u64, reach: Reach) -> Option<usize> {
        if tag != Tag::Other {
            return self.find_tag(tag, reach);
        }
        let floor = self.floor(reach)?;
        let byte = byte(tag as u8, key);
        if self.counts[byte as usize] == 0 {
            return None;
        }
        let mut end = self.bytes.len();
        for _ in 0..LOOKALIKES_MAX {
            let place = floor + memrchr(byte, &self.bytes[floor..end])?;
            if self.entries[place].key == key {
                return Some(place);
            }
            end = place;
        }
        None
    }

    /// The same for an element that is known by its tag.
    #[inline]
    pub(super) fn find_tag(&self, tag: Tag, reach: Reach) -> Option<usize> {
        if !self.has(tag) {
            return None;
        }
        let floor = self.floor(reach)?;
        let bytes = &self.bytes[floor..];
        if bytes.last() == Some(&(tag as u8)) {
            return Some(self.bytes.len() - 1);
        }
        Some(floor + memrchr(tag as u8, bytes)?)
    }

    /// The same for any of `tags`.
    pub(super) fn find_any(&self, tags: &[Tag], reach: Reach) -> Option<usize> {
        tags.iter().filter_map(|&tag| self.find_tag(tag, reach)).max()
    }

    #[inline]
    fn floor(&self, reach: Reach) -> Option<usize> {
        Some(self.entries.last()?.floors[reach as usize] as usize)
    }

    /// The place of an open `<li>` (or one of `tags`) that a new one ends: no further than the next special element
    /// that is not `address`, `div` or `p`.
    pub(super) fn find_item(&self, tags: &[Tag]) -> Option<usize> {
        const PASSED: [u8; 3] = [Tag::Address as u8, Tag::Div as u8, Tag::P as u8];
        let steps = self.entries.iter().enumerate().rev().take(ITEM_STEPS_MAX);
        for (place, entry) in steps {
            if tags.iter().any(|&tag| tag as u8 == entry.tag) {
                return Some(place);
            }
            if entry.flags & tag::SPECIAL != 0 && !PASSED.contains(&entry.tag) {
                return None;
            }
        }
        None
    }

    /// The place of the innermost open element of that name, however far away.
    #[inline]
    pub(super) fn find_anywhere(&self, tag: Tag) -> Option<usize> {
        memrchr(tag as u8, &self.bytes)
    }

    /// Whether an element of that name is open at all.
    #[inline]
    pub(super) fn has(&self, tag: Tag) -> bool {
        self.counts[tag as usize] > 0
    }
}

/// Inside how many divs and paragraphs a list item may stand and still be ended by the next one.
const ITEM_STEPS_MAX: usize = 32;

#[inline]
fn byte(tag: u8, key: u64) -> u8 {
    if tag == Tag::Other as u8 { 0x80 | (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 57) as u8 } else { tag }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(tag: Tag) -> Entry {
        Entry { tag: tag as u8, key: tag::key(tag.name().as_bytes()), flags: tag.flags(), ..Entry::default() }
    }

    fn open(tags: &[Tag]) -> Open {
        let mut open = Open::default();
        open.reset(8);
        tags.iter().for_each(|&tag| assert!(open.push(entry(tag))));
        open
    }

    #[test]
    fn tags_fit_beside_the_bytes_of_other_names() {
        assert!((Tag::AnnotationXml as u8) < 0x80);
    }

    #[test]
    fn end_tags_find_their_element() {
        use Tag::*;
        for (tags, tag, reach, place) in [
            (&[Div, P][..], P, Reach::Button, Some(1)),
            (&[P, Button], P, Reach::Button, None),
            (&[P, Button], P, Reach::Scope, Some(0)),
            (&[Div, Table, Td], Div, Reach::Scope, None),
            (&[Div, Table, Td, Div, P], Div, Reach::Scope, Some(3)),
            (&[Li, Ul], Li, Reach::List, None),
            (&[Table, Tr, Td, Div, Span], Tr, Reach::Table, Some(1)),
            (&[Tr, Table, Td], Tr, Reach::Table, None),
            (&[Span, Div], Span, Reach::Special, None),
            (&[Div, Span, Span], Span, Reach::Special, Some(2)),
        ] {
            let key = tag::key(tag.name().as_bytes());
            assert_eq!(open(tags).find(tag, key, reach), place, "{tag:?} in {tags:?}");
        }
        assert_eq!(open(&[Ul, Li, Div, P]).find_item(&[Li]), Some(1));
        assert_eq!(open(&[Li, Ul]).find_item(&[Li]), None);
        assert_eq!(open(&[H1, H3, Div]).find_any(&[H1, H2, H3], Reach::Scope), Some(1));
    }

    #[test]
    fn other_names_are_told_apart() {
        let mut open = open(&[Tag::Div]);
        for name in ["g", "x-menu", "g", "x-item"] {
            assert!(open.push(Entry { key: tag::key(name.as_bytes()), tag: Tag::Other as u8, ..Entry::default() }));
        }
        let find = |name: &str| open.find(Tag::Other, tag::key(name.as_bytes()), Reach::Special);
        assert_eq!((find("g"), find("x-menu"), find("x-item"), find("path")), (Some(3), Some(2), Some(4), None));
    }

    #[test]
    fn deep_elements_are_counted() {
        let mut open = open(&[Tag::Div; 8]);
        let div = entry(Tag::Div);
        assert!(!open.push(div) && !open.push(div) && !open.push(entry(Tag::P)));
        assert_eq!(open.len(), 8);
        assert!(open.close_deeper(Tag::Div, div.key) && open.close_deeper(Tag::Div, div.key));
        assert!(!open.close_deeper(Tag::Div, div.key), "the next one ends a kept element");
        assert!(open.pop().is_some());
        assert!(!open.close_deeper(Tag::P, entry(Tag::P).key), "it has ended with the element around it");
    }
}
