//! The token that writing needs: made once, in a file that only its owner can read.
//!
//! # Invariants
//! - Instances that start at the same moment agree on one token. (`those_who_start_together_agree`)
//! - The file is its owner's alone from the moment it is there, whole. (`the_token_is_for_its_owner`)
//! - How long a wrong token is looked at does not depend on what is right in it: digests are compared.

use anyhow::{Context, bail};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;
use tracing::{info, warn};

/// Chance that goes into a token: nobody guesses 32 bytes.
const CHANCE_BYTES: usize = 32;
/// A token that somebody has chosen is no shorter.
const CHARS_MIN: usize = 16;

/// The token, as far as it is needed to know it again.
#[derive(Clone)]
pub(super) struct Token(blake3::Hash);

impl Token {
    /// The token in the file; made where there is none.
    pub(super) fn open(path: &Path) -> anyhow::Result<Self> {
        let read = || fs::read_to_string(path).with_context(|| format!("the token {} cannot be read", path.display()));
        let text = match fs::exists(path) {
            Ok(false) => {
                make(path).with_context(|| format!("the token {} cannot be made", path.display()))?;
                read()?
            }
            _ => read()?,
        };
        let token = text.trim();
        if token.len() < CHARS_MIN {
            bail!(
                "the token in {} has fewer than {CHARS_MIN} characters: delete it, and a new one is made",
                path.display()
            );
        }
        if fs::metadata(path)?.permissions().mode() & 0o077 != 0 {
            warn!(path = %path.display(), "others than its owner can read the token (http.token_file)");
        }
        Ok(Self(blake3::hash(token.as_bytes())))
    }

    /// Whether this is it.
    pub(super) fn is(&self, given: &str) -> bool {
        // The comparison of digests takes always the same time.
        blake3::hash(given.trim().as_bytes()) == self.0
    }
}

/// Makes a token, unless another process is faster.
fn make(path: &Path) -> anyhow::Result<()> {
    let mut chance = [0; CHANCE_BYTES + 4];
    getrandom::fill(&mut chance).map_err(|error| anyhow::anyhow!("there is no randomness: {error}"))?;
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let name = path.file_name().context("http.token_file names no file")?.to_string_lossy();
    let (chance, beside) = chance.split_at(CHANCE_BYTES);
    let part = folder.join(format!(".{name}.{}.part", URL_SAFE_NO_PAD.encode(beside)));
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&part)?;
    file.write_all(format!("{}\n", URL_SAFE_NO_PAD.encode(chance)).as_bytes())?;
    file.sync_all()?;
    // A link, not a rename: it does not replace what another has made meanwhile.
    let linked = fs::hard_link(&part, path);
    fs::remove_file(&part)?;
    match linked {
        Ok(()) => info!(path = %path.display(), "token made"),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_is_for_its_owner() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/er/token");
        let token = Token::open(&path).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(text.trim().len() >= 43, "{text}");
        assert!(token.is(text.trim()));
        assert!(Token::open(&path).unwrap().is(text.trim()), "it is kept");
        for wrong in ["", "x", &text.trim()[1..], &format!("{}x", text.trim())] {
            assert!(!token.is(wrong), "{wrong}");
        }
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "nothing is left beside it");
        fs::write(&path, "short\n").unwrap();
        assert!(Token::open(&path).is_err());
    }

    #[test]
    fn those_who_start_together_agree() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        let tokens: Vec<Token> = std::thread::scope(|scope| {
            let starting: Vec<_> = (0..8).map(|_| scope.spawn(|| Token::open(&path).unwrap())).collect();
            starting.into_iter().map(|started| started.join().unwrap()).collect()
        });
        let text = fs::read_to_string(&path).unwrap();
        assert!(tokens.iter().all(|token| token.is(text.trim())));
    }
}
