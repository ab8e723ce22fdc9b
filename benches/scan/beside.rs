//! Text to verdict beside `gaoya`: the part that it can do, with the same shingles, slots and threshold.
//!
//! Both start from documents that have been read. Ours are cut, signed with every signature there is, settled, weighed and
//! judged; `gaoya` splits words, hashes their shingles, asks its index and inserts. Its bands are those of its manual. It is
//! measured with its own shingles (`shingle_tokens`, which joins words to strings), and once more with windows of words that are
//! hashed where they stand, which its own functions don't do and which is quicker.

use crate::corpora::Corpus;
use crate::fold::{Fold, Times};
use crate::{median, resident, us_each};
use cpu_time::ThreadTime;
use gaoya::minhash::{MinHashIndex, MinHasher, MinHasher32, SmallVecContainer};
use seamripper::config::Settings;
use seamripper::document::Reader;
use seamripper::pipeline::lexicon;
use seamripper::signature::Signer;
use seamripper::signature::imatch::Lexicons;
use seamripper::signature::keyed::{Keys, mix};
use seamripper::store::Arrival;
use seamripper::text::Cutter;
use seamripper::verdict::event::Source;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

type Index = MinHashIndex<u32, u32, SmallVecContainer<u32, 2>>;

/// The bands of its manual: nearly as many slots as ours, and at our threshold one copy in 27,000 is missed.
const BANDS: usize = 42;
const ROWS: usize = 3;

/// A store for some ten thousand documents.
const STORE_BYTES: usize = 64 << 20;

fn index() -> Index {
    Index::new_index(BANDS, ROWS, Settings::default().mirror.resemblance_min)
}

/// What a document takes in its index.
pub(crate) fn gaoya_bytes() -> f64 {
    const N: u32 = 100_000;
    let before = resident();
    let mut index = index();
    for id in 0..N {
        let slots = (0..(BANDS * ROWS) as u64).map(|slot| mix(mix(id.into(), 5), slot) as u32 >> 1);
        index.insert(id, slots.collect());
    }
    let bytes = resident().saturating_sub(before) as f64 / f64::from(N);
    assert_eq!(black_box(index).size(), N as usize);
    bytes
}

pub(crate) fn report(corpora: &[Corpus], rounds: usize, gaoya_bytes: f64) {
    println!("text to verdict on one core, reading apart; gaoya takes {gaoya_bytes:.0} bytes a document");
    println!("  {:<22}{:>10}{:>10}{:>10}{:>12}{:>12}", "us a document", "ours", "gaoya", "windows", "/ ours", "/ ours");
    let lexicons = lexicon::load(&Settings::default()).expect("the built-in lexicons load");
    for corpus in corpora {
        let measured: Vec<[Duration; 3]> = (0..=rounds)
            .map(|_| [ours(corpus, &lexicons), gaoya(corpus, Shingles::Joined), gaoya(corpus, Shingles::InPlace)])
            .skip(1)
            .collect();
        let n = corpus.records.len();
        let [ours, gaoya, windows] = [0, 1, 2].map(|which| us_each(&measured, n, |round| round[which]));
        let ahead = [1, 2].map(|which| {
            median(measured.iter().map(|round| round[which].as_secs_f64() / round[0].as_secs_f64()).collect())
        });
        println!("  {:<22}{ours:>10.1}{gaoya:>10.1}{windows:>10.1}{:>12.2}{:>12.2}", corpus.name, ahead[0], ahead[1]);
    }
    println!();
}

fn ours(corpus: &Corpus, lexicons: &Arc<Lexicons>) -> Duration {
    let mut settings = Settings::default();
    // Its index grows with the documents; ours is as large as they need.
    settings.store.memory = STORE_BYTES;
    let keys = Keys::derive(settings.secret.reveal());
    let mut reader = Reader::new(settings.limits.clone(), keys);
    let mut cutter = Cutter::new(&settings, keys);
    let mut signer = Signer::new(&settings, lexicons.clone());
    let mut fold = Fold::new(&settings);
    let mut times = Times::default();
    for records in corpus.records.chunks(32) {
        let mut batch = Vec::with_capacity(records.len());
        for record in records {
            let document = reader.read(record).unwrap_or_else(|rejection| panic!("{rejection}"));
            let start = ThreadTime::now();
            let text = cutter.cut(document);
            let signatures = signer.sign(document, text);
            batch.push(Arrival::new(Source::default(), document, text, signatures));
            times.sign += start.elapsed();
        }
        fold.fold(&batch, &mut times);
    }
    times.all()
}

/// What `gaoya` is given to hash.
#[derive(Clone, Copy)]
enum Shingles {
    /// Strings, by its own function.
    Joined,
    /// Windows of words.
    InPlace,
}

fn gaoya(corpus: &Corpus, shingles: Shingles) -> Duration {
    let settings = Settings::default();
    let mut reader = Reader::new(settings.limits.clone(), Keys::derive(settings.secret.reveal()));
    let n_words = match corpus.is_mail() {
        true => settings.minhash.mail_shingle_words,
        false => settings.minhash.page_shingle_words,
    };
    let (hasher, mut index) = (MinHasher32::new(BANDS * ROWS), index());
    let mut time = Duration::ZERO;
    for (id, record) in (0_u32..).zip(&corpus.records) {
        let document = reader.read(record).unwrap_or_else(|rejection| panic!("{rejection}"));
        let start = ThreadTime::now();
        let text = document.text.to_lowercase();
        let words: Vec<&str> = gaoya::text::whitespace_split(&text).collect();
        let signature = match shingles {
            Shingles::Joined => hasher.create_signature(gaoya::text::shingle_tokens(&words, n_words.get())),
            Shingles::InPlace => hasher.create_signature(words.windows(n_words.get())),
        };
        black_box(index.query_one(&signature));
        index.insert(id, signature);
        time += start.elapsed();
    }
    black_box(index);
    time
}
