//! The keys of one document in settle: what suggests whose copy it is, and whose style it has.

use super::look::Look;
use super::{Arrival, salt};
use crate::config::MirrorSettings;
use crate::document::Kind;
use crate::signature::keyed::mix;
use crate::signature::{Outcome, Signatures};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Keys of one document in settle.
pub(super) struct SettleKeys {
    pub(super) id: u64,
    /// That of all that is shown first.
    pub(super) digests: Vec<u64>,
    pub(super) imatch: Vec<u64>,
    pub(super) minhash: Vec<u64>,
    pub(super) look: Option<Look>,
    pub(super) frames: Vec<u64>,
    pub(super) styles: Vec<u64>,
}

impl SettleKeys {
    /// The keys of `arrival`.
    pub(super) fn of(arrival: &Arrival, mirror: &MirrorSettings, cross_kinds: bool) -> Self {
        let signatures = &arrival.signatures;
        let salt = salt(signatures.kind, cross_kinds);
        let look = look(signatures);
        let mut keys = Self {
            id: id_key(&arrival.id, signatures.kind),
            digests: Vec::with_capacity(4),
            imatch: Vec::with_capacity(signatures.imatch.as_ref().map_or(0, |imatch| imatch.coordinates.len())),
            minhash: Vec::with_capacity(mirror.page_bands.get() + 3 * mirror.bands.get()),
            look: None,
            frames: Vec::with_capacity(KEYS_OF_A_LOOK),
            styles: Vec::with_capacity(KEYS_OF_A_LOOK),
        };
        let views = [Some(&signatures.shown), signatures.core.as_ref(), signatures.full.as_ref()];
        for view in views.into_iter().flatten() {
            keys.digests.extend(view.digest.map(|digest| mix(digest as u64 ^ salt, TEXT)));
        }
        keys.digests.extend(signatures.body.map(|body| mix(body ^ salt, TEXT)));
        let shingles = signatures.shown_shingles.as_ref().or(signatures.shingles.as_ref());
        // Pages are compared by their shingles, and found by them: terms of one trade are shared by too many.
        let shingles = shingles.filter(|_| signatures.kind == Kind::Page);
        if let Some(shingles) = shingles {
            let bands = shingles.bands(mirror.page_bands.get(), mirror.page_rows.get());
            keys.minhash.extend(bands.map(|band| mix(band ^ salt, TEXT)));
        }
        if shingles.is_none() || cross_kinds {
            for minhash in views.into_iter().flatten().filter_map(|view| view.minhash.as_ref()) {
                let bands = minhash.bands(mirror.bands.get(), mirror.rows.get());
                keys.minhash.extend(bands.map(|band| mix(band ^ salt, TEXT)));
            }
        }
        if let Some(imatch) = &signatures.imatch {
            let coordinates = imatch.coordinates.iter().zip(0_u64..);
            keys.imatch.extend(coordinates.filter_map(|(coordinate, copy)| {
                coordinate.map(|bits| mix(mix(bits ^ salt, copy ^ imatch.lexicon.0), TEXT))
            }));
        }
        if let Some(look) = &look {
            look.frame_keys(salt, |key| keys.frames.push(key));
            look.style_keys(salt, |key| keys.styles.push(key));
        }
        keys.look = look;
        keys
    }
}

/// Room for the keys of a frame, and for those of a style: most have about as many.
const KEYS_OF_A_LOOK: usize = 32;

pub(super) fn id_key(id: &str, kind: Kind) -> u64 {
    xxh3_64_with_seed(id.as_bytes(), kind as u64)
}

/// A page too short to judge by its text can still be of a template; a mail of one line is nothing.
fn look(signatures: &Signatures) -> Option<Look> {
    let is_nothing = signatures.kind == Kind::Email && signatures.outcome == Outcome::Insufficient;
    if is_nothing { None } else { Look::of(signatures) }
}

/// Keeps keys of texts apart from every other use of the mixer; any odd number would do.
const TEXT: u64 = 0xD6E8_FEB8_6659_FD93;
