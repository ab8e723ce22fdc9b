//! How fast one core scans: sign, settle, weigh and judge, with stores from empty to millions of documents.
//!
//! Machines are noisy, so costs are CPU time, medians of several rounds, and what counts is the ratio to what was measured
//! in the same round: match and judge beside sign, the tables beside the standard map, text to verdict beside `gaoya`.
//! The real corpora are used where they are there (`../shared/data`, or what `SEAMRIPPER_DATA` names), the bundled
//! pages and mails otherwise; stores are filled with made documents.
//!
//! `SEAMRIPPER_BENCH_ROUNDS=3` is a quicker look, and `SEAMRIPPER_BENCH_FILL=0.01` fills stores to a hundredth. In full the
//! largest store takes 8 GiB and its filling some minutes. `cargo bench --bench scan -- growth` measures a part alone: `beside`,
//! `tables` or `growth`.

mod beside;
mod corpora;
mod fold;
mod growth;
mod made;
mod tables;

use std::time::Duration;

/// As in the binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let rounds = setting("SEAMRIPPER_BENCH_ROUNDS", 5.0) as usize;
    let fill = setting("SEAMRIPPER_BENCH_FILL", 1.0);
    // Cargo adds options of its own.
    let parts: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let is_asked_for = |part: &str| parts.is_empty() || parts.iter().any(|name| name == part);
    // Before anything else has been freed: what it takes is read off the resident size.
    let gaoya_bytes = is_asked_for("beside").then(beside::gaoya_bytes);
    let corpora = corpora::corpora();
    println!("CPU time, {rounds} rounds: medians\n");
    if let Some(gaoya_bytes) = gaoya_bytes {
        beside::report(&corpora, rounds, gaoya_bytes);
    }
    if is_asked_for("tables") {
        tables::report(rounds);
    }
    if is_asked_for("growth") {
        growth::report(&corpora, rounds, fill);
    }
}

fn setting(name: &str, default: f64) -> f64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

/// The middle one.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The median of `part` over all rounds, in microseconds for each of `n` documents.
fn us_each<T>(rounds: &[T], n: usize, part: impl Fn(&T) -> Duration) -> f64 {
    median(rounds.iter().map(|round| part(round).as_secs_f64() * 1e6 / n as f64).collect())
}

/// Resident bytes of this process; 0 where the system does not say.
fn resident() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    statm.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok()).map_or(0, |pages| pages * 4096)
}
