//! An [`Arrival`] as it travels between a signer and the store: all of it but its source, hashes as plain bytes.
//!
//! What `sign` prints is for people and JavaScript; this is for a topic that carries every document.

use crate::document::{Kind, Span};
use crate::signature::frame::Frame;
use crate::signature::imatch::IMatch;
use crate::signature::lexicon::LexiconId;
use crate::signature::minhash::{MinHash, SLOTS};
use crate::signature::style::{BINS, Bins, Form, Sketch, Style};
use crate::signature::{LongSentence, Outcome, Signatures, View};
use crate::store::{Arrival, CoreSentences, Spelled};
use crate::text::grams::{self, Gram, Place};
use crate::verdict::event::Source;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use std::net::IpAddr;

/// An arrival without its source.
#[derive(Serialize, Deserialize)]
pub(super) struct Packed {
    pub(super) id: String,
    url: Option<String>,
    domain: Option<String>,
    canonical: Option<String>,
    ip: Option<IpAddr>,
    authenticated_domain: Option<String>,
    truncated: bool,
    signatures: PackedSignatures,
    places: Vec<PackedPlace>,
    n_text_bytes: u32,
    excerpt: String,
    unspaced: bool,
    spelled: Option<(String, Vec<u32>, Words)>,
}

#[derive(Serialize, Deserialize)]
struct PackedSignatures {
    scheme: u32,
    key_id: u64,
    kind: Kind,
    is_signed: bool,
    n_words: u32,
    n_core_words: u32,
    shown: PackedView,
    core: Option<PackedView>,
    full: Option<PackedView>,
    shingles: Option<Slots>,
    shown_shingles: Option<Slots>,
    little_core: Option<u64>,
    body: Option<u64>,
    imatch: Option<(u64, Vec<Option<u64>>, u32)>,
    grams: (Words, Vec<u32>),
    sentences: (Words, Vec<(u32, bool, u32)>),
    style: Option<(Option<PackedSketch>, Option<PackedSketch>)>,
    frame: Option<(u32, Bytes, Words)>,
    links: Words,
    link_domains: Words,
}

#[derive(Serialize, Deserialize)]
struct PackedView {
    digest: Option<u128>,
    terms: Words,
    minhash: Option<Slots>,
}

#[derive(Serialize, Deserialize)]
enum PackedSketch {
    Bins(u32, Bytes),
    Digest(u32, u128),
}

/// First, end, span, lead, trail.
type PackedPlace = (u32, u32, Span, (u16, u16), (u16, u16));

impl Packed {
    pub(super) fn of(arrival: Arrival) -> Self {
        let place = |place: Place| (place.first, place.end, place.span, place.lead, place.trail);
        let spelled = |spelled: Spelled| {
            let (ends, hashes) = spelled.terms.into_iter().unzip();
            (spelled.letters, ends, Words(hashes))
        };
        Self {
            id: arrival.id,
            url: arrival.url,
            domain: arrival.domain,
            canonical: arrival.canonical,
            ip: arrival.ip,
            authenticated_domain: arrival.authenticated_domain,
            truncated: arrival.truncated,
            signatures: PackedSignatures::of(arrival.signatures),
            places: arrival.places.into_iter().map(place).collect(),
            n_text_bytes: arrival.n_text_bytes,
            excerpt: arrival.excerpt,
            unspaced: arrival.unspaced,
            spelled: arrival.spelled.map(spelled),
        }
    }

    /// The arrival, of a record that was there.
    pub(super) fn unpacked(self, source: Source) -> Arrival {
        let place = |(first, end, span, lead, trail)| Place { first, end, span, lead, trail, echo: 0 };
        let spelled = |(letters, ends, hashes): (String, Vec<u32>, Words)| Spelled {
            letters,
            terms: ends.into_iter().zip(hashes.0).collect(),
        };
        let signatures = self.signatures.unpacked();
        let mut places: Vec<Place> = self.places.into_iter().map(place).collect();
        grams::mark_echoes(&signatures.grams, &mut places);
        Arrival {
            id: self.id,
            source,
            time_ms: None,
            url: self.url,
            domain: self.domain,
            canonical: self.canonical,
            ip: self.ip,
            authenticated_domain: self.authenticated_domain,
            truncated: self.truncated,
            core_sentences: CoreSentences::of(&signatures.sentences),
            signatures,
            places,
            n_text_bytes: self.n_text_bytes,
            excerpt: self.excerpt,
            unspaced: self.unspaced,
            spelled: self.spelled.map(spelled),
            papers: None,
        }
    }
}

impl PackedSignatures {
    fn of(signatures: Signatures) -> Self {
        let grams = signatures.grams.into_iter().map(|Gram { hash, position }| (hash, position));
        let (gram_hashes, gram_positions) = grams.unzip();
        let sentence = |LongSentence { hash, n_chars, core, position }| (hash, (n_chars, core, position));
        let (sentence_hashes, sentence_facts) = signatures.sentences.into_iter().map(sentence).unzip();
        let frame = |frame: Frame| (frame.n_items, Bytes(Box::new(*frame.slots())), Words(frame.stylesheets));
        let sketch = |sketch: Sketch| match sketch.form {
            Form::Bins(bins) => PackedSketch::Bins(sketch.n_parts, Bytes(Box::new(*bins.values()))),
            Form::Digest(digest) => PackedSketch::Digest(sketch.n_parts, digest),
        };
        Self {
            scheme: signatures.scheme,
            key_id: signatures.key_id,
            kind: signatures.kind,
            is_signed: signatures.outcome == Outcome::Signed,
            n_words: signatures.n_words,
            n_core_words: signatures.n_core_words,
            shown: PackedView::of(signatures.shown),
            core: signatures.core.map(PackedView::of),
            full: signatures.full.map(PackedView::of),
            shingles: signatures.shingles.map(Slots),
            shown_shingles: signatures.shown_shingles.map(Slots),
            little_core: signatures.little_core,
            body: signatures.body,
            imatch: signatures.imatch.map(|imatch| (imatch.lexicon.0, imatch.coordinates, imatch.n_terms)),
            grams: (Words(gram_hashes), gram_positions),
            sentences: (Words(sentence_hashes), sentence_facts),
            style: signatures.style.map(|style| (style.noise.map(sketch), style.tag_noise.map(sketch))),
            frame: signatures.frame.map(frame),
            links: Words(signatures.links),
            link_domains: Words(signatures.link_domains),
        }
    }

    fn unpacked(self) -> Signatures {
        let gram = |(hash, position)| Gram { hash, position };
        let sentence = |(hash, (n_chars, core, position))| LongSentence { hash, n_chars, core, position };
        let sketch = |packed| match packed {
            PackedSketch::Bins(n_parts, bins) => Sketch { n_parts, form: Form::Bins(Bins::from_values(bins.0)) },
            PackedSketch::Digest(n_parts, digest) => Sketch { n_parts, form: Form::Digest(digest) },
        };
        let imatch = |(lexicon, coordinates, n_terms)| IMatch { lexicon: LexiconId(lexicon), coordinates, n_terms };
        let frame =
            |(n_items, slots, stylesheets): (u32, Bytes, Words)| Frame::from_parts(n_items, slots.0, stylesheets.0);
        Signatures {
            scheme: self.scheme,
            key_id: self.key_id,
            kind: self.kind,
            outcome: if self.is_signed { Outcome::Signed } else { Outcome::Insufficient },
            n_words: self.n_words,
            n_core_words: self.n_core_words,
            shown: self.shown.unpacked(),
            core: self.core.map(PackedView::unpacked),
            full: self.full.map(PackedView::unpacked),
            shingles: self.shingles.map(|slots| slots.0),
            shown_shingles: self.shown_shingles.map(|slots| slots.0),
            little_core: self.little_core,
            body: self.body,
            imatch: self.imatch.map(imatch),
            grams: self.grams.0.0.into_iter().zip(self.grams.1).map(gram).collect(),
            sentences: self.sentences.0.0.into_iter().zip(self.sentences.1).map(sentence).collect(),
            style: self.style.map(|(noise, tags)| Style { noise: noise.map(sketch), tag_noise: tags.map(sketch) }),
            frame: self.frame.map(frame),
            links: self.links.0,
            link_domains: self.link_domains.0,
        }
    }
}

impl PackedView {
    fn of(view: View) -> Self {
        Self { digest: view.digest, terms: Words(view.terms), minhash: view.minhash.map(Slots) }
    }

    fn unpacked(self) -> View {
        View { digest: self.digest, terms: self.terms.ascending(), minhash: self.minhash.map(|slots| slots.0) }
    }
}

/// Hashes, eight bytes each: a variable length would take ten.
struct Words(Vec<u64>);

impl Words {
    /// As a signer has them, and whoever searches them relies on.
    fn ascending(self) -> Vec<u64> {
        let mut words = self.0;
        if !words.is_sorted_by(|a, b| a < b) {
            words.sort_unstable();
            words.dedup();
        }
        words
    }
}

impl Serialize for Words {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bytes: Vec<u8> = self.0.iter().flat_map(|word| word.to_le_bytes()).collect();
        serializer.serialize_bytes(&bytes)
    }
}

impl<'de> Deserialize<'de> for Words {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes: &[u8] = Deserialize::deserialize(deserializer)?;
        let (words, []) = bytes.as_chunks() else { return Err(D::Error::custom("a hash is cut off")) };
        Ok(Self(words.iter().map(|word| u64::from_le_bytes(*word)).collect()))
    }
}

/// The slots of a minhash, four bytes each.
struct Slots(MinHash);

impl Serialize for Slots {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bytes: Vec<u8> = self.0.slots().iter().flat_map(|slot| slot.to_le_bytes()).collect();
        serializer.serialize_bytes(&bytes)
    }
}

impl<'de> Deserialize<'de> for Slots {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes: &[u8] = Deserialize::deserialize(deserializer)?;
        let (slots, []) = bytes.as_chunks() else { return Err(D::Error::custom("a slot is cut off")) };
        let slots: Vec<u32> = slots.iter().map(|slot| u32::from_le_bytes(*slot)).collect();
        let slots: [u32; SLOTS] = slots.try_into().map_err(|_| D::Error::custom("a minhash has other slots"))?;
        Ok(Self(MinHash::from_slots(slots)))
    }
}

/// The bins of a style or frame.
struct Bytes(Box<[u8; BINS]>);

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&*self.0)
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes: &[u8] = Deserialize::deserialize(deserializer)?;
        let bins = bytes.try_into().map_err(|_| D::Error::custom("a sketch has other bins"))?;
        Ok(Self(Box::new(bins)))
    }
}
