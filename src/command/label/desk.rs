//! Where labels are handed in: on whom they are put, and that they are durable.

use crate::bus::sweep::{BACK_MAX, last_under};
use crate::bus::{self, Bus};
use crate::command::Common;
use crate::command::output::tell;
use crate::command::report::plain;
use crate::config::{BusKind, Problems, Settings};
use crate::document::identity::registered_domain_of;
use crate::pipeline::register::Register;
use crate::pipeline::register::groups::heads;
use crate::pipeline::register::posting::{Posted, Posting};
use crate::verdict::label::{Label, Record, Target};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Labels that are appended together.
const TOGETHER_MAX: usize = 1000;

/// The bus, as far as labels go.
pub(super) struct Desk {
    settings: Settings,
    bus: Arc<dyn Bus>,
    is_quiet: bool,
}

impl Desk {
    /// On the bus that the settings name; it is made where it is missing, as by `ingest`.
    pub(super) fn open(common: &Common) -> anyhow::Result<Self> {
        let settings = common.settings()?;
        let bus = bus::open(&settings)?;
        bus.prepare()?;
        Ok(Self { settings, bus, is_quiet: common.quiet })
    }

    /// On a bus that is there.
    pub(super) fn open_to_read(common: &Common) -> anyhow::Result<Self> {
        let settings = common.settings()?;
        let bus = bus::open_to_read(&settings)?;
        bus.prepare()?;
        Ok(Self { settings, bus, is_quiet: common.quiet })
    }

    /// All that was said so far.
    pub(super) fn register(&self) -> anyhow::Result<Register> {
        Ok(Register::read(&*self.bus, &self.settings.topics.labels)?)
    }

    /// Of each document that has a verdict the head of its group.
    pub(super) fn heads<'a>(&self, ids: impl IntoIterator<Item = &'a str>) -> anyhow::Result<HashMap<String, String>> {
        let ids: Vec<&str> = ids.into_iter().collect();
        if ids.is_empty() {
            return Ok(HashMap::new());
        }
        if self.settings.bus.kind == BusKind::Kafka {
            self.say(format_args!(
                "looking back through the last {BACK_MAX} verdicts of each partition for whose copy it is (--as-is does without)"
            ));
        }
        Ok(heads(&*self.bus, &self.settings.topics.verdicts, ids)?)
    }

    /// Appends the labels; returns when they are durable.
    pub(super) fn post(&self, postings: Vec<Posting>) -> anyhow::Result<Vec<Posted>> {
        let topic = &self.settings.topics.labels;
        let mut feeder = self.bus.feeder()?;
        let mut posted = Vec::with_capacity(postings.len());
        for some in postings.chunks(TOGETHER_MAX) {
            let places = feeder.append(some.iter().map(|posting| posting.outgoing(topic)).collect())?;
            posted.extend(some.iter().zip(places).map(|(posting, place)| posting.clone().posted(place)));
        }
        Ok(posted)
    }

    /// Says that nobody knows the document: it may be a slip of the pen.
    pub(super) fn warn_of_unknown(&self, posting: &Posting) {
        let Posting { record: Record { target: Target::Document(id), .. }, known: Some(false) } = posting else {
            return;
        };
        let shown = plain(id);
        self.say(format_args!(
            "warning: no verdict on a document `{shown}` is kept; the label holds for the document of that id, and for copies of it"
        ));
        if registered_domain_of(id).is_some_and(|domain| domain == *id) {
            self.say(format_args!("  (--domain puts it on the domain {shown})"));
        }
    }

    /// Says that nobody has heard of the cluster. What goes there is published from `template.size_min` pages on.
    pub(super) fn warn_of_unknown_cluster(&self, id: &str) -> anyhow::Result<()> {
        let last = last_under(&*self.bus, &self.settings.topics.clusters, &HashSet::from([id.as_bytes().to_vec()]))?;
        if !last.values().any(|record| record.value.is_some()) {
            let (shown, size_min) = (plain(id), self.settings.template.size_min);
            self.say(format_args!(
                "warning: no cluster `{shown}` is known (clusters are from {size_min} pages on); the label holds for the cluster of that id"
            ));
        }
        Ok(())
    }

    /// Says something to people.
    pub(super) fn say(&self, line: std::fmt::Arguments<'_>) {
        if !self.is_quiet {
            tell(line);
        }
    }
}

/// A label that was given on the command line: what is wrong with it is wrong usage.
pub(super) fn checked(record: Record) -> Result<Label, Problems> {
    let spelled = |problem: &crate::verdict::label::Problem| problem.to_string();
    Label::try_from(record).map_err(|problems| Problems(problems.0.iter().map(spelled).collect()))
}
