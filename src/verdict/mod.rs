//! What it means that two documents share something.
//!
//! [`relation`] is Kang's decision tree over the long sentences that two documents share, [`url_similarity`] his
//! measure of two URLs, and [`passages`] the stretches of text that stand in both. All of them look at two documents
//! alone; what needs the spread of a text over many documents waits for the store. [`labels`] are what people have said
//! of documents, clusters and domains, and what a verdict carries of it; [`heirs`] let them outlive a store.

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
pub mod passages;
mod quilt;
pub mod relation;
mod standings;
pub mod url_similarity;
