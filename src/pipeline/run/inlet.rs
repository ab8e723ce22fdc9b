//! A record of an input topic on its way in: an arrival, or a dead letter with its reason.
//!
//! # Invariants
//! - Whatever a record holds, it has an outcome, and a set-aside one keeps its bytes, key and headers.
//!   (`what_cannot_be_read_becomes_a_dead_letter`)
//! - The caller's id is the envelope's, then the header's, then the key; a key that is a URL is a page's URL.
//!   (`keys_and_headers_name_a_document`)

use crate::bus::{Header, Outgoing, Partition, Record};
use crate::config::{InputForm, Settings};
use crate::document::{self, Carrier, Format, Kind, Rejection};
use crate::pipeline::line::Job;
use crate::pipeline::scan::Arriver;
use crate::signature::imatch::Lexicons;
use crate::store::Arrival;
use crate::verdict::event::{Source, Verdict};
use crate::verdict::judge::rejected;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
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
pub struct Taken {
    /// Where it was.
    pub partition: Partition,
    /// Its offset.
    pub offset: i64,
    /// When the bus got it.
    pub time_ms: i64,
    /// Its size.
    pub n_bytes: usize,
    /// What has become of it.
    pub fate: Fate,
}

/// What has become of a record.
pub enum Fate {
    /// It is signed.
    Document(Box<Arrival>),
    /// It goes to dead-letters.
    SetAside(Box<SetAside>),
    /// It has no value: there is nothing to judge.
    Empty,
}

/// A record that goes to dead-letters.
pub struct SetAside {
    /// Why, in one word.
    pub reason: &'static str,
    /// The record with its reason.
    pub letter: Outgoing,
    /// What is said of it, if its id is known: nobody should wait for it.
    pub verdict: Option<Verdict>,
}

/// Takes records in; a thread makes one.
pub struct Inlet {
    arriver: Arriver,
    ways: Arc<Ways>,
    settings: Arc<Settings>,
    lexicons: Arc<Lexicons>,
}

/// What is expected of which topic, and where dead letters go.
pub struct Ways {
    inputs: Vec<(Arc<str>, Kind, InputForm)>,
    dead_letters: Arc<str>,
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
            record_bytes_max: settings.bus.record_bytes_max,
        }
    }

    /// The input topics.
    pub fn inputs(&self) -> impl Iterator<Item = &Arc<str>> {
        self.inputs.iter().map(|(topic, ..)| topic)
    }

    /// `record` as a dead letter.
    pub fn letter(&self, record: &Record, reason: &str, detail: &str) -> Outgoing {
        let mut headers = record.headers.clone();
        let mut say = |name: &'static str, value: String| headers.push((name.into(), value.into_bytes()));
        say("reason", reason.to_owned());
        let detail_end = detail.floor_char_boundary(DETAIL_BYTES_MAX.min(detail.len()));
        say("detail", detail[..detail_end].to_owned());
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
    /// By the settings, with their lexicons.
    pub fn new(settings: Arc<Settings>, lexicons: Arc<Lexicons>, ways: Arc<Ways>) -> Self {
        Self { arriver: Arriver::new(&settings, lexicons.clone()), ways, settings, lexicons }
    }

    /// Takes a record in.
    pub fn take(&mut self, mut record: Record) -> Taken {
        let n_bytes = Record::n_bytes(&record);
        let fate = match record.value.take() {
            None => Fate::Empty,
            Some(body) => self.fate(&mut record, body),
        };
        Taken { partition: record.partition, offset: record.offset, time_ms: record.time_ms, n_bytes, fate }
    }

    fn fate(&mut self, record: &mut Record, body: Vec<u8>) -> Fate {
        let way = self.ways.inputs.iter().find(|(topic, ..)| *topic == record.partition.topic);
        let &(_, kind, form) = way.expect("only input topics are read");
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
        let document = document::Record { format, body, carrier };
        if document.body.len() > self.ways.record_bytes_max {
            let rejection = Rejection::TooLarge { len: document.body.len(), limit: self.ways.record_bytes_max };
            record.value = Some(document.body);
            return self.set_aside(record, kind, id, rejection.reason(), &rejection.to_string());
        }
        let source = source(record);
        // What the arriver holds may be broken after a panic, and is not used again.
        let arrival = catch_unwind(AssertUnwindSafe(|| self.arriver.arrival(&document, source)));
        match arrival {
            Ok(Ok(mut arrival)) => {
                arrival.time_ms = Some(record.time_ms);
                Fate::Document(Box::new(arrival))
            }
            Ok(Err(rejection)) => {
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

    fn set_aside(&self, record: &Record, kind: Kind, id: Option<String>, reason: &'static str, detail: &str) -> Fate {
        let verdict = id.map(|id| rejected(id, Some(kind), None, source(record), reason));
        Fate::SetAside(Box::new(SetAside { reason, letter: self.ways.letter(record, reason, detail), verdict }))
    }
}

/// Where a record was, as a verdict says it.
pub fn source(record: &Record) -> Source {
    let time = jiff::Timestamp::from_millisecond(record.time_ms).ok().map(|time| time.to_string());
    Source { topic: record.partition.topic.clone(), partition: record.partition.number, offset: record.offset, time }
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
