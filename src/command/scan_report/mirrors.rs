//! The mirror groups: the head, its copies, and what the least alike of them has changed.
//!
//! # Invariants
//! - However different two texts are, a bounded part is shown. (`a_long_difference_is_cut`)

use super::difference::{Difference, Fate};
use super::groups::{Group, Member};
use super::page::Page;
use super::quilts::write_shortened;
use super::{PAGE_BYTES_MAX, left_out, section};
use crate::command::words;
use crate::verdict::event::{Signal, TextView};
use crate::verdict::relation::Direction;

/// Groups that are shown unfolded.
const OPEN_MAX: usize = 2;
/// Bytes of a difference that are shown.
const DIFFERENCE_BYTES_MAX: usize = 4000;
/// Bytes of a stretch that are shown: of one that stays, and of a change.
const STRETCH_BYTES_MAX: (usize, usize) = (160, 600);

/// Writes the groups.
pub(super) fn write<'a>(
    page: &mut Page,
    groups: &[&'a Group],
    n_all: u64,
    place_of: impl Fn(&'a Group) -> Option<&'a str>,
    texts: &mut impl FnMut(&str) -> Option<String>,
) {
    let about = "Near copies of one document, the first seen of its kind, and pages that contain it or are contained \
                 in it. The largest groups come first. What the least alike of the shown copies has changed \
                 is marked word by word.";
    section(page, "mirrors", "Mirrors", n_all, about);
    if groups.is_empty() {
        page.markup("<p class=\"empty\">No document is a mirror.</p>\n");
    }
    let mut n_shown = 0;
    for (index, group) in groups.iter().enumerate() {
        page.markup(if index < OPEN_MAX {
            "<details class=\"item group\" open>"
        } else {
            "<details class=\"item group\">"
        });
        write_summary(page, group);
        write_members(page, group);
        if page.n_bytes() > PAGE_BYTES_MAX {
            page.markup("<p class=\"gone\">The difference is left out to keep this page small.</p>");
        } else if let Some(member) = group.example() {
            let both = place_of(group).and_then(&mut *texts).zip(texts(&member.place));
            match both {
                Some((head, text)) => write_difference(page, member, &head, &text),
                None => {
                    page.markup("<p class=\"gone\">No difference is shown: a text could not be read again.</p>");
                }
            }
        }
        page.markup("</details>\n");
        n_shown += group.members.len() as u64;
    }
    left_out(page, n_all.saturating_sub(n_shown), "further mirror is", "further mirrors are");
    page.markup("</section>\n");
}

fn write_summary(page: &mut Page, group: &Group) {
    page.markup("<summary><span class=\"title\">").name(&group.head).markup("</span><span class=\"tags\"><span>");
    page.counted(group.size.max(group.members.len() as u64 + 1), "document", "documents").markup("</span><span>");
    page.counted(group.domains.into(), "domain", "domains").markup("</span></span></summary>");
    for (what, name) in [("Address of the head: ", &group.url), ("Preferred copy: ", &group.canonical)] {
        if let Some(name) = name {
            page.markup("<p class=\"soft\">").markup(what).name(name).markup("</p>");
        }
    }
}

const HEAD: &str = "<div class=\"wide\"><table class=\"members\"><thead><tr><th scope=\"col\">Copy</th>\
    <th scope=\"col\">Domain</th><th scope=\"col\">Relation</th><th scope=\"col\">Resemblance</th>\
    <th scope=\"col\">Overlap</th><th scope=\"col\">Containment</th><th scope=\"col\">Found by</th></tr></thead><tbody>";

fn write_members(page: &mut Page, group: &Group) {
    page.markup(HEAD);
    for member in &group.members {
        page.markup("<tr><td data-label=\"Copy\">").name(&member.id).markup("</td><td data-label=\"Domain\">");
        if let Some(domain) = &member.domain {
            page.name(domain);
        }
        page.markup("</td><td data-label=\"Relation\"><span class=\"tag\">").markup(words::relation(member.relation));
        page.markup("</span>").markup(match member.direction {
            // A copy may be a little longer or shorter.
            _ if member.signals != [Signal::Sentences] => "",
            Direction::Equal => "",
            Direction::ThisInThat => " <span class=\"soft\">part of the head</span>",
            Direction::ThatInThis => " <span class=\"soft\">holds the head</span>",
        });
        page.markup("</td><td class=\"number\" data-label=\"Resemblance\"><span class=\"measure\">")
            .meter(member.resemblance);
        page.score(member.resemblance).markup("</span></td><td class=\"number\" data-label=\"Overlap\">");
        page.score(member.overlap)
            .markup("</td><td class=\"number\" data-label=\"Containment\">")
            .score(member.containment);
        page.markup("</td><td class=\"soft\" data-label=\"Found by\">");
        for (index, signal) in member.signals.iter().enumerate() {
            page.markup(if index > 0 { ", " } else { "" }).markup(words::signal(*signal));
        }
        page.markup(match member.view {
            TextView::Shown => "",
            TextView::Core => " (core text)",
            TextView::Full => " (with hidden text)",
            TextView::Body => " (the same below another subject)",
        });
        page.markup("</td></tr>");
    }
    page.markup("</tbody></table></div>");
    if group.n_further() > 0 {
        page.markup("<p class=\"left-out\">and ")
            .counted(group.n_further(), "further copy", "further copies")
            .markup("</p>");
    }
}

fn write_difference(page: &mut Page, member: &Member, head: &str, text: &str) {
    let difference = Difference::of(head, text);
    page.markup("<div class=\"difference\"><p class=\"soft\">From the head to ").name(&member.id).markup(": ");
    if difference.is_empty() {
        page.markup(if difference.complete { "no word differs." } else { "no word differs as far as was compared." });
        page.markup("</p></div>");
        return;
    }
    page.markup("<del>what went</del>, <ins>what came</ins>.</p><div class=\"text\" dir=\"auto\">");
    let mut n_bytes_left = DIFFERENCE_BYTES_MAX;
    let mut is_cut = false;
    for (fate, tokens) in &difference.stretches {
        let stretch = tokens.concat();
        let (open, bytes_max, close) = match fate {
            Fate::Stays => ("", STRETCH_BYTES_MAX.0, ""),
            Fate::Goes => ("<del>", STRETCH_BYTES_MAX.1, "</del>"),
            Fate::Comes => ("<ins>", STRETCH_BYTES_MAX.1, "</ins>"),
        };
        let n_bytes = stretch.len().min(bytes_max);
        if n_bytes > n_bytes_left {
            is_cut = true;
            break;
        }
        n_bytes_left -= n_bytes;
        page.markup(open);
        write_shortened(page, &stretch, bytes_max);
        page.markup(close);
    }
    if is_cut || !difference.complete {
        page.markup("<span class=\"gap\">further differences are not shown</span>");
    }
    page.markup("</div></div>");
}

#[cfg(test)]
mod tests {
    use super::super::groups::Groups;
    use super::super::sample::mirror_of;
    use super::*;

    fn shown(head: Option<&str>, text: Option<&str>) -> String {
        let mut groups = Groups::new();
        let verdict = mirror_of("copy", "head", 0.9);
        groups.add(1, 2, verdict.mirror.as_ref().unwrap(), &verdict, "copy.html");
        let mut page = Page::default();
        let mut texts = |place: &str| match place {
            "head.html" => head.map(str::to_owned),
            "copy.html" => text.map(str::to_owned),
            other => panic!("nobody needs {other}"),
        };
        write(&mut page, &groups.best(), 1, |_| Some("head.html"), &mut texts);
        String::from_utf8(page.into_bytes()).unwrap()
    }

    #[test]
    fn changed_words_are_marked() {
        let page = shown(Some("a <red> house"), Some("a <blue> house"));
        assert!(page.contains("a &lt;<del>red</del><ins>blue</ins>&gt; house"), "{page}");
        assert!(shown(Some("same"), Some("same")).contains("no word differs"));
    }

    #[test]
    fn a_text_that_is_gone_is_said_to_be() {
        for (head, text) in [(None, Some("x")), (Some("x"), None), (None, None)] {
            assert!(shown(head, text).contains("could not be read again"));
        }
    }

    #[test]
    fn a_long_difference_is_cut() {
        let (head, text): (Vec<_>, Vec<_>) =
            (0..5000).map(|n| (format!("same {n} x{n} "), format!("same {n} y{n} "))).unzip();
        let page = shown(Some(&head.concat()), Some(&text.concat()));
        assert!(page.len() < 8 * DIFFERENCE_BYTES_MAX && page.contains("further differences"), "{}", page.len());
    }
}
