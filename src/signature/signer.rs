//! The one way from a text to its [`Signatures`].
//!
//! A text is signed in three views: what is shown, its core, and the shown together with the hidden. Each is a bag of
//! terms with a digest; what costs more (shingles, I-Match, grams) is made of the core alone.
//!
//! # Invariants
//! - The same document and settings give the same signatures, whatever was signed before.
//!   (`a_used_signer_signs_as_a_new_one`)
//! - Too few distinct terms give no digest, minhash or grams. (`empty_documents_have_no_signature`)
//! - Settings that decide signatures change the key id, others do not. (`the_key_id_names_what_decides`)

use super::frame::Frame;
use super::imatch::{Lexicons, Matcher};
use super::keyed::{Keys, mix};
use super::minhash::MinHash;
use super::style::{Sketcher, Style};
use super::terms::Distinct;
use super::{LongSentence, Outcome, SCHEME, Signatures, View};
use crate::config::{
    ContentSettings, GramSettings, ImatchSettings, MinhashSettings, Settings, StyleSettings, TextSettings,
};
use crate::document::identity::registered_domain;
use crate::document::{Document, Kind};
use crate::text::words::{Traits, Words, terms};
use crate::text::{Text, grams};
use std::sync::Arc;
use xxhash_rust::xxh3::{xxh3_64_with_seed, xxh3_128_with_seed};

/// Signs texts; keeps its buffers.
pub struct Signer {
    keys: Keys,
    key_id: u64,
    settings: Settings,
    matcher: Matcher,
    noise: Sketcher,
    tag_noise: Sketcher,
    distinct: Distinct,
    terms: Vec<u64>,
    units: Vec<u64>,
    bytes: Vec<u8>,
    grams: Vec<grams::Gram>,
}

impl Signer {
    /// A signer with the lexicons that the settings name (`pipeline::lexicon::load`).
    pub fn new(settings: &Settings, lexicons: Arc<Lexicons>) -> Self {
        let keys = Keys::derive(settings.secret.reveal());
        Self {
            keys,
            key_id: key_id(&keys, settings, &lexicons),
            settings: settings.clone(),
            matcher: Matcher::new(lexicons),
            noise: Sketcher::new(keys.noise, settings.style.parts_min),
            tag_noise: Sketcher::new(keys.tag_noise, settings.style.parts_min),
            distinct: Distinct::default(),
            terms: Vec::new(),
            units: Vec::new(),
            bytes: Vec::new(),
            grams: Vec::new(),
        }
    }

    /// What [`Signatures::links`] holds for `url`, which is absolute and normalised.
    pub fn link(&self, url: &str) -> u64 {
        xxh3_64_with_seed(url.as_bytes(), self.keys.link)
    }

    /// The signatures of a document and its text.
    pub fn sign(&mut self, document: &Document, text: &Text) -> Signatures {
        let words = &text.words;
        let n_core = words.traits.iter().filter(|traits| traits.has(Traits::CORE)).count();

        self.units.clear();
        self.units.extend_from_slice(&words.hashes);
        let shown = self.view(words, Traits::default(), None);
        let sentences = self.sentences(text);
        let full = (!text.hidden.is_empty()).then(|| {
            self.units.extend_from_slice(&text.hidden.hashes);
            self.view(words, Traits::default(), Some(&text.hidden))
        });
        let core = (n_core < words.len()).then(|| {
            self.units.clear();
            let core = words.hashes.iter().zip(&words.traits).filter(|(_, traits)| traits.has(Traits::CORE));
            self.units.extend(core.map(|(hash, _)| hash));
            self.view(words, Traits::CORE, None)
        });
        if core.is_none() {
            self.units.truncate(words.len());
        }

        let judged = core.as_ref().unwrap_or(&shown);
        let is_enough = judged.terms.len() >= self.settings.text.terms_min;
        let imatch = if is_enough { self.matcher.sign(&judged.terms, document.kind, text.is_unspaced()) } else { None };
        let outcome = match shown.minhash {
            Some(_) => Outcome::Signed,
            None => Outcome::Insufficient,
        };
        let (links, link_domains) = self.links(document);
        Signatures {
            scheme: SCHEME,
            key_id: self.key_id,
            kind: document.kind,
            outcome,
            n_words: words.len() as u32,
            n_core_words: n_core as u32,
            shingles: if is_enough { self.shingles(document.kind, text.is_unspaced()) } else { None },
            imatch,
            grams: if is_enough { self.grams(words) } else { Vec::new() },
            sentences: if outcome == Outcome::Signed { sentences } else { Vec::new() },
            style: self.style(document),
            frame: Frame::of(&document.markup.frame, self.keys.frame, self.settings.style.frame_items_min),
            shown,
            core,
            full,
            links,
            link_domains,
        }
    }

    /// The view whose units lie in `self.units`, and whose terms are those of `words` (and of `further`).
    fn view(&mut self, words: &Words, wanted: Traits, further: Option<&Words>) -> View {
        self.terms.clear();
        terms(words, wanted, |term| self.terms.push(term));
        if let Some(further) = further {
            terms(further, wanted, |term| self.terms.push(term));
        }
        self.bytes.clear();
        self.bytes.extend(self.units.iter().flat_map(|unit| unit.to_le_bytes()));
        let terms = self.distinct.of(&mut self.terms);
        if terms.len() < self.settings.text.terms_min.max(1) {
            return View { digest: None, terms, minhash: None };
        }
        let minhash = MinHash::of(terms.iter().copied(), self.keys.terms);
        View { digest: Some(xxh3_128_with_seed(&self.bytes, self.keys.digest)), terms, minhash }
    }

    /// Minhash over the shingles of `self.units`.
    fn shingles(&self, kind: Kind, is_unspaced: bool) -> Option<MinHash> {
        let settings = &self.settings.minhash;
        let size = match (is_unspaced, kind) {
            (true, _) => settings.shingle_characters,
            (false, Kind::Page) => settings.page_shingle_words,
            (false, Kind::Email) => settings.mail_shingle_words,
        };
        let whole = |shingle: &[u64]| shingle.iter().fold(0, |hash, &unit| mix(hash ^ unit, self.keys.shingles));
        MinHash::of(self.units.windows(size.get()).map(whole), self.keys.shingles)
    }

    /// The grams of `words`, winnowed.
    fn grams(&mut self, words: &Words) -> Vec<grams::Gram> {
        let mut found = Vec::new();
        grams::cut(words, Traits::CORE, self.keys.gram, self.settings.grams.window.get(), &mut self.grams, &mut found);
        found
    }

    /// The long sentences of a text whose units lie in `self.bytes`. One of masked tokens alone is left out: it would
    /// equal any other such.
    fn sentences(&self, text: &Text) -> Vec<LongSentence> {
        let mut found = Vec::new();
        for sentence in &text.sentences {
            let (first, end) = (sentence.first_word as usize, sentence.end_word as usize);
            if (sentence.n_chars as usize) < self.settings.text.sentence_chars_min
                || text.words.traits[first..end].iter().all(|traits| traits.has(Traits::MASKED))
            {
                continue;
            }
            let hash = xxh3_64_with_seed(&self.bytes[8 * first..8 * end], self.keys.sentence);
            let (n_chars, core, position) = (sentence.n_chars, sentence.core, sentence.first_word);
            found.push(LongSentence { hash, n_chars, core, position });
        }
        found
    }

    /// The style of a document, if it has markup.
    fn style(&mut self, document: &Document) -> Option<Style> {
        let noise = self.noise.sketch(&document.markup.noise);
        let tag_noise = self.tag_noise.sketch(&document.markup.tag_noise);
        (noise.is_some() || tag_noise.is_some()).then_some(Style { noise, tag_noise })
    }

    /// The distinct links of a page and the registered domains they lead to, hashed.
    fn links(&mut self, document: &Document) -> (Vec<u64>, Vec<u64>) {
        if document.kind != Kind::Page || document.links.anchors.is_empty() {
            return (Vec::new(), Vec::new());
        }
        let key = self.keys.link;
        let (mut links, mut domains) = (Vec::with_capacity(document.links.anchors.len()), Vec::new());
        let mut last = String::new();
        document.links.resolve(document.identity.url.as_deref(), |_, url| {
            links.push(xxh3_64_with_seed(url.as_bytes(), key));
            let host = host(url);
            // Most links of a page lead to the same few hosts, one after the other.
            if host != last {
                last.clear();
                last.push_str(host);
                domains.extend(registered_domain(host).map(|domain| xxh3_64_with_seed(domain.as_bytes(), key)));
            }
        });
        for list in [&mut links, &mut domains] {
            list.sort_unstable();
            list.dedup();
        }
        (links, domains)
    }
}

/// The host of an absolute, normalised URL.
fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or("", |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or("");
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

/// The digest of all that decides signatures. Settings are taken apart by name, so that a new one must be thought of
/// here.
fn key_id(keys: &Keys, settings: &Settings, lexicons: &Lexicons) -> u64 {
    // Limits cut off what is too much; signatures made under other limits may still be compared.
    let Settings { secret: _, limits: _, text, content, imatch, minhash, grams, style } = settings;
    let TextSettings { terms_min, digits_masked_min, sentence_chars_min } = text;
    let text = (terms_min, digits_masked_min, sentence_chars_min);
    let ContentSettings { node_share, link_share, sentence_chars_max } = content;
    let content = (node_share, link_share, sentence_chars_max);
    // What lexicons hold decides, not what they are called.
    let ImatchSettings { copies, drop_share, terms_min, page_band, mail_band, unspaced_band, .. } = imatch;
    let imatch = (copies, drop_share, terms_min, page_band, mail_band, unspaced_band, lexicons.ids());
    let MinhashSettings { page_shingle_words, mail_shingle_words, shingle_characters } = minhash;
    let minhash = (page_shingle_words, mail_shingle_words, shingle_characters);
    let GramSettings { window } = grams;
    let StyleSettings { parts_min, frame_items_min } = style;
    let decisive = format!("{:?}", (text, content, imatch, minhash, window, (parts_min, frame_items_min)));
    let mut hasher = blake3::Hasher::new_derive_key("seamripper 1 key id");
    hasher.update(&SCHEME.to_le_bytes());
    for key in keys.all() {
        hasher.update(&key.to_le_bytes());
    }
    hasher.update(decisive.as_bytes());
    let mut bytes = [0; 8];
    hasher.finalize_xof().fill(&mut bytes);
    u64::from_le_bytes(bytes)
}
