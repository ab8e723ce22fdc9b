//! Keeps the file in order beside the one who holds the seat, so that no commit has to wait for it: brings the log into the file,
//! deletes what is too old, and gives room back.

use super::file::File;
use super::lease::now_ms;
use super::retention;
use crate::bus::BusError;
use rusqlite::Connection;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// So often the length of the log is looked at.
const LOG_EVERY: Duration = Duration::from_millis(100);
/// Pages of the log from which on it is brought into the file: 16 MiB.
const LOG_PAGES: i64 = 1024;
/// ... and from which on whoever commits has to wait for a moment, so that it begins anew: 48 MiB.
const LOG_PAGES_URGENT: i64 = 3072;
/// So often old records are looked for.
const RETENTION_EVERY: Duration = Duration::from_secs(60);
/// Unused pages that are given back at a time.
const VACUUM_PAGES: i64 = 256;

/// The thread, which ends with the seat.
pub(super) struct Housekeeper {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    stopped: AtomicBool,
    on_duty: AtomicBool,
}

impl Housekeeper {
    pub(super) fn start(file: Arc<File>) -> Result<Self, BusError> {
        let mut connection = file.connect_to_write()?;
        let shared = Arc::new(Shared::default());
        let seen = shared.clone();
        let work = move || {
            let mut retained = Instant::now();
            while !seen.stopped.load(Ordering::Acquire) {
                std::thread::park_timeout(LOG_EVERY);
                if !seen.on_duty.load(Ordering::Acquire) {
                    continue;
                }
                let done = shorten_log(&file, &connection).and_then(|()| {
                    if retained.elapsed() < RETENTION_EVERY {
                        return Ok(());
                    }
                    // A little at a time: what is left is done in the next rounds, between the commits.
                    if retention::retain(&file, &mut connection, now_ms())? && give_back(&file, &connection)? {
                        retained = Instant::now();
                    }
                    Ok(())
                });
                if let Err(error) = done {
                    tracing::warn!(%error, "the file of the bus could not be kept in order, trying again");
                    retained = Instant::now();
                }
            }
        };
        let thread = std::thread::Builder::new()
            .name("bus-housekeeper".into())
            .spawn(work)
            .map_err(|error| BusError::Broken(format!("no thread for the bus: {error}")))?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Only the holder's housekeeper works.
    pub(super) fn set_on_duty(&self, on_duty: bool) {
        self.shared.on_duty.store(on_duty, Ordering::Release);
    }
}

impl Drop for Housekeeper {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            if thread.join().is_err() {
                tracing::warn!("the housekeeper of the bus has panicked");
            }
        }
    }
}

/// Brings the log into the file when it is long.
fn shorten_log(file: &File, connection: &Connection) -> Result<(), BusError> {
    // Busy readers or writers are no failure: it is tried again in a moment.
    let pages = |mode: &str| -> Result<(i64, i64), BusError> {
        connection
            .query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |row| Ok((row.get(1)?, row.get(2)?)))
            .map_err(|error| file.error(error))
    };
    let (n_pages, n_done) = pages("noop")?;
    if n_pages - n_done < LOG_PAGES && n_pages < LOG_PAGES_URGENT {
        return Ok(());
    }
    pages("passive")?;
    if n_pages >= LOG_PAGES_URGENT {
        pages("restart")?;
    }
    Ok(())
}

/// Gives unused pages back to the system, a few at a time. Whether that is all.
pub(super) fn give_back(file: &File, connection: &Connection) -> Result<bool, BusError> {
    let pages = |name: &str| {
        connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).map_err(|error| file.error(error))
    };
    // Some are kept: they will be used again.
    let n_free = pages("freelist_count")? - pages("page_count")? / 4;
    if n_free > 0 {
        // It gives back one page with every row that it is asked for.
        let vacuum = || -> rusqlite::Result<()> {
            let mut statement = connection.prepare(&format!("PRAGMA incremental_vacuum({VACUUM_PAGES})"))?;
            let mut rows = statement.query([])?;
            while rows.next()?.is_some() {}
            Ok(())
        };
        vacuum().map_err(|error| file.error(error))?;
    }
    Ok(n_free <= VACUUM_PAGES)
}
