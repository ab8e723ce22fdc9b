//! Whether a scan would write over what it reads, read what it writes, or write two things into one file.

use super::ScanArguments;
use crate::config::Problems;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// Links that are followed to where a file would be made.
const LINKS_MAX: usize = 16;

/// Refuses arguments that name one file twice, where at least one is written, and files that would be written into a folder that is
/// read: a scan would judge its own verdicts, for ever.
pub(super) fn check(arguments: &ScanArguments, config: Option<&Path>) -> Result<(), Problems> {
    let ScanArguments { paths, output, clusters, labels, store, report, .. } = arguments;
    let mut seen: Vec<(String, PathBuf)> = Vec::new();
    for path in paths {
        let is_stdin = path.as_os_str() == "-";
        seen.push(("an input".to_owned(), real(if is_stdin { Path::new("/dev/stdin") } else { path })));
    }
    let folders: Vec<PathBuf> = seen.iter().map(|(_, path)| path.clone()).filter(|path| path.is_dir()).collect();
    let read = [("--labels", labels.as_deref()), ("--config", config)];
    seen.extend(read.into_iter().filter_map(|(name, path)| Some((name.to_owned(), real(path?)))));
    let stdout = PathBuf::from("/dev/stdout");
    let verdicts = match output {
        Some(output) => ("--output", Some(output)),
        None => ("standard output", Some(&stdout)),
    };
    let shown = [verdicts, ("--clusters", clusters.as_ref()), ("--report", report.as_ref())];
    let shown = shown.into_iter().filter_map(|(name, path)| Some((name, path?)));
    let mut written: Vec<(String, PathBuf)> =
        shown.filter(|(_, path)| !is_device(path)).map(|(name, path)| (name.to_owned(), real(path))).collect();
    let n_shown = written.len();
    if let Some(path) = store.as_deref().map(real) {
        written.extend([LOCK, NEW].map(|added| (format!("the {added} file of --store"), beside(&path, added))));
        written.push(("--store".to_owned(), path));
    }
    let mut problems = Vec::new();
    if paths.iter().filter(|path| path.as_os_str() == "-").count() > 1 {
        problems.push("standard input (-) is an input twice".to_owned());
    }
    for (number, (name, path)) in written.into_iter().enumerate() {
        if is_device(&path) {
            continue;
        }
        // A store is no document, and what lies beside it is hidden: neither is read.
        let folder = folders.iter().find(|folder| number < n_shown && path.starts_with(folder));
        if let Some((other, _)) = seen.iter().find(|(_, seen)| is_same(seen, &path)) {
            problems.push(format!("{name} and {other} are one file: {}", path.display()));
        } else if let Some(folder) = folder {
            let (path, folder) = (path.display(), folder.display());
            problems.push(format!("{name} ({path}) lies in a folder that is read ({folder}): write it elsewhere"));
        }
        seen.push((name, path));
    }
    if problems.is_empty() { Ok(()) } else { Err(Problems(problems)) }
}

/// What lies beside a store while a scan has it.
pub(super) const LOCK: &str = ".lock";
/// ... and while it is written.
pub(super) const NEW: &str = ".new";

/// The path of a hidden file beside another: whoever reads their folder passes it over.
pub(super) fn beside(path: &Path, added: &str) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(added);
    path.with_file_name(name)
}

/// The path without links, as far as it is there: where a file would be made.
pub(super) fn real(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..LINKS_MAX {
        if let Ok(real) = path.canonicalize() {
            return real;
        }
        // A link to nothing: what is written is made where it leads.
        let Ok(target) = fs::read_link(&path) else { break };
        path = path.parent().unwrap_or(Path::new(".")).join(target);
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let real = parent.canonicalize().ok().zip(path.file_name()).map(|(parent, name)| parent.join(name));
    real.unwrap_or(path)
}

/// Whether a path is something that takes everything, and keeps nothing to be read again: `/dev/null`, a pipe, a socket. It is asked
/// for as it was named: where `/dev/stdout` is a socket, its path without links leads nowhere.
fn is_device(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|data| !data.is_file())
}

/// Whether two paths are one file: by name, or as two names of it.
fn is_same(a: &Path, b: &Path) -> bool {
    #[cfg(unix)]
    let by_number = || {
        use std::os::unix::fs::MetadataExt;
        let number = |path: &Path| fs::metadata(path).ok().map(|data| (data.dev(), data.ino()));
        number(a).is_some_and(|number_of_a| number(b) == Some(number_of_a))
    };
    #[cfg(not(unix))]
    let by_number = || false;
    a == b || by_number()
}
