//! One style cluster: its members, counted, and what sort of template that makes it.
//!
//! # Invariants
//! - The kind follows from links and copies between domains. (`kinds_follow_links_and_copies`)
//! - Whether it is a link farm depends neither on its size nor on the order of its pages. (`a_farm_is_one_in_any_order`)

use super::look::Resemblance;
use super::spread::Spread;
use super::ties::Ties;
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
    pub(super) ties: Ties,
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
    /// The share of their domains that members of others link to.
    pub linked: f64,
}

impl Default for Cluster {
    /// One that is no more.
    fn default() -> Self {
        Self { is_live: false, leaders: Vec::new(), size: 0, ..Self::new(0, 0, Kind::Page, 0, 0, Ties::default()) }
    }
}

impl Cluster {
    /// A cluster of one page of `domain`, which leads it from the slot `leader` and links as `ties` say.
    pub(super) fn new(id: u64, born: u64, kind: Kind, leader: u32, domain: u64, ties: Ties) -> Self {
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
            ties,
            n_copies: 0,
            n_mirrors: 0,
            announced: None,
        }
    }

    /// Counts a member that resembles the leader which it joined; `n_ties_max` domains are kept of all that are linked to.
    pub(super) fn join(&mut self, member: Member<'_>, resemblance: Resemblance, n_ties_max: usize) {
        self.ties.add(member.domain, member.link_domains, n_ties_max);
        self.size = self.size.saturating_add(1);
        self.similarities += resemblance.frame.max(resemblance.style);
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
    pub(super) fn absorb(&mut self, other: &Self, n_ties_max: usize) {
        self.size = self.size.saturating_add(other.size);
        self.similarities += other.similarities;
        self.domains.merge(&other.domains);
        self.ties.merge(&other.ties, n_ties_max);
        self.n_copies += other.n_copies;
        self.n_mirrors += other.n_mirrors;
        self.is_merged = true;
    }

    /// Registered domains of its members: no more than members, exact while they are few.
    pub(super) fn n_domains(&self) -> u32 {
        self.ties.n_members().unwrap_or_else(|| self.domains.count(self.size))
    }

    /// The first member has no one to be a copy of: it is left out of that share.
    pub(super) fn sort(&self, settings: &TemplateSettings) -> TemplateKind {
        let (n, n_domains) = (self.size.saturating_sub(1), self.n_domains());
        match () {
            () if n_domains >= 2 && share(self.n_copies, n) >= settings.copies_min => {
                if 2 * self.n_mirrors >= self.n_copies { TemplateKind::Mirror } else { TemplateKind::CopyPaste }
            }
            () if n_domains >= settings.farm_domains_min && self.linked() >= settings.linked_min => {
                TemplateKind::LinkFarm
            }
            () => TemplateKind::Template,
        }
    }

    fn linked(&self) -> f64 {
        self.ties.share().unwrap_or(0.0)
    }

    /// As it is now.
    pub(super) fn state(&self, settings: &TemplateSettings) -> ClusterState {
        ClusterState {
            id: self.id,
            size: self.size,
            domains: self.n_domains(),
            kind: self.sort(settings),
            linked: self.linked(),
        }
    }

    /// What is told of it, with the ids of its leaders.
    pub(super) fn event(&self, settings: &TemplateSettings, leaders: Vec<String>) -> ClusterEvent {
        let similarity = match self.size {
            0 | 1 => 1.0,
            size => self.similarities / f64::from(size - 1),
        };
        let domains = self.n_domains();
        ClusterEvent {
            schema: SCHEMA,
            id: name(self.id),
            kind_of_documents: self.kind,
            size: self.size,
            domains,
            similarity,
            rank: similarity * f64::from(domains),
            kind: self.sort(settings),
            linked: self.linked(),
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
