//! A lexicon as bytes.
//!
//! ```text
//! magic     8 bytes  "SEAMLEX\n"
//! format    u32      FORMAT
//! length    u32      bytes of the content, unpacked
//! id        u64      BLAKE3 of the content, its first bytes
//! content   zstd     name, language, source: u16 length, UTF-8
//!                    documents u64, smallest frequency kept u32, number of terms u32
//!                    one byte a term: bytes shared with the term before
//!                    one byte a term: further bytes
//!                    LEB128 a term: frequency above the smallest
//!                    the further bytes of all terms, UTF-8
//! checksum  u64      xxh3 of all bytes before it
//! ```
//!
//! Numbers are little-endian. Terms share prefixes with their neighbours, and columns of like things pack better
//! than rows. There is one way to write a lexicon down, so that equal lexicons have equal ids.
//!
//! # Invariants
//! - What is written is read back. (`a_lexicon_survives_its_file`)
//! - No bytes make the reader panic or take more than [`CONTENT_BYTES_MAX`] and [`LETTERS_BYTES_MAX`] of memory.
//!   (`no_bytes_make_the_reader_panic`, `a_bomb_is_refused`)
//! - Every way to be wrong has its name. (`each_damage_is_named`)

use super::{About, Lexicon, LexiconId};
use std::io::Read;
use xxhash_rust::xxh3::xxh3_64;

/// The first bytes of a lexicon file.
pub const MAGIC: [u8; 8] = *b"SEAMLEX\n";
/// The number of this form of the file.
pub const FORMAT: u32 = 1;
/// The content may unpack to this much: 10 million terms and more.
pub const CONTENT_BYTES_MAX: usize = 128 << 20;
/// The letters of all terms together.
pub const LETTERS_BYTES_MAX: usize = 128 << 20;
/// A longer term is no word.
pub const TERM_BYTES_MAX: usize = 128;
/// Name, language and source each.
pub const FIELD_BYTES_MAX: usize = 4096;

const HEAD_BYTES: usize = 24;
const CHECKSUM_BYTES: usize = 8;

/// Why bytes are no lexicon that can be used.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum LexiconError {
    #[error("not a lexicon: it does not begin with SEAMLEX")]
    NotALexicon,
    #[error("lexicon format {found} is not known here, only {FORMAT}: build it again with this release")]
    Format { found: u32 },
    #[error("lexicon ends after {len} bytes, in its {what}")]
    Truncated { len: usize, what: &'static str },
    #[error("lexicon fails its checksum: it was cut off or changed")]
    Checksum,
    #[error("lexicon does not unpack: {0}")]
    Packing(String),
    #[error("lexicon's id is {found}, its file says {said}")]
    Id { found: LexiconId, said: LexiconId },
    #[error("lexicon unpacks to {found} bytes, its head says {said}")]
    Length { found: usize, said: usize },
    #[error("lexicon's {what} is over {limit} bytes")]
    TooLarge { what: &'static str, limit: usize },
    #[error("lexicon's {what} is not UTF-8")]
    NotText { what: &'static str },
    #[error("lexicon has {len} bytes after its last term")]
    TrailingBytes { len: usize },
    #[error("lexicon counts {n_documents} documents and keeps terms of {df_min} and more: needed are 2 to 2^32, and 1")]
    Counts { n_documents: u64, df_min: u32 },
    #[error("term {index} of the lexicon has {len} bytes, allowed are 1 to {TERM_BYTES_MAX}")]
    TermLength { index: usize, len: usize },
    #[error("term {index} of the lexicon does not share the bytes with the one before that it says")]
    SharedBytes { index: usize },
    #[error("the frequency of term {index} of the lexicon is no number of 32 bits in as few bytes as can be")]
    FrequencyBytes { index: usize },
    #[error("term {index} of the lexicon is not after the one before it")]
    Unsorted { index: usize },
    #[error("term {index} of the lexicon stands in {df} documents, allowed are {df_min} to {n_documents}")]
    Frequency { index: usize, df: u32, df_min: u32, n_documents: u64 },
}

impl Lexicon {
    /// The lexicon in the bytes of a file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, LexiconError> {
        if bytes.len() < MAGIC.len() || bytes[..MAGIC.len()] != MAGIC {
            return Err(LexiconError::NotALexicon);
        }
        let mut head = Rest(&bytes[MAGIC.len()..], bytes.len());
        // The format is looked at first: another one may have its checksum elsewhere.
        let found = head.u32("head")?;
        if found != FORMAT {
            return Err(LexiconError::Format { found });
        }
        let said = head.u32("head")? as usize;
        let said_id = LexiconId(head.u64("head")?);
        let Some(end) = bytes.len().checked_sub(CHECKSUM_BYTES).filter(|&end| end >= HEAD_BYTES) else {
            return Err(LexiconError::Truncated { len: bytes.len(), what: "checksum" });
        };
        let (before, mut checksum) = (&bytes[..end], Rest(&bytes[end..], bytes.len()));
        if checksum.u64("checksum")? != xxh3_64(before) {
            return Err(LexiconError::Checksum);
        }
        if said > CONTENT_BYTES_MAX {
            return Err(LexiconError::TooLarge { what: "content", limit: CONTENT_BYTES_MAX });
        }
        let lexicon = Self::from_content(&unpacked(&before[HEAD_BYTES..], said)?)?;
        if lexicon.id != said_id {
            return Err(LexiconError::Id { found: lexicon.id, said: said_id });
        }
        Ok(lexicon)
    }

    /// The lexicon in the unpacked content of a file.
    pub fn from_content(content: &[u8]) -> Result<Self, LexiconError> {
        let mut rest = Rest(content, content.len());
        let about = About {
            name: rest.text("name")?.to_owned(),
            language: rest.text("language")?.to_owned(),
            source: rest.text("source")?.to_owned(),
            n_documents: rest.u64("counts")?,
            df_min: rest.u32("counts")?,
        };
        let n_terms = rest.u32("counts")? as usize;
        let shared = rest.bytes(n_terms, "terms")?;
        let further = rest.bytes(n_terms, "terms")?;
        let mut lexicon = Self {
            about,
            id: id(content),
            letters: String::new(),
            ends: Vec::with_capacity(n_terms),
            frequencies: Vec::new(),
        };
        lexicon.check_about()?;
        let mut frequencies = Vec::with_capacity(n_terms);
        for index in 0..n_terms {
            let above = rest.leb128()?.ok_or(LexiconError::FrequencyBytes { index })?;
            frequencies.push(above.saturating_add(lexicon.about.df_min));
        }
        lexicon.frequencies.reserve(n_terms);
        let mut term: Vec<u8> = Vec::with_capacity(TERM_BYTES_MAX);
        for index in 0..n_terms {
            let (n_shared, added) = (usize::from(shared[index]), rest.bytes(further[index].into(), "terms")?);
            if n_shared > term.len() || (n_shared < term.len() && added.first() == Some(&term[n_shared])) {
                return Err(LexiconError::SharedBytes { index });
            }
            term.truncate(n_shared);
            term.extend_from_slice(added);
            let spelled = std::str::from_utf8(&term).map_err(|_| LexiconError::NotText { what: "term" })?;
            lexicon.push(spelled, frequencies[index])?;
        }
        if !rest.0.is_empty() {
            return Err(LexiconError::TrailingBytes { len: rest.0.len() });
        }
        Ok(lexicon)
    }

    /// The bytes of its file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let content = self.content();
        let packed = zstd::bulk::compress(&content, 19).expect("zstd compresses any bytes into memory");
        let mut bytes = Vec::with_capacity(HEAD_BYTES + packed.len() + CHECKSUM_BYTES);
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&FORMAT.to_le_bytes());
        bytes.extend_from_slice(&(content.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&self.id.0.to_le_bytes());
        bytes.extend_from_slice(&packed);
        bytes.extend_from_slice(&xxh3_64(&bytes).to_le_bytes());
        bytes
    }

    /// What its file holds, unpacked.
    pub fn content(&self) -> Vec<u8> {
        let About { name, language, source, n_documents, df_min } = &self.about;
        let mut content = Vec::with_capacity(4 * self.n_terms() + self.letters.len());
        for field in [name, language, source] {
            content.extend_from_slice(&(field.len() as u16).to_le_bytes());
            content.extend_from_slice(field.as_bytes());
        }
        content.extend_from_slice(&n_documents.to_le_bytes());
        content.extend_from_slice(&df_min.to_le_bytes());
        content.extend_from_slice(&(self.n_terms() as u32).to_le_bytes());
        let shared: Vec<u8> = (0..self.n_terms())
            .map(|index| match index.checked_sub(1) {
                Some(before) => n_shared(self.term(before).as_bytes(), self.term(index).as_bytes()),
                None => 0,
            })
            .collect();
        content.extend_from_slice(&shared);
        content.extend(self.terms().zip(&shared).map(|((term, _), shared)| term.len() as u8 - shared));
        for (_, df) in self.terms() {
            push_leb128(df - df_min, &mut content);
        }
        for ((term, _), shared) in self.terms().zip(&shared) {
            content.extend_from_slice(&term.as_bytes()[usize::from(*shared)..]);
        }
        content
    }
}

/// The id of a lexicon with this content, however it is packed.
pub(super) fn id(content: &[u8]) -> LexiconId {
    let digest = blake3::derive_key("seamripper 1 lexicon id", content);
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&digest[..8]);
    LexiconId(u64::from_le_bytes(bytes))
}

/// The id that the head of a file says, without reading the rest.
pub(super) fn said_id(bytes: &[u8]) -> Option<LexiconId> {
    let (_, id) = bytes.get(..HEAD_BYTES)?.split_last_chunk()?;
    Some(LexiconId(u64::from_le_bytes(*id)))
}

fn unpacked(packed: &[u8], said: usize) -> Result<Vec<u8>, LexiconError> {
    let packing = |error: std::io::Error| LexiconError::Packing(error.to_string());
    let decoder = zstd::Decoder::with_buffer(packed).map_err(packing)?;
    let mut content = Vec::new();
    // One byte more than was said shows a content that is longer; what the head says reserves nothing.
    decoder.take(said as u64 + 1).read_to_end(&mut content).map_err(packing)?;
    if content.len() != said {
        return Err(LexiconError::Length { found: content.len(), said });
    }
    Ok(content)
}

fn n_shared(a: &[u8], b: &[u8]) -> u8 {
    a.iter().zip(b).take_while(|(a, b)| a == b).count() as u8
}

fn push_leb128(mut value: u32, bytes: &mut Vec<u8>) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// The bytes still to be read, and how many there were in all.
struct Rest<'b>(&'b [u8], usize);

impl<'b> Rest<'b> {
    fn bytes(&mut self, n: usize, what: &'static str) -> Result<&'b [u8], LexiconError> {
        let Some((taken, rest)) = self.0.split_at_checked(n) else {
            return Err(LexiconError::Truncated { len: self.1, what });
        };
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], LexiconError> {
        let mut array = [0; N];
        array.copy_from_slice(self.bytes(N, what)?);
        Ok(array)
    }

    fn u32(&mut self, what: &'static str) -> Result<u32, LexiconError> {
        Ok(u32::from_le_bytes(self.array(what)?))
    }

    fn u64(&mut self, what: &'static str) -> Result<u64, LexiconError> {
        Ok(u64::from_le_bytes(self.array(what)?))
    }

    fn text(&mut self, what: &'static str) -> Result<&'b str, LexiconError> {
        let len = u16::from_le_bytes(self.array(what)?);
        std::str::from_utf8(self.bytes(len.into(), what)?).map_err(|_| LexiconError::NotText { what })
    }

    /// A number in groups of seven bits. `None` if it has more than 32 bits or could have been shorter.
    fn leb128(&mut self) -> Result<Option<u32>, LexiconError> {
        let mut value: u64 = 0;
        for group in 0..5 {
            let [byte] = self.array("frequencies")?;
            value |= u64::from(byte & 0x7F) << (7 * group);
            if byte < 0x80 {
                return Ok(u32::try_from(value).ok().filter(|_| byte != 0 || group == 0));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn about() -> About {
        About {
            name: "small".into(),
            language: "en".into(),
            source: "four documents".into(),
            n_documents: 300,
            df_min: 2,
        }
    }

    fn small() -> Lexicon {
        Lexicon::new(about(), [("banana", 2), ("band", 130), ("bandit", 300), ("日本", 3)]).unwrap()
    }

    /// The file of `content`, whatever that holds.
    fn packed(content: &[u8]) -> Vec<u8> {
        let mut bytes = [&MAGIC[..], &FORMAT.to_le_bytes(), &(content.len() as u32).to_le_bytes()].concat();
        bytes.extend(id(content).0.to_le_bytes());
        bytes.extend(zstd::bulk::compress(content, 1).unwrap());
        bytes.extend(xxh3_64(&bytes).to_le_bytes());
        bytes
    }

    #[test]
    fn a_lexicon_survives_its_file() {
        let lexicon = small();
        assert_eq!(Lexicon::from_bytes(&lexicon.to_bytes()).unwrap(), lexicon);
        assert_eq!(said_id(&lexicon.to_bytes()), Some(lexicon.id()));
        assert_eq!(lexicon.document_frequency("band"), Some(130));
        assert_eq!(lexicon.document_frequency("ban"), None);
    }

    /// A file that was written stays readable, and its id stays.
    #[test]
    fn golden_content() {
        let mut content = b"\x05\0small\x02\0en\x0e\0four documents".to_vec();
        content.extend(b"\x2c\x01\0\0\0\0\0\0\x02\0\0\0\x04\0\0\0");
        content.extend(b"\x00\x03\x04\x00\x06\x01\x02\x06\x00\x80\x01\xaa\x02\x01");
        content.extend("bananadit日本".as_bytes());
        assert_eq!(small().content(), content);
        assert_eq!(small().id(), LexiconId(0x9CDD_8416_A12F_894B));
    }

    #[test]
    fn packing_does_not_change_the_id() {
        let words: BTreeMap<String, u32> = (0..500).map(|n| (format!("word{n}"), n / 2 + 2)).collect();
        let lexicon = Lexicon::new(about(), words.iter().map(|(term, df)| (term.as_str(), *df))).unwrap();
        let loosely = packed(&lexicon.content());
        assert_ne!(loosely, lexicon.to_bytes());
        assert_eq!(Lexicon::from_bytes(&loosely).unwrap().id(), lexicon.id());
    }

    #[test]
    fn each_damage_is_named() {
        let good = small().to_bytes();
        let error = |bytes: &[u8]| Lexicon::from_bytes(bytes).unwrap_err();
        assert_eq!(error(b""), LexiconError::NotALexicon);
        assert_eq!(error(b"<html>"), LexiconError::NotALexicon);
        assert_eq!(error(&good[..14]), LexiconError::Truncated { len: 14, what: "head" });
        assert_eq!(error(&good[..26]), LexiconError::Truncated { len: 26, what: "checksum" });
        for len in 32..good.len() {
            assert_eq!(error(&good[..len]), LexiconError::Checksum, "cut off after {len}");
        }
        let mut other = good.clone();
        other[8] = 9;
        assert_eq!(error(&other), LexiconError::Format { found: 9 });
        for at in 12..good.len() {
            let mut flipped = good.clone();
            flipped[at] ^= 0x10;
            assert_eq!(error(&flipped), LexiconError::Checksum, "byte {at}");
        }
        let resealed = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut bytes = good[..good.len() - 8].to_vec();
            change(&mut bytes);
            bytes.extend(xxh3_64(&bytes).to_le_bytes());
            error(&bytes)
        };
        assert!(matches!(resealed(&|bytes| bytes[16] ^= 1), LexiconError::Id { .. }));
        assert!(matches!(resealed(&|bytes| bytes[12] += 1), LexiconError::Length { .. }));
        assert!(matches!(resealed(&|bytes| bytes[12] -= 1), LexiconError::Length { .. }));
        assert!(matches!(resealed(&|bytes| bytes[15] = 0xFF), LexiconError::TooLarge { what: "content", .. }));
        assert!(matches!(resealed(&|bytes| bytes.truncate(30)), LexiconError::Packing(_)));
    }

    #[test]
    fn unsound_terms_are_named() {
        let error = |terms: &[(&str, u32)]| Lexicon::new(about(), terms.iter().copied()).unwrap_err();
        assert_eq!(error(&[("b", 2), ("a", 2)]), LexiconError::Unsorted { index: 1 });
        assert_eq!(error(&[("a", 2), ("a", 2)]), LexiconError::Unsorted { index: 1 });
        assert_eq!(error(&[("", 2)]), LexiconError::TermLength { index: 0, len: 0 });
        assert_eq!(error(&[("a".repeat(129).as_str(), 2)]), LexiconError::TermLength { index: 0, len: 129 });
        let frequency = |df| LexiconError::Frequency { index: 0, df, df_min: 2, n_documents: 300 };
        assert_eq!(error(&[("a", 1)]), frequency(1));
        assert_eq!(error(&[("a", 301)]), frequency(301));
        let counts = |n_documents, df_min| Lexicon::new(About { n_documents, df_min, ..about() }, []).unwrap_err();
        assert_eq!(counts(1, 2), LexiconError::Counts { n_documents: 1, df_min: 2 });
        assert_eq!(counts(9, 0), LexiconError::Counts { n_documents: 9, df_min: 0 });

        // The same lexicon in other bytes: not as short as can be, or with something after it.
        let content = small().content();
        let at = content.len() - "bananadit日本".len() - 6;
        assert_eq!(&content[at..at + 6], b"\x00\x80\x01\xaa\x02\x01", "the frequencies");
        let with = |from: usize, to: usize, bytes: &[u8]| {
            let changed = [&content[..from], bytes, &content[to..]].concat();
            Lexicon::from_bytes(&packed(&changed)).unwrap_err()
        };
        assert_eq!(with(at, at + 1, b"\x80\x00"), LexiconError::FrequencyBytes { index: 0 });
        assert_eq!(with(at, at + 1, &[0xFF; 6]), LexiconError::FrequencyBytes { index: 0 });
        assert_eq!(with(at - 6, at - 5, b"\x05"), LexiconError::SharedBytes { index: 2 }, "five of four");
        let shorter = with(at - 7, at - 6, b"\x02");
        assert_eq!(shorter, LexiconError::Unsorted { index: 1 }, "`bad` after `banana`");
        assert_eq!(with(content.len(), content.len(), b"x"), LexiconError::TrailingBytes { len: 1 });
        assert_eq!(with(2, 3, b"\xFF"), LexiconError::NotText { what: "name" });
    }

    /// A million terms that share nearly all of their 128 bytes take 4 MB unpacked, and would need as many as there
    /// is room for and more.
    #[test]
    fn a_bomb_is_refused() {
        let mut content = small().content();
        content.truncate(2 + 5 + 2 + 2 + 2 + 14 + 8 + 4);
        let n: u32 = 0x7F * 0x7F * 0x7F;
        let digits = |index: u32| [index / (0x7F * 0x7F), index / 0x7F % 0x7F, index % 0x7F].map(|digit| digit as u8);
        let (mut shared, mut further, mut letters) = (vec![0], vec![128], vec![b'a'; 125]);
        letters.extend(digits(0));
        for index in 1..n {
            let (before, now) = (digits(index - 1), digits(index));
            let n_same = before.iter().zip(&now).take_while(|(before, now)| before == now).count();
            shared.push(125 + n_same as u8);
            further.push(3 - n_same as u8);
            letters.extend(&now[n_same..]);
        }
        content.extend(n.to_le_bytes());
        content.extend([shared, further, vec![0; n as usize], letters].concat());
        let error = Lexicon::from_bytes(&packed(&content)).unwrap_err();
        assert_eq!(error, LexiconError::TooLarge { what: "terms", limit: LETTERS_BYTES_MAX });
        // A head that promises much reserves nothing.
        let mut bytes = small().to_bytes();
        bytes[15] = 7;
        bytes.truncate(bytes.len() - 8);
        bytes.extend(xxh3_64(&bytes).to_le_bytes());
        assert!(matches!(Lexicon::from_bytes(&bytes).unwrap_err(), LexiconError::Length { .. }));
    }

    fn any_terms() -> impl Strategy<Value = BTreeMap<String, u32>> {
        proptest::collection::btree_map("[a-cあ-お]{1,6}", 2u32..=300, 0..40)
    }

    proptest! {
        #[test]
        fn any_lexicon_survives_its_file(terms in any_terms()) {
            let lexicon = Lexicon::new(about(), terms.iter().map(|(term, df)| (term.as_str(), *df))).unwrap();
            let again = Lexicon::from_bytes(&lexicon.to_bytes()).unwrap();
            prop_assert_eq!(&again, &lexicon);
            prop_assert!(again.terms().eq(terms.iter().map(|(term, df)| (term.as_str(), *df))));
        }

        #[test]
        fn no_bytes_make_the_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _outcome = Lexicon::from_bytes(&bytes);
            let _outcome = Lexicon::from_content(&bytes);
            let _outcome = Lexicon::from_bytes(&[&MAGIC[..], &FORMAT.to_le_bytes(), &bytes].concat());
            let _outcome = Lexicon::from_bytes(&packed(&bytes));
        }

        /// Bytes behind a good checksum: what is accepted is sound, and there is one way to write it.
        #[test]
        fn whatever_is_read_is_sound(terms in any_terms(), at in any::<prop::sample::Index>(), to in any::<u8>()) {
            let lexicon = Lexicon::new(about(), terms.iter().map(|(term, df)| (term.as_str(), *df))).unwrap();
            let mut content = lexicon.content();
            let at = at.index(content.len());
            content[at] = to;
            if let Ok(read) = Lexicon::from_bytes(&packed(&content)) {
                prop_assert_eq!(read.content(), content);
                let terms: Vec<_> = read.terms().collect();
                prop_assert!(terms.windows(2).all(|pair| pair[0].0 < pair[1].0));
                let (df_min, n_documents) = (read.about().df_min, read.about().n_documents);
                prop_assert!(terms.iter().all(|(_, df)| *df >= df_min && u64::from(*df) <= n_documents));
            }
        }
    }
}
