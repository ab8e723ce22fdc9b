//! Loading, and the rules that types cannot say.

use super::{DEFAULT, Problems, Settings};
use std::path::Path;

pub(super) fn load(file: Option<&Path>, environment: &[(String, String)]) -> Result<Settings, Problems> {
    let _ = (file, environment);
    let settings: Settings = toml::from_str(DEFAULT).map_err(|error| Problems(vec![error.to_string()]))?;
    Ok(settings)
}
