//! What is said of a document: one [`Verdict`] per document, and [`ClusterEvent`]s beside it, as they are published.
//!
//! The names are the contract with whoever reads the stream: `schemas/verdict.json` and `schemas/cluster.json` document
//! every field. Adding one is compatible; changing what one means needs a new [`SCHEMA`].
//!
//! # Invariants
//! - A class object is there exactly when its class is. (`tests/promises/schemas.rs`)
//! - What is written can be read back, equal. (`events_survive_json`)

use super::relation::{Direction, Relation};
use crate::document::{Kind, Span};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The number of `schemas/verdict.json` and `schemas/cluster.json`.
pub const SCHEMA: u32 = 1;

/// Where a record came from. In `scan` the topic is the path, the partition 0 and the offset the number in the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Source {
    /// The topic or path.
    pub topic: Arc<str>,
    /// The partition.
    pub partition: i32,
    /// The offset.
    pub offset: i64,
    /// When the bus got the record, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
}

/// What is said of one document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The document's id.
    pub id: String,
    /// Page or mail; `None` where the record could not be opened.
    pub kind: Option<Kind>,
    /// A page's URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The registered domain of the URL or of the sender.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// The record.
    pub source: Source,
    /// Counts the events of one source record, from 0.
    pub revision: u32,
    /// Whether it was judged.
    pub outcome: Outcome,
    /// Why it was rejected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether a limit cut something off.
    pub truncated: bool,
    /// Whether the id was seen before, and with the same text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recrawl: Option<Recrawl>,
    /// What it is; empty for an original.
    pub classes: Vec<Class>,
    /// The style cluster, from its second document on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// Whose copy it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mirror: Option<Mirror>,
    /// Whose words it holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quilt: Option<Quilt>,
    /// Whose style it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<Template>,
    /// What shares rare sentences with it and has no effect on its classes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub related: Vec<Related>,
    /// Labels that it carries.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<Carried>,
    /// Every score, crossed or not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub features: Option<Features>,
}

impl Verdict {
    /// A verdict that says nothing yet of the document `id`.
    pub fn bare(id: String, kind: Option<Kind>, source: Source, outcome: Outcome) -> Self {
        Self {
            schema: SCHEMA,
            id,
            kind,
            url: None,
            domain: None,
            source,
            revision: 0,
            outcome,
            reason: None,
            truncated: false,
            recrawl: None,
            classes: Vec::new(),
            cluster: None,
            mirror: None,
            quilt: None,
            template: None,
            related: Vec::new(),
            labels: Vec::new(),
            features: None,
        }
    }

    /// The id under which all of its group of copies are labelled: that of the head, which is its own where it is no copy.
    pub fn group(&self) -> &str {
        // Who is contained in another stays its own head.
        self.mirror
            .as_ref()
            .filter(|mirror| mirror.signals != [Signal::Sentences])
            .map_or(&self.id, |mirror| &mirror.of)
    }
}

/// Whether a record was judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It was.
    Judged,
    /// There is too little text.
    Insufficient,
    /// It could not be read.
    Rejected,
}

/// A document seen again under its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Recrawl {
    /// With the same text.
    Unchanged,
    /// With another.
    Changed,
}

/// What a document can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// A near copy of, or contained in, another.
    Mirror,
    /// Stitched together from several others.
    Quilt,
    /// Made by the same generator as others.
    Template,
}

impl Class {
    /// The name in verdicts.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mirror => "mirror",
            Self::Quilt => "quilt",
            Self::Template => "template",
        }
    }
}

/// Whose copy a document is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mirror {
    /// The id of the first of its kind.
    pub of: String,
    /// The id (or URL) of the preferred copy, by policy.
    pub canonical: String,
    /// Where the first of its kind was fetched from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The verified similarity to `of`: of shingles for pages, the cosine of distinct terms for mails.
    pub resemblance: f64,
    /// R of the sentence method.
    pub overlap: f64,
    /// Simpson's coefficient of the sentence method.
    pub containment: f64,
    /// Which lies in which.
    pub direction: Direction,
    /// The leaf of the sentence method's tree.
    pub relation: Relation,
    /// The keys that found it: `digest`, `imatch`, `minhash`, `sentences`.
    pub signals: Vec<Signal>,
    /// The view of the text that matched.
    pub view: TextView,
    /// Documents of the group so far.
    pub size: u32,
    /// Their registered domains (of senders, for mail): exact when few, else estimated.
    pub domains: u32,
}

/// A kind of key that found a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Signal {
    /// The same words in the same order.
    Digest,
    /// A coordinate of extended I-Match.
    Imatch,
    /// A band of minhash.
    Minhash,
    /// Rare long sentences.
    Sentences,
}

/// A view of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextView {
    /// What is shown.
    #[default]
    Shown,
    /// Content blocks; mails without quotes, signatures and footers.
    Core,
    /// With what is hidden.
    Full,
    /// The words of a mail below its subject, all the same.
    Body,
}

/// Whose words a document holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Quilt {
    /// The share of its words that stand in the sources.
    pub patch_fraction: f64,
    /// Quilt, or aggregator.
    pub kind: QuiltKind,
    /// A minimal cover, the largest share first.
    pub sources: Vec<QuiltSource>,
}

/// Whether a quilt says where its patches come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuiltKind {
    /// It does not.
    Quilt,
    /// It links to its sources.
    Aggregator,
}

/// One source of a quilt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QuiltSource {
    /// Its id.
    pub of: String,
    /// Its URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The share of the quilt's words that stand in it.
    pub share: f64,
    /// Whether the quilt links to it.
    pub linked: bool,
    /// Where, in the quilt's visible text.
    pub spans: Vec<Span>,
}

/// Whose style a document has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Template {
    /// The cluster's id.
    pub cluster: String,
    /// The similarity of page frames to the leader.
    pub frame: f64,
    /// The similarity of HTML styles inside tags to the leader.
    pub style: f64,
    /// Bins of the style that agree, of 128.
    pub bins: u32,
    /// Members so far.
    pub size: u32,
    /// Their registered domains: exact when few, else estimated.
    pub domains: u32,
    /// What sort of template.
    pub kind: TemplateKind,
}

/// What sort of template a cluster is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TemplateKind {
    /// One generator.
    #[default]
    Template,
    /// A template of several domains, most of which pages of the others link to.
    LinkFarm,
    /// Copies of one site on several hosts.
    Mirror,
    /// The same text in one frame under unrelated addresses.
    CopyPaste,
}

/// A document that shares rare sentences.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Related {
    /// Its id.
    pub of: String,
    /// Its URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The leaf of the sentence method's tree.
    pub relation: Relation,
    /// R.
    pub overlap: f64,
    /// Simpson's coefficient.
    pub containment: f64,
    /// Which lies in which.
    pub direction: Direction,
}

/// A label that a verdict carries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Carried {
    /// The label.
    pub label: String,
    /// How it got here.
    pub via: Via,
    /// The labelled document, cluster or domain.
    pub of: String,
    /// Whether an `allow` among the labels outweighs it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub overridden: bool,
}

/// By which path a verdict got a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Via {
    /// The document itself is labelled.
    Document,
    /// It is a copy of a labelled document.
    Mirror,
    /// It is in a labelled cluster, or in one that has taken a labelled one in.
    Template,
    /// Its (for `allow`: authenticated) sender domain, or a page's domain, is labelled.
    Domain,
}

/// Every score of a document, for classifiers: flat, numeric, crossed or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Features {
    /// Units of the visible text.
    pub n_words: f64,
    /// Units of its core.
    pub n_core_words: f64,
    /// Distinct terms.
    pub n_terms: f64,
    /// Long sentences.
    pub n_long_sentences: f64,
    /// Distinct links.
    pub n_links: f64,
    /// Distinct registered domains that they lead to.
    pub n_link_domains: f64,
    /// The best similarity to a prototype that was compared, whether or not it was enough.
    pub resemblance: f64,
    /// R to the same, or to the closest by sentences.
    pub overlap: f64,
    /// Simpson's coefficient.
    pub containment: f64,
    /// Documents of the group.
    pub group_size: f64,
    /// Registered domains of the group.
    pub group_domains: f64,
    /// I-Match coordinates that agree with a live prototype.
    pub imatch_hits: f64,
    /// Minhash bands that agree with a live prototype.
    pub minhash_hits: f64,
    /// The share of words in patches.
    pub patch_fraction: f64,
    /// Sources in the cover, enough or not.
    pub n_sources: f64,
    /// The share of the largest source.
    pub source_share_max: f64,
    /// The share of them that it links to.
    pub sources_linked: f64,
    /// The share of grams that others hold, common ones included.
    pub grams_known: f64,
    /// The best frame similarity that was compared.
    pub frame: f64,
    /// The best style similarity that was compared.
    pub style: f64,
    /// Style bins that agree.
    pub style_bins: f64,
    /// Members of the cluster.
    pub cluster_size: f64,
    /// Registered domains of the cluster.
    pub cluster_domains: f64,
    /// The share of its domains that members of others link to.
    pub cluster_linked: f64,
    /// Whether it was seen before (1: unchanged, 2: changed).
    pub recrawl: f64,
    /// Documents related by rare sentences.
    pub n_related: f64,
}

/// A style cluster, as `clusters` has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClusterEvent {
    /// [`SCHEMA`].
    pub schema: u32,
    /// Its id.
    pub id: String,
    /// Page or mail.
    pub kind_of_documents: Kind,
    /// Members so far.
    pub size: u32,
    /// Their registered domains: exact when few, else estimated.
    pub domains: u32,
    /// Mean similarity of members to the leader they joined.
    pub similarity: f64,
    /// Mean similarity times domains: what the ranking goes by.
    pub rank: f64,
    /// What sort of template.
    pub kind: TemplateKind,
    /// The share of its domains that members of others link to.
    pub linked: f64,
    /// The share of members that are copies of an earlier document.
    pub copies: f64,
    /// The ids of its leaders, the oldest first.
    pub leaders: Vec<String>,
    /// The older cluster that it has become part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged_into: Option<String>,
    /// Whether it has gone from the store.
    #[serde(default)]
    pub expired: bool,
}
