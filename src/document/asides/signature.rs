//! How a mail is signed: below `--`, in the block of PGP, or by the program of a telephone.
//!
//! # Invariants
//! - What is long stands below a dash and is no signature. (`lines_are_told_by_their_form`)

use super::phrases::DEVICES;
use super::{AsideSort, Lines, begins_with, is_rule};

/// How many lines a signature may have. Four is good manners; more than this is text below a dash.
const LINES_MAX: usize = 15;
/// A key of 4096 bits makes 14 lines, with a comment or two.
const PGP_LINES_MAX: usize = 40;

impl Lines<'_> {
    /// `--` and what follows, up to a quote or rule, if it is short; the block that PGP puts below a mail; and the
    /// advertisement of a device in the last lines.
    pub(super) fn mark_signatures(&mut self) {
        let mut index = 0;
        while index < self.list.len() {
            let line = self.at(index);
            let end = match line {
                _ if self.list[index].sort.is_some() || !line.starts_with("--") => None,
                // With nothing above it, it is the message.
                "--" if index > 0 => self.signature_end(index),
                "-----BEGIN PGP SIGNATURE-----" => {
                    let most = self.list.len().min(index + PGP_LINES_MAX);
                    (index + 1..most).find(|&below| self.at(below) == "-----END PGP SIGNATURE-----").map(|end| end + 1)
                }
                _ => None,
            };
            if let Some(end) = end {
                self.set(index..end, AsideSort::Signature);
            }
            index = end.unwrap_or(index + 1);
        }
        for index in self.tail()..self.list.len() {
            let line = self.at(index);
            if self.list[index].sort.is_none() && DEVICES.iter().any(|device| begins_with(line, device)) {
                self.set(index..index + 1, AsideSort::Signature);
            }
        }
    }

    fn signature_end(&self, index: usize) -> Option<usize> {
        let most = self.list.len().min(index + 1 + LINES_MAX + 1);
        let is_end = |&below: &usize| self.list[below].sort.is_some() || is_rule(self.at(below));
        let end = (index + 1..most).find(is_end).unwrap_or(most);
        (end - index <= LINES_MAX + 1).then_some(end)
    }
}
