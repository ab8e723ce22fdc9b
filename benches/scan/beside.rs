//! Text to verdict beside `gaoya`: the part that it can do, with the same shingles and threshold.
//!
//! Both begin with the visible text of documents. Ours is read as plain text, cut, signed, settled, weighed and judged; `gaoya`
//! lower-cases it, splits words, hashes their shingles, asks its index and inserts. Its bands are those of its manual. It is measured with
//! its own shingles (`shingle_tokens`, which joins words to strings), and once more with windows of words that are hashed where
//! they stand, which its own functions don't do and which is quicker. Ours is measured once more over the documents themselves, with the
//! style, frame, links and hidden text that only markup has (reading the markup apart): what `gaoya` has no part in.
//!
//! A filter runs for months: the memory of both is warm. In each round ours has a new store, through which all documents
//! have gone once under other keys: they meet nothing of it, but the memory has been touched.

use crate::corpora::Corpus;
use crate::fold::{Fold, Times, estrange};
use crate::{median, resident, us_each};
use cpu_time::ThreadTime;
use gaoya::minhash::{MinHashIndex, MinHasher, MinHasher32, SmallVecContainer};
use seamripper::config::Settings;
use seamripper::document::{Carrier, Format, Reader, Record};
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

/// A store for some twenty thousand documents.
const STORE_BYTES: usize = 128 << 20;

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
    println!("text to verdict on one core; gaoya takes {gaoya_bytes:.0} bytes a document");
    println!(
        "  {:<22}{:>8}{:>12}{:>8}{:>10}{:>16}{:>18}",
        "us a document", "text", "document", "gaoya", "windows", "gaoya / text", "windows / text"
    );
    let lexicons = lexicon::load(&Settings::default()).expect("the built-in lexicons load");
    for corpus in corpora {
        let texts = texts(corpus);
        // The first round warms up and is not counted.
        let measured: Vec<[Duration; 4]> = (0..=rounds)
            .map(|_| {
                [
                    ours(&texts, &lexicons, Reading::Timed),
                    ours(&corpus.records, &lexicons, Reading::Apart),
                    gaoya(&texts, corpus.is_mail(), Shingles::Joined),
                    gaoya(&texts, corpus.is_mail(), Shingles::InPlace),
                ]
            })
            .skip(1)
            .collect();
        let n = corpus.records.len();
        let [text, document, gaoya, windows] = [0, 1, 2, 3].map(|which| us_each(&measured, n, |round| round[which]));
        let ahead = [2, 3].map(|which| {
            median(measured.iter().map(|round| round[which].as_secs_f64() / round[0].as_secs_f64()).collect())
        });
        println!(
            "  {:<22}{text:>8.1}{document:>12.1}{gaoya:>8.1}{windows:>10.1}{:>16.2}{:>18.2}",
            corpus.name, ahead[0], ahead[1]
        );
    }
    println!();
}

/// The visible texts of a corpus: plain pages, and mails of subject and text alone.
fn texts(corpus: &Corpus) -> Vec<Record> {
    let settings = Settings::default();
    let mut reader = Reader::new(settings.limits.clone(), Keys::derive(settings.secret.reveal()));
    let text = |(number, record): (usize, &Record)| {
        let document = reader.read(record).unwrap_or_else(|rejection| panic!("{rejection}"));
        let (format, head) = match corpus.is_mail() {
            true => (Format::Mail, "Content-Type: text/plain; charset=utf-8\r\n\r\n"),
            false => (Format::Page, ""),
        };
        let carrier = Carrier {
            id: Some(format!("{number}")),
            content_type: Some("text/plain; charset=utf-8".into()),
            ..Carrier::default()
        };
        Record { format, body: format!("{head}{}", document.text).into_bytes(), carrier }
    };
    corpus.records.iter().enumerate().map(text).collect()
}

/// Whether reading a record is part of what is measured.
#[derive(Clone, Copy, PartialEq)]
enum Reading {
    Timed,
    Apart,
}

fn ours(records: &[Record], lexicons: &Arc<Lexicons>, reading: Reading) -> Duration {
    let mut settings = Settings::default();
    settings.store.memory = STORE_BYTES;
    let keys = Keys::derive(settings.secret.reveal());
    let mut reader = Reader::new(settings.limits.clone(), keys).for_verdicts();
    let mut cutter = Cutter::new(&settings, keys);
    let mut signer = Signer::new(&settings, lexicons.clone()).for_verdicts();
    let mut fold = Fold::new(&settings);
    let mut times = Times::default();
    for round in [1, 2] {
        times = Times::default();
        for records in records.chunks(32) {
            let mut batch = Vec::with_capacity(records.len());
            for record in records {
                let mut start = ThreadTime::now();
                let document = reader.read(record).unwrap_or_else(|rejection| panic!("{rejection}"));
                if reading == Reading::Apart {
                    start = ThreadTime::now();
                }
                let text = cutter.cut(document);
                let signatures = signer.sign(document, text);
                batch.push(Arrival::new(Source::default(), document, text, signatures));
                times.sign += start.elapsed();
            }
            batch.iter_mut().for_each(|arrival| estrange(arrival, round));
            let start = ThreadTime::now();
            batch.iter_mut().for_each(|arrival| fold.clerk.issue(arrival));
            times.sign += start.elapsed();
            fold.fold(&batch, &mut times);
        }
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

fn gaoya(texts: &[Record], is_mail: bool, shingles: Shingles) -> Duration {
    let settings = Settings::default();
    let n_words = if is_mail { settings.minhash.mail_shingle_words } else { settings.minhash.page_shingle_words };
    let (hasher, mut index) = (MinHasher32::new(BANDS * ROWS), index());
    let mut time = Duration::ZERO;
    for (id, record) in (0_u32..).zip(texts) {
        let text = std::str::from_utf8(&record.body).expect("it was made from a text");
        let text = if is_mail { text.split_once("\r\n\r\n").map_or("", |(_, text)| text) } else { text };
        let start = ThreadTime::now();
        let text = text.to_lowercase();
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
