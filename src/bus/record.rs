//! What travels on a bus: records with their positions, records on their way out, and vectors of positions.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// A partition of a topic.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Partition {
    /// The topic.
    pub topic: Arc<str>,
    /// Its number, from 0.
    pub number: i32,
}

impl Partition {
    /// The partition `number` of `topic`.
    pub fn new(topic: impl Into<Arc<str>>, number: i32) -> Self {
        Self { topic: topic.into(), number }
    }
}

impl fmt::Display for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.topic, self.number)
    }
}

/// A header: a name and bytes.
pub type Header = (Arc<str>, Vec<u8>);

/// A record as a bus holds it. Offsets ascend within a partition and may have gaps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Its partition.
    pub partition: Partition,
    /// Its place in it.
    pub offset: i64,
    /// When the bus got it, in milliseconds since 1970.
    pub time_ms: i64,
    /// Its key.
    pub key: Option<Vec<u8>>,
    /// What is said beside the value.
    pub headers: Vec<Header>,
    /// Its value; `None` takes back what was said under its key.
    pub value: Option<Vec<u8>>,
}

impl Record {
    /// The last header of this name: whoever adds one to a record means it to hold.
    pub fn header(&self, name: &str) -> Option<&[u8]> {
        self.headers.iter().rev().find(|(other, _)| **other == *name).map(|(_, value)| &value[..])
    }

    /// Bytes of key, headers and value.
    pub fn n_bytes(&self) -> usize {
        let length = |bytes: &Option<Vec<u8>>| bytes.as_ref().map_or(0, Vec::len);
        let headers: usize = self.headers.iter().map(|(name, value)| name.len() + value.len()).sum();
        length(&self.key) + headers + length(&self.value)
    }
}

/// A record on its way to a bus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// Where to.
    pub topic: Arc<str>,
    /// The partition, where the sender minds. Otherwise the key decides, and without one the partitions take turns.
    pub partition: Option<i32>,
    /// Its key.
    pub key: Option<Vec<u8>>,
    /// What is said beside the value.
    pub headers: Vec<Header>,
    /// Its value.
    pub value: Option<Vec<u8>>,
}

impl Outgoing {
    /// A record without key, headers and value.
    pub fn to(topic: impl Into<Arc<str>>) -> Self {
        Self { topic: topic.into(), partition: None, key: None, headers: Vec::new(), value: None }
    }

    /// Bytes of key, headers and value.
    pub fn n_bytes(&self) -> usize {
        let length = |bytes: &Option<Vec<u8>>| bytes.as_ref().map_or(0, Vec::len);
        let headers: usize = self.headers.iter().map(|(name, value)| name.len() + value.len()).sum();
        length(&self.key) + headers + length(&self.value)
    }
}

/// Of each partition the offset of the next record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Positions(pub BTreeMap<Partition, i64>);

impl Positions {
    /// Where to go on in `partition`: at its beginning, where nothing is known of it.
    pub fn next(&self, partition: &Partition) -> i64 {
        self.0.get(partition).copied().unwrap_or(0)
    }

    /// Notes that the record at `offset` was taken.
    pub fn pass(&mut self, partition: &Partition, offset: i64) {
        match self.0.get_mut(partition) {
            Some(next) => *next = (*next).max(offset + 1),
            None => {
                self.0.insert(partition.clone(), offset + 1);
            }
        }
    }
}

/// By topic, then partition: what a person reads more easily than a list.
impl Serialize for Positions {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut topics: BTreeMap<&str, BTreeMap<String, i64>> = BTreeMap::new();
        for (partition, next) in &self.0 {
            topics.entry(&partition.topic).or_default().insert(partition.number.to_string(), *next);
        }
        topics.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Positions {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let topics: BTreeMap<String, BTreeMap<String, i64>> = Deserialize::deserialize(deserializer)?;
        let mut positions = Self::default();
        for (topic, partitions) in topics {
            let topic: Arc<str> = topic.into();
            for (number, next) in partitions {
                let number = number.parse().map_err(serde::de::Error::custom)?;
                positions.0.insert(Partition::new(topic.clone(), number), next);
            }
        }
        Ok(positions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_survive_json_and_only_advance() {
        let mut positions = Positions::default();
        let (first, second) = (Partition::new("pages", 0), Partition::new("pages", 11));
        positions.pass(&first, 4);
        positions.pass(&first, 2);
        positions.pass(&second, 0);
        assert_eq!((positions.next(&first), positions.next(&second)), (5, 1));
        assert_eq!(positions.next(&Partition::new("emails", 0)), 0);
        let json = serde_json::to_string(&positions).unwrap();
        assert_eq!(json, r#"{"pages":{"0":5,"11":1}}"#);
        assert_eq!(serde_json::from_str::<Positions>(&json).unwrap(), positions);
    }

    #[test]
    fn the_last_header_holds() {
        let headers = vec![("url".into(), b"a".to_vec()), ("url".into(), b"b".to_vec())];
        let partition = Partition::new("pages", 0);
        let record = Record { partition, offset: 0, time_ms: 0, key: None, headers, value: Some(vec![0; 3]) };
        assert_eq!(record.header("url"), Some(&b"b"[..]));
        assert_eq!(record.header("ip"), None);
        assert_eq!(record.n_bytes(), 11);
    }
}
