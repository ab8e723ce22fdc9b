//! The table of `compare`: each figure with what it means, and the verdict in words.

use crate::command::words::{self, counted, percent};
use crate::config::{MirrorSettings, Settings};
use crate::pipeline::explanation::pair::Pair;
use crate::pipeline::explanation::scores::{Measure, Score};
use crate::verdict::comparison::{Comparison, Cosine, Estimated, Linked, NoiseAgreement};
use crate::verdict::relation::{CONTAINMENT_ABOVE, Class, Direction, OVERLAP_ABOVE, Relation};
use crate::verdict::url_similarity::Origin;
use anstyle::{AnsiColor, Reset, Style};

/// In what two documents are alike, what the filter says of them, and what it goes by.
pub(super) struct Figures<'a> {
    pub(super) comparison: &'a Comparison,
    pub(super) pair: &'a Pair,
    pub(super) settings: &'a Settings,
}

impl Figures<'_> {
    /// What they come to, in one line.
    pub(super) fn verdict(&self) -> String {
        let text = self.text_verdict();
        match self.pair.same_template {
            true => format!("{text}; the same template"),
            false => text,
        }
    }

    fn text_verdict(&self) -> String {
        let Comparison { insufficient, same_spelling, views, this_in_that, that_in_this, shared, .. } = self.comparison;
        let (a, b) = (percent(*this_in_that), percent(*that_in_this));
        match (insufficient.this, insufficient.that) {
            (true, true) => return "insufficient: both texts are too short to judge".to_owned(),
            (true, false) => return "insufficient: the text of A is too short to judge".to_owned(),
            (false, true) => return "insufficient: the text of B is too short to judge".to_owned(),
            (false, false) => {}
        }
        match (views.shown.same_digest, same_spelling) {
            (true, true) => return "the same text, word for word".to_owned(),
            (true, false) => return "the same words, but for numbers, addresses or names".to_owned(),
            (false, _) => {}
        }
        let Pair { copy, part, .. } = *self.pair;
        let b_is_smaller = that_in_this >= this_in_that;
        match () {
            () if copy && this_in_that.max(*that_in_this) < 0.5 => {
                let cosine = views.core.cosine.get();
                format!(
                    "near copies, reworded: the words are the same (cosine {cosine:.2}), but only {b} of B's stand in A in runs of five"
                )
            }
            () if copy && b_is_smaller => format!("near copies: {b} of B's words stand in A, {a} of A's in B"),
            () if copy => format!("near copies: {a} of A's words stand in B, {b} of B's in A"),
            () if part && b_is_smaller => format!("B is a part of A: {b} of B's words stand in A"),
            () if part => format!("A is a part of B: {a} of A's words stand in B"),
            () if *that_in_this >= PART_MIN && b_is_smaller => {
                format!("different texts, but most of B stands in A: {b} of B's words")
            }
            () if *this_in_that >= PART_MIN => format!("different texts, but most of A stands in B: {a} of A's words"),
            () if !shared.passages.is_empty() => {
                let passages = counted(shared.passages.len(), "passage");
                format!("different texts that share {passages}: {a} of A's words stand in B, {b} of B's in A")
            }
            () => "different texts".to_owned(),
        }
    }
}

/// So much of a text is most of it.
const PART_MIN: f64 = 0.8;

/// One line of the table.
struct Row {
    name: &'static str,
    figure: String,
    /// Whether the figure speaks for a common origin.
    alike: bool,
    meaning: String,
}

impl Figures<'_> {
    /// Adds the table to `report`.
    pub(super) fn write(&self, n_columns: usize, report: &mut String) {
        let sections = [
            ("The filter", self.filter_rows()),
            ("Text", self.text_rows()),
            ("Long sentences", sentence_rows(self.comparison)),
            ("Origin", origin_rows(self.comparison)),
            ("Look", self.look_rows()),
        ];
        let (bold, alike, dim) =
            (Style::new().bold(), Style::new().fg_color(Some(AnsiColor::Green.into())), Style::new().dimmed());
        let rows = || sections.iter().flat_map(|(_, rows)| rows);
        let names = rows().map(|row| row.name.len()).max().unwrap_or(0);
        let figures = rows().map(|row| row.figure.chars().count()).max().unwrap_or(0);
        for (title, rows) in &sections {
            if rows.is_empty() {
                continue;
            }
            report.push_str(&format!("\n{bold}{title}{Reset}\n"));
            for Row { name, figure, alike: is_alike, meaning } in rows {
                let style = if *is_alike { alike } else { Style::new() };
                let margin = 2 + names + 2 + figures + 2;
                let mut lines = wrapped(meaning, n_columns.saturating_sub(margin).max(24)).into_iter();
                let first = lines.next().unwrap_or_default();
                report.push_str(&format!("  {name:<names$}  {style}{figure:<figures$}{Reset}  {dim}{first}{Reset}\n"));
                for line in lines {
                    report.push_str(&format!("{:margin$}{dim}{line}{Reset}\n", ""));
                }
            }
        }
    }

    fn filter_rows(&self) -> Vec<Row> {
        let Pair { copy, part, compared, why, signals, likeness, .. } = self.pair;
        let found_by = || signals.iter().map(|signal| words::signal(*signal)).collect::<Vec<_>>().join(" and ");
        let (figure, meaning) = match () {
            () if *copy => ("copy", format!("B after A; found by {}", found_by())),
            () if *part => ("part", format!("B after A; found by {}", found_by())),
            () if *compared => {
                let why = why.map_or("they have keys in common, and were compared", words::objection);
                ("no mirror", why.to_owned())
            }
            () => ("no mirror", "they have no key in common, and were not compared".to_owned()),
        };
        let Score { score, value, threshold, setting, crossed, .. } = likeness;
        vec![
            Row { name: "says", figure: figure.to_owned(), alike: *copy || *part, meaning },
            Row {
                name: "likeness",
                figure: if *compared { format!("{value:.3}") } else { "none".to_owned() },
                alike: *crossed,
                meaning: format!("{score} (copy: {threshold} and more, {setting})"),
            },
        ]
    }

    fn text_rows(&self) -> Vec<Row> {
        let Comparison { views, terms, shingles, imatch, this_in_that, that_in_this, .. } = self.comparison;
        let same = match (views.shown.same_digest, views.core.same_digest, views.full.same_digest) {
            (true, _, _) => "yes",
            (false, true, _) => "in the core",
            (false, false, true) => "with what is hidden",
            _ => "no",
        };
        let MirrorSettings { cosine_min, core_cosine_min, .. } = self.settings.mirror;
        // Pages are not told by their words: those of one manual have them in common.
        let is_by_terms = self.pair.measure == Measure::Terms;
        let cosine = |name, value: Cosine, of: &str, near_copy: &str| Row {
            name,
            figure: format!("{:.3}", value.get()),
            alike: value.get() >= cosine_min,
            meaning: if is_by_terms { format!("{of} (near copy: {near_copy})") } else { of.to_owned() },
        };
        let enough = format!("{cosine_min} and more");
        let covered = |name, share: f64, meaning: &str| Row {
            name,
            figure: percent(share),
            alike: share >= PART_MIN,
            meaning: meaning.to_owned(),
        };
        let resemblance = |name, estimated: &Estimated, of: &str| Row {
            name,
            figure: match estimated.estimated {
                Some(estimate) => format!("{:.3} (est. {:.3})", estimated.exact.get(), estimate.get()),
                None => format!("{:.3}", estimated.exact.get()),
            },
            alike: estimated.exact.get() >= 0.5,
            meaning: format!("{of} in common (Jaccard; est. from minhash)"),
        };
        vec![
            Row {
                name: "same text",
                figure: same.to_owned(),
                alike: same != "no",
                meaning: match self.comparison.same_spelling {
                    true => "all words, in order",
                    false => "all words, in order; numbers, addresses and names count as the same",
                }
                .to_owned(),
            },
            covered("A in B", *this_in_that, "A's words that stand in B, in runs of five and more"),
            covered("B in A", *that_in_this, "B's words that stand in A"),
            cosine("cosine, shown", views.shown.cosine, "distinct words", &enough),
            cosine(
                "cosine, core",
                views.core.cosine,
                "without menus, quotes, footers",
                &format!("{core_cosine_min} and more, and {cosine_min} in one of the three"),
            ),
            cosine("cosine, full", views.full.cosine, "with what is hidden", &enough),
            resemblance("words", terms, "distinct words"),
            resemblance("shingles", shingles, "runs of a few words"),
            match imatch {
                Some(imatch) => Row {
                    name: "I-Match",
                    figure: format!("{} of {}", imatch.agreeing, imatch.coordinates),
                    alike: imatch.agreeing > 0,
                    meaning: match imatch.lexicon {
                        Some(lexicon) => format!("signatures that agree; one is enough (lexicon {lexicon})"),
                        None => "different lexicons: they cannot agree".to_owned(),
                    },
                },
                None => Row {
                    name: "I-Match",
                    figure: "none".to_owned(),
                    alike: false,
                    meaning: "too few words of the lexicon to sign".to_owned(),
                },
            },
        ]
    }

    fn look_rows(&self) -> Vec<Row> {
        let (comparison, template) = (self.comparison, &self.settings.template);
        let mut rows = Vec::new();
        let mut noise = |name, noise: Option<NoiseAgreement>, of: &str, bins_min: usize, what: &str| {
            let Some(noise) = noise else { return };
            rows.push(Row {
                name,
                figure: match noise.bins_matching {
                    Some(matching) => format!("{matching} of {} ({:.3})", noise.bins, noise.exact.get()),
                    None => format!("too small ({:.3})", noise.exact.get()),
                },
                alike: noise.bins_matching.is_some_and(|matching| matching >= bins_min),
                meaning: match noise.bins_matching {
                    Some(_) => format!("{of}: bins that agree, {bins_min} {what} (exact Jaccard)"),
                    None => format!("{of}: too little for bins (exact Jaccard)"),
                },
            });
        };
        let [all, tags] = [comparison.style.noise, comparison.style.tag_noise];
        noise(
            "style",
            all,
            "brackets and punctuation",
            BINS_MIN,
            "are one style by Urvoy 2006, the filter asks the next",
        );
        let (bins_min, what) = match comparison.frame {
            Some(_) => (template.bins_alone_min, "make a template without common stylesheets"),
            None => (template.bins_min, "make a template"),
        };
        noise("style in tags", tags, "the same, inside tags", bins_min as usize, what);
        if let Some(frame) = &comparison.frame {
            rows.push(Row {
                name: "page frame",
                figure: format!("{:.3}", frame.similarity.get()),
                alike: frame.similarity.get() >= template.frame_min,
                meaning: format!("names in head and attributes (template: {} and more)", template.frame_min),
            });
            rows.push(Row {
                name: "stylesheets",
                figure: format!("{:.3}", frame.stylesheets.get()),
                alike: frame.stylesheets_agree && frame.stylesheets.get() > 0.0,
                meaning: match frame.stylesheets_agree {
                    true => "they leave room for one template".to_owned(),
                    false => "both have some and share less than half: not one template".to_owned(),
                },
            });
        }
        rows
    }
}

/// Bins of all noise that make one style, as published.
const BINS_MIN: usize = 35;

fn sentence_rows(comparison: &Comparison) -> Vec<Row> {
    let scores = &comparison.sentences;
    let direction = match scores.direction {
        Direction::ThisInThat => ", A in B",
        Direction::ThatInThis => ", B in A",
        Direction::Equal => "",
    };
    let weak = match scores.n_weak {
        0 => String::new(),
        n => format!("; {n} more outside it do not count"),
    };
    vec![
        Row {
            name: "shared",
            figure: scores.n_shared.to_string(),
            alike: scores.n_shared > 0,
            meaning: format!("long sentences in the content of both{weak}"),
        },
        Row {
            name: "overlap R",
            figure: format!("{:.3}", scores.overlap.get()),
            alike: scores.overlap.get() > OVERLAP_ABOVE,
            meaning: format!("their share of both texts (the same: above {OVERLAP_ABOVE})"),
        },
        Row {
            name: "containment",
            figure: format!("{:.3}{direction}", scores.containment.get()),
            alike: scores.containment.get() > CONTAINMENT_ABOVE,
            meaning: format!("their share of the shorter one (a part: above {CONTAINMENT_ABOVE})"),
        },
        Row {
            name: "relation",
            figure: comparison.relation.map_or("none", Relation::name).to_owned(),
            alike: comparison.class == Some(Class::Identical),
            meaning: comparison.relation.map_or("no long sentence in common", told).to_owned(),
        },
    ]
}

fn told(relation: Relation) -> &'static str {
    match relation {
        Relation::Mirror => "the same text under similar URLs",
        Relation::Boilerplate => "a text that stands on many unrelated hosts",
        Relation::Copy => "the same text, and no likeness of URLs",
        Relation::Archive => "one holds the other, on one site: like a month's page and a day's",
        Relation::ExcerptList => "one holds the other, on different sites: like a collection and one of its parts",
        Relation::SameSite => "pages of one site that share sentences",
        Relation::Citation => "sentences in common, and one links to the other",
        Relation::LinkList => "one links to many and shows a little of each",
        Relation::Scraping => "one is put together from many",
        Relation::SharedPassages => "sentences in common, and no link: both quote the same, or one the other",
    }
}

fn origin_rows(comparison: &Comparison) -> Vec<Row> {
    let url = Row {
        name: "URL similarity",
        figure: comparison.url_similarity.map_or("unknown".to_owned(), |value| format!("{:.2}", value.get())),
        alike: comparison.url_similarity.is_some_and(|value| value.origin().is_similar()),
        meaning: match comparison.url_similarity {
            Some(value) if value.origin() == Origin::OneSite => {
                "host and path in common (similar: of one site)".to_owned()
            }
            Some(_) => "host and path in common (similar: one name registered, or most of the path)".to_owned(),
            None => "not both have one; counts as not similar".to_owned(),
        },
    };
    let link = |name, linked: Linked| {
        let (figure, meaning) = match (linked.url, linked.domain) {
            (Some(true), _) => ("yes", "to the page itself"),
            (_, Some(true)) => ("to its domain", "to its registered domain, not to the page"),
            (None, None) => ("unknown", "the other has no URL and no domain"),
            _ => ("no", "neither to the page nor to its domain"),
        };
        Row { name, figure: figure.to_owned(), alike: linked.url == Some(true), meaning: meaning.to_owned() }
    };
    vec![url, link("link A to B", comparison.links.this_to_that), link("link B to A", comparison.links.that_to_this)]
}

/// `text` in lines of at most `width` characters, cut at spaces.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is always a line");
        if line.is_empty() {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() <= width {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_wrapped_at_spaces() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("incomprehensible", 4), ["incomprehensible"]);
        assert_eq!(wrapped("", 4), [""]);
    }
}
