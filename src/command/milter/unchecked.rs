//! Why a mail goes on without a verdict. The name is also the value of the header field and the label of the metric.

use std::fmt;

/// Why a mail goes on without a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Unchecked {
    /// It has more bytes than `milter.mail_bytes_max`, or than the server takes.
    TooLarge,
    /// Others take all of `milter.waiting_bytes_max`.
    Memory,
    /// Others take all of `milter.mails_max`, for too long.
    Busy,
    /// The server has failed several times, and is left alone for a while.
    Paused,
    /// The server cannot be reached, or went away.
    Unreachable,
    /// It did not answer in time.
    Timeout,
    /// It has learnt the mail, and not judged it in time.
    Late,
    /// It cannot serve anybody now.
    Unavailable,
    /// It does not want this: the token is wrong, say.
    Refused,
    /// Its answer cannot be understood.
    Garbled,
}

impl Unchecked {
    pub(super) const ALL: [Self; 10] = [
        Self::TooLarge,
        Self::Memory,
        Self::Busy,
        Self::Paused,
        Self::Unreachable,
        Self::Timeout,
        Self::Late,
        Self::Unavailable,
        Self::Refused,
        Self::Garbled,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::TooLarge => "too_large",
            Self::Memory => "memory",
            Self::Busy => "busy",
            Self::Paused => "paused",
            Self::Unreachable => "unreachable",
            Self::Timeout => "timeout",
            Self::Late => "late",
            Self::Unavailable => "unavailable",
            Self::Refused => "refused",
            Self::Garbled => "garbled",
        }
    }

    /// Whether it speaks of a server that further mails should not wait for.
    pub(super) fn is_failure(self) -> bool {
        matches!(self, Self::Unreachable | Self::Timeout | Self::Late | Self::Unavailable)
    }
}

impl fmt::Display for Unchecked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
