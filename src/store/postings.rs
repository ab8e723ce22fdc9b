//! Keys of weigh: which heads hold a gram or a sentence, where in them, and how many have held it. One cache line per
//! look-up.
//!
//! A line has five postings of 12 bytes, newest first: a tag of the key, slot and generation, the number of the gram in its
//! document, and how many documents were seen with the key, counted up to 255 in every posting of the key alike. A key
//! keeps its first few owners and the last few; those in between are counted only.
//!
//! # Invariants
//! - The first few owners of a key and the last few are found, and all are counted.
//!   (`first_and_last_owners_are_found_and_all_are_counted`)
//! - One document counts once for a key, in all its versions.
//!   (`a_document_counts_once`, `the_next_version_takes_the_place_of_the_last`)
//! - In a table as full as the plan has it no count is too high; of keys in more than ten documents 1.4 % are read as ten or
//!   less, of those in 2 to 10 a tenth as less, since their postings were pushed out. (`counts_against_exact_ones`)

use super::lines::{Line, Lines, WORDS};
use super::reference::Ref;
use super::watch::Table;

/// Postings in a line.
const POSTINGS: usize = 5;

/// One posting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Posting {
    tag: u32,
    /// The slot in the upper 24 bits, the count in the lower 8; 0 in a free place, and those are behind all others.
    slot_count: u32,
    /// The generation in the upper half, the number in its document in the lower.
    generation_number: u32,
}

impl Posting {
    fn of(self) -> Ref {
        Ref { slot: self.slot_count >> 8, generation: (self.generation_number >> 16) as u16 }
    }

    fn count(self) -> u8 {
        self.slot_count as u8
    }

    fn is_none(self) -> bool {
        self.count() == 0
    }
}

/// A line as words of 32 bits: three for each posting, and one that is free.
type Halves = [u32; 2 * WORDS];

#[inline]
fn halves(line: &Line) -> Halves {
    std::array::from_fn(|index| (line[index / 2] >> (32 * (index % 2))) as u32)
}

#[inline]
fn whole(halves: &Halves) -> Line {
    std::array::from_fn(|index| u64::from(halves[2 * index]) | u64::from(halves[2 * index + 1]) << 32)
}

#[inline]
fn posting(halves: &Halves, place: usize) -> Posting {
    let [tag, slot_count, generation_number] = std::array::from_fn(|word| halves[3 * place + word]);
    Posting { tag, slot_count, generation_number }
}

/// The places whose posting is one, as bits. All at once: which they are is as good as a coin, and most often it is none.
#[inline]
fn places(halves: &Halves, is_one: impl Fn(Posting) -> bool) -> u32 {
    (0..POSTINGS).fold(0, |bits, place| bits | u32::from(is_one(posting(halves, place))) << place)
}

/// The places with postings of `key`, as bits.
#[inline]
fn same(halves: &Halves, key: u64) -> u32 {
    places(halves, |posting| (posting.tag == key as u32) & !posting.is_none())
}

/// The numbers of the bits that are set, ascending.
#[inline]
fn each(mut bits: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let place = (bits != 0).then(|| bits.trailing_zeros() as usize)?;
        bits &= bits - 1;
        Some(place)
    })
}

/// How many owners of a key are kept: those in between are counted only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owners {
    /// The first ones: whoever copies a copy has it from them.
    pub first: usize,
    /// The last ones: of those who quote each other the later hold what the earlier do, and more.
    pub last: usize,
}

impl Owners {
    /// `n` owners, half of them the first.
    pub fn halves(n: usize) -> Self {
        Self { first: n.div_ceil(2), last: n / 2 }
    }
}

/// Who is posted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The document.
    pub of: Ref,
    /// Its earlier version, whose place it takes: a page that is fetched again and again is one page.
    pub heir_of: Option<Ref>,
}

impl From<Ref> for Owner {
    fn from(of: Ref) -> Self {
        Self { of, heir_of: None }
    }
}

/// Which heads hold a key.
pub struct Postings {
    lines: Lines,
}

impl Postings {
    /// Empty postings in `n_bytes`.
    pub fn new(n_bytes: usize) -> Self {
        Self { lines: Lines::new(n_bytes) }
    }

    /// `n` times empty postings in `n_bytes` each, side by side.
    pub(super) fn several(n_bytes: usize, n: usize) -> Vec<Self> {
        Lines::several(n_bytes, n).into_iter().map(|lines| Self { lines }).collect()
    }

    /// Asks for the line of `key`.
    #[inline]
    pub fn prefetch(&self, key: u64) {
        self.lines.prefetch(key);
    }

    /// Calls `with` for every posting under `key`, dead or alive: whose, and the number in its document. Returns how many
    /// documents were seen with the key.
    #[inline]
    pub fn find(&self, key: u64, mut with: impl FnMut(Ref, u16)) -> u8 {
        let halves = halves(self.lines.line(self.lines.of_key(key)));
        let mut count = 0;
        for posting in each(same(&halves, key)).map(|place| posting(&halves, place)) {
            count = count.max(posting.count());
            with(posting.of(), posting.generation_number as u16);
        }
        count
    }

    /// Counts `of` under `key`, and adds a posting. Where as many of its owners live as are kept as `owners`, the oldest but the first few
    /// gives way; where none but the first are kept, it is counted only. Returns whether it is one more that has the key.
    #[inline]
    pub fn post(&mut self, key: u64, owner: Owner, number: u16, owners: Owners, is_live: impl Fn(Ref) -> bool) -> bool {
        let Owner { of, heir_of } = owner;
        let line_number = self.lines.of_key(key);
        let line = self.lines.line_mut(line_number);
        let mut halves = halves(line);
        let same = same(&halves, key);
        let (mut n_live, mut count, mut inherited) = (0, 0, None);
        for place in each(same) {
            let posting = posting(&halves, place);
            if posting.of() == of {
                return false;
            }
            if Some(posting.of()) == heir_of {
                inherited = Some(place);
            }
            count = count.max(posting.count());
            n_live += usize::from(is_live(posting.of()));
        }
        // What only dead documents held is as good as new.
        let count = match n_live {
            0 => 1,
            _ => count.saturating_add(u8::from(inherited.is_none())),
        };
        for place in each(same) {
            let slot_count = &mut halves[3 * place + 1];
            *slot_count = *slot_count & !0xFF | u32::from(count);
        }
        let mut is_loss = false;
        let end = if inherited.is_some() {
            inherited
        } else if n_live < owners.first + owners.last {
            let n_filled = places(&halves, |posting| !posting.is_none()).trailing_ones() as usize;
            let dead = || places(&halves, |posting| !is_live(posting.of())).checked_ilog2();
            let end = if n_filled < POSTINGS { Some(n_filled) } else { dead().map(|place| place as usize) };
            is_loss = end.is_none();
            Some(end.unwrap_or(POSTINGS - 1))
        } else {
            let mut later = each(same).filter(|&place| is_live(posting(&halves, place).of()));
            owners.last.checked_sub(1).and_then(|oldest| later.nth(oldest))
        };
        if let Some(end) = end {
            // Those before the end make room at the beginning. It is another number each time, so all are looked at.
            for index in (3..3 * POSTINGS).rev() {
                halves[index] = if index < 3 + 3 * end { halves[index - 3] } else { halves[index] };
            }
            halves[0] = key as u32;
            halves[1] = of.slot << 8 | u32::from(count);
            halves[2] = u32::from(of.generation) << 16 | u32::from(number);
        }
        *line = whole(&halves);
        self.lines.n_pushed_out += u64::from(is_loss);
        inherited.is_none()
    }

    /// Live postings that were pushed out.
    pub(super) fn n_pushed_out(&self) -> u64 {
        self.lines.n_pushed_out
    }

    pub(super) fn set_pushed_out(&mut self, n: u64) {
        self.lines.n_pushed_out = n;
    }

    pub(super) fn table(&mut self) -> &mut dyn Table {
        self.lines.table()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signature::keyed::mix;
    use std::collections::BTreeMap;

    fn refer(slot: u32) -> Ref {
        Ref { slot, generation: 9 }
    }

    fn found(postings: &Postings, key: u64) -> (Vec<(u32, u16)>, u8) {
        let mut owners = Vec::new();
        let count = postings.find(key, |of, number| owners.push((of.slot, number)));
        (owners, count)
    }

    #[test]
    fn first_and_last_owners_are_found_and_all_are_counted() {
        for (first, last) in [(4, 0), (2, 2), (1, 3), (3, 2)] {
            let mut postings = Postings::new(64);
            for slot in 0..300 {
                postings.post(77, refer(slot).into(), slot as u16 + 5, Owners { first, last }, |_| true);
                let is_kept = |other: &u32| *other < first as u32 || slot - other < last as u32;
                let owners: Vec<_> = (0..=slot).rev().filter(is_kept).map(|slot| (slot, slot as u16 + 5)).collect();
                assert_eq!(found(&postings, 77), (owners, (slot + 1).min(255) as u8));
            }
            assert_eq!(found(&postings, 78), (vec![], 0));
        }
    }

    #[test]
    fn a_document_counts_once() {
        let mut postings = Postings::new(64);
        postings.post(1, refer((1 << 24) - 1).into(), u16::MAX, Owners::halves(4), |_| true);
        postings.post(1, refer((1 << 24) - 1).into(), 3, Owners::halves(4), |_| true);
        assert_eq!(found(&postings, 1), (vec![((1 << 24) - 1, u16::MAX)], 1));
    }

    /// However often a page changes, it is one that has the key.
    #[test]
    fn the_next_version_takes_the_place_of_the_last() {
        let mut postings = Postings::new(64);
        let version = |generation: u16| Ref { slot: 7, generation };
        for slot in 0..3 {
            postings.post(1, refer(slot).into(), 0, Owners::halves(4), |_| true);
        }
        let is_live = |of: Ref| of.slot != 7;
        assert!(postings.post(1, version(1).into(), 0, Owners::halves(4), is_live));
        for generation in 2..300 {
            let heir = Owner { of: version(generation), heir_of: Some(version(generation - 1)) };
            assert!(!postings.post(1, heir, generation, Owners::halves(4), is_live));
            assert_eq!(found(&postings, 1), (vec![(7, generation), (2, 0), (1, 0), (0, 0)], 4));
        }
        assert!(postings.post(
            2,
            Owner { of: version(300), heir_of: Some(version(299)) },
            0,
            Owners::halves(4),
            is_live
        ));
    }

    /// Documents with grams in a mixed order: of 100 grams, 80 stand in one document, 17 in 2 to 10, the others in up to 300.
    fn stream(n_keys: u64) -> Vec<u64> {
        let n = |key: u64| match key % 100 {
            0..80 => 1,
            80..97 => 2 + mix(key, 3) % 9,
            _ => 11 + mix(key, 4) % 290,
        };
        let mut grams: Vec<u64> =
            (0..n_keys).flat_map(|key| std::iter::repeat_n(mix(mix(key, 5), 5), n(key) as usize)).collect();
        for index in (1..grams.len()).rev() {
            grams.swap(index, (mix(mix(index as u64, 6), 7) % (index as u64 + 1)) as usize);
        }
        grams
    }

    /// As many keys as the plan has for the bytes (0.6 of all places), each posted by as many documents as it stands in.
    #[test]
    fn counts_against_exact_ones() {
        const OWNERS_MAX: usize = 4;
        let mut exact = BTreeMap::<u64, u32>::new();
        let grams = stream(60_000);
        grams.iter().for_each(|&gram| *exact.entry(gram).or_default() += 1);
        let n_postings: usize = exact.values().map(|&n| OWNERS_MAX.min(n as usize)).sum();
        let mut postings = Postings::new((n_postings as f64 / 0.6 / POSTINGS as f64) as usize * 64);
        for (document, &gram) in (0_u32..).zip(&grams) {
            postings.post(gram, refer(document).into(), 0, Owners::halves(OWNERS_MAX), |_| true);
        }
        let share = |of: &dyn Fn(u32) -> bool, read: &dyn Fn(u32, u32) -> bool| {
            let all = exact.iter().filter(|&(_, &n)| of(n));
            let is_read = |(gram, n): (&u64, &u32)| read(postings.find(*gram, |_, _| {}).into(), *n);
            all.clone().filter(|&both| is_read(both)).count() as f64 / all.count() as f64
        };
        let any_as_more = share(&|_| true, &|read, n| read > n);
        let unique_lost = share(&|n| n == 1, &|read, _| read == 0);
        let few_as_less = share(&|n| (2..=10).contains(&n), &|read, n| read < n);
        let many_as_few = share(&|n| n > 10, &|read, _| read <= 10);
        println!(
            "read as more {any_as_more:.5}, unique and lost {unique_lost:.5}, 2 to 10 as less {few_as_less:.5}, \
             over ten as ten or less {many_as_few:.5}, pushed out {} of {n_postings}",
            postings.n_pushed_out()
        );
        assert!(any_as_more < 0.0001, "{any_as_more} are read as more");
        assert!(unique_lost < 0.13, "{unique_lost} of the unique are lost");
        assert!(few_as_less < 0.11, "{few_as_less} of 2 to 10 are read as less");
        assert!(many_as_few < 0.02, "{many_as_few} of more than ten are read as ten or less");
    }

    #[test]
    fn the_dead_give_way_and_their_count_goes_with_them() {
        let mut postings = Postings::new(64);
        for slot in 0..5 {
            postings.post(1 + u64::from(slot / 4), refer(slot).into(), 0, Owners::halves(4), |_| true);
        }
        postings.post(3, refer(5).into(), 0, Owners::halves(4), |of| of.slot != 2);
        assert_eq!((found(&postings, 1).0.len(), found(&postings, 3).0.len(), postings.n_pushed_out()), (3, 1, 0));
        postings.post(1, refer(6).into(), 0, Owners::halves(4), |of| of.slot > 3);
        assert_eq!(found(&postings, 1).1, 1);
        postings.post(4, refer(7).into(), 0, Owners::halves(4), |_| true);
        assert_eq!(postings.n_pushed_out(), 1);
    }
}
