//! What it means that two documents share something.
