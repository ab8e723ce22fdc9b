//! The shared passages as people see them: highlighted and in brackets, with a little of the text around them, dim.

use super::super::report::{plain, shortened};
use crate::document::Span;
use crate::pipeline::Made;
use crate::verdict::comparison::Comparison;
use anstyle::{AnsiColor, Reset, Style};

/// Characters of the text shown on either side of a passage.
const CONTEXT: usize = 24;
/// Lines that one passage may fill, about.
const LINES: usize = 4;

/// Adds the `n_shown` longest passages to `report`.
pub(super) fn write(
    a: &Made,
    b: &Made,
    comparison: &Comparison,
    n_shown: usize,
    n_columns: usize,
    report: &mut String,
) {
    let shared = &comparison.shared;
    if shared.passages.is_empty() {
        return;
    }
    let bold = Style::new().bold();
    let n = shared.passages.len();
    let which = if n <= n_shown { String::new() } else { format!(", the {n_shown} longest of {n}") };
    report.push_str(&format!("\n{bold}Shared passages{Reset}{which}\n"));
    let units = if a.text.is_unspaced() { "characters" } else { "words" };
    for passage in shared.passages.iter().take(n_shown) {
        let (here, there) = (passage.this_span(&a.text.words), passage.that_span(&b.text.words));
        report.push_str(&format!(
            "  {} {units}, bytes {}..{} of A, {}..{} of B\n",
            passage.n_units, here.start, here.end, there.start, there.end
        ));
        report.push_str(&format!("    {}\n", quoted(&a.document.text, here, n_columns)));
    }
    if !shared.complete {
        report.push_str("  the texts repeat themselves so much that not all common runs were looked at\n");
    }
}

/// A passage of `text` with a little of what stands around it, safe to print.
pub(in crate::command) fn quoted(text: &str, span: Span, n_columns: usize) -> String {
    let dim = Style::new().dimmed();
    let highlight = Style::new().fg_color(Some(AnsiColor::Black.into())).bg_color(Some(AnsiColor::Yellow.into()));
    let (range, chars_max) = (span.range(), LINES * n_columns.saturating_sub(4));
    let before = plain(last_chars(&text[..range.start], CONTEXT));
    let after = plain(first_chars(&text[range.end..], CONTEXT));
    let passage = plain(&shortened(&text[range], chars_max));
    format!("{dim}{before}{Reset}[{highlight}{passage}{Reset}]{dim}{after}{Reset}")
}

fn last_chars(text: &str, n: usize) -> &str {
    match n.checked_sub(1).and_then(|back| text.char_indices().rev().nth(back)) {
        Some((at, _)) => &text[at..],
        None => text,
    }
}

fn first_chars(text: &str, n: usize) -> &str {
    match text.char_indices().nth(n) {
        Some((at, _)) => &text[..at],
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn context_is_cut_at_characters() {
        assert_eq!(last_chars("äöü", 2), "öü");
        assert_eq!(last_chars("äöü", 9), "äöü");
        assert_eq!(first_chars("äöü", 2), "äö");
        assert_eq!(first_chars("äöü", 9), "äöü");
    }
}
