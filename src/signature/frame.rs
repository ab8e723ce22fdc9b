//! The page frame: the weighted set of a page's stylesheets, scripts, meta names, attribute names and structural ids.
//!
//! Pages of one site and theme share their frame where their words and much of their noise differ. The set is sketched
//! in 128 densified bins of 8 bits; head items enter four times under different salts, for they say more about the
//! template than attribute names do. The stylesheets are kept beside it, since pages whose stylesheets disagree are of
//! different themes, however alike the rest.
//!
//! # Invariants
//! - A frame of too few items is none, so that two empty frames are never alike. (`too_few_items_are_no_frame`)
//! - The order of items does not count. (`order_does_not_count`)
//! - A head item weighs four attribute names. (`a_head_item_weighs_four`)

use super::{agreement::n_agreeing, hex, jaccard, keyed::mix, minhash::MinHash};
use crate::document::{FrameItem, FramePart};
use serde::{Serialize, Serializer};

/// Slots of a [`Frame`].
pub const SLOTS: usize = super::minhash::SLOTS;
/// How often a head item enters the set.
const HEAD_WEIGHT: u64 = 4;
/// Stylesheet sets that share less (Jaccard) veto the frame's similarity.
const STYLESHEETS_MIN: f64 = 0.5;
/// Bands and rows of [`Frame::bands`]: single slots are unselective as keys, 32 bands of 3 lose no recall at 0.65.
const BANDS: (usize, usize) = (32, 3);

/// The sketch of a page frame.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Frame {
    /// Items, by weight.
    pub n_items: u32,
    /// The 8-bit slots.
    #[serde(serialize_with = "slots")]
    slots: Box<[u8; SLOTS]>,
    /// The stylesheets, hashed, ascending.
    #[serde(serialize_with = "hex::words")]
    pub stylesheets: Vec<u64>,
}

fn slots<S: Serializer>(slots: &[u8; SLOTS], serializer: S) -> Result<S::Ok, S::Error> {
    hex::slots(slots.iter().map(|&slot| [slot]), serializer)
}

impl Frame {
    /// The frame of distinct `items`; `None` for less weight than `items_min`.
    pub fn of(items: &[FrameItem], key: u64, items_min: usize) -> Option<Self> {
        let n_items: u64 = items.iter().map(|item| weight(item.part)).sum();
        if n_items < items_min.max(1) as u64 {
            return None;
        }
        // Written down, since they are asked for in every round.
        let mut salted = Vec::with_capacity(HEAD_WEIGHT as usize * items.len());
        for item in items {
            salted.extend((0..weight(item.part)).map(|salt| mix(item.hash, salt)));
        }
        let minhash = MinHash::of(salted.iter().copied(), key)?;
        let mut stylesheets: Vec<u64> =
            items.iter().filter(|item| item.part == FramePart::Stylesheet).map(|item| item.hash).collect();
        stylesheets.sort_unstable();
        stylesheets.dedup();
        // A minimum is only small in its upper bits: the lower ones are as good as any hash.
        let slots = Box::new(minhash.slots().map(|slot| slot as u8));
        Some(Self { n_items: u32::try_from(n_items).unwrap_or(u32::MAX), slots, stylesheets })
    }

    /// One that was made elsewhere, by the same rules and key.
    pub fn from_parts(n_items: u32, slots: Box<[u8; SLOTS]>, stylesheets: Vec<u64>) -> Self {
        Self { n_items, slots, stylesheets }
    }

    /// The 8-bit slots.
    pub fn slots(&self) -> &[u8; SLOTS] {
        &self.slots
    }

    /// The estimate of the weighted Jaccard coefficient of two frames, less what agrees by chance (one slot in 256).
    pub fn similarity(&self, other: &Self) -> f64 {
        similarity(self.slots.as_slice(), other.slots.as_slice())
    }

    /// Whether the stylesheets leave room for one template: true unless both pages have some and share less than half.
    pub fn stylesheets_agree(&self, other: &Self) -> bool {
        self.stylesheets.is_empty()
            || other.stylesheets.is_empty()
            || jaccard(&self.stylesheets, &other.stylesheets) >= STYLESHEETS_MIN
    }

    /// The keys under which a store finds frames alike: 32 bands of 3 slots.
    pub fn bands(&self) -> impl Iterator<Item = u64> + '_ {
        bands(self.slots.as_slice())
    }
}

/// [`Frame::similarity`] of bare slots.
pub fn similarity(a: &[u8], b: &[u8]) -> f64 {
    let agreeing = n_agreeing(a, b, |_| true);
    ((f64::from(agreeing) / SLOTS as f64 * 256.0 - 1.0) / 255.0).max(0.0)
}

/// [`Frame::bands`] of bare slots.
pub fn bands(slots: &[u8]) -> impl Iterator<Item = u64> + '_ {
    let (bands, rows) = BANDS;
    slots
        .chunks_exact(rows)
        .take(bands)
        .zip(0_u64..)
        .map(|(slots, band)| mix(slots.iter().fold(band, |bytes, &slot| bytes << 8 | u64::from(slot)), BAND))
}

/// Keeps bands apart from every other use of the mixer; any odd number would do.
const BAND: u64 = 0xA24B_AED4_963E_E407;

fn weight(part: FramePart) -> u64 {
    match part {
        FramePart::Stylesheet | FramePart::Head => HEAD_WEIGHT,
        FramePart::Attribute | FramePart::Id => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(part: FramePart, names: std::ops::Range<u64>) -> Vec<FrameItem> {
        names.map(|name| FrameItem { part, hash: mix(name, part as u64 + 77) }).collect()
    }

    #[test]
    fn too_few_items_are_no_frame() {
        assert_eq!(Frame::of(&[], 1, 0), None);
        assert_eq!(Frame::of(&items(FramePart::Attribute, 0..11), 1, 12), None);
        assert_eq!(Frame::of(&items(FramePart::Head, 0..2), 1, 12), None);
        assert!(Frame::of(&items(FramePart::Head, 0..3), 1, 12).is_some());
    }

    #[test]
    fn order_does_not_count() {
        let mut forth = [items(FramePart::Stylesheet, 0..3), items(FramePart::Attribute, 0..50)].concat();
        let frame = Frame::of(&forth, 1, 12);
        forth.reverse();
        assert_eq!(Frame::of(&forth, 1, 12), frame);
    }

    #[test]
    fn a_head_item_weighs_four() {
        // Against 100 common attributes, 25 differing head items on each side leave 100 of 300.
        let page = |from| {
            let parts = [items(FramePart::Attribute, 0..100), items(FramePart::Head, from..from + 25)].concat();
            Frame::of(&parts, 1, 12).unwrap()
        };
        let (a, b) = (page(0), page(100));
        assert_eq!(a.n_items, 200);
        assert_eq!(a.similarity(&a), 1.0);
        assert!((a.similarity(&b) - 1.0 / 3.0).abs() < 0.12, "{}", a.similarity(&b));
    }

    #[test]
    fn stylesheets_veto_only_where_both_have_some() {
        let page = |sheets| {
            let parts = [items(FramePart::Attribute, 0..100), items(FramePart::Stylesheet, sheets)].concat();
            Frame::of(&parts, 1, 12).unwrap()
        };
        assert!(page(0..2).stylesheets_agree(&page(0..2)));
        assert!(page(0..2).stylesheets_agree(&page(0..4)), "half is enough");
        assert!(!page(0..2).stylesheets_agree(&page(0..5)));
        assert!(page(0..2).stylesheets_agree(&page(0..0)));
        assert!(page(0..0).stylesheets_agree(&page(0..0)));
    }

    #[test]
    fn frames_alike_share_bands() {
        let page = |ids| {
            let parts = [items(FramePart::Head, 0..20), items(FramePart::Id, ids)].concat();
            Frame::of(&parts, 1, 12).unwrap()
        };
        let (a, b, c) = (page(0..20), page(10..30), Frame::of(&items(FramePart::Head, 50..90), 1, 12).unwrap());
        let shared = |x: &Frame, y: &Frame| x.bands().zip(y.bands()).filter(|(x, y)| x == y).count();
        assert_eq!(shared(&a, &a), 32);
        assert!(shared(&a, &b) >= 4, "{}", shared(&a, &b));
        assert_eq!(shared(&a, &c), 0);
    }
}
