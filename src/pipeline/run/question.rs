//! Questions to the state, and their answers: what only the store knows of a document.
//!
//! The thread that owns the fold answers them between two batches, since nobody else may look at it: where it judges, and where it
//! stands by. So they are few and small: a handful of look-ups each, and of those that cost as much as a probe
//! ([`Question::Near`]) no more at once than explanations. What they see may be a batch ahead of what is committed.
//!
//! # Invariants
//! - Only so many wait, and only so many are answered between two batches. (`questions_are_bounded`)

use super::fold::Fold;
use crate::document::Kind;
use crate::metrics as names;
use crate::store::{Arrival, Card, Excerpt, Kept, Near, Ref};
use crate::verdict::event::{ClusterEvent, Source, Verdict};
use crossbeam_channel::{Receiver, Sender, bounded};
use metrics::gauge;
use serde::Serialize;

/// Questions that wait.
const WAITING_MAX: usize = 256;
/// Questions that are answered between two batches.
const AT_ONCE_MAX: usize = 64;

/// Something that looks at the state, and tells somebody what it saw.
pub type Ask = Box<dyn FnOnce(&Fold) + Send>;

/// Where questions wait for the thread that owns the fold.
#[derive(Debug)]
pub struct Questions {
    queue: Sender<Ask>,
    waiting: Receiver<Ask>,
}

/// Too many questions wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("too many questions wait for the store")]
pub struct Full;

impl Default for Questions {
    fn default() -> Self {
        let (queue, waiting) = bounded(WAITING_MAX);
        Self { queue, waiting }
    }
}

impl Questions {
    /// Puts a question behind the others.
    pub fn put(&self, ask: impl FnOnce(&Fold) + Send + 'static) -> Result<(), Full> {
        self.queue.try_send(Box::new(ask)).map_err(|_| Full)
    }

    /// Answers what waits; the owner of the fold does so between two batches.
    pub fn answer(&self, fold: &Fold) {
        if self.waiting.is_empty() {
            return;
        }
        self.waiting.try_iter().take(AT_ONCE_MAX).for_each(|ask| ask(fold));
        gauge!(names::QUEUE_DEPTH, "queue" => "questions").set(self.waiting.len() as f64);
    }
}

/// What can be asked.
#[derive(Clone, Debug, PartialEq)]
pub enum Question {
    /// What is known of the document of this id?
    Document(String),
    /// Where are the records of these documents?
    Sources(Vec<String>),
    /// How is the cluster of this id?
    Cluster(String),
    /// Whom is this document nearest to without being a copy?
    Near(Box<Arrival>),
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
    /// To [`Question::Near`], with the place of its record.
    Near(Option<(Near, Option<Source>)>),
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
    /// The beginning of its text, where that is kept.
    #[serde(skip)]
    pub excerpt: Option<Excerpt>,
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
        let source = |id: &String| Some(store.card(store.known(id)?.own?)?.source());
        match self {
            Self::Document(id) => Answer::Document(known(fold, id).map(Box::new)),
            Self::Sources(ids) => Answer::Sources(ids.iter().map(source).collect()),
            Self::Cluster(id) => Answer::Cluster(store.cluster(id).map(Box::new)),
            Self::Near(arrival) => {
                // The stream may still be signed under other settings: then nothing can be compared.
                let is_comparable = arrival.signatures.key_id == fold.scheme.key_id;
                let near = if is_comparable { store.near(arrival) } else { None };
                Answer::Near(near.map(|near| {
                    let source = source(&near.of);
                    (near, source)
                }))
            }
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
    let excerpt = own.and_then(|own| store.excerpt(own));
    Some(Known { kind, group, prototype, verdict, excerpt })
}

#[cfg(test)]
mod tests {
    use super::super::scheme::Scheme;
    use super::*;
    use crate::config::Settings;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn questions_are_bounded() {
        let mut settings = Settings::default();
        settings.store.memory = 16 << 20;
        let fold = Fold::new(Arc::new(Scheme::new(Arc::new(settings)).unwrap()));
        let (questions, n) = (Questions::default(), Arc::new(AtomicUsize::new(0)));
        let ask = || {
            let n = n.clone();
            move |fold: &Fold| {
                assert_eq!(Question::Document("a".into()).answer(fold), Answer::Document(None));
                assert_eq!(Question::Sources(vec!["a".into(); 2]).answer(fold), Answer::Sources(vec![None; 2]));
                assert_eq!(Question::Cluster("t-1".into()).answer(fold), Answer::Cluster(None));
                n.fetch_add(1, Ordering::Relaxed);
            }
        };
        (0..WAITING_MAX).for_each(|_| questions.put(ask()).unwrap());
        assert_eq!(questions.put(ask()), Err(Full));
        questions.answer(&fold);
        assert_eq!(n.load(Ordering::Relaxed), AT_ONCE_MAX);
        assert_eq!(questions.put(ask()), Ok(()));
        (0..10).for_each(|_| questions.answer(&fold));
        assert_eq!(n.load(Ordering::Relaxed), WAITING_MAX + 1);
    }
}
