//! A place in a topic, over all of its partitions, as a word that a client keeps and brings back.
//!
//! What it holds is nobody's business but ours, so that it can change: the format, a digest of the topic's name and the offset
//! of the next record of each partition.
//!
//! # Invariants
//! - A cursor gives back the positions it was made of. (`cursors_come_back_as_they_went`)
//! - Anything else is refused, whatever its bytes. (`what_is_no_cursor_is_refused`)

use super::{Partition, Positions};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

const FORMAT: u8 = 1;
/// The longest cursor: 1,000 partitions with the largest offsets there are need less.
const BYTES_MAX: usize = 16 << 10;

/// Why a word is no cursor.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoCursor {
    /// It is not one of ours.
    #[error("this is no cursor: take it from a line as it stands, or use `beginning` or `end`")]
    Garbled,
    /// It is for another topic.
    #[error("this cursor is for another topic than `{0}`")]
    Foreign(Arc<str>),
}

/// The positions of `topic` as a word.
pub fn written(topic: &str, positions: &Positions) -> String {
    let of_topic = || positions.0.iter().filter(|(partition, _)| *partition.topic == *topic);
    let n_partitions = of_topic().map(|(partition, _)| partition.number + 1).max().unwrap_or(0);
    let mut next = vec![0_i64; n_partitions as usize];
    of_topic().for_each(|(partition, offset)| next[partition.number as usize] = *offset);
    let bytes = postcard::to_stdvec(&(FORMAT, digest(topic), next)).expect("numbers can be written");
    URL_SAFE_NO_PAD.encode(bytes)
}

/// The positions that a word stands for.
pub fn read(topic: &Arc<str>, cursor: &str) -> Result<Positions, NoCursor> {
    if cursor.len() > BYTES_MAX {
        return Err(NoCursor::Garbled);
    }
    let bytes = URL_SAFE_NO_PAD.decode(cursor).map_err(|_| NoCursor::Garbled)?;
    let read = postcard::take_from_bytes::<(u8, u32, Vec<i64>)>(&bytes);
    let Ok(((FORMAT, found, next), [])) = read else { return Err(NoCursor::Garbled) };
    if found != digest(topic) {
        return Err(NoCursor::Foreign(topic.clone()));
    }
    if next.iter().any(|offset| *offset < 0) {
        return Err(NoCursor::Garbled);
    }
    let positions = next.into_iter().zip(0..).map(|(offset, number)| (Partition::new(topic.clone(), number), offset));
    Ok(Positions(positions.collect()))
}

fn digest(topic: &str) -> u32 {
    xxh3_64(topic.as_bytes()) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn cursors_come_back_as_they_went(next in proptest::collection::vec(0..i64::MAX, 0..40)) {
            let topic: Arc<str> = "verdicts".into();
            let positions = next.iter().zip(0..).map(|(next, number)| (Partition::new(topic.clone(), number), *next));
            let mut positions = Positions(positions.collect());
            let expected = positions.clone();
            positions.0.insert(Partition::new("pages", 99), 3);
            let cursor = written(&topic, &positions);
            prop_assert!(cursor.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)), "{cursor}");
            prop_assert_eq!(read(&topic, &cursor), Ok(expected));
            prop_assert_eq!(read(&"others".into(), &cursor), Err(NoCursor::Foreign("others".into())));
        }

        #[test]
        fn what_is_no_cursor_is_refused(garbage in "\\PC{0,60}", cut in 1_usize..6) {
            let topic: Arc<str> = "verdicts".into();
            // It may be one by chance, but then not of this topic.
            prop_assert!(read(&topic, &garbage).is_err());
            let good = written(&topic, &Positions([(Partition::new("verdicts", 3), 70_000)].into()));
            prop_assert_eq!(read(&topic, &good[..good.len() - cut]), Err(NoCursor::Garbled));
            prop_assert_eq!(read(&topic, &format!("{good}AAAA")), Err(NoCursor::Garbled));
            prop_assert_eq!(read(&topic, &"A".repeat(BYTES_MAX + 1)), Err(NoCursor::Garbled));
        }
    }
}
