//! JSON envelopes: `schemas/page.json` and `schemas/email.json`.
//!
//! A crawler's or mail server's record: a body with what is known of it. Fields that the schemas do not name are
//! passed over (senders have their own), `null` is as good as absent, and everything else that is wrong is refused
//! with the name of the field and what was found in it: a mapping that fails silently costs its owner days.
//!
//! # Invariants
//! - JSON that serde_json refuses is refused, and a sound envelope in JSON that it accepts is accepted.
//!   (`acceptance_is_that_of_serde_json`)
//! - What the schema accepts is opened, and what it refuses is refused. (`tests/promises/envelopes.rs`)
//! - A message repeats at most 80 characters of the input. (`messages_stay_short`)

mod json;

use super::{Carrier, Kind, Rejection};
use crate::config::Limits;
use base64::Engine;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use json::{Fields, opened};
use std::borrow::Cow;
use std::net::IpAddr;

/// An envelope taken apart.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Opened {
    /// The body inside it.
    pub body: Vec<u8>,
    /// Its fields. `text` (plain text in place of `html`) sets the content type to `text/plain; charset=utf-8`,
    /// `html` sets its charset to UTF-8, since JSON text is.
    pub carrier: Carrier,
}

/// A page's envelope. `beside` is what came with it; the envelope's own fields win.
pub fn open_page(json: &[u8], beside: &Carrier, limits: &Limits) -> Result<Opened, Rejection> {
    let mut carrier = beside.clone();
    let [html, body, text, id, url, content_type, ip, time] = opened(json, PAGE_FIELDS)?.0;
    set(&mut carrier.id, checked("id", id, named)?);
    set(&mut carrier.url, checked("url", url, named)?);
    set(&mut carrier.content_type, checked("content_type", content_type, named)?);
    set(&mut carrier.ip, checked("ip", ip, address)?);
    set(&mut carrier.time, checked("fetched_at", time, moment)?);
    let body = match (html, body, text) {
        (Some(html), None, None) => {
            let media = carrier.content_type.as_deref().unwrap_or("text/html");
            let media = media.split(';').next().unwrap_or_default().trim();
            carrier.content_type = Some(format!("{media}; charset=utf-8"));
            within(html.into_owned().into_bytes(), limits)?
        }
        (None, Some(body), None) => unpacked("body", &body, limits)?,
        (None, None, Some(text)) => {
            carrier.content_type = Some("text/plain; charset=utf-8".into());
            within(text.into_owned().into_bytes(), limits)?
        }
        (html, body, text) => {
            let found = [("`html`", html.is_some()), ("`body`", body.is_some()), ("`text`", text.is_some())];
            let found: Vec<&str> = found.iter().filter(|(_, is_there)| *is_there).map(|(name, _)| *name).collect();
            let found = if found.is_empty() { "none".to_owned() } else { found.join(" and ") };
            return Err(Rejection::Envelope(format!("needs exactly one of `html`, `body` and `text`, found {found}")));
        }
    };
    Ok(Opened { body, carrier })
}

/// A mail's envelope.
pub fn open_mail(json: &[u8], beside: &Carrier, limits: &Limits) -> Result<Opened, Rejection> {
    let mut carrier = beside.clone();
    let ([raw, id, mail_from, ip, time], lists) = opened(json, MAIL_FIELDS)?;
    set(&mut carrier.id, checked("id", id, named)?);
    // The empty sender is that of bounces, and no mistake.
    set(&mut carrier.mail_from, mail_from.map(Cow::into_owned));
    set(&mut carrier.ip, checked("client_ip", ip, address)?);
    set(&mut carrier.time, checked("received_at", time, moment)?);
    if let Some(rcpt) = lists.rcpt {
        carrier.rcpt = rcpt;
    }
    if let Some(auth) = lists.auth {
        carrier.authenticated_domain = auth.domain();
    }
    let raw = raw.ok_or_else(|| Rejection::Envelope("needs `raw`, the mail in base64".into()))?;
    Ok(Opened { body: unpacked("raw", &raw, limits)?, carrier })
}

/// What an envelope is known by that was refused for something else: its id, or a page's URL.
pub fn name(json: &[u8], kind: Kind) -> Option<String> {
    let [id, url] = opened(json, Fields { strings: ["id", "url"], is_mail: false }).ok()?.0;
    let url = url.filter(|url| kind == Kind::Page && !url.is_empty());
    id.or(url).and_then(|name| named(name).ok())
}

const PAGE_FIELDS: Fields<8> =
    Fields { strings: ["html", "body", "text", "id", "url", "content_type", "ip", "fetched_at"], is_mail: false };
const MAIL_FIELDS: Fields<5> =
    Fields { strings: ["raw", "id", "mail_from", "client_ip", "received_at"], is_mail: true };

/// The longest id, URL or content type. URLs beyond it are traps, and ids become keys.
const NAME_BYTES_MAX: usize = 8192;

fn set<T>(field: &mut Option<T>, value: Option<T>) {
    if value.is_some() {
        *field = value;
    }
}

fn checked<T>(
    field: &str,
    value: Option<Cow<'_, str>>,
    check: impl FnOnce(Cow<'_, str>) -> Result<T, String>,
) -> Result<Option<T>, Rejection> {
    // Crawlers write "" for what they don't know; an id is the one thing that has to be something if it is there.
    let value = value.filter(|value| field == "id" || !value.is_empty());
    value.map(check).transpose().map_err(|problem| Rejection::Envelope(format!("`{field}` {problem}")))
}

fn named(value: Cow<'_, str>) -> Result<String, String> {
    match value.len() {
        0 => Err("is empty".into()),
        len if len > NAME_BYTES_MAX => Err(format!("has {len} bytes, limit is {NAME_BYTES_MAX}")),
        _ => Ok(value.into_owned()),
    }
}

fn address(value: Cow<'_, str>) -> Result<IpAddr, String> {
    value.parse().map_err(|_| format!("is no IP address: {}", shown(&value)))
}

fn moment(value: Cow<'_, str>) -> Result<String, String> {
    match value.parse::<jiff::Timestamp>() {
        Ok(_) => Ok(value.into_owned()),
        Err(_) => Err(format!("is no RFC 3339 time with offset: {}", shown(&value))),
    }
}

/// At most 60 characters of a value, in quotes, control characters escaped.
fn shown(value: &str) -> String {
    let mut out: String = value.chars().take(60).flat_map(char::escape_debug).take(60).collect();
    if out.len() < value.len() {
        out.push('…');
    }
    format!("\"{out}\"")
}

fn within(body: Vec<u8>, limits: &Limits) -> Result<Vec<u8>, Rejection> {
    let (len, limit) = (body.len(), limits.body_bytes_max);
    if len > limit { Err(Rejection::TooLarge { len, limit }) } else { Ok(body) }
}

const BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

fn unpacked(field: &'static str, packed: &str, limits: &Limits) -> Result<Vec<u8>, Rejection> {
    let (len, limit) = (packed.len() / 4 * 3, limits.body_bytes_max);
    // Padding makes the estimate two bytes too large at most, and line breaks by a part in thirty.
    if len > limit + limit / 30 + 2 {
        return Err(Rejection::TooLarge { len, limit });
    }
    let body = match BASE64.decode(packed) {
        Ok(body) => body,
        // Line breaks are rare, so that looking for them comes after the failure.
        Err(_) => {
            let is_break = |byte: &u8| matches!(byte, b'\r' | b'\n' | b' ' | b'\t');
            let joined: Vec<u8> = packed.bytes().filter(|byte| !is_break(byte)).collect();
            BASE64.decode(&joined).map_err(|_| Rejection::Base64 { field })?
        }
    };
    within(body, limits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Settings;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn limits() -> &'static Limits {
        static LIMITS: std::sync::LazyLock<Limits> = std::sync::LazyLock::new(|| Settings::default().limits);
        &LIMITS
    }

    fn page(json: &str) -> Result<Opened, Rejection> {
        open_page(json.as_bytes(), &Carrier::default(), limits())
    }

    fn mail(json: &str) -> Result<Opened, Rejection> {
        open_mail(json.as_bytes(), &Carrier::default(), limits())
    }

    #[test]
    fn every_field_of_a_page_arrives() {
        let opened = page(
            r#"{"id": "1", "url": "http://a.example/", "html": "<p>caf\u00e9 \"x\"", "content_type": "text/html; charset=latin1",
                "ip": "2001:db8::1", "fetched_at": "2026-01-31T12:00:00+01:00", "crawler": {"depth": [1, 2.5, null, true]}}"#,
        )
        .unwrap();
        assert_eq!(opened.body, "<p>café \"x\"".as_bytes());
        let Carrier { id, url, content_type, ip, time, .. } = opened.carrier;
        assert_eq!((id.unwrap().as_str(), url.unwrap().as_str()), ("1", "http://a.example/"));
        assert_eq!(content_type.unwrap(), "text/html; charset=utf-8");
        assert_eq!(ip.unwrap().to_string(), "2001:db8::1");
        assert_eq!(time.unwrap(), "2026-01-31T12:00:00+01:00");
    }

    #[test]
    fn the_envelopes_own_fields_win() {
        let beside = Carrier { id: Some("beside".into()), url: Some("http://b.example/".into()), ..Carrier::default() };
        let opened = open_page(br#"{"id": "own", "text": "x"}"#, &beside, limits()).unwrap();
        assert_eq!(opened.carrier.id.as_deref(), Some("own"));
        assert_eq!(opened.carrier.url.as_deref(), Some("http://b.example/"));
        assert_eq!(opened.carrier.content_type.as_deref(), Some("text/plain; charset=utf-8"));
    }

    #[test]
    fn every_field_of_a_mail_arrives() {
        let opened = mail(
            r#"{"id": "m1", "raw": "U3ViamVjdDog\r\naGkKCg", "received_at": "2026-01-31T12:00:00Z", "client_ip": "192.0.2.1",
                "mail_from": "", "rcpt": ["a@x.example", "b@x.example"], "auth": {"spf": {"result": "pass", "domain": "s.example"},
                "dkim": [{"result": "fail", "domain": "d.example"}, {"result": "Pass", "domain": "E.example"}], "arc": 1}}"#,
        )
        .unwrap();
        assert_eq!(opened.body, b"Subject: hi\n\n");
        assert_eq!(opened.carrier.rcpt, ["a@x.example", "b@x.example"]);
        assert_eq!(opened.carrier.mail_from.as_deref(), Some(""));
        assert_eq!(opened.carrier.authenticated_domain.as_deref(), Some("e.example"));
    }

    #[test]
    fn the_authenticated_domain_is_that_of_the_strongest_check_that_passed() {
        let domain =
            |auth: Value| mail(&json!({"raw": "", "auth": auth}).to_string()).unwrap().carrier.authenticated_domain;
        let (pass, fail) = (
            |domain| json!({"result": "pass", "domain": domain}),
            |domain| json!({"result": "fail", "domain": domain}),
        );
        assert_eq!(domain(json!({"spf": pass("s"), "dkim": pass("k"), "dmarc": pass("m")})).unwrap(), "m");
        assert_eq!(domain(json!({"spf": pass("s"), "dkim": pass("k"), "dmarc": fail("m")})).unwrap(), "k");
        assert_eq!(domain(json!({"spf": pass("s"), "dkim": fail("k")})).unwrap(), "s");
        assert_eq!(domain(json!({"spf": fail("s"), "dmarc": {"result": "pass"}})), None);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (json, message) in [
            ("{}", "envelope: needs exactly one of `html`, `body` and `text`, found none"),
            (
                r#"{"html": "x", "text": "y"}"#,
                "envelope: needs exactly one of `html`, `body` and `text`, found `html` and `text`",
            ),
            (r#"{"html": 5}"#, "envelope: `html` must be a string, found a number"),
            (r#"{"html": "x", "id": ["y"]}"#, "envelope: `id` must be a string, found a list"),
            (r#"{"html": "x", "id": ""}"#, "envelope: `id` is empty"),
            (r#"{"html": "x", "id": "y", "id": "z"}"#, "envelope: `id` is there twice"),
            (r#"{"html": "x", "ip": "1.2.3"}"#, "envelope: `ip` is no IP address: \"1.2.3\""),
            (
                r#"{"html": "x", "fetched_at": "today"}"#,
                "envelope: `fetched_at` is no RFC 3339 time with offset: \"today\"",
            ),
            (r#"{"body": "?"}"#, "`body` is not valid base64"),
            (r#"[1]"#, "envelope: must be a JSON object, found a list"),
            (r#"-1"#, "envelope: must be a JSON object, found a number"),
            (r#"{"html": "x""#, "envelope: not valid JSON at line 1, column 12"),
        ] {
            assert_eq!(page(json).unwrap_err().to_string(), message, "{json}");
        }
        for (json, message) in [
            ("{}", "envelope: needs `raw`, the mail in base64"),
            (r#"{"raw": "!"}"#, "`raw` is not valid base64"),
            (r#"{"raw": "", "rcpt": "a@b"}"#, "envelope: `rcpt` must be a list of strings, found a string"),
            (r#"{"raw": "", "rcpt": [1]}"#, "envelope: `rcpt` must be a list of strings, found a number in it"),
            (r#"{"raw": "", "auth": []}"#, "envelope: `auth` must be an object, found a list"),
            (r#"{"raw": "", "auth": {"spf": "pass"}}"#, "envelope: `auth` `spf` must be an object, found a string"),
            (
                r#"{"raw": "", "auth": {"spf": {"result": 1}}}"#,
                "envelope: `auth` `spf` `result` must be a string, found a number",
            ),
            (r#"{"raw": "", "client_ip": "x"}"#, "envelope: `client_ip` is no IP address: \"x\""),
        ] {
            assert_eq!(mail(json).unwrap_err().to_string(), message, "{json}");
        }
        assert_eq!(
            open_page(b"{\"html\": \"\xff\"}", &Carrier::default(), limits()).unwrap_err().to_string(),
            "envelope: not valid UTF-8 at byte 10"
        );
    }

    #[test]
    fn messages_stay_short() {
        let long = "\\n\u{e9}x".repeat(100_000);
        for field in ["ip", "fetched_at", "id", "url", "html", &long] {
            if let Err(error) = page(&format!(r#"{{"{field}": "{long}", "body": "%"}}"#)) {
                assert!(error.to_string().chars().count() < 160, "{error}");
            }
        }
    }

    #[test]
    fn null_is_absent() {
        let opened = page(r#"{"html": null, "text": "x", "ip": null, "id": null}"#).unwrap();
        assert_eq!((opened.body, opened.carrier.id), (b"x".to_vec(), None));
    }

    #[test]
    fn a_body_over_the_limit_is_rejected_before_and_after_unpacking() {
        let mut limits = Settings::default().limits;
        limits.body_bytes_max = 6;
        let reason =
            |json: &str| open_page(json.as_bytes(), &Carrier::default(), &limits).map_err(|error| error.reason());
        assert_eq!(reason(r#"{"body": "MTIzNDU2"}"#).unwrap().body, b"123456");
        assert_eq!(reason(r#"{"body": "MTIzNDU2Nw=="}"#), Err("too_large"));
        assert_eq!(reason(r#"{"body": "MTIzNDU2Nzg5MDEy"}"#), Err("too_large"));
        assert_eq!(reason(r#"{"body": "MTIz\nNDU2"}"#).unwrap().body, b"123456");
        assert_eq!(reason(r#"{"html": "1234567"}"#), Err("too_large"));
    }

    #[test]
    fn depth_is_bounded() {
        for field in ["x", "html", "auth", "rcpt"] {
            for (open, close) in [("[", "]"), (r#"{"a":"#, "}")] {
                let deep = format!(r#"{{"{field}": {}1{}}}"#, open.repeat(2_000_000), close.repeat(2_000_000));
                assert_eq!(mail(&deep).unwrap_err().reason(), "envelope");
            }
        }
    }

    /// JSON values of every sort.
    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_filter("JSON has no such number", |number| number.is_finite()).prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::hash_map(any::<String>(), inner, 0..6).prop_map(|map| map.into_iter().collect()),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// Sound and damaged: a few bytes are changed, cut or put in.
        #[test]
        fn acceptance_is_that_of_serde_json(
            value in values(),
            pretty in any::<bool>(),
            damage in prop::collection::vec((any::<prop::sample::Index>(), prop_oneof![
                Just(None), any::<u8>().prop_map(Some), prop::sample::select(b"\"\\{}[],:0-+.eEtn \n\x00\x1fu".to_vec()).prop_map(Some),
            ]), 0..3),
        ) {
            let object = json!({"text": "x", "own": value});
            let mut bytes = if pretty { serde_json::to_vec_pretty(&object) } else { serde_json::to_vec(&object) }.unwrap();
            for (at, byte) in damage {
                let at = at.index(bytes.len());
                match byte {
                    Some(byte) if byte % 2 == 0 => bytes[at] = byte,
                    Some(byte) => bytes.insert(at, byte),
                    None => { bytes.remove(at); }
                }
            }
            let ours = open_page(&bytes, &Carrier::default(), limits());
            match (serde_json::from_slice::<Value>(&bytes), ours) {
                (Err(error), Ok(_)) => prop_assert!(false, "accepted, but serde_json says {error}"),
                (Ok(theirs), Ok(opened)) => prop_assert_eq!(theirs["text"].as_str().unwrap().as_bytes(), &opened.body[..]),
                (Ok(theirs), Err(error)) => {
                    // Then it must be for the fields, not for the JSON.
                    let message = error.to_string();
                    prop_assert!(!message.contains("not valid"), "{message}: {theirs}");
                }
                (Err(_), Err(_)) => {}
            }
        }

        /// Text survives its escapes.
        #[test]
        fn html_arrives_as_it_was(html in any::<String>()) {
            prop_assert_eq!(page(&json!({"html": html}).to_string()).unwrap().body, html.as_bytes());
        }
    }
}
