//! `POST /v1/pages` and `POST /v1/emails`: documents go to the bus, and who sent them is told where they are.
//!
//! One document as a JSON envelope (`application/json`), many as lines of envelopes (`application/x-ndjson`), or one page or mail as
//! it is, with the headers that a record of the bus has (`id`, `url`, `ip`, `fetched-at`; of a mail `client-ip`, `received-at`,
//! `mail-from`, `rcpt`, `authenticated-domain`).
//!
//! # Invariants
//! - Who has an answer has a durable document. (`what_was_answered_is_durable`)
//! - A line that cannot be read is named, and the others are taken. (`a_malformed_line_spoils_no_other`)

use super::App;
use super::body::Held;
use super::feed::Fed;
use super::openapi::DocumentProblem;
use super::problem::Problem;
use crate::document::{Carrier, Format, Kind, Record};
use crate::pipeline::dispatch::{Dispatched, Undeliverable};
use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use std::sync::Arc;

/// Lines of one request: the answer has one for each.
const LINES_MAX: usize = 20_000;

/// What is told of a document (`schemas/accepted.json`).
#[derive(Serialize)]
struct Told {
    /// The line of the request, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(flatten)]
    outcome: Outcome,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Outcome {
    Accepted {
        topic: Arc<str>,
        partition: i32,
        offset: i64,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        repeated: bool,
    },
    Refused {
        reason: &'static str,
        detail: String,
    },
}

/// What is told of several.
#[derive(Serialize)]
struct Several {
    n_accepted: usize,
    n_refused: usize,
    documents: Vec<Told>,
}

/// How the body of a request is to be understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sent {
    Envelope,
    Lines,
    Raw,
}

/// Takes pages in: one, or one on each line. Answered when durable, with positions; an `id` makes a retry harmless.
#[utoipa::path(
    post, path = "/v1/pages", tag = "in", operation_id = "pages", security(("token" = [])),
    request_body(content(
        (ref("page.json") = "application/json"),
        ("application/x-ndjson"),
        ("text/html"),
    ), description = "An envelope, envelopes on lines, or the document as it is, with the headers of a record."),
    responses(
        (status = 200, description = "All of it is durable.", body = ref("accepted.json")),
        (status = 207, description = "Some lines were refused.", body = ref("accepted.json")),
        DocumentProblem,
        (
            status = 422,
            description = "It cannot be read; of lines, none of them.",
            content((ref("problem.json") = "application/problem+json"), (ref("accepted.json") = "application/json")),
        ),
        Problem,
    )
)]
pub(super) async fn pages(app: State<Arc<App>>, headers: HeaderMap, body: Body) -> Result<Response, Problem> {
    post(&app, Kind::Page, &headers, body).await
}

/// Takes emails in: one, or one on each line. Answered when durable, with positions; an `id` makes a retry harmless.
#[utoipa::path(
    post, path = "/v1/emails", tag = "in", operation_id = "emails", security(("token" = [])),
    request_body(content(
        (ref("email.json") = "application/json"),
        ("application/x-ndjson"),
        ("message/rfc822"),
    ), description = "An envelope, envelopes on lines, or the document as it is, with the headers of a record."),
    responses(
        (status = 200, description = "All of it is durable.", body = ref("accepted.json")),
        (status = 207, description = "Some lines were refused.", body = ref("accepted.json")),
        DocumentProblem,
        (
            status = 422,
            description = "It cannot be read; of lines, none of them.",
            content((ref("problem.json") = "application/problem+json"), (ref("accepted.json") = "application/json")),
        ),
        Problem,
    )
)]
pub(super) async fn emails(app: State<Arc<App>>, headers: HeaderMap, body: Body) -> Result<Response, Problem> {
    post(&app, Kind::Email, &headers, body).await
}

async fn post(app: &App, kind: Kind, headers: &HeaderMap, body: Body) -> Result<Response, Problem> {
    // What is wrong with the headers is told before the body is read.
    let (sent, carrier) = (sent(kind, headers)?, carrier(kind, headers)?);
    let held = app.room.collected(headers, body).await?;
    match sent {
        Sent::Lines => lines(app, kind, held).await,
        Sent::Envelope => one(app, held, envelope_format(kind), carrier).await,
        Sent::Raw if kind == Kind::Page => one(app, held, Format::Page, carrier).await,
        Sent::Raw => one(app, held, Format::Mail, carrier).await,
    }
}

pub(super) fn envelope_format(kind: Kind) -> Format {
    match kind {
        Kind::Page => Format::PageEnvelope,
        Kind::Email => Format::MailEnvelope,
    }
}

async fn one(app: &App, held: Held, format: Format, carrier: Carrier) -> Result<Response, Problem> {
    let Held { bytes, room } = held;
    let dispatched = app.dispatch.dispatched(Record { format, body: bytes, carrier });
    let dispatched = dispatched.map_err(|refused| refusal(&refused))?;
    let id = dispatched.known_as.clone();
    let fed = app.feed.append(vec![dispatched], Some(room)).await?;
    let fed = fed.into_iter().next().expect("one was appended");
    Ok(Json(Told { line: None, id, outcome: accepted(fed) }).into_response())
}

/// What is told of a document that cannot be sent.
pub(super) fn refusal(refused: &Undeliverable) -> Problem {
    let status = match refused.reason() {
        "too_large" => StatusCode::PAYLOAD_TOO_LARGE,
        "no_topic" => StatusCode::NOT_FOUND,
        _ => StatusCode::UNPROCESSABLE_ENTITY,
    };
    Problem::new(status, refused.reason(), refused.to_string())
}

async fn lines(app: &App, kind: Kind, held: Held) -> Result<Response, Problem> {
    let Held { bytes, room } = held;
    let format = envelope_format(kind);
    let (mut told, mut taken) = (Vec::new(), Vec::new());
    for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        if line.trim_ascii().is_empty() {
            continue;
        }
        if told.len() == LINES_MAX {
            let detail = format!("at most {LINES_MAX} lines in one request");
            return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too_many_lines", detail));
        }
        let record = Record { format, body: line.to_vec(), carrier: Carrier::default() };
        told.push((index + 1, app.dispatch.dispatched(record).map(|dispatched| note(dispatched, &mut taken))));
    }
    drop(bytes);
    let n_accepted = taken.len();
    let mut fed = match taken.is_empty() {
        true => Vec::new(),
        false => app.feed.append(taken, Some(room)).await?,
    }
    .into_iter();
    let n_refused = told.len() - n_accepted;
    let documents = told.into_iter().map(|(line, outcome)| of_line(line, outcome, &mut fed)).collect();
    let status = match (n_accepted, n_refused) {
        (_, 0) => StatusCode::OK,
        (0, _) => StatusCode::UNPROCESSABLE_ENTITY,
        _ => StatusCode::MULTI_STATUS,
    };
    Ok((status, Json(Several { n_accepted, n_refused, documents })).into_response())
}

/// Keeps the document to be appended; returns its name.
fn note(dispatched: Dispatched, taken: &mut Vec<Dispatched>) -> Option<String> {
    let id = dispatched.known_as.clone();
    taken.push(dispatched);
    id
}

fn of_line(line: usize, outcome: Result<Option<String>, Undeliverable>, fed: &mut impl Iterator<Item = Fed>) -> Told {
    let line = Some(line);
    match outcome {
        Ok(id) => Told { line, id, outcome: accepted(fed.next().expect("each that was taken was appended")) },
        Err(refused) => {
            let outcome = Outcome::Refused { reason: refused.reason(), detail: refused.to_string() };
            Told { line, id: None, outcome }
        }
    }
}

fn accepted(fed: Fed) -> Outcome {
    let Fed { place: (partition, offset), is_repeat: repeated } = fed;
    Outcome::Accepted { topic: partition.topic, partition: partition.number, offset, repeated }
}

/// What the content type says.
pub(super) fn sent(kind: Kind, headers: &HeaderMap) -> Result<Sent, Problem> {
    let unsupported = |detail: String| Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "content_type", detail);
    let coding = headers.get(header::CONTENT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or("identity");
    if !coding.eq_ignore_ascii_case("identity") {
        return Err(unsupported("a content-encoding is not undone here: send the document as it is".into()));
    }
    let written = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media = written.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match (&*media, kind) {
        ("application/json", _) => Ok(Sent::Envelope),
        ("application/x-ndjson" | "application/ndjson" | "application/jsonl" | "application/x-jsonlines", _) => {
            Ok(Sent::Lines)
        }
        ("application/xhtml+xml" | "application/xml", Kind::Page) => Ok(Sent::Raw),
        ("message/rfc822" | "message/global" | "application/octet-stream", Kind::Email) => Ok(Sent::Raw),
        (media, _) if media.starts_with("text/") => Ok(Sent::Raw),
        (_, kind) => {
            let raw = if kind == Kind::Page { "`text/html` for a page" } else { "`message/rfc822` for a mail" };
            Err(unsupported(format!(
                "content-type says what is sent: `application/json` for an envelope, `application/x-ndjson` for one \
                 on each line, {raw} as it is"
            )))
        }
    }
}

/// What the headers say of the document, by the names that a record of the bus has them.
pub(super) fn carrier(kind: Kind, headers: &HeaderMap) -> Result<Carrier, Problem> {
    let wrong = |name: &str, what: &str| {
        Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "headers", format!("header `{name}` {what}"))
    };
    let text = |name: &str| {
        let mut values = headers.get_all(name).iter();
        let value = values.next().map(|value| std::str::from_utf8(value.as_bytes()));
        match value {
            // Proxies join them, or drop one: nobody knows which is meant.
            _ if values.next().is_some() => Err(wrong(name, "stands there more than once")),
            None | Some(Ok("")) => Ok(None),
            Some(Ok(text)) => Ok(Some(text.to_owned())),
            Some(Err(_)) => Err(wrong(name, "is not valid UTF-8")),
        }
    };
    let (address, time) = match kind {
        Kind::Page => ("ip", "fetched-at"),
        Kind::Email => ("client-ip", "received-at"),
    };
    let mut carrier = Carrier { id: text("id")?, time: text(time)?, ..Carrier::default() };
    if carrier.time.as_ref().is_some_and(|moment| moment.parse::<jiff::Timestamp>().is_err()) {
        return Err(wrong(time, "is no RFC 3339 time with offset"));
    }
    if let Some(ip) = text(address)? {
        carrier.ip = Some(ip.parse().map_err(|_| wrong(address, "is no IP address"))?);
    }
    match kind {
        Kind::Page => {
            carrier.url = text("url")?;
            carrier.content_type = text("content-type")?.filter(|media| !media.starts_with("application/json"));
        }
        Kind::Email => {
            carrier.mail_from = text("mail-from")?;
            carrier.authenticated_domain = text("authenticated-domain")?;
            let rcpt = headers.get_all("rcpt").iter().map(|rcpt| String::from_utf8_lossy(rcpt.as_bytes()).into_owned());
            carrier.rcpt = rcpt.collect();
        }
    }
    Ok(carrier)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
        let name = |name: &str| header::HeaderName::from_bytes(name.as_bytes()).unwrap();
        pairs.iter().map(|(key, value)| (name(key), value.parse().unwrap())).collect()
    }

    #[test]
    fn the_content_type_says_what_is_sent() {
        for (kind, media, expected) in [
            (Kind::Page, "application/json; charset=utf-8", Some(Sent::Envelope)),
            (Kind::Email, "application/x-ndjson", Some(Sent::Lines)),
            (Kind::Page, "Text/HTML", Some(Sent::Raw)),
            (Kind::Email, "message/rfc822", Some(Sent::Raw)),
            (Kind::Page, "message/rfc822", None),
            (Kind::Page, "application/x-www-form-urlencoded", None),
            (Kind::Page, "image/png", None),
            (Kind::Page, "", None),
        ] {
            assert_eq!(sent(kind, &headers(&[("content-type", media)])).ok(), expected, "{media}");
        }
        assert!(sent(Kind::Page, &headers(&[])).is_err());
        assert!(sent(Kind::Page, &headers(&[("content-type", "text/html"), ("content-encoding", "gzip")])).is_err());
    }

    #[test]
    fn headers_are_those_of_the_bus() {
        let page = carrier(
            Kind::Page,
            &headers(&[
                ("id", "7"),
                ("url", "http://a.example/"),
                ("ip", "2001:db8::1"),
                ("content-type", "text/plain"),
            ]),
        );
        let page = page.unwrap();
        assert_eq!((page.id.as_deref(), page.url.as_deref()), (Some("7"), Some("http://a.example/")));
        assert_eq!((page.content_type.as_deref(), page.ip.is_some()), (Some("text/plain"), true));
        let mail =
            carrier(Kind::Email, &headers(&[("rcpt", "a@b.example"), ("mail-from", "x@y.example"), ("url", "u")]));
        let mail = mail.unwrap();
        assert_eq!((mail.rcpt.len(), mail.mail_from.as_deref(), mail.url), (1, Some("x@y.example"), None));
        for wrong in [("ip", "here"), ("fetched-at", "today")] {
            assert!(carrier(Kind::Page, &headers(&[wrong])).is_err(), "{wrong:?}");
        }
        let mut twice = headers(&[("id", "7")]);
        twice.append("id", "7".parse().unwrap());
        assert!(carrier(Kind::Page, &twice).is_err(), "two ids are none");
        let mut several = headers(&[("rcpt", "a@b.example")]);
        several.append("rcpt", "c@b.example".parse().unwrap());
        assert_eq!(carrier(Kind::Email, &several).unwrap().rcpt.len(), 2);
    }
}
