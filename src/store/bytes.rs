//! Saved bytes read back: every length is checked against what is there, so that damage is an error and no panic.

/// Why a part of a saved store can't be read back.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("saved {part} is damaged: {reason}")]
pub struct Damaged {
    /// The part, such as `cells`.
    pub part: &'static str,
    /// What is wrong with it.
    pub reason: &'static str,
}

impl Damaged {
    /// What cannot be, in whichever part is being read.
    pub const fn of(reason: &'static str) -> Self {
        Self { part: "store", reason }
    }
}

/// Reads numbers and slices from the front of saved bytes.
#[derive(Clone, Debug)]
pub(super) struct Reader<'a> {
    part: &'static str,
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// A reader of the saved `part`.
    pub(super) fn new(part: &'static str, bytes: &'a [u8]) -> Self {
        Self { part, rest: bytes }
    }

    /// The error of this part for `reason`.
    pub(super) fn damaged(&self, reason: &'static str) -> Damaged {
        Damaged { part: self.part, reason }
    }

    /// Whether all has been read.
    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next `n` bytes.
    pub(super) fn slice(&mut self, n: usize) -> Result<&'a [u8], Damaged> {
        let (slice, rest) = self.rest.split_at_checked(n).ok_or(self.damaged("it is cut off"))?;
        self.rest = rest;
        Ok(slice)
    }

    /// The next byte.
    pub(super) fn u8(&mut self) -> Result<u8, Damaged> {
        Ok(self.slice(1)?[0])
    }

    /// The next four bytes, least first.
    pub(super) fn u32(&mut self) -> Result<u32, Damaged> {
        let (bytes, rest) = self.rest.split_first_chunk().ok_or(self.damaged("it is cut off"))?;
        self.rest = rest;
        Ok(u32::from_le_bytes(*bytes))
    }

    /// The next eight bytes, least first.
    pub(super) fn u64(&mut self) -> Result<u64, Damaged> {
        let (bytes, rest) = self.rest.split_first_chunk().ok_or(self.damaged("it is cut off"))?;
        self.rest = rest;
        Ok(u64::from_le_bytes(*bytes))
    }

    /// Refuses what is left over.
    pub(super) fn end(self) -> Result<(), Damaged> {
        if self.rest.is_empty() { Ok(()) } else { Err(self.damaged("it has bytes left over")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_or_left_over_is_refused() {
        let bytes = [1, 2, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 9];
        let mut reader = Reader::new("test", &bytes);
        assert_eq!((reader.u8(), reader.u32(), reader.u64()), (Ok(1), Ok(2), Ok(3)));
        assert_eq!(reader.u32(), Err(Damaged { part: "test", reason: "it is cut off" }));
        assert!(reader.slice(2).is_err() && reader.u64().is_err() && reader.clone().end().is_err());
        assert_eq!(reader.slice(1), Ok(&[9][..]));
        assert!(reader.is_empty() && reader.u8().is_err() && reader.end().is_ok());
    }
}
