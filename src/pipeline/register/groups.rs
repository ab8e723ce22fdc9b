//! Whom a label on a document is put on: the head of the group that it is a copy in, as its last verdict says.
//!
//! Copies leave nothing in the store, so the store cannot tell whose copy an id is; the verdicts can, as long as they are kept.

use crate::bus::sweep::last_under;
use crate::bus::{Bus, BusError};
use crate::verdict::event::Verdict;
use std::collections::HashMap;

/// Of each document that has a verdict the head of its group, which may be itself.
pub fn heads<'a>(
    bus: &dyn Bus,
    verdicts: &str,
    ids: impl IntoIterator<Item = &'a str>,
) -> Result<HashMap<String, String>, BusError> {
    let keys = ids.into_iter().map(|id| id.as_bytes().to_vec()).collect();
    let last = last_under(bus, verdicts, &keys)?;
    let head = |value: &[u8]| {
        let verdict: Verdict = serde_json::from_slice(value).ok()?;
        Some((verdict.id.clone(), verdict.group().to_owned()))
    };
    // What a later release has written may be unreadable here: then nobody knows.
    Ok(last.values().filter_map(|record| head(record.value.as_deref()?)).collect())
}
