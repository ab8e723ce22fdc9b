//! Lexicons from files.

use crate::config::{Problems, Settings};
use crate::signature::imatch::Lexicons;
use std::sync::Arc;

/// The lexicons that the settings name, built in or from files.
pub fn load(settings: &Settings) -> Result<Arc<Lexicons>, Problems> {
    Lexicons::new(settings, |path| std::fs::read(path))
}
