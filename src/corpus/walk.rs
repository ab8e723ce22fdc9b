//! From paths to tapes: folders in name order, files by their form, archives by their members.

use super::form::{self, Form, SNIFFED_BYTES};
use super::packing::{GARBAGE, Packing};
use super::patient::{self, Patient};
use super::tape::Tape;
use super::{Cause, Options, Session, lines, mbox, tar, warc};
use crate::config::Limits;
use crate::document::{Carrier, Format, Record, Rejection};
use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufRead, IsTerminal, Read};
use std::ops::ControlFlow;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use walkdir::{DirEntry, WalkDir};

/// How many (packed) bytes [`super::read`] will find under `paths`; `None` where one is standard input or a pipe.
pub fn total_bytes(paths: &[PathBuf]) -> Option<u64> {
    let mut total = 0;
    for path in paths {
        match path.metadata() {
            Ok(metadata) if metadata.is_dir() => {
                total += walked(path).filter_map(|entry| Some(entry.ok()?.metadata().ok()?.len())).sum::<u64>();
            }
            Ok(metadata) if metadata.is_file() => total += metadata.len(),
            Ok(_) => return None,
            Err(_) if path.as_os_str() == "-" => return None,
            Err(_) => {} // will be reported when it is read
        }
    }
    Some(total)
}

/// Reads one path that a user named.
pub(super) fn read_path(path: &Path, session: &mut Session<'_>) -> ControlFlow<()> {
    if path.as_os_str() == "-" {
        if !session.begins(path) {
            return ControlFlow::Continue(());
        }
        let met = Met { path, place: "-", size: None, named: true };
        return match Patient::new(io::stdin(), session.options.is_over.clone()) {
            Ok(stdin) => read_tape(&mut Tape::new(Counted::new(stdin, session)), met, session),
            Err(error) => session.trouble("-", error),
        };
    }
    match path.metadata() {
        Ok(metadata) if metadata.is_dir() => read_folder(path, session),
        Ok(_) => read_file(path, true, session),
        Err(error) => session.trouble(&path.to_string_lossy(), error),
    }
}

fn read_folder(folder: &Path, session: &mut Session<'_>) -> ControlFlow<()> {
    for entry in walked(folder) {
        match entry {
            Ok(entry) => read_file(entry.path(), false, session)?,
            Err(error) => {
                let place = error.path().unwrap_or(folder).to_string_lossy().into_owned();
                session.trouble(&place, error.into_io_error().unwrap_or_else(|| io::ErrorKind::Other.into()))?;
            }
        }
    }
    ControlFlow::Continue(())
}

/// The files under `folder` that may be documents, in name order. Links are followed; one that leads to a folder that
/// is being walked is passed over, since everything in it is read anyway.
fn walked(folder: &Path) -> impl Iterator<Item = walkdir::Result<DirEntry>> {
    // Files beside the folders of a Maildir are its server's notes.
    let mut last_folder = (PathBuf::new(), false);
    let mut lies_in_maildir = move |path: &Path| {
        let parent = path.parent().unwrap_or(Path::new(""));
        if parent != last_folder.0 {
            last_folder = (parent.to_path_buf(), is_maildir(parent));
        }
        last_folder.1
    };
    WalkDir::new(folder)
        .follow_links(true)
        .sort_by_file_name()
        .into_iter()
        .filter_entry(|entry| entry.depth() == 0 || is_walked(entry))
        .filter(move |entry| match entry {
            Ok(entry) => entry.file_type().is_file() && !lies_in_maildir(entry.path()),
            Err(error) => error.loop_ancestor().is_none(),
        })
}

/// Leaves out what is hidden, except the folders that Maildir++ hides, and mails that are still being delivered.
fn is_walked(entry: &DirEntry) -> bool {
    let name = entry.file_name().to_string_lossy();
    let is_folder = entry.file_type().is_dir();
    if is_folder && name == "tmp" {
        return !entry.path().parent().is_some_and(is_maildir);
    }
    !name.starts_with('.') || is_folder && is_maildir(entry.path())
}

fn is_maildir(folder: &Path) -> bool {
    folder.join("cur").is_dir() && folder.join("new").is_dir()
}

fn read_file(path: &Path, named: bool, session: &mut Session<'_>) -> ControlFlow<()> {
    if !named && session.options.form.is_none() && form::is_companion(path) {
        session.tally.n_other_files += 1;
        return ControlFlow::Continue(());
    }
    if !session.begins(path) {
        return ControlFlow::Continue(());
    }
    let place = path.to_string_lossy();
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) => return session.trouble(&place, error),
    };
    if is_endless(&file) {
        let message = "is a device, which has no end; `-` reads what a program writes".into();
        return session.trouble(&place, Cause::Unsupported(message));
    }
    // A pipe has no size.
    let size = file.metadata().ok().filter(|metadata| metadata.is_file()).map(|metadata| metadata.len());
    let met = Met { path, place: &place, size, named };
    if size.is_some() {
        return read_tape(&mut Tape::new(Counted::new(file, session)), met, session);
    }
    match Patient::new(file, session.options.is_over.clone()) {
        Ok(pipe) => read_tape(&mut Tape::new(Counted::new(pipe, session)), met, session),
        Err(error) => session.trouble(&place, error),
    }
}

/// Whether it is a device that nobody types into.
fn is_endless(file: &File) -> bool {
    let is_device = |kind: std::fs::FileType| kind.is_char_device() || kind.is_block_device();
    file.metadata().is_ok_and(|metadata| is_device(metadata.file_type())) && !file.is_terminal()
}

/// Reads what `source` holds, as if it were a file of that name.
pub(super) fn read_source(name: &str, source: impl io::Read, session: &mut Session<'_>) -> ControlFlow<()> {
    let met = Met { path: Path::new(name), place: name, size: None, named: true };
    read_tape(&mut Tape::new(Counted::new(source, session)), met, session)
}

/// A file or a member of an archive, as it was met.
#[derive(Clone, Copy)]
struct Met<'m> {
    /// Its name tells its form.
    path: &'m Path,
    place: &'m str,
    size: Option<u64>,
    /// Whether a user asked for it by name, so that it must be a document.
    named: bool,
}

fn read_tape(tape: &mut Tape<'_>, met: Met<'_>, session: &mut Session<'_>) -> ControlFlow<()> {
    let known = session.options.form.or_else(|| Form::of_name(met.path));
    let (packing, is_empty) = match tape.peek(4) {
        Ok(head) => (Packing::of(head), head.is_empty()),
        Err(error) => return session.trouble(met.place, error),
    };
    let sniffed = match known {
        Some(_) if packing.is_some() || !says_packed(met.path) => None,
        _ => match sniffed(tape, packing) {
            Ok(sniffed) => Some(sniffed),
            Err(error) => return session.trouble(met.place, error),
        },
    };
    if packing.is_none() && says_packed(met.path) && (is_empty || sniffed == Some(None)) {
        return session.trouble(met.place, Cause::Damaged("neither gzip nor zstd, whatever its name says".into()));
    }
    let Some(form) = known.or(sniffed.flatten()) else {
        if met.named {
            let message = "holds no text (`--format` says what it is, if it does)";
            return session.trouble(met.place, Cause::Unsupported(message.into()));
        }
        session.tally.n_other_files += 1;
        return ControlFlow::Continue(());
    };
    match packing {
        None => read_form(tape, form, met, false, session),
        Some(packing) if form == Form::Warc => warc::read_packed(tape, packing, met.place, session),
        Some(packing) => {
            let has_garbage = Cell::new(false);
            match packing.unpacked(tape, &has_garbage) {
                Ok(source) => {
                    let guarded =
                        Tape::new(source).guarded(&session.options.n_bytes_read, session.limits.unpacked_bytes_max);
                    read_form(&mut { guarded }, form, Met { size: None, ..met }, true, session)?;
                }
                Err(error) => return session.trouble(met.place, error),
            }
            match has_garbage.get() {
                true => session.trouble(met.place, Cause::Damaged(GARBAGE.into())),
                false => ControlFlow::Continue(()),
            }
        }
    }
}

/// What the first bytes, unpacked, are the beginning of.
fn sniffed(tape: &mut Tape<'_>, packing: Option<Packing>) -> io::Result<Option<Form>> {
    let Some(packing) = packing else { return Ok(Form::sniffed(tape.peek(SNIFFED_BYTES)?)) };
    tape.mark();
    let mut head = Vec::new();
    // Damage is met again, and reported, when the file is read.
    let _damage = packing.member(tape)?.take(SNIFFED_BYTES as u64).read_to_end(&mut head);
    tape.rewind();
    Ok(Form::sniffed(&head))
}

fn says_packed(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("gz") || extension.eq_ignore_ascii_case("zst"))
}

fn read_form(
    tape: &mut Tape<'_>,
    form: Form,
    met: Met<'_>,
    packed: bool,
    session: &mut Session<'_>,
) -> ControlFlow<()> {
    match form {
        Form::Mbox => mbox::read(tape, met.place, session),
        Form::Jsonl => lines::read(tape, met.place, session),
        Form::Warc => warc::read(tape, met.place, session),
        Form::Tar => tar::read(tape, met.place, session),
        Form::Html | Form::Text | Form::Mail => match body(tape, met.size, packed, session.limits) {
            Ok(body) => give_single(form, body, met.place, session),
            Err(cause) => session.trouble(met.place, cause),
        },
    }
}

/// Reads a member of an archive that has `size` bytes; what it leaves of them, the archive skips.
pub(super) fn read_member(
    tape: &mut Tape<'_>,
    size: u64,
    path: &Path,
    archive: &str,
    session: &mut Session<'_>,
) -> ControlFlow<()> {
    let is_hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
    if is_hidden || form::is_companion(path) {
        session.tally.n_other_files += 1;
        return ControlFlow::Continue(());
    }
    let place = format!("{archive}#{}", path.display());
    let known = Form::of_name(path);
    if known == Some(Form::Tar) {
        return session
            .trouble(&place, Cause::Unsupported("an archive in an archive is not read: unpack it first".into()));
    }
    let head = match tape.peek(usize::try_from(size).unwrap_or(usize::MAX).min(SNIFFED_BYTES)) {
        Ok(head) => head,
        Err(error) => return session.trouble(&place, error),
    };
    // Nearly all members are single documents, which need no tape of their own.
    if let (None, Some(form @ (Form::Html | Form::Text | Form::Mail))) = (Packing::of(head), known) {
        return match member_body(tape, size, session.limits) {
            Ok(body) => give_single(form, body, &place, session),
            Err(cause) => session.trouble(&place, cause),
        };
    }
    let met = Met { path, place: &place, size: Some(size), named: false };
    read_tape(&mut Tape::new(tape.take(size)), met, session)
}

fn member_body(tape: &mut Tape<'_>, size: u64, limits: &Limits) -> Result<Vec<u8>, Cause> {
    let limit = limits.body_bytes_max;
    if size > limit as u64 {
        return Err(Rejection::TooLarge { len: size as usize, limit }.into());
    }
    let mut body = Vec::with_capacity(size as usize);
    match tape.take_exactly(size as usize, &mut body)? {
        true => Ok(body),
        false => Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
    }
}

/// All of `tape`, unless that is more than the limits allow. Bytes over the limit are counted and not kept.
fn body(tape: &mut Tape<'_>, size: Option<u64>, packed: bool, limits: &Limits) -> Result<Vec<u8>, Cause> {
    let limit = limits.body_bytes_max;
    if let Some(size) = size.filter(|size| *size > limit as u64) {
        return Err(Rejection::TooLarge { len: size as usize, limit }.into());
    }
    let mut body = Vec::with_capacity(size.unwrap_or(0) as usize);
    let mut len = 0;
    loop {
        let here = tape.fill_buf()?;
        let step = here.len();
        if step == 0 {
            break;
        }
        len += step;
        if len <= limit {
            body.extend_from_slice(here);
        }
        if packed && len > limits.unpacked_bytes_max {
            return Err(Rejection::UnpacksTooLarge { limit: limits.unpacked_bytes_max }.into());
        }
        tape.consume(step);
        // A pipe may have no end.
        if len > limits.unpacked_bytes_max {
            break;
        }
    }
    if len > limit { Err(Rejection::TooLarge { len, limit }.into()) } else { Ok(body) }
}

fn give_single(form: Form, mut body: Vec<u8>, place: &str, session: &mut Session<'_>) -> ControlFlow<()> {
    let mut carrier = Carrier { id: Some(place.to_owned()), ..Carrier::default() };
    let format = match form {
        Form::Mail => Format::Mail,
        _ => Format::Page,
    };
    if form == Form::Text {
        carrier.content_type = Some("text/plain".into());
    }
    // Mails cut out of a mailbox often keep the line that stood above them.
    if form == Form::Mail && body.starts_with(b"From ") {
        let end = memchr::memchr(b'\n', &body).map_or(body.len(), |at| at + 1);
        body.drain(..end);
    }
    session.give(place.to_owned(), Record { format, body, carrier })
}

/// Counts what is read, for progress and against bombs, and fails when the reading is over.
struct Counted<R> {
    source: R,
    n_bytes: Arc<AtomicU64>,
    is_over: Arc<AtomicBool>,
}

impl<R> Counted<R> {
    fn new(source: R, session: &Session<'_>) -> Self {
        let Options { n_bytes_read, is_over, .. } = session.options;
        Self { source, n_bytes: n_bytes_read.clone(), is_over: is_over.clone() }
    }
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.is_over.load(Ordering::Relaxed) {
            return Err(patient::over());
        }
        let n = self.source.read(into)?;
        self.n_bytes.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}
