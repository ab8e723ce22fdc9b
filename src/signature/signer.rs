//! The one way from a text to its [`Signatures`].
//!
//! A text is signed in three views: what is shown, its core, and the shown together with the hidden. Each is a bag of
//! terms with a digest; what costs more (shingles, I-Match, grams) is made of the core alone.
//!
//! Pages are found and proved by their shingles and mails by their terms; the other of the two, and the style of a page's
//! whole noise, are for people who compare. A filter has no use for them, and a signer [`for_verdicts`](Signer::for_verdicts)
//! leaves them out.
//!
//! # Invariants
//! - The same document and settings give the same signatures, whatever was signed before.
//!   (`a_used_signer_signs_as_a_new_one`)
//! - Too few distinct terms give no digest, minhash or grams. (`empty_documents_have_no_signature`,
//!   `pairs_of_characters_are_less_than_words`)
//! - Settings that decide signatures change the key id, others do not. (`the_key_id_names_what_decides`)
//! - What is made for verdicts is equal to what is made for people, or left out.
//!   (`what_is_made_for_verdicts_is_a_part_of_all`; that verdicts are the same: `fewer_signatures_give_the_same_verdicts`)

use super::frame::Frame;
use super::imatch::{Lexicons, Matcher};
use super::keyed::Keys;
use super::minhash::MinHash;
use super::style::{Sketcher, Style};
use super::terms::Distinct;
use super::{LongSentence, Outcome, SCHEME, Signatures, View};
use crate::config::{
    ContentSettings, GramSettings, ImatchSettings, MinhashSettings, Settings, StyleSettings, TextSettings,
};
use crate::document::identity::registered_domain;
use crate::document::links::Location;
use crate::document::{Document, Kind};
use crate::text::Text;
use crate::text::grams::{self, Gram};
use crate::text::words::{Traits, Words, append_terms};
use std::sync::Arc;
use xxhash_rust::xxh3::{xxh3_64_with_seed, xxh3_128_with_seed};

/// A page of less content than one part in so many is a list or a menu, and so is one of fewer words: all of it says more
/// than its few sentences ("Here is a list of all functions:").
const CORE_SHARE: usize = 3;
const CORE_WORDS_MIN: usize = 64;

/// Distinct terms of a body that says something by itself, whatever its subject: notices of how to unsubscribe, below pictures that
/// nobody here sees, have fewer.
const BODY_TERMS_MIN: usize = 16;

/// Whether `n_core` units of content among `n_words` are too few to stand for the page.
fn is_little(n_core: usize, n_words: usize) -> bool {
    n_core < n_words && (n_core < n_words / CORE_SHARE || n_core < CORE_WORDS_MIN)
}

/// Signs texts; keeps its buffers.
pub struct Signer {
    keys: Keys,
    key_id: u64,
    text: TextSettings,
    minhash: MinhashSettings,
    gram_window: usize,
    frame_items_min: usize,
    matcher: Matcher,
    noise: Sketcher,
    tag_noise: Sketcher,
    distinct: Distinct,
    terms: Vec<u64>,
    /// The hashes of a view's units as bytes, which digests are taken of.
    bytes: Vec<u8>,
    grams: Vec<Gram>,
    /// Whether what no verdict is made of is left out.
    for_verdicts: bool,
    /// Whether pages are compared with mails, which is done by terms.
    cross_kinds: bool,
}

impl Signer {
    /// A signer with the lexicons that the settings name (`pipeline::lexicon::load`).
    pub fn new(settings: &Settings, lexicons: Arc<Lexicons>) -> Self {
        let keys = Keys::derive(settings.secret.reveal());
        Self {
            keys,
            key_id: key_id(&keys, settings, &lexicons),
            text: settings.text.clone(),
            minhash: settings.minhash.clone(),
            gram_window: settings.grams.window.get(),
            frame_items_min: settings.style.frame_items_min,
            matcher: Matcher::new(lexicons),
            noise: Sketcher::new(keys.noise, settings.style.parts_min),
            tag_noise: Sketcher::new(keys.tag_noise, settings.style.parts_min),
            distinct: Distinct::default(),
            terms: Vec::new(),
            bytes: Vec::new(),
            grams: Vec::new(),
            for_verdicts: false,
            cross_kinds: settings.store.cross_kinds,
        }
    }

    /// A signer that makes only what verdicts are made of.
    #[must_use]
    pub fn for_verdicts(self) -> Self {
        Self { for_verdicts: true, ..self }
    }

    /// The digest of all that decides signatures.
    pub fn key_id(&self) -> u64 {
        self.key_id
    }

    /// What [`Signatures::links`] holds for `url`, which is absolute and normalised.
    pub fn link(&self, url: &str) -> u64 {
        Location::of(url).key(self.keys.link)
    }

    /// The signatures of a document and its text.
    pub fn sign(&mut self, document: &Document, text: &Text) -> Signatures {
        let words = &text.words;
        let n_core = words.traits.iter().filter(|traits| traits.has(Traits::CORE)).count();

        self.bytes.clear();
        append(&mut self.bytes, &words.hashes);
        let mut shown = self.view(words, Traits::default(), None);
        let sentences = self.sentences(text);
        let mut full = (!text.hidden.is_empty()).then(|| {
            append(&mut self.bytes, &text.hidden.hashes);
            self.view(words, Traits::default(), Some(&text.hidden))
        });
        let mut core = (n_core < words.len()).then(|| {
            self.bytes.clear();
            let mut start = 0;
            for run in words.traits.chunk_by(|a, b| a.has(Traits::CORE) == b.has(Traits::CORE)) {
                if run[0].has(Traits::CORE) {
                    append(&mut self.bytes, &words.hashes[start..start + run.len()]);
                }
                start += run.len();
            }
            self.view(words, Traits::CORE, None)
        });

        let kind = document.kind;
        let outcome = if shown.digest.is_some() { Outcome::Signed } else { Outcome::Insufficient };
        let is_enough = core.as_ref().unwrap_or(&shown).digest.is_some();
        let with_shingles = !self.for_verdicts || kind == Kind::Page;
        let shingles = if is_enough && with_shingles { self.shingles(words, Traits::CORE, kind) } else { None };
        let is_list = outcome == Outcome::Signed && kind == Kind::Page && is_little(n_core, words.len());
        let shown_shingles = if is_list { self.shingles(words, Traits::ANY, kind) } else { None };
        let has_body = outcome == Outcome::Signed && kind == Kind::Email;
        let (body, says_little) = if has_body { self.body(document, words) } else { (None, false) };
        // A subject is a thread's: with it alone above what they quote two answers would be one.
        let is_little_core = outcome == Outcome::Signed && (!is_enough || says_little && core.is_some());
        let little_core = is_little_core.then(|| self.little_core(document, words));
        let has_shingles = shingles.is_some() || shown_shingles.is_some();
        if !self.for_verdicts || self.cross_kinds || kind == Kind::Email || !has_shingles {
            for view in [Some(&mut shown), core.as_mut(), full.as_mut()].into_iter().flatten() {
                let terms = view.terms.iter().copied();
                view.minhash = view.digest.and_then(|_| MinHash::of(terms, self.keys.terms));
            }
        }
        let judged = core.as_ref().unwrap_or(&shown);
        let imatch = if is_enough { self.matcher.sign(&judged.terms, kind, text.is_unspaced()) } else { None };
        let (links, link_domains) = self.links(document);
        Signatures {
            scheme: SCHEME,
            key_id: self.key_id,
            kind,
            outcome,
            n_words: words.len() as u32,
            n_core_words: n_core as u32,
            shingles,
            shown_shingles,
            little_core,
            body,
            imatch,
            grams: if is_enough { self.grams(words) } else { Vec::new() },
            sentences: if outcome == Outcome::Signed { sentences } else { Vec::new() },
            style: self.style(document),
            frame: Frame::of(&document.markup.frame, self.keys.frame, self.frame_items_min),
            shown,
            core,
            full,
            links,
            link_domains,
        }
    }

    /// The view whose units lie in `self.bytes`, and whose terms are those of `words` (and of `further`); its minhash is
    /// not made here.
    fn view(&mut self, words: &Words, wanted: Traits, further: Option<&Words>) -> View {
        self.terms.clear();
        append_terms(words, wanted, &mut self.terms);
        if let Some(further) = further {
            append_terms(further, wanted, &mut self.terms);
        }
        let terms = self.distinct.of(&mut self.terms);
        let is_enough = self.is_enough(terms.len(), words, wanted, further);
        let digest = is_enough.then(|| xxh3_128_with_seed(&self.bytes, self.keys.digest));
        View { digest, terms, minhash: None }
    }

    /// Whether a view of `n_terms` distinct terms has enough text to judge. Pairs of characters say less than words do, and
    /// are told from them only where that decides.
    fn is_enough(&mut self, n_terms: usize, words: &Words, wanted: Traits, further: Option<&Words>) -> bool {
        let TextSettings { terms_min, terms_min_unspaced, .. } = self.text;
        if n_terms < terms_min.max(1) || n_terms >= terms_min_unspaced {
            return n_terms >= terms_min.max(1);
        }
        self.terms.clear();
        for words in [Some(words), further].into_iter().flatten() {
            append_terms(words, wanted.with(Traits::CHARACTER), &mut self.terms);
        }
        let n_pairs = self.distinct.of(&mut self.terms).len().min(n_terms);
        // Of each its share of what is enough. Fewer than the larger minimum, the products are those of small numbers.
        (n_terms - n_pairs).saturating_mul(terms_min_unspaced) + n_pairs.saturating_mul(terms_min)
            >= terms_min.saturating_mul(terms_min_unspaced)
    }

    /// Minhash over the shingles of the wanted units.
    fn shingles(&mut self, words: &Words, wanted: Traits, kind: Kind) -> Option<MinHash> {
        let MinhashSettings { page_shingle_words, mail_shingle_words, shingle_characters } = &self.minhash;
        let n_words = match kind {
            Kind::Page => page_shingle_words,
            Kind::Email => mail_shingle_words,
        };
        let (key, shingles) = (self.keys.shingles, &mut self.terms);
        shingles.clear();
        grams::shingles(words, wanted, n_words.get(), shingle_characters.get(), key, |hash| shingles.push(hash));
        MinHash::of(shingles.iter().copied(), key)
    }

    /// The words of the core in order, without those that are masked or have digits: a campaign counts its mails, and greets by name.
    fn little_core(&mut self, document: &Document, words: &Words) -> u64 {
        self.bytes.clear();
        let units = words.hashes.iter().zip(&words.spans).zip(&words.traits);
        for ((hash, span), _) in units.filter(|(_, traits)| traits.has(Traits::CORE) && !traits.has(Traits::MASKED)) {
            let spelled = document.text.get(span.range()).unwrap_or_default();
            if !spelled.contains(char::is_numeric) {
                append(&mut self.bytes, &[*hash]);
            }
        }
        xxh3_64_with_seed(&self.bytes, self.keys.digest)
    }

    /// The words of the core below the subject, in order, without those that are masked, if they are enough; and whether they are so
    /// few that they are no text.
    fn body(&mut self, document: &Document, words: &Words) -> (Option<u64>, bool) {
        let subject_end = document.title.len();
        let mut terms = [0; BODY_TERMS_MIN];
        let (mut n_terms, mut n_characters) = (0, 0);
        self.bytes.clear();
        let units = words.hashes.iter().zip(&words.spans).zip(&words.traits);
        for ((&hash, span), traits) in units {
            if !traits.has(Traits::CORE) || traits.has(Traits::MASKED) || (span.start as usize) < subject_end {
                continue;
            }
            append(&mut self.bytes, &[hash]);
            n_characters += usize::from(traits.has(Traits::CHARACTER));
            if n_terms < BODY_TERMS_MIN && traits.has(Traits::TERM) && !terms[..n_terms].contains(&hash) {
                terms[n_terms] = hash;
                n_terms += 1;
            }
        }
        let digest = (n_terms == BODY_TERMS_MIN).then(|| xxh3_64_with_seed(&self.bytes, self.keys.digest));
        let TextSettings { terms_min, terms_min_unspaced, .. } = self.text;
        (digest, n_terms < terms_min.min(BODY_TERMS_MIN) && n_characters < terms_min_unspaced)
    }

    /// The grams of the core, winnowed.
    fn grams(&mut self, words: &Words) -> Vec<Gram> {
        let (key, window) = (self.keys.gram, self.gram_window);
        // A window of w keeps two of w + 1 grams on average.
        let mut found = Vec::with_capacity(2 * words.len() / (window + 1) + 8);
        grams::cut(words, Traits::CORE, key, window, &mut self.grams, &mut found);
        found
    }

    /// The long sentences of a text whose units lie in `self.bytes`. One of masked tokens alone is left out: it would
    /// equal any other such.
    fn sentences(&self, text: &Text) -> Vec<LongSentence> {
        let mut found = Vec::new();
        for sentence in &text.sentences {
            let (first, end) = (sentence.first_word as usize, sentence.end_word as usize);
            if (sentence.n_chars as usize) < self.text.sentence_chars_min
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
        let noise = if self.for_verdicts { None } else { self.noise.sketch(&document.markup.noise) };
        let tag_noise = self.tag_noise.sketch(&document.markup.tag_noise);
        (noise.is_some() || tag_noise.is_some()).then_some(Style { noise, tag_noise })
    }

    /// The distinct links of a page and the registered domains they lead to, hashed.
    fn links(&mut self, document: &Document) -> (Vec<u64>, Vec<u64>) {
        if document.kind != Kind::Page || document.links.anchors.is_empty() {
            return (Vec::new(), Vec::new());
        }
        let (key, links, mut domains) = (self.keys.link, &mut self.terms, Vec::new());
        links.clear();
        let mut last = String::new();
        document.links.resolve_distinct(document.identity.url.as_deref(), |url| {
            links.push(Location::of(url).key(key));
            // Most links of a page lead to the same few hosts, one after the other.
            let is_same = url.strip_prefix(&last).is_some_and(|path| path.starts_with('/')) && !last.is_empty();
            if !is_same {
                let (origin, host) = origin_and_host(url);
                last.clear();
                last.push_str(origin);
                domains.extend(registered_domain(host).map(|domain| xxh3_64_with_seed(domain.as_bytes(), key)));
            }
        });
        domains.sort_unstable();
        domains.dedup();
        (self.distinct.of(links), domains)
    }
}

/// Adds hashes as bytes.
fn append(bytes: &mut Vec<u8>, hashes: &[u64]) {
    let start = bytes.len();
    bytes.resize(start + 8 * hashes.len(), 0);
    let (places, _) = bytes[start..].as_chunks_mut();
    for (place, hash) in places.iter_mut().zip(hashes) {
        *place = hash.to_le_bytes();
    }
}

/// An absolute, normalised URL up to its path, and the host in it.
fn origin_and_host(url: &str) -> (&str, &str) {
    let Some((scheme, rest)) = url.split_once("://") else { return ("", "") };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or("");
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    (&url[..scheme.len() + "://".len() + authority.len()], host)
}

/// The digest of all that decides signatures. Settings are taken apart by name, so that a new one must be thought of
/// here.
fn key_id(keys: &Keys, settings: &Settings, lexicons: &Lexicons) -> u64 {
    // Limits cut off what is too much; signatures made under other limits may still be compared.
    let Settings { text, content, imatch, minhash, grams, style, .. } = settings;
    // So does the least of them that are pairs: what is signed has the same bits, whatever is not.
    let TextSettings { terms_min, terms_min_unspaced: _, digits_masked_min, sentence_chars_min } = text;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Span;
    use crate::text::sentences::Sentence;
    use crate::text::words::{Rules, cut};

    const TALE: &str = "The tide mills along the estuary ground barley before the railway came. \
        Every miller kept a ledger of tides, and the ledgers survive in the county archive.";

    fn settings() -> Settings {
        Settings::default()
    }

    fn signer(settings: &Settings) -> Signer {
        let none = |_: &std::path::Path| Err(std::io::ErrorKind::NotFound.into());
        Signer::new(settings, Lexicons::new(settings, none).unwrap())
    }

    /// A text of one sentence that is shown and one run that is hidden; the first `n_core` units are its core.
    fn text(shown: &str, hidden: &str, n_core: usize) -> Text {
        let rules = Rules::plain(Keys::derive(settings().secret.reveal()).word);
        let mut text = Text::default();
        cut(shown, &rules, &mut text.words);
        cut(hidden, &rules, &mut text.hidden);
        for traits in text.words.traits.iter_mut().take(n_core) {
            *traits = traits.with(Traits::CORE);
        }
        let (n_chars, end_word) = (shown.chars().count() as u32, text.words.len() as u32);
        let span = Span::new(0, shown.len());
        text.sentences.push(Sentence { span, n_chars, first_word: 0, end_word, core: true });
        text
    }

    fn signed(shown: &str, hidden: &str, n_core: usize) -> Signatures {
        signer(&settings()).sign(&Document::default(), &text(shown, hidden, n_core))
    }

    #[test]
    fn empty_documents_have_no_signature() {
        for shown in ["", "hello there hello there", "a b c d e f g h i j"] {
            let signatures = signed(shown, "", usize::MAX);
            assert_eq!(signatures.outcome, Outcome::Insufficient, "{shown}");
            assert_eq!((signatures.shown.digest, &signatures.shown.minhash), (None, &None));
            assert_eq!((&signatures.shingles, &signatures.imatch), (&None, &None));
            assert!(signatures.grams.is_empty() && signatures.sentences.is_empty());
            assert_eq!((signatures.style, signatures.frame), (None, None));
        }
        assert_eq!(signed(TALE, "", usize::MAX).outcome, Outcome::Signed);
    }

    #[test]
    fn pairs_of_characters_are_less_than_words() {
        let outcome = |shown: &str| signed(shown, "", usize::MAX).outcome;
        // 15 pairs, then 16.
        let pairs = "潮車小屋船着場川岸石橋町役場水門";
        assert_eq!(outcome(pairs), Outcome::Insufficient);
        assert_eq!(outcome(&format!("{pairs}番")), Outcome::Signed);
        assert_eq!(outcome(&format!("{pairs}。{pairs}。{pairs}")), Outcome::Insufficient, "it says nothing new");
        // Four words are four fifths, four pairs a quarter, three less than a fifth.
        let words = "tide mills estuary barley";
        assert_eq!(outcome(&format!("{words} 潮車小屋船")), Outcome::Signed);
        assert_eq!(outcome(&format!("{words} 潮車小屋")), Outcome::Insufficient);
        assert_eq!(outcome(&format!("{words} railway")), Outcome::Signed);
        let hidden = signed(pairs, &format!("{pairs}番"), usize::MAX);
        assert!(hidden.shown.digest.is_none() && hidden.full.is_some_and(|full| full.digest.is_some()));
    }

    #[test]
    fn views_are_there_where_they_differ() {
        let whole = signed(TALE, "", usize::MAX);
        assert_eq!((&whole.core, &whole.full), (&None, &None));
        assert_eq!(whole.n_core_words, whole.n_words);
        assert!(whole.shingles.is_some() && !whole.grams.is_empty());
        assert_eq!(whole.sentences.len(), 1);

        // "... before the railway came." is a text of its own, signed as the core of a longer one.
        let (first, _) = TALE.split_once(". ").unwrap();
        let part = signed(first, "", usize::MAX);
        let parted = signed(TALE, "", part.n_words as usize);
        assert_eq!(parted.core.as_ref(), Some(&part.shown));
        assert_eq!((parted.shown, parted.shingles, parted.grams), (whole.shown.clone(), part.shingles, part.grams));

        let stuffed = signed(TALE, "viagra casino roulette", usize::MAX);
        let full = stuffed.full.unwrap();
        assert_eq!(stuffed.shown, whole.shown);
        assert_eq!(full.terms.len(), whole.shown.terms.len() + 3);
        assert_ne!(full.digest, whole.shown.digest);
        assert!(super::super::common(&full.terms, &whole.shown.terms) == whole.shown.terms.len());
    }

    #[test]
    fn a_thin_core_is_not_signed() {
        let signatures = signed(TALE, "", 6);
        assert_eq!(signatures.outcome, Outcome::Signed);
        let core = signatures.core.unwrap();
        assert_eq!((core.digest, core.minhash, signatures.shingles, signatures.imatch), (None, None, None, None));
        assert!(signatures.grams.is_empty());
    }

    #[test]
    fn a_little_core_is_known_by_its_words() {
        let signed = |beginning: &str| {
            let shown = format!("{beginning} {TALE}");
            let document = Document { text: shown.clone(), ..Document::default() };
            let n_core = beginning.split_whitespace().count();
            signer(&settings()).sign(&document, &text(&shown, "", n_core)).little_core
        };
        assert!(signed("Hi Bob, ok").is_some() && signed("Hi Bob, ok") == signed("hi bob: OK!"));
        assert_ne!(signed("Hi Bob, ok"), signed("Hi Ann, ok"));
        assert_eq!(signed("prize 17"), signed("prize 4"));
        assert_eq!(signed(TALE), None, "all of it is enough");
    }

    #[test]
    fn a_body_is_known_whatever_its_subject() {
        let signed = |subject: &str, body: &str, kind: Kind| {
            let shown = format!("{subject}\n{body}");
            let document = Document { kind, text: shown.clone(), title: subject.to_owned(), ..Document::default() };
            signer(&settings()).sign(&document, &text(&shown, "", usize::MAX)).body
        };
        let body = signed("Tides", TALE, Kind::Email);
        assert!(body.is_some() && body == signed("Wholly other words of another subject", TALE, Kind::Email));
        assert_ne!(body, signed("Tides", &TALE.replace("barley", "wheat"), Kind::Email));
        assert_eq!(signed("Tides", &TALE[..80], Kind::Email), None, "a few words are many mails'");
        assert_eq!(signed("Tides", TALE, Kind::Page), None);
    }

    #[test]
    fn a_used_signer_signs_as_a_new_one() {
        let mut used = signer(&settings());
        for (shown, hidden, n_core) in [(TALE, "", 9), ("", "", 0), ("hello there", TALE, 1), (TALE, "more words", 99)]
        {
            let signatures = used.sign(&Document::default(), &text(shown, hidden, n_core));
            assert_eq!(signatures, signed(shown, hidden, n_core));
        }
    }

    #[test]
    fn what_is_made_for_verdicts_is_a_part_of_all() {
        let mut for_verdicts = signer(&settings()).for_verdicts();
        let mut page = Document::default();
        page.markup.noise = b"<></>".repeat(40);
        page.markup.tag_noise = b"=\"\"".repeat(40);
        let mail = Document { kind: Kind::Email, ..page.clone() };
        for (document, text) in [(&page, text(TALE, "hidden words", 20)), (&mail, text(TALE, "hidden words", 20))] {
            let (all, some) = (signer(&settings()).sign(document, &text), for_verdicts.sign(document, &text));
            assert!(all.shown.minhash.is_some() && all.shingles.is_some());
            let mut expected = all.clone();
            expected.style.as_mut().unwrap().noise = None;
            match document.kind {
                Kind::Page => {
                    let views = [Some(&mut expected.shown), expected.core.as_mut(), expected.full.as_mut()];
                    views.into_iter().flatten().for_each(|view| view.minhash = None);
                }
                Kind::Email => expected.shingles = None,
            }
            assert_eq!(some, expected);
        }
        // Words that are too few for a shingle are what such a page is found by.
        let few = text("tide mills estuary barley railway ledger", "", 5);
        let terms_alone = Signer {
            minhash: MinhashSettings { page_shingle_words: 9.try_into().unwrap(), ..settings().minhash },
            ..signer(&settings())
        };
        let signatures = terms_alone.for_verdicts().sign(&page, &few);
        assert!(signatures.shingles.is_none() && signatures.shown.minhash.is_some(), "{signatures:?}");
    }

    #[test]
    fn the_key_id_names_what_decides() {
        let key_id = |change: fn(&mut Settings)| {
            let mut settings = settings();
            change(&mut settings);
            signer(&settings).key_id
        };
        let plain = key_id(|_| {});
        assert_eq!(key_id(|settings| settings.limits.words_max = 7), plain);
        assert_eq!(key_id(|settings| settings.text.terms_min_unspaced = 17), plain);
        assert_ne!(key_id(|settings| settings.text.terms_min = 7), plain);
        assert_ne!(key_id(|settings| settings.style.parts_min = 7), plain);
        assert_ne!(key_id(|settings| settings.imatch.page_lexicon = "japanese".into()), plain);
        assert_ne!(key_id(|settings| settings.imatch.mail_band.max = 0.5), plain);
    }

    #[test]
    fn masked_tokens_alone_are_no_sentence() {
        let mut masked = text(TALE, "", usize::MAX);
        for traits in &mut masked.words.traits {
            *traits = traits.with(Traits::MASKED);
        }
        assert!(signer(&settings()).sign(&Document::default(), &masked).sentences.is_empty());
    }

    #[test]
    fn hosts_are_found() {
        for (url, expected) in [
            ("https://a.example/b?c://d", "a.example"),
            ("http://user:word@a.example:8080", "a.example"),
            ("http://[2001:db8::1]:80/x", "[2001:db8::1]"),
            ("mailto:someone", ""),
        ] {
            assert_eq!(origin_and_host(url).1, expected);
        }
    }
}
