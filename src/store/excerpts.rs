//! The beginning of each stored document's text, for people who ask when its record is gone.
//!
//! Nothing is decided by it. So it has memory of its own, a row for each slot of a prototype, beside what `store.memory` divides:
//! whatever is kept of texts, the other tables have the same sizes, the same documents give way, and the same verdicts are given
//! (`excerpts_decide_nothing`). What is kept can be changed at any start; what was kept under another rule is brought under the present one
//! ([`Excerpts::under`]).
//!
//! A row is whole cache lines: length (u16), kind (u8, 0 where there is none), a byte of nothing, bytes of the whole text (u32), the
//! beginning itself. What goes is overwritten with zeros, which no snapshot writes.
//!
//! # Invariants
//! - A row is what was put there last, cut at a character, or none. (`rows_come_back_as_put`)
//! - What was cleared has left no byte. (`what_is_cleared_has_left_no_byte`, `tests/promises/http/texts.rs`)
//! - Under a stricter rule nothing is left that it forbids. (`a_stricter_rule_holds_for_what_was_kept`)

use super::Damaged;
use super::memory::LINE_BYTES;
use super::prefetch::prefetch;
use super::region::Region;
use super::watch::Table;
use crate::config::Settings;
use crate::document::{Kind, excerpt};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// No rule keeps more bytes of a text: `config` refuses it.
const BYTES_CEILING: usize = 4096;
/// Bytes of a row before the text.
const HEAD_BYTES: usize = 8;

/// What is kept of texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExcerptRule {
    /// So many bytes of the beginning of each.
    bytes_max: u32,
    /// Of mails too.
    emails: bool,
}

impl ExcerptRule {
    /// Nothing.
    pub(super) const NONE: Self = Self { bytes_max: 0, emails: false };

    /// The one of the settings.
    pub fn of(settings: &Settings) -> Self {
        Self { bytes_max: settings.texts.excerpt_bytes as u32, emails: settings.texts.excerpt_emails }
    }

    /// What is kept of a text.
    pub fn kept(self, kind: Kind, text: &str) -> &str {
        if kind == Kind::Email && !self.emails { "" } else { excerpt::of(text, self.bytes_max as usize) }
    }

    /// Whether it keeps something of documents of this kind.
    pub fn keeps(self, kind: Kind) -> bool {
        self.bytes_max > 0 && (kind == Kind::Page || self.emails)
    }

    /// Bytes of a row.
    pub(super) fn row_bytes(self) -> usize {
        if self.bytes_max == 0 { 0 } else { (HEAD_BYTES + self.bytes_max as usize).next_multiple_of(LINE_BYTES) }
    }
}

/// The beginning of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// Page or mail.
    pub kind: Kind,
    /// The beginning.
    pub text: String,
    /// Bytes of the whole text.
    pub n_bytes: usize,
}

/// The beginnings of texts, by the slots of prototypes.
pub(super) struct Excerpts {
    rule: ExcerptRule,
    n_slots: usize,
    memory: Region,
}

impl Excerpts {
    /// None yet, for so many slots.
    pub(super) fn new(n_slots: usize, rule: ExcerptRule) -> Self {
        Self { rule, n_slots, memory: Region::new(n_slots * rule.row_bytes() / LINE_BYTES) }
    }

    pub(super) fn rule(&self) -> ExcerptRule {
        self.rule
    }

    /// What is kept of the document in `slot`.
    pub(super) fn get(&self, slot: u32) -> Option<Excerpt> {
        self.read(slot).ok().flatten()
    }

    /// Keeps what the rule says of a text of `n_bytes` that begins with `text`, in place of what was there.
    pub(super) fn put(&mut self, slot: u32, kind: Kind, text: &str, n_bytes: u32) {
        self.clear(slot);
        let text = self.rule.kept(kind, text);
        if text.is_empty() {
            return;
        }
        let start = self.row(slot).start;
        let row = self.memory.bytes_mut(start..start + HEAD_BYTES + text.len());
        row[..2].copy_from_slice(&(text.len() as u16).to_le_bytes());
        row[2] = mark(kind);
        row[4..HEAD_BYTES].copy_from_slice(&n_bytes.to_le_bytes());
        row[HEAD_BYTES..].copy_from_slice(text.as_bytes());
    }

    /// Asks for the row of `slot`.
    pub(super) fn prefetch(&self, slot: u32) {
        self.memory.lines()[self.row(slot).start / LINE_BYTES..self.row(slot).end / LINE_BYTES]
            .iter()
            .for_each(prefetch);
    }

    /// Forgets what was kept.
    pub(super) fn clear(&mut self, slot: u32) {
        let row = self.row(slot);
        // Writing zeros would make untouched pages resident, and looking at more than the head would read them.
        if self.memory.bytes()[row.clone()].iter().take(HEAD_BYTES).any(|byte| *byte != 0) {
            self.memory.bytes_mut(row).fill(0);
        }
    }

    /// The same under another rule: cut, or left out, where that keeps less.
    pub(super) fn under(self, rule: ExcerptRule) -> Self {
        if rule == self.rule {
            return self;
        }
        let mut new = Self::new(self.n_slots, rule);
        for slot in 0..self.n_slots as u32 {
            if let Some(Excerpt { kind, text, n_bytes }) = self.get(slot) {
                new.put(slot, kind, &text, n_bytes as u32);
            }
        }
        new
    }

    pub(super) fn table(&mut self) -> &mut dyn Table {
        &mut self.memory
    }

    /// Empties it for rows that were written under `rule` and are read next.
    pub(super) fn expect(&mut self, rule: ExcerptRule) -> Result<(), Damaged> {
        if rule.bytes_max as usize > BYTES_CEILING {
            return Err(Damaged::of("excerpts are longer than any rule keeps"));
        }
        *self = Self::new(self.n_slots, rule);
        Ok(())
    }

    /// Looks whether what was read makes sense.
    pub(super) fn check(&self) -> Result<(), Damaged> {
        (0..self.n_slots as u32).try_for_each(|slot| self.read(slot).map(drop))
    }

    fn row(&self, slot: u32) -> Range<usize> {
        let n = self.rule.row_bytes();
        slot as usize * n..(slot as usize + 1) * n
    }

    fn read(&self, slot: u32) -> Result<Option<Excerpt>, Damaged> {
        const UNREADABLE: Damaged = Damaged::of("an excerpt is unreadable");
        let Some((head, rest)) = self.memory.bytes()[self.row(slot)].split_first_chunk::<HEAD_BYTES>() else {
            return Ok(None);
        };
        let &[low, high, mark_of_kind, _, a, b, c, d] = head;
        if *head == [0; HEAD_BYTES] {
            return Ok(None);
        }
        let kind = [Kind::Page, Kind::Email].into_iter().find(|kind| mark(*kind) == mark_of_kind).ok_or(UNREADABLE)?;
        let text = rest.get(..usize::from(u16::from_le_bytes([low, high]))).ok_or(UNREADABLE)?;
        let text = std::str::from_utf8(text).map_err(|_| UNREADABLE)?.to_owned();
        Ok(Some(Excerpt { kind, text, n_bytes: u32::from_le_bytes([a, b, c, d]) as usize }))
    }
}

fn mark(kind: Kind) -> u8 {
    match kind {
        Kind::Page => 1,
        Kind::Email => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::super::snapshot::tests::copied;
    use super::*;
    use proptest::prelude::*;

    const RULE: ExcerptRule = ExcerptRule { bytes_max: 240, emails: true };

    #[test]
    fn rows_are_whole_lines() {
        let bytes = |bytes_max: u32| ExcerptRule { bytes_max, ..RULE }.row_bytes();
        assert_eq!([0, 1, 56, 57, 240, 248, 249, 4096].map(bytes), [0, 64, 64, 128, 256, 256, 320, 4160]);
    }

    #[test]
    fn what_is_cleared_has_left_no_byte() {
        let mut excerpts = Excerpts::new(9, RULE);
        excerpts.put(4, Kind::Email, "something private", 17);
        excerpts.put(4, Kind::Page, "short", 5);
        let written: Vec<u8> = excerpts.memory.bytes().iter().copied().filter(|byte| *byte != 0).collect();
        assert_eq!(written, b"\x05\x01\x05short", "of what was there before nothing is left either");
        excerpts.clear(4);
        assert!(excerpts.memory.bytes().iter().all(|byte| *byte == 0));
    }

    #[test]
    fn a_stricter_rule_holds_for_what_was_kept() {
        let mut excerpts = Excerpts::new(3, RULE);
        excerpts.put(0, Kind::Page, "éé of a page", 1000);
        excerpts.put(2, Kind::Email, "of a mail", 9);
        let stricter = excerpts.under(ExcerptRule { bytes_max: 3, emails: false });
        let cut = Excerpt { kind: Kind::Page, text: "é".into(), n_bytes: 1000 };
        assert_eq!((stricter.get(0), stricter.get(2)), (Some(cut.clone()), None));
        let wider = stricter.under(RULE);
        assert_eq!((wider.get(0), wider.get(2)), (Some(cut), None), "what is gone does not come back");
        let none = wider.under(ExcerptRule::NONE);
        assert_eq!((none.get(0), none.memory.bytes().len()), (None, LINE_BYTES));
    }

    #[test]
    fn damage_is_refused() {
        let damaged = |at: usize, byte: u8| {
            let mut excerpts = Excerpts::new(2, RULE);
            excerpts.put(1, Kind::Page, "a text", 6);
            excerpts.check().unwrap();
            excerpts.memory.bytes_mut(256 + at..257 + at)[0] = byte;
            excerpts.check().is_err()
        };
        assert!(damaged(0, 249) && damaged(2, 3) && damaged(2, 0) && damaged(8, 0xFF));
        assert!(!damaged(0, 248) && !damaged(4, 99));
        let too_long = ExcerptRule { bytes_max: 4097, emails: true };
        assert!(Excerpts::new(2, RULE).expect(too_long).is_err());
    }

    proptest! {
        /// Against a list of strings, saved and loaded on the way.
        #[test]
        fn rows_come_back_as_put(
            bytes_max in 0_u32..300,
            emails: bool,
            steps in prop::collection::vec((0_u32..7, any::<bool>(), "[aé漢🧵]{0,120}", any::<u8>()), 1..40),
        ) {
            let rule = ExcerptRule { bytes_max, emails };
            let mut excerpts = Excerpts::new(7, rule);
            let mut naive = vec![None; 7];
            for (slot, is_page, text, what) in steps {
                let kind = if is_page { Kind::Page } else { Kind::Email };
                if what < 50 {
                    excerpts.clear(slot);
                    naive[slot as usize] = None;
                } else {
                    excerpts.put(slot, kind, &text, 7777);
                    let mut kept = String::new();
                    for character in text.chars().filter(|_| is_page || emails) {
                        if kept.len() + character.len_utf8() > bytes_max as usize {
                            break;
                        }
                        kept.push(character);
                    }
                    let kept = Some(kept).filter(|kept| !kept.is_empty());
                    naive[slot as usize] = kept.map(|text| Excerpt { kind, text, n_bytes: 7777 });
                }
                if what.is_multiple_of(5) {
                    let mut loaded = Excerpts::new(7, RULE);
                    loaded.expect(excerpts.rule()).unwrap();
                    copied(excerpts.table(), loaded.table()).unwrap();
                    loaded.check().unwrap();
                    excerpts = loaded;
                }
                prop_assert_eq!((0..7).map(|slot| excerpts.get(slot)).collect::<Vec<_>>(), naive.clone());
            }
        }
    }
}
