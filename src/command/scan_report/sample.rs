//! Events for tests.

use crate::document::Kind;
use crate::verdict::event::{
    Class, ClusterEvent, Mirror, Outcome, Quilt, QuiltKind, QuiltSource, SCHEMA, Signal, Source, TemplateKind,
    TextView, Verdict,
};
use crate::verdict::relation::{Direction, Relation};

pub(super) fn original(id: &str) -> Verdict {
    Verdict::bare(id.to_owned(), Some(Kind::Page), Source::default(), Outcome::Judged)
}

pub(super) fn mirror_of(id: &str, of: &str, resemblance: f64) -> Verdict {
    let mirror = Mirror {
        of: of.to_owned(),
        canonical: of.to_owned(),
        url: None,
        resemblance,
        overlap: 0.8,
        containment: 0.9,
        direction: Direction::Equal,
        relation: Relation::Copy,
        signals: vec![Signal::Imatch, Signal::Minhash],
        view: TextView::Shown,
        size: 2,
        domains: 2,
    };
    Verdict { classes: vec![Class::Mirror], mirror: Some(mirror), ..original(id) }
}

/// A quilt of sources with their spans.
pub(super) fn quilt_of(id: &str, sources: &[(&str, &[(u32, u32)])]) -> Verdict {
    let source = |(of, spans): &(&str, &[(u32, u32)])| QuiltSource {
        of: (*of).to_owned(),
        url: None,
        share: 0.2,
        linked: false,
        spans: spans.iter().map(|&span| span.into()).collect(),
    };
    let sources = sources.iter().map(source).collect();
    let quilt = Quilt { patch_fraction: 0.7, kind: QuiltKind::Quilt, sources };
    Verdict { classes: vec![Class::Quilt], quilt: Some(quilt), ..original(id) }
}

pub(super) fn cluster(id: &str, size: u32, domains: u32) -> ClusterEvent {
    ClusterEvent {
        schema: SCHEMA,
        id: id.to_owned(),
        kind_of_documents: Kind::Page,
        size,
        domains,
        similarity: 0.8,
        rank: 0.8 * f64::from(domains),
        kind: TemplateKind::Template,
        linked: 0.0,
        copies: 0.1,
        leaders: vec![format!("https://{id}.example/")],
        merged_into: None,
        expired: false,
    }
}
