//! Whether a scan would write over what it reads, or write two things into one file.

use super::ScanArguments;
use crate::config::Problems;
use std::path::{Path, PathBuf};

/// Refuses arguments that name one file twice, where at least one is written.
pub(super) fn check(arguments: &ScanArguments) -> Result<(), Problems> {
    let ScanArguments { paths, output, clusters, labels, store, report, .. } = arguments;
    let written = [("--output", output), ("--clusters", clusters), ("--report", report), ("--store", store)];
    let mut seen: Vec<(&str, PathBuf)> = Vec::new();
    let read = paths.iter().map(|path| ("an input", path)).chain(labels.iter().map(|path| ("--labels", path)));
    seen.extend(read.map(|(name, path)| (name, real(path))));
    let mut problems = Vec::new();
    for (name, path) in written.into_iter().filter_map(|(name, path)| Some((name, path.as_ref()?))) {
        let path = real(path);
        // Devices such as /dev/null take everything.
        let is_file = path.is_file() || !path.exists();
        if let Some((other, _)) = seen.iter().find(|(_, seen)| is_file && *seen == path) {
            problems.push(format!("{name} and {other} are one file: {}", path.display()));
        }
        seen.push((name, path));
    }
    if problems.is_empty() { Ok(()) } else { Err(Problems(problems)) }
}

/// The path without links, as far as it is there.
fn real(path: &Path) -> PathBuf {
    let parent = || {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Some(parent.canonicalize().ok()?.join(path.file_name()?))
    };
    path.canonicalize().ok().or_else(parent).unwrap_or_else(|| path.to_owned())
}
