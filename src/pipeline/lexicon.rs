//! Lexicons from files: those that the settings name, and new ones out of a corpus.
//!
//! Reading and cutting take nearly all of the time, so several threads do it; counting takes the documents in the
//! order in which the corpus has them, because of two copies the first one counts. The k-th document goes to the k-th thread
//! in turn and comes back in turn: order costs no buffer.
//!
//! # Invariants
//! - The same paths give the same lexicon, however many threads there are. (`threads_do_not_change_a_lexicon`)
//! - A broken record is reported by name, and the others count. (`a_broken_record_is_named_and_the_rest_counts`)

use crate::config::{Problems, Settings};
use crate::corpus::{self, Cause, Entry, Trouble};
use crate::document::{Document, Reader, Record};
use crate::signature::imatch::Lexicons;
use crate::signature::keyed::Keys;
use crate::signature::lexicon::count::{Bag, CountLimits, Counter};
use crate::text::words::Traits;
use crate::text::{Cutter, Text};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

/// Records that wait before each thread, and bags behind it.
const WAITING: usize = 16;

/// The lexicons that the settings name, built in or from files.
pub fn load(settings: &Settings) -> Result<Arc<Lexicons>, Problems> {
    Lexicons::new(settings, |path| std::fs::read(path))
}

/// Counts the documents under `paths`. `with` is told of each, in order: its bytes as they were read, or why it could not
/// be; it can end the counting.
pub fn count(
    paths: &[PathBuf],
    options: &corpus::Options,
    settings: &Settings,
    limits: CountLimits,
    threads: NonZeroUsize,
    with: &mut dyn FnMut(Result<usize, &Trouble>) -> ControlFlow<()>,
) -> Counter {
    let mut counter = Counter::new(limits);
    let (lanes_in, lanes_out): (Vec<_>, Vec<_>) = (0..threads.get())
        .map(|_| (crossbeam_channel::bounded(WAITING), crossbeam_channel::bounded(WAITING)))
        .map(|((to_thread, records), (bags, from_thread))| ((to_thread, records, bags), from_thread))
        .unzip();
    std::thread::scope(|scope| {
        let mut to_threads = Vec::new();
        for (to_thread, records, bags) in lanes_in {
            to_threads.push(to_thread);
            scope.spawn(move || {
                let mut bagger = Bagger::new(settings);
                for entry in records {
                    if bags.send(bagger.bag(entry)).is_err() {
                        return;
                    }
                }
            });
        }
        scope.spawn(move || {
            let mut turn = to_threads.iter().cycle();
            corpus::read(paths, options, &settings.limits, &mut |entry| {
                let to_thread = turn.next().expect("there is at least one thread");
                if to_thread.send(entry).is_err() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
        });
        // The first lane that has ended is the one whose turn would be next: the corpus has ended.
        for from_thread in lanes_out.iter().cycle() {
            let Ok(counted) = from_thread.recv() else { break };
            let outcome = counted.map(|(bag, n_bytes)| {
                counter.add(&bag);
                n_bytes
            });
            if with(outcome.as_ref().copied()).is_break() {
                break;
            }
        }
        // Threads that still have something to send find nobody there, and end.
        drop(lanes_out);
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

    fn bag(&mut self, entry: Result<Entry, Trouble>) -> Result<(Bag, usize), Trouble> {
        let Entry { place, record } = entry?;
        match self.bag_of(&record) {
            Ok(bag) => Ok((bag, record.body.len())),
            Err(rejection) => Err(Trouble { place, cause: Cause::Rejected(rejection) }),
        }
    }

    fn bag_of(&mut self, record: &Record) -> Result<Bag, crate::document::Rejection> {
        let document = self.reader.read(record)?;
        let text = self.cutter.cut(document);
        Ok(Bag::of(core_pieces(document, text)))
    }
}

/// The parts of the visible text that are signed: the core, in runs of neighbouring units.
fn core_pieces<'d>(document: &'d Document, text: &'d Text) -> impl Iterator<Item = &'d str> {
    let words = &text.words;
    words
        .traits
        .chunk_by(|a, b| a.has(Traits::CORE) == b.has(Traits::CORE))
        .scan(0, |first, run| {
            let (start, end) = (*first, *first + run.len());
            *first = end;
            let span = text.span(start, end - 1);
            Some(run[0].has(Traits::CORE).then(|| &document.text[span.range()]))
        })
        .flatten()
}
