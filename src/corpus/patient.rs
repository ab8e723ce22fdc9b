//! A pipe that can be left: a thread of its own waits for what comes, and whoever reads looks meanwhile whether it is over.
//!
//! # Invariants
//! - What comes out is what went in, to its end or to its error. (`what_goes_in_comes_out`)
//! - Nobody waits for a pipe that says nothing once it is over. (`a_silent_pipe_is_left`)

use crossbeam_channel::{Receiver, RecvTimeoutError, bounded};
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// What is asked of the pipe at once, and how many such pieces wait.
const PIECE_BYTES: usize = 64 << 10;
const PIECES_MAX: usize = 4;
/// So often it is looked whether it is over.
const LOOK: Duration = Duration::from_millis(50);

/// See the head of this file.
pub(super) struct Patient {
    pieces: Receiver<io::Result<Vec<u8>>>,
    piece: Vec<u8>,
    at: usize,
    is_over: Arc<AtomicBool>,
}

/// What a reading fails with when it is over: no end, so that half a record is none.
pub(super) fn over() -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionAborted, "interrupted")
}

impl Patient {
    /// Reads `source` until `is_over`. The thread ends with the source, or with the process.
    pub(super) fn new(mut source: impl Read + Send + 'static, is_over: Arc<AtomicBool>) -> io::Result<Self> {
        let (pieces_in, pieces) = bounded(PIECES_MAX);
        let read = move || {
            loop {
                let mut piece = vec![0; PIECE_BYTES];
                let outcome = match source.read(&mut piece) {
                    Ok(n) => {
                        piece.truncate(n);
                        Ok(piece)
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(error) => Err(error),
                };
                let is_last = outcome.as_ref().map_or(true, Vec::is_empty);
                if pieces_in.send(outcome).is_err() || is_last {
                    return;
                }
            }
        };
        thread::Builder::new().name("pipe".into()).spawn(read)?;
        Ok(Self { pieces, piece: Vec::new(), at: 0, is_over })
    }
}

impl Read for Patient {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.at == self.piece.len() {
            match self.pieces.recv_timeout(LOOK) {
                Ok(piece) => (self.piece, self.at) = (piece?, 0),
                Err(RecvTimeoutError::Timeout) if self.is_over.load(Ordering::Relaxed) => return Err(over()),
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => return Ok(0),
            }
            if self.piece.is_empty() {
                return Ok(0);
            }
        }
        let n = into.len().min(self.piece.len() - self.at);
        into[..n].copy_from_slice(&self.piece[self.at..self.at + n]);
        self.at += n;
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    #[test]
    fn what_goes_in_comes_out() {
        let bytes: Vec<u8> = (0..1_000_000u32).map(|n| (n / 7) as u8).collect();
        let mut pipe = Patient::new(Cursor::new(bytes.clone()), Arc::default()).unwrap();
        let mut out = Vec::new();
        pipe.read_to_end(&mut out).unwrap();
        assert!(out == bytes);
        assert_eq!(pipe.read(&mut [0; 10]).unwrap(), 0, "the end stays the end");

        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _into: &mut [u8]) -> io::Result<usize> {
                Err(io::ErrorKind::PermissionDenied.into())
            }
        }
        let refused = Patient::new(Broken, Arc::default()).unwrap().read(&mut [0; 10]).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::PermissionDenied);
    }

    #[test]
    fn a_silent_pipe_is_left() {
        let (silent, _held) = io::pipe().unwrap();
        let is_over = Arc::new(AtomicBool::new(false));
        let mut pipe = Patient::new(silent, is_over.clone()).unwrap();
        let reading = thread::spawn(move || pipe.read(&mut [0; 10]));
        thread::sleep(LOOK);
        assert!(!reading.is_finished());
        is_over.store(true, Ordering::Relaxed);
        assert_eq!(reading.join().unwrap().unwrap_err().kind(), io::ErrorKind::ConnectionAborted);
    }
}
