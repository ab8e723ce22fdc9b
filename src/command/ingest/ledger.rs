//! What was ingested and is durable, so that an ingest that was cut off goes on where it was.
//!
//! One small SQLite file. What it says is written after the records are durable, and never before: a crash in between repeats one
//! batch, and a repeated document is an unchanged recrawl. So it need not be flushed to the disk each time.
//!
//! # Invariants
//! - A file that was changed since is read from its beginning. (`a_changed_file_is_new`)
//! - A file that is none is refused, and left as it was. (`a_foreign_file_is_left_alone`)
//! - A bus that was made again is noticed, and nothing is passed over for it. (`a_bus_that_was_made_again_knows_nothing`)

use crate::bus::{Bus, Partition};
use crate::config::{BusKind, Settings};
use anyhow::Context;
use rusqlite::{Connection, OptionalExtension, params};
use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS files (
        bus TEXT NOT NULL, path BLOB NOT NULL, device INTEGER NOT NULL, inode INTEGER NOT NULL, n_bytes INTEGER NOT NULL,
        changed_ns INTEGER NOT NULL, n_entries INTEGER NOT NULL, is_done INTEGER NOT NULL, PRIMARY KEY (bus, path)) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS positions (
        bus TEXT NOT NULL, topic TEXT NOT NULL, number INTEGER NOT NULL, next INTEGER NOT NULL,
        PRIMARY KEY (bus, topic, number)) WITHOUT ROWID;
    PRAGMA user_version = 1;";
const FORMAT: i64 = 1;

/// Another ingest writes for a moment at most.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// A file as it was met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Met {
    pub(super) path: PathBuf,
    /// Device and inode, size, and when it was changed.
    is: [i64; 4],
}

impl Met {
    /// `None` for what is no file that can be met again, such as a pipe.
    pub(super) fn at(path: &Path) -> Option<Self> {
        let metadata = path.metadata().ok().filter(|metadata| metadata.is_file())?;
        let changed_ns = metadata.mtime().saturating_mul(1_000_000_000).saturating_add(metadata.mtime_nsec());
        let is = [metadata.dev() as i64, metadata.ino() as i64, metadata.len() as i64, changed_ns];
        Some(Self { path: path.to_owned(), is })
    }

    /// Its size.
    pub(super) fn n_bytes(&self) -> u64 {
        self.is[2] as u64
    }
}

/// How far a file is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Progress {
    /// Its first so many entries are dealt with.
    pub(super) n_entries: u64,
    /// There are no more.
    pub(super) is_done: bool,
}

/// What is known of files.
pub(super) struct Ledger {
    connection: Connection,
    bus: String,
}

impl Ledger {
    /// The ledger in the file, as far as it is about this bus.
    pub(super) fn open(path: &Path, settings: &Settings, bus: &dyn Bus) -> anyhow::Result<Self> {
        let open = || -> rusqlite::Result<(Connection, i64)> {
            let connection = Connection::open(path)?;
            connection.busy_timeout(BUSY_TIMEOUT)?;
            let format = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
            Ok((connection, format))
        };
        let what =
            || format!("{} is no state of an ingest that can be used: delete it, or name another", path.display());
        // Its owner's from the first moment: it tells what was read.
        let made = std::fs::File::options().append(true).create(true).mode(0o600).open(path);
        made.with_context(|| format!("cannot write {}", path.display()))?;
        let (connection, format) = open().with_context(what)?;
        anyhow::ensure!(
            format == 0 || format == FORMAT,
            "{} has format {format}, and this release writes {FORMAT}",
            path.display()
        );
        // A file of somebody else's is left as it is.
        anyhow::ensure!(is_usable(&connection, format).with_context(what)?, what());
        connection.pragma_update(None, "journal_mode", "wal").with_context(what)?;
        connection.pragma_update(None, "synchronous", "normal").with_context(what)?;
        connection.execute_batch(TABLES).with_context(what)?;
        let ledger = Self { connection, bus: named(settings) };
        if !ledger.agrees(bus)? {
            crate::command::output::tell(format_args!(
                "the topics were made again since the last ingest: all files are read from their beginning"
            ));
            ledger.forget()?;
        }
        Ok(ledger)
    }

    /// How far this file is; a changed one has not begun.
    pub(super) fn progress(&self, met: &Met) -> rusqlite::Result<Progress> {
        let [device, inode, n_bytes, changed_ns] = met.is;
        let sql = "SELECT n_entries, is_done FROM files
            WHERE bus = ?1 AND path = ?2 AND device = ?3 AND inode = ?4 AND n_bytes = ?5 AND changed_ns = ?6";
        let mut statement = self.connection.prepare_cached(sql)?;
        let found = statement
            .query_row(params![self.bus, met.path.as_os_str().as_bytes(), device, inode, n_bytes, changed_ns], |row| {
                Ok(Progress { n_entries: row.get::<_, i64>(0)? as u64, is_done: row.get(1)? })
            })
            .optional()?;
        Ok(found.unwrap_or_default())
    }

    /// Notes how far files are, and up to where the bus was written.
    pub(super) fn note(
        &mut self,
        files: impl IntoIterator<Item = (Met, Progress)>,
        written: &BTreeMap<Partition, i64>,
    ) -> rusqlite::Result<()> {
        let transaction = self.connection.transaction()?;
        for (Met { path, is: [device, inode, n_bytes, changed_ns] }, Progress { n_entries, is_done }) in files {
            let sql = "INSERT OR REPLACE INTO files VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
            transaction.prepare_cached(sql)?.execute(params![
                self.bus,
                path.as_os_str().as_bytes(),
                device,
                inode,
                n_bytes,
                changed_ns,
                n_entries as i64,
                is_done
            ])?;
        }
        for (partition, next) in written {
            let sql = "INSERT OR REPLACE INTO positions VALUES (?1, ?2, ?3, ?4)";
            transaction.prepare_cached(sql)?.execute(params![self.bus, &*partition.topic, partition.number, next])?;
        }
        transaction.commit()
    }

    /// Whether the bus still has, or had, all that was written.
    fn agrees(&self, bus: &dyn Bus) -> anyhow::Result<bool> {
        let mut statement = self.connection.prepare("SELECT topic, number, next FROM positions WHERE bus = ?1")?;
        let rows = statement.query_map([&self.bus], |row| {
            Ok((Partition::new(row.get::<_, String>(0)?, row.get(1)?), row.get::<_, i64>(2)?))
        })?;
        for row in rows {
            let (partition, next) = row?;
            if partition.number >= bus.n_partitions(&partition.topic)? || bus.extent(&partition)?.end < next {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn forget(&self) -> rusqlite::Result<()> {
        self.connection.execute("DELETE FROM files WHERE bus = ?1", [&self.bus])?;
        self.connection.execute("DELETE FROM positions WHERE bus = ?1", [&self.bus])?;
        Ok(())
    }
}

/// Whether there is nothing, or what we have written.
fn is_usable(connection: &Connection, format: i64) -> rusqlite::Result<bool> {
    if format == 0 {
        return connection.query_row("SELECT count(*) = 0 FROM sqlite_master", [], |row| row.get(0));
    }
    let files = "SELECT bus, path, device, inode, n_bytes, changed_ns, n_entries, is_done FROM files LIMIT 0";
    let positions = "SELECT bus, topic, number, next FROM positions LIMIT 0";
    Ok([files, positions].iter().all(|sql| connection.prepare(sql).is_ok()))
}

/// Which bus, and which topics of it.
fn named(settings: &Settings) -> String {
    let at = match settings.bus.kind {
        BusKind::Embedded => {
            let folder = &settings.bus.folder;
            format!("embedded {}", folder.canonicalize().unwrap_or_else(|_| folder.clone()).display())
        }
        BusKind::Kafka => format!("kafka {}", settings.kafka.brokers),
    };
    format!("{at} {:?} {:?}", settings.topics.pages, settings.topics.emails)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bus;

    fn ground() -> (Settings, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let mut settings = Settings::default();
        settings.bus.folder = folder.path().join("data");
        (settings, folder)
    }

    fn opened(settings: &Settings, path: &Path) -> Ledger {
        let bus = bus::open(settings).unwrap();
        bus.prepare().unwrap();
        Ledger::open(path, settings, &*bus).unwrap()
    }

    #[test]
    fn a_changed_file_is_new() {
        let (settings, folder) = ground();
        let (path, file) = (folder.path().join("ledger"), folder.path().join("a.html"));
        std::fs::write(&file, "one").unwrap();
        let met = Met::at(&file).unwrap();
        let progress = Progress { n_entries: 7, is_done: true };
        let mut ledger = opened(&settings, &path);
        assert_eq!(ledger.progress(&met).unwrap(), Progress::default());
        ledger.note([(met.clone(), progress)], &BTreeMap::new()).unwrap();
        drop(ledger);
        let ledger = opened(&settings, &path);
        assert_eq!(ledger.progress(&met).unwrap(), progress, "it is kept");
        std::fs::write(&file, "two!").unwrap();
        assert_eq!(ledger.progress(&Met::at(&file).unwrap()).unwrap(), Progress::default());
        let mut others = settings.clone();
        others.topics.pages = "others".into();
        assert_eq!(opened(&others, &path).progress(&met).unwrap(), Progress::default(), "other topics, other records");
        assert!(Met::at(folder.path()).is_none());
    }

    #[test]
    fn a_bus_that_was_made_again_knows_nothing() {
        let (settings, folder) = ground();
        let (path, file) = (folder.path().join("ledger"), folder.path().join("a.html"));
        std::fs::write(&file, "one").unwrap();
        let met = Met::at(&file).unwrap();
        let progress = Progress { n_entries: 1, is_done: true };
        let mut ledger = opened(&settings, &path);
        let written = [(Partition::new("pages", 0), 3)].into();
        ledger.note([(met.clone(), progress)], &written).unwrap();
        drop(ledger);
        assert_eq!(opened(&settings, &path).progress(&met).unwrap(), Progress::default());
    }

    #[test]
    fn a_foreign_file_is_left_alone() {
        let (settings, folder) = ground();
        let bus = bus::open(&settings).unwrap();
        let text = folder.path().join("text");
        std::fs::write(&text, "this is no ledger, and much longer than a header of one would be, so that it is read")
            .unwrap();
        let database = folder.path().join("other.sqlite");
        Connection::open(&database).unwrap().execute_batch("CREATE TABLE theirs (x); PRAGMA user_version = 0").unwrap();
        let same_number = folder.path().join("same.sqlite");
        Connection::open(&same_number)
            .unwrap()
            .execute_batch("CREATE TABLE files (x); PRAGMA user_version = 1")
            .unwrap();
        for path in [text, database, same_number] {
            let before = std::fs::read(&path).unwrap();
            let refused = Ledger::open(&path, &settings, &*bus).err().unwrap().to_string();
            assert!(refused.contains("is no state of an ingest that can be used"), "{refused}");
            assert_eq!(std::fs::read(&path).unwrap(), before, "{}", path.display());
        }
    }
}
