//! What it means that two documents share something.
//!
//! [`relation`] is Kang's decision tree over the long sentences that two documents share, [`url_similarity`] his
//! measure of two URLs, and [`passages`] the stretches of text that stand in both. All of them look at two documents
//! alone; what needs the spread of a text over many documents waits for the store.

pub mod comparison;
pub mod passages;
pub mod relation;
pub mod url_similarity;
