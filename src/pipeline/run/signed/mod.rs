//! A record of the `signed` topic: what a signer has made of one record of an input, on its way to the store.
//!
//! The key is the input's partition, so that the records of one partition stay in their order. Headers say where the
//! record was and under what it was signed: also what cannot be opened any more can be named and passed by.
//!
//! # Invariants
//! - What a signer makes of a record is what an instance that does everything makes of it. (`a_signed_record_survives_its_way`)
//! - A record that was signed under other settings, or is damaged, is refused by name, and its place is known.
//!   (`a_foreign_record_is_refused_by_name`)

mod packed;

use super::inlet::{Fate, SetAside, Taken, Ways, source};
use super::marks::Digest;
use super::scheme::Scheme;
use crate::bus::{Outgoing, Partition, Record};
use crate::store::Arrival;
use crate::verdict::event::Verdict;
use crate::verdict::judge::rejected;
use packed::Packed;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Number of the layout; another layout raises it.
const FORMAT: u32 = 3;

/// Under what a record was signed, as its header says.
pub fn signed_under(scheme: &Scheme) -> String {
    format!("{FORMAT}.{}.{}.{}", crate::signature::SCHEME, scheme.key_id(), scheme.digest())
}

/// The value of a signed record.
#[derive(Serialize, Deserialize)]
struct Letter {
    time_ms: i64,
    n_bytes: u64,
    fate: Sealed,
}

#[derive(Serialize, Deserialize)]
enum Sealed {
    Document(Box<Packed>),
    SetAside { reason: String, verdict: Option<String> },
    Empty,
}

/// What was taken, as records: the signed one, and the dead letter that goes with it.
pub fn outgoing(taken: Taken, under: &str, ways: &Ways) -> (Outgoing, Option<Outgoing>) {
    let Taken { partition, offset, time_ms, n_bytes, fate, .. } = taken;
    let (fate, letter) = match fate {
        Fate::Document(arrival) => (Sealed::Document(Box::new(Packed::of(*arrival))), None),
        Fate::SetAside(set_aside) => {
            let SetAside { reason, letter, verdict } = *set_aside;
            let json = |verdict: &Verdict| serde_json::to_string(verdict).expect("verdicts have no map with odd keys");
            (Sealed::SetAside { reason: reason.into_owned(), verdict: verdict.as_ref().map(json) }, letter)
        }
        Fate::Empty => (Sealed::Empty, None),
    };
    let value = postcard::to_stdvec(&Letter { time_ms, n_bytes: n_bytes as u64, fate });
    let header = |name: &'static str, value: String| (name.into(), value.into_bytes());
    let signed = Outgoing {
        key: Some(partition.to_string().into_bytes()),
        headers: vec![
            header("topic", partition.topic.to_string()),
            header("partition", partition.number.to_string()),
            header("offset", offset.to_string()),
            header("signed-under", under.to_owned()),
        ],
        value: Some(value.expect("plain data in memory can be written")),
        ..Outgoing::to(ways.signed())
    };
    (signed, letter)
}

/// What a signer has taken, or a dead letter that says why it cannot be had.
pub fn taken(record: Record, under: &str, ways: &Ways) -> Taken {
    let (via, digest) = (Some((record.partition.clone(), record.offset)), Digest::of(&record));
    let Some((partition, offset)) = origin(&record, ways) else {
        let fate = refused(&record, ways, "signed", "its headers do not say which record was signed", None);
        let Record { partition, offset, time_ms, .. } = record;
        return Taken { partition, offset, time_ms, n_bytes: 0, digest, fate, via: None, beside: None };
    };
    let opened = record.value.as_deref().map(postcard::from_bytes::<Letter>);
    let found = String::from_utf8_lossy(record.header("signed-under").unwrap_or_default());
    let (time_ms, n_bytes, fate) = match opened {
        Some(Ok(Letter { time_ms, n_bytes, fate })) if found == under => {
            (time_ms, n_bytes, fate.opened(&partition, offset, time_ms))
        }
        opened => {
            let letter = opened.and_then(Result::ok);
            let (reason, detail) = match letter {
                _ if found != under => {
                    ("foreign_scheme", format!("it was signed under {found}, the store has {under}"))
                }
                _ => ("signed", "what a signer made of it is damaged".to_owned()),
            };
            let time_ms = letter.as_ref().map_or(record.time_ms, |letter| letter.time_ms);
            let id = letter.and_then(|letter| letter.fate.id());
            (time_ms, 0, refused(&record, ways, reason, &detail, id.map(|id| (id, &partition, offset))))
        }
    };
    Taken { partition, offset, time_ms, n_bytes: n_bytes as usize, digest, fate, via, beside: None }
}

/// The record of an input that was signed, by the headers.
pub(super) fn origin(record: &Record, ways: &Ways) -> Option<(Partition, i64)> {
    let text = |name: &str| record.header(name).and_then(|value| std::str::from_utf8(value).ok());
    let topic = ways.inputs().find(|topic| Some(&***topic) == text("topic"))?;
    let number = text("partition")?.parse().ok().filter(|number| *number >= 0)?;
    let offset = text("offset")?.parse().ok().filter(|offset| (0..i64::MAX).contains(offset))?;
    Some((Partition::new(topic.clone(), number), offset))
}

fn refused(
    record: &Record,
    ways: &Ways,
    reason: &'static str,
    detail: &str,
    of: Option<(String, &Partition, i64)>,
) -> Fate {
    let verdict =
        of.map(|(id, partition, offset)| rejected(id, None, None, source(partition, offset, record.time_ms), reason));
    let letter = Some(ways.letter(record, reason, detail));
    Fate::SetAside(Box::new(SetAside { reason: Cow::Borrowed(reason), letter, verdict }))
}

impl Sealed {
    fn opened(self, partition: &Partition, offset: i64, time_ms: i64) -> Fate {
        match self {
            Self::Empty => Fate::Empty,
            Self::Document(packed) => {
                let source = source(partition, offset, time_ms);
                Fate::Document(Box::new(Arrival { time_ms: Some(time_ms), ..packed.unpacked(source) }))
            }
            // Its dead letter was published with it.
            Self::SetAside { reason, verdict } => {
                let verdict = verdict.and_then(|json| serde_json::from_str(&json).ok());
                Fate::SetAside(Box::new(SetAside { reason: Cow::Owned(reason), letter: None, verdict }))
            }
        }
    }

    fn id(self) -> Option<String> {
        match self {
            Self::Empty => None,
            Self::Document(packed) => Some(packed.id),
            Self::SetAside { verdict, .. } => {
                verdict.and_then(|json| serde_json::from_str::<Verdict>(&json).ok()).map(|verdict| verdict.id)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Settings;
    use std::sync::Arc;

    fn scheme() -> Scheme {
        Scheme::new(Arc::new(Settings::default())).unwrap()
    }

    fn record(topic: &str, offset: i64, value: &[u8]) -> Record {
        let partition = Partition::new(topic, 2);
        let key = Some(b"https://a.example/x".to_vec());
        Record { partition, offset, time_ms: 1_700_000_000_123, key, headers: Vec::new(), value: Some(value.into()) }
    }

    /// The record as it comes out of the bus.
    fn delivered(outgoing: Outgoing) -> Record {
        let Outgoing { topic, key, headers, value, .. } = outgoing;
        Record { partition: Partition::new(topic, 1), offset: 77, time_ms: 9, key, headers, value }
    }

    fn page() -> Vec<u8> {
        let words: String = (0..300).map(|n| format!("word{} and some more of them. ", n * 7 % 83)).collect();
        let head = "<html><head><link rel=stylesheet href=/s.css><title>t</title></head><body class=c id=i>";
        let items: String = (0..40).map(|n| format!("<div id=d{n}><a href=/l{n}>x</a></div>")).collect();
        format!("{head}{items}<p>{words}</p></body></html>").into_bytes()
    }

    #[test]
    fn a_signed_record_survives_its_way() {
        let scheme = scheme();
        let (mut inlet, ways, under) = (scheme.inlet(), Ways::new(&scheme.settings), signed_under(&scheme));
        let mail = b"From: a@b.example\r\nSubject: hello\r\n\r\nsome words of a mail that says little\r\n";
        let inputs = [("pages", &page()[..]), ("emails", mail), ("pages", b"{\"id\": 3"), ("pages", b"<p>short")];
        for (offset, (topic, value)) in (0..).zip(inputs) {
            let wanted = inlet.take(record(topic, offset, value));
            let (signed, letter) = outgoing(inlet.take(record(topic, offset, value)), &under, &ways);
            let got = inlet.take(delivered(signed));
            assert_eq!((&got.partition, got.offset, got.time_ms), (&wanted.partition, offset, wanted.time_ms));
            assert_eq!((got.via, got.n_bytes), (Some((Partition::new("signed", 1), 77)), wanted.n_bytes));
            match (got.fate, wanted.fate) {
                (Fate::Document(got), Fate::Document(wanted)) => assert_eq!(got, wanted),
                (Fate::SetAside(got), Fate::SetAside(wanted)) => {
                    assert_eq!((got.reason, got.verdict), (wanted.reason, wanted.verdict));
                    assert_eq!((got.letter, letter.is_some()), (None, true), "the signer publishes the letter");
                }
                _ => panic!("another fate"),
            }
        }
    }

    #[test]
    fn a_foreign_record_is_refused_by_name() {
        let scheme = scheme();
        let (mut inlet, ways, under) = (scheme.inlet(), Ways::new(&scheme.settings), signed_under(&scheme));
        let mut signed = |under: &str| delivered(outgoing(inlet.take(record("pages", 5, &page())), under, &ways).0);
        let mut cut = signed(&under);
        cut.value.as_mut().unwrap().truncate(100);
        let mut nameless = signed(&under);
        nameless.headers.retain(|(name, _)| &**name != "offset");
        let foreign = signed("1.1.other.settings");
        for (record, reason, detail, id) in [
            (foreign, "foreign_scheme", "other.settings", Some("https://a.example/x")),
            (cut, "signed", "damaged", None),
            (nameless, "signed", "headers", None),
        ] {
            let taken = taken(record, &under, &ways);
            let Fate::SetAside(set_aside) = taken.fate else { panic!("{reason} was taken") };
            assert_eq!((&*set_aside.reason, set_aside.verdict.as_ref().map(|verdict| &*verdict.id)), (reason, id));
            let letter = set_aside.letter.unwrap();
            let said = letter.headers.iter().rev().find(|(name, _)| &**name == "detail").unwrap();
            assert!(String::from_utf8_lossy(&said.1).contains(detail), "{said:?}");
            if detail != "headers" {
                assert_eq!((taken.partition, taken.offset), (Partition::new("pages", 2), 5));
            }
        }
    }
}
