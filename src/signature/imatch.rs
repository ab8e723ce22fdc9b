//! Extended I-Match: one signature per lexicon, over the terms of the text that the lexicon holds (Kolcz 2004).
//!
//! An edit breaks a signature only if its words are in that lexicon. With K randomised copies of the lexicon, each
//! without a share p of the terms, one of the signatures survives n changed words with probability 1-(1-p^n)^K.
//!
//! Where a coordinate has too few terms in the band, rarer terms of the lexicon fill it up, the least rare first
//! (the paper's secondary lexicon). Each copy fills up by itself, so that a changed term that a copy has dropped leaves that
//! copy alone here too.
//!
//! # Invariants
//! - Two documents agree on a coordinate if and only if the lexicon's copy keeps the same terms of both.
//!   (`coordinates_agree_where_the_kept_terms_are_equal`)
//! - The order of terms doesn't count. (`shuffled_terms_sign_alike`)
//! - A coordinate over fewer than `terms_min` terms is left out. (`few_terms_are_unsigned`)
//! - The same terms, lexicon, settings and key give the same bits on every machine. (`golden_coordinates`)

use super::keyed::{Keys, mix};
use super::lexicon::table::{COPIES_MAX, Copies, Place, Rarity, Table};
use super::lexicon::{Lexicon, LexiconId, built_in};
use crate::config::{Band, ImatchSettings, Problems, Settings};
use crate::document::Kind;
use serde::{Serialize, Serializer};
use std::io;
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// An extended I-Match signature.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct IMatch {
    /// The lexicon that chose the terms. Signatures by two lexicons have nothing in common.
    pub lexicon: LexiconId,
    /// The coordinate of the whole lexicon, then those of its copies. `None` where too few terms are left.
    #[serde(serialize_with = "hex")]
    pub coordinates: Vec<Option<u64>>,
    /// How many terms the first coordinate stands for.
    pub n_terms: u32,
}

impl IMatch {
    /// On how many coordinates the two agree. One is enough to be a candidate (Kolcz 2004).
    pub fn agreeing(&self, other: &Self) -> usize {
        if self.lexicon != other.lexicon {
            return 0;
        }
        self.coordinates.iter().zip(&other.coordinates).filter(|(a, b)| a.is_some() && a == b).count()
    }
}

/// 64 bits don't fit the numbers of JSON's readers.
fn hex<S: Serializer>(coordinates: &[Option<u64>], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(coordinates.iter().map(|coordinate| coordinate.map(|bits| format!("{bits:016x}"))))
}

/// The lexicons in force, for all threads. A table is made when the first text asks for it.
pub struct Lexicons {
    page: Role,
    mail: Role,
    unspaced: Role,
    settings: ImatchSettings,
    keys: Keys,
}

/// One lexicon and what it is for.
struct Role {
    origin: Origin,
    band: Band,
    table: OnceLock<Table>,
}

enum Origin {
    BuiltIn(&'static str),
    File(Box<Lexicon>),
}

impl Lexicons {
    /// The lexicons that the settings name. `read` reads a file, since this module does not: `pipeline::lexicon::load`
    /// is the usual way here. A lexicon that can't be had is a problem of the settings.
    pub fn new(settings: &Settings, read: impl Fn(&Path) -> io::Result<Vec<u8>>) -> Result<Arc<Self>, Problems> {
        let imatch = &settings.imatch;
        let mut problems = Vec::new();
        let mut role = |key: &str, value: &str, band: Band| match origin(value, &read) {
            Ok(origin) => Some(Role { origin, band, table: OnceLock::new() }),
            Err(reason) => {
                problems.push(format!("imatch.{key} (`{value}`): {reason}"));
                None
            }
        };
        let page = role("page_lexicon", &imatch.page_lexicon, imatch.page_band);
        let mail = role("mail_lexicon", &imatch.mail_lexicon, imatch.mail_band);
        let unspaced = role("unspaced_lexicon", &imatch.unspaced_lexicon, imatch.unspaced_band);
        match (page, mail, unspaced) {
            (Some(page), Some(mail), Some(unspaced)) => {
                let keys = Keys::derive(settings.secret.reveal());
                Ok(Arc::new(Self { page, mail, unspaced, settings: imatch.clone(), keys }))
            }
            _ => Err(Problems(problems)),
        }
    }

    /// The table for documents of this kind, mostly in a script without spaces or not.
    pub fn table(&self, kind: Kind, unspaced: bool) -> &Table {
        let Role { origin, band, table } = match (unspaced, kind) {
            (true, _) => &self.unspaced,
            (false, Kind::Page) => &self.page,
            (false, Kind::Email) => &self.mail,
        };
        let make =
            |lexicon: &Lexicon| Table::new(lexicon, *band, self.settings.copies, self.settings.drop_share, &self.keys);
        table.get_or_init(|| match origin {
            Origin::BuiltIn(name) => make(&built_in::lexicon(name).expect("the name was looked up at the start")),
            Origin::File(lexicon) => make(lexicon),
        })
    }

    /// The ids of the lexicons for pages, mails and scripts without spaces: what a digest of the settings needs beside
    /// their names.
    pub fn ids(&self) -> [LexiconId; 3] {
        [&self.page, &self.mail, &self.unspaced].map(|role| match &role.origin {
            Origin::BuiltIn(name) => built_in::id(name).expect("the name was looked up at the start"),
            Origin::File(lexicon) => lexicon.id(),
        })
    }
}

fn origin(value: &str, read: impl Fn(&Path) -> io::Result<Vec<u8>>) -> Result<Origin, String> {
    if let Some(name) = built_in::names().find(|name| *name == value) {
        return Ok(Origin::BuiltIn(name));
    }
    let bytes = read(Path::new(value)).map_err(|error| {
        let names: Vec<_> = built_in::names().collect();
        format!("no built-in lexicon ({}), and no file to read: {error}", names.join(", "))
    })?;
    Ok(Origin::File(Box::new(Lexicon::from_bytes(&bytes).map_err(|error| error.to_string())?)))
}

/// Signs bags of terms; keeps its buffers.
pub struct Matcher {
    lexicons: Arc<Lexicons>,
    /// The terms above the band, the least rare first.
    rare: Vec<(Rarity, u64)>,
}

impl Matcher {
    /// A matcher with the given lexicons.
    pub fn new(lexicons: Arc<Lexicons>) -> Self {
        Self { lexicons, rare: Vec::new() }
    }

    /// The signature of a text with these terms (hashed with the key of words, each once, in any order), if the lexicon
    /// holds enough of them.
    pub fn sign(&mut self, terms: &[u64], kind: Kind, unspaced: bool) -> Option<IMatch> {
        let Self { lexicons, rare } = self;
        let table = lexicons.table(kind, unspaced);
        signed(terms, table, lexicons.settings.terms_min.get() as u32, lexicons.keys.imatch, rare)
    }
}

fn signed(terms: &[u64], table: &Table, terms_min: u32, key: u64, rare: &mut Vec<(Rarity, u64)>) -> Option<IMatch> {
    let n_copies = table.n_copies();
    let mut whole = Sum::default();
    let mut copies = [Sum::default(); COPIES_MAX];
    let copies = &mut copies[..n_copies];
    rare.clear();
    for &term in terms {
        match table.place(term) {
            Some(Place::Band(kept)) => {
                let mixed = mix(term, key);
                whole.add(mixed);
                for (index, copy) in copies.iter_mut().enumerate() {
                    copy.add_where(mixed, kept, index);
                }
            }
            Some(Place::Above(rarity)) => rare.push((rarity, term)),
            None => {}
        }
    }
    if whole.n_terms as usize + rare.len() < terms_min as usize {
        return None;
    }
    // The copies hold fewer terms than the whole: if none of them is thin, nothing is.
    if whole.n_terms < terms_min || copies.iter().any(|copy| copy.n_terms < terms_min) {
        fill_up(&mut whole, copies, rare, terms_min, table, key);
    }
    let LexiconId(lexicon) = table.id();
    let coordinate = |(index, sum): (usize, &Sum)| {
        (sum.n_terms >= terms_min).then(|| {
            let place = mix(lexicon ^ index as u64, key);
            mix(mix(sum.bits, u64::from(sum.n_terms)), place)
        })
    };
    let coordinates = std::iter::once(&whole).chain(copies.iter()).enumerate().map(coordinate).collect();
    Some(IMatch { lexicon: table.id(), coordinates, n_terms: whole.n_terms })
}

/// Adds terms above the band, the least rare first and of equal ones that with the lower hash, to every coordinate
/// that has too few, until it has enough.
fn fill_up(whole: &mut Sum, copies: &mut [Sum], rare: &mut [(Rarity, u64)], terms_min: u32, table: &Table, key: u64) {
    rare.sort_unstable();
    for &(_, term) in rare.iter() {
        let (mixed, kept) = (mix(term, key), table.copies(term));
        let mut thin = whole.n_terms < terms_min;
        if thin {
            whole.add(mixed);
        }
        for (index, copy) in copies.iter_mut().enumerate() {
            if copy.n_terms < terms_min {
                thin = true;
                copy.add_where(mixed, kept, index);
            }
        }
        if !thin {
            return;
        }
    }
}

/// A bag of terms, whatever their order: the sum of their mixed hashes, which nobody without the key can steer.
#[derive(Clone, Copy, Default)]
struct Sum {
    bits: u64,
    n_terms: u32,
}

impl Sum {
    #[inline]
    fn add(&mut self, mixed: u64) {
        self.bits = self.bits.wrapping_add(mixed);
        self.n_terms += 1;
    }

    /// Adds without a branch: which terms a copy drops is as good as a coin.
    #[inline]
    fn add_where(&mut self, mixed: u64, kept: Copies, index: usize) {
        let ones = kept.all_ones(index);
        self.bits = self.bits.wrapping_add(mixed & ones);
        self.n_terms += (ones & 1) as u32;
    }
}
