//! What a kept store still knows of a document: no text, but its record, its group, and what was last said of it.

use super::files::Files;
use super::nearest::Nearest;
use super::{ExplainArguments, Unknown};
use crate::command::scan;
use crate::config::Settings;
use crate::corpus;
use crate::pipeline::explanation::near::NoMirror;
use crate::pipeline::explanation::scores::Measure;
use crate::pipeline::explanation::shared::{Bounds, Named};
use crate::pipeline::explanation::{Explanation, Record, SCHEMA, scores, shared};
use crate::pipeline::scan::place;
use crate::store::Store;
use std::path::Path;

pub(super) fn explained(
    path: &Path,
    arguments: &ExplainArguments,
    settings: &Settings,
) -> anyhow::Result<Result<Explanation, Unknown>> {
    let filter = scan::opened(path, settings)?;
    let store = filter.store();
    let Some((id, known)) = found(store, &arguments.id) else {
        let mut nearest = Nearest::to(&arguments.id);
        store.ids().for_each(|id| nearest.add(&id));
        return Ok(Err(Unknown { nearest }));
    };
    let card = |of| store.card(of);
    let own = known.own.and_then(card);
    let record = Record {
        kind: known.kind,
        source: own.as_ref().map(|card| card.source()),
        copy_of: known.head.filter(|head| known.own != Some(*head)).and_then(card).map(|card| card.id),
        group_size: known.group.0,
        group_domains: known.group.1,
    };
    let verdict = known.own.and_then(|own| filter.judge().last_said(own, store));
    let options = corpus::Options { form: arguments.format, ..corpus::Options::default() };
    let named = match (&verdict, &record.copy_of) {
        (Some(verdict), _) => shared::named(verdict),
        (None, Some(head)) => vec![Named { of: head.clone(), class: "mirror", share: None }],
        (None, None) => Vec::new(),
    };
    let mut files = Files::new(store, &options, settings)?;
    let (shared, own) = match &record.source {
        Some(source) => shared::of((&id, source), named, &mut files, Bounds::NONE, settings),
        None => (Vec::new(), None),
    };
    let near = verdict.as_ref().zip(own.as_deref());
    let near = near.and_then(|(verdict, own)| NoMirror::of(verdict, own, store, &mut files, &settings.mirror));
    let measure = own.map(|own| Measure::of(&own.text, &own.signatures));
    Ok(Ok(Explanation {
        schema: SCHEMA,
        id,
        recomputed: false,
        record: Some(record),
        scores: verdict.as_ref().map(|verdict| scores::of(verdict, measure, settings)).unwrap_or_default(),
        cluster: verdict.as_ref().and_then(|verdict| filter.cluster(verdict.cluster.as_deref()?)),
        shared,
        near,
        text_is_gone: measure.is_none(),
        n_events: verdict.as_ref().map_or(0, |verdict| verdict.revision as usize + 1),
        verdict,
    }))
}

/// The document of this id, or at this place.
fn found(store: &Store, wanted: &str) -> Option<(String, crate::store::Known)> {
    if let Some(known) = store.known(wanted) {
        return Some((wanted.to_owned(), known));
    }
    let own = |id: &String| store.known(id)?.own.and_then(|own| store.card(own));
    let id = store.ids().find(|id| own(id).is_some_and(|card| place(&card.source()) == wanted))?;
    let known = store.known(&id)?;
    Some((id, known))
}
