//! How a file is packed, by its first bytes: a name that ends in `.gz` is a promise that downloads often break.
//!
//! # Invariants
//! - Zeros behind a gzip member are the padding of a tape or block device, and no damage. (`zeros_behind_a_gzip_are_padding`)
//! - What else follows a whole member costs nothing of it, and is told. (`garbage_behind_a_gzip_is_told`)

use super::tape::Tape;
use flate2::bufread::GzDecoder;
use std::cell::Cell;
use std::io::{self, BufRead, Read};

/// The largest window of `zstd --long=27`, which is also what `zstd -d` accepts.
const ZSTD_WINDOW_LOG_MAX: u32 = 27;

/// How bytes are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    Gzip,
    Zstd,
}

impl Packing {
    /// What `head`, the first bytes, say.
    pub(super) fn of(head: &[u8]) -> Option<Self> {
        [Self::Gzip, Self::Zstd].into_iter().find(|packing| head.starts_with(packing.magic()))
    }

    /// The bytes that begin every gzip member (with DEFLATE, the only method there is) and every zstd frame.
    pub(super) fn magic(self) -> &'static [u8] {
        match self {
            Self::Gzip => &[0x1f, 0x8b, 0x08],
            Self::Zstd => &[0x28, 0xb5, 0x2f, 0xfd],
        }
    }

    /// All that is packed in `tape`, member after member. What follows them and is no gzip is left, and noted in `has_garbage`.
    pub(super) fn unpacked<'t>(
        self,
        tape: &'t mut Tape<'_>,
        has_garbage: &'t Cell<bool>,
    ) -> io::Result<Box<dyn Read + 't>> {
        Ok(match self {
            Self::Gzip => Box::new(Members { member: Some(GzDecoder::new(tape)), has_garbage }),
            Self::Zstd => {
                let mut decoder = zstd::Decoder::with_buffer(tape)?;
                decoder.window_log_max(ZSTD_WINDOW_LOG_MAX)?;
                Box::new(decoder)
            }
        })
    }

    /// One gzip member or zstd frame; it leaves `tape` where the next one begins.
    pub(super) fn member<'t>(self, tape: &'t mut Tape<'_>) -> io::Result<Box<dyn Read + 't>> {
        Ok(match self {
            Self::Gzip => Box::new(GzDecoder::new(tape)),
            Self::Zstd => {
                let mut decoder = zstd::Decoder::with_buffer(tape)?.single_frame();
                decoder.window_log_max(ZSTD_WINDOW_LOG_MAX)?;
                Box::new(decoder)
            }
        })
    }

    /// What follows a member; padding is skipped.
    pub(super) fn next(self, tape: &mut Tape<'_>) -> io::Result<Next> {
        if self == Self::Gzip {
            skip_zeros(tape)?;
        }
        let magic = self.magic();
        let head = tape.peek(magic.len())?;
        Ok(match head.len() {
            0 => Next::End,
            // Of one that is cut off, the decoder says so.
            n if self == Self::Zstd || magic.starts_with(&head[..n.min(2)]) => Next::Member,
            _ => Next::Garbage,
        })
    }
}

/// What follows a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Nothing.
    End,
    /// Another one, or what a decoder knows best.
    Member,
    /// Bytes that begin none.
    Garbage,
}

/// What is said of [`Next::Garbage`].
pub(super) const GARBAGE: &str = "trailing garbage: what follows the last gzip member is none, and was left out";

fn skip_zeros(tape: &mut Tape<'_>) -> io::Result<()> {
    loop {
        let here = tape.fill_buf()?;
        let n_zeros = here.iter().take_while(|byte| **byte == 0).count();
        let is_more = n_zeros > 0 && n_zeros == here.len();
        tape.consume(n_zeros);
        if !is_more {
            return Ok(());
        }
    }
}

/// Gzip members, one after the other.
struct Members<'t, 'a> {
    member: Option<GzDecoder<&'t mut Tape<'a>>>,
    has_garbage: &'t Cell<bool>,
}

impl Read for Members<'_, '_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member {
            let n = member.read(into)?;
            if n > 0 || into.is_empty() {
                return Ok(n);
            }
            let tape = self.member.take().expect("it was there").into_inner();
            match Packing::Gzip.next(tape)? {
                Next::Member => self.member = Some(GzDecoder::new(tape)),
                Next::Garbage => self.has_garbage.set(true),
                Next::End => {}
            }
        }
        Ok(0)
    }
}
