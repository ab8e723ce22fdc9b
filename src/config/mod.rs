//! The typed settings: an embedded, commented `default.toml`, changed by a file, then by the environment.
//!
//! # Invariants
//! - Every key has a default, and a key that is not there is refused by name. (`a_mistyped_key_is_refused_by_name`)
//! - Everything that is wrong is shown at once, with the values. (`all_problems_are_shown_at_once`)

mod check;
mod load;
pub mod manual;
mod milter;
pub mod reference;
mod run;

pub use milter::{Action, Listen, MilterSettings, Server, SocketMode};
pub use run::{
    BatchSettings, BusKind, BusSettings, CheckSettings, HttpSettings, InputForm, KafkaSettings, Mode, SnapshotSettings,
    SuccessionSettings, TextsSettings, TopicSettings,
};

use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

/// The manual: every key with its default and its reason.
pub const DEFAULT: &str = include_str!("default.toml");

/// More threads than this help nobody, and the memory for them may not be there.
pub const THREADS_MAX: usize = 1024;
/// The terms of a lexicon keep their membership in all copies in one 64-bit word, the original included.
pub const COPIES_MAX: usize = 63;

/// All settings, checked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Keys every hash.
    pub secret: Secret,
    /// The file with the settings that were in force before; empty for none.
    pub previous: String,
    /// What it holds.
    #[serde(skip)]
    pub former: Option<Arc<Settings>>,
    /// Whether verdicts are to be acted on.
    pub mode: Mode,
    /// What is too much.
    pub limits: Limits,
    /// Words and sentences.
    pub text: TextSettings,
    /// Content regions.
    pub content: ContentSettings,
    /// Extended I-Match.
    pub imatch: ImatchSettings,
    /// Text minhash.
    pub minhash: MinhashSettings,
    /// Word 5-grams.
    pub grams: GramSettings,
    /// Style and page frame.
    pub style: StyleSettings,
    /// The prototype store.
    pub store: StoreSettings,
    /// Whose copy a document is.
    pub mirror: MirrorSettings,
    /// Whose words it holds.
    pub quilt: QuiltSettings,
    /// Whose style it has.
    pub template: TemplateSettings,
    /// Verdicts that are looked at again.
    pub revisions: RevisionSettings,
    /// How one scheme follows another.
    pub succession: SuccessionSettings,
    /// Which bus `run` is on.
    pub bus: BusSettings,
    /// Its topics.
    pub topics: TopicSettings,
    /// What is folded together.
    pub batch: BatchSettings,
    /// When the state is written down.
    pub snapshot: SnapshotSettings,
    /// The HTTP side.
    pub http: HttpSettings,
    /// Texts that people are shown.
    pub texts: TextsSettings,
    /// Who asks about single documents.
    pub check: CheckSettings,
    /// How mail servers are served.
    pub milter: MilterSettings,
    /// How Kafka is talked to.
    pub kafka: KafkaSettings,
}

/// A value that is never shown.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// Hides `value`.
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    /// The value, for those who need it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl Serialize for Secret {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str("(hidden)")
    }
}

/// What is too much.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "default.toml explains every key, once")]
pub struct Limits {
    pub body_bytes_max: usize,
    pub unpacked_bytes_max: usize,
    pub text_bytes_max: usize,
    pub words_max: usize,
    pub nesting_max: usize,
    pub attributes_max: usize,
    pub links_max: usize,
    pub parts_max: usize,
    pub frame_items_max: usize,
}

/// Words and sentences.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "default.toml explains every key, once")]
pub struct TextSettings {
    pub terms_min: usize,
    pub terms_min_unspaced: usize,
    pub digits_masked_min: usize,
    pub sentence_chars_min: usize,
}

/// Content regions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "default.toml explains every key, once")]
pub struct ContentSettings {
    pub node_share: f64,
    pub link_share: f64,
    pub sentence_chars_max: usize,
}

/// Extended I-Match.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "default.toml explains every key, once")]
pub struct ImatchSettings {
    pub copies: usize,
    pub drop_share: f64,
    pub terms_min: NonZeroUsize,
    pub page_lexicon: String,
    pub mail_lexicon: String,
    pub unspaced_lexicon: String,
    pub page_band: Band,
    pub mail_band: Band,
    pub unspaced_band: Band,
}

/// The terms to keep: those of `min <= nidf <= max`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "[f64; 2]", into = "[f64; 2]")]
pub struct Band {
    /// More common terms are rejected.
    pub min: f64,
    /// Rarer terms are only used where there are too few in the band.
    pub max: f64,
}

impl From<[f64; 2]> for Band {
    fn from([min, max]: [f64; 2]) -> Self {
        Self { min, max }
    }
}

impl From<Band> for [f64; 2] {
    fn from(Band { min, max }: Band) -> Self {
        [min, max]
    }
}

/// Text minhash.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "default.toml explains every key, once")]
pub struct MinhashSettings {
    pub page_shingle_words: NonZeroUsize,
    pub mail_shingle_words: NonZeroUsize,
    pub shingle_characters: NonZeroUsize,
}

/// Word 5-grams.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "default.toml explains every key, once")]
pub struct GramSettings {
    pub window: NonZeroUsize,
}

/// Style and page frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "default.toml explains every key, once")]
pub struct StyleSettings {
    pub parts_min: usize,
    pub frame_items_min: usize,
}

/// The prototype store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "default.toml explains every key, once")]
pub struct StoreSettings {
    pub memory: usize,
    pub share_max: f64,
    pub ttl_hours: u64,
    pub time_jump_max_hours: u64,
    pub cross_kinds: bool,
    pub url_bytes_max: usize,
    pub spelled_one_in: u64,
}

/// Whose copy a document is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "default.toml explains every key, once")]
pub struct MirrorSettings {
    pub bands: NonZeroUsize,
    pub rows: NonZeroUsize,
    pub page_bands: NonZeroUsize,
    pub page_rows: NonZeroUsize,
    pub candidates_max: usize,
    pub cosine_min: f64,
    pub core_cosine_min: f64,
    pub resemblance_min: f64,
    pub resemblance_min_unspaced: f64,
    pub prototype_below: f64,
    pub prototypes_max: usize,
    pub head_min: f64,
    pub sentence_df_max: u8,
    pub contained_chars_min: u32,
    pub site_resemblance_min: f64,
    pub site_containment_min: f64,
    pub site_chars_min: u32,
    pub boilerplate_domains_min: u32,
    pub related_max: usize,
    pub canonical: Canonical,
}

/// Which copy of a group is preferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Canonical {
    /// The first.
    FirstSeen,
    /// The one that the first calls its original.
    RelCanonical,
    /// The one with the most words.
    Longest,
}

/// Whose words a document holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "default.toml explains every key, once")]
pub struct QuiltSettings {
    pub gram_df_max: u8,
    pub sources_min: usize,
    pub fraction_min: f64,
    pub source_grams_min: u32,
    pub source_grams_min_unspaced: u32,
    pub source_own_min: f64,
    pub bridge_words: u32,
    pub bridge_characters: u32,
    pub foreign: bool,
    pub quilts_are_sources: bool,
    pub quoters_are_sources: bool,
    pub parts_are_sources: bool,
    pub linked_min: f64,
    pub owners_max: usize,
    pub remembered_max: usize,
}

/// Whose style a document has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "default.toml explains every key, once")]
pub struct TemplateSettings {
    pub frame_min: f64,
    pub bins_min: u32,
    pub bins_alone_min: u32,
    pub frame_beside_min: f64,
    pub bins_beside_min: u32,
    pub candidates_max: usize,
    pub leader_below: f64,
    pub leaders_max: usize,
    pub merge_min: f64,
    pub size_min: u32,
    pub farm_domains_min: u32,
    pub linked_min: f64,
    pub copies_min: f64,
}

/// Verdicts that are looked at again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "default.toml explains every key, once")]
pub struct RevisionSettings {
    pub queue_max: usize,
    pub per_document: usize,
    pub per_record_max: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self::load(None, &[]).expect("default.toml is well formed: a test reads it")
    }
}

impl Settings {
    /// The defaults, changed by `file`, then by `environment` (pairs of name and value, without other variables).
    pub fn load(file: Option<&Path>, environment: &[(String, String)]) -> Result<Self, Problems> {
        load::load(file, environment)
    }
}

/// All that is wrong with a configuration, one line each.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.join("\n"))]
pub struct Problems(pub Vec<String>);
