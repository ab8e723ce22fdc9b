//! What settle says of a document, and what the store still knows of one.

use super::card::Card;
use super::clusters::Styled;
use super::prototypes::Server;
use super::reference::Ref;
use crate::document::Kind;
use crate::verdict::event::{Recrawl, Signal, TextView};
use crate::verdict::url_similarity::Origin;

/// What settle says of a document.
#[derive(Clone, Debug, PartialEq)]
pub struct Settled {
    /// Its number in the fold.
    pub position: u64,
    /// Whether its id was seen before.
    pub recrawl: Option<Recrawl>,
    /// The head of its group, which may be itself.
    pub head: Option<Ref>,
    /// Whether it is a new head, which learns keys in weigh.
    pub learns: bool,
    /// Its earlier version, if that was a head: what both have was learnt from that.
    pub heir_of: Option<Ref>,
    /// Whose copy it is.
    pub joined: Option<Joined>,
    /// Its group's size and domains.
    pub group: (u32, u32),
    /// The best likeness that was compared, enough or not.
    pub likeness: f64,
    /// Keys in common with live prototypes, by I-Match and by minhash.
    pub n_common: (u32, u32),
    /// Who it belongs to.
    pub server: Server,
    /// Its style.
    pub styled: Styled,
}

impl Settled {
    /// Of a document of which nothing is known beside its id.
    pub(super) fn new(position: u64, recrawl: Option<Recrawl>, server: Server) -> Self {
        Self {
            position,
            recrawl,
            head: None,
            learns: false,
            heir_of: None,
            joined: None,
            group: (0, 0),
            likeness: 0.0,
            n_common: (0, 0),
            server,
            styled: Styled::default(),
        }
    }
}

/// Whose copy a document is.
#[derive(Clone, Debug, PartialEq)]
pub struct Joined {
    /// The head, as it says of itself.
    pub card: Card,
    /// How alike it is to the head.
    pub likeness: f64,
    /// In which view.
    pub view: TextView,
    /// The keys that found the group.
    pub signals: Vec<Signal>,
    /// The preferred copy.
    pub canonical: String,
    /// What the URLs of the two say of where they come from.
    pub origin: Origin,
}

/// What the store still knows of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// Page or mail.
    pub kind: Kind,
    /// Its own record, which copies near to their head have not.
    pub own: Option<Ref>,
    /// The head of its group, which may be itself; `None` where the group has gone, or it never had one.
    pub head: Option<Ref>,
    /// The size and the domains of the group.
    pub group: (u32, u32),
}
