//! Labels that documents carry, and documents that share rare sentences without being copies.

use super::page::Page;
use super::ranking::Ranked;
use super::tally::{Line, Tally};
use super::{brief, left_out, section};
use crate::command::words::relation;
use crate::verdict::event::{Carried, Related, Verdict, Via};
use crate::verdict::relation::{CONTAINMENT_ABOVE, Direction};
use std::cmp::Ordering;

/// Documents that are shown.
pub(super) const NOTES_MAX: usize = 200;
/// Labels, and relatives, of one document that are shown.
const EACH_MAX: usize = 12;

/// What is kept of a document with labels or relatives.
#[derive(Debug)]
pub(super) struct Kept {
    id: String,
    domain: Option<String>,
    labels: Vec<Carried>,
    related: Vec<Related>,
    n_further: usize,
}

impl Kept {
    pub(super) fn of(verdict: &Verdict) -> Option<Self> {
        let label = |label: &Carried| Carried { label: brief(&label.label), of: brief(&label.of), ..*label };
        let related = |one: &Related| {
            let url = one.url.as_deref().filter(|url| *url != one.of).map(brief);
            Related { of: brief(&one.of), url, ..one.clone() }
        };
        (!verdict.labels.is_empty() || !verdict.related.is_empty()).then(|| Self {
            id: brief(&verdict.id),
            domain: verdict.domain.as_deref().map(brief),
            labels: verdict.labels.iter().take(EACH_MAX).map(label).collect(),
            related: verdict.related.iter().take(EACH_MAX).map(related).collect(),
            n_further: [verdict.labels.len(), verdict.related.len()].map(|n| n.saturating_sub(EACH_MAX)).iter().sum(),
        })
    }

    fn overlap_max(&self) -> f64 {
        self.related.iter().map(|related| related.overlap).fold(0.0, f64::max)
    }
}

impl Ranked for Kept {
    /// Labels are rarer and were given on purpose: they come first. Then those with the closest relative.
    fn order(&self, other: &Self) -> Ordering {
        (other.labels.len().cmp(&self.labels.len())).then(other.overlap_max().total_cmp(&self.overlap_max()))
    }
}

/// Writes the section.
pub(super) fn write(page: &mut Page, notes: &[&Kept], tally: &Tally) {
    let about = "Documents that carry a label, with the way it came, and documents that share rare sentences with \
                 others without being copies of them.";
    let n_all = tally.n(Line::Noted, None);
    section(page, "notes", "Labels and relatives", n_all, about);
    if notes.is_empty() {
        page.markup("<p class=\"empty\">No document carries a label or has relatives.</p>\n</section>\n");
        return;
    }
    page.markup("<div class=\"wide\"><table class=\"notes\"><thead><tr><th scope=\"col\">Document</th>");
    page.markup("<th scope=\"col\">Labels</th><th scope=\"col\">Relatives</th></tr></thead><tbody>\n");
    for note in notes {
        page.markup("<tr class=\"item\"><td data-label=\"Document\">").name(&note.id);
        if let Some(domain) = note.domain.as_ref().filter(|domain| !note.id.contains(domain.as_str())) {
            page.markup(" <span class=\"soft\">").name(domain).markup("</span>");
        }
        page.markup("</td><td data-label=\"Labels\"><ul class=\"plain\">");
        note.labels.iter().for_each(|label| write_label(page, label));
        page.markup("</ul></td><td data-label=\"Relatives\"><ul class=\"plain\">");
        note.related.iter().for_each(|related| write_related(page, related));
        if note.n_further > 0 {
            page.markup("<li class=\"soft\">and ").count(note.n_further as u64).markup(" more</li>");
        }
        page.markup("</ul></td></tr>\n");
    }
    page.markup("</tbody></table></div>\n");
    left_out(page, n_all.saturating_sub(notes.len() as u64), "further document is", "further documents are");
    page.markup("</section>\n");
}

fn write_label(page: &mut Page, label: &Carried) {
    page.markup("<li><span class=\"tag label\">").name(&label.label).markup("</span> <span class=\"soft\">");
    page.markup(match label.via {
        Via::Document => "on the document itself",
        Via::Mirror => "as a copy of ",
        Via::Template => "as a member of ",
        Via::Domain => "by the domain ",
    });
    if label.via != Via::Document {
        page.name(&label.of);
    }
    page.markup(if label.overridden { ", overridden by allow</span></li>" } else { "</span></li>" });
}

fn write_related(page: &mut Page, related: &Related) {
    page.markup("<li><span class=\"tag\">").markup(relation(related.relation)).markup("</span> ").name(&related.of);
    if let Some(url) = &related.url {
        page.markup(" <span class=\"soft\">").name(url).markup("</span>");
    }
    page.markup(" <span class=\"soft\">overlap ")
        .score(related.overlap)
        .markup(", containment ")
        .score(related.containment);
    page.markup(match (related.direction, related.containment > CONTAINMENT_ABOVE) {
        (Direction::Equal, _) => "</span></li>",
        (Direction::ThisInThat, true) => ", part of it</span></li>",
        (Direction::ThatInThis, true) => ", holds it</span></li>",
        (Direction::ThisInThat, false) => " of this, the shorter one</span></li>",
        (Direction::ThatInThis, false) => " of it, the shorter one</span></li>",
    });
}
