//! The report of a scan: told of every event while the scan runs, written at the end with the texts that it shows.
//!
//! A scan keeps no texts: those of the shown examples are read again, each file once, as `sign --text` prints them.
//! Standard input cannot be read again; the report then says that the text is gone.

use crate::command::scan_report::{Meta, Report};
use crate::config::Settings;
use crate::corpus;
use crate::document::Reader;
use crate::pipeline::filter::Event;
use crate::pipeline::scan::place;
use crate::signature::keyed::Keys;
use crate::verdict::event::ClusterEvent;
use anyhow::Context;
use std::collections::HashMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// A report under construction, and where it goes.
pub(super) struct Reporting {
    report: Report,
    path: PathBuf,
    file: File,
}

impl Reporting {
    /// A report without events. Its file is made at once: hours later is too late to learn that it cannot be.
    pub(super) fn new(path: &Path) -> anyhow::Result<Self> {
        let file = File::create(path).with_context(|| format!("report {} cannot be written", path.display()))?;
        Ok(Self { report: Report::new(), path: path.to_owned(), file })
    }

    pub(super) fn add(&mut self, event: &Event) {
        match event {
            Event::Verdict(verdict) => self.report.add(verdict, &place(&verdict.source)),
            Event::Cluster(cluster) => self.report.cluster(cluster),
        }
    }

    pub(super) fn write(
        mut self,
        clusters: &[ClusterEvent],
        options: &corpus::Options,
        settings: &Settings,
        meta: Meta,
    ) -> anyhow::Result<()> {
        // Clusters are told of when they have grown by a tenth; these are their last sizes.
        clusters.iter().for_each(|cluster| self.report.cluster(cluster));
        let mut texts = texts(&self.report.places(), options, settings);
        let page = self.report.write(|place| texts.remove(place), meta);
        self.file.write_all(&page).with_context(|| format!("report {} cannot be written", self.path.display()))
    }
}

/// The visible texts of the documents at `places`, as far as they can still be read.
fn texts(places: &[String], options: &corpus::Options, settings: &Settings) -> HashMap<String, String> {
    let mut reader = Reader::new(settings.limits.clone(), Keys::derive(settings.secret.reveal()));
    let mut texts = HashMap::new();
    corpus::several(places, options, &settings.limits, |entry| {
        // What could be judged can be read; if not, it has changed, and its text is gone.
        if let Ok(document) = reader.read(&entry.record) {
            texts.insert(entry.place, document.text.clone());
        }
    });
    texts
}

/// The settings that verdicts depend on most.
pub(super) fn facts(settings: &Settings) -> Vec<String> {
    let Settings { store, mirror, quilt, template, .. } = settings;
    vec![
        format!("store.memory = {}", store.memory),
        format!("mirror.resemblance_min = {}, mirror.cosine_min = {}", mirror.resemblance_min, mirror.cosine_min),
        format!(
            "quilt.gram_df_max = {}, quilt.sources_min = {}, quilt.fraction_min = {}",
            quilt.gram_df_max, quilt.sources_min, quilt.fraction_min
        ),
        format!("template.frame_min = {}, template.size_min = {}", template.frame_min, template.size_min),
    ]
}
