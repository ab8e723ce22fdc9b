//! How fast one core signs, by step, beside two references over the same bytes in the same run.
//!
//! Machines are noisy, so every figure is thread CPU time, and what counts is the ratio to the references of the same
//! round: a `memchr2` pass that visits every `<` and `>`, and the bare tokenizer pass. The real corpora are used
//! where they are there (`../shared/data`, or what `SEAMRIPPER_DATA` names), the bundled pages and mails otherwise.
//!
//! `SEAMRIPPER_BENCH_ROUNDS=3 make bench` is a quick look.

#[path = "scan/corpora.rs"]
mod corpora;

use corpora::{Corpus, corpora};
use cpu_time::ThreadTime;
use seamripper::config::Settings;
use seamripper::document::{Format, Kind, Reader, charset, html};
use seamripper::pipeline;
use seamripper::signature::{Signer, keyed::Keys};
use seamripper::text::Cutter;
use std::hint::black_box;
use std::time::Duration;

/// As in the binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let rounds = std::env::var("SEAMRIPPER_BENCH_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(10);
    println!("one core, thread CPU time, {rounds} rounds: median (and range)\n");
    for corpus in corpora() {
        measure(&corpus, rounds);
    }
}

/// What one step took in a round.
type Step = fn(&Round) -> Duration;

/// CPU time per step in one round.
#[derive(Clone, Copy, Default)]
struct Round {
    brackets: Duration,
    tokens: Duration,
    read: Duration,
    cut: Duration,
    sign: Duration,
}

impl Round {
    fn all(&self) -> Duration {
        self.read + self.cut + self.sign
    }
}

fn measure(corpus: &Corpus, rounds: usize) {
    let settings = Settings::default();
    let keys = Keys::derive(settings.secret.reveal());
    let mut reader = Reader::new(settings.limits.clone(), keys);
    let mut cutter = Cutter::new(&settings, keys);
    let mut signer = Signer::new(&settings, pipeline::lexicon::load(&settings).expect("the built-in lexicons load"));
    let sources: Vec<String> =
        corpus.records.iter().map(|record| charset::decode(&record.body, None).text.into_owned()).collect();
    let n_bytes: usize = corpus.records.iter().map(|record| record.body.len()).sum();

    let mut measured = Vec::new();
    let mut n_signed = 0;
    // The first round warms caches and buffers and is not counted.
    for round in 0..=rounds {
        let mut times = Round::default();
        for (record, source) in corpus.records.iter().zip(&sources) {
            let start = ThreadTime::now();
            black_box(memchr::memchr2_iter(b'<', b'>', &record.body).count());
            times.brackets += start.elapsed();
            let start = ThreadTime::now();
            let mut tokens = html::tokens::Tokens::new(source);
            while let Some(token) = tokens.next() {
                black_box(&token);
            }
            times.tokens += start.elapsed();

            let start = ThreadTime::now();
            let document = reader.read(record).unwrap_or_else(|rejection| panic!("{rejection}"));
            times.read += start.elapsed();
            let start = ThreadTime::now();
            let text = cutter.cut(document);
            times.cut += start.elapsed();
            let start = ThreadTime::now();
            let signatures = signer.sign(document, text);
            times.sign += start.elapsed();
            n_signed += usize::from(!signatures.shown.terms.is_empty());
        }
        if round > 0 {
            measured.push(times);
        }
    }
    assert!(n_signed > corpus.records.len() * rounds / 2, "{}: this must measure real work", corpus.name);
    report(corpus, n_bytes, &measured);
}

fn report(corpus: &Corpus, n_bytes: usize, measured: &[Round]) {
    let n = corpus.records.len();
    let is_mail = corpus.records[0].format == Format::Mail;
    let kind = if is_mail { Kind::Email } else { Kind::Page };
    println!(
        "{}: {n} documents, {:.1} MB, mean {:.1} KB",
        corpus.name,
        n_bytes as f64 / 1e6,
        n_bytes as f64 / 1e3 / n as f64
    );
    println!("  {:<22}{:>10}{:>18}{:>12}{:>16}", "step", "us/doc", "range", "MB/s", "of memchr2");
    let brackets = median(measured.iter().map(|round| round.brackets.as_secs_f64()).collect());
    let steps: [(&str, Step); 6] = [
        ("memchr2 over < and >", |round| round.brackets),
        ("bare tokenizer", |round| round.tokens),
        ("read", |round| round.read),
        ("cut", |round| round.cut),
        ("sign", |round| round.sign),
        ("all", Round::all),
    ];
    for (name, step) in steps {
        let seconds: Vec<f64> = measured.iter().map(|round| step(round).as_secs_f64()).collect();
        let per_document = |seconds: f64| seconds * 1e6 / n as f64;
        let (low, high) = seconds.iter().fold((f64::MAX, 0f64), |(low, high), s| (low.min(*s), high.max(*s)));
        let middle = median(seconds);
        println!(
            "  {name:<22}{:>10.1}{:>18}{:>12.0}{:>16.3}",
            per_document(middle),
            format!("{:.1} to {:.1}", per_document(low), per_document(high)),
            n_bytes as f64 / 1e6 / middle,
            brackets / middle,
        );
    }
    let all = median(measured.iter().map(|round| round.all().as_secs_f64()).collect());
    let unit = if kind == Kind::Email { "mails" } else { "pages" };
    println!("  {:.0} {unit}/s, {:.1} MB/s on one core", n as f64 / all, n_bytes as f64 / 1e6 / all);
    if kind == Kind::Page {
        println!("  at this rate per byte: {:.0} pages of 32 KB per second", n_bytes as f64 / all / 32_200.0);
    }
    println!();
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
