//! What holds now, counted: a revision replaces what was said before.

use crate::command::output::tell;
use crate::command::words::counted;
use crate::corpus::Tally;
use crate::pipeline::filter::Filter;
use crate::pipeline::scan::place;
use crate::verdict::event::{Class, Outcome, Recrawl, Verdict};
use indicatif::DecimalBytes;
use std::collections::{HashMap, HashSet};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// What the record of a verdict is counted by. Files come back under their names with other documents, and documents in other files.
fn key(verdict: &Verdict) -> u64 {
    let place = xxh3_64_with_seed(verdict.source.topic.as_bytes(), verdict.source.offset as u64);
    xxh3_64_with_seed(verdict.id.as_bytes(), place)
}

/// The counts of a scan.
#[derive(Default)]
pub(super) struct Counts {
    n_judged: u64,
    n_insufficient: u64,
    pub(super) n_rejected: u64,
    pub(super) n_revisions: u64,
    n_classes: [u64; 3],
    n_original: u64,
    /// Documents that took the place of others because they stand where these stood in a file.
    n_displacing: u64,
    /// Which records are quilts now: that is what revisions change.
    quilts: HashSet<u64>,
    /// The records of this run, where there may be others.
    ours: Option<Ours>,
    pub(super) n_troubles: u64,
    pub(super) n_bytes: u64,
}

impl Counts {
    /// Of a scan that goes on from a store, which holds so many records at most.
    pub(super) fn beside_others(n_held_max: usize) -> Self {
        Self { ours: Some(Ours { n_held_max, ..Ours::default() }), ..Self::default() }
    }

    /// Whether a verdict is of a record of this run. With a kept store a revision may be of one that an earlier run has counted.
    pub(super) fn is_ours(&self, verdict: &Verdict) -> bool {
        verdict.revision == 0 || self.ours.as_ref().is_none_or(|ours| ours.is_original(key(verdict)).is_some())
    }

    /// Counts a verdict on a record of this run.
    pub(super) fn add(&mut self, verdict: &Verdict) {
        let key = key(verdict);
        let is_quilt = verdict.classes.contains(&Class::Quilt);
        let was_quilt = match is_quilt {
            true => !self.quilts.insert(key),
            false => self.quilts.remove(&key),
        };
        let is_original = verdict.outcome == Outcome::Judged && verdict.classes.is_empty();
        self.n_original += u64::from(is_original);
        if verdict.revision > 0 {
            self.n_revisions += 1;
            // Whether it is a quilt is all that a revision changes.
            let was_original = !was_quilt && verdict.classes.len() == usize::from(is_quilt);
            let was_original = self.ours.as_ref().map_or(Some(was_original), |ours| ours.is_original(key));
            self.n_original -= u64::from(was_original == Some(true));
        }
        if let Some(ours) = &mut self.ours {
            ours.note(key, is_original);
        }
        if verdict.revision > 0 {
            return;
        }
        let is_numbered = verdict.source.offset > 0 && verdict.id == place(&verdict.source);
        self.n_displacing += u64::from(is_numbered && verdict.recrawl == Some(Recrawl::Changed));
        match verdict.outcome {
            Outcome::Judged => self.n_judged += 1,
            Outcome::Insufficient => self.n_insufficient += 1,
            Outcome::Rejected => self.n_rejected += 1,
        }
        for class in &verdict.classes {
            self.n_classes[*class as usize] += 1;
        }
    }

    pub(super) fn n_documents(&self) -> u64 {
        self.n_judged + self.n_insufficient + self.n_rejected
    }

    pub(super) fn classes(&self) -> String {
        let (n_mirrors, n_templates) =
            (self.n_classes[Class::Mirror as usize], self.n_classes[Class::Template as usize]);
        let (quilts, templates) = (counted(self.quilts.len(), "quilt"), counted(n_templates, "template"));
        format!("{}, {quilts}, {templates}", counted(n_mirrors, "mirror"))
    }

    pub(super) fn summarise(&self, tally: &Tally, seconds: f64, filter: Option<&Filter>) {
        let (n, seconds) = (self.n_documents(), seconds.max(1e-6));
        let (size, rate) = (DecimalBytes(self.n_bytes), DecimalBytes((self.n_bytes as f64 / seconds) as u64));
        tell(format_args!(
            "{}: {}, {} original, {} insufficient, {} rejected; {}",
            counted(n, "document"),
            self.classes(),
            self.n_original,
            self.n_insufficient,
            self.n_rejected,
            counted(self.n_revisions, "revision"),
        ));
        tell(format_args!("{size} in {seconds:.2} s: {:.0} documents/s, {rate}/s", n as f64 / seconds));
        let n_gone = |filter: &&Filter| {
            let departures = filter.census().departures;
            departures.n_evicted + departures.n_over_share + departures.n_expired
        };
        if let Some((filter, n_gone)) = filter.map(|filter| (filter, n_gone(&filter))).filter(|(_, n)| *n > 0) {
            tell(format_args!(
                "the store was full: {} gave way to newer ones (store.memory = {})",
                counted(n_gone, "group"),
                filter.store().plan().memory
            ));
        }
        if self.n_displacing > 0 {
            tell(format_args!(
                "{} took the place of what an earlier run has seen under the same name and number: without ids of their own, files \
                 that come again need new names",
                counted(self.n_displacing, "document"),
            ));
        }
        if tally.n_other_files > 0 {
            tell(format_args!("left out: {} without text", counted(tally.n_other_files, "file")));
        }
    }
}

/// The records of a scan beside those of earlier ones, as long as they may be revised: only what the store holds is, and of what
/// came as many documents ago as it holds twice only what others were copies of.
#[derive(Default)]
struct Ours {
    /// Whether each is original, by its last verdict.
    young: HashMap<u64, bool>,
    old: HashMap<u64, bool>,
    n_held_max: usize,
}

impl Ours {
    fn note(&mut self, key: u64, is_original: bool) {
        if self.young.len() >= self.n_held_max {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(key, is_original);
    }

    /// `None` of a record that is not known.
    fn is_original(&self, key: u64) -> Option<bool> {
        self.young.get(&key).or_else(|| self.old.get(&key)).copied()
    }
}
