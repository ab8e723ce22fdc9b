//! Lexicons from files: those that the settings name, and new ones out of a corpus.
//!
//! Reading and cutting take nearly all of the time, so several threads do it; counting takes the documents in the order
//! in which the corpus has them, because of two copies the first one counts.
//!
//! # Invariants
//! - The same paths give the same lexicon, however many threads there are. (`threads_do_not_change_a_lexicon`)
//! - A broken record is reported by name, and the others count. (`a_broken_record_is_named_and_the_rest_counts`)

use super::sign::in_order;
use crate::config::{Problems, Settings};
use crate::corpus::{self, Cause, Entry, Trouble};
use crate::document::{Document, Reader};
use crate::signature::imatch::Lexicons;
use crate::signature::keyed::Keys;
use crate::signature::lexicon::count::{Bag, CountLimits, Counter};
use crate::text::words::Traits;
use crate::text::{Cutter, Text};
use std::convert::Infallible;
use std::fs::File;
use std::io::{self, Read};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The lexicons that the settings name, built in or from files.
pub fn load(settings: &Settings) -> Result<Arc<Lexicons>, Problems> {
    Lexicons::new(settings, read_file)
}

/// No lexicon is larger; whoever names a device or a crawl meant another file.
const FILE_BYTES_MAX: u64 = 256 << 20;

/// The bytes of a lexicon's file.
pub fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(io::Error::other(format!("it has more than {FILE_BYTES_MAX} bytes, as no lexicon has")));
    }
    Ok(bytes)
}

/// Counts the documents under `paths`. `with` is told of each batch: how many documents were counted so far, and what
/// could not be read.
pub fn count(
    paths: &[PathBuf],
    options: &corpus::Options,
    settings: &Settings,
    limits: CountLimits,
    n_threads: NonZeroUsize,
    mut with: impl FnMut(u64, &[Trouble]),
) -> Counter {
    let mut counter = Counter::new(limits);
    let mut n_documents = 0;
    let read = |with: corpus::With<'_>| corpus::read(paths, options, &settings.limits, with);
    let worker = || {
        let mut bagger = Bagger::new(settings);
        move |entry| bagger.bag(entry)
    };
    let bug = |place: &str| {
        let cause = Cause::Damaged("has met a bug in seamripper (see the message above)".into());
        Err(Trouble { place: place.to_owned(), cause })
    };
    let Ok(_) = in_order(read, n_threads, worker, bug, |bags| {
        let mut troubles = Vec::new();
        for bag in bags {
            match bag {
                Ok(bag) => {
                    counter.add(&bag);
                    n_documents += 1;
                }
                Err(trouble) => troubles.push(trouble),
            }
        }
        with(n_documents, &troubles);
        Ok::<(), Infallible>(())
    });
    counter
}

/// Makes bags of records; keeps its buffers.
struct Bagger {
    reader: Reader,
    cutter: Cutter,
}

impl Bagger {
    fn new(settings: &Settings) -> Self {
        let keys = Keys::derive(settings.secret.reveal());
        Self { reader: Reader::new(settings.limits.clone(), keys), cutter: Cutter::new(settings, keys) }
    }

    fn bag(&mut self, entry: Result<Entry, Trouble>) -> Result<Bag, Trouble> {
        let Entry { place, record } = entry?;
        match self.reader.read(&record) {
            Ok(document) => Ok(Bag::of(core_pieces(document, self.cutter.cut(document)))),
            Err(rejection) => Err(Trouble { place, cause: Cause::Rejected(rejection) }),
        }
    }
}

/// What I-Match signs: the core of the visible text, in runs of neighbouring units.
pub(super) fn core_pieces<'d>(document: &'d Document, text: &'d Text) -> impl Iterator<Item = &'d str> {
    let mut first = 0;
    let runs = text.words.traits.chunk_by(|a, b| a.has(Traits::CORE) == b.has(Traits::CORE));
    runs.filter_map(move |run| {
        let (start, end) = (first, first + run.len());
        first = end;
        run[0].has(Traits::CORE).then(|| &document.text[text.span(start, end - 1).range()])
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signature::lexicon::count::Tally;
    use std::fmt::Write as _;

    /// 300 pages, in JSON envelopes; every tenth is a copy of the one before it, and line 7 is broken.
    fn corpus_file() -> tempfile::NamedTempFile {
        let mut lines = String::new();
        for n in 0..300u32 {
            let n = if n % 10 == 9 { n - 1 } else { n };
            let words: Vec<String> =
                (0..40u32).map(|word| format!("word{}", letters(word * (n % 7 + 1) + n))).collect();
            let line = serde_json::json!({"id": n.to_string(), "text": words.join(" ")});
            if n == 6 {
                lines.push_str("{\"id\": \n");
            } else {
                writeln!(lines, "{line}").unwrap();
            }
        }
        let file = tempfile::Builder::new().suffix(".jsonl").tempfile().unwrap();
        std::fs::write(file.path(), lines).unwrap();
        file
    }

    fn letters(n: u32) -> String {
        n.to_string().bytes().map(|digit| (digit - b'0' + b'a') as char).collect()
    }

    fn counted(n_threads: usize) -> (Vec<u8>, Tally, Vec<String>) {
        let file = corpus_file();
        let mut troubles = Vec::new();
        let counter = count(
            &[file.path().to_owned()],
            &corpus::Options::default(),
            &Settings::default(),
            CountLimits::default(),
            NonZeroUsize::new(n_threads).unwrap(),
            |_, batch| troubles.extend(batch.iter().map(Trouble::to_string)),
        );
        (counter.lexicon("", "", "", 1).unwrap().to_bytes(), *counter.tally(), troubles)
    }

    #[test]
    fn threads_do_not_change_a_lexicon() {
        let (one, tally, _) = counted(1);
        for n_threads in [2, 5] {
            assert_eq!(counted(n_threads).0, one);
        }
        assert_eq!(tally.n_copies, 30);
    }

    #[test]
    fn a_broken_record_is_named_and_the_rest_counts() {
        let (_, tally, troubles) = counted(2);
        assert_eq!(tally.n_documents + tally.n_copies + tally.n_near_copies, 299);
        assert_eq!(troubles.len(), 1);
        assert!(troubles[0].contains(".jsonl#7: "), "{troubles:?}");
    }
}
