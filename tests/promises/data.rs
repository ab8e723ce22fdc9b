//! The real corpora, where they are there: `../shared/data`, or what `SEAMRIPPER_DATA` names.

use std::path::PathBuf;

/// The folder of real corpora `set`, or `None` (with a line that says so) where it isn't there.
pub(crate) fn real(set: &str) -> Option<PathBuf> {
    let root = std::env::var_os("SEAMRIPPER_DATA")
        .map(PathBuf::from)
        .unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/data"));
    let folder = root.join(set);
    if folder.is_dir() {
        return Some(folder);
    }
    println!("{set}: not there, only bundled text is checked");
    None
}

/// The lines of a `.zst` file in a real corpus.
pub(crate) fn unpacked(file: &std::path::Path) -> Vec<u8> {
    let packed = std::fs::File::open(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let mut decoder = zstd::Decoder::new(packed).unwrap();
    decoder.window_log_max(27).unwrap();
    let mut bytes = Vec::new();
    std::io::Read::read_to_end(&mut decoder, &mut bytes).unwrap();
    bytes
}
