//! A snapshot is the state of the moment in which it was begun, whatever is folded while it is written.
//!
//! The streams and the tiny stores are those of `fold.rs`, where everything gives way all the time. A snapshot that was written in
//! slices of random sizes between random batches is read into a fresh filter, which must be the filter that was saved at its
//! beginning in one go, bit for bit, and say the same from there on.

use crate::fold::{filter, line, small};
use crate::made::{Dice, stream};
use seamripper::config::Settings;
use seamripper::pipeline::filter::{Filter, extras};
use seamripper::store::Arrival;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};

/// A file that can be looked at, with room for so many bytes.
#[derive(Clone)]
pub(crate) struct Disk {
    pub(crate) bytes: Arc<Mutex<Vec<u8>>>,
    room: usize,
}

impl Disk {
    pub(crate) fn new(room: usize) -> Self {
        Self { bytes: Arc::default(), room }
    }

    pub(crate) fn boxed(&self) -> Box<dyn Write + Send> {
        Box::new(self.clone())
    }

    pub(crate) fn taken(&self) -> Vec<u8> {
        std::mem::take(&mut self.bytes.lock().unwrap())
    }
}

impl Write for Disk {
    fn write(&mut self, more: &[u8]) -> io::Result<usize> {
        let mut bytes = self.bytes.lock().unwrap();
        if bytes.len() + more.len() > self.room {
            return Err(io::ErrorKind::StorageFull.into());
        }
        bytes.write(more)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Folds `arrivals` in random batches on so many threads. Before each batch `between` does what it likes.
fn folded(
    filter: &mut Filter,
    arrivals: &[Arrival],
    n_threads: usize,
    dice: &mut Dice,
    mut between: impl FnMut(&mut Filter, &mut Dice, usize),
) -> Vec<String> {
    let (mut lines, mut rest) = (Vec::new(), arrivals);
    while !rest.is_empty() {
        between(filter, dice, arrivals.len() - rest.len());
        let (batch, after) = rest.split_at((1 + dice.below(60)).min(rest.len()));
        filter.fold(batch, n_threads, |event| lines.push(line(&event)));
        if dice.below(10) == 0 {
            filter.settle_revisions(|event| lines.push(line(&event)));
        }
        rest = after;
    }
    lines
}

fn loaded(settings: &Settings, bytes: &[u8]) -> Filter {
    let mut fresh = filter(settings);
    fresh.load(bytes).unwrap();
    fresh
}

/// A snapshot under way: what it must be, and how much of the stream was folded before it.
struct Expected {
    saved: Vec<u8>,
    position: usize,
    disk: Disk,
}

#[test]
fn a_snapshot_is_the_state_of_its_beginning() {
    let (mut n_written, mut n_abandoned, mut n_early) = (0, 0, 0);
    for (seed, memory, n_threads) in
        [(21, 1 << 20, 1), (22, 350_000, 2), (23, 350_000, 5), (24, 40_000, 1), (25, 120_000, 16), (26, 3 << 20, 2)]
    {
        let settings = small(memory);
        let arrivals = stream(seed, 900, &settings);
        let mut dice = Dice::new(seed);
        let (mut one, mut under_way, mut written) = (filter(&settings), None::<Expected>, Vec::new());
        let slice = memory / [2, 4, 8][dice.below(3)];
        folded(&mut one, &arrivals, n_threads, &mut dice, |one, dice, position| {
            let Some(expected) = under_way.take() else {
                if dice.below(3) == 0 {
                    let (saved, disk) = (one.save().unwrap(), Disk::new(usize::MAX));
                    one.begin_snapshot(&vec![("run".into(), vec![9; 3])], disk.boxed()).unwrap();
                    under_way = Some(Expected { saved, position, disk });
                }
                return;
            };
            if dice.below(30) == 0 {
                one.abandon_snapshot();
                n_abandoned += 1;
                return;
            }
            n_early += u64::from(one.snapshot_bytes().unwrap().1 > 0);
            if one.write_snapshot(1 + dice.below(slice)).unwrap() {
                written.push(expected);
                n_written += 1;
                // One right after the other.
                if dice.below(2) == 0 {
                    let (saved, disk) = (one.save().unwrap(), Disk::new(usize::MAX));
                    one.begin_snapshot(&Vec::new(), disk.boxed()).unwrap();
                    under_way = Some(Expected { saved, position, disk });
                }
            } else {
                under_way = Some(expected);
            }
        });
        for Expected { saved, position, disk } in written {
            let bytes = disk.taken();
            let mut fresh = loaded(&settings, &bytes);
            assert!(fresh.save().unwrap() == saved, "seed {seed}, begun at {position}: another state");
            let rest = &arrivals[position..arrivals.len().min(position + 200)];
            let mut again = loaded(&settings, &saved);
            let [a, b] = [&mut fresh, &mut again].map(|one| folded(one, rest, 2, &mut Dice::new(1), |_, _, _| {}));
            assert_eq!(a, b, "seed {seed}, begun at {position}");
        }
    }
    println!("{n_written} written, {n_abandoned} abandoned, lines kept early in {n_early} slices");
    assert!(n_written >= 15 && n_abandoned >= 1 && n_early > 20, "{n_written} {n_abandoned} {n_early}");
}

/// Whether a snapshot is written, abandoned or none at all: what is said is the same.
#[test]
fn a_snapshot_does_not_show_in_what_is_said() {
    let settings = small(350_000);
    let arrivals = stream(31, 700, &settings);
    let with = |snapshots: bool| {
        let mut one = filter(&settings);
        let mut n = 0;
        let mut lines = Vec::new();
        for batch in arrivals.chunks(25) {
            n += 1;
            if snapshots && n % 7 == 0 {
                one.begin_snapshot(&Vec::new(), Disk::new(usize::MAX).boxed()).unwrap();
            } else if snapshots && n % 7 != 6 && one.snapshot_bytes().is_some() {
                one.write_snapshot(30_000).unwrap();
            }
            one.fold(batch, 3, |event| lines.push(line(&event)));
        }
        one.abandon_snapshot();
        (lines, one.save().unwrap())
    };
    let (plain, beside) = (with(false), with(true));
    assert_eq!(plain.0, beside.0);
    assert!(plain.1 == beside.1);
}

/// A full disk: the snapshot fails, at its beginning or later, is abandoned, and the next one is good.
#[test]
fn a_full_disk_costs_the_snapshot_alone() {
    let settings = small(350_000);
    let arrivals = stream(32, 400, &settings);
    let mut one = filter(&settings);
    one.fold(&arrivals[..200], 2, |_| {});
    let saved = one.save().unwrap();
    for room in [0, 10, 1000, saved.len() / 2, saved.len() - 1] {
        let failed = one.save_to(&Vec::new(), Disk::new(room).boxed()).unwrap_err();
        assert_eq!(failed.kind(), io::ErrorKind::StorageFull, "room for {room}");
        assert!(one.snapshot_bytes().is_none());
    }
    let disk = Disk::new(saved.len() / 2);
    one.begin_snapshot(&Vec::new(), disk.boxed()).unwrap();
    let mut failed = None;
    for batch in arrivals[200..].chunks(10) {
        failed = failed.or_else(|| one.write_snapshot(20_000).err());
        one.fold(batch, 2, |_| {});
    }
    assert_eq!(failed.unwrap().kind(), io::ErrorKind::StorageFull);
    one.abandon_snapshot();
    let mut plain = filter(&settings);
    plain.fold(&arrivals[..200], 2, |_| {});
    arrivals[200..].chunks(10).for_each(|batch| plain.fold(batch, 1, |_| {}));
    assert!(one.save().unwrap() == plain.save().unwrap());
}

#[test]
fn what_is_beside_a_snapshot_is_read_without_it() {
    let settings = small(350_000);
    let beside = vec![("run".to_owned(), vec![7; 100_000]), ("more".to_owned(), Vec::new())];
    let disk = Disk::new(usize::MAX);
    filter(&settings).save_to(&beside, disk.boxed()).unwrap();
    let bytes = disk.taken();
    assert_eq!(extras(&mut &bytes[..]).unwrap(), beside);
    assert_eq!(extras(&mut &bytes[..100_100]).unwrap(), beside);
    assert!(extras(&mut &bytes[..50_000]).is_err());
    assert!(extras(&mut &filter(&settings).save().unwrap()[..]).unwrap().is_empty());
}
