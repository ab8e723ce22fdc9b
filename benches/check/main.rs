//! How long `POST /v1/check` takes: a run on the embedded bus under a steady load, and with many checks at once.
//!
//! The load is open: checks are sent at their times whether or not earlier ones are answered, and a check takes from the moment at
//! which it was to be sent until its answer is there, so that a server which stalls is not asked more kindly. Who asks is one thread
//! with requests that were made before, and its CPU time stands beside the run's: both share the machine. The aim is p99 under 50 ms at
//! 2,000 checks/s on two cores. `SEAMRIPPER_BENCH_RATE`, `SEAMRIPPER_BENCH_SECONDS` and `SEAMRIPPER_BENCH_CORPUS=mails` change it.

#[path = "../scan/corpora.rs"]
mod corpora;
mod load;
mod server;
#[path = "../bus/stat.rs"]
mod stat;

use corpora::Corpus;
use load::{Answers, Checks};
use server::Server;
use std::time::Duration;

/// As in the binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Documents that are learnt before anything is measured: caches are warm, and there is something to be a copy of.
const N_LEARNT: usize = 5_000;
/// Asked at once, again and again.
const N_AT_ONCE: usize = 1_000;
const N_ROUNDS: usize = 10;

fn main() {
    let (rate, seconds) = (setting("SEAMRIPPER_BENCH_RATE", 2_000), setting("SEAMRIPPER_BENCH_SECONDS", 20));
    let is_asked =
        |corpus: &Corpus| std::env::var("SEAMRIPPER_BENCH_CORPUS").map_or(true, |wanted| corpus.name.contains(&wanted));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    println!("one run on the embedded bus and who asks it, {cores} cores\n");
    for corpus in corpora::every([1, 1, 0]).into_iter().filter(is_asked) {
        let (server, n) = (Server::start(), corpus.records.len());
        println!("{n} {} of {} bytes", corpus.name, corpus.n_bytes() / n);
        let mut checks = Checks::new(&corpus, &server);
        let learnt = checks.at_once(true, 50, N_LEARNT.div_ceil(50));
        assert!(learnt.n_good == learnt.n, "{} of {} were learnt", learnt.n_good, learnt.n);
        for learn in [false, true] {
            let (name, lasts) = (if learn { "learn=true" } else { "learn=false" }, Duration::from_secs(seconds as u64));
            let answers = server.measured(|| checks.steadily(learn, rate, lasts));
            report(&format!("{name}, {rate} checks/s"), answers);
            let answers = server.measured(|| checks.at_once(learn, N_AT_ONCE, N_ROUNDS));
            report(&format!("{name}, {N_AT_ONCE} at once, {N_ROUNDS} times"), answers);
        }
        println!();
        server.stop();
    }
}

fn setting(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

fn report(name: &str, (answers, cost): (Answers, server::Cost)) {
    let Answers { n, n_good, mut took, elapsed } = answers;
    took.sort_unstable();
    let at = |share: f64| took[((took.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
    let per = |cpu: Duration| cpu.as_secs_f64() * 1e6 / n as f64;
    println!(
        "  {name}: p50 {:.1} ms, p99 {:.1} ms, longest {:.1} ms; {:.0} answers/s, {} of {n} not answered with a verdict; \
         CPU per check: run {:.0} us, who asks {:.0} us",
        at(0.5),
        at(0.99),
        at(1.0),
        n as f64 / elapsed.as_secs_f64(),
        n - n_good,
        per(cost.run),
        per(cost.asking),
    );
    let mut threads = cost.threads;
    threads.sort_by_key(|(_, cpu)| std::cmp::Reverse(*cpu));
    let shares = threads.iter().take(6).map(|(name, cpu)| format!("{name} {:.0} us", per(*cpu)));
    println!("    of the run's: {}", shares.collect::<Vec<_>>().join(", "));
}
