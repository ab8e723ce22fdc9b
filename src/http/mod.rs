//! The HTTP side.

mod state;

pub use state::{Phase, Role, State};
