//! The top of the report: what was scanned, how fast, and how many documents are what.

use super::Meta;
use super::page::Page;
use super::tally::{Line, Tally};
use crate::document::Kind;
use std::collections::BTreeMap;

/// Paths that are shown.
const PATHS_MAX: usize = 12;
/// The width of the bar, in units of its picture.
const BAR_UNITS: f64 = 1000.0;
/// No stretch of the bar is narrower: a few of many shall still be seen.
const STRETCH_UNITS_MIN: f64 = 4.0;

/// How much each section has, for the links to them.
pub(super) struct Contents {
    pub(super) n_quilts: u64,
    pub(super) n_mirrors: u64,
    pub(super) n_clusters: u64,
    pub(super) n_notes: u64,
}

/// The stretches of the bar; no document is in two.
const STRETCHES: [(Line, &str, &str); 7] = [
    (Line::Original, "original", "original"),
    (Line::Template, "template", "template"),
    (Line::Mirror, "mirror", "mirror"),
    (Line::Quilt, "quilt", "quilt"),
    (Line::Several, "several", "more than one class"),
    (Line::Insufficient, "insufficient", "too short to judge"),
    (Line::Rejected, "rejected", "rejected"),
];

/// The lines of the table; a document with two classes is on both of their lines.
const LINES: [(Line, &str); 11] = [
    (Line::Original, "Original"),
    (Line::Mirror, "Mirror"),
    (Line::Quilt, "Quilt"),
    (Line::Aggregator, "… of these aggregators"),
    (Line::Template, "Template"),
    (Line::Several, "… more than one class"),
    (Line::Insufficient, "Too short to judge"),
    (Line::Rejected, "Rejected"),
    (Line::Labelled, "Carries a label"),
    (Line::Related, "Has relatives"),
    (Line::All, "All documents"),
];

/// Writes the top of the page.
pub(super) fn write(page: &mut Page, tally: &Tally, reasons: &BTreeMap<String, u64>, meta: &Meta, contents: &Contents) {
    page.markup("<header>\n<h1>Seamripper report</h1>\n<p class=\"paths\">");
    for (index, path) in meta.paths.iter().take(PATHS_MAX).enumerate() {
        page.markup(if index > 0 { ", " } else { "" }).name(path);
    }
    if meta.paths.len() > PATHS_MAX {
        page.markup(" and ").counted((meta.paths.len() - PATHS_MAX) as u64, "other path", "other paths");
    }
    page.markup("</p>\n");
    write_facts(page, meta);
    write_bar(page, tally);
    write_table(page, tally);
    write_reasons(page, reasons);
    if tally.n_unfolded > 0 {
        page.markup("<p class=\"left-out\">").counted(tally.n_unfolded, "later verdict is", "later verdicts are");
        page.markup(" not in these counts: there were too many documents to remember each.</p>\n");
    }
    page.markup("</header>\n<nav aria-label=\"Sections\">");
    for (href, title, n) in [
        ("<a href=\"#clusters\">", "Clusters", contents.n_clusters),
        ("<a href=\"#quilts\">", "Quilts", contents.n_quilts),
        ("<a href=\"#mirrors\">", "Mirrors", contents.n_mirrors),
        ("<a href=\"#notes\">", "Labels and relatives", contents.n_notes),
    ] {
        page.markup(href).markup(title).markup(" <span class=\"badge\">").count(n).markup("</span></a>");
    }
    page.markup("<label class=\"search\" hidden><span>Search</span><input type=\"search\" id=\"search\" ");
    page.markup("placeholder=\"id, domain or address\" autocomplete=\"off\" spellcheck=\"false\">");
    page.markup("<output id=\"found\" for=\"search\"></output></label></nav>\n");
}

fn write_facts(page: &mut Page, meta: &Meta) {
    let per_second = |n: u64| if meta.seconds > 0.0 { (n as f64 / meta.seconds) as u64 } else { 0 };
    page.markup("<dl class=\"facts\"><div><dt>Documents</dt><dd>").count(meta.n_documents);
    page.markup("</dd></div><div><dt>Read</dt><dd>").shown(size(meta.n_bytes));
    page.markup("</dd></div><div><dt>Time</dt><dd>").shown(duration(meta.seconds));
    page.markup("</dd></div><div><dt>Documents per second</dt><dd>").count(per_second(meta.n_documents));
    page.markup("</dd></div><div><dt>Bytes per second</dt><dd>").shown(size(per_second(meta.n_bytes)));
    page.markup("</dd></div></dl>\n");
}

fn write_bar(page: &mut Page, tally: &Tally) {
    let counts = STRETCHES.map(|(line, ..)| tally.n_alone(line));
    let n_all: u64 = counts.iter().sum();
    if n_all == 0 {
        page.markup("<p>No document was judged.</p>\n");
        return;
    }
    let share = |n: u64| n as f64 / n_all as f64;
    let widths = counts.map(|n| if n > 0 { (BAR_UNITS * share(n)).max(STRETCH_UNITS_MIN) } else { 0.0 });
    let scale = BAR_UNITS / widths.iter().sum::<f64>();
    page.markup(
        "<figure class=\"bar\"><svg viewBox=\"0 0 1000 36\" preserveAspectRatio=\"none\" aria-hidden=\"true\">",
    );
    let mut at = 0.0;
    for ((_, class, name), (n, width)) in STRETCHES.into_iter().zip(counts.into_iter().zip(widths)) {
        if n > 0 {
            page.markup("<rect class=\"is-")
                .markup(class)
                .markup("\" height=\"36\" x=\"")
                .shown(format_args!("{at:.2}"));
            page.markup("\" width=\"").shown(format_args!("{:.2}", width * scale)).markup("\"><title>");
            page.markup(name).markup(": ").count(n).markup("</title></rect>");
            at += width * scale;
        }
    }
    page.markup("</svg><figcaption><ul class=\"key\">");
    for ((_, class, name), n) in STRETCHES.into_iter().zip(counts).filter(|(_, n)| *n > 0) {
        page.markup("<li><svg class=\"swatch\" viewBox=\"0 0 10 10\" aria-hidden=\"true\"><rect class=\"is-")
            .markup(class);
        page.markup("\" width=\"10\" height=\"10\" rx=\"2\"/></svg>").markup(name).markup(" <b>").count(n);
        page.markup("</b> <span class=\"soft\">").percent(share(n)).markup("</span></li>");
    }
    page.markup("</ul></figcaption></figure>\n");
}

fn write_table(page: &mut Page, tally: &Tally) {
    let n_all = tally.n(Line::All, None).max(1);
    page.markup("<table class=\"counts\"><thead><tr><th scope=\"col\">Documents</th><th scope=\"col\">Pages</th>");
    page.markup(
        "<th scope=\"col\">Mails</th><th scope=\"col\">All</th><th scope=\"col\">Share</th></tr></thead><tbody>",
    );
    for (line, name) in LINES {
        let n = tally.n(line, None);
        // Most scans have no labels; a line of noughts about them tells nothing.
        if n == 0 && matches!(line, Line::Labelled | Line::Related | Line::Aggregator | Line::Several) {
            continue;
        }
        page.markup(if line == Line::All { "<tr class=\"all\">" } else { "<tr>" });
        page.markup("<th scope=\"row\">").markup(name).markup("</th>");
        for n in [tally.n(line, Some(Kind::Page)), tally.n(line, Some(Kind::Email)), n] {
            page.markup(if n == 0 { "<td class=\"none\">" } else { "<td>" }).count(n).markup("</td>");
        }
        page.markup("<td>").percent(n as f64 / n_all as f64).markup("</td></tr>");
    }
    page.markup("</tbody></table>\n");
    let n_events = tally.n_events;
    if n_events > tally.n(Line::All, None) {
        page.markup("<p class=\"soft\">From ").counted(n_events, "event", "events");
        page.markup(": the last one about a document holds. A document with two classes is on both lines.</p>\n");
    }
}

fn write_reasons(page: &mut Page, reasons: &BTreeMap<String, u64>) {
    if reasons.is_empty() {
        return;
    }
    let mut reasons: Vec<_> = reasons.iter().collect();
    reasons.sort_by_key(|(_, n)| std::cmp::Reverse(**n));
    page.markup("<details class=\"reasons\"><summary>Why documents were rejected</summary><ul>");
    for (reason, n) in reasons {
        page.markup("<li>").name(reason).markup(" <b>").count(*n).markup("</b></li>");
    }
    page.markup("</ul></details>\n");
}

/// Writes the foot of the page: the settings and who wrote it.
pub(super) fn write_foot(page: &mut Page, meta: &Meta) {
    page.markup("<footer>");
    if !meta.settings.is_empty() {
        page.markup("<details><summary>Settings</summary><ul>");
        for fact in &meta.settings {
            page.markup("<li>").text(fact).markup("</li>");
        }
        page.markup("</ul></details>");
    }
    page.markup("<p>Written by seamripper ").text(&meta.version);
    page.markup(
        ". Texts and addresses on this page are those of the documents, shown as they are and never loaded.</p>",
    );
    page.markup("</footer>\n");
}

/// Bytes in the unit that suits them.
fn size(n_bytes: u64) -> String {
    let units = [("GB", 1e9), ("MB", 1e6), ("kB", 1e3)];
    let n = n_bytes as f64;
    match units.iter().find(|unit| n >= unit.1) {
        Some((name, unit)) if n / unit < 10.0 => format!("{:.1} {name}", n / unit),
        Some((name, unit)) => format!("{:.0} {name}", n / unit),
        None => format!("{n_bytes} B"),
    }
}

fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 10.0 => format!("{:.1} s", s.max(0.0)),
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_durations_are_readable() {
        assert_eq!([0, 999, 1500, 23_400_000].map(size), ["0 B", "999 B", "1.5 kB", "23 MB"]);
        assert_eq!([0.04, 12.3, 300.0, 9000.0].map(duration), ["0.0 s", "12 s", "5 min", "2.5 h"]);
    }

    #[test]
    fn an_empty_scan_has_no_bar() {
        let mut page = Page::default();
        write_bar(&mut page, &Tally::new(1));
        write_facts(&mut page, &Meta::default());
        let page = String::from_utf8(page.into_bytes()).unwrap();
        assert!(page.contains("No document") && !page.contains("NaN") && !page.contains("inf"), "{page}");
    }
}
