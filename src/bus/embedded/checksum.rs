//! Checksums of what is kept: of every record with its place, and of every counter.
//!
//! # Invariants
//! - Any other field, or the same bytes divided otherwise, give another checksum. (`every_field_counts`)
//! - The same record has the same checksum in every release. (`golden_checksums`)

use xxhash_rust::xxh3::Xxh3;

/// A record as it lies in a table.
#[derive(Clone, Copy)]
pub(super) struct Row<'a> {
    pub(super) topic: &'a str,
    pub(super) partition: i32,
    pub(super) offset: i64,
    pub(super) time_ms: i64,
    pub(super) key: Option<&'a [u8]>,
    pub(super) headers: Option<&'a [u8]>,
    pub(super) value: Option<&'a [u8]>,
}

impl Row<'_> {
    /// Over all of it: a record that was moved to another place is as wrong as one whose bytes were changed.
    pub(super) fn checksum(&self) -> i64 {
        let Self { topic, partition, offset, time_ms, key, headers, value } = *self;
        let mut hash = Xxh3::new();
        for number in [i64::from(partition), offset, time_ms] {
            hash.update(&number.to_le_bytes());
        }
        for bytes in [Some(topic.as_bytes()), key, headers, value] {
            // A length that no bytes can have stands for none.
            hash.update(&bytes.map_or(u64::MAX, |bytes| bytes.len() as u64).to_le_bytes());
            hash.update(bytes.unwrap_or_default());
        }
        hash.digest() as i64
    }
}

/// Of a name and numbers, in their order.
pub(super) fn of(name: &str, numbers: &[i64]) -> i64 {
    let mut hash = Xxh3::new();
    hash.update(&(name.len() as u64).to_le_bytes());
    hash.update(name.as_bytes());
    for number in numbers {
        hash.update(&number.to_le_bytes());
    }
    hash.digest() as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const ROW: Row<'_> = Row {
        topic: "pages",
        partition: 1,
        offset: 2,
        time_ms: 3,
        key: Some(b"key"),
        headers: None,
        value: Some(b"value"),
    };

    #[test]
    fn every_field_counts() {
        let rows = [
            ROW,
            Row { topic: "page", ..ROW },
            Row { partition: 2, ..ROW },
            Row { offset: 3, ..ROW },
            Row { time_ms: 2, ..ROW },
            Row { key: None, ..ROW },
            Row { key: Some(b""), ..ROW },
            Row { key: Some(b"keyv"), value: Some(b"alue"), ..ROW },
            Row { headers: Some(b""), ..ROW },
            Row { value: None, ..ROW },
            Row { value: Some(b""), ..ROW },
        ];
        let distinct: BTreeSet<i64> = rows.iter().map(Row::checksum).collect();
        assert_eq!(distinct.len(), rows.len());
        assert_ne!(of("ab", &[1]), of("a", &[1]));
        assert_ne!(of("a", &[1, 2]), of("a", &[2, 1]));
    }

    #[test]
    fn golden_checksums() {
        assert_eq!((ROW.checksum(), of("pages", &[1, 2])), (-927_067_159_630_387_538, 425_890_659_325_460_040));
    }
}
