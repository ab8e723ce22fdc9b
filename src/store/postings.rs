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
//! - One document counts once for a key, in all its versions; a version that gets no posting does not count, and one whose
//!   predecessor's posting has given way counts anew.
//!   (`a_document_counts_once`, `the_next_version_takes_the_place_of_the_last`, `versions_without_a_posting_are_not_counted_anew`)
//! - In a table as full as the plan has it no count is too high; of keys in more than ten documents 1.4 % are read as ten or
//!   less, of those in 2 to 10 a tenth as less, since their postings were pushed out. (`counts_against_exact_ones`)

use super::lanes::{blend, each, equal, lane, ones};
use super::lines::{Line, Lines};
use super::reference::Ref;
use super::watch::Table;

/// Postings in a line.
const POSTINGS: usize = 5;
/// Where the last of them begins.
const LAST: usize = 3 * (POSTINGS - 1);

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
}

/// The lanes that postings begin at, as bits.
const FIRSTS: u32 = 0b001_001_001_001_001;

#[inline]
fn posting(line: &Line, first: usize) -> Posting {
    let [tag, slot_count, generation_number] = std::array::from_fn(|word| lane(line, first + word));
    Posting { tag, slot_count, generation_number }
}

/// Where free places begin, as bits.
#[inline]
fn free(line: &Line) -> u32 {
    equal(line, 0xFF, 0) >> 1 & FIRSTS
}

/// Where postings of `key` begin, as bits.
#[inline]
fn same(line: &Line, key: u64) -> u32 {
    equal(line, u32::MAX, key as u32) & FIRSTS & !free(line)
}

/// For each place the ones of all lanes up to its end: what is new when a posting gives way there, and those before it make room at the
/// beginning. It is another place each time, and asking which costs more than to look at all.
const MADE_ROOM: [Line; POSTINGS] = [ones(3), ones(6), ones(9), ones(12), ones(15)];

/// The line with all postings a place further, and this one before them.
#[inline]
fn moved_up(line: &Line, Posting { tag, slot_count, generation_number }: Posting) -> Line {
    let [a, b, c, d, e, f, g, _] = *line;
    let between = |lower: u64, upper: u64| lower >> 32 | upper << 32;
    [
        u64::from(tag) | u64::from(slot_count) << 32,
        u64::from(generation_number) | a << 32,
        between(a, b),
        between(b, c),
        between(c, d),
        between(d, e),
        between(e, f),
        between(f, g),
    ]
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
        let line = self.lines.line(self.lines.of_key(key));
        let mut count = 0;
        for posting in each(same(line, key)).map(|first| posting(line, first)) {
            count = count.max(posting.count());
            with(posting.of(), posting.generation_number as u16);
        }
        count
    }

    /// Whom a full line of `key` has held longest: whether it lives is asked when something is added.
    #[inline]
    pub(super) fn oldest(&self, key: u64) -> Option<Ref> {
        let line = self.lines.line(self.lines.of_key(key));
        (free(line) == 0).then(|| posting(line, LAST).of())
    }

    /// Counts `of` under `key`, and adds a posting. Where as many of its owners live as are kept as `owners`, the oldest but the first few
    /// gives way; where none but the first are kept, it is counted only. Returns whether it is one more that has the key.
    #[inline]
    pub fn post(&mut self, key: u64, owner: Owner, number: u16, owners: Owners, is_live: impl Fn(Ref) -> bool) -> bool {
        let number_of_line = self.lines.of_key(key);
        let line = self.lines.line_mut(number_of_line);
        let same = same(line, key);
        let Tally { n_live, count, inherited, is_one_more } = match same {
            0 => Tally { n_live: 0, count: 1, inherited: None, is_one_more: true },
            _ => match tally(line, same, owner, owners, &is_live) {
                Some(tally) => tally,
                None => return false,
            },
        };
        let mut is_loss = false;
        let end = if inherited.is_some() {
            inherited
        } else if n_live < owners.first + owners.last {
            let dead = || (0..POSTINGS).rev().map(|place| 3 * place).find(|&first| !is_live(posting(line, first).of()));
            let end = match free(line) {
                // The oldest are dead before the others, with few exceptions: the first look is most often the last.
                0 => dead(),
                free => Some(free.trailing_zeros() as usize),
            };
            is_loss = end.is_none();
            Some(end.unwrap_or(LAST))
        } else {
            let mut later = each(same).filter(|&first| is_live(posting(line, first).of()));
            owners.last.checked_sub(1).and_then(|oldest| later.nth(oldest))
        };
        if let Some(end) = end {
            let Ref { slot, generation } = owner.of;
            let own = Posting {
                tag: key as u32,
                slot_count: slot << 8 | u32::from(count),
                generation_number: u32::from(generation) << 16 | u32::from(number),
            };
            *line = blend(&MADE_ROOM[end / 3], &moved_up(line, own), line);
        }
        self.lines.n_pushed_out += u64::from(is_loss);
        is_one_more
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

/// What a line says of a key before one more owner is added.
struct Tally {
    n_live: usize,
    /// Documents with the key, the new one among them.
    count: u8,
    /// Where the posting begins whose place the new one takes.
    inherited: Option<usize>,
    /// Whether the new one has raised the count.
    is_one_more: bool,
}

/// Counts `owner` in all postings of its key, which begin at `same`; `None` where it is counted already.
fn tally(line: &mut Line, same: u32, owner: Owner, owners: Owners, is_live: impl Fn(Ref) -> bool) -> Option<Tally> {
    let (mut n_live, mut count, mut inherited) = (0, 0, None);
    for first in each(same) {
        let posting = posting(line, first);
        if posting.of() == owner.of {
            return None;
        }
        if Some(posting.of()) == owner.heir_of {
            inherited = Some(first);
        }
        count = posting.count().max(count);
        n_live += usize::from(is_live(posting.of()));
    }
    // Where no posting is made, an earlier version may be among those that are counted only: the next one is taken for such.
    let is_kept = n_live < owners.first + owners.last || owners.last > 0;
    // What only dead documents held is as good as new.
    let is_one_more = inherited.is_none() && (n_live == 0 || is_kept || owner.heir_of.is_none());
    let count = match n_live {
        0 => 1,
        _ => count.saturating_add(u8::from(is_one_more)),
    };
    for lane in each(same << 1) {
        let (word, shift) = (&mut line[lane / 2], 32 * (lane % 2));
        *word = *word & !(0xFF << shift) | u64::from(count) << shift;
    }
    Some(Tally { n_live, count, inherited, is_one_more })
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

    /// Ten pages that have a key, each fetched and changed in turn: most of the time there is no posting whose place could be taken.
    #[test]
    fn versions_without_a_posting_are_not_counted_anew() {
        for owners in [Owners { first: 4, last: 0 }, Owners { first: 2, last: 0 }] {
            let mut postings = Postings::new(64);
            let version = |slot: u32, generation: u16| Ref { slot, generation };
            for slot in 0..10 {
                assert!(postings.post(1, version(slot, 1).into(), 0, owners, |_| true));
            }
            for generation in 2..300 {
                for slot in 0..10 {
                    let heir_of = Some(version(slot, generation - 1));
                    let heir = Owner { of: version(slot, generation), heir_of };
                    let is_live = |of: Ref| of.generation == generation - u16::from(of.slot > slot);
                    assert!(!postings.post(1, heir, 0, owners, is_live));
                    assert_eq!(postings.find(1, |_, _| {}), 10, "{owners:?}, version {generation} of {slot}");
                }
            }
            assert!(postings.post(1, version(11, 1).into(), 0, owners, |of| of.generation == 299));
            assert_eq!(postings.find(1, |_, _| {}), 11);
        }
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
