//! `GET /v1/explain/{id}`: why a document got its verdict.
//!
//! Its record, and those of the documents that the verdict names, are read again from the bus, by their positions, and signed and
//! compared again. What the bus has deleted since is said to be gone; so is all of it where records are not read again for people
//! (`texts.reread`).
//!
//! # Invariants
//! - So many are explained at once, for so long; the rest are told to come again. (`explanations_are_bounded`)

use super::App;
use super::document::{self, looked_up};
use super::id::Id;
use super::problem::Problem;
use super::query::Query;
use crate::pipeline::explanation::near::NoMirror;
use crate::pipeline::explanation::records::{Found, Records};
use crate::pipeline::explanation::scores::Measure;
use crate::pipeline::explanation::shared::{self, Archive, Bounds, Named, Reading};
use crate::pipeline::explanation::{Explanation, Record, SCHEMA, scores};
use crate::pipeline::lexicon;
use crate::pipeline::run::inlet::Ways;
use crate::pipeline::run::question::{Answer, Known, Question};
use crate::pipeline::{Made, Steps};
use crate::verdict::event::{ClusterEvent, Source, Verdict};
use axum::Json;
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Response};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::Handle;

/// Explanations at once: each signs documents, which is what the run needs its processors for.
pub(super) const AT_ONCE_MAX: usize = 2;
/// What was not read by then is left out.
const PATIENCE: Duration = Duration::from_secs(10);
/// Passages that are quoted of each pair, where nothing else is asked for, and at most.
const PASSAGES: u64 = 10;
const PASSAGES_MAX: u64 = 100;
/// Of a longer passage the beginning is quoted.
const QUOTED_BYTES_MAX: usize = 2000;

/// Why a document got its verdict: every score beside its threshold, and the passages that it shares, quoted from both texts.
#[utoipa::path(
    get, path = "/v1/explain/{*id}", tag = "out", operation_id = "explain", security((), ("token" = [])),
    params(
        ("id" = String, Path, description = "The document's id, with its slashes; percent-encode what a path cannot hold."),
        ("passages" = Option<u64>, Query, minimum = 0, maximum = 100, description = "Passages that are quoted of each pair."),
    ),
    responses(
        (status = 200, description = "The explanation.", body = ref("explanation.json")),
        (status = 404, description = "No such document.", body = ref("problem.json"), content_type = "application/problem+json"),
        Problem,
    )
)]
pub(super) async fn explain(
    State(app): State<Arc<App>>,
    Id(id): Id,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let mut query = Query::read(query.as_deref());
    let passages_max = query.number("passages", 0..=PASSAGES_MAX)?.unwrap_or(PASSAGES) as usize;
    query.end("passages")?;
    let full = |_| Problem::busy("explanations", "as many documents are being explained as may be");
    let permit = app.explanations.clone().try_acquire_owned().map_err(full)?;
    let (verdict, known) = looked_up(&app, &id).await?;
    let named = named(verdict.as_deref(), known.as_deref(), &id);
    let sources = sources(&app, &named).await?;
    let cluster = match verdict.as_ref().and_then(|verdict| verdict.cluster.as_ref()) {
        Some(cluster) => current(&app, cluster).await?,
        None => None,
    };
    let bounds = Bounds { passages_max, quoted_bytes_max: QUOTED_BYTES_MAX };
    let asked = Asked { id, verdict, known, cluster, named, sources };
    let explained = tokio::task::spawn_blocking(move || {
        let _permit = permit;
        asked.explained(&app, bounds)
    });
    let explained = explained.await.map_err(|error| Problem::bug(&error))?;
    let failed = |error: anyhow::Error| Problem::busy("lexicon", format!("{error:#}"));
    Ok(Json(explained.map_err(failed)?).into_response())
}

/// The documents that are to be read beside it: those that the verdict names, or the head of its group.
fn named(verdict: Option<&Verdict>, known: Option<&Known>, id: &str) -> Vec<Named> {
    let head = known.and_then(|known| known.group.as_ref()).map(|group| &group.head).filter(|head| **head != *id);
    match (verdict, head) {
        (Some(verdict), _) => shared::named(verdict),
        (None, Some(head)) => vec![Named { of: head.clone(), class: "mirror", share: None }],
        (None, None) => Vec::new(),
    }
}

/// Where the records of `named` are: as their last verdicts say, or as the store knows.
async fn sources(app: &App, named: &[Named]) -> Result<HashMap<String, Source>, Problem> {
    let mut sources = HashMap::new();
    let mut unknown = Vec::new();
    for Named { of, .. } in named {
        match app.state.directory().verdict(of) {
            Some(verdict) => drop(sources.insert(of.clone(), verdict.source.clone())),
            None => unknown.push(of.clone()),
        }
    }
    if !unknown.is_empty()
        && let Answer::Sources(found) = app.ask(Question::Sources(unknown.clone())).await?
    {
        sources.extend(unknown.into_iter().zip(found).filter_map(|(id, source)| Some((id, source?))));
    }
    Ok(sources)
}

/// The cluster as it is now.
pub(super) async fn current(app: &App, cluster: &str) -> Result<Option<ClusterEvent>, Problem> {
    match app.ask(Question::Cluster(cluster.to_owned())).await? {
        Answer::Cluster(cluster) => Ok(cluster.map(|cluster| *cluster)),
        _ => unreachable!("a cluster was asked for"),
    }
}

/// What is known of a document that is to be explained.
struct Asked {
    id: String,
    verdict: Option<Arc<Verdict>>,
    known: Option<Box<Known>>,
    cluster: Option<ClusterEvent>,
    named: Vec<Named>,
    sources: HashMap<String, Source>,
}

impl Asked {
    fn explained(self, app: &App, bounds: Bounds) -> anyhow::Result<Explanation> {
        let Self { id, verdict, known, cluster, named, sources } = self;
        let settings = &*app.settings;
        let steps = Steps::new(settings, lexicon::load(settings)?);
        let until = Instant::now() + PATIENCE;
        let records = settings.texts.reread.then(|| Records::new(app.bus.clone(), Ways::new(settings), until));
        let source = document::source(verdict.as_deref(), known.as_deref());
        let mut archive = OnBus { records, steps, sources };
        let record = known.map(|known| *known).map(|Known { kind, group, prototype, .. }| Record {
            kind,
            source: prototype.map(|prototype| prototype.source),
            copy_of: group.as_ref().map(|group| group.head.clone()).filter(|head| *head != id),
            group_size: group.as_ref().map_or(0, |group| group.size),
            group_domains: group.as_ref().map_or(0, |group| group.domains),
        });
        let (shared, own) = match &source {
            Some(source) => shared::of((&id, source), named, &mut archive, bounds, settings),
            None => (Vec::new(), None),
        };
        let near = verdict.as_deref().zip(own.as_deref());
        let near = near.and_then(|(verdict, own)| near_one(app, verdict, own, &mut archive));
        let measure = own.map(|own| Measure::of(&own.text, &own.signatures));
        let verdict = verdict.map(Arc::unwrap_or_clone);
        Ok(Explanation {
            schema: SCHEMA,
            id,
            recomputed: false,
            record,
            n_events: verdict.as_ref().map_or(0, |verdict| verdict.revision as usize + 1),
            scores: verdict.as_ref().map(|verdict| scores::of(verdict, measure, settings)).unwrap_or_default(),
            cluster,
            shared,
            near,
            text_is_gone: measure.is_none(),
            verdict,
        })
    }
}

/// Whom the document of a `verdict` is near to, as the store says that is asked from a thread that may wait. Without an answer the
/// explanation goes without it.
fn near_one(app: &App, verdict: &Verdict, own: &Made, archive: &mut OnBus) -> Option<NoMirror> {
    let question = Question::Near(Box::new(NoMirror::asked(verdict, own)?));
    let Ok(Answer::Near(Some((near, source)))) = Handle::current().block_on(app.ask(question)) else { return None };
    archive.sources.extend(source.map(|source| (near.of.clone(), source)));
    Some(NoMirror::told(near, own, archive, &app.settings.mirror))
}

/// Records of the bus, and which document is in which.
struct OnBus {
    /// None, where they are not to be read again.
    records: Option<Records>,
    steps: Steps,
    sources: HashMap<String, Source>,
}

impl Archive for OnBus {
    fn source(&mut self, id: &str) -> Option<Source> {
        self.sources.get(id).cloned()
    }

    fn read(&mut self, source: &Source, id: &str) -> Reading {
        match self.records.as_ref().map_or(Found::Gone, |records| records.find(source)) {
            Found::Document(record) => match self.steps.sign(&record) {
                Ok(signed) if signed.document.identity.id == id => Reading::Read(Box::new(signed.kept())),
                // Another has its place.
                Ok(_) | Err(_) => Reading::Gone,
            },
            Found::Gone | Found::Failed(_) => Reading::Gone,
            Found::Late => Reading::Late,
        }
    }

    fn place(&self, Source { topic, partition, offset, .. }: &Source) -> String {
        format!("{topic}/{partition}/{offset}")
    }
}
