//! How far a long reading is: a bar on a terminal, nothing elsewhere.

use crate::corpus;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How far a reading of `corpus` is. A clone shows the same bar.
#[derive(Clone)]
pub struct Progress {
    bar: ProgressBar,
    n_bytes_read: Arc<AtomicU64>,
    /// Whether all is read, and something else is done with it.
    is_by_documents: Arc<AtomicBool>,
    started: Instant,
}

impl Progress {
    /// Progress of reading `paths` with `options`. Only on a terminal, and only if that is `wanted`.
    pub fn new(paths: &[PathBuf], options: &corpus::Options, wanted: bool) -> Self {
        let shown = wanted && std::io::stderr().is_terminal();
        // Walking the folders twice is cheap beside signing, but not beside nothing.
        let total = if shown { corpus::total_bytes(paths) } else { None };
        let target = if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(total, target).with_style(match total {
            Some(_) => style(BYTES),
            None => style(SPINNER),
        });
        if shown {
            bar.enable_steady_tick(Duration::from_millis(200));
        }
        let (n_bytes_read, is_by_documents) = (options.n_bytes_read.clone(), Arc::default());
        Self { bar, n_bytes_read, is_by_documents, started: Instant::now() }
    }

    /// `n_documents` are done.
    pub fn show(&self, n_documents: u64) {
        self.tell(n_documents, "");
    }

    /// `n_documents` are done, and there is more to say.
    pub fn tell(&self, n_documents: u64, more: &str) {
        if self.bar.is_hidden() {
            return;
        }
        let comma = if more.is_empty() { "" } else { ", " };
        if self.is_by_documents.load(Ordering::Relaxed) {
            self.bar.set_position(n_documents);
            self.bar.set_message(format!("judged{comma}{more}"));
            return;
        }
        self.bar.set_position(self.n_bytes_read.load(Ordering::Relaxed));
        let rate = n_documents as f64 / self.seconds().max(1e-3);
        self.bar.set_message(format!("{n_documents} done, {rate:.0} documents/s{comma}{more}"));
    }

    /// Of a second half of the work, `n_done` of `n_all` documents are done; `what` says what it is. From then on it is by documents that
    /// the bar moves.
    pub fn show_half(&self, what: &str, n_done: usize, n_all: usize) {
        if self.bar.is_hidden() {
            return;
        }
        if n_done <= 1 {
            self.bar.set_style(style(HALF));
            self.bar.reset_eta();
            self.is_by_documents.store(true, Ordering::Relaxed);
        }
        self.bar.set_length(n_all as u64);
        self.bar.set_position(n_done as u64);
        self.bar.set_message(what.to_owned());
    }

    /// Of the entries of a journal, `n_done` of `n_all` are done, and `n_documents` with them.
    pub fn show_entries(&self, n_done: u64, n_all: u64, n_documents: u64) {
        if self.bar.is_hidden() {
            return;
        }
        if n_done <= 1 {
            self.bar.set_style(style(ENTRIES));
        }
        self.bar.set_length(n_all);
        self.bar.set_position(n_done);
        let rate = n_documents as f64 / self.seconds().max(1e-3);
        self.bar.set_message(format!("{n_documents} done, {rate:.0} documents/s"));
    }

    /// Writes a line to stderr without tearing the bar.
    pub fn say(&self, line: std::fmt::Arguments<'_>) {
        // If stderr cannot be written there is nowhere left to say so.
        let _nowhere_left = self.bar.suspend(|| writeln!(anstream::stderr(), "{line}"));
    }

    /// How long it has taken so far.
    pub fn seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

const BYTES: &str = "{wide_bar} {percent:>3} %  {bytes}/{total_bytes}  {msg}  {eta} left";
const SPINNER: &str = "{spinner} {bytes}  {msg}";
const ENTRIES: &str = "{wide_bar} {percent:>3} %  {msg}  {eta} left";
const HALF: &str = "{wide_bar} {percent:>3} %  {pos}/{len} documents {msg}  {eta} left";

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template)
        .expect("the templates are fixed, and a test reads them")
        .progress_chars("=> ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_well_formed_and_a_hidden_bar_costs_nothing() {
        [BYTES, SPINNER, HALF, ENTRIES].into_iter().for_each(|template| drop(style(template)));
        let progress = Progress::new(&[], &corpus::Options::default(), false);
        progress.show(3);
        assert!(progress.bar.is_hidden());
        progress.finish();
    }
}
