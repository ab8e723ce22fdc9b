//! The steps put together.
