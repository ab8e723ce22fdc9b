//! The number of the last commit, kept beside the file in `bus.tail`: SQLite leaves a damaged end of its log out without a word.
//!
//! It is written after each commit and not synced: after a power cut it may lag behind the file, which says nothing, but it is never
//! ahead of it, unless commits were lost.
//!
//! # Invariants
//! - A number that cannot be read is as good as none; one that can be is what was written. (`only_whole_numbers_count`)
//! - It never goes back. (`the_number_only_rises`)

use super::checksum;
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Mutex;

/// The file with the number.
pub(super) struct Tail {
    file: File,
    highest: Mutex<i64>,
}

impl Tail {
    /// Opens it, or makes it.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let mut options = File::options();
        let file = options.read(true).write(true).create(true).truncate(false).mode(0o600).open(path)?;
        Ok(Self { file, highest: Mutex::new(0) })
    }

    /// The number of the last commit that is known of, 0 where none is.
    pub(super) fn read(&self) -> i64 {
        let mut bytes = [0; 16];
        if self.file.read_exact_at(&mut bytes, 0).is_err() {
            return 0;
        }
        let (number, sum) = bytes.split_at(8);
        let number = i64::from_le_bytes(number.try_into().expect("half of 16 bytes"));
        let sum = i64::from_le_bytes(sum.try_into().expect("half of 16 bytes"));
        if sum == checksum::of("tail", &[number]) { number } else { 0 }
    }

    /// Notes a commit.
    pub(super) fn write(&self, number: i64) {
        let mut highest = self.highest.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if number <= *highest {
            return;
        }
        *highest = number;
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&number.to_le_bytes());
        bytes[8..].copy_from_slice(&checksum::of("tail", &[number]).to_le_bytes());
        if let Err(error) = self.file.write_all_at(&bytes, 0) {
            // The commit itself is durable; only the next loss, if any, would be noticed less exactly.
            tracing::debug!(%error, "the number of the last commit could not be noted");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_numbers_count() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bus.tail");
        let tail = Tail::open(&path).unwrap();
        assert_eq!(tail.read(), 0);
        tail.write(77);
        assert_eq!(Tail::open(&path).unwrap().read(), 77);
        for place in 0..16 {
            let mut bytes = std::fs::read(&path).unwrap();
            bytes[place] ^= 4;
            std::fs::write(&path, &bytes).unwrap();
            assert_eq!(tail.read(), 0);
            bytes[place] ^= 4;
            std::fs::write(&path, &bytes).unwrap();
        }
        std::fs::write(&path, [1; 9]).unwrap();
        assert_eq!(tail.read(), 0);
    }

    #[test]
    fn the_number_only_rises() {
        let folder = tempfile::tempdir().unwrap();
        let tail = Tail::open(&folder.path().join("bus.tail")).unwrap();
        tail.write(8);
        tail.write(7);
        assert_eq!(tail.read(), 8);
    }
}
