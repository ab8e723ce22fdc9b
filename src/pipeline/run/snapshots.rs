//! The folder of snapshots: written beside the stream, put in place whole, the last few kept.
//!
//! A snapshot holds the state after one entry of the journal, and its name says where in the journal to go on. It is put in
//! place only when that entry is committed. A thread of its own writes the file ([`Funnel`]): the stream waits for no disk.
//!
//! # Invariants
//! - A snapshot is there whole or not at all, whatever breaks while it is written. (`a_half_written_snapshot_is_none`)
//! - A damaged one is refused by name, and the one before it is used. (`a_damaged_snapshot_gives_way_to_the_one_before`)

use super::fold::Fold;
use super::funnel::{self, Funnel};
use super::marks::Marks;
use super::scheme::{Scheme, SchemeError};
use super::succession::{Handover, Succession};
use crate::bus::Positions;
use crate::config::Settings;
use crate::fault;
use crate::verdict::heirs::Heirs;
use crate::verdict::label::Label;
use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tracing::{info, warn};

/// How the names end.
pub const ENDING: &str = ".snapshot";
/// A part that nobody has written to for so long is nobody's.
const PART_AGE: Duration = Duration::from_secs(600);
/// A holder that says nothing for so long is not there, and a snapshot that takes so long to come does not.
const ANSWER_PATIENCE: Duration = Duration::from_secs(30);
const BODY_PATIENCE: Duration = Duration::from_secs(3600);
/// The section that holds [`Facts`].
const FACTS: &str = "run";

/// What a snapshot holds beside the filter.
#[derive(Debug, Serialize, Deserialize)]
struct Facts {
    store: String,
    number: u64,
    epoch: u64,
    positions: Positions,
    #[serde(default)]
    marks: Marks,
    settings: serde_json::Value,
    key_id: String,
    scheme: u32,
    labels: Vec<Label>,
    /// Whose places its groups and clusters take.
    #[serde(default)]
    heirs: Heirs,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    handover: Option<Handover>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    successor: Option<SuccessorFacts>,
}

/// The same of the store that is to take its place.
#[derive(Debug, Serialize, Deserialize)]
struct SuccessorFacts {
    settings: serde_json::Value,
    key_id: String,
    scheme: u32,
    heirs: Heirs,
    since_ms: Option<i64>,
    hours: u64,
}

impl SuccessorFacts {
    fn of(fold: &Fold) -> Option<Self> {
        let (Succession { scheme, since_ms, hours }, filter) = (fold.succession.as_ref()?, fold.filter.successor()?);
        Some(Self {
            settings: scheme.decisive(),
            key_id: scheme.key_id(),
            scheme: crate::signature::SCHEME,
            heirs: filter.heirs().clone(),
            since_ms: *since_ms,
            hours: *hours,
        })
    }

    /// Makes room in `fold` for the store; its tables are read with those of the other.
    fn attach(self, fold: &mut Fold, ours: &Settings) -> anyhow::Result<()> {
        let Self { settings, key_id, scheme, heirs, since_ms, hours } = self;
        let scheme = Arc::new(Scheme::recorded(&settings, &key_id, scheme, ours)?);
        let mut filter = scheme.filter();
        filter.set_heirs(heirs);
        fold.filter.attach(filter);
        fold.succession = Some(Succession { scheme, since_ms, hours });
        Ok(())
    }
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
    funnel: Funnel,
    path: PathBuf,
    /// The number of the entry whose state it is.
    pub number: u64,
    /// Where the journal goes on after it, once that is known.
    pub journal: Option<i64>,
    begun: Instant,
    n_early_bytes: u64,
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
                // Those before it would lead to it again.
                Err(error) if error.is::<SchemeError>() => {
                    let refused =
                        format!("snapshot {} cannot be used (--accept-loss goes on without it)", path.display());
                    return Err(error.context(refused));
                }
                Err(error) => warn!(path = %path.display(), "snapshot refused, trying the one before it: {error:#}"),
            }
        }
        Ok(None)
    }

    /// Begins to write the state of this moment.
    pub fn begin(&self, fold: &mut Fold) -> anyhow::Result<Writing> {
        let facts = Facts {
            store: fold.scheme.settings.bus.store.clone(),
            number: fold.number,
            epoch: fold.epoch,
            positions: fold.positions.clone(),
            marks: fold.marks.clone(),
            settings: fold.scheme.decisive(),
            key_id: fold.scheme.key_id(),
            scheme: crate::signature::SCHEME,
            labels: fold.filter.labels().all().iter().map(|label| (**label).clone()).collect(),
            heirs: fold.filter.heirs().clone(),
            handover: fold.handover.clone(),
            successor: SuccessorFacts::of(fold),
        };
        let path = self.folder.join(format!(".{}.{}.part", fold.number, std::process::id()));
        let (funnel, sink) = funnel::open(private(&path)?)?;
        let writing =
            Writing { funnel, path, number: fold.number, journal: None, begun: Instant::now(), n_early_bytes: 0 };
        let extras = vec![(FACTS.to_owned(), serde_json::to_vec(&facts)?)];
        match fold.filter.begin_snapshot(&extras, Box::new(sink)) {
            Ok(()) => Ok(writing),
            Err(error) => Err(writing.failed(fold, error)),
        }
    }

    /// Puts a snapshot in place, now that its entry is committed and the journal goes on at `journal`; removes the oldest.
    /// Returns those that are kept, the newest first.
    pub fn finish(&self, writing: Writing, journal: i64) -> anyhow::Result<Vec<Kept>> {
        if let Err(error) = writing.funnel.end() {
            removed(&writing.path);
            return Err(error).with_context(|| format!("cannot write {}", writing.path.display()));
        }
        fault::point("before_snapshot");
        let path = self.folder.join(format!("{journal:020}{ENDING}"));
        fs::rename(&writing.path, &path).with_context(|| format!("cannot write {}", path.display()))?;
        fault::point("after_snapshot");
        File::open(&self.folder)?.sync_all()?;
        self.thinned()
    }

    /// Removes the oldest; returns those that are kept, the newest first.
    fn thinned(&self) -> anyhow::Result<Vec<Kept>> {
        let mut kept = self.kept()?;
        for old in kept.split_off(self.n_kept.min(kept.len())) {
            fs::remove_file(&old.path).with_context(|| format!("cannot remove {}", old.path.display()))?;
        }
        Ok(kept)
    }

    /// Removes what instances that were cut off have left half written. Others may be writing theirs just now.
    pub fn sweep(&self) -> anyhow::Result<()> {
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            let path = entry.path();
            // One that has gone meanwhile has been put in place.
            let Ok(modified) = entry.metadata().and_then(|metadata| metadata.modified()) else { continue };
            let age = modified.elapsed().unwrap_or_default();
            if path.extension().is_some_and(|ending| ending == "part") && age > PART_AGE {
                fs::remove_file(&path)?;
            }
        }
        Ok(())
    }

    /// Asks another instance for its newest snapshot, and keeps it.
    pub fn fetch(&self, holder: &str, token: &str) -> anyhow::Result<()> {
        let url = format!("{}/v1/snapshot", holder.trim_end_matches('/'));
        let config = ureq::Agent::config_builder()
            .timeout_connect(Some(ANSWER_PATIENCE))
            .timeout_recv_response(Some(ANSWER_PATIENCE))
            .timeout_recv_body(Some(BODY_PATIENCE));
        let agent = ureq::Agent::from(config.build());
        let mut answer = agent.get(&url).header("authorization", format!("Bearer {token}")).call()?;
        let name = answer.headers().get("seamripper-snapshot").and_then(|name| name.to_str().ok());
        let name = name.context("the answer has no name of a snapshot")?.to_owned();
        let journal = name.strip_suffix(ENDING).and_then(|name| name.parse::<i64>().ok());
        let Some(journal) = journal else { bail!("`{}` is no name of a snapshot", name.escape_debug()) };
        let path = self.folder.join(format!(".{journal}.{}.part", std::process::id()));
        let mut file = private(&path)?;
        let kept = std::io::copy(&mut answer.body_mut().as_reader(), &mut file)
            .and_then(|_| file.sync_all())
            .and_then(|()| fs::rename(&path, self.folder.join(format!("{journal:020}{ENDING}"))));
        if kept.is_err() {
            // What is left of it is swept away later, if not now.
            let _removed = fs::remove_file(&path);
        }
        kept?;
        self.thinned().map(drop)
    }
}

impl Writing {
    /// Writes the next slices, unless the disk has not taken those before; true when all is written.
    pub fn go_on(&mut self, fold: &mut Fold, bytes_max: usize) -> anyhow::Result<bool> {
        fault::point("in_snapshot");
        if self.funnel.is_behind() {
            return Ok(false);
        }
        self.n_early_bytes = fold.filter.snapshot_bytes().map_or(0, |(_, n_early)| n_early);
        fold.filter.write_snapshot(bytes_max).with_context(|| format!("cannot write {}", self.path.display()))
    }

    /// Writes all that is left, however long that takes.
    pub fn complete(self, fold: &mut Fold) -> anyhow::Result<Self> {
        loop {
            fault::point("in_snapshot");
            match fold.filter.write_snapshot(funnel::BYTES_MAX) {
                Ok(true) => return Ok(self),
                Ok(false) => {}
                Err(error) => return Err(self.failed(fold, error)),
            }
        }
    }

    /// Whether all that was written is on the disk, or has failed: then [`Snapshots::finish`] does not wait.
    pub fn is_on_disk(&self) -> bool {
        self.funnel.has_ended()
    }

    /// Bytes written so far.
    pub fn n_bytes(&self) -> u64 {
        self.funnel.n_bytes()
    }

    /// Bytes of what was changed before its turn.
    pub fn n_early_bytes(&self) -> u64 {
        self.n_early_bytes
    }

    /// Since it was begun.
    pub fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    /// Gives it up.
    pub fn abandon(self, fold: &mut Fold) {
        self.funnel.give_up();
        fold.filter.abandon_snapshot();
        removed(&self.path);
    }

    /// Gives it up for an error of its sink; what the disk said is told.
    pub fn failed(self, fold: &mut Fold, error: impl Into<anyhow::Error>) -> anyhow::Error {
        self.funnel.give_up();
        fold.filter.abandon_snapshot();
        removed(&self.path);
        let error = match self.funnel.end() {
            Err(of_the_disk) => of_the_disk.into(),
            Ok(()) => error.into(),
        };
        error.context(format!("cannot write {}", self.path.display()))
    }
}

/// A new file that nobody but its owner reads: it tells of mails.
fn private(path: &Path) -> anyhow::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).with_context(|| format!("cannot write {}", path.display()))
}

fn removed(path: &Path) {
    if let Err(error) = fs::remove_file(path) {
        warn!(path = %path.display(), %error, "a half-written snapshot could not be removed");
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
    if facts.store != ours.bus.store {
        bail!("it is of the store `{}`, and bus.store is `{}`", facts.store.escape_debug(), ours.bus.store);
    }
    let scheme = Scheme::recorded(&facts.settings, &facts.key_id, facts.scheme, ours)?;
    let mut fold = Fold::new(Arc::new(scheme));
    if let Some(successor) = facts.successor {
        successor.attach(&mut fold, ours)?;
    }
    fold.filter.set_heirs(facts.heirs);
    fold.filter.load_from(&mut file)?;
    for label in facts.labels {
        fold.filter.label(label)?;
    }
    (fold.number, fold.epoch, fold.positions, fold.marks) = (facts.number, facts.epoch, facts.positions, facts.marks);
    fold.handover = facts.handover;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Kind;
    use crate::store::tests::arrival;

    struct Ground {
        settings: Settings,
        snapshots: Snapshots,
        _folder: tempfile::TempDir,
    }

    fn ground() -> Ground {
        let folder = tempfile::tempdir().unwrap();
        let mut settings = crate::store::tests::settings(6 << 20);
        settings.bus.folder = folder.path().to_owned();
        settings.snapshot.kept = 2.try_into().unwrap();
        Ground { snapshots: Snapshots::open(&settings).unwrap(), settings, _folder: folder }
    }

    fn fold(ground: &Ground) -> Fold {
        Fold::new(Arc::new(Scheme::new(Arc::new(ground.settings.clone())).unwrap()))
    }

    /// Folds a document and moves on by an entry.
    fn go_on(fold: &mut Fold, number: u64) {
        fold.filter.fold(&[arrival(&format!("d{number}"), Kind::Email, 100 * number..100 * number + 60)], 1, |_| {});
        (fold.number, fold.epoch) = (number, 1);
    }

    fn written(ground: &Ground, fold: &mut Fold, journal: i64) -> Vec<Kept> {
        let writing = ground.snapshots.begin(fold).unwrap().complete(fold).unwrap();
        ground.snapshots.finish(writing, journal).unwrap()
    }

    fn newest(ground: &Ground) -> Option<(u64, usize, i64)> {
        let found = ground.snapshots.newest(1000, &ground.settings).unwrap();
        found.map(|(fold, journal)| (fold.number, fold.filter.census().n_documents as usize, journal))
    }

    #[test]
    fn a_half_written_snapshot_is_none() {
        let ground = ground();
        let mut fold = fold(&ground);
        go_on(&mut fold, 1);
        let mut writing = ground.snapshots.begin(&mut fold).unwrap();
        assert!(!writing.go_on(&mut fold, 10_000).unwrap());
        assert_eq!((ground.snapshots.kept().unwrap(), newest(&ground)), (vec![], None));
        // Cut off here, the next start finds the part and sweeps it away.
        let parts = || fs::read_dir(ground.snapshots.folder()).unwrap().count();
        ground.snapshots.sweep().unwrap();
        assert_eq!(parts(), 1, "another instance may be writing it");
        let part = fs::read_dir(ground.snapshots.folder()).unwrap().next().unwrap().unwrap().path();
        let long_ago = std::time::SystemTime::now() - 2 * PART_AGE;
        File::options().write(true).open(part).unwrap().set_modified(long_ago).unwrap();
        ground.snapshots.sweep().unwrap();
        assert_eq!(parts(), 0);
        // Given up, it leaves nothing behind, and the next one is good and of its own moment.
        let writing = ground.snapshots.begin(&mut fold).unwrap();
        writing.abandon(&mut fold);
        assert_eq!(parts(), 0);
        let mut writing = ground.snapshots.begin(&mut fold).unwrap();
        let mut number = 1;
        while !writing.go_on(&mut fold, 10_000).unwrap() {
            number += 1;
            go_on(&mut fold, number);
        }
        assert!(number > 5 && newest(&ground).is_none(), "its entry is not committed yet");
        ground.snapshots.finish(writing, 7).unwrap();
        assert_eq!(newest(&ground), Some((1, 1, 7)));
    }

    #[test]
    fn a_damaged_snapshot_gives_way_to_the_one_before() {
        let ground = ground();
        let mut fold = fold(&ground);
        for number in 1..=4 {
            go_on(&mut fold, number);
            let kept = written(&ground, &mut fold, 10 * number as i64);
            assert_eq!(kept.len(), (number as usize).min(2));
        }
        assert_eq!(newest(&ground), Some((4, 4, 40)));
        let kept = ground.snapshots.kept().unwrap();
        let whole = fs::read(&kept[0].path).unwrap();
        for at in [9, 20, 100, whole.len() / 2, whole.len() - 1] {
            let mut damaged = whole.clone();
            damaged[at] ^= 4;
            fs::write(&kept[0].path, damaged).unwrap();
            assert_eq!(newest(&ground), Some((3, 3, 30)), "byte {at}");
            fs::write(&kept[0].path, &whole[..at]).unwrap();
            assert_eq!(newest(&ground), Some((3, 3, 30)), "cut at {at}");
        }
        fs::write(&kept[0].path, &whole).unwrap();
        assert_eq!(newest(&ground), Some((4, 4, 40)));
        let found = ground.snapshots.newest(39, &ground.settings).unwrap();
        assert_eq!(found.map(|(fold, _)| fold.number), Some(3), "one beyond the journal's end is passed over");
    }

    /// A device without room stands for a full disk.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_told_and_costs_the_snapshot_alone() {
        let ground = ground();
        let mut fold = fold(&ground);
        go_on(&mut fold, 1);
        let path = ground.snapshots.folder().join(format!(".1.{}.part", std::process::id()));
        std::os::unix::fs::symlink("/dev/full", &path).unwrap();
        let failed = match ground.snapshots.begin(&mut fold) {
            Err(error) => error,
            Ok(writing) => {
                writing.complete(&mut fold).and_then(|writing| ground.snapshots.finish(writing, 5)).unwrap_err()
            }
        };
        assert!(format!("{failed:#}").contains("No space left on device"), "{failed:#}");
        assert!(format!("{failed:#}").contains("cannot write "), "{failed:#}");
        assert_eq!(fs::read_dir(ground.snapshots.folder()).unwrap().count(), 0);
        assert!(fold.filter.snapshot_bytes().is_none());
        written(&ground, &mut fold, 6);
        assert_eq!(newest(&ground), Some((1, 1, 6)));
    }

    #[test]
    fn a_folder_that_cannot_be_written_costs_the_snapshot_alone() {
        let ground = ground();
        let mut fold = fold(&ground);
        go_on(&mut fold, 1);
        fs::remove_dir(ground.snapshots.folder()).unwrap();
        let refused = ground.snapshots.begin(&mut fold).err().unwrap();
        assert!(refused.to_string().starts_with("cannot write "), "{refused:#}");
        assert!(fold.filter.snapshot_bytes().is_none());
        fs::create_dir(ground.snapshots.folder()).unwrap();
        written(&ground, &mut fold, 6);
        assert_eq!(newest(&ground), Some((1, 1, 6)));
    }
}
