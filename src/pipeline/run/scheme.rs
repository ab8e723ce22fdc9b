//! Under what the store folds: the settings that decide signatures and verdicts, with their lexicons.
//!
//! Threads, batches, bus and HTTP are not among them. The journal and every snapshot hold them in full, but for the secret,
//! so that what was written under other settings is followed under those; lexicons of files are kept beside the
//! snapshots ([`shelf`]).
//!
//! # Invariants
//! - Settings that decide come back out of the journal, the others stay ours. (`decisive_settings_come_back`)
//! - A scheme of another secret or lexicon is refused, unless it is that of the former settings. (`another_secret_is_refused`)

use super::inlet::{Inlet, Ways};
use super::shelf::{self, Shelf};
use super::signed::signed_under;
use crate::config::{Problems, Settings};
use crate::pipeline::filter::Filter;
use crate::pipeline::lexicon;
use crate::signature::imatch::Lexicons;
use crate::signature::{SCHEME, Signer};
use crate::verdict::labels::Labels;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use xxhash_rust::xxh3::xxh3_64;

/// Sections that decide nothing.
const INDIFFERENT: [&str; 13] = [
    "secret",
    "previous",
    "mode",
    "succession",
    "bus",
    "topics",
    "batch",
    "snapshot",
    "http",
    "texts",
    "check",
    "milter",
    "kafka",
];

/// Under what the store folds.
pub struct Scheme {
    /// All settings; of those that decide nothing, ours.
    pub settings: Arc<Settings>,
    /// The lexicons that they name.
    pub lexicons: Arc<Lexicons>,
    /// Names secret, lexicons and signature settings.
    pub key_id: u64,
}

/// Why a scheme cannot be used here.
#[derive(Debug, thiserror::Error)]
pub enum SchemeError {
    /// Its settings make no sense to this version.
    #[error("the settings that it was made with cannot be read: {0}")]
    Settings(#[source] serde_json::Error),
    /// A lexicon is missing.
    #[error("the lexicons that it was made with are not there: {0}")]
    Lexicons(#[from] Problems),
    /// The secret, a lexicon or the scheme is another.
    #[error(
        "it was made with another `secret` or other lexicons than are set now (key {found}, ours gives {ours}): name the \
         configuration that was in force then as `previous`"
    )]
    Key {
        /// The key that it was made with.
        found: String,
        /// What ours gives under its settings.
        ours: String,
    },
    /// Another version made it.
    #[error("it was made by signature scheme {found}, this version has {SCHEME}")]
    Scheme {
        /// The scheme that it was made with.
        found: u32,
    },
}

impl Scheme {
    /// That of the settings in force.
    pub fn new(settings: Arc<Settings>) -> Result<Self, Problems> {
        let lexicons = lexicon::load(&settings)?;
        Ok(Self::with(settings, lexicons))
    }

    fn with(settings: Arc<Settings>, lexicons: Arc<Lexicons>) -> Self {
        let key_id = Signer::new(&settings, lexicons.clone()).key_id();
        Self { settings, lexicons, key_id }
    }

    /// The one that `decisive` and `key_id` were written down of, with what `ours` says where it does not matter.
    pub fn recorded(decisive: &Value, key_id: &str, scheme: u32, ours: &Settings) -> Result<Self, SchemeError> {
        if scheme != SCHEME {
            return Err(SchemeError::Scheme { found: scheme });
        }
        let mut settings = merged(decisive, ours).map_err(SchemeError::Settings)?;
        let shelf = Shelf::new(ours);
        // Their tables are keyed by the secret too: each has its own.
        let with_secret = |settings: &Settings| {
            let lexicons = Lexicons::new(settings, |name| shelf.read(name))?;
            Ok::<_, Problems>(Self::with(Arc::new(settings.clone()), lexicons))
        };
        let mut made = with_secret(&settings)?;
        if let Some(former) = ours.former.as_ref().filter(|_| made.key_id() != key_id) {
            settings.secret = former.secret.clone();
            made = with_secret(&settings)?;
        }
        if made.key_id() != key_id {
            return Err(SchemeError::Key { found: key_id.to_owned(), ours: made.key_id() });
        }
        Ok(made)
    }

    /// The settings that decide, for writing down.
    pub fn decisive(&self) -> Value {
        let Settings { bus, topics, batch, .. } = &*self.settings;
        let mut all = serde_json::to_value(&*self.settings).expect("settings have no map with odd keys");
        if let Value::Object(sections) = &mut all {
            sections.retain(|name, _| !INDIFFERENT.contains(&name.as_str()));
            let imatch = shelf::kept(&self.settings.imatch, &self.lexicons);
            sections.insert("imatch".into(), json!(imatch));
            sections.insert(
                "inputs".into(),
                json!({
                    "pages": topics.pages,
                    "emails": topics.emails,
                    "pages_form": topics.pages_form,
                    "emails_form": topics.emails_form,
                    "record_bytes_max": bus.record_bytes_max,
                    "labels_held_max": batch.labels_held_max,
                }),
            );
        }
        all
    }

    /// A digest of [`Scheme::decisive`].
    pub fn digest(&self) -> String {
        format!("{:016x}", xxh3_64(self.decisive().to_string().as_bytes()))
    }

    /// `key_id` as it is written down.
    pub fn key_id(&self) -> String {
        format!("{:016x}", self.key_id)
    }

    /// Whether both fold alike.
    pub fn is_like(&self, other: &Self) -> bool {
        self.key_id == other.key_id && self.decisive() == other.decisive()
    }

    /// Whether both make the same of every record, whatever they then say of it.
    pub fn signs_like(&self, other: &Self) -> bool {
        let signing = |scheme: &Self| {
            let mut decisive = scheme.decisive();
            let spelled_one_in = decisive["store"]["spelled_one_in"].take();
            if let Value::Object(sections) = &mut decisive {
                sections
                    .retain(|name, _| !["store", "mirror", "quilt", "template", "revisions"].contains(&name.as_str()));
            }
            (decisive, spelled_one_in)
        };
        self.key_id == other.key_id && signing(self) == signing(other)
    }

    /// The same, for the inputs that `other` reads.
    pub fn for_inputs_of(&self, other: &Self) -> Self {
        let mut settings = Settings::clone(&self.settings);
        let topics = &other.settings.topics;
        (settings.topics.pages, settings.topics.emails) = (topics.pages.clone(), topics.emails.clone());
        settings.topics.signed = topics.signed.clone();
        Self { settings: Arc::new(settings), lexicons: self.lexicons.clone(), key_id: self.key_id }
    }

    /// What takes records in under it.
    pub fn inlet(&self) -> Inlet {
        let ways = Arc::new(Ways::new(&self.settings));
        Inlet::new(self.settings.clone(), self.lexicons.clone(), ways, signed_under(self))
    }

    /// A filter that has seen nothing.
    pub fn filter(&self) -> Filter {
        Filter::new(&self.settings, Labels::new(self.settings.batch.labels_held_max), self.key_id)
    }
}

/// Under what records are signed: the scheme in force and, while there is one, its successor.
#[derive(Clone)]
pub struct Under {
    /// The one in force.
    pub scheme: Arc<Scheme>,
    /// The one that is to follow.
    pub successor: Option<Arc<Scheme>>,
    /// Set when it has followed: from then on nothing is signed under the other.
    pub is_handed_over: Arc<AtomicBool>,
}

impl Under {
    /// What takes records in.
    pub fn inlet(&self) -> Inlet {
        let inlet = self.scheme.inlet().for_store();
        match &self.successor {
            Some(successor) => inlet.beside(successor.inlet().for_store(), self.is_handed_over.clone()),
            None => inlet,
        }
    }
}

fn merged(decisive: &Value, ours: &Settings) -> Result<Settings, serde_json::Error> {
    let mut all = serde_json::to_value(ours)?;
    for (name, section) in decisive.as_object().into_iter().flatten() {
        if name != "inputs" && !INDIFFERENT.contains(&name.as_str()) {
            all[name] = section.clone();
        }
    }
    let inputs = &decisive["inputs"];
    all["topics"]["pages"] = inputs["pages"].clone();
    all["topics"]["emails"] = inputs["emails"].clone();
    all["topics"]["pages_form"] = inputs["pages_form"].clone();
    all["topics"]["emails_form"] = inputs["emails_form"].clone();
    all["bus"]["record_bytes_max"] = inputs["record_bytes_max"].clone();
    all["batch"]["labels_held_max"] = inputs["labels_held_max"].clone();
    let mut settings: Settings = serde_json::from_value(all)?;
    // Secrets do not survive being shown.
    settings.secret = ours.secret.clone();
    settings.former = ours.former.clone();
    settings.kafka = ours.kafka.clone();
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use super::super::inlet::Fate;
    use super::*;
    use crate::config::Secret;

    fn scheme(change: impl FnOnce(&mut Settings)) -> Scheme {
        let mut settings = Settings::default();
        change(&mut settings);
        Scheme::new(Arc::new(settings)).unwrap()
    }

    /// What I-Match makes of a mail.
    fn coordinates(scheme: &Scheme) -> String {
        let text = "Dear customer, your parcel could not be delivered today since nobody was at home. Please choose another day and\r\n\
            pay the small fee for storage within two days, or it will be returned to its sender. The warehouse is open from\r\n\
            Monday to Friday between nine and five; bring your passport, the tracking number and this message. Questions about\r\n\
            customs, insurance or damage are answered by the office in the harbour, whose address you find on our website.";
        let value = Some(format!("Subject: parcels\r\n\r\n{text}\r\n").into_bytes());
        let partition = crate::bus::Partition::new(scheme.settings.topics.emails.as_str(), 0);
        let record = crate::bus::Record { partition, offset: 0, time_ms: 0, key: None, headers: Vec::new(), value };
        match scheme.inlet().take(record).fate {
            Fate::Document(arrival) => format!("{:?}", arrival.signatures.imatch.expect("it has words enough")),
            _ => panic!("it is a mail"),
        }
    }

    #[test]
    fn decisive_settings_come_back() {
        let made = scheme(|settings| {
            settings.quilt.fraction_min = 0.625;
            settings.topics.pages_form = crate::config::InputForm::Raw;
            settings.batch.wait_ms = 77;
            settings.mode = crate::config::Mode::Shadow;
        });
        let ours = scheme(|settings| settings.batch.wait_ms = 5);
        assert!(!made.is_like(&ours));
        let read = Scheme::recorded(&made.decisive(), &made.key_id(), SCHEME, &ours.settings).unwrap();
        assert!(read.is_like(&made));
        assert_eq!((read.settings.quilt.fraction_min, read.settings.batch.wait_ms), (0.625, 5));
        assert_eq!(read.settings.mode, crate::config::Mode::Filter, "it decides nothing");
        assert_eq!(read.digest(), made.digest());
    }

    #[test]
    fn another_secret_is_refused() {
        let made = scheme(|settings| settings.secret = Secret::new("another"));
        let refused = Scheme::recorded(&made.decisive(), &made.key_id(), SCHEME, &Settings::default());
        assert!(matches!(refused, Err(SchemeError::Key { .. })));
        let ours = Settings { former: Some(made.settings.clone()), ..Settings::default() };
        let read = Scheme::recorded(&made.decisive(), &made.key_id(), SCHEME, &ours).unwrap();
        assert!(read.is_like(&made));
        assert_eq!(coordinates(&read), coordinates(&made), "it signs as it did");
        assert_ne!(coordinates(&read), coordinates(&scheme(|_| ())));
        assert!(!made.decisive().to_string().contains("another"));
        let refused = Scheme::recorded(&made.decisive(), &made.key_id(), SCHEME + 1, &Settings::default());
        assert!(matches!(refused, Err(SchemeError::Scheme { .. })));
    }
}
