//! What a run counts, by the names of [`crate::metrics`].

use super::fold::Fold;
use super::outputs::classes;
use crate::bus::Partition;
use crate::metrics as names;
use crate::verdict::event::{Outcome, Verdict};
use ::metrics::{counter, gauge, histogram};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

pub(super) fn dead_letter(reason: &str) {
    counter!(names::DEAD_LETTERS, "reason" => reason.to_owned()).increment(1);
}

pub(super) fn verdict(verdict: &Verdict) {
    let outcome = match verdict.outcome {
        Outcome::Judged => "judged",
        Outcome::Insufficient => "insufficient",
        Outcome::Rejected => "rejected",
    };
    for class in classes(verdict).split(',') {
        counter!(names::VERDICTS, "class" => class.to_owned(), "outcome" => outcome).increment(1);
    }
    if verdict.revision > 0 {
        counter!(names::REVISIONS).increment(1);
    }
}

pub(super) fn batch(n_documents: usize, n_bytes: usize, took: Duration) {
    counter!(names::DOCUMENTS).increment(n_documents as u64);
    counter!(names::DOCUMENT_BYTES).increment(n_bytes as u64);
    histogram!(names::BATCH_DOCUMENTS).record(n_documents as f64);
    histogram!(names::FOLD_SECONDS).record(took);
}

pub(super) fn signed(n_documents: usize, n_bytes: usize) {
    counter!(names::DOCUMENTS).increment(n_documents as u64);
    counter!(names::DOCUMENT_BYTES).increment(n_bytes as u64);
    histogram!(names::BATCH_DOCUMENTS).record(n_documents as f64);
}

pub(super) fn labels(n_records: usize) {
    counter!(names::LABELS).increment(n_records as u64);
}

pub(super) fn commit(took: Duration) {
    histogram!(names::COMMIT_SECONDS).record(took);
}

pub(super) fn latency(took: Duration) {
    histogram!(names::VERDICT_SECONDS).record(took);
}

pub(super) fn lag(partition: &Partition, n_records: i64) {
    let (topic, number) = (partition.topic.to_string(), partition.number.to_string());
    gauge!(names::LAG, "topic" => topic, "partition" => number).set(n_records as f64);
}

pub(super) fn seat(held: bool) {
    gauge!(names::SEAT).set(f64::from(u8::from(held)));
}

pub(super) fn lost(topic: &str, n_records: i64) {
    counter!(names::LOST, "topic" => topic.to_owned()).increment(n_records.max(1) as u64);
}

pub(super) fn snapshot_failed() {
    counter!(names::SNAPSHOT_FAILURES).increment(1);
}

/// The longest stop of this process, in microseconds.
static LONGEST_STOP: AtomicU64 = AtomicU64::new(0);

pub(super) fn snapshot_stop(took: Duration) {
    let longest = LONGEST_STOP.fetch_max(took.as_micros() as u64, Ordering::Relaxed).max(took.as_micros() as u64);
    gauge!(names::SNAPSHOT_STOP).set(longest as f64 / 1e6);
}

pub(super) fn snapshot(n_bytes: u64) {
    gauge!(names::SNAPSHOT_BYTES).set(n_bytes as f64);
    gauge!(names::SNAPSHOT_AGE).set(0.0);
}

pub(super) fn snapshot_took(took: Duration, n_early_bytes: u64) {
    histogram!(names::SNAPSHOT_SECONDS).record(took);
    counter!(names::SNAPSHOT_EARLY_BYTES).increment(n_early_bytes);
}

pub(super) fn snapshot_age(age: Duration) {
    gauge!(names::SNAPSHOT_AGE).set(age.as_secs_f64());
}

pub(super) fn journal(next: i64) {
    gauge!(names::JOURNAL_POSITION).set((next - 1) as f64);
}

/// What the store holds, and what has left it.
pub(super) fn census(fold: &Fold) {
    let census = fold.filter.census();
    gauge!(names::STORE_DOCUMENTS).set(census.n_prototypes as f64);
    gauge!(names::STORE_GROUPS).set(census.n_groups as f64);
    let successor = fold.filter.successor();
    let mut beside = successor.into_iter().flat_map(|successor| successor.store().plan().all());
    for (table, bytes) in fold.filter.store().plan().all() {
        let beside = beside.next().map_or(0, |(_, bytes)| bytes);
        gauge!(names::TABLE_BYTES, "table" => table).set((bytes + beside) as f64);
    }
    gauge!(names::SUCCESSION_LEFT).set(fold.overlap_left().unwrap_or_default().as_secs_f64());
    let heirs = successor.unwrap_or(&fold.filter).heirs();
    gauge!(names::HEIRS).set(heirs.len() as f64);
    counter!(names::HEIRS_DROPPED).absolute(heirs.n_turned_away());
    let tables = ["texts", "styles", "grams", "sentences"];
    for (table, n) in tables.into_iter().zip(census.n_keys_pushed_out) {
        counter!(names::EVICTIONS, "table" => table).absolute(n);
    }
    counter!(names::EVICTIONS, "table" => "leaders").absolute(census.n_leaders_evicted);
    counter!(names::EVICTIONS, "table" => "sentence counters").absolute(census.n_counters_displaced);
    counter!(names::REVISIONS_DROPPED).absolute(fold.filter.judge().turned_away().n_queued);
}
