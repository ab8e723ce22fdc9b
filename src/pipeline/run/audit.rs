//! Judging the journal's order again, and comparing with what was published.
//!
//! It is the test of every fault: whatever happened, each verdict that the journal's order gives must have been published
//! once, and nothing else.
//!
//! # Invariants
//! - A journal that goes on from a state that only a snapshot has is audited beyond it. (`a_store_of_scan_is_a_beginning`)

use super::Instance;
use super::follow::{Followed, Met, Until, follow_with};
use super::journal::{Entry, What};
use super::outputs::Publication;
use crate::bus::{Partition, Positions};
use crate::verdict::event::Verdict;
use anyhow::Context;
use serde::Serialize;
use std::collections::HashMap;
use std::time::Duration;
use xxhash_rust::xxh3::xxh3_64;

/// Findings that are told in full; the others are counted.
const TOLD_MAX: usize = 20;
const POLL_RECORDS_MAX: usize = 1000;
const POLL_BYTES_MAX: usize = 16 << 20;
/// A topic that says nothing for so long has been read to its end.
const SILENCE: Duration = Duration::from_millis(500);

/// What an audit has found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Findings {
    /// Entries of the journal that were folded again.
    pub n_entries: u64,
    /// Verdicts that they give.
    pub n_expected: u64,
    /// Verdicts that were published.
    pub n_published: u64,
    /// Verdicts from before the snapshot that the audit began with: not looked at.
    pub n_earlier: u64,
    /// Entries whose digest is another.
    pub n_entries_different: u64,
    /// Verdicts that were not published.
    pub n_lost: u64,
    /// Verdicts that were published again.
    pub n_twice: u64,
    /// Verdicts that were published otherwise.
    pub n_different: u64,
    /// Verdicts that were published and that the journal does not give.
    pub n_foreign: u64,
    /// Documents that are mirrors of themselves.
    pub n_own_mirrors: u64,
    /// The first few of these.
    pub told: Vec<String>,
}

impl Findings {
    /// Whether nothing is wrong.
    pub fn is_good(&self) -> bool {
        let Self { n_entries_different, n_lost, n_twice, n_different, n_foreign, n_own_mirrors, .. } = self;
        [n_entries_different, n_lost, n_twice, n_different, n_foreign, n_own_mirrors].into_iter().all(|n| *n == 0)
    }

    fn tell(&mut self, finding: String) {
        if self.told.len() < TOLD_MAX {
            self.told.push(finding);
        }
    }
}

/// What the journal gives under the id of a verdict.
struct Expected {
    digest: u64,
    n_published: u32,
}

/// Audits from the journal's beginning, or from the oldest snapshot where that was trimmed.
pub fn audit(instance: &Instance) -> anyhow::Result<Findings> {
    instance.bus.prepare()?;
    // What is published up to here, the journal speaks of, whoever publishes meanwhile.
    let known = ends(instance)?;
    let journal = Partition::new(instance.outlet.journal_topic(), 0);
    let begin = instance.bus.extent(&journal)?.begin;
    let (mut fold, mut from) = instance.audited_from(begin)?;
    let mut is_whole = fold.number == 0;
    let mut findings = Findings::default();
    let mut expected: HashMap<String, Expected> = HashMap::new();
    let mut meet = |Met { entry, again, .. }: Met<'_>| {
        findings.n_entries += 1;
        if !entry.is_met_by(&again.entry) {
            findings.n_entries_different += 1;
            findings.tell(different(entry, &again));
        }
        let verdicts = &instance.scheme.settings.topics.verdicts;
        for record in again.records.iter().filter(|record| *record.topic == **verdicts) {
            let id = record.headers.iter().find(|(name, _)| &**name == "verdict").map(|(_, id)| id);
            let id = String::from_utf8_lossy(id.map_or(&[], |id| id)).into_owned();
            let digest = xxh3_64(record.value.as_deref().unwrap_or_default());
            findings.n_expected += 1;
            if expected.insert(id.clone(), Expected { digest, n_published: 0 }).is_some() {
                findings.n_twice += 1;
                findings.tell(format!("{id}: the journal gives it twice"));
            }
        }
        Ok(())
    };
    // What began with a state from elsewhere, or after a loss that was accepted, is judged again from the snapshot that has it.
    while let Followed::NeedsSnapshot { journal } = follow_with(instance, fold, from, Until::End, None, &mut meet)? {
        let next = instance.audited_from(journal);
        (fold, from) = next.with_context(|| format!("at {journal} the journal goes on from another state"))?;
        is_whole &= from == journal;
    }
    published(instance, &known, &mut expected, is_whole, &mut findings)?;
    for (id, expected) in &expected {
        match expected.n_published {
            0 => {
                findings.n_lost += 1;
                findings.tell(format!("{id}: was not published"));
            }
            1 => {}
            n => {
                findings.n_twice += u64::from(n) - 1;
                findings.tell(format!("{id}: was published {n} times"));
            }
        }
    }
    Ok(findings)
}

fn different(entry: &Entry, again: &Publication) -> String {
    let digest = |entry: &Entry| match &entry.what {
        What::Batch(batch) | What::Idle(batch) => format!("{} verdicts, digest {}", batch.n_verdicts, batch.digest),
        What::Epoch(epoch) => format!("epoch, digest {}", epoch.settings_digest),
        What::Seat { by } => format!("seat of {by}"),
    };
    format!("journal entry {}: {}, published {}", entry.number, digest(&again.entry), digest(entry))
}

/// Where the partitions of the verdicts end just now.
fn ends(instance: &Instance) -> anyhow::Result<Positions> {
    let topic = &instance.scheme.settings.topics.verdicts;
    let mut ends = Positions::default();
    for number in 0..instance.bus.n_partitions(topic)? {
        let partition = Partition::new(topic.as_str(), number);
        let end = instance.bus.extent(&partition)?.end;
        ends.0.insert(partition, end);
    }
    Ok(ends)
}

/// Reads all that was published and compares. What came after `known` may be of entries that were not looked at.
fn published(
    instance: &Instance,
    known: &Positions,
    expected: &mut HashMap<String, Expected>,
    is_whole: bool,
    findings: &mut Findings,
) -> anyhow::Result<()> {
    let mut left = ends(instance)?;
    let mut from = Positions::default();
    for partition in left.0.keys() {
        let begin = instance.bus.extent(partition)?.begin;
        from.0.insert(partition.clone(), begin);
    }
    left.0.retain(|partition, end| from.next(partition) < *end);
    let mut reader = instance.bus.reader(&from)?;
    while !left.0.is_empty() {
        let records = reader.poll(POLL_RECORDS_MAX, POLL_BYTES_MAX, SILENCE)?;
        if records.is_empty() && reader.is_at_end() {
            break;
        }
        for record in records {
            // Behind the last record there may be marks that are no records: then the next one tells.
            let is_beyond = left.0.get(&record.partition).is_none_or(|end| record.offset >= *end);
            if is_beyond || left.0.get(&record.partition) == Some(&(record.offset + 1)) {
                left.0.remove(&record.partition);
            }
            let is_known = record.offset < known.next(&record.partition);
            if is_beyond && !is_known {
                continue;
            }
            findings.n_published += 1;
            let value = record.value.as_deref().unwrap_or_default();
            let id = String::from_utf8_lossy(record.header("verdict").unwrap_or_default()).into_owned();
            let place = || format!("{} {} ({id})", record.partition, record.offset);
            let verdict: Verdict =
                serde_json::from_slice(value).with_context(|| format!("{} is no verdict", place()))?;
            if verdict.mirror.as_ref().is_some_and(|mirror| mirror.of == verdict.id) {
                findings.n_own_mirrors += 1;
                findings.tell(format!("{}: a mirror of itself", place()));
            }
            match expected.get_mut(&id) {
                Some(expected) => {
                    expected.n_published += 1;
                    if expected.digest != xxh3_64(value) {
                        findings.n_different += 1;
                        findings.tell(format!("{}: was published otherwise than the journal gives it", place()));
                    }
                }
                None if !is_known => {}
                None if is_whole => {
                    findings.n_foreign += 1;
                    findings.tell(format!("{}: the journal does not give it", place()));
                }
                None => findings.n_earlier += 1,
            }
        }
    }
    Ok(())
}
