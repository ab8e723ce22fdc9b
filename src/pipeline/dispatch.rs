//! A document on its way to an input topic: the record in which [`super::run::inlet`] finds the same document again.
//!
//! An envelope goes as it is, a raw page or mail with what its carrier knows in headers, unless the topic is for the other form:
//! then the one is made of the other.
//!
//! # Invariants
//! - What is taken in is what was sent: id, URL, body and all that the carrier knows, in every form of the topic.
//!   (`the_inlet_finds_what_was_dispatched`)
//! - What it is said to be known by is its id in the verdict, however long the one that it came with.
//!   (`the_inlet_finds_what_was_dispatched`)
//! - What cannot be opened is refused here, with the reason it would have had as a dead letter. (`what_cannot_be_opened_is_refused`)

use crate::bus::{Header, Outgoing};
use crate::config::{InputForm, Limits, Settings};
use crate::document::identity::{self, ID_BYTES_MAX};
use crate::document::{Carrier, Format, Kind, Record, Rejection, envelope, links};
use crate::signature::keyed::Keys;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Makes records for the input topics.
pub struct Dispatch {
    pages: Way,
    emails: Way,
    limits: Limits,
    record_bytes_max: usize,
    id_key: u64,
}

/// A topic, and what is expected of its records. An empty name: there is none.
struct Way {
    topic: Arc<str>,
    form: InputForm,
}

/// A document that can be sent.
#[derive(Debug)]
pub struct Dispatched {
    /// What the sender calls it.
    pub id: Option<String>,
    /// What it will be known by, as far as that can be told before it is read.
    pub known_as: Option<String>,
    /// The record.
    pub outgoing: Outgoing,
}

/// Why a document cannot be sent.
#[derive(Debug, thiserror::Error)]
pub enum Undeliverable {
    /// It would be set aside.
    #[error(transparent)]
    Rejected(#[from] Rejection),
    /// Nobody reads its sort.
    #[error("there is no topic for {0}: topics.{0} is empty")]
    NoTopic(&'static str),
}

impl Undeliverable {
    /// A short fixed word.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Rejected(rejection) => rejection.reason(),
            Self::NoTopic(_) => "no_topic",
        }
    }
}

impl Dispatch {
    /// By the settings.
    pub fn new(settings: &Settings) -> Self {
        let topics = &settings.topics;
        Self {
            pages: Way { topic: topics.pages.as_str().into(), form: topics.pages_form },
            emails: Way { topic: topics.emails.as_str().into(), form: topics.emails_form },
            limits: settings.limits.clone(),
            record_bytes_max: settings.bus.record_bytes_max,
            id_key: Keys::derive(settings.secret.reveal()).id,
        }
    }

    /// The record for a document.
    pub fn dispatched(&self, record: Record) -> Result<Dispatched, Undeliverable> {
        let (kind, is_envelope) = match record.format {
            Format::Page => (Kind::Page, false),
            Format::PageEnvelope => (Kind::Page, true),
            Format::Mail => (Kind::Email, false),
            Format::MailEnvelope => (Kind::Email, true),
        };
        let (way, name) = match kind {
            Kind::Page => (&self.pages, "pages"),
            Kind::Email => (&self.emails, "emails"),
        };
        if way.topic.is_empty() {
            return Err(Undeliverable::NoTopic(name));
        }
        let (known, headers, value) = match is_envelope {
            true => self.envelope(kind, way.form, record)?,
            false => self.raw(kind, way.form, record)?,
        };
        let id = known.id.filter(|id| !id.is_empty());
        let written = known.url.as_deref().map(str::trim).filter(|_| kind == Kind::Page);
        let named = id.clone().or_else(|| written.and_then(links::normalised));
        let key = named.as_ref().map(|name| name.clone().into_bytes());
        // A URL too long to be followed still tells one page from another.
        let named = named.or_else(|| written.filter(|url| url.len() > ID_BYTES_MAX).map(str::to_owned));
        let known_as = named.map(|name| identity::bounded(kind, &name, self.id_key));
        let outgoing = Outgoing { topic: way.topic.clone(), partition: None, key, headers, value: Some(value) };
        let (len, limit) = (outgoing.n_bytes(), self.record_bytes_max);
        if len > limit {
            return Err(Rejection::TooLarge { len, limit }.into());
        }
        Ok(Dispatched { id, known_as, outgoing })
    }

    fn envelope(&self, kind: Kind, form: InputForm, record: Record) -> Result<Made, Rejection> {
        let Record { body, carrier, .. } = record;
        let opened = match kind {
            Kind::Page => envelope::open_page(&body, &carrier, &self.limits)?,
            Kind::Email => envelope::open_mail(&body, &carrier, &self.limits)?,
        };
        if form == InputForm::Raw {
            let headers = headers(kind, &opened.carrier);
            return Ok((opened.carrier, headers, opened.body));
        }
        let mut headers = headers(kind, &carrier);
        if carrier.id.is_none() {
            headers.extend(told_apart(&opened.carrier));
        }
        Ok((opened.carrier, headers, body))
    }

    fn raw(&self, kind: Kind, form: InputForm, record: Record) -> Result<Made, Rejection> {
        let Record { body, carrier, .. } = record;
        let (len, limit) = (body.len(), self.limits.body_bytes_max);
        if len > limit {
            return Err(Rejection::TooLarge { len, limit });
        }
        let looks_enveloped = body.trim_ascii_start().first() == Some(&b'{');
        match form {
            InputForm::Raw => Ok((carrier.clone(), headers(kind, &carrier), body)),
            InputForm::Auto if !looks_enveloped => Ok((carrier.clone(), headers(kind, &carrier), body)),
            InputForm::Auto | InputForm::Envelope => {
                let value = enveloped(kind, &carrier, &body);
                let headers = told_apart(&carrier).into_iter().collect();
                Ok((carrier, headers, value))
            }
        }
    }
}

/// What is known of a document, the headers of its record, and the value.
type Made = (Carrier, Vec<Header>, Vec<u8>);

/// The id of a page without a URL as a header: the key alone might be taken for the URL.
fn told_apart(carrier: &Carrier) -> Option<Header> {
    let id = carrier.id.as_ref().filter(|id| carrier.url.is_none() && !id.is_empty())?;
    Some(("id".into(), id.clone().into_bytes()))
}

/// What a carrier knows, as headers.
fn headers(kind: Kind, carrier: &Carrier) -> Vec<Header> {
    let Carrier { id, url, content_type, ip, time, mail_from, rcpt, authenticated_domain } = carrier;
    let ip = ip.map(|ip| ip.to_string());
    let mut headers: Vec<Header> = Vec::new();
    let mut say = |name: &'static str, value: &Option<String>| {
        if let Some(value) = value.as_ref().filter(|value| !value.is_empty()) {
            headers.push((name.into(), value.clone().into_bytes()));
        }
    };
    say("id", id);
    match kind {
        Kind::Page => {
            say("url", url);
            say("content-type", content_type);
            say("ip", &ip);
            say("fetched-at", time);
        }
        Kind::Email => {
            say("client-ip", &ip);
            say("received-at", time);
            say("mail-from", mail_from);
            say("authenticated-domain", authenticated_domain);
            rcpt.iter().for_each(|rcpt| say("rcpt", &Some(rcpt.clone())));
        }
    }
    headers
}

/// A raw body as an envelope.
fn enveloped(kind: Kind, carrier: &Carrier, body: &[u8]) -> Vec<u8> {
    let Carrier { id, url, content_type, ip, time, mail_from, rcpt, authenticated_domain } = carrier;
    let packed = STANDARD.encode(body);
    // A time that is none only says when, and an envelope with it would be refused.
    let time = time.as_ref().filter(|time| time.parse::<jiff::Timestamp>().is_ok());
    let fields = match kind {
        Kind::Page => {
            json!({"id": id, "url": url, "content_type": content_type, "ip": ip, "fetched_at": time, "body": packed})
        }
        Kind::Email => json!({
            "id": id, "client_ip": ip, "received_at": time, "mail_from": mail_from, "rcpt": rcpt, "raw": packed,
            "auth": authenticated_domain.as_ref().map(|domain| json!({"dmarc": {"result": "pass", "domain": domain}})),
        }),
    };
    let Value::Object(fields) = fields else { unreachable!("it was made an object") };
    let is_known = |value: &Value| !value.is_null() && value.as_str() != Some("");
    let fields: Map<String, Value> = fields.into_iter().filter(|(_, value)| is_known(value)).collect();
    Value::Object(fields).to_string().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bus::{Partition, Record as BusRecord};
    use crate::pipeline::run::inlet::Fate;
    use crate::pipeline::run::scheme::Scheme;
    use crate::pipeline::scan::Arriver;
    use crate::store::Arrival;
    use crate::verdict::event::Source;

    fn settings(form: InputForm) -> Settings {
        let mut settings = Settings::default();
        (settings.topics.pages_form, settings.topics.emails_form) = (form, form);
        settings
    }

    fn documents() -> Vec<Record> {
        let words = "some words that stand on a page, and more of them than are needed to be judged by anybody";
        let page = Carrier {
            url: Some("HTTPS://a.Example:443/x/../y".into()),
            content_type: Some("text/html; charset=latin1".into()),
            ip: Some("192.0.2.7".parse().unwrap()),
            time: Some("2026-01-31T12:00:00Z".into()),
            ..Carrier::default()
        };
        let named = |id: &str| Carrier { id: Some(id.into()), ..Carrier::default() };
        let mail = Carrier {
            mail_from: Some("x@b.example".into()),
            rcpt: vec!["anne@c.example".into(), "bob@c.example".into()],
            authenticated_domain: Some("b.example".into()),
            ..named("queue/7")
        };
        let record = |format, body: &str, carrier| Record { format, body: body.as_bytes().to_vec(), carrier };
        let mail_body = format!("From: x@b.example\r\nSubject: hello\r\n\r\nDear anne, {words}\r\n");
        let raw = STANDARD.encode(&mail_body);
        let long_url = format!("https://long.example/{}", "x".repeat(3000));
        let mut latin = record(Format::Page, &format!("<p>{words}"), page);
        latin.body.extend([b' ', 0xe9, 0xe8]);
        vec![
            latin,
            record(Format::Page, &format!("<p>{words}"), named("pages/1.html")),
            record(
                Format::Page,
                &format!("{{ {words}"),
                Carrier { content_type: Some("text/plain".into()), ..named("1.txt") },
            ),
            record(Format::Page, &format!("<p>{words}"), named("https://named.example/like-a-url")),
            record(Format::Page, &format!("<p>{words}"), named(&"long".repeat(600))),
            record(Format::Page, &format!("<p>{words}"), Carrier { url: Some(long_url.clone()), ..Carrier::default() }),
            record(Format::Mail, &mail_body, named(&"queue".repeat(600))),
            record(
                Format::PageEnvelope,
                &format!(r#"{{"id": "{}", "html": "{words}"}}"#, "i".repeat(3000)),
                Carrier::default(),
            ),
            record(Format::PageEnvelope, &format!(r#"{{"url": "{long_url}", "html": "{words}"}}"#), Carrier::default()),
            record(
                Format::PageEnvelope,
                &format!(r#"{{"url": "http://u.example/", "html": "{words}"}}"#),
                Carrier::default(),
            ),
            record(
                Format::PageEnvelope,
                &format!(r#"{{"url": "file:///u/x", "text": "{words}"}}"#),
                Carrier::default(),
            ),
            record(
                Format::PageEnvelope,
                &format!(r#"{{"id": "http://i.example/", "text": "{words}"}}"#),
                Carrier::default(),
            ),
            record(Format::PageEnvelope, &format!(r#"{{"id": "own", "html": "{words}"}}"#), named("a.jsonl#3")),
            record(Format::PageEnvelope, &format!(r#"{{"html": "{words}"}}"#), named("a.jsonl#4")),
            record(Format::Mail, &mail_body, mail),
            record(Format::Mail, &mail_body, Carrier::default()),
            record(
                Format::MailEnvelope,
                &format!(r#"{{"raw": "{raw}", "rcpt": ["anne@c.example"]}}"#),
                named("m.jsonl#1"),
            ),
        ]
    }

    /// What is decided by, without where it came from.
    fn essence(arrival: &Arrival) -> String {
        let Arrival { id, url, domain, ip, authenticated_domain, signatures, .. } = arrival;
        format!("{id} {url:?} {domain:?} {ip:?} {authenticated_domain:?} {signatures:?}")
    }

    #[test]
    fn the_inlet_finds_what_was_dispatched() {
        for form in [InputForm::Auto, InputForm::Envelope, InputForm::Raw] {
            let settings = Arc::new(settings(form));
            let scheme = Scheme::new(settings.clone()).unwrap();
            let (mut inlet, dispatch) = (scheme.inlet(), Dispatch::new(&settings));
            let mut arriver = Arriver::new(&settings, crate::pipeline::lexicon::load(&settings).unwrap());
            for document in documents() {
                let direct = arriver.arrival(&document, Source::default()).unwrap();
                let Dispatched { known_as, outgoing, .. } = dispatch.dispatched(document.clone()).unwrap();
                let Outgoing { topic, key, headers, value, .. } = outgoing;
                let partition = Partition::new(topic, 0);
                let taken = inlet.take(BusRecord { partition, offset: 0, time_ms: 0, key, headers, value });
                let Fate::Document(arrival) = taken.fate else { panic!("{form:?} {document:?} is set aside") };
                assert_eq!(essence(&arrival), essence(&direct), "{form:?} {document:?}");
                assert!(known_as.as_ref().is_none_or(|name| *name == direct.id), "{form:?} {document:?}");
                let is_named = document.carrier.id.is_some() || document.carrier.url.is_some();
                assert!(known_as.is_some() || !is_named, "{form:?} {document:?}");
            }
        }
    }

    #[test]
    fn what_cannot_be_opened_is_refused() {
        let mut settings = settings(InputForm::Auto);
        settings.limits.body_bytes_max = 100;
        settings.bus.record_bytes_max = 200;
        settings.topics.emails = String::new();
        let dispatch = Dispatch::new(&settings);
        let large = "x".repeat(101);
        let long_name = Carrier { id: Some("n".repeat(200)), ..Carrier::default() };
        for (format, body, carrier, reason) in [
            (Format::PageEnvelope, "{", Carrier::default(), "envelope"),
            (Format::PageEnvelope, r#"{"body": "*"}"#, Carrier::default(), "base64"),
            (Format::Page, &*large, Carrier::default(), "too_large"),
            (Format::Page, "<p>", long_name, "too_large"),
            (Format::Mail, "From: a", Carrier::default(), "no_topic"),
        ] {
            let refused = dispatch.dispatched(Record { format, body: body.into(), carrier }).unwrap_err();
            assert_eq!(refused.reason(), reason, "{refused}");
        }
    }
}
