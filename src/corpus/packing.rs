//! How a file is packed, by its first bytes: a name that ends in `.gz` is a promise that downloads often break.

use super::tape::Tape;
use flate2::bufread::{GzDecoder, MultiGzDecoder};
use std::io::{self, Read};

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

    /// All that is packed in `tape`, member after member.
    pub(super) fn unpacked<'t>(self, tape: &'t mut Tape<'_>) -> io::Result<Box<dyn Read + 't>> {
        Ok(match self {
            Self::Gzip => Box::new(MultiGzDecoder::new(tape)),
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
}
