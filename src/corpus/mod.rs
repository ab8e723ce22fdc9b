//! Files become records: `.html .txt .eml .mbox .jsonl .warc .tar`, each also `.gz` and `.zst`, directories, Maildirs, stdin.
//!
//! [`read`] walks the paths in a fixed order and hands over one [`Entry`] after the other. It streams: a container of
//! many gigabytes needs as much memory as its largest record. What cannot be read is a [`Trouble`] with the name of the
//! file (and of the member in it), and the rest goes on.
//!
//! The name of a file tells its form, and its first bytes whether it is packed; a file with an unknown name is told by
//! its first bytes ([`Form`]).
//!
//! # Invariants
//! - Damage loses the record it is in, not the ones after it, wherever the container allows to find the next.
//!   (`a_damaged_member_loses_one_record`)
//! - The same paths give the same entries in the same order. (`directories_are_walked_in_name_order`)
//! - No record unpacks to more than `limits.unpacked_bytes_max`, whatever its packed size. (`a_bomb_is_rejected`)
//! - Who is asked to end ends, also before a pipe that is silent or endless. (`a_silent_or_endless_pipe_can_be_left`)

mod form;
mod http;
mod lines;
mod mbox;
mod packing;
mod patient;
mod tape;
mod tar;
mod walk;
mod warc;

pub use form::Form;
pub use walk::total_bytes;

use crate::config::Limits;
use crate::document::{Record, Rejection};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};

/// One document as it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Where: the path, and in a container `#` with the member's name, line or number (from 1). [`one`] finds it again.
    pub place: String,
    /// The document.
    pub record: Record,
}

/// What could not be read.
#[derive(Debug, thiserror::Error)]
#[error("{place}: {cause}")]
pub struct Trouble {
    /// Where, as in [`Entry::place`].
    pub place: String,
    /// Why.
    pub cause: Cause,
}

/// Why something could not be read.
#[derive(Debug, thiserror::Error)]
pub enum Cause {
    /// One document was set aside.
    #[error(transparent)]
    Rejected(#[from] Rejection),
    /// The file is not there, may not be read, or reading it failed.
    #[error("{0}")]
    Unreadable(#[source] io::Error),
    /// The file is not what its name or its beginning says, or is broken at this place.
    #[error("{0}")]
    Damaged(String),
    /// The file is fine, and Seamripper does not read such files.
    #[error("{0}")]
    Unsupported(String),
}

impl Cause {
    /// The rejection, if one document was set aside for what it is.
    pub fn rejection(&self) -> Option<&Rejection> {
        match self {
            Self::Rejected(rejection) => Some(rejection),
            _ => None,
        }
    }
}

impl From<io::Error> for Cause {
    fn from(error: io::Error) -> Self {
        if let Some(tape::Bomb { limit }) = error.get_ref().and_then(|inner| inner.downcast_ref()) {
            return Rejection::UnpacksTooLarge { limit: *limit }.into();
        }
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::Damaged("ends too early: the file is cut off".into()),
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput | io::ErrorKind::Other => {
                Self::Damaged(format!("damaged: {error}"))
            }
            io::ErrorKind::NotFound => {
                Self::Unreadable(io::Error::new(error.kind(), "no such file or folder (`-` reads standard input)"))
            }
            _ => Self::Unreadable(error),
        }
    }
}

/// How to read.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The form of all files, whatever their names and first bytes say.
    pub form: Option<Form>,
    /// Grows by the (packed) bytes read from files: what a progress bar shows.
    pub n_bytes_read: Arc<AtomicU64>,
    /// Is told of every file before it is read.
    pub begin: Option<Begin>,
    /// Ends the reading when it is set, also while nothing comes, or nothing that is an entry.
    pub is_over: Arc<AtomicBool>,
    /// A place in standard input names nothing: another document stands there the next time. For those who remember documents.
    pub stdin_is_nameless: bool,
}

/// Is given the path of a file (or `-`) that is about to be read, and can have it passed over by saying false.
#[derive(Clone)]
pub struct Begin(pub Arc<dyn Fn(&Path) -> bool + Send + Sync>);

impl fmt::Debug for Begin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Begin")
    }
}

/// What was left out because nobody would miss it, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Documents handed over.
    pub n_entries: u64,
    /// Things that could not be read.
    pub n_troubles: u64,
    /// Files in folders and archives that hold no document: pictures, styles, scripts.
    pub n_other_files: u64,
    /// WARC records that hold no document: requests, metadata, revisits.
    pub n_other_records: u64,
    /// WARC responses with a status other than 200.
    pub n_other_status: u64,
    /// WARC responses that are neither HTML nor plain text.
    pub n_other_types: u64,
}

/// What receives entries; it can end the reading.
pub type With<'a> = &'a mut dyn FnMut(Result<Entry, Trouble>) -> ControlFlow<()>;

/// Reads all documents under `paths`, in order; `-` is standard input.
pub fn read(paths: &[PathBuf], options: &Options, limits: &Limits, with: With<'_>) -> Tally {
    let mut session = Session { options, limits, tally: Tally::default(), with };
    for path in paths {
        if walk::read_path(path, &mut session).is_break() {
            break;
        }
    }
    session.tally
}

/// Reads all documents in `bytes`, as if they stood in a file called `name`.
pub fn read_bytes(name: &str, bytes: &[u8], options: &Options, limits: &Limits, with: With<'_>) -> Tally {
    let mut session = Session { options, limits, tally: Tally::default(), with };
    // Whoever ended the reading knows that it has ended.
    let _ended = walk::read_source(name, bytes, &mut session);
    session.tally
}

/// The one document that `spec` names: a file with one document in it, or a file, `#`, and what follows it in
/// [`Entry::place`]: `mails.mbox#3`, `pages.tar.gz#site/index.html`.
pub fn one(spec: &str, options: &Options, limits: &Limits) -> Result<Entry, Trouble> {
    let file = container(spec);
    let mut found: Option<Result<Entry, Trouble>> = None;
    let mut n_found = 0;
    read(&[PathBuf::from(file)], options, limits, &mut |entry| {
        let place = match &entry {
            Ok(entry) => &entry.place,
            Err(trouble) => &trouble.place,
        };
        if file.len() < spec.len() && place != spec {
            return ControlFlow::Continue(());
        }
        n_found += 1;
        found.get_or_insert(entry);
        // In a whole file, look for a second one; a place is met once.
        if n_found > 1 || file.len() < spec.len() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let trouble = |message: String| Err(Trouble { place: spec.into(), cause: Cause::Unsupported(message) });
    match found {
        Some(Ok(_)) if n_found > 1 => {
            trouble(format!("holds several documents: name one of them, as `{file}#1` (`seamripper sign` lists them)"))
        }
        Some(entry) => entry,
        None if file.len() < spec.len() => trouble(format!("`{file}` holds no such document")),
        None => trouble("holds no document".into()),
    }
}

/// The documents at `places` ([`Entry::place`]), as far as they are still there, file by file; each file is read once, and
/// not further than to the last of them. What standard input has given is gone.
pub fn several(places: &[String], options: &Options, limits: &Limits, mut with: impl FnMut(Entry)) {
    let mut by_file: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for place in places {
        by_file.entry(container(place)).or_default().insert(place);
    }
    by_file.remove("-");
    for (file, mut wanted) in by_file {
        read(&[PathBuf::from(file)], options, limits, &mut |entry| {
            if let Ok(entry) = entry
                && wanted.remove(entry.place.as_str())
            {
                with(entry);
            }
            if wanted.is_empty() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
    }
}

/// The part of `spec` that is a path: all of it, or what stands before the first `#` that gives an existing file.
fn container(spec: &str) -> &str {
    if spec == "-" || Path::new(spec).exists() {
        return spec;
    }
    spec.match_indices('#')
        .map(|(at, _)| &spec[..at])
        .find(|file| *file == "-" || Path::new(file).is_file())
        .unwrap_or(spec)
}

/// One reading: what all forms need.
struct Session<'a> {
    options: &'a Options,
    limits: &'a Limits,
    tally: Tally,
    with: With<'a>,
}

impl Session<'_> {
    /// Whether the file is to be read.
    fn begins(&self, path: &Path) -> bool {
        self.options.begin.as_ref().is_none_or(|Begin(begin)| begin(path))
    }

    fn give(&mut self, place: String, mut record: Record) -> ControlFlow<()> {
        self.tally.n_entries += 1;
        let is_of_stdin = place == "-" || place.starts_with("-#");
        if self.options.stdin_is_nameless && is_of_stdin {
            record.carrier.id = record.carrier.id.filter(|id| *id != place);
        }
        (self.with)(Ok(Entry { place, record }))
    }

    fn trouble(&mut self, place: &str, cause: impl Into<Cause>) -> ControlFlow<()> {
        self.tally.n_troubles += 1;
        (self.with)(Err(Trouble { place: place.into(), cause: cause.into() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Settings;

    #[test]
    fn several_documents_are_found_again_by_their_places() {
        let folder = tempfile::tempdir().unwrap();
        let (many, alone) = (folder.path().join("many.jsonl"), folder.path().join("alone.html"));
        let line = |n: u32| format!("{{\"id\": \"{n}\", \"text\": \"text {n}\"}}\n");
        std::fs::write(&many, (1..=5).map(line).collect::<String>()).unwrap();
        std::fs::write(&alone, "<p>Alone").unwrap();
        let (options, limits) = (Options::default(), Settings::default().limits);
        let mut places = Vec::new();
        read(&[many, alone], &options, &limits, &mut |entry| {
            places.push(entry.unwrap().place);
            ControlFlow::Continue(())
        });
        assert_eq!(places.len(), 6);
        let asked: Vec<String> =
            [&places[5], &places[3], &places[1], "-#1", "gone.html"].map(|place: &str| place.to_owned()).to_vec();
        let mut found = Vec::new();
        several(&asked, &options, &limits, |entry| {
            assert_eq!(one(&entry.place, &options, &limits).unwrap(), entry);
            found.push(entry.place);
        });
        assert_eq!(found, [&*places[5], &places[1], &places[3]]);
    }
}
