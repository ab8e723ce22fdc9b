//! How the file is laid out: a table per topic, counters of its partitions, and who is where.
//!
//! Topics are numbered, so that names are data and never part of a statement. A partition counts its own offsets, from 0 and
//! without gaps, so that a missing record is told from one that never was, and an emptied topic goes on counting.
//!
//! # Invariants
//! - Names of topics can be any text. (`names_are_only_data`)
//! - The view `verdict` shows what was judged, whatever the topic is called. (`verdicts_can_be_queried`)

use super::checksum;
use super::file::{File, PATIENCE_NONE};
use crate::bus::BusError;
use crate::config::TopicSettings;
use rusqlite::{Connection, OptionalExtension, Transaction, params};
use std::sync::Arc;

/// The layout. Another number is another layout, which this release does not read.
const FORMAT: i64 = 1;
/// What the numbers in `meta` are.
const LAYOUT: &str = "layout";
const TOPICS: &str = "topics";
pub(super) const COMMITS: &str = "commits";

/// What the positions of a store are for: what is still needed of the inputs, what was folded, and what was signed.
pub(super) const NEEDED: &str = "needed";
pub(super) const FOLDED: &str = "folded";
pub(super) const SIGNED: &str = "signed";

const TABLES: &str = "
    CREATE TABLE meta (name TEXT PRIMARY KEY, number INTEGER NOT NULL, checksum INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE topics (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, n_partitions INTEGER NOT NULL);
    CREATE TABLE partitions (
        topic INTEGER NOT NULL, number INTEGER NOT NULL, begin INTEGER NOT NULL, next INTEGER NOT NULL, checksum INTEGER NOT NULL,
        PRIMARY KEY (topic, number)) WITHOUT ROWID;
    CREATE TABLE positions (
        store TEXT NOT NULL, purpose TEXT NOT NULL, topic INTEGER NOT NULL, number INTEGER NOT NULL,
        next INTEGER NOT NULL, checksum INTEGER NOT NULL,
        PRIMARY KEY (store, purpose, topic, number)) WITHOUT ROWID;
    CREATE TABLE seats (
        store TEXT PRIMARY KEY, epoch INTEGER NOT NULL, holder INTEGER, lease_end_ms INTEGER NOT NULL, lease_ms INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE members (
        id INTEGER PRIMARY KEY AUTOINCREMENT, store TEXT NOT NULL, lease_end_ms INTEGER NOT NULL, lease_ms INTEGER NOT NULL);";

/// A topic of the file, with the statements of its table.
pub(super) struct Topic {
    pub(super) id: i64,
    pub(super) name: Arc<str>,
    pub(super) n_partitions: i32,
    pub(super) insert: String,
    pub(super) select: String,
    pub(super) ages: String,
    pub(super) delete: String,
    pub(super) keys: String,
}

/// Which offsets a partition has: `begin..next`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Counter {
    pub(super) begin: i64,
    pub(super) next: i64,
}

impl Topic {
    fn new(id: i64, name: &str, n_partitions: i32) -> Self {
        Self {
            id,
            name: name.into(),
            n_partitions,
            insert: format!(
                "INSERT INTO records_{id} (partition, offset, time_ms, key, headers, value, checksum)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)"
            ),
            select: format!(
                "SELECT offset, time_ms, key, headers, value, checksum FROM records_{id}
                WHERE partition = ?1 AND offset >= ?2 AND offset < ?3 ORDER BY offset"
            ),
            ages: format!(
                "SELECT offset, time_ms FROM records_{id}
                WHERE partition = ?1 AND offset >= ?2 ORDER BY offset LIMIT ?3"
            ),
            delete: format!("DELETE FROM records_{id} WHERE partition = ?1 AND offset < ?2"),
            keys: format!("SELECT offset, key FROM records_{id} WHERE partition = ?1 ORDER BY offset DESC"),
        }
    }
}

/// Lays out a file that is new.
pub(super) fn lay_out(file: &File, connection: &mut Connection) -> Result<(), BusError> {
    let error = |error| file.error(error);
    let laid_out = |connection: &Connection| {
        let sql = "SELECT count(*) FROM sqlite_master WHERE name = 'meta'";
        connection.query_row(sql, [], |row| row.get::<_, i64>(0)).map(|n| n > 0).map_err(error)
    };
    if !laid_out(connection)? {
        let transaction =
            connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).map_err(error)?;
        // Another process may have been faster.
        if !laid_out(&transaction)? {
            let n_pages: i64 = transaction.pragma_query_value(None, "page_count", |row| row.get(0)).map_err(error)?;
            if n_pages > 1 {
                return Err(file.damage("it holds something, and not the topics of a bus".into()));
            }
            transaction.execute_batch(TABLES).map_err(error)?;
            file.set_meta(&transaction, LAYOUT, FORMAT)?;
            file.set_meta(&transaction, COMMITS, 0)?;
            file.set_meta(&transaction, TOPICS, digest(&[]))?;
            transaction.commit().map_err(error)?;
        }
    }
    match file.meta(connection, LAYOUT)? {
        FORMAT => Ok(()),
        other => {
            Err(BusError::Settings(format!("the embedded bus has layout {other}, and this release reads {FORMAT}")))
        }
    }
}

/// All topics. That none is missing and none was changed is seen by a digest.
pub(super) fn topics(file: &File, connection: &Connection) -> Result<Vec<Arc<Topic>>, BusError> {
    let moment = file.moment(connection)?;
    let mut topics: Vec<Topic> = Vec::new();
    let mut list = || -> rusqlite::Result<()> {
        let mut statement = connection.prepare_cached("SELECT id, name, n_partitions FROM topics ORDER BY id")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            topics.push(Topic::new(row.get(0)?, &row.get::<_, String>(1)?, row.get(2)?));
        }
        Ok(())
    };
    list().map_err(|error| file.error(error))?;
    if digest(&topics) != file.meta(connection, TOPICS)? {
        return Err(file.damage("the list of its topics fails its checksum".into()));
    }
    drop(moment);
    Ok(topics.into_iter().map(Arc::new).collect())
}

fn digest(topics: &[Topic]) -> i64 {
    topics.iter().fold(0, |digest, Topic { id, name, n_partitions, .. }| {
        checksum::of(name, &[digest, *id, i64::from(*n_partitions)])
    })
}

/// The topics that the settings name, and how many partitions they are made with.
pub(super) fn named(names: &TopicSettings) -> Vec<(&str, i32)> {
    let TopicSettings { pages, emails, labels, verdicts, clusters, dead_letters, journal, signed, .. } = names;
    let many =
        [pages, emails, labels, verdicts, clusters, dead_letters, signed].map(|name| (&**name, names.partitions));
    many.into_iter().chain([(&**journal, 1)]).filter(|(name, _)| !name.is_empty()).collect()
}

/// Makes the topics that are missing, if the settings say so. Those that are there keep their partitions.
pub(super) fn prepare(file: &File) -> Result<(), BusError> {
    let mut connection = file.connect_to_write()?;
    let named = named(&file.names);
    if file.names.create {
        file.write(&mut connection, PATIENCE_NONE, |transaction| {
            for (name, n_partitions) in &named {
                make(file, transaction, name, *n_partitions)?;
            }
            show_verdicts(file, transaction)
        })?;
    }
    named.iter().try_for_each(|(name, _)| file.topic(&connection, name).map(|_| ()))
}

/// Makes the topic, unless it is there.
fn make(file: &File, transaction: &Transaction<'_>, name: &str, n_partitions: i32) -> Result<(), BusError> {
    let error = |error| file.error(error);
    let present = topics(file, transaction)?;
    if present.iter().any(|other| *other.name == *name) {
        return Ok(());
    }
    let id = present.len() as i64 + 1;
    transaction
        .execute("INSERT INTO topics (id, name, n_partitions) VALUES (?1, ?2, ?3)", params![id, name, n_partitions])
        .map_err(error)?;
    transaction
        .execute_batch(&format!(
            "CREATE TABLE records_{id} (
                partition INTEGER NOT NULL, offset INTEGER NOT NULL, time_ms INTEGER NOT NULL,
                key BLOB, headers BLOB, value BLOB, checksum INTEGER NOT NULL,
                PRIMARY KEY (partition, offset))"
        ))
        .map_err(error)?;
    let topic = Topic::new(id, name, n_partitions);
    for number in 0..n_partitions {
        file.set_counter(transaction, &topic, number, Counter { begin: 0, next: 0 })?;
    }
    let mut all: Vec<Topic> = present.iter().map(|t| Topic::new(t.id, &t.name, t.n_partitions)).collect();
    all.push(topic);
    file.set_meta(transaction, TOPICS, digest(&all))
}

/// The verdicts as a view: one row per event, the last of an `id` holds. `class` is empty for what could not be judged.
fn show_verdicts(file: &File, transaction: &Transaction<'_>) -> Result<(), BusError> {
    let topics = topics(file, transaction)?;
    let Some(topic) = topics.iter().find(|topic| *topic.name == *file.names.verdicts) else { return Ok(()) };
    let view = format!(
        "CREATE VIEW verdict AS
        SELECT event ->> '$.id' AS id, event ->> '$.kind' AS kind, event ->> '$.url' AS url,
            event ->> '$.outcome' AS outcome, event ->> '$.revision' AS revision,
            CASE WHEN event ->> '$.outcome' <> 'judged' THEN ''
                WHEN event ->> '$.classes[0]' IS NULL THEN 'original'
                ELSE (SELECT group_concat(value, '+') FROM json_each(event, '$.classes')) END AS class,
            event ->> '$.mirror.of' AS \"group\", event ->> '$.mirror.size' AS size,
            event ->> '$.cluster' AS cluster, event ->> '$.template.size' AS cluster_size,
            strftime('%Y-%m-%dT%H:%M:%fZ', time_ms / 1000.0, 'unixepoch') AS time, partition, offset, event
        FROM (SELECT partition, offset, time_ms, CAST(value AS TEXT) AS event FROM records_{})
        WHERE json_valid(event)",
        topic.id
    );
    let update = || -> rusqlite::Result<()> {
        let sql = "SELECT sql FROM sqlite_master WHERE type = 'view' AND name = 'verdict'";
        // Made again only where it changes: everybody else has to prepare all statements anew.
        if transaction.query_row(sql, [], |row| row.get::<_, String>(0)).optional()?.as_deref() != Some(&view) {
            transaction.execute_batch(&format!("DROP VIEW IF EXISTS verdict; {view}"))?;
        }
        Ok(())
    };
    update().map_err(|error| file.error(error))
}
