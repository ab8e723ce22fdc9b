//! Where the clusters of a scan go: those of its end by rank, and behind them those that have become part of others on the way.
//!
//! Verdicts name the cluster that a document joined. What became of it is told once, by `merged_into`, as `run` tells it.

use crate::command::output::tell;
use crate::command::report::write_json;
use crate::command::words::counted;
use crate::verdict::event::ClusterEvent;
use anyhow::Context;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Merges that are remembered: about 50 MB. They are rare.
const MERGES_MAX: usize = 1 << 16;

/// The file. It is made at once: hours later is too late to learn that it cannot be.
pub(super) struct Clusters {
    path: PathBuf,
    file: File,
    merged: Vec<ClusterEvent>,
    n_dropped: u64,
}

impl Clusters {
    pub(super) fn new(path: &Path) -> anyhow::Result<Self> {
        let file = File::create(path).with_context(|| format!("clusters {} cannot be written", path.display()))?;
        Ok(Self { path: path.to_owned(), file, merged: Vec::new(), n_dropped: 0 })
    }

    /// Notes what is told of a cluster, if that has become part of another.
    pub(super) fn note(&mut self, event: &ClusterEvent) {
        if event.merged_into.is_none() {
            return;
        }
        match self.merged.len() < MERGES_MAX {
            true => self.merged.push(event.clone()),
            false => self.n_dropped += 1,
        }
    }

    /// Writes the clusters of the end, `ranked`, and those that are none any more.
    pub(super) fn write(self, ranked: &[ClusterEvent], quiet: bool) -> anyhow::Result<()> {
        let mut file = BufWriter::new(self.file);
        let mut write = || -> io::Result<()> {
            for cluster in ranked.iter().chain(&self.merged) {
                write_json(&mut file, cluster)?;
                file.write_all(b"\n")?;
            }
            file.flush()
        };
        write().with_context(|| format!("clusters {} cannot be written", self.path.display()))?;
        if self.n_dropped > 0 && !quiet {
            tell(format_args!("{} of clusters were too many to be listed", counted(self.n_dropped, "merge")));
        }
        Ok(())
    }
}
