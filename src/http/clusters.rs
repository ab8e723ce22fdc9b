//! `GET /v1/clusters` and `GET /v1/clusters/{id}`: the style clusters that are templates, and one of them with some of its members.

use super::App;
use super::explain::current;
use super::id::Id;
use super::problem::Problem;
use super::query::{Query, words};
use crate::pipeline::directory::{Growth, Told};
use crate::verdict::event::{ClusterEvent, TemplateKind, Verdict};
use axum::Json;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use serde::Serialize;
use std::cmp::Ordering;
use std::sync::Arc;
use utoipa::openapi::schema::Object;

/// Clusters of a list, where nothing else is asked for, and at most.
const LISTED: u64 = 100;
const LISTED_MAX: u64 = 1000;
/// Members that are shown of a cluster, where nothing else is asked for, and at most.
const MEMBERS: u64 = 20;
const MEMBERS_MAX: u64 = 1000;

/// A list of clusters (`schemas/clusters.json`).
#[derive(Serialize)]
pub(super) struct List {
    clusters: Vec<Arc<ClusterEvent>>,
    /// How many meet what was asked for.
    n: usize,
}

/// A cluster and some of its members (`schemas/members.json`).
#[derive(Serialize)]
pub(super) struct Members {
    cluster: Arc<ClusterEvent>,
    /// Those that were judged of late, the newest first.
    members: Vec<Arc<Verdict>>,
    /// Its sizes as they were told, the oldest first.
    growth: Growth,
}

/// What can be asked of a list, as `/openapi.json` has it.
#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "it is [`clusters`] that reads them; the test of the contract compares the two")]
pub(super) struct Choice {
    #[param(schema_with = orders)]
    sort: Option<String>,
    #[param(schema_with = kinds)]
    kind: Option<String>,
    /// At most so many: 100 where nothing is said.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u64>,
}

fn orders() -> Object {
    let by = "By mean similarity times domains (`rank`, where nothing is said), by members, by their domains, or by when it was told of.";
    words(&ORDERS, by)
}

fn kinds() -> Object {
    words(&KINDS, "Only those of this kind.")
}

/// By what a list goes.
#[derive(Clone, Copy)]
enum Order {
    Rank,
    Size,
    Domains,
    Recent,
}

const ORDERS: [(&str, Order); 4] =
    [("rank", Order::Rank), ("size", Order::Size), ("domains", Order::Domains), ("recent", Order::Recent)];

const KINDS: [(&str, TemplateKind); 4] = [
    ("template", TemplateKind::Template),
    ("link_farm", TemplateKind::LinkFarm),
    ("mirror", TemplateKind::Mirror),
    ("copy_paste", TemplateKind::CopyPaste),
];

/// The style clusters that are templates, the first first.
#[utoipa::path(
    get, path = "/v1/clusters", tag = "out", operation_id = "clusters", security((), ("token" = [])),
    params(Choice),
    responses((status = 200, description = "The clusters.", body = ref("clusters.json")), Problem)
)]
pub(super) async fn clusters(State(app): State<Arc<App>>, RawQuery(query): RawQuery) -> Result<Json<List>, Problem> {
    let mut query = Query::read(query.as_deref());
    let order = query.word("sort", &ORDERS)?.unwrap_or(Order::Rank);
    let kind = query.word("kind", &KINDS)?;
    let n_max = query.number("limit", 1..=LISTED_MAX)?.unwrap_or(LISTED) as usize;
    query.end("sort, kind, limit")?;
    app.holds_verdicts()?;
    let listed = tokio::task::spawn_blocking(move || listed(&app, order, kind, n_max)).await;
    listed.map(Json).map_err(|error| Problem::bug(&error))
}

fn listed(app: &App, order: Order, kind: Option<TemplateKind>, n_max: usize) -> List {
    let mut all = app.state.directory().clusters.all();
    // What became part of another is counted there.
    all.retain(|told| told.cluster.merged_into.is_none() && kind.is_none_or(|kind| told.cluster.kind == kind));
    all.sort_by(|a, b| by(order, b, a).then_with(|| a.cluster.id.cmp(&b.cluster.id)));
    let n = all.len();
    List { clusters: all.into_iter().take(n_max).map(|told| told.cluster).collect(), n }
}

fn by(order: Order, a: &Told, b: &Told) -> Ordering {
    let (a_cluster, b_cluster) = (&a.cluster, &b.cluster);
    match order {
        Order::Rank => a_cluster.rank.total_cmp(&b_cluster.rank),
        Order::Size => a_cluster.size.cmp(&b_cluster.size),
        Order::Domains => a_cluster.domains.cmp(&b_cluster.domains),
        Order::Recent => a.turn.cmp(&b.turn),
    }
}

/// A style cluster, with some of its members.
#[utoipa::path(
    get, path = "/v1/clusters/{*id}", tag = "out", operation_id = "cluster", security((), ("token" = [])),
    params(
        ("id" = String, Path, description = "The cluster's id, as verdicts have it."),
        ("members" = Option<u64>, Query, minimum = 0, maximum = 1000, description = "At most so many members: 20 where nothing is said."),
    ),
    responses(
        (status = 200, description = "The cluster.", body = ref("members.json")),
        (status = 404, description = "No such cluster.", body = ref("problem.json"), content_type = "application/problem+json"),
        Problem,
    )
)]
pub(super) async fn cluster(
    State(app): State<Arc<App>>,
    Id(id): Id,
    RawQuery(query): RawQuery,
) -> Result<Json<Members>, Problem> {
    let mut query = Query::read(query.as_deref());
    let n_max = query.number("members", 0..=MEMBERS_MAX)?.unwrap_or(MEMBERS) as usize;
    query.end("members")?;
    app.holds_verdicts()?;
    let unknown = || {
        let detail = "no such cluster is known here: it may have gone";
        Problem::new(StatusCode::NOT_FOUND, "unknown_cluster", detail)
    };
    // As it is now; where it became part of another, or has too few members, as it was last told of.
    let now = current(&app, &id).await?.map(Arc::new);
    let cluster = now.or_else(|| app.state.directory().cluster(&id)).ok_or_else(unknown)?;
    let shown = tokio::task::spawn_blocking(move || {
        let members = members(&app, &cluster, n_max);
        let growth = app.state.directory().clusters.growth(&cluster.id);
        Members { cluster, members, growth }
    });
    shown.await.map(Json).map_err(|error| Problem::bug(&error))
}

/// Those that bear its id, and its leaders: the first was judged before there was a cluster.
fn members(app: &App, cluster: &ClusterEvent, n_max: usize) -> Vec<Arc<Verdict>> {
    let recent = app.state.directory().verdicts.newest(None).map(|(_, verdict)| verdict);
    let is_member =
        |verdict: &Arc<Verdict>| verdict.cluster.as_ref() == Some(&cluster.id) || cluster.leaders.contains(&verdict.id);
    recent.filter(is_member).take(n_max).collect()
}
