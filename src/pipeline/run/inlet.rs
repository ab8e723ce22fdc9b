//! A record of an input topic on its way in: an arrival, or a dead letter with its reason.
//!
//! # Invariants
//! - Whatever a record holds, it has an outcome, and a set-aside one keeps its bytes, key and headers.
//!   (`what_cannot_be_read_becomes_a_dead_letter`)
//! - The caller's id is the envelope's, then the header's, then the key; a key that is a URL is a page's URL.
//!   (`keys_and_headers_name_a_document`)

use super::marks::Digest;
use super::signed;
use crate::bus::{Header, Outgoing, Partition, Record};
use crate::config::{InputForm, Settings};
use crate::document::{self, Carrier, Format, Kind, Rejection, envelope, excerpt, identity};
use crate::pipeline::line::Job;
use crate::pipeline::scan::Arriver;
use crate::signature::imatch::Lexicons;
use crate::signature::keyed::Keys;
use crate::store::{Arrival, Clerk};
use crate::verdict::event::{Source, Verdict};
use crate::verdict::judge::rejected;
use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use xxhash_rust::xxh3::xxh3_128;

/// What is kept of a record that is too large to be kept whole.
pub const BEGINNING_BYTES: usize = 64 << 10;
/// The longest explanation in a header.
const DETAIL_BYTES_MAX: usize = 1024;

impl Job for Record {
    fn n_bytes(&self) -> usize {
        Record::n_bytes(self)
    }
}

/// A record that was taken in.
#[derive(Clone)]
pub struct Taken {
    /// Where it was.
    pub partition: Partition,
    /// Its offset.
    pub offset: i64,
    /// When the bus got it.
    pub time_ms: i64,
    /// Its size.
    pub n_bytes: usize,
    /// What the record that was read is known again by: the one of `via`, if there is one.
    pub digest: Digest,
    /// What has become of it.
    pub fate: Fate,
    /// The record of the `signed` topic that brought it, if a signer has taken it in.
    pub via: Option<(Partition, i64)>,
    /// What has become of it under the scheme that is to follow, while there is one.
    pub beside: Option<Box<Fate>>,
}

/// What has become of a record.
#[derive(Clone)]
pub enum Fate {
    /// It is signed.
    Document(Box<Arrival>),
    /// It goes to dead-letters.
    SetAside(Box<SetAside>),
    /// It has no value: there is nothing to judge.
    Empty,
}

/// A record that goes to dead-letters.
#[derive(Clone)]
pub struct SetAside {
    /// Why, in one word.
    pub reason: Cow<'static, str>,
    /// The record with its reason; `None` where a signer has published it.
    pub letter: Option<Outgoing>,
    /// What is said of it, if its id is known: nobody should wait for it.
    pub verdict: Option<Verdict>,
}

/// Takes records in; a thread makes one.
pub struct Inlet {
    arriver: Arriver,
    ways: Arc<Ways>,
    under: String,
    settings: Arc<Settings>,
    lexicons: Arc<Lexicons>,
    id_key: u64,
    /// Makes ahead what the store asks of an arrival.
    clerk: Option<Clerk>,
    beside: Option<Beside>,
}

/// The inlet of the scheme that is to follow.
struct Beside {
    inlet: Box<Inlet>,
    is_handed_over: Arc<AtomicBool>,
}

/// What is expected of which topic, and where dead letters go.
pub struct Ways {
    inputs: Vec<(Arc<str>, Kind, InputForm)>,
    dead_letters: Arc<str>,
    signed: Arc<str>,
    record_bytes_max: usize,
}

impl Ways {
    /// By the settings.
    pub fn new(settings: &Settings) -> Self {
        let topics = &settings.topics;
        let inputs =
            [(&topics.pages, Kind::Page, topics.pages_form), (&topics.emails, Kind::Email, topics.emails_form)];
        let inputs = inputs.into_iter().filter(|(name, ..)| !name.is_empty());
        Self {
            inputs: inputs.map(|(name, kind, form)| (name.as_str().into(), kind, form)).collect(),
            dead_letters: topics.dead_letters.as_str().into(),
            signed: topics.signed.as_str().into(),
            record_bytes_max: settings.bus.record_bytes_max,
        }
    }

    /// The input topics.
    pub fn inputs(&self) -> impl Iterator<Item = &Arc<str>> {
        self.inputs.iter().map(|(topic, ..)| topic)
    }

    /// What is expected of the record's topic.
    fn way(&self, record: &Record) -> &(Arc<str>, Kind, InputForm) {
        let way = self.inputs.iter().find(|(topic, ..)| *topic == record.partition.topic);
        way.expect("only input topics are read")
    }

    /// The document in a record of an input, as its headers and its key name it.
    pub fn document(&self, mut record: Record) -> Option<document::Record> {
        let &(_, kind, form) = self.inputs.iter().find(|(topic, ..)| *topic == record.partition.topic)?;
        let body = record.value.take()?;
        let carrier = carrier(&record, kind).ok()?;
        Some(document::Record { format: format(kind, form, &body), body, carrier })
    }

    /// The topic between signers and store.
    pub fn signed(&self) -> Arc<str> {
        self.signed.clone()
    }

    /// `record` as a dead letter.
    pub fn letter(&self, record: &Record, reason: &str, detail: &str) -> Outgoing {
        let mut headers = record.headers.clone();
        let mut say = |name: &'static str, value: String| headers.push((name.into(), value.into_bytes()));
        say("reason", reason.to_owned());
        say("detail", excerpt::of(detail, DETAIL_BYTES_MAX).to_owned());
        say("topic", record.partition.topic.to_string());
        say("partition", record.partition.number.to_string());
        say("offset", record.offset.to_string());
        let letter = Outgoing {
            topic: self.dead_letters.clone(),
            partition: None,
            key: record.key.clone(),
            headers,
            value: record.value.clone(),
        };
        if letter.n_bytes() > self.record_bytes_max { shortened(letter) } else { letter }
    }
}

/// The beginning of a letter that the bus would not take whole, with the length and a digest of the rest.
pub fn shortened(letter: Outgoing) -> Outgoing {
    let Outgoing { topic, partition, key, mut headers, value } = letter;
    let value = value.unwrap_or_default();
    let facts: [Header; 2] = [
        ("original-bytes".into(), value.len().to_string().into_bytes()),
        ("original-xxh3".into(), format!("{:032x}", xxh3_128(&value)).into_bytes()),
    ];
    // Headers of the sender may be what is too large. Ours are the last five, and short.
    let n_senders = headers.len().saturating_sub(5);
    if headers[..n_senders].iter().map(|(name, value)| name.len() + value.len()).sum::<usize>() > BEGINNING_BYTES {
        headers.drain(..n_senders);
    }
    headers.extend(facts);
    let key = key.map(|key| key[..key.len().min(BEGINNING_BYTES)].to_vec());
    Outgoing { topic, partition, key, headers, value: Some(value[..value.len().min(BEGINNING_BYTES)].to_vec()) }
}

impl Inlet {
    /// By the settings, with their lexicons; `under` names both.
    pub fn new(settings: Arc<Settings>, lexicons: Arc<Lexicons>, ways: Arc<Ways>, under: String) -> Self {
        let id_key = Keys::derive(settings.secret.reveal()).id;
        let arriver = Arriver::new(&settings, lexicons.clone());
        Self { arriver, ways, under, settings, lexicons, id_key, clerk: None, beside: None }
    }

    /// The same for a store: what it asks of an arrival is made ahead.
    pub fn for_store(mut self) -> Self {
        self.clerk = Some(Clerk::new(&self.settings));
        self
    }

    /// The same, which takes records in under both schemes until it `is_handed_over`, and then under the other alone.
    pub fn beside(mut self, successor: Self, is_handed_over: Arc<AtomicBool>) -> Self {
        self.beside = Some(Beside { inlet: Box::new(successor), is_handed_over });
        self
    }

    /// Takes a record in, of an input or as a signer has made it.
    pub fn take(&mut self, record: Record) -> Taken {
        if let Some(Beside { inlet, .. }) = self.beside.take_if(|beside| beside.is_handed_over.load(Ordering::Relaxed))
        {
            *self = *inlet;
        }
        let Some(Beside { inlet, .. }) = &mut self.beside else { return self.taken(record) };
        let beside = Some(Box::new(inlet.taken(record.clone()).fate));
        Taken { beside, ..self.taken(record) }
    }

    fn taken(&mut self, record: Record) -> Taken {
        let is_signed = record.partition.topic == self.ways.signed;
        let mut taken = if is_signed { signed::taken(record, &self.under, &self.ways) } else { self.signed(record) };
        if let (Some(clerk), Fate::Document(arrival)) = (&self.clerk, &mut taken.fate) {
            clerk.issue(arrival);
        }
        taken
    }

    fn signed(&mut self, mut record: Record) -> Taken {
        let (n_bytes, digest) = (Record::n_bytes(&record), Digest::of(&record));
        let fate = match record.value.take() {
            None => Fate::Empty,
            Some(body) => self.fate(&mut record, body),
        };
        let Record { partition, offset, time_ms, .. } = record;
        Taken { partition, offset, time_ms, n_bytes, digest, fate, via: None, beside: None }
    }

    fn fate(&mut self, record: &mut Record, body: Vec<u8>) -> Fate {
        let &(_, kind, form) = self.ways.way(record);
        let carrier = match carrier(record, kind) {
            Ok(carrier) => carrier,
            Err(detail) => {
                let id = named(&Carrier::default(), record);
                record.value = Some(body);
                return self.set_aside(record, kind, id, "headers", &detail);
            }
        };
        let format = format(kind, form, &body);
        let id = named(&carrier, record);
        let own_name = |body: &[u8]| match format {
            Format::PageEnvelope | Format::MailEnvelope => envelope::name(body, kind),
            Format::Page | Format::Mail => None,
        };
        let document = document::Record { format, body, carrier };
        if document.body.len() > self.ways.record_bytes_max {
            let rejection = Rejection::TooLarge { len: document.body.len(), limit: self.ways.record_bytes_max };
            record.value = Some(document.body);
            return self.set_aside(record, kind, id, rejection.reason(), &rejection.to_string());
        }
        let source = source_of(record);
        // What the arriver holds may be broken after a panic, and is not used again.
        let arrival = catch_unwind(AssertUnwindSafe(|| self.arriver.arrival(&document, source)));
        match arrival {
            Ok(Ok(mut arrival)) => {
                arrival.time_ms = Some(record.time_ms);
                Fate::Document(Box::new(arrival))
            }
            Ok(Err(rejection)) => {
                let id = own_name(&document.body).or(id);
                record.value = Some(document.body);
                self.set_aside(record, kind, id, rejection.reason(), &rejection.to_string())
            }
            Err(_) => {
                self.arriver = Arriver::new(&self.settings, self.lexicons.clone());
                record.value = Some(document.body);
                let detail = "met a bug in seamripper, please report it with the record";
                self.set_aside(record, kind, id, "bug", detail)
            }
        }
    }

    /// `record` as one whose signatures the bus would not take.
    pub fn outgrown(&self, record: &Record, n_bytes: usize) -> Fate {
        let rejection = Rejection::TooLarge { len: n_bytes, limit: self.ways.record_bytes_max };
        let id = named(&Carrier::default(), record);
        self.set_aside(record, self.ways.way(record).1, id, rejection.reason(), &format!("signed, {rejection}"))
    }

    fn set_aside(&self, record: &Record, kind: Kind, id: Option<String>, reason: &'static str, detail: &str) -> Fate {
        let verdict = id.map(|id| {
            let id = identity::bounded(kind, &id, self.id_key);
            rejected(id, Some(kind), None, source_of(record), reason)
        });
        let letter = Some(self.ways.letter(record, reason, detail));
        Fate::SetAside(Box::new(SetAside { reason: Cow::Borrowed(reason), letter, verdict }))
    }
}

/// Where a record was, as a verdict says it.
pub fn source(partition: &Partition, offset: i64, time_ms: i64) -> Source {
    let time = jiff::Timestamp::from_millisecond(time_ms).ok().map(|time| time.to_string());
    Source { topic: partition.topic.clone(), partition: partition.number, offset, time }
}

fn source_of(record: &Record) -> Source {
    source(&record.partition, record.offset, record.time_ms)
}

fn format(kind: Kind, form: InputForm, body: &[u8]) -> Format {
    let is_envelope = match form {
        InputForm::Envelope => true,
        InputForm::Raw => false,
        InputForm::Auto => body.trim_ascii_start().first() == Some(&b'{'),
    };
    match (kind, is_envelope) {
        (Kind::Page, true) => Format::PageEnvelope,
        (Kind::Page, false) => Format::Page,
        (Kind::Email, true) => Format::MailEnvelope,
        (Kind::Email, false) => Format::Mail,
    }
}

/// The id under which somebody may wait for the verdict on a record that could not be read.
fn named(carrier: &Carrier, record: &Record) -> Option<String> {
    let key = || record.key.as_ref().map(|key| String::from_utf8_lossy(key).into_owned());
    carrier.id.clone().or_else(|| carrier.url.clone()).or_else(key).filter(|id| !id.is_empty())
}

/// What headers and key say.
fn carrier(record: &Record, kind: Kind) -> Result<Carrier, String> {
    let text = |name: &str| match record.header(name).map(std::str::from_utf8) {
        None | Some(Ok("")) => Ok(None),
        Some(Ok(text)) => Ok(Some(text.to_owned())),
        Some(Err(_)) => Err(format!("header `{name}` is not valid UTF-8")),
    };
    let mut carrier = Carrier { id: text("id")?, content_type: text("content-type")?, ..Carrier::default() };
    let key = record.key.as_ref().filter(|key| !key.is_empty());
    let key = key.map(|key| String::from_utf8_lossy(key).into_owned());
    let address = match kind {
        Kind::Page => {
            carrier.url = text("url")?;
            carrier.time = text("fetched-at")?;
            match key {
                // Said to be the id, it is nothing else.
                Some(key) if carrier.id.as_ref() == Some(&key) => {}
                Some(key) if key.starts_with("http://") || key.starts_with("https://") => {
                    carrier.url.get_or_insert(key);
                }
                Some(key) => drop(carrier.id.get_or_insert(key)),
                None => {}
            }
            ("ip", text("ip")?)
        }
        Kind::Email => {
            carrier.id = carrier.id.or(key);
            carrier.mail_from = text("mail-from")?;
            carrier.time = text("received-at")?;
            carrier.authenticated_domain = text("authenticated-domain")?;
            for (_, rcpt) in record.headers.iter().filter(|(name, _)| &**name == "rcpt") {
                carrier.rcpt.push(String::from_utf8_lossy(rcpt).into_owned());
            }
            ("client-ip", text("client-ip")?)
        }
    };
    if let (name, Some(address)) = address {
        carrier.ip = Some(address.parse().map_err(|_| format!("header `{name}` is no IP address"))?);
    }
    Ok(carrier)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::run::scheme::Scheme;

    fn record(topic: &str, key: Option<&str>, headers: &[(&str, &str)], value: &[u8]) -> Record {
        let headers = headers.iter().map(|(name, value)| ((*name).into(), value.as_bytes().to_vec())).collect();
        let key = key.map(|key| key.as_bytes().to_vec());
        Record {
            partition: Partition::new(topic, 3),
            offset: 7,
            time_ms: 1000,
            key,
            headers,
            value: Some(value.into()),
        }
    }

    fn inlet(change: impl FnOnce(&mut Settings)) -> Inlet {
        let mut settings = Settings::default();
        change(&mut settings);
        Scheme::new(Arc::new(settings)).unwrap().inlet()
    }

    fn arrival(inlet: &mut Inlet, record: Record) -> Arrival {
        match inlet.take(record).fate {
            Fate::Document(arrival) => *arrival,
            Fate::SetAside(set_aside) => panic!("set aside: {:?}", set_aside.letter),
            Fate::Empty => panic!("empty"),
        }
    }

    #[test]
    fn keys_and_headers_name_a_document() {
        let mut inlet = inlet(|_| ());
        let html = b"<p>some words that stand on a page";
        let url = Some("https://a.example/x");
        let named = arrival(&mut inlet, record("pages", url, &[], html));
        assert_eq!((named.id.as_str(), named.url.as_deref()), ("https://a.example/x", url));
        assert_eq!((&*named.source.topic, named.source.partition, named.source.offset), ("pages", 3, 7));
        assert_eq!((named.source.time.as_deref(), named.time_ms), (Some("1970-01-01T00:00:01Z"), Some(1000)));
        let headers = [("url", "https://b.example/y"), ("ip", "192.0.2.7")];
        let named = arrival(&mut inlet, record("pages", Some("mine"), &headers, html));
        assert_eq!((named.id.as_str(), named.domain.as_deref()), ("mine", Some("b.example")));
        assert_eq!(named.ip, Some("192.0.2.7".parse().unwrap()));
        let twice = [("id", "first"), ("url", "https://b.example/y"), ("id", "last")];
        assert_eq!(arrival(&mut inlet, record("pages", None, &twice, html)).id, "last", "whoever adds one means it");
        let envelope = br#" {"id": "theirs", "url": "https://c.example/", "html": "<p>hello"}"#;
        let named = arrival(&mut inlet, record("pages", Some("mine"), &headers, envelope));
        assert_eq!((named.id.as_str(), named.domain.as_deref()), ("theirs", Some("c.example")));
        let mail = b"From: a@b.example\r\nSubject: x\r\n\r\nhello\r\n";
        let headers = [("authenticated-domain", "b.example")];
        let named = arrival(&mut inlet, record("emails", Some("q1"), &headers, mail));
        assert_eq!((named.id.as_str(), named.authenticated_domain.as_deref()), ("q1", Some("b.example")));
        assert!(arrival(&mut inlet, record("emails", None, &[], mail)).id.starts_with("m-"));
    }

    #[test]
    fn what_cannot_be_read_becomes_a_dead_letter() {
        let mut inlet = inlet(|settings| {
            settings.limits.body_bytes_max = 100;
            settings.bus.record_bytes_max = 200;
        });
        let large = vec![b'x'; 150];
        let larger = vec![b'y'; 100_000];
        for (topic, key, headers, value, reason) in [
            ("pages", Some("k"), vec![], &b"{\"id\": 3"[..], "envelope"),
            ("emails", None, vec![], b"\x00\x01", "not_a_mail"),
            ("pages", Some("k"), vec![("ip", "nowhere")], b"<p>x", "headers"),
            ("pages", Some("k"), vec![], &large, "too_large"),
            ("pages", None, vec![], &larger, "too_large"),
        ] {
            let taken = inlet.take(record(topic, key, &headers, value));
            let Fate::SetAside(set_aside) = taken.fate else { panic!("{reason} was taken") };
            let SetAside { reason: found, letter, verdict } = *set_aside;
            let letter = letter.unwrap();
            let header = |name: &str| {
                let found = letter.headers.iter().rev().find(|(other, _)| **other == *name);
                found.map(|(_, value)| String::from_utf8(value.clone()).unwrap())
            };
            assert_eq!((&*found, header("reason").as_deref()), (reason, Some(reason)));
            assert_eq!(
                (header("topic").as_deref(), header("partition"), header("offset")),
                (Some(topic), Some("3".into()), Some("7".into()))
            );
            assert_eq!(verdict.map(|verdict| verdict.id).as_deref(), key, "{reason}");
            assert_eq!(letter.key.as_deref(), key.map(str::as_bytes));
            match value.len() {
                100_000 => {
                    assert_eq!(letter.value.unwrap(), value[..BEGINNING_BYTES]);
                    assert_eq!(header("original-bytes").as_deref(), Some("100000"));
                }
                _ => assert_eq!(letter.value.unwrap(), value),
            }
        }
        // Whoever waits for the verdict on an id that is too long waits for the same digest as if it could be read.
        let long = "x".repeat(identity::ID_BYTES_MAX + 1);
        let Fate::SetAside(set_aside) = inlet.take(record("emails", Some(&long), &[], b"\x00")).fate else { panic!() };
        let rejected = set_aside.verdict.unwrap().id;
        let mail = b"From: a@b.example\r\nSubject: x\r\n\r\nhello\r\n";
        assert_eq!(rejected, arrival(&mut inlet, record("emails", Some(&long), &[], mail)).id);
        let mut tombstone = record("pages", Some("k"), &[], b"");
        tombstone.value = None;
        assert!(matches!(inlet.take(tombstone).fate, Fate::Empty));
    }
}
