//! An explanation as people read it.

use crate::command::compare::passages::quoted;
use crate::command::report::plain;
use crate::command::words::{counted, objection, percent, relation, signal, template_kind};
use crate::pipeline::explanation::near::NoMirror;
use crate::pipeline::explanation::scores::Score;
use crate::pipeline::explanation::shared::{Shared, Texts};
use crate::pipeline::explanation::{Explanation, Record};
use crate::pipeline::scan::place;
use crate::verdict::event::{ClusterEvent, Mirror, Outcome, Quilt, QuiltKind, Recrawl, Template, Verdict};
use crate::verdict::relation::{Direction, Relation};
use anstyle::{AnsiColor, Reset, Style};

/// The report.
pub(super) fn report(explanation: &Explanation, n_passages: usize, n_columns: usize) -> String {
    let bold = Style::new().bold();
    let mut report = format!("{bold}{}{Reset}\n", plain(&explanation.id));
    if let Some(record) = &explanation.record {
        report += &told_by_the_store(record);
    }
    match &explanation.verdict {
        Some(verdict) => report += &verdict_lines(verdict, explanation),
        None => report += "what was said of it is not kept\n",
    }
    if !explanation.scores.is_empty() {
        report += &format!("\n{bold}Scores{Reset}, those that crossed their threshold marked\n");
        explanation.scores.iter().for_each(|score| report += &score_line(score));
    }
    report += &explanation.near.as_ref().map(near_lines).unwrap_or_default();
    if let Some(cluster) = &explanation.cluster {
        report += &format!("\n{bold}Cluster{Reset} {}\n{}", cluster.id, cluster_lines(cluster));
    }
    if explanation.text_is_gone {
        report += "\nits text is gone: no passages can be quoted\n";
    } else {
        explanation.shared.iter().for_each(|shared| report += &shared_lines(shared, n_passages, n_columns));
    }
    report
}

fn told_by_the_store(record: &Record) -> String {
    let mut lines = match &record.source {
        Some(source) => format!("known to the store; its record is {}\n", plain(&place(source))),
        None => "known to the store by its id; a copy's record is not kept\n".to_owned(),
    };
    let group = group(record.group_size, record.group_domains);
    lines += &match &record.copy_of {
        Some(head) => format!("a copy, of the group of {}: {group}\n", plain(head)),
        None if record.group_size > 1 => format!("the first of a group: {group}\n"),
        None if record.group_size == 1 => "the only one of its group so far\n".to_owned(),
        None => "its group has gone from the store, or it never had one\n".to_owned(),
    };
    lines
}

fn group(size: u32, domains: u32) -> String {
    format!("{} on {}", counted(size, "document"), counted(domains, "domain"))
}

fn verdict_lines(verdict: &Verdict, explanation: &Explanation) -> String {
    let bold = Style::new().bold();
    let mut lines = String::new();
    if explanation.recomputed {
        let kind =
            verdict.kind.map_or("record", |kind| if kind == crate::document::Kind::Page { "page" } else { "mail" });
        lines += &format!("{kind}, record {}\n", plain(&place(&verdict.source)));
    }
    let conclusion = match (verdict.outcome, &verdict.classes[..]) {
        (Outcome::Rejected, _) => {
            format!("rejected: {}", plain(verdict.reason.as_deref().unwrap_or("no reason given")))
        }
        (Outcome::Insufficient, _) => "insufficient: too short to judge, it matches nothing".to_owned(),
        (Outcome::Judged, []) => "original: no copy, no quilt, no template".to_owned(),
        (Outcome::Judged, classes) => classes.iter().map(|class| class.name()).collect::<Vec<_>>().join(", "),
    };
    lines += &format!("\n{bold}{conclusion}{Reset}\n");
    if verdict.revision > 0 {
        lines += &format!("  revised {}: later documents have changed what was said\n", times(verdict.revision));
    }
    match verdict.recrawl {
        Some(Recrawl::Unchanged) => lines += "  seen before under this id, with the same text\n",
        Some(Recrawl::Changed) => lines += "  seen before under this id, with another text\n",
        None => {}
    }
    lines += &verdict.mirror.as_ref().map(mirror_lines).unwrap_or_default();
    lines += &verdict.quilt.as_ref().map(quilt_lines).unwrap_or_default();
    let is_met = |setting: &str| explanation.scores.iter().any(|score| score.setting == setting && score.crossed);
    if verdict.quilt.is_none() && is_met("quilt.fraction_min") && is_met("quilt.sources_min") {
        lines += "  no quilt, though it has the patches of one: the first of its group is none\n";
    }
    lines += &verdict.template.as_ref().map(template_lines).unwrap_or_default();
    for related in &verdict.related {
        lines += &format!("  related by rare sentences: {} ({})\n", plain(&related.of), relation(related.relation));
    }
    for carried in &verdict.labels {
        let via = format!("{:?}", carried.via).to_lowercase();
        lines += &format!("  carries the label `{}`, by the {via} {}\n", plain(&carried.label), plain(&carried.of));
    }
    lines
}

fn times(n: u32) -> String {
    if n == 1 { "once".to_owned() } else { format!("{n} times") }
}

fn mirror_lines(mirror: &Mirror) -> String {
    let signals: Vec<&str> = mirror.signals.iter().map(|one| signal(*one)).collect();
    let what = match (mirror.relation, mirror.direction) {
        (Relation::Archive | Relation::ExcerptList, Direction::ThisInThat) => "a part of",
        (Relation::Archive | Relation::ExcerptList, Direction::ThatInThis) => "holds the text of",
        _ => "the text of",
    };
    let mut lines = format!("  {what} {} ({})\n", plain(&mirror.of), relation(mirror.relation));
    lines += &format!(
        "  found by {}; likeness {:.3}, overlap {:.3}, containment {:.3}\n",
        signals.join(" and "),
        mirror.resemblance,
        mirror.overlap,
        mirror.containment
    );
    lines += &format!("  group of {}\n", group(mirror.size, mirror.domains));
    if mirror.canonical != mirror.of {
        lines += &format!("  the preferred copy is {}\n", plain(&mirror.canonical));
    }
    lines
}

fn quilt_lines(quilt: &Quilt) -> String {
    let what = match quilt.kind {
        QuiltKind::Quilt => "a quilt",
        QuiltKind::Aggregator => "an aggregator, which links to its sources",
    };
    let others = counted(quilt.sources.len(), "other");
    let mut lines = format!("  {what}: {} of its words stand in {others}\n", percent(quilt.patch_fraction));
    for source in &quilt.sources {
        let linked = if source.linked { ", linked" } else { "" };
        let passages = counted(source.spans.len(), "passage");
        lines += &format!("    {:>9}  {} ({passages}{linked})\n", percent(source.share), plain(&source.of));
    }
    lines
}

fn template_lines(template: &Template) -> String {
    let Template { cluster, frame, bins, size, domains, kind, .. } = template;
    format!(
        "  of cluster {cluster} ({}): page frame {frame:.3}, {bins} of 128 style bins like the leader's\n  then {}\n",
        template_kind(*kind),
        group(*size, *domains)
    )
}

fn score_line(score: &Score) -> String {
    let Score { class, score, value, threshold, setting, inclusive, crossed } = score;
    let (mark, style) = match crossed {
        true => ("✓", Style::new().fg_color(Some(AnsiColor::Green.into()))),
        false => (" ", Style::new().dimmed()),
    };
    let sign = if *inclusive { ">=" } else { "> " };
    // Counts have thresholds of several; shares and likenesses go to 1.
    let value = if *threshold > 1.0 { format!("{value}") } else { format!("{value:.3}") };
    format!("  {style}{mark} {class:<8}  {score:<29}  {value:>7}  {sign} {threshold:<5}{Reset}  {setting}\n")
}

fn near_lines(near: &NoMirror) -> String {
    let NoMirror { of, place, why, scores } = near;
    let mut lines = format!("\n{}Near{Reset}, and no mirror of it: {}\n", Style::new().bold(), plain(of));
    if let Some(place) = place.as_ref().filter(|place| *place != of) {
        lines += &format!("  record {}\n", plain(place));
    }
    lines += &format!("  {}\n", objection(*why));
    scores.iter().for_each(|score| lines += &score_line(score));
    lines
}

fn cluster_lines(cluster: &ClusterEvent) -> String {
    let ClusterEvent { size, domains, similarity, rank, linked, copies, leaders, .. } = cluster;
    let mut lines = format!(
        "  {} at the end; mean similarity {similarity:.3}, rank {rank:.2}; others link to {} of its domains, {} are copies\n",
        group(*size, *domains),
        percent(*linked),
        percent(*copies)
    );
    leaders.iter().for_each(|leader| lines += &format!("  led by {}\n", plain(leader)));
    lines
}

fn shared_lines(shared: &Shared, n_passages: usize, n_columns: usize) -> String {
    let (bold, dim) = (Style::new().bold(), Style::new().dimmed());
    let mut lines = format!("\n{bold}Shared with{Reset} {}\n", plain(&shared.of));
    if let Some(place) = shared.place.as_ref().filter(|place| **place != shared.of) {
        lines += &format!("  record {}\n", plain(place));
    }
    let Some(Texts { this_in_that, that_in_this, passages, passages_complete, whole, .. }) = &shared.texts else {
        return lines + "  its text is gone\n";
    };
    let (a, b) = (percent(*this_in_that), percent(*that_in_this));
    lines += &format!("  {a} of this document's words stand there, {b} of its words here\n");
    for passage in passages.iter().take(n_passages) {
        lines += &format!("  {}\n", counted(passage.n_units, "word"));
        lines += &format!("    {dim}here {Reset} {}\n", quoted(&whole.0, passage.here, n_columns));
        lines += &format!("    {dim}there{Reset} {}\n", quoted(&whole.1, passage.there, n_columns));
    }
    let n_left = passages.len().saturating_sub(n_passages);
    if n_left > 0 {
        lines += &format!("  and {}\n", counted(n_left, "shorter passage"));
    }
    if !passages_complete {
        lines += "  the texts repeat themselves so much that not all common runs were looked at\n";
    }
    lines
}
