//! The style clusters, ranked by mean similarity times domains.
//!
//! # Invariants
//! - A cluster that has become part of an older one is not shown beside it. (`a_merged_cluster_goes`)

use super::page::Page;
use super::ranking::{Ranked, Ranking};
use super::tally::KNOWN_MAX;
use super::{Key, brief, left_out, section};
use crate::command::words::template_kind;
use crate::document::Kind;
use crate::verdict::event::{ClusterEvent, Verdict};
use std::cmp::Ordering;
use std::collections::HashSet;

/// Clusters that are shown.
const CLUSTERS_MAX: usize = 500;
/// Members of one that are shown, leaders included.
const EXAMPLES_MAX: usize = 8;

struct Kept {
    key: Key,
    event: ClusterEvent,
}

impl Ranked for Kept {
    fn order(&self, other: &Self) -> Ordering {
        other.event.rank.total_cmp(&self.event.rank).then(other.event.size.cmp(&self.event.size))
    }
}

/// Members of a cluster, of different domains where there are such.
struct Examples {
    size: u32,
    ids: Vec<(Option<String>, String)>,
}

impl Ranked for Examples {
    fn order(&self, other: &Self) -> Ordering {
        other.size.cmp(&self.size)
    }
}

/// The clusters so far.
pub(super) struct Clusters {
    ranking: Ranking<Kept>,
    examples: Ranking<Examples>,
    all: HashSet<Key>,
}

impl Clusters {
    pub(super) fn new() -> Self {
        // The largest clusters and the best ranked ones are not quite the same: keep examples of some more.
        let examples = Ranking::new(4 * CLUSTERS_MAX);
        Self { ranking: Ranking::new(CLUSTERS_MAX), examples, all: HashSet::new() }
    }

    /// Takes in what is said of the cluster `key`.
    pub(super) fn add(&mut self, key: Key, merged_into: Option<Key>, event: &ClusterEvent) {
        if merged_into.is_some() {
            self.ranking.remove(key);
            self.examples.remove(key);
            self.all.remove(&key);
            return;
        }
        if self.all.len() < KNOWN_MAX {
            self.all.insert(key);
        }
        let leaders = event.leaders.iter().take(EXAMPLES_MAX).map(|id| brief(id)).collect();
        let event = ClusterEvent { id: brief(&event.id), leaders, ..event.clone() };
        self.ranking.put(key, Kept { key, event });
    }

    /// A member of the cluster `key`, which has `size`.
    pub(super) fn example(&mut self, key: Key, size: u32, verdict: &Verdict) {
        let example = || (verdict.domain.as_deref().map(brief), brief(&verdict.id));
        match self.examples.get_mut(key) {
            Some(examples) => {
                examples.size = examples.size.max(size);
                let is_new = examples.ids.iter().all(|(domain, _)| domain.as_deref() != verdict.domain.as_deref());
                if is_new && examples.ids.len() < EXAMPLES_MAX {
                    examples.ids.push(example());
                }
            }
            None => drop(self.examples.put(key, Examples { size, ids: vec![example()] })),
        }
    }

    /// How many there are.
    pub(super) fn n_all(&self) -> u64 {
        self.all.len() as u64
    }

    fn examples_of(&mut self, key: Key) -> &[(Option<String>, String)] {
        self.examples.get_mut(key).map_or(&[], |examples| &examples.ids)
    }
}

const HEAD: &str = "<div class=\"wide\"><table class=\"sortable clusters\"><thead><tr>\
    <th scope=\"col\" data-sort=\"number\" aria-sort=\"ascending\">#</th><th scope=\"col\" data-sort=\"text\">Cluster</th>\
    <th scope=\"col\" data-sort=\"text\">Kind</th><th scope=\"col\" data-sort=\"number\">Members</th>\
    <th scope=\"col\" data-sort=\"number\">Domains</th><th scope=\"col\" data-sort=\"number\">Similarity</th>\
    <th scope=\"col\" data-sort=\"number\">Linked</th><th scope=\"col\" data-sort=\"number\">Copies</th>\
    <th scope=\"col\">Examples</th></tr></thead><tbody>\n";

/// Writes the table.
pub(super) fn write(page: &mut Page, clusters: &mut Clusters) {
    let about = "Documents made by the same generator. The first have the highest mean similarity times domains: \
                 alike, and on many domains. Linked: domains that members of other domains link to. \
                 Copies: members that are copies of an earlier document.";
    section(page, "clusters", "Clusters", clusters.n_all(), about);
    let keys: Vec<Key> = clusters.ranking.best().iter().map(|kept| kept.key).collect();
    if keys.is_empty() {
        page.markup("<p class=\"empty\">No style cluster reached the size of a template.</p>\n</section>\n");
        return;
    }
    page.markup(HEAD);
    for (index, key) in keys.iter().enumerate() {
        let Some(event) = clusters.ranking.get_mut(*key).map(|kept| kept.event.clone()) else { continue };
        write_row(page, index, &event, clusters.examples_of(*key));
    }
    page.markup("</tbody></table></div>\n");
    left_out(page, clusters.n_all().saturating_sub(keys.len() as u64), "further cluster is", "further clusters are");
    page.markup("</section>\n");
}

fn write_row(page: &mut Page, index: usize, event: &ClusterEvent, examples: &[(Option<String>, String)]) {
    let number = |page: &mut Page, label: &'static str, value: f64| {
        page.markup("<td class=\"number\" data-label=\"")
            .markup(label)
            .markup("\" data-value=\"")
            .shown(value)
            .markup("\">");
    };
    page.markup("<tr class=\"item\">");
    number(page, "Rank", index as f64 + 1.0);
    page.shown(index + 1).markup("</td><td data-label=\"Cluster\">").name(&event.id);
    page.markup("</td><td data-label=\"Kind\"><span class=\"tag\">")
        .markup(template_kind(event.kind))
        .markup("</span> <span class=\"soft\">");
    page.markup(if event.kind_of_documents == Kind::Email { "mails" } else { "pages" });
    page.markup(if event.expired { ", expired</span></td>" } else { "</span></td>" });
    number(page, "Members", event.size.into());
    page.count(event.size.into()).markup("</td>");
    number(page, "Domains", event.domains.into());
    page.count(event.domains.into()).markup("</td>");
    number(page, "Similarity", event.similarity);
    page.markup("<span class=\"measure\">").meter(event.similarity).score(event.similarity).markup("</span></td>");
    number(page, "Linked", event.linked);
    page.percent(event.linked).markup("</td>");
    number(page, "Copies", event.copies);
    page.percent(event.copies).markup("</td><td data-label=\"Examples\">");
    write_examples(page, event, examples);
    page.markup("</td></tr>\n");
}

fn write_examples(page: &mut Page, event: &ClusterEvent, examples: &[(Option<String>, String)]) {
    let leaders = event.leaders.iter().map(|id| (None, id));
    let others = examples.iter().filter(|(_, id)| !event.leaders.contains(id));
    let all: Vec<_> = leaders.chain(others.map(|(domain, id)| (domain.as_ref(), id))).take(EXAMPLES_MAX).collect();
    let Some((first, rest)) = all.split_first() else { return };
    page.name(first.1);
    if rest.is_empty() {
        return;
    }
    page.markup("<details><summary>").count(rest.len() as u64).markup(" more</summary><ul class=\"plain\">");
    for (domain, id) in rest {
        page.markup("<li>").name(id);
        // A page's id is mostly its address, which has the domain in it.
        if let Some(domain) = domain.filter(|domain| !id.contains(domain.as_str())) {
            page.markup(" <span class=\"soft\">").name(domain).markup("</span>");
        }
        page.markup("</li>");
    }
    page.markup("</ul></details>");
}

#[cfg(test)]
mod tests {
    use super::super::sample::cluster;
    use super::*;

    #[test]
    fn a_merged_cluster_goes() {
        let mut clusters = Clusters::new();
        clusters.add(1, None, &cluster("t-1", 9, 3));
        clusters.add(2, None, &cluster("t-2", 5, 2));
        clusters.add(2, Some(1), &ClusterEvent { merged_into: Some("t-1".into()), ..cluster("t-2", 5, 2) });
        clusters.add(1, None, &cluster("t-1", 14, 5));
        let sizes: Vec<_> = clusters.ranking.best().iter().map(|kept| kept.event.size).collect();
        assert_eq!((sizes, clusters.n_all()), (vec![14], 1));
    }

    #[test]
    fn many_clusters_stay_bounded() {
        let mut clusters = Clusters::new();
        for key in 0..5000_u32 {
            clusters.add(key.into(), None, &cluster(&key.to_string(), 5, key));
        }
        let mut page = Page::default();
        write(&mut page, &mut clusters);
        let page = String::from_utf8(page.into_bytes()).unwrap();
        assert_eq!(page.matches("<tr class=\"item\">").count(), CLUSTERS_MAX);
        assert!(page.contains("4,500 further clusters are not shown here"));
    }
}
