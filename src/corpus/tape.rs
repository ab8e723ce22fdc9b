//! Bytes from a file or a decoder that can be looked at before they are taken, and wound back after a failed attempt.
//!
//! Winding back is what makes damage local: a decoder that ran into a damaged member may have eaten the beginning of the
//! next one. It is bounded in memory (what is kept) and in time (all that is wound back together is at most what was
//! read), so that a hostile file costs twice its length and no more.
//!
//! # Invariants
//! - What is read is what the source holds, however it is cut into reads. (`a_tape_gives_what_the_source_holds`)
//! - Winding back costs at most as much as reading. (`winding_back_has_a_budget`)

use std::io::{self, BufRead, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What is asked of the source at once.
const CHUNK: usize = 64 * 1024;
/// What is kept for winding back. Records of crawls have a mean of 20 kB packed and 100 kB unpacked.
const KEPT_MAX: usize = 4 << 20;
/// Text that unpacks to more than so many times its packed size is no text. Repetitive logs reach about 50, DEFLATE's
/// limit is 1032.
const RATIO_MAX: u64 = 200;

/// A record that unpacks to more than the limit, out of almost nothing; carried by an [`io::Error`].
#[derive(Debug, thiserror::Error)]
#[error("unpacks to more than {limit} bytes")]
pub(super) struct Bomb {
    pub(super) limit: usize,
}

/// See the head of this file.
pub(super) struct Tape<'a> {
    source: Box<dyn Read + 'a>,
    /// Only `..end` is filled; the rest is room, so that reading needs no fresh zeros.
    buffer: Vec<u8>,
    at: usize,
    end: usize,
    mark: Option<usize>,
    /// The position of `buffer[0]` in the source.
    base: u64,
    n_wound_back: u64,
    ended: bool,
    guard: Option<Guard>,
}

/// What tells a bomb: how much was unpacked out of how much since the record began.
struct Guard {
    n_packed: Arc<AtomicU64>,
    limit: usize,
    unpacked_start: u64,
    packed_start: u64,
}

/// How a line ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// It is there.
    Whole,
    /// It is longer than the limit; it was skipped, and this is its length.
    TooLong(u64),
    /// There is none: the source has ended.
    None,
}

impl<'a> Tape<'a> {
    /// A tape over bytes as they are.
    pub(super) fn new(source: impl Read + 'a) -> Self {
        Self::with_buffer(source, Vec::new())
    }

    /// The same, with the buffer that another tape has left ([`Tape::into_buffer`]).
    pub(super) fn with_buffer(source: impl Read + 'a, buffer: Vec<u8>) -> Self {
        let source = Box::new(source);
        Self { source, buffer, at: 0, end: 0, mark: None, base: 0, n_wound_back: 0, ended: false, guard: None }
    }

    /// Refuses records ([`Tape::begin_record`]) that unpack to more than `limit` out of nearly nothing.
    pub(super) fn guarded(mut self, n_packed: &Arc<AtomicU64>, limit: usize) -> Self {
        let packed_start = n_packed.load(Ordering::Relaxed);
        self.guard = Some(Guard { n_packed: n_packed.clone(), limit, unpacked_start: 0, packed_start });
        self
    }

    pub(super) fn into_buffer(self) -> Vec<u8> {
        self.buffer
    }

    /// The position of the next byte.
    pub(super) fn position(&self) -> u64 {
        self.base + self.at as u64
    }

    /// A record begins here, as far as bombs are concerned.
    pub(super) fn begin_record(&mut self) {
        let position = self.position();
        if let Some(guard) = &mut self.guard {
            guard.unpacked_start = position;
            guard.packed_start = guard.n_packed.load(Ordering::Relaxed);
        }
    }

    /// The next `n` bytes, fewer at the end.
    pub(super) fn peek(&mut self, n: usize) -> io::Result<&[u8]> {
        while self.end - self.at < n && !self.ended {
            self.read_more()?;
        }
        Ok(&self.buffer[self.at..self.end.min(self.at + n)])
    }

    /// Whether nothing is left.
    pub(super) fn is_at_end(&mut self) -> io::Result<bool> {
        Ok(self.peek(1)?.is_empty())
    }

    /// [`Tape::rewind`] comes back to this place.
    pub(super) fn mark(&mut self) {
        self.mark = Some(self.at);
    }

    /// Back to the mark, unless that is too far away or has been done too often: then the tape stays where it is.
    pub(super) fn rewind(&mut self) -> bool {
        let Some(mark) = self.mark else { return false };
        let n = (self.at - mark) as u64;
        if self.n_wound_back + n > self.position() + KEPT_MAX as u64 {
            return false;
        }
        self.n_wound_back += n;
        self.at = mark;
        true
    }

    /// Skips `n` bytes; says how many there were.
    pub(super) fn skip(&mut self, n: u64) -> io::Result<u64> {
        let mut left = n;
        while left > 0 {
            let here = self.fill_buf()?.len();
            if here == 0 {
                break;
            }
            let step = here.min(usize::try_from(left).unwrap_or(usize::MAX));
            self.consume(step);
            left -= step as u64;
        }
        Ok(n - left)
    }

    /// Adds all bytes up to `n` to `into`; says whether there were so many.
    pub(super) fn take_exactly(&mut self, n: usize, into: &mut Vec<u8>) -> io::Result<bool> {
        let mut left = n;
        while left > 0 {
            let here = self.fill_buf()?;
            if here.is_empty() {
                return Ok(false);
            }
            let step = here.len().min(left);
            into.extend_from_slice(&here[..step]);
            self.consume(step);
            left -= step;
        }
        Ok(true)
    }

    /// Puts the next line into `line` (its end, LF or CR LF, left out), unless it has more than `max` bytes.
    pub(super) fn line(&mut self, max: usize, line: &mut Vec<u8>) -> io::Result<Line> {
        // Two more for its end.
        let outcome = self.raw_line(max.saturating_add(2), line)?;
        let len = line.len() as u64;
        if line.last() == Some(&b'\n') {
            line.pop();
            if line.last() == Some(&b'\r') {
                line.pop();
            }
        }
        Ok(if line.len() > max { Line::TooLong(len) } else { outcome })
    }

    /// Puts the next line with its end into `line`, unless it has more than `max` bytes.
    pub(super) fn raw_line(&mut self, max: usize, line: &mut Vec<u8>) -> io::Result<Line> {
        line.clear();
        let (mut len, mut is_kept) = (0, true);
        loop {
            let here = self.fill_buf()?;
            let newline = memchr::memchr(b'\n', here);
            let step = newline.map_or(here.len(), |at| at + 1);
            is_kept &= line.len() + step <= max;
            if is_kept {
                line.extend_from_slice(&here[..step]);
            }
            len += step as u64;
            self.consume(step);
            if newline.is_some() || step == 0 {
                break;
            }
        }
        Ok(match (len, is_kept) {
            (0, _) => Line::None,
            (_, true) => Line::Whole,
            (_, false) => {
                line.clear();
                Line::TooLong(len)
            }
        })
    }

    /// Moves to the next place where `wanted` stands; says whether there is one.
    pub(super) fn seek_to(&mut self, wanted: &[u8]) -> io::Result<bool> {
        loop {
            let n_peeked = self.peek(CHUNK.max(wanted.len()))?.len();
            let here = &self.buffer[self.at..self.at + n_peeked];
            if let Some(at) = memchr::memmem::find(here, wanted) {
                self.at += at;
                return Ok(true);
            }
            if n_peeked < wanted.len() || self.ended && self.at + n_peeked == self.end {
                self.at += n_peeked;
                return Ok(false);
            }
            self.at += n_peeked - (wanted.len() - 1);
        }
    }

    fn read_more(&mut self) -> io::Result<()> {
        if self.mark.is_some_and(|mark| self.at - mark > KEPT_MAX) {
            self.mark = None;
        }
        let keep = self.mark.unwrap_or(self.at).min(self.at);
        if self.buffer.len() - self.end < CHUNK {
            if keep >= self.end / 2 {
                self.buffer.copy_within(keep..self.end, 0);
                self.base += keep as u64;
                self.at -= keep;
                self.end -= keep;
                self.mark = self.mark.map(|mark| mark - keep);
            }
            if self.buffer.len() - self.end < CHUNK {
                let room = (self.end + CHUNK).max(self.buffer.len() * 3 / 2).max(2 * CHUNK);
                self.buffer.resize(room, 0);
            }
        }
        let n = loop {
            match self.source.read(&mut self.buffer[self.end..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        self.ended = n == 0;
        self.end += n;
        self.check_bomb()
    }

    fn check_bomb(&self) -> io::Result<()> {
        let Some(guard) = &self.guard else { return Ok(()) };
        let n_unpacked = (self.base + self.end as u64).saturating_sub(guard.unpacked_start);
        if n_unpacked <= guard.limit as u64 {
            return Ok(());
        }
        // A chunk of packed bytes may have been read before this record began.
        let n_packed = guard.n_packed.load(Ordering::Relaxed) - guard.packed_start + CHUNK as u64;
        if n_unpacked / RATIO_MAX > n_packed {
            return Err(io::Error::other(Bomb { limit: guard.limit }));
        }
        Ok(())
    }
}

impl Read for Tape<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let here = self.fill_buf()?;
        let n = here.len().min(into.len());
        into[..n].copy_from_slice(&here[..n]);
        self.consume(n);
        Ok(n)
    }
}

impl BufRead for Tape<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at == self.end && !self.ended {
            self.read_more()?;
        }
        Ok(&self.buffer[self.at..self.end])
    }

    fn consume(&mut self, n: usize) {
        assert!(n <= self.end - self.at, "{n} bytes taken, {} are there", self.end - self.at);
        self.at += n;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A source that gives its bytes in pieces of odd sizes.
    struct Crumbs<'a>(&'a [u8], usize);

    impl Read for Crumbs<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            self.1 = self.1 * 7 % 1009 + 1;
            let n = self.1.min(self.0.len()).min(into.len());
            into[..n].copy_from_slice(&self.0[..n]);
            self.0 = &self.0[n..];
            Ok(n)
        }
    }

    proptest! {
        #[test]
        fn a_tape_gives_what_the_source_holds(
            bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), any::<u8>()], 0..3000),
            max in 0usize..40,
        ) {
            let mut tape = Tape::new(Crumbs(&bytes, 1));
            let mut all = Vec::new();
            prop_assert_eq!(tape.take_exactly(bytes.len(), &mut all).unwrap(), true);
            prop_assert_eq!(&all, &bytes);
            prop_assert!(tape.is_at_end().unwrap());

            let mut tape = Tape::new(Crumbs(&bytes, 1));
            let mut line = Vec::new();
            let mut wanted = bytes.split(|byte| *byte == b'\n').collect::<Vec<_>>();
            if wanted.last() == Some(&&b""[..]) {
                wanted.pop();
            }
            for wanted in wanted {
                let met = tape.line(max, &mut line).unwrap();
                let terminated = wanted.strip_suffix(b"\r").filter(|_| tape.position() < bytes.len() as u64 || bytes.ends_with(b"\n"));
                let wanted = terminated.unwrap_or(wanted);
                if wanted.len() > max {
                    prop_assert!(matches!(met, Line::TooLong(_)), "{:?}", met);
                } else {
                    prop_assert_eq!(met, Line::Whole);
                    prop_assert_eq!(&line, wanted);
                }
            }
            prop_assert_eq!(tape.line(max, &mut line).unwrap(), Line::None);
        }

        #[test]
        fn a_string_is_found_where_it_stands(bytes in proptest::collection::vec(0u8..3, 0..400)) {
            let wanted = [1, 2, 1];
            let mut tape = Tape::new(Crumbs(&bytes, 1));
            let found = tape.seek_to(&wanted).unwrap().then(|| tape.position() as usize);
            prop_assert_eq!(found, bytes.windows(3).position(|window| window == wanted));
        }
    }

    #[test]
    fn a_tape_winds_back_to_its_mark() {
        let bytes: Vec<u8> = (0..1_000_000u32).map(|n| n as u8).collect();
        let mut tape = Tape::new(Crumbs(&bytes, 1));
        tape.skip(300_000).unwrap();
        tape.mark();
        tape.skip(500_000).unwrap();
        assert!(tape.rewind());
        assert_eq!(tape.position(), 300_000);
        let mut rest = Vec::new();
        assert!(tape.take_exactly(700_000, &mut rest).unwrap());
        assert_eq!(rest, bytes[300_000..]);
    }

    #[test]
    fn winding_back_has_a_budget() {
        let bytes = vec![0u8; 3 << 20];
        let mut tape = Tape::new(&bytes[..]);
        tape.mark();
        let mut n_times = 0;
        loop {
            tape.skip(2 << 20).unwrap();
            if !tape.rewind() {
                break;
            }
            n_times += 1;
        }
        assert_eq!(n_times, 3, "of 2 MB each, where 6 MB are allowed");
    }

    #[test]
    fn a_tape_forgets_what_is_too_far_back() {
        let mut tape = Tape::new(io::repeat(7));
        tape.mark();
        tape.skip(3 * KEPT_MAX as u64).unwrap();
        assert!(!tape.rewind());
        assert!(tape.into_buffer().len() < 3 * KEPT_MAX);
    }
}
