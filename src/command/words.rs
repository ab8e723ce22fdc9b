//! What counts, classes and evidence are called where people read them, once.
//!
//! # Invariants
//! - One thing is not several. (`one_thing_is_not_several`)
//! - A share is never said to be all or nothing where it is not. (`a_percentage_never_claims_all_or_nothing`)

use crate::store::Objection;
use crate::verdict::event::{Signal, TemplateKind};
use crate::verdict::relation::Relation;
use std::fmt::Display;

/// A number and what there are so many of, by its name for one.
pub(super) fn counted(n: impl Display + TryInto<u64>, one: &str) -> String {
    let number = n.to_string();
    let is_one = n.try_into().is_ok_and(|n| n == 1);
    match one.strip_suffix('y') {
        _ if is_one => format!("{number} {one}"),
        Some(stem) => format!("{number} {stem}ies"),
        None => format!("{number} {one}s"),
    }
}

/// `one` where there is one, else `several`.
pub(super) fn verb<'a>(n: impl TryInto<u64>, one: &'a str, several: &'a str) -> &'a str {
    if n.try_into().is_ok_and(|n| n == 1) { one } else { several }
}

/// A share as people say it; never 100 % for less than all, never 0 % for more than nothing.
pub(super) fn percent(share: f64) -> String {
    let percent = (100.0 * share).round();
    match percent {
        100.0 if share < 1.0 => "over 99 %".to_owned(),
        0.0 if share > 0.0 => "under 1 %".to_owned(),
        _ => format!("{percent} %"),
    }
}

/// What led from a document to another.
pub(super) fn signal(signal: Signal) -> &'static str {
    match signal {
        Signal::Digest => "the digest of the text",
        Signal::Imatch => "I-Match",
        Signal::Minhash => "minhash",
        Signal::Sentences => "long sentences",
    }
}

/// Why one document is no copy of another.
pub(super) fn objection(objection: Objection) -> &'static str {
    match objection {
        Objection::Likeness => "they have keys in common, and are not alike enough",
        Objection::Core(..) => "without menus, quotes and footers they are not the same",
        Objection::LittleCore => "the few words outside of quotes and footers are not the same",
        Objection::Site => "they are pages of one site, and share what it puts around its pages, or too little text",
        Objection::Head(_) => "it is like a copy of a third document, and too unlike that one",
    }
}

/// How two documents are related.
pub(super) fn relation(relation: Relation) -> &'static str {
    match relation {
        Relation::ExcerptList => "excerpt list",
        Relation::SameSite => "same site",
        Relation::LinkList => "link list",
        Relation::SharedPassages => "shared passages",
        other => other.name(),
    }
}

/// A kind of template.
pub(super) fn template_kind(kind: TemplateKind) -> &'static str {
    match kind {
        TemplateKind::Template => "template",
        TemplateKind::LinkFarm => "link farm",
        TemplateKind::Mirror => "mirrored site",
        TemplateKind::CopyPaste => "copy and paste",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_is_not_several() {
        assert_eq!(["1 document", "1 copy"], [counted(1_u32, "document"), counted(1_usize, "copy")]);
        assert_eq!(["0 documents", "2 copies"], [counted(0_u64, "document"), counted(2_u64, "copy")]);
        assert_eq!(("is", "are"), (verb(1_u64, "is", "are"), verb(0_u64, "is", "are")));
    }

    #[test]
    fn a_percentage_never_claims_all_or_nothing() {
        for (share, said) in [(1.0, "100 %"), (0.9999, "over 99 %"), (0.5, "50 %"), (0.0001, "under 1 %"), (0.0, "0 %")]
        {
            assert_eq!(percent(share), said);
        }
    }
}
