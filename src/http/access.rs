//! Who may do what: reading is free on this machine, writing needs the token, and so does everything from elsewhere.
//!
//! What is not known to be harmless needs the token, so that a route that is added later is closed until somebody opens it.
//!
//! # Invariants
//! - Without the token nothing is written, and no snapshot given. (`tests/promises/http/access.rs`)
//! - The files of the dashboard hold no data, and need no token anywhere. (`what_is_not_known_needs_the_token`)
//! - A web page that has this machine's name point to itself reads nothing. (`names_of_others_are_refused`)
//! - A web page elsewhere has a browser ask for nothing here, whose answer it could not read but which holds a stream all the same; it
//!   may lead people to the dashboard. (`pages_of_others_ask_for_nothing`)

use super::check::learns;
use super::dashboard;
use super::problem::Problem;
use super::token::Token;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use std::net::IpAddr;

/// The paths that anybody may ask, from anywhere: they tell no more than that we are there.
pub(super) const OPEN: [&str; 2] = ["/healthz", "/readyz"];
/// Reads that need the token on every address.
const GUARDED: [&str; 1] = ["/v1/snapshot"];

/// Asks about a document, and writes only where the query says so.
const CHECK: &str = "/v1/check";

/// Decides who may do what.
pub(super) struct Access {
    pub(super) token: Token,
    /// Whether only this machine can reach us.
    pub(super) is_loopback: bool,
}

impl Access {
    /// Whether a request may go on.
    pub(super) fn check(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<(), Problem> {
        let path = uri.path();
        if OPEN.contains(&path) || self.has_token(headers) {
            return Ok(());
        }
        let is_read = match *method {
            Method::GET | Method::HEAD => !GUARDED.contains(&path),
            // It leaves no trace.
            Method::POST => path == CHECK && !learns(uri.query()),
            _ => false,
        };
        let is_open = is_read && dashboard::is_part(path);
        if !is_read || !(self.is_loopback || is_open) {
            let detail = "this needs the token: `authorization: Bearer TOKEN` (it stands in http.token_file)";
            return Err(Problem::new(StatusCode::UNAUTHORIZED, "token", detail));
        }
        if self.is_loopback && is_sent_by_another_site(headers) && !(path == "/" && is_visit(headers)) {
            let detail =
                "without the token nothing is given to pages of other sites: ask for it yourself, or send the token";
            return Err(Problem::new(StatusCode::FORBIDDEN, "other_site", detail));
        }
        // Elsewhere we are known by names that we do not know.
        if self.is_loopback && !is_own_name(headers) {
            let detail = "without the token this machine is asked for by address or as localhost";
            return Err(Problem::new(StatusCode::MISDIRECTED_REQUEST, "host", detail));
        }
        Ok(())
    }

    fn has_token(&self, headers: &HeaderMap) -> bool {
        let given = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let given = given.and_then(|value| value.split_once(' '));
        given.is_some_and(|(scheme, token)| scheme.eq_ignore_ascii_case("bearer") && self.token.is(token))
    }
}

/// Whether a page of another origin has a browser ask. Browsers say so, and no page can have them say otherwise; programs say nothing.
fn is_sent_by_another_site(headers: &HeaderMap) -> bool {
    // Another port of this machine is `same-site`, and no more ours than the rest.
    headers.get("sec-fetch-site").is_some_and(|site| site != "same-origin" && site != "none")
}

/// Whether somebody has followed a link, and sees what comes.
fn is_visit(headers: &HeaderMap) -> bool {
    let is = |name, wanted: &str| headers.get(name).is_some_and(|value| value == wanted);
    is("sec-fetch-mode", "navigate") && is("sec-fetch-dest", "document")
}

/// Whether the request names this machine by an address or as localhost. A browser sends the name it was told.
fn is_own_name(headers: &HeaderMap) -> bool {
    let Some(host) = headers.get(header::HOST) else { return true };
    let Ok(host) = host.to_str() else { return false };
    let name = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => address,
        None => host.split_once(':').map_or(host, |(name, _)| name),
    };
    name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(is_loopback: bool) -> (Access, String, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        let token = Token::open(&path).unwrap();
        let text = std::fs::read_to_string(path).unwrap().trim().to_owned();
        (Access { token, is_loopback }, text, folder)
    }

    fn headers(pairs: &[(header::HeaderName, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.clone(), value.parse().unwrap())).collect()
    }

    #[test]
    fn what_is_not_known_needs_the_token() {
        for is_loopback in [true, false] {
            let (access, token, _folder) = access(is_loopback);
            let with = headers(&[(header::AUTHORIZATION, &format!("bearer {token}"))]);
            let wrong = headers(&[(header::AUTHORIZATION, &format!("Bearer {token}x"))]);
            let basic = headers(&[(header::AUTHORIZATION, &format!("Basic {token}"))]);
            for (method, path, needs) in [
                (Method::GET, "/healthz", false),
                (Method::GET, "/readyz", false),
                (Method::GET, "/", false),
                (Method::HEAD, "/dashboard/app.js", false),
                (Method::POST, "/dashboard/app.js", true),
                (Method::GET, "/dashboard", !is_loopback),
                (Method::GET, "/metrics", !is_loopback),
                (Method::GET, "/v1/verdicts", !is_loopback),
                (Method::GET, "/v1/snapshot", true),
                (Method::POST, "/v1/pages", true),
                (Method::DELETE, "/v1/whatever", true),
                (Method::POST, "/v1/verdicts", true),
                (Method::POST, "/v1/check", !is_loopback),
                (Method::POST, "/v1/check?kind=page&learn=false", !is_loopback),
                (Method::POST, "/v1/check?learn=true", true),
                (Method::PUT, "/v1/check", true),
            ] {
                assert!(access.check(&method, &path.parse().unwrap(), &with).is_ok(), "{method} {path}");
                for without in [&headers(&[]), &wrong, &basic] {
                    let outcome =
                        access.check(&method, &path.parse().unwrap(), without).map_err(|problem| problem.status());
                    let expected = if needs { Err(StatusCode::UNAUTHORIZED) } else { Ok(()) };
                    assert_eq!(outcome, expected, "{method} {path} {is_loopback}");
                }
            }
        }
    }

    #[test]
    fn pages_of_others_ask_for_nothing() {
        let name = header::HeaderName::from_static;
        let visit = [(name("sec-fetch-mode"), "navigate"), (name("sec-fetch-dest"), "document")];
        let frame = [(name("sec-fetch-mode"), "navigate"), (name("sec-fetch-dest"), "iframe")];
        let fetch = [(name("sec-fetch-mode"), "no-cors"), (name("sec-fetch-dest"), "empty")];
        let (access, token, _folder) = access(true);
        for (site, path, how, is_given) in [
            ("same-origin", "/v1/events", &fetch, true),
            ("none", "/v1/events", &visit, true),
            ("cross-site", "/v1/events", &fetch, false),
            ("cross-site", "/v1/events", &visit, false),
            ("same-site", "/v1/events", &fetch, false),
            ("cross-site", "/metrics", &fetch, false),
            ("cross-site", "/dashboard/app.js", &fetch, false),
            ("cross-site", "/", &fetch, false),
            ("cross-site", "/", &frame, false),
            ("cross-site", "/", &visit, true),
            ("cross-site", "/healthz", &fetch, true),
        ] {
            let mut asked = headers(how);
            asked.insert(name("sec-fetch-site"), site.parse().unwrap());
            let outcome =
                access.check(&Method::GET, &path.parse().unwrap(), &asked).map_err(|problem| problem.status());
            assert_eq!(outcome, if is_given { Ok(()) } else { Err(StatusCode::FORBIDDEN) }, "{site} {path} {how:?}");
            asked.insert(header::AUTHORIZATION, format!("Bearer {token}").parse().unwrap());
            assert!(access.check(&Method::GET, &path.parse().unwrap(), &asked).is_ok(), "{site} {path} with the token");
        }
    }

    #[test]
    fn names_of_others_are_refused() {
        for (host, is_own) in [
            ("127.0.0.1:8470", true),
            ("localhost", true),
            ("LOCALHOST:1", true),
            ("[::1]:8470", true),
            ("evil.example:8470", false),
            ("127.0.0.1.evil.example", false),
            ("localhost.evil.example", false),
            ("", false),
        ] {
            assert_eq!(is_own_name(&headers(&[(header::HOST, host)])), is_own, "{host}");
            // Nor does such a page show the dashboard and wait for the token to be typed in.
            for path in ["/", "/dashboard/app.js", "/v1/stats"] {
                let (access, _, _folder) = access(true);
                let asked = access.check(&Method::GET, &path.parse().unwrap(), &headers(&[(header::HOST, host)]));
                let expected = if is_own { Ok(()) } else { Err(StatusCode::MISDIRECTED_REQUEST) };
                assert_eq!(asked.map_err(|problem| problem.status()), expected, "{host} {path}");
            }
        }
    }
}
