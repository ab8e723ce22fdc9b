//! Every event that something is measured by could be published as it is: it is valid by its schema.

use super::super::schemas::Schema;
use super::{ClusterEvent, Verdict};
use serde::Serialize;
use std::sync::LazyLock;

static VERDICT: LazyLock<Schema> = LazyLock::new(|| Schema::named("verdict"));
static CLUSTER: LazyLock<Schema> = LazyLock::new(|| Schema::named("cluster"));

/// Panics where one of `verdicts` is not valid by its schema.
pub(super) fn check_verdicts(verdicts: &[Verdict]) {
    verdicts.iter().for_each(|verdict| check(&VERDICT, &verdict.id, verdict));
}

/// Panics where one of `clusters` is not valid by its schema.
pub(super) fn check_clusters(clusters: &[ClusterEvent]) {
    clusters.iter().for_each(|cluster| check(&CLUSTER, &cluster.id, cluster));
}

fn check(schema: &Schema, id: &str, event: &impl Serialize) {
    let event = serde_json::to_value(event).unwrap();
    // To say what is wrong takes longer than to say that nothing is.
    if !schema.accepts(&event) {
        schema.check(id, &event);
    }
}

#[test]
#[should_panic = "patch_fraction"]
fn an_event_that_is_not_valid_is_told() {
    let mut verdict = super::made::quilt("a", &[("b", Default::default())]);
    verdict.quilt.as_mut().unwrap().patch_fraction = 1.5;
    check_verdicts(&[verdict]);
}
