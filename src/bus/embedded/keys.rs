//! The last record under a key: the key's partition is looked through from its end, so that what is recent is found at once.
//!
//! There is no index of keys: every verdict would pay for it, and whoever labels a document does so rarely and soon.

use super::feeder::partition_of;
use super::file::File;
use super::reader::records;
use crate::bus::{BusError, Partition, Record};
use std::collections::{HashMap, HashSet};

/// The last record under each of the keys, as far as there is one.
pub(super) fn last(file: &File, topic: &str, keys: &HashSet<Vec<u8>>) -> Result<HashMap<Vec<u8>, Record>, BusError> {
    let connection = file.connect_to_read()?;
    let topic = file.topic(&connection, topic)?;
    let mut wanted: HashMap<i32, HashSet<&[u8]>> = HashMap::new();
    for key in keys {
        wanted.entry(partition_of(&topic, key)).or_default().insert(key);
    }
    let mut found = HashMap::new();
    for (number, mut keys) in wanted {
        let mut places = Vec::new();
        let mut scan = || -> rusqlite::Result<()> {
            let mut statement = connection.prepare_cached(&topic.keys)?;
            let mut rows = statement.query([number])?;
            while let Some(row) = rows.next()? {
                let Some(key) = row.get_ref(1)?.as_blob_or_null()? else { continue };
                if keys.remove(key) {
                    places.push(row.get::<_, i64>(0)?);
                }
                if keys.is_empty() {
                    break;
                }
            }
            Ok(())
        };
        scan().map_err(|error| file.error(error))?;
        for offset in places {
            let partition = Partition::new(topic.name.clone(), number);
            let record = match records(file, &connection, &[(partition, offset)], 1, usize::MAX) {
                // Deleted this moment, for its age.
                Err(BusError::Gone { .. }) => continue,
                record => record?,
            };
            found.extend(record.into_iter().filter_map(|record| Some((record.key.clone()?, record))));
        }
    }
    Ok(found)
}
