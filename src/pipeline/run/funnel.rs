//! Between the stream and the disk: bytes go through a bounded queue to a thread that writes and syncs them.
//!
//! # Invariants
//! - What went in is in the file, and on the disk, when the end says so. (`what_goes_in_comes_out`)
//! - An error of the disk stops whoever writes, and is told at the end. (`an_error_of_the_disk_is_told`)
//! - No more than [`BYTES_MAX`] wait, whatever the disk does. (`no_more_waits_than_the_bound`)

use anyhow::Context;
use crossbeam_channel::{Sender, bounded};
use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};

/// Bytes are passed on in pieces of so many.
const PIECE_BYTES: usize = 1 << 20;
/// Pieces that wait for the disk, beside one that is being filled and one that is being written.
const PIECES_MAX: usize = 32;
/// Bytes that wait for the disk.
pub(super) const BYTES_MAX: usize = PIECE_BYTES * (PIECES_MAX + 2);

/// The end of the thread that writes.
pub(super) struct Funnel {
    thread: JoinHandle<io::Result<()>>,
    flow: Arc<Flow>,
}

/// The end that is written to.
pub(super) struct Mouth {
    pieces: Sender<Vec<u8>>,
    piece: Vec<u8>,
    flow: Arc<Flow>,
}

#[derive(Default)]
struct Flow {
    n_in: AtomicU64,
    n_out: AtomicU64,
    is_given_up: AtomicBool,
}

/// What a funnel ends in.
trait Ground: Write + Send + 'static {
    fn sync(&mut self) -> io::Result<()>;
}

impl Ground for File {
    fn sync(&mut self) -> io::Result<()> {
        self.sync_all()
    }
}

/// A funnel into `file`, which is synced when the mouth is gone.
pub(super) fn open(file: File) -> anyhow::Result<(Funnel, Mouth)> {
    into(file)
}

fn into(mut ground: impl Ground) -> anyhow::Result<(Funnel, Mouth)> {
    let (pieces_in, pieces) = bounded::<Vec<u8>>(PIECES_MAX);
    let flow = Arc::new(Flow::default());
    let seen = flow.clone();
    let write = move || {
        for piece in pieces {
            if seen.is_given_up.load(Ordering::Relaxed) {
                return Ok(());
            }
            ground.write_all(&piece)?;
            seen.n_out.fetch_add(piece.len() as u64, Ordering::Relaxed);
        }
        if seen.is_given_up.load(Ordering::Relaxed) { Ok(()) } else { ground.sync() }
    };
    let thread = thread::Builder::new().name("snapshot".into()).spawn(write).context("no thread for snapshots")?;
    Ok((Funnel { thread, flow: flow.clone() }, Mouth { pieces: pieces_in, piece: Vec::new(), flow }))
}

impl Funnel {
    /// Whether half of what can wait does: who writes now may have to wait, too.
    pub(super) fn is_behind(&self) -> bool {
        let n_waiting = self.n_bytes() - self.flow.n_out.load(Ordering::Relaxed);
        n_waiting > BYTES_MAX as u64 / 2 && !self.has_ended()
    }

    /// Bytes that went in.
    pub(super) fn n_bytes(&self) -> u64 {
        self.flow.n_in.load(Ordering::Relaxed)
    }

    /// Whether all is on the disk, or has failed.
    pub(super) fn has_ended(&self) -> bool {
        self.thread.is_finished()
    }

    /// What still waits is not to be written.
    pub(super) fn give_up(&self) {
        self.flow.is_given_up.store(true, Ordering::Relaxed);
    }

    /// Waits until all is on the disk; the mouth must be gone, or the disk have failed.
    pub(super) fn end(self) -> io::Result<()> {
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

impl Mouth {
    fn pass_on(&mut self) -> io::Result<()> {
        let piece = std::mem::replace(&mut self.piece, Vec::with_capacity(PIECE_BYTES));
        self.pieces.send(piece).map_err(|_| io::Error::new(io::ErrorKind::BrokenPipe, "the disk has failed"))
    }
}

impl Write for Mouth {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = bytes.len().min(PIECE_BYTES - self.piece.len());
        self.piece.extend_from_slice(&bytes[..n]);
        self.flow.n_in.fetch_add(n as u64, Ordering::Relaxed);
        if self.piece.len() == PIECE_BYTES {
            self.pass_on()?;
        }
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.piece.is_empty() { Ok(()) } else { self.pass_on() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossbeam_channel::Receiver;
    use std::sync::Mutex;
    use std::time::Duration;

    /// A disk that takes a piece for each word it gets, and has room for so many.
    struct Slow {
        go: Receiver<()>,
        room: usize,
        written: Arc<Mutex<(Vec<u8>, bool)>>,
    }

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.go.recv().ok();
            self.room = self.room.checked_sub(1).ok_or(io::Error::from(io::ErrorKind::StorageFull))?;
            self.written.lock().unwrap().0.extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Ground for Slow {
        fn sync(&mut self) -> io::Result<()> {
            self.written.lock().unwrap().1 = true;
            Ok(())
        }
    }

    type Written = Arc<Mutex<(Vec<u8>, bool)>>;

    fn slow(room: usize) -> (Funnel, Mouth, Sender<()>, Written) {
        let ((word, go), written) = (bounded(1000), Written::default());
        let (funnel, mouth) = into(Slow { go, room, written: written.clone() }).unwrap();
        (funnel, mouth, word, written)
    }

    #[test]
    fn what_goes_in_comes_out() {
        let (funnel, mut mouth, word, written) = slow(1000);
        drop(word);
        let bytes: Vec<u8> = (0..3 * PIECE_BYTES + 7).map(|i| (i % 251) as u8).collect();
        bytes.chunks(70_001).for_each(|part| mouth.write_all(part).unwrap());
        mouth.flush().unwrap();
        assert_eq!(funnel.n_bytes(), bytes.len() as u64);
        assert!(!funnel.has_ended() && !written.lock().unwrap().1);
        drop(mouth);
        funnel.end().unwrap();
        assert!(*written.lock().unwrap() == (bytes, true));
    }

    #[test]
    fn no_more_waits_than_the_bound() {
        let (funnel, mut mouth, word, _written) = slow(1000);
        let piece = vec![1; PIECE_BYTES];
        for n in 0..PIECES_MAX {
            assert_eq!(funnel.is_behind(), n > (PIECES_MAX + 2) / 2, "{n}");
            mouth.write_all(&piece).unwrap();
        }
        let writer = thread::spawn(move || {
            (0..3).for_each(|_| mouth.write_all(&piece).unwrap());
        });
        thread::sleep(Duration::from_millis(50));
        assert!(!writer.is_finished(), "it waits for the disk");
        assert!(funnel.n_bytes() <= BYTES_MAX as u64);
        drop(word);
        writer.join().unwrap();
        funnel.end().unwrap();
    }

    #[test]
    fn an_error_of_the_disk_is_told() {
        let (funnel, mut mouth, word, written) = slow(2);
        drop(word);
        let piece = vec![1; PIECE_BYTES];
        let refused = (0..100).find_map(|_| mouth.write_all(&piece).err()).expect("it ends");
        assert_eq!(refused.kind(), io::ErrorKind::BrokenPipe);
        drop(mouth);
        assert_eq!(funnel.end().unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert!(!written.lock().unwrap().1);
    }

    #[test]
    fn what_is_given_up_is_not_written() {
        let (funnel, mut mouth, word, written) = slow(1000);
        mouth.write_all(&vec![1; 9 * PIECE_BYTES]).unwrap();
        funnel.give_up();
        drop((mouth, word));
        funnel.end().unwrap();
        assert!(written.lock().unwrap().0.len() <= PIECE_BYTES && !written.lock().unwrap().1);
    }
}
