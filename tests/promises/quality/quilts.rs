//! Quilts with known sources among the real texts that they were stitched from, in both orders of arrival.
//!
//! A source counts as named if the head of its group is: whoever copies a copy names the first. Spans are compared by
//! words and sources together: a word given to the wrong source is wrong.

use super::corpora::{self, Text, text_page};
use super::stitched::{Collection, Passage, Servers, Stitched, collection};
use super::{Groups, Input, by_id, folded, is, judged, judged_exactly, print_list, share};
use seamripper::config::Settings;
use seamripper::document::Span;
use seamripper::verdict::event::{Class, Verdict};
use std::collections::{HashMap, HashSet};

/// How well quilts are told.
#[derive(Debug, Default, PartialEq)]
struct Figures {
    n_quilts: usize,
    n_found: usize,
    /// Those of them in Japanese.
    n_japanese: usize,
    n_japanese_found: usize,
    /// Texts of one or two sources, of three, and plain texts that are called quilts.
    false_of_two: Vec<String>,
    false_of_three: Vec<String>,
    false_plain: Vec<String>,
    n_plain: usize,
    n_sources: usize,
    n_named: usize,
    /// Named, or a near duplicate is.
    n_named_or_twin: usize,
    /// Pairs of word and source: in both, only said, only true.
    n_words_right: usize,
    n_words_wrong: usize,
    n_words_missed: usize,
}

impl Figures {
    fn recall(&self) -> f64 {
        share(self.n_found, self.n_quilts)
    }

    fn precision(&self) -> f64 {
        let n_false = self.false_of_two.len() + self.false_of_three.len() + self.false_plain.len();
        share(self.n_found, self.n_found + n_false)
    }

    fn named(&self) -> f64 {
        share(self.n_named, self.n_sources)
    }

    fn word_f1(&self) -> f64 {
        let n_right = 2 * self.n_words_right;
        share(n_right, n_right + self.n_words_wrong + self.n_words_missed)
    }

    fn false_plain_share(&self) -> f64 {
        self.false_plain.len() as f64 / self.n_plain.max(1) as f64
    }

    fn print(&self, title: &str) {
        println!(
            "{title}: recall {:.4} ({} of {}; Japanese {} of {}), precision {:.4}, sources named {:.4} (or a twin {:.4}), \
             word F1 {:.4} ({} right, {} wrong, {} missed), false: {} of one or two sources, {} of three, \
             {} of {} plain ({:.3} %)",
            self.recall(),
            self.n_found,
            self.n_quilts,
            self.n_japanese_found,
            self.n_japanese,
            self.precision(),
            self.named(),
            share(self.n_named_or_twin, self.n_sources),
            self.word_f1(),
            self.n_words_right,
            self.n_words_wrong,
            self.n_words_missed,
            self.false_of_two.len(),
            self.false_of_three.len(),
            self.false_plain.len(),
            self.n_plain,
            100.0 * self.false_plain_share(),
        );
        print_list("of one or two sources", &self.false_of_two);
        print_list("of three sources", &self.false_of_three);
        print_list("plain", &self.false_plain);
    }
}

/// The figures of `verdicts` (folded) on `stitched` and the plain texts.
fn measured(collection: &Collection, stitched: &[Stitched], verdicts: &[Verdict], settings: &Settings) -> Figures {
    let groups = Groups::of(verdicts);
    let verdicts = by_id(verdicts);
    let called = |id: &str| verdicts.get(id).and_then(|verdict| verdict.quilt.as_ref());
    let told = |id: &str| {
        let sources = called(id).map_or(&[][..], |quilt| &quilt.sources);
        format!("{id}: {:?}", sources.iter().map(|source| source.of.as_str()).collect::<Vec<_>>())
    };
    let plain = collection.plain.iter().map(Input::id);
    let mut figures = Figures {
        n_plain: collection.plain.len(),
        false_plain: plain.filter(|id| called(id).is_some()).map(told).collect(),
        ..Figures::default()
    };
    let inputs: Vec<Input> = stitched.iter().map(Stitched::input).collect();
    let words =
        super::each_signed(&inputs, settings, |signed| (signed.document.text.clone(), signed.text.words.spans.clone()));
    for (text, words) in stitched.iter().zip(words) {
        if !text.is_quilt() {
            if called(&text.id).is_some() {
                let n_sources = text.passages.len();
                let list = if n_sources < 3 { &mut figures.false_of_two } else { &mut figures.false_of_three };
                list.push(told(&text.id));
            }
            continue;
        }
        let quilt = called(&text.id);
        figures.n_quilts += 1;
        figures.n_found += usize::from(quilt.is_some());
        figures.n_japanese += usize::from(text.is_japanese);
        figures.n_japanese_found += usize::from(text.is_japanese && quilt.is_some());

        let said: HashSet<&str> =
            quilt.iter().flat_map(|quilt| &quilt.sources).map(|source| groups.head(&source.of)).collect();
        for passage in &text.passages {
            let is_named = said.contains(groups.head(&passage.of));
            let twins = collection.twins.get(&passage.of);
            let has_twin = twins.is_some_and(|twins| twins.iter().any(|twin| said.contains(groups.head(twin))));
            figures.n_sources += 1;
            figures.n_named += usize::from(is_named);
            figures.n_named_or_twin += usize::from(is_named || has_twin);
        }

        let (visible, spans) = words.expect("plain text is read");
        let passages = text.passages_of_words(&visible, &spans);
        let truth: HashSet<(usize, &str)> = passages
            .iter()
            .enumerate()
            .map(|(word, &passage)| (word, groups.head(&text.passages[passage].of)))
            .collect();
        let mut said: HashSet<(usize, &str)> = HashSet::new();
        for source in quilt.iter().flat_map(|quilt| &quilt.sources) {
            for patch in &source.spans {
                let first = spans.partition_point(|span| span.start < patch.start);
                let end = spans.partition_point(|span| span.start < patch.end);
                said.extend((first..end).map(|word| (word, groups.head(&source.of))));
            }
        }
        let n_right = truth.intersection(&said).count();
        figures.n_words_right += n_right;
        figures.n_words_wrong += said.len() - n_right;
        figures.n_words_missed += truth.len() - n_right;
    }
    figures
}

/// An order of arrival.
#[derive(Clone, Copy, Debug)]
enum Order {
    SourcesFirst,
    QuiltsFirst,
}

fn arrivals(collection: &Collection, stitched: &[Stitched], order: Order) -> Vec<Input> {
    let stitched = stitched.iter().map(Stitched::input);
    let plain = collection.plain.iter().cloned();
    match order {
        Order::SourcesFirst => plain.chain(stitched).collect(),
        Order::QuiltsFirst => stitched.chain(plain).collect(),
    }
}

/// Folded verdicts on a collection in an order.
fn streamed(collection: &Collection, stitched: &[Stitched], order: Order, settings: &Settings) -> Vec<Verdict> {
    let inputs = arrivals(collection, stitched, order);
    let ids: Vec<String> = inputs.iter().map(|input| input.id().to_owned()).collect();
    let events = judged(inputs, settings);
    let verdicts = folded(&events);
    println!("{order:?}: {} events on {} documents", events.len(), verdicts.len());
    super::assert_complete(ids, &verdicts);
    verdicts
}

#[test]
fn quilts_are_told_and_their_sources_named() {
    let collection = collection(4, Servers::True);
    if collection.stitched.is_empty() {
        return;
    }
    let settings = Settings::default();
    for order in [Order::SourcesFirst, Order::QuiltsFirst] {
        let verdicts = streamed(&collection, &collection.stitched, order, &settings);
        let figures = measured(&collection, &collection.stitched, &verdicts, &settings);
        figures.print(&format!("quilts, {order:?}"));
        assert!(figures.recall() >= 0.99, "{order:?}: recall {}", figures.recall());
        assert!(figures.precision() >= 0.99, "{order:?}: precision {}", figures.precision());
        assert!(figures.named() >= 0.97, "{order:?}: sources named {}", figures.named());
        assert!(figures.word_f1() >= 0.95, "{order:?}: word F1 {}", figures.word_f1());
        assert!(figures.false_of_two.is_empty(), "{order:?}: {:?}", figures.false_of_two);
        assert!(figures.false_plain_share() < 0.0005, "{order:?}: {:?}", figures.false_plain);
    }
}

/// Nobody is held to this: it shows how much the servers tell.
#[test]
fn quilts_without_known_servers_are_measured_too() {
    if !super::is_full() {
        return;
    }
    let (collection, settings) = (collection(1, Servers::Own), Settings::default());
    for order in [Order::SourcesFirst, Order::QuiltsFirst] {
        let verdicts = streamed(&collection, &collection.stitched, order, &settings);
        let figures = measured(&collection, &collection.stitched, &verdicts, &settings);
        figures.print(&format!("quilts, every text its own server, {order:?}"));
        assert!(figures.recall() >= 0.98, "{order:?}: recall {}", figures.recall());
        assert!(figures.false_of_two.is_empty(), "{order:?}: {:?}", figures.false_of_two);
    }
}

#[test]
fn reworded_quilts_are_told() {
    let collection = collection(4, Servers::True);
    if collection.stitched.is_empty() {
        return;
    }
    let settings = Settings::default();
    let reworded: Vec<Stitched> = collection.stitched.iter().map(Stitched::reworded).collect();
    let orders = [Order::SourcesFirst, Order::QuiltsFirst];
    for &order in if super::is_full() { &orders[..] } else { &orders[..1] } {
        let verdicts = streamed(&collection, &reworded, order, &settings);
        let figures = measured(&collection, &reworded, &verdicts, &settings);
        figures.print(&format!("every tenth word replaced, {order:?}"));
        assert!(figures.recall() >= 0.93, "{order:?}: recall {}", figures.recall());
        assert!(figures.false_of_two.is_empty(), "{order:?}: {:?}", figures.false_of_two);
    }
}

/// Recall and precision of a class against the exhaustive answer, both folded. Of mirrors the copies count: of two texts one
/// of which is part of the other, a stream can tell the later one alone.
fn agreement(stream: &[Verdict], exact: &[Verdict], class: Class) -> (f64, f64) {
    let is_one = |verdict: &Verdict| is(verdict, class) && (class != Class::Mirror || super::copied(verdict).is_some());
    let ids = |verdicts: &[Verdict]| -> HashSet<String> {
        verdicts.iter().filter(|verdict| is_one(verdict)).map(|verdict| verdict.id.clone()).collect()
    };
    let (stream, exact) = (ids(stream), ids(exact));
    let n_both = stream.intersection(&exact).count();
    (share(n_both, exact.len()), share(n_both, stream.len()))
}

#[test]
fn the_stream_tends_to_the_exact_answer() {
    let collection = collection(20, Servers::True);
    if collection.stitched.is_empty() {
        return;
    }
    let settings = Settings::default();
    for order in [Order::SourcesFirst, Order::QuiltsFirst] {
        let stream = streamed(&collection, &collection.stitched, order, &settings);
        let exact = folded(&judged_exactly(arrivals(&collection, &collection.stitched, order), &settings));
        measured(&collection, &collection.stitched, &exact, &settings).print(&format!("exact, {order:?}"));
        super::assert_complete(stream.iter().map(|verdict| verdict.id.clone()), &exact);
        for class in [Class::Quilt, Class::Mirror] {
            let (recall, precision) = agreement(&stream, &exact, class);
            println!("{class:?} against exact, {order:?}: recall {recall:.4}, precision {precision:.4}");
            assert!(recall >= 0.99 && precision >= 0.99, "{class:?}, {order:?}: {recall:.4}, {precision:.4}");
        }
        assert!(exact.iter().any(|verdict| is(verdict, Class::Quilt)), "nothing to compare");
    }
}

/// A change of the rules.
type Rule = fn(&mut Settings);

/// The paper's rule, then each of ours added to those before it.
#[test]
fn each_rule_beyond_the_paper_is_measured() {
    if !super::is_full() {
        return;
    }
    let collection = collection(4, Servers::True);
    let mut settings = super::exact::paper();
    // All grams of a corpus of one domain are more than its share, which is another question.
    settings.store.share_max = 1.0;
    let rules: [(&str, Rule); 5] = [
        ("the paper's", |_| ()),
        ("12 grams for each source, 30 unspaced", |settings| {
            (settings.quilt.source_grams_min, settings.quilt.source_grams_min_unspaced) = (12, 30);
        }),
        ("no quilts as sources", |settings| settings.quilt.quilts_are_sources = false),
        ("winnowed", |settings| {
            settings.grams = Settings::default().grams;
            (settings.quilt.source_grams_min, settings.quilt.source_grams_min_unspaced) = (2, 5);
        }),
        ("bridged: the default", |settings| *settings = Settings::default()),
    ];
    let mut all = Vec::new();
    for (rule, add) in rules {
        add(&mut settings);
        let verdicts = streamed(&collection, &collection.stitched, Order::SourcesFirst, &settings);
        let figures = measured(&collection, &collection.stitched, &verdicts, &settings);
        figures.print(rule);
        all.push(figures);
    }
    assert!(all[0].false_plain.len() > 10 * all[4].false_plain.len(), "what is it all for?");
}

/// Texts that have passages in common as people write them, each on a server of its own: newsgroups without their headers, where everybody
/// quotes everybody, news agency reports, and Japanese articles with columns that come again. Without `full`, a part that holds
/// whole threads.
fn natural(set: &str) -> Vec<Input> {
    const PART: [&str; 4] = ["/sci.crypt/", "/alt.atheism/", "/movie-enter-", "/it-life-hack-"];
    let wanted = |text: &Text| super::is_full() || PART.iter().any(|part| text.id.contains(part));
    let page = |text: Text| {
        let body = text.text.split_once("\n\n").map(|(_, body)| body).filter(|_| set.contains("newsgroups"));
        text_page(&text.id, None, body.unwrap_or(&text.text))
    };
    corpora::texts(set).into_iter().filter(wanted).map(page).collect()
}

/// Where passages are shared as they come, most of what is called a quilt has its third and fourth source for a line or two, and what
/// a sample of the grams and a few of their owners tell of so little is not what all tell. So this is no bar for the class, and
/// only says that it gets no worse.
#[test]
fn natural_reuse_is_told_much_as_exactly() {
    let settings = Settings::default();
    let (mut n_stream, mut n_exact, mut n_both) = (0, 0, 0);
    for set in ["text_20newsgroups", "text_livedoor_ja", "text_reuters21578"] {
        let inputs = natural(set);
        let quilts = |verdicts: Vec<Verdict>| -> HashSet<String> {
            verdicts.into_iter().filter(|verdict| is(verdict, Class::Quilt)).map(|verdict| verdict.id).collect()
        };
        let stream = quilts(folded(&judged(inputs.clone(), &settings)));
        let exact = quilts(judged_exactly(inputs, &settings));
        let both = stream.intersection(&exact).count();
        println!("{set}: {} quilts in the stream, {} exactly, {both} in both", stream.len(), exact.len());
        (n_stream, n_exact, n_both) = (n_stream + stream.len(), n_exact + exact.len(), n_both + both);
    }
    let (recall, precision) = (share(n_both, n_exact), share(n_both, n_stream));
    println!("natural reuse against exact: recall {recall:.3}, precision {precision:.3}");
    assert!(recall >= 0.65 && precision >= 0.65, "{recall:.3}, {precision:.3}");
}

/// What the store needs for all texts of the corpus: at a half, a quarter and an eighth of it old entries give way.
const NEEDED_BYTES: usize = 192 << 20;

#[test]
fn quilts_decline_with_the_memory() {
    if !super::is_full() {
        return;
    }
    let collection = collection(1, Servers::True);
    let mut recalls = Vec::new();
    for part in [1, 2, 4, 8] {
        let mut settings = super::with_memory(NEEDED_BYTES / part);
        // Two thirds of the texts are one newspaper's.
        settings.store.share_max = 1.0;
        for order in [Order::SourcesFirst, Order::QuiltsFirst] {
            let verdicts = streamed(&collection, &collection.stitched, order, &settings);
            let figures = measured(&collection, &collection.stitched, &verdicts, &settings);
            figures.print(&format!("1/{part} of the memory, {order:?}"));
            assert!(figures.precision() >= 0.9, "less memory finds less, and nothing else: {}", figures.precision());
            recalls.push(figures.recall());
        }
    }
    assert!(recalls[..2].iter().all(|&recall| recall >= 0.99), "{NEEDED_BYTES} bytes are enough: {recalls:?}");
}

/// Five made texts of 30 words, and a text of eight words from each of the first `n`.
fn made_collection(n: usize) -> Collection {
    let plain =
        |number: u64| text_page(&format!("plain/{number}"), None, &super::articles::sentences(number, 0..3).join(" "));
    let passage = |number: u64| Passage {
        of: format!("plain/{number}"),
        // White space that reading collapses.
        text: super::articles::sentence(number, 1).split(' ').take(8).collect::<Vec<_>>().join("  "),
    };
    let passages = (0..n as u64).map(passage).collect();
    let stitched = vec![Stitched { id: "quilt".into(), is_japanese: false, passages }];
    Collection { stitched, plain: (0..5).map(plain).collect(), twins: HashMap::new() }
}

#[test]
fn made_quilts_have_the_figures_known_by_hand() {
    use super::made::{copy, original, quilt};
    let settings = Settings::default();
    let collection = made_collection(4);
    let measured = |verdicts: &[Verdict]| measured(&collection, &collection.stitched, verdicts, &settings);
    // In the visible text, with one space between words and one line feed between passages.
    let mut start = 0;
    let mut span = |passage: &Passage| {
        let len = passage.text.replace("  ", " ").len();
        start += len + 1;
        Span::new(start - len - 1, start - 1)
    };
    let spans: Vec<Span> = collection.stitched[0].passages.iter().map(&mut span).collect();
    let sources = ["plain/0", "plain/1", "plain/2", "plain/3"];
    let right: Vec<(&str, Span)> = sources.into_iter().zip(spans.iter().copied()).collect();

    let perfect = measured(&[quilt("quilt", &right), original("plain/0")]);
    assert_eq!((perfect.recall(), perfect.precision(), perfect.named(), perfect.word_f1()), (1.0, 1.0, 1.0, 1.0));
    assert_eq!((perfect.n_words_right, perfect.n_plain, perfect.false_plain_share()), (32, 5, 0.0));

    // The fourth source is a copy of plain/4, which is named in its place.
    let mut by_head = right.clone();
    by_head[3].0 = "plain/4";
    let named = measured(&[copy("plain/3", "plain/4"), quilt("quilt", &by_head)]);
    assert_eq!((named.named(), named.word_f1()), (1.0, 1.0));
    let stranger = measured(&[quilt("quilt", &by_head)]);
    assert_eq!((stranger.named(), stranger.word_f1()), (0.75, 0.75), "8 of 32 words are given to the wrong source");

    let missed = measured(&[original("quilt"), quilt("plain/1", &right[..1])]);
    assert_eq!((missed.recall(), missed.precision(), missed.named(), missed.word_f1()), (0.0, 0.0, 0.0, 0.0));
    assert_eq!((missed.false_plain.len(), missed.n_words_missed), (1, 32));

    // The last source is not named, and the third is said to go on to the end.
    let mut wide = right[..3].to_vec();
    wide[2].1.end = spans[3].end;
    let wide = measured(&[quilt("quilt", &wide)]);
    assert_eq!((wide.n_words_right, wide.n_words_wrong, wide.n_words_missed), (24, 8, 8));
    assert_eq!((wide.named(), wide.word_f1()), (0.75, 0.75));

    let pair = made_collection(2);
    let called = super::quilts::measured(&pair, &pair.stitched, &[quilt("quilt", &right[..2])], &settings);
    assert_eq!((called.n_quilts, called.false_of_two.len(), called.precision()), (0, 1, 0.0));
}

#[test]
fn perfect_verdicts_on_real_quilts_measure_as_perfect() {
    let (settings, collection) = (Settings::default(), collection(4, Servers::True));
    let inputs: Vec<Input> = collection.stitched.iter().map(Stitched::input).collect();
    let words = super::each_signed(&inputs, &settings, |signed| signed.document.text.len());
    let verdict = |(text, n_bytes): (&Stitched, Option<usize>)| {
        // Passages are lines of the visible text: only its white space at line ends is left out.
        let mut start = 0;
        let mut sources = Vec::new();
        for passage in &text.passages {
            let len = passage.text.split_whitespace().collect::<Vec<_>>().join(" ").len();
            sources.push((passage.of.as_str(), Span::new(start, start + len)));
            start += len + 1;
        }
        assert_eq!(sources.last().map(|(_, span)| span.end as usize), n_bytes, "{}", text.id);
        if text.is_quilt() { super::made::quilt(&text.id, &sources) } else { super::made::original(&text.id) }
    };
    let verdicts: Vec<Verdict> = collection.stitched.iter().zip(words).map(verdict).collect();
    let figures = measured(&collection, &collection.stitched, &verdicts, &settings);
    figures.print("perfect verdicts");
    assert_eq!((figures.recall(), figures.precision(), figures.named(), figures.word_f1()), (1.0, 1.0, 1.0, 1.0));
}

#[test]
fn agreement_counts_both_sides() {
    use super::made::{copy, original};
    let exact = [original("a"), copy("b", "a"), copy("c", "a"), original("d"), copy("e", "a"), copy("f", "a")];
    let stream = [original("a"), copy("b", "a"), original("c"), copy("d", "a"), copy("e", "a"), copy("f", "a")];
    assert_eq!(agreement(&stream, &exact, Class::Mirror), (0.75, 0.75));
    assert_eq!(agreement(&stream, &exact, Class::Quilt), (1.0, 1.0), "nothing to find, nothing said");
}
