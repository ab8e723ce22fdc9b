//! Hits become verdicts: what it means that a document shares something with those before it.
//!
//! [`judge`] decides, in document order: whose copy or part it is ([`mirror`]), whose words it holds ([`quilt`], by a [`cover`]), and what a
//! later document changes in that, from what it remembers of every head ([`standings`], [`said`]). [`exact`] is the same after the last document,
//! with nothing left out. What is said is an [`event`].
//!
//! Of two documents alone, [`relation`] is Kang's decision tree over the long sentences that they share, [`url_similarity`] his measure of
//! two URLs, [`vicinity`] whether they are of one site and one page, [`passages`] the stretches of text that stand in both, and [`comparison`] all of it and every signature side by side.
//!
//! [`labels`] are what people have said of documents, clusters and domains, and what a verdict carries of it; [`heirs`] let them
//! outlive a store, [`lineage`] a cluster.

pub mod comparison;
pub mod cover;
pub mod event;
mod exact;
pub mod heirs;
pub mod judge;
mod kinship;
pub mod label;
pub mod labels;
mod lineage;
mod mirror;
mod parts;
pub mod passages;
mod quilt;
pub mod relation;
mod said;
mod scores;
mod standings;
pub mod url_similarity;
pub mod vicinity;
