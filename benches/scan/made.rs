//! Made documents that fill a store: random signatures in the numbers that real documents have.

use seamripper::document::{FrameItem, FramePart, Kind, Span};
use seamripper::signature::frame::Frame;
use seamripper::signature::imatch::IMatch;
use seamripper::signature::keyed::mix;
use seamripper::signature::lexicon::LexiconId;
use seamripper::signature::minhash::MinHash;
use seamripper::signature::{LongSentence, Outcome, SCHEME, Signatures, View};
use seamripper::store::{Arrival, CoreSentences};
use seamripper::text::grams::{Gram, Place};
use seamripper::verdict::event::Source;

/// What a store is filled with.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Made {
    /// Pages as the plan expects them: 70 grams, 14 long sentences, a frame that four of them share.
    Pages,
    /// Mails of a few lines.
    Short,
}

impl Made {
    /// The document of that number.
    pub(crate) fn document(self, number: u64) -> Arrival {
        let (n_terms, n_grams, n_sentences) = match self {
            Self::Pages => (150, 70, 14),
            Self::Short => (40, 12, 2),
        };
        let random = |of: u64, index: u64| mix(mix(number, of), index);
        let mut terms: Vec<u64> = (0..n_terms).map(|index| term(random(1, index))).collect();
        terms.sort_unstable();
        terms.dedup();
        let grams: Vec<Gram> =
            (0..n_grams).map(|index| Gram { hash: random(2, index), position: 4 * index as u32 }).collect();
        let places = grams.iter().map(|gram| Place {
            first: gram.position,
            end: gram.position + 5,
            span: Span { start: 6 * gram.position, end: 6 * gram.position + 29 },
            lead: (2, 12),
            trail: (2, 12),
            echo: 0,
        });
        let sentences = (0..n_sentences).map(|index| LongSentence {
            hash: random(3, index),
            n_chars: 60,
            core: true,
            position: 20 * index as u32,
        });
        let is_page = self == Self::Pages;
        let imatch = IMatch {
            lexicon: LexiconId(1),
            coordinates: (0..8).map(|copy| Some(random(4, copy))).collect(),
            n_terms: 20,
        };
        let signatures = Signatures {
            scheme: SCHEME,
            key_id: 1,
            kind: if is_page { Kind::Page } else { Kind::Email },
            outcome: Outcome::Signed,
            n_words: 5 * n_grams as u32,
            n_core_words: 4 * n_grams as u32,
            shown: View { digest: Some(random(5, 0).into()), minhash: MinHash::of(terms.iter().copied(), 3), terms },
            core: None,
            full: None,
            shingles: MinHash::of((0..n_grams).map(|index| random(6, index)), 3),
            shown_shingles: None,
            little_core: None,
            body: None,
            imatch: Some(imatch),
            grams: Vec::new(),
            sentences: sentences.collect(),
            style: None,
            frame: is_page.then(|| frame(number / 4)).flatten(),
            links: Vec::new(),
            link_domains: Vec::new(),
        };
        let id = format!("https://{}.example/a/page/{number}", number / 50);
        Arrival {
            url: is_page.then(|| id.clone()),
            domain: Some(format!("{}.example", number / 50)),
            source: Source { topic: "made".into(), offset: number as i64, ..Source::default() },
            time_ms: None,
            canonical: None,
            ip: None,
            authenticated_domain: None,
            truncated: false,
            places: places.collect(),
            core_sentences: CoreSentences::of(&signatures.sentences),
            n_text_bytes: 30 * n_grams as u32,
            excerpt: "x".repeat(240),
            unspaced: false,
            spelled: None,
            papers: None,
            signatures: Signatures { grams, ..signatures },
            id,
        }
    }
}

/// Words as they come: the frequent ones again and again, one in ten never seen before.
fn term(random: u64) -> u64 {
    if random.is_multiple_of(10) {
        return random;
    }
    let share = (random >> 11) as f64 / (1_u64 << 53) as f64;
    mix((100_000.0 * share.powi(4)) as u64, 77)
}

fn frame(number: u64) -> Option<Frame> {
    let item = |index: u64| FrameItem { part: FramePart::Attribute, hash: mix(mix(number, 7), index) };
    Frame::of(&(0..40).map(item).collect::<Vec<_>>(), 3, 1)
}
