//! The steps put together.

pub mod lexicon;
