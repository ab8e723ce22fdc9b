//! Topics are made on first start, and trimmed.
//!
//! The journal has one partition and is kept for ever; labels and clusters are compacted. A topic takes records as large as
//! `bus.record_bytes_max`, whatever the broker's own limit.

use super::cluster::Cluster;
use super::errors::{Meaning, meaning};
use super::said::Ear;
use crate::bus::{BusError, Partition};
use rdkafka::admin::{AdminClient, AdminOptions, NewTopic, TopicReplication};
use rdkafka::error::{KafkaError, KafkaResult, RDKafkaErrorCode as Code};
use rdkafka::{Offset, TopicPartitionList};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Making topics and deleting records may take so long.
const PATIENCE: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(100);

/// What becomes of old records of a topic.
#[derive(Clone, Copy)]
enum Kept {
    ForTheirTime,
    ByKey,
    ForEver,
}

/// Every topic that we name, with how many partitions it gets and how it is kept.
fn wanted(cluster: &Cluster) -> Vec<(&str, i32, Kept)> {
    let topics = &cluster.settings.topics;
    let n_partitions = topics.partitions;
    let mut wanted = vec![
        (&*topics.pages, n_partitions, Kept::ForTheirTime),
        (&*topics.emails, n_partitions, Kept::ForTheirTime),
        (&*topics.labels, n_partitions, Kept::ByKey),
        (&*topics.verdicts, n_partitions, Kept::ForTheirTime),
        (&*topics.clusters, n_partitions, Kept::ByKey),
        (&*topics.dead_letters, n_partitions, Kept::ForTheirTime),
        (&*topics.journal, 1, Kept::ForEver),
        (&*topics.signed, n_partitions, Kept::ForTheirTime),
    ];
    wanted.retain(|(name, ..)| !name.is_empty());
    wanted
}

/// Makes the topics that are missing, if that is wanted, and checks the others.
pub(super) fn prepare(cluster: &Cluster) -> Result<(), BusError> {
    let mut missing = Vec::new();
    for (name, n_partitions, kept) in wanted(cluster) {
        match cluster.n_partitions_now(name)? {
            None if cluster.settings.topics.create => missing.push((name, n_partitions, kept)),
            // It is looked for a little longer.
            None => drop(cluster.n_partitions(name)?),
            Some(n) if matches!(kept, Kept::ForEver) && n != 1 => {
                return Err(BusError::Settings(format!(
                    "topics.journal: `{name}` has {n} partitions, and must have 1"
                )));
            }
            Some(_) => {}
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    create(cluster, &missing)?;
    let begun = Instant::now();
    for (name, ..) in missing {
        while cluster.n_partitions_now(name)?.is_none() {
            if begun.elapsed() > PATIENCE {
                return Err(BusError::NoTopic { topic: name.to_owned() });
            }
            sleep(PAUSE);
        }
    }
    Ok(())
}

fn create(cluster: &Cluster, missing: &[(&str, i32, Kept)]) -> Result<(), BusError> {
    let topics = &cluster.settings.topics;
    let retention_ms = topics.retention_hours.saturating_mul(3_600_000).to_string();
    let record_bytes_max = cluster.properties.wire_bytes_max().to_string();
    let new = missing.iter().map(|(name, n_partitions, kept)| {
        let topic = NewTopic::new(name, *n_partitions, TopicReplication::Fixed(topics.replication));
        let topic = topic.set("max.message.bytes", &record_bytes_max);
        match kept {
            Kept::ForTheirTime => topic.set("cleanup.policy", "delete").set("retention.ms", &retention_ms),
            Kept::ByKey => topic.set("cleanup.policy", "compact"),
            Kept::ForEver => {
                topic.set("cleanup.policy", "delete").set("retention.ms", "-1").set("retention.bytes", "-1")
            }
        }
    });
    let new: Vec<NewTopic<'_>> = new.collect();
    let made = administered(cluster, async |admin, options| admin.create_topics(&new, options).await)?;
    for result in made {
        match result {
            Ok(name) => tracing::info!(topic = name, "topic made"),
            // Another instance was quicker.
            Err((_, Code::TopicAlreadyExists)) => {}
            Err((name, code)) => {
                let refused = format!("topic `{name}` cannot be made: {code}");
                return Err(match (code, meaning(code)) {
                    (Code::InvalidReplicationFactor, _) => BusError::Settings(format!(
                        "{refused} (topics.replication is {}, and there are fewer brokers)",
                        topics.replication
                    )),
                    (Code::InvalidTopic | Code::PolicyViolation | Code::InvalidConfig, _) => {
                        BusError::Settings(refused)
                    }
                    (_, Meaning::Refused) => BusError::Refused { bus: cluster.name(), why: refused },
                    (_, Meaning::Unreachable) => cluster.unreachable(&refused),
                    _ => BusError::Broken(refused),
                });
            }
        }
    }
    Ok(())
}

/// Deletes what is before `offset`.
pub(super) fn trim(cluster: &Cluster, partition: &Partition, offset: i64) -> Result<(), BusError> {
    if cluster.extent(partition)?.begin >= offset {
        return Ok(());
    }
    let mut before = TopicPartitionList::new();
    before
        .add_partition_offset(&partition.topic, partition.number, Offset::Offset(offset))
        .map_err(|error| cluster.error(&error))?;
    let deleted = administered(cluster, async |admin, options| admin.delete_records(&before, options).await)?;
    for element in deleted.elements() {
        element.error().map_err(|error| cluster.error(&error))?;
    }
    Ok(())
}

/// What an administrator does, done.
fn administered<T>(
    cluster: &Cluster,
    what: impl AsyncFnOnce(&AdminClient<Ear>, &AdminOptions) -> KafkaResult<T>,
) -> Result<T, BusError> {
    let error = |error: KafkaError| cluster.error(&error);
    let ear = Ear(cluster.said.clone());
    let admin = cluster.properties.asking().create_with_context::<_, AdminClient<_>>(ear).map_err(error)?;
    let options = AdminOptions::new().request_timeout(Some(PATIENCE)).operation_timeout(Some(PATIENCE));
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let runtime = runtime.map_err(|error| BusError::Broken(error.to_string()))?;
    runtime.block_on(what(&admin, &options)).map_err(error)
}
