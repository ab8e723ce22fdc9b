//! The file: connections to it, transactions on it, and what SQLite's errors mean.
//!
//! # Invariants
//! - A write is there whole or not at all, and counted beside the file. (`a_lost_end_is_noticed`)
//! - A trouble that passes is waited out, and then nothing is there twice. (`a_full_disk_is_waited_out`)
//! - A log that was deleted under its users takes no commit with it. (`a_deleted_log_is_brought_into_the_file`)

use super::checksum;
use super::lease::now_ms;
use super::schema::{self, Counter, Topic};
use super::tail::Tail;
use crate::bus::{BusError, Partition, Positions};
use crate::config::{BusSettings, Settings, TopicSettings};
#[cfg(not(test))]
use crate::fault;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OptionalExtension, Transaction, TransactionBehavior, params};
use std::collections::HashMap;
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Its name in the folder.
pub(super) const NAME: &str = "bus.sqlite";
/// A lock that is held longer by another process is said to be; our own transactions take milliseconds.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// Between two tries to get it.
const LOCK_PAUSE: Duration = Duration::from_millis(2);
/// For so long a full or failing disk is waited for, before the caller is told.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);
/// One try.
pub(super) const PATIENCE_NONE: Duration = Duration::ZERO;
/// Between two tries, at first and at most.
const PAUSES: [Duration; 2] = [Duration::from_millis(20), Duration::from_millis(500)];
/// A trouble that goes on is logged so often.
pub(super) const COMPLAINT_EVERY: Duration = Duration::from_secs(5);
/// In KiB: writers keep the inner pages of large tables, readers go forward only.
const CACHE_WRITER: i64 = 64 << 10;
const CACHE_READER: i64 = 8 << 10;
/// Pages of the log after which whoever commits empties it, where no housekeeper did so: 64 MiB.
const LOG_PAGES_MAX: i64 = 4096;
/// Beyond `bus.record_bytes_max`: a record of that size is also a dead letter, with headers that say so.
const HEADROOM_BYTES: usize = 1 << 20;

/// Device and inode: what has them is the file, whatever stands under its name.
pub(super) type Identity = (u64, u64);

/// The file, and what its instance knows of it.
pub(super) struct File {
    path: PathBuf,
    identity: Identity,
    tail: Tail,
    topics: Mutex<HashMap<Arc<str>, Arc<Topic>>>,
    turn: AtomicU32,
    /// Something was missing: what there is is left as it is.
    is_damaged: AtomicBool,
    /// Nothing more is written: it would be read by nobody.
    is_given_up: AtomicBool,
    /// The next commit is done and said to have failed.
    #[cfg(test)]
    pub(super) doubted: AtomicBool,
    pub(super) bus: BusSettings,
    pub(super) names: TopicSettings,
}

impl File {
    pub(super) fn open(settings: &Settings) -> Result<Self, BusError> {
        let folder = &settings.bus.folder;
        let path = folder.join(NAME);
        let io = |error: std::io::Error| match error.kind() {
            // Waiting helps against none of these.
            ErrorKind::PermissionDenied
            | ErrorKind::AlreadyExists
            | ErrorKind::NotADirectory
            | ErrorKind::IsADirectory
            | ErrorKind::ReadOnlyFilesystem => {
                BusError::Settings(format!("bus.folder ({}) cannot be used: {error}", folder.display()))
            }
            _ => BusError::Unreachable { bus: path.display().to_string(), why: error.to_string() },
        };
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(io)?;
        // Made here so that it is its owner's from the first moment; SQLite gives its log the same mode.
        let made = std::fs::File::options().append(true).create(true).mode(0o600).open(&path).map_err(io)?;
        let metadata = made.metadata().map_err(io)?;
        let identity = (metadata.dev(), metadata.ino());
        let tail = Tail::open(&folder.join("bus.tail")).map_err(io)?;
        // Instances that begin at the same time begin with different partitions.
        let turn = AtomicU32::new(now_ms() as u32);
        let (bus, names) = (settings.bus.clone(), settings.topics.clone());
        let file = Self {
            path,
            identity,
            tail,
            topics: Mutex::default(),
            turn,
            is_damaged: false.into(),
            is_given_up: false.into(),
            #[cfg(test)]
            doubted: false.into(),
            bus,
            names,
        };
        file.check()?;
        Ok(file)
    }

    /// Lays the file out if it is new, and looks at what must be right before anything is read.
    fn check(&self) -> Result<(), BusError> {
        // Before the file: commits that come meanwhile are no loss.
        let known = self.tail.read();
        let mut connection = self.connect(CACHE_READER)?;
        schema::lay_out(self, &mut connection)?;
        let transaction = connection.transaction().map_err(|error| self.error(error))?;
        let number = self.meta(&transaction, schema::COMMITS)?;
        if number < known {
            let n_lost = known - number;
            return Err(self.damage(format!(
                "its last {n_lost} commits are missing; delete bus.tail beside it to go on without them"
            )));
        }
        for topic in schema::topics(self, &transaction)? {
            for number in 0..topic.n_partitions {
                self.counter(&transaction, &topic, number)?;
            }
            self.known().insert(topic.name.clone(), topic);
        }
        Ok(())
    }

    pub(super) fn connect_to_read(&self) -> Result<Connection, BusError> {
        self.connect(CACHE_READER)
    }

    pub(super) fn connect_to_write(&self) -> Result<Connection, BusError> {
        self.connect(CACHE_WRITER)
    }

    fn connect(&self, cache: i64) -> Result<Connection, BusError> {
        self.check_place()?;
        let begun = Instant::now();
        loop {
            match self.try_connect(cache) {
                // The switch to a log needs the file for itself, and SQLite does not wait for it.
                Err(error) if passes(&error) && begun.elapsed() < BUSY_TIMEOUT => sleep(PAUSES[0]),
                outcome => return outcome.map_err(|error| self.error(error)),
            }
        }
    }

    fn try_connect(&self, cache: i64) -> rusqlite::Result<Connection> {
        let mut connection = Connection::open(&self.path)?;
        connection.busy_handler(Some(waits_for_lock))?;
        // Who has lost its index of the log would delete what others have written to it since. See `drop`.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        connection.set_prepared_statement_cache_capacity(128);
        if connection.pragma_query_value(None, "page_count", |row| row.get::<_, i64>(0))? == 0 {
            connection.pragma_update(None, "page_size", 16384)?;
            connection.pragma_update(None, "auto_vacuum", "incremental")?;
        }
        connection.pragma_update(None, "journal_mode", "wal")?;
        connection.pragma_update(None, "synchronous", "full")?;
        connection.pragma_update(None, "cache_size", -cache)?;
        connection.pragma_update(None, "wal_autocheckpoint", LOG_PAGES_MAX)?;
        connection.pragma_update(None, "journal_size_limit", LOG_PAGES_MAX << 14)?;
        Ok(connection)
    }

    /// Does the work in one transaction; what it did is durable when this returns. Trouble that passes is waited out for as long as
    /// `patience` says, and the work done again.
    pub(super) fn write<T>(
        &self,
        connection: &mut Connection,
        patience: Duration,
        mut work: impl FnMut(&Transaction<'_>) -> Result<T, BusError>,
    ) -> Result<T, BusError> {
        let (begun, mut pause, mut complained) = (Instant::now(), PAUSES[0], None::<Instant>);
        loop {
            let error = match self.try_write(connection, &mut work) {
                Err(error @ BusError::Unreachable { .. }) if begun.elapsed() + pause < patience => error,
                outcome => return outcome,
            };
            if complained.is_none_or(|last| last.elapsed() >= COMPLAINT_EVERY) {
                tracing::warn!(%error, "cannot write now, trying again");
                complained = Some(Instant::now());
            }
            sleep(pause);
            pause = (pause * 2).min(PAUSES[1]);
        }
    }

    fn try_write<T>(
        &self,
        connection: &mut Connection,
        work: &mut impl FnMut(&Transaction<'_>) -> Result<T, BusError>,
    ) -> Result<T, BusError> {
        let error = |error| self.error(error);
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(error)?;
        // Only now: whoever gave it up had the lock meanwhile.
        if self.is_given_up.load(Ordering::Relaxed) {
            return Err(self.damage("its log was deleted or replaced while it was in use".into()));
        }
        let done = work(&transaction)?;
        let number = self.meta(&transaction, schema::COMMITS)? + 1;
        let known = self.tail.read();
        if known >= number {
            return Err(self.damage(format!(
                "its commit {known} is missing: some of its files were deleted or replaced while it was in use"
            )));
        }
        self.set_meta(&transaction, schema::COMMITS, number)?;
        transaction.commit().map_err(error)?;
        self.tail.write(number);
        #[cfg(test)]
        let is_doubted = self.doubted.swap(false, Ordering::Relaxed);
        #[cfg(not(test))]
        let is_doubted = fault::is_due("commit_doubted");
        if is_doubted {
            return Err(BusError::Unreachable {
                bus: String::new(),
                why: "a commit whose outcome is not known".into(),
            });
        }
        Ok(done)
    }

    /// That the file is still the one under its name: what is written to another is read by nobody.
    pub(super) fn check_place(&self) -> Result<(), BusError> {
        let found = std::fs::metadata(&self.path).map(|metadata| (metadata.dev(), metadata.ino()));
        match found {
            Ok(identity) if identity == self.identity => Ok(()),
            _ => Err(self.damage("it was moved, deleted or replaced while it was in use".into())),
        }
    }

    /// The log that a connection has open which was made just now.
    pub(super) fn log(&self) -> Option<Identity> {
        let mut path = self.path.clone().into_os_string();
        path.push("-wal");
        let metadata = std::fs::metadata(path).ok()?;
        Some((metadata.dev(), metadata.ino()))
    }

    /// That the file and its log are still what stands under their names. A log that is not goes with the last who has it open: what
    /// was committed to it is brought into the file before that is said.
    pub(super) fn check_places(&self, connection: &Connection, log: Option<Identity>) -> Result<(), BusError> {
        self.check_place()?;
        if log.is_none() || self.log() == log {
            return Ok(());
        }
        self.is_given_up.store(true, Ordering::Relaxed);
        let brought = self.brought_in(connection).unwrap_or_else(|error| {
            tracing::warn!(%error, "the deleted log of the bus could not be brought into its file");
            false
        });
        let commits = if brought { "all commits are in the file" } else { "its last commits may be lost" };
        Err(self.damage(format!("its log was deleted or replaced while it was in use; {commits}")))
    }

    /// Brings the log into the file; whether all of it is there.
    fn brought_in(&self, connection: &Connection) -> Result<bool, BusError> {
        // If others have begun a new log, the index speaks of that, and what we have open is not what it says.
        if self.meta(connection, schema::COMMITS)? != self.tail.read() {
            return Ok(false);
        }
        let pages = |mode: &str| -> Result<(i64, i64, i64), BusError> {
            let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
            connection.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], row).map_err(|error| self.error(error))
        };
        let (_, n_pages, n_done) = pages("noop")?;
        if n_pages == n_done {
            return Ok(true);
        }
        let (is_busy, n_pages, n_done) = pages("full")?;
        Ok(is_busy == 0 && n_pages == n_done)
    }

    /// All that is read while it is held is of one moment: that of the caller's transaction, if there is one.
    pub(super) fn moment<'a>(&self, connection: &'a Connection) -> Result<Option<Transaction<'a>>, BusError> {
        match connection.is_autocommit() {
            true => connection.unchecked_transaction().map(Some).map_err(|error| self.error(error)),
            false => Ok(None),
        }
    }

    /// The topic of this name.
    pub(super) fn topic(&self, connection: &Connection, name: &str) -> Result<Arc<Topic>, BusError> {
        if let Some(topic) = self.known().get(name) {
            return Ok(topic.clone());
        }
        // Another process may have made it since.
        let topics = schema::topics(self, connection)?;
        let mut known = self.known();
        known.extend(topics.into_iter().map(|topic| (topic.name.clone(), topic)));
        known.get(name).cloned().ok_or_else(|| BusError::NoTopic { topic: name.into() })
    }

    fn known(&self) -> std::sync::MutexGuard<'_, HashMap<Arc<str>, Arc<Topic>>> {
        self.topics.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A number that another record without a key does not have.
    pub(super) fn turn(&self) -> u32 {
        self.turn.fetch_add(1, Ordering::Relaxed)
    }

    /// Which offsets a partition has.
    pub(super) fn counter(&self, connection: &Connection, topic: &Topic, number: i32) -> Result<Counter, BusError> {
        let error = |error| self.error(error);
        if !(0..topic.n_partitions).contains(&number) {
            return Err(BusError::NoTopic { topic: Partition::new(topic.name.clone(), number).to_string() });
        }
        let mut statement = connection
            .prepare_cached("SELECT begin, next, checksum FROM partitions WHERE topic = ?1 AND number = ?2")
            .map_err(error)?;
        let row = statement
            .query_row(params![topic.id, number], |row| Ok((row.get(0)?, row.get(1)?, row.get::<_, i64>(2)?)))
            .optional()
            .map_err(error)?;
        match row {
            Some((begin, next, sum)) if sum == checksum::of(&topic.name, &[number.into(), begin, next]) => {
                Ok(Counter { begin, next })
            }
            _ => Err(self.damage(format!("the counter of {}/{number} fails its checksum", topic.name))),
        }
    }

    pub(super) fn set_counter(
        &self,
        transaction: &Transaction<'_>,
        topic: &Topic,
        number: i32,
        counter: Counter,
    ) -> Result<(), BusError> {
        let sum = checksum::of(&topic.name, &[number.into(), counter.begin, counter.next]);
        let sql = "INSERT INTO partitions (topic, number, begin, next, checksum) VALUES (?1, ?2, ?3, ?4, ?5)
            ON CONFLICT DO UPDATE SET begin = ?3, next = ?4, checksum = ?5";
        let mut statement = transaction.prepare_cached(sql).map_err(|error| self.error(error))?;
        statement
            .execute(params![topic.id, number, counter.begin, counter.next, sum])
            .map_err(|error| self.error(error))?;
        Ok(())
    }

    /// A number that the file keeps of itself.
    pub(super) fn meta(&self, connection: &Connection, name: &str) -> Result<i64, BusError> {
        let row = connection
            .prepare_cached("SELECT number, checksum FROM meta WHERE name = ?1")
            .and_then(|mut statement| statement.query_row([name], |row| Ok((row.get(0)?, row.get::<_, i64>(1)?))))
            .map_err(|error| self.error(error))?;
        match row {
            (number, sum) if sum == checksum::of(name, &[number]) => Ok(number),
            _ => Err(self.damage(format!("its number of {name} fails its checksum"))),
        }
    }

    pub(super) fn set_meta(&self, transaction: &Transaction<'_>, name: &str, number: i64) -> Result<(), BusError> {
        transaction
            .prepare_cached("INSERT OR REPLACE INTO meta (name, number, checksum) VALUES (?1, ?2, ?3)")
            .and_then(|mut statement| statement.execute(params![name, number, checksum::of(name, &[number])]))
            .map_err(|error| self.error(error))?;
        Ok(())
    }

    /// The position of this store for a purpose, if one was ever noted.
    pub(super) fn position(
        &self,
        connection: &Connection,
        purpose: &str,
        topic: &Topic,
        number: i32,
    ) -> Result<Option<i64>, BusError> {
        let sql =
            "SELECT next, checksum FROM positions WHERE store = ?1 AND purpose = ?2 AND topic = ?3 AND number = ?4";
        let row = connection
            .prepare_cached(sql)
            .and_then(|mut statement| {
                let of = params![self.bus.store, purpose, topic.id, number];
                statement.query_row(of, |row| Ok((row.get(0)?, row.get::<_, i64>(1)?))).optional()
            })
            .map_err(|error| self.error(error))?;
        match row {
            None => Ok(None),
            Some((next, sum)) if sum == checksum::of(purpose, &[topic.id, number.into(), next]) => Ok(Some(next)),
            Some(_) => Err(self.damage(format!("the position in {}/{number} fails its checksum", topic.name))),
        }
    }

    pub(super) fn set_positions(
        &self,
        transaction: &Transaction<'_>,
        purpose: &str,
        positions: &Positions,
    ) -> Result<(), BusError> {
        let sql = "INSERT OR REPLACE INTO positions (store, purpose, topic, number, next, checksum)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        let mut statement = transaction.prepare_cached(sql).map_err(|error| self.error(error))?;
        for (partition, &next) in &positions.0 {
            let (topic, number) = (self.topic(transaction, &partition.topic)?, partition.number);
            let sum = checksum::of(purpose, &[topic.id, number.into(), next]);
            statement
                .execute(params![self.bus.store, purpose, topic.id, number, next, sum])
                .map_err(|error| self.error(error))?;
        }
        Ok(())
    }

    /// The largest record that is taken.
    pub(super) fn record_bytes_max(&self) -> usize {
        self.bus.record_bytes_max.saturating_add(HEADROOM_BYTES)
    }

    pub(super) fn damage(&self, what: String) -> BusError {
        self.is_damaged.store(true, Ordering::Relaxed);
        BusError::Damaged { bus: self.path.display().to_string(), what }
    }

    /// What an error of SQLite means to those who use a bus.
    pub(super) fn error(&self, error: rusqlite::Error) -> BusError {
        let bus = self.path.display().to_string();
        let why = match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => "it is locked by another process".into(),
            Some(ErrorCode::DiskFull) => "the disk is full".into(),
            Some(
                ErrorCode::SystemIoFailure
                | ErrorCode::CannotOpen
                | ErrorCode::PermissionDenied
                | ErrorCode::ReadOnly
                | ErrorCode::FileLockingProtocolFailed,
            ) => error.to_string(),
            Some(ErrorCode::OutOfMemory | ErrorCode::ApiMisuse | ErrorCode::OperationInterrupted) => {
                return BusError::Broken(format!("{bus}: {error}"));
            }
            // Our statements are fixed: a table, column, row or value that is not as we have made it was changed since.
            _ => return self.damage(error.to_string()),
        };
        BusError::Unreachable { bus, why }
    }
}

/// Waits for a lock that another has. SQLite's own way sleeps ten times as long in the end, and whoever feeds a busy run would find
/// the short moments between its commits too seldom.
fn waits_for_lock(n_tries: i32) -> bool {
    sleep(LOCK_PAUSE);
    LOCK_PAUSE * n_tries.unsigned_abs() < BUSY_TIMEOUT
}

/// The last one to leave brings the log into the file, by a connection that knows nothing from before.
impl Drop for File {
    fn drop(&mut self) {
        if self.is_damaged.load(Ordering::Relaxed) || self.check_place().is_err() {
            return;
        }
        let closed = Connection::open(&self.path).and_then(|connection| {
            connection.pragma_query_value(None, "journal_mode", |_| Ok(()))?;
            connection.close().map_err(|(_, error)| error)
        });
        if let Err(error) = closed {
            tracing::debug!(%error, "the log of the bus stays beside its file");
        }
    }
}

/// Whether it may go better later.
fn passes(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::bus::embedded::Embedded;
    use crate::bus::{Bus, Outgoing};

    /// A bus in a folder of its own, with all topics.
    pub(crate) fn bus(change: impl FnOnce(&mut Settings)) -> (Embedded, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let mut settings = Settings::default();
        settings.bus.folder = folder.path().into();
        change(&mut settings);
        let bus = Embedded::open(&settings).unwrap();
        bus.prepare().unwrap();
        (bus, folder)
    }

    /// A record for a partition.
    pub(crate) fn outgoing(topic: &str, partition: i32, value: &[u8]) -> Outgoing {
        Outgoing { partition: Some(partition), value: Some(value.to_vec()), ..Outgoing::to(topic) }
    }

    #[test]
    fn trouble_that_stays_is_told() {
        let (bus, _folder) = bus(|_| ());
        let mut connection = bus.file.connect_to_write().unwrap();
        let n_pages: i64 = connection.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
        connection.pragma_update(None, "max_page_count", n_pages).unwrap_or_default();
        let (begun, mut n_tries) = (Instant::now(), 0);
        let outcome = bus.file.write(&mut connection, Duration::from_millis(200), |transaction| {
            n_tries += 1;
            crate::bus::embedded::feeder::append(&bus.file, transaction, &[outgoing("pages", 0, &[1; 100_000])])
        });
        assert!(matches!(outcome, Err(BusError::Unreachable { why, .. }) if why == "the disk is full"));
        assert!(n_tries > 1 && begun.elapsed() < Duration::from_secs(5), "{n_tries} tries in {:?}", begun.elapsed());
        assert_eq!(bus.extent(&Partition::new("pages", 0)).unwrap().end, 0, "nothing of it is there");
    }
}
