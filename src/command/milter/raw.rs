//! The bytes of a mail as they come, within bounds of one mail and of all together.
//!
//! # Invariants
//! - All mails together hold no more than `milter.waiting_bytes_max`, room to grow included, and what a mail gives up is free at
//!   once. (`room_is_bounded_and_comes_back`)

use super::unchecked::Unchecked;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// A semaphore counts to 2^32 at a time.
const UNIT_BYTES: usize = 4096;

/// What mails may hold.
#[derive(Debug)]
pub(super) struct Room {
    mail_bytes_max: usize,
    /// One permit for each [`UNIT_BYTES`].
    free: Arc<Semaphore>,
}

impl Room {
    pub(super) fn new(mail_bytes_max: usize, waiting_bytes_max: usize) -> Self {
        let n_units = waiting_bytes_max.div_ceil(UNIT_BYTES).min(Semaphore::MAX_PERMITS);
        Self { mail_bytes_max, free: Arc::new(Semaphore::new(n_units)) }
    }

    fn taken(&self, n_bytes: usize) -> Result<OwnedSemaphorePermit, Unchecked> {
        let n_units = u32::try_from(n_bytes.div_ceil(UNIT_BYTES)).map_err(|_| Unchecked::TooLarge)?;
        self.free.clone().try_acquire_many_owned(n_units).map_err(|_| Unchecked::Memory)
    }
}

/// The bytes of a mail so far, or why there are none.
#[derive(Debug)]
pub(super) struct Raw(Result<Held, Unchecked>);

/// Bytes, and the room they take until they are dropped.
#[derive(Debug, Default)]
pub(super) struct Held {
    pub(super) bytes: Vec<u8>,
    pub(super) room: Option<OwnedSemaphorePermit>,
}

impl Default for Raw {
    fn default() -> Self {
        Self(Ok(Held::default()))
    }
}

impl Raw {
    /// Adds what came, or gives all of it up.
    pub(super) fn add(&mut self, room: &Room, pieces: &[&[u8]]) {
        if let Ok(held) = &mut self.0
            && let Err(why) = held.add(room, pieces)
        {
            self.0 = Err(why);
        }
    }

    /// Whether nothing more is wanted.
    pub(super) fn is_given_up(&self) -> bool {
        self.0.is_err()
    }

    pub(super) fn whole(self) -> Result<Held, Unchecked> {
        self.0
    }
}

impl Held {
    fn add(&mut self, room: &Room, pieces: &[&[u8]]) -> Result<(), Unchecked> {
        let n_bytes = self.bytes.len() + pieces.iter().map(|piece| piece.len()).sum::<usize>();
        if n_bytes > room.mail_bytes_max {
            return Err(Unchecked::TooLarge);
        }
        if n_bytes > self.bytes.capacity() {
            let capacity = n_bytes.max(2 * self.bytes.capacity()).min(room.mail_bytes_max).next_multiple_of(UNIT_BYTES);
            let more = room.taken(capacity - self.bytes.capacity())?;
            match &mut self.room {
                Some(room) => room.merge(more),
                none => *none = Some(more),
            }
            self.bytes.reserve_exact(capacity - self.bytes.len());
        }
        pieces.iter().for_each(|piece| self.bytes.extend_from_slice(piece));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_bounded_and_comes_back() {
        let room = Room::new(100_000, 200_000);
        let n_units = room.free.available_permits();
        let filled = |n_pieces: usize| {
            let mut raw = Raw::default();
            (0..n_pieces).for_each(|_| raw.add(&room, &[&[b'x'; 600], &[b'y'; 400]]));
            raw
        };
        let (a, b) = (filled(90), filled(90));
        assert!((90_000 / UNIT_BYTES..=n_units).contains(&(n_units - room.free.available_permits())));
        let c = filled(90);
        assert!(c.is_given_up());
        assert_eq!(c.whole().unwrap_err(), Unchecked::Memory);
        drop(a);
        assert!(!filled(90).is_given_up(), "what was held is free again");
        drop(b);
        let large = filled(101);
        assert_eq!(room.free.available_permits(), n_units, "what is given up is free at once");
        assert_eq!(large.whole().unwrap_err(), Unchecked::TooLarge);
        let whole = filled(100).whole().unwrap();
        assert_eq!((whole.bytes.len(), &whole.bytes[598..602]), (100_000, b"xxyy".as_slice()));
    }
}
