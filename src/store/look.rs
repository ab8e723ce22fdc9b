//! How a page looks: what style leaders are compared by.
//!
//! The page frame decides where both pages have one. Where one has none, or where the names of its assets were made up
//! for it alone, the noise inside its tags is left (hidden style similarity); a link by that alone is of lower
//! confidence and needs more of it.
//!
//! # Invariants
//! - Two pages without a look are not alike. (`nothing_is_not_alike`)
//! - Stylesheets that disagree veto the frame. (`stylesheets_veto_the_frame`)
//! - Frames that name no stylesheet are not enough beside noise that has nothing in common. (`bare_frames_need_noise`)
//! - Noise counts beside frames that have little in common, and not beside such as have nothing. (`noise_speaks_where_frames_cannot`,
//!   `noise_alone_is_something_that_both_show`)

use super::memory::LINE_BYTES;
use super::prefetch::prefetch;
use crate::config::TemplateSettings;
use crate::signature::agreement::n_agreeing;
use crate::signature::keyed::mix;
use crate::signature::style::{BINS, Form};
use crate::signature::{Signatures, frame};
use serde::{Deserialize, Serialize};

/// Stylesheets that are kept; of more, those with the smallest hashes.
const STYLESHEETS_MAX: usize = 8;
/// Pairs of bins that are keys: a page of style similarity 0.2 shares one with probability 0.93, of 0.3 with 0.998.
pub(super) const STYLE_PAIRS: usize = 64;

/// How a page looks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Look {
    frame: Option<Bytes>,
    stylesheets: [u32; STYLESHEETS_MAX],
    n_stylesheets: u8,
    noise: Noise,
}

/// 128 slots or bins of a byte.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Bytes(Box<[u8]>);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Noise {
    None,
    Bins(Bytes),
    Digest(u64),
}

/// How alike two pages look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Resemblance {
    /// Of their frames, 0 where one has none.
    pub frame: f64,
    /// Of the noise inside their tags, by the share of all bins.
    pub style: f64,
    /// Bins of that noise that agree.
    pub bins: u32,
    /// What the nearest leader is chosen by: the frame's, or where that cannot be the style's. 0 for pages that are not of
    /// one template.
    pub score: f64,
}

impl Look {
    /// How a page looks; `None` for one without frame and noise.
    pub(super) fn of(signatures: &Signatures) -> Option<Self> {
        let mut look = Self { frame: None, stylesheets: [0; STYLESHEETS_MAX], n_stylesheets: 0, noise: Noise::None };
        if let Some(frame) = &signatures.frame {
            look.frame = Some(Bytes(frame.slots().as_slice().into()));
            for (kept, sheet) in look.stylesheets.iter_mut().zip(&frame.stylesheets) {
                *kept = (sheet >> 32) as u32;
                look.n_stylesheets += 1;
            }
        }
        look.noise = match signatures.style.as_ref().and_then(|style| style.tag_noise.as_ref()).map(|noise| &noise.form)
        {
            Some(Form::Bins(bins)) => Noise::Bins(Bytes(bins.values().as_slice().into())),
            Some(Form::Digest(digest)) => Noise::Digest(*digest as u64),
            None => Noise::None,
        };
        (look.frame.is_some() || look.noise != Noise::None).then_some(look)
    }

    /// The keys of its frame.
    pub(super) fn frame_keys(&self, salt: u64, mut with: impl FnMut(u64)) {
        if let Some(Bytes(slots)) = &self.frame {
            frame::bands(slots).for_each(|band| with(mix(band ^ salt, FRAME)));
        }
    }

    /// The keys of its noise: pairs of bins.
    pub(super) fn style_keys(&self, salt: u64, mut with: impl FnMut(u64)) {
        match &self.noise {
            Noise::Bins(Bytes(bins)) => {
                for (pair, values) in (0_u64..).zip(bins.as_chunks::<2>().0).step_by(BINS / 2 / STYLE_PAIRS) {
                    if values[0] != 0 && values[1] != 0 {
                        let value = pair << 16 | u64::from(values[0]) << 8 | u64::from(values[1]);
                        with(mix(mix(value, salt), STYLE));
                    }
                }
            }
            Noise::Digest(digest) => with(mix(digest ^ salt, STYLE)),
            Noise::None => {}
        }
    }

    /// Asks for what it is compared by.
    pub(super) fn prefetch(&self) {
        let noise = if let Noise::Bins(bins) = &self.noise { Some(bins) } else { None };
        for Bytes(bytes) in self.frame.iter().chain(noise) {
            bytes.iter().step_by(LINE_BYTES).for_each(prefetch);
        }
    }

    /// How alike two pages look.
    pub(super) fn resemblance(&self, other: &Self, settings: &TemplateSettings) -> Resemblance {
        let frame = match (&self.frame, &other.frame) {
            (Some(Bytes(a)), Some(Bytes(b))) => Some(frame::similarity(a, b)),
            _ => None,
        };
        let (style, bins) = match (&self.noise, &other.noise) {
            (Noise::Bins(Bytes(a)), Noise::Bins(Bytes(b))) => {
                let matching = n_agreeing(a, b, |bin| bin != 0);
                (f64::from(matching) / BINS as f64, matching)
            }
            (Noise::Digest(a), Noise::Digest(b)) if a == b => (1.0, BINS as u32),
            _ => (0.0, 0),
        };
        let score = match frame {
            Some(frame)
                if frame >= settings.frame_min
                    && self.stylesheets_agree(other)
                    && (self.names_stylesheets(other) || self.noise_agrees(other, bins, settings)) =>
            {
                frame
            }
            // Pages that share a stylesheet have not made up the names: then their frames have the last word.
            Some(frame)
                if self.n_common_stylesheets(other) == 0
                    && bins >= settings.bins_alone_min
                    && frame >= settings.frame_beside_min =>
            {
                style
            }
            None if bins >= settings.bins_min => style,
            _ => 0.0,
        };
        Resemblance { frame: frame.unwrap_or(0.0), style, bins, score }
    }

    fn stylesheets_agree(&self, other: &Self) -> bool {
        let n_common = self.n_common_stylesheets(other);
        let (a, b) = (usize::from(self.n_stylesheets), usize::from(other.n_stylesheets));
        a == 0 || b == 0 || 2 * n_common >= a + b - n_common
    }

    /// Whether one of them names a stylesheet. Otherwise their frames are tags and attributes alone.
    fn names_stylesheets(&self, other: &Self) -> bool {
        self.n_stylesheets > 0 || other.n_stylesheets > 0
    }

    /// Whether enough `bins` agree beside such frames; who has too little noise for bins is not asked.
    fn noise_agrees(&self, other: &Self, bins: u32, settings: &TemplateSettings) -> bool {
        let has_bins = |look: &Self| matches!(look.noise, Noise::Bins(_));
        bins >= settings.bins_beside_min || !has_bins(self) || !has_bins(other)
    }

    fn n_common_stylesheets(&self, other: &Self) -> usize {
        let (a, b) = (&self.stylesheets[..self.n_stylesheets.into()], &other.stylesheets[..other.n_stylesheets.into()]);
        a.iter().filter(|sheet| b.contains(sheet)).count()
    }

    /// Whether it has as many slots and bins as a look has.
    pub(super) fn is_sound(&self) -> bool {
        let is_whole = |bytes: &Bytes| bytes.0.len() == BINS;
        let noise = match &self.noise {
            Noise::Bins(bins) => is_whole(bins),
            Noise::Digest(_) | Noise::None => true,
        };
        self.frame.as_ref().is_none_or(is_whole) && noise && usize::from(self.n_stylesheets) <= STYLESHEETS_MAX
    }

    /// Bytes on the heap, at most.
    pub(super) const HEAP_BYTES: usize = 2 * (BINS + 16);
}

const FRAME: u64 = 0x8CB9_2BA7_2F3D_8DD7;
const STYLE: u64 = 0xAAAA_5C1D_9E37_79B9;

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::config::Settings;

    /// A look whose frame differs from that of `from` 0 in the first `from` slots.
    pub(in crate::store) fn frame(from: usize) -> Look {
        let slots: Vec<u8> = (0..BINS)
            .map(|slot| (1 + (slot + BINS * (from / BINS) + if slot < from % BINS { 77 } else { 0 }) % 250) as u8)
            .collect();
        Look {
            frame: Some(Bytes(slots.into())),
            stylesheets: [0; STYLESHEETS_MAX],
            n_stylesheets: 0,
            noise: Noise::None,
        }
    }

    /// A look with one value in all slots of its frame, and one in all bins of its noise; 0 bins are no noise.
    pub(in crate::store) fn look(frame: Option<u8>, sheets: &[u32], bins: u8) -> Look {
        let mut stylesheets = [0; STYLESHEETS_MAX];
        stylesheets[..sheets.len()].copy_from_slice(sheets);
        let bytes = |value: u8| Bytes(vec![value; BINS].into());
        let noise = if bins == 0 { Noise::None } else { Noise::Bins(bytes(bins)) };
        Look { frame: frame.map(bytes), stylesheets, n_stylesheets: sheets.len() as u8, noise }
    }

    fn score(a: &Look, b: &Look) -> f64 {
        let settings = Settings::default().template;
        assert_eq!(a.resemblance(b, &settings), b.resemblance(a, &settings));
        a.resemblance(b, &settings).score
    }

    #[test]
    fn nothing_is_not_alike() {
        assert_eq!(score(&look(None, &[], 0), &look(None, &[], 0)), 0.0);
        assert_eq!(score(&look(Some(1), &[], 0), &look(None, &[], 0)), 0.0);
    }

    #[test]
    fn stylesheets_veto_the_frame() {
        assert_eq!(score(&look(Some(1), &[1, 2], 0), &look(Some(1), &[1, 2], 0)), 1.0);
        assert_eq!(score(&look(Some(1), &[1, 2], 0), &look(Some(1), &[], 0)), 1.0);
        assert_eq!(score(&look(Some(1), &[1, 2], 0), &look(Some(1), &[1, 3], 0)), 0.0);
    }

    #[test]
    fn noise_speaks_where_frames_cannot() {
        assert_eq!(score(&look(None, &[], 7), &look(None, &[], 7)), 1.0);
        // Half of the frames is other names.
        let made_up =
            |from: usize, sheet: u32, bins: u8| Look { frame: frame(from).frame, ..look(None, &[sheet], bins) };
        assert_eq!(score(&made_up(0, 1, 7), &made_up(64, 2, 7)), 1.0);
        assert_eq!(score(&made_up(0, 1, 7), &made_up(64, 2, 8)), 0.0);
    }

    #[test]
    fn bare_frames_need_noise() {
        let bare = |bins: u8| look(Some(1), &[], bins);
        assert_eq!(score(&bare(7), &bare(7)), 1.0);
        assert_eq!(score(&bare(7), &bare(8)), 0.0);
        assert_eq!(score(&look(Some(1), &[1], 7), &bare(8)), 1.0);
        assert_eq!(score(&Look { noise: Noise::None, ..bare(7) }, &bare(8)), 1.0);
    }

    #[test]
    fn noise_alone_is_something_that_both_show() {
        assert_eq!(score(&look(Some(1), &[1], 7), &look(Some(2), &[2], 7)), 0.0);
    }
}
