//! Lexicons of files, kept beside the snapshots by what they hold.
//!
//! Journal and snapshots name the settings that they were written under. A lexicon that came out of a file is named by its id there:
//! the file may be changed, moved or gone when somebody follows, and what it held is still here. Those that are built in need
//! no keeping. A shelf is small, and nothing is taken from it.
//!
//! # Invariants
//! - What was kept is found by its id, whatever has become of its file. (`a_lexicon_outlives_its_file`)
//! - A kept lexicon that is damaged is refused. (`a_lexicon_outlives_its_file`)

use crate::config::{ImatchSettings, Settings};
use crate::pipeline::lexicon;
use crate::signature::imatch::Lexicons;
use crate::signature::lexicon::{Lexicon, LexiconId};
use anyhow::Context;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The folder's name, beside the snapshots.
const FOLDER: &str = "lexicons";
/// How names of kept lexicons begin; the id follows.
const KEPT: &str = "kept:";

/// Where lexicons are kept.
pub(super) struct Shelf {
    folder: PathBuf,
}

impl Shelf {
    /// That of the store of these settings.
    pub(super) fn new(settings: &Settings) -> Self {
        Self { folder: settings.bus.folder.join(&settings.snapshot.folder).join(FOLDER) }
    }

    /// Keeps those that came out of files.
    pub(super) fn keep(&self, lexicons: &Lexicons) -> anyhow::Result<()> {
        for lexicon in lexicons.of_files().into_iter().flatten() {
            let path = self.path(lexicon.id());
            if path.exists() {
                continue;
            }
            let part = self.folder.join(format!(".{}.{}.part", lexicon.id(), std::process::id()));
            fs::create_dir_all(&self.folder)
                .and_then(|()| fs::write(&part, lexicon.to_bytes()))
                .and_then(|()| fs::File::open(&part)?.sync_all())
                .and_then(|()| fs::rename(&part, &path))
                .with_context(|| format!("a lexicon cannot be kept at {}", path.display()))?;
        }
        Ok(())
    }

    /// The bytes of a lexicon by its name, or by its path if it was not kept.
    pub(super) fn read(&self, name: &Path) -> io::Result<Vec<u8>> {
        let id = name.to_str().and_then(|name| name.strip_prefix(KEPT));
        match id.and_then(|id| u64::from_str_radix(id, 16).ok()) {
            Some(id) => lexicon::read_file(&self.path(LexiconId(id))),
            None => lexicon::read_file(name),
        }
    }

    fn path(&self, id: LexiconId) -> PathBuf {
        self.folder.join(format!("{id}.lexicon"))
    }
}

/// Settings that name lexicons of files by what they hold.
pub(super) fn kept(settings: &ImatchSettings, lexicons: &Lexicons) -> ImatchSettings {
    let mut settings = settings.clone();
    let names = [&mut settings.page_lexicon, &mut settings.mail_lexicon, &mut settings.unspaced_lexicon];
    for (name, lexicon) in names.into_iter().zip(lexicons.of_files()) {
        if let Some(lexicon) = lexicon {
            *name = format!("{KEPT}{}", Lexicon::id(lexicon));
        }
    }
    settings
}

#[cfg(test)]
mod tests {
    use super::super::scheme::{Scheme, SchemeError};
    use super::*;
    use crate::signature::SCHEME;
    use crate::signature::lexicon::About;
    use std::sync::Arc;

    #[test]
    fn a_lexicon_outlives_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("own.lexicon");
        let about = About { name: "own".into(), n_documents: 1000, df_min: 1, ..About::default() };
        let lexicon = Lexicon::new(about, [("apple", 7), ("boat", 90)]).unwrap();
        fs::write(&file, lexicon.to_bytes()).unwrap();
        let mut settings = Settings::default();
        settings.bus.folder = folder.path().join("data");
        settings.imatch.mail_lexicon = file.to_str().unwrap().into();
        let made = Scheme::new(Arc::new(settings.clone())).unwrap();
        let (shelf, decisive) = (Shelf::new(&settings), made.decisive());
        assert_eq!(decisive["imatch"]["mail_lexicon"], format!("kept:{}", lexicon.id()));
        assert_eq!(decisive["imatch"]["page_lexicon"], "english-web");
        let recorded = |ours: &Settings| Scheme::recorded(&decisive, &made.key_id(), SCHEME, ours);
        assert!(matches!(recorded(&settings), Err(SchemeError::Lexicons(_))), "nobody has kept it yet");
        shelf.keep(&made.lexicons).unwrap();
        shelf.keep(&made.lexicons).unwrap();
        fs::remove_file(&file).unwrap();
        settings.imatch.mail_lexicon = "english-mail".into();
        let found = recorded(&settings).unwrap();
        assert!(found.is_like(&made));
        let kept = shelf.path(lexicon.id());
        let mut bytes = fs::read(&kept).unwrap();
        bytes[40] ^= 1;
        fs::write(&kept, bytes).unwrap();
        assert!(matches!(recorded(&settings), Err(SchemeError::Lexicons(_))));
    }
}
