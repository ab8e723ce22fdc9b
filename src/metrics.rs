//! Every metric by its name, once, and how they are kept for Prometheus.
//!
//! What happens per document is counted here and never logged. Without [`install`] counting costs next to nothing and keeps
//! nothing.
//!
//! # Invariants
//! - Every name is described, and stands once. (`every_metric_is_described_once`)
//! - Durations are histograms with buckets: those of several instances can be added. (`tests/promises/http/health.rs`)

use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder, PrometheusHandle};
use std::sync::OnceLock;

/// Documents and bytes that were taken from the bus.
pub const DOCUMENTS: &str = "seamripper_documents_total";
/// See [`DOCUMENTS`].
pub const DOCUMENT_BYTES: &str = "seamripper_document_bytes_total";
/// Verdicts that were published: labels `class` (`mirror`, `quilt`, `template`, `original`) and `outcome`. A document of two
/// classes counts for both.
pub const VERDICTS: &str = "seamripper_verdicts_total";
/// Verdicts that changed an earlier one.
pub const REVISIONS: &str = "seamripper_revisions_total";
/// Revisions that were dropped because too many waited.
pub const REVISIONS_DROPPED: &str = "seamripper_revisions_dropped_total";
/// Records that were set aside: label `reason`.
pub const DEAD_LETTERS: &str = "seamripper_dead_letters_total";
/// Label records that were taken in.
pub const LABELS: &str = "seamripper_labels_total";

/// Documents of a batch.
pub const BATCH_DOCUMENTS: &str = "seamripper_batch_documents";
/// What match and judge took of a batch.
pub const FOLD_SECONDS: &str = "seamripper_fold_seconds";
/// What making a batch's outputs durable took.
pub const COMMIT_SECONDS: &str = "seamripper_commit_seconds";
/// From when the bus got a document until its verdict was durable.
pub const VERDICT_SECONDS: &str = "seamripper_produce_to_verdict_seconds";
/// Transactions that were undone and sent again.
pub const ABORTS: &str = "seamripper_transactions_aborted_total";
/// Things that wait between two steps: label `queue`.
pub const QUEUE_DEPTH: &str = "seamripper_queue_depth";
/// Records behind the end of a partition: labels `topic`, `partition`.
pub const LAG: &str = "seamripper_lag_records";

/// Bytes of a table of the store: label `table`.
pub const TABLE_BYTES: &str = "seamripper_store_table_bytes";
/// Entries that gave way to new ones: label `table`.
pub const EVICTIONS: &str = "seamripper_store_evictions_total";
/// Documents that the store holds.
pub const STORE_DOCUMENTS: &str = "seamripper_store_documents";
/// Groups of copies that the store holds.
pub const STORE_GROUPS: &str = "seamripper_store_groups";

/// Seconds of the store's clock until the present settings take over from the former ones, which run beside them; 0 otherwise.
pub const SUCCESSION_LEFT: &str = "seamripper_succession_left_seconds";
/// Groups and clusters of which it is known whose places they took at a succession.
pub const HEIRS: &str = "seamripper_heirs";
/// Those for which there was no room.
pub const HEIRS_DROPPED: &str = "seamripper_heirs_dropped_total";

/// Seconds since the newest snapshot was put in place.
pub const SNAPSHOT_AGE: &str = "seamripper_snapshot_age_seconds";
/// What writing a snapshot took.
pub const SNAPSHOT_SECONDS: &str = "seamripper_snapshot_seconds";
/// Bytes of the newest snapshot.
pub const SNAPSHOT_BYTES: &str = "seamripper_snapshot_bytes";
/// Bytes of tables that were changed before a snapshot had come to them, and were written out of turn.
pub const SNAPSHOT_EARLY_BYTES: &str = "seamripper_snapshot_early_bytes_total";
/// The longest time that the stream stood still for a snapshot.
pub const SNAPSHOT_STOP: &str = "seamripper_snapshot_longest_stop_seconds";
/// Snapshots that could not be written or read.
pub const SNAPSHOT_FAILURES: &str = "seamripper_snapshot_failures_total";
/// The offset of the last journal record that was folded.
pub const JOURNAL_POSITION: &str = "seamripper_journal_position";
/// 1 where this instance has the seat.
pub const SEAT: &str = "seamripper_seat_held";
/// Records that were lost before they were read: label `topic`.
pub const LOST: &str = "seamripper_lost_records_total";

/// Requests: labels `path` and `status`.
pub const HTTP_REQUESTS: &str = "seamripper_http_requests_total";
/// Documents that came over HTTP and are durable: label `topic`.
pub const HTTP_ACCEPTED: &str = "seamripper_http_accepted_total";
/// Documents that came over HTTP again, and were answered with the position of the first: label `topic`.
pub const HTTP_REPEATED: &str = "seamripper_http_repeated_total";
/// Requests that were turned away for want of room, or because the bus failed: label `reason`.
pub const FEED_REJECTED: &str = "seamripper_feed_rejected_total";
/// Streams of verdicts that are open.
pub const HTTP_STREAMS: &str = "seamripper_http_verdict_streams";

/// Requests that were turned away because their address asks too often.
pub const HTTP_RATE_LIMITED: &str = "seamripper_http_rate_limited_total";
/// Verdicts and clusters that are held for those who ask: label `what`.
pub const HELD: &str = "seamripper_http_held";
/// What the held verdicts take in memory, about.
pub const HELD_BYTES: &str = "seamripper_http_held_bytes";
/// Verdicts, clusters and addresses that gave way to newer ones: label `what`.
pub const HELD_GIVEN_WAY: &str = "seamripper_http_held_given_way_total";
/// Mails that a milter was given: label `outcome`, `checked` or why not.
pub const MILTER_MAILS: &str = "seamripper_milter_mails_total";
/// Mails that were quarantined or rejected: label `action`.
pub const MILTER_ACTIONS: &str = "seamripper_milter_actions_total";
/// Header fields of ours that came with a mail, and were taken away.
pub const MILTER_FORGED: &str = "seamripper_milter_forged_fields_total";
/// How long a complete mail waited.
pub const MILTER_SECONDS: &str = "seamripper_milter_seconds";
/// Connections of mail servers that are open.
pub const MILTER_CONNECTIONS: &str = "seamripper_milter_connections";
/// Connections that were turned away, or ended for what they sent or did not: label `reason`.
pub const MILTER_REFUSED: &str = "seamripper_milter_connections_refused_total";

/// Checks: labels `learn` and `outcome` (`judged`, `insufficient`, `rejected`, `accepted` where a document was appended and not judged in
/// time, `none`).
pub const CHECKS: &str = "seamripper_checks_total";
/// From when a check was asked until it was answered: label `learn`.
pub const CHECK_SECONDS: &str = "seamripper_check_seconds";
/// Checks that were turned away: label `reason`.
pub const CHECKS_TURNED_AWAY: &str = "seamripper_checks_turned_away_total";
/// Checks that wait for their answers: label `learn`.
pub const CHECKS_WAITING: &str = "seamripper_checks_waiting";

/// What a metric counts, and how.
enum Form {
    Counter,
    Gauge,
    /// With buckets for durations.
    Seconds,
    /// With buckets for numbers of documents.
    Documents,
}

const ALL: &[(&str, Form, &str)] = &[
    (DOCUMENTS, Form::Counter, "documents taken from the bus"),
    (DOCUMENT_BYTES, Form::Counter, "bytes of records taken from the bus"),
    (VERDICTS, Form::Counter, "verdicts published, by class and outcome"),
    (REVISIONS, Form::Counter, "verdicts that changed an earlier one"),
    (REVISIONS_DROPPED, Form::Counter, "revisions dropped because too many waited"),
    (DEAD_LETTERS, Form::Counter, "records set aside, by reason"),
    (LABELS, Form::Counter, "label records taken in"),
    (BATCH_DOCUMENTS, Form::Documents, "documents of a batch"),
    (FOLD_SECONDS, Form::Seconds, "match and judge of a batch"),
    (COMMIT_SECONDS, Form::Seconds, "making the outputs of a batch durable"),
    (VERDICT_SECONDS, Form::Seconds, "from the arrival of a document on the bus until its verdict is durable"),
    (ABORTS, Form::Counter, "transactions undone and sent again"),
    (QUEUE_DEPTH, Form::Gauge, "things that wait between two steps, by queue"),
    (LAG, Form::Gauge, "records behind the end of a partition"),
    (TABLE_BYTES, Form::Gauge, "bytes of the tables of the store"),
    (EVICTIONS, Form::Counter, "entries that gave way to new ones, by table"),
    (STORE_DOCUMENTS, Form::Gauge, "documents that the store holds"),
    (STORE_GROUPS, Form::Gauge, "groups of copies that the store holds"),
    (
        SUCCESSION_LEFT,
        Form::Gauge,
        "seconds of the store's clock until the present settings take over from the former ones beside them",
    ),
    (HEIRS, Form::Gauge, "groups and clusters of which it is known whose places they took at a succession"),
    (HEIRS_DROPPED, Form::Counter, "groups and clusters for which that could not be kept"),
    (SNAPSHOT_AGE, Form::Gauge, "seconds since the newest snapshot was put in place"),
    (SNAPSHOT_SECONDS, Form::Seconds, "writing a snapshot"),
    (SNAPSHOT_BYTES, Form::Gauge, "bytes of the newest snapshot"),
    (
        SNAPSHOT_EARLY_BYTES,
        Form::Counter,
        "bytes that a snapshot had to write out of turn, since they were about to change",
    ),
    (SNAPSHOT_STOP, Form::Gauge, "the longest time that the stream stood still for a snapshot"),
    (SNAPSHOT_FAILURES, Form::Counter, "snapshots that could not be written or read"),
    (JOURNAL_POSITION, Form::Gauge, "offset of the last journal record folded"),
    (SEAT, Form::Gauge, "1 where this instance has the seat"),
    (LOST, Form::Counter, "records lost before they were read"),
    (HTTP_REQUESTS, Form::Counter, "requests, by path and status"),
    (HTTP_ACCEPTED, Form::Counter, "documents that came over HTTP and are durable"),
    (HTTP_REPEATED, Form::Counter, "documents that came over HTTP again"),
    (FEED_REJECTED, Form::Counter, "requests turned away, by reason"),
    (CHECKS, Form::Counter, "checks, by what came of them"),
    (CHECK_SECONDS, Form::Seconds, "from when a check was asked until it was answered"),
    (CHECKS_TURNED_AWAY, Form::Counter, "checks turned away, by reason"),
    (CHECKS_WAITING, Form::Gauge, "checks that wait for their answers"),
    (HTTP_STREAMS, Form::Gauge, "open streams of verdicts"),
    (HTTP_RATE_LIMITED, Form::Counter, "requests turned away because their address asks too often"),
    (HELD, Form::Gauge, "verdicts and clusters held for those who ask"),
    (HELD_BYTES, Form::Gauge, "bytes of the verdicts held for those who ask, about"),
    (MILTER_MAILS, Form::Counter, "mails that the milter was given, by outcome"),
    (MILTER_ACTIONS, Form::Counter, "mails quarantined or rejected"),
    (MILTER_FORGED, Form::Counter, "header fields of ours that came with a mail"),
    (MILTER_SECONDS, Form::Seconds, "how long a complete mail waited"),
    (MILTER_CONNECTIONS, Form::Gauge, "open connections of mail servers"),
    (MILTER_REFUSED, Form::Counter, "connections of mail servers turned away, by reason"),
    (HELD_GIVEN_WAY, Form::Counter, "verdicts, clusters and addresses held that gave way to newer ones"),
];

/// The names of all metrics.
pub fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|(name, ..)| *name)
}

/// From a loop without work to the longest time-out, in steps of two and two and a half.
const SECONDS: &[f64] =
    &[0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 25.0, 60.0, 300.0];
const N_DOCUMENTS: &[f64] = &[1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1_000.0, 3_000.0, 10_000.0];

/// Keeps what is counted from now on. The second call gives what the first did.
///
/// Somebody must ask the handle for its text or its upkeep every few seconds, or the histograms grow: the HTTP side does.
pub fn install() -> PrometheusHandle {
    static INSTALLED: OnceLock<PrometheusHandle> = OnceLock::new();
    let handle = INSTALLED.get_or_init(|| {
        let recorder = builder().expect("the buckets are not empty").build_recorder();
        let handle = recorder.handle();
        if let Err(error) = ::metrics::set_global_recorder(recorder) {
            tracing::warn!(%error, "somebody else counts already, /metrics stays empty");
        }
        describe();
        handle
    });
    handle.clone()
}

fn builder() -> Result<PrometheusBuilder, BuildError> {
    PrometheusBuilder::new()
        .set_buckets(SECONDS)?
        .set_buckets_for_metric(Matcher::Full(BATCH_DOCUMENTS.to_owned()), N_DOCUMENTS)
}

/// Says of each metric what it counts.
pub fn describe() {
    for (name, form, text) in ALL {
        match form {
            Form::Counter => ::metrics::describe_counter!(*name, *text),
            Form::Gauge => ::metrics::describe_gauge!(*name, *text),
            Form::Seconds | Form::Documents => ::metrics::describe_histogram!(*name, *text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_metric_is_described_once() {
        let names: BTreeSet<&str> = ALL.iter().map(|(name, ..)| *name).collect();
        assert_eq!(names.len(), ALL.len());
        let declared = include_str!("metrics.rs").lines().filter(|line| line.starts_with("pub const ")).count();
        assert_eq!(names.len(), declared, "a constant is not in the list");
        for (name, form, _) in ALL {
            assert!(name.starts_with("seamripper_"), "{name}");
            assert_eq!(name.ends_with("_total"), matches!(form, Form::Counter), "{name}");
        }
    }

    #[test]
    fn durations_are_histograms_with_buckets() {
        let recorder = builder().unwrap().build_recorder();
        let handle = recorder.handle();
        ::metrics::with_local_recorder(&recorder, || {
            ::metrics::histogram!(COMMIT_SECONDS).record(0.02);
            ::metrics::histogram!(BATCH_DOCUMENTS).record(20.0);
        });
        let text = handle.render();
        assert!(text.contains("seamripper_commit_seconds_bucket{le=\"0.025\"} 1"), "{text}");
        assert!(text.contains("seamripper_batch_documents_bucket{le=\"30\"} 1"), "{text}");
    }
}
