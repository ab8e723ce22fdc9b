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
use super::lexicon::table::{COPIES_MAX, Copies, Rarity, Table};
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

    /// Those for pages, mails and scripts without spaces that came out of files.
    pub fn of_files(&self) -> [Option<&Lexicon>; 3] {
        [&self.page, &self.mail, &self.unspaced].map(|role| match &role.origin {
            Origin::BuiltIn(_) => None,
            Origin::File(lexicon) => Some(&**lexicon),
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
    sorted_out: SortedOut,
}

/// The terms of one text that the lexicon holds.
#[derive(Default)]
struct SortedOut {
    /// In the band: their hashes, mixed with the key ...
    mixed: Vec<u64>,
    /// ... and the copies that hold them.
    kept: Vec<Copies>,
    /// Above the band.
    rare: Vec<(Rarity, u64)>,
}

impl Matcher {
    /// A matcher with the given lexicons.
    pub fn new(lexicons: Arc<Lexicons>) -> Self {
        Self { lexicons, sorted_out: SortedOut::default() }
    }

    /// The signature of a text with these terms (hashed with the key of words, each once, in any order), if the lexicon
    /// holds enough of them.
    pub fn sign(&mut self, terms: &[u64], kind: Kind, unspaced: bool) -> Option<IMatch> {
        let Lexicons { settings, keys, .. } = &*self.lexicons;
        let table = self.lexicons.table(kind, unspaced);
        self.sorted_out.signed(terms, table, settings.terms_min.get() as u32, keys.imatch)
    }
}

impl SortedOut {
    fn signed(&mut self, terms: &[u64], table: &Table, terms_min: u32, key: u64) -> Option<IMatch> {
        self.fill(terms, table, key);
        if self.mixed.len() + self.rare.len() < terms_min as usize {
            return None;
        }
        let n_copies = table.n_copies();
        let mut sums = [Sum::default(); COPIES_MAX + 1];
        let sums = &mut sums[..=n_copies];
        let (whole, copies) = sums.split_first_mut().expect("the whole lexicon has a sum");
        *whole = self.sum(|_| 1);
        for (index, sum) in copies.iter_mut().enumerate() {
            *sum = self.sum(|kept| kept.bit(index));
        }
        if sums.iter().any(|sum| sum.n_terms < terms_min) {
            self.rare.sort_unstable();
            fill_up(sums, &self.rare, terms_min, table, key);
        }
        let LexiconId(lexicon) = table.id();
        let coordinate = |(index, sum): (usize, &Sum)| {
            let place = mix(lexicon ^ index as u64, key);
            (sum.n_terms >= terms_min).then(|| mix(mix(sum.bits, u64::from(sum.n_terms)), place))
        };
        let coordinates = sums.iter().enumerate().map(coordinate).collect();
        Some(IMatch { lexicon: table.id(), coordinates, n_terms: sums[0].n_terms })
    }

    /// Which terms the lexicon holds is as good as a coin: each is written down as both, and counted as what it is.
    fn fill(&mut self, terms: &[u64], table: &Table, key: u64) {
        // One place more, for what is written down last and not counted.
        self.mixed.resize(terms.len() + 1, 0);
        self.kept.resize(terms.len() + 1, Copies::default());
        self.rare.resize(terms.len() + 1, <(Rarity, u64)>::default());
        // A lexicon is larger than the caches: its lines are on their way before they are looked at.
        const AHEAD: usize = 16;
        terms.iter().take(AHEAD).for_each(|&term| table.prefetch(term));
        let (mut n_band, mut n_rare) = (0, 0);
        for (number, &term) in terms.iter().enumerate() {
            if let Some(&next) = terms.get(number + AHEAD) {
                table.prefetch(next);
            }
            let value = table.value(term);
            self.mixed[n_band] = mix(term, key);
            self.kept[n_band] = value.copies();
            self.rare[n_rare] = (value.rarity(), term);
            n_band += usize::from(value.is_in_band());
            n_rare += usize::from(value.is_above());
        }
        self.mixed.truncate(n_band);
        self.kept.truncate(n_band);
        self.rare.truncate(n_rare);
    }

    /// The sum of the terms in the band that `has` gives 1 for. Without a branch, since which terms a copy has dropped is as
    /// good as a coin, and over plain columns, so that several terms are added at once.
    fn sum(&self, has: impl Fn(Copies) -> u64) -> Sum {
        let (mut bits, mut n_terms) = (0u64, 0u64);
        for (mixed, kept) in self.mixed.iter().zip(&self.kept) {
            let bit = has(*kept);
            bits = bits.wrapping_add(mixed & bit.wrapping_neg());
            n_terms += bit;
        }
        Sum { bits, n_terms: n_terms as u32 }
    }
}

/// Adds `rare` terms, the least rare first and of equal ones that with the lower hash, to every coordinate that has
/// too few, until it has enough.
fn fill_up(sums: &mut [Sum], rare: &[(Rarity, u64)], terms_min: u32, table: &Table, key: u64) {
    for &(_, term) in rare {
        let (mixed, kept) = (mix(term, key), table.copies(term));
        let mut thin = false;
        for (index, sum) in sums.iter_mut().enumerate() {
            if sum.n_terms < terms_min {
                thin = true;
                let bit = index.checked_sub(1).map_or(1, |copy| kept.bit(copy));
                sum.bits = sum.bits.wrapping_add(mixed & bit.wrapping_neg());
                sum.n_terms += bit as u32;
            }
        }
        if !thin {
            return;
        }
    }
}

/// A bag of terms, whatever their order: the sum of their mixed hashes, which nobody without the key can steer.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    bits: u64,
    n_terms: u32,
}

#[cfg(test)]
mod tests {
    use super::super::lexicon::About;
    use super::super::lexicon::table::Draw;
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

    const COPIES: usize = 5;
    const SHARE: f64 = 1.0 / 3.0;
    const KEY: u64 = 0xC0FF_EE00_C0FF_EE00;
    const TERMS_MIN: u32 = 4;
    const BAND: Band = Band { min: 0.2, max: 0.8 };

    /// `a`, `aa`, … are in the band or rarer, `z`, `zz`, … too common, and others unknown.
    fn lexicon() -> Lexicon {
        let about = About { name: "test".into(), n_documents: 1000, df_min: 2, ..About::default() };
        let letters = ["a", "b", "c", "d", "e", "f", "z"];
        let mut terms: Vec<(String, u32)> = Vec::new();
        for (place, letter) in letters.iter().enumerate() {
            for n in 1..=3 {
                let df = if *letter == "z" { 600 } else { [200, 90, 3][n - 1] - place as u32 / 4 };
                terms.push((letter.repeat(n), df));
            }
        }
        Lexicon::new(about, terms.iter().map(|(term, df)| (term.as_str(), *df))).unwrap()
    }

    fn hash(term: &str) -> u64 {
        xxh3_64(term.as_bytes())
    }

    fn table() -> Table {
        Table::with_draw(&lexicon(), BAND, Draw::new(COPIES, SHARE, KEY), hash)
    }

    fn sign(terms: &[&str]) -> Option<IMatch> {
        let hashes: Vec<u64> = terms.iter().map(|term| hash(term)).collect();
        SortedOut::default().signed(&hashes, &table(), TERMS_MIN, KEY)
    }

    /// The slow and obvious version: for each coordinate the sorted list of the terms it keeps, spelled out.
    fn kept_lists(terms: &BTreeSet<&str>, lexicon: &Lexicon) -> Vec<Option<Vec<String>>> {
        let keeps = |coordinate: usize, term: &str| {
            let key = xxh3_64_with_seed(&(coordinate as u64).to_le_bytes(), KEY);
            coordinate == 0 || mix(mix(hash(term), key), key) as f64 / 2f64.powi(64) >= SHARE
        };
        (0..=COPIES)
            .map(|coordinate| {
                let known: Vec<(f64, u64, &str)> = terms
                    .iter()
                    .filter(|term| keeps(coordinate, term))
                    .filter_map(|term| Some((lexicon.nidf(lexicon.document_frequency(term)?), hash(term), *term)))
                    .collect();
                let in_band = known.iter().filter(|(nidf, ..)| (BAND.min..=BAND.max).contains(nidf));
                let mut list: Vec<String> = in_band.map(|(.., term)| term.to_string()).collect();
                let mut above: Vec<_> = known.iter().filter(|(nidf, ..)| *nidf > BAND.max).collect();
                above.sort_by(|a, b| a.partial_cmp(b).unwrap());
                let missing = (TERMS_MIN as usize).saturating_sub(list.len());
                list.extend(above.iter().take(missing).map(|(.., term)| term.to_string()));
                list.sort();
                (list.len() >= TERMS_MIN as usize).then_some(list)
            })
            .collect()
    }

    fn document() -> impl Strategy<Value = BTreeSet<&'static str>> {
        let words = [
            "a", "b", "c", "d", "e", "f", "z", "aa", "bb", "cc", "dd", "ee", "ff", "zz", "aaa", "bbb", "ccc", "ddd",
            "eee", "fff", "zzz", "unknown", "other", "strange",
        ];
        proptest::sample::subsequence(words.to_vec(), 0..=24).prop_map(|words| words.into_iter().collect())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// Two documents, the second often a small change of the first.
        #[test]
        fn coordinates_agree_where_the_kept_terms_are_equal(a in document(), b in document(), change: bool) {
            let b = if change { a.symmetric_difference(&b.into_iter().take(2).collect()).copied().collect() } else { b };
            let lexicon = lexicon();
            let list = |set: &BTreeSet<&'static str>| set.iter().copied().collect::<Vec<_>>();
            let (signed_a, signed_b) = (sign(&list(&a)), sign(&list(&b)));
            let (lists_a, lists_b) = (kept_lists(&a, &lexicon), kept_lists(&b, &lexicon));
            prop_assert_eq!(signed_a.is_some(), lists_a[0].is_some());
            let (Some(signed_a), Some(signed_b)) = (signed_a, signed_b) else { return Ok(()) };
            prop_assert_eq!(signed_a.n_terms as usize, lists_a[0].as_ref().unwrap().len());
            let mut n_agreeing = 0;
            for coordinate in 0..=COPIES {
                let (one, other) = (signed_a.coordinates[coordinate], signed_b.coordinates[coordinate]);
                let (one_list, other_list) = (&lists_a[coordinate], &lists_b[coordinate]);
                prop_assert_eq!(one.is_some(), one_list.is_some(), "coordinate {}", coordinate);
                prop_assert_eq!(one == other, one_list == other_list, "coordinate {}", coordinate);
                n_agreeing += usize::from(one.is_some() && one == other);
            }
            prop_assert_eq!(signed_a.agreeing(&signed_b), n_agreeing);
        }

        #[test]
        fn shuffled_terms_sign_alike(terms in document(), by in any::<u64>()) {
            let list: Vec<&str> = terms.iter().copied().collect();
            let mut shuffled = list.clone();
            shuffled.sort_by_key(|term| mix(hash(term), by));
            prop_assert_eq!(sign(&list), sign(&shuffled));
        }
    }

    #[test]
    fn few_terms_are_unsigned() {
        assert_eq!(sign(&[]), None);
        assert_eq!(sign(&["a", "b", "c"]), None);
        assert_eq!(sign(&["a", "b", "c", "z", "zz", "zzz", "unknown"]), None, "too common or unknown: not counted");
        let thin = sign(&["a", "b", "c", "d"]).unwrap();
        assert_eq!(thin.n_terms, 4);
        assert!(thin.coordinates[1..].contains(&None), "a copy that drops one has too few: {thin:?}");
    }

    #[test]
    fn rare_terms_fill_up_thin_texts_only() {
        let thin = sign(&["a", "b", "c", "aaa"]).unwrap();
        assert_ne!(thin.coordinates[0], sign(&["a", "b", "c", "bbb"]).unwrap().coordinates[0]);
        let enough = ["a", "b", "c", "d", "e", "f", "aa", "bb", "cc", "dd", "ee", "ff"];
        let with_rare = [&enough[..], &["aaa", "eee"]].concat();
        assert_eq!(sign(&enough), sign(&with_rare), "enough in every copy: rarer terms don't count");
    }

    #[test]
    fn signatures_of_two_lexicons_have_nothing_in_common() {
        let one = sign(&["a", "b", "c", "d", "e", "f"]).unwrap();
        assert_eq!(one.agreeing(&one), one.coordinates.iter().flatten().count());
        let other = IMatch { lexicon: LexiconId(one.lexicon.0 + 1), ..one.clone() };
        assert_eq!(one.agreeing(&other), 0);
    }

    #[test]
    fn golden_coordinates() {
        let signed = sign(&["a", "b", "c", "aa", "bbb", "unknown"]).unwrap();
        let golden = concat!(
            r#"{"lexicon":"0ca5347f00aa9766","coordinates":["670cf26237b1b1de",null,null,"#,
            r#""d68a58cee957c7a3","6e104d470b81c218","236207a50168e2fc"],"n_terms":4}"#
        );
        assert_eq!(serde_json::to_string(&signed).unwrap(), golden);
    }

    #[test]
    fn a_lexicon_that_is_not_there_is_named_with_its_key() {
        let mut settings = Settings::default();
        settings.imatch.mail_lexicon = "klingon".into();
        settings.imatch.page_lexicon = "broken.lexicon".into();
        let read = |path: &Path| match path.to_str() {
            Some("broken.lexicon") => Ok(b"nonsense".to_vec()),
            _ => Err(io::ErrorKind::NotFound.into()),
        };
        let Err(Problems(problems)) = Lexicons::new(&settings, read) else { panic!("refused") };
        assert_eq!(problems.len(), 2, "{problems:?}");
        assert!(problems[0].starts_with("imatch.page_lexicon (`broken.lexicon`): not a lexicon"), "{problems:?}");
        assert!(problems[1].starts_with("imatch.mail_lexicon (`klingon`): no built-in lexicon"), "{problems:?}");
    }
}
