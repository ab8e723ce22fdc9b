//! Questions to the state, and their answers: what only the store knows of a document.
//!
//! The thread that owns the fold answers them between two batches, since nobody else may look at it. So they are few and small: each is
//! a handful of look-ups.

use super::fold::Fold;
use crate::document::Kind;
use crate::store::{Card, Kept, Ref};
use crate::verdict::event::{ClusterEvent, Source, Verdict};
use serde::Serialize;

/// What can be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// What is known of the document of this id?
    Document(String),
    /// Where are the records of these documents?
    Sources(Vec<String>),
    /// How is the cluster of this id?
    Cluster(String),
}

/// What is answered.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// To [`Question::Document`].
    Document(Option<Box<Known>>),
    /// To [`Question::Sources`], one each.
    Sources(Vec<Option<Source>>),
    /// To [`Question::Cluster`].
    Cluster(Option<Box<ClusterEvent>>),
}

/// What the store knows of a document.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Known {
    /// Page or mail.
    pub kind: Kind,
    /// Its group, where that has not gone.
    pub group: Option<Group>,
    /// Its own record, where that is kept: copies near to their head have none.
    pub prototype: Option<Prototype>,
    /// What was last said of it, as far as that can be told from its record.
    #[serde(skip)]
    pub verdict: Option<Verdict>,
}

/// A group of copies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Group {
    /// The id of the first.
    pub head: String,
    /// Documents so far.
    pub size: u32,
    /// Their registered domains: exact when few, else estimated.
    pub domains: u32,
    /// The ids of those that others are compared with: the head, and up to three more.
    pub prototypes: Vec<String>,
}

/// A stored document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Prototype {
    /// Its URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Its registered domain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// The page's own word on where its original is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub canonical: Option<String>,
    /// Its record.
    pub source: Source,
    /// Whether it is the first of its group.
    pub is_head: bool,
    /// Whether a limit cut something off.
    pub truncated: bool,
    /// Units of its core.
    pub n_core_words: u32,
    /// What is kept of it.
    pub kept: Kept,
}

impl Question {
    /// The answer, as of now.
    pub fn answer(&self, fold: &Fold) -> Answer {
        let store = fold.filter.store();
        match self {
            Self::Document(id) => Answer::Document(known(fold, id).map(Box::new)),
            Self::Sources(ids) => {
                let source = |id: &String| Some(store.card(store.known(id)?.own?)?.source());
                Answer::Sources(ids.iter().map(source).collect())
            }
            Self::Cluster(id) => Answer::Cluster(store.cluster(id).map(Box::new)),
        }
    }
}

fn known(fold: &Fold, id: &str) -> Option<Known> {
    let store = fold.filter.store();
    let crate::store::Known { kind, own, head, .. } = store.known(id)?;
    let name = |of: Ref| store.card(of).map(|card| card.id);
    let group = head.and_then(|head| {
        let group = store.group(head)?;
        let prototypes = [group.head].into_iter().chain(group.further).filter_map(name).collect();
        Some(Group { head: name(head)?, size: group.size, domains: group.domains, prototypes })
    });
    let prototype = own.and_then(|own| {
        let (card, kept) = (store.card(own)?, store.kept(own)?);
        let (url, source) = (card.url().map(str::to_owned), card.source());
        let Card { domain, canonical, truncated, n_core_words, .. } = card;
        Some(Prototype { url, domain, canonical, source, is_head: head == Some(own), truncated, n_core_words, kept })
    });
    let verdict = own.and_then(|own| fold.filter.judge().last_said(own, store));
    Some(Known { kind, group, prototype, verdict })
}
