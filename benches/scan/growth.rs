//! The whole pipeline with stores from empty to millions of documents: costs by step, throughput, bytes.

use crate::corpora::Corpus;
use crate::fold::{Fold, Times, arriver, estrange};
use crate::made::Made;
use crate::{median, resident, us_each};
use cpu_time::ProcessTime;
use seamripper::config::Settings;
use seamripper::corpus::{Entry, Tally};
use seamripper::pipeline::scan::Signed;
use seamripper::pipeline::sign::in_order;
use seamripper::store::Plan;
use std::convert::Infallible;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

/// No store is larger.
const MEMORY_MAX: usize = 8 << 30;

/// What every corpus cost with one store.
struct Costs {
    filled: String,
    by_corpus: Vec<Vec<Times>>,
}

pub(crate) fn report(corpora: &[Corpus], rounds: usize, fill: f64) {
    let mut all = Vec::new();
    for (made, n) in [(Made::Pages, 0.0), (Made::Pages, 1e5), (Made::Pages, 1e6), (Made::Short, 5e6)] {
        let n = (n * fill) as u64;
        let name = if made == Made::Pages { "pages" } else { "short documents" };
        let (mut fold, filled) = filled(made, n, name);
        println!(
            "  {:<22}{:>8}{:>8}{:>8}{:>8}{:>8}{:>12}{:>10}{:>8}   us/doc",
            "", "sign", "settle", "weigh", "judge", "all", "fold/sign", "docs/s", "MB/s"
        );
        let (mut by_corpus, mut arriver) = (Vec::new(), arriver());
        for corpus in corpora {
            // The first round warms up and is not counted.
            let times: Vec<Times> = (0..=rounds)
                .map(|round| fold.pass(&corpus.records, &mut arriver, 1000 * by_corpus.len() + round + 1))
                .skip(1)
                .collect();
            print(corpus, &times);
            by_corpus.push(times);
        }
        assert!(fold.n_verdicts as u64 >= n, "{} verdicts: this must measure real work", fold.n_verdicts);
        assert!(n == 0 || fold.store.census().departures.n_evicted > 0, "this must measure a full store");
        for corpus in corpora {
            threads(corpus, &mut fold);
        }
        bytes(&fold);
        all.push(Costs { filled, by_corpus });
    }
    growth(corpora, &all);
    mirror_bytes(corpora);
}

/// A store for `n` made documents that more have gone through, so that every further one makes another give way, as in a run after
/// its first hours; and what to call it.
fn filled(made: Made, n: u64, name: &str) -> (Fold, String) {
    let mut settings = Settings::default();
    let needed = settings.store.memory as f64 / Plan::divided(settings.store.memory, 0).n_prototypes as f64 * n as f64;
    if n > 0 {
        settings.store.memory = (needed as usize).clamp(64 << 20, MEMORY_MAX);
    }
    let (before, start) = (resident(), ProcessTime::now());
    let mut fold = Fold::new(&settings);
    let mut times = Times::default();
    let n_folded = if n > 0 { n.max(fold.store.plan().n_prototypes as u64 * 21 / 20) } else { 0 };
    for first in (0..n_folded).step_by(256) {
        let batch: Vec<_> = (first..n_folded.min(first + 256)).map(|number| made.document(number)).collect();
        fold.fold(&batch, &mut times);
    }
    let census = fold.store.census();
    let filled = format!("{n} {name}");
    println!(
        "store of {:.2} GiB for {filled}, {n_folded} folded in {:.0} s: {} held, {} gave way, resident {:.2} GiB",
        settings.store.memory as f64 / (1_u64 << 30) as f64,
        start.elapsed().as_secs_f64(),
        census.n_prototypes,
        census.departures.n_evicted,
        resident().saturating_sub(before) as f64 / (1_u64 << 30) as f64,
    );
    (fold, filled)
}

fn print(corpus: &Corpus, times: &[Times]) {
    let n = corpus.records.len();
    let parts: [fn(&Times) -> Duration; 5] = [|t| t.sign, |t| t.settle, |t| t.weigh, |t| t.judge, Times::all];
    let [sign, settle, weigh, judge, all] = parts.map(|part| us_each(times, n, part));
    let ratio = median(times.iter().map(|t| t.fold().as_secs_f64() / t.sign.as_secs_f64()).collect());
    println!(
        "  {:<22}{sign:>8.1}{settle:>8.1}{weigh:>8.1}{judge:>8.1}{all:>8.1}{ratio:>12.3}{:>10.0}{:>8.1}",
        corpus.name,
        1e6 / all,
        corpus.n_bytes() as f64 / n as f64 / all,
    );
}

/// By the clock, with one and two signing threads beside the one that folds, as in a scan.
fn threads(corpus: &Corpus, fold: &mut Fold) {
    let n = corpus.records.len();
    for n_threads in [1, 2] {
        let (start, cpu) = (Instant::now(), ProcessTime::now());
        let read = |with: seamripper::corpus::With<'_>| {
            for (number, record) in corpus.records.iter().enumerate() {
                let place = format!("threads-{n_threads}#{number}");
                if with(Ok(Entry { place, record: record.clone() })).is_break() {
                    break;
                }
            }
            Tally::default()
        };
        let round = corpus.name.len() * 100_000 + n_threads;
        let worker = || {
            let mut arriver = arriver();
            move |entry| arriver.sign(entry)
        };
        let mut times = Times::default();
        let done = in_order(
            read,
            NonZeroUsize::new(n_threads).expect("not 0"),
            worker,
            |place| panic!("{place}"),
            |signed| {
                let batch: Vec<_> = signed
                    .into_iter()
                    .filter_map(|signed| match signed {
                        Signed::Arrival(mut arrival, _) => {
                            estrange(&mut arrival, round);
                            Some(*arrival)
                        }
                        _ => None,
                    })
                    .collect();
                fold.fold(&batch, &mut times);
                Ok::<_, Infallible>(())
            },
        );
        let Ok(_tally) = done;
        let (wall, cpu) = (start.elapsed().as_secs_f64(), cpu.elapsed().as_secs_f64());
        println!(
            "  {:<22}{n_threads} signing thread{}: {:>6.0} docs/s, {:>6.1} MB/s by the clock, {:.2} cores busy",
            corpus.name,
            if n_threads == 1 { " " } else { "s" },
            n as f64 / wall,
            corpus.n_bytes() as f64 / 1e6 / wall,
            cpu / wall,
        );
    }
}

fn bytes(fold: &Fold) {
    let plan = fold.store.plan();
    let per_document = |bytes: usize| bytes as f64 / plan.n_prototypes as f64;
    let tables: Vec<String> =
        plan.tables().iter().map(|(name, bytes)| format!("{name} {:.0}", per_document(*bytes))).collect();
    println!("  bytes of the plan for each of {} documents: {}\n", plan.n_prototypes, tables.join(", "));
}

/// How the cost grows from the smallest filled store to the largest.
fn growth(corpora: &[Corpus], all: &[Costs]) {
    println!("growth of the cost per document, from the store of {} on", all[1].filled);
    for (number, corpus) in corpora.iter().enumerate() {
        let n = corpus.records.len();
        let cost = |costs: &Costs, part: fn(&Times) -> Duration| us_each(&costs.by_corpus[number], n, part);
        for costs in &all[2..] {
            println!(
                "  {:<22}{:<28}match and judge {:.2}, all {:.2}",
                corpus.name,
                costs.filled,
                cost(costs, Times::fold) / cost(&all[1], Times::fold),
                cost(costs, Times::all) / cost(&all[1], Times::all),
            );
        }
    }
    println!();
}

/// What settles mirrors takes, of real documents.
fn mirror_bytes(corpora: &[Corpus]) {
    /// The share of a line that is filled (`Plan`).
    const FILL: f64 = 0.6;
    println!("bytes for each stored document of what settles mirrors, without names and places");
    for corpus in corpora {
        let mut fold = Fold::new(&Settings::default());
        fold.pass(&corpus.records, &mut arriver(), 0);
        let n = fold.store.census().n_prototypes;
        let bytes = fold.store.mirror_bytes();
        let [proofs, digests, imatch, minhash] =
            [bytes.proofs, bytes.digests, bytes.imatch, bytes.minhash].map(|bytes| bytes as f64 / n as f64);
        let keys = digests + imatch + minhash;
        println!(
            "  {:<22}{n:>6} stored of {:>6}: proof {proofs:.0}, digests {digests:.0}, imatch {imatch:.0}, minhash \
             {minhash:.0}: {:.0}, with the free places of their lines {:.0}",
            corpus.name,
            corpus.records.len(),
            proofs + keys,
            proofs + keys / FILL,
        );
    }
    println!();
}
