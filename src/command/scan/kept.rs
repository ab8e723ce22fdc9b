//! The store that a scan keeps between runs: one run at a time, the old one or the new one, never a mixture.
//!
//! # Invariants
//! - Two runs never share a store. (`two_scans_do_not_share_a_store`, `whoever_opens_a_store_has_it_alone`)
//! - A file that is no store is refused before it is read, and stays as it is. (`a_store_that_is_none_is_refused`)
//! - A store that could not be written leaves nothing beside the old one. (`what_was_half_written_goes`)
//! - Whoever could not read the store before cannot read it afterwards. (`a_store_keeps_its_permissions`)

use super::places::{LOCK, NEW, beside, real};
use crate::pipeline::filter::Filter;
use anyhow::{Context, bail};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufReader, BufWriter};
use std::path::{Path, PathBuf};

/// A store's file, held for this run.
pub(super) struct Kept {
    path: PathBuf,
    /// The lock lies beside the store, which is replaced as a whole.
    lock: PathBuf,
    _held: File,
}

impl Kept {
    /// Takes hold of the store at `path` and reads it into `filter`, if it is there.
    pub(super) fn open(path: &Path, filter: &mut Filter) -> anyhow::Result<Self> {
        // A link stays a link.
        let path = real(path);
        if fs::metadata(&path).is_ok_and(|data| !data.is_file()) {
            bail!("store {} is no regular file", path.display());
        }
        let lock = beside(&path, LOCK);
        let held = loop {
            let held = private(OpenOptions::new().write(true).create(true).truncate(false))
                .open(&lock)
                .with_context(|| format!("store {} cannot be written", path.display()))?;
            match held.try_lock() {
                // Whoever had it before may have taken its file away since we opened that: then it locks nothing.
                Ok(()) if is_at(&held, &lock) => break held,
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => bail!("store {} is in use by another scan", path.display()),
                Err(TryLockError::Error(error)) => {
                    return Err(error).with_context(|| format!("store {} cannot be locked", path.display()));
                }
            }
        };
        let kept = Self { path, lock, _held: held };
        kept.load(filter).with_context(|| format!("store {}", kept.path.display()))?;
        Ok(kept)
    }

    fn load(&self, filter: &mut Filter) -> anyhow::Result<()> {
        let file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error).context("cannot be read"),
        };
        filter.load_from(&mut BufReader::with_capacity(1 << 20, file))?;
        Ok(())
    }

    /// Writes the store beside its place and moves it there: whoever pulls the plug has the old one or the new one.
    pub(super) fn save(&self, filter: &mut Filter) -> anyhow::Result<()> {
        let new = beside(&self.path, NEW);
        let mut write = || {
            let file = private(OpenOptions::new().write(true).create(true).truncate(true)).open(&new)?;
            if let Ok(old) = fs::metadata(&self.path) {
                file.set_permissions(old.permissions())?;
            }
            filter.save_to(&Vec::new(), Box::new(BufWriter::with_capacity(1 << 20, file.try_clone()?)))?;
            file.sync_all()?;
            fs::rename(&new, &self.path)
        };
        let written = write();
        if written.is_err() {
            // On a full disk it holds the room that others wait for. If it cannot go, the next run writes over it.
            let _stays = fs::remove_file(&new);
        }
        written.with_context(|| format!("store {} cannot be written", self.path.display()))
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        // If the lock's file stays, the next run takes it over: it is empty, and nobody holds it.
        let _stays = fs::remove_file(&self.lock);
    }
}

/// A store tells of mails: nobody but its owner reads a new one.
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

/// Whether the file that is open is the one at `path`.
fn is_at(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let number = |data: io::Result<fs::Metadata>| data.ok().map(|data| (data.dev(), data.ino()));
        let open = number(file.metadata());
        open.is_some() && open == number(fs::metadata(path))
    }
    // Elsewhere a file that is open cannot be taken away.
    #[cfg(not(unix))]
    {
        let _ = (file, path);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Settings;
    use crate::verdict::labels::Labels;
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::{Duration, Instant};

    /// Whoever ends takes the lock's file away, while others have opened it and wait to lock it.
    #[test]
    fn whoever_opens_a_store_has_it_alone() {
        const TIMES: usize = 200;
        const TOO_LONG: Duration = Duration::from_secs(120);
        let folder = tempfile::tempdir().unwrap();
        let mut settings = Settings::default();
        settings.store.memory = 16 << 20;
        let (path, begin, n_holding, n_held) =
            (folder.path().join("x.store"), Barrier::new(4), AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let mut filter = Filter::new(&settings, Labels::new(0), 7);
                    begin.wait();
                    let begun = Instant::now();
                    while n_held.load(Ordering::SeqCst) < TIMES {
                        assert!(begun.elapsed() < TOO_LONG, "nobody gets it");
                        match Kept::open(&path, &mut filter) {
                            Ok(kept) => {
                                assert_eq!(n_holding.fetch_add(1, Ordering::SeqCst), 0, "two have the store");
                                n_held.fetch_add(1, Ordering::SeqCst);
                                std::thread::yield_now();
                                n_holding.fetch_sub(1, Ordering::SeqCst);
                                drop(kept);
                            }
                            Err(error) => assert!(error.to_string().contains("in use"), "{error:#}"),
                        }
                    }
                });
            }
        });
    }
}
