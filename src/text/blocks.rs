//! Content regions: which blocks of a page are its content (Kang 2009).

use crate::document::Span;

/// A block of the visible text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Where it is. Merged blocks (same depth, same tag) keep their own spans and share `group`.
    pub span: Span,
    /// The merged block it belongs to.
    pub group: u32,
    /// Whether that is content.
    pub content: bool,
}
