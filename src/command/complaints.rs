//! What could not be read or sent, told line by line: no line without end, and no end of lines.
//!
//! # Invariants
//! - A report is one line of at most [`CHARS_MAX`] characters, and after [`LINES_MAX`] of them they are only counted.
//!   (`complaints_are_bounded`)

use crate::command::output::ERROR;
use crate::command::report::{plain, shortened};
use crate::pipeline::progress::Progress;
use std::sync::atomic::{AtomicU64, Ordering};

const CHARS_MAX: usize = 600;
const LINES_MAX: u64 = 1000;

/// Tells what went wrong.
#[derive(Default)]
pub struct Complaints {
    n_told: AtomicU64,
}

impl Complaints {
    /// Tells of one trouble.
    pub fn say(&self, progress: &Progress, report: &str) {
        if let Some(line) = self.line(report) {
            progress.say(format_args!("{ERROR}: {line}"));
        }
    }

    fn line(&self, report: &str) -> Option<String> {
        match self.n_told.fetch_add(1, Ordering::Relaxed) {
            n if n < LINES_MAX => Some(shortened(&plain(report), CHARS_MAX)),
            LINES_MAX => Some(format!("more than {LINES_MAX} could not be read or sent; the others are counted")),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complaints_are_bounded() {
        let complaints = Complaints::default();
        let long = complaints.line(&"\n\u{202e}x".repeat(100_000)).unwrap();
        assert!(long.chars().count() <= CHARS_MAX && !long.contains('\n'), "{}", long.len());
        assert_eq!(complaints.line("short").as_deref(), Some("short"));
        let told = (0..5000).filter_map(|_| complaints.line("x")).count() as u64;
        assert_eq!(told, LINES_MAX - 2 + 1);
    }
}
