//! What a snapshot costs the stream: the longest stop, the time to write and to read it, its size, and memory.
//!
//! A store of each size is filled with made pages until old ones give way, then a snapshot is written as `run` writes it, a slice
//! between two batches, while more pages are folded. `SEAMRIPPER_BENCH_GIB=1,4` are the sizes; a store of 4 GiB takes some minutes
//! to fill. The files go to `SEAMRIPPER_BENCH_FOLDER`, or below `target/`.

#[path = "scan/made.rs"]
#[allow(dead_code, reason = "shared with the other benchmark")]
mod made;

use cpu_time::ProcessTime;
use made::Made;
use seamripper::config::Settings;
use seamripper::pipeline::run::fold::Fold;
use seamripper::pipeline::run::scheme::Scheme;
use seamripper::pipeline::run::snapshots::{self, Snapshots};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// As in the binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Documents that are folded together.
const BATCH: u64 = 256;
/// So much of a snapshot is written between two batches, as in `run`.
const SLICE_BYTES: usize = 16 << 20;
const THREADS: usize = 2;

fn main() {
    let sizes = std::env::var("SEAMRIPPER_BENCH_GIB").unwrap_or_else(|_| "1,4".into());
    let folder = std::env::var("SEAMRIPPER_BENCH_FOLDER").unwrap_or_else(|_| env!("CARGO_TARGET_TMPDIR").into());
    let folder = tempfile::tempdir_in(folder).expect("a folder for snapshots");
    for size in sizes.split(',') {
        let gib: f64 = size.parse().expect("SEAMRIPPER_BENCH_GIB is a list of numbers");
        report((gib * (1_u64 << 30) as f64) as usize, folder.path());
    }
}

fn report(memory: usize, folder: &Path) {
    let mut settings = Settings::default();
    settings.store.memory = memory;
    settings.bus.folder = folder.join(memory.to_string());
    let before = resident();
    let scheme = Arc::new(Scheme::new(Arc::new(settings.clone())).expect("the defaults make a scheme"));
    let mut stream = Stream { fold: Fold::new(scheme), number: 0 };
    let n_max = stream.fold.filter.store().plan().n_prototypes as u64;
    let (start, cpu) = (Instant::now(), ProcessTime::now());
    while stream.number < n_max + n_max / 20 {
        stream.batch();
    }
    println!(
        "store of {:.2} GiB: {} pages folded in {:.0} s ({:.0} s of CPU), {} held, {} gave way, resident {:.3} of store.memory",
        gib(memory as u64),
        stream.number,
        start.elapsed().as_secs_f64(),
        cpu.elapsed().as_secs_f64(),
        stream.fold.filter.census().n_prototypes,
        stream.fold.filter.census().departures.n_evicted,
        resident().saturating_sub(before) as f64 / memory as f64,
    );
    let plain = stream.batches(200);
    let snapshots = Snapshots::open(&settings).expect("a folder for snapshots");
    (stream.fold.number, stream.fold.epoch) = (1, 1);
    let n_saved = stream.fold.filter.census().n_documents;

    let (start, cpu) = (Instant::now(), ProcessTime::now());
    let mut writing = snapshots.begin(&mut stream.fold).expect("a snapshot begins");
    let begin = start.elapsed();
    let (mut slices, mut batches, mut resident_max, mut n_waits) = (Vec::new(), Batches::default(), 0, 0);
    loop {
        let slice = Instant::now();
        let n_before = writing.n_bytes();
        let is_done = writing.go_on(&mut stream.fold, SLICE_BYTES).expect("there is room on the disk");
        n_waits += usize::from(writing.n_bytes() == n_before);
        slices.push(slice.elapsed());
        if is_done {
            break;
        }
        batches.add(stream.timed());
        resident_max = resident_max.max(resident());
    }
    let (n_bytes, n_early) = (writing.n_bytes(), writing.n_early_bytes());
    let written = start.elapsed();
    while !writing.is_on_disk() {
        batches.add(stream.timed());
    }
    let on_disk = start.elapsed();
    let cpu = cpu.elapsed();
    let kept = snapshots.finish(writing, 1).expect("the snapshot is put in place");
    slices.sort();
    println!(
        "  stops: begin {:.0} ms, {} slices of {:.1} ms in the middle and {:.0} ms at most, {n_waits} passed over for the disk",
        ms(begin),
        slices.len(),
        ms(slices[slices.len() / 2]),
        ms(slices[slices.len() - 1]),
    );
    println!(
        "  {:.2} GiB written in {:.1} s and on the disk after {:.1} s beside {} pages; {:.1} MiB out of turn; resident at most {:.3} of store.memory",
        gib(n_bytes),
        written.as_secs_f64(),
        on_disk.as_secs_f64(),
        batches.n * BATCH,
        n_early as f64 / (1 << 20) as f64,
        resident_max.saturating_sub(before) as f64 / memory as f64,
    );
    let folding = plain.us_each() * (batches.n * BATCH) as f64 / 1e6;
    println!(
        "  a page takes {:.0} us of CPU, made and folded; the snapshot {:.2} s beside that",
        plain.us_each(),
        cpu.as_secs_f64() - folding,
    );
    drop(stream);

    let (start, cpu) = (Instant::now(), ProcessTime::now());
    let loaded = snapshots::load(&kept[0].path, &settings).expect("the snapshot is good");
    println!(
        "  read back in {:.1} s ({:.1} s of CPU), {:.0} MB/s\n",
        start.elapsed().as_secs_f64(),
        cpu.elapsed().as_secs_f64(),
        n_bytes as f64 / 1e6 / start.elapsed().as_secs_f64(),
    );
    assert_eq!(loaded.filter.census().n_documents, n_saved, "it is the state of its beginning");
    std::fs::remove_file(&kept[0].path).expect("it was written");
}

struct Stream {
    fold: Fold,
    number: u64,
}

impl Stream {
    fn batch(&mut self) {
        let batch: Vec<_> = (self.number..self.number + BATCH).map(|number| Made::Pages.document(number)).collect();
        self.number += BATCH;
        self.fold.filter.fold(&batch, THREADS, |event| drop(std::hint::black_box(event)));
    }

    fn timed(&mut self) -> Duration {
        let cpu = ProcessTime::now();
        self.batch();
        cpu.elapsed()
    }

    fn batches(&mut self, n: usize) -> Batches {
        let mut batches = Batches::default();
        (0..n).for_each(|_| batches.add(self.timed()));
        batches
    }
}

#[derive(Default)]
struct Batches {
    n: u64,
    cpu: Duration,
}

impl Batches {
    fn add(&mut self, cpu: Duration) {
        self.n += 1;
        self.cpu += cpu;
    }

    fn us_each(&self) -> f64 {
        self.cpu.as_secs_f64() * 1e6 / (self.n * BATCH) as f64
    }
}

fn gib(n_bytes: u64) -> f64 {
    n_bytes as f64 / (1_u64 << 30) as f64
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Resident bytes of this process; 0 where the system does not say.
fn resident() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    statm.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok()).map_or(0, |pages| pages * 4096)
}
