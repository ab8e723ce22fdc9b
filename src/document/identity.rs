//! Who a document is: its id, URL, registered domain and server.

use super::{Carrier, Kind};
use serde::Serialize;
use std::net::IpAddr;

/// Who a document is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Identity {
    /// The caller's id, else a page's URL, else `p-` or `m-` and a keyed digest of the bytes.
    pub id: String,
    /// Where a page was fetched from, normalised.
    pub url: Option<String>,
    /// The registered domain of a page's URL or of a mail's sender.
    pub domain: Option<String>,
    /// The page's own word on where its original is (`rel=canonical`), absolute.
    pub canonical: Option<String>,
    /// The server's or client's address.
    pub ip: Option<IpAddr>,
}

/// The identity that the carrier gives; `id_key` keys the digest of a body without an id.
pub fn of(kind: Kind, carrier: &Carrier, body: &[u8], id_key: u64) -> Identity {
    let _ = (kind, carrier, body, id_key);
    todo!()
}

/// The registered domain (public suffix list) of a host name, lower case; `None` for an address or a bare suffix.
pub fn registered_domain(host: &str) -> Option<&str> {
    let _ = host;
    todo!()
}
