//! Who a document is: its id, URL, registered domain and server.
//!
//! An id comes from the caller, else from a page's URL, else from the bytes: what is delivered twice has one id. The
//! domain is what somebody pays for (or is given by a host of many, as `a.github.io` is), since copies on one domain
//! mean something else than copies between domains.
//!
//! # Invariants
//! - The same record has the same id, and another body without id and URL another one. (`ids_follow_the_rules`)
//! - An id is never empty and never longer than [`ID_BYTES_MAX`]. (`ids_are_bounded`)
//! - A domain is registered: no address, no bare suffix. (`domains_are_registered`)

use super::{Carrier, Kind, links};
use serde::Serialize;
use std::borrow::Cow;
use std::net::IpAddr;
use xxhash_rust::xxh3::xxh3_128_with_seed;

/// A longer id is replaced by its keyed digest. URLs have the same bound.
pub const ID_BYTES_MAX: usize = links::URL_BYTES_MAX;

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
///
/// The domain of a mail is its sender's, and comes from its headers later.
pub fn of(kind: Kind, carrier: &Carrier, body: &[u8], id_key: u64) -> Identity {
    let written = carrier.url.as_deref().map(str::trim).filter(|url| kind == Kind::Page && !url.is_empty());
    let url = written.and_then(links::normalised);
    let domain = url.as_deref().and_then(links::host).and_then(registered_domain).map(str::to_owned);
    let named = carrier.id.as_deref().filter(|id| !id.is_empty()).or(url.as_deref());
    // A URL too long to be followed still tells one page from another.
    let named = named.or(written.filter(|url| url.len() > ID_BYTES_MAX));
    let id = match named {
        Some(id) => bounded(kind, id, id_key),
        None => format!("{}-{:032x}", prefix(kind), xxh3_128_with_seed(body, id_key)),
    };
    Identity { id, url, domain, canonical: None, ip: carrier.ip }
}

/// The id itself, or of one that is too long a keyed digest.
pub fn bounded(kind: Kind, id: &str, id_key: u64) -> String {
    if id.len() <= ID_BYTES_MAX {
        return id.to_owned();
    }
    // Another seed than a body's: an id that is somebody's body makes no two documents one.
    format!("{}-{:032x}", prefix(kind), xxh3_128_with_seed(id.as_bytes(), !id_key))
}

fn prefix(kind: Kind) -> &'static str {
    match kind {
        Kind::Page => "p",
        Kind::Email => "m",
    }
}

/// The registered domain (public suffix list) of a host name in lower case, as normalised URLs have it; `None` for an
/// address or a bare suffix. [`registered_domain_of`] takes any writing.
pub fn registered_domain(host: &str) -> Option<&str> {
    let host = host.strip_suffix('.').unwrap_or(host);
    // The list reads an address as labels.
    if host.ends_with(|c: char| c.is_ascii_digit() || c == ']') && address(host).is_some() {
        return None;
    }
    psl::domain_str(host).filter(|domain| domain.split('.').all(|label| !label.is_empty()))
}

/// The registered domain of a host name as a person or a mail header writes it, normalised.
pub fn registered_domain_of(host: &str) -> Option<String> {
    let host = host.trim();
    let is_normal = host.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_'));
    let host = if is_normal && !host.contains("xn--") {
        Cow::Borrowed(host)
    } else {
        match url::Host::parse(host) {
            Ok(url::Host::Domain(name)) => Cow::Owned(name),
            _ => return None,
        }
    };
    registered_domain(&host).map(str::to_owned)
}

/// The address that a host is, IPv6 in brackets or not.
fn address(host: &str) -> Option<IpAddr> {
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    bare.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn carrier(id: Option<&str>, url: Option<&str>) -> Carrier {
        Carrier { id: id.map(str::to_owned), url: url.map(str::to_owned), ..Carrier::default() }
    }

    #[test]
    fn ids_follow_the_rules() {
        use Kind::*;
        for (kind, id, url, expected) in [
            (Page, Some("a"), Some("http://b.example"), "a"),
            (Page, None, Some(" HTTP://B.example:80/x/../y#z "), "http://b.example/y"),
            (Page, Some(""), Some("http://b.example"), "http://b.example/"),
            (Page, None, Some("file:///b.html"), "file:///b.html"),
            (Email, Some("a"), None, "a"),
        ] {
            assert_eq!(of(kind, &carrier(id, url), b"body", 7).id, expected);
        }
        for url in [None, Some(""), Some("b.example/x")] {
            assert_eq!(of(Page, &carrier(None, url), b"body", 7).id, "p-787210f964b2f1e0f12bb4fd09d6620d", "{url:?}");
        }
        assert_eq!(
            of(Email, &carrier(None, Some("http://b.example")), b"body", 7).id,
            "m-787210f964b2f1e0f12bb4fd09d6620d"
        );
        assert_ne!(of(Page, &carrier(None, None), b"body", 8).id, of(Page, &carrier(None, None), b"body", 7).id);
        assert_ne!(of(Page, &carrier(None, None), b"bodies", 7).id, of(Page, &carrier(None, None), b"body", 7).id);
    }

    #[test]
    fn a_page_has_a_url_and_a_domain() {
        let ip = Some(IpAddr::from([192, 0, 2, 1]));
        let carrier = |url: &str| Carrier { ip, ..carrier(None, Some(url)) };
        for (url, normal, domain) in [
            ("http://www.Example.co.uk:80/", Some("http://www.example.co.uk/"), Some("example.co.uk")),
            ("http://a.b.bücher.example./", Some("http://a.b.xn--bcher-kva.example./"), Some("xn--bcher-kva.example")),
            ("http://user@a.github.io/", Some("http://user@a.github.io/"), Some("a.github.io")),
            ("http://192.0.2.1/", Some("http://192.0.2.1/"), None),
            ("http://0xC0000201/", Some("http://192.0.2.1/"), None),
            ("http://[2001:DB8::1]:8080/", Some("http://[2001:db8::1]:8080/"), None),
            ("http://localhost/", Some("http://localhost/"), None),
            ("/x", None, None),
        ] {
            let identity = of(Kind::Page, &carrier(url), b"", 7);
            assert_eq!((identity.url.as_deref(), identity.domain.as_deref()), (normal, domain), "{url}");
            assert_eq!((identity.canonical, identity.ip), (None, ip));
        }
        let mail = of(Kind::Email, &carrier("http://a.example/"), b"", 7);
        assert_eq!((mail.url, mail.domain), (None, None));
    }

    #[test]
    fn ids_are_bounded() {
        let long = |letter: &str| format!("http://a.example/{}", letter.repeat(ID_BYTES_MAX));
        let by_id = |id: &str| of(Kind::Page, &carrier(Some(id), None), b"body", 7).id;
        let by_url = |url: &str| of(Kind::Page, &carrier(None, Some(url)), b"body", 7).id;
        for id in [by_id(&long("x")), by_url(&long("x"))] {
            assert!(id.len() == 34 && id.starts_with("p-"), "{id}");
        }
        assert_ne!(by_url(&long("x")), by_url(&long("y")));
        assert_eq!(by_id(&"x".repeat(ID_BYTES_MAX)), "x".repeat(ID_BYTES_MAX));
        // A long id that is also a body stays apart from the document with that body.
        let id = "x".repeat(ID_BYTES_MAX + 1);
        assert_ne!(by_id(&id), of(Kind::Page, &carrier(None, None), id.as_bytes(), 7).id);
    }

    #[test]
    fn domains_are_registered() {
        for (host, domain) in [
            ("example.com", Some("example.com")),
            ("a.b.example.com", Some("example.com")),
            ("example.com.", Some("example.com")),
            ("www.example.co.jp", Some("example.co.jp")),
            ("x.city.kawasaki.jp", Some("city.kawasaki.jp")),
            ("user.github.io", Some("user.github.io")),
            ("co.uk", None),
            ("com", None),
            ("localhost", None),
            ("127.0.0.1", None),
            ("[::1]", None),
            ("::1", None),
            ("[2001:db8::1]", None),
            (".", None),
            ("", None),
        ] {
            assert_eq!(registered_domain(host), domain, "{host}");
        }
        for (host, domain) in [
            (" WWW.Example.COM ", Some("example.com")),
            ("Bücher.Example", Some("xn--bcher-kva.example")),
            ("xn--BCHER-kva.example", Some("xn--bcher-kva.example")),
            ("mail_1.example.com", Some("example.com")),
            ("[192.0.2.1]", None),
            ("192.0.2.1", None),
            ("a b.example", None),
            ("CO.UK", None),
        ] {
            assert_eq!(registered_domain_of(host).as_deref(), domain, "{host}");
        }
    }

    proptest! {
        #[test]
        fn any_host_is_looked_up(host in prop_oneof!["[a-z0-9.-]{0,40}", "\\PC{0,20}"]) {
            if let Some(domain) = registered_domain(&host) {
                prop_assert!(host.trim_end_matches('.').ends_with(domain) && domain.contains('.'));
            }
            if let Some(domain) = registered_domain_of(&host) {
                prop_assert_eq!(registered_domain(&domain), Some(domain.as_str()));
            }
        }

        #[test]
        fn any_carrier_gives_an_id(
            id in prop::option::of(".{0,20}"),
            url in prop::option::of("(http:)?/{0,2}.{0,20}"),
            body in prop::collection::vec(any::<u8>(), 0..50),
        ) {
            for kind in [Kind::Page, Kind::Email] {
                let identity = of(kind, &carrier(id.as_deref(), url.as_deref()), &body, 7);
                prop_assert!(!identity.id.is_empty() && identity.id.len() <= ID_BYTES_MAX);
            }
        }
    }
}
