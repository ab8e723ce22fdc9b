//! The container of a saved store: who made it under which settings, and named parts, packed and checksummed.
//!
//! Layout, numbers least byte first: magic, format (u32), bytes of the head (u32), the head, a checksum over all of
//! these, then the packed sections end to end. The head is [`Head`] and the list of sections (name, bytes, packed
//! bytes, checksum over the packed bytes). Checksums are XXH3-64: they find damage, not forgery.
//!
//! # Invariants
//! - What was put in comes out. (`sections_come_back`)
//! - A changed byte, a missing end or an extra byte is refused before any section is used. (`damage_is_refused`)
//! - A section never unpacks to more than it states. (`a_section_never_outgrows_its_length`)
//! - The bytes of this format stay as they are. (`golden_bytes`)

use super::bytes::Damaged;
use serde::{Deserialize, Serialize};
use std::io::Read;
use xxhash_rust::xxh3::xxh3_64;

/// Number of the layout; another layout raises it.
pub const FORMAT: u32 = 1;
/// The first bytes of a saved store.
pub const MAGIC: [u8; 8] = *b"SEAMRIP\n";
/// Magic, format and length of the head.
const N_FIXED: usize = 16;

/// Under what the saved store was made: it can be used under the same only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// Number of the scheme of the signatures.
    pub scheme: u32,
    /// Names the secret of the signatures without telling it.
    pub key_id: u64,
    /// Digest of the settings that decide verdicts and sizes.
    pub settings: u64,
}

/// Why a saved store is refused.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// It begins with other bytes than a saved store.
    #[error("not a saved store")]
    NotAStore,
    /// Written by another version.
    #[error("saved store has format {found}, this version reads format {known}")]
    AnotherFormat {
        /// The format it has.
        found: u32,
        /// The format that is read.
        known: u32,
    },
    /// It ends too early.
    #[error("saved store is cut off: {found} of {needed} bytes")]
    CutOff {
        /// Bytes it should have.
        needed: u64,
        /// Bytes it has.
        found: u64,
    },
    /// Something follows its end.
    #[error("saved store has {n_bytes} bytes after its end")]
    LeftOver {
        /// How many.
        n_bytes: u64,
    },
    /// The head is damaged.
    #[error("head of the saved store fails its checksum")]
    HeadChecksum,
    /// The head is whole, but makes no sense.
    #[error("head of the saved store is unreadable")]
    Head(#[source] postcard::Error),
    /// A section is damaged.
    #[error("section `{name}` of the saved store fails its checksum")]
    Checksum {
        /// Its name.
        name: String,
    },
    /// A section does not unpack to its stated length.
    #[error("section `{name}` of the saved store unpacks to {side} than the stated {n_bytes} bytes")]
    Length {
        /// Its name.
        name: String,
        /// `more` or `less`.
        side: &'static str,
        /// What is stated.
        n_bytes: u64,
    },
    /// There is no memory for a section.
    #[error("no memory for the {n_bytes} bytes of section `{name}` of the saved store")]
    Memory {
        /// Its name.
        name: String,
        /// What is stated.
        n_bytes: u64,
    },
    /// A section does not unpack.
    #[error("section `{name}` of the saved store does not unpack")]
    Unpack {
        /// Its name.
        name: String,
        /// What the decoder says.
        #[source]
        source: std::io::Error,
    },
    /// A section is not there.
    #[error("saved store has no section `{name}`")]
    Missing {
        /// Its name.
        name: String,
    },
    /// A section is whole, but what it says can't be.
    #[error(transparent)]
    Damaged(#[from] Damaged),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Section {
    name: String,
    n_bytes: u64,
    n_packed: u64,
    checksum: u64,
}

/// A store being saved.
#[derive(Clone, Debug)]
pub struct Snapshot {
    head: Head,
    sections: Vec<Section>,
    packed: Vec<u8>,
}

impl Snapshot {
    /// A snapshot without sections.
    pub fn new(head: Head) -> Self {
        Self { head, sections: Vec::new(), packed: Vec::new() }
    }

    /// Adds a section. Panics when there is one of this name.
    #[must_use]
    pub fn section(mut self, name: &str, bytes: &[u8]) -> Self {
        assert!(self.sections.iter().all(|section| section.name != name), "two sections `{name}`");
        // Level 1: a store is saved while the stream waits, and most of it are hashes that no level packs.
        let packed = zstd::bulk::compress(bytes, 1).expect("the buffer has the size that the encoder asks for");
        let (n_bytes, n_packed) = (bytes.len() as u64, packed.len() as u64);
        self.sections.push(Section { name: name.to_owned(), n_bytes, n_packed, checksum: xxh3_64(&packed) });
        self.packed.extend_from_slice(&packed);
        self
    }

    /// All of it.
    pub fn to_bytes(&self) -> Vec<u8> {
        let head = postcard::to_stdvec(&(self.head, &self.sections)).expect("plain data in memory can be written");
        let mut bytes = Vec::with_capacity(N_FIXED + head.len() + 8 + self.packed.len());
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&FORMAT.to_le_bytes());
        bytes.extend_from_slice(&(head.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&head);
        bytes.extend_from_slice(&xxh3_64(&bytes).to_le_bytes());
        bytes.extend_from_slice(&self.packed);
        bytes
    }

    /// Opens a saved store; all checksums are verified.
    pub fn open(bytes: &[u8]) -> Result<Opened<'_>, SnapshotError> {
        let found = bytes.len() as u64;
        let cut_off = |needed: u64| SnapshotError::CutOff { needed, found };
        if !bytes.starts_with(&MAGIC) {
            let begun = !bytes.is_empty() && MAGIC.starts_with(bytes);
            return Err(if begun { cut_off(N_FIXED as u64) } else { SnapshotError::NotAStore });
        }
        let fixed = bytes.first_chunk::<N_FIXED>().ok_or(cut_off(N_FIXED as u64))?;
        let number = |at: usize| u32::from_le_bytes([fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]]);
        if number(8) != FORMAT {
            return Err(SnapshotError::AnotherFormat { found: number(8), known: FORMAT });
        }
        let n_head = N_FIXED as u64 + u64::from(number(12));
        let (checked, rest) = bytes.split_at_checked(n_head as usize).ok_or(cut_off(n_head + 8))?;
        let (checksum, mut rest) = rest.split_first_chunk().ok_or(cut_off(n_head + 8))?;
        if xxh3_64(checked) != u64::from_le_bytes(*checksum) {
            return Err(SnapshotError::HeadChecksum);
        }
        let (head, listed): (Head, Vec<Section>) =
            postcard::from_bytes(&checked[N_FIXED..]).map_err(SnapshotError::Head)?;
        let n_packed = listed.iter().fold(0, |sum: u64, section| sum.saturating_add(section.n_packed));
        if (rest.len() as u64) < n_packed {
            return Err(cut_off(n_packed.saturating_add(n_head + 8)));
        }
        let mut sections = Vec::with_capacity(listed.len());
        for section in listed {
            let (packed, after) = rest.split_at(section.n_packed as usize);
            if xxh3_64(packed) != section.checksum {
                return Err(SnapshotError::Checksum { name: section.name });
            }
            sections.push((section, packed));
            rest = after;
        }
        match rest.len() as u64 {
            0 => Ok(Opened { head, sections }),
            n_bytes => Err(SnapshotError::LeftOver { n_bytes }),
        }
    }
}

/// A saved store whose checksums are right.
#[derive(Clone, Debug)]
pub struct Opened<'a> {
    head: Head,
    sections: Vec<(Section, &'a [u8])>,
}

impl Opened<'_> {
    /// Under what it was made.
    pub fn head(&self) -> Head {
        self.head
    }

    /// The sections by name, with their unpacked and packed bytes, in the order they were added.
    pub fn sections(&self) -> impl Iterator<Item = (&str, u64, u64)> {
        self.sections.iter().map(|(section, _)| (section.name.as_str(), section.n_bytes, section.n_packed))
    }

    /// The bytes of the section.
    pub fn section(&self, name: &str) -> Result<Vec<u8>, SnapshotError> {
        let found = self.sections.iter().find(|(section, _)| section.name == name);
        let name = name.to_owned();
        let Some(&(Section { n_bytes, .. }, packed)) = found else { return Err(SnapshotError::Missing { name }) };
        let mut bytes = Vec::new();
        // Reserving takes address space, not memory, until there are bytes to fill it.
        if usize::try_from(n_bytes).ok().and_then(|n| bytes.try_reserve_exact(n).ok()).is_none() {
            return Err(SnapshotError::Memory { name, n_bytes });
        }
        let unpacked = zstd::stream::read::Decoder::with_buffer(packed)
            .and_then(|decoder| decoder.take(n_bytes.saturating_add(1)).read_to_end(&mut bytes));
        match unpacked {
            Err(source) => Err(SnapshotError::Unpack { name, source }),
            Ok(n) if n as u64 > n_bytes => Err(SnapshotError::Length { name, side: "more", n_bytes }),
            Ok(n) if (n as u64) < n_bytes => Err(SnapshotError::Length { name, side: "less", n_bytes }),
            Ok(_) => Ok(bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HEAD: Head = Head { scheme: 3, key_id: 0x1234, settings: u64::MAX };

    fn small() -> Snapshot {
        Snapshot::new(HEAD).section("cells", &[7; 300]).section("empty", &[]).section("words", b"three small words")
    }

    fn refusal(bytes: &[u8]) -> String {
        Snapshot::open(bytes).unwrap_err().to_string()
    }

    #[test]
    fn sections_come_back() {
        let bytes = small().to_bytes();
        let opened = Snapshot::open(&bytes).unwrap();
        assert_eq!(opened.head(), HEAD);
        assert_eq!(opened.section("cells").unwrap(), [7; 300]);
        assert!(opened.section("empty").unwrap().is_empty());
        assert_eq!(opened.section("words").unwrap(), b"three small words");
        assert_eq!(opened.section("x").unwrap_err().to_string(), "saved store has no section `x`");
        let sizes: Vec<(&str, u64)> = opened.sections().map(|(name, n_bytes, _)| (name, n_bytes)).collect();
        assert_eq!(sizes, [("cells", 300), ("empty", 0), ("words", 17)]);
        let large: Vec<u8> = (0..3_000_000_u32).map(|i| (i.wrapping_mul(0x9E37_79B9) >> 24) as u8).collect();
        let bytes = Snapshot::new(HEAD).section("large", &large).to_bytes();
        assert!(Snapshot::open(&bytes).unwrap().section("large").unwrap() == large);
    }

    #[test]
    fn refusals_say_what_is_wrong() {
        let bytes = small().to_bytes();
        let n = bytes.len();
        assert_eq!(refusal(b""), "not a saved store");
        assert_eq!(refusal(b"{\"id\": 1}"), "not a saved store");
        assert_eq!(refusal(&bytes[..5]), "saved store is cut off: 5 of 16 bytes");
        assert_eq!(refusal(&bytes[..n - 1]), format!("saved store is cut off: {} of {n} bytes", n - 1));
        assert_eq!(refusal(&[&bytes[..], &[0, 0]].concat()), "saved store has 2 bytes after its end");
        let changed = |at: usize| {
            let mut bytes = bytes.clone();
            bytes[at] ^= 1;
            refusal(&bytes)
        };
        assert_eq!(changed(8), "saved store has format 0, this version reads format 1");
        assert_eq!(changed(20), "head of the saved store fails its checksum");
        assert_eq!(changed(n - 1), "section `words` of the saved store fails its checksum");
    }

    /// A length that the head states wrongly, under right checksums.
    #[test]
    fn a_section_never_outgrows_its_length() {
        for (n_bytes, problem) in [
            (299, "section `cells` of the saved store unpacks to more than the stated 299 bytes"),
            (301, "section `cells` of the saved store unpacks to less than the stated 301 bytes"),
            (u64::MAX, "no memory for the 18446744073709551615 bytes of section `cells` of the saved store"),
        ] {
            let mut snapshot = small();
            snapshot.sections[0].n_bytes = n_bytes;
            let bytes = snapshot.to_bytes();
            assert_eq!(Snapshot::open(&bytes).unwrap().section("cells").unwrap_err().to_string(), problem);
        }
        let mut snapshot = small();
        snapshot.sections[1].n_packed = u64::MAX;
        assert!(refusal(&snapshot.to_bytes()).contains("cut off"));
        let mut snapshot = Snapshot::new(HEAD).section("text", b"");
        snapshot.packed = b"no zstd at all".to_vec();
        snapshot.sections[0].n_packed = 14;
        snapshot.sections[0].checksum = xxh3_64(&snapshot.packed);
        let bytes = snapshot.to_bytes();
        let error = Snapshot::open(&bytes).unwrap().section("text").unwrap_err();
        assert_eq!(error.to_string(), "section `text` of the saved store does not unpack");
    }

    /// A snapshot of this format, as it was first written. Another packer may write others, and must read this one.
    #[test]
    fn golden_bytes() {
        let hex = "5345414d5249500a010000001c00000003b424ffffffffffffffffff01010161010aa8ac8094b58cada1be01\
                   ad2f0f81ad9bf5af28b52ffd200109000062";
        let bytes: Vec<u8> =
            (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect();
        let opened = Snapshot::open(&bytes).expect("another layout raises FORMAT");
        assert_eq!((opened.head(), opened.section("a").unwrap()), (HEAD, b"b".to_vec()));
        let written = Snapshot::new(HEAD).section("a", b"b").to_bytes();
        assert_eq!(written[..N_FIXED + 18], bytes[..N_FIXED + 18]);
    }

    proptest! {
        #[test]
        fn damage_is_refused(at in 0_usize..10_000, change in 1_u8.., cut in 0_usize..10_000, more in 1_usize..9) {
            let bytes = small().to_bytes();
            let (at, cut) = (at % bytes.len(), cut % bytes.len());
            let mut changed = bytes.clone();
            changed[at] ^= change;
            prop_assert!(Snapshot::open(&changed).is_err(), "byte {} changed by {}", at, change);
            prop_assert!(Snapshot::open(&bytes[..cut]).is_err(), "cut after {}", cut);
            prop_assert!(Snapshot::open(&[&bytes[..], &vec![0; more]].concat()).is_err());
        }
    }
}
