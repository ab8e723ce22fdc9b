//! The folder of snapshots: written beside the stream, put in place whole, the last few kept.
//!
//! A snapshot holds the state after one entry of the journal, and its name says where in the journal to go on. It is put in
//! place only when that entry is committed.
//!
//! # Invariants
//! - A snapshot is there whole or not at all, whatever breaks while it is written. (`a_half_written_snapshot_is_none`)
//! - A damaged one is refused by name, and the one before it is used. (`a_damaged_snapshot_gives_way_to_the_one_before`)

use super::fault;
use super::fold::Fold;
use super::scheme::Scheme;
use crate::bus::Positions;
use crate::config::Settings;
use crate::verdict::label::Label;
use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tracing::{info, warn};

/// How the names end.
pub const ENDING: &str = ".snapshot";
/// The section that holds [`Facts`].
const FACTS: &str = "run";

/// What a snapshot holds beside the filter.
#[derive(Debug, Serialize, Deserialize)]
struct Facts {
    number: u64,
    epoch: u64,
    positions: Positions,
    settings: serde_json::Value,
    key_id: String,
    scheme: u32,
    labels: Vec<Label>,
}

/// A folder of snapshots.
pub struct Snapshots {
    folder: PathBuf,
    n_kept: usize,
}

/// A snapshot in the folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Kept {
    /// Where the journal goes on after it.
    pub journal: i64,
    /// Its file.
    pub path: PathBuf,
}

/// A snapshot that is being written.
pub struct Writing {
    file: BufWriter<File>,
    path: PathBuf,
    /// The number of the entry whose state it is.
    pub number: u64,
    /// Bytes written so far.
    pub n_bytes: u64,
}

impl Snapshots {
    /// The folder that the settings name; made where it is missing.
    pub fn open(settings: &Settings) -> anyhow::Result<Self> {
        let folder = settings.bus.folder.join(&settings.snapshot.folder);
        fs::create_dir_all(&folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
        Ok(Self { folder, n_kept: settings.snapshot.kept.get() })
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Those that are there, the newest first.
    pub fn kept(&self) -> anyhow::Result<Vec<Kept>> {
        let entries = fs::read_dir(&self.folder).with_context(|| format!("cannot read {}", self.folder.display()))?;
        let mut kept = Vec::new();
        for entry in entries {
            let path = entry?.path();
            let name = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix(ENDING));
            if let Some(journal) = name.and_then(|name| name.parse().ok()) {
                kept.push(Kept { journal, path });
            }
        }
        kept.sort_by(|a, b| b.cmp(a));
        Ok(kept)
    }

    /// The state of the newest good one that is not beyond `journal_end`, and where the journal goes on.
    pub fn newest(&self, journal_end: i64, ours: &Settings) -> anyhow::Result<Option<(Fold, i64)>> {
        for Kept { journal, path } in self.kept()? {
            if journal > journal_end {
                warn!(path = %path.display(), journal, journal_end, "snapshot is beyond the journal's end, passed over");
                continue;
            }
            match load(&path, ours) {
                Ok(fold) if fold.number > 0 => {
                    info!(path = %path.display(), number = fold.number, "snapshot loaded");
                    return Ok(Some((fold, journal)));
                }
                Ok(_) => warn!(path = %path.display(), "snapshot knows no journal, passed over"),
                Err(error) => warn!(path = %path.display(), "snapshot refused, trying the one before it: {error:#}"),
            }
        }
        Ok(None)
    }

    /// Begins to write the state of this moment.
    pub fn begin(&self, fold: &mut Fold) -> anyhow::Result<Writing> {
        let facts = Facts {
            number: fold.number,
            epoch: fold.epoch,
            positions: fold.positions.clone(),
            settings: fold.scheme.decisive(),
            key_id: fold.scheme.key_id(),
            scheme: crate::signature::SCHEME,
            labels: fold.filter.labels().all().iter().map(|label| (**label).clone()).collect(),
        };
        let path = self.folder.join(format!(".{}.{}.part", fold.number, std::process::id()));
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&path).with_context(|| format!("cannot write {}", path.display()))?;
        fold.filter.begin_snapshot(vec![(FACTS.to_owned(), serde_json::to_vec(&facts)?)])?;
        Ok(Writing { file: BufWriter::with_capacity(1 << 20, file), path, number: fold.number, n_bytes: 0 })
    }

    /// Puts a snapshot in place, now that its entry is committed and the journal goes on at `journal`; removes the oldest.
    /// Returns those that are kept, the newest first.
    pub fn finish(&self, mut writing: Writing, journal: i64) -> anyhow::Result<Vec<Kept>> {
        writing.file.flush()?;
        writing.file.get_ref().sync_all()?;
        fault::point("before_snapshot");
        let path = self.folder.join(format!("{journal:020}{ENDING}"));
        fs::rename(&writing.path, &path).with_context(|| format!("cannot write {}", path.display()))?;
        fault::point("after_snapshot");
        File::open(&self.folder)?.sync_all()?;
        let mut kept = self.kept()?;
        for old in kept.split_off(self.n_kept.min(kept.len())) {
            fs::remove_file(&old.path).with_context(|| format!("cannot remove {}", old.path.display()))?;
        }
        Ok(kept)
    }

    /// Removes what instances that were cut off have left half written.
    pub fn sweep(&self) -> anyhow::Result<()> {
        for entry in fs::read_dir(&self.folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|ending| ending == "part") {
                fs::remove_file(&path)?;
            }
        }
        Ok(())
    }

    /// Asks another instance for its newest snapshot, and keeps it.
    pub fn fetch(&self, holder: &str, token: &str) -> anyhow::Result<()> {
        let url = format!("{}/v1/snapshot", holder.trim_end_matches('/'));
        let mut answer = ureq::get(&url).header("authorization", format!("Bearer {token}")).call()?;
        let name = answer.headers().get("seamripper-snapshot").and_then(|name| name.to_str().ok());
        let name = name.context("the answer has no name of a snapshot")?.to_owned();
        let journal = name.strip_suffix(ENDING).and_then(|name| name.parse::<i64>().ok());
        let Some(journal) = journal else { bail!("`{}` is no name of a snapshot", name.escape_debug()) };
        let path = self.folder.join(format!(".{journal}.{}.part", std::process::id()));
        let mut file = File::create(&path)?;
        std::io::copy(&mut answer.body_mut().as_reader(), &mut file)?;
        file.sync_all()?;
        fs::rename(&path, self.folder.join(format!("{journal:020}{ENDING}")))?;
        Ok(())
    }
}

impl Writing {
    /// Writes the next slices; true when all is written.
    pub fn go_on(&mut self, fold: &mut Fold, bytes_max: usize) -> anyhow::Result<bool> {
        fault::point("in_snapshot");
        let mut counted = Counted { inner: &mut self.file, n_bytes: 0 };
        let done = fold.filter.write_snapshot(bytes_max, &mut counted)?;
        self.n_bytes += counted.n_bytes;
        Ok(done)
    }

    /// Gives it up.
    pub fn abandon(self, fold: &mut Fold) {
        fold.filter.abandon_snapshot();
        if let Err(error) = fs::remove_file(&self.path) {
            warn!(path = %self.path.display(), %error, "a half-written snapshot could not be removed");
        }
    }
}

struct Counted<W> {
    inner: W,
    n_bytes: u64,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let n = self.inner.write(bytes)?;
        self.n_bytes += n as u64;
        Ok(n)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.inner.flush()
    }
}

/// The state that a file holds. One of `scan --store` has number 0, and knows no journal.
pub fn load(path: &Path, ours: &Settings) -> anyhow::Result<Fold> {
    let facts = facts(path)?;
    let mut file = BufReader::with_capacity(1 << 20, File::open(path)?);
    let Some(facts) = facts else {
        let mut fold = Fold::new(Arc::new(Scheme::new(Arc::new(ours.clone()))?));
        fold.filter.load_from(&mut file)?;
        return Ok(fold);
    };
    let scheme = Scheme::recorded(&facts.settings, &facts.key_id, facts.scheme, ours)?;
    let mut fold = Fold::new(Arc::new(scheme));
    fold.filter.load_from(&mut file as &mut dyn Read)?;
    for label in facts.labels {
        fold.filter.label(label)?;
    }
    (fold.number, fold.epoch, fold.positions) = (facts.number, facts.epoch, facts.positions);
    Ok(fold)
}

/// Where the inputs were when it was written.
pub fn positions(path: &Path) -> anyhow::Result<Positions> {
    Ok(facts(path)?.context("snapshot knows no journal")?.positions)
}

fn facts(path: &Path) -> anyhow::Result<Option<Facts>> {
    let mut file = BufReader::with_capacity(1 << 20, File::open(path)?);
    let extras = crate::pipeline::filter::extras(&mut file)?;
    let facts = extras.into_iter().find(|(name, _)| name == FACTS);
    facts.map(|(_, bytes)| serde_json::from_slice(&bytes).context("its facts cannot be read")).transpose()
}
