//! What stands in the head of any page, and so says nothing of who made it.
//!
//! Bootstrap, jQuery, fonts, counters and buttons come from the same few hosts for a hundred thousand sites that have nothing else
//! in common, and every manual says to name the viewport and a description: by these alone, pages of ten makers were one template. A
//! tag of this sort is left out of the look of a page, its frame as well as its noise, as if it were not there. A host of one
//! generator or provider (`s0.wp.com`, `static1.squarespace.com`, `www.blogger.com`) is not listed: it does say who made a page.
//!
//! # Invariants
//! - A listed host is told under any scheme, in any case, with a port, and with a name before it; no other is.
//!   (`hosts_are_told_by_whole_names`)
//! - Names of metadata are told in any case. (`names_are_told_in_any_case`)

/// The names of metadata that the HTML standard and every manual give.
const METAS: [&str; 11] = [
    "author",
    "color-scheme",
    "content-type",
    "description",
    "generator",
    "keywords",
    "referrer",
    "robots",
    "theme-color",
    "viewport",
    "x-ua-compatible",
];

/// Hosts of libraries, of counters and advertisements, of buttons; with all names below them.
const HOSTS: [&str; 37] = [
    // Libraries and fonts. Not all of googleapis.com and gstatic.com: sites keep files of their own there.
    "ajax.aspnetcdn.com",
    "ajax.cloudflare.com",
    "ajax.googleapis.com",
    "bootstrapcdn.com",
    "cdn.polyfill.io",
    "cdn.skypack.dev",
    "cdn.tailwindcss.com",
    "cdnjs.cloudflare.com",
    "code.jquery.com",
    "esm.sh",
    "fontawesome.com",
    "fonts.googleapis.com",
    "fonts.gstatic.com",
    "html5shim.googlecode.com",
    "html5shiv.googlecode.com",
    "jsdelivr.net",
    "maps.googleapis.com",
    "oss.maxcdn.com",
    "unpkg.com",
    "use.typekit.net",
    // Counters and advertisements.
    "cloudflareinsights.com",
    "doubleclick.net",
    "google-analytics.com",
    "googleadservices.com",
    "googlesyndication.com",
    "googletagmanager.com",
    "googletagservices.com",
    "static.hotjar.com",
    // Buttons, maps and puzzles.
    "addthis.com",
    "apis.google.com",
    "assets.pinterest.com",
    "connect.facebook.net",
    "maps.google.com",
    "platform.instagram.com",
    "platform.linkedin.com",
    "platform.twitter.com",
    "www.google.com",
];

/// Whether `address`, as it is written in a page, leads to a host that everybody loads from.
pub(super) fn is_public(address: &str) -> bool {
    let Some(host) = host(address) else { return false };
    HOSTS.iter().any(|known| {
        let Some(start) = host.len().checked_sub(known.len()) else { return false };
        let (before, end) = host.as_bytes().split_at(start);
        end.eq_ignore_ascii_case(known.as_bytes()) && matches!(before, [] | [.., b'.'])
    })
}

/// Whether any page may have a `<meta>` of that name.
pub(super) fn is_meta(name: &str) -> bool {
    let name = name.trim_ascii();
    METAS.iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// The host of an address that names one: `https://host:port/path`, `//host/path`.
fn host(address: &str) -> Option<&str> {
    let address = address.trim_ascii();
    let scheme = address.find("//")?;
    if !matches!(address[..scheme].to_ascii_lowercase().as_str(), "" | "http:" | "https:") {
        return None;
    }
    let authority = address[scheme + 2..].split(['/', '?', '#', '\\']).next()?;
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    Some(host.split_once(':').map_or(host, |(host, _)| host))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_in_any_case() {
        for (name, expected) in
            [("viewport", true), (" X-UA-Compatible", true), ("og:title", false), ("twitter:site", false), ("", false)]
        {
            assert_eq!(is_meta(name), expected, "{name}");
        }
    }

    #[test]
    fn hosts_are_told_by_whole_names() {
        for address in [
            "https://code.jquery.com/jquery-3.6.0.min.js",
            "http://code.jquery.com:80",
            " //CDN.jsdelivr.net/npm/bootstrap@5.1.3/dist/css/bootstrap.min.css",
            "HTTPS://maxcdn.bootstrapcdn.com?x",
            "//fonts.googleapis.com/css?family=Lato",
        ] {
            assert!(is_public(address), "{address}");
        }
        for address in [
            "",
            "/code.jquery.com/jquery.js",
            "jquery.js?from=//code.jquery.com/",
            "https://notunpkg.com/x.js",
            "https://unpkg.com.example/x.js",
            "https://a.example/https://unpkg.com/x.js",
            "https://storage.googleapis.com/a-site/a.css",
            "https://s0.wp.com/_static/a.css",
            "data:text/css;base64,//unpkg.com/",
            "日本語//unpkg.com",
        ] {
            assert!(!is_public(address), "{address}");
        }
    }
}
