//! Files through all steps: signing on several threads, the fold in the order of the files.

use super::filter::{Event, Filter};
use super::sign::in_order;
use super::{Steps, lexicon};
use crate::config::{Problems, Settings};
use crate::corpus::{self, Entry, Tally, Trouble};
use crate::document::{Format, Kind, Record, envelope, identity};
use crate::signature::Signer;
use crate::signature::imatch::Lexicons;
use crate::signature::keyed::Keys;
use crate::store::{Arrival, Clerk, ExcerptRule, Spelled};
use crate::text::words;
use crate::verdict::event::{ClusterEvent, Source, Verdict};
use crate::verdict::judge::rejected;
use crate::verdict::labels::Labels;
use std::io;
use std::num::NonZeroUsize;
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

/// What has become of an entry on its way to the fold.
#[derive(Clone)]
pub enum Signed {
    /// It is signed.
    Arrival(Box<Arrival>, usize),
    /// It was set aside; the verdict says so, and the report says why.
    Rejected(Box<Verdict>, String),
    /// No document was found there.
    Unread(String),
}

impl Signed {
    /// Of an entry that met a bug.
    pub(super) fn of_bug(place: &str) -> Self {
        Self::Unread(format!(
            "{place}: met a bug in seamripper (the message is above), please report it with the document"
        ))
    }
}

/// Turns entries into arrivals; a thread makes one.
pub struct Arriver {
    steps: Steps,
    word_key: u64,
    id_key: u64,
    spelled_one_in: u64,
    excerpt_rule: ExcerptRule,
    clerk: Option<Clerk>,
}

impl Arriver {
    /// By `settings`, with the lexicons that they name.
    pub fn new(settings: &Settings, lexicons: Arc<Lexicons>) -> Self {
        let Keys { word: word_key, id: id_key, .. } = Keys::derive(settings.secret.reveal());
        Self {
            steps: Steps::new(settings, lexicons).for_verdicts(),
            word_key,
            id_key,
            spelled_one_in: settings.store.spelled_one_in,
            excerpt_rule: ExcerptRule::of(settings),
            clerk: None,
        }
    }

    /// The same, which makes ahead what the store of `settings` asks of an arrival.
    pub fn for_store(mut self, settings: &Settings) -> Self {
        self.clerk = Some(Clerk::new(settings));
        self
    }

    /// Signs an entry.
    pub fn sign(&mut self, entry: Result<Entry, Trouble>) -> Signed {
        let (place, record) = match entry {
            Ok(Entry { place, record }) => (place, record),
            Err(trouble) => {
                let report = trouble.to_string();
                return match trouble.cause.rejection() {
                    Some(rejection) => {
                        let source = source(&trouble.place);
                        // Nobody knows what it is; a digest is called a page's.
                        let id = identity::bounded(Kind::Page, &trouble.place, self.id_key);
                        let verdict = rejected(id, None, None, source, rejection.reason());
                        Signed::Rejected(Box::new(verdict), report)
                    }
                    None => Signed::Unread(report),
                };
            }
        };
        let n_bytes = record.body.len();
        match self.arrival(&record, source(&place)) {
            Ok(arrival) => Signed::Arrival(Box::new(arrival), n_bytes),
            Err(rejection) => {
                let report = format!("{place}: {rejection}");
                let carrier = &record.carrier;
                let (kind, is_envelope) = match record.format {
                    Format::Page => (Kind::Page, false),
                    Format::PageEnvelope => (Kind::Page, true),
                    Format::Mail => (Kind::Email, false),
                    Format::MailEnvelope => (Kind::Email, true),
                };
                let own = is_envelope.then(|| envelope::name(&record.body, kind)).flatten();
                let id = own.or_else(|| carrier.id.clone()).or_else(|| carrier.url.clone());
                let id = id.unwrap_or_else(|| place.clone());
                let id = identity::bounded(kind, &id, self.id_key);
                let verdict = rejected(id, Some(kind), carrier.url.clone(), source(&place), rejection.reason());
                Signed::Rejected(Box::new(verdict), report)
            }
        }
    }

    /// The arrival of a record.
    pub fn arrival(&mut self, record: &Record, source: Source) -> Result<Arrival, crate::document::Rejection> {
        let signed = self.steps.sign(record)?;
        let mut arrival = Arrival::new(source, signed.document, signed.text, signed.signatures);
        arrival.time_ms = record.carrier.time.as_deref().and_then(milliseconds);
        arrival.excerpt = self.excerpt_rule.kept(signed.document.kind, &signed.document.text).to_owned();
        if self.spelled_one_in > 0 && xxh3_64(arrival.id.as_bytes()).is_multiple_of(self.spelled_one_in) {
            let mut spelled = Spelled::default();
            for piece in lexicon::core_pieces(signed.document, signed.text) {
                words::spelled_terms(piece, &mut |term: &str| {
                    spelled.letters.push_str(term);
                    spelled.terms.push((spelled.letters.len() as u32, words::term_hash(term, self.word_key)));
                });
            }
            arrival.spelled = Some(spelled);
        }
        if let Some(clerk) = &self.clerk {
            clerk.issue(&mut arrival);
        }
        Ok(arrival)
    }
}

/// A moment of RFC 3339 in milliseconds since 1970.
fn milliseconds(time: &str) -> Option<i64> {
    time.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_millisecond)
}

/// Bytes of a path that are remembered. No file system has longer ones, but a member of an archive may be called anything; what is in it
/// is judged as ever, and is not found there again.
const PATH_BYTES_MAX: usize = 4096;

/// The source of what was found at a place: the path, and the number in it.
pub fn source(place: &str) -> Source {
    let numbered = place.rsplit_once('#').and_then(|(path, number)| {
        // As a member of an archive may be called `007`.
        let offset: i64 = number.parse().ok().filter(|offset: &i64| *offset > 0 && offset.to_string() == number)?;
        Some(Source { topic: path.into(), offset, ..Source::default() })
    });
    let source = numbered.unwrap_or_else(|| Source { topic: place.into(), ..Source::default() });
    if source.topic.len() <= PATH_BYTES_MAX {
        return source;
    }
    let (beginning, digest) = (source.topic.floor_char_boundary(PATH_BYTES_MAX), xxh3_64(source.topic.as_bytes()));
    Source { topic: format!("{}…{digest:016x}", &source.topic[..beginning]).into(), ..source }
}

/// The place that [`source`] was made of.
pub fn place(source: &Source) -> String {
    if source.offset == 0 { source.topic.to_string() } else { format!("{}#{}", source.topic, source.offset) }
}

/// What the taker of [`scan`] is told, in order.
pub enum Told {
    /// An event, and how many bytes the document had (0 for a revision).
    Event(Event),
    /// Bytes of a document that was judged.
    Bytes(usize),
    /// Something could not be read, or was set aside.
    Trouble(String),
}

/// Folds what `read` produces into `filter`; `tell` has everything in order.
pub fn scan(
    read: impl FnOnce(corpus::With<'_>) -> Tally + Send,
    settings: &Settings,
    lexicons: &Arc<Lexicons>,
    n_threads: NonZeroUsize,
    filter: &mut Filter,
    mut tell: impl FnMut(Told) -> io::Result<()>,
) -> io::Result<Tally> {
    let worker = || {
        let mut arriver = Arriver::new(settings, lexicons.clone()).for_store(settings);
        move |entry| arriver.sign(entry)
    };
    // Signing is most of the work: the fold has threads of its own only where there are many.
    let n_fold_threads = (n_threads.get() / 4).max(1);
    in_order(read, n_threads, worker, Signed::of_bug, |signed| {
        let mut batch = Vec::with_capacity(signed.len());
        for one in signed {
            match one {
                Signed::Arrival(arrival, n_bytes) => {
                    batch.push(*arrival);
                    tell(Told::Bytes(n_bytes))?;
                }
                Signed::Rejected(verdict, report) => {
                    fold(filter, &mut batch, n_fold_threads, &mut tell)?;
                    tell(Told::Trouble(report))?;
                    tell(Told::Event(Event::Verdict(verdict)))?;
                }
                Signed::Unread(report) => tell(Told::Trouble(report))?,
            }
        }
        fold(filter, &mut batch, n_fold_threads, &mut tell)
    })
}

fn fold(
    filter: &mut Filter,
    batch: &mut Vec<Arrival>,
    n_threads: usize,
    tell: &mut impl FnMut(Told) -> io::Result<()>,
) -> io::Result<()> {
    let mut told = Ok(());
    filter.fold(batch, n_threads, |event| {
        if told.is_ok() {
            told = tell(Told::Event(event));
        }
    });
    batch.clear();
    told
}

/// What reads `records` as if they stood in a file.
pub(super) fn listed(records: Vec<Record>) -> impl FnOnce(corpus::With<'_>) -> Tally + Send {
    move |with| {
        for (number, record) in records.into_iter().enumerate() {
            if with(Ok(Entry { place: format!("records#{}", number + 1), record })).is_break() {
                break;
            }
        }
        Tally::default()
    }
}

/// Judges records in their order and returns all verdicts, revisions included, and all cluster events: the whole of `scan`,
/// in memory.
pub fn judge(
    records: Vec<Record>,
    settings: &Settings,
    n_threads: usize,
) -> Result<(Vec<Verdict>, Vec<ClusterEvent>), Problems> {
    let lexicons = lexicon::load(settings)?;
    let key_id = Signer::new(settings, lexicons.clone()).key_id();
    let mut filter = Filter::new(settings, Labels::new(0), key_id);
    let (mut verdicts, mut clusters) = (Vec::with_capacity(records.len()), Vec::new());
    let n_threads = NonZeroUsize::new(n_threads).unwrap_or(NonZeroUsize::MIN);
    let read = listed(records);
    let mut take = |event: Event| match event {
        Event::Verdict(verdict) => verdicts.push(*verdict),
        Event::Cluster(cluster) => clusters.push(*cluster),
    };
    scan(read, settings, &lexicons, n_threads, &mut filter, |told| {
        if let Told::Event(event) = told {
            take(event);
        }
        Ok(())
    })
    .expect("nothing is written that could fail");
    filter.settle_revisions(take);
    Ok((verdicts, clusters))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Carrier;

    #[test]
    fn places_come_back() {
        for place in ["a.jsonl", "a.jsonl#1", "a#b.tar#12", "x.tar#007", "x.tar#0", "x.tar#+3", "x#-1", "x#", "#", ""] {
            assert_eq!(self::place(&source(place)), place);
        }
        assert_eq!((&*source("a.jsonl#17").topic, source("a.jsonl#17").offset), ("a.jsonl", 17));
        let long = |end: &str| source(&("ü".repeat(30_000) + end));
        assert!(long("a#7").topic.len() < PATH_BYTES_MAX + 32 && long("a#7").offset == 7);
        assert!(long("a").topic != long("b").topic);
    }

    #[test]
    fn rejected_documents_have_short_ids() {
        let settings = Settings::default();
        let mut arriver = Arriver::new(&settings, lexicon::load(&settings).unwrap());
        let carrier = Carrier { id: Some("i".repeat(3000)), ..Carrier::default() };
        let record = Record { format: Format::PageEnvelope, body: b"{".to_vec(), carrier };
        let place = "p".repeat(3000);
        let trouble = Trouble { place: place.clone(), cause: crate::document::Rejection::NotAMail.into() };
        for (entry, kind) in [(Ok(Entry { place, record }), Some(Kind::Page)), (Err(trouble), None)] {
            let Signed::Rejected(verdict, _) = arriver.sign(entry) else { panic!("it cannot be read") };
            assert!(verdict.id.starts_with("p-") && verdict.id.len() == 2 + 32, "{}", verdict.id);
            assert_eq!(verdict.kind, kind);
        }
    }
}
