//! The lexicons inside the binary. `scripts/build-lexicons` makes them, `docs/LEXICONS.md` says from which text.

use super::{Lexicon, LexiconId};

/// Name and file of every built-in lexicon.
const FILES: [(&str, &[u8]); 3] = [
    ("english-web", include_bytes!("../lexicons/english-web.lexicon")),
    ("english-mail", include_bytes!("../lexicons/english-mail.lexicon")),
    ("japanese", include_bytes!("../lexicons/japanese.lexicon")),
];

/// The names of the built-in lexicons.
pub fn names() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|(name, _)| *name)
}

/// The file of the built-in lexicon called `name`.
pub fn bytes(name: &str) -> Option<&'static [u8]> {
    FILES.iter().find(|(built_in, _)| *built_in == name).map(|(_, bytes)| *bytes)
}

/// The built-in lexicon called `name`.
pub fn lexicon(name: &str) -> Option<Lexicon> {
    Some(Lexicon::from_bytes(bytes(name)?).expect("the built-in lexicons are whole: a test reads each"))
}

/// The id of the built-in lexicon called `name`, without unpacking it.
pub fn id(name: &str) -> Option<LexiconId> {
    super::file::said_id(bytes(name)?)
}
