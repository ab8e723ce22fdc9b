//! One style cluster: its members, counted, and what sort of template that makes it.
//!
//! # Invariants
//! - The kind follows from links and copies between domains. (`kinds_follow_links_and_copies`)

use super::look::Resemblance;
use super::spread::Spread;
use crate::config::TemplateSettings;
use crate::document::Kind;
use crate::verdict::event::{ClusterEvent, SCHEMA, TemplateKind};
use serde::{Deserialize, Serialize};

/// A cluster of pages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Cluster {
    pub(super) is_live: bool,
    pub(super) id: u64,
    pub(super) born: u64,
    pub(super) kind: Kind,
    pub(super) leaders: Vec<u32>,
    pub(super) is_merged: bool,
    pub(super) size: u32,
    /// Of the members after the first.
    pub(super) similarities: f64,
    pub(super) domains: Spread<128>,
    pub(super) n_linked: u32,
    pub(super) n_copies: u32,
    pub(super) n_mirrors: u32,
    pub(super) announced: Option<(u32, u32, TemplateKind)>,
}

/// What a page brings for its cluster beside its look.
#[derive(Clone, Copy)]
pub(super) struct Member<'a> {
    pub(super) position: u64,
    pub(super) now_ms: i64,
    pub(super) kind: Kind,
    pub(super) id_key: u64,
    pub(super) id: &'a str,
    pub(super) domain: u64,
    pub(super) link_domains: &'a [u64],
    /// Whether its text is a copy, and under a similar URL.
    pub(super) is_copy: bool,
    pub(super) is_mirror: bool,
    /// Whether it was a member before.
    pub(super) is_known: bool,
}

/// A cluster as it was when a page came.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClusterState {
    /// Its id as a number.
    pub id: u64,
    /// Members.
    pub size: u32,
    /// Their domains.
    pub domains: u32,
    /// What sort of template.
    pub kind: TemplateKind,
    /// The share of members that link to another's domain.
    pub linked: f64,
}

impl Default for Cluster {
    /// One that is no more.
    fn default() -> Self {
        Self { is_live: false, leaders: Vec::new(), size: 0, ..Self::new(0, 0, Kind::Page, 0, 0) }
    }
}

impl Cluster {
    /// A cluster of one page, which leads it from the slot `leader`.
    pub(super) fn new(id: u64, born: u64, kind: Kind, leader: u32, domain: u64) -> Self {
        let mut domains = Spread::default();
        if domain != 0 {
            domains.add(domain);
        }
        Self {
            is_live: true,
            id,
            born,
            kind,
            leaders: vec![leader],
            is_merged: false,
            size: 1,
            similarities: 0.0,
            domains,
            n_linked: 0,
            n_copies: 0,
            n_mirrors: 0,
            announced: None,
        }
    }

    /// Counts a member that resembles the leader which it joined.
    pub(super) fn join(&mut self, member: Member<'_>, resemblance: Resemblance) {
        let is_linked = member
            .link_domains
            .iter()
            .any(|&domain| domain != member.domain && self.domains.contains(domain) == Some(true));
        self.size = self.size.saturating_add(1);
        self.similarities += resemblance.frame.max(resemblance.style);
        self.n_linked += u32::from(is_linked);
        self.n_copies += u32::from(member.is_copy);
        self.n_mirrors += u32::from(member.is_mirror);
        if member.domain != 0 {
            self.domains.add(member.domain);
        }
    }

    /// Whether anybody can know its id: pages bear it from the second one on.
    pub(super) fn is_spoken_of(&self) -> bool {
        self.size >= 2
    }

    /// Takes in another, which is younger: then no more leaders are added.
    pub(super) fn absorb(&mut self, other: &Self) {
        self.size = self.size.saturating_add(other.size);
        self.similarities += other.similarities;
        self.domains.merge(&other.domains);
        self.n_linked += other.n_linked;
        self.n_copies += other.n_copies;
        self.n_mirrors += other.n_mirrors;
        self.is_merged = true;
    }

    /// The first member has no one to be a copy of or to link to: it is left out of the shares.
    pub(super) fn sort(&self, settings: &TemplateSettings) -> TemplateKind {
        let n = self.size.saturating_sub(1);
        let several_domains = self.domains.count(self.size) >= 2;
        match () {
            () if several_domains && share(self.n_copies, n) >= settings.copies_min => {
                if 2 * self.n_mirrors >= self.n_copies { TemplateKind::Mirror } else { TemplateKind::CopyPaste }
            }
            () if several_domains && share(self.n_linked, n) >= settings.linked_min => TemplateKind::LinkFarm,
            () => TemplateKind::Template,
        }
    }

    /// As it is now.
    pub(super) fn state(&self, settings: &TemplateSettings) -> ClusterState {
        ClusterState {
            id: self.id,
            size: self.size,
            domains: self.domains.count(self.size),
            kind: self.sort(settings),
            linked: share(self.n_linked, self.size),
        }
    }

    /// What is told of it, with the ids of its leaders.
    pub(super) fn event(&self, settings: &TemplateSettings, leaders: Vec<String>) -> ClusterEvent {
        let similarity = match self.size {
            0 | 1 => 1.0,
            size => self.similarities / f64::from(size - 1),
        };
        let domains = self.domains.count(self.size);
        ClusterEvent {
            schema: SCHEMA,
            id: name(self.id),
            kind_of_documents: self.kind,
            size: self.size,
            domains,
            similarity,
            rank: similarity * f64::from(domains),
            kind: self.sort(settings),
            linked: share(self.n_linked, self.size),
            copies: share(self.n_copies, self.size),
            leaders,
            merged_into: None,
            expired: false,
        }
    }
}

/// A cluster that has become part of an older one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Merge {
    /// The position of the document that brought it about.
    pub position: u64,
    /// The cluster that is no more.
    pub younger: u64,
    /// The one that has taken it in.
    pub older: u64,
}

/// A cluster's id as it is published.
pub fn name(id: u64) -> String {
    format!("t-{id:016x}")
}

/// The id that is published as `name`, if any is.
pub fn number(name: &str) -> Option<u64> {
    let digits = name.strip_prefix("t-")?;
    let is_written_so = |digit: u8| digit.is_ascii_digit() || (b'a'..=b'f').contains(&digit);
    (digits.len() == 16 && digits.bytes().all(is_written_so)).then(|| u64::from_str_radix(digits, 16).ok())?
}

/// The id of the cluster that the document with the key `id_key` begins at the position `born`.
pub(super) fn id(id_key: u64, born: u64) -> u64 {
    crate::signature::keyed::mix(id_key, born)
}

fn share(part: u32, whole: u32) -> f64 {
    f64::from(part) / f64::from(whole.max(1))
}
