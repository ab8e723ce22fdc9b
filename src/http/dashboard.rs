//! The dashboard: a few files that stand in the binary, at `/` and under `/dashboard/`.
//!
//! They hold no data, so that anybody who reaches us may have them; what they show they ask for at `/v1`, as every other client, and with
//! the token where one is needed. There is no build step, and nothing comes from elsewhere: what is in `dashboard/` is what is served.
//!
//! # Invariants
//! - The browser runs no script but these files, and takes no text for markup. (`tests/promises/dashboard.rs`)
//! - Every file of `dashboard/` is served, with its type. (`every_file_is_served`)

use super::id::Id;
use super::problem::Problem;
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use std::sync::LazyLock;

/// Where the files are.
pub(super) const FOLDER: &str = "/dashboard/";

/// What a browser may do with them: fetch from here and show. Trusted types refuse what would make markup of text.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; \
                      form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/// What no file is without.
fn headers() -> [(HeaderName, &'static str); 5] {
    [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        // A browser asks every time, and is told that nothing has changed: after an update no old file meets a new one.
        (header::CACHE_CONTROL, "no-cache"),
    ]
}

/// A file, as it was when the binary was built.
struct File {
    name: &'static str,
    bytes: &'static [u8],
}

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        [$(File { name: $name, bytes: include_bytes!(concat!("../../dashboard/", $name)) }),*]
    };
}

const INDEX: &str = "index.html";

static FILES: &[File] = &files![
    "api.js",
    "app.js",
    "base.css",
    "chart.js",
    "cluster.js",
    "clusters.js",
    "dialog.js",
    "difference.js",
    "element.js",
    "favicon.svg",
    "feed.js",
    "format.js",
    "index.html",
    "labels.js",
    "labelling.js",
    "mirror.js",
    "names.js",
    "overview.js",
    "parts.css",
    "quilt.js",
    "rows.js",
    "scores.js",
    "stream.js",
    "text.js",
    "token.js",
    "verdict.js",
    "verdicts.js",
];

impl File {
    fn named(name: &str) -> Option<&'static Self> {
        FILES.iter().find(|file| file.name == name)
    }

    fn media(&self) -> &'static str {
        match self.name.rsplit_once('.') {
            Some((_, "html")) => "text/html; charset=utf-8",
            Some((_, "css")) => "text/css; charset=utf-8",
            Some((_, "js")) => "text/javascript; charset=utf-8",
            Some((_, "svg")) => "image/svg+xml",
            _ => "application/octet-stream",
        }
    }

    /// A file with the same tag has the same bytes.
    fn tag(&self) -> &'static str {
        static TAGS: LazyLock<Vec<String>> = LazyLock::new(|| {
            let tag = |file: &File| format!("\"{}\"", &blake3::hash(file.bytes).to_hex()[..32]);
            FILES.iter().map(tag).collect()
        });
        let place = FILES.iter().position(|file| file.name == self.name);
        place.map_or("", |place| TAGS[place].as_str())
    }

    fn served(&self, asked: &HeaderMap) -> Response {
        let held = asked.get_all(header::IF_NONE_MATCH).iter().filter_map(|held| held.to_str().ok());
        let is_held = held.flat_map(|held| held.split(',')).any(|held| {
            let held = held.trim();
            held.strip_prefix("W/").unwrap_or(held) == self.tag()
        });
        let tag = [(header::ETAG, self.tag())];
        match is_held {
            true => (StatusCode::NOT_MODIFIED, headers(), tag).into_response(),
            false => (headers(), tag, [(header::CONTENT_TYPE, self.media())], self.bytes).into_response(),
        }
    }
}

/// Whether a path is of the dashboard.
pub(super) fn is_part(path: &str) -> bool {
    path == "/" || path.starts_with(FOLDER)
}

/// `GET /`.
pub(super) async fn index(headers: HeaderMap) -> Result<Response, Problem> {
    found(INDEX, &headers)
}

/// `GET /dashboard/{name}`.
pub(super) async fn file(Id(name): Id, headers: HeaderMap) -> Result<Response, Problem> {
    found(&name, &headers)
}

fn found(name: &str, headers: &HeaderMap) -> Result<Response, Problem> {
    let unknown =
        || Problem::new(StatusCode::NOT_FOUND, "unknown_path", "the dashboard has no such file; it begins at /");
    File::named(name).map(|file| file.served(headers)).ok_or_else(unknown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_served() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("dashboard");
        let mut there: Vec<String> =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        let mut served: Vec<&str> = FILES.iter().map(|file| file.name).collect();
        there.sort();
        served.sort();
        assert_eq!(there, served);
        for file in FILES {
            let response = file.served(&HeaderMap::new());
            assert_eq!(response.status(), StatusCode::OK);
            assert_ne!(response.headers()[header::CONTENT_TYPE], "application/octet-stream", "{}", file.name);
        }
    }

    #[test]
    fn what_a_browser_holds_is_not_sent_again() {
        let file = File::named(INDEX).unwrap();
        for (held, status) in [
            (file.tag().to_owned(), StatusCode::NOT_MODIFIED),
            (format!("\"other\", W/{}", file.tag()), StatusCode::NOT_MODIFIED),
            ("\"other\"".to_owned(), StatusCode::OK),
        ] {
            let asked = HeaderMap::from_iter([(header::IF_NONE_MATCH, held.parse().unwrap())]);
            let response = file.served(&asked);
            assert_eq!(response.status(), status, "{held}");
            assert_eq!(response.headers()[header::CONTENT_SECURITY_POLICY], POLICY);
            assert_eq!(response.headers()[header::ETAG], file.tag());
        }
    }

    /// Text becomes markup by few ways, and none of them is taken.
    #[test]
    fn no_script_makes_markup_of_text() {
        let ways = [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "setHTML",
            "srcdoc",
            "eval(",
            "DOMParser",
            "http://",
            "https://",
        ];
        for file in FILES.iter().filter(|file| file.name.ends_with(".js")) {
            let text = std::str::from_utf8(file.bytes).unwrap();
            for way in ways {
                // The name of the language that drawings are in is no address.
                let text = text.replace("http://www.w3.org/2000/svg", "");
                assert!(!text.contains(way), "{} holds {way}", file.name);
            }
        }
    }
}
