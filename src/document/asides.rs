//! The parts of a mail's text that are not its sender's own new words: quoted lines, signatures, list footers.

use super::Span;
use serde::Serialize;

/// A marked stretch of a mail's text, whole lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Aside {
    /// What it is.
    pub sort: AsideSort,
    /// Where it is.
    pub span: Span,
}

/// What an aside is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AsideSort {
    /// Lines quoted from another mail, with the line that introduces them.
    Quoted,
    /// The sender's signature.
    Signature,
    /// What a list or a provider puts below every mail.
    Footer,
}

/// Finds the asides of a mail's visible `text` (its first line, the subject, is never one) in one pass.
pub fn mark(text: &str, asides: &mut Vec<Aside>) {
    let _ = (text, asides);
    todo!()
}
